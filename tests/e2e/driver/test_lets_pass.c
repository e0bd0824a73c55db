/* SPDX-License-Identifier: MIT */
/*
 * What the specification forbids and Intel's driver takes, and what the compiler reads beyond what
 * a program asked for. argv[1] is ZESCOPE_CHECK: "default" (not set), "1" or "0".
 */
#include "kernels_group.h"

static bool strict, unchecked;

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};

#define PASSES_UNLESS_STRICT(call, refusal)                                                        \
    assert_int_equal((call), strict ? (refusal) : ZE_RESULT_SUCCESS)

static void test_alignments(void **state)
{
    struct e2e *e = *state;
    static const size_t odd[] = {3, 12, 100, 4103};
    for (size_t i = 0; i < COUNT(odd); i++) {
        void *p = NULL;
        PASSES_UNLESS_STRICT(
            zeMemAllocDevice(e->context, &device_desc, 1000, odd[i], e->device, &p),
            ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
        if (strict)
            continue;
        size_t power = 1;
        while (power < odd[i])
            power *= 2;
        assert_int_equal((uintptr_t)p % power, 0);
        memset(p, 1, 1000);
        OK(zeMemFree(e->context, p));
    }
}

/* What is appended to a closed list has no effect, not even when it is closed again. */
static void test_append_to_closed_list(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    uint8_t *p = e2e_alloc(e, 64), one = 1, two = 2;
    memset(p, 0, 64);
    OK(zeCommandListAppendMemoryFill(list, p, &one, 1, 64, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    PASSES_UNLESS_STRICT(zeCommandListAppendMemoryFill(list, p, &two, 1, 64, event, 0, NULL),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    PASSES_UNLESS_STRICT(zeCommandListAppendSignalEvent(list, event),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(e2e_run(queue, list));
    assert_int_equal(p[63], 1);
    FAILS(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    OK(zeCommandListReset(list));
    OK(zeCommandListAppendMemoryFill(list, p, &two, 1, 64, event, 0, NULL));
    OK(e2e_run(queue, list));
    assert_int_equal(p[63], 2);
    OK(zeEventQueryStatus(event));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
}

static void test_page_size_of_nothing(void **state)
{
    struct e2e *e = *state;
    size_t page = 0;
    PASSES_UNLESS_STRICT(zeVirtualMemQueryPageSize(e->context, e->device, 0, &page),
                         ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    assert_int_equal(page, strict ? 0 : 65536);
}

/* Memory is asked about in another context than its own. */
static void test_memory_of_another_context(void **state)
{
    struct e2e *e = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_memory_allocation_properties_t props = {.stype =
                                                   ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_context_handle_t other;
    ze_device_handle_t device = NULL;
    void *p, *base = NULL;
    size_t size = 0;
    int local;
    OK(zeContextCreate(e->driver, &desc, &other));
    OK(zeMemAllocDevice(e->context, &device_desc, 1000, 0, e->device, &p));
    OK(zeMemGetAllocProperties(other, (char *)p + 9, &props, &device));
    assert_int_equal(props.type, strict ? ZE_MEMORY_TYPE_UNKNOWN : ZE_MEMORY_TYPE_DEVICE);
    assert_ptr_equal(device, strict ? NULL : e->device);
    PASSES_UNLESS_STRICT(zeMemGetAddressRange(other, (char *)p + 9, &base, &size),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    if (!strict)
        assert_true(base == p && size >= 1000);
    OK(zeMemGetAllocProperties(other, &local, &props, &device));
    assert_int_equal(props.type, ZE_MEMORY_TYPE_UNKNOWN);
    PASSES_UNLESS_STRICT(zeMemFree(other, p), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeMemFree(strict ? other : e->context, p), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    if (strict)
        OK(zeMemFree(e->context, p));
    OK(zeMemGetAllocProperties(other, p, &props, &device));
    assert_int_equal(props.type, ZE_MEMORY_TYPE_UNKNOWN);
    OK(zeContextDestroy(other));
}

/* Memory is imported without its size. */
static void test_import_of_0_bytes(void **state)
{
    enum { BYTES = 65536 };
    struct e2e *e = *state;
    ze_external_memory_export_desc_t export = {.stype =
                                                   ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_external_memory_export_fd_t exported = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_memory_allocation_properties_t props = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &exported};
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_device_mem_alloc_desc_t desc = device_desc;
    void *p, *q, *base;
    size_t size;
    desc.pNext = &export;
    OK(zeMemAllocDevice(e->context, &desc, BYTES, 0, e->device, &p));
    OK(zeMemGetAllocProperties(e->context, p, &props, NULL));
    import.fd = exported.fd;
    desc.pNext = &import;
    PASSES_UNLESS_STRICT(zeMemAllocDevice(e->context, &desc, 0, 0, e->device, &q),
                         ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    if (!strict) {
        OK(zeMemGetAddressRange(e->context, q, &base, &size));
        assert_int_equal(size, BYTES);
        ((char *)p)[BYTES - 1] = 42;
        assert_int_equal(((char *)q)[BYTES - 1], 42);
        OK(zeMemFree(e->context, q));
    }
    OK(zeMemFree(e->context, p));
    FAILS(zeMemAllocDevice(e->context, &device_desc, 0, 0, e->device, &q),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

static void test_flags(void **state)
{
    struct e2e *e = *state;
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC, .flags = 1u << 20};
    ze_context_handle_t context;
    PASSES_UNLESS_STRICT(zeContextCreate(e->driver, &context_desc, &context),
                         ZE_RESULT_ERROR_INVALID_ENUMERATION);
    if (!strict)
        OK(zeContextDestroy(context));
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                        .flags = 1u << 20};
    ze_command_list_handle_t list;
    PASSES_UNLESS_STRICT(zeCommandListCreate(e->context, e->device, &list_desc, &list),
                         ZE_RESULT_ERROR_INVALID_ENUMERATION);
    if (!strict)
        OK(zeCommandListDestroy(list));
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .flags = 1u << 20};
    ze_command_queue_handle_t queue;
    PASSES_UNLESS_STRICT(zeCommandQueueCreate(e->context, e->device, &queue_desc, &queue),
                         ZE_RESULT_ERROR_INVALID_ENUMERATION);
    if (!strict)
        OK(zeCommandQueueDestroy(queue));
    ze_device_mem_alloc_desc_t memory_desc = device_desc;
    memory_desc.flags = 1u << 20;
    void *p;
    PASSES_UNLESS_STRICT(zeMemAllocDevice(e->context, &memory_desc, 64, 0, e->device, &p),
                         ZE_RESULT_ERROR_INVALID_ENUMERATION);
    if (!strict)
        OK(zeMemFree(e->context, p));
}

/* Enumerators are no flags: what means nothing has no behaviour either. */
static void test_enumerators(void **state)
{
    struct e2e *e = *state;
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = (ze_command_queue_mode_t)77};
    ze_command_queue_handle_t queue;
    FAILS(zeCommandQueueCreate(e->context, e->device, &queue_desc, &queue),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

/* There is memory 0 alone. */
static void test_ordinals(void **state)
{
    struct e2e *e = *state;
    ze_device_mem_alloc_desc_t desc = device_desc;
    for (desc.ordinal = 0; desc.ordinal < 3; desc.ordinal++) {
        void *p = NULL;
        ze_result_t result = zeMemAllocDevice(e->context, &desc, 64, 0, e->device, &p);
        assert_int_equal(result, strict && desc.ordinal ? ZE_RESULT_ERROR_INVALID_ARGUMENT
                                                        : ZE_RESULT_SUCCESS);
        if (result == ZE_RESULT_SUCCESS)
            OK(zeMemFree(e->context, p));
    }
}

/* Hints may reach beyond an allocation, as those for parts of OpenCL's buffers do, not begin there.
 */
static void test_hints(void **state)
{
    struct e2e *e = *state;
    const ze_memory_advice_t advice = ZE_MEMORY_ADVICE_SET_READ_MOSTLY;
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    char *p = e2e_alloc(e, 65536);
    int local = 0;
    OK(zeCommandListAppendMemAdvise(list, e->device, p, 65536, advice));
    OK(zeCommandListAppendMemoryPrefetch(list, p, 65536));
    PASSES_UNLESS_STRICT(zeCommandListAppendMemAdvise(list, e->device, p + 4096, 65536, advice),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    PASSES_UNLESS_STRICT(zeCommandListAppendMemoryPrefetch(list, p + 4096, 1 << 30),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeCommandListAppendMemAdvise(list, e->device, &local, 4, advice),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeCommandListAppendMemoryPrefetch(list, &local, 4), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(e2e_run(queue, list));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(e->context, p));
}

/* An image without slices has one, which programs count from 0 or 1. */
static void test_origin_of_slices(void **state)
{
    enum { SIDE = 4 };
    struct e2e *e = *state;
    ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_32, .type = ZE_IMAGE_FORMAT_TYPE_UINT},
        .width = SIDE,
        .height = SIDE,
        .depth = 1};
    ze_image_region_t region = {0, 0, 1, SIDE, SIDE, 1};
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_image_handle_t image;
    uint32_t *p = e2e_alloc(e, 2 * SIDE * SIDE * 4), *back = p + SIDE * SIDE;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        p[i] = i;
        back[i] = 0;
    }
    OK(zeImageCreate(e->context, e->device, &desc, &image));
    PASSES_UNLESS_STRICT(
        zeCommandListAppendImageCopyFromMemory(list, image, p, &region, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    PASSES_UNLESS_STRICT(
        zeCommandListAppendImageCopyToMemory(list, back, image, &region, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    region.originZ = 2;
    FAILS(zeCommandListAppendImageCopyToMemory(list, back, image, &region, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(e2e_run(queue, list));
    for (uint32_t i = 0; i < SIDE * SIDE && !strict; i++)
        assert_int_equal(back[i], i);
    OK(zeImageDestroy(image));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(e->context, p));
}

/* zex_kernel_register_file_size_exp_t of Intel's driver. */
static void test_kernel_registers(void **state)
{
    (void)state;
    struct {
        uint32_t stype;
        const void *next;
        uint32_t size;
    } registers = {.stype = 0x30012, .size = 777};
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, .pNext = &registers};
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    OK(zeKernelGetProperties(kernel, &p));
    assert_int_equal(registers.size, 128);
    OK(zeKernelDestroy(kernel));
}

static void test_short_arguments(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "wide_argument");
    uint64_t *out = e2e_alloc(e, 64);
    const uint32_t value = 0xfedcba98;
    static const size_t sizes[] = {1, 2, 4};
    set(kernel, 0, sizeof(out), &out);
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        PASSES_UNLESS_STRICT(zeKernelSetArgumentValue(kernel, 1, sizes[i], &value),
                             ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
        if (strict)
            continue;
        OK(launch(e, kernel, 1));
        assert_int_equal(*out, value & (0xffffffffull >> (32 - 8 * sizes[i])));
    }
    FAILS(zeKernelSetArgumentValue(kernel, 1, 0, &value),
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, out));
}

/* Of more bytes the first 8 are the pointer, and what is said of local memory's content is not
 * read. */
static void test_long_pointers(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "wide_argument");
    uint64_t *out = e2e_alloc(e, 64), value = 99, pointers[2];
    pointers[0] = pointers[1] = (uint64_t)(uintptr_t)out;
    set(kernel, 1, sizeof(value), &value);
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    PASSES_UNLESS_STRICT(zeKernelSetArgumentValue(kernel, 0, sizeof(pointers), pointers),
                         ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    if (!strict) {
        *out = 0;
        OK(launch(e, kernel, 1));
        assert_int_equal(*out, 99);
    }
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, out));
    kernel = kernel_of(the_module, "local_sum");
    PASSES_UNLESS_STRICT(zeKernelSetArgumentValue(kernel, 2, 64, &value),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeKernelDestroy(kernel));
}

/* Arguments that were never set are 0, pointers are null. */
static void test_arguments_not_set(void **state)
{
    static const struct {
        const char *kernel;
        uint32_t out; /* index of the one argument that is set */
        int64_t gives;
    } rows[] = {{"wide_argument", 0, 0}, {"null_or_not", 1, 0x7777777700000000 | UINT32_MAX}};
    struct e2e *e = *state;
    int64_t *out = e2e_alloc(e, 64);
    ze_group_count_t one = {1, 1, 1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ze_kernel_handle_t kernel = kernel_of(the_module, rows[i].kernel);
        ze_command_queue_handle_t queue = e2e_queue(e, 0);
        ze_command_list_handle_t list = e2e_list(e, 0);
        *out = 0x7777777777777777;
        set(kernel, rows[i].out, sizeof(out), &out);
        OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
        PASSES_UNLESS_STRICT(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL),
                             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        OK(e2e_run(queue, list));
        assert_true(*out == (strict ? 0x7777777777777777 : rows[i].gives));
        OK(zeCommandListDestroy(list));
        OK(zeCommandQueueDestroy(queue));
        OK(zeKernelDestroy(kernel));
    }
    OK(zeMemFree(e->context, out));
}

/* Dimensions that a program does not use, given as 0; a width of 0 is none. */
static void test_dimensions_of_0(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {{1000, 0, 0}, {1000, 1, 0}, {1000, 0, 1}};
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    uint32_t x = 0, y = 0, z = 0;
    OK(zeKernelSuggestGroupSize(kernel, 1000, 1, 1, &x, &y, &z));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint32_t s[3] = {0};
        PASSES_UNLESS_STRICT(zeKernelSuggestGroupSize(kernel, sizes[i][0], sizes[i][1], sizes[i][2],
                                                      &s[0], &s[1], &s[2]),
                             ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
        assert_true(strict || (s[0] == x && s[1] == 1 && s[2] == 1));
    }
    FAILS(zeKernelSuggestGroupSize(kernel, 0, 1, 1, &x, &y, &z),
          ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
    FAILS(zeKernelSuggestGroupSize(kernel, 0, 0, 0, &x, &y, &z),
          ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
    OK(zeKernelDestroy(kernel));
}

/* A list of one context on a queue and on an immediate list of another: it works on its own memory,
 * and keeps its context alive. */
static void test_lists_of_other_contexts(void **state)
{
    struct e2e *e = *state, other = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &other.context));
    ze_module_handle_t module = make_module(&other, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "add_atomic");
    int *sum = e2e_alloc(&other, 64), got = 0;
    *sum = 0;
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    ze_command_list_handle_t list = e2e_list(&other, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    const ze_group_count_t groups = {3, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, &got, sum, sizeof(got), NULL, 0, NULL));
    OK(zeCommandListClose(list));
    PASSES_UNLESS_STRICT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(got, strict ? 0 : 96);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(other.context));
    PASSES_UNLESS_STRICT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(got, strict ? 0 : 192);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

/* ---- Bytes that the compiler reads beyond what was asked for -----------------------------------
 */

enum { ODD_B = 255, ITEMS = 17, STEP_B = 15 };

static uint32_t sum_of(const uint8_t *p, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += p[i];
    return sum;
}

/* Exactly that many bytes, written by a copy: nothing behind them was. */
static uint8_t *odd_buffer(struct e2e *e, const void *bytes, size_t size)
{
    void *p;
    OK(zeMemAllocDevice(e->context, &device_desc, size, 0, e->device, &p));
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryCopy(list, p, bytes, size, NULL, 0, NULL));
    OK(zeCommandListDestroy(list));
    return p;
}

/* Executed with a fence that is signalled: it is signalled again when that has been done. */
static void test_fence_not_reset(void **state)
{
    struct e2e *e = *state;
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC,
                                        .flags = ZE_FENCE_FLAG_SIGNALED};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_fence_handle_t fence;
    OK(zeCommandQueueCreate(e->context, e->device, &queue_desc, &queue));
    OK(zeCommandListCreate(e->context, e->device, &list_desc, &list));
    OK(zeCommandListClose(list));
    OK(zeFenceCreate(queue, &fence_desc, &fence));
    PASSES_UNLESS_STRICT(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence),
                         ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

static void widened_reads(struct e2e *e, ze_module_handle_t module)
{
    static const struct {
        const char *kernel;
        bool found, each;
    } rows[] = {
        {"bytes_255", false, false},          {"bytes_255_constant", false, false},
        {"bytes_255_found", true, false},     {"bytes_255_each", false, true},
        {"bytes_255_found_each", true, true},
    };
    uint8_t bytes[ODD_B];
    for (uint32_t i = 0; i < ODD_B; i++)
        bytes[i] = (uint8_t)(i * 7 + 3);
    uint8_t *p = odd_buffer(e, bytes, ODD_B), **found = e2e_alloc(e, 64);
    uint32_t *out = e2e_alloc(e, ITEMS * 4), step = STEP_B;
    *found = p;
    for (size_t i = 0; i < COUNT(rows); i++) {
        ze_kernel_handle_t kernel = kernel_of(module, rows[i].kernel);
        set(kernel, 0, sizeof(p), rows[i].found ? (void *)&found : (void *)&p);
        set(kernel, 1, sizeof(out), &out);
        if (rows[i].each)
            set(kernel, 2, sizeof(step), &step);
        OK(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
        memset(out, 0, ITEMS * 4);
        OK(launch(e, kernel, 1));
        for (uint32_t item = 0; item < ITEMS; item++)
            assert_int_equal(out[item], rows[i].each ? sum_of(bytes + item * STEP_B, 15)
                                                     : sum_of(bytes, ODD_B));
        OK(zeKernelDestroy(kernel));
    }
    OK(zeMemFree(e->context, p));
    /* dwords, of which the compiler reads four at once, or a power of two of OWords */
    static const struct {
        const char *kernel;
        uint32_t count;
    } of_dwords[] = {{"dwords_61", 61}, {"dwords_25_constant", 25}};
    for (size_t row = 0; row < COUNT(of_dwords); row++) {
        uint32_t dwords[61], sum = 0, count = of_dwords[row].count;
        for (uint32_t i = 0; i < count; i++)
            sum = sum * 3 + (dwords[i] = i * 77777);
        p = odd_buffer(e, dwords, count * sizeof(*dwords));
        ze_kernel_handle_t kernel = kernel_of(module, of_dwords[row].kernel);
        set(kernel, 0, sizeof(p), &p);
        set(kernel, 1, sizeof(out), &out);
        OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
        OK(launch(e, kernel, 1));
        assert_int_equal(out[0], sum);
        OK(zeKernelDestroy(kernel));
        OK(zeMemFree(e->context, p));
    }
    OK(zeMemFree(e->context, out));
    OK(zeMemFree(e->context, found));
}

/* The one with debug information, the other without: the compiler widens more. */
static void test_widened_reads(void **state)
{
    widened_reads(*state, the_module);
    ze_module_handle_t module = make_module(*state, "kernels.zebin");
    widened_reads(*state, module);
    OK(zeModuleDestroy(module));
}

/* What the program itself asked for behind the end: in a context of its own, which it loses. */
static ze_result_t read_at(const struct e2e *e, const char *name, bool by_address, uint32_t at)
{
    struct e2e own = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &own.context));
    ze_module_handle_t module = make_module(&own, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, name);
    uint8_t bytes[ODD_B] = {0}, *p = odd_buffer(&own, bytes, ODD_B);
    uint8_t **found = e2e_alloc(&own, 64);
    uint32_t *out = e2e_alloc(&own, 64);
    *found = p;
    set(kernel, 0, sizeof(p), by_address ? (void *)&found : (void *)&p);
    set(kernel, 1, sizeof(out), &out);
    set(kernel, 2, sizeof(at), &at);
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    ze_result_t result = launch(&own, kernel, 1);
    OK(zeMemFree(own.context, p));
    OK(zeMemFree(own.context, found));
    OK(zeMemFree(own.context, out));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(own.context));
    return result;
}

static void test_asked_reads(void **state)
{
    struct e2e *e = *state;
    OK(read_at(e, "byte_at", false, ODD_B - 1));
    OK(read_at(e, "byte_found_at", true, ODD_B - 1));
    assert_int_equal(read_at(e, "byte_at", false, ODD_B),
                     unchecked ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(read_at(e, "byte_found_at", true, ODD_B), ZE_RESULT_ERROR_DEVICE_LOST);
    /* eight bytes, of which four or one are there: in the same cache line, and behind it */
    PASSES_UNLESS_STRICT(read_at(e, "ulong_found_at", true, 248), ZE_RESULT_SUCCESS);
    assert_int_equal(read_at(e, "ulong_found_at", true, 252),
                     ZE_RESULT_ERROR_DEVICE_LOST); /* 260 is in the next line */
}

int main(int argc, char **argv)
{
    const char *check = argc > 1 ? argv[1] : "default";
    strict = strcmp(check, "1") == 0;
    unchecked = strcmp(check, "0") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignments),
        cmocka_unit_test(test_append_to_closed_list),
        cmocka_unit_test(test_page_size_of_nothing),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_memory_of_another_context),
        cmocka_unit_test(test_import_of_0_bytes),
        cmocka_unit_test(test_enumerators),
        cmocka_unit_test(test_ordinals),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_origin_of_slices),
        cmocka_unit_test(test_kernel_registers),
        cmocka_unit_test(test_short_arguments),
        cmocka_unit_test(test_long_pointers),
        cmocka_unit_test(test_arguments_not_set),
        cmocka_unit_test(test_dimensions_of_0),
        cmocka_unit_test(test_lists_of_other_contexts),
        cmocka_unit_test(test_fence_not_reset),
        cmocka_unit_test(test_widened_reads),
        cmocka_unit_test(test_asked_reads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
