/* SPDX-License-Identifier: MIT */
/*
 * dpas and dpasw against their definition, element by element: every repeat count, every pair of
 * precisions, with and without src0 and saturation, in all builds of the vector code, with operands
 * that overlap and lanes that are off. The definition is that of DPAS.md and DPASW.md of
 * intel-graphics-compiler; nothing here is shared with src/eu/exec/dpas.c.
 */
#include "assembled.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { DEPTH = 8, FILE_MAX_B = 128 * 64, CR0_KEEP = 0x4c0 };

static const struct {
    enum zs_isa_platform platform;
    unsigned grf_B;
} platforms[] = {{ZS_ISA_XE_HPG, 32},
                 {ZS_ISA_XE_HPC, 64},
                 {ZS_ISA_XE2, 64},
                 {ZS_ISA_XE3, 64},
                 {ZS_ISA_XE3P, 64}};
static unsigned platform_count; /* those whose threads execute */

static const char *const int_types[] = {"ub", "b", "u4", "s4", "u2", "s2"};

/* ---- what an instruction is ---- */

struct shape {
    unsigned rows, grf_B;
    const char *dst, *src0, *src1, *src2; /* types */
    bool null_src0, saturate, wide;
    unsigned at[4]; /* bytes of the register file: dst, src0, src1, src2 */
};

static unsigned bits_of(const char *type)
{
    static const struct {
        const char *name;
        unsigned bits;
    } rows[] = {{"ub", 8},  {"b", 8},   {"u4", 4},  {"s4", 4},  {"u2", 2},
                {"s2", 2},  {"hf", 16}, {"bf", 16}, {"f", 32},  {"tf32", 32},
                {"bf8", 8}, {"d", 32},  {"ud", 32}, {"hf8", 8}, {"e2m1", 4}};
    unsigned i = 0;
    while (strcmp(rows[i].name, type) != 0)
        i++;
    return rows[i].bits;
}

static bool is_whole(const struct shape *s)
{
    return strcmp(s->dst, "d") == 0 || strcmp(s->dst, "ud") == 0;
}

static unsigned elements_of(const struct shape *s)
{
    unsigned a = bits_of(s->src1), b = bits_of(s->src2), widest = a > b ? a : b;
    return widest < 4 ? 8 : 32 / widest;
}

static unsigned size_of(const struct shape *s, int operand)
{
    unsigned lanes = s->grf_B / 4, elements = elements_of(s);
    return operand == 0   ? s->rows * lanes * bits_of(s->dst) / 8
           : operand == 1 ? s->rows * lanes * bits_of(s->src0) / 8
           : operand == 2 ? DEPTH * elements * bits_of(s->src1) / 8 * lanes
                          : DEPTH * elements * bits_of(s->src2) / 8 * s->rows;
}

/* ---- the definition ---- */

static uint32_t get_bits(const uint8_t *bytes, unsigned at, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint32_t)(bytes[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return value;
}

static int64_t whole(uint32_t bits, const char *type)
{
    unsigned count = bits_of(type);
    if (type[0] == 'u' || !(bits >> (count - 1) & 1))
        return bits;
    return (int64_t)bits - (INT64_C(1) << count);
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t as_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* Five bits of exponent, `mantissa` ones behind. */
static float small(uint32_t bits, int mantissa)
{
    uint32_t m = bits & ((1u << mantissa) - 1), e = bits >> mantissa & 31;
    float sign = bits >> (mantissa + 5) & 1 ? -1.0f : 1.0f;
    if (e == 31)
        return m ? NAN : sign * INFINITY;
    if (e == 0)
        return sign * ldexpf((float)m, -14 - mantissa);
    return sign * ldexpf((float)(m | 1u << mantissa), (int)e - 15 - mantissa);
}

/* Four bits of exponent and three of mantissa; no infinity, one NaN. */
static float small_hf8(uint32_t bits)
{
    int m = bits & 7, e = bits >> 3 & 15;
    float magnitude = e ? ldexpf((float)(8 + m), e - 10) : ldexpf((float)m, -9);
    return (bits & 0x7f) == 0x7f ? NAN : bits & 0x80 ? -magnitude : magnitude;
}

static float real(uint32_t bits, const char *type)
{
    static const float fours[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    if (strcmp(type, "e2m1") == 0)
        return bits & 8 ? -fours[bits & 7] : fours[bits];
    if (strcmp(type, "hf8") == 0)
        return small_hf8(bits);
    if (strcmp(type, "hf") == 0)
        return small(bits, 10);
    if (strcmp(type, "bf8") == 0)
        return small(bits, 2);
    if (strcmp(type, "bf") == 0)
        return as_float(bits << 16);
    return as_float(strcmp(type, "tf32") == 0 ? bits & ~0x1fffu : bits);
}

/* Rounded to nearest even, by trying neighbours. */
static uint32_t to_short(float value, const char *type)
{
    uint32_t best = 0, sign = as_bits(value) >> 31 << 15;
    double magnitude = fabs((double)value), distance = INFINITY;
    bool is_half = strcmp(type, "hf") == 0;
    uint32_t infinity = is_half ? 0x7c00 : 0x7f80;
    if (value != value)
        return infinity + 1;
    for (uint32_t bits = 0; bits <= infinity; bits++) {
        double at = (double)real(bits, type);
        if (bits == infinity) /* where the next number would be */
            at = is_half ? 65536.0 : 0x1p128;
        double d = fabs(at - (isinf(magnitude) ? (is_half ? 65536.0 : 0x1p128) : magnitude));
        if (d < distance || (d == distance && !(bits & 1))) {
            distance = d;
            best = bits;
        }
    }
    return sign | (magnitude > (is_half ? 65536.0 : 0x1p128) ? infinity : best);
}

static int64_t clamp(int64_t value, const char *type)
{
    int64_t low = type[0] == 'u' ? 0 : INT32_MIN, high = type[0] == 'u' ? UINT32_MAX : INT32_MAX;
    return value < low ? low : value > high ? high : value;
}

/* Element e of step d of lane n of src1: a dword has the elements of several steps when they are
 * narrower than the other source's. */
static uint32_t src1_bits(const struct shape *s, const uint8_t *src1, unsigned d, unsigned n,
                          unsigned e)
{
    unsigned bits = bits_of(s->src1), elements = elements_of(s), per_dword = 32 / (elements * bits);
    const uint8_t *dword = src1 + d / per_dword * s->grf_B + n * 4;
    return get_bits(dword, (d % per_dword * elements + e) * bits, bits);
}

static uint32_t one_whole(const struct shape *s, const uint8_t *src0, const uint8_t *src1,
                          const uint8_t *src2, unsigned r, unsigned n)
{
    unsigned elements = elements_of(s), bits = bits_of(s->src2);
    int64_t acc =
        s->null_src0 ? 0 : whole(get_bits(src0, (r * s->grf_B / 4 + n) * 32, 32), s->src0);
    for (unsigned d = 0; d < DEPTH; d++) {
        for (unsigned e = 0; e < elements; e++)
            acc += whole(src1_bits(s, src1, d, n, e), s->src1) *
                   whole(get_bits(src2, ((r * DEPTH + d) * elements + e) * bits, bits), s->src2);
        if (s->saturate)
            acc = clamp(acc, s->dst);
    }
    return (uint32_t)acc;
}

static uint32_t one_real(const struct shape *s, const uint8_t *src0, const uint8_t *src1,
                         const uint8_t *src2, unsigned r, unsigned n)
{
    unsigned elements = elements_of(s), bits = bits_of(s->src2), width = bits_of(s->src0);
    unsigned at = r * s->grf_B / 4 + n;
    volatile float acc = s->null_src0 ? 0 : real(get_bits(src0, at * width, width), s->src0);
    for (unsigned d = 0; d < DEPTH; d++)
        for (unsigned e = 0; e < elements; e++) {
            float w = real(src1_bits(s, src1, d, n, e), s->src1);
            float a = real(get_bits(src2, ((r * DEPTH + d) * elements + e) * bits, bits), s->src2);
            acc = fmaf(a, w, acc);
        }
    return bits_of(s->dst) == 32 ? as_bits(acc) : to_short(acc, s->dst);
}

/* What the file has afterwards. src2 may come from elsewhere; lanes: those that are on. */
static void expect(const struct shape *s, uint8_t *file, const uint8_t *src2, uint32_t lanes)
{
    static uint8_t before[FILE_MAX_B];
    unsigned size_B = bits_of(s->dst) / 8;
    memcpy(before, file, sizeof(before));
    src2 = src2 ? src2 : before + s->at[3];
    for (unsigned r = 0; r < s->rows; r++)
        for (unsigned n = 0; n < s->grf_B / 4; n++) {
            uint32_t value = (is_whole(s) ? one_whole : one_real)(s, before + s->at[1],
                                                                  before + s->at[2], src2, r, n);
            if (lanes >> n & 1)
                memcpy(file + s->at[0] + (r * s->grf_B / 4 + n) * size_B, &value, size_B);
        }
}

/* ---- running ---- */

static uint64_t seed = 1;

static uint32_t number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static void put_operand(char *text, size_t size, const struct shape *s, int operand)
{
    const char *const types[] = {s->dst, s->src0, s->src1, s->src2};
    unsigned bits = bits_of(types[operand]), in_B = s->at[operand] % s->grf_B;
    if (operand == 1 && s->null_src0)
        snprintf(text, size, "null:%s", types[operand]);
    else
        snprintf(text, size, "r%u.%u:%s", s->at[operand] / s->grf_B, in_B * 8 / bits,
                 types[operand]);
}

static struct zs_eu_program *lower_text(enum zs_isa_platform platform, const char *text,
                                        uint32_t flags, enum zs_eu_host host)
{
    return assembled(platform, text,
                     (struct zs_eu_lower_params){
                         .simd = platform >= ZS_ISA_XE_HPC ? 16 : 8, .flags = flags, .host = host});
}

static struct zs_eu_program *lower(enum zs_isa_platform platform, const struct shape *s,
                                   uint32_t flags, enum zs_eu_host host)
{
    char operand[4][24], text[200];
    for (int i = 0; i < 4; i++)
        put_operand(operand[i], sizeof(operand[i]), s, i);
    snprintf(text, sizeof(text), "%s.8x%u (%u|M0) %s%s %s %s %s", s->wide ? "dpasw" : "dpas",
             s->rows, s->grf_B / 4, s->saturate ? "(sat)" : "", operand[0], operand[1], operand[2],
             operand[3]);
    return lower_text(platform, text, flags, host);
}

static struct zs_eu_thread *threads[2];

static void start(struct zs_eu_thread *t, const struct zs_eu_program *program, const uint8_t *file,
                  uint32_t lanes, uint32_t cr0)
{
    zs_eu_thread_init(t, program, lanes);
    zs_eu_thread_set_control(t, cr0);
    memcpy(t->grf, file, 128u * zs_eu_program_registers(program)->grf_B);
}

static bool same(const struct shape *s, const uint8_t *a, const uint8_t *b)
{
    unsigned file_B = 128 * s->grf_B, step_B = bits_of(s->dst) / 8;
    if (is_whole(s))
        return memcmp(a, b, file_B) == 0;
    for (unsigned i = 0; i < file_B; i += step_B) {
        uint32_t x = 0, y = 0;
        memcpy(&x, a + i, step_B);
        memcpy(&y, b + i, step_B);
        bool in_dst = i >= s->at[0] && i < s->at[0] + size_of(s, 0);
        float f = real(x, s->dst), g = real(y, s->dst);
        if (x != y && !(in_dst && f != f && g != g))
            return false;
    }
    return true;
}

/* All builds of the vector code and the general path against `want`. */
static void check(enum zs_isa_platform platform, const struct shape *s, const uint8_t *file,
                  const uint8_t *want, uint32_t lanes, uint32_t cr0)
{
    for (unsigned host = ZS_EU_HOST_BASE; host <= ZS_EU_HOST_COUNT; host++) {
        bool general = host == ZS_EU_HOST_COUNT;
        if (!general && !zs_eu_host_usable((enum zs_eu_host)host))
            continue;
        struct zs_eu_program *program = lower(platform, s, general ? ZS_EU_LOWER_GENERAL : 0,
                                              general ? ZS_EU_HOST_BEST : (enum zs_eu_host)host);
        struct zs_eu_thread *t = threads[0];
        start(t, program, file, lanes, cr0);
        if (zs_eu_run(t, program, 1000) != ZS_EU_EOT)
            fail_msg("%s", t->fault.text);
        if (!same(s, t->grf, want))
            fail_msg("%s: %u rows, %s %s %s %s%s%s", general ? "general" : zs_eu_host_name(host),
                     s->rows, s->dst, s->null_src0 ? "null" : s->src0, s->src1, s->src2,
                     s->saturate ? " saturated" : "", lanes == UINT32_MAX ? "" : " masked");
        zs_eu_program_destroy(program);
    }
}

/* Operands anywhere, or close together so that they overlap. */
static void scatter(struct shape *s)
{
    const unsigned align[4] = {s->grf_B / 4 * bits_of(s->dst) / 8,
                               s->grf_B / 4 * bits_of(s->src0) / 8, s->grf_B,
                               size_of(s, 3) / s->rows};
    unsigned registers = number() % 2 ? 100 : 12;
    for (int i = 0; i < 4; i++)
        s->at[i] = number() % (registers * s->grf_B) / align[i] * align[i];
    if (number() % 2 && bits_of(s->dst) == bits_of(s->src0))
        s->at[1] = s->at[0];
}

static void fill(uint8_t *file)
{
    for (unsigned i = 0; i < FILE_MAX_B; i += 4) {
        uint32_t value = number();
        memcpy(file + i, &value, 4);
    }
}

/* Every which shape is tried: no factor of what shapes are made of, so that all parts of them come.
 */
static unsigned part(void)
{
    return getenv("ZS_TEST_WHOLE") ? 1 : 5;
}

/* ---- integers ---- */

static void integers(void **state)
{
    static uint8_t file[FILE_MAX_B], want[FILE_MAX_B];
    for (unsigned p = 0; p < platform_count; p++)
        for (unsigned k = 0; k < 36 * 8 * 4; k += part()) {
            struct shape s = {.rows = 1 + k % 8,
                              .grf_B = platforms[p].grf_B,
                              .src1 = int_types[k / 8 % 6],
                              .src2 = int_types[k / 48 % 6],
                              .null_src0 = k / 288 % 2,
                              .saturate = k / 576 % 2 && platforms[p].platform < ZS_ISA_XE3P};
            /* an unsigned result of signed elements is only right modulo 2^32 */
            s.dst = s.src0 = number() % 2 ? "ud" : "d";
            if (!s.saturate && number() % 2)
                s.src0 = s.dst[0] == 'u' ? "d" : "ud";
            scatter(&s);
            fill(file);
            /* near the ends, where sums saturate */
            for (unsigned i = 0; s.saturate && i < size_of(&s, 1) && number() % 4; i += 4) {
                uint32_t value = (number() & 0x80000000u) - (number() >> 20);
                memcpy(file + s.at[1] + i, &value, 4);
            }
            memcpy(want, file, sizeof(want));
            expect(&s, want, NULL, UINT32_MAX);
            check(platforms[p].platform, &s, file, want, UINT32_MAX, 0);
        }
}

/* The largest numbers everywhere: what does not fit between is lost nowhere. */
static void extremes(void **state)
{
    static uint8_t file[FILE_MAX_B], want[FILE_MAX_B];
    static const uint8_t fills[] = {0x00, 0x7f, 0x80, 0xff, 0x88, 0x77};
    for (unsigned k = 0; k < 36 * 6 * 6 * 2; k += part()) {
        struct shape s = {.rows = 8,
                          .grf_B = 32,
                          .dst = "d",
                          .src0 = "d",
                          .src1 = int_types[k % 6],
                          .src2 = int_types[k / 6 % 6],
                          .saturate = k / 36 % 2,
                          .at = {0, 0, 20 * 32, 40 * 32}};
        fill(file);
        memset(file + s.at[2], fills[k / 72 % 6], size_of(&s, 2));
        memset(file + s.at[3], fills[k / 432 % 6], size_of(&s, 3));
        memcpy(want, file, sizeof(want));
        expect(&s, want, NULL, UINT32_MAX);
        check(ZS_ISA_XE_HPG, &s, file, want, UINT32_MAX, 0);
    }
}

/* ---- floats ---- */

static void fill_reals(uint8_t *file, const struct shape *s, unsigned how)
{
    /* how 0: any bits; 1: small numbers; 2: few bits, so that sums cancel */
    if (how == 0)
        return;
    for (int operand = 1; operand < 4; operand++) {
        const char *type = operand == 1 ? s->src0 : operand == 2 ? s->src1 : s->src2;
        unsigned bits = bits_of(type);
        for (unsigned i = 0; bits >= 8 && i < size_of(s, operand); i += bits / 8) {
            uint32_t value = number(), sign = value >> 31 << (bits - 1);
            if (strcmp(type, "hf") == 0)
                value = 0x3800 + (how == 1 ? value % 0x800 : (value & 3) << 9);
            else if (strcmp(type, "bf8") == 0 || strcmp(type, "hf8") == 0)
                value = 0x38 + value % 8;
            else if (strcmp(type, "bf") == 0)
                value = 0x3f00 + (how == 1 ? value % 0x100 : (value & 3) << 5);
            else
                value = 0x3f000000 + (how == 1 ? value % 0x1000000 : (value & 3) << 21);
            value |= sign;
            memcpy(file + s->at[operand] + i, &value, bits / 8);
        }
    }
}

static const struct {
    const char *src1, *src2, *narrow;
    enum zs_isa_platform from, to;
} reals[] = {{"bf", "bf", "bf", ZS_ISA_XE_HPG, ZS_ISA_XE3P},
             {"hf", "hf", "hf", ZS_ISA_XE_HPG, ZS_ISA_XE3P},
             {"tf32", "tf32", NULL, ZS_ISA_XE_HPC, ZS_ISA_XE3P},
             {"bf8", "bf8", NULL, ZS_ISA_XE_HPC, ZS_ISA_XE_HPC},
             {"bf8", "bf8", "bf", ZS_ISA_XE3P, ZS_ISA_XE3P},
             {"hf8", "hf8", "bf", ZS_ISA_XE3P, ZS_ISA_XE3P},
             {"hf8", "bf8", "bf", ZS_ISA_XE3P, ZS_ISA_XE3P},
             {"e2m1", "e2m1", "bf", ZS_ISA_XE3P, ZS_ISA_XE3P}};

static void try_reals(unsigned platform, unsigned type, unsigned k)
{
    static uint8_t file[FILE_MAX_B], want[FILE_MAX_B];
    static const int rounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    bool narrow = reals[type].narrow && platforms[platform].platform >= ZS_ISA_XE_HPC;
    struct shape s = {.rows = 1 + k % 8,
                      .grf_B = platforms[platform].grf_B,
                      .dst = narrow && k / 8 % 2 ? reals[type].narrow : "f",
                      .src0 = narrow && k / 16 % 2 ? reals[type].narrow : "f",
                      .src1 = reals[type].src1,
                      .src2 = reals[type].src2,
                      .null_src0 = number() % 4 == 0};
    unsigned mode = bits_of(s.dst) == 32 ? number() % 4 : 0;
    scatter(&s);
    fill(file);
    fill_reals(file, &s, k / 32 % 3);
    memcpy(want, file, sizeof(want));
    fesetround(rounding[mode]);
    expect(&s, want, NULL, UINT32_MAX);
    fesetround(FE_TONEAREST);
    check(platforms[platform].platform, &s, file, want, UINT32_MAX, CR0_KEEP | mode << 4);
}

static void floats(void **state)
{
    for (unsigned p = 0; p < platform_count; p++)
        for (unsigned i = 0; i < ZS_ARRAY_LEN(reals); i++)
            for (unsigned k = 0; k < 96 && platforms[p].platform >= reals[i].from &&
                                 platforms[p].platform <= reals[i].to;
                 k += part())
                try_reals(p, i, k);
}

/* Denormal bf elements and results are zeros when cr0 says so; halves' are numbers always. */
static void denormals(void **state)
{
    static const struct {
        const char *type;
        uint32_t src1, src2, src0; /* src1 and src2: both elements of each dword */
        uint32_t flushed, kept;
    } rows[] = {
        {"bf", 0x0001, 0x7f00, 0, 0, 0x3e800000 /* 16 * 2^-133 * 2^127 */},
        {"bf", 0x0080, 0x3f00, 0, 0, 0x02000000 /* 16 * 2^-127 */},
        {"bf", 0x0000, 0x0000, 0x00000001, 0, 0x00000001},
        {"hf", 0x0001, 0x3c00, 0, 0x35800000 /* 16 * 2^-24 */, 0x35800000},
    };
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++)
        for (unsigned host = ZS_EU_HOST_BASE; host < ZS_EU_HOST_COUNT; host++)
            for (unsigned keep = 0; keep < 2; keep++) {
                static uint8_t file[FILE_MAX_B];
                const struct shape s = {.rows = 1,
                                        .grf_B = 32,
                                        .dst = "f",
                                        .src0 = "f",
                                        .src1 = rows[i].type,
                                        .src2 = rows[i].type,
                                        .at = {0, 32, 64, 512}};
                if (!zs_eu_host_usable((enum zs_eu_host)host))
                    continue;
                for (unsigned b = 0; b < 256; b += 4) {
                    uint32_t w = rows[i].src1 * 0x10001, a = rows[i].src2 * 0x10001;
                    memcpy(file + s.at[2] + b, &w, 4);
                    if (b < 32) {
                        memcpy(file + s.at[3] + b, &a, 4);
                        memcpy(file + s.at[1] + b, &rows[i].src0, 4);
                    }
                }
                struct zs_eu_program *program = lower(ZS_ISA_XE_HPG, &s, 0, (enum zs_eu_host)host);
                uint32_t got;
                start(threads[0], program, file, 0xff, keep ? CR0_KEEP : 0);
                assert_int_equal(zs_eu_run(threads[0], program, 1000), ZS_EU_EOT);
                memcpy(&got, threads[0]->grf + 4, 4);
                if (got != (keep ? rows[i].kept : rows[i].flushed))
                    fail_msg("row %u, %s, keep %u: 0x%08x", i, zs_eu_host_name(host), keep, got);
                zs_eu_program_destroy(program);
            }
}

/* ---- scales ---- */

static const struct {
    const char *src1, *src2, *narrow;
} scaled_types[] = {{"bf", "bf", "bf"},    {"hf", "hf", "hf"},   {"bf8", "bf8", "bf"},
                    {"hf8", "hf8", "bf"},  {"hf8", "bf8", "bf"}, {"bf8", "hf8", "bf"},
                    {"e2m1", "e2m1", "bf"}};

/* Of so few bits that sums are exact in any order. */
static void fill_exact(uint8_t *at, unsigned size_B, const char *type)
{
    unsigned bits = bits_of(type);
    for (unsigned i = 0; i < size_B; i += bits < 8 ? 1 : bits / 8) {
        uint32_t value = number(), sign = value >> 31 << (bits - 1);
        if (strcmp(type, "bf") == 0)
            value = sign | (0x3f80 + ((value & 7) << 5));
        else if (strcmp(type, "hf") == 0)
            value = sign | (0x3c00 + ((value & 7) << 8));
        else if (strcmp(type, "f") == 0)
            value = sign | (0x3f800000 + ((value & 0xff) << 17));
        else if (bits == 8)
            value = sign | (0x38 + (value & 7));
        memcpy(at + i, &value, bits < 8 ? 1 : bits / 8);
    }
}

/* at: of the scales, 0: none. */
static void expect_scaled(const struct shape *s, const uint8_t *before, const unsigned at[2],
                          uint8_t *file)
{
    unsigned elements = elements_of(s), bits = bits_of(s->src2), width = bits_of(s->src0);
    for (unsigned r = 0; r < 8; r++)
        for (unsigned n = 0; n < 16; n++) {
            double sum =
                s->null_src0
                    ? 0
                    : (double)real(get_bits(before + s->at[1], (r * 16 + n) * width, width),
                                   s->src0);
            for (unsigned k = 0; k < DEPTH * elements; k++) {
                uint32_t a = get_bits(before + s->at[3], (r * DEPTH * elements + k) * bits, bits);
                uint32_t w = src1_bits(s, before + s->at[2], k / elements, n, k % elements);
                int e = (at[0] ? before[at[0] + k / 32 * 32 + n] - 127 : 0) +
                        (at[1] ? before[at[1] + k / 32 * 32 + r] - 127 : 0);
                sum += ldexp((double)real(a, s->src2) * (double)real(w, s->src1), e);
            }
            uint32_t value = as_bits((float)sum);
            assert_true((double)(float)sum == sum); /* or the order would count */
            if (bits_of(s->dst) == 16)
                value = to_short((float)sum, s->dst);
            memcpy(file + s->at[0] + (r * 16 + n) * bits_of(s->dst) / 8, &value,
                   bits_of(s->dst) / 8);
        }
}

static void put_scales(char *text, size_t size, unsigned at)
{
    if (at)
        snprintf(text, size, "r%u.%u:ub", at / 64, at % 64);
    else
        snprintf(text, size, "null:ub");
}

static struct zs_eu_program *lower_scaled(const struct shape *s, const unsigned at[2],
                                          enum zs_eu_host host)
{
    char operand[4][24], scale[2][24], text[200];
    for (int i = 0; i < 4; i++)
        put_operand(operand[i], sizeof(operand[i]), s, i);
    for (int i = 0; i < 2; i++)
        put_scales(scale[i], sizeof(scale[i]), at[i]);
    snprintf(text, sizeof(text), "bdpas.8x8 (16|M0) %s %s %s %s %s %s", operand[0], operand[1],
             operand[2], operand[3], scale[0], scale[1]);
    return lower_text(ZS_ISA_XE3P, text, 0, host);
}

static void scaled(void **state)
{
    static uint8_t file[FILE_MAX_B], want[FILE_MAX_B];
    for (unsigned k = 0; k < ZS_ARRAY_LEN(scaled_types) * 32; k++) {
        unsigned type = k / 32;
        bool fours = strcmp(scaled_types[type].src1, "e2m1") == 0;
        struct shape s = {.rows = 8,
                          .grf_B = 64,
                          .dst = k & 1 ? scaled_types[type].narrow : "f",
                          .src0 = k & 2 ? scaled_types[type].narrow : "f",
                          .src1 = scaled_types[type].src1,
                          .src2 = scaled_types[type].src2,
                          .null_src0 = k & 4,
                          .at = {10 * 64, 30 * 64, 50 * 64, 80 * 64}};
        unsigned at[2] = {k % 5 ? 90 * 64 + number() % (fours ? 2 : 4) * 16 : 0,
                          k % 7 ? 91 * 64 + number() % (fours ? 4 : 8) * 8 : 0};
        fill(file);
        fill_exact(file + s.at[1], size_of(&s, 1), s.src0);
        fill_exact(file + s.at[2], size_of(&s, 2), s.src1);
        fill_exact(file + s.at[3], size_of(&s, 3), s.src2);
        for (unsigned i = 90 * 64; i < 92 * 64; i++)
            file[i] = (uint8_t)(124 + file[i] % 6);
        memcpy(want, file, sizeof(want));
        expect_scaled(&s, file, at, want);
        for (unsigned host = ZS_EU_HOST_BASE; host < ZS_EU_HOST_COUNT; host++) {
            if (!zs_eu_host_usable((enum zs_eu_host)host))
                continue;
            struct zs_eu_program *program = lower_scaled(&s, at, (enum zs_eu_host)host);
            start(threads[0], program, file, UINT32_MAX, CR0_KEEP);
            if (zs_eu_run(threads[0], program, 1000) != ZS_EU_EOT)
                fail_msg("%s", threads[0]->fault.text);
            if (!same(&s, threads[0]->grf, want))
                fail_msg("%s: bdpas %s %s %s %s, %u, %u", zs_eu_host_name(host), s.dst, s.src0,
                         s.src1, s.src2, at[0], at[1]);
            zs_eu_program_destroy(program);
        }
    }
}

/* Where a scaled sum leaves what floats can say, or one scale alone does. */
static void scales_at_the_ends(void **state)
{
    static const struct {
        uint32_t element, scale; /* all of bf, of both sources */
        float want;
    } rows[] = {{0x3f80, 0, 0},     {0x3f80, 254, INFINITY}, {0x3f80, 64, 0x1p-122f},
                {0x3f80, 255, NAN}, {0x0000, 254, 0},        {0x5d80 /* 2^60 */, 67, 16}};
    static uint8_t file[FILE_MAX_B];
    const struct shape s = {.rows = 8,
                            .grf_B = 64,
                            .dst = "f",
                            .src0 = "f",
                            .src1 = "bf",
                            .src2 = "bf",
                            .null_src0 = true,
                            .at = {10 * 64, 30 * 64, 50 * 64, 80 * 64}};
    const unsigned at[2] = {90 * 64, 91 * 64};
    struct zs_eu_program *program = lower_scaled(&s, at, ZS_EU_HOST_BEST);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        for (unsigned b = 0; b < sizeof(file); b += 2) {
            uint16_t element = (uint16_t)rows[i].element;
            memcpy(file + b, &element, 2);
        }
        memset(file + 90 * 64, (int)rows[i].scale, 128);
        start(threads[0], program, file, UINT32_MAX, CR0_KEEP);
        assert_int_equal(zs_eu_run(threads[0], program, 1000), ZS_EU_EOT);
        float got;
        memcpy(&got, threads[0]->grf + s.at[0] + 4, 4);
        if (!(got == rows[i].want || (got != got && rows[i].want != rows[i].want)))
            fail_msg("row %u: %g", i, (double)got);
    }
    zs_eu_program_destroy(program);
}

/* ---- lanes that are off ---- */

static void masks(void **state)
{
    static uint8_t file[FILE_MAX_B], want[FILE_MAX_B];
    for (unsigned p = 0; p < platform_count; p++)
        for (unsigned k = 0; k < 64; k++) {
            bool is_real = k & 1;
            struct shape s = {.rows = 1 + number() % 8,
                              .grf_B = platforms[p].grf_B,
                              .dst = is_real ? "f" : "d",
                              .src0 = is_real ? "f" : "d",
                              .src1 = is_real ? "hf" : int_types[number() % 6],
                              .src2 = is_real ? "hf" : int_types[number() % 6],
                              .saturate = !is_real && k & 2 && platforms[p].platform < ZS_ISA_XE3P};
            uint32_t lanes = number() & ((1u << s.grf_B / 4) - 1);
            lanes = lanes ? lanes : 1;
            scatter(&s);
            fill(file);
            fill_reals(file, &s, is_real);
            memcpy(want, file, sizeof(want));
            expect(&s, want, NULL, lanes);
            check(platforms[p].platform, &s, file, want, lanes, CR0_KEEP);
        }
}

/* ---- pairs of threads ---- */

static const struct {
    const char *type;
    unsigned rows, even, odd; /* registers of either thread */
} pairs[] = {
    {"b", 1, 1, 0},  {"b", 2, 1, 1},  {"ub", 3, 2, 1}, {"b", 4, 2, 2},  {"b", 5, 3, 2},
    {"b", 6, 3, 3},  {"b", 7, 4, 3},  {"ub", 8, 4, 4}, {"s4", 8, 2, 2}, {"u4", 7, 2, 2},
    {"s4", 4, 1, 1}, {"s4", 3, 1, 1}, {"u4", 2, 1, 0}, {"s2", 8, 1, 1}, {"s4", 6, 2, 1},
    {"s4", 5, 2, 1}, {"hf", 8, 4, 4}, {"bf", 5, 3, 2},
};

static void run_pair(unsigned row, const uint8_t files[2][FILE_MAX_B])
{
    static uint8_t want[FILE_MAX_B], src2[512];
    bool is_real = pairs[row].type[1] == 'f';
    struct shape s = {.rows = pairs[row].rows,
                      .grf_B = 32,
                      .dst = is_real ? "f" : "d",
                      .src0 = is_real ? "f" : "d",
                      .src1 = is_real ? pairs[row].type : "b",
                      .src2 = pairs[row].type,
                      .wide = true,
                      .at = {10 * 32, 30 * 32, 50 * 32, 80 * 32}};
    struct zs_eu_program *program = lower(ZS_ISA_XE_HPG, &s, 0, ZS_EU_HOST_BEST);
    for (int i = 0; i < 2; i++) {
        start(threads[i], program, files[i], 0xff, CR0_KEEP);
        assert_int_equal(zs_eu_run(threads[i], program, 1000), ZS_EU_PAIR);
        assert_int_equal(zs_eu_run(threads[i], program, 1000), ZS_EU_PAIR);
    }
    assert_int_equal(zs_eu_thread_pair(threads[0], threads[1]), 0);
    memcpy(src2, files[0] + s.at[3], pairs[row].even * 32u);
    memcpy(src2 + pairs[row].even * 32, files[1] + s.at[3], pairs[row].odd * 32u);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zs_eu_run(threads[i], program, 1000), ZS_EU_EOT);
        memcpy(want, files[i], sizeof(want));
        expect(&s, want, src2, UINT32_MAX);
        if (!same(&s, threads[i]->grf, want))
            fail_msg("dpasw %s, %u rows, thread %d", pairs[row].type, pairs[row].rows, i);
    }
    zs_eu_program_destroy(program);
}

static void wide(void **state)
{
    static uint8_t files[2][FILE_MAX_B];
    for (unsigned i = 0; i < ZS_ARRAY_LEN(pairs); i++) {
        fill(files[0]);
        fill(files[1]);
        run_pair(i, (const uint8_t(*)[FILE_MAX_B])files);
    }
}

static bool stop_always(struct zs_eu_thread *t, uint32_t inst)
{
    return inst == 0;
}

/* One of the pair was stopped in front of the instruction by a debugger: its registers are there.
 */
static void wide_stopped(void **state)
{
    static uint8_t files[2][FILE_MAX_B], want[FILE_MAX_B], src2[512];
    static const struct zs_eu_hooks hooks = {.step = stop_always};
    const struct shape s = {.rows = 8,
                            .grf_B = 32,
                            .dst = "d",
                            .src0 = "d",
                            .src1 = "b",
                            .src2 = "b",
                            .wide = true,
                            .at = {10 * 32, 30 * 32, 50 * 32, 80 * 32}};
    struct zs_eu_program *program =
        lower(ZS_ISA_XE_HPG, &s, ZS_EU_LOWER_HOOK_STEPS, ZS_EU_HOST_BEST);
    for (int i = 0; i < 2; i++) {
        fill(files[i]);
        start(threads[i], program, files[i], 0xff, 0);
        threads[i]->hooks = &hooks;
        assert_int_equal(zs_eu_run(threads[i], program, 1000), ZS_EU_STOP);
    }
    assert_int_equal(zs_eu_run(threads[1], program, 1000), ZS_EU_PAIR);
    assert_int_equal(zs_eu_thread_pair(threads[0], threads[1]), 0);
    memcpy(src2, files[0] + s.at[3], 128);
    memcpy(src2 + 128, files[1] + s.at[3], 128);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zs_eu_run(threads[i], program, 1000), ZS_EU_EOT);
        memcpy(want, files[i], sizeof(want));
        expect(&s, want, src2, UINT32_MAX);
        assert_memory_equal(threads[i]->grf, want, 128 * 32);
    }
    zs_eu_program_destroy(program);
}

/* ---- what is refused ---- */

/* One that the next follows at once, to the same destination: it reads what was there before. */
static void atomic(void **state)
{
    static const char *const texts[][2] = {{"dpas.8x8 (8|M0) r52:d null:d r52:b r52.0:b {Atomic}\n"
                                            "dpas.8x8 (8|M0) r52:d r52:d r20:b r30.0:b",
                                            "dpas.8x8 (8|M0) r52:d r52:d r20:b r30.0:b"},
                                           {"dpas.8x8 (8|M0) r52:d null:d r20:b r30.0:b {Atomic}\n"
                                            "dpas.8x8 (8|M0) r60:d r52:d r20:b r30.0:b",
                                            "dpas.8x8 (8|M0) r52:d null:d r20:b r30.0:b\n"
                                            "dpas.8x8 (8|M0) r60:d r52:d r20:b r30.0:b"}};
    static uint8_t file[FILE_MAX_B];
    fill(file);
    for (size_t i = 0; i < ZS_ARRAY_LEN(texts); i++) {
        for (int k = 0; k < 2; k++) {
            struct zs_eu_program *program =
                lower_text(ZS_ISA_XE_HPG, texts[i][k], 0, ZS_EU_HOST_BEST);
            start(threads[k], program, file, 0xff, 0);
            assert_int_equal(zs_eu_run(threads[k], program, 1000), ZS_EU_EOT);
            zs_eu_program_destroy(program);
        }
        assert_memory_equal(threads[0]->grf, threads[1]->grf, 112 * 32);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"dpas.4x8 (8|M0) r10:d r20:d r30:b r40.0:b", "depth of 4"},
        {"dpas.8x8 (8|M0) r10:hf r20:f r30:hf r40.0:hf", "type of src0 or the destination"},
        {"dpas.8x8 (8|M0) r10:f r20:bf r30:bf r40.0:bf", "type of src0 or the destination"},
        {"dpas.8x8 (8|M0) r10:f r20:f r30:hf r40.0:bf", "combination of elements"},
        {"dpas.8x8 (16|M0) r10:d r20:d r30:b r40.0:b", "execution size is 8, not 16"},
        {"dpas.8x8 (8|M0) r121:d r20:d r30:b r40.0:b", "leaves the register file"},
        {"dpas.8x8 (8|M0) r10:d r121:d r30:b r40.0:b", "leaves the register file"},
        {"dpas.8x8 (8|M0) r10:d r20:d r121:b r40.0:b", "leaves the register file"},
        {"dpas.8x8 (8|M0) r10:d r20:d r30:b r121.0:b", "leaves the register file"},
        {"dpas.8x2 (8|M0) r10:d r20:d r30:b r40.16:b", "aligned"},
    };
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        static const uint8_t file[FILE_MAX_B];
        struct zs_eu_program *program = lower_text(ZS_ISA_XE_HPG, rows[i].text, 0, ZS_EU_HOST_BEST);
        start(threads[0], program, file, 0xff, 0);
        assert_int_equal(zs_eu_run(threads[0], program, 1000), ZS_EU_FAULT);
        if (!strstr(threads[0]->fault.text, rows[i].reason))
            fail_msg("%s: %s", rows[i].text, threads[0]->fault.text);
        zs_eu_program_destroy(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),     cmocka_unit_test(extremes),
        cmocka_unit_test(floats),       cmocka_unit_test(denormals),
        cmocka_unit_test(scaled),       cmocka_unit_test(scales_at_the_ends),
        cmocka_unit_test(masks),        cmocka_unit_test(wide),
        cmocka_unit_test(wide_stopped), cmocka_unit_test(atomic),
        cmocka_unit_test(refused),
    };
    struct zs_eu_registers registers;
    while (platform_count < ZS_ARRAY_LEN(platforms) &&
           zs_eu_registers_of(platforms[platform_count].platform, 128, &registers))
        platform_count++;
    for (int i = 0; i < 2; i++)
        threads[i] = aligned_alloc(64, (sizeof(*threads[i]) + 63) & ~(size_t)63);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(threads[0]);
    free(threads[1]);
    return failed;
}
