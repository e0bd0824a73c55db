/* SPDX-License-Identifier: MIT */
/*
 * Time-based collection: reports of one period each, on the device's clock, one behind the other.
 *
 * Launches, of whichever process, come through rings (share.h) as stretches of time when
 * they have ended; reports are made when they are read. No launch waits for a streamer's lock. A
 * stretch gives to each report what lies in its time, cut so that the parts add up to the whole.
 * Reading is a sweep: a stretch is looked at by the reports that it has a part in.
 * Reports reach up to now, also while the host executes a launch: one that ends stands behind the
 * reports that were handed out until then, and so do its timestamps (zs_metrics_launch_end). A
 * marker ends the report that it falls into.
 *
 * What is not read is bounded: the oldest reports are lost, and the first one behind says so.
 */
#include "driver/ddi.h"
#include "driver/intel.h"
#include "driver/metrics/exclusive.h"
#include "driver/metrics/share.h"

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
    WATCH_EVERY_NS = 5000000,
};
static const uint64_t PERIOD_LEAST_NS = 1000;

struct stretches {
    struct zs_metric_stretch *items;
    size_t count, capacity;
};

/* From `lock` on under it. */
struct zs_ze_streamer {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    struct zs_ze_metric_group *group;
    struct zs_metric_claim claim; /* among processes */
    uint64_t start_ticks, period_ticks;
    uint64_t keep; /* reports */
    uint32_t notify_every;
    struct zs_ze_event *event; /* NULL: nobody is notified */
    pthread_t thread;
    pthread_cond_t wake;
    pthread_mutex_t lock;
    bool closed, lost, notified;
    struct zs_metric_share share;
    uint64_t begin_ticks;     /* of the next report */
    uint64_t periods;         /* that ended before begin_ticks */
    struct stretches waiting; /* that no report has reached */
    size_t passed;            /* of these, so many have become `current` or are over */
    bool unordered;           /* they are not in the order of their starts */
    struct stretches current; /* that the next report may have a part of */
    size_t forget_from;       /* so many are worth looking through */
    struct {
        struct zs_metric_at *items;
        size_t count, capacity;
    } ats;          /* of groups by address */
    size_t at_read; /* so many of them were */
    struct {
        struct zs_metric_mark *items;
        size_t count, capacity;
    } marks;          /* in the order of time */
    size_t mark_read; /* so many of them are in reports, or lost */
};

void zs_ze_streamer_fini(struct zs_ze_streamer *s)
{
    zs_metric_share_close(&s->share);
    free(s->waiting.items);
    free(s->current.items);
    free(s->ats.items);
    free(s->marks.items);
    zs_metric_claim_end(&s->claim);
    pthread_mutex_destroy(&s->lock);
    zs_object_unref(s->event);
    zs_object_unref(s->group);
    zs_object_unref(s->context);
}

static bool is_by_address(const struct zs_ze_streamer *s)
{
    return zs_metric_is_by_address(s->group->set);
}

/* ---- What launches put -------------------------------------------------------------------------
 */

/* Stretches that no later report has a part of. */
static void forget(struct zs_ze_streamer *s)
{
    size_t kept = 0;
    for (size_t i = s->passed; i < s->waiting.count; i++)
        if (s->waiting.items[i].end_ticks > s->begin_ticks)
            s->waiting.items[kept++] = s->waiting.items[i];
    s->waiting.count = kept;
    s->passed = 0;
    s->forget_from = ZS_MAX(kept * 2, (size_t)64);
}

static void take_stretch(struct zs_ze_streamer *s, struct zs_metric_stretch stretch)
{
    struct stretches *w = &s->waiting;
    uint64_t length = ZS_MAX(stretch.end_ticks, stretch.start_ticks + 1) - stretch.start_ticks;
    /* what was told of is over: of a launch that knew that nothing lies there */
    stretch.start_ticks = ZS_MAX(stretch.start_ticks, s->begin_ticks);
    stretch.end_ticks = stretch.start_ticks + length;
    if (w->count >= STRETCHES_MOST)
        forget(s);
    if (w->count > s->passed)
        s->unordered |= stretch.start_ticks < w->items[w->count - 1].start_ticks;
    if (w->count >= STRETCHES_MOST || !ZS_VEC_PUSH(w, stretch))
        s->lost = true;
}

static void take_ats(struct zs_ze_streamer *s, const struct zs_metric_at *ats, uint32_t count)
{
    if (s->ats.count + count > ZS_METRIC_KEPT_MOST) { /* the older half goes */
        size_t gone = ZS_MAX(s->ats.count / 2, s->at_read);
        s->lost |= gone > s->at_read;
        s->ats.count -= gone;
        memmove(s->ats.items, s->ats.items + gone, s->ats.count * sizeof(*ats));
        s->at_read = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        s->lost |= !ZS_VEC_PUSH(&s->ats, ats[i]);
}

static void take_mark(struct zs_ze_streamer *s, const struct zs_metric_mark *mark)
{
    if (s->mark_read && s->mark_read * 2 >= s->marks.count) {
        s->marks.count -= s->mark_read;
        memmove(s->marks.items, s->marks.items + s->mark_read, s->marks.count * sizeof(*mark));
        s->mark_read = 0;
    }
    if (s->marks.count - s->mark_read >= MARKERS_MOST || !ZS_VEC_PUSH(&s->marks, *mark))
        s->lost = true;
}

static void take(void *opaque, const struct zs_metric_slot *slot)
{
    struct zs_ze_streamer *s = opaque;
    if (slot->kind == ZS_METRIC_SLOT_AT && is_by_address(s))
        take_ats(s, slot->ats, slot->count);
    else if (slot->kind == ZS_METRIC_SLOT_STRETCH && !is_by_address(s))
        take_stretch(s, slot->stretch);
    else if (slot->kind == ZS_METRIC_SLOT_MARK)
        take_mark(s, &slot->mark);
}

static void drain(struct zs_ze_streamer *s)
{
    if (!zs_metric_share_drain(&s->share, take, s))
        s->lost = true;
}

void zs_streamer_make_room(struct zs_ze_streamer *s)
{
    if (pthread_mutex_trylock(&s->lock) != 0)
        return;
    if (!s->closed)
        drain(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Reports -----------------------------------------------------------------------------------
 */

static uint64_t period_end(const struct zs_ze_streamer *s)
{
    return s->start_ticks + (s->periods + 1) * s->period_ticks;
}

static void next_address(struct zs_ze_streamer *s, struct zs_metric_report *ret)
{
    const struct zs_metric_at *at = &s->ats.items[s->at_read++];
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
}

static uint64_t whole_periods(const struct zs_ze_streamer *s, uint64_t now_ticks)
{
    uint64_t whole =
        now_ticks > s->start_ticks ? (now_ticks - s->start_ticks) / s->period_ticks : 0;
    return whole > s->periods ? whole - s->periods : 0;
}

/* Reports that can be made: whole periods that are over, and those that markers end. */
static uint64_t available(const struct zs_ze_streamer *s, uint64_t now_ticks)
{
    if (is_by_address(s))
        return s->ats.count - s->at_read;
    uint64_t count = whole_periods(s, now_ticks);
    for (size_t i = s->mark_read; i < s->marks.count && s->marks.items[i].ticks <= now_ticks; i++)
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

/* Those that begin before the report ends; afterwards none of them is over. */
static void add_stretches(struct zs_ze_streamer *s, struct zs_metric_report *r)
{
    struct stretches *w = &s->waiting, *c = &s->current;
    size_t kept = 0;
    for (; s->passed < w->count && w->items[s->passed].start_ticks < r->end_ticks; s->passed++) {
        const struct zs_metric_stretch *stretch = &w->items[s->passed];
        if (stretch->end_ticks <= r->end_ticks)
            add_stretch(r, stretch);
        else if (!ZS_VEC_PUSH(c, *stretch))
            s->lost = true;
    }
    for (size_t i = 0; i < c->count; i++) {
        add_stretch(r, &c->items[i]);
        if (c->items[i].end_ticks <= r->end_ticks)
            continue;
        if (kept != i)
            c->items[kept] = c->items[i];
        kept++;
    }
    c->count = kept;
}

static int by_start(const void *a, const void *b)
{
    const struct zs_metric_stretch *x = a, *y = b;
    return x->start_ticks < y->start_ticks ? -1 : x->start_ticks > y->start_ticks;
}

/* The next report; one is available, and stretches are in order. */
static void next_report(struct zs_ze_streamer *s, struct zs_metric_report *ret)
{
    if (is_by_address(s)) {
        next_address(s, ret);
        return;
    }
    uint64_t end = period_end(s);
    const struct zs_metric_mark *mark =
        s->mark_read < s->marks.count ? &s->marks.items[s->mark_read] : NULL;
    bool marked = mark && mark->ticks <= end;
    *ret = (struct zs_metric_report){.set = s->group->set,
                                     .sampling = 1,
                                     .flags = (s->lost ? (uint32_t)ZS_RAW_LOST : 0u) |
                                              (marked ? (uint32_t)ZS_RAW_MARKER : 0u),
                                     .begin_ticks = s->begin_ticks};
    s->lost = false;
    if (marked) {
        ret->marker = mark->value;
        end = ZS_MAX(mark->ticks, s->begin_ticks);
        s->mark_read++;
    } else {
        s->periods++;
    }
    ret->end_ticks = end;
    uint64_t ticks = end - s->begin_ticks;
    ret->cycles = zs_metrics_cycles(s->device, ticks);
    ret->elapsed_ns = zs_gpu_clock_to_ns(s->device->gpu, end) -
                      zs_gpu_clock_to_ns(s->device->gpu, s->begin_ticks);
    add_stretches(s, ret);
    s->begin_ticks = end;
}

/* Before reports up to then are handed out or lost: launches begin behind them from now on. */
static void tell(struct zs_ze_streamer *s, uint64_t ticks)
{
    zs_metric_share_tell(&s->share, ticks);
    drain(s);
}

/* Beyond what is kept the oldest are lost, markers included. */
static void drop_oldest(struct zs_ze_streamer *s, uint64_t now_ticks)
{
    uint64_t have = available(s, now_ticks);
    if (have <= s->keep || is_by_address(s)) /* of these is kept what there is room for */
        return;
    uint64_t excess = ZS_MIN(have - s->keep, whole_periods(s, now_ticks));
    if (!excess) /* markers alone, which there are no more of than MARKERS_MOST */
        return;
    tell(s, s->start_ticks + (s->periods + excess) * s->period_ticks);
    s->periods += excess;
    s->begin_ticks = s->start_ticks + s->periods * s->period_ticks;
    while (s->mark_read < s->marks.count && s->marks.items[s->mark_read].ticks <= s->begin_ticks)
        s->mark_read++;
    s->lost = true;
    if (s->waiting.count >= s->forget_from)
        forget(s); /* not at each look: there may be a million */
}

/* ---- Notification ------------------------------------------------------------------------------
 */

static struct timespec in_ns(uint64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t at_ns = (uint64_t)t.tv_nsec + ns;
    return (struct timespec){.tv_sec = t.tv_sec + (time_t)(at_ns / 1000000000),
                             .tv_nsec = (long)(at_ns % 1000000000)};
}

/* Takes what launches put, so that there is room for more, and signals the event when enough
 * reports wait, once until some were read. */
static void *watch(void *opaque)
{
    struct zs_ze_streamer *s = opaque;
    pthread_mutex_lock(&s->lock);
    while (!s->closed) {
        uint64_t now = zs_gpu_clock_ticks(s->device->gpu);
        drain(s);
        drop_oldest(s, now);
        if (s->event && !s->notified && available(s, now) >= s->notify_every) {
            s->notified = true;
            zs_event_signal(s->event->slot, true, now, now);
        }
        const struct timespec until = in_ns(WATCH_EVERY_NS);
        pthread_cond_timedwait(&s->wake, &s->lock, &until);
    }
    pthread_mutex_unlock(&s->lock);
    zs_object_unref(s);
    return NULL;
}

static int start_watch(struct zs_ze_streamer *s)
{
    sigset_t before;
    zs_signals_hold(&before);
    zs_object_ref(s);
    int error = pthread_create(&s->thread, NULL, watch, s);
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
    if (zs_metric_share_open(s->group->set, &s->share))
        return zs_refuse(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, function, "no memory");
    s->start_ticks = s->begin_ticks = zs_gpu_clock_ticks(s->device->gpu);
    m->streamers[domain] = s;
    zs_metrics_let_go(m, domain); /* whoever had it before us */
    zs_metric_out_own(&m->outs[domain], &s->share);
    if (s->share.file.fd >= 0)
        zs_metric_claim_tell(&s->claim, s->share.file.fd);
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

zs_intel_metric_buffer_size_t *zs_metric_buffer_asked(const void *next)
{
    return (zs_intel_metric_buffer_size_t *)zs_chain_find(next, ZS_INTEL_STYPE_METRIC_BUFFER_SIZE);
}

/* As Intel's driver: how many reports are kept follows from notifications, if there are any. */
static void choose_buffer(struct zs_ze_streamer *s, const zet_metric_streamer_desc_t *desc)
{
    zs_intel_metric_buffer_size_t *asked = zs_metric_buffer_asked(desc->pNext);
    size_t report_B = zs_metric_report_B(s->group->set);
    if (!asked)
        return;
    if (is_by_address(s)) {
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
    if (m->streamers[s->group->domain] == s) {
        m->streamers[s->group->domain] = NULL;
        zs_metrics_let_go(m, s->group->domain);
    }
    zs_metric_claim_end(&s->claim);
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_lock(&s->lock);
    s->closed = true;
    zs_metric_share_close(&s->share);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
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
    s->share.file = ZS_OWN_FD_NONE;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_condattr_destroy(&attr);
    choose_period(s, desc);
    choose_buffer(s, desc);
    if (!zs_object_publish(s)) {
        zs_object_unref(s);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    pthread_mutex_lock(&device->metrics->lock);
    ze_result_t result = open_streamer(__func__, s);
    pthread_mutex_unlock(&device->metrics->lock);
    if (result == ZE_RESULT_SUCCESS && start_watch(s)) {
        close_streamer(s);
        result = ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no thread for a streamer");
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

/* So many as are available; whether some before them were lost. */
static bool read_reports(struct zs_ze_streamer *s, uint64_t now_ticks, uint64_t count,
                         uint8_t *ret_bytes)
{
    enum { DRAIN_EVERY = 256 /* reports: launches put more meanwhile */ };
    size_t report_B = zs_metric_report_B(s->group->set);
    struct stretches *w = &s->waiting;
    if (!is_by_address(s) && count)
        tell(s, s->start_ticks +
                    (s->periods + ZS_MIN(count, whole_periods(s, now_ticks))) * s->period_ticks);
    if (s->unordered && w->count > s->passed)
        qsort(w->items + s->passed, w->count - s->passed, sizeof(*w->items), by_start);
    s->unordered = false;
    bool lost = s->lost;
    for (uint64_t i = 0; i < count; i++) {
        struct zs_metric_report report;
        next_report(s, &report);
        zs_metric_report_write(&report, ret_bytes + i * report_B);
        if (i % DRAIN_EVERY == 0) /* it lies behind all of these reports */
            drain(s);
    }
    if (s->passed * 2 >= w->count)
        forget(s);
    return lost;
}

ze_result_t ZE_APICALL zetMetricStreamerReadData(zet_metric_streamer_handle_t hMetricStreamer,
                                                 uint32_t maxReportCount, size_t *pRawDataSize,
                                                 uint8_t *pRawData)
{
    ZS_OBJECT(streamer, s, hMetricStreamer);
    ZS_CHECK_POINTER(pRawDataSize);
    pthread_mutex_lock(&s->lock);
    if (s->closed) {
        pthread_mutex_unlock(&s->lock);
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    uint64_t now = zs_gpu_clock_ticks(s->device->gpu);
    drain(s);
    drop_oldest(s, now);
    uint64_t count = available(s, now);
    size_t report_B = zs_metric_report_B(s->group->set);
    bool asked = *pRawDataSize == 0 || !pRawData, lost = false;
    if (asked) { /* what may come until it is read, as Intel's driver: programs allocate once */
        count = ZS_MIN(ZS_MAX(count, (uint64_t)REPORTS_ASKED), (uint64_t)maxReportCount);
    } else {
        count = ZS_MIN(count, (uint64_t)maxReportCount);
        count = ZS_MIN(count, (uint64_t)(*pRawDataSize / report_B));
        lost = read_reports(s, now, count, pRawData);
        s->notified = false;
    }
    *pRawDataSize = (size_t)count * report_B;
    pthread_mutex_unlock(&s->lock);
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
    if (m->streamers[s->group->domain] == s)
        zs_metrics_mark(m, s->group->domain, zs_gpu_clock_ticks(s->device->gpu), marker->value);
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

static const struct zs_op op_marker = {
    .name = "metric streamer marker", .run = run_marker, .release = release_marker};

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
    if (is_by_address(streamer))
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
