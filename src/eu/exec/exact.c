/* SPDX-License-Identifier: MIT */
/*
 * Integer operations whose exact results need more than 64 bits: saturating products, sums and
 * shifts of qwords, comparisons of uq with signed values, the value of a negated uq. Lane by lane
 * in 128 bits; rare.
 */
#include "eu/exec/exact.h"

#include <string.h>

typedef __int128 wide;

/* The nearest value that 128 bits hold; every one of them is beyond every type. */
static wide product(wide a, wide b)
{
    wide result, least = -((wide)1 << 126) * 2;

    if (!__builtin_mul_overflow(a, b, &result))
        return result;
    return (a < 0) == (b < 0) ? ~least : least;
}

static wide source(const struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned i, unsigned c)
{
    uint64_t bits;

    memcpy(&bits, (const uint8_t *)t + op->src[i] + (op->arg >> i & 1 ? 0 : c * 8), 8);
    wide value = op->aux >> (ZS_EU_EXACT_UNSIGNED + i) & 1 ? (wide)bits : (wide)(int64_t)bits;
    return op->aux >> (ZS_EU_EXACT_NEGATED + i) & 1 ? -value : value;
}

static bool holds(unsigned cond, wide a, wide b)
{
    switch (cond) {
    case ZS_COND_EQ:
        return a == b;
    case ZS_COND_NE:
        return a != b;
    case ZS_COND_GT:
        return a > b;
    case ZS_COND_GE:
        return a >= b;
    case ZS_COND_LT:
        return a < b;
    default:
        return a <= b;
    }
}

static wide compute(const struct zs_eu_op *op, wide a, wide b, wide c)
{
    wide result;

    switch ((enum zs_eu_exact)(op->aux & ZS_EU_EXACT_OPERATION)) {
    case ZS_EU_EXACT_ADD:
        return a + b;
    case ZS_EU_EXACT_MUL:
        return product(a, b);
    case ZS_EU_EXACT_MAD:
        result = product(b, c);
        return __builtin_add_overflow(a, result, &result) ? product(b, c) : result;
    case ZS_EU_EXACT_SHL:
        return product(a, (wide)1 << (b & 63));
    case ZS_EU_EXACT_ORDER:
        return (a > b) - (a < b);
    case ZS_EU_EXACT_CHOOSE:
        return holds(op->aux >> ZS_EU_EXACT_COND & 7, a, b) ? a : b;
    case ZS_EU_EXACT_VALUE:
        break;
    }
    return a;
}

/* To the range of a type of `bits` bits. */
static uint64_t clamp(wide value, unsigned bits, bool is_signed)
{
    wide high = ((wide)1 << (is_signed ? bits - 1 : bits)) - 1, low = is_signed ? ~high : 0;

    return (uint64_t)(value < low ? low : value > high ? high : value);
}

/* Rounded once, as the thread's mode says: the half with the lost bit sticking to it is a number
 * that the host converts. */
static double to_double(wide value)
{
    bool fits = value >= INT64_MIN && value <= INT64_MAX;
    int64_t half = (int64_t)(value >> 1) | (int64_t)(value & 1);

    return fits ? (double)(int64_t)value : 2 * (double)half;
}

static float to_single(wide value)
{
    bool fits = value >= INT64_MIN && value <= INT64_MAX;
    int64_t half = (int64_t)(value >> 1) | (int64_t)(value & 1);

    return fits ? (float)(int64_t)value : 2 * (float)half;
}

/* Sources are 64-bit elements (arg: bit i, one for all channels), dst has room for as many. */
const struct zs_eu_op *zs_eu_op_exact(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    unsigned bits = 8u << (op->aux >> ZS_EU_EXACT_SIZE & 3);
    uint8_t *dst = (uint8_t *)t + op->dst;

    for (unsigned c = 0; c < op->count; c++) {
        wide result = compute(op, source(t, op, 0, c), source(t, op, 1, c), source(t, op, 2, c));
        uint64_t stored = (uint64_t)result;
        if (op->aux & ZS_EU_EXACT_CLAMPS)
            stored = clamp(result, bits, op->aux & ZS_EU_EXACT_SIGNED);
        if (op->aux & ZS_EU_EXACT_DOUBLE) {
            double value = to_double(result);
            memcpy(dst + c * 8, &value, 8);
        } else if (op->aux & ZS_EU_EXACT_SINGLE) {
            float value = to_single(result);
            memcpy(dst + c * 4, &value, 4);
        } else {
            memcpy(dst + c * 8, &stored, 8);
        }
    }
    ZS_EU_NEXT(t, op);
}
