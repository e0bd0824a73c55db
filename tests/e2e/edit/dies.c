/* SPDX-License-Identifier: MIT */
/*
 * dies BINARY KERNEL LAUNCHES HOW: launches a kernel so often in 4 groups of 16 items, waits for
 * it, and ends as HOW says: kill, abort, segv, _exit, exit, destroy (the module first, then kill),
 * hang (a signal's handler calls exit while another thread goes on launching), or run (killed while
 * a launch of very many groups runs).
 */
#include "../ok.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_B = 1 << 16, PAUSE_US = 300000, RUN_S = 1, LOOK_S = 1, LIMIT_S = 100 };

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;

static void start(const char *path, const char *name)
{
    static unsigned char binary[1 << 20];
    FILE *f = fopen(path, "rb");
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = f ? fread(binary, 1, sizeof(binary), f) : 0,
                             .pInputModule = binary};
    ze_driver_handle_t driver;
    uint32_t count = 1;
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    OK(zeInit(0));
    OK(zeDriverGet(&count, &driver));
    count = 1;
    OK(zeDeviceGet(driver, &count, &device));
    OK(zeContextCreate(driver, &context_desc, &context));
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    for (uint32_t i = 0; i < 2; i++) {
        void *buffer;
        OK(zeMemAllocDevice(context, &memory, BUFFER_B, 64, device, &buffer));
        OK(zeKernelSetArgumentValue(kernel, i, sizeof(void *), &buffer));
    }
    OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    OK(zeCommandQueueCreate(context, device, &queue_desc, &queue));
    OK(zeCommandListCreate(context, device, &list_desc, &list));
    ze_group_count_t groups = {4, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListClose(list));
}

static void launch(void)
{
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

static void *launch_forever(void *unused)
{
    for (;;)
        launch();
    return unused;
}

static void launch_many(void)
{
    ze_group_count_t groups = {1 << 30, 1, 1};
    OK(zeCommandListReset(list));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    alarm(LIMIT_S);
    clock_t from = clock();
    while (clock() - from < RUN_S * CLOCKS_PER_SEC) /* of the processor: the machine may be busy */
        usleep(PAUSE_US / 10);
    sleep(LOOK_S); /* somebody looks at the counters meanwhile */
    raise(SIGKILL);
}

static void on_alarm(int number)
{
    exit(number == SIGALRM ? 0 : 1);
}

static void end(const char *how)
{
    if (!strcmp(how, "run")) {
        launch_many();
    } else if (!strcmp(how, "destroy")) {
        OK(zeKernelDestroy(kernel));
        OK(zeModuleDestroy(module));
        how = "kill";
    } else if (!strcmp(how, "hang")) {
        pthread_t thread;
        signal(SIGALRM, on_alarm);
        pthread_create(&thread, NULL, launch_forever, NULL);
        alarm(1);
        for (;;)
            pause();
    } else { /* what is read is read again only after a while */
        usleep(PAUSE_US);
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    }
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "_exit"))
        _exit(0);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    start(argv[1], argv[2]);
    for (int i = atoi(argv[3]); i > 0; i--)
        launch();
    end(argv[4]);
    return 0;
}
