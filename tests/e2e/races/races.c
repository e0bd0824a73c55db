/* SPDX-License-Identifier: MIT */
/*
 * races BINARY KERNEL GROUPS ITEMS [HOW]: one launch of a kernel that takes two arrays of 65,536
 * ints; of which the second one is the first, lies in it, or is named there: same, inside, stored.
 */
#include <level_zero/ze_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_B = 65536 * 4 };

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
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = bytes};
    CHECK(zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

int main(int argc, char **argv)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    const char *how = argc == 6 ? argv[5] : "";
    int *arrays[2];
    if (argc != 5 && argc != 6)
        return 2;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(zeContextCreate(driver, &context_desc, &context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = argv[2]};
    CHECK(zeKernelCreate(open_module(context, device, argv[1]), &desc, &kernel));
    for (uint32_t i = 0; i < 2; i++) {
        ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
        void *p;
        CHECK(zeMemAllocHost(context, &memory, ARRAY_B, 64, &p));
        memset(p, 0, ARRAY_B);
        arrays[i] = p;
    }
    if (!strcmp(how, "same") || !strcmp(how, "inside"))
        arrays[1] = arrays[0] + (*how == 's' ? 0 : 16);
    if (!strcmp(how, "stored"))
        memcpy(arrays[0], &arrays[1], sizeof(arrays[1]));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(zeKernelSetArgumentValue(kernel, i, sizeof(arrays[i]), &arrays[i]));
    ze_group_count_t groups = {(uint32_t)atoi(argv[3]), 1, 1};
    CHECK(zeKernelSetGroupSize(kernel, (uint32_t)atoi(argv[4]), 1, 1));
    return zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL) ? 7 : 0;
}
