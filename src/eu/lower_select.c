/* SPDX-License-Identifier: MIT */
/*
 * The last step of lowering: the operations in two versions, for all lanes on and for any mask,
 * with the handler of each.
 *
 * In the first version the channel enables are a constant, so an operation without a predicate that
 * writes whole chunks needs no look at the mask. The same holds in both versions for NoMask.
 */
#include "eu/control.h"
#include "eu/lower.h"
#include "eu/lower_operand.h"
#include "eu/send_lower.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    zs_eu_op_fn *fn;
    bool jumps; /* op->block is to become op->jump */
} kinds[ZS_EU_KIND_COUNT] = {
#define ZS_EU_KIND(id, handler) [ZS_EU_KIND_##id].fn = zs_eu_op_##handler,
#include "eu/kind.def"
    [ZS_EU_KIND_BRANCH].jumps = true,
    [ZS_EU_KIND_GOTO].jumps = true,
    [ZS_EU_KIND_JUMP_UNIFORM].jumps = true,
};

/* Channels of an operation, when its mask follows from the version: `ce` are the lanes that are on
 * in it, 0 if any may be. */
static bool known_mask(const struct zs_eu_op *op, uint32_t ce, bool predicate, uint32_t *ret)
{
    bool no_mask = op->enables == ZS_EU_OFFSET(all_ones);

    if (predicate && (op->predicate != ZS_EU_OFFSET(all_ones) || op->pred_xor))
        return false;
    *ret = (no_mask ? UINT32_MAX : ce) >> op->chan_offset & op->lanes;
    return no_mask || ce;
}

static enum zs_eu_shape shape_of(const struct zs_eu_op *op, uint32_t ce)
{
    enum zs_eu_form form = zs_eu_row_infos[op->kind].form;
    bool by_predicate = form != ZS_EU_FORM_SEL; /* which chooses by it */
    uint32_t mask;

    if (form == ZS_EU_FORM_CMP && op->arg && op->cls != ZS_EU_CLASS_N1)
        return ZS_EU_SHAPE_ANY;
    if (!known_mask(op, ce, by_predicate, &mask))
        return ZS_EU_SHAPE_ANY;
    bool whole = op->cls == ZS_EU_CLASS_N1 ? mask & 1 : mask == op->full;
    return whole ? ZS_EU_SHAPE_FULL : ZS_EU_SHAPE_ANY;
}

static zs_eu_op_fn *of_row(const struct zs_eu_lowering *l, const struct zs_eu_op *op, uint32_t ce)
{
    zs_eu_op_fn *const(*row)[ZS_EU_CLASS_COUNT] = l->handlers->row[op->kind];
    enum zs_eu_shape shape = zs_eu_is_general(l) ? ZS_EU_SHAPE_ANY : shape_of(op, ce);
    zs_eu_op_fn *fn = row[shape][op->cls];

    return fn ? fn : row[ZS_EU_SHAPE_ANY][op->cls];
}

static zs_eu_op_fn *of_stride(const struct zs_eu_lowering *l, const struct zs_eu_op *op,
                              uint32_t ce)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER;
    zs_eu_op_fn *pairs =
        (gathers ? l->handlers->gather_pairs : l->handlers->scatter_pairs)[op->cls];
    uint32_t mask;

    if (pairs && op->src[1] == 2u << op->cls && known_mask(op, ce, true, &mask) && mask == op->full)
        return pairs;
    return (gathers ? l->handlers->gather : l->handlers->scatter)[op->cls];
}

static zs_eu_op_fn *of_block(const struct zs_eu_lowering *l, uint32_t ce)
{
    bool counts = l->params->flags & ZS_EU_LOWER_COUNTS;

    if (l->params->flags & ZS_EU_LOWER_HOOK_BLOCKS)
        return zs_eu_op_block_hooked;
    if (ce)
        return counts ? zs_eu_op_block_full_counting : zs_eu_op_block_full;
    return counts ? zs_eu_op_block_counting : zs_eu_op_block;
}

static zs_eu_op_fn *of_send(const struct zs_eu_lowering *l, const struct zs_eu_op *op, uint32_t ce)
{
    const struct zs_eu_program_send *send = op->send;
    bool dynamic = send->desc_is_reg || send->ex_desc_is_reg;
    uint32_t mask;

    if (l->params->flags & ZS_EU_LOWER_HOOK_MESSAGES)
        return zs_eu_op_send_hooked;
    bool full = known_mask(op, ce, true, &mask) && mask == op->lanes && mask;
    if (!dynamic && op->arg && !send->send.exec)
        return zs_eu_op_send_end;
    if (!dynamic && !op->arg && send->send.exec && full)
        return zs_eu_send_is_direct(&send->send) ? zs_eu_op_send_direct : zs_eu_op_send_full;
    return zs_eu_op_send;
}

static zs_eu_op_fn *of_jump(const struct zs_eu_op *op)
{
    if (op->enables != ZS_EU_OFFSET(all_ones) || op->chan_offset || !(op->lanes & 1))
        return zs_eu_op_jump_uniform;
    return op->predicate != ZS_EU_OFFSET(all_ones) ? zs_eu_op_jump_flag
           : op->pred_xor                          ? zs_eu_op_jump_uniform
                                                   : zs_eu_op_jump_always;
}

static zs_eu_op_fn *of_lane_count(struct zs_eu_op *op, uint32_t ce)
{
    uint32_t mask;

    if (!known_mask(op, ce, true, &mask))
        return zs_eu_op_lane_count;
    op->dst = (uint32_t)__builtin_popcount(mask);
    return zs_eu_op_lane_count_known;
}

static zs_eu_op_fn *handler_of(const struct zs_eu_lowering *l, struct zs_eu_op *op, uint32_t ce)
{
    if (op->kind < ZS_EU_ROW_COUNT)
        return of_row(l, op, ce);
    switch (op->kind) {
    case ZS_EU_KIND_GATHER:
    case ZS_EU_KIND_SCATTER:
        return of_stride(l, op, ce);
    case ZS_EU_KIND_DPAS:
        return (zs_eu_is_general(l) ? &zs_eu_dpas_base : l->dpas)->form[op->cls];
    case ZS_EU_KIND_BLOCK:
        return of_block(l, ce);
    case ZS_EU_KIND_SEND:
        return of_send(l, op, ce);
    case ZS_EU_KIND_JUMP_UNIFORM:
        return of_jump(op);
    case ZS_EU_KIND_LANE_COUNT:
        return of_lane_count(op, ce);
    default:
        return kinds[op->kind].fn;
    }
}

/* Operations of one version; the blocks of the version start at their block_op from `ops`. */
static void select_version(const struct zs_eu_lowering *l, struct zs_eu_op *ops, uint32_t ce)
{
    const struct zs_eu_program *p = l->program;

    for (size_t i = 0; i < p->op_count; i++) {
        struct zs_eu_op *op = &ops[i];
        if (kinds[op->kind].jumps)
            op->jump = &ops[p->block_op[op->block]];
        if (op->kind == ZS_EU_KIND_SEND)
            op->send = &p->sends.items[op->aux];
        op->fn = handler_of(l, op, ce);
        zs_assert(op->fn);
    }
}

bool zs_eu_select(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    /* steps let the environment change the mask anywhere */
    bool one = l->params->flags & (ZS_EU_LOWER_GENERAL | ZS_EU_LOWER_HOOK_STEPS);
    size_t versions = one ? 1 : 2;
    bool has_shadows = l->params->flags & ZS_EU_LOWER_DEFINED;
    size_t count = versions * p->op_count;
    struct zs_eu_op *ops =
        aligned_alloc(ZS_EU_OP_ALIGN, zs_align_up((has_shadows ? 2 : 1) * count * sizeof(*ops),
                                                  (size_t)ZS_EU_OP_ALIGN));

    if (!ops)
        return false;
    for (size_t v = 0; v < versions; v++)
        memcpy(ops + v * p->op_count, p->ops, p->op_count * sizeof(*ops));
    free(p->ops);
    p->ops = ops;
    p->full_ce = one ? 0 : p->simd_mask;
    select_version(l, ops, 0);
    if (!one)
        select_version(l, ops + p->op_count, p->full_ce);
    return !has_shadows || zs_eu_shadow_program(l, count);
}
