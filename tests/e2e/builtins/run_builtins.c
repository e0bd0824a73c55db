/* SPDX-License-Identifier: MIT */
/*
 * run_builtins BINARY...: launch every kernel of native modules (generate.py) once. Exits 1 when
 * one of them does not end well; the driver's log says why.
 */
#include <level_zero/ze_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_B = 1 << 18, LOCAL_B = 16384, ITEMS = 32, NAMES_MAX = 4096 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
    exit(1);
}
#define CHECK(call) check((call), #call)

struct place {
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    uint8_t *in, *out;
};

static struct place open_place(const uint8_t *bytes, size_t size_B)
{
    struct place p;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                     .format = ZE_MODULE_FORMAT_NATIVE,
                                     .inputSize = size_B,
                                     .pInputModule = bytes};
    const ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    CHECK(zeContextCreate(driver, &context, &p.context));
    CHECK(zeCommandListCreateImmediate(p.context, device, &queue, &p.list));
    CHECK(zeModuleCreate(p.context, device, &module, &p.module, NULL));
    CHECK(
        zeMemAllocShared(p.context, &on_device, &on_host, BUFFER_B, 4096, device, (void **)&p.in));
    CHECK(
        zeMemAllocShared(p.context, &on_device, &on_host, BUFFER_B, 4096, device, (void **)&p.out));
    return p;
}

static void close_place(struct place *p)
{
    zeModuleDestroy(p->module);
    zeCommandListDestroy(p->list);
    zeMemFree(p->context, p->in);
    zeMemFree(p->context, p->out);
    zeContextDestroy(p->context);
}

static ze_result_t run_kernel(struct place *p, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    const ze_group_count_t groups = {2, 1, 1};
    uint64_t random = 88172645463325252u;
    ze_kernel_handle_t kernel;
    for (size_t i = 0; i < BUFFER_B; i += 8) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        memcpy(p->in + i, &random, 8);
    }
    memset(p->out, 0, BUFFER_B);
    CHECK(zeKernelCreate(p->module, &desc, &kernel));
    CHECK(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
    CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(p->in), &p->in));
    CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(p->out), &p->out));
    zeKernelSetArgumentValue(kernel, 2, LOCAL_B, NULL); /* some kernels do not use it */
    ze_result_t result = zeCommandListAppendLaunchKernel(p->list, kernel, &groups, NULL, 0, NULL);
    zeKernelDestroy(kernel);
    return result;
}

static size_t run_module(const char *path, const uint8_t *bytes, size_t size_B, size_t *ret_wrong)
{
    static char names[NAMES_MAX][128];
    struct place p = open_place(bytes, size_B);
    uint32_t count = 0;
    CHECK(zeModuleGetKernelNames(p.module, &count, NULL));
    const char **theirs = calloc(count + 1, sizeof(*theirs));
    if (!theirs || count > NAMES_MAX)
        exit(1);
    CHECK(zeModuleGetKernelNames(p.module, &count, theirs));
    for (uint32_t i = 0; i < count; i++)
        snprintf(names[i], sizeof(names[i]), "%s", theirs[i]);
    free(theirs);
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = run_kernel(&p, names[i]);
        if (result == ZE_RESULT_SUCCESS)
            continue;
        fprintf(stderr, "%s: %s: 0x%x\n", path, names[i], (unsigned)result);
        (*ret_wrong)++;
        close_place(&p); /* a fault loses the device */
        p = open_place(bytes, size_B);
    }
    close_place(&p);
    return count;
}

int main(int argc, char **argv)
{
    size_t total = 0, wrong = 0;
    uint32_t one = 1;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file || fseek(file, 0, SEEK_END) != 0)
            return 1;
        long size_B = ftell(file);
        uint8_t *bytes = malloc((size_t)size_B);
        rewind(file);
        if (!bytes || fread(bytes, 1, (size_t)size_B, file) != (size_t)size_B)
            return 1;
        fclose(file);
        total += run_module(argv[i], bytes, (size_t)size_B, &wrong);
        free(bytes);
    }
    fprintf(stderr, "kernels: %zu run, %zu wrong\n", total, wrong);
    return wrong != 0;
}
