/* SPDX-License-Identifier: MIT */
/*
 * Metrics (docs/metrics.md): counters of launches, their groups, raw reports, queries, streamers.
 *
 * A device has one struct zs_metrics from the first time that metrics are turned on, by
 * ZET_ENABLE_METRICS=1 or zetDeviceEnableMetricsExp; while they are off launches cost a comparison.
 * Launches add what they counted when they end; a query reads the sums, a streamer keeps the
 * launches as stretches of device time and cuts them into reports.
 */
#ifndef ZS_DRIVER_METRICS_METRICS_H
#define ZS_DRIVER_METRICS_METRICS_H

#include "base/reader.h"
#include "driver/intel.h"
#include "driver/queue/list.h"
#include "gpu/metric/metric.h"

#include <string.h>

struct zs_ze_kernel;

/* ---- Groups ------------------------------------------------------------------------------------
 */

struct zs_ze_metric {
    struct zs_object object;
    const struct zs_metric_row *row;
    struct zs_metric_made *made; /* by the program (metrics/programmable.c); NULL: of a set */
};

struct zs_ze_metric_group {
    struct zs_object object;
    struct zs_ze_device *device;
    enum zs_metric_set set;
    zet_metric_group_sampling_type_flags_t sampling;
    uint32_t domain;
    const char *name, *description;
    struct zs_metric_user_group *user; /* made by the program (metrics/user.c); NULL: of a set */
    uint32_t metric_count;             /* of groups of the program: under the device's lock */
    struct zs_ze_metric *metrics[];    /* in the order of values */
};

/* With a handle; NULL: no memory. */
struct zs_ze_metric *zs_metric_new(const struct zs_metric_row *row);
/* A metric of a group's own. False: no memory. */
bool zs_metric_group_add(struct zs_ze_metric_group *group, const struct zs_metric_row *row);
/* To a field of the API, cut where it ends. */
void zs_metric_copy_text(char *to, size_t size_B, const char *from);

/* ---- A device's counters -----------------------------------------------------------------------
 */

enum { ZS_METRIC_KEPT_MOST = 1 << 20 };

/* Since number `first`, kept while the group is active; of more than ZS_METRIC_KEPT_MOST the oldest
 * go. */
struct zs_metric_kept {
    struct zs_metric_at *items;
    size_t count, capacity;
    uint64_t first; /* number of items[0] */
};
/* Number of the next one; kept NULL: 0. */
static inline uint64_t zs_metric_kept_end(const struct zs_metric_kept *kept)
{
    return kept ? kept->first + kept->count : 0;
}

/* A ring of a streamer's segment (share.h). */
struct zs_metric_out {
    struct zs_metric_segment *segment; /* NULL: nobody streams */
    struct zs_metric_ring *ring;
    uint64_t head;
    pid_t streamer; /* the process */
    bool is_own;
    uint32_t set; /* enum zs_metric_set, or any number: of the streamer */
};

struct zs_metrics {
    bool timed;          /* the model of time is on */
    _Atomic bool off;    /* since zetDeviceDisableMetricsExp */
    bool by_environment; /* they are on whatever that says */
    struct zs_metric_kept kept[ZS_METRIC_BY_ADDRESS];
    pthread_mutex_t lock;
    struct zs_ze_metric_group *groups[ZS_METRIC_SETS * ZS_METRIC_SAMPLINGS];
    uint32_t group_count;
    struct zs_ze_metric_group *doubting[ZS_METRIC_SETS * ZS_METRIC_SAMPLINGS]; /* of `groups`, the
                                                                                  same with what
                                                                                  they may be off;
                                                                                  NULL: not asked */
    struct zs_ze_metric_group *active[ZS_METRIC_DOMAINS];                      /* NULL: none */
    struct zs_metric_programmables *programmables; /* NULL: not asked for yet */
    struct zs_ze_streamer *streamers[ZS_METRIC_DOMAINS];
    struct zs_metric_out outs[ZS_METRIC_DOMAINS]; /* to these, and to those of other processes */
    _Atomic uint32_t foreign;                     /* so many of them are of other processes */
    struct zs_ze_metric_tracer *tracer;
    uint64_t sums[ZS_METRIC_COUNTERS];
};

/* What is kept for a set by address, one for each launch and instruction; NULL: another set. */
static inline const struct zs_metric_kept *zs_metrics_kept_for(const struct zs_metrics *metrics,
                                                               uint32_t set)
{
    return zs_metric_is_by_address(set) ? &metrics->kept[zs_metric_by_address(set)] : NULL;
}

/* For each device of the driver, when the environment asks for metrics. False: no memory. */
bool zs_metrics_init(struct zs_ze_driver *driver);
void zs_metrics_free(struct zs_ze_device *device);

/* In a forked child. */
void zs_metrics_after_fork(void);

/* Functions of <zescope/driver_ext.h> by their names; NULL: none. */
void *zs_metrics_function(const char *name);

/* From now on; with the environment's variable they are on from the beginning. False: no memory. */
bool zs_metrics_enable(struct zs_ze_device *device);
/* The device's, made now if they are not there; with `enable` they are on. NULL: no memory. */
struct zs_metrics *zs_metrics_make(struct zs_ze_device *device, bool enable);
/* The device's, NULL while they are off. */
struct zs_metrics *zs_metrics_of(const struct zs_ze_device *device);

/* metrics/later.c: what a chain of pNext asks of a group. */
void zs_metric_later_properties(const struct zs_ze_metric_group *group, void *next);

/* A launch begins: whether it is counted, for metrics are on or another process has a streamer of
 * the device open, of one of its tiles or of its root. Tiles count equal parts of what runs on all
 * of them. */
bool zs_metrics_launch_begin(struct zs_ze_device *device);
/* Of a launch that is counted: somebody measures ZscopeGains. */
bool zs_metrics_want_gains(struct zs_ze_device *device);
/* A launch ended. `counted`: what zs_metrics_launch_begin() said. Its times become later where the
 * engine was busy or streamers have told of them already: it lasts until they are over
 * (zs_engine_wait).
 */
void zs_metrics_launch_end(struct zs_ze_device *device, bool counted,
                           const struct zs_ze_kernel *kernel, struct zs_gpu_result *result);
/* Addresses of groups that are not active any more; the lock is held. */
void zs_metrics_forget_addresses(struct zs_metrics *metrics);
/* Nothing is told to the streamer of the domain any more; the lock is held. */
void zs_metrics_let_go(struct zs_metrics *metrics, uint32_t domain);
/* A marker for this process's streamer of the domain; the lock is held. */
void zs_metrics_mark(struct zs_metrics *metrics, uint32_t domain, uint64_t ticks, uint32_t value);
/* Cycles of the core clock in so many ticks. */
uint64_t zs_metrics_cycles(const struct zs_ze_device *device, uint64_t ticks);

/* ---- Streamers ---------------------------------------------------------------------------------
 */

/* What a chain of pNext asks of the room for unread data: the size it gets. NULL: nothing. */
zs_intel_metric_buffer_size_t *zs_metric_buffer_asked(const void *next);

/* What was kept from number `first` on, summed by address; the lock is held. NULL: no memory or
 * none. *ret_lost: there was more. */
struct zs_metric_at *zs_metrics_kept(const struct zs_metric_kept *kept, uint64_t first,
                                     size_t *ret_count, bool *ret_lost);

/* metrics/tracer.c: a launch ended, of the kernel at that address. The lock is held. */
void zs_tracer_add(struct zs_metrics *metrics, uint64_t address,
                   const struct zs_metric_stretch *stretch);

/* Whose streamer it is; borrowed from it. */
struct zs_ze_metric_group *zs_streamer_group(const struct zs_ze_streamer *streamer);
/* The open streamer of a group, with a reference; NULL: none. */
struct zs_ze_streamer *zs_streamer_of(const struct zs_ze_metric_group *group);

/* The value goes into the report that ends there; nothing if the streamer is closed by then. */
ze_result_t zs_streamer_append_marker(const char *function, ze_command_list_handle_t hCommandList,
                                      struct zs_ze_streamer *streamer, uint32_t value);

/* ---- Values ------------------------------------------------------------------------------------
 */

/* What raw data is calculated with: of a live group, or of exported data. */
struct zs_metric_calculation {
    const char *function;
    const struct zs_gpu_model *model;
    enum zs_metric_set set;
    bool max;
    const struct zs_metric_row *rows[ZS_METRIC_ROWS_MAX]; /* in the order of values */
    uint32_t row_count;
    struct zs_span data; /* whole reports */
};

/* One set of values; counts as zetMetricGroupCalculateMultipleMetricValuesExp has them. */
ze_result_t zs_metric_calculate_sets(const struct zs_metric_calculation *c, uint32_t *set_count,
                                     uint32_t *value_count, uint32_t *counts,
                                     zet_typed_value_t *values);

/* What is in its rings is taken, unless somebody reads the streamer now. */
void zs_streamer_make_room(struct zs_ze_streamer *streamer);

#endif
