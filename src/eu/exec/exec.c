/* SPDX-License-Identifier: MIT */
/*
 * Handlers of straight-line operations: the rows of sem.def, which read sources as
 * packed elements or as one. This file is built several times, for different host instruction sets;
 * ZS_EU_HANDLERS names the table that a build defines.
 */
#include "eu/exec/exec.h"

/* ---- reading and writing operands ---- */

/* A source: packed elements, eight a chunk, or one for all channels. */
#define SOURCE(T, x, index)                                                                        \
    const uint8_t *x##_at = ZS_EU_AT(t, op->src[index]);                                           \
    const bool x##_is_one = op->cls >> (index)&1;                                                  \
    T x##_one;                                                                                     \
    memcpy(&x##_one, x##_at, sizeof(x##_one));                                                     \
    T##x8 x = LANES_SPLAT_BITS(T, x##_one)
#define READ(T, x)                                                                                 \
    if (!x##_is_one) {                                                                             \
        memcpy(&x, x##_at, sizeof(x));                                                             \
        x##_at += sizeof(x);                                                                       \
    }

#define STORE_BLEND(T, at, value, mask)                                                            \
    do {                                                                                           \
        T##x8 old_, new_ = (value);                                                                \
        memcpy(&old_, (at), sizeof(old_));                                                         \
        new_ = LANES_PICK(T, lanes_mask_##T(mask), new_, old_);                                    \
        memcpy((at), &new_, sizeof(new_));                                                         \
    } while (0)
/* A chunk; of one channel nothing but its element is touched. */
#define STORE(T, at, value, mask)                                                                  \
    do {                                                                                           \
        if (op->cls == ZS_EU_CLASS_N1) {                                                           \
            T one_ = (value)[0];                                                                   \
            if ((mask)&1)                                                                          \
                memcpy((at), &one_, sizeof(one_));                                                 \
        } else {                                                                                   \
            STORE_BLEND(T, at, value, mask);                                                       \
        }                                                                                          \
    } while (0)

/*
 * A handler: chunk by chunk read the sources, compute, store. Sources are read before the chunk is
 * stored, and zs_eu_lower() has excluded harmful overlaps between chunks. Whole chunks have a loop
 * of their own.
 */
#define BODY(id, TD, MODE, SOURCES, READS, EXPR)                                                   \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        if (active) {                                                                              \
            SOURCES;                                                                               \
            uint8_t *to = ZS_EU_AT(t, op->dst);                                                    \
            unsigned left = op->chunks;                                                            \
            ENTER_##MODE(t);                                                                       \
            if (ZS_LIKELY(active == op->full && op->cls != ZS_EU_CLASS_N1)) {                      \
                do {                                                                               \
                    READS;                                                                         \
                    TD##x8 value = (TD##x8)(EXPR);                                                 \
                    memcpy(to, &value, sizeof(value));                                             \
                    to += sizeof(value);                                                           \
                } while (--left);                                                                  \
            } else {                                                                               \
                do {                                                                               \
                    READS;                                                                         \
                    TD##x8 value = (TD##x8)(EXPR);                                                 \
                    STORE(TD, to, value, active & 0xff);                                           \
                    to += sizeof(value);                                                           \
                    active >>= 8;                                                                  \
                } while (--left);                                                                  \
            }                                                                                      \
            LEAVE_##MODE(t);                                                                       \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
#define ZS_EU_UN(id, TD, TA, MODE, EXPR) BODY(id, TD, MODE, SOURCE(TA, a, 0), READ(TA, a), EXPR)
#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    BODY(id, TD, MODE, SOURCE(TA, a, 0); SOURCE(TB, b, 1), READ(TA, a) READ(TB, b), EXPR)
#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    BODY(id, TD, MODE, SOURCE(TA, a, 0); SOURCE(TB, b, 1);                                         \
         SOURCE(TC, c, 2), READ(TA, a) READ(TB, b) READ(TC, c), EXPR)

/*
 * Comparisons write the active channels' bits of a flag register, and all ones or zeros to dst
 * unless arg is 0.
 */
#define ZS_EU_CMP(id, TA, MODE, EXPR)                                                              \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op), bits = 0, shift = 0;                                \
        SOURCE(TA, a, 0);                                                                          \
        SOURCE(TA, b, 1);                                                                          \
        uint8_t *to = ZS_EU_AT(t, op->dst);                                                        \
        unsigned left = op->chunks;                                                                \
        ENTER_##MODE(t);                                                                           \
        do {                                                                                       \
            READ(TA, a) READ(TA, b) LANES_BITS_##TA value = (LANES_BITS_##TA)(EXPR);               \
            bits |= LANES_TO_BITS_##TA(value) << shift;                                            \
            if (op->arg) {                                                                         \
                STORE(TA, to, (TA##x8)value, active >> shift & 0xff);                              \
                to += sizeof(value);                                                               \
            }                                                                                      \
            shift += 8;                                                                            \
        } while (--left);                                                                          \
        zs_eu_write_flag(t, op, active, bits);                                                     \
        LEAVE_##MODE(t); /* behind the stores: else the comparison may move there, too */          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define ZS_EU_SEL(id, TA)                                                                          \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & op->lanes;               \
        uint32_t chosen = sel_chooser(t, op);                                                      \
        SOURCE(TA, a, 0);                                                                          \
        SOURCE(TA, b, 1);                                                                          \
        uint8_t *to = ZS_EU_AT(t, op->dst);                                                        \
        unsigned left = op->chunks;                                                                \
        do {                                                                                       \
            READ(TA, a)                                                                            \
            READ(TA, b) TA##x8 value = LANES_PICK(TA, lanes_mask_##TA(chosen & 0xff), a, b);       \
            STORE(TA, to, value, active & 0xff);                                                   \
            to += sizeof(value);                                                                   \
            active >>= 8;                                                                          \
            chosen >>= 8;                                                                          \
        } while (--left);                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#include "eu/exec/sem.def"

/* ---- constant strides ---- */

/* src[0]: first element, src[1]: stride in bytes; dst: packed, masked. */
#define GATHER_FN(T, bits)                                                                         \
    HANDLER(gather_##bits)                                                                         \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        uint32_t stride = op->src[1];                                                              \
        const uint8_t *from = ZS_EU_AT(t, op->src[0]);                                             \
        uint8_t *to = ZS_EU_AT(t, op->dst);                                                        \
        unsigned left = op->chunks;                                                                \
        bool whole = active == op->full;                                                           \
        do {                                                                                       \
            T part[8];                                                                             \
            LANES_UNROLL for (unsigned i = 0; i < 8; i++)                                          \
                memcpy(&part[i], from + i * stride, sizeof(T));                                    \
            T##x8 v = {part[0], part[1], part[2], part[3], part[4], part[5], part[6], part[7]};    \
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

/* src[0]: packed, src[1]: stride of dst in bytes. Halves of elements twice as wide are blended into
 * these: a host that reads those whole waits long for stores of parts. */
#define SCATTER_FN(T, W, bits)                                                                     \
    HANDLER(scatter_##bits)                                                                        \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        uint32_t stride = op->src[1];                                                              \
        const uint8_t *from = ZS_EU_AT(t, op->src[0]);                                             \
        uint8_t *to = ZS_EU_AT(t, op->dst);                                                        \
        if (stride == sizeof(W) && active == op->full && op->dst % sizeof(T) == 0) {               \
            const unsigned shift = bits * (unsigned)(op->dst % sizeof(W) / sizeof(T));             \
            const W##x8 kept = ~LANES_SPLAT_BITS(W, (W)((W)(T) ~(T)0 << shift));                   \
            to -= shift / 8;                                                                       \
            for (unsigned left = op->chunks; left--; to += sizeof(W##x8), from += sizeof(T##x8)) { \
                T##x8 part;                                                                        \
                W##x8 old;                                                                         \
                memcpy(&part, from, sizeof(part));                                                 \
                memcpy(&old, to, sizeof(old));                                                     \
                old = (old & kept) | __builtin_convertvector(part, W##x8) << (W)shift;             \
                memcpy(to, &old, sizeof(old));                                                     \
            }                                                                                      \
            active = 0;                                                                            \
        }                                                                                          \
        for (; active; active &= active - 1) {                                                     \
            unsigned i = (unsigned)__builtin_ctz(active);                                          \
            memcpy(to + i * stride, from + i * sizeof(T), sizeof(T));                              \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
SCATTER_FN(u8, u16, 8)
SCATTER_FN(u16, u32, 16)
SCATTER_FN(u32, u64, 32)
SCATTER_FN(u64, u64, 64)

/* ---- the table ---- */

const struct zs_eu_handlers ZS_EU_HANDLERS = {
    .row =
        {
#define ZS_EU_UN(id, td, ta, mode, expr)          [ZS_EU_ROW_##id] = id,
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)     [ZS_EU_ROW_##id] = id,
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr) [ZS_EU_ROW_##id] = id,
#define ZS_EU_CMP(id, ta, mode, expr)             [ZS_EU_ROW_##id] = id,
#define ZS_EU_SEL(id, ta)                         [ZS_EU_ROW_##id] = id,
#include "eu/exec/sem.def"
        },
    .gather = {gather_8, gather_16, gather_32, gather_64},
    .scatter = {scatter_8, scatter_16, scatter_32, scatter_64},
};
