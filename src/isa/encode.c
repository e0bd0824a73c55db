/* SPDX-License-Identifier: MIT */
/*
 * Encoding. An instruction that says what the bytes it was decoded from say (`raw`) is encoded to
 * them, whatever they hold beyond; any other to the form that Intel's assembler chooses.
 */
#include "base/reader.h"
#include "isa/inst.h"

#include <errno.h>
#include <string.h>

static const char *encode_bits(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                               uint64_t bits[2])
{
    const struct zs_isa_opcode *opcode = zs_isa_model_find(model, (enum zs_isa_op)inst->op);
    bits[0] = bits[1] = 0;
    if (!opcode || inst->flags & ZS_INST_ILLEGAL)
        return zs_isa_field_name(ZS_F_OPCODE);
    bits[0] = opcode->code;
    enum zs_isa_field bad = model->encoding->encode(model, opcode, inst, bits);
    if (bad != ZS_F_COUNT)
        return zs_isa_field_name(bad);
    if (inst->flags & ZS_INST_COMPACTED) {
        uint64_t compact;
        if (!model->encoding->compact(model, opcode, bits, &compact))
            return zs_isa_field_name(ZS_F_COMPACTED);
        bits[0] = compact;
        bits[1] = 0;
    }
    return NULL;
}

/* Whether `raw` decodes to this very instruction. Where it stands does not count. */
static bool is_unchanged(const struct zs_isa_model *model, const struct zs_isa_inst *inst)
{
    uint8_t bytes[16];
    struct zs_isa_inst again, given = *inst;
    if (!(inst->raw[0] | inst->raw[1]))
        return false;
    zs_store_u64(bytes, inst->raw[0]);
    zs_store_u64(bytes + 8, inst->raw[1]);
    if (!zs_isa_decode(model, bytes, &again) && !(inst->flags & ZS_INST_ILLEGAL))
        return false;
    given.offset_B = again.offset_B;
    given.message = again.message;
    given.jip_B = again.jip_B;
    given.uip_B = again.uip_B;
    return memcmp(&given, &again, sizeof(given)) == 0;
}

int zs_isa_encode(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                  uint8_t ret_bytes[16], const char **ret_field)
{
    uint64_t bits[2] = {inst->raw[0], inst->raw[1]};
    const char *bad = NULL;
    if (!is_unchanged(model, inst))
        bad = encode_bits(model, inst, bits);
    if (ret_field)
        *ret_field = bad;
    if (bad)
        return -EINVAL;
    zs_store_u64(ret_bytes, bits[0]);
    zs_store_u64(ret_bytes + 8, bits[1]);
    return bits[0] >> 29 & 1 ? 8 : 16;
}
