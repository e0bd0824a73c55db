/* SPDX-License-Identifier: MIT */
/*
 * Sends from Gen12LP on. Both descriptors lie in pieces between other fields. Up to XeHP an
 * immediate extended descriptor has bits 31:6 and in 10:6 the length of the second payload; from
 * XeHPG on it has bits 31:11, and the length has a field of its own. Where the extended descriptor
 * is in a register, that field is there with ExBSO (surface state offset) alone, from XeHP on.
 *
 * From Xe2 on an extended descriptor in a register leaves the places of an immediate one free for
 * an offset; ugm has no ExBSO any more (its bit is one of the offset) and always a length, and CPS
 * is gone. In Xe3 the first payload may be gathered: scalar registers name its registers, and there
 * is no second one. Xe3P has sends of another shape beside these.
 *
 * Sources: intel-graphics-compiler, Backend/GED/Decoder.cpp (decodeSendInfo*); mesa,
 * src/intel/compiler/brw/brw_eu_inst.h (send_*).
 */
#include "isa/xe.h"

ZS_FOLD uint32_t decode_desc(struct zs_isa_decoder d)
{
    return zs_dec_get(d, ZS_F_X_DESC_0) | zs_dec_get(d, ZS_F_X_DESC_11) << 11 |
           zs_dec_get(d, ZS_F_X_DESC_20) << 20 | zs_dec_get(d, ZS_F_X_DESC_25) << 25 |
           zs_dec_get(d, ZS_F_X_DESC_30) << 30;
}

ZS_FOLD uint32_t decode_exdesc(struct zs_isa_decoder d)
{
    uint32_t length = d.model->platform < ZS_ISA_XE_HPG ? zs_dec_get(d, ZS_F_X_EXDESC_6) << 6 : 0;
    return length | zs_dec_get(d, ZS_F_X_EXDESC_11) << 11 | zs_dec_get(d, ZS_F_X_EXDESC_24) << 24 |
           zs_dec_get(d, ZS_F_X_EXDESC_26) << 26 | zs_dec_get(d, ZS_F_X_EXDESC_28) << 28;
}

/* What the register's number and ExBSO leave of the offset. */
enum { OFFSET_SUBREG = 0x7 << 16, OFFSET_EXBSO = 1 << 15 };

ZS_FOLD void decode_exdesc_register(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    bool has_offset = d.model->platform >= ZS_ISA_XE2;
    inst->flags |= ZS_INST_EXDESC_REG;
    inst->exdesc_subreg = (uint8_t)zs_dec_get(d, ZS_F_X_EXDESC_SUBREG);
    if (has_offset)
        inst->exdesc_offset = decode_exdesc(d) & ~(uint32_t)OFFSET_SUBREG;
    if (has_offset && inst->sfid == ZS_SFID_UGM) {
        inst->src[1].grf_count = (uint8_t)zs_dec_get(d, ZS_F_X_SRC1_LENGTH);
        return;
    }
    inst->exdesc_offset &= ~(uint32_t)OFFSET_EXBSO;
    if (d.model->platform < ZS_ISA_XE_HP || !zs_dec_get(d, ZS_F_X_EXBSO))
        return;
    inst->flags |= ZS_INST_EXBSO;
    inst->src[1].grf_count = (uint8_t)zs_dec_get(d, ZS_F_X_SRC1_LENGTH);
    if (!has_offset && zs_dec_get(d, ZS_F_X_CPS))
        inst->flags |= ZS_INST_CPS;
}

ZS_FOLD void decode_descs(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    if (zs_dec_get(d, ZS_F_X_DESC_REG)) {
        inst->flags |= ZS_INST_DESC_REG;
    } else {
        inst->desc = decode_desc(d);
        inst->src[0].grf_count = (uint8_t)(inst->desc >> 25 & 15);
        inst->dst.grf_count = (uint8_t)(inst->desc >> 20 & 31);
    }
    if (!zs_dec_get(d, ZS_F_X_EXDESC_REG)) {
        inst->exdesc = decode_exdesc(d);
        inst->src[1].grf_count =
            (uint8_t)(d.model->platform < ZS_ISA_XE_HPG ? inst->exdesc >> 6 & 31
                                                        : zs_dec_get(d, ZS_F_X_SRC1_LENGTH));
        return;
    }
    decode_exdesc_register(d, inst);
}

ZS_FOLD enum zs_isa_error decode_payload(struct zs_isa_decoder d, bool is_grf, uint32_t code,
                                         struct zs_isa_operand *op)
{
    op->kind = ZS_OPERAND_REG;
    op->type = ZS_TYPE_UB;
    op->width = 1;
    op->mme = ZS_MME_NONE;
    return zs_dec_register(d.model, is_grf, code, op);
}

/* A scalar register in place of the first payload counts words. */
ZS_FOLD bool decode_gather(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[0];
    if (op->file != ZS_FILE_S)
        return false;
    op->kind = ZS_OPERAND_INDIRECT;
    op->subreg = (uint8_t)(zs_dec_get(d, ZS_F_X_SRC1_LENGTH) << 1);
    inst->source_count = 1;
    inst->src[1] = (struct zs_isa_operand){0};
    return true;
}

ZS_FOLD enum zs_isa_error decode(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    inst->flags |= ZS_INST_HAS_DST;
    inst->source_count = 2;
    inst->sfid = zs_xe_sfids[d.model->platform >= ZS_ISA_XE_HPG][zs_dec_get(d, ZS_F_X_SFID)];
    if (inst->sfid == ZS_SFID_COUNT)
        return ZS_ISA_BAD_SEND;
    if (zs_dec_get(d, ZS_F_X_EOT))
        inst->flags |= ZS_INST_EOT;
    if (zs_dec_get(d, ZS_F_X_FUSION))
        inst->flags |= ZS_INST_SERIALIZE;
    decode_descs(d, inst);
    enum zs_isa_error error =
        decode_payload(d, zs_dec_get(d, ZS_F_DST_FILE), zs_dec_get(d, ZS_F_DST_REG), &inst->dst);
    inst->dst.hstride = 1;
    inst->dst.vstride = inst->dst.width = ZS_REGION_NONE;
    if (!error)
        error = decode_payload(d, zs_dec_get(d, ZS_F_X_SRC0_FILE), zs_dec_get(d, ZS_F_SRC0_REG),
                               &inst->src[0]);
    if (!error && !decode_gather(d, inst))
        error = decode_payload(d, zs_dec_get(d, ZS_F_X_SRC1_FILE), zs_dec_get(d, ZS_F_SRC1_REG),
                               &inst->src[1]);
    return error;
}

bool zs_xe_has_second_length(const struct zs_isa_model *model, const struct zs_isa_inst *inst)
{
    if (inst->source_count < 2)
        return false;
    if (!(inst->flags & ZS_INST_EXDESC_REG))
        return model->platform >= ZS_ISA_XE_HPG;
    return inst->flags & ZS_INST_EXBSO ||
           (model->platform >= ZS_ISA_XE2 && inst->sfid == ZS_SFID_UGM);
}

enum zs_isa_error zs_xe_decode_send(const struct zs_isa_model *model,
                                    const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                    struct zs_isa_inst *inst)
{
    return decode((struct zs_isa_decoder){model, &zs_isa_layout_xe, opcode, bits}, inst);
}

enum zs_isa_error zs_xe2_decode_send(const struct zs_isa_model *model,
                                     const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                     struct zs_isa_inst *inst)
{
    return decode((struct zs_isa_decoder){model, &zs_isa_layout_xe2, opcode, bits}, inst);
}

/* ---- from Xe3P on: one descriptor of 47 bits ---- */

enum { SENDGX_NULL = 511 };     /* where no field says the file */
enum { NO_FUNCTIONS = 0x1a12 }; /* numbers that have no such message: ugml, dc2, dcro, pixi, dc1 */

static bool has_all_registers(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_SENDGX || inst->op == ZS_OP_SENDGXC;
}

/* A general register, or null; the first payload of sendg may be another. */
static enum zs_isa_error decode_sendg_operand(struct zs_isa_decoder d, enum zs_isa_field file,
                                              enum zs_isa_field reg, enum zs_isa_field high,
                                              struct zs_isa_inst *inst, struct zs_isa_operand *op)
{
    uint32_t code = zs_dec_get(d, reg);
    bool null = (code | zs_dec_get(d, high) << 8) == SENDGX_NULL;
    if (!has_all_registers(inst))
        null = file != ZS_F_X_SRC0_FILE && !zs_dec_get(d, file);
    bool is_grf = has_all_registers(inst) || zs_dec_get(d, file);
    return decode_payload(d, is_grf && !null, null ? 0 : code, op);
}

static void decode_sendg_desc(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    inst->desc = zs_dec_get(d, ZS_F_G_DESC_0) | zs_dec_get(d, ZS_F_G_DESC_16) << 16 |
                 zs_dec_get(d, ZS_F_G_DESC_28) << 28;
    inst->exdesc = zs_dec_get(d, ZS_F_G_DESC_32);
    if (zs_dec_get(d, ZS_F_G_INDIRECT0)) {
        inst->flags |= ZS_INST_INDIRECT0;
        inst->desc_subreg = (uint8_t)zs_dec_get(d, ZS_F_G_SUBREG0);
    }
    if (zs_dec_get(d, ZS_F_G_INDIRECT1)) { /* in place of the highest bits */
        inst->flags |= ZS_INST_INDIRECT1;
        inst->exdesc_subreg = (uint8_t)zs_dec_get(d, ZS_F_G_SUBREG1);
    } else {
        inst->exdesc |= zs_dec_get(d, ZS_F_G_DESC_42) << 10;
    }
}

enum zs_isa_error zs_xe3p_decode_sendg(const struct zs_isa_model *model,
                                       const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                       struct zs_isa_inst *inst)
{
    struct zs_isa_decoder d = {model, &zs_isa_layout_xe2, opcode, bits};
    inst->flags |= ZS_INST_HAS_DST | (zs_dec_get(d, ZS_F_G_EOT) ? ZS_INST_EOT : 0);
    inst->source_count = 2;
    inst->sfid = zs_xe_sfids[1][zs_dec_get(d, ZS_F_X_SFID)];
    if (NO_FUNCTIONS >> zs_dec_get(d, ZS_F_X_SFID) & 1)
        return ZS_ISA_BAD_SEND;
    decode_sendg_desc(d, inst);
    enum zs_isa_error error =
        decode_sendg_operand(d, ZS_F_G_DST_FILE, ZS_F_DST_REG, ZS_F_HIGH_33, inst, &inst->dst);
    inst->dst.hstride = 1;
    inst->dst.vstride = inst->dst.width = ZS_REGION_NONE;
    if (!error)
        error = decode_sendg_operand(d, ZS_F_X_SRC0_FILE, ZS_F_SRC0_REG, ZS_F_HIGH_66, inst,
                                     &inst->src[0]);
    if (!error && !decode_gather(d, inst))
        error = decode_sendg_operand(d, ZS_F_X_SRC1_FILE, ZS_F_SRC1_REG, ZS_F_HIGH_98, inst,
                                     &inst->src[1]);
    inst->src[0].grf_count = (uint8_t)zs_dec_get(d, ZS_F_G_SRC0_LENGTH);
    if (inst->src[1].file == ZS_FILE_GRF)
        inst->src[1].grf_count = (uint8_t)zs_dec_get(d, ZS_F_X_SRC1_LENGTH);
    return error;
}
