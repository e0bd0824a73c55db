/* SPDX-License-Identifier: MIT */
/* Metrics by calls of later specifications: on while the program runs, sets that go together, the
 * clock, exported data. The environment does not ask for metrics. */
#include "../test.h"

#include "driver/later.h"

#include <stdbool.h>

#include <stdlib.h>
#include <string.h>

#define OK(call)            assert_int_equal((call), ZE_RESULT_SUCCESS)
#define FAILS(call, result) assert_int_equal((call), (result))

enum { GROUPS_MAX = 64, VALUES_MAX = 128 };

struct env {
    ze_driver_handle_t driver;
    ze_device_handle_t root, device; /* device: the first of its tiles */
    ze_context_handle_t context;
    ze_command_list_handle_t list;
};

static bool by_environment;

static int setup(void **state)
{
    static struct env e;
    uint32_t one = 1, tile = 1;
    setenv("ZESCOPE_DEVICES", "skl:2", 1);
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

static int teardown(void **state)
{
    struct env *e = *state;
    OK(zeCommandListDestroy(e->list));
    OK(zeContextDestroy(e->context));
    return 0;
}

static uint32_t groups_of(ze_device_handle_t device, zet_metric_group_handle_t *ret)
{
    uint32_t count = GROUPS_MAX;
    OK(zetMetricGroupGet(device, &count, ret));
    return count;
}

static zet_metric_group_properties_t properties(zet_metric_group_handle_t group, void *next)
{
    zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
                                       .pNext = next};
    OK(zetMetricGroupGetProperties(group, &p));
    return p;
}

static zet_metric_group_handle_t first(ze_device_handle_t device,
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

/* ---- On and off --------------------------------------------------------------------------------
 */

static void test_on_and_off(void **state)
{
    struct env *e = *state;
    zet_metric_group_handle_t groups[GROUPS_MAX];
    uint32_t zero = 0;
    OK(zetMetricGroupGet(e->root, &zero, NULL));
    assert_int_equal(zero, 0);
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 0, NULL),
          ZE_RESULT_ERROR_UNINITIALIZED);
    FAILS(zetDeviceEnableMetricsExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zetDeviceDisableMetricsExp(e->root)); /* it was off: nothing to do */
    OK(zetDeviceEnableMetricsExp(e->root));
    OK(zetDeviceEnableMetricsExp(e->root));
    assert_true(groups_of(e->root, groups) >= 4);
    assert_true(groups_of(e->device, groups) >= 4); /* its tiles, too */

    zet_metric_group_handle_t group =
        first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    FAILS(zetDeviceDisableMetricsExp(e->root), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    OK(zetDeviceDisableMetricsExp(e->root));
    OK(zetMetricGroupGet(e->device, &zero, NULL));
    assert_int_equal(zero, 0);
    OK(zetDeviceEnableMetricsExp(e->root));
    assert_ptr_equal(first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED), group);
}

/* ---- What goes together ------------------------------------------------------------------------
 */

static void test_concurrent_groups(void **state)
{
    struct env *e = *state;
    zet_metric_group_handle_t groups[GROUPS_MAX], before[GROUPS_MAX];
    OK(zetDeviceEnableMetricsExp(e->root));
    uint32_t count = groups_of(e->device, groups), sets = 0, counts[GROUPS_MAX];
    memcpy(before, groups, sizeof(before));
    OK(zetDeviceGetConcurrentMetricGroupsExp(e->device, count, groups, NULL, &sets));
    assert_in_range(sets, 1, count);
    assert_memory_equal(before, groups, count * sizeof(groups[0]));
    OK(zetDeviceGetConcurrentMetricGroupsExp(e->device, count, groups, counts, &sets));
    uint32_t at = 0;
    for (uint32_t s = 0; s < sets; s++) { /* each set can be active at once */
        assert_true(counts[s] > 0);
        OK(zetContextActivateMetricGroups(e->context, e->device, counts[s], groups + at));
        at += counts[s];
    }
    assert_int_equal(at, count);
    for (uint32_t i = 0; i < count; i++) { /* none is lost */
        uint32_t found = 0;
        for (uint32_t k = 0; k < count; k++)
            found += groups[k] == before[i];
        assert_int_equal(found, 1);
    }
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));

    uint32_t little = sets - 1;
    FAILS(zetDeviceGetConcurrentMetricGroupsExp(e->device, count, groups, counts, &little),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetDeviceGetConcurrentMetricGroupsExp(e->device, count, NULL, NULL, &sets),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetDeviceGetConcurrentMetricGroupsExp(e->device, count, groups, NULL, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetDeviceGetConcurrentMetricGroupsExp(e->root, count, groups, NULL, &sets),
          ZE_RESULT_ERROR_INVALID_ARGUMENT); /* groups of the tile */
    FAILS(zetDeviceGetConcurrentMetricGroupsExp(e->device, 1000000, groups, NULL, &sets),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetDeviceGetConcurrentMetricGroupsExp(e->device, 0, NULL, NULL, &sets));
    assert_int_equal(sets, 0);
}

/* ---- The clock ---------------------------------------------------------------------------------
 */

static void test_clock(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_group_handle_t group =
        first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    zet_metric_source_id_exp_t source = {.stype = ZS_LATER_STYPE_METRIC_SOURCE_ID, .sourceId = 77};
    zet_metric_group_type_exp_t type = {.stype = ZS_LATER_STYPE_METRIC_GROUP_TYPE,
                                        .pNext = &source};
    zet_metric_global_timestamps_resolution_exp_t timer = {.stype = ZS_LATER_STYPE_METRIC_TIMER,
                                                           .pNext = &type};
    (void)properties(group, &timer);
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    OK(zeDeviceGetProperties(e->device, &device));
    assert_int_equal(timer.timerResolution, device.timerResolution); /* of 1.2: ticks a second */
    assert_int_equal(timer.timestampValidBits, device.timestampValidBits);
    assert_int_equal(type.type, ZS_LATER_METRIC_GROUP_OTHER | ZS_LATER_METRIC_GROUP_MARKER);
    assert_int_equal(source.sourceId, 0);

    uint64_t host[2], metric[2], device_ticks, host_ns;
    OK(zeDeviceGetGlobalTimestamps(e->device, &host_ns, &device_ticks));
    OK(zetMetricGroupGetGlobalTimestampsExp(group, 1, &host[0], &metric[0]));
    OK(zetMetricGroupGetGlobalTimestampsExp(group, 0, &host[1], &metric[1]));
    assert_true(host[0] >= host_ns && host[0] - host_ns < 10000000000u);
    assert_true(metric[0] >= device_ticks && metric[1] >= metric[0]);
    assert_int_equal(host[1], metric[1]);
    FAILS(zetMetricGroupGetGlobalTimestampsExp(group, 0, NULL, &metric[0]),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupGetGlobalTimestampsExp(group, 0, &host[0], NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* ---- Markers, programmable metrics -------------------------------------------------------------
 */

static void test_marker_by_group(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_group_handle_t group =
        first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    FAILS(zetCommandListAppendMarkerExp(e->list, group, 9), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000000};
    zet_metric_streamer_handle_t streamer;
    OK(zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, &streamer));
    OK(zetCommandListAppendMarkerExp(e->list, group, 4711));
    uint8_t raw[4096];
    size_t size = sizeof(raw);
    OK(zetMetricStreamerReadData(streamer, 1, &size, raw));
    assert_true(size > 0); /* the marker ended a report long before its period */
    zet_typed_value_t values[VALUES_MAX];
    uint32_t count = VALUES_MAX, seen = 0;
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, values));
    for (uint32_t i = 0; i < count; i++)
        seen += values[i].type == ZET_VALUE_TYPE_UINT64 && values[i].value.ui64 == 4711;
    assert_int_equal(seen, 1);
    OK(zetMetricStreamerClose(streamer));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    uint32_t programmable = 5;
    OK(zetMetricProgrammableGetExp(e->device, &programmable, NULL));
    assert_int_equal(programmable, 0);
    FAILS(zetMetricProgrammableGetExp(e->device, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* ---- Exported data -----------------------------------------------------------------------------
 */

/* Two reports of a query, one behind the other. */
static size_t two_reports(struct env *e, zet_metric_group_handle_t group, uint8_t *ret, size_t room)
{
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                         .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                         .count = 2};
    zet_metric_query_pool_handle_t pool;
    size_t used = 0;
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    OK(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool));
    for (uint32_t i = 0; i < 2; i++) {
        zet_metric_query_handle_t query;
        OK(zetMetricQueryCreate(pool, i, &query));
        OK(zetCommandListAppendMetricQueryBegin(e->list, query));
        OK(zetCommandListAppendMetricQueryEnd(e->list, query, NULL, 0, NULL));
        size_t size = room - used;
        OK(zetMetricQueryGetData(query, &size, ret + used));
        used += size;
        OK(zetMetricQueryDestroy(query));
    }
    OK(zetMetricQueryPoolDestroy(pool));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    return used;
}

static uint32_t imported(struct env *e, const uint8_t *data, size_t size, uint32_t skip,
                         zet_typed_value_t *ret)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = 0x10002, .rawReportSkipCount = skip};
    uint32_t sets = 0, total = 0, counts[1] = {0};
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    if (zetMetricGroupCalculateMetricExportDataExp(e->driver, type, size, data, &desc, &sets,
                                                   &total, NULL, NULL) != ZE_RESULT_SUCCESS)
        return 0;
    assert_int_equal(sets, 1);
    assert_in_range(total, 1, VALUES_MAX);
    if (zetMetricGroupCalculateMetricExportDataExp(e->driver, type, size, data, &desc, &sets,
                                                   &total, counts, ret) != ZE_RESULT_SUCCESS)
        return 0;
    assert_int_equal(counts[0], total);
    return total;
}

static void test_export(void **state)
{
    struct env *e = *state;
    uint8_t raw[8192], data[8400];
    zet_typed_value_t direct[VALUES_MAX], values[VALUES_MAX];
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_group_handle_t group =
        first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    size_t raw_size = two_reports(e, group, raw, sizeof(raw)), size = 0;
    uint32_t count = VALUES_MAX;
    memset(direct, 0, sizeof(direct));
    memset(values, 0, sizeof(values));
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           raw_size, raw, &count, direct));
    OK(zetMetricGroupGetExportDataExp(group, raw, raw_size, &size, NULL));
    assert_in_range(size, raw_size + 1, sizeof(data));
    size_t little = size - 1;
    FAILS(zetMetricGroupGetExportDataExp(group, raw, raw_size, &little, data),
          ZE_RESULT_ERROR_INVALID_SIZE);
    size_t room = sizeof(data);
    OK(zetMetricGroupGetExportDataExp(group, raw, raw_size, &room, data));
    assert_int_equal(room, size);
    assert_int_equal(imported(e, data, size, 0, values), count);
    assert_memory_equal(values, direct, count * sizeof(values[0]));
    assert_int_equal(imported(e, data, size, 1, values), count / 2);
    assert_memory_equal(values, direct + count / 2, count / 2 * sizeof(values[0]));
    assert_int_equal(imported(e, data, size, 2, values), 0);

    for (size_t cut = 0; cut < size; cut++) { /* exactly so many bytes: sanitizers see beyond */
        uint8_t *part = malloc(cut ? cut : 1);
        assert_non_null(part);
        memcpy(part, data, cut);
        assert_int_equal(imported(e, part, cut, 0, values), 0);
        free(part);
    }
    for (size_t i = 0; i < 128; i++) {
        data[i] ^= 0x5a;
        (void)imported(e, data, size, 0, values); /* no crash; texts may name another device */
        data[i] ^= 0x5a;
    }
    zet_metric_calculate_exp_desc_t desc = {.stype = 0x10002};
    uint32_t n = 0;
    FAILS(zetMetricGroupCalculateMetricExportDataExp(e->driver, 0, size, data, NULL, &n, &n, NULL,
                                                     NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCalculateMetricExportDataExp(e->driver, 0, size, NULL, &desc, &n, &n, NULL,
                                                     NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCalculateMetricExportDataExp(e->driver, 7, size, data, &desc, &n, &n, NULL,
                                                     NULL),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

/* With the variable metrics stay on; what is active is still said. */
static void test_on_by_the_environment(void **state)
{
    struct env *e = *state;
    zet_metric_group_handle_t groups[GROUPS_MAX];
    uint32_t count = groups_of(e->device, groups);
    assert_true(count > 0);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, groups));
    FAILS(zetDeviceDisableMetricsExp(e->root), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    OK(zetDeviceDisableMetricsExp(e->root));
    assert_int_equal(groups_of(e->device, groups), count);
    assert_true(groups_of(e->root, groups) > 0);
    OK(zetContextActivateMetricGroups(e->context, e->root, 1, groups));
    OK(zetContextActivateMetricGroups(e->context, e->root, 0, NULL));
}

int main(int argc, char **argv)
{
    by_environment = argc == 2 && !strcmp(argv[1], "environment");
    const struct CMUnitTest on[] = {cmocka_unit_test(test_on_by_the_environment)};
    if (by_environment)
        return cmocka_run_group_tests(on, setup, teardown);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_and_off), cmocka_unit_test(test_concurrent_groups),
        cmocka_unit_test(test_clock),      cmocka_unit_test(test_marker_by_group),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
