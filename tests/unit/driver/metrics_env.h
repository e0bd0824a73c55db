/* SPDX-License-Identifier: MIT */
/* A device of two tiles and a list on the first, for tests of the driver's metrics without a
 * loader; metrics are off unless `by_environment` is set before setup(). */
#ifndef ZS_TESTS_METRICS_ENV_H
#define ZS_TESTS_METRICS_ENV_H

#include "../test.h"

#include "driver/ddi.h"

#include <stdbool.h>

#include <stdlib.h>
#include <string.h>

#define OK(call)            assert_int_equal((call), ZE_RESULT_SUCCESS)
#define FAILS(call, result) assert_int_equal((call), (result))
#define NO_HANDLE(call)     FAILS(call, ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
#define NO_POINTER(call)    FAILS(call, ZE_RESULT_ERROR_INVALID_NULL_POINTER)
#define WRONG(call)         FAILS(call, ZE_RESULT_ERROR_INVALID_ARGUMENT)

enum { GROUPS_MAX = 64, VALUES_MAX = 128 };

struct env {
    ze_driver_handle_t driver;
    ze_device_handle_t root, device; /* device: the first of its tiles */
    ze_context_handle_t context;
    ze_command_list_handle_t list;
};

static bool by_environment;
static const char *devices = "skl:2";

static inline int setup(void **state)
{
    static struct env e;
    uint32_t one = 1, tile = 1;
    setenv("ZESCOPE_DEVICES", devices, 1);
    unsetenv("ZE_AFFINITY_MASK");
    if (by_environment)
        setenv("ZET_ENABLE_METRICS", "1", 1);
    else
        unsetenv("ZET_ENABLE_METRICS");
    OK(zeInit(0));
    OK(zeDriverGet(&one, &e.driver));
    OK(zeDeviceGet(e.driver, &one, &e.root));
    OK(zeDeviceGetSubDevices(e.root, &tile, &e.device));
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e.driver, &context, &e.context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    OK(zeCommandListCreateImmediate(e.context, e.device, &queue, &e.list));
    *state = &e;
    return 0;
}

static inline int teardown(void **state)
{
    struct env *e = *state;
    OK(zeCommandListDestroy(e->list));
    OK(zeContextDestroy(e->context));
    return 0;
}

static inline uint32_t groups_of(ze_device_handle_t device, zet_metric_group_handle_t *ret)
{
    uint32_t count = GROUPS_MAX;
    OK(zetMetricGroupGet(device, &count, ret));
    return count;
}

static inline zet_metric_group_properties_t properties(zet_metric_group_handle_t group, void *next)
{
    zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
                                       .pNext = next};
    OK(zetMetricGroupGetProperties(group, &p));
    return p;
}

static inline zet_metric_group_handle_t first(ze_device_handle_t device,
                                              zet_metric_group_sampling_type_flags_t sampling)
{
    zet_metric_group_handle_t groups[GROUPS_MAX];
    uint32_t count = groups_of(device, groups);
    for (uint32_t i = 0; i < count; i++)
        if (properties(groups[i], NULL).samplingType == sampling)
            return groups[i];
    fail_msg("no group of sampling type %u", sampling);
    return NULL;
}

static inline zet_metric_properties_t metric_about(zet_metric_handle_t metric)
{
    zet_metric_properties_t ret = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    OK(zetMetricGetProperties(metric, &ret));
    return ret;
}

#endif
