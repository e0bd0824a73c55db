/* SPDX-License-Identifier: MIT */
/*
 * Metrics of devices, through the public API, for whoever asked for them (docs/metrics.md).
 *
 * Queries: around each launch of a kernel that is recorded the collector appends a barrier, the
 * beginning of a query for each metric group, the application's launch, a barrier, the ends, and a
 * barrier that signals an event of ours. The first barrier waits for what the launch waits for, so
 * that nothing else runs between beginning and launch. A measure is what one launch has of these;
 * in a regular list it stays with its append. Data is read when the event is seen, at the points
 * where times are collected (activity.h), and no command of ours is waited for, but where the
 * application resets or destroys a list right behind its last launch: then for the moment until our
 * commands behind that launch are over, too.
 *
 * A list that is executed again before the measures of its last execution were read: the device
 * writes over them. Of these executions only the last can have metrics, and only when a wait proves
 * that all are over. The others are counted.
 *
 * Groups of different domains are active at once: a set. Of several sets one is active; another is
 * activated by a launch that finds no measure under way (rotation). Activation belongs to the
 * application as soon as it activates groups itself: its launches are then counted as not measured
 * until it has deactivated its own.
 *
 * Streams: a thread of ours, with all signals blocked, reads time-based groups and writes reports
 * into a trace file of its own.
 */
#ifndef ZS_COLLECT_ACTIVITY_METRICS_H
#define ZS_COLLECT_ACTIVITY_METRICS_H

#include "collect/activity_priv.h"

enum {
    METER_GROUPS_MAX = 16, /* that can be asked for */
    METER_SETS_MAX = METER_GROUPS_MAX,
    METER_MEASURES_FIRST = 64, /* made at once; doubled up to ... */
    METER_MEASURES_CHUNK_MAX = 1024,
    METER_MEASURES_MAX = 1 << 16, /* of a context */
    METER_UNDER_WAY_MAX = 1 << 14,
    METER_OBJECTS_MAX = 1 << 16, /* groups of a device, metrics of a group: what a driver may say */
    METER_RAW_MAX_B = 1 << 26,   /* of one reading */
};

/* Why an execution has no metrics. */
enum meter_reason {
    METER_NO_QUERIES,
    METER_REFUSED,
    METER_AGAIN,
    METER_NOT_OVER,
    METER_APPLICATION,
    METER_KIND,
    METER_SET,
    METER_NO_VALUES,
    METER_REASONS
};

struct meter_group {
    zet_metric_group_handle_t handle;
    zet_metric_group_handle_t listed; /* by the driver; `handle` may have more metrics */
    uint32_t id;                      /* in records */
    uint32_t domain, set, metric_count;
    uint32_t sampling;        /* how it is used: a flag of the API */
    uint32_t timestamp, time; /* numbers of metrics; UINT32_MAX: it has none */
    bool has_places;          /* an instruction pointer is among its metrics */
    zet_metric_streamer_handle_t streamer;
};

/* What is known of a device's metrics. */
struct meter_device {
    struct meter_device *next;
    struct act_device *device;
    struct meter_group groups[METER_GROUPS_MAX];
    uint32_t group_count, set_count;
    uint32_t active;             /* set */
    uint32_t turns;              /* launches that found nothing under way */
    uint32_t under_way;          /* measures */
    bool is_ready;               /* a set is active */
    bool is_yielded;             /* to the application */
    ze_context_handle_t context; /* of ours: what is active outlives the application's */
};

struct meter_chunk;

/* The queries of one launch. */
struct act_measure {
    struct act_measure *next, *prev; /* of those under way; next: of free ones */
    struct meter_chunk *chunk;
    struct act_list *list;
    struct act_event *done;
    uint64_t append, submit_ns;
    uint32_t begun;    /* queries that were begun */
    bool is_immediate; /* used once */
    bool under_way;    /* submitted, and the event was not seen since: it is linked */
    bool pending;      /* ... and what it tells is wanted */
    bool overlapped;   /* submitted again while under way: only a proof tells of which */
    bool is_broken;    /* it will never tell anything */
    zet_metric_query_handle_t queries[METER_GROUPS_MAX];
};

/* Measures of a context for one set of one device. */
struct meter_chunk {
    struct meter_chunk *next;
    struct act_context *context;
    struct meter_device *device;
    uint32_t set, count, group_count;
    const struct meter_group *groups[METER_GROUPS_MAX];
    zet_metric_query_pool_handle_t pools[METER_GROUPS_MAX];
    struct act_measure *free;
    struct act_measure measures[];
};

struct act_meter {
    char names[METER_GROUPS_MAX][256];
    uint32_t name_count;
    uint32_t run;                 /* the only set to measure, from 1; 0: all in turns */
    uint64_t period_ns;           /* of streams; 0: queries */
    pthread_mutex_t prepare_lock; /* taken before the lock of struct zs_activity */
    struct meter_device *devices;
    uint32_t next_group;
    bool base_asked;
    ze_result_t (*get_base)(ze_kernel_handle_t kernel, uint64_t *ret_base); /* or NULL */
    struct act_measure *first, *last; /* under way, the oldest first */
    uint64_t unmeasured[METER_REASONS];
    uint8_t *raw;
    size_t raw_B;
    zet_typed_value_t *typed;
    uint32_t typed_count;
    struct meter_thread *thread; /* of streams; NULL: none */
};

/* Whether launches are measured; meter may be NULL. */
static inline bool act_meter_queries(const struct act_meter *meter)
{
    return meter && !meter->period_ns;
}

/* NULL: no metrics were asked for, or no memory. */
struct act_meter *act_meter_create(void);
/* A list was made: its device's groups are described and activated, once. Without the lock. */
void act_meter_prepare(struct zs_activity *a, struct zs_activity_thread *self,
                       const struct zs_trace_event *event);
/* The application activates groups. Without the lock. */
void act_meter_activate_enter(struct zs_activity *a, const struct zs_trace_event *event);
void act_meter_activate_exit(struct zs_activity *a, const struct zs_trace_event *event);
/* The lock is held in all that follows but for _begin, _end, _wait and streams. */
bool act_meter_activate(struct zs_activity *a, struct meter_device *device, uint32_t set);
/* Counts executions that have no metrics; the first of a reason is written down at once. */
void act_meter_unmeasured(struct zs_activity *a, enum meter_reason reason, uint64_t count);
void act_meter_end(struct zs_activity *a);
/* NULL: there is no such function. */
void *act_driver_function(struct zs_activity *a, const char *name);
/* Device address of a kernel's code, which groups with instruction pointers tell places by; 0: the
 * driver does not say. */
uint64_t act_meter_base(struct zs_activity *a, ze_kernel_handle_t kernel);
/* Values of raw data in meter->typed: how many, 0 when the driver cannot. */
uint32_t act_meter_calculate(struct zs_activity *a, struct act_meter *room,
                             const struct meter_group *group, const uint8_t *raw, size_t raw_B);
bool act_meter_raw_room(struct act_meter *room, size_t size_B);
/* A list is about to be submitted: its set is active then, if that can be. */
void act_meter_submit(struct zs_activity *a, const struct act_list *list);

/* activity_queries.c: a launch is about to be appended; NULL: it is not measured. */
struct act_measure *act_measure_take(struct zs_activity *a, struct act_list *list);
void act_measure_begin(struct zs_activity *a, const struct zs_trace_event *event,
                       struct zs_activity_call *call);
void act_measure_end(struct zs_activity *a, const struct zs_trace_event *event,
                     struct zs_activity_call *call);
/* submit_ns 0: what it tells is not wanted. */
void act_measure_submit(struct zs_activity *a, struct act_measure *measure, uint64_t append,
                        uint64_t submit_ns);
void act_measure_revoke(struct zs_activity *a, struct act_measure *measure);
/* is_proof: all that was submitted with the list is over. */
void act_measure_poll(struct zs_activity *a, struct act_measure *measure, bool is_proof);
void act_measures_poll(struct zs_activity *a, uint32_t misses);
/* The append is forgotten, the device has let go of it. */
void act_measure_leave(struct zs_activity *a, struct act_measure *measure);
/* All of a list that is reset or destroyed; of a context. */
void act_measures_forget(struct zs_activity *a, const struct act_list *list);
void act_measures_drop(struct zs_activity *a, struct act_context *context);
/* Until what the collector appended behind the application's last launch is over; for a moment. */
void act_measures_wait(struct zs_activity *a, ze_command_list_handle_t list);

/* activity_streams.c */
void act_streams_open(struct zs_activity *a, struct meter_device *device);
void act_streams_close(struct zs_activity *a, struct meter_device *device);
void act_streams_end(struct zs_activity *a);

/* activity_metrics_write.c */
void act_write_metric_group(struct zs_trace_file *file, const struct meter_device *device,
                            const struct meter_group *group,
                            const zet_metric_group_properties_t *properties);
void act_write_metric(struct zs_trace_file *file, const struct meter_group *group, uint32_t number,
                      const zet_metric_properties_t *properties);
void act_write_query(struct zs_trace_file *file, const struct meter_group *group, uint64_t append,
                     uint64_t submit_ns, struct zs_span raw, const zet_typed_value_t *values,
                     uint32_t count);
void act_write_samples(struct zs_trace_file *file, const struct meter_group *group,
                       uint64_t time_ns, struct zs_span raw, bool lost);
void act_write_sample(struct zs_trace_file *file, const struct meter_group *group,
                      uint64_t start_ns, uint64_t end_ns, const zet_typed_value_t *values,
                      uint32_t count);
void act_write_unmeasured(struct zs_trace_file *file, const char *reason, uint64_t count);

#endif
