/* SPDX-License-Identifier: MIT */
/*
 * Three-source instructions of the legacy encodings.
 *
 * Gen8 and Gen9 have them in Align16 only: a destination writes components x y z w of each group
 * of four channels, a source reads a swizzle of its group or one component replicated. Compilers
 * use three shapes, which have Align1 equivalents: all components in place (<4;4,1>, printed
 * <2;1>), one component replicated (<0;0>), and an instruction of one channel: execution size 4 (2
 * for doubles) with one component (pair) enabled. Such an instruction is told as one of execution
 * size 1 with the component added to the subregisters. Gen11 has Align1.
 */
#include "isa/legacy.h"

#define T(name) ZS_TYPE_##name
const uint8_t zs_legacy_ternary_types[8] = {T(F), T(D), T(UD), T(DF), T(HF)};
const uint8_t zs_legacy_ternary_types1[2][8] = {{T(UD), T(D), T(UW), T(W), T(UB), T(B)},
                                                {T(HF), T(F), T(DF), T(NF)}};
#undef T
const uint8_t zs_legacy_ternary_vstride[4] = {0, 2, 4, 8};

static inline struct zs_isa_decoder
decoder(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode, const uint64_t *bits)
{
    return (struct zs_isa_decoder){model, &zs_isa_layout_legacy, opcode, bits};
}

static bool is_macro(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MADM;
}

static void decode_modifiers(struct zs_isa_decoder d, uint32_t at, struct zs_isa_operand *op)
{
    if (!(d.opcode->flags & ZS_OPC_SRC_MODS))
        return;
    if (zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_ABS + at)))
        op->modifiers |= ZS_MOD_ABS;
    if (zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_NEG + at)))
        op->modifiers |= ZS_MOD_NEG;
}

/* ---- Align16 ---- */

/* One channel in disguise: the component that is written, told by execution size and mask. */
static enum zs_isa_error narrow_dst16(struct zs_isa_inst *inst, uint32_t mask,
                                      uint32_t *ret_component)
{
    static const uint8_t components[16] = {[1] = 1, [2] = 2, [4] = 3, [8] = 4};
    *ret_component = 0;
    if (mask == ZS_LEGACY_CHAN_XYZW)
        return inst->exec_size > 1 ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ALIGN16;
    if (inst->exec_size == 2 && inst->dst.type == ZS_TYPE_DF && (mask == 3 || mask == 12))
        *ret_component = mask == 12;
    else if (inst->exec_size == 4 && components[mask])
        *ret_component = components[mask] - 1u;
    else
        return ZS_ISA_BAD_ALIGN16;
    inst->exec_size = 1;
    return ZS_ISA_BAD_NONE;
}

static enum zs_isa_error decode_dst16(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *dst = &inst->dst;
    uint32_t mask = zs_legacy_get(d.bits, ZS_F_T16_DST_CHAN_EN), component;
    dst->type = zs_legacy_ternary_types[zs_legacy_get(d.bits, ZS_F_T16_DST_TYPE)];
    dst->kind = is_macro(inst) ? ZS_OPERAND_MACRO : ZS_OPERAND_REG;
    dst->file = ZS_FILE_GRF;
    dst->reg = (uint16_t)zs_legacy_get(d.bits, ZS_F_T_DST_REG);
    if (!dst->type)
        return ZS_ISA_BAD_TYPE;
    if (is_macro(inst)) {
        dst->mme = (uint8_t)mask;
        return dst->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
    }
    enum zs_isa_error error = narrow_dst16(inst, mask, &component);
    uint32_t size_B = zs_isa_type_bits((enum zs_isa_type)dst->type) / 8;
    zs_dec_subreg(d, zs_legacy_get(d.bits, ZS_F_T16_DST_SUBREG) * 4, dst);
    dst->subreg = (uint8_t)(dst->subreg + component);
    dst->subreg_B = (uint8_t)(dst->subreg_B + component * size_B);
    return error;
}

static void set_region(struct zs_isa_operand *op, unsigned source, bool scalar)
{
    op->hstride = scalar ? 0 : 1;
    op->vstride = source == 2 ? ZS_REGION_NONE : scalar ? 0 : 2;
    op->width = ZS_REGION_NONE;
}

static enum zs_isa_error decode_src16(struct zs_isa_decoder d, unsigned source,
                                      struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[source];
    uint32_t at16 = source * ZS_F_T16_SRC_STEP;
    uint32_t swizzle = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T16_SRC0_CHAN_SEL + at16));
    bool scalar = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T16_SRC0_REP + at16));
    bool pair = swizzle == ZS_LEGACY_SWIZZLE_XYXY || swizzle == ZS_LEGACY_SWIZZLE_ZWZW;
    op->file = ZS_FILE_GRF;
    op->kind = is_macro(inst) ? ZS_OPERAND_MACRO : ZS_OPERAND_REG;
    op->reg = (uint16_t)zs_legacy_get(
        d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_REG + source * ZS_F_T_SRC_STEP));
    decode_modifiers(d, source * ZS_F_T_SRC_STEP, op);
    if (is_macro(inst)) {
        set_region(op, source, inst->exec_size == 1);
        op->mme = scalar ? 4 : (uint8_t)(swizzle & 15); /* as Intel's tools read replication */
        return op->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
    }
    zs_dec_subreg(d, zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T16_SRC0_SUBREG + at16)) * 2,
                  op);
    if (!scalar && swizzle != ZS_LEGACY_SWIZZLE_XYZW && !(op->type == ZS_TYPE_DF && pair))
        return ZS_ISA_BAD_ALIGN16;
    if (!scalar && pair) {
        scalar = true;
        if (swizzle == ZS_LEGACY_SWIZZLE_ZWZW) {
            op->subreg++;
            op->subreg_B = (uint8_t)(op->subreg_B + 8);
        }
    }
    set_region(op, source, scalar);
    return ZS_ISA_BAD_NONE;
}

/* The type field is src0's; src1 and src2 are single or half where it is one of those. */
static enum zs_isa_error decode_types16(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    uint8_t type = zs_legacy_ternary_types[zs_legacy_get(d.bits, ZS_F_T16_SRC_TYPE)];
    bool mixed = type == ZS_TYPE_F || type == ZS_TYPE_HF;
    for (unsigned i = 0; i < 3; i++)
        inst->src[i].type = type;
    if (mixed && d.model->platform >= ZS_ISA_GEN9) {
        inst->src[1].type = zs_legacy_get(d.bits, ZS_F_T16_SRC1_HALF) ? ZS_TYPE_HF : ZS_TYPE_F;
        inst->src[2].type = zs_legacy_get(d.bits, ZS_F_T16_SRC2_HALF) ? ZS_TYPE_HF : ZS_TYPE_F;
    }
    return type ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_TYPE;
}

static enum zs_isa_error decode16(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum zs_isa_error error = decode_types16(d, inst);
    if (!error)
        error = decode_dst16(d, inst);
    for (unsigned i = 0; i < 3 && !error; i++)
        error = decode_src16(d, i, inst);
    return error;
}

/* ---- Align1 ---- */

static uint8_t type1(struct zs_isa_decoder d, enum zs_isa_field field)
{
    return zs_legacy_ternary_types1[zs_legacy_get(d.bits, ZS_F_T_EXEC_TYPE)]
                                   [zs_legacy_get(d.bits, field)];
}

static enum zs_isa_error decode_dst1(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *dst = &inst->dst;
    dst->type = type1(d, ZS_F_T_DST_TYPE);
    if (!dst->type)
        return ZS_ISA_BAD_TYPE;
    enum zs_isa_error error = zs_dec_register(d.model, !zs_legacy_get(d.bits, ZS_F_T_DST_FILE),
                                              zs_legacy_get(d.bits, ZS_F_T_DST_REG), dst);
    if (error)
        return error;
    if (is_macro(inst)) {
        dst->kind = ZS_OPERAND_MACRO;
        dst->mme = (uint8_t)zs_legacy_get(d.bits, ZS_F_T_DST_MME);
        return dst->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
    }
    dst->kind = ZS_OPERAND_REG;
    dst->hstride = (uint8_t)(1 + zs_legacy_get(d.bits, ZS_F_T_DST_HSTRIDE));
    zs_dec_subreg(d, zs_legacy_get(d.bits, ZS_F_T_DST_SUBREG) * 8, dst);
    return ZS_ISA_BAD_NONE;
}

static enum zs_isa_error decode_src1(struct zs_isa_decoder d, unsigned source,
                                     struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[source];
    uint32_t at = source * ZS_F_T_SRC_STEP;
    bool other = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_FILE + at));
    op->type = type1(d, (enum zs_isa_field)(ZS_F_T_SRC0_TYPE + at));
    if (!op->type)
        return ZS_ISA_BAD_TYPE;
    if (other && source != 1 && op->type != ZS_TYPE_NF) { /* nf is the accumulators' */
        op->kind = ZS_OPERAND_IMM;
        op->width = op->vstride = op->hstride = ZS_REGION_NONE;
        op->imm = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_IMM + at));
        if (zs_isa_type_bits((enum zs_isa_type)op->type) == 8)
            op->imm &= 0xff;
        else if (op->type == ZS_TYPE_D)
            op->imm |= op->imm & 0x8000 ? 0xffff0000 : 0;
        return ZS_ISA_BAD_NONE;
    }
    enum zs_isa_error error = zs_dec_register(
        d.model, !other, zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_REG + at)), op);
    if (error)
        return error;
    decode_modifiers(d, at, op);
    if (is_macro(inst)) {
        op->kind = ZS_OPERAND_MACRO;
        set_region(op, source, inst->exec_size == 1);
        op->mme = (uint8_t)zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_MME + at));
        return op->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
    }
    op->kind = ZS_OPERAND_REG;
    op->width = ZS_REGION_NONE;
    op->hstride =
        zs_dec_stride(zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_HSTRIDE + at)));
    op->vstride = source == 2 ? ZS_REGION_NONE
                              : zs_legacy_ternary_vstride[zs_legacy_get(
                                    d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_VSTRIDE + at))];
    zs_dec_subreg(d, zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_T_SRC0_SUBREG + at)), op);
    return ZS_ISA_BAD_NONE;
}

static enum zs_isa_error decode1(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum zs_isa_error error = decode_dst1(d, inst);
    for (unsigned i = 0; i < 3 && !error; i++)
        error = decode_src1(d, i, inst);
    return error;
}

enum zs_isa_error zs_legacy_decode_ternary(const struct zs_isa_model *model,
                                           const struct zs_isa_opcode *opcode,
                                           const uint64_t bits[2], struct zs_isa_inst *inst)
{
    struct zs_isa_decoder d = decoder(model, opcode, bits);
    inst->flags |= ZS_INST_HAS_DST;
    inst->source_count = 3;
    inst->dst.vstride = inst->dst.width = ZS_REGION_NONE;
    inst->dst.hstride = 1;
    inst->dst.mme = ZS_MME_NONE;
    for (unsigned i = 0; i < 3; i++)
        inst->src[i].mme = ZS_MME_NONE;
    if (opcode->flags & ZS_OPC_SATURATE && zs_legacy_get(d.bits, ZS_F_SATURATE))
        inst->dst.modifiers = ZS_MOD_SAT;
    if (inst->flags & ZS_INST_ALIGN16)
        return decode16(d, inst);
    return model->platform >= ZS_ISA_GEN11 ? decode1(d, inst) : ZS_ISA_BAD_ALIGN16;
}
