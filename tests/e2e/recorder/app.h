/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share: a driver, a device, a context, two kernels. */
#ifndef RECORDER_APP_H
#define RECORDER_APP_H

#include "../ok.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1024, BYTES = ITEMS * 4, GROUP = 32 };

struct app {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t add, scale;
    int *shared;
};

static inline void app_init(struct app *app)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    uint32_t one = 1;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &app->driver));
    one = 1;
    OK(zeDeviceGet(app->driver, &one, &app->device));
    OK(zeContextCreate(app->driver, &desc, &app->context));
}

static inline void *app_alloc(const struct app *app, size_t size_B)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p;
    OK(zeMemAllocShared(app->context, &device, &host, size_B, 64, app->device, &p));
    return p;
}

static inline ze_kernel_handle_t app_kernel(const struct app *app, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    OK(zeKernelCreate(app->module, &desc, &kernel));
    OK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    return kernel;
}

static inline void app_load(struct app *app, const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size_B = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = size_B,
                                   .pInputModule = bytes};
    if (!size_B)
        exit(5);
    fclose(file);
    OK(zeModuleCreate(app->context, app->device, &desc, &app->module, NULL));
    app->add = app_kernel(app, "add");
    app->scale = app_kernel(app, "scale");
    app->shared = app_alloc(app, BYTES);
}

static inline void app_args(const struct app *app, ze_kernel_handle_t kernel, int *data, int n)
{
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &data));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof(n), &n));
}

static inline void app_launch(const struct app *app, ze_command_list_handle_t list,
                              ze_kernel_handle_t kernel, int n, ze_event_handle_t signal)
{
    const ze_group_count_t groups = {ITEMS / GROUP, 1, 1};
    app_args(app, kernel, app->shared, n);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, signal, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
}

static inline ze_command_list_handle_t app_list(const struct app *app)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(app->context, app->device, &desc, &list));
    return list;
}

static inline ze_command_list_handle_t app_immediate(const struct app *app, bool synchronous)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                              : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(app->context, app->device, &desc, &list));
    return list;
}

static inline ze_command_queue_handle_t app_queue(const struct app *app)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t queue;
    OK(zeCommandQueueCreate(app->context, app->device, &desc, &queue));
    return queue;
}

static inline void app_run(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
}

static inline void app_wait(ze_command_queue_handle_t queue)
{
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

static inline void app_fill(const struct app *app, int value)
{
    for (int i = 0; i < ITEMS; i++)
        app->shared[i] = value;
}

static inline void app_expect(const struct app *app, int value, const char *where)
{
    for (int i = 0; i < ITEMS; i++) {
        if (app->shared[i] != value) {
            fprintf(stderr, "%s: item %d is %d, not %d\n", where, i, app->shared[i], value);
            exit(4);
        }
    }
}

#endif
