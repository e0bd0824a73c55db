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
    if (known_mask(op, ce, by_predicate, &mask)) {
        if (op->cls == ZS_EU_CLASS_N1)
            return mask & 1 ? ZS_EU_SHAPE_FULL8 : ZS_EU_SHAPE_ANY;
        if (mask == op->full)
            return op->chunks == 1   ? ZS_EU_SHAPE_FULL8
                   : op->chunks == 2 ? ZS_EU_SHAPE_FULL16
                                     : ZS_EU_SHAPE_FULL32;
        return ZS_EU_SHAPE_ANY;
    }
    if (op->chunks == 4 && op->lanes == UINT32_MAX)
        return ZS_EU_SHAPE_MASKED32;
    return op->chunks == 2 && op->lanes == 0xffff ? ZS_EU_SHAPE_MASKED16 : ZS_EU_SHAPE_ANY;
}

static bool takes_wide_steps(const struct zs_eu_lowering *l, const struct zs_eu_op *op)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];

    return l->wide && (l->wide_dwords || row->dst_B == 8 || row->src_B[0] == 8);
}

static zs_eu_op_fn *of_row(const struct zs_eu_lowering *l, const struct zs_eu_op *op, uint32_t ce)
{
    zs_eu_op_fn *const(*row)[ZS_EU_CLASS_COUNT] = l->handlers->row[op->kind];
    enum zs_eu_shape shape = zs_eu_is_general(l) ? ZS_EU_SHAPE_ANY : shape_of(op, ce);
    bool is_whole = shape == ZS_EU_SHAPE_FULL16 || shape == ZS_EU_SHAPE_FULL32;
    bool compares_one = !op->arg && (op->cls == 3 || op->cls == ZS_EU_CLASS_N1);

    if (compares_one && !zs_eu_is_general(l) && zs_eu_compare_uniform(op->kind))
        return zs_eu_compare_uniform(op->kind);
    if (op->kind == ZS_EU_ROW_EXP_F32 && op->cls == 0 && is_whole && l->exp)
        return l->exp->of[shape == ZS_EU_SHAPE_FULL32];
    zs_eu_op_fn *fn = takes_wide_steps(l, op) ? l->wide->row[op->kind][shape][op->cls] : NULL;

    if (!fn && op->cls == 0 && l->host >= ZS_EU_HOST_AVX2)
        fn = zs_eu_widening(op->kind, shape);
    if (!fn)
        fn = row[shape][op->cls];
    return fn ? fn : row[ZS_EU_SHAPE_ANY][op->cls];
}

/* Every second element, whole chunks; NULL: there is none for it. */
static zs_eu_op_fn *of_pairs(const struct zs_eu_handlers *handlers, const struct zs_eu_op *op)
{
    if (!handlers)
        return NULL;
    return (op->kind == ZS_EU_KIND_GATHER ? handlers->gather_pairs
                                          : handlers->scatter_pairs)[op->cls];
}

static zs_eu_op_fn *of_stride(const struct zs_eu_lowering *l, const struct zs_eu_op *op,
                              uint32_t ce)
{
    zs_eu_op_fn *pairs = of_pairs(l->wide, op);
    uint32_t mask;

    if (!pairs)
        pairs = of_pairs(l->handlers, op);
    if (pairs && op->src[1] == 2u << op->cls && known_mask(op, ce, true, &mask) && mask == op->full)
        return pairs;
    return (op->kind == ZS_EU_KIND_GATHER ? l->handlers->gather : l->handlers->scatter)[op->cls];
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
    if (send->indices.run)
        return full ? zs_eu_op_send_indexed_full : zs_eu_op_send_indexed;
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

/* ---- links ---- */

/* How an operation reads its sources: `given` is what the one in front of it passes on; NULL: it
 * passes on nothing. false: no row of 32 lanes. */
static bool link_code(const struct zs_eu_op *op, uint32_t ce, const struct zs_eu_op *given,
                      bool *ret_masked, unsigned *ret_code, bool *ret_takes)
{
    static const unsigned digits[3] = {1, 3, 9};

    *ret_code = 0;
    *ret_takes = false;
    if (op->kind >= ZS_EU_ROW_COUNT || op->cls == ZS_EU_CLASS_N1)
        return false;
    enum zs_eu_shape shape = shape_of(op, ce);
    *ret_masked = shape == ZS_EU_SHAPE_MASKED32;
    if (shape != ZS_EU_SHAPE_FULL32 && shape != ZS_EU_SHAPE_MASKED32)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        bool is_one = op->cls >> i & 1;
        if (zs_eu_row_infos[op->kind].src_B[i] == 0)
            break;
        if (is_one)
            *ret_code += ZS_EU_LINK_S * digits[i];
        else if (given && op->src[i] == given->dst)
            *ret_code += ZS_EU_LINK_C * digits[i], *ret_takes = true;
    }
    return true;
}

static zs_eu_any_fn *link_of(const struct zs_eu_lowering *l, const struct zs_eu_op *op, uint32_t ce,
                             const struct zs_eu_op *given, enum zs_eu_link link)
{
    unsigned code;
    bool takes, masked;

    if (!link_code(op, ce, given, &masked, &code, &takes) || takes != (given != NULL))
        return NULL;
    return l->links->row[op->kind][masked][link][code];
}

/* Where an operation has a source from the one in front of it, it is passed on. */
static void link_version(const struct zs_eu_lowering *l, struct zs_eu_op *ops, uint32_t ce)
{
    const struct zs_eu_op *given = NULL; /* what the one in front passes on */

    for (size_t i = 0; i + 1 < l->program->op_count; i++) {
        const struct zs_eu_op *op = &ops[i];
        enum zs_eu_link passed = op->passed ? ZS_EU_LINK_PASSED : ZS_EU_LINK_BOTH;
        bool gives =
            link_of(l, op, ce, given, passed) && link_of(l, op + 1, ce, op, ZS_EU_LINK_STORED);
        zs_eu_any_fn *fn = link_of(l, op, ce, given, gives ? passed : ZS_EU_LINK_STORED);
        if (fn)
            ops[i].linked = fn;
        given = gives ? op : NULL;
    }
}

/* Counting a predicate's lanes is no matter of what stands in front of it: what that passes on goes
 * to the next one then. */
static void raise_lane_counts(struct zs_eu_program *p)
{
    for (size_t i = 1; i < p->op_count; i++) {
        const struct zs_eu_op counts = p->ops[i], *before = &p->ops[i - 1];
        if (counts.kind == ZS_EU_KIND_LANE_COUNT && before->kind < ZS_EU_ROW_COUNT &&
            zs_eu_row_infos[before->kind].form != ZS_EU_FORM_CMP &&
            before->dst >= ZS_EU_OFFSET(acc)) {
            p->ops[i] = *before;
            p->ops[i - 1] = counts;
        }
    }
}

/* ---- several operations by one handler ---- */

static bool moves_one(const struct zs_eu_op *op, uint32_t ce)
{
    return op->kind == ZS_EU_ROW_MOV_32 && op->cls == ZS_EU_CLASS_N1 &&
           shape_of(op, ce) == ZS_EU_SHAPE_FULL8;
}

static void join_version(const struct zs_eu_lowering *l, struct zs_eu_op *ops, uint32_t ce)
{
    size_t count = l->program->op_count;

    for (size_t i = 0; i + 1 < count; i++) {
        bool compares =
            ops[i].kind < ZS_EU_ROW_COUNT && ops[i].fn == zs_eu_compare_uniform(ops[i].kind);
        if (compares && ops[i + 1].fn == zs_eu_op_jump_flag)
            ops[i].fn = zs_eu_compare_and_jump(ops[i].kind);
        size_t end = i;
        while (end < count && moves_one(&ops[end], ce))
            end++;
        if (end < i + 2)
            continue;
        ops[i].fn = zs_eu_op_moves;
        ops[i].aux = (uint32_t)(end - i);
        i = end - 1;
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
    if (l->links && !zs_eu_stands_anywhere(l))
        link_version(l, ops, ce);
    if (!zs_eu_stands_anywhere(l))
        join_version(l, ops, ce);
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
    if (l->links && !zs_eu_stands_anywhere(l))
        raise_lane_counts(p);
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
