/* SPDX-License-Identifier: MIT */
/* Activity seen from the calls: what is done on enter and exit of each. See activity.h. */
#include "collect/activity_metrics.h"
#include "collect/activity_shape.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { END_WAIT_NS = 100000000, METRIC_MISSES = 16 };

#define ARG(type, i)    (*(type *)event->params[i])
#define RESULT(type, i) (*ARG(type *, i)) /* what an out parameter points to */

static void replace(const struct zs_trace_event *event, struct zs_activity_call *call,
                    uint32_t param, const void *value)
{
    call->restore = param + 1;
    call->replaced = ARG(void *, param);
    memcpy(event->params[param], &value, sizeof(value));
}

/* --- appends --- */

static void append_started(struct zs_activity_call *call, struct act_list *list,
                           const struct act_append_call *what)
{
    call->id = call->append->id;
    call->list = list;
    call->shape = (struct act_shape){.kind = what->kind};
}

/* An append to a list that is being built, with all that it needs at hand. */
static bool append_at_hand(struct zs_activity *a, const struct zs_activity_thread *self,
                           const struct zs_trace_event *event, struct zs_activity_call *call)
{
    const struct act_append_call *what = act_append_call_of(event->call);
    enum act_shape_need need = act_shape_need(what);
    ze_command_list_handle_t handle = ARG(ze_command_list_handle_t, 0);
    struct act_list *list = self->list;
    if (call->muted || !list || self->list_handle != handle || need == ACT_SHAPE_TABLES ||
        ARG(ze_event_handle_t, what->signal) ||
        (need == ACT_SHAPE_KERNEL &&
         (self->kernel_handle != ARG(ze_kernel_handle_t, 1) || a->collector->launches.is_on ||
          act_meter_queries(a->meter))) ||
        self->generation != atomic_load_explicit(&a->generation, memory_order_acquire))
        return false;
    act_list_hold(list);
    if (list->handle == handle && !list->is_capturing && !list->next_command)
        call->append = act_append_supplied(list);
    act_list_release(list);
    if (!call->append)
        return false;
    replace(event, call, what->signal, call->append->event->handle);
    append_started(call, list, what);
    if (need == ACT_SHAPE_KERNEL)
        act_shape_launch(self->kernel, ARG(const ze_group_count_t *, 2), &call->shape);
    else
        what->fill(a, event, list->context, &call->shape);
    return true;
}

/* For the next append of the thread, which is likely to be to the same list. */
static void remember(struct zs_activity *a, const struct zs_trace_event *event,
                     struct act_list *list, const struct act_append_call *what)
{
    struct zs_activity_thread *self = a->self;
    uint64_t generation = atomic_load(&a->generation);
    if (self->generation != generation)
        *self = (struct zs_activity_thread){.file = self->file, .generation = generation};
    self->list_handle = list->handle;
    self->list = list;
    if (act_shape_need(what) == ACT_SHAPE_KERNEL) {
        self->kernel_handle = ARG(ze_kernel_handle_t, 1);
        self->kernel = act_find(a, ACT_KERNEL, self->kernel_handle);
    }
}

static struct act_append *append_to(struct zs_activity *a, struct act_list *list,
                                    struct act_event *event)
{
    act_list_hold(list);
    struct act_append *append = act_append_new(a, list, event);
    act_list_supply(a, list);
    act_list_release(list);
    return append;
}

/* Of several kernels the first stands for all. */
static bool is_left_out(struct zs_activity *a, const struct zs_trace_event *event,
                        const struct act_append_call *what)
{
    struct zs_launches *launches = &a->collector->launches;
    if (ZS_LIKELY(!launches->is_on) || what->kind != ZS_ACTIVITY_KERNEL)
        return false;
    bool many = event->call == ZS_API_zeCommandListAppendLaunchMultipleKernelsIndirect;
    const ze_kernel_handle_t *handles =
        many ? ARG(ze_kernel_handle_t *, 2) : &ARG(ze_kernel_handle_t, 1);
    const struct act_kernel *kernel = handles ? act_kernel_get(a, *handles) : NULL;
    return kernel && (kernel->is_left_out || !zs_launches_take(launches, ZS_LAUNCH_APPENDED));
}

/* Here, and not on exit: on an immediate list it may be over, and its event reset by another
 * thread, before the call has returned. */
static void append_enter(struct zs_activity *a, const struct zs_trace_event *event,
                         struct zs_activity_call *call)
{
    const struct act_append_call *what = act_append_call_of(event->call);
    struct act_list *list = act_find(a, ACT_LIST, ARG(ze_command_list_handle_t, 0));
    ze_event_handle_t given = ARG(ze_event_handle_t, what->signal);
    if (!list || list->is_capturing)
        return;
    if ((call->muted && list->immediate) || is_left_out(a, event, what)) {
        struct act_event *e = given ? act_find(a, ACT_EVENT, given) : NULL;
        if (e) {
            act_event_ends(a, e); /* it will tell of what is not recorded */
            e->appended = NULL;
        }
        return;
    }
    size_t waiting = list->count - list->first;
    if (list->immediate && waiting % 128 == 127)
        act_collect_list(a, list, false);
    struct act_event *e = NULL;
    if (given)
        e = act_find(a, ACT_EVENT, given);
    else if (!list->is_cloneable && (!list->immediate || waiting < ACT_PENDING_MAX))
        e = act_event_take(a, list->context);
    call->append = append_to(a, list, e);
    if (!call->append) {
        if (e && !given)
            act_event_give(e);
        return;
    }
    if (e && !given)
        replace(event, call, what->signal, e->handle);
    append_started(call, list, what);
    what->fill(a, event, list->context, &call->shape);
    if (ZS_UNLIKELY(act_meter_queries(a->meter)) && what->kind == ZS_ACTIVITY_KERNEL)
        call->measure = act_measure_take(a, list);
    if (ZS_UNLIKELY(list->next_command)) {
        call->append->has_more = true;
        call->append->command = list->next_command;
        call->append->shape = call->shape;
        list->next_command = 0;
    }
    if (!list->immediate) {
        call->append->measure = call->measure;
        call->append->has_more |= call->measure != NULL;
        remember(a, event, list, what);
        return;
    }
    act_append_submit(a, call->append, zs_trace_file_now_ns(a->file));
    if (call->measure)
        act_measure_submit(a, call->measure, call->append->id, call->append->submit_ns);
}

static void append_exit(struct zs_activity *a, const struct zs_trace_event *event,
                        struct zs_activity_call *call)
{
    struct act_list *list = call->append->list;
    act_append_done(a, call->append, !*event->result);
    if (*event->result || !list)
        return;
    if (call->muted)
        act_append_defer(call->append, &call->shape);
    if (list->immediate)
        act_collect_list(a, list, list->synchronous);
}

/* Nothing can happen to an append to a regular list before its call is over, and usually nothing is
 * left to be done then: no lock, and one record tells of both. */
static bool append_leave(struct zs_activity_call *call, struct zs_trace_file *file,
                         const struct zs_trace_event *event, uint64_t now_ns, bool *may_end)
{
    if (!call->append || *event->result || call->muted) {
        *may_end = false;
        return !call->append;
    }
    *may_end &= !call->list->immediate;
    act_write_append(file, call->id, call->list, &call->shape, now_ns, *may_end);
    if (call->list->immediate)
        return false;
    call->append->in_call = false;
    return true;
}

/* The application resets its event in a list: what it held is kept right before. */
static void append_reset_enter(struct zs_activity *a, const struct zs_trace_event *event,
                               struct zs_activity_call *call)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct act_list *list = act_find(a, ACT_LIST, ARG(ze_command_list_handle_t, 0));
    struct act_event *e = act_find(a, ACT_EVENT, ARG(ze_event_handle_t, 1));
    struct act_append *append = e ? e->appended : NULL;
    if (!list || !append || append->list != list || append->slot || !list->context)
        return;
    struct act_slot *slot = act_slot_take(a, list->context);
    if (!slot)
        return;
    if (!api->zeCommandListAppendQueryKernelTimestamps ||
        api->zeCommandListAppendQueryKernelTimestamps(list->handle, 1, &e->handle, slot->result,
                                                      NULL, NULL, 0, NULL)) {
        act_slot_give(slot);
        return;
    }
    append->slot = slot;
    append->has_more = true;
    e->appended = NULL;
    if (e->owner == append)
        e->owner = NULL;
}

/* --- lists and queues --- */

static void list_created(struct zs_activity *a, const struct zs_trace_event *event, bool immediate)
{
    struct act_list *list = a->free_lists;
    ze_command_list_handle_t handle = RESULT(ze_command_list_handle_t, 3);
    if (list)
        a->free_lists = list->next_pending;
    else if (!(list = malloc(sizeof(*list))))
        return;
    *list = (struct act_list){0};
    list->handle = handle;
    list->context = act_context_get(a, ARG(ze_context_handle_t, 0));
    list->device = act_device_get(a, ARG(ze_device_handle_t, 1));
    list->immediate = immediate;
    if (immediate) {
        const ze_command_queue_desc_t *desc = ARG(const ze_command_queue_desc_t *, 2);
        list->queue = calloc(1, sizeof(*list->queue));
        list->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
        list->ordinal = desc->ordinal;
        if (list->queue) {
            list->queue->device = list->device;
            list->queue->id = ++a->next_queue;
            act_write_queue(a, list->queue, desc->ordinal, desc->index, true);
        }
    } else {
        const ze_command_list_desc_t *desc = ARG(const ze_command_list_desc_t *, 2);
        list->ordinal = desc->commandQueueGroupOrdinal;
        list->is_cloneable = desc->flags & (uint32_t)ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE;
    }
    act_write_prefix(list);
    atomic_fetch_add(&a->generation, 1);
    if (!act_put(a, ACT_LIST, handle, list))
        free(list);
}

static void list_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    if (!*event->result)
        list_created(a, event, false);
}

static void list_immediate_exit(struct zs_activity *a, const struct zs_trace_event *event,
                                struct zs_activity_call *call)
{
    if (!*event->result)
        list_created(a, event, true);
}

static void list_reset_enter(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    struct act_list *list = act_find(a, ACT_LIST, ARG(ze_command_list_handle_t, 0));
    if (list)
        act_list_clear(a, list);
}

static void list_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                               struct zs_activity_call *call)
{
    struct act_list *list = act_take(a, ACT_LIST, ARG(ze_command_list_handle_t, 0));
    if (!list)
        return;
    atomic_fetch_add(&a->generation, 1);
    act_list_clear(a, list);
    act_list_hold(list);
    act_list_give_back(a, list);
    free(list->appends);
    list->appends = NULL;
    list->handle = NULL;
    list->capacity = 0;
    act_list_release(list);
    list->next_pending = a->free_lists;
    a->free_lists = list;
}

static void queue_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                              struct zs_activity_call *call)
{
    if (*event->result)
        return;
    const ze_command_queue_desc_t *desc = ARG(const ze_command_queue_desc_t *, 2);
    struct act_queue *queue = calloc(1, sizeof(*queue));
    ze_command_queue_handle_t handle = RESULT(ze_command_queue_handle_t, 3);
    if (!act_put(a, ACT_QUEUE, handle, queue)) {
        free(queue);
        return;
    }
    queue->handle = handle;
    queue->device = act_device_get(a, ARG(ze_device_handle_t, 1));
    queue->id = ++a->next_queue;
    act_write_queue(a, queue, desc->ordinal, desc->index, false);
}

/* Lists name the queue that ran them last: it is forgotten, not freed. */
static void queue_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                struct zs_activity_call *call)
{
    struct act_queue *queue = act_take(a, ACT_QUEUE, ARG(ze_command_queue_handle_t, 0));
    if (!queue)
        return;
    act_collect_queue(a, queue, UINT64_MAX);
    queue->handle = NULL;
}

static void execute_enter(struct zs_activity *a, const struct zs_trace_event *event,
                          struct zs_activity_call *call)
{
    struct act_queue *queue = act_find(a, ACT_QUEUE, ARG(ze_command_queue_handle_t, 0));
    act_lists_enter(a, queue, ARG(ze_command_list_handle_t *, 2), ARG(uint32_t, 1), call->muted);
}

static void execute_exit(struct zs_activity *a, const struct zs_trace_event *event,
                         struct zs_activity_call *call)
{
    struct act_queue *queue = act_find(a, ACT_QUEUE, ARG(ze_command_queue_handle_t, 0));
    act_lists_exit(a, queue, ARG(ze_command_list_handle_t *, 2), ARG(uint32_t, 1), *event->result);
}

static void queue_synchronize_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                    struct zs_activity_call *call)
{
    struct act_queue *queue = act_find(a, ACT_QUEUE, ARG(ze_command_queue_handle_t, 0));
    call->id = queue ? queue->submitted : 0;
}

/* Another thread may have submitted while this one waited: of that the wait proves nothing. */
static void queue_synchronize_exit(struct zs_activity *a, const struct zs_trace_event *event,
                                   struct zs_activity_call *call)
{
    struct act_queue *queue = act_find(a, ACT_QUEUE, ARG(ze_command_queue_handle_t, 0));
    if (queue && !*event->result)
        act_collect_queue(a, queue, call->id);
}

static void waited_exit(struct zs_activity *a, const struct zs_trace_event *event,
                        struct zs_activity_call *call)
{
    if (!*event->result)
        act_collect_all(a);
}

/* --- events --- */

static void pool_create_enter(struct zs_activity *a, const struct zs_trace_event *event,
                              struct zs_activity_call *call)
{
    const ze_event_pool_desc_t *desc = ARG(const ze_event_pool_desc_t *, 1);
    if (!desc || desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP)
        return;
    call->pool_desc = *desc;
    call->pool_desc.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    replace(event, call, 1, &call->pool_desc);
}

static void pool_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    const struct zs_collect_api *api = &a->collector->api;
    bool changed = call->replaced && ARG(const void *, 1) == call->replaced;
    if (*event->result && changed) {
        /* as the application wanted it, then */
        *event->result = (int32_t)api->zeEventPoolCreate(
            ARG(ze_context_handle_t, 0), ARG(const ze_event_pool_desc_t *, 1), ARG(uint32_t, 2),
            ARG(ze_device_handle_t *, 3), ARG(ze_event_pool_handle_t *, 4));
        return;
    }
    if (!*event->result)
        act_put(a, ACT_POOL, RESULT(ze_event_pool_handle_t, 4), a);
}

static void pool_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                               struct zs_activity_call *call)
{
    act_take(a, ACT_POOL, ARG(ze_event_pool_handle_t, 0));
}

static void event_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                              struct zs_activity_call *call)
{
    if (!*event->result && act_find(a, ACT_POOL, ARG(ze_event_pool_handle_t, 0)))
        act_event_created(a, RESULT(ze_event_handle_t, 2));
}

static void event_reset_enter(struct zs_activity *a, const struct zs_trace_event *event,
                              struct zs_activity_call *call)
{
    struct act_event *e = act_find(a, ACT_EVENT, ARG(ze_event_handle_t, 0));
    if (e)
        act_event_ends(a, e);
}

static void event_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                struct zs_activity_call *call)
{
    struct act_event *e = act_take(a, ACT_EVENT, ARG(ze_event_handle_t, 0));
    if (!e)
        return;
    act_event_ends(a, e);
    e->has_timestamps = false;
    if (!e->references)
        free(e);
}

/* The application has seen that it is set. */
static void event_seen_exit(struct zs_activity *a, const struct zs_trace_event *event,
                            struct zs_activity_call *call)
{
    if (*event->result)
        return;
    struct act_event *e = act_find(a, ACT_EVENT, ARG(ze_event_handle_t, 0));
    if (e && e->owner && e->owner->list)
        act_collect_queue(a, e->owner->list->queue, 0);
    else
        act_collect_all(a);
}

/* --- the rest --- */

static void context_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                  struct zs_activity_call *call)
{
    struct act_context *context = act_find(a, ACT_CONTEXT, ARG(ze_context_handle_t, 0));
    if (!context)
        return;
    act_collect_all(a);
    /* all of its lists, though they should be gone: their appends name events of ours */
    for (size_t i = 0; i < a->map.capacity; i++) {
        struct act_list *list = act_map_value(&a->map, i, ACT_LIST);
        if (list && list->context == context) {
            act_list_clear(a, list);
            act_list_hold(list);
            act_list_give_back(a, list);
            act_list_release(list);
        }
    }
    if (a->meter)
        act_measures_drop(a, context);
    act_context_drop(a, context);
    context->next_chunk = ACT_EVENTS_FIRST;
    context->no_events = context->no_slots = false;
}

static void kernel_size_exit(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    struct act_kernel *kernel =
        *event->result ? NULL : act_kernel_get(a, ARG(ze_kernel_handle_t, 0));
    for (uint32_t i = 0; kernel && i < 3; i++)
        kernel->size[i] = ARG(uint32_t, i + 1);
}

/* Local memory is an argument with a size and without a value. */
static void kernel_argument_exit(struct zs_activity *a, const struct zs_trace_event *event,
                                 struct zs_activity_call *call)
{
    struct act_kernel *kernel = act_kernel_get(a, ARG(ze_kernel_handle_t, 0));
    uint32_t index = ARG(uint32_t, 1);
    if (kernel && index < ZS_ARRAY_LEN(kernel->local_B))
        kernel->local_B[index] = (uint32_t)ZS_MIN(ARG(size_t, 2), (size_t)UINT32_MAX);
}

/* Other arguments matter only where one of local memory stood, which no kernel has. */
static bool is_local(const struct zs_trace_event *event)
{
    return !*event->result && !ARG(const void *, 3) && ARG(size_t, 2);
}

/* Handles are used again: what a module or kernel came from is known from its create to its
 * destroy. */
static void module_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                               struct zs_activity_call *call)
{
    if (!*event->result && call->build)
        act_put(a, ACT_BUILD, RESULT(ze_module_handle_t, 3), (void *)(uintptr_t)call->build);
}

static void module_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                 struct zs_activity_call *call)
{
    act_take(a, ACT_BUILD, ARG(ze_module_handle_t, 0));
}

static void kernel_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                               struct zs_activity_call *call)
{
    void *build = *event->result ? NULL : act_find(a, ACT_BUILD, ARG(ze_module_handle_t, 0));
    if (build)
        act_put(a, ACT_BUILD, RESULT(ze_kernel_handle_t, 2), build);
}

static void kernel_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                 struct zs_activity_call *call)
{
    act_take(a, ACT_BUILD, ARG(ze_kernel_handle_t, 0));
    struct act_kernel *kernel = act_take(a, ACT_KERNEL, ARG(ze_kernel_handle_t, 0));
    if (!kernel)
        return;
    atomic_fetch_add(&a->generation, 1);
    kernel->next = a->free_kernels;
    a->free_kernels = kernel;
}

static void image_create_exit(struct zs_activity *a, const struct zs_trace_event *event,
                              struct zs_activity_call *call)
{
    struct act_image *image = *event->result ? NULL : calloc(1, sizeof(*image));
    if (!image)
        return;
    image->desc = *ARG(const ze_image_desc_t *, 2);
    if (!act_put(a, ACT_IMAGE, RESULT(ze_image_handle_t, 3), image))
        free(image);
}

static void image_destroy_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                struct zs_activity_call *call)
{
    free(act_take(a, ACT_IMAGE, ARG(ze_image_handle_t, 0)));
}

struct hooks {
    act_hook_fn enter, leave;
    bool is_metric; /* act_meter_activate_* are for it */
};

static const struct hooks hooks[ZS_API_CALL_COUNT] = {
#define APPEND(name, kind, signal, fill)                                                           \
    [ZS_API_zeCommandListAppend##name] = {append_enter, append_exit, false},
#include "collect/activity_append.def"
#undef APPEND
#define LATER(name, enter, leave) [ZS_API_##name] = {enter, leave, false},
    ACT_LATER_HOOKS(LATER)
#undef LATER
        [ZS_API_zeCommandListAppendEventReset] = {append_reset_enter, NULL, false},
    [ZS_API_zeCommandListCreate] = {NULL, list_create_exit, false},
    [ZS_API_zeCommandListCreateImmediate] = {NULL, list_immediate_exit, false},
    [ZS_API_zeCommandListReset] = {list_reset_enter, NULL, false},
    [ZS_API_zeCommandListDestroy] = {list_destroy_enter, NULL, false},
    [ZS_API_zeCommandQueueCreate] = {NULL, queue_create_exit, false},
    [ZS_API_zeCommandQueueDestroy] = {queue_destroy_enter, NULL, false},
    [ZS_API_zeCommandQueueExecuteCommandLists] = {execute_enter, execute_exit, false},
    [ZS_API_zeCommandQueueSynchronize] = {queue_synchronize_enter, queue_synchronize_exit, false},
    [ZS_API_zeFenceHostSynchronize] = {NULL, waited_exit, false},
    [ZS_API_zeFenceQueryStatus] = {NULL, waited_exit, false},
    [ZS_API_zeEventPoolCreate] = {pool_create_enter, pool_create_exit, false},
    [ZS_API_zeEventPoolDestroy] = {pool_destroy_enter, NULL, false},
    [ZS_API_zeEventCreate] = {NULL, event_create_exit, false},
    [ZS_API_zeEventHostReset] = {event_reset_enter, NULL, false},
    [ZS_API_zeEventDestroy] = {event_destroy_enter, NULL, false},
    [ZS_API_zeEventHostSynchronize] = {NULL, event_seen_exit, false},
    [ZS_API_zeEventQueryStatus] = {NULL, event_seen_exit, false},
    [ZS_API_zeContextDestroy] = {context_destroy_enter, NULL, false},
    [ZS_API_zeKernelSetGroupSize] = {NULL, kernel_size_exit, false},
    [ZS_API_zeKernelSetArgumentValue] = {NULL, kernel_argument_exit, false},
    [ZS_API_zeModuleCreate] = {NULL, module_create_exit, false},
    [ZS_API_zeModuleDestroy] = {module_destroy_enter, NULL, false},
    [ZS_API_zeKernelCreate] = {NULL, kernel_create_exit, false},
    [ZS_API_zeKernelDestroy] = {kernel_destroy_enter, NULL, false},
    [ZS_API_zeImageCreate] = {NULL, image_create_exit, false},
    [ZS_API_zeImageDestroy] = {image_destroy_enter, NULL, false},
    [ZS_API_zetContextActivateMetricGroups] = {NULL, NULL, true},
};

struct zs_activity *zs_activity_create(struct zs_collector *c, struct zs_trace_process *process)
{
    struct zs_activity *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->collector = c;
    a->process = process;
    a->meter = act_meter_create();
    /* it is held for some 100 ns at a time: who waits had better not sleep */
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&a->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return a;
}

/* Where the loader is not known, nothing can be asked: then calls are all that is recorded. */
static bool has_functions(const struct zs_collect_api *api)
{
    return api->zeEventQueryStatus && api->zeEventQueryKernelTimestamp && api->zeEventPoolCreate &&
           api->zeEventCreate && api->zeEventDestroy && api->zeEventPoolDestroy &&
           api->zeEventHostReset && api->zeMemAllocHost && api->zeMemFree &&
           api->zeCommandListCreate && api->zeCommandListDestroy && api->zeCommandListClose &&
           api->zeCommandListAppendBarrier && api->zeCommandListAppendEventReset &&
           api->zeCommandListAppendWriteGlobalTimestamp && api->zeCommandQueueExecuteCommandLists;
}

bool zs_activity_hooks(uint32_t call)
{
    return call < ZS_API_CALL_COUNT &&
           (hooks[call].enter || hooks[call].leave || hooks[call].is_metric);
}

static bool can_ask(struct zs_activity *a)
{
    int known = atomic_load_explicit(&a->can_ask, memory_order_relaxed);
    if (ZS_UNLIKELY(!known)) {
        known = has_functions(&a->collector->api) ? 2 : 1;
        atomic_store(&a->can_ask, known);
    }
    return known == 2;
}

/* A thread that is cancelled in one of the driver's functions must not take the lock with it. */
static void run(struct zs_activity *a, struct zs_activity_thread *self, act_hook_fn hook,
                const struct zs_trace_event *event, struct zs_activity_call *call)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    act_relock(a, self->file);
    a->self = self;
    hook(a, event, call);
    act_unlock(a);
    pthread_setcancelstate(cancel_state, NULL);
}

/* True: the call is none of the others'. */
static bool before_metrics(struct zs_activity *a, const struct hooks *h,
                           const struct zs_trace_event *event)
{
    if (h->is_metric)
        act_meter_activate_enter(a, event);
    else if (h->enter == list_reset_enter || h->enter == list_destroy_enter)
        act_measures_wait(a, ARG(ze_command_list_handle_t, 0));
    return h->is_metric;
}

static void poll_metrics(struct zs_activity *a, const struct zs_trace_event *event,
                         struct zs_activity_call *call)
{
    act_measures_poll(a, METRIC_MISSES);
}

/* Metrics are read where times are collected; behind appends to asynchronous lists now and then. */
static void after_metrics(struct zs_activity *a, struct zs_activity_thread *self,
                          const struct hooks *h, const struct zs_trace_event *event,
                          struct zs_activity_call *call)
{
    if (h->leave == list_create_exit || h->leave == list_immediate_exit) {
        if (!*event->result)
            act_meter_prepare(a, self, event);
    } else if (h->leave == append_exit) {
        if (call->measure && call->list && call->list->immediate &&
            (call->list->synchronous || call->id % 64 == 0))
            run(a, self, poll_metrics, event, call);
    } else if (h->leave == queue_synchronize_exit || h->leave == event_seen_exit ||
               h->leave == waited_exit || h->leave == act_host_synchronize_exit) {
        run(a, self, poll_metrics, event, call);
    }
}

void zs_activity_enter(struct zs_activity *a, struct zs_activity_thread *self,
                       const struct zs_trace_event *event, struct zs_activity_call *call,
                       bool muted)
{
    const struct hooks *h = event->call < ZS_API_CALL_COUNT ? &hooks[event->call] : NULL;
    call->is_hooked = h && (h->enter || h->leave || (h->is_metric && a->meter)) && can_ask(a);
    if (!call->is_hooked)
        return;
    call->muted = muted;
    call->restore = 0;
    call->replaced = NULL;
    call->append = NULL;
    call->measure = NULL;
    if (ZS_UNLIKELY(a->meter != NULL) && before_metrics(a, h, event))
        return;
    if (h->enter == append_enter && append_at_hand(a, self, event, call))
        return;
    if (h->enter)
        run(a, self, h->enter, event, call);
    if (ZS_UNLIKELY(call->measure != NULL))
        act_measure_begin(a, event, call);
}

bool zs_activity_exit(struct zs_activity *a, struct zs_activity_thread *self,
                      const struct zs_trace_event *event, struct zs_activity_call *call,
                      uint64_t now_ns, bool may_end)
{
    if (!call->is_hooked)
        return false;
    if (call->restore)
        memcpy(event->params[call->restore - 1], &call->replaced, sizeof(call->replaced));
    const struct hooks *h = &hooks[event->call];
    act_hook_fn leave = h->leave;
    if (ZS_UNLIKELY(call->measure != NULL))
        act_measure_end(a, event, call);
    if (ZS_UNLIKELY(h->is_metric)) {
        act_meter_activate_exit(a, event);
        return false;
    }
    if (leave != append_exit)
        may_end = false;
    else if (append_leave(call, self->file, event, now_ns, &may_end))
        return may_end;
    if ((leave == event_seen_exit || leave == waited_exit) &&
        !atomic_load_explicit(&a->pending, memory_order_relaxed) && !a->meter)
        return false; /* nothing that it could tell of */
    if (leave == kernel_argument_exit && !is_local(event))
        return false;
    if (leave)
        run(a, self, leave, event, call);
    if (ZS_UNLIKELY(a->meter != NULL))
        after_metrics(a, self, h, event, call);
    return may_end;
}

/* A thread that was ended while it held the lock must not keep the process from ending. */
void zs_activity_end(struct zs_activity *a, struct zs_trace_file *file)
{
    struct timespec until;
    if (!can_ask(a))
        return;
    if (a->meter)
        act_streams_end(a);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += END_WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&a->lock, &until))
        return;
    a->file = file;
    act_collect_last(a);
    if (a->meter) {
        act_measures_poll(a, UINT32_MAX);
        act_meter_end(a);
    }
    a->file = NULL;
    pthread_mutex_unlock(&a->lock);
}
