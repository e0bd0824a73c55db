/* SPDX-License-Identifier: MIT */
/*
 * Three-source instructions from Gen12LP on: the plain ones, macros (madm), Boolean functions of
 * three operands (bfn) and systolic multiplications (dpas, dpasw).
 *
 * From XeHPC on a subregister field counts words, since the registers are twice as wide. The
 * field of Gen12LP's destination counts quadwords; its lower bits are none.
 */
#include "isa/xe.h"

ZS_FOLD uint32_t subreg_B(struct zs_isa_decoder d, enum zs_isa_field field)
{
    uint32_t code = zs_dec_get(d, field);
    if (d.model->platform == ZS_ISA_XE_LP && field == ZS_F_T_DST_SUBREG)
        return code & 0x18;
    return zs_xe_is_wide(d) ? code << 1 : code;
}

static bool is_dpas(struct zs_isa_decoder d)
{
    return d.opcode->form == ZS_FORM_DPAS;
}

/* nf is gone with XeHPC; bf has come with XeHP, for few. */
ZS_FOLD enum zs_isa_error decode_type(struct zs_isa_decoder d, enum zs_isa_field field,
                                      enum zs_xe_operand operand, struct zs_isa_operand *op)
{
    uint32_t execution = zs_dec_get(d, ZS_F_T_EXEC_TYPE), code = zs_dec_get(d, field);
    op->type = (is_dpas(d) ? zs_xe_dpas_types : zs_xe_ternary_types)[execution][code];
    if (!op->type)
        return ZS_ISA_BAD_TYPE;
    if (op->type == ZS_TYPE_NF)
        return zs_xe_is_wide(d) ? ZS_ISA_BAD_TYPE : ZS_ISA_BAD_NONE;
    if (is_dpas(d))
        return op->type == ZS_TYPE_DF && !zs_xe_is_wide(d) ? ZS_ISA_BAD_TYPE : ZS_ISA_BAD_NONE;
    return zs_xe_type_allowed(d.model->platform, d.opcode->op, operand, op->type) ? ZS_ISA_BAD_NONE
                                                                                  : ZS_ISA_BAD_TYPE;
}

ZS_FOLD enum zs_isa_error decode_mme(struct zs_isa_decoder d, enum zs_isa_field field,
                                     struct zs_isa_operand *op)
{
    op->kind = ZS_OPERAND_MACRO;
    op->mme = (uint8_t)zs_dec_get(d, field);
    return op->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_dst(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *dst = &inst->dst;
    inst->flags |= ZS_INST_HAS_DST;
    dst->vstride = dst->width = ZS_REGION_NONE;
    dst->hstride = 1;
    dst->mme = ZS_MME_NONE;
    if (d.opcode->flags & ZS_OPC_SATURATE && zs_dec_get(d, ZS_F_SATURATE))
        dst->modifiers = ZS_MOD_SAT;
    enum zs_isa_error error = decode_type(d, ZS_F_T_DST_TYPE, ZS_XE_DST, dst);
    if (!error)
        error = zs_dec_register(d.model, zs_dec_get(d, ZS_F_T_DST_FILE),
                                zs_dec_get(d, ZS_F_T_DST_REG), dst);
    if (error)
        return error;
    if (inst->op == ZS_OP_MADM)
        return decode_mme(d, ZS_F_T_DST_MME, dst);
    dst->kind = ZS_OPERAND_REG;
    if (!is_dpas(d))
        dst->hstride = (uint8_t)(1 + zs_dec_get(d, ZS_F_T_DST_HSTRIDE));
    zs_dec_subreg(d, subreg_B(d, ZS_F_T_DST_SUBREG), dst);
    return ZS_ISA_BAD_NONE;
}

/* ---- sources ---- */

ZS_FOLD uint32_t source_file(struct zs_isa_decoder d, uint32_t source)
{
    return zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_FILE + source * ZS_F_T_SRC_STEP));
}

/* 16 bits; wider signed types extend them. */
ZS_FOLD enum zs_isa_error decode_immediate(struct zs_isa_decoder d, uint32_t at,
                                           struct zs_isa_operand *op)
{
    uint64_t value = zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_IMM + at));
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)op->type);
    op->kind = ZS_OPERAND_IMM;
    op->vstride = op->width = op->hstride = ZS_REGION_NONE;
    if (op->type == ZS_TYPE_D || op->type == ZS_TYPE_Q)
        value = (uint64_t)(int64_t)(int16_t)value;
    op->imm = bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
    return ZS_ISA_BAD_NONE;
}

ZS_FOLD void set_macro_region(struct zs_isa_operand *op, uint32_t source, bool scalar)
{
    op->width = ZS_REGION_NONE;
    op->hstride = source == 2 ? 1 : 0;
    op->vstride = source == 2 ? ZS_REGION_NONE : scalar ? 0 : 1;
}

/* From Xe3P on the second source is scalar, or as wide as the destination. */
ZS_FOLD enum zs_isa_error decode_region(struct zs_isa_decoder d, uint32_t source,
                                        const struct zs_isa_inst *inst, struct zs_isa_operand *op)
{
    uint32_t at = source * ZS_F_T_SRC_STEP;
    op->width = op->vstride = ZS_REGION_NONE;
    if (zs_xe_is_wide(d) && source == 1 && d.model->platform >= ZS_ISA_XE3P) {
        bool scalar = zs_dec_get(d, ZS_F_T_SRC1_SCALAR);
        uint32_t step = scalar ? 0 : zs_xe_flat_step(&inst->dst, op);
        op->vstride = (uint8_t)(step > 1 ? 2 * step : step);
        op->hstride = (uint8_t)(step > 1 ? step : 0);
        return scalar || (step && step <= 4) ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_REGION;
    }
    op->hstride = zs_dec_stride(zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_HSTRIDE + at)));
    if (source < 2)
        op->vstride =
            zs_xe_ternary_vstride[zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_VSTRIDE + at))];
    return ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_src(struct zs_isa_decoder d, uint32_t source,
                                     struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[source];
    uint32_t at = source * ZS_F_T_SRC_STEP, file = source_file(d, source);
    bool macro = inst->op == ZS_OP_MADM;
    op->mme = ZS_MME_NONE;
    enum zs_isa_error error =
        decode_type(d, (enum zs_isa_field)(ZS_F_T_SRC0_TYPE + at), ZS_XE_SRC, op);
    if (error)
        return error;
    if (file >= ZS_XE_IMM)
        return macro ? ZS_ISA_BAD_IMMEDIATE : decode_immediate(d, at, op);
    error = zs_dec_register(d.model, file == ZS_XE_GRF,
                            zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_REG + at)), op);
    if (error)
        return error;
    if (d.opcode->flags & ZS_OPC_SRC_MODS) {
        if (zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_ABS + at)))
            op->modifiers |= ZS_MOD_ABS;
        if (zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_NEG + at)))
            op->modifiers |= ZS_MOD_NEG;
    }
    if (macro) {
        set_macro_region(op, source, inst->exec_size == 1);
        return decode_mme(d, (enum zs_isa_field)(ZS_F_T_SRC0_MME + at), op);
    }
    op->kind = ZS_OPERAND_REG;
    error = decode_region(d, source, inst, op);
    zs_dec_subreg(d, subreg_B(d, (enum zs_isa_field)(ZS_F_T_SRC0_SUBREG + at)), op);
    return error;
}

/* ---- systolic multiplication ---- */

ZS_FOLD enum zs_isa_error decode_precision(struct zs_isa_decoder d, uint32_t source,
                                           struct zs_isa_operand *op)
{
    uint32_t code =
        zs_dec_get(d, source == 1 ? ZS_F_DPAS_SRC1_PRECISION : ZS_F_DPAS_SRC2_PRECISION);
    op->type = zs_xe_precisions[zs_dec_get(d, ZS_F_T_EXEC_TYPE)][code];
    return zs_xe_dpas_takes(d.model->platform, op->type) ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_TYPE;
}

ZS_FOLD enum zs_isa_error decode_dpas_src(struct zs_isa_decoder d, uint32_t source,
                                          struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[source];
    uint32_t at = source * ZS_F_T_SRC_STEP, file = source_file(d, source);
    if (inst->op == ZS_OP_BDPAS)
        file &= 1; /* what says that others are immediate is of the scales' registers */
    op->mme = ZS_MME_NONE;
    op->kind = ZS_OPERAND_REG;
    op->width = ZS_REGION_NONE;
    op->vstride = source == 2 ? ZS_REGION_NONE : 1;
    op->hstride = source == 2 ? 1 : 0;
    if (file >= ZS_XE_IMM || (source > 0 && file != ZS_XE_GRF))
        return ZS_ISA_BAD_FILE;
    enum zs_isa_error error = zs_dec_register(
        d.model, file == ZS_XE_GRF, zs_dec_get(d, (enum zs_isa_field)(ZS_F_T_SRC0_REG + at)), op);
    if (!error && file == ZS_XE_ARF && op->file != ZS_FILE_NULL)
        error = ZS_ISA_BAD_FILE;
    if (!error)
        error = source ? decode_precision(d, source, op)
                       : decode_type(d, ZS_F_T_SRC0_TYPE, ZS_XE_SRC, op);
    if (!error && (source == 0 || inst->op != ZS_OP_BDPAS))
        zs_dec_subreg(d, subreg_B(d, (enum zs_isa_field)(ZS_F_T_SRC0_SUBREG + at)), op);
    return error;
}

/* Scales of blocks: a byte for each 32 elements of a row or column. */
static enum zs_isa_error decode_scales(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum zs_isa_error error =
        zs_dec_get(d, ZS_F_BD_SCALE_TYPE) == ZS_BD_BYTES ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_TYPE;
    uint32_t regs[2] = {zs_dec_get(d, ZS_F_BD_SRC3_REG0) | zs_dec_get(d, ZS_F_BD_SRC3_REG1) << 1 |
                            zs_dec_get(d, ZS_F_BD_SRC3_REG7) << 7,
                        zs_dec_get(d, ZS_F_BD_SRC4_REG)};
    uint32_t places_B[2] = {zs_dec_get(d, ZS_F_BD_SRC3_SUBREG) * 16,
                            zs_dec_get(d, ZS_F_BD_SRC4_SUBREG) * 8};
    inst->source_count = 5;
    for (uint32_t i = 0; i < 2 && !error; i++) {
        struct zs_isa_operand *op = &inst->src[3 + i];
        bool is_grf = zs_dec_get(d, i ? ZS_F_BD_SRC4_FILE : ZS_F_BD_SRC3_FILE);
        *op = (struct zs_isa_operand){.kind = ZS_OPERAND_REG,
                                      .type = ZS_TYPE_UB,
                                      .vstride = ZS_REGION_NONE,
                                      .width = ZS_REGION_NONE,
                                      .hstride = 1,
                                      .mme = ZS_MME_NONE};
        error = zs_dec_register(d.model, is_grf, regs[i], op);
        if (!error && !is_grf && op->file != ZS_FILE_NULL)
            error = ZS_ISA_BAD_FILE;
        zs_dec_subreg(d, places_B[i], op);
    }
    return error;
}

/* Depths and counts of 16 are told as 0. */
ZS_FOLD void decode_dpas_function(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    if (inst->op == ZS_OP_BDPAS) { /* always 8x8 */
        inst->subfunction = 8 << 4 | 8;
        return;
    }
    uint32_t depth = zs_dec_get(d, ZS_F_DPAS_DEPTH), repeat = zs_dec_get(d, ZS_F_DPAS_REPEAT) + 1;
    depth = zs_xe_is_wide(d) && depth == 0 ? 16 : 1u << depth;
    inst->subfunction = (uint8_t)((depth & 15) << 4 | (repeat & 15));
}

/* ---- forms ---- */

ZS_FOLD enum zs_isa_error decode(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    inst->source_count = 3;
    if (is_dpas(d))
        decode_dpas_function(d, inst);
    else if (d.opcode->form == ZS_FORM_BFN)
        inst->subfunction = (uint8_t)zs_dec_get(d, ZS_F_BFN_FUNCTION);
    if (inst->op == ZS_OP_DNSCL && !zs_xe_is_dnscl(inst->subfunction &= 0x7f))
        return ZS_ISA_BAD_FUNCTION;
    enum zs_isa_error error = decode_dst(d, inst);
    for (uint32_t i = 0; i < 3 && !error; i++)
        error = is_dpas(d) ? decode_dpas_src(d, i, inst) : decode_src(d, i, inst);
    if (!error && inst->op == ZS_OP_BDPAS)
        error = decode_scales(d, inst);
    return error;
}

enum zs_isa_error zs_xe_decode_ternary(const struct zs_isa_model *model,
                                       const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                       struct zs_isa_inst *inst)
{
    return decode((struct zs_isa_decoder){model, &zs_isa_layout_xe, opcode, bits}, inst);
}

enum zs_isa_error zs_xe2_decode_ternary(const struct zs_isa_model *model,
                                        const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                        struct zs_isa_inst *inst)
{
    return decode((struct zs_isa_decoder){model, &zs_isa_layout_xe2, opcode, bits}, inst);
}
