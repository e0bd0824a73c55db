/* SPDX-License-Identifier: MIT */
/* Counter-based events, of specifications after 1.4. */
#include "first_device.h"

#include "driver/ddi.h"

#include <stdlib.h>
#include <string.h>

#define OK(call)            assert_int_equal((call), ZE_RESULT_SUCCESS)
#define FAILS(call, result) assert_int_equal((call), (result))
#define BLOCKED(event)      FAILS(zeEventHostSynchronize((event), 10000000), ZE_RESULT_NOT_READY)
#define DONE(event)         OK(zeEventHostSynchronize((event), UINT64_MAX))
#define OVER(queue)         zeCommandQueueSynchronize((queue), 60000000000)

struct env {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t compute, copies; /* immediate, in order */
    ze_event_pool_handle_t pool;
    ze_event_handle_t gates[2], seen; /* of the pool: events as they always were */
};

static ze_command_list_handle_t immediate(const struct env *e, uint32_t ordinal, uint32_t flags)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .flags = flags,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(e->context, e->device, &desc, &list));
    return list;
}

static ze_command_list_handle_t list_of(const struct env *e, uint32_t ordinal, uint32_t flags)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                   .commandQueueGroupOrdinal = ordinal,
                                   .flags = flags};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(e->context, e->device, &desc, &list));
    return list;
}

static ze_command_list_handle_t list_new(const struct env *e, uint32_t flags)
{
    return list_of(e, 0, flags);
}

static ze_command_queue_handle_t queue_new(const struct env *e, uint32_t ordinal)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue;
    OK(zeCommandQueueCreate(e->context, e->device, &desc, &queue));
    return queue;
}

static void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
}

static ze_event_handle_t counter(const struct env *e, uint32_t flags)
{
    ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                          .flags = flags,
                                          .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    OK(zeEventCounterBasedCreate(e->context, e->device, &desc, &event));
    return event;
}

static int setup(void **state)
{
    static struct env e;
    first_device(&e.driver, &e.device);
    *state = &e;
    return 0;
}

static int begin(void **state)
{
    struct env *e = *state;
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &context, &e->context));
    e->compute = immediate(e, 0, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    e->copies = immediate(e, 1, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZS_ALL_ZE_EVENT_POOL_FLAGS,
                                 .count = 3};
    OK(zeEventPoolCreate(e->context, &pool, 0, NULL, &e->pool));
    ze_event_handle_t *events[] = {&e->gates[0], &e->gates[1], &e->seen};
    for (uint32_t i = 0; i < 3; i++) {
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        OK(zeEventCreate(e->pool, &event, events[i]));
    }
    return 0;
}

static int end(void **state)
{
    struct env *e = *state;
    OK(zeCommandListDestroy(e->compute));
    OK(zeCommandListDestroy(e->copies));
    OK(zeEventDestroy(e->gates[0]));
    OK(zeEventDestroy(e->gates[1]));
    OK(zeEventDestroy(e->seen));
    OK(zeEventPoolDestroy(e->pool));
    OK(zeContextDestroy(e->context));
    return 0;
}

/* Signalled again and again, more often than its first memory has room for, and never reset. */
static void test_used_again(void **state)
{
    struct env *e = *state;
    ze_event_handle_t event = counter(e, 0);
    uint8_t memory[64] = {0};
    OK(zeEventQueryStatus(event)); /* nothing signals it yet */
    for (uint8_t i = 1; i < 200; i++) {
        ze_event_handle_t waits[] = {e->gates[0], event};
        OK(zeCommandListAppendMemoryFill(e->compute, memory, &i, 1, 64, event, 2, waits));
        FAILS(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
        OK(zeEventHostSignal(e->gates[0]));
        DONE(event);
        assert_int_equal(memory[63], i);
        OK(zeEventHostReset(e->gates[0]));
    }
    OK(zeEventDestroy(event));
}

/* Who waits means what was appended before, whatever signals the event later. */
static void test_waits_for_the_past(void **state)
{
    struct env *e = *state;
    ze_event_handle_t event = counter(e, ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE);
    OK(zeCommandListAppendBarrier(e->compute, event, 1, &e->gates[0]));
    OK(zeCommandListAppendBarrier(e->copies, e->seen, 1, &event));
    OK(zeCommandListAppendBarrier(e->compute, event, 1, &e->gates[1]));
    BLOCKED(e->seen);
    OK(zeEventHostSignal(e->gates[0]));
    DONE(e->seen);
    BLOCKED(event);
    OK(zeEventHostSignal(e->gates[1]));
    DONE(event);
    OK(zeEventDestroy(event));
}

/* Each execution of a list counts: it is signalled after the last one. */
static void test_executions(void **state)
{
    struct env *e = *state;
    ze_event_handle_t event = counter(e, ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE),
                      other = counter(e, 0);
    ze_command_list_handle_t list = list_new(e, ZE_COMMAND_LIST_FLAG_IN_ORDER);
    OK(zeCommandListAppendWaitOnEvents(list, 1, &e->gates[0]));
    OK(zeCommandListAppendEventReset(list, e->gates[0]));
    OK(zeCommandListAppendSignalEvent(list, event));
    OK(zeCommandListAppendSignalEvent(list, e->seen));
    FAILS(zeCommandListAppendSignalEvent(list, other), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListClose(list));
    BLOCKED(event); /* appended, never executed */
    for (int i = 0; i < 2; i++)
        OK(zeCommandListImmediateAppendCommandListsExp(e->compute, 1, &list, i ? other : NULL, 0,
                                                       NULL));
    OK(zeEventHostSignal(e->gates[0]));
    DONE(e->seen);
    OK(zeEventHostReset(e->seen));
    BLOCKED(event);
    FAILS(zeEventQueryStatus(other), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(e->gates[0]));
    DONE(event);
    DONE(other);
    OK(zeCommandListHostSynchronize(e->compute, UINT64_MAX));
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(event));
    OK(zeEventDestroy(other));
}

/* Two lists, executed in turns without a host in between. */
struct pair {
    ze_command_queue_handle_t queues[2];
    ze_command_list_handle_t lists[2];
    ze_event_handle_t events[2];
};

/* On queues of one ordinal, which are one engine, or of two. */
static struct pair pair_new(struct env *e, uint32_t ordinal)
{
    struct pair p;
    for (uint32_t i = 0; i < 2; i++) {
        p.queues[i] = queue_new(e, i ? ordinal : 0);
        p.lists[i] = list_of(e, i ? ordinal : 0, ZE_COMMAND_LIST_FLAG_IN_ORDER);
        p.events[i] = counter(e, ZS_ALL_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAGS);
    }
    OK(zeCommandListAppendWaitOnEvents(p.lists[0], 1, &e->gates[0]));
    return p;
}

static void pair_free(const struct pair *p)
{
    for (uint32_t i = 0; i < 2; i++) {
        OK(zeCommandListDestroy(p->lists[i]));
        OK(zeCommandQueueDestroy(p->queues[i]));
        OK(zeEventDestroy(p->events[i]));
    }
}

/* A list waits for what it signals itself, each time it is executed. */
static void test_waits_for_itself(void **state)
{
    struct env *e = *state;
    struct pair p = pair_new(e, 0);
    uint8_t memory[64] = {0};
    const uint8_t values[] = {1, 2};
    OK(zeCommandListAppendMemoryFill(p.lists[0], memory, &values[0], 1, 64, p.events[0], 0, NULL));
    OK(zeCommandListAppendMemoryFill(p.lists[0], memory, &values[1], 1, 64, NULL, 1, p.events));
    OK(zeCommandListClose(p.lists[0]));
    for (int i = 0; i < 3; i++)
        execute(p.queues[0], p.lists[0]);
    OK(zeEventHostSignal(e->gates[0]));
    OK(OVER(p.queues[0]));
    assert_int_equal(memory[63], 2);
    OK(zeEventQueryStatus(p.events[0]));
    pair_free(&p);
}

/* One list signals, the other one waits: on one engine, and crosswise on two of them. */
static void test_executed_in_turns(void **state)
{
    struct env *e = *state;
    for (uint32_t ordinal = 0; ordinal < 2; ordinal++) {
        struct pair p = pair_new(e, ordinal);
        OK(zeCommandListAppendSignalEvent(p.lists[0], p.events[0]));
        OK(zeCommandListAppendBarrier(p.lists[1], p.events[1], 1, &p.events[0]));
        if (ordinal)
            OK(zeCommandListAppendBarrier(p.lists[0], NULL, 1, &p.events[1]));
        for (int i = 0; i < 2; i++)
            OK(zeCommandListClose(p.lists[i]));
        for (int i = 0; i < 6; i++)
            execute(p.queues[i % 2], p.lists[i % 2]);
        OK(zeEventHostSignal(e->gates[0]));
        for (int i = 0; i < 2; i++) {
            OK(OVER(p.queues[i]));
            OK(zeEventQueryStatus(p.events[i]));
        }
        OK(zeEventHostReset(e->gates[0]));
        pair_free(&p);
    }
}

/* Commands wait for what was submitted before them, and for nothing behind; the host for all. */
static void test_waits_for_executions(void **state)
{
    struct env *e = *state;
    struct pair p = pair_new(e, 1);
    ze_event_handle_t *event = &p.events[0];
    OK(zeCommandListAppendEventReset(p.lists[0], e->gates[0]));
    OK(zeCommandListAppendSignalEvent(p.lists[0], *event));
    OK(zeCommandListAppendBarrier(p.lists[1], NULL, 1, event));
    for (int i = 0; i < 2; i++)
        OK(zeCommandListClose(p.lists[i]));
    execute(p.queues[1], p.lists[1]); /* the first execution, whenever that is submitted */
    FAILS(zeCommandQueueSynchronize(p.queues[1], 10000000), ZE_RESULT_NOT_READY);
    execute(p.queues[0], p.lists[0]);
    execute(p.queues[1], p.lists[1]);
    execute(p.queues[0], p.lists[0]);
    OK(zeEventHostSignal(e->gates[0]));
    OK(OVER(p.queues[1]));
    BLOCKED(*event);
    execute(p.queues[1], p.lists[1]);
    FAILS(zeCommandQueueSynchronize(p.queues[1], 10000000), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(e->gates[0]));
    OK(OVER(p.queues[1]));
    DONE(*event);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = 1,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t at_once;
    OK(zeCommandListCreateImmediate(e->context, e->device, &desc, &at_once));
    OK(zeCommandListAppendBarrier(at_once, e->seen, 1, event));
    OK(zeEventQueryStatus(e->seen));
    OK(zeCommandListDestroy(at_once));
    pair_free(&p);
}

/* An execution that failed is over, too: who waits for it learns so, and the next one counts. */
static void test_execution_fails(void **state)
{
    struct env *e = *state;
    struct pair p = pair_new(e, 1);
    uint8_t *memory;
    const uint8_t one = 1;
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(zeMemAllocHost(e->context, &desc, 64, 0, (void **)&memory));
    OK(zeCommandListAppendMemoryFill(p.lists[0], memory, &one, 1, 64, p.events[0], 0, NULL));
    OK(zeCommandListAppendBarrier(p.lists[1], NULL, 1, p.events));
    for (int i = 0; i < 2; i++) {
        OK(zeCommandListClose(p.lists[i]));
        OK(zeEventHostSignal(e->gates[0]));
    }
    for (int i = 0; i < 2; i++) {
        execute(p.queues[0], p.lists[0]);
        execute(p.queues[1], p.lists[1]);
        ze_result_t results[] = {OVER(p.queues[0]), OVER(p.queues[1])};
        for (int k = 0; k < 2; k++)
            assert_int_equal(results[k], i ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS);
        FAILS(zeEventQueryStatus(p.events[0]), results[0]);
        if (i == 0)
            OK(zeMemFree(e->context, memory));
    }
    pair_free(&p);
}

/* What the host asks and what a list asks are the same times; the list waits for them. */
static void test_timestamps(void **state)
{
    struct env *e = *state;
    uint8_t memory[64];
    const uint8_t zero = 0;
    ze_kernel_timestamp_result_t *asked, told, last = {.global = {.kernelEnd = 0}};
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(zeMemAllocHost(e->context, &desc, sizeof(*asked), 0, (void **)&asked));
    ze_event_handle_t event = counter(e, ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
    for (int i = 0; i < 3; i++) {
        OK(zeCommandListAppendMemoryFill(e->compute, memory, &zero, 1, 64, event, 1, &e->gates[0]));
        OK(zeCommandListAppendQueryKernelTimestamps(e->copies, 1, &event, asked, NULL, e->seen, 0,
                                                    NULL));
        FAILS(zeEventQueryKernelTimestamp(event, &told), ZE_RESULT_NOT_READY);
        BLOCKED(e->seen);
        OK(zeEventHostSignal(e->gates[0]));
        DONE(e->seen);
        OK(zeEventQueryKernelTimestamp(event, &told));
        assert_memory_equal(asked, &told, sizeof(told));
        assert_true(told.global.kernelEnd > told.global.kernelStart);
        if (i)
            assert_true(told.global.kernelStart >= last.global.kernelEnd);
        last = told;
        OK(zeEventHostReset(e->gates[0]));
        OK(zeEventHostReset(e->seen));
    }
    OK(zeEventDestroy(event));
    OK(zeMemFree(e->context, asked));
}

/* Open twice is what two processes have: the other one keeps what the handle was made of. */
static void test_shared(void **state)
{
    struct env *e = *state;
    ze_event_handle_t event = counter(e, ZE_EVENT_COUNTER_BASED_FLAG_IPC), own = counter(e, 0),
                      opened;
    ze_ipc_event_counter_based_handle_t handle;
    uint32_t flags;
    FAILS(zeEventCounterBasedGetIpcHandle(own, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListAppendBarrier(e->compute, event, 1, &e->gates[0]));
    OK(zeEventCounterBasedGetIpcHandle(event, &handle));
    OK(zeEventCounterBasedOpenIpcHandle(e->context, handle, &opened));
    OK(zeEventGetCounterBasedFlags(opened, &flags));
    assert_int_equal(flags,
                     ZE_EVENT_COUNTER_BASED_FLAG_IPC | ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE);
    OK(zeCommandListAppendBarrier(e->compute, event, 1, &e->gates[1]));
    BLOCKED(opened);
    OK(zeCommandListAppendBarrier(e->copies, e->seen, 1, &opened));
    OK(zeEventHostSignal(e->gates[0]));
    DONE(opened);
    DONE(e->seen);
    BLOCKED(event);
    OK(zeEventHostSignal(e->gates[1]));
    DONE(event);
    FAILS(zeCommandListAppendBarrier(e->compute, opened, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeEventCounterBasedCloseIpcHandle(event), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    OK(zeEventCounterBasedCloseIpcHandle(opened));
    for (int i = 0; i < 200; i++) /* the handle is good as long as the event */
        OK(zeCommandListAppendSignalEvent(e->compute, event));
    OK(zeEventCounterBasedOpenIpcHandle(e->context, handle, &opened));
    DONE(opened);
    OK(zeEventCounterBasedCloseIpcHandle(opened));
    for (size_t i = 0; i < 12; i++) {
        ze_ipc_event_counter_based_handle_t bad = handle;
        bad.data[i] ^= 0x55;
        FAILS(zeEventCounterBasedOpenIpcHandle(e->context, bad, &opened),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    OK(zeEventDestroy(event));
    OK(zeEventDestroy(own));
}

/* The older way to them. */
static void test_pool_of_them(void **state)
{
    struct env *e = *state;
    ze_event_pool_counter_based_exp_desc_t counters = {
        .stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC};
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .pNext = &counters,
                                 .flags = ZE_EVENT_POOL_FLAG_IPC,
                                 .count = 2};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 1};
    ze_event_pool_handle_t pool, of;
    ze_event_handle_t event;
    FAILS(zeEventPoolCreate(e->context, &desc, 0, NULL, &pool),
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    OK(zeEventPoolCreate(e->context, &desc, 0, NULL, &pool));
    OK(zeEventCreate(pool, &event_desc, &event));
    OK(zeEventGetEventPool(event, &of));
    assert_ptr_equal(of, pool);
    OK(zeEventPoolDestroy(pool));
    for (int i = 0; i < 3; i++) {
        OK(zeCommandListAppendBarrier(e->compute, event, 1, &e->gates[0]));
        FAILS(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
        OK(zeEventHostSignal(e->gates[0]));
        DONE(event);
        OK(zeEventHostReset(e->gates[0]));
    }
    OK(zeEventDestroy(event));
}

static void test_refused(void **state)
{
    struct env *e = *state;
    ze_event_handle_t event = counter(e, ZS_ALL_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAGS), other;
    ze_event_pool_handle_t pool;
    ze_command_list_handle_t any = immediate(e, 0, 0), list = list_new(e, 0);
    FAILS(zeEventHostSignal(event), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    FAILS(zeEventHostReset(event), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    FAILS(zeCommandListAppendEventReset(e->compute, event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeCommandListAppendSignalEvent(any, event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeEventGetEventPool(event, &pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListAppendWaitOnEvents(any, 1, &event));
    const ze_base_desc_t external = {
        .stype = (ze_structure_type_t)
            ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC};
    const struct {
        uint32_t flags;
        const void *next;
        ze_result_t result;
    } cases[] = {
        {ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP,
         NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT},
        {ZE_EVENT_COUNTER_BASED_FLAG_IPC | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP, NULL,
         ZE_RESULT_ERROR_INVALID_ARGUMENT},
        {0, &external, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                              .pNext = cases[i].next,
                                              .flags = cases[i].flags};
        FAILS(zeEventCounterBasedCreate(e->context, e->device, &desc, &other), cases[i].result);
    }
    OK(zeCommandListHostSynchronize(any, UINT64_MAX));
    OK(zeCommandListDestroy(any));
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(event));
}

/* What fails in front of it fails the event, until it is signalled again. */
static void test_failure(void **state)
{
    struct env *e = *state;
    uint8_t memory[64];
    const uint8_t zero = 0;
    ze_event_handle_t event = counter(e, 0);
    OK(zeCommandListAppendMemoryFill(e->compute, (void *)(uintptr_t)16, &zero, 1, 64, event, 0,
                                     NULL));
    FAILS(zeEventHostSynchronize(event, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListAppendMemoryFill(e->compute, memory, &zero, 1, 64, event, 0, NULL));
    DONE(event);
    OK(zeEventDestroy(event));
}

#define EVENT_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EVENT_TEST(test_used_again),
        EVENT_TEST(test_waits_for_the_past),
        EVENT_TEST(test_executions),
        EVENT_TEST(test_timestamps),
        EVENT_TEST(test_waits_for_itself),
        EVENT_TEST(test_executed_in_turns),
        EVENT_TEST(test_waits_for_executions),
        EVENT_TEST(test_execution_fails),
        EVENT_TEST(test_shared),
        EVENT_TEST(test_pool_of_them),
        EVENT_TEST(test_refused),
        EVENT_TEST(test_failure),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
