/* SPDX-License-Identifier: MIT */
/* checked SPIRV KERNEL:GROUPS:ITEMS...: launches of kernels that take two arrays of 65,536 ints,
 * the second one filled. All that it makes it gives back; a launch that fails is the last. */
#include <level_zero/ze_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_ITEMS = 65536, ARRAY_B = ARRAY_ITEMS * 4 };

static void check(ze_result_t result, const char *what)
{
    if (result != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
        exit(20);
    }
}
#define CHECK(call) check((call), #call)

static ze_module_handle_t open_module(ze_context_handle_t context, ze_device_handle_t device,
                                      const char *path)
{
    static uint8_t bytes[4 << 20];
    FILE *f = fopen(path, "rb");
    ze_module_handle_t module;
    if (!f)
        exit(21);
    size_t size = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = size,
                             .pInputModule = bytes,
                             .pBuildFlags = "-g"};
    CHECK(zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

static ze_result_t launch(ze_command_list_handle_t list, ze_module_handle_t module,
                          const char *what, void *const arrays[2])
{
    char name[64];
    uint32_t groups, items;
    ze_kernel_handle_t kernel;
    if (sscanf(what, "%63[^:]:%u:%u", name, &groups, &items) != 3)
        exit(22);
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    CHECK(zeKernelCreate(module, &desc, &kernel));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(zeKernelSetArgumentValue(kernel, i, sizeof(arrays[i]), &arrays[i]));
    ze_group_count_t count = {groups, 1, 1};
    CHECK(zeKernelSetGroupSize(kernel, items, 1, 1));
    ze_result_t result = zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL);
    CHECK(zeKernelDestroy(kernel));
    return result;
}

int main(int argc, char **argv)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    void *arrays[2];
    if (argc < 3)
        return 2;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(zeContextCreate(driver, &context_desc, &context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
    ze_module_handle_t module = open_module(context, device, argv[1]);
    for (uint32_t i = 0; i < 2; i++) {
        ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
        CHECK(zeMemAllocHost(context, &memory, ARRAY_B, 64, &arrays[i]));
    }
    for (int i = 2; i < argc; i++) {
        memset(arrays[0], 0, ARRAY_B);
        for (uint32_t k = 0; k < ARRAY_ITEMS; k++)
            ((int32_t *)arrays[1])[k] = (int32_t)(k * 7 % 13);
        if (launch(list, module, argv[i], arrays))
            break;
    }
    for (uint32_t i = 0; i < 2; i++)
        CHECK(zeMemFree(context, arrays[i]));
    CHECK(zeModuleDestroy(module));
    CHECK(zeCommandListDestroy(list));
    CHECK(zeContextDestroy(context));
    return 0;
}
