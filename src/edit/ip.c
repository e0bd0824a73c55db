/* SPDX-License-Identifier: MIT */
/*
 * Instructions that work with their own address. What the compiler makes of calls by address:
 *
 *     add  return = ip + number         where the callee comes back to: an instruction
 *
 *     add  x = -ip + address            the distance to a callee ...
 *     add  y = x + -number              ... from where the branch counts: the end of a jmpi, a call
 *     jmpi y          or  call y
 *
 * The numbers follow from where things went. Whatever else is done with ip is refused, and so are
 * branches by a register that no such number leads to.
 */
#include "edit/edit_priv.h"

enum { REACH = 8 /* instructions from the first addition to the second */ };

static int ip_operand(const struct zs_isa_inst *inst)
{
    for (uint32_t s = 0; s < inst->source_count; s++)
        if (inst->src[s].kind == ZS_OPERAND_REG && inst->src[s].file == ZS_FILE_IP)
            return (int)s;
    return -1;
}

bool zs_ip_is_read(const struct zs_isa_inst *inst)
{
    return ip_operand(inst) >= 0;
}

bool zs_ip_is_needed(const struct zs_isa_inst *inst)
{
    bool relative = inst->op == ZS_OP_JMPI || inst->op == ZS_OP_CALL;
    return relative && inst->src[0].kind != ZS_OPERAND_LABEL;
}

static bool is_number(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_IMM && (op->type == ZS_TYPE_D || op->type == ZS_TYPE_UD) &&
           !op->modifiers;
}

static bool is_plain_add(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_ADD && inst->source_count == 2 && inst->exec_size == 1 &&
           inst->pred == ZS_PRED_NONE && inst->dst.kind == ZS_OPERAND_REG &&
           inst->dst.file == ZS_FILE_GRF;
}

static bool is_same_place(const struct zs_isa_operand *a, const struct zs_isa_operand *b)
{
    return a->kind == ZS_OPERAND_REG && a->file == b->file && a->reg == b->reg &&
           a->subreg_B == b->subreg_B;
}

/* The addition of a number to what instruction i has left, before that is written once more. */
static uint32_t find_second(const struct zs_isa_kernel *code, uint32_t i)
{
    const struct zs_isa_operand *left = &zs_isa_inst(code, i)->dst;
    uint32_t block = zs_isa_inst_block(code, i), count = zs_isa_kernel_count(code);
    for (uint32_t n = i + 1; n < count && n <= i + REACH; n++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, n);
        if (zs_isa_inst_block(code, n) != block)
            break;
        if (is_plain_add(inst) && is_same_place(&inst->src[0], left) && is_number(&inst->src[1]))
            return n;
        if (inst->flags & ZS_INST_HAS_DST && is_same_place(&inst->dst, left))
            break;
    }
    return ZS_NONE;
}

/* The branch that counts from there. */
static uint32_t find_branch(const struct zs_isa_kernel *code, uint64_t offset_B)
{
    uint32_t count = zs_isa_kernel_count(code);
    uint32_t at = offset_B < UINT32_MAX ? zs_isa_inst_find(code, (uint32_t)offset_B) : ZS_NONE;
    bool is_end = offset_B == zs_isa_kernel_size_B(code);
    if (!is_end && (at == ZS_NONE || zs_isa_inst_offset(code, at) != offset_B))
        return ZS_NONE;
    if (!is_end && zs_isa_inst(code, at)->op == ZS_OP_CALL &&
        zs_ip_is_needed(zs_isa_inst(code, at)))
        return at;
    uint32_t before = is_end ? count - 1 : at - 1;
    bool ok = (is_end ? count : at) > 0 && zs_isa_inst(code, before)->op == ZS_OP_JMPI &&
              zs_ip_is_needed(zs_isa_inst(code, before));
    return ok ? before : ZS_NONE;
}

bool zs_ip_find(const struct zs_isa_kernel *code, uint32_t i, struct zs_ip_use *ret)
{
    const struct zs_isa_inst *inst = zs_isa_inst(code, i);
    int s = ip_operand(inst);
    if (s < 0 || !is_plain_add(inst))
        return false;
    const struct zs_isa_operand *other = &inst->src[1 - s];
    *ret = (struct zs_ip_use){.number = i, .source = (uint32_t)(1 - s), .branch = ZS_NONE};
    if (!inst->src[s].modifiers && is_number(other)) {
        uint64_t to_B = inst->offset_B + (uint64_t)(int64_t)(int32_t)(uint32_t)other->imm;
        ret->target = to_B < UINT32_MAX ? zs_isa_inst_find(code, (uint32_t)to_B) : ZS_NONE;
        return ret->target != ZS_NONE && zs_isa_inst_offset(code, ret->target) == to_B;
    }
    if (inst->src[s].modifiers != ZS_MOD_NEG || other->kind != ZS_OPERAND_REG ||
        ip_operand(inst) != s || other->file == ZS_FILE_IP)
        return false;
    uint32_t second = find_second(code, i);
    if (second == ZS_NONE)
        return false;
    int64_t number = (int32_t)(uint32_t)zs_isa_inst(code, second)->src[1].imm;
    ret->number = second;
    ret->source = 1;
    ret->branch = find_branch(code, (uint64_t)(inst->offset_B - number));
    return ret->branch != ZS_NONE;
}

int32_t zs_ip_number(const struct zs_edit_kernel *k, uint32_t i, const struct zs_ip_use *use)
{
    const struct zs_placed *placed = &k->placed;
    if (use->branch == ZS_NONE)
        return (int32_t)(placed->label_B[use->target] - placed->inst_B[i]);
    const struct zs_isa_inst *branch = zs_isa_inst(k->code, use->branch);
    uint32_t from_B = placed->inst_B[use->branch];
    if (branch->op == ZS_OP_JMPI)
        from_B += branch->size_B;
    return (int32_t)(placed->inst_B[i] - from_B);
}
