/* SPDX-License-Identifier: MIT */
/*
 * A table of jumps, as vISA's switchjmp becomes one (TranslateBranches.cpp of IGC):
 *
 *     shl   x = number << 4
 *     add   x = x + 16          from Gen12LP on, where jmpi counts from its own place
 *     jmpi  x
 *     jmpi  L0                  the table: jumps without a condition, 16 bytes each
 *     jmpi  L1
 *     ...
 *
 * It is one if nothing but these makes x: whatever the number is, the jump goes to one of the
 * instructions behind it, as many as there are such jumps in a row.
 */
#include "isa/table.h"

#include "isa/isa_priv.h"

enum { REACH = 64 /* instructions from the first to the jump */, TABLE_MAX = 256, SLOT_B = 16 };

static bool is_slot(const struct zs_isa_kernel *k, uint32_t i)
{
    const struct zs_isa_branch *branch = i < k->count ? zs_isa_branch_of(k, i) : NULL;
    return branch && branch->code == 0x20 && !branch->predicated &&
           branch->jip_B != ZS_ISA_NO_INDEX && zs_isa_inst_size(k, i) == SLOT_B;
}

static bool decode(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_inst *ret)
{
    return zs_isa_decode(k->model, k->code.data + k->offsets_B[i], ret);
}

static bool is_dword(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_GRF && !op->modifiers;
}

static bool is_same(const struct zs_isa_operand *a, const struct zs_isa_operand *b)
{
    return is_dword(a) && a->reg == b->reg && a->subreg_B == b->subreg_B;
}

static bool is_number(const struct zs_isa_operand *op, uint32_t value)
{
    return op->kind == ZS_OPERAND_IMM && !op->modifiers && (op->imm & 0xffff) == value &&
           (zs_isa_type_bits((enum zs_isa_type)op->type) == 16 || op->imm == value);
}

static bool writes(const struct zs_isa_kernel *k, const struct zs_isa_inst *inst,
                   const struct zs_isa_operand *place)
{
    uint32_t element_B, stride_B, at_B = place->reg * k->grf_B + place->subreg_B;
    struct zs_isa_range r = zs_isa_dst_range(k, inst, &element_B, &stride_B);
    bool unknown = inst->dst.kind == ZS_OPERAND_INDIRECT || inst->flags & ZS_INST_DESC_REG;
    return unknown || (r.begin_B < at_B + 4 && at_B < r.end_B);
}

/* The place has a number from a table's first instruction on: 16 for each, and `base` more. */
static bool is_scaled(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_operand place,
                      uint32_t base)
{
    uint32_t first = k->blocks[zs_isa_inst_block(k, i)].first;
    struct zs_isa_inst inst;
    for (uint32_t at = i; at-- > first && i - at <= REACH;) {
        if (!decode(k, at, &inst))
            return false;
        if (!writes(k, &inst, &place))
            continue;
        bool plain = inst.exec_size == 1 && inst.flags & ZS_INST_NOMASK && !inst.pred &&
                     is_same(&inst.dst, &place) &&
                     zs_isa_type_bits((enum zs_isa_type)inst.dst.type) == 32;
        if (plain && inst.op == ZS_OP_SHL && base == 0)
            return is_number(&inst.src[1], 4);
        if (!plain || inst.op != ZS_OP_ADD || base == 0 || !is_number(&inst.src[1], base) ||
            !is_dword(&inst.src[0]))
            return false;
        place = inst.src[0];
        base = 0;
    }
    return false;
}

bool zs_isa_table_find(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_table *ret)
{
    const struct zs_isa_branch *branch = zs_isa_branch_of(k, i);
    bool from_itself = k->platform >= ZS_ISA_XE_LP;
    struct zs_isa_inst inst;
    *ret = (struct zs_isa_table){.first = i + 1};
    if (!branch || branch->code != 0x20 || branch->predicated || branch->jip_B != ZS_ISA_NO_INDEX ||
        !is_slot(k, i + 1) || !decode(k, i, &inst) || (from_itself && inst.size_B != SLOT_B) ||
        !is_dword(&inst.src[0]))
        return false;
    while (is_slot(k, i + 1 + ret->count) && ret->count <= TABLE_MAX)
        ret->count++;
    return ret->count <= TABLE_MAX && is_scaled(k, i, inst.src[0], from_itself ? SLOT_B : 0);
}
