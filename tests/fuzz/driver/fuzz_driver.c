/* SPDX-License-Identifier: MIT */
/*
 * The driver, given native binaries from anywhere: modules are made, asked everything, linked, and
 * their kernels are launched with arguments that follow from the input's bytes. Nothing but a
 * result code may come of it.
 */
#include "module/module.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <stdlib.h>

enum { BUFFER_B = 4096, KERNELS_MAX = 3, ARGS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

struct world {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_image_handle_t image;
    ze_sampler_handle_t sampler;
    uint8_t *buffers[2];
    uint64_t state; /* of the random numbers */
};

static uint32_t roll(struct world *w, uint32_t below)
{
    w->state ^= w->state << 13;
    w->state ^= w->state >> 7;
    w->state ^= w->state << 17;
    return (uint32_t)(w->state >> 16) % below;
}

static ze_driver_handle_t driver(void)
{
    static ze_driver_handle_t the_driver;
    uint32_t one = 1;
    if (!the_driver) {
        setenv("ZESCOPE_DEVICES", "skl", 1);
        setenv("ZESCOPE_LOG", "off", 1);
        setenv("ZESCOPE_KERNEL_TIMEOUT", "10ms", 1);
        setenv("ZESCOPE_CHECK", "1", 0);
        if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &the_driver) != ZE_RESULT_SUCCESS)
            abort();
    }
    return the_driver;
}

static bool open_world(struct world *w)
{
    uint32_t one = 1;
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_image_desc_t image = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, .type = ZE_IMAGE_FORMAT_TYPE_UNORM},
        .width = 8,
        .height = 8,
        .depth = 1};
    ze_sampler_desc_t sampler = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC, .isNormalized = 1};
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    if (zeDeviceGet(driver(), &one, &w->device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver(), &context, &w->context) != ZE_RESULT_SUCCESS ||
        zeCommandListCreateImmediate(w->context, w->device, &queue, &w->list) !=
            ZE_RESULT_SUCCESS ||
        zeImageCreate(w->context, w->device, &image, &w->image) != ZE_RESULT_SUCCESS ||
        zeSamplerCreate(w->context, w->device, &sampler, &w->sampler) != ZE_RESULT_SUCCESS)
        return false;
    return zeMemAllocDevice(w->context, &device, BUFFER_B, 64, w->device,
                            (void **)&w->buffers[0]) == ZE_RESULT_SUCCESS &&
           zeMemAllocShared(w->context, &device, &host, BUFFER_B, 64, w->device,
                            (void **)&w->buffers[1]) == ZE_RESULT_SUCCESS;
}

static void close_world(struct world *w)
{
    for (int i = 0; i < 2; i++)
        zeMemFree(w->context, w->buffers[i]);
    zeSamplerDestroy(w->sampler);
    zeImageDestroy(w->image);
    zeCommandListDestroy(w->list);
    zeContextDestroy(w->context);
}

/* Some value of some kind; the driver refuses what does not fit, then the next kind is tried. */
static void set_argument(struct world *w, ze_kernel_handle_t kernel, uint32_t index)
{
    static const size_t sizes[] = {4, 8, 1, 2, 16, 64, 12, 3};
    uint8_t value[64];
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (uint8_t)roll(w, roll(w, 2) ? 4 : 256);
    void *pointer = w->buffers[roll(w, 2)] + roll(w, 64);
    uint32_t kind = roll(w, 8);
    if (kind == 0)
        pointer = NULL;
    if (kind == 1)
        memcpy(&pointer, value, sizeof(pointer)); /* wild */
    if (zeKernelSetArgumentValue(kernel, index, sizeof(pointer), &pointer) == ZE_RESULT_SUCCESS &&
        kind != 2)
        return;
    if (zeKernelSetArgumentValue(kernel, index, sizeof(w->image), &w->image) == ZE_RESULT_SUCCESS ||
        zeKernelSetArgumentValue(kernel, index, sizeof(w->sampler), &w->sampler) ==
            ZE_RESULT_SUCCESS ||
        zeKernelSetArgumentValue(kernel, index, 64 + roll(w, 4096), NULL) == ZE_RESULT_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (zeKernelSetArgumentValue(kernel, index, sizes[i], value) == ZE_RESULT_SUCCESS)
            return;
    }
}

static void run_kernel(struct world *w, ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    if (zeKernelCreate(module, &desc, &kernel) != ZE_RESULT_SUCCESS)
        return;
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    zeKernelGetProperties(kernel, &p);
    char text[256];
    size_t size = sizeof(text);
    zeKernelGetName(kernel, &size, text);
    uint32_t attributes_B = 0;
    zeKernelGetSourceAttributes(kernel, &attributes_B, NULL);
    uint32_t x = 1 + roll(w, 64), y = 1, z = 1, max = 0;
    if (roll(w, 2))
        zeKernelSuggestGroupSize(kernel, 1 + roll(w, 100), 1 + roll(w, 8), 1, &x, &y, &z);
    if (zeKernelSetGroupSize(kernel, x, y, z) != ZE_RESULT_SUCCESS && p.requiredGroupSizeX)
        zeKernelSetGroupSize(kernel, p.requiredGroupSizeX, p.requiredGroupSizeY,
                             p.requiredGroupSizeZ);
    zeKernelSetIndirectAccess(kernel, roll(w, 8));
    uint32_t count = p.numKernelArgs < ARGS_MAX ? p.numKernelArgs : ARGS_MAX;
    for (uint32_t i = 0; i < count; i++)
        set_argument(w, kernel, i);
    zeKernelSuggestMaxCooperativeGroupCount(kernel, &max);
    ze_group_count_t groups = {1 + roll(w, 3), 1 + roll(w, 2), 1};
    zeCommandListAppendLaunchKernel(w->list, kernel, &groups, NULL, 0, NULL);
    if (roll(w, 4) == 0)
        zeCommandListAppendLaunchCooperativeKernel(w->list, kernel, &groups, NULL, 0, NULL);
    zeKernelDestroy(kernel);
}

static void ask(ze_module_handle_t module)
{
    size_t size = 0;
    uint32_t zero = 0;
    void *p = NULL;
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    ze_linkage_inspection_ext_desc_t inspect = {
        .stype = ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC, .flags = 7};
    ze_module_build_log_handle_t log = NULL;
    zeModuleGetProperties(module, &properties);
    if (zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, NULL) ==
            ZE_RESULT_SUCCESS &&
        size) {
        uint8_t *copy = malloc(size);
        if (copy)
            zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, copy);
        free(copy);
    }
    zeModuleGetKernelNames(module, &zero, NULL);
    zeModuleGetGlobalPointer(module, "counter", &size, &p);
    zeModuleGetFunctionPointer(module, "helper", &p);
    if (zeModuleInspectLinkageExt(&inspect, 1, &module, &log) == ZE_RESULT_SUCCESS)
        zeModuleBuildLogDestroy(log);
    log = NULL;
    zeModuleDynamicLink(1, &module, &log);
    if (log)
        zeModuleBuildLogDestroy(log);
}

static void run_module(struct world *w, const uint8_t *data, size_t size_B)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size_B,
                             .pInputModule = data};
    ze_module_handle_t module;
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result = zeModuleCreate(w->context, w->device, &desc, &module, &log);
    if (log) {
        char text[1024];
        size_t text_B = sizeof(text);
        zeModuleBuildLogGetString(log, &text_B, text);
        zeModuleBuildLogDestroy(log);
    }
    if (result != ZE_RESULT_SUCCESS)
        return;
    ask(module);
    const char *names[KERNELS_MAX];
    uint32_t count = KERNELS_MAX;
    if (zeModuleGetKernelNames(module, &count, names) == ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            run_kernel(w, module, names[i]);
    }
    zeModuleDestroy(module);
}

/* Binaries without code for the device are compiled from their SPIR-V: the compiler is not what is
 * tried here. */
static bool has_code(const uint8_t *data, size_t size_B)
{
    struct zs_module *module;
    struct zs_module_options options = {.size_B = sizeof(options), .borrow = true};
    if (zs_module_open_memory(zs_span_make(data, size_B), &options, &module, NULL))
        return true; /* the driver refuses it, too */
    bool found = zs_module_image(module, "skl") != NULL;
    zs_module_close(module);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct world w = {.state = 88172645463325252u};
    for (size_t i = 0; i < size_B; i++)
        w.state = (w.state ^ data[i]) * 0x100000001b3u;
    w.state |= 1;
    if (size_B == 0 || !has_code(data, size_B))
        return 0;
    if (open_world(&w))
        run_module(&w, data, size_B);
    close_world(&w);
    return 0;
}
