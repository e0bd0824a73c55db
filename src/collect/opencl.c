/* SPDX-License-Identifier: MIT */
/* OpenCL's calls: what is done on enter and exit of each. See opencl.h. */
#include "collect/opencl_priv.h"

#include "calls/codec.h"

#include "base/vec.h"
#include "collect/instrument.h"

#include <stdlib.h>

#define ARG(type, i) (*(type *)event->params[i])
/* What a call returned that creates something: its last parameter, see src/calls/api/opencl.def. */
#define RETURNED(type) (*ARG(type *, event->param_count - 1))

struct zs_cl *zs_cl_create(struct zs_collector *c, struct zs_activity *activity,
                           struct zs_trace_process *process)
{
    struct zs_cl *cl = calloc(1, sizeof(*cl));
    if (!cl)
        return NULL;
    cl->collector = c;
    cl->activity = activity;
    cl->process = process;
    pthread_mutex_init(&cl->lock, NULL);
    cl_enqueues_init(cl->enqueues);
    return cl;
}

void zs_cl_resolve(struct zs_cl *cl, void *(*next)(uint32_t call))
{
    if (atomic_load_explicit(&cl->is_resolved, memory_order_acquire))
        return;
    struct cl_api api;
#define API(name, result, params) api.name = (result(*) params)(uintptr_t)next(ZS_API_##name);
#include "collect/opencl_api.def"
#undef API
    pthread_mutex_lock(&cl->lock);
    cl->api = api;
    atomic_store_explicit(&cl->is_resolved, true, memory_order_release);
    pthread_mutex_unlock(&cl->lock);
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    zs_session_get(cl->collector); /* the process is described, whether it builds anything or not */
    zs_guard_leave(&guard);
}

/* ---- devices and queues ---- */

static void device_functions(struct zs_cl *cl, struct cl_device *device)
{
    cl_platform_id platform = NULL;
    if (!cl->api.clGetExtensionFunctionAddressForPlatform ||
        !CL_ASK(cl->api.clGetDeviceInfo, device->handle, CL_DEVICE_PLATFORM, &platform))
        return;
    void *suggest = cl->api.clGetExtensionFunctionAddressForPlatform(
        platform, "clGetKernelSuggestedLocalWorkSizeKHR");
    if (!suggest)
        suggest = cl->api.clGetExtensionFunctionAddressForPlatform(
            platform, "clGetKernelSuggestedLocalWorkSizeINTEL");
    void *memory =
        cl->api.clGetExtensionFunctionAddressForPlatform(platform, "clGetMemAllocInfoINTEL");
    memcpy(&device->suggest_size, &suggest, sizeof(suggest));
    memcpy(&device->memory_info, &memory, sizeof(memory));
}

static struct cl_device *device_get(struct zs_cl *cl, struct zs_trace_file *file,
                                    cl_device_id handle)
{
    char name[256] = "";
    struct cl_device *device = NULL;
    pthread_mutex_lock(&cl->lock);
    for (uint32_t i = 0; i < cl->device_count && !device; i++)
        if (cl->devices[i].handle == handle)
            device = &cl->devices[i];
    bool is_new = !device && cl->device_count < CL_DEVICES_MAX;
    if (is_new) {
        device = &cl->devices[cl->device_count++];
        device->handle = handle;
        device->id = act_ids_take(cl->activity, ACT_ID_DEVICE, 1);
    }
    pthread_mutex_unlock(&cl->lock);
    if (!is_new)
        return device;
    device_functions(cl, device);
    cl->api.clGetDeviceInfo(handle, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
    act_write_device(file, device->id, name, 1000000000, 0, 0, ZS_ACT_API_OPENCL);
    return device;
}

/* A queue that is new, or was not seen as it was made. NULL: it is not followed. */
static struct cl_queue *queue_add(struct zs_cl *cl, struct zs_trace_file *file,
                                  cl_command_queue handle)
{
    struct zs_collect_guard guard;
    cl_device_id device = NULL;
    cl_command_queue_properties properties = 0;
    struct cl_queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    zs_guard_enter(&guard);
    CL_ASK(cl->api.clGetCommandQueueInfo, handle, CL_QUEUE_DEVICE, &device);
    CL_ASK(cl->api.clGetCommandQueueInfo, handle, CL_QUEUE_CONTEXT, &queue->context);
    CL_ASK(cl->api.clGetCommandQueueInfo, handle, CL_QUEUE_PROPERTIES, &properties);
    queue->device = device ? device_get(cl, file, device) : NULL;
    zs_guard_leave(&guard);
    if (!queue->device) {
        free(queue);
        return NULL;
    }
    queue->handle = handle;
    queue->has_profiling = properties & CL_QUEUE_PROFILING_ENABLE;
    queue->id = act_ids_take(cl->activity, ACT_ID_QUEUE, 1);
    struct act_device list_device = {.id = queue->device->id};
    queue->list.handle = (ze_command_list_handle_t)handle;
    queue->list.device = &list_device;
    act_write_prefix(&queue->list);
    queue->list.device = NULL;
    act_write_cl_queue(file, cl->process, queue->id, queue->device->id);
    pthread_mutex_lock(&cl->lock);
    struct {
        struct cl_queue **items;
        size_t count, capacity;
    } all = {cl->all, cl->queue_count, cl->queue_capacity};
    bool kept = ZS_VEC_PUSH(&all, queue);
    if (kept) {
        cl->all = all.items;
        cl->queue_count = all.count;
        cl->queue_capacity = all.capacity;
        zs_id_map_put(&cl->queues, (uintptr_t)handle, 0, queue);
    }
    pthread_mutex_unlock(&cl->lock);
    if (!kept)
        free(queue);
    return kept ? queue : NULL;
}

static struct cl_queue *queue_find(struct zs_cl *cl, cl_command_queue handle)
{
    pthread_mutex_lock(&cl->lock);
    struct cl_queue *queue = zs_id_map_get(&cl->queues, (uintptr_t)handle, 0);
    pthread_mutex_unlock(&cl->lock);
    return queue;
}

static void replace(const struct zs_trace_event *event, struct zs_cl_call *call, uint32_t param,
                    const void *value)
{
    call->restore = param + 1;
    call->replaced = ARG(void *, param);
    memcpy(event->params[param], &value, sizeof(value));
}

/* The application's list of properties, with profiling. */
static void add_profiling(const struct zs_trace_event *event, struct zs_cl_call *call)
{
    enum { PAIRS_MAX = ZS_ARRAY_LEN(call->properties) / 2 - 1 };
    const cl_queue_properties *given = ARG(const cl_queue_properties *, 2);
    cl_queue_properties *own = call->properties;
    size_t at = 0;
    bool is_there = false;
    for (; given && given[2 * at]; at++) {
        if (at == PAIRS_MAX)
            return;
        own[2 * at] = given[2 * at];
        own[2 * at + 1] = given[2 * at + 1];
        if (given[2 * at] != CL_QUEUE_PROPERTIES)
            continue;
        if (own[2 * at + 1] & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE))
            return;
        own[2 * at + 1] |= CL_QUEUE_PROFILING_ENABLE;
        is_there = true;
    }
    if (!is_there) {
        own[2 * at] = CL_QUEUE_PROPERTIES;
        own[2 * at++ + 1] = CL_QUEUE_PROFILING_ENABLE;
    }
    own[2 * at] = 0;
    replace(event, call, 2, own);
}

static void queue_create_enter(struct zs_cl *cl, struct zs_trace_file *file,
                               const struct zs_trace_event *event, struct zs_cl_call *call)
{
    if (event->call != ZS_API_clCreateCommandQueue) {
        add_profiling(event, call);
        return;
    }
    uint64_t properties = ARG(cl_command_queue_properties, 2);
    if (!(properties & CL_QUEUE_PROFILING_ENABLE))
        replace(event, call, 2, (void *)(uintptr_t)(properties | CL_QUEUE_PROFILING_ENABLE));
}

/* The driver did not take it: as the application said, then. */
static void create_again(struct zs_cl *cl, const struct zs_trace_event *event)
{
    cl_int error = CL_SUCCESS;
    cl_context context = ARG(cl_context, 0);
    cl_device_id device = ARG(cl_device_id, 1);
    cl_command_queue queue = NULL;
    if (event->call == ZS_API_clCreateCommandQueue)
        queue = cl->api.clCreateCommandQueue(context, device, ARG(cl_command_queue_properties, 2),
                                             &error);
    else if (event->call == ZS_API_clCreateCommandQueueWithProperties)
        queue = cl->api.clCreateCommandQueueWithProperties(
            context, device, ARG(const cl_queue_properties *, 2), &error);
    else
        return;
    RETURNED(cl_command_queue) = queue;
    *event->result = error;
}

static void queue_create_exit(struct zs_cl *cl, struct zs_trace_file *file,
                              const struct zs_trace_event *event, struct zs_cl_call *call)
{
    bool was_added = call->restore;
    if (was_added && *event->result) {
        memcpy(event->params[2], &call->replaced, sizeof(call->replaced));
        call->restore = 0;
        create_again(cl, event);
        was_added = false;
    }
    struct cl_queue *queue =
        *event->result ? NULL : queue_add(cl, file, RETURNED(cl_command_queue));
    if (queue)
        queue->hides_profiling = was_added;
}

/* What we added to a queue is not what the application asked for. */
static void queue_info_exit(struct zs_cl *cl, struct zs_trace_file *file,
                            const struct zs_trace_event *event, struct zs_cl_call *call)
{
    cl_command_queue_properties *value = ARG(void *, 3);
    struct cl_queue *queue = queue_find(cl, ARG(cl_command_queue, 0));
    if (!*event->result && ARG(cl_uint, 1) == CL_QUEUE_PROPERTIES && value && queue &&
        queue->hides_profiling)
        *value &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
}

/* ---- enqueues ---- */

static void enqueue_enter(struct zs_cl *cl, struct zs_trace_file *file,
                          const struct zs_trace_event *event, struct zs_cl_call *call)
{
    const struct cl_enqueue *e = &cl->enqueues[event->call - ZS_API_CL_FIRST];
    cl_command_queue handle = ARG(cl_command_queue, 0);
    bool is_left_out;
    if (!handle)
        return;
    call->queue = queue_find(cl, handle);
    if (!call->queue)
        call->queue = queue_add(cl, file, handle);
    if (!call->queue)
        return;
    cl_shape_fill(cl, file, event, call->queue, &call->shape, &is_left_out);
    if (is_left_out) {
        call->queue = NULL;
        return;
    }
    if (e->event && !ARG(cl_event *, e->event - 1)) {
        call->event = NULL;
        replace(event, call, e->event - 1u, &call->event);
    }
    call->enter_ns = zs_trace_file_now_ns(file);
}

static uint64_t next_id(struct zs_cl *cl)
{
    pthread_mutex_lock(&cl->lock);
    if (cl->next_id == cl->ids_end) {
        cl->next_id = act_ids_take(cl->activity, ACT_ID_APPEND, CL_IDS);
        cl->ids_end = cl->next_id + CL_IDS;
    }
    uint64_t id = cl->next_id++;
    pthread_mutex_unlock(&cl->lock);
    return id;
}

static void enqueue_exit(struct zs_cl *cl, struct zs_trace_file *file,
                         const struct zs_trace_event *event, struct zs_cl_call *call,
                         uint64_t now_ns)
{
    const struct cl_enqueue *e = &cl->enqueues[event->call - ZS_API_CL_FIRST];
    if (!call->queue || *event->result)
        return;
    cl_event *at = e->event ? ARG(cl_event *, e->event - 1) : NULL;
    struct cl_pending pending = {at ? *at : NULL, next_id(cl), call->enter_ns, now_ns};
    if (pending.event && !call->restore && cl->api.clRetainEvent(pending.event))
        pending.event = NULL; /* the application's: it may go before we have asked it */
    act_write_append(file, pending.id, &call->queue->list, &call->shape, now_ns, false);
    if (pending.event) {
        cl_pend(cl, file, call->queue, &pending);
    } else {
        const struct act_cl_times times = {.submit_ns = call->enter_ns};
        act_write_cl_execute(file, pending.id, call->queue->id, &times);
    }
    if (e->blocking && ARG(cl_bool, e->blocking - 1))
        cl_harvest(cl, file, call->queue);
}

/* ---- the others ---- */

static void finish_exit(struct zs_cl *cl, struct zs_trace_file *file,
                        const struct zs_trace_event *event, struct zs_cl_call *call)
{
    struct cl_queue *queue = queue_find(cl, ARG(cl_command_queue, 0));
    if (queue)
        cl_harvest(cl, file, queue);
}

static void wait_exit(struct zs_cl *cl, struct zs_trace_file *file,
                      const struct zs_trace_event *event, struct zs_cl_call *call)
{
    cl_harvest_all(cl, file);
}

static void program_created(struct zs_cl *cl, struct zs_trace_file *file,
                            const struct zs_trace_event *event, struct zs_cl_call *call)
{
    if (!*event->result)
        cl_program_created(cl, RETURNED(cl_program));
}

/* Kernels of a program that a tool rewrote are those of what it made of it. */
static void kernel_enter(struct zs_cl *cl, struct zs_trace_file *file,
                         const struct zs_trace_event *event, struct zs_cl_call *call)
{
    cl_program other = cl_program_instrumented(cl, ARG(cl_program, 0));
    if (other)
        replace(event, call, 0, other);
}

static void kernel_is_there(struct zs_cl *cl, const struct zs_cl_call *call, cl_kernel kernel)
{
    struct zs_collect_guard guard;
    cl_kernel_created(cl, kernel);
    if (!call->restore)
        return;
    zs_guard_enter(&guard);
    cl_instrument_kernel(cl, kernel);
    zs_guard_leave(&guard);
}

static void kernel_reaches(struct zs_cl *cl, struct zs_trace_file *file,
                           const struct zs_trace_event *event, struct zs_cl_call *call)
{
    struct zs_collect_guard guard;
    if (*event->result)
        return;
    zs_guard_enter(&guard);
    cl_instrument_kernel_reaches(cl, ARG(cl_kernel, 0), ARG(cl_uint, 1), ARG(size_t, 2),
                                 ARG(const void *, 3));
    zs_guard_leave(&guard);
}

static void kernel_created(struct zs_cl *cl, struct zs_trace_file *file,
                           const struct zs_trace_event *event, struct zs_cl_call *call)
{
    if (!*event->result)
        kernel_is_there(cl, call, RETURNED(cl_kernel));
}

static void kernel_info_exit(struct zs_cl *cl, struct zs_trace_file *file,
                             const struct zs_trace_event *event, struct zs_cl_call *call)
{
    cl_program *value = ARG(cl_program *, 3);
    if (!*event->result && ARG(cl_uint, 1) == CL_KERNEL_PROGRAM && value)
        *value = cl_program_original(cl, *value);
}

static void kernels_created(struct zs_cl *cl, struct zs_trace_file *file,
                            const struct zs_trace_event *event, struct zs_cl_call *call)
{
    const cl_kernel *kernels = ARG(const cl_kernel *, 2);
    cl_uint room = ARG(cl_uint, 1);
    const cl_uint *count = ARG(const cl_uint *, 3);
    for (cl_uint i = 0; !*event->result && kernels && count && i < ZS_MIN(room, *count); i++)
        kernel_is_there(cl, call, kernels[i]);
}

static void argument_set(struct zs_cl *cl, struct zs_trace_file *file,
                         const struct zs_trace_event *event, struct zs_cl_call *call)
{
    if (!*event->result && !ARG(const void *, 3) && ARG(size_t, 2) != sizeof(cl_mem))
        cl_kernel_local(cl, ARG(cl_kernel, 0), ARG(cl_uint, 1), ARG(size_t, 2));
}

/* Where the size stands among the parameters, by call; 0: none. */
static const uint8_t sizes[CL_CALLS] = {
#define SIZE(call) [ZS_API_##call - ZS_API_CL_FIRST]
    SIZE(clCreateBuffer) = 2,
    SIZE(clCreateBufferWithProperties) = 3,
    SIZE(clSVMAlloc) = 2,
    SIZE(clHostMemAllocINTEL) = 2,
    SIZE(clDeviceMemAllocINTEL) = 3,
    SIZE(clSharedMemAllocINTEL) = 3,
#undef SIZE
};

static bool is_buffer(uint32_t call)
{
    return call == ZS_API_clCreateBuffer || call == ZS_API_clCreateBufferWithProperties;
}

static const char *const read_only_names[2] = {
    "clCreateBuffer" ZESCOPE_MEMORY_READ_ONLY,
    "clCreateBufferWithProperties" ZESCOPE_MEMORY_READ_ONLY,
};

static void memory_enter(struct zs_cl *cl, struct zs_trace_file *file,
                         const struct zs_trace_event *event, struct zs_cl_call *call)
{
    uint32_t size = sizes[event->call - ZS_API_CL_FIRST];
    cl_mem_flags flags = is_buffer(event->call) ? ARG(cl_mem_flags, size - 1) : 0;
    const char *name = read_only_names[event->call == ZS_API_clCreateBufferWithProperties];
    name = flags & CL_MEM_READ_ONLY ? name : zs_api_call_name(event->call);
    if (!(flags & CL_MEM_USE_HOST_PTR))
        zs_below_makes(&cl->collector->below, name, ARG(size_t, size));
}

static void memory_exit(struct zs_cl *cl, struct zs_trace_file *file,
                        const struct zs_trace_event *event, struct zs_cl_call *call)
{
    bool has_address = !*event->result && !is_buffer(event->call);
    zs_below_made(&cl->collector->below, has_address ? RETURNED(void *) : NULL);
}

static void memory_free(struct zs_cl *cl, struct zs_trace_file *file,
                        const struct zs_trace_event *event, struct zs_cl_call *call)
{
    replace(event, call, 1, zs_below_frees(&cl->collector->below, ARG(void *, 0), ARG(void *, 1)));
}

static void build_enter(struct zs_cl *cl, struct zs_trace_file *file,
                        const struct zs_trace_event *event, struct zs_cl_call *call)
{
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    cl_build_enter(cl, event, call);
    zs_guard_leave(&guard);
}

static void build_exit(struct zs_cl *cl, struct zs_trace_file *file,
                       const struct zs_trace_event *event, struct zs_cl_call *call)
{
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    cl_build_exit(cl, event, call);
    zs_guard_leave(&guard);
}

typedef void (*cl_hook_fn)(struct zs_cl *cl, struct zs_trace_file *file,
                           const struct zs_trace_event *event, struct zs_cl_call *call);

/* is_build: followed without activities, too. */
static const struct {
    cl_hook_fn enter, exit;
    bool is_build;
} hooks[CL_CALLS] = {
#define HOOK(call) [ZS_API_##call - ZS_API_CL_FIRST]
    HOOK(clCreateCommandQueue) = {queue_create_enter, queue_create_exit, false},
    HOOK(clCreateCommandQueueWithProperties) = {queue_create_enter, queue_create_exit, false},
    HOOK(clCreateCommandQueueWithPropertiesKHR) = {NULL, queue_create_exit, false},
    HOOK(clGetCommandQueueInfo) = {NULL, queue_info_exit, false},
    HOOK(clReleaseCommandQueue) = {finish_exit, NULL, false},
    HOOK(clFinish) = {NULL, finish_exit, false},
    HOOK(clWaitForEvents) = {NULL, wait_exit, false},
    HOOK(clReleaseContext) = {wait_exit, NULL, false},
    HOOK(clCreateKernel) = {kernel_enter, kernel_created, true},
    HOOK(clCloneKernel) = {NULL, kernel_created, false},
    HOOK(clCreateKernelsInProgram) = {kernel_enter, kernels_created, true},
    HOOK(clGetKernelInfo) = {NULL, kernel_info_exit, true},
    HOOK(clSetKernelExecInfo) = {NULL, kernel_reaches, true},
    HOOK(clSetKernelArg) = {NULL, argument_set, false},
    HOOK(clCreateProgramWithSource) = {NULL, program_created, true},
    HOOK(clCreateProgramWithBinary) = {NULL, program_created, true},
    HOOK(clCreateProgramWithBuiltInKernels) = {NULL, program_created, true},
    HOOK(clCreateProgramWithIL) = {NULL, program_created, true},
    HOOK(clCreateProgramWithILKHR) = {NULL, program_created, true},
    HOOK(clCreateBuffer) = {memory_enter, memory_exit, true},
    HOOK(clCreateBufferWithProperties) = {memory_enter, memory_exit, true},
    HOOK(clSVMAlloc) = {memory_enter, memory_exit, true},
    HOOK(clHostMemAllocINTEL) = {memory_enter, memory_exit, true},
    HOOK(clDeviceMemAllocINTEL) = {memory_enter, memory_exit, true},
    HOOK(clSharedMemAllocINTEL) = {memory_enter, memory_exit, true},
    HOOK(clSVMFree) = {memory_free, NULL, true},
    HOOK(clMemFreeINTEL) = {memory_free, NULL, true},
    HOOK(clMemBlockingFreeINTEL) = {memory_free, NULL, true},
    HOOK(clBuildProgram) = {build_enter, build_exit, true},
    HOOK(clCompileProgram) = {build_enter, build_exit, true},
    HOOK(clLinkProgram) = {build_enter, build_exit, true},
#undef HOOK
};

static bool is_enqueue(const struct zs_cl *cl, uint32_t call)
{
    return cl->activity && cl->enqueues[call - ZS_API_CL_FIRST].kind;
}

/* What instrumented kernels found out is kept, so that little is lost with a process that is
 * killed. */
static void have_waited(const struct zs_cl *cl, const struct zs_trace_event *event)
{
    struct zs_collect_guard guard;
    if ((event->call != ZS_API_clFinish && event->call != ZS_API_clWaitForEvents) ||
        *event->result || !zs_instrument_is_due(cl->collector))
        return;
    zs_guard_enter(&guard);
    zs_instrument_synchronized(cl->collector);
    zs_guard_leave(&guard);
}

bool zs_cl_hooks(uint32_t call)
{
    return hooks[call - ZS_API_CL_FIRST].enter || hooks[call - ZS_API_CL_FIRST].exit;
}

void zs_cl_enter(struct zs_cl *cl, struct zs_trace_file *file, const struct zs_trace_event *event,
                 struct zs_cl_call *call, bool muted)
{
    uint32_t at = event->call - ZS_API_CL_FIRST;
    call->restore = 0;
    call->queue = NULL;
    call->build = NULL;
    if (is_enqueue(cl, event->call) && !muted)
        enqueue_enter(cl, file, event, call);
    else if (hooks[at].enter && (cl->activity || hooks[at].is_build))
        hooks[at].enter(cl, file, event, call);
}

void zs_cl_exit(struct zs_cl *cl, struct zs_trace_file *file, const struct zs_trace_event *event,
                struct zs_cl_call *call, uint64_t now_ns)
{
    uint32_t at = event->call - ZS_API_CL_FIRST;
    if (call->queue)
        enqueue_exit(cl, file, event, call, now_ns);
    else if (hooks[at].exit && (cl->activity || hooks[at].is_build))
        hooks[at].exit(cl, file, event, call);
    have_waited(cl, event);
    if (call->restore)
        memcpy(event->params[call->restore - 1], &call->replaced, sizeof(call->replaced));
}

void zs_cl_end(struct zs_cl *cl, struct zs_trace_file *file)
{
    if (!cl->activity || !atomic_load(&cl->is_resolved))
        return;
    cl_harvest_all(cl, file);
    for (size_t i = 0; i < cl->queue_count; i++) {
        struct cl_queue *queue = cl->all[i];
        pthread_mutex_lock(&cl->lock);
        size_t count = queue->is_harvesting ? 0 : queue->pending.count;
        for (size_t k = 0; k < count; k++) {
            const struct act_cl_times times = {.submit_ns = queue->pending.items[k].enter_ns};
            act_write_cl_execute(file, queue->pending.items[k].id, queue->id, &times);
        }
        queue->pending.count -= count;
        pthread_mutex_unlock(&cl->lock);
    }
}
