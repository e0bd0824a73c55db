/* SPDX-License-Identifier: MIT */
/*
 * Launches `loop` of a native binary (tests/e2e/counts/loop.cl) in one way:
 *
 *     app FILE WAY N [GROUPS [ROUNDS]]
 *
 * 7 rounds in 3 groups of 64 unless it is told otherwise. The ways:
 *
 *     immediate  N times, an immediate list that waits
 *     async      N times, an immediate list that does not; one wait at the end
 *     list       a list with two launches, executed N times, waited for each time
 *     again      ... waited for at the end only
 *     reset      a list that is filled, executed, and reset right behind the event of its launch
 *     own        the application measures its own launch, between two that it does not
 *     threads    four threads, N launches each, one after the other
 *     fork       N launches in a child, and N in its parent behind it
 *     killed     N launches, then SIGKILL
 *
 * Exits with 9; 4: what the application measured itself is wrong.
 */
#include "../ok.h"

#include <level_zero/zet_api.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUP_ITEMS = 64 };
static uint32_t round_count = 7, launched_groups = 3;

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_kernel_handle_t kernel;
static ze_command_queue_handle_t queue;
static const char *file_name;
static int count;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void start(void)
{
    static uint8_t binary[1 << 20];
    FILE *f = fopen(file_name, "rb");
    size_t size = f ? fread(binary, 1, sizeof(binary), f) : 0;
    uint32_t one = 1;
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = size,
                                          .pInputModule = binary};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "loop"};
    const ze_host_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_module_handle_t module;
    void *out;
    if (!size)
        exit(5);
    fclose(f);
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &one, &device));
    OK(zeContextCreate(driver, &context_desc, &context));
    OK(zeModuleCreate(context, device, &module_desc, &module, NULL));
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    OK(zeMemAllocHost(context, &memory_desc, (size_t)launched_groups * GROUP_ITEMS * 4, 64, &out));
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof(round_count), &round_count));
    OK(zeCommandQueueCreate(context, device, &queue_desc, &queue));
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t signal)
{
    const ze_group_count_t all = {launched_groups, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &all, signal, 0, NULL));
}

static ze_command_list_handle_t immediate_list(ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = mode};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(context, device, &desc, &list));
    return list;
}

static ze_command_list_handle_t regular_list(int launches)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(context, device, &desc, &list));
    for (int i = 0; i < launches; i++)
        launch(list, NULL);
    OK(zeCommandListClose(list));
    return list;
}

static ze_event_handle_t event(void)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool;
    ze_event_handle_t made;
    OK(zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool));
    OK(zeEventCreate(pool, &desc, &made));
    return made;
}

static void immediate(void)
{
    ze_command_list_handle_t list = immediate_list(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    for (int i = 0; i < count; i++)
        launch(list, NULL);
    OK(zeCommandListDestroy(list));
}

static void async(void)
{
    ze_command_list_handle_t list = immediate_list(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t last = event();
    for (int i = 0; i < count; i++)
        launch(list, i == count - 1 ? last : NULL);
    OK(zeEventHostSynchronize(last, UINT64_MAX));
    OK(zeCommandListDestroy(list));
}

static void execute(ze_command_list_handle_t list, bool wait)
{
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    if (wait)
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

static void list_executed(bool wait)
{
    ze_command_list_handle_t list = regular_list(2);
    for (int i = 0; i < count; i++)
        execute(list, wait);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeCommandListDestroy(list));
}

static void reset(void)
{
    ze_command_list_handle_t list = regular_list(0);
    ze_event_handle_t over = event();
    for (int i = 0; i < count; i++) {
        OK(zeCommandListReset(list));
        launch(list, over);
        OK(zeCommandListClose(list));
        execute(list, false);
        OK(zeEventHostSynchronize(over, UINT64_MAX));
        OK(zeEventHostReset(over));
    }
    OK(zeCommandListDestroy(list));
}

static zet_metric_group_handle_t find_group(const char *name)
{
    zet_metric_group_handle_t groups[256];
    uint32_t group_count = 256;
    OK(zetMetricGroupGet(device, &group_count, groups));
    for (uint32_t i = 0; i < group_count; i++) {
        zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        OK(zetMetricGroupGetProperties(groups[i], &p));
        if (!strcmp(p.name, name) &&
            p.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
            return groups[i];
    }
    exit(6);
}

/* The second launch is the application's to measure: it must find what it would without us. */
static void own(void)
{
    ze_command_list_handle_t list = immediate_list(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    launch(list, NULL);
    zet_metric_group_handle_t group = find_group("ZscopeInstructions");
    OK(zetContextActivateMetricGroups(context, device, 1, &group));
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    OK(zetMetricQueryPoolCreate(context, device, group, &desc, &pool));
    OK(zetMetricQueryCreate(pool, 0, &query));
    OK(zetCommandListAppendMetricQueryBegin(list, query));
    launch(list, NULL);
    OK(zetCommandListAppendMetricQueryEnd(list, query, NULL, 0, NULL));
    uint8_t raw[4096];
    size_t raw_B = sizeof(raw);
    zet_typed_value_t values[64];
    uint32_t value_count = 64;
    OK(zetMetricQueryGetData(query, &raw_B, raw));
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           raw_B, raw, &value_count, values));
    if (values[1].value.ui64 != 1) /* launches */
        exit(4);
    OK(zetMetricQueryDestroy(query));
    OK(zetMetricQueryPoolDestroy(pool));
    OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    launch(list, NULL);
    OK(zeCommandListDestroy(list));
}

static void *thread(void *unused)
{
    ze_command_list_handle_t list = immediate_list(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(&turn);
        launch(list, NULL);
        pthread_mutex_unlock(&turn);
    }
    OK(zeCommandListDestroy(list));
    return unused;
}

static void threads(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

static void forked(void)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        start();
        immediate();
        exit(9);
    }
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 9)
        exit(7);
    start();
    immediate();
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 6)
        return 2;
    if (argc > 4)
        launched_groups = (uint32_t)atoi(argv[4]);
    if (argc > 5)
        round_count = (uint32_t)atoi(argv[5]);
    const char *way = argv[2];
    file_name = argv[1];
    count = atoi(argv[3]);
    if (!strcmp(way, "fork")) {
        forked();
        return 9;
    }
    start();
    if (!strcmp(way, "immediate") || !strcmp(way, "killed"))
        immediate();
    else if (!strcmp(way, "async"))
        async();
    else if (!strcmp(way, "list") || !strcmp(way, "again"))
        list_executed(way[0] == 'l');
    else if (!strcmp(way, "reset"))
        reset();
    else if (!strcmp(way, "own"))
        own();
    else if (!strcmp(way, "threads"))
        threads();
    else
        return 2;
    if (way[0] == 'k')
        raise(SIGKILL);
    return 9;
}
