/* SPDX-License-Identifier: MIT */
#include "report/recording_priv.h"

#include "base/hash.h"
#include "base/vec.h"
#include "calls/describe.h"
#include "record/builds.h"
#include "record/metrics_numbers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *zs_report_table_name(int table)
{
    return table >= 0 && table < ZS_REPORT_TABLES ? report_tables[table].name : NULL;
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

/* The one copy of a text; NULL: no memory. */
static const char *intern(struct zs_report *r, const char *text, size_t length)
{
    text = length ? text : ""; /* may be NULL */
    uint64_t h = zs_hash_bytes(text, length);
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
    uint64_t h = zs_hash_bytes(&key, sizeof(key.groups) + sizeof(key.size));
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

/* ---- backtraces ---- */

const char *report_caller(struct zs_report *r, uint32_t where)
{
    const struct zs_symbol_frame *frames;
    size_t count = r->activities.stacks.count;
    char text[512];
    if (!where || where > count || !r->symbols)
        return NULL;
    if (count > r->caller_count) {
        const char **callers = realloc(r->callers, count * 2 * sizeof(*callers));
        if (!callers)
            return NULL;
        memset(callers + r->caller_count, 0, (count * 2 - r->caller_count) * sizeof(*callers));
        r->callers = callers;
        r->caller_count = count * 2;
    }
    const struct zs_act_stack *s = &r->activities.stacks.items[where - 1];
    if (!r->callers[where - 1] && zs_symbols_frames(r->symbols, s->process, s->pcs[0], &frames)) {
        zs_symbol_format(&frames[0], text, sizeof(text));
        r->callers[where - 1] = intern(r, text, strlen(text));
    }
    return r->callers[where - 1];
}

const char *report_backtrace(struct zs_report *r, uint32_t where)
{
    if (!where || where > r->activities.stacks.count || !r->symbols)
        return NULL;
    const struct zs_act_stack *s = &r->activities.stacks.items[where - 1];
    struct zs_buf out = {0};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct zs_symbol_frame *frames;
        uint32_t count = zs_symbols_frames(r->symbols, s->process, s->pcs[i], &frames);
        for (uint32_t k = 0; k < count; k++) {
            char text[512];
            zs_symbol_format(&frames[k], text, sizeof(text));
            zs_buf_printf(&out, "%s%s", out.size_B ? " < " : "", text);
        }
    }
    const char *text = out.error ? NULL : intern(r, zs_buf_cstr(&out), out.size_B);
    zs_buf_fini(&out);
    return text;
}

/* Places in the application as keys. */
static void where_keys(struct zs_report *r, uint32_t wanted, uint32_t where, uint64_t *ret_values)
{
    ret_values[KEY_CALLER] = 0;
    ret_values[KEY_BACKTRACE] = where;
    if (wanted & BIT(CALLER))
        ret_values[KEY_CALLER] = (uintptr_t)report_caller(r, where);
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
        if (strlen(report_keys[k].name) == length && !strncmp(report_keys[k].name, name, length))
            return k;
    for (size_t i = 0; i < ZS_ARRAY_LEN(others); i++)
        if (strlen(others[i][0]) == length && !strncmp(others[i][0], name, length))
            return key_by_name(others[i][1], strlen(others[i][1]));
    return -1;
}

static int wrong_key(int table, int key, struct zs_diag *diag)
{
    struct zs_buf names = {0};
    for (int k = 0; k < KEYS; k++)
        if (report_tables[table].allowed & 1u << k)
            zs_buf_printf(&names, "%s %s", names.size_B ? "," : "", report_keys[k].name);
    int error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                            "the rows of %s cannot be grouped by '%s'%s%s",
                            report_tables[table].name, report_keys[key].name,
                            names.size_B ? "; its keys are" : "", zs_buf_cstr(&names));
    zs_buf_fini(&names);
    return error;
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
                               "simd, direction, kind, size, device, queue, engine, list, mark, "
                               "caller, backtrace, "
                               "process, thread can",
                               (int)length, at);
        asked |= 1u << key;
    }
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        r->keys[t] = report_tables[t].usual;
        allowed |= o->only < 0 || o->only == t ? report_tables[t].allowed : 0;
        if (asked & report_tables[t].allowed)
            r->keys[t] = asked & report_tables[t].allowed;
        if (o->per_thread && (report_tables[t].allowed & THREAD_KEYS) == THREAD_KEYS && r->keys[t])
            r->keys[t] |= THREAD_KEYS;
    }
    for (int k = 0; k < KEYS; k++)
        if (asked & ~allowed & 1u << k)
            return wrong_key(o->only, k, diag);
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
    const char *name = zs_api_result_name(NULL, result);
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
    where_keys(r, r->keys[ZS_REPORT_CALLS], call->where, values);
    if (r->keys[ZS_REPORT_CALLS] & BIT(RESULT))
        values[KEY_RESULT] = text_key(r, result_name(r, call->finished, call->result));
    if (name) {
        struct zs_group *g = group_for(r, ZS_REPORT_CALLS, values);
        if (!g)
            return -ENOMEM;
        count_call(r, ZS_REPORT_CALLS, g, call);
        if (r->wants_tree && call->finished && !call->depth &&
            zs_call_tree_add(&r->tree, ZS_TREE_HOST, call->where, name, call->duration_ns))
            return -ENOMEM;
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

const char *zs_report_module_of(struct zs_report *r, const struct zs_act_kernel *kernel)
{
    char name[ZS_MODULE_NAME_CHARS] = "";
    if (!kernel)
        return NULL;
    const char *known = zs_id_map_get(&r->modules, (uintptr_t)kernel, 0);
    if (!known) {
        const struct zs_record_module *module =
            zs_recordings_module(&r->recordings, kernel->process, kernel->build, kernel->time_ns);
        if (module)
            zs_record_module_name(module, name);
        known = intern(r, name, strlen(name));
        if (!known || zs_id_map_put(&r->modules, (uintptr_t)kernel, 0, (void *)(uintptr_t)known))
            return NULL;
    }
    return known[0] ? known : NULL;
}

/* The file that holds the binary of the module that the kernel is of: kernels of one name are told
 * apart by it. */
static uint64_t module_key(struct zs_report *r, const struct zs_act_append *a)
{
    return (uintptr_t)zs_report_module_of(r, a->kernel);
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
    if (wanted & BIT(MODULE))
        ret_values[KEY_MODULE] = module_key(r, a);
    if (wanted & BIT(DIRECTION)) {
        zs_act_direction(a, direction, sizeof(direction));
        ret_values[KEY_DIRECTION] = text_key(r, direction);
    }
    if (wanted & BIT(KIND))
        ret_values[KEY_KIND] = text_key(r, zs_act_kind_name(a->kind));
    if (wanted & BIT(DEVICE))
        ret_values[KEY_DEVICE] = text_key(r, a->device ? a->device->label : NULL);
    if (wanted & BIT(QUEUE))
        ret_values[KEY_QUEUE] = queue_key(r, e, false);
    if (wanted & BIT(ENGINE))
        ret_values[KEY_ENGINE] = queue_key(r, e, true);
    if (wanted & BIT(SHAPE))
        ret_values[KEY_SHAPE] = shape_key(r, a);
    ret_values[KEY_SIMD] = a->kernel ? a->kernel->simd : 0;
    ret_values[KEY_SIZE] = a->has_bytes ? a->bytes + 1 : 0; /* 0: not known */
    ret_values[KEY_LIST] = a->list;
    where_keys(r, wanted, a->where, ret_values);
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

static int add_to_tree(struct zs_report *r, const struct zs_act_execute *e)
{
    uint64_t values[KEYS] = {0};
    uint32_t key = table_of(e->append->kind) == ZS_REPORT_KERNELS  ? KEY_KERNEL
                   : table_of(e->append->kind) == ZS_REPORT_COPIES ? KEY_DIRECTION
                                                                   : KEY_KIND;
    execute_keys(r, e, 1u << key, values);
    const char *name = (const char *)(uintptr_t)values[key];
    return name ? zs_call_tree_add_of(&r->tree, ZS_TREE_DEVICE, e->append->where, name,
                                      zs_report_module_of(r, e->append->kernel),
                                      e->end_ns - e->start_ns)
                : -ENOMEM;
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
    if (r->wants_tree && add_to_tree(r, e))
        return -ENOMEM;
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
    where_keys(r, BIT(CALLER), o->where, ret_values);
}

static void count_object(struct zs_report *r, enum zs_report_table table, struct zs_group *g,
                         const struct zs_act_object *o)
{
    if (o->is_create) {
        g->count++;
        g->bytes += o->size_B;
        g->left_B += o->size_B;
        g->live_B += o->size_B;
        g->peak_B = ZS_MAX(g->peak_B, g->live_B);
        return;
    }
    g->frees += !o->is_implied;
    g->left_B -= ZS_MIN(o->size_B, g->left_B);
    g->live_B -= ZS_MIN(o->size_B, g->live_B);
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

/* The process has ended, and its memory went with it. */
static int on_ended(void *user, const struct zs_act_object *o)
{
    struct zs_report *r = user;
    uint64_t values[KEYS] = {0};
    int status = r->also && r->also->ended ? r->also->ended(r->also->user, o) : 0;
    if (status)
        return status;
    r->live_B -= ZS_MIN(o->size_B, r->live_B);
    if (!zs_filter_matches(&r->filter, zs_act_object_name(o->type)))
        return 0;
    object_keys(r, o, values);
    struct zs_group *memory = group_for(r, ZS_REPORT_MEMORY, values);
    struct zs_group *allocations = group_for(r, ZS_REPORT_ALLOCATIONS, values);
    if (!memory || !allocations)
        return -ENOMEM;
    memory->live_B -= ZS_MIN(o->size_B, memory->live_B);
    allocations->live_B -= ZS_MIN(o->size_B, allocations->live_B);
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
                                      zs_act_object_name(o->type),
                                      o->where});
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
        return add_item(r, ZS_REPORT_BUILDS,
                        (struct item){{b->time_ns, (uint32_t)b->process, b->tid, b->duration_ns},
                                      result,
                                      b->where});
    values[KEY_RESULT] = text_key(r, result);
    where_keys(r, BIT(CALLER), b->where, values);
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

static int on_mark(void *user, const struct zs_act_mark *m)
{
    struct zs_report *r = user;
    uint64_t values[KEYS] = {0};
    int status = r->also && r->also->mark ? r->also->mark(r->also->user, m) : 0;
    if (status || !zs_filter_matches(&r->filter, m->name))
        return status;
    values[KEY_MARK] = text_key(r, m->name);
    values[KEY_PROCESS] = m->process;
    values[KEY_THREAD] = m->tid;
    struct zs_group *g = group_for(r, ZS_REPORT_MARKS, values);
    if (!g)
        return -ENOMEM;
    g->count++;
    if (m->end_ns && m->end_ns != UINT64_MAX)
        add_time(r, ZS_REPORT_MARKS, g, m->end_ns - m->time_ns);
    return 0;
}

static int on_metric(void *user, uint64_t process, struct zs_span record, uint64_t time_ns)
{
    struct zs_report *r = user;
    r->has_metrics = true;
    return 0;
}

static int add_pauses(struct zs_report *r)
{
    int error = 0;
    for (size_t i = 0; i < r->activities.pauses.count && !error; i++) {
        const struct zs_act_pause *p = &r->activities.pauses.items[i];
        error = add_item(r, ZS_REPORT_PAUSES,
                         (struct item){{(uint32_t)p->process, p->start_ns, p->end_ns},
                                       zs_act_pause_reason_name(p->reason),
                                       0});
    }
    return error;
}

const struct zs_recordings *zs_report_recordings(const struct zs_report *r)
{
    return &r->recordings;
}

const struct zs_metrics *zs_report_metrics(const struct zs_report *r)
{
    return r->metrics;
}

struct zs_symbols *zs_report_symbols(const struct zs_report *r)
{
    return r->symbols;
}

const struct zs_call_tree *zs_report_call_tree(const struct zs_report *r)
{
    return r->wants_tree && r->activities.stacks.count ? &r->tree : NULL;
}

const struct zs_activities *zs_report_activities(const struct zs_report *r)
{
    return &r->activities;
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

/* What needs no recording; NULL: no memory. */
static struct zs_report *report_new(const struct zs_report_options *options, int *ret_error,
                                    struct zs_diag *diag)
{
    struct zs_report *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->wants_tree = options->call_tree;
    r->tree.arena = &r->arena;
    zs_arena_init(&r->arena, 0);
    zs_activities_init(&r->activities);
    for (int t = 0; t < ZS_REPORT_TABLES; t++)
        r->groups[t].arena = &r->arena;
    int error = zs_filter_compile(&r->filter, options->filters, options->filter_count, diag);
    error = error ? error : choose_keys(r, options, diag);
    error = error ? error : name_calls(r);
    *ret_error = error ? error : start_memory(r);
    return r;
}

int zs_report_check(const struct zs_report_options *options, struct zs_diag *diag)
{
    int error;
    struct zs_report *r = report_new(options, &error, diag);
    if (!r)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    error = error ? error : report_build_tables(r);
    error = error ? error : report_apply_view(r, options, diag);
    zs_report_free(r);
    return error;
}

int zs_report_load(const char *recording, const struct zs_report_options *options,
                   const struct zs_merge_sink *also, struct zs_report **ret_report,
                   struct zs_diag *diag)
{
    int error;
    struct zs_report *r = report_new(options, &error, diag);
    if (!r)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    const struct zs_merge_sink sink = {.user = r,
                                       .call = on_call,
                                       .append = also && also->append ? on_append : NULL,
                                       .execute = on_execute,
                                       .object = on_object,
                                       .ended = on_ended,
                                       .left = on_left,
                                       .build = on_build,
                                       .mark = on_mark,
                                       .metric = on_metric,
                                       .no_values = !also || also->no_values};
    r->also = also;
    error = error ? error : zs_recordings_open(recording, &r->recordings);
    if (!error && zs_symbols_open(recording, &r->symbols, NULL))
        r->symbols = NULL; /* then places are n/a */
    error = error ? error : zs_merge(recording, &sink, &r->activities, &r->totals, diag);
    if (!error && r->wants_tree && r->activities.stacks.count)
        error = zs_call_tree_make(&r->tree, &r->activities, r->symbols);
    error = error ? error : add_pauses(r);
    if (!error && r->has_metrics)
        error = zs_metrics_open_numbers(recording, &r->metrics, diag);
    error = error ? error : report_build_tables(r);
    error = error ? error : report_apply_view(r, options, diag);
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
    zs_call_tree_fini(&r->tree);
    zs_symbols_close(r->symbols);
    zs_recordings_close(&r->recordings);
    zs_metrics_close(r->metrics);
    zs_id_map_fini(&r->modules);
    free(r->callers);
    zs_activities_free(&r->activities);
    zs_arena_fini(&r->arena);
    free(r);
}
