/* SPDX-License-Identifier: MIT */
#ifndef ZS_RECORD_METRICS_PRIV_H
#define ZS_RECORD_METRICS_PRIV_H

#include <zescope/metrics.h>

#include "base/arena.h"
#include "base/buf.h"
#include "record/activities.h"
#include "record/sorter.h"

#define METRICS_VEC(type)                                                                          \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

enum { METRICS_IP = 0x7ffffffe }; /* ZET_METRIC_TYPE_IP_EXP */

static inline int metrics_compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

struct zs_metrics {
    struct zs_arena arena;
    struct zs_activities activities; /* names of kernels and devices */
    struct zs_metrics_info info;
    bool keeps_raw;
    METRICS_VEC(struct zs_metric_group) groups;
    struct zs_sorter launches; /* struct zs_metric_launch, by submission: without their index */
    struct zs_sorter starts;   /* those with times, by their start: where stretches are measured */
    struct zs_sorter reports;  /* struct metrics_stored */
    METRICS_VEC(const struct zs_act_kernel *) bases; /* whose address is known; by it */
};

/* A report as it is sorted; its values and raw bytes stand behind it. */
struct metrics_stored {
    uint64_t order; /* of launches: the launch's index; of stretches: start_ns */
    bool is_time_based;
    uint32_t group, run;
    uint64_t process, start_ns, end_ns;
    uint64_t raw_B;
};

/* ---- metrics.c ---- */

/* A set of values as it was read; the values and raw bytes stand behind it. */
struct metrics_entry {
    uint64_t process, group, append, submit_ns, start_ns, end_ns;
    uint32_t values_B, raw_B;
    uint32_t part; /* 0, or more values of the one before it */
    bool is_sample;
};

/* A group as one process described it. */
struct metrics_described {
    uint64_t process, id, device_id;
    const char *name, *description;
    uint32_t domain, sampling, count, seen;
    struct zs_metric *metrics; /* [count] */
    uint32_t index;            /* of the group in the result; NONE: not whole */
};

struct metrics_unmeasured {
    uint64_t process, count;
    const char *reason;
};

/* One run of a recording on its way. */
struct metrics_load {
    struct zs_metrics *m;
    struct zs_activities activities;
    struct zs_id_map described; /* by process and id */
    METRICS_VEC(struct metrics_described *) all;
    METRICS_VEC(struct metrics_unmeasured) unmeasured;
    struct zs_sorter entries;  /* struct metrics_entry */
    struct zs_sorter launches; /* struct zs_metric_launch */
    struct zs_buf scratch;
};

/* A record of one process. 1: a query, which the caller keeps; 0; -errno. */
int metrics_record(struct metrics_load *l, uint64_t process, struct zs_span record,
                   struct metrics_entry *ret_entry, struct zs_span *ret_values);

/* metrics_walks.c: when all launches are there. 0 or -errno. */
int metrics_add_walks(struct metrics_load *l, const char *recording);

/* ---- metrics_join.c: launches and sets of values become reports ---- */

zs_sorter_compare metrics_by_submission, metrics_by_entry, metrics_by_report;
/* Of a run whose traces were read: finishes its launches, takes its entries. 0 or -errno. */
int metrics_join(struct metrics_load *l, uint32_t run, struct zs_sorter *reports);
/* Reports of another run become reports of the first one's launches. */
int metrics_join_run(struct metrics_load *l, uint32_t run, struct zs_sorter *reports);

/* metrics_place.c: once activities are read. 0 or -ENOMEM. */
int metrics_find_bases(struct zs_metrics *m);

/* metrics_cursor.c: launches that ran in a stretch of time, in the order of submission. Stretches
 * come by their start. Memory is bounded by the launches that began before the end of one and had
 * not ended at its start. What is made up ends after STEPS_MAX. */
struct metrics_window {
    struct zs_sorter_cursor starts;
    const struct zs_metric_launch *next;
    bool started;
    METRICS_VEC(struct zs_metric_launch) launches;
    size_t steps;
};
/* 0 or -errno. */
int metrics_window_move(struct metrics_window *w, const struct zs_sorter *starts,
                        const struct zs_metric_report *report);
void metrics_window_fini(struct metrics_window *w);
/* How long both ran, in the same process. */
uint64_t metrics_overlap(const struct zs_metric_launch *launch,
                         const struct zs_metric_report *report);

struct zs_metrics_cursor {
    const struct zs_metrics *metrics;
    struct zs_sorter_cursor launches, reports;
    const struct metrics_stored *stored; /* the report that comes next */
    struct zs_metric_launch launch;      /* given last */
    struct zs_metric_report report;
    uint64_t launch_count;        /* that were given */
    struct metrics_window window; /* of the report, where that is of a stretch of time */
};

/* metrics_words.c: how values of several reports become one. */
enum zs_metric_total metrics_total_of(uint32_t type, const char *units);
/* The metric that tells how long a report took in nanoseconds. */
uint32_t metrics_time_of(const struct zs_metric *metrics, uint32_t count);
/* How long it took: by its own metric, else by its times; 0: not known. */
double metrics_report_time(const struct zs_metrics *m, const struct zs_metric_report *report);

#endif
