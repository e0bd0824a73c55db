/* SPDX-License-Identifier: MIT */
/*
 * Replay: recorded groups run on a model of the device.
 *
 * The walker gives groups in their order to the subslice with the most room, their threads to the
 * EUs with the most free slots. An EU issues, from the threads whose operands are ready, the one
 * that could go first, of equals the one that issued longest ago. Its own pipes are nobody else's,
 * so it runs ahead until it comes to something that others see: a message, a barrier, the end of a
 * thread. These happen in the order of time over all EUs, of equals in the order of EUs. So one
 * launch has one order of events, which its streams and the device's parameters decide.
 *
 * Of long launches phases are replayed. Between them all threads go on without time (forward.c),
 * and what a phase counted stands for what lies around it, too (estimate.c).
 */
#include "gpu/timing/replay.h"

#include <string.h>

/* ---- accounts ----------------------------------------------------------------------------------
 */

static void charge(struct zs_timing_machine *m, uint32_t inst, enum zs_timing_reason reason,
                   uint64_t cycles)
{
    m->tallies[inst].stalls[reason] += cycles;
}

/* Without a branch, as what follows: what threads do next hosts cannot guess. */
static inline uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline void be_active(struct zs_gpu_timing *totals, struct zs_timing_eu *eu, uint64_t at,
                             uint64_t end)
{
    uint64_t busy_until = eu->busy_until;
    totals->eu_active += less(end, ZS_MAX(at, busy_until));
    eu->busy_until = ZS_MAX(end, busy_until);
}

/* The pipe of messages, or of systolic multiplications, works from `at` on; issues of an EU come in
 * the order of time. */
static void occupy(struct zs_timing_machine *m, struct zs_timing_eu *eu, enum zs_timing_unit unit,
                   uint64_t at, uint64_t cycles)
{
    *(unit == ZS_TIMING_UNIT_DPAS ? &m->totals->xmx_active : &m->totals->send_active) += cycles;
    eu->unit_free[unit] = (at + cycles) << ZS_TIMING_ORDER_BITS;
    be_active(m->totals, eu, at, at + cycles);
}

/* pipe: 0 or 1 */
static inline void occupy_fpu(struct zs_gpu_timing *totals, struct zs_timing_eu *eu, uint32_t pipe,
                              uint64_t at, uint64_t cycles)
{
    uint64_t *unit = eu->unit_free, other_key = unit[ZS_TIMING_UNIT_FPU0 + (pipe ^ 1)];
    uint64_t end = at + cycles, key = end << ZS_TIMING_ORDER_BITS;
    totals->fpu_both_active += less(ZS_MIN(other_key >> ZS_TIMING_ORDER_BITS, end), at);
    unit[ZS_TIMING_UNIT_FPU0 + pipe] = key;
    unit[ZS_TIMING_UNIT_FPU] = ZS_MIN(key, other_key);
    be_active(totals, eu, at, end);
}

/* ---- the next instruction ----------------------------------------------------------------------
 */

/* The latest of the registers that it reads and writes. */
static inline uint64_t latest(const struct zs_timing_code *code, const struct zs_timing_thread *th,
                              const struct zs_timing_op *op)
{
    const uint16_t *slot = op->deps;
    const uint32_t *ready = th->ready;
    uint32_t dep =
        ZS_MAX(ZS_MAX(ready[slot[0]], ready[slot[1]]), ZS_MAX(ready[slot[4]], ready[slot[5]]));
    uint32_t other =
        ZS_MAX(ZS_MAX(ready[slot[2]], ready[slot[3]]), ZS_MAX(ready[slot[6]], ready[slot[7]]));
    _Static_assert(ZS_TIMING_DEPS_NEAR == 8, "all of them");
    for (uint32_t i = ZS_TIMING_DEPS_NEAR; ZS_UNLIKELY(i < op->dep_count); i++)
        dep = ZS_MAX(dep, ready[code->slots[op->slots + i]]);
    return ZS_MAX(dep, other);
}

static inline void set_next(struct zs_timing_slot *slot, uint32_t unit, uint64_t cycle)
{
    cycle = ZS_MIN(cycle, (uint64_t)ZS_TIMING_NEVER - 1);
    slot->unit = unit;
    slot->key = cycle << ZS_TIMING_ORDER_BITS | slot->order;
}

static bool is_never(const struct zs_timing_slot *slot)
{
    return slot->key >> ZS_TIMING_ORDER_BITS == ZS_TIMING_NEVER;
}

void zs_timing_prepare(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    uint32_t arrived = th->arrived;
    th->dep = th->start;
    th->start = 0;
    bool more = th->inst < th->inst_end || zs_timing_advance(m, th);
    if (th->arrived > arrived) /* in what was left out */
        zs_timing_release(m, &m->groups[th->group], m->now);
    if (!more) {
        set_next(th->slot, ZS_TIMING_UNIT_END, ZS_MAX(th->eligible, th->dep >> 2));
        return;
    }
    const struct zs_timing_op *op = &m->code->ops[th->inst];
    const struct zs_timing_group *g = &m->groups[th->group];
    bool waits = op->unit == ZS_TIMING_UNIT_WAIT && th->passed < th->arrived &&
                 m->without != ZS_TIMING_GAIN_barriers;
    th->dep = ZS_MAX(th->dep, latest(m->code, th, op));
    if (waits)
        th->dep = ZS_MAX(th->dep, g->release_cycle << 2 | ZS_TIMING_READY_SYNC);
    set_next(th->slot, op->unit, ZS_MAX(th->eligible, th->dep >> 2));
    if (waits && th->passed >= g->released)
        zs_timing_set_never(th->slot);
}

/* ---- barriers ----------------------------------------------------------------------------------
 */

/* key: UINT64_MAX: never */
static inline void set_key(struct zs_timing_machine *m, uint32_t eu, uint64_t key)
{
    uint32_t subslice = m->eus[eu].subslice, count = m->eus_per_subslice;
    const uint64_t *keys = m->keys + (size_t)subslice * count;
    uint64_t least = UINT64_MAX;
    m->keys[eu] = key;
    for (uint32_t i = 0; i < count; i++)
        least = ZS_MIN(least, keys[i]);
    m->least[subslice] = least;
}

static inline uint64_t key_of(uint32_t eu, uint64_t cycle)
{
    return cycle << ZS_TIMING_EU_BITS | eu;
}

void zs_timing_wake(struct zs_timing_machine *m, uint32_t eu, uint64_t cycle)
{
    uint64_t key = key_of(eu, cycle);
    if (key < m->keys[eu])
        set_key(m, eu, key);
}

/* Lets threads go on that wait at barriers which all threads of the group have reached or ended
 * before. */
void zs_timing_release(struct zs_timing_machine *m, struct zs_timing_group *g, uint64_t cycle)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < m->threads_per_group; i++) {
        const struct zs_timing_thread *th = g->threads[i];
        least = th ? ZS_MIN(least, th->arrived) : least;
    }
    if (least <= g->released)
        return;
    g->released = least;
    m->releases++;
    m->window_end = m->by_round ? 0 : m->window_end;
    g->release_cycle = cycle + m->params->barrier_latency;
    for (uint32_t i = 0; i < m->threads_per_group; i++) {
        struct zs_timing_thread *th = g->threads[i];
        if (!th || !is_never(th->slot) || th->passed >= g->released)
            continue;
        zs_timing_prepare(m, th);
        zs_timing_wake(m, th->eu, g->release_cycle);
    }
}

/* ---- issue -------------------------------------------------------------------------------------
 */

static inline uint32_t cycles_of(const struct zs_timing_op *op, uint32_t mask)
{
    if ((mask & op->lane_mask) == op->lane_mask)
        return op->full_cycles;
    uint32_t lanes = mask >> op->chan_offset;
    for (uint32_t shift = 1; shift < op->chunk_lanes; shift *= 2)
        lanes |= lanes >> shift; /* the first lane of a chunk stands for all of them */
    uint32_t chunks = (uint32_t)__builtin_popcount(lanes & op->chunk_first);
    return ZS_MAX(chunks * op->chunk_cycles, (uint32_t)op->least); /* those without are skipped */
}

/* Ready at the same time, or each so long after it. */
static inline __attribute__((always_inline)) void
write_slots(const struct zs_timing_code *code, const struct zs_timing_thread *th,
            const struct zs_timing_op *op, uint64_t cycle, uint32_t kind, bool fixed)
{
    uint32_t *ready = th->ready, first = (uint32_t)cycle << 2 | kind;
    _Static_assert(ZS_TIMING_WRITES_NEAR == 2, "all of them");
    ready[op->writes[0]] = first + (fixed ? 0u : (uint32_t)op->latency[0] << 2);
    ready[op->writes[1]] = first + (fixed ? 0u : (uint32_t)op->latency[1] << 2);
    for (uint32_t i = ZS_TIMING_WRITES_NEAR; ZS_UNLIKELY(i < op->write_count); i++) {
        uint32_t at = op->slots + op->dep_count + i;
        ready[code->slots[at]] = first + (fixed ? 0u : (uint32_t)code->slot_latency[at] << 2);
    }
}

/* Rows go through one by one; who needs the result waits for a token, as of a message. */
static void issue_dpas(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                       struct zs_timing_thread *th, const struct zs_timing_op *op, uint64_t at)
{
    uint64_t fpu0_until = eu->unit_free[ZS_TIMING_UNIT_FPU0] >> ZS_TIMING_ORDER_BITS;
    occupy(m, eu, ZS_TIMING_UNIT_DPAS, at, op->full_cycles);
    *zs_timing_total_at(m->totals, op->totals[0]) += op->full_cycles;
    m->totals->fpu0_xmx_active += less(ZS_MIN(fpu0_until, at + op->full_cycles), at);
    charge(m, th->inst, ZS_TIMING_ACTIVE, 1);
    th->eligible = at + 1;
    write_slots(m->code, th, op, at, ZS_TIMING_READY_SEND, false);
}

static void issue_control(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                          struct zs_timing_thread *th, uint64_t at, uint32_t front)
{
    uint32_t least = m->params->send_front;
    be_active(m->totals, eu, at, at + least);
    charge(m, th->inst, ZS_TIMING_ACTIVE, least);
    charge(m, th->inst, ZS_TIMING_CONTROL, front - least);
    th->eligible = at + front;
}

static void issue_send(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                       struct zs_timing_thread *th, const struct zs_timing_op *op, uint64_t at)
{
    uint32_t front = m->params->send_front;
    uint32_t cycles = ZS_MAX(op->payload_grf, front);
    occupy(m, eu, ZS_TIMING_UNIT_SEND, at, cycles);
    charge(m, th->inst, ZS_TIMING_ACTIVE, front);
    th->eligible = at + front;
    const uint32_t *words = zs_timing_next_message(th);
    if (!words)
        return; /* no lane took part, or the end of the thread */
    uint64_t lines[ZS_PORT_FOOTPRINT_LINES];
    struct zs_timing_request r = {.subslice = eu->subslice,
                                  .run = th->run,
                                  .step = th->step,
                                  .event = words[1],
                                  .lines = lines,
                                  .line_count = zs_timing_read_lines(th, words, lines),
                                  .payload_grf = op->payload_grf,
                                  .response_grf = op->response_grf,
                                  .accesses = m->accesses + (size_t)th->inst * ZS_GPU_ACCESSES};
    if (ZS_UNLIKELY(m->without != ZS_TIMING_GAINS) &&
        !zs_timing_change_message(m->without, m->grf_B, &r))
        return;
    m->stores[th->inst] = zs_timing_stores(words[1]);
    uint64_t done = zs_timing_hierarchy_send(&m->hierarchy, &r, at);
    uint64_t accepts = zs_timing_hierarchy_accepts(&m->hierarchy, &r);
    bool fence = r.event & ZS_TIMING_EVENT_FENCE;
    m->drained = ZS_MAX(m->drained, done);
    if (m->without == ZS_TIMING_GAIN_latency && !fence)
        done = ZS_MIN(done, at + front);
    if (accepts > th->eligible) {
        charge(m, th->inst, ZS_TIMING_SEND, accepts - th->eligible);
        th->eligible = accepts;
    }
    write_slots(m->code, th, op, done, fence ? ZS_TIMING_READY_SYNC : ZS_TIMING_READY_SEND, true);
    if (r.event & ZS_TIMING_EVENT_BARRIER) {
        th->arrived++;
        zs_timing_release(m, &m->groups[th->group], at);
    }
}

/* What a thread has waited for since its last instruction, until `at`; `busy` when it could have
 * gone. */
static inline void account(const struct zs_timing_thread *th, struct zs_timing_tally *tally,
                           uint64_t at, enum zs_timing_reason busy)
{
    _Static_assert((int)ZS_TIMING_DIST + ZS_TIMING_READY_SEND == (int)ZS_TIMING_SBID &&
                       (int)ZS_TIMING_DIST + ZS_TIMING_READY_SYNC == (int)ZS_TIMING_SYNC &&
                       (int)ZS_TIMING_DIST + ZS_TIMING_READY_START == (int)ZS_TIMING_OTHER,
                   "what is waited for, in the order of reasons");
    uint64_t ready = ZS_MIN(ZS_MAX(th->dep >> 2, th->eligible), at);
    tally->stalls[ZS_TIMING_DIST + (th->dep & 3)] += ready - th->eligible;
    tally->stalls[busy] += at - ready;
}

static enum zs_timing_reason busy_with(enum zs_timing_unit unit)
{
    return unit == ZS_TIMING_UNIT_SEND ? ZS_TIMING_SEND : ZS_TIMING_PIPE;
}

/* The number of its last issue, and its place. */
static inline void set_order(struct zs_timing_slot *slot, uint64_t issues)
{
    uint32_t order = (uint32_t)issues << ZS_TIMING_SLOT_BITS | (slot->order & 15);
    slot->order = order & ((1u << ZS_TIMING_ORDER_BITS) - 1);
}

/* An instruction that others see, of a branch or of the systolic pipe. */
static __attribute__((noinline)) void issue_other(struct zs_timing_machine *m,
                                                  struct zs_timing_eu *eu,
                                                  struct zs_timing_thread *th, uint64_t at)
{
    const struct zs_timing_op *op = &m->code->ops[th->inst];
    struct zs_timing_tally *tally = &m->tallies[th->inst];
    account(th, tally, at, busy_with(op->unit));
    set_order(th->slot, ++m->issues);
    m->now = ZS_MAX(m->now, at);
    if (op->unit == ZS_TIMING_UNIT_SEND) {
        issue_send(m, eu, th, op, at);
    } else if (op->unit == ZS_TIMING_UNIT_DPAS) {
        issue_dpas(m, eu, th, op, at);
    } else if (op->unit == ZS_TIMING_UNIT_WAIT) {
        th->passed += th->passed < th->arrived;
        issue_control(m, eu, th, at, m->params->send_front);
    } else {
        m->totals->control_issued++;
        issue_control(m, eu, th, at, m->params->control_front);
    }
    tally->issues++;
    tally->cost += th->eligible - th->since;
    th->since = th->eligible;
    th->inst++;
    zs_timing_prepare(m, th);
}

/* A phase ends: what was begun belongs to it up to now. */
void zs_timing_settle(struct zs_timing_machine *m)
{
    struct zs_gpu_timing *t = m->totals;
    uint64_t now = m->frontier;
    t->fpu0_active = t->fpu0_move + t->fpu0_binary + t->fpu0_ternary + t->half_active +
                     t->single_active + t->double_active;
    t->fpu1_active = t->fpu1_move + t->fpu1_binary + t->fpu1_ternary + t->int16_active +
                     t->int32_active + t->int64_active + t->math_active;
    for (uint32_t i = 0; i < m->eu_count; i++) {
        struct zs_timing_eu *eu = &m->eus[i];
        if (eu->live && eu->loaded_since < now) {
            m->totals->eu_loaded += now - eu->loaded_since;
            eu->loaded_since = now;
        }
        for (uint32_t left = eu->live; left; left &= left - 1) {
            struct zs_timing_thread *th = zs_timing_thread_at(m, i, (uint32_t)__builtin_ctz(left));
            if (th->eligible >= now || th->slot->unit == ZS_TIMING_UNIT_END)
                continue;
            if (is_never(th->slot))
                charge(m, th->inst, ZS_TIMING_SYNC, now - th->eligible);
            else
                account(th, &m->tallies[th->inst], now, busy_with(th->slot->unit));
            th->eligible = now;
        }
    }
}

/* ---- one EU ------------------------------------------------------------------------------------
 */

/* When the next instruction of an EU's `count` threads is issued, and whose: as a slot's key. */
static inline uint64_t pick(const struct zs_timing_slot *slots, uint32_t count,
                            const uint64_t *unit_free)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) { /* time, then who waits longest */
        uint64_t key = ZS_MAX(slots[i].key, unit_free[slots[i].unit] | slots[i].order);
        best = ZS_MIN(best, key);
    }
    return best;
}

/* One for a pipe of arithmetic, which nobody else sees: most are. m->now and m->issues are the
 * caller's affair. False: the next one is not behind it. */
static inline __attribute__((always_inline)) bool
issue_pipe(const struct zs_timing_code *code, struct zs_gpu_timing *totals, struct zs_timing_eu *eu,
           struct zs_timing_thread *th, struct zs_timing_slot *slot, struct zs_timing_tally *tally,
           uint64_t at, bool has_xmx)
{
    const struct zs_timing_op *op = &code->ops[th->inst], *next = op + 1;
    const uint64_t *free_at = eu->unit_free;
    uint32_t cycles = cycles_of(op, th->mask);
    uint32_t freer = free_at[ZS_TIMING_UNIT_FPU1] < free_at[ZS_TIMING_UNIT_FPU0];
    uint32_t pipe = op->unit == ZS_TIMING_UNIT_FPU ? freer : op->unit - 1u;
    _Static_assert(ZS_TIMING_UNIT_FPU0 == 1 && ZS_TIMING_UNIT_FPU1 == 2, "the pipe's number");
    account(th, tally, at, ZS_TIMING_PIPE);
    *zs_timing_total_at(totals, op->totals[pipe]) += cycles;
    occupy_fpu(totals, eu, pipe, at, cycles);
    if (has_xmx && pipe == 0)
        totals->fpu0_xmx_active +=
            less(ZS_MIN(free_at[ZS_TIMING_UNIT_DPAS] >> ZS_TIMING_ORDER_BITS, at + cycles), at);
    uint64_t front = cycles > op->ahead ? cycles - op->ahead : 1, eligible = at + front;
    tally->stalls[ZS_TIMING_ACTIVE] += front;
    tally->issues++;
    tally->cost += eligible - th->since;
    th->since = th->eligible = eligible;
    write_slots(code, th, op, at, ZS_TIMING_READY_PIPE, false);
    if (++th->inst >= th->inst_end || next->unit == ZS_TIMING_UNIT_WAIT)
        return false;
    th->dep = latest(code, th, next);
    set_next(slot, next->unit, ZS_MAX(eligible, th->dep >> 2));
    return true;
}

/* Until the EU comes to something that others see and that happens later than `until`, or that
 * others may change: when a barrier lets threads go it takes a while until they can. */
static inline void run_threads(struct zs_timing_machine *m, uint32_t number, uint64_t until,
                               uint32_t count, bool has_xmx)
{
    struct zs_timing_eu *eu = &m->eus[number];
    struct zs_timing_slot *slots = m->slots + (size_t)number * m->threads_per_eu;
    struct zs_timing_thread *threads = m->threads + (size_t)number * m->threads_per_eu;
    const struct zs_timing_code *code = m->code;
    struct zs_gpu_timing *totals = m->totals;
    struct zs_timing_tally *tallies = m->tallies;
    uint64_t last = until + m->params->barrier_latency, issues = m->issues, now = m->now;
    uint64_t before = issues;
    for (;;) {
        uint64_t key = pick(slots, count, eu->unit_free), at = key >> ZS_TIMING_ORDER_BITS;
        uint32_t place = key & 15;
        struct zs_timing_slot *slot = &slots[place];
        struct zs_timing_thread *th = &threads[place];
        bool is_pipe = slot->unit <= ZS_TIMING_UNIT_FPU1;
        if (ZS_LIKELY(is_pipe && at <= last)) {
            set_order(slot, ++issues);
            now = ZS_MAX(now, at);
            if (issue_pipe(code, totals, eu, th, slot, &tallies[th->inst], at, has_xmx))
                continue;
            m->now = now;
            zs_timing_prepare(m, th);
            now = m->now;
            continue;
        }
        m->issues = issues;
        m->now = now;
        bool seen = slot->unit >= ZS_TIMING_UNIT_SEND && slot->unit != ZS_TIMING_UNIT_CONTROL;
        if (at > last || (seen && at > until)) {
            set_key(m, number, at >= ZS_TIMING_NEVER ? UINT64_MAX : key_of(number, at));
            eu->issues += issues - before;
            return;
        }
        if (slot->unit == ZS_TIMING_UNIT_END)
            zs_timing_end_thread(m, th, at);
        else
            issue_other(m, eu, th, at);
        issues = m->issues;
        now = m->now;
    }
}

/* In versions for how many threads devices have; those with 7 have no systolic pipe. */
static void run_eu(struct zs_timing_machine *m, uint32_t eu, uint64_t until)
{
    if (m->threads_per_eu == 7)
        run_threads(m, eu, until, 7, false);
    else if (m->threads_per_eu == 8)
        run_threads(m, eu, until, 8, true);
    else
        run_threads(m, eu, until, m->threads_per_eu, true);
}

/* ---- walker ------------------------------------------------------------------------------------
 */

static uint32_t free_slots(const struct zs_timing_machine *m, uint32_t eu)
{
    return m->threads_per_eu - (uint32_t)__builtin_popcount(m->eus[eu].live);
}

static uint32_t room_in(const struct zs_timing_machine *m, uint32_t subslice)
{
    const struct zs_timing_place *p = &m->places[subslice];
    if (p->slm_B + m->slm_B > m->params->slm_B ||
        (m->has_barriers && p->barriers >= m->params->barriers))
        return 0;
    uint32_t room = 0;
    for (uint32_t i = 0; i < m->eus_per_subslice; i++)
        room += free_slots(m, subslice * m->eus_per_subslice + i);
    return room;
}

static void start_thread(struct zs_timing_machine *m, uint32_t group, uint32_t thread)
{
    struct zs_timing_group *g = &m->groups[group];
    uint32_t first = g->subslice * m->eus_per_subslice, eu = first;
    for (uint32_t i = 1; i < m->eus_per_subslice; i++)
        eu = free_slots(m, first + i) > free_slots(m, eu) ? first + i : eu;
    struct zs_timing_eu *e = &m->eus[eu];
    uint32_t slot = (uint32_t)__builtin_ctz(~e->live);
    uint64_t *dispatch = &m->dispatch_free[g->subslice / m->subslices_per_slice];
    *dispatch = ZS_MAX(*dispatch, m->now_dispatch);
    *dispatch += m->dispatch_cost;
    if (!m->forwarding) {
        uint64_t *const dispatching[] = {&m->totals->dispatching0, &m->totals->dispatching1,
                                         &m->totals->dispatching2};
        if (g->subslice < ZS_ARRAY_LEN(dispatching))
            *dispatching[g->subslice] += m->dispatch_cost;
    }
    struct zs_timing_thread *th = zs_timing_thread_at(m, eu, slot);
    *th = (struct zs_timing_thread){
        .slot = &m->slots[(size_t)eu * m->threads_per_eu + slot],
        .stream = &m->streams[(size_t)group * m->threads_per_group + thread],
        .window = UINT32_MAX,
        .group = group,
        .member = thread,
        .run = (uint32_t)(group / m->reuse_groups),
        .step = zs_timing_step_of(m, group),
        .eu = eu,
        .place = eu * m->threads_per_eu + slot,
        .home = th->home,
        .begin = *dispatch,
        .eligible = *dispatch,
        .since = *dispatch,
        .start = (*dispatch + m->params->start_latency) << 2 | ZS_TIMING_READY_START,
    };
    th->ready = m->ready + (size_t)th->place * m->code->slot_count;
    memset(th->ready, 0, m->code->slot_count * sizeof(*th->ready));
    *th->slot = (struct zs_timing_slot){.order = slot};
    if (e->live == 0)
        e->loaded_since = *dispatch;
    e->live |= 1u << slot;
    g->threads[thread] = th;
    zs_timing_prepare(m, th);
    zs_timing_wake(m, eu, *dispatch);
}

/* Groups that there is room for, in their order. */
static void dispatch(struct zs_timing_machine *m, uint64_t cycle)
{
    m->now_dispatch = cycle;
    while (m->next_group < m->group_count) {
        uint32_t best = 0, best_room = 0;
        for (uint32_t s = 0; s < m->subslice_count; s++) {
            uint32_t room = room_in(m, s);
            best = room > best_room ? s : best;
            best_room = ZS_MAX(best_room, room);
        }
        if (best_room < m->threads_per_group)
            return;
        struct zs_timing_group *g = &m->groups[m->next_group];
        g->subslice = best;
        g->live = m->threads_per_group;
        g->threads = m->members + (size_t)m->next_group * m->threads_per_group;
        m->places[best].slm_B += m->slm_B;
        m->places[best].barriers++;
        m->live_groups++;
        for (uint32_t i = 0; i < m->threads_per_group; i++)
            start_thread(m, (uint32_t)m->next_group, i);
        m->next_group++;
    }
}

/* Cycles from `at` to when a thread of the EU is there. */
static uint64_t until_next(const struct zs_timing_machine *m, uint32_t eu, uint64_t at)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t left = m->eus[eu].live; left; left &= left - 1)
        next = ZS_MIN(next, zs_timing_thread_at(m, eu, (uint32_t)__builtin_ctz(left))->begin);
    return next > at ? next - at : 0;
}

void zs_timing_end_thread(struct zs_timing_machine *m, struct zs_timing_thread *th, uint64_t at)
{
    struct zs_timing_eu *eu = &m->eus[th->eu];
    struct zs_timing_group *g = &m->groups[th->group];
    m->now = ZS_MAX(m->now, at);
    zs_timing_set_never(th->slot);
    eu->live &= ~(1u << (uint32_t)((size_t)(th - m->threads) % m->threads_per_eu));
    if (eu->live == 0)
        m->totals->eu_loaded += at - ZS_MIN(at, eu->loaded_since);
    else
        eu->loaded_since += until_next(m, th->eu, at); /* those that are left have not begun */
    g->threads[th->member] = NULL;
    if (--g->live == 0) {
        m->places[g->subslice].slm_B -= m->slm_B;
        m->places[g->subslice].barriers--;
        m->live_groups--;
    } else {
        zs_timing_release(m, g, at);
    }
    dispatch(m, m->forwarding ? m->gap_now : at);
}

/* When something that others see happens next, of equals the first EU's: as a key. */
static uint64_t next_key(const struct zs_timing_machine *m)
{
    uint64_t least = m->least[0];
    for (uint32_t i = 1; i < m->subslice_count; i++)
        least = ZS_MIN(least, m->least[i]);
    return least;
}

void zs_timing_run(struct zs_timing_machine *m)
{
    dispatch(m, 0);
    for (uint32_t i = 0; i < m->subslice_count; i++)
        m->filled = ZS_MAX(m->filled, m->dispatch_free[i]);
    for (;;) {
        uint64_t key = next_key(m), cycle = key >> ZS_TIMING_EU_BITS;
        if (key == UINT64_MAX)
            break;
        m->frontier = ZS_MAX(m->frontier, cycle);
        if (cycle >= m->window_end)
            zs_timing_end_window(m);
        else
            run_eu(m, (uint32_t)key & ((1u << ZS_TIMING_EU_BITS) - 1), cycle);
    }
    m->frontier = ZS_MAX(m->now, m->drained);
}
