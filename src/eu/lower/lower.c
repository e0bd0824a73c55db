/* SPDX-License-Identifier: MIT */
/*
 * From code bytes to a program, in two passes: find the instructions and where blocks start, then
 * lower them in order. A block starts with an operation of its own (budget, joining lanes,
 * counters) and ends in front of the next one, into which it falls.
 *
 * What cannot be lowered is rolled back and becomes one fault operation.
 */
#include "eu/lower/lower.h"
#include "base/vec.h"
#include "eu/tier/tier.h"

#include <cpuid.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPS_START = 64 };
/* Operations between two that return to the loop: so many, and at the start of a block fewer, so
 * that blocks have none in their middle. */
enum { CHAIN_MAX = 64, CHAIN_MAX_BETWEEN = 24 };

/* ---- emitting ---- */

struct zs_eu_op *zs_eu_emit(struct zs_eu_lowering *l, unsigned kind)
{
    struct zs_eu_program *p = l->program;

    if (p->op_count == p->op_capacity) {
        size_t capacity = p->op_capacity;
        void *ops = p->ops;
        if (zs_vec_grow(&ops, &capacity, p->op_count, 64, sizeof(*p->ops))) {
            p->ops = ops;
            p->op_capacity = capacity;
        } else {
            l->no_memory = true;
            p->op_count = 0; /* nothing will run it */
        }
    }
    uint32_t all = l->chunks >= 4 ? UINT32_MAX : l->n == 1 ? 1 : (1u << 8 * l->chunks) - 1;
    struct zs_eu_op *op = &p->ops[p->op_count++];
    *op = (struct zs_eu_op){
        .kind = (uint16_t)kind,
        .lanes = all,
        .full = all,
        .enables = (uint16_t)ZS_EU_OFFSET(all_ones),
        .predicate = (uint16_t)ZS_EU_OFFSET(all_ones),
        .chunks = (uint8_t)l->chunks,
        .count = (uint8_t)l->n,
        .inst = l->index,
    };
    return op;
}

void zs_eu_mask(struct zs_eu_lowering *l, struct zs_eu_op *op)
{
    op->lanes = l->n == 32 ? UINT32_MAX : (1u << l->n) - 1;
    /* fewer than eight channels never fill a chunk: always blend */
    op->full = l->n >= 8 ? op->lanes : 1u << 31;
    op->lanes &= l->lanes;
    op->enables = l->enables;
    op->predicate = l->predicate;
    op->pred_shift = l->pred_shift;
    op->pred_xor = l->pred_xor;
    op->chan_offset = l->inst->channel_offset;
}

static void v_fault(struct zs_eu_program_fault *fault, enum zs_eu_fault_kind kind,
                    const char *format, va_list args)
{
    fault->kind = kind;
    vsnprintf(fault->text, sizeof(fault->text), format, args);
}

bool zs_eu_refuse(struct zs_eu_lowering *l, enum zs_eu_fault_kind kind, const char *format, ...)
{
    va_list args;

    if (!l->failed) {
        va_start(args, format);
        v_fault(&l->fault, kind, format, args);
        va_end(args);
    }
    l->failed = true;
    return false;
}

void zs_eu_emit_fault(struct zs_eu_lowering *l, const struct zs_eu_program_fault *fault,
                      bool always)
{
    struct zs_eu_program *p = l->program;
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_FAULT);

    if (!always)
        zs_eu_mask(l, op);
    op->arg = always;
    op->aux = (uint32_t)p->faults.count;
    if (!ZS_VEC_PUSH(&p->faults, *fault))
        l->no_memory = true;
}

void zs_eu_mark_read(struct zs_eu_lowering *l, uint32_t at_B, uint32_t size_B)
{
    uint32_t grf_B = l->program->regs.grf_B;
    uint32_t end =
        ZS_MIN((at_B + size_B + grf_B - 1) / grf_B, (uint32_t)l->program->regs.grf_count);

    for (uint32_t reg = at_B / grf_B; reg < end; reg++)
        l->reads[reg / 64] |= UINT64_C(1) << reg % 64;
}

static bool is_read(const struct zs_eu_lowering *l, uint32_t reg)
{
    if (zs_eu_is_watched(l))
        return true;
    return (reg + 1) * l->program->regs.grf_B > l->params->payload_B &&
           (l->reads[reg / 64] >> reg % 64 & 1);
}

/* Runs of registers. */
static struct zs_eu_clear *find_runs(const struct zs_eu_program *p, const uint64_t regs[8],
                                     uint32_t *ret_count)
{
    uint32_t count = p->regs.grf_count, grf_B = p->regs.grf_B, runs = 0;
    struct zs_eu_clear *clear = calloc(count / 2 + 1, sizeof(*clear));

    for (uint32_t reg = 0; reg < count && clear; reg++) {
        if (!(regs[reg / 64] >> reg % 64 & 1))
            continue;
        if (runs == 0 || clear[runs - 1].end_B != reg * grf_B)
            clear[runs++].start_B = (uint16_t)(reg * grf_B);
        clear[runs - 1].end_B = (uint16_t)((reg + 1) * grf_B);
    }
    *ret_count = runs;
    return clear;
}

/* What a new thread must find as it does. */
static bool find_start(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    uint32_t entry = p->insts[zs_eu_program_inst_at(p, l->params->entry_B)].block;
    uint64_t read[8] = {0};

    if (zs_eu_is_watched(l))
        p->read_acc_slots = (1u << ZS_EU_ACC_SLOTS_MAX / ZS_EU_ACC_RUN) - 1;
    for (uint32_t reg = 0; reg < p->regs.grf_count; reg++)
        read[reg / 64] |= (uint64_t)is_read(l, reg) << reg % 64;
    p->clear[false] = find_runs(p, read, &p->clear_count[false]);
    p->clear[true] = find_runs(p, read, &p->clear_count[true]);
    zs_eu_host_modes(zs_eu_early_control(l, entry), p->host_csr);
    return p->clear[false] && p->clear[true];
}

/* ---- instructions and blocks ---- */

uint32_t zs_eu_program_inst_at(const struct zs_eu_program *program, uint32_t offset_B)
{
    if (offset_B % 8 || offset_B >= program->code_B)
        return UINT32_MAX;
    return program->inst_at[offset_B / 8];
}

uint32_t zs_eu_block_at(const struct zs_eu_program *p, int64_t offset_B)
{
    if (offset_B == p->code_B) /* the end, where execution faults */
        return p->block_count - 1;
    if (offset_B < 0 || offset_B > p->code_B)
        return UINT32_MAX;
    uint32_t inst = zs_eu_program_inst_at(p, (uint32_t)offset_B);
    if (inst == UINT32_MAX || p->block_inst[p->insts[inst].block] != inst)
        return UINT32_MAX;
    return p->insts[inst].block;
}

static int allocate(struct zs_eu_lowering *l, size_t slots)
{
    struct zs_eu_program *p = l->program;

    p->insts = calloc(slots, sizeof(*p->insts));
    p->inst_at = malloc(slots * sizeof(*p->inst_at));
    l->lane_counters = calloc(slots, sizeof(*l->lane_counters));
    /* operations start with room for some: without memory for more, zs_eu_emit reuses these */
    p->ops = malloc(OPS_START * sizeof(*p->ops));
    if (!p->insts || !p->inst_at || !p->ops || !l->lane_counters)
        return -ENOMEM;
    p->op_capacity = OPS_START;
    memset(p->inst_at, 0xff, slots * sizeof(*p->inst_at));
    return 0;
}

bool zs_eu_decode(const struct zs_eu_lowering *l, uint32_t at_B, struct zs_isa_inst *ret)
{
    struct zs_span code = l->params->code;
    size_t left_B = at_B <= code.size_B ? code.size_B - at_B : 0;

    if (left_B < 8)
        return false;
    uint8_t bytes[16] = {0};
    memcpy(bytes, code.data + at_B, ZS_MIN(left_B, sizeof(bytes)));
    zs_isa_decode(l->model, bytes, ret);
    ret->offset_B = at_B;
    return ret->size_B <= left_B;
}

/* "add", "math.inv" */
static const char *name_of(const struct zs_isa_inst *inst)
{
    static const char *const math[16] = {
        [ZS_MATH_INV] = "math.inv",   [ZS_MATH_LOG] = "math.log",     [ZS_MATH_EXP] = "math.exp",
        [ZS_MATH_SQT] = "math.sqt",   [ZS_MATH_RSQT] = "math.rsqt",   [ZS_MATH_SIN] = "math.sin",
        [ZS_MATH_COS] = "math.cos",   [ZS_MATH_FDIV] = "math.fdiv",   [ZS_MATH_POW] = "math.pow",
        [ZS_MATH_IDIV] = "math.idiv", [ZS_MATH_IQOT] = "math.iqot",   [ZS_MATH_IREM] = "math.irem",
        [ZS_MATH_INVM] = "math.invm", [ZS_MATH_RSQTM] = "math.rsqtm",
    };

    if (inst->op == ZS_OP_MATH && inst->subfunction < 16 && math[inst->subfunction])
        return math[inst->subfunction];
    return zs_isa_op_mnemonic((enum zs_isa_op)inst->op);
}

static bool uses_acc(const struct zs_isa_inst *inst)
{
    bool uses = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_ACC ||
                inst->flags & ZS_INST_ACCWREN || inst->dst.file == ZS_FILE_ACC;

    for (unsigned i = 0; i < inst->source_count && i < ZS_ARRAY_LEN(inst->src); i++)
        uses = uses || inst->src[i].file == ZS_FILE_ACC;
    return uses;
}

static void find_instructions(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst;
    uint32_t at = 0;

    for (; zs_eu_decode(l, at, &inst); at += inst.size_B) {
        struct zs_eu_inst *row = &p->insts[p->inst_count];
        p->inst_at[at / 8] = p->inst_count++;
        row->offset_B = at;
        row->size_B = inst.size_B;
        row->raw[0] = inst.raw[0];
        row->raw[1] = inst.raw[1];
        row->mnemonic = name_of(&inst);
        row->exec_size = inst.exec_size;
        row->chan_offset = inst.channel_offset;
        row->no_mask = inst.flags & ZS_INST_NOMASK;
        row->counter = UINT32_MAX;
        row->modelled = true;
        zs_eu_lane_counter_of(&inst, &l->lane_counters[p->inst_count - 1]);
        l->has_acc |= uses_acc(&inst);
    }
    p->code_B = at; /* a truncated last one is outside */
}

int64_t zs_eu_program_offset(const struct zs_eu_program *program, uint32_t ip_B)
{
    for (uint32_t i = 0; i < program->segment_count; i++) {
        const struct zs_eu_segment *s = &program->segments[i];
        if (ip_B - s->ip_B < s->size_B)
            return (int64_t)s->offset_B + (ip_B - s->ip_B);
    }
    return -1;
}

/* That of calla is an address, others count from their instruction. */
int64_t zs_eu_label(const struct zs_eu_program *program, const struct zs_isa_inst *inst,
                    unsigned source)
{
    int64_t distance_B = (int64_t)inst->src[source].imm;

    return inst->op == ZS_OP_CALLA ? zs_eu_program_offset(program, (uint32_t)distance_B)
                                   : inst->offset_B + distance_B;
}

static void mark(const struct zs_eu_program *p, uint8_t *leader, int64_t offset_B, bool is_target)
{
    if (offset_B < 0 || offset_B >= p->code_B)
        return;
    uint32_t inst = zs_eu_program_inst_at(p, (uint32_t)offset_B);
    if (inst == UINT32_MAX)
        return;
    leader[inst] = 1;
    p->insts[inst].is_target |= is_target;
}

/* Leaders: targets and what stands behind them and behind branches. */
static void mark_leaders(const struct zs_eu_lowering *l, uint8_t *leader)
{
    const struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst;

    mark(p, leader, 0, true);
    mark(p, leader, l->params->entry_B, true);
    for (size_t i = 0; i < l->params->target_count; i++)
        mark(p, leader, l->params->targets_B[i], true);
    for (uint32_t i = 0; i < p->inst_count; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        if (!zs_eu_inst_ends_block(&inst))
            continue;
        mark(p, leader, (int64_t)inst.offset_B + inst.size_B, false);
        for (unsigned source = 0; source < inst.source_count; source++)
            if (inst.src[source].kind == ZS_OPERAND_LABEL)
                mark(p, leader, zs_eu_label(p, &inst, source), true);
    }
}

static int find_blocks(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    uint8_t *leader = calloc(p->inst_count + 1u, 1);

    if (!leader)
        return -ENOMEM;
    mark_leaders(l, leader);
    for (uint32_t i = 0; i < p->inst_count; i++) {
        p->block_count += leader[i];
        p->insts[i].block = p->block_count - 1;
    }
    p->block_count++; /* behind the last instruction */
    p->block_op = calloc(p->block_count, sizeof(*p->block_op));
    p->block_inst = calloc(p->block_count, sizeof(*p->block_inst));
    if (p->block_op && p->block_inst) {
        for (uint32_t i = 0; i < p->inst_count; i++)
            if (leader[i])
                p->block_inst[p->insts[i].block] = i;
        p->block_inst[p->block_count - 1] = p->inst_count;
    }
    free(leader);
    return p->block_op && p->block_inst ? 0 : -ENOMEM;
}

/* ---- lowering in order ---- */

static void emit_block(struct zs_eu_lowering *l, uint32_t block)
{
    struct zs_eu_program *p = l->program;
    uint32_t first = p->block_inst[block];
    uint32_t end = block + 1 < p->block_count ? p->block_inst[block + 1] : first;

    l->n = l->chunks = 1;
    l->block_end = end;
    if (l->chain > CHAIN_MAX_BETWEEN) {
        zs_eu_emit(l, ZS_EU_KIND_HOP);
        l->chain = 0;
    }
    p->block_op[block] = (uint32_t)p->op_count;
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_BLOCK);
    op->block = block;
    op->lanes = p->simd_mask;
    op->next_block = 1 + block * ZS_EU_PACKED_COUNTERS;
    op->aux = end - first;
    op->arg = (l->params->flags & ZS_EU_LOWER_COUNTS) != 0;
    op->cls = (l->params->flags & ZS_EU_LOWER_HOOK_BLOCKS) != 0;
}

/* Flag bits must exist for every channel. */
static bool check_flags(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    unsigned first = inst->flag_subreg * 16u + inst->channel_offset;
    bool used = inst->pred != ZS_PRED_NONE || inst->cond ||
                ((inst->dst.kind == ZS_OPERAND_MACRO) && inst->op == ZS_OP_MATH);

    if (inst->channel_offset + inst->exec_size > ZS_EU_LANES_MAX)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: channels %u and above do not exist",
                            l->name, ZS_EU_LANES_MAX);
    if (used && first + inst->exec_size > 32)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: flag bits beyond the register", l->name);
    if (used && inst->flag_reg >= l->program->regs.flag_count)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: flag register f%u does not exist", l->name,
                            inst->flag_reg);
    return true;
}

/* Three sources and macros are Align16 in name only: their operands are packed. */
static bool check_access_mode(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;

    if (!(inst->flags & ZS_INST_ALIGN16) || inst->source_count == 3 ||
        inst->dst.kind == ZS_OPERAND_MACRO || !(inst->flags & ZS_INST_HAS_DST))
        return true;
    return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: Align16 is not modelled", l->name);
}

static void begin_inst(struct zs_eu_lowering *l, const struct zs_isa_inst *inst, uint32_t index)
{
    l->inst = inst;
    l->name = l->program->insts[index].mnemonic;
    l->index = index;
    l->n = inst->exec_size;
    l->chunks = (l->n + 7) / 8;
    l->temps = 0;
    l->failed = false;
    l->enables =
        (uint16_t)((inst->flags & ZS_INST_NOMASK) ? ZS_EU_OFFSET(all_ones) : ZS_EU_OFFSET(ce));
    l->predicate = (uint16_t)ZS_EU_OFFSET(all_ones);
    l->pred_shift = 0;
    l->pred_xor = 0;
    l->lanes = UINT32_MAX;
    l->jump_counter = 0;
}

static void set_predicate(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    uint16_t flag = (uint16_t)(ZS_EU_OFFSET(flag) + inst->flag_reg * 4u);
    uint8_t shift = (uint8_t)(inst->flag_subreg * 16u + inst->channel_offset);

    if (inst->pred == ZS_PRED_NONE)
        return;
    l->pred_xor = (inst->flags & ZS_INST_PRED_INVERSE) ? UINT32_MAX : 0;
    if (inst->pred > ZS_PRED_ALL) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: this predicate control is not modelled",
                     l->name);
        return;
    }
    if (inst->pred == ZS_PRED_SEQ) {
        l->predicate = flag;
        l->pred_shift = shift;
        return;
    }
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_PREDICATE);
    op->predicate = flag;
    op->pred_shift = shift;
    op->lanes = l->n == 32 ? UINT32_MAX : (1u << l->n) - 1;
    op->arg = inst->pred;
    l->predicate = (uint16_t)ZS_EU_OFFSET(predicate);
}

static int compare_offsets(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Whether the step hook is asked in front of it. */
static bool asks(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    const struct zs_eu_lower_params *params = l->params;

    if (params->flags & ZS_EU_LOWER_HOOK_STEPS)
        return true;
    return params->stop_count && bsearch(&inst->offset_B, params->stops_B, params->stop_count,
                                         sizeof(uint32_t), compare_offsets);
}

/* What stands from `first` on is the instruction's. */
static void end_inst(struct zs_eu_lowering *l, size_t first)
{
    struct zs_eu_program *p = l->program;

    l->chain += (unsigned)(p->op_count - first);
    if (l->chain > CHAIN_MAX) {
        zs_eu_emit(l, ZS_EU_KIND_HOP);
        l->chain = 0;
    }
}

/* The fault takes the place of what stands from `start` on. */
static void end_refused(struct zs_eu_lowering *l, const struct zs_isa_inst *inst, size_t start,
                        bool always)
{
    struct zs_eu_program *p = l->program;

    p->op_count = start;
    l->n = inst->exec_size;
    l->chunks = (l->n + 7) / 8;
    p->insts[l->index].modelled = false;
    p->insts[l->index].fault = (uint32_t)p->faults.count;
    zs_eu_emit_fault(l, &l->fault, always || inst->channel_offset + inst->exec_size > 32);
}

static void lower_one(struct zs_eu_lowering *l, const struct zs_isa_inst *inst, uint32_t index)
{
    struct zs_eu_program *p = l->program;
    size_t start = p->op_count, first = start;
    bool always = (inst->flags & ZS_INST_ILLEGAL) || inst->op == ZS_OP_ILLEGAL;

    begin_inst(l, inst, index);
    if (asks(l, inst))
        zs_eu_emit(l, ZS_EU_KIND_STEP);
    start = p->op_count;
    if (always)
        zs_eu_refuse(l, ZS_EU_FAULT_ILLEGAL, "%s (opcode 0x%02x): %s", l->name,
                     (unsigned)(inst->raw[0] & 0x7f),
                     inst->flags & ZS_INST_ILLEGAL ? zs_isa_error_text(inst->error)
                                                   : "illegal instruction");
    else if (check_flags(l) && check_access_mode(l)) {
        set_predicate(l);
        if (p->scores)
            zs_eu_lower_score(l, inst, index);
        zs_eu_count_lanes(l);
        start = p->op_count;
        if (!l->failed && !zs_eu_lower_flow(l))
            zs_eu_lower_inst(l);
    }
    if (l->failed)
        end_refused(l, inst, start, always);
    if (p->op_count == first && l->params->flags & ZS_EU_LOWER_PLACES)
        zs_eu_emit(l, ZS_EU_KIND_HOP); /* it does nothing */
    end_inst(l, first);
}

static void lower_blocks(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst;
    uint32_t block = 0;

    for (uint32_t i = 0; i < p->inst_count && !l->no_memory; i++) {
        if (p->block_inst[block] == i) {
            l->index = i;
            emit_block(l, block);
            block++;
        }
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        lower_one(l, &inst, i);
        zs_eu_note_pointer(l, &inst);
    }
}

static int lower_all(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;

    zs_eu_number_counters(l);
    memset(l->pointer_of, 0xff, sizeof(l->pointer_of));
    lower_blocks(l);
    l->index = p->inst_count;
    l->inst = NULL;
    emit_block(l, p->block_count - 1);
    zs_eu_emit(l, ZS_EU_KIND_END);
    return !l->no_memory && zs_eu_select(l) && find_start(l) ? 0 : -ENOMEM;
}

/* ---- programs ---- */

static const struct {
    const char *name;
    const struct zs_eu_handlers *handlers;
    const struct zs_eu_dpas_handlers *dpas;
} hosts[ZS_EU_HOST_COUNT] = {
    [ZS_EU_HOST_BEST] = {"best", NULL, NULL},
    [ZS_EU_HOST_BASE] = {"x86-64-v2", &zs_eu_handlers_base, &zs_eu_dpas_base},
    [ZS_EU_HOST_AVX2] = {"avx2", &zs_eu_handlers_avx2, &zs_eu_dpas_avx2},
    [ZS_EU_HOST_AVX512] = {"avx512", &zs_eu_handlers_avx2, &zs_eu_dpas_avx512},
};

const char *zs_eu_host_name(enum zs_eu_host host)
{
    return (unsigned)host < ZS_EU_HOST_COUNT ? hosts[host].name : "?";
}

bool zs_eu_host_usable(enum zs_eu_host host)
{
    static atomic_uint features; /* virtual machines take long over cpuid */
    unsigned a, b, c = atomic_load_explicit(&features, memory_order_relaxed), d;

    if (!c && __get_cpuid(1, &a, &b, &c, &d))
        atomic_store_explicit(&features, c, memory_order_relaxed);
    bool f16c = c & bit_F16C;
    bool avx2 = f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");

    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512vnni");

    if (host == ZS_EU_HOST_BEST || host == ZS_EU_HOST_BASE)
        return true;
    return host == ZS_EU_HOST_AVX2 ? avx2 : host == ZS_EU_HOST_AVX512 && avx512;
}

static enum zs_eu_host pick_host(enum zs_eu_host host)
{
    if (host != ZS_EU_HOST_BEST)
        return host;
    return zs_eu_host_usable(ZS_EU_HOST_AVX512) ? ZS_EU_HOST_AVX512
           : zs_eu_host_usable(ZS_EU_HOST_AVX2) ? ZS_EU_HOST_AVX2
                                                : ZS_EU_HOST_BASE;
}

void zs_eu_program_destroy(struct zs_eu_program *p)
{
    if (!p)
        return;
    free(p->ops);
    zs_eu_shadow_plan_destroy(p->shadows);
    free(p->insts);
    free(p->scores);
    free(p->segments);
    free(p->inst_at);
    free(p->clear[false]);
    free(p->clear[true]);
    free(p->block_op);
    free(p->block_inst);
    free(p->faults.items);
    free(p->sends.items);
    free(p->ways);
    free(p->regions.items);
    free(p->dpas.items);
    free(p->more_constants.items);
    zs_eu_tier_destroy(p->tier);
    free(p);
}

static bool registers_fit(const struct zs_eu_registers *r)
{
    return (r->grf_B == 32 || r->grf_B == 64) && r->grf_count >= 32 && r->grf_count <= 512 &&
           r->grf_count % 32 == 0 && r->flag_count <= ZS_EU_FLAGS_MAX &&
           r->a0_count <= ZS_EU_A0_MAX && r->acc_count >= 2 &&
           zs_eu_acc_slots(r) <= ZS_EU_ACC_SLOTS_MAX;
}

static enum zs_isa_platform platform_of(const struct zs_eu_lower_params *params)
{
    return params->platform ? params->platform : ZS_ISA_GEN9;
}

static int check_params(const struct zs_eu_lower_params *params, struct zs_diag *diag)
{
    if (params->simd != 8 && params->simd != 16 && params->simd != 32)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "SIMD size %u is none of 8, 16, 32",
                           (unsigned)params->simd);
    if (params->code.size_B > ZS_EU_CODE_MAX_B)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                           "%zu bytes of code are more than the %d supported", params->code.size_B,
                           ZS_EU_CODE_MAX_B);
    if (params->code.size_B < 8)
        return zs_diag_set(diag, -EINVAL, 0, "no code");
    if (!zs_eu_host_usable(params->host))
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "this machine cannot run %s code",
                           zs_eu_host_name(params->host));
    if (params->platform && !zs_isa_model(params->platform))
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "no such instruction set");
    if (!zs_eu_platform_of(platform_of(params)))
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "threads of this instruction set are not modelled");
    const struct zs_eu_registers *r = params->registers;
    if (r && !registers_fit(r))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "a file of %u registers of %u bytes is not modelled", r->grf_count,
                           r->grf_B);
    return 0;
}

static int lower_program(struct zs_eu_lowering *l, struct zs_diag *diag)
{
    struct zs_eu_program *p = l->program;
    const struct zs_eu_lower_params *params = l->params;
    int error = allocate(l, params->code.size_B / 8 + 1);

    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory");
    find_instructions(l);
    if (zs_eu_program_inst_at(p, params->entry_B) == UINT32_MAX)
        return zs_diag_set(diag, -EINVAL, params->entry_B, "the entry is no instruction");
    error = find_blocks(l);
    if (!error && (params->flags & ZS_EU_LOWER_SCOREBOARD) &&
        zs_isa_platform_info(platform_of(params))->has_swsb) {
        p->scores = calloc(p->inst_count, sizeof(*p->scores));
        error = p->scores ? 0 : -ENOMEM;
    }
    if (!error)
        error = lower_all(l);
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory");
    zs_eu_find_unread(l);
    p->kernel_B = params->kernel_B;
    p->entry_block = p->insts[zs_eu_program_inst_at(p, params->entry_B)].block;
    return 0;
}

static int copy_segments(const struct zs_eu_lower_params *params, struct zs_eu_program *p)
{
    const struct zs_eu_segment whole = {0, UINT32_MAX, params->base_ip_B};
    size_t count = params->segments ? params->segment_count : 1;

    p->segments = malloc(ZS_MAX(count, (size_t)1) * sizeof(*p->segments));
    if (!p->segments)
        return -ENOMEM;
    memcpy(p->segments, params->segments ? params->segments : &whole, count * sizeof(whole));
    p->segment_count = (uint32_t)count;
    return 0;
}

uint32_t zs_eu_program_ip(const struct zs_eu_program *program, uint32_t offset_B)
{
    uint32_t i = 0;

    while (i + 1 < program->segment_count && offset_B >= program->segments[i + 1].offset_B)
        i++;
    return program->segments[i].ip_B + (offset_B - program->segments[i].offset_B);
}

bool zs_eu_program_is_hooked(const struct zs_eu_program *program)
{
    bool is = false;
    for (size_t i = 0; i < program->op_count && !is; i++) {
        const struct zs_eu_op *op = &program->ops[i];
        is = op->kind == ZS_EU_KIND_SEND && op->cls & ZS_EU_HOOKED &&
             (op->send->send.exec || !op->arg);
    }
    return is;
}

bool zs_eu_program_computes_jumps(const struct zs_eu_program *program)
{
    return program->computes_jumps;
}

int zs_eu_lower(const struct zs_eu_lower_params *params, struct zs_eu_program **ret,
                struct zs_diag *diag)
{
    struct zs_eu_lowering l = {.params = params};
    int error = check_params(params, diag);

    if (error)
        return error;
    l.program = calloc(1, sizeof(*l.program));
    if (!l.program)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    l.model = zs_isa_model(platform_of(params));
    l.host = pick_host(params->host);
    l.handlers = hosts[l.host].handlers;
    l.dpas = hosts[l.host].dpas;
    l.platform = zs_eu_platform_of(platform_of(params));
    if (params->registers)
        l.program->regs = *params->registers;
    else
        zs_eu_registers_of(platform_of(params), 128, &l.program->regs);
    l.program->simd_mask = params->simd == 32 ? UINT32_MAX : (1u << params->simd) - 1;
    l.program->has_handles = params->flags & ZS_EU_LOWER_HANDLES;
    l.program->send_lower = params->send_lower ? params->send_lower : zs_eu_send_lower;
    error = copy_segments(params, l.program)
                ? zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory")
                : lower_program(&l, diag);
    l.program->ways = calloc(l.program->sends.count + 1, 1);
    if (!error && !l.program->ways)
        error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    free(l.lane_counters);
    if (error)
        zs_eu_program_destroy(l.program);
    else
        *ret = l.program;
    return error;
}

const struct zs_eu_registers *zs_eu_program_registers(const struct zs_eu_program *program)
{
    return &program->regs;
}

uint32_t zs_eu_program_inst_count(const struct zs_eu_program *program)
{
    return program->inst_count;
}

bool zs_eu_program_inst(const struct zs_eu_program *program, uint32_t index,
                        struct zs_eu_inst_info *ret)
{
    if (index >= program->inst_count)
        return false;
    const struct zs_eu_inst *inst = &program->insts[index];
    *ret = (struct zs_eu_inst_info){
        .offset_B = inst->offset_B,
        .size_B = inst->size_B,
        .raw = {inst->raw[0], inst->raw[1]},
        .mnemonic = inst->mnemonic,
        .is_send = inst->is_send,
        .modelled = inst->modelled,
        .why = inst->modelled ? NULL : program->faults.items[inst->fault].text,
    };
    if (inst->is_send)
        ret->send = program->sends.items[inst->send].send.d;
    return true;
}
