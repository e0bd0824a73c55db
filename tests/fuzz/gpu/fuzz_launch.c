/* SPDX-License-Identifier: MIT */
/* Native binaries from anywhere: open, lower and run every kernel that is found in them,
 * without checks and with all of them. */
#include "gpu/gpu.h"
#include "module/module.h"

#include <stdlib.h>

enum { BUFFER_B = 4096, KERNELS_MAX = 4, ITEMS_MAX = 64, TIME_LIMIT_NS = 20000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

struct context {
    struct zs_gpu_device *device;
    struct zs_gpu_memory *memory;
    uint8_t *buffer;
};

static void set_args(struct context *c, const struct zs_gpu_kernel *kernel,
                     struct zs_gpu_args *args)
{
    static const uint8_t value[4096] = {16, 0, 0, 0, 3};
    struct zs_gpu_image image = {.type = ZS_GPU_IMAGE_2D,
                                 .format = zs_gpu_format_find(0x0C7),
                                 .gpu_va = (uint64_t)(uintptr_t)c->buffer,
                                 .width = 8,
                                 .height = 8,
                                 .depth = 1,
                                 .layers = 1,
                                 .swizzle = {4, 5, 6, 7}};
    struct zs_gpu_sampler sampler = {
        .address_mode = ZS_GPU_ADDRESS_REPEAT, .linear = true, .normalized = true};
    if (zs_gpu_image_layout(&image) > BUFFER_B)
        return;
    uint32_t count = ZS_MIN(zs_gpu_kernel_arg_count(kernel), 256u);
    for (uint32_t i = 0; i < count; i++) {
        zs_gpu_args_set_value(args, i, sizeof(value), value);
        zs_gpu_args_set_buffer(args, i, c->memory, (uint64_t)(uintptr_t)c->buffer + 8 * (i % 4));
        zs_gpu_args_set_local(args, i, 256);
        zs_gpu_args_set_image(args, i, &image);
        zs_gpu_args_set_sampler(args, i, &sampler);
    }
}

static void found(void *count, const struct zs_gpu_finding *finding)
{
    *(uint32_t *)count += finding->site_count;
}

static void run_kernel(struct context *c, const struct zs_kernel *module_kernel, bool checks)
{
    uint32_t sites = 0;
    struct zs_diag diag = {0};
    struct zs_gpu_kernel *kernel = NULL;
    struct zs_gpu_args *args = NULL;
    struct zs_gpu_counters *counters = NULL;
    struct zs_gpu_result result;
    struct zs_buf text = {0};
    struct zs_gpu_kernel_desc desc = {.module_kernel = module_kernel,
                                      .code = module_kernel->code,
                                      .global_va = (uint64_t)(uintptr_t)c->buffer,
                                      .global_size_B = BUFFER_B,
                                      .constant_va = (uint64_t)(uintptr_t)c->buffer,
                                      .constant_size_B = BUFFER_B};
    if (checks)
        desc.flags = ZS_GPU_KERNEL_SCOREBOARD | ZS_GPU_KERNEL_LOCAL | ZS_GPU_KERNEL_MESSAGES |
                     ZS_GPU_KERNEL_DEFINED;
    if (zs_gpu_kernel_create(c->device, &desc, &kernel, &diag))
        return;
    uint32_t printf_buffer[256];
    zs_gpu_printf_init(printf_buffer, sizeof(printf_buffer));
    if (zs_gpu_args_create(kernel, &args) == 0 && zs_gpu_counters_create(kernel, &counters) == 0) {
        set_args(c, kernel, args);
        struct zs_gpu_launch launch = {.kernel = kernel,
                                       .args = args,
                                       .memory = c->memory,
                                       .group_count = {2, 1, 1},
                                       .group_size = {ITEMS_MAX / 2, 1, 1},
                                       .printf_buffer = printf_buffer,
                                       .printf_size_B = sizeof(printf_buffer),
                                       .time_limit_ns = TIME_LIMIT_NS,
                                       .counters = counters};
        if (checks) {
            launch.flags = ZS_GPU_LAUNCH_CHECK_SURFACES | ZS_GPU_LAUNCH_CHECK_UNWRITTEN |
                           ZS_GPU_LAUNCH_CHECK_RACES | ZS_GPU_LAUNCH_CHECK_SYNC;
            launch.found = found;
            launch.found_context = &sites;
        }
        /* gigabytes of private memory are legal, but not here */
        if (zs_gpu_kernel_private_B(kernel) <= 1 << 16 &&
            zs_gpu_kernel_scratch_B(kernel) <= 1 << 16)
            zs_gpu_launch_run(c->device, &launch, &result);
        else
            result = (struct zs_gpu_result){0};
        zs_gpu_fault_print(&result.fault, NULL, &text);
        zs_gpu_printf_drain(kernel, c->memory, printf_buffer, sizeof(printf_buffer), &text);
    }
    zs_buf_fini(&text);
    zs_gpu_counters_destroy(counters);
    zs_gpu_args_destroy(args);
    zs_gpu_kernel_destroy(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_module *module;
    struct zs_module_options options = {.size_B = sizeof(options), .borrow = true};
    if (zs_module_open_memory(zs_span_make(data, size_B), &options, &module, NULL))
        return 0;
    struct context c = {0};
    const struct zs_gpu_model *model =
        module->image_count ? zs_gpu_model_find(module->images[0].device) : NULL;
    if (!model)
        model = zs_gpu_model_find("skl");
    c.buffer = aligned_alloc(4096, BUFFER_B); /* checks look at whole pages */
    if (c.buffer && zs_gpu_device_create(model, 1, &c.device) == 0 &&
        zs_gpu_memory_create(&c.memory) == 0) {
        struct zs_gpu_allocation a = {.gpu_va = (uint64_t)(uintptr_t)c.buffer, .size_B = BUFFER_B};
        memset(c.buffer, 0, BUFFER_B);
        if (zs_gpu_memory_add(c.memory, &a, NULL) == 0 && module->image_count > 0) {
            const struct zs_image *image = &module->images[0];
            for (uint32_t i = 0; i < ZS_MIN(image->kernel_count, (uint32_t)KERNELS_MAX); i++)
                run_kernel(&c, &image->kernels[i], false), run_kernel(&c, &image->kernels[i], true);
        }
    }
    zs_gpu_memory_destroy(c.memory);
    zs_gpu_device_destroy(c.device);
    free(c.buffer);
    zs_module_close(module);
    return 0;
}
