/* SPDX-License-Identifier: MIT */
/*
 * A program to be debugged: does what it is told on stdin, a command a line, and says on stdout
 * when it is done: "name result input output". Tests of debuggers start it.
 */
#include "base/sanitizer.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 1024, GROUP = 16, STORM_GROUPS = 8 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list, immediate;
static ze_module_handle_t module;
static int *in, *out;

/* It ends as debugged programs do, with all that it made: no leak is to change its status. */
#if ZS_HAS_ASAN
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}
#endif

static ze_result_t init(uint32_t number)
{
    ze_device_handle_t devices[8], subs[8];
    uint32_t one = 1, count = 8, sub_count = 8;
    ze_result_t result = zeInit(0);
    if (result == ZE_RESULT_SUCCESS)
        result = zeDriverGet(&one, &driver);
    if (result == ZE_RESULT_SUCCESS)
        result = zeDeviceGet(driver, &count, devices);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    device = devices[number / 10 % 8];
    if (number % 10) { /* sub-device */
        result = zeDeviceGetSubDevices(device, &sub_count, subs);
        device = subs[number % 10 - 1];
    }
    return result;
}

static ze_result_t make_context(uint32_t number)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    (void)number;
    ze_result_t result = zeContextCreate(driver, &desc, &context);
    if (result == ZE_RESULT_SUCCESS)
        result = zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, (void **)&in);
    if (result == ZE_RESULT_SUCCESS)
        result = zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, (void **)&out);
    for (int i = 0; result == ZE_RESULT_SUCCESS && i < ITEMS; i++) {
        in[i] = i % 7;
        out[i] = -1;
    }
    return result;
}

static ze_result_t make_queue(uint32_t number)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    if (number)
        return zeCommandListCreateImmediate(context, device, &desc, &immediate);
    return zeCommandQueueCreate(context, device, &desc, &queue);
}

static ze_result_t drop_queue(uint32_t number)
{
    return number ? zeCommandListDestroy(immediate) : zeCommandQueueDestroy(queue);
}

static ze_result_t load_module(const char *name, ze_module_format_t format, const char *flags)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", getenv("E2E_KERNELS"), name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return ZE_RESULT_ERROR_UNKNOWN;
    uint8_t *bytes = malloc(1 << 20);
    size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = format,
                             .inputSize = size,
                             .pInputModule = bytes,
                             .pBuildFlags = flags};
    ze_result_t result = zeModuleCreate(context, device, &desc, &module, NULL);
    free(bytes);
    return result;
}

static ze_result_t make_module(uint32_t number)
{
    static const char *const names[] = {"debugged.bin", "plain.bin", "lines.zebin",
                                        "acm-g10/debugged.bin", "pvc/debugged.bin"};
    return load_module(names[number % 5], ZE_MODULE_FORMAT_NATIVE, NULL);
}

/* By the compiler, which has seen nothing like it before: of the number. */
static ze_result_t build_module(uint32_t number)
{
    char flags[64];
    snprintf(flags, sizeof(flags), "-g -DNUMBER=%u", number);
    return load_module("add.spv", ZE_MODULE_FORMAT_IL_SPIRV, flags);
}

static ze_result_t drop_module(uint32_t number)
{
    (void)number;
    return zeModuleDestroy(module);
}

/* The end, as soon as the driver lets go of it. */
static ze_result_t vanish(uint32_t number)
{
    zeModuleDestroy(module);
    zeCommandQueueDestroy(queue);
    _exit((int)number);
}

/* What the driver gives as debug information: its first bytes, where the kernels write. */
static ze_result_t copy_info(uint32_t number)
{
    size_t size = 0;
    (void)number;
    ze_result_t result =
        zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, NULL);
    uint8_t *bytes = malloc(size + 1);
    if (result == ZE_RESULT_SUCCESS)
        result =
            zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, bytes);
    memset(out, 0, ITEMS * sizeof(int));
    memcpy(out, bytes, size < ITEMS * sizeof(int) ? size : ITEMS * sizeof(int));
    free(bytes);
    return result;
}

/* So many groups, on the queue; returns at once. */
static ze_result_t launch_of(const char *name, uint32_t groups, uint32_t items, long more,
                             bool with_more)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_group_count_t count = {groups ? groups : 1, 1, 1};
    ze_kernel_handle_t kernel;
    ze_result_t result = zeKernelCreate(module, &desc, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeKernelSetGroupSize(kernel, items, 1, 1);
    zeKernelSetArgumentValue(kernel, 0, sizeof(in), &in);
    zeKernelSetArgumentValue(kernel, 1, sizeof(out), &out);
    if (with_more)
        zeKernelSetArgumentValue(kernel, 2, strcmp(name, "wild") == 0 ? 8 : 4, &more);
    result = zeCommandListCreate(context, device, &list_desc, &list);
    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandListClose(list);
    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL);
    zeCommandListDestroy(list);
    zeKernelDestroy(kernel);
    return result;
}

static ze_result_t launch(const char *name, uint32_t groups, long more, bool with_more)
{
    return launch_of(name, groups, GROUP, more, with_more);
}

static ze_result_t launch_spin(uint32_t number)
{
    in[0] = 0;
    in[1] = 42;
    return launch("spin", number, 0, false);
}

static ze_result_t launch_steps(uint32_t number)
{
    return launch("steps", number, 7, true);
}

static ze_result_t launch_share(uint32_t number)
{
    return launch("share", number, 0, false);
}

static ze_result_t launch_wild(uint32_t number)
{
    return launch("wild", 1, number ? (long)number : 1L << 40, true);
}

static ze_result_t launch_part(uint32_t number)
{
    return launch_of("part", number, 4 * GROUP, 0, false);
}

/* One item reads memory that nobody has written. */
static ze_result_t launch_unwritten(uint32_t number)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    char *fresh = NULL;
    ze_result_t result =
        zeMemAllocDevice(context, &desc, ITEMS * sizeof(int), 64, device, (void **)&fresh);
    return result == ZE_RESULT_SUCCESS ? launch("wild", number, fresh - (char *)in, true) : result;
}

/* A kernel reads it meanwhile, as is meant. */
__attribute__((no_sanitize("thread"))) static ze_result_t release(uint32_t number)
{
    (void)number;
    *(volatile int *)in = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wait_all(uint32_t number)
{
    (void)number;
    return zeCommandQueueSynchronize(queue, UINT64_MAX);
}

/* What the kernels give, computed here. */
static int steps_of(const int *from, int i, int sum)
{
    for (int k = 0; k < from[i]; k++)
        sum += from[k] * 3 + k;
    return sum & 1 ? sum * 5 + 1 : sum;
}

static ze_result_t check(uint32_t number)
{
    uint32_t items = (number / 10 ? number / 10 : 1) * GROUP, wrong = 0;
    for (uint32_t i = 0; i < items; i++) {
        int next = (int)(i / GROUP * GROUP + (i + 1) % GROUP);
        const int wanted[] = {43, steps_of(in, (int)i, 7), (in[next] + 100) * 2, in[i] + 1};
        wrong += out[i] != wanted[number % 10 % 4];
    }
    return wrong ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_SUCCESS;
}

/* One of several threads that launch as fast as they can, each on a queue and a buffer of its own.
 */
struct storm {
    pthread_t thread;
    uint32_t ms, first;
    ze_result_t result;
    bool started;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static ze_result_t storm_launch(ze_command_list_handle_t now, ze_kernel_handle_t kernel,
                                const int *from, int *to, int more)
{
    const ze_group_count_t count = {STORM_GROUPS, 1, 1};
    memset(to, 0xff, ITEMS * sizeof(int));
    zeKernelSetArgumentValue(kernel, 2, sizeof(more), &more);
    ze_result_t result = zeCommandListAppendLaunchKernel(now, kernel, &count, NULL, 0, NULL);
    for (int i = 0; result == ZE_RESULT_SUCCESS && i < STORM_GROUPS * GROUP; i++) {
        if (to[i] != steps_of(from, i, more))
            result = ZE_RESULT_ERROR_UNKNOWN;
    }
    return result;
}

static void *storm_thread(void *ctx)
{
    struct storm *s = ctx;
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "steps"};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_list_handle_t now = NULL;
    ze_kernel_handle_t kernel = NULL;
    uint64_t end = now_ms() + s->ms;
    int *from = NULL, *to = NULL;
    s->result = zeCommandListCreateImmediate(context, device, &queue_desc, &now);
    if (s->result == ZE_RESULT_SUCCESS)
        s->result = zeKernelCreate(module, &desc, &kernel);
    if (s->result == ZE_RESULT_SUCCESS)
        s->result = zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, (void **)&to);
    if (s->result == ZE_RESULT_SUCCESS)
        s->result = zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, (void **)&from);
    if (s->result != ZE_RESULT_SUCCESS)
        return NULL;
    for (int i = 0; i < ITEMS; i++)
        from[i] = i * 37 % ITEMS; /* as many rounds: long enough to be interrupted */
    zeKernelSetGroupSize(kernel, GROUP, 1, 1);
    zeKernelSetArgumentValue(kernel, 0, sizeof(from), &from);
    zeKernelSetArgumentValue(kernel, 1, sizeof(to), &to);
    for (uint32_t i = s->first; s->result == ZE_RESULT_SUCCESS && now_ms() < end; i++)
        s->result = storm_launch(now, kernel, from, to, (int)i);
    zeMemFree(context, from);
    zeMemFree(context, to);
    zeKernelDestroy(kernel);
    zeCommandListDestroy(now);
    return NULL;
}

/* Launches of two threads, for so many milliseconds; all of them compute what they should. */
static ze_result_t storm(uint32_t number)
{
    struct storm storms[2] = {{.ms = number, .first = 1}, {.ms = number, .first = 1000000}};
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (int i = 0; i < 2; i++)
        storms[i].started = pthread_create(&storms[i].thread, NULL, storm_thread, &storms[i]) == 0;
    for (int i = 0; i < 2; i++) {
        if (!storms[i].started || pthread_join(storms[i].thread, NULL) != 0)
            result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        else if (storms[i].result != ZE_RESULT_SUCCESS)
            result = storms[i].result;
    }
    return result;
}

static ze_result_t fork_child(uint32_t number)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        usleep(number * 1000);
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0 ? ZE_RESULT_SUCCESS
                                                              : ZE_RESULT_ERROR_UNKNOWN;
}

/* A child goes on in this process's stead, and says who it is where its input stands. */
static ze_result_t become_child(uint32_t number)
{
    int status = 0;
    (void)number;
    pid_t child = fork();
    if (child > 0)
        _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    in = (int *)(uintptr_t)getpid();
    return child == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

/* A child that outlives this process, and its sockets. */
static ze_result_t fork_and_leave(uint32_t number)
{
    pid_t child = fork();
    if (child == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        sleep(number);
        _exit(0);
    }
    return child > 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

static ze_result_t close_all(uint32_t number)
{
    for (uint32_t fd = 3; fd < number; fd++)
        syscall(SYS_close, fd); /* no sanitizer is to know */
    return ZE_RESULT_SUCCESS;
}

static const struct {
    const char *name;
    ze_result_t (*run)(uint32_t number);
} commands[] = {
    {"init", init},           {"context", make_context},
    {"queue", make_queue},    {"noqueue", drop_queue},
    {"module", make_module},  {"nomodule", drop_module},
    {"spin", launch_spin},    {"steps", launch_steps},
    {"share", launch_share},  {"wild", launch_wild},
    {"wait", wait_all},       {"check", check},
    {"fork", fork_child},     {"leave", fork_and_leave},
    {"close", close_all},     {"release", release},
    {"vanish", vanish},       {"build", build_module},
    {"storm", storm},         {"info", copy_info},
    {"part", launch_part},    {"unwritten", launch_unwritten},
    {"become", become_child},
};

int main(void)
{
    char name[32];
    uint32_t number;
    while (scanf("%31s %u", name, &number) == 2) {
        ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
            if (strcmp(commands[i].name, name) == 0)
                result = commands[i].run(number);
        }
        printf("%s %x %llx %llx\n", name, (unsigned)result, (unsigned long long)(uintptr_t)in,
               (unsigned long long)(uintptr_t)out);
        fflush(stdout);
    }
    return 0;
}
