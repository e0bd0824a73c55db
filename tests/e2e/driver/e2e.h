/* SPDX-License-Identifier: MIT */
/* What the programs share that use the driver through the real loader. */
#ifndef ZS_TESTS_E2E_DRIVER_H
#define ZS_TESTS_E2E_DRIVER_H

#include "../../unit/test.h"

#include <level_zero/ze_api.h>
/* after ze_api.h */
#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)            assert_int_equal((call), ZE_RESULT_SUCCESS)
#define FAILS(call, result) assert_int_equal((call), (result))
#define COUNT(a)            (sizeof(a) / sizeof((a)[0]))
#define GARBAGE(type)       ((type)(uintptr_t)0xdeadbeef00ull)

/*
 * E2E_THROUGH says what stands between the program and the driver: nothing, "intercept" (the loader
 * wraps handles and follows whatever it is given), "validation" or "tracing" (a layer).
 */
static inline bool e2e_through(const char *what)
{
    const char *through = getenv("E2E_THROUGH");
    return through && strcmp(through, what) == 0;
}

struct e2e {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
};

/* cmocka's group fixtures: *state is a struct e2e. */
static inline int e2e_setup(void **state)
{
    static struct e2e e;
    uint32_t one = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &e.driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(e.driver, &one, &e.device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(e.driver, &desc, &e.context) != ZE_RESULT_SUCCESS)
        return -1;
    *state = &e;
    return 0;
}

static inline int e2e_teardown(void **state)
{
    struct e2e *e = *state;
    return e && zeContextDestroy(e->context) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static inline void *e2e_alloc(const struct e2e *e, size_t size_B)
{
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p = NULL;
    OK(zeMemAllocShared(e->context, &device, &host, size_B, 64, e->device, &p));
    return p;
}

static inline ze_command_list_handle_t e2e_list(const struct e2e *e, uint32_t ordinal)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                   .commandQueueGroupOrdinal = ordinal};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(e->context, e->device, &desc, &list));
    return list;
}

static inline ze_command_list_handle_t e2e_immediate(const struct e2e *e, bool synchronous)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                        : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(e->context, e->device, &desc, &list));
    return list;
}

static inline ze_command_queue_handle_t e2e_queue(const struct e2e *e, uint32_t ordinal)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue;
    OK(zeCommandQueueCreate(e->context, e->device, &desc, &queue));
    return queue;
}

/* Close, execute once, wait. */
static inline ze_result_t e2e_run(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    return zeCommandQueueSynchronize(queue, UINT64_MAX);
}

static inline zet_metric_group_handle_t
e2e_metric_group(const struct e2e *e, const char *name,
                 zet_metric_group_sampling_type_flags_t sampling)
{
    zet_metric_group_handle_t groups[64];
    uint32_t count = COUNT(groups);
    OK(zetMetricGroupGet(e->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        OK(zetMetricGroupGetProperties(groups[i], &p));
        if (!strcmp(p.name, name) && p.samplingType == sampling)
            return groups[i];
    }
    fail_msg("no group %s", name);
    return NULL;
}

static inline ze_event_pool_handle_t e2e_pool(const struct e2e *e, uint32_t count,
                                              ze_event_pool_flags_t flags)
{
    ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = flags, .count = count};
    ze_event_pool_handle_t pool;
    OK(zeEventPoolCreate(e->context, &desc, 0, NULL, &pool));
    return pool;
}

static inline ze_event_handle_t e2e_event(ze_event_pool_handle_t pool, uint32_t index)
{
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                            .index = index,
                            .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                            .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    OK(zeEventCreate(pool, &desc, &event));
    return event;
}

#endif
