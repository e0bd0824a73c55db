/* SPDX-License-Identifier: MIT */
/*
 * What devices do for the application, seen from its API calls.
 *
 * Every append of a kernel, copy, fill or barrier gets an event that carries kernel timestamps: one
 * of ours where the application gave none, otherwise the application's own, whose pool we had
 * created with the timestamp flag. Timestamps are read when the application has just waited for
 * something, or is about to reset or destroy what they depend on; we only ever ask whether an event
 * is there (zeEventQueryStatus) and never wait.
 *
 * What could confuse one execution with another:
 *   - A list is executed again. If the earlier execution is done, its timestamps are read and our
 *     events reset first. If not, a small list of ours goes to the queue between the two: it keeps
 *     the timestamps in host memory, resets our events, and leaves a mark at its end. Until the
 *     mark is there, no event of the list is believed.
 *   - The application resets its event on the device: right before, the timestamps are kept in host
 *     memory by a command in the same list.
 *   - The application resets its event on the host, or destroys it: they are read right before.
 *   - Two appends share an event with nothing in between: the earlier one has no times.
 * What cannot be known is recorded as executed without times.
 *
 * What a wait proves is over: what had been submitted, by calls that had returned, when the wait
 * began. Another thread may be in the middle of a submission: its executions are counted already,
 * so that they can end before their call returns, but no wait proves anything of them.
 *
 * One lock guards the tables; it is held for microseconds, never across a call that can wait.
 * Appends to a list that is being built take what they need (an event, an id, a record) from a
 * supply of the list's own, under a lock of the list's, which only a program that uses one list
 * from several threads at once, as the specification forbids, can find taken. The supply is filled
 * from the tables.
 */
#ifndef ZS_COLLECT_ACTIVITY_H
#define ZS_COLLECT_ACTIVITY_H

#include "collect/collect.h"
#include "store/activity.h"
#include "store/trace_writer.h"
#include "tracers/tracers.h"

struct zs_activity;

/* What was appended. */
struct act_shape {
    enum zs_activity_kind kind;
    uint64_t kernel, count, bytes;
    uint32_t groups[3], size[3];
    uint64_t local_B; /* of arguments: local memory whose size the application sets */
    bool has_groups, has_bytes;
    enum zs_activity_memory from, to;
};

/* What one call keeps from its enter to its exit. */
struct act_append;
struct act_list;
struct act_measure;

/* What a thread remembers of the tables, so that it need not look there: as long as the generation
 * is the same, no list or kernel has been created or destroyed. */
struct act_kernel;
struct zs_activity_thread {
    struct zs_trace_file *file;
    uint64_t generation;
    ze_command_list_handle_t list_handle;
    struct act_list *list;
    ze_kernel_handle_t kernel_handle;
    const struct act_kernel *kernel;
};

struct zs_activity_call {
    bool is_hooked, muted; /* muted: recording is paused */
    uint32_t restore;      /* the parameter that was replaced, + 1; 0: none */
    void *replaced;        /* its value as the application gave it */
    uint64_t id;           /* of the append; the queue's ticket before a wait */
    struct act_append *append;
    struct act_measure *measure; /* of a launch; NULL: it is not measured */
    struct act_list *list;       /* that it is appended to */
    struct act_shape shape;
    uint32_t build; /* zeModuleCreate, on exit: its id in modules.jsonl, 0: not captured */
    ze_event_pool_desc_t pool_desc;
    uint64_t counter_desc[4]; /* ze_event_counter_based_desc_t */
};

/* NULL: no memory. Never freed: calls may be under way when a fork replaces it. */
struct zs_activity *zs_activity_create(struct zs_collector *c, struct zs_trace_process *process);
/* Whether a call is followed, paused or not. */
bool zs_activity_hooks(uint32_t call);
/* Into a file: recording was paused or resumed; something that the application said. */
void act_write_pause(struct zs_trace_file *file, const struct zs_trace_process *process,
                     bool paused, uint32_t reason, uint64_t time_ns);
void act_write_mark(struct zs_trace_file *file, uint64_t track, bool is_first,
                    enum zs_activity_record record, const char *text, uint64_t time_ns);
/* An object is destroyed by a call that is not recorded: a record, if this is such a call. */
bool act_destroys(uint32_t call);
void act_write_ended(struct zs_trace_file *file);
void act_write_gone(struct zs_trace_file *file, const struct zs_trace_event *event);
/* Around a call that was (enter) or will be (exit) recorded in the file of `self`, the calling
 * thread. now_ns: when the call returned. may_end: its end is to be written, and tells nothing but
 * success; true when that has been done, with what the call appended. */
void zs_activity_enter(struct zs_activity *a, struct zs_activity_thread *self,
                       const struct zs_trace_event *event, struct zs_activity_call *call,
                       bool muted);
bool zs_activity_exit(struct zs_activity *a, struct zs_activity_thread *self,
                      const struct zs_trace_event *event, struct zs_activity_call *call,
                      uint64_t now_ns, bool may_end);
/* The process ends: executions that nobody waited for, with their times where they are over. */
void zs_activity_end(struct zs_activity *a, struct zs_trace_file *file);

#endif
