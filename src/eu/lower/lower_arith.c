/* SPDX-License-Identifier: MIT */
/* Arithmetic and the accumulator: which rows, in which execution type. */
#include "eu/lower/lower_inst.h"

/* ---- arithmetic ---- */

static bool negated(const struct zs_eu_lowering *l, unsigned i)
{
    const struct zs_isa_operand *op = &l->inst->src[i];
    return (op->modifiers & ZS_MOD_NEG) && op->kind != ZS_OPERAND_IMM;
}

/* The sign of a float source that was loaded with KEEP_NEG. */
static struct zs_eu_loc negate(struct zs_eu_lowering *l, unsigned type, struct zs_eu_loc loc)
{
    return zs_eu_apply(l, type == ZS_TYPE_DF ? ZS_EU_ROW_NEG_F64 : ZS_EU_ROW_NEG_F32, &loc, 1);
}

/*
 * Signs of sources become other rows: a - b instead of a + -b. An integer source of a float
 * operation is negated when it is loaded.
 */
static bool float_sign(const struct zs_eu_lowering *l, unsigned i)
{
    return negated(l, i) && zs_eu_type_is_float(l->inst->src[i].type);
}

static void lower_add_float(struct zs_eu_lowering *l, unsigned type)
{
    struct zs_eu_loc src[2], swapped[2];
    bool n0 = float_sign(l, 0), n1 = float_sign(l, 1), is_double = type == ZS_TYPE_DF;
    enum zs_eu_row add = is_double ? ZS_EU_ROW_ADD_F64 : ZS_EU_ROW_ADD_F32;
    enum zs_eu_row sub = is_double ? ZS_EU_ROW_SUB_F64 : ZS_EU_ROW_SUB_F32;

    load_all(l, type, ZS_EU_MOD_KEEP_NEG, src);
    if (l->failed)
        return;
    if (n0 && n1)
        src[0] = negate(l, type, src[0]);
    if (n0 && !n1) {
        swapped[0] = src[1];
        swapped[1] = src[0];
        zs_eu_compute(l, sub, type, swapped, 2);
    } else {
        zs_eu_compute(l, n1 ? sub : add, type, src, 2);
    }
}

void zs_eu_lower_add(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[2];

    if (any_float_src(l)) {
        lower_add_float(l, float_type(l));
        return;
    }
    unsigned type = modular_type(l);
    if (dst_is_float(l) && widest_B(l, false) == 8) {
        unmodelled(l, "a float sum of integers of 64 bits");
        return;
    }
    if ((l->inst->dst.modifiers & ZS_MOD_SAT) && widest_B(l, true) == 8) {
        bool is_unsigned = l->inst->dst.type == ZS_TYPE_UQ && src_type(l, 0) != ZS_TYPE_Q &&
                           src_type(l, 1) != ZS_TYPE_Q && !negated(l, 0) && !negated(l, 1) &&
                           !zs_eu_type_is_signed(src_type(l, 0)) &&
                           !zs_eu_type_is_signed(src_type(l, 1));
        if ((any_src(l, ZS_TYPE_UQ) || l->inst->dst.type == ZS_TYPE_UQ) && !is_unsigned) {
            zs_eu_exact(l, ZS_EU_EXACT_ADD);
            return;
        }
        load_all(l, ZS_TYPE_Q, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, is_unsigned ? ZS_EU_ROW_ADDSAT_U64 : ZS_EU_ROW_ADDSAT_S64,
                      is_unsigned ? ZS_TYPE_UQ : ZS_TYPE_Q, src, 2);
        return;
    }
    /* a - b without a negation of its own, where the negation does not wrap on its own */
    bool sub = negated(l, 1) && !(l->inst->src[1].modifiers & ZS_MOD_ABS) &&
               !(type == ZS_TYPE_Q && src_type(l, 1) == ZS_TYPE_D);
    src[0] = zs_eu_load(l, 0, type, ZS_EU_MOD_ARITH);
    if (sub) {
        const struct zs_isa_inst *inst = l->inst;
        rewrite(l)->src[1].modifiers &= (uint8_t)~ZS_MOD_NEG;
        src[1] = zs_eu_load(l, 1, type, ZS_EU_MOD_ARITH);
        l->inst = inst;
    } else {
        src[1] = zs_eu_load(l, 1, type, ZS_EU_MOD_ARITH);
    }
    zs_eu_compute(l, sub ? BY_WIDTH(type, SUB) : BY_WIDTH(type, ADD), type, src, 2);
}

static void lower_mul_float(struct zs_eu_lowering *l, unsigned type)
{
    struct zs_eu_loc src[2];

    load_all(l, type, ZS_EU_MOD_KEEP_NEG, src);
    if (l->failed)
        return;
    bool negative = float_sign(l, 0) != float_sign(l, 1);
    if (negative && type == ZS_TYPE_DF)
        src[1] = negate(l, type, src[1]);
    zs_eu_compute(l,
                  type == ZS_TYPE_DF ? ZS_EU_ROW_MUL_F64
                  : negative         ? ZS_EU_ROW_MUL_NEG_F32
                                     : ZS_EU_ROW_MUL_F32,
                  type, src, 2);
}

static bool plain_source(const struct zs_eu_lowering *l, unsigned i)
{
    const struct zs_isa_operand *op = &l->inst->src[i];
    return op->kind == ZS_OPERAND_IMM ||
           (!(op->modifiers & ZS_MOD_ABS) && !(op->modifiers & ZS_MOD_NEG));
}

/* Both sources fit a 32-bit type of one signedness: a widening multiply will do. */
static unsigned widening_type(const struct zs_eu_lowering *l)
{
    if (!plain_source(l, 0) || !plain_source(l, 1) || widest_B(l, false) > 4)
        return ZS_TYPE_NONE;
    unsigned type = common_type(l);
    return type == ZS_TYPE_Q ? ZS_TYPE_NONE : type;
}

void zs_eu_lower_mul(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[2];

    if (any_float_src(l)) {
        lower_mul_float(l, float_type(l));
        return;
    }
    unsigned type = modular_type(l), narrow = widening_type(l);
    if (((l->inst->dst.modifiers & ZS_MOD_SAT) || dst_is_float(l)) && /* all bits matter */
        (widest_B(l, false) == 8 || (narrow == ZS_TYPE_NONE && src_type(l, 0) == ZS_TYPE_UD &&
                                     src_type(l, 1) == ZS_TYPE_UD))) {
        zs_eu_exact(l, ZS_EU_EXACT_MUL);
        return;
    }
    if (type == ZS_TYPE_Q && narrow != ZS_TYPE_NONE) {
        load_all(l, narrow, ZS_EU_MOD_ARITH, src);
        if (dst_is_acc(l) && !(l->inst->dst.modifiers & ZS_MOD_SAT) && !l->inst->cond &&
            !dst_is_float(l) && !(l->inst->flags & ZS_INST_ACCWREN)) {
            zs_eu_compute_product(l, narrow, src);
            return;
        }
        zs_eu_compute(l, narrow == ZS_TYPE_UD ? ZS_EU_ROW_MULW_U32 : ZS_EU_ROW_MULW_S32,
                      /* an unsigned product may not fit q: it matters for clamping */
                      narrow == ZS_TYPE_UD ? ZS_TYPE_UQ : ZS_TYPE_Q, src, 2);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, BY_WIDTH(type, MUL), type, src, 2);
}

/*
 * The low halves of products to the destination, the high ones to the registers behind those
 * (HWConformityPro.cpp of IGC: doTranslateMulh()). Both read the sources before either is stored.
 */
void zs_eu_lower_mullh(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *plain = rewrite(l);
    uint32_t grf_B = l->program->regs.grf_B;
    unsigned narrow = any_float_src(l) ? ZS_TYPE_NONE : widening_type(l);
    struct zs_eu_loc src[2];

    if (narrow == ZS_TYPE_NONE || zs_eu_type_B(plain->dst.type) != 4 || dst_is_float(l) ||
        plain->dst.file != ZS_FILE_GRF || plain->dst.subreg || plain->dst.hstride > 1 ||
        plain->dst.modifiers & ZS_MOD_SAT || plain->cond) {
        unmodelled(l, "this form");
        return;
    }
    load_all(l, narrow, ZS_EU_MOD_ARITH, src);
    bool is_unsigned = narrow == ZS_TYPE_UD;
    struct zs_eu_loc low = zs_eu_apply(l, ZS_EU_ROW_MUL_32, src, 2);
    struct zs_eu_loc high =
        zs_eu_apply(l, is_unsigned ? ZS_EU_ROW_MULH_U32 : ZS_EU_ROW_MULH_S32, src, 2);
    zs_eu_store(l, low, ZS_TYPE_UD);
    plain->dst.reg = (uint16_t)(plain->dst.reg + ZS_MAX(l->n * 4u / grf_B, 1u));
    zs_eu_store(l, high, ZS_TYPE_UD);
}

void zs_eu_lower_avg(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[2];

    if (any_float_src(l) || dst_is_float(l) || widest_B(l, true) == 8) {
        unmodelled(l, "this type");
        return;
    }
    load_all(l, ZS_TYPE_Q, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, ZS_EU_ROW_AVG_64, ZS_TYPE_Q, src, 2);
}

/* Of Xe3P: a product of dwords, all of it, and a sum in 64 bits. */
static void lower_mad_wide(struct zs_eu_lowering *l)
{
    bool is_unsigned[2];

    for (unsigned i = 0; i < 2; i++) {
        if (zs_eu_type_B(src_type(l, i + 1)) > 4 || !plain_source(l, i + 1)) {
            unmodelled(l, "factors of this type");
            return;
        }
        is_unsigned[i] = src_type(l, i + 1) == ZS_TYPE_UD;
    }
    bool alike = is_unsigned[0] == is_unsigned[1];
    unsigned factor = !alike ? ZS_TYPE_Q : is_unsigned[0] ? ZS_TYPE_UD : ZS_TYPE_D;
    enum zs_eu_row row = !alike           ? ZS_EU_ROW_MUL_64
                         : is_unsigned[0] ? ZS_EU_ROW_MULW_U32
                                          : ZS_EU_ROW_MULW_S32;
    struct zs_eu_loc src[2] = {zs_eu_load(l, 1, factor, ZS_EU_MOD_ARITH),
                               zs_eu_load(l, 2, factor, ZS_EU_MOD_ARITH)};
    struct zs_eu_loc sum[2] = {zs_eu_load(l, 0, ZS_TYPE_Q, ZS_EU_MOD_ARITH)};
    sum[1] = zs_eu_apply(l, row, src, 2);
    zs_eu_compute(l, ZS_EU_ROW_ADD_64, ZS_TYPE_Q, sum, 2);
}

/* On d and ud: the low 32 bits of an exact result, or all of it clamped. */
static void lower_mad_integer(struct zs_eu_lowering *l)
{
    unsigned type = modular_type(l);
    struct zs_eu_loc src[3], sum[2];

    if (widest_B(l, true) == 8 && l->model->platform >= ZS_ISA_XE3P && !dst_is_float(l) &&
        !(l->inst->dst.modifiers & ZS_MOD_SAT)) {
        lower_mad_wide(l);
        return;
    }
    if (widest_B(l, true) > 4 || dst_is_float(l)) {
        unmodelled(l, "integers of this type");
        return;
    }
    if ((l->inst->dst.modifiers & ZS_MOD_SAT) && any_src(l, ZS_TYPE_UD)) { /* beyond 64 bits */
        zs_eu_exact(l, ZS_EU_EXACT_MAD);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    sum[0] = src[0];
    sum[1] = zs_eu_apply(l, BY_WIDTH(type, MUL), &src[1], 2);
    zs_eu_compute(l, BY_WIDTH(type, ADD), type, sum, 2);
}

void zs_eu_lower_mad(struct zs_eu_lowering *l)
{
    static const enum zs_eu_row rows[2][4] = {
        {ZS_EU_ROW_MAD_F32, ZS_EU_ROW_MAD_NEG0_F32, ZS_EU_ROW_MAD_NEG1_F32,
         ZS_EU_ROW_MAD_NEG01_F32},
        {ZS_EU_ROW_MAD_F64, ZS_EU_ROW_MAD_NEG0_F64, ZS_EU_ROW_MAD_NEG1_F64,
         ZS_EU_ROW_MAD_NEG01_F64},
    };
    struct zs_eu_loc src[3];
    unsigned type = float_type(l);
    bool half = !any_src(l, ZS_TYPE_F) && !any_src(l, ZS_TYPE_BF) && type == ZS_TYPE_F;

    if (!any_float_src(l)) {
        lower_mad_integer(l);
        return;
    }
    if (half && l->inst->dst.type == ZS_TYPE_HF && !(l->inst->dst.modifiers & ZS_MOD_SAT)) {
        load_all(l, ZS_TYPE_HF, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, ZS_EU_ROW_MAD_F16, ZS_TYPE_HF, src, 3);
        return;
    }
    load_all(l, type, ZS_EU_MOD_KEEP_NEG, src);
    unsigned signs = (float_sign(l, 0) ? 1u : 0) | (float_sign(l, 1) != float_sign(l, 2) ? 2u : 0);
    zs_eu_compute(l, rows[type == ZS_TYPE_DF][signs], type, src, 3);
}

void zs_eu_lower_lrp(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[3];

    if (!any_src(l, ZS_TYPE_F)) {
        unmodelled(l, "a type other than f");
        return;
    }
    load_all(l, ZS_TYPE_F, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, ZS_EU_ROW_LRP_F32, ZS_TYPE_F, src, 3);
}

void zs_eu_lower_round(struct zs_eu_lowering *l)
{
    enum zs_eu_row row = l->inst->op == ZS_OP_RNDU   ? ZS_EU_ROW_RNDU_F32
                         : l->inst->op == ZS_OP_RNDD ? ZS_EU_ROW_RNDD_F32
                         : l->inst->op == ZS_OP_RNDE ? ZS_EU_ROW_RNDE_F32
                         : l->inst->op == ZS_OP_RNDZ ? ZS_EU_ROW_RNDZ_F32
                                                     : ZS_EU_ROW_FRC_F32;
    struct zs_eu_loc src;

    if (src_type(l, 0) != ZS_TYPE_F) {
        unmodelled(l, "a type other than f");
        return;
    }
    src = zs_eu_load(l, 0, ZS_TYPE_F, ZS_EU_MOD_ARITH);
    zs_eu_compute(l, row, ZS_TYPE_F, &src, 1);
}

/* ---- accumulator ---- */

void zs_eu_lower_carry(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *plain = rewrite(l);
    struct zs_eu_loc src[2];

    /* the compiler folds the numbers of lanes, words, into additions to addresses */
    if (any_float_src(l) || widest_B(l, false) != 4 || l->n > 16 || !plain_source(l, 0) ||
        !plain_source(l, 1) || (plain->dst.modifiers & ZS_MOD_SAT)) {
        unmodelled(l, "a source that is not plain ud");
        return;
    }
    bool adds = plain->op == ZS_OP_ADDC;
    enum zs_eu_row row = adds ? ZS_EU_ROW_ADD_32 : ZS_EU_ROW_SUB_32;
    bool uses_acc =
        dst_is_acc(l) || plain->src[0].file == ZS_FILE_ACC || plain->src[1].file == ZS_FILE_ACC;
    load_all(l, ZS_TYPE_UD, ZS_EU_MOD_ARITH, src);
    struct zs_eu_loc none = zs_eu_number(l, 0), sum = {0};
    if (uses_acc)
        sum = zs_eu_apply(l, row, src, 2);
    zs_eu_emit_row(l, adds ? ZS_EU_ROW_CARRY_32 : ZS_EU_ROW_BORROW_32, ZS_EU_OFFSET(acc), src, 2,
                   true);
    zs_eu_emit_row(l, ZS_EU_ROW_MOV_32, ZS_EU_OFFSET(acc_high), &none, 1, true);
    plain->flags &= ~(uint32_t)ZS_INST_ACCWREN; /* done: the carry is there */
    if (uses_acc)
        zs_eu_store(l, sum, ZS_TYPE_UD);
    else
        zs_eu_compute(l, row, ZS_TYPE_UD, src, 2);
}

/* The accumulator's 64 bits and two sources of as many. */
static void load_with_acc(struct zs_eu_lowering *l, struct zs_eu_loc ret[3])
{
    bool one = l->n == 1;
    struct zs_eu_loc halves[2] = {{ZS_EU_OFFSET(acc), one}, {ZS_EU_OFFSET(acc_high), one}};

    load_all(l, ZS_TYPE_Q, ZS_EU_MOD_ARITH, ret + 1);
    zs_eu_mark_acc_read(l, 0, l->n);
    ret[0] = (struct zs_eu_loc){zs_eu_temp(l), one};
    zs_eu_emit_row(l, ZS_EU_ROW_JOIN_64, ret[0].at, halves, 2, true);
}

/* The accumulator holds what fits one: an operation that takes all channels at once. */
static bool fits_acc(const struct zs_eu_lowering *l)
{
    return l->n * 4 <= 2u * l->program->regs.grf_B;
}

/* The accumulator has the product with the low words of src1; it stays as it is. */
static void lower_macl(struct zs_eu_lowering *l, unsigned type)
{
    struct zs_eu_loc src[3] = {{ZS_EU_OFFSET(acc), l->n == 1}};

    zs_eu_mark_acc_read(l, 0, l->n);
    load_all(l, ZS_TYPE_D, ZS_EU_MOD_ARITH, src + 1);
    zs_eu_compute(l, ZS_EU_ROW_MACL_32, type, src, 3);
}

/* mach, the high half of a product whose low words are in acc, and macl, the low one. */
void zs_eu_lower_mach(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *plain = rewrite(l);
    bool has_acc_write = plain->flags & ZS_INST_ACCWREN;
    bool high = plain->op == ZS_OP_MACH &&
                (l->platform->mach_is_high || l->platform->mach_writes_acc || has_acc_write);

    if (any_float_src(l) || widest_B(l, true) > 4 || !fits_acc(l) ||
        (plain->dst.modifiers & ZS_MOD_SAT)) {
        unmodelled(l, "this form");
        return;
    }
    unsigned type = plain->dst.type == ZS_TYPE_D ? ZS_TYPE_D : ZS_TYPE_UD;
    if (!high) {
        lower_macl(l, type);
        return;
    }
    struct zs_eu_loc src[3], sum = {zs_eu_temp(l), l->n == 1};
    load_with_acc(l, src);
    zs_eu_emit_row(l, ZS_EU_ROW_MACH_64, sum.at, src, 3, true);
    zs_eu_emit_row(l, ZS_EU_ROW_I64_32, ZS_EU_OFFSET(acc), &sum, 1, true);
    zs_eu_emit_row(l, ZS_EU_ROW_HIGH_32, ZS_EU_OFFSET(acc_high), &sum, 1, true);
    plain->flags &= ~(uint32_t)ZS_INST_ACCWREN; /* done */
    zs_eu_compute(l, ZS_EU_ROW_HIGH_32, type, &sum, 1);
}

/* On floats: mad with acc0 as its first source, which is what IGC makes mac of. No double has one.
 */
static void lower_mac_float(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *mad = rewrite(l);

    mad->src[2] = mad->src[1];
    mad->src[1] = mad->src[0];
    mad->src[0] = (struct zs_isa_operand){.kind = ZS_OPERAND_REG,
                                          .file = ZS_FILE_ACC,
                                          .type = (uint8_t)value_type(&mad->src[1]),
                                          .vstride = 1,
                                          .width = 1};
    mad->source_count = 3;
    zs_eu_lower_mad(l);
}

void zs_eu_lower_mac(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *plain = rewrite(l);

    unsigned type = src_type(l, 0);
    if ((type == ZS_TYPE_F || type == ZS_TYPE_HF) && src_type(l, 1) == type && fits_acc(l)) {
        lower_mac_float(l);
        return;
    }
    if (any_float_src(l) || widest_B(l, true) > 4 || !fits_acc(l) ||
        (plain->dst.modifiers & ZS_MOD_SAT)) {
        unmodelled(l, "this form");
        return;
    }
    struct zs_eu_loc src[3], product = {zs_eu_temp(l), l->n == 1};
    load_with_acc(l, src);
    zs_eu_emit_row(l, ZS_EU_ROW_MUL_64, product.at, src + 1, 2, true);
    src[1] = product;
    zs_eu_compute(l, ZS_EU_ROW_ADD_64, ZS_TYPE_Q, src, 2);
}
