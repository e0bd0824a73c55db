/* SPDX-License-Identifier: MIT */
/* Usage: ask MODULE...: native binaries. */
#include "ask.h"

#include "../ok.h"
#include "ask_file.h"

#include <stdlib.h>

static const struct {
    int result;
    const char *name;
} results[] = {
#define R(name)                                                                                    \
    {                                                                                              \
        ZE_RESULT_##name, #name                                                                    \
    }
    R(SUCCESS),
    R(NOT_READY),
    R(ERROR_DEVICE_LOST),
    R(ERROR_OUT_OF_HOST_MEMORY),
    R(ERROR_OUT_OF_DEVICE_MEMORY),
    R(ERROR_MODULE_BUILD_FAILURE),
    R(ERROR_MODULE_LINK_FAILURE),
    R(ERROR_NOT_AVAILABLE),
    R(ERROR_DEPENDENCY_UNAVAILABLE),
    R(ERROR_UNINITIALIZED),
    R(ERROR_UNSUPPORTED_VERSION),
    R(ERROR_UNSUPPORTED_FEATURE),
    R(ERROR_INVALID_ARGUMENT),
    R(ERROR_INVALID_NULL_HANDLE),
    R(ERROR_HANDLE_OBJECT_IN_USE),
    R(ERROR_INVALID_NULL_POINTER),
    R(ERROR_INVALID_SIZE),
    R(ERROR_UNSUPPORTED_SIZE),
    R(ERROR_UNSUPPORTED_ALIGNMENT),
    R(ERROR_INVALID_SYNCHRONIZATION_OBJECT),
    R(ERROR_INVALID_ENUMERATION),
    R(ERROR_UNSUPPORTED_ENUMERATION),
    R(ERROR_UNSUPPORTED_IMAGE_FORMAT),
    R(ERROR_INVALID_NATIVE_BINARY),
    R(ERROR_INVALID_GLOBAL_NAME),
    R(ERROR_INVALID_KERNEL_NAME),
    R(ERROR_INVALID_FUNCTION_NAME),
    R(ERROR_INVALID_GROUP_SIZE_DIMENSION),
    R(ERROR_INVALID_GLOBAL_WIDTH_DIMENSION),
    R(ERROR_INVALID_KERNEL_ARGUMENT_INDEX),
    R(ERROR_INVALID_KERNEL_ARGUMENT_SIZE),
    R(ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE),
    R(ERROR_INVALID_MODULE_UNLINKED),
    R(ERROR_INVALID_COMMAND_LIST_TYPE),
    R(ERROR_OVERLAPPING_REGIONS),
    R(WARNING_DROPPED_DATA),
    R(ERROR_UNKNOWN),
#undef R
};

void ask_result(const char *key, int result)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (results[i].result == result) {
            printf("%s = %s\n", key, results[i].name);
            return;
        }
    }
    printf("%s = 0x%x\n", key, (unsigned)result);
}

static void open_objects(struct ask *a, const char *path)
{
    uint32_t one = 1;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &a->driver));
    OK(zeDeviceGet(a->driver, &one, &a->device));
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(a->driver, &context, &a->context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    OK(zeCommandQueueCreate(a->context, a->device, &queue, &a->queue));
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    OK(zeCommandListCreate(a->context, a->device, &list, &a->list));
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 .count = 4};
    OK(zeEventPoolCreate(a->context, &pool, 1, &a->device, &a->pool));
    ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    OK(zeEventCreate(a->pool, &event, &a->event));
    ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    OK(zeFenceCreate(a->queue, &fence, &a->fence));
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p;
    OK(zeMemAllocDevice(a->context, &device, 8192, 64, a->device, &p));
    a->device_memory = p;
    OK(zeMemAllocHost(a->context, &host, 8192, 64, &p));
    a->host_memory = p;
    OK(zeMemAllocShared(a->context, &device, &host, 8192, 64, a->device, &p));
    a->shared_memory = p;
    size_t size_B;
    uint8_t *data = ask_read_file(path, &size_B);
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .inputSize = size_B,
                               .pInputModule = data};
    OK(zeModuleCreate(a->context, a->device, &module, &a->module, NULL));
    free(data);
    const char *name = NULL;
    OK(zeModuleGetKernelNames(a->module, &one, &name));
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    OK(zeKernelCreate(a->module, &kernel, &a->kernel));
}

int main(int argc, char **argv)
{
    struct ask a;
    if (argc < 2)
        return 2;
    open_objects(&a, argv[1]);
    ask_properties(&a);
    for (int i = 1; i < argc; i++)
        ask_kernels(&a, argv[i]);
    printf("end = reached\n");
    return 0;
}
