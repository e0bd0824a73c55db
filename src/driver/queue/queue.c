/* SPDX-License-Identifier: MIT */
/* Command queues and fences. */
#include "driver/queue/list.h"

#include <stdlib.h>

ze_result_t ZE_APICALL zeCommandQueueCreate(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice,
                                            const ze_command_queue_desc_t *desc,
                                            ze_command_queue_handle_t *phCommandQueue)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phCommandQueue);
    ZS_CHECK_FLAGS(desc->flags, ZS_ALL_ZE_COMMAND_QUEUE_FLAGS);
    ZS_CHECK_ENUM(desc->mode, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZS_CHECK_ENUM(desc->priority, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
    ZS_CHECK(desc->ordinal < ZS_ORDINAL_COUNT && desc->index == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "ordinal %u, index %u: there are %d groups of one queue", desc->ordinal, desc->index,
             ZS_ORDINAL_COUNT);
    struct zs_ze_queue *queue = zs_object_new(ZS_OBJECT_queue, sizeof(*queue));
    ZS_CHECK(queue, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    queue->context = zs_object_ref(context);
    queue->device = device;
    queue->ordinal = desc->ordinal;
    queue->index = desc->index;
    queue->mode = desc->mode;
    queue->priority = desc->priority;
    queue->flags = desc->flags;
    queue->worker = zs_worker_new(context, device, desc);
    if (!queue->worker || !zs_object_publish(queue)) {
        zs_object_unref(queue);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    *phCommandQueue = queue->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_queue_fini(struct zs_ze_queue *queue)
{
    if (queue->worker)
        zs_worker_close(queue->worker);
    zs_object_unref(queue->context);
}

/* What was submitted still runs to its end. */
ze_result_t ZE_APICALL zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    if (!zs_object_retract(queue))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(queue);
    return ZE_RESULT_SUCCESS;
}

struct place { /* where lists shall run */
    const struct zs_ze_context *context;
    const struct zs_ze_device *device;
    uint32_t ordinal;
};

static ze_result_t check_lists(const char *function, const struct place *queue, uint32_t count,
                               ze_command_list_handle_t *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_ze_list *list = zs_ze_list_of(handles[i]);
        if (!list)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function,
                             "phCommandLists[%u] is no live command list", i);
        if (list->worker || list->ordinal != queue->ordinal)
            return zs_refuse(
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, function, "phCommandLists[%u] %s", i,
                list->worker ? "is an immediate list" : "is of another group than the queue");
        if (list->device != queue->device)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "phCommandLists[%u] is of another device than the queue", i);
        if (list->context != queue->context &&
            !zs_lets_pass(function, "phCommandLists[%u] is of another context than the queue", i))
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "phCommandLists[%u] is of another context than the queue", i);
        if (!list->closed)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "phCommandLists[%u] was not closed", i);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue,
                                                         uint32_t numCommandLists,
                                                         ze_command_list_handle_t *phCommandLists,
                                                         ze_fence_handle_t hFence)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    ZS_CHECK_POINTER(phCommandLists);
    ZS_CHECK(numCommandLists > 0, ZE_RESULT_ERROR_INVALID_SIZE, "no command list");
    struct zs_ze_fence *fence = hFence ? zs_ze_fence_of(hFence) : NULL;
    ZS_CHECK(fence || !hFence, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "hFence is no live fence");
    bool again = fence && atomic_load(&fence->state) != ZS_SIGNAL_NOT_READY;
    ZS_CHECK(!again || zs_lets_pass(__func__, "the fence was not reset; taken as reset"),
             ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "the fence was not reset");
    const struct place place = {queue->context, queue->device, queue->ordinal};
    ze_result_t result = check_lists(__func__, &place, numCommandLists, phCommandLists);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zs_program *few[8];
    struct zs_program **programs =
        numCommandLists <= ZS_ARRAY_LEN(few) ? few : calloc(numCommandLists, sizeof(*programs));
    ZS_CHECK(programs, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    for (uint32_t i = 0; i < numCommandLists; i++)
        programs[i] = zs_ze_list_of(phCommandLists[i])->program;
    if (again)
        zs_signal_set(&fence->state, ZS_SIGNAL_NOT_READY);
    result = zs_worker_submit(queue->worker, numCommandLists, programs, fence);
    if (programs != few)
        free(programs);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "cannot submit");
    if (queue->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
        result = zs_worker_synchronize(queue->worker, UINT64_MAX);
    return result;
}

/* One command that waits for events or signals one. */
static struct zs_program *lone_program(struct zs_append *append, struct zs_command *command,
                                       bool signals)
{
    static const struct zs_op op_nothing = {.name = "command lists", .is_barrier = true};
    command->op = &op_nothing;
    struct zs_program *program = zs_program_new(append->list->context);
    if (program && (signals ? zs_append_record(append, command, program)
                            : zs_program_append(program, command, NULL)))
        return program;
    zs_program_unref(program);
    zs_command_release(command);
    return NULL;
}

/* The lists' programs between one that waits and one that signals. */
static ze_result_t submit_lists(struct zs_append *append, uint32_t count,
                                ze_command_list_handle_t *handles)
{
    struct zs_command after = {.signal = append->command.signal};
    append->command.signal = NULL;
    struct zs_program *first = lone_program(append, &append->command, false);
    struct zs_program *last = lone_program(append, &after, true);
    struct zs_program **programs = calloc(count + 2u, sizeof(*programs));
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (first && last && programs) {
        programs[0] = first;
        for (uint32_t i = 0; i < count; i++)
            programs[i + 1] = zs_ze_list_of(handles[i])->program;
        programs[count + 1] = last;
        result = zs_worker_submit(append->list->worker, count + 2, programs, NULL);
    }
    if (last && result != ZE_RESULT_SUCCESS)
        zs_append_lost(last);
    free(programs);
    zs_program_unref(first);
    zs_program_unref(last);
    return result;
}

ze_result_t ZE_APICALL zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandListImmediate);
    ZS_CHECK_POINTER(phCommandLists);
    ZS_CHECK(list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no immediate list");
    const struct place place = {list->context, list->device, list->ordinal};
    ze_result_t result = check_lists(__func__, &place, numCommandLists, phCommandLists);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zs_append append;
    result = zs_append_begin(__func__, hCommandListImmediate, hSignalEvent, numWaitEvents,
                             phWaitEvents, &append);
    if (result == ZE_RESULT_SUCCESS)
        result = submit_lists(&append, numCommandLists, phCommandLists);
    if (result == ZE_RESULT_SUCCESS && list->synchronous)
        result = zs_worker_synchronize(list->worker, UINT64_MAX);
    return result;
}

ze_result_t ZE_APICALL zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue,
                                                 uint64_t timeout)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    zs_object_ref(queue);
    ze_result_t result = zs_worker_synchronize(queue->worker, timeout);
    zs_object_unref(queue);
    return result;
}

ze_result_t ZE_APICALL zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue,
                                                uint32_t *pOrdinal)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    ZS_CHECK_POINTER(pOrdinal);
    *pOrdinal = queue->ordinal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t *pIndex)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    ZS_CHECK_POINTER(pIndex);
    *pIndex = queue->index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueGetFlags(ze_command_queue_handle_t hCmdQueue,
                                              ze_command_queue_flags_t *pFlags)
{
    ZS_OBJECT(queue, queue, hCmdQueue);
    ZS_CHECK_POINTER(pFlags);
    *pFlags = queue->flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueGetMode(ze_command_queue_handle_t hCmdQueue,
                                             ze_command_queue_mode_t *pMode)
{
    ZS_OBJECT(queue, queue, hCmdQueue);
    ZS_CHECK_POINTER(pMode);
    *pMode = queue->mode;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueGetPriority(ze_command_queue_handle_t hCmdQueue,
                                                 ze_command_queue_priority_t *pPriority)
{
    ZS_OBJECT(queue, queue, hCmdQueue);
    ZS_CHECK_POINTER(pPriority);
    *pPriority = queue->priority;
    return ZE_RESULT_SUCCESS;
}

/* ---- Fences ------------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                                     const ze_fence_desc_t *desc, ze_fence_handle_t *phFence)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phFence);
    ZS_CHECK_FLAGS(desc->flags, 0x1);
    struct zs_ze_fence *fence = zs_object_new(ZS_OBJECT_fence, sizeof(*fence));
    ZS_CHECK(fence, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    fence->queue = zs_object_ref(queue);
    atomic_store(&fence->state,
                 (desc->flags & ZE_FENCE_FLAG_SIGNALED) ? ZS_SIGNAL_READY : ZS_SIGNAL_NOT_READY);
    if (!zs_object_publish(fence)) {
        zs_object_unref(fence);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no handle is left");
    }
    *phFence = fence->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_fence_fini(struct zs_ze_fence *fence)
{
    zs_past_unref(fence->past);
    zs_object_unref(fence->queue);
}

static ze_result_t wait_for(struct zs_ze_fence *fence, uint64_t timeout_ns)
{
    enum zs_signal_state state = zs_signal_wait(&fence->state, timeout_ns, NULL);
    if (state != ZS_SIGNAL_NOT_READY)
        zs_order_saw(fence->queue->context->driver, &fence->past);
    return zs_signal_result(state);
}

ze_result_t ZE_APICALL zeFenceDestroy(ze_fence_handle_t hFence)
{
    ZS_OBJECT(fence, fence, hFence);
    if (!zs_object_retract(fence))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(fence);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout)
{
    ZS_OBJECT(fence, fence, hFence);
    zs_object_ref(fence);
    ze_result_t result = wait_for(fence, timeout);
    zs_object_unref(fence);
    return result;
}

ze_result_t ZE_APICALL zeFenceQueryStatus(ze_fence_handle_t hFence)
{
    ZS_OBJECT(fence, fence, hFence);
    return wait_for(fence, 0);
}

ze_result_t ZE_APICALL zeFenceReset(ze_fence_handle_t hFence)
{
    ZS_OBJECT(fence, fence, hFence);
    zs_signal_set(&fence->state, ZS_SIGNAL_NOT_READY);
    return ZE_RESULT_SUCCESS;
}
