/* SPDX-License-Identifier: MIT */
/* What the files that lower instructions share: execution types, and how each begins. */
#ifndef ZS_EU_LOWER_INST_H
#define ZS_EU_LOWER_INST_H

#include "eu/exec/exact.h"
#include "eu/lower/lower.h"

/* ---- lower_arith.c, lower_math.c: rows of the table of opcodes ---- */
typedef void zs_eu_lower_fn(struct zs_eu_lowering *l);
zs_eu_lower_fn zs_eu_lower_add, zs_eu_lower_mul, zs_eu_lower_avg, zs_eu_lower_mad, zs_eu_lower_lrp,
    zs_eu_lower_mullh, zs_eu_lower_round, zs_eu_lower_carry, zs_eu_lower_mach, zs_eu_lower_mac,
    zs_eu_lower_madm, zs_eu_lower_math, zs_eu_lower_add3, zs_eu_lower_bfn, zs_eu_lower_dp4a,
    zs_eu_lower_dpas, zs_eu_lower_dnscl, zs_eu_lower_shfl, zs_eu_lower_srnd;
/* ---- lower_legacy.c: what left with Gen11 ---- */
zs_eu_lower_fn zs_eu_lower_dp, zs_eu_lower_line, zs_eu_lower_pln, zs_eu_lower_sad, zs_eu_lower_movi;

/* ---- lower_exact.c ---- */
/* The instruction as an operation of exact.c. */
void zs_eu_exact(struct zs_eu_lowering *l, enum zs_eu_exact operation);
/* Source i clamped to the destination's type, in 64 bits. */
struct zs_eu_loc zs_eu_exact_value(struct zs_eu_lowering *l, unsigned i);
/* Two sources that compare (as q) as those of the instruction do. */
void zs_eu_exact_order(struct zs_eu_lowering *l, struct zs_eu_loc ret[2]);
/* A mov of an integer to a float. */
void zs_eu_exact_to_float(struct zs_eu_lowering *l);

/* ---- execution types ---- */

/* Register type that an operand's values have: packed immediates are words and floats. */
static inline unsigned value_type(const struct zs_isa_operand *op)
{
    return op->type == ZS_TYPE_V    ? ZS_TYPE_W
           : op->type == ZS_TYPE_UV ? ZS_TYPE_UW
           : op->type == ZS_TYPE_VF ? ZS_TYPE_F
                                    : op->type;
}

static inline unsigned src_type(const struct zs_eu_lowering *l, unsigned i)
{
    return value_type(&l->inst->src[i]);
}

static inline bool any_src(const struct zs_eu_lowering *l, unsigned type)
{
    for (unsigned i = 0; i < l->inst->source_count; i++)
        if (src_type(l, i) == type)
            return true;
    return false;
}

static inline bool any_float_src(const struct zs_eu_lowering *l)
{
    for (unsigned i = 0; i < l->inst->source_count; i++)
        if (zs_eu_type_is_float(src_type(l, i)))
            return true;
    return false;
}

/* F for halves too: they are computed in single and rounded once more (which is harmless). */
static inline unsigned float_type(const struct zs_eu_lowering *l)
{
    return any_src(l, ZS_TYPE_DF) ? ZS_TYPE_DF : ZS_TYPE_F;
}

/* Widest integer size among the sources, and the destination if it is an integer. */
static inline unsigned widest_B(const struct zs_eu_lowering *l, bool with_dst)
{
    unsigned widest = with_dst ? zs_eu_type_B(l->inst->dst.type) : 0;

    for (unsigned i = 0; i < l->inst->source_count; i++)
        widest = ZS_MAX(widest, zs_eu_type_B(src_type(l, i)));
    return widest;
}

static inline bool dst_is_float(const struct zs_eu_lowering *l)
{
    return zs_eu_type_is_float(l->inst->dst.type);
}

static inline bool dst_is_acc(const struct zs_eu_lowering *l)
{
    const struct zs_isa_operand *dst = &l->inst->dst;
    return dst->file == ZS_FILE_ACC;
}

/* A copy of the instruction to change: what is stored differs from what is computed. */
static inline struct zs_isa_inst *rewrite(struct zs_eu_lowering *l)
{
    if (l->inst != &l->rewritten)
        l->rewritten = *l->inst;
    l->inst = &l->rewritten;
    return &l->rewritten;
}

static inline bool unmodelled(struct zs_eu_lowering *l, const char *what)
{
    return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: %s is not modelled", l->name, what);
}

/*
 * Type in which an integer operation is done whose low bits depend on the sources' low bits only.
 * What looks at the whole result (saturation, the accumulator, a wider destination) is done on 64
 * bits, which hold every sum and product of 32-bit values.
 */
static inline unsigned modular_type(const struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    unsigned widest = widest_B(l, true);

    if (widest == 8 || (inst->dst.modifiers & ZS_MOD_SAT) || (inst->flags & ZS_INST_ACCWREN) ||
        dst_is_acc(l) || dst_is_float(l))
        return ZS_TYPE_Q;
    return widest <= 2 ? ZS_TYPE_W : ZS_TYPE_D;
}

/* The same for bitwise operations, which have no carry into higher bits. */
static inline unsigned bitwise_type(const struct zs_eu_lowering *l)
{
    unsigned widest = widest_B(l, true);

    if (widest == 8 || dst_is_acc(l))
        return ZS_TYPE_Q;
    return widest <= 2 ? ZS_TYPE_W : ZS_TYPE_D;
}

/* Type that holds the values of both sources, for comparisons. INVALID: there is none. */
static inline unsigned common_type(const struct zs_eu_lowering *l)
{
    bool any_signed = false, big_unsigned = false, quad_unsigned = false, quad = false;

    for (unsigned i = 0; i < 2; i++) {
        const struct zs_isa_operand *op = &l->inst->src[i];
        unsigned type = src_type(l, i);
        bool is_signed = zs_eu_type_is_signed(type) ||
                         ((op->modifiers & ZS_MOD_NEG) && op->kind != ZS_OPERAND_IMM);
        if (op->kind == ZS_OPERAND_IMM && is_signed && type != ZS_TYPE_Q) {
            /* a non-negative immediate fits both */
            bool negative =
                type == ZS_TYPE_W ? (op->imm & 0x8000) != 0 : (op->imm & 0x80000000) != 0;
            is_signed = negative || op->type == ZS_TYPE_V;
        }
        any_signed |= is_signed;
        big_unsigned |= type == ZS_TYPE_UD;
        quad_unsigned |= type == ZS_TYPE_UQ;
        quad |=
            zs_eu_type_B(type) == 8 || (type == ZS_TYPE_D && op->kind != ZS_OPERAND_IMM &&
                                        zs_eu_modifier_type(op) == ZS_TYPE_Q); /* an accumulator */
    }
    if (quad_unsigned)
        return any_signed ? ZS_TYPE_NONE : ZS_TYPE_UQ;
    if (quad || (any_signed && big_unsigned))
        return ZS_TYPE_Q;
    return big_unsigned ? ZS_TYPE_UD : ZS_TYPE_D;
}

static inline void load_all(struct zs_eu_lowering *l, unsigned type, enum zs_eu_modifiers mods,
                            struct zs_eu_loc *ret)
{
    for (unsigned i = 0; i < l->inst->source_count; i++)
        ret[i] = zs_eu_load(l, i, type, mods);
}

/* An operation of two sources into a temporary. arg says which of them are one element. */
static inline struct zs_eu_op *emit_of_two(struct zs_eu_lowering *l, unsigned kind,
                                           const struct zs_eu_loc src[2])
{
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op = zs_eu_emit(l, kind);
    op->dst = at;
    op->src[0] = src[0].at;
    op->src[1] = src[1].at;
    op->arg = (uint8_t)((unsigned)src[0].scalar | (unsigned)src[1].scalar << 1);
    return op;
}

/* Pick a row by the width of an integer type. */
static inline enum zs_eu_row by_width(unsigned type, enum zs_eu_row r16, enum zs_eu_row r32,
                                      enum zs_eu_row r64)
{
    return zs_eu_type_B(type) == 8 ? r64 : zs_eu_type_B(type) == 4 ? r32 : r16;
}

#define BY_WIDTH(type, NAME)                                                                       \
    by_width((type), ZS_EU_ROW_##NAME##_16, ZS_EU_ROW_##NAME##_32, ZS_EU_ROW_##NAME##_64)

#endif
