/* SPDX-License-Identifier: MIT */
/* Integers at the ends of their ranges: the kernels' expressions as C. */
#include "suite.h"

#pragma GCC diagnostic ignored "-Wsign-compare" /* that is what is tested */
#pragma GCC diagnostic ignored "-Wtype-limits"

#define COUNT 8 /* results of a case */

typedef unsigned char uchar;
typedef __int128 wide;

static wide clamped(wide v, wide low, wide high)
{
    return v < low ? low : v > high ? high : v;
}

/* OpenCL C's functions of one type */
#define FUNCTIONS(T, U, LOW, HIGH)                                                                 \
    static U abs_##T(T a)                                                                          \
    {                                                                                              \
        return (U)(a < 0 ? -(wide)a : (wide)a);                                                    \
    }                                                                                              \
    static U abs_diff_##T(T a, T b)                                                                \
    {                                                                                              \
        return (U)(a > b ? (wide)a - b : (wide)b - a);                                             \
    }                                                                                              \
    static T min_##T(T a, T b)                                                                     \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static T max_##T(T a, T b)                                                                     \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }                                                                                              \
    static T add_sat_##T(T a, T b)                                                                 \
    {                                                                                              \
        return (T)clamped((wide)a + b, LOW, HIGH);                                                 \
    }                                                                                              \
    static T sub_sat_##T(T a, T b)                                                                 \
    {                                                                                              \
        return (T)clamped((wide)a - b, LOW, HIGH);                                                 \
    }                                                                                              \
    static T mul_hi_##T(T a, T b)                                                                  \
    {                                                                                              \
        return (T)((wide)a * b >> 8 * sizeof(T));                                                  \
    }                                                                                              \
    static T hadd_##T(T a, T b)                                                                    \
    {                                                                                              \
        return (T)(((wide)a + b) >> 1);                                                            \
    }                                                                                              \
    static T rhadd_##T(T a, T b)                                                                   \
    {                                                                                              \
        return (T)(((wide)a + b + 1) >> 1);                                                        \
    }
FUNCTIONS(char, uchar, INT8_MIN, INT8_MAX)
FUNCTIONS(uchar, uchar, 0, UINT8_MAX)
FUNCTIONS(short, ushort, INT16_MIN, INT16_MAX)
FUNCTIONS(ushort, ushort, 0, UINT16_MAX)
FUNCTIONS(int, uint, INT32_MIN, INT32_MAX)
FUNCTIONS(uint, uint, 0, UINT32_MAX)
FUNCTIONS(long, ulong, INT64_MIN, INT64_MAX)
FUNCTIONS(ulong, ulong, 0, UINT64_MAX)

#define BY_TYPE(v, f)                                                                              \
    _Generic((v), char                                                                             \
             : f##_char, uchar                                                                     \
             : f##_uchar, short                                                                    \
             : f##_short, ushort                                                                   \
             : f##_ushort, int                                                                     \
             : f##_int, uint                                                                       \
             : f##_uint, long                                                                      \
             : f##_long, ulong                                                                     \
             : f##_ulong)
#define abs(a)                BY_TYPE(a, abs)(a)
#define abs_diff(a, b)        BY_TYPE(a, abs_diff)(a, b)
#define min(a, b)             BY_TYPE(b, min)(a, b)
#define max(a, b)             BY_TYPE(b, max)(a, b)
#define add_sat(a, b)         BY_TYPE(b, add_sat)(a, b)
#define sub_sat(a, b)         BY_TYPE(b, sub_sat)(a, b)
#define mul_hi(a, b)          BY_TYPE(a, mul_hi)(a, b)
#define hadd(a, b)            BY_TYPE(a, hadd)(a, b)
#define rhadd(a, b)           BY_TYPE(a, rhadd)(a, b)
#define convert_char_sat(a)   clamped(a, INT8_MIN, INT8_MAX)
#define convert_short_sat(a)  clamped(a, INT16_MIN, INT16_MAX)
#define convert_ushort_sat(a) clamped(a, 0, UINT16_MAX)
#define convert_uint_sat(a)   clamped(a, 0, UINT32_MAX)

static uint as_uint(float f)
{
    uint bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

#include "../../kernels/suite/extremes.cl"

/* Every pair of these, at the size of the type; then random ones. */
static const int64_t ends[] = {
    0, 1, 2, -1, -2, 5, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 1L << 62, -77,
};

static const void *arg(struct suite *s, enum suite_type type, size_t step)
{
    size_t size_B = suite_type_size(type);
    uint8_t *values = suite_in(s, type, s->n);

    for (size_t i = 0; i < s->n && i < SUITE_COUNT(ends) * SUITE_COUNT(ends); i++) {
        int64_t end = ends[i / step % SUITE_COUNT(ends)];
        if (end > 1000 || end < -1000) /* its upper bits, and the lowest one */
            end = end >> (64 - 8 * size_B) | (end & 1);
        memcpy(values + i * size_B, &end, size_B);
    }
    suite_upload(s, values);
    return values;
}

#define TYPE(T)                                                                                    \
    _Generic((T)0, char                                                                            \
             : S_I8, uchar                                                                         \
             : S_U8, short                                                                         \
             : S_I16, ushort                                                                       \
             : S_U16, int                                                                          \
             : S_I32, uint                                                                         \
             : S_U32, long                                                                         \
             : S_I64, ulong                                                                        \
             : S_U64)
#define E(k, e) out[(k)*n + i] = (long)(e);
#define DEFINE(T, U, N, set)                                                                       \
    static void case_##T##_##set(struct suite *s)                                                  \
    {                                                                                              \
        const T *x = arg(s, TYPE(T), 1), *y = arg(s, TYPE(T), SUITE_COUNT(ends));                  \
        size_t n = s->n;                                                                           \
        int64_t *out = suite_out(s, S_I64, COUNT * n, 0);                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            T a = x[i], b = y[i];                                                                  \
            EXTREMES_##set(T, U, N)                                                                \
        }                                                                                          \
    }
EXTREMES_ALL(DEFINE)

static const struct suite_shape shapes[] = {{{1}, {192}}, {{5}, {37}}, {{0}, {0}}};

#define ROW(T, U, N, set) {"extremes_" #T "_" #set, case_##T##_##set, shapes},
static const struct suite_case cases[] = {EXTREMES_ALL(ROW)};

/*
 * On pvc, from Xe2 on on all, the compiler takes (float)(char)abs(a) for (float)abs(a). IGC 2.40's
 * sub_sat of longs is wrong where the difference is 2^63.
 */
const struct suite_group suite_extremes = {
    "extremes", cases, SUITE_COUNT(cases),
    .not_in = "pvc:extremes_char_FLOAT igc2:pvc:extremes_char_FLOAT igc2:bmg:extremes_char_FLOAT "
              "igc2:lnl:extremes_char_FLOAT igc2:ptl:extremes_char_FLOAT igc2:extremes_long_SAT"};
