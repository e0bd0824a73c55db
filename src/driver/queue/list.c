/* SPDX-License-Identifier: MIT */
#include "driver/queue/list.h"

#include "base/checks.h"
#include "driver/report.h"

#include <stdlib.h>

/* ---- Objects -----------------------------------------------------------------------------------
 */

static ze_result_t list_new(struct zs_ze_context *context, struct zs_ze_device *device,
                            const struct zs_ze_list *init, ze_command_list_handle_t *ret_handle)
{
    struct zs_ze_list *list = zs_object_new(ZS_OBJECT_list, sizeof(*list));
    bool immediate = init->worker != NULL;
    if (!list) {
        if (immediate)
            zs_worker_close(init->worker);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    list->context = zs_object_ref(context);
    list->device = device;
    list->ordinal = init->ordinal;
    list->index = init->index;
    list->worker = init->worker;
    list->synchronous = init->synchronous;
    list->in_order = init->in_order;
    list->flags = init->flags;
    list->priority = init->priority;
    list->program = immediate ? NULL : zs_program_new(context);
    if (list->program)
        list->program->is_in_order = list->in_order;
    if ((!immediate && !list->program) || !zs_object_publish(list)) {
        zs_object_unref(list);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *ret_handle = list->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_list_fini(struct zs_ze_list *list)
{
    if (list->worker)
        zs_worker_close(list->worker);
    zs_program_unref(list->program);
    zs_object_unref(list->context);
}

ze_result_t ZE_APICALL zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           const ze_command_list_desc_t *desc,
                                           ze_command_list_handle_t *phCommandList)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phCommandList);
    ZS_CHECK_FLAGS(desc->flags, ZS_ALL_ZE_COMMAND_LIST_FLAGS);
    ZS_CHECK(desc->commandQueueGroupOrdinal < ZS_ORDINAL_COUNT, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "ordinal %u, there are %d groups", desc->commandQueueGroupOrdinal, ZS_ORDINAL_COUNT);
    struct zs_ze_list init = {.ordinal = desc->commandQueueGroupOrdinal,
                              .flags = desc->flags,
                              .in_order = desc->flags & ZE_COMMAND_LIST_FLAG_IN_ORDER};
    ze_result_t result = list_new(context, device, &init, phCommandList);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "no memory");
    return result;
}

ze_result_t ZE_APICALL zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                                    ze_device_handle_t hDevice,
                                                    const ze_command_queue_desc_t *altdesc,
                                                    ze_command_list_handle_t *phCommandList)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(altdesc);
    ZS_CHECK_POINTER(phCommandList);
    ZS_CHECK_FLAGS(altdesc->flags, ZS_ALL_ZE_COMMAND_QUEUE_FLAGS);
    ZS_CHECK_ENUM(altdesc->mode, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZS_CHECK_ENUM(altdesc->priority, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
    ZS_CHECK(altdesc->ordinal < ZS_ORDINAL_COUNT && altdesc->index == 0,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "ordinal %u, index %u: there are %d groups of one",
             altdesc->ordinal, altdesc->index, ZS_ORDINAL_COUNT);
    struct zs_ze_list init = {.ordinal = altdesc->ordinal,
                              .index = altdesc->index,
                              .flags = altdesc->flags,
                              .priority = altdesc->priority,
                              .worker = zs_worker_new(context, device, altdesc),
                              .synchronous = altdesc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                              .in_order = altdesc->flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (init.worker)
        result = list_new(context, device, &init, phCommandList);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "no memory");
    return result;
}

ze_result_t ZE_APICALL zeCommandListDestroy(ze_command_list_handle_t hCommandList)
{
    ZS_OBJECT(list, list, hCommandList);
    if (!zs_object_retract(list))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(list);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListClose(ze_command_list_handle_t hCommandList)
{
    ZS_OBJECT(list, list, hCommandList);
    list->closed = !list->worker;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListReset(ze_command_list_handle_t hCommandList)
{
    ZS_OBJECT(list, list, hCommandList);
    if (list->worker)
        return ZE_RESULT_SUCCESS;
    struct zs_program *fresh = zs_program_new(list->context);
    ZS_CHECK(fresh, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    fresh->is_in_order = list->in_order;
    zs_program_unref(list->program);
    list->program = fresh;
    list->closed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList,
                                                    uint64_t timeout)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK(list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no immediate list");
    zs_object_ref(list);
    ze_result_t result = zs_worker_synchronize(list->worker, timeout);
    zs_object_unref(list);
    return result;
}

ze_result_t ZE_APICALL zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                                    ze_device_handle_t *phDevice)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(phDevice);
    *phDevice = list->device->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                                     ze_context_handle_t *phContext)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(phContext);
    *phContext = list->context->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList,
                                               uint32_t *pOrdinal)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pOrdinal);
    *pOrdinal = list->ordinal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex)
{
    ZS_OBJECT(list, list, hCommandListImmediate);
    ZS_CHECK_POINTER(pIndex);
    ZS_CHECK(list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no immediate list");
    *pIndex = list->index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListGetFlags(ze_command_list_handle_t hCommandList,
                                             ze_command_list_flags_t *pFlags)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pFlags);
    ZS_CHECK(!list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is an immediate list");
    *pFlags = list->flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListImmediateGetFlags(ze_command_list_handle_t hCommandList,
                                                      ze_command_queue_flags_t *pFlags)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pFlags);
    ZS_CHECK(list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no immediate list");
    *pFlags = list->flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListImmediateGetMode(ze_command_list_handle_t hCommandList,
                                                     ze_command_queue_mode_t *pMode)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pMode);
    ZS_CHECK(list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no immediate list");
    *pMode =
        list->synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListImmediateGetPriority(ze_command_list_handle_t hCommandList,
                                                         ze_command_queue_priority_t *pPriority)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pPriority);
    ZS_CHECK(list->worker, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no immediate list");
    *pPriority = list->priority;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                                ze_bool_t *pIsImmediate)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pIsImmediate);
    *pIsImmediate = list->worker != NULL;
    return ZE_RESULT_SUCCESS;
}

/* ---- Appending ---------------------------------------------------------------------------------
 */

static bool take_waits(struct zs_command *command, uint32_t count, ze_event_handle_t *waits)
{
    if (!count)
        return true;
    command->waits = calloc(count, sizeof(*command->waits));
    for (uint32_t i = 0; command->waits && i < count; i++) {
        command->waits[i] = zs_event_now(zs_ze_event_of(waits[i]));
        if (!command->waits[i])
            break;
        command->wait_count++;
    }
    if (command->wait_count == count)
        return true;
    zs_command_release(command);
    return false;
}

ze_result_t zs_append_begin(const char *function, ze_command_list_handle_t list_handle,
                            ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits,
                            struct zs_append *ret_append)
{
    struct zs_ze_list *list = zs_ze_list_of(list_handle);
    if (!list)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function, "hCommandList is %s",
                         list_handle ? "not a live command list" : "null");
    if (list->closed && !zs_lets_pass(function, "the list is closed: this has no effect"))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "the list is closed");
    if (wait_count && !waits)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_SIZE, function, "%u events, phWaitEvents is null",
                         wait_count);
    struct zs_ze_event *event = signal ? zs_ze_event_of(signal) : NULL;
    if (signal && !event)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function, "hSignalEvent is no event");
    for (uint32_t i = 0; i < wait_count; i++) {
        if (!zs_ze_event_of(waits[i]))
            return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function,
                             "phWaitEvents[%u] is no live event", i);
    }
    const char *why = NULL;
    if (event && event->counter)
        why = list->in_order ? zs_event_counter_refusal(event->counter, list->worker != NULL)
                             : "the list is not in order";
    if (why)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "hSignalEvent is counter-based, and %s", why);
    *ret_append =
        (struct zs_append){.list = list, .command.origin = zs_report_origin(ZS_CHECK_RACE)};
    if (!take_waits(&ret_append->command, wait_count, waits))
        return zs_refuse(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, function, "no memory");
    if (event && event->counter) {
        ret_append->counter = event;
    } else if (event) {
        ret_append->command.signal = event->slot;
        ret_append->pool = event->pool;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zs_append_abandon(struct zs_append *append, ze_result_t result)
{
    zs_command_release(&append->command);
    return result;
}

bool zs_append_record(struct zs_append *append, struct zs_command *command,
                      struct zs_program *program)
{
    struct zs_ze_event_pool *pool = NULL; /* of a counter-based event's new slot */
    if (append->counter && !zs_event_counter_next(append->counter, &command->signal, &pool))
        return false;
    command->counted = pool;
    bool ok = zs_program_append(program, command, pool ? pool : append->pool);
    if (!ok && pool)
        zs_event_counter_lost(command->signal);
    zs_object_unref(pool);
    return ok;
}

void zs_append_lost(struct zs_program *program)
{
    for (size_t i = 0; program->counted && i < program->count; i++)
        if (program->items[i].counted)
            zs_event_counter_lost(program->items[i].signal);
}

static ze_result_t run_now(struct zs_append *append)
{
    struct zs_program *program = zs_program_new(append->list->context);
    if (!program || !zs_append_record(append, &append->command, program)) {
        zs_program_unref(program);
        return zs_append_abandon(append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    program->is_apart = !append->list->in_order;
    struct zs_worker *worker = append->list->worker;
    ze_result_t result = append->list->synchronous ? zs_worker_run(worker, program)
                                                   : zs_worker_submit(worker, 1, &program, NULL);
    if (result != ZE_RESULT_SUCCESS)
        zs_append_lost(program);
    zs_program_unref(program);
    return result;
}

ze_result_t zs_append_end(struct zs_append *append)
{
    if (append->list->worker)
        return run_now(append);
    if (append->list->closed) /* with Intel's driver it stands behind the list's end */
        return zs_append_abandon(append, ZE_RESULT_SUCCESS);
    if (!zs_append_record(append, &append->command, append->list->program))
        return zs_append_abandon(append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    return ZE_RESULT_SUCCESS;
}
