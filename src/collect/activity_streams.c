/* SPDX-License-Identifier: MIT */
/*
 * Streamers of time-based groups, read by a thread of ours. Reports are placed on CLOCK_MONOTONIC
 * by their time stamps, which are of the device's clock as those of kernels are.
 */
#include "base/signals.h"
#include "collect/activity_metrics.h"
#include "collect/pause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    READ_EVERY_NS = 20000000,
    NOTIFY_EVERY = 32768,       /* reports: drivers size their buffers by it */
    PERIOD_WAIT_NS = 200000000, /* at the end of a process */
    END_WAIT_S = 2,
};

/* Its lock is taken before that of struct zs_activity. */
struct meter_thread {
    pthread_t thread;
    pthread_mutex_t lock; /* of streamers and of what follows */
    pthread_cond_t wake;
    bool stops;
    struct zs_activity *activity;
    struct act_meter room; /* for reading */
    struct zs_trace_file file;
};

/* The device's clock as it was last tied to the host's. */
struct tie {
    uint64_t host_ns;
    double device_ns, wrap_ns;
    bool is_known;
};

static struct tie tie_of(struct zs_activity *a, struct act_device *device)
{
    act_relock(a, NULL);
    if (device->has_clock)
        act_clock_sample(a, device);
    struct tie tie = {.host_ns = device->sample_host_ns,
                      .is_known = device->has_clock && device->sample_error_ns};
    uint32_t bits = device->kernel_bits;
    uint64_t mask = bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    tie.device_ns = (double)(device->sample_ticks & mask) * device->ns_per_tick;
    tie.wrap_ns = ((double)mask + 1) * device->ns_per_tick;
    act_unlock(a);
    return tie;
}

static uint64_t host_time(const struct tie *tie, double device_ns)
{
    double since_ns = device_ns - tie->device_ns;
    if (since_ns > tie->wrap_ns / 2)
        since_ns -= tie->wrap_ns;
    else if (since_ns < -tie->wrap_ns / 2)
        since_ns += tie->wrap_ns;
    return tie->host_ns + (uint64_t)(int64_t)since_ns;
}

static double number(const zet_typed_value_t *v)
{
    switch (v->type) {
    case ZET_VALUE_TYPE_UINT32:
        return v->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return (double)v->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return (double)v->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return v->value.fp64;
    default:
        return 0;
    }
}

static void write_reports(struct meter_thread *t, const struct meter_device *d,
                          const struct meter_group *group, uint32_t count)
{
    const struct tie tie = tie_of(t->activity, d->device);
    for (uint32_t at = 0; at + group->metric_count <= count; at += group->metric_count) {
        const zet_typed_value_t *values = t->room.typed + at;
        uint64_t start_ns = 0, end_ns = 0;
        if (tie.is_known && group->timestamp != UINT32_MAX) {
            start_ns = host_time(&tie, number(&values[group->timestamp]));
            end_ns = start_ns;
            if (group->time != UINT32_MAX)
                end_ns += (uint64_t)number(&values[group->time]);
        }
        act_write_sample(&t->file, group, start_ns, end_ns, values, group->metric_count);
    }
}

static void read_stream(struct meter_thread *t, const struct meter_device *d,
                        const struct meter_group *group)
{
    const struct zs_collect_api *api = &t->activity->collector->api;
    size_t size_B = 0;
    if (api->zetMetricStreamerReadData(group->streamer, UINT32_MAX, &size_B, NULL) || !size_B)
        return;
    size_B = ZS_MIN(size_B, (size_t)METER_RAW_MAX_B);
    if (!act_meter_raw_room(&t->room, size_B))
        return;
    ze_result_t result =
        api->zetMetricStreamerReadData(group->streamer, UINT32_MAX, &size_B, t->room.raw);
    /* its number changed with version 1.5 of the specification */
    bool lost = result == ZE_RESULT_WARNING_DROPPED_DATA || (uint32_t)result == 0x7ff40004;
    if ((result && !lost) || !size_B || zs_pause_flags() & ZS_PAUSE_ON)
        return;
    act_write_samples(&t->file, group, zs_trace_now_ns(), zs_span_make(t->room.raw, size_B), lost);
    uint32_t count = act_meter_calculate(t->activity, &t->room, group, t->room.raw, size_B);
    if (group->metric_count)
        write_reports(t, d, group, count);
}

static void read_device(struct meter_thread *t, const struct meter_device *d)
{
    for (uint32_t i = 0; i < d->group_count; i++)
        if (d->groups[i].streamer)
            read_stream(t, d, &d->groups[i]);
}

static void *run_thread(void *opaque)
{
    struct meter_thread *t = opaque;
    struct zs_activity *a = t->activity;
    pthread_mutex_lock(&t->lock);
    while (!t->stops) {
        act_relock(a, NULL);
        const struct meter_device *d = a->meter->devices;
        act_unlock(a);
        for (; d; d = d->next)
            read_device(t, d);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += READ_EVERY_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&t->wake, &t->lock, &until);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* The thread is made with the first streamer. */
static struct meter_thread *thread_of(struct zs_activity *a)
{
    struct meter_thread *t = a->meter->thread;
    pthread_condattr_t attributes;
    sigset_t before;
    if (t || !(t = calloc(1, sizeof(*t))))
        return t;
    t->activity = a;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    zs_trace_file_open(&t->file, a->process, 0, NULL, NULL);
    zs_signals_hold(&before);
    int error = pthread_create(&t->thread, NULL, run_thread, t);
    zs_signals_release(&before);
    if (error) {
        zs_session_note(a->collector, ZS_NOTE_NO_METRICS ": no thread could be made to read them");
        free(t);
        return NULL;
    }
    a->meter->thread = t;
    return t;
}

void act_streams_open(struct zs_activity *a, struct meter_device *d)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct meter_thread *t = thread_of(a);
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; i < d->group_count; i++) {
        struct meter_group *group = &d->groups[i];
        zet_metric_streamer_desc_t desc = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
            .notifyEveryNReports = NOTIFY_EVERY,
            .samplingPeriod = (uint32_t)ZS_MIN(a->meter->period_ns, (uint64_t)UINT32_MAX)};
        if (group->set != d->active || group->streamer)
            continue;
        ze_result_t result = api->zetMetricStreamerOpen(
            d->context, d->device->handle, group->handle, &desc, NULL, &group->streamer);
        if (!result)
            continue;
        group->streamer = NULL;
        zs_session_note(a->collector,
                        ZS_NOTE_NO_METRICS ": no streamer can be opened (%#x): another one may be "
                                           "open, or rights are missing",
                        (unsigned)result);
    }
    pthread_mutex_unlock(&t->lock);
}

/* The lock is held. */
static void close_streams(struct meter_thread *t, struct meter_device *d)
{
    const struct zs_collect_api *api = &t->activity->collector->api;
    read_device(t, d);
    for (uint32_t i = 0; i < d->group_count; i++) {
        if (d->groups[i].streamer)
            api->zetMetricStreamerClose(d->groups[i].streamer);
        d->groups[i].streamer = NULL;
    }
}

void act_streams_close(struct zs_activity *a, struct meter_device *d)
{
    struct meter_thread *t = a->meter->thread;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    close_streams(t, d);
    pthread_mutex_unlock(&t->lock);
}

/* Drivers give whole periods only: the one that the last launch ended in has to be over. */
static void await_period(uint64_t period_ns)
{
    uint64_t wait_ns = ZS_MIN(period_ns + period_ns / 2, (uint64_t)PERIOD_WAIT_NS);
    const struct timespec wait = {.tv_nsec = (long)wait_ns};
    nanosleep(&wait, NULL);
}

/* A thread that is stuck in the driver must not keep the process from ending. */
void act_streams_end(struct zs_activity *a)
{
    struct meter_thread *t = a->meter->thread;
    struct timespec until;
    if (!t)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_WAIT_S;
    if (pthread_mutex_timedlock(&t->lock, &until))
        return;
    await_period(a->meter->period_ns);
    t->stops = true;
    pthread_cond_signal(&t->wake);
    for (struct meter_device *d = a->meter->devices; d; d = d->next)
        close_streams(t, d);
    zs_trace_file_close(&t->file);
    pthread_mutex_unlock(&t->lock);
    pthread_timedjoin_np(t->thread, NULL, &until);
}
