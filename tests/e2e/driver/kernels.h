/* SPDX-License-Identifier: MIT */
/* Modules and kernels: E2E_KERNELS is the folder with what ocloc made of the .cl files. */
#ifndef ZS_TESTS_E2E_KERNELS_H
#define ZS_TESTS_E2E_KERNELS_H

#include "e2e.h"

struct bytes {
    uint8_t *data;
    size_t size;
};

static inline struct bytes load(const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", getenv("E2E_KERNELS"), name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct bytes b = {malloc(1 << 20), 0};
    b.size = fread(b.data, 1, 1 << 20, f);
    fclose(f);
    assert_true(b.size > 0 && b.size < 1 << 20);
    return b;
}

static inline ze_module_handle_t make_module(struct e2e *e, const char *name)
{
    struct bytes b = load(name);
    bool spirv = strstr(name, ".spv") != NULL;
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = spirv ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = b.size,
                             .pInputModule = b.data};
    ze_module_handle_t module;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    free(b.data);
    return module;
}

/* Whether a module can be made of that; it is gone again, ret_log keeps what was said. */
static inline ze_result_t try_module(const struct e2e *e, ze_module_format_t format,
                                     const void *data, size_t size, char *ret_log, size_t log_size)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = format,
                             .inputSize = size,
                             .pInputModule = data};
    ze_module_handle_t module;
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result = zeModuleCreate(e->context, e->device, &desc, &module, &log);
    ret_log[0] = '\0';
    /* the loader wraps the log of a module that succeeds only */
    if (log && !e2e_through("intercept")) {
        OK(zeModuleBuildLogGetString(log, &log_size, ret_log));
        OK(zeModuleBuildLogDestroy(log));
    }
    if (result == ZE_RESULT_SUCCESS)
        OK(zeModuleDestroy(module));
    return result;
}

static inline ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    OK(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

static inline void set(ze_kernel_handle_t kernel, uint32_t index, size_t size, const void *value)
{
    OK(zeKernelSetArgumentValue(kernel, index, size, value));
}

/* Launch on a queue of its own and wait. */
static inline ze_result_t launch(struct e2e *e, ze_kernel_handle_t kernel, uint32_t groups)
{
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_group_count_t count = {groups, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
    ze_result_t result = e2e_run(queue, list);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    return result;
}

#endif
