/* SPDX-License-Identifier: MIT */
/*
 * memory_bench BINARY: what memory costs launches and copies. Each figure stands beside one of the
 * same process that it should be near: its ratio says how a cost grows. BINARY has a kernel
 * `empty`.
 */
#include "give_up.h"

#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        ze_result_t result_ = (call);                                                              \
        if (result_)                                                                               \
            give_up("%s: 0x%x", #call, result_);                                                   \
    } while (0)

enum { ROUNDS = 7, MANY = 100000, CONTEXTS = 1000, ROWS = 16384, ROW_B = 200, PITCH_B = 256 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_list_handle_t list;
static ze_kernel_handle_t kernel;

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static ze_context_handle_t make_context(void)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t made;
    OK(zeContextCreate(driver, &desc, &made));
    return made;
}

static void *allocate(ze_context_handle_t from, size_t size_B)
{
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p;
    OK(zeMemAllocShared(from, &device_desc, &host_desc, size_B, 64, device, &p));
    return p;
}

static void open_module(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size_B = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (!size_B)
        give_up("%s: cannot be read", path);
    fclose(file);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size_B,
                             .pInputModule = bytes};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "empty"};
    ze_module_handle_t module;
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
}

static void launch(void)
{
    const ze_group_count_t one = {1, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
}

static void allocate_launch_free(void)
{
    void *p = allocate(context, 64);
    launch();
    OK(zeMemFree(context, p));
}

static char *copy_to, *copy_from;

static void copy_rows(void)
{
    ze_copy_region_t region = {0, 0, 0, ROW_B, ROWS, 1};
    OK(zeCommandListAppendMemoryCopyRegion(list, copy_to, &region, PITCH_B, 0, copy_from, &region,
                                           PITCH_B, 0, NULL, 0, NULL));
}

static void copy_plain(void)
{
    OK(zeCommandListAppendMemoryCopy(list, copy_to, copy_from, (size_t)ROWS * PITCH_B, NULL, 0,
                                     NULL));
}

static void copy_small(void)
{
    OK(zeCommandListAppendMemoryCopy(list, copy_to, copy_to + 4096, 64, NULL, 0, NULL));
}

static void fill_small(void)
{
    OK(zeCommandListAppendMemoryFill(list, copy_to, "abcd", 4, 64, NULL, 0, NULL));
}

/* Least of several runs, of one. */
static double measure(void (*what)(void), int times)
{
    double least = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_us();
        for (int i = 0; i < times; i++)
            what();
        double each = (cpu_us() - start) / times;
        least = each < least ? each : least;
    }
    return least;
}

static void row(const char *what, double us, const char *beside, double base_us)
{
    printf("| %s | %.2f | %s | %.2f | %.2f |\n", what, us, beside, base_us, us / base_us);
}

int main(int argc, char **argv)
{
    uint32_t one = 1;
    if (argc != 2)
        give_up("usage: memory_bench BINARY");
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &one, &device));
    context = make_context();
    open_module(argv[1]);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    OK(zeCommandListCreateImmediate(context, device, &desc, &list));
    copy_to = allocate(context, (size_t)ROWS * PITCH_B);
    copy_from = malloc((size_t)ROWS * PITCH_B);
    memset(copy_from, 1, (size_t)ROWS * PITCH_B);
    printf("| what | CPU us | beside | CPU us | ratio |\n|---|---|---|---|---|\n");
    row("16,384 rows of 200 bytes from the program's memory", measure(copy_rows, 10),
        "as many bytes and gaps in one piece", measure(copy_plain, 10));
    row("a fill of 64 bytes", measure(fill_small, 10000), "a copy of 64 bytes",
        measure(copy_small, 10000));
    double alone = measure(launch, 10000), changed = measure(allocate_launch_free, 2000);
    for (int i = 0; i < CONTEXTS; i++)
        allocate(make_context(), 4096);
    row("a launch with 1,000 other contexts", measure(launch, 1000), "alone", alone);
    for (int i = 0; i < MANY; i++)
        allocate(context, 4096);
    row("a launch with 100,000 allocations in 1,001 contexts", measure(launch, 1000), "with few",
        alone);
    row("allocation, launch, free with these", measure(allocate_launch_free, 200), "with few",
        changed);
    return 0;
}
