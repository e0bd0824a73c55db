/* SPDX-License-Identifier: MIT */
/*
 * Enter and exit callbacks around calls, always in pairs: the core under zescope/trace.h (the
 * tools' side) and under zetTracerExp* (the driver's side). It knows nothing of Level Zero but that
 * a call has an index and an array of pointers to its parameters.
 *
 * Guarantees (Tools Programming Guide, "Enabling/Disabling and Destruction"):
 *  - a call uses the set of tracers that was enabled when it was entered, for its exit too. So
 * enter and exit of a tracer run in pairs whatever other threads enable or disable in between;
 *  - disabling a tracer keeps new pairs from starting; pairs that are under way still end;
 *  - destroying waits for the pairs that are under way;
 *  - calls made inside a tracer's callback are not traced by that tracer, only by the others.
 *
 * How: the enabled tracers are an immutable snapshot behind one atomic pointer (NULL while none is
 * enabled, so that an untraced call costs one load). A call announces the snapshot that it uses in
 * a hazard slot of its thread; whoever retires a snapshot frees it when no slot names it. Nothing
 * is shared between threads that make calls, so the cost does not grow with their number.
 */
#ifndef ZS_TRACERS_TRACERS_H
#define ZS_TRACERS_TRACERS_H

#include "base/compiler.h"

#include <stdatomic.h>

enum {
    ZS_TRACERS_MAX = 32, /* enabled at once in one set */
    ZS_TRACE_DEPTH_MAX =
        8, /* traced calls made inside callbacks of traced calls; deeper: untraced */
    ZS_TRACE_COUNTS_MAX = 4, /* what a call's in/out counts were on enter */
};

/* params: one pointer per parameter, in order (the layout of Level Zero's ze_*_params_t).
 * result: the call's result so far; meaningless on enter. *instance_data is this tracer's own for
 * this call, NULL on enter, kept until exit. */
typedef void (*zs_trace_fn)(void *params, int32_t result, void *user_data, void **instance_data);

/* Generic form for tracers that watch many calls with one function. result may be changed. */
struct zs_trace_event {
    uint32_t call; /* index of the call */
    bool is_exit;
    void **params;
    uint32_t param_count;
    int32_t *result;  /* on exit: may be changed. On enter: NULL */
    uint64_t *counts; /* [ZS_TRACE_COUNTS_MAX], of this call: see zs_codec_enter */
};
typedef void (*zs_trace_any_fn)(const struct zs_trace_event *event, void *user_data,
                                void **instance_data);

struct zs_trace_snapshot;

/* The tracers of one API implementation. Zero-initialised is valid and empty. */
struct zs_trace_set {
    _Atomic(struct zs_trace_snapshot *) current; /* NULL: none enabled */
    uint32_t call_count;                         /* calls are 0 .. call_count - 1 */
    atomic_uint_fast64_t untraced;               /* calls beyond ZS_TRACE_DEPTH_MAX or no memory */
};

struct zs_tracer;

/* What one call carries from its enter to its exit, on the caller's stack. */
struct zs_trace_frame {
    struct zs_trace_snapshot *snapshot;
    void *thread;
    uint32_t entered;                     /* bit i: tracer i of the snapshot was entered */
    uint64_t counts[ZS_TRACE_COUNTS_MAX]; /* nothing before a tracer puts something there */
    void *instance_data[ZS_TRACERS_MAX];
};

/* Disabled, without callbacks. 0 or -ENOMEM. */
int zs_tracer_new(struct zs_trace_set *set, void *user_data, struct zs_tracer **ret_tracer);
/* Only while disabled (-EBUSY otherwise). A NULL function means no callback for that call. */
int zs_tracer_set_enter(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn);
int zs_tracer_set_exit(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn);
int zs_tracer_set_any(struct zs_tracer *tracer, zs_trace_any_fn fn);
/* Limit a generic callback to some calls: bit i of words[i / 64]. NULL: all. The words are copied.
 */
int zs_tracer_set_filter(struct zs_tracer *tracer, const uint64_t *words, size_t word_count);
/* 0, -ENOSPC (ZS_TRACERS_MAX are enabled), -ENOMEM. Setting what is set already does nothing. */
int zs_tracer_enable(struct zs_tracer *tracer, bool enabled);
/* Disables, waits for the pairs under way in other threads, frees. -EDEADLK, and only disabled,
 * when called from inside a pair of this tracer on the same thread. */
int zs_tracer_free(struct zs_tracer *tracer);

/* Slow halves of zs_trace_enter / zs_trace_exit. */
bool zs_trace_enter_slow(struct zs_trace_set *set, uint32_t call, void **params,
                         uint32_t param_count, struct zs_trace_frame *frame);
int32_t zs_trace_exit_slow(uint32_t call, void **params, uint32_t param_count, int32_t result,
                           struct zs_trace_frame *frame);

/*
 * Around a call:
 *
 *     void *params[] = {&handle, &count};
 *     struct zs_trace_frame frame;
 *     bool traced = zs_trace_enter(&set, CALL, params, 2, &frame);
 *     ze_result_t result = next(handle, count);
 *     return traced ? zs_trace_exit(CALL, params, 2, result, &frame) : result;
 */
static inline bool zs_trace_enter(struct zs_trace_set *set, uint32_t call, void **params,
                                  uint32_t param_count, struct zs_trace_frame *frame)
{
    if (ZS_LIKELY(!atomic_load_explicit(&set->current, memory_order_relaxed)))
        return false;
    return zs_trace_enter_slow(set, call, params, param_count, frame);
}
static inline int32_t zs_trace_exit(uint32_t call, void **params, uint32_t param_count,
                                    int32_t result, struct zs_trace_frame *frame)
{
    return zs_trace_exit_slow(call, params, param_count, result, frame);
}

#endif
