/* SPDX-License-Identifier: MIT */
#include "report/timeline_priv.h"

#include "record/traces.h"
#include "store/pb.h"
#include "store/perfetto.h"
#include "store/trace_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SEQUENCE_ID = 0x7ffffff0, PACKET_MAX_B = 8192 };

struct packet {
    uint8_t bytes[PACKET_MAX_B];
    struct zs_pb pb;
};

static void packet_begin(struct packet *p, uint64_t time_ns)
{
    p->pb = zs_pb_make(p->bytes, sizeof(p->bytes));
    zs_pb_u64(&p->pb, ZS_PF_PACKET_CLOCK_ID, ZS_TRACE_CLOCK_MONOTONIC);
    zs_pb_u64(&p->pb, ZS_PF_PACKET_TIMESTAMP, time_ns);
    zs_pb_u64(&p->pb, ZS_PF_PACKET_SEQUENCE_ID, SEQUENCE_ID);
}

static int packet_end(struct timeline *t, struct packet *p)
{
    uint8_t header[16];
    struct zs_pb pb = zs_pb_make(header, sizeof(header));
    if (p->pb.full)
        return 0; /* names are cut: does not happen */
    size_t size_B = (size_t)(p->pb.at - p->bytes);
    zs_pb_varint(&pb, ZS_PF_TRACE_PACKET << 3 | 2);
    zs_pb_varint(&pb, size_B);
    zs_buf_append(&t->out, header, (size_t)(pb.at - header));
    zs_buf_append(&t->out, p->bytes, size_B);
    return timeline_flush(t, false);
}

static struct zs_trace_process process_of(uint64_t process)
{
    return (struct zs_trace_process){.pid = (uint32_t)process,
                                     .ordinal = (uint32_t)(process >> 32)};
}

/* Tracks of ours are numbered apart from those that the collector could give out. */
static uint64_t track_uuid(uint64_t process, uint64_t number)
{
    const struct zs_trace_process p = process_of(process);
    return zs_trace_track_uuid(&p, number | UINT64_C(1) << 62);
}

enum track_kind { SLICES, COUNTER, BYTES };

static int put_track(struct timeline *t, uint64_t process, uint64_t number, const char *name,
                     enum track_kind kind)
{
    struct packet p;
    const struct zs_trace_process owner = process_of(process);
    packet_begin(&p, t->first_ns);
    uint8_t *track = zs_pb_begin(&p.pb, ZS_PF_PACKET_TRACK_DESCRIPTOR);
    zs_pb_u64(&p.pb, ZS_PF_TRACK_UUID, track_uuid(process, number));
    zs_pb_u64(&p.pb, ZS_PF_TRACK_PARENT_UUID, zs_trace_process_uuid(&owner));
    zs_pb_text(&p.pb, ZS_PF_TRACK_NAME, name);
    if (kind != SLICES) {
        uint8_t *counter = zs_pb_begin(&p.pb, ZS_PF_TRACK_COUNTER);
        if (kind == BYTES)
            zs_pb_u64(&p.pb, ZS_PF_COUNTER_UNIT, ZS_PF_COUNTER_UNIT_BYTES);
        zs_pb_end(&p.pb, counter);
    }
    zs_pb_end(&p.pb, track);
    return packet_end(t, &p);
}

static uint8_t *event_begin(struct packet *p, uint64_t type, uint64_t track)
{
    uint8_t *event = zs_pb_begin(&p->pb, ZS_PF_PACKET_TRACK_EVENT);
    zs_pb_u64(&p->pb, ZS_PF_EVENT_TYPE, type);
    zs_pb_u64(&p->pb, ZS_PF_EVENT_TRACK_UUID, track);
    return event;
}

static void note_u64(struct packet *p, const char *name, uint64_t value)
{
    uint8_t *note = zs_pb_begin(&p->pb, ZS_PF_EVENT_ANNOTATION);
    zs_pb_text(&p->pb, ZS_PF_ANNOTATION_NAME, name);
    zs_pb_u64(&p->pb, ZS_PF_ANNOTATION_UINT, value);
    zs_pb_end(&p->pb, note);
}

static void note_text(struct packet *p, const char *name, const char *value)
{
    uint8_t *note = zs_pb_begin(&p->pb, ZS_PF_EVENT_ANNOTATION);
    zs_pb_text(&p->pb, ZS_PF_ANNOTATION_NAME, name);
    zs_pb_text(&p->pb, ZS_PF_ANNOTATION_STRING, value);
    zs_pb_end(&p->pb, note);
}

static void put_notes(struct packet *p, const struct zs_act_execute *e)
{
    static const char *const groups[] = {"groups_x", "groups_y", "groups_z"}, *const sizes[] = {
                                                                                  "group_size_x",
                                                                                  "group_size_y",
                                                                                  "group_size_z"};
    const struct zs_act_append *a = e->append;
    note_text(p, "kind", zs_act_kind_name(a->kind));
    note_text(p, "device", a->device ? a->device->label : "n/a");
    note_u64(p, "append_ns", a->time_ns);
    note_u64(p, "submit_ns", e->submit_ns);
    note_u64(p, "start_ns", e->start_ns);
    note_u64(p, "end_ns", e->end_ns);
    note_u64(p, "call", a->call);
    note_u64(p, "thread", a->tid);
    for (int i = 0; i < 3 && a->groups[0]; i++)
        note_u64(p, groups[i], a->groups[i]);
    for (int i = 0; i < 3 && a->size[0]; i++)
        note_u64(p, sizes[i], a->size[i]);
    if (a->kernel && a->kernel->simd)
        note_u64(p, "simd", a->kernel->simd);
    if (a->has_bytes)
        note_u64(p, "bytes", a->bytes);
}

static int put_slice(struct timeline *t, const struct zs_act_execute *e)
{
    struct packet p;
    char buffer[256];
    bool is_new;
    int lane = timeline_lane(t, e, &is_new);
    if (lane < 0)
        return -ENOMEM;
    uint64_t number = e->queue_id * ZS_TIMELINE_LANES_MAX + (uint64_t)lane + 1;
    timeline_queue_name(e, lane, buffer, sizeof(buffer));
    int status = is_new ? put_track(t, e->process, number, buffer, SLICES) : 0;
    if (status)
        return status;
    packet_begin(&p, e->start_ns);
    uint8_t *event = event_begin(&p, ZS_PF_SLICE_BEGIN, track_uuid(e->process, number));
    zs_pb_text(&p.pb, ZS_PF_EVENT_NAME, timeline_name(e->append, buffer, sizeof(buffer)));
    zs_pb_fixed64(&p.pb, ZS_PF_EVENT_FLOW_IDS, timeline_flow(e->append));
    put_notes(&p, e);
    zs_pb_end(&p.pb, event);
    status = packet_end(t, &p);
    if (status)
        return status;
    packet_begin(&p, e->end_ns);
    event = event_begin(&p, ZS_PF_SLICE_END, track_uuid(e->process, number));
    zs_pb_end(&p.pb, event);
    return packet_end(t, &p);
}

/* Where its arrows start: inside the call's slice on the thread's track. */
static int put_append(void *user, const struct zs_act_append *a)
{
    struct timeline *t = user;
    struct packet p;
    char buffer[128];
    packet_begin(&p, a->time_ns);
    uint8_t *event = event_begin(&p, ZS_PF_INSTANT, a->track);
    zs_pb_text(&p.pb, ZS_PF_EVENT_NAME, timeline_name(a, buffer, sizeof(buffer)));
    zs_pb_fixed64(&p.pb, ZS_PF_EVENT_FLOW_IDS, timeline_flow(a));
    zs_pb_end(&p.pb, event);
    return packet_end(t, &p);
}

static int put_memory(struct timeline *t, const struct zs_act_object *o, uint64_t live_B,
                      bool is_first)
{
    struct packet p;
    int status = is_first ? put_track(t, o->process, 0, "Level Zero memory", BYTES) : 0;
    if (status)
        return status;
    packet_begin(&p, o->time_ns);
    uint8_t *event = event_begin(&p, ZS_PF_COUNTER, track_uuid(o->process, 0));
    zs_pb_u64(&p.pb, ZS_PF_EVENT_COUNTER_VALUE, live_B);
    zs_pb_end(&p.pb, event);
    return packet_end(t, &p);
}

/* Numbers behind those of all queues. */
static int put_counter(struct timeline *t, const struct timeline_counter *counter, uint64_t time_ns,
                       double value)
{
    struct packet p;
    uint64_t bits;
    uint64_t number = UINT64_C(1) << 61 | (uint64_t)counter->group << 32 | counter->metric;
    int status =
        counter->is_first ? put_track(t, counter->process, number, counter->name, COUNTER) : 0;
    if (status)
        return status;
    memcpy(&bits, &value, sizeof(bits));
    packet_begin(&p, time_ns);
    uint8_t *event = event_begin(&p, ZS_PF_COUNTER, track_uuid(counter->process, number));
    zs_pb_fixed64(&p.pb, ZS_PF_EVENT_DOUBLE_COUNTER_VALUE, bits);
    zs_pb_end(&p.pb, event);
    return packet_end(t, &p);
}

/* How much of a file are whole packets. */
static int measure_file(struct timeline *t, int fd, uint64_t *ret_whole_B)
{
    struct zs_trace_reader reader;
    struct zs_trace_event_in e;
    int error = zs_trace_reader_open_fd(&reader, fd);
    while (!error && zs_trace_reader_next(&reader, &e))
        if (!t->first_ns || (e.time_ns && e.time_ns < t->first_ns))
            t->first_ns = e.time_ns;
    *ret_whole_B = reader.whole_B;
    zs_trace_reader_close(&reader);
    return error;
}

/* The whole packets at the start of a file, as they are. */
static int copy_file(struct timeline *t, int fd)
{
    uint64_t left_B;
    int status = measure_file(t, fd, &left_B);
    if (!status && lseek(fd, 0, SEEK_SET))
        status = -errno;
    while (!status && left_B) {
        size_t want_B = (size_t)ZS_MIN(left_B, (uint64_t)1 << 18);
        uint8_t *room = zs_buf_reserve(&t->out, want_B);
        ssize_t n = room ? read(fd, room, want_B) : 0;
        if (!room)
            return -ENOMEM;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : 0;
        t->out.size_B += (size_t)n;
        left_B -= (uint64_t)n;
        status = timeline_flush(t, false);
    }
    return status;
}

static int copy_files(struct timeline *t, const char *recording, struct zs_diag *diag)
{
    struct zs_traces traces;
    int status = zs_traces_open(recording, &traces, diag);
    if (status)
        return status;
    if (traces.part_count) /* their sequences and tracks have the same numbers */
        status = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                             "a folder of recordings has no Perfetto timeline; -o FILE.json writes "
                             "one in Chrome's format");
    for (size_t i = 0; i < traces.count && !status; i++) {
        int fd = zs_traces_open_file(&traces, i, NULL);
        if (fd < 0)
            continue;
        status = copy_file(t, fd);
        close(fd);
    }
    zs_traces_close(&traces);
    return status;
}

int zs_timeline_perfetto(const char *recording, zs_timeline_write_fn write, void *user,
                         struct zs_timeline_result *ret_result, struct zs_diag *diag)
{
    struct timeline t = {.write = write,
                         .user = user,
                         .result = ret_result,
                         .put_slice = put_slice,
                         .put_memory = put_memory,
                         .put_counter = put_counter};
    const struct zs_merge_sink sink = {.user = &t,
                                       .append = put_append,
                                       .execute = timeline_on_execute,
                                       .object = timeline_on_object,
                                       .metric = timeline_on_metric,
                                       .no_values = true};
    struct zs_merge_totals totals = {0};
    *ret_result = (struct zs_timeline_result){0};
    int status = copy_files(&t, recording, diag);
    if (!status)
        status = zs_merge(recording, &sink, &t.activities, &totals, diag);
    if (!status)
        status = timeline_end(&t);
    if (!status)
        status = timeline_metrics(&t, recording, diag);
    ret_result->calls = totals.calls;
    ret_result->lost_calls = totals.lost;
    ret_result->damaged_files = totals.damaged_files;
    if (!status)
        status = timeline_flush(&t, true);
    timeline_free(&t);
    return status;
}
