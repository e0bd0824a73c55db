/* SPDX-License-Identifier: MIT */
/*
 * The edge that threads take when they jump. What is put there stands before the branch, behind a
 * question that is true if and only if the thread will jump:
 *
 *     jmpi                            the branch's own predicate: its opposite jumps over it
 *     if, break, cont, halt, goto     of the lanes that are on none goes on
 *     while, goto.b                   some lane goes back
 *
 * A stub that the branch went to, and that jumped on, would be another way for jmpi alone: lanes
 * that leave by the others wait for the thread at the very place that the branch names, which it
 * may come to without the stub.
 *
 * From Gen12LP to XeHPG two threads of fused EUs pass the code together: a jmpi moves both, and may
 * not ask what one of them alone knows. What is inserted is executed by all who come there, and has
 * no effect where the answer is no: probes add 0 then, and callers' own code has a predicate
 * (guard.c). The edge is that of a thread's own lanes.
 */
#include "edit/edit_priv.h"

static const struct row {
    uint8_t when; /* enum zs_jump_when */
    bool leave_when_false;
    const char *why; /* nothing is known */
} rows[ZS_OP_COUNT] = {
#define WAITERS "threads jump from it if no lane waits behind it, which cannot be known before"
    [ZS_OP_JMPI] = {ZS_JUMP_BY_PREDICATE, false, NULL},
    [ZS_OP_IF] = {ZS_JUMP_NONE_STAYS, true, NULL},
    [ZS_OP_BREAK] = {ZS_JUMP_NONE_STAYS, false, NULL},
    [ZS_OP_CONT] = {ZS_JUMP_NONE_STAYS, false, NULL},
    [ZS_OP_HALT] = {ZS_JUMP_NONE_STAYS, false, NULL},
    [ZS_OP_GOTO] = {ZS_JUMP_NONE_STAYS, false, NULL},
    [ZS_OP_WHILE] = {ZS_JUMP_ANY_LEAVES, false, NULL},
    [ZS_OP_ELSE] = {ZS_JUMP_UNKNOWN, false, WAITERS},
    [ZS_OP_ENDIF] = {ZS_JUMP_UNKNOWN, false, WAITERS},
    [ZS_OP_JOIN] = {ZS_JUMP_UNKNOWN, false, WAITERS},
    [ZS_OP_CALL] = {ZS_JUMP_UNKNOWN, false, "calls come back"},
    [ZS_OP_CALLA] = {ZS_JUMP_UNKNOWN, false, "calls come back"},
    [ZS_OP_RET] = {ZS_JUMP_UNKNOWN, false, "it returns to wherever it was called"},
    [ZS_OP_BRD] = {ZS_JUMP_UNKNOWN, false, "how its lanes wait is not known"},
    [ZS_OP_BRC] = {ZS_JUMP_UNKNOWN, false, "how its lanes wait is not known"},
};

static struct zs_jump unknown(const char *why)
{
    return (struct zs_jump){.why = why};
}

static struct zs_jump find_goto(const struct zs_edit_kernel *k, const struct zs_isa_inst *inst)
{
    bool to_next = inst->src[0].imm == inst->size_B;
    if (inst->flags & ZS_INST_BRANCH_CTRL)
        return to_next ? (struct zs_jump){.when = ZS_JUMP_ANY_LEAVES}
                       : unknown("it has two targets, and no thread goes on behind it");
    if (to_next)
        return unknown("threads of which no lane goes on go to the next instruction, too");
    if ((int64_t)inst->src[1].imm < 0)
        return unknown("it goes back, without branch control");
    return (struct zs_jump){.when = ZS_JUMP_NONE_STAYS,
                            .leave_when_false = k->edit->platform < ZS_ISA_GEN11};
}

static struct zs_jump find_structured(const struct zs_edit_kernel *k,
                                      const struct zs_isa_inst *inst)
{
    if (inst->flags & ZS_INST_NOMASK)
        return unknown("it asks lanes that are off");
    if (inst->pred > ZS_PRED_SEQ && !zs_emit_pred_width(inst))
        return unknown("its predicate looks at part of its lanes, or at two flags");
    if (!zs_emit_has(k->edit->platform))
        return unknown("how to ask for its lanes is not known for this instruction set");
    if (inst->op == ZS_OP_GOTO)
        return find_goto(k, inst);
    if (inst->flags & ZS_INST_BRANCH_CTRL)
        return unknown("it has branch control");
    return (struct zs_jump){.when = rows[inst->op].when,
                            .leave_when_false = rows[inst->op].leave_when_false};
}

struct zs_jump zs_jump_find(const struct zs_edit_kernel *k, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(k->code, i);
    const struct row *row = &rows[inst->op];
    if (!row->when)
        return unknown(row->why ? row->why : "it is no branch");
    if (inst->src[0].kind != ZS_OPERAND_LABEL)
        return unknown("where it goes comes from a register");
    if (inst->op != ZS_OP_JMPI)
        return find_structured(k, inst);
    return (struct zs_jump){.when = inst->pred ? ZS_JUMP_BY_PREDICATE : ZS_JUMP_ALWAYS};
}

bool zs_jump_asks_lanes(const struct zs_edit_kernel *k, const struct zs_insertion *insertion)
{
    enum zs_jump_when when = ZS_JUMP_UNKNOWN;
    if (insertion->where == ZS_EDIT_JUMP)
        when = zs_jump_find(k, insertion->inst).when;
    return when == ZS_JUMP_ANY_LEAVES || when == ZS_JUMP_NONE_STAYS;
}

bool zs_jump_opposite(const struct zs_edit_kernel *k, uint32_t i, uint32_t over_B,
                      uint8_t ret_bytes[16])
{
    struct zs_isa_inst inst = *zs_isa_inst(k->code, i);
    inst.flags = (inst.flags ^ ZS_INST_PRED_INVERSE) & ~(uint32_t)ZS_INST_COMPACTED;
    inst.size_B = 16;
    inst.src[0].imm = inst.size_B + (uint64_t)over_B;
    return zs_isa_encode_one(k->edit->platform, &inst, ret_bytes, NULL) == inst.size_B;
}
