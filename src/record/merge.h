/* SPDX-License-Identifier: MIT */
/*
 * All calls, device activity and objects of a recording in the order of time, read once, piece by
 * piece. Memory grows with the threads that ran at the same time, the objects that were alive at
 * the same time and the appends of command lists that can be executed again (32 bytes each), not
 * with the number of calls.
 *
 * Times within one thread do not go back; over threads, calls come in the order in which they
 * began, and what was recorded inside a call comes right before it. Executions come when they were
 * recorded, which is after they ended, and after their append.
 */
#ifndef ZS_RECORD_MERGE_H
#define ZS_RECORD_MERGE_H

#include "base/diag.h"
#include "record/activities.h"
#include "record/calls.h"

/* Any may be NULL. A non-zero return stops the reading and is returned. */
struct zs_merge_sink {
    void *user;
    int (*call)(void *user, const struct zs_calls *calls, const struct zs_call *call,
                uint64_t process);
    int (*append)(void *user, const struct zs_act_append *append);
    int (*execute)(void *user, const struct zs_act_execute *execute);
    int (*object)(void *user, const struct zs_act_object *object);
    /* an allocation that was there when its process ended: after the last that it recorded */
    int (*ended)(void *user, const struct zs_act_object *object);
    int (*left)(void *user, const struct zs_act_object *object); /* at the end: never destroyed */
    int (*build)(void *user, const struct zs_act_build *build);
    int (*mark)(void *user, const struct zs_act_mark *mark); /* ranges: when they end */
    /* a record of metrics (METRIC_GROUP to UNMEASURED) as it stands in the file, while its file is
     * read ahead: in no order with the others */
    int (*metric)(void *user, uint64_t process, struct zs_span record, uint64_t time_ns);
    bool no_values; /* `call` does not look at calls->values */
};

struct zs_merge_totals {
    uint64_t files, damaged_files;
    uint64_t calls;
    uint64_t lost; /* calls of which one end was not recorded */
    uint64_t first_ns, last_ns;
    bool activity; /* some device was seen: activity was recorded */
};

/* 0, -errno with a sentence, or what a function of the sink returned. A damaged file gives what
 * stands before the damage. What is given to the sink points to what lives during its call; names
 * and struct zs_act_device, _queue and _kernel live in ret_activities, which the caller frees. */
int zs_merge(const char *recording, const struct zs_merge_sink *sink,
             struct zs_activities *ret_activities, struct zs_merge_totals *ret_totals,
             struct zs_diag *diag);

#endif
