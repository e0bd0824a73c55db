/* SPDX-License-Identifier: MIT */
#include "record/calls.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX_B = 16 << 20 };

void zs_calls_open(struct zs_calls *calls, struct zs_span span)
{
    memset(calls, 0, sizeof(*calls));
    zs_arena_init(&calls->arena, ARENA_MAX_B);
    zs_trace_reader_open(&calls->reader, span);
}

int zs_calls_open_fd(struct zs_calls *calls, int fd)
{
    memset(calls, 0, sizeof(*calls));
    zs_arena_init(&calls->arena, ARENA_MAX_B);
    return zs_trace_reader_open_fd(&calls->reader, fd);
}

void zs_calls_close(struct zs_calls *calls)
{
    free(calls->pending);
    zs_buf_fini(&calls->bytes);
    zs_arena_fini(&calls->arena);
    zs_trace_reader_close(&calls->reader);
}

static void copy_name(char *to, size_t size_B, struct zs_span name)
{
    size_t length_B = ZS_MIN(name.size_B, size_B - 1);
    if (length_B)
        memcpy(to, name.data, length_B);
    to[length_B] = '\0';
}

/* Bytes move when the buffer grows: until a call is given out, its spans hold offsets. */
static struct zs_span keep(struct zs_calls *calls, struct zs_span span)
{
    size_t at_B = calls->bytes.size_B;
    zs_buf_append(&calls->bytes, span.data, span.size_B);
    return zs_span_make((const uint8_t *)(uintptr_t)at_B, calls->bytes.error ? 0 : span.size_B);
}

static struct zs_span kept(const struct zs_calls *calls, struct zs_span span)
{
    return zs_span_make(span.size_B ? calls->bytes.data + (uintptr_t)span.data : NULL, span.size_B);
}

static void take_track(struct zs_calls *calls, const struct zs_trace_event_in *e)
{
    if (e->tid && !calls->tid) {
        calls->tid = e->tid;
        calls->pid = e->pid;
        copy_name(calls->thread_name, sizeof(calls->thread_name), e->name);
        calls->track = e->track;
    } else if (!e->tid && e->pid) {
        size_t rank_B = 0;
        if (calls->rank)
            rank_B = (size_t)snprintf(calls->process_name, sizeof(calls->process_name), "%.100s/",
                                      calls->rank);
        copy_name(calls->process_name + rank_B, sizeof(calls->process_name) - rank_B, e->name);
    }
}

static void begin(struct zs_calls *calls, const struct zs_trace_event_in *e)
{
    struct {
        struct zs_call *items;
        size_t count, capacity;
    } v = {calls->pending, calls->pending_count, calls->pending_capacity};
    const struct zs_call call = {.name = e->name,
                                 .shape = e->shape,
                                 .start_ns = e->time_ns,
                                 .in = keep(calls, e->call),
                                 .depth = calls->depth,
                                 .stack = e->stack,
                                 .in_after_drop = e->after_drop};
    if (calls->depth == ZS_ARRAY_LEN(calls->open) || v.count == ZS_CALLS_PENDING_MAX ||
        !ZS_VEC_PUSH(&v, call)) {
        calls->lost++;
        return;
    }
    calls->begun++;
    calls->open[calls->depth++] = calls->pending_count;
    calls->pending = v.items;
    calls->pending_count = (uint32_t)v.count;
    calls->pending_capacity = (uint32_t)v.capacity;
}

static void end(struct zs_calls *calls, const struct zs_trace_event_in *e)
{
    if (!calls->depth) {
        calls->lost++;
        return;
    }
    struct zs_call *call = &calls->pending[calls->open[--calls->depth]];
    call->finished = true;
    call->duration_ns = e->time_ns - call->start_ns;
    call->out = keep(calls, e->call);
    call->out_after_drop = e->after_drop;
}

/* Read on until a call at depth 0 is complete, or the file ends. */
static void gather(struct zs_calls *calls)
{
    struct zs_trace_event_in e;
    calls->pending_count = 0;
    calls->pending_at = 0;
    calls->bytes.size_B = 0;
    calls->records = 0;
    while (!calls->ended && (calls->depth || !calls->pending_count)) {
        if (calls->record_limit && calls->records >= calls->record_limit && !calls->pending_count)
            return;
        if (!zs_trace_reader_next(&calls->reader, &e)) {
            calls->ended = true;
            return;
        }
        if (e.kind == ZS_TRACE_TRACK)
            take_track(calls, &e);
        /* a loss noted by a packet that is not a call's concerns the next call's */
        e.after_drop |= calls->drop_pending;
        calls->drop_pending = e.after_drop;
        if (e.record.data && calls->on_record) {
            calls->on_record(calls->record_user, calls, &e);
            calls->records++;
        }
        if (e.track != calls->track || (e.kind != ZS_TRACE_BEGIN && e.kind != ZS_TRACE_END))
            continue;
        calls->drop_pending = false;
        /* after a loss, what is open may have ended unseen: it stays unfinished */
        if (e.after_drop) {
            calls->lost += calls->depth;
            calls->depth = 0;
        }
        if (e.kind == ZS_TRACE_BEGIN)
            begin(calls, &e);
        else
            end(calls, &e);
    }
}

static int find_call(struct zs_span name)
{
    char text[128];
    if (!name.size_B || name.size_B >= sizeof(text))
        return -1;
    memcpy(text, name.data, name.size_B);
    text[name.size_B] = '\0';
    return ZS_MAX(zs_api_call_find(text), -1);
}

/* Arguments are decoded by the shape that stands in the file: it is this build's own, or another
 * build's, which may know more calls, fields and flags than we. */
static bool find_shape(struct zs_calls *calls, struct zs_call_kind *kind, struct zs_span shape)
{
    uint8_t own[ZS_API_SHAPE_MAX_B];
    if (kind->call >= 0)
        kind->shape = zs_api_call_shape((uint32_t)kind->call);
    if (!shape.size_B)
        return kind->call >= 0; /* written by hand: by our own */
    size_t own_B = kind->call >= 0 ? zs_api_shape_write((uint32_t)kind->call, own, sizeof(own)) : 0;
    if (own_B == shape.size_B && !memcmp(own, shape.data, own_B))
        return true;
    struct zs_reader r = zs_reader_make(shape, 0, NULL);
    return !zs_api_shape_read(&calls->arena, &r, &kind->shape) && !zs_reader_left(&r);
}

/* Names point into the file's few interned strings: remember what each address means. */
static struct zs_call_kind *kind_of(struct zs_calls *calls, const struct zs_call *call)
{
    struct zs_call_kind *kind =
        &calls->kinds[((uintptr_t)call->name.data >> 3) % ZS_ARRAY_LEN(calls->kinds)];
    if (kind->name.data == call->name.data && call->name.data)
        return kind;
    *kind = (struct zs_call_kind){.name = call->name, .call = find_call(call->name)};
    kind->is_readable = find_shape(calls, kind, call->shape);
    return kind;
}

/* Calls inside calls are written without the pointer cache: their order is not ours. */
static void decode(struct zs_calls *calls, const struct zs_call *call,
                   const struct zs_call_kind *kind, bool is_exit, int32_t *ret_result)
{
    static const struct zs_codec empty;
    struct zs_codec nested;
    struct zs_codec *codec = call->depth ? &nested : &calls->codec;
    if (call->depth)
        nested = empty;
    if (is_exit ? call->out_after_drop : call->in_after_drop)
        calls->codec = empty;
    struct zs_reader r = zs_reader_make(is_exit ? call->out : call->in, 0, NULL);
    if (zs_codec_decode(codec, &kind->shape, is_exit, &r, &calls->values, ret_result) ||
        !kind->is_readable)
        calls->values.cut = true;
    if (!kind->is_readable)
        calls->codec = empty; /* pointers that were seen there first are not known */
}

enum zs_calls_step zs_calls_step(struct zs_calls *calls, struct zs_call *ret_call)
{
    if (calls->pending_at == calls->pending_count) {
        if (calls->ended)
            return ZS_CALLS_END;
        gather(calls);
        if (!calls->pending_count)
            return calls->ended ? ZS_CALLS_END : ZS_CALLS_RECORDS;
    }
    struct zs_call *call = &calls->pending[calls->pending_at++];
    calls->values.count = 0;
    calls->values.cut = false;
    call->in = kept(calls, call->in);
    call->out = kept(calls, call->out);
    const struct zs_call_kind *kind = kind_of(calls, call);
    call->call = kind->call;
    calls->unreadable += !kind->is_readable;
    decode(calls, call, kind, false, &call->result);
    if (call->finished)
        decode(calls, call, kind, true, &call->result);
    *ret_call = *call;
    return ZS_CALLS_CALL;
}

bool zs_calls_next(struct zs_calls *calls, struct zs_call *ret_call)
{
    enum zs_calls_step step;
    do
        step = zs_calls_step(calls, ret_call);
    while (step == ZS_CALLS_RECORDS);
    return step == ZS_CALLS_CALL;
}
