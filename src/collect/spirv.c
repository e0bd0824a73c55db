/* SPDX-License-Identifier: MIT */
/*
 * The little of SPIR-V that a capture needs (SPIR-V specification 1.6, sections 2.3 and 3.49):
 * whether it carries source lines, and how wide its specialization constants are, since the API
 * passes pointers to their values without sizes.
 */
#include "collect/collect.h"

#include "base/reader.h"

enum {
    SPIRV_MAGIC = 0x07230203,
    SPIRV_HEADER_B = 20,
    OP_LINE = 8,
    OP_EXT_INST_IMPORT = 11,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_FUNCTION = 54,
    OP_DECORATE = 71,
    DECORATION_SPEC_ID = 1,
};

struct instruction {
    uint32_t opcode;
    uint32_t words; /* operands */
    struct zs_span operands;
};

static bool start(struct zs_reader *r, struct zs_span spirv)
{
    *r = zs_reader_make(spirv, 0, NULL);
    uint32_t magic = zs_read_u32(r, "magic");
    zs_read_seek(r, SPIRV_HEADER_B, "header");
    return !r->error && magic == SPIRV_MAGIC;
}

static bool next(struct zs_reader *r, struct instruction *ret)
{
    if (r->error || zs_reader_left(r) < 4)
        return false;
    uint32_t word = zs_read_u32(r, "instruction");
    uint32_t count = word >> 16;
    if (!count)
        return false;
    ret->opcode = word & 0xffff;
    ret->words = count - 1;
    ret->operands = zs_read_bytes(r, (uint64_t)ret->words * 4, "operands");
    return !r->error;
}

static uint32_t operand(const struct instruction *i, uint32_t index)
{
    return index < i->words ? zs_load_u32(i->operands.data + 4 * (size_t)index) : 0;
}

/* Instruction sets for debug information: OpenCL.DebugInfo.100, NonSemantic.Shader.DebugInfo.100,
 * SPIRV.debug */
static bool imports_debug_info(const struct instruction *i)
{
    if (i->opcode != OP_EXT_INST_IMPORT || i->words < 2)
        return false;
    const char *name = (const char *)i->operands.data + 4;
    size_t size_B = i->operands.size_B - 4;
    return memmem(name, size_B, "DebugInfo", 9) || memmem(name, size_B, "SPIRV.debug", 11);
}

struct zs_spirv_info zs_spirv_scan(struct zs_span spirv)
{
    struct zs_spirv_info info = {0};
    struct zs_reader r;
    struct instruction i;
    info.is_spirv = start(&r, spirv);
    while (info.is_spirv && !info.has_debug_info && next(&r, &i))
        info.has_debug_info = i.opcode == OP_LINE || imports_debug_info(&i);
    return info;
}

/* The id of the type of the constant that is decorated with spec_id, UINT32_MAX for a boolean. */
static uint32_t constant_type(struct zs_span spirv, uint32_t spec_id)
{
    struct zs_reader r;
    struct instruction i;
    uint32_t target = 0;
    if (!start(&r, spirv))
        return 0;
    while (next(&r, &i) && i.opcode != OP_FUNCTION) {
        if (i.opcode == OP_DECORATE && operand(&i, 1) == DECORATION_SPEC_ID &&
            operand(&i, 2) == spec_id && i.words >= 3)
            target = operand(&i, 0);
        if (!target || operand(&i, 1) != target)
            continue;
        if (i.opcode == OP_SPEC_CONSTANT_TRUE || i.opcode == OP_SPEC_CONSTANT_FALSE)
            return UINT32_MAX;
        if (i.opcode == OP_SPEC_CONSTANT)
            return operand(&i, 0);
    }
    return 0;
}

uint8_t zs_spirv_constant_size(struct zs_span spirv, uint32_t spec_id)
{
    struct zs_reader r;
    struct instruction i;
    uint32_t type = constant_type(spirv, spec_id);
    if (type == UINT32_MAX)
        return 1;
    if (!type || !start(&r, spirv))
        return 0;
    while (next(&r, &i) && i.opcode != OP_FUNCTION) {
        if ((i.opcode == OP_TYPE_INT || i.opcode == OP_TYPE_FLOAT) && operand(&i, 0) == type) {
            uint32_t bits = operand(&i, 1);
            return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (uint8_t)(bits / 8) : 0;
        }
    }
    return 0;
}
