/* SPDX-License-Identifier: MIT */
/*
 * Operations on numbers that are the same for all channels: what loops end with, and constants.
 *
 * Some take several operations' places: those stay where they are, and the first one's handler does
 * what they say, too (lower_select.c).
 */
#include "eu/control.h"

#include <string.h>

/* The flag of all active channels by two dwords. */
#define COMPARE(id, T, is)                                                                         \
    static inline void set_##id(struct zs_eu_thread *t, const struct zs_eu_op *op)                 \
    {                                                                                              \
        T a, b;                                                                                    \
        memcpy(&a, (const uint8_t *)t + op->src[0], sizeof(a));                                    \
        memcpy(&b, (const uint8_t *)t + op->src[1], sizeof(b));                                    \
        zs_eu_write_flag(t, op, a is b ? UINT32_MAX : 0);                                          \
    }                                                                                              \
    static const struct zs_eu_op *compare_##id(struct zs_eu_thread *t, const struct zs_eu_op *op)  \
    {                                                                                              \
        set_##id(t, op);                                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }                                                                                              \
    static const struct zs_eu_op *jump_##id(struct zs_eu_thread *t, const struct zs_eu_op *op)     \
    {                                                                                              \
        set_##id(t, op);                                                                           \
        return zs_eu_op_jump_flag(t, op + 1);                                                      \
    }
#define COMPARISONS                                                                                \
    ROW(EQ_I32, uint32_t, ==)                                                                      \
    ROW(NE_I32, uint32_t, !=)                                                                      \
    ROW(GT_S32, int32_t, >)                                                                        \
    ROW(GE_S32, int32_t, >=)                                                                       \
    ROW(LT_S32, int32_t, <)                                                                        \
    ROW(LE_S32, int32_t, <=)                                                                       \
    ROW(GT_U32, uint32_t, >)                                                                       \
    ROW(GE_U32, uint32_t, >=)                                                                      \
    ROW(LT_U32, uint32_t, <)                                                                       \
    ROW(LE_U32, uint32_t, <=)

#define ROW COMPARE
COMPARISONS
#undef ROW

static const struct {
    zs_eu_op_fn *alone, *and_jump;
} comparisons[ZS_EU_ROW_COUNT] = {
#define ROW(id, T, is) [ZS_EU_ROW_CMP_##id] = {compare_##id, jump_##id},
    COMPARISONS
#undef ROW
};

zs_eu_op_fn *zs_eu_compare_uniform(enum zs_eu_row row)
{
    return comparisons[row].alone;
}

zs_eu_op_fn *zs_eu_compare_and_jump(enum zs_eu_row row)
{
    return comparisons[row].and_jump;
}

const struct zs_eu_op *zs_eu_op_moves(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_op *last = op + (op->aux - 1);

    for (; op <= last; op++) {
        uint32_t one = zs_eu_word(t, op->src[0]);
        memcpy((uint8_t *)t + op->dst, &one, sizeof(one));
    }
    ZS_EU_NEXT(t, last);
}
