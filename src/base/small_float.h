/* SPDX-License-Identifier: MIT */
/*
 * Floats of 16 bits with a sign, and of 11 and 10 bits without: five bits of exponent, then the
 * mantissa. On integers alone, so that no mode of the host's arithmetic matters.
 */
#ifndef ZS_BASE_SMALL_FLOAT_H
#define ZS_BASE_SMALL_FLOAT_H

#include <stdint.h>
#include <string.h>

enum { ZS_HALF_MANTISSA = 10 };

/* Bits of a float without sign; exact. NaNs become quiet. */
static inline uint32_t zs_small_to_float(uint32_t bits, uint32_t mantissa_bits)
{
    uint32_t exponent = bits >> mantissa_bits & 31, up = 23 - mantissa_bits;
    uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);

    if (exponent == 31)
        return 0x7f800000u | mantissa << up | (mantissa ? 0x400000u : 0);
    if (exponent)
        return (exponent + 112) << 23 | mantissa << up;
    if (!mantissa)
        return 0;
    /* denormal: the highest bit becomes the hidden one */
    uint32_t shift = (uint32_t)__builtin_clz(mantissa) - (31 - mantissa_bits);
    return (113 - shift) << 23 | (mantissa << (shift + up) & 0x7fffffu);
}

/* From the bits of a float without sign, rounded to nearest even; NaNs become quiet. */
static inline uint32_t zs_small_from_float(uint32_t magnitude, uint32_t mantissa_bits)
{
    uint32_t infinity = 31u << mantissa_bits, shift = 23 - mantissa_bits;

    if (magnitude > 0x7f800000u) /* upper payload bits kept */
        return infinity | 1u << (mantissa_bits - 1) | (magnitude & 0x7fffffu) >> shift;
    if (magnitude >= 0x47800000u) /* 65536 and more */
        return infinity;
    uint32_t mantissa = magnitude;
    int32_t rebias = (int32_t)(magnitude >> 23) - 112;
    if (rebias <= 0) { /* denormal in the small format: shift the mantissa with its hidden one */
        if (rebias < -(int32_t)mantissa_bits)
            return 0;
        mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        shift += (uint32_t)(1 - rebias);
    } else {
        mantissa = magnitude - (112u << 23);
    }
    uint32_t half = 1u << (shift - 1), rest = mantissa & ((1u << shift) - 1);
    uint32_t result = mantissa >> shift;
    if (rest > half || (rest == half && (result & 1)))
        result++; /* may carry into the exponent, up to infinity: that is right */
    return result;
}

static inline float zs_half_to_float(uint16_t half)
{
    uint32_t bits = (half & 0x8000u) << 16 | zs_small_to_float(half & 0x7fffu, ZS_HALF_MANTISSA);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint16_t zs_half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)((bits >> 16 & 0x8000u) |
                      zs_small_from_float(bits & 0x7fffffffu, ZS_HALF_MANTISSA));
}

#endif
