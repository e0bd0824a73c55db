/* SPDX-License-Identifier: MIT */
/*
 * Links: an operation that gives what it makes to the next one in the host's registers.
 *
 * Operations leave their results in the thread, and the next one loads them from there: where each
 * needs what the one before it made, that way through memory takes longer than computing. So where
 * an operation of 32 lanes of dwords follows one that it has a source from, the two have
 * handlers of this file: the first passes its result on in four vectors, besides storing it where
 * others may read it, the second takes that source from there. lower_select.c finds them; what
 * stands between two that depend on each other is moved out of the way by lower_order.c.
 *
 * Sources of a handler are V, eight packed elements per chunk, S, one element for all channels, or
 * C, carried: what was passed on. Which rows there are follows from sem.def: those of dwords. Built
 * like exec.c.
 */
#include "base/sanitizer.h"
#include "eu/exec.h"

/* clang's sanitizers would take minutes for these handlers. */
#if ZS_HAS_ASAN || ZS_HAS_TSAN
#undef ZS_EU_HAS_LINKS
#define ZS_EU_HAS_LINKS 0
#endif

#if ZS_EU_HAS_LINKS

enum { CHUNKS = 4 };

/* What follows a handler that gives. It was chosen so that the two agree on it. */
typedef const struct zs_eu_op *taker(struct zs_eu_thread *t, const struct zs_eu_op *op, u32x8 v0,
                                     u32x8 v1, u32x8 v2, u32x8 v3);

#define FIRST(name) HANDLER(name)
#define TAKER(name)                                                                                \
    static const struct zs_eu_op *name(struct zs_eu_thread *t, const struct zs_eu_op *op,          \
                                       u32x8 v0, u32x8 v1, u32x8 v2, u32x8 v3)
#define TAKEN const u32x8 taken[CHUNKS] = {v0, v1, v2, v3}

/* What becomes of a result: 0, it is stored; 1, stored and given; 2, given alone. */
#define GIVE_0  ZS_EU_NEXT(t, op)
#define GIVE_1  return ((taker *)op[1].linked)(t, op + 1, made[0], made[1], made[2], made[3])
#define GIVE_2  GIVE_1
#define STORE_0 1
#define STORE_1 1
#define STORE_2 0

#define DECLARE_V(T, x, index)                                                                     \
    const uint8_t *x##_at = AT(t, op->src[index]);                                                 \
    T##x8 x
#define READ_V(T, x) memcpy(&x, x##_at + (size_t)i_ * sizeof(x), sizeof(x))
#define DECLARE_S(T, x, index)                                                                     \
    T x##_one;                                                                                     \
    memcpy(&x##_one, AT(t, op->src[index]), sizeof(x##_one));                                      \
    const T##x8 x = LANES_SPLAT_BITS(T, x##_one)
#define READ_S(T, x)
#define DECLARE_C(T, x, index) T##x8 x
#define READ_C(T, x)           x = (T##x8)taken[i_]

#define FOR_CHUNKS LANES_UNROLL for (int i_ = 0; i_ < CHUNKS; i_++)

/* Shapes: F, all lanes; M, any mask: then what is passed on is what the destination holds. */
#define MASK_F     (void)0
#define MASK_M     const uint32_t active = zs_eu_active(t, op)
#define SEL_MASK_F MASK_F
#define SEL_MASK_M const uint32_t active = zs_eu_word(t, op->enables) >> op->chan_offset & op->lanes
/* Eight lanes by bits of a mask, from the chunk's first on. */
#ifdef __AVX512VL__
#define BLEND(T, bits, yes, no)                                                                    \
    ((T##x8)_mm256_mask_mov_epi32((__m256i)(no), (__mmask8)((bits) >> 8 * i_), (__m256i)(yes)))
#else
#define BLEND(T, bits, yes, no) LANES_PICK(T, LANES_MASK_##T((bits) >> 8 * i_ & 0xff), (yes), (no))
#endif
#define PUT_F(at, stored)                                                                          \
    if (stored)                                                                                    \
    memcpy((at), &made[i_], sizeof(u32x8))
#define PUT_M(at, stored)                                                                          \
    do {                                                                                           \
        u32x8 old_;                                                                                \
        memcpy(&old_, (at), sizeof(old_));                                                         \
        made[i_] = BLEND(u32, active, made[i_], old_);                                             \
        if (stored)                                                                                \
            memcpy((at), &made[i_], sizeof(u32x8));                                                \
    } while (0)
#define ALL_F UINT32_MAX
#define ALL_M active

#define BODY(SH, TD, MODE, DECLARE, READ, EXPR, G)                                                 \
    DECLARE;                                                                                       \
    uint8_t *to = AT(t, op->dst);                                                                  \
    u32x8 made[CHUNKS];                                                                            \
    ENTER_##MODE(t);                                                                               \
    FOR_CHUNKS                                                                                     \
    {                                                                                              \
        READ;                                                                                      \
        made[i_] = (u32x8)(TD##x8)(EXPR);                                                          \
        PUT_##SH(to + (size_t)i_ * sizeof(u32x8), STORE_##G);                                      \
    }                                                                                              \
    LEAVE_##MODE(t);                                                                               \
    GIVE_##G

/* ---- forms ----------------------------------------------------------------------------------
 */

#define UN_BODY(G, A, SH, TD, TA, MODE, EXPR)                                                      \
    MASK_##SH;                                                                                     \
    BODY(SH, TD, MODE, DECLARE_##A(TA, a, 0), READ_##A(TA, a), EXPR, G)
#define UN_FIRST(G, A, SH, id, ...)                                                                \
    FIRST(id##_##A##SH##_##G)                                                                      \
    {                                                                                              \
        UN_BODY(G, A, SH, __VA_ARGS__);                                                            \
    }
#define UN_TAKER(G, A, SH, id, ...)                                                                \
    TAKER(id##_##A##SH##_##G)                                                                      \
    {                                                                                              \
        TAKEN;                                                                                     \
        UN_BODY(G, A, SH, __VA_ARGS__);                                                            \
    }
#define UN_FIRSTS(...) UN_FIRST(1, __VA_ARGS__) UN_FIRST(2, __VA_ARGS__)
#define UN_TAKERS(...) UN_TAKER(0, __VA_ARGS__) UN_TAKER(1, __VA_ARGS__) UN_TAKER(2, __VA_ARGS__)
#define UN_ALONE(...)  UN_FIRST(0, __VA_ARGS__)

#define BIN_BODY(G, A, B, SH, TD, TA, TB, MODE, EXPR)                                              \
    MASK_##SH;                                                                                     \
    BODY(SH, TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1), READ_##A(TA, a);              \
         READ_##B(TB, b), EXPR, G)
#define BIN_FIRST(G, A, B, SH, id, ...)                                                            \
    FIRST(id##_##A##B##SH##_##G)                                                                   \
    {                                                                                              \
        BIN_BODY(G, A, B, SH, __VA_ARGS__);                                                        \
    }
#define BIN_TAKER(G, A, B, SH, id, ...)                                                            \
    TAKER(id##_##A##B##SH##_##G)                                                                   \
    {                                                                                              \
        TAKEN;                                                                                     \
        BIN_BODY(G, A, B, SH, __VA_ARGS__);                                                        \
    }
#define BIN_FIRSTS(...) BIN_FIRST(1, __VA_ARGS__) BIN_FIRST(2, __VA_ARGS__)
#define BIN_TAKERS(...)                                                                            \
    BIN_TAKER(0, __VA_ARGS__) BIN_TAKER(1, __VA_ARGS__) BIN_TAKER(2, __VA_ARGS__)
#define BIN_ALONE(...) BIN_FIRST(0, __VA_ARGS__)

#define TER_BODY(G, A, B, C, SH, TD, TA, TB, TC, MODE, EXPR)                                       \
    MASK_##SH;                                                                                     \
    BODY(SH, TD, MODE, DECLARE_##A(TA, a, 0); DECLARE_##B(TB, b, 1);                               \
         DECLARE_##C(TC, c, 2), READ_##A(TA, a); READ_##B(TB, b); READ_##C(TC, c), EXPR, G)
#define TER_FIRST(G, A, B, C, SH, id, ...)                                                         \
    FIRST(id##_##A##B##C##SH##_##G)                                                                \
    {                                                                                              \
        TER_BODY(G, A, B, C, SH, __VA_ARGS__);                                                     \
    }
#define TER_TAKER(G, A, B, C, SH, id, ...)                                                         \
    TAKER(id##_##A##B##C##SH##_##G)                                                                \
    {                                                                                              \
        TAKEN;                                                                                     \
        TER_BODY(G, A, B, C, SH, __VA_ARGS__);                                                     \
    }
#define TER_FIRSTS(...) TER_FIRST(1, __VA_ARGS__) TER_FIRST(2, __VA_ARGS__)
#define TER_TAKERS(...)                                                                            \
    TER_TAKER(0, __VA_ARGS__) TER_TAKER(1, __VA_ARGS__) TER_TAKER(2, __VA_ARGS__)
#define TER_ALONE(...) TER_FIRST(0, __VA_ARGS__)

/* Comparisons write the flag alone, and give nothing. */
#define CMP_BODY(A, B, SH, TA, MODE, EXPR)                                                         \
    MASK_##SH;                                                                                     \
    uint32_t bits = 0;                                                                             \
    DECLARE_##A(TA, a, 0);                                                                         \
    DECLARE_##B(TA, b, 1);                                                                         \
    ENTER_##MODE(t);                                                                               \
    FOR_CHUNKS                                                                                     \
    {                                                                                              \
        READ_##A(TA, a);                                                                           \
        READ_##B(TA, b);                                                                           \
        bits |= LANES_TO_BITS_##TA((LANES_BITS_##TA)(EXPR)) << 8 * i_;                             \
    }                                                                                              \
    LEAVE_##MODE(t);                                                                               \
    write_flag(t, op, ALL_##SH, bits);                                                             \
    ZS_EU_NEXT(t, op)
#define CMP_ALONE(A, B, SH, id, ...)                                                               \
    FIRST(id##_##A##B##SH##_0)                                                                     \
    {                                                                                              \
        CMP_BODY(A, B, SH, __VA_ARGS__);                                                           \
    }
#define CMP_TAKER(A, B, SH, id, ...)                                                               \
    TAKER(id##_##A##B##SH##_0)                                                                     \
    {                                                                                              \
        TAKEN;                                                                                     \
        CMP_BODY(A, B, SH, __VA_ARGS__);                                                           \
    }

#define CHOSEN(TA) BLEND(TA, chosen, a, b)
#define SEL_BODY(G, A, B, SH, TA)                                                                  \
    SEL_MASK_##SH;                                                                                 \
    const uint32_t chosen = sel_chooser(t, op);                                                    \
    BODY(SH, TA, PLAIN, DECLARE_##A(TA, a, 0); DECLARE_##B(TA, b, 1), READ_##A(TA, a);             \
         READ_##B(TA, b), CHOSEN(TA), G)
#define SEL_FIRST(G, A, B, SH, id, TA)                                                             \
    FIRST(id##_##A##B##SH##_##G)                                                                   \
    {                                                                                              \
        SEL_BODY(G, A, B, SH, TA);                                                                 \
    }
#define SEL_TAKER(G, A, B, SH, id, TA)                                                             \
    TAKER(id##_##A##B##SH##_##G)                                                                   \
    {                                                                                              \
        TAKEN;                                                                                     \
        SEL_BODY(G, A, B, SH, TA);                                                                 \
    }
#define SEL_FIRSTS(...) SEL_FIRST(1, __VA_ARGS__) SEL_FIRST(2, __VA_ARGS__)
#define SEL_TAKERS(...)                                                                            \
    SEL_TAKER(0, __VA_ARGS__) SEL_TAKER(1, __VA_ARGS__) SEL_TAKER(2, __VA_ARGS__)
#define SEL_ALONE(...) SEL_FIRST(0, __VA_ARGS__)

/* ---- which sources there are ----------------------------------------------------------------
 *
 * X is expanded for first ones, Y for takers. Rows with _V have no S, and no M.
 */

#define UN_V_LIST(X, Y, ...) X(V, __VA_ARGS__) Y(C, __VA_ARGS__)
#define UN_LIST(X, Y, ...)   X(S, __VA_ARGS__) UN_V_LIST(X, Y, __VA_ARGS__)
#define TWO_V_LIST(X, Y, ...)                                                                      \
    X(V, V, __VA_ARGS__) Y(C, V, __VA_ARGS__) Y(V, C, __VA_ARGS__) Y(C, C, __VA_ARGS__)
#define TWO_LIST(X, Y, ...)                                                                        \
    X(S, V, __VA_ARGS__)                                                                           \
    X(V, S, __VA_ARGS__)                                                                           \
    Y(C, S, __VA_ARGS__) Y(S, C, __VA_ARGS__) TWO_V_LIST(X, Y, __VA_ARGS__)
#define TER_ONE_C(Y, ...)    Y(C, V, V, __VA_ARGS__) Y(V, C, V, __VA_ARGS__) Y(V, V, C, __VA_ARGS__)
#define TER_TWO_C(Y, ...)    Y(C, C, V, __VA_ARGS__) Y(C, V, C, __VA_ARGS__) Y(V, C, C, __VA_ARGS__)
#define TER_ONE_S(X, ...)    X(S, V, V, __VA_ARGS__) X(V, S, V, __VA_ARGS__) X(V, V, S, __VA_ARGS__)
#define TER_TWO_S(X, ...)    X(S, S, V, __VA_ARGS__) X(S, V, S, __VA_ARGS__) X(V, S, S, __VA_ARGS__)
#define TER_C_TWO_S(Y, ...)  Y(C, S, S, __VA_ARGS__) Y(S, C, S, __VA_ARGS__) Y(S, S, C, __VA_ARGS__)
#define TER_TWO_C_S(Y, ...)  Y(S, C, C, __VA_ARGS__) Y(C, S, C, __VA_ARGS__) Y(C, C, S, __VA_ARGS__)
#define TER_S_FIRST(Y, ...)  Y(S, C, V, __VA_ARGS__) Y(S, V, C, __VA_ARGS__)
#define TER_S_SECOND(Y, ...) Y(C, S, V, __VA_ARGS__) Y(V, S, C, __VA_ARGS__)
#define TER_S_THIRD(Y, ...)  Y(C, V, S, __VA_ARGS__) Y(V, C, S, __VA_ARGS__)
#define TER_V_LIST(X, Y, ...)                                                                      \
    X(V, V, V, __VA_ARGS__)                                                                        \
    Y(C, C, C, __VA_ARGS__) TER_ONE_C(Y, __VA_ARGS__) TER_TWO_C(Y, __VA_ARGS__)
#define TER_S_LIST(X, Y, ...)                                                                      \
    TER_ONE_S(X, __VA_ARGS__)                                                                      \
    TER_TWO_S(X, __VA_ARGS__) TER_C_TWO_S(Y, __VA_ARGS__) TER_TWO_C_S(Y, __VA_ARGS__)
#define TER_LIST(X, Y, ...)                                                                        \
    TER_S_LIST(X, Y, __VA_ARGS__)                                                                  \
    TER_S_FIRST(Y, __VA_ARGS__)                                                                    \
    TER_S_SECOND(Y, __VA_ARGS__)                                                                   \
    TER_S_THIRD(Y, __VA_ARGS__)                                                                    \
    TER_V_LIST(X, Y, __VA_ARGS__)
#define NONE(...)
/* Z: those under any mask that are not linked, where a host has masks for vectors of 32 bytes. */
#ifdef __AVX512VL__
#define IF_MASKS(LIST, Z, ...) LIST(Z, NONE, M, __VA_ARGS__)
#else
#define IF_MASKS(...)
#endif
#define SHAPES(LIST, X, Y, Z, ...)                                                                 \
    LIST(X, Y, F, __VA_ARGS__) LIST(X, Y, M, __VA_ARGS__) IF_MASKS(LIST, Z, __VA_ARGS__)

/* Dwords; none of the rows that compute in double. */
#define WORD_u8       0
#define WORD_s8       0
#define WORD_u16      0
#define WORD_s16      0
#define WORD_u32      1
#define WORD_s32      1
#define WORD_f32      1
#define WORD_u64      0
#define WORD_s64      0
#define WORD_f64      0
#define MODE_PLAIN    1
#define MODE_SINGLE   1
#define MODE_KEEP     1
#define MODE_DOUBLE   0
#define BOTH_0_0      0
#define BOTH_0_1      0
#define BOTH_1_0      0
#define BOTH_1_1      1
#define BOTH_OF(a, b) BOTH_##a##_##b
#define BOTH(a, b)    BOTH_OF(a, b)
#define IF_0(...)
#define IF_1(...)               __VA_ARGS__
#define IF_OF(a)                IF_##a
#define IF(a)                   IF_OF(a)
#define IF_1_WORD(TD, TA, MODE) IF(BOTH(BOTH(WORD_##TD, WORD_##TA), MODE_##MODE))
#define IF_2_WORDS(TD, TA, TB, MODE)                                                               \
    IF(BOTH(BOTH(WORD_##TD, WORD_##TA), BOTH(WORD_##TB, MODE_##MODE)))
#define IF_3_WORDS(TD, TA, TB, TC, MODE)                                                           \
    IF(BOTH(BOTH(WORD_##TC, WORD_##TA), BOTH(BOTH(WORD_##TB, WORD_##TD), MODE_##MODE)))

#define ZS_EU_UN(id, TD, TA, MODE, EXPR)                                                           \
    IF_1_WORD(TD, TA, MODE)(SHAPES(UN_LIST, UN_FIRSTS, UN_TAKERS, UN_ALONE, id, TD, TA, MODE, EXPR))
#define ZS_EU_UN_APART(...)
#define ZS_EU_UN_V(id, TD, TA, MODE, EXPR)                                                         \
    IF_1_WORD(TD, TA, MODE)(UN_V_LIST(UN_FIRSTS, UN_TAKERS, F, id, TD, TA, MODE, EXPR))
#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    IF_2_WORDS(TD, TA, TB, MODE)                                                                   \
    (SHAPES(TWO_LIST, BIN_FIRSTS, BIN_TAKERS, BIN_ALONE, id, TD, TA, TB, MODE, EXPR))
#define ZS_EU_BIN_V(id, TD, TA, TB, MODE, EXPR)                                                    \
    IF_2_WORDS(TD, TA, TB, MODE)(TWO_V_LIST(BIN_FIRSTS, BIN_TAKERS, F, id, TD, TA, TB, MODE, EXPR))
#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    IF_3_WORDS(TD, TA, TB, TC, MODE)                                                               \
    (SHAPES(TER_LIST, TER_FIRSTS, TER_TAKERS, TER_ALONE, id, TD, TA, TB, TC, MODE, EXPR))
#define ZS_EU_TER_V(id, TD, TA, TB, TC, MODE, EXPR)                                                \
    IF_3_WORDS(TD, TA, TB, TC, MODE)                                                               \
    (TER_V_LIST(TER_FIRSTS, TER_TAKERS, F, id, TD, TA, TB, TC, MODE, EXPR))
#define ZS_EU_CMP(id, TA, MODE, EXPR)                                                              \
    IF_1_WORD(TA, TA, MODE)(SHAPES(TWO_LIST, NONE, CMP_TAKER, CMP_ALONE, id, TA, MODE, EXPR))
#define ZS_EU_CMP_V(...)
#define ZS_EU_SEL(id, TA)                                                                          \
    IF_1_WORD(TA, TA, PLAIN)(SHAPES(TWO_LIST, SEL_FIRSTS, SEL_TAKERS, SEL_ALONE, id, TA))

#include "eu/sem.def"

/* ---- the table ---------------------------------------------------------------------------------
 */

#define CODE_V                  ZS_EU_LINK_V
#define CODE_S                  ZS_EU_LINK_S
#define CODE_C                  ZS_EU_LINK_C
#define SHAPE_F                 0
#define SHAPE_M                 1
#define CELL(SH, G, code, name) [SHAPE_##SH][G][code] = (zs_eu_any_fn *)name,
#define CODE_1(A)               CODE_##A
#define CODE_2(A, B)            (CODE_##A + 3 * CODE_##B)
#define CODE_3(A, B, C)         (CODE_##A + 3 * CODE_##B + 9 * CODE_##C)
#define CELLS(SH, code, name)   CELL(SH, 1, code, name##_1) CELL(SH, 2, code, name##_2)
#define UN_X(A, SH, id)         CELLS(SH, CODE_1(A), id##_##A##SH)
#define UN_Z(A, SH, id)         CELL(SH, 0, CODE_1(A), id##_##A##SH##_0)
#define UN_Y(A, SH, id)         UN_Z(A, SH, id) UN_X(A, SH, id)
#define TWO_X(A, B, SH, id)     CELLS(SH, CODE_2(A, B), id##_##A##B##SH)
#define TWO_Z(A, B, SH, id)     CELL(SH, 0, CODE_2(A, B), id##_##A##B##SH##_0)
#define TWO_Y(A, B, SH, id)     TWO_Z(A, B, SH, id) TWO_X(A, B, SH, id)
#define TER_X(A, B, C, SH, id)  CELLS(SH, CODE_3(A, B, C), id##_##A##B##C##SH)
#define TER_Z(A, B, C, SH, id)  CELL(SH, 0, CODE_3(A, B, C), id##_##A##B##C##SH##_0)
#define TER_Y(A, B, C, SH, id)  TER_Z(A, B, C, SH, id) TER_X(A, B, C, SH, id)
#define ROW(id, ...)            [ZS_EU_ROW_##id] = {__VA_ARGS__},

const struct zs_eu_links ZS_EU_LINKS = {.row = {
#define ZS_EU_UN(id, TD, TA, MODE, EXPR)                                                           \
    IF_1_WORD(TD, TA, MODE)(ROW(id, SHAPES(UN_LIST, UN_X, UN_Y, UN_Z, id)))
#define ZS_EU_UN_APART(...)
#define ZS_EU_UN_V(id, TD, TA, MODE, EXPR)                                                         \
    IF_1_WORD(TD, TA, MODE)(ROW(id, UN_V_LIST(UN_X, UN_Y, F, id)))
#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    IF_2_WORDS(TD, TA, TB, MODE)(ROW(id, SHAPES(TWO_LIST, TWO_X, TWO_Y, TWO_Z, id)))
#define ZS_EU_BIN_V(id, TD, TA, TB, MODE, EXPR)                                                    \
    IF_2_WORDS(TD, TA, TB, MODE)(ROW(id, TWO_V_LIST(TWO_X, TWO_Y, F, id)))
#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    IF_3_WORDS(TD, TA, TB, TC, MODE)(ROW(id, SHAPES(TER_LIST, TER_X, TER_Y, TER_Z, id)))
#define ZS_EU_TER_V(id, TD, TA, TB, TC, MODE, EXPR)                                                \
    IF_3_WORDS(TD, TA, TB, TC, MODE)(ROW(id, TER_V_LIST(TER_X, TER_Y, F, id)))
#define ZS_EU_CMP(id, TA, MODE, EXPR)                                                              \
    IF_1_WORD(TA, TA, MODE)(ROW(id, SHAPES(TWO_LIST, NONE, TWO_Z, TWO_Z, id)))
#define ZS_EU_CMP_V(...)
#define ZS_EU_SEL(id, TA)                                                                          \
    IF_1_WORD(TA, TA, PLAIN)(ROW(id, SHAPES(TWO_LIST, TWO_X, TWO_Y, TWO_Z, id)))
#include "eu/sem.def"
                                        }};

#else

/* Handlers do not jump to the next one: no links. */
const struct zs_eu_links ZS_EU_LINKS = {{{{{NULL}}}}};

#endif
