/* SPDX-License-Identifier: MIT */
#include "report/recording.h"

#include "base/filter.h"
#include "base/vec.h"
#include "layer/describe.h"
#include "record/merge.h"
#include "report/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What rows can be told apart by. */
enum key {
    KEY_CALL,
    KEY_RESULT,
    KEY_KERNEL,
    KEY_DIRECTION,
    KEY_KIND,
    KEY_DEVICE,
    KEY_QUEUE,
    KEY_ENGINE,
    KEY_SHAPE,
    KEY_SIMD,
    KEY_SIZE,
    KEY_LIST,
    KEY_PROCESS,
    KEY_THREAD,
    KEYS
};

#define BIT(key) (1u << KEY_##key)
enum {
    THREAD_KEYS = BIT(PROCESS) | BIT(THREAD),
    PLACE_KEYS = BIT(DEVICE) | BIT(QUEUE) | BIT(ENGINE) | BIT(LIST) | THREAD_KEYS,
    EVERYWHERE = ZS_COLUMN_IN_TEXT | ZS_COLUMN_IN_CSV | ZS_COLUMN_IN_JSON,
    DATA_ONLY = ZS_COLUMN_IN_CSV | ZS_COLUMN_IN_JSON,
};

static const struct {
    const char *name; /* of --group-by */
    struct zs_column column;
} keys[KEYS] = {
    [KEY_CALL] = {"call", {"name", "call", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_RESULT] = {"result", {"result", "result", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_KERNEL] = {"kernel", {"name", "kernel", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_DIRECTION] = {"direction",
                       {"direction", "direction", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_KIND] = {"kind", {"name", "kind", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_DEVICE] = {"device", {"device", "device", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_QUEUE] = {"queue", {"queue", "queue", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_ENGINE] = {"engine", {"engine", "engine", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_SHAPE] = {"shape",
                   {"shape", "groups of size", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_SIMD] = {"simd", {"simd", "SIMD", ZS_CELL_ID, EVERYWHERE}},
    [KEY_SIZE] = {"size", {"size", "size", ZS_CELL_BYTES, EVERYWHERE}},
    [KEY_LIST] = {"list", {"list", "list", ZS_CELL_HEX, EVERYWHERE}},
    [KEY_PROCESS] = {"process", {"pid", "process", ZS_CELL_ID, EVERYWHERE}},
    [KEY_THREAD] = {"thread", {"tid", "thread", ZS_CELL_ID, EVERYWHERE}},
};

/* What is shown of a group. */
enum metric {
    METRIC_SHARE,
    METRIC_TOTAL,
    METRIC_COUNT,
    METRIC_ALLOCATIONS,
    METRIC_FREES,
    METRIC_TIMED,
    METRIC_FAILED,
    METRIC_UNFINISHED,
    METRIC_BYTES,
    METRIC_PEAK,
    METRIC_LEFT,
    METRIC_RATE,
    METRIC_MEAN,
    METRIC_MIN,
    METRIC_MEDIAN,
    METRIC_P90,
    METRIC_P99,
    METRIC_MAX,
    METRIC_TO_SUBMIT,
    METRIC_TO_START,
    METRIC_TO_SUBMIT_MAX,
    METRIC_TO_START_MAX,
    METRIC_LIFETIME,
    METRIC_FIRST,
    METRIC_LAST,
    METRIC_RESULTS,
    METRICS
};

static const struct zs_column metrics[METRICS] = {
    [METRIC_SHARE] = {"share", "time", ZS_CELL_PERCENT, EVERYWHERE},
    [METRIC_TOTAL] = {"total_ns", "total", ZS_CELL_NS, EVERYWHERE},
    [METRIC_COUNT] = {"count", "count", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_ALLOCATIONS] = {"allocations", "allocations", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_FREES] = {"frees", "frees", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_TIMED] = {"timed", "timed", ZS_CELL_COUNT, DATA_ONLY},
    [METRIC_FAILED] = {"failed", "failed", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_UNFINISHED] = {"unfinished", "unfinished", ZS_CELL_COUNT, DATA_ONLY},
    [METRIC_BYTES] = {"bytes", "bytes", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_PEAK] = {"peak_bytes", "peak bytes", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_LEFT] = {"left_bytes", "never freed", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_RATE] = {"bytes_per_s", "bytes/s", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_MEAN] = {"mean_ns", "mean", ZS_CELL_NS, EVERYWHERE},
    [METRIC_MIN] = {"min_ns", "min", ZS_CELL_NS, EVERYWHERE},
    [METRIC_MEDIAN] = {"median_ns", "median", ZS_CELL_NS, EVERYWHERE},
    [METRIC_P90] = {"p90_ns", "90 %", ZS_CELL_NS, DATA_ONLY},
    [METRIC_P99] = {"p99_ns", "99 %", ZS_CELL_NS, EVERYWHERE},
    [METRIC_MAX] = {"max_ns", "max", ZS_CELL_NS, EVERYWHERE},
    [METRIC_TO_SUBMIT] = {"append_to_submit_ns", "to submit", ZS_CELL_NS, EVERYWHERE},
    [METRIC_TO_START] = {"submit_to_start_ns", "to start", ZS_CELL_NS, EVERYWHERE},
    [METRIC_TO_SUBMIT_MAX] = {"append_to_submit_max_ns", "to submit, max", ZS_CELL_NS, DATA_ONLY},
    [METRIC_TO_START_MAX] = {"submit_to_start_max_ns", "to start, max", ZS_CELL_NS, DATA_ONLY},
    [METRIC_LIFETIME] = {"lifetime_ns", "lifetime", ZS_CELL_NS, EVERYWHERE},
    [METRIC_FIRST] = {"first_ns", "from", ZS_CELL_TIME, EVERYWHERE},
    [METRIC_LAST] = {"last_ns", "until", ZS_CELL_TIME, EVERYWHERE},
    [METRIC_RESULTS] = {"results", "", ZS_CELL_RESULTS, EVERYWHERE | ZS_COLUMN_NAMES},
};

#define SHOW(metric) (1u << METRIC_##metric)
enum {
    SHOW_TIMES =
        SHOW(TOTAL) | SHOW(MEAN) | SHOW(MIN) | SHOW(MEDIAN) | SHOW(P90) | SHOW(P99) | SHOW(MAX),
    SHOW_ACTIVITY = SHOW(COUNT) | SHOW(TIMED) | SHOW_TIMES | SHOW(TO_SUBMIT) | SHOW(TO_START) |
                    SHOW(TO_SUBMIT_MAX) | SHOW(TO_START_MAX),
    SHOW_MEMORY = SHOW(ALLOCATIONS) | SHOW(FREES) | SHOW(BYTES) | SHOW(PEAK) | SHOW(LEFT),
};

static const struct {
    const char *name;
    uint32_t usual, allowed; /* keys */
    uint32_t metrics;
    enum metric order; /* falling */
} tables[ZS_REPORT_TABLES] = {
    [ZS_REPORT_CALLS] = {"calls", BIT(CALL), BIT(CALL) | BIT(RESULT) | THREAD_KEYS,
                         SHOW(SHARE) | SHOW_TIMES | SHOW(COUNT) | SHOW(FAILED) | SHOW(UNFINISHED) |
                             SHOW(RESULTS),
                         METRIC_TOTAL},
    [ZS_REPORT_KERNELS] = {"kernels", BIT(KERNEL) | BIT(DEVICE) | BIT(SHAPE) | BIT(SIMD),
                           BIT(KERNEL) | BIT(SHAPE) | BIT(SIMD) | PLACE_KEYS,
                           SHOW(SHARE) | SHOW_ACTIVITY, METRIC_TOTAL},
    [ZS_REPORT_COPIES] = {"copies", BIT(DIRECTION) | BIT(DEVICE),
                          BIT(DIRECTION) | BIT(SIZE) | PLACE_KEYS,
                          SHOW_ACTIVITY | SHOW(BYTES) | SHOW(RATE), METRIC_TOTAL},
    [ZS_REPORT_BARRIERS] = {"barriers", BIT(KIND) | BIT(DEVICE), BIT(KIND) | PLACE_KEYS,
                            SHOW_ACTIVITY, METRIC_TOTAL},
    [ZS_REPORT_MEMORY] = {"memory", BIT(KIND), BIT(KIND) | THREAD_KEYS, SHOW_MEMORY,
                          METRIC_ALLOCATIONS},
    [ZS_REPORT_ALLOCATIONS] = {"allocations", BIT(KIND) | BIT(SIZE),
                               BIT(KIND) | BIT(SIZE) | THREAD_KEYS, SHOW_MEMORY | SHOW(LIFETIME),
                               METRIC_BYTES},
    [ZS_REPORT_LEAKS] = {"leaks", 0, BIT(KIND) | BIT(SIZE) | THREAD_KEYS, SHOW(COUNT) | SHOW(BYTES),
                         METRIC_BYTES},
    [ZS_REPORT_BUILDS] = {"builds", 0, BIT(RESULT) | THREAD_KEYS,
                          SHOW_TIMES | SHOW(COUNT) | SHOW(FAILED), METRIC_TOTAL},
    [ZS_REPORT_THREADS] = {"threads", THREAD_KEYS, 0,
                           SHOW(SHARE) | SHOW(TOTAL) | SHOW(COUNT) | SHOW(FAILED) | SHOW(FIRST) |
                               SHOW(LAST),
                           METRIC_TOTAL},
};

/* Rows that are not groups: of leaks and builds, each with a table's row of its own. */
struct item {
    uint64_t values[8];
    const char *text;
};

/* Groups of kernels by (groups, size): the text, and the numbers. */
struct shape {
    uint32_t groups[3], size[3];
    char text[96];
};

struct names {
    uint64_t process;
    uint32_t tid;
    const char *thread, *image;
};

struct zs_report {
    struct zs_arena arena;
    struct zs_activities activities;
    struct zs_merge_totals totals;
    struct zs_groups groups[ZS_REPORT_TABLES];
    uint32_t keys[ZS_REPORT_TABLES]; /* 0: items */
    struct {
        struct item *items;
        size_t count, capacity;
    } items[ZS_REPORT_TABLES];
    struct zs_table tables[ZS_REPORT_TABLES];
    uint64_t live_B, peak_B;
    struct zs_id_map strings, shapes, threads;
    struct zs_filter filter;
    struct zs_groups wanted; /* calls by index: whether the filter takes them */
    const struct zs_merge_sink *also;
    const char **call_names; /* by index; NULL: the filter leaves it out */
    uint32_t call_count;
    const struct zs_act_kernel *recent_kernel;
    const char *recent_kernel_name;
};

const char *zs_report_table_name(int table)
{
    return table >= 0 && table < ZS_REPORT_TABLES ? tables[table].name : NULL;
}

const struct zs_table *zs_report_table(const struct zs_report *report, enum zs_report_table table)
{
    return &report->tables[table];
}

struct zs_report_totals zs_report_totals(const struct zs_report *r)
{
    return (struct zs_report_totals){r->totals.calls,    r->totals.lost,    r->totals.damaged_files,
                                     r->totals.first_ns, r->totals.last_ns, r->peak_B,
                                     r->totals.activity};
}

/* ---- names as numbers ---- */

static uint64_t hash_bytes(const void *data, size_t size_B)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size_B; i++)
        h = (h ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The one copy of a text; NULL: no memory. */
static const char *intern(struct zs_report *r, const char *text, size_t length)
{
    uint64_t h = hash_bytes(text, length);
    for (uint64_t n = length;; n += UINT64_C(1) << 32) {
        char *known = zs_id_map_get(&r->strings, h, n);
        if (known && strlen(known) == length && !memcmp(known, text, length))
            return known;
        if (known)
            continue;
        known = zs_arena_strndup(&r->arena, text, length);
        if (known && strlen(known) != length)
            return intern(r, known, strlen(known));
        return known && !zs_id_map_put(&r->strings, h, n, known) ? known : NULL;
    }
}

static uint64_t text_key(struct zs_report *r, const char *text)
{
    return text ? (uint64_t)(uintptr_t)intern(r, text, strlen(text)) : 0;
}

static uint64_t shape_key(struct zs_report *r, const struct zs_act_append *a)
{
    struct shape key = {0};
    if (!a->groups[0] && !a->size[0])
        return 0;
    memcpy(key.groups, a->groups, sizeof(key.groups));
    memcpy(key.size, a->size, sizeof(key.size));
    uint64_t h = hash_bytes(&key, sizeof(key.groups) + sizeof(key.size));
    for (uint64_t n = 0;; n++) {
        struct shape *known = zs_id_map_get(&r->shapes, h, n);
        if (known && !memcmp(known->groups, key.groups, sizeof(key.groups)) &&
            !memcmp(known->size, key.size, sizeof(key.size)))
            return (uintptr_t)known;
        if (known)
            continue;
        known = ZS_ARENA_NEW(&r->arena, struct shape);
        if (!known || zs_id_map_put(&r->shapes, h, n, known))
            return 0;
        *known = key;
        char groups[40] = "n/a", size[40] = "n/a";
        if (key.groups[0])
            snprintf(groups, sizeof(groups), "%ux%ux%u", key.groups[0], key.groups[1],
                     key.groups[2]);
        if (key.size[0])
            snprintf(size, sizeof(size), "%ux%ux%u", key.size[0], key.size[1], key.size[2]);
        snprintf(known->text, sizeof(known->text), "%s of %s", groups, size);
        return (uintptr_t)known;
    }
}

/* ---- keys ---- */

static const char *after_comma(const char *text)
{
    const char *comma = strchr(text, ',');
    return comma ? comma + 1 : text + strlen(text);
}

static int key_by_name(const char *name, size_t length)
{
    static const char *const others[][2] = {
        {"name", "call"}, {"tid", "thread"}, {"pid", "process"}, {"type", "kind"}};
    for (int k = 0; k < KEYS; k++)
        if (strlen(keys[k].name) == length && !strncmp(keys[k].name, name, length))
            return k;
    for (size_t i = 0; i < ZS_ARRAY_LEN(others); i++)
        if (strlen(others[i][0]) == length && !strncmp(others[i][0], name, length))
            return key_by_name(others[i][1], strlen(others[i][1]));
    return -1;
}

/* Tables that have none of the keys stay as they are. */
static int choose_keys(struct zs_report *r, const struct zs_report_options *o, struct zs_diag *diag)
{
    uint32_t asked = 0, allowed = 0;
    for (const char *at = o->group_by ? o->group_by : ""; *at; at = after_comma(at)) {
        size_t length = strcspn(at, ",");
        int key = key_by_name(at, length);
        if (key < 0)
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                               "rows cannot be grouped by '%.*s': call, result, kernel, shape, "
                               "simd, direction, kind, size, device, queue, engine, list, process, "
                               "thread can",
                               (int)length, at);
        asked |= 1u << key;
    }
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        r->keys[t] = tables[t].usual;
        allowed |= o->only < 0 || o->only == t ? tables[t].allowed : 0;
        if (asked & tables[t].allowed)
            r->keys[t] = asked & tables[t].allowed;
        if (o->per_thread && (tables[t].allowed & THREAD_KEYS) == THREAD_KEYS && r->keys[t])
            r->keys[t] |= THREAD_KEYS;
    }
    for (int k = 0; k < KEYS; k++)
        if (asked & ~allowed & 1u << k)
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                               "the rows of this table cannot be grouped by '%s'", keys[k].name);
    return 0;
}

static struct zs_group *group_for(struct zs_report *r, enum zs_report_table table,
                                  const uint64_t *values)
{
    uint64_t key[ZS_GROUP_KEYS_MAX] = {0};
    size_t at = 0;
    for (uint32_t left = r->keys[table]; left && at < ZS_GROUP_KEYS_MAX; left &= left - 1)
        key[at++] = values[__builtin_ctz(left)];
    return zs_groups_get(&r->groups[table], key);
}

static void add_time(struct zs_report *r, enum zs_report_table table, struct zs_group *g,
                     uint64_t ns)
{
    zs_times_add(&g->times, ns, zs_groups_times_arena(&r->groups[table]));
}

/* ZE_RESULT_NOT_READY is an answer, not a failure. */
static bool is_failure(int32_t result)
{
    return result != 0 && result != 1;
}

static const char *result_name(struct zs_report *r, bool finished, int32_t result)
{
    const char *name = zs_api_enum_name("ze_result_t", result);
    char number[24];
    if (!finished)
        return "(never returned)";
    if (name)
        return name;
    snprintf(number, sizeof(number), "0x%x", (unsigned)result);
    return intern(r, number, strlen(number));
}

/* ---- calls ---- */

/* NULL: left out by the filter. */
static const char *call_name(struct zs_report *r, const struct zs_call *call)
{
    if (call->call >= 0 && (uint32_t)call->call < r->call_count)
        return r->call_names[call->call];
    return zs_filter_matches_span(&r->filter, call->name)
               ? intern(r, (const char *)call->name.data, call->name.size_B)
               : NULL;
}

static int add_thread(struct zs_report *r, const struct zs_calls *calls, uint64_t process)
{
    if (zs_id_map_get(&r->threads, process, calls->tid))
        return 0;
    struct names *n = ZS_ARENA_NEW(&r->arena, struct names);
    if (!n)
        return -ENOMEM;
    *n = (struct names){process, calls->tid,
                        intern(r, calls->thread_name, strlen(calls->thread_name)),
                        intern(r, calls->process_name, strlen(calls->process_name))};
    return n->thread && n->image ? zs_id_map_put(&r->threads, process, calls->tid, n) : -ENOMEM;
}

static void count_call(struct zs_report *r, enum zs_report_table table, struct zs_group *g,
                       const struct zs_call *call)
{
    g->count++;
    if (!g->first_ns)
        g->first_ns = call->start_ns;
    g->last_ns = ZS_MAX(g->last_ns, call->start_ns + call->duration_ns);
    if (!call->finished) {
        g->unfinished++;
        return;
    }
    add_time(r, table, g, call->duration_ns);
    if (is_failure(call->result)) {
        g->failed++;
        zs_group_result(g, call->result);
    }
}

static int on_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                   uint64_t process)
{
    struct zs_report *r = user;
    uint64_t values[KEYS];
    const char *name = call_name(r, call);
    values[KEY_CALL] = (uintptr_t)name;
    values[KEY_PROCESS] = process;
    values[KEY_THREAD] = calls->tid;
    values[KEY_RESULT] = 0;
    if (r->keys[ZS_REPORT_CALLS] & BIT(RESULT))
        values[KEY_RESULT] = text_key(r, result_name(r, call->finished, call->result));
    if (name) {
        struct zs_group *g = group_for(r, ZS_REPORT_CALLS, values);
        if (!g)
            return -ENOMEM;
        count_call(r, ZS_REPORT_CALLS, g, call);
    }
    struct zs_group *thread = group_for(r, ZS_REPORT_THREADS, values);
    if (!thread || (!thread->count && add_thread(r, calls, process)))
        return -ENOMEM;
    thread->count++;
    thread->first_ns = thread->first_ns ? thread->first_ns : call->start_ns;
    thread->last_ns = ZS_MAX(thread->last_ns, call->start_ns + call->duration_ns);
    thread->failed += call->finished && is_failure(call->result);
    if (call->finished && !call->depth)
        zs_times_add(&thread->times, call->duration_ns, NULL);
    return r->also && r->also->call ? r->also->call(r->also->user, calls, call, process) : 0;
}

/* ---- activities ---- */

static uint64_t kernel_key(struct zs_report *r, const struct zs_act_append *a)
{
    if (r->recent_kernel_name && a->kernel == r->recent_kernel)
        return (uintptr_t)r->recent_kernel_name;
    const char *name = a->kernel ? a->kernel->name : "(unknown kernel)";
    r->recent_kernel = a->kernel;
    r->recent_kernel_name = intern(r, name, strlen(name));
    return (uintptr_t)r->recent_kernel_name;
}

static uint64_t queue_key(struct zs_report *r, const struct zs_act_execute *e, bool engine)
{
    const struct zs_act_queue *q = e->queue;
    char text[64];
    if (!q)
        return 0;
    if (engine)
        snprintf(text, sizeof(text), "%u.%u", q->ordinal, q->index);
    else
        snprintf(text, sizeof(text), "%s %u", q->immediate ? "immediate list" : "queue",
                 (unsigned)ZS_MIN(q->id, UINT32_MAX));
    return text_key(r, text);
}

static enum zs_report_table table_of(uint32_t kind)
{
    return kind == ZS_ACTIVITY_KERNEL                             ? ZS_REPORT_KERNELS
           : kind == ZS_ACTIVITY_COPY || kind == ZS_ACTIVITY_FILL ? ZS_REPORT_COPIES
                                                                  : ZS_REPORT_BARRIERS;
}

static void execute_keys(struct zs_report *r, const struct zs_act_execute *e, uint32_t wanted,
                         uint64_t *ret_values)
{
    const struct zs_act_append *a = e->append;
    char direction[64];
    if (wanted & BIT(KERNEL))
        ret_values[KEY_KERNEL] = kernel_key(r, a);
    if (wanted & BIT(DIRECTION)) {
        zs_act_direction(a, direction, sizeof(direction));
        ret_values[KEY_DIRECTION] = text_key(r, direction);
    }
    if (wanted & BIT(KIND))
        ret_values[KEY_KIND] = text_key(r, zs_act_kind_name(a->kind));
    if (wanted & BIT(DEVICE))
        ret_values[KEY_DEVICE] = text_key(r, a->device ? a->device->name : NULL);
    if (wanted & BIT(QUEUE))
        ret_values[KEY_QUEUE] = queue_key(r, e, false);
    if (wanted & BIT(ENGINE))
        ret_values[KEY_ENGINE] = queue_key(r, e, true);
    if (wanted & BIT(SHAPE))
        ret_values[KEY_SHAPE] = shape_key(r, a);
    ret_values[KEY_SIMD] = a->kernel ? a->kernel->simd : 0;
    ret_values[KEY_SIZE] = a->has_bytes ? a->bytes + 1 : 0; /* 0: not known */
    ret_values[KEY_LIST] = a->list;
    ret_values[KEY_PROCESS] = a->process;
    ret_values[KEY_THREAD] = a->tid;
}

static bool wants_name(struct zs_report *r, uint32_t kind, const struct zs_act_append *a)
{
    char direction[64];
    if (!r->filter.count)
        return true;
    if (kind == ZS_ACTIVITY_KERNEL)
        return zs_filter_matches(&r->filter, a->kernel ? a->kernel->name : "(unknown kernel)");
    if (table_of(kind) == ZS_REPORT_BARRIERS)
        return zs_filter_matches(&r->filter, zs_act_kind_name(kind));
    zs_act_direction(a, direction, sizeof(direction));
    return zs_filter_matches(&r->filter, direction);
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct zs_report *r = user;
    const struct zs_act_append *a = e->append;
    uint64_t values[KEYS] = {0};
    int status = r->also && r->also->execute ? r->also->execute(r->also->user, e) : 0;
    if (status || !a || !wants_name(r, a->kind, a))
        return status;
    enum zs_report_table table = table_of(a->kind);
    execute_keys(r, e, r->keys[table], values);
    struct zs_group *g = group_for(r, table, values);
    if (!g)
        return -ENOMEM;
    g->count++;
    g->bytes += a->bytes;
    g->has_bytes |= a->has_bytes;
    if (!e->end_ns)
        return 0;
    uint64_t to_submit = e->submit_ns > a->time_ns ? e->submit_ns - a->time_ns : 0;
    uint64_t to_start = e->start_ns > e->submit_ns ? e->start_ns - e->submit_ns : 0;
    add_time(r, table, g, e->end_ns - e->start_ns);
    g->to_submit_ns += to_submit;
    g->to_start_ns += to_start;
    g->to_submit_max_ns = ZS_MAX(g->to_submit_max_ns, to_submit);
    g->to_start_max_ns = ZS_MAX(g->to_start_max_ns, to_start);
    return 0;
}

static int on_append(void *user, const struct zs_act_append *a)
{
    struct zs_report *r = user;
    return r->also && r->also->append ? r->also->append(r->also->user, a) : 0;
}

/* ---- memory and objects ---- */

static void object_keys(struct zs_report *r, const struct zs_act_object *o, uint64_t *ret_values)
{
    ret_values[KEY_KIND] = text_key(r, zs_act_object_name(o->type));
    ret_values[KEY_SIZE] = o->type < ZS_ACT_ALLOCATION_TYPES ? o->size_B + 1 : 0;
    ret_values[KEY_PROCESS] = o->process;
    ret_values[KEY_THREAD] = o->tid;
}

static void count_object(struct zs_report *r, enum zs_report_table table, struct zs_group *g,
                         const struct zs_act_object *o)
{
    if (o->is_create) {
        g->count++;
        g->bytes += o->size_B;
        g->left_B += o->size_B;
        g->peak_B = ZS_MAX(g->peak_B, g->left_B);
        return;
    }
    g->frees += !o->is_implied;
    g->left_B -= ZS_MIN(o->size_B, g->left_B);
    if (o->created_ns)
        add_time(r, table, g, o->time_ns - o->created_ns);
}

static int on_object(void *user, const struct zs_act_object *o)
{
    struct zs_report *r = user;
    uint64_t values[KEYS] = {0};
    int status = r->also && r->also->object ? r->also->object(r->also->user, o) : 0;
    if (status || o->type >= ZS_ACT_ALLOCATION_TYPES)
        return status;
    r->live_B = o->is_create ? r->live_B + o->size_B : r->live_B - ZS_MIN(o->size_B, r->live_B);
    r->peak_B = ZS_MAX(r->peak_B, r->live_B);
    if (!zs_filter_matches(&r->filter, zs_act_object_name(o->type)))
        return 0;
    object_keys(r, o, values);
    struct zs_group *memory = group_for(r, ZS_REPORT_MEMORY, values);
    struct zs_group *allocations = group_for(r, ZS_REPORT_ALLOCATIONS, values);
    if (!memory || !allocations)
        return -ENOMEM;
    count_object(r, ZS_REPORT_MEMORY, memory, o);
    count_object(r, ZS_REPORT_ALLOCATIONS, allocations, o);
    return 0;
}

static int add_item(struct zs_report *r, enum zs_report_table table, struct item item)
{
    return ZS_VEC_PUSH(&r->items[table], item) ? 0 : -ENOMEM;
}

static int on_left(void *user, const struct zs_act_object *o)
{
    struct zs_report *r = user;
    uint64_t values[KEYS] = {0};
    int status = r->also && r->also->left ? r->also->left(r->also->user, o) : 0;
    if (status || !zs_filter_matches(&r->filter, zs_act_object_name(o->type)))
        return status;
    bool sized = o->type < ZS_ACT_ALLOCATION_TYPES;
    if (!r->keys[ZS_REPORT_LEAKS])
        return add_item(r, ZS_REPORT_LEAKS,
                        (struct item){{o->time_ns, (uint32_t)o->process, o->tid, o->call,
                                       sized ? o->size_B + 1 : 0, o->handle},
                                      zs_act_object_name(o->type)});
    object_keys(r, o, values);
    struct zs_group *g = group_for(r, ZS_REPORT_LEAKS, values);
    if (!g)
        return -ENOMEM;
    g->count++;
    g->bytes += o->size_B;
    g->has_bytes |= sized;
    return 0;
}

static int on_build(void *user, const struct zs_act_build *b)
{
    struct zs_report *r = user;
    uint64_t values[KEYS] = {0};
    int status = r->also && r->also->build ? r->also->build(r->also->user, b) : 0;
    if (status)
        return status;
    const char *result = result_name(r, true, b->result);
    if (!r->keys[ZS_REPORT_BUILDS])
        return add_item(
            r, ZS_REPORT_BUILDS,
            (struct item){{b->time_ns, (uint32_t)b->process, b->tid, b->duration_ns}, result});
    values[KEY_RESULT] = text_key(r, result);
    values[KEY_PROCESS] = b->process;
    values[KEY_THREAD] = b->tid;
    struct zs_group *g = group_for(r, ZS_REPORT_BUILDS, values);
    if (!g)
        return -ENOMEM;
    g->count++;
    g->failed += is_failure(b->result);
    add_time(r, ZS_REPORT_BUILDS, g, b->duration_ns);
    return 0;
}

/* ---- groups to cells ---- */

static struct zs_cell number(bool known, uint64_t value)
{
    return (struct zs_cell){.known = known, .number = value};
}

static struct zs_cell percentile(const struct zs_times *times, double percent)
{
    uint64_t ns;
    bool known = zs_times_percentile(times, percent, &ns);
    return number(known, ns);
}

static struct zs_cell metric_cell(const struct zs_group *g, enum metric metric, uint64_t all_ns)
{
    const struct zs_times *t = &g->times;
    uint64_t n = ZS_MAX(t->count, 1u);
    bool timed = t->count;
    switch (metric) {
    case METRIC_SHARE:
        return number(all_ns && timed,
                      all_ns ? (uint64_t)((double)t->total_ns * 10000 / (double)all_ns + .5) : 0);
    case METRIC_TOTAL:
        return number(timed, t->total_ns);
    case METRIC_COUNT:
    case METRIC_ALLOCATIONS:
        return number(true, g->count);
    case METRIC_FREES:
        return number(true, g->frees);
    case METRIC_TIMED:
        return number(true, t->count);
    case METRIC_FAILED:
        return number(true, g->failed);
    case METRIC_UNFINISHED:
        return number(true, g->unfinished);
    case METRIC_PEAK:
        return number(true, g->peak_B);
    case METRIC_LEFT:
        return number(true, g->left_B);
    case METRIC_RATE:
        return number(g->has_bytes && t->total_ns && t->count == g->count,
                      t->total_ns ? (uint64_t)((double)g->bytes * 1e9 / (double)t->total_ns) : 0);
    case METRIC_MEAN:
    case METRIC_LIFETIME:
        return number(timed, t->total_ns / n);
    case METRIC_MIN:
        return number(timed, t->min_ns);
    case METRIC_MAX:
        return number(timed, t->max_ns);
    case METRIC_MEDIAN:
        return percentile(t, 50);
    case METRIC_P90:
        return percentile(t, 90);
    case METRIC_P99:
        return percentile(t, 99);
    case METRIC_TO_SUBMIT:
        return number(timed, g->to_submit_ns / n);
    case METRIC_TO_START:
        return number(timed, g->to_start_ns / n);
    case METRIC_TO_SUBMIT_MAX:
        return number(timed, g->to_submit_max_ns);
    case METRIC_TO_START_MAX:
        return number(timed, g->to_start_max_ns);
    case METRIC_FIRST:
        return number(true, g->first_ns);
    case METRIC_LAST:
        return number(true, g->last_ns);
    case METRIC_RESULTS:
        return (struct zs_cell){.known = true, .results = {g->results, g->result_count}};
    default:
        return number(false, 0);
    }
}

static struct zs_cell bytes_cell(const struct zs_group *g, enum zs_report_table table)
{
    bool memory = table == ZS_REPORT_MEMORY || table == ZS_REPORT_ALLOCATIONS;
    return number(memory || g->has_bytes, g->bytes);
}

static struct zs_cell key_cell(enum key key, uint64_t value)
{
    if (key == KEY_SHAPE && value)
        return (struct zs_cell){.known = true,
                                .text = ((const struct shape *)(uintptr_t)value)->text};
    if (key == KEY_SHAPE)
        return (struct zs_cell){.known = true, .text = "n/a of n/a"};
    if (keys[key].column.kind == ZS_CELL_TEXT)
        return (struct zs_cell){.known = value != 0, .text = (const char *)(uintptr_t)value};
    if (key == KEY_SIZE)
        return number(value != 0, value - 1);
    return number(value != 0, key == KEY_PROCESS ? (uint32_t)value : value);
}

enum { COLUMNS_MAX = 40, SHOWN_TOGETHER_MAX = 20 };

struct builder {
    struct zs_report *r;
    enum zs_report_table table;
    struct zs_column columns[COLUMNS_MAX];
    size_t count;
};

static void add_column(struct builder *b, struct zs_column column)
{
    zs_assert(b->count < COLUMNS_MAX);
    b->columns[b->count++] = column;
}

static void group_columns(struct builder *b)
{
    static const struct zs_column groups = {"groups", "", ZS_CELL_TRIPLE, ZS_COLUMN_IN_JSON},
                                  size = {"group_size", "", ZS_CELL_TRIPLE, ZS_COLUMN_IN_JSON};
    for (uint32_t left = b->r->keys[b->table]; left; left &= left - 1) {
        int key = __builtin_ctz(left);
        struct zs_column column = keys[key].column;
        if (key == KEY_KIND && b->table != ZS_REPORT_MEMORY && b->table != ZS_REPORT_BARRIERS)
            column.key = b->table == ZS_REPORT_LEAKS ? "type" : "kind";
        add_column(b, column);
        if (key == KEY_SHAPE) {
            add_column(b, groups);
            add_column(b, size);
        }
    }
    for (int m = 0; m < METRICS; m++)
        if (tables[b->table].metrics & 1u << m)
            add_column(b, metrics[m]);
    if (b->table == ZS_REPORT_THREADS) {
        add_column(b, (struct zs_column){"thread_name", "name", ZS_CELL_TEXT,
                                         EVERYWHERE | ZS_COLUMN_NAMES});
        add_column(b, (struct zs_column){"process_name", "of process", ZS_CELL_TEXT,
                                         EVERYWHERE | ZS_COLUMN_NAMES});
    }
}

static struct zs_cell triple_cell(const uint32_t *triple)
{
    return (struct zs_cell){.known = triple[0] != 0, .triple = triple};
}

static void group_cells(const struct builder *b, const struct zs_group *g, uint64_t all_ns,
                        struct zs_cell *cell)
{
    static const struct shape unknown;
    size_t at = 0;
    for (uint32_t left = b->r->keys[b->table]; left; left &= left - 1) {
        enum key key = (enum key)__builtin_ctz(left);
        *cell++ = key_cell(key, g->keys[at]);
        if (key == KEY_SHAPE) {
            const struct shape *s =
                g->keys[at] ? (const struct shape *)(uintptr_t)g->keys[at] : &unknown;
            *cell++ = triple_cell(s->groups);
            *cell++ = triple_cell(s->size);
        }
        at++;
    }
    for (int m = 0; m < METRICS; m++)
        if (tables[b->table].metrics & 1u << m)
            *cell++ = m == METRIC_BYTES ? bytes_cell(g, b->table)
                                        : metric_cell(g, (enum metric)m, all_ns);
    if (b->table == ZS_REPORT_THREADS) {
        const struct names *n = zs_id_map_get(&b->r->threads, g->keys[0], g->keys[1]);
        *cell++ = (struct zs_cell){.known = n && n->thread[0], .text = n ? n->thread : NULL};
        *cell++ = (struct zs_cell){.known = n && n->image[0], .text = n ? n->image : NULL};
    }
}

/* Columns of leaks and builds: the index of the item's value, SIZE_MAX for its text. */
static const struct {
    enum zs_report_table table;
    struct zs_column column;
    size_t value;
} item_columns[] = {
    {ZS_REPORT_LEAKS, {"type", "type", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}, SIZE_MAX},
    {ZS_REPORT_LEAKS, {"handle", "never destroyed", ZS_CELL_HEX, EVERYWHERE | ZS_COLUMN_NAMES}, 5},
    {ZS_REPORT_LEAKS, {"bytes", "bytes", ZS_CELL_BYTES, EVERYWHERE}, 4},
    {ZS_REPORT_LEAKS, {"pid", "process", ZS_CELL_ID, EVERYWHERE}, 1},
    {ZS_REPORT_LEAKS, {"tid", "thread", ZS_CELL_ID, EVERYWHERE}, 2},
    {ZS_REPORT_LEAKS, {"call", "call", ZS_CELL_ID, EVERYWHERE}, 3},
    {ZS_REPORT_LEAKS, {"time_ns", "created at s", ZS_CELL_TIME, EVERYWHERE}, 0},
    {ZS_REPORT_BUILDS, {"pid", "process", ZS_CELL_ID, EVERYWHERE}, 1},
    {ZS_REPORT_BUILDS, {"tid", "thread", ZS_CELL_ID, EVERYWHERE}, 2},
    {ZS_REPORT_BUILDS, {"time_ns", "module build at s", ZS_CELL_TIME, EVERYWHERE}, 0},
    {ZS_REPORT_BUILDS, {"duration_ns", "took", ZS_CELL_NS, EVERYWHERE}, 3},
    {ZS_REPORT_BUILDS, {"result", "result", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}, SIZE_MAX},
};

static void item_columns_of(struct builder *b)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(item_columns); i++)
        if (item_columns[i].table == b->table)
            add_column(b, item_columns[i].column);
}

static void item_cells(const struct builder *b, const struct item *item, struct zs_cell *cell)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(item_columns); i++) {
        if (item_columns[i].table != b->table)
            continue;
        size_t at = item_columns[i].value;
        if (at == SIZE_MAX)
            *cell++ = (struct zs_cell){.known = true, .text = item->text};
        else if (item_columns[i].column.kind == ZS_CELL_BYTES)
            *cell++ = number(item->values[at] != 0, item->values[at] - 1);
        else
            *cell++ = number(true, item->values[at]);
    }
}

static uint64_t order_value(const struct zs_group *g, enum metric metric)
{
    return metric == METRIC_TOTAL   ? g->times.total_ns
           : metric == METRIC_BYTES ? g->bytes
                                    : g->count;
}

static int compare_groups(const void *a, const void *b, void *user)
{
    const struct zs_group *x = *(struct zs_group *const *)a, *y = *(struct zs_group *const *)b;
    enum metric metric = tables[*(const enum zs_report_table *)user].order;
    uint64_t p = order_value(x, metric), q = order_value(y, metric);
    if (p != q)
        return p < q ? 1 : -1;
    return x->count == y->count ? 0 : x->count < y->count ? 1 : -1;
}

static int build_table(struct zs_report *r, enum zs_report_table table)
{
    struct builder b = {.r = r, .table = table};
    struct zs_groups *groups = &r->groups[table];
    struct zs_table *t = &r->tables[table];
    bool grouped = r->keys[table] != 0;
    uint64_t all_ns = 0;
    if (grouped)
        group_columns(&b);
    else
        item_columns_of(&b);
    t->name = tables[table].name;
    t->row_count = grouped ? groups->count : r->items[table].count;
    t->column_count = b.count;
    t->columns = ZS_ARENA_ARRAY(&r->arena, b.count, struct zs_column);
    t->cells = calloc(t->row_count * b.count + 1, sizeof(*t->cells));
    if (!t->columns || !t->cells)
        return -ENOMEM;
    memcpy(t->columns, b.columns, b.count * sizeof(*b.columns));
    if (groups->count && table != ZS_REPORT_MEMORY)
        qsort_r(groups->items, groups->count, sizeof(struct zs_group *), compare_groups, &table);
    for (size_t i = 0; i < groups->count; i++)
        all_ns += groups->items[i]->times.total_ns;
    for (size_t i = 0; i < t->row_count; i++) {
        if (grouped)
            group_cells(&b, groups->items[i], all_ns, &t->cells[i * b.count]);
        else
            item_cells(&b, &r->items[table].items[i], &t->cells[i * b.count]);
    }
    return 0;
}

/* A condition or order that no table knows is a mistake. */
static int apply_view(struct zs_report *r, const struct zs_report_options *o, struct zs_diag *diag)
{
    bool *used = calloc(o->view.where_count + 1, sizeof(*used));
    int error = used ? 0 : -ENOMEM;
    for (int t = 0; t < ZS_REPORT_TABLES && !error; t++)
        if (o->only < 0 || o->only == t)
            error = zs_table_apply(&r->tables[t], &o->view, used, diag);
    for (size_t i = 0; i < o->view.where_count && !error; i++)
        if (!used[i])
            error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "'%s': there is no such column",
                                o->view.where[i]);
    if (!error && o->view.sort && !used[o->view.where_count])
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                            "rows cannot be sorted by '%s': there is no such column", o->view.sort);
    free(used);
    return error;
}

/* ---- all of it ---- */

static int name_calls(struct zs_report *r)
{
    r->call_count = zs_api_call_count();
    r->call_names = ZS_ARENA_ARRAY(&r->arena, r->call_count, const char *);
    for (uint32_t i = 0; r->call_names && i < r->call_count; i++) {
        const char *name = zs_api_call_name(i);
        if (zs_filter_matches(&r->filter, name))
            r->call_names[i] = intern(r, name, strlen(name));
    }
    return r->call_names ? 0 : -ENOMEM;
}

/* All kinds of memory have a row, used or not. */
static int start_memory(struct zs_report *r)
{
    for (uint8_t type = 0; type < ZS_ACT_ALLOCATION_TYPES; type++) {
        uint64_t values[KEYS] = {[KEY_KIND] = text_key(r, zs_act_object_name(type))};
        if (r->keys[ZS_REPORT_MEMORY] == BIT(KIND) &&
            zs_filter_matches(&r->filter, zs_act_object_name(type)) &&
            !group_for(r, ZS_REPORT_MEMORY, values))
            return -ENOMEM;
    }
    return 0;
}

int zs_report_load(const char *recording, const struct zs_report_options *options,
                   const struct zs_merge_sink *also, struct zs_report **ret_report,
                   struct zs_diag *diag)
{
    struct zs_report *r = calloc(1, sizeof(*r));
    if (!r)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    const struct zs_merge_sink sink = {.user = r,
                                       .call = on_call,
                                       .append = also && also->append ? on_append : NULL,
                                       .execute = on_execute,
                                       .object = on_object,
                                       .left = on_left,
                                       .build = on_build,
                                       .no_values = !also || also->no_values};
    r->also = also;
    zs_arena_init(&r->arena, 0);
    zs_activities_init(&r->activities);
    for (int t = 0; t < ZS_REPORT_TABLES; t++)
        r->groups[t].arena = &r->arena;
    int error = zs_filter_compile(&r->filter, options->filters, options->filter_count, diag);
    error = error ? error : choose_keys(r, options, diag);
    error = error ? error : name_calls(r);
    error = error ? error : start_memory(r);
    error = error ? error : zs_merge(recording, &sink, &r->activities, &r->totals, diag);
    for (int t = 0; t < ZS_REPORT_TABLES && !error; t++)
        error = build_table(r, (enum zs_report_table)t);
    error = error ? error : apply_view(r, options, diag);
    if (error == -ENOMEM)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory");
    if (error)
        zs_report_free(r);
    else
        *ret_report = r;
    return error;
}

void zs_report_free(struct zs_report *r)
{
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        zs_groups_fini(&r->groups[t]);
        free(r->items[t].items);
        free(r->tables[t].cells);
    }
    zs_id_map_fini(&r->strings);
    zs_id_map_fini(&r->shapes);
    zs_id_map_fini(&r->threads);
    zs_filter_fini(&r->filter);
    zs_activities_free(&r->activities);
    zs_arena_fini(&r->arena);
    free(r);
}

void zs_report_text(const struct zs_report *r, int only, bool color, struct zs_buf *out)
{
    bool some = false;
    if (only >= 0) {
        zs_table_text(&r->tables[only], color, out);
        return;
    }
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        if (!r->tables[t].row_count && t != ZS_REPORT_CALLS)
            continue;
        if (t == ZS_REPORT_MEMORY && !r->peak_B)
            continue;
        if (some)
            zs_buf_putc(out, '\n');
        some = true;
        zs_buf_printf(out, "%s%s%s\n", color ? "\033[1;4m" : "", tables[t].name,
                      color ? "\033[0m" : "");
        struct zs_table shown = r->tables[t];
        bool is_long = t >= ZS_REPORT_ALLOCATIONS && shown.row_count > SHOWN_TOGETHER_MAX;
        if (is_long) {
            shown.left_out += shown.row_count - SHOWN_TOGETHER_MAX;
            shown.row_count = SHOWN_TOGETHER_MAX;
        }
        zs_table_text(&shown, color, out);
    }
}

static bool is_activity(int table)
{
    return table == ZS_REPORT_KERNELS || table == ZS_REPORT_COPIES || table == ZS_REPORT_BARRIERS;
}

void zs_report_json(const struct zs_report *r, int only, struct zs_json *json)
{
    zs_json_string(json, "schema", "zescope.report/1");
    zs_json_u64(json, "first_ns", r->totals.first_ns);
    zs_json_u64(json, "last_ns", r->totals.last_ns);
    zs_json_u64(json, "call_count", r->totals.calls);
    zs_json_u64(json, "lost_calls", r->totals.lost);
    zs_json_u64(json, "damaged_files", r->totals.damaged_files);
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        if (only >= 0 && only != t)
            continue;
        if (is_activity(t) && !r->totals.activity) {
            zs_json_null(json, tables[t].name);
        } else if (t == ZS_REPORT_MEMORY) {
            zs_json_object(json, "memory");
            zs_json_u64(json, "peak_bytes", r->peak_B);
            zs_table_json(&r->tables[t], "kinds", json);
            zs_json_end(json);
        } else {
            zs_table_json(&r->tables[t], tables[t].name, json);
        }
    }
}
