/* SPDX-License-Identifier: MIT */
/*
 * dpas, dpasw and bdpas: which combinations there are, where their operands lie.
 *
 * Sources: intel-graphics-compiler, documentation/visa/instructions/DPAS.md and DPASW.md,
 * visa/G4_Verifier.cpp (verifyDpas), ModelXeHPG.hpp to ModelXe3pXPC.hpp of visa/iga; mesa,
 * src/intel/compiler/brw_eu_validate.c. Of bdpas: "bdpas" of vc-intrinsics, where its scales lie in
 * visa/G4_IR.cpp (computeRightBound) and GenXLowering.cpp (unpackBlockScale).
 */
#include "base/vec.h"
#include "eu/lower/lower_inst.h"
#include "eu/lower/lower_operand.h"

/* Elements of sources, and how many of a wider kind a channel multiplies in a step. */
static const struct {
    uint8_t bits, ops;
    bool is_float, is_signed;
    uint8_t narrow; /* type of src0 and the destination beside f, from XeHPC on */
} elements[ZS_TYPE_COUNT] = {
    [ZS_TYPE_TF32] = {32, 1, true, true, ZS_TYPE_NONE},
    [ZS_TYPE_BF] = {16, 2, true, true, ZS_TYPE_BF},
    [ZS_TYPE_HF] = {16, 2, true, true, ZS_TYPE_HF},
    [ZS_TYPE_BF8] = {8, 4, true, true, ZS_TYPE_NONE},
    [ZS_TYPE_HF8] = {8, 4, true, true, ZS_TYPE_NONE},
    [ZS_TYPE_E2M1] = {4, 8, true, true, ZS_TYPE_NONE},
    [ZS_TYPE_B] = {8, 4, false, true, 0},
    [ZS_TYPE_UB] = {8, 4, false, false, 0},
    [ZS_TYPE_S4] = {4, 8, false, true, 0},
    [ZS_TYPE_U4] = {4, 8, false, false, 0},
    [ZS_TYPE_S2] = {2, 8, false, true, 0},
    [ZS_TYPE_U2] = {2, 8, false, false, 0},
};

static uint32_t bytes_of(unsigned type)
{
    return zs_isa_type_bits((enum zs_isa_type)type) / 8;
}

static bool takes_result(const struct zs_eu_lowering *l, unsigned type)
{
    unsigned element = l->inst->src[1].type, narrow = elements[element].narrow;

    if (!elements[element].is_float)
        return type == ZS_TYPE_D || type == ZS_TYPE_UD;
    if (l->model->platform >= ZS_ISA_XE3P && elements[element].bits <= 8)
        narrow = ZS_TYPE_BF;
    return type == ZS_TYPE_F ||
           (type != ZS_TYPE_NONE && type == narrow && l->model->platform >= ZS_ISA_XE_HPC);
}

static bool check_types(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    unsigned w = inst->src[1].type, a = inst->src[2].type;
    bool saturates = inst->dst.modifiers & ZS_MOD_SAT;

    bool bytes = elements[w].bits == 8 && elements[a].bits == 8; /* bf8 and hf8 may be mixed */
    if (!elements[w].bits || !elements[a].bits || (elements[w].is_float && w != a && !bytes) ||
        elements[w].is_float != elements[a].is_float ||
        (l->inst->op == ZS_OP_BDPAS && (!elements[w].is_float || w == ZS_TYPE_TF32)))
        return unmodelled(l, "this combination of elements");
    if (!takes_result(l, inst->dst.type) || !takes_result(l, inst->src[0].type))
        return unmodelled(l, "this type of src0 or the destination");
    if (saturates && (elements[w].is_float || inst->src[0].type != inst->dst.type))
        return unmodelled(l, "saturation with these types");
    return true;
}

static bool check_shape(struct zs_eu_lowering *l, const struct zs_eu_dpas *d)
{
    unsigned depth = l->inst->subfunction >> 4;

    if (depth != ZS_EU_DPAS_DEPTH)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: no GPU has a systolic depth of %u",
                            l->name, depth ? depth : 16);
    if (d->rows == 0 || d->rows > ZS_EU_DPAS_ROWS)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: no GPU repeats %u times", l->name,
                            d->rows ? d->rows : 16u);
    if (d->lanes != l->program->regs.grf_B / 4)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: the execution size is %u, not %u", l->name,
                            l->program->regs.grf_B / 4u, d->lanes);
    return true;
}

/* Bytes [at, at + size_B) of the register file, which start at a multiple of `align_B`. */
static bool place(struct zs_eu_lowering *l, const struct zs_isa_operand *op, uint32_t size_B,
                  uint32_t align_B, uint32_t *ret_at)
{
    uint32_t at = op->reg * (uint32_t)l->program->regs.grf_B + op->subreg_B;

    if (op->file != ZS_FILE_GRF || op->kind != ZS_OPERAND_REG)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: an operand is no general register",
                            l->name);
    if (op->subreg_B >= l->program->regs.grf_B || at % align_B)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND,
                            "%s: an operand starts in the middle of what it has to be aligned to",
                            l->name);
    if (at + size_B > zs_eu_file_B(l->program))
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: an operand leaves the register file",
                            l->name);
    *ret_at = ZS_EU_OFFSET(grf) + at;
    return true;
}

static bool overlap(uint32_t a, uint32_t a_B, uint32_t b, uint32_t b_B)
{
    return a < b + b_B && b < a + a_B;
}

/* dpasw: the first half of src2's registers is in the even thread of a pair, rounded up, the rest
 * in the odd one, from the register that the operand names on in both. (DPASW.md's formula; its
 * table has two registers in the even thread where IGC's built-in functions have one in each.) */
static bool pair(struct zs_eu_lowering *l, uint32_t src2, uint32_t src2_B, uint32_t even_B)
{
    uint32_t grf_B = l->program->regs.grf_B;

    if (src2 % grf_B != ZS_EU_OFFSET(grf) % grf_B)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: src2 starts in the middle of a register",
                            l->name);
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_PAIR);
    op->src[0] = src2;
    op->src[1] = ZS_MIN(even_B, src2_B);
    op->src[2] = src2_B > even_B ? src2_B - even_B : 0;
    return true;
}

static struct zs_eu_dpas describe(const struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    unsigned w = inst->src[1].type, a = inst->src[2].type;

    return (struct zs_eu_dpas){
        .rows = inst->subfunction & 15,
        .lanes = inst->exec_size,
        .ops = ZS_MIN(elements[w].ops, elements[a].ops),
        .bits = {elements[w].bits, elements[a].bits},
        .is_signed = {elements[w].is_signed, elements[a].is_signed},
        .type = {(uint8_t)w, (uint8_t)a},
        .dst_type = inst->dst.type,
        .src0_type = inst->src[0].type,
        .has_src0 = inst->src[0].file != ZS_FILE_NULL,
        .scaled = inst->op == ZS_OP_BDPAS,
    };
}

static void emit(struct zs_eu_lowering *l, const struct zs_eu_dpas *d, const uint32_t at[4])
{
    struct zs_eu_program *p = l->program;
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_DPAS);

    zs_eu_mask(l, op);
    op->dst = at[0];
    for (unsigned i = 0; i < 3; i++)
        op->src[i] = at[i + 1];
    op->cls = d->scaled                             ? ZS_EU_DPAS_SCALED
              : elements[d->type[0]].is_float       ? ZS_EU_DPAS_REAL
              : l->inst->dst.modifiers & ZS_MOD_SAT ? ZS_EU_DPAS_SATURATED
                                                    : ZS_EU_DPAS_WHOLE;
    op->aux = (uint32_t)p->dpas.count;
    if (!ZS_VEC_PUSH(&p->dpas, *d))
        l->no_memory = true;
}

/* {Atomic}: the next one follows at once, and its operands are read before this one's result is
 * there. When it has the same destination nobody sees this one's: IGC puts such a one, of whatever
 * is in the destination, in front of chains that add to it (an erratum of XeHPG's operand caches;
 * concluded from its code, which would compute nonsense otherwise). */
static bool is_unseen(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_isa_inst next;
    if (!(inst->flags & ZS_INST_ATOMIC) || l->index + 1 >= l->block_end)
        return false;
    zs_eu_decode(l, l->program->insts[l->index + 1].offset_B, &next);
    return next.op == inst->op && !next.pred && !inst->pred && next.exec_size == inst->exec_size &&
           (next.flags & ZS_INST_NOMASK) == (inst->flags & ZS_INST_NOMASK) &&
           next.dst.file == inst->dst.file && next.dst.reg == inst->dst.reg &&
           next.dst.subreg == inst->dst.subreg && next.dst.type == inst->dst.type &&
           (next.subfunction & 15) >= (inst->subfunction & 15);
}

/* Scales are bytes of one register: 16 of src1's columns and 8 of src2's rows, from a multiple of
 * as many on; those of a second block lie 32 bytes behind. */
static bool place_scales(struct zs_eu_lowering *l, struct zs_eu_dpas *d)
{
    uint32_t more_B = d->ops == 8 ? ZS_EU_DPAS_SCALES_B : 0, grf_B = l->program->regs.grf_B;

    for (unsigned i = 0; d->scaled && i < 2; i++) {
        const struct zs_isa_operand *op = &l->inst->src[3 + i];
        uint32_t each_B = i ? d->rows : d->lanes;
        if (op->file == ZS_FILE_NULL)
            continue;
        if (op->subreg_B + more_B + each_B > grf_B)
            return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: scales leave their register", l->name);
        if (!place(l, op, more_B + each_B, each_B, &d->scales[i]))
            return false;
        zs_eu_mark_read(l, d->scales[i] - ZS_EU_OFFSET(grf), more_B + each_B);
    }
    return true;
}

void zs_eu_lower_dpas(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_dpas d = describe(l);
    uint32_t grf_B = l->program->regs.grf_B, at[4] = {0}, size_B[4];
    bool is_wide = inst->op == ZS_OP_DPASW;

    if (!check_types(l) || !check_shape(l, &d))
        return;
    uint32_t row_B = ZS_EU_DPAS_DEPTH * 1u * d.ops * d.bits[1] / 8;
    size_B[0] = (uint32_t)d.rows * d.lanes * bytes_of(d.dst_type);
    size_B[1] = (uint32_t)d.rows * d.lanes * bytes_of(d.src0_type);
    size_B[2] = ZS_EU_DPAS_DEPTH * 1u * d.ops * d.bits[0] / 8 * d.lanes;
    size_B[3] = d.rows * row_B;
    /* of dpasw's a thread has half */
    uint32_t own_B = is_wide ? ((size_B[3] + grf_B - 1) / grf_B + 1) / 2 * grf_B : size_B[3];
    if (!place(l, &inst->dst, size_B[0], d.lanes * bytes_of(d.dst_type), &at[0]) ||
        (d.has_src0 &&
         !place(l, &inst->src[0], size_B[1], d.lanes * bytes_of(d.src0_type), &at[1])) ||
        !place(l, &inst->src[1], size_B[2], grf_B, &at[2]) ||
        !place(l, &inst->src[2], own_B, row_B, &at[3]) || !place_scales(l, &d))
        return;
    for (unsigned i = 1; i < 4; i++)
        if (at[i])
            zs_eu_mark_read(l, at[i] - ZS_EU_OFFSET(grf), i == 3 ? own_B : size_B[i]);
    d.direct = bytes_of(d.dst_type) == 4 && !overlap(at[0], size_B[0], at[2], size_B[2]) &&
               !overlap(at[0], size_B[0], at[3], own_B) &&
               (!d.has_src0 || at[0] == at[1] || !overlap(at[0], size_B[0], at[1], size_B[1]));
    if (is_wide) {
        if (!pair(l, at[3], size_B[3], own_B))
            return;
        at[3] = ZS_EU_OFFSET(pair);
    }
    if (!is_unseen(l))
        emit(l, &d, at);
}
