/* SPDX-License-Identifier: MIT */
/*
 * The software GPU without driver and loader: what a part of it costs. FILE: a native binary.
 * --device=skl --host=x86-64-v2 --no-counts --timing --exact,
 * --cycles: modelled ones in place of instructions
 */
#include "work.h"

#include "gpu/gpu.h"
#include "module/module.h"

#include <stdlib.h>
#include <string.h>

static struct {
    uint32_t flags, launch_flags;
    struct zs_module *module;
    struct zs_gpu_device *device;
    struct zs_gpu_memory *memory;
    struct zs_gpu_kernel *kernel;
    struct zs_gpu_args *args;
    const struct work *work;
    uint64_t instructions;
    bool wants_cycles;
    const char *model;
    void *buffers[ARGS_MAX];
} gpu = {.model = "skl"};

static void ok(int error, const char *what)
{
    if (error)
        give_up("%s: %s", what, strerror(-error));
}

static void set_buffer(uint32_t index, const struct arg *arg)
{
    size_t size_B = (arg->size_B + 63) / 64 * 64;
    void *data = aligned_alloc(64, size_B);
    if (!data)
        give_up("no memory");
    memcpy(data, arg->host, arg->size_B);
    struct zs_gpu_allocation allocation = {
        .gpu_va = (uint64_t)(uintptr_t)data, .size_B = arg->size_B, .kind = ZS_GPU_MEMORY_DEVICE};
    ok(zs_gpu_memory_add(gpu.memory, &allocation, NULL), "allocation");
    ok(zs_gpu_args_set_buffer(gpu.args, index, gpu.memory, allocation.gpu_va), "argument");
    gpu.buffers[index] = data;
}

static void set_args(const struct arg *args)
{
    for (uint32_t i = 0; i < ARGS_MAX && args[i].kind; i++) {
        if (args[i].kind == ARG_BUFFER)
            set_buffer(i, &args[i]);
        else if (args[i].kind == ARG_LOCAL)
            ok(zs_gpu_args_set_local(gpu.args, i, args[i].size_B), "argument");
        else
            ok(zs_gpu_args_set_value(gpu.args, i, args[i].size_B, args[i].host), "argument");
    }
}

void backend_open(const char *file, const struct work *work, struct arg *args)
{
    struct zs_diag diag = {0};
    if (zs_module_open(file, NULL, &gpu.module, &diag))
        give_up("%s: %s", file, diag.text);
    const struct zs_image *image = zs_module_image(gpu.module, gpu.model);
    const struct zs_kernel *kernel = image ? zs_image_kernel(image, work->name) : NULL;
    if (!kernel)
        give_up("%s: no kernel %s for %s", file, work->name, gpu.model);
    gpu.work = work;
    ok(zs_gpu_device_create(zs_gpu_model_find(gpu.model), 0, &gpu.device), "device");
    ok(zs_gpu_memory_create(&gpu.memory), "memory");
    struct zs_gpu_kernel_desc desc = {
        .module_kernel = kernel, .code = kernel->code, .flags = gpu.flags};
    if (zs_gpu_kernel_create(gpu.device, &desc, &gpu.kernel, &diag))
        give_up("%s: %s", work->name, diag.text);
    ok(zs_gpu_args_create(gpu.kernel, &gpu.args), "arguments");
    set_args(args);
}

void backend_run(uint32_t launches, enum mode mode)
{
    struct zs_gpu_launch launch = {
        .kernel = gpu.kernel, .args = gpu.args, .memory = gpu.memory, .flags = gpu.launch_flags};
    memcpy(launch.group_count, gpu.work->group_count, sizeof(launch.group_count));
    memcpy(launch.group_size, gpu.work->group_size, sizeof(launch.group_size));
    for (uint32_t i = 0; i < launches; i++) {
        struct zs_gpu_result result;
        if (zs_gpu_launch_run(gpu.device, &launch, &result))
            give_up("%s: error %d: %s", gpu.work->name, result.error, result.fault.detail);
        gpu.instructions = gpu.wants_cycles ? result.modelled_cycles : result.totals.instructions;
        zs_gpu_result_fini(&result);
    }
}

void backend_read(struct arg *args)
{
    for (uint32_t i = 0; i < ARGS_MAX; i++) {
        if (args[i].is_output)
            memcpy(args[i].host, gpu.buffers[i], args[i].size_B);
    }
}

uint64_t backend_instructions(void)
{
    return gpu.instructions;
}

void backend_option(const char *option)
{
    if (strcmp(option, "--no-counts") == 0)
        gpu.flags |= ZS_GPU_KERNEL_UNCOUNTED;
    else if (strncmp(option, "--device=", 9) == 0)
        gpu.model = option + 9;
    else if (strcmp(option, "--timing") == 0)
        gpu.flags |= ZS_GPU_KERNEL_TIMED;
    else if (strcmp(option, "--cycles") == 0)
        gpu.wants_cycles = true;
    else if (strcmp(option, "--exact") == 0)
        gpu.launch_flags |= ZS_GPU_LAUNCH_TIME_EXACT;
    else if (strcmp(option, "--host=x86-64-v2") == 0)
        gpu.flags |= ZS_GPU_KERNEL_X86_64_V2;
    else
        give_up("%s: no such option", option);
}

void backend_close(void)
{
    zs_gpu_args_destroy(gpu.args);
    zs_gpu_kernel_destroy(gpu.kernel);
    zs_gpu_memory_destroy(gpu.memory);
    zs_gpu_device_destroy(gpu.device);
    zs_module_close(gpu.module);
    for (uint32_t i = 0; i < ARGS_MAX; i++)
        free(gpu.buffers[i]);
}
