/* SPDX-License-Identifier: MIT */
/*
 * Counters of executions and active lanes (eu_priv.h has their layout).
 *
 * Mostly what a block's start adds tells them all. Instructions of few channels, and those with a
 * predicate, have a counter of lanes: each predicate its own, and all others of a block with the
 * same channels one together, since lanes change between blocks alone. The first of these counts,
 * or the block's start does.
 * The numbers of counters follow from the code, so that all programs of it have the same ones,
 * however they were lowered.
 */
#include "eu/lower/lower.h"

#include <string.h>

/* ---- which there are ---- */

static bool is_branch(const struct zs_isa_inst *inst)
{
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);

    return (flags & ZS_OPF_BRANCH) && inst->op != ZS_OP_RET;
}

void zs_eu_lane_counter_of(const struct zs_isa_inst *inst, struct zs_eu_lane_counter *ret)
{
    bool predicated = inst->pred != ZS_PRED_NONE && inst->op != ZS_OP_SEL && !is_branch(inst);
    bool few = !(inst->flags & ZS_INST_NOMASK) && (inst->exec_size < 8 || inst->channel_offset % 8);

    ret->apart = predicated ? ZS_EU_LANES_PREDICATED : few ? ZS_EU_LANES_FEW : ZS_EU_LANES_OF_BLOCK;
}

static bool same_lanes(const struct zs_eu_inst *a, const struct zs_eu_inst *b)
{
    return a->block == b->block && a->exec_size == b->exec_size && a->chan_offset == b->chan_offset;
}

void zs_eu_number_counters(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    uint32_t first = 1 + p->block_count * ZS_EU_BLOCK_COUNTERS;
    uint32_t last = UINT32_MAX; /* of few channels, which counts */

    for (uint32_t i = 0; i < p->inst_count && l->params->flags & ZS_EU_LOWER_COUNTS; i++) {
        struct zs_eu_lane_counter *counter = &l->lane_counters[i];
        if (counter->apart == ZS_EU_LANES_OF_BLOCK)
            continue;
        bool few = counter->apart == ZS_EU_LANES_FEW;
        counter->counts = !few || last == UINT32_MAX || !same_lanes(&p->insts[last], &p->insts[i]);
        counter->number =
            counter->counts ? first + p->lane_counters++ : l->lane_counters[last].number;
        if (few && counter->counts)
            last = i;
    }
}

/* One jump counts itself, the start of a block what most of few channels are, one. */
static bool is_counted_elsewhere(struct zs_eu_lowering *l, const struct zs_eu_lane_counter *counter)
{
    const struct zs_isa_inst *inst = l->inst;
    const struct zs_eu_program *p = l->program;
    struct zs_eu_op *start = &p->ops[p->block_op[p->insts[l->index].block]];

    if (inst->op == ZS_OP_JMPI && inst->flags & ZS_INST_NOMASK && inst->exec_size == 1 &&
        inst->src[0].kind == ZS_OPERAND_LABEL) {
        l->jump_counter = counter->number;
        return true;
    }
    if (counter->apart != ZS_EU_LANES_FEW || inst->exec_size >= 8 || zs_eu_stands_anywhere(l) ||
        (start->pred_xor && start->pred_xor != counter->number))
        return false;
    start->pred_xor = counter->number;
    start->full = ((1u << inst->exec_size) - 1) << inst->channel_offset;
    return true;
}

void zs_eu_count_lanes(struct zs_eu_lowering *l)
{
    const struct zs_eu_lane_counter *counter = &l->lane_counters[l->index];

    if (!(l->params->flags & ZS_EU_LOWER_COUNTS) || counter->apart == ZS_EU_LANES_OF_BLOCK)
        return;
    l->program->insts[l->index].counter = counter->number;
    if (!counter->counts || is_counted_elsewhere(l, counter))
        return;
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_LANE_COUNT);
    zs_eu_mask(l, op);
    if (counter->apart == ZS_EU_LANES_FEW) {
        op->predicate = (uint16_t)ZS_EU_OFFSET(all_ones);
        op->pred_xor = 0;
    }
    op->aux = counter->number;
}

/* ---- what they say ---- */

size_t zs_eu_program_counter_count(const struct zs_eu_program *program)
{
    return 1 + (size_t)program->block_count * ZS_EU_BLOCK_COUNTERS + program->lane_counters;
}

/* Executions and lanes by quarters of a block. */
static void read_block(const struct zs_eu_program *p, const uint64_t *counters, uint32_t block,
                       uint64_t ret[ZS_EU_SUM_COUNTERS])
{
    const uint64_t field = (1u << (ZS_EU_PACKED_HIGH - ZS_EU_PACKED_LOW)) - 1;
    const uint64_t *packed = counters + 1 + (size_t)block * ZS_EU_PACKED_COUNTERS;
    const uint64_t *sums = counters + 1 + (size_t)p->block_count * ZS_EU_PACKED_COUNTERS +
                           (size_t)block * ZS_EU_SUM_COUNTERS;

    ret[0] = sums[0] + (packed[0] & ((1u << ZS_EU_PACKED_LOW) - 1));
    ret[1] = sums[1] + (packed[0] >> ZS_EU_PACKED_LOW & field);
    ret[2] = sums[2] + (packed[0] >> ZS_EU_PACKED_HIGH & field);
    ret[3] = sums[3] + (packed[1] & UINT32_MAX);
    ret[4] = sums[4] + (packed[1] >> 32);
}

void zs_eu_program_counters_settle(const struct zs_eu_program *program, uint64_t *counters)
{
    uint64_t *packed = counters + 1;
    uint64_t *sums = packed + (size_t)program->block_count * ZS_EU_PACKED_COUNTERS;

    for (uint32_t block = 0; block < program->block_count; block++) {
        if (packed[0]) {
            read_block(program, counters, block, sums);
            packed[0] = packed[1] = 0;
        }
        packed += ZS_EU_PACKED_COUNTERS;
        sums += ZS_EU_SUM_COUNTERS;
    }
    counters[0] = 0;
}

uint64_t zs_eu_program_counters_seen(const struct zs_eu_program *program, const uint64_t *counters,
                                     const uint8_t *known, uint8_t *seen)
{
    enum { RARELY = 256, FEW = 8 }; /* one execution in so many is none; of lanes that are on */
    uint64_t all = (unsigned)__builtin_popcount(program->simd_mask), others = 0;

    for (uint32_t i = 0; i < program->block_count; i++) {
        uint64_t block[ZS_EU_SUM_COUNTERS], insts = program->ops[program->block_op[i]].aux;
        read_block(program, counters, i, block);
        if (!block[0])
            continue;
        uint64_t off = block[0] * all - (block[1] + block[2] + block[3] + block[4]);
        uint64_t some = ZS_MIN(off, block[0]); /* executions with some lanes, at most */
        bool any = some > block[0] / RARELY;
        bool whole = off < block[0] * all / FEW * (FEW - 1);
        seen[i] |= (any ? ZS_EU_SEEN_ANY : 0) | (whole ? ZS_EU_SEEN_ALL : 0);
        if (known && any && !(known[i] & ZS_EU_SEEN_ANY))
            others += some * insts;
        if (known && !(known[i] & ZS_EU_SEEN_ALL))
            others += (block[0] - some) * insts;
    }
    for (size_t i = 0; i < program->sends.count; i++)
        seen[program->block_count + i] |= __atomic_load_n(&program->ways[i], __ATOMIC_RELAXED);
    return others;
}

size_t zs_eu_program_seen_B(const struct zs_eu_program *program)
{
    return program->block_count + program->sends.count;
}

uint32_t zs_eu_program_block_count(const struct zs_eu_program *program)
{
    return program->block_count;
}

static uint64_t masked_lanes(const struct zs_eu_inst *inst, const uint64_t *block)
{
    uint64_t lanes = 0;

    for (unsigned lane = inst->chan_offset; lane < inst->chan_offset + inst->exec_size && lane < 32;
         lane += 8)
        lanes += block[1 + lane / 8];
    return lanes;
}

void zs_eu_program_counters_expand(const struct zs_eu_program *program, const uint64_t *counters,
                                   uint64_t *ret_executions, uint64_t *ret_lanes)
{
    for (uint32_t i = 0; i < program->inst_count; i++) {
        const struct zs_eu_inst *inst = &program->insts[i];
        uint64_t block[ZS_EU_SUM_COUNTERS];
        read_block(program, counters, inst->block, block);
        ret_executions[i] = block[0];
        if (inst->counter != UINT32_MAX)
            ret_lanes[i] = counters[inst->counter];
        else if (inst->no_mask)
            ret_lanes[i] = ret_executions[i] * inst->exec_size;
        else
            ret_lanes[i] = masked_lanes(inst, block);
    }
}
