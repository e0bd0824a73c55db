/* SPDX-License-Identifier: MIT */
/*
 * A heap of the trace files by the time of their next call. A file is opened when its first call is
 * due, so that as many are open as threads were alive at the same time.
 *
 * A file's records are read ahead of its next call and wait for it; devices, queues and kernels are
 * taken at once, so that they are known when others refer to them. What still comes before what it
 * refers to (two threads at the same moment) waits for the end.
 */
#include "record/merge.h"
#include "base/hash.h"
#include "base/index.h"

#include "base/vec.h"
#include "record/objects.h"
#include "record/traces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RECORDS_AHEAD_MAX = 4096,
    OPEN_AT_ONCE = 64, /* files that stay open after the first look */
    RANGES_MAX = 16,   /* within each other */
    CHUNK_IDS = 1024,
    CHUNKS_FREE = 64, /* how many chunks ids may spread over without good reason */
};

/* A record that waits for its call. */
struct waiting {
    uint64_t time_ns, begun;
    size_t at_B, size_B;
};

/* The files of a process that have not ended. */
struct process {
    size_t files;
    uint64_t last_ns;
};

struct stream {
    uint64_t last_ns;  /* of what was given: when the last call returned */
    uint32_t depth;    /* of ranges */
    uint32_t too_deep; /* ranges beyond those that are kept */
    struct zs_act_mark ranges[RANGES_MAX];
    size_t file;
    uint64_t time_ns; /* of what comes next */
    uint64_t process;
    uint64_t number; /* of the call that was given last */
    struct zs_calls *calls;
    struct zs_call next;
    bool has_call;                   /* else only records come next */
    uint64_t metrics, metrics_given; /* records of metrics: seen since it was opened, and ever */
    int fd;
    struct merge *merge;
    struct {
        struct waiting *items;
        size_t count, capacity;
    } records;
    struct zs_buf bytes;
    uint32_t *where; /* by node of the file: number of the stack */
    uint32_t where_capacity;
};

/* What of an append its executions need, but for what many appends share. */
struct entry {
    uint64_t time_ns, bytes, call;
    uint32_t shape; /* + 1; 0: no such append */
    uint32_t unused;
};

struct chunk {
    uint32_t live;
    struct entry entries[CHUNK_IDS];
};

struct shape {
    struct zs_act_append append; /* time, bytes, call and id are each append's own */
    uint64_t hash;
};

struct merge {
    const struct zs_merge_sink *sink;
    struct zs_activities *activities;
    struct zs_merge_totals *totals;
    struct zs_traces traces;
    struct zs_objects objects;
    struct zs_id_map processes; /* struct process by process and 0 */
    struct stream **heap;
    size_t count, open;
    int module_create;
    int error;
    struct zs_id_map chunks; /* by process and id / CHUNK_IDS */
    uint64_t appends;
    struct {
        struct shape *items;
        size_t count, capacity;
    } shapes;
    struct zs_index shape_index;
    uint32_t recent_shape;
    struct {
        struct zs_act_append *items;
        size_t count, capacity;
    } late_appends;
    struct {
        struct zs_act_execute *items;
        size_t count, capacity;
    } late_executes;
};

/* ---- appends ---- */

static uint64_t hash_shape(const struct zs_act_append *a)
{
    const uint64_t parts[] = {a->process,
                              a->list,
                              a->kernel_id,
                              a->device_id,
                              a->track,
                              (uint64_t)a->kind << 32 | a->tid,
                              a->where,
                              (uint64_t)a->groups[0] << 32 | a->groups[1],
                              (uint64_t)a->groups[2] << 32 | a->size[0],
                              (uint64_t)a->size[1] << 32 | a->size[2],
                              a->local_B,
                              a->count << 24 | (uint64_t)a->from << 16 | (uint64_t)a->to << 8 |
                                  a->has_bytes};
    uint64_t h = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++)
        h = zs_hash_u64(h, parts[i]);
    return h;
}

static bool same_shape(const struct zs_act_append *a, const struct zs_act_append *b)
{
    return a->process == b->process && a->list == b->list && a->kernel_id == b->kernel_id &&
           a->device_id == b->device_id && a->track == b->track && a->kind == b->kind &&
           a->tid == b->tid && a->count == b->count && a->where == b->where && a->from == b->from &&
           a->to == b->to && a->has_bytes == b->has_bytes && a->local_B == b->local_B &&
           !memcmp(a->groups, b->groups, sizeof(a->groups)) &&
           !memcmp(a->size, b->size, sizeof(a->size));
}

static uint64_t shape_hash_of(const void *shapes, size_t i)
{
    return ((const struct shape *)shapes)[i].hash;
}

/* Number of the shape + 1, or 0: no memory. */
static uint32_t shape_of(struct merge *m, const struct zs_act_append *a)
{
    if (m->recent_shape && same_shape(&m->shapes.items[m->recent_shape - 1].append, a))
        return m->recent_shape;
    if (!zs_index_reserve(&m->shape_index, m->shapes.count, shape_hash_of, m->shapes.items))
        return 0;
    struct shape shape = {.append = *a, .hash = hash_shape(a)};
    uint32_t *slot = zs_index_first(&m->shape_index, shape.hash);
    for (; *slot; slot = zs_index_next(&m->shape_index, slot))
        if (same_shape(&m->shapes.items[*slot - 1].append, a))
            return m->recent_shape = *slot;
    if (!ZS_VEC_PUSH(&m->shapes, shape))
        return 0;
    return m->recent_shape = *slot = (uint32_t)m->shapes.count;
}

static struct entry *entry_of(const struct merge *m, uint64_t process, uint64_t id)
{
    struct chunk *chunk = zs_id_map_get(&m->chunks, process, id / CHUNK_IDS);
    return chunk && chunk->entries[id % CHUNK_IDS].shape ? &chunk->entries[id % CHUNK_IDS] : NULL;
}

static int keep_append(struct merge *m, const struct zs_act_append *a)
{
    struct chunk *chunk = zs_id_map_get(&m->chunks, a->process, a->id / CHUNK_IDS);
    m->appends++;
    /* ids count up: a file that spreads them wants memory, and its appends are not kept */
    if (!chunk && m->chunks.count > CHUNKS_FREE + m->appends / 16)
        return 0;
    if (!chunk) {
        chunk = calloc(1, sizeof(*chunk));
        int error =
            chunk ? zs_id_map_put(&m->chunks, a->process, a->id / CHUNK_IDS, chunk) : -ENOMEM;
        if (error) {
            free(chunk);
            return error;
        }
    }
    uint32_t shape = shape_of(m, a);
    if (!shape)
        return -ENOMEM;
    struct entry *e = &chunk->entries[a->id % CHUNK_IDS];
    chunk->live += !e->shape;
    *e = (struct entry){.time_ns = a->time_ns, .bytes = a->bytes, .call = a->call, .shape = shape};
    return 0;
}

/* What an immediate list appended is executed once, and so is what OpenCL enqueues. */
static void forget_append(struct merge *m, const struct zs_act_execute *e)
{
    struct chunk *chunk = zs_id_map_get(&m->chunks, e->process, e->id / CHUNK_IDS);
    if (!e->queue || !e->queue->once || e->again || !chunk)
        return;
    chunk->entries[e->id % CHUNK_IDS].shape = 0;
    if (--chunk->live == 0)
        free(zs_id_map_remove(&m->chunks, e->process, e->id / CHUNK_IDS));
}

static int give_append(struct merge *m, const struct zs_act_append *a)
{
    int status = m->sink->execute ? keep_append(m, a) : 0;
    return !status && m->sink->append ? m->sink->append(m->sink->user, a) : status;
}

static int give_execute(struct merge *m, struct zs_act_execute *e)
{
    const struct entry *entry = entry_of(m, e->process, e->id);
    if (!entry)
        return m->sink->execute(m->sink->user, e);
    struct zs_act_append a = m->shapes.items[entry->shape - 1].append;
    a.id = e->id;
    a.time_ns = entry->time_ns;
    a.bytes = entry->bytes;
    a.call = entry->call;
    e->append = &a;
    forget_append(m, e);
    return m->sink->execute(m->sink->user, e);
}

static int give_late(struct merge *m)
{
    int status = 0;
    for (size_t i = 0; i < m->late_appends.count && !status; i++) {
        struct zs_act_append *a = &m->late_appends.items[i];
        a->kernel = zs_id_map_get(&m->activities->kernels, a->process, a->kernel_id);
        a->device = zs_id_map_get(&m->activities->devices, a->process, a->device_id);
        status = give_append(m, a);
    }
    for (size_t i = 0; i < m->late_executes.count && !status; i++)
        status = give_execute(m, &m->late_executes.items[i]);
    return status;
}

/* ---- one file ---- */

static bool wants_records(const struct merge *m)
{
    return m->sink->append || m->sink->execute || m->sink->mark || m->sink->object;
}

/* Reading ahead. */
static void on_record(void *user, const struct zs_calls *calls, const struct zs_trace_event_in *e)
{
    struct stream *s = user;
    struct zs_act_record r;
    if (!zs_act_record_parse(e->record, &r))
        return;
    uint64_t type = r.fields[ZS_ACT_TYPE];
    if (type >= ZS_ACT_METRIC_GROUP && type <= ZS_ACT_UNMEASURED) {
        const struct zs_merge_sink *sink = s->merge->sink;
        int status = sink->metric ? sink->metric(sink->user, s->process, e->record, e->time_ns) : 0;
        s->merge->error = status ? status : s->merge->error;
        return;
    }
    bool waits = type == ZS_ACT_APPEND || type == ZS_ACT_EXECUTE || type == ZS_ACT_MARK ||
                 type == ZS_ACT_RANGE || type == ZS_ACT_RANGE_END || type == ZS_ACT_GONE ||
                 type == ZS_ACT_ENDED;
    if (!waits) {
        int error = zs_activities_add(s->merge->activities, s->process, &r, e->time_ns);
        s->merge->error = error ? error : s->merge->error;
        return;
    }
    if (!wants_records(s->merge))
        return;
    struct waiting w = {e->time_ns, calls->begun, s->bytes.size_B, e->record.size_B};
    zs_buf_append(&s->bytes, e->record.data, e->record.size_B);
    if (!ZS_VEC_PUSH(&s->records, w))
        s->merge->error = -ENOMEM;
}

static int end_range(struct merge *m, struct stream *s, uint64_t time_ns)
{
    if (s->too_deep) {
        s->too_deep--;
        return 0;
    }
    if (!s->depth)
        return 0;
    s->ranges[--s->depth].end_ns = time_ns;
    return m->sink->mark(m->sink->user, &s->ranges[s->depth]);
}

static int give_mark(struct merge *m, struct stream *s, const struct zs_act_record *r,
                     uint64_t time_ns)
{
    uint64_t type = r->fields[ZS_ACT_TYPE];
    if (!m->sink->mark)
        return 0;
    if (type == ZS_ACT_RANGE_END)
        return end_range(m, s, time_ns);
    struct zs_act_mark mark = {.process = s->process,
                               .time_ns = time_ns,
                               .track = s->calls->track,
                               .tid = s->calls->tid,
                               .depth = s->depth};
    if (type == ZS_ACT_RANGE && s->depth == RANGES_MAX) {
        s->too_deep++;
        return 0;
    }
    mark.name = zs_activities_name(m->activities, r->name);
    if (!mark.name)
        return -ENOMEM;
    if (type == ZS_ACT_MARK)
        return m->sink->mark(m->sink->user, &mark);
    s->ranges[s->depth++] = mark;
    return 0;
}

/* Ranges that did not end. */
static int end_ranges(struct merge *m, struct stream *s)
{
    int status = 0;
    s->too_deep = 0;
    while (s->depth && m->sink->mark && !status)
        status = end_range(m, s, UINT64_MAX);
    return status;
}

static int give_record(struct merge *m, struct stream *s, const struct waiting *w)
{
    struct zs_act_record r;
    zs_act_record_parse(zs_span_make(s->bytes.data + w->at_B, w->size_B), &r);
    s->last_ns = ZS_MAX(s->last_ns, w->time_ns);
    if (r.fields[ZS_ACT_TYPE] == ZS_ACT_ENDED)
        return 0;
    if (r.fields[ZS_ACT_TYPE] == ZS_ACT_GONE)
        return m->sink->object ? zs_objects_gone(&m->objects, s->process, r.fields[ZS_ACT_KIND],
                                                 r.fields[ZS_ACT_LIST], w->time_ns)
                               : 0;
    if (r.fields[ZS_ACT_TYPE] != ZS_ACT_APPEND && r.fields[ZS_ACT_TYPE] != ZS_ACT_EXECUTE)
        return give_mark(m, s, &r, w->time_ns);
    if (r.fields[ZS_ACT_TYPE] == ZS_ACT_APPEND) {
        struct zs_act_append a;
        bool known = zs_act_append_make(m->activities, s->process, &r, w->time_ns, &a);
        a.call = r.fields[ZS_ACT_EARLIER] ? 0 : w->begun;
        a.track = s->calls->track;
        a.tid = s->calls->tid;
        /* the record is written when the driver has returned: what counts is when it was asked */
        if (a.call && s->has_call && s->next.start_ns < a.time_ns)
            a.time_ns = s->next.start_ns;
        a.where = a.call && s->has_call ? s->next.where : 0;
        if (known)
            return give_append(m, &a);
        return ZS_VEC_PUSH(&m->late_appends, a) ? 0 : -ENOMEM;
    }
    if (!m->sink->execute)
        return 0;
    struct zs_act_execute e = zs_act_execute_make(m->activities, s->process, &r);
    if (entry_of(m, e.process, e.id))
        return give_execute(m, &e);
    return ZS_VEC_PUSH(&m->late_executes, e) ? 0 : -ENOMEM;
}

static int give_records(struct merge *m, struct stream *s)
{
    if (s->bytes.error)
        return s->bytes.error;
    int status = 0;
    for (size_t i = 0; i < s->records.count && !status; i++)
        status = give_record(m, s, &s->records.items[i]);
    s->records.count = 0;
    s->bytes.size_B = 0;
    return status;
}

static int give_call(struct merge *m, struct stream *s)
{
    struct zs_merge_totals *t = m->totals;
    const struct zs_call *call = &s->next;
    s->number++;
    s->last_ns = ZS_MAX(s->last_ns, call->start_ns + call->duration_ns);
    t->calls++;
    t->first_ns = t->first_ns ? ZS_MIN(t->first_ns, call->start_ns) : call->start_ns;
    t->last_ns = ZS_MAX(t->last_ns, call->start_ns + call->duration_ns);
    int status = 0;
    if (m->sink->build && call->call >= 0 && call->call == m->module_create && call->finished &&
        !call->depth) {
        const struct zs_act_build build = {s->process,    call->start_ns, call->duration_ns,
                                           s->calls->tid, call->result,   call->where};
        status = m->sink->build(m->sink->user, &build);
    }
    if (!status && m->sink->object)
        status = zs_objects_call(&m->objects, s->calls, call, s->process, s->number);
    if (!status && m->sink->call)
        status = m->sink->call(m->sink->user, s->calls, call, s->process);
    return status;
}

static void stream_close(struct stream *s)
{
    if (!s->calls)
        return;
    zs_calls_close(s->calls);
    close(s->fd);
    free(s->calls);
    s->calls = NULL;
    s->merge->open--;
}

static void stream_free(struct stream *s)
{
    stream_close(s);
    free(s->records.items);
    free(s->where);
    zs_buf_fini(&s->bytes);
    free(s);
}

/* The recording's number of the next call's stack; each node of the file is looked at once. */
static int find_where(struct stream *s)
{
    const struct zs_trace_reader *reader = &s->calls->reader;
    uint32_t node = s->next.stack;
    s->next.where = 0;
    if (!node || node >= reader->node_capacity)
        return 0;
    if (node >= s->where_capacity) {
        uint32_t *where = realloc(s->where, reader->node_capacity * sizeof(*where));
        if (!where)
            return -ENOMEM;
        memset(where + s->where_capacity, 0,
               (reader->node_capacity - s->where_capacity) * sizeof(*where));
        s->where = where;
        s->where_capacity = reader->node_capacity;
    }
    if (!s->where[node]) {
        uint64_t pcs[ZS_TRACE_STACK_MAX];
        uint32_t count = zs_trace_stack(reader, node, pcs);
        if (!count)
            return 0;
        s->where[node] = zs_activities_stack(s->merge->activities, s->process, pcs, count);
        if (!s->where[node])
            return -ENOMEM;
    }
    s->next.where = s->where[node];
    return 0;
}

/* Read on to what comes next. False at the end. */
static bool stream_step(struct stream *s)
{
    enum zs_calls_step step = zs_calls_step(s->calls, &s->next);
    s->has_call = step == ZS_CALLS_CALL;
    if (s->has_call) {
        s->time_ns = s->next.start_ns;
        int error = find_where(s);
        s->merge->error = error ? error : s->merge->error;
    } else if (s->records.count)
        s->time_ns = ZS_MAX(s->time_ns, s->records.items[0].time_ns);
    return step != ZS_CALLS_END || s->records.count;
}

/* 0 with *ret_some: there is something to come. */
static int stream_open(struct merge *m, struct stream *s, bool *ret_some, struct zs_diag *diag)
{
    *ret_some = false;
    s->metrics = 0;
    s->fd = zs_traces_open_file(&m->traces, s->file, diag);
    if (s->fd == -EMFILE || s->fd == -ENFILE || s->fd == -ENOMEM)
        return s->fd;
    if (s->fd < 0) {
        m->totals->damaged_files++;
        return 0;
    }
    s->calls = malloc(sizeof(*s->calls));
    int error = s->calls ? zs_calls_open_fd(s->calls, s->fd) : -ENOMEM;
    if (error) {
        close(s->fd);
        free(s->calls);
        s->calls = NULL;
        return error;
    }
    m->open++;
    s->calls->rank = zs_traces_rank(&m->traces, s->file);
    s->calls->on_record = on_record;
    s->calls->record_user = s;
    s->calls->record_limit = RECORDS_AHEAD_MAX;
    *ret_some = stream_step(s);
    return m->error;
}

static void stream_end(struct merge *m, const struct stream *s)
{
    m->totals->lost += s->calls->lost;
    m->totals->damaged_files += s->calls->reader.damaged;
}

/* ---- all files ---- */

static void sift_down(struct merge *m, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child < 2 * i + 3 && child < m->count; child++)
            if (m->heap[child]->time_ns < m->heap[least]->time_ns)
                least = child;
        if (least == i)
            return;
        struct stream *swap = m->heap[i];
        m->heap[i] = m->heap[least];
        m->heap[least] = swap;
        i = least;
    }
}

static int process_begins(struct merge *m, uint64_t id)
{
    struct process *p = zs_id_map_get(&m->processes, id, 0);
    if (!p) {
        p = calloc(1, sizeof(*p));
        if (!p || zs_id_map_put(&m->processes, id, 0, p)) {
            free(p);
            return -ENOMEM;
        }
    }
    p->files++;
    return 0;
}

/* With the last of its files the process ends. */
static int file_ends(struct merge *m, const struct stream *s)
{
    struct process *p = zs_id_map_get(&m->processes, s->process, 0);
    p->last_ns = ZS_MAX(p->last_ns, s->last_ns);
    if (--p->files)
        return 0;
    /* what a call made that returned in the same nanosecond comes first */
    return zs_objects_process_ended(&m->objects, s->process,
                                    p->last_ns + (p->last_ns < UINT64_MAX));
}

static int add_file(struct merge *m, size_t file, struct zs_diag *diag)
{
    struct stream *s = calloc(1, sizeof(*s));
    bool some;
    if (!s)
        return -ENOMEM;
    s->merge = m;
    s->file = file;
    s->process = m->traces.files[file].process;
    int error = stream_open(m, s, &some, diag);
    if (!error && s->calls && !some)
        stream_end(m, s);
    if (!error && some)
        error = process_begins(m, s->process);
    if (error || !some) {
        stream_free(s);
        return error;
    }
    if (m->open > OPEN_AT_ONCE) {
        stream_close(s);
        s->records.count = 0;
        s->bytes.size_B = 0;
    }
    m->heap[m->count++] = s;
    return 0;
}

static int advance(struct merge *m, struct zs_diag *diag)
{
    struct stream *s = m->heap[0];
    bool some = true;
    int status = 0;
    if (!s->calls)
        status = stream_open(m, s, &some, diag);
    if (!status && some)
        status = give_records(m, s);
    if (!status && some && s->has_call)
        status = give_call(m, s);
    if (status)
        return status;
    some = some && s->calls && stream_step(s);
    if (!some) {
        if (s->calls)
            stream_end(m, s);
        status = end_ranges(m, s);
        status = status ? status : file_ends(m, s);
        stream_free(s);
        m->heap[0] = m->heap[--m->count];
    }
    sift_down(m, 0);
    return status ? status : m->error;
}

static int object_event(void *user, const struct zs_act_object *o)
{
    struct merge *m = user;
    return m->sink->object(m->sink->user, o);
}

static int object_ended(void *user, const struct zs_act_object *o)
{
    struct merge *m = user;
    return m->sink->ended(m->sink->user, o);
}

static int object_left(void *user, const struct zs_act_object *o)
{
    struct merge *m = user;
    return m->sink->left ? m->sink->left(m->sink->user, o) : 0;
}

static int run(struct merge *m, const char *recording, struct zs_diag *diag)
{
    int status = zs_traces_open(recording, &m->traces, diag);
    if (status)
        return status;
    m->totals->files = m->traces.count;
    m->heap = calloc(m->traces.count + 1, sizeof(*m->heap));
    status = m->heap ? zs_objects_init(&m->objects, object_event, m) : -ENOMEM;
    m->objects.on_ended = m->sink->object && m->sink->ended ? object_ended : NULL;
    for (size_t i = 0; i < m->traces.count && !status; i++)
        status = add_file(m, i, diag);
    for (size_t i = m->count; i-- > 0 && !status;)
        sift_down(m, i);
    while (!status && m->count)
        status = advance(m, diag);
    if (!status)
        status = give_late(m);
    if (!status && m->sink->object)
        status = zs_objects_end(&m->objects, object_left);
    return status;
}

int zs_merge(const char *recording, const struct zs_merge_sink *sink,
             struct zs_activities *ret_activities, struct zs_merge_totals *ret_totals,
             struct zs_diag *diag)
{
    struct merge m = {.sink = sink, .activities = ret_activities, .totals = ret_totals};
    *ret_totals = (struct zs_merge_totals){0};
    zs_activities_init(ret_activities);
    m.traces.dir_fd = -1;
    m.module_create = zs_api_call_find("zeModuleCreate");
    int status = run(&m, recording, diag);
    zs_activities_join_pauses(ret_activities);
    ret_totals->activity = ret_activities->collected;
    while (m.count)
        stream_free(m.heap[--m.count]);
    for (size_t i = 0; i < m.chunks.capacity; i++)
        free(m.chunks.slots[i].value);
    zs_id_map_fini(&m.chunks);
    for (size_t i = 0; i < m.processes.capacity; i++)
        free(m.processes.slots[i].value);
    zs_id_map_fini(&m.processes);
    zs_objects_fini(&m.objects);
    zs_traces_close(&m.traces);
    free(m.heap);
    free(m.shapes.items);
    zs_index_fini(&m.shape_index);
    free(m.late_appends.items);
    free(m.late_executes.items);
    if (status == -ENOMEM && diag)
        zs_diag_set(diag, status, ZS_DIAG_NO_OFFSET, "out of memory");
    return status;
}
