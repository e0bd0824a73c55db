/* SPDX-License-Identifier: MIT */
/* Results: computed, clamped, converted, stored where the destination says. */
#include "eu/lower/lower_operand.h"

#include <string.h>

/* ---- destinations ---- */

struct target {
    struct zs_eu_place place;
    uint16_t offsets[ZS_EU_LANES_MAX];
    uint32_t stride;
    unsigned type; /* what is stored: acc takes integers as 64 bits */
    bool indirect;
    bool halves; /* 64-bit elements of accumulators */
};

static bool find_target(struct zs_eu_lowering *l, struct target *ret)
{
    const struct zs_isa_operand *dst = &l->inst->dst;
    unsigned size_B = zs_eu_type_B(dst->type);

    memset(ret, 0, sizeof(*ret));
    ret->type = dst->type;
    ret->stride = size_B;
    for (unsigned c = 0; c < l->n; c++)
        ret->offsets[c] = (uint16_t)(c * size_B);
    if (size_B == 0)
        return zs_eu_refuse(l, ZS_EU_FAULT_ILLEGAL, "%s: destination without a type", l->name);
    if (dst->type == ZS_TYPE_BF8 && l->inst->op != ZS_OP_MOV)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: bf8 results are not modelled", l->name);
    if (dst->file == ZS_FILE_NULL) {
        ret->place = (struct zs_eu_place){ZS_EU_OFFSET(sink), ZS_EU_TEMP_B, size_B};
        return true;
    }
    if (dst->kind == ZS_OPERAND_INDIRECT) {
        ret->indirect = true;
        ret->place = (struct zs_eu_place){UINT32_MAX, zs_eu_file_B(l->program), size_B};
        if (dst->file != ZS_FILE_GRF)
            return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: bad indirect destination", l->name);
    } else if (!zs_eu_place_of(l, dst, true, &ret->place)) {
        return false;
    }
    if (dst->file == ZS_FILE_ACC && !zs_eu_type_is_float(dst->type)) {
        ret->type = zs_eu_type_is_signed(dst->type) ? ZS_TYPE_Q : ZS_TYPE_UQ;
        size_B = 8;
    }
    ret->halves = dst->file == ZS_FILE_ACC && size_B == 8;
    if (ret->halves)
        size_B = 4;
    if (!zs_eu_region_offsets(dst, l->n, &ret->place, size_B, true, ret->offsets))
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: destination region leaves its registers",
                            l->name);
    ret->stride = l->n == 1 ? size_B : zs_eu_even_stride(ret->offsets, l->n);
    return true;
}

/* Packed elements of the target's type can be stored there by a row. */
static bool is_packed(const struct zs_eu_lowering *l, const struct target *target)
{
    return !target->indirect && !target->halves && target->stride == zs_eu_type_B(target->type) &&
           !zs_eu_is_general(l);
}

/* Elements that overlap the destination go through a temporary, unless one chunk does it all. */
static struct zs_eu_loc settle(struct zs_eu_lowering *l, const struct target *target,
                               struct zs_eu_loc loc, unsigned type)
{
    uint32_t end = target->place.at + target->offsets[l->n - 1] + zs_eu_type_B(target->type);

    if (loc.scalar || target->indirect || (l->n <= 8 && is_packed(l, target)))
        return loc;
    if (loc.at >= end || loc.at + l->n * zs_eu_type_B(type) <= target->place.at)
        return loc;
    return zs_eu_to_temp(l, zs_eu_move_row(type), loc);
}

static void store_elements(struct zs_eu_lowering *l, const struct target *target,
                           struct zs_eu_loc loc);

/* What two rows make of the sources: the low and the high halves of 64-bit elements. */
static void store_halves(struct zs_eu_lowering *l, const struct target *target,
                         const enum zs_eu_row rows[2], const struct zs_eu_loc *src, unsigned count)
{
    struct target half = *target;

    half.halves = false;
    half.type = ZS_TYPE_UD;
    for (unsigned i = 0; i < 2; i++, half.place.at += ZS_EU_ACC_HIGH) {
        if (is_packed(l, &half))
            zs_eu_emit_row(l, rows[i], half.place.at, src, count, true);
        else
            store_elements(l, &half, zs_eu_apply(l, rows[i], src, count));
    }
}

static void store_elements(struct zs_eu_lowering *l, const struct target *target,
                           struct zs_eu_loc loc)
{
    static const enum zs_eu_row halves[2] = {ZS_EU_ROW_I64_32, ZS_EU_ROW_HIGH_32};
    struct zs_eu_region region;
    struct zs_eu_op *op;

    if (target->halves) {
        store_halves(l, target, halves, &loc, 1);
        return;
    }
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
    if (!target->indirect && !zs_eu_is_general(l) && target->stride != UINT32_MAX) {
        op = zs_eu_emit(l, ZS_EU_KIND_SCATTER);
        op->cls = (uint8_t)zs_eu_type_log2(target->type);
        op->dst = target->place.at;
        op->src[1] = target->stride;
    } else {
        memset(&region, 0, sizeof(region));
        memcpy(region.offset_B, target->offsets, sizeof(region.offset_B));
        region.indirect_B = l->inst->dst.offset_B;
        memset(region.a0_step, l->inst->dst.subreg, sizeof(region.a0_step));
        uint32_t index = zs_eu_add_region(l, &region);
        op = zs_eu_emit(l, ZS_EU_KIND_SCATTER_REGION);
        op->dst = target->place.at;
        op->aux = index;
        op->arg = (uint8_t)zs_eu_type_log2(target->type);
    }
    op->src[0] = loc.at;
    zs_eu_mask(l, op);
}

void zs_eu_flag_target(const struct zs_eu_lowering *l, struct zs_eu_op *op)
{
    const struct zs_isa_inst *inst = l->inst;

    op->flag = (uint16_t)(ZS_EU_OFFSET(flag) + inst->flag_reg * 4u);
    op->flag_shift = (uint8_t)((inst->flag_subreg * 16u + inst->channel_offset) & 31);
}

void zs_eu_copy_flag(struct zs_eu_lowering *l, uint32_t bits)
{
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_FLAG_COPY);

    op->src[0] = bits;
    zs_eu_mask(l, op);
    zs_eu_flag_target(l, op);
}

/*
 * The conditional modifier compares the result as it is stored, clamped and converted, with 0. The
 * PRM says so of zeros ("post_zero"); that signs are those of the stored result, too, is what Mesa
 * found on hardware (brw_opt_cmod_propagation.cpp) and what IGC counts on when it folds a
 * comparison of a wrapped sum or a truncated product into the instruction that made it.
 */
static void set_flags(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type)
{
    static const unsigned wide[] = {
        [ZS_TYPE_B] = ZS_TYPE_D,    [ZS_TYPE_W] = ZS_TYPE_D,   [ZS_TYPE_UB] = ZS_TYPE_D,
        [ZS_TYPE_UW] = ZS_TYPE_D,   [ZS_TYPE_HF] = ZS_TYPE_F,  [ZS_TYPE_D] = ZS_TYPE_D,
        [ZS_TYPE_UD] = ZS_TYPE_UD,  [ZS_TYPE_Q] = ZS_TYPE_Q,   [ZS_TYPE_UQ] = ZS_TYPE_UQ,
        [ZS_TYPE_F] = ZS_TYPE_F,    [ZS_TYPE_DF] = ZS_TYPE_DF, [ZS_TYPE_BF] = ZS_TYPE_F,
        [ZS_TYPE_TF32] = ZS_TYPE_F,
    };
    enum zs_eu_row row = zs_eu_cmp_row(l->inst->cond, wide[type]);

    if (row == ZS_EU_ROW_NONE) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED,
                     "%s: conditional modifier %u on type %s is not modelled", l->name,
                     l->inst->cond, zs_isa_type_name((enum zs_isa_type)type));
        return;
    }
    struct zs_eu_loc src[2] = {zs_eu_convert(l, result, type, wide[type], false),
                               zs_eu_number(l, 0)};
    zs_eu_flag_target(l, zs_eu_emit_row(l, row, ZS_EU_OFFSET(sink), src, 2, true));
}

/* AccWrEn: the result as it is before saturation. */
static void store_accumulator(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type)
{
    unsigned to = zs_eu_type_is_float(type)    ? type
                  : zs_eu_type_is_signed(type) ? ZS_TYPE_Q
                                               : ZS_TYPE_UQ;
    struct target target = {.place = {ZS_EU_OFFSET(acc), 128, 4},
                            .stride = 4,
                            .type = to,
                            .halves = zs_eu_type_B(to) == 8};

    if (l->n > 16 || type == ZS_TYPE_HF || type == ZS_TYPE_BF) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: AccWrEn of this shape is not modelled",
                     l->name);
        return;
    }
    for (unsigned c = 0; c < l->n; c++)
        target.offsets[c] = (uint16_t)(c * 4);
    store_elements(l, &target, zs_eu_convert(l, result, type, to, false));
}

void zs_eu_after_store(struct zs_eu_lowering *l)
{
    const struct zs_isa_operand *dst = &l->inst->dst;

    if (dst->file == ZS_FILE_CR)
        zs_eu_emit(l, ZS_EU_KIND_CONTROL_REGISTER);
    if (dst->file == ZS_FILE_SR)
        zs_eu_emit(l, ZS_EU_KIND_STATE_REGISTER);
}

/* Out of the registers' way. */
static struct zs_eu_loc keep(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned type)
{
    if (loc.at >= ZS_EU_OFFSET(temp))
        return loc;
    return zs_eu_to_temp(l, zs_eu_move_row(type), loc);
}

void zs_eu_store(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_loc value = result;
    unsigned from = type;
    struct target target;
    struct zs_eu_plan plan = {.count = 0};

    if (l->failed || !find_target(l, &target))
        return;
    if ((inst->flags & ZS_INST_ACCWREN)) /* the result is looked at after dst was written */
        value = result = keep(l, result, type);
    if ((inst->dst.modifiers & ZS_MOD_SAT) && zs_eu_type_is_float(target.type)) {
        unsigned at = from == ZS_TYPE_DF ? ZS_TYPE_DF : ZS_TYPE_F;
        value = zs_eu_convert(l, value, from, at, false);
        value = zs_eu_to_temp(l, at == ZS_TYPE_DF ? ZS_EU_ROW_SAT_F64 : ZS_EU_ROW_SAT_F32, value);
        from = at;
    }
    zs_eu_plan_convert(&plan, from, target.type, (inst->dst.modifiers & ZS_MOD_SAT));
    bool direct = plan.count > 0 && is_packed(l, &target) && !inst->cond;
    for (unsigned i = 0; i + (direct ? 1 : 0) < plan.count; i++)
        value = zs_eu_to_temp(l, plan.rows[i], value);
    if (direct && plan.count == 1)
        value = settle(l, &target, value, from);
    if (inst->cond)
        value = keep(l, value, target.type);
    if (direct)
        zs_eu_emit_row(l, plan.rows[plan.count - 1], target.place.at, &value, 1, true);
    else
        store_elements(l, &target, value);
    if ((inst->flags & ZS_INST_ACCWREN))
        store_accumulator(l, result, type);
    if (inst->cond)
        set_flags(l, value, target.type);
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

void zs_eu_compute_product(struct zs_eu_lowering *l, unsigned type, struct zs_eu_loc src[2])
{
    const enum zs_eu_row rows[2] = {ZS_EU_ROW_MUL_32,
                                    type == ZS_TYPE_UD ? ZS_EU_ROW_MULH_U32 : ZS_EU_ROW_MULH_S32};
    struct target target;

    if (l->failed || !find_target(l, &target))
        return;
    for (unsigned i = 0; i < 2; i++) /* read again after the first half was written */
        if (src[i].at >= ZS_EU_OFFSET(acc) && src[i].at < ZS_EU_OFFSET(grf))
            src[i] = zs_eu_to_temp(l, ZS_EU_ROW_MOV_32, src[i]);
    store_halves(l, &target, rows, src, 2);
    zs_eu_after_store(l);
}

bool zs_eu_compute_direct(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                          const struct zs_eu_loc *src, unsigned count)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_plan plan = {.count = 0};
    struct target target;

    if (l->failed || !find_target(l, &target))
        return false;
    zs_eu_plan_convert(&plan, type, target.type, (inst->dst.modifiers & ZS_MOD_SAT));
    bool direct = plan.count == 0 && is_packed(l, &target) && !(inst->flags & ZS_INST_ACCWREN) &&
                  !((inst->dst.modifiers & ZS_MOD_SAT) && zs_eu_type_is_float(type));
    for (unsigned i = 0; i < count && direct; i++)
        direct = src[i].scalar || !chunks_collide(l, target.place.at, zs_eu_type_B(target.type),
                                                  src[i].at, zs_eu_row_infos[row].src_B[i]);
    if (!direct)
        return false;
    zs_eu_emit_row(l, row, target.place.at, src, count, true);
    if (inst->cond)
        set_flags(l, (struct zs_eu_loc){target.place.at, l->n == 1}, target.type);
    zs_eu_after_store(l);
    return true;
}

void zs_eu_compute(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                   const struct zs_eu_loc *src, unsigned count)
{
    if (zs_eu_compute_direct(l, row, type, src, count) || l->failed)
        return;
    if (row == zs_eu_move_row(type)) { /* nothing to compute */
        zs_eu_store(l, src[0], type);
        return;
    }
    zs_eu_store(l, zs_eu_apply(l, row, src, count), type);
}
