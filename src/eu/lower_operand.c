/* SPDX-License-Identifier: MIT */
#include "eu/lower.h"

#include "base/vec.h"

#include <string.h>

/* ---- rows and their types ---- */

struct row_info {
    uint8_t dst_B, src_B[3];
};

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

static const struct row_info row_infos[ZS_EU_ROW_COUNT] = {
#define ZS_EU_UN(id, td, ta, mode, expr) [ZS_EU_ROW_##id] = {sizeof(td), {sizeof(ta)}},
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)                                                      \
    [ZS_EU_ROW_##id] = {sizeof(td), {sizeof(ta), sizeof(tb)}},
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr)                                                  \
    [ZS_EU_ROW_##id] = {sizeof(td), {sizeof(ta), sizeof(tb), sizeof(tc)}},
#define ZS_EU_CMP(id, ta, mode, expr) [ZS_EU_ROW_##id] = {sizeof(ta), {sizeof(ta), sizeof(ta)}},
#define ZS_EU_SEL(id, ta)             [ZS_EU_ROW_##id] = {sizeof(ta), {sizeof(ta), sizeof(ta)}},
#include "eu/sem.def"
};

static unsigned size_of(unsigned type)
{
    return zs_gen9_type_size_B((enum zs_gen9_type)type);
}

static unsigned log2_size(unsigned type)
{
    return (unsigned)__builtin_ctz(size_of(type) | 16);
}

bool zs_eu_type_is_float(unsigned type)
{
    return type == ZS_GEN9_F || type == ZS_GEN9_DF || type == ZS_GEN9_HF || type == ZS_GEN9_VF;
}

bool zs_eu_type_is_signed(unsigned type)
{
    return type == ZS_GEN9_D || type == ZS_GEN9_W || type == ZS_GEN9_B || type == ZS_GEN9_Q ||
           type == ZS_GEN9_V;
}

enum zs_eu_row zs_eu_move_row(unsigned type)
{
    static const enum zs_eu_row rows[4] = {ZS_EU_ROW_MOV_8, ZS_EU_ROW_MOV_16, ZS_EU_ROW_MOV_32,
                                           ZS_EU_ROW_MOV_64};
    return rows[log2_size(type) & 3];
}

enum zs_eu_row zs_eu_cmp_row(unsigned cond, unsigned type)
{
#define ROWS(eq, t)                                                                                \
    {                                                                                              \
        [0] = ZS_EU_ROW_NONE, [ZS_GEN9_COND_EQ] = ZS_EU_ROW_CMP_EQ_##eq,                           \
        [ZS_GEN9_COND_NE] = ZS_EU_ROW_CMP_NE_##eq, [ZS_GEN9_COND_GT] = ZS_EU_ROW_CMP_GT_##t,       \
        [ZS_GEN9_COND_GE] = ZS_EU_ROW_CMP_GE_##t, [ZS_GEN9_COND_LT] = ZS_EU_ROW_CMP_LT_##t,        \
        [ZS_GEN9_COND_LE] = ZS_EU_ROW_CMP_LE_##t, [7] = ZS_EU_ROW_NONE                             \
    }
    static const enum zs_eu_row rows[][8] = {
        [ZS_GEN9_D] = ROWS(I32, S32), [ZS_GEN9_UD] = ROWS(I32, U32),
        [ZS_GEN9_Q] = ROWS(I64, S64), [ZS_GEN9_UQ] = ROWS(I64, U64),
        [ZS_GEN9_F] = ROWS(F32, F32), [ZS_GEN9_DF] = ROWS(F64, F64),
        [ZS_GEN9_HF] = {0},
    };
#undef ROWS
    if (cond == ZS_GEN9_COND_UN)
        return type == ZS_GEN9_F    ? ZS_EU_ROW_CMP_UN_F32
               : type == ZS_GEN9_DF ? ZS_EU_ROW_CMP_UN_F64
                                    : ZS_EU_ROW_NONE;
    if (cond > 7 || type >= ZS_ARRAY_LEN(rows) || !rows[type][1])
        return ZS_EU_ROW_NONE;
    return rows[type][cond];
}

/* ---- places ---- */

uint32_t zs_eu_temp(struct zs_eu_lowering *l)
{
    if (l->temps == ZS_EU_TEMP_COUNT) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s needs too many conversions", l->inst->mnemonic);
        l->temps = 0;
    }
    return ZS_EU_OFFSET(temp) + l->temps++ * ZS_EU_TEMP_B;
}

/* The pool is full: copy the constant when it is used. */
static uint32_t constant_by_copy(struct zs_eu_lowering *l, const uint8_t *bytes, unsigned size_B)
{
    struct zs_eu_program *p = l->program;
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op = zs_eu_emit(l, zs_eu_op_constant);

    op->dst = at;
    op->src[0] = size_B;
    op->aux = (uint32_t)p->more_constants.count;
    if (!ZS_VEC_RESERVE(&p->more_constants, size_B)) {
        l->no_memory = true;
        return at;
    }
    memcpy(p->more_constants.items + p->more_constants.count, bytes, size_B);
    p->more_constants.count += size_B;
    return at;
}

uint32_t zs_eu_constant(struct zs_eu_lowering *l, const void *bytes, unsigned size_B)
{
    struct zs_eu_program *p = l->program;
    unsigned step_B = size_B > 8 ? size_B : 8;
    uint8_t padded[ZS_EU_LANES_MAX * 8] = {0};

    memcpy(padded, bytes, size_B);
    for (uint32_t at = 0; at + step_B <= p->constant_B; at += 8)
        if (memcmp(p->constant + at, padded, step_B) == 0)
            return ZS_EU_OFFSET(constant) + at;
    if (p->constant_B + step_B > ZS_EU_CONST_B)
        return constant_by_copy(l, padded, step_B);
    memcpy(p->constant + p->constant_B, padded, step_B);
    p->constant_B += (uint32_t)zs_align_up(step_B, 8);
    return ZS_EU_OFFSET(constant) + p->constant_B - (uint32_t)zs_align_up(step_B, 8);
}

/* Architectural registers that operands may name. */
static const struct arf {
    uint32_t at;
    uint8_t size_B; /* all registers of the kind */
    uint8_t reg_B;  /* distance between registers */
    bool readable, writable;
} arfs[16] = {
    [ZS_GEN9_ARF_A >> 4] = {ZS_EU_OFFSET(a0), 32, 32, true, true},
    [ZS_GEN9_ARF_F >> 4] = {ZS_EU_OFFSET(flag), 8, 4, true, true},
    [ZS_GEN9_ARF_CE >> 4] = {ZS_EU_OFFSET(ce), 4, 4, true, false},
    [ZS_GEN9_ARF_SR >> 4] = {ZS_EU_OFFSET(sr0), 16, 16, true, false},
    [ZS_GEN9_ARF_CR >> 4] = {ZS_EU_OFFSET(cr0), 16, 16, true, true},
    [ZS_GEN9_ARF_N >> 4] = {ZS_EU_OFFSET(n0), 16, 16, true, true},
    [ZS_GEN9_ARF_IP >> 4] = {ZS_EU_OFFSET(ip_B), 4, 4, true, false},
    [ZS_GEN9_ARF_TM >> 4] = {ZS_EU_OFFSET(tm0), 20, 20, true, false},
};

static bool is_acc(const struct zs_gen9_operand *op)
{
    return op->file == ZS_GEN9_FILE_ARF && !op->indirect && (op->reg & 0xf0) == ZS_GEN9_ARF_ACC;
}

static bool is_null(const struct zs_gen9_operand *op)
{
    return op->file == ZS_GEN9_FILE_ARF && !op->indirect && (op->reg & 0xf0) == ZS_GEN9_ARF_NULL;
}

bool zs_eu_dst_is_null(const struct zs_gen9_inst *inst)
{
    return is_null(&inst->dst);
}

/*
 * Byte offset in the thread of an operand's first element, bytes that may be used from there, and
 * the distance of neighbouring elements.
 */
struct place {
    uint32_t at, limit_B, step_B;
};

static bool place_acc(struct zs_eu_lowering *l, const struct zs_gen9_operand *op, struct place *ret)
{
    unsigned size_B = size_of(op->type);
    unsigned reg = op->reg & 15, per_reg = size_B < 2 ? 16 : 32 / size_B;
    unsigned first = reg * per_reg + op->subreg_B / size_B;

    if (reg > 1)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: accumulator acc%u is not modelled",
                            l->inst->mnemonic, reg);
    *ret = (struct place){ZS_EU_OFFSET(acc) + first * 8, (32 - first) * 8, 8};
    return true;
}

static bool place_of(struct zs_eu_lowering *l, const struct zs_gen9_operand *op, bool write,
                     struct place *ret)
{
    unsigned size_B = size_of(op->type);

    if (op->file == ZS_GEN9_FILE_GRF) {
        uint32_t at = op->reg * (uint32_t)ZS_EU_GRF_B + op->subreg_B;
        if (at >= ZS_EU_GRF_FILE_B)
            return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: register r%u does not exist",
                                l->inst->mnemonic, op->reg);
        *ret = (struct place){ZS_EU_OFFSET(grf) + at, ZS_EU_GRF_FILE_B - at, size_B};
        return true;
    }
    if (is_acc(op))
        return place_acc(l, op, ret);
    const struct arf *arf = &arfs[op->reg >> 4];
    uint32_t at = (op->reg & 15u) * arf->reg_B + op->subreg_B;
    if (!(write ? arf->writable : arf->readable) || at >= arf->size_B)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED,
                            "%s: %s of architecture register 0x%02x is not modelled",
                            l->inst->mnemonic, write ? "write" : "read", op->reg);
    *ret = (struct place){arf->at + at, arf->size_B - at, size_B};
    return true;
}

/* Offsets of all channels' elements from the first; false when one leaves the register file. */
static bool region_offsets(const struct zs_gen9_operand *op, unsigned n, const struct place *place,
                           unsigned size_B, bool is_dst, uint16_t *ret_offsets)
{
    for (unsigned c = 0; c < n; c++) {
        unsigned elements;
        if (is_dst)
            elements = c * op->hstride;
        else if (op->vstride == ZS_GEN9_VSTRIDE_VXH)
            elements = c % op->width * op->hstride;
        else
            elements = c / op->width * op->vstride + c % op->width * op->hstride;
        uint32_t at = elements * place->step_B;
        if (at + size_B > place->limit_B)
            return false;
        ret_offsets[c] = (uint16_t)at;
    }
    return true;
}

/* The distance of neighbours when it is the same everywhere, else UINT32_MAX. */
static uint32_t even_stride(const uint16_t *offsets, unsigned n)
{
    uint32_t stride = n > 1 ? (uint32_t)offsets[1] - offsets[0] : 0;

    for (unsigned c = 1; c < n; c++)
        if ((uint32_t)offsets[c] - offsets[c - 1] != stride)
            return UINT32_MAX;
    return stride > INT32_MAX ? UINT32_MAX : stride;
}

static bool general(const struct zs_eu_lowering *l)
{
    return l->params->flags & ZS_EU_LOWER_GENERAL;
}

static uint32_t add_region(struct zs_eu_lowering *l, const struct zs_eu_region *region)
{
    struct zs_eu_program *p = l->program;

    for (size_t i = p->regions.count; i-- > 0 && p->regions.count - i < 32;)
        if (memcmp(&p->regions.items[i], region, sizeof(*region)) == 0)
            return (uint32_t)i;
    if (!ZS_VEC_PUSH(&p->regions, *region))
        l->no_memory = true;
    return (uint32_t)(p->regions.count - 1);
}

/* ---- rows ---- */

/* One element to all channels. */
static struct zs_eu_loc spread(struct zs_eu_lowering *l, unsigned size_B, struct zs_eu_loc one)
{
    static const unsigned by_size[9] = {
        [1] = ZS_GEN9_UB, [2] = ZS_GEN9_UW, [4] = ZS_GEN9_UD, [8] = ZS_GEN9_UQ};
    uint32_t at = zs_eu_temp(l);

    zs_eu_emit_row(l, zs_eu_move_row(by_size[size_B]), at, &one, 1, false);
    return (struct zs_eu_loc){at, false};
}

static zs_eu_op_fn *handler_for(const struct zs_eu_lowering *l, enum zs_eu_row row,
                                const struct zs_eu_loc *in, unsigned count)
{
    unsigned cls = 0;

    for (unsigned i = 0; i < count; i++)
        cls |= in[i].scalar ? 1u << i : 0;
    return l->handlers->row[row][l->n == 1 ? (unsigned)ZS_EU_CLASS_N1 : cls];
}

struct zs_eu_op *zs_eu_emit_row(struct zs_eu_lowering *l, enum zs_eu_row row, uint32_t dst,
                                const struct zs_eu_loc *src, unsigned count, bool masked)
{
    struct zs_eu_loc in[3] = {{0}};
    unsigned scalars = 0;

    for (unsigned i = 0; i < count; i++) {
        in[i] = src[i];
        scalars += in[i].scalar;
    }
    /* no row has only scalar sources, and not all rows have handlers for some */
    for (unsigned i = count; l->n > 1 && i-- > 0;)
        if (in[i].scalar && ((scalars == count && count > 1) || !handler_for(l, row, in, count))) {
            in[i] = spread(l, row_infos[row].src_B[i], in[i]);
            scalars--;
        }
    zs_eu_op_fn *fn = handler_for(l, row, in, count);
    zs_assert(fn);
    struct zs_eu_op *op = zs_eu_emit(l, fn);
    op->dst = dst;
    for (unsigned i = 0; i < count; i++)
        op->src[i] = in[i].at;
    if (masked)
        zs_eu_mask(l, op);
    return op;
}

/* One row, for all channels, into a new temporary. */
static struct zs_eu_loc to_temp(struct zs_eu_lowering *l, enum zs_eu_row row, struct zs_eu_loc in)
{
    uint32_t at = zs_eu_temp(l);
    unsigned n = l->n, chunks = l->chunks;

    if (in.scalar) /* convert the one element, not all channels */
        l->n = l->chunks = 1;
    zs_eu_emit_row(l, row, at, &in, 1, false);
    l->n = n;
    l->chunks = chunks;
    return (struct zs_eu_loc){at, in.scalar};
}

/* ---- conversions ---- */

struct plan {
    enum zs_eu_row rows[6];
    unsigned count;
};

static void step(struct plan *plan, enum zs_eu_row row)
{
    plan->rows[plan->count++] = row;
}

static void plan_integers(struct plan *plan, unsigned from, unsigned to)
{
    unsigned a = size_of(from), b = size_of(to);
    bool s = zs_eu_type_is_signed(from);

    if (a == 1 && b == 2)
        step(plan, s ? ZS_EU_ROW_S8_S16 : ZS_EU_ROW_U8_U16);
    if (a == 1 && b >= 4)
        step(plan, s ? ZS_EU_ROW_S8_S32 : ZS_EU_ROW_U8_U32);
    if (a == 2 && b == 4)
        step(plan, s ? ZS_EU_ROW_S16_S32 : ZS_EU_ROW_U16_U32);
    if (a == 2 && b == 8)
        step(plan, s ? ZS_EU_ROW_S16_S64 : ZS_EU_ROW_U16_U64);
    if ((a == 1 || a == 4) && b == 8)
        step(plan, s ? ZS_EU_ROW_S32_S64 : ZS_EU_ROW_U32_U64);
    if (a == 8 && b == 4)
        step(plan, ZS_EU_ROW_I64_32);
    if (a == 8 && b <= 2)
        step(plan, ZS_EU_ROW_I64_16);
    if (a == 4 && b == 2)
        step(plan, ZS_EU_ROW_I32_16);
    if (a == 4 && b == 1)
        step(plan, ZS_EU_ROW_I32_8);
    if ((a == 8 || a == 2) && b == 1)
        step(plan, ZS_EU_ROW_I16_8);
}

static void plan_clamp_from_d(struct plan *plan, unsigned to)
{
    static const enum zs_eu_row rows[] = {
        [ZS_GEN9_W] = ZS_EU_ROW_CLAMP_S32_S16,
        [ZS_GEN9_UW] = ZS_EU_ROW_CLAMP_S32_U16,
        [ZS_GEN9_B] = ZS_EU_ROW_CLAMP_S32_S8,
        [ZS_GEN9_UB] = ZS_EU_ROW_CLAMP_S32_U8,
    };
    if (to != ZS_GEN9_D)
        step(plan, rows[to]);
}

/* Clamp to the range of `to`: through q, which holds every value but those of uq. */
static void plan_clamp(struct plan *plan, unsigned from, unsigned to)
{
    if (from == to)
        return;
    if (size_of(to) <= 2 && (size_of(from) <= 2 || from == ZS_GEN9_D)) {
        plan_integers(plan, from, ZS_GEN9_D);
        plan_clamp_from_d(plan, to);
        return;
    }
    if (from == ZS_GEN9_UQ)
        step(plan, ZS_EU_ROW_CLAMP_U64_S64);
    else
        plan_integers(plan, from, ZS_GEN9_Q);
    if (to == ZS_GEN9_UQ)
        step(plan, ZS_EU_ROW_CLAMP_S64_U64);
    else if (to == ZS_GEN9_UD)
        step(plan, ZS_EU_ROW_CLAMP_S64_U32);
    else if (to != ZS_GEN9_Q) {
        step(plan, ZS_EU_ROW_CLAMP_S64_S32);
        plan_clamp_from_d(plan, to);
    }
}

static void plan_from_float(struct plan *plan, unsigned from, unsigned to)
{
    static const enum zs_eu_row rows[2][4] = {
        {ZS_EU_ROW_F32_S32, ZS_EU_ROW_F32_U32, ZS_EU_ROW_F32_S64, ZS_EU_ROW_F32_U64},
        {ZS_EU_ROW_F64_S32, ZS_EU_ROW_F64_U32, ZS_EU_ROW_F64_S64, ZS_EU_ROW_F64_U64},
    };
    const enum zs_eu_row *row = rows[from == ZS_GEN9_DF];

    if (to == ZS_GEN9_UD)
        step(plan, row[1]);
    else if (to == ZS_GEN9_Q)
        step(plan, row[2]);
    else if (to == ZS_GEN9_UQ)
        step(plan, row[3]);
    else {
        step(plan, row[0]);
        plan_clamp_from_d(plan, to);
    }
}

static void plan_to_float(struct plan *plan, unsigned from, unsigned to)
{
    static const enum zs_eu_row rows[2][4] = {
        {ZS_EU_ROW_S32_F32, ZS_EU_ROW_U32_F32, ZS_EU_ROW_S64_F32, ZS_EU_ROW_U64_F32},
        {ZS_EU_ROW_S32_F64, ZS_EU_ROW_U32_F64, ZS_EU_ROW_S64_F64, ZS_EU_ROW_U64_F64},
    };
    const enum zs_eu_row *row = rows[to == ZS_GEN9_DF];

    if (size_of(from) <= 2) {
        plan_integers(plan, from, ZS_GEN9_D);
        from = ZS_GEN9_D;
    }
    step(plan, row[from == ZS_GEN9_D ? 0 : from == ZS_GEN9_UD ? 1 : from == ZS_GEN9_Q ? 2 : 3]);
}

/* Half goes through single: exact up, and down from integers whatever is not exact overflows. */
static void plan_convert(struct plan *plan, unsigned from, unsigned to, bool clamp)
{
    if (from == to)
        return;
    if (from == ZS_GEN9_HF) {
        step(plan, ZS_EU_ROW_F16_F32);
        from = ZS_GEN9_F;
    }
    if (from == to)
        return;
    if (zs_eu_type_is_float(from)) {
        if (!zs_eu_type_is_float(to))
            plan_from_float(plan, from, to);
        else if (to == ZS_GEN9_HF)
            step(plan, from == ZS_GEN9_DF ? ZS_EU_ROW_F64_F16 : ZS_EU_ROW_F32_F16);
        else
            step(plan, to == ZS_GEN9_DF ? ZS_EU_ROW_F32_F64 : ZS_EU_ROW_F64_F32);
    } else if (zs_eu_type_is_float(to)) {
        plan_to_float(plan, from, to == ZS_GEN9_HF ? ZS_GEN9_F : to);
        if (to == ZS_GEN9_HF)
            step(plan, ZS_EU_ROW_F32_F16);
    } else if (clamp) {
        plan_clamp(plan, from, to);
    } else {
        plan_integers(plan, from, to);
    }
}

struct zs_eu_loc zs_eu_convert(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned from,
                               unsigned to, bool clamp)
{
    struct plan plan = {.count = 0};

    plan_convert(&plan, from, to, clamp);
    for (unsigned i = 0; i < plan.count; i++)
        loc = to_temp(l, plan.rows[i], loc);
    return loc;
}

/* ---- sources ---- */

/* Packed immediates as a vector, others as 8 bytes that serve every narrower type. */
static struct zs_eu_loc load_immediate(struct zs_eu_lowering *l, const struct zs_gen9_operand *op,
                                       unsigned *ret_type)
{
    uint8_t vector[ZS_EU_LANES_MAX * 4];
    uint64_t value = op->imm;

    *ret_type = op->type;
    if (op->type == ZS_GEN9_V || op->type == ZS_GEN9_UV) {
        /* The immediate is a row of words: a destination of dwords takes every second one. Source:
         * IGC's HWConformity::fixDstAlignmentWithVectorImm, which packs it so (below 8 lanes). */
        const struct zs_gen9_operand *dst = &l->inst->dst;
        bool dwords = l->n < 8 && dst->hstride * size_of(dst->type) == 4;
        for (unsigned c = 0; c < l->n; c++) {
            int nibble = (int)(op->imm >> (dwords ? 2 * c : c) % 8 * 4 & 15);
            int16_t lane = (int16_t)(op->type == ZS_GEN9_V && nibble > 7 ? nibble - 16 : nibble);
            memcpy(vector + c * 2, &lane, 2);
        }
        *ret_type = op->type == ZS_GEN9_V ? ZS_GEN9_W : ZS_GEN9_UW;
        if (l->n > 1)
            return (struct zs_eu_loc){zs_eu_constant(l, vector, l->n * 2), false};
        value &= 15;
        if (op->type == ZS_GEN9_V && value > 7)
            value -= 16;
        return (struct zs_eu_loc){zs_eu_constant(l, &value, 8), true};
    }
    if (op->type == ZS_GEN9_VF) {
        for (unsigned c = 0; c < l->n; c++) {
            uint32_t byte = (uint32_t)(op->imm >> c % 4 * 8 & 0xff);
            uint32_t lane = (byte & 0x80) << 24;
            if (byte & 0x7f)
                lane |= ((byte >> 4 & 7) + 124) << 23 | (byte & 15) << 19;
            memcpy(vector + c * 4, &lane, 4);
        }
        *ret_type = ZS_GEN9_F;
        return (struct zs_eu_loc){zs_eu_constant(l, vector, l->n * 4), l->n == 1};
    }
    if (op->type == ZS_GEN9_W)
        value = (uint64_t)(int64_t)(int16_t)value;
    if (op->type == ZS_GEN9_D)
        value = (uint64_t)(int64_t)(int32_t)value;
    return (struct zs_eu_loc){zs_eu_constant(l, &value, 8), true};
}

static struct zs_eu_loc gather_region(struct zs_eu_lowering *l, const struct zs_eu_region *region,
                                      uint32_t base, unsigned type)
{
    uint32_t at = zs_eu_temp(l);
    uint32_t index = add_region(l, region);
    struct zs_eu_op *op = zs_eu_emit(l, zs_eu_op_gather_region);

    op->dst = at;
    op->src[0] = base;
    op->aux = index;
    op->arg = (uint8_t)log2_size(type);
    op->lanes = l->n == 32 ? UINT32_MAX : (1u << l->n) - 1;
    return (struct zs_eu_loc){at, l->n == 1};
}

static struct zs_eu_loc load_indirect(struct zs_eu_lowering *l, const struct zs_gen9_operand *op)
{
    struct zs_eu_region region;
    struct place place = {0, ZS_EU_GRF_FILE_B, size_of(op->type)};
    bool per_row = op->vstride == ZS_GEN9_VSTRIDE_VXH;

    memset(&region, 0, sizeof(region));
    region.indirect_B = op->indirect_B;
    if (op->file != ZS_GEN9_FILE_GRF ||
        !region_offsets(op, l->n, &place, size_of(op->type), false, region.offset_B)) {
        zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: bad indirect source", l->inst->mnemonic);
        return (struct zs_eu_loc){0};
    }
    for (unsigned c = 0; c < l->n; c++) {
        unsigned a0 = op->a0_subreg + (per_row ? c / op->width : 0);
        if (a0 > 15)
            zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: address register a0.%u does not exist",
                         l->inst->mnemonic, a0);
        region.a0_step[c] = (uint8_t)(a0 & 15);
    }
    return gather_region(l, &region, UINT32_MAX, op->type);
}

static void before_read(struct zs_eu_lowering *l, const struct zs_gen9_operand *op)
{
    const struct zs_eu_program *p = l->program;

    if (op->file != ZS_GEN9_FILE_ARF)
        return;
    if ((op->reg & 0xf0) == ZS_GEN9_ARF_IP)
        zs_eu_emit(l, zs_eu_op_read_ip)->aux = p->base_ip_B + l->inst->offset_B;
    if ((op->reg & 0xf0) == ZS_GEN9_ARF_TM)
        zs_eu_emit(l, zs_eu_op_read_tm);
}

static struct zs_eu_loc load_direct(struct zs_eu_lowering *l, const struct zs_gen9_operand *op)
{
    struct zs_eu_region region;
    struct place place;
    unsigned size_B = size_of(op->type);

    memset(&region, 0, sizeof(region));
    if (!place_of(l, op, false, &place))
        return (struct zs_eu_loc){0};
    before_read(l, op);
    if (!region_offsets(op, l->n, &place, size_B, false, region.offset_B)) {
        zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: source region leaves its registers",
                     l->inst->mnemonic);
        return (struct zs_eu_loc){0};
    }
    uint32_t stride = even_stride(region.offset_B, l->n);
    if (general(l))
        return gather_region(l, &region, place.at, op->type);
    if (stride == 0)
        return (struct zs_eu_loc){place.at, true};
    if (stride == size_B)
        return (struct zs_eu_loc){place.at, false};
    if (stride == UINT32_MAX || l->n < 8)
        return gather_region(l, &region, place.at, op->type);
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *gather = zs_eu_emit(l, l->handlers->gather[log2_size(op->type)]);
    gather->dst = at;
    gather->src[0] = place.at;
    gather->src[1] = stride;
    return (struct zs_eu_loc){at, false};
}

static struct zs_eu_loc load_raw(struct zs_eu_lowering *l, const struct zs_gen9_operand *op,
                                 unsigned *ret_type)
{
    *ret_type = op->type;
    if (op->file == ZS_GEN9_FILE_IMM)
        return load_immediate(l, op, ret_type);
    if (size_of(op->type) == 0) {
        zs_eu_refuse(l, ZS_EU_FAULT_ILLEGAL, "%s: operand without a type", l->inst->mnemonic);
        return (struct zs_eu_loc){0};
    }
    if (is_null(op)) {
        uint64_t zero = 0;
        return (struct zs_eu_loc){zs_eu_constant(l, &zero, 8), true};
    }
    return op->indirect ? load_indirect(l, op) : load_direct(l, op);
}

/* Rows for abs, neg and not by type size; floats first. */
static struct zs_eu_loc modify(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned type,
                               const struct zs_gen9_operand *op, enum zs_eu_modifiers mods)
{
    static const enum zs_eu_row abs_int[4] = {0, ZS_EU_ROW_ABS_16, ZS_EU_ROW_ABS_32,
                                              ZS_EU_ROW_ABS_64};
    static const enum zs_eu_row neg_int[4] = {0, ZS_EU_ROW_NEG_16, ZS_EU_ROW_NEG_32,
                                              ZS_EU_ROW_NEG_64};
    static const enum zs_eu_row abs_float[4] = {0, ZS_EU_ROW_ABS_F16, ZS_EU_ROW_ABS_F32,
                                                ZS_EU_ROW_ABS_F64};
    static const enum zs_eu_row neg_float[4] = {0, ZS_EU_ROW_NEG_F16, ZS_EU_ROW_NEG_F32,
                                                ZS_EU_ROW_NEG_F64};
    static const enum zs_eu_row invert[4] = {0, ZS_EU_ROW_NOT_16, ZS_EU_ROW_NOT_32,
                                             ZS_EU_ROW_NOT_64};
    unsigned size = log2_size(type);
    bool is_float = zs_eu_type_is_float(type);

    if (size == 0 && (op->abs || op->neg)) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: modifier on a byte", l->inst->mnemonic);
        return loc;
    }
    if (mods == ZS_EU_MOD_LOGIC)
        return op->neg ? to_temp(l, invert[size], loc) : loc;
    if (op->abs && (is_float || zs_eu_type_is_signed(op->type)))
        loc = to_temp(l, (is_float ? abs_float : abs_int)[size], loc);
    if (op->neg && !(is_float && mods == ZS_EU_MOD_KEEP_NEG))
        loc = to_temp(l, (is_float ? neg_float : neg_int)[size], loc);
    return loc;
}

struct zs_eu_loc zs_eu_load(struct zs_eu_lowering *l, unsigned i, unsigned type,
                            enum zs_eu_modifiers mods)
{
    const struct zs_gen9_operand *op = &l->inst->src[i];
    unsigned raw_type;
    struct zs_eu_loc loc = load_raw(l, op, &raw_type);

    if (l->failed)
        return loc;
    if (op->file == ZS_GEN9_FILE_IMM && !zs_eu_type_is_float(raw_type) &&
        !zs_eu_type_is_float(type) && loc.scalar)
        return loc; /* sign-extended in the pool */
    if (zs_eu_type_is_float(raw_type)) {
        loc = modify(l, loc, raw_type, op, mods);
        return zs_eu_convert(l, loc, raw_type, type, false);
    }
    if ((op->abs || op->neg) && zs_eu_type_is_float(type)) {
        /* exact in q */
        loc = modify(l, zs_eu_convert(l, loc, raw_type, ZS_GEN9_Q, false), ZS_GEN9_Q, op, mods);
        return zs_eu_convert(l, loc, ZS_GEN9_Q, type, false);
    }
    loc = zs_eu_convert(l, loc, raw_type, type, false);
    return modify(l, loc, type, op, mods);
}

/* ---- destinations ---- */

struct target {
    struct place place;
    uint16_t offsets[ZS_EU_LANES_MAX];
    uint32_t stride;
    unsigned type; /* what is stored: acc takes integers as 64 bits */
    bool indirect;
};

static bool find_target(struct zs_eu_lowering *l, struct target *ret)
{
    const struct zs_gen9_operand *dst = &l->inst->dst;
    unsigned size_B = size_of(dst->type);

    memset(ret, 0, sizeof(*ret));
    ret->type = dst->type;
    ret->stride = size_B;
    for (unsigned c = 0; c < l->n; c++)
        ret->offsets[c] = (uint16_t)(c * size_B);
    if (size_B == 0)
        return zs_eu_refuse(l, ZS_EU_FAULT_ILLEGAL, "%s: destination without a type",
                            l->inst->mnemonic);
    if (is_null(dst)) {
        ret->place = (struct place){ZS_EU_OFFSET(sink), ZS_EU_TEMP_B, size_B};
        return true;
    }
    if (dst->indirect) {
        ret->indirect = true;
        ret->place = (struct place){UINT32_MAX, ZS_EU_GRF_FILE_B, size_B};
        if (dst->file != ZS_GEN9_FILE_GRF)
            return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: bad indirect destination",
                                l->inst->mnemonic);
    } else if (!place_of(l, dst, true, &ret->place)) {
        return false;
    }
    if (is_acc(dst) && !zs_eu_type_is_float(dst->type)) {
        ret->type = zs_eu_type_is_signed(dst->type) ? ZS_GEN9_Q : ZS_GEN9_UQ;
        size_B = 8;
    }
    if (!region_offsets(dst, l->n, &ret->place, size_B, true, ret->offsets))
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: destination region leaves its registers",
                            l->inst->mnemonic);
    ret->stride = l->n == 1 ? size_B : even_stride(ret->offsets, l->n);
    return true;
}

/* Packed elements of the target's type can be stored there by a row. */
static bool is_packed(const struct zs_eu_lowering *l, const struct target *target)
{
    return !target->indirect && target->stride == size_of(target->type) && !general(l);
}

/* Elements that overlap the destination go through a temporary, unless one chunk does it all. */
static struct zs_eu_loc settle(struct zs_eu_lowering *l, const struct target *target,
                               struct zs_eu_loc loc, unsigned type)
{
    uint32_t end = target->place.at + target->offsets[l->n - 1] + size_of(target->type);

    if (loc.scalar || target->indirect || (l->n <= 8 && is_packed(l, target)))
        return loc;
    if (loc.at >= end || loc.at + l->n * size_of(type) <= target->place.at)
        return loc;
    return to_temp(l, zs_eu_move_row(type), loc);
}

static void store_elements(struct zs_eu_lowering *l, const struct target *target,
                           struct zs_eu_loc loc)
{
    struct zs_eu_region region;
    struct zs_eu_op *op;

    loc = settle(l, target, loc, target->type);
    if (is_packed(l, target)) {
        zs_eu_emit_row(l, zs_eu_move_row(target->type), target->place.at, &loc, 1, true);
        return;
    }
    if (loc.scalar && l->n > 1) {
        uint32_t wide = zs_eu_temp(l);
        zs_eu_emit_row(l, zs_eu_move_row(target->type), wide, &loc, 1, false);
        loc = (struct zs_eu_loc){wide, false};
    }
    if (!target->indirect && !general(l) && target->stride != UINT32_MAX) {
        op = zs_eu_emit(l, l->handlers->scatter[log2_size(target->type)]);
        op->dst = target->place.at;
        op->src[1] = target->stride;
    } else {
        memset(&region, 0, sizeof(region));
        memcpy(region.offset_B, target->offsets, sizeof(region.offset_B));
        region.indirect_B = l->inst->dst.indirect_B;
        memset(region.a0_step, l->inst->dst.a0_subreg, sizeof(region.a0_step));
        uint32_t index = add_region(l, &region);
        op = zs_eu_emit(l, zs_eu_op_scatter_region);
        op->dst = target->place.at;
        op->aux = index;
        op->arg = (uint8_t)log2_size(target->type);
    }
    op->src[0] = loc.at;
    zs_eu_mask(l, op);
}

void zs_eu_flag_target(const struct zs_eu_lowering *l, struct zs_eu_op *op)
{
    const struct zs_gen9_inst *inst = l->inst;

    op->flag = (uint16_t)(ZS_EU_OFFSET(flag) + inst->flag_reg * 4u);
    op->flag_shift = (uint8_t)((inst->flag_subreg * 16u + inst->chan_offset) & 31);
}

/* The conditional modifier compares the result, before it is clamped and converted, with 0. */
static void set_flags(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type)
{
    static const unsigned wide[] = {
        [ZS_GEN9_B] = ZS_GEN9_D,   [ZS_GEN9_W] = ZS_GEN9_D,   [ZS_GEN9_UB] = ZS_GEN9_D,
        [ZS_GEN9_UW] = ZS_GEN9_D,  [ZS_GEN9_HF] = ZS_GEN9_F,  [ZS_GEN9_D] = ZS_GEN9_D,
        [ZS_GEN9_UD] = ZS_GEN9_UD, [ZS_GEN9_Q] = ZS_GEN9_Q,   [ZS_GEN9_UQ] = ZS_GEN9_UQ,
        [ZS_GEN9_F] = ZS_GEN9_F,   [ZS_GEN9_DF] = ZS_GEN9_DF,
    };
    uint64_t zero = 0;
    enum zs_eu_row row = zs_eu_cmp_row(l->inst->cond, wide[type]);

    if (row == ZS_EU_ROW_NONE) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED,
                     "%s: conditional modifier %u on type %s is not modelled", l->inst->mnemonic,
                     l->inst->cond, zs_gen9_type_name((enum zs_gen9_type)type));
        return;
    }
    struct zs_eu_loc src[2] = {zs_eu_convert(l, result, type, wide[type], false),
                               {zs_eu_constant(l, &zero, 8), true}};
    zs_eu_flag_target(l, zs_eu_emit_row(l, row, ZS_EU_OFFSET(sink), src, 2, true));
}

/* AccWrEn: the result as it is before saturation. */
static void store_accumulator(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type)
{
    unsigned to = zs_eu_type_is_float(type)    ? type
                  : zs_eu_type_is_signed(type) ? ZS_GEN9_Q
                                               : ZS_GEN9_UQ;
    struct target target = {.place = {ZS_EU_OFFSET(acc), 256, 8}, .stride = 8, .type = to};

    if (l->n > 16 || type == ZS_GEN9_HF) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: AccWrEn of this shape is not modelled",
                     l->inst->mnemonic);
        return;
    }
    for (unsigned c = 0; c < l->n; c++)
        target.offsets[c] = (uint16_t)(c * 8);
    store_elements(l, &target, zs_eu_convert(l, result, type, to, false));
}

void zs_eu_after_store(struct zs_eu_lowering *l)
{
    const struct zs_gen9_operand *dst = &l->inst->dst;

    if (dst->file == ZS_GEN9_FILE_ARF && !dst->indirect && (dst->reg & 0xf0) == ZS_GEN9_ARF_CR)
        zs_eu_emit(l, zs_eu_op_control_register);
}

/* Out of the registers' way. */
static struct zs_eu_loc keep(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned type)
{
    if (loc.at >= ZS_EU_OFFSET(temp))
        return loc;
    return to_temp(l, zs_eu_move_row(type), loc);
}

void zs_eu_store(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type)
{
    const struct zs_gen9_inst *inst = l->inst;
    struct zs_eu_loc value = result;
    unsigned from = type;
    struct target target;
    struct plan plan = {.count = 0};

    if (l->failed || !find_target(l, &target))
        return;
    if (inst->acc_write || inst->cond) /* the result is looked at after dst was written */
        value = result = keep(l, result, type);
    if (inst->saturate && zs_eu_type_is_float(target.type)) {
        unsigned at = from == ZS_GEN9_DF ? ZS_GEN9_DF : ZS_GEN9_F;
        value = zs_eu_convert(l, value, from, at, false);
        value = to_temp(l, at == ZS_GEN9_DF ? ZS_EU_ROW_SAT_F64 : ZS_EU_ROW_SAT_F32, value);
        from = at;
    }
    plan_convert(&plan, from, target.type, inst->saturate);
    bool direct = plan.count > 0 && is_packed(l, &target);
    for (unsigned i = 0; i + (direct ? 1 : 0) < plan.count; i++)
        value = to_temp(l, plan.rows[i], value);
    if (direct && plan.count == 1)
        value = settle(l, &target, value, from);
    if (direct)
        zs_eu_emit_row(l, plan.rows[plan.count - 1], target.place.at, &value, 1, true);
    else
        store_elements(l, &target, value);
    if (inst->acc_write)
        store_accumulator(l, result, type);
    if (inst->cond)
        set_flags(l, result, type);
    zs_eu_after_store(l);
}

/* A later chunk would read what an earlier one has written. */
static bool chunks_collide(const struct zs_eu_lowering *l, uint32_t dst, unsigned dst_B,
                           uint32_t src, unsigned src_B)
{
    uint32_t dst_end = dst + l->n * dst_B, src_end = src + l->n * src_B;

    if (l->n <= 8 || dst_end <= src || src_end <= dst)
        return false;
    return !(dst <= src && dst_B <= src_B);
}

/* A strided move: let the gather that filled the temporary write the destination instead. */
static bool gather_in_place(struct zs_eu_lowering *l, const struct target *target,
                            struct zs_eu_loc src)
{
    struct zs_eu_program *p = l->program;
    struct zs_eu_op *last = p->op_count ? &p->ops[p->op_count - 1] : NULL;
    uint32_t dst = target->place.at, dst_end = dst + l->n * size_of(target->type);

    if (!last || last->inst != l->index || last->dst != src.at ||
        last->fn != l->handlers->gather[log2_size(target->type)])
        return false;
    if (l->n > 8 && last->src[0] < dst_end && dst < last->src[0] + l->n * last->src[1])
        return false;
    last->dst = dst;
    zs_eu_mask(l, last);
    return true;
}

void zs_eu_compute(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                   const struct zs_eu_loc *src, unsigned count)
{
    const struct zs_gen9_inst *inst = l->inst;
    struct plan plan = {.count = 0};
    struct target target;

    if (l->failed || !find_target(l, &target))
        return;
    plan_convert(&plan, type, target.type, inst->saturate);
    bool direct = plan.count == 0 && is_packed(l, &target) && !inst->acc_write && !inst->cond &&
                  !(inst->saturate && zs_eu_type_is_float(type));
    for (unsigned i = 0; i < count && direct; i++)
        direct = src[i].scalar || !chunks_collide(l, target.place.at, size_of(target.type),
                                                  src[i].at, row_infos[row].src_B[i]);
    if (direct) {
        if (row != zs_eu_move_row(target.type) || !gather_in_place(l, &target, src[0]))
            zs_eu_emit_row(l, row, target.place.at, src, count, true);
        zs_eu_after_store(l);
        return;
    }
    if (row == zs_eu_move_row(type)) { /* nothing to compute */
        zs_eu_store(l, src[0], type);
        return;
    }
    uint32_t at = zs_eu_temp(l);
    zs_eu_emit_row(l, row, at, src, count, false);
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1}, type);
}
