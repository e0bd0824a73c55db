/* SPDX-License-Identifier: MIT */
/* Lists, queues, events, fences, copies: everything that needs no kernel. */
#include "e2e.h"

#include <unistd.h>

static void test_copy_and_fill(void **state)
{
    struct e2e *e = *state;
    enum { N = 100000 };
    const char *through = getenv("E2E_THROUGH");
    /* later validation layers refuse sizes that are no multiple of the pattern's */
    const int filled = through && strcmp(through, "validation") == 0 ? 1004 : 1001;
    uint8_t *a = e2e_alloc(e, N), *b = e2e_alloc(e, N), *on_host = malloc(N);
    for (int i = 0; i < N; i++)
        on_host[i] = (uint8_t)(i * 7);
    for (uint32_t ordinal = 0; ordinal < 2; ordinal++) {
        ze_command_queue_handle_t queue = e2e_queue(e, ordinal);
        ze_command_list_handle_t list = e2e_list(e, ordinal);
        memset(a, 0, N);
        OK(zeCommandListAppendMemoryCopy(list, a, on_host, N, NULL, 0, NULL));
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        OK(zeCommandListAppendMemoryCopy(list, b, a, N, NULL, 0, NULL));
        OK(zeCommandListAppendMemoryFill(list, a, "\1\2\3\4", 4, (size_t)filled, NULL, 0, NULL));
        assert_int_equal(a[0], 0); /* nothing runs before it is executed */
        OK(e2e_run(queue, list));
        assert_memory_equal(b, on_host, N);
        for (int i = 0; i < filled; i++)
            assert_int_equal(a[i], 1 + i % 4);
        assert_int_equal(a[filled], on_host[filled]);
        /* again: a closed list may be executed any number of times */
        memset(b, 0, N);
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        assert_memory_equal(b, on_host, N);
        /* reset: empty, open */
        OK(zeCommandListReset(list));
        OK(zeCommandListAppendMemoryFill(list, b, "z", 1, 10, NULL, 0, NULL));
        OK(e2e_run(queue, list));
        assert_int_equal(b[9], 'z');
        assert_int_equal(b[10], on_host[10]);
        OK(zeCommandListDestroy(list));
        OK(zeCommandQueueDestroy(queue));
    }
    free(on_host);
    OK(zeMemFree(e->context, a));
    OK(zeMemFree(e->context, b));
}

static void test_region(void **state)
{
    struct e2e *e = *state;
    enum { W = 64, H = 32, D = 4 };
    uint8_t *src = e2e_alloc(e, W * H * D), *dst = e2e_alloc(e, W * H * D);
    for (int i = 0; i < W * H * D; i++)
        src[i] = (uint8_t)(i % 251);
    memset(dst, 0xff, W * H * D);
    ze_copy_region_t from = {3, 4, 1, 10, 5, 2}, to = {20, 8, 2, 10, 5, 2};
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryCopyRegion(list, dst, &to, W, W * H, src, &from, W, W * H, NULL, 0,
                                           NULL));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool in = x >= 20 && x < 30 && y >= 8 && y < 13 && z >= 2 && z < 4;
                int i = z * W * H + y * W + x;
                int j = (z - 1) * W * H + (y - 4) * W + x - 17;
                assert_int_equal(dst[i], in ? src[j] : 0xff);
            }
    ze_copy_region_t beside = {20, 4, 1, 10, 5, 2}, over = {12, 8, 2, 10, 5, 2};
    OK(zeCommandListAppendMemoryCopyRegion(list, src, &beside, W, W * H, src, &from, W, W * H, NULL,
                                           0, NULL));
    FAILS(zeCommandListAppendMemoryCopyRegion(list, src, &over, W, W * H, src, &from, W, W * H,
                                              NULL, 0, NULL),
          ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, src));
    OK(zeMemFree(e->context, dst));
}

static void test_events(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 3, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t a = e2e_event(pool, 0), b = e2e_event(pool, 1);
    FAILS(zeEventQueryStatus(a), ZE_RESULT_NOT_READY);
    FAILS(zeEventHostSynchronize(a, 0), ZE_RESULT_NOT_READY);
    FAILS(zeEventHostSynchronize(a, 3000000), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(a));
    OK(zeEventQueryStatus(a));
    OK(zeEventHostSynchronize(a, UINT64_MAX));
    OK(zeEventHostReset(a));
    FAILS(zeEventQueryStatus(a), ZE_RESULT_NOT_READY);
    /* on the device: wait for a, signal b, reset a */
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    OK(zeCommandListAppendWaitOnEvents(list, 1, &a));
    OK(zeCommandListAppendSignalEvent(list, b));
    OK(zeCommandListAppendEventReset(list, a));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    FAILS(zeCommandQueueSynchronize(queue, 2000000), ZE_RESULT_NOT_READY);
    FAILS(zeEventQueryStatus(b), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(a));
    OK(zeEventHostSynchronize(b, UINT64_MAX));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    FAILS(zeEventQueryStatus(a), ZE_RESULT_NOT_READY);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(a));
    OK(zeEventDestroy(b));
    if (!e2e_through("intercept"))
        FAILS(zeEventQueryStatus(a), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zeEventPoolDestroy(pool));
}

/* One queue waits for the other: order follows the events, not the submissions. */
static void test_two_queues(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 1, 0);
    ze_event_handle_t ready = e2e_event(pool, 0);
    uint32_t *p = e2e_alloc(e, 8);
    p[0] = 0;
    ze_command_queue_handle_t first = e2e_queue(e, 0), second = e2e_queue(e, 1);
    ze_command_list_handle_t producer = e2e_list(e, 0), consumer = e2e_list(e, 1);
    uint32_t value = 0x12345678;
    OK(zeCommandListAppendMemoryCopy(consumer, p + 1, p, 4, NULL, 1, &ready));
    OK(zeCommandListClose(consumer));
    OK(zeCommandListAppendMemoryFill(producer, p, &value, 4, 4, ready, 0, NULL));
    OK(zeCommandListClose(producer));
    OK(zeCommandQueueExecuteCommandLists(second, 1, &consumer, NULL));
    usleep(5000);
    OK(zeCommandQueueExecuteCommandLists(first, 1, &producer, NULL));
    OK(zeCommandQueueSynchronize(second, UINT64_MAX));
    assert_int_equal(p[1], value);
    OK(zeCommandQueueSynchronize(first, UINT64_MAX));
    OK(zeCommandListDestroy(producer));
    OK(zeCommandListDestroy(consumer));
    OK(zeCommandQueueDestroy(first));
    OK(zeCommandQueueDestroy(second));
    OK(zeEventDestroy(ready));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
}

static void test_fences(void **state)
{
    struct e2e *e = *state;
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_event_pool_handle_t pool = e2e_pool(e, 1, 0);
    ze_event_handle_t go = e2e_event(pool, 0);
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    OK(zeFenceCreate(queue, &desc, &fence));
    FAILS(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    OK(zeCommandListAppendWaitOnEvents(list, 1, &go));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    FAILS(zeFenceHostSynchronize(fence, 1000000), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(go));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeFenceQueryStatus(fence));
    OK(zeFenceReset(fence));
    FAILS(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    OK(zeFenceDestroy(fence));
    desc.flags = ZE_FENCE_FLAG_SIGNALED;
    OK(zeFenceCreate(queue, &desc, &fence));
    OK(zeFenceQueryStatus(fence));
    OK(zeEventHostReset(go)); /* not reset: taken as if it were */
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    FAILS(zeFenceHostSynchronize(fence, 1000000), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(go));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(go));
    OK(zeEventPoolDestroy(pool));
}

static void test_timestamps(void **state)
{
    struct e2e *e = *state;
    enum { N = 1 << 20 };
    ze_event_pool_handle_t pool =
        e2e_pool(e, 3, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t barrier = e2e_event(pool, 2);
    ze_event_handle_t events[2] = {e2e_event(pool, 0), e2e_event(pool, 1)};
    char *p = e2e_alloc(e, N);
    uint64_t *written = e2e_alloc(e, 8);
    ze_kernel_timestamp_result_t *queried = e2e_alloc(e, 4 * sizeof(*queried));
    uint64_t host, before, after;
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(e->device, &device));
    bool has_long_timestamps = device.kernelTimestampValidBits > 32; /* from Xe2 on */
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &before));
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryFill(list, p, "a", 1, N, events[0], 0, NULL));
    OK(zeCommandListAppendMemoryFill(list, p, "b", 1, N, events[1], 1, events));
    OK(zeCommandListAppendWriteGlobalTimestamp(list, written, NULL, 0, NULL));
    size_t offsets[2] = {2 * sizeof(*queried), 0};
    OK(zeCommandListAppendQueryKernelTimestamps(list, 2, events, queried, offsets, NULL, 0, NULL));
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &after));
    ze_kernel_timestamp_result_t t[2];
    for (int i = 0; i < 50; i++) { /* what does nothing takes a tick, too: 0 is 2^32 for tools */
        OK(zeCommandListAppendBarrier(list, barrier, 0, NULL));
        OK(zeEventQueryKernelTimestamp(barrier, &t[0]));
        assert_true(t[0].global.kernelStart < t[0].global.kernelEnd);
        OK(zeEventHostReset(barrier));
    }
    OK(zeEventDestroy(barrier));
    for (int i = 0; i < 2; i++) {
        OK(zeEventQueryKernelTimestamp(events[i], &t[i]));
        assert_memory_equal(&queried[i == 0 ? 2 : 0], &t[i], sizeof(t[i]));
        assert_true(t[i].global.kernelStart < t[i].global.kernelEnd);
        assert_true(has_long_timestamps || t[i].global.kernelEnd <= UINT32_MAX);
        /* on the device's clock, of which they are the low 32 bits, or more */
        assert_true((uint32_t)(t[i].global.kernelStart - before) <= (uint32_t)(after - before));
    }
    assert_true((uint32_t)(t[1].global.kernelStart - t[0].global.kernelEnd) < 1u << 31);
    assert_in_range(*written, before, after);
    OK(zeEventHostReset(events[0]));
    FAILS(zeEventQueryKernelTimestamp(events[0], &t[0]), ZE_RESULT_NOT_READY);
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(events[0]));
    OK(zeEventDestroy(events[1]));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
    OK(zeMemFree(e->context, written));
    OK(zeMemFree(e->context, queried));
}

/* An asynchronous list lets the host go on; a synchronous one does not return before it is done. */
static void test_immediate(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 2, 0);
    ze_event_handle_t go = e2e_event(pool, 0), done = e2e_event(pool, 1);
    char *p = e2e_alloc(e, 16);
    p[0] = 0;
    ze_command_list_handle_t list = e2e_immediate(e, false);
    OK(zeCommandListAppendMemoryFill(list, p, "q", 1, 16, done, 1, &go));
    usleep(3000);
    assert_int_equal(p[0], 0);
    OK(zeEventHostSignal(go));
    OK(zeEventHostSynchronize(done, UINT64_MAX));
    assert_int_equal(p[15], 'q');
    OK(zeCommandListDestroy(list));
    list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryFill(list, p, "r", 1, 16, NULL, 0, NULL));
    assert_int_equal(p[15], 'r');
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(go));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
}

static void test_hints(void **state)
{
    struct e2e *e = *state;
    char *p = e2e_alloc(e, 4096);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    size_t sizes[2] = {100, 200};
    const void *ranges[2] = {p, p + 1000};
    OK(zeCommandListAppendMemoryRangesBarrier(list, 2, sizes, ranges, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryPrefetch(list, p, 4096));
    OK(zeCommandListAppendMemAdvise(list, e->device, p, 4096, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, p));
}

/* Objects that are destroyed while commands still name them. */
static void test_destroyed_early(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 2, 0);
    ze_event_handle_t go = e2e_event(pool, 0), other = e2e_event(pool, 1);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    char *p = e2e_alloc(e, 64);
    OK(zeCommandListAppendWaitOnEvents(list, 1, &go));
    OK(zeCommandListAppendMemoryFill(list, p, "k", 1, 64, other, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(other));
    OK(zeEventPoolDestroy(pool));
    OK(zeEventHostSignal(go));
    OK(zeEventDestroy(go));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(p[63], 'k');
    OK(zeMemFree(e->context, p));
    OK(zeCommandQueueDestroy(queue));
}

/* Pointers that lead nowhere end the submission with an error, and nothing else. */
static void test_bad_pointers(void **state)
{
    struct e2e *e = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e own = *e;
    OK(zeContextCreate(e->driver, &desc, &own.context));
    char *p = e2e_alloc(&own, 4096);
    ze_event_pool_handle_t pool = e2e_pool(&own, 1, 0);
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_command_queue_handle_t queue = e2e_queue(&own, 0);
    ze_command_list_handle_t list = e2e_list(&own, 0);
    FAILS(zeCommandListAppendMemoryCopy(list, p, p + 2048, 4096, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListAppendMemoryCopy(list, p, (void *)0x1000, 16, NULL, 0, NULL));
    OK(zeCommandListAppendSignalEvent(list, event));
    FAILS(e2e_run(queue, list), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeEventHostSynchronize(event, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeContextGetStatus(own.context), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeContextGetStatus(e->context));
    /* the queue goes on */
    OK(zeCommandListReset(list));
    OK(zeCommandListAppendMemoryFill(list, p, "m", 1, 16, NULL, 0, NULL));
    OK(e2e_run(queue, list));
    assert_int_equal(p[15], 'm');
    /* memory that was freed after the append */
    OK(zeCommandListReset(list));
    char *gone = e2e_alloc(&own, 1 << 20);
    OK(zeCommandListAppendMemoryFill(list, gone, "m", 1, 1 << 20, NULL, 0, NULL));
    OK(zeMemFree(own.context, gone));
    FAILS(e2e_run(queue, list), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(own.context, p));
    OK(zeContextDestroy(own.context));
}

/* Destroying a context ends work that waits for ever. */
static void test_context_interrupts(void **state)
{
    struct e2e *e = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e own = *e;
    OK(zeContextCreate(e->driver, &desc, &own.context));
    ze_event_pool_handle_t pool = e2e_pool(&own, 1, 0);
    ze_event_handle_t never = e2e_event(pool, 0);
    ze_command_queue_handle_t queue = e2e_queue(&own, 0);
    ze_command_list_handle_t list = e2e_list(&own, 0);
    OK(zeCommandListAppendWaitOnEvents(list, 1, &never));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    FAILS(zeCommandQueueSynchronize(queue, 1000000), ZE_RESULT_NOT_READY);
    OK(zeContextDestroy(own.context));
    FAILS(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(never));
    OK(zeEventPoolDestroy(pool));
}

static void test_refusals(void **state)
{
    struct e2e *e = *state;
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0), copy = e2e_list(e, 1);
    ze_command_list_handle_t immediate = e2e_immediate(e, true);
    char *p = e2e_alloc(e, 64);
    FAILS(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT); /* open */
    OK(zeCommandListClose(copy));
    FAILS(zeCommandQueueExecuteCommandLists(queue, 1, &copy, NULL),
          ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    FAILS(zeCommandQueueExecuteCommandLists(queue, 1, &immediate, NULL),
          ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    FAILS(zeCommandQueueExecuteCommandLists(queue, 0, &copy, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
    if (!e2e_through("intercept")) {
        FAILS(zeCommandQueueExecuteCommandLists(queue, 1, NULL, NULL),
              ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        FAILS(zeCommandListAppendBarrier(list, NULL, 1, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
        FAILS(zeCommandListAppendBarrier(list, GARBAGE(ze_event_handle_t), 0, NULL),
              ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    FAILS(zeCommandListAppendMemoryCopy(list, NULL, p, 1, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zeCommandListAppendMemoryFill(list, p, "abc", 3, 60, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_SIZE);
    ze_event_pool_desc_t none = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
    ze_event_pool_handle_t pool;
    FAILS(zeEventPoolCreate(e->context, &none, 0, NULL, &pool), ZE_RESULT_ERROR_INVALID_SIZE);
    ze_command_queue_desc_t bad = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .ordinal = 9};
    FAILS(zeCommandQueueCreate(e->context, e->device, &bad, &queue),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(copy));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(e->context, p));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_and_fill),
        cmocka_unit_test(test_region),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_two_queues),
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_immediate),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_destroyed_early),
        cmocka_unit_test(test_bad_pointers),
        cmocka_unit_test(test_context_interrupts),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
