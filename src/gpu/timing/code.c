/* SPDX-License-Identifier: MIT */
/* What the instructions of a kernel cost: pipes, cycles, registers, from the decoded instructions.
 */
#include "gpu/timing/timing_priv.h"

#include "base/hash.h"
#include "isa/convert.h"
#include "isa/inst.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_B = 32, /* of response lengths; what a chunk of lanes fills at least */
    SYNC_BAR = 14,
    DPAS_ROWS_MAX = 8,
};

static const struct zs_timing_params rows[] = {
#define ZS_TIMING_PARAMS(...) {__VA_ARGS__},
#include "gpu/timing/params.def"
#undef ZS_TIMING_PARAMS
};

const struct zs_timing_params *zs_timing_params_find(const struct zs_gpu_model *model)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].platform == model->platform &&
            (!rows[i].target || strcmp(rows[i].target, model->target) == 0))
            return &rows[i];
    }
    return NULL;
}

/* ---- cost --------------------------------------------------------------------------------------
 */

static uint32_t operand_bits(const struct zs_isa_operand *op)
{
    bool packed = op->type == ZS_TYPE_V || op->type == ZS_TYPE_UV || op->type == ZS_TYPE_VF;
    return op->kind == ZS_OPERAND_NONE || packed ? 0 : zs_isa_type_bits((enum zs_isa_type)op->type);
}

/* Bytes of an element as the pipe handles it: of the widest operand, at least a word. */
static uint32_t element_B(const struct zs_isa_inst *inst)
{
    uint32_t bits = ZS_MAX(operand_bits(&inst->dst), 16u);
    for (uint32_t i = 0; i < inst->source_count && i < ZS_ISA_SOURCES_MAX; i++)
        bits = ZS_MAX(bits, operand_bits(&inst->src[i]));
    return bits / 8;
}

static bool has_type(const struct zs_isa_inst *inst, enum zs_isa_type type)
{
    bool found = inst->dst.kind != ZS_OPERAND_NONE && inst->dst.type == type;
    for (uint32_t i = 0; i < inst->source_count && i < ZS_ISA_SOURCES_MAX; i++)
        found |= inst->src[i].type == type;
    return found;
}

static bool is_float(const struct zs_isa_inst *inst)
{
    return has_type(inst, ZS_TYPE_F) || has_type(inst, ZS_TYPE_HF) || has_type(inst, ZS_TYPE_DF) ||
           has_type(inst, ZS_TYPE_VF);
}

static bool is_integer_32(const struct zs_isa_operand *op)
{
    return op->type == ZS_TYPE_D || op->type == ZS_TYPE_UD;
}

static bool is_wide_multiply(const struct zs_isa_inst *inst)
{
    bool multiplies = inst->op == ZS_OP_MUL || inst->op == ZS_OP_MACH;
    return multiplies && is_integer_32(&inst->src[0]) && is_integer_32(&inst->src[1]);
}

struct cost {
    uint32_t unit, B_per_cycle, factor, fixed;
    uint32_t latency, acc_latency, flag_latency;
};

static struct cost math_cost(const struct zs_timing_params *p, const struct zs_isa_inst *inst)
{
    uint32_t function = inst->subfunction;
    struct cost c = {ZS_TIMING_UNIT_FPU1, p->math_B,      1, 0, p->math_latency,
                     p->math_latency,     p->flag_latency};
    if (function == ZS_MATH_FDIV || function == ZS_MATH_POW) {
        c.B_per_cycle = p->pow_B;
        c.latency = p->pow_latency;
    } else if (function >= ZS_MATH_IDIV && function <= ZS_MATH_IREM) {
        c.fixed = p->divide_cycles;
        c.latency = p->divide_latency;
    }
    return c;
}

static struct cost pipe_cost(const struct zs_timing_params *p, const struct zs_isa_inst *inst)
{
    struct cost c = {ZS_TIMING_UNIT_FPU, p->fpu_B,       1, 0, p->grf_latency,
                     p->acc_latency,     p->flag_latency};
    static const uint32_t units[] = {ZS_TIMING_UNIT_FPU, ZS_TIMING_UNIT_FPU0, ZS_TIMING_UNIT_FPU1};
    bool wide = element_B(inst) > 4, multiply = is_wide_multiply(inst);
    c.unit = units[is_float(inst) ? p->float_pipe : p->integer_pipe];
    if (!wide && !multiply)
        return c;
    c.latency = p->wide_latency;
    c.acc_latency = p->wide_acc_latency;
    c.flag_latency = p->wide_flag_latency;
    if (wide && has_type(inst, ZS_TYPE_DF) && p->double_B)
        c.B_per_cycle = p->double_B;
    if (multiply && !wide)
        c.factor = p->wide_multiply;
    else if (!has_type(inst, ZS_TYPE_DF))
        c.factor = p->wide_integer;
    else if (p->double_one_pipe)
        c.unit = ZS_TIMING_UNIT_FPU1;
    return c;
}

static void set_pipe(const struct zs_timing_params *p, const struct zs_isa_inst *inst,
                     const struct cost *c, struct zs_timing_op *op)
{
    uint32_t chunk_B = ZS_MAX((uint32_t)UNIT_B, c->B_per_cycle);
    uint32_t lanes = ZS_MAX(ZS_MIN(chunk_B / element_B(inst), (uint32_t)inst->exec_size), 1u);
    zs_assert((lanes & (lanes - 1)) == 0);
    op->chunk_lanes = (uint8_t)lanes;
    for (uint32_t at = 0; at < ZS_MIN(inst->exec_size, 32u); at += lanes)
        op->chunk_first |= 1u << at;
    op->chunk_cycles = (uint8_t)ZS_MAX(lanes * element_B(inst) * c->factor / c->B_per_cycle, 1u);
    op->least = (uint16_t)p->fpu_least;
    op->element_B = (uint8_t)element_B(inst);
    uint32_t chunks = (inst->exec_size + lanes - 1) / lanes;
    op->full_cycles = (uint16_t)ZS_MAX(chunks * op->chunk_cycles, p->fpu_least);
    uint32_t all = inst->exec_size >= 32 ? UINT32_MAX : (1u << inst->exec_size) - 1;
    op->lane_mask = inst->flags & ZS_INST_NOMASK ? 0 : all << inst->channel_offset;
    if (c->fixed) {
        op->full_cycles = (uint16_t)c->fixed;
        op->lane_mask = 0;
    }
}

/* IGC's latencies rise evenly from one row to eight. Lanes that are off cost as others do. */
static struct cost dpas_cost(const struct zs_timing_params *p, const struct zs_isa_inst *inst,
                             struct zs_timing_op *op)
{
    uint32_t repeats = ZS_MIN(ZS_MAX(inst->subfunction & 15u, 1u), (uint32_t)DPAS_ROWS_MAX);
    uint32_t more = (p->dpas_latency_8 - p->dpas_latency) * (repeats - 1) / (DPAS_ROWS_MAX - 1);
    op->unit = ZS_TIMING_UNIT_DPAS;
    op->full_cycles = (uint16_t)(repeats * p->dpas_row_cycles);
    return (struct cost){.latency = p->dpas_latency + more};
}

#define AT(id) (uint16_t) offsetof(struct zs_gpu_timing, id)
/* Of a pipe that has floats or integers alone. */
static uint16_t total_of_type(const struct zs_isa_inst *inst)
{
    if (is_float(inst))
        return has_type(inst, ZS_TYPE_DF)                                ? AT(double_active)
               : has_type(inst, ZS_TYPE_F) || has_type(inst, ZS_TYPE_VF) ? AT(single_active)
                                                                         : AT(half_active);
    uint32_t size_B = element_B(inst);
    return size_B > 4 ? AT(int64_active) : size_B > 2 ? AT(int32_active) : AT(int16_active);
}

static uint16_t total_of_dpas(const struct zs_isa_inst *inst)
{
    uint32_t type = inst->src[1].type; /* of the matrices */
    return type == ZS_TYPE_HF                           ? AT(xmx_half)
           : type == ZS_TYPE_BF                         ? AT(xmx_bfloat)
           : type == ZS_TYPE_TF32 || type == ZS_TYPE_DF ? AT(xmx_other)
                                                        : AT(xmx_int8);
}

/* What a pipe is busy with. */
static void set_totals(const struct zs_timing_params *p, const struct zs_isa_inst *inst,
                       struct zs_timing_op *op, bool is_math)
{
    uint32_t sources = inst->source_count;
    bool by_type = p->float_pipe == 1 && p->integer_pipe == 2;
    static const uint16_t by_sources[2][4] = {
        {AT(fpu0_move), AT(fpu0_move), AT(fpu0_binary), AT(fpu0_ternary)},
        {AT(fpu1_move), AT(fpu1_move), AT(fpu1_binary), AT(fpu1_ternary)}};
    for (uint32_t pipe = 0; pipe < ZS_ARRAY_LEN(op->totals); pipe++)
        op->totals[pipe] = is_math   ? AT(math_active)
                           : by_type ? total_of_type(inst)
                                     : by_sources[pipe][ZS_MIN(sources, 3u)];
}

/* 64-bit sums where there are none: the halves' sums, and a move of the carry. */
static bool moves_carry(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MOV && inst->src[0].kind == ZS_OPERAND_REG &&
           inst->src[0].file == ZS_FILE_ACC &&
           (inst->src[0].type == ZS_TYPE_D || inst->src[0].type == ZS_TYPE_UD);
}

static bool is_dword(uint8_t type)
{
    return type == ZS_TYPE_D || type == ZS_TYPE_UD;
}

/* ... or halves are taken apart, since only sums know 64 bits, and put together again. */
static bool moves_half(const struct zs_isa_inst *inst)
{
    const struct zs_isa_operand *src = &inst->src[0];
    if (inst->op != ZS_OP_MOV || src->kind != ZS_OPERAND_REG || inst->exec_size == 1 ||
        !is_dword(inst->dst.type) || !is_dword(src->type))
        return false;
    bool apart = src->vstride == 2 && src->width == 1;
    return apart != (inst->dst.hstride == 2);
}

/* Of a 32-bit product in two steps the first: into the accumulator. */
static bool begins_product(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MUL && inst->dst.kind == ZS_OPERAND_REG &&
           inst->dst.file == ZS_FILE_ACC && is_dword(inst->dst.type);
}

static bool is_gone_without(const struct zs_isa_inst *inst)
{
    return moves_carry(inst) || moves_half(inst) || begins_product(inst);
}

static bool is_part_of_wide(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_ADDC || inst->op == ZS_OP_SUBB || inst->op == ZS_OP_MACL ||
           is_gone_without(inst);
}

static enum zs_timing_kind kind_of(const struct zs_isa_inst *inst, bool is_math)
{
    bool is_double = has_type(inst, ZS_TYPE_DF);
    return is_math || (inst->op == ZS_OP_MADM && !is_double) ? ZS_TIMING_KIND_MATH
           : is_double                                       ? ZS_TIMING_KIND_DOUBLE
           : element_B(inst) > 4 || is_wide_multiply(inst) || is_part_of_wide(inst)
               ? ZS_TIMING_KIND_WIDE_INTEGER
           : inst->op == ZS_OP_ADD && is_float(inst) ? ZS_TIMING_KIND_SUM
                                                     : ZS_TIMING_KIND_PLAIN;
}

/* A double from something else, or something else from one: without doubles it is not there. */
static bool converts_doubles(const struct zs_isa_inst *inst)
{
    bool to = inst->dst.type == ZS_TYPE_DF, from = inst->src[0].type == ZS_TYPE_DF;
    return inst->op == ZS_OP_MOV && to != from;
}

static struct cost cost_of(const struct zs_timing_params *p, const struct zs_isa_inst *inst,
                           struct zs_timing_op *op)
{
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    struct cost c = {.latency = p->grf_latency};
    op->chan_offset = inst->channel_offset;
    if (flags & ZS_OPF_SEND) {
        op->unit = ZS_TIMING_UNIT_SEND;
    } else if (inst->op == ZS_OP_WAIT ||
               (inst->op == ZS_OP_SYNC && inst->subfunction == SYNC_BAR)) {
        op->unit = ZS_TIMING_UNIT_WAIT;
    } else if (flags & ZS_OPF_BRANCH) {
        op->unit = ZS_TIMING_UNIT_CONTROL;
    } else if (flags & ZS_OPF_DPAS && p->dpas_row_cycles) {
        c = dpas_cost(p, inst, op);
        op->totals[0] = total_of_dpas(inst);
    } else {
        bool is_math = flags & ZS_OPF_MATH;
        c = is_math ? math_cost(p, inst) : pipe_cost(p, inst);
        op->unit = (uint8_t)c.unit;
        op->ahead = (uint8_t)(is_math ? p->math_ahead : 0);
        set_pipe(p, inst, &c, op);
        set_totals(p, inst, op, is_math);
        op->kind = (uint8_t)kind_of(inst, is_math);
        op->converts = converts_doubles(inst) || is_gone_without(inst);
    }
    return c;
}
#undef AT

/* ---- registers ---------------------------------------------------------------------------------
 */

struct slots {
    uint16_t slot[3 * ZS_TIMING_SLOTS];
    uint8_t latency[3 * ZS_TIMING_SLOTS];
    uint32_t count;
};

static void add_slot(struct slots *s, uint32_t slot, uint32_t latency)
{
    s->slot[s->count] = (uint16_t)slot;
    s->latency[s->count++] = (uint8_t)latency;
}

static void add_registers(struct slots *s, const uint64_t grf[4], uint32_t latency)
{
    for (uint32_t r = 0; r < 256; r++) {
        if (grf[r / 64] >> r % 64 & 1)
            add_slot(s, r, latency);
    }
}

static void add_others(struct slots *s, const uint32_t flags[4], uint32_t accs, bool address,
                       const struct zs_timing_params *p, const struct cost *c)
{
    for (uint32_t f = 0; f < ZS_EU_FLAGS_MAX; f++) {
        if (flags[f])
            add_slot(s, ZS_TIMING_SLOT_FLAG + f, c->flag_latency);
    }
    for (uint32_t a = 0; a < ZS_TIMING_ACCS; a++) {
        if (accs >> a & 1)
            add_slot(s, ZS_TIMING_SLOT_ACC + a, c->acc_latency);
    }
    if (address)
        add_slot(s, ZS_TIMING_SLOT_A0, p->address_latency);
}

/* Each once, then as many more as make a whole number of steps. */
static void end_deps(struct slots *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t at = 0;
        while (at < kept && s->slot[at] != s->slot[i])
            at++;
        s->slot[kept] = s->slot[i];
        kept += at == kept;
    }
    s->count = kept;
    while (s->count % ZS_TIMING_DEP_STEP)
        add_slot(s, ZS_TIMING_SLOT_NONE, 0);
}

/* Registers that a store reads: where it goes comes first. Too many: all may be data. */
static void add_read(struct slots *s, const struct zs_isa_inst *inst,
                     const struct zs_isa_message *m, const uint64_t grf[4], struct zs_timing_op *op)
{
    enum { ADDRESSES_MOST = 7 };
    uint64_t data[4] = {0}, others[4];
    bool split = m && m->kind == ZS_MSG_STORE && m->xlen != ZS_LENGTH_UNKNOWN;
    for (uint32_t r = 0; split && r < m->xlen; r++)
        data[((inst->src[1].reg + r) & 255) / 64] |= UINT64_C(1) << (inst->src[1].reg + r) % 64;
    for (uint32_t i = 0; i < 4; i++) {
        others[i] = grf[i] & ~data[i];
        data[i] &= grf[i];
    }
    add_registers(s, others, 0);
    op->addresses = split && m->xlen && s->count <= ADDRESSES_MOST ? s->count & ADDRESSES_MOST : 0;
    add_registers(s, data, 0);
}

static void find_slots(const struct zs_isa_kernel *isa, uint32_t i,
                       const struct zs_timing_params *p, const struct cost *c,
                       struct zs_timing_op *op, struct slots *s)
{
    struct zs_isa_effects e;
    zs_isa_inst_effects(isa, i, &e);
    s->count = 0;
    add_read(s, zs_isa_inst(isa, i), zs_isa_inst_message(isa, i), e.grf_read, op);
    add_others(s, e.flags_read, e.acc_read, e.address_read, p, c);
    if (e.indirect_read)
        add_slot(s, ZS_TIMING_SLOT_LAST, 0);
    op->read_count = (uint8_t)ZS_MIN(s->count, 255u);
    add_registers(s, e.grf_written, 0);
    add_others(s, e.flags_written, e.acc_written, e.address_written, p, c);
    end_deps(s);
    op->dep_count = (uint16_t)s->count;
    add_registers(s, e.grf_written, c->latency);
    add_others(s, e.flags_written, e.acc_written, e.address_written, p, c);
    if (op->unit <= ZS_TIMING_UNIT_FPU1) /* in order: it waits for nothing */
        add_slot(s, ZS_TIMING_SLOT_LAST, c->latency);
    op->write_count = (uint8_t)ZS_MIN(s->count - op->dep_count, 255u);
    s->count = (uint32_t)op->dep_count + op->write_count;
}

/* ---- registers that are one ------------------------------------------------------------------
 * Registers that the same instructions read and write are ready at the same time, always: one
 * place of the scoreboard is enough for them. What nobody waits for needs none.
 */

enum { NOBODY = UINT16_MAX, SLOT_NONE = 0, LANES_MOST = 32 };

/* A place's history: which instructions use it, and how. */
static void find_histories(const struct zs_timing_code *code, uint64_t history[ZS_TIMING_SLOTS],
                           bool read[ZS_TIMING_SLOTS])
{
    for (uint64_t i = 0; i < code->op_count; i++) {
        const struct zs_timing_op *op = &code->ops[i];
        for (uint32_t k = 0; k < (uint32_t)op->dep_count + op->write_count; k++) {
            uint16_t slot = code->slots[op->slots + k];
            bool is_dep = k < op->dep_count;
            uint64_t latency = is_dep ? 0 : code->slot_latency[op->slots + k];
            history[slot] = zs_hash_u64(history[slot], (i << 9 | latency << 1 | is_dep) + 1);
            read[slot] |= is_dep;
        }
    }
}

static uint32_t rename_deps(struct zs_timing_op *op, const uint16_t names[ZS_TIMING_SLOTS],
                            uint16_t *slots)
{
    uint32_t kept = 0, addresses = op->addresses, reads = op->read_count;
    for (uint32_t i = 0; i < op->dep_count; i++) {
        uint16_t name = names[slots[i]];
        uint32_t at = 0;
        while (at < kept && slots[at] != name)
            at++;
        if (at == kept && name != SLOT_NONE)
            slots[kept++] = name;
        if (i + 1 == addresses)
            op->addresses = kept & 7;
        if (i + 1 == reads)
            op->read_count = (uint8_t)ZS_MIN(kept, 255u);
    }
    while (kept % ZS_TIMING_DEP_STEP)
        slots[kept++] = SLOT_NONE;
    return kept;
}

static uint32_t rename_writes(struct zs_timing_op *op, const uint16_t names[ZS_TIMING_SLOTS],
                              uint16_t *slots, uint8_t *latency, uint32_t first)
{
    uint32_t kept = first;
    op->acc_writes = 0;
    for (uint32_t i = op->dep_count; i < (uint32_t)op->dep_count + op->write_count; i++) {
        uint16_t name = names[slots[i]];
        uint32_t at = first;
        while (at < kept && slots[at] != name)
            at++;
        if (at < kept || name == NOBODY)
            continue;
        if (slots[i] >= ZS_TIMING_SLOT_ACC && slots[i] < ZS_TIMING_SLOT_A0)
            op->acc_writes |= (uint8_t)(1u << (kept - first));
        slots[kept] = name;
        latency[kept++] = latency[i];
    }
    return kept - first;
}

static void merge_slots(struct zs_timing_code *code)
{
    uint64_t history[ZS_TIMING_SLOTS] = {0}, seen[ZS_TIMING_SLOTS];
    bool read[ZS_TIMING_SLOTS] = {false};
    uint16_t names[ZS_TIMING_SLOTS];
    find_histories(code, history, read);
    code->slot_count = SLOT_NONE + 1;
    for (uint32_t slot = 0; slot < ZS_TIMING_SLOTS; slot++) {
        uint32_t name = SLOT_NONE + 1;
        while (name < code->slot_count && seen[name] != history[slot])
            name++;
        names[slot] = read[slot] ? (uint16_t)name : (uint16_t)NOBODY;
        if (!read[slot] || slot == ZS_TIMING_SLOT_NONE || name < code->slot_count)
            continue;
        seen[code->slot_count++] = history[slot];
    }
    names[ZS_TIMING_SLOT_NONE] = SLOT_NONE;
    for (uint32_t i = 0; i < code->op_count; i++) { /* lists become shorter */
        struct zs_timing_op *op = &code->ops[i];
        uint16_t *slots = code->slots + op->slots;
        uint32_t deps = rename_deps(op, names, slots);
        op->write_count =
            (uint8_t)rename_writes(op, names, slots, code->slot_latency + op->slots, deps);
        op->dep_count = (uint16_t)deps;
    }
}

/* The first ones of an instruction stand in it. */
static void bring_near(struct zs_timing_code *code)
{
    uint16_t unread = (uint16_t)code->slot_count++;
    for (uint32_t i = 0; i < code->op_count; i++) {
        struct zs_timing_op *op = &code->ops[i];
        const uint16_t *deps = code->slots + op->slots, *writes = deps + op->dep_count;
        const uint8_t *latency = code->slot_latency + op->slots + op->dep_count;
        for (uint32_t k = 0; k < ZS_TIMING_DEPS_NEAR; k++)
            op->deps[k] = k < op->dep_count ? deps[k] : SLOT_NONE;
        for (uint32_t k = 0; k < ZS_TIMING_WRITES_NEAR; k++) {
            op->writes[k] = k < op->write_count ? writes[k] : unread;
            op->latency[k] = k < op->write_count ? latency[k] : 0;
        }
    }
}

/* ---- events ------------------------------------------------------------------------------------
 * Between two of them a thread has only the pipes of its EU to do with.
 */

static bool is_event(const struct zs_timing_op *op)
{
    return op->unit == ZS_TIMING_UNIT_SEND || op->unit == ZS_TIMING_UNIT_WAIT;
}

/* A response is waited for by its bit: of the message that wrote a register. Where there are more
 * messages than bits, one far away has the same. */
static void find_responses(struct zs_timing_code *code)
{
    uint64_t *bits = code->waits, of_slot[ZS_TIMING_SLOTS] = {0};
    for (uint32_t i = 0, number = 0; i < code->op_count; i++) {
        const struct zs_timing_op *op = &code->ops[i];
        if (op->unit != ZS_TIMING_UNIT_SEND || !op->write_count)
            continue;
        code->sent[i] = UINT64_C(1) << number++ % ZS_TIMING_RESPONSES;
        code->response_count = ZS_MIN(number, (uint32_t)ZS_TIMING_RESPONSES);
        for (uint32_t k = 0; k < op->write_count; k++)
            of_slot[code->slots[op->slots + op->dep_count + k]] |= code->sent[i];
    }
    of_slot[SLOT_NONE] = 0;
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct zs_timing_op *op = &code->ops[i];
        for (uint32_t k = 0; k < op->dep_count; k++)
            bits[i] |= of_slot[code->slots[op->slots + k]];
    }
}

static void find_loops(struct zs_timing_code *code, const struct zs_isa_kernel *isa)
{
    for (uint32_t i = 0; i < code->op_count && code->loop_count < ZS_TIMING_LOOPS; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        uint32_t to = ZS_MIN(inst->jip_B, inst->uip_B), first = i;
        if (code->ops[i].unit != ZS_TIMING_UNIT_CONTROL || to > inst->offset_B)
            continue;
        while (first && code->offset_B[first] > to)
            first--;
        code->loops[code->loop_count][0] = first;
        code->loops[code->loop_count++][1] = i;
    }
}

static void find_events(struct zs_timing_code *code)
{
    uint32_t next = code->op_count;
    uint8_t grain = LANES_MOST;
    code->next_event[code->op_count] = next;
    for (uint32_t i = code->op_count; i-- > 0;) {
        const struct zs_timing_op *op = &code->ops[i];
        bool event = is_event(op);
        next = event ? i : next;
        grain = event ? LANES_MOST : grain;
        if (op->lane_mask && op->chunk_lanes)
            grain = ZS_MIN(grain, op->chunk_lanes);
        code->next_event[i] = next;
        code->grain[i] = grain;
    }
    find_responses(code);
}

/* ---- create ------------------------------------------------------------------------------------
 */

static bool keep_slots(struct zs_timing_code *code, size_t *capacity, size_t *count,
                       const struct slots *s)
{
    if (*capacity - *count < s->count) {
        size_t wanted = 2 * *capacity + sizeof(s->slot) / sizeof(s->slot[0]);
        uint16_t *slots = realloc(code->slots, wanted * sizeof(*slots));
        code->slots = slots ? slots : code->slots;
        uint8_t *latency = slots ? realloc(code->slot_latency, wanted) : NULL;
        code->slot_latency = latency ? latency : code->slot_latency;
        if (!latency)
            return false;
        *capacity = wanted;
    }
    memcpy(code->slots + *count, s->slot, s->count * sizeof(s->slot[0]));
    memcpy(code->slot_latency + *count, s->latency, s->count);
    *count += s->count;
    return true;
}

/* Doubles take two registers' worth of lanes: what is converted is spread before, or comes together
 * behind that. Without them it stays where it is. */
static void find_double_copies(struct zs_timing_code *code, const struct zs_isa_kernel *isa)
{
    enum { NEAR = 24 }; /* instructions: schedulers put others between */
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct zs_isa_inst *to = zs_isa_inst(isa, i);
        for (uint32_t k = 1; converts_doubles(to) && k <= NEAR; k++) {
            bool spreads = to->dst.type == ZS_TYPE_DF;
            uint32_t at = spreads ? i - k : i + k; /* wraps below the first one */
            const struct zs_isa_inst *inst = at < code->op_count ? zs_isa_inst(isa, at) : to;
            if (moves_half(inst) &&
                (spreads ? inst->dst.reg == to->src[0].reg : inst->src[0].reg == to->dst.reg)) {
                code->ops[at].kind = ZS_TIMING_KIND_DOUBLE;
                code->ops[at].converts = true;
            }
        }
    }
}

static bool is_half_of(const struct zs_isa_inst *a, const struct zs_isa_inst *b)
{
    return a->op == b->op && a->exec_size == b->exec_size && a->desc == b->desc &&
           a->sfid == b->sfid && a->exdesc == b->exdesc &&
           a->channel_offset == b->channel_offset + b->exec_size;
}

/* Messages for which one has too few lanes: the second half follows soon. */
static void find_halves(struct zs_timing_code *code, const struct zs_isa_kernel *isa)
{
    enum { NEAR = 16 }; /* instructions: schedulers put others between */
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        struct zs_timing_op *op = &code->ops[i];
        bool half = op->unit == ZS_TIMING_UNIT_SEND && inst->channel_offset;
        for (uint32_t k = 1; half && !op->second_half && k <= ZS_MIN(i, (uint32_t)NEAR); k++)
            op->second_half = code->ops[i - k].unit == ZS_TIMING_UNIT_SEND &&
                              is_half_of(inst, zs_isa_inst(isa, i - k));
    }
}

static int fill(struct zs_timing_code *code, const struct zs_isa_kernel *isa)
{
    size_t capacity = 0, count = 0;
    uint32_t units_per_grf = zs_isa_platform_info(code->params->platform)->grf_B / UNIT_B;
    struct slots *slots = malloc(sizeof(*slots));
    int error = slots ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < code->op_count && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        const struct zs_isa_message *m = zs_isa_inst_message(isa, i);
        struct zs_timing_op *op = &code->ops[i];
        struct cost c = cost_of(code->params, inst, op);
        code->offset_B[i] = inst->offset_B;
        op->turns = op->unit <= ZS_TIMING_UNIT_FPU1 && zs_isa_turns(isa, i);
        if (m) {
            uint32_t xlen = m->xlen == ZS_LENGTH_UNKNOWN ? 0 : m->xlen;
            op->payload_grf = (uint8_t)(m->mlen == ZS_LENGTH_UNKNOWN ? 1 : m->mlen + xlen);
            uint32_t rlen = m->rlen == ZS_LENGTH_UNKNOWN ? 1 : m->rlen;
            op->response_grf = (uint8_t)(rlen * units_per_grf);
            bool moves = m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_STORE;
            uint32_t lane_B = m->lanes > 1 ? m->element_B * m->components : 0;
            op->is_load = m->kind == ZS_MSG_LOAD;
            op->is_local = m->surface == ZS_SURFACE_SLM;
            op->narrow = !moves ? 0 : lane_B == 1 ? 2 : lane_B == 2 ? 1 : 0;
        }
        op->slots = (uint32_t)count;
        find_slots(isa, i, code->params, &c, op, slots);
        error = keep_slots(code, &capacity, &count, slots) ? 0 : -ENOMEM;
    }
    free(slots);
    if (!error) {
        merge_slots(code);
        bring_near(code);
    }
    if (!error) {
        find_events(code);
        find_loops(code, isa);
        zs_timing_find_wide(code, isa);
        find_double_copies(code, isa);
        find_halves(code, isa);
    }
    return error;
}

static int check(const struct zs_isa_kernel *isa, const struct zs_eu_program *program)
{
    uint32_t count = zs_isa_kernel_count(isa);
    if (count != zs_eu_program_inst_count(program))
        return -ENOTSUP;
    for (uint32_t i = 0; i < count; i++) {
        struct zs_eu_inst_info info;
        if (!zs_eu_program_inst(program, i, &info) || info.offset_B != zs_isa_inst_offset(isa, i))
            return -ENOTSUP;
    }
    return 0;
}

int zs_timing_code_create(const struct zs_timing_params *params,
                          const struct zs_eu_program *program, struct zs_span bytes,
                          enum zs_isa_platform platform, struct zs_timing_code **ret_code)
{
    struct zs_isa_kernel *isa = NULL;
    struct zs_timing_code *code = calloc(1, sizeof(*code));
    int error = code ? zs_isa_kernel_open(platform, bytes, NULL, &isa, NULL) : -ENOMEM;
    if (!error)
        error = zs_isa_kernel_decode(isa, ZS_ISA_INSTS, NULL);
    if (!error)
        error = check(isa, program);
    if (!error) {
        code->params = params;
        code->op_count = zs_isa_kernel_count(isa);
        size_t ops_B = (code->op_count + 1u) * sizeof(*code->ops);
        code->ops = aligned_alloc(_Alignof(struct zs_timing_op), ops_B);
        if (code->ops)
            memset(code->ops, 0, ops_B);
        code->offset_B = calloc(code->op_count + 1u, sizeof(*code->offset_B));
        code->next_event = calloc(code->op_count + 1u, sizeof(*code->next_event));
        code->grain = calloc(code->op_count + 1u, sizeof(*code->grain));
        code->sent = calloc(code->op_count + 1u, sizeof(*code->sent));
        code->waits = calloc(code->op_count + 1u, sizeof(*code->waits));
        code->known = zs_timing_known_create();
        bool ok = code->ops && code->offset_B && code->next_event && code->grain && code->sent &&
                  code->waits && code->known;
        error = ok ? fill(code, isa) : -ENOMEM;
    }
    zs_isa_kernel_close(isa);
    if (error) {
        zs_timing_code_destroy(code);
        return error;
    }
    *ret_code = code;
    return 0;
}

void zs_timing_code_destroy(struct zs_timing_code *code)
{
    if (!code)
        return;
    free(code->ops);
    free(code->offset_B);
    free(code->slots);
    free(code->slot_latency);
    free(code->next_event);
    free(code->grain);
    free(code->sent);
    free(code->waits);
    zs_timing_known_destroy(code->known);
    free(code);
}
