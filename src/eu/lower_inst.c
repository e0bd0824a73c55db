/* SPDX-License-Identifier: MIT */
/* Which rows compute what an opcode says, in which execution type. */
#include "eu/lower.h"

#include <string.h>

/* ---- execution types ---- */

static unsigned size_of(unsigned type)
{
    return zs_gen9_type_size_B((enum zs_gen9_type)type);
}

/* Register type that an operand's values have: packed immediates are words and floats. */
static unsigned value_type(const struct zs_gen9_operand *op)
{
    return op->type == ZS_GEN9_V    ? ZS_GEN9_W
           : op->type == ZS_GEN9_UV ? ZS_GEN9_UW
           : op->type == ZS_GEN9_VF ? ZS_GEN9_F
                                    : op->type;
}

static unsigned src_type(const struct zs_eu_lowering *l, unsigned i)
{
    return value_type(&l->inst->src[i]);
}

static bool any_src(const struct zs_eu_lowering *l, unsigned type)
{
    for (unsigned i = 0; i < l->inst->src_count; i++)
        if (src_type(l, i) == type)
            return true;
    return false;
}

static bool any_float_src(const struct zs_eu_lowering *l)
{
    return any_src(l, ZS_GEN9_F) || any_src(l, ZS_GEN9_DF) || any_src(l, ZS_GEN9_HF);
}

/* F for halves too: they are computed in single and rounded once more (which is harmless). */
static unsigned float_type(const struct zs_eu_lowering *l)
{
    return any_src(l, ZS_GEN9_DF) ? ZS_GEN9_DF : ZS_GEN9_F;
}

/* Widest integer size among the sources, and the destination if it is an integer. */
static unsigned widest_B(const struct zs_eu_lowering *l, bool with_dst)
{
    unsigned widest = with_dst ? size_of(l->inst->dst.type) : 0;

    for (unsigned i = 0; i < l->inst->src_count; i++)
        widest = ZS_MAX(widest, size_of(src_type(l, i)));
    return widest;
}

static bool dst_is_float(const struct zs_eu_lowering *l)
{
    return zs_eu_type_is_float(l->inst->dst.type);
}

static bool dst_is_acc(const struct zs_eu_lowering *l)
{
    const struct zs_gen9_operand *dst = &l->inst->dst;
    return dst->file == ZS_GEN9_FILE_ARF && !dst->indirect && (dst->reg & 0xf0) == ZS_GEN9_ARF_ACC;
}

/* A copy of the instruction to change: what is stored differs from what is computed. */
static struct zs_gen9_inst *rewrite(struct zs_eu_lowering *l)
{
    if (l->inst != &l->rewritten)
        l->rewritten = *l->inst;
    l->inst = &l->rewritten;
    return &l->rewritten;
}

static bool unmodelled(struct zs_eu_lowering *l, const char *what)
{
    return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: %s is not modelled", l->inst->mnemonic,
                        what);
}

/*
 * Type in which an integer operation is done whose low bits depend on the sources' low bits only.
 * What looks at the whole result (saturation, conditional modifier, the accumulator, a wider
 * destination) is done on 64 bits, which hold every sum and product of 32-bit values.
 */
static unsigned modular_type(const struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    unsigned widest = widest_B(l, true);

    if (widest == 8 || inst->saturate || inst->cond || inst->acc_write || dst_is_acc(l) ||
        dst_is_float(l))
        return ZS_GEN9_Q;
    return widest <= 2 ? ZS_GEN9_W : ZS_GEN9_D;
}

/* The same for bitwise operations, which have no carry into higher bits. */
static unsigned bitwise_type(const struct zs_eu_lowering *l)
{
    unsigned widest = widest_B(l, true);

    if (widest == 8 || dst_is_acc(l))
        return ZS_GEN9_Q;
    /* a modifier looks at all 32 bits */
    return widest <= 2 && !l->inst->cond ? ZS_GEN9_W : ZS_GEN9_D;
}

/* Type that holds the values of both sources, for comparisons. INVALID: there is none. */
static unsigned common_type(const struct zs_eu_lowering *l)
{
    bool any_signed = false, big_unsigned = false, quad_unsigned = false, quad = false;

    for (unsigned i = 0; i < 2; i++) {
        const struct zs_gen9_operand *op = &l->inst->src[i];
        unsigned type = src_type(l, i);
        bool is_signed = zs_eu_type_is_signed(type) || (op->neg && op->file != ZS_GEN9_FILE_IMM);
        if (op->file == ZS_GEN9_FILE_IMM && is_signed && type != ZS_GEN9_Q) {
            /* a non-negative immediate fits both */
            bool negative =
                type == ZS_GEN9_W ? (op->imm & 0x8000) != 0 : (op->imm & 0x80000000) != 0;
            is_signed = negative || op->type == ZS_GEN9_V;
        }
        any_signed |= is_signed;
        big_unsigned |= type == ZS_GEN9_UD;
        quad_unsigned |= type == ZS_GEN9_UQ;
        quad |= size_of(type) == 8 || (type == ZS_GEN9_D && (op->neg || op->abs));
    }
    if (quad_unsigned)
        return any_signed ? ZS_GEN9_TYPE_INVALID : ZS_GEN9_UQ;
    if (quad || (any_signed && big_unsigned))
        return ZS_GEN9_Q;
    return big_unsigned ? ZS_GEN9_UD : ZS_GEN9_D;
}

static void load_all(struct zs_eu_lowering *l, unsigned type, enum zs_eu_modifiers mods,
                     struct zs_eu_loc *ret)
{
    for (unsigned i = 0; i < l->inst->src_count; i++)
        ret[i] = zs_eu_load(l, i, type, mods);
}

/* Pick a row by the width of an integer type. */
static enum zs_eu_row by_width(unsigned type, enum zs_eu_row r16, enum zs_eu_row r32,
                               enum zs_eu_row r64)
{
    return size_of(type) == 8 ? r64 : size_of(type) == 4 ? r32 : r16;
}

#define BY_WIDTH(type, NAME)                                                                       \
    by_width((type), ZS_EU_ROW_##NAME##_16, ZS_EU_ROW_##NAME##_32, ZS_EU_ROW_##NAME##_64)

/* ---- moves ---- */

static void lower_mov(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    const struct zs_gen9_operand *src = &inst->src[0];
    unsigned from = src_type(l, 0), to = inst->dst.type;
    bool modified = src->abs || src->neg;

    if (from == ZS_GEN9_UQ && src->neg && src->file != ZS_GEN9_FILE_IMM &&
        (inst->cond || inst->saturate || zs_eu_type_is_float(to))) {
        unmodelled(l, "the exact value of a negated uq");
        return;
    }
    if (modified && from != ZS_GEN9_UQ && !zs_eu_type_is_float(from)) /* the exact value first */
        from = zs_eu_type_is_float(to) || inst->saturate || size_of(to) == 8 ||
                       size_of(from) == 8 || inst->cond
                   ? ZS_GEN9_Q
                   : ZS_GEN9_D;
    else if (src->file == ZS_GEN9_FILE_IMM && !zs_eu_type_is_float(from) &&
             !zs_eu_type_is_float(to) && !inst->saturate && !inst->cond)
        from = to; /* sign-extended already */
    struct zs_eu_loc value = zs_eu_load(l, 0, from, ZS_EU_MOD_ARITH);
    if (from == to || (size_of(from) == size_of(to) && !inst->saturate &&
                       !zs_eu_type_is_float(from) && !zs_eu_type_is_float(to)))
        zs_eu_compute(l, zs_eu_move_row(to), inst->cond ? from : to, &value, 1);
    else
        zs_eu_store(l, value, from);
}

/* A mov of the channels whose bits are set in src1. */
static void lower_smov(struct zs_eu_lowering *l)
{
    if (l->inst->src[1].file != ZS_GEN9_FILE_IMM || l->inst->src[1].type != ZS_GEN9_UW ||
        l->n > 16) {
        unmodelled(l, "a mask that is no immediate");
        return;
    }
    struct zs_gen9_inst *plain = rewrite(l);
    l->lanes = (uint32_t)plain->src[1].imm;
    plain->src_count = 1;
    lower_mov(l);
}

static const enum zs_eu_row sel_rows[4] = {ZS_EU_ROW_SEL_8, ZS_EU_ROW_SEL_16, ZS_EU_ROW_SEL_32,
                                           ZS_EU_ROW_SEL_64};

/* All channels by the lowering's predicate into a temporary. */
static struct zs_eu_loc emit_chosen(struct zs_eu_lowering *l, unsigned type,
                                    const struct zs_eu_loc *src)
{
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op =
        zs_eu_emit_row(l, sel_rows[__builtin_ctz(size_of(type))], at, src, 2, false);

    op->predicate = l->predicate;
    op->pred_shift = l->pred_shift;
    op->pred_xor = l->pred_xor;
    return (struct zs_eu_loc){at, l->n == 1};
}

/* The predicate of sel chooses; all enabled channels are written. */
static void emit_sel(struct zs_eu_lowering *l, unsigned type, const struct zs_eu_loc *src)
{
    struct zs_eu_loc result = emit_chosen(l, type, src);

    l->predicate = (uint16_t)ZS_EU_OFFSET(all_ones);
    l->pred_shift = 0;
    l->pred_xor = 0;
    zs_eu_store(l, result, type);
}

/* Packed destination of the same type: one operation. */
static bool direct_sel(struct zs_eu_lowering *l, unsigned type, const struct zs_eu_loc *src)
{
    const struct zs_gen9_operand *dst = &l->inst->dst;
    uint32_t at = ZS_EU_OFFSET(grf) + dst->reg * (uint32_t)ZS_EU_GRF_B + dst->subreg_B;
    unsigned size_B = size_of(type);

    if (dst->file != ZS_GEN9_FILE_GRF || dst->indirect || size_of(dst->type) != size_B ||
        zs_eu_type_is_float(dst->type) != zs_eu_type_is_float(type) || l->inst->saturate ||
        (l->n > 1 && dst->hstride != 1) || (l->params->flags & ZS_EU_LOWER_GENERAL) ||
        at + l->n * size_B > ZS_EU_OFFSET(grf) + ZS_EU_GRF_FILE_B)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!src[i].scalar && l->n > 8 && src[i].at != at && src[i].at < at + l->n * size_B &&
            at < src[i].at + l->n * size_B)
            return false;
    zs_eu_emit_row(l, sel_rows[__builtin_ctz(size_B)], at, src, 2, true);
    return true;
}

/* (src0 cond src1) ? src0 : src1, the flag is not written. */
static void sel_by_compare(struct zs_eu_lowering *l, unsigned type, const struct zs_eu_loc *src)
{
    enum zs_eu_row row = zs_eu_cmp_row(l->inst->cond, type);
    uint16_t pred = l->predicate;
    uint8_t shift = l->pred_shift;
    uint32_t xor = l->pred_xor, bits = zs_eu_temp(l);

    if (row == ZS_EU_ROW_NONE) {
        unmodelled(l, "this conditional modifier");
        return;
    }
    zs_eu_emit_row(l, row, ZS_EU_OFFSET(sink), src, 2, false)->flag = (uint16_t)bits;
    rewrite(l)->cond = 0;
    l->predicate = (uint16_t)bits;
    l->pred_shift = 0;
    l->pred_xor = 0;
    struct zs_eu_loc result = emit_chosen(l, type, src);
    l->predicate = pred;
    l->pred_shift = shift;
    l->pred_xor = xor;
    zs_eu_store(l, result, type);
}

static void lower_min_max(struct zs_eu_lowering *l, unsigned type, const struct zs_eu_loc *src)
{
    static const struct {
        unsigned type;
        enum zs_eu_row min, max;
    } rows[] = {
        {ZS_GEN9_D, ZS_EU_ROW_MIN_S32, ZS_EU_ROW_MAX_S32},
        {ZS_GEN9_UD, ZS_EU_ROW_MIN_U32, ZS_EU_ROW_MAX_U32},
        {ZS_GEN9_Q, ZS_EU_ROW_MIN_S64, ZS_EU_ROW_MAX_S64},
        {ZS_GEN9_UQ, ZS_EU_ROW_MIN_U64, ZS_EU_ROW_MAX_U64},
        {ZS_GEN9_F, ZS_EU_ROW_MIN_F32, ZS_EU_ROW_MAX_F32},
        {ZS_GEN9_DF, ZS_EU_ROW_MIN_F64, ZS_EU_ROW_MAX_F64},
    };
    unsigned cond = l->inst->cond;

    if (cond != ZS_GEN9_COND_LT && cond != ZS_GEN9_COND_GE) {
        sel_by_compare(l, type, src);
        return;
    }
    rewrite(l)->cond = 0; /* the flag is not written */
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].type == type)
            zs_eu_compute(l, cond == ZS_GEN9_COND_LT ? rows[i].min : rows[i].max, type, src, 2);
}

static void lower_sel(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    struct zs_eu_loc src[2];
    unsigned type;

    if (any_float_src(l))
        type = float_type(l);
    else if (inst->cond)
        type = common_type(l);
    else
        type = inst->saturate ? ZS_GEN9_Q : bitwise_type(l);
    if (!inst->cond && src_type(l, 0) == inst->dst.type && src_type(l, 1) == inst->dst.type &&
        size_of(inst->dst.type) > 1)
        type = inst->dst.type; /* halves as they are */
    if (type == ZS_GEN9_TYPE_INVALID) {
        unmodelled(l, "uq against a signed type");
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    if (l->failed)
        return;
    if (inst->cond)
        lower_min_max(l, type, src);
    else if (inst->pred == ZS_GEN9_PRED_NONE)
        unmodelled(l, "no predicate and no conditional modifier");
    else if (!direct_sel(l, type, src))
        emit_sel(l, type, src);
}

/* ---- bits ---- */

static void lower_logic(struct zs_eu_lowering *l)
{
    unsigned type = bitwise_type(l);
    struct zs_eu_loc src[2];
    enum zs_eu_row row = l->inst->opcode == ZS_GEN9_AND   ? BY_WIDTH(type, AND)
                         : l->inst->opcode == ZS_GEN9_OR  ? BY_WIDTH(type, OR)
                         : l->inst->opcode == ZS_GEN9_XOR ? BY_WIDTH(type, XOR)
                                                          : BY_WIDTH(type, NOT);

    if (any_float_src(l) || dst_is_float(l)) {
        unmodelled(l, "a float operand");
        return;
    }
    load_all(l, type, ZS_EU_MOD_LOGIC, src);
    zs_eu_compute(l, row, type, src, l->inst->src_count);
}

static void lower_shift(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    bool wide = widest_B(l, true) == 8 || inst->saturate || dst_is_acc(l);
    unsigned type = wide ? ZS_GEN9_Q : ZS_GEN9_D;
    bool is_signed = zs_eu_type_is_signed(src_type(l, 0));
    enum zs_eu_row row;
    struct zs_eu_loc src[2];

    if (any_float_src(l) || dst_is_float(l) || (inst->saturate && inst->opcode == ZS_GEN9_SHL)) {
        unmodelled(l, "this form");
        return;
    }
    if (inst->opcode == ZS_GEN9_SHL)
        row = wide ? ZS_EU_ROW_SHL_64 : ZS_EU_ROW_SHL_32;
    else if (inst->opcode == ZS_GEN9_ASR && is_signed)
        row = wide ? ZS_EU_ROW_ASR_64 : ZS_EU_ROW_ASR_32;
    else
        row = wide ? ZS_EU_ROW_SHR_64 : ZS_EU_ROW_SHR_32;
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, row, type, src, 2);
}

/* Operations on 32-bit values that give one; the table says on which signedness. */
static void lower_bits(struct zs_eu_lowering *l)
{
    static const struct {
        uint8_t opcode;
        enum zs_eu_row plain, if_signed;
    } rows[] = {
        {ZS_GEN9_BFREV, ZS_EU_ROW_BFREV_32, ZS_EU_ROW_BFREV_32},
        {ZS_GEN9_LZD, ZS_EU_ROW_LZD_32, ZS_EU_ROW_LZD_32},
        {ZS_GEN9_FBH, ZS_EU_ROW_FBH_U32, ZS_EU_ROW_FBH_S32},
        {ZS_GEN9_FBL, ZS_EU_ROW_FBL_32, ZS_EU_ROW_FBL_32},
        {ZS_GEN9_CBIT, ZS_EU_ROW_CBIT_32, ZS_EU_ROW_CBIT_32},
        {ZS_GEN9_BFE, ZS_EU_ROW_BFE_U32, ZS_EU_ROW_BFE_S32},
        {ZS_GEN9_BFI1, ZS_EU_ROW_BFI1_32, ZS_EU_ROW_BFI1_32},
        {ZS_GEN9_BFI2, ZS_EU_ROW_BFI2_32, ZS_EU_ROW_BFI2_32},
    };
    struct zs_eu_loc src[3];
    /* bfe takes its signedness from the field, the others from their first source */
    unsigned type = src_type(l, l->inst->src_count == 3 ? 2 : 0);

    if (any_float_src(l) || widest_B(l, true) > 4 || dst_is_float(l)) {
        unmodelled(l, "an operand that is no 32-bit integer");
        return;
    }
    load_all(l, ZS_GEN9_UD, ZS_EU_MOD_ARITH, src);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].opcode == l->inst->opcode)
            zs_eu_compute(l, zs_eu_type_is_signed(type) ? rows[i].if_signed : rows[i].plain,
                          ZS_GEN9_UD, src, l->inst->src_count);
}

/* ---- comparison ---- */

/* The flag must be written after a predicated destination: the predicate may be the same flag. */
static void cmp_with_dst(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                         const struct zs_eu_loc *src)
{
    const struct zs_gen9_inst *inst = l->inst;
    struct zs_gen9_inst *plain = rewrite(l);
    uint32_t at = zs_eu_temp(l), bits = zs_eu_temp(l);
    /* all ones and zeros convert to any integer type by their sign */
    unsigned mask_type = size_of(type) == 8 ? ZS_GEN9_Q : ZS_GEN9_D;

    struct zs_eu_op *op = zs_eu_emit_row(l, row, at, src, 2, false);
    op->arg = 1;
    op->flag = (uint16_t)bits;
    plain->cond = 0;
    /* a float destination gets the same bits */
    plain->dst.type = size_of(inst->dst.type) == 8   ? ZS_GEN9_Q
                      : size_of(inst->dst.type) == 4 ? ZS_GEN9_D
                      : size_of(inst->dst.type) == 2 ? ZS_GEN9_W
                                                     : ZS_GEN9_B;
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1}, mask_type);
    l->inst = inst;
    op = zs_eu_emit(l, zs_eu_op_flag_copy);
    op->src[0] = bits;
    zs_eu_mask(l, op);
    zs_eu_flag_target(l, op);
}

static void lower_cmp(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    unsigned type = any_float_src(l) ? float_type(l) : common_type(l);
    enum zs_eu_row row = zs_eu_cmp_row(inst->cond, type);
    struct zs_eu_loc src[2];

    if (inst->opcode == ZS_GEN9_CMPN &&
        (zs_eu_type_is_float(type) || inst->cond == ZS_GEN9_COND_UN)) {
        unmodelled(l, "cmpn of floats");
        return;
    }
    if (row == ZS_EU_ROW_NONE || inst->saturate || inst->acc_write) {
        unmodelled(l, "this combination of types and conditional modifier");
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    if (l->failed)
        return;
    if (zs_eu_dst_is_null(inst))
        zs_eu_flag_target(l, zs_eu_emit_row(l, row, ZS_EU_OFFSET(sink), src, 2, true));
    else
        cmp_with_dst(l, row, type, src);
}

static void lower_csel(struct zs_eu_lowering *l)
{
    static const enum zs_eu_row rows[7] = {
        0,
        ZS_EU_ROW_CSEL_EQ_F32,
        ZS_EU_ROW_CSEL_NE_F32,
        ZS_EU_ROW_CSEL_GT_F32,
        ZS_EU_ROW_CSEL_GE_F32,
        ZS_EU_ROW_CSEL_LT_F32,
        ZS_EU_ROW_CSEL_LE_F32,
    };
    struct zs_eu_loc src[3];
    unsigned cond = l->inst->cond;

    if (float_type(l) != ZS_GEN9_F || !any_src(l, ZS_GEN9_F) || cond < 1 || cond > 6) {
        unmodelled(l, "this type or conditional modifier");
        return;
    }
    load_all(l, ZS_GEN9_F, ZS_EU_MOD_ARITH, src);
    rewrite(l)->cond = 0; /* it chooses, no flag is written */
    zs_eu_compute(l, rows[cond], ZS_GEN9_F, src, 3);
}

/* ---- arithmetic ---- */

static bool negated(const struct zs_eu_lowering *l, unsigned i)
{
    const struct zs_gen9_operand *op = &l->inst->src[i];
    return op->neg && op->file != ZS_GEN9_FILE_IMM;
}

/* The sign of a float source that was loaded with KEEP_NEG. */
static struct zs_eu_loc negate(struct zs_eu_lowering *l, unsigned type, struct zs_eu_loc loc)
{
    uint32_t at = zs_eu_temp(l);

    zs_eu_emit_row(l, type == ZS_GEN9_DF ? ZS_EU_ROW_NEG_F64 : ZS_EU_ROW_NEG_F32, at, &loc, 1,
                   false);
    return (struct zs_eu_loc){at, l->n == 1};
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
    bool n0 = float_sign(l, 0), n1 = float_sign(l, 1), is_double = type == ZS_GEN9_DF;
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

static void lower_add(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[2];

    if (any_float_src(l)) {
        lower_add_float(l, float_type(l));
        return;
    }
    unsigned type = modular_type(l);
    if (l->inst->saturate && widest_B(l, true) == 8) {
        bool is_unsigned = l->inst->dst.type == ZS_GEN9_UQ && src_type(l, 0) != ZS_GEN9_Q &&
                           src_type(l, 1) != ZS_GEN9_Q && !negated(l, 0) && !negated(l, 1) &&
                           !zs_eu_type_is_signed(src_type(l, 0)) &&
                           !zs_eu_type_is_signed(src_type(l, 1));
        if (any_src(l, ZS_GEN9_UQ) && !is_unsigned) {
            unmodelled(l, "saturating addition of uq and signed values");
            return;
        }
        load_all(l, ZS_GEN9_Q, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, is_unsigned ? ZS_EU_ROW_ADDSAT_U64 : ZS_EU_ROW_ADDSAT_S64,
                      is_unsigned ? ZS_GEN9_UQ : ZS_GEN9_Q, src, 2);
        return;
    }
    /* a - b without a negation of its own */
    bool sub = negated(l, 1) && !l->inst->src[1].abs;
    src[0] = zs_eu_load(l, 0, type, ZS_EU_MOD_ARITH);
    if (sub) {
        const struct zs_gen9_inst *inst = l->inst;
        rewrite(l)->src[1].neg = false;
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
    if (float_sign(l, 0) != float_sign(l, 1))
        src[1] = negate(l, type, src[1]);
    zs_eu_compute(l, type == ZS_GEN9_DF ? ZS_EU_ROW_MUL_F64 : ZS_EU_ROW_MUL_F32, type, src, 2);
}

static bool plain_source(const struct zs_eu_lowering *l, unsigned i)
{
    const struct zs_gen9_operand *op = &l->inst->src[i];
    return op->file == ZS_GEN9_FILE_IMM || (!op->abs && !op->neg);
}

/* Both sources fit a 32-bit type of one signedness: a widening multiply will do. */
static unsigned widening_type(const struct zs_eu_lowering *l)
{
    if (!plain_source(l, 0) || !plain_source(l, 1) || widest_B(l, false) > 4)
        return ZS_GEN9_TYPE_INVALID;
    unsigned type = common_type(l);
    return type == ZS_GEN9_Q ? ZS_GEN9_TYPE_INVALID : type;
}

static void lower_mul(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[2];

    if (any_float_src(l)) {
        lower_mul_float(l, float_type(l));
        return;
    }
    unsigned type = modular_type(l), narrow = widening_type(l);
    bool whole = l->inst->saturate || l->inst->cond; /* all bits of the product matter */
    if (whole && (widest_B(l, false) == 8 ||
                  (narrow == ZS_GEN9_TYPE_INVALID && src_type(l, 0) == ZS_GEN9_UD &&
                   src_type(l, 1) == ZS_GEN9_UD))) {
        unmodelled(l, "a product of more than 64 bits");
        return;
    }
    if (type == ZS_GEN9_Q && narrow != ZS_GEN9_TYPE_INVALID) {
        load_all(l, narrow, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, narrow == ZS_GEN9_UD ? ZS_EU_ROW_MULW_U32 : ZS_EU_ROW_MULW_S32,
                      /* an unsigned product may not fit q: it matters for clamping */
                      narrow == ZS_GEN9_UD ? ZS_GEN9_UQ : ZS_GEN9_Q, src, 2);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, BY_WIDTH(type, MUL), type, src, 2);
}

static void lower_avg(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[2];

    if (any_float_src(l) || dst_is_float(l) || widest_B(l, true) == 8) {
        unmodelled(l, "this type");
        return;
    }
    load_all(l, ZS_GEN9_Q, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, ZS_EU_ROW_AVG_64, ZS_GEN9_Q, src, 2);
}

static void lower_mad(struct zs_eu_lowering *l)
{
    static const enum zs_eu_row rows[2][4] = {
        {ZS_EU_ROW_MAD_F32, ZS_EU_ROW_MAD_NEG0_F32, ZS_EU_ROW_MAD_NEG1_F32,
         ZS_EU_ROW_MAD_NEG01_F32},
        {ZS_EU_ROW_MAD_F64, ZS_EU_ROW_MAD_NEG0_F64, ZS_EU_ROW_MAD_NEG1_F64,
         ZS_EU_ROW_MAD_NEG01_F64},
    };
    struct zs_eu_loc src[3];
    unsigned type = float_type(l);
    bool half = !any_src(l, ZS_GEN9_F) && type == ZS_GEN9_F;

    if (!any_float_src(l)) {
        unmodelled(l, "integer multiply-add");
        return;
    }
    if (half && l->inst->dst.type == ZS_GEN9_HF && !l->inst->saturate) {
        load_all(l, ZS_GEN9_HF, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, ZS_EU_ROW_MAD_F16, ZS_GEN9_HF, src, 3);
        return;
    }
    load_all(l, type, ZS_EU_MOD_KEEP_NEG, src);
    unsigned signs = (float_sign(l, 0) ? 1u : 0) | (float_sign(l, 1) != float_sign(l, 2) ? 2u : 0);
    zs_eu_compute(l, rows[type == ZS_GEN9_DF][signs], type, src, 3);
}

static void lower_lrp(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[3];

    if (!any_src(l, ZS_GEN9_F)) {
        unmodelled(l, "a type other than f");
        return;
    }
    load_all(l, ZS_GEN9_F, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, ZS_EU_ROW_LRP_F32, ZS_GEN9_F, src, 3);
}

static bool macro_operands_are_known(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    bool known = inst->dst.mme <= ZS_GEN9_MME_NONE && l->n <= 16 && inst->align16;

    for (unsigned i = 0; i < inst->src_count; i++)
        known =
            known && inst->src[i].mme <= ZS_GEN9_MME_NONE && inst->src[i].type == inst->dst.type;
    known = known && (inst->dst.type == ZS_GEN9_F || inst->dst.type == ZS_GEN9_DF);
    return known || unmodelled(l, "this form");
}

/* An operation of a macro; its result goes to a temporary and from there where dst says. */
static struct zs_eu_op *emit_macro(struct zs_eu_lowering *l, zs_eu_op_fn *fn)
{
    unsigned type = l->inst->dst.type;
    struct zs_eu_loc src[3] = {{0, false}, {0, false}, {0, false}};

    load_all(l, type, ZS_EU_MOD_ARITH, src);
    struct zs_eu_op *op = zs_eu_emit(l, fn);
    zs_eu_mask(l, op);
    op->dst = zs_eu_temp(l);
    for (unsigned i = 0; i < 3; i++) {
        op->src[i] = src[i].at;
        op->arg |= (uint8_t)((unsigned)src[i].scalar << i);
    }
    op->arg |= type == ZS_GEN9_DF ? 8 : 0;
    return op;
}

/* Only where the lanes of a macro do not leave it early (see lower_math_macro). */
static void lower_madm(struct zs_eu_lowering *l)
{
    struct zs_gen9_inst *plain = rewrite(l);
    uint32_t aux = (uint32_t)plain->dst.mme << 12;

    plain->acc_write = false;
    if (!macro_operands_are_known(l))
        return;
    for (unsigned i = 0; i < 3; i++) {
        struct zs_gen9_operand *src = &plain->src[i];
        aux |= (uint32_t)src->mme << 4 * i;
        if (src->mme == ZS_GEN9_MME_NONE)
            continue;
        aux |= (uint32_t)src->abs << (16 + i) | (uint32_t)src->neg << (20 + i);
        src->abs = src->neg = false;
    }
    struct zs_eu_op *op = emit_macro(l, zs_eu_op_madm);
    op->aux = aux;
    zs_eu_store(l, (struct zs_eu_loc){op->dst, l->n == 1}, plain->dst.type);
}

static void lower_round(struct zs_eu_lowering *l)
{
    enum zs_eu_row row = l->inst->opcode == ZS_GEN9_RNDU   ? ZS_EU_ROW_RNDU_F32
                         : l->inst->opcode == ZS_GEN9_RNDD ? ZS_EU_ROW_RNDD_F32
                         : l->inst->opcode == ZS_GEN9_RNDE ? ZS_EU_ROW_RNDE_F32
                         : l->inst->opcode == ZS_GEN9_RNDZ ? ZS_EU_ROW_RNDZ_F32
                                                           : ZS_EU_ROW_FRC_F32;
    struct zs_eu_loc src;

    if (src_type(l, 0) != ZS_GEN9_F) {
        unmodelled(l, "a type other than f");
        return;
    }
    src = zs_eu_load(l, 0, ZS_GEN9_F, ZS_EU_MOD_ARITH);
    zs_eu_compute(l, row, ZS_GEN9_F, &src, 1);
}

/* ---- accumulator ---- */

static void lower_carry(struct zs_eu_lowering *l)
{
    struct zs_gen9_inst *plain = rewrite(l);
    struct zs_eu_loc src[2];

    if (src_type(l, 0) != ZS_GEN9_UD || src_type(l, 1) != ZS_GEN9_UD || l->n > 16 ||
        !plain_source(l, 0) || !plain_source(l, 1) || plain->saturate) {
        unmodelled(l, "a source that is not plain ud");
        return;
    }
    load_all(l, ZS_GEN9_UD, ZS_EU_MOD_ARITH, src);
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op =
        zs_eu_emit(l, plain->opcode == ZS_GEN9_ADDC ? zs_eu_op_addc : zs_eu_op_subb);
    op->dst = at;
    op->src[0] = src[0].at;
    op->src[1] = src[1].at;
    op->arg = (uint8_t)(src[0].scalar | src[1].scalar << 1);
    zs_eu_mask(l, op);
    plain->acc_write = false; /* done: the carry is there */
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1}, ZS_GEN9_UD);
}

/* mach and mac: on 64-bit sources, the accumulator as the addend. */
static void lower_mach(struct zs_eu_lowering *l)
{
    struct zs_gen9_inst *plain = rewrite(l);
    bool is_mach = plain->opcode == ZS_GEN9_MACH;
    struct zs_eu_loc src[2];

    if (any_float_src(l) || widest_B(l, true) > 4 || l->n > 16 || plain->saturate) {
        unmodelled(l, "this form");
        return;
    }
    load_all(l, ZS_GEN9_Q, ZS_EU_MOD_ARITH, src);
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op = zs_eu_emit(l, is_mach ? zs_eu_op_mach : zs_eu_op_mac);
    op->dst = at;
    op->src[0] = src[0].at;
    op->src[1] = src[1].at;
    op->arg = (uint8_t)(src[0].scalar | src[1].scalar << 1);
    zs_eu_mask(l, op);
    if (is_mach)
        plain->acc_write = false; /* done */
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1},
                !is_mach                       ? ZS_GEN9_Q
                : plain->dst.type == ZS_GEN9_D ? ZS_GEN9_D
                                               : ZS_GEN9_UD);
}

/* ---- math ---- */

static void lower_idiv(struct zs_eu_lowering *l, enum zs_eu_row quotient, enum zs_eu_row remainder,
                       unsigned type)
{
    const struct zs_gen9_inst *inst = l->inst;
    struct zs_eu_loc src[2], result[2];

    load_all(l, type, ZS_EU_MOD_ARITH, src);
    if (l->failed)
        return;
    result[0] = (struct zs_eu_loc){zs_eu_temp(l), l->n == 1};
    result[1] = (struct zs_eu_loc){zs_eu_temp(l), l->n == 1};
    zs_eu_emit_row(l, quotient, result[0].at, src, 2, false);
    zs_eu_emit_row(l, remainder, result[1].at, src, 2, false);
    zs_eu_store(l, result[0], type);
    /* eight lanes of dwords: the next register */
    if (l->n > 8 || inst->dst.reg == ZS_EU_GRF_COUNT - 1 || inst->dst.file != ZS_GEN9_FILE_GRF) {
        unmodelled(l, "this destination");
        return;
    }
    rewrite(l)->dst.reg++;
    zs_eu_store(l, result[1], type);
}

static void lower_math_integer(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    /* d by d is signed; one unsigned source makes both unsigned */
    bool s = zs_eu_type_is_signed(src_type(l, 0)) && zs_eu_type_is_signed(src_type(l, 1));
    unsigned type = s ? ZS_GEN9_D : ZS_GEN9_UD;
    enum zs_eu_row quotient = s ? ZS_EU_ROW_IQOT_S32 : ZS_EU_ROW_IQOT_U32;
    enum zs_eu_row remainder = s ? ZS_EU_ROW_IREM_S32 : ZS_EU_ROW_IREM_U32;
    struct zs_eu_loc src[2];

    if (any_float_src(l) || widest_B(l, true) > 4) {
        unmodelled(l, "integer division of this type");
        return;
    }
    if (inst->function == ZS_GEN9_MATH_IDIV) {
        lower_idiv(l, quotient, remainder, type);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, inst->function == ZS_GEN9_MATH_IQOT ? quotient : remainder, type, src, 2);
}

/*
 * Whether the macro behind a math.invm or math.rsqtm is left by lanes whose flag is set: a branch
 * on the flag, or madms under its inverse. All that the compiler emits is.
 */
static bool macro_is_left_early(const struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *seed = l->inst;
    const struct zs_eu_program *p = l->program;
    struct zs_gen9_inst next;

    for (uint32_t i = l->index + 1; i < p->inst_count && i < l->index + 32; i++) {
        zs_gen9_decode(l->params->code, p->insts[i].offset_B, &next);
        bool same_flag = next.pred == ZS_GEN9_PRED_SEQ && next.flag_reg == seed->flag_reg &&
                         next.flag_subreg == seed->flag_subreg;
        if (next.opcode == ZS_GEN9_MADM)
            return same_flag && next.pred_inverse;
        if (same_flag &&
            (next.format == ZS_GEN9_FORMAT_BRANCH || next.format == ZS_GEN9_FORMAT_BRANCH2))
            return true;
    }
    return true;
}

static void lower_macro_seed(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;

    if (!macro_operands_are_known(l))
        return;
    struct zs_eu_op *op = emit_macro(l, zs_eu_op_macro_seed);
    uint32_t result = op->dst;
    op->aux = inst->dst.mme | (inst->function == ZS_GEN9_MATH_RSQTM ? 16u : 0);
    zs_eu_flag_target(l, op);
    zs_eu_store(l, (struct zs_eu_loc){result, l->n == 1}, inst->dst.type);
}

/* The final result at once, and the flag that makes every lane leave the macro. */
static void lower_math_macro(struct zs_eu_lowering *l)
{
    const struct zs_gen9_inst *inst = l->inst;
    bool divide = inst->function == ZS_GEN9_MATH_INVM, early = macro_is_left_early(l);
    unsigned type = float_type(l);
    bool is_double = type == ZS_GEN9_DF;
    struct zs_eu_loc src[2];
    struct zs_gen9_inst *plain = rewrite(l);

    plain->acc_write = false;
    for (unsigned i = 0; i < 2; i++) { /* Align16: packed registers */
        plain->src[i].vstride = plain->src[i].width = 1;
        plain->src[i].hstride = 1;
        plain->src[i].width = 1;
    }
    if ((src_type(l, 0) != ZS_GEN9_F && src_type(l, 0) != ZS_GEN9_DF) || !inst->align16) {
        unmodelled(l, "this form");
        return;
    }
    if (!early) {
        lower_macro_seed(l);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l,
                  divide ? (is_double ? ZS_EU_ROW_DIV_F64 : ZS_EU_ROW_FDIV_F32)
                         : (is_double ? ZS_EU_ROW_SQT_F64 : ZS_EU_ROW_SQT_F32),
                  type, src, plain->src_count);
    if (l->failed)
        return;
    struct zs_eu_op *op = zs_eu_emit(l, zs_eu_op_flag_ones);
    zs_eu_mask(l, op);
    zs_eu_flag_target(l, op);
}

static void lower_math(struct zs_eu_lowering *l)
{
    static const enum zs_eu_row rows[16] = {
        [ZS_GEN9_MATH_INV] = ZS_EU_ROW_INV_F32,   [ZS_GEN9_MATH_LOG] = ZS_EU_ROW_LOG_F32,
        [ZS_GEN9_MATH_EXP] = ZS_EU_ROW_EXP_F32,   [ZS_GEN9_MATH_SQT] = ZS_EU_ROW_SQT_F32,
        [ZS_GEN9_MATH_RSQT] = ZS_EU_ROW_RSQT_F32, [ZS_GEN9_MATH_SIN] = ZS_EU_ROW_SIN_F32,
        [ZS_GEN9_MATH_COS] = ZS_EU_ROW_COS_F32,   [ZS_GEN9_MATH_FDIV] = ZS_EU_ROW_FDIV_F32,
        [ZS_GEN9_MATH_POW] = ZS_EU_ROW_POW_F32,
    };
    const struct zs_gen9_inst *inst = l->inst;
    struct zs_eu_loc src[2];

    if (inst->macro) {
        lower_math_macro(l);
    } else if (!rows[inst->function]) {
        lower_math_integer(l);
    } else {
        if (!any_float_src(l) || any_src(l, ZS_GEN9_DF)) {
            unmodelled(l, "this type");
            return;
        }
        load_all(l, ZS_GEN9_F, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, rows[inst->function], ZS_GEN9_F, src, l->inst->src_count);
    }
}

static void lower_nop(struct zs_eu_lowering *l)
{
    (void)l;
}

/* ---- the table ---- */

static void (*const lower_table[128])(struct zs_eu_lowering *l) = {
    [ZS_GEN9_MOV] = lower_mov,    [ZS_GEN9_SMOV] = lower_smov,  [ZS_GEN9_SEL] = lower_sel,
    [ZS_GEN9_NOT] = lower_logic,  [ZS_GEN9_AND] = lower_logic,  [ZS_GEN9_OR] = lower_logic,
    [ZS_GEN9_XOR] = lower_logic,  [ZS_GEN9_SHR] = lower_shift,  [ZS_GEN9_SHL] = lower_shift,
    [ZS_GEN9_ASR] = lower_shift,  [ZS_GEN9_CMP] = lower_cmp,    [ZS_GEN9_CMPN] = lower_cmp,
    [ZS_GEN9_CSEL] = lower_csel,  [ZS_GEN9_BFREV] = lower_bits, [ZS_GEN9_BFE] = lower_bits,
    [ZS_GEN9_BFI1] = lower_bits,  [ZS_GEN9_BFI2] = lower_bits,  [ZS_GEN9_LZD] = lower_bits,
    [ZS_GEN9_FBH] = lower_bits,   [ZS_GEN9_FBL] = lower_bits,   [ZS_GEN9_CBIT] = lower_bits,
    [ZS_GEN9_MATH] = lower_math,  [ZS_GEN9_ADD] = lower_add,    [ZS_GEN9_MUL] = lower_mul,
    [ZS_GEN9_AVG] = lower_avg,    [ZS_GEN9_FRC] = lower_round,  [ZS_GEN9_RNDU] = lower_round,
    [ZS_GEN9_RNDD] = lower_round, [ZS_GEN9_RNDE] = lower_round, [ZS_GEN9_RNDZ] = lower_round,
    [ZS_GEN9_MAC] = lower_mach,   [ZS_GEN9_MACH] = lower_mach,  [ZS_GEN9_ADDC] = lower_carry,
    [ZS_GEN9_SUBB] = lower_carry, [ZS_GEN9_MAD] = lower_mad,    [ZS_GEN9_LRP] = lower_lrp,
    [ZS_GEN9_MADM] = lower_madm,  [ZS_GEN9_NOP] = lower_nop,
};

void zs_eu_lower_inst(struct zs_eu_lowering *l)
{
    void (*lower)(struct zs_eu_lowering *) = lower_table[l->inst->opcode];
    const struct zs_gen9_inst *inst = l->inst;

    if (lower)
        lower(l);
    else
        unmodelled(l, "this opcode");
    l->inst = inst;
}
