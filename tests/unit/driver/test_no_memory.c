/* SPDX-License-Identifier: MIT */
/*
 * The driver without memory: a program's calls are repeated with its first allocation failing, then
 * its second, until none fails. Each call gives a result, nothing crashes, and nothing is left (the
 * leak checker of sanitized builds sees to that). Calls of malloc and friends from the driver go
 * through the linker's --wrap.
 */
#include "../test.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- Allocation that fails ---- */

static _Atomic long countdown = -1; /* 0: the next one fails; -1: none does */
static _Atomic bool failed;

static bool fails(void)
{
    long left = atomic_load(&countdown);
    while (left >= 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
        ;
    if (left == 0)
        atomic_store(&failed, true);
    return left == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

/* ---- The program ---- */

static uint8_t *binary;
static size_t binary_B;

static const char *path;

static void load(void)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    binary = __real_malloc(1 << 20);
    binary_B = fread(binary, 1, 1 << 20, f);
    fclose(f);
    assert_true(binary_B > 0);
}

#define GIVES_UP(call)                                                                             \
    do {                                                                                           \
        result = (call);                                                                           \
        if (result != ZE_RESULT_SUCCESS)                                                           \
            goto out;                                                                              \
    } while (0)

struct made {
    ze_context_handle_t context;
    ze_command_list_handle_t list, immediate;
    ze_command_queue_handle_t queue;
    ze_fence_handle_t fence;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_image_handle_t image;
    ze_sampler_handle_t sampler;
    ze_module_build_log_handle_t log;
    void *memory, *host, *reserved;
    ze_physical_mem_handle_t physical;
};

static void destroy(struct made *m)
{
    atomic_store(&countdown, -1);
    if (m->queue)
        zeCommandQueueSynchronize(m->queue, UINT64_MAX);
    if (m->fence)
        zeFenceDestroy(m->fence);
    if (m->list)
        zeCommandListDestroy(m->list);
    if (m->immediate)
        zeCommandListDestroy(m->immediate);
    if (m->queue)
        zeCommandQueueDestroy(m->queue);
    if (m->event)
        zeEventDestroy(m->event);
    if (m->pool)
        zeEventPoolDestroy(m->pool);
    if (m->kernel)
        zeKernelDestroy(m->kernel);
    if (m->module)
        zeModuleDestroy(m->module);
    if (m->log)
        zeModuleBuildLogDestroy(m->log);
    if (m->image)
        zeImageDestroy(m->image);
    if (m->sampler)
        zeSamplerDestroy(m->sampler);
    if (m->physical)
        zePhysicalMemDestroy(m->context, m->physical);
    if (m->reserved)
        zeVirtualMemFree(m->context, m->reserved, 1 << 16);
    if (m->memory)
        zeMemFree(m->context, m->memory);
    if (m->host)
        zeMemFree(m->context, m->host);
    if (m->context)
        zeContextDestroy(m->context);
}

static ze_result_t objects(ze_device_handle_t device, struct made *m)
{
    ze_result_t result;
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 2};
    ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_image_desc_t image = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, .type = ZE_IMAGE_FORMAT_TYPE_UNORM},
        .width = 8,
        .height = 8,
        .depth = 1};
    ze_sampler_desc_t sampler = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_physical_mem_desc_t physical = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                       .size = 1 << 16};
    ze_device_mem_alloc_desc_t mem = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    GIVES_UP(zeCommandListCreate(m->context, device, &list, &m->list));
    GIVES_UP(zeCommandListCreateImmediate(m->context, device, &queue, &m->immediate));
    GIVES_UP(zeCommandQueueCreate(m->context, device, &queue, &m->queue));
    GIVES_UP(zeFenceCreate(m->queue, &fence, &m->fence));
    GIVES_UP(zeEventPoolCreate(m->context, &pool, 0, NULL, &m->pool));
    GIVES_UP(zeEventCreate(m->pool, &event, &m->event));
    GIVES_UP(zeImageCreate(m->context, device, &image, &m->image));
    GIVES_UP(zeSamplerCreate(m->context, device, &sampler, &m->sampler));
    GIVES_UP(zeMemAllocDevice(m->context, &mem, 4096, 1 << 16, device, &m->memory));
    GIVES_UP(zeMemAllocHost(m->context, &host, 4096, 0, &m->host));
    GIVES_UP(zePhysicalMemCreate(m->context, device, &physical, &m->physical));
    GIVES_UP(zeVirtualMemReserve(m->context, NULL, 1 << 16, &m->reserved));
    GIVES_UP(zeVirtualMemMap(m->context, m->reserved, 1 << 16, m->physical, 0,
                             ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    zeVirtualMemUnmap(m->context, m->reserved, 1 << 16);
out:
    return result;
}

static ze_result_t kernels(ze_device_handle_t device, struct made *m)
{
    ze_result_t result;
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .inputSize = binary_B,
                               .pInputModule = binary};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "writes"};
    ze_group_count_t groups = {16, 1, 1};
    int n = 0;
    size_t size = 0;
    GIVES_UP(zeModuleCreate(m->context, device, &module, &m->module, &m->log));
    GIVES_UP(zetModuleGetDebugInfo(m->module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, NULL));
    GIVES_UP(zeKernelCreate(m->module, &kernel, &m->kernel));
    GIVES_UP(zeKernelSetGroupSize(m->kernel, 32, 1, 1));
    GIVES_UP(zeKernelSetArgumentValue(m->kernel, 0, sizeof(m->memory), &m->memory));
    GIVES_UP(zeKernelSetArgumentValue(m->kernel, 1, sizeof(n), &n));
    GIVES_UP(zeCommandListAppendMemoryFill(m->list, m->memory, "", 1, 4096, NULL, 0, NULL));
    GIVES_UP(zeCommandListAppendLaunchKernel(m->list, m->kernel, &groups, m->event, 0, NULL));
    GIVES_UP(zeKernelSetArgumentValue(m->kernel, 0, sizeof(m->host), &m->host));
    GIVES_UP(zeCommandListAppendMemoryCopy(m->list, m->host, m->memory, 4, NULL, 1, &m->event));
    GIVES_UP(zeCommandListClose(m->list));
    GIVES_UP(zeCommandQueueExecuteCommandLists(m->queue, 1, &m->list, m->fence));
    GIVES_UP(zeCommandQueueSynchronize(m->queue, UINT64_MAX));
    GIVES_UP(zeCommandListAppendMemoryCopy(m->immediate, m->host, m->memory, 4, NULL, 0, NULL));
out:
    return result;
}

static bool is_honest(ze_result_t result)
{
    return result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
           result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY ||
           result == ZE_RESULT_ERROR_INVALID_ARGUMENT; /* a fd of no memory */
}

/* Returns whether an allocation failed. */
static bool attempt(ze_driver_handle_t driver, ze_device_handle_t device, long fail_at)
{
    struct made m = {0};
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    atomic_store(&failed, false);
    atomic_store(&countdown, fail_at);
    ze_result_t result = zeContextCreate(driver, &desc, &m.context);
    if (result == ZE_RESULT_SUCCESS)
        result = objects(device, &m);
    if (result == ZE_RESULT_SUCCESS)
        result = kernels(device, &m);
    bool did = atomic_load(&failed);
    destroy(&m);
    if (result != ZE_RESULT_SUCCESS && !is_honest(result))
        fail_msg("allocation %ld failed: result 0x%x", fail_at, (unsigned)result);
    assert_true(did || result == ZE_RESULT_SUCCESS);
    return did;
}

static void test_each_allocation(void **state)
{
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    uint32_t one = 1;
    /* the driver itself */
    long fail_at = 0;
    for (;; fail_at++) {
        atomic_store(&countdown, fail_at);
        ze_result_t result = zeInit(0);
        atomic_store(&countdown, -1);
        if (result == ZE_RESULT_SUCCESS)
            break;
        assert_int_equal(result, ZE_RESULT_ERROR_UNINITIALIZED);
    }
    assert_true(fail_at > 0);
    assert_int_equal(zeDriverGet(&one, &driver), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDeviceGet(driver, &one, &device), ZE_RESULT_SUCCESS);
    load();
    for (fail_at = 0; attempt(driver, device, fail_at); fail_at++)
        ;
    printf("%ld allocations\n", fail_at);
    assert_true(fail_at > 50);
    assert_false(attempt(driver, device, -1));
    free(binary);
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "";
    setenv("ZESCOPE_LOG", "off", 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
