/* SPDX-License-Identifier: MIT */
/*
 * Debugging, on the host threads that execute a launch (debug.h).
 *
 * Between two turns a worker looks: it takes over changed code, lets those of its threads go on
 * that were resumed, and holds those that an interrupt asks for. As soon as a thread is held, or an
 * interrupt is under way, all threads of its resident groups are dispatched and have places, as on
 * hardware; places are kept until threads end. While some are held the worker starts no new groups.
 */
#include "gpu/debug/debug_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SLEEP_NS = 50000000, NO_PLACE_NS = 1000000, LOOK_NS = 1000000, LOOKS_MAX = 2000 };

/* ---- places ------------------------------------------------------------------------------------
 */

static uint32_t slice_count(const struct zs_gpu_run *run)
{
    return run->device->model->slices;
}

static uint32_t index_of(const struct zs_gpu_run *run, const struct zs_gpu_debug_thread *place)
{
    return (uint32_t)(place - run->debug->threads);
}

static struct zs_gpu_debug_thread *place_of(const struct zs_gpu_worker *w,
                                            const struct zs_gpu_thread_state *state)
{
    return w->debug->by_slot[state->slot];
}

/* NULL: none is free. */
static struct zs_gpu_debug_thread *give_place(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                              struct zs_gpu_group *group, uint32_t thread)
{
    struct zs_gpu_thread_state *state = &group->threads[thread];
    struct zs_gpu_debug_thread *place = place_of(w, state);
    if (place)
        return place;
    uint32_t before = run->history ? zs_gpu_history_place(run, group->index, thread) : UINT32_MAX;
    if (before != UINT32_MAX && run->debug->threads[before].state == ZS_GPU_DEBUG_FREE)
        place = &run->debug->threads[before];
    else
        place = zs_gpu_debug_place(run->debug, run->device->first_slice, slice_count(run));
    if (!place)
        return NULL;
    *place = (struct zs_gpu_debug_thread){.state = ZS_GPU_DEBUG_RUNNING,
                                          .run = run,
                                          .t = &w->threads[state->slot],
                                          .at = state,
                                          .worker = w->debug,
                                          .slm = group->slm,
                                          .group = group->index,
                                          .thread = thread,
                                          .number = group->place * run->threads_per_group + thread};
    w->debug->by_slot[state->slot] = place;
    w->debug->placed++;
    if (run->history)
        zs_gpu_history_placed(run, group->index, thread, index_of(run, place));
    return place;
}

static void take_back(struct zs_gpu_worker *w, uint32_t slot)
{
    struct zs_gpu_debug_thread *place = w->debug->by_slot[slot];
    if (!place)
        return;
    place->state = ZS_GPU_DEBUG_FREE;
    w->debug->by_slot[slot] = NULL;
    w->debug->placed--;
}

static void take_all_back(struct zs_gpu_worker *w)
{
    for (uint32_t slot = 0; w->debug->placed && slot < w->debug->capacity; slot++)
        take_back(w, slot);
}

/* Dispatch what is resident. */
static void give_places(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    for (uint32_t g = 0; g < w->group_count; g++) {
        struct zs_gpu_group *group = &w->groups[g];
        for (uint32_t i = 0; i < run->threads_per_group; i++) {
            if (group->threads[i].phase == ZS_GPU_THREAD_NEW)
                zs_gpu_start_thread(run, w, group, i);
            if (group->threads[i].phase != ZS_GPU_THREAD_DONE)
                give_place(run, w, group, i);
        }
    }
}

/* ---- holding and letting go --------------------------------------------------------------------
 */

static void hold(struct zs_gpu_worker *w, struct zs_gpu_debug_thread *place, uint32_t cause)
{
    place->state = ZS_GPU_DEBUG_HELD;
    place->resuming = place->step = place->suppress = place->is_lost = false;
    place->passes = cause == CR0_1_BREAKPOINT;
    place->cr0_1 = cause;
    place->fault_lane = UINT32_MAX;
    place->hit.kind = ZS_HISTORY_NONE;
    place->at->phase = ZS_GPU_THREAD_HELD;
    w->debug->held++;
}

static void run_code(struct zs_gpu_worker *w, struct zs_eu_thread *t)
{
    t->hooks = &zs_gpu_history_hooks;
    t->counters = w->debug->code->replaced ? NULL : w->counters;
}

void zs_gpu_debug_started(struct zs_gpu_worker *w, struct zs_eu_thread *t)
{
    run_code(w, t);
}

/* One that cannot stand in the code of now goes on in that of before, which is kept for it. */
static bool switch_code(struct zs_gpu_worker *w, struct zs_eu_thread *t,
                        const struct zs_eu_program *program)
{
    if (zs_eu_thread_switch(t, program) != 0)
        return false;
    run_code(w, t);
    return true;
}

/* It cannot go on: it stays held, and the debugger is told. */
static void stay(struct zs_gpu_run *run, struct zs_gpu_debug_thread *place, uint32_t cause)
{
    struct zs_gpu_debug_session *s = zs_gpu_debug_session_of(run->debug, index_of(run, place));
    place->resuming = place->step = false;
    place->cr0_1 |= cause;
    if (s)
        zs_gpu_debug_tell(s, ZS_GPU_DEBUG_STOPPED, index_of(run, place));
}

/* A step from the prologue leads behind it, where the thread stands already. True: it stays. */
static bool leave_prologue(struct zs_gpu_run *run, struct zs_gpu_debug_thread *place)
{
    bool was_in = place->in_prologue, steps = place->step;
    place->in_prologue = false;
    if (!was_in)
        return false;
    place->passes = place->suppress = false; /* that was the breakpoint in it */
    if (steps)
        stay(run, place, 0);
    if (steps)
        place->cr0_1 = CR0_1_BREAKPOINT;
    return steps;
}

static void let_go(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                   struct zs_gpu_debug_thread *place)
{
    if (leave_prologue(run, place))
        return;
    if (place->is_lost) {
        stay(run, place, CR0_1_ILLEGAL_OPCODE);
        return;
    }
    struct zs_gpu_kernel *kernel = (struct zs_gpu_kernel *)(uintptr_t)run->kernel;
    const struct zs_eu_program *program =
        place->step ? zs_gpu_code_stepper(kernel, w->debug->code) : w->program;
    bool ok = program && switch_code(w, place->t, program);
    if (!ok && place->step) { /* it cannot be stepped where it stands */
        stay(run, place, 0);
        return;
    }
    place->resuming = false;
    place->t->stopped = false;
    if (place->step || place->passes || place->suppress)
        zs_eu_thread_pass(place->t);
    place->state = ZS_GPU_DEBUG_RUNNING;
    place->cr0_1 = 0;
    place->suppress = place->passes = false;
    place->at->phase = ZS_GPU_THREAD_READY;
    w->debug->held--;
}

/* ---- looking -----------------------------------------------------------------------------------
 */

static bool is_started(const struct zs_gpu_thread_state *state)
{
    return state->phase != ZS_GPU_THREAD_NEW && state->phase != ZS_GPU_THREAD_DONE;
}

/* What the code is now. */
static bool take_code(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_kernel *kernel = (struct zs_gpu_kernel *)(uintptr_t)run->kernel;
    struct zs_gpu_code *code = zs_gpu_code_get(kernel), *before = w->debug->code;
    bool all = true;
    if (!code)
        return false;
    const struct zs_eu_program *program_before = w->program;
    w->debug->code = code;
    w->debug->run = run;
    zs_gpu_history_look(run, w);
    w->program = zs_gpu_history_program(run, w);
    if (!w->program) {
        w->program = program_before;
        return false;
    }
    for (uint32_t g = 0; g < w->group_count; g++) { /* of compiled code, too */
        for (uint32_t i = 0; i < run->threads_per_group; i++) {
            const struct zs_gpu_thread_state *state = &w->groups[g].threads[i];
            if (is_started(state))
                all &= switch_code(w, &w->threads[state->slot], w->program);
        }
    }
    zs_gpu_history_take_code(run, code, all);
    if (before && all) /* else kept: with the kernel it goes */
        zs_gpu_code_put(before);
    return true;
}

static bool interrupts_exist(const struct zs_gpu_debug_card *card)
{
    const struct zs_gpu_debug_session *s = card->sessions;
    while (s && !s->interrupts)
        s = s->next;
    return s != NULL;
}

/* It waits at a barrier, and the code has changed meanwhile. */
static void keep_stepping(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_debug_thread *place)
{
    struct zs_gpu_kernel *kernel = (struct zs_gpu_kernel *)(uintptr_t)run->kernel;
    const struct zs_eu_program *stepper = zs_gpu_code_stepper(kernel, w->debug->code);
    if (stepper)
        (void)switch_code(w, place->t, stepper);
}

static void attend(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    for (uint32_t slot = 0; w->debug->placed && slot < w->debug->capacity; slot++) {
        struct zs_gpu_debug_thread *place = w->debug->by_slot[slot];
        if (!place)
            continue;
        if (place->state == ZS_GPU_DEBUG_HELD && place->resuming)
            let_go(run, w, place);
        else if (place->state == ZS_GPU_DEBUG_RUNNING && place->step)
            keep_stepping(run, w, place);
        if (place->state == ZS_GPU_DEBUG_RUNNING &&
            zs_gpu_debug_is_wanted(run->debug, index_of(run, place)))
            hold(w, place, CR0_1_EXTERNAL_HALT);
    }
}

static void list_worker(struct zs_gpu_debug_card *card, struct zs_gpu_debug_worker *dw)
{
    dw->next = card->workers;
    if (dw->next)
        dw->next->at = &dw->next;
    dw->at = &card->workers;
    card->workers = dw;
    card->registered++;
}

static void unlist_worker(struct zs_gpu_debug_card *card, struct zs_gpu_debug_worker *dw)
{
    if (!dw->at)
        return;
    *dw->at = dw->next;
    if (dw->next)
        dw->next->at = dw->at;
    dw->at = NULL;
    card->registered--;
}

static bool is_halted(const struct zs_gpu_run *run)
{
    return zs_gpu_debug_is_halted(run->debug, run->device->first_slice, slice_count(run));
}

void zs_gpu_debug_worker_free(struct zs_gpu_debug_worker *spare)
{
    if (spare)
        free(spare->by_slot);
    free(spare);
}

/* Short launches are many: the one of the worker's launch before is taken, whose slots are empty.
 */
static int make_worker(struct zs_gpu_worker *w)
{
    struct zs_gpu_debug_worker *dw = w->spare;
    w->spare = NULL;
    if (dw && dw->capacity < w->thread_capacity) {
        zs_gpu_debug_worker_free(dw);
        dw = NULL;
    }
    if (dw) {
        struct zs_gpu_debug_thread **by_slot = dw->by_slot;
        uint32_t capacity = dw->capacity;
        memset(dw, 0, offsetof(struct zs_gpu_debug_worker, watches));
        dw->by_slot = by_slot;
        dw->capacity = capacity;
    } else {
        dw = calloc(1, sizeof(*dw));
        if (dw)
            dw->by_slot = calloc(w->thread_capacity + 1u, sizeof(struct zs_gpu_debug_thread *));
        if (!dw || !dw->by_slot) {
            free(dw);
            return -ENOMEM;
        }
        dw->capacity = w->thread_capacity;
    }
    w->debug = dw;
    return 0;
}

/* Under the lock; false: no memory. */
static bool look(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_debug_card *card = run->debug;
    if (!w->debug && make_worker(w) != 0)
        return false;
    struct zs_gpu_debug_worker *dw = w->debug;
    zs_gpu_history_take_writes(run);
    if (!dw->at && card->sessions)
        list_worker(card, dw);
    dw->look = false;
    dw->epoch = w->debug_epoch = atomic_load(&card->debug->epoch);
    if (!take_code(run, w))
        return false;
    if (card->sessions && (dw->held || interrupts_exist(card)))
        give_places(run, w);
    attend(run, w);
    if (!card->sessions) {
        unlist_worker(card, dw);
        take_all_back(w);
    }
    zs_gpu_debug_settle(card);
    return true;
}

/* ---- begin and end of a worker -----------------------------------------------------------------
 */

int zs_gpu_debug_begin(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_debug_card *card = run->debug;
    atomic_fetch_add(&card->active, 1);
    w->debug_epoch = atomic_load(&card->debug->epoch);
    if (atomic_load(&card->session_count) == 0 && !atomic_load(&card->debug->written))
        return 0;
    pthread_mutex_lock(&card->debug->lock);
    bool ok = look(run, w);
    if (ok)
        w->debug->look = is_halted(run);
    if (ok && card->stop_launch && run->number >= card->stop_launch) {
        w->debug->stop_first = true;
        card->stop_launch = 0;
    }
    pthread_mutex_unlock(&card->debug->lock);
    if (!ok)
        zs_gpu_debug_end(run, w);
    return ok ? 0 : -ENOMEM;
}

void zs_gpu_debug_end(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_debug_card *card = run->debug;
    struct zs_gpu_debug_worker *dw = w->debug;
    if (!dw) {
        atomic_fetch_sub(&card->active, 1);
        return;
    }
    pthread_mutex_lock(&card->debug->lock);
    take_all_back(w);
    if (dw->code)
        zs_gpu_code_put(dw->code);
    unlist_worker(card, dw);
    atomic_fetch_sub(&card->active, 1);
    zs_gpu_debug_settle(card);
    pthread_cond_broadcast(&card->debug->wake);
    pthread_mutex_unlock(&card->debug->lock);
    w->spare = dw;
    w->debug = NULL;
}

bool zs_gpu_debug_is_attached(const struct zs_gpu_run *run)
{
    return atomic_load(&run->debug->session_count) > 0;
}

bool zs_gpu_debug_wants(const struct zs_gpu_run *run, const struct zs_gpu_worker *w)
{
    return atomic_load_explicit(&run->debug->debug->epoch, memory_order_relaxed) !=
               w->debug_epoch ||
           (w->debug && w->debug->look);
}

/* ---- working -----------------------------------------------------------------------------------
 */

static bool resuming(const struct zs_gpu_debug_worker *dw)
{
    for (uint32_t slot = 0; slot < dw->capacity; slot++) {
        if (dw->by_slot[slot] && dw->by_slot[slot]->resuming)
            return true;
    }
    return false;
}

/* Under the lock, which it gives up while it waits. */
static void wait_for_news(struct zs_gpu_debug *debug, long ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&debug->wake, &debug->lock, &until);
}

int zs_gpu_debug_wait_for_code(struct zs_gpu_debug_session *session,
                               const struct zs_gpu_hw_thread *id)
{
    struct zs_gpu_debug *debug = session->card->debug;
    for (unsigned looks = 0; looks < LOOKS_MAX; looks++) {
        struct zs_gpu_debug_thread *thread;
        int error = zs_gpu_debug_held(session, id, &thread);
        if (error)
            return error;
        const struct zs_gpu_code *code = thread->worker->code;
        if (code && code->generation == debug->code_generation)
            return 0;
        wait_for_news(debug, LOOK_NS);
    }
    return -EAGAIN;
}

static bool sleep_until_news(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_debug *debug = run->debug->debug;
    zs_gpu_worker_sleep(run, w);
    pthread_mutex_lock(&debug->lock);
    if (w->debug->epoch == atomic_load(&debug->epoch) && !resuming(w->debug) &&
        !zs_gpu_history_is_asked(run))
        wait_for_news(debug, SLEEP_NS);
    pthread_mutex_unlock(&debug->lock);
    return zs_gpu_worker_wake(run, w);
}

bool zs_gpu_debug_work(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_debug *debug = run->debug->debug;
    const struct zs_gpu_fault none = {0};
    if (atomic_load_explicit(&run->stop, memory_order_relaxed))
        return false;
    for (;;) {
        bool ran = false;
        pthread_mutex_lock(&debug->lock);
        bool ok = look(run, w);
        bool stay = ok && (w->debug->held || is_halted(run));
        bool asked = ok && zs_gpu_history_is_asked(run);
        pthread_mutex_unlock(&debug->lock);
        if (asked) {
            zs_gpu_history_serve(run, w);
            continue;
        }
        if (!ok)
            zs_gpu_stop_run(run, -ENOMEM, &none);
        if (!stay)
            return ok;
        if (!zs_gpu_run_ready(run, w, &ran) || (!ran && !sleep_until_news(run, w)))
            return false;
    }
}

void zs_gpu_debug_take_back(struct zs_gpu_worker *w)
{
    take_all_back(w);
    w->debug->held = 0;
}

void zs_gpu_debug_hold_resident(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    give_places(run, w);
    for (uint32_t slot = 0; slot < w->debug->capacity; slot++) {
        struct zs_gpu_debug_thread *place = w->debug->by_slot[slot];
        if (place && place->state == ZS_GPU_DEBUG_RUNNING)
            hold(w, place, CR0_1_EXTERNAL_HALT);
    }
}

/* Threads do not execute the prologue of their kernel, which loads what they have already: a
 * breakpoint in it stops them at their start. True: it goes on. */
static bool pass_prologue(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group, uint32_t thread)
{
    struct zs_gpu_debug_card *card = run->debug;
    const struct zs_gpu_code *code = w->debug->code;
    const struct zs_eu_thread *t = &w->threads[group->threads[thread].slot];
    if (ZS_LIKELY(!code || code->prologue_stop_B == UINT32_MAX) || t->clock + t->executed > 0)
        return true;
    pthread_mutex_lock(&card->debug->lock);
    struct zs_gpu_debug_thread *place = give_place(run, w, group, thread);
    struct zs_gpu_debug_session *s = place && !place->passed_prologue
                                         ? zs_gpu_debug_session_of(card, index_of(run, place))
                                         : NULL;
    bool goes_on = place ? !s : !card->sessions;
    if (s) {
        place->passed_prologue = place->in_prologue = true;
        place->prologue_ip_B = zs_eu_program_ip(t->program, code->prologue_stop_B);
        hold(w, place, CR0_1_BREAKPOINT);
        zs_gpu_debug_tell(s, ZS_GPU_DEBUG_STOPPED, index_of(run, place));
    } else if (!goes_on) { /* it comes again */
        wait_for_news(card->debug, NO_PLACE_NS);
    }
    pthread_mutex_unlock(&card->debug->lock);
    return goes_on;
}

bool zs_gpu_debug_enter(struct zs_gpu_run *run, struct zs_gpu_worker *w, struct zs_gpu_group *group,
                        uint32_t thread)
{
    w->debug->group = group;
    w->debug->thread = thread;
    if (!pass_prologue(run, w, group, thread))
        return false;
    if (ZS_LIKELY(!w->debug->stop_first))
        return true;
    bool held = zs_gpu_debug_stopped(run, w, group, thread);
    w->debug->stop_first = false;
    return !held;
}

bool zs_gpu_debug_stopped(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group, uint32_t thread)
{
    struct zs_gpu_debug_card *card = run->debug;
    struct zs_eu_thread *t = &w->threads[group->threads[thread].slot];
    struct zs_history_hit hit = {.kind = ZS_HISTORY_NONE};
    pthread_mutex_lock(&card->debug->lock);
    bool watched = zs_gpu_history_hit(w, t, &hit);
    if (w->debug->stop_first) {
        hit.kind = ZS_HISTORY_BEGIN;
        watched = true;
    }
    struct zs_gpu_debug_thread *place = give_place(run, w, group, thread);
    struct zs_gpu_debug_session *s =
        place ? zs_gpu_debug_session_of(card, index_of(run, place)) : NULL;
    if (s) {
        bool stepped = place->step;
        hold(w, place, CR0_1_BREAKPOINT);
        if (watched) {
            place->hit = hit;
            place->passes = stepped; /* what is there has not been told */
        }
        if (hit.kind == ZS_HISTORY_BEGIN) /* nothing else of it runs, either */
            zs_gpu_debug_hold_resident(run, w);
        zs_gpu_debug_tell(s, ZS_GPU_DEBUG_STOPPED, index_of(run, place));
    } else if (!place && card->sessions) { /* it comes again */
        t->stopped = false;
        wait_for_news(card->debug, NO_PLACE_NS);
    }
    pthread_mutex_unlock(&card->debug->lock);
    return s != NULL;
}

static uint32_t cause_of(const struct zs_gpu_fault *fault)
{
    if (fault->kind == ZS_GPU_FAULT_BARRIER || fault->kind == ZS_GPU_FAULT_DIVERGENT)
        return CR0_1_SOFTWARE_EXCEPTION;
    return fault->has_access ? CR0_1_PAGE_FAULT : CR0_1_ILLEGAL_OPCODE;
}

static struct zs_history_memory access_of(const struct zs_gpu_fault *fault)
{
    struct zs_history_memory m = {.gpu_va = fault->gpu_va,
                                  .size_B = fault->access_B,
                                  .is_write = fault->is_write,
                                  .is_local = zs_gpu_fault_is_local(fault->kind)};
    if (!fault->has_access)
        return (struct zs_history_memory){0};
    snprintf(m.what, sizeof(m.what), "%s", zs_gpu_fault_name(fault->kind));
    if (fault->kind == ZS_GPU_FAULT_ARRAY || fault->kind == ZS_GPU_FAULT_UNDEFINED)
        snprintf(m.what, sizeof(m.what), "%.30s (%.150s)", zs_gpu_fault_name(fault->kind),
                 fault->detail);
    if (fault->nearest_count) {
        m.is_freed = fault->nearest[0].freed;
        m.allocation_va = fault->nearest[0].gpu_va;
        m.allocation_B = fault->nearest[0].size_B;
    }
    return m;
}

static void tell_fault(struct zs_gpu_debug_session *s, const struct zs_gpu_fault *fault,
                       uint32_t index)
{
    struct zs_gpu_debug_event event = {.kind = ZS_GPU_DEBUG_PAGE_FAULT,
                                       .gpu_va = fault->gpu_va,
                                       .is_permission = fault->kind == ZS_GPU_FAULT_READ_ONLY};
    if (fault->has_access && zs_gpu_fault_is_address(fault))
        s->sink(s->ctx, &event);
    zs_gpu_debug_tell(s, ZS_GPU_DEBUG_STOPPED, index);
}

bool zs_gpu_debug_faulted(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group, uint32_t thread,
                          const struct zs_gpu_fault *fault)
{
    struct zs_gpu_debug_card *card = run->debug;
    struct zs_eu_thread *t = &w->threads[group->threads[thread].slot];
    if (atomic_load(&card->session_count) == 0)
        return false;
    pthread_mutex_lock(&card->debug->lock);
    bool known = w->debug || make_worker(w) == 0;
    if (known && !w->debug->code)
        known = take_code(run, w);
    struct zs_gpu_debug_thread *place = known ? give_place(run, w, group, thread) : NULL;
    struct zs_gpu_debug_session *s =
        place ? zs_gpu_debug_session_of(card, index_of(run, place)) : NULL;
    bool goes_on = t->fault.kind == ZS_EU_FAULT_FOUND; /* it is told once */
    if (s && !goes_on && place->faulted && place->fault_offset_B == fault->instruction_offset_B)
        s = NULL; /* the debugger has not mended it */
    if (s) {
        if (t->fault.kind != ZS_EU_FAULT_NONE)
            zs_eu_thread_retry(t);
        w->port.fault.kind = ZS_PORT_FAULT_NONE;
        w->debug->reached_count = 0;
        hold(w, place, cause_of(fault));
        place->passes = place->faulted = true;
        if (fault->has_lane)
            place->fault_lane = fault->lane;
        place->fault_offset_B = fault->instruction_offset_B;
        place->access = access_of(fault);
        tell_fault(s, fault, index_of(run, place));
    }
    pthread_mutex_unlock(&card->debug->lock);
    return s != NULL;
}

void zs_gpu_debug_ended(struct zs_gpu_worker *w, uint32_t slot)
{
    struct zs_gpu_debug_thread *place = w->debug->by_slot[slot];
    if (!place)
        return;
    struct zs_gpu_run *run = place->run;
    struct zs_gpu_debug_card *card = run->debug;
    pthread_mutex_lock(&card->debug->lock);
    struct zs_gpu_debug_session *s = zs_gpu_debug_session_of(card, index_of(run, place));
    if (s && place->step)
        zs_gpu_debug_tell(s, ZS_GPU_DEBUG_UNAVAILABLE, index_of(run, place));
    take_back(w, slot);
    pthread_cond_broadcast(&card->debug->wake);
    pthread_mutex_unlock(&card->debug->lock);
}

void zs_gpu_debug_release(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group)
{
    pthread_mutex_lock(&run->debug->debug->lock);
    for (uint32_t i = 0; i < run->threads_per_group; i++) {
        struct zs_gpu_thread_state *state = &group->threads[i];
        if (state->phase == ZS_GPU_THREAD_DONE)
            continue;
        w->threads[state->slot].n0[0]++;
        if (state->phase != ZS_GPU_THREAD_HELD)
            state->phase = ZS_GPU_THREAD_READY;
    }
    pthread_mutex_unlock(&run->debug->debug->lock);
}
