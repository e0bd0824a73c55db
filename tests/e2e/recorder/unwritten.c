/* SPDX-License-Identifier: MIT */
/*
 * A program that leaves all memory as malloc gives it where the specification lets it: what a call
 * fills. For a tool that knows which bytes were ever written (memcheck): whoever reads too early
 * is found. Argument: out; or in, where the program itself hands over a number that it never
 * wrote, in a place that the driver does not look at: the tool must find who reads that.
 */
#include "app.h"

/* On the heap, each of its own: what lies beyond it is no memory. */
static void *room(size_t size_B)
{
    void *p = malloc(size_B);
    if (!p)
        exit(6);
    return p;
}

static void texts(const struct app *app)
{
    size_t *size_B = room(sizeof(*size_B));
    OK(zeKernelGetName(app->add, (*size_B = 0, size_B), room(1)));
    OK(zeKernelGetName(app->add, size_B, room(*size_B)));
    *size_B = 64;
    OK(zeKernelGetName(app->add, size_B, room(*size_B)));
    *size_B = 0;
    OK(zeModuleGetNativeBinary(app->module, size_B, NULL));
    OK(zeModuleGetNativeBinary(app->module, size_B, room(*size_B)));
}

static void properties(const struct app *app)
{
    uint32_t *count = room(sizeof(*count));
    ze_device_properties_t *device = room(sizeof(*device));
    device->stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    device->pNext = NULL;
    OK(zeDeviceGetProperties(app->device, device));
    ze_kernel_properties_t *kernel = room(sizeof(*kernel));
    kernel->stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    kernel->pNext = NULL;
    OK(zeKernelGetProperties(app->add, kernel));
    *count = 2;
    ze_device_memory_properties_t *memory = room(2 * sizeof(*memory));
    for (int i = 0; i < 2; i++) {
        memory[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        memory[i].pNext = NULL;
    }
    OK(zeDeviceGetMemoryProperties(app->device, count, memory));
    *count = 16;
    OK(zeDriverGet(count, room(16 * sizeof(ze_driver_handle_t))));
    ze_memory_allocation_properties_t *allocation = room(sizeof(*allocation));
    allocation->stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    allocation->pNext = NULL;
    OK(zeMemGetAllocProperties(app->context, app->shared, allocation,
                               room(sizeof(ze_device_handle_t))));
}

/* What a call that fails was to fill stays as it is. */
static void failures(const struct app *app)
{
    static const uint8_t nonsense[64] = "no module at all";
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof(nonsense),
                                   .pInputModule = nonsense};
    ze_module_handle_t *module = room(sizeof(*module));
    ze_module_build_log_handle_t *log = room(sizeof(*log));
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "there is none of this name"};
    if (!zeModuleCreate(app->context, app->device, &desc, module, log) ||
        !zeKernelCreate(app->module, &kernel, room(sizeof(ze_kernel_handle_t))) ||
        !zeMemAllocHost(app->context, NULL, 64, 64, room(sizeof(void *))) ||
        !zeEventQueryKernelTimestamp(NULL, room(sizeof(ze_kernel_timestamp_result_t))))
        exit(5);
}

static void lists(const struct app *app)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_pool_handle_t *pool = room(sizeof(*pool));
    ze_event_handle_t *event = room(sizeof(*event));
    OK(zeEventPoolCreate(app->context, &pool_desc, 1, (ze_device_handle_t *)&app->device, pool));
    OK(zeEventCreate(*pool, &event_desc, event));
    ze_command_list_handle_t list = app_list(app);
    ze_command_queue_handle_t queue = app_queue(app);
    app_fill(app, 1);
    for (int i = 0; i < 3; i++)
        app_launch(app, list, app->add, 1, i ? NULL : *event);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 3; i++)
        app_run(queue, list);
    app_wait(queue);
    app_expect(app, 10, "three executions of three");
    OK(zeCommandListReset(list));
    for (int i = 0; i < 100; i++)
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
}

int main(int argc, char **argv)
{
    struct app app;
    if (argc < 3)
        return 2;
    app_init(&app);
    app_load(&app, argv[2]);
    if (!strcmp(argv[1], "in")) {
        const uint32_t *never = room(sizeof(*never));
        zeKernelSuggestGroupSize(NULL, *never, 1, 1, NULL, NULL, NULL);
        return 9;
    }
    texts(&app);
    properties(&app);
    failures(&app);
    lists(&app);
    puts("done");
    return 9;
}
