/* SPDX-License-Identifier: MIT */
/* Single precision. Tolerances are OpenCL's; native functions are held to the hardware's. */
#include "suite.h"

#include <float.h>

static void case_basic(struct suite *s)
{
    suite_range(s, -4, 4);
    const float *a = suite_in(s, S_F32, s->n), *b = suite_in(s, S_F32, s->n),
                *c = suite_in(s, S_F32, s->n);
    float *o = suite_out(s, S_F32, s->n * 16, 0);
    for (size_t i = 0; i < s->n; i++, o += 16) {
        float x = a[i], y = b[i], z = c[i];
        o[0] = x + y;
        o[1] = x - y;
        o[2] = x * y;
        o[3] = fmaf(x, y, z);
        o[4] = -fabsf(x) + fabsf(y);
        o[5] = fminf(x, y);
        o[6] = fmaxf(x, y);
        o[7] = x < 0 ? 0.0f : x > 1 ? 1.0f : x;
        o[8] = copysignf(x, y);
        o[9] = fmaf(-x, fabsf(y), -z);
        o[10] = x < y ? z : -x;
        o[11] = x < z ? y : x;
        o[12] = y < x ? 0.0f : 1.0f;
        o[13] = (x > 0) - (x < 0);
        o[14] = fdimf(x, y);
        o[15] = 1.0f;
    }
}

static void case_round(struct suite *s)
{
    suite_range(s, -3, 3);
    s->special = true;
    const float *a = suite_in(s, S_F32, s->n);
    float *o = suite_out(s, S_F32, s->n * 5, 0);
    for (size_t i = 0; i < s->n; i++, o += 5) {
        o[0] = floorf(a[i]);
        o[1] = ceilf(a[i]);
        o[2] = truncf(a[i]);
        o[3] = rintf(a[i]);
        o[4] = roundf(a[i]);
    }
    suite_absolute(s, o - s->n * 5, 1e-45); /* the compiler's round(-0.0f) is 0.0f */
}

static void case_divide(struct suite *s)
{
    suite_range(s, -1e6, 1e6);
    const float *a = suite_in(s, S_F32, s->n), *b = suite_in(s, S_F32, s->n);
    float *o = suite_out(s, S_F32, 3 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 3) {
        o[0] = a[i] / b[i];
        o[1] = sqrtf(fabsf(a[i]));
        o[2] = 1.0f / b[i];
    }
}

static void case_compare(struct suite *s)
{
    s->special = true;
    float *a = suite_in(s, S_F32, s->n), *b = suite_in(s, S_F32, s->n);
    for (size_t i = 0; i < s->n; i++) { /* no denormals: comparisons may flush them */
        a[i] = fabsf(a[i]) < FLT_MIN && a[i] != 0 ? 1.0f : a[i];
        b[i] = fabsf(b[i]) < FLT_MIN && b[i] != 0 ? 2.0f : b[i];
    }
    suite_upload(s, a);
    suite_upload(s, b);
    int32_t *o = suite_out(s, S_I32, s->n * 12, 0);
    for (size_t i = 0; i < s->n; i++, o += 12) {
        float x = a[i], y = b[i];
        uint32_t bits;
        memcpy(&bits, &x, 4);
        o[0] = x == y;
        o[1] = x != y;
        o[2] = isgreater(x, y);
        o[3] = islessequal(x, y);
        o[4] = islessgreater(x, y);
        o[5] = isunordered(x, y) != 0;
        o[6] = (isnan(x) != 0) + 2 * (isinf(y) != 0);
        o[7] = (isfinite(x) != 0) + 2 * (isnormal(y) != 0);
        o[8] = signbit(x) != 0;
        o[9] = x == 0 ? INT32_MIN : isnan(x) ? INT32_MAX : isinf(x) ? INT32_MAX : ilogbf(x);
        o[10] = (x > y) | (x <= y) << 1 | (x != y) << 2 | !(x < y) << 3;
        o[11] = (int32_t)(bits ^ (y > 0.0f ? 0x55 : 0));
    }
    /* FP_ILOGB0 and FP_ILOGBNAN are the implementation's to choose */
    o -= s->n * 12;
    for (size_t i = 0; i < s->n; i++)
        if (isnan(a[i]))
            o[12 * i + 9] = INT32_MAX;
}

struct whole {
    enum suite_type type;
    double least, most; /* most: the largest double within */
    int64_t top, bottom;
};

static const struct whole wholes[] = {
    {S_I8, -128, 127, 127, -128},
    {S_U8, 0, 255, 255, 0},
    {S_I16, -32768, 32767, 32767, -32768},
    {S_U16, 0, 65535, 65535, 0},
    {S_I32, -2147483648.0, 2147483647.0, INT32_MAX, INT32_MIN},
    {S_U32, 0, 4294967295.0, UINT32_MAX, 0},
    {S_I64, -0x1p63, 0x1.fffffffffffffp62, INT64_MAX, INT64_MIN},
    {S_U64, 0, 0x1.fffffffffffffp63, -1, 0},
};

static void put_whole(const struct whole *w, char *o, size_t i, double x)
{
    int64_t value = isnan(x)       ? 0
                    : x < w->least ? w->bottom
                    : x > w->most  ? w->top
                    : x >= 0x1p63  ? (int64_t)(uint64_t)x
                                   : (int64_t)x;
    size_t size_B = suite_type_size(w->type);
    memcpy(o + i * size_B, &value, size_B);
}

static void to_whole(struct suite *s, const struct whole *w)
{
    static const double ranges[] = {4, 300, 1e5, 5e9, 3e19};
    double range = ranges[s->n % 5];
    suite_range(s, -range, range);
    s->special = true;
    float *a = suite_in(s, S_F32, s->n);
    for (size_t i = 0; i < s->n; i++) {
        if (isnan(a[i]) || (a[i] != 0 && fabsf(a[i]) < FLT_MIN))
            a[i] = 0.75f; /* rounding upwards of a flushed denormal may differ */
    }
    suite_upload(s, a);
    char *o = suite_out(s, w->type, 5 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        double x = (double)a[i];
        put_whole(w, o, 5 * i, trunc(x));
        put_whole(w, o, 5 * i + 1, rint(x));
        put_whole(w, o, 5 * i + 2, ceil(x));
        put_whole(w, o, 5 * i + 3, floor(x));
        put_whole(w, o, 5 * i + 4, trunc(x));
    }
}

/* The nearest float to a 128-bit whole number, and its neighbours on either side of the number. */
static void from_whole(struct suite *s, const struct whole *w)
{
    size_t size_B = suite_type_size(w->type);
    const char *a = suite_in(s, w->type, s->n);
    float *o = suite_out(s, S_F32, 4 * s->n, 0);
    bool has_sign = w->least < 0;
    for (size_t i = 0; i < s->n; i++, o += 4) {
        uint64_t raw = 0;
        memcpy(&raw, a + i * size_B, size_B);
        unsigned shift = (unsigned)(64 - 8 * size_B);
        __int128 x = has_sign ? (__int128)((int64_t)(raw << shift) >> shift) : (__int128)raw;
        float near = has_sign ? (float)(int64_t)x : (float)(uint64_t)x;
        o[0] = near;
        o[1] = (__int128)near < x ? nextafterf(near, INFINITY) : near;
        o[2] = (__int128)near > x ? nextafterf(near, -INFINITY) : near;
        o[3] = x < 0 ? o[1] : o[2];
    }
}

#define WHOLES(X)                                                                                  \
    X(char, 0) X(uchar, 1) X(short, 2) X(ushort, 3) X(int, 4) X(uint, 5) X(long, 6) X(ulong, 7)
#define WHOLE_CASES(T, i)                                                                          \
    static void case_to_##T(struct suite *s)                                                       \
    {                                                                                              \
        to_whole(s, &wholes[i]);                                                                   \
    }                                                                                              \
    static void case_from_##T(struct suite *s)                                                     \
    {                                                                                              \
        from_whole(s, &wholes[i]);                                                                 \
    }
WHOLES(WHOLE_CASES)

/* ---- Functions: name, reference in double, range, tolerance in ulp, and absolute ---- */

static double exp10_of(double x)
{
    return pow(10.0, x);
}

static double rsqrt_of(double x)
{
    return 1.0 / sqrt(x);
}

static double recip_of(double x)
{
    return 1.0 / x;
}

static double divide_of(double x, double y)
{
    return x / y;
}

static double next_of(double x, double y)
{
    return (double)nextafterf((float)x, (float)y);
}

#define FUNCTIONS1(X)                                                                              \
    X(sin, sin, -100, 100, 4, 0)                                                                   \
    X(cos, cos, -100, 100, 4, 0)                                                                   \
    X(tan, tan, -10, 10, 5, 0)                                                                     \
    X(asin, asin, -1, 1, 4, 0)                                                                     \
    X(acos, acos, -1, 1, 4, 0)                                                                     \
    X(atan, atan, -50, 50, 5, 0)                                                                   \
    X(sinh, sinh, -20, 20, 4, 0)                                                                   \
    X(cosh, cosh, -20, 20, 4, 0)                                                                   \
    X(tanh, tanh, -5, 5, 5, 0)                                                                     \
    X(exp, exp, -80, 80, 3, 0)                                                                     \
    X(exp2, exp2, -120, 120, 3, 0)                                                                 \
    X(exp10, exp10_of, -30, 30, 3, 0)                                                              \
    X(expm1, expm1, -5, 5, 3, 0)                                                                   \
    X(log, log, 1e-6, 1000, 3, 0)                                                                  \
    X(log2, log2, 1e-6, 1000, 3, 0)                                                                \
    X(log10, log10, 1e-6, 1000, 3, 0)                                                              \
    X(log1p, log1p, -0.9, 10, 2, 0)                                                                \
    X(cbrt, cbrt, -1000, 1000, 2, 0)                                                               \
    X(rsqrt, rsqrt_of, 1e-6, 1e6, 2, 0)                                                            \
    X(erf, erf, -3, 3, 16, 0)                                                                      \
    X(erfc, erfc, -3, 3, 16, 0)                                                                    \
    X(tgamma, tgamma, 0.5, 20, 16, 0)                                                              \
    X(native_sin, sin, -3, 3, 0, 1e-3)                                                             \
    X(native_cos, cos, -3, 3, 0, 1e-3)                                                             \
    X(native_exp, exp, -10, 10, 64, 0)                                                             \
    X(native_log, log, 0.01, 100, 64, 1e-5)                                                        \
    X(native_sqrt, sqrt, 0, 1e6, 8, 0)                                                             \
    X(native_rsqrt, rsqrt_of, 1e-3, 1e6, 8, 0)                                                     \
    X(native_recip, recip_of, 0.01, 1e6, 8, 0)

#define FUNCTIONS2(X)                                                                              \
    X(pow, pow, 0.01, 8, 16, 0)                                                                    \
    X(atan2, atan2, -10, 10, 6, 0)                                                                 \
    X(hypot, hypot, -1000, 1000, 4, 0)                                                             \
    X(fmod, fmod, -50, 50, 0, 0)                                                                   \
    X(remainder, remainder, -50, 50, 0, 0)                                                         \
    X(nextafter, next_of, -50, 50, 0, 0)                                                           \
    X(native_divide, divide_of, 0.01, 1000, 8, 0)                                                  \
    X(native_powr, pow, 0.1, 6, 256, 0)

#define CASE1(name, f, low, high, ulps, near)                                                      \
    static void case_##name(struct suite *s)                                                       \
    {                                                                                              \
        suite_range(s, low, high);                                                                 \
        const float *a = suite_in(s, S_F32, s->n);                                                 \
        float *o = suite_out(s, S_F32, s->n, ulps);                                                \
        suite_absolute(s, o, near);                                                                \
        for (size_t i = 0; i < s->n; i++)                                                          \
            o[i] = (float)f((double)a[i]);                                                         \
    }
FUNCTIONS1(CASE1)

#define CASE2(name, f, low, high, ulps, near)                                                      \
    static void case_##name(struct suite *s)                                                       \
    {                                                                                              \
        suite_range(s, low, high);                                                                 \
        const float *a = suite_in(s, S_F32, s->n), *b = suite_in(s, S_F32, s->n);                  \
        float *o = suite_out(s, S_F32, s->n, ulps);                                                \
        suite_absolute(s, o, near);                                                                \
        for (size_t i = 0; i < s->n; i++)                                                          \
            o[i] = (float)f((double)a[i], (double)b[i]);                                           \
    }
FUNCTIONS2(CASE2)

static void case_parts(struct suite *s)
{
    suite_range(s, -100, 100);
    const float *a = suite_in(s, S_F32, s->n);
    float *o = suite_out(s, S_F32, 6 * s->n, 0);
    int32_t *whole = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 6) {
        int e;
        o[0] = modff(a[i], &o[1]);
        o[2] = frexpf(a[i], &e);
        whole[i] = e;
        o[3] = ldexpf(a[i], (int)i % 40 - 20);
        o[4] = fminf(a[i] - floorf(a[i]), 0x1.fffffep-1f);
        o[5] = logbf(a[i]);
    }
}

static void case_vectors(struct suite *s)
{
    const float *a = suite_in(s, S_F32, 4 * s->n), *b = suite_in(s, S_F32, 4 * s->n);
    float *o = suite_out(s, S_F32, 7 * s->n, 16);
    suite_absolute(s, o, 4e-4);
    for (size_t i = 0; i < s->n; i++, o += 7) {
        const float *x = a + 4 * i, *y = b + 4 * i;
        float t = (x[2] + 5.0f) / 10.0f;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        o[0] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3];
        for (int k = 0; k < 3; k++)
            o[1 + k] = x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3];
        o[4] = sqrtf(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        o[5] = hypotf(x[0] - y[2], x[1] - y[3]);
        o[6] = x[0] + (y[1] - x[0]) * 0.25f + t * t * (3 - 2 * t);
    }
}

#define WHOLE_ROWS(T, i)                                                                           \
    {"real_to_" #T, case_to_##T, NULL, NULL}, {"real_from_" #T, case_from_##T, NULL, NULL},
#define FUNCTION_ROW(name, f, low, high, ulps, near) {"math_" #name, case_##name, NULL, NULL},

static const struct suite_case cases[] = {
    {"real_basic", case_basic, NULL, NULL},
    {"real_round", case_round, NULL, NULL},
    {"real_divide", case_divide, NULL, NULL},
    {"real_compare", case_compare, NULL, NULL},
    WHOLES(WHOLE_ROWS) FUNCTIONS1(FUNCTION_ROW)
        FUNCTIONS2(FUNCTION_ROW){"math_parts", case_parts, NULL, NULL},
    {"math_vectors", case_vectors, NULL, NULL},
};

const struct suite_group suite_real = {"real", cases, SUITE_COUNT(cases)};
