/* SPDX-License-Identifier: MIT */
/* Records of store/activity.h into the file of the thread that works. */
#include "api_calls.h"
#include "collect/activity_priv.h"

#include "store/pb.h"
#include "store/perfetto.h"

#include <stdio.h>
#include <string.h>

enum { RECORD_MAX_B = 1024 }; /* of what is written in place: numbers only, far less */

struct record {
    uint8_t bytes[2304];
    struct zs_pb pb;
    uint8_t *length;
};

static void record_begin(struct record *r, enum zs_activity_record type, uint64_t id)
{
    r->pb = zs_pb_make(r->bytes, sizeof(r->bytes));
    r->length = zs_pb_begin(&r->pb, ZS_TRACE_FIELD_ACTIVITY);
    zs_pb_u64(&r->pb, ZS_ACT_TYPE, type);
    zs_pb_u64(&r->pb, ZS_ACT_ID, id);
}

static void record_end(struct record *r)
{
    zs_pb_end(&r->pb, r->length);
}

static void store_in(struct zs_trace_file *file, struct record *r, uint64_t time_ns)
{
    if (file && !r->pb.full)
        zs_trace_packet_at(file, time_ns, r->bytes, (size_t)(r->pb.at - r->bytes));
}

static void store(struct zs_activity *a, struct record *r, uint64_t time_ns)
{
    store_in(a->file, r, time_ns);
}

static void put_known(struct zs_pb *pb, uint32_t field, uint64_t value)
{
    if (value)
        zs_pb_u64(pb, field, value);
}

static void put_number(struct record *r, uint32_t field, uint64_t value)
{
    put_known(&r->pb, field, value);
}

/* Names longer than the reader of a table cares for are cut. */
static void put_name(struct record *r, const char *name)
{
    zs_pb_bytes(&r->pb, ZS_ACT_NAME, name, strnlen(name, 1000));
}

void act_write_device(struct zs_trace_file *file, uint64_t id, const char *name,
                      uint64_t frequency_hz, uint32_t tile, uint32_t index,
                      enum zs_activity_api api)
{
    struct record r;
    record_begin(&r, ZS_ACT_DEVICE, id);
    put_name(&r, name);
    put_number(&r, ZS_ACT_FREQUENCY_HZ, frequency_hz);
    put_number(&r, ZS_ACT_ORDINAL, tile);
    put_number(&r, ZS_ACT_INDEX, index);
    put_number(&r, ZS_ACT_API, api);
    record_end(&r);
    store_in(file, &r, zs_trace_now_ns());
}

/* The record, and the track that others show for it. */
static void queue_written(struct zs_trace_file *file, const struct zs_trace_process *process,
                          struct record *r, uint64_t id, uint64_t device, const char *name)
{
    uint64_t uuid = zs_trace_track_uuid(process, id);
    put_number(r, ZS_ACT_DEVICE_ID, device);
    put_number(r, ZS_ACT_TRACK, uuid);
    record_end(r);
    uint8_t *track = zs_pb_begin(&r->pb, ZS_PF_PACKET_TRACK_DESCRIPTOR);
    zs_pb_u64(&r->pb, ZS_PF_TRACK_UUID, uuid);
    zs_pb_u64(&r->pb, ZS_PF_TRACK_PARENT_UUID, zs_trace_process_uuid(process));
    zs_pb_text(&r->pb, ZS_PF_TRACK_NAME, name);
    zs_pb_end(&r->pb, track);
    store_in(file, r, zs_trace_now_ns());
}

void act_write_queue(struct zs_activity *a, struct act_queue *queue, uint32_t ordinal,
                     uint32_t index, bool immediate)
{
    struct record r;
    char name[96];
    uint64_t device = queue->device ? queue->device->id : 0;
    snprintf(name, sizeof(name), "device %u %s %u.%u (%u)", (unsigned)device,
             immediate ? "immediate list" : "queue", ordinal, index, (unsigned)queue->id);
    record_begin(&r, ZS_ACT_QUEUE, queue->id);
    put_number(&r, ZS_ACT_ORDINAL, ordinal);
    put_number(&r, ZS_ACT_INDEX, index);
    put_number(&r, ZS_ACT_IMMEDIATE, immediate);
    queue_written(a->file, a->process, &r, queue->id, device, name);
}

void act_write_cl_queue(struct zs_trace_file *file, const struct zs_trace_process *process,
                        uint64_t id, uint64_t device)
{
    struct record r;
    char name[96];
    snprintf(name, sizeof(name), "device %u OpenCL queue (%u)", (unsigned)device, (unsigned)id);
    record_begin(&r, ZS_ACT_QUEUE, id);
    put_number(&r, ZS_ACT_IMMEDIATE, 1); /* what is enqueued is executed once */
    put_number(&r, ZS_ACT_API, ZS_ACT_API_OPENCL);
    queue_written(file, process, &r, id, device, name);
}

void act_write_kernel(struct zs_trace_file *file, uint64_t id, const char *name, uint64_t build,
                      uint64_t base, bool is_rewritten, const ze_kernel_properties_t *p)
{
    struct record r;
    record_begin(&r, ZS_ACT_KERNEL, id);
    put_name(&r, name);
    if (build)
        put_number(&r, ZS_ACT_BUILD, build);
    put_number(&r, ZS_ACT_BASE, base);
    if (is_rewritten)
        put_number(&r, ZS_ACT_REWRITTEN, 1);
    if (p) {
        put_number(&r, ZS_ACT_SIMD, p->maxSubgroupSize);
        put_number(&r, ZS_ACT_SPILL_B, p->spillMemSize);
        put_number(&r, ZS_ACT_PRIVATE_B, p->privateMemSize);
        put_number(&r, ZS_ACT_LOCAL_B, p->localMemSize);
    }
    record_end(&r);
    store_in(file, &r, zs_trace_now_ns());
}

void act_write_prefix(struct act_list *list)
{
    struct zs_pb pb = zs_pb_make(list->prefix, sizeof(list->prefix));
    zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_APPEND);
    zs_pb_u64(&pb, ZS_ACT_LIST, (uintptr_t)list->handle);
    put_known(&pb, ZS_ACT_DEVICE_ID, list->device ? list->device->id : 0);
    list->prefix_B = (uint32_t)(pb.at - list->prefix);
}

static void put_append(struct zs_pb *pb, uint64_t id, const struct act_list *list,
                       const struct act_shape *s)
{
    if (ZS_LIKELY(pb->end - pb->at >= ACT_PREFIX_B)) { /* all of it: no call for a few bytes */
        memcpy(pb->at, list->prefix, ACT_PREFIX_B);
        pb->at += list->prefix_B;
    } else {
        zs_pb_raw(pb, list->prefix, list->prefix_B);
    }
    zs_pb_u64(pb, ZS_ACT_ID, id);
    zs_pb_u64(pb, ZS_ACT_KIND, s->kind);
    put_known(pb, ZS_ACT_KERNEL_ID, s->kernel);
    for (int i = 0; i < 3 && s->has_groups; i++)
        zs_pb_u64(pb, ZS_ACT_GROUPS, s->groups[i]);
    for (int i = 0; i < 3 && s->size[0]; i++)
        zs_pb_u64(pb, ZS_ACT_SIZE, s->size[i]);
    put_known(pb, ZS_ACT_LOCAL_B, s->local_B);
    put_known(pb, ZS_ACT_COUNT, s->count);
    if (s->has_bytes)
        zs_pb_u64(pb, ZS_ACT_BYTES, s->bytes);
    put_known(pb, ZS_ACT_FROM, s->from);
    put_known(pb, ZS_ACT_TO, s->to);
}

void act_write_append(struct zs_trace_file *file, uint64_t id, const struct act_list *list,
                      const struct act_shape *s, uint64_t now_ns, bool is_end)
{
    uint8_t *to =
        is_end ? zs_trace_end_record_open(file, now_ns) : zs_trace_record_open(file, now_ns);
    if (!to)
        return;
    struct zs_pb pb = zs_pb_make(to, RECORD_MAX_B);
    put_append(&pb, id, list, s);
    zs_trace_call_close(file, now_ns, (size_t)(pb.at - to));
}

void act_write_earlier(struct zs_activity *a, uint64_t id, const struct act_list *list,
                       const struct act_shape *shape, uint64_t time_ns)
{
    struct record r;
    r.pb = zs_pb_make(r.bytes, sizeof(r.bytes));
    r.length = zs_pb_begin(&r.pb, ZS_TRACE_FIELD_ACTIVITY);
    put_append(&r.pb, id, list, shape);
    zs_pb_u64(&r.pb, ZS_ACT_EARLIER, 1);
    record_end(&r);
    store(a, &r, time_ns);
}

void act_write_execute(struct zs_activity *a, const struct act_list *list, uint64_t id,
                       const struct act_queue *queue, uint64_t submit_ns,
                       const ze_kernel_timestamp_result_t *result)
{
    uint64_t start_ns = 0, end_ns = 0;
    bool estimated = false;
    if (!submit_ns || !a->file)
        return;
    uint64_t now_ns = zs_trace_file_now_ns(a->file);
    bool known =
        result && queue &&
        act_times(a, queue->device, result, submit_ns, now_ns, &start_ns, &end_ns, &estimated);
    uint8_t *to = zs_trace_record_open(a->file, now_ns);
    if (!to)
        return;
    struct zs_pb pb = zs_pb_make(to, RECORD_MAX_B);
    zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_EXECUTE);
    zs_pb_u64(&pb, ZS_ACT_ID, id);
    put_known(&pb, ZS_ACT_QUEUE_ID, queue ? queue->id : 0);
    put_known(&pb, ZS_ACT_AGAIN, queue && !queue->handle && !list->immediate);
    zs_pb_u64(&pb, ZS_ACT_SUBMIT_NS, submit_ns);
    if (known) {
        zs_pb_u64(&pb, ZS_ACT_START_NS, start_ns);
        zs_pb_u64(&pb, ZS_ACT_END_NS, end_ns);
        put_known(&pb, ZS_ACT_ESTIMATED, estimated);
    }
    zs_trace_call_close(a->file, now_ns, (size_t)(pb.at - to));
}

void act_write_cl_execute(struct zs_trace_file *file, uint64_t id, uint64_t queue,
                          const struct act_cl_times *times)
{
    uint64_t now_ns = zs_trace_file_now_ns(file);
    uint8_t *to = zs_trace_record_open(file, now_ns);
    if (!to)
        return;
    struct zs_pb pb = zs_pb_make(to, RECORD_MAX_B);
    zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_EXECUTE);
    zs_pb_u64(&pb, ZS_ACT_ID, id);
    zs_pb_u64(&pb, ZS_ACT_QUEUE_ID, queue);
    zs_pb_u64(&pb, ZS_ACT_SUBMIT_NS, times->submit_ns);
    if (times->end_ns) {
        zs_pb_u64(&pb, ZS_ACT_START_NS, times->start_ns);
        zs_pb_u64(&pb, ZS_ACT_END_NS, times->end_ns);
        put_known(&pb, ZS_ACT_ESTIMATED, times->is_estimated);
    }
    zs_trace_call_close(file, now_ns, (size_t)(pb.at - to));
}

enum gone_type {
#define OBJECT(enumerator, name) GONE_##enumerator,
#include "store/act_objects.def"
#undef OBJECT
};

/* Calls that destroy: what, and the parameter that names it; plus 1. */
static const struct {
    uint8_t type_plus_1, param;
} gone_calls[ZS_API_CALL_COUNT] = {
    [ZS_API_zeMemFree] = {GONE_DEVICE_MEMORY + 1, 1},
    [ZS_API_zeContextDestroy] = {GONE_CONTEXT + 1, 0},
    [ZS_API_zeCommandQueueDestroy] = {GONE_QUEUE + 1, 0},
    [ZS_API_zeCommandListDestroy] = {GONE_LIST + 1, 0},
    [ZS_API_zeEventPoolDestroy] = {GONE_POOL + 1, 0},
    [ZS_API_zeEventDestroy] = {GONE_EVENT + 1, 0},
    [ZS_API_zeFenceDestroy] = {GONE_FENCE + 1, 0},
    [ZS_API_zeImageDestroy] = {GONE_IMAGE + 1, 0},
    [ZS_API_zeSamplerDestroy] = {GONE_SAMPLER + 1, 0},
    [ZS_API_zeModuleDestroy] = {GONE_MODULE + 1, 0},
    [ZS_API_zeKernelDestroy] = {GONE_KERNEL + 1, 0},
    [ZS_API_zeMemFreeExt] = {GONE_DEVICE_MEMORY + 1, 2},
};

bool act_destroys(uint32_t call)
{
    return call < ZS_API_CALL_COUNT && gone_calls[call].type_plus_1;
}

void act_write_gone(struct zs_trace_file *file, const struct zs_trace_event *event)
{
    uint64_t now_ns = zs_trace_file_now_ns(file);
    uint8_t *to = zs_trace_record_open(file, now_ns);
    if (!to)
        return;
    struct zs_pb pb = zs_pb_make(to, RECORD_MAX_B);
    zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_GONE);
    zs_pb_u64(&pb, ZS_ACT_KIND, gone_calls[event->call].type_plus_1 - 1u);
    zs_pb_u64(&pb, ZS_ACT_LIST,
              (uintptr_t) * (void **)event->params[gone_calls[event->call].param]);
    zs_trace_call_close(file, now_ns, (size_t)(pb.at - to));
}

void act_write_ended(struct zs_trace_file *file)
{
    uint64_t now_ns = zs_trace_file_now_ns(file);
    uint8_t *to = zs_trace_record_open(file, now_ns);
    if (!to)
        return;
    struct zs_pb pb = zs_pb_make(to, RECORD_MAX_B);
    zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_ENDED);
    zs_trace_call_close(file, now_ns, (size_t)(pb.at - to));
}

static void put_instant(struct record *r, uint64_t track, enum zs_perfetto_event_type type,
                        const char *name)
{
    uint8_t *event = zs_pb_begin(&r->pb, ZS_PF_PACKET_TRACK_EVENT);
    zs_pb_u64(&r->pb, ZS_PF_EVENT_TYPE, type);
    zs_pb_u64(&r->pb, ZS_PF_EVENT_TRACK_UUID, track);
    if (name)
        zs_pb_bytes(&r->pb, ZS_PF_EVENT_NAME, name, strnlen(name, 1000));
    zs_pb_end(&r->pb, event);
}

void act_write_pause(struct zs_trace_file *file, const struct zs_trace_process *process,
                     bool paused, uint32_t reason, uint64_t time_ns)
{
    struct record r;
    record_begin(&r, paused ? ZS_ACT_PAUSE : ZS_ACT_RESUME, 1);
    put_number(&r, ZS_ACT_REASON, reason);
    record_end(&r);
    put_instant(&r, zs_trace_process_uuid(process), ZS_PF_INSTANT,
                paused ? "recording paused" : "recording resumed");
    zs_trace_packet_at(file, time_ns, r.bytes, (size_t)(r.pb.at - r.bytes));
}

static void write_range_track(struct zs_trace_file *file, uint64_t track, uint64_t time_ns)
{
    struct record r = {.pb = {0}};
    r.pb = zs_pb_make(r.bytes, sizeof(r.bytes));
    uint8_t *message = zs_pb_begin(&r.pb, ZS_PF_PACKET_TRACK_DESCRIPTOR);
    zs_pb_u64(&r.pb, ZS_PF_TRACK_UUID, track);
    zs_pb_u64(&r.pb, ZS_PF_TRACK_PARENT_UUID, file->track_uuid);
    zs_pb_text(&r.pb, ZS_PF_TRACK_NAME, "ranges");
    zs_pb_end(&r.pb, message);
    zs_trace_packet_at(file, time_ns, r.bytes, (size_t)(r.pb.at - r.bytes));
}

void act_write_mark(struct zs_trace_file *file, uint64_t track, bool is_first,
                    enum zs_activity_record record, const char *text, uint64_t time_ns)
{
    struct record r;
    if (is_first)
        write_range_track(file, track, time_ns);
    record_begin(&r, record, 1);
    if (text)
        put_name(&r, text);
    record_end(&r);
    put_instant(&r, track,
                record == ZS_ACT_MARK    ? ZS_PF_INSTANT
                : record == ZS_ACT_RANGE ? ZS_PF_SLICE_BEGIN
                                         : ZS_PF_SLICE_END,
                text);
    if (!r.pb.full)
        zs_trace_packet_at(file, time_ns, r.bytes, (size_t)(r.pb.at - r.bytes));
}
