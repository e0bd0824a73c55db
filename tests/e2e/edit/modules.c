/* SPDX-License-Identifier: MIT */
/*
 * modules BINARY KERNEL THREADS: threads that each create a module, launch one of its kernels with
 * a buffer for each argument, and destroy everything, a few times. Exit 0: all calls succeeded.
 */
#include "../ok.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 3, BUFFER_B = 1 << 16, THREADS_MAX = 16 };

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
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                    .pKernelName = kernel_name};
    ze_kernel_handle_t kernel;
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    OK(zeKernelGetProperties(kernel, &properties));
    void *buffers[64] = {0};
    ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    for (uint32_t i = 0; i < properties.numKernelArgs && i < 64; i++) {
        OK(zeMemAllocDevice(context, &memory, BUFFER_B, 64, device, &buffers[i]));
        OK(zeKernelSetArgumentValue(kernel, i, sizeof(void *), &buffers[i]));
    }
    OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(context, device, &queue, &list));
    ze_group_count_t groups = {4, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListDestroy(list));
    for (uint32_t i = 0; i < properties.numKernelArgs && i < 64; i++)
        OK(zeMemFree(context, buffers[i]));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
}

static void *work(void *leave)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    OK(zeContextCreate(driver, &desc, &context));
    for (int i = 0; i < TURNS; i++)
        turn(context);
    if (!leave) /* half of them leave their context to the end of the process */
        OK(zeContextDestroy(context));
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
    OK(zeInit(0));
    OK(zeDriverGet(&count, &driver));
    count = 1;
    OK(zeDeviceGet(driver, &count, &device));
    pthread_t threads[THREADS_MAX];
    int n = atoi(argv[3]);
    for (int i = 0; i < n && i < THREADS_MAX; i++)
        pthread_create(&threads[i], NULL, work, i % 2 ? binary : NULL);
    for (int i = 0; i < n && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
