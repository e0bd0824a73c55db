/* SPDX-License-Identifier: MIT */
#include "record/objects.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What calls create and destroy: the parameter that holds the handle. OpenCL's objects go with
 * their last reference of the application's. */
static const struct {
    const char *call;
    enum zs_act_object_type type;
    const char *handle; /* out parameter; on destroy the object */
    bool is_create;
} object_calls[] = {
    {"zeMemAllocDevice", ZS_ACT_OBJECT_DEVICE_MEMORY, "pptr", true},
    {"zeMemAllocHost", ZS_ACT_OBJECT_HOST_MEMORY, "pptr", true},
    {"zeMemAllocShared", ZS_ACT_OBJECT_SHARED_MEMORY, "pptr", true},
    {"zeMemFree", ZS_ACT_OBJECT_DEVICE_MEMORY, "ptr", false},
    {"zeMemFreeExt", ZS_ACT_OBJECT_DEVICE_MEMORY, "ptr", false},
    {"zeContextCreate", ZS_ACT_OBJECT_CONTEXT, "phContext", true},
    {"zeContextCreateEx", ZS_ACT_OBJECT_CONTEXT, "phContext", true},
    {"zeContextDestroy", ZS_ACT_OBJECT_CONTEXT, "hContext", false},
    {"zeCommandQueueCreate", ZS_ACT_OBJECT_QUEUE, "phCommandQueue", true},
    {"zeCommandQueueDestroy", ZS_ACT_OBJECT_QUEUE, "hCommandQueue", false},
    {"zeCommandListCreate", ZS_ACT_OBJECT_LIST, "phCommandList", true},
    {"zeCommandListCreateImmediate", ZS_ACT_OBJECT_LIST, "phCommandList", true},
    {"zeCommandListCreateCloneExp", ZS_ACT_OBJECT_LIST, "phClonedCommandList", true},
    {"zeCommandListDestroy", ZS_ACT_OBJECT_LIST, "hCommandList", false},
    {"zeEventPoolCreate", ZS_ACT_OBJECT_POOL, "phEventPool", true},
    {"zeEventPoolDestroy", ZS_ACT_OBJECT_POOL, "hEventPool", false},
    {"zeEventCreate", ZS_ACT_OBJECT_EVENT, "phEvent", true},
    {"zeEventCounterBasedCreate", ZS_ACT_OBJECT_EVENT, "phEvent", true},
    {"zeEventDestroy", ZS_ACT_OBJECT_EVENT, "hEvent", false},
    {"zeFenceCreate", ZS_ACT_OBJECT_FENCE, "phFence", true},
    {"zeFenceDestroy", ZS_ACT_OBJECT_FENCE, "hFence", false},
    {"zeImageCreate", ZS_ACT_OBJECT_IMAGE, "phImage", true},
    {"zeImageViewCreateExp", ZS_ACT_OBJECT_IMAGE, "phImageView", true},
    {"zeImageViewCreateExt", ZS_ACT_OBJECT_IMAGE, "phImageView", true},
    {"zeImageDestroy", ZS_ACT_OBJECT_IMAGE, "hImage", false},
    {"zeSamplerCreate", ZS_ACT_OBJECT_SAMPLER, "phSampler", true},
    {"zeSamplerDestroy", ZS_ACT_OBJECT_SAMPLER, "hSampler", false},
    {"zeModuleCreate", ZS_ACT_OBJECT_MODULE, "phModule", true},
    {"zeModuleDestroy", ZS_ACT_OBJECT_MODULE, "hModule", false},
    {"zeKernelCreate", ZS_ACT_OBJECT_KERNEL, "phKernel", true},
    {"zeKernelDestroy", ZS_ACT_OBJECT_KERNEL, "hKernel", false},
#define COUNTED(name, TYPE, handle)                                                                \
    {"clRetain" #name, ZS_ACT_OBJECT_##TYPE, handle, false},                                       \
    {                                                                                              \
        "clRelease" #name, ZS_ACT_OBJECT_##TYPE, handle, false                                     \
    }
    COUNTED(MemObject, DEVICE_MEMORY, "memobj"),
    COUNTED(Context, CONTEXT, "context"),
    COUNTED(CommandQueue, QUEUE, "command_queue"),
    COUNTED(Sampler, SAMPLER, "sampler"),
    COUNTED(Program, MODULE, "program"),
    COUNTED(Kernel, KERNEL, "kernel"),
#undef COUNTED
#define CREATED(name, TYPE)                                                                        \
    {                                                                                              \
        name, ZS_ACT_OBJECT_##TYPE, "returned", true                                               \
    }
    CREATED("clCreateBuffer", DEVICE_MEMORY),
    CREATED("clCreateBufferWithProperties", DEVICE_MEMORY),
    CREATED("clCreateBufferWithPropertiesINTEL", DEVICE_MEMORY),
    CREATED("clSVMAlloc", SHARED_MEMORY),
    CREATED("clHostMemAllocINTEL", HOST_MEMORY),
    CREATED("clDeviceMemAllocINTEL", DEVICE_MEMORY),
    CREATED("clSharedMemAllocINTEL", SHARED_MEMORY),
    CREATED("clCreateImage", IMAGE),
    CREATED("clCreateImage2D", IMAGE),
    CREATED("clCreateImage3D", IMAGE),
    CREATED("clCreateImageWithProperties", IMAGE),
    CREATED("clCreateContext", CONTEXT),
    CREATED("clCreateContextFromType", CONTEXT),
    CREATED("clCreateCommandQueue", QUEUE),
    CREATED("clCreateCommandQueueWithProperties", QUEUE),
    CREATED("clCreateSampler", SAMPLER),
    CREATED("clCreateSamplerWithProperties", SAMPLER),
    CREATED("clCreateProgramWithSource", MODULE),
    CREATED("clCreateProgramWithBinary", MODULE),
    CREATED("clCreateProgramWithIL", MODULE),
    CREATED("clLinkProgram", MODULE),
    CREATED("clCreateKernel", KERNEL),
#undef CREATED
    {"clSVMFree", ZS_ACT_OBJECT_SHARED_MEMORY, "svm_pointer", false},
    {"clMemFreeINTEL", ZS_ACT_OBJECT_DEVICE_MEMORY, "ptr", false},
    {"clMemBlockingFreeINTEL", ZS_ACT_OBJECT_DEVICE_MEMORY, "ptr", false},
};

int zs_objects_init(struct zs_objects *objects, zs_object_fn on_object, void *user)
{
    *objects = (struct zs_objects){
        .on_object = on_object, .user = user, .call_count = zs_api_call_count()};
    objects->rows = calloc(objects->call_count, sizeof(*objects->rows));
    if (!objects->rows)
        return -ENOMEM;
    for (size_t i = 0; i < ZS_ARRAY_LEN(object_calls); i++) {
        int index = zs_api_call_find(object_calls[i].call);
        if (index >= 0)
            objects->rows[index] = (int)i + 1;
    }
    return 0;
}

void zs_objects_fini(struct zs_objects *objects)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(objects->live); i++) {
        const struct zs_id_map *map = &objects->live[i];
        for (size_t k = 0; k < map->capacity; k++)
            free(map->slots[k].value);
        zs_id_map_fini(&objects->live[i]);
    }
    free(objects->rows);
    free(objects->coming);
    *objects = (struct zs_objects){0};
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

static struct zs_id_map *live_of(struct zs_objects *objects, const struct zs_act_object *o)
{
    return &objects->live[o->type < ZS_ACT_ALLOCATION_TYPES ? 0 : o->type];
}

static int give(struct zs_objects *objects, const struct zs_act_object *o)
{
    struct zs_id_map *live = live_of(objects, o);
    struct zs_act_object *old = zs_id_map_remove(live, o->process, o->handle);
    struct zs_act_object event = *o;
    int status = 0;
    if (old && o->is_create) {
        struct zs_act_object gone = *old;
        gone.created_ns = old->time_ns;
        gone.time_ns = o->time_ns;
        gone.is_create = false;
        gone.is_implied = true;
        status = objects->on_object(objects->user, &gone);
    } else if (old) {
        event.type = old->type;
        event.size_B = old->size_B;
        event.created_ns = old->time_ns;
        event.where = old->where;
    }
    if (!status && o->is_create) {
        struct zs_act_object *copy = old ? old : malloc(sizeof(*copy));
        old = NULL;
        if (!copy)
            return -ENOMEM;
        *copy = *o;
        status = zs_id_map_put(live, o->process, o->handle, copy);
        if (status)
            free(copy);
    }
    free(old);
    return status ? status : objects->on_object(objects->user, &event);
}

static void sift_down(struct zs_objects *objects)
{
    struct zs_act_object *heap = objects->coming;
    size_t i = 0;
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child < 2 * i + 3 && child < objects->coming_count; child++)
            if (heap[child].time_ns < heap[least].time_ns)
                least = child;
        if (least == i)
            return;
        struct zs_act_object swap = heap[i];
        heap[i] = heap[least];
        heap[least] = swap;
        i = least;
    }
}

static bool push(struct zs_objects *objects, struct zs_act_object o)
{
    struct {
        struct zs_act_object *items;
        size_t count, capacity;
    } v = {objects->coming, objects->coming_count, objects->coming_capacity};
    if (!ZS_VEC_PUSH(&v, o))
        return false;
    size_t i = v.count - 1;
    for (; i && v.items[(i - 1) / 2].time_ns > o.time_ns; i = (i - 1) / 2)
        v.items[i] = v.items[(i - 1) / 2];
    v.items[i] = o;
    objects->coming = v.items;
    objects->coming_count = v.count;
    objects->coming_capacity = v.capacity;
    return true;
}

/* Waits among what is coming: the end of a process. */
enum { PROCESS_ENDED = ZS_ACT_OBJECT_TYPES };

static int end_process(struct zs_objects *objects, uint64_t process)
{
    const struct zs_id_map *allocations = &objects->live[0];
    int status = 0;
    for (size_t i = 0; i < allocations->capacity && !status; i++)
        if (allocations->slots[i].value && allocations->slots[i].a == process)
            status = objects->on_ended(objects->user, allocations->slots[i].value);
    return status;
}

int zs_objects_process_ended(struct zs_objects *objects, uint64_t process, uint64_t time_ns)
{
    const struct zs_act_object end = {
        .process = process, .time_ns = time_ns, .type = PROCESS_ENDED};
    return !objects->on_ended || push(objects, end) ? 0 : -ENOMEM;
}

/* Objects whose create had returned by then are there. */
static int drain(struct zs_objects *objects, uint64_t until_ns)
{
    int status = 0;
    while (!status && objects->coming_count && objects->coming[0].time_ns <= until_ns) {
        struct zs_act_object o = objects->coming[0];
        objects->coming[0] = objects->coming[--objects->coming_count];
        sift_down(objects);
        status = o.type == PROCESS_ENDED ? end_process(objects, o.process) : give(objects, &o);
    }
    return status;
}

static bool is_counted(const char *call)
{
    return !strncmp(call, "clRe", 4); /* clRetain..., clRelease... */
}

/* One reference more or less. What was not seen to come (a sub-buffer) is left out. */
static int give_counted(struct zs_objects *objects, struct zs_act_object *o, bool is_retain)
{
    struct zs_act_object *old = zs_id_map_get(live_of(objects, o), o->process, o->handle);
    if (!old && o->type == ZS_ACT_OBJECT_DEVICE_MEMORY) { /* images go by the same call */
        o->type = ZS_ACT_OBJECT_IMAGE;
        old = zs_id_map_get(live_of(objects, o), o->process, o->handle);
    }
    if (!old)
        return 0;
    if (is_retain)
        old->references++;
    else if (!old->references)
        return give(objects, o);
    else
        old->references--;
    return 0;
}

int zs_objects_call(struct zs_objects *objects, const struct zs_calls *calls,
                    const struct zs_call *call, uint64_t process, uint64_t number)
{
    if (call->depth || !call->finished || call->result || !zs_objects_wants(objects, call))
        return 0;
    int row = objects->rows[call->call] - 1;
    struct zs_act_object o = {.process = process,
                              .call = number,
                              .tid = calls->tid,
                              .where = call->where,
                              .type = (uint8_t)object_calls[row].type,
                              .is_create = object_calls[row].is_create};
    /* it is there when create returns, and gone when destroy is entered */
    o.time_ns = call->start_ns + (o.is_create ? call->duration_ns : 0);
    if (!value_of(&calls->values, object_calls[row].handle, &o.handle) || !o.handle)
        return 0;
    value_of(&calls->values, "size", &o.size_B);
    if (o.is_create)
        return push(objects, o) ? 0 : -ENOMEM;
    int status = drain(objects, call->start_ns);
    if (status || !is_counted(object_calls[row].call))
        return status ? status : give(objects, &o);
    return give_counted(objects, &o, !strncmp(object_calls[row].call, "clRetain", 8));
}

int zs_objects_gone(struct zs_objects *objects, uint64_t process, uint64_t type, uint64_t handle,
                    uint64_t time_ns)
{
    struct zs_act_object o = {
        .process = process, .handle = handle, .time_ns = time_ns, .is_implied = true};
    if (type >= ZS_ACT_OBJECT_TYPES)
        return 0;
    o.type = (uint8_t)type;
    int status = drain(objects, time_ns);
    if (status || !zs_id_map_get(live_of(objects, &o), process, handle))
        return status;
    return give(objects, &o);
}

static int compare(const void *a, const void *b)
{
    const struct zs_act_object *x = *(struct zs_act_object *const *)a,
                               *y = *(struct zs_act_object *const *)b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

int zs_objects_end(struct zs_objects *objects, zs_object_fn on_left)
{
    int status = drain(objects, UINT64_MAX);
    size_t count = 0, at = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(objects->live); i++)
        count += objects->live[i].count;
    const struct zs_act_object **left = calloc(count + 1, sizeof(*left));
    if (!left)
        return status ? status : -ENOMEM;
    for (size_t i = 0; i < ZS_ARRAY_LEN(objects->live); i++)
        for (size_t k = 0; k < objects->live[i].capacity; k++)
            if (objects->live[i].slots[k].value)
                left[at++] = objects->live[i].slots[k].value;
    qsort(left, at, sizeof(*left), compare);
    for (size_t i = 0; i < at && !status && on_left; i++)
        status = on_left(objects->user, left[i]);
    free(left);
    return status;
}
