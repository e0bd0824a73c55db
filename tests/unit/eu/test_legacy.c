/* SPDX-License-Identifier: MIT */
/*
 * Gen9's operations that no compiler of kernels emits: dot products, lines, planes, sums of
 * differences, indexed moves, calls by address. Each against its definition in plain C, with values
 * at the extremes of their types; and what is refused, by name.
 */
#include "assembled.h"
#include "ref.h"

#include <fenv.h>
#include <math.h>

enum { LANES = 16, A = 10, B = 12, D = 20 };

static float single_of(const struct zs_eu_thread *t, unsigned reg, unsigned i)
{
    float value;
    memcpy(&value, t->grf + reg * 32 + i * 4, 4);
    return value;
}

static void set_single(struct zs_eu_thread *t, unsigned reg, unsigned i, float value)
{
    memcpy(t->grf + reg * 32 + i * 4, &value, 4);
}

static const float extremes[] = {0.0f,      -0.0f,           1.0f,       -1.0f,      0x1p-126f,
                                 -0x1p127f, 0x1.fffffep127f, 0x1p-149f,  3.1415926f, -0x1.000002p0f,
                                 INFINITY,  0x1.555554p-2f,  16777216.f, 1e-20f,     -7.25e11f};

/* Sixteen numbers each at r10 and r12, the first eight of r10 of moderate size. */
static void fill(struct zs_eu_thread *t, unsigned seed)
{
    for (unsigned i = 0; i < 4 * 8; i++) {
        seed = seed * 1103515245u + 12345u;
        float value = (float)(int)(seed >> 8 & 0xffff) * 0x1.234p-6f - 300.0f;
        if (seed >> 28 == 0)
            value = extremes[seed >> 16 & 7 ? (seed >> 20) % ZS_ARRAY_LEN(extremes) : 0];
        set_single(t, A, i, value);
    }
    for (unsigned i = 0; i < LANES; i++)
        set_single(t, D, i, -5.0f);
}

static void run_on(struct zs_eu_thread *t, const struct zs_eu_program *program)
{
    if (zs_eu_run(t, program, 1000) != ZS_EU_EOT)
        fail_msg("%s", t->fault.text);
}

/* Products are exact in double; the sum in extended precision has at most an ulp of its 64 bits
 * wrong, so that only a tie could be. */
static void same_sum(long double want, float got)
{
    float rounded = (float)want;

    if (isnan(want) || isnan(got))
        assert_true(isnan(want) && isnan(got));
    else if (fabsf(rounded) >= 0x1p-126f && isfinite(rounded))
        assert_true(got == rounded);
    else if (isfinite(rounded)) /* the thread flushes denormals */
        assert_true(fabsf(got) < 0x1p-126f || fabsf(got) == 0x1p-126f);
    else
        assert_true(got == rounded);
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

static void dot_products(void **state)
{
    static const struct {
        const char *name;
        unsigned count;
        bool homogeneous;
    } rows[] = {{"dp2", 2, false}, {"dp3", 3, false}, {"dp4", 4, false}, {"dph", 4, true}};

    for (unsigned r = 0; r < ZS_ARRAY_LEN(rows); r++) {
        char text[200];
        snprintf(text, sizeof(text), "%s (16|M0) r20.0<1>:f r10.0<8;8,1>:f r12.0<8;8,1>:f",
                 rows[r].name);
        struct zs_eu_program *program =
            assembled(ZS_ISA_GEN9, text, (struct zs_eu_lower_params){0});
        for (unsigned seed = 0; seed < 200; seed++) {
            struct zs_eu_thread *t = assembled_thread(program);
            fill(t, seed);
            run_on(t, program);
            for (unsigned c = 0; c < LANES; c++) {
                long double sum = 0;
                for (unsigned i = 0; i < rows[r].count; i++) {
                    float a = flushed(single_of(t, A, c / 4 * 4 + i));
                    if (rows[r].homogeneous && i == 3)
                        a = 1;
                    sum += (long double)a * (long double)flushed(single_of(t, B, c / 4 * 4 + i));
                }
                same_sum(sum, single_of(t, D, c));
            }
            free(t);
        }
        zs_eu_program_destroy(program);
    }
}

static void lines_and_planes(void **state)
{
    struct zs_eu_program *line =
        assembled(ZS_ISA_GEN9, "line (8|M0) r20.0<1>:f r10.4<0;1,0>:f r12.0<8;8,1>:f",
                  (struct zs_eu_lower_params){0});
    struct zs_eu_program *plane =
        assembled(ZS_ISA_GEN9, "pln (8|M0) r20.0<1>:f r10.4<0;1,0>:f r12.0<8;8,1>:f",
                  (struct zs_eu_lower_params){0});
    struct zs_eu_program *wide =
        assembled(ZS_ISA_GEN9, "pln (16|M0) r20.0<1>:f r10.0<0;1,0>:f r11.0<8;8,1>:f",
                  (struct zs_eu_lower_params){0});

    for (unsigned seed = 0; seed < 300; seed++) {
        struct zs_eu_thread *t = assembled_thread(line);
        fill(t, seed);
        run_on(t, line);
        long double p = (long double)flushed(single_of(t, A, 4)),
                    q = (long double)flushed(single_of(t, A, 5)),
                    r = (long double)flushed(single_of(t, A, 7));
        for (unsigned c = 0; c < 8; c++)
            same_sum(p * (long double)flushed(single_of(t, B, c)) + r, single_of(t, D, c));
        zs_eu_thread_init(t, plane, 0xff);
        fill(t, seed);
        run_on(t, plane);
        for (unsigned c = 0; c < 8; c++)
            same_sum(p * (long double)flushed(single_of(t, B, c)) +
                         q * (long double)flushed(single_of(t, B, 8 + c)) + r,
                     single_of(t, D, c));
        for (unsigned c = 8; c < LANES; c++)
            assert_true(single_of(t, D, c) == -5.0f);
        zs_eu_thread_init(t, wide,
                          0xffff); /* u and v of eight channels, then those of the others */
        fill(t, seed);
        for (unsigned i = 0; i < 16; i++)
            set_single(t, A + 3, i, (float)(i * seed) - 11.5f);
        run_on(t, wide);
        p = (long double)flushed(single_of(t, A, 0)), q = (long double)flushed(single_of(t, A, 1)),
        r = (long double)flushed(single_of(t, A, 3));
        for (unsigned c = 0; c < LANES; c++) {
            unsigned u = c / 8 * 16 + c % 8;
            same_sum(p * (long double)flushed(single_of(t, A + 1, u)) +
                         q * (long double)flushed(single_of(t, A + 1, u + 8)) + r,
                     single_of(t, D, c));
        }
        free(t);
    }
    zs_eu_program_destroy(line);
    zs_eu_program_destroy(plane);
    zs_eu_program_destroy(wide);
}

/* A sum is rounded as cr0 says, and an exact zero has the mode's sign. */
static void rounding(void **state)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    struct zs_eu_program *program =
        assembled(ZS_ISA_GEN9, "dp2 (4|M0) r20.0<1>:f r10.0<4;4,1>:f r12.0<4;4,1>:f",
                  (struct zs_eu_lower_params){0});

    for (uint32_t mode = 0; mode < 4; mode++) {
        struct zs_eu_thread *t = assembled_thread(program);
        set_single(t, A, 0, 0x1.000002p0f), set_single(t, B, 0, 0x1.000002p0f);
        set_single(t, A, 1, -0x1p-40f), set_single(t, B, 1, 1.0f);
        zs_eu_thread_set_control(t, mode << 4);
        run_on(t, program);
        fesetround(modes[mode]);
        volatile double a = 0x1.000002p0, sum = a * a - 0x1p-40;
        volatile float want = (float)sum, zero = 1.0f;
        zero -= 1.0f;
        fesetround(FE_TONEAREST);
        assert_true(single_of(t, D, 0) == want);
        zs_eu_thread_init(t, program, 0xffff);
        set_single(t, A, 0, 3.0f), set_single(t, B, 0, 5.0f);
        set_single(t, A, 1, -15.0f), set_single(t, B, 1, 1.0f);
        zs_eu_thread_set_control(t, mode << 4);
        run_on(t, program);
        assert_true(single_of(t, D, 0) == 0 && !signbit(single_of(t, D, 0)) == !signbit(zero));
        free(t);
    }
    zs_eu_program_destroy(program);
}

static int16_t word_of(const struct zs_eu_thread *t, unsigned i)
{
    int16_t value;
    memcpy(&value, t->grf + D * 32 + i * 2, 2);
    return value;
}

/* The sum of a pair is in its first channel; the other one is not defined. */
static void differences(void **state)
{
    static const char *const texts[] = {
        "sad2 (16|M0) r20.0<1>:w r10.0<16;16,1>:ub r12.0<16;16,1>:ub",
        "sada2 (16|M0) r20.0<1>:w r10.0<16;16,1>:ub r12.0<16;16,1>:ub",
        "sada2 (16|M0) (sat)r20.0<1>:w r10.0<16;16,1>:b r12.0<16;16,1>:b",
        "sada2 (16|M0) (sat)r20.0<1>:uw r10.0<16;16,1>:b r12.0<16;16,1>:b",
    };
    static const int16_t sums[] = {0, 32767, -32768, 32300, -1, 7};

    for (unsigned k = 0; k < ZS_ARRAY_LEN(texts); k++) {
        struct zs_eu_program *program =
            assembled(ZS_ISA_GEN9, texts[k], (struct zs_eu_lower_params){0});
        struct zs_eu_thread *t = assembled_thread(program);
        bool is_signed = k >= 2, adds = k >= 1, saturates = k >= 2, word = k != 3;
        uint8_t a[16], b[16];
        for (unsigned i = 0; i < 16; i++) {
            a[i] = (uint8_t)(i % 3 == 0 ? 0x80 : i % 3 == 1 ? 0xff : i * 37);
            b[i] = (uint8_t)(i % 2 ? 0x7f : i * 11);
            zs_eu_acc_set(t, i, (uint64_t)(int64_t)sums[i % 6]);
        }
        memcpy(t->grf + A * 32, a, 16);
        memcpy(t->grf + B * 32, b, 16);
        run_on(t, program);
        for (unsigned i = 0; i < 16; i += 2) {
            int sum = 0;
            for (unsigned j = i; j < i + 2; j++)
                sum += abs(is_signed ? (int8_t)a[j] - (int8_t)b[j] : a[j] - b[j]);
            if (adds)
                sum += word ? sums[i % 6] : (uint16_t)sums[i % 6];
            int high = word ? 32767 : 65535, low = word ? -32768 : 0;
            if (saturates)
                sum = sum > high ? high : sum < low ? low : sum;
            assert_int_equal(word_of(t, i), (int16_t)sum);
        }
        free(t);
        zs_eu_program_destroy(program);
    }
}

static void indexed_moves(void **state)
{
    struct zs_eu_program *bytes = assembled(
        ZS_ISA_GEN9, "movi (8|M0) r20.0<1>:b r[a0.2,32]<8;8,1>:b", (struct zs_eu_lower_params){0});
    struct zs_eu_program *dwords = assembled(ZS_ISA_GEN9, "movi (8|M0) r20.0<1>:d r[a0.0]<8;8,1>:d",
                                             (struct zs_eu_lower_params){0});
    struct zs_eu_thread *t = assembled_thread(bytes);

    for (unsigned i = 0; i < 4096 - 32 * 20; i++)
        t->grf[i % 640] = (uint8_t)(i * 7 + i / 256);
    for (unsigned i = 0; i < 10; i++)
        t->a0[i] = (uint16_t)((i == 2 ? 3 * 32 : i * 64) + (31 - 3 * i));
    uint8_t before[640];
    memcpy(before, t->grf, sizeof(before));
    run_on(t, bytes);
    for (unsigned c = 0; c < 8; c++) /* the first address says which register, plus one */
        assert_int_equal(t->grf[D * 32 + c], before[4 * 32 + t->a0[2 + c] % 32]);
    zs_eu_thread_init(t, dwords, 0xffff);
    memcpy(t->grf, before, sizeof(before));
    for (unsigned i = 0; i < 8; i++)
        t->a0[i] = (uint16_t)((i == 0 ? 5 * 32 : 0) + (7 - i) * 4);
    run_on(t, dwords);
    for (unsigned c = 0; c < 8; c++)
        assert_memory_equal(t->grf + D * 32 + c * 4, before + 5 * 32 + (7 - c) * 4, 4);
    free(t);
    zs_eu_program_destroy(bytes);
    zs_eu_program_destroy(dwords);
}

/* The target is an address, wherever the code is. */
static void calls_by_address(void **state)
{
    static const uint32_t bases[] = {0, 0x4000, 0xfffff000};

    static const char text[] = "calla (16|M0) r20.0 L64\n"
                               "mov (16|M0) r22.0<1>:d 1:d\n"
                               "jmpi (1|M0) L96\n"
                               "mov (16|M0) r24.0<1>:d 99:d\n"
                               "L64:\n"
                               "mov (16|M0) r26.0<1>:d 2:d\n"
                               "ret (16|M0) r20.0\n"
                               "L96:\n"
                               "(W) send (8|M0) null r112:ud 0x27 0x02000010 {EOT}\n";

    for (unsigned i = 0; i < ZS_ARRAY_LEN(bases); i++) {
        struct zs_eu_program *program = NULL;
        struct zs_diag diag = {0};
        uint8_t *code = NULL;
        size_t size_B = 0;
        struct zs_isa_asm_error where = {0};
        assert_int_equal(zs_isa_assemble(ZS_ISA_GEN9,
                                         (struct zs_span){(const uint8_t *)text, strlen(text)},
                                         &code, &size_B, &where),
                         0);
        uint32_t target = bases[i] + 64;
        memcpy(code + 12, &target, 4);
        assert_int_equal(zs_eu_lower(&(struct zs_eu_lower_params){.code = {code, size_B},
                                                                  .simd = 16,
                                                                  .base_ip_B = bases[i]},
                                     &program, &diag),
                         0);
        struct zs_eu_thread *t = assembled_thread(program);
        run_on(t, program);
        int32_t value[3];
        for (unsigned k = 0; k < 3; k++)
            memcpy(&value[k], t->grf + (22 + 2 * k) * 32, 4);
        assert_int_equal(value[0], 1);
        assert_int_equal(value[1], 0);
        assert_int_equal(value[2], 2);
        free(t);
        free(code);
        zs_eu_program_destroy(program);
    }
}

/* What no source settles is a fault that names it. */
static void refused(void **state)
{
    static const struct {
        const char *text, *fault;
    } rows[] = {
        {"movi (8|M0) r20.0<1>:b r[a0.0,5]<8;8,1>:b",
         "movi: an offset inside of the register is not modelled"},
        {"movi (8|M0) r20.0<1>:w r[a0.0]<8;8,1>:b", "movi: this form is not modelled"},
        {"dp4 (2|M0) r20.0<1>:f r10.0<2;2,1>:f r12.0<2;2,1>:f",
         "dp4: an execution size below four is not modelled"},
        {"line (8|M0) r20.0<1>:f r10.1<0;1,0>:f r12.0<8;8,1>:f",
         "line: a first source that is no group of four floats is not modelled"},
        {"pln (8|M0) r20.0<1>:f r10.0<0;1,0>:f r12.0<0;1,0>:f", "pln: this form is not modelled"},
        {"sad2 (8|M0) r20.0<1>:w r10.0<8;8,1>:w r12.0<8;8,1>:ub",
         "sad2: a source that is no byte is not modelled"},
        {"mul (8|M0) r20.0<1>:f r10.0<4;4,1>:q r12.0<4;4,1>:q",
         "mul: this destination of values beyond 64 bits is not modelled"},
        {"add (8|M0) r20.0<1>:f r10.0<4;4,1>:q r12.0<4;4,1>:q",
         "add: a float sum of integers of 64 bits is not modelled"},
    };

    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_eu_program *program =
            assembled(ZS_ISA_GEN9, rows[i].text, (struct zs_eu_lower_params){0});
        struct zs_eu_thread *t = assembled_thread(program);
        assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_FAULT);
        assert_int_equal(t->fault.kind, ZS_EU_FAULT_UNMODELLED);
        assert_string_equal(t->fault.text, rows[i].fault);
        free(t);
        zs_eu_program_destroy(program);
    }
}

/* acc + a * b of halves is rounded once. */
static void mac_of_halves(void **state)
{
    struct zs_eu_program *program =
        assembled(ZS_ISA_GEN9,
                  "mov (16|M0) acc0.0<1>:hf r14.0<16;16,1>:hf\n"
                  "mac (16|M0) r20.0<1>:hf r10.0<16;16,1>:hf r12.0<16;16,1>:hf",
                  (struct zs_eu_lower_params){0});
    struct zs_eu_thread *t = assembled_thread(program);
    uint16_t a[16], b[16], c[16];

    for (unsigned i = 0; i < 16; i++) {
        a[i] = ref_to_half(i * 0.37 - 2.0, 0);
        b[i] = ref_to_half(60000.0 / (i + 1), 0);
        c[i] = ref_to_half(i & 1 ? -1000.5 : 0x1p-10, 0);
    }
    memcpy(t->grf + A * 32, a, 32);
    memcpy(t->grf + B * 32, b, 32);
    memcpy(t->grf + 14 * 32, c, 32);
    run_on(t, program);
    for (unsigned i = 0; i < 16; i++) {
        double sum = ref_from_half(a[i]) * ref_from_half(b[i]) + ref_from_half(c[i]); /* exact */
        assert_int_equal((uint16_t)word_of(t, i), ref_to_half(sum, 0));
    }
    free(t);
    zs_eu_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_products),  cmocka_unit_test(lines_and_planes),
        cmocka_unit_test(rounding),      cmocka_unit_test(differences),
        cmocka_unit_test(indexed_moves), cmocka_unit_test(calls_by_address),
        cmocka_unit_test(refused),       cmocka_unit_test(mac_of_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
