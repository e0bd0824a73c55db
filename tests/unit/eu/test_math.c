/* SPDX-License-Identifier: MIT */
/*
 * Math functions against the C library in double, half conversions exhaustively, the division and
 * square root macros, integer division, the state registers: instructions executed one by one.
 */
#include "../test.h"

#include "encode.h"
#include "eu/eu.h"
#include "ref.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t end_of_thread[2] = {UINT64_C(0x2000020407600031),
                                          UINT64_C(0x8200001006000e00)};

static struct zs_eu_thread *thread;

static int no_sends(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)ret;
    return zs_diag_set(diag, -1, ZS_DIAG_NO_OFFSET, "no sends here");
}

static struct zs_eu_program *lower(const struct zs_isa_inst *insts, unsigned count,
                                   enum zs_eu_host host)
{
    uint64_t code[64][2];
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    assert_true(count < 63);
    for (unsigned i = 0; i < count; i++)
        encode(&insts[i], code[i]);
    memcpy(code[count], end_of_thread, 16);
    struct zs_eu_lower_params params = {.code = zs_span_make(code, (count + 1) * 16),
                                        .simd = 16,
                                        .host = host,
                                        .send_lower = no_sends};
    if (zs_eu_lower(&params, &program, &diag) < 0)
        fail_msg("%s", diag.text);
    return program;
}

static void run(const struct zs_eu_program *program)
{
    enum zs_eu_status status = zs_eu_run(thread, program, 1000000);

    if (status != ZS_EU_EOT)
        fail_msg("status %d: %s", (int)status, thread->fault.text);
}

static void start(const struct zs_eu_program *program)
{
    zs_eu_thread_init(thread, program, 0xffff);
    zs_eu_thread_set_control(thread, 0x4c0);
}

static struct zs_isa_operand packed(unsigned reg, unsigned type)
{
    return (struct zs_isa_operand){.kind = ZS_OPERAND_REG,
                                   .file = ZS_FILE_GRF,
                                   .type = (uint8_t)type,
                                   .reg = (uint8_t)reg,
                                   .vstride = 8,
                                   .width = 8,
                                   .hstride = 1};
}

/* op r10 r20 r30, sixteen channels */
static struct zs_isa_inst three(unsigned opcode, unsigned function, unsigned sources,
                                unsigned dst_type, unsigned src_type)
{
    return (struct zs_isa_inst){.op = (uint8_t)opcode,
                                .subfunction = (uint8_t)function,
                                .exec_size = 16,
                                .flags = ZS_INST_NOMASK,
                                .source_count = (uint8_t)sources,
                                .dst = packed(10, dst_type),
                                .src = {packed(20, src_type), packed(30, src_type)}};
}

/* ---- transcendental functions ---- */

static double error_ulp(float got, double want)
{
    float rounded = (float)want;
    int exponent;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
    if (isinf(rounded) || isinf(got))
        return rounded == got ? 0 : HUGE_VAL;
    frexp(want, &exponent);
    double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
    return fabs((double)got - want) / unit;
}

static double fn_inv(double a, double b)
{
    (void)b;
    return 1 / a;
}
static double fn_log(double a, double b)
{
    (void)b;
    return log2(a);
}
static double fn_exp(double a, double b)
{
    (void)b;
    return exp2(a);
}
static double fn_sqt(double a, double b)
{
    (void)b;
    return sqrt(a);
}
static double fn_rsqt(double a, double b)
{
    (void)b;
    return 1 / sqrt(a);
}
static double fn_sin(double a, double b)
{
    (void)b;
    return sin(a);
}
static double fn_cos(double a, double b)
{
    (void)b;
    return cos(a);
}
static double fn_fdiv(double a, double b)
{
    return a / b;
}
static double fn_pow(double a, double b)
{
    return pow(fabs(a), b);
}

static const struct function {
    const char *name;
    unsigned code, sources;
    double (*fn)(double a, double b);
    double limit_ulp;
    float low, high; /* of most arguments */
} functions[] = {
    {"inv", ZS_MATH_INV, 1, fn_inv, 0.501, -1e6f, 1e6f},
    {"log", ZS_MATH_LOG, 1, fn_log, 0.51, 0, 1e9f},
    {"exp", ZS_MATH_EXP, 1, fn_exp, 0.51, -150, 130},
    {"sqt", ZS_MATH_SQT, 1, fn_sqt, 0.501, 0, 1e9f},
    {"rsqt", ZS_MATH_RSQT, 1, fn_rsqt, 1.6, 0, 1e9f},
    {"sin", ZS_MATH_SIN, 1, fn_sin, 0.51, -500, 500},
    {"cos", ZS_MATH_COS, 1, fn_cos, 0.51, -500, 500},
    {"fdiv", ZS_MATH_FDIV, 2, fn_fdiv, 0.501, -1e6f, 1e6f},
    {"pow", ZS_MATH_POW, 2, fn_pow, 0.51, -20, 20},
};

static float random_argument(struct random *r, const struct function *f)
{
    static const float special[] = {0.0f,           -0.0f,       1.0f,       -1.0f,      2.0f,
                                    0.5f,           INFINITY,    -INFINITY,  NAN,        1e-40f,
                                    1e-38f,         1e38f,       3.0f,       1.5707964f, 3.1415927f,
                                    1.1754944e-38f, 0.99999994f, 1.0000001f, 3e7f};
    uint32_t bits = (uint32_t)random_next(r);
    float value;

    if (random_below(r, 6) == 0)
        return special[random_below(r, ZS_ARRAY_LEN(special))];
    memcpy(&value, &bits, 4);
    if (random_below(r, 4) == 0)
        return value;
    return f->low + (f->high - f->low) * (float)(bits >> 8) / 16777216.0f;
}

static void check_function(const struct function *f, enum zs_eu_host host, uint8_t *ret_bits)
{
    struct zs_isa_inst inst = three(ZS_OP_MATH, f->code, f->sources, ZS_TYPE_F, ZS_TYPE_F);
    struct zs_eu_program *program = lower(&inst, 1, host);
    struct random r = {f->code};
    double worst = 0;

    for (unsigned round = 0; round < 3000; round++) {
        float a[16], b[16], got[16];
        for (unsigned i = 0; i < 16; i++) {
            a[i] = random_argument(&r, f);
            b[i] = random_argument(&r, f);
        }
        start(program);
        memcpy(thread->grf + 20 * 32, a, 64);
        memcpy(thread->grf + 30 * 32, b, 64);
        run(program);
        memcpy(got, thread->grf + 10 * 32, 64);
        memcpy(ret_bits + round * 64, got, 64);
        for (unsigned i = 0; i < 16; i++) {
            double error = error_ulp(got[i], f->fn((double)a[i], (double)b[i]));
            if (f->code == ZS_MATH_POW && (isnan(a[i]) || isnan(b[i])))
                continue; /* 0 and 1 are special to the C library */
            if (error > f->limit_ulp)
                fail_msg("%s(%a, %a) = %a, off by %g ulp", f->name, (double)a[i], (double)b[i],
                         (double)got[i], error);
            worst = fmax(worst, error);
        }
    }
    print_message("%s: %.3f ulp\n", f->name, worst);
    zs_eu_program_destroy(program);
}

/* Accurate, and the same bits from every build. */
static void test_functions(void **state)
{
    enum { SIZE_B = 3000 * 64 };
    uint8_t *best = malloc(SIZE_B), *base = malloc(SIZE_B);

    (void)state;
    assert_non_null(best);
    assert_non_null(base);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(functions); i++) {
        check_function(&functions[i], ZS_EU_HOST_BEST, best);
        check_function(&functions[i], ZS_EU_HOST_BASE, base);
        assert_memory_equal(best, base, SIZE_B);
    }
    free(best);
    free(base);
}

/* ---- half ---- */

static void test_half_up(void **state)
{
    struct zs_isa_inst inst = three(ZS_OP_MOV, 0, 1, ZS_TYPE_F, ZS_TYPE_HF);

    (void)state;
    for (unsigned host = ZS_EU_HOST_BASE; host < ZS_EU_HOST_COUNT; host++) {
        if (!zs_eu_host_usable((enum zs_eu_host)host))
            continue;
        struct zs_eu_program *program = lower(&inst, 1, (enum zs_eu_host)host);
        for (unsigned first = 0; first < 65536; first += 16) {
            uint16_t in[16];
            float out[16];
            for (unsigned i = 0; i < 16; i++)
                in[i] = (uint16_t)(first + i);
            start(program);
            memcpy(thread->grf + 20 * 32, in, 32);
            run(program);
            memcpy(out, thread->grf + 10 * 32, 64);
            for (unsigned i = 0; i < 16; i++) {
                double want = ref_from_half(in[i]);
                assert_true(isnan(want) ? isnan(out[i]) : (double)out[i] == want);
                assert_int_equal(signbit(want) != 0, signbit(out[i]) != 0);
            }
        }
        zs_eu_program_destroy(program);
    }
}

static void check_half_down(const struct zs_eu_program *program, struct random *r, unsigned mode)
{
    float in[16];
    uint16_t out[16];

    for (unsigned i = 0; i < 16; i++) {
        uint32_t bits = (uint32_t)random_next(r);
        if (random_below(r, 2)) /* in the range of halves, near ties */
            bits = (bits & 0x80001fff) | (96 + random_below(r, 50)) << 23 |
                   random_below(r, 1024) << 13;
        if (random_below(r, 3) == 0)
            bits &= ~0xfffu;
        memcpy(&in[i], &bits, 4);
    }
    zs_eu_thread_init(thread, program, 0xffff);
    zs_eu_thread_set_control(thread, 0x4c0 | mode << 4);
    memcpy(thread->grf + 20 * 32, in, 64);
    run(program);
    memcpy(out, thread->grf + 10 * 32, 32);
    for (unsigned i = 0; i < 16; i++)
        if (!isnan(in[i]) && out[i] != ref_to_half((double)in[i], mode))
            fail_msg("half of %a in mode %u: %04x, want %04x", (double)in[i], mode, out[i],
                     ref_to_half((double)in[i], mode));
}

static void test_half_down(void **state)
{
    struct zs_isa_inst inst = three(ZS_OP_MOV, 0, 1, ZS_TYPE_HF, ZS_TYPE_F);
    struct random r = {99};

    (void)state;
    for (unsigned host = ZS_EU_HOST_BASE; host < ZS_EU_HOST_COUNT; host++) {
        if (!zs_eu_host_usable((enum zs_eu_host)host))
            continue;
        struct zs_eu_program *program = lower(&inst, 1, (enum zs_eu_host)host);
        for (unsigned round = 0; round < 8000; round++)
            check_half_down(program, &r, round % 4);
        zs_eu_program_destroy(program);
    }
}

/* ---- the accumulator ---- */

/* High half of a 32-bit product, as IGC computes it: mul to acc0, then mach. */
static void check_mulh(bool is_signed, struct random *r)
{
    unsigned type = is_signed ? ZS_TYPE_D : ZS_TYPE_UD;
    struct zs_isa_inst insts[2] = {three(ZS_OP_MUL, 0, 2, type, type),
                                   three(ZS_OP_MACH, 0, 2, type, type)};
    uint32_t a[16], b[16], got[16];

    for (unsigned i = 0; i < 16; i++) {
        a[i] = (uint32_t)random_next(r);
        b[i] = (uint32_t)random_next(r) >> random_below(r, 32);
        if (random_below(r, 8) == 0)
            a[i] = b[i] = 0x80000000;
    }
    insts[0].dst.file = ZS_FILE_ACC;
    insts[0].dst.reg = 0;
    insts[0].src[1].type = ZS_TYPE_UW; /* the low words */
    insts[0].src[1].vstride = 16;
    insts[0].src[1].hstride = 2;
    insts[1].flags |= ZS_INST_ACCWREN;
    struct zs_eu_program *program = lower(insts, 2, ZS_EU_HOST_BEST);
    start(program);
    memcpy(thread->grf + 20 * 32, a, 64);
    memcpy(thread->grf + 30 * 32, b, 64);
    run(program);
    memcpy(got, thread->grf + 10 * 32, 64);
    for (unsigned i = 0; i < 16; i++) {
        uint64_t want =
            is_signed ? (uint64_t)((int64_t)(int32_t)a[i] * (int32_t)b[i]) : (uint64_t)a[i] * b[i];
        assert_int_equal(got[i], want >> 32);
        assert_int_equal(zs_eu_acc(thread, i), want);
    }
    zs_eu_program_destroy(program);
}

static void test_multiply_high(void **state)
{
    struct random r = {5};

    (void)state;
    for (unsigned i = 0; i < 200; i++)
        check_mulh(i & 1, &r);
}

/* mov r40 acc0: the low dword; at any channel offset the elements are those from 0 */
static void test_accumulator_reads(void **state)
{
    struct zs_isa_inst insts[2] = {three(ZS_OP_ADDC, 0, 2, ZS_TYPE_UD, ZS_TYPE_UD),
                                   three(ZS_OP_MOV, 0, 1, ZS_TYPE_UD, ZS_TYPE_UD)};
    uint32_t a[8], b[8], carry[8];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        insts[i].exec_size = 8;
        insts[i].channel_offset = 8;
    }
    insts[0].flags |= ZS_INST_ACCWREN;
    insts[1].dst = packed(40, ZS_TYPE_UD);
    insts[1].src[0].file = ZS_FILE_ACC;
    insts[1].src[0].reg = 0;
    struct zs_eu_program *program = lower(insts, 2, ZS_EU_HOST_BEST);
    start(program);
    for (unsigned i = 0; i < 8; i++) {
        a[i] = 0xfffffffc + i % 4;
        b[i] = i;
    }
    memcpy(thread->grf + 20 * 32, a, 32);
    memcpy(thread->grf + 30 * 32, b, 32);
    run(program);
    memcpy(carry, thread->grf + 40 * 32, 32);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(carry[i], ((uint64_t)a[i] + b[i]) >> 32);
    zs_eu_program_destroy(program);
}

/* A saturating subtraction by way of the accumulator, which has a bit more than a d. */
static void test_accumulator_negation(void **state)
{
    static const int32_t a[8] = {0, -1, 1, 5, INT32_MIN, INT32_MAX, 0, 7},
                         b[8] = {INT32_MIN, INT32_MIN, INT32_MIN, 3, 1, -1, INT32_MAX, 7};
    struct zs_isa_inst insts[2] = {three(ZS_OP_MOV, 0, 1, ZS_TYPE_D, ZS_TYPE_D),
                                   three(ZS_OP_ADD, 0, 2, ZS_TYPE_D, ZS_TYPE_D)};
    int32_t have[8];

    (void)state;
    insts[0].exec_size = insts[1].exec_size = 8;
    insts[0].dst.file = insts[1].src[0].file = ZS_FILE_ACC;
    insts[0].dst.reg = insts[1].src[0].reg = 0;
    insts[0].src[0] = packed(30, ZS_TYPE_D);
    insts[1].src[0].modifiers |= ZS_MOD_NEG;
    insts[1].src[1] = packed(20, ZS_TYPE_D);
    insts[1].dst.modifiers |= ZS_MOD_SAT;
    struct zs_eu_program *program = lower(insts, 2, ZS_EU_HOST_BEST);
    start(program);
    memcpy(thread->grf + 20 * 32, a, 32);
    memcpy(thread->grf + 30 * 32, b, 32);
    run(program);
    memcpy(have, thread->grf + 10 * 32, 32);
    for (unsigned i = 0; i < 8; i++) {
        int64_t want = (int64_t)a[i] - b[i];
        want = want < INT32_MIN ? INT32_MIN : want > INT32_MAX ? INT32_MAX : want;
        assert_int_equal(have[i], want);
    }
    zs_eu_program_destroy(program);
}

/* ---- division and square root macros ---- */

static void check_macro(unsigned function, bool is_double)
{
    unsigned type = is_double ? ZS_TYPE_DF : ZS_TYPE_F, n = is_double ? 4 : 8;
    struct zs_isa_inst inst =
        three(ZS_OP_MATH, function, function == ZS_MATH_INVM ? 2 : 1, type, type);
    double a[4] = {1, 2, -7, 1e300}, b[4] = {3, 0.1, 11, 1e-10}, got[4];
    float fa[8] = {1, 2, -7, 1e30f, 0, 5, 1, 3}, fb[8] = {3, 0.1f, 11, 1e-10f, 2, 0, 7, 9}, fgot[8];

    inst.exec_size = (uint8_t)n;
    inst.flags |= ZS_INST_ALIGN16;
    inst.flag_reg = 1;
    struct zs_eu_program *program = lower(&inst, 1, ZS_EU_HOST_BEST);
    start(program);
    if (is_double) {
        memcpy(thread->grf + 20 * 32, a, 32);
        memcpy(thread->grf + 30 * 32, b, 32);
    } else {
        memcpy(thread->grf + 20 * 32, fa, 32);
        memcpy(thread->grf + 30 * 32, fb, 32);
    }
    run(program);
    memcpy(got, thread->grf + 10 * 32, 32);
    memcpy(fgot, thread->grf + 10 * 32, 32);
    for (unsigned i = 0; i < n; i++) {
        double want = is_double ? (function == ZS_MATH_INVM ? a[i] / b[i] : sqrt(a[i]))
                                : (double)(function == ZS_MATH_INVM ? fa[i] / fb[i] : sqrtf(fa[i]));
        double have = is_double ? got[i] : (double)fgot[i];
        assert_true(have == want || (isnan(have) && isnan(want)));
    }
    assert_int_equal(thread->flag[1], (1u << n) - 1);
    zs_eu_program_destroy(program);
}

static void test_macros(void **state)
{
    (void)state;
    check_macro(ZS_MATH_INVM, false);
    check_macro(ZS_MATH_INVM, true);
    check_macro(ZS_MATH_RSQTM, false);
    check_macro(ZS_MATH_RSQTM, true);
}

/* The compiler's sequences, without the branch by which its lanes leave them: 'n' and 'd' are the
 * operands, 0, 1 and h the constants, capital letters the registers with numbers. */
static const char *const division[] = {"B0nA", "C1-dA", "DACA", "En-dB", "FBED", "Gn-dF", "aFGD"};
static const char *const root[] = {"B0hA", "C0nA", "Dh-CB", "EBDB", "FCDC", "Gn-FF", "aFEG"};

static struct zs_isa_operand macro_operand(char name, unsigned type)
{
    static const char constants[] = "nd01h";
    bool numbered = name >= 'A' && name <= 'H';
    const char *constant = strchr(constants, name);
    unsigned reg = constant ? 20 + (unsigned)(constant - constants) * 10
                            : 10 + (unsigned)(name - (numbered ? 'A' : 'a'));
    struct zs_isa_operand op = packed(reg, type);

    op.kind = ZS_OPERAND_MACRO;
    op.mme = numbered ? (uint8_t)(name - 'A') : ZS_MME_NONE;
    op.vstride = op.hstride = op.width = 1;
    return op;
}

/* The seed and `count` steps; eight floats or four doubles. */
static struct zs_eu_program *lower_steps(unsigned function, bool is_double, unsigned count,
                                         unsigned pred)
{
    unsigned type = is_double ? ZS_TYPE_DF : ZS_TYPE_F, sources = function == ZS_MATH_INVM ? 2 : 1;
    const char *const *steps = sources == 2 ? division : root;
    struct zs_isa_inst insts[8] = {three(ZS_OP_MATH, function, sources, type, type)};

    insts[0].pred = (uint8_t)pred;
    insts[0].flag_reg = 1;
    insts[0].dst = macro_operand('A', type);
    insts[0].src[0] = macro_operand('n', type);
    insts[0].src[1] = macro_operand('d', type);
    for (unsigned i = 0; i < count; i++) {
        struct zs_isa_inst *inst = &insts[1 + i];
        const char *at = steps[i];
        *inst = three(ZS_OP_MADM, 0, 3, type, type);
        inst->dst = macro_operand(*at++, type);
        for (unsigned k = 0; k < 3; k++) {
            bool negative = *at == '-';
            at += negative;
            inst->src[k] = macro_operand(*at++, type);
            inst->src[k].modifiers = negative ? ZS_MOD_NEG : 0;
        }
    }
    for (unsigned i = 0; i <= count; i++) {
        insts[i].exec_size = is_double ? 4 : 8;
        insts[i].flags |= ZS_INST_ALIGN16;
    }
    return lower(insts, 1 + count, ZS_EU_HOST_BEST);
}

static void put_number(unsigned reg, unsigned i, double value, bool is_double)
{
    float single = (float)value;
    memcpy(thread->grf + reg * 32 + i * (is_double ? 8 : 4), is_double ? (void *)&value : &single,
           is_double ? 8 : 4);
}

static double get_number(unsigned reg, unsigned i, bool is_double)
{
    double value;
    float single;
    memcpy(&value, thread->grf + reg * 32 + i * 8, 8);
    memcpy(&single, thread->grf + reg * 32 + i * 4, 4);
    return is_double ? value : (double)single;
}

static void start_macro(const struct zs_eu_program *program, unsigned mode, bool is_double)
{
    start(program);
    zs_eu_thread_set_control(thread, 0x4c0 | mode << 4);
    for (unsigned i = 0; i < 8; i++) {
        put_number(40, i % (is_double ? 4 : 8), 0, is_double);
        put_number(50, i % (is_double ? 4 : 8), 1, is_double);
        put_number(60, i % (is_double ? 4 : 8), 0.5, is_double);
    }
}

/* Of any exponent, and small whole numbers, whose quotients and roots are often exact. */
static double random_number(struct random *r, bool is_double)
{
    if (random_below(r, 3) == 0)
        return (double)(1 + random_below(r, 200));
    double value = 1.0 + (double)(random_next(r) >> 12) * 0x1p-52;
    int range = is_double ? 1000 : 120;
    return ldexp(value, (int)random_below(r, (uint32_t)range) - range / 2);
}

static void check_steps(unsigned function, bool is_double)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    struct random random = {7};
    struct zs_eu_program *program = lower_steps(function, is_double, 7, 0);

    for (unsigned round = 0; round < 2000; round++) {
        double a[8], b[8];
        unsigned n = is_double ? 4 : 8, mode = round % 4;
        start_macro(program, mode, is_double);
        for (unsigned i = 0; i < n; i++) {
            a[i] = random_number(&random, is_double);
            b[i] = random_number(&random, is_double);
            put_number(20, i, a[i], is_double);
            put_number(30, i, b[i], is_double);
        }
        run(program);
        for (unsigned i = 0; i < n; i++) {
            volatile double x = a[i], y = b[i], wide;
            volatile float fx = (float)x, fy = (float)y, narrow;
            fesetround(modes[mode]);
            wide = function == ZS_MATH_INVM ? x / y : sqrt(x);
            narrow = function == ZS_MATH_INVM ? fx / fy : sqrtf(fx);
            fesetround(FE_TONEAREST);
            double want = is_double ? wide : (double)narrow, have = get_number(10, i, is_double);
            if (want != have)
                fail_msg("%a, %a, mode %u: %a, not %a", x, y, mode, want, have);
        }
        assert_int_equal(thread->flag[1], 0);
    }
    zs_eu_program_destroy(program);
}

static void put_numbers(const double a[8], const double b[8])
{
    for (unsigned i = 0; i < 8; i++) {
        put_number(20, i, a[i], false);
        put_number(30, i, b[i], false);
    }
}

/* Lanes that have their result at once say so. */
static void check_specials(unsigned function)
{
    static const double a[8] = {1, 0, INFINITY, NAN, -4, 5, 1e30, 0},
                        b[8] = {0, 3, 2, 1, 2, INFINITY, 7, 0};
    struct zs_eu_program *program = lower_steps(function, false, 1, 0);
    bool divides = function == ZS_MATH_INVM;
    const uint32_t flags = divides ? 0xaf : 0x9e, lanes = 0x3c;

    start_macro(program, 0, false);
    put_numbers(a, b);
    run(program);
    assert_int_equal(thread->flag[1], flags);
    for (unsigned i = 0; i < 8; i++) {
        double want = divides ? a[i] / b[i] : sqrt(a[i]), have = get_number(10, i, false);
        if (thread->flag[1] >> i & 1)
            assert_true(want == have || (isnan(want) && isnan(have)));
    }
    uint8_t all[32], zero[4] = {0};
    memcpy(all, thread->grf + 10 * 32, 32);
    zs_eu_program_destroy(program);

    /* the flag that chooses the lanes is the one that is written */
    program = lower_steps(function, false, 1, ZS_PRED_SEQ);
    start_macro(program, 0, false);
    put_numbers(a, b);
    thread->flag[1] = lanes;
    run(program);
    assert_int_equal(thread->flag[1], flags & lanes);
    for (unsigned i = 0; i < 8; i++)
        assert_memory_equal(thread->grf + 10 * 32 + 4 * i, lanes >> i & 1 ? all + 4 * i : zero, 4);
    zs_eu_program_destroy(program);
}

static void test_macro_steps(void **state)
{
    (void)state;
    check_steps(ZS_MATH_INVM, false);
    check_steps(ZS_MATH_INVM, true);
    check_steps(ZS_MATH_RSQTM, false);
    check_steps(ZS_MATH_RSQTM, true);
    check_specials(ZS_MATH_INVM);
    check_specials(ZS_MATH_RSQTM);
}

/* ---- state registers ---- */

/* From an immediate when src_file is NONE. */
static struct zs_isa_inst scalar_mov(unsigned dst_file, unsigned dst_reg, unsigned src_file,
                                     unsigned src_reg, unsigned subreg_B, uint32_t imm)
{
    return (struct zs_isa_inst){
        .op = ZS_OP_MOV,
        .exec_size = 1,
        .flags = ZS_INST_NOMASK,
        .source_count = 1,
        .dst = {.kind = ZS_OPERAND_REG,
                .file = (uint8_t)dst_file,
                .type = ZS_TYPE_UD,
                .reg = (uint8_t)dst_reg,
                .hstride = 1},
        .src = {{.kind = src_file == ZS_FILE_NONE ? ZS_OPERAND_IMM : ZS_OPERAND_REG,
                 .file = (uint8_t)src_file,
                 .type = ZS_TYPE_UD,
                 .reg = (uint8_t)src_reg,
                 .subreg_B = (uint8_t)subreg_B,
                 .width = 1,
                 .imm = imm}}};
}

static void test_state_registers(void **state)
{
    struct zs_isa_inst insts[] = {
        scalar_mov(ZS_FILE_GRF, 40, ZS_FILE_CE, 0, 0, 0),
        scalar_mov(ZS_FILE_GRF, 41, ZS_FILE_SR, 0, 8, 0),
        scalar_mov(ZS_FILE_GRF, 42, ZS_FILE_IP, 0, 0, 0),
        scalar_mov(ZS_FILE_F, 1, ZS_FILE_NONE, 0, 0, 0x1234abcd),
        scalar_mov(ZS_FILE_GRF, 43, ZS_FILE_F, 1, 0, 0),
        scalar_mov(ZS_FILE_CR, 0, ZS_FILE_NONE, 0, 0, 0x4f0),
        scalar_mov(ZS_FILE_GRF, 44, ZS_FILE_CR, 0, 0, 0),
        scalar_mov(ZS_FILE_A, 0, ZS_FILE_NONE, 0, 0, 0x00200018),
        scalar_mov(ZS_FILE_GRF, 45, ZS_FILE_TM, 0, 0, 0),
        scalar_mov(ZS_FILE_TM, 0, ZS_FILE_NONE, 0, 0, 0x3e0),
        scalar_mov(ZS_FILE_GRF, 46, ZS_FILE_TM, 0, 16, 0), /* the pause is over */
    };
    static const struct {
        unsigned reg;
        uint32_t value;
    } want[] = {{40, 0xfff}, {41, 0xfff}, {42, 32}, {43, 0x1234abcd}, {44, 0x4f0}, {46, 0}};
    uint32_t got;

    (void)state;
    insts[9].dst.subreg_B = 16;
    struct zs_eu_program *program = lower(insts, ZS_ARRAY_LEN(insts), ZS_EU_HOST_BEST);
    zs_eu_thread_init(thread, program, 0xfff);
    thread->clock = 5000;
    run(program);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(want); i++) {
        memcpy(&got, thread->grf + want[i].reg * 32, 4);
        assert_int_equal(got, want[i].value);
    }
    memcpy(&got, thread->grf + 45 * 32, 4);
    assert_int_equal(got, 5008);
    assert_int_equal(thread->a0[0], 0x18);
    assert_int_equal(thread->a0[1], 0x20);
    zs_eu_program_destroy(program);
}

static void test_unmodelled(void **state)
{
    /* single program flow */
    struct zs_isa_inst spf = scalar_mov(ZS_FILE_CR, 0, ZS_FILE_NONE, 0, 0, 4);
    struct zs_isa_inst write_ip = scalar_mov(ZS_FILE_IP, 0, ZS_FILE_NONE, 0, 0, 4);
    struct zs_isa_inst pln = three(ZS_OP_PLN, 0, 2, ZS_TYPE_F, ZS_TYPE_F);
    const struct {
        struct zs_isa_inst inst;
        enum zs_eu_fault_kind kind;
        const char *names;
    } rows[] = {{spf, ZS_EU_FAULT_UNMODELLED, "single program flow"},
                {write_ip, ZS_EU_FAULT_UNMODELLED, "architecture register ip"},
                {pln, ZS_EU_FAULT_UNMODELLED, "pln"}};

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_eu_program *program = lower(&rows[i].inst, 1, ZS_EU_HOST_BEST);
        start(program);
        assert_int_equal(zs_eu_run(thread, program, 100), ZS_EU_FAULT);
        assert_int_equal(thread->fault.kind, rows[i].kind);
        assert_non_null(strstr(thread->fault.text, rows[i].names));
        assert_int_equal(thread->fault.offset_B, 0);
        uint64_t words[2];
        encode(&rows[i].inst, words);
        assert_int_equal(thread->fault.raw[0], words[0]);
        zs_eu_program_destroy(program);
    }
}

/* Registers without a model, and writes to what only the hardware sets, are refused by name. */
static void test_unmodelled_registers(void **state)
{
    static const struct {
        unsigned file, reg;
        bool write;
        const char *names;
    } rows[] = {
        {ZS_FILE_MSG, 0, false, "read of architecture register msg0 "},
        {ZS_FILE_MSG, 7, true, "write of architecture register msg7 "},
        {ZS_FILE_SP, 0, false, "read of architecture register sp0 "},
        {ZS_FILE_SP, 0, true, "write of architecture register sp0 "},
        {ZS_FILE_TDR, 0, false, "read of architecture register tdr0 "},
        {ZS_FILE_TDR, 0, true, "write of architecture register tdr0 "},
        {ZS_FILE_FC, 3, false, "read of architecture register fc3 "},
        {ZS_FILE_FC, 0, true, "write of architecture register fc0 "},
        {ZS_FILE_DBG, 0, false, "read of architecture register dbg0 "},
        {ZS_FILE_DBG, 0, true, "write of architecture register dbg0 "},
        {ZS_FILE_CE, 0, true, "write of architecture register ce0 "},
        {ZS_FILE_SR, 0, true, "write of architecture register sr0 "},
        {ZS_FILE_SR, 1, false, "read of architecture register sr1 "},
        {ZS_FILE_TM, 0, true, "write of architecture register tm0 "},
    };

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_isa_inst inst =
            rows[i].write ? scalar_mov(rows[i].file, rows[i].reg, ZS_FILE_NONE, 0, 0, 1)
                          : scalar_mov(ZS_FILE_GRF, 40, rows[i].file, rows[i].reg, 0, 0);
        uint8_t before[sizeof(thread->flag)];
        struct zs_eu_program *program = lower(&inst, 1, ZS_EU_HOST_BEST);
        start(program);
        memset(thread->flag, 0x5a, sizeof(thread->flag));
        memcpy(before, thread->flag, sizeof(before));
        assert_int_equal(zs_eu_run(thread, program, 100), ZS_EU_FAULT);
        assert_int_equal(thread->fault.kind, ZS_EU_FAULT_UNMODELLED);
        if (!strstr(thread->fault.text, rows[i].names))
            fail_msg("\"%s\" does not say \"%s\"", thread->fault.text, rows[i].names);
        assert_memory_equal(thread->flag, before, sizeof(before));
        zs_eu_program_destroy(program);
    }
}

static void test_past_the_end(void **state)
{
    struct zs_isa_inst inst = three(ZS_OP_ADD, 0, 2, ZS_TYPE_D, ZS_TYPE_D);
    uint64_t words[2];
    struct zs_eu_program *program;
    struct zs_diag diag = {0};

    (void)state;
    encode(&inst, words);
    struct zs_eu_lower_params params = {.code = zs_span_make(words, 16), .simd = 16};
    assert_int_equal(zs_eu_lower(&params, &program, &diag), 0);
    start(program);
    assert_int_equal(zs_eu_run(thread, program, 100), ZS_EU_FAULT);
    assert_int_equal(thread->fault.kind, ZS_EU_FAULT_RUNAWAY);
    zs_eu_program_destroy(program);
    params.code.size_B = 4;
    assert_true(zs_eu_lower(&params, &program, &diag) < 0);
}

/* More immediates than the pool holds. */
static void test_many_immediates(void **state)
{
    enum { COUNT = 1500 };
    uint64_t(*code)[2] = calloc(COUNT + 1, sizeof(*code));
    struct zs_eu_program *program;
    struct zs_diag diag = {0};
    uint32_t want = 0, got;

    (void)state;
    assert_non_null(code);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct zs_isa_inst inst = three(ZS_OP_ADD, 0, 2, ZS_TYPE_UD, ZS_TYPE_UD);
        uint32_t value = i * 2654435761u;
        inst.src[0] = packed(10, ZS_TYPE_UD);
        inst.src[1] =
            (struct zs_isa_operand){.kind = ZS_OPERAND_IMM, .type = ZS_TYPE_UD, .imm = value};
        want += value;
        encode(&inst, code[i]);
    }
    memcpy(code[COUNT], end_of_thread, 16);
    struct zs_eu_lower_params params = {.code = zs_span_make(code, (COUNT + 1) * 16), .simd = 16};
    assert_int_equal(zs_eu_lower(&params, &program, &diag), 0);
    start(program);
    run(program);
    for (unsigned lane = 0; lane < 16; lane++) {
        memcpy(&got, thread->grf + 10 * 32 + lane * 4, 4);
        assert_int_equal(got, want);
    }
    zs_eu_program_destroy(program);
    free(code);
}

/* wait: stops while n0.0 is 0, then counts it down */
static void test_barrier(void **state)
{
    struct zs_isa_inst inst = {
        .op = ZS_OP_WAIT,
        .exec_size = 1,
        .flags = ZS_INST_NOMASK,
        .source_count = 1,
        .dst = {.kind = ZS_OPERAND_REG, .file = ZS_FILE_N, .type = ZS_TYPE_UD, .hstride = 1},
        .src = {{.kind = ZS_OPERAND_REG, .file = ZS_FILE_N, .type = ZS_TYPE_UD, .width = 1}}};

    (void)state;
    struct zs_eu_program *program = lower(&inst, 1, ZS_EU_HOST_BEST);
    start(program);
    assert_int_equal(zs_eu_run(thread, program, 100), ZS_EU_BARRIER);
    assert_int_equal(zs_eu_run(thread, program, 100), ZS_EU_BARRIER);
    thread->n0[0] = 1;
    assert_int_equal(zs_eu_run(thread, program, 100), ZS_EU_EOT);
    assert_int_equal(thread->n0[0], 0);
    zs_eu_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_half_up),
        cmocka_unit_test(test_half_down),
        cmocka_unit_test(test_multiply_high),
        cmocka_unit_test(test_accumulator_reads),
        cmocka_unit_test(test_accumulator_negation),
        cmocka_unit_test(test_macros),
        cmocka_unit_test(test_macro_steps),
        cmocka_unit_test(test_state_registers),
        cmocka_unit_test(test_unmodelled),
        cmocka_unit_test(test_unmodelled_registers),
        cmocka_unit_test(test_past_the_end),
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_many_immediates),
    };
    thread = aligned_alloc(64, sizeof(*thread));
    if (!thread)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(thread);
    return failed;
}
