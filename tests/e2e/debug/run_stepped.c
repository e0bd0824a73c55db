/* SPDX-License-Identifier: MIT */
/* run_stepped MODULE KERNEL: a kernel of stepped.cl in one group of 32; what it wrote on stdout. */
#include <level_zero/ze_api.h>

#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 32, OUT = 128 };

#define DO(call)                                                                                   \
    do {                                                                                           \
        ze_result_t result_ = (call);                                                              \
        if (result_ != ZE_RESULT_SUCCESS) {                                                        \
            fprintf(stderr, "run_stepped: %s: 0x%x\n", #call, (unsigned)result_);                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static ze_module_handle_t load(ze_context_handle_t context, ze_device_handle_t device,
                               const char *path)
{
    static uint8_t bytes[1 << 20];
    ze_module_handle_t module;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (file)
        fclose(file);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = bytes};
    DO(zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

int main(int argc, char **argv)
{
    uint32_t one = 1, again = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    int *in, n = 5;
    float *out, scale = 1.25f;
    const ze_group_count_t groups = {1, 1, 1};
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    if (argc != 3)
        return 2;
    DO(zeInit(0));
    DO(zeDriverGet(&one, &driver));
    DO(zeDeviceGet(driver, &again, &device));
    DO(zeContextCreate(driver, &context_desc, &context));
    DO(zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, (void **)&in));
    DO(zeMemAllocHost(context, &host, OUT * sizeof(float), 64, (void **)&out));
    for (int i = 0; i < ITEMS; i++)
        in[i] = i * 7 % 5;
    for (int i = 0; i < OUT; i++)
        out[i] = 0;
    DO(zeCommandQueueCreate(context, device, &queue_desc, &queue));
    ze_module_handle_t module = load(context, device, argv[1]);
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = argv[2]};
    DO(zeKernelCreate(module, &kernel_desc, &kernel));
    DO(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
    DO(zeKernelSetArgumentValue(kernel, 0, sizeof(in), &in));
    DO(zeKernelSetArgumentValue(kernel, 1, sizeof(out), &out));
    DO(zeKernelSetArgumentValue(kernel, 2, sizeof(n), &n));
    DO(zeKernelSetArgumentValue(kernel, 3, sizeof(scale), &scale));
    DO(zeCommandListCreate(context, device, &list_desc, &list));
    DO(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    DO(zeCommandListClose(list));
    DO(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    DO(zeCommandQueueSynchronize(queue, UINT64_MAX));
    for (int i = 0; i < 64 + ITEMS; i++)
        printf("%a\n", (double)out[i]);
    DO(zeCommandListDestroy(list));
    DO(zeKernelDestroy(kernel));
    DO(zeModuleDestroy(module));
    DO(zeMemFree(context, in));
    DO(zeMemFree(context, out));
    DO(zeCommandQueueDestroy(queue));
    DO(zeContextDestroy(context));
    return 0;
}
