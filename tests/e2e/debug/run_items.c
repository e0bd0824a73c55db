/* SPDX-License-Identifier: MIT */
/* run_items FILE: one launch of 2 x 2 x 2 groups of 5 x 3 x 2 work-items, from (7, 11, 13) on. */
#include <level_zero/ze_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUT_B = 4 * 100 * 100 * 100 };

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
    exit(20);
}
#define CHECK(call) check((call), #call)

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size_B = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    void *out;
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = size_B,
                                          .pInputModule = bytes};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "items"};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_group_count_t groups = {2, 2, 2};
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    CHECK(zeContextCreate(driver, &context_desc, &context));
    CHECK(zeModuleCreate(context, device, &module_desc, &module, NULL));
    CHECK(zeKernelCreate(module, &kernel_desc, &kernel));
    CHECK(zeMemAllocDevice(context, &memory, OUT_B, 0, device, &out));
    CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
    CHECK(zeKernelSetGroupSize(kernel, 5, 3, 2));
    CHECK(zeKernelSetGlobalOffsetExp(kernel, 7, 11, 13));
    CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    CHECK(zeMemFree(context, out));
    return 0;
}
