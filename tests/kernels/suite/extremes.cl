/* SPDX-License-Identifier: MIT */
/*
 * Integers at the ends of their ranges: negated, as magnitudes, compared, chosen from, widened,
 * saturated. The compiler makes source modifiers and conditional modifiers of them. The same
 * expressions compiled as C are the reference (extremes.c includes this file).
 *
 * E(k, e): result k is e. T, U: the type and the unsigned one of its size. N: the negation of a,
 * in the type that C gives it where that is no overflow, else wrapped.
 *
 * Left out is what IGC 1.0.12504 compiles wrongly: add_sat of longs whose sum wraps to 0, rhadd of
 * ulongs, a product of chars cut to a char and compared with 0 (it looks at 16 bits), a negated
 * short or char cut to its type and compared (docs/eu.md, modifiers).
 */
#define SUM_IS_0(U) (sizeof(U) == 8 && (U)((U)a + (U)b) == 0)
#define EXTREMES_NEG(T, U, N)                                                                      \
    E(0, (N) == b)                                                                                 \
    E(1, (N) != b)                                                                                 \
    E(2, (N) < b)                                                                                  \
    E(3, (N) <= b)                                                                                 \
    E(4, (N) > b)                                                                                  \
    E(5, b <= (N))                                                                                 \
    E(6, (N) < b ? (N) : b)                                                                        \
    E(7, (N) < b ? b : (N))
#define EXTREMES_ABS(T, U, N)                                                                      \
    E(0, abs(a) == b)                                                                              \
    E(1, (T)abs(a) == b)                                                                           \
    E(2, (T)abs(a) < b)                                                                            \
    E(3, b > (T)abs(a))                                                                            \
    E(4, (T)abs(a) >= b)                                                                           \
    E(5, abs(a) < (U)b)                                                                            \
    E(6, min((T)abs(a), b))                                                                        \
    E(7, max((T)abs(a), b))
#define EXTREMES_NABS(T, U, N)                                                                     \
    E(0, (U)((U)0 - (U)abs(a)) > (U)b)                                                             \
    E(1, (T)((U)0 - (U)abs(a)) < b)                                                                \
    E(2, (T)((U)0 - (U)abs(a)) >= b)                                                               \
    E(3, min((T)((U)0 - (U)abs(a)), b))                                                            \
    E(4, max(b, (T)((U)0 - (U)abs(a))))                                                            \
    E(5, as_uint((float)(T)((U)0 - (U)abs(a))))                                                    \
    E(6, abs(a) != (U)b)                                                                           \
    E(7, abs(b) >= abs(a))
#define EXTREMES_WIDE(T, U, N)                                                                     \
    E(0, (N))                                                                                      \
    E(1, (ulong)(N) + (ulong)b)                                                                    \
    E(2, (ulong)b - (ulong)(N))                                                                    \
    E(3, (ulong)b - (ulong)a)                                                                      \
    E(4, (T)abs(a))                                                                                \
    E(5, (ulong)(long)(T)abs(a) + (ulong)b)                                                        \
    E(6, (ulong)abs(a) - (ulong)b)                                                                 \
    E(7, (ulong)b *(ulong)(N))
#define EXTREMES_FLOAT(T, U, N)                                                                    \
    E(0, as_uint((float)(N)))                                                                      \
    E(1, as_uint((float)(T)abs(a)))                                                                \
    E(2, as_uint((float)abs(a)))                                                                   \
    E(3, as_uint(-(float)a))                                                                       \
    E(4, as_uint((float)b - (float)a))                                                             \
    E(5, as_uint(fabs((float)a)))                                                                  \
    E(6, (float)a < (float)b)                                                                      \
    E(7, as_uint((float)abs_diff(a, b)))
#define EXTREMES_SAT(T, U, N)                                                                      \
    E(0, SUM_IS_0(U) ? 0 : add_sat(a, b))                                                          \
    E(1, sub_sat(a, b))                                                                            \
    E(2, sub_sat(b, (T)abs(a)))                                                                    \
    E(3, SUM_IS_0(U) ? 0 : add_sat((T)abs(a), b))                                                  \
    E(4, convert_char_sat(a))                                                                      \
    E(5, convert_ushort_sat(a))                                                                    \
    E(6, convert_uint_sat(b))                                                                      \
    E(7, convert_short_sat(b))
#define EXTREMES_MORE(T, U, N)                                                                     \
    E(0, mul_hi(a, b))                                                                             \
    E(1, abs_diff(a, b))                                                                           \
    E(2, hadd(a, b))                                                                               \
    E(3, rhadd((T)(a >> 1), (T)(b >> 1)))                                                          \
    E(4, (T)abs(a) >> (b & 7))                                                                     \
    E(5, (N) >> (b & 7))                                                                           \
    E(6, a >> (b & 3))                                                                             \
    E(7, (U)abs(a) >> (b & 7))
/* comparisons with zero of what was cut to its type: the compiler folds them into the operation */
#define EXTREMES_ZERO(T, U, N)                                                                     \
    T sum = (T)((U)a + (U)b), difference = (T)((U)a - (U)b);                                       \
    T product = sizeof(T) == 1 ? b : (T)((uint)a * (uint)b);                                       \
    T shifted = (T)((U)a << (b & 7));                                                              \
    E(0, sum < 0 ? sum : 17)                                                                       \
    E(1, difference < 0 ? 17 : difference)                                                         \
    E(2, product == 0 ? 17 : product)                                                              \
    E(3, product < 0 ? product : 17)                                                               \
    E(4, shifted > 0 ? shifted : 17)                                                               \
    E(5, difference == 0 ? 17 : difference)                                                        \
    E(6, difference != 0 ? 17 : b)                                                                 \
    E(7, (T)(a & b) == 0 ? 17 : (T)(a & b))

#define EXTREMES_TYPE(X, T, U, N)                                                                  \
    X(T, U, N, NEG)                                                                                \
    X(T, U, N, ABS)                                                                                \
    X(T, U, N, NABS)                                                                               \
    X(T, U, N, WIDE)                                                                               \
    X(T, U, N, FLOAT)                                                                              \
    X(T, U, N, SAT)                                                                                \
    X(T, U, N, MORE)                                                                               \
    X(T, U, N, ZERO)
#define EXTREMES_ALL(X)                                                                            \
    EXTREMES_TYPE(X, char, uchar, -a)                                                              \
    EXTREMES_TYPE(X, uchar, uchar, -a)                                                             \
    EXTREMES_TYPE(X, short, ushort, -a)                                                            \
    EXTREMES_TYPE(X, ushort, ushort, -a)                                                           \
    EXTREMES_TYPE(X, int, uint, (int)(0 - (uint)a))                                                \
    EXTREMES_TYPE(X, uint, uint, -(long)a)                                                         \
    EXTREMES_TYPE(X, long, ulong, (long)(0 - (ulong)a))                                            \
    EXTREMES_TYPE(X, ulong, ulong, 0 - a)

#ifdef __OPENCL_VERSION__
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define E(k, e) out[(k)*n + i] = (long)(e);
#define DEFINE(T, U, N, set)                                                                       \
    KERNEL void extremes_##T##_##set(global const T *x, global const T *y, global long *out)       \
    {                                                                                              \
        size_t i = get_global_id(0), n = get_global_size(0);                                       \
        T a = x[i], b = y[i];                                                                      \
        EXTREMES_##set(T, U, N)                                                                    \
    }
EXTREMES_ALL(DEFINE)
#endif
