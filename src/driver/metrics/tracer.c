/* SPDX-License-Identifier: MIT */
/*
 * The metric tracer: launches as events on the device's clock, two raw records each.
 *
 * A record is a raw report of the set ZscopeLaunches (docs/metrics.md), its first counter the
 * address of the kernel's code: one when the launch began, without counts, one with them when it
 * ended. Both come when it has ended, as only then its times are known. What nobody reads is
 * bounded: the oldest launches are lost, and the next reading says so.
 *
 * A decoder has metrics of its own and lives on without its tracer; what it decodes is hostile.
 */
#include "driver/ddi.h"
#include "driver/intel.h"
#include "driver/metrics/metrics.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { LAUNCHES_MOST = 1 << 14, RECORDS_OF_LAUNCH = 2, DECODABLE_MOST = 64 };

struct traced {
    uint64_t address;
    struct zs_metric_stretch stretch;
};

/* All but the object under the device's metrics lock. */
struct zs_ze_metric_tracer {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    struct zs_ze_event *event; /* NULL: nobody is notified */
    bool enabled, notified, lost;
    bool half_read; /* the first record of launches.items[0] */
    struct {
        struct traced *items;
        size_t count, capacity;
    } launches;
};

struct zs_ze_metric_decoder {
    struct zs_object object;
    struct zs_ze_device *device;
    uint32_t count;
    struct zs_ze_metric *metrics[DECODABLE_MOST];
};

void zs_ze_metric_tracer_fini(struct zs_ze_metric_tracer *t)
{
    free(t->launches.items);
    zs_object_unref(t->event);
    zs_object_unref(t->context);
}

void zs_ze_metric_decoder_fini(struct zs_ze_metric_decoder *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        (void)zs_object_retract(d->metrics[i]);
        zs_object_unref(d->metrics[i]);
    }
}

/* ---- Collecting --------------------------------------------------------------------------------
 */

void zs_tracer_add(struct zs_metrics *m, uint64_t address, const struct zs_metric_stretch *stretch)
{
    struct zs_ze_metric_tracer *t = m->tracer;
    if (!t || !t->enabled)
        return;
    if (t->launches.count == LAUNCHES_MOST) { /* the older half */
        size_t gone = LAUNCHES_MOST / 2;
        t->launches.count -= gone;
        memmove(t->launches.items, t->launches.items + gone,
                t->launches.count * sizeof(t->launches.items[0]));
        t->lost = true;
        t->half_read = false;
    }
    const struct traced traced = {address, *stretch};
    if (!ZS_VEC_PUSH(&t->launches, traced))
        t->lost = true;
    if (t->event && !t->notified) {
        uint64_t now = zs_gpu_clock_ticks(t->device->gpu);
        t->notified = true;
        zs_event_signal(t->event->slot, true, now, now);
    }
}

/* The records of a launch, one after the other. */
static void make_record(const struct zs_ze_metric_tracer *t, const struct traced *traced,
                        bool ended, struct zs_metric_report *ret)
{
    const struct zs_metric_stretch *s = &traced->stretch;
    uint64_t ticks = s->end_ticks - s->start_ticks;
    *ret = (struct zs_metric_report){.set = ZS_METRIC_SET_LAUNCHES,
                                     .sampling = 2,
                                     .flags = ended ? ZS_RAW_ENDED : ZS_RAW_BEGAN,
                                     .begin_ticks = s->start_ticks,
                                     .end_ticks = ended ? s->end_ticks : s->start_ticks};
    if (ended) {
        memcpy(ret->counters, s->counters, sizeof(ret->counters));
        ret->cycles = s->counters[ZS_METRIC_busy_cycles];
        ret->elapsed_ns =
            ZS_MAX((uint64_t)((__uint128_t)ticks * 1000000000 / t->device->model->timer_Hz), 1u);
    }
    ret->counters[0] = traced->address;
}

/* The device's lock is held. Bytes written. */
static size_t take_records(struct zs_ze_metric_tracer *t, size_t room_B, uint8_t *ret_bytes)
{
    size_t report_B = zs_metric_report_B(ZS_METRIC_SET_LAUNCHES), used_B = 0, done = 0;
    while (done < t->launches.count && room_B - used_B >= report_B) {
        struct zs_metric_report record;
        make_record(t, &t->launches.items[done], t->half_read, &record);
        zs_metric_report_write(&record, ret_bytes + used_B);
        used_B += report_B;
        done += t->half_read;
        t->half_read = !t->half_read;
    }
    t->launches.count -= done;
    if (done)
        memmove(t->launches.items, t->launches.items + done,
                t->launches.count * sizeof(t->launches.items[0]));
    return used_B;
}

/* ---- Tracers -----------------------------------------------------------------------------------
 */

static ze_result_t check_groups(const char *function, const struct zs_ze_device *device,
                                uint32_t count, zet_metric_group_handle_t *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_ze_metric_group *group = zs_ze_metric_group_of(handles[i]);
        if (!group)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function,
                             "phMetricGroups[%u] is not a live handle of a metric_group", i);
        if (group->device != device ||
            group->sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "phMetricGroups[%u] is %s",
                             i, group->device != device ? "of another device" : "not for tracers");
    }
    return ZE_RESULT_SUCCESS;
}

/* One of a device, while its group is active; the lock is held. */
static ze_result_t attach(const char *function, struct zs_ze_metric_tracer *t)
{
    struct zs_metrics *m = t->device->metrics;
    const struct zs_ze_metric_group *active =
        m->active[zs_metric_set_domain(ZS_METRIC_SET_LAUNCHES)];
    if (!active || !zs_metric_is_traced(active->set))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "the metric group is not active");
    if (m->tracer)
        return zs_refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, function,
                         "the device has a metric tracer");
    m->tracer = t;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(phMetricGroups);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phMetricTracer);
    ZS_CHECK(metricGroupCount, ZE_RESULT_ERROR_INVALID_ARGUMENT, "metricGroupCount is 0");
    ze_result_t result = check_groups(__func__, device, metricGroupCount, phMetricGroups);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zs_ze_event *event = hNotificationEvent ? zs_ze_event_of(hNotificationEvent) : NULL;
    ZS_CHECK((event && !event->counter) || !hNotificationEvent,
             ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "hNotificationEvent is %s",
             event ? "counter-based" : "no live event");
    struct zs_ze_metric_tracer *t = zs_object_new(ZS_OBJECT_metric_tracer, sizeof(*t));
    ZS_CHECK(t, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    t->context = zs_object_ref(context);
    t->device = device;
    t->event = zs_object_ref(event);
    if (!zs_object_publish(t)) {
        zs_object_unref(t);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    pthread_mutex_lock(&device->metrics->lock);
    result = attach(__func__, t);
    pthread_mutex_unlock(&device->metrics->lock);
    if (result != ZE_RESULT_SUCCESS) {
        if (zs_object_retract(t))
            zs_object_unref(t);
        return result;
    }
    zs_intel_metric_buffer_size_t *asked = zs_metric_buffer_asked(desc->pNext);
    if (asked) /* it has one size */
        asked->sizeInBytes =
            (size_t)LAUNCHES_MOST * RECORDS_OF_LAUNCH * zs_metric_report_B(ZS_METRIC_SET_LAUNCHES);
    /* the only one there is: of each launch */
    desc->notifyEveryNBytes =
        (uint32_t)(RECORDS_OF_LAUNCH * zs_metric_report_B(ZS_METRIC_SET_LAUNCHES));
    *phMetricTracer = t->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricTracerDestroyExp(zet_metric_tracer_exp_handle_t hMetricTracer)
{
    ZS_OBJECT(metric_tracer, t, hMetricTracer);
    struct zs_metrics *m = t->device->metrics;
    pthread_mutex_lock(&m->lock);
    bool enabled = t->enabled, gone = !enabled && zs_object_retract(t);
    if (gone)
        m->tracer = NULL;
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(!enabled, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the tracer is enabled");
    if (!gone)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(t);
    return ZE_RESULT_SUCCESS;
}

static void set_enabled(struct zs_ze_metric_tracer *t, bool enabled)
{
    struct zs_metrics *m = t->device->metrics;
    pthread_mutex_lock(&m->lock);
    t->enabled = enabled;
    pthread_mutex_unlock(&m->lock);
}

/* Both at once, whether it is asked for or not. */
ze_result_t ZE_APICALL zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                ze_bool_t synchronous)
{
    ZS_OBJECT(metric_tracer, t, hMetricTracer);
    (void)synchronous;
    set_enabled(t, true);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                 ze_bool_t synchronous)
{
    ZS_OBJECT(metric_tracer, t, hMetricTracer);
    (void)synchronous;
    set_enabled(t, false);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                  size_t *pRawDataSize, uint8_t *pRawData)
{
    ZS_OBJECT(metric_tracer, t, hMetricTracer);
    ZS_CHECK_POINTER(pRawDataSize);
    ZS_CHECK(*pRawDataSize && pRawData, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "no room for data: how much there is cannot be asked");
    struct zs_metrics *m = t->device->metrics;
    pthread_mutex_lock(&m->lock);
    bool drained = !t->enabled && !t->launches.count, lost = false;
    *pRawDataSize = take_records(t, *pRawDataSize, pRawData);
    if (*pRawDataSize) {
        lost = t->lost;
        t->lost = t->notified = false;
    }
    pthread_mutex_unlock(&m->lock);
    return drained ? ZE_RESULT_NOT_READY
           : lost  ? ZE_RESULT_WARNING_DROPPED_DATA
                   : ZE_RESULT_SUCCESS;
}

/* ---- Decoders ----------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zetMetricDecoderCreateExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                 zet_metric_decoder_exp_handle_t *phMetricDecoder)
{
    ZS_OBJECT(metric_tracer, t, hMetricTracer);
    ZS_CHECK_POINTER(phMetricDecoder);
    const struct zs_metric_row *rows[ZS_METRIC_ROWS_MAX];
    uint32_t count = zs_metric_rows(t->device->model, ZS_METRIC_SET_LAUNCHES,
                                    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED,
                                    t->device->metrics->timed, rows);
    struct zs_ze_metric_decoder *d = zs_object_new(ZS_OBJECT_metric_decoder, sizeof(*d));
    zs_assert(count <= DECODABLE_MOST);
    bool ok = d != NULL;
    for (uint32_t i = 0; i < count && ok; i++) {
        d->metrics[i] = zs_metric_new(rows[i]);
        ok = d->metrics[i] != NULL;
        d->count += ok;
    }
    if (ok) {
        d->device = t->device;
        ok = zs_object_publish(d);
    }
    if (!ok) {
        zs_object_unref(d);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    *phMetricDecoder = d->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricDecoderDestroyExp(zet_metric_decoder_exp_handle_t phMetricDecoder)
{
    ZS_OBJECT(metric_decoder, d, phMetricDecoder);
    if (!zs_object_retract(d))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(d);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
zetMetricDecoderGetDecodableMetricsExp(zet_metric_decoder_exp_handle_t hMetricDecoder,
                                       uint32_t *pCount, zet_metric_handle_t *phMetrics)
{
    ZS_OBJECT(metric_decoder, d, hMetricDecoder);
    ZS_CHECK_POINTER(pCount);
    uint32_t give = zs_list_count(pCount, d->count, phMetrics != NULL);
    for (uint32_t i = 0; i < give; i++)
        phMetrics[i] = d->metrics[i]->object.handle;
    return ZE_RESULT_SUCCESS;
}

struct decoding {
    const struct zs_ze_metric_decoder *decoder;
    const struct zs_metric_row *rows[DECODABLE_MOST]; /* in the order of the program's array */
    uint32_t row_count;
    zet_metric_entry_exp_t *entries; /* NULL: they are counted */
    uint32_t room, count;
};

/* Launches begin with the metric that says so, and all others belong to their end. */
static bool is_of(const struct zs_metric_row *row, const struct zs_metric_report *record)
{
    bool begins = row->how == ZS_HOW_ADDRESS && !strcmp(row->name, "LaunchBegin");
    return begins == ((record->flags & ZS_RAW_BEGAN) != 0);
}

/* False: there is no room for all of it. */
static bool decode_record(struct decoding *g, const struct zs_metric_report *record)
{
    const struct zs_ze_device *device = g->decoder->device;
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->row_count; i++)
        count += is_of(g->rows[i], record);
    if (g->entries && g->room - g->count < count)
        return false;
    for (uint32_t i = 0; i < g->row_count && g->entries; i++) {
        if (!is_of(g->rows[i], record))
            continue;
        bool tile = device->parent && !device->flat;
        g->entries[g->count++] = (zet_metric_entry_exp_t){
            .value = zs_metric_value(device->model, record, g->rows[i]).value,
            .timeStamp = zs_metric_time_ns(device->model, record->end_ticks),
            .metricIndex = i,
            .onSubdevice = tile,
            .subdeviceId = tile ? device->sub_index : 0};
    }
    g->count += g->entries ? 0 : count;
    return true;
}

/* *size_B becomes what was decoded of it. */
static ze_result_t decode(const char *function, struct decoding *g, const uint8_t *data,
                          size_t *size_B)
{
    size_t report_B = zs_metric_report_B(ZS_METRIC_SET_LAUNCHES), done_B = 0;
    for (; *size_B - done_B >= report_B; done_B += report_B) {
        struct zs_metric_report record;
        if (!zs_metric_report_read(zs_span_make(data + done_B, report_B), ZS_METRIC_SET_LAUNCHES,
                                   &record))
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "byte %zu of the raw data is no record of a tracer", done_B);
        if (!decode_record(g, &record))
            break;
    }
    *size_B = done_B;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t choose_rows(const char *function, struct decoding *g, uint32_t count,
                               zet_metric_handle_t *handles)
{
    const struct zs_ze_metric_decoder *d = g->decoder;
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_ze_metric *metric = zs_ze_metric_of(handles[i]);
        uint32_t at = 0;
        while (at < d->count && d->metrics[at] != metric)
            at++;
        if (at == d->count || g->row_count == DECODABLE_MOST)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "phMetrics[%u] is no metric of the decoder", i);
        g->rows[g->row_count++] = metric->row;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricTracerDecodeExp(zet_metric_decoder_exp_handle_t phMetricDecoder,
                                                size_t *pRawDataSize, uint8_t *pRawData,
                                                uint32_t metricsCount,
                                                zet_metric_handle_t *phMetrics, uint32_t *pSetCount,
                                                uint32_t *pMetricEntriesCountPerSet,
                                                uint32_t *pMetricEntriesCount,
                                                zet_metric_entry_exp_t *pMetricEntries)
{
    ZS_OBJECT(metric_decoder, d, phMetricDecoder);
    ZS_CHECK_POINTER(pRawDataSize);
    ZS_CHECK_POINTER(phMetrics);
    ZS_CHECK_POINTER(pSetCount);
    ZS_CHECK(pRawData || !*pRawDataSize, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "pRawData is null");
    ZS_CHECK(metricsCount, ZE_RESULT_ERROR_INVALID_ARGUMENT, "metricsCount is 0");
    bool asked = *pSetCount == 0 || !pMetricEntriesCount || !*pMetricEntriesCount;
    struct decoding g = {.decoder = d,
                         .entries = asked ? NULL : pMetricEntries,
                         .room = pMetricEntriesCount ? *pMetricEntriesCount : 0};
    ze_result_t result = choose_rows(__func__, &g, metricsCount, phMetrics);
    size_t size_B = *pRawDataSize;
    if (result == ZE_RESULT_SUCCESS)
        result = decode(__func__, &g, pRawData, &size_B);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *pSetCount = 1; /* tiles have tracers of their own */
    if (pMetricEntriesCount)
        *pMetricEntriesCount = g.count;
    if (g.entries)
        *pRawDataSize = size_B;
    if (!asked && pMetricEntriesCountPerSet)
        pMetricEntriesCountPerSet[0] = g.count;
    return ZE_RESULT_SUCCESS;
}
