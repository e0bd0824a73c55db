/* SPDX-License-Identifier: MIT */
#ifndef ZS_REPORT_TIMELINE_PRIV_H
#define ZS_REPORT_TIMELINE_PRIV_H

#include "base/buf.h"
#include "record/activities.h"
#include "report/timeline.h"

struct timeline {
    zs_timeline_write_fn write;
    void *user;
    struct zs_buf out;
    int status; /* of write */
    struct zs_activities activities;
    uint64_t first_ns;
    uint64_t thread; /* JSON: track of the thread that was named last */
    bool some;       /* JSON: a comma is needed */
    struct lane {
        uint64_t process, queue_id;
        uint64_t ends_ns[ZS_TIMELINE_LANES_MAX];
    } * lanes;
    size_t lane_count, lane_capacity;
};

/* Hand over what is there when it is much, or `all`. */
int timeline_flush(struct timeline *t, bool all);
/* The lane of its queue on which an execution is shown (they come by start); *ret_new: the first
 * there. -1: no memory. */
int timeline_lane(struct timeline *t, const struct zs_act_execute *e, bool *ret_new);
const char *timeline_name(const struct zs_act_append *append, char *buffer, size_t size_B);
void timeline_queue_name(const struct zs_act_execute *e, int lane, char *ret_text, size_t size_B);
/* Ties an append to its executions. */
uint64_t timeline_flow(const struct zs_act_append *append);
/* Allocations only: the change of live bytes by process. 0 or -ENOMEM. */
int timeline_memory(struct timeline *t,
                    int (*put)(struct timeline *t, const struct zs_act_object *o, uint64_t live_B));
void timeline_free(struct timeline *t);

#endif
