/* SPDX-License-Identifier: MIT */
/*
 * queues BINARY KERNEL MODULES ROUNDS GROUPS: creates the module so often, one after the other, and
 * launches its kernel in so many groups of 16 items on two queues at once, in rounds: both queues
 * are waited for before the next.
 */
#include "../ok.h"

#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_B = 1 << 16, QUEUES = 2 };

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_command_queue_handle_t queues[QUEUES];

static void run(const ze_module_desc_t *desc, const char *name, int rounds, uint32_t groups)
{
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = name};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_group_count_t count = {groups, 1, 1};
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    void *buffers[2];
    OK(zeModuleCreate(context, device, desc, &module, NULL));
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    for (uint32_t i = 0; i < 2; i++) {
        OK(zeMemAllocDevice(context, &memory, BUFFER_B, 64, device, &buffers[i]));
        OK(zeKernelSetArgumentValue(kernel, i, sizeof(void *), &buffers[i]));
    }
    OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    ze_command_list_handle_t lists[QUEUES];
    for (int q = 0; q < QUEUES; q++) {
        OK(zeCommandListCreate(context, device, &list_desc, &list));
        OK(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
        OK(zeCommandListClose(list));
        lists[q] = list;
    }
    for (int i = 0; i < rounds; i++) {
        for (int q = 0; q < QUEUES; q++)
            OK(zeCommandQueueExecuteCommandLists(queues[q], 1, &lists[q], NULL));
        for (int q = 0; q < QUEUES; q++)
            OK(zeCommandQueueSynchronize(queues[q], UINT64_MAX));
    }
    for (int q = 0; q < QUEUES; q++)
        OK(zeCommandListDestroy(lists[q]));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    for (uint32_t i = 0; i < 2; i++)
        OK(zeMemFree(context, buffers[i]));
}

int main(int argc, char **argv)
{
    static unsigned char binary[1 << 20];
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    FILE *f = argc == 6 ? fopen(argv[1], "rb") : NULL;
    ze_driver_handle_t driver;
    uint32_t count = 1;
    if (!f)
        return 2;
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = fread(binary, 1, sizeof(binary), f),
                             .pInputModule = binary};
    fclose(f);
    OK(zeInit(0));
    OK(zeDriverGet(&count, &driver));
    count = 1;
    OK(zeDeviceGet(driver, &count, &device));
    OK(zeContextCreate(driver, &context_desc, &context));
    for (uint32_t q = 0; q < QUEUES; q++) {
        const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
        OK(zeCommandQueueCreate(context, device, &queue, &queues[q]));
    }
    for (int m = atoi(argv[3]); m > 0; m--)
        run(&desc, argv[2], atoi(argv[4]), (uint32_t)atoi(argv[5]));
    for (int q = 0; q < QUEUES; q++)
        OK(zeCommandQueueDestroy(queues[q]));
    OK(zeContextDestroy(context));
    return 0;
}
