/* SPDX-License-Identifier: MIT */
/* Which rows compute what an opcode says, in which execution type: moves, bits, comparisons. */
#include "eu/lower/lower_inst.h"

#include <string.h>

/* ---- moves ---- */

static void lower_mov(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    const struct zs_isa_operand *src = &inst->src[0];
    unsigned from = src_type(l, 0), to = inst->dst.type;
    bool modified = (src->modifiers & ZS_MOD_ABS) || (src->modifiers & ZS_MOD_NEG);

    if ((from == ZS_TYPE_BF8 || to == ZS_TYPE_BF8) &&
        ((from != ZS_TYPE_HF && to != ZS_TYPE_HF) || modified ||
         (inst->dst.modifiers & ZS_MOD_SAT) || inst->cond)) {
        unmodelled(l, "a bf8 that is moved from or to anything but a half, or with modifiers");
        return;
    }
    if (from == ZS_TYPE_UQ && (src->modifiers & ZS_MOD_NEG) && src->kind != ZS_OPERAND_IMM &&
        ((inst->dst.modifiers & ZS_MOD_SAT) || zs_eu_type_is_float(to))) {
        if (zs_eu_type_is_float(to))
            zs_eu_exact_to_float(l);
        else
            zs_eu_exact(l, ZS_EU_EXACT_VALUE);
        return;
    }
    if (modified && !zs_eu_type_is_float(from)) {
        bool low_bits = zs_eu_type_B(to) <= 4 && !zs_eu_type_is_float(to) &&
                        !(inst->dst.modifiers & ZS_MOD_SAT) && zs_eu_type_B(from) <= 4;
        from = low_bits ? ZS_TYPE_D : zs_eu_modifier_type(src);
        if (from == ZS_TYPE_B)
            from = ZS_TYPE_W;
    } else if (src->kind == ZS_OPERAND_IMM && !zs_eu_type_is_float(from) &&
               !zs_eu_type_is_float(to) && !(inst->dst.modifiers & ZS_MOD_SAT)) {
        from = to; /* sign-extended already */
    }
    struct zs_eu_loc value = zs_eu_load(l, 0, from, ZS_EU_MOD_ARITH);
    if (from == to ||
        (zs_eu_type_B(from) == zs_eu_type_B(to) && !(inst->dst.modifiers & ZS_MOD_SAT) &&
         !zs_eu_type_is_float(from) && !zs_eu_type_is_float(to)))
        zs_eu_compute(l, zs_eu_move_row(to), to, &value, 1);
    else
        zs_eu_store(l, value, from);
}

/* A mov of the channels whose bits are set in src1. */
static void lower_smov(struct zs_eu_lowering *l)
{
    if (l->inst->src[1].kind != ZS_OPERAND_IMM || l->inst->src[1].type != ZS_TYPE_UW || l->n > 16) {
        unmodelled(l, "a mask that is no immediate");
        return;
    }
    struct zs_isa_inst *plain = rewrite(l);
    l->lanes = (uint32_t)plain->src[1].imm;
    plain->source_count = 1;
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
        zs_eu_emit_row(l, sel_rows[__builtin_ctz(zs_eu_type_B(type))], at, src, 2, false);

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
    return !(l->inst->dst.modifiers & ZS_MOD_SAT) &&
           zs_eu_compute_direct(l, sel_rows[__builtin_ctz(zs_eu_type_B(type))], type, src, 2);
}

/* A comparison chooses between two sources; no flag is written. */
static void choose_by(struct zs_eu_lowering *l, unsigned type, enum zs_eu_row row,
                      const struct zs_eu_loc *compared, const struct zs_eu_loc *src)
{
    uint16_t pred = l->predicate;
    uint8_t shift = l->pred_shift;
    uint32_t xor = l->pred_xor, bits = zs_eu_temp(l);

    zs_eu_emit_row(l, row, ZS_EU_OFFSET(sink), compared, 2, false)->flag = (uint16_t)bits;
    l->predicate = (uint16_t)bits;
    l->pred_shift = 0;
    l->pred_xor = 0;
    struct zs_eu_loc result = emit_chosen(l, type, src);
    l->predicate = pred;
    l->pred_shift = shift;
    l->pred_xor = xor;
    zs_eu_store(l, result, type);
}

/* (src0 cond src1) ? src0 : src1 */
static void sel_by_compare(struct zs_eu_lowering *l, unsigned type, const struct zs_eu_loc *src)
{
    enum zs_eu_row row = zs_eu_cmp_row(l->inst->cond, type);

    if (row == ZS_EU_ROW_NONE) {
        unmodelled(l, "this conditional modifier");
        return;
    }
    rewrite(l)->cond = 0;
    choose_by(l, type, row, src, src);
}

static void lower_min_max(struct zs_eu_lowering *l, unsigned type, const struct zs_eu_loc *src)
{
    static const struct {
        unsigned type;
        enum zs_eu_row min, max;
    } rows[] = {
        {ZS_TYPE_D, ZS_EU_ROW_MIN_S32, ZS_EU_ROW_MAX_S32},
        {ZS_TYPE_UD, ZS_EU_ROW_MIN_U32, ZS_EU_ROW_MAX_U32},
        {ZS_TYPE_Q, ZS_EU_ROW_MIN_S64, ZS_EU_ROW_MAX_S64},
        {ZS_TYPE_UQ, ZS_EU_ROW_MIN_U64, ZS_EU_ROW_MAX_U64},
        {ZS_TYPE_F, ZS_EU_ROW_MIN_F32, ZS_EU_ROW_MAX_F32},
        {ZS_TYPE_DF, ZS_EU_ROW_MIN_F64, ZS_EU_ROW_MAX_F64},
    };
    unsigned cond = l->inst->cond;

    if (cond != ZS_COND_LT && cond != ZS_COND_GE) {
        sel_by_compare(l, type, src);
        return;
    }
    rewrite(l)->cond = 0; /* the flag is not written */
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].type == type)
            zs_eu_compute(l, cond == ZS_COND_LT ? rows[i].min : rows[i].max, type, src, 2);
}

static void lower_sel(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_loc src[2];
    unsigned type;

    if (any_float_src(l))
        type = float_type(l);
    else if (inst->cond)
        type = common_type(l);
    else
        type = (inst->dst.modifiers & ZS_MOD_SAT) || (inst->flags & ZS_INST_ACCWREN)
                   ? ZS_TYPE_Q
                   : bitwise_type(l);
    if (!inst->cond && src_type(l, 0) == inst->dst.type && src_type(l, 1) == inst->dst.type &&
        zs_eu_type_B(inst->dst.type) > 1 &&
        (zs_eu_type_is_float(inst->dst.type) ||
         (!(inst->dst.modifiers & ZS_MOD_SAT) && !(inst->flags & ZS_INST_ACCWREN))))
        type = inst->dst.type;  /* halves as they are */
    if (type == ZS_TYPE_NONE) { /* uq against a signed type */
        zs_eu_exact(l, ZS_EU_EXACT_CHOOSE);
        return;
    }
    if (!inst->cond && (inst->dst.modifiers & ZS_MOD_SAT) && any_src(l, ZS_TYPE_UQ)) {
        for (unsigned i = 0; i < 2; i++)
            src[i] = zs_eu_exact_value(l, i);
        type = zs_eu_type_is_signed(inst->dst.type) ? ZS_TYPE_Q : ZS_TYPE_UQ;
    } else {
        load_all(l, type, ZS_EU_MOD_ARITH, src);
    }
    if (l->failed)
        return;
    if (inst->cond)
        lower_min_max(l, type, src);
    else if (inst->pred == ZS_PRED_NONE)
        unmodelled(l, "no predicate and no conditional modifier");
    else if (!direct_sel(l, type, src))
        emit_sel(l, type, src);
}

/* ---- bits ---- */

static void lower_logic(struct zs_eu_lowering *l)
{
    unsigned type = bitwise_type(l);
    struct zs_eu_loc src[2];
    enum zs_eu_row row = l->inst->op == ZS_OP_AND   ? BY_WIDTH(type, AND)
                         : l->inst->op == ZS_OP_OR  ? BY_WIDTH(type, OR)
                         : l->inst->op == ZS_OP_XOR ? BY_WIDTH(type, XOR)
                                                    : BY_WIDTH(type, NOT);

    if (any_float_src(l) || dst_is_float(l)) {
        unmodelled(l, "a float operand");
        return;
    }
    load_all(l, type, ZS_EU_MOD_LOGIC, src);
    zs_eu_compute(l, row, type, src, l->inst->source_count);
}

/* Of dwords where more than 32 bits of the value or the result matter: the count still has five
 * bits. */
static void lower_whole(struct zs_eu_lowering *l, enum zs_eu_row row)
{
    struct zs_eu_loc src[2], count[2];

    src[0] = zs_eu_load(l, 0, ZS_TYPE_Q, ZS_EU_MOD_ARITH);
    count[0] = zs_eu_load(l, 1, ZS_TYPE_UD, ZS_EU_MOD_ARITH);
    count[1] = zs_eu_number(l, 31); /* the five bits */
    src[1] = zs_eu_apply(l, ZS_EU_ROW_AND_32, count, 2);
    src[1] = zs_eu_convert(l, src[1], ZS_TYPE_UD, ZS_TYPE_Q, false);
    zs_eu_compute(l, row, ZS_TYPE_Q, src, 2);
}

static void lower_shift(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    bool wide = widest_B(l, true) == 8, is_shl = inst->op == ZS_OP_SHL;
    /* what is negated is signed, whatever it was */
    bool is_asr = inst->op == ZS_OP_ASR &&
                  (zs_eu_type_is_signed(src_type(l, 0)) || inst->src[0].modifiers & ZS_MOD_NEG);
    enum zs_eu_row row;
    struct zs_eu_loc src[2];

    if (any_float_src(l) || dst_is_float(l)) {
        unmodelled(l, "this form");
        return;
    }
    if ((inst->dst.modifiers & ZS_MOD_SAT) && is_shl && wide) {
        zs_eu_exact(l, ZS_EU_EXACT_SHL);
        return;
    }
    if (is_shl && !wide &&
        ((inst->dst.modifiers & ZS_MOD_SAT) || (inst->flags & ZS_INST_ACCWREN) || dst_is_acc(l))) {
        lower_whole(l, ZS_EU_ROW_SHL_64);
        return;
    }
    if (is_asr && !wide && src_type(l, 0) == ZS_TYPE_UD) { /* negated: 33 bits */
        lower_whole(l, ZS_EU_ROW_ASR_64);
        return;
    }
    if (is_shl)
        row = wide ? ZS_EU_ROW_SHL_64 : ZS_EU_ROW_SHL_32;
    else if (is_asr)
        row = wide ? ZS_EU_ROW_ASR_64 : ZS_EU_ROW_ASR_32;
    else
        row = wide ? ZS_EU_ROW_SHR_64 : ZS_EU_ROW_SHR_32;
    load_all(l, wide ? ZS_TYPE_Q : ZS_TYPE_D, ZS_EU_MOD_ARITH, src);
    bool is_signed = is_asr || (is_shl && zs_eu_type_is_signed(inst->dst.type));
    zs_eu_compute(l, row,
                  is_signed ? (wide ? ZS_TYPE_Q : ZS_TYPE_D) : (wide ? ZS_TYPE_UQ : ZS_TYPE_UD),
                  src, 2);
}

/* The width is that of the value; the count is taken modulo it. */
static void lower_rotate(struct zs_eu_lowering *l)
{
    unsigned size_B = zs_eu_type_B(src_type(l, 0));
    struct zs_eu_loc src[2];

    if (any_float_src(l) || dst_is_float(l) || size_B == 1 ||
        zs_eu_type_B(l->inst->dst.type) != size_B) {
        unmodelled(l, "this form");
        return;
    }
    unsigned type = size_B == 8 ? ZS_TYPE_UQ : size_B == 4 ? ZS_TYPE_UD : ZS_TYPE_UW;
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, l->inst->op == ZS_OP_ROL ? BY_WIDTH(type, ROL) : BY_WIDTH(type, ROR), type,
                  src, 2);
}

/* Operations on 32-bit values that give one; the table says on which signedness. */
static void lower_bits(struct zs_eu_lowering *l)
{
    static const struct {
        uint8_t opcode;
        enum zs_eu_row plain, if_signed;
    } rows[] = {
        {ZS_OP_BFREV, ZS_EU_ROW_BFREV_32, ZS_EU_ROW_BFREV_32},
        {ZS_OP_LZD, ZS_EU_ROW_LZD_32, ZS_EU_ROW_LZD_32},
        {ZS_OP_FBH, ZS_EU_ROW_FBH_U32, ZS_EU_ROW_FBH_S32},
        {ZS_OP_FBL, ZS_EU_ROW_FBL_32, ZS_EU_ROW_FBL_32},
        {ZS_OP_CBIT, ZS_EU_ROW_CBIT_32, ZS_EU_ROW_CBIT_32},
        {ZS_OP_BFE, ZS_EU_ROW_BFE_U32, ZS_EU_ROW_BFE_S32},
        {ZS_OP_BFI1, ZS_EU_ROW_BFI1_32, ZS_EU_ROW_BFI1_32},
        {ZS_OP_BFI2, ZS_EU_ROW_BFI2_32, ZS_EU_ROW_BFI2_32},
    };
    struct zs_eu_loc src[3];
    /* bfe takes its signedness from the field, the others from their first source */
    unsigned type = src_type(l, l->inst->source_count == 3 ? 2 : 0);

    /* bfrev of a float: its value as an integer, which IGC means where it reverses 16 bits; the PRM
     * gives bfrev integers only */
    bool is_value = l->inst->op == ZS_OP_BFREV && type == ZS_TYPE_F;
    if ((any_float_src(l) && !is_value) || widest_B(l, true) > 4 || dst_is_float(l)) {
        unmodelled(l, "an operand that is no 32-bit integer");
        return;
    }
    load_all(l, ZS_TYPE_UD, ZS_EU_MOD_ARITH, src);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].opcode == l->inst->op)
            zs_eu_compute(l, zs_eu_type_is_signed(type) ? rows[i].if_signed : rows[i].plain,
                          ZS_TYPE_UD, src, l->inst->source_count);
}

/* ---- comparison ---- */

/* The flag must be written after a predicated destination: the predicate may be the same flag. */
static void cmp_with_dst(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                         const struct zs_eu_loc *src)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_isa_inst *plain = rewrite(l);
    uint32_t at = zs_eu_temp(l), bits = zs_eu_temp(l);
    /* all ones and zeros convert to any integer type by their sign */
    unsigned mask_type = zs_eu_type_B(type) == 8 ? ZS_TYPE_Q : ZS_TYPE_D;

    struct zs_eu_op *op = zs_eu_emit_row(l, row, at, src, 2, false);
    op->arg = 1;
    op->flag = (uint16_t)bits;
    plain->cond = 0;
    /* a float destination gets the same bits */
    plain->dst.type = zs_eu_type_B(inst->dst.type) == 8   ? ZS_TYPE_Q
                      : zs_eu_type_B(inst->dst.type) == 4 ? ZS_TYPE_D
                      : zs_eu_type_B(inst->dst.type) == 2 ? ZS_TYPE_W
                                                          : ZS_TYPE_B;
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1}, mask_type);
    l->inst = inst;
    zs_eu_copy_flag(l, bits);
}

/* cmpn is for minima and maxima: what it says of NaNs for other conditions is not documented. */
static enum zs_eu_row cmpn_row(unsigned cond, bool is_double)
{
    if (cond == ZS_COND_LT)
        return is_double ? ZS_EU_ROW_CMPN_LT_F64 : ZS_EU_ROW_CMPN_LT_F32;
    if (cond == ZS_COND_GE)
        return is_double ? ZS_EU_ROW_CMPN_GE_F64 : ZS_EU_ROW_CMPN_GE_F32;
    return ZS_EU_ROW_NONE;
}

static void lower_cmp(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    unsigned type = any_float_src(l) ? float_type(l) : common_type(l);
    bool exact = type == ZS_TYPE_NONE; /* uq against a signed type */
    type = exact ? ZS_TYPE_Q : type;
    enum zs_eu_row row = zs_eu_cmp_row(inst->cond, type);
    struct zs_eu_loc src[2];

    if (inst->op == ZS_OP_CMPN && zs_eu_type_is_float(type))
        row = cmpn_row(inst->cond, type == ZS_TYPE_DF);
    if (row == ZS_EU_ROW_NONE || (inst->dst.modifiers & ZS_MOD_SAT) ||
        (inst->flags & ZS_INST_ACCWREN)) {
        unmodelled(l, "this combination of types and conditional modifier");
        return;
    }
    if (exact)
        zs_eu_exact_order(l, src);
    else
        load_all(l, type, ZS_EU_MOD_ARITH, src);
    if (l->failed)
        return;
    if (inst->dst.file == ZS_FILE_NULL)
        zs_eu_flag_target(l, zs_eu_emit_row(l, row, ZS_EU_OFFSET(sink), src, 2, true));
    else
        cmp_with_dst(l, row, type, src);
}

/* src2 compared with 0 chooses; neither is there a predicate, nor is a flag written. */
static void lower_csel(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[3], compared[2];
    unsigned cond = l->inst->cond, type = src_type(l, 0);

    bool alike = !memcmp(&l->inst->src[0], &l->inst->src[1], sizeof(l->inst->src[0]));
    if (alike && (!cond || (cond <= 6 && l->inst->dst.type == type && src_type(l, 2) == type))) {
        /* whatever it chooses: IGC's way round faults of pvc and of Gen12LP */
        rewrite(l)->source_count = 1;
        l->rewritten.cond = 0;
        lower_mov(l);
        return;
    }
    if (src_type(l, 1) != type || src_type(l, 2) != type || l->inst->dst.type != type || cond < 1 ||
        cond > 6 || zs_eu_type_B(type) < 2) {
        unmodelled(l, "this type or conditional modifier");
        return;
    }
    rewrite(l)->cond = 0; /* it chooses, no flag is written */
    /* halves are compared as floats, and chosen as they are */
    bool half = type == ZS_TYPE_HF;
    unsigned wide = zs_eu_type_B(type) == 2 && !half ? ZS_TYPE_D : type;
    load_all(l, wide, ZS_EU_MOD_ARITH, src);
    compared[0] = half ? zs_eu_convert(l, src[2], ZS_TYPE_HF, ZS_TYPE_F, false) : src[2];
    unsigned compared_type = half ? ZS_TYPE_F : wide;
    compared[1] = zs_eu_number(l, 0);
    choose_by(l, wide, zs_eu_cmp_row(cond, compared_type), compared, src);
}

/* ---- the table ---- */

static void lower_nop(struct zs_eu_lowering *l)
{
    (void)l;
}

static void (*const lower_table[128])(struct zs_eu_lowering *l) = {
    [ZS_OP_MOV] = lower_mov,          [ZS_OP_SMOV] = lower_smov,
    [ZS_OP_SEL] = lower_sel,          [ZS_OP_NOT] = lower_logic,
    [ZS_OP_AND] = lower_logic,        [ZS_OP_OR] = lower_logic,
    [ZS_OP_XOR] = lower_logic,        [ZS_OP_SHR] = lower_shift,
    [ZS_OP_SHL] = lower_shift,        [ZS_OP_ASR] = lower_shift,
    [ZS_OP_CMP] = lower_cmp,          [ZS_OP_CMPN] = lower_cmp,
    [ZS_OP_CSEL] = lower_csel,        [ZS_OP_BFREV] = lower_bits,
    [ZS_OP_BFE] = lower_bits,         [ZS_OP_BFI1] = lower_bits,
    [ZS_OP_BFI2] = lower_bits,        [ZS_OP_LZD] = lower_bits,
    [ZS_OP_FBH] = lower_bits,         [ZS_OP_FBL] = lower_bits,
    [ZS_OP_CBIT] = lower_bits,        [ZS_OP_MATH] = zs_eu_lower_math,
    [ZS_OP_ADD] = zs_eu_lower_add,    [ZS_OP_MUL] = zs_eu_lower_mul,
    [ZS_OP_AVG] = zs_eu_lower_avg,    [ZS_OP_FRC] = zs_eu_lower_round,
    [ZS_OP_RNDU] = zs_eu_lower_round, [ZS_OP_RNDD] = zs_eu_lower_round,
    [ZS_OP_RNDE] = zs_eu_lower_round, [ZS_OP_RNDZ] = zs_eu_lower_round,
    [ZS_OP_MAC] = zs_eu_lower_mac,    [ZS_OP_MACH] = zs_eu_lower_mach,
    [ZS_OP_ADD3] = zs_eu_lower_add3,  [ZS_OP_BFN] = zs_eu_lower_bfn,
    [ZS_OP_DP4A] = zs_eu_lower_dp4a,  [ZS_OP_MACL] = zs_eu_lower_mach,
    [ZS_OP_ROL] = lower_rotate,       [ZS_OP_ROR] = lower_rotate,
    [ZS_OP_ADDC] = zs_eu_lower_carry, [ZS_OP_SUBB] = zs_eu_lower_carry,
    [ZS_OP_MAD] = zs_eu_lower_mad,    [ZS_OP_LRP] = zs_eu_lower_lrp,
    [ZS_OP_MADM] = zs_eu_lower_madm,  [ZS_OP_NOP] = lower_nop,
    [ZS_OP_DP2] = zs_eu_lower_dp,     [ZS_OP_DP3] = zs_eu_lower_dp,
    [ZS_OP_DP4] = zs_eu_lower_dp,     [ZS_OP_DPH] = zs_eu_lower_dp,
    [ZS_OP_LINE] = zs_eu_lower_line,  [ZS_OP_PLN] = zs_eu_lower_pln,
    [ZS_OP_SAD2] = zs_eu_lower_sad,   [ZS_OP_SADA2] = zs_eu_lower_sad,
    [ZS_OP_MOVI] = zs_eu_lower_movi,  [ZS_OP_DPAS] = zs_eu_lower_dpas,
    [ZS_OP_DPASW] = zs_eu_lower_dpas, [ZS_OP_MULLH] = zs_eu_lower_mullh,
    [ZS_OP_BDPAS] = zs_eu_lower_dpas, [ZS_OP_DNSCL] = zs_eu_lower_dnscl,
    [ZS_OP_SHFL] = zs_eu_lower_shfl,  [ZS_OP_SRND] = zs_eu_lower_srnd,
};

void zs_eu_lower_inst(struct zs_eu_lowering *l)
{
    void (*lower)(struct zs_eu_lowering *) = lower_table[l->inst->op];
    const struct zs_isa_inst *inst = l->inst;

    if (lower)
        lower(l);
    else
        unmodelled(l, "this opcode");
    l->inst = inst;
}
