/* SPDX-License-Identifier: MIT */
/*
 * modules BINARY KERNEL THREADS: threads that each create a module, launch one of its kernels with
 * a buffer for each argument, and destroy everything, a few times. Exit 0: all calls succeeded.
 */
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 3, BUFFER_B = 1 << 16, THREADS_MAX = 16 };
#define CHECK(call)                                                                                \
    do {                                                                                           \
        ze_result_t result_ = (call);                                                              \
        if (result_) {                                                                             \
            fprintf(stderr, "%s: 0x%x\n", #call, (unsigned)result_);                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static unsigned char *binary;
static size_t binary_B;
static const char *kernel_name;
static ze_driver_handle_t driver;
static ze_device_handle_t device;

static void turn(ze_context_handle_t context)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = binary_B,
                             .pInputModule = binary};
    ze_module_handle_t module;
    CHECK(zeModuleCreate(context, device, &desc, &module, NULL));
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                    .pKernelName = kernel_name};
    ze_kernel_handle_t kernel;
    CHECK(zeKernelCreate(module, &kernel_desc, &kernel));
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    CHECK(zeKernelGetProperties(kernel, &properties));
    void *buffers[64] = {0};
    ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    for (uint32_t i = 0; i < properties.numKernelArgs && i < 64; i++) {
        CHECK(zeMemAllocDevice(context, &memory, BUFFER_B, 64, device, &buffers[i]));
        CHECK(zeKernelSetArgumentValue(kernel, i, sizeof(void *), &buffers[i]));
    }
    CHECK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
    ze_group_count_t groups = {4, 1, 1};
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListDestroy(list));
    for (uint32_t i = 0; i < properties.numKernelArgs && i < 64; i++)
        CHECK(zeMemFree(context, buffers[i]));
    CHECK(zeKernelDestroy(kernel));
    CHECK(zeModuleDestroy(module));
}

static void *work(void *leave)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    CHECK(zeContextCreate(driver, &desc, &context));
    for (int i = 0; i < TURNS; i++)
        turn(context);
    if (!leave) /* half of them leave their context to the end of the process */
        CHECK(zeContextDestroy(context));
    return NULL;
}

int main(int argc, char **argv)
{
    FILE *f = argc == 4 ? fopen(argv[1], "rb") : NULL;
    if (!f)
        return 2;
    binary = malloc(16 << 20);
    binary_B = fread(binary, 1, 16 << 20, f);
    fclose(f);
    kernel_name = argv[2];
    uint32_t count = 1;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&count, &driver));
    count = 1;
    CHECK(zeDeviceGet(driver, &count, &device));
    pthread_t threads[THREADS_MAX];
    int n = atoi(argv[3]);
    for (int i = 0; i < n && i < THREADS_MAX; i++)
        pthread_create(&threads[i], NULL, work, i % 2 ? binary : NULL);
    for (int i = 0; i < n && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
