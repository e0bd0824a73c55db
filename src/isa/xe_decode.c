/* SPDX-License-Identifier: MIT */
/*
 * Decoder of the encodings from Gen12LP on: controls, one- and two-source forms, branches, sync.
 * Three-source forms and sends stand in files of their own.
 *
 * Every function is written over the layout and folded into one decoder for each of the two.
 */
#include "isa/xe.h"

enum { XE_VXH = 15, XE2_VXH = 7 }; /* vertical stride: one address register per row */

ZS_FOLD bool is_xe3p(struct zs_isa_decoder d)
{
    return zs_xe_is_wide(d) && d.model->platform >= ZS_ISA_XE3P;
}

/* ---- controls ---- */

ZS_FOLD enum zs_isa_error decode_predicate(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    uint32_t code = zs_dec_get(d, ZS_F_PRED_CTRL);
    if (zs_xe_is_wide(d))
        inst->pred = (uint8_t)(code > ZS_PRED_SEQ ? code - 2 + ZS_PRED_ANY : code);
    else
        inst->pred = (uint8_t)code;
    if (!zs_xe_is_wide(d) && code > ZS_PRED_ALL32H)
        return ZS_ISA_BAD_PREDICATE;
    if (inst->pred && zs_dec_get(d, ZS_F_PRED_INV))
        inst->flags |= ZS_INST_PRED_INVERSE;
    return ZS_ISA_BAD_NONE;
}

/* A 64-bit immediate takes the condition's place. */
ZS_FOLD bool has_wide_immediate(struct zs_isa_decoder d)
{
    if (d.opcode->form != ZS_FORM_UNARY)
        return false;
    uint32_t type = d.model->immediate_types[zs_dec_get(d, ZS_F_SRC0_TYPE)];
    return zs_dec_get(d, ZS_F_SRC0_FILE) >= ZS_XE_IMM &&
           zs_isa_type_bits((enum zs_isa_type)type) == 64;
}

ZS_FOLD enum zs_isa_error decode_condition(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    static const uint8_t bfn_conditions[4] = {ZS_COND_NONE, ZS_COND_EQ, ZS_COND_GT, ZS_COND_LT};
    if (inst->op == ZS_OP_MATH && zs_xe_is_macro(inst->op, inst->subfunction)) {
        inst->cond = ZS_COND_EO;
    } else if (d.opcode->flags & ZS_OPC_CONDITION) {
        if (d.opcode->form == ZS_FORM_BFN)
            inst->cond = bfn_conditions[zs_dec_get(d, ZS_F_BFN_COND)];
        else if (!has_wide_immediate(d))
            inst->cond = (uint8_t)zs_dec_get(d, ZS_F_COND);
        if (inst->cond > ZS_COND_UN || inst->cond == 7)
            return ZS_ISA_BAD_CONDITION;
    }
    return ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_flags(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum zs_isa_error error = ZS_ISA_BAD_NONE;
    if (d.opcode->flags & ZS_OPC_PREDICATE)
        error = decode_predicate(d, inst);
    if (!error)
        error = decode_condition(d, inst);
    if (inst->pred || inst->cond) {
        inst->flag_reg = (uint8_t)zs_dec_get(d, ZS_F_FLAG_REG);
        inst->flag_subreg = (uint8_t)zs_dec_get(d, ZS_F_FLAG_SUBREG);
    }
    return error;
}

ZS_FOLD void decode_options(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    if (zs_dec_get(d, ZS_F_BREAKPOINT))
        inst->flags |= ZS_INST_BREAKPOINT;
    if (inst->op == ZS_OP_NOP)
        return;
    if (zs_dec_get(d, ZS_F_ATOMIC) && d.opcode->form != ZS_FORM_SENDG)
        inst->flags |= ZS_INST_ATOMIC;
    if (!zs_xe_is_wide(d) && !zs_isa_opcode_is_send(d.opcode) &&
        !zs_isa_opcode_is_branch(d.opcode) && d.opcode->form != ZS_FORM_SYNC &&
        zs_dec_get(d, ZS_F_ACC_WR))
        inst->flags |= ZS_INST_ACCWREN;
    if (d.opcode->flags & ZS_OPC_BRANCH_CTRL && zs_dec_get(d, ZS_F_BRANCH_CTRL))
        inst->flags |= ZS_INST_BRANCH_CTRL;
    if (d.opcode->form == ZS_FORM_DPAS && is_xe3p(d) && zs_dec_get(d, ZS_F_FWD))
        inst->flags |= ZS_INST_FWD;
}

ZS_FOLD enum zs_isa_error decode_function(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum { SYNC_NOP = 0, SYNC_ALLRD = 2, SYNC_ALLWR, SYNC_FLUSH = 12, SYNC_FENCE, SYNC_BAR };
    enum { SHFL_MASK = 7, SHFL_IDX4 = 6, LFSR_MASK = 3, LFSR_COUNT = 3 };
    uint32_t function = zs_dec_get(d, ZS_F_FUNCTION);
    inst->subfunction = (uint8_t)function;
    if (inst->op == ZS_OP_MATH)
        return zs_xe_math_sources(d.model->platform, function) ? ZS_ISA_BAD_NONE
                                                               : ZS_ISA_BAD_FUNCTION;
    if (inst->op == ZS_OP_SHFL || inst->op == ZS_OP_LFSR) {
        inst->subfunction &= inst->op == ZS_OP_SHFL ? SHFL_MASK : LFSR_MASK;
        bool known = inst->op == ZS_OP_SHFL ? inst->subfunction == SHFL_IDX4
                                            : inst->subfunction < LFSR_COUNT;
        return known ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_FUNCTION;
    }
    bool good = function == SYNC_NOP || function == SYNC_ALLRD || function == SYNC_ALLWR ||
                function >= SYNC_BAR || (zs_xe_is_wide(d) && function == SYNC_FENCE) ||
                (is_xe3p(d) && function == SYNC_FLUSH);
    return good ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_FUNCTION;
}

ZS_FOLD enum zs_isa_error decode_controls(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum zs_isa_error error = ZS_ISA_BAD_NONE;
    if (inst->op == ZS_OP_MATH || inst->op == ZS_OP_SYNC || inst->op == ZS_OP_SHFL ||
        inst->op == ZS_OP_LFSR)
        error = decode_function(d, inst);
    if (error)
        return error;
    uint32_t exec = zs_dec_get(d, ZS_F_EXEC_SIZE);
    if (exec > (inst->op == ZS_OP_JMPI ? 0u : 5u))
        return ZS_ISA_BAD_EXEC_SIZE;
    inst->exec_size = (uint8_t)(1u << exec);
    if (inst->op != ZS_OP_JMPI)
        inst->channel_offset =
            (uint8_t)(zs_dec_get(d, ZS_F_CHAN_OFF) * (zs_xe_is_wide(d) ? 8u : 4u));
    if (zs_dec_get(d, ZS_F_MASK_CTRL))
        inst->flags |= ZS_INST_NOMASK;
    decode_options(d, inst);
    return decode_flags(d, inst);
}

/* ---- operands ---- */

/* Address offsets have 10 bits, from XeHPC on 11. */
ZS_FOLD int16_t address_offset(struct zs_isa_decoder d, enum zs_isa_field field)
{
    uint32_t value = zs_dec_get(d, field);
    if (!zs_xe_is_wide(d))
        return zs_dec_signed(value, 10);
    return zs_dec_signed(field == ZS_F_SRC1_ADDR_IMM ? value << 1 : value, 11);
}

/* src1 has no lowest bit from XeHPC on. */
ZS_FOLD uint32_t subreg_B(struct zs_isa_decoder d, enum zs_isa_field field)
{
    uint32_t value = zs_dec_get(d, field);
    return zs_xe_is_wide(d) && field == ZS_F_SRC1_SUBREG ? value << 1 : value;
}

ZS_FOLD enum zs_isa_error decode_mme(struct zs_isa_decoder d, enum zs_isa_field field,
                                     struct zs_isa_operand *op)
{
    op->kind = ZS_OPERAND_MACRO;
    op->mme = (uint8_t)zs_dec_get(d, field);
    return op->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
}

/* Only XeHPG has indirect operands of math. Elsewhere the bit of a source that has none does not
 * count: src1's, and from XeHPC on src0's. */
ZS_FOLD bool can_be_indirect(struct zs_isa_decoder d, const struct zs_isa_inst *inst)
{
    return inst->op != ZS_OP_MATH || d.model->platform == ZS_ISA_XE_HPG;
}

ZS_FOLD bool has_address_mode(struct zs_isa_decoder d, const struct zs_isa_inst *inst,
                              uint32_t source)
{
    return can_be_indirect(d, inst) || (source == 0 && !zs_xe_is_wide(d));
}

/* Math of Xe3P has floats alone. */
ZS_FOLD uint32_t float_bit(struct zs_isa_decoder d)
{
    return is_xe3p(d) && d.opcode->form == ZS_FORM_MATH ? 8 : 0;
}

/* The first source's type, from Xe3P on with the highest bit of the destination's. */
ZS_FOLD uint32_t source_type(struct zs_isa_decoder d, uint32_t source)
{
    uint32_t code = zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_TYPE + source * ZS_F_SRC_STEP));
    if (!zs_xe_is_wide(d) || source || !zs_xe_shares_type(d.model, d.opcode))
        return code;
    return (code & 7) | (zs_dec_get(d, ZS_F_DST_TYPE) & 8) | float_bit(d);
}

/* What shares its highest bit takes all but the last. */
ZS_FOLD bool is_type_allowed(struct zs_isa_decoder d, enum zs_xe_operand operand, uint32_t source,
                             uint32_t type)
{
    if (zs_xe_is_wide(d) && source == 0 && zs_xe_shares_type(d.model, d.opcode))
        return type != ZS_TYPE_UV;
    return zs_xe_type_allowed(d.model->platform, d.opcode->op, operand, type);
}

/* An immediate of math has a bit of its own; bit 46 is one of its registers' from Xe3P on. */
ZS_FOLD uint32_t source_file(struct zs_isa_decoder d, uint32_t source)
{
    if (zs_xe_is_wide(d) && source == 0 && zs_xe_shares_type(d.model, d.opcode)) {
        bool immediate = d.opcode->form == ZS_FORM_MATH && zs_dec_get(d, ZS_F_MATH_IMM);
        return immediate ? (uint32_t)ZS_XE_IMM : zs_dec_get(d, ZS_F_X_SRC0_FILE);
    }
    return zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_FILE + source * ZS_F_SRC_STEP));
}

ZS_FOLD enum zs_isa_error decode_dst(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *dst = &inst->dst;
    inst->flags |= ZS_INST_HAS_DST;
    if (d.opcode->flags & ZS_OPC_SATURATE && zs_dec_get(d, ZS_F_SATURATE))
        dst->modifiers = ZS_MOD_SAT;
    dst->type = d.model->register_types[zs_dec_get(d, ZS_F_DST_TYPE) | float_bit(d)];
    if (is_xe3p(d) && inst->op == ZS_OP_MOV && zs_dec_get(d, ZS_F_MOV_DST_TYPE4))
        return ZS_ISA_BAD_TYPE;
    if (!is_type_allowed(d, ZS_XE_DST, 0, dst->type))
        return ZS_ISA_BAD_TYPE;
    dst->hstride = zs_dec_stride(zs_dec_get(d, ZS_F_DST_HSTRIDE));
    dst->vstride = dst->width = ZS_REGION_NONE;
    dst->mme = ZS_MME_NONE;
    if (zs_dec_get(d, ZS_F_DST_INDIRECT) && !(is_xe3p(d) && inst->op == ZS_OP_MATH)) {
        dst->kind = ZS_OPERAND_INDIRECT;
        dst->file = ZS_FILE_GRF;
        dst->subreg = (uint8_t)zs_dec_get(d, ZS_F_DST_ADDR_SUBREG);
        dst->offset_B = address_offset(d, ZS_F_DST_ADDR_IMM);
        return can_be_indirect(d, inst) ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ADDRESS;
    }
    enum zs_isa_error error =
        zs_dec_register(d.model, zs_dec_get(d, ZS_F_DST_FILE), zs_dec_get(d, ZS_F_DST_REG), dst);
    if (error)
        return error;
    if (zs_xe_is_macro(inst->op, inst->subfunction))
        return decode_mme(d, ZS_F_DST_MME, dst);
    dst->kind = ZS_OPERAND_REG;
    zs_dec_subreg(d, zs_dec_get(d, ZS_F_DST_SUBREG), dst);
    return ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_region(struct zs_isa_decoder d, uint32_t at,
                                        struct zs_isa_operand *op)
{
    uint32_t vstride = zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_VSTRIDE + at));
    uint32_t width = zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_WIDTH + at));
    bool vxh = vstride == (zs_xe_is_wide(d) ? XE2_VXH : XE_VXH);
    if (width > 4 || (vstride > 6 && !vxh))
        return ZS_ISA_BAD_REGION;
    op->hstride = zs_dec_stride(zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_HSTRIDE + at)));
    op->width = (uint8_t)(1u << width);
    op->vstride = vxh ? ZS_REGION_VXH : zs_dec_stride(vstride);
    return ZS_ISA_BAD_NONE;
}

/* That of the second source of Xe3P. */
ZS_FOLD enum zs_isa_error decode_flat_region(struct zs_isa_decoder d,
                                             const struct zs_isa_inst *inst,
                                             struct zs_isa_operand *op)
{
    bool scalar = zs_dec_get(d, ZS_F_SRC1_SCALAR);
    uint32_t step = zs_xe_flat_step(&inst->dst, op);
    op->hstride = 0;
    op->width = 1;
    op->vstride = scalar ? 0 : (uint8_t)step;
    return scalar || step ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_REGION;
}

/* Immediates of 64 bits are those of one-source instructions alone. */
ZS_FOLD enum zs_isa_error decode_immediate(struct zs_isa_decoder d, uint32_t code,
                                           const struct zs_isa_inst *inst,
                                           struct zs_isa_operand *op)
{
    op->type = d.model->immediate_types[code];
    if (!op->type ||
        (d.opcode->form != ZS_FORM_UNARY && zs_isa_type_bits((enum zs_isa_type)op->type) == 64))
        return ZS_ISA_BAD_TYPE;
    if (inst->op == ZS_OP_MATH && op->type == ZS_TYPE_BF)
        return ZS_ISA_BAD_TYPE;
    if (is_xe3p(d) && d.opcode->form != ZS_FORM_BINARY && op->type == ZS_TYPE_VF)
        return ZS_ISA_BAD_TYPE;
    if (inst->op == ZS_OP_MACL &&
        !zs_xe_type_allowed(d.model->platform, inst->op, ZS_XE_SRC, op->type))
        return ZS_ISA_BAD_TYPE;
    zs_dec_immediate(d, op);
    return ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_src(struct zs_isa_decoder d, uint32_t source, bool immediate,
                                     struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[source];
    uint32_t at = source * ZS_F_SRC_STEP;
    uint32_t file = source_file(d, source), type = source_type(d, source);
    op->vstride = op->width = op->hstride = ZS_REGION_NONE;
    op->mme = ZS_MME_NONE;
    if (file >= ZS_XE_IMM)
        return immediate ? decode_immediate(d, type, inst, op) : ZS_ISA_BAD_IMMEDIATE;
    op->type = d.model->register_types[type];
    if (!is_type_allowed(d, ZS_XE_SRC, source, op->type) ||
        (is_xe3p(d) && inst->op == ZS_OP_MOV && zs_dec_get(d, ZS_F_MOV_SRC0_TYPE4)))
        return ZS_ISA_BAD_TYPE;
    if (d.opcode->flags & ZS_OPC_SRC_MODS) {
        if (zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_ABS + at)))
            op->modifiers |= ZS_MOD_ABS;
        if (zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_NEG + at)))
            op->modifiers |= ZS_MOD_NEG;
    }
    enum zs_isa_error error =
        source && is_xe3p(d) ? decode_flat_region(d, inst, op) : decode_region(d, at, op);
    if (error)
        return error;
    if (has_address_mode(d, inst, source) &&
        zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_INDIRECT + at))) {
        op->kind = ZS_OPERAND_INDIRECT;
        op->file = ZS_FILE_GRF;
        op->subreg = (uint8_t)zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_ADDR_SUBREG + at));
        op->offset_B = address_offset(d, (enum zs_isa_field)(ZS_F_SRC0_ADDR_IMM + at));
        return can_be_indirect(d, inst) ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ADDRESS;
    }
    error = zs_dec_register(d.model, file == ZS_XE_GRF,
                            zs_dec_get(d, (enum zs_isa_field)(ZS_F_SRC0_REG + at)), op);
    if (error)
        return error;
    if (zs_xe_is_macro(inst->op, inst->subfunction))
        return decode_mme(d, (enum zs_isa_field)(ZS_F_SRC0_MME + at), op);
    op->kind = ZS_OPERAND_REG;
    zs_dec_subreg(d, subreg_B(d, (enum zs_isa_field)(ZS_F_SRC0_SUBREG + at)), op);
    return ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_basic(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    inst->source_count = (uint8_t)(d.opcode->form == ZS_FORM_MATH
                                       ? zs_xe_math_sources(d.model->platform, inst->subfunction)
                                   : d.opcode->form == ZS_FORM_BINARY ? 2u
                                                                      : 1u);
    enum zs_isa_error error = decode_dst(d, inst);
    if (!error)
        error = decode_src(d, 0, inst->source_count == 1, inst);
    if (!error && inst->source_count == 2)
        error = decode_src(d, 1, true, inst);
    return error;
}

/* ---- sync ---- */

/* The operand is null, or a mask of tokens of allrd and allwr; from XeHPC on a flag register may
 * name the barrier. */
ZS_FOLD enum zs_isa_error decode_sync(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum { ALLRD = 2, ALLWR = 3, BAR = 14 };
    struct zs_isa_operand *op = &inst->src[0];
    uint32_t file = zs_dec_get(d, ZS_F_SRC0_FILE), function = inst->subfunction;
    inst->source_count = 1;
    op->mme = ZS_MME_NONE;
    op->vstride = op->hstride = 0;
    op->width = 1;
    if (file >= ZS_XE_IMM) {
        bool masks = function == ALLRD || function == ALLWR;
        op->vstride = op->width = op->hstride = ZS_REGION_NONE;
        if (!masks && !(zs_xe_is_wide(d) && function == BAR))
            return ZS_ISA_BAD_IMMEDIATE;
        enum zs_isa_error bad = decode_immediate(d, zs_dec_get(d, ZS_F_SRC0_TYPE), inst, op);
        if (masks)
            op->imm = zs_dec_get(d, ZS_F_IMM32);
        return bad;
    }
    if (file != ZS_XE_ARF)
        return ZS_ISA_BAD_FILE;
    op->kind = ZS_OPERAND_REG;
    op->file = ZS_FILE_NULL;
    op->type = ZS_TYPE_UB;
    if (!zs_xe_is_wide(d))
        return ZS_ISA_BAD_NONE;
    op->type = d.model->register_types[zs_dec_get(d, ZS_F_SRC0_TYPE)];
    if (!zs_xe_type_allowed(d.model->platform, inst->op, ZS_XE_SRC, op->type))
        return ZS_ISA_BAD_TYPE;
    enum zs_isa_error error = zs_dec_register(d.model, false, zs_dec_get(d, ZS_F_SRC0_REG), op);
    zs_dec_subreg(d, zs_dec_get(d, ZS_F_SRC0_SUBREG), op);
    return error;
}

/* ---- branches ---- */

static void set_label(struct zs_isa_inst *inst, uint32_t source, int32_t distance_B)
{
    inst->src[source] = (struct zs_isa_operand){.kind = ZS_OPERAND_LABEL,
                                                .imm = (uint64_t)(int64_t)distance_B,
                                                .vstride = ZS_REGION_NONE,
                                                .width = ZS_REGION_NONE,
                                                .hstride = ZS_REGION_NONE,
                                                .mme = ZS_MME_NONE};
}

/* Subregisters of branches count dwords. */
ZS_FOLD enum zs_isa_error branch_register(struct zs_isa_decoder d, bool is_grf, uint32_t code,
                                          uint32_t subreg, struct zs_isa_operand *op)
{
    enum zs_isa_error error = zs_dec_register(d.model, is_grf, code, op);
    uint32_t place_B = zs_xe_is_wide(d) ? (subreg & 0x1f) << 1 : subreg;
    op->kind = ZS_OPERAND_REG;
    op->mme = ZS_MME_NONE;
    op->subreg_B = (uint8_t)place_B;
    op->subreg = zs_isa_model_subreg(d.model, op->file, ZS_TYPE_D, place_B);
    return error;
}

ZS_FOLD enum zs_isa_error decode_branch(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    uint32_t form = d.opcode->form, file = zs_dec_get(d, ZS_F_SRC0_FILE);
    enum zs_isa_error error = ZS_ISA_BAD_NONE;
    inst->source_count = 1;
    if (form == ZS_FORM_CALL) {
        inst->flags |= ZS_INST_HAS_DST;
        error = branch_register(d, zs_dec_get(d, ZS_F_DST_FILE), zs_dec_get(d, ZS_F_DST_REG),
                                zs_dec_get(d, ZS_F_T_DST_SUBREG), &inst->dst);
        inst->dst.type = ZS_TYPE_D;
        inst->dst.hstride = 1;
        inst->dst.vstride = inst->dst.width = ZS_REGION_NONE;
    }
    if (file >= ZS_XE_IMM) {
        set_label(inst, 0, (int32_t)zs_dec_get(d, ZS_F_JIP));
    } else if (!error) {
        struct zs_isa_operand *op = &inst->src[0];
        error = branch_register(d, file == ZS_XE_GRF, zs_dec_get(d, ZS_F_SRC0_REG),
                                zs_dec_get(d, ZS_F_T_SRC0_SUBREG), op);
        op->vstride = op->width = 1;
        op->hstride = 0;
    }
    bool uip = form == ZS_FORM_BRANCH2 || (form == ZS_FORM_BRC && file != ZS_XE_GRF);
    if (error || !uip)
        return error;
    if (!zs_dec_get(d, ZS_F_HAS_UIP))
        return ZS_ISA_BAD_FILE;
    if (form == ZS_FORM_BRC && file < ZS_XE_IMM) /* the register holds both */
        return error;
    /* a register takes the place of all but some bits of UIP */
    uint32_t place = file >= ZS_XE_IMM ? UINT32_MAX : 0xfffc;
    inst->source_count = 2;
    set_label(inst, 1, (int32_t)(zs_dec_get(d, ZS_F_UIP) & place));
    return ZS_ISA_BAD_NONE;
}

/* ---- instructions ---- */

typedef enum zs_isa_error decode_fn(const struct zs_isa_model *model,
                                    const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                    struct zs_isa_inst *inst);

ZS_FOLD enum zs_isa_error decode_form(struct zs_isa_decoder d, decode_fn *ternary, decode_fn *send,
                                      struct zs_isa_inst *inst)
{
    switch (d.opcode->form) {
    case ZS_FORM_UNARY:
    case ZS_FORM_BINARY:
    case ZS_FORM_MATH:
        return decode_basic(d, inst);
    case ZS_FORM_SYNC:
        return decode_sync(d, inst);
    case ZS_FORM_TERNARY:
    case ZS_FORM_BFN:
    case ZS_FORM_DPAS:
        return ternary(d.model, d.opcode, d.bits, inst);
    case ZS_FORM_SENDS:
        return send(d.model, d.opcode, d.bits, inst);
    case ZS_FORM_SENDG:
        return zs_xe3p_decode_sendg(d.model, d.opcode, d.bits, inst);
    default:
        return decode_branch(d, inst);
    }
}

ZS_FOLD void add_high_bit(struct zs_isa_decoder d, enum zs_isa_field field,
                          struct zs_isa_operand *op)
{
    if (field == ZS_F_COUNT || op->file != ZS_FILE_GRF)
        return;
    if (op->kind == ZS_OPERAND_INDIRECT)
        op->subreg = (uint8_t)(op->subreg | zs_dec_get(d, field) << 4);
    else
        op->reg = (uint16_t)(op->reg | zs_dec_get(d, field) << 8);
}

static void add_high_bits(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    const uint16_t *fields = zs_xe_high_fields(d.opcode, inst);
    add_high_bit(d, (enum zs_isa_field)fields[0], &inst->dst);
    for (uint32_t i = 0; i < inst->source_count && i < 3; i++)
        add_high_bit(d, (enum zs_isa_field)fields[i + 1], &inst->src[i]);
}

ZS_FOLD enum zs_isa_error decode_inst(struct zs_isa_decoder d, decode_fn *ternary, decode_fn *send,
                                      struct zs_isa_inst *inst)
{
    enum zs_isa_error error = ZS_ISA_BAD_NONE;
    if (inst->op == ZS_OP_ILLEGAL) {
        inst->exec_size = 1;
        return error;
    }
    if (d.opcode->form == ZS_FORM_NULLARY) {
        inst->exec_size = 1;
        decode_options(d, inst);
    } else {
        error = decode_controls(d, inst);
        if (!error)
            error = decode_form(d, ternary, send, inst);
        if (is_xe3p(d))
            add_high_bits(d, inst);
    }
    if (!error && !zs_xe_decode_swsb(d.model->platform, zs_dec_get(d, ZS_F_SWSB), inst))
        error = ZS_ISA_BAD_SWSB;
    return error;
}

enum zs_isa_error zs_xe_decode(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                               const uint64_t bits[2], struct zs_isa_inst *inst)
{
    struct zs_isa_decoder d = {model, &zs_isa_layout_xe, opcode, bits};
    return decode_inst(d, zs_xe_decode_ternary, zs_xe_decode_send, inst);
}

enum zs_isa_error zs_xe2_decode(const struct zs_isa_model *model,
                                const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                struct zs_isa_inst *inst)
{
    struct zs_isa_decoder d = {model, &zs_isa_layout_xe2, opcode, bits};
    return decode_inst(d, zs_xe2_decode_ternary, zs_xe2_decode_send, inst);
}

const struct zs_isa_encoding zs_isa_encoding_xe = {
    .expand = zs_xe_expand,
    .compact = zs_xe_compact,
    .decode = zs_xe_decode,
    .encode = zs_xe_encode,
};
const struct zs_isa_encoding zs_isa_encoding_xe2 = {
    .expand = zs_xe_expand,
    .compact = zs_xe_compact,
    .decode = zs_xe2_decode,
    .encode = zs_xe2_encode,
};
