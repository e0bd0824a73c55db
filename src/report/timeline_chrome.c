/* SPDX-License-Identifier: MIT */
#include "report/timeline_priv.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_string(struct timeline *t, const char *key, const char *text)
{
    zs_buf_printf(&t->out, "\"%s\":", key);
    zs_json_escape(&t->out, text, strlen(text), false);
}

/* Microseconds; CLOCK_MONOTONIC starts at boot, so a double of a viewer keeps the nanoseconds. */
static void put_time(struct timeline *t, const char *key, uint64_t ns)
{
    zs_buf_printf(&t->out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void event_begin(struct timeline *t, char phase, uint64_t pid, uint64_t tid)
{
    zs_buf_printf(&t->out, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%" PRIu64 ",", t->some ? "," : "",
                  phase, (uint32_t)pid, tid);
    t->some = true;
}

static int event_end(struct timeline *t)
{
    zs_buf_putc(&t->out, '}');
    return timeline_flush(t, false);
}

static int put_meta(struct timeline *t, const char *what, uint64_t pid, uint64_t tid,
                    const char *name)
{
    event_begin(t, 'M', pid, tid);
    put_string(t, "name", what);
    zs_buf_puts(&t->out, ",\"args\":{");
    put_string(t, "name", name);
    zs_buf_putc(&t->out, '}');
    return event_end(t);
}

static int put_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                    uint64_t process)
{
    struct timeline *t = user;
    int status = 0;
    if (t->thread != calls->track) {
        t->thread = calls->track;
        status = put_meta(t, "process_name", calls->pid, calls->tid, calls->process_name);
        if (!status && calls->thread_name[0])
            status = put_meta(t, "thread_name", calls->pid, calls->tid, calls->thread_name);
    }
    if (status)
        return status;
    char name[128];
    size_t length_B = ZS_MIN(call->name.size_B, sizeof(name) - 1);
    if (length_B)
        memcpy(name, call->name.data, length_B);
    name[length_B] = '\0';
    event_begin(t, call->finished ? 'X' : 'B', calls->pid, calls->tid);
    put_string(t, "name", name);
    zs_buf_puts(&t->out, ",\"cat\":\"api\"");
    put_time(t, "ts", call->start_ns);
    if (call->finished) {
        const char *result = zs_api_result_name(name, call->result);
        put_time(t, "dur", call->duration_ns);
        zs_buf_puts(&t->out, ",\"args\":{");
        put_string(t, "result", result ? result : "unknown");
        zs_buf_putc(&t->out, '}');
    }
    return event_end(t);
}

static int put_flow(struct timeline *t, char phase, uint64_t pid, uint64_t tid, uint64_t time_ns,
                    const struct zs_act_append *append, uint64_t number)
{
    event_begin(t, phase, pid, tid);
    zs_buf_printf(&t->out,
                  "\"name\":\"append\",\"cat\":\"append\",\"id\":\"%" PRIx64 "-%" PRIu64 "\"%s",
                  timeline_flow(append), number, phase == 'f' ? ",\"bp\":\"e\"" : "");
    put_time(t, "ts", time_ns);
    return event_end(t);
}

static void put_triple(struct timeline *t, const char *key, const uint32_t *values)
{
    if (values[0])
        zs_buf_printf(&t->out, ",\"%s\":[%u,%u,%u]", key, values[0], values[1], values[2]);
}

static int put_slice(struct timeline *t, const struct zs_act_execute *e)
{
    uint64_t number = t->slice_number++;
    const struct zs_act_append *a = e->append;
    char buffer[256];
    bool is_new;
    int lane = timeline_lane(t, e, &is_new);
    if (lane < 0)
        return -ENOMEM;
    uint64_t tid =
        ZS_TIMELINE_QUEUE_TID + e->queue_id % 10000000 * ZS_TIMELINE_LANES_MAX + (uint64_t)lane;
    timeline_queue_name(e, lane, buffer, sizeof(buffer));
    int status = is_new ? put_meta(t, "thread_name", e->process, tid, buffer) : 0;
    if (status)
        return status;
    event_begin(t, 'X', e->process, tid);
    put_string(t, "name", timeline_name(a, buffer, sizeof(buffer)));
    zs_buf_printf(&t->out, ",\"cat\":\"%s\"", zs_act_kind_name(a->kind));
    put_time(t, "ts", e->start_ns);
    put_time(t, "dur", e->end_ns - e->start_ns);
    zs_buf_puts(&t->out, ",\"args\":{");
    put_string(t, "device", a->device ? a->device->label : "n/a");
    zs_buf_printf(&t->out,
                  ",\"append_ns\":%" PRIu64 ",\"submit_ns\":%" PRIu64 ",\"start_ns\":%" PRIu64
                  ",\"end_ns\":%" PRIu64 ",\"call\":%" PRIu64,
                  a->time_ns, e->submit_ns, e->start_ns, e->end_ns, a->call);
    put_triple(t, "groups", a->groups);
    put_triple(t, "group_size", a->size);
    if (a->kernel && a->kernel->simd)
        zs_buf_printf(&t->out, ",\"simd\":%" PRIu64, a->kernel->simd);
    if (a->has_bytes)
        zs_buf_printf(&t->out, ",\"bytes\":%" PRIu64, a->bytes);
    zs_buf_putc(&t->out, '}');
    status = event_end(t);
    if (!status)
        status = put_flow(t, 's', a->process, a->tid, a->time_ns, a, number);
    return status ? status : put_flow(t, 'f', e->process, tid, e->start_ns, a, number);
}

static int put_memory(struct timeline *t, const struct zs_act_object *o, uint64_t live_B,
                      bool is_first)
{
    event_begin(t, 'C', o->process, 0);
    zs_buf_puts(&t->out, "\"name\":\"Level Zero memory\"");
    put_time(t, "ts", o->time_ns);
    zs_buf_printf(&t->out, ",\"args\":{\"bytes\":%" PRIu64 "}", live_B);
    return event_end(t);
}

static int put_counter(struct timeline *t, const struct timeline_counter *counter, uint64_t time_ns,
                       double value)
{
    event_begin(t, 'C', counter->process, 0);
    put_string(t, "name", counter->name);
    put_time(t, "ts", time_ns);
    zs_buf_printf(&t->out, ",\"args\":{\"value\":%.15g}", isfinite(value) ? value : 0);
    return event_end(t);
}

/* Marks of the application are instants of its thread, ranges slices. */
static int put_mark(void *user, const struct zs_act_mark *m)
{
    struct timeline *t = user;
    bool is_open = m->end_ns == UINT64_MAX;
    event_begin(t, !m->end_ns ? 'i' : is_open ? 'B' : 'X', m->process, m->tid);
    put_string(t, "name", m->name);
    zs_buf_puts(&t->out, ",\"cat\":\"mark\"");
    put_time(t, "ts", m->time_ns);
    if (m->end_ns && !is_open)
        put_time(t, "dur", m->end_ns - m->time_ns);
    zs_buf_puts(&t->out, m->end_ns ? "" : ",\"s\":\"t\"");
    return event_end(t);
}

int zs_timeline_chrome(const char *recording, zs_timeline_write_fn write, void *user,
                       struct zs_timeline_result *ret_result, struct zs_diag *diag)
{
    struct timeline t = {.write = write,
                         .user = user,
                         .result = ret_result,
                         .put_slice = put_slice,
                         .put_memory = put_memory,
                         .put_counter = put_counter};
    const struct zs_merge_sink sink = {.user = &t,
                                       .call = put_call,
                                       .execute = timeline_on_execute,
                                       .object = timeline_on_object,
                                       .mark = put_mark,
                                       .metric = timeline_on_metric,
                                       .no_values = true};
    struct zs_merge_totals totals = {0};
    *ret_result = (struct zs_timeline_result){0};
    zs_buf_puts(&t.out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    int status = zs_merge(recording, &sink, &t.activities, &totals, diag);
    if (!status)
        status = timeline_end(&t);
    if (!status)
        status = timeline_metrics(&t, recording, diag);
    ret_result->calls = totals.calls;
    ret_result->lost_calls = totals.lost;
    ret_result->damaged_files = totals.damaged_files;
    if (!status) {
        zs_buf_puts(&t.out, "\n]}\n");
        status = timeline_flush(&t, true);
    }
    timeline_free(&t);
    return status;
}
