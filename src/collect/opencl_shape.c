/* SPDX-License-Identifier: MIT */
/* What was enqueued: kernel, groups, bytes, where they lie. From the parameters of the call. */
#include "collect/opencl_priv.h"

#include "calls/describe.h"

#include <stdlib.h>

enum {
    SPILL_INTEL = 0x4109, /* CL_KERNEL_SPILL_MEM_SIZE_INTEL */
    ALLOC_TYPE_INTEL = 0x419a,
    ALLOC_HOST_INTEL = 0x4197,
    ALLOC_DEVICE_INTEL = 0x4198,
    ALLOC_SHARED_INTEL = 0x4199,
};

#define ARG(type, i) (*(type *)event->params[i])

static const struct {
    uint32_t call;
    enum zs_activity_kind kind;
    enum zs_activity_memory from, to;
} rows[] = {
#define ENQUEUE(call, kind, from, to)                                                              \
    {ZS_API_##call, ZS_ACTIVITY_##kind, ZS_MEMORY_##from, ZS_MEMORY_##to},
#include "collect/opencl_enqueues.def"
#undef ENQUEUE
};

void cl_enqueues_init(struct cl_enqueue enqueues[CL_CALLS])
{
    static const struct {
        const char *name;
        size_t offset_B;
    } names[] = {
        {"event", offsetof(struct cl_enqueue, event)},
        {"blocking_read", offsetof(struct cl_enqueue, blocking)},
        {"blocking_write", offsetof(struct cl_enqueue, blocking)},
        {"blocking_map", offsetof(struct cl_enqueue, blocking)},
        {"blocking_copy", offsetof(struct cl_enqueue, blocking)},
        {"blocking", offsetof(struct cl_enqueue, blocking)},
        {"size", offsetof(struct cl_enqueue, size)},
        {"region", offsetof(struct cl_enqueue, region)},
        {"image", offsetof(struct cl_enqueue, image)},
        {"src_image", offsetof(struct cl_enqueue, image)},
        {"dst_image", offsetof(struct cl_enqueue, image)},
        {"src_ptr", offsetof(struct cl_enqueue, source)},
        {"dst_ptr", offsetof(struct cl_enqueue, target)},
    };
    for (size_t r = 0; r < ZS_ARRAY_LEN(rows); r++) {
        struct cl_enqueue *e = &enqueues[rows[r].call - ZS_API_CL_FIRST];
        struct zs_api_param param;
        *e = (struct cl_enqueue){.kind = rows[r].kind, .from = rows[r].from, .to = rows[r].to};
        for (uint32_t i = 0; zs_api_call_param(rows[r].call, i, &param); i++)
            for (size_t n = 0; n < ZS_ARRAY_LEN(names); n++)
                if (!strcmp(param.name, names[n].name))
                    ((uint8_t *)e)[names[n].offset_B] = (uint8_t)(i + 1);
    }
}

/* ---- kernels ---- */

void cl_kernel_created(struct zs_cl *cl, cl_kernel kernel)
{
    pthread_mutex_lock(&cl->lock);
    for (uint32_t i = 0; i < cl->device_count; i++)
        free(zs_id_map_remove(&cl->kernels, (uintptr_t)kernel, (uintptr_t)cl->devices[i].handle));
    free(zs_id_map_remove(&cl->locals, (uintptr_t)kernel, 0));
    pthread_mutex_unlock(&cl->lock);
}

void cl_kernel_local(struct zs_cl *cl, cl_kernel kernel, cl_uint index, size_t size_B)
{
    if (index >= ACT_LOCALS)
        return;
    pthread_mutex_lock(&cl->lock);
    struct cl_locals *l = zs_id_map_get(&cl->locals, (uintptr_t)kernel, 0);
    if (!l && (l = calloc(1, sizeof(*l))) && zs_id_map_put(&cl->locals, (uintptr_t)kernel, 0, l)) {
        free(l);
        l = NULL;
    }
    if (l)
        l->bytes[index] = size_B;
    pthread_mutex_unlock(&cl->lock);
}

static void write_kernel(struct zs_cl *cl, struct zs_trace_file *file, cl_kernel kernel,
                         cl_device_id device, struct cl_kernel_entry *e)
{
    char name[1024] = "";
    cl_program program = NULL;
    size_t simd = 0;
    cl_ulong bytes = 0;
    ze_kernel_properties_t p = {0};
    cl->api.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name, NULL);
    CL_ASK(cl->api.clGetKernelInfo, kernel, CL_KERNEL_PROGRAM, &program);
#define ASK(what, ret)                                                                             \
    (!cl->api.clGetKernelWorkGroupInfo(kernel, device, (what), sizeof(*(ret)), (ret), NULL))
    if (ASK(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, &simd))
        p.maxSubgroupSize = (uint32_t)simd;
    if (ASK(CL_KERNEL_LOCAL_MEM_SIZE, &bytes))
        p.localMemSize = (uint32_t)bytes;
    if (ASK(CL_KERNEL_PRIVATE_MEM_SIZE, &bytes))
        p.privateMemSize = (uint32_t)bytes;
    if (ASK(SPILL_INTEL, &bytes))
        p.spillMemSize = (uint32_t)bytes;
    if (!ASK(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, &e->required))
        e->required[0] = 0;
#undef ASK
    e->is_left_out = !zs_launches_match(&cl->collector->launches, name);
    pthread_mutex_lock(&cl->lock);
    uint32_t build = cl_program_build(cl, program, device);
    pthread_mutex_unlock(&cl->lock);
    act_write_kernel(file, e->id, name[0] ? name : "(unknown kernel)", build, 0, false, &p);
}

/* NULL: no memory. Two threads that enqueue a new kernel at once write it twice. */
static struct cl_kernel_entry *kernel_get(struct zs_cl *cl, struct zs_trace_file *file,
                                          cl_kernel kernel, struct cl_device *device)
{
    struct zs_collect_guard guard;
    pthread_mutex_lock(&cl->lock);
    struct cl_kernel_entry *e =
        zs_id_map_get(&cl->kernels, (uintptr_t)kernel, (uintptr_t)device->handle);
    pthread_mutex_unlock(&cl->lock);
    if (e || !(e = calloc(1, sizeof(*e))))
        return e;
    e->id = act_ids_take(cl->activity, ACT_ID_KERNEL, 1);
    zs_guard_enter(&guard);
    write_kernel(cl, file, kernel, device->handle, e);
    zs_guard_leave(&guard);
    pthread_mutex_lock(&cl->lock);
    if (zs_id_map_put(&cl->kernels, (uintptr_t)kernel, (uintptr_t)device->handle, e)) {
        free(e);
        e = NULL;
    }
    pthread_mutex_unlock(&cl->lock);
    return e;
}

/* Where the application leaves the size to the driver: what the driver says that it takes. */
static const size_t *suggested(struct cl_queue *queue, cl_kernel kernel, cl_uint dims,
                               const size_t *offset, const size_t *global,
                               struct cl_kernel_entry *e)
{
    struct zs_collect_guard guard;
    if (e->required[0])
        return e->required;
    if (e->asked_dims == dims && !memcmp(e->asked, global, dims * sizeof(*global)))
        return e->answer;
    if (!queue->device->suggest_size)
        return NULL;
    size_t answer[3] = {1, 1, 1};
    zs_guard_enter(&guard);
    cl_int error = queue->device->suggest_size(queue->handle, kernel, dims, offset, global, answer);
    zs_guard_leave(&guard);
    if (error)
        return NULL;
    memcpy(e->asked, global, dims * sizeof(*global));
    memcpy(e->answer, answer, sizeof(answer));
    e->asked_dims = dims;
    return e->answer;
}

static void put_groups(const size_t *global, const size_t *local, cl_uint dims, struct act_shape *s)
{
    for (uint32_t i = 0; i < 3; i++) {
        size_t items = i < dims ? global[i] : 1, size = i < dims ? local[i] : 1;
        if (!size)
            return;
        s->size[i] = (uint32_t)size;
        s->groups[i] = (uint32_t)((items + size - 1) / size);
    }
    s->has_groups = true;
}

static void fill_kernel(struct zs_cl *cl, struct zs_trace_file *file,
                        const struct zs_trace_event *event, struct cl_queue *queue,
                        struct act_shape *s, bool *ret_is_left_out)
{
    static const size_t one[3] = {1, 1, 1};
    bool is_task = event->call == ZS_API_clEnqueueTask;
    cl_kernel kernel = ARG(cl_kernel, 1);
    cl_uint dims = is_task ? 1 : ARG(cl_uint, 2);
    const size_t *global = is_task ? one : ARG(const size_t *, 4);
    const size_t *local = is_task ? one : ARG(const size_t *, 5);
    struct cl_kernel_entry *e = kernel ? kernel_get(cl, file, kernel, queue->device) : NULL;
    if (!e)
        return;
    s->kernel = e->id;
    struct zs_launches *launches = &cl->collector->launches;
    *ret_is_left_out =
        launches->is_on && (e->is_left_out || !zs_launches_take(launches, ZS_LAUNCH_APPENDED));
    if (!global || !dims || dims > 3)
        return;
    if (!local)
        local = suggested(queue, kernel, dims, ARG(const size_t *, 3), global, e);
    if (local)
        put_groups(global, local, dims, s);
    pthread_mutex_lock(&cl->lock);
    const struct cl_locals *l = zs_id_map_get(&cl->locals, (uintptr_t)kernel, 0);
    for (size_t i = 0; l && i < ACT_LOCALS; i++)
        s->local_B += l->bytes[i];
    pthread_mutex_unlock(&cl->lock);
}

/* ---- copies ---- */

static enum zs_activity_memory memory_of(struct cl_queue *queue, const void *pointer)
{
    cl_uint type = 0;
    if (!queue->device->memory_info ||
        queue->device->memory_info(queue->context, pointer, ALLOC_TYPE_INTEL, sizeof(type), &type,
                                   NULL))
        return ZS_MEMORY_UNKNOWN;
    return type == ALLOC_HOST_INTEL     ? ZS_MEMORY_HOST
           : type == ALLOC_DEVICE_INTEL ? ZS_MEMORY_DEVICE
           : type == ALLOC_SHARED_INTEL ? ZS_MEMORY_SHARED
                                        : ZS_MEMORY_SYSTEM;
}

static void fill_bytes(struct zs_cl *cl, const struct zs_trace_event *event,
                       const struct cl_enqueue *e, struct cl_queue *queue, struct act_shape *s)
{
    s->from = e->from;
    s->to = e->to;
    if (e->size) {
        s->bytes = ARG(size_t, e->size - 1);
        s->has_bytes = true;
    }
    const size_t *region = e->region ? ARG(const size_t *, e->region - 1) : NULL;
    if (region) {
        size_t element_B = 1;
        if (e->image)
            CL_ASK(cl->api.clGetImageInfo, ARG(cl_mem, e->image - 1), CL_IMAGE_ELEMENT_SIZE,
                   &element_B);
        s->bytes = region[0] * region[1] * region[2] * element_B;
        s->has_bytes = true;
    }
    if (e->source && e->from == ZS_MEMORY_UNKNOWN)
        s->from = memory_of(queue, ARG(void *, e->source - 1));
    if (e->target && e->to == ZS_MEMORY_UNKNOWN)
        s->to = memory_of(queue, ARG(void *, e->target - 1));
}

void cl_shape_fill(struct zs_cl *cl, struct zs_trace_file *file, const struct zs_trace_event *event,
                   struct cl_queue *queue, struct act_shape *shape, bool *ret_is_left_out)
{
    const struct cl_enqueue *e = &cl->enqueues[event->call - ZS_API_CL_FIRST];
    *shape = (struct act_shape){.kind = e->kind};
    *ret_is_left_out = false;
    if (e->kind == ZS_ACTIVITY_KERNEL)
        fill_kernel(cl, file, event, queue, shape, ret_is_left_out);
    else
        fill_bytes(cl, event, e, queue, shape);
}
