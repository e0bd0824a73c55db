/* SPDX-License-Identifier: MIT */
/*
 * Eight lanes at a time, with the vector extensions of gcc and clang.
 *
 * The interpreter works in chunks of eight lanes of any type. Plain operators do most of the work;
 * what they cannot say (masks, fused multiply-add, half floats) has an x86 form for AVX2 and one
 * for x86-64-v2. Both give the same bits. (A build for AVX-512 was measured and is no faster:
 * most operations are bound by dispatch, not by arithmetic.)
 */
#ifndef ZS_EU_LANES_H
#define ZS_EU_LANES_H

#include "base/compiler.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

#define ZS_LANES_TYPE(t) typedef t t##x8 __attribute__((vector_size(8 * sizeof(t))))
ZS_LANES_TYPE(u8);
ZS_LANES_TYPE(s8);
ZS_LANES_TYPE(u16);
ZS_LANES_TYPE(s16);
ZS_LANES_TYPE(u32);
ZS_LANES_TYPE(s32);
ZS_LANES_TYPE(u64);
ZS_LANES_TYPE(s64);
ZS_LANES_TYPE(f32);
ZS_LANES_TYPE(f64);
#undef ZS_LANES_TYPE

#define LANES_FN static inline __attribute__((always_inline, unused))

/* Unsigned integers of the same lane width: for blends. */
#define LANES_BITS_u8  u8x8
#define LANES_BITS_s8  u8x8
#define LANES_BITS_u16 u16x8
#define LANES_BITS_s16 u16x8
#define LANES_BITS_u32 u32x8
#define LANES_BITS_s32 u32x8
#define LANES_BITS_f32 u32x8
#define LANES_BITS_u64 u64x8
#define LANES_BITS_s64 u64x8
#define LANES_BITS_f64 u64x8

/* mask: all ones or all zeros per lane */
#define LANES_PICK(T, mask, yes, no)                                                               \
    ((T##x8)(((LANES_BITS_##T)(yes) & (LANES_BITS_##T)(mask)) |                                    \
             ((LANES_BITS_##T)(no) & ~(LANES_BITS_##T)(mask))))
#define LANES_SPLAT(T, x) ((T##x8){0} + (T)(x))
/* Floats: adding a zero would change -0 and NaNs, so spell it out. */
#define LANES_SPLAT_BITS(T, x) ((T##x8){(x), (x), (x), (x), (x), (x), (x), (x)})

/* Lane masks from the low eight bits of a word. */
LANES_FN u32x8 lanes_mask_u32(uint32_t bits)
{
    u32x8 v = LANES_SPLAT_BITS(u32, bits);
    return (u32x8)((v & (u32x8){1, 2, 4, 8, 16, 32, 64, 128}) != 0);
}
LANES_FN u64x8 lanes_mask_u64(uint32_t bits)
{
    u64x8 v = LANES_SPLAT_BITS(u64, bits);
    return (u64x8)((v & (u64x8){1, 2, 4, 8, 16, 32, 64, 128}) != 0);
}
LANES_FN u16x8 lanes_mask_u16(uint32_t bits)
{
    u16 low = (u16)bits;
    u16x8 v = LANES_SPLAT_BITS(u16, low);
    return (u16x8)((v & (u16x8){1, 2, 4, 8, 16, 32, 64, 128}) != 0);
}
LANES_FN u8x8 lanes_mask_u8(uint32_t bits)
{
    u8 low = (u8)bits;
    u8x8 v = LANES_SPLAT_BITS(u8, low);
    return (u8x8)((v & (u8x8){1, 2, 4, 8, 16, 32, 64, 128}) != 0);
}
#define LANES_MASK_u8  lanes_mask_u8
#define LANES_MASK_s8  lanes_mask_u8
#define LANES_MASK_u16 lanes_mask_u16
#define LANES_MASK_s16 lanes_mask_u16
#define LANES_MASK_u32 lanes_mask_u32
#define LANES_MASK_s32 lanes_mask_u32
#define LANES_MASK_f32 lanes_mask_u32
#define LANES_MASK_u64 lanes_mask_u64
#define LANES_MASK_s64 lanes_mask_u64
#define LANES_MASK_f64 lanes_mask_u64

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
LANES_FN uint32_t lanes_bits_u16(u16x8 mask)
{
    __m128i v = _mm_packs_epi16((__m128i)mask, _mm_setzero_si128());
    return (uint32_t)_mm_movemask_epi8(v);
}
#define LANES_TO_BITS_u16 lanes_bits_u16
#define LANES_TO_BITS_s16 lanes_bits_u16
#define LANES_TO_BITS_u32 lanes_bits_u32
#define LANES_TO_BITS_s32 lanes_bits_u32
#define LANES_TO_BITS_f32 lanes_bits_u32
#define LANES_TO_BITS_u64 lanes_bits_u64
#define LANES_TO_BITS_s64 lanes_bits_u64
#define LANES_TO_BITS_f64 lanes_bits_u64

/* a * b + c, rounded once. */
LANES_FN f32x8 lanes_fma_f32(f32x8 a, f32x8 b, f32x8 c)
{
#ifdef __FMA__
    return (f32x8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    f32x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = fmaf(a[i], b[i], c[i]);
    return r;
#endif
}
LANES_FN f64x8 lanes_fma_f64(f64x8 a, f64x8 b, f64x8 c)
{
#ifdef __FMA__
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
    __m128d part[4];
    memcpy(part, &a, sizeof(part));
    for (int i = 0; i < 4; i++)
        part[i] = _mm_sqrt_pd(part[i]);
    f64x8 r;
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
#define LANES_ROUND_F64(a, mode)                                                                   \
    __extension__({                                                                                \
        __m128d part_[4];                                                                          \
        f64x8 in_ = (a), out_;                                                                     \
        memcpy(part_, &in_, sizeof(part_));                                                        \
        for (int i_ = 0; i_ < 4; i_++)                                                             \
            part_[i_] = _mm_round_pd(part_[i_], (mode) | _MM_FROUND_NO_EXC);                       \
        memcpy(&out_, part_, sizeof(out_));                                                        \
        out_;                                                                                      \
    })

#endif
