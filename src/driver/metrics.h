/* SPDX-License-Identifier: MIT */
/*
 * Metrics (docs/metrics.md): counters of launches, their groups, raw reports, queries, streamers.
 *
 * Each device has one struct zs_metrics while ZET_ENABLE_METRICS=1, else none, and launches then
 * cost a comparison. Launches add what they counted when they end; a query reads the sums, a
 * streamer keeps the launches as stretches of device time and cuts them into reports.
 */
#ifndef ZS_DRIVER_METRICS_H
#define ZS_DRIVER_METRICS_H

#include "driver/list.h"

enum zs_metric_counter {
#define ZS_METRIC_COUNTER(id) ZS_METRIC_##id,
#include "driver/metric_counter.def"
#undef ZS_METRIC_COUNTER
#define ZS_GPU_TOTAL(id, text) ZS_METRIC_##id,
#include "gpu/total.def"
#undef ZS_GPU_TOTAL
    ZS_METRIC_COUNTERS
};
_Static_assert(ZS_METRIC_COUNTERS <= 64, "metrics name counters by bits of 64");

enum zs_metric_set {
#define ZS_METRIC_SET(id, domain, name, description) ZS_METRIC_SET_##id,
#define ZS_METRIC(set, name, description, component, tier, type, unit, how, counters)
#include "driver/metric_group.def"
#undef ZS_METRIC_SET
#undef ZS_METRIC
    ZS_METRIC_SETS
};
enum { ZS_METRIC_DOMAINS = 2, ZS_METRIC_SAMPLINGS = 2 };

/* How a value follows from a report. */
enum zs_metric_how {
    ZS_HOW_TIME,
    ZS_HOW_CLOCKS,
    ZS_HOW_FREQUENCY,
    ZS_HOW_SUM,
    ZS_HOW_PART_OF_CLOCKS,
    ZS_HOW_PART_OF_EUS,
    ZS_HOW_PART_OF_THREADS,
    ZS_HOW_STALL,
    ZS_HOW_LANES,
    ZS_HOW_TIMESTAMP, /* of time-based reports: when it began */
    ZS_HOW_MARKER,    /* of time-based reports: the value of a marker, 0: none */
    ZS_HOWS
};

struct zs_metric_row {
    enum zs_metric_set set;
    const char *name, *description, *component, *unit;
    uint32_t tier;
    zet_metric_type_t type;
    enum zs_metric_how how;
    uint64_t counters; /* bit per enum zs_metric_counter */
};

/* metric_calc.c: of the values. */
zet_value_type_t zs_metric_value_type(const struct zs_metric_row *row);

/* ---- Raw reports -------------------------------------------------------------------------------
 * Little-endian; all reports have the same size. */
enum {
    ZS_RAW_MAGIC = 0x524d535a, /* "ZSMR" */
    ZS_RAW_VERSION = 1,
    ZS_RAW_HEADER_B = 64,
    ZS_RAW_REPORT_B = ZS_RAW_HEADER_B + 8 * ZS_METRIC_COUNTERS,
    ZS_RAW_LOST = 1,   /* flag: reports before this one were lost */
    ZS_RAW_MARKER = 2, /* flag: the report ends at a marker */
};

struct zs_metric_report {
    uint32_t set, sampling; /* enum zs_metric_set; 0: query, 1: streamer */
    uint32_t flags, marker;
    uint64_t begin_ticks, end_ticks;
    uint64_t elapsed_ns, cycles;
    uint64_t counters[ZS_METRIC_COUNTERS];
};

void zs_metric_report_write(const struct zs_metric_report *report,
                            uint8_t ret_bytes[ZS_RAW_REPORT_B]);

/* ---- Groups ------------------------------------------------------------------------------------
 */

struct zs_ze_metric {
    struct zs_object object;
    struct zs_ze_metric_group *group;
    const struct zs_metric_row *row;
};

struct zs_ze_metric_group {
    struct zs_object object;
    struct zs_ze_device *device;
    enum zs_metric_set set;
    zet_metric_group_sampling_type_flags_t sampling;
    uint32_t domain;
    uint32_t metric_count;
    struct zs_ze_metric *metrics[]; /* in the order of values */
};

/* ---- A device's counters -----------------------------------------------------------------------
 */

/* A launch on the device's clock. */
struct zs_metric_stretch {
    uint64_t start_ticks, end_ticks;
    uint64_t counters[ZS_METRIC_COUNTERS];
};

struct zs_metrics {
    pthread_mutex_t lock;
    struct zs_ze_metric_group *groups[ZS_METRIC_SETS * ZS_METRIC_SAMPLINGS];
    struct zs_ze_metric_group *active[ZS_METRIC_DOMAINS]; /* NULL: none */
    struct zs_ze_streamer *streamers[ZS_METRIC_DOMAINS];
    uint64_t sums[ZS_METRIC_COUNTERS];
    uint64_t
        running[64]; /* when launches that run now began, 0: free; a bit each in `running_mask` */
    uint64_t running_mask;
    uint32_t beyond; /* launches that found no place there */
    uint64_t beyond_since_ticks;
};

/* For each device of the driver, when the environment asks for metrics. False: no memory. */
bool zs_metrics_init(struct zs_ze_driver *driver);
void zs_metrics_free(struct zs_ze_device *device);

/* Around a launch; a number for the second call. Nothing without metrics. */
uint32_t zs_metrics_launch_begin(struct zs_ze_device *device);
void zs_metrics_launch_end(struct zs_ze_device *device, uint32_t number,
                           const struct zs_gpu_result *result);
/* Up to when all that ran is known; the lock is held. */
uint64_t zs_metrics_settled_ticks(struct zs_ze_device *device);
/* Cycles of the core clock in so many ticks. */
uint64_t zs_metrics_cycles(const struct zs_ze_device *device, uint64_t ticks);

/* ---- Streamers ---------------------------------------------------------------------------------
 */

/* A launch ended: streamers of the device take it in. The device's lock is held. */
void zs_streamers_add(struct zs_metrics *metrics, const struct zs_metric_stretch *stretch);

#endif
