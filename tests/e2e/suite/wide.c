/* SPDX-License-Identifier: MIT */
/* Double precision. */
#include "suite.h"

static void case_basic(struct suite *s)
{
    suite_range(s, -100, 100);
    const double *a = suite_in(s, S_F64, s->n), *b = suite_in(s, S_F64, s->n),
                 *c = suite_in(s, S_F64, s->n);
    double *o = suite_out(s, S_F64, s->n * 16, 0);
    suite_absolute(s, o, 5e-324); /* the compiler's ceil(-0.5) is 0.0 */
    for (size_t i = 0; i < s->n; i++, o += 16) {
        double x = a[i], y = b[i], z = c[i];
        double v[16] = {
            x + y,         x - y,      x * y,          fma(x, y, z),       x / y,
            sqrt(fabs(x)), fmin(x, y), fmax(x, -y),    floor(x),           ceil(x),
            trunc(x),      rint(x),    x < y ? z : -x, fabs(x) + (x == y), copysign(x, y),
            1.0 / z};
        memcpy(o, v, sizeof(v));
    }
}

static float towards(double x, double limit)
{
    float near = (float)x;
    bool beyond = limit > 0 ? (double)near < x : (double)near > x;
    return beyond ? nextafterf(near, (float)limit) : near;
}

static void case_to_others(struct suite *s)
{
    suite_range(s, -40000, 40000);
    const double *a = suite_in(s, S_F64, s->n);
    float *f = suite_out(s, S_F32, 4 * s->n, 0);
    int32_t *i32 = suite_out(s, S_I32, 2 * s->n, 0);
    uint32_t *u32 = suite_out(s, S_U32, s->n, 0);
    int64_t *i64 = suite_out(s, S_I64, 2 * s->n, 0);
    int16_t *i16 = suite_out(s, S_I16, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        double x = a[i], up = ceil(x);
        f[4 * i] = (float)x;
        f[4 * i + 1] = towards(x, (double)INFINITY);
        f[4 * i + 2] = towards(x, -(double)INFINITY);
        f[4 * i + 3] = towards(x, x < 0 ? (double)INFINITY : -(double)INFINITY);
        i32[2 * i] = (int32_t)x;
        i32[2 * i + 1] = (int32_t)rint(x);
        u32[i] = x < 0 ? 0 : (uint32_t)x;
        i64[2 * i] = (int64_t)(x * 1e9);
        i64[2 * i + 1] = (int64_t)floor(x);
        i16[i] = up > 32767 ? 32767 : up < -32768 ? -32768 : (int16_t)up;
    }
}

static void case_from_others(struct suite *s)
{
    const float *f = suite_in(s, S_F32, s->n);
    const int32_t *i32 = suite_in(s, S_I32, s->n);
    const uint32_t *u32 = suite_in(s, S_U32, s->n);
    const int64_t *i64 = suite_in(s, S_I64, s->n);
    const uint8_t *u8 = suite_in(s, S_U8, s->n);
    double *o = suite_out(s, S_F64, 5 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 5) {
        o[0] = (double)f[i];
        o[1] = i32[i];
        o[2] = u32[i];
        o[3] = (double)i64[i];
        o[4] = u8[i];
    }
}

static void case_functions(struct suite *s)
{
    suite_range(s, 0.01, 10);
    const double *a = suite_in(s, S_F64, s->n);
    double *o = suite_out(s, S_F64, 8 * s->n, 16);
    suite_absolute(s, o, 1e-15);
    for (size_t i = 0; i < s->n; i++, o += 8) {
        double x = a[i];
        double v[8] = {exp(x), log(x), sin(x), cos(x), pow(x, 1.5), atan(x), cbrt(x), tanh(x)};
        memcpy(o, v, sizeof(v));
    }
}

static void case_dot(struct suite *s)
{
    enum { TERMS = 13 };
    const double *a = suite_in(s, S_F64, TERMS * s->n), *b = suite_in(s, S_F64, TERMS);
    double *o = suite_out(s, S_F64, s->n, 0);
    suite_int(s, TERMS);
    for (size_t i = 0; i < s->n; i++) {
        o[i] = 0;
        for (size_t k = 0; k < TERMS; k++)
            o[i] = fma(a[k * s->n + i], b[k], o[i]);
    }
}

static const struct suite_case cases[] = {
    {"wide_basic", case_basic, NULL, NULL},
    {"wide_to_others", case_to_others, NULL, NULL},
    {"wide_from_others", case_from_others, NULL, NULL},
    {"wide_functions", case_functions, NULL, NULL},
    {"wide_dot", case_dot, NULL, NULL},
};

const struct suite_group suite_wide = {"wide", cases, SUITE_COUNT(cases)};
