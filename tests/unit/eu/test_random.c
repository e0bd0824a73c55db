/* SPDX-License-Identifier: MIT */
/*
 * Random instructions on random registers: the interpreter on its fast and on its general path
 * and in all its builds, against the plain implementation in ref.c. Complete state is compared. The
 * decoder of src/isa must read every field of them as it was written. Gen11, Gen12LP, XeHPG and
 * XeHPC, with its registers of 64 bytes, have their own operations among them.
 */
#include "assembled.h"
#include "encode.h"
#include "eu/checks/shadow.h"
#include "eu/eu.h"
#include "ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2000 };

static int no_sends(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)ret;
    return zs_diag_set(diag, -1, ZS_DIAG_NO_OFFSET, "no sends here");
}

static void random_registers(struct random *r, struct ref_state *s)
{
    static const uint32_t special[] = {
        0,          1,          2,          0xffffffff, 0x80000000, 0x7fffffff, 0x3f800000,
        0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x807fffff, 0x00800000,
        0x4f000000, 0xcf000000, 0x4f800000, 0x3c003c00, 0x7bff7c00, 0x00010001, 0x42c80000,
        0x3ff00000, 0x7ff00000, 0x3effffff, 0x00008000, 0x0000ffff, 0xffff8000, 0xbf000000,
    };
    for (unsigned i = 0; i < 32 * s->grf_B; i++) {
        uint32_t word = (uint32_t)random_next(r);
        unsigned kind = random_below(r, 10);
        if (kind < 3)
            word = special[random_below(r, ZS_ARRAY_LEN(special))];
        else if (kind < 5)
            word &= 0xff;
        else if (kind < 7) /* floats of moderate size */
            word = (word & 0x807fffff) | (120 + word % 16) << 23;
        memcpy(s->grf + i * 4, &word, 4);
    }
    for (unsigned i = 0; i < 32; i++)
        s->acc[i] = (int64_t)random_next(r);
    for (unsigned i = 0; i < 16; i++)
        s->a0[i] = (uint16_t)(random_below(r, 16 * s->grf_B) * 8);
    s->flag[0] = (uint32_t)random_next(r);
    s->flag[1] = (uint32_t)random_next(r);
    if (s->grf_B == 64) {
        s->flag[2] = (uint32_t)random_next(r);
        s->flag[3] = (uint32_t)random_next(r);
    }
    s->ce = random_below(r, 3) ? UINT32_MAX : (uint32_t)random_next(r);
    s->cr0 = random_below(r, 2) ? 0x4c0 : 0x400 | (random_below(r, 4) << 6);
    if (random_below(r, 3) == 0)
        s->cr0 |= random_below(r, 4) << 4;
    if (random_below(r, 8) == 0)
        s->cr0 |= 1 << 12;
}

/* Instructions and an end of thread. */
enum { INSTS_MAX = 6 };
struct code {
    enum zs_isa_platform platform;
    unsigned insts;
    uint64_t words[2 * (INSTS_MAX + 1)];
};

static void end_thread(struct code *code)
{
    const char *text = end_of_thread(code->platform);
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    struct zs_isa_asm_error where = {0};

    assert_int_equal(
        zs_isa_assemble(code->platform, zs_span_make(text, strlen(text)), &bytes, &size_B, &where),
        0);
    assert_int_equal(size_B, 16);
    memcpy(&code->words[2 * code->insts], bytes, 16);
    zs_isa_code_free(bytes);
}

static struct zs_eu_program *lower(const struct code *code, uint32_t flags, enum zs_eu_host host)
{
    struct zs_eu_program *program = NULL;
    struct zs_diag diag;
    struct zs_eu_lower_params params = {
        .code = zs_span_make(code->words, 16 * (code->insts + 1)),
        .simd = 32,
        .flags = flags,
        .host = host,
        .send_lower = no_sends,
        .platform = code->platform,
    };

    zs_diag_clear(&diag);
    if (zs_eu_lower(&params, &program, &diag) < 0)
        fail_msg("%s", diag.text);
    return program;
}

static void print_code(const struct code *code)
{
    char text[ZS_ISA_LINE_MAX];
    struct zs_isa_inst inst;

    for (unsigned i = 0; i < code->insts; i++) {
        zs_isa_decode_one(code->platform, zs_span_make(code->words + 2 * i, 16), &inst);
        size_t length = zs_isa_print_one(code->platform, &inst, 0, text);
        fprintf(stderr, "%.*s\n", (int)length, text);
    }
}

static void run(const struct code *code, const struct ref_state *s, uint32_t flags,
                enum zs_eu_host host, struct zs_eu_thread *t)
{
    struct zs_eu_program *program = lower(code, flags, host);

    zs_eu_thread_init(t, program, UINT32_MAX);
    zs_eu_thread_set_control(t, s->cr0);
    memcpy(t->grf, s->grf, 128 * s->grf_B);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(s->acc); i++)
        zs_eu_acc_set(t, i, (uint64_t)s->acc[i]);
    memcpy(t->flag, s->flag, sizeof(s->flag));
    memcpy(t->a0, s->a0, sizeof(s->a0));
    t->ce = s->ce;
    if (s->ce == 0)
        t->ce = 1;
    enum zs_eu_status status = zs_eu_run(t, program, 1000);
    if (status != ZS_EU_EOT) {
        print_code(code);
        fail_msg("status %d: %s", (int)status, t->fault.text);
    }
    zs_eu_program_destroy(program);
}

/* ---- the decoder ---- */

static void decode(const struct zs_isa_inst *inst, struct zs_isa_inst *ret)
{
    uint64_t words[2];

    encode(inst, words);
    assert_int_equal(zs_isa_decode_one(ZS_ISA_GEN9, zs_span_make(words, 16), ret), 16);
}

struct fields {
    const struct zs_isa_inst *inst;
    unsigned round;
};

static void same(const struct fields *f, const char *what, uint64_t want, uint64_t got)
{
    if (want == got)
        return;
    uint64_t words[2];
    encode(f->inst, words);
    fail_msg("round %u: %s, %016llx %016llx: %s is %llu, decoded as %llu", f->round,
             zs_isa_op_mnemonic((enum zs_isa_op)f->inst->op), (unsigned long long)words[0],
             (unsigned long long)words[1], what, (unsigned long long)want, (unsigned long long)got);
}

static void same_stride(const struct fields *f, const char *what, uint8_t want, uint8_t got)
{
    if (got != ZS_REGION_NONE)
        same(f, what, want, got);
}

static void same_operand(const struct fields *f, const struct zs_isa_operand *want,
                         const struct zs_isa_operand *got)
{
    bool ternary = f->inst->source_count == 3, is_dst = want == &f->inst->dst;

    same(f, "operand kind", want->kind, got->kind);
    same(f, "operand type", want->type, got->type);
    same(f, "modifiers", want->modifiers, got->modifiers);
    if (want->kind == ZS_OPERAND_IMM) {
        same(f, "immediate", want->imm, got->imm);
        return;
    }
    if (want->kind == ZS_OPERAND_INDIRECT) {
        same(f, "address register", want->subreg, got->subreg);
        same(f, "address offset", (uint64_t)want->offset_B, (uint64_t)got->offset_B);
    } else {
        same(f, "register file", want->file, got->file);
        same(f, "register", want->reg, got->reg);
        same(f, "subregister in bytes", want->subreg_B, got->subreg_B);
        same(f, "subregister", want->subreg_B / type_size_B(want->type), got->subreg);
    }
    if (is_dst || !ternary || f->inst->exec_size > 1)
        same_stride(f, "horizontal stride", want->hstride, got->hstride);
    if (is_dst || ternary)
        return;
    same_stride(f, "vertical stride", want->vstride, got->vstride);
    same_stride(f, "width", want->width, got->width);
}

/* src/isa reads from the bits what they were made of. */
static void check_decoded(const struct zs_isa_inst *inst, unsigned round)
{
    const uint32_t flags = ZS_INST_NOMASK | ZS_INST_PRED_INVERSE | ZS_INST_ACCWREN |
                           ZS_INST_ALIGN16 | ZS_INST_COMPACTED | ZS_INST_ILLEGAL;
    const struct fields f = {inst, round};
    struct zs_isa_inst got;

    decode(inst, &got);
    same(&f, "operation", inst->op, got.op);
    same(&f, "flags", inst->flags & flags, got.flags & flags);
    same(&f, "function", inst->subfunction, got.subfunction);
    same(&f, "execution size", inst->exec_size, got.exec_size);
    same(&f, "channel offset", inst->channel_offset, got.channel_offset);
    same(&f, "predicate", inst->pred, got.pred);
    same(&f, "condition", inst->cond, got.cond);
    if (inst->pred || inst->cond) {
        same(&f, "flag register", inst->flag_reg, got.flag_reg);
        same(&f, "flag subregister", inst->flag_subreg, got.flag_subreg);
    }
    same(&f, "sources", inst->source_count, got.source_count);
    same_operand(&f, &inst->dst, &got.dst);
    for (unsigned i = 0; i < inst->source_count; i++)
        same_operand(&f, &inst->src[i], &got.src[i]);
}

/* ---- comparing ---- */

static bool is_nan(uint64_t bits, unsigned type)
{
    if (type == ZS_TYPE_F)
        return (bits & 0x7fffffff) > 0x7f800000;
    if (type == ZS_TYPE_DF)
        return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
    if (type == ZS_TYPE_BF)
        return (bits & 0x7fff) > 0x7f80;
    return type == ZS_TYPE_HF && (bits & 0x7fff) > 0x7c00;
}

/* NaNs the program computed may differ in sign and payload: make them alike. */
static void same_nans(const struct zs_isa_inst *inst, uint8_t *a, const struct ref_state *want,
                      const uint16_t *a0)
{
    const uint8_t *b = want->grf;
    unsigned size = type_size_B(inst->dst.type);

    for (unsigned c = 0; c < inst->exec_size; c++) {
        unsigned at = inst->dst.reg * want->grf_B + inst->dst.subreg_B;
        uint64_t x = 0, y = 0;
        if (inst->dst.kind == ZS_OPERAND_INDIRECT)
            at = a0[inst->dst.subreg] + (unsigned)(int)inst->dst.offset_B;
        at += c * inst->dst.hstride * size;
        if (inst->dst.kind == ZS_OPERAND_INDIRECT)
            at %= 128 * want->grf_B;
        memcpy(&x, a + at, size);
        memcpy(&y, b + at, size);
        if (is_nan(x, inst->dst.type) && is_nan(y, inst->dst.type))
            memcpy(a + at, &y, size);
    }
}

static void compare(const struct code *code, const struct zs_isa_inst *inst,
                    const struct ref_state *before, const struct ref_state *want,
                    struct zs_eu_thread *got, const char *how, unsigned round)
{
    bool same_acc = true;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(want->acc); i++)
        same_acc = same_acc && zs_eu_acc(got, i) == (uint64_t)want->acc[i];
    same_nans(inst, got->grf, want, before->a0);
    if (memcmp(got->grf, want->grf, 128 * want->grf_B) == 0 && same_acc &&
        memcmp(got->flag, want->flag, sizeof(want->flag)) == 0 &&
        memcmp(got->a0, want->a0, sizeof(want->a0)) == 0)
        return;
    fprintf(stderr, "round %u, %s: cr0 %x ce %x\n", round, how, before->cr0, before->ce);
    print_code(code);
    for (unsigned i = 0; i < 128 * want->grf_B; i += 4)
        if (memcmp(got->grf + i, want->grf + i, 4)) {
            uint32_t b, w, g;
            memcpy(&b, before->grf + i, 4);
            memcpy(&w, want->grf + i, 4);
            memcpy(&g, got->grf + i, 4);
            fprintf(stderr, "r%u.%u: was %08x, want %08x, got %08x\n", i / want->grf_B,
                    i % want->grf_B / 4, b, w, g);
        }
    for (unsigned i = 0; i < 4; i++)
        fprintf(stderr, "f%u: was %08x, want %08x, got %08x\n", i, before->flag[i], want->flag[i],
                got->flag[i]);
    for (unsigned i = 0; i < 32; i++)
        if (zs_eu_acc(got, i) != (uint64_t)want->acc[i])
            fprintf(stderr, "acc %u: want %llx, got %llx\n", i, (unsigned long long)want->acc[i],
                    (unsigned long long)zs_eu_acc(got, i));
    fail_msg("state differs");
}

/* ---- the test ---- */

static void check_ways(const struct code *code, const struct zs_isa_inst *inst,
                       const struct ref_state *before, const struct ref_state *after,
                       unsigned round, struct zs_eu_thread *t)
{
    static const struct {
        const char *name;
        uint32_t flags;
        enum zs_eu_host host;
    } ways[] = {
        {"best", 0, ZS_EU_HOST_BEST},
        {"avx2", 0, ZS_EU_HOST_AVX2},
        {"base", ZS_EU_LOWER_COUNTS, ZS_EU_HOST_BASE},
        {"general", ZS_EU_LOWER_GENERAL, ZS_EU_HOST_BEST},
    };

    for (unsigned i = 0; i < ZS_ARRAY_LEN(ways); i++) {
        if (!zs_eu_host_usable(ways[i].host))
            continue;
        run(code, before, ways[i].flags, ways[i].host, t);
        compare(code, inst, before, after, t, ways[i].name, round);
    }
}

static void random_state(struct random *random, enum zs_isa_platform platform,
                         struct ref_state *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->grf_B = platform >= ZS_ISA_XE_HPC ? 64 : 32;
    random_registers(random, ret);
    if (ret->ce == 0)
        ret->ce = 1;
}

static void check_round(enum zs_isa_platform platform, struct random *random, unsigned what,
                        unsigned round, struct zs_eu_thread *t)
{
    struct ref_state before, after;
    struct zs_isa_inst inst;
    struct code code = {.platform = platform, .insts = 1};

    random_state(random, platform, &before);
    if (platform == ZS_ISA_GEN9) {
        random_inst(random, what, &inst);
        encode(&inst, code.words);
        check_decoded(&inst, round);
    } else {
        random_later_inst(random, platform, what, &inst, code.words);
    }
    end_thread(&code);
    after = before;
    ref_execute(&after, &inst);
    check_ways(&code, &inst, &before, &after, round, t);
}

static void run_rounds_on(enum zs_isa_platform platform, unsigned what, uint64_t seed)
{
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : ROUNDS;

    assert_non_null(t);
    for (unsigned i = 0; i < rounds; i++) {
        struct random random = {seed + i};
        check_round(platform, &random, what, i, t);
    }
    free(t);
}

static void run_rounds(unsigned what, uint64_t seed)
{
    run_rounds_on(ZS_ISA_GEN9, what, seed);
}

static void test_integers(void **state)
{
    (void)state;
    run_rounds(0, 1000000);
}

static void test_integers_masked(void **state)
{
    (void)state;
    run_rounds(RANDOM_MASKS, 2000000);
}

static void test_wide(void **state)
{
    (void)state;
    run_rounds(RANDOM_MASKS | RANDOM_WIDE, 3000000);
}

static void test_floats(void **state)
{
    (void)state;
    run_rounds(RANDOM_MASKS | RANDOM_FLOAT, 4000000);
}

static void test_everything(void **state)
{
    (void)state;
    run_rounds(RANDOM_MASKS | RANDOM_FLOAT | RANDOM_WIDE | RANDOM_INDIRECT, 5000000);
}

/* Those of later generations: their own operations among the others, no 64-bit types. */
static void test_gen11(void **state)
{
    (void)state;
    run_rounds_on(ZS_ISA_GEN11, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_INDIRECT, 6000000);
}

static void test_xe_lp(void **state)
{
    (void)state;
    run_rounds_on(ZS_ISA_XE_LP, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_INDIRECT, 7000000);
}

static void test_xe_hpg(void **state)
{
    (void)state;
    run_rounds_on(ZS_ISA_XE_HPG, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_INDIRECT, 8000000);
}

/* ... and 64-bit types. */
static void test_xe_hpc(void **state)
{
    (void)state;
    run_rounds_on(ZS_ISA_XE_HPC, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_WIDE | RANDOM_INDIRECT,
                  9000000);
}

static void test_xe2(void **state)
{
    (void)state;
    run_rounds_on(ZS_ISA_XE2, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_WIDE | RANDOM_INDIRECT,
                  10000000);
}

static void test_xe3(void **state)
{
    (void)state;
    run_rounds_on(ZS_ISA_XE3, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_WIDE | RANDOM_INDIRECT,
                  11000000);
}

/* ---- instructions that are lowered together ---- */

enum { HALVES_ROUNDS = 1500, FEW_REGISTERS = 14 };

/* An operand's place `elements` further on. */
static void advance(struct zs_isa_operand *op, unsigned elements, unsigned grf_B)
{
    unsigned size_B = type_size_B(op->type);
    unsigned at = op->reg * grf_B + op->subreg_B + elements * size_B;

    if (op->kind != ZS_OPERAND_REG)
        return;
    op->reg = (uint16_t)(at / grf_B);
    op->subreg_B = (uint8_t)(at % grf_B);
    op->subreg = (uint8_t)(op->subreg_B / size_B);
}

/* Which element of a source channel n is. */
static unsigned element_of(const struct zs_isa_operand *op, unsigned n)
{
    unsigned width = op->width;

    if (op->vstride == ZS_REGION_NONE)
        return n * op->hstride;
    if (width == ZS_REGION_NONE)
        width = op->hstride ? ZS_MAX(op->vstride / op->hstride, 1) : 1;
    return n / width * op->vstride + n % width * op->hstride;
}

/* What follows it as its other half; or nearly that. */
static void other_half(struct random *r, const struct zs_isa_inst *first, unsigned grf_B,
                       struct zs_isa_inst *ret)
{
    unsigned n = first->exec_size;

    *ret = *first;
    ret->channel_offset = (uint8_t)(first->channel_offset + n);
    advance(&ret->dst, n * first->dst.hstride, grf_B);
    for (unsigned i = 0; i < first->source_count; i++)
        advance(&ret->src[i], element_of(&first->src[i], n), grf_B);
    struct zs_isa_operand *op = random_below(r, 2) ? &ret->dst : &ret->src[0];
    if (random_below(r, 6) == 0 && op->kind == ZS_OPERAND_REG)
        op->reg++;
}

static bool is_of_integers(const struct zs_isa_inst *inst)
{
    const struct zs_isa_operand *ops[] = {&inst->dst, &inst->src[0], &inst->src[1], &inst->src[2]};
    static const bool is_float[ZS_TYPE_COUNT] = {
        [ZS_TYPE_F] = true,  [ZS_TYPE_HF] = true, [ZS_TYPE_DF] = true,
        [ZS_TYPE_BF] = true, [ZS_TYPE_VF] = true, [ZS_TYPE_TF32] = true};

    for (unsigned i = 0; i < 1u + inst->source_count; i++)
        if (is_float[ops[i]->type])
            return false;
    return true;
}

/* Encode it behind the others; false: it has no such encoding. */
static bool append(struct code *code, const struct zs_isa_inst *inst)
{
    struct zs_isa_inst decoded;
    uint8_t bytes[16];

    if (code->insts == INSTS_MAX || zs_isa_encode_one(code->platform, inst, bytes, NULL) != 16 ||
        zs_isa_decode_one(code->platform, zs_span_make(bytes, 16), &decoded) != 16 ||
        decoded.flags & ZS_INST_ILLEGAL)
        return false;
    for (unsigned i = 0; i < inst->source_count; i++)
        if (inst->src[i].kind == ZS_OPERAND_REG &&
            (inst->src[i].subreg_B != decoded.src[i].subreg_B ||
             element_of(&inst->src[i], 9) != element_of(&decoded.src[i], 9)))
            return false;
    if (inst->dst.subreg_B != decoded.dst.subreg_B)
        return false;
    memcpy(&code->words[2 * code->insts++], bytes, 16);
    return true;
}

/* Of few registers, so that they depend on each other. */
static void random_integers(struct random *r, enum zs_isa_platform platform, unsigned grf_B,
                            struct zs_isa_inst *ret)
{
    uint64_t words[2];

    do
        random_later_inst(r, platform, grf_B == 64 ? RANDOM_MASKS | RANDOM_WIDE : RANDOM_MASKS, ret,
                          words);
    while (!is_of_integers(ret));
    ret->dst.reg %= FEW_REGISTERS;
    for (unsigned i = 0; i < ret->source_count; i++)
        ret->src[i].reg %= FEW_REGISTERS;
}

static void check_halves(enum zs_isa_platform platform, struct random *random, unsigned round,
                         struct zs_eu_thread *t)
{
    struct code code = {.platform = platform};
    struct ref_state before, after;
    struct zs_isa_inst first, second, other;

    random_state(random, platform, &before);
    after = before;
    while (code.insts + 3 <= INSTS_MAX) {
        random_integers(random, platform, before.grf_B, &first);
        unsigned n = first.exec_size;
        if ((n != 8 && n != 16) || first.channel_offset % (2 * n) ||
            first.flag_subreg * 16u + first.channel_offset + 2 * n > 32 || !append(&code, &first))
            continue;
        ref_execute(&after, &first);
        if (random_below(random, 2)) {
            random_integers(random, platform, before.grf_B, &other);
            if (append(&code, &other))
                ref_execute(&after, &other);
        }
        other_half(random, &first, before.grf_B, &second);
        if (append(&code, &second))
            ref_execute(&after, &second);
    }
    end_thread(&code);
    check_ways(&code, &first, &before, &after, round, t);
}

static void test_halves(void **state)
{
    static const enum zs_isa_platform platforms[] = {ZS_ISA_GEN11,  ZS_ISA_XE_LP, ZS_ISA_XE_HPG,
                                                     ZS_ISA_XE_HPC, ZS_ISA_XE2,   ZS_ISA_XE3};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : HALVES_ROUNDS;

    (void)state;
    assert_non_null(t);
    for (unsigned i = 0; i < rounds; i++) {
        struct random random = {10000000 + i};
        check_halves(platforms[i % ZS_ARRAY_LEN(platforms)], &random, i, t);
    }
    free(t);
}

/* ---- registers that threads find ---- */

enum { STARTS_ROUNDS = 500, ENTRY = 3, PART = 3, REST = 2, GOTO = ENTRY, JOIN = ENTRY + 1 + PART };

/* Random instructions, some of them for the lanes that f0 leaves on. */
static struct zs_eu_program *branching(struct random *r, enum zs_isa_platform platform,
                                       unsigned grf_B, uint32_t flags)
{
    enum { COUNT = JOIN + 1 + REST };
    static const char inst[] = "mov (16|M0) r100.0<1>:ud r101.0<1;1,0>:ud\n";
    struct code one = {.platform = platform};
    struct zs_eu_program *program = NULL;
    struct zs_isa_asm_error where = {0};
    struct zs_diag diag = {0};
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    char text[2000] = "";

    for (unsigned i = 0; i < COUNT; i++)
        strcat(text, i == GOTO   ? "(f0.0) goto (32|M0) L1 L1\n"
                     : i == JOIN ? "L1:\njoin (32|M0) L2\nL2:\n"
                                 : inst);
    strcat(text, end_of_thread(platform));
    assert_int_equal(
        zs_isa_assemble(platform, zs_span_make(text, strlen(text)), &bytes, &size_B, &where), 0);
    assert_int_equal(size_B, 16 * (COUNT + 1));
    for (unsigned i = 0; i < COUNT; i++) {
        struct zs_isa_inst random;
        if (i == GOTO || i == JOIN)
            continue;
        do {
            one.insts = 0;
            random_integers(r, platform, grf_B, &random);
        } while (random.flag_reg == 0 || !append(&one, &random)); /* f0 is the branch's */
        memcpy(bytes + 16 * i, one.words, 16);
    }
    struct zs_eu_lower_params params = {.code = zs_span_make(bytes, size_B),
                                        .simd = 32,
                                        .send_lower = no_sends,
                                        .platform = platform,
                                        .flags = flags,
                                        .payload_B = 2 * grf_B};
    if (zs_eu_lower(&params, &program, &diag))
        fail_msg("%s", diag.text);
    zs_isa_code_free(bytes);
    return program;
}

static void run_from(struct zs_eu_thread *t, const struct zs_eu_program *program,
                     const struct ref_state *s)
{
    memcpy(t->grf, s->grf, 2 * s->grf_B); /* the payload */
    memcpy(t->flag, s->flag, sizeof(s->flag));
    if (zs_eu_run(t, program, 1000) != ZS_EU_EOT)
        fail_msg("%s", t->fault.text);
}

/* What an earlier thread left in registers changes nothing: of bytes that are not as in a thread
 * that found zeros there, nobody has written any. */
static void test_starts(void **state)
{
    static const enum zs_isa_platform platforms[] = {ZS_ISA_GEN11,  ZS_ISA_XE_LP, ZS_ISA_XE_HPG,
                                                     ZS_ISA_XE_HPC, ZS_ISA_XE2,   ZS_ISA_XE3};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    static struct ref_state s, left;
    static uint8_t clean[REF_FILE_MAX_B];
    unsigned kept = 0;

    (void)state;
    assert_non_null(t);
    for (unsigned i = 0; i < STARTS_ROUNDS; i++) {
        struct random random = {20000000 + i};
        enum zs_isa_platform platform = platforms[i % ZS_ARRAY_LEN(platforms)];
        uint32_t dispatch = i / 4 % 2 ? UINT32_MAX : (uint32_t)random_next(&random) | 1;
        random_state(&random, platform, &s);
        random_state(&random, platform, &left);
        struct zs_eu_program *program = branching(&random, platform, s.grf_B, 0);
        zs_eu_thread_init(t, program, dispatch);
        run_from(t, program, &s);
        memcpy(clean, t->grf, 128 * s.grf_B);
        memcpy(t->grf, left.grf, 128 * s.grf_B);
        memset(t->acc, 0x5a, sizeof(t->acc));
        memset(t->acc_high, 0x5a, sizeof(t->acc_high));
        zs_eu_thread_restart(t, program, dispatch);
        run_from(t, program, &s);
        for (unsigned k = 0; k < 128 * s.grf_B; k++) {
            kept += t->grf[k] != clean[k];
            if (t->grf[k] != clean[k] && t->grf[k] != left.grf[k])
                fail_msg("round %u: r%u, byte %u: %02x, %02x in a thread that finds zeros", i,
                         k / s.grf_B, k % s.grf_B, t->grf[k], clean[k]);
        }
        zs_eu_program_destroy(program);
    }
    assert_true(kept > 0);
    free(t);
}

/* One element to two channels, the first of which takes its place. */
static void test_pair_in_place(void **state)
{
    static const char text[] = "(W) fbh (2|M0) r9.0<1>:ud r9.0<0;1,0>:d\n";
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct code code = {.platform = ZS_ISA_GEN11, .insts = 1};
    struct random random = {40000000};
    struct ref_state before, after;
    struct zs_isa_asm_error where = {0};
    struct zs_isa_inst inst;
    uint8_t *bytes = NULL;
    size_t size_B = 0;

    (void)state;
    assert_non_null(t);
    assert_int_equal(zs_isa_assemble(code.platform, zs_span_make(text, sizeof(text) - 1), &bytes,
                                     &size_B, &where),
                     0);
    assert_int_equal(zs_isa_decode_one(code.platform, zs_span_make(bytes, size_B), &inst), 16);
    memcpy(code.words, bytes, 16);
    zs_isa_code_free(bytes);
    end_thread(&code);
    random_state(&random, code.platform, &before);
    after = before;
    ref_execute(&after, &inst);
    check_ways(&code, &inst, &before, &after, 0, t);
    free(t);
}

/* ---- values that are not defined ---- */

enum { SHADOW_ROUNDS = 3000 };

struct undefined {
    uint8_t grf[REF_FILE_MAX_B];
    uint32_t flag[4];
};

/* Some bits, some elements. */
static void random_undefined(struct random *r, const struct ref_state *s, struct undefined *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (unsigned i = 0; i < 32 * s->grf_B; i++) {
        uint32_t word = (uint32_t)random_next(r) & (uint32_t)random_next(r),
                 kind = random_below(r, 8);
        word = kind == 0 ? UINT32_MAX : kind < 3 ? word : 0;
        memcpy(ret->grf + i * 4, &word, 4);
    }
    for (unsigned i = 0; i < 4 && random_below(r, 2); i++)
        ret->flag[i] = (uint32_t)random_next(r) & (uint32_t)random_next(r);
}

/* Bits that are not defined have other values. */
static void change(struct random *r, struct ref_state *s, const struct undefined *u)
{
    for (unsigned i = 0; i < 128 * s->grf_B; i++)
        s->grf[i] ^= (uint8_t)random_next(r) & u->grf[i];
    for (unsigned i = 0; i < 4; i++)
        s->flag[i] ^= (uint32_t)random_next(r) & u->flag[i];
}

static void run_shadowed(const struct code *code, const struct ref_state *s,
                         const struct undefined *u, uint32_t flags, struct zs_eu_thread *t,
                         struct zs_eu_shadow *shadow)
{
    struct zs_eu_program *program = lower(code, ZS_EU_LOWER_DEFINED | flags, ZS_EU_HOST_BEST);
    zs_eu_thread_init(t, program, UINT32_MAX);
    zs_eu_thread_set_control(t, s->cr0);
    memcpy(t->grf, s->grf, 128 * s->grf_B);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(s->acc); i++)
        zs_eu_acc_set(t, i, (uint64_t)s->acc[i]);
    memcpy(t->flag, s->flag, sizeof(s->flag));
    memcpy(t->a0, s->a0, sizeof(s->a0));
    t->ce = s->ce ? s->ce : 1;
    zs_eu_shadow_begin(t, shadow, 0);
    memset(shadow->bits, 0, sizeof(shadow->bits));
    memcpy(shadow->bits + offsetof(struct zs_eu_thread, grf), u->grf, 128 * s->grf_B);
    memcpy(shadow->bits + offsetof(struct zs_eu_thread, flag), u->flag, sizeof(u->flag));
    if (zs_eu_run(t, program, 1000) != ZS_EU_EOT)
        fail_msg("%s", t->fault.text);
    zs_eu_program_destroy(program);
}

/* Bits that are called defined and change with those that are not; NaNs count as alike. */
static void check_shadow(const struct code *code, const struct zs_isa_inst *inst,
                         const struct zs_eu_thread *a, struct zs_eu_thread *b,
                         const struct ref_state *s, const struct zs_eu_shadow *shadow,
                         unsigned round)
{
    const uint8_t *grf = shadow->bits + offsetof(struct zs_eu_thread, grf);
    static struct ref_state want;
    uint32_t flag[4];
    memcpy(flag, shadow->bits + offsetof(struct zs_eu_thread, flag), sizeof(flag));
    want.grf_B = s->grf_B;
    memcpy(want.grf, a->grf, sizeof(want.grf));
    same_nans(inst, b->grf, &want, s->a0);
    for (unsigned i = 0; i < 128 * s->grf_B; i++)
        if ((a->grf[i] ^ b->grf[i]) & ~grf[i]) {
            print_code(code);
            fail_msg("round %u: r%u, byte %u: %02x, %02x; not defined %02x", round, i / s->grf_B,
                     i % s->grf_B, a->grf[i], b->grf[i], grf[i]);
        }
    for (unsigned i = 0; i < 4; i++)
        if ((a->flag[i] ^ b->flag[i]) & ~flag[i]) {
            print_code(code);
            fail_msg("round %u: f%u: %08x, %08x; not defined %08x", round, i, a->flag[i],
                     b->flag[i], flag[i]);
        }
}

/* With other values where they are not defined, what is called defined comes out the same. */
static void test_undefined(void **state)
{
    static const enum zs_isa_platform platforms[] = {ZS_ISA_GEN9,   ZS_ISA_GEN11,  ZS_ISA_XE_LP,
                                                     ZS_ISA_XE_HPG, ZS_ISA_XE_HPC, ZS_ISA_XE2,
                                                     ZS_ISA_XE3};
    struct zs_eu_thread *a = aligned_alloc(64, sizeof(*a)), *b = aligned_alloc(64, sizeof(*b));
    struct zs_eu_shadow *shadow = calloc(1, sizeof(*shadow));
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : SHADOW_ROUNDS;
    static struct ref_state before, changed;
    static struct undefined u;

    (void)state;
    assert_true(a && b && shadow);
    for (unsigned i = 0; i < rounds; i++) {
        struct random random = {30000000 + i};
        struct code code = {.platform = platforms[i % ZS_ARRAY_LEN(platforms)], .insts = 1};
        bool wide = code.platform == ZS_ISA_GEN9 || code.platform >= ZS_ISA_XE_HPC;
        unsigned what = RANDOM_MASKS | RANDOM_FLOAT | RANDOM_INDIRECT | (wide ? RANDOM_WIDE : 0);
        struct zs_isa_inst inst;
        random_state(&random, code.platform, &before);
        if (code.platform == ZS_ISA_GEN9) {
            random_inst(&random, what, &inst);
            encode(&inst, code.words);
        } else {
            random_later_inst(&random, code.platform, what, &inst, code.words);
        }
        end_thread(&code);
        random_undefined(&random, &before, &u);
        run_shadowed(&code, &before, &u, 0, a, shadow);
        for (unsigned k = 0; k < 4; k++) {
            changed = before;
            change(&random, &changed, &u);
            run(&code, &changed, 0, ZS_EU_HOST_BEST, b);
            check_shadow(&code, &inst, a, b, &before, shadow, i);
        }
    }
    free(shadow);
    free(a);
    free(b);
}

/* A few registers, which they write for each other. */
static void random_insts(struct random *r, struct code *code)
{
    struct zs_isa_inst inst;
    for (code->insts = 0; code->insts < INSTS_MAX; code->insts++) {
        random_inst(r, RANDOM_MASKS | RANDOM_FLOAT | RANDOM_WIDE, &inst);
        inst.dst.reg %= 8;
        for (unsigned s = 0; s < inst.source_count; s++)
            if (inst.src[s].kind == ZS_OPERAND_REG)
                inst.src[s].reg %= 8;
        encode(&inst, code->words + 2 * code->insts);
    }
    end_thread(code);
}

/* What is told of parts as a whole is what their operations do one by one. */
static void test_parts(void **state)
{
    static struct zs_eu_shadow parts, each;
    static struct ref_state before;
    static struct undefined u;
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    const size_t grf = offsetof(struct zs_eu_thread, grf),
                 flag = offsetof(struct zs_eu_thread, flag);

    (void)state;
    assert_non_null(t);
    for (unsigned i = 0; i < SHADOW_ROUNDS; i++) {
        struct random random = {50000000 + i};
        struct code code = {.platform = ZS_ISA_GEN9};
        random_insts(&random, &code);
        random_state(&random, code.platform, &before);
        random_undefined(&random, &before, &u);
        memset(u.flag, 0, random_below(&random, 8) ? sizeof(u.flag) : 0);
        for (unsigned reg = 0; reg < 128; reg++)
            if (random_below(&random, 8))
                memset(u.grf + reg * before.grf_B, 0, before.grf_B);
        run_shadowed(&code, &before, &u, 0, t, &parts);
        run_shadowed(&code, &before, &u, ZS_EU_LOWER_PLACES, t, &each);
        if (memcmp(parts.bits + grf, each.bits + grf, sizeof(t->grf)) ||
            memcmp(parts.bits + flag, each.bits + flag, sizeof(t->flag))) {
            print_code(&code);
            fail_msg("round %u, ce %x: by parts, other bits are not defined", i, before.ce);
        }
    }
    free(t);
}

/* Whether bits of registers that were defined are not any more, where a thread began with all
 * registers undefined but the first and those that `defined` has bits of. */
static bool spreads(struct zs_eu_thread *t, const struct zs_eu_program *p, uint32_t dispatch,
                    const struct ref_state *s, uint32_t defined)
{
    static struct zs_eu_shadow shadow;
    static uint8_t before[REF_FILE_MAX_B];
    uint8_t *bits = shadow.bits + offsetof(struct zs_eu_thread, grf);
    bool spreads = false;

    zs_eu_thread_init(t, p, dispatch);
    zs_eu_shadow_begin(t, &shadow, s->grf_B);
    for (uint32_t i = 0; i < 32; i++)
        if (defined >> i & 1)
            memset(bits + (i + 1) * s->grf_B, 0, s->grf_B);
    memcpy(before, bits, sizeof(before));
    run_from(t, p, s);
    for (unsigned i = 0; i < 128 * s->grf_B; i++)
        spreads |= bits[i] & ~before[i];
    return spreads;
}

/* Registers that the way needs are all that has to be defined for nothing undefined to be read. */
static void test_flow(void **state)
{
    static const enum zs_isa_platform platforms[] = {ZS_ISA_GEN11,  ZS_ISA_XE_LP, ZS_ISA_XE_HPG,
                                                     ZS_ISA_XE_HPC, ZS_ISA_XE2,   ZS_ISA_XE3};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    static struct ref_state s;
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : STARTS_ROUNDS, spread = 0;
    unsigned known[2] = {0, 0};

    (void)state;
    assert_non_null(t);
    for (unsigned i = 0; i < rounds; i++) {
        struct random random = {60000000 + i};
        enum zs_isa_platform platform = platforms[i % ZS_ARRAY_LEN(platforms)];
        bool all = i / 6 % 2;
        uint32_t dispatch = all ? UINT32_MAX : (uint32_t)random_next(&random) | 1, needed = 0;
        random_state(&random, platform, &s);
        struct zs_eu_program *p = branching(&random, platform, s.grf_B, ZS_EU_LOWER_DEFINED);
        uint32_t size_B = 33 * s.grf_B;
        bool is_known = zs_eu_shadow_is_clean(p, all, size_B, 0);
        for (uint32_t k = 0; k < 32; k++)
            needed |= zs_eu_shadow_is_clean(p, all, size_B, UINT32_C(1) << k) ? 0 : 1u << k;
        if (is_known && spreads(t, p, dispatch, &s, needed))
            fail_msg("round %u: with %08x defined, something undefined was read", i, needed);
        known[all] += is_known;
        spread += is_known && spreads(t, p, dispatch, &s, 0);
        zs_eu_program_destroy(p);
    }
    assert_true(known[0] > rounds / 8 && known[1] > rounds / 8 && spread > 0);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undefined),  cmocka_unit_test(test_pair_in_place),
        cmocka_unit_test(test_integers),   cmocka_unit_test(test_integers_masked),
        cmocka_unit_test(test_wide),       cmocka_unit_test(test_floats),
        cmocka_unit_test(test_everything), cmocka_unit_test(test_gen11),
        cmocka_unit_test(test_xe_lp),      cmocka_unit_test(test_xe_hpg),
        cmocka_unit_test(test_xe_hpc),     cmocka_unit_test(test_xe2),
        cmocka_unit_test(test_xe3),        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_starts),     cmocka_unit_test(test_parts),
        cmocka_unit_test(test_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
