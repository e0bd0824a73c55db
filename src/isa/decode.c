/* SPDX-License-Identifier: MIT */
#include "base/reader.h"
#include "isa/message_form.h"

#include <string.h>

static bool refuse(struct zs_isa_inst *inst, enum zs_isa_error error)
{
    uint64_t raw[2] = {inst->raw[0], inst->raw[1]};
    *inst =
        (struct zs_isa_inst){.op = ZS_OP_ILLEGAL,
                             .size_B = inst->size_B,
                             .error = (uint8_t)error,
                             .flags = ZS_INST_ILLEGAL | (inst->size_B == 8 ? ZS_INST_COMPACTED : 0),
                             .message = ZS_ISA_NO_INDEX,
                             .jip_B = ZS_ISA_NO_INDEX,
                             .uip_B = ZS_ISA_NO_INDEX,
                             .raw = {raw[0], raw[1]}};
    return false;
}

static uint8_t grfs_of(uint32_t size_B, uint32_t grf_B)
{
    return (uint8_t)ZS_MIN((size_B + grf_B - 1) / grf_B, 64u);
}

/*
 * Shapes of a systolic multiplication: repeat count rows of one element per channel. A channel and
 * step have as many elements of src1, and a row and step of src2, as the wider kind of both has in
 * a dword. Of dpasw's src2 a thread has half of the registers, rounded up.
 */
static void size_dpas(const struct zs_isa_model *model, struct zs_isa_inst *inst)
{
    uint32_t depth = inst->subfunction >> 4 ? inst->subfunction >> 4 : 16;
    uint32_t rows = inst->subfunction & 0xf ? inst->subfunction & 0xf : 16;
    uint32_t lanes = inst->exec_size, grf_B = model->grf_B;
    uint32_t dst_B = zs_isa_type_bits((enum zs_isa_type)inst->dst.type) / 8;
    uint32_t src0_B = zs_isa_type_bits((enum zs_isa_type)inst->src[0].type) / 8;
    uint32_t bits[2] = {zs_isa_type_bits((enum zs_isa_type)inst->src[1].type),
                        zs_isa_type_bits((enum zs_isa_type)inst->src[2].type)};
    uint32_t elements = 32 / ZS_MAX(ZS_MAX(bits[0], bits[1]), 4u);
    inst->dst.grf_count = grfs_of(rows * lanes * dst_B, grf_B);
    inst->src[0].grf_count = grfs_of(rows * lanes * src0_B, grf_B);
    inst->src[1].grf_count = grfs_of(depth * elements * bits[0] / 8 * lanes, grf_B);
    inst->src[2].grf_count =
        grfs_of(inst->src[2].subreg_B + rows * depth * elements * bits[1] / 8, grf_B);
    if (inst->op == ZS_OP_BDPAS)
        inst->src[3].grf_count = inst->src[4].grf_count = 1;
    if (inst->op == ZS_OP_DPASW)
        inst->src[2].grf_count = (uint8_t)((inst->src[2].grf_count + 1) / 2);
}

/* 0 where the instruction does not say how long it is: that of a block of two dimensions. */
static void size_response(const struct zs_isa_model *model, struct zs_isa_inst *inst)
{
    struct zs_message_form form;
    int32_t count = zs_e64_form(model, inst, &form);
    inst->dst.grf_count = (uint8_t)(count < 0 ? 0 : ZS_MIN(count, 255));
}

_Static_assert(sizeof(struct zs_isa_inst) % 8 == 0, "set_blank");

/* Stores one after the other: what compilers take for this size (rep stos) starts slowly. */
static void set_blank(struct zs_isa_inst *inst)
{
    static const uint64_t zero;
    char *at = (char *)inst;
#pragma GCC unroll 64
    for (size_t i = 0; i < sizeof(*inst) / 8; i++)
        memcpy(at + 8 * i, &zero, 8);
}

bool zs_isa_decode(const struct zs_isa_model *model, const uint8_t *bytes,
                   struct zs_isa_inst *ret_inst)
{
    struct zs_isa_inst *inst = ret_inst;
    uint64_t bits[2] = {zs_load_u64(bytes), 0};
    bool compacted = bits[0] >> 29 & 1;
    const struct zs_isa_opcode *opcode = zs_isa_model_opcode(model, (uint32_t)(bits[0] & 0x7f));
    if (!compacted)
        bits[1] = zs_load_u64(bytes + 8);
    set_blank(inst);
    inst->op = opcode->op;
    inst->size_B = compacted ? 8 : 16;
    inst->flags = compacted ? ZS_INST_COMPACTED : 0;
    inst->message = inst->jip_B = inst->uip_B = ZS_ISA_NO_INDEX;
    inst->raw[0] = bits[0];
    inst->raw[1] = bits[1];
    if (opcode->form == ZS_FORM_NONE)
        return refuse(inst, ZS_ISA_BAD_OPCODE);
    if (compacted && !model->encoding->expand(model, opcode, inst->raw[0], bits))
        return refuse(inst, ZS_ISA_BAD_COMPACTION);
    enum zs_isa_error error = model->encoding->decode(model, opcode, bits, inst);
    if (error)
        return refuse(inst, error);
    if (opcode->form == ZS_FORM_DPAS)
        size_dpas(model, inst);
    else if (opcode->form == ZS_FORM_SENDG)
        size_response(model, inst);
    return true;
}
