/* SPDX-License-Identifier: MIT */
#include "record/trace_reader.h"

#include "store/perfetto.h"
#include "store/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Perfetto's packets are limited by who writes them; ours are far smaller. */
enum { NAME_MAX_B = 4096, PACKET_MAX_B = 256 << 10, BUFFER_B = 128 << 10, AHEAD_B = 32 << 10 };

/* Numbers below 128 and short messages: nearly all fields of nearly all packets. */
static inline bool next_short(struct zs_reader *r, struct zs_pb_field *ret_field)
{
    size_t left_B = r->span.size_B - r->at_B;
    const uint8_t *p = r->span.data + r->at_B;
    if (left_B < 2 || (p[0] & 0x80) || (p[1] & 0x80) || p[0] < 8)
        return false;
    if ((p[0] & 7) == 0) {
        *ret_field = (struct zs_pb_field){.number = p[0] >> 3, .value = p[1]};
        r->at_B += 2;
        return true;
    }
    if ((p[0] & 7) != 2 || left_B - 2 < p[1])
        return false;
    *ret_field = (struct zs_pb_field){
        .number = p[0] >> 3, .bytes = zs_span_make(p + 2, p[1]), .is_bytes = true};
    r->at_B += 2 + (size_t)p[1];
    return true;
}

bool zs_pb_next(struct zs_reader *r, struct zs_pb_field *ret_field)
{
    if (!zs_reader_left(r))
        return false;
    if (ZS_LIKELY(next_short(r, ret_field)))
        return true;
    uint64_t tag = zs_read_uleb128(r, "field");
    *ret_field = (struct zs_pb_field){.number = (uint32_t)(tag >> 3)};
    if (!r->error && (tag >> 3 == 0 || tag >> 3 > UINT32_MAX))
        zs_reader_fail(r, -EINVAL, "a field has no number");
    switch (tag & 7) {
    case 0:
        ret_field->value = zs_read_uleb128(r, "number");
        break;
    case 1:
        ret_field->value = zs_read_u64(r, "64-bit field");
        break;
    case 2:
        ret_field->is_bytes = true;
        ret_field->bytes = zs_read_bytes(r, zs_read_uleb128(r, "length"), "field of bytes");
        break;
    case 5:
        ret_field->value = zs_read_u32(r, "32-bit field");
        break;
    default:
        zs_reader_fail(r, -EINVAL, "a field has wire type %u, which is not in use",
                       (unsigned)(tag & 7));
    }
    return !r->error;
}

void zs_trace_reader_open(struct zs_trace_reader *reader, struct zs_span span)
{
    *reader = (struct zs_trace_reader){.fd = -1};
    zs_diag_clear(&reader->diag);
    reader->r = zs_reader_make(span, 0, NULL);
    zs_arena_init(&reader->arena, 4 << 20);
}

int zs_trace_reader_open_fd(struct zs_trace_reader *reader, int fd)
{
    zs_trace_reader_open(reader, zs_span_make(NULL, 0));
    reader->buffer = malloc(BUFFER_B);
    if (!reader->buffer)
        return -ENOMEM;
    reader->fd = fd;
    reader->buffer_B = BUFFER_B;
    return 0;
}

/* How many bytes the packet at the cursor announces, and AHEAD_B at least. */
static size_t packet_needs_B(const struct zs_trace_reader *reader)
{
    struct zs_reader peek = reader->r;
    struct zs_diag ignored;
    peek.diag = &ignored;
    zs_read_uleb128(&peek, "field");
    uint64_t length_B = zs_read_uleb128(&peek, "length");
    if (peek.error || length_B > PACKET_MAX_B - 32)
        return AHEAD_B;
    return ZS_MAX((size_t)length_B + 32, (size_t)AHEAD_B);
}

/* Large packets are rare: the buffer grows when one comes. */
static bool make_room(struct zs_trace_reader *reader, size_t need_B)
{
    if (need_B <= reader->buffer_B)
        return true;
    uint8_t *buffer = malloc(PACKET_MAX_B);
    if (!buffer)
        return false;
    size_t left_B = zs_reader_left(&reader->r);
    memcpy(buffer, reader->r.span.data + reader->r.at_B, left_B);
    uint64_t base_B = reader->r.base_B + reader->r.at_B;
    free(reader->buffer);
    reader->buffer = buffer;
    reader->buffer_B = PACKET_MAX_B;
    reader->r = zs_reader_make(zs_span_make(buffer, left_B), base_B, &reader->diag);
    return true;
}

/* Keep the next packet's bytes in the window for as long as the file has them. */
static void refill(struct zs_trace_reader *reader)
{
    size_t left_B = zs_reader_left(&reader->r);
    if (reader->fd < 0 || reader->at_end || left_B >= PACKET_MAX_B)
        return;
    const uint8_t *next = left_B >= AHEAD_B ? reader->r.span.data + reader->r.at_B : NULL;
    if (next && !(next[1] & next[2] & 0x80)) /* its length has at most two bytes */
        return;
    size_t need_B = left_B ? packet_needs_B(reader) : AHEAD_B;
    if (left_B >= need_B || !make_room(reader, need_B))
        return;
    if (left_B)
        memmove(reader->buffer, reader->r.span.data + reader->r.at_B, left_B);
    uint64_t base_B = reader->r.base_B + reader->r.at_B;
    while (left_B < reader->buffer_B && !reader->at_end) {
        ssize_t n = read(reader->fd, reader->buffer + left_B, reader->buffer_B - left_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            zs_diag_set(&reader->diag, -errno, base_B + left_B, "%s", strerror(errno));
        reader->damaged = reader->damaged || n < 0;
        reader->at_end = n <= 0;
        left_B += n > 0 ? (size_t)n : 0;
    }
    reader->r = zs_reader_make(zs_span_make(reader->buffer, left_B), base_B, &reader->diag);
}

void zs_trace_reader_close(struct zs_trace_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
    free(reader->nodes);
    reader->nodes = NULL;
    zs_arena_fini(&reader->arena);
}

/* Readers of messages inside a packet share its diagnostic. */
static struct zs_reader message(struct zs_span bytes, struct zs_reader *packet)
{
    uint64_t base_B = packet->base_B + (uint64_t)(bytes.data - packet->span.data);
    return zs_reader_make(bytes, bytes.data ? base_B : packet->base_B, packet->diag);
}

static void intern(struct zs_trace_reader *reader, uint64_t iid, struct zs_span name)
{
    if (iid == 0 || iid > ZS_TRACE_NAMES_MAX)
        return;
    if (!reader->names) {
        reader->names = ZS_ARENA_ARRAY(&reader->arena, ZS_TRACE_NAMES_MAX + 1, struct zs_span);
        reader->shapes = ZS_ARENA_ARRAY(&reader->arena, ZS_TRACE_NAMES_MAX + 1, struct zs_span);
        reader->name_capacity = reader->names && reader->shapes ? ZS_TRACE_NAMES_MAX + 1 : 0;
    }
    const char *copy = iid < reader->name_capacity && name.size_B <= NAME_MAX_B
                           ? zs_arena_strndup(&reader->arena, name.data, name.size_B)
                           : NULL;
    if (!copy)
        return;
    reader->names[iid] = zs_span_make(copy, strlen(copy));
    reader->shapes[iid] = zs_span_make(NULL, 0);
}

/* Behind the name that it belongs to. */
static int read_shape(struct zs_trace_reader *reader, struct zs_reader m)
{
    uint64_t iid = zs_read_uleb128(&m, "iid");
    struct zs_span shape = zs_read_bytes(&m, zs_reader_left(&m), "shape");
    if (m.error || !iid || iid >= reader->name_capacity || !reader->names[iid].data)
        return m.error;
    uint8_t *copy = zs_arena_alloc(&reader->arena, shape.size_B);
    if (copy && shape.size_B) {
        memcpy(copy, shape.data, shape.size_B);
        reader->shapes[iid] = zs_span_make(copy, shape.size_B);
    }
    return 0;
}

static int read_interned(struct zs_trace_reader *reader, struct zs_reader m)
{
    struct zs_pb_field f, g;
    while (zs_pb_next(&m, &f)) {
        if (f.number != ZS_PF_INTERNED_EVENT_NAMES || !f.is_bytes)
            continue;
        struct zs_reader entry = message(f.bytes, &m);
        uint64_t iid = 0;
        struct zs_span name = {0};
        while (zs_pb_next(&entry, &g)) {
            if (g.number == ZS_PF_NAME_IID)
                iid = g.value;
            else if (g.number == ZS_PF_NAME_TEXT && g.is_bytes)
                name = g.bytes;
        }
        if (entry.error)
            return entry.error;
        intern(reader, iid, name);
    }
    return m.error;
}

static bool grow_nodes(struct zs_trace_reader *reader, uint64_t count)
{
    if (count <= reader->node_capacity)
        return true;
    uint64_t capacity = ZS_MAX(count, ZS_MAX(2 * (uint64_t)reader->node_capacity, UINT64_C(256)));
    struct zs_trace_node *nodes = count > ZS_TRACE_NODES_MAX
                                      ? NULL
                                      : realloc(reader->nodes, (size_t)capacity * sizeof(*nodes));
    if (!nodes)
        return false;
    memset(nodes + reader->node_capacity, 0,
           (size_t)(capacity - reader->node_capacity) * sizeof(*nodes));
    reader->nodes = nodes;
    reader->node_capacity = (uint32_t)capacity;
    return true;
}

/* Parents have lower ids than their children: there are no cycles. Ids may leap over what was lost,
 * but not far. */
static int read_nodes(struct zs_trace_reader *reader, struct zs_reader m)
{
    uint64_t id = zs_read_uleb128(&m, "first node"), pc = 0;
    if (m.error || id == 0 || id > (uint64_t)reader->node_count + (1 << 16))
        return m.error ? m.error : -EINVAL;
    for (; zs_reader_left(&m) && !m.error; id++) {
        uint64_t parent = zs_read_uleb128(&m, "parent node"),
                 delta = zs_read_uleb128(&m, "address");
        if (m.error || parent >= id || !grow_nodes(reader, id + 1))
            return m.error ? m.error : -EINVAL;
        pc += delta >> 1 ^ (0 - (delta & 1));
        reader->nodes[id] = (struct zs_trace_node){pc, (uint32_t)parent};
        reader->node_count = ZS_MAX(reader->node_count, (uint32_t)id);
    }
    return m.error;
}

uint32_t zs_trace_stack(const struct zs_trace_reader *reader, uint32_t stack,
                        uint64_t ret_pcs[ZS_TRACE_STACK_MAX])
{
    uint32_t count = 0;
    for (; stack && stack < reader->node_capacity && reader->nodes[stack].pc &&
           count < ZS_TRACE_STACK_MAX;
         stack = reader->nodes[stack].parent)
        ret_pcs[count++] = reader->nodes[stack].pc;
    return count;
}

/* Ties the delta clock to CLOCK_MONOTONIC. */
static int read_snapshot(struct zs_trace_reader *reader, struct zs_reader m)
{
    struct zs_pb_field f, g;
    while (zs_pb_next(&m, &f)) {
        if (f.number != ZS_PF_SNAPSHOT_CLOCKS || !f.is_bytes)
            continue;
        struct zs_reader clock = message(f.bytes, &m);
        uint64_t id = 0, time_ns = 0;
        while (zs_pb_next(&clock, &g)) {
            if (g.number == ZS_PF_CLOCK_ID)
                id = g.value;
            else if (g.number == ZS_PF_CLOCK_TIMESTAMP)
                time_ns = g.value;
        }
        if (clock.error)
            return clock.error;
        if (id == ZS_TRACE_CLOCK_DELTA)
            reader->clock_ns = time_ns;
    }
    return m.error;
}

static int read_defaults(struct zs_trace_reader *reader, struct zs_reader m)
{
    struct zs_pb_field f, g;
    while (zs_pb_next(&m, &f)) {
        if (f.number != ZS_PF_DEFAULTS_EVENT || !f.is_bytes)
            continue;
        struct zs_reader event = message(f.bytes, &m);
        while (zs_pb_next(&event, &g))
            if (g.number == ZS_PF_EVENT_DEFAULTS_TRACK)
                reader->default_track = g.value;
        if (event.error)
            return event.error;
    }
    return m.error;
}

static int read_ids(struct zs_reader m, uint32_t pid_field, uint32_t tid_field, uint32_t name_field,
                    struct zs_trace_event_in *e)
{
    struct zs_pb_field f;
    while (zs_pb_next(&m, &f)) {
        if (f.number == pid_field)
            e->pid = (uint32_t)f.value;
        else if (f.number == tid_field && tid_field)
            e->tid = (uint32_t)f.value;
        else if (f.number == name_field && f.is_bytes)
            e->name = f.bytes;
    }
    return m.error;
}

static int read_track(struct zs_reader m, struct zs_trace_event_in *e)
{
    struct zs_pb_field f;
    int error = 0;
    e->kind = ZS_TRACE_TRACK;
    while (!error && zs_pb_next(&m, &f)) {
        if (f.number == ZS_PF_TRACK_UUID)
            e->track = f.value;
        else if (f.number == ZS_PF_TRACK_PARENT_UUID)
            e->parent_track = f.value;
        else if (f.number == ZS_PF_TRACK_NAME && f.is_bytes)
            e->name = f.bytes;
        else if (f.number == ZS_PF_TRACK_COUNTER)
            e->is_counter = true;
        else if (f.number == ZS_PF_TRACK_PROCESS && f.is_bytes)
            error = read_ids(message(f.bytes, &m), ZS_PF_PROCESS_PID, 0, ZS_PF_PROCESS_NAME, e);
        else if (f.number == ZS_PF_TRACK_THREAD && f.is_bytes)
            error = read_ids(message(f.bytes, &m), ZS_PF_THREAD_PID, ZS_PF_THREAD_TID,
                             ZS_PF_THREAD_NAME, e);
    }
    return error ? error : m.error;
}

static int read_event(const struct zs_trace_reader *reader, struct zs_reader m,
                      struct zs_trace_event_in *e)
{
    static const struct {
        uint32_t type;
        enum zs_trace_kind kind;
    } kinds[] = {{ZS_PF_SLICE_BEGIN, ZS_TRACE_BEGIN},
                 {ZS_PF_SLICE_END, ZS_TRACE_END},
                 {ZS_PF_INSTANT, ZS_TRACE_INSTANT},
                 {ZS_PF_COUNTER, ZS_TRACE_COUNTER}};
    struct zs_pb_field f;
    uint64_t type = 0;
    e->track = reader->default_track;
    while (zs_pb_next(&m, &f)) {
        if (f.number == ZS_PF_EVENT_TYPE)
            type = f.value;
        else if (f.number == ZS_PF_EVENT_TRACK_UUID)
            e->track = f.value;
        else if (f.number == ZS_PF_EVENT_NAME && f.is_bytes)
            e->name = f.bytes;
        else if (f.number == ZS_PF_EVENT_COUNTER_VALUE)
            e->value = (int64_t)f.value;
        else if (f.number == ZS_PF_EVENT_NAME_IID && f.value < reader->name_capacity) {
            e->name = reader->names[f.value];
            e->shape = reader->shapes[f.value];
        }
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(kinds); i++) {
        if (kinds[i].type == type) {
            e->kind = kinds[i].kind;
            return m.error;
        }
    }
    return m.error ? m.error : -ENOENT; /* a type that we do not show */
}

/* One packet; *ret_has says whether it is an event for the caller. */
static int read_packet(struct zs_trace_reader *reader, struct zs_reader packet,
                       struct zs_trace_event_in *e, bool *ret_has)
{
    struct zs_pb_field f;
    struct zs_span track = {0}, event = {0};
    int error = 0;
    uint64_t time_ns = 0;
    bool is_absolute = false;
    while (!error && zs_pb_next(&packet, &f)) {
        switch (f.number) {
        case ZS_PF_PACKET_TIMESTAMP:
            time_ns = f.value;
            break;
        case ZS_PF_PACKET_CLOCK_ID:
            is_absolute = f.value == ZS_TRACE_CLOCK_MONOTONIC;
            break;
        case ZS_TRACE_FIELD_ACTIVITY:
            e->record = f.bytes;
            break;
        case ZS_PF_PACKET_PREVIOUS_DROPPED:
            reader->drop_pending = true;
            break;
        case ZS_PF_PACKET_CLOCK_SNAPSHOT:
            error = read_snapshot(reader, message(f.bytes, &packet));
            break;
        case ZS_PF_PACKET_DEFAULTS:
            error = read_defaults(reader, message(f.bytes, &packet));
            break;
        case ZS_PF_PACKET_INTERNED_DATA:
            error = read_interned(reader, message(f.bytes, &packet));
            break;
        case ZS_PF_PACKET_TRACK_DESCRIPTOR:
            track = f.bytes;
            break;
        case ZS_PF_PACKET_TRACK_EVENT:
            event = f.bytes;
            break;
        case ZS_TRACE_FIELD_CALL:
            e->call = f.bytes;
            break;
        case ZS_TRACE_FIELD_SHAPE:
            error = read_shape(reader, message(f.bytes, &packet));
            break;
        case ZS_TRACE_FIELD_STACK_NODES:
            error = read_nodes(reader, message(f.bytes, &packet));
            break;
        case ZS_TRACE_FIELD_STACK:
            e->stack = (uint32_t)ZS_MIN(f.value, (uint64_t)UINT32_MAX);
            break;
        }
    }
    if (error || packet.error)
        return error ? error : packet.error;
    if (!is_absolute)
        reader->clock_ns += time_ns;
    e->time_ns = is_absolute ? time_ns : reader->clock_ns;
    e->event = track.data ? track : event;
    e->kind = ZS_TRACE_RECORD;
    *ret_has = track.data || event.data || e->record.data;
    if (track.data)
        return read_track(message(track, &packet), e);
    if (!event.data)
        return 0;
    error = read_event(reader, message(event, &packet), e);
    *ret_has = error != -ENOENT || e->record.data;
    return error == -ENOENT ? 0 : error;
}

/* All of the window has been read: what is a hole in the file behind it is passed over unread. */
static void skip_hole(struct zs_trace_reader *reader)
{
    off_t at = reader->fd >= 0 && !reader->at_end ? lseek(reader->fd, 0, SEEK_CUR) : -1;
    off_t data = at >= 0 ? lseek(reader->fd, at, SEEK_DATA) : -1;
    if (at < 0)
        return;
    if (data < 0) { /* nothing but a hole is left, or holes cannot be told */
        reader->at_end = errno == ENXIO;
        lseek(reader->fd, at, SEEK_SET);
        return;
    }
    reader->r =
        zs_reader_make(zs_span_make(reader->buffer, 0),
                       reader->r.base_B + reader->r.at_B + (uint64_t)(data - at), &reader->diag);
}

/* Reads on to the end of the file: what a process left behind that was killed, where at most a
 * packet that was never finished stands behind the zero at its start. */
static bool only_zeros(struct zs_trace_reader *reader)
{
    reader->r.at_B += ZS_MIN(zs_reader_left(&reader->r), (size_t)ZS_TRACE_PACKET_MAX_B);
    for (;;) {
        for (size_t i = reader->r.at_B; i < reader->r.span.size_B; i++)
            if (reader->r.span.data[i])
                return false;
        reader->r.at_B = reader->r.span.size_B;
        skip_hole(reader);
        refill(reader);
        if (!zs_reader_left(&reader->r))
            return true;
    }
}

bool zs_trace_reader_next(struct zs_trace_reader *reader, struct zs_trace_event_in *ret_event)
{
    for (refill(reader); zs_reader_left(&reader->r); refill(reader)) {
        struct zs_reader start = reader->r;
        if (reader->r.span.data[reader->r.at_B] == 0 && only_zeros(reader))
            return false;
        struct zs_pb_field f;
        bool has = false;
        int error = -EINVAL;
        *ret_event = (struct zs_trace_event_in){0};
        reader->r.diag = &reader->diag;
        if (zs_pb_next(&reader->r, &f)) {
            bool is_packet = f.number == ZS_PF_TRACE_PACKET && f.is_bytes;
            error =
                is_packet ? read_packet(reader, message(f.bytes, &reader->r), ret_event, &has) : 0;
        }
        if (error) {
            zs_diag_set(&reader->diag, error, zs_reader_offset(&start), "not a whole packet");
            reader->damaged = true;
            return false;
        }
        reader->whole_B = zs_reader_offset(&reader->r);
        if (has) {
            ret_event->after_drop = reader->drop_pending;
            reader->drop_pending = false;
            return true;
        }
    }
    return false;
}
