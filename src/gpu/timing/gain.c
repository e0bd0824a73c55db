/* SPDX-License-Identifier: MIT */
/*
 * What a launch would gain: it is replayed again without one thing that may hold it up, all else
 * being equal. So a gain is what the model says of the whole launch, not a share of stalls: threads
 * that no longer wait for memory may wait for a pipe then. Gains of several things do not add up.
 *
 * What is changed is a row of parameters, the kernel's table of instructions or a message, so that
 * a replay without changes has nothing to ask. Of things that the launch does not have, or
 * that take next to nothing of it, nothing is replayed.
 */
#include "gpu/timing/replay.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- what changes ------------------------------------------------------------------------------
 */

static void without_dispatch(struct zs_timing_params *p)
{
    p->launch_cycles = p->dispatch_cycles = p->start_latency = 0;
    p->payload_grf_per_cycle = UINT32_MAX;
}

static void make_plain(const struct zs_timing_params *p, struct zs_timing_op *op)
{
    uint32_t B = op->kind == ZS_TIMING_KIND_DOUBLE ? sizeof(float)
                                                   : ZS_MIN(op->element_B, (uint8_t)sizeof(float));
    uint32_t lanes = ZS_MAX(op->chunk_lanes, (uint8_t)1);
    uint32_t chunks = ZS_MAX((uint32_t)__builtin_popcount(op->chunk_first), 1u);
    uint32_t chunk_cycles = ZS_MAX(lanes * B / p->fpu_B, 1u);
    if (op->kind == ZS_TIMING_KIND_DOUBLE) {
        op->unit = p->float_pipe == 1   ? ZS_TIMING_UNIT_FPU0
                   : p->float_pipe == 2 ? ZS_TIMING_UNIT_FPU1
                                        : ZS_TIMING_UNIT_FPU;
        op->ahead = 0;
    }
    op->chunk_cycles = (uint8_t)ZS_MIN(chunk_cycles, (uint32_t)op->chunk_cycles);
    op->full_cycles = (uint16_t)ZS_MIN(ZS_MAX(chunks * lanes * B / p->fpu_B, p->fpu_least),
                                       (uint32_t)op->full_cycles);
    for (uint32_t i = 0; i < ZS_TIMING_WRITES_NEAR; i++)
        op->latency[i] = (uint8_t)ZS_MIN(op->latency[i], p->grf_latency);
}

/* What goes on from one to the next of a sequence does so by accumulators: a plain instruction has
 * none. */
static void forget_accumulators(struct zs_timing_code *code, struct zs_timing_op *op)
{
    for (uint32_t left = op->acc_writes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        code->slot_latency[op->slots + op->dep_count + i] = 0;
        if (i < ZS_TIMING_WRITES_NEAR)
            op->latency[i] = 0;
    }
}

static size_t count_slots(const struct zs_timing_code *code)
{
    size_t slots = 0;
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct zs_timing_op *op = &code->ops[i];
        slots = ZS_MAX(slots, (size_t)op->slots + op->dep_count + op->write_count);
    }
    return slots;
}

static void take_part(struct zs_timing_op *op, uint32_t kept, uint32_t *small)
{
    if (op->full_cycles < kept && (*small)++ % kept)
        op->unit = ZS_TIMING_UNIT_GONE;
    op->full_cycles = (uint16_t)ZS_MAX(op->full_cycles / kept, 1u);
    op->chunk_cycles = (uint8_t)ZS_MAX(op->chunk_cycles / kept, 1u);
    op->least = (uint16_t)ZS_MAX(op->least / kept, 1u);
}

static bool saves_messages(enum zs_timing_gain gain)
{
    return gain == ZS_TIMING_GAIN_reuse || gain == ZS_TIMING_GAIN_reuse_most ||
           gain == ZS_TIMING_GAIN_narrow || gain == ZS_TIMING_GAIN_local ||
           gain == ZS_TIMING_GAIN_local_most;
}

/* What is not sent takes what computes its address along: instructions whose results go nowhere
 * else, but for divisions, which are a finding of their own. Backwards, twice: loops. */
static bool save_addresses(enum zs_timing_gain gain, struct zs_timing_code *code)
{
    enum { UNUSED, ADDRESS, OTHER };
    uint32_t kept = 4, small = 0; /* one in so many */
    for (uint32_t i = 0; i < code->op_count; i++)
        kept = zs_timing_parts_saved(gain, &code->ops[i]) == 2 ? 2 : kept;
    uint8_t *use = calloc(code->slot_count + 1u, 1);
    for (uint32_t i = 2 * code->op_count; use && i-- > 0;) {
        uint32_t inst = i % ZS_MAX(code->op_count, 1u);
        struct zs_timing_op *op = &code->ops[inst];
        const uint16_t *deps = code->slots + op->slots, *writes = deps + op->dep_count;
        bool found = false, other = op->unit > ZS_TIMING_UNIT_FPU1;
        for (uint32_t k = 0; k < op->write_count; k++) {
            found |= use[writes[k]] != UNUSED;
            other |= use[writes[k]] == OTHER;
            use[writes[k]] = UNUSED;
        }
        bool saved = zs_timing_parts_saved(gain, op) > 1;
        uint32_t addresses = saved && !op->is_load ? op->addresses : 0;
        uint8_t as = (saved && op->is_load) || (found && !other) ? ADDRESS : OTHER;
        bool own = !found; /* what nobody reads that is made of itself keeps a register busy */
        for (uint32_t k = 0; k < op->read_count && own; k++) {
            own = false;
            for (uint32_t w = 0; w < op->write_count && !own; w++)
                own = writes[w] == deps[k];
        }
        for (uint32_t k = 0; k < op->read_count && !own; k++) {
            uint8_t of = k < addresses ? (uint8_t)ADDRESS : as;
            use[deps[k]] = ZS_MAX(use[deps[k]], of);
        }
        if (i < code->op_count && as == ADDRESS && op->unit <= ZS_TIMING_UNIT_FPU1 &&
            op->kind != ZS_TIMING_KIND_MATH)
            take_part(op, kept, &small);
    }
    free(use);
    return use != NULL;
}

/* What the load brings is in its next address: nobody else has that before. of: by slot. */
static bool leads_on(const struct zs_timing_code *code, uint32_t load, bool *of)
{
    uint32_t loop = 0;
    while (loop < code->loop_count && (load < code->loops[loop][0] || load > code->loops[loop][1]))
        loop++;
    if (loop == code->loop_count)
        return false;
    uint32_t first = code->loops[loop][0], length = code->loops[loop][1] - first + 1;
    memset(of, 0, code->slot_count + 1u);
    for (uint32_t k = 0; k <= length; k++) {
        uint32_t i = first + (load - first + k) % length;
        const struct zs_timing_op *op = &code->ops[i];
        const uint16_t *deps = code->slots + op->slots, *writes = deps + op->dep_count;
        bool found = k == 0;
        for (uint32_t d = 0; d < op->read_count; d++)
            found |= of[deps[d]];
        if (k == length)
            return found;
        for (uint32_t w = 0; w < op->write_count; w++)
            of[writes[w]] = found;
    }
    return false;
}

static void keep_chains(struct zs_timing_code *code)
{
    bool *of = calloc(code->slot_count + 1u, sizeof(*of));
    for (uint32_t i = 0; of && i < code->op_count; i++)
        if (code->ops[i].is_load && leads_on(code, i, of))
            code->ops[i].is_load = false;
    free(of);
}

/* Who loads the same again only to sum it has the same sums again: of those as few are left. */
static bool save_sums(struct zs_timing_code *code)
{
    enum { KEPT = 4 };
    uint32_t small = 0;
    uint8_t *loaded = calloc(code->slot_count + 1u, 1);
    for (uint32_t i = 0; loaded && i < code->op_count; i++) {
        struct zs_timing_op *op = &code->ops[i];
        const uint16_t *deps = code->slots + op->slots, *writes = deps + op->dep_count;
        bool of_load = false;
        for (uint32_t k = 0; k < op->dep_count; k++)
            of_load |= loaded[deps[k]];
        for (uint32_t k = 0; k < op->write_count; k++)
            loaded[writes[k]] = op->is_load;
        if (op->kind == ZS_TIMING_KIND_SUM && of_load)
            take_part(op, KEPT, &small);
    }
    free(loaded);
    return loaded != NULL;
}

/* A work-item that has elements enough for four bytes of the smallest has as many of the others. */
static void widen(struct zs_timing_op *ops, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = ZS_MAX(most, (uint32_t)ops[i].narrow);
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].narrow)
            ops[i].narrow = most & 3u;
}

/* With tables of instructions and latencies of its own. */
static bool change_code(enum zs_timing_gain gain, const struct zs_timing_code *code,
                        struct zs_timing_code *ret)
{
    static const uint8_t kinds[ZS_TIMING_GAINS] = {[ZS_TIMING_GAIN_math] = ZS_TIMING_KIND_MATH,
                                                   [ZS_TIMING_GAIN_doubles] = ZS_TIMING_KIND_DOUBLE,
                                                   [ZS_TIMING_GAIN_wide_integers] =
                                                       ZS_TIMING_KIND_WIDE_INTEGER};
    size_t ops_B = (code->op_count + 1u) * sizeof(*code->ops), slots = count_slots(code);
    *ret = *code;
    ret->ops = aligned_alloc(_Alignof(struct zs_timing_op), ops_B);
    ret->slot_latency = calloc(slots + 1, 1);
    if (!ret->ops || !ret->slot_latency) {
        free(ret->ops);
        free(ret->slot_latency);
        return false;
    }
    memcpy(ret->ops, code->ops, ops_B);
    if (gain == ZS_TIMING_GAIN_narrow)
        widen(ret->ops, code->op_count);
    if (gain == ZS_TIMING_GAIN_reuse || gain == ZS_TIMING_GAIN_reuse_most)
        keep_chains(ret);
    if (saves_messages(gain))
        (void)save_addresses(gain, ret); /* no memory: they take what they took */
    if (gain == ZS_TIMING_GAIN_reuse_most)
        (void)save_sums(ret);
    /* several results at a time do not wait for each other */
    bool at_once = gain == ZS_TIMING_GAIN_dependencies || gain == ZS_TIMING_GAIN_reuse_most;
    if (!at_once && slots)
        memcpy(ret->slot_latency, code->slot_latency, slots);
    for (uint32_t i = 0; i < code->op_count; i++) {
        struct zs_timing_op *op = &ret->ops[i];
        if (at_once)
            memset(op->latency, 0, sizeof(op->latency));
        else if (gain == ZS_TIMING_GAIN_conversions && op->turns)
            op->unit = ZS_TIMING_UNIT_GONE;
        else if (!kinds[gain] || op->kind != kinds[gain])
            continue;
        else if (op->converts || gain == ZS_TIMING_GAIN_math)
            op->unit = ZS_TIMING_UNIT_GONE;
        else
            make_plain(code->params, op);
        if (op->kind == ZS_TIMING_KIND_WIDE_INTEGER && gain == ZS_TIMING_GAIN_wide_integers)
            forget_accumulators(ret, op);
    }
    return true;
}

static uint32_t lines_least(const struct zs_timing_request *r, uint32_t grf_B)
{
    enum { RESPONSE_UNIT_B = 32 };
    /* of what a store or an atomic sends, about half is addresses */
    uint32_t B = ZS_MAX(r->response_grf * RESPONSE_UNIT_B,
                        zs_timing_stores(r->event) ? r->payload_grf * grf_B / 2 : 0);
    return ZS_MAX((B + ZS_PORT_LINE_B - 1) / ZS_PORT_LINE_B, 1u);
}

/* Lines that are left out are those of others' turns: what lies in them is read once, too. Loads,
 * stores and second halves take turns by themselves: these touch other lines. Turns have no period
 * that several messages of a loop could have. Where nobody reads the rest of these lines (fields of
 * structures) there are as many fewer: who comes again finds what was left out in L1. */
static void leave_lines(const struct zs_timing_machine *m, struct zs_timing_thread *th,
                        struct zs_timing_request *r)
{
    enum { SPARSE = 8 }; /* dwords of a line */
    uint32_t least = lines_least(r, m->grf_B), parts = r->line_count / ZS_MAX(least, 1u);
    const struct zs_timing_op *op = &m->code->ops[th->inst];
    uint32_t *turn = &th->lines_turn[2 * (op->chan_offset != 0) + op->is_load];
    if (r->line_count <= least)
        return;
    if (op->is_load && m->dwords && __builtin_popcount(m->dwords[th->inst]) <= SPARSE)
        for (uint32_t i = 0; i < r->line_count; i++)
            zs_timing_hierarchy_keep(&m->hierarchy, r->subslice, r->lines[i]);
    r->lines += (*turn / least + *turn / r->line_count) % parts * least;
    *turn += least;
    r->line_count = least;
}

/* Of lanes, by as many cycles as local memory takes for them; of threads, by other lines. */
static void part_atomics(const struct zs_timing_machine *m, const struct zs_timing_thread *th,
                         struct zs_timing_request *r)
{
    enum { PLACES = 16 };
    bool local = (r->event >> ZS_TIMING_EVENT_SPACE & 7) == ZS_PORT_SPACE_SLM;
    uint32_t lanes = m->lanes, rest = r->event & ~(UINT32_C(255) << ZS_TIMING_EVENT_CYCLES);
    uint32_t cycles = local ? ZS_MAX(lanes / PLACES, 1u) : 1;
    r->event = rest | ZS_MIN(r->event >> ZS_TIMING_EVENT_CYCLES & 255, cycles)
                          << ZS_TIMING_EVENT_CYCLES;
    for (uint32_t i = 0; m->atomics_meet && i < r->line_count; i++)
        r->lines[i] ^= (th->group * m->threads_per_group + th->member) % PLACES;
}

void zs_timing_find_busiest(struct zs_timing_machine *m)
{
    enum { LANES = 32 };
    for (uint64_t i = 0; i < m->group_count * m->threads_per_group; i++) {
        struct zs_timing_group *g = &m->groups[i / m->threads_per_group];
        uint32_t member = (uint32_t)(i % m->threads_per_group), mask = 0;
        const struct zs_timing_stream *s = zs_timing_stream_of(m, i / m->threads_per_group, member);
        uint64_t done[LANES] = {0}, since = 0;
        uint64_t *most = &g->busiest_does;
        for (uint32_t at = 0, words; at <= s->count; at += words) {
            bool ends = at == s->count;
            uint32_t kind = ends ? (uint32_t)ZS_TIMING_WORD_MASK : s->words[at] >> 30;
            words = kind == ZS_TIMING_WORD_MESSAGE ? zs_timing_message_words(s->words + at) : 2;
            since += kind == ZS_TIMING_WORD_BLOCK ? s->words[at + 1] : 0;
            for (uint32_t left = kind == ZS_TIMING_WORD_MASK ? mask : 0; left; left &= left - 1)
                done[__builtin_ctz(left)] += since;
            since = kind == ZS_TIMING_WORD_MASK ? 0 : since;
            mask = kind == ZS_TIMING_WORD_MASK && !ends ? s->words[at + 1] : mask;
        }
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (done[lane] <= *most)
                continue;
            *most = done[lane];
            g->busiest = member;
            g->busiest_lane = lane;
        }
    }
}

uint32_t zs_timing_parts_saved(enum zs_timing_gain gain, const struct zs_timing_op *op)
{
    return gain == ZS_TIMING_GAIN_narrow       ? 1u << op->narrow
           : gain == ZS_TIMING_GAIN_local      ? 1u + op->is_local
           : gain == ZS_TIMING_GAIN_local_most ? 1u + 3u * op->is_local
           : !op->is_load                      ? 1
           : gain == ZS_TIMING_GAIN_reuse      ? 2
           : gain == ZS_TIMING_GAIN_reuse_most ? 4
                                               : 1;
}

bool zs_timing_change_message(const struct zs_timing_machine *m, struct zs_timing_thread *th,
                              struct zs_timing_request *r)
{
    enum zs_timing_gain gain = m->without;
    uint32_t space = r->event >> ZS_TIMING_EVENT_SPACE & 7;
    uint32_t cycles = r->event >> ZS_TIMING_EVENT_CYCLES & 255;
    uint32_t conflicts = r->event >> ZS_TIMING_EVENT_CONFLICTS & 255;
    uint32_t rest = r->event & ~(UINT32_C(255) << ZS_TIMING_EVENT_CYCLES);
    bool own = space == ZS_PORT_SPACE_SCRATCH ||
               (r->line_count && r->lines[0] >> ZS_TIMING_LINE_BITS == ZS_TIMING_RANGE_PRIVATE);
    if (gain == ZS_TIMING_GAIN_scratch)
        return !own;
    if (gain == ZS_TIMING_GAIN_scratch_local && own) {
        uint32_t bits =
            ~(UINT32_C(7) << ZS_TIMING_EVENT_SPACE | UINT32_C(255) << ZS_TIMING_EVENT_CONFLICTS);
        r->event = (rest & bits) | (uint32_t)ZS_PORT_SPACE_SLM << ZS_TIMING_EVENT_SPACE |
                   lines_least(r, m->grf_B) << ZS_TIMING_EVENT_CYCLES;
        r->line_count = 0;
    }
    if (gain == ZS_TIMING_GAIN_lines && space != ZS_PORT_SPACE_SLM && !own)
        leave_lines(m, th, r);
    else if (gain == ZS_TIMING_GAIN_conflicts && space == ZS_PORT_SPACE_SLM &&
             !(r->event & ZS_TIMING_EVENT_ATOMIC))
        r->event = (rest & ~(UINT32_C(255) << ZS_TIMING_EVENT_CONFLICTS)) |
                   (cycles > conflicts ? cycles - conflicts : 1) << ZS_TIMING_EVENT_CYCLES;
    else if (gain == ZS_TIMING_GAIN_atomics && r->event & ZS_TIMING_EVENT_ATOMIC)
        return cycles <= 1 && !m->atomics_meet;
    else if (gain == ZS_TIMING_GAIN_atomics_apart && r->event & ZS_TIMING_EVENT_ATOMIC)
        part_atomics(m, th, r);
    return true;
}

/* ---- what there is -----------------------------------------------------------------------------
 */

/* Whether instructions of the kind are a fiftieth of what is issued: a gain is no multiple of that.
 */
static bool has_kind(const struct zs_timing_code *code, const uint64_t *executions,
                     enum zs_timing_kind kind, bool turns)
{
    enum { LEAST = 50 };
    uint64_t of = 0, all = 0;
    for (uint32_t i = 0; i < code->op_count; i++) {
        uint64_t cycles = (executions ? executions[i] : 1) * ZS_MAX(code->ops[i].full_cycles, 1u);
        all += cycles;
        of += (turns ? code->ops[i].turns : code->ops[i].kind == kind) ? cycles : 0;
    }
    return of && of >= all / LEAST;
}

static bool has_halves(const struct zs_timing_code *code, const uint64_t *executions)
{
    for (uint32_t i = 0; i < code->op_count; i++)
        if (code->ops[i].second_half && (!executions || executions[i]))
            return true;
    return false;
}

static bool has_narrow(const struct zs_timing_code *code, const uint64_t *executions)
{
    for (uint32_t i = 0; i < code->op_count; i++)
        if (code->ops[i].narrow && (!executions || executions[i]))
            return true;
    return false;
}

/* Whether a tenth is: of fewer there is no finding. */
static bool has_lanes_off(const struct zs_timing_code *code, const uint64_t *executions,
                          const uint64_t *lanes)
{
    enum { LEAST = 10 };
    uint64_t off = 0, all = 0;
    for (uint32_t i = 0; i < code->op_count && executions && lanes; i++) {
        uint64_t could = executions[i] * (uint32_t)__builtin_popcount(code->ops[i].lane_mask);
        all += could;
        off += could > lanes[i] ? could - lanes[i] : 0;
    }
    return off && off >= all / LEAST;
}

/* Gains of less than a twentieth are nobody's finding: what took less is not replayed without it.
 */
static bool counts(uint64_t part, uint64_t all)
{
    enum { LEAST = 20 };
    return part && part >= all / LEAST;
}

/* What threads do, of all of their cycles. */
static uint64_t thread_cycles(const struct zs_gpu_timing *t)
{
    return t->thread_active + t->thread_control + t->thread_pipe + t->thread_send + t->thread_dist +
           t->thread_sbid + t->thread_sync + t->thread_other + t->thread_fetch;
}

static uint64_t without_threads(const struct zs_timing_trace *trace, const struct zs_gpu_timing *t)
{
    uint64_t loaded = t->eu_loaded / ZS_MAX(zs_gpu_model_eus(trace->launch.model), 1u);
    return t->cycles > loaded ? t->cycles - loaded : 0;
}

/* Whether loads touch many times the lines that their bytes fill. Then lines are what is asked for
 * again: what one lane keeps saves no other one's load. */
static bool loads_are_far_apart(const struct zs_timing_trace *trace)
{
    enum { MANY = 3 };
    const struct zs_timing_launch *l = &trace->launch;
    uint64_t touched = 0, least = 0;
    for (uint64_t i = 0; i < trace->sampled * l->threads_per_group; i++) {
        const struct zs_timing_stream *s = &trace->streams[i];
        for (uint32_t at = 0, words; at < s->count; at += words) {
            const uint32_t *from = s->words + at;
            bool message = from[0] >> 30 == ZS_TIMING_WORD_MESSAGE;
            words = message ? zs_timing_message_words(from) : 2;
            uint32_t inst = from[0] & 0xfffff, lines = message ? from[0] >> 20 & 1023 : 0;
            if (!lines || !l->code->ops[inst].is_load)
                continue;
            struct zs_timing_request r = {.response_grf = l->code->ops[inst].response_grf};
            touched += lines;
            least += lines_least(&r, l->model->grf_B);
        }
    }
    return touched >= MANY * least;
}

/* Whether the launch has what the gain is about, so much of it that it may count; t: what it did.
 */
static bool may_gain(enum zs_timing_gain gain, const struct zs_timing_trace *trace,
                     const uint64_t *executions, const uint64_t *lanes,
                     const struct zs_gpu_timing *t)
{
    enum { AGAIN = 6 }; /* times that a line is asked for: of fewer there is no finding */
    const struct zs_timing_code *code = trace->launch.code;
    uint64_t all = thread_cycles(t);
    bool waits = counts(t->thread_sbid + t->thread_send + t->thread_sync, all);
    switch (gain) {
    case ZS_TIMING_GAIN_misses:
        return waits && t->l3_misses;
    case ZS_TIMING_GAIN_latency:
        return counts(t->thread_sbid, all);
    case ZS_TIMING_GAIN_lines:
        return waits && (t->global_sectors || t->typed_sectors || t->sampler_sectors);
    case ZS_TIMING_GAIN_reuse:
    case ZS_TIMING_GAIN_reuse_most:
        return ZS_MAX(t->limit_port, t->limit_l3) >= t->cycles / 4 &&
               t->global_sectors > AGAIN * t->l3_misses && !loads_are_far_apart(trace);
    case ZS_TIMING_GAIN_narrow:
        return waits && has_narrow(code, executions);
    case ZS_TIMING_GAIN_local:
    case ZS_TIMING_GAIN_local_most:
        return t->limit_slm >= t->cycles / 2;
    case ZS_TIMING_GAIN_conflicts:
        return waits && t->slm_conflicts;
    case ZS_TIMING_GAIN_atomics:
    case ZS_TIMING_GAIN_atomics_apart:
        return waits && (t->limit_l3_atomics || t->limit_slm_atomics);
    case ZS_TIMING_GAIN_barriers:
        return trace->launch.has_barriers;
    case ZS_TIMING_GAIN_scratch:
    case ZS_TIMING_GAIN_scratch_local:
        return t->scratch_sectors || trace->launch.private_B;
    case ZS_TIMING_GAIN_math:
        return has_kind(code, executions, ZS_TIMING_KIND_MATH, false);
    case ZS_TIMING_GAIN_doubles:
        return has_kind(code, executions, ZS_TIMING_KIND_DOUBLE, false);
    case ZS_TIMING_GAIN_wide_integers:
        return has_kind(code, executions, ZS_TIMING_KIND_WIDE_INTEGER, false);
    case ZS_TIMING_GAIN_conversions:
        return has_kind(code, executions, ZS_TIMING_KIND_PLAIN, true);
    case ZS_TIMING_GAIN_dependencies:
        return counts(t->thread_dist, all);
    case ZS_TIMING_GAIN_fetch:
        return counts(t->thread_fetch, all);
    case ZS_TIMING_GAIN_halves:
        return waits && has_halves(code, executions);
    case ZS_TIMING_GAIN_room:
        return trace->launch.slm_B && trace->resident_groups < trace->launch.group_count;
    case ZS_TIMING_GAIN_dispatch:
        return counts(t->thread_other, all) || counts(without_threads(trace, t), t->cycles) ||
               t->limit_dispatch >= t->cycles / 4;
    case ZS_TIMING_GAIN_divergence:
        return has_lanes_off(code, executions, lanes);
    case ZS_TIMING_GAIN_idle:
    case ZS_TIMING_GAINS:
        break;
    }
    return false;
}

/* ---- launches alike ----------------------------------------------------------------------------
 * Programs launch a kernel again and again: of one that did just what another of them did, by all
 * that was counted, gains are the same.
 */

struct launched {
    uint64_t groups, lanes;
    uint32_t threads_per_group, slm_B, array_thread_B;
    struct zs_gpu_timing timing; /* without stalls */
};

enum { LAUNCHED_MOST = 4 };
struct zs_timing_known {
    pthread_mutex_t lock;
    uint32_t next; /* which gives way */
    struct {
        struct launched before;
        struct zs_gpu_timing with_gains;
    } launches[LAUNCHED_MOST];
};

struct zs_timing_known *zs_timing_known_create(void)
{
    struct zs_timing_known *known = calloc(1, sizeof(*known));
    if (known && pthread_mutex_init(&known->lock, NULL)) {
        free(known);
        return NULL;
    }
    return known;
}

void zs_timing_known_destroy(struct zs_timing_known *known)
{
    if (known)
        pthread_mutex_destroy(&known->lock);
    free(known);
}

static void describe(const struct zs_timing_trace *trace, const uint64_t *lanes,
                     const struct zs_gpu_timing *timing, struct launched *ret)
{
    const struct zs_timing_launch *l = &trace->launch;
    memset(ret, 0, sizeof(*ret)); /* it is compared as bytes */
    memcpy(&ret->timing, timing, sizeof(*timing));
    ret->timing.stalls = NULL;
    ret->groups = l->group_count;
    ret->threads_per_group = l->threads_per_group;
    ret->slm_B = l->slm_B;
    ret->array_thread_B = l->array_thread_B;
    for (uint32_t i = 0; i < l->code->op_count && lanes; i++)
        ret->lanes += lanes[i];
}

/* Whether gains of such a launch are known; then they are in *timing. */
static bool recall(struct zs_timing_known *known, const struct launched *launch,
                   struct zs_gpu_timing *timing)
{
    bool found = false;
    pthread_mutex_lock(&known->lock);
    for (uint32_t i = 0; i < LAUNCHED_MOST && !found; i++) {
        found = memcmp(&known->launches[i].before, launch, sizeof(*launch)) == 0;
        if (!found)
            continue;
        struct zs_gpu_stalls *stalls = timing->stalls;
        *timing = known->launches[i].with_gains;
        timing->stalls = stalls;
    }
    pthread_mutex_unlock(&known->lock);
    return found;
}

static void keep(struct zs_timing_known *known, const struct launched *launch,
                 const struct zs_gpu_timing *timing)
{
    pthread_mutex_lock(&known->lock);
    uint32_t i = known->next++ % LAUNCHED_MOST;
    memcpy(&known->launches[i].before, launch, sizeof(*launch));
    known->launches[i].with_gains = *timing;
    known->launches[i].with_gains.stalls = NULL;
    pthread_mutex_unlock(&known->lock);
}

/* ---- gains -------------------------------------------------------------------------------------
 */

static uint64_t idle(const struct zs_timing_trace *trace, const struct zs_gpu_timing *t)
{
    uint64_t before = trace->launch.params->launch_cycles, empty = without_threads(trace, t);
    return empty > before ? empty - before : 0;
}

/* Threads that work longer than others of their group hold it up without barriers, too. Where the
 * work is spread evenly each takes the mean; yet units have as much to do as before. */
static uint64_t balanced(const struct zs_timing_trace *trace, const struct zs_gpu_timing *t,
                         double balance)
{
    uint64_t before = trace->launch.params->launch_cycles;
    uint64_t busy = t->eu_active / ZS_MAX(zs_gpu_model_eus(trace->launch.model), 1u);
    const uint64_t units[] = {t->limit_dispatch, t->limit_port + t->limit_slm, t->limit_l3_bank,
                              t->limit_gti_read, t->limit_gti_write,           t->limit_memory};
    for (size_t i = 0; i < ZS_ARRAY_LEN(units); i++)
        busy = ZS_MAX(busy, units[i]);
    double spread = balance * (double)(t->cycles - ZS_MIN(before, t->cycles));
    return ZS_MIN(t->cycles, before + ZS_MAX((uint64_t)spread, busy));
}

/* 0, too, where it could not be found out: no memory. */
static uint64_t replayed_gain(enum zs_timing_gain gain, struct zs_timing_trace *trace,
                              uint64_t instructions, const uint64_t *executions, uint64_t cycles)
{
    const struct zs_timing_launch launch = trace->launch;
    const uint32_t resident_groups = trace->resident_groups;
    struct zs_timing_params params = *launch.params;
    struct zs_timing_code code = *launch.code;
    struct zs_gpu_timing without;
    bool recoded = gain == ZS_TIMING_GAIN_math || gain == ZS_TIMING_GAIN_doubles ||
                   gain == ZS_TIMING_GAIN_wide_integers || gain == ZS_TIMING_GAIN_conversions ||
                   gain == ZS_TIMING_GAIN_dependencies || saves_messages(gain);
    if (gain == ZS_TIMING_GAIN_dispatch)
        without_dispatch(&params);
    if (gain == ZS_TIMING_GAIN_room) {
        trace->launch.slm_B = 0;
        trace->resident_groups = zs_timing_resident_groups(&launch, 0);
    }
    if (gain == ZS_TIMING_GAIN_scratch_local) {
        uint64_t slm_B = launch.slm_B + (uint64_t)launch.array_thread_B * launch.threads_per_group;
        if (slm_B > launch.params->slm_B) /* it has no room */
            return 0;
        trace->launch.slm_B = (uint32_t)slm_B;
        trace->resident_groups = zs_timing_resident_groups(&launch, (uint32_t)slm_B);
    }
    if (recoded && !change_code(gain, launch.code, &code))
        return 0;
    code.params = &params;
    trace->launch.params = &params;
    trace->launch.code = &code;
    trace->launch.without = gain;
    double balance;
    int error = zs_timing_replay_once(trace, instructions, executions, &without, &balance);
    trace->launch = launch;
    trace->resident_groups = resident_groups;
    if (recoded) {
        free(code.ops);
        free(code.slot_latency);
    }
    free(error ? NULL : without.stalls);
    if (!error && gain == ZS_TIMING_GAIN_barriers)
        without.cycles = balanced(trace, &without, balance);
    return !error && without.cycles < cycles ? cycles - without.cycles : 0;
}

static void find_gains(struct zs_timing_trace *trace, uint64_t instructions,
                       const uint64_t *executions, const uint64_t *lanes,
                       struct zs_gpu_timing *timing)
{
    static const size_t at[ZS_TIMING_GAINS] = {
#define ZS_TIMING_GAIN(id, text) offsetof(struct zs_gpu_timing, gain_##id),
#include "gpu/timing/gain.def"
#undef ZS_TIMING_GAIN
    };
    uint16_t *dwords = trace->arenas[0].dwords;
    for (uint32_t w = 1; w < trace->launch.workers && dwords; w++)
        for (uint32_t i = 0; i < trace->launch.code->op_count && trace->arenas[w].dwords; i++)
            dwords[i] |= trace->arenas[w].dwords[i];
    trace->launch.atomics_meet =
        ZS_MAX(timing->limit_l3_atomics, timing->limit_slm_atomics) >= timing->cycles / 2;
    for (uint32_t g = 0; g < ZS_TIMING_GAINS; g++)
        if (may_gain((enum zs_timing_gain)g, trace, executions, lanes, timing))
            *zs_timing_total_at(timing, at[g]) = replayed_gain(
                (enum zs_timing_gain)g, trace, instructions, executions, timing->cycles);
    timing->gain_idle = idle(trace, timing);
}

void zs_timing_find_gains(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, const uint64_t *lanes,
                          struct zs_gpu_timing *timing)
{
    struct zs_timing_known *known = trace->launch.code->known;
    struct launched launch;
    describe(trace, lanes, timing, &launch);
    if (recall(known, &launch, timing))
        return;
    find_gains(trace, instructions, executions, lanes, timing);
    keep(known, &launch, timing);
}
