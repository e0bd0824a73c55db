/* SPDX-License-Identifier: MIT */
/* bounds BINARY CASE: launches that are wrong in one way, or in none; 0: all succeeded, 7: the
 * device was lost. */
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
static ze_module_handle_t module;
static ze_command_list_handle_t list;

static void open_device(void)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(zeContextCreate(driver, &desc, &context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    CHECK(zeCommandListCreateImmediate(context, device, &queue, &list));
}

static void open_module(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(path, "rb");
    if (!f)
        exit(21);
    size_t size = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = strstr(path, ".spv") ? ZE_MODULE_FORMAT_IL_SPIRV
                                                            : ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = bytes};
    CHECK(zeModuleCreate(context, device, &desc, &module, NULL));
}

static ze_kernel_handle_t load(const char *name)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    CHECK(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

static char *allocate(size_t size)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *p;
    CHECK(zeMemAllocDevice(context, &desc, size, 0, device, &p));
    return p;
}

static void set(ze_kernel_handle_t kernel, uint32_t index, size_t size, const void *value)
{
    CHECK(zeKernelSetArgumentValue(kernel, index, size, value));
}

static int launch(ze_kernel_handle_t kernel, uint32_t items)
{
    ze_group_count_t groups = {1, 1, 1};
    CHECK(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE));
    CHECK(zeKernelSetGroupSize(kernel, items, 1, 1));
    ze_result_t result = zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL);
    return result == ZE_RESULT_SUCCESS ? 0 : result == ZE_RESULT_ERROR_DEVICE_LOST ? 7 : 22;
}

static int write_at(const char *where)
{
    ze_kernel_handle_t kernel = load("write_at");
    set(kernel, 0, sizeof(where), &where);
    return launch(kernel, 1);
}

/* ---- cases -------------------------------------------------------------------------------------
 */

enum { PAGES_B = 4 * 4096 };

/* Neighbours of whole pages, the one between them overrun at an end, or not. */
static int neighbours(long offset)
{
    char *of[3];
    for (int i = 0; i < 3; i++)
        of[i] = allocate(PAGES_B);
    return write_at(of[1] + offset);
}

static int inside(void)
{
    return neighbours(0) | neighbours(PAGES_B - 4);
}

static int behind(void)
{
    return neighbours(PAGES_B);
}

static int before(void)
{
    return neighbours(-4);
}

/* Another allocation may have its address by now. */
static int freed(void)
{
    char *p = allocate(PAGES_B);
    CHECK(zeMemFree(context, p));
    char *q = allocate(PAGES_B);
    if (q == p)
        puts("the same address");
    return write_at(p);
}

enum { ITEMS = 16 };

static int read_local(int filled)
{
    ze_kernel_handle_t kernel = load("read_local");
    char *out = allocate(ITEMS * 4);
    set(kernel, 0, sizeof(out), &out);
    set(kernel, 1, sizeof(filled), &filled);
    return launch(kernel, ITEMS);
}

static int local_written(void)
{
    return read_local(ITEMS);
}

static int local_unwritten(void)
{
    return read_local(ITEMS / 2);
}

static int read_three(const char *name)
{
    ze_kernel_handle_t kernels[2] = {load("write_outer"), load(name)};
    char *three = allocate(ITEMS * 12), *out = allocate(ITEMS * 4);
    set(kernels[0], 0, sizeof(three), &three);
    set(kernels[1], 0, sizeof(three), &three);
    set(kernels[1], 1, sizeof(out), &out);
    int error = launch(kernels[0], ITEMS);
    return error ? error : launch(kernels[1], ITEMS);
}

static int outer(void)
{
    return read_three("read_outer");
}

static int middle(void)
{
    return read_three("read_middle");
}

static int middle_of_all(void)
{
    return read_three("read_middle_of_all");
}

static int local_arguments(const char *name, uint32_t locals, int offset)
{
    ze_kernel_handle_t kernel = load(name);
    char *out = allocate(ITEMS * 4);
    set(kernel, 0, sizeof(out), &out);
    for (uint32_t i = 1; i <= locals; i++)
        set(kernel, i, ITEMS * 4, NULL);
    set(kernel, locals + 1, sizeof(offset), &offset);
    return launch(kernel, ITEMS);
}

static int local_inside(void)
{
    return local_arguments("local_arguments", 2, 0) | local_arguments("local_and_argument", 1, 0);
}

static int local_behind(void)
{
    return local_arguments("local_arguments", 2, 1);
}

static int local_own_behind(void)
{
    return local_arguments("local_and_argument", 1, 4);
}

/* The sums are right, wherever the arrays are. */
static int local_arrays(int offset)
{
    ze_kernel_handle_t kernel = load("local_arrays");
    int *out;
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    CHECK(zeMemAllocHost(context, &desc, ITEMS * 4, 0, (void **)&out));
    set(kernel, 0, sizeof(out), &out);
    set(kernel, 1, sizeof(offset), &offset);
    int status = launch(kernel, ITEMS);
    for (int i = 0; i < ITEMS && !status && !offset; i++) {
        int second = i % 4 * 4 + i / 4;
        if (out[i] != (i ^ 1) + 3 * second + i / 4)
            return 23;
    }
    return status;
}

static int arrays_inside(void)
{
    return local_arrays(0);
}

static int arrays_behind(void)
{
    return local_arrays(1);
}

static int write_image(ze_image_flags_t flags)
{
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .flags = flags,
                            .type = ZE_IMAGE_TYPE_2D,
                            .format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM,
                                       ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G,
                                       ZE_IMAGE_FORMAT_SWIZZLE_B, ZE_IMAGE_FORMAT_SWIZZLE_A},
                            .width = ITEMS,
                            .height = 2,
                            .depth = 1};
    ze_image_handle_t image;
    CHECK(zeImageCreate(context, device, &desc, &image));
    ze_kernel_handle_t kernel = load("write_image");
    set(kernel, 0, sizeof(image), &image);
    return launch(kernel, ITEMS);
}

static int image_written(void)
{
    return write_image(ZE_IMAGE_FLAG_KERNEL_WRITE);
}

static int image_read_only(void)
{
    return write_image(0);
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {
    {"inside", inside},
    {"behind", behind},
    {"before", before},
    {"freed", freed},
    {"local-written", local_written},
    {"local-unwritten", local_unwritten},
    {"outer", outer},
    {"middle", middle},
    {"middle-of-all", middle_of_all},
    {"local-inside", local_inside},
    {"local-behind", local_behind},
    {"local-own-behind", local_own_behind},
    {"image-written", image_written},
    {"image-read-only", image_read_only},
    {"arrays-inside", arrays_inside},
    {"arrays-behind", arrays_behind},
};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_device();
    open_module(argv[1]);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!strcmp(cases[i].name, argv[2]))
            return cases[i].run();
    }
    return 2;
}
