/* SPDX-License-Identifier: MIT */
/*
 * A small Level Zero program: n bodies that attract each other, a few steps on the GPU, checked
 * against the same steps on the host.
 *
 *     cc nbody.c -o nbody -lze_loader -lm
 *     ocloc compile -file nbody.cl -device skl -options -g -output nbody
 *     ./nbody nbody_Gen9core.spv
 *
 * Some drivers accept work without doing it (Intel's without a GPU): that is said, and is no
 * failure.
 */
#include "gravity.h"

#include <level_zero/ze_api.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 4

struct body {
    float x, y, z, w;
};

struct gpu {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
};

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "nbody: %s: error 0x%x\n", what, (unsigned)result);
    exit(1);
}

static uint8_t *read_file(const char *path, size_t *ret_size_B)
{
    FILE *in = fopen(path, "rb");
    long size_B = -1;
    if (in && !fseek(in, 0, SEEK_END))
        size_B = ftell(in);
    uint8_t *data = size_B > 0 ? malloc((size_t)size_B) : NULL;
    if (!data || fseek(in, 0, SEEK_SET) || fread(data, 1, (size_t)size_B, in) != (size_t)size_B) {
        fprintf(stderr, "nbody: cannot read %s\n", path);
        exit(1);
    }
    fclose(in);
    *ret_size_B = (size_t)size_B;
    return data;
}

static void open_gpu(struct gpu *gpu)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    /* an immediate list that works synchronously: no queue, no fence */
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    check(zeInit(0), "zeInit");
    check(zeDriverGet(&one, &driver), "zeDriverGet");
    check(zeDeviceGet(driver, &one, &gpu->device), "zeDeviceGet");
    check(zeDeviceGetProperties(gpu->device, &properties), "zeDeviceGetProperties");
    check(zeContextCreate(driver, &context, &gpu->context), "zeContextCreate");
    check(zeCommandListCreateImmediate(gpu->context, gpu->device, &queue, &gpu->list),
          "zeCommandListCreateImmediate");
    printf("%s: %d bodies, %d steps\n", properties.name, BODIES, STEPS);
}

static void build(struct gpu *gpu, const char *path, const char *flags)
{
    size_t size_B;
    uint8_t *bytes = read_file(path, &size_B);
    bool native = size_B > 4 && memcmp(bytes, "\177ELF", 4) == 0;
    const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                     .format = native ? ZE_MODULE_FORMAT_NATIVE
                                                      : ZE_MODULE_FORMAT_IL_SPIRV,
                                     .inputSize = size_B,
                                     .pInputModule = bytes,
                                     .pBuildFlags = flags};
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "nbody_step"};
    check(zeModuleCreate(gpu->context, gpu->device, &module, &gpu->module, NULL), "zeModuleCreate");
    check(zeKernelCreate(gpu->module, &kernel, &gpu->kernel), "zeKernelCreate");
    free(bytes);
}

static struct body *allocate(struct gpu *gpu)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    check(zeMemAllocShared(gpu->context, &device, &host, BODIES * sizeof(struct body), 64,
                           gpu->device, &memory),
          "zeMemAllocShared");
    memset(memory, 0, BODIES * sizeof(struct body));
    return memory;
}

static void step_on_gpu(struct gpu *gpu, struct body *positions, struct body *velocities,
                        struct body *moved)
{
    enum { GROUP = 64 };
    const ze_group_count_t groups = {BODIES / GROUP, 1, 1};
    void *const buffers[] = {positions, velocities, moved};
    check(zeKernelSetGroupSize(gpu->kernel, GROUP, 1, 1), "zeKernelSetGroupSize");
    for (uint32_t i = 0; i < 3; i++)
        check(zeKernelSetArgumentValue(gpu->kernel, i, sizeof(void *), &buffers[i]),
              "zeKernelSetArgumentValue");
    check(zeKernelSetArgumentValue(gpu->kernel, 3, GROUP * sizeof(struct body), NULL),
          "zeKernelSetArgumentValue");
    check(zeCommandListAppendLaunchKernel(gpu->list, gpu->kernel, &groups, NULL, 0, NULL),
          "zeCommandListAppendLaunchKernel");
}

static void step_on_host(const struct body *positions, struct body *velocities, struct body *moved)
{
    for (int i = 0; i < BODIES; i++) {
        struct body sum = {0};
        for (int k = 0; k < BODIES; k++) {
            float x = positions[k].x - positions[i].x, y = positions[k].y - positions[i].y;
            float z = positions[k].z - positions[i].z;
            float inverse = 1.0f / sqrtf(x * x + y * y + z * z + SOFTENING * SOFTENING);
            float factor = positions[k].w * inverse * inverse * inverse;
            sum.x += x * factor, sum.y += y * factor, sum.z += z * factor;
        }
        velocities[i].x += sum.x * TIME_STEP;
        velocities[i].y += sum.y * TIME_STEP;
        velocities[i].z += sum.z * TIME_STEP;
        moved[i].x = positions[i].x + velocities[i].x * TIME_STEP;
        moved[i].y = positions[i].y + velocities[i].y * TIME_STEP;
        moved[i].z = positions[i].z + velocities[i].z * TIME_STEP;
        moved[i].w = positions[i].w;
    }
}

/* Bodies on a spiral: the same on every run. */
static void place(struct body *bodies)
{
    for (int i = 0; i < BODIES; i++) {
        float turn = 0.37f * (float)i, radius = 0.05f + (float)i / BODIES;
        bodies[i] = (struct body){radius * cosf(turn), radius * sinf(turn),
                                  0.1f * sinf(3.0f * turn), 1.0f / BODIES};
    }
}

static float largest_difference(const struct body *a, const struct body *b)
{
    float largest = 0.0f;
    for (int i = 0; i < BODIES; i++)
        largest = fmaxf(largest, fmaxf(fabsf(a[i].x - b[i].x),
                                       fmaxf(fabsf(a[i].y - b[i].y), fabsf(a[i].z - b[i].z))));
    return largest;
}

static void swap(struct body **a, struct body **b)
{
    struct body *other = *a;
    *a = *b;
    *b = other;
}

int main(int argc, char **argv)
{
    static struct body host[3][BODIES];
    struct body *expected = host[0], *expected_next = host[1];
    struct gpu gpu = {0};
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: %s nbody.spv|nbody.bin [BUILD_FLAGS]\n", argv[0]);
        return 2;
    }
    open_gpu(&gpu);
    build(&gpu, argv[1], argc > 2 ? argv[2] : NULL);
    struct body *positions = allocate(&gpu), *moved = allocate(&gpu), *speed = allocate(&gpu);
    struct body *const buffers[] = {positions, moved, speed};
    place(positions);
    place(expected);
    for (int step = 0; step < STEPS; step++) {
        step_on_gpu(&gpu, positions, speed, moved);
        step_on_host(expected, host[2], expected_next);
        swap(&positions, &moved);
        swap(&expected, &expected_next);
    }
    float difference = largest_difference(positions, expected);
    int executed = positions[0].w != 0.0f && speed[0].x != 0.0f;
    for (size_t i = 0; i < 3; i++)
        check(zeMemFree(gpu.context, buffers[i]), "zeMemFree");
    check(zeKernelDestroy(gpu.kernel), "zeKernelDestroy");
    check(zeModuleDestroy(gpu.module), "zeModuleDestroy");
    check(zeCommandListDestroy(gpu.list), "zeCommandListDestroy");
    check(zeContextDestroy(gpu.context), "zeContextDestroy");
    if (!executed) {
        puts("this driver compiles kernels but does not run them: no results to check");
        return 0;
    }
    printf("largest difference to the host: %g\n", (double)difference);
    return difference < 1e-4f ? 0 : 1;
}
