/* SPDX-License-Identifier: MIT */
/*
 * Activities of which the test knows how many there are, in every way in which events and lists
 * can be used. Argument: a SPIR-V module with the kernels add and scale. Exits with 9 when all
 * results were right; --no-results where the device does nothing. --devices instead of a module: a
 * fill on each device and each tile, and nothing else.
 */
#include "../ok.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1024, BYTES = ITEMS * 4, GROUP = 32 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_module_handle_t module;
static ze_kernel_handle_t add, scale;
static ze_command_queue_handle_t queue;
static int *shared;
static bool has_results;

static void expect(int value, const char *where)
{
    for (int i = 0; i < ITEMS && has_results; i++) {
        if (shared[i] != value) {
            fprintf(stderr, "%s: item %d is %d, not %d\n", where, i, shared[i], value);
            exit(4);
        }
    }
}

static void fill(int value)
{
    for (int i = 0; i < ITEMS; i++)
        shared[i] = value;
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    static uint8_t bytes[1 << 20];
    size_t size_B = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = size_B,
                                   .pInputModule = bytes};
    const ze_kernel_desc_t add_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                       .pKernelName = "add"};
    const ze_kernel_desc_t scale_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                         .pKernelName = "scale"};
    if (!size_B)
        exit(5);
    fclose(file);
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    OK(zeKernelCreate(module, &add_desc, &add));
    OK(zeKernelCreate(module, &scale_desc, &scale));
}

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, int n,
                   ze_event_handle_t signal)
{
    const ze_group_count_t groups = {ITEMS / GROUP, 1, 1};
    OK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &shared));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof(n), &n));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, signal, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
}

static ze_command_list_handle_t make_list(void)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(context, device, &desc, &list));
    return list;
}

static void execute(ze_command_list_handle_t list)
{
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
}

/* add 5 times without waiting in between, scale 2 times with: 5 + 2 kernels, 7 barriers */
static void reused_list(void)
{
    ze_command_list_handle_t list = make_list();
    fill(0);
    launch(list, add, 3, NULL);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 5; i++)
        execute(list);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    expect(15, "reused list");
    OK(zeCommandListReset(list));
    launch(list, scale, 2, NULL);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 2; i++) {
        execute(list);
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    }
    expect(60, "reset list");
    OK(zeCommandListDestroy(list));
}

/* the application's own events, without timestamps: 4 + 3 + 6 kernels add, as many barriers */
static void own_events(void)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 2};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_list_handle_t immediate, list = make_list();
    OK(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool));
    OK(zeEventCreate(pool, &desc, &event));
    OK(zeCommandListCreateImmediate(context, device, &queue_desc, &immediate));
    fill(0);
    for (int i = 0; i < 4; i++) { /* waited for and reset by the host */
        launch(immediate, add, 1, event);
        if (has_results)
            OK(zeEventHostSynchronize(event, UINT64_MAX));
        OK(zeEventHostReset(event));
    }
    expect(4, "immediate list");
    for (int i = 0; i < 3; i++) { /* reset by the device, in one list */
        launch(list, add, 1, event);
        OK(zeCommandListAppendEventReset(list, event));
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    }
    OK(zeCommandListClose(list));
    execute(list);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    expect(7, "reset in the list");
    OK(zeCommandListReset(list));
    launch(list, add, 1, event); /* shared between lists, the host resets it */
    OK(zeCommandListClose(list));
    ze_command_list_handle_t other = make_list();
    launch(other, add, 1, event);
    OK(zeCommandListClose(other));
    for (int i = 0; i < 6; i++) {
        execute(i % 2 ? other : list);
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        if (has_results && zeEventQueryStatus(event) != ZE_RESULT_SUCCESS)
            exit(6);
        OK(zeEventHostReset(event));
        if (zeEventQueryStatus(event) != ZE_RESULT_NOT_READY)
            exit(7);
    }
    expect(13, "shared event");
    OK(zeCommandListDestroy(other));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(immediate));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
}

/* 1 copy each of 4096 bytes to the device, on it, back from it; 1 fill; 1 barrier. The device
 * buffer and an event pool are leaked. */
static void copies(void)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 2};
    ze_event_pool_handle_t pool;
    void *leaked, *freed, *host;
    int zero = 0;
    OK(zeMemAllocDevice(context, &desc, BYTES, 64, device, &leaked));
    OK(zeMemAllocDevice(context, &desc, BYTES, 64, device, &freed));
    OK(zeMemAllocHost(context, &host_desc, BYTES, 64, &host));
    OK(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool));
    ze_command_list_handle_t list = make_list();
    memset(host, 1, BYTES);
    OK(zeCommandListAppendMemoryCopy(list, leaked, host, BYTES, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, freed, leaked, BYTES, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, host, freed, BYTES, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryFill(list, shared, &zero, sizeof(zero), BYTES, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    execute(list);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    expect(0, "fill");
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, freed));
    OK(zeMemFree(context, host));
}

static void fill_on(ze_device_handle_t on)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const char zero = 0;
    ze_command_list_handle_t list;
    void *bytes;
    OK(zeMemAllocHost(context, &host_desc, BYTES, 64, &bytes));
    OK(zeCommandListCreateImmediate(context, on, &desc, &list));
    OK(zeCommandListAppendMemoryFill(list, bytes, &zero, 1, BYTES, NULL, 0, NULL));
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, bytes));
}

static int all_devices(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_handle_t devices[16];
    uint32_t one = 1, count = 4;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &count, devices));
    for (uint32_t i = 0, roots = count; i < roots; i++) {
        uint32_t tiles = 4;
        OK(zeDeviceGetSubDevices(devices[i], &tiles, devices + count));
        count += tiles;
    }
    OK(zeContextCreate(driver, &desc, &context));
    for (uint32_t i = 0; i < count; i++)
        fill_on(devices[i]);
    OK(zeContextDestroy(context));
    return 9;
}

int main(int argc, char **argv)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    uint32_t one = 1;
    if (argc < 2)
        return 2;
    if (!strcmp(argv[1], "--devices"))
        return all_devices();
    has_results = argc < 3 || strcmp(argv[2], "--no-results") != 0;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &one, &device));
    OK(zeContextCreate(driver, &desc, &context));
    OK(zeCommandQueueCreate(context, device, &queue_desc, &queue));
    OK(zeMemAllocShared(context, &device_desc, &host_desc, BYTES, 64, device, (void **)&shared));
    load(argv[1]);
    reused_list();
    own_events();
    copies();
    OK(zeMemFree(context, shared));
    OK(zeKernelDestroy(add));
    OK(zeKernelDestroy(scale));
    OK(zeModuleDestroy(module));
    OK(zeCommandQueueDestroy(queue));
    puts("done");
    return 9;
}
