/* SPDX-License-Identifier: MIT */
/*
 * Functions of eight lanes that sem.def uses: conversions, bit tricks, integer division, half
 * floats, transcendental functions.
 *
 * log2, exp2, sin, cos and pow work in double with polynomials whose error is far below half a
 * unit in the last place of a float, and without fused operations: every build gives the same
 * bits, nearly always the correctly rounded ones.
 */
#ifndef ZS_EU_LANES_MATH_H
#define ZS_EU_LANES_MATH_H

#include "base/small_float.h"
#include "eu/exec/lanes.h"

#define LANES_CONVERT(T, x) __builtin_convertvector((x), T##x8)
#define LANES_CLAMP(T, x, lo, hi)                                                                  \
    LANES_PICK(T, LANES_IS(T, lt, (x), (lo)), LANES_SPLAT(T, (lo)),                                \
               LANES_PICK(T, LANES_IS(T, gt, (x), (hi)), LANES_SPLAT(T, (hi)), (x)))

enum { LANES_CR0_ROUND_TO_INT = 1 << 12, LANES_CR0_KEEP_F16 = 1 << 10 };

/* ---- bits ---- */

LANES_FN u32x8 lanes_bfrev(u32x8 a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}
LANES_FN u32x8 lanes_rol_u32(u32x8 a, u32x8 b)
{
    return a << (b & 31) | a >> (-b & 31);
}
LANES_FN u32x8 lanes_ror_u32(u32x8 a, u32x8 b)
{
    return a >> (b & 31) | a << (-b & 31);
}
LANES_FN u32x8 lanes_lzd(u32x8 a)
{
    u32x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = a[i] ? (u32)__builtin_clz(a[i]) : 32;
    return r;
}
/* Leading zeros, or leading sign bits; nothing found: all ones. */
LANES_FN u32x8 lanes_fbh(u32x8 a, int is_signed)
{
    if (is_signed)
        a = a ^ (u32x8)((s32x8)a >> 31);
    u32x8 r = lanes_lzd(a);
    return LANES_PICK(u32, LANES_IS(u32, eq, a, 0), LANES_SPLAT(u32, -1), r);
}
LANES_FN u32x8 lanes_fbl(u32x8 a)
{
    u32x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = a[i] ? (u32)__builtin_ctz(a[i]) : UINT32_MAX;
    return r;
}
LANES_FN u32x8 lanes_cbit(u32x8 a)
{
    a = a - (a >> 1 & 0x55555555u);
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    return a * 0x01010101u >> 24;
}
LANES_FN u32x8 lanes_bfe(u32x8 width, u32x8 offset, u32x8 field, int is_signed)
{
    u32x8 w = width & 31, o = offset & 31;
    u32x8 up = (32 - w - o) & 31; /* used where w + o < 32 */
    u32x8 down = (32 - w) & 31;
    u32x8 inside = is_signed ? (u32x8)((s32x8)(field << up) >> (s32x8)down) : field << up >> down;
    u32x8 beyond = is_signed ? (u32x8)((s32x8)field >> (s32x8)o) : field >> o;
    u32x8 r = LANES_PICK(u32, LANES_IS(u32, lt, w + o, 32), inside, beyond);
    return LANES_PICK(u32, LANES_IS(u32, eq, w, 0), LANES_SPLAT(u32, 0), r);
}
LANES_FN u32x8 lanes_bfi2(u32x8 mask, u32x8 insert, u32x8 base)
{
    u32x8 shift = lanes_fbl(mask) & 31;
    return (insert << shift & mask) | (base & ~mask);
}

/* ---- integers ---- */

LANES_FN s64x8 lanes_mulw_s32(s32x8 a, s32x8 b)
{
    return LANES_CONVERT(s64, a) * LANES_CONVERT(s64, b);
}
LANES_FN u64x8 lanes_mulw_u32(u32x8 a, u32x8 b)
{
    return LANES_CONVERT(u64, a) * LANES_CONVERT(u64, b);
}
LANES_FN s64x8 lanes_addsat_s64(s64x8 a, s64x8 b)
{
    u64x8 sum = (u64x8)a + (u64x8)b;
    u64x8 over = LANES_IS(s64, lt, (s64x8)((sum ^ (u64x8)a) & (sum ^ (u64x8)b)), 0);
    u64x8 limit = ((u64x8)a >> 63) + (u64)INT64_MAX;
    return (s64x8)LANES_PICK(u64, over, limit, sum);
}

/* A quotient of 32-bit integers is exact in double after truncation, in any rounding mode. By
 * zero: all ones, or the greatest magnitude of the dividend's sign, for quotient and remainder. */
LANES_FN f64x8 lanes_u32_f64(u32x8 a)
{
    return LANES_CONVERT(f64, (s32x8)(a ^ 0x80000000u)) + 2147483648.0;
}
LANES_FN u32x8 lanes_whole_f64_u32(f64x8 a) /* integers in [0, 2^32) */
{
    return (u32x8)LANES_CONVERT(s32, a - 2147483648.0) ^ 0x80000000u;
}
LANES_FN u32x8 lanes_divide_u32(u32x8 a, u32x8 b)
{
    u32x8 divisor = LANES_PICK(u32, LANES_IS(u32, eq, b, 0), LANES_SPLAT(u32, 1), b);
    f64x8 q = lanes_u32_f64(a) / lanes_u32_f64(divisor);
    return lanes_whole_f64_u32(LANES_ROUND_F64(q, _MM_FROUND_TO_ZERO));
}
LANES_FN u32x8 lanes_iqot_u32(u32x8 a, u32x8 b)
{
    return LANES_PICK(u32, LANES_IS(u32, eq, b, 0), LANES_SPLAT(u32, -1), lanes_divide_u32(a, b));
}
LANES_FN u32x8 lanes_irem_u32(u32x8 a, u32x8 b)
{
    return LANES_PICK(u32, LANES_IS(u32, eq, b, 0), LANES_SPLAT(u32, -1),
                      a - lanes_divide_u32(a, b) * b);
}
LANES_FN u32x8 lanes_magnitude(s32x8 a)
{
    u32x8 sign = (u32x8)(a >> 31);
    return ((u32x8)a ^ sign) - sign;
}
LANES_FN s32x8 lanes_iqot_s32(s32x8 a, s32x8 b)
{
    u32x8 sign = (u32x8)((a ^ b) >> 31);
    u32x8 q = (lanes_divide_u32(lanes_magnitude(a), lanes_magnitude(b)) ^ sign) - sign;
    u32x8 by_zero = (u32x8)(a >> 31) ^ 0x7fffffffu;
    return (s32x8)LANES_PICK(u32, LANES_IS(s32, eq, b, 0), by_zero, q);
}
LANES_FN s32x8 lanes_irem_s32(s32x8 a, s32x8 b)
{
    u32x8 sign = (u32x8)(a >> 31);
    u32x8 m = lanes_magnitude(a), n = lanes_magnitude(b);
    u32x8 r = ((m - lanes_divide_u32(m, n) * n) ^ sign) - sign;
    return (s32x8)LANES_PICK(u32, LANES_IS(s32, eq, b, 0), sign ^ 0x7fffffffu, r);
}

/* ---- floats and integers ---- */

LANES_FN f32x8 lanes_sat_f32(f32x8 a)
{
    f32x8 r = LANES_PICK(f32, LANES_IS(f32, gt, a, 0), a, LANES_SPLAT(f32, 0)); /* NaN becomes 0 */
    return LANES_PICK(f32, LANES_IS(f32, lt, r, 1), r, LANES_SPLAT(f32, 1));
}
LANES_FN f64x8 lanes_sat_f64(f64x8 a)
{
    f64x8 r = LANES_PICK(f64, LANES_IS(f64, gt, a, 0), a, LANES_SPLAT(f64, 0));
    return LANES_PICK(f64, LANES_IS(f64, lt, r, 1), r, LANES_SPLAT(f64, 1));
}
LANES_FN f32x8 lanes_u32_f32(u32x8 a)
{
    /* both halves are exact, the sum rounds once */
    f32x8 high = LANES_CONVERT(f32, (s32x8)(a >> 16)) * 65536.0f;
    return high + LANES_CONVERT(f32, (s32x8)(a & 0xffff));
}
#define LANES_EACH(T, R, name)                                                                     \
    LANES_FN R##x8 lanes_##T##_##R(T##x8 a)                                                        \
    {                                                                                              \
        R##x8 r;                                                                                   \
        for (int i = 0; i < 8; i++)                                                                \
            r[i] = (R)a[i];                                                                        \
        return r;                                                                                  \
    }
LANES_EACH(s64, f32, )
LANES_EACH(u64, f32, )
LANES_EACH(s64, f64, )
LANES_EACH(u64, f64, )
#undef LANES_EACH

LANES_FN s32x8 lanes_f32_s32(f32x8 a, uint32_t cr0)
{
    if (__builtin_expect(cr0 & LANES_CR0_ROUND_TO_INT, 0))
        a = LANES_ROUND_F32(a, _MM_FROUND_CUR_DIRECTION);
    f32x8 low = LANES_SPLAT_BITS(f32, -2147483648.0f);
    u32x8 high = LANES_IS(f32, ge, a, 2147483648.0f);
    f32x8 in = LANES_PICK(f32, lanes_ge_f32(a, low) & ~high, a, low);
    s32x8 r = LANES_CONVERT(s32, in);
    r = LANES_PICK(s32, high, LANES_SPLAT(s32, INT32_MAX), r);
    return LANES_PICK(s32, lanes_eq_f32(a, a), r, LANES_SPLAT(s32, 0));
}
LANES_FN f64x8 lanes_round_f64(f64x8 a, uint32_t cr0)
{
    if (__builtin_expect(cr0 & LANES_CR0_ROUND_TO_INT, 0))
        return LANES_ROUND_F64(a, _MM_FROUND_CUR_DIRECTION);
    return LANES_ROUND_F64(a, _MM_FROUND_TO_ZERO);
}
LANES_FN u32x8 lanes_f64_u32(f64x8 a, uint32_t cr0)
{
    f64x8 r = lanes_round_f64(a, cr0);
    r = LANES_PICK(f64, LANES_IS(f64, gt, r, 0), r, LANES_SPLAT(f64, 0)); /* NaN too */
    r = LANES_PICK(f64, LANES_IS(f64, lt, r, 4294967295.0), r, LANES_SPLAT_BITS(f64, 4294967295.0));
    return lanes_whole_f64_u32(r);
}
LANES_FN u32x8 lanes_f32_u32(f32x8 a, uint32_t cr0)
{
    return lanes_f64_u32(LANES_CONVERT(f64, a), cr0);
}
LANES_FN s32x8 lanes_f64_s32(f64x8 a, uint32_t cr0)
{
    f64x8 r = lanes_round_f64(a, cr0);
    f64x8 low = LANES_SPLAT_BITS(f64, -2147483648.0), high = LANES_SPLAT_BITS(f64, 2147483647.0);
    r = LANES_PICK(f64, lanes_gt_f64(r, low), r, low);
    r = LANES_PICK(f64, lanes_lt_f64(r, high), r, high);
    return LANES_PICK(s32, LANES_CONVERT(s32, (s64x8)lanes_eq_f64(a, a)), LANES_CONVERT(s32, r),
                      LANES_SPLAT(s32, 0));
}
LANES_FN s64x8 lanes_f64_s64(f64x8 a, uint32_t cr0)
{
    f64x8 whole = lanes_round_f64(a, cr0);
    s64x8 r;
    for (int i = 0; i < 8; i++) {
        f64 x = whole[i];
        r[i] = x >= 9223372036854775808.0    ? INT64_MAX
               : x >= -9223372036854775808.0 ? (s64)x
               : x != x                      ? 0
                                             : INT64_MIN;
    }
    return r;
}
LANES_FN u64x8 lanes_f64_u64(f64x8 a, uint32_t cr0)
{
    f64x8 whole = lanes_round_f64(a, cr0);
    u64x8 r;
    for (int i = 0; i < 8; i++) {
        f64 x = whole[i];
        r[i] = x >= 18446744073709551616.0 ? UINT64_MAX : x > 0.0 ? (u64)x : 0;
    }
    return r;
}

/* ---- half ---- */

/* Round a non-negative finite double, given by its bits, to a half with the host's rounding mode.
 * sign: 0x8000 or 0. */
LANES_FN uint16_t lanes_round_half(double magnitude, uint16_t sign)
{
    uint32_t mode = _mm_getcsr() & _MM_ROUND_MASK;
    uint64_t bits;
    memcpy(&bits, &magnitude, 8);
    int exponent = (int)(bits >> 52) - 1023;
    if (bits == 0)
        return sign;
    uint64_t mantissa = (bits & 0xfffffffffffff) | (exponent > -1023 ? UINT64_C(1) << 52 : 0);
    /* the half's unit is 2^(max(exponent, -14) - 10) */
    int unit = (exponent > -14 ? exponent : -14) - 10;
    int drop = unit - (exponent - 52);
    uint64_t kept = drop > 62 ? 0 : mantissa >> drop;
    uint64_t lost = drop > 62 ? 1 : mantissa & ((UINT64_C(1) << drop) - 1);
    uint64_t half = drop > 62 ? 2 : UINT64_C(1) << (drop - 1);
    bool up = mode == _MM_ROUND_NEAREST ? lost > half || (lost == half && (kept & 1))
              : mode == _MM_ROUND_UP    ? lost && !sign
              : mode == _MM_ROUND_DOWN  ? lost && sign
                                        : false;
    kept += up;
    /* kept carries into the exponent by itself: 0x400 is the first normal number */
    uint64_t result = exponent > -14 ? ((uint64_t)(exponent + 14) << 10) + kept : kept;
    if (result >= 0x7c00) {
        bool infinite = mode == _MM_ROUND_NEAREST || (mode == _MM_ROUND_UP && !sign) ||
                        (mode == _MM_ROUND_DOWN && sign);
        result = infinite ? 0x7c00 : 0x7bff;
    }
    return (uint16_t)(sign | result);
}
LANES_FN uint16_t lanes_half_from(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, 8);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t magnitude = bits & INT64_MAX;
    if (magnitude > UINT64_C(0x7ff) << 52) /* quiet, keep the payload's top */
        return (uint16_t)(sign | 0x7e00 | (bits >> 42 & 0x3ff));
    if (magnitude == UINT64_C(0x7ff) << 52)
        return sign | 0x7c00;
    double m;
    memcpy(&m, &magnitude, 8);
    return lanes_round_half(m, sign);
}
/* Bits of floats without the `drop` lowest ones of their mantissas, rounded as cr0 says. */
LANES_FN u32x8 lanes_round_bits(u32x8 a, unsigned drop, uint32_t cr0)
{
    u32 ones = (1u << drop) - 1, mode = cr0 >> 4 & 3; /* nearest, up, down, zero */
    u32x8 negative = (u32x8)((s32x8)a >> 31), away = {0};
    if (mode == 0)
        away = (a >> drop & 1) + (ones >> 1);
    else if (mode < 3)
        away = (mode == 1 ? ~negative : negative) & ones;
    /* of a NaN the sum could carry into the exponent */
    u32x8 nan = lanes_gt_u32(a & 0x7fffffff, LANES_SPLAT(u32, 0x7f800000u));
    return LANES_PICK(u32, nan, a | 0x400000, a + away) & ~ones;
}
/* To nearest even, with denormals, whatever cr0 says (vISA's FCVT); a NaN stays one. */
LANES_FN u8x8 lanes_f16_bf8(u16x8 a)
{
    u8x8 r;
    for (int i = 0; i < 8; i++) {
        uint32_t half = a[i];
        bool is_nan = (half & 0x7fff) > 0x7c00;
        r[i] = (uint8_t)((is_nan ? half | 0x200 : half + 0x7f + (half >> 8 & 1)) >> 8);
    }
    return r;
}
LANES_FN f32x8 lanes_f16_f32(u16x8 a)
{
#ifdef __F16C__
    return (f32x8)_mm256_cvtph_ps((__m128i)a);
#else
    f32x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = zs_half_to_float(a[i]);
    return r;
#endif
}
LANES_FN u16x8 lanes_f32_f16(f32x8 a)
{
#ifdef __F16C__
    return (u16x8)_mm256_cvtps_ph((__m256)a, _MM_FROUND_CUR_DIRECTION);
#else
    u16x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = lanes_half_from((double)a[i]);
    return r;
#endif
}
LANES_FN u16x8 lanes_f64_f16(f64x8 a)
{
    u16x8 r;
    for (int i = 0; i < 8; i++)
        r[i] = lanes_half_from(a[i]);
    return r;
}
LANES_FN u16x8 lanes_flush_f16(u16x8 a, uint32_t cr0)
{
    if (cr0 & LANES_CR0_KEEP_F16)
        return a;
    return LANES_PICK(u16, LANES_IS(u16, eq, a & 0x7c00, 0), a & 0x8000, a);
}
/* addend + b * c rounded once: the product is exact in double, the sum is rounded to odd. */
LANES_FN u16x8 lanes_mad_f16(u16x8 addend, u16x8 b, u16x8 c)
{
    u16x8 r;
    for (int i = 0; i < 8; i++) {
        volatile double x = zs_half_to_float(addend[i]);
        volatile double p = (double)zs_half_to_float(b[i]) * (double)zs_half_to_float(c[i]);
        volatile double sum = x + p;
        volatile double part = sum - p;
        volatile double left = (p - (sum - part)) + (x - part);
        double s = sum;
        uint64_t bits;
        memcpy(&bits, &s, 8);
        /* Knuth's sum gives the exact rest when rounding to nearest; with a directed mode it is
         * still zero only if the sum is exact. */
        if (left != 0 && s - s == 0 && !(bits & 1)) {
            bits += (left > 0) == (s > 0) ? 1 : UINT64_MAX;
            memcpy(&s, &bits, 8);
        }
        r[i] = lanes_half_from(s);
    }
    return r;
}

/* ---- transcendental functions ---- */

LANES_FN f64x8 lanes_log2_f64(f64x8 x) /* finite, positive, normal */
{
    u64x8 bits = (u64x8)x;
    u64x8 m_bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    u64x8 big = LANES_IS(f64, gt, (f64x8)m_bits, 1.4142135623730951);
    m_bits -= big & 0x10000000000000u;
    u64x8 exponent = (bits >> 52) - big; /* biased by 1023 */
    /* small integers to double: put them under the mantissa of 2^52 */
    f64x8 e = (f64x8)(exponent | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
    f64x8 m = (f64x8)m_bits;
    f64x8 s = (m - 1.0) / (m + 1.0), z = s * s;
    f64x8 p = z * (1.0 / 15.0) + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    p = p * z + 1.0;
    return e + s * p * 2.8853900817779268; /* 2 / ln 2 */
}
LANES_FN f64x8 lanes_exp2_f64(f64x8 x) /* no NaN */
{
    f64x8 limit = LANES_SPLAT_BITS(f64, 900.0);
    x = LANES_PICK(f64, lanes_lt_f64(x, limit), x, limit);
    x = LANES_PICK(f64, lanes_gt_f64(x, -limit), x, -limit);
    f64x8 n = LANES_ROUND_F64(x, _MM_FROUND_TO_NEAREST_INT);
    f64x8 r = (x - n) * 0.69314718055994530942;
    f64x8 p = r * (1.0 / 3628800) + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    u64x8 scale = (u64x8)(n + (4503599627370496.0 + 1023.0)) << 52;
    return p * (f64x8)scale;
}
LANES_FN f32x8 lanes_log2(f32x8 a)
{
    f32x8 r = LANES_CONVERT(f32, lanes_log2_f64(LANES_CONVERT(f64, a)));
    f32x8 inf = LANES_SPLAT_BITS(f32, INFINITY);
    r = LANES_PICK(f32, lanes_eq_f32(a, inf), inf, r);
    r = LANES_PICK(f32, LANES_IS(f32, gt, a, 0), r, LANES_SPLAT_BITS(f32, NAN));
    r = LANES_PICK(f32, LANES_IS(f32, eq, a, 0), -inf, r);
    return LANES_PICK(f32, lanes_eq_f32(a, a), r, a);
}
LANES_FN f32x8 lanes_exp2(f32x8 a)
{
    f32x8 r = LANES_CONVERT(f32, lanes_exp2_f64(LANES_CONVERT(f64, a)));
    return LANES_PICK(f32, lanes_eq_f32(a, a), r, a);
}
LANES_FN f32x8 lanes_tanh(f32x8 a)
{
    f32x8 size = (f32x8)((u32x8)a & 0x7fffffffu);
    /* 2 / ln 2: a power of e with twice the exponent */
    f64x8 power = lanes_exp2_f64(LANES_CONVERT(f64, a) * 2.8853900817779268);
    f32x8 r = LANES_CONVERT(f32, (power - 1.0) / (power + 1.0));
    r = LANES_PICK(f32, LANES_IS(f32, lt, size, 1e-4f), a, r); /* no digits are lost */
    return LANES_PICK(f32, lanes_eq_f32(a, a), r, a);
}
LANES_FN f32x8 lanes_sigm(f32x8 a)
{
    f64x8 power = lanes_exp2_f64(LANES_CONVERT(f64, a) * -1.4426950408889634); /* 1 / ln 2 */
    f32x8 r = LANES_CONVERT(f32, 1.0 / (power + 1.0));
    return LANES_PICK(f32, lanes_eq_f32(a, a), r, a);
}
LANES_FN f32x8 lanes_pow(f32x8 a, f32x8 b)
{
    f32x8 base = (f32x8)((u32x8)a & 0x7fffffffu);
    f64x8 log = lanes_log2_f64(LANES_CONVERT(f64, base));
    f64x8 wide = LANES_CONVERT(f64, base);
    log = LANES_PICK(f64, LANES_IS(f64, eq, wide, 0), LANES_SPLAT_BITS(f64, -INFINITY), log);
    log = LANES_PICK(f64, LANES_IS(f64, eq, wide, INFINITY), LANES_SPLAT_BITS(f64, INFINITY), log);
    f64x8 power = log * LANES_CONVERT(f64, b);
    f32x8 r = LANES_CONVERT(f32, lanes_exp2_f64(power));
    r = LANES_PICK(f32, LANES_CONVERT(s32, (s64x8)lanes_eq_f64(power, power)), r,
                   LANES_SPLAT_BITS(f32, NAN));
    r = LANES_PICK(f32, lanes_ne_f32(a, a) | lanes_ne_f32(b, b), a + b, r);
    return LANES_PICK(f32, LANES_IS(f32, eq, b, 0) | LANES_IS(f32, eq, base, 1),
                      LANES_SPLAT(f32, 1), r);
}

/* x - n * pi / 2 with n the nearest integer; *ret_quadrant = n mod 4. */
LANES_FN f64x8 lanes_reduce(f64x8 x, u64x8 *ret_quadrant)
{
    f64x8 n = LANES_ROUND_F64(x * 0.63661977236758134308, _MM_FROUND_TO_NEAREST_INT);
    *ret_quadrant = (u64x8)(n + 6755399441055744.0) & 3; /* 1.5 * 2^52 */
    /* 33 bits of pi / 2: products with n < 2^20 are exact */
    f64x8 r = x - n * 1.57079632673412561417e+00;
    return r - n * 6.07710050650619224932e-11;
}
LANES_FN f64x8 lanes_sin_poly(f64x8 r)
{
    f64x8 z = r * r;
    f64x8 p = z * (1.0 / 6227020800) - 1.0 / 39916800;
    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    return r + r * z * p;
}
LANES_FN f64x8 lanes_cos_poly(f64x8 r)
{
    f64x8 z = r * r;
    f64x8 p = z * (-1.0 / 87178291200) + 1.0 / 479001600;
    p = p * z - 1.0 / 3628800;
    p = p * z + 1.0 / 40320;
    p = p * z - 1.0 / 720;
    p = p * z + 1.0 / 24;
    p = p * z - 0.5;
    return p * z + 1.0;
}
LANES_FN f32x8 lanes_sin_quadrant(f32x8 a, u64 shift)
{
    u64x8 quadrant;
    f64x8 r = lanes_reduce(LANES_CONVERT(f64, a), &quadrant);
    quadrant += shift;
    f64x8 s = lanes_sin_poly(r), c = lanes_cos_poly(r);
    f64x8 v = LANES_PICK(f64, -(quadrant & 1), c, s);
    v = (f64x8)((u64x8)v ^ (quadrant & 2) << 62);
    return LANES_CONVERT(f32, v);
}
#define LANES_SIN_LIMIT 1e6f /* beyond it the C library reduces the argument */
LANES_FN f32x8 lanes_circular(f32x8 a, u64 shift, double (*library)(double))
{
    f32x8 size = (f32x8)((u32x8)a & 0x7fffffffu);
    f32x8 r = lanes_sin_quadrant(a, shift);
    if (__builtin_expect(lanes_bits_u32(LANES_IS(f32, lt, size, LANES_SIN_LIMIT)) != 0xff, 0))
        for (int i = 0; i < 8; i++)
            if (!(size[i] < LANES_SIN_LIMIT))
                r[i] = (f32)library((double)a[i]);
    return r;
}
LANES_FN f32x8 lanes_sin(f32x8 a)
{
    return LANES_PICK(f32, LANES_IS(f32, eq, a, 0), a, lanes_circular(a, 0, sin));
}
LANES_FN f32x8 lanes_cos(f32x8 a)
{
    return lanes_circular(a, 1, cos);
}

#endif
