/* SPDX-License-Identifier: MIT */
/*
 * e2e_limits limits BINARY native VARIANT_N: the kernels of limits.cl, as the suite is called,
 * against plain C. Built with N as the variant ends.
 */
#include "check.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MASK = 255, ITEMS = 256, GROUP = 64, VALUES_MAX = 128 };
static int input[MASK + 1], values;

static int mix(int a, int b)
{
    return a > b ? a * 5 - b : b * 3 + a;
}

static int many(int gid)
{
    int v[VALUES_MAX], turns = input[gid & MASK] & 7;
    for (int i = 0; i < values; i++)
        v[i] = input[(gid * 7 + i * 13) & MASK];
    bool a = v[0] > v[1], b = v[2] > v[3], c = v[4] > v[5], d = v[6] > v[7];
    for (int t = 0; t < turns; t++) {
        for (int i = 0; i < values; i++)
            v[i] = v[i] * 3 + (v[(i + 1) % values] ^ t);
        v[0] = a ? v[1] - v[2] : v[3];
        if (b && v[4] % 5 == 0)
            break;
        v[5] = (int)((int64_t)v[5] * v[6] >> 32) + (int)((int64_t)v[7] * v[8] >> 20);
        if (c)
            v[9] = mix(v[9], v[1]);
        if (d && (v[2] & 3) == 1)
            continue;
        v[3] += 7;
    }
    int sum = a + 2 * b + 4 * c + 8 * d;
    for (int i = 0; i < values; i++)
        sum = sum * 31 + v[i];
    return sum;
}

static int early(int gid)
{
    int found = 0, count = 0;
    for (int i = 0; i < (input[MASK] & 31); i++) {
        int at = input[(gid + i * 5) & MASK];
        found = at * 17 + i;
        if ((at & 15) == (gid & 15))
            return found + 1;
        for (int n = 0; n < (at & 3); n++) {
            count += input[(at + n) & MASK];
            if (count % 11 == 3)
                return found + 1;
        }
        count ^= found;
    }
    return count * 3 + 1;
}

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_command_list_handle_t list;
static ze_module_handle_t module;

static void run(const char *name, int (*expected)(int gid), int *in, int *out)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_group_count_t groups = {ITEMS / GROUP, 1, 1};
    ze_kernel_handle_t kernel;
    memset(out, 0xff, ITEMS * sizeof(*out));
    CHECK(!zeKernelCreate(module, &desc, &kernel) && !zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    CHECK(!zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out) &&
          !zeKernelSetArgumentValue(kernel, 1, sizeof(in), &in));
    CHECK(!zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    for (int gid = 0; gid < ITEMS; gid++)
        if (out[gid] != expected(gid)) {
            fprintf(stderr, "%s: item %d is %d, not %d\n", name, gid, out[gid], expected(gid));
            exit(1);
        }
    CHECK(!zeKernelDestroy(kernel));
}

static void create(const char *path)
{
    static unsigned char bytes[1 << 20];
    ze_driver_handle_t driver;
    uint32_t count = 1;
    FILE *f = fopen(path, "rb");
    CHECK(f);
    size_t size_B = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    CHECK(!zeInit(0) && !zeDriverGet(&count, &driver));
    count = 1;
    CHECK(!zeDeviceGet(driver, &count, &device));
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(!zeContextCreate(driver, &context_desc, &context));
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size_B,
                             .pInputModule = bytes};
    CHECK(!zeModuleCreate(context, device, &desc, &module, NULL));
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    CHECK(!zeCommandListCreateImmediate(context, device, &queue_desc, &list));
}

int main(int argc, char **argv)
{
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    int *in, *out;
    CHECK(argc == 5);
    values = atoi(strrchr(argv[4], '_') + 1);
    CHECK(values > 10 && values <= VALUES_MAX);
    create(argv[2]);
    CHECK(!zeMemAllocShared(context, &device_desc, &host_desc, sizeof(input), 64, device,
                            (void **)&in));
    CHECK(!zeMemAllocShared(context, &device_desc, &host_desc, ITEMS * sizeof(*out), 64, device,
                            (void **)&out));
    for (int i = 0; i <= MASK; i++)
        in[i] = input[i] = (i * 7919 + i * i * 31) % 4093 - (i % 3 ? 0 : 4000);
    in[MASK] = input[MASK] = 24;
    run("limits_many", many, in, out);
    run("limits_early", early, in, out);
    CHECK(!zeCommandListDestroy(list) && !zeMemFree(context, in) && !zeMemFree(context, out));
    CHECK(!zeModuleDestroy(module) && !zeContextDestroy(context));
    return 0;
}
