/* SPDX-License-Identifier: MIT */
/*
 * Running work-groups on host threads.
 *
 * Every worker (the launching thread and its helpers) claims groups from one counter. The EU
 * threads of a group take turns on their worker: each runs until it ends, waits at a barrier or
 * has used up its slice of instructions. So the threads of a group never run at the same time, and
 * local memory needs no host atomics. Only where a launch has few groups, whose threads share
 * neither barriers nor local memory, is each of them claimed by parts, as if these were groups.
 * A thread gets a slot (registers, scratch, private memory) when it first runs and gives it back
 * when it ends: without barriers a whole group needs one slot, which stays in the cache.
 * Progress: a thread that spins until another one acts must not keep that one from running.
 * Within a group the threads take turns by slices. When no resident group ended for some turns,
 * the worker takes in one more: so groups may wait for each other as on hardware. Any worker may
 * hold all groups of a cooperative launch, and of others as many as the modelled device does, so
 * that this is true of a launch that gets no help, too.
 * Numbers: a resident group has a place, which no other one has at the same time, and its threads
 * the numbers place * threads per group and up. Numbers select scratch and private memory.
 * The cancel flag, the time limit and changes of memory are looked at after each slice, of one
 * thread or of threads that a barrier, a named one or a pair of dpasw ends early: instructions of a
 * group are counted. By the same count a group's turn ends.
 */
#include "gpu/check.h"
#include "gpu/dispatch_payload.h"

#include "eu/checks/shadow.h"
#include "eu/tier/tier.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HELP_AFTER_NS = 50000, /* the caller runs shorter launches alone, checked ones of 20 times */
    CLAIM_MAX = 16,        /* groups taken at once */
    PATIENCE_TURNS = 64,   /* of a slice each, before one more group is taken in */
    DEBUGGED_TURNS = 4,    /* ... where a debugger looks at what hardware has at work at once */
    REPORT_AFTER = 1 << 18,
};

enum outcome { OUTCOME_DONE, OUTCOME_BUSY, OUTCOME_STOPPED };

/* What runs threads exists twice: where `debug` is false nothing asks for debuggers. */
#define IN_TWO_VERSIONS static inline __attribute__((always_inline))

/* ---- stopping ----------------------------------------------------------------------------------
 */

void zs_gpu_stop_run(struct zs_gpu_run *run, int error, const struct zs_gpu_fault *fault)
{
    pthread_mutex_lock(&run->lock);
    if (run->error == 0) {
        run->error = error;
        run->fault = fault ? *fault : (struct zs_gpu_fault){0};
    }
    pthread_mutex_unlock(&run->lock);
    atomic_store_explicit(&run->stop, true, memory_order_relaxed);
}

/* ---- interruptions -----------------------------------------------------------------------------
 */

/* Between slices. true: stop. thread: the one that has used up its slice, NULL: none in particular.
 */
static bool interrupted(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                        const struct zs_gpu_group *group, const struct zs_eu_thread *thread,
                        uint32_t thread_index)
{
    if (atomic_load_explicit(&run->stop, memory_order_relaxed))
        return true;
    if (zs_gpu_memory_changes(run->launch->memory) != w->changes &&
        !zs_gpu_worker_look_anew(run, w))
        return true;
    if (run->debug && zs_gpu_debug_wants(run, w))
        return true;
    bool cancelled =
        run->launch->cancel && atomic_load_explicit(run->launch->cancel, memory_order_relaxed);
    bool debugged = w->debug && zs_gpu_debug_is_attached(run);
    if (!cancelled && (run->deadline_ns == 0 || debugged || zs_gpu_now_ns() < run->deadline_ns))
        return false;
    struct zs_gpu_fault fault;
    zs_gpu_fault_group(run, cancelled ? ZS_GPU_FAULT_CANCELLED : ZS_GPU_FAULT_TIMEOUT, group->index,
                       thread, thread_index, &fault);
    zs_gpu_stop_run(run, cancelled ? -ECANCELED : -ETIMEDOUT, &fault);
    return true;
}

/* ---- EU threads --------------------------------------------------------------------------------
 */

IN_TWO_VERSIONS void start_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                  const struct zs_gpu_group *group, uint32_t thread, bool debug)
{
    struct zs_gpu_thread_state *state = &group->threads[thread];
    bool fresh = w->free_slot_count == 0;
    state->slot = fresh ? w->fresh_slot++ : w->free_slots[--w->free_slot_count];
    state->phase = ZS_GPU_THREAD_READY;
    struct zs_eu_thread *t = &w->threads[state->slot];
    uint32_t mask = thread == run->threads_per_group - 1 ? run->last_mask : run->mask;
    bool traced = debug ? zs_gpu_is_traced(run, w, group) : group->traced;
    bool apart = (debug && w->debug) || (run->undefined && !zs_gpu_undefined_is_clean(run, mask));
    const struct zs_eu_program *compiled = apart ? NULL : zs_gpu_tier_program(run->kernel);
    const struct zs_eu_program *program = traced     ? run->kernel->timed_program
                                          : compiled ? compiled
                                                     : w->program;
    bool plain = program == compiled;
    bool repeats = !fresh && plain && zs_eu_thread_repeat(t, program, mask);
    if (fresh || t->program != program)
        zs_eu_thread_init(t, program, mask);
    else if (!repeats)
        zs_eu_thread_restart(t, program, mask);
    if (traced)
        t->hooks = zs_timing_trace_thread(run->trace, w->index, group->index, thread);
    if (run->checks && !traced)
        t->hooks = zs_gpu_checks_thread(run, w, group, thread, &t->reaches);
    t->env = &w->port;
    t->counters = w->counters;
    if (debug && w->debug)
        zs_gpu_debug_started(w, t);
    t->shadow = NULL;
    if (run->undefined)
        zs_gpu_undefined_thread(run, w, t, state->slot, thread_number(run, group, thread), plain);
    fill_own(run, group, thread, own_row(run, w, group, thread, t), t->grf);
    if (!repeats)
        fill_shared(run, t->grf);
}

void zs_gpu_start_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                         const struct zs_gpu_group *group, uint32_t thread)
{
    start_thread(run, w, group, thread, true);
}

IN_TWO_VERSIONS void end_thread(struct zs_gpu_worker *w, struct zs_gpu_group *group,
                                struct zs_gpu_thread_state *state, bool debug)
{
    state->phase = ZS_GPU_THREAD_DONE;
    if (debug && w->debug)
        zs_gpu_debug_ended(w, state->slot);
    w->free_slots[w->free_slot_count++] = state->slot;
    w->threads_run++;
    group->live--;
}

void zs_gpu_end_thread(struct zs_gpu_worker *w, struct zs_gpu_group *group, uint32_t thread)
{
    end_thread(w, group, &group->threads[thread], true);
}

static uint64_t *slm_written(const struct zs_gpu_run *run, const struct zs_gpu_group *group)
{
    size_t at_B = (size_t)zs_align_up(ZS_MAX(run->slm_B, 1u), 64);
    return run->kernel->checks_local ? (uint64_t *)(void *)(group->slm + at_B) : NULL;
}

static inline void enter_own(const struct zs_gpu_run *run, struct zs_port *port, uint32_t number,
                             uint32_t thread)
{
    port->scratch_start = (number + 1ull) * run->scratch_B;
    port->scratch_end = port->scratch_start + run->scratch_B;
    port->scratch_bias = scratch_base(run, number);
    port->thread = thread;
}

void zs_gpu_enter_thread(const struct zs_gpu_run *run, struct zs_gpu_worker *w,
                         struct zs_gpu_group *group, uint32_t thread)
{
    struct zs_port *port = &w->port;
    uint64_t *written = slm_written(run, group);
    port->slm_filled_B = written == port->slm_written ? port->slm_filled_B : 0;
    port->slm = group->slm;
    port->slm_written = written;
    enter_own(run, port, thread_number(run, group, thread), thread);
    w->checked = group;
    if (run->checks)
        zs_gpu_checks_enter(w, group, thread);
    port->named_barriers = &group->named;
}

/* The thread's program faults. */
IN_TWO_VERSIONS enum outcome thread_faulted(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                            struct zs_gpu_group *group, uint32_t thread, bool debug)
{
    struct zs_gpu_fault fault;
    zs_gpu_fault_from(run, &w->threads[group->threads[thread].slot], &w->port, group->index, thread,
                      &fault);
    if (!debug || !zs_gpu_debug_faulted(run, w, group, thread, &fault))
        zs_gpu_stop_run(run, -EFAULT, &fault);
    return OUTCOME_STOPPED;
}

/* It wants registers of a thread that will not come. */
IN_TWO_VERSIONS enum outcome lonely_pair(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                         struct zs_gpu_group *group, uint32_t thread, bool debug)
{
    (void)zs_eu_fault_set(
        &w->threads[group->threads[thread].slot], ZS_EU_FAULT_OPERAND,
        "dpasw: thread %u of the group, whose registers it takes, %s", (unsigned)thread ^ 1,
        (thread ^ 1) >= run->threads_per_group ? "does not exist" : "does not come to it");
    return thread_faulted(run, w, group, thread, debug);
}

/* The thread has come to a dpasw. Threads 2i and 2i + 1 of a group are a pair. */
IN_TWO_VERSIONS enum outcome join_pair(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                       struct zs_gpu_group *group, uint32_t thread, bool debug)
{
    uint32_t even = thread & ~1u, odd = thread | 1;
    struct zs_gpu_thread_state *states = group->threads;
    states[thread].phase = ZS_GPU_THREAD_PAIRING;
    if (odd >= run->threads_per_group)
        return lonely_pair(run, w, group, thread, debug);
    if (states[thread ^ 1].phase != ZS_GPU_THREAD_PAIRING)
        return OUTCOME_DONE;
    if (zs_eu_thread_pair(&w->threads[states[even].slot], &w->threads[states[odd].slot]))
        return lonely_pair(run, w, group, thread, debug);
    states[even].phase = states[odd].phase = ZS_GPU_THREAD_READY;
    return OUTCOME_DONE;
}

/* It waits at a named barrier whose producers have signalled. */
static bool may_pass(const struct zs_eu_thread *t)
{
    return t->awaited_barrier && t->passed_barriers >> t->awaited_barrier & 1;
}

/* Producers of named barriers have all signalled: let those go on who consume. */
static void release_named(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group)
{
    if (run->checks)
        zs_gpu_checks_released(run, w, group, true);
    for (uint32_t done = group->named.completed; done; done &= done - 1) {
        uint32_t barrier = (uint32_t)__builtin_ctz(done);
        uint64_t consumers = group->named.at[barrier].consumers;
        group->named.used &= ~(1u << barrier); /* it begins anew */
        for (; consumers; consumers &= consumers - 1) {
            struct zs_gpu_thread_state *state = &group->threads[__builtin_ctzll(consumers)];
            struct zs_eu_thread *t = &w->threads[state->slot];
            if (state->phase == ZS_GPU_THREAD_DONE)
                continue;
            t->passed_barriers |= 1u << barrier;
            if (state->phase == ZS_GPU_THREAD_WAITING && may_pass(t))
                state->phase = ZS_GPU_THREAD_READY;
        }
    }
    group->named.completed = 0;
}

/* A thread has run, and ended, or stopped. */
IN_TWO_VERSIONS enum outcome thread_ran(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                        struct zs_gpu_group *group, uint32_t thread,
                                        enum zs_eu_status status, bool debug)
{
    struct zs_gpu_thread_state *state = &group->threads[thread];
    struct zs_eu_thread *t = &w->threads[state->slot];
    group->arrived += w->port.barrier_signals;
    w->port.barrier_signals = 0;
    if (ZS_UNLIKELY(group->named.completed))
        release_named(run, w, group);
    if (status == ZS_EU_FAULT)
        return thread_faulted(run, w, group, thread, debug);
    if (status == ZS_EU_PAIR)
        return join_pair(run, w, group, thread, debug);
    if (debug && status == ZS_EU_BUDGET && w->debug && zs_gpu_history_triggers(w, t))
        status = ZS_EU_STOP;
    if (debug && status == ZS_EU_STOP)
        return zs_gpu_debug_stopped(run, w, group, thread) ? OUTCOME_STOPPED : OUTCOME_BUSY;
    if (status == ZS_EU_EOT)
        end_thread(w, group, state, debug);
    else if (status == ZS_EU_BARRIER && !may_pass(t))
        state->phase = ZS_GPU_THREAD_WAITING;
    return status == ZS_EU_BUDGET ? OUTCOME_BUSY : OUTCOME_DONE;
}

/* Run one thread for a slice. */
IN_TWO_VERSIONS enum outcome run_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                        struct zs_gpu_group *group, uint32_t thread, bool debug)
{
    struct zs_gpu_thread_state *state = &group->threads[thread];
    if (state->phase == ZS_GPU_THREAD_NEW)
        start_thread(run, w, group, thread, debug);
    struct zs_eu_thread *t = &w->threads[state->slot];
    zs_gpu_enter_thread(run, w, group, thread);
    t->series.at = thread;
    if (debug && w->debug && !zs_gpu_debug_enter(run, w, group, thread))
        return state->phase == ZS_GPU_THREAD_HELD ? OUTCOME_STOPPED : OUTCOME_BUSY;
    bool recorded = debug && run->history;
    uint64_t before = recorded ? zs_eu_thread_steps(t) : 0, executed = t->executed;
    enum zs_eu_status status = zs_eu_run_among(t, t->program, run->slice, &w->host_csr);
    zs_eu_reached(t);
    if (recorded)
        zs_gpu_history_ran(run, group->index, thread, zs_eu_thread_steps(t) - before,
                           status == ZS_EU_EOT);
    group->spent += t->executed - executed;
    return thread_ran(run, w, group, thread, status, debug);
}

struct series {
    const struct zs_gpu_run *run;
    const struct zs_gpu_group *group;
};

static void settle_series(struct zs_eu_thread *t)
{
    const struct series *s = t->series.context;
    enter_own(s->run, t->env, thread_number(s->run, s->group, t->series.at), t->series.at);
}

/* Of the groups that the worker has claimed how many may follow this one without a look around. */
static uint32_t groups_behind(const struct zs_gpu_run *run, const struct zs_gpu_worker *w,
                              const struct zs_gpu_group *group)
{
    uint64_t row = run->launch->group_start[0] + (uint64_t)run->launch->group_count[0];
    if (run->slm_B || run->debug || run->checks || run->last_mask != run->mask || run->parts > 1 ||
        w->group_count > 1 || w->claim.next != group->index + 1)
        return 0;
    return (uint32_t)ZS_MIN(w->claim.end - w->claim.next, row - group->id[0] - 1);
}

/* All threads of so many groups have ended; that the last of them has begun is all of it. */
static void pass_groups(const struct zs_gpu_run *run, struct zs_gpu_worker *w,
                        struct zs_gpu_group *group, uint32_t count)
{
    group->index += count;
    group->id[0] += count;
    w->claim.next += count;
    w->groups_run += count;
    memset(group->threads, 0, run->threads_per_group * sizeof(*group->threads));
}

/*
 * Threads of a group that has not begun, one after the other in one slot, while each ends at once
 * and leaves there what the next one begins with: what is the same for all of them is done once.
 * Returns which one is the next to begin; *ret_outcome is that of the one before, if there is any.
 */
IN_TWO_VERSIONS uint32_t run_repeated(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                      struct zs_gpu_group *group, enum outcome *ret_outcome,
                                      bool debug)
{
    const struct zs_eu_program *program = zs_gpu_tier_program(run->kernel);
    uint32_t full = run->threads_per_group - (run->last_mask != run->mask), thread = group->first;
    uint32_t count = ZS_MIN(group->end, full);
    if (!program || !w->free_slot_count || group->live != group->end - thread ||
        group->threads[thread].phase != ZS_GPU_THREAD_NEW || run->trace ||
        !zs_gpu_undefined_is_loose(run) || (debug && (w->debug || run->history)))
        return thread;
    uint32_t slot = w->free_slots[w->free_slot_count - 1];
    struct zs_eu_thread *t = &w->threads[slot];
    const struct series series = {run, group};
    while (thread < count && zs_eu_thread_repeat(t, program, run->mask)) {
        if (run->checks && !thread) /* which have whole groups */
            t->hooks = zs_gpu_checks_thread(run, w, group, 0, &t->reaches);
        zs_gpu_enter_thread(run, w, group, thread);
        fill_own(run, group, thread, own_row(run, w, group, thread, t), t->grf);
        uint32_t groups = groups_behind(run, w, group);
        t->series = (struct zs_eu_series){.at = thread,
                                          .end = count,
                                          .groups = groups,
                                          .rising = t->series.rising,
                                          .own = run->local_ids,
                                          .rows = w->rows,
                                          .settle = settle_series,
                                          .context = &series};
        t->spent = 0;
        enum zs_eu_status status = zs_eu_run_among(t, program, run->slice, &w->host_csr);
        zs_eu_reached(t);
        group->spent += t->spent;
        t->series.end = 0;
        bool ended = status == ZS_EU_EOT && !w->port.barrier_signals && !group->named.completed;
        uint32_t behind = t->series.at + ended;
        groups -= t->series.groups;
        w->threads_run += groups * count + behind - thread;
        if (groups) {
            pass_groups(run, w, group, groups);
            thread = 0;
        }
        group->live = group->end - behind;
        for (; thread < behind; thread++)
            group->threads[thread] = (struct zs_gpu_thread_state){ZS_GPU_THREAD_DONE, slot};
        if (ZS_LIKELY(ended))
            continue;
        group->threads[thread] = (struct zs_gpu_thread_state){ZS_GPU_THREAD_READY, slot};
        w->free_slot_count--;
        *ret_outcome = thread_ran(run, w, group, thread++, status, debug);
        break;
    }
    return thread;
}

/* ---- groups ------------------------------------------------------------------------------------
 */

/* All threads of the group have signalled: let them go on. */
void zs_gpu_release_barrier(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                            struct zs_gpu_group *group)
{
    group->arrived -= run->threads_per_group;
    if (ZS_UNLIKELY(run->checks != NULL))
        zs_gpu_checks_released(run, w, group, false);
    if (run->history)
        zs_gpu_history_released(run, group->index);
    if (ZS_UNLIKELY(w->debug != NULL)) {
        zs_gpu_debug_release(run, w, group);
        return;
    }
    for (uint32_t i = 0; i < run->threads_per_group; i++) {
        struct zs_gpu_thread_state *state = &group->threads[i];
        if (state->phase == ZS_GPU_THREAD_DONE)
            continue;
        w->threads[state->slot].n0[0]++;
        state->phase = ZS_GPU_THREAD_READY;
    }
}

/* The first thread of a phase; threads_per_group: there is none. */
static uint32_t thread_in(const struct zs_gpu_run *run, const struct zs_gpu_group *group,
                          enum zs_gpu_thread_phase phase)
{
    uint32_t i = 0;
    while (i < run->threads_per_group && group->threads[i].phase != phase)
        i++;
    return i;
}

/* Every thread waits. */
IN_TWO_VERSIONS void lonely_threads(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                    struct zs_gpu_group *group, bool debug)
{
    struct zs_gpu_fault fault;
    uint32_t i = thread_in(run, group, ZS_GPU_THREAD_PAIRING);
    if (i < run->threads_per_group) {
        lonely_pair(run, w, group, i, debug);
        return;
    }
    i = thread_in(run, group, ZS_GPU_THREAD_WAITING);
    zs_gpu_fault_group(run, ZS_GPU_FAULT_BARRIER, group->index, &w->threads[group->threads[i].slot],
                       i, &fault);
    uint32_t ended = 0;
    for (uint32_t k = 0; k < run->threads_per_group; k++)
        ended += group->threads[k].phase == ZS_GPU_THREAD_DONE;
    snprintf(fault.detail, sizeof(fault.detail),
             "%u of the group's %u hardware threads wait, %u have ended",
             run->threads_per_group - ended, run->threads_per_group, ended);
    if (!run->debug || !zs_gpu_debug_faulted(run, w, group, i, &fault))
        zs_gpu_stop_run(run, -EFAULT, &fault);
}

/* What a group has executed, for those who ask how hot a kernel is. */
static void report(const struct zs_gpu_run *run, struct zs_gpu_worker *w, uint64_t count)
{
    w->executed += count;
    if (w->executed >= REPORT_AFTER)
        zs_gpu_tier_executed(run->kernel, &w->executed, w->counters, false);
}

/* After a round. Threads that run into barriers use up no slice of their own: they share one. */
static bool slice_is_over(const struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group)
{
    group->spent++; /* rounds end, whatever instructions count */
    if (ZS_LIKELY(group->spent - group->looked < run->slice))
        return false;
    report(run, w, group->spent - group->looked);
    group->looked = group->spent;
    return true;
}

/* After a thread's slice; false: stop. */
static inline bool goes_on(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                           const struct zs_gpu_group *group, uint32_t thread, enum outcome outcome,
                           bool *ret_busy)
{
    if (ZS_LIKELY(outcome == OUTCOME_DONE))
        return true;
    if (outcome == OUTCOME_STOPPED)
        return false;
    *ret_busy = true;
    return !interrupted(run, w, group, &w->threads[group->threads[thread].slot], thread);
}

/* A slice for each thread that can run. DONE: the group has ended. */
IN_TWO_VERSIONS enum outcome run_round(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                       struct zs_gpu_group *group, bool *ret_busy, bool debug)
{
    enum outcome outcome = OUTCOME_DONE;
    uint32_t next = run_repeated(run, w, group, &outcome, debug), ran = next - group->first;
    *ret_busy = false;
    if (ran && !goes_on(run, w, group, next - 1, outcome, ret_busy))
        return OUTCOME_STOPPED;
    for (uint32_t i = next; i < group->end; i++) {
        if (group->threads[i].phase > ZS_GPU_THREAD_READY)
            continue;
        ran++;
        outcome = run_thread(run, w, group, i, debug);
        if (!goes_on(run, w, group, i, outcome, ret_busy))
            return OUTCOME_STOPPED;
    }
    if (group->live == 0)
        return OUTCOME_DONE;
    if (slice_is_over(run, w, group) && interrupted(run, w, group, NULL, 0))
        return OUTCOME_STOPPED;
    if (group->arrived >= run->threads_per_group) {
        zs_gpu_release_barrier(run, w, group);
    } else if (debug && ran == 0 && w->debug &&
               thread_in(run, group, ZS_GPU_THREAD_HELD) < run->threads_per_group) {
        *ret_busy = true;
    } else if (ran == 0) { /* everyone waits for someone who has ended */
        lonely_threads(run, w, group, debug);
        return OUTCOME_STOPPED;
    }
    return OUTCOME_BUSY;
}

/* Rounds until the group has ended, or has used up its turn, or some thread its slice. */
IN_TWO_VERSIONS enum outcome run_group(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                       struct zs_gpu_group *group, bool debug)
{
    bool busy = false;
    uint64_t end = group->spent + run->turn;
    enum outcome outcome;
    do
        outcome = run_round(run, w, group, &busy, debug);
    while (outcome == OUTCOME_BUSY && !busy && group->spent < end);
    return outcome;
}

/* Of those that no worker calls its own; false: all are taken. */
static bool take_shared_place(struct zs_gpu_run *run, uint32_t *ret_place)
{
    uint32_t count = run->places - run->workers_max, i = 0;
    pthread_mutex_lock(&run->lock);
    while (i < count && run->shared_places[i / 64] >> i % 64 & 1)
        i++;
    if (i < count)
        run->shared_places[i / 64] |= 1ull << i % 64;
    pthread_mutex_unlock(&run->lock);
    *ret_place = run->workers_max + i;
    return i < count;
}

/* In a cooperative launch each group has a place for itself. */
static bool take_place(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint32_t *ret_place)
{
    *ret_place = w->index;
    if (run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE)
        return true;
    if (w->place_taken)
        return take_shared_place(run, ret_place);
    w->place_taken = true;
    return true;
}

static void give_place_back(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint32_t place)
{
    if (run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE)
        return;
    if (place == w->index) {
        w->place_taken = false;
        return;
    }
    uint32_t i = place - run->workers_max;
    pthread_mutex_lock(&run->lock);
    run->shared_places[i / 64] &= ~(1ull << i % 64);
    pthread_mutex_unlock(&run->lock);
}

/* It has its id, and none of its threads has run. */
static void begin_group(struct zs_gpu_run *run, struct zs_gpu_worker *w, struct zs_gpu_group *group,
                        uint64_t unit)
{
    uint32_t part = run->parts > 1 ? (uint32_t)(unit % run->parts) : 0;
    uint64_t index = run->parts > 1 ? unit / run->parts : unit;
    group->index = index;
    group->first = run->threads_per_group * part / run->parts;
    group->end = run->threads_per_group * (part + 1) / run->parts;
    group->live = group->end - group->first;
    group->arrived = 0;
    group->spent = group->looked = 0;
    group->named.used = group->named.completed = 0;
    group->traced = run->trace && zs_timing_trace_samples(run->trace, index);
    memset(group->threads, 0, run->threads_per_group * sizeof(*group->threads));
    w->port.slm_filled_B = 0;
    if (run->slm_B)
        memset(group->slm, 0, w->slm_stride_B);
    if (run->undefined)
        zs_gpu_undefined_group(run, group);
}

static void end_group(struct zs_gpu_run *run, struct zs_gpu_worker *w, struct zs_gpu_group *group)
{
    if (run->debug) /* it keeps in mind that a debugger came */
        (void)zs_gpu_is_traced(run, w, group);
    report(run, w, group->spent - group->looked);
    w->groups_run += group->first == 0;
}

/* The group has ended, and the next one that the worker has claimed takes its place. false: there
 * is none, or others wait for their turn. */
static bool succeed_group(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group)
{
    if (w->claim.next == w->claim.end || w->group_count > 1)
        return false;
    end_group(run, w, group);
    uint64_t unit = w->claim.next++;
    if (run->parts == 1 && unit == group->index + 1 &&
        group->id[0] + 1 - run->launch->group_start[0] < run->launch->group_count[0])
        group->id[0]++;
    else
        zs_gpu_group_id(run->launch, unit / run->parts, group->id);
    begin_group(run, w, group, unit);
    return true;
}

void zs_gpu_admit_group(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint64_t unit,
                        uint32_t place)
{
    struct zs_gpu_group *group = &w->groups[w->group_count];
    if (run->history)
        zs_gpu_history_admitted(run, unit, place);
    if (w->group_count == w->groups_made) { /* its memory is passed on from group to group */
        group->number = w->groups_made;
        group->slm = w->slm + w->groups_made * w->slm_stride_B;
        group->threads = w->states + (size_t)w->groups_made * run->threads_per_group;
        w->groups_made++;
    }
    group->place = run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE ? (uint32_t)unit : place;
    zs_gpu_group_id(run->launch, unit / run->parts, group->id);
    begin_group(run, w, group, unit);
    w->group_count++;
}

/* A group has ended: swap it with the last one. Its local memory and states go with it, for the
 * next group that is admitted. */
void zs_gpu_drop_group(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint32_t at)
{
    struct zs_gpu_group *group = &w->groups[at];
    end_group(run, w, group);
    give_place_back(run, w, group->place);
    w->group_count--;
    if (at == w->group_count) /* mostly there is one */
        return;
    struct zs_gpu_group ended = *group;
    *group = w->groups[w->group_count];
    w->groups[w->group_count] = ended;
}

/* ---- workers -----------------------------------------------------------------------------------
 */

/* The next group, or false when there is none left. */
static bool claim_group(struct zs_gpu_run *run, struct zs_gpu_claim *claim, uint64_t *ret_unit)
{
    if (claim->next == claim->end) {
        uint64_t share = run->units / (run->workers_max * 8ull);
        uint64_t count = share < 1 ? 1 : ZS_MIN(share, (uint64_t)CLAIM_MAX);
        if (run->checks) { /* neighbours have pages in common, and each worker a shadow of its own
                            */
            uint64_t claimed = atomic_load_explicit(&run->next_group, memory_order_relaxed);
            uint64_t rest = run->units - ZS_MIN(claimed, run->units);
            count = ZS_MAX(count, rest / (run->workers_max * 2ull));
        }
        if (run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE || run->history)
            count = 1;
        claim->next = atomic_fetch_add_explicit(&run->next_group, count, memory_order_relaxed);
        claim->end = claim->next + count;
        if (claim->next >= run->units) {
            claim->next = claim->end = 0;
            return false;
        }
        claim->end = ZS_MIN(claim->end, run->units);
    }
    *ret_unit = claim->next++;
    return true;
}

/* The launching thread asks for help once the launch has lasted long enough, and will last as long
 * again: to wake another one takes some 10 us of both. */
static void maybe_ask_for_help(struct zs_gpu_run *run, const struct zs_gpu_worker *w)
{
    if (run->helped || w->index != 0 || run->workers_max == 1)
        return;
    uint64_t claimed = atomic_load_explicit(&run->next_group, memory_order_relaxed);
    uint64_t after_ns = run->checks ? 20 * HELP_AFTER_NS : HELP_AFTER_NS;
    uint64_t lasted_ns = zs_gpu_now_ns() - run->start_ns;
    if (claimed >= run->units || lasted_ns < after_ns ||
        lasted_ns / ZS_MAX(claimed, 1u) < after_ns / (run->units - claimed) ||
        !zs_gpu_checks_may_share(w))
        return;
    run->helped = true;
    zs_gpu_job_offer(run->device, &run->job);
}

/* One turn for each resident group. false: stop. */
IN_TWO_VERSIONS bool run_resident(struct zs_gpu_run *run, struct zs_gpu_worker *w, bool *ret_ended,
                                  bool debug)
{
    *ret_ended = false;
    for (uint32_t i = 0; i < w->group_count;) {
        struct zs_gpu_group *group = &w->groups[i];
        enum outcome outcome;
        do {
            outcome = run_group(run, w, group, debug);
            maybe_ask_for_help(run, w);
            if (outcome == OUTCOME_STOPPED || interrupted(run, w, group, NULL, 0))
                return false;
        } while (outcome == OUTCOME_DONE && succeed_group(run, w, group));
        if (outcome == OUTCOME_DONE) {
            zs_gpu_drop_group(run, w, i);
            *ret_ended = true;
        } else {
            i++;
        }
    }
    return true;
}

bool zs_gpu_run_ready(struct zs_gpu_run *run, struct zs_gpu_worker *w, bool *ret_ran)
{
    bool busy;
    *ret_ran = false;
    for (uint32_t i = 0; i < w->group_count;) {
        struct zs_gpu_group *group = &w->groups[i];
        for (uint32_t k = 0; k < run->threads_per_group; k++)
            *ret_ran |= group->threads[k].phase <= ZS_GPU_THREAD_READY;
        enum outcome outcome = run_round(run, w, group, &busy, true);
        if (atomic_load_explicit(&run->stop, memory_order_relaxed))
            return false;
        if (outcome == OUTCOME_DONE)
            zs_gpu_drop_group(run, w, i);
        else
            i++;
    }
    return true;
}

/* Take in one more group, when there is one and room for it; false: there is none left. */
static bool take_group(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    uint32_t place;
    uint64_t unit;
    if (!take_place(run, w, &place))
        return true; /* later */
    bool claimed = !zs_gpu_checks_are_full(w) && claim_group(run, &w->claim, &unit);
    if (claimed)
        zs_gpu_admit_group(run, w, unit, place);
    else
        give_place_back(run, w, place);
    return claimed;
}

static void work(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    bool more = true, ended = false;
    bool cooperative = run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE;
    uint32_t turns = 0; /* since a group ended or came in */
    while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
        if (run->debug && zs_gpu_debug_wants(run, w)) {
            if (!zs_gpu_debug_work(run, w))
                return;
            more = true; /* it may have gone back */
        }
        /* a cooperative launch is at work when all groups are in: twice as many with each turn */
        uint32_t patience = w->debug ? DEBUGGED_TURNS : PATIENCE_TURNS;
        uint32_t wanted = cooperative           ? ZS_MAX(w->group_count, 1u)
                          : turns >= patience   ? run->parts
                          : w->group_count == 0 ? 1
                                                : 0;
        for (; wanted && more && w->group_count < w->group_limit; wanted--) {
            more = take_group(run, w);
            turns = 0;
        }
        if (w->group_count == 0)
            return;
        if (!run->debug && !run_resident(run, w, &ended, false))
            return;
        if (run->debug && !run_resident(run, w, &ended, true)) {
            if (!zs_gpu_debug_work(run, w))
                return;
            more = true;
            continue;
        }
        turns = ended ? 0 : turns + 1;
        if (cooperative && !ended && !more) /* they wait for groups of other host threads */
            sched_yield();
    }
}

static void merge(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    zs_eu_program_counters_settle(run->kernel->program, w->counters);
    zs_gpu_tier_executed(run->kernel, &w->executed, w->counters, true);
    zs_gpu_checks_worker_ended(w);
    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; i < run->kernel->counter_count; i++)
        run->sums[i] += w->counters[i];
    run->groups_run += w->groups_run;
    run->threads_run += w->threads_run;
    pthread_mutex_unlock(&run->lock);
}

void zs_gpu_run_groups(struct zs_gpu_job *job)
{
    struct zs_gpu_run *run = (struct zs_gpu_run *)(void *)job;
    uint32_t index = atomic_fetch_add(&run->worker_index, 1);
    struct zs_gpu_worker *w = zs_gpu_worker_get(run->device);
    if (w && zs_gpu_checks_worker(run, w, index) && zs_gpu_worker_setup(run, w)) {
        w->index = index;
        uint32_t csr = w->host_csr = zs_eu_host_csr();
        int error = run->debug ? zs_gpu_debug_begin(run, w) : 0;
        if (error && index == 0)
            zs_gpu_stop_run(run, error, NULL);
        if (!error)
            work(run, w);
        if (run->debug && !error)
            zs_gpu_debug_end(run, w);
        zs_eu_host_csr_restore(csr);
        zs_gpu_file_end(run, w);
        merge(run, w);
        if (!w->blind) /* nothing is held while the launching thread waits for its helpers */
            zs_gpu_view_close(run->launch->memory, &w->view,
                              index != 0 || run->helped ? NULL : &run->launch_pin);
    } else if (index == 0) { /* helpers may fail: the launching thread does their work */
        zs_gpu_stop_run(run, -ENOMEM, NULL);
    }
    if (w)
        zs_gpu_worker_put(run->device, w);
}
