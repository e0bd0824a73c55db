/* SPDX-License-Identifier: MIT */
#ifndef ZS_RECORD_METRICS_PRIV_H
#define ZS_RECORD_METRICS_PRIV_H

#include <zescope/metrics.h>

#include "base/arena.h"
#include "record/activities.h"

#define METRICS_VEC(type)                                                                          \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

struct zs_metrics {
    struct zs_arena arena;
    struct zs_activities activities; /* names of kernels and devices */
    struct zs_metrics_info info;
    bool keeps_raw;
    METRICS_VEC(struct zs_metric_group) groups;
    METRICS_VEC(struct zs_metric_launch) launches;
    METRICS_VEC(struct zs_metric_report) reports;
    const union zs_metric_value **values;            /* by report */
    METRICS_VEC(const struct zs_act_kernel *) bases; /* whose address is known; by it */
};

/* metrics_place.c: once activities are read. 0 or -ENOMEM. */
int metrics_find_bases(struct zs_metrics *m);

/* metrics_window.c: launches that a report of a stretch of time may be about. They begin after they
 * were submitted, in which order they are sorted; how far back they may have begun is bounded by
 * the longest. Reports come by their start, more or less: what is made up ends after STEPS_MAX. */
struct metrics_window {
    const struct zs_metric_launch *launches;
    size_t count, steps;
    uint64_t longest_ns;
    size_t first, end; /* of the launches */
};
struct metrics_window metrics_window_make(const struct zs_metric_launch *launches, size_t count);
void metrics_window_move(struct metrics_window *w, const struct zs_metric_report *report);
/* How long both ran, in the same process. */
uint64_t metrics_overlap(const struct zs_metric_launch *launch,
                         const struct zs_metric_report *report);

/* metrics_words.c: how values of several reports become one. */
enum zs_metric_total metrics_total_of(uint32_t type, const char *units);
/* The metric that tells how long a report took in nanoseconds. */
uint32_t metrics_time_of(const struct zs_metric *metrics, uint32_t count);
/* How long it took: by its own metric, else by its times; 0: not known. */
double metrics_report_time(const struct zs_metrics *m, const struct zs_metric_report *report);

#endif
