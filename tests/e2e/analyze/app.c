/* SPDX-License-Identifier: MIT */
/* Launches kernels of a native binary: app FILE ROUNDS NAME:GROUPS:SIZE:LOCAL_B:LAUNCHES... Each
 * has the arguments (global float *a, global float *b, int rounds), and local memory where LOCAL_B
 * is not 0. With CLIENTS=N in the environment so many threads do it at once, each with a context of
 * its own, on one device after the other. */
#include "../ok.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_B = 8 << 20 };

struct gpu {
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_command_list_handle_t list;
    void *buffers[2];
};

enum { DEVICES_MOST = 4, CLIENTS_MOST = 16 };

static int open_gpu(struct gpu *gpu, unsigned client, const unsigned char *binary, size_t size)
{
    uint32_t one = 1, devices = DEVICES_MOST;
    ze_driver_handle_t driver;
    ze_device_handle_t all[DEVICES_MOST], device;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &devices, all));
    device = all[client % devices];
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &context_desc, &gpu->context));
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .format = ZE_MODULE_FORMAT_NATIVE,
                                    .inputSize = size,
                                    .pInputModule = binary};
    OK(zeModuleCreate(gpu->context, device, &module_desc, &gpu->module, NULL));
    ze_host_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    for (int i = 0; i < 2; i++) {
        OK(zeMemAllocHost(gpu->context, &memory_desc, BUFFER_B, 64, &gpu->buffers[i]));
        memset(gpu->buffers[i], 0, BUFFER_B);
    }
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    OK(zeCommandListCreateImmediate(gpu->context, device, &queue_desc, &gpu->list));
    return 0;
}

static int launch(struct gpu *gpu, const char *what, int rounds)
{
    char name[64];
    unsigned groups, size, local_B, launches;
    ze_kernel_handle_t kernel;
    if (sscanf(what, "%63[^:]:%u:%u:%u:%u", name, &groups, &size, &local_B, &launches) != 5)
        return 2;
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    OK(zeKernelCreate(gpu->module, &kernel_desc, &kernel));
    OK(zeKernelSetGroupSize(kernel, size, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &gpu->buffers[0]));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &gpu->buffers[1]));
    OK(zeKernelSetArgumentValue(kernel, 2, sizeof(rounds), &rounds));
    if (local_B)
        OK(zeKernelSetArgumentValue(kernel, 3, local_B, NULL));
    ze_group_count_t count = {groups, 1, 1};
    for (unsigned i = 0; i < launches; i++)
        OK(zeCommandListAppendLaunchKernel(gpu->list, kernel, &count, NULL, 0, NULL));
    OK(zeKernelDestroy(kernel));
    return 0;
}

struct client {
    pthread_t thread;
    unsigned number;
    int argc, status;
    char **argv;
    const unsigned char *binary;
    size_t size;
};

static void *run_client(void *user)
{
    struct client *c = user;
    struct gpu gpu;
    c->status = open_gpu(&gpu, c->number, c->binary, c->size);
    for (int i = 3; i < c->argc && !c->status; i++)
        c->status = launch(&gpu, c->argv[i], atoi(c->argv[2]));
    return NULL;
}

int main(int argc, char **argv)
{
    static unsigned char binary[4 << 20];
    struct client clients[CLIENTS_MOST];
    FILE *f = argc >= 4 ? fopen(argv[1], "rb") : NULL;
    size_t size = f ? fread(binary, 1, sizeof(binary), f) : 0;
    const char *text = getenv("CLIENTS");
    unsigned count = text ? (unsigned)atoi(text) : 1;
    int status = !size || !count || count > CLIENTS_MOST;
    if (status)
        return 1;
    for (unsigned i = 0; i < count; i++) {
        clients[i] = (struct client){
            .number = i, .argc = argc, .argv = argv, .binary = binary, .size = size};
        if (i + 1 < count && pthread_create(&clients[i].thread, NULL, run_client, &clients[i]))
            return 1;
    }
    run_client(&clients[count - 1]);
    for (unsigned i = 0; i < count; i++) {
        if (i + 1 < count)
            pthread_join(clients[i].thread, NULL);
        status |= clients[i].status;
    }
    return status ? 1 : 0;
}
