/* SPDX-License-Identifier: MIT */
/*
 * between BINARY FIRST SECOND HOW: two commands that touch the same memory. W, R and A are launches
 * that write, read and count in `a`, S one that reads and waits for the host, C copies from it, F
 * fills it and H its other part.
 */
#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 256, ARRAY_B = 65536 * 4, LIST_IN_ORDER = 1 << 3, QUEUE_IN_ORDER = 1 << 1 };

static void check(ze_result_t result, const char *what)
{
    if (result != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
        exit(20);
    }
}
#define CHECK(call) check((call), #call)

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_kernel_handle_t kernels[4];
static ze_event_pool_handle_t pool;
static char *a, *b;
static ze_result_t (*list_synchronize)(ze_command_list_handle_t list, uint64_t timeout_ns);

static void open_kernels(const char *path)
{
    static uint8_t bytes[4 << 20];
    static const char *const names[] = {"between_write", "between_read", "between_count",
                                        "between_host"};
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
    for (int i = 0; i < 4; i++) {
        ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = names[i]};
        CHECK(zeKernelCreate(module, &kernel, &kernels[i]));
        CHECK(zeKernelSetArgumentValue(kernels[i], 0, sizeof(a), &a));
        CHECK(zeKernelSetArgumentValue(kernels[i], 1, sizeof(b), &b));
        CHECK(zeKernelSetGroupSize(kernels[i], 64, 1, 1));
    }
}

static ze_event_handle_t new_event(void)
{
    static uint32_t count;
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = count++};
    ze_event_handle_t event;
    CHECK(zeEventCreate(pool, &desc, &event));
    return event;
}

static ze_command_list_handle_t new_immediate(uint32_t flags, ze_command_queue_mode_t mode)
{
    ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .flags = flags, .mode = mode};
    ze_command_list_handle_t list;
    CHECK(zeCommandListCreateImmediate(context, device, &desc, &list));
    return list;
}

static ze_command_queue_handle_t new_queue(void)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t queue;
    CHECK(zeCommandQueueCreate(context, device, &desc, &queue));
    return queue;
}

static ze_command_list_handle_t new_list(uint32_t flags)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = flags};
    ze_command_list_handle_t list;
    CHECK(zeCommandListCreate(context, device, &desc, &list));
    return list;
}

static void append(ze_command_list_handle_t list, char what, ze_event_handle_t signal,
                   ze_event_handle_t wait)
{
    static const ze_group_count_t groups = {ITEMS / 64, 1, 1};
    static const int zero;
    uint32_t waits = wait != NULL;
    static const char launches[] = "WRAS";
    const char *kernel = strchr(launches, what);
    if (kernel)
        CHECK(zeCommandListAppendLaunchKernel(list, kernels[kernel - launches], &groups, signal,
                                              waits, &wait));
    else if (what == 'C')
        CHECK(zeCommandListAppendMemoryCopy(list, b, a, ITEMS * 4, signal, waits, &wait));
    else if (what == 'F')
        CHECK(zeCommandListAppendMemoryFill(list, a, &zero, 4, ITEMS * 4, signal, waits, &wait));
    else if (what == 'H')
        CHECK(zeCommandListAppendMemoryFill(list, a + ITEMS * 4, &zero, 4, ITEMS * 4, signal, waits,
                                            &wait));
}

static void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                    ze_fence_handle_t fence)
{
    CHECK(zeCommandListClose(list));
    CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
}

/* One list; how: between the two. */
static void in_list(char first, char second, const char *how)
{
    ze_command_queue_handle_t queue = new_queue();
    ze_command_list_handle_t list = new_list(!strcmp(how, "in-order") ? LIST_IN_ORDER : 0);
    ze_event_handle_t event = strstr(how, "event") ? new_event() : NULL;
    append(list, first, event, NULL);
    if (!strcmp(how, "barrier"))
        CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    if (!strcmp(how, "event-wait"))
        CHECK(zeCommandListAppendWaitOnEvents(list, 1, &event));
    append(list, second, NULL, !strcmp(how, "event") ? event : NULL);
    execute(queue, list, NULL);
    CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

/* Two queues, or immediate lists, or one of them. */
static void in_queues(char first, char second, const char *how)
{
    ze_command_queue_handle_t queue = new_queue();
    ze_command_queue_handle_t other = strcmp(how, "one-queue") ? new_queue() : queue;
    ze_command_list_handle_t list = new_list(0), later = new_list(0);
    ze_event_handle_t event = new_event(), unlike = new_event();
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    CHECK(zeFenceCreate(queue, &desc, &fence));
    append(list, first, event, NULL);
    bool waits = !strcmp(how, "queues-event") || !strcmp(how, "queues-other");
    CHECK(zeEventHostSignal(unlike));
    append(later, second, NULL, waits ? strcmp(how, "queues-other") ? event : unlike : NULL);
    execute(queue, list, fence);
    if (!strcmp(how, "queues-fence"))
        CHECK(zeFenceHostSynchronize(fence, UINT64_MAX));
    if (!strcmp(how, "queues-wait"))
        CHECK(zeEventHostSynchronize(event, UINT64_MAX));
    while (!strcmp(how, "queues-ask") && zeEventQueryStatus(event) == ZE_RESULT_NOT_READY) {
    }
    if (!strcmp(how, "queues-sync"))
        CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    execute(other, later, NULL);
    CHECK(zeCommandQueueSynchronize(other, UINT64_MAX));
    CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

static void in_immediate(char first, char second, const char *how)
{
    ze_command_list_handle_t list =
        new_immediate(strcmp(how, "immediate-in-order") ? 0 : QUEUE_IN_ORDER,
                      strcmp(how, "immediate-synchronous") ? ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS
                                                           : ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    append(list, first, NULL, NULL);
    if (!strcmp(how, "immediate-wait"))
        CHECK(list_synchronize(list, UINT64_MAX));
    append(list, second, NULL, NULL);
    CHECK(list_synchronize(list, UINT64_MAX));
}

/* The host writes what a launch reads, while that runs or behind it. */
static void in_host(const char *how)
{
    ze_command_list_handle_t list = new_immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    bool waits = !strcmp(how, "host-wait");
    append(list, 'S', NULL, NULL);
    while (!((volatile int *)b)[1024]) {
    }
    ((volatile int *)a)[waits ? 3 + ITEMS : 3] = 7; /* what it does not read may be written */
    ((volatile int *)b)[2048] = 1;
    CHECK(list_synchronize(list, UINT64_MAX));
    ((volatile int *)a)[3] = 8;
}

/* The host frees what a launch has written. */
static void in_free(const char *how)
{
    ze_command_list_handle_t list = new_immediate(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    append(list, 'W', NULL, NULL);
    if (!strcmp(how, "free-wait"))
        CHECK(list_synchronize(list, UINT64_MAX));
    while (!*(volatile char *)b) { /* that orders nothing */
    }
    CHECK(zeMemFree(context, a));
    CHECK(list_synchronize(list, UINT64_MAX));
}

int main(int argc, char **argv)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    if (argc != 5)
        return 2;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    CHECK(zeDriverGetExtensionFunctionAddress(driver, "zeCommandListHostSynchronize",
                                              (void **)&list_synchronize));
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(zeContextCreate(driver, &context_desc, &context));
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                      .count = 16};
    CHECK(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool));
    ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    CHECK(zeMemAllocHost(context, &memory, ARRAY_B, 64, (void **)&a));
    CHECK(zeMemAllocHost(context, &memory, ARRAY_B, 64, (void **)&b));
    memset(a, 0, ARRAY_B);
    memset(b, 0, ARRAY_B);
    open_kernels(argv[1]);
    char first = argv[2][0], second = argv[3][0];
    const char *how = argv[4];
    if (!strncmp(how, "free", 4))
        in_free(how);
    else if (!strncmp(how, "host", 4))
        in_host(how);
    else if (strstr(how, "queue"))
        in_queues(first, second, how);
    else if (strstr(how, "immediate"))
        in_immediate(first, second, how);
    else
        in_list(first, second, how);
    return 0;
}
