/* SPDX-License-Identifier: MIT */
/* Launches with all that they need in one call; copies with what extends them, of which nothing is
 * defined. */
#include "driver/module/module.h"
#include "driver/queue/list.h"

#include <string.h>

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pGroupCounts, const void *pNext, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    const ze_command_list_append_launch_kernel_param_cooperative_desc_t *cooperative =
        zs_chain_find(pNext, ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC);
    if (cooperative && cooperative->isCooperative)
        return zeCommandListAppendLaunchCooperativeKernel(
            hCommandList, hKernel, pGroupCounts, hSignalEvent, numWaitEvents, phWaitEvents);
    return zeCommandListAppendLaunchKernel(hCommandList, hKernel, pGroupCounts, hSignalEvent,
                                           numWaitEvents, phWaitEvents);
}

/* A pointer for each argument: to its value; of local memory to its size. */
static ze_result_t set_arguments(struct zs_ze_kernel *kernel, ze_kernel_handle_t handle,
                                 void **values)
{
    uint32_t count = zs_gpu_kernel_arg_count(kernel->gpu);
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        enum zs_gpu_arg_kind kind = zs_gpu_kernel_arg_kind(kernel->gpu, i);
        const void *value = values[i];
        size_t size_B = sizeof(void *);
        if (kind == ZS_GPU_ARG_VALUE)
            size_B = kernel->kernel->args[i].value_size_B;
        if (kind == ZS_GPU_ARG_LOCAL && value) {
            memcpy(&size_B, value, sizeof(size_B));
            value = NULL;
        }
        result = zeKernelSetArgumentValue(handle, i, size_B, value);
    }
    return result;
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t groupCounts, const ze_group_size_t groupSizes, void **pArguments,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK(pArguments || !zs_gpu_kernel_arg_count(kernel->gpu),
             ZE_RESULT_ERROR_INVALID_NULL_POINTER, "pArguments is null");
    ze_result_t result = zeKernelSetGroupSize(hKernel, groupSizes.groupSizeX, groupSizes.groupSizeY,
                                              groupSizes.groupSizeZ);
    if (result == ZE_RESULT_SUCCESS)
        result = set_arguments(kernel, hKernel, pArguments);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeCommandListAppendLaunchKernelWithParameters(hCommandList, hKernel, &groupCounts, pNext,
                                                         hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyWithParameters(
    ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr, size_t size,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    (void)pNext;
    return zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent,
                                         numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryFillWithParameters(
    ze_command_list_handle_t hCommandList, void *ptr, const void *pattern, size_t pattern_size,
    size_t size, const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    (void)pNext;
    return zeCommandListAppendMemoryFill(hCommandList, ptr, pattern, pattern_size, size,
                                         hSignalEvent, numWaitEvents, phWaitEvents);
}
