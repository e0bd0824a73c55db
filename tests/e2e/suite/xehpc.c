/* SPDX-License-Identifier: MIT */
/* What XeHPC alone has: named barriers, atomics on doubles, blocks of two dimensions. */
#include "suite.h"

enum { LANES = 16 };

/* ---- named barriers ---- */

static void case_named(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t base = 0; base < s->n; base += 64) {
        int32_t x[64], row[64];
        memcpy(x, a + base, sizeof(x));
        for (int i = 0; i < 7; i++) {
            memcpy(row, x, sizeof(row));
            for (uint32_t l = 0; l < 32; l++)
                x[l] = x[l] * 3 + row[(l + 17) % 32];
        }
        for (int i = 0; i < 4; i++) {
            memcpy(row, x, sizeof(row));
            for (uint32_t l = 32; l < 64; l++)
                x[l] = x[l] * 5 - row[32 + (l + 21) % 32];
        }
        for (uint32_t l = 0; l < 64; l++)
            o[base + l] = x[63 - l];
    }
}

/* ---- atomics: sums of small integers are exact ---- */

static void case_doubles(struct suite *s)
{
    suite_range(s, -50, 50);
    const int32_t *a = suite_in(s, S_I32, s->n);
    double *own = suite_inout(s, S_F64, 4 * s->n, 0), *olds = suite_out(s, S_F64, 4 * s->n, 0);
    double *shared = suite_zeroed(s, S_F64, 2, 0);
    size_t n = s->local[0];
    double *sums = suite_out(s, S_F64, 3 * s->n / n, 0);
    for (size_t i = 0; i < s->n; i++, own += 4, olds += 4) {
        double x = a[i] % 64, *sum = sums + 3 * (i / n);
        memcpy(olds, own, 32);
        own[0] += x;
        own[1] -= x;
        own[2] = fmin(own[2], x);
        own[3] = fmax(own[3], x);
        shared[0] += x;
        shared[1] = fmin(shared[1], x);
        if (i % n == 0)
            sum[0] = sum[1] = sum[2] = 0.5;
        sum[0] += x;
        sum[1] = fmin(sum[1], x);
        sum[2] = fmax(sum[2], x);
    }
}

/* ---- messages ---- */

static void case_lsc(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, 64 * s->n);
    uint32_t *out = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint16_t word;
        uint32_t t[3], sum = a[i];
        uint64_t u[8];
        memcpy(&word, a + 2 * i, 2);
        memcpy(t, a + 16 * i, 12);
        memcpy(u, a + 64 * i, 64);
        sum = sum * 7 + word;
        sum = sum * 7 + t[0] + 3 * t[1] + 5 * t[2];
        out[i] = sum * 7 + (uint32_t)(u[0] + 3 * u[7] + (u[4] >> 32));
    }
}

/* ---- floats of eight bits: five of exponent, two of fraction, the upper half of a half ---- */

/* The nearest one, of two the even one. What is not a number, as an operation leaves it. */
static uint8_t to_bf8(uint16_t half)
{
    uint8_t sign = (uint8_t)(half >> 8 & 0x80), best = 0;
    double x = fabs((double)suite_half_to_float(half));
    if (isnan(x))
        return (uint8_t)(half >> 8 | 2);
    for (uint32_t b = 0; b <= 0x7c; b++) { /* the last one: infinity, in the place of 2^16 */
        double value = b == 0x7c ? 65536.0 : (double)suite_half_to_float((uint16_t)(b << 8));
        double kept = best == 0x7c ? 65536.0 : (double)suite_half_to_float((uint16_t)(best << 8));
        if (fabs(value - x) < fabs(kept - x) || (fabs(value - x) == fabs(kept - x) && !(b & 1)))
            best = (uint8_t)b;
    }
    return sign | (isinf(x) ? 0x7c : best);
}

static void case_bf8(struct suite *s)
{
    uint16_t *a = suite_in(s, S_U16, s->n);
    uint8_t *b = suite_in(s, S_U8, s->n);
    uint8_t *down = suite_out(s, S_U8, s->n, 0);
    uint16_t *up = suite_out(s, S_U16, s->n, 0);
    const uint16_t *c = suite_in(s, S_U16, 8 * s->n);
    uint8_t *eight = suite_out(s, S_U8, 8 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        a[i] = (uint16_t)(i * 21 + 0x7be0); /* both ends, infinities and what is no number */
        b[i] = (uint8_t)(i * 3);
    }
    suite_upload(s, a);
    suite_upload(s, b);
    for (size_t i = 0; i < s->n; i++) {
        down[i] = to_bf8(a[i]);
        up[i] = (uint16_t)(b[i] << 8);
        for (size_t k = 0; k < 8; k++)
            eight[8 * i + k] = i % 3 ? to_bf8(c[8 * i + k]) : 5;
    }
}

/* ---- stochastic rounding: the number is added in units of the last place ---- */

/* The greatest half that is no greater. */
static uint16_t cut(double value, uint32_t number)
{
    int e = (int)floor(log2(fabs(value)));
    double sum = fabs(value) + ldexp(number, e - 23);
    uint32_t code = suite_float_to_half((float)fabs(value)); /* near */
    while (code && (double)suite_half_to_float((uint16_t)code) > sum)
        code--;
    while ((double)suite_half_to_float((uint16_t)(code + 1)) <= sum)
        code++;
    return (uint16_t)(code | (value < 0 ? 0x8000 : 0));
}

static void case_srnd(struct suite *s)
{
    suite_range(s, -80, 80);
    const float *a = suite_in(s, S_F32, 8 * s->n);
    const uint16_t *numbers = suite_in(s, S_U16, 8 * s->n);
    uint16_t *eight = suite_out(s, S_U16, 8 * s->n, 0), *one = suite_out(s, S_U16, s->n, 0);
    for (size_t i = 0; i < 8 * s->n; i++) {
        eight[i] = cut((double)a[i], numbers[i] & 0x1fff);
        if (i % 8 == 3)
            one[i / 8] = cut((double)a[i], numbers[i + 2] & 0x1fff);
    }
}

/* ---- products of matrices: small whole numbers, which are exact in all of these ---- */

enum number { TF32, BF16, F16 };
static const uint32_t number_B[] = {[TF32] = 4, [BF16] = 2, [F16] = 2};

static void put_number(uint8_t *to, enum number as, int32_t value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    uint32_t raw = as == TF32 ? bits : as == BF16 ? bits >> 16 : suite_float_to_half(single);
    memcpy(to, &raw, number_B[as]);
}

/* Rows of `depth` numbers lie one behind the other over the lanes; of the other matrix a lane has a
 * column, a dword of it in each component. Components of a lane lie one behind the other in memory.
 */
static void product(struct suite *s, enum number of, enum number sum)
{
    enum { ROWS = 8, DEPTH_B = 32 };
    uint32_t B = number_B[of], sum_B = number_B[sum], depth = DEPTH_B / B;
    uint32_t a_B = of == TF32 ? 4 : 2, per_lane_B = ROWS * DEPTH_B / LANES;
    size_t groups = s->n / LANES;
    uint8_t *sums = suite_in(s, S_U8, s->n * ROWS * sum_B);
    uint8_t *a = suite_in(s, S_U8, s->n * per_lane_B), *b = suite_in(s, S_U8, s->n * DEPTH_B);
    uint8_t *out = suite_out(s, S_U8, s->n * ROWS * sum_B, 0);
    for (size_t g = 0; g < groups; g++) {
        int32_t x[ROWS][16], y[16][LANES];
        for (uint32_t r = 0; r < ROWS; r++) {
            for (uint32_t k = 0; k < depth; k++) {
                uint32_t at_B = r * DEPTH_B + k * B, row_B = LANES * a_B;
                uint32_t lane = at_B % row_B / a_B, component = at_B / row_B;
                x[r][k] = (int32_t)(suite_random(s) % 3) - 1;
                put_number(a + (g * LANES + lane) * per_lane_B + component * a_B + at_B % a_B, of,
                           x[r][k]);
            }
        }
        for (uint32_t lane = 0; lane < LANES; lane++) {
            size_t i = g * LANES + lane;
            for (uint32_t k = 0; k < depth; k++) {
                y[k][lane] = (int32_t)(suite_random(s) % 5) - 2;
                put_number(b + i * DEPTH_B + k * B, of, y[k][lane]);
            }
            for (uint32_t r = 0; r < ROWS; r++) {
                int32_t value = (int32_t)(suite_random(s) % 30) - 15;
                put_number(sums + (i * ROWS + r) * sum_B, sum, value);
                for (uint32_t k = 0; k < depth; k++)
                    value += x[r][k] * y[k][lane];
                put_number(out + (i * ROWS + r) * sum_B, sum, value);
            }
        }
    }
    suite_upload(s, sums);
    suite_upload(s, a);
    suite_upload(s, b);
}

#define PRODUCT(name, of, sum)                                                                     \
    static void product_##name(struct suite *s)                                                    \
    {                                                                                              \
        product(s, of, sum);                                                                       \
    }
PRODUCT(f_f_tf32_tf32, TF32, TF32)
PRODUCT(bf_bf_bf_bf, BF16, BF16)
PRODUCT(hf_hf_hf_hf, F16, F16)

/* ---- blocks ---- */

enum { WIDTH_B = 92, HEIGHT = 37, PITCH_B = 128 };

/* Bytes of the surface from a column (in bytes) of a row on; zeros outside. */
static uint32_t surface(const uint8_t *src, int32_t column_B, int32_t row, uint32_t size_B)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < size_B; i++) {
        int32_t at = column_B + (int32_t)i;
        if (row >= 0 && row < HEIGHT && at >= 0 && at < WIDTH_B)
            value |= (uint32_t)src[row * PITCH_B + at] << 8 * i;
    }
    return value;
}

/* What the lane gets as its component. x in elements, y in rows. */
typedef uint32_t component_fn(const uint8_t *src, int32_t x, int32_t y, uint32_t rows, uint32_t c,
                              uint32_t lane);

static uint32_t of_u8(const uint8_t *src, int32_t x, int32_t y, uint32_t rows, uint32_t c,
                      uint32_t lane)
{
    uint32_t block = c / rows, row = c % rows;
    return surface(src, x + (int32_t)(block * 32 + lane * 2), y + (int32_t)row, 2);
}

static uint32_t of_u16(const uint8_t *src, int32_t x, int32_t y, uint32_t rows, uint32_t c,
                       uint32_t lane)
{
    uint32_t block = c / rows, row = c % rows;
    return surface(src, 2 * (x + (int32_t)(block * 16 + lane)), y + (int32_t)row, 2);
}

static uint32_t of_transform_u8(const uint8_t *src, int32_t x, int32_t y, uint32_t rows, uint32_t c,
                                uint32_t lane)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4; i++)
        value |= surface(src, x + (int32_t)lane, y + (int32_t)(4 * c + i), 1) << 8 * i;
    return value;
}

static uint32_t of_transform_u16(const uint8_t *src, int32_t x, int32_t y, uint32_t rows,
                                 uint32_t c, uint32_t lane)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 2; i++)
        value |= surface(src, 2 * (x + (int32_t)lane), y + (int32_t)(2 * c + i), 2) << 16 * i;
    return value;
}

static uint32_t of_transpose_u32(const uint8_t *src, int32_t x, int32_t y, uint32_t rows,
                                 uint32_t c, uint32_t lane)
{
    return surface(src, 4 * (x + (int32_t)c), y + (int32_t)lane, 4);
}

static void block_case(struct suite *s, component_fn *component, uint32_t components,
                       uint32_t component_B, uint32_t rows)
{
    const int32_t place[2] = {-8, -5}, step[2] = {4, 3};
    const uint8_t *src = suite_in(s, S_U8, PITCH_B * HEIGHT);
    suite_int(s, WIDTH_B);
    suite_int(s, HEIGHT);
    suite_int(s, PITCH_B);
    suite_value(s, sizeof(place), place);
    suite_value(s, sizeof(step), step);
    uint8_t *o = suite_out(s, S_U8, s->n * components * component_B, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t g = (int32_t)(i / LANES);
        for (uint32_t c = 0; c < components; c++) {
            uint32_t value =
                component(src, place[0] + step[0] * g, place[1] + step[1] * g, rows, c, i % LANES);
            memcpy(o + (i * components + c) * component_B, &value, component_B);
        }
    }
}

#define BLOCK(name, of, components, component_B, rows)                                             \
    static void case_##name(struct suite *s)                                                       \
    {                                                                                              \
        block_case(s, of, components, component_B, rows);                                          \
    }
#define BLOCKS(X)                                                                                  \
    X(u8_m1k32v2, of_u8, 2, 2, 1)                                                                  \
    X(u8_m2k32v2, of_u8, 4, 2, 2)                                                                  \
    X(u8_m4k32v2, of_u8, 8, 2, 4)                                                                  \
    X(u8_m8k32v2, of_u8, 16, 2, 8)                                                                 \
    X(u16_m1k16v2, of_u16, 2, 2, 1)                                                                \
    X(u16_m2k16v2, of_u16, 4, 2, 2)                                                                \
    X(u16_m4k16v2, of_u16, 8, 2, 4)                                                                \
    X(u16_m8k16v2, of_u16, 16, 2, 8)                                                               \
    X(transform_u8_k32, of_transform_u8, 8, 4, 32)                                                 \
    X(transform_u16_k16, of_transform_u16, 8, 4, 16)                                               \
    X(transpose_u32_k8, of_transpose_u32, 8, 4, 16)
BLOCKS(BLOCK)

static const struct suite_shape shapes[] = {{{1}, {16}}, {{5}, {64}}, {{0}, {0}}};
static const struct suite_shape bf8_shapes[] = {{{3}, {7}}, {{49}, {64}}, {{0}, {0}}};

#define ROW(name, of, components, component_B, rows) {"xehpc_block_" #name, case_##name, shapes},
static const struct suite_case cases[] = {
    {"xehpc_named", case_named, suite_shapes_group64},
    {"xehpc_doubles", case_doubles, suite_shapes_group64},
    {"xehpc_lsc", case_lsc, NULL},
    {"xehpc_bf8", case_bf8, bf8_shapes},
    {"xehpc_srnd", case_srnd, bf8_shapes},
    {"xehpc_product_f_f_tf32_tf32", product_f_f_tf32_tf32, shapes},
    {"xehpc_product_bf_bf_bf_bf", product_bf_bf_bf_bf, shapes},
    {"xehpc_product_hf_hf_hf_hf", product_hf_hf_hf_hf, shapes},
    BLOCKS(ROW)};

/* IGC 1 makes floats of the numbers to round by. */
const struct suite_group suite_xehpc = {"xehpc", cases, SUITE_COUNT(cases),
                                        .not_in = "pvc:xehpc_srnd"};
