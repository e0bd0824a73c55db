/* SPDX-License-Identifier: MIT */
/*
 * How a thread's floating-point modes begin: the first write to cr0 is often a constant, with
 * nothing that depends on the modes before it. Then the host's modes are those from the start on,
 * and need not be changed twice a thread.
 */
#include "eu/lower/lower.h"
#include "eu/lower/lower_operand.h"

/* They touch their operands, flags and accumulators, and nothing else. */
static const bool plain[128] = {
    [ZS_OP_MOV] = true,  [ZS_OP_SEL] = true,  [ZS_OP_NOT] = true,   [ZS_OP_AND] = true,
    [ZS_OP_OR] = true,   [ZS_OP_XOR] = true,  [ZS_OP_SHR] = true,   [ZS_OP_SHL] = true,
    [ZS_OP_ASR] = true,  [ZS_OP_ROL] = true,  [ZS_OP_ROR] = true,   [ZS_OP_CMP] = true,
    [ZS_OP_CMPN] = true, [ZS_OP_CSEL] = true, [ZS_OP_BFREV] = true, [ZS_OP_BFE] = true,
    [ZS_OP_BFI1] = true, [ZS_OP_BFI2] = true, [ZS_OP_LZD] = true,   [ZS_OP_FBH] = true,
    [ZS_OP_FBL] = true,  [ZS_OP_CBIT] = true, [ZS_OP_ADD] = true,   [ZS_OP_MUL] = true,
    [ZS_OP_AVG] = true,  [ZS_OP_FRC] = true,  [ZS_OP_RNDU] = true,  [ZS_OP_RNDD] = true,
    [ZS_OP_RNDE] = true, [ZS_OP_RNDZ] = true, [ZS_OP_ADD3] = true,  [ZS_OP_BFN] = true,
    [ZS_OP_DP4A] = true, [ZS_OP_MAD] = true,  [ZS_OP_LRP] = true,   [ZS_OP_MATH] = true,
    [ZS_OP_MAC] = true,  [ZS_OP_MACH] = true, [ZS_OP_MACL] = true,  [ZS_OP_ADDC] = true,
    [ZS_OP_SUBB] = true,
};

static bool touches_operands_alone(const struct zs_isa_inst *inst)
{
    return inst->op < ZS_ARRAY_LEN(plain) && plain[inst->op] && inst->exec_size &&
           !(inst->op == ZS_OP_MATH && inst->subfunction >= ZS_MATH_IDIV);
}

/* It does the same in all modes. */
static bool has_no_modes(const struct zs_isa_inst *inst)
{
    bool is_send = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND;

    if (is_send || inst->op == ZS_OP_SYNC || inst->op == ZS_OP_NOP)
        return true;
    if (!touches_operands_alone(inst) || inst->op == ZS_OP_MATH || inst->cond)
        return false;
    if (zs_eu_type_is_float(inst->dst.type))
        return false;
    for (unsigned i = 0; i < inst->source_count; i++)
        if (zs_eu_type_is_float(inst->src[i].type) || inst->src[i].file == ZS_FILE_CR)
            return false;
    return true;
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
                           inst.src[1].kind == ZS_OPERAND_IMM && inst.src[1].type == ZS_TYPE_UW
                       ? (uint32_t)inst.src[1].imm & UINT16_MAX
                       : 0;
        if (!has_no_modes(&inst))
            return 0;
    }
    return 0;
}
