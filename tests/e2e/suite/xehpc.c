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

#define ROW(name, of, components, component_B, rows) {"xehpc_block_" #name, case_##name, shapes},
static const struct suite_case cases[] = {{"xehpc_named", case_named, suite_shapes_group64},
                                          {"xehpc_doubles", case_doubles, suite_shapes_group64},
                                          {"xehpc_lsc", case_lsc, NULL},
                                          BLOCKS(ROW)};

const struct suite_group suite_xehpc = {"xehpc", cases, SUITE_COUNT(cases)};
