/* SPDX-License-Identifier: MIT */
/*
 * Queues and immediate lists of one ordinal and index are one engine: what is submitted first runs
 * first. And cooperative launches of as many groups as the device says, on each device there is.
 */
#include "kernels_group.h"

#include <unistd.h>

static ze_command_list_handle_t copy_list(const struct e2e *e, void *to, const void *from)
{
    ze_command_list_handle_t list = e2e_list(e, 0);
    OK(zeCommandListAppendMemoryCopy(list, to, from, sizeof(int), NULL, 0, NULL));
    OK(zeCommandListClose(list));
    return list;
}

/* Two queues and two immediate lists take turns in adding a digit; a copy of what the one before
 * left tells the order. */
static void test_order(void **state)
{
    enum { ROUNDS = 200, WAYS = 4 };
    struct e2e *e = *state;
    ze_command_queue_handle_t queues[2] = {e2e_queue(e, 0), e2e_queue(e, 0)};
    ze_command_list_handle_t immediate[2] = {e2e_immediate(e, false), e2e_immediate(e, true)};
    int *values = e2e_alloc(e, (ROUNDS + 1) * sizeof(int));
    memset(values, 0, (ROUNDS + 1) * sizeof(int));
    values[0] = 77;
    ze_command_list_handle_t lists[ROUNDS] = {NULL};
    for (int i = 0; i < ROUNDS; i++) {
        int way = i * 7 % WAYS;
        if (way < 2) {
            lists[i] = copy_list(e, &values[i + 1], &values[i]);
            OK(zeCommandQueueExecuteCommandLists(queues[way], 1, &lists[i], NULL));
        } else {
            OK(zeCommandListAppendMemoryCopy(immediate[way - 2], &values[i + 1], &values[i],
                                             sizeof(int), NULL, 0, NULL));
        }
    }
    for (int i = 0; i < 2; i++)
        OK(zeCommandQueueSynchronize(queues[i], UINT64_MAX));
    /* the last one was asynchronous: a synchronous one stands behind it */
    OK(zeCommandListAppendMemoryCopy(immediate[1], &values[0], &values[0], 4, NULL, 0, NULL));
    for (int i = 0; i <= ROUNDS; i++)
        assert_int_equal(values[i], 77);
    for (int i = 0; i < ROUNDS; i++)
        if (lists[i])
            OK(zeCommandListDestroy(lists[i]));
    for (int i = 0; i < 2; i++) {
        OK(zeCommandQueueDestroy(queues[i]));
        OK(zeCommandListDestroy(immediate[i]));
    }
    OK(zeMemFree(e->context, values));
}

/* Behind a command that waits for the host nothing of its engine runs; the copy engine does. */
static void test_waits_hold_the_engine(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 3, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t gate = e2e_event(pool, 0), behind = e2e_event(pool, 1),
                      beside = e2e_event(pool, 2);
    ze_command_queue_handle_t queue = e2e_queue(e, 0), copies = e2e_queue(e, 1);
    ze_command_list_handle_t first = e2e_list(e, 0), second = e2e_immediate(e, false);
    ze_command_list_handle_t third = e2e_list(e, 1);
    OK(zeCommandListAppendBarrier(first, NULL, 1, &gate));
    OK(zeCommandListClose(first));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &first, NULL));
    OK(zeCommandListAppendSignalEvent(second, behind));
    OK(zeCommandListAppendSignalEvent(third, beside));
    OK(zeCommandListClose(third));
    OK(zeCommandQueueExecuteCommandLists(copies, 1, &third, NULL));
    OK(zeEventHostSynchronize(beside, UINT64_MAX));
    FAILS(zeEventHostSynchronize(behind, 20000000), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(gate));
    OK(zeEventHostSynchronize(behind, UINT64_MAX));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeCommandQueueSynchronize(copies, UINT64_MAX));
    OK(zeCommandListDestroy(first));
    OK(zeCommandListDestroy(second));
    OK(zeCommandListDestroy(third));
    OK(zeCommandQueueDestroy(queue));
    OK(zeCommandQueueDestroy(copies));
    OK(zeEventDestroy(gate));
    OK(zeEventDestroy(behind));
    OK(zeEventDestroy(beside));
    OK(zeEventPoolDestroy(pool));
}

static ze_command_queue_handle_t queue_of_priority(const struct e2e *e, uint32_t ordinal,
                                                   ze_command_queue_priority_t priority)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                    .priority = priority};
    ze_command_queue_handle_t queue;
    OK(zeCommandQueueCreate(e->context, e->device, &desc, &queue));
    return queue;
}

/* What a compute queue of low priority waits for may come from the others of its group, while it
 * holds up its own. */
static void test_low_priority(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t gate = e2e_event(pool, 0), behind = e2e_event(pool, 1);
    ze_command_queue_handle_t queues[] = {
        queue_of_priority(e, 0, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW),
        queue_of_priority(e, 0, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW),
        queue_of_priority(e, 0, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)};
    ze_command_list_handle_t lists[] = {e2e_list(e, 0), e2e_list(e, 0), e2e_list(e, 0)};
    OK(zeCommandListAppendBarrier(lists[0], NULL, 1, &gate));
    OK(zeCommandListAppendSignalEvent(lists[1], behind));
    OK(zeCommandListAppendSignalEvent(lists[2], gate));
    for (size_t i = 0; i < COUNT(lists); i++)
        OK(zeCommandListClose(lists[i]));
    OK(zeCommandQueueExecuteCommandLists(queues[0], 1, &lists[0], NULL));
    OK(zeCommandQueueExecuteCommandLists(queues[1], 1, &lists[1], NULL));
    FAILS(zeEventHostSynchronize(behind, 20000000), ZE_RESULT_NOT_READY);
    OK(zeCommandQueueExecuteCommandLists(queues[2], 1, &lists[2], NULL));
    OK(zeEventHostSynchronize(behind, 60000000000ull));
    for (size_t i = 0; i < COUNT(lists); i++) {
        OK(zeCommandQueueSynchronize(queues[i], UINT64_MAX));
        OK(zeCommandQueueDestroy(queues[i]));
        OK(zeCommandListDestroy(lists[i]));
    }
    OK(zeEventDestroy(gate));
    OK(zeEventDestroy(behind));
    OK(zeEventPoolDestroy(pool));
}

/* A failure is told to who submitted it, once, and to nobody else. */
static void test_failures_of_one_queue(void **state)
{
    struct e2e own = **(struct e2e **)state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(own.driver, &desc, &own.context));
    ze_command_queue_handle_t bad = e2e_queue(&own, 0), good = e2e_queue(&own, 0);
    int *value = e2e_alloc(&own, 64);
    ze_command_list_handle_t wrong = copy_list(&own, value, (void *)(uintptr_t)16);
    ze_command_list_handle_t right = copy_list(&own, value, &(int){5});
    OK(zeCommandQueueExecuteCommandLists(bad, 1, &wrong, NULL));
    OK(zeCommandQueueExecuteCommandLists(good, 1, &right, NULL));
    OK(zeCommandQueueSynchronize(good, UINT64_MAX));
    assert_int_equal(*value, 5);
    FAILS(zeCommandQueueSynchronize(bad, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandQueueSynchronize(bad, UINT64_MAX));
    OK(zeCommandListDestroy(wrong));
    OK(zeCommandListDestroy(right));
    OK(zeCommandQueueDestroy(bad));
    OK(zeCommandQueueDestroy(good));
    OK(zeMemFree(own.context, value));
    OK(zeContextDestroy(own.context));
}

/* ---- Cooperative launches ----------------------------------------------------------------------
 */

static void together_on(struct e2e on, ze_module_handle_t module, uint32_t items)
{
    ze_kernel_handle_t kernel = kernel_of(module, "together");
    OK(zeKernelSetGroupSize(kernel, items, 1, 1));
    uint32_t groups = 0;
    OK(zeKernelSuggestMaxCooperativeGroupCount(kernel, &groups));
    assert_in_range(groups, 1, 1000);
    int *arrived = e2e_alloc(&on, 64), *out = e2e_alloc(&on, (size_t)groups * items * sizeof(int));
    *arrived = 0;
    memset(out, 0, (size_t)groups * items * sizeof(int));
    set(kernel, 0, sizeof(arrived), &arrived);
    set(kernel, 1, sizeof(groups), &groups);
    set(kernel, 2, sizeof(out), &out);
    ze_command_list_handle_t list = e2e_immediate(&on, true);
    ze_group_count_t count = {groups, 1, 1};
    OK(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &count, NULL, 0, NULL));
    assert_int_equal(*arrived, groups);
    for (uint32_t i = 0; i < groups * items; i++)
        assert_int_equal(out[i], 64);
    count.groupCountX++;
    FAILS(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &count, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(on.context, arrived));
    OK(zeMemFree(on.context, out));
    OK(zeKernelDestroy(kernel));
}

static void test_together(void **state)
{
    struct e2e *e = *state;
    ze_device_handle_t devices[8];
    uint32_t count = COUNT(devices);
    static const uint32_t items[] = {8, 64, 128, 200, 256};
    OK(zeDeviceGet(e->driver, &count, devices));
    for (uint32_t i = 0; i < count; i++) {
        struct e2e on = *e;
        on.device = devices[i];
        ze_module_handle_t module = make_module(&on, "kernels.bin");
        for (size_t k = 0; k < COUNT(items); k++)
            together_on(on, module, items[k]);
        OK(zeModuleDestroy(module));
    }
}

/* A fence is signalled when its queue counts as synchronized, and not by what was over when it was
 * reset. */
static void test_fence_with_its_queue(void **state)
{
    enum { ROUNDS = 2000, FILL_B = 512 << 10 };
    struct e2e *e = *state;
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0), gated = e2e_list(e, 0);
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t gate = e2e_event(pool, 0);
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    OK(zeFenceCreate(queue, &desc, &fence));
    /* long enough for the host to sleep */
    char *p = e2e_alloc(e, FILL_B);
    OK(zeCommandListAppendMemoryFill(list, p, "f", 1, FILL_B, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandListAppendBarrier(gated, NULL, 1, &gate));
    OK(zeCommandListClose(gated));
    for (int i = 0; i < ROUNDS; i++) {
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        if (i % 2)
            OK(zeFenceQueryStatus(fence));
        OK(zeFenceReset(fence));
        if (i % 8)
            continue;
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &gated, fence));
        FAILS(zeFenceHostSynchronize(fence, 100000), ZE_RESULT_NOT_READY);
        OK(zeEventHostSignal(gate));
        OK(zeFenceHostSynchronize(fence, UINT64_MAX));
        OK(zeCommandQueueSynchronize(queue, 0));
        OK(zeEventHostReset(gate));
        OK(zeFenceReset(fence));
    }
    OK(zeMemFree(e->context, p));
    OK(zeFenceDestroy(fence));
    OK(zeEventDestroy(gate));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(gated));
    OK(zeCommandQueueDestroy(queue));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_fence_with_its_queue),
        cmocka_unit_test(test_waits_hold_the_engine),
        cmocka_unit_test(test_low_priority),
        cmocka_unit_test(test_failures_of_one_queue),
        cmocka_unit_test(test_together),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
