/* SPDX-License-Identifier: MIT */
#ifndef ZS_REPORT_TIMELINE_PRIV_H
#define ZS_REPORT_TIMELINE_PRIV_H

#include "base/buf.h"
#include "record/merge.h"
#include "report/timeline.h"

#include <zescope/metrics.h>

enum { TIMELINE_REORDER_MAX = 1 << 16, TIMELINE_PROCESSES_MAX = 256 };

/* A metric over time. */
struct timeline_counter {
    uint64_t process;
    uint32_t group, metric; /* indices */
    bool is_first;          /* that is put */
    const char *name;       /* "EuActive (percent), ComputeBasic" */
};

/* An execution that waits until those that started before it have come. */
struct timeline_execute {
    struct zs_act_execute execute;
    struct zs_act_append append;
};

struct timeline {
    zs_timeline_write_fn write;
    void *user;
    struct zs_buf out;
    int status; /* of write */
    struct zs_activities activities;
    struct zs_timeline_result *result;
    uint64_t first_ns;
    uint64_t thread; /* JSON: track of the thread that was named last */
    uint64_t slice_number;
    bool some; /* JSON: a comma is needed */
    struct lane {
        uint64_t process, queue_id;
        uint64_t ends_ns[ZS_TIMELINE_LANES_MAX];
    } * lanes;
    size_t lane_count, lane_capacity;
    struct {
        struct timeline_execute *items;
        size_t count, capacity;
    } early; /* a heap by start: what is not handed over yet */
    struct {
        uint64_t process, live_B;
    } memory[TIMELINE_PROCESSES_MAX];
    size_t process_count;
    bool has_metrics; /* a record of some was seen */
    /* of the format */
    int (*put_slice)(struct timeline *t, const struct zs_act_execute *e);
    int (*put_memory)(struct timeline *t, const struct zs_act_object *o, uint64_t live_B,
                      bool is_first);
    int (*put_counter)(struct timeline *t, const struct timeline_counter *counter, uint64_t time_ns,
                       double value);
};

/* Hand over what is there when it is much, or `all`. */
int timeline_flush(struct timeline *t, bool all);
/* Functions for struct zs_merge_sink: executions reach put_slice by their start, allocations
 * put_memory with what the process then has. */
int timeline_on_execute(void *user, const struct zs_act_execute *e);
int timeline_on_object(void *user, const struct zs_act_object *o);
int timeline_on_metric(void *user, uint64_t process, struct zs_span record, uint64_t time_ns);
/* Values of metrics as counters, where any were seen: a launch's from its start to its end. */
int timeline_metrics(struct timeline *t, const char *recording, struct zs_diag *diag);
/* Those that still wait. */
int timeline_end(struct timeline *t);
/* The lane of its queue on which an execution is shown; *ret_new: the first there. -1: no memory.
 */
int timeline_lane(struct timeline *t, const struct zs_act_execute *e, bool *ret_new);
const char *timeline_name(const struct zs_act_append *append, char *buffer, size_t size_B);
void timeline_queue_name(const struct zs_act_execute *e, int lane, char *ret_text, size_t size_B);
/* Ties an append to its executions. */
uint64_t timeline_flow(const struct zs_act_append *append);
void timeline_free(struct timeline *t);

#endif
