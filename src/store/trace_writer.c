/* SPDX-License-Identifier: MIT */
#include "store/trace_writer.h"
#include "base/clock.h"

#include "store/pb.h"
#include "store/perfetto.h"
#include "store/trace_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

uint64_t zs_trace_now_ns(void)
{
    return zs_now_ns();
}

static uint64_t boottime_ns(void)
{
    return zs_clock_ns(CLOCK_BOOTTIME);
}

#if defined(__x86_64__)
#include <x86intrin.h>

enum { MEASURE_NS = 20000000, ASK_EVERY_NS = 1000000 };

bool zs_trace_kernel_uses_ticks(void)
{
    char name[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, name, sizeof(name) - 1) : 0;
    if (fd >= 0)
        close(fd);
    return n == 4 && !memcmp(name, "tsc\n", 4);
}

static uint64_t clock_ask(struct zs_trace_clock *c)
{
    uint64_t ticks = __rdtsc(), now_ns = zs_trace_now_ns();
    uint64_t since_ns = now_ns - c->first_ns, since_ticks = ticks - c->first_ticks;
    uint64_t rate = 0;
    if (c->first_ns && since_ns >= MEASURE_NS && since_ticks)
        rate = (uint64_t)(((unsigned __int128)since_ns << 32) / since_ticks);
    /* a suspended machine, or a clock that was set straight: measure anew */
    uint64_t change = rate > c->ns_per_tick ? rate - c->ns_per_tick : c->ns_per_tick - rate;
    if (!c->first_ns || (rate && c->ns_per_tick && change > c->ns_per_tick / 1000)) {
        c->first_ns = now_ns;
        c->first_ticks = ticks;
        rate = 0;
    }
    c->ns_per_tick = rate;
    c->limit_ticks = rate ? ((uint64_t)ASK_EVERY_NS << 32) / rate : 0;
    c->last_ns = now_ns;
    c->last_ticks = ticks;
    return now_ns;
}

uint64_t zs_trace_file_now_ns(struct zs_trace_file *file)
{
    struct zs_trace_clock *c = &file->clock;
    if (ZS_UNLIKELY(!c->usable))
        return zs_trace_now_ns();
    uint64_t ticks = __rdtsc() - c->last_ticks;
    if (ZS_UNLIKELY(ticks >= c->limit_ticks))
        return clock_ask(c);
    return c->last_ns + (uint64_t)(((unsigned __int128)ticks * c->ns_per_tick) >> 32);
}
#else
bool zs_trace_kernel_uses_ticks(void)
{
    return false;
}

uint64_t zs_trace_file_now_ns(struct zs_trace_file *file)
{
    return zs_trace_now_ns();
}
#endif

static uint8_t *varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static void count_drop(struct zs_trace_file *file)
{
    file->drops++;
    if (file->process->lost)
        atomic_fetch_add_explicit(file->process->lost, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->process->dropped, 1, memory_order_relaxed);
}

static void put_start(struct zs_trace_file *file);
static void put_thread(struct zs_trace_file *file);

/* There is no window, or it is full. */
static bool make_room(struct zs_trace_file *file)
{
    if (!zs_trace_space_next(file))
        return false;
    if (!file->is_begun) {
        file->is_begun = true;
        put_start(file);
        put_thread(file);
    }
    return file->window != NULL;
}

/* Before a packet is built: its header names the sequence, which is known when the file is made. */
static bool is_ready(struct zs_trace_file *file)
{
    if (ZS_LIKELY(file->window != NULL) || make_room(file))
        return true;
    count_drop(file);
    return false;
}

/* A whole packet, from its tag on. The tag is stored last: see the top of the header. Behind it
 * stands a zero, whatever was begun there before. */
static void store(struct zs_trace_file *file, const uint8_t *bytes, size_t size_B)
{
    if (ZS_UNLIKELY(!file->window || size_B >= file->window_B - file->used_B) &&
        (!file->window || !make_room(file))) {
        count_drop(file);
        return;
    }
    uint8_t *to = file->window + file->used_B;
    memcpy(to + 1, bytes + 1, size_B - 1);
    to[size_B] = 0;
    __atomic_store_n(to, bytes[0], __ATOMIC_RELEASE);
    file->used_B += (uint32_t)size_B;
}

/*
 * A packet is built with room for its own header (tag and two bytes of length, or one for short
 * packets) before it, so the common short ones cost two bytes.
 */
struct packet {
    uint8_t bytes[3 + ZS_TRACE_PACKET_MAX_B];
    struct zs_pb pb;
};

static void packet_begin(struct packet *p, struct zs_trace_file *file, uint64_t now_ns)
{
    p->pb = zs_pb_make(p->bytes + 3, ZS_TRACE_PACKET_MAX_B);
    uint64_t delta_ns = now_ns > file->last_ns ? now_ns - file->last_ns : 0;
    zs_pb_u64(&p->pb, ZS_PF_PACKET_TIMESTAMP, delta_ns);
    zs_pb_u64(&p->pb, ZS_PF_PACKET_SEQUENCE_ID, file->sequence_id);
    if (file->drops) {
        zs_pb_u64(&p->pb, ZS_PF_PACKET_PREVIOUS_DROPPED, 1);
    }
}

/* The tag, the length, and store: the length takes one byte or two. */
static void packet_store(struct packet *p, struct zs_trace_file *file)
{
    size_t size_B = (size_t)(p->pb.at - (p->bytes + 3));
    uint8_t *start = p->bytes + (size_B < 128 ? 1 : 0);
    start[0] = ZS_PF_TRACE_PACKET << 3 | 2;
    if (size_B < 128) {
        start[1] = (uint8_t)size_B;
        store(file, start, size_B + 2);
    } else {
        start[1] = (uint8_t)(size_B | 0x80);
        start[2] = (uint8_t)(size_B >> 7);
        store(file, start, size_B + 3);
    }
}

static void packet_end(struct packet *p, struct zs_trace_file *file, uint64_t now_ns)
{
    if (p->pb.full) {
        count_drop(file);
        return;
    }
    uint32_t drops = file->drops;
    packet_store(p, file);
    if (file->drops == drops) { /* it was written: deltas start from it */
        file->drops = 0;
        file->last_ns = ZS_MAX(now_ns, file->last_ns);
    }
}

static void put_clock(struct zs_pb *pb, uint32_t id, uint64_t timestamp, bool incremental)
{
    uint8_t *clock = zs_pb_begin_short(pb, ZS_PF_SNAPSHOT_CLOCKS);
    zs_pb_u64(pb, ZS_PF_CLOCK_ID, id);
    zs_pb_u64(pb, ZS_PF_CLOCK_TIMESTAMP, timestamp);
    if (incremental)
        zs_pb_u64(pb, ZS_PF_CLOCK_INCREMENTAL, 1);
    zs_pb_end_short(pb, clock);
}

/* The first packet: state is clear, the clock of this sequence is tied to the host's, and events
 * stand on the thread's track unless they say otherwise. */
static void put_start(struct zs_trace_file *file)
{
    struct packet p;
    uint64_t now_ns = zs_trace_now_ns();
    p.pb = zs_pb_make(p.bytes + 3, ZS_TRACE_PACKET_MAX_B);
    struct zs_pb *pb = &p.pb;
    zs_pb_u64(pb, ZS_PF_PACKET_SEQUENCE_ID, file->sequence_id);
    zs_pb_u64(pb, ZS_PF_PACKET_SEQUENCE_FLAGS, ZS_PF_SEQ_STATE_CLEARED);
    uint8_t *snapshot = zs_pb_begin(pb, ZS_PF_PACKET_CLOCK_SNAPSHOT);
    put_clock(pb, ZS_TRACE_CLOCK_BOOTTIME, boottime_ns(), false);
    put_clock(pb, ZS_TRACE_CLOCK_MONOTONIC, now_ns, false);
    put_clock(pb, ZS_TRACE_CLOCK_DELTA, now_ns, true);
    zs_pb_end(pb, snapshot);
    uint8_t *defaults = zs_pb_begin(pb, ZS_PF_PACKET_DEFAULTS);
    zs_pb_u64(pb, ZS_PF_DEFAULTS_CLOCK_ID, ZS_TRACE_CLOCK_DELTA);
    uint8_t *event = zs_pb_begin(pb, ZS_PF_DEFAULTS_EVENT);
    zs_pb_u64(pb, ZS_PF_EVENT_DEFAULTS_TRACK, file->track_uuid);
    zs_pb_end(pb, event);
    zs_pb_end(pb, defaults);
    packet_end(&p, file, now_ns);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t zs_trace_process_uuid(const struct zs_trace_process *process)
{
    return mix((uint64_t)process->ordinal << 32 | process->pid) | 1;
}

uint64_t zs_trace_track_uuid(const struct zs_trace_process *process, uint64_t number)
{
    return mix(zs_trace_process_uuid(process) ^ mix(number + 1)) | 1;
}

static void put_thread(struct zs_trace_file *file)
{
    struct packet p;
    uint64_t now_ns = file->last_ns;
    uint64_t process_uuid = zs_trace_process_uuid(file->process);
    packet_begin(&p, file, now_ns);
    uint8_t *track = zs_pb_begin(&p.pb, ZS_PF_PACKET_TRACK_DESCRIPTOR);
    zs_pb_u64(&p.pb, ZS_PF_TRACK_UUID, process_uuid);
    uint8_t *process = zs_pb_begin(&p.pb, ZS_PF_TRACK_PROCESS);
    zs_pb_u64(&p.pb, ZS_PF_PROCESS_PID, file->process->pid);
    if (file->process_name)
        zs_pb_text(&p.pb, ZS_PF_PROCESS_NAME, file->process_name);
    zs_pb_end(&p.pb, process);
    zs_pb_end(&p.pb, track);
    packet_end(&p, file, now_ns);
    packet_begin(&p, file, now_ns);
    track = zs_pb_begin(&p.pb, ZS_PF_PACKET_TRACK_DESCRIPTOR);
    zs_pb_u64(&p.pb, ZS_PF_TRACK_UUID, file->track_uuid);
    zs_pb_u64(&p.pb, ZS_PF_TRACK_PARENT_UUID, process_uuid);
    uint8_t *thread = zs_pb_begin(&p.pb, ZS_PF_TRACK_THREAD);
    zs_pb_u64(&p.pb, ZS_PF_THREAD_PID, file->process->pid);
    zs_pb_u64(&p.pb, ZS_PF_THREAD_TID, file->tid);
    if (file->thread_name[0])
        zs_pb_text(&p.pb, ZS_PF_THREAD_NAME, file->thread_name);
    zs_pb_end(&p.pb, thread);
    zs_pb_end(&p.pb, track);
    packet_end(&p, file, now_ns);
}

/* The file has been given its number in the process. */
void zs_trace_file_number(struct zs_trace_file *file, uint32_t number)
{
    const struct zs_trace_process *process = file->process;
    /* process 0 has the ids 1 ..., process 1 the ids 257 ...: short numbers for the usual few */
    file->sequence_id = 1 + number % 255 + (process->ordinal + number / 255 * 4096) * 256;
    file->track_uuid = mix((uint64_t)file->sequence_id << 32 | file->tid) | 1;
    file->clock.usable = process->has_ticks;
    uint8_t *end = varint(file->header + 1, file->sequence_id);
    file->header[0] = ZS_PF_PACKET_SEQUENCE_ID << 3;
    end[0] = ZS_PF_PACKET_SEQUENCE_FLAGS << 3;
    end[1] = ZS_PF_SEQ_NEEDS_STATE;
    file->header_B = (uint32_t)(end + 2 - file->header);
}

int zs_trace_file_open(struct zs_trace_file *file, struct zs_trace_process *process, uint32_t tid,
                       const char *thread_name, const char *process_name)
{
    *file = (struct zs_trace_file){.process = process, .tid = tid, .process_name = process_name};
    if (thread_name)
        snprintf(file->thread_name, sizeof(file->thread_name), "%s", thread_name);
    return make_room(file) ? 0 : -atomic_load(&process->last_errno);
}

static void put_shape(struct zs_trace_file *file, uint32_t id, struct zs_pb *pb)
{
    uint8_t bytes[ZS_TRACE_CALL_MAX_B];
    uint8_t *at = varint(bytes, (uint64_t)id + 1);
    size_t shape_B = file->shape(id, at, (size_t)(bytes + sizeof(bytes) - at));
    if (!shape_B)
        return;
    uint8_t *field = zs_pb_begin(pb, ZS_TRACE_FIELD_SHAPE);
    zs_pb_raw(pb, bytes, (size_t)(at - bytes) + shape_B);
    zs_pb_end(pb, field);
}

static void put_name(struct zs_trace_file *file, uint64_t now_ns, uint32_t id, const char *name)
{
    struct packet p;
    packet_begin(&p, file, now_ns);
    zs_pb_u64(&p.pb, ZS_PF_PACKET_SEQUENCE_FLAGS, ZS_PF_SEQ_NEEDS_STATE);
    uint8_t *interned = zs_pb_begin(&p.pb, ZS_PF_PACKET_INTERNED_DATA);
    uint8_t *entry = zs_pb_begin(&p.pb, ZS_PF_INTERNED_EVENT_NAMES);
    zs_pb_u64(&p.pb, ZS_PF_NAME_IID, id + 1);
    zs_pb_text(&p.pb, ZS_PF_NAME_TEXT, name);
    zs_pb_end(&p.pb, entry);
    zs_pb_end(&p.pb, interned);
    if (file->shape)
        put_shape(file, id, &p.pb);
    uint32_t drops = file->drops;
    packet_end(&p, file, now_ns);
    if (file->drops <= drops && file->window)
        file->names[id / 64] |= UINT64_C(1) << (id % 64);
}

/* Calls are most of a trace: their packets are put together in the window itself, from bytes that
 * are known beforehand. */
enum { CALL_ROOM_B = ZS_TRACE_CALL_MAX_B + 128 };

/* Tag and two bytes of length come last. NULL: there is no room. */
static uint8_t *call_start(struct zs_trace_file *file, uint64_t now_ns)
{
    if (ZS_UNLIKELY(!file->window || file->window_B - file->used_B < CALL_ROOM_B) &&
        !make_room(file)) {
        count_drop(file);
        return NULL;
    }
    file->open_start = file->window + file->used_B;
    uint8_t *at = file->open_start + 2;
    *at++ = ZS_PF_PACKET_TIMESTAMP << 3;
    return varint(at, now_ns > file->last_ns ? now_ns - file->last_ns : 0);
}

static uint8_t *put_dropped(uint8_t *at)
{
    at = varint(at, ZS_PF_PACKET_PREVIOUS_DROPPED << 3);
    *at++ = 1;
    return at;
}

static uint8_t *field_data(struct zs_trace_file *file, uint8_t *at, uint32_t field)
{
    at = varint(at, field << 3 | 2); /* two bytes: close counts on it */
    file->open_length = at;
    return at + 1;
}

uint8_t *zs_trace_begin_open(struct zs_trace_file *file, uint64_t now_ns, uint32_t name_id,
                             const char *name, uint32_t stack)
{
    if (ZS_UNLIKELY(!(file->names[name_id / 64] >> (name_id % 64) & 1))) {
        if (!is_ready(file))
            return NULL;
        put_name(file, now_ns, name_id, name);
    }
    uint8_t *at = call_start(file, now_ns);
    if (ZS_UNLIKELY(!at))
        return NULL;
    memcpy(at, file->header, sizeof(file->header));
    at += file->header_B;
    if (ZS_UNLIKELY(file->drops))
        at = put_dropped(at);
    *at++ = ZS_PF_PACKET_TRACK_EVENT << 3 | 2;
    uint8_t *length = at++;
    *at++ = ZS_PF_EVENT_TYPE << 3;
    *at++ = ZS_PF_SLICE_BEGIN;
    *at++ = ZS_PF_EVENT_NAME_IID << 3;
    at = varint(at, (uint64_t)name_id + 1);
    *length = (uint8_t)(at - length - 1);
    if (stack) {
        at = varint(at, ZS_TRACE_FIELD_STACK << 3);
        at = varint(at, stack);
    }
    return field_data(file, at, ZS_TRACE_FIELD_CALL);
}

static uint8_t *end_open(struct zs_trace_file *file, uint64_t now_ns, uint32_t field)
{
    static const uint8_t event[] = {ZS_PF_PACKET_TRACK_EVENT << 3 | 2, 2, ZS_PF_EVENT_TYPE << 3,
                                    ZS_PF_SLICE_END};
    uint8_t *at = call_start(file, now_ns);
    if (ZS_UNLIKELY(!at))
        return NULL;
    memcpy(at, file->header, sizeof(file->header));
    at += file->header_B - 2; /* needs no names: no flags */
    if (ZS_UNLIKELY(file->drops))
        at = put_dropped(at);
    memcpy(at, event, sizeof(event));
    return field_data(file, at + sizeof(event), field);
}

uint8_t *zs_trace_end_open(struct zs_trace_file *file, uint64_t now_ns)
{
    return end_open(file, now_ns, ZS_TRACE_FIELD_CALL);
}

uint8_t *zs_trace_end_record_open(struct zs_trace_file *file, uint64_t now_ns)
{
    return end_open(file, now_ns, ZS_TRACE_FIELD_ACTIVITY);
}

uint8_t *zs_trace_record_open(struct zs_trace_file *file, uint64_t now_ns)
{
    uint8_t *at = call_start(file, now_ns);
    if (ZS_UNLIKELY(!at))
        return NULL;
    memcpy(at, file->header, sizeof(file->header));
    at += file->header_B - 2; /* no flags */
    if (ZS_UNLIKELY(file->drops))
        at = put_dropped(at);
    return field_data(file, at, ZS_TRACE_FIELD_ACTIVITY);
}

void zs_trace_call_close(struct zs_trace_file *file, uint64_t now_ns, size_t call_data_B)
{
    uint8_t *start = file->open_start, *length = file->open_length, *at = length + 1 + call_data_B;
    if (!call_data_B) {
        at = length - 2; /* without the field */
    } else if (call_data_B < 128) {
        *length = (uint8_t)call_data_B;
    } else {
        memmove(length + 2, length + 1, call_data_B);
        length[0] = (uint8_t)(call_data_B | 0x80);
        length[1] = (uint8_t)(call_data_B >> 7);
        at++;
    }
    size_t size_B = (size_t)(at - start) - 2;
    if (size_B < 128) {
        start[1] = (uint8_t)size_B;
    } else {
        memmove(start + 3, start + 2, size_B);
        start[1] = (uint8_t)(size_B | 0x80);
        start[2] = (uint8_t)(size_B >> 7);
        at++;
    }
    *at = 0;
    __atomic_store_n(start, ZS_PF_TRACE_PACKET << 3 | 2, __ATOMIC_RELEASE);
    file->used_B += (uint32_t)(at - start);
    file->drops = 0;
    file->last_ns = ZS_MAX(now_ns, file->last_ns);
}

static void close_with(struct zs_trace_file *file, uint64_t now_ns, uint8_t *at,
                       const void *call_data, size_t call_data_B)
{
    if (!at)
        return;
    if (call_data_B > ZS_TRACE_CALL_MAX_B) {
        count_drop(file);
        return;
    }
    if (call_data_B)
        memcpy(at, call_data, call_data_B);
    zs_trace_call_close(file, now_ns, call_data_B);
}

void zs_trace_begin(struct zs_trace_file *file, uint64_t now_ns, uint32_t name_id, const char *name,
                    const void *call_data, size_t call_data_B)
{
    uint8_t *at = zs_trace_begin_open(file, now_ns, name_id, name, 0);
    close_with(file, now_ns, at, call_data, call_data_B);
}

void zs_trace_end(struct zs_trace_file *file, uint64_t now_ns, const void *call_data,
                  size_t call_data_B)
{
    close_with(file, now_ns, zs_trace_end_open(file, now_ns), call_data, call_data_B);
}

void zs_trace_packet(struct zs_trace_file *file, uint64_t now_ns, const void *packet,
                     size_t packet_B)
{
    struct packet p;
    if (!is_ready(file))
        return;
    packet_begin(&p, file, now_ns);
    zs_pb_raw(&p.pb, packet, packet_B);
    packet_end(&p, file, now_ns);
}

void zs_trace_packet_at(struct zs_trace_file *file, uint64_t time_ns, const void *packet,
                        size_t packet_B)
{
    struct packet p;
    if (!is_ready(file))
        return;
    p.pb = zs_pb_make(p.bytes + 3, ZS_TRACE_PACKET_MAX_B);
    zs_pb_u64(&p.pb, ZS_PF_PACKET_CLOCK_ID, ZS_TRACE_CLOCK_MONOTONIC);
    zs_pb_u64(&p.pb, ZS_PF_PACKET_TIMESTAMP, time_ns);
    zs_pb_u64(&p.pb, ZS_PF_PACKET_SEQUENCE_ID, file->sequence_id);
    zs_pb_raw(&p.pb, packet, packet_B);
    if (p.pb.full)
        count_drop(file);
    else
        packet_store(&p, file);
}
