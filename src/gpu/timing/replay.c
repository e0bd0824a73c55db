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
 */
#include "gpu/timing/replay.h"

#include <errno.h>
#include <stdlib.h>

static const uint64_t BUDGET_LEAST = 24000; /* instructions that are always replayed */
enum {
    RUN_AHEAD = 256,         /* cycles of an EU before others */
    BUDGET_SHARE = 24,       /* of longer launches: one in so many */
    WINDOWS_LEAST = 6,       /* of a thread that are replayed */
    MARKS = ZS_TIMING_MARKS, /* parts of a replay ... */
    MARK_EARLY = 3,          /* ... from the end of this one ... */
    MARK_LATE = 12,          /* ... to the end of this one its pace is taken */
};

/* ---- accounts ----------------------------------------------------------------------------------
 */

static void charge(struct zs_timing_machine *m, uint32_t inst, enum zs_timing_reason reason,
                   uint64_t cycles)
{
    m->stalls[(size_t)inst * ZS_TIMING_REASONS + reason] += cycles;
}

/* A pipe of an EU works from `at` on; issues of an EU come in the order of time. */
static void occupy(struct zs_timing_machine *m, struct zs_timing_eu *eu, uint32_t pipe, uint64_t at,
                   uint64_t cycles)
{
    struct zs_gpu_timing *t = m->totals;
    uint64_t end = at + cycles, *const active[] = {&t->fpu0_active, &t->fpu1_active,
                                                   &t->send_active};
    if (pipe < ZS_TIMING_PIPES) {
        *active[pipe] += cycles;
        eu->pipe_free[pipe] = end;
    }
    if (pipe == ZS_TIMING_PIPE_FPU0 || pipe == ZS_TIMING_PIPE_FPU1) {
        uint64_t other = eu->pipe_free[pipe ^ 1];
        t->fpu_both_active += other > at ? ZS_MIN(other, end) - at : 0;
    }
    if (end > eu->busy_until)
        t->eu_active += end - ZS_MAX(at, eu->busy_until);
    eu->busy_until = ZS_MAX(eu->busy_until, end);
}

/* ---- barriers ----------------------------------------------------------------------------------
 */

static void wake_eu(struct zs_timing_machine *m, uint32_t eu, uint64_t cycle)
{
    m->keys[eu] = ZS_MIN(m->keys[eu], cycle);
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
    g->release_cycle = cycle + m->params->barrier_latency;
    for (uint32_t i = 0; i < m->threads_per_group; i++) {
        struct zs_timing_thread *th = g->threads[i];
        if (!th || th->slot->next != ZS_TIMING_NEVER || th->passed >= g->released)
            continue;
        zs_timing_prepare(m, th);
        wake_eu(m, th->eu, g->release_cycle);
    }
}

/* ---- issue -------------------------------------------------------------------------------------
 */

static uint32_t cycles_of(const struct zs_timing_op *op, uint32_t mask)
{
    if (op->fixed_cycles)
        return op->fixed_cycles;
    uint32_t lanes = op->no_mask ? UINT32_MAX : mask >> op->chan_offset, chunks = 0;
    uint32_t chunk_mask = op->chunk_lanes >= 32 ? UINT32_MAX : (1u << op->chunk_lanes) - 1;
    for (uint32_t at = 0; at < op->exec_size; at += op->chunk_lanes)
        chunks += (lanes >> at & chunk_mask) != 0; /* chunks without a lane are skipped */
    return ZS_MAX(chunks * op->chunk_cycles, (uint32_t)op->least);
}

static void write_slots(struct zs_timing_machine *m, struct zs_timing_thread *th,
                        const struct zs_timing_op *op, uint64_t cycle, uint32_t kind, bool fixed)
{
    const uint16_t *slot = m->code->slots + op->slots + op->read_count;
    const uint8_t *latency = m->code->slot_latency + op->slots + op->read_count;
    for (uint32_t i = 0; i < op->write_count; i++)
        th->ready[slot[i]] = (uint32_t)((cycle + (fixed ? 0 : latency[i])) << 2 | kind);
}

static void issue_pipe(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                       struct zs_timing_thread *th, const struct zs_timing_op *op, uint64_t at)
{
    uint32_t cycles = cycles_of(op, th->mask), pipe = ZS_TIMING_PIPE_FPU1;
    if (op->unit == ZS_TIMING_UNIT_FPU && eu->pipe_free[0] <= eu->pipe_free[1])
        pipe = ZS_TIMING_PIPE_FPU0;
    if (op->unit == ZS_TIMING_UNIT_MATH)
        m->totals->math_active += cycles;
    struct zs_gpu_timing *t = m->totals;
    uint64_t *const by_sources[2][3] = {{&t->fpu0_move, &t->fpu0_binary, &t->fpu0_ternary},
                                        {&t->fpu1_move, &t->fpu1_binary, &t->fpu1_ternary}};
    if (op->unit != ZS_TIMING_UNIT_MATH)
        *by_sources[pipe][ZS_MIN(ZS_MAX(op->sources, 1u), 3u) - 1] += cycles;
    occupy(m, eu, pipe, at, cycles);
    uint32_t front = cycles > op->ahead ? cycles - op->ahead : 1;
    charge(m, th->inst, ZS_TIMING_ACTIVE, front);
    th->eligible = at + front;
    write_slots(m, th, op, at, ZS_TIMING_READY_PIPE, false);
}

static void issue_control(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                          struct zs_timing_thread *th, uint64_t at, uint32_t front)
{
    uint32_t least = m->params->send_front;
    occupy(m, eu, ZS_TIMING_PIPES, at, least);
    charge(m, th->inst, ZS_TIMING_ACTIVE, least);
    charge(m, th->inst, ZS_TIMING_CONTROL, front - least);
    th->eligible = at + front;
}

static void issue_send(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                       struct zs_timing_thread *th, const struct zs_timing_op *op, uint64_t at)
{
    uint32_t front = m->params->send_front;
    uint32_t cycles = ZS_MAX(op->payload_grf, front);
    occupy(m, eu, ZS_TIMING_PIPE_SEND, at, cycles);
    charge(m, th->inst, ZS_TIMING_ACTIVE, front);
    th->eligible = at + front;
    struct zs_timing_request r = {
        .subslice = eu->subslice, .payload_grf = op->payload_grf, .response_grf = op->response_grf};
    uint64_t lines[ZS_PORT_TOUCH_LINES];
    r.lines = lines;
    if (!zs_timing_read_message(m, th, &r, lines))
        return; /* no lane took part, or the end of the thread */
    uint64_t done = zs_timing_hierarchy_send(&m->hierarchy, &r, at);
    uint64_t accepts = zs_timing_hierarchy_accepts(&m->hierarchy, &r);
    bool fence = r.event & ZS_TIMING_EVENT_FENCE;
    m->drained = ZS_MAX(m->drained, done);
    if (accepts > th->eligible) {
        charge(m, th->inst, ZS_TIMING_SEND, accepts - th->eligible);
        th->eligible = accepts;
    }
    write_slots(m, th, op, done, fence ? ZS_TIMING_READY_SYNC : ZS_TIMING_READY_SEND, true);
    if (r.event & ZS_TIMING_EVENT_BARRIER) {
        th->arrived++;
        zs_timing_release(m, &m->groups[th->group], at);
    }
}

static void issue(struct zs_timing_machine *m, struct zs_timing_eu *eu, struct zs_timing_thread *th,
                  uint64_t at)
{
    static const enum zs_timing_reason waits[] = {
        [ZS_TIMING_READY_PIPE] = ZS_TIMING_DIST,
        [ZS_TIMING_READY_SEND] = ZS_TIMING_SBID,
        [ZS_TIMING_READY_SYNC] = ZS_TIMING_SYNC,
        [ZS_TIMING_READY_START] = ZS_TIMING_OTHER,
    };
    const struct zs_timing_op *op = &m->code->ops[th->inst];
    uint64_t ready = ZS_MIN(ZS_MAX(th->dep >> 2, th->eligible), at);
    charge(m, th->inst, waits[th->dep & 3], ready - th->eligible);
    charge(m, th->inst, op->unit == ZS_TIMING_UNIT_SEND ? ZS_TIMING_SEND : ZS_TIMING_PIPE,
           at - ready);
    m->issues++;
    th->slot->order = (m->issues << ZS_TIMING_SLOT_BITS | (th->slot->order & 15)) &
                      ((1u << ZS_TIMING_ORDER_BITS) - 1);
    m->now = ZS_MAX(m->now, at);
    if (op->unit <= ZS_TIMING_UNIT_MATH) {
        issue_pipe(m, eu, th, op, at);
    } else if (op->unit == ZS_TIMING_UNIT_SEND) {
        issue_send(m, eu, th, op, at);
    } else if (op->unit == ZS_TIMING_UNIT_WAIT) {
        th->passed++;
        issue_control(m, eu, th, at, m->params->send_front);
    } else {
        issue_control(m, eu, th, at, m->params->control_front);
    }
    th->inst++;
    zs_timing_prepare(m, th);
}

/* ---- one EU ------------------------------------------------------------------------------------
 */

static uint64_t pipe_free(const struct zs_timing_eu *eu, uint32_t unit)
{
    if (unit == ZS_TIMING_UNIT_FPU)
        return ZS_MIN(eu->pipe_free[0], eu->pipe_free[1]);
    if (unit <= ZS_TIMING_UNIT_MATH)
        return eu->pipe_free[ZS_TIMING_PIPE_FPU1];
    return unit == ZS_TIMING_UNIT_SEND ? eu->pipe_free[ZS_TIMING_PIPE_SEND] : 0;
}

/* The thread that issues next; NULL: none can. */
static struct zs_timing_thread *pick(const struct zs_timing_machine *m, uint32_t eu,
                                     uint64_t *ret_at)
{
    const struct zs_timing_slot *slots = m->slots + (size_t)eu * m->threads_per_eu;
    uint64_t free_at[ZS_TIMING_UNIT_END + 1] = {0}, best = UINT64_MAX;
    for (uint32_t unit = 0; unit <= ZS_TIMING_UNIT_SEND; unit++)
        free_at[unit] = pipe_free(&m->eus[eu], unit);
    for (uint32_t i = 0; i < m->threads_per_eu; i++) { /* time, then who waits longest */
        uint64_t at = ZS_MAX((uint64_t)slots[i].next, free_at[slots[i].unit]);
        uint64_t key = at << ZS_TIMING_ORDER_BITS | slots[i].order;
        best = ZS_MIN(best, key);
    }
    *ret_at = best >> ZS_TIMING_ORDER_BITS;
    if (*ret_at >= ZS_TIMING_NEVER)
        return NULL;
    return &m->threads[(size_t)eu * m->threads_per_eu + (best & 15)];
}

static void end_thread(struct zs_timing_machine *m, struct zs_timing_thread *th, uint64_t at);

/* Until the EU comes to something that others see and that happens later than `until`, or is too
 * far ahead of them: the pace of a replay is taken over all EUs. */
static void run_eu(struct zs_timing_machine *m, uint32_t eu, uint64_t until)
{
    for (;;) {
        uint64_t at;
        struct zs_timing_thread *th = pick(m, eu, &at);
        m->keys[eu] = th ? at : UINT64_MAX;
        uint32_t unit = th ? th->slot->unit : 0;
        bool seen = unit >= ZS_TIMING_UNIT_SEND && unit != ZS_TIMING_UNIT_CONTROL;
        if (!th || (seen && at > until) || at > until + RUN_AHEAD)
            return;
        m->keys[eu] = UINT64_MAX;
        if (unit == ZS_TIMING_UNIT_END)
            end_thread(m, th, at);
        else
            issue(m, &m->eus[eu], th, at);
    }
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
    *dispatch = ZS_MAX(*dispatch, m->now_dispatch) + m->dispatch_cost;
    struct zs_timing_thread *th = &m->threads[(size_t)eu * m->threads_per_eu + slot];
    *th = (struct zs_timing_thread){
        .slot = &m->slots[(size_t)eu * m->threads_per_eu + slot],
        .stream = &m->streams[(size_t)group * m->threads_per_group + thread],
        .window = UINT32_MAX,
        .group = group,
        .member = thread,
        .eu = eu,
        .begin = *dispatch,
        .eligible = *dispatch,
        .start = (*dispatch + m->params->start_latency) << 2 | ZS_TIMING_READY_START,
    };
    *th->slot = (struct zs_timing_slot){.order = slot};
    if (e->live == 0)
        e->loaded_since = *dispatch;
    e->live |= 1u << slot;
    g->threads[thread] = th;
    zs_timing_prepare(m, th);
    wake_eu(m, eu, *dispatch);
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
        next = ZS_MIN(
            next, m->threads[(size_t)eu * m->threads_per_eu + (uint32_t)__builtin_ctz(left)].begin);
    return next > at ? next - at : 0;
}

static void end_thread(struct zs_timing_machine *m, struct zs_timing_thread *th, uint64_t at)
{
    struct zs_timing_eu *eu = &m->eus[th->eu];
    struct zs_timing_group *g = &m->groups[th->group];
    m->now = ZS_MAX(m->now, at);
    th->slot->next = ZS_TIMING_NEVER;
    eu->live &= ~(1u << (uint32_t)((size_t)(th - m->threads) % m->threads_per_eu));
    if (eu->live == 0)
        m->totals->eu_loaded += at - ZS_MIN(at, eu->loaded_since);
    else
        eu->loaded_since += until_next(m, th->eu, at); /* those that are left have not begun */
    g->threads[th->member] = NULL;
    if (--g->live == 0) {
        m->places[g->subslice].slm_B -= m->slm_B;
        m->places[g->subslice].barriers--;
        m->ends[m->end_count++] = at;
    } else {
        zs_timing_release(m, g, at);
    }
    dispatch(m, at);
}

static void run(struct zs_timing_machine *m)
{
    dispatch(m, 0);
    for (;;) {
        uint32_t eu = 0;
        for (uint32_t i = 1; i < m->eu_count; i++)
            eu = m->keys[i] < m->keys[eu] ? i : eu;
        if (m->keys[eu] == UINT64_MAX)
            return;
        run_eu(m, eu, m->keys[eu]);
    }
}

/* ---- results -----------------------------------------------------------------------------------
 */

static uint64_t scaled(uint64_t value, double factor)
{
    return factor == 1.0 ? value : (uint64_t)((double)value * factor + 0.5);
}

/*
 * The end of the replay, and for instructions that were not replayed (in windows that were left
 * out, in groups that were not sampled) the pace of those in the middle of it, when the caches were
 * no longer empty and the device not yet running dry.
 */
static double all_cycles(const struct zs_timing_machine *m, uint64_t instructions)
{
    uint64_t last = m->end_count ? ZS_MAX(m->ends[m->end_count - 1], m->drained) : 0;
    if (m->timed == 0 || instructions <= m->timed)
        return (double)last;
    double pace = (double)last / (double)m->timed;
    if (m->mark_count > MARK_LATE && m->marks[MARK_LATE] > m->marks[MARK_EARLY])
        pace = (double)(m->marks[MARK_LATE] - m->marks[MARK_EARLY]) /
               (double)(m->mark_step * (MARK_LATE - MARK_EARLY));
    return (double)last + pace * (double)(instructions - m->timed);
}

static int keep_stalls(const struct zs_timing_machine *m, double factor, struct zs_gpu_timing *t)
{
    uint64_t *const sums[ZS_TIMING_REASONS] = {
        &t->thread_active, &t->thread_control, &t->thread_pipe, &t->thread_send,
        &t->thread_dist,   &t->thread_sbid,    &t->thread_sync, &t->thread_other};
    t->stalls = calloc((size_t)m->code->op_count + 1, sizeof(*t->stalls));
    if (!t->stalls)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        const uint64_t *from = m->stalls + (size_t)i * ZS_TIMING_REASONS;
        struct zs_gpu_stalls *to = &t->stalls[t->stall_count];
        uint64_t any = 0;
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++) {
            to->cycles[r] = scaled(from[r], factor);
            *sums[r] += to->cycles[r];
            any |= to->cycles[r];
        }
        to->offset_B = m->code->offset_B[i];
        t->stall_count += any != 0;
    }
    return 0;
}

/* What was counted of the replayed part stands for all. */
static void scale_totals(struct zs_gpu_timing *t, double timed, double seen)
{
    uint64_t *const by_time[] = {
        &t->eu_loaded,    &t->eu_active,   &t->fpu0_active, &t->fpu1_active, &t->fpu_both_active,
        &t->fpu0_move,    &t->fpu1_move,   &t->fpu0_binary, &t->fpu1_binary, &t->fpu0_ternary,
        &t->fpu1_ternary, &t->math_active, &t->send_active};
    uint64_t *const by_messages[] = {&t->global_sectors,
                                     &t->scratch_sectors,
                                     &t->typed_sectors,
                                     &t->slm_cycles,
                                     &t->slm_conflicts,
                                     &t->sampler_sectors,
                                     &t->sampler_hits,
                                     &t->sampler_misses,
                                     &t->sampler_busy,
                                     &t->l3_bank0,
                                     &t->l3_bank1,
                                     &t->l3_bank2,
                                     &t->l3_bank3,
                                     &t->l3_hits,
                                     &t->l3_misses,
                                     &t->gti_read_bank0,
                                     &t->gti_read_bank1,
                                     &t->gti_read_bank2,
                                     &t->gti_read_bank3,
                                     &t->gti_write_bank0,
                                     &t->gti_write_bank1,
                                     &t->gti_write_bank2,
                                     &t->gti_write_bank3,
                                     &t->llc_hits,
                                     &t->llc_misses,
                                     &t->memory_read_sectors,
                                     &t->memory_write_sectors};
    /* with those of threads all rows of total.def */
    enum {
#define ZS_TIMING_TOTAL(id, text) TOTAL_##id,
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
        TOTALS
    };
    _Static_assert(ZS_ARRAY_LEN(by_time) + ZS_ARRAY_LEN(by_messages) + ZS_TIMING_REASONS == TOTALS,
                   "every total is scaled");
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        *by_time[i] = scaled(*by_time[i], timed);
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_messages); i++)
        *by_messages[i] = scaled(*by_messages[i], seen);
}

static int conclude(const struct zs_timing_machine *m, uint64_t instructions,
                    struct zs_gpu_timing *t)
{
    double last = m->end_count ? (double)ZS_MAX(m->ends[m->end_count - 1], m->drained) : 0;
    double cycles = all_cycles(m, instructions);
    double seen = m->seen ? (double)instructions / (double)m->seen : 1;
    double timed = last > 0 ? cycles / last : 1;
    t->instructions = instructions;
    t->replayed = m->timed;
    t->cycles = m->params->launch_cycles + (uint64_t)(cycles + 0.5);
    scale_totals(t, timed, seen);
    return keep_stalls(m, timed, t);
}

/* One window in so many is replayed: within the budget, but enough of each thread. */
static uint32_t choose_skip(const struct zs_timing_trace *trace, uint64_t instructions,
                            uint64_t *ret_recorded)
{
    uint64_t recorded = 0, windows = 0, budget = ZS_MAX(instructions / BUDGET_SHARE, BUDGET_LEAST);
    uint64_t streams = trace->sampled * trace->launch.threads_per_group;
    for (uint64_t i = 0; i < streams; i++) {
        recorded += trace->streams[i].recorded;
        windows += trace->streams[i].window_count;
    }
    *ret_recorded = recorded;
    uint64_t wanted = (recorded + budget - 1) / budget;
    uint64_t most = windows / ZS_MAX(streams, UINT64_C(1)) / WINDOWS_LEAST;
    return (uint32_t)ZS_MAX(ZS_MIN(wanted, most), UINT64_C(1));
}

int zs_timing_replay(struct zs_timing_trace *trace, uint64_t instructions,
                     struct zs_gpu_timing *ret_timing)
{
    struct zs_timing_machine m;
    *ret_timing = (struct zs_gpu_timing){0};
    int error = zs_timing_machine_init(&m, trace, ret_timing);
    if (!error) {
        m.skip = choose_skip(trace, instructions, &m.mark_step);
        m.skip = trace->launch.exact ? 1 : m.skip;
        m.mark_step = ZS_MAX(m.mark_step / m.skip / MARKS, UINT64_C(1));
        run(&m);
        error = conclude(&m, instructions, ret_timing);
    }
    zs_timing_machine_fini(&m);
    ret_timing->modelled = error == 0;
    return error;
}
