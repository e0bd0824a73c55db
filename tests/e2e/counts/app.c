/* SPDX-License-Identifier: MIT */
/* Launches `loop` of a native binary on the last driver: app FILE ROUNDS GROUPS LAUNCHES, groups
 * of 64. */
#include "../ok.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    uint32_t rounds = (uint32_t)atoi(argv[2]), groups = (uint32_t)atoi(argv[3]), one = 1;
    uint32_t driver_count = 4;
    ze_driver_handle_t drivers[4];
    static unsigned char binary[1 << 20];
    FILE *f = fopen(argv[1], "rb");
    size_t size = f ? fread(binary, 1, sizeof(binary), f) : 0;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    OK(zeInit(0));
    OK(zeDriverGet(&driver_count, drivers));
    for (uint32_t i = 0; i < driver_count; i++) {
        one = 1;
        OK(zeDeviceGet(drivers[i], &one, &device));
    }
    driver = drivers[driver_count - 1];
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &context_desc, &context));
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .format = ZE_MODULE_FORMAT_NATIVE,
                                    .inputSize = size,
                                    .pInputModule = binary};
    ze_module_handle_t module;
    OK(zeModuleCreate(context, device, &module_desc, &module, NULL));
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "loop"};
    ze_kernel_handle_t kernel;
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    ze_host_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *out;
    OK(zeMemAllocHost(context, &memory_desc, (size_t)groups * 64 * 4, 64, &out));
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof(rounds), &rounds));
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(context, device, &queue_desc, &list));
    ze_group_count_t count = {groups, 1, 1};
    for (int i = 0; i < atoi(argv[4]); i++)
        OK(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
    for (uint32_t i = 0; i < groups * 64; i++) {
        uint32_t x = i;
        for (uint32_t k = 0; k < rounds; k++)
            x = x * 1664525u + 1013904223u + k;
        if (((uint32_t *)out)[i] != x)
            return 3;
    }
    return 0;
}
