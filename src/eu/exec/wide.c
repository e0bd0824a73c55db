/* SPDX-License-Identifier: MIT */
/*
 * Floats in more bits than they are stored in: macros of division and square root, dot products,
 * planes.
 *
 * Registers acc2 to acc9 hold what the general register of an `mmeN` operand has no room for: here
 * the whole value, in 113 bits and a wide range of exponents. Sums of products are computed in as
 * many and rounded once.
 */
#include "eu/eu_priv.h"

#include <string.h>
#include <xmmintrin.h>

typedef __float128 wide;

static wide load_wide(const struct zs_eu_thread *t, uint32_t at, bool is_double)
{
    uint32_t denormals = is_double ? t->cr0[0] & 0x40 : t->cr0[0] & 0x80;
    double value;
    float single;

    if (is_double) {
        memcpy(&value, (const uint8_t *)t + at, 8);
    } else {
        memcpy(&single, (const uint8_t *)t + at, 4);
        value = (double)single;
    }
    bool tiny = is_double ? __builtin_fabs(value) < 0x1p-1022 : __builtin_fabs(value) < 0x1p-126;
    return tiny && !denormals ? (wide)__builtin_copysign(0.0, value) : (wide)value;
}

/* Rounded as cr0 says. Noise below 100 bits must not push an exact result off its place. */
static void store_wide(struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned c, wide value,
                       bool is_double)
{
    wide much = value * 8193, tidy = much - (much - value);
    volatile wide exact = tidy == tidy ? tidy : value; /* infinity; before the mode is set */
    uint32_t denormals = is_double ? t->cr0[0] & 0x40 : t->cr0[0] & 0x80;
    uint32_t keep = denormals ? 0 : UINT32_MAX;
    double least = is_double ? 0x1p-1022 : 0x1p-126;

    _mm_setcsr((t->host_csr & _MM_ROUND_MASK) | _MM_MASK_MASK);
    volatile double wanted = is_double ? (double)exact : 0;
    volatile float single = is_double ? 0 : (float)exact;
    _mm_setcsr(_MM_MASK_MASK);
    double rounded = is_double ? wanted : (double)single;
    if (keep && __builtin_fabs(rounded) < least)
        rounded = __builtin_copysign(0.0, rounded);
    if (is_double) {
        memcpy(ZS_EU_AT(t, op->dst) + c * 8, &rounded, 8);
    } else {
        float narrow = (float)rounded;
        memcpy(ZS_EU_AT(t, op->dst) + c * 4, &narrow, 4);
    }
}

/* Four bits of aux for each source's number and then the destination's; from bit 16 on a bit each
 * for the sources' abs, from bit 20 on for their negate, which the numbered ones need. arg: bit i:
 * source i is one element; bit 3: double. */
const struct zs_eu_op *zs_eu_op_madm(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    bool is_double = op->arg >> 3 & 1;
    unsigned to = op->aux >> 12 & 15;

    _mm_setcsr(_MM_MASK_MASK);
    for (uint32_t m = zs_eu_active(t, op); m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        wide v[3], r;
        for (unsigned i = 0; i < 3; i++) {
            unsigned mme = op->aux >> (4 * i) & 15;
            if (mme == ZS_MME_NONE) {
                v[i] = load_wide(t, op->src[i] + (op->arg >> i & 1 ? 0 : c * (is_double ? 8 : 4)),
                                 is_double);
                continue;
            }
            memcpy(&v[i], t->mme[mme][c], sizeof(v[i]));
            if (op->aux >> (16 + i) & 1)
                v[i] = v[i] < 0 ? -v[i] : v[i];
            if (op->aux >> (20 + i) & 1)
                v[i] = -v[i];
        }
        r = v[0] + v[1] * v[2];
        if (to != ZS_MME_NONE)
            memcpy(t->mme[to][c], &r, sizeof(r));
        store_wide(t, op, c, r, is_double);
    }
    _mm_setcsr(t->host_csr);
    ZS_EU_NEXT(t, op);
}

static wide root_seed(wide x)
{
    wide y = 1 / __builtin_sqrtl((long double)x);
    y += y * ((wide)0.5 - (wide)0.5 * x * y * y);
    return y + y * ((wide)0.5 - (wide)0.5 * x * y * y);
}

/* math.invm and math.rsqtm where the macro is executed: a lane that needs it gets the reciprocal,
 * others their result and a bit of the flag. arg as above; aux: the destination's number, bit 4:
 * square root. */
const struct zs_eu_op *zs_eu_op_macro_seed(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    bool is_double = op->arg >> 3 & 1, root = op->aux >> 4 & 1;
    unsigned to = op->aux & 15, size_B = is_double ? 8 : 4;
    uint32_t done = 0;

    _mm_setcsr(_MM_MASK_MASK);
    for (uint32_t m = zs_eu_active(t, op); m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        wide x = load_wide(t, op->src[0] + (op->arg & 1 ? 0 : c * size_B), is_double);
        wide y = root ? x : load_wide(t, op->src[1] + (op->arg & 2 ? 0 : c * size_B), is_double);
        bool special = x - x != 0 || y - y != 0 || x == 0 || y == 0 || (root && x < 0);
        wide r = special ? (root ? (wide)__builtin_sqrt((double)x) : x / y)
                         : (root ? root_seed(x) : 1 / y);
        done |= (uint32_t)special << c;
        if (to != ZS_MME_NONE)
            memcpy(t->mme[to][c], &r, sizeof(r));
        store_wide(t, op, c, r, is_double);
    }
    _mm_setcsr(t->host_csr);
    zs_eu_write_flag(t, op, zs_eu_active(t, op), done);
    ZS_EU_NEXT(t, op);
}

/* ---- sums of products ---- */

static float single_at(const struct zs_eu_thread *t, uint32_t at)
{
    float value;
    memcpy(&value, (const uint8_t *)t + at, 4);
    return value;
}

/* An exact zero has the sign that the sum of its terms has, as floats in the thread's mode. */
static void store_sum(struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned c, wide sum,
                      float plain)
{
    bool down = (t->host_csr & _MM_ROUND_MASK) == _MM_ROUND_DOWN;
    float zero = plain == 0 ? plain : down ? -0.0f : 0.0f;

    if (sum != 0)
        store_wide(t, op, c, sum, false);
    else
        memcpy(ZS_EU_AT(t, op->dst) + c * 4, &zero, 4);
}

struct term {
    uint32_t a, b; /* where its factors are; a 0: the factor is 1 */
};

/* One channel. The host computes in the thread's mode again when it is done. */
static void sum_products(struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned c,
                         const struct term *terms, unsigned count)
{
    volatile float plain = -0.0f; /* volatile: computed before the mode changes */
    wide sum = 0;

    for (unsigned i = 0; i < count; i++)
        plain += (terms[i].a ? single_at(t, terms[i].a) : 1.0f) * single_at(t, terms[i].b);
    _mm_setcsr(_MM_MASK_MASK);
    for (unsigned i = 0; i < count; i++)
        sum += (terms[i].a ? load_wide(t, terms[i].a, false) : 1) * load_wide(t, terms[i].b, false);
    store_sum(t, op, c, sum, plain);
    _mm_setcsr(t->host_csr);
}

/* Of aux products in each group of four channels, for all of them; arg: bits 0, 1: the source is
 * one element; bit 2: the fourth of the first source is 1. */
const struct zs_eu_op *zs_eu_op_dot(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    for (unsigned c = 0; c < op->count; c++) {
        struct term terms[4];
        for (unsigned i = 0; i < op->aux; i++) {
            uint32_t at = ((c & ~3u) + i) * 4;
            terms[i].a = op->src[0] + (op->arg & 1 ? 0 : at);
            terms[i].b = op->src[1] + (op->arg & 2 ? 0 : at);
        }
        if (op->arg & 4)
            terms[3].a = 0;
        sum_products(t, op, c, terms, op->aux);
    }
    ZS_EU_NEXT(t, op);
}

/* src[0]: four floats p, q, unused, r; src[1], src[2]: u and v of the channels. p * u + q * v + r
 */
const struct zs_eu_op *zs_eu_op_plane(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    for (unsigned c = 0; c < op->count; c++) {
        const struct term terms[3] = {{op->src[0], op->src[1] + c * 4},
                                      {op->src[0] + 4, op->src[2] + c * 4},
                                      {0, op->src[0] + 12}};
        sum_products(t, op, c, terms, 3);
    }
    ZS_EU_NEXT(t, op);
}
