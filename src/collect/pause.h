/* SPDX-License-Identifier: MIT */
/*
 * Whether the process is being recorded right now. Recording is paused and resumed by a signal, by
 * the application (zescope/control.h), when a kernel of some name is launched, and at given times;
 * a call looks at one word to know.
 *
 * While paused no calls and no executions are recorded. Modules are captured, and lists, queues,
 * events and kernels are followed, so that what is executed later can be attributed.
 */
#ifndef ZS_COLLECT_PAUSE_H
#define ZS_COLLECT_PAUSE_H

#include "store/activity.h"
#include "tracers/tracers.h"

enum zs_pause_flag {
    ZS_PAUSE_ON = 1,      /* paused */
    ZS_PAUSE_NOTES = 2,   /* zs_pause_next_note has something */
    ZS_PAUSE_KERNELS = 4, /* zs_pause_before and _after are to be called */
    ZS_PAUSE_TIMED = 8,
};
extern atomic_uint zs_pause_word;

static inline unsigned zs_pause_flags(void)
{
    return atomic_load_explicit(&zs_pause_word, memory_order_relaxed);
}

/* From the environment (store/store.h); before the application's code runs. */
void zs_pause_init(void);
/* In the child of a fork: a new process, in its parent's state. */
void zs_pause_fork_child(void);
/* False: it was so already. Safe in signal handlers. */
bool zs_pause_set(bool paused, enum zs_pause_reason reason, uint64_t time_ns);
/* A call is entered or left, and zs_pause_flags() was not 0. */
void zs_pause_before(const struct zs_trace_event *event);
void zs_pause_after(const struct zs_trace_event *event);

/* What is to be written into the recording. One thread at a time. */
struct zs_pause_note {
    uint64_t time_ns;
    bool paused;
    enum zs_pause_reason reason;
};
bool zs_pause_next_note(struct zs_pause_note *ret_note);

#endif
