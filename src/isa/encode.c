/* SPDX-License-Identifier: MIT */
/*
 * Encoding. An instruction that says what the bytes it was decoded from say (`raw`) is encoded to
 * them, whatever they hold beyond; any other to the form that Intel's assembler chooses.
 */
#include "base/reader.h"
#include "isa/encode_common.h"

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

void zs_enc_check_support(struct zs_isa_encoder *e, bool is_macro)
{
    const struct zs_isa_inst *inst = e->inst;
    uint32_t allowed = e->opcode->flags;
    bool early_out = inst->op == ZS_OP_MATH && is_macro && inst->cond == ZS_COND_EO;
    if (inst->pred && !(allowed & ZS_OPC_PREDICATE))
        zs_enc_fail(e, ZS_F_PRED_CTRL);
    if (inst->cond && !(allowed & ZS_OPC_CONDITION) && !early_out)
        zs_enc_fail(e, ZS_F_COND);
    if (inst->dst.modifiers && !(allowed & ZS_OPC_SATURATE))
        zs_enc_fail(e, ZS_F_SATURATE);
    if (inst->flags & ZS_INST_BRANCH_CTRL && !(allowed & ZS_OPC_BRANCH_CTRL))
        zs_enc_fail(e, ZS_F_BRANCH_CTRL);
    for (uint32_t i = 0; i < inst->source_count && i < ZS_ISA_SOURCES_MAX; i++)
        if (inst->src[i].modifiers && !(allowed & ZS_OPC_SRC_MODS))
            zs_enc_fail(e, ZS_F_SRC0_NEG);
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

/* ---- the public functions of single instructions ---- */

/* What callers fill in may be anything; tables are indexed by these. */
static bool is_sound(const struct zs_isa_inst *inst)
{
    bool ok = inst->op < ZS_OP_COUNT && inst->source_count <= ZS_ISA_SOURCES_MAX &&
              inst->dst.type < ZS_TYPE_COUNT && inst->dst.file < ZS_FILE_COUNT;
    for (unsigned i = 0; i < ZS_ISA_SOURCES_MAX; i++)
        ok = ok && inst->src[i].type < ZS_TYPE_COUNT && inst->src[i].file < ZS_FILE_COUNT;
    return ok && (inst->size_B == 8 || inst->size_B == 16 || !(inst->flags & ZS_INST_ILLEGAL));
}

int zs_isa_decode_one(enum zs_isa_platform platform, struct zs_span bytes, struct zs_isa_inst *ret)
{
    const struct zs_isa_model *model = zs_isa_model(platform);
    if (!model)
        return -EINVAL;
    if (bytes.size_B < 8 || bytes.size_B < (bytes.data[3] & 0x20 ? 8u : 16u))
        return -ENODATA;
    zs_isa_decode(model, bytes.data, ret);
    ret->offset_B = 0;
    return ret->size_B;
}

const char *zs_isa_error_name(uint32_t error)
{
    return zs_isa_error_text(error);
}

size_t zs_isa_print_one(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                        uint32_t offset_B, char ret_line[ZS_ISA_LINE_MAX])
{
    const struct zs_isa_model *model = zs_isa_model(platform);
    return model && is_sound(inst) ? zs_isa_print(model, inst, offset_B, ret_line) : 0;
}

int zs_isa_encode_one(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                      uint8_t ret_bytes[16], const char **ret_field)
{
    const struct zs_isa_model *model = zs_isa_model(platform);
    bool ok = model && is_sound(inst);
    if (!ok && ret_field)
        *ret_field = model ? "operand" : "platform";
    return ok ? zs_isa_encode(model, inst, ret_bytes, ret_field) : -EINVAL;
}
