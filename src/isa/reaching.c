/* SPDX-License-Identifier: MIT */
/*
 * Which writes may have left what some bytes of the general registers hold: a walk backward over
 * all ways that the thread may have come, those on which a lane does nothing included. A write ends
 * the walk for the bytes that it covers, unless a predicate or a single masked lane may leave them
 * as they were.
 *
 * A lane is taken to have executed the masked writes on the way. One that waited has not; but then
 * its own way, along which it came, is walked as well, and what others wrote meanwhile is among the
 * writes that are found.
 *
 * A block is visited anew when bytes are wanted of it that were not before: at most 64 times.
 */
#include "isa/reaching.h"

#include "isa/isa_priv.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    const struct zs_isa_kernel *k;
    uint32_t begin_B, end_B;
    struct zs_isa_reaching *found;
    uint64_t *wanted; /* per block: bytes wanted at its end; of ids, left at its start */
    uint32_t *stack;  /* blocks to be visited */
    bool *stacked;
    uint32_t depth;
    uint32_t *first, *from; /* edges by their end; of ids: first[b], block b is reached */
};

static bool may_leave(const struct zs_isa_inst *inst)
{
    bool one_lane = inst->exec_size <= 1 && !(inst->flags & ZS_INST_NOMASK);
    return one_lane || (inst->pred != ZS_PRED_NONE && inst->op != ZS_OP_SEL);
}

/* Which of the wanted bytes an instruction writes. */
static uint64_t bytes_written(const struct walk *w, const struct zs_isa_inst *inst)
{
    uint32_t element_B, stride_B;
    struct zs_isa_range r = zs_isa_dst_range(w->k, inst, &element_B, &stride_B);
    uint64_t bytes = 0;
    if (inst->flags & ZS_INST_DESC_REG && r.begin_B < r.end_B)
        r.end_B = UINT32_MAX; /* its length comes from a register */
    for (uint32_t b = ZS_MAX(r.begin_B, w->begin_B); b < r.end_B && b < w->end_B; b++)
        if (stride_B <= element_B || (b - r.begin_B) % stride_B < element_B)
            bytes |= UINT64_C(1) << (b - w->begin_B);
    return bytes;
}

static void note(struct walk *w, uint32_t inst)
{
    struct zs_isa_reaching *f = w->found;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->insts[i] == inst)
            return;
    if (f->count == ZS_ISA_WRITES_MAX)
        f->unknown = true;
    else
        f->insts[f->count++] = inst;
}

/* From in front of instruction `end` to the start of its block; returns what is still wanted. */
static uint64_t walk_block(struct walk *w, uint32_t first, uint32_t end, uint64_t wanted)
{
    for (uint32_t i = end; wanted && i-- > first;) {
        const struct zs_isa_inst *inst = &w->k->insts[i];
        if (inst->flags & ZS_INST_ILLEGAL || inst->dst.kind == ZS_OPERAND_INDIRECT)
            w->found->unknown = true;
        uint64_t bytes = bytes_written(w, inst) & wanted;
        if (bytes)
            note(w, i);
        if (!may_leave(inst) && !(inst->flags & ZS_INST_DESC_REG))
            wanted &= ~bytes;
    }
    return wanted;
}

static void want(struct walk *w, uint32_t block, uint64_t bytes)
{
    if (block == 0)
        w->found->entry |= bytes != 0;
    for (uint32_t e = w->first[block]; e < w->first[block + 1]; e++) {
        uint32_t from = w->from[e];
        if (!(bytes & ~w->wanted[from]))
            continue;
        w->wanted[from] |= bytes;
        if (!w->stacked[from])
            w->stack[w->depth++] = from;
        w->stacked[from] = true;
    }
}

static void sort_edges(struct walk *w)
{
    const struct zs_isa_kernel *k = w->k;
    for (uint32_t e = 0; e < k->edge_count; e++)
        w->first[k->edges[e].to + 1]++;
    for (uint32_t b = 0; b < k->block_count; b++)
        w->first[b + 1] += w->first[b];
    for (uint32_t e = k->edge_count; e-- > 0;) /* stack: how many of a block are placed */
        w->from[w->first[k->edges[e].to] + w->stack[k->edges[e].to]++] = k->edges[e].from;
    w->depth = 0;
}

static bool make_walk(const struct zs_isa_kernel *k, struct walk *w)
{
    size_t blocks = k->block_count;
    *w = (struct walk){.k = k};
    w->wanted = calloc(blocks + 1, sizeof(*w->wanted));
    w->stack = calloc(blocks + 1, sizeof(*w->stack));
    w->stacked = calloc(blocks + 1, sizeof(*w->stacked));
    w->first = calloc(blocks + 2, sizeof(*w->first));
    w->from = calloc((size_t)k->edge_count + 1, sizeof(*w->from));
    return w->wanted && w->stack && w->stacked && w->first && w->from;
}

static void free_walk(struct walk *w)
{
    free(w->wanted);
    free(w->stack);
    free(w->stacked);
    free(w->first);
    free(w->from);
}

void zs_isa_reaching(const struct zs_isa_kernel *k, uint32_t inst, uint32_t begin_B,
                     uint32_t size_B, struct zs_isa_reaching *ret)
{
    struct walk w;
    memset(ret, 0, sizeof(*ret));
    zs_assert(k->done & ZS_ISA_INSTS && k->done & ZS_ISA_BLOCKS && inst < k->count);
    zs_assert(size_B && size_B <= 64);
    if (!make_walk(k, &w) || (uint64_t)begin_B + size_B > (uint64_t)k->grf_count * k->grf_B) {
        ret->unknown = true;
    } else {
        uint32_t b = zs_isa_inst_block(k, inst);
        sort_edges(&w);
        w.found = ret;
        w.begin_B = begin_B;
        w.end_B = begin_B + size_B;
        uint64_t all = size_B == 64 ? UINT64_MAX : (UINT64_C(1) << size_B) - 1;
        want(&w, b, walk_block(&w, k->blocks[b].first, inst, all));
        while (w.depth) {
            b = w.stack[--w.depth];
            w.stacked[b] = false;
            const struct zs_isa_block *block = &k->blocks[b];
            want(&w, b, walk_block(&w, block->first, block->first + block->count, w.wanted[b]));
        }
    }
    free_walk(&w);
}

/* ---- local ids --------------------------------------------------------------------------------
 */

/* Wide, and the same for all lanes. */
static bool is_no_id(const struct zs_isa_operand *o)
{
    return o->kind == ZS_OPERAND_REG && !o->vstride && !o->grf_count &&
           zs_isa_type_bits((enum zs_isa_type)o->type) >= 32;
}

/* As ids, some of the bytes that are left. */
static bool reads_ids(const struct walk *w, const struct zs_isa_inst *inst, uint64_t left)
{
    for (uint32_t s = 0; s < inst->source_count; s++) {
        const struct zs_isa_operand *o = &inst->src[s];
        struct zs_isa_range r = zs_isa_source_range(w->k, inst, s);
        uint32_t begin_B = ZS_MAX(r.begin_B, w->begin_B), end_B = ZS_MIN(r.end_B, w->end_B);
        if (o->kind == ZS_OPERAND_INDIRECT && zs_isa_type_bits((enum zs_isa_type)o->type) < 32)
            return true;
        if (begin_B < end_B && !is_no_id(o) &&
            left >> (begin_B - w->begin_B) & UINT64_MAX >> (64 - (end_B - begin_B)))
            return true;
    }
    return false;
}

static void arrive(struct walk *w, uint32_t block, uint64_t left)
{
    if (w->first[block] && !(left & ~w->wanted[block]))
        return;
    w->first[block] = 1;
    w->wanted[block] |= left;
    if (!w->stacked[block])
        w->stack[w->depth++] = block;
    w->stacked[block] = true;
}

/* On to what follows, with what the block leaves; true: it reads some. */
static bool pass(struct walk *w, uint32_t b)
{
    const struct zs_isa_block *block = &w->k->blocks[b];
    uint64_t left = w->wanted[b];
    for (uint32_t i = block->first; left && i < block->first + block->count; i++) {
        const struct zs_isa_inst *inst = &w->k->insts[i];
        if (reads_ids(w, inst, left))
            return true;
        if (!may_leave(inst) && !(inst->flags & ZS_INST_DESC_REG))
            left &= ~bytes_written(w, inst);
    }
    for (uint32_t e = 0; e < block->edge_count; e++)
        arrive(w, w->k->edges[block->edge_first + e].to, left);
    return false;
}

/* Forward, from the start and from blocks that no known way leads to. */
static bool may_read_ids(const struct zs_isa_kernel *k, uint32_t reg)
{
    struct walk w;
    bool may = !make_walk(k, &w) || k->edges_missing;
    w.begin_B = reg * k->grf_B;
    w.end_B = w.begin_B + k->grf_B;
    for (uint32_t b = 0; b < k->block_count && !may; b++) {
        if (!w.first[b])
            arrive(&w, b, UINT64_MAX >> (64 - k->grf_B));
        while (w.depth && !may) {
            uint32_t at = w.stack[--w.depth];
            w.stacked[at] = false;
            may = pass(&w, at);
        }
    }
    free_walk(&w);
    return may;
}

uint32_t zs_isa_unused_ids(const struct zs_isa_kernel *kernel, uint32_t count)
{
    uint32_t unused = 0;
    zs_assert(kernel->done & ZS_ISA_INSTS && kernel->done & ZS_ISA_BLOCKS);
    for (uint32_t i = 0; i < ZS_MIN(count, 32u); i++)
        unused |= (uint32_t)!may_read_ids(kernel, 1 + i) << i;
    return unused;
}
