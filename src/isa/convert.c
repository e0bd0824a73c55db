/* SPDX-License-Identifier: MIT */
#include "isa/convert.h"

static bool is_integer(uint8_t type)
{
    return type >= ZS_TYPE_UB && type <= ZS_TYPE_Q;
}

static bool is_float(uint8_t type)
{
    return type == ZS_TYPE_HF || type == ZS_TYPE_BF || type == ZS_TYPE_F || type == ZS_TYPE_DF;
}

bool zs_isa_converts(const struct zs_isa_inst *inst)
{
    uint8_t to = inst->dst.type, from = inst->src[0].type;
    return inst->op == ZS_OP_MOV && inst->src[0].kind == ZS_OPERAND_REG &&
           ((is_float(to) && is_integer(from)) || (is_integer(to) && is_float(from)) ||
            (is_float(to) && is_float(from) && to != from));
}

/* Small integers are packed otherwise where others come from them, or are made of them. */
static bool repacks(const struct zs_isa_kernel *kernel, uint32_t i)
{
    enum { NEAR = 8 }; /* instructions: schedulers put others between */
    const struct zs_isa_inst *inst = zs_isa_inst(kernel, i);
    uint32_t count = zs_isa_kernel_count(kernel);
    bool found = false;
    if (inst->op != ZS_OP_MOV || inst->src[0].kind != ZS_OPERAND_REG ||
        !is_integer(inst->dst.type) || !is_integer(inst->src[0].type) || inst->exec_size == 1 ||
        zs_isa_type_bits((enum zs_isa_type)inst->dst.type) >= 32)
        return false;
    for (uint32_t k = 1; k <= NEAR && !found; k++) {
        const struct zs_isa_inst *to = i + k < count ? zs_isa_inst(kernel, i + k) : inst;
        const struct zs_isa_inst *from = i >= k ? zs_isa_inst(kernel, i - k) : inst;
        found = (zs_isa_converts(to) && to->src[0].reg == inst->dst.reg) ||
                (zs_isa_converts(from) && from->dst.reg == inst->src[0].reg);
    }
    return found;
}

bool zs_isa_turns(const struct zs_isa_kernel *kernel, uint32_t i)
{
    return zs_isa_converts(zs_isa_inst(kernel, i)) || repacks(kernel, i);
}
