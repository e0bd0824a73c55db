/* SPDX-License-Identifier: MIT */
/*
 * Metrics of a recording: what `zescope record --metrics`, `zescope metrics query` and `zescope
 * metrics stream` leave behind (docs/metrics.md).
 *
 * A recording holds metric groups as the driver described them, the kernel launches of the
 * application, and reports: sets of values, one for each metric of a group, which the driver
 * calculated in the application's process. A report is of one launch (event-based groups, queries)
 * or of a stretch of time (time-based groups, streamers).
 *
 *     struct zs_metrics *metrics;
 *     if (zs_metrics_open("rec", &metrics, &diag))
 *         ...
 *     struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
 *     while ((status = zs_metrics_next(cursor, &launch, &report)) > 0)
 *         if (report)
 *             printf("%g\n", zs_metrics_number(metrics, report, metric));
 *     zs_metrics_cursor_close(cursor);
 *
 * Recordings are hostile input: what is broken in one record costs that record, which is counted
 * (struct zs_metrics_info). Names and units are the driver's words: data, not to be trusted.
 *
 * Memory does not grow with launches and reports: they are sorted in an unnamed file in $TMPDIR (or
 * /tmp), which takes about what their numbers take in the recording.
 *
 * Threads: opened metrics may be read from several threads at once, each with cursors of its own.
 * All that is handed out lives until zs_metrics_close, but for what a cursor gives; strings are
 * NUL-terminated, never NULL.
 */
#ifndef ZESCOPE_METRICS_H
#define ZESCOPE_METRICS_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZS_METRICS_NONE UINT32_MAX /* "no such index" in the members below */

/* How values of several reports become one. The API does not tell: it follows from type and units,
 * see docs/metrics.md. */
enum zs_metric_total {
    ZS_METRIC_TOTAL_NONE, /* they do not: time stamps, addresses, raw values */
    ZS_METRIC_TOTAL_SUM,  /* counts, bytes, times */
    ZS_METRIC_TOTAL_MEAN, /* percentages, ratios, frequencies: by the time of the reports */
};

struct zs_metric {
    const char *name, *description, *component, *units;
    uint32_t type;       /* zet_metric_type_t, see zs_metric_type_name */
    uint32_t value_type; /* zet_value_type_t, see zs_metric_value_type_name */
    uint32_t tier;
    enum zs_metric_total total;
};

/* A group of one device model: those of the same description are one. */
struct zs_metric_group {
    const char *name, *description;
    const char *device; /* the device's name */
    uint32_t domain;
    uint32_t metric_count;
    const struct zs_metric *metrics;
    bool is_time_based; /* its reports are of stretches of time, not of launches */
    uint32_t time;      /* the metric that tells how long a report took in nanoseconds, or NONE */
};

/* One execution of a kernel, in the order of submission. */
struct zs_metric_launch {
    const char *kernel;
    const char *device;
    uint64_t process; /* tells processes apart: a number of the recording << 32 | process id */
    uint64_t build;   /* id of the module's build in its process (zs_record_build.id), 0: unknown */
    uint64_t submit_ns, start_ns, end_ns; /* CLOCK_MONOTONIC; end_ns 0: times are not known */
    uint64_t append; /* id of the call that appended it, in its process: executions of one list
                        share it */
    uint64_t index;  /* in this order, from 0 */
    uint32_t groups[3], size[3]; /* work-groups, and work-items of a group; [0] == 0: not known */
    uint32_t simd;               /* largest sub-group, 0: not known */
    uint32_t thread;             /* of the host that appended it */
};

union zs_metric_value {
    uint64_t u64; /* unsigned integers and booleans */
    double f64;   /* floating-point numbers of both sizes */
};

/* One set of values. */
struct zs_metric_report {
    uint32_t group; /* index into zs_metrics_groups */
    uint32_t run;   /* of the application (--runs), from 1 */
    const struct zs_metric_launch
        *launch; /* of a stretch of time: what ran longest in it; or NULL */
    uint64_t process;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC: of the launch or the stretch; 0: not known */
    const union zs_metric_value *values; /* group->metric_count of them */
    const void *raw; /* as the driver gave it, NULL: kept elsewhere, or not at all */
    uint64_t raw_B;
};

struct zs_metrics;

/* Of one recording. Handed out by the library only: it may grow. */
struct zs_metrics_info {
    uint32_t run_count;        /* of the application; 1 unless --runs was given */
    uint64_t launches;         /* of kernels that were recorded */
    uint64_t measured;         /* ... that have a report of some group */
    uint64_t reports;          /* of launches and of stretches of time */
    uint64_t orphans;          /* reports whose launch was not recorded: left out */
    uint64_t damaged;          /* records that make no sense: left out */
    uint64_t lost;             /* executions that the recorder could not measure, as it says */
    const char *lost_reason;   /* of the most of them, "" for none */
    const char *runs_mismatch; /* "": runs launched the same; else a sentence. Reports of a run that
                                  launched something else are left out */
    uint64_t damaged_files;    /* of traces: what stands behind the damage is missing */
    uint64_t events_lost;      /* of traces while recording, of metrics or anything else */
    uint64_t overflows; /* how often reports of stretches of time were lost, because the driver's
                           buffer was full before they were read */
};

/* Whether the recording was made with metrics, without reading it: `record --metrics` says so in a
 * file of its own. */
ZS_API bool zs_metrics_probe(const char *recording);

/*
 * 0, or -errno with a sentence: -ENOENT, -EINVAL (not a recording), -ENOMEM (also: groups of more
 * than 1 GiB), what writing the unnamed file gave (-ENOSPC ...). A recording without metrics opens;
 * it has no groups. Reads all of the recording's traces, and those of further runs in its folder
 * "runs".
 */
ZS_API int zs_metrics_open(const char *recording, struct zs_metrics **ret_metrics,
                           struct zs_diag *diag);
ZS_API void zs_metrics_close(struct zs_metrics *metrics);

ZS_API const struct zs_metrics_info *zs_metrics_info(const struct zs_metrics *metrics);
ZS_API const struct zs_metric_group *zs_metrics_groups(const struct zs_metrics *metrics,
                                                       uint32_t *ret_count);

/* Walks over all launches, each with its reports behind it, by group; then over the reports of
 * stretches of time, by their start. NULL: no memory. Closed before the metrics are. */
struct zs_metrics_cursor;
ZS_API struct zs_metrics_cursor *zs_metrics_cursor_open(const struct zs_metrics *metrics);
/* 1: the next launch, with *ret_report NULL, or the next report, with *ret_launch NULL; they live
 * until the next call. 0: there are no more. -errno: the unnamed file could not be read, or -ENOMEM
 * (also of a cursor that is NULL); it ends there. */
ZS_API int zs_metrics_next(struct zs_metrics_cursor *cursor,
                           const struct zs_metric_launch **ret_launch,
                           const struct zs_metric_report **ret_report);
/* NULL may be closed. */
ZS_API void zs_metrics_cursor_close(struct zs_metrics_cursor *cursor);

/* A value of a report as a number; a `metric` that the group does not have gives 0. */
ZS_API double zs_metrics_number(const struct zs_metrics *metrics,
                                const struct zs_metric_report *report, uint32_t metric);
/* Index of the metric of that name in the group, or ZS_METRICS_NONE. Case matters. */
ZS_API uint32_t zs_metric_find(const struct zs_metric_group *group, const char *name);
/* Whether its values stand in f64, not in u64. */
ZS_API bool zs_metric_is_float(const struct zs_metric *metric);
ZS_API double zs_metric_value_number(const struct zs_metric *metric, union zs_metric_value value);

/* "duration", "event", "throughput", ...; NULL for types of later specifications. */
ZS_API const char *zs_metric_type_name(uint32_t type);
/* "uint32", "float64", ...; NULL for types of later specifications. */
ZS_API const char *zs_metric_value_type_name(uint32_t value_type);

/* Where in the code a report of a group with an instruction pointer (EU stall sampling) is. */
struct zs_metric_place {
    const char *kernel;
    uint64_t process; /* as in zs_metric_launch */
    uint64_t build;   /* id of the module's build in its process, 0: not known */
    uint64_t seen_ns; /* CLOCK_MONOTONIC when the kernel was seen first */
    int64_t offset_B; /* from the kernel's first instruction; negative: in a function before it */
};

/* False: the group tells no addresses, or this one is in no kernel whose address is known. */
ZS_API bool zs_metrics_place(const struct zs_metrics *metrics,
                             const struct zs_metric_report *report,
                             struct zs_metric_place *ret_place);

/* --- sums --- */

enum zs_metric_sum_by {
    ZS_METRIC_SUM_BY_KERNEL, /* name, build and device */
    ZS_METRIC_SUM_BY_SHAPE,  /* and numbers of work-groups and work-items */
};

/* All reports of a group that are of launches of one kernel. A report of a stretch of time is
 * shared among the kernels by how long they ran in it; those in which none ran make a row with the
 * kernel
 * "". */
struct zs_metric_sum {
    const char *kernel, *device;
    uint64_t build;
    uint32_t groups[3], size[3]; /* zero where rows are by kernel */
    uint32_t simd;
    uint32_t group;       /* index into zs_metrics_groups */
    uint64_t reports;     /* that were summed; of stretches of time: in which it ran */
    uint64_t launches;    /* of this kernel (and shape), measured by this group or not */
    double time_ns;       /* of the reports: by the group's own metric, else of their launches */
    const double *values; /* group->metric_count; 0 for ZS_METRIC_TOTAL_NONE */
};

struct zs_metric_sums {
    const struct zs_metric_sum *rows; /* by group, then by time, the longest first */
    uint32_t count;
    void *internal;
};

/* Sums (of integers exact up to 2^53) and means (by the time of the reports; where that is not
 * known all count alike). 0, or -errno as zs_metrics_next gives it. */
ZS_API int zs_metrics_sum(const struct zs_metrics *metrics, enum zs_metric_sum_by by,
                          struct zs_metric_sums *ret_sums);
ZS_API void zs_metric_sums_free(struct zs_metric_sums *sums);

#ifdef __cplusplus
}
#endif

#endif
