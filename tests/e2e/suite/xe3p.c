/* SPDX-License-Identifier: MIT */
/* What Xe3P alone has: products of matrices with scales, numbers of four bits, more registers. */
#include "suite.h"

enum { LANES = 16, ROWS = 8 };

/* ---- numbers of few bits ---- */

enum number { BF, HF, BF8, HF8, E2M1, F };
static const uint32_t bits_of[] = {
    [BF] = 16, [HF] = 16, [BF8] = 8, [HF8] = 8, [E2M1] = 4, [F] = 32};

/* A sign, an exponent of `bits` bits with its bias, `fraction` bits. */
static double decoded(uint32_t code, int bits, int fraction)
{
    int bias = (1 << (bits - 1)) - 1, e = (int)(code >> fraction) & ((1 << bits) - 1);
    int m = (int)(code & ((1u << fraction) - 1));
    double magnitude =
        e ? ldexp(m + (1 << fraction), e - bias - fraction) : ldexp(m, 1 - bias - fraction);
    return code >> (bits + fraction) & 1 ? -magnitude : magnitude;
}

static double value_of(enum number type, uint32_t code)
{
    switch (type) {
    case BF:
        return decoded(code, 8, 7);
    case HF:
        return decoded(code, 5, 10);
    case BF8:
        return decoded(code, 5, 2);
    case HF8:
        return decoded(code, 4, 3);
    case E2M1:
        return decoded(code, 2, 1);
    default:
        return decoded(code, 8, 23);
    }
}

/* Some number of halves, none beyond 2: sums of their products are exact in any order. */
static uint32_t some_code(struct suite *s, enum number type)
{
    for (;;) {
        uint32_t code = (uint32_t)suite_random(s) & ((1u << bits_of[type]) - 1);
        code &= type == BF ? 0xbfe0 : type == HF ? 0xbe00 : 0xff; /* few of so many are */
        double value = fabs(value_of(type, code));
        if (value <= 2 && value * 2 == floor(value * 2))
            return code;
    }
}

static void put_bits(uint8_t *to, uint32_t at, uint32_t bits, uint32_t code)
{
    for (uint32_t i = 0; i < bits; i++, at++)
        to[at / 8] = (uint8_t)((to[at / 8] & ~(1u << at % 8)) | (code >> i & 1) << at % 8);
}

/* To nearest even. */
static void put_sum(uint8_t *to, enum number type, double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    if (type == BF)
        bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    memcpy(to, &bits, bits_of[type] / 8);
}

/* ---- products of matrices ---- */

/* Rows of 32 bytes lie over the lanes, a word in each; of the other matrix a lane has a column of
 * as many bytes. A scale is of 32 elements, and a row's first one is that of the lane of its
 * number. */
static void product(struct suite *s, enum number of_a, enum number of_b, enum number sum)
{
    uint32_t bits = bits_of[of_a], depth = 256 / bits, blocks = (depth + 31) / 32;
    uint32_t sum_B = bits_of[sum] / 8;
    uint8_t *sums = suite_in(s, S_U8, s->n * ROWS * sum_B);
    uint8_t *a = suite_in(s, S_U8, s->n * 16), *b = suite_in(s, S_U8, s->n * 32);
    uint8_t *scale_a = suite_in(s, S_U8, s->n * blocks),
            *scale_b = suite_in(s, S_U8, s->n * blocks);
    uint8_t *out = suite_out(s, S_U8, s->n * ROWS * sum_B, 0);
    for (size_t g = 0; g < s->n / LANES; g++) {
        double x[ROWS][64], y[64][LANES];
        for (size_t i = g * LANES * blocks; i < (g + 1) * LANES * blocks; i++) {
            scale_a[i] = (uint8_t)(125 + suite_random(s) % 5);
            scale_b[i] = (uint8_t)(125 + suite_random(s) % 5);
        }
        for (uint32_t r = 0; r < ROWS; r++)
            for (uint32_t k = 0; k < depth; k++) {
                uint32_t code = some_code(s, of_a), at = k * bits, lane = at / 16;
                put_bits(a + (g * LANES + lane) * 16 + r * 2, at % 16, bits, code);
                x[r][k] =
                    ldexp(value_of(of_a, code), scale_a[(g * LANES + r) * blocks + k / 32] - 127);
            }
        for (uint32_t lane = 0; lane < LANES; lane++) {
            size_t i = g * LANES + lane;
            for (uint32_t k = 0; k < depth; k++) {
                uint32_t code = some_code(s, of_b);
                put_bits(b + i * 32, k * bits, bits, code);
                y[k][lane] = ldexp(value_of(of_b, code), scale_b[i * blocks + k / 32] - 127);
            }
            for (uint32_t r = 0; r < ROWS; r++) {
                double value = (double)(suite_random(s) % 256) - 128;
                put_sum(sums + (i * ROWS + r) * sum_B, sum, value);
                for (uint32_t k = 0; k < depth; k++)
                    value += x[r][k] * y[k][lane];
                put_sum(out + (i * ROWS + r) * sum_B, sum, value);
            }
        }
    }
    suite_upload(s, sums);
    suite_upload(s, a);
    suite_upload(s, b);
    suite_upload(s, scale_a);
    suite_upload(s, scale_b);
}

#define PRODUCTS(X)                                                                                \
    X(bf, BF, BF, F)                                                                               \
    X(bf_bf, BF, BF, BF)                                                                           \
    X(hf, HF, HF, F)                                                                               \
    X(hf8_bf8, HF8, BF8, F)                                                                        \
    X(bf8_hf8, BF8, HF8, F)                                                                        \
    X(hf8_bf, HF8, HF8, BF)                                                                        \
    X(e2m1, E2M1, E2M1, F)
#define PRODUCT(name, of_a, of_b, sum)                                                             \
    static void product_##name(struct suite *s)                                                    \
    {                                                                                              \
        product(s, of_a, of_b, sum);                                                               \
    }
PRODUCTS(PRODUCT)

/* ---- numbers of four bits ---- */

/* The nearest, of two the even one; beyond the ends, the end. */
static uint32_t down(enum number from, uint32_t code, bool is_float)
{
    double value = value_of(from, code), x = fabs(value), best = INFINITY;
    bool negative = code >> 15;
    uint32_t nearest = 0;
    for (uint32_t k = 0; k < (is_float ? 8u : negative ? 9u : 8u); k++) {
        double at = is_float ? value_of(E2M1, k) : k, off = fabs(fmin(x, is_float ? 6 : 8) - at);
        if (off < best || (off == best && !(k & 1))) {
            best = off;
            nearest = k;
        }
    }
    return is_float ? nearest | (negative ? 8 : 0) : (negative ? 0 - nearest : nearest) & 15;
}

/* Each of four in its place; how: the mode. */
static uint32_t four(enum number from, uint32_t a, uint32_t b, bool is_float, uint32_t how)
{
    uint32_t in[4] = {a & 0xffff, a >> 16, b & 0xffff, b >> 16}, result = 0;
    static const uint8_t places[2][4] = {{0, 4, 16, 20}, {0, 16, 4, 20}};
    for (int i = 0; i < 4; i++)
        result |= down(from, in[i], is_float) << places[how & 1][i];
    return result << (how & 2 ? 8 : 0);
}

static uint32_t some_halves(struct suite *s)
{
    return ((uint32_t)suite_random(s) & 0x80ff80ff) |
           (0x3800 + (uint32_t)suite_random(s) % 0x1800) |
           (0x3800 + (uint32_t)suite_random(s) % 0x1800) << 16;
}

static void case_down(struct suite *s)
{
    uint32_t *a = suite_in(s, S_U32, s->n), *b = suite_in(s, S_U32, s->n);
    uint32_t *out = suite_out(s, S_U32, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, out += 4) {
        a[i] = some_halves(s);
        b[i] = some_halves(s);
        out[0] = four(BF, a[i], b[i], false, 0);
        out[1] = four(BF, a[i], b[i], true, 1);
        out[2] = four(HF, a[i], b[i], false, 2);
        out[3] = four(HF, a[i], b[i], true, 3);
    }
    suite_upload(s, a);
    suite_upload(s, b);
}

/* The code of a number that the type has. */
static uint32_t code_of(enum number type, double value)
{
    uint32_t code = 0;
    while (value_of(type, code) != value || (value == 0 && code))
        code++;
    return code;
}

static void case_up(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, s->n);
    uint32_t *two = suite_out(s, S_U32, s->n, 0);
    uint8_t *bytes = suite_out(s, S_U8, 2 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        for (int k = 0; k < 2; k++) {
            uint32_t code = a[i] >> 4 * k & 15;
            int whole = code < 8 ? (int)code : (int)code - 16;
            uint32_t bf = code == 8 ? 0x8000 : code_of(BF, value_of(E2M1, code)); /* -0 */
            two[i] = k ? two[i] | bf << 16 : bf;
            bytes[2 * i + k] = (uint8_t)code_of(BF8, whole);
        }
    }
}

/* A number is added in units of the last place, and as many bits are cut off. */
static void case_srnd(struct suite *s)
{
    uint16_t *a = suite_in(s, S_U16, 8 * s->n);
    const uint8_t *numbers = suite_in(s, S_U8, 8 * s->n);
    uint8_t *out = suite_out(s, S_U8, 8 * s->n, 0);
    for (size_t i = 0; i < 8 * s->n; i++) {
        a[i] &= 0xbbff; /* none beyond 2 */
        int e = a[i] >> 10 & 31;
        double sum = fabs(value_of(HF, a[i])) + ldexp(numbers[i], (e ? e : 1) - 25);
        uint8_t code = 0;
        while (value_of(BF8, code + 1u) <= sum)
            code++;
        out[i] = (uint8_t)(code | (a[i] >> 8 & 0x80));
    }
    suite_upload(s, a);
}

/* ---- more registers than 256 ---- */

static void case_many(struct suite *s)
{
    enum { MANY = 300 };
    const uint32_t *a = suite_in(s, S_U32, MANY * s->n);
    uint32_t *out = suite_out(s, S_U32, MANY * s->n, 0);
    for (size_t i = 0; i < s->n; i++, a += MANY, out += MANY) {
        memcpy(out, a, MANY * 4);
        for (int round = 0; round < 3; round++)
            for (int k = 0; k < MANY; k++)
                out[k] = out[k] * 3 + out[(k * 7 + 151) % MANY];
    }
}

static const struct suite_shape shapes[] = {{{1}, {16}}, {{5}, {64}}, {{0}, {0}}};
static const struct suite_shape few[] = {{{3}, {23}}, {{0}, {0}}};

#define ROW(name, of_a, of_b, sum) {"xe3p_product_" #name, product_##name, shapes},
static const struct suite_case cases[] = {PRODUCTS(ROW){"xe3p_down", case_down, NULL},
                                          {"xe3p_up", case_up, NULL},
                                          {"xe3p_srnd", case_srnd, NULL},
                                          {"xe3p_many", case_many, few}};

const struct suite_group suite_xe3p = {"xe3p", cases, SUITE_COUNT(cases)};
