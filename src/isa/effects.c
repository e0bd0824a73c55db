/* SPDX-License-Identifier: MIT */
/*
 * What an instruction reads and writes, and which earlier ones of its block it depends on.
 *
 * Lane c of an instruction has bit c of the 32 bits from its flag subregister on. Modes that look
 * at neighbours (any8h and the like) are taken to read the whole flag register, anyv and allv all
 * flag registers. What exactly an accumulator's implicit use covers depends on lanes and types;
 * acc0 and acc1 are counted.
 */
#include "isa/isa_priv.h"

#include <string.h>

enum { FLAG_REGISTERS = 4, ACC_IMPLICIT = 3 };

/* Bits [begin, end) of 32. */
static uint32_t bit_range(uint32_t begin, uint32_t end)
{
    uint64_t high = (UINT64_C(1) << ZS_MIN(end, 32u)) - 1,
             low = (UINT64_C(1) << ZS_MIN(begin, 32u)) - 1;
    return (uint32_t)(high & ~low);
}

/* Bytes of an architecture register that a direct operand touches. */
static struct zs_isa_range arf_range(const struct zs_isa_inst *inst,
                                     const struct zs_isa_operand *op, bool is_dst)
{
    uint32_t element_B = ZS_MAX(zs_isa_type_bits((enum zs_isa_type)op->type) / 8, 1u);
    uint32_t stride = op->hstride == ZS_REGION_NONE || !op->hstride ? 1u : op->hstride;
    bool scalar = !is_dst && op->vstride == 0 && op->hstride == 0;
    uint32_t count = scalar ? 1u : ZS_MAX(inst->exec_size, 1u);
    uint32_t begin_B = (uint32_t)op->subreg * element_B;
    return (struct zs_isa_range){begin_B, begin_B + ((count - 1) * stride + 1) * element_B};
}

static void note_arf(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                     const struct zs_isa_operand *op, bool is_dst, struct zs_isa_effects *e)
{
    struct zs_isa_range r = arf_range(inst, op, is_dst);
    uint16_t words = (uint16_t)bit_range(r.begin_B / 2, (r.end_B + 1) / 2);
    if (op->file == ZS_FILE_F && op->reg < FLAG_REGISTERS) {
        uint32_t *flags = is_dst ? e->flags_written : e->flags_read;
        flags[op->reg] |= bit_range(r.begin_B * 8, r.end_B * 8);
    } else if (op->file == ZS_FILE_A) {
        *(is_dst ? &e->address_written : &e->address_read) |= words;
    } else if (op->file == ZS_FILE_ACC) {
        uint32_t last = op->reg + (r.end_B - 1) / model->grf_B;
        *(is_dst ? &e->acc_written : &e->acc_read) |= (uint16_t)bit_range(op->reg, last + 1);
    } else if (op->file == ZS_FILE_MME) {
        uint32_t first = model->registers[ZS_FILE_MME].base + op->reg;
        *(is_dst ? &e->acc_written : &e->acc_read) |= (uint16_t)bit_range(first, first + 1);
    }
}

static void note_operand(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                         const struct zs_isa_operand *op, bool is_dst, struct zs_isa_effects *e)
{
    uint16_t *acc = is_dst ? &e->acc_written : &e->acc_read;
    if (op->kind == ZS_OPERAND_INDIRECT) {
        uint32_t rows = !is_dst && op->vstride == ZS_REGION_VXH
                            ? ZS_MAX(inst->exec_size / ZS_MAX(op->width, 1u), 1u)
                            : 1;
        if (op->file != ZS_FILE_S)
            e->address_read |= (uint16_t)bit_range(op->subreg, op->subreg + rows);
        *(is_dst ? &e->indirect_written : &e->indirect_read) = true;
    } else if (op->kind == ZS_OPERAND_REG || op->kind == ZS_OPERAND_MACRO) {
        if (op->file != ZS_FILE_GRF)
            note_arf(model, inst, op, is_dst, e);
        if (op->kind == ZS_OPERAND_MACRO && op->mme < ZS_MME_NONE)
            *acc |= (uint16_t)(1u << (model->registers[ZS_FILE_MME].base + op->mme));
    }
}

/* Lanes of the instruction in its flag register. */
static uint32_t lane_flags(const struct zs_isa_inst *inst)
{
    uint32_t begin = inst->flag_subreg * 16u + inst->channel_offset;
    uint32_t end = begin + inst->exec_size;
    return end > 32 ? UINT32_MAX : bit_range(begin, end);
}

static void note_flags(const struct zs_isa_inst *inst, struct zs_isa_effects *e)
{
    uint32_t reg = inst->flag_reg % FLAG_REGISTERS;
    if (inst->pred == ZS_PRED_SEQ)
        e->flags_read[reg] |= lane_flags(inst);
    else if (inst->pred == ZS_PRED_ANYV || inst->pred == ZS_PRED_ALLV)
        memset(e->flags_read, 0xff, sizeof(e->flags_read));
    else if (inst->pred)
        e->flags_read[reg] = UINT32_MAX;
    /* sel and csel choose by the condition and keep none */
    if (inst->cond && inst->op != ZS_OP_SEL && inst->op != ZS_OP_CSEL)
        e->flags_written[reg] |= lane_flags(inst);
}

static void note_accumulators(const struct zs_isa_inst *inst, struct zs_isa_effects *e)
{
    if (inst->flags & ZS_INST_ACCWREN)
        e->acc_written |= ACC_IMPLICIT;
    if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_ACC))
        return;
    bool writes = inst->op == ZS_OP_ADDC || inst->op == ZS_OP_SUBB || inst->op == ZS_OP_MACH;
    bool reads = inst->op != ZS_OP_ADDC && inst->op != ZS_OP_SUBB;
    e->acc_written |= writes ? ACC_IMPLICIT : 0;
    e->acc_read |= reads ? ACC_IMPLICIT : 0;
}

void zs_isa_arf_effects(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                        struct zs_isa_effects *e)
{
    *e = (struct zs_isa_effects){.conditional = inst->pred != 0 && inst->op != ZS_OP_SEL};
    if (inst->flags & ZS_INST_ILLEGAL)
        return;
    if (inst->flags & ZS_INST_HAS_DST)
        note_operand(model, inst, &inst->dst, true, e);
    for (uint32_t s = 0; s < inst->source_count && s < ZS_ISA_SOURCES_MAX; s++)
        note_operand(model, inst, &inst->src[s], false, e);
    note_flags(inst, e);
    note_accumulators(inst, e);
    if (inst->flags & ZS_INST_DESC_REG)
        e->address_read |= (uint16_t)bit_range(inst->desc_subreg * 2u, inst->desc_subreg * 2u + 2);
    if (inst->flags & ZS_INST_EXDESC_REG)
        e->address_read |=
            (uint16_t)bit_range(inst->exdesc_subreg * 2u, inst->exdesc_subreg * 2u + 2);
}

static void set_registers(uint64_t bits[ZS_ISA_GRF_WORDS], struct zs_isa_range r, uint32_t grf_B)
{
    for (uint32_t reg = r.begin_B / grf_B; reg * grf_B < r.end_B && reg < 64 * ZS_ISA_GRF_WORDS;
         reg++)
        bits[reg / 64] |= UINT64_C(1) << reg % 64;
}

void zs_isa_inst_effects(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_effects *ret)
{
    const struct zs_isa_inst *inst = zs_isa_inst(k, i);
    const struct zs_isa_message *m = zs_isa_inst_message(k, i);
    uint32_t element_B, stride_B;
    zs_isa_arf_effects(k->model, inst, ret);
    struct zs_isa_range written = zs_isa_dst_range(k, inst, &element_B, &stride_B);
    /* the one behind these may be written; liveness does not count on it */
    if (m && m->kind == ZS_MSG_LOAD && inst->dst.file == ZS_FILE_GRF &&
        zs_isa_may_be_one_more(m->sfid, m->desc, m->rlen))
        written.end_B += k->grf_B;
    if (zs_isa_response_is_unknown(inst))
        written = (struct zs_isa_range){inst->dst.reg * k->grf_B, (inst->dst.reg + 32u) * k->grf_B};
    set_registers(ret->grf_written, written, k->grf_B);
    for (uint32_t s = 0; s < inst->source_count && s < ZS_ISA_SOURCES_MAX; s++)
        set_registers(ret->grf_read, zs_isa_source_range(k, inst, s), k->grf_B);
    if (!m)
        return;
    bool unknown = m->kind == ZS_MSG_UNKNOWN;
    ret->reads_memory =
        unknown || m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_ATOMIC || m->kind == ZS_MSG_SAMPLE;
    ret->writes_memory = unknown || m->kind == ZS_MSG_STORE || m->kind == ZS_MSG_ATOMIC;
    ret->orders_memory = unknown || m->kind == ZS_MSG_FENCE || m->kind == ZS_MSG_BARRIER;
}

/* ---- dependencies ---- */

static bool meet(const uint64_t a[ZS_ISA_GRF_WORDS], const uint64_t b[ZS_ISA_GRF_WORDS])
{
    uint64_t both = 0;
    for (uint32_t w = 0; w < ZS_ISA_GRF_WORDS; w++)
        both |= a[w] & b[w];
    return both;
}

static bool flags_meet(const uint32_t a[4], const uint32_t b[4])
{
    return (a[0] & b[0]) | (a[1] & b[1]) | (a[2] & b[2]) | (a[3] & b[3]);
}

/* Whether what is written meets what is touched. */
static bool writes_meet(const struct zs_isa_effects *w, const uint64_t grf[ZS_ISA_GRF_WORDS],
                        const uint32_t flags[4], uint32_t address, uint32_t acc, bool indirect)
{
    bool any_written = meet(w->grf_written, w->grf_written) || w->indirect_written;
    bool any_touched = meet(grf, grf) || indirect;
    return meet(w->grf_written, grf) || flags_meet(w->flags_written, flags) ||
           w->address_written & address || w->acc_written & acc || (indirect && any_written) ||
           (w->indirect_written && any_touched);
}

static uint32_t dependency_of(const struct zs_isa_effects *later,
                              const struct zs_isa_effects *earlier)
{
    uint32_t kinds = 0;
    bool memory = (earlier->writes_memory && (later->reads_memory || later->writes_memory)) ||
                  (earlier->reads_memory && later->writes_memory);
    bool order = (earlier->orders_memory && (later->reads_memory || later->writes_memory)) ||
                 (later->orders_memory && (earlier->reads_memory || earlier->writes_memory));
    if (writes_meet(earlier, later->grf_read, later->flags_read, later->address_read,
                    later->acc_read, later->indirect_read))
        kinds |= ZS_DEP_READ_AFTER_WRITE;
    if (writes_meet(later, earlier->grf_read, earlier->flags_read, earlier->address_read,
                    earlier->acc_read, earlier->indirect_read))
        kinds |= ZS_DEP_WRITE_AFTER_READ;
    if (writes_meet(earlier, later->grf_written, later->flags_written, later->address_written,
                    later->acc_written, later->indirect_written))
        kinds |= ZS_DEP_WRITE_AFTER_WRITE;
    return kinds | (memory || order ? ZS_DEP_MEMORY : 0);
}

uint32_t zs_isa_inst_dependencies(const struct zs_isa_kernel *k, uint32_t i,
                                  struct zs_isa_dependency *ret, uint32_t max)
{
    struct zs_isa_effects later, earlier;
    const struct zs_isa_block *block = zs_isa_block(k, zs_isa_inst_block(k, i));
    uint32_t count = 0;
    zs_isa_inst_effects(k, i, &later);
    for (uint32_t at = i; at-- > block->first && count < max;) {
        zs_isa_inst_effects(k, at, &earlier);
        uint32_t kinds = dependency_of(&later, &earlier);
        if (kinds)
            ret[count++] = (struct zs_isa_dependency){.inst = at, .kinds = kinds};
    }
    return count;
}
