/* SPDX-License-Identifier: MIT */
/* Sources: from wherever they are to packed elements of the execution type. */
#include "eu/control.h"
#include "eu/lower/lower_operand.h"

#include <string.h>

/* ---- sources ---- */

/* Packed immediates as a vector, others as 8 bytes that serve every narrower type. */
static struct zs_eu_loc load_immediate(struct zs_eu_lowering *l, const struct zs_isa_operand *op,
                                       unsigned *ret_type)
{
    uint8_t vector[ZS_EU_LANES_MAX * 4];
    uint64_t value = op->imm;

    *ret_type = op->type;
    if (op->type == ZS_TYPE_V || op->type == ZS_TYPE_UV) {
        /* The immediate is a row of words: a destination of dwords takes every second one. Source:
         * IGC's HWConformity::fixDstAlignmentWithVectorImm, which packs it so (below 8 lanes). */
        const struct zs_isa_operand *dst = &l->inst->dst;
        bool dwords = l->n < 8 && dst->hstride * zs_eu_type_B(dst->type) == 4;
        for (unsigned c = 0; c < l->n; c++) {
            int nibble = (int)(op->imm >> (dwords ? 2 * c : c) % 8 * 4 & 15);
            int16_t lane = (int16_t)(op->type == ZS_TYPE_V && nibble > 7 ? nibble - 16 : nibble);
            memcpy(vector + c * 2, &lane, 2);
        }
        *ret_type = op->type == ZS_TYPE_V ? ZS_TYPE_W : ZS_TYPE_UW;
        if (l->n > 1)
            return (struct zs_eu_loc){zs_eu_constant(l, vector, l->n * 2), false};
        value &= 15;
        if (op->type == ZS_TYPE_V && value > 7)
            value -= 16;
        return zs_eu_number(l, value);
    }
    if (op->type == ZS_TYPE_VF) {
        for (unsigned c = 0; c < l->n; c++) {
            uint32_t byte = (uint32_t)(op->imm >> c % 4 * 8 & 0xff);
            uint32_t lane = (byte & 0x80) << 24;
            if (byte & 0x7f)
                lane |= ((byte >> 4 & 7) + 124) << 23 | (byte & 15) << 19;
            memcpy(vector + c * 4, &lane, 4);
        }
        *ret_type = ZS_TYPE_F;
        return (struct zs_eu_loc){zs_eu_constant(l, vector, l->n * 4), l->n == 1};
    }
    if (op->type == ZS_TYPE_W)
        value = (uint64_t)(int64_t)(int16_t)value;
    if (op->type == ZS_TYPE_D)
        value = (uint64_t)(int64_t)(int32_t)value;
    return zs_eu_number(l, value);
}

static struct zs_eu_loc gather_region(struct zs_eu_lowering *l, const struct zs_eu_region *region,
                                      uint32_t base, unsigned type)
{
    uint32_t at = zs_eu_temp(l);
    uint32_t index = zs_eu_add_region(l, region);
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_GATHER_REGION);

    op->dst = at;
    op->src[0] = base;
    op->aux = index;
    op->arg = (uint8_t)zs_eu_type_log2(type);
    op->lanes = l->n == 32 ? UINT32_MAX : (1u << l->n) - 1;
    return (struct zs_eu_loc){at, l->n == 1};
}

static struct zs_eu_loc load_indirect(struct zs_eu_lowering *l, const struct zs_isa_operand *op)
{
    struct zs_eu_region region;
    struct zs_eu_place place = {0, zs_eu_file_B(l->program), zs_eu_type_B(op->type)};
    bool per_row = op->vstride == ZS_REGION_VXH;

    memset(&region, 0, sizeof(region));
    region.indirect_B = op->offset_B;
    if (op->file != ZS_FILE_GRF ||
        !zs_eu_region_offsets(op, l->n, &place, zs_eu_type_B(op->type), false, region.offset_B)) {
        zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: bad indirect source", l->name);
        return (struct zs_eu_loc){0};
    }
    for (unsigned c = 0; c < l->n; c++) {
        unsigned a0 = op->subreg + (per_row ? c / op->width : 0);
        if (a0 >= l->program->regs.a0_count)
            zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: address register a0.%u does not exist",
                         l->name, a0);
        region.a0_step[c] = (uint8_t)(a0 % ZS_EU_A0_MAX);
    }
    zs_eu_mark_read(l, 0, zs_eu_file_B(l->program));
    return gather_region(l, &region, UINT32_MAX, op->type);
}

/* The next instruction comes back to this one for as long as it finds nothing: code for a debugger
 * (IGC 2) asks n0 so before it goes on to sync.bar. Nothing but a barrier changes what it reads. */
static bool is_asked_again(const struct zs_eu_lowering *l)
{
    struct zs_isa_inst next;

    return zs_eu_decode(l, l->inst->offset_B + l->inst->size_B, &next) && next.op == ZS_OP_WHILE &&
           zs_eu_label(l->program, &next, 0) == (int64_t)l->inst->offset_B;
}

static void before_read(struct zs_eu_lowering *l, const struct zs_isa_operand *op)
{
    const struct zs_eu_program *p = l->program;

    if (op->file == ZS_FILE_N && op->reg == 0 && op->subreg_B / 4 < 3 && is_asked_again(l))
        zs_eu_emit(l, ZS_EU_KIND_WAIT)->arg = (uint8_t)(op->subreg_B / 4 | ZS_EU_WAIT_LEAVES);

    if (op->file == ZS_FILE_IP)
        zs_eu_emit(l, ZS_EU_KIND_READ_IP)->aux = zs_eu_program_ip(p, l->inst->offset_B);
    if (op->file == ZS_FILE_TM)
        zs_eu_emit(l, ZS_EU_KIND_READ_TM)->aux = l->block_end - l->index;
}

/* The accumulators have more bits than a d: its modifiers see them. */
static bool is_wide_acc(const struct zs_isa_operand *op)
{
    return op->file == ZS_FILE_ACC && op->type == ZS_TYPE_D &&
           ((op->modifiers & ZS_MOD_ABS) || (op->modifiers & ZS_MOD_NEG));
}

/* Elements at these offsets from `at`. */
static struct zs_eu_loc load_region(struct zs_eu_lowering *l, const struct zs_eu_region *region,
                                    uint32_t from, unsigned type)
{
    uint32_t stride = zs_eu_even_stride(region->offset_B, l->n), size_B = zs_eu_type_B(type);

    if (zs_eu_is_general(l))
        return gather_region(l, region, from, type);
    if (stride == 0)
        return (struct zs_eu_loc){from, true};
    if (stride == size_B)
        return (struct zs_eu_loc){from, false};
    if (stride == UINT32_MAX || l->n < 8)
        return gather_region(l, region, from, type);
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *gather = zs_eu_emit(l, ZS_EU_KIND_GATHER);
    gather->cls = (uint8_t)zs_eu_type_log2(type);
    gather->dst = at;
    gather->src[0] = from;
    gather->src[1] = stride;
    return (struct zs_eu_loc){at, false};
}

/* 64-bit elements of accumulators. */
static struct zs_eu_loc join_halves(struct zs_eu_lowering *l, const struct zs_eu_region *region,
                                    uint32_t from)
{
    const struct zs_eu_loc halves[2] = {
        load_region(l, region, from, ZS_TYPE_UD),
        load_region(l, region, from + ZS_EU_ACC_HIGH, ZS_TYPE_UD),
    };

    return zs_eu_apply(l, ZS_EU_ROW_JOIN_64, halves, 2);
}

static struct zs_eu_loc load_direct(struct zs_eu_lowering *l, const struct zs_isa_operand *op,
                                    unsigned type)
{
    struct zs_eu_region region;
    struct zs_eu_place place;
    unsigned size_B = zs_eu_type_B(type);

    memset(&region, 0, sizeof(region));
    if (!zs_eu_place_of(l, op, false, &place))
        return (struct zs_eu_loc){0};
    before_read(l, op);
    bool halves = op->file == ZS_FILE_ACC && size_B == 8;
    if (!zs_eu_region_offsets(op, l->n, &place, halves ? 4 : size_B, false, region.offset_B)) {
        zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: source region leaves its registers", l->name);
        return (struct zs_eu_loc){0};
    }
    for (unsigned c = 0; c < l->n && op->file == ZS_FILE_GRF; c++)
        zs_eu_mark_read(l, place.at - ZS_EU_OFFSET(grf) + region.offset_B[c], size_B);
    return halves ? join_halves(l, &region, place.at) : load_region(l, &region, place.at, type);
}

static struct zs_eu_loc load_raw(struct zs_eu_lowering *l, const struct zs_isa_operand *op,
                                 unsigned *ret_type)
{
    *ret_type = is_wide_acc(op) ? ZS_TYPE_Q : op->type;
    if (op->kind == ZS_OPERAND_IMM)
        return load_immediate(l, op, ret_type);
    if (zs_eu_type_B(op->type) == 0) {
        zs_eu_refuse(l, ZS_EU_FAULT_ILLEGAL, "%s: operand without a type", l->name);
        return (struct zs_eu_loc){0};
    }
    if (op->type == ZS_TYPE_BF8 && l->inst->op != ZS_OP_MOV) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: bf8 operands are not modelled", l->name);
        return (struct zs_eu_loc){0};
    }
    if (op->file == ZS_FILE_NULL) {
        return zs_eu_number(l, 0);
    }
    return op->kind == ZS_OPERAND_INDIRECT ? load_indirect(l, op) : load_direct(l, op, *ret_type);
}

/* Rows for abs, neg and not by type size; floats first. */
static struct zs_eu_loc modify(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned type,
                               const struct zs_isa_operand *op, enum zs_eu_modifiers mods)
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
    unsigned size = zs_eu_type_log2(type);
    bool is_float = zs_eu_type_is_float(type);

    if (size == 0 && ((op->modifiers & ZS_MOD_ABS) || (op->modifiers & ZS_MOD_NEG))) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: modifier on a byte", l->name);
        return loc;
    }
    if (mods == ZS_EU_MOD_LOGIC)
        return (op->modifiers & ZS_MOD_NEG) ? zs_eu_to_temp(l, invert[size], loc) : loc;
    if ((op->modifiers & ZS_MOD_ABS) && (is_float || zs_eu_type_is_signed(op->type)))
        loc = zs_eu_to_temp(l, (is_float ? abs_float : abs_int)[size], loc);
    if ((op->modifiers & ZS_MOD_NEG) && !(is_float && mods == ZS_EU_MOD_KEEP_NEG))
        loc = zs_eu_to_temp(l, (is_float ? neg_float : neg_int)[size], loc);
    return loc;
}

unsigned zs_eu_modifier_type(const struct zs_isa_operand *op)
{
    if (zs_eu_type_B(op->type) == 8 ||
        ((op->modifiers & ZS_MOD_ABS) && zs_eu_type_is_signed(op->type) && !is_wide_acc(op)))
        return op->type;
    return op->type == ZS_TYPE_UD || is_wide_acc(op) ? ZS_TYPE_Q : ZS_TYPE_D;
}

struct zs_eu_loc zs_eu_load(struct zs_eu_lowering *l, unsigned i, unsigned type,
                            enum zs_eu_modifiers mods)
{
    const struct zs_isa_operand *op = &l->inst->src[i];
    unsigned raw_type;
    struct zs_eu_loc loc;

    loc = load_raw(l, op, &raw_type);

    if (l->failed)
        return loc;
    if (op->kind == ZS_OPERAND_IMM && !zs_eu_type_is_float(raw_type) &&
        !zs_eu_type_is_float(type) && loc.scalar)
        return loc; /* sign-extended in the pool */
    if (zs_eu_type_is_float(raw_type)) {
        loc = modify(l, loc, raw_type, op, mods);
        return zs_eu_convert(l, loc, raw_type, type, false);
    }
    unsigned own = zs_eu_modifier_type(op);
    if (((op->modifiers & ZS_MOD_ABS) || (op->modifiers & ZS_MOD_NEG)) && mods != ZS_EU_MOD_LOGIC &&
        (zs_eu_type_is_float(type) || zs_eu_type_B(type) > zs_eu_type_B(own))) {
        unsigned at = own == ZS_TYPE_B ? ZS_TYPE_W : own;
        loc = modify(l, zs_eu_convert(l, loc, raw_type, at, false), at, op, mods);
        return zs_eu_convert(l, zs_eu_convert(l, loc, at, own, false), own, type, false);
    }
    loc = zs_eu_convert(l, loc, raw_type, type, false);
    return modify(l, loc, type, op, mods);
}
