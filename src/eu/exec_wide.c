/* SPDX-License-Identifier: MIT */
/*
 * Handlers for hosts with AVX-512: a step is a vector of 64 bytes, sixteen lanes of up to 32 bits
 * or eight of 64, so that a register of 64 bytes is one step. What kernels do most, whole chunks
 * and sixteen lanes under a mask; NULL in this build's table stands for the one of AVX2's. Bits are
 * the same.
 */
#include "eu/exec.h"

#define WIDE_TYPE(t) typedef t t##x16 __attribute__((vector_size(16 * sizeof(t))))
WIDE_TYPE(u8);
WIDE_TYPE(u16);
WIDE_TYPE(u32);
WIDE_TYPE(s32);
WIDE_TYPE(f32);
#undef WIDE_TYPE

/* ---- steps -------------------------------------------------------------------------------------
 *
 * A row takes steps of sixteen lanes, or of eight when one of its types has 64 bits.
 */

#define STEP_u8       16
#define STEP_u16      16
#define STEP_u32      16
#define STEP_s32      16
#define STEP_f32      16
#define STEP_u64      8
#define STEP_s64      8
#define STEP_f64      8
#define LESS_16_16    16
#define LESS_16_8     8
#define LESS_8_16     8
#define LESS_8_8      8
#define LESS_OF(a, b) LESS_##a##_##b
#define LESS(a, b)    LESS_OF(a, b)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b)    JOIN_OF(a, b)
#define VEC(T, step)  T##x##step

/* What sem.def says of lanes of up to 32 bits; of those of 64 lanes.h has it. */
#define lanes_eq_u32(a, b)          ((u32x16)((a) == (b)))
#define lanes_ne_u32(a, b)          ((u32x16)((a) != (b)))
#define lanes_lt_u32(a, b)          ((u32x16)((a) < (b)))
#define lanes_le_u32(a, b)          ((u32x16)((a) <= (b)))
#define lanes_gt_u32(a, b)          ((u32x16)((a) > (b)))
#define lanes_ge_u32(a, b)          ((u32x16)((a) >= (b)))
#define lanes_lt_s32                lanes_lt_u32
#define lanes_le_s32                lanes_le_u32
#define lanes_gt_s32                lanes_gt_u32
#define lanes_ge_s32                lanes_ge_u32
#define lanes_eq_f32                lanes_eq_u32
#define lanes_ne_f32                lanes_ne_u32
#define lanes_lt_f32                lanes_lt_u32
#define lanes_le_f32                lanes_le_u32
#define lanes_gt_f32                lanes_gt_u32
#define lanes_ge_f32                lanes_ge_u32
#define lanes_fma_f32(a, b, c, csr) ((f32x16)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define lanes_rol_u32(a, b)         ((u32x16)_mm512_rolv_epi32((__m512i)(a), (__m512i)(b)))
#define lanes_ror_u32(a, b)         ((u32x16)_mm512_rorv_epi32((__m512i)(a), (__m512i)(b)))
#define LANES_PICK_WIDE(T, m, a, b) ((T##x16)(((u32x16)(a) & (m)) | ((u32x16)(b) & ~(m))))
#undef LANES_PICK
#define LANES_PICK LANES_PICK_WIDE

/* The high halves of products, of even and odd lanes apart. */
#define LANES_WIDE_MULH(name, T, mul)                                                              \
    LANES_FN u32x16 name(T a, T b)                                                                 \
    {                                                                                              \
        enum { ODD = 0xaaaa };                                                                     \
        __m512i x = (__m512i)a, y = (__m512i)b;                                                    \
        __m512i even = _mm512_srli_epi64(mul(x, y), 32);                                           \
        __m512i odd = mul(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32));                     \
        return (u32x16)_mm512_mask_mov_epi32(even, ODD, odd);                                      \
    }
LANES_WIDE_MULH(lanes_wide_mulh_s32, s32x16, _mm512_mul_epi32)
LANES_WIDE_MULH(lanes_wide_mulh_u32, u32x16, _mm512_mul_epu32)
#undef LANES_WIDE_MULH
#undef lanes_mulh_s32
#undef lanes_mulh_u32
#define lanes_mulh_s32 lanes_wide_mulh_s32
#define lanes_mulh_u32 lanes_wide_mulh_u32

LANES_FN void splat_into(void *to, const void *one, unsigned element_B)
{
    uint32_t bits = 0;
    memcpy(&bits, one, element_B);
    __m512i four = _mm512_set1_epi32((int)bits);
    __m256i two = _mm256_set1_epi16((short)bits);
    __m128i single = _mm_set1_epi8((char)bits);
    if (element_B == 4)
        memcpy(to, &four, sizeof(four));
    else if (element_B == 2)
        memcpy(to, &two, sizeof(two));
    else
        memcpy(to, &single, sizeof(single));
}

/* The lanes that a mask names. */
LANES_FN void blend(void *ret, const void *yes, const void *no, unsigned element_B, unsigned lanes,
                    uint32_t mask)
{
    if (element_B * lanes == 64) {
        __m512i a, b;
        memcpy(&a, yes, sizeof(a));
        memcpy(&b, no, sizeof(b));
        b = element_B == 8 ? _mm512_mask_mov_epi64(b, (__mmask8)mask, a)
                           : _mm512_mask_mov_epi32(b, (__mmask16)mask, a);
        memcpy(ret, &b, sizeof(b));
    } else if (element_B * lanes == 32) {
        __m256i a, b;
        memcpy(&a, yes, sizeof(a));
        memcpy(&b, no, sizeof(b));
        b = element_B == 4 ? _mm256_mask_mov_epi32(b, (__mmask8)mask, a)
                           : _mm256_mask_mov_epi16(b, (__mmask16)mask, a);
        memcpy(ret, &b, sizeof(b));
    } else {
        __m128i a, b;
        memcpy(&a, yes, sizeof(a));
        memcpy(&b, no, sizeof(b));
        b = _mm_mask_mov_epi8(b, (__mmask16)mask, a);
        memcpy(ret, &b, sizeof(b));
    }
}

LANES_FN uint32_t bits_of(const void *value, unsigned element_B)
{
    __m512i v;
    memcpy(&v, value, sizeof(v));
    return element_B == 8 ? (uint32_t)_mm512_movepi64_mask(v) : (uint32_t)_mm512_movepi32_mask(v);
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

#define DECLARE_V(T, step, x, index)                                                               \
    const uint8_t *x##_at = AT(t, op->src[index]);                                                 \
    VEC(T, step) x
#define READ_V(x)                                                                                  \
    memcpy(&x, x##_at, sizeof(x));                                                                 \
    x##_at += sizeof(x)
#define DECLARE_S(T, step, x, index)                                                               \
    VEC(T, step) x;                                                                                \
    SPLAT_##step(T, x, AT(t, op->src[index]))
#define SPLAT_16(T, x, at) splat_into(&x, (at), sizeof(T))
#define SPLAT_8(T, x, at)                                                                          \
    do {                                                                                           \
        T one_;                                                                                    \
        memcpy(&one_, (at), sizeof(one_));                                                         \
        x = LANES_SPLAT_BITS(T, one_);                                                             \
    } while (0)
#define READ_S(x)

#define STEPS(lanes, step) LANES_UNROLL for (unsigned i_ = 0; i_ < (lanes) / (step); i_++)

#define BODY_WHOLE(lanes, TD, step, MODE, DECLARE, READ, EXPR)                                     \
    {                                                                                              \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        ENTER_##MODE(t);                                                                           \
        STEPS(lanes, step)                                                                         \
        {                                                                                          \
            READ;                                                                                  \
            VEC(TD, step) value_ = (VEC(TD, step))(EXPR);                                          \
            memcpy(to, &value_, sizeof(value_));                                                   \
            to += sizeof(value_);                                                                  \
        }                                                                                          \
        LEAVE_##MODE(t);                                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }
#define BODY_FULL8(...)  BODY_WHOLE(8, __VA_ARGS__)
#define BODY_FULL16(...) BODY_WHOLE(16, __VA_ARGS__)
#define BODY_FULL32(...) BODY_WHOLE(32, __VA_ARGS__)
#define BODY_MASKED(lanes, TD, step, MODE, DECLARE, READ, EXPR)                                    \
    {                                                                                              \
        uint32_t active = zs_eu_active(t, op);                                                     \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        ENTER_##MODE(t);                                                                           \
        STEPS(lanes, step)                                                                         \
        {                                                                                          \
            READ;                                                                                  \
            VEC(TD, step) value_ = (VEC(TD, step))(EXPR);                                          \
            blend(to, &value_, to, sizeof(TD), step, active);                                      \
            to += sizeof(value_);                                                                  \
            active >>= step;                                                                       \
        }                                                                                          \
        LEAVE_##MODE(t);                                                                           \
        ZS_EU_NEXT(t, op);                                                                         \
    }

#define BODY_MASKED16(...) BODY_MASKED(16, __VA_ARGS__)
#define BODY_MASKED32(...) BODY_MASKED(32, __VA_ARGS__)

/* Comparisons write the flag alone. */
#define CMP_BODY(lanes, active, TA, step, MODE, DECLARE, READ, EXPR)                               \
    {                                                                                              \
        uint32_t bits = 0;                                                                         \
        DECLARE;                                                                                   \
        ENTER_##MODE(t);                                                                           \
        STEPS(lanes, step)                                                                         \
        {                                                                                          \
            READ;                                                                                  \
            VEC(TA, step) value_ = (VEC(TA, step))(EXPR);                                          \
            bits |= bits_of(&value_, sizeof(TA)) << i_ * (step);                                   \
        }                                                                                          \
        LEAVE_##MODE(t);                                                                           \
        write_flag(t, op, (active), bits);                                                         \
        ZS_EU_NEXT(t, op);                                                                         \
    }
#define CMP_BODY_FULL8(...)    CMP_BODY(8, 0xff, __VA_ARGS__)
#define CMP_BODY_FULL16(...)   CMP_BODY(16, 0xffff, __VA_ARGS__)
#define CMP_BODY_FULL32(...)   CMP_BODY(32, UINT32_MAX, __VA_ARGS__)
#define CMP_BODY_MASKED16(...) CMP_BODY(16, zs_eu_active(t, op), __VA_ARGS__)
#define CMP_BODY_MASKED32(...) CMP_BODY(32, zs_eu_active(t, op), __VA_ARGS__)

#define SEL_BODY(lanes, TA, step, DECLARE, READ)                                                   \
    {                                                                                              \
        uint32_t chosen = sel_chooser(t, op);                                                      \
        DECLARE;                                                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        STEPS(lanes, step)                                                                         \
        {                                                                                          \
            READ;                                                                                  \
            blend(to, &a, &b, sizeof(TA), step, chosen);                                           \
            to += sizeof(a);                                                                       \
            chosen >>= step;                                                                       \
        }                                                                                          \
        ZS_EU_NEXT(t, op);                                                                         \
    }
#define SEL_BODY_FULL8(...)  SEL_BODY(8, __VA_ARGS__)
#define SEL_BODY_FULL16(...) SEL_BODY(16, __VA_ARGS__)
#define SEL_BODY_FULL32(...) SEL_BODY(32, __VA_ARGS__)

/* ---- rows --------------------------------------------------------------------------------------
 */

#define UN_FN(SHAPE, step, id, cls, A, TD, TA, MODE, EXPR)                                         \
    HANDLER(id##_##cls##_##SHAPE)                                                                  \
    BODY_##SHAPE(TD, step, MODE, DECLARE_##A(TA, step, a, 0), READ_##A(a), EXPR)
#define BIN_FN(SHAPE, step, id, cls, A, B, TD, TA, TB, MODE, EXPR)                                 \
    HANDLER(id##_##cls##_##SHAPE)                                                                  \
    BODY_##SHAPE(TD, step, MODE, DECLARE_##A(TA, step, a, 0);                                      \
                 DECLARE_##B(TB, step, b, 1), READ_##A(a); READ_##B(b), EXPR)
#define TER_FN(SHAPE, step, id, cls, A, B, C, TD, TA, TB, TC, MODE, EXPR)                          \
    HANDLER(id##_##cls##_##SHAPE)                                                                  \
    BODY_##SHAPE(TD, step, MODE, DECLARE_##A(TA, step, a, 0); DECLARE_##B(TB, step, b, 1);         \
                 DECLARE_##C(TC, step, c, 2), READ_##A(a); READ_##B(b); READ_##C(c), EXPR)
#define CMP_FN(SHAPE, step, id, cls, A, B, TA, MODE, EXPR)                                         \
    HANDLER(id##_##cls##_##SHAPE)                                                                  \
    CMP_BODY_##SHAPE(TA, step, MODE, DECLARE_##A(TA, step, a, 0);                                  \
                     DECLARE_##B(TA, step, b, 1), READ_##A(a); READ_##B(b), EXPR)
#define SEL_FN(SHAPE, step, id, cls, A, B, TA)                                                     \
    HANDLER(id##_##cls##_##SHAPE)                                                                  \
    SEL_BODY_##SHAPE(TA, step, DECLARE_##A(TA, step, a, 0);                                        \
                     DECLARE_##B(TA, step, b, 1), READ_##A(a); READ_##B(b))

#define SHAPES_16(FORM, ...)                                                                       \
    FORM(FULL16, 16, __VA_ARGS__)                                                                  \
    FORM(FULL32, 16, __VA_ARGS__) FORM(MASKED16, 16, __VA_ARGS__) FORM(MASKED32, 16, __VA_ARGS__)
#define SHAPES_8(FORM, ...)                                                                        \
    FORM(FULL8, 8, __VA_ARGS__)                                                                    \
    FORM(FULL16, 8, __VA_ARGS__)                                                                   \
    FORM(FULL32, 8, __VA_ARGS__) FORM(MASKED16, 8, __VA_ARGS__) FORM(MASKED32, 8, __VA_ARGS__)
#define SEL_SHAPES_16(...) SEL_FN(FULL16, 16, __VA_ARGS__) SEL_FN(FULL32, 16, __VA_ARGS__)
#define SEL_SHAPES_8(...)                                                                          \
    SEL_FN(FULL8, 8, __VA_ARGS__) SEL_FN(FULL16, 8, __VA_ARGS__) SEL_FN(FULL32, 8, __VA_ARGS__)
#define STEP_1(TD, TA)         LESS(STEP_##TD, STEP_##TA)
#define STEP_2(TD, TA, TB)     LESS(STEP_##TD, LESS(STEP_##TA, STEP_##TB))
#define STEP_3(TD, TA, TB, TC) LESS(LESS(STEP_##TD, STEP_##TA), LESS(STEP_##TB, STEP_##TC))

#define UN_ROW(SHAPES, id, ...)                                                                    \
    SHAPES(UN_FN, id, 0, V, __VA_ARGS__) SHAPES(UN_FN, id, 1, S, __VA_ARGS__)
#define TWO_ROW(SHAPES, FORM, id, ...)                                                             \
    SHAPES(FORM, id, 0, V, V, __VA_ARGS__)                                                         \
    SHAPES(FORM, id, 1, S, V, __VA_ARGS__) SHAPES(FORM, id, 2, V, S, __VA_ARGS__)
#define TER_ROW(SHAPES, id, ...)                                                                   \
    SHAPES(TER_FN, id, 0, V, V, V, __VA_ARGS__)                                                    \
    SHAPES(TER_FN, id, 1, S, V, V, __VA_ARGS__)                                                    \
    SHAPES(TER_FN, id, 2, V, S, V, __VA_ARGS__)                                                    \
    SHAPES(TER_FN, id, 3, S, S, V, __VA_ARGS__)                                                    \
    SHAPES(TER_FN, id, 4, V, V, S, __VA_ARGS__)                                                    \
    SHAPES(TER_FN, id, 5, S, V, S, __VA_ARGS__) SHAPES(TER_FN, id, 6, V, S, S, __VA_ARGS__)
#define SEL_ROW(SHAPES, id, TA)                                                                    \
    SHAPES(id, 0, V, V, TA) SHAPES(id, 1, S, V, TA) SHAPES(id, 2, V, S, TA)

/* Rows of few shapes are AVX2's. */
#define ZS_EU_UN_V(...)
#define ZS_EU_BIN_V(...)
#define ZS_EU_TER_V(...)
#define ZS_EU_CMP_V(...)
#define ZS_EU_UN(id, TD, TA, MODE, EXPR)                                                           \
    UN_ROW(JOIN(SHAPES_, STEP_1(TD, TA)), id, TD, TA, MODE, EXPR)
#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    TWO_ROW(JOIN(SHAPES_, STEP_2(TD, TA, TB)), BIN_FN, id, TD, TA, TB, MODE, EXPR)
#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    TER_ROW(JOIN(SHAPES_, STEP_3(TD, TA, TB, TC)), id, TD, TA, TB, TC, MODE, EXPR)
#define ZS_EU_CMP(id, TA, MODE, EXPR) TWO_ROW(JOIN(SHAPES_, STEP_##TA), CMP_FN, id, TA, MODE, EXPR)
#define ZS_EU_SEL(id, TA)             SEL_ROW(JOIN(SEL_SHAPES_, STEP_##TA), id, TA)

#include "eu/sem.def"

/* ---- every second dword: the low half of qwords ------------------------------------------------
 */

HANDLER(gather_pairs_32)
{
    const uint8_t *from = AT(t, op->src[0]);
    uint8_t *to = AT(t, op->dst);
    unsigned left = op->chunks;
    do {
        __m256i low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(from));
        memcpy(to, &low, sizeof(low));
        from += 64;
        to += 32;
    } while (--left);
    ZS_EU_NEXT(t, op);
}

/* What lies between is written back as it was. */
HANDLER(scatter_pairs_32)
{
    enum { LOW_DWORDS = 0x5555 };
    const uint8_t *from = AT(t, op->src[0]);
    uint8_t *to = AT(t, op->dst);
    unsigned left = op->chunks;
    do {
        __m256i v;
        memcpy(&v, from, sizeof(v));
        __m512i old = _mm512_loadu_si512(to), wide = _mm512_cvtepu32_epi64(v);
        _mm512_storeu_si512(to, _mm512_mask_mov_epi32(old, LOW_DWORDS, wide));
        from += 32;
        to += 64;
    } while (--left);
    ZS_EU_NEXT(t, op);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

#define CELLS_16(id, cls)                                                                          \
    [ZS_EU_SHAPE_FULL16][cls] = id##_##cls##_FULL16,                                               \
    [ZS_EU_SHAPE_FULL32][cls] = id##_##cls##_FULL32,                                               \
    [ZS_EU_SHAPE_MASKED16][cls] = id##_##cls##_MASKED16,                                           \
    [ZS_EU_SHAPE_MASKED32][cls] = id##_##cls##_MASKED32
#define CELLS_8(id, cls) [ZS_EU_SHAPE_FULL8][cls] = id##_##cls##_FULL8, CELLS_16(id, cls)
#define SEL_CELLS_16(id, cls)                                                                      \
    [ZS_EU_SHAPE_FULL16][cls] = id##_##cls##_FULL16, [ZS_EU_SHAPE_FULL32][cls] = id##_##cls##_FULL32
#define SEL_CELLS_8(id, cls) [ZS_EU_SHAPE_FULL8][cls] = id##_##cls##_FULL8, SEL_CELLS_16(id, cls)
#define ONE(CELLS, id)                                                                             \
    {                                                                                              \
        CELLS(id, 0), CELLS(id, 1)                                                                 \
    }
#define TWO(CELLS, id)                                                                             \
    {                                                                                              \
        CELLS(id, 0), CELLS(id, 1), CELLS(id, 2)                                                   \
    }
#define THREE(CELLS, id)                                                                           \
    {                                                                                              \
        CELLS(id, 0), CELLS(id, 1), CELLS(id, 2), CELLS(id, 3), CELLS(id, 4), CELLS(id, 5),        \
            CELLS(id, 6)                                                                           \
    }

const struct zs_eu_handlers zs_eu_handlers_avx512 = {
    .row =
        {
#define ZS_EU_UN_V(...)
#define ZS_EU_BIN_V(...)
#define ZS_EU_TER_V(...)
#define ZS_EU_CMP_V(...)
#define ZS_EU_UN(id, TD, TA, MODE, EXPR) [ZS_EU_ROW_##id] = ONE(JOIN(CELLS_, STEP_1(TD, TA)), id),
#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR)                                                      \
    [ZS_EU_ROW_##id] = TWO(JOIN(CELLS_, STEP_2(TD, TA, TB)), id),
#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    [ZS_EU_ROW_##id] = THREE(JOIN(CELLS_, STEP_3(TD, TA, TB, TC)), id),
#define ZS_EU_CMP(id, TA, MODE, EXPR) [ZS_EU_ROW_##id] = TWO(JOIN(CELLS_, STEP_##TA), id),
#define ZS_EU_SEL(id, TA)             [ZS_EU_ROW_##id] = TWO(JOIN(SEL_CELLS_, STEP_##TA), id),
#include "eu/sem.def"
        },
    .gather_pairs = {[2] = gather_pairs_32},
    .scatter_pairs = {[2] = scatter_pairs_32},
};
