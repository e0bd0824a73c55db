/* SPDX-License-Identifier: MIT */
/*
 * How a thread's floating-point modes begin: the first write to cr0 is often a constant, with
 * nothing that depends on the modes before it. Then the host's modes are those from the start on,
 * and need not be changed twice a thread.
 */
#include "eu/lower/lower.h"
#include "eu/lower/lower_operand.h"

/* It does the same in all modes. */
static bool has_no_modes(const struct zs_isa_inst *inst)
{
    bool is_send = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND;

    if (is_send || inst->op == ZS_OP_SYNC || inst->op == ZS_OP_NOP)
        return true;
    if (inst->op == ZS_OP_MOV && inst->dst.type == inst->src[0].type && !inst->cond &&
        !inst->src[0].modifiers && !inst->dst.modifiers) /* bits as they are */
        return inst->src[0].file != ZS_FILE_CR;
    if (inst->op == ZS_OP_MATH || inst->cond || zs_eu_type_is_float(inst->dst.type))
        return false;
    for (unsigned i = 0; i < inst->source_count; i++)
        if (zs_eu_type_is_float(inst->src[i].type) || inst->src[i].file == ZS_FILE_CR)
            return false;
    return true;
}

static bool is_unsigned_constant(const struct zs_isa_operand *src)
{
    return src->kind == ZS_OPERAND_IMM && (src->type == ZS_TYPE_UW || src->type == ZS_TYPE_UD);
}

uint32_t zs_eu_early_control(const struct zs_eu_lowering *l, uint32_t entry_block)
{
    const struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst;

    for (uint32_t i = p->block_inst[entry_block]; i < p->inst_count; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        const struct zs_isa_operand *dst = &inst.dst;
        if (p->insts[i].block != entry_block)
            return 0;
        if (inst.flags & ZS_INST_HAS_DST && dst->kind == ZS_OPERAND_REG && dst->file == ZS_FILE_CR)
            return inst.op == ZS_OP_OR && inst.flags & ZS_INST_NOMASK && !inst.pred && !inst.cond &&
                           dst->reg == 0 && dst->subreg_B == 0 && inst.exec_size == 1 &&
                           inst.src[0].file == ZS_FILE_CR && inst.src[0].reg == 0 &&
                           inst.src[0].subreg_B == 0 && !inst.src[0].modifiers &&
                           is_unsigned_constant(&inst.src[1])
                       ? (uint32_t)inst.src[1].imm & UINT16_MAX
                       : 0;
        if (!has_no_modes(&inst))
            return 0;
    }
    return 0;
}
