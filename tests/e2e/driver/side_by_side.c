/* SPDX-License-Identifier: MIT */
/*
 * side_by_side SPIRV: the same work on the first device of each driver, in turn and interleaved.
 * One line for each: "driver I, NAME: SUM, event RESULT".
 */
#include <level_zero/ze_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ze_result_t result, const char *what)
{
    if (result != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
        exit(20);
    }
}
#define CHECK(call) check((call), #call)

enum { DRIVERS_MAX = 4, SPIRV_B_MAX = 1 << 20 };

struct side {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    int *memory;
};

static uint8_t spirv[SPIRV_B_MAX];
static size_t spirv_B;

static void open_side(ze_driver_handle_t driver, struct side *s)
{
    uint32_t one = 1;
    CHECK(zeDeviceGet(driver, &one, &s->device));
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(zeContextCreate(driver, &context, &s->context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    CHECK(zeCommandQueueCreate(s->context, s->device, &queue, &s->queue));
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    CHECK(zeCommandListCreate(s->context, s->device, &list, &s->list));
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    CHECK(zeMemAllocShared(s->context, &device, &host, 4096, 64, s->device, (void **)&s->memory));
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_IL_SPIRV,
                               .inputSize = spirv_B,
                               .pInputModule = spirv};
    CHECK(zeModuleCreate(s->context, s->device, &module, &s->module, NULL));
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "add_atomic"};
    CHECK(zeKernelCreate(s->module, &kernel, &s->kernel));
    CHECK(zeKernelSetGroupSize(s->kernel, 32, 1, 1));
    CHECK(zeKernelSetArgumentValue(s->kernel, 0, sizeof(s->memory), &s->memory));
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 .count = 1};
    CHECK(zeEventPoolCreate(s->context, &pool, 1, &s->device, &s->pool));
    ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    CHECK(zeEventCreate(s->pool, &event, &s->event));
}

static void submit(struct side *s)
{
    const ze_group_count_t groups = {4, 1, 1};
    s->memory[0] = 0;
    CHECK(zeCommandListAppendLaunchKernel(s->list, s->kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListAppendBarrier(s->list, NULL, 0, NULL));
    CHECK(zeCommandListAppendSignalEvent(s->list, s->event));
    CHECK(zeCommandListClose(s->list));
    CHECK(zeCommandQueueExecuteCommandLists(s->queue, 1, &s->list, NULL));
}

static void close_side(struct side *s)
{
    CHECK(zeEventDestroy(s->event));
    CHECK(zeEventPoolDestroy(s->pool));
    CHECK(zeKernelDestroy(s->kernel));
    CHECK(zeModuleDestroy(s->module));
    CHECK(zeMemFree(s->context, s->memory));
    CHECK(zeCommandListDestroy(s->list));
    CHECK(zeCommandQueueDestroy(s->queue));
    CHECK(zeContextDestroy(s->context));
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    spirv_B = f ? fread(spirv, 1, sizeof(spirv), f) : 0;
    if (!spirv_B)
        return 21;
    fclose(f);
    CHECK(zeInit(0));
    uint32_t count = DRIVERS_MAX;
    ze_driver_handle_t drivers[DRIVERS_MAX];
    struct side sides[DRIVERS_MAX];
    CHECK(zeDriverGet(&count, drivers));
    for (uint32_t i = 0; i < count; i++)
        open_side(drivers[i], &sides[i]);
    for (uint32_t i = 0; i < count; i++)
        submit(&sides[i]);
    for (uint32_t i = count; i-- > 0;)
        CHECK(zeCommandQueueSynchronize(sides[i].queue, UINT64_MAX));
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        CHECK(zeDeviceGetProperties(sides[i].device, &p));
        printf("driver %u, %s: %d, event 0x%x\n", i, p.name, sides[i].memory[0],
               (unsigned)zeEventQueryStatus(sides[i].event));
        close_side(&sides[i]);
    }
    return 0;
}
