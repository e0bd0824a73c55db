/* SPDX-License-Identifier: MIT */
/* Rules of shadow.def: one channel's bits that are not defined. Values count where they are. */
#include "eu/checks/shadow_priv.h"

#define RULE(name) static uint64_t name(const struct zs_eu_shadow_lane *l)

static uint64_t all_of(unsigned width)
{
    return UINT64_MAX >> (64 - width);
}

static uint64_t union_of(const struct zs_eu_shadow_lane *l)
{
    return l->bits[0] | l->bits[1] | l->bits[2];
}

/* The sign at bit width - 1 goes up. */
static uint64_t extend(uint64_t bits, unsigned width)
{
    unsigned shift = 64 - width;
    return (uint64_t)((int64_t)(bits << shift) >> shift);
}

RULE(same)
{
    return l->bits[0];
}

RULE(but_sign)
{
    return l->bits[0] & all_of(l->width - 1);
}

RULE(each)
{
    return union_of(l);
}

/* A zero that is defined decides. */
RULE(and)
{
    return (l->bits[0] | l->bits[1]) & (l->value[0] | l->bits[0]) & (l->value[1] | l->bits[1]);
}

RULE(or)
{
    return (l->bits[0] | l->bits[1]) & (~l->value[0] | l->bits[0]) & (~l->value[1] | l->bits[1]);
}

/* The function's table at all inputs that there may be: does it give both? */
RULE(bfn)
{
    uint64_t gives[2] = {0, 0};
    for (unsigned i = 0; i < 8; i++) {
        uint64_t may = UINT64_MAX;
        for (unsigned s = 0; s < 3; s++)
            may &= l->bits[s] | (i >> s & 1 ? l->value[s] : ~l->value[s]);
        gives[l->aux >> i & 1] |= may;
    }
    return gives[0] & gives[1];
}

RULE(bfi2)
{
    uint64_t mask = l->value[0] & UINT32_MAX;
    unsigned shift = mask ? (unsigned)__builtin_ctzll(mask) : 31;
    if (l->bits[0])
        return UINT64_MAX;
    return (l->bits[1] << shift & mask) | (l->bits[2] & ~mask);
}

RULE(bfe)
{
    unsigned width = (unsigned)l->value[0] & 31, offset = (unsigned)l->value[1] & 31;
    if ((l->bits[0] | l->bits[1]) & 31)
        return UINT64_MAX;
    if (!width)
        return 0;
    width = ZS_MIN(width, 32 - offset);
    uint64_t bits = l->bits[2] >> offset & all_of(width);
    return l->param ? extend(bits, width) : bits;
}

RULE(reversed)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 32; i++)
        bits |= (l->bits[0] >> i & 1) << (31 - i);
    return bits;
}

static unsigned count_of(const struct zs_eu_shadow_lane *l)
{
    return (unsigned)l->value[1] & (l->width - 1);
}

static bool is_counted(const struct zs_eu_shadow_lane *l)
{
    return !(l->bits[1] & (l->width - 1));
}

RULE(shl)
{
    return is_counted(l) ? l->bits[0] << count_of(l) : UINT64_MAX;
}

RULE(shr)
{
    uint64_t bits = l->param ? extend(l->bits[0], l->width) : l->bits[0];
    if (!is_counted(l))
        return UINT64_MAX;
    return l->param ? (uint64_t)((int64_t)bits >> count_of(l)) : bits >> count_of(l);
}

RULE(rotated)
{
    unsigned count = count_of(l), up = l->param ? (l->width - count) % l->width : count;
    uint64_t bits = l->bits[0];
    if (!is_counted(l))
        return UINT64_MAX;
    return up ? bits << up | (bits & all_of(l->width)) >> (l->width - up) : bits;
}

RULE(upward)
{
    uint64_t bits = union_of(l);
    return bits | -bits;
}

RULE(by_sign)
{
    return extend(l->bits[0], l->from_width);
}

RULE(down)
{
    return l->bits[0] >> l->param;
}

RULE(up)
{
    return l->bits[0] << l->param;
}

RULE(joined)
{
    return l->bits[0] | l->bits[1] << 32;
}

/* Bits that are defined on both sides and differ decide. */
RULE(equal)
{
    uint64_t bits = union_of(l);
    return (l->value[0] ^ l->value[1]) & ~bits & all_of(l->width) ? 0 : bits;
}

/* The least and the greatest value that a source may have, as unsigned numbers. */
static void range_of(const struct zs_eu_shadow_lane *l, unsigned i, uint64_t ret[2])
{
    uint64_t sign = l->param ? UINT64_C(1) << (l->width - 1) : 0, value = l->value[i] ^ sign;
    ret[0] = value & ~l->bits[i] & all_of(l->width);
    ret[1] = (value | l->bits[i]) & all_of(l->width);
}

/* a > b, a <= b */
RULE(above)
{
    uint64_t a[2], b[2];
    range_of(l, 0, a);
    range_of(l, 1, b);
    return a[0] > b[1] || a[1] <= b[0] ? 0 : UINT64_MAX;
}

/* a < b, a >= b */
RULE(below)
{
    uint64_t a[2], b[2];
    range_of(l, 0, a);
    range_of(l, 1, b);
    return a[1] < b[0] || a[0] >= b[1] ? 0 : UINT64_MAX;
}

const struct zs_eu_shadow_rule zs_eu_shadow_rules[ZS_EU_ROW_COUNT] = {
#define ZS_EU_SHADOW(row, rule, param) [ZS_EU_ROW_##row] = {rule, param},
#include "eu/checks/shadow.def"
};
