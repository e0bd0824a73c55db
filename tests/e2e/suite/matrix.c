/* SPDX-License-Identifier: MIT */
/*
 * Products of matrices by sub-groups, element by element. Numbers are such that every sum is exact:
 * eighths for floats. Sub-groups have LANES items: 8, on devices without sub-groups of 8 twice as
 * many.
 */
#include "suite.h"

enum { STEPS = 3, ROWS = 8, DEPTH = 8 };

static const struct suite_shape shapes[] = {{{1}, {16}}, {{3}, {32}}, {{2}, {64}}, {{0}, {0}}};

struct kind {
    int a_bits, b_bits; /* of an element; 16: a half, 17: a bf16 */
    bool a_signed, b_signed;
};

static int bits_of(int bits)
{
    return bits == 17 ? 16 : bits;
}

/* Elements that a step multiplies. */
static int elements_of(struct kind k)
{
    int widest = bits_of(k.a_bits) > bits_of(k.b_bits) ? bits_of(k.a_bits) : bits_of(k.b_bits);
    return widest < 4 ? 8 : 32 / widest;
}

static double element(const void *at, size_t index, int bits, bool is_signed)
{
    const uint8_t *bytes = at;
    uint32_t value = 0;
    for (int i = 0; i < bits_of(bits); i++) {
        size_t bit = index * bits_of(bits) + i;
        value |= (uint32_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    }
    if (bits == 16)
        return suite_half_to_float((uint16_t)value);
    if (bits == 17) {
        float f;
        value <<= 16;
        memcpy(&f, &value, 4);
        return f;
    }
    return is_signed && value >> (bits - 1) ? (double)value - (1 << bits) : (double)value;
}

/* `count` numbers of 8 * 2^-3 at most, in halves or bf16; bytes stay what they are. */
static void *numbers(struct suite *s, size_t size_B, int bits)
{
    uint16_t *in = suite_in(s, S_U8, size_B);
    for (size_t i = 0; bits >= 16 && i < size_B / 2; i++) {
        float value = (float)(in[i] % 17 - 8) / 8;
        uint32_t f;
        memcpy(&f, &value, 4);
        in[i] = bits == 16 ? suite_float_to_half(value) : (uint16_t)(f >> 16);
    }
    suite_upload(s, in);
    return in;
}

static void *sums(struct suite *s, size_t count, bool is_real)
{
    if (!is_real)
        return suite_inout(s, S_I32, count, 0);
    float *c = suite_inout(s, S_F32, count, 0);
    for (size_t i = 0; i < count; i++)
        c[i] = (float)(suite_random(s) % 64) / 8;
    suite_upload(s, c);
    return c;
}

static void add(void *c, size_t at, bool is_real, double value)
{
    if (is_real)
        ((float *)c)[at] += (float)value;
    else
        ((uint32_t *)c)[at] += (uint32_t)(int64_t)value;
}

/* What a lane of a row gets in one multiplication. row: its first element; b: dword d of the lane
 * is at b[d * stride]. */
static double product(struct kind k, const uint8_t *row, const uint32_t *b, size_t stride)
{
    int elements = elements_of(k), per_dword = 32 / (elements * bits_of(k.b_bits));
    double sum = 0;
    for (int d = 0; d < DEPTH; d++)
        for (int e = 0; e < elements; e++)
            sum += element(row, d * elements + e, k.a_bits, k.a_signed) *
                   element(&b[d / per_dword * stride], d % per_dword * elements + e, k.b_bits,
                           k.b_signed);
    return sum;
}

static void gemm(struct suite *s, struct kind k)
{
    size_t lanes = s->simd, tiles = s->n / lanes, elements = elements_of(k);
    size_t row_B = DEPTH * elements * bits_of(k.a_bits) / 8;
    size_t dwords = DEPTH * elements * bits_of(k.b_bits) / 32;
    bool is_real = k.a_bits >= 16;
    const uint8_t *a = numbers(s, tiles * ROWS * STEPS * row_B, k.a_bits);
    const uint32_t *b = numbers(s, STEPS * dwords * lanes * 4, k.b_bits);
    void *c = sums(s, tiles * ROWS * lanes, is_real);
    suite_int(s, STEPS);
    for (size_t row = 0; row < tiles * ROWS; row++)
        for (size_t n = 0; n < lanes; n++)
            for (size_t t = 0; t < STEPS; t++)
                add(c, row * lanes + n, is_real,
                    product(k, a + (row * STEPS + t) * row_B, b + t * dwords * lanes + n, lanes));
}

#define GEMM(name, ...)                                                                            \
    static void case_##name(struct suite *s)                                                       \
    {                                                                                              \
        gemm(s, (struct kind){__VA_ARGS__});                                                       \
    }
GEMM(f16, 16, 16)
GEMM(bf16, 17, 17)
GEMM(s8_s8, 8, 8, true, true)
GEMM(s8_u8, 8, 8, true, false)
GEMM(u8_s8, 8, 8, false, true)
GEMM(u8_u8, 8, 8, false, false)
GEMM(s4_s4, 4, 4, true, true)
GEMM(u4_u4, 4, 4, false, false)
GEMM(s4_s8, 4, 8, true, true)
GEMM(s2_u8, 2, 8, true, false)
GEMM(s8_u4, 8, 4, true, false)
GEMM(u8_s2, 8, 2, false, true)
GEMM(s2_s2, 2, 2, true, true)
GEMM(u2_s4, 2, 4, false, true)

/* The rows that a sub-group's items hold between them: piece i of item n is piece n of row i. */
static void gather_row(const struct suite *s, const void *a, size_t first, size_t rows, size_t r,
                       uint8_t ret[32])
{
    size_t piece_B = 32 / s->simd;
    for (size_t n = 0; n < s->simd; n++)
        memcpy(ret + n * piece_B, (const uint8_t *)a + ((first + n) * rows + r) * piece_B, piece_B);
}

/* c's element r of item `first + n` gets `from`'s, and the product of row r. */
static void few(const struct suite *s, struct kind k, const void *a, const uint32_t *b,
                size_t first, const int *from, int rows, void *c)
{
    bool is_real = k.a_bits >= 16;
    for (size_t n = 0; n < s->simd; n++) {
        uint32_t *own = (uint32_t *)c + (first + n) * 4, were[4];
        memcpy(were, own, sizeof(were));
        for (int r = 0; r < rows; r++) {
            uint8_t row[32];
            gather_row(s, a, first, 4, r, row);
            own[r] = were[from[r]];
            add(own, r, is_real, product(k, row, b + (first + n) * 8, 1));
        }
    }
}

static void case_few_rows(struct suite *s)
{
    static const struct kind kinds[2] = {{8, 8, true, true}, {16, 16}};
    static const int from[3][4] = {{1}, {2, 3}, {0, 1, 2, 3}};
    const uint8_t *a = numbers(s, s->n * 4 * 32 / s->simd, 16);
    const uint32_t *b = numbers(s, s->n * 32, 16);
    void *c[2] = {sums(s, s->n * 4, false), sums(s, s->n * 4, true)};
    for (size_t first = 0; first < s->n; first += s->simd)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 3; i++)
                few(s, kinds[k], a, b, first, from[i], 1 << i, c[k]);
}

static void case_no_sum(struct suite *s)
{
    const uint8_t *a = numbers(s, s->n * 8 * 32 / s->simd, 8);
    const uint32_t *b = numbers(s, s->n * 32, 8);
    uint32_t *c = suite_out(s, S_I32, s->n * 8, 0);
    for (size_t i = 0; i < s->n; i++)
        for (size_t r = 0; r < ROWS; r++) {
            uint8_t row[32];
            gather_row(s, a, i - i % s->simd, ROWS, r, row);
            c[i * 8 + r] = 0;
            add(c, i * 8 + r, false, product((struct kind){8, 8, true, true}, row, b + i * 8, 1));
        }
}

/* Rows 0 to 3 are the even sub-group's, the others the odd one's. */
static void split(struct suite *s, struct kind k, int turns)
{
    bool is_real = k.a_bits >= 16;
    const uint8_t *a = numbers(s, s->n * 16, k.a_bits);
    const uint32_t *b = numbers(s, s->n * 32, k.b_bits);
    void *c = sums(s, s->n * 8, is_real);
    for (size_t i = 0; i < s->n; i++)
        for (size_t r = 0; r < ROWS; r++) {
            uint8_t row[32];
            gather_row(s, a, i / 16 * 16 + r / 4 * 8, 4, r % 4, row);
            for (int t = 0; t < turns; t++)
                add(c, i * 8 + r, is_real, product(k, row, b + i * 8, 1));
        }
}

static void case_split_s8(struct suite *s)
{
    split(s, (struct kind){8, 8, true, true}, 3);
}

static void case_split_f16(struct suite *s)
{
    split(s, (struct kind){16, 16}, 1);
    suite_local(s, s->local[0] * 4);
}

static uint16_t to_bf(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t rest = bits & 0xffff, high = bits >> 16;
    return (uint16_t)(high + (rest > 0x8000 || (rest == 0x8000 && (high & 1))));
}

static void case_bf16_convert(struct suite *s)
{
    suite_range(s, -1e6, 1e6);
    const float *a = suite_in(s, S_F32, s->n);
    const uint16_t *b = suite_in(s, S_U16, s->n);
    uint16_t *c = suite_out(s, S_U16, s->n, 0), *d = suite_out(s, S_U16, 4 * s->n, 0);
    uint32_t *e = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        c[i] = d[4 * i] = to_bf(a[i]);
        d[4 * i + 1] = to_bf(-a[i]);
        d[4 * i + 2] = to_bf(a[i] * 3);
        d[4 * i + 3] = to_bf(a[i] + 1);
        e[i] = (uint32_t)b[i] << 16;
    }
}

static const struct suite_case cases[] = {
    {"bf16_convert", case_bf16_convert, NULL, NULL}, {"gemm_f16", case_f16, shapes, NULL},
    {"gemm_bf16", case_bf16, shapes, NULL},          {"gemm_s8_s8", case_s8_s8, shapes, NULL},
    {"gemm_s8_u8", case_s8_u8, shapes, NULL},        {"gemm_u8_s8", case_u8_s8, shapes, NULL},
    {"gemm_u8_u8", case_u8_u8, shapes, NULL},        {"gemm_s4_s4", case_s4_s4, shapes, NULL},
    {"gemm_u4_u4", case_u4_u4, shapes, NULL},        {"gemm_s4_s8", case_s4_s8, shapes, NULL},
    {"gemm_s2_u8", case_s2_u8, shapes, NULL},        {"gemm_s8_u4", case_s8_u4, shapes, NULL},
    {"gemm_u8_s2", case_u8_s2, shapes, NULL},        {"gemm_s2_s2", case_s2_s2, shapes, NULL},
    {"gemm_u2_s4", case_u2_s4, shapes, NULL},        {"few_rows", case_few_rows, shapes, NULL},
    {"no_sum", case_no_sum, shapes, NULL},           {"split_s8", case_split_s8, shapes, NULL},
    {"split_f16", case_split_f16, shapes, NULL},
};

/* No other implementation has these functions. */
const struct suite_group suite_matrix = {
    "matrix",
    cases,
    SUITE_COUNT(cases),
    "gemm_f16 gemm_bf16 gemm_s8_s8 gemm_s8_u8 gemm_u8_s8 gemm_u8_u8 gemm_s4_s4 gemm_u4_u4 "
    "gemm_s4_s8 "
    "gemm_s2_u8 gemm_s8_u4 gemm_u8_s2 gemm_s2_s2 gemm_u2_s4 few_rows no_sum split_s8 split_f16 "
    "bf16_convert",
    NULL,
    "gemm_s4_s8 gemm_s2_u8 gemm_s8_u4 gemm_u8_s2 gemm_s2_s2 gemm_u2_s4 split_s8 split_f16"};
