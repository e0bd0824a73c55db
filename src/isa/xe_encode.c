/* SPDX-License-Identifier: MIT */
/*
 * Encoder of the encodings from Gen12LP on: the reverse of xe_decode.c, xe_ternary.c and xe_send.c.
 * Fields that say nothing get what Intel's assembler puts there.
 */
#include "isa/encode_common.h"
#include "isa/xe.h"

static bool is_wide(const struct zs_isa_encoder *e)
{
    return e->layout == &zs_isa_layout_xe2;
}

static bool is_xe3p(const struct zs_isa_encoder *e)
{
    return e->model->platform >= ZS_ISA_XE3P;
}

static enum zs_isa_field field_at(enum zs_isa_field field, uint32_t at)
{
    return (enum zs_isa_field)(field + at);
}

/* ---- controls ---- */

static void encode_swsb(struct zs_isa_encoder *e)
{
    uint32_t code;
    if (zs_xe_encode_swsb(e->model->platform, e->inst, &code))
        zs_enc_put(e, ZS_F_SWSB, code);
    else
        zs_enc_fail(e, ZS_F_SWSB);
}

static void encode_predicate(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    uint32_t code = inst->pred;
    if (is_wide(e) && code > ZS_PRED_SEQ)
        code = code >= ZS_PRED_ANY ? code - ZS_PRED_ANY + 2u : UINT32_MAX;
    else if (code > ZS_PRED_ALL32H)
        code = UINT32_MAX;
    zs_enc_put(e, ZS_F_PRED_CTRL, code);
    zs_enc_put_flag(e, ZS_F_PRED_INV, inst->flags & ZS_INST_PRED_INVERSE);
    if (inst->pred || inst->cond) {
        zs_enc_put(e, ZS_F_FLAG_REG, inst->flag_reg);
        zs_enc_put(e, ZS_F_FLAG_SUBREG, inst->flag_subreg);
    }
}

static void encode_condition(struct zs_isa_encoder *e)
{
    enum { SYNC_FLUSH = 12 };
    static const uint8_t bfn_conditions[4] = {ZS_COND_NONE, ZS_COND_EQ, ZS_COND_GT, ZS_COND_LT};
    const struct zs_isa_inst *inst = e->inst;
    if (inst->op == ZS_OP_SYNC && inst->subfunction == SYNC_FLUSH && !is_xe3p(e))
        zs_enc_fail(e, ZS_F_FUNCTION);
    if (inst->op == ZS_OP_DNSCL)
        return; /* has none */
    if (e->opcode->form == ZS_FORM_BFN)
        zs_enc_put_code(e, ZS_F_BFN_COND, bfn_conditions, 4, inst->cond);
    else if (inst->op == ZS_OP_MATH || inst->op == ZS_OP_SYNC || inst->op == ZS_OP_SHFL ||
             inst->op == ZS_OP_LFSR)
        zs_enc_put(e, ZS_F_FUNCTION, inst->subfunction);
    else if (inst->cond)
        zs_enc_put(e, ZS_F_COND, inst->cond);
}

static void encode_options(struct zs_isa_encoder *e)
{
    uint32_t flags = e->inst->flags;
    if (flags & ZS_INST_ACCWREN &&
        (zs_isa_opcode_is_send(e->opcode) || zs_isa_opcode_is_branch(e->opcode) ||
         e->opcode->form == ZS_FORM_SYNC))
        zs_enc_fail(e, ZS_F_ACC_WR);
    if (flags & ZS_INST_ACCWREN)
        zs_enc_put(e, ZS_F_ACC_WR, 1);
    if (flags & ZS_INST_ATOMIC && e->opcode->form == ZS_FORM_SENDG)
        zs_enc_fail(e, ZS_F_ATOMIC);
    else if (flags & ZS_INST_ATOMIC)
        zs_enc_put(e, ZS_F_ATOMIC, 1);
    if (flags & ZS_INST_FWD && !(is_xe3p(e) && e->opcode->form == ZS_FORM_DPAS))
        zs_enc_fail(e, ZS_F_FWD);
    else if (flags & ZS_INST_FWD)
        zs_enc_put(e, ZS_F_FWD, 1);
    if (flags & ZS_INST_BRANCH_CTRL)
        zs_enc_put(e, ZS_F_BRANCH_CTRL, 1);
}

static void encode_controls(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    uint32_t step = is_wide(e) ? 8 : 4;
    uint32_t gone = ZS_INST_NODDCLR | ZS_INST_NODDCHK | ZS_INST_NOPREEMPT | ZS_INST_NOSRCDEPSET |
                    ZS_INST_SWITCH | ZS_INST_ALIGN16;
    zs_enc_check_support(e, zs_xe_is_macro(inst->op, inst->subfunction));
    if (inst->flags & gone)
        zs_enc_fail(e, ZS_F_THREAD_CTRL);
    zs_enc_put_log2(e, ZS_F_EXEC_SIZE, inst->exec_size);
    if (inst->channel_offset % step)
        zs_enc_fail(e, ZS_F_CHAN_OFF);
    zs_enc_put(e, ZS_F_CHAN_OFF, inst->channel_offset / step);
    zs_enc_put_flag(e, ZS_F_MASK_CTRL, inst->flags & ZS_INST_NOMASK);
    encode_predicate(e);
    encode_condition(e);
    if (inst->dst.modifiers & ZS_MOD_SAT)
        zs_enc_put(e, ZS_F_SATURATE, 1);
    encode_options(e);
}

/* ---- one and two sources ---- */

/* The highest bit stands with the destination alone. */
static void put_shared_type(struct zs_isa_encoder *e, enum zs_isa_field field, const uint8_t *types,
                            uint32_t type)
{
    uint32_t code = 0, highest = (uint32_t)zs_isa_get(e->layout, e->bits, ZS_F_DST_TYPE) & 8;
    while (code < 15 && types[code] != type) /* the last is that of mov */
        code++;
    if (field == ZS_F_DST_TYPE)
        highest = e->inst->op == ZS_OP_MATH ? 8 : code & 8;
    if (code == 15 || (code & 8) != highest)
        zs_enc_fail(e, field);
    else
        zs_enc_put(e, field, field == ZS_F_DST_TYPE ? code : code & 7);
}

/* Codes of a type that the operation takes. */
static void put_type(struct zs_isa_encoder *e, enum zs_isa_field field, enum zs_xe_operand operand,
                     uint32_t type)
{
    if (field != ZS_F_SRC1_TYPE && zs_xe_shares_type(e->model, e->opcode))
        put_shared_type(e, field, e->model->register_types, type);
    else if (!zs_xe_type_allowed(e->model->platform, e->inst->op, operand, type))
        zs_enc_fail(e, field);
    else
        zs_enc_put_code(e, field, e->model->register_types, 16, type);
}

/* From XeHPC on src1's places are even. */
static void put_halved(struct zs_isa_encoder *e, enum zs_isa_field field, uint32_t value,
                       bool halve)
{
    if (halve && value & 1)
        zs_enc_fail(e, field);
    zs_enc_put(e, field, halve ? value >> 1 : value);
}

/* A fifth bit is put elsewhere from Xe3P on. */
static void put_address_subreg(struct zs_isa_encoder *e, enum zs_isa_field field,
                               const struct zs_isa_operand *op)
{
    zs_enc_put(e, field, is_xe3p(e) && op->subreg < 32 ? op->subreg & 15u : op->subreg);
}

static void encode_dst(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *dst = &e->inst->dst;
    put_type(e, ZS_F_DST_TYPE, ZS_XE_DST, dst->type);
    zs_enc_put_stride(e, ZS_F_DST_HSTRIDE, dst->hstride);
    if (dst->kind == ZS_OPERAND_INDIRECT) {
        zs_enc_put(e, ZS_F_DST_INDIRECT, 1);
        put_address_subreg(e, ZS_F_DST_ADDR_SUBREG, dst);
        zs_enc_put_signed(e, ZS_F_DST_ADDR_IMM, dst->offset_B);
        return;
    }
    zs_enc_put_flag(e, ZS_F_DST_FILE, dst->file == ZS_FILE_GRF);
    zs_enc_put_register(e, ZS_F_DST_REG, dst);
    if (dst->kind == ZS_OPERAND_MACRO)
        zs_enc_put(e, ZS_F_DST_MME, dst->mme);
    else
        zs_enc_put(e, ZS_F_DST_SUBREG, dst->subreg_B);
}

/* That of Xe3P's second source. */
static void encode_flat_region(struct zs_isa_encoder *e, const struct zs_isa_operand *op)
{
    bool scalar = op->vstride == 0;
    bool flat = op->vstride && op->vstride == zs_xe_flat_step(&e->inst->dst, op);
    if (op->width != 1 || op->hstride != 0 || (!scalar && !flat))
        zs_enc_fail(e, ZS_F_SRC1_SCALAR);
    zs_enc_put(e, ZS_F_SRC1_SCALAR, scalar);
}

static void encode_region(struct zs_isa_encoder *e, uint32_t at, const struct zs_isa_operand *op)
{
    enum zs_isa_field vstride = field_at(ZS_F_SRC0_VSTRIDE, at);
    if (at && is_xe3p(e)) {
        encode_flat_region(e, op);
        return;
    }
    zs_enc_put_stride(e, field_at(ZS_F_SRC0_HSTRIDE, at), op->hstride);
    zs_enc_put_log2(e, field_at(ZS_F_SRC0_WIDTH, at), op->width);
    if (op->vstride == ZS_REGION_VXH)
        zs_enc_put(e, vstride, is_wide(e) ? 7 : 15);
    else
        zs_enc_put_stride(e, vstride, op->vstride);
}

/* 16-bit immediates stand twice. */
static void encode_immediate(struct zs_isa_encoder *e, uint32_t at, const struct zs_isa_operand *op)
{
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)op->type);
    if (at == 0 && zs_xe_shares_type(e->model, e->opcode)) { /* of math */
        put_shared_type(e, ZS_F_SRC0_TYPE, e->model->immediate_types, op->type);
        zs_enc_put(e, ZS_F_MATH_IMM, 1);
    } else {
        zs_enc_put_code(e, field_at(ZS_F_SRC0_TYPE, at), e->model->immediate_types, 16, op->type);
        zs_enc_put(e, field_at(ZS_F_SRC0_FILE, at), ZS_XE_IMM);
    }
    if (bits == 64 && (e->opcode->form != ZS_FORM_UNARY || e->inst->cond))
        zs_enc_fail(e, ZS_F_IMM64);
    if (bits == 64)
        zs_enc_put(e, ZS_F_IMM64, op->imm);
    else if (bits == 16)
        zs_enc_put(e, ZS_F_IMM32, (op->imm & 0xffff) * 0x10001);
    else
        zs_enc_put(e, ZS_F_IMM32, op->imm);
}

static void encode_src(struct zs_isa_encoder *e, uint32_t source)
{
    const struct zs_isa_operand *op = &e->inst->src[source];
    uint32_t at = source * ZS_F_SRC_STEP;
    bool halve = is_wide(e) && source == 1;
    if (op->kind == ZS_OPERAND_IMM) {
        if (source + 1u != e->inst->source_count)
            zs_enc_fail(e, field_at(ZS_F_SRC0_FILE, at));
        encode_immediate(e, at, op);
        return;
    }
    put_type(e, field_at(ZS_F_SRC0_TYPE, at), ZS_XE_SRC, op->type);
    zs_enc_put(e, field_at(ZS_F_SRC0_FILE, at), op->file == ZS_FILE_GRF ? ZS_XE_GRF : ZS_XE_ARF);
    zs_enc_put_flag(e, field_at(ZS_F_SRC0_ABS, at), op->modifiers & ZS_MOD_ABS);
    zs_enc_put_flag(e, field_at(ZS_F_SRC0_NEG, at), op->modifiers & ZS_MOD_NEG);
    encode_region(e, at, op);
    if (op->kind == ZS_OPERAND_INDIRECT) {
        enum zs_isa_field offset = field_at(ZS_F_SRC0_ADDR_IMM, at);
        if (e->inst->op == ZS_OP_MATH && e->model->platform != ZS_ISA_XE_HPG)
            zs_enc_fail(e, field_at(ZS_F_SRC0_INDIRECT, at));
        zs_enc_put(e, field_at(ZS_F_SRC0_INDIRECT, at), 1);
        put_address_subreg(e, field_at(ZS_F_SRC0_ADDR_SUBREG, at), op);
        if (halve && op->offset_B & 1)
            zs_enc_fail(e, offset);
        zs_enc_put_signed(e, offset, halve ? op->offset_B / 2 : op->offset_B);
        return;
    }
    zs_enc_put_register(e, field_at(ZS_F_SRC0_REG, at), op);
    if (op->kind == ZS_OPERAND_MACRO)
        zs_enc_put(e, field_at(ZS_F_SRC0_MME, at), op->mme);
    else
        put_halved(e, field_at(ZS_F_SRC0_SUBREG, at), op->subreg_B, halve);
}

static void encode_basic(struct zs_isa_encoder *e)
{
    encode_dst(e);
    for (uint32_t i = 0; i < e->inst->source_count && i < 2; i++)
        encode_src(e, i);
}

/* ---- sync and branches ---- */

static void encode_sync(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *op = &e->inst->src[0];
    zs_enc_put(e, ZS_F_DST_HSTRIDE, 1);
    if (op->kind == ZS_OPERAND_IMM) {
        zs_enc_put_code(e, ZS_F_SRC0_TYPE, e->model->immediate_types, 16, op->type);
        zs_enc_put(e, ZS_F_SRC0_FILE, ZS_XE_IMM);
        zs_enc_put(e, ZS_F_IMM32, op->imm);
        return;
    }
    if (op->file == ZS_FILE_GRF || (!is_wide(e) && op->file != ZS_FILE_NULL))
        zs_enc_fail(e, ZS_F_SRC0_FILE);
    zs_enc_put_code(e, ZS_F_SRC0_TYPE, e->model->register_types, 16, op->type);
    zs_enc_put_register(e, ZS_F_SRC0_REG, op);
    zs_enc_put(e, ZS_F_SRC0_SUBREG, op->subreg_B);
}

static void encode_label(struct zs_isa_encoder *e, enum zs_isa_field field,
                         const struct zs_isa_operand *op)
{
    if (op->kind != ZS_OPERAND_LABEL)
        zs_enc_fail(e, field);
    else
        zs_enc_put_signed(e, field, (int64_t)op->imm);
}

/* A register in place of JIP takes bits of UIP: they must agree. */
static void encode_uip(struct zs_isa_encoder *e, const struct zs_isa_operand *op)
{
    uint64_t taken = zs_isa_get(e->layout, e->bits, ZS_F_UIP) & 0xfffc;
    if (e->inst->src[0].kind == ZS_OPERAND_LABEL)
        encode_label(e, ZS_F_UIP, op);
    else if (op->kind != ZS_OPERAND_LABEL || op->imm != taken)
        zs_enc_fail(e, ZS_F_UIP);
}

static void encode_branch(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    const struct zs_isa_operand *dst = &inst->dst, *op = &inst->src[0];
    if (e->opcode->form == ZS_FORM_CALL) {
        zs_enc_put_flag(e, ZS_F_DST_FILE, dst->file == ZS_FILE_GRF);
        zs_enc_put_register(e, ZS_F_DST_REG, dst);
        put_halved(e, ZS_F_T_DST_SUBREG, dst->subreg_B, is_wide(e));
    }
    if (op->kind == ZS_OPERAND_LABEL) {
        zs_enc_put(e, ZS_F_SRC0_FILE, ZS_XE_IMM);
        encode_label(e, ZS_F_JIP, op);
    } else {
        zs_enc_put(e, ZS_F_SRC0_FILE, op->file == ZS_FILE_GRF ? ZS_XE_GRF : ZS_XE_ARF);
        zs_enc_put_register(e, ZS_F_SRC0_REG, op);
        put_halved(e, ZS_F_T_SRC0_SUBREG, op->subreg_B, is_wide(e));
    }
    if (e->opcode->form == ZS_FORM_BRC && op->kind == ZS_OPERAND_REG && op->file != ZS_FILE_GRF)
        zs_enc_put(e, ZS_F_HAS_UIP, 1);
    if (inst->source_count == 2) {
        zs_enc_put(e, ZS_F_HAS_UIP, 1);
        encode_uip(e, &inst->src[1]);
    }
}

/* ---- sends ---- */

static void encode_desc(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    uint32_t desc = inst->desc;
    if (inst->desc_subreg)
        zs_enc_fail(e, ZS_F_X_DESC_REG);
    if (inst->flags & ZS_INST_DESC_REG) {
        zs_enc_put(e, ZS_F_X_DESC_REG, 1);
        return;
    }
    zs_enc_put(e, ZS_F_X_DESC_0, desc & 0x7ff);
    zs_enc_put(e, ZS_F_X_DESC_11, desc >> 11 & 0x1ff);
    zs_enc_put(e, ZS_F_X_DESC_20, desc >> 20 & 31);
    zs_enc_put(e, ZS_F_X_DESC_25, desc >> 25 & 31);
    zs_enc_put(e, ZS_F_X_DESC_30, desc >> 30);
}

static void put_exdesc(struct zs_isa_encoder *e, uint32_t exdesc)
{
    zs_enc_put(e, ZS_F_X_EXDESC_11, exdesc >> 11 & 0x1fff);
    zs_enc_put(e, ZS_F_X_EXDESC_24, exdesc >> 24 & 3);
    zs_enc_put(e, ZS_F_X_EXDESC_26, exdesc >> 26 & 3);
    zs_enc_put(e, ZS_F_X_EXDESC_28, exdesc >> 28);
}

/* A gathered payload has the place of the length. */
static void put_second_length(struct zs_isa_encoder *e)
{
    if (e->inst->source_count > 1)
        zs_enc_put(e, ZS_F_X_SRC1_LENGTH, e->inst->src[1].grf_count);
}

/* An offset lies around the register's number, and around ExBSO but for ugm. */
static void encode_exdesc_register(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    bool has_offset = e->model->platform >= ZS_ISA_XE2;
    bool ugm = has_offset && inst->sfid == ZS_SFID_UGM;
    uint32_t taken = 0x707ff | (ugm ? 0 : 0x8000);
    if (inst->exdesc_offset & (has_offset ? taken : UINT32_MAX))
        zs_enc_fail(e, ZS_F_X_EXDESC_11);
    put_exdesc(e, inst->exdesc_offset);
    zs_enc_put(e, ZS_F_X_EXDESC_SUBREG, inst->exdesc_subreg);
    if (inst->flags & ZS_INST_EXBSO && (ugm || e->model->platform < ZS_ISA_XE_HP))
        zs_enc_fail(e, ZS_F_X_EXBSO);
    if (inst->flags & ZS_INST_EXBSO)
        zs_enc_put(e, ZS_F_X_EXBSO, 1);
    if (inst->flags & ZS_INST_CPS && has_offset)
        zs_enc_fail(e, ZS_F_X_CPS);
    if (inst->flags & ZS_INST_CPS && inst->flags & ZS_INST_EXBSO)
        zs_enc_put(e, ZS_F_X_CPS, 1);
    if (ugm || inst->flags & ZS_INST_EXBSO)
        put_second_length(e);
}

static void encode_exdesc(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    uint32_t exdesc = inst->exdesc;
    bool has_length = e->model->platform >= ZS_ISA_XE_HPG;
    if (inst->flags & ZS_INST_EXDESC_REG) {
        zs_enc_put(e, ZS_F_X_EXDESC_REG, 1);
        encode_exdesc_register(e);
        return;
    }
    if (exdesc & (has_length ? 0x7ff : 0x3f))
        zs_enc_fail(e, ZS_F_X_EXDESC_11);
    if (has_length)
        put_second_length(e);
    else
        zs_enc_put(e, ZS_F_X_EXDESC_6, exdesc >> 6 & 31);
    put_exdesc(e, exdesc);
}

/* From Xe3P on. Null is the last register where no field says the file. */
static void put_sendg_operand(struct zs_isa_encoder *e, enum zs_isa_field file,
                              enum zs_isa_field reg, const struct zs_isa_operand *op)
{
    bool all = e->inst->op == ZS_OP_SENDGX || e->inst->op == ZS_OP_SENDGXC;
    bool null = op->file == ZS_FILE_NULL;
    if (all && (null ? op->reg != 0 : op->file != ZS_FILE_GRF || op->reg == 511))
        zs_enc_fail(e, file);
    if (!all)
        zs_enc_put_flag(e, file, op->file == ZS_FILE_GRF);
    if (all && null)
        zs_enc_put(e, reg, 255);
    else
        zs_enc_put_register(e, reg, op);
}

static void encode_sendg_desc(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    bool second = inst->flags & ZS_INST_INDIRECT1;
    zs_enc_put(e, ZS_F_G_DESC_0, inst->desc & 0xffff);
    zs_enc_put(e, ZS_F_G_DESC_16, inst->desc >> 16 & 0xfff);
    zs_enc_put(e, ZS_F_G_DESC_28, inst->desc >> 28);
    zs_enc_put(e, ZS_F_G_DESC_32, inst->exdesc & 0x3ff);
    if (inst->exdesc >> 15 || (second && inst->exdesc >> 10))
        zs_enc_fail(e, ZS_F_G_DESC_42);
    zs_enc_put_flag(e, ZS_F_G_INDIRECT0, inst->flags & ZS_INST_INDIRECT0);
    zs_enc_put_flag(e, ZS_F_G_INDIRECT1, second);
    zs_enc_put(e, ZS_F_G_SUBREG0, inst->desc_subreg);
    if (second)
        zs_enc_put(e, ZS_F_G_SUBREG1, inst->exdesc_subreg);
    else
        zs_enc_put(e, ZS_F_G_DESC_42, inst->exdesc >> 10 & 31);
}

static void encode_sendg(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    zs_enc_put_code(e, ZS_F_X_SFID, zs_xe_sfids[1], 16, inst->sfid);
    zs_enc_put_flag(e, ZS_F_G_EOT, inst->flags & ZS_INST_EOT);
    put_sendg_operand(e, ZS_F_G_DST_FILE, ZS_F_DST_REG, &inst->dst);
    put_sendg_operand(e, ZS_F_X_SRC0_FILE, ZS_F_SRC0_REG, &inst->src[0]);
    zs_enc_put(e, ZS_F_G_SRC0_LENGTH, inst->src[0].grf_count);
    if (inst->source_count > 1) {
        put_sendg_operand(e, ZS_F_X_SRC1_FILE, ZS_F_SRC1_REG, &inst->src[1]);
        zs_enc_put(e, ZS_F_X_SRC1_LENGTH, inst->src[1].grf_count);
    } else if (inst->src[0].file == ZS_FILE_S) {
        put_halved(e, ZS_F_X_SRC1_LENGTH, inst->src[0].subreg, true);
    } else {
        zs_enc_fail(e, ZS_F_X_SRC1_FILE);
    }
    encode_sendg_desc(e);
}

static void encode_send(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    zs_enc_put_code(e, ZS_F_X_SFID, zs_xe_sfids[e->model->platform >= ZS_ISA_XE_HPG], 16,
                    inst->sfid);
    zs_enc_put_flag(e, ZS_F_X_EOT, inst->flags & ZS_INST_EOT);
    zs_enc_put_flag(e, ZS_F_X_FUSION, inst->flags & ZS_INST_SERIALIZE);
    zs_enc_put_flag(e, ZS_F_DST_FILE, inst->dst.file == ZS_FILE_GRF);
    zs_enc_put_register(e, ZS_F_DST_REG, &inst->dst);
    zs_enc_put_flag(e, ZS_F_X_SRC0_FILE, inst->src[0].file == ZS_FILE_GRF);
    zs_enc_put_register(e, ZS_F_SRC0_REG, &inst->src[0]);
    if (inst->source_count > 1) {
        zs_enc_put_flag(e, ZS_F_X_SRC1_FILE, inst->src[1].file == ZS_FILE_GRF);
        zs_enc_put_register(e, ZS_F_SRC1_REG, &inst->src[1]);
    } else if (inst->src[0].file == ZS_FILE_S) {
        put_halved(e, ZS_F_X_SRC1_LENGTH, inst->src[0].subreg, true);
    } else {
        zs_enc_fail(e, ZS_F_X_SRC1_FILE);
    }
    encode_desc(e);
    encode_exdesc(e);
}

/* ---- three sources ---- */

static void put_ternary_subreg(struct zs_isa_encoder *e, enum zs_isa_field field, uint32_t subreg_B)
{
    if (e->model->platform == ZS_ISA_XE_LP && field == ZS_F_T_DST_SUBREG && subreg_B % 8)
        zs_enc_fail(e, field);
    put_halved(e, field, subreg_B, is_wide(e));
}

static bool is_float_type(uint32_t type)
{
    for (uint32_t i = 0; i < 8; i++)
        if (type && zs_xe_ternary_types[1][i] == type)
            return true;
    return false;
}

static void put_ternary_type(struct zs_isa_encoder *e, enum zs_isa_field field,
                             enum zs_xe_operand operand, uint32_t type)
{
    bool dpas = e->opcode->form == ZS_FORM_DPAS;
    uint64_t execution = zs_isa_get(e->layout, e->bits, ZS_F_T_EXEC_TYPE);
    bool allowed = dpas ? type != ZS_TYPE_DF || is_wide(e)
                   : type == ZS_TYPE_NF
                       ? !is_wide(e)
                       : zs_xe_type_allowed(e->model->platform, e->inst->op, operand, type);
    if (!allowed)
        zs_enc_fail(e, field);
    zs_enc_put_code(e, field, (dpas ? zs_xe_dpas_types : zs_xe_ternary_types)[execution], 8, type);
}

static void encode_ternary_dst(struct zs_isa_encoder *e)
{
    const struct zs_isa_operand *dst = &e->inst->dst;
    put_ternary_type(e, ZS_F_T_DST_TYPE, ZS_XE_DST, dst->type);
    zs_enc_put_flag(e, ZS_F_T_DST_FILE, dst->file == ZS_FILE_GRF);
    zs_enc_put_register(e, ZS_F_T_DST_REG, dst);
    if (dst->kind == ZS_OPERAND_INDIRECT)
        zs_enc_fail(e, ZS_F_DST_INDIRECT);
    if (dst->kind == ZS_OPERAND_MACRO)
        zs_enc_put(e, ZS_F_T_DST_MME, dst->mme);
    else
        put_ternary_subreg(e, ZS_F_T_DST_SUBREG, dst->subreg_B);
    if (dst->kind == ZS_OPERAND_MACRO || e->opcode->form == ZS_FORM_DPAS)
        return;
    if (dst->hstride != 1 && dst->hstride != 2)
        zs_enc_fail(e, ZS_F_T_DST_HSTRIDE);
    zs_enc_put(e, ZS_F_T_DST_HSTRIDE, dst->hstride == 2);
}

static void encode_ternary_register(struct zs_isa_encoder *e, uint32_t source,
                                    const struct zs_isa_operand *op)
{
    uint32_t at = source * ZS_F_T_SRC_STEP;
    if (op->kind == ZS_OPERAND_INDIRECT)
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_FILE, at));
    zs_enc_put(e, field_at(ZS_F_T_SRC0_FILE, at), op->file == ZS_FILE_GRF ? ZS_XE_GRF : ZS_XE_ARF);
    zs_enc_put_register(e, field_at(ZS_F_T_SRC0_REG, at), op);
    if (op->kind == ZS_OPERAND_MACRO)
        zs_enc_put(e, field_at(ZS_F_T_SRC0_MME, at), op->mme);
    else
        put_ternary_subreg(e, field_at(ZS_F_T_SRC0_SUBREG, at), op->subreg_B);
}

static void encode_ternary_immediate(struct zs_isa_encoder *e, uint32_t source,
                                     const struct zs_isa_operand *op)
{
    uint32_t at = source * ZS_F_T_SRC_STEP, bits = zs_isa_type_bits((enum zs_isa_type)op->type);
    uint64_t low = op->imm & 0xffff, extended = low;
    if (source == 1 || e->inst->op == ZS_OP_MADM)
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_FILE, at));
    if (op->type == ZS_TYPE_D || op->type == ZS_TYPE_Q)
        extended = (uint64_t)(int64_t)(int16_t)low;
    if (bits < 64)
        extended &= (UINT64_C(1) << bits) - 1;
    if (extended != op->imm)
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_IMM, at));
    zs_enc_put(e, field_at(ZS_F_T_SRC0_FILE, at), ZS_XE_IMM);
    if (source != 1)
        zs_enc_put(e, field_at(ZS_F_T_SRC0_IMM, at), low);
}

static void encode_flat_ternary(struct zs_isa_encoder *e, const struct zs_isa_operand *op)
{
    uint32_t step = zs_xe_flat_step(&e->inst->dst, op);
    bool scalar = op->vstride == 0 && op->hstride == 0;
    bool flat = step == 1 ? op->vstride == 1 && op->hstride == 0
                          : step && op->vstride == 2 * step && op->hstride == step;
    if (!scalar && (!flat || step > 4))
        zs_enc_fail(e, ZS_F_T_SRC1_SCALAR);
    zs_enc_put(e, ZS_F_T_SRC1_SCALAR, scalar);
}

static void encode_ternary_src(struct zs_isa_encoder *e, uint32_t source)
{
    const struct zs_isa_operand *op = &e->inst->src[source];
    uint32_t at = source * ZS_F_T_SRC_STEP;
    put_ternary_type(e, field_at(ZS_F_T_SRC0_TYPE, at), ZS_XE_SRC, op->type);
    if (op->kind == ZS_OPERAND_IMM) {
        encode_ternary_immediate(e, source, op);
        return;
    }
    encode_ternary_register(e, source, op);
    if (e->opcode->form != ZS_FORM_BFN) {
        zs_enc_put_flag(e, field_at(ZS_F_T_SRC0_ABS, at), op->modifiers & ZS_MOD_ABS);
        zs_enc_put_flag(e, field_at(ZS_F_T_SRC0_NEG, at), op->modifiers & ZS_MOD_NEG);
    }
    if (op->kind == ZS_OPERAND_MACRO) { /* <4;1>, whatever the macro does */
        if (source == 1 && is_xe3p(e))
            return;
        zs_enc_put(e, field_at(ZS_F_T_SRC0_HSTRIDE, at), 1);
        zs_enc_put(e, field_at(ZS_F_T_SRC0_VSTRIDE, at), source < 2 ? 2 : 0);
        return;
    }
    if (source == 1 && is_xe3p(e)) {
        encode_flat_ternary(e, op);
        return;
    }
    zs_enc_put_stride(e, field_at(ZS_F_T_SRC0_HSTRIDE, at), op->hstride);
    if (source < 2)
        zs_enc_put_code(e, field_at(ZS_F_T_SRC0_VSTRIDE, at), zs_xe_ternary_vstride, 4,
                        op->vstride);
}

static void encode_dpas_src(struct zs_isa_encoder *e, uint32_t source)
{
    const struct zs_isa_operand *op = &e->inst->src[source];
    uint64_t execution = zs_isa_get(e->layout, e->bits, ZS_F_T_EXEC_TYPE);
    enum zs_isa_field type = source == 1 ? ZS_F_DPAS_SRC1_PRECISION : ZS_F_DPAS_SRC2_PRECISION;
    encode_ternary_register(e, source, op);
    if (source == 0) {
        put_ternary_type(e, ZS_F_T_SRC0_TYPE, ZS_XE_SRC, op->type);
        return;
    }
    if (op->file != ZS_FILE_GRF)
        zs_enc_fail(e, field_at(ZS_F_T_SRC0_FILE, source * ZS_F_T_SRC_STEP));
    if (!zs_xe_dpas_takes(e->model->platform, op->type))
        zs_enc_fail(e, type);
    zs_enc_put_code(e, type, zs_xe_precisions[execution], 32, op->type);
}

/* Scales of bdpas. */
static void encode_scales(struct zs_isa_encoder *e)
{
    zs_enc_put(e, ZS_F_BD_SCALE_TYPE, ZS_BD_BYTES);
    for (uint32_t i = 0; i < 2; i++) {
        const struct zs_isa_operand *op = &e->inst->src[3 + i];
        uint32_t reg = op->reg, unit_B = i ? 8 : 16;
        enum zs_isa_field file = i ? ZS_F_BD_SRC4_FILE : ZS_F_BD_SRC3_FILE;
        if (op->type != ZS_TYPE_UB || (op->file != ZS_FILE_GRF && op->file != ZS_FILE_NULL) ||
            op->subreg % unit_B)
            zs_enc_fail(e, file);
        zs_enc_put_flag(e, file, op->file == ZS_FILE_GRF);
        if (i) {
            zs_enc_put(e, ZS_F_BD_SRC4_REG, reg);
            zs_enc_put(e, ZS_F_BD_SRC4_SUBREG, op->subreg / unit_B);
        } else {
            zs_enc_put(e, ZS_F_BD_SRC3_REG0, reg & 1);
            zs_enc_put(e, ZS_F_BD_SRC3_REG1, reg >> 1 & 63);
            zs_enc_put(e, ZS_F_BD_SRC3_REG7, reg >> 7);
            zs_enc_put(e, ZS_F_BD_SRC3_SUBREG, op->subreg / unit_B);
        }
    }
}

static void encode_dpas_function(struct zs_isa_encoder *e)
{
    uint32_t depth = e->inst->subfunction >> 4, repeat = e->inst->subfunction & 15;
    if (e->inst->op == ZS_OP_BDPAS) {
        if (depth != 8 || repeat != 8)
            zs_enc_fail(e, ZS_F_DPAS_REPEAT);
        return;
    }
    zs_enc_put(e, ZS_F_DPAS_REPEAT, repeat ? repeat - 1 : 15);
    if (depth == 0 || (is_wide(e) && depth == 1)) {
        if (!is_wide(e) || depth)
            zs_enc_fail(e, ZS_F_DPAS_DEPTH);
        return; /* 16 */
    }
    zs_enc_put_log2(e, ZS_F_DPAS_DEPTH, depth);
}

static void encode_ternary(struct zs_isa_encoder *e)
{
    bool dpas = e->opcode->form == ZS_FORM_DPAS;
    zs_enc_put_flag(e, ZS_F_T_EXEC_TYPE, is_float_type(e->inst->dst.type));
    if (dpas)
        encode_dpas_function(e);
    else if (e->opcode->form == ZS_FORM_BFN)
        zs_enc_put(e, ZS_F_BFN_FUNCTION, e->inst->subfunction);
    encode_ternary_dst(e);
    for (uint32_t i = 0; i < 3; i++) {
        if (dpas)
            encode_dpas_src(e, i);
        else
            encode_ternary_src(e, i);
    }
    if (e->inst->op == ZS_OP_BDPAS)
        encode_scales(e);
}

/* ---- instructions ---- */

static void encode_high_bits(struct zs_isa_encoder *e)
{
    const struct zs_isa_inst *inst = e->inst;
    const uint16_t *fields = zs_xe_high_fields(e->opcode, inst);
    bool all = inst->op == ZS_OP_SENDGX || inst->op == ZS_OP_SENDGXC;
    for (uint32_t i = 0; i < 4; i++) {
        const struct zs_isa_operand *op = i ? &inst->src[i - 1] : &inst->dst;
        if (i ? i > inst->source_count : !(inst->flags & ZS_INST_HAS_DST))
            continue;
        uint32_t high = op->file != ZS_FILE_GRF           ? all && op->file == ZS_FILE_NULL
                        : op->kind == ZS_OPERAND_INDIRECT ? op->subreg >> 4u
                                                          : op->reg >> 8u;
        if (fields[i] != ZS_F_COUNT)
            zs_enc_put(e, (enum zs_isa_field)fields[i], high);
        else if (high)
            zs_enc_fail(e, ZS_F_DST_REG);
    }
}

static enum zs_isa_field encode(struct zs_isa_encoder *e)
{
    encode_swsb(e);
    if (e->inst->flags & ZS_INST_BREAKPOINT)
        zs_enc_put(e, ZS_F_BREAKPOINT, 1);
    if (e->opcode->form == ZS_FORM_NULLARY)
        return e->bad;
    encode_controls(e);
    switch (e->opcode->form) {
    case ZS_FORM_UNARY:
    case ZS_FORM_BINARY:
    case ZS_FORM_MATH:
        encode_basic(e);
        break;
    case ZS_FORM_SYNC:
        encode_sync(e);
        break;
    case ZS_FORM_TERNARY:
    case ZS_FORM_BFN:
    case ZS_FORM_DPAS:
        encode_ternary(e);
        break;
    case ZS_FORM_SENDS:
        encode_send(e);
        break;
    case ZS_FORM_SENDG:
        encode_sendg(e);
        break;
    default:
        encode_branch(e);
        break;
    }
    if (is_xe3p(e))
        encode_high_bits(e);
    return e->bad;
}

enum zs_isa_field zs_xe_encode(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                               const struct zs_isa_inst *inst, uint64_t bits[2])
{
    return encode(
        &(struct zs_isa_encoder){model, &zs_isa_layout_xe, opcode, inst, bits, ZS_F_COUNT});
}

enum zs_isa_field zs_xe2_encode(const struct zs_isa_model *model,
                                const struct zs_isa_opcode *opcode, const struct zs_isa_inst *inst,
                                uint64_t bits[2])
{
    return encode(
        &(struct zs_isa_encoder){model, &zs_isa_layout_xe2, opcode, inst, bits, ZS_F_COUNT});
}
