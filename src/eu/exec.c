/* SPDX-License-Identifier: MIT */
/*
 * Handlers of straight-line operations: the rows of sem.def, expanded for every way of reading
 * sources. This file is built several times, for different host instruction sets; ZS_EU_HANDLERS
 * names the table that a build defines.
 */
#include "eu/eu_priv.h"
#include "eu/lanes_math.h"

#define FN static const struct zs_eu_op *

/* ---- floating-point environment (the modes of sem.def) ---- */

#define ENTER_PLAIN(t)
#define LEAVE_PLAIN(t)
#define ENTER_SINGLE(t)
#define LEAVE_SINGLE(t)
#define ENTER_DOUBLE(t)                                                                            \
    if (ZS_UNLIKELY((t)->host_csr != (t)->host_csr_double))                                        \
    _mm_setcsr((t)->host_csr_double)
#define LEAVE_DOUBLE(t)                                                                            \
    if (ZS_UNLIKELY((t)->host_csr != (t)->host_csr_double))                                        \
    _mm_setcsr((t)->host_csr)
#define CSR_FLUSH                (_MM_FLUSH_ZERO_MASK | _MM_DENORMALS_ZERO_MASK_)
#define _MM_DENORMALS_ZERO_MASK_ 0x40u
#define ENTER_KEEP(t)                                                                              \
    if (ZS_UNLIKELY((t)->host_csr & CSR_FLUSH))                                                    \
    _mm_setcsr((t)->host_csr & ~CSR_FLUSH)
#define LEAVE_KEEP(t)                                                                              \
    if (ZS_UNLIKELY((t)->host_csr & CSR_FLUSH))                                                    \
    _mm_setcsr((t)->host_csr)

/* ---- reading and writing operands ---- */

#define AT(t, offset) ((uint8_t *)(t) + (offset))

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

/*
 * A handler: declare the sources, then chunk by chunk read them, compute, store. Sources are read
 * before the chunk is stored, and zs_eu_lower() has excluded harmful overlaps between chunks.
 */
#define BODY(TD, MODE, DECLARE, READ, EXPR)                                                        \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        ENTER_##MODE(t);                                                                           \
        if (ZS_LIKELY(active == op->full)) {                                                       \
            do {                                                                                   \
                READ;                                                                              \
                TD##x8 value = (TD##x8)(EXPR);                                                     \
                memcpy(to, &value, sizeof(value));                                                 \
                to += sizeof(value);                                                               \
            } while (--left);                                                                      \
        } else if (active) {                                                                       \
            do {                                                                                   \
                READ;                                                                              \
                STORE_BLEND(TD, to, (TD##x8)(EXPR), active & 0xff);                                \
                to += sizeof(TD##x8);                                                              \
                active >>= 8;                                                                      \
            } while (--left);                                                                      \
        }                                                                                          \
        LEAVE_##MODE(t);                                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }

/* One channel: nothing but its element is touched. */
#define BODY_N1(TD, MODE, DECLARE, EXPR)                                                           \
    {                                                                                              \
        if (zs_eu_active(t, op) & 1) {                                                             \
            DECLARE;                                                                               \
            ENTER_##MODE(t);                                                                       \
            TD##x8 value = (TD##x8)(EXPR);                                                         \
            TD one = value[0];                                                                     \
            memcpy(AT(t, op->dst), &one, sizeof(one));                                             \
            LEAVE_##MODE(t);                                                                       \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

/*
 * Sixteen channels without a predicate, which is what most operations are: two chunks and nothing
 * else. lower_quick.c puts these handlers in place.
 */
#define QUICK_BODY(TD, MODE, DECLARE, READ, EXPR)                                                  \
    {                                                                                              \
        uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & 0xffff;                  \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        ENTER_##MODE(t);                                                                           \
        if (ZS_LIKELY(active == 0xffff)) {                                                         \
            READ;                                                                                  \
            TD##x8 first = (TD##x8)(EXPR);                                                         \
            memcpy(to, &first, sizeof(first));                                                     \
            READ;                                                                                  \
            TD##x8 second = (TD##x8)(EXPR);                                                        \
            memcpy(to + sizeof(first), &second, sizeof(second));                                   \
        } else if (active) {                                                                       \
            READ;                                                                                  \
            STORE_BLEND(TD, to, (TD##x8)(EXPR), active & 0xff);                                    \
            READ;                                                                                  \
            STORE_BLEND(TD, to + sizeof(TD##x8), (TD##x8)(EXPR), active >> 8);                     \
        }                                                                                          \
        LEAVE_##MODE(t);                                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define UN_FN(id, cls, A, TD, TA, MODE, EXPR)                                                      \
    FN id##_##cls(struct zs_eu_thread *t, const struct zs_eu_op *op)                               \
        BODY(TD, MODE, DECLARE_##A(TA, a, 0), READ_##A(TA, a), EXPR)
#define UN_QUICK_FN(id, cls, A, TD, TA, MODE, EXPR)                                                \
    FN id##_##cls##_quick(struct zs_eu_thread *t, const struct zs_eu_op *op)                       \
        QUICK_BODY(TD, MODE, DECLARE_##A(TA, a, 0), READ_##A(TA, a), EXPR)
#define BIN_FN(id, cls, A, B, TD, TA, TB, MODE, EXPR)                                              \
    FN id##_##cls(struct zs_eu_thread *t, const struct zs_eu_op *op)                               \
        BODY(TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1), READ_##A(TA, a);              \
             READ_##B(TB, b), EXPR)
#define BIN_QUICK_FN(id, cls, A, B, TD, TA, TB, MODE, EXPR)                                        \
    FN id##_##cls##_quick(struct zs_eu_thread *t, const struct zs_eu_op *op)                       \
        QUICK_BODY(TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1), READ_##A(TA, a);        \
                   READ_##B(TB, b), EXPR)
#define TER_FN(id, cls, A, B, C, TD, TA, TB, TC, MODE, EXPR)                                       \
    FN id##_##cls(struct zs_eu_thread *t, const struct zs_eu_op *op)                               \
        BODY(TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1);                               \
             DECLARE_##C(TC, c, 2), READ_##A(TA, a); READ_##B(TB, b); READ_##C(TC, c), EXPR)
#define TER_QUICK_FN(id, cls, A, B, C, TD, TA, TB, TC, MODE, EXPR)                                 \
    FN id##_##cls##_quick(struct zs_eu_thread *t, const struct zs_eu_op *op)                       \
        QUICK_BODY(TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1);                         \
                   DECLARE_##C(TC, c, 2), READ_##A(TA, a); READ_##B(TB, b); READ_##C(TC, c), EXPR)

#define ZS_EU_UN(id, TD, TA, MODE, EXPR)                                                           \
    UN_FN(id, 1, S, TD, TA, MODE, EXPR)                                                            \
    ZS_EU_UN_V(id, TD, TA, MODE, EXPR)                                                             \
    UN_QUICK_FN(id, 0, V, TD, TA, MODE, EXPR)                                                      \
    UN_QUICK_FN(id, 1, S, TD, TA, MODE, EXPR)
#define ZS_EU_UN_V(id, TD, TA, MODE, EXPR)                                                         \
    UN_FN(id, 0, V, TD, TA, MODE, EXPR)                                                            \
    FN id##_7(struct zs_eu_thread *t, const struct zs_eu_op *op)                                   \
        BODY_N1(TD, MODE, DECLARE_S(TA, a, 0), EXPR)

#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    BIN_FN(id, 1, S, V, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_FN(id, 2, V, S, TD, TA, TB, MODE, EXPR)                                                    \
    ZS_EU_BIN_V(id, TD, TA, TB, MODE, EXPR)                                                        \
    BIN_QUICK_FN(id, 0, V, V, TD, TA, TB, MODE, EXPR)                                              \
    BIN_QUICK_FN(id, 1, S, V, TD, TA, TB, MODE, EXPR)                                              \
    BIN_QUICK_FN(id, 2, V, S, TD, TA, TB, MODE, EXPR)
#define ZS_EU_BIN_V(id, TD, TA, TB, MODE, EXPR)                                                    \
    BIN_FN(id, 0, V, V, TD, TA, TB, MODE, EXPR)                                                    \
    FN id##_7(struct zs_eu_thread *t, const struct zs_eu_op *op)                                   \
        BODY_N1(TD, MODE, DECLARE_S(TA, a, 0); DECLARE_S(TB, b, 1), EXPR)

#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    TER_FN(id, 1, S, V, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 2, V, S, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 3, S, S, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 4, V, V, S, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 5, S, V, S, TD, TA, TB, TC, MODE, EXPR)                                             \
    TER_FN(id, 6, V, S, S, TD, TA, TB, TC, MODE, EXPR)                                             \
    ZS_EU_TER_V(id, TD, TA, TB, TC, MODE, EXPR)                                                    \
    TER_QUICK_FN(id, 0, V, V, V, TD, TA, TB, TC, MODE, EXPR)                                       \
    TER_QUICK_FN(id, 1, S, V, V, TD, TA, TB, TC, MODE, EXPR)                                       \
    TER_QUICK_FN(id, 2, V, S, V, TD, TA, TB, TC, MODE, EXPR)                                       \
    TER_QUICK_FN(id, 3, S, S, V, TD, TA, TB, TC, MODE, EXPR)                                       \
    TER_QUICK_FN(id, 4, V, V, S, TD, TA, TB, TC, MODE, EXPR)                                       \
    TER_QUICK_FN(id, 5, S, V, S, TD, TA, TB, TC, MODE, EXPR)                                       \
    TER_QUICK_FN(id, 6, V, S, S, TD, TA, TB, TC, MODE, EXPR)
#define ZS_EU_TER_V(id, TD, TA, TB, TC, MODE, EXPR)                                                \
    TER_FN(id, 0, V, V, V, TD, TA, TB, TC, MODE, EXPR)                                             \
    FN id##_7(struct zs_eu_thread *t, const struct zs_eu_op *op)                                   \
        BODY_N1(TD, MODE, DECLARE_S(TA, a, 0); DECLARE_S(TB, b, 1); DECLARE_S(TC, c, 2), EXPR)

/*
 * Comparisons write the active channels' bits of a flag register, and all ones or zeros to dst
 * unless arg is 0.
 */
static inline __attribute__((always_inline)) void
write_flag(struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t active, uint32_t bits)
{
    uint32_t *flag = (uint32_t *)(void *)AT(t, op->flag);
    *flag = (*flag & ~(active << op->flag_shift)) | (bits & active) << op->flag_shift;
}

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

/* Sixteen channels, the flag alone. */
#define CMP_QUICK_FN(id, cls, A, B, TA, MODE, EXPR)                                                \
    FN id##_##cls##_quick(struct zs_eu_thread *t, const struct zs_eu_op *op)                       \
    {                                                                                              \
        if (ZS_UNLIKELY(op->arg))                                                                  \
            return id##_##cls(t, op);                                                              \
        uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & 0xffff;                  \
        DECLARE_##A(TA, a, 0);                                                                     \
        DECLARE_##B(TA, b, 1);                                                                     \
        ENTER_##MODE(t);                                                                           \
        READ_##A(TA, a);                                                                           \
        READ_##B(TA, b);                                                                           \
        uint32_t bits = LANES_TO_BITS_##TA((LANES_BITS_##TA)(EXPR));                               \
        READ_##A(TA, a);                                                                           \
        READ_##B(TA, b);                                                                           \
        bits |= LANES_TO_BITS_##TA((LANES_BITS_##TA)(EXPR)) << 8;                                  \
        LEAVE_##MODE(t);                                                                           \
        write_flag(t, op, active, bits);                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define CMP_FN(id, cls, A, B, TA, MODE, EXPR)                                                      \
    FN id##_##cls(struct zs_eu_thread *t, const struct zs_eu_op *op)                               \
        CMP_BODY(TA, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TA, b, 1), READ_##A(TA, a);          \
                 READ_##B(TA, b), EXPR)

#define ZS_EU_CMP(id, TA, MODE, EXPR)                                                              \
    CMP_FN(id, 1, S, V, TA, MODE, EXPR)                                                            \
    CMP_FN(id, 2, V, S, TA, MODE, EXPR)                                                            \
    ZS_EU_CMP_V(id, TA, MODE, EXPR)                                                                \
    CMP_QUICK_FN(id, 0, V, V, TA, MODE, EXPR)                                                      \
    CMP_QUICK_FN(id, 1, S, V, TA, MODE, EXPR)                                                      \
    CMP_QUICK_FN(id, 2, V, S, TA, MODE, EXPR)
#define ZS_EU_CMP_V(id, TA, MODE, EXPR)                                                            \
    CMP_FN(id, 0, V, V, TA, MODE, EXPR)                                                            \
    FN id##_7(struct zs_eu_thread *t, const struct zs_eu_op *op)                                   \
    {                                                                                              \
        if (zs_eu_active(t, op) & 1) {                                                             \
            DECLARE_S(TA, a, 0);                                                                   \
            DECLARE_S(TA, b, 1);                                                                   \
            ENTER_##MODE(t);                                                                       \
            LANES_BITS_##TA value = (LANES_BITS_##TA)(EXPR);                                       \
            if (op->arg)                                                                           \
                memcpy(AT(t, op->dst), &value, sizeof(TA));                                        \
            write_flag(t, op, 1, (uint32_t)(value[0] & 1));                                        \
            LEAVE_##MODE(t); /* behind the stores: else the comparison may move there, too */      \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

/* sel: the predicate chooses, so only channel enables mask the store. */
static inline __attribute__((always_inline)) uint32_t sel_chooser(const struct zs_eu_thread *t,
                                                                  const struct zs_eu_op *op)
{
    return zs_eu_word(t, op->predicate) >> op->pred_shift ^ op->pred_xor;
}

#define SEL_FN(id, cls, A, B, TA)                                                                  \
    FN id##_##cls(struct zs_eu_thread *t, const struct zs_eu_op *op)                               \
    {                                                                                              \
        uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & op->lanes;               \
        uint32_t chosen = sel_chooser(t, op);                                                      \
        DECLARE_##A(TA, a, 0);                                                                     \
        DECLARE_##B(TA, b, 1);                                                                     \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        bool whole = active == op->full;                                                           \
        do {                                                                                       \
            READ_##A(TA, a);                                                                       \
            READ_##B(TA, b);                                                                       \
            TA##x8 value = LANES_PICK(TA, LANES_MASK_##TA(chosen & 0xff), a, b);                   \
            if (ZS_LIKELY(whole))                                                                  \
                memcpy(to, &value, sizeof(value));                                                 \
            else                                                                                   \
                STORE_BLEND(TA, to, value, active & 0xff);                                         \
            to += sizeof(value);                                                                   \
            active >>= 8;                                                                          \
            chosen >>= 8;                                                                          \
        } while (--left);                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define SEL_QUICK_FN(id, cls, A, B, TA)                                                            \
    FN id##_##cls##_quick(struct zs_eu_thread *t, const struct zs_eu_op *op)                       \
    {                                                                                              \
        uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & 0xffff;                  \
        uint32_t chosen = sel_chooser(t, op);                                                      \
        DECLARE_##A(TA, a, 0);                                                                     \
        DECLARE_##B(TA, b, 1);                                                                     \
        uint8_t *to = AT(t, op->dst);                                                              \
        READ_##A(TA, a);                                                                           \
        READ_##B(TA, b);                                                                           \
        TA##x8 first = LANES_PICK(TA, LANES_MASK_##TA(chosen & 0xff), a, b);                       \
        if (ZS_LIKELY(active == 0xffff))                                                           \
            memcpy(to, &first, sizeof(first));                                                     \
        else                                                                                       \
            STORE_BLEND(TA, to, first, active & 0xff);                                             \
        READ_##A(TA, a);                                                                           \
        READ_##B(TA, b);                                                                           \
        TA##x8 second = LANES_PICK(TA, LANES_MASK_##TA(chosen >> 8 & 0xff), a, b);                 \
        if (ZS_LIKELY(active == 0xffff))                                                           \
            memcpy(to + sizeof(first), &second, sizeof(second));                                   \
        else                                                                                       \
            STORE_BLEND(TA, to + sizeof(first), second, active >> 8);                              \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define ZS_EU_SEL(id, TA)                                                                          \
    SEL_FN(id, 0, V, V, TA)                                                                        \
    SEL_FN(id, 1, S, V, TA)                                                                        \
    SEL_FN(id, 2, V, S, TA)                                                                        \
    SEL_QUICK_FN(id, 0, V, V, TA)                                                                  \
    SEL_QUICK_FN(id, 1, S, V, TA)                                                                  \
    SEL_QUICK_FN(id, 2, V, S, TA)                                                                  \
    FN id##_7(struct zs_eu_thread *t, const struct zs_eu_op *op)                                   \
    {                                                                                              \
        if (zs_eu_word(t, op->enables) >> op->chan_offset & 1) {                                   \
            uint32_t from = sel_chooser(t, op) & 1 ? op->src[0] : op->src[1];                      \
            TA one;                                                                                \
            memcpy(&one, AT(t, from), sizeof(one));                                                \
            memcpy(AT(t, op->dst), &one, sizeof(one));                                             \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#include "eu/sem.def"

/* ---- constant strides ---- */

#define GATHER_CHUNK(T, stride)                                                                    \
    for (int i = 0; i < 8; i++)                                                                    \
    memcpy((uint8_t *)&v + i * (int)sizeof(T), from + i * (int)(stride), sizeof(T))

/* src[0]: first element, src[1]: stride in bytes; dst: packed, masked. */
#define GATHER_FN(T, bits)                                                                         \
    FN gather_##bits(struct zs_eu_thread *t, const struct zs_eu_op *op)                            \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        uint32_t stride = op->src[1];                                                              \
        const uint8_t *from = AT(t, op->src[0]);                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        bool whole = active == op->full;                                                           \
        do {                                                                                       \
            T##x8 v;                                                                               \
            if (ZS_LIKELY(stride == 2 * sizeof(T)))                                                \
                GATHER_CHUNK(T, 2 * sizeof(T));                                                    \
            else                                                                                   \
                GATHER_CHUNK(T, stride);                                                           \
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
    FN scatter_##bits(struct zs_eu_thread *t, const struct zs_eu_op *op)                           \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        uint32_t stride = op->src[1];                                                              \
        const uint8_t *from = AT(t, op->src[0]);                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        unsigned left = op->chunks;                                                                \
        if (ZS_LIKELY(active == op->full)) {                                                       \
            do {                                                                                   \
                T##x8 v;                                                                           \
                memcpy(&v, from, sizeof(v));                                                       \
                for (unsigned i = 0; i < 8; i++)                                                   \
                    memcpy(to + i * stride, (uint8_t *)&v + i * sizeof(T), sizeof(T));             \
                from += sizeof(v);                                                                 \
                to += 8 * (size_t)stride;                                                          \
            } while (--left);                                                                      \
        } else {                                                                                   \
            for (; active; active &= active - 1) {                                                 \
                unsigned i = (unsigned)__builtin_ctz(active);                                      \
                memcpy(to + i * stride, from + i * sizeof(T), sizeof(T));                          \
            }                                                                                      \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
SCATTER_FN(u8, 8)
SCATTER_FN(u16, 16)
SCATTER_FN(u32, 32)
SCATTER_FN(u64, 64)

const struct zs_eu_handlers ZS_EU_HANDLERS = {
    .row =
        {
#define ZS_EU_UN(id, td, ta, mode, expr)   [ZS_EU_ROW_##id] = {[0] = id##_0, id##_1, [7] = id##_7},
#define ZS_EU_UN_V(id, td, ta, mode, expr) [ZS_EU_ROW_##id] = {[0] = id##_0, [7] = id##_7},
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)                                                      \
    [ZS_EU_ROW_##id] = {[0] = id##_0, id##_1, id##_2, [7] = id##_7},
#define ZS_EU_BIN_V(id, td, ta, tb, mode, expr) [ZS_EU_ROW_##id] = {[0] = id##_0, [7] = id##_7},
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr)                                                  \
    [ZS_EU_ROW_##id] = {id##_0, id##_1, id##_2, id##_3, id##_4, id##_5, id##_6, id##_7},
#define ZS_EU_TER_V(id, td, ta, tb, tc, mode, expr) [ZS_EU_ROW_##id] = {[0] = id##_0, [7] = id##_7},
#define ZS_EU_CMP(id, ta, mode, expr)                                                              \
    [ZS_EU_ROW_##id] = {[0] = id##_0, id##_1, id##_2, [7] = id##_7},
#define ZS_EU_CMP_V(id, ta, mode, expr) [ZS_EU_ROW_##id] = {[0] = id##_0, [7] = id##_7},
#define ZS_EU_SEL(id, ta)               [ZS_EU_ROW_##id] = {[0] = id##_0, id##_1, id##_2, [7] = id##_7},
#include "eu/sem.def"
        },
    .quick =
        {
#define ZS_EU_UN(id, td, ta, mode, expr)   [ZS_EU_ROW_##id] = {id##_0_quick, id##_1_quick},
#define ZS_EU_UN_V(id, td, ta, mode, expr) [ZS_EU_ROW_##id] = {0},
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)                                                      \
    [ZS_EU_ROW_##id] = {id##_0_quick, id##_1_quick, id##_2_quick},
#define ZS_EU_BIN_V(id, td, ta, tb, mode, expr) [ZS_EU_ROW_##id] = {0},
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr)                                                  \
    [ZS_EU_ROW_##id] = {id##_0_quick, id##_1_quick, id##_2_quick, id##_3_quick,                    \
                        id##_4_quick, id##_5_quick, id##_6_quick},
#define ZS_EU_TER_V(id, td, ta, tb, tc, mode, expr) [ZS_EU_ROW_##id] = {0},
#define ZS_EU_CMP(id, ta, mode, expr)               [ZS_EU_ROW_##id] = {id##_0_quick, id##_1_quick, id##_2_quick},
#define ZS_EU_CMP_V(id, ta, mode, expr)             [ZS_EU_ROW_##id] = {0},
#define ZS_EU_SEL(id, ta)                           [ZS_EU_ROW_##id] = {id##_0_quick, id##_1_quick, id##_2_quick},
#include "eu/sem.def"
        },
    .gather = {gather_8, gather_16, gather_32, gather_64},
    .scatter = {scatter_8, scatter_16, scatter_32, scatter_64},
};
