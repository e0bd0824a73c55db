/* SPDX-License-Identifier: MIT */
#include "base/reader.h"
#include "isa/inst.h"

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

bool zs_isa_decode(const struct zs_isa_model *model, const uint8_t *bytes,
                   struct zs_isa_inst *ret_inst)
{
    struct zs_isa_inst *inst = ret_inst;
    uint64_t bits[2] = {zs_load_u64(bytes), 0};
    bool compacted = bits[0] >> 29 & 1;
    const struct zs_isa_opcode *opcode = zs_isa_model_opcode(model, (uint32_t)(bits[0] & 0x7f));
    if (!compacted)
        bits[1] = zs_load_u64(bytes + 8);
    *inst = (struct zs_isa_inst){.op = opcode->op,
                                 .size_B = compacted ? 8 : 16,
                                 .flags = compacted ? ZS_INST_COMPACTED : 0,
                                 .message = ZS_ISA_NO_INDEX,
                                 .jip_B = ZS_ISA_NO_INDEX,
                                 .uip_B = ZS_ISA_NO_INDEX,
                                 .raw = {bits[0], bits[1]}};
    if (opcode->form == ZS_FORM_NONE)
        return refuse(inst, ZS_ISA_BAD_OPCODE);
    if (compacted && !model->encoding->expand(model, opcode, inst->raw[0], bits))
        return refuse(inst, ZS_ISA_BAD_COMPACTION);
    enum zs_isa_error error = model->encoding->decode(model, opcode, bits, inst);
    return error ? refuse(inst, error) : true;
}
