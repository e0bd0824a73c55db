/* SPDX-License-Identifier: MIT */
/* The last step of lowering: the handler of each operation. What is to be compiled has them in two
 * versions, for any mask and for all lanes on. */
#include "eu/control.h"
#include "eu/lower/lower.h"
#include "eu/lower/lower_operand.h"
#include "eu/tier/tier.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    zs_eu_op_fn *fn;
    bool jumps; /* op->block is to become op->jump */
} kinds[ZS_EU_KIND_COUNT] = {
#define ZS_EU_KIND(id, handler) [ZS_EU_KIND_##id].fn = zs_eu_op_##handler,
#include "eu/exec/kind.def"
    [ZS_EU_KIND_BRANCH].jumps = true,
    [ZS_EU_KIND_GOTO].jumps = true,
    [ZS_EU_KIND_JUMP_UNIFORM].jumps = true,
};

static zs_eu_op_fn *handler_of(const struct zs_eu_lowering *l, const struct zs_eu_op *op)
{
    if (op->kind < ZS_EU_ROW_COUNT)
        return l->handlers->row[op->kind];
    switch (op->kind) {
    case ZS_EU_KIND_GATHER:
        return l->handlers->gather[op->cls];
    case ZS_EU_KIND_SCATTER:
        return l->handlers->scatter[op->cls];
    case ZS_EU_KIND_DPAS:
        return (zs_eu_is_general(l) ? &zs_eu_dpas_base : l->dpas)->form[op->cls];
    default:
        return kinds[op->kind].fn;
    }
}

/* Operations of one version; the blocks of the version start at their block_op from `ops`. */
static void select_version(const struct zs_eu_lowering *l, struct zs_eu_op *ops)
{
    const struct zs_eu_program *p = l->program;

    for (size_t i = 0; i < p->op_count; i++) {
        struct zs_eu_op *op = &ops[i];
        if (kinds[op->kind].jumps)
            op->jump = &ops[p->block_op[op->block]];
        if (op->kind == ZS_EU_KIND_SEND)
            op->send = &p->sends.items[op->aux];
        op->fn = handler_of(l, op);
        zs_assert(op->fn);
    }
}

bool zs_eu_select(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    bool one = !(l->params->flags & ZS_EU_TIER_LOWER);
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
    for (size_t v = 0; v < versions; v++)
        select_version(l, ops + v * p->op_count);
    return !has_shadows || zs_eu_shadow_program(l, count);
}
