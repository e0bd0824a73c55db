/* SPDX-License-Identifier: MIT */
/* misbehave WHAT: one launch that is wrong in one way; 0 when the driver answered as it should. */
#include <level_zero/ze_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(ze_result_t result, const char *what)
{
    if (result != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
        exit(20);
    }
}
#define CHECK(call) check((call), #call)

static ze_context_handle_t context;
static ze_device_handle_t device;

static ze_result_t build(const char *file, ze_module_format_t format, ze_module_handle_t *module)
{
    char path[4096];
    static uint8_t bytes[1 << 20];
    snprintf(path, sizeof(path), "%s/%s", getenv("E2E_KERNELS"), file);
    FILE *f = fopen(path, "rb");
    if (!f)
        exit(21);
    size_t size = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = format,
                             .inputSize = size,
                             .pInputModule = bytes};
    return zeModuleCreate(context, device, &desc, module, NULL);
}

static ze_kernel_handle_t load(const char *name)
{
    ze_module_handle_t module;
    CHECK(build("kernels.bin", ZE_MODULE_FORMAT_NATIVE, &module));
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    CHECK(zeKernelCreate(module, &kernel_desc, &kernel));
    return kernel;
}

static void *allocate(size_t size)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *p;
    CHECK(zeMemAllocDevice(context, &desc, size, 0, device, &p));
    return p;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    uint32_t one = 1;
    ze_driver_handle_t driver;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(zeContextCreate(driver, &desc, &context));
    if (strcmp(what, "unbuildable") == 0) {
        ze_module_handle_t module;
        ze_result_t built = build("unbuildable.spv", ZE_MODULE_FORMAT_IL_SPIRV, &module);
        return built == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ? 0 : 22;
    }
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
    ze_kernel_handle_t kernel;
    ze_group_count_t groups = {1, 1, 1};
    int *p = allocate(64 * 4), *q = allocate(64 * 4), n = 0, seven = 7;
    if (strcmp(what, "bounds") == 0 || strcmp(what, "fine") == 0) {
        kernel = load("out_of_bounds");
        n = strcmp(what, "bounds") == 0 ? 1 : 0;
        CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(p), &p));
        CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(n), &n));
    } else if (strcmp(what, "forever") == 0) {
        kernel = load("forever");
        CHECK(zeCommandListAppendMemoryFill(list, p, "", 1, 256, NULL, 0, NULL));
        CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(p), &p));
    } else { /* "unwritten", and "written" where the same memory was filled before */
        kernel = load("uninitialized");
        if (strcmp(what, "written") == 0)
            CHECK(zeCommandListAppendMemoryFill(list, p, &seven, 4, 256, NULL, 0, NULL));
        CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(p), &p));
        CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(q), &q));
    }
    CHECK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    ze_result_t result = zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL);
    return result == ZE_RESULT_SUCCESS ? 0 : result == ZE_RESULT_ERROR_DEVICE_LOST ? 7 : 22;
}
