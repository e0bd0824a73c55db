/* SPDX-License-Identifier: MIT */
/*
 * Sends of the legacy encodings. send and sendc have one payload and an extended descriptor in
 * pieces between other fields, sends and sendsc (from Gen9 on) two payloads. Bits 31:0 of the
 * extended descriptor as Intel's tools print it hold the shared function (3:0), the end of the
 * thread (5) and the length of the second payload (9:6).
 */
#include "isa/legacy.h"

static inline struct zs_isa_decoder
decoder(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode, const uint64_t *bits)
{
    return (struct zs_isa_decoder){model, &zs_isa_layout_legacy, opcode, bits};
}

/* Shared functions by their number; 0 is the null function. Those of the load/store cache, which
 * these platforms do not have, are told as Intel's tools tell them. */
static const uint8_t sfids[16] = {
    ZS_SFID_NULL, ZS_SFID_UGML, ZS_SFID_SMPL, ZS_SFID_GTWY, ZS_SFID_DC2, ZS_SFID_RC,
    ZS_SFID_URB,  ZS_SFID_TS,   ZS_SFID_VME,  ZS_SFID_DCRO, ZS_SFID_DC0, ZS_SFID_PIXI,
    ZS_SFID_DC1,  ZS_SFID_CRE,  ZS_SFID_SLM,  ZS_SFID_UGM,
};

static enum zs_isa_error decode_dst(struct zs_isa_decoder d, bool split, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *dst = &inst->dst;
    uint32_t file = zs_legacy_get(d.bits, split ? ZS_F_SENDS_DST_FILE : ZS_F_DST_FILE);
    dst->type = d.model->register_types[zs_legacy_get(d.bits, ZS_F_DST_TYPE)];
    dst->hstride = 1;
    if (!dst->type)
        return ZS_ISA_BAD_TYPE;
    if (file > ZS_LEGACY_GRF)
        return ZS_ISA_BAD_FILE;
    if (zs_legacy_get(d.bits, ZS_F_DST_INDIRECT)) {
        dst->kind = ZS_OPERAND_INDIRECT;
        dst->file = ZS_FILE_GRF;
        dst->subreg = (uint8_t)zs_legacy_get(d.bits, ZS_F_DST_ADDR_SUBREG);
        if (split && inst->flags & ZS_INST_ALIGN16)
            return ZS_ISA_BAD_ADDRESS;
        dst->offset_B = split
                            ? 16 * zs_dec_signed(zs_legacy_get(d.bits, ZS_F_SENDS_DST_ADDR_IMM), 6)
                            : zs_dec_signed(zs_legacy_get(d.bits, ZS_F_DST_ADDR_IMM), 10);
        if (inst->flags & ZS_INST_ALIGN16) {
            dst->offset_B = (int16_t)(dst->offset_B & ~15);
            if (zs_legacy_get(d.bits, ZS_F_DST_CHAN_EN) != ZS_LEGACY_CHAN_XYZW)
                return ZS_ISA_BAD_ALIGN16;
        } else if (!split)
            dst->hstride = zs_dec_stride(zs_legacy_get(d.bits, ZS_F_DST_HSTRIDE));
        return file == ZS_LEGACY_GRF ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ADDRESS;
    }
    dst->kind = ZS_OPERAND_REG;
    return zs_dec_register(d.model, file == ZS_LEGACY_GRF, zs_legacy_get(d.bits, ZS_F_DST_REG),
                           dst);
}

static int16_t src0_offset_B(struct zs_isa_decoder d, bool split)
{
    if (d.model->platform < ZS_ISA_GEN9)
        return zs_dec_signed(zs_legacy_get(d.bits, ZS_F_SRC0_ADDR_IMM), 10);
    return (int16_t)(16 * zs_dec_signed(zs_legacy_get(d.bits, split ? ZS_F_SENDS_SRC0_ADDR_IMM
                                                                    : ZS_F_SEND_SRC0_ADDR_IMM),
                                        6));
}

/* Gen8 has a region of the payload, which says nothing. */
static bool has_good_region(struct zs_isa_decoder d)
{
    uint32_t vstride = zs_legacy_get(d.bits, ZS_F_SRC0_VSTRIDE);
    return d.model->platform >= ZS_ISA_GEN9 || (zs_legacy_get(d.bits, ZS_F_SRC0_WIDTH) <= 4 &&
                                                (vstride <= 6 || vstride == ZS_LEGACY_VXH));
}

static enum zs_isa_error decode_src0(struct zs_isa_decoder d, bool split, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[0];
    uint32_t file = split ? ZS_LEGACY_GRF : zs_legacy_get(d.bits, ZS_F_SRC0_FILE);
    op->type = split ? ZS_TYPE_UD : d.model->register_types[zs_legacy_get(d.bits, ZS_F_SRC0_TYPE)];
    op->width = 1;
    op->mme = ZS_MME_NONE;
    if (!op->type)
        return ZS_ISA_BAD_TYPE;
    if (!has_good_region(d))
        return ZS_ISA_BAD_REGION;
    if (file != ZS_LEGACY_GRF)
        return ZS_ISA_BAD_FILE;
    if (zs_legacy_get(d.bits, ZS_F_SRC0_INDIRECT)) {
        op->kind = ZS_OPERAND_INDIRECT;
        op->file = ZS_FILE_GRF;
        op->subreg = (uint8_t)zs_legacy_get(d.bits, ZS_F_SRC0_ADDR_SUBREG);
        op->offset_B = src0_offset_B(d, split);
        if (inst->flags & ZS_INST_ALIGN16)
            return ZS_ISA_BAD_ADDRESS;
        return ZS_ISA_BAD_NONE;
    }
    op->kind = ZS_OPERAND_REG;
    return zs_dec_register(d.model, true, zs_legacy_get(d.bits, ZS_F_SRC0_REG), op);
}

static enum zs_isa_error decode_src1(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[1];
    op->kind = ZS_OPERAND_REG;
    op->width = 1;
    op->mme = ZS_MME_NONE;
    return zs_dec_register(d.model, zs_legacy_get(d.bits, ZS_F_SENDS_SRC1_FILE),
                           zs_legacy_get(d.bits, ZS_F_SENDS_SRC1_REG), op);
}

static enum zs_isa_error decode_desc(struct zs_isa_decoder d, bool split, struct zs_isa_inst *inst)
{
    uint32_t file = zs_legacy_get(d.bits, ZS_F_SEND_DESC_FILE);
    bool reg = split ? zs_legacy_get(d.bits, ZS_F_SENDS_DESC_REG) : file != ZS_LEGACY_IMM;
    if (!split && reg && file != ZS_LEGACY_ARF)
        return ZS_ISA_BAD_SEND;
    if (zs_legacy_get(d.bits, ZS_F_SEND_EOT))
        inst->flags |= ZS_INST_EOT;
    if (reg)
        inst->flags |= ZS_INST_DESC_REG;
    else
        inst->desc = zs_legacy_get(d.bits, ZS_F_SEND_DESC) &
                     (d.model->platform < ZS_ISA_GEN9 ? 0x1fffffff : UINT32_MAX);
    if (split && zs_legacy_get(d.bits, ZS_F_SENDS_EXDESC_REG)) {
        inst->flags |= ZS_INST_EXDESC_REG;
        inst->exdesc_subreg = (uint8_t)zs_legacy_get(d.bits, ZS_F_SENDS_EXDESC_SUBREG);
        inst->sfid = ZS_SFID_REGISTER;
        return ZS_ISA_BAD_NONE;
    }
    uint32_t sfid = zs_legacy_get(d.bits, ZS_F_SEND_SFID);
    uint32_t eot = inst->flags & ZS_INST_EOT ? 1u << 5 : 0;
    inst->sfid = sfids[sfid];
    inst->exdesc = sfid | eot;
    if (split)
        inst->exdesc |= zs_legacy_get(d.bits, ZS_F_SENDS_EXDESC_6) << 6 |
                        zs_legacy_get(d.bits, ZS_F_SENDS_EXDESC_16) << 16;
    else if (d.model->platform >= ZS_ISA_GEN9) /* Gen8 has regions of operands there */
        inst->exdesc |= zs_legacy_get(d.bits, ZS_F_SEND_EXDESC_16) << 16 |
                        zs_legacy_get(d.bits, ZS_F_SEND_EXDESC_20) << 20 |
                        zs_legacy_get(d.bits, ZS_F_SEND_EXDESC_24) << 24 |
                        zs_legacy_get(d.bits, ZS_F_SEND_EXDESC_28) << 28;
    return ZS_ISA_BAD_NONE;
}

/* Whole registers of each operand, where the descriptors are immediates. */
static void set_lengths(struct zs_isa_inst *inst)
{
    if (!(inst->flags & ZS_INST_DESC_REG)) {
        inst->src[0].grf_count = (uint8_t)(inst->desc >> 25 & 15);
        inst->dst.grf_count = (uint8_t)(inst->desc >> 20 & 31);
    }
    if (inst->source_count == 2 && !(inst->flags & ZS_INST_EXDESC_REG))
        inst->src[1].grf_count = (uint8_t)(inst->exdesc >> 6 & 31);
}

enum zs_isa_error zs_legacy_decode_send(const struct zs_isa_model *model,
                                        const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                        struct zs_isa_inst *inst)
{
    struct zs_isa_decoder d = decoder(model, opcode, bits);
    bool split = opcode->form == ZS_FORM_SENDS;
    inst->flags |= ZS_INST_HAS_DST;
    inst->source_count = split ? 2 : 1;
    inst->dst.vstride = inst->dst.width = ZS_REGION_NONE;
    inst->dst.mme = ZS_MME_NONE;
    if (model->platform < ZS_ISA_GEN9 && inst->flags & ZS_INST_ALIGN16)
        return ZS_ISA_BAD_ALIGN16;
    enum zs_isa_error error = decode_desc(d, split, inst);
    if (!error)
        error = decode_dst(d, split, inst);
    if (!error)
        error = decode_src0(d, split, inst);
    if (!error && split)
        error = decode_src1(d, inst);
    set_lengths(inst);
    return error;
}
