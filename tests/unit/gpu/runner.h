/* SPDX-License-Identifier: MIT */
/* Kernels of an ocloc binary run on the software GPU, without a driver. */
#ifndef ZS_TESTS_RUNNER_H
#define ZS_TESTS_RUNNER_H

#include "../test.h"

#include "goes_back.h"
#include "gpu/gpu.h"
#include "module/module.h"
#ifdef RUNNER_COMPILES
#include "compiler/host_code.h"
#include "eu/tier/tier.h"
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct runner {
    struct zs_module *module;
    const struct zs_image *image;
    struct zs_gpu_device *device;
    struct zs_gpu_memory *memory;
    void *buffers[ZS_BUFFER_COUNT];
    /* of the kernel chosen last */
    struct zs_gpu_kernel *kernel;
    struct zs_gpu_args *args;
    struct zs_gpu_counters *counters;
    struct zs_gpu_result result;
    uint32_t flags, kernel_flags;
    uint64_t time_limit_ns;
    const _Atomic(bool) *cancel;
    uint32_t offset[3];
    void *printf_buffer;
    struct zs_buf printed;
    struct goes_back back;
    enum zs_gpu_compiled (*compile)(void *context, const struct zs_gpu_compile *what,
                                    struct zs_buf *ret_blob);
    void *compile_context;
    bool at_once; /* it is */
};

#ifdef RUNNER_COMPILES
/* A random part of blocks' versions, and of the ways of messages. */
static inline void runner_part(struct zs_span request, uint64_t seed, struct zs_buf *ret_seen)
{
    struct zs_eu_tier_request parsed;
    struct zs_eu_program *program;
    struct zs_diag diag = {0};
    assert_int_equal(zs_eu_tier_request_parse(request, &parsed), 0);
    assert_int_equal(zs_eu_lower(&parsed.params, &program, &diag), 0);
    for (size_t i = 0; i < zs_eu_program_seen_B(program); i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        zs_buf_pad(ret_seen, (uint8_t)(seed >> (i < zs_eu_program_block_count(program) ? 62 : 58)),
                   1);
    }
    zs_eu_program_destroy(program);
    zs_eu_tier_request_fini(&parsed);
}

/* By LLVM in this process. */
static inline enum zs_gpu_compiled runner_compile(void *context, const struct zs_gpu_compile *what,
                                                  struct zs_buf *ret_blob)
{
    const char *part = getenv("ZS_TEST_PART"); /* of blocks, by a seed; else what is asked for */
    struct zs_buf why = {0}, some = {0};
    if (part)
        runner_part(what->request, (uint64_t)strtoull(part, NULL, 0), &some);
    int error = zs_host_build(what->request, part ? zs_buf_span(&some) : what->seen, ZS_HOST_BLOB,
                              ret_blob, &why);
    if (error && error != -ENOTSUP)
        print_error("%s", zs_buf_cstr(&why));
    zs_buf_fini(&why);
    zs_buf_fini(&some);
    return error ? ZS_GPU_COMPILED_NOT : ZS_GPU_COMPILED;
}
#endif

static inline void *runner_alloc(struct runner *r, size_t size_B, uint32_t flags)
{
    void *data = aligned_alloc(64, (size_B + 63) / 64 * 64);
    assert_non_null(data);
    memset(data, 0, size_B);
    struct zs_gpu_allocation a = {.gpu_va = (uint64_t)(uintptr_t)data,
                                  .size_B = size_B,
                                  .kind = ZS_GPU_MEMORY_DEVICE,
                                  .flags = flags,
                                  .label = "test"};
    assert_int_equal(zs_gpu_memory_add(r->memory, &a, NULL), 0);
    back_memory(&r->back, data, size_B);
    return data;
}

static inline void runner_free(struct runner *r, void *data)
{
    back_freed(&r->back, data);
    assert_int_equal(zs_gpu_memory_remove(r->memory, (uint64_t)(uintptr_t)data, free, data), 0);
}

static inline void *runner_program_buffer(struct runner *r, enum zs_buffer_kind kind)
{
    const struct zs_data_buffer *b = &r->image->buffers[kind];
    if (!b->present || b->size_B == 0)
        return NULL;
    void *data = runner_alloc(r, b->size_B, 0);
    memcpy(data, b->init.data, b->init.size_B);
    return data;
}

static inline void runner_open_model(struct runner *r, const char *path, const char *model,
                                     uint32_t workers)
{
    struct zs_diag diag = {0};
    memset(r, 0, sizeof(*r));
#ifdef RUNNER_COMPILES
    r->compile = runner_compile;
    r->at_once = true;
#endif
    if (zs_module_open(path, NULL, &r->module, &diag))
        fail_msg("%s: %s", path, diag.text);
    r->image = zs_module_image(r->module, "skl");
    assert_non_null(r->image);
    assert_int_equal(zs_gpu_device_create(zs_gpu_model_find(model), workers, &r->device), 0);
    assert_int_equal(zs_gpu_memory_create(&r->memory), 0);
    back_open(&r->back, r->device, zs_gpu_model_find(model));
    for (int i = 0; i < ZS_BUFFER_COUNT; i++)
        r->buffers[i] = runner_program_buffer(r, (enum zs_buffer_kind)i);
}

static inline void runner_open(struct runner *r, const char *path, uint32_t workers)
{
    runner_open_model(r, path, "skl", workers);
}

static inline void runner_drop_kernel(struct runner *r)
{
    zs_gpu_counters_destroy(r->counters);
    zs_gpu_args_destroy(r->args);
    zs_gpu_kernel_destroy(r->kernel);
    r->counters = NULL;
    r->args = NULL;
    r->kernel = NULL;
}

static inline void runner_close(struct runner *r)
{
    runner_drop_kernel(r);
    for (int i = 0; i < ZS_BUFFER_COUNT; i++) {
        if (r->buffers[i])
            runner_free(r, r->buffers[i]);
    }
    zs_gpu_memory_destroy(r->memory);
    zs_gpu_device_destroy(r->device);
    zs_module_close(r->module);
    free(r->printf_buffer);
    zs_buf_fini(&r->printed);
}

/* Addresses of program-scope buffers in the code, as zebin wants them. */
static inline void runner_relocate(const struct runner *r, const struct zs_kernel *kernel,
                                   uint8_t *code)
{
    static const enum zs_buffer_kind kinds[ZS_PLACE_COUNT] = {
        [ZS_PLACE_CONSTANT] = ZS_BUFFER_CONSTANT,
        [ZS_PLACE_GLOBAL] = ZS_BUFFER_GLOBAL,
        [ZS_PLACE_STRINGS] = ZS_BUFFER_STRINGS};
    for (uint32_t i = 0; i < kernel->relocation_count; i++) {
        const struct zs_relocation *reloc = &kernel->relocations[i];
        uint64_t value =
            (uint64_t)(uintptr_t)r->buffers[kinds[reloc->target.kind]] + reloc->target.offset_B;
        if (reloc->kind == ZS_RELOCATION_ADDRESS_HI)
            value >>= 32;
        memcpy(code + reloc->at.offset_B, &value, zs_relocation_size_B(reloc->kind));
    }
}

static inline void runner_kernel(struct runner *r, const char *name)
{
    struct zs_diag diag = {0};
    const struct zs_kernel *kernel = zs_image_kernel(r->image, name);
    if (!kernel)
        fail_msg("no kernel %s", name);
    runner_drop_kernel(r);
    uint8_t *code = malloc(kernel->code.size_B);
    memcpy(code, kernel->code.data, kernel->code.size_B);
    runner_relocate(r, kernel, code);
    const struct zs_gpu_segment segment = {0, (uint32_t)kernel->code.size_B, BACK_IP_B};
    back_code(&r->back, zs_span_make(code, kernel->code.size_B));
    struct zs_gpu_kernel_desc desc = {
        .module_kernel = kernel,
        .code = zs_span_make(code, kernel->code.size_B),
        .global_va = (uint64_t)(uintptr_t)r->buffers[ZS_BUFFER_GLOBAL],
        .global_size_B = r->image->buffers[ZS_BUFFER_GLOBAL].size_B,
        .constant_va = (uint64_t)(uintptr_t)r->buffers[ZS_BUFFER_CONSTANT],
        .constant_size_B = r->image->buffers[ZS_BUFFER_CONSTANT].size_B,
        .compile = r->compile,
        .compile_context = r->compile_context,
        .flags = r->kernel_flags | (r->at_once ? ZS_GPU_KERNEL_COMPILED : 0),
        .segments = r->back.on ? &segment : NULL,
        .segment_count = r->back.on,
        .base_va = r->back.on ? BACK_BASE_VA : 0};
    if (zs_gpu_kernel_create(r->device, &desc, &r->kernel, &diag))
        fail_msg("%s: %s", name, diag.text);
    free(code);
    assert_int_equal(zs_gpu_args_create(r->kernel, &r->args), 0);
    assert_int_equal(zs_gpu_counters_create(r->kernel, &r->counters), 0);
}

static inline void arg_buffer(struct runner *r, uint32_t index, const void *data)
{
    assert_int_equal(zs_gpu_args_set_buffer(r->args, index, r->memory, (uint64_t)(uintptr_t)data),
                     0);
}
static inline void arg_value(struct runner *r, uint32_t index, size_t size_B, const void *value)
{
    assert_int_equal(zs_gpu_args_set_value(r->args, index, size_B, value), 0);
}
static inline void arg_local(struct runner *r, uint32_t index, uint64_t size_B)
{
    assert_int_equal(zs_gpu_args_set_local(r->args, index, size_B), 0);
}

/* Run `items` work-items in groups of `size`; returns the launch's error. */
static inline int runner_launch(struct runner *r, const uint32_t groups[3], const uint32_t size[3])
{
    bool prints = zs_gpu_kernel_uses_printf(r->kernel);
    if (prints && !r->printf_buffer)
        r->printf_buffer = aligned_alloc(64, ZS_GPU_PRINTF_B);
    if (prints)
        zs_gpu_printf_init(r->printf_buffer, ZS_GPU_PRINTF_B);
    struct zs_gpu_launch launch = {.kernel = r->kernel,
                                   .args = r->args,
                                   .memory = r->memory,
                                   .flags = r->flags,
                                   .time_limit_ns = r->time_limit_ns,
                                   .cancel = r->cancel,
                                   .counters = r->counters,
                                   .printf_buffer = prints ? r->printf_buffer : NULL,
                                   .printf_size_B = prints ? ZS_GPU_PRINTF_B : 0};
    memcpy(launch.group_count, groups, sizeof(launch.group_count));
    memcpy(launch.group_size, size, sizeof(launch.group_size));
    memcpy(launch.global_offset, r->offset, sizeof(launch.global_offset));
    int error = back_launch(&r->back, r->device, &launch, &r->result);
    if (prints)
        zs_gpu_printf_drain(r->kernel, r->memory, r->printf_buffer, ZS_GPU_PRINTF_B, &r->printed);
    return error;
}

static inline void runner_ok(struct runner *r, const uint32_t groups[3], const uint32_t size[3])
{
    int error = runner_launch(r, groups, size);
    if (error) {
        struct zs_buf text = {0};
        zs_gpu_fault_print(&r->result.fault, NULL, &text);
        print_error("%s (%d)\n", zs_buf_cstr(&text), error);
        zs_buf_fini(&text);
    }
    assert_int_equal(error, 0);
}

#define DIM(x, y, z) ((const uint32_t[3]){(x), (y), (z)})

#endif
