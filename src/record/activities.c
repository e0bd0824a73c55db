/* SPDX-License-Identifier: MIT */
#include "record/activities.h"

#include "base/vec.h"
#include "record/traces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum object_type {
#define OBJECT(enumerator, name) OBJECT_##enumerator,
#include "record/act_objects.def"
#undef OBJECT
    OBJECT_TYPES
};

const char *zs_act_object_name(uint32_t type)
{
    static const char *const names[] = {
#define OBJECT(enumerator, name) name,
#include "record/act_objects.def"
#undef OBJECT
    };
    return type < ZS_ARRAY_LEN(names) ? names[type] : NULL;
}

const char *zs_act_kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define ACTIVITY(enumerator, number, name) [number] = name,
#include "record/activity.def"
#undef ACTIVITY
    };
    return kind < ZS_ARRAY_LEN(names) && names[kind] ? names[kind] : "unknown";
}

void zs_act_direction(const struct zs_act_append *append, char *ret_text, size_t size_B)
{
    static const char *const names[] = {"unknown", "system", "host", "device", "shared", "image"};
    const char *to = names[append->to < ZS_ARRAY_LEN(names) ? append->to : 0];
    if (append->kind == ZS_ACTIVITY_FILL)
        snprintf(ret_text, size_B, "fill-%s", to);
    else
        snprintf(ret_text, size_B, "%s-to-%s",
                 names[append->from < ZS_ARRAY_LEN(names) ? append->from : 0], to);
}

/* What calls create and destroy: the parameter that holds the handle. */
static const struct {
    const char *call;
    enum object_type type;
    const char *handle; /* out parameter; on destroy the object */
    bool is_create;
} object_calls[] = {
    {"zeMemAllocDevice", OBJECT_DEVICE_MEMORY, "pptr", true},
    {"zeMemAllocHost", OBJECT_HOST_MEMORY, "pptr", true},
    {"zeMemAllocShared", OBJECT_SHARED_MEMORY, "pptr", true},
    {"zeMemFree", OBJECT_DEVICE_MEMORY, "ptr", false},
    {"zeMemFreeExt", OBJECT_DEVICE_MEMORY, "ptr", false},
    {"zeContextCreate", OBJECT_CONTEXT, "phContext", true},
    {"zeContextCreateEx", OBJECT_CONTEXT, "phContext", true},
    {"zeContextDestroy", OBJECT_CONTEXT, "hContext", false},
    {"zeCommandQueueCreate", OBJECT_QUEUE, "phCommandQueue", true},
    {"zeCommandQueueDestroy", OBJECT_QUEUE, "hCommandQueue", false},
    {"zeCommandListCreate", OBJECT_LIST, "phCommandList", true},
    {"zeCommandListCreateImmediate", OBJECT_LIST, "phCommandList", true},
    {"zeCommandListDestroy", OBJECT_LIST, "hCommandList", false},
    {"zeEventPoolCreate", OBJECT_POOL, "phEventPool", true},
    {"zeEventPoolDestroy", OBJECT_POOL, "hEventPool", false},
    {"zeEventCreate", OBJECT_EVENT, "phEvent", true},
    {"zeEventDestroy", OBJECT_EVENT, "hEvent", false},
    {"zeFenceCreate", OBJECT_FENCE, "phFence", true},
    {"zeFenceDestroy", OBJECT_FENCE, "hFence", false},
    {"zeImageCreate", OBJECT_IMAGE, "phImage", true},
    {"zeImageDestroy", OBJECT_IMAGE, "hImage", false},
    {"zeSamplerCreate", OBJECT_SAMPLER, "phSampler", true},
    {"zeSamplerDestroy", OBJECT_SAMPLER, "hSampler", false},
    {"zeModuleCreate", OBJECT_MODULE, "phModule", true},
    {"zeModuleDestroy", OBJECT_MODULE, "hModule", false},
    {"zeKernelCreate", OBJECT_KERNEL, "phKernel", true},
    {"zeKernelDestroy", OBJECT_KERNEL, "hKernel", false},
};

struct loader {
    struct zs_activities *t;
    zs_activities_call_fn on_call;
    void *user;
    uint64_t process; /* of the file that is read */
    uint64_t number;  /* of the call that was given last */
    int *object_row;  /* by call index: row of object_calls + 1 */
    uint32_t call_count;
    int module_create;
    int error;
    size_t first_mark; /* of the file that is read */
    uint32_t depth;    /* of its ranges */
};

struct record {
    uint64_t fields[ZS_ACT_EARLIER + 1];
    uint32_t groups[3], size[3], group_count, size_count;
    struct zs_span name;
    bool has_bytes;
};

static bool parse(struct zs_span span, struct record *r)
{
    struct zs_reader reader = zs_reader_make(span, 0, NULL);
    struct zs_pb_field f;
    *r = (struct record){0};
    while (zs_pb_next(&reader, &f)) {
        if (f.number == ZS_ACT_NAME && f.is_bytes)
            r->name = f.bytes;
        else if (f.number == ZS_ACT_GROUPS && r->group_count < 3)
            r->groups[r->group_count++] = (uint32_t)f.value;
        else if (f.number == ZS_ACT_SIZE && r->size_count < 3)
            r->size[r->size_count++] = (uint32_t)f.value;
        else if (f.number < ZS_ARRAY_LEN(r->fields) && !f.is_bytes)
            r->fields[f.number] = f.value;
        r->has_bytes |= f.number == ZS_ACT_BYTES;
    }
    return !reader.error;
}

static bool add_append(struct loader *l, const struct zs_calls *calls, const struct record *r,
                       uint64_t time_ns)
{
    struct zs_act_append a = {
        .process = l->process,
        .id = r->fields[ZS_ACT_ID],
        .time_ns = time_ns,
        .list = r->fields[ZS_ACT_LIST],
        .kernel_id = r->fields[ZS_ACT_KERNEL_ID],
        .device_id = r->fields[ZS_ACT_DEVICE_ID],
        .bytes = r->fields[ZS_ACT_BYTES],
        .count = r->fields[ZS_ACT_COUNT],
        .call = r->fields[ZS_ACT_EARLIER] ? 0 : calls->begun,
        .track = calls->track,
        .tid = calls->tid,
        .kind = (uint32_t)ZS_MIN(r->fields[ZS_ACT_KIND], 255u),
        .from = (uint8_t)ZS_MIN(r->fields[ZS_ACT_FROM], 255u),
        .to = (uint8_t)ZS_MIN(r->fields[ZS_ACT_TO], 255u),
        .has_bytes = r->has_bytes,
    };
    memcpy(a.groups, r->groups, sizeof(a.groups));
    memcpy(a.size, r->size, sizeof(a.size));
    return ZS_VEC_PUSH(&l->t->appends, a);
}

static bool add_execute(struct loader *l, const struct record *r)
{
    uint64_t start_ns = r->fields[ZS_ACT_START_NS], end_ns = r->fields[ZS_ACT_END_NS];
    const struct zs_act_execute e = {
        .process = l->process,
        .id = r->fields[ZS_ACT_ID],
        .queue_id = r->fields[ZS_ACT_QUEUE_ID],
        .submit_ns = r->fields[ZS_ACT_SUBMIT_NS],
        .start_ns = end_ns >= start_ns ? start_ns : 0,
        .end_ns = end_ns >= start_ns ? end_ns : 0,
        .estimated = r->fields[ZS_ACT_ESTIMATED] != 0,
    };
    return ZS_VEC_PUSH(&l->t->executes, e);
}

static bool add_thing(struct loader *l, const struct record *r)
{
    struct zs_activities *t = l->t;
    uint64_t id = r->fields[ZS_ACT_ID];
    char *name = zs_arena_strndup(&t->arena, r->name.data, r->name.size_B);
    if (!name)
        return false;
    if (r->fields[ZS_ACT_TYPE] == ZS_ACT_DEVICE) {
        t->collected = true;
        return ZS_VEC_PUSH(&t->devices, ((struct zs_act_device){l->process, id, name,
                                                                r->fields[ZS_ACT_FREQUENCY_HZ]}));
    }
    if (r->fields[ZS_ACT_TYPE] == ZS_ACT_QUEUE)
        return ZS_VEC_PUSH(&t->queues,
                           ((struct zs_act_queue){.process = l->process,
                                                  .id = id,
                                                  .device_id = r->fields[ZS_ACT_DEVICE_ID],
                                                  .ordinal = (uint32_t)r->fields[ZS_ACT_ORDINAL],
                                                  .index = (uint32_t)r->fields[ZS_ACT_INDEX],
                                                  .immediate = r->fields[ZS_ACT_IMMEDIATE] != 0}));
    if (r->fields[ZS_ACT_TYPE] != ZS_ACT_KERNEL)
        return true; /* of a later version */
    return ZS_VEC_PUSH(
        &t->kernels, ((struct zs_act_kernel){l->process, id, name, r->fields[ZS_ACT_SIMD],
                                             r->fields[ZS_ACT_SPILL_B], r->fields[ZS_ACT_PRIVATE_B],
                                             r->fields[ZS_ACT_LOCAL_B]}));
}

const char *zs_act_pause_reason_name(uint32_t reason)
{
    static const char *const names[] = {"unknown", "start", "signal", "API", "kernel", "time"};
    return names[reason < ZS_ARRAY_LEN(names) ? reason : 0];
}

/* Joined later: until then end_reason and end_ns tell what the record was. */
static bool add_pause(struct loader *l, const struct record *r, uint64_t time_ns)
{
    struct zs_act_pause p = {.process = l->process,
                             .start_ns = time_ns,
                             .end_ns = r->fields[ZS_ACT_TYPE] == ZS_ACT_RESUME,
                             .reason = (uint32_t)ZS_MIN(r->fields[ZS_ACT_REASON], 255u)};
    return ZS_VEC_PUSH(&l->t->pauses, p);
}

static bool add_mark(struct loader *l, const struct zs_calls *calls, const struct record *r,
                     uint64_t time_ns)
{
    struct zs_activities *t = l->t;
    uint64_t type = r->fields[ZS_ACT_TYPE];
    if (type == ZS_ACT_RANGE_END) {
        for (size_t i = t->marks.count; i-- > l->first_mark;) {
            if (t->marks.items[i].end_ns != UINT64_MAX)
                continue;
            t->marks.items[i].end_ns = time_ns;
            l->depth--;
            break;
        }
        return true;
    }
    char *name = zs_arena_strndup(&t->arena, r->name.data, r->name.size_B);
    const struct zs_act_mark m = {.process = l->process,
                                  .time_ns = time_ns,
                                  .end_ns = type == ZS_ACT_RANGE ? UINT64_MAX : 0,
                                  .track = calls->track,
                                  .name = name,
                                  .tid = calls->tid,
                                  .depth = l->depth};
    l->depth += type == ZS_ACT_RANGE;
    return name && ZS_VEC_PUSH(&t->marks, m);
}

static bool add_note(struct loader *l, const struct zs_calls *calls, const struct record *r,
                     uint64_t time_ns)
{
    uint64_t type = r->fields[ZS_ACT_TYPE];
    if (type == ZS_ACT_PAUSE || type == ZS_ACT_RESUME)
        return add_pause(l, r, time_ns);
    if (type == ZS_ACT_MARK || type == ZS_ACT_RANGE || type == ZS_ACT_RANGE_END)
        return add_mark(l, calls, r, time_ns);
    return add_thing(l, r);
}

static void on_record(void *user, const struct zs_calls *calls, const struct zs_trace_event_in *e)
{
    struct loader *l = user;
    struct record r;
    if (!parse(e->record, &r))
        return;
    bool ok = r.fields[ZS_ACT_TYPE] == ZS_ACT_APPEND    ? add_append(l, calls, &r, e->time_ns)
              : r.fields[ZS_ACT_TYPE] == ZS_ACT_EXECUTE ? add_execute(l, &r)
                                                        : add_note(l, calls, &r, e->time_ns);
    if (!ok)
        l->error = -ENOMEM;
}

/* The value of a parameter, or of what it points to. */
static bool value_of(const struct zs_api_values *values, const char *name, uint64_t *ret)
{
    bool found = false;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct zs_api_value *v = &values->items[i];
        if (v->depth || !v->name || strcmp(v->name, name) != 0)
            continue;
        bool points = v->kind == ZS_API_KIND_HANDLE_PTR || v->kind == ZS_API_KIND_VALUE_PTR;
        if (points && !(v->elements && i + 1 < values->count))
            continue;
        *ret = points ? values->items[i + 1].bits : v->bits;
        found = true;
    }
    return found;
}

static int take_call(struct loader *l, const struct zs_calls *calls, const struct zs_call *call)
{
    struct zs_activities *t = l->t;
    l->number++;
    if (call->call < 0 || !call->finished || call->depth)
        return 0;
    if (call->call == l->module_create &&
        !ZS_VEC_PUSH(&t->builds,
                     ((struct zs_act_build){l->process, call->start_ns, call->duration_ns,
                                            calls->tid, call->result})))
        return -ENOMEM;
    int row = (uint32_t)call->call < l->call_count ? l->object_row[call->call] : 0;
    if (!row || call->result)
        return 0;
    struct zs_act_object o = {.process = l->process,
                              .call = l->number,
                              .tid = calls->tid,
                              .type = (uint8_t)object_calls[row - 1].type,
                              .is_create = object_calls[row - 1].is_create};
    /* it is there when create returns, and gone when destroy is entered */
    o.time_ns = call->start_ns + (o.is_create ? call->duration_ns : 0);
    if (!value_of(&calls->values, object_calls[row - 1].handle, &o.handle) || !o.handle)
        return 0;
    value_of(&calls->values, "size", &o.size_B);
    return ZS_VEC_PUSH(&t->objects, o) ? 0 : -ENOMEM;
}

static int load_file(struct loader *l, int fd)
{
    struct zs_calls *calls = malloc(sizeof(*calls));
    struct zs_call call;
    if (!calls)
        return -ENOMEM;
    int error = zs_calls_open_fd(calls, fd);
    calls->on_record = on_record;
    calls->record_user = l;
    l->number = 0;
    l->first_mark = l->t->marks.count;
    l->depth = 0;
    while (!error && zs_calls_next(calls, &call)) {
        error = take_call(l, calls, &call);
        if (!error && l->on_call)
            error = l->on_call(l->user, calls, &call);
        if (!error)
            error = l->error;
    }
    zs_calls_close(calls);
    free(calls);
    return error;
}

/* Any struct here starts with process and id. */
static int compare_ids(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

static int compare_executes(const void *a, const void *b)
{
    const struct zs_act_execute *x = a, *y = b;
    uint64_t s = x->end_ns ? x->start_ns : x->submit_ns, t = y->end_ns ? y->start_ns : y->submit_ns;
    return s < t ? -1 : s > t;
}

static int compare_objects(const void *a, const void *b)
{
    const struct zs_act_object *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static int compare_pauses(const void *a, const void *b)
{
    const struct zs_act_pause *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

#define SORT(vec, compare)                                                                         \
    ((vec).count ? qsort((vec).items, (vec).count, sizeof(*(vec).items), (compare)) : (void)0)
#define FIND(vec, process, id)                                                                     \
    ((vec).count ? bsearch((const uint64_t[]){(process), (id)}, (vec).items, (vec).count,          \
                           sizeof(*(vec).items), compare_ids)                                      \
                 : NULL)

/* Pauses and resumes in order become times without recording; what has no partner: until the end,
 * or nothing. */
static void join_pauses(struct zs_activities *t)
{
    size_t count = 0;
    bool open = false;
    SORT(t->pauses, compare_pauses);
    for (size_t i = 0; i < t->pauses.count; i++) {
        const struct zs_act_pause p = t->pauses.items[i];
        struct zs_act_pause *last = count ? &t->pauses.items[count - 1] : NULL;
        open = open && last && last->process == p.process;
        if (p.end_ns && open) {
            last->end_ns = p.start_ns;
            last->end_reason = p.reason;
        } else if (!p.end_ns && !open) {
            t->pauses.items[count++] = p;
        }
        open = !p.end_ns;
    }
    t->pauses.count = count;
}

static void join(struct zs_activities *t)
{
    SORT(t->devices, compare_ids);
    SORT(t->queues, compare_ids);
    SORT(t->kernels, compare_ids);
    SORT(t->appends, compare_ids);
    SORT(t->executes, compare_executes);
    SORT(t->objects, compare_objects);
    join_pauses(t);
    for (size_t i = 0; i < t->queues.count; i++) {
        struct zs_act_queue *q = &t->queues.items[i];
        q->device = FIND(t->devices, q->process, q->device_id);
    }
    for (size_t i = 0; i < t->appends.count; i++) {
        struct zs_act_append *a = &t->appends.items[i];
        a->kernel = FIND(t->kernels, a->process, a->kernel_id);
        a->device = FIND(t->devices, a->process, a->device_id);
    }
    for (size_t i = 0; i < t->executes.count; i++) {
        struct zs_act_execute *e = &t->executes.items[i];
        e->append = FIND(t->appends, e->process, e->id);
        e->queue = FIND(t->queues, e->process, e->queue_id);
        if (e->append)
            e->append->executions++;
    }
}

static int prepare(struct loader *l)
{
    l->call_count = zs_api_call_count();
    l->object_row = calloc(l->call_count, sizeof(*l->object_row));
    l->module_create = zs_api_call_find("zeModuleCreate");
    if (!l->object_row)
        return -ENOMEM;
    for (size_t i = 0; i < ZS_ARRAY_LEN(object_calls); i++) {
        int index = zs_api_call_find(object_calls[i].call);
        if (index >= 0)
            l->object_row[index] = (int)i + 1;
    }
    return 0;
}

int zs_activities_load(const char *recording, zs_activities_call_fn on_call, void *user,
                       struct zs_activities *ret_activities, struct zs_diag *diag)
{
    struct loader l = {.t = ret_activities, .on_call = on_call, .user = user};
    struct zs_traces traces;
    *ret_activities = (struct zs_activities){0};
    zs_arena_init(&ret_activities->arena, 0);
    int error = zs_traces_open(recording, &traces, diag);
    if (error) {
        zs_activities_free(ret_activities);
        return error;
    }
    error = prepare(&l);
    for (size_t i = 0; i < traces.count && !error; i++) {
        unsigned pid = 0, ordinal = 0;
        int fd = zs_traces_open_file(&traces, i, NULL);
        if (fd < 0)
            continue;
        if (sscanf(traces.names[i], "%u-%u-", &pid, &ordinal) != 2)
            ordinal = UINT32_MAX;
        l.process = (uint64_t)ordinal << 32 | pid;
        error = load_file(&l, fd);
        close(fd);
    }
    zs_traces_close(&traces);
    free(l.object_row);
    if (!error)
        join(ret_activities);
    else
        zs_activities_free(ret_activities);
    if (error == -ENOMEM && diag)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory");
    return error;
}

void zs_activities_free(struct zs_activities *t)
{
    zs_arena_fini(&t->arena);
    free(t->devices.items);
    free(t->queues.items);
    free(t->kernels.items);
    free(t->appends.items);
    free(t->executes.items);
    free(t->objects.items);
    free(t->builds.items);
    free(t->pauses.items);
    free(t->marks.items);
    *t = (struct zs_activities){0};
}
