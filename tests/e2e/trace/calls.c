/* SPDX-License-Identifier: MIT */
/* Makes calls of which the test knows how many there are. Arguments: threads, calls per thread,
 * how to end: return, fork, kill, abort, leave (memory that is never freed), waits
 * (leaves memory, and ends after a child that does, too). */
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ze_device_handle_t device;
static ze_context_handle_t context;
static long calls;

static void *work(void *arg)
{
    for (long i = 0; i < calls; i++) {
        ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
        void *p = NULL;
        if (zeMemAllocHost(context, &desc, 4096 + (size_t)i, 64, &p) || zeMemFree(context, p))
            exit(3);
    }
    return NULL;
}

static void run(int threads)
{
    pthread_t ids[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static int leave(void)
{
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p = NULL;
    return (int)zeMemAllocHost(context, &desc, 1 << 20, 64, &p);
}

static int start(void)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    return zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
           zeContextCreate(driver, &desc, &context);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int threads = atoi(argv[1]);
    calls = atol(argv[2]);
    if (start())
        return 4;
    if (!strcmp(argv[3], "leave"))
        return leave() ? 6 : 7;
    if (!strcmp(argv[3], "waits")) {
        int status = leave();
        pid_t pid = fork();
        if (pid == 0)
            exit(start() || leave());
        waitpid(pid, &status, 0);
        return status ? 6 : 7;
    }
    uint32_t groups = 0;
    zetMetricGroupGet(device, &groups, NULL);
    if (!strcmp(argv[3], "fork")) {
        pid_t pid = fork();
        if (pid == 0) {
            if (start()) /* handles of the parent are worth nothing here */
                _exit(4);
            run(threads);
            _exit(0);
        }
        int status;
        waitpid(pid, &status, 0);
        if (status)
            return 5;
    }
    run(threads);
    /* a call that fails, with a result that the specification names */
    void *p = NULL;
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    zeMemAllocDevice(context, &device_desc, 64, (size_t)1 << 40, device, &p);
    puts("made all calls");
    fflush(stdout);
    if (!strcmp(argv[3], "kill"))
        raise(SIGKILL);
    if (!strcmp(argv[3], "abort"))
        abort();
    return zeContextDestroy(context) ? 6 : 7;
}
