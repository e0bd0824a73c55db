/* SPDX-License-Identifier: MIT */
/* Half precision. Sums and products of halves are exact in double, so rounding them once is right.
 */
#include "suite.h"

static double h(uint16_t half)
{
    return (double)suite_half_to_float(half);
}

static void case_basic(struct suite *s)
{
    suite_range(s, -4, 4);
    const uint16_t *a = suite_in(s, S_F16, s->n), *b = suite_in(s, S_F16, s->n),
                   *c = suite_in(s, S_F16, s->n);
    uint16_t *o = suite_out(s, S_F16, s->n * 12, 0);
    for (size_t i = 0; i < s->n; i++, o += 12) {
        double x = h(a[i]), y = h(b[i]), z = h(c[i]);
        double v[12] = {
            x + y,       x - y,    x * y,   fma(x, y, z), fabs(x) - fabs(y), fmin(x, y),
            fmax(x, -y), floor(x), ceil(x), rint(x),      x < y ? z : x,     fmax(0, fmin(x, 1))};
        for (int k = 0; k < 12; k++)
            o[k] = suite_double_to_half(v[k]);
    }
}

static void case_functions(struct suite *s)
{
    suite_range(s, 0.01, 4);
    const uint16_t *a = suite_in(s, S_F16, s->n);
    uint16_t *o = suite_out(s, S_F16, s->n * 5, 2);
    for (size_t i = 0; i < s->n; i++, o += 5) {
        double x = h(a[i]), v[5] = {sqrt(x), exp2(x), log2(x), sin(x), 1 / x};
        for (int k = 0; k < 5; k++)
            o[k] = suite_double_to_half(v[k]);
    }
    suite_absolute(s, o - s->n * 5, 2e-3);
}

static uint16_t towards(double x, bool up)
{
    uint16_t near = suite_double_to_half(x);
    double value = h(near);
    if (up ? value >= x : value <= x)
        return near;
    /* next in the direction; near is finite and not zero here */
    bool grow = up == (value > 0);
    return (uint16_t)(grow ? near + 1 : near - 1);
}

static void case_from_float(struct suite *s)
{
    suite_range(s, -500, 500);
    const float *a = suite_in(s, S_F32, s->n);
    uint16_t *o = suite_out(s, S_F16, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 4) {
        double x = (double)a[i];
        o[0] = suite_double_to_half(x);
        o[1] = towards(x, true);
        o[2] = towards(x, false);
        o[3] = towards(x, x < 0);
    }
}

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void case_to_others(struct suite *s)
{
    suite_range(s, -400, 400);
    const uint16_t *a = suite_in(s, S_F16, s->n);
    float *f = suite_out(s, S_F32, s->n, 0);
    int32_t *i32 = suite_out(s, S_I32, s->n, 0);
    int16_t *i16 = suite_out(s, S_I16, s->n, 0);
    uint8_t *u8 = suite_out(s, S_U8, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        f[i] = (float)h(a[i]);
        i32[i] = (int32_t)rint(h(a[i]));
        i16[i] = (int16_t)trunc(h(a[i]));
        u8[i] = (uint8_t)within(rint(h(a[i])), 0, 255);
    }
}

static void case_from_int(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    const int16_t *b = suite_in(s, S_I16, s->n);
    uint16_t *o = suite_out(s, S_F16, 2 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        o[2 * i] = suite_double_to_half(a[i] >> 16);
        o[2 * i + 1] = suite_double_to_half(b[i]);
    }
}

static void case_storage(struct suite *s)
{
    const uint16_t *a = suite_in(s, S_F16, 4 * s->n);
    float *o = suite_out(s, S_F32, s->n, 1);
    suite_absolute(s, o, 1e-5);
    uint16_t *back = suite_out(s, S_F16, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        o[i] = 0;
        for (size_t k = 0; k < 4; k++) {
            o[i] += (float)h(a[4 * i + k]) * (float)(1 << k);
            back[4 * i + k] = suite_double_to_half(h(a[4 * i + k]) * 0.5);
        }
    }
}

static void case_vectors(struct suite *s)
{
    const uint16_t *a = suite_in(s, S_F16, 8 * s->n), *b = suite_in(s, S_F16, 8 * s->n);
    uint16_t *o = suite_out(s, S_F16, 8 * s->n, 1); /* the compiler may fuse */
    suite_absolute(s, o, 0.04);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < 8; k++) {
            double x = h(a[8 * i + k]);
            if (k % 2 == 0)
                x = h(suite_double_to_half(x * h(b[8 * i + k + 1])));
            o[8 * i + k] = suite_double_to_half(x + h(b[8 * i + 7 - k]));
        }
    }
}

static const struct suite_case cases[] = {
    {"half_basic", case_basic, NULL, NULL},
    {"half_functions", case_functions, NULL, NULL},
    {"half_from_float", case_from_float, NULL, NULL},
    {"half_to_others", case_to_others, NULL, NULL},
    {"half_from_int", case_from_int, NULL, NULL},
    {"half_storage", case_storage, NULL, NULL},
    {"half_vectors", case_vectors, NULL, NULL},
};

const struct suite_group suite_half = {"half", cases, SUITE_COUNT(cases)};
