/* SPDX-License-Identifier: MIT */
/*
 * Time-based collection: reports of one period each, on the device's clock, one behind the other.
 *
 * Launches come as stretches of time when they have ended; reports are made when they are read. A
 * stretch gives to each report what lies in its time, cut so that the parts add up to the whole.
 * Reports reach up to now, also while the host executes a launch: one that ends stands behind the
 * reports that were handed out until then, and so do its timestamps (zs_metrics_launch_end). A
 * marker ends the report that it falls into.
 *
 * What is not read is bounded: the oldest reports are lost, and the first one behind says so.
 */
#include "driver/later.h"
#include "driver/metrics/exclusive.h"
#include "driver/metrics/metrics.h"

#include "base/signals.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    REPORTS_OF_BUFFER = 16,  /* that a buffer holds whose size was asked for, at least */
    REPORTS_LEAST = 1 << 16, /* that are kept unread, at least: as the buffer of the hardware has */
    REPORTS_ASKED = 1 << 12, /* that a program is told to have room for, at least */
    REPORTS_MOST = 1 << 20,
    STRETCHES_MOST = 1 << 20,
    MARKERS_MOST = 1 << 16,
    NOTIFY_POLL_NS = 5000000,
};
static const uint64_t PERIOD_LEAST_NS = 1000;

struct mark {
    uint64_t ticks;
    uint32_t value;
};

/* All but the object under the device's metrics lock. */
struct zs_ze_streamer {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    struct zs_ze_metric_group *group;
    bool closed, lost;
    uint64_t start_ticks, period_ticks;
    uint64_t begin_ticks; /* of the next report */
    uint64_t periods;     /* that ended before begin_ticks */
    uint64_t keep;        /* reports */
    uint64_t next_place;  /* of groups by address: number of the next report in the device's */
    struct {
        struct zs_metric_stretch *items;
        size_t count, capacity;
    } stretches;
    size_t forget_from; /* so many are worth looking through */
    struct {
        struct mark *items;
        size_t count, capacity;
    } marks;                   /* in the order of time */
    struct zs_ze_event *event; /* NULL: nobody is notified */
    uint32_t notify_every;
    bool notified;
    pthread_t thread;
    pthread_cond_t wake;
    struct zs_metric_claim claim; /* among processes */
};

void zs_ze_streamer_fini(struct zs_ze_streamer *s)
{
    free(s->stretches.items);
    free(s->marks.items);
    zs_metric_claim_end(&s->claim);
    zs_object_unref(s->event);
    zs_object_unref(s->group);
    zs_object_unref(s->context);
}

/* ---- Reports -----------------------------------------------------------------------------------
 */

static uint64_t period_end(const struct zs_ze_streamer *s)
{
    return s->start_ticks + (s->periods + 1) * s->period_ticks;
}

/* Reports of groups by address are what the device has kept. */
static const struct zs_metric_kept *kept_of(const struct zs_ze_streamer *s)
{
    return zs_metrics_kept_for(s->device->metrics, s->group->set);
}

static uint64_t available_places(struct zs_ze_streamer *s, const struct zs_metric_kept *kept)
{
    s->lost = s->lost || s->next_place < kept->first;
    s->next_place = ZS_MAX(s->next_place, kept->first);
    return zs_metric_kept_end(kept) - s->next_place;
}

static void next_place(struct zs_ze_streamer *s, const struct zs_metric_kept *kept,
                       struct zs_metric_report *ret)
{
    const struct zs_metric_at *at = &kept->items[s->next_place - kept->first];
    *ret = (struct zs_metric_report){
        .set = s->group->set,
        .sampling = 1,
        .flags = s->lost ? ZS_RAW_LOST : 0,
        .begin_ticks = at->start_ticks,
        .end_ticks = at->end_ticks,
        .elapsed_ns = zs_gpu_clock_to_ns(s->device->gpu, at->end_ticks) -
                      zs_gpu_clock_to_ns(s->device->gpu, at->start_ticks),
        .cycles = zs_metrics_cycles(s->device, at->end_ticks - at->start_ticks),
    };
    zs_metric_report_at(ret, at);
    s->lost = false;
    s->next_place++;
}

/* Reports that can be made: whole periods that are over, and those that markers end. */
static uint64_t available(struct zs_ze_streamer *s, uint64_t now_ticks)
{
    const struct zs_metric_kept *kept = kept_of(s);
    if (kept)
        return available_places(s, kept);
    uint64_t whole =
        now_ticks > s->start_ticks ? (now_ticks - s->start_ticks) / s->period_ticks : 0;
    uint64_t count = whole > s->periods ? whole - s->periods : 0;
    for (size_t i = 0; i < s->marks.count && s->marks.items[i].ticks <= now_ticks; i++)
        count++;
    return count;
}

/* What of the value lies before `ticks`; the whole behind the end. */
static uint64_t part_before(const struct zs_metric_stretch *stretch, uint64_t value, uint64_t ticks)
{
    if (ticks <= stretch->start_ticks)
        return 0;
    if (ticks >= stretch->end_ticks)
        return value;
    return (uint64_t)((__uint128_t)value * (ticks - stretch->start_ticks) /
                      (stretch->end_ticks - stretch->start_ticks));
}

static void add_stretch(struct zs_metric_report *r, const struct zs_metric_stretch *stretch)
{
    if (stretch->end_ticks <= r->begin_ticks || stretch->start_ticks >= r->end_ticks)
        return;
    for (uint32_t i = 0; i < ZS_METRIC_COUNTERS; i++)
        r->counters[i] += part_before(stretch, stretch->counters[i], r->end_ticks) -
                          part_before(stretch, stretch->counters[i], r->begin_ticks);
}

/* Stretches that no later report has a part of. */
static void forget(struct zs_ze_streamer *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->stretches.count; i++) {
        if (s->stretches.items[i].end_ticks <= s->begin_ticks)
            continue;
        if (kept != i)
            s->stretches.items[kept] = s->stretches.items[i];
        kept++;
    }
    s->stretches.count = kept;
    s->forget_from = ZS_MAX(kept * 2, (size_t)64);
}

/* The next report; one is available. */
static void next_report(struct zs_ze_streamer *s, struct zs_metric_report *ret)
{
    const struct zs_metric_kept *kept = kept_of(s);
    if (kept) {
        next_place(s, kept, ret);
        return;
    }
    uint64_t end = period_end(s);
    bool marked = s->marks.count && s->marks.items[0].ticks <= end;
    *ret = (struct zs_metric_report){.set = s->group->set,
                                     .sampling = 1,
                                     .flags = (s->lost ? (uint32_t)ZS_RAW_LOST : 0u) |
                                              (marked ? (uint32_t)ZS_RAW_MARKER : 0u),
                                     .begin_ticks = s->begin_ticks};
    s->lost = false;
    if (marked) {
        ret->marker = s->marks.items[0].value;
        end = ZS_MAX(s->marks.items[0].ticks, s->begin_ticks);
        memmove(s->marks.items, s->marks.items + 1, --s->marks.count * sizeof(struct mark));
    } else {
        s->periods++;
    }
    ret->end_ticks = end;
    uint64_t ticks = end - s->begin_ticks;
    ret->cycles = zs_metrics_cycles(s->device, ticks);
    ret->elapsed_ns = zs_gpu_clock_to_ns(s->device->gpu, end) -
                      zs_gpu_clock_to_ns(s->device->gpu, s->begin_ticks);
    for (size_t i = 0; i < s->stretches.count; i++)
        add_stretch(ret, &s->stretches.items[i]);
    s->begin_ticks = end;
}

/* Beyond what is kept the oldest are lost, markers included. */
static void drop_oldest(struct zs_ze_streamer *s, uint64_t now_ticks)
{
    uint64_t have = available(s, now_ticks);
    if (have <= s->keep || kept_of(s)) /* of addresses the device keeps what there is room for */
        return;
    uint64_t excess =
        ZS_MIN(have - s->keep, (now_ticks - s->start_ticks) / s->period_ticks - s->periods);
    size_t passed = 0;
    if (!excess) /* markers alone, which there are no more of than MARKERS_MOST */
        return;
    s->periods += excess;
    s->begin_ticks = s->start_ticks + s->periods * s->period_ticks;
    while (passed < s->marks.count && s->marks.items[passed].ticks <= s->begin_ticks)
        passed++;
    s->marks.count -= passed;
    if (passed)
        memmove(s->marks.items, s->marks.items + passed, s->marks.count * sizeof(struct mark));
    s->lost = true;
    if (s->stretches.count >= s->forget_from || s->stretches.count >= STRETCHES_MOST)
        forget(s); /* not at the end of each launch: there may be a million */
}

void zs_streamers_add(struct zs_metrics *m, const struct zs_metric_stretch *stretch)
{
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++) {
        struct zs_ze_streamer *s = m->streamers[d];
        if (!s || kept_of(s))
            continue;
        if (s->stretches.count >= STRETCHES_MOST)
            drop_oldest(s, zs_gpu_clock_ticks(s->device->gpu));
        if (s->stretches.count >= STRETCHES_MOST || !ZS_VEC_PUSH(&s->stretches, *stretch))
            s->lost = true;
    }
}

uint64_t zs_streamers_told_ticks(struct zs_metrics *m)
{
    uint64_t told_ticks = 0;
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++) {
        struct zs_ze_streamer *s = m->streamers[d];
        if (!s || kept_of(s))
            continue;
        drop_oldest(s, zs_gpu_clock_ticks(s->device->gpu));
        told_ticks = ZS_MAX(told_ticks, s->begin_ticks);
    }
    return told_ticks;
}

/* ---- Notification ------------------------------------------------------------------------------
 */

/* Signals the event when enough reports wait, once until some were read. */
static void *notify(void *opaque)
{
    struct zs_ze_streamer *s = opaque;
    struct zs_metrics *m = s->device->metrics;
    pthread_mutex_lock(&m->lock);
    while (!s->closed) {
        uint64_t now = zs_gpu_clock_ticks(s->device->gpu);
        drop_oldest(s, now);
        if (!s->notified && available(s, now) >= s->notify_every) {
            s->notified = true;
            zs_event_signal(s->event->slot, true, now, now);
        }
        uint64_t period_ns = zs_gpu_clock_to_ns(s->device->gpu, s->period_ticks);
        uint64_t wait_ns = ZS_MAX(period_ns, (uint64_t)NOTIFY_POLL_NS);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        uint64_t at_ns = (uint64_t)until.tv_nsec + ZS_MIN(wait_ns, (uint64_t)1000000000);
        until.tv_sec += (time_t)(at_ns / 1000000000);
        until.tv_nsec = (long)(at_ns % 1000000000);
        pthread_cond_timedwait(&s->wake, &m->lock, &until);
    }
    pthread_mutex_unlock(&m->lock);
    zs_object_unref(s);
    return NULL;
}

static int start_notifier(struct zs_ze_streamer *s)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (!s->event)
        return 0;
    sigset_t before;
    zs_signals_hold(&before);
    zs_object_ref(s);
    int error = pthread_create(&s->thread, NULL, notify, s);
    zs_signals_release(&before);
    if (error)
        zs_object_unref(s);
    else
        pthread_detach(s->thread);
    return -error;
}

/* ---- The calls ---------------------------------------------------------------------------------
 */

static ze_result_t open_streamer(const char *function, struct zs_ze_streamer *s)
{
    struct zs_metrics *m = s->device->metrics;
    uint32_t domain = s->group->domain;
    if (m->active[domain] != s->group)
        return zs_refuse(ZE_RESULT_NOT_READY, function, "the metric group is not active");
    if (m->streamers[domain])
        return zs_refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, function,
                         "a streamer of domain %u is open", domain);
    const struct zs_ze_device *d = s->device;
    if (zs_metric_claim_make(d->model->device_id, d->card, d->tile, domain, &s->claim))
        return zs_refuse(ZE_RESULT_ERROR_NOT_AVAILABLE, function,
                         "another process has a streamer of domain %u of this device open", domain);
    s->start_ticks = s->begin_ticks = zs_gpu_clock_ticks(s->device->gpu);
    s->next_place = zs_metric_kept_end(kept_of(s));
    m->streamers[domain] = s;
    return ZE_RESULT_SUCCESS;
}

/* The period that can be had: whole ticks of the timer. */
static void choose_period(struct zs_ze_streamer *s, zet_metric_streamer_desc_t *desc)
{
    uint64_t timer_Hz = s->device->model->timer_Hz;
    uint64_t wanted_ns = ZS_MAX((uint64_t)desc->samplingPeriod, PERIOD_LEAST_NS);
    s->period_ticks = ZS_MAX((wanted_ns * timer_Hz + 500000000) / 1000000000, (uint64_t)1);
    desc->samplingPeriod =
        (uint32_t)ZS_MIN(s->period_ticks * 1000000000 / timer_Hz, (uint64_t)UINT32_MAX);
    s->notify_every = ZS_MAX(desc->notifyEveryNReports, 1u);
    s->keep = ZS_MIN(ZS_MAX((uint64_t)s->notify_every * 2, (uint64_t)REPORTS_LEAST),
                     (uint64_t)REPORTS_MOST);
    s->notify_every = (uint32_t)ZS_MIN((uint64_t)s->notify_every, s->keep);
    if (desc->notifyEveryNReports)
        desc->notifyEveryNReports = s->notify_every;
}

struct zs_later_metric_buffer_size *zs_metric_buffer_asked(const void *next)
{
    return (struct zs_later_metric_buffer_size *)zs_chain_find(next,
                                                               ZS_LATER_STYPE_METRIC_BUFFER_SIZE);
}

/* As Intel's driver: how many reports are kept follows from notifications, if there are any. */
static void choose_buffer(struct zs_ze_streamer *s, const zet_metric_streamer_desc_t *desc)
{
    struct zs_later_metric_buffer_size *asked = zs_metric_buffer_asked(desc->pNext);
    size_t report_B = zs_metric_report_B(s->group->set);
    if (!asked)
        return;
    if (kept_of(s)) {
        asked->sizeInBytes = ZS_METRIC_KEPT_MOST * report_B;
        return;
    }
    uint64_t most = ZS_MIN((uint64_t)(asked->sizeInBytes / report_B), (uint64_t)REPORTS_MOST);
    if (!s->event)
        s->keep = ZS_MAX(most, (uint64_t)REPORTS_OF_BUFFER);
    asked->sizeInBytes = (size_t)s->keep * report_B;
}

static void close_streamer(struct zs_ze_streamer *s)
{
    struct zs_metrics *m = s->device->metrics;
    pthread_mutex_lock(&m->lock);
    s->closed = true;
    if (m->streamers[s->group->domain] == s)
        m->streamers[s->group->domain] = NULL;
    zs_metric_claim_end(&s->claim);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&m->lock);
}

ze_result_t ZE_APICALL zetMetricStreamerOpen(zet_context_handle_t hContext,
                                             zet_device_handle_t hDevice,
                                             zet_metric_group_handle_t hMetricGroup,
                                             zet_metric_streamer_desc_t *desc,
                                             ze_event_handle_t hNotificationEvent,
                                             zet_metric_streamer_handle_t *phMetricStreamer)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phMetricStreamer);
    ZS_CHECK(group->device == device, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the group is of another device");
    ZS_CHECK(group->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "the group is not time-based");
    struct zs_ze_event *event = NULL;
    if (hNotificationEvent) {
        event = zs_ze_event_of(hNotificationEvent);
        ZS_CHECK(event && !event->counter, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                 "hNotificationEvent is %s", event ? "counter-based" : "no live event");
    }
    struct zs_ze_streamer *s = zs_object_new(ZS_OBJECT_streamer, sizeof(*s));
    ZS_CHECK(s, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    s->context = zs_object_ref(context);
    s->device = device;
    s->group = zs_object_ref(group);
    s->event = event ? zs_object_ref(event) : NULL;
    s->claim = ZS_METRIC_CLAIM_NONE;
    choose_period(s, desc);
    choose_buffer(s, desc);
    if (!zs_object_publish(s)) {
        zs_object_unref(s);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    pthread_mutex_lock(&device->metrics->lock);
    ze_result_t result = open_streamer(__func__, s);
    pthread_mutex_unlock(&device->metrics->lock);
    if (result == ZE_RESULT_SUCCESS && start_notifier(s)) {
        close_streamer(s);
        result = ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no thread for notifications");
    }
    if (result != ZE_RESULT_SUCCESS) {
        if (zs_object_retract(s))
            zs_object_unref(s);
        return result;
    }
    *phMetricStreamer = s->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricStreamerClose(zet_metric_streamer_handle_t hMetricStreamer)
{
    ZS_OBJECT(streamer, s, hMetricStreamer);
    if (!zs_object_retract(s))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    close_streamer(s);
    zs_object_unref(s);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricStreamerReadData(zet_metric_streamer_handle_t hMetricStreamer,
                                                 uint32_t maxReportCount, size_t *pRawDataSize,
                                                 uint8_t *pRawData)
{
    ZS_OBJECT(streamer, s, hMetricStreamer);
    ZS_CHECK_POINTER(pRawDataSize);
    struct zs_metrics *m = s->device->metrics;
    pthread_mutex_lock(&m->lock);
    uint64_t now = zs_gpu_clock_ticks(s->device->gpu);
    drop_oldest(s, now);
    uint64_t count = available(s, now);
    bool asked = *pRawDataSize == 0 || !pRawData;
    if (asked) /* what may come until it is read, as Intel's driver: programs allocate once */
        count = ZS_MAX(count, (uint64_t)REPORTS_ASKED);
    count = ZS_MIN(count, (uint64_t)maxReportCount);
    bool lost = s->lost && !asked;
    size_t report_B = zs_metric_report_B(s->group->set);
    if (!asked) {
        count = ZS_MIN(count, (uint64_t)(*pRawDataSize / report_B));
        for (uint64_t i = 0; i < count; i++) {
            struct zs_metric_report report;
            next_report(s, &report);
            zs_metric_report_write(&report, pRawData + i * report_B);
        }
        forget(s);
        s->notified = false;
    }
    *pRawDataSize = (size_t)count * report_B;
    pthread_mutex_unlock(&m->lock);
    return lost && count ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
}

/* ---- Markers -----------------------------------------------------------------------------------
 */

struct marker {
    struct zs_ze_streamer *streamer;
    uint32_t value;
};

static int run_marker(struct zs_exec *exec, struct zs_command *command)
{
    const struct marker *marker = command->data;
    struct zs_ze_streamer *s = marker->streamer;
    struct zs_metrics *m = s->device->metrics;
    (void)exec;
    pthread_mutex_lock(&m->lock);
    const struct mark mark = {zs_gpu_clock_ticks(s->device->gpu), marker->value};
    if (!s->closed && (s->marks.count >= MARKERS_MOST || !ZS_VEC_PUSH(&s->marks, mark)))
        s->lost = true;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static void release_marker(struct zs_command *command)
{
    struct marker *marker = command->data;
    if (marker)
        zs_object_unref(marker->streamer);
    free(marker);
}

static const struct zs_op op_marker = {"metric streamer marker", run_marker, release_marker};

struct zs_ze_metric_group *zs_streamer_group(const struct zs_ze_streamer *s)
{
    return s->group;
}

struct zs_ze_streamer *zs_streamer_of(const struct zs_ze_metric_group *group)
{
    struct zs_metrics *m = group->device->metrics;
    pthread_mutex_lock(&m->lock);
    struct zs_ze_streamer *s = m->streamers[group->domain];
    s = s && s->group == group ? zs_object_ref(s) : NULL;
    pthread_mutex_unlock(&m->lock);
    return s;
}

ze_result_t zs_streamer_append_marker(const char *function, ze_command_list_handle_t hCommandList,
                                      struct zs_ze_streamer *streamer, uint32_t value)
{
    struct zs_append append;
    if (kept_of(streamer))
        return zs_refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, function,
                         "reports by address have no markers");
    ze_result_t result = zs_append_begin(function, hCommandList, NULL, 0, NULL, &append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct marker *marker = calloc(1, sizeof(*marker));
    if (!marker)
        return zs_append_abandon(&append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    *marker = (struct marker){zs_object_ref(streamer), value};
    append.command.op = &op_marker;
    append.command.data = marker;
    return zs_append_end(&append);
}

ze_result_t ZE_APICALL zetCommandListAppendMetricStreamerMarker(
    zet_command_list_handle_t hCommandList, zet_metric_streamer_handle_t hMetricStreamer,
    uint32_t value)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(streamer, s, hMetricStreamer);
    ZS_CHECK(s->device == list->device, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the streamer is of another device than the list");
    return zs_streamer_append_marker(__func__, hCommandList, s, value);
}
