/* SPDX-License-Identifier: MIT */
/* When 64 bits do not hold what an integer operation must look at: operations of exact.c. */
#include "eu/exec/exact.h"
#include "eu/lower/lower_inst.h"

static bool is_negated(const struct zs_isa_operand *op)
{
    return (op->modifiers & ZS_MOD_NEG) && op->kind != ZS_OPERAND_IMM;
}

/* A source in 64 bits. A uq is negated by the operation, since 64 bits do not hold that. */
static struct zs_eu_loc load(struct zs_eu_lowering *l, unsigned i, uint32_t *aux)
{
    const struct zs_isa_operand *op = &l->inst->src[i];

    if (op->type != ZS_TYPE_UQ)
        return zs_eu_load(l, i, ZS_TYPE_Q, ZS_EU_MOD_ARITH);
    *aux |= 1u << (ZS_EU_EXACT_UNSIGNED + i);
    *aux |= is_negated(op) ? 1u << (ZS_EU_EXACT_NEGATED + i) : 0;
    rewrite(l)->src[i].modifiers = 0;
    return zs_eu_load(l, i, ZS_TYPE_UQ, ZS_EU_MOD_ARITH);
}

static struct zs_eu_loc emit(struct zs_eu_lowering *l, uint32_t aux, const struct zs_eu_loc *src,
                             unsigned count)
{
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_EXACT);

    op->dst = at;
    op->aux = aux;
    for (unsigned i = 0; i < 3; i++) {
        const struct zs_eu_loc *from = &src[i < count ? i : 0];
        op->src[i] = from->at;
        op->arg |= (uint8_t)((unsigned)from->scalar << i);
    }
    return (struct zs_eu_loc){at, l->n == 1};
}

static uint32_t range_of(unsigned type)
{
    return (uint32_t)__builtin_ctz(zs_eu_type_B(type)) << ZS_EU_EXACT_SIZE |
           (zs_eu_type_is_signed(type) ? ZS_EU_EXACT_SIGNED : 0) | ZS_EU_EXACT_CLAMPS;
}

static bool is_covered(struct zs_eu_lowering *l)
{
    if (!dst_is_float(l) && !dst_is_acc(l) && !(l->inst->flags & ZS_INST_ACCWREN))
        return true;
    return unmodelled(l, "this destination of values beyond 64 bits");
}

void zs_eu_exact(struct zs_eu_lowering *l, enum zs_eu_exact operation)
{
    unsigned type = l->inst->dst.type;
    uint32_t aux = operation | (uint32_t)(l->inst->cond & 7) << ZS_EU_EXACT_COND;
    struct zs_eu_loc src[3];

    if (!is_covered(l))
        return;
    for (unsigned i = 0; i < l->inst->source_count; i++)
        src[i] = load(l, i, &aux);
    if (l->failed)
        return;
    if (l->inst->dst.modifiers & ZS_MOD_SAT)
        aux |= range_of(type);
    if (operation == ZS_EU_EXACT_CHOOSE)
        rewrite(l)->cond = 0; /* no flag is written */
    struct zs_eu_loc result = emit(l, aux, src, l->inst->source_count);
    zs_eu_store(l, result, zs_eu_type_is_signed(type) ? ZS_TYPE_Q : ZS_TYPE_UQ);
}

/* A source as the destination's type has it, in 64 bits. */
struct zs_eu_loc zs_eu_exact_value(struct zs_eu_lowering *l, unsigned i)
{
    uint32_t aux = ZS_EU_EXACT_VALUE | range_of(l->inst->dst.type), own = 0;
    struct zs_eu_loc src = {0};

    if (is_covered(l))
        src = load(l, i, &own);
    if (l->failed)
        return src;
    for (unsigned k = ZS_EU_EXACT_UNSIGNED; k <= ZS_EU_EXACT_NEGATED; k += 3)
        aux |= (own >> (k + i) & 1) << k;
    return emit(l, aux, &src, 1);
}

void zs_eu_exact_order(struct zs_eu_lowering *l, struct zs_eu_loc ret[2])
{
    uint32_t aux = ZS_EU_EXACT_ORDER;

    for (unsigned i = 0; i < 2; i++)
        ret[i] = load(l, i, &aux);
    if (l->failed)
        return;
    ret[0] = emit(l, aux, ret, 2);
    ret[1] = zs_eu_number(l, 0);
}

/* A negated uq to a float: rounded once. */
void zs_eu_exact_to_float(struct zs_eu_lowering *l)
{
    bool is_double = l->inst->dst.type == ZS_TYPE_DF;
    uint32_t aux = ZS_EU_EXACT_VALUE | (is_double ? ZS_EU_EXACT_DOUBLE : ZS_EU_EXACT_SINGLE);
    struct zs_eu_loc src = load(l, 0, &aux);

    if (l->failed)
        return;
    src = emit(l, aux, &src, 1);
    zs_eu_store(l, src, is_double ? ZS_TYPE_DF : ZS_TYPE_F);
}
