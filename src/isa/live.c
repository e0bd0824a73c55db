/* SPDX-License-Identifier: MIT */
/*
 * Liveness of general registers.
 *
 * A register is divided into 16 parts (of 2 bytes, or 4 where registers have 64); a set is one
 * 16-bit mask a register. An instruction's operands are byte ranges. A write kills the parts that
 * it covers completely, unless it is predicated (sel, which always writes, excepted).
 *
 * Lanes take different ways through the code, but the thread as a whole passes it in order. So
 * liveness is computed in two steps.
 *  1. What one lane needs: the usual backward dataflow along the edges that lanes take. A write
 *     under the execution mask kills here, since it writes all of what this lane sees.
 *  2. What lanes that wait need. Lanes that a branch sends further on are parked there, and so are
 *     those that do not go back with a backward branch, behind it; the thread comes to where the
 *     lowest of its lanes are. Until it comes to the parked ones it is between the branch and them
 *     or, by backward branches that stand before them, in the loops around the branch, all of
 *     which runs from the header on: an interval of blocks, whose first one falls with every
 *     backward branch in it. Intervals that end at the same place make one. Each one's set is added
 *     to its blocks through a segment tree.
 *  3. What lanes need that wait while others are in a subroutine: whatever is parked at the call,
 *     or behind it because of its predicate, is parked in all that is called.
 *
 * Flags, address registers and accumulators are sets of further registers behind the general ones,
 * a part for each flag bit, word of a0 and accumulator; they are not counted as pressure. A flag
 * bit is written for good by the lane it belongs to.
 *
 * The first step visits blocks from a worklist. Sets only grow, so a block is visited at most once
 * for each part of a register that becomes live in a successor: the cost is bounded by a constant
 * times the number of edges, whatever the code. Memory is bounded by SETS_LIMIT_B.
 */
#include "isa/isa_priv.h"
#include "isa/register_use.h"
#include "isa/xe.h"

#include <errno.h>
#include <stdlib.h>

enum { PARTS = 16 };
/* Registers behind the general ones: halves of f0..f3, a0, accumulators. */
enum { ARF_FLAGS = 0, ARF_ADDRESS = 8, ARF_ACC = 9, ARF_COUNT = 10 };
enum { SETS_LIMIT_B = 48 << 20, SETS_PER_BLOCK = 6 };

typedef uint16_t mask; /* which parts of one register */

/* ---- what an operand touches ---- */

static struct zs_isa_range range_at(const struct zs_isa_kernel *k, uint64_t begin_B,
                                    uint64_t size_B)
{
    uint64_t file_B = (uint64_t)k->grf_count * k->grf_B;
    uint64_t end_B = ZS_MIN(begin_B + size_B, file_B);
    return (struct zs_isa_range){(uint32_t)ZS_MIN(begin_B, end_B), (uint32_t)end_B};
}

/* Elements from a region's first to its last. */
static uint32_t region_span(const struct zs_isa_operand *o, uint32_t exec_size)
{
    bool has_vs = o->vstride != ZS_REGION_NONE, has_w = o->width != ZS_REGION_NONE;
    uint32_t hs = o->hstride == ZS_REGION_NONE ? 1 : o->hstride;
    if (!has_vs)
        return (exec_size - 1) * hs + 1;
    uint32_t vs = o->vstride;
    if (has_w && o->width) {
        uint32_t width = ZS_MIN(o->width, exec_size);
        uint32_t rows = (exec_size + width - 1) / width;
        return (rows - 1) * vs + (width - 1) * hs + 1;
    }
    /* three sources: <vs;hs> with the width that makes rows follow each other */
    uint32_t step = hs ? hs : vs;
    return vs == 0 ? (exec_size - 1) * hs + 1 : (exec_size - 1) * step + 1;
}

/* Elements of sources that have a shape of their own; 0 for all others. */
static uint32_t special_span(const struct zs_isa_inst *inst, uint32_t s)
{
    if (inst->op != ZS_OP_PLN && inst->op != ZS_OP_LINE)
        return 0;
    return s == 0 ? 4 : inst->op == ZS_OP_PLN ? 2u * inst->exec_size : 0;
}

/* Registers of an operand that spans whole ones; a send's whose length comes from a register: one.
 */
static uint32_t payload_grfs(const struct zs_isa_kernel *k, const struct zs_isa_inst *inst,
                             uint32_t s)
{
    uint32_t unknown = s == 0 ? ZS_INST_DESC_REG : ZS_INST_EXDESC_REG;
    if (inst->flags & unknown &&
        !(s == 1 && zs_xe_has_second_length(zs_isa_model(k->platform), inst)))
        return 1;
    return inst->src[s].grf_count;
}

/* Bytes that a send reads of its first payload: whole registers, except that a gather or scatter
 * whose first payload is nothing but addresses reads those of its lanes only. */
static uint64_t payload_B(const struct zs_isa_kernel *k, const struct zs_isa_inst *inst)
{
    const struct zs_isa_message *m = &k->messages[inst->message];
    uint32_t whole_B = payload_grfs(k, inst, 0) * k->grf_B;
    uint32_t addresses_B = (uint32_t)m->address_bits / 8 * inst->exec_size;
    uint32_t padded_B = (addresses_B + k->grf_B - 1) / k->grf_B * k->grf_B;
    bool plain = !(m->flags & (ZS_MSGF_BLOCK | ZS_MSGF_TYPED | ZS_MSGF_HEADER));
    return plain && m->flags & ZS_MSGF_BYTES_KNOWN && addresses_B && padded_B == whole_B
               ? addresses_B
               : whole_B;
}

struct zs_isa_range zs_isa_source_range(const struct zs_isa_kernel *k,
                                        const struct zs_isa_inst *inst, uint32_t s)
{
    const struct zs_isa_operand *o = &inst->src[s];
    bool direct = o->kind == ZS_OPERAND_REG || o->kind == ZS_OPERAND_MACRO;
    uint32_t element_B = zs_isa_type_bits((enum zs_isa_type)o->type) / 8;
    uint64_t base_B = (uint64_t)o->reg * k->grf_B;
    if (!direct || o->file != ZS_FILE_GRF)
        return (struct zs_isa_range){0, 0};
    uint32_t op_flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    if (op_flags & ZS_OPF_SEND && s == 0 && inst->message != ZS_ISA_NO_INDEX)
        return range_at(k, base_B, payload_B(k, inst));
    if (op_flags & (ZS_OPF_SEND | ZS_OPF_DPAS))
        return range_at(k, base_B, (uint64_t)payload_grfs(k, inst, s) * k->grf_B);
    element_B = ZS_MAX(element_B, 1u);
    uint32_t span = special_span(inst, s);
    if (!span)
        span = region_span(o, ZS_MAX(inst->exec_size, 1));
    return range_at(k, base_B + (uint64_t)o->subreg * element_B, (uint64_t)span * element_B);
}

/* The destination; *ret_stride_B: from one element to the next, 0 for whole registers. */
struct zs_isa_range zs_isa_dst_range(const struct zs_isa_kernel *k, const struct zs_isa_inst *inst,
                                     uint32_t *ret_element_B, uint32_t *ret_stride_B)
{
    const struct zs_isa_operand *o = &inst->dst;
    uint32_t element_B = ZS_MAX(zs_isa_type_bits((enum zs_isa_type)o->type) / 8, 1u);
    uint32_t hs = o->hstride == ZS_REGION_NONE || o->hstride == 0 ? 1 : o->hstride;
    uint32_t exec_size = ZS_MAX(inst->exec_size, 1);
    uint64_t base_B = (uint64_t)o->reg * k->grf_B;
    bool direct = o->kind == ZS_OPERAND_REG || o->kind == ZS_OPERAND_MACRO;
    *ret_element_B = element_B;
    *ret_stride_B = 0;
    if (!direct || o->file != ZS_FILE_GRF || !(inst->flags & ZS_INST_HAS_DST))
        return (struct zs_isa_range){0, 0};
    if (zs_isa_op_flags((enum zs_isa_op)inst->op) & (ZS_OPF_SEND | ZS_OPF_DPAS))
        return range_at(k, base_B, (uint64_t)o->grf_count * k->grf_B);
    *ret_stride_B = hs * element_B;
    if (inst->op == ZS_OP_MULLH) { /* high halves in registers behind those of low ones */
        uint32_t half_B = ZS_MAX(exec_size * element_B, (uint32_t)k->grf_B);
        *ret_stride_B = exec_size * element_B < k->grf_B ? (uint32_t)k->grf_B : element_B;
        return range_at(k, base_B, (uint64_t)half_B + exec_size * element_B);
    }
    return range_at(k, base_B + (uint64_t)o->subreg * element_B,
                    (uint64_t)(exec_size - 1) * hs * element_B + element_B);
}

/* ---- sets ---- */

/* The parts of register `reg` in [begin, end), counted from the first part of register 0. */
static mask parts_of(uint32_t reg, uint32_t begin, uint32_t end)
{
    uint32_t first = reg * PARTS;
    uint32_t low = begin > first ? begin - first : 0;
    uint32_t high = ZS_MIN(end - first, (uint32_t)PARTS);
    return (mask)((1u << high) - (1u << low));
}

struct zs_isa_live_state {
    const struct zs_isa_kernel *k;
    uint32_t part_B;
    mask *live;
    mask *kill;         /* may be NULL: parts killed so far, for a block's summary */
    const mask *parked; /* may be NULL */
    uint32_t count;     /* registers with a part live or parked; kept when `counts` */
    bool counts;
};

static void change(struct zs_isa_live_state *s, uint32_t reg, mask parts, bool live)
{
    mask parked = s->parked ? s->parked[reg] : 0;
    bool before = s->live[reg] | parked;
    s->live[reg] = (mask)(live ? s->live[reg] | parts : s->live[reg] & ~parts);
    bool after = s->live[reg] | parked;
    if (s->kill && !live)
        s->kill[reg] = (mask)(s->kill[reg] | parts);
    if (s->counts && before != after && reg < s->k->grf_count)
        s->count = after ? s->count + 1 : s->count - 1;
}

/* Parts that lie wholly inside the range become dead; with `live`, all that it touches live. */
static void change_range(struct zs_isa_live_state *s, struct zs_isa_range r, bool live)
{
    uint32_t begin = live ? r.begin_B / s->part_B : (r.begin_B + s->part_B - 1) / s->part_B;
    uint32_t end = live ? (r.end_B + s->part_B - 1) / s->part_B : r.end_B / s->part_B;
    if (r.begin_B >= r.end_B || begin >= end)
        return;
    for (uint32_t reg = begin / PARTS; reg * PARTS < end; reg++)
        change(s, reg, parts_of(reg, begin, end), live);
}

bool zs_isa_is_live(const struct zs_isa_live_state *s, uint32_t begin_B, uint32_t end_B)
{
    uint32_t begin = begin_B / s->part_B, end = (end_B + s->part_B - 1) / s->part_B;
    bool is = end_B > s->k->grf_count * s->k->grf_B;
    for (uint32_t reg = begin / PARTS; !is && reg * PARTS < end; reg++)
        is = (s->live[reg] | (s->parked ? s->parked[reg] : 0)) & parts_of(reg, begin, end);
    return is;
}

static bool always_writes(const struct zs_isa_inst *inst)
{
    return inst->pred == ZS_PRED_NONE || inst->op == ZS_OP_SEL;
}

/* A region <v;w,h> that leaves bytes between its elements unread. */
static bool has_gaps(const struct zs_isa_inst *inst, uint32_t i)
{
    const struct zs_isa_operand *o = &inst->src[i];
    bool full = o->vstride <= 32 && o->width && o->width <= 16 && o->hstride <= 4;
    return full && inst->exec_size > 1 && !special_span(inst, i) &&
           (o->hstride > 1 || o->vstride > (uint32_t)o->width * o->hstride);
}

static void read_elements(struct zs_isa_live_state *s, const struct zs_isa_inst *inst, uint32_t i,
                          struct zs_isa_range r, uint32_t elements)
{
    const struct zs_isa_operand *o = &inst->src[i];
    uint32_t element_B = ZS_MAX(zs_isa_type_bits((enum zs_isa_type)o->type) / 8, 1u);
    for (uint32_t c = 0; c < inst->exec_size; c++) {
        uint32_t at = c / o->width * o->vstride + c % o->width * o->hstride;
        uint32_t begin_B = r.begin_B + at * element_B;
        if (elements >> c & 1)
            change_range(s, (struct zs_isa_range){begin_B, ZS_MIN(begin_B + element_B, r.end_B)},
                         true);
    }
}

static void change_arf(struct zs_isa_live_state *s, const uint32_t flags[4], uint32_t address,
                       uint32_t acc, bool live)
{
    uint32_t first = s->k->grf_count;
    for (uint32_t half = 0; half < 8; half++) {
        mask bits = (mask)(flags[half / 2] >> 16 * (half % 2));
        if (bits)
            change(s, first + ARF_FLAGS + half, bits, live);
    }
    if (address)
        change(s, first + ARF_ADDRESS, (mask)address, live);
    if (acc)
        change(s, first + ARF_ACC, (mask)acc, live);
}

/* An accumulator is written for good when it is the destination; what else writes it may leave
 * a part. */
static void step_arf(struct zs_isa_live_state *s, const struct zs_isa_inst *inst)
{
    struct zs_isa_effects e;
    zs_isa_arf_effects(s->k->model, inst, &e);
    uint32_t acc =
        inst->dst.file == ZS_FILE_ACC && inst->dst.kind == ZS_OPERAND_REG ? e.acc_written : 0;
    if (!e.conditional)
        change_arf(s, e.flags_written, e.address_written, acc, false);
    change_arf(s, e.flags_read, e.address_read, e.acc_read, true);
}

/* Elements of a copy that somebody reads; of all else all, and where what follows is not known. */
static uint32_t elements_read(const struct zs_isa_live_state *s, const struct zs_isa_inst *inst,
                              struct zs_isa_range dst, uint32_t element_B, uint32_t stride_B)
{
    const struct zs_isa_operand *o = &inst->src[0];
    struct zs_isa_effects e;
    uint32_t elements = 0;
    if (!s->k->live_values || s->kill || inst->op != ZS_OP_MOV || !stride_B ||
        dst.begin_B == dst.end_B || o->vstride == ZS_REGION_NONE || !o->width ||
        o->width == ZS_REGION_NONE || o->hstride == ZS_REGION_NONE)
        return UINT32_MAX;
    zs_isa_arf_effects(s->k->model, inst, &e);
    if (e.flags_written[0] | e.flags_written[1] | e.flags_written[2] | e.flags_written[3] |
        e.acc_written)
        return UINT32_MAX;
    for (uint32_t c = 0; c < inst->exec_size; c++) {
        uint32_t at_B = dst.begin_B + c * stride_B;
        elements |= (uint32_t)zs_isa_is_live(s, at_B, at_B + element_B) << c;
    }
    return elements;
}

/* Each lane reads what is its own, as registers have one behind the other. */
static bool is_by_lane(const struct zs_isa_kernel *k, const struct zs_isa_inst *inst, uint32_t i)
{
    const struct zs_isa_operand *o = &inst->src[i];
    uint32_t op_flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    if (inst->flags & ZS_INST_NOMASK || op_flags & ZS_OPF_DPAS || special_span(inst, i))
        return false;
    if (op_flags & ZS_OPF_SEND) {
        const struct zs_isa_message *m =
            inst->message == ZS_ISA_NO_INDEX ? NULL : &k->messages[inst->message];
        return m && m->kind != ZS_MSG_UNKNOWN && !(m->flags & (ZS_MSGF_BLOCK | ZS_MSGF_HEADER));
    }
    return !o->subreg && o->hstride && o->hstride != ZS_REGION_NONE && o->width &&
           o->width != ZS_REGION_NONE && o->vstride == (uint32_t)o->width * o->hstride;
}

/* Step backward over one instruction. */
static void step(struct zs_isa_live_state *s, const struct zs_isa_inst *inst)
{
    uint32_t element_B, stride_B;
    struct zs_isa_range dst = zs_isa_dst_range(s->k, inst, &element_B, &stride_B);
    bool across = s->k->live_across;
    uint32_t elements = elements_read(s, inst, dst, element_B, stride_B);
    if (always_writes(inst) && !(across && !(inst->flags & ZS_INST_NOMASK))) {
        if (stride_B <= element_B) {
            change_range(s, dst, false);
        } else {
            for (uint32_t at_B = dst.begin_B; at_B < dst.end_B; at_B += stride_B) {
                uint32_t end_B = ZS_MIN(at_B + element_B, dst.end_B);
                change_range(s, (struct zs_isa_range){at_B, end_B}, false);
            }
        }
    }
    for (uint32_t i = 0; i < inst->source_count; i++) {
        struct zs_isa_range r = zs_isa_source_range(s->k, inst, i);
        if (across && is_by_lane(s->k, inst, i))
            continue;
        if ((has_gaps(inst, i) || elements != UINT32_MAX) && r.begin_B < r.end_B)
            read_elements(s, inst, i, r, elements);
        else
            change_range(s, r, true);
    }
    step_arf(s, inst);
}

bool zs_isa_response_is_unknown(const struct zs_isa_inst *inst)
{
    bool sendg = inst->op >= ZS_OP_SENDG && inst->op <= ZS_OP_SENDGXC;
    return sendg && inst->dst.file == ZS_FILE_GRF && inst->dst.grf_count == 0;
}

/* Or else touches registers that are not told. */
static bool is_indirect(const struct zs_isa_inst *inst)
{
    bool indirect = inst->dst.kind == ZS_OPERAND_INDIRECT || zs_isa_response_is_unknown(inst);
    for (uint32_t i = 0; i < inst->source_count; i++)
        indirect |= inst->src[i].kind == ZS_OPERAND_INDIRECT;
    return indirect;
}

/* ---- step 1: lanes ---- */

struct dataflow {
    struct zs_isa_kernel *k;
    size_t set_regs; /* masks of a set */
    uint32_t part_B;
    mask *gen, *kill, *in, *out;  /* per block */
    uint32_t *in_first, *in_from; /* lane edges backward: sources of a block */
    uint32_t *queue;
    bool *queued;
};

static void summarise_blocks(struct dataflow *d)
{
    struct zs_isa_kernel *k = d->k;
    for (uint32_t b = 0; b < k->block_count; b++) {
        struct zs_isa_live_state s = {.k = k,
                                      .part_B = d->part_B,
                                      .live = d->gen + b * d->set_regs,
                                      .kill = d->kill + b * d->set_regs};
        const struct zs_isa_block *block = &k->blocks[b];
        for (uint32_t i = block->count; i-- > 0;)
            step(&s, &k->insts[block->first + i]);
    }
}

/* in = gen | (out & ~kill); whether it grew. */
static bool flow_through(struct dataflow *d, uint32_t b)
{
    size_t at = b * d->set_regs;
    mask grew = 0;
    for (size_t r = at; r < at + d->set_regs; r++) {
        mask value = (mask)(d->gen[r] | (d->out[r] & ~d->kill[r]));
        grew |= (mask)(value & ~d->in[r]);
        d->in[r] |= value;
    }
    return grew;
}

static bool join(mask *to, const mask *from, size_t count)
{
    mask grew = 0;
    for (size_t r = 0; r < count; r++) {
        grew |= (mask)(from[r] & ~to[r]);
        to[r] |= from[r];
    }
    return grew;
}

static void solve(struct dataflow *d)
{
    uint32_t count = d->k->block_count, head = 0, used = count;
    /* a ring of block_count places: a block is in it at most once */
    for (uint32_t b = 0; b < count; b++) {
        d->queue[b] = count - 1 - b;
        d->queued[b] = true;
    }
    while (used) {
        uint32_t b = d->queue[head];
        head = head + 1 == count ? 0 : head + 1;
        used--;
        d->queued[b] = false;
        if (!flow_through(d, b))
            continue;
        for (uint32_t e = d->in_first[b]; e < d->in_first[b + 1]; e++) {
            uint32_t from = d->in_from[e];
            if (!join(d->out + from * d->set_regs, d->in + b * d->set_regs, d->set_regs) ||
                d->queued[from])
                continue;
            d->queued[from] = true;
            uint32_t tail = (uint32_t)(((uint64_t)head + used++) % count);
            d->queue[tail] = from;
        }
    }
}

/* ---- step 2: parked lanes ---- */

static void park(struct dataflow *d, mask *tree, uint32_t begin, uint32_t end, const mask *set)
{
    size_t count = d->k->block_count;
    for (size_t l = begin + count, r = end + count; l < r; l /= 2, r /= 2) {
        if (l & 1)
            join(tree + l++ * d->set_regs, set, d->set_regs);
        if (r & 1)
            join(tree + --r * d->set_regs, set, d->set_regs);
    }
}

static const struct zs_isa_inst *last_of(const struct zs_isa_kernel *k, uint32_t b)
{
    return &k->insts[k->blocks[b].first + k->blocks[b].count - 1];
}

/* jmpi, call and ret move the thread as a whole: nobody waits. */
static bool parks_lanes(const struct zs_isa_kernel *k, uint32_t b)
{
    uint8_t op = last_of(k, b)->op;
    return zs_isa_op_flags((enum zs_isa_op)op) & ZS_OPF_BRANCH && op != ZS_OP_JMPI &&
           op != ZS_OP_CALL && op != ZS_OP_CALLA && op != ZS_OP_RET;
}

static bool is_call(const struct zs_isa_edge *edge)
{
    return edge->kind == ZS_EDGE_CALL || edge->kind == ZS_EDGE_RETURN;
}

/* For each block where lanes may be parked, the first block that the thread may be in meanwhile,
 * so far: that of the branch which parks them. Others have their own number. */
static void find_branches(const struct zs_isa_kernel *k, uint32_t *first)
{
    for (uint32_t b = 0; b <= k->block_count; b++)
        first[b] = b;
    for (uint32_t e = 0; e < k->edge_count; e++) {
        const struct zs_isa_edge *edge = &k->edges[e];
        if (!edge->lane || edge->kind == ZS_EDGE_NEXT || !parks_lanes(k, edge->from))
            continue;
        bool back = edge->to <= edge->from;
        uint32_t at = back ? edge->from + 1 : edge->to, from = back ? edge->to : edge->from + 1;
        first[at] = ZS_MIN(first[at], from);
    }
}

static uint32_t lowest(uint32_t *low, uint32_t b)
{
    while (low[b] != b) {
        low[b] = low[low[b]]; /* halve the path */
        b = low[b];
    }
    return b;
}

/* Whoever is in blocks up to `from` may come to `to`, and on from there. */
static void go_back(uint32_t *low, uint32_t from, uint32_t to)
{
    for (uint32_t b = lowest(low, from); b > to; b = lowest(low, b))
        low[b] = b - 1;
}

static int park_all(struct dataflow *d, mask *tree)
{
    const struct zs_isa_kernel *k = d->k;
    uint32_t *first = malloc(2 * ((size_t)k->block_count + 1) * sizeof(*first));
    uint32_t *low = first + k->block_count + 1;
    if (!first)
        return -ENOMEM;
    find_branches(k, first);
    for (uint32_t b = 0; b <= k->block_count; b++)
        low[b] = b;
    for (uint32_t at = 1; at < k->block_count; at++) {
        const struct zs_isa_block *before = &k->blocks[at - 1];
        for (uint32_t e = before->edge_first; e < before->edge_first + before->edge_count; e++)
            if (!is_call(&k->edges[e]) && k->edges[e].to < at)
                go_back(low, at - 1, k->edges[e].to);
        if (first[at] < at)
            park(d, tree, lowest(low, first[at]), at, d->in + at * d->set_regs);
    }
    free(first);
    return 0;
}

/* ---- step 3: subroutines ---- */

struct callers {
    struct dataflow *d;
    mask *parked; /* per block */
    mask *more;   /* ... of callers */
    uint32_t head, used;
};

static void add_more(struct callers *c, uint32_t b, const mask *set)
{
    struct dataflow *d = c->d;
    uint32_t count = d->k->block_count;
    if (!join(c->more + b * d->set_regs, set, d->set_regs) || d->queued[b])
        return;
    d->queued[b] = true;
    d->queue[(uint32_t)(((uint64_t)c->head + c->used++) % count)] = b;
}

static void follow(struct callers *c, uint32_t b, bool is_first)
{
    struct dataflow *d = c->d;
    const struct zs_isa_kernel *k = d->k;
    const struct zs_isa_block *block = &k->blocks[b];
    bool asks = last_of(k, b)->pred != ZS_PRED_NONE, has_next = b + 1 < k->block_count;
    for (uint32_t e = block->edge_first; e < block->edge_first + block->edge_count; e++) {
        const struct zs_isa_edge *edge = &k->edges[e];
        if (edge->kind == ZS_EDGE_CALL && is_first)
            add_more(c, edge->to, c->parked + b * d->set_regs);
        if (edge->kind == ZS_EDGE_CALL && is_first && asks && has_next)
            add_more(c, edge->to, d->in + (b + 1) * d->set_regs);
        if (edge->kind == ZS_EDGE_RETURN && is_first && asks && has_next)
            add_more(c, b + 1, d->in + edge->to * d->set_regs);
        if (edge->kind != ZS_EDGE_RETURN && !is_first)
            add_more(c, edge->to, c->more + b * d->set_regs);
    }
}

static int park_callers(struct dataflow *d, mask *parked)
{
    uint32_t count = d->k->block_count;
    struct callers c = {.d = d, .parked = parked};
    bool calls = false;
    for (uint32_t e = 0; e < d->k->edge_count; e++)
        calls |= d->k->edges[e].kind == ZS_EDGE_CALL;
    if (!calls)
        return 0;
    c.more = calloc(count, d->set_regs * sizeof(mask));
    if (!c.more)
        return -ENOMEM;
    memset(d->queued, 0, count * sizeof(*d->queued));
    for (uint32_t b = 0; b < count; b++)
        follow(&c, b, true);
    while (c.used) {
        uint32_t b = d->queue[c.head];
        c.head = c.head + 1 == count ? 0 : c.head + 1;
        c.used--;
        d->queued[b] = false;
        follow(&c, b, false);
    }
    join(parked, c.more, count * d->set_regs);
    free(c.more);
    return 0;
}

static int find_parked(struct dataflow *d)
{
    struct zs_isa_kernel *k = d->k;
    size_t count = k->block_count, set_B = d->set_regs * sizeof(mask);
    mask *tree = calloc(2 * count, set_B);
    int error = tree ? park_all(d, tree) : -ENOMEM;
    for (size_t i = 1; i < count && !error; i++) {
        join(tree + 2 * i * d->set_regs, tree + i * d->set_regs, d->set_regs);
        join(tree + (2 * i + 1) * d->set_regs, tree + i * d->set_regs, d->set_regs);
    }
    k->parked = error ? NULL : malloc(count * set_B);
    if (k->parked)
        memcpy(k->parked, tree + count * d->set_regs, count * set_B);
    free(tree);
    if (!error)
        error = k->parked ? park_callers(d, k->parked) : -ENOMEM;
    return error;
}

/* ---- results ---- */

static struct zs_isa_live_state state_at_end(const struct zs_isa_kernel *k, uint32_t b, mask *live)
{
    size_t at = (size_t)b * (k->grf_count + ARF_COUNT);
    struct zs_isa_live_state s = {
        .k = k, .part_B = k->grf_B / PARTS, .live = live, .parked = k->parked + at, .counts = true};
    memcpy(live, k->live_out + at, (k->grf_count + ARF_COUNT) * sizeof(mask));
    for (uint32_t r = 0; r < k->grf_count; r++)
        s.count += live[r] | s.parked[r] ? 1 : 0;
    return s;
}

static void count_live(struct zs_isa_kernel *k, mask *scratch)
{
    k->live_exact = !k->edges_missing;
    for (uint32_t b = 0; b < k->block_count; b++) {
        const struct zs_isa_block *block = &k->blocks[b];
        struct zs_isa_live_state s = state_at_end(k, b, scratch);
        for (uint32_t i = block->first + block->count; i-- > block->first;) {
            step(&s, &k->insts[i]);
            k->live_grf[i] = (uint16_t)s.count;
            if (is_indirect(&k->insts[i]))
                k->live_exact = false;
        }
    }
    k->live_peak = k->live_peak_inst = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        if (k->live_grf[i] > k->live_peak) {
            k->live_peak = k->live_grf[i];
            k->live_peak_inst = i;
        }
    }
}

static int run(struct dataflow *d)
{
    struct zs_isa_kernel *k = d->k;
    size_t count = k->block_count, sets = (count + 1) * d->set_regs;
    d->gen = calloc(sets * 3, sizeof(mask));
    d->out = calloc(sets, sizeof(mask));
    d->in_first = calloc(2 * (count + 1) + k->edge_count, sizeof(uint32_t));
    d->queued = calloc(count + 1, sizeof(bool));
    k->live_grf = calloc((size_t)k->count + 1, sizeof(uint16_t));
    if (!d->gen || !d->out || !d->in_first || !d->queued || !k->live_grf)
        return -ENOMEM;
    d->kill = d->gen + sets;
    d->in = d->kill + sets;
    d->queue = d->in_first + count + 1;
    d->in_from = d->queue + count + 1;
    summarise_blocks(d);
    zs_isa_list_sources(k, d->in_first, d->in_from, d->queue);
    solve(d);
    k->live_out = d->out;
    d->out = NULL;
    int error = count ? find_parked(d) : 0;
    if (!error && count)
        count_live(k, d->gen);
    return error;
}

int zs_isa_make_liveness(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    struct dataflow d = {.k = k, .set_regs = k->grf_count + ARF_COUNT, .part_B = k->grf_B / PARTS};
    uint64_t want_B = (uint64_t)k->block_count * d.set_regs * sizeof(mask) * SETS_PER_BLOCK;
    if (want_B > SETS_LIMIT_B)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                           "%u basic blocks in one kernel: too many to compute live registers",
                           k->block_count);
    free(k->live_grf);
    free(k->live_out);
    free(k->parked);
    k->live_grf = k->live_out = k->parked = NULL;
    k->live_exact = true;
    int error = run(&d);
    free(d.gen);
    free(d.out);
    free(d.in_first);
    free(d.queued);
    return error;
}

int zs_isa_make_liveness_of_values(struct zs_isa_kernel *k, bool across)
{
    k->live_values = true;
    k->live_across = across;
    int error = zs_isa_make_liveness(k, NULL);
    k->done |= error ? 0 : ZS_ISA_LIVENESS;
    return error;
}

uint32_t zs_isa_live_grf(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(k->done & ZS_ISA_LIVENESS && i < k->count);
    return k->live_grf[i];
}

bool zs_isa_live_exact(const struct zs_isa_kernel *k)
{
    zs_assert(k->done & ZS_ISA_LIVENESS);
    return k->live_exact;
}

uint32_t zs_isa_live_peak(const struct zs_isa_kernel *k, uint32_t *ret_inst)
{
    zs_assert(k->done & ZS_ISA_LIVENESS);
    if (ret_inst)
        *ret_inst = k->live_peak_inst;
    return k->live_peak;
}

/* The state before instruction i, in `live`. */
static struct zs_isa_live_state state_before(const struct zs_isa_kernel *k, uint32_t i, mask *live)
{
    uint32_t b = zs_isa_inst_block(k, i);
    const struct zs_isa_block *block = &k->blocks[b];
    struct zs_isa_live_state s = state_at_end(k, b, live);
    for (uint32_t at = block->first + block->count; at-- > i;)
        step(&s, &k->insts[at]);
    return s;
}

enum { GRF_MAX = 64 * ZS_ISA_GRF_WORDS };

static void put_bits(const struct zs_isa_live_state *s, uint64_t ret_bits[ZS_ISA_GRF_WORDS])
{
    memset(ret_bits, 0, ZS_ISA_GRF_WORDS * sizeof(*ret_bits));
    for (uint32_t r = 0; r < s->k->grf_count; r++)
        if (s->live[r] | s->parked[r])
            ret_bits[r / 64] |= UINT64_C(1) << r % 64;
}

void zs_isa_live_set(const struct zs_isa_kernel *k, uint32_t i, uint64_t ret_bits[ZS_ISA_GRF_WORDS])
{
    zs_assert(k->done & ZS_ISA_LIVENESS && i < k->count && k->grf_count <= GRF_MAX);
    mask live[GRF_MAX + ARF_COUNT];
    struct zs_isa_live_state s = state_before(k, i, live);
    put_bits(&s, ret_bits);
}

void zs_isa_live_sets(const struct zs_isa_kernel *k, uint32_t b,
                      uint64_t (*ret_bits)[ZS_ISA_GRF_WORDS])
{
    zs_assert(k->done & ZS_ISA_LIVENESS && b < k->block_count && k->grf_count <= GRF_MAX);
    mask live[GRF_MAX + ARF_COUNT];
    const struct zs_isa_block *block = &k->blocks[b];
    struct zs_isa_live_state s = state_at_end(k, b, live);
    for (uint32_t at = block->count; at-- > 0;) {
        step(&s, &k->insts[block->first + at]);
        put_bits(&s, ret_bits[at]);
    }
}

void zs_isa_visit_live(const struct zs_isa_kernel *k, uint32_t b, zs_isa_live_visit *visit,
                       void *context)
{
    zs_assert(k->done & ZS_ISA_LIVENESS && b < k->block_count && k->grf_count <= GRF_MAX);
    mask live[GRF_MAX + ARF_COUNT];
    const struct zs_isa_block *block = &k->blocks[b];
    struct zs_isa_live_state s = state_at_end(k, b, live);
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        visit(context, i, &s);
        step(&s, &k->insts[i]);
    }
}

void zs_isa_live_arf(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_live_arf *ret)
{
    zs_assert(k->done & ZS_ISA_LIVENESS && i < k->count && k->grf_count <= GRF_MAX);
    mask live[GRF_MAX + ARF_COUNT];
    struct zs_isa_live_state s = state_before(k, i, live);
    uint32_t first = k->grf_count;
    for (uint32_t r = first; r < first + ARF_COUNT; r++)
        live[r] |= s.parked[r];
    for (uint32_t f = 0; f < 4; f++)
        ret->flags[f] =
            live[first + ARF_FLAGS + 2 * f] | (uint32_t)live[first + ARF_FLAGS + 2 * f + 1] << 16;
    ret->address = live[first + ARF_ADDRESS];
    ret->acc = live[first + ARF_ACC];
}
