/* SPDX-License-Identifier: MIT */
/* Where operands are in the thread, and the shapes of their regions. */
#include "eu/lower/lower_operand.h"

#include "base/vec.h"

#include <string.h>

/* ---- places ---- */

uint32_t zs_eu_temp(struct zs_eu_lowering *l)
{
    if (l->temps == ZS_EU_TEMP_COUNT) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s needs too many conversions", l->name);
        l->temps = 0;
    }
    return ZS_EU_OFFSET(temp) + l->temps++ * ZS_EU_TEMP_B;
}

/* The pool is full: copy the constant when it is used. */
static uint32_t constant_by_copy(struct zs_eu_lowering *l, const uint8_t *bytes, unsigned size_B)
{
    struct zs_eu_program *p = l->program;
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_CONSTANT);

    op->dst = at;
    op->src[0] = size_B;
    op->aux = (uint32_t)p->more_constants.count;
    if (!ZS_VEC_RESERVE(&p->more_constants, size_B)) {
        l->no_memory = true;
        return at;
    }
    memcpy(p->more_constants.items + p->more_constants.count, bytes, size_B);
    p->more_constants.count += size_B;
    return at;
}

uint32_t zs_eu_constant(struct zs_eu_lowering *l, const void *bytes, unsigned size_B)
{
    struct zs_eu_program *p = l->program;
    unsigned step_B = size_B > 8 ? size_B : 8;
    uint8_t padded[ZS_EU_LANES_MAX * 8] = {0};

    memcpy(padded, bytes, size_B);
    for (uint32_t at = 0; at + step_B <= p->constant_B; at += 8)
        if (memcmp(p->constant + at, padded, step_B) == 0)
            return ZS_EU_OFFSET(constant) + at;
    if (p->constant_B + step_B > ZS_EU_CONST_B)
        return constant_by_copy(l, padded, step_B);
    memcpy(p->constant + p->constant_B, padded, step_B);
    p->constant_B += (uint32_t)zs_align_up(step_B, 8);
    return ZS_EU_OFFSET(constant) + p->constant_B - (uint32_t)zs_align_up(step_B, 8);
}

struct zs_eu_loc zs_eu_number(struct zs_eu_lowering *l, uint64_t value)
{
    return (struct zs_eu_loc){zs_eu_constant(l, &value, sizeof(value)), true};
}

enum { NOT_WRITABLE = 255 };

/* Architectural registers that operands may name. */
static const struct arf {
    uint32_t at;
    uint8_t size_B;     /* all registers of the kind, 0: see arf_size_B() */
    uint8_t reg_B;      /* distance between registers */
    uint8_t writable_B; /* from this byte on */
} arfs[ZS_FILE_COUNT] = {
    [ZS_FILE_A] = {ZS_EU_OFFSET(a0), 0, 32, 0},
    [ZS_FILE_F] = {ZS_EU_OFFSET(flag), 0, 4, 0},
    [ZS_FILE_CE] = {ZS_EU_OFFSET(ce), 4, 4, NOT_WRITABLE},
    [ZS_FILE_MSG] = {ZS_EU_OFFSET(msg0), 4, 4, NOT_WRITABLE},
    [ZS_FILE_S] = {ZS_EU_OFFSET(s0), 8 * ZS_EU_S0_QWORDS, 8 * ZS_EU_S0_QWORDS, 0},
    [ZS_FILE_SR] = {ZS_EU_OFFSET(sr0), 16, 16, 8}, /* the dispatch mask, see zs_eu_after_store() */
    [ZS_FILE_CR] = {ZS_EU_OFFSET(cr0), 16, 16, 0},
    [ZS_FILE_N] = {ZS_EU_OFFSET(n0), 16, 16, 0},
    [ZS_FILE_IP] = {ZS_EU_OFFSET(ip_B), 4, 4, NOT_WRITABLE},
    /* tm0.4 asks for a pause, in cycles: kernels do so in loops that wait for a lock */
    [ZS_FILE_TM] = {ZS_EU_OFFSET(tm0), 20, 20, 16},
};

static uint32_t arf_size_B(const struct zs_eu_lowering *l, unsigned file)
{
    const struct zs_eu_registers *regs = &l->program->regs;

    return file == ZS_FILE_A                               ? regs->a0_count * 2u
           : file == ZS_FILE_F                             ? regs->flag_count * 4u
           : file == ZS_FILE_MSG && !l->platform->has_msg0 ? 0
                                                           : arfs[file].size_B;
}

void zs_eu_mark_acc_read(struct zs_eu_lowering *l, unsigned first, unsigned count)
{
    enum { RUN = ZS_EU_ACC_RUN };
    uint32_t end = ZS_MIN(first + count, zs_eu_acc_slots(&l->program->regs));

    for (uint32_t run = first / RUN; run * RUN < end; run++)
        l->program->read_acc_slots |= 1u << run;
}

/* Slots of accumulators from an operand's first element to its last one. */
static uint32_t acc_span(const struct zs_eu_lowering *l, const struct zs_isa_operand *op,
                         bool is_dst, const struct zs_eu_place *place)
{
    uint16_t offsets[ZS_EU_LANES_MAX];
    uint32_t last = 0;

    if (!zs_eu_region_offsets(op, l->n, place, place->step_B, is_dst, offsets))
        return place->limit_B / place->step_B;
    for (unsigned c = 0; c < l->n; c++)
        last = ZS_MAX(last, (uint32_t)offsets[c]);
    return last / place->step_B + 1;
}

static bool place_acc(struct zs_eu_lowering *l, const struct zs_isa_operand *op, bool is_dst,
                      struct zs_eu_place *ret)
{
    const struct zs_eu_registers *regs = &l->program->regs;
    unsigned size_B = zs_eu_type_B(op->type), reg = op->reg;
    uint32_t end, first = zs_eu_acc_slot(regs, reg, size_B, &end) + op->subreg_B / size_B;

    if (reg >= regs->acc_count || first >= end)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: accumulator acc%u is not modelled",
                            l->name, reg);
    *ret = (struct zs_eu_place){ZS_EU_OFFSET(acc) + first * 4, (end - first) * 4, 4};
    zs_eu_mark_acc_read(l, first, acc_span(l, op, is_dst, ret)); /* perhaps */
    return true;
}

bool zs_eu_place_of(struct zs_eu_lowering *l, const struct zs_isa_operand *op, bool write,
                    struct zs_eu_place *ret)
{
    unsigned size_B = zs_eu_type_B(op->type);

    if (op->file == ZS_FILE_GRF) {
        uint32_t at = op->reg * (uint32_t)l->program->regs.grf_B + op->subreg_B;
        uint32_t file_B = zs_eu_file_B(l->program);
        if (at >= file_B)
            return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: register r%u does not exist", l->name,
                                op->reg);
        *ret = (struct zs_eu_place){ZS_EU_OFFSET(grf) + at, file_B - at, size_B};
        return true;
    }
    if (op->file == ZS_FILE_ACC)
        return place_acc(l, op, write, ret);
    const struct arf *arf = &arfs[op->file];
    uint32_t at = op->reg * (uint32_t)arf->reg_B + op->subreg_B, end = arf_size_B(l, op->file);
    if (at >= end || (write && at < arf->writable_B))
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED,
                            "%s: %s of architecture register %s%u is not modelled", l->name,
                            write ? "write" : "read", zs_isa_file_name((enum zs_isa_file)op->file),
                            op->reg);
    *ret = (struct zs_eu_place){arf->at + at, end - at, size_B};
    return true;
}

/* Offsets of all channels' elements from the first; false when one leaves the register file. */
bool zs_eu_region_offsets(const struct zs_isa_operand *op, unsigned n,
                          const struct zs_eu_place *place, unsigned size_B, bool is_dst,
                          uint16_t *ret_offsets)
{
    /* three sources have none: rows end where the next one begins */
    unsigned width = op->width != ZS_REGION_NONE ? op->width
                     : op->hstride               ? ZS_MAX(op->vstride / op->hstride, 1)
                                                 : 1;

    for (unsigned c = 0; c < n; c++) {
        unsigned elements;
        if (is_dst)
            elements = c * op->hstride;
        else if (op->vstride == ZS_REGION_VXH)
            elements = c % op->width * op->hstride;
        else if (op->vstride == ZS_REGION_NONE) /* the last of three sources */
            elements = c * op->hstride;
        else
            elements = c / width * op->vstride + c % width * op->hstride;
        uint32_t at = elements * place->step_B;
        if (at + size_B > place->limit_B)
            return false;
        ret_offsets[c] = (uint16_t)at;
    }
    return true;
}

/* The distance of neighbours when it is the same everywhere, else UINT32_MAX. */
uint32_t zs_eu_even_stride(const uint16_t *offsets, unsigned n)
{
    uint32_t stride = n > 1 ? (uint32_t)offsets[1] - offsets[0] : 0;

    for (unsigned c = 1; c < n; c++)
        if ((uint32_t)offsets[c] - offsets[c - 1] != stride)
            return UINT32_MAX;
    return stride > INT32_MAX ? UINT32_MAX : stride;
}

uint32_t zs_eu_add_region(struct zs_eu_lowering *l, const struct zs_eu_region *region)
{
    struct zs_eu_program *p = l->program;

    for (size_t i = p->regions.count; i-- > 0 && p->regions.count - i < 32;)
        if (memcmp(&p->regions.items[i], region, sizeof(*region)) == 0)
            return (uint32_t)i;
    if (!ZS_VEC_PUSH(&p->regions, *region))
        l->no_memory = true;
    return (uint32_t)(p->regions.count - 1);
}
