/* SPDX-License-Identifier: MIT */
#include "report/html_timeline.h"

#include "base/hash.h"
#include "base/heap.h"
#include "base/vec.h"
#include "calls/describe.h"
#include "report/timeline_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 1024, POINTS_MAX = 16384, MARKS_MAX = 20000, PROCESSES_MAX = 64 };

/* Time in pieces that grow with the recording. */
struct bins {
    uint64_t start_ns, width_ns;
    uint64_t busy_ns[BINS];
    uint32_t count[BINS];
};

struct track {
    uint64_t process, id; /* of a thread its uuid, of a queue its id */
    bool is_queue;
    uint32_t tid;
    char name[64], image[96];
    const struct zs_act_queue *queue;
    uint64_t number; /* of the last call */
    uint64_t left_out;
    struct bins *bins;
};

struct item {
    uint64_t rank;                  /* the higher, the longer it is kept */
    uint64_t start_ns, duration_ns; /* UINT64_MAX: never returned */
    uint64_t number;                /* of the call in its thread */
    uint32_t track, name;
    union {
        struct {
            int32_t result;
            uint32_t depth, where;
        };
        struct {
            uint64_t append_ns, submit_ns, bytes;
            const struct zs_act_kernel *kernel;
            uint32_t thread, shape; /* + 1 */
            uint8_t kind;
            bool has_bytes;
        };
    };
};

struct items {
    struct item *items; /* a heap, the lowest rank first, once it is full */
    size_t count, capacity, limit;
    uint64_t left_out;
};

struct memory {
    uint64_t process, live_B, peak_B;
    struct point {
        uint64_t time_ns, bytes;
    } * points;
    size_t count;
    uint32_t stride, at; /* of how many changes the highest is kept */
};

struct mark {
    struct zs_act_mark mark;
    uint32_t track;
};

struct shape {
    uint32_t numbers[6];
};

struct zs_html_timeline {
    struct {
        struct track *items;
        size_t count, capacity;
    } tracks;
    struct items calls, executions;
    struct zs_arena arena;
    struct {
        const char **items;
        size_t count, capacity;
    } names;
    struct zs_id_map name_ids, track_ids[2], shape_ids, numbers;
    struct {
        struct shape *items;
        size_t count, capacity;
    } shapes;
    struct memory memory[PROCESSES_MAX];
    size_t process_count;
    struct {
        struct mark *items;
        size_t count, capacity;
    } marks;
    zs_html_module_fn module_of; /* while the document is written */
    void *modules_of;
    struct {
        const char **items;
        size_t count, capacity;
    } modules;
    struct zs_id_map module_ids;
    uint64_t marks_left_out, untimed;
    uint64_t first_ns, last_ns;
    uint32_t recent_track;
};

struct zs_html_timeline *zs_html_timeline_new(const struct zs_html_timeline_limits *limits)
{
    struct zs_html_timeline *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    zs_arena_init(&t->arena, 0);
    t->calls.limit = limits && limits->calls ? limits->calls : ZS_HTML_ITEMS;
    t->executions.limit = limits && limits->executions ? limits->executions : ZS_HTML_ITEMS;
    return t;
}

void zs_html_timeline_free(struct zs_html_timeline *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->tracks.count; i++)
        free(t->tracks.items[i].bins);
    for (size_t i = 0; i < t->process_count; i++)
        free(t->memory[i].points);
    free(t->tracks.items);
    free(t->calls.items);
    free(t->executions.items);
    free(t->names.items);
    free(t->shapes.items);
    free(t->marks.items);
    free(t->modules.items);
    zs_id_map_fini(&t->module_ids);
    zs_id_map_fini(&t->name_ids);
    zs_id_map_fini(&t->track_ids[0]);
    zs_id_map_fini(&t->track_ids[1]);
    zs_id_map_fini(&t->shape_ids);
    zs_arena_fini(&t->arena);
    free(t);
}

static void *index_value(size_t index)
{
    return (void *)(uintptr_t)(index + 1);
}

/* Index of a name + 1; 0: no memory. */
static uint32_t name_of(struct zs_html_timeline *t, const char *text, size_t length)
{
    text = length ? text : ""; /* may be NULL */
    uint64_t h = zs_hash_bytes(text, length);
    for (uint64_t n = 0;; n++) {
        uintptr_t known = (uintptr_t)zs_id_map_get(&t->name_ids, h, n);
        if (known) {
            const char *name = t->names.items[known - 1];
            if (strlen(name) == length && !memcmp(name, text, length))
                return (uint32_t)known;
            continue;
        }
        const char *copy = zs_arena_strndup(&t->arena, text, length);
        if (!copy || strlen(copy) != length)
            return copy ? name_of(t, copy, strlen(copy)) : 0;
        if (!ZS_VEC_PUSH(&t->names, copy) ||
            zs_id_map_put(&t->name_ids, h, n, index_value(t->names.count - 1)))
            return 0;
        return (uint32_t)t->names.count;
    }
}

static uint32_t shape_of(struct zs_html_timeline *t, const struct zs_act_append *a)
{
    struct shape s;
    if (!a->groups[0] && !a->size[0])
        return 0;
    memcpy(s.numbers, a->groups, sizeof(a->groups));
    memcpy(s.numbers + 3, a->size, sizeof(a->size));
    uint64_t h = zs_hash_bytes(&s, sizeof(s));
    uintptr_t known = (uintptr_t)zs_id_map_get(&t->shape_ids, h, 0);
    if (known && !memcmp(&t->shapes.items[known - 1], &s, sizeof(s)))
        return (uint32_t)known;
    if (!ZS_VEC_PUSH(&t->shapes, s))
        return 0;
    zs_id_map_put(&t->shape_ids, h, 0, index_value(t->shapes.count - 1));
    return (uint32_t)t->shapes.count;
}

/* Index + 1; 0: no memory. */
static uint32_t track_of(struct zs_html_timeline *t, bool is_queue, uint64_t process, uint64_t id)
{
    struct zs_id_map *ids = &t->track_ids[is_queue];
    uintptr_t known = (uintptr_t)zs_id_map_get(ids, process, id);
    if (known)
        return (uint32_t)known;
    const struct track track = {.process = process, .id = id, .is_queue = is_queue};
    if (!ZS_VEC_PUSH(&t->tracks, track) ||
        zs_id_map_put(ids, process, id, index_value(t->tracks.count - 1)))
        return 0;
    return (uint32_t)t->tracks.count;
}

/* ---- what is kept ---- */

static void bins_add(struct bins *b, uint64_t start_ns, uint64_t duration_ns)
{
    if (start_ns < b->start_ns)
        start_ns = b->start_ns;
    while ((start_ns - b->start_ns) / b->width_ns >= BINS) {
        for (size_t i = 0; i < BINS / 2; i++) {
            b->busy_ns[i] = b->busy_ns[2 * i] + b->busy_ns[2 * i + 1];
            b->count[i] = b->count[2 * i] + b->count[2 * i + 1];
        }
        memset(b->busy_ns + BINS / 2, 0, sizeof(b->busy_ns) / 2);
        memset(b->count + BINS / 2, 0, sizeof(b->count) / 2);
        b->width_ns *= 2;
    }
    /* what is left out is short: it belongs to the piece in which it starts */
    size_t i = (size_t)((start_ns - b->start_ns) / b->width_ns);
    b->busy_ns[i] += duration_ns;
    b->count[i]++;
}

static int leave_out(struct zs_html_timeline *t, struct items *items, const struct item *item)
{
    struct track *track = &t->tracks.items[item->track];
    if (!track->bins) {
        track->bins = calloc(1, sizeof(*track->bins));
        if (!track->bins)
            return -ENOMEM;
        track->bins->start_ns = t->first_ns;
        track->bins->width_ns = 1024;
    }
    items->left_out++;
    track->left_out++;
    bins_add(track->bins, item->start_ns, item->duration_ns == UINT64_MAX ? 0 : item->duration_ns);
    return 0;
}

/* The longest first; those within a sixteenth of each other by chance, so that what is kept of
 * many alike is spread over the time. */
static uint64_t rank_of(const struct item *item)
{
    uint64_t length = item->duration_ns | 16;
    unsigned top = 63 - (unsigned)__builtin_clzll(length);
    uint64_t chance = zs_hash_u64(zs_hash_u64(item->start_ns, item->track), item->number);
    return ((uint64_t)top << 4 | (length >> (top - 4) & 15)) << 48 | chance >> 16;
}

static int keep(struct zs_html_timeline *t, struct items *items, const struct item *given)
{
    struct item ranked = *given, *item = &ranked;
    item->rank = rank_of(given);
    if (items->count < items->limit) {
        if (!ZS_VEC_PUSH(items, *item))
            return -ENOMEM;
        if (items->count == items->limit)
            ZS_HEAP_MAKE(items, rank);
        return 0;
    }
    struct item *shortest = &items->items[0];
    if (item->rank <= shortest->rank)
        return leave_out(t, items, item);
    int error = leave_out(t, items, shortest);
    *shortest = *item;
    ZS_HEAP_DOWN(items, rank);
    return error;
}

static void extend(struct zs_html_timeline *t, uint64_t start_ns, uint64_t end_ns)
{
    if (!t->first_ns || start_ns < t->first_ns)
        t->first_ns = start_ns;
    t->last_ns = ZS_MAX(t->last_ns, ZS_MAX(start_ns, end_ns));
}

static int on_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                   uint64_t process)
{
    struct zs_html_timeline *t = user;
    uint32_t index = t->recent_track;
    if (!index || t->tracks.items[index - 1].id != calls->track ||
        t->tracks.items[index - 1].process != process || t->tracks.items[index - 1].is_queue)
        index = t->recent_track = track_of(t, false, process, calls->track);
    if (!index)
        return -ENOMEM;
    struct track *track = &t->tracks.items[index - 1];
    if (!track->tid) {
        track->tid = calls->tid;
        snprintf(track->name, sizeof(track->name), "%s", calls->thread_name);
        snprintf(track->image, sizeof(track->image), "%.95s", calls->process_name);
    }
    uint64_t number = ++track->number;
    uint32_t name = name_of(t, (const char *)call->name.data, call->name.size_B);
    if (!name)
        return -ENOMEM;
    extend(t, call->start_ns, call->start_ns + call->duration_ns);
    const struct item item = {.start_ns = call->start_ns,
                              .duration_ns = call->finished ? call->duration_ns : UINT64_MAX,
                              .number = number,
                              .track = index - 1,
                              .name = name - 1,
                              .result = call->result,
                              .depth = call->depth,
                              .where = call->where};
    return keep(t, &t->calls, &item);
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct zs_html_timeline *t = user;
    const struct zs_act_append *a = e->append;
    char buffer[256];
    if (!a || !e->end_ns) {
        t->untimed++;
        return 0;
    }
    uint32_t queue = track_of(t, true, e->process, e->queue_id);
    uint32_t thread = track_of(t, false, a->process, a->track);
    const char *text = timeline_name(a, buffer, sizeof(buffer));
    uint32_t name = name_of(t, text, strlen(text));
    if (!queue || !thread || !name)
        return -ENOMEM;
    t->tracks.items[queue - 1].queue = e->queue;
    if (!t->tracks.items[thread - 1].tid)
        t->tracks.items[thread - 1].tid = a->tid;
    extend(t, e->start_ns, e->end_ns);
    const struct item item = {.start_ns = e->start_ns,
                              .duration_ns = e->end_ns - e->start_ns,
                              .number = a->call,
                              .track = queue - 1,
                              .name = name - 1,
                              .append_ns = a->time_ns,
                              .submit_ns = e->submit_ns,
                              .bytes = a->bytes,
                              .kernel = a->kernel,
                              .thread = thread,
                              .shape = shape_of(t, a),
                              .kind = (uint8_t)a->kind,
                              .has_bytes = a->has_bytes};
    return keep(t, &t->executions, &item);
}

/* Neighbours become one, the highest; from then on twice as many changes make a point. */
static void halve(struct memory *m)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < m->count; i += 2)
        m->points[count++] =
            m->points[i].bytes > m->points[i + 1].bytes ? m->points[i] : m->points[i + 1];
    m->count = count;
    m->stride *= 2;
}

static int on_object(void *user, const struct zs_act_object *o)
{
    struct zs_html_timeline *t = user;
    size_t i = 0;
    if (o->type >= ZS_ACT_ALLOCATION_TYPES)
        return 0;
    while (i < t->process_count && t->memory[i].process != o->process)
        i++;
    if (i == PROCESSES_MAX)
        return 0;
    struct memory *m = &t->memory[i];
    if (i == t->process_count) {
        *m = (struct memory){.process = o->process, .stride = 1};
        m->points = calloc(POINTS_MAX, sizeof(*m->points));
        if (!m->points)
            return -ENOMEM;
        t->process_count++;
    }
    m->live_B = o->is_create ? m->live_B + o->size_B : m->live_B - ZS_MIN(o->size_B, m->live_B);
    m->peak_B = ZS_MAX(m->peak_B, m->live_B);
    extend(t, o->time_ns, o->time_ns);
    const struct point p = {o->time_ns, m->live_B};
    if (m->at++ % m->stride && m->count) {
        struct point *last = &m->points[m->count - 1];
        *last = p.bytes >= last->bytes ? p : *last;
        return 0;
    }
    if (m->count == POINTS_MAX)
        halve(m);
    m->points[m->count++] = p;
    return 0;
}

static int on_mark(void *user, const struct zs_act_mark *mark)
{
    struct zs_html_timeline *t = user;
    uint32_t track = track_of(t, false, mark->process, mark->track);
    if (!track)
        return -ENOMEM;
    if (t->marks.count == MARKS_MAX) {
        t->marks_left_out++;
        return 0;
    }
    if (!t->tracks.items[track - 1].tid)
        t->tracks.items[track - 1].tid = mark->tid;
    extend(t, mark->time_ns, mark->end_ns == UINT64_MAX ? 0 : mark->end_ns);
    return ZS_VEC_PUSH(&t->marks, ((struct mark){*mark, track - 1})) ? 0 : -ENOMEM;
}

struct zs_merge_sink zs_html_timeline_sink(struct zs_html_timeline *t)
{
    return (struct zs_merge_sink){.user = t,
                                  .call = on_call,
                                  .execute = on_execute,
                                  .object = on_object,
                                  .mark = on_mark,
                                  .no_values = true};
}

/* ---- the document ---- */

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->duration_ns > y->duration_ns ? -1 : x->duration_ns < y->duration_ns;
}

static void put_number(struct zs_json *json, int64_t value)
{
    zs_json_i64(json, NULL, value);
}

static int64_t difference(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b);
}

/* Row of the modules that a kernel's is in, which is put there; -1: not known. */
static int64_t module_of(struct zs_html_timeline *t, const struct zs_act_kernel *kernel)
{
    const char *name = kernel ? t->module_of(t->modules_of, kernel) : NULL;
    uintptr_t row = name ? (uintptr_t)zs_id_map_get(&t->module_ids, (uintptr_t)name, 0) : 0;
    if (!name || row)
        return (int64_t)row - 1;
    if (!ZS_VEC_PUSH(&t->modules, name) ||
        zs_id_map_put(&t->module_ids, (uintptr_t)name, 0, index_value(t->modules.count - 1)))
        return -1;
    return (int64_t)t->modules.count - 1;
}

/* VLQ of source maps: five bits a character, the least first; the lowest of all is the sign. */
static void put_packed(struct zs_buf *out, int64_t value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { BITS = 5, MORE = 1 << BITS };
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint64_t rest = size << 1 | (value < 0);
    for (; rest >= MORE; rest >>= BITS)
        zs_buf_putc(out, digits[(rest & (MORE - 1)) | MORE]);
    zs_buf_putc(out, digits[rest]);
}

static void put_item(struct zs_html_timeline *t, struct zs_buf *out, const struct item *i,
                     bool is_queue, uint64_t before_ns)
{
    put_packed(out, difference(i->start_ns, before_ns));
    put_packed(out, i->duration_ns == UINT64_MAX ? -1 : (int64_t)i->duration_ns);
    put_packed(out, i->name);
    if (!is_queue) {
        put_packed(out, i->depth);
        put_packed(out, i->result);
        put_packed(out, (int64_t)i->number);
        put_packed(out, (int64_t)i->where - 1);
        return;
    }
    put_packed(out, i->kind);
    put_packed(out, (int64_t)i->thread - 1);
    put_packed(out, difference(i->start_ns, i->append_ns));
    put_packed(out, difference(i->start_ns, i->submit_ns));
    put_packed(out, (int64_t)i->number);
    put_packed(out, i->has_bytes ? (int64_t)i->bytes : -1);
    put_packed(out, (int64_t)i->shape - 1);
    put_packed(out, module_of(t, i->kernel));
}

static void put_bins(struct zs_json *json, const struct bins *b)
{
    size_t end = BINS;
    while (end && !b->count[end - 1])
        end--;
    zs_json_object(json, "bins");
    zs_json_u64(json, "start_ns", b->start_ns);
    zs_json_u64(json, "width_ns", b->width_ns);
    zs_json_array(json, "busy_ns");
    for (size_t i = 0; i < end; i++)
        zs_json_u64(json, NULL, b->busy_ns[i]);
    zs_json_end(json);
    zs_json_array(json, "count");
    for (size_t i = 0; i < end; i++)
        zs_json_u64(json, NULL, b->count[i]);
    zs_json_end(json);
    zs_json_end(json);
}

static void put_track(struct zs_html_timeline *t, struct zs_json *json, size_t index)
{
    const struct track *track = &t->tracks.items[index];
    const struct items *from = track->is_queue ? &t->executions : &t->calls;
    const struct zs_act_queue *q = track->queue;
    zs_json_object(json, NULL);
    zs_json_string(json, "kind", track->is_queue ? "queue" : "thread");
    zs_json_u64(json, "pid", (uint32_t)track->process);
    if (track->is_queue) {
        char engine[32];
        snprintf(engine, sizeof(engine), "%u.%u", q ? q->ordinal : 0, q ? q->index : 0);
        zs_json_u64(json, "queue", track->id);
        zs_json_bool(json, "immediate", q && q->immediate);
        zs_json_string(json, "engine", q ? engine : "n/a");
        zs_json_string(json, "device", q && q->device ? q->device->label : "device n/a");
    } else {
        zs_json_u64(json, "tid", track->tid);
        zs_json_string(json, "name", track->name);
        zs_json_string(json, "process", track->image);
    }
    struct zs_buf items = {0};
    uint64_t before_ns = t->first_ns;
    const struct item key = {.track = (uint32_t)index};
    size_t low = 0, high = from->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (from->items[middle].track < key.track)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < from->count && from->items[i].track == index; i++) {
        put_item(t, &items, &from->items[i], track->is_queue, before_ns);
        before_ns = from->items[i].start_ns;
    }
    zs_json_string(json, "items", items.error ? NULL : zs_buf_cstr(&items));
    zs_buf_fini(&items);
    zs_json_u64(json, "left_out", track->left_out);
    if (track->bins)
        put_bins(json, track->bins);
    zs_json_end(json);
}

static void put_memory(const struct zs_html_timeline *t, struct zs_json *json)
{
    zs_json_array(json, "memory");
    for (size_t i = 0; i < t->process_count; i++) {
        const struct memory *m = &t->memory[i];
        uint64_t before_ns = t->first_ns;
        zs_json_object(json, NULL);
        zs_json_u64(json, "pid", (uint32_t)m->process);
        zs_json_u64(json, "peak_B", m->peak_B);
        zs_json_u64(json, "changes_a_point", m->stride);
        zs_json_array(json, "points");
        for (size_t k = 0; k < m->count; k++) {
            put_number(json, difference(m->points[k].time_ns, before_ns));
            zs_json_u64(json, NULL, m->points[k].bytes);
            before_ns = m->points[k].time_ns;
        }
        zs_json_end(json);
        zs_json_end(json);
    }
    zs_json_end(json);
}

static void put_marks(const struct zs_html_timeline *t, const struct zs_activities *activities,
                      struct zs_json *json)
{
    zs_json_array(json, "marks");
    for (size_t i = 0; i < t->marks.count; i++) {
        const struct zs_act_mark *m = &t->marks.items[i].mark;
        zs_json_object(json, NULL);
        zs_json_u64(json, "track", t->marks.items[i].track);
        zs_json_string(json, "name", m->name);
        zs_json_u64(json, "start_ns", m->time_ns);
        zs_json_u64(json, "end_ns", m->end_ns == UINT64_MAX ? t->last_ns : m->end_ns);
        zs_json_u64(json, "depth", m->depth);
        zs_json_end(json);
    }
    zs_json_end(json);
    zs_json_array(json, "pauses");
    for (size_t i = 0; i < activities->pauses.count; i++) {
        const struct zs_act_pause *p = &activities->pauses.items[i];
        zs_json_object(json, NULL);
        zs_json_u64(json, "pid", (uint32_t)p->process);
        zs_json_u64(json, "start_ns", p->start_ns);
        zs_json_u64(json, "end_ns", p->end_ns ? p->end_ns : t->last_ns);
        zs_json_string(json, "reason", zs_act_pause_reason_name(p->reason));
        zs_json_end(json);
    }
    zs_json_end(json);
}

static void put_left_out(const struct zs_html_timeline *t, struct zs_json *json)
{
    zs_json_object(json, "left_out");
    zs_json_u64(json, "calls", t->calls.left_out);
    zs_json_u64(json, "executions", t->executions.left_out);
    zs_json_u64(json, "untimed", t->untimed);
    zs_json_u64(json, "marks", t->marks_left_out);
    zs_json_end(json);
}

/* Frames are texts, each once; stacks are numbers of frames. */
static void put_stacks(struct zs_html_timeline *t, const struct zs_activities *activities,
                       struct zs_symbols *symbols, struct zs_json *json)
{
    zs_json_array(json, "stacks");
    for (size_t i = 0; i < activities->stacks.count && symbols; i++) {
        const struct zs_act_stack *s = &activities->stacks.items[i];
        zs_json_array(json, NULL);
        for (uint32_t k = 0; k < s->count; k++) {
            const struct zs_symbol_frame *frames;
            uint32_t count = zs_symbols_frames(symbols, s->process, s->pcs[k], &frames);
            for (uint32_t f = 0; f < count; f++) {
                char text[512];
                zs_symbol_format(&frames[f], text, sizeof(text));
                uint32_t name = name_of(t, text, strlen(text));
                if (name)
                    zs_json_u64(json, NULL, name - 1);
            }
        }
        zs_json_end(json);
    }
    zs_json_end(json);
}

void zs_html_timeline_json(struct zs_html_timeline *t, const struct zs_activities *activities,
                           struct zs_symbols *symbols, zs_html_module_fn name_module, void *user,
                           struct zs_json *json)
{
    t->module_of = name_module;
    t->modules_of = user;
    struct items *const all[] = {&t->calls, &t->executions};
    for (size_t i = 0; i < ZS_ARRAY_LEN(all); i++)
        if (all[i]->count)
            qsort(all[i]->items, all[i]->count, sizeof(*all[i]->items), compare_items);
    zs_json_u64(json, "start_ns", t->first_ns);
    zs_json_u64(json, "end_ns", t->last_ns);
    put_stacks(t, activities, symbols, json); /* it adds names */
    zs_json_array(json, "names");
    for (size_t i = 0; i < t->names.count; i++)
        zs_json_string(json, NULL, t->names.items[i]);
    zs_json_end(json);
    zs_json_object(json, "results");
    for (size_t i = 0; i < t->calls.count; i++) {
        /* each once: those that are no success are few */
        const struct item *item = &t->calls.items[i];
        char key[16];
        const char *name = item->result ? zs_api_result_name(NULL, item->result) : NULL;
        if (!name || zs_id_map_get(&t->numbers, (uint32_t)item->result, 0))
            continue;
        snprintf(key, sizeof(key), "%" PRId32, item->result);
        zs_json_string(json, key, name);
        zs_id_map_put(&t->numbers, (uint32_t)item->result, 0, index_value(0));
    }
    zs_json_end(json);
    zs_id_map_fini(&t->numbers);
    zs_json_array(json, "shapes");
    for (size_t i = 0; i < t->shapes.count; i++) {
        zs_json_array(json, NULL);
        for (int k = 0; k < 6; k++)
            zs_json_u64(json, NULL, t->shapes.items[i].numbers[k]);
        zs_json_end(json);
    }
    zs_json_end(json);
    zs_json_array(json, "tracks");
    for (size_t i = 0; i < t->tracks.count; i++)
        put_track(t, json, i);
    zs_json_end(json);
    zs_json_array(json, "modules"); /* those that tracks name */
    for (size_t i = 0; i < t->modules.count; i++)
        zs_json_string(json, NULL, t->modules.items[i]);
    zs_json_end(json);
    put_memory(t, json);
    put_marks(t, activities, json);
    put_left_out(t, json);
}
