/* SPDX-License-Identifier: MIT */
/*
 * Where code that writes registers through a0 (arrays in registers) keeps what r0 had.
 *
 * Nobody knows from the code alone which registers such writes reach. But the message that ends a
 * thread has the header as its payload. So if the code copies a register there at all its ends, and
 * does not write that register (r0), or last with r0, before anything else may have happened, then
 * it holds the header from there on: were it in reach of an array, the kernel could not end its
 * threads. Compilers up to XeHPG make `mov r47 r0` at the start and `mov r127 r47` in front of the
 * end; on XeHPC r0 stays, and is copied at the end. A kernel whose index leaves its array may write
 * it, and has undefined behaviour with or without what is inserted.
 */
#include "edit/edit_priv.h"

static bool is_packed(const struct zs_isa_operand *op)
{
    return (op->vstride == op->width && op->hstride == 1) ||
           (op->vstride == 1 && op->width == 1 && op->hstride == 0);
}

/* `(W) mov (8|M0) rA.0<1>:ud rB.0<1;1,0>:ud`: all that matters of a header. */
static bool is_copy(const struct zs_isa_inst *inst)
{
    const struct zs_isa_operand *to = &inst->dst, *from = &inst->src[0];
    if (inst->op != ZS_OP_MOV || !(inst->flags & ZS_INST_NOMASK) || inst->pred || inst->cond)
        return false;
    return to->kind == ZS_OPERAND_REG && from->kind == ZS_OPERAND_REG && to->file == ZS_FILE_GRF &&
           from->file == ZS_FILE_GRF && !to->subreg && !from->subreg && !to->modifiers &&
           !from->modifiers && to->hstride == 1 && is_packed(from) && to->type == from->type &&
           inst->exec_size >= 8 &&
           (to->type == ZS_TYPE_UD || to->type == ZS_TYPE_D || to->type == ZS_TYPE_F);
}

/* The register that goes into the message at the end of a block, before it is copied there. */
static uint32_t end_header(const struct zs_isa_kernel *code, uint32_t end)
{
    uint32_t grf = zs_isa_inst(code, end)->src[0].reg;
    uint32_t first = zs_isa_block(code, zs_isa_inst_block(code, end))->first;
    for (uint32_t i = end; i-- > first;) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        struct zs_isa_effects e;
        zs_isa_inst_effects(code, i, &e);
        if (zs_grf_has(e.grf_written, grf))
            return is_copy(inst) && inst->dst.reg == grf ? inst->src[0].reg : ZS_NONE;
        if (e.indirect_written)
            return ZS_NONE;
    }
    return grf;
}

/* The same at all ends; ZS_NONE: there are several, or none. */
static uint32_t header_of_ends(const struct zs_isa_kernel *code)
{
    uint32_t found = ZS_NONE;
    for (uint32_t i = 0; i < zs_isa_kernel_count(code); i++) {
        if (!(zs_isa_inst(code, i)->flags & ZS_INST_EOT))
            continue;
        uint32_t grf = end_header(code, i);
        if (grf == ZS_NONE || (found != ZS_NONE && grf != found))
            return ZS_NONE;
        found = grf;
    }
    return found;
}

/* Every way to what stands behind the instruction leads through it: threads start before it, and
 * nothing jumps there. */
static bool is_passed(const struct zs_edit_kernel *k, uint32_t at)
{
    const struct zs_isa_kernel *code = k->code;
    uint32_t second_B = k->info->thread.skip_per_thread_load_B;
    for (uint32_t n = 0; n < zs_isa_edge_count(code); n++) {
        const struct zs_isa_edge *edge = zs_isa_edge(code, n);
        if (zs_isa_block(code, edge->to)->first <= at && edge->to != edge->from + 1)
            return false;
    }
    for (uint32_t i = 0; i < at; i++)
        if (zs_isa_op_flags((enum zs_isa_op)zs_isa_inst(code, i)->op) & ZS_OPF_BRANCH)
            return false;
    return second_B <= zs_isa_inst_offset(code, at);
}

/* The last write of the register is a copy of r0, which nothing has written before; where. */
static bool find_copy(const struct zs_edit_kernel *k, uint32_t grf, uint32_t *ret_at)
{
    uint32_t last = ZS_NONE, changed = ZS_NONE;
    for (uint32_t i = 0; i < zs_isa_kernel_count(k->code); i++) {
        struct zs_isa_effects e;
        zs_isa_inst_effects(k->code, i, &e);
        last = zs_grf_has(e.grf_written, grf) ? i : last;
        if (changed == ZS_NONE && (e.indirect_written || zs_grf_has(e.grf_written, 0)))
            changed = i;
    }
    *ret_at = last;
    return last < changed && is_copy(zs_isa_inst(k->code, last)) &&
           zs_isa_inst(k->code, last)->dst.reg == grf &&
           zs_isa_inst(k->code, last)->src[0].reg == 0 && is_passed(k, last);
}

static bool is_written(const struct zs_isa_kernel *code, uint32_t grf)
{
    bool found = false;
    for (uint32_t i = 0; i < zs_isa_kernel_count(code) && !found; i++) {
        struct zs_isa_effects e;
        zs_isa_inst_effects(code, i, &e);
        found = zs_grf_has(e.grf_written, grf) && !zs_header_is_kept(zs_isa_inst(code, i));
    }
    return found;
}

bool zs_header_find(const struct zs_edit_kernel *k, uint32_t *ret_grf, uint32_t *ret_copied_at)
{
    uint32_t end = header_of_ends(k->code);
    *ret_grf = 0;
    *ret_copied_at = ZS_NONE;
    if (end == ZS_NONE || !k->is_closed || k->text_writes_header)
        return false;
    if (end != 0 && !find_copy(k, end, ret_copied_at))
        return false;
    *ret_grf = end;
    return end != 0 || !is_written(k->code, 0);
}

bool zs_header_is_kept(const struct zs_isa_inst *inst)
{
    const struct zs_isa_operand *to = &inst->dst;
    bool same =
        inst->op == ZS_OP_CSEL && to->kind == ZS_OPERAND_REG && to->hstride == 1 && !to->modifiers;
    for (uint32_t s = 0; s < 2 && same; s++) {
        const struct zs_isa_operand *from = &inst->src[s];
        same = from->kind == ZS_OPERAND_REG && from->file == to->file && from->reg == to->reg &&
               from->subreg_B == to->subreg_B && from->type == to->type && from->hstride == 1 &&
               from->vstride == inst->exec_size && !from->modifiers;
    }
    return same;
}
