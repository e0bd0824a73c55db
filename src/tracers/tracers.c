/* SPDX-License-Identifier: MIT */
#include "tracers/tracers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct zs_tracer {
    struct zs_trace_set *set;
    void *user_data;
    zs_trace_any_fn any;
    zs_trace_fn *enter, *exit; /* [set->call_count] each, NULL until one is set */
    uint64_t *filter;          /* NULL: every call */
    bool enabled;
};

struct zs_trace_snapshot {
    struct zs_trace_snapshot *retired_next;
    uint32_t count;
    struct zs_tracer *tracers[ZS_TRACERS_MAX];
};

/* A thread that made a traced call. Records are reused when threads end, never freed. */
struct trace_thread {
    struct trace_thread *next;
    atomic_bool in_use;
    _Atomic(struct zs_trace_snapshot *) hazard[ZS_TRACE_DEPTH_MAX];
    uint32_t depth;                             /* own thread only, like the rest */
    struct zs_tracer *busy[ZS_TRACERS_MAX * 2]; /* tracers whose callback runs on this thread */
    uint32_t busy_count;
};

/*
 * The one process-wide state of this file: threads are the process's, so are their hazard slots.
 * Everything but the lock-free list is guarded by trace_lock.
 */
static _Atomic(struct trace_thread *) trace_threads;
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static struct zs_trace_snapshot *trace_retired;
static pthread_key_t trace_key;
static pthread_once_t trace_once = PTHREAD_ONCE_INIT;
static _Thread_local struct trace_thread *trace_self;

/* What the thread had under way is void: a thread that was cancelled inside a call never leaves it.
 */
static void thread_release(struct trace_thread *t)
{
    for (uint32_t i = 0; i < ZS_TRACE_DEPTH_MAX; i++)
        atomic_store(&t->hazard[i], NULL);
    t->depth = 0;
    t->busy_count = 0;
    atomic_store(&t->in_use, false);
}

static void thread_ends(void *arg)
{
    trace_self = NULL;
    thread_release(arg);
}

static void fork_prepare(void)
{
    pthread_mutex_lock(&trace_lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&trace_lock);
}

/* In the child only the forking thread lives on, perhaps inside a traced call: what the others
 * announced is void. */
static void fork_child(void)
{
    const struct trace_thread *self = trace_self;
    for (struct trace_thread *t = atomic_load(&trace_threads); t; t = t->next)
        if (t != self)
            thread_release(t);
    pthread_mutex_unlock(&trace_lock);
}

static void trace_setup(void)
{
    pthread_key_create(&trace_key, thread_ends);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

static struct trace_thread *thread_make(void)
{
    pthread_once(&trace_once, trace_setup);
    struct trace_thread *t = atomic_load(&trace_threads);
    for (; t; t = t->next) {
        bool free_one = false;
        if (atomic_compare_exchange_strong(&t->in_use, &free_one, true))
            break;
    }
    if (!t) {
        t = calloc(1, sizeof(*t));
        if (!t)
            return NULL;
        atomic_store(&t->in_use, true);
        t->next = atomic_load(&trace_threads);
        while (!atomic_compare_exchange_weak(&trace_threads, &t->next, t))
            ;
    }
    pthread_setspecific(trace_key, t);
    trace_self = t;
    return t;
}

static bool thread_is_busy_with(const struct trace_thread *t, const struct zs_tracer *tracer)
{
    for (uint32_t i = 0; i < t->busy_count; i++)
        if (t->busy[i] == tracer)
            return true;
    return false;
}

static bool tracer_wants(const struct zs_tracer *tracer, uint32_t call)
{
    return !tracer->filter || (tracer->filter[call / 64] >> (call % 64) & 1);
}

/* Functions of applications have types of their own for parameters, which are not known here. */
__attribute__((no_sanitize("undefined"))) static void callback(struct trace_thread *t,
                                                               struct zs_tracer *tracer,
                                                               const struct zs_trace_event *event,
                                                               int32_t result, void **instance_data)
{
    zs_trace_fn *fns = event->is_exit ? tracer->exit : tracer->enter;
    zs_trace_fn fn = fns ? fns[event->call] : NULL;
    bool any = tracer->any && tracer_wants(tracer, event->call);
    if ((!fn && !any) || t->busy_count == ZS_ARRAY_LEN(t->busy))
        return;
    t->busy[t->busy_count++] = tracer;
    if (fn)
        fn(event->params, result, tracer->user_data, instance_data);
    if (any)
        tracer->any(event, tracer->user_data, instance_data);
    t->busy_count--;
}

/* Announce the current snapshot in the thread's next hazard slot; NULL when there is none. */
static struct zs_trace_snapshot *announce(struct zs_trace_set *set, struct trace_thread *t)
{
    struct zs_trace_snapshot *snapshot = atomic_load(&set->current);
    while (snapshot) {
        atomic_store(&t->hazard[t->depth], snapshot);
        struct zs_trace_snapshot *again = atomic_load(&set->current);
        if (again == snapshot)
            return snapshot;
        snapshot = again;
    }
    atomic_store_explicit(&t->hazard[t->depth], NULL, memory_order_release);
    return NULL;
}

bool zs_trace_enter_slow(struct zs_trace_set *set, uint32_t call, void **params,
                         uint32_t param_count, struct zs_trace_frame *frame)
{
    struct trace_thread *t = trace_self ? trace_self : thread_make();
    if (!t || t->depth == ZS_TRACE_DEPTH_MAX) {
        atomic_fetch_add(&set->untraced, 1);
        return false;
    }
    frame->snapshot = announce(set, t);
    if (!frame->snapshot)
        return false;
    t->depth++;
    frame->thread = t;
    frame->entered = 0;
    const struct zs_trace_event event = {
        .call = call, .params = params, .param_count = param_count, .counts = frame->counts};
    for (uint32_t i = 0; i < frame->snapshot->count; i++) {
        struct zs_tracer *tracer = frame->snapshot->tracers[i];
        frame->instance_data[i] = NULL;
        if (t->busy_count && thread_is_busy_with(t, tracer))
            continue;
        frame->entered |= UINT32_C(1) << i;
        callback(t, tracer, &event, 0, &frame->instance_data[i]);
    }
    return true;
}

int32_t zs_trace_exit_slow(uint32_t call, void **params, uint32_t param_count, int32_t result,
                           struct zs_trace_frame *frame)
{
    struct trace_thread *t = frame->thread;
    const struct zs_trace_event event = {.call = call,
                                         .is_exit = true,
                                         .params = params,
                                         .param_count = param_count,
                                         .result = &result,
                                         .counts = frame->counts};
    /* the last entered leaves first, as nested calls do */
    for (uint32_t i = frame->snapshot->count; i-- > 0;)
        if (frame->entered >> i & 1)
            callback(t, frame->snapshot->tracers[i], &event, result, &frame->instance_data[i]);
    t->depth--;
    atomic_store_explicit(&t->hazard[t->depth], NULL, memory_order_release);
    return result;
}

/*
 * Whether a call under way, of this thread alone or of any, uses the snapshot. Slots are compared,
 * never followed: a thread may for a moment announce a snapshot that is gone (see announce).
 */
static bool snapshot_is_used(const struct zs_trace_snapshot *snapshot,
                             const struct trace_thread *only)
{
    for (struct trace_thread *t = atomic_load(&trace_threads); t; t = t->next)
        for (uint32_t i = 0; i < ZS_TRACE_DEPTH_MAX && (!only || t == only); i++)
            if (atomic_load(&t->hazard[i]) == snapshot)
                return true;
    return false;
}

/* Free the retired snapshots that no call uses any more. trace_lock is held. */
static void reclaim(void)
{
    for (struct zs_trace_snapshot **at = &trace_retired, *s; (s = *at);) {
        if (snapshot_is_used(s, NULL)) {
            at = &s->retired_next;
        } else {
            *at = s->retired_next;
            free(s);
        }
    }
}

static bool snapshot_has(const struct zs_trace_snapshot *s, const struct zs_tracer *tracer)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->tracers[i] == tracer)
            return true;
    return false;
}

/* Publish the current set of tracers with one more or one less. trace_lock is held. */
static int publish(struct zs_trace_set *set, struct zs_tracer *add, struct zs_tracer *remove)
{
    struct zs_trace_snapshot *old = atomic_load(&set->current);
    struct zs_trace_snapshot *fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return -ENOMEM;
    for (uint32_t i = 0; old && i < old->count; i++)
        if (old->tracers[i] != remove)
            fresh->tracers[fresh->count++] = old->tracers[i];
    if (add && fresh->count == ZS_TRACERS_MAX) {
        free(fresh);
        return -ENOSPC;
    }
    if (add)
        fresh->tracers[fresh->count++] = add;
    if (!fresh->count) {
        free(fresh);
        fresh = NULL;
    }
    atomic_store(&set->current, fresh);
    if (old) {
        old->retired_next = trace_retired;
        trace_retired = old;
    }
    reclaim();
    return 0;
}

int zs_tracer_new(struct zs_trace_set *set, void *user_data, struct zs_tracer **ret_tracer)
{
    struct zs_tracer *tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return -ENOMEM;
    tracer->set = set;
    tracer->user_data = user_data;
    *ret_tracer = tracer;
    return 0;
}

static int tracer_set_fn(struct zs_tracer *tracer, zs_trace_fn **fns, uint32_t call, zs_trace_fn fn)
{
    if (call >= tracer->set->call_count)
        return -EINVAL;
    pthread_mutex_lock(&trace_lock);
    int error = tracer->enabled ? -EBUSY : 0;
    if (!error && !*fns) {
        *fns = calloc(tracer->set->call_count, sizeof(**fns));
        error = *fns ? 0 : -ENOMEM;
    }
    if (!error)
        (*fns)[call] = fn;
    pthread_mutex_unlock(&trace_lock);
    return error;
}

int zs_tracer_set_enter(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn)
{
    return tracer_set_fn(tracer, &tracer->enter, call, fn);
}

int zs_tracer_set_exit(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn)
{
    return tracer_set_fn(tracer, &tracer->exit, call, fn);
}

int zs_tracer_set_any(struct zs_tracer *tracer, zs_trace_any_fn fn)
{
    pthread_mutex_lock(&trace_lock);
    int error = tracer->enabled ? -EBUSY : 0;
    if (!error)
        tracer->any = fn;
    pthread_mutex_unlock(&trace_lock);
    return error;
}

int zs_tracer_set_filter(struct zs_tracer *tracer, const uint64_t *words, size_t word_count)
{
    size_t need = (tracer->set->call_count + 63) / 64;
    uint64_t *filter = NULL;
    if (words) {
        filter = calloc(need ? need : 1, sizeof(*filter));
        if (!filter)
            return -ENOMEM;
        memcpy(filter, words, ZS_MIN(need, word_count) * sizeof(*filter));
    }
    pthread_mutex_lock(&trace_lock);
    int error = tracer->enabled ? -EBUSY : 0;
    if (!error) {
        free(tracer->filter);
        tracer->filter = filter;
        filter = NULL;
    }
    pthread_mutex_unlock(&trace_lock);
    free(filter);
    return error;
}

int zs_tracer_enable(struct zs_tracer *tracer, bool enabled)
{
    pthread_mutex_lock(&trace_lock);
    int error = 0;
    if (tracer->enabled != enabled)
        error = publish(tracer->set, enabled ? tracer : NULL, enabled ? NULL : tracer);
    if (!error)
        tracer->enabled = enabled;
    pthread_mutex_unlock(&trace_lock);
    return error;
}

/* Whether a pair of a disabled tracer is under way. Only retired snapshots can hold it, and the
 * lock keeps them from being freed meanwhile. */
static bool tracer_in_flight(const struct zs_tracer *tracer, const struct trace_thread *only)
{
    for (const struct zs_trace_snapshot *s = trace_retired; s; s = s->retired_next)
        if (snapshot_has(s, tracer) && snapshot_is_used(s, only))
            return true;
    return false;
}

int zs_tracer_free(struct zs_tracer *tracer)
{
    int error = zs_tracer_enable(tracer, false);
    if (error)
        return error;
    pthread_mutex_lock(&trace_lock);
    if (trace_self && tracer_in_flight(tracer, trace_self))
        error = -EDEADLK;
    for (long wait_ns = 1000; !error && tracer_in_flight(tracer, NULL);) {
        pthread_mutex_unlock(&trace_lock);
        nanosleep(&(struct timespec){.tv_nsec = wait_ns}, NULL);
        wait_ns = ZS_MIN(wait_ns * 2, 1000000L);
        pthread_mutex_lock(&trace_lock);
    }
    reclaim();
    pthread_mutex_unlock(&trace_lock);
    if (error)
        return error;
    free(tracer->enter);
    free(tracer->exit);
    free(tracer->filter);
    free(tracer);
    return 0;
}
