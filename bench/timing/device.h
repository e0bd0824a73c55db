/* SPDX-License-Identifier: MIT */
/* Kernels of a module on a device with the model of time: shared by bench/timing and its tests. */
#ifndef ZS_BENCH_TIMING_DEVICE_H
#define ZS_BENCH_TIMING_DEVICE_H

#include "gpu/gpu.h"
#include "module/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAB_ARGS = 8, LAB_BUFFERS = 8 };

struct lab_arg {
    enum { LAB_NONE, LAB_BUFFER, LAB_LOCAL, LAB_INT, LAB_FLOAT, LAB_IMAGE } kind;
    void *buffer;
    size_t local_B;
    int integer;
    float real;
};
#define LAB_BUF(p)                                                                                 \
    {                                                                                              \
        .kind = LAB_BUFFER, .buffer = (p)                                                          \
    }
#define LAB_LOC(b)                                                                                 \
    {                                                                                              \
        .kind = LAB_LOCAL, .local_B = (b)                                                          \
    }
#define LAB_I(v)                                                                                   \
    {                                                                                              \
        .kind = LAB_INT, .integer = (v)                                                            \
    }
#define LAB_F(v)                                                                                   \
    {                                                                                              \
        .kind = LAB_FLOAT, .real = (v)                                                             \
    }

struct lab {
    bool is_reference;
    const struct zs_gpu_model *model;
    struct zs_module *module;
    const struct zs_image *image;
    struct zs_gpu_device *device;
    struct zs_gpu_memory *memory;
    void *buffers[LAB_BUFFERS];
    uint32_t buffer_count;
    uint32_t flags;              /* ZS_GPU_LAUNCH_* */
    void (*between)(void *data); /* lab_run() launches the kernel twice, and calls this between */
    void *data;
    bool untimed;                /* without the model */
    double cpu_ns;               /* of the last launch alone, by all threads of the process */
    struct zs_gpu_result result; /* of the last launch; stalls are freed by the next */
};

static inline void lab_fail(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, strerror(error < 0 ? -error : error));
    abort();
}

static inline void lab_open(struct lab *lab, const char *file, const char *model, uint32_t workers)
{
    struct zs_diag diag = {0};
    memset(lab, 0, sizeof(*lab));
    if (zs_module_open(file, NULL, &lab->module, &diag))
        lab_fail(diag.text, 0);
    lab->model = zs_gpu_model_find(model);
    if (!lab->model)
        lab_fail("no such device", 0);
    lab->image = zs_module_image(lab->module, lab->model->target);
    if (!lab->image)
        lab_fail("no code for the device", 0);
    int error = zs_gpu_device_create(lab->model, workers, &lab->device);
    if (!error)
        error = zs_gpu_memory_create(&lab->memory);
    if (error)
        lab_fail("device", error);
}

static inline void *lab_alloc(struct lab *lab, size_t size_B)
{
    void *data = aligned_alloc(4096, (size_B + 4095) / 4096 * 4096);
    if (!data || lab->buffer_count == LAB_BUFFERS)
        lab_fail("no memory", 0);
    memset(data, 0, size_B);
    struct zs_gpu_allocation a = {
        .gpu_va = (uint64_t)(uintptr_t)data, .size_B = size_B, .kind = ZS_GPU_MEMORY_DEVICE};
    int error = zs_gpu_memory_add(lab->memory, &a, NULL);
    if (error)
        lab_fail("allocation", error);
    lab->buffers[lab->buffer_count++] = data;
    return data;
}

static inline void lab_forget(struct lab *lab)
{
    while (lab->buffer_count) {
        void *data = lab->buffers[--lab->buffer_count];
        (void)zs_gpu_memory_remove(lab->memory, (uint64_t)(uintptr_t)data, free, data);
    }
}

static inline void lab_close(struct lab *lab)
{
    zs_gpu_result_fini(&lab->result);
    lab_forget(lab);
    zs_gpu_memory_destroy(lab->memory);
    zs_gpu_device_destroy(lab->device);
    zs_module_close(lab->module);
}

static inline double lab_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Runs a kernel; its core clock cycles as the model has them, without what every launch costs. */
static inline uint64_t lab_launch(struct lab *lab, const char *name, const uint32_t groups[3],
                                  const uint32_t size[3], const struct lab_arg args[LAB_ARGS])
{
    struct zs_diag diag = {0};
    struct zs_gpu_kernel *kernel;
    struct zs_gpu_args *values;
    const struct zs_kernel *module = zs_image_kernel(lab->image, name);
    if (!module)
        lab_fail(name, ENOENT);
    struct zs_gpu_kernel_desc desc = {.module_kernel = module,
                                      .code = module->code,
                                      .flags = lab->untimed ? 0 : ZS_GPU_KERNEL_TIMED};
    int error = zs_gpu_kernel_create(lab->device, &desc, &kernel, &diag);
    if (error)
        lab_fail(diag.text, error);
    error = zs_gpu_args_create(kernel, &values);
    for (uint32_t i = 0; i < LAB_ARGS && !error && args[i].kind; i++) {
        const struct lab_arg *a = &args[i];
        if (a->kind == LAB_BUFFER)
            error = zs_gpu_args_set_buffer(values, i, lab->memory, (uint64_t)(uintptr_t)a->buffer);
        else if (a->kind == LAB_IMAGE)
            error = zs_gpu_args_set_image(values, i, a->buffer);
        else if (a->kind == LAB_LOCAL)
            error = zs_gpu_args_set_local(values, i, a->local_B);
        else
            error = zs_gpu_args_set_value(
                values, i, 4, a->kind == LAB_INT ? (const void *)&a->integer : &a->real);
    }
    if (error)
        lab_fail(name, error);
    const struct zs_gpu_launch launch = {.kernel = kernel,
                                         .args = values,
                                         .memory = lab->memory,
                                         .flags = lab->flags,
                                         .group_count = {groups[0], groups[1], groups[2]},
                                         .group_size = {size[0], size[1], size[2]}};
    for (int i = lab->between ? 0 : 1; i < 2; i++) {
        zs_gpu_result_fini(&lab->result);
        double before = lab_cpu_ns();
        if (zs_gpu_launch_run(lab->device, &launch, &lab->result))
            lab_fail(lab->result.fault.detail, lab->result.error);
        lab->cpu_ns = lab_cpu_ns() - before;
        if (i == 0)
            lab->between(lab->data);
    }
    zs_gpu_args_destroy(values);
    zs_gpu_kernel_destroy(kernel);
    if (!lab->result.timing.modelled && !lab->untimed)
        lab_fail("the launch was not modelled", 0);
    return lab->result.modelled_cycles;
}

static inline uint64_t lab_run(struct lab *lab, const char *name, uint32_t groups, uint32_t size,
                               const struct lab_arg args[LAB_ARGS])
{
    return lab_launch(lab, name, (const uint32_t[3]){groups, 1, 1}, (const uint32_t[3]){size, 1, 1},
                      args);
}

/* A random cycle through every `stride`-th dword. */
static inline void lab_chain(uint32_t *next, uint32_t count, uint32_t stride)
{
    uint32_t *order = malloc(count * sizeof(*order));
    uint64_t state = 1;
    if (!order)
        lab_fail("no memory", 0);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t j = (uint32_t)(state >> 33) % (i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (uint32_t i = 0; i < count; i++)
        next[order[i] * stride] = order[(i + 1) % count] * stride;
    free(order);
}

#endif
