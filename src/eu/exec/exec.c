/* SPDX-License-Identifier: MIT */
/*
 * Handlers of straight-line operations: the rows of sem.def, expanded for every way of reading
 * sources. This file is built several times, for different host instruction sets; ZS_EU_HANDLERS
 * names the table that a build defines.
 */
#include "eu/exec/exec.h"

/* ---- reading and writing operands ---- */

/* Sources of a class: V is eight packed elements per chunk, S one element for all channels. */
#define DECLARE_V(T, x, index)                                                                     \
    const uint8_t *x##_at = AT(t, op->src[index]);                                                 \
    T##x8 x
#define READ_V(T, x)                                                                               \
    memcpy(&x, x##_at, sizeof(x));                                                                 \
    x##_at += sizeof(x)
#define DECLARE_S(T, x, index)                                                                     \
    T x##_one;                                                                                     \
    memcpy(&x##_one, AT(t, op->src[index]), sizeof(x##_one));                                      \
    const T##x8 x = LANES_SPLAT_BITS(T, x##_one)
#define READ_S(T, x)

#define STORE_BLEND(T, at, value, mask)                                                            \
    do {                                                                                           \
        T##x8 old_, new_ = (value);                                                                \
        memcpy(&old_, (at), sizeof(old_));                                                         \
        new_ = LANES_PICK(T, LANES_MASK_##T(mask), new_, old_);                                    \
        memcpy((at), &new_, sizeof(new_));                                                         \
    } while (0)
#define STORE_WHOLE(T, at, value)                                                                  \
    do {                                                                                           \
        T##x8 value_ = (value);                                                                    \
        memcpy((at), &value_, sizeof(value_));                                                     \
    } while (0)

/*
 * A handler: declare the sources, then chunk by chunk read them, compute, store. Sources are read
 * before the chunk is stored, and zs_eu_lower() has excluded harmful overlaps between chunks.
 * Whole chunks have a loop of their own: gcc takes wide vectors that two ways share through memory.
 */
#define BODY(TD, MODE, DECLARE, READ, EXPR)                                                        \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        if (active) {                                                                              \
            DECLARE;                                                                               \
            uint8_t *to = AT(t, op->dst);                                                          \
            unsigned left = op->chunks;                                                            \
            ENTER_##MODE(t);                                                                       \
            if (ZS_LIKELY(active == op->full)) {                                                   \
                do {                                                                               \
                    READ;                                                                          \
                    STORE_WHOLE(TD, to, (TD##x8)(EXPR));                                           \
                    to += sizeof(TD##x8);                                                          \
                } while (--left);                                                                  \
            } else {                                                                               \
                do {                                                                               \
                    READ;                                                                          \
                    STORE_BLEND(TD, to, (TD##x8)(EXPR), active & 0xff);                            \
                    to += sizeof(TD##x8);                                                          \
                    active >>= 8;                                                                  \
                } while (--left);                                                                  \
            }                                                                                      \
            LEAVE_##MODE(t);                                                                       \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
/* One channel: nothing but its element is touched. */
#define STORE_ONE(TD, MODE, DECLARE, EXPR)                                                         \
    DECLARE;                                                                                       \
    ENTER_##MODE(t);                                                                               \
    TD##x8 value = (TD##x8)(EXPR);                                                                 \
    TD one = value[0];                                                                             \
    memcpy(AT(t, op->dst), &one, sizeof(one));                                                     \
    LEAVE_##MODE(t)
#define BODY_N1(TD, MODE, DECLARE, EXPR)                                                           \
    {                                                                                              \
        if (zs_eu_active(t, op) & 1) {                                                             \
            STORE_ONE(TD, MODE, DECLARE, EXPR);                                                    \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define UN_FN(id, cls, A, TD, TA, MODE, EXPR)                                                      \
    HANDLER(id##_##cls)                                                                            \
    BODY(TD, MODE, DECLARE_##A(TA, a, 0), READ_##A(TA, a), EXPR)
#define BIN_FN(id, cls, A, B, TD, TA, TB, MODE, EXPR)                                              \
    HANDLER(id##_##cls)                                                                            \
    BODY(TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1), READ_##A(TA, a);                  \
         READ_##B(TB, b), EXPR)
#define TER_FN(id, cls, A, B, C, TD, TA, TB, TC, MODE, EXPR)                                       \
    HANDLER(id##_##cls)                                                                            \
    BODY(TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1);                                   \
         DECLARE_##C(TC, c, 2), READ_##A(TA, a); READ_##B(TB, b); READ_##C(TC, c), EXPR)
#define UN_N1(id, TD, TA, MODE, EXPR) HANDLER(id##_7) BODY_N1(TD, MODE, DECLARE_S(TA, a, 0), EXPR)
#define BIN_N1(id, TD, TA, TB, MODE, EXPR)                                                         \
    HANDLER(id##_7)                                                                                \
    BODY_N1(TD, MODE, DECLARE_S(TA, a, 0); DECLARE_S(TB, b, 1), EXPR)
#define TER_N1(id, TD, TA, TB, TC, MODE, EXPR)                                                     \
    HANDLER(id##_7)                                                                                \
    BODY_N1(TD, MODE, DECLARE_S(TA, a, 0); DECLARE_S(TB, b, 1); DECLARE_S(TC, c, 2), EXPR)

/* Rows that read sources in all ways, and those (_V) that read them in one. */
#define ZS_EU_UN(id, TD, TA, MODE, EXPR)                                                           \
    UN_FN(id, 0, V, TD, TA, MODE, EXPR)                                                            \
    UN_FN(id, 1, S, TD, TA, MODE, EXPR)                                                            \
    UN_N1(id, TD, TA, MODE, EXPR)
#define ZS_EU_UN_V(id, TD, TA, MODE, EXPR)                                                         \
    UN_FN(id, 0, V, TD, TA, MODE, EXPR)                                                            \
    UN_N1(id, TD, TA, MODE, EXPR)

#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    BIN_FN(id, 0, V, V, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_FN(id, 1, S, V, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_FN(id, 2, V, S, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_N1(id, TD, TA, TB, MODE, EXPR)
#define ZS_EU_BIN_V(id, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_FN(id, 0, V, V, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_N1(id, TD, TA, TB, MODE, EXPR)

#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    TER_FN(id, 0, V, V, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 1, S, V, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 2, V, S, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 3, S, S, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 4, V, V, S, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 5, S, V, S, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 6, V, S, S, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_N1(id, TD, TA, TB, TC, MODE, EXPR)
#define ZS_EU_TER_V(id, TD, TA, TB, TC, MODE, EXPR)                                                \
    TER_FN(id, 0, V, V, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_N1(id, TD, TA, TB, TC, MODE, EXPR)

/*
 * Comparisons write the active channels' bits of a flag register, and all ones or zeros to dst
 * unless arg is 0.
 */
#define CMP_BODY(TA, MODE, DECLARE, READ, EXPR)                                                    \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op), bits = 0, shift = 0;                                \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        ENTER_##MODE(t);                                                                           \
        do {                                                                                       \
            READ;                                                                                  \
            LANES_BITS_##TA value = (LANES_BITS_##TA)(EXPR);                                       \
            bits |= LANES_TO_BITS_##TA(value) << shift;                                            \
            if (op->arg) {                                                                         \
                STORE_BLEND(TA, to, (TA##x8)value, active >> shift & 0xff);                        \
                to += sizeof(value);                                                               \
            }                                                                                      \
            shift += 8;                                                                            \
        } while (--left);                                                                          \
        LEAVE_##MODE(t);                                                                           \
        write_flag(t, op, active, bits);                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define CMP_FN(id, cls, A, B, TA, MODE, EXPR)                                                      \
    HANDLER(id##_##cls)                                                                            \
    CMP_BODY(TA, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TA, b, 1), READ_##A(TA, a);              \
             READ_##B(TA, b), EXPR)

/* Two numbers: what holds for one channel holds for all. */
#define CMP_BOTH_FN(id, TA, MODE, EXPR)                                                            \
    HANDLER(id##_3)                                                                                \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        DECLARE_S(TA, a, 0);                                                                       \
        DECLARE_S(TA, b, 1);                                                                       \
        ENTER_##MODE(t);                                                                           \
        LANES_BITS_##TA value = (LANES_BITS_##TA)(EXPR);                                           \
        uint32_t bits = 0 - (uint32_t)(LANES_TO_BITS_##TA(value) & 1);                             \
        uint8_t *to = AT(t, op->dst);                                                              \
        for (unsigned i = 0; op->arg && i < op->chunks; i++, to += sizeof(value))                  \
            STORE_BLEND(TA, to, (TA##x8)value, active >> 8 * i & 0xff);                            \
        LEAVE_##MODE(t);                                                                           \
        write_flag(t, op, active, bits);                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define COMPARE_ONE(TA, MODE, EXPR)                                                                \
    DECLARE_S(TA, a, 0);                                                                           \
    DECLARE_S(TA, b, 1);                                                                           \
    ENTER_##MODE(t);                                                                               \
    LANES_BITS_##TA value = (LANES_BITS_##TA)(EXPR);                                               \
    if (op->arg)                                                                                   \
        memcpy(AT(t, op->dst), &value, sizeof(TA));                                                \
    write_flag(t, op, 1, (uint32_t)(value[0] & 1));                                                \
    LEAVE_##MODE(t) /* behind the stores: else the comparison may move there, too */
#define CMP_N1(id, TA, MODE, EXPR)                                                                 \
    HANDLER(id##_7)                                                                                \
    {                                                                                              \
        if (zs_eu_active(t, op) & 1) {                                                             \
            COMPARE_ONE(TA, MODE, EXPR);                                                           \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define ZS_EU_CMP(id, TA, MODE, EXPR)                                                              \
    CMP_FN(id, 0, V, V, TA, MODE, EXPR)                                                            \
    CMP_FN(id, 1, S, V, TA, MODE, EXPR)                                                            \
    CMP_FN(id, 2, V, S, TA, MODE, EXPR)                                                            \
    CMP_BOTH_FN(id, TA, MODE, EXPR)                                                                \
    CMP_N1(id, TA, MODE, EXPR)
#define ZS_EU_CMP_V(id, TA, MODE, EXPR)                                                            \
    CMP_FN(id, 0, V, V, TA, MODE, EXPR)                                                            \
    CMP_N1(id, TA, MODE, EXPR)

#define CHOSEN(TA, bits) LANES_PICK(TA, LANES_MASK_##TA((bits)&0xff), a, b)
#define SEL_BODY(TA, DECLARE, READ)                                                                \
    {                                                                                              \
        uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & op->lanes;               \
        uint32_t chosen = sel_chooser(t, op);                                                      \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        do {                                                                                       \
            READ;                                                                                  \
            STORE_BLEND(TA, to, CHOSEN(TA, chosen), active & 0xff);                                \
            to += sizeof(TA##x8);                                                                  \
            active >>= 8;                                                                          \
            chosen >>= 8;                                                                          \
        } while (--left);                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
#define SEL_FN(id, cls, A, B, TA)                                                                  \
    HANDLER(id##_##cls)                                                                            \
    SEL_BODY(TA, DECLARE_##A(TA, a, 0); DECLARE_##B(TA, b, 1), READ_##A(TA, a); READ_##B(TA, b))

#define ZS_EU_SEL(id, TA)                                                                          \
    SEL_FN(id, 0, V, V, TA)                                                                        \
    SEL_FN(id, 1, S, V, TA)                                                                        \
    SEL_FN(id, 2, V, S, TA)                                                                        \
    HANDLER(id##_7)                                                                                \
    {                                                                                              \
        if (zs_eu_word(t, op->enables) >> op->chan_offset & 1) {                                   \
            uint32_t from = sel_chooser(t, op) & 1 ? op->src[0] : op->src[1];                      \
            TA one;                                                                                \
            memcpy(&one, AT(t, from), sizeof(one));                                                \
            memcpy(AT(t, op->dst), &one, sizeof(one));                                             \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#include "eu/exec/sem.def"

/* ---- constant strides ---- */

/* Every second dword, which addresses of 64 bits are put together from, whole chunks: by the host's
 * own vectors, since gcc takes wider ones apart through memory. What lies between the elements of a
 * destination is written back as it was; so vectors are loaded later from stores of the same width,
 * which a host forwards. A chunk is read before it is written. */
#ifdef __AVX2__
#define EVEN_DWORDS(a, b)      __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define LOW_INTO_EVEN(v, old)  __builtin_shufflevector(v, old, 0, 9, 1, 11, 2, 13, 3, 15)
#define HIGH_INTO_EVEN(v, old) __builtin_shufflevector(v, old, 4, 9, 5, 11, 6, 13, 7, 15)
#else
#define EVEN_DWORDS(a, b)      __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define LOW_INTO_EVEN(v, old)  __builtin_shufflevector(v, old, 0, 5, 1, 7)
#define HIGH_INTO_EVEN(v, old) __builtin_shufflevector(v, old, 2, 5, 3, 7)
#endif

enum { PARTS = 32 / LANES_HOST_B };

static inline void gather_even(const uint8_t *from, uint8_t *to, unsigned chunks)
{
    for (; chunks; chunks--, from += 64, to += 32) {
        u32xhost all[2 * PARTS], even[PARTS];
        LANES_UNROLL for (int i = 0; i < 2 * PARTS; i++)
            memcpy(&all[i], from + i * LANES_HOST_B, LANES_HOST_B);
        LANES_UNROLL for (int i = 0; i < PARTS; i++) even[i] =
            EVEN_DWORDS(all[2 * i], all[2 * i + 1]);
        LANES_UNROLL for (int i = 0; i < PARTS; i++)
            memcpy(to + i * LANES_HOST_B, &even[i], LANES_HOST_B);
    }
}

static inline void scatter_even(const uint8_t *from, uint8_t *to, unsigned chunks)
{
    for (; chunks; chunks--, from += 32, to += 64) {
        u32xhost v[PARTS], all[2 * PARTS];
        LANES_UNROLL for (int i = 0; i < PARTS; i++)
            memcpy(&v[i], from + i * LANES_HOST_B, LANES_HOST_B);
        LANES_UNROLL for (int i = 0; i < 2 * PARTS; i++)
            memcpy(&all[i], to + i * LANES_HOST_B, LANES_HOST_B);
        LANES_UNROLL for (int i = 0; i < PARTS; i++)
        {
            all[2 * i] = LOW_INTO_EVEN(v[i], all[2 * i]);
            all[2 * i + 1] = HIGH_INTO_EVEN(v[i], all[2 * i + 1]);
        }
        LANES_UNROLL for (int i = 0; i < 2 * PARTS; i++)
            memcpy(to + i * LANES_HOST_B, &all[i], LANES_HOST_B);
    }
}

/* Of an operation with this mask. */
static inline bool is_even(const struct zs_eu_op *op, uint32_t active, size_t size_B)
{
    return size_B == 4 && op->src[1] == 8 && active == op->full;
}

/* src[0]: first element, src[1]: stride in bytes; dst: packed, masked. */
#define GATHER_FN(T, bits)                                                                         \
    HANDLER(gather_##bits)                                                                         \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        uint32_t stride = op->src[1];                                                              \
        const uint8_t *from = AT(t, op->src[0]);                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        bool whole = active == op->full;                                                           \
        if (is_even(op, active, sizeof(T))) {                                                      \
            gather_even(from, to, left);                                                           \
            ZS_EU_NEXT(t, op);                                                                     \
        }                                                                                          \
        do {                                                                                       \
            T##x8 v;                                                                               \
            for (int i = 0; i < 8; i++)                                                            \
                memcpy((uint8_t *)&v + i * (int)sizeof(T), from + i * (int)stride, sizeof(T));     \
            if (ZS_LIKELY(whole))                                                                  \
                memcpy(to, &v, sizeof(v));                                                         \
            else                                                                                   \
                STORE_BLEND(T, to, v, active & 0xff);                                              \
            from += 8 * (size_t)stride;                                                            \
            to += sizeof(v);                                                                       \
            active >>= 8;                                                                          \
        } while (--left);                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
GATHER_FN(u8, 8)
GATHER_FN(u16, 16)
GATHER_FN(u32, 32)
GATHER_FN(u64, 64)

/* src[0]: packed, src[1]: stride of dst in bytes. */
#define SCATTER_FN(T, bits)                                                                        \
    HANDLER(scatter_##bits)                                                                        \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        uint32_t stride = op->src[1];                                                              \
        const uint8_t *from = AT(t, op->src[0]);                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        if (is_even(op, active, sizeof(T))) {                                                      \
            scatter_even(from, to, op->chunks);                                                    \
            ZS_EU_NEXT(t, op);                                                                     \
        }                                                                                          \
        for (; active; active &= active - 1) {                                                     \
            unsigned i = (unsigned)__builtin_ctz(active);                                          \
            memcpy(to + i * stride, from + i * sizeof(T), sizeof(T));                              \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
SCATTER_FN(u8, 8)
SCATTER_FN(u16, 16)
SCATTER_FN(u32, 32)
SCATTER_FN(u64, 64)

/* ---- the table ---- */

#define CELLS(id, cls) [cls] = id##_##cls
#define CELLS_V(id)                                                                                \
    {                                                                                              \
        [0] = id##_0, [ZS_EU_CLASS_N1] = id##_7                                                    \
    }

const struct zs_eu_handlers ZS_EU_HANDLERS = {
    .row =
        {
#define ZS_EU_UN(id, td, ta, mode, expr)                                                           \
    [ZS_EU_ROW_##id] = {CELLS(id, 0), CELLS(id, 1), CELLS(id, 7)},
#define ZS_EU_UN_V(id, td, ta, mode, expr) [ZS_EU_ROW_##id] = CELLS_V(id),
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)                                                      \
    [ZS_EU_ROW_##id] = {CELLS(id, 0), CELLS(id, 1), CELLS(id, 2), CELLS(id, 7)},
#define ZS_EU_BIN_V(id, td, ta, tb, mode, expr) [ZS_EU_ROW_##id] = CELLS_V(id),
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr)                                                  \
    [ZS_EU_ROW_##id] = {CELLS(id, 0), CELLS(id, 1), CELLS(id, 2), CELLS(id, 3),                    \
                        CELLS(id, 4), CELLS(id, 5), CELLS(id, 6), CELLS(id, 7)},
#define ZS_EU_TER_V(id, td, ta, tb, tc, mode, expr) [ZS_EU_ROW_##id] = CELLS_V(id),
#define ZS_EU_CMP(id, ta, mode, expr)                                                              \
    [ZS_EU_ROW_##id] = {CELLS(id, 0), CELLS(id, 1), CELLS(id, 2), CELLS(id, 7), CELLS(id, 3)},
#define ZS_EU_CMP_V(id, ta, mode, expr) [ZS_EU_ROW_##id] = CELLS_V(id),
#define ZS_EU_SEL(id, ta)                                                                          \
    [ZS_EU_ROW_##id] = {CELLS(id, 0), CELLS(id, 1), CELLS(id, 2), CELLS(id, 7)},
#include "eu/exec/sem.def"
        },
    .gather = {gather_8, gather_16, gather_32, gather_64},
    .scatter = {scatter_8, scatter_16, scatter_32, scatter_64},
};
