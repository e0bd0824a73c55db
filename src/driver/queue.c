/* SPDX-License-Identifier: MIT */
/* Command queues and fences. */
#include "driver/list.h"

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
    ZS_CHECK_ENUM(desc->flags, 0x1);
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
    queue->worker = zs_worker_new(context, device);
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

static ze_result_t check_lists(const struct zs_ze_queue *queue, uint32_t count,
                               ze_command_list_handle_t *handles)
{
    static const char function[] = "zeCommandQueueExecuteCommandLists";
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_ze_list *list = zs_ze_list_of(handles[i]);
        if (!list)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function,
                             "phCommandLists[%u] is no live command list", i);
        if (list->worker || list->ordinal != queue->ordinal)
            return zs_refuse(
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, function, "phCommandLists[%u] %s", i,
                list->worker ? "is an immediate list" : "is of another group than the queue");
        if (list->device != queue->device || list->context != queue->context)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "phCommandLists[%u] is of another %s than the queue", i,
                             list->context != queue->context ? "context" : "device");
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
    ZS_CHECK(!fence || atomic_load(&fence->state) == ZS_SIGNAL_NOT_READY,
             ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "the fence was not reset");
    ze_result_t result = check_lists(queue, numCommandLists, phCommandLists);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zs_program *few[8];
    struct zs_program **programs =
        numCommandLists <= ZS_ARRAY_LEN(few) ? few : calloc(numCommandLists, sizeof(*programs));
    ZS_CHECK(programs, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    for (uint32_t i = 0; i < numCommandLists; i++)
        programs[i] = zs_ze_list_of(phCommandLists[i])->program;
    result = zs_worker_submit(queue->worker, numCommandLists, programs, fence);
    if (programs != few)
        free(programs);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "cannot submit");
    if (queue->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
        result = zs_worker_synchronize(queue->worker, UINT64_MAX);
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

/* ---- Fences ------------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                                     const ze_fence_desc_t *desc, ze_fence_handle_t *phFence)
{
    ZS_OBJECT(queue, queue, hCommandQueue);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phFence);
    ZS_CHECK_ENUM(desc->flags, 0x1);
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
    zs_object_unref(fence->queue);
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
    ze_result_t result = zs_signal_result(zs_signal_wait(&fence->state, timeout, NULL));
    zs_object_unref(fence);
    return result;
}

ze_result_t ZE_APICALL zeFenceQueryStatus(ze_fence_handle_t hFence)
{
    ZS_OBJECT(fence, fence, hFence);
    return zs_signal_result(zs_signal_wait(&fence->state, 0, NULL));
}

ze_result_t ZE_APICALL zeFenceReset(ze_fence_handle_t hFence)
{
    ZS_OBJECT(fence, fence, hFence);
    zs_signal_set(&fence->state, ZS_SIGNAL_NOT_READY);
    return ZE_RESULT_SUCCESS;
}
