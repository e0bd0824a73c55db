/* SPDX-License-Identifier: MIT */
/*
 * Eight lanes at a time, with the vector extensions of gcc and clang.
 *
 * The interpreter works in chunks of eight lanes of any type. Plain operators do most of the work;
 * what they cannot say (masks, fused multiply-add, half floats) has an x86 form for AVX2 and one
 * for x86-64-v2. Both give the same bits.
 */
#ifndef ZS_EU_LANES_H
#define ZS_EU_LANES_H

#include "base/compiler.h"
#include "eu/exec/scalars.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* arrays of parts live in registers only where their indices are constants */
#define LANES_UNROLL _Pragma("GCC unroll 8")
#define LANES_FN     static inline __attribute__((always_inline, unused))

/*
 * Of each type: the vector; that of unsigned integers of the same width, for blends; and one value
 * in all lanes, as integers, since adding a zero would change -0 and NaNs. (gcc builds vectors that
 * are wider than the host's from a list of elements through the stack, and then waits for its
 * stores.)
 */
#define LANES_TYPE(T, U)                                                                           \
    typedef T T##x8 __attribute__((vector_size(8 * sizeof(T))));                                   \
    typedef U##x8 LANES_BITS_##T;                                                                  \
    LANES_FN T##x8 lanes_splat_##T(T x)                                                            \
    {                                                                                              \
        LANES_BITS_##T bits = {0};                                                                 \
        U one;                                                                                     \
        memcpy(&one, &x, sizeof(one));                                                             \
        return (T##x8)(bits + one);                                                                \
    }
LANES_TYPE(u8, u8)
LANES_TYPE(s8, u8)
LANES_TYPE(u16, u16)
LANES_TYPE(s16, u16)
LANES_TYPE(u32, u32)
LANES_TYPE(s32, u32)
LANES_TYPE(f32, u32)
LANES_TYPE(u64, u64)
LANES_TYPE(s64, u64)
LANES_TYPE(f64, u64)
#undef LANES_TYPE

/* mask: all ones or all zeros per lane */
#define LANES_PICK(T, mask, yes, no)                                                               \
    ((T##x8)(((LANES_BITS_##T)(yes) & (LANES_BITS_##T)(mask)) |                                    \
             ((LANES_BITS_##T)(no) & ~(LANES_BITS_##T)(mask))))
#define LANES_SPLAT(T, x)      ((T##x8){0} + (T)(x))
#define LANES_SPLAT_BITS(T, x) lanes_splat_##T(x)

/*
 * Comparisons: all ones or all zeros per lane. Arithmetic on vectors wider than the host's is done
 * in pieces by the compiler, but gcc takes comparisons of them apart lane by lane: hand it pieces
 * of the host's width. Never compare vectors with plain operators.
 */
#ifdef __AVX2__
enum { LANES_HOST_B = 32 };
#else
enum { LANES_HOST_B = 16 };
#endif
#define LANES_HOST_TYPE(T) typedef T T##xhost __attribute__((vector_size(LANES_HOST_B)))
LANES_HOST_TYPE(u32);
LANES_HOST_TYPE(s32);
LANES_HOST_TYPE(f32);
LANES_HOST_TYPE(u64);
LANES_HOST_TYPE(s64);
LANES_HOST_TYPE(f64);
#undef LANES_HOST_TYPE
/* gcc keeps such arrays in registers, and joins parts of vectors by shuffles one by one. */
#define LANES_COMPARE_ONE(T, name, op)                                                             \
    LANES_FN LANES_BITS_##T lanes_##name##_##T(T##x8 a, T##x8 b)                                   \
    {                                                                                              \
        return (LANES_BITS_##T)(a op b);                                                           \
    }
#define LANES_COMPARE_PARTS(T, name, op)                                                           \
    LANES_FN LANES_BITS_##T lanes_##name##_##T(T##x8 a, T##x8 b)                                   \
    {                                                                                              \
        enum { PARTS = sizeof(a) / LANES_HOST_B };                                                 \
        T##xhost x[PARTS], y[PARTS];                                                               \
        memcpy(x, &a, sizeof(a));                                                                  \
        memcpy(y, &b, sizeof(b));                                                                  \
        LANES_UNROLL for (int i = 0; i < PARTS; i++) x[i] = (T##xhost)(x[i] op y[i]);              \
        LANES_BITS_##T r;                                                                          \
        memcpy(&r, x, sizeof(r));                                                                  \
        return r;                                                                                  \
    }
#define LANES_COMPARE(T, how)                                                                      \
    LANES_COMPARE_##how(T, eq, ==) LANES_COMPARE_##how(T, ne, !=) LANES_COMPARE_##how(T, lt, <)    \
        LANES_COMPARE_##how(T, le, <=) LANES_COMPARE_##how(T, gt, >)                               \
            LANES_COMPARE_##how(T, ge, >=)
LANES_COMPARE(u8, ONE)
LANES_COMPARE(u16, ONE)
LANES_COMPARE(s16, ONE)
LANES_COMPARE(u32, PARTS)
LANES_COMPARE(s32, PARTS)
LANES_COMPARE(f32, PARTS)
#ifdef __AVX512F__
LANES_COMPARE(u64, ONE)
LANES_COMPARE(s64, ONE)
LANES_COMPARE(f64, ONE)
#else
LANES_COMPARE(u64, PARTS)
LANES_COMPARE(s64, PARTS)
LANES_COMPARE(f64, PARTS)
#endif
#undef LANES_COMPARE
/* With a number. */
#define LANES_IS(T, name, v, x) lanes_##name##_##T((v), LANES_SPLAT_BITS(T, (x)))

/* Lane masks from the low eight bits of a word. */
#define LANES_MASK(T, U)                                                                           \
    LANES_FN U##x8 lanes_mask_##T(uint32_t bits)                                                   \
    {                                                                                              \
        const U##x8 lanes = {1, 2, 4, 8, 16, 32, 64, 128};                                         \
        U low = (U)bits;                                                                           \
        return lanes_eq_##U(LANES_SPLAT_BITS(U, low) & lanes, lanes);                              \
    }
LANES_MASK(u8, u8)
LANES_MASK(s8, u8)
LANES_MASK(u16, u16)
LANES_MASK(s16, u16)
LANES_MASK(u32, u32)
LANES_MASK(s32, u32)
LANES_MASK(f32, u32)
LANES_MASK(u64, u64)
LANES_MASK(s64, u64)
LANES_MASK(f64, u64)
#undef LANES_MASK

/* One bit per lane from lane masks. */
LANES_FN uint32_t lanes_bits_u32(u32x8 mask)
{
#ifdef __AVX2__
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
#else
    __m128 half[2];
    memcpy(half, &mask, sizeof(half));
    return (uint32_t)(_mm_movemask_ps(half[0]) | _mm_movemask_ps(half[1]) << 4);
#endif
}
LANES_FN uint32_t lanes_bits_u64(u64x8 mask)
{
#ifdef __AVX2__
    __m256d half[2];
    memcpy(half, &mask, sizeof(half));
    return (uint32_t)(_mm256_movemask_pd(half[0]) | _mm256_movemask_pd(half[1]) << 4);
#else
    __m128d part[4];
    memcpy(part, &mask, sizeof(part));
    return (uint32_t)(_mm_movemask_pd(part[0]) | _mm_movemask_pd(part[1]) << 2 |
                      _mm_movemask_pd(part[2]) << 4 | _mm_movemask_pd(part[3]) << 6);
#endif
}
#define LANES_TO_BITS_u32 lanes_bits_u32
#define LANES_TO_BITS_s32 lanes_bits_u32
#define LANES_TO_BITS_f32 lanes_bits_u32
#define LANES_TO_BITS_u64 lanes_bits_u64
#define LANES_TO_BITS_s64 lanes_bits_u64
#define LANES_TO_BITS_f64 lanes_bits_u64

/*
 * a * b + c, rounded once, where the host has no such operation. The product is exact in double.
 * The sum is rounded to odd as a double, which keeps what the second rounding needs.
 */
typedef f64 f64x2 __attribute__((vector_size(16)));
typedef u64 u64x2 __attribute__((vector_size(16)));
typedef s64 s64x2 __attribute__((vector_size(16)));

#ifndef __FMA__
/* sum is product + c, rounded somehow: move it to the odd neighbour where it is not exact. */
LANES_FN f64x2 lanes_round_to_odd(f64x2 product, f64x2 c, f64x2 sum)
{
    const u64x2 magnitude = {INT64_MAX, INT64_MAX}, one = {1, 1};
    u64x2 swap = (u64x2)((s64x2)((u64x2)c & magnitude) > (s64x2)((u64x2)product & magnitude));
    u64x2 exchange = ((u64x2)c ^ (u64x2)product) & swap;
    f64x2 large = (f64x2)((u64x2)product ^ exchange), small = (f64x2)((u64x2)c ^ exchange);
    /* with the large operand first the rest has the right sign in every rounding mode */
    f64x2 rest = small - (sum - large);
    u64x2 inexact = (u64x2)((rest > 0) | (rest < 0)); /* not where the sum is infinite or a NaN */
    u64x2 even = ((u64x2)sum & one) - one;
    u64x2 outwards = (u64x2)((rest > 0) == (sum > 0)); /* the exact sum is farther from 0 */
    u64x2 step = one | ~outwards;                      /* 1 or -1 */
    return (f64x2)((u64x2)sum + (step & inexact & even));
}
LANES_FN f32x8 lanes_fma_odd(f32x8 a, f32x8 b, f32x8 c)
{
    f32x8 r;
    for (int i = 0; i < 8; i += 2) {
        f64x2 x = {(f64)a[i], (f64)a[i + 1]}, y = {(f64)b[i], (f64)b[i + 1]};
        f64x2 z = {(f64)c[i], (f64)c[i + 1]}, product = x * y;
        f64x2 sum = lanes_round_to_odd(product, z, product + z);
        r[i] = (f32)sum[0];
        r[i + 1] = (f32)sum[1];
    }
    return r;
}
#endif

LANES_FN f32x8 lanes_fma_f32(f32x8 a, f32x8 b, f32x8 c)
{
#ifdef __FMA__
    return (f32x8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return lanes_fma_odd(a, b, c);
#endif
}
LANES_FN f64x8 lanes_fma_f64(f64x8 a, f64x8 b, f64x8 c)
{
#ifdef __AVX512F__
    return (f64x8)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    __m256d av[2], bv[2], cv[2];
    memcpy(av, &a, sizeof(av));
    memcpy(bv, &b, sizeof(bv));
    memcpy(cv, &c, sizeof(cv));
    av[0] = _mm256_fmadd_pd(av[0], bv[0], cv[0]);
    av[1] = _mm256_fmadd_pd(av[1], bv[1], cv[1]);
    f64x8 r;
    memcpy(&r, av, sizeof(r));
    return r;
#else
    f64x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = fma(a[i], b[i], c[i]);
    return r;
#endif
}

LANES_FN f32x8 lanes_sqrt_f32(f32x8 a)
{
#ifdef __AVX2__
    return (f32x8)_mm256_sqrt_ps((__m256)a);
#else
    __m128 half[2];
    memcpy(half, &a, sizeof(half));
    half[0] = _mm_sqrt_ps(half[0]);
    half[1] = _mm_sqrt_ps(half[1]);
    f32x8 r;
    memcpy(&r, half, sizeof(r));
    return r;
#endif
}
LANES_FN f64x8 lanes_sqrt_f64(f64x8 a)
{
    f64x8 r;
#ifdef __AVX2__
    __m256d part[2];
    memcpy(part, &a, sizeof(part));
    LANES_UNROLL for (int i = 0; i < 2; i++) part[i] = _mm256_sqrt_pd(part[i]);
#else
    __m128d part[4];
    memcpy(part, &a, sizeof(part));
    LANES_UNROLL for (int i = 0; i < 4; i++) part[i] = _mm_sqrt_pd(part[i]);
#endif
    memcpy(&r, part, sizeof(r));
    return r;
}

/* mode: an _MM_FROUND_* constant */
#ifdef __AVX2__
#define LANES_ROUND_F32(a, mode) ((f32x8)_mm256_round_ps((__m256)(a), (mode) | _MM_FROUND_NO_EXC))
#else
#define LANES_ROUND_F32(a, mode)                                                                   \
    __extension__({                                                                                \
        __m128 half_[2];                                                                           \
        f32x8 in_ = (a), out_;                                                                     \
        memcpy(half_, &in_, sizeof(half_));                                                        \
        half_[0] = _mm_round_ps(half_[0], (mode) | _MM_FROUND_NO_EXC);                             \
        half_[1] = _mm_round_ps(half_[1], (mode) | _MM_FROUND_NO_EXC);                             \
        memcpy(&out_, half_, sizeof(out_));                                                        \
        out_;                                                                                      \
    })
#endif
#ifdef __AVX2__
#define LANES_ROUND_PART(part, mode) _mm256_round_pd((part), (mode) | _MM_FROUND_NO_EXC)
typedef __m256d lanes_part_f64;
#else
#define LANES_ROUND_PART(part, mode) _mm_round_pd((part), (mode) | _MM_FROUND_NO_EXC)
typedef __m128d lanes_part_f64;
#endif
#ifdef __AVX512F__
#define LANES_ROUND_F64(a, mode)                                                                   \
    ((f64x8)_mm512_roundscale_pd((__m512d)(a), (mode) | _MM_FROUND_NO_EXC))
#else
#define LANES_ROUND_F64(a, mode)                                                                   \
    __extension__({                                                                                \
        lanes_part_f64 part_[64 / LANES_HOST_B];                                                   \
        f64x8 in_ = (a), out_;                                                                     \
        memcpy(part_, &in_, sizeof(part_));                                                        \
        LANES_UNROLL for (int i_ = 0; i_ < 64 / LANES_HOST_B; i_++) part_[i_] =                    \
            LANES_ROUND_PART(part_[i_], mode);                                                     \
        memcpy(&out_, part_, sizeof(out_));                                                        \
        out_;                                                                                      \
    })
#endif

/* Bit a + 2 * b + 4 * c of `function`, for each bit. */
static inline u32x8 lanes_bfn(u32x8 a, u32x8 b, u32x8 c, uint32_t function)
{
    u32x8 part[4];

    for (unsigned i = 0; i < 4; i++) {
        uint32_t if_0 = function >> 2 * i & 1 ? UINT32_MAX : 0;
        uint32_t if_1 = function >> (2 * i + 1) & 1 ? UINT32_MAX : 0;
        part[i] = (~a & if_0) | (a & if_1);
    }
    return (~c & ((~b & part[0]) | (b & part[1]))) | (c & ((~b & part[2]) | (b & part[3])));
}

/* The sum of the products of four bytes. */
static inline u32x8 lanes_dot4(u32x8 a, u32x8 b, bool a_is_signed, bool b_is_signed)
{
    s32x8 sum = {0};

    for (unsigned i = 0; i < 4; i++) {
        u32x8 x = a << (24 - 8 * i), y = b << (24 - 8 * i);
        sum += (a_is_signed ? (s32x8)x >> 24 : (s32x8)(x >> 24)) *
               (b_is_signed ? (s32x8)y >> 24 : (s32x8)(y >> 24));
    }
    return (u32x8)sum;
}

#endif
