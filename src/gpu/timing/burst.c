/* SPDX-License-Identifier: MIT */
#include "gpu/timing/burst.h"

#include "base/hash.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of more states nothing is remembered: results are there then. */
enum { STATES_MOST = 1 << 15 };

/* ---- alone on an EU ----------------------------------------------------------------------------
 */

/* tallies NULL: nothing is counted. */
struct walk {
    struct zs_timing_bursts *b;
    struct zs_timing_burst *burst;
    uint32_t eligible; /* cycles from its beginning: the next instruction may go */
    uint64_t waits;
    struct zs_timing_tally *tallies;
    struct zs_gpu_timing *totals;
    uint64_t work, given; /* of all of it; excess that instructions up to here have */
};

static uint32_t latest(const struct zs_timing_bursts *b, const struct zs_timing_op *op)
{
    const uint16_t *slots = b->code->slots + op->slots;
    uint32_t ready = 0;
    for (uint32_t i = 0; i < op->dep_count; i++)
        ready = ZS_MAX(ready, b->ready[slots[i]]);
    return ready;
}

static void write_slots(struct zs_timing_bursts *b, const struct zs_timing_op *op, uint32_t cycle,
                        bool at_once, uint32_t dpas)
{
    /* the first ones' latencies stand in the instruction, which gains change */
    for (uint32_t i = 0; i < op->write_count; i++) {
        uint32_t at = op->slots + op->dep_count + i;
        uint32_t latency = i < ZS_TIMING_WRITES_NEAR ? op->latency[i] : b->code->slot_latency[at];
        b->ready[b->code->slots[at]] = (cycle + (at_once ? 0 : latency)) << 1 | dpas;
    }
}

static uint32_t cycles_of(const struct zs_timing_op *op, uint32_t mask)
{
    if ((mask & op->lane_mask) == op->lane_mask)
        return op->full_cycles;
    uint32_t lanes = mask >> op->chan_offset;
    for (uint32_t shift = 1; shift < op->chunk_lanes; shift *= 2)
        lanes |= lanes >> shift; /* the first lane of a chunk stands for all of them */
    uint32_t chunks = (uint32_t)__builtin_popcount(lanes & op->chunk_first);
    return ZS_MAX(chunks * op->chunk_cycles, (uint32_t)op->least); /* those without are skipped */
}

static void charge(struct walk *w, uint32_t inst, enum zs_timing_reason reason, uint64_t cycles)
{
    if (w->tallies)
        w->tallies[inst].stalls[reason] += w->burst->count * cycles;
}

/* Until the results that it needs are there. */
static void await(struct walk *w, uint32_t inst)
{
    uint32_t dep = latest(w->b, &w->b->code->ops[inst]);
    if (dep >> 1 <= w->eligible)
        return;
    charge(w, inst, dep & 1 ? ZS_TIMING_SBID : ZS_TIMING_DIST, (dep >> 1) - w->eligible);
    w->eligible = dep >> 1;
}

static void count_total(struct walk *w, const struct zs_timing_op *op, uint32_t cycles)
{
    uint64_t all = w->burst->count * cycles;
    bool either = op->unit == ZS_TIMING_UNIT_FPU;
    uint32_t pipe = op->unit == ZS_TIMING_UNIT_FPU1;
    *zs_timing_total_at(w->totals, op->totals[pipe]) += either ? all - all / 2 : all;
    if (either)
        *zs_timing_total_at(w->totals, op->totals[1]) += all / 2;
}

/* Of what the burst waited for others, in the order of its instructions, as much as is due. */
static void share_excess(struct walk *w, uint32_t inst, uint32_t cycles)
{
    const struct zs_timing_burst *u = w->burst;
    uint64_t all = u->work[0] + u->work[1] + u->work[2] + u->work[3];
    w->work += cycles;
    uint64_t due = (uint64_t)((__uint128_t)u->excess * w->work / ZS_MAX(all, UINT64_C(1)));
    w->tallies[inst].stalls[ZS_TIMING_PIPE] += due - w->given;
    w->given = due;
}

static void issue(struct walk *w, uint32_t inst)
{
    const struct zs_timing_params *p = w->b->code->params;
    const struct zs_timing_op *op = &w->b->code->ops[inst];
    struct zs_timing_burst *u = w->burst;
    uint32_t cycles = op->full_cycles, at = w->eligible, active = 1;
    if (op->unit == ZS_TIMING_UNIT_GONE) { /* what it makes of a result is there with that */
        write_slots(w->b, op, ZS_MAX(at, latest(w->b, op) >> 1), true, 0);
        if (w->tallies)
            w->tallies[inst].issues += u->count;
        return;
    }
    if (op->unit == ZS_TIMING_UNIT_CONTROL) {
        active = ZS_MIN(p->send_front, p->control_front);
        w->eligible += p->control_front;
        u->work[ZS_TIMING_WORK_CONTROL] += w->tallies ? 0 : active;
        charge(w, inst, ZS_TIMING_CONTROL, p->control_front - active);
        if (w->tallies)
            w->totals->control_issued += u->count;
    } else if (op->unit == ZS_TIMING_UNIT_DPAS) {
        uint32_t *free_at = &w->b->ready[w->b->code->slot_count];
        at = ZS_MAX(at, *free_at >> 1);
        charge(w, inst, ZS_TIMING_PIPE, at - w->eligible);
        *free_at = (at + cycles) << 1;
        w->eligible = at + 1;
        write_slots(w->b, op, at, false, 1);
        u->work[ZS_TIMING_WORK_DPAS] += w->tallies ? 0 : cycles;
        if (w->tallies)
            *zs_timing_total_at(w->totals, op->totals[0]) += u->count * cycles;
    } else {
        cycles = cycles_of(op, u->mask);
        active = cycles > op->ahead ? cycles - op->ahead : 1;
        w->eligible = at + active;
        write_slots(w->b, op, at, false, 0);
        u->work[op->unit] += w->tallies ? 0 : cycles;
        if (w->tallies)
            count_total(w, op, cycles);
    }
    charge(w, inst, ZS_TIMING_ACTIVE, active);
    if (!w->tallies)
        return;
    w->tallies[inst].issues += u->count;
    if (op->unit != ZS_TIMING_UNIT_CONTROL)
        share_excess(w, inst, cycles);
}

_Static_assert((int)ZS_TIMING_UNIT_FPU == (int)ZS_TIMING_WORK_EITHER &&
                   (int)ZS_TIMING_UNIT_FPU0 == (int)ZS_TIMING_WORK_FPU0 &&
                   (int)ZS_TIMING_UNIT_FPU1 == (int)ZS_TIMING_WORK_FPU1,
               "the pipe's work");

static void walk_burst(struct walk *w)
{
    struct zs_timing_bursts *b = w->b;
    const struct zs_timing_burst *u = w->burst;
    const struct zs_timing_state *s = &b->states[u->state];
    uint32_t stop = u->stop & ~(uint32_t)ZS_TIMING_BURST_EVENT;
    memset(b->ready, 0, (b->code->slot_count + 1u) * sizeof(*b->ready));
    for (uint32_t i = 0; i < s->count; i++)
        b->ready[b->pending[s->first + i].slot] = b->pending[s->first + i].ready;
    for (uint32_t i = u->inst; i < stop; i++) {
        if (b->code->ops[i].unit != ZS_TIMING_UNIT_GONE)
            await(w, i);
        w->waits |= b->code->waits[i];
        issue(w, i);
    }
    if (stop == u->stop)
        return;
    await(w, stop);
}

void zs_timing_bursts_settle(struct zs_timing_bursts *b, struct zs_timing_tally *tallies,
                             struct zs_gpu_timing *totals)
{
    for (size_t i = 0; i < b->count; i++) {
        struct zs_timing_burst *u = &b->items[i];
        struct walk w = {.b = b, .burst = u, .tallies = tallies, .totals = totals};
        if (!u->count)
            continue;
        walk_burst(&w);
        if (u->excess > w.given) /* nothing of it works */
            tallies[ZS_MIN(u->inst, b->code->op_count - 1)].stalls[ZS_TIMING_PIPE] +=
                u->excess - w.given;
        u->count = u->excess = 0;
    }
}

/* ---- states ------------------------------------------------------------------------------------
 */

static uint64_t hash_of_pending(const struct zs_timing_pending *pending, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = zs_hash_u64(hash, (uint64_t)pending[i].slot << 16 | pending[i].ready);
    return hash;
}

static uint64_t hash_of_state(const void *items, size_t i)
{
    const struct zs_timing_bursts *b = items;
    return hash_of_pending(b->pending + b->states[i].first, b->states[i].count);
}

/* The one whose results are those behind b->pending_count. */
static uint32_t find_state(struct zs_timing_bursts *b, uint32_t count)
{
    const struct zs_timing_pending *wanted = b->pending + b->pending_count;
    if (!zs_index_reserve(&b->state_index, b->state_count, hash_of_state, b))
        return ZS_TIMING_STATE_NONE;
    uint32_t *slot = zs_index_first(&b->state_index, hash_of_pending(wanted, count));
    for (; *slot; slot = zs_index_next(&b->state_index, slot)) {
        const struct zs_timing_state *s = &b->states[*slot - 1];
        if (s->count == count &&
            memcmp(b->pending + s->first, wanted, count * sizeof(*wanted)) == 0)
            return *slot - 1;
    }
    struct zs_timing_state state = {(uint32_t)b->pending_count, count};
    if (b->state_count >= STATES_MOST)
        return ZS_TIMING_STATE_NONE;
    if (b->state_count == b->state_capacity) {
        size_t wider = 2 * b->state_capacity + 64;
        struct zs_timing_state *states = realloc(b->states, wider * sizeof(*states));
        if (!states)
            return ZS_TIMING_STATE_NONE;
        b->states = states;
        b->state_capacity = wider;
    }
    b->states[b->state_count++] = state;
    b->pending_count += count;
    *slot = (uint32_t)b->state_count;
    return *slot - 1;
}

/* What is still on its way at `cycle`. */
static uint32_t state_at(struct zs_timing_bursts *b, uint32_t cycle)
{
    size_t slots = b->code->slot_count + 1u;
    if (b->pending_capacity - b->pending_count < slots) {
        size_t wanted = 2 * b->pending_capacity + slots;
        struct zs_timing_pending *pending = realloc(b->pending, wanted * sizeof(*pending));
        if (!pending)
            return ZS_TIMING_STATE_NONE;
        b->pending = pending;
        b->pending_capacity = wanted;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots; i++) {
        if (b->ready[i] >> 1 <= cycle)
            continue;
        uint32_t left = ZS_MIN(b->ready[i] - (cycle << 1), (uint32_t)UINT16_MAX);
        b->pending[b->pending_count + count++] =
            (struct zs_timing_pending){(uint16_t)i, (uint16_t)left};
    }
    return find_state(b, count);
}

/* ---- bursts ------------------------------------------------------------------------------------
 */

static uint64_t hash_of_burst(const void *items, size_t i)
{
    const struct zs_timing_burst *u = &((const struct zs_timing_burst *)items)[i];
    uint64_t place = (uint64_t)u->stop << 32 | u->inst, lanes = (uint64_t)u->mask << 32 | u->state;
    return zs_hash_u64(zs_hash_u64(0, place), lanes);
}

static bool is_same(const struct zs_timing_burst *a, const struct zs_timing_burst *b)
{
    return a->state == b->state && a->inst == b->inst && a->stop == b->stop && a->mask == b->mask;
}

static void compute(struct zs_timing_bursts *b, struct zs_timing_burst *u)
{
    struct walk w = {.b = b, .burst = u};
    walk_burst(&w);
    u->waits = w.waits;
    u->cycles = w.eligible;
    uint32_t front = u->stop & ZS_TIMING_BURST_EVENT ? b->code->params->send_front : 0;
    u->next_state = state_at(b, w.eligible + front);
}

static __attribute__((noinline)) uint32_t find_anew(struct zs_timing_bursts *b,
                                                    const struct zs_timing_burst *wanted)
{
    if (!zs_index_reserve(&b->index, b->count, hash_of_burst, b->items))
        return UINT32_MAX;
    const struct zs_timing_burst *items = b->items;
    uint32_t *slot = zs_index_first(&b->index, hash_of_burst(wanted, 0));
    for (; *slot; slot = zs_index_next(&b->index, slot))
        if (is_same(&items[*slot - 1], wanted))
            return *slot - 1;
    struct zs_timing_burst burst = *wanted;
    compute(b, &burst);
    if (!ZS_VEC_PUSH(b, burst))
        return UINT32_MAX;
    *slot = (uint32_t)b->count;
    return *slot - 1;
}

/* All lanes of a chunk with one: they cost the same. */
static uint32_t in_chunks(uint32_t mask, uint32_t lanes)
{
    static const uint32_t first[] = {0xffffffff, 0x55555555, 0x11111111,
                                     0x01010101, 0x00010001, 0x00000001};
    for (uint32_t shift = 1; shift < lanes; shift *= 2)
        mask |= mask >> shift;
    mask &= first[__builtin_ctz(lanes)];
    for (uint32_t shift = 1; shift < lanes; shift *= 2)
        mask |= mask << shift;
    return mask;
}

static __attribute__((noinline)) uint32_t find_behind(struct zs_timing_bursts *b, uint32_t last,
                                                      const struct zs_timing_burst *asked)
{
    struct zs_timing_burst wanted = *asked;
    if (wanted.mask != UINT32_MAX)
        wanted.mask = in_chunks(wanted.mask, b->code->grain[wanted.inst]);
    uint32_t found = find_anew(b, &wanted);
    if (last < b->count) {
        struct zs_timing_burst *u = &b->items[last];
        u->follower[1] = u->follower[0];
        u->follower_mask[1] = u->follower_mask[0];
        u->follower[0] = found;
        u->follower_mask[0] = asked->mask;
    }
    return found;
}

uint32_t zs_timing_burst_find(struct zs_timing_bursts *b, uint32_t last, uint32_t state,
                              uint32_t inst, uint32_t stop, bool event, uint32_t mask)
{
    const struct zs_timing_burst asked = {.state = state,
                                          .inst = inst,
                                          .stop = stop | (event ? ZS_TIMING_BURST_EVENT : 0),
                                          .mask = mask};
    for (uint32_t i = 0; i < ZS_TIMING_FOLLOWERS && last < b->count; i++) {
        const struct zs_timing_burst *u = &b->items[last];
        const struct zs_timing_burst *next = &b->items[u->follower[i]];
        if (u->follower_mask[i] == mask && next->state == state && next->inst == inst &&
            next->stop == asked.stop)
            return u->follower[i];
    }
    return find_behind(b, last, &asked);
}

int zs_timing_bursts_init(struct zs_timing_bursts *b, const struct zs_timing_code *code)
{
    *b = (struct zs_timing_bursts){.code = code};
    b->ready = calloc(code->slot_count + 1u, sizeof(*b->ready));
    if (!b->ready)
        return -ENOMEM;
    (void)state_at(b, 0); /* nothing is on its way */
    return b->state_count ? 0 : -ENOMEM;
}

void zs_timing_bursts_fini(struct zs_timing_bursts *b)
{
    free(b->items);
    free(b->states);
    free(b->pending);
    free(b->ready);
    zs_index_fini(&b->index);
    zs_index_fini(&b->state_index);
}
