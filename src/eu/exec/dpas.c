/* SPDX-License-Identifier: MIT */
/*
 * Systolic multiplications: result (rows x lanes) = src0 + src2 (rows x depth) * src1 (depth x
 * lanes), where each step of the depth multiplies one to eight elements of a channel's dword with
 * as many of a row of src2.
 *
 * Sources are first brought to one form, `struct work`: for each step a vector of dwords of src1,
 * one a lane, and for each row and step a dword of src2, which all lanes share. A dword is a float,
 * four bytes, or two words, by what the host multiplies best. Then one loop (CORE) keeps up to
 * eight rows of a strip of lanes in registers and goes along the depth.
 *
 * Integers of four and two bits become bytes. Their order within the depth does not matter but for
 * saturation; so src2's are kept by parts: part p has what stood in the p-th part of each dword,
 * which is step i * parts + p, and no host has to shuffle.
 *
 * Floats: each product is exact and is added with one rounding, element after element, in the
 * modes of cr0; both the C++ emulation of Intel's compiler for media kernels (cm-cpu-emulation,
 * cm_dpas_) and hosts without any such instruction do it this way. What the hardware keeps between
 * elements is not documented. bdpas adds up each block of 32 elements so, and then scales the sum.
 *
 * This file is built several times, for different host instruction sets; ZS_EU_DPAS names the
 * table that a build defines.
 */
#include "eu/eu_priv.h"
#include "eu/exec/lanes_math.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

enum {
    ROWS = ZS_EU_DPAS_ROWS,
    LANES = ZS_EU_DPAS_LANES,
    DEPTH = ZS_EU_DPAS_DEPTH,
    STEPS_MAX = 32,   /* of DEPTH * 4 floats; those of DEPTH * 8 are done in two halves */
    REAL_ROW_B = 128, /* src2 as floats: a row has 32 at most */
    BLOCK = ZS_EU_DPAS_BLOCK,
    WHOLE_ROW_B = 32, /* of a part of src2: eight dwords at most */
    PART_B = WHOLE_ROW_B * ROWS,
    PARTS_MAX = 8,
};

struct work {
    const uint8_t *w; /* src1: of (step, lane), at (step * lanes + lane) * 4 */
    const uint8_t *a; /* src2: of (part, row, i), by the constants above */
    const uint8_t *src0;
    uint8_t *out;
    const uint32_t *bias;       /* of a lane: what is added to src0 */
    uint32_t parts, part_steps; /* step i * parts + p is the i-th of part p */
    uint32_t rows, lanes, src0_row_B;
};

struct room {
    _Alignas(64) uint8_t w[STEPS_MAX * LANES * 4];
    _Alignas(
        64) uint8_t a[ROWS * REAL_ROW_B > PARTS_MAX *PART_B ? ROWS *REAL_ROW_B : PARTS_MAX *PART_B];
    _Alignas(64) uint32_t src0[ROWS * LANES];
    _Alignas(64) uint32_t out[ROWS * LANES];
    _Alignas(64) uint32_t bias[LANES];
};

static const uint32_t no_bias[LANES], zeros[LANES];

/* ---- vectors ---- */

INLINE u32x8 load8(const void *at)
{
    u32x8 v;
    memcpy(&v, at, sizeof(v));
    return v;
}

INLINE u32x8 splat8(const void *at)
{
    u32 one;
    memcpy(&one, at, sizeof(one));
    return LANES_SPLAT(u32, one);
}

INLINE u32x8 step_real8(u32x8 acc, u32x8 w, u32x8 a)
{
    return (u32x8)lanes_fma_f32((f32x8)w, (f32x8)a, (f32x8)acc);
}

/* Products of two pairs of words, added up. */
INLINE u32x8 pairs8(u32x8 w, u32x8 a)
{
#ifdef __AVX2__
    return (u32x8)_mm256_madd_epi16((__m256i)w, (__m256i)a);
#else
    __m128i x[2], y[2];
    memcpy(x, &w, sizeof(x));
    memcpy(y, &a, sizeof(y));
    x[0] = _mm_madd_epi16(x[0], y[0]);
    x[1] = _mm_madd_epi16(x[1], y[1]);
    u32x8 r;
    memcpy(&r, x, sizeof(r));
    return r;
#endif
}

#ifdef __AVX512VNNI__
enum { HAS_BYTES = 1 };

/* Four products of unsigned and signed bytes: src1's are the signed ones, or src2's. */
INLINE u32x8 step_signed8(u32x8 acc, u32x8 w, u32x8 a)
{
    return (u32x8)_mm256_dpbusd_epi32((__m256i)acc, (__m256i)a, (__m256i)w);
}

INLINE u32x8 step_unsigned8(u32x8 acc, u32x8 w, u32x8 a)
{
    return (u32x8)_mm256_dpbusd_epi32((__m256i)acc, (__m256i)w, (__m256i)a);
}

typedef uint32_t u32x16 __attribute__((vector_size(64)));

INLINE u32x16 load16(const void *at)
{
    u32x16 v;
    memcpy(&v, at, sizeof(v));
    return v;
}

INLINE u32x16 splat16(const void *at)
{
    u32 one;
    memcpy(&one, at, sizeof(one));
    return (u32x16){0} + one;
}

INLINE u32x16 step_real16(u32x16 acc, u32x16 w, u32x16 a)
{
    return (u32x16)_mm512_fmadd_ps((__m512)w, (__m512)a, (__m512)acc);
}

INLINE u32x16 step_signed16(u32x16 acc, u32x16 w, u32x16 a)
{
    return (u32x16)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)a, (__m512i)w);
}

INLINE u32x16 step_unsigned16(u32x16 acc, u32x16 w, u32x16 a)
{
    return (u32x16)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)w, (__m512i)a);
}
#else
enum { HAS_BYTES = 0 };

INLINE u32x8 step_pairs8(u32x8 acc, u32x8 w, u32x8 a)
{
    return acc + pairs8(w, a);
}
#endif

/* ---- the loop ---- */

/* A strip of N lanes from `column` on, all rows; `rows` is a constant where this is expanded. */
#define CORE(name, N, step, ROW_B)                                                                 \
    INLINE void name##_rows(const struct work *k, uint32_t column, const int rows)                 \
    {                                                                                              \
        u32x##N acc[ROWS], bias = load##N(k->bias + column);                                       \
        UNROLL for (int r = 0; r < rows; r++) acc[r] =                                             \
            load##N(k->src0 + (uint32_t)r * k->src0_row_B + column * 4) + bias;                    \
        for (uint32_t p = 0; p < k->parts; p++) {                                                  \
            const uint8_t *w = k->w + (size_t)(p * k->lanes + column) * 4;                         \
            const uint8_t *a = k->a + (size_t)p * PART_B, *end = a + (size_t)k->part_steps * 4;    \
            for (; a < end; a += 4, w += (size_t)k->parts * k->lanes * 4) {                        \
                u32x##N v = load##N(w);                                                            \
                UNROLL for (int r = 0; r < rows; r++) acc[r] =                                     \
                    step(acc[r], v, splat##N(a + r * (ROW_B)));                                    \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int r = 0; r < rows; r++)                                                      \
            memcpy(k->out + ((uint32_t)r * k->lanes + column) * 4, &acc[r], sizeof(acc[r]));       \
    }                                                                                              \
    static void name(const struct work *k)                                                         \
    {                                                                                              \
        for (uint32_t column = 0; column < k->lanes; column += N) {                                \
            switch (k->rows) {                                                                     \
            case 1:                                                                                \
                name##_rows(k, column, 1);                                                         \
                break;                                                                             \
            case 2:                                                                                \
                name##_rows(k, column, 2);                                                         \
                break;                                                                             \
            case 3:                                                                                \
                name##_rows(k, column, 3);                                                         \
                break;                                                                             \
            case 4:                                                                                \
                name##_rows(k, column, 4);                                                         \
                break;                                                                             \
            case 5:                                                                                \
                name##_rows(k, column, 5);                                                         \
                break;                                                                             \
            case 6:                                                                                \
                name##_rows(k, column, 6);                                                         \
                break;                                                                             \
            case 7:                                                                                \
                name##_rows(k, column, 7);                                                         \
                break;                                                                             \
            default:                                                                               \
                name##_rows(k, column, 8);                                                         \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    }

CORE(real8, 8, step_real8, REAL_ROW_B)
#if defined(__AVX512VNNI__)
CORE(real16, 16, step_real16, REAL_ROW_B)
CORE(signed8, 8, step_signed8, WHOLE_ROW_B)
CORE(signed16, 16, step_signed16, WHOLE_ROW_B)
CORE(unsigned8, 8, step_unsigned8, WHOLE_ROW_B)
CORE(unsigned16, 16, step_unsigned16, WHOLE_ROW_B)
#else
CORE(pairs, 8, step_pairs8, WHOLE_ROW_B)
#endif

static void run_real(const struct work *k)
{
#ifdef __AVX512VNNI__
    if (k->lanes == 16) {
        real16(k);
        return;
    }
#endif
    real8(k);
}

/* w_signed: src1 has the signed bytes, for hosts that multiply bytes */
static void run_whole(const struct work *k, bool w_signed)
{
#ifdef __AVX512VNNI__
    void (*const runs[2][2])(const struct work *) = {{unsigned8, signed8}, {unsigned16, signed16}};
    runs[k->lanes == 16][w_signed](k);
#else
    (void)w_signed;
    pairs(k);
#endif
}

/* ---- src0 and the result ---- */

static u32x8 from_bf(const uint8_t *at)
{
    u16x8 v;
    memcpy(&v, at, sizeof(v));
    return __builtin_convertvector(v, u32x8) << 16;
}

static u32x8 from_hf(const uint8_t *at)
{
    u16x8 v;
    memcpy(&v, at, sizeof(v));
    return (u32x8)lanes_f16_f32(v);
}

/* To nearest even. */
static u16x8 to_bf(u32x8 bits)
{
    return __builtin_convertvector(lanes_round_bits(bits, 16, 0) >> 16, u16x8);
}

static void set_src0(const struct zs_eu_thread *t, const struct zs_eu_op *op,
                     const struct zs_eu_dpas *d, struct work *k, struct room *room)
{
    const uint8_t *at = (const uint8_t *)t + op->src[0];

    k->src0_row_B = d->lanes * 4u;
    k->src0 = at;
    if (!d->has_src0) {
        k->src0 = (const uint8_t *)zeros;
        k->src0_row_B = 0;
    } else if (d->src0_type == ZS_TYPE_HF || d->src0_type == ZS_TYPE_BF) {
        k->src0 = (const uint8_t *)room->src0;
        for (uint32_t i = 0; i < (uint32_t)d->rows * d->lanes; i += 8) {
            u32x8 v = d->src0_type == ZS_TYPE_HF ? from_hf(at + (size_t)i * 2)
                                                 : from_bf(at + (size_t)i * 2);
            memcpy(room->src0 + i, &v, sizeof(v));
        }
    }
}

/* From room->out to the destination, converted and under the mask. */
static void put_out(struct zs_eu_thread *t, const struct zs_eu_op *op, const struct zs_eu_dpas *d,
                    const struct room *room, uint32_t active)
{
    bool is_short = d->dst_type == ZS_TYPE_HF || d->dst_type == ZS_TYPE_BF;

    for (uint32_t i = 0; i < (uint32_t)d->rows * d->lanes; i += 8) {
        uint32_t mask = active >> i % d->lanes & 0xff;
        u32x8 v = load8(room->out + i), old;
        if (!is_short) {
            uint8_t *to = ZS_EU_AT(t, op->dst) + (size_t)i * 4;
            memcpy(&old, to, sizeof(old));
            v = LANES_PICK(u32, lanes_mask_u32(mask), v, old);
            memcpy(to, &v, sizeof(v));
            continue;
        }
        uint8_t *to = ZS_EU_AT(t, op->dst) + (size_t)i * 2;
        u16x8 was, is = d->dst_type == ZS_TYPE_HF ? lanes_f32_f16((f32x8)v) : to_bf(v);
        memcpy(&was, to, sizeof(was));
        is = LANES_PICK(u16, lanes_mask_u16(mask), is, was);
        memcpy(to, &is, sizeof(is));
    }
}

/* Where the loop is to leave the result; false: it must go through room->out. */
static bool set_out(struct zs_eu_thread *t, const struct zs_eu_op *op, const struct zs_eu_dpas *d,
                    uint32_t active, struct work *k, struct room *room)
{
    bool direct = d->direct && active == op->full;

    k->out = direct ? ZS_EU_AT(t, op->dst) : (uint8_t *)room->out;
    return direct;
}

/* ---- floats ---- */

/* Four and eight bits with an exponent of two and four are halves with another bias; the highest of
 * hf8 is no number. */
INLINE u32x8 from_small(u32x8 v, unsigned type)
{
    bool is_hf8 = type == ZS_TYPE_HF8;
    u32x8 magnitude = v & (is_hf8 ? 0x7f : 7), bits = magnitude << (is_hf8 ? 7 : 9);
    u32x8 f = (u32x8)((f32x8)lanes_f16_f32(__builtin_convertvector(bits, u16x8)) *
                      LANES_SPLAT(f32, is_hf8 ? 0x1p8f : 0x1p14f));
    u32x8 none = is_hf8 ? (u32x8)(magnitude == 0x7f) & 0x7fc00000 : (u32x8){0};
    return f | none | (v & (is_hf8 ? 0x80 : 8)) << (is_hf8 ? 24 : 28);
}

/* The j-th element of each dword as a float. */
INLINE u32x8 float_of(u32x8 v, unsigned type, unsigned j)
{
    if (type == ZS_TYPE_E2M1)
        return from_small(v >> 4 * j, type);
    if (type == ZS_TYPE_HF8)
        return from_small(v >> 8 * j, type);
    if (type == ZS_TYPE_TF32) /* the bits below its mantissa are none */
        return v & 0xffffe000u;
    if (type == ZS_TYPE_BF)
        return j ? v & 0xffff0000u : v << 16;
    if (type == ZS_TYPE_HF)
        return (u32x8)lanes_f16_f32(__builtin_convertvector(j ? v >> 16 : v & 0xffff, u16x8));
    /* bf8: the upper half of a half */
    return (u32x8)lanes_f16_f32(__builtin_convertvector((v >> 8 * j & 0xff) << 8, u16x8));
}

INLINE void floats_of_src1(uint8_t *to, const uint8_t *from, uint32_t lanes, unsigned type,
                           const unsigned ops)
{
    for (uint32_t step = 0; step < DEPTH && step * ops < BLOCK; step++)
        for (uint32_t column = 0; column < lanes; column += 8, from += 32) {
            u32x8 v = load8(from);
            for (unsigned j = 0; j < ops; j++) {
                u32x8 f = float_of(v, type, j);
                memcpy(to + ((size_t)(step * ops + j) * lanes + column) * 4, &f, sizeof(f));
            }
        }
}

/* Eight neighbouring elements as floats. */
INLINE u32x8 floats_from(const uint8_t *at, unsigned type)
{
    u8x8 bytes;

    if (type == ZS_TYPE_TF32)
        return load8(at) & 0xffffe000u;
    if (type == ZS_TYPE_BF)
        return from_bf(at);
    if (type == ZS_TYPE_HF)
        return from_hf(at);
    if (type == ZS_TYPE_E2M1) {
        uint32_t eight;
        memcpy(&eight, at, sizeof(eight));
        return from_small(LANES_SPLAT(u32, eight) >> (u32x8){0, 4, 8, 12, 16, 20, 24, 28}, type);
    }
    memcpy(&bytes, at, sizeof(bytes));
    if (type == ZS_TYPE_HF8)
        return from_small(__builtin_convertvector(bytes, u32x8), type);
    return (u32x8)lanes_f16_f32(__builtin_convertvector(bytes, u16x8) << 8);
}

/* A row has 32 bytes, whatever the type. */
INLINE void floats_of_src2(uint8_t *to, const uint8_t *from, uint32_t rows, unsigned type,
                           const unsigned ops)
{
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < ops && i * 8 < BLOCK; i++) {
            u32x8 f = floats_from(from + r * 32 + i * 32 / ops, type);
            memcpy(to + (size_t)r * REAL_ROW_B + i * 32, &f, sizeof(f));
        }
}

/* Sources of a block: 32 elements along the depth, which are all but of e2m1. */
static void set_block(const struct zs_eu_thread *t, const struct zs_eu_op *op,
                      const struct zs_eu_dpas *d, uint32_t block, struct room *room)
{
    const uint8_t *src1 = (const uint8_t *)t + op->src[1] + (size_t)block * 4 * d->lanes * 4,
                  *src2 = (const uint8_t *)t + op->src[2] + (size_t)block * 16;

#define FLOATS(type, ops)                                                                          \
    case ZS_TYPE_##type:                                                                           \
        FLOATS_OF(ZS_TYPE_##type, ops);                                                            \
        break;
#define ALL_FLOATS                                                                                 \
    FLOATS(TF32, 1) FLOATS(BF, 2) FLOATS(HF, 2) FLOATS(BF8, 4) FLOATS(HF8, 4) FLOATS(E2M1, 8)
#define FLOATS_OF(type, ops) floats_of_src1(room->w, src1, d->lanes, type, ops)
    switch (d->type[0]) {
        ALL_FLOATS
    }
#undef FLOATS_OF
#define FLOATS_OF(type, ops) floats_of_src2(room->a, src2, d->rows, type, ops)
    switch (d->type[1]) {
        ALL_FLOATS
    }
#undef FLOATS_OF
#undef ALL_FLOATS
#undef FLOATS
}

static struct work real_work(const struct zs_eu_dpas *d, const struct room *room)
{
    return (struct work){.w = room->w,
                         .a = room->a,
                         .bias = no_bias,
                         .parts = 1,
                         .part_steps = ZS_MIN((uint32_t)DEPTH * d->ops, (uint32_t)BLOCK),
                         .rows = d->rows,
                         .lanes = d->lanes};
}

static const struct zs_eu_op *dpas_real(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_dpas *d = &t->program->dpas.items[op->aux];
    uint32_t active = zs_eu_active(t, op), blocks = d->ops == 8 ? 2 : 1;
    struct room space, *room = &space;
    struct work k = real_work(d, room);

    if (active) {
        set_src0(t, op, d, &k, room);
        bool direct = blocks == 1 && set_out(t, op, d, active, &k, room);
        for (uint32_t b = 0; b < blocks; b++) {
            set_block(t, op, d, b, room);
            if (!direct)
                k.out = (uint8_t *)room->out;
            run_real(&k);
            k.src0 = (const uint8_t *)room->out;
            k.src0_row_B = d->lanes * 4u;
        }
        if (!direct)
            put_out(t, op, d, room, active);
    }
    ZS_EU_NEXT(t, op);
}

/* ---- floats with scales ---- */

/* A power of two, biased by 127; the highest is no number. Both together fit a double. */
static double scale_of(const struct zs_eu_thread *t, uint32_t at)
{
    uint32_t e = at ? ((const uint8_t *)t)[at] : 127;
    uint64_t bits = e == 255 ? UINT64_C(0x7ff8) << 48 : (uint64_t)(e - 127 + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof(scale));
    return scale;
}

/* What the elements of a block add up to is scaled, and added with one rounding (a double holds a
 * sum of two floats as exactly as that takes). */
static void add_block(const struct zs_eu_thread *t, const struct zs_eu_dpas *d, uint32_t block,
                      const struct room *room, float *sums)
{
    uint32_t more_B = block * ZS_EU_DPAS_SCALES_B;
    double columns[LANES];

    for (uint32_t c = 0; c < d->lanes; c++)
        columns[c] = scale_of(t, d->scales[0] ? d->scales[0] + more_B + c : 0);
    for (uint32_t r = 0; r < d->rows; r++) {
        double row = scale_of(t, d->scales[1] ? d->scales[1] + more_B + r : 0);
        for (uint32_t c = 0; c < d->lanes; c++) {
            float *sum = &sums[r * d->lanes + c], part;
            memcpy(&part, &room->out[r * d->lanes + c], sizeof(part));
            *sum = (float)((double)*sum + (double)part * (row * columns[c]));
        }
    }
}

static const struct zs_eu_op *dpas_scaled(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_dpas *d = &t->program->dpas.items[op->aux];
    uint32_t active = zs_eu_active(t, op), blocks = d->ops == 8 ? 2 : 1;
    struct room space, *room = &space;
    struct work k = real_work(d, room);
    float sums[ROWS * LANES];

    if (active) {
        set_src0(t, op, d, &k, room);
        for (uint32_t r = 0; r < d->rows; r++)
            memcpy(sums + r * d->lanes, k.src0 + (size_t)r * k.src0_row_B, d->lanes * 4u);
        k.src0 = (const uint8_t *)zeros;
        k.src0_row_B = 0;
        k.out = (uint8_t *)room->out;
        for (uint32_t b = 0; b < blocks; b++) {
            set_block(t, op, d, b, room);
            run_real(&k);
            add_block(t, d, b, room, sums);
        }
        memcpy(room->out, sums, (size_t)d->rows * d->lanes * 4);
        put_out(t, op, d, room, active);
    }
    ZS_EU_NEXT(t, op);
}

/* ---- integers ---- */

/* The i-th part of each dword as four bytes: in order, or every fourth byte's worth of it, which is
 * cheaper and as good where the other source is split alike. */
INLINE u32x8 bytes_of(u32x8 v, unsigned bits, bool is_signed, unsigned i, bool ordered)
{
    typedef uint8_t u8x32 __attribute__((vector_size(32)));
    u32x8 x = v;

    if (bits == 8)
        return v;
    if (!ordered) {
        x = v >> bits * i & (bits == 4 ? 0x0f0f0f0f : 0x03030303);
    } else if (bits == 4) {
        x = v >> 16 * i & 0xffff;
        x = (x | x << 8) & 0x00ff00ff;
        x = (x | x << 4) & 0x0f0f0f0f;
    } else {
        x = v >> 8 * i & 0xff;
        x = (x | x << 12) & 0x000f000f;
        x = (x | x << 6) & 0x03030303;
    }
    if (!is_signed)
        return x;
    u32x8 sign = LANES_SPLAT(u32, bits == 4 ? 0x08080808u : 0x02020202u);
    return (u32x8)((u8x32)(x ^ sign) - (u8x32)sign);
}

/* Bytes 0 and 2 as words, or 1 and 3. */
INLINE u32x8 words_of(u32x8 v, bool is_signed, unsigned odd)
{
    typedef uint16_t u16x16 __attribute__((vector_size(32)));
    typedef int16_t s16x16 __attribute__((vector_size(32)));

    if (is_signed)
        return (u32x8)((s16x16)(odd ? (u16x16)v : (u16x16)v << 8) >> 8);
    return odd ? (u32x8)((u16x16)v >> 8) : v & 0x00ff00ff;
}

/* src1 as bytes (each = 1) or as words (2: even ones, odd ones). */
INLINE void whole_src1(uint8_t *to, const uint8_t *from, const struct zs_eu_dpas *d, uint32_t steps,
                       unsigned bits, const unsigned each, bool ordered)
{
    uint32_t parts = 8 / bits;
    bool is_signed = d->is_signed[0];

    for (uint32_t u = 0; u < steps / parts; u++)
        for (uint32_t column = 0; column < d->lanes; column += 8, from += 32)
            for (uint32_t p = 0; p < parts; p++)
                for (uint32_t odd = 0; odd < each; odd++) {
                    uint32_t step = (u * parts + p) * each + odd;
                    u32x8 x = bytes_of(load8(from), bits, is_signed, p, ordered);
                    x = each == 2 ? words_of(x, is_signed, odd) : x;
                    memcpy(to + (size_t)(step * d->lanes + column) * 4, &x, sizeof(x));
                }
}

/* Rows of row_B bytes to their places. */
INLINE void put_rows(uint8_t *to, u32x8 x, uint32_t row_B)
{
    if (row_B == 32) {
        memcpy(to, &x, 32);
        return;
    }
    for (uint32_t q = 0; q < 32 / row_B; q++)
        memcpy(to + (size_t)q * WHOLE_ROW_B, (uint8_t *)&x + (size_t)q * row_B, row_B);
}

/* The same for src2, by parts, as many rows at once as 32 bytes have; flip: changes what is signed.
 */
INLINE void rows_of_src2(uint8_t *to, const uint8_t *from, const struct zs_eu_dpas *d,
                         const uint32_t row_B, unsigned bits, const unsigned each, uint32_t flip,
                         bool ordered)
{
    for (uint32_t p = 0; p < 8 / bits; p++)
        for (uint32_t r = 0; r < d->rows; r += 32 / row_B)
            for (uint32_t odd = 0; odd < each; odd++) {
                u32x8 v = load8(from + (size_t)r * row_B);
                u32x8 x = bytes_of(v, bits, d->is_signed[1], p, ordered) ^ flip;
                x = each == 2 ? words_of(x, d->is_signed[1], odd) : x;
                put_rows(to + (size_t)(p * each + odd) * PART_B + (size_t)r * WHOLE_ROW_B, x,
                         row_B);
            }
}

INLINE void whole_src2(uint8_t *to, const uint8_t *from, const struct zs_eu_dpas *d, uint32_t steps,
                       unsigned bits, const unsigned each, uint32_t flip, bool ordered)
{
    uint32_t row_B = steps * bits / 2;

    if (row_B == 32)
        rows_of_src2(to, from, d, 32, bits, each, flip, ordered);
    else if (row_B == 16)
        rows_of_src2(to, from, d, 16, bits, each, flip, ordered);
    else
        rows_of_src2(to, from, d, 8, bits, each, flip, ordered);
}

#define BY_BITS(bits, call)                                                                        \
    do {                                                                                           \
        if ((bits) == 8)                                                                           \
            call(8);                                                                               \
        else if ((bits) == 4)                                                                      \
            call(4);                                                                               \
        else                                                                                       \
            call(2);                                                                               \
    } while (0)

static void words_src1(uint8_t *to, const uint8_t *from, const struct zs_eu_dpas *d, uint32_t steps,
                       bool ordered)
{
#define CALL(bits) whole_src1(to, from, d, steps, bits, 2, ordered)
    BY_BITS(d->bits[0], CALL);
#undef CALL
}

static void words_src2(uint8_t *to, const uint8_t *from, const struct zs_eu_dpas *d, uint32_t steps,
                       bool ordered)
{
#define CALL(bits) whole_src2(to, from, d, steps, bits, 2, 0, ordered)
    BY_BITS(d->bits[1], CALL);
#undef CALL
}

static struct work whole_work(const struct zs_eu_dpas *d, const struct room *room)
{
    uint32_t steps = DEPTH * d->ops / 4u, parts = 8u / d->bits[1];

    return (struct work){.w = room->w,
                         .a = room->a,
                         .bias = no_bias,
                         .parts = parts,
                         .part_steps = steps / parts,
                         .rows = d->rows,
                         .lanes = d->lanes};
}

#ifdef __AVX512VNNI__
/*
 * The host multiplies unsigned bytes with signed ones. Where both are of one kind, 128 is added to
 * (or taken from) src2's, and what that changes, the lane's sum of src1 times 128, is taken back.
 */
INLINE u32x8 excess(const struct work *k, uint32_t steps, uint32_t column, bool is_signed)
{
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i sum = _mm256_setzero_si256();

    for (uint32_t step = 0; step < steps; step++) {
        __m256i w = (__m256i)load8(k->w + (size_t)(step * k->lanes + column) * 4);
        sum = is_signed ? _mm256_dpbusd_epi32(sum, ones, w) : _mm256_dpbusd_epi32(sum, w, ones);
    }
    return (u32x8)sum << 7;
}

static void set_whole(const struct zs_eu_dpas *d, const uint8_t *src1, const uint8_t *src2,
                      struct work *k, struct room *room)
{
    uint32_t steps = k->parts * k->part_steps;
    bool same = d->is_signed[0] == d->is_signed[1], ordered = d->bits[0] != d->bits[1];
    uint32_t flip = same ? 0x80808080 : 0;

    if (d->bits[0] == 8) {
        k->w = src1;
    } else {
#define CALL(bits) whole_src1(room->w, src1, d, steps, bits, 1, ordered)
        BY_BITS(d->bits[0], CALL);
#undef CALL
    }
    if (d->bits[1] == 8 && !same) {
        k->a = src2;
    } else {
#define CALL(bits) whole_src2(room->a, src2, d, steps, bits, 1, flip, ordered)
        BY_BITS(d->bits[1], CALL);
#undef CALL
    }
    if (!same)
        return;
    k->bias = room->bias;
    for (uint32_t column = 0; column < d->lanes; column += 8) {
        u32x8 more = excess(k, steps, column, d->is_signed[0]);
        more = d->is_signed[0] ? -more : more;
        memcpy(room->bias + column, &more, sizeof(more));
    }
}
#else
static void set_whole(const struct zs_eu_dpas *d, const uint8_t *src1, const uint8_t *src2,
                      struct work *k, struct room *room)
{
    uint32_t steps = k->parts * k->part_steps;

    words_src1(room->w, src1, d, steps, d->bits[0] != d->bits[1]);
    words_src2(room->a, src2, d, steps, d->bits[0] != d->bits[1]);
    /* even and odd bytes are parts of their own */
    k->parts *= 2;
}
#endif

static const struct zs_eu_op *dpas_whole(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_dpas *d = &t->program->dpas.items[op->aux];
    uint32_t active = zs_eu_active(t, op);
    struct room room;
    struct work k = whole_work(d, &room);

    if (active) {
        set_whole(d, ZS_EU_AT(t, op->src[1]), ZS_EU_AT(t, op->src[2]), &k, &room);
        set_src0(t, op, d, &k, &room);
        bool direct = set_out(t, op, d, active, &k, &room);
        run_whole(&k, d->is_signed[0]);
        if (!direct)
            put_out(t, op, d, &room, active);
    }
    ZS_EU_NEXT(t, op);
}

/* ---- integers, saturated ---- */

INLINE u32x8 add_saturated_s32(u32x8 a, u32x8 b)
{
    u32x8 sum = a + b, limit = (u32x8)((s32x8)a >> 31) ^ 0x7fffffff;
    u32x8 over = (u32x8)((s32x8)((a ^ sum) & (b ^ sum)) >> 31);
    return LANES_PICK(u32, over, limit, sum);
}

/* b is signed. */
INLINE u32x8 add_saturated_u32(u32x8 a, u32x8 b)
{
    u32x8 sum = a + b, falls = (u32x8)((s32x8)b >> 31);
    u32x8 over = lanes_lt_u32(sum, a) & ~falls, under = lanes_gt_u32(sum, a) & falls;
    return (sum | over) & ~under;
}

/* Step by step of the depth, as dp4a with saturation does (Mesa's brw_lower_dpas makes these of
 * it). The sum of a step is exact. */
static void run_saturated(const struct work *k, uint32_t dwords, bool is_signed)
{
    uint32_t steps = k->parts * k->part_steps;

    for (uint32_t i = 0; i < k->rows * k->lanes; i += 8) {
        uint32_t r = i / k->lanes, column = i % k->lanes;
        u32x8 acc = load8(k->src0 + (size_t)r * k->src0_row_B + column * 4);
        for (uint32_t step = 0; step < steps; step += dwords) {
            u32x8 sum = {0};
            for (uint32_t s = step; s < step + dwords; s++)
                for (uint32_t odd = 0; odd < 2; odd++) {
                    uint32_t part = s % k->parts * 2 + odd;
                    u32x8 w = load8(k->w + (size_t)((s * 2 + odd) * k->lanes + column) * 4);
                    const uint8_t *a = k->a + (size_t)part * PART_B + (size_t)r * WHOLE_ROW_B;
                    sum += pairs8(w, splat8(a + (size_t)(s / k->parts) * 4));
                }
            acc = is_signed ? add_saturated_s32(acc, sum) : add_saturated_u32(acc, sum);
        }
        memcpy(k->out + (size_t)i * 4, &acc, sizeof(acc));
    }
}

static const struct zs_eu_op *dpas_saturated(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_dpas *d = &t->program->dpas.items[op->aux];
    uint32_t active = zs_eu_active(t, op), steps = DEPTH * d->ops / 4u;
    struct room room;
    struct work k = whole_work(d, &room);

    if (active) {
        words_src1(room.w, ZS_EU_AT(t, op->src[1]), d, steps, true);
        words_src2(room.a, ZS_EU_AT(t, op->src[2]), d, steps, true);
        set_src0(t, op, d, &k, &room);
        k.out = (uint8_t *)room.out;
        run_saturated(&k, d->ops / 4u, d->dst_type == ZS_TYPE_D);
        put_out(t, op, d, &room, active);
    }
    ZS_EU_NEXT(t, op);
}

const struct zs_eu_dpas_handlers ZS_EU_DPAS = {
    .form = {[ZS_EU_DPAS_REAL] = dpas_real,
             [ZS_EU_DPAS_SCALED] = dpas_scaled,
             [ZS_EU_DPAS_WHOLE] = dpas_whole,
             [ZS_EU_DPAS_SATURATED] = dpas_saturated},
};
