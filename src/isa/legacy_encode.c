/* SPDX-License-Identifier: MIT */
/*
 * Encoder of the legacy encodings, Gen8 to Gen11: the reverse of legacy_decode.c, legacy_send.c and
 * legacy_ternary.c. Fields that say nothing get what Intel's assembler puts there.
 */
#include "isa/encode_common.h"
#include "isa/legacy.h"

static void encode_options(struct zs_isa_encoder *e)
{
    uint32_t flags = e->inst->flags;
    bool send = zs_isa_opcode_is_send(e->opcode);
    uint32_t thread = flags & ZS_INST_ATOMIC      ? 1
                      : flags & ZS_INST_SWITCH    ? 2
                      : flags & ZS_INST_NOPREEMPT ? 3
                                                  : 0;
    uint32_t deps = (flags & ZS_INST_NODDCLR ? 1u : 0) | (flags & ZS_INST_NODDCHK ? 2u : 0);
    zs_enc_put_flag(e, ZS_F_BREAKPOINT, flags & ZS_INST_BREAKPOINT);
    zs_enc_put(e, ZS_F_THREAD_CTRL, thread);
    if (flags & ZS_INST_ACCWREN && (send || zs_isa_opcode_is_branch(e->opcode)))
        zs_enc_fail(e, ZS_F_ACC_WR);
    if (flags & ZS_INST_NOSRCDEPSET && !send)
        zs_enc_fail(e, ZS_F_SEND_NO_SRC_DEP);
    if (deps && send)
        zs_enc_fail(e, ZS_F_DEP_CTRL);
    if (!send)
        zs_enc_put(e, ZS_F_DEP_CTRL, deps);
    if (flags & ZS_INST_ACCWREN)
        zs_enc_put(e, ZS_F_ACC_WR, 1);
    if (flags & ZS_INST_NOSRCDEPSET)
        zs_enc_put(e, ZS_F_SEND_NO_SRC_DEP, 1);
    if (flags & ZS_INST_BRANCH_CTRL)
        zs_enc_put(e, ZS_F_BRANCH_CTRL, 1);
}

/* Three-source instructions of one channel have several in disguise: see legacy_ternary.c. */
static uint32_t encoded_exec_size(const struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    bool disguised = e->opcode->form == ZS_FORM_TERNARY && inst->exec_size == 1 &&
                     inst->op != ZS_OP_MADM && e->model->platform < ZS_ISA_GEN11;
    return !disguised ? inst->exec_size : inst->dst.type == ZS_TYPE_DF ? 2 : 4;
}

static void encode_controls(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    zs_enc_check_support(e, zs_legacy_is_macro(inst->op, inst->subfunction));
    if (inst->swsb.pipe || inst->swsb.token)
        zs_enc_fail(e, ZS_F_SWSB);
    zs_enc_put_log2(e, ZS_F_EXEC_SIZE, encoded_exec_size(e));
    if (inst->channel_offset % 4)
        zs_enc_fail(e, ZS_F_CHAN_OFF);
    zs_enc_put(e, ZS_F_CHAN_OFF, inst->channel_offset / 4);
    zs_enc_put_flag(e, ZS_F_MASK_CTRL, inst->flags & ZS_INST_NOMASK);
    zs_enc_put(e, ZS_F_PRED_CTRL, inst->pred);
    zs_enc_put_flag(e, ZS_F_PRED_INV, inst->flags & ZS_INST_PRED_INVERSE);
    if (inst->pred || inst->cond) {
        zs_enc_put(e, ZS_F_FLAG_REG, inst->flag_reg);
        zs_enc_put(e, ZS_F_FLAG_SUBREG, inst->flag_subreg);
    }
    if (inst->op == ZS_OP_MATH)
        zs_enc_put(e, ZS_F_FUNCTION, inst->subfunction);
    else if (!zs_isa_opcode_is_send(e->opcode))
        zs_enc_put(e, ZS_F_COND, inst->cond);
    zs_enc_put_flag(e, ZS_F_SATURATE, inst->dst.modifiers & ZS_MOD_SAT);
    encode_options(e);
}

/* ---- one and two sources ---- */

static bool in_align16(const struct zs_isa_encoder *e)
{
    return zs_isa_get(e->layout, e->bits, ZS_F_ACCESS_MODE);
}

static void encode_dst(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *dst = &e->inst->dst;
    zs_enc_put_code(e, ZS_F_DST_TYPE, e->model->register_types, 16, dst->type);
    if (!in_align16(e) || dst->kind == ZS_OPERAND_INDIRECT)
        zs_enc_put_stride(e, ZS_F_DST_HSTRIDE, dst->hstride);
    else
        zs_enc_put(e, ZS_F_DST_HSTRIDE, 0);
    zs_enc_put(e, ZS_F_DST_FILE, dst->file == ZS_FILE_GRF ? ZS_LEGACY_GRF : ZS_LEGACY_ARF);
    if (dst->kind == ZS_OPERAND_INDIRECT) {
        zs_enc_put(e, ZS_F_DST_INDIRECT, 1);
        zs_enc_put(e, ZS_F_DST_ADDR_SUBREG, dst->subreg);
        zs_enc_put_signed(e, ZS_F_DST_ADDR_IMM, dst->offset_B);
        return;
    }
    if (in_align16(e) && dst->file == ZS_FILE_MME) {
        zs_enc_put(e, ZS_F_DST_REG, ZS_LEGACY_MME0);
        zs_enc_put(e, ZS_F_DST_CHAN_EN, dst->reg);
        zs_enc_put(e, ZS_F_DST_SUBREG16, dst->subreg_B / 16);
        return;
    }
    zs_enc_put_register(e, ZS_F_DST_REG, dst);
    if (dst->kind == ZS_OPERAND_MACRO) {
        zs_enc_put(e, ZS_F_DST_MME, dst->mme);
    } else if (in_align16(e)) {
        zs_enc_put(e, ZS_F_DST_CHAN_EN, ZS_LEGACY_CHAN_XYZW);
        zs_enc_put(e, ZS_F_DST_SUBREG16, dst->subreg_B / 16);
    } else {
        zs_enc_put(e, ZS_F_DST_SUBREG, dst->subreg_B);
    }
}

static enum zs_isa_field field_at(enum zs_isa_field field, uint32_t at)
{
    return (enum zs_isa_field)(field + at);
}

static void encode_region(struct zs_isa_encoder *e, uint32_t at, const struct zs_isa_operand *op)
{
    zs_enc_put_stride(e, field_at(ZS_F_SRC0_HSTRIDE, at), op->hstride);
    zs_enc_put_log2(e, field_at(ZS_F_SRC0_WIDTH, at), op->width);
    if (op->vstride == ZS_REGION_VXH)
        zs_enc_put(e, field_at(ZS_F_SRC0_VSTRIDE, at), ZS_LEGACY_VXH);
    else
        zs_enc_put_stride(e, field_at(ZS_F_SRC0_VSTRIDE, at), op->vstride);
}

/* 16-bit immediates stand twice. */
static void encode_immediate(struct zs_isa_encoder *e, uint32_t at, const struct zs_isa_operand *op)
{
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)op->type);
    zs_enc_put_code(e, field_at(ZS_F_SRC0_TYPE, at), e->model->immediate_types, 16, op->type);
    zs_enc_put(e, field_at(ZS_F_SRC0_FILE, at), ZS_LEGACY_IMM);
    if (bits == 64)
        zs_enc_put(e, ZS_F_IMM64, op->imm);
    else if (bits == 16)
        zs_enc_put(e, ZS_F_IMM32, (op->imm & 0xffff) * 0x10001);
    else
        zs_enc_put(e, ZS_F_IMM32, op->imm);
}

static void encode_direct_src(struct zs_isa_encoder *e, uint32_t at,
                              const struct zs_isa_operand *op)
{
    if (in_align16(e) && op->file == ZS_FILE_MME) {
        zs_enc_put(e, field_at(ZS_F_SRC0_REG, at), ZS_LEGACY_MME0);
        zs_enc_put(e, field_at(ZS_F_SRC0_MME, at), op->reg);
        zs_enc_put(e, field_at(ZS_F_SRC0_VSTRIDE, at), 3);
        return;
    }
    zs_enc_put_register(e, field_at(ZS_F_SRC0_REG, at), op);
    if (!in_align16(e)) {
        if (op->kind == ZS_OPERAND_MACRO)
            zs_enc_put(e, field_at(ZS_F_SRC0_MME, at), op->mme);
        else
            zs_enc_put(e, field_at(ZS_F_SRC0_SUBREG, at), op->subreg_B);
        encode_region(e, at, op);
        return;
    }
    uint32_t swizzle = ZS_LEGACY_SWIZZLE_XYZW;
    if (op->kind == ZS_OPERAND_MACRO) /* the low half is the macro register */
        swizzle = op->mme;
    zs_enc_put(e, field_at(ZS_F_SRC0_SUBREG16, at), op->subreg_B / 16);
    zs_enc_put(e, field_at(ZS_F_SRC0_CHAN_SEL, at), swizzle);
    zs_enc_put(e, field_at(ZS_F_SRC0_VSTRIDE, at),
               op->kind == ZS_OPERAND_MACRO && op->type == ZS_TYPE_DF ? 2 : 3);
}

static void encode_src(struct zs_isa_encoder *e, unsigned to, const struct zs_isa_operand *op)
{
    uint32_t at = to * ZS_F_SRC_STEP;
    if (op->kind == ZS_OPERAND_IMM) {
        encode_immediate(e, at, op);
        return;
    }
    zs_enc_put_code(e, field_at(ZS_F_SRC0_TYPE, at), e->model->register_types, 16, op->type);
    zs_enc_put(e, field_at(ZS_F_SRC0_FILE, at),
               op->file == ZS_FILE_GRF ? ZS_LEGACY_GRF : ZS_LEGACY_ARF);
    zs_enc_put_flag(e, field_at(ZS_F_SRC0_ABS, at), op->modifiers & ZS_MOD_ABS);
    zs_enc_put_flag(e, field_at(ZS_F_SRC0_NEG, at), op->modifiers & ZS_MOD_NEG);
    if (op->kind != ZS_OPERAND_INDIRECT) {
        encode_direct_src(e, at, op);
        return;
    }
    zs_enc_put(e, field_at(ZS_F_SRC0_INDIRECT, at), 1);
    zs_enc_put(e, field_at(ZS_F_SRC0_ADDR_SUBREG, at), op->subreg);
    zs_enc_put_signed(e, field_at(ZS_F_SRC0_ADDR_IMM, at), op->offset_B);
    encode_region(e, at, op);
}

/* mme1 to mme7 are reached through Align16 alone: see legacy_decode.c. */
static bool names_mme(const struct zs_isa_inst *inst)
{
    bool found = inst->dst.file == ZS_FILE_MME && inst->dst.kind == ZS_OPERAND_REG;
    for (unsigned i = 0; i < inst->source_count && i < 2; i++)
        found = found || (inst->src[i].file == ZS_FILE_MME && inst->src[i].kind == ZS_OPERAND_REG);
    return found;
}

static void encode_basic(struct zs_isa_encoder *e)
{
    bool align16 = zs_legacy_is_macro(e->inst->op, e->inst->subfunction) ||
                   (e->inst->flags & ZS_INST_ALIGN16 && names_mme(e->inst));
    if (align16 && e->model->platform < ZS_ISA_GEN11)
        zs_enc_put(e, ZS_F_ACCESS_MODE, 1);
    encode_dst(e);
    for (unsigned i = 0; i < e->inst->source_count && i < 2; i++)
        encode_src(e, i, &e->inst->src[i]);
}

/* ---- branches ---- */

static void encode_label(struct zs_isa_encoder *e, enum zs_isa_field field,
                         const struct zs_isa_operand *op, int64_t behind_B)
{
    int64_t distance_B = (int64_t)op->imm - behind_B;
    if (op->kind != ZS_OPERAND_LABEL)
        zs_enc_fail(e, field);
    else
        zs_enc_put_signed(e, field, distance_B);
}

/* The target in src1's place, src0 its type. */
static void encode_call_target(struct zs_isa_encoder *e, int64_t behind_B)
{
    const struct zs_isa_operand *op = &e->inst->src[0];
    if (op->kind != ZS_OPERAND_LABEL) {
        encode_src(e, 1, op);
        return;
    }
    zs_enc_put(e, ZS_F_SRC1_FILE, ZS_LEGACY_IMM);
    zs_enc_put_code(e, ZS_F_SRC1_TYPE, e->model->immediate_types, 16, op->type);
    encode_label(e, ZS_F_JIP, op, behind_B);
}

static void encode_brd(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *op = &e->inst->src[0];
    if (op->kind != ZS_OPERAND_LABEL) {
        encode_src(e, 0, op);
        return;
    }
    zs_enc_put(e, ZS_F_SRC0_FILE, ZS_LEGACY_IMM);
    zs_enc_put_code(e, ZS_F_SRC0_TYPE, e->model->immediate_types, 16, op->type);
    encode_label(e, ZS_F_JIP, op, 0);
    if (e->opcode->form == ZS_FORM_BRC)
        encode_label(e, ZS_F_UIP, &e->inst->src[1], 0);
}

/* Operands that branches imply are spelled out: ip, and the files of labels. */
static void encode_implied(struct zs_isa_encoder *e)
{
    enum zs_isa_form form = (enum zs_isa_form)e->opcode->form;
    zs_enc_put(e, ZS_F_DST_HSTRIDE, 1);
    if (form == ZS_FORM_JUMP || form == ZS_FORM_BRD || form == ZS_FORM_BRC)
        zs_enc_put(e, ZS_F_DST_REG, ZS_LEGACY_IP);
    if (form == ZS_FORM_JUMP)
        zs_enc_put(e, ZS_F_SRC0_REG, ZS_LEGACY_IP);
    else if (form == ZS_FORM_BRD || form == ZS_FORM_BRC)
        zs_enc_put_code(e, ZS_F_DST_TYPE, e->model->register_types, 16, ZS_TYPE_D);
    if (form == ZS_FORM_BRANCH || form == ZS_FORM_BRANCH2) {
        uint32_t at = form == ZS_FORM_BRANCH ? ZS_F_SRC_STEP : 0;
        zs_enc_put(e, field_at(ZS_F_SRC0_FILE, at), ZS_LEGACY_IMM);
        zs_enc_put_code(e, field_at(ZS_F_SRC0_TYPE, at), e->model->immediate_types, 16, ZS_TYPE_D);
    }
}

static void encode_branch(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    if (e->opcode->form != ZS_FORM_CALL)
        encode_implied(e);
    switch (e->opcode->form) {
    case ZS_FORM_JUMP:
        encode_call_target(e, inst->flags & ZS_INST_COMPACTED ? 8 : 16);
        break;
    case ZS_FORM_CALL:
        encode_dst(e);
        encode_call_target(e, 0);
        break;
    case ZS_FORM_RET:
        encode_src(e, 0, &inst->src[0]);
        break;
    case ZS_FORM_BRD:
    case ZS_FORM_BRC:
        encode_brd(e);
        break;
    default:
        encode_label(e, ZS_F_JIP, &inst->src[0], 0);
        if (e->opcode->form == ZS_FORM_BRANCH2)
            encode_label(e, ZS_F_UIP, &inst->src[1], 0);
        break;
    }
}

/* The register that is waited on is destination, too. */
static void encode_wait(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *op = &e->inst->src[0];
    encode_src(e, 0, op);
    if (op->kind == ZS_OPERAND_REG) {
        zs_enc_put_register(e, ZS_F_DST_REG, op);
        zs_enc_put(e, ZS_F_DST_FILE, op->file == ZS_FILE_GRF ? ZS_LEGACY_GRF : ZS_LEGACY_ARF);
        zs_enc_put_code(e, ZS_F_DST_TYPE, e->model->register_types, 16, op->type);
    }
    zs_enc_put(e, ZS_F_DST_HSTRIDE, 1);
}

/* ---- sends ---- */

static void encode_send_dst(struct zs_isa_encoder *e, bool split)
{
    const struct zs_isa_operand *dst = &e->inst->dst;
    zs_enc_put_code(e, ZS_F_DST_TYPE, e->model->register_types, 16, dst->type);
    zs_enc_put(e, split ? ZS_F_SENDS_DST_FILE : ZS_F_DST_FILE,
               dst->file == ZS_FILE_GRF ? ZS_LEGACY_GRF : ZS_LEGACY_ARF);
    if (!split)
        zs_enc_put_stride(e, ZS_F_DST_HSTRIDE, dst->hstride);
    if (dst->kind != ZS_OPERAND_INDIRECT) {
        zs_enc_put_register(e, ZS_F_DST_REG, dst);
        return;
    }
    zs_enc_put(e, ZS_F_DST_INDIRECT, 1);
    zs_enc_put(e, ZS_F_DST_ADDR_SUBREG, dst->subreg);
    if (!split)
        zs_enc_put_signed(e, ZS_F_DST_ADDR_IMM, dst->offset_B);
    else if (dst->offset_B % 16)
        zs_enc_fail(e, ZS_F_SENDS_DST_ADDR_IMM);
    else
        zs_enc_put_signed(e, ZS_F_SENDS_DST_ADDR_IMM, dst->offset_B / 16);
}

static void encode_send_src0(struct zs_isa_encoder *e, bool split)
{
    const struct zs_isa_operand *op = &e->inst->src[0];
    enum zs_isa_field offset = split ? ZS_F_SENDS_SRC0_ADDR_IMM : ZS_F_SEND_SRC0_ADDR_IMM;
    bool whole = e->model->platform < ZS_ISA_GEN9; /* offsets of bytes */
    if (!split) {
        zs_enc_put_code(e, ZS_F_SRC0_TYPE, e->model->register_types, 16, op->type);
        zs_enc_put(e, ZS_F_SRC0_FILE, ZS_LEGACY_GRF);
    }
    if (op->file != ZS_FILE_GRF)
        zs_enc_fail(e, ZS_F_SRC0_FILE);
    if (op->kind != ZS_OPERAND_INDIRECT) {
        zs_enc_put(e, ZS_F_SRC0_REG, op->reg);
        return;
    }
    zs_enc_put(e, ZS_F_SRC0_INDIRECT, 1);
    zs_enc_put(e, ZS_F_SRC0_ADDR_SUBREG, op->subreg);
    if (whole)
        zs_enc_put_signed(e, ZS_F_SRC0_ADDR_IMM, op->offset_B);
    else if (op->offset_B % 16)
        zs_enc_fail(e, offset);
    else
        zs_enc_put_signed(e, offset, op->offset_B / 16);
}

static void encode_exdesc(struct zs_isa_encoder *e, bool split)
{
    uint32_t exdesc = e->inst->exdesc;
    zs_enc_put(e, ZS_F_SEND_SFID, exdesc & 15);
    if (split) {
        zs_enc_put(e, ZS_F_SENDS_EXDESC_6, exdesc >> 6 & 15);
        zs_enc_put(e, ZS_F_SENDS_EXDESC_16, exdesc >> 16);
        return;
    }
    if (e->model->platform < ZS_ISA_GEN9) {
        if (exdesc & ~UINT32_C(0x2f))
            zs_enc_fail(e, ZS_F_SEND_EXDESC_16);
        return;
    }
    zs_enc_put(e, ZS_F_SEND_EXDESC_16, exdesc >> 16 & 15);
    zs_enc_put(e, ZS_F_SEND_EXDESC_20, exdesc >> 20 & 15);
    zs_enc_put(e, ZS_F_SEND_EXDESC_24, exdesc >> 24 & 15);
    zs_enc_put(e, ZS_F_SEND_EXDESC_28, exdesc >> 28);
}

/* A descriptor in a0.0 is spelled out as src1, where an immediate is src1 as well. */
static void encode_desc(struct zs_isa_encoder *e, bool split)
{
    const struct zs_isa_inst *inst = e->inst;
    bool in_register = inst->flags & ZS_INST_DESC_REG;
    zs_enc_put_flag(e, ZS_F_SEND_EOT, inst->flags & ZS_INST_EOT);
    if (inst->desc_subreg)
        zs_enc_fail(e, ZS_F_SEND_DESC);
    if (split) {
        zs_enc_put_flag(e, ZS_F_SENDS_DESC_REG, in_register);
    } else {
        zs_enc_put(e, ZS_F_SEND_DESC_FILE, in_register ? ZS_LEGACY_ARF : ZS_LEGACY_IMM);
    }
    if (!in_register)
        zs_enc_put(e, ZS_F_SEND_DESC, inst->desc);
    else if (!split)
        zs_enc_put(e, ZS_F_SRC1_REG, ZS_LEGACY_A0);
}

static void encode_send(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    bool split = e->opcode->form == ZS_FORM_SENDS;
    encode_send_dst(e, split);
    encode_send_src0(e, split);
    encode_desc(e, split);
    if (split) {
        zs_enc_put_flag(e, ZS_F_SENDS_SRC1_FILE, inst->src[1].file == ZS_FILE_GRF);
        zs_enc_put_register(e, ZS_F_SENDS_SRC1_REG, &inst->src[1]);
    }
    if (!(inst->flags & ZS_INST_EXDESC_REG)) {
        encode_exdesc(e, split);
        return;
    }
    if (!split)
        zs_enc_fail(e, ZS_F_SENDS_EXDESC_REG);
    zs_enc_put(e, ZS_F_SENDS_EXDESC_REG, 1);
    zs_enc_put(e, ZS_F_SENDS_EXDESC_SUBREG, inst->exdesc_subreg);
}

/* ---- three sources ---- */

static void encode_ternary_modifiers(struct zs_isa_encoder *e)
{
    for (unsigned i = 0; i < 3; i++) {
        uint32_t at = i * ZS_F_T_SRC_STEP;
        const struct zs_isa_operand *op = &e->inst->src[i];
        zs_enc_put_flag(e, field_at(ZS_F_T_SRC0_ABS, at), op->modifiers & ZS_MOD_ABS);
        zs_enc_put_flag(e, field_at(ZS_F_T_SRC0_NEG, at), op->modifiers & ZS_MOD_NEG);
    }
}

static void encode_dst16(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *dst = &e->inst->dst;
    uint32_t size_B = zs_isa_type_bits((enum zs_isa_type)dst->type) / 8;
    uint32_t mask = ZS_LEGACY_CHAN_XYZW, subreg_B = dst->subreg_B;
    zs_enc_put_code(e, ZS_F_T16_DST_TYPE, zs_legacy_ternary_types, 8, dst->type);
    zs_enc_put(e, ZS_F_T_DST_REG, dst->reg);
    if (dst->file != ZS_FILE_GRF)
        zs_enc_fail(e, ZS_F_T_DST_REG);
    if (dst->kind == ZS_OPERAND_MACRO) {
        zs_enc_put(e, ZS_F_T16_DST_CHAN_EN, dst->mme);
        return;
    }
    if (e->inst->exec_size == 1) { /* one component of four, or one pair of two */
        uint32_t group_B = size_B == 2 ? 8 : 16;
        uint32_t component = subreg_B % group_B / ZS_MAX(size_B, 1u);
        mask = size_B == 8 ? 3u << 2 * component : 1u << component;
        subreg_B -= subreg_B % group_B;
        if (size_B < 2)
            zs_enc_fail(e, ZS_F_T16_DST_CHAN_EN);
    }
    zs_enc_put(e, ZS_F_T16_DST_CHAN_EN, mask);
    if (subreg_B % 4)
        zs_enc_fail(e, ZS_F_T16_DST_SUBREG);
    zs_enc_put(e, ZS_F_T16_DST_SUBREG, subreg_B / 4);
}

static void encode_src16(struct zs_isa_encoder *e, unsigned source)
{
    const struct zs_isa_operand *op = &e->inst->src[source];
    uint32_t at16 = source * ZS_F_T16_SRC_STEP, at = source * ZS_F_T_SRC_STEP;
    bool scalar = op->hstride == 0;
    bool pair = scalar && op->type == ZS_TYPE_DF && e->inst->exec_size == 1;
    if (op->file != ZS_FILE_GRF || op->kind == ZS_OPERAND_IMM || op->kind == ZS_OPERAND_INDIRECT)
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_REG, at));
    zs_enc_put(e, field_at(ZS_F_T_SRC0_REG, at), op->reg);
    if (op->kind == ZS_OPERAND_MACRO) {
        zs_enc_put(e, field_at(ZS_F_T16_SRC0_CHAN_SEL, at16), op->mme);
        return;
    }
    if (op->subreg_B % 2)
        zs_enc_fail(e, field_at(ZS_F_T16_SRC0_SUBREG, at16));
    if (pair) { /* a double of two: there is no replicating it */
        zs_enc_put(e, field_at(ZS_F_T16_SRC0_CHAN_SEL, at16),
                   op->subreg_B & 8 ? ZS_LEGACY_SWIZZLE_ZWZW : ZS_LEGACY_SWIZZLE_XYXY);
        zs_enc_put(e, field_at(ZS_F_T16_SRC0_SUBREG, at16), (op->subreg_B & ~8u) / 2);
        return;
    }
    zs_enc_put_flag(e, field_at(ZS_F_T16_SRC0_REP, at16), scalar);
    if (!scalar || e->model->platform < ZS_ISA_GEN9)
        zs_enc_put(e, field_at(ZS_F_T16_SRC0_CHAN_SEL, at16), ZS_LEGACY_SWIZZLE_XYZW);
    zs_enc_put(e, field_at(ZS_F_T16_SRC0_SUBREG, at16), op->subreg_B / 2);
    if (!scalar && (op->hstride != 1 || (source < 2 && op->vstride != 2 && op->vstride != 4)))
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_VSTRIDE, at));
}

static void encode_ternary16(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *src = e->inst->src;
    zs_enc_put(e, ZS_F_ACCESS_MODE, 1);
    zs_enc_put_code(e, ZS_F_T16_SRC_TYPE, zs_legacy_ternary_types, 8, src[0].type);
    for (unsigned i = 1; i < 3; i++) {
        bool half = src[i].type == ZS_TYPE_HF;
        bool mixed = src[0].type == ZS_TYPE_F || src[0].type == ZS_TYPE_HF;
        bool fits = mixed && e->model->platform >= ZS_ISA_GEN9 ? half || src[i].type == ZS_TYPE_F
                                                               : src[i].type == src[0].type;
        if (!fits)
            zs_enc_fail(e, ZS_F_T16_SRC_TYPE);
        zs_enc_put_flag(e, i == 1 ? ZS_F_T16_SRC1_HALF : ZS_F_T16_SRC2_HALF,
                        half && e->model->platform >= ZS_ISA_GEN9);
    }
    encode_dst16(e);
    for (unsigned i = 0; i < 3; i++)
        encode_src16(e, i);
}

static void put_type1(struct zs_isa_encoder *e, enum zs_isa_field field, uint32_t type)
{
    uint64_t exec = zs_isa_get(e->layout, e->bits, ZS_F_T_EXEC_TYPE);
    if (!type)
        zs_enc_fail(e, field);
    else
        zs_enc_put_code(e, field, zs_legacy_ternary_types1[exec], 8, type);
}

static void encode_src1(struct zs_isa_encoder *e, unsigned source)
{
    const struct zs_isa_operand *op = &e->inst->src[source];
    uint32_t at = source * ZS_F_T_SRC_STEP;
    put_type1(e, field_at(ZS_F_T_SRC0_TYPE, at), op->type);
    if (op->kind == ZS_OPERAND_IMM) {
        zs_enc_put(e, field_at(ZS_F_T_SRC0_FILE, at), 1);
        uint64_t imm = op->imm; /* dwords are sign-extended */
        if (op->type == ZS_TYPE_D && (int32_t)imm == (int16_t)imm)
            imm &= 0xffff;
        zs_enc_put(e, field_at(ZS_F_T_SRC0_IMM, at), imm);
        return;
    }
    zs_enc_put_register(e, field_at(ZS_F_T_SRC0_REG, at), op);
    zs_enc_put_flag(e, field_at(ZS_F_T_SRC0_FILE, at), op->file != ZS_FILE_GRF);
    if (op->file != ZS_FILE_GRF && source != 1 && op->type != ZS_TYPE_NF) /* else an immediate */
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_FILE, at));
    if (op->kind == ZS_OPERAND_MACRO) {
        zs_enc_put(e, field_at(ZS_F_T_SRC0_MME, at), op->mme);
        return;
    }
    zs_enc_put(e, field_at(ZS_F_T_SRC0_SUBREG, at), op->subreg_B);
    zs_enc_put_stride(e, field_at(ZS_F_T_SRC0_HSTRIDE, at), op->hstride);
    if (source < 2)
        zs_enc_put_code(e, field_at(ZS_F_T_SRC0_VSTRIDE, at), zs_legacy_ternary_vstride, 4,
                        op->vstride);
}

static void encode_ternary1(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *dst = &e->inst->dst;
    bool is_float = false;
    for (unsigned i = 0; i < 8; i++)
        is_float = is_float || (dst->type && zs_legacy_ternary_types1[1][i] == dst->type);
    zs_enc_put_flag(e, ZS_F_T_EXEC_TYPE, is_float);
    put_type1(e, ZS_F_T_DST_TYPE, dst->type);
    zs_enc_put_flag(e, ZS_F_T_DST_FILE, dst->file != ZS_FILE_GRF);
    zs_enc_put_register(e, ZS_F_T_DST_REG, dst);
    if (dst->kind == ZS_OPERAND_MACRO) {
        zs_enc_put(e, ZS_F_T_DST_MME, dst->mme);
    } else {
        if (dst->subreg_B % 8)
            zs_enc_fail(e, ZS_F_T_DST_SUBREG);
        zs_enc_put(e, ZS_F_T_DST_SUBREG, dst->subreg_B / 8);
        zs_enc_put(e, ZS_F_T_DST_HSTRIDE, dst->hstride - 1u);
    }
    for (unsigned i = 0; i < 3; i++)
        encode_src1(e, i);
}

enum zs_isa_field zs_legacy_encode(const struct zs_isa_model *model,
                                   const struct zs_isa_opcode *opcode,
                                   const struct zs_isa_inst *inst, uint64_t bits[2])
{
    struct zs_isa_encoder encoder = {model, &zs_isa_layout_legacy, opcode, inst, bits, ZS_F_COUNT};
    struct zs_isa_encoder *e = &encoder;
    if (opcode->form == ZS_FORM_NULLARY) {
        zs_enc_put_flag(e, ZS_F_BREAKPOINT, inst->flags & ZS_INST_BREAKPOINT);
        return e->bad;
    }
    encode_controls(e);
    switch (opcode->form) {
    case ZS_FORM_UNARY:
    case ZS_FORM_BINARY:
    case ZS_FORM_MATH:
        encode_basic(e);
        break;
    case ZS_FORM_WAIT:
        encode_wait(e);
        break;
    case ZS_FORM_TERNARY:
        encode_ternary_modifiers(e);
        if (model->platform < ZS_ISA_GEN11)
            encode_ternary16(e);
        else
            encode_ternary1(e);
        break;
    case ZS_FORM_SEND:
    case ZS_FORM_SENDS:
        encode_send(e);
        break;
    default:
        encode_branch(e);
        break;
    }
    return e->bad;
}
