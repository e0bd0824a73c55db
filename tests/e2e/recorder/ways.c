/* SPDX-License-Identifier: MIT */
/*
 * Device activity in every way there is; the test knows how much. What the application sees of
 * events, timestamps and results is printed: it must be the same with and without the recorder.
 * Arguments: the way, a SPIR-V module with add and scale.
 */
#include "app.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct app app;

static ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = index,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    OK(zeEventCreate(pool, &desc, &event));
    return event;
}

static ze_event_pool_handle_t make_pool(uint32_t flags, uint32_t count)
{
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = flags | ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = count};
    ze_event_pool_handle_t pool;
    OK(zeEventPoolCreate(app.context, &desc, 0, NULL, &pool));
    return pool;
}

/* Per device: 3 copies on a queue that only copies and 1 kernel on the other, together 2 fences;
 * two devices. */
static void queues(void)
{
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    OK(zeDeviceGet(app.driver, &count, devices));
    printf("%u devices\n", count);
    for (uint32_t d = 0; d < count; d++) {
        struct app on = app;
        on.device = devices[d];
        OK(zeContextCreate(app.driver,
                           &(ze_context_desc_t){.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC},
                           &on.context));
        char *data = app_alloc(&on, 4096);
        for (uint32_t ordinal = 0; ordinal < 2; ordinal++) {
            const ze_command_queue_desc_t queue_desc = {
                .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .ordinal = ordinal};
            const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                                      .commandQueueGroupOrdinal = ordinal};
            const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
            ze_command_queue_handle_t queue;
            ze_command_list_handle_t list;
            ze_fence_handle_t fence;
            OK(zeCommandQueueCreate(on.context, on.device, &queue_desc, &queue));
            OK(zeCommandListCreate(on.context, on.device, &list_desc, &list));
            OK(zeFenceCreate(queue, &fence_desc, &fence));
            for (int i = 0; i < 3 && ordinal; i++)
                OK(zeCommandListAppendMemoryCopy(list, data, data + 1024, 512, NULL, 0, NULL));
            if (!ordinal)
                OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
            OK(zeCommandListClose(list));
            OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
            OK(zeFenceHostSynchronize(fence, UINT64_MAX));
            printf("fence %u\n", (unsigned)zeFenceQueryStatus(fence));
            OK(zeFenceDestroy(fence));
            OK(zeCommandListDestroy(list));
            OK(zeCommandQueueDestroy(queue));
        }
        OK(zeMemFree(on.context, data));
        OK(zeContextDestroy(on.context));
    }
}

/* 1 copy from memory, 1 between images, 1 of a region of 4 x 2 pixels, 1 to memory: 16 x 8 of 4
 * bytes each. */
static void images(void)
{
    const ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = ZE_IMAGE_TYPE_2D,
                                  .format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
                                             ZE_IMAGE_FORMAT_TYPE_UINT, ZE_IMAGE_FORMAT_SWIZZLE_R,
                                             ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B,
                                             ZE_IMAGE_FORMAT_SWIZZLE_A},
                                  .width = 16,
                                  .height = 8,
                                  .depth = 1};
    const ze_image_region_t region = {2, 3, 0, 4, 2, 1};
    ze_command_list_handle_t list = app_immediate(&app, true);
    ze_image_handle_t a, b;
    OK(zeImageCreate(app.context, app.device, &desc, &a));
    OK(zeImageCreate(app.context, app.device, &desc, &b));
    for (int i = 0; i < 128; i++)
        app.shared[i] = i;
    OK(zeCommandListAppendImageCopyFromMemory(list, a, app.shared, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopy(list, b, a, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyRegion(list, b, a, &region, &region, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, app.shared + 128, b, NULL, NULL, 0, NULL));
    printf("images %d\n", memcmp(app.shared, app.shared + 128, 512));
    OK(zeImageDestroy(a));
    OK(zeImageDestroy(b));
}

/* add: 1 cooperative, 2 indirect; 1 call for both kernels. */
static void launches(void)
{
    ze_command_list_handle_t list = app_immediate(&app, true);
    ze_group_count_t *groups = app_alloc(&app, 4096);
    uint32_t *count = (uint32_t *)(groups + 8);
    ze_kernel_handle_t kernels[] = {app.add, app.scale};
    app_fill(&app, 0);
    app_args(&app, app.add, app.shared, 2);
    app_args(&app, app.scale, app.shared, 3);
    groups[0] = groups[1] = (ze_group_count_t){ITEMS / GROUP, 1, 1};
    *count = 2;
    OK(zeCommandListAppendLaunchCooperativeKernel(list, app.add, &(ze_group_count_t){4, 1, 1}, NULL,
                                                  0, NULL));
    for (int i = 0; i < 2; i++)
        OK(zeCommandListAppendLaunchKernelIndirect(list, app.add, groups, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, kernels, count, groups, NULL, 0,
                                                        NULL));
    printf("results %d %d\n", app.shared[0], app.shared[ITEMS - 1]);
    OK(zeMemFree(app.context, groups));
}

static void show(const char *what, ze_event_handle_t event)
{
    ze_kernel_timestamp_result_t t = {0};
    ze_result_t status = zeEventQueryStatus(event);
    ze_result_t result = zeEventQueryKernelTimestamp(event, &t);
    printf("%s: %x %x%s\n", what, (unsigned)status, (unsigned)result,
           result                                       ? ""
           : t.global.kernelStart <= t.global.kernelEnd ? " in order"
                                                        : " out of order");
}

/* 9 kernels add, some with events of the application, and as many barriers. */
static void events(void)
{
    const uint32_t flags[] = {0, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP};
    ze_command_queue_handle_t queue = app_queue(&app);
    ze_command_list_handle_t list = app_list(&app), immediate = app_immediate(&app, false);
    app_fill(&app, 0);
    for (uint32_t p = 0; p < 2; p++) {
        ze_event_pool_handle_t pool = make_pool(flags[p], 3);
        ze_event_handle_t event = make_event(pool, 0), second = make_event(pool, 2);
        printf("timestamps %u\n", p);
        show("new", event);
        app_launch(&app, immediate, app.add, 1, event);
        OK(zeEventHostSynchronize(event, UINT64_MAX));
        show("signalled", event);
        OK(zeEventHostReset(event));
        show("reset", event);
        OK(zeEventHostSignal(event));
        show("signalled by the host", event);
        OK(zeEventHostReset(event));
        app_launch(&app, list, app.add, 1, second);
        OK(zeCommandListAppendSignalEvent(list, event));
        OK(zeCommandListAppendWaitOnEvents(list, 1, &event));
        app_launch(&app, list, app.add, 1, NULL);
        OK(zeCommandListClose(list));
        app_run(queue, list);
        app_wait(queue);
        show("first", second);
        show("signalled in the list", event);
        if (p) /* executed again, its event still set */
            app_run(queue, list);
        app_wait(queue);
        OK(zeCommandListReset(list));
        OK(zeEventDestroy(event));
        OK(zeEventDestroy(second));
        OK(zeEventPoolDestroy(pool));
    }
    /* a device that waits for the host, and a wait that ends early */
    ze_event_pool_handle_t pool = make_pool(0, 2);
    ze_event_handle_t gate = make_event(pool, 0), done = make_event(pool, 1);
    const ze_group_count_t groups = {ITEMS / GROUP, 1, 1};
    app_args(&app, app.add, app.shared, 1);
    OK(zeCommandListAppendLaunchKernel(immediate, app.add, &groups, NULL, 1, &gate));
    OK(zeCommandListAppendBarrier(immediate, done, 0, NULL));
    printf("too early %x\n", (unsigned)zeEventHostSynchronize(gate, 1000));
    OK(zeEventHostSignal(gate));
    OK(zeEventHostSynchronize(done, UINT64_MAX));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(gate));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    app_expect(&app, 9, "events");
}

static void *one_launch(void *arg)
{
    ze_command_list_handle_t list = app_immediate(&app, true);
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListDestroy(list));
    return NULL;
}

/* 40 barriers from threads that end, one after the other and side by side. */
static void threads(void)
{
    pthread_t ids[4];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++)
            pthread_create(&ids[i], NULL, one_launch, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(ids[i], NULL);
    }
}

/* The parent's 3 executions are under way as it forks; the child makes 2 barriers of its own, and
 * executes a program that makes 40 (threads). */
static void forks(const char *program, const char *module)
{
    ze_command_queue_handle_t queue = app_queue(&app);
    ze_command_list_handle_t list = app_list(&app);
    app_fill(&app, 0);
    app_launch(&app, list, app.add, 1, NULL);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 3; i++)
        app_run(queue, list);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        app_init(&app);
        one_launch(NULL);
        one_launch(NULL);
        execl(program, program, "threads", module, (char *)NULL);
        _exit(11);
    }
    int status;
    waitpid(pid, &status, 0);
    app_wait(queue);
    app_expect(&app, 3, "forks");
    printf("child %d\n", WEXITSTATUS(status));
}

/* The loader is opened a second time and its functions are looked up: 1 barrier. */
static void opened(void)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    ze_result_t (*barrier)(ze_command_list_handle_t, ze_event_handle_t, uint32_t,
                           ze_event_handle_t *);
    ze_command_list_handle_t list = app_immediate(&app, true);
    *(void **)&barrier = loader ? dlsym(loader, "zeCommandListAppendBarrier") : NULL;
    printf("found %d\n", barrier != NULL);
    OK(barrier(list, NULL, 0, NULL));
}

/* A context goes before its lists and events, as at the end of some programs: 1 barrier; a list
 * that was never executed. */
static void disorder(void)
{
    struct app on = app;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(app.driver, &desc, &on.context));
    ze_command_list_handle_t list = app_list(&on), done = app_list(&on);
    ze_command_queue_handle_t queue = app_queue(&on);
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(done, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandListClose(done));
    app_run(queue, done);
    app_wait(queue);
    zeContextDestroy(on.context);
    zeCommandListReset(list);
    zeCommandListDestroy(list);
    zeCommandListDestroy(done);
    zeCommandQueueDestroy(queue);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"queues", queues},    {"images", images},   {"launches", launches},
                {"events", events},    {"threads", threads}, {"opened", opened},
                {"disorder", disorder}};
    if (argc < 3)
        return 2;
    app_init(&app);
    app_load(&app, argv[2]);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(ways[i].name, argv[1]))
            ways[i].run();
    if (!strcmp(argv[1], "forks"))
        forks(argv[0], argv[2]);
    puts("done");
    return 9;
}
