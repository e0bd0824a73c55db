/* SPDX-License-Identifier: MIT */
/* Metrics by calls of later specifications: on while the program runs, sets that go together, the
 * clock, exported data. The environment does not ask for metrics. */
#include "metrics_env.h"

#include "driver/metrics/metrics.h"
#include "driver/module/module.h"
#include "driver/queue/engine_time.h"

#include <pthread.h>
#include <sched.h>

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
    zet_metric_source_id_exp_t source = {.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP,
                                         .sourceId = 77};
    zet_metric_group_type_exp_t type = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP,
                                        .pNext = &source};
    zet_metric_global_timestamps_resolution_exp_t timer = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP, .pNext = &type};
    (void)properties(group, &timer);
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    OK(zeDeviceGetProperties(e->device, &device));
    assert_int_equal(timer.timerResolution, device.timerResolution); /* of 1.2: ticks a second */
    assert_int_equal(timer.timestampValidBits, 32);                  /* those of QueryBeginTime */
    assert_int_equal(type.type,
                     ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER | ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER);
    assert_int_equal(source.sourceId, 0);

    uint64_t host[2], metric[2], device_ticks, host_ns;
    OK(zeDeviceGetGlobalTimestamps(e->device, &host_ns, &device_ticks));
    OK(zetMetricGroupGetGlobalTimestampsExp(group, 1, &host[0], &metric[0]));
    OK(zetMetricGroupGetGlobalTimestampsExp(group, 0, &host[1], &metric[1]));
    assert_true(host[0] >= host_ns && host[0] - host_ns < 10000000000u);
    assert_true(((metric[0] - device_ticks) & UINT32_MAX) < UINT32_MAX / 2);
    assert_int_equal(host[1] & UINT32_MAX, metric[1]);
    assert_true(metric[0] <= UINT32_MAX);
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
                                       .samplingPeriod = 4000000000};
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
}

/* ---- Sums over launches ------------------------------------------------------------------------
 */

enum {
    LINES = 100, /* less than one for each report */
    MESSAGES = 50,
    BYTES_ASKED = 12800,
    LOCAL_BYTES = 640,
    PERIOD_NS = 100000,
    PERIODS = 200
};

/* One that the model of time replayed, or one that it did not. Returns when it will be over. */
static uint64_t end_launch(struct zs_ze_device *device, bool modelled)
{
    static struct zs_ze_kernel kernel;
    uint64_t now = zs_gpu_clock_ticks(device->gpu);
    struct zs_gpu_result result = {.start_ticks = now,
                                   .end_ticks = now + device->model->timer_Hz / 1000 * PERIODS *
                                                          (PERIOD_NS / 1000) / 1000,
                                   .totals = {.untyped_messages = MESSAGES - 20,
                                              .typed_messages = 15,
                                              .scratch_messages = 5,
                                              .untyped_bytes_read = BYTES_ASKED / 2,
                                              .untyped_bytes_written = BYTES_ASKED / 4,
                                              .typed_bytes_read = BYTES_ASKED / 4 - 100,
                                              .typed_bytes_written = 50,
                                              .scratch_bytes_read = 20,
                                              .scratch_bytes_written = 30,
                                              .slm_bytes_read = LOCAL_BYTES - 40,
                                              .slm_bytes_written = 40},
                                   .timing = {.modelled = modelled,
                                              .global_sectors = LINES - 40,
                                              .typed_sectors = 30,
                                              .scratch_sectors = 10}};
    zs_metrics_launch_end(device, true, &kernel, &result);
    return result.end_ticks;
}

/* Of a whole number of reports. */
static uint64_t sum_of(zet_metric_group_handle_t group, const char *name, size_t size,
                       const uint8_t *raw)
{
    zet_metric_handle_t metrics[VALUES_MAX];
    uint32_t per = VALUES_MAX, count = 0, at = 0;
    uint64_t sum = 0;
    OK(zetMetricGet(group, &per, metrics));
    while (at < per && strcmp(metric_about(metrics[at]).name, name) != 0)
        at++;
    assert_true(at < per);
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, NULL));
    zet_typed_value_t *values = calloc(count, sizeof(*values));
    assert_non_null(values);
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, values));
    for (uint32_t i = at; i < count; i += per)
        sum += values[i].value.ui64;
    free(values);
    return sum;
}

static void check_sums(zet_metric_group_handle_t group, size_t size, const uint8_t *raw)
{
    assert_int_equal(sum_of(group, "ShaderMemoryAccesses", size, raw), LINES + MESSAGES);
    assert_int_equal(sum_of(group, "L3ShaderThroughput", size, raw),
                     64 * LINES + BYTES_ASKED + 2 * LOCAL_BYTES);
}

/* Of a query over both kinds of launches, and of a streamer's reports, with parts of them. */
static void test_sums(void **state)
{
    struct env *e = *state;
    const _Atomic bool never = false;
    uint8_t raw[1024];
    OK(zetDeviceEnableMetricsExp(e->root));
    struct zs_ze_device *device = zs_object_ref_of(e->device, ZS_OBJECT_device);
    zet_metric_group_handle_t group =
        first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                         .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                         .count = 1};
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    OK(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool));
    OK(zetMetricQueryCreate(pool, 0, &query));
    OK(zetCommandListAppendMetricQueryBegin(e->list, query));
    (void)end_launch(device, true);
    (void)end_launch(device, false);
    OK(zetCommandListAppendMetricQueryEnd(e->list, query, NULL, 0, NULL));
    size_t size = sizeof(raw);
    OK(zetMetricQueryGetData(query, &size, raw));
    check_sums(group, size, raw);
    OK(zetMetricQueryDestroy(query));
    OK(zetMetricQueryPoolDestroy(pool));

    zet_metric_streamer_desc_t stream = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                         .samplingPeriod = PERIOD_NS};
    zet_metric_streamer_handle_t streamer;
    group = first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    OK(zetMetricStreamerOpen(e->context, e->device, group, &stream, NULL, &streamer));
    (void)end_launch(device, true);
    uint64_t end_ticks = end_launch(device, false);
    assert_true(zs_engine_wait(device, end_ticks + device->model->timer_Hz / 1000, &never));
    size = 0;
    OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, NULL));
    uint8_t *all = malloc(size);
    assert_non_null(all);
    OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, all));
    assert_true(size >= 2 * PERIODS * sizeof(raw));
    check_sums(group, size, all);
    free(all);
    OK(zetMetricStreamerClose(streamer));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    zs_object_unref(device);
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

/* Types and values; what lies between and behind them is nobody's. */
static void assert_values_equal(const zet_typed_value_t *a, const zet_typed_value_t *b,
                                uint32_t count)
{
    static const uint8_t size_B[] = {
        [ZET_VALUE_TYPE_UINT32] = 4,  [ZET_VALUE_TYPE_UINT64] = 8, [ZET_VALUE_TYPE_FLOAT32] = 4,
        [ZET_VALUE_TYPE_FLOAT64] = 8, [ZET_VALUE_TYPE_BOOL8] = 1,
    };
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(a[i].type, b[i].type);
        assert_in_range(a[i].type, 0, sizeof(size_B) - 1);
        assert_memory_equal(&a[i].value, &b[i].value, size_B[a[i].type]);
    }
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
    assert_values_equal(values, direct, count);
    assert_int_equal(imported(e, data, size, 1, values), count / 2);
    assert_values_equal(values, direct + count / 2, count / 2);
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

/* ---- Metrics and groups of the program ---------------------------------------------------------
 */

enum { PROGRAMMABLES_MAX = 512 };

static zet_metric_programmable_exp_properties_t about(zet_metric_programmable_exp_handle_t p)
{
    zet_metric_programmable_exp_properties_t ret = {.stype = 0x1000b};
    OK(zetMetricProgrammableGetPropertiesExp(p, &ret));
    return ret;
}

static zet_metric_programmable_exp_handle_t programmable(const struct env *e, const char *name,
                                                         uint32_t domain)
{
    static zet_metric_programmable_exp_handle_t all[PROGRAMMABLES_MAX];
    uint32_t count = PROGRAMMABLES_MAX;
    OK(zetMetricProgrammableGetExp(e->device, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t p = about(all[i]);
        if (p.domain == domain && !strcmp(p.name, name))
            return all[i];
    }
    fail_msg("no programmable %s of domain %u", name, domain);
    return NULL;
}

/* choice -1: the default. */
static zet_metric_handle_t make(zet_metric_programmable_exp_handle_t p, int choice,
                                const char *name)
{
    zet_metric_programmable_param_value_exp_t value = {.value.ui32 = (uint32_t)choice};
    zet_metric_handle_t metric = NULL;
    uint32_t count = 0;
    OK(zetMetricCreateFromProgrammableExp2(p, choice >= 0, &value, name, "made", &count, NULL));
    assert_int_equal(count, 1);
    OK(zetMetricCreateFromProgrammableExp2(p, choice >= 0, &value, name, "made", &count, &metric));
    return metric;
}

static void test_programmables(void **state)
{
    struct env *e = *state;
    uint32_t count = 5;
    OK(zetDeviceDisableMetricsExp(e->root));
    OK(zetMetricProgrammableGetExp(e->device, &count, NULL));
    assert_int_equal(count, 0);
    OK(zetDeviceEnableMetricsExp(e->root));
    FAILS(zetMetricProgrammableGetExp(NULL, &count, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricProgrammableGetExp(e->device, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zetMetricProgrammableGetExp(e->device, &count, NULL));
    assert_in_range(count, 10, PROGRAMMABLES_MAX);
    zet_metric_programmable_exp_handle_t all[PROGRAMMABLES_MAX];
    OK(zetMetricProgrammableGetExp(e->device, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t p = about(all[i]);
        assert_true(p.name[0] && p.description[0] && p.component[0] && p.tierNumber);
        assert_true(p.samplingType == 3 && p.sourceId == 0 && p.parameterCount <= 1);
        for (uint32_t k = 0; k < i; k++) {
            zet_metric_programmable_exp_properties_t q = about(all[k]);
            assert_true(strcmp(p.name, q.name) != 0 || p.domain != q.domain);
        }
    }
    zet_metric_programmable_exp_handle_t bytes = programmable(e, "UntypedBytesRead", 0);
    FAILS(zetMetricProgrammableGetPropertiesExp(NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricProgrammableGetPropertiesExp(bytes, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    zet_metric_programmable_param_info_exp_t info = {.stype = 0x1000c};
    uint32_t zero = 0, many = 3;
    FAILS(zetMetricProgrammableGetParamInfoExp(NULL, &many, &info),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricProgrammableGetParamInfoExp(bytes, NULL, &info),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricProgrammableGetParamInfoExp(bytes, &many, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricProgrammableGetParamInfoExp(bytes, &zero, &info),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetMetricProgrammableGetParamInfoExp(programmable(e, "AvgGpuCoreFrequencyMHz", 0), &zero,
                                            NULL));
    assert_int_equal(zero, 0);
    OK(zetMetricProgrammableGetParamInfoExp(bytes, &many, &info));
    assert_int_equal(many, 1);
    assert_string_equal(info.name, "Rate");
    assert_true(info.type == 4 && info.valueInfoType == 0 && info.valueInfoCount == 2 &&
                info.defaultValue.ui64 == 0);
    zet_metric_programmable_param_value_info_exp_t values[3] = {{.stype = 0x1000d}};
    uint32_t value_count = 3;
    FAILS(zetMetricProgrammableGetParamValueInfoExp(bytes, 1, &value_count, values),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricProgrammableGetParamValueInfoExp(bytes, 0, NULL, values),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricProgrammableGetParamValueInfoExp(bytes, 0, &value_count, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricProgrammableGetParamValueInfoExp(NULL, 0, &value_count, values),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zetMetricProgrammableGetParamValueInfoExp(bytes, 0, &value_count, values));
    assert_int_equal(value_count, 2);
    assert_true(values[0].valueInfo.ui32 == 0 && values[1].valueInfo.ui32 == 1 &&
                values[1].description[0]);
}

static void test_made_metrics(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_programmable_exp_handle_t bytes = programmable(e, "UntypedBytesRead", 0);
    zet_metric_programmable_param_value_exp_t value[2] = {{.value.ui32 = 2}};
    zet_metric_handle_t metric;
    uint32_t one = 1;
    char text[300];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    FAILS(zetMetricCreateFromProgrammableExp2(NULL, 0, value, "a", "b", &one, &metric),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 1, NULL, "a", "b", &one, &metric),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    /* no parameters need no memory */
    OK(zetMetricCreateFromProgrammableExp2(bytes, 0, NULL, "a", "b", &one, &metric));
    OK(zetMetricDestroyExp(metric));
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 0, value, NULL, "b", &one, &metric),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 0, value, "a", NULL, &one, &metric),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 0, value, "a", "b", NULL, &metric),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 0, value, text, "b", &one, &metric),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 1, value, "a", "b", &one, &metric),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricCreateFromProgrammableExp2(bytes, 2, value, "a", "b", &one, &metric),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetMetricCreateFromProgrammableExp(bytes, value, 0, "mine", "of mine", &one, &metric));
    zet_metric_properties_t p = metric_about(metric);
    assert_string_equal(p.name, "mine");
    assert_string_equal(p.description, "of mine");
    assert_string_equal(p.resultUnits, "bytes");
    OK(zetMetricDestroyExp(metric));
    FAILS(zetMetricDestroyExp(metric), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    metric = make(bytes, 1, "speed");
    p = metric_about(metric);
    assert_string_equal(p.resultUnits, "bytes/ns");
    assert_true(p.metricType == ZET_METRIC_TYPE_RATIO && p.resultType == ZET_VALUE_TYPE_FLOAT32);
    OK(zetMetricDestroyExp(metric));
    metric = make(programmable(e, "EuActive", 0), 0, "busy");
    p = metric_about(metric);
    assert_string_equal(p.resultUnits, "cycles");
    assert_true(p.metricType == ZET_METRIC_TYPE_EVENT && p.resultType == ZET_VALUE_TYPE_UINT64);
    OK(zetMetricDestroyExp(metric));
    zet_metric_handle_t predefined[VALUES_MAX];
    uint32_t count = VALUES_MAX;
    OK(zetMetricGet(first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED), &count,
                    predefined));
    FAILS(zetMetricDestroyExp(predefined[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void put(uint8_t *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size); /* the tests run on little-endian machines */
}

/* One report of the group in which 250 ns and 1000 clocks went by and each counter is so much. */
static void calculate(struct env *e, zet_metric_group_handle_t group, uint64_t counter,
                      zet_typed_value_t *ret)
{
    uint8_t raw[8192];
    uint32_t count = VALUES_MAX, counters;
    size_t size = two_reports(e, group, raw, sizeof(raw)) / 2;
    memcpy(&counters, raw + 12, sizeof(counters));
    put(raw + 48, 250, 8);
    put(raw + 56, 1000, 8);
    for (uint32_t i = 0; i < counters; i++)
        put(raw + 64 + (size_t)8 * i, counter, 8);
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, ret));
    uint32_t have = 0;
    OK(zetMetricGet(group, &have, NULL));
    assert_int_equal(count, have);
}

static const zet_typed_value_t *named(zet_metric_group_handle_t group,
                                      const zet_typed_value_t *values, const char *name)
{
    zet_metric_handle_t metrics[VALUES_MAX];
    uint32_t count = VALUES_MAX;
    OK(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(metric_about(metrics[i]).name, name))
            return &values[i];
    fail_msg("no metric %s", name);
    return NULL;
}

/* Values of a group of one's own are those of Intel's group with the same metrics. */
static void check_values(struct env *e, zet_metric_group_handle_t mine)
{
    zet_typed_value_t theirs_v[VALUES_MAX], mine_v[VALUES_MAX];
    zet_metric_group_handle_t theirs =
        first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    calculate(e, theirs, 6000, theirs_v);
    calculate(e, mine, 6000, mine_v);
    assert_true(named(mine, mine_v, "read")->value.ui64 == 6000);
    assert_true(named(theirs, theirs_v, "UntypedBytesRead")->value.ui64 == 6000);
    assert_true(named(mine, mine_v, "speed")->value.fp32 == 24.0f);
    assert_true(named(mine, mine_v, "busy")->value.ui64 == 6000);
    assert_true(named(mine, mine_v, "share")->value.fp32 ==
                named(theirs, theirs_v, "EuActive")->value.fp32);
    assert_true(named(mine, mine_v, "share")->value.fp32 > 0); /* of 24 EUs: a quarter */
    assert_true(named(mine, mine_v, "GpuTime")->value.ui64 == 250);
    assert_true(named(mine, mine_v, "GpuCoreClocks")->value.ui64 == 1000);
}

enum { MADE = 5, OTHER_DOMAIN = 4 /* its index */ };

static void make_some(const struct env *e, zet_metric_handle_t made[MADE])
{
    made[0] = make(programmable(e, "UntypedBytesRead", 0), -1, "read");
    made[1] = make(programmable(e, "UntypedBytesRead", 0), 1, "speed");
    made[2] = make(programmable(e, "EuActive", 0), 0, "busy");
    made[3] = make(programmable(e, "EuActive", 0), 1, "share");
    made[OTHER_DOMAIN] = make(programmable(e, "Launches", 1), 0, "launches");
}

static void test_groups_of_metrics(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_handle_t made[MADE];
    make_some(e, made);
    zet_metric_group_handle_t groups[6] = {0}, predefined[GROUPS_MAX];
    uint32_t before = groups_of(e->device, predefined), count = 0, little = 3, most = 6;
    FAILS(zetDeviceCreateMetricGroupsFromMetricsExp(NULL, MADE, made, "my", "text", &count, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetDeviceCreateMetricGroupsFromMetricsExp(e->device, 0, made, "my", "text", &count, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetDeviceCreateMetricGroupsFromMetricsExp(e->root, MADE, made, "my", "", &count, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetDeviceCreateMetricGroupsFromMetricsExp(e->device, MADE, made, "my", "", NULL, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zetDeviceCreateMetricGroupsFromMetricsExp(e->device, MADE, made, "my", "text", &count,
                                                 NULL));
    assert_int_equal(count, 4); /* two domains, of each sampling type */
    FAILS(zetDeviceCreateMetricGroupsFromMetricsExp(e->device, MADE, made, "my", "text", &little,
                                                    groups),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetDeviceCreateMetricGroupsFromMetricsExp(e->device, MADE, made, "my", "text", &most,
                                                 groups));
    assert_true(most == 4 && groups[3] && !groups[4]);
    assert_int_equal(groups_of(e->device, predefined), before); /* they are the program's alone */
    for (uint32_t i = 0; i < 4; i++) {
        static const char *const names[] = {"my0", "my1", "my2", "my3"};
        zet_metric_group_type_exp_t type = {.stype = 0x10006};
        zet_metric_group_properties_t p = properties(groups[i], &type);
        assert_string_equal(p.name, names[i]);
        assert_string_equal(p.description, "text");
        assert_int_equal(p.samplingType, i < 2 ? 1 : 2);
        assert_int_equal(p.domain, i % 2);
        assert_int_equal(p.metricCount, 2 + (i % 2 ? 1 : 4) + (i < 2 ? 0 : 2));
        assert_int_equal(type.type, 2 | 4 | (i < 2 ? 0 : 8));
    }
    OK(zetContextActivateMetricGroups(e->context, e->device, 2, groups)); /* both domains */
    FAILS(zetMetricGroupDestroyExp(groups[0]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    check_values(e, groups[0]);
    uint8_t raw[8192];
    size_t size = 0, raw_size = two_reports(e, groups[0], raw, sizeof(raw));
    FAILS(zetMetricGroupGetExportDataExp(groups[0], raw, raw_size, &size, NULL),
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    FAILS(zetMetricDestroyExp(made[0]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    for (uint32_t i = 0; i < 4; i++)
        OK(zetMetricGroupDestroyExp(groups[i]));
    FAILS(zetMetricGroupDestroyExp(groups[0]), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricGroupDestroyExp(predefined[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    zet_metric_handle_t theirs;
    uint32_t one = 1;
    OK(zetMetricGet(predefined[0], &one, &theirs));
    FAILS(zetDeviceCreateMetricGroupsFromMetricsExp(e->device, 1, &theirs, "my", "", &most, groups),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < MADE; i++)
        OK(zetMetricDestroyExp(made[i]));
}

static void test_group_by_hand(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_handle_t made[MADE], theirs;
    make_some(e, made);
    zet_metric_group_handle_t group,
        predefined = first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    uint32_t one = 1, count = 0;
    OK(zetMetricGet(predefined, &one, &theirs));
    FAILS(zetMetricGroupCreateExp(NULL, "g", "", 1, &group), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricGroupCreateExp(e->device, NULL, "", 1, &group),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCreateExp(e->device, "g", NULL, 1, &group),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCreateExp(e->device, "g", "", 1, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCreateExp(e->device, "g", "", 8, &group),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
    FAILS(zetMetricGroupCreateExp(e->device, "g", "", 3, &group),
          ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    OK(zetMetricGroupCreateExp(e->device, "g", "by hand", 1, &group));
    FAILS(zetMetricGroupCloseExp(group), ZE_RESULT_NOT_READY); /* nothing is in it */
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 1, &group),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    char why[8];
    size_t size = 0;
    FAILS(zetMetricGroupAddMetricExp(group, theirs, &size, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_true(size > sizeof(why));
    size = sizeof(why);
    FAILS(zetMetricGroupAddMetricExp(group, theirs, &size, why), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(why, "the met");
    FAILS(zetMetricGroupAddMetricExp(predefined, made[0], NULL, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricGroupAddMetricExp(NULL, made[0], NULL, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricGroupAddMetricExp(group, NULL, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    for (uint32_t i = 0; i < OTHER_DOMAIN; i++)
        OK(zetMetricGroupAddMetricExp(group, made[i], NULL, NULL));
    OK(zetMetricGroupAddMetricExp(group, made[0], NULL, NULL)); /* it is there */
    FAILS(zetMetricGroupAddMetricExp(group, made[OTHER_DOMAIN], NULL, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetMetricGet(group, &count, NULL));
    assert_int_equal(count, OTHER_DOMAIN);
    FAILS(zetMetricGroupCloseExp(predefined), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricGroupCloseExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zetMetricGroupCloseExp(group));
    OK(zetMetricGroupCloseExp(group));
    check_values(e, group);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    FAILS(zetMetricGroupAddMetricExp(group, made[0], NULL, NULL),
          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    FAILS(zetMetricGroupRemoveMetricExp(group, made[0]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    FAILS(zetMetricGroupCloseExp(group), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    FAILS(zetMetricGroupRemoveMetricExp(group, made[OTHER_DOMAIN]),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricGroupRemoveMetricExp(predefined, made[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricGroupRemoveMetricExp(NULL, made[0]), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricGroupRemoveMetricExp(group, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zetMetricGroupRemoveMetricExp(group, made[0]));
    FAILS(zetMetricGroupRemoveMetricExp(group, made[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetMetricDestroyExp(made[0]));
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 1, &group),
          ZE_RESULT_ERROR_INVALID_ARGUMENT); /* changed, not closed */
    OK(zetMetricGroupCloseExp(group));
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_query_pool_handle_t pool;
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    OK(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    OK(zetMetricGroupDestroyExp(group));
    FAILS(zetMetricGroupDestroyExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    for (uint32_t i = 1; i < MADE; i++) /* the pool is no use of them */
        OK(zetMetricDestroyExp(made[i]));
    OK(zetMetricQueryPoolDestroy(pool));
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

enum { REPORTS = 64, CHANGES = 200, SUM = 6000, TIME_NS = 250, CLOCKS = 1000 };

struct calculating {
    zet_metric_group_handle_t group;
    uint8_t *raw;
    size_t size;
    _Atomic bool over;
    _Atomic uint32_t rounds, wrong;
};

/* Which metrics are in the group when is up to the other thread; each value is one of these. */
static void *calculate_again(void *opaque)
{
    static zet_typed_value_t values[REPORTS * 8];
    struct calculating *c = opaque;
    do {
        uint32_t count = REPORTS * 8;
        ze_result_t result = zetMetricGroupCalculateMetricValues(
            c->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, c->size, c->raw, &count,
            values);
        c->wrong += result != ZE_RESULT_SUCCESS || count % REPORTS != 0;
        for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
            c->wrong += values[i].value.ui64 != SUM && values[i].value.ui64 != TIME_NS &&
                        values[i].value.ui64 != CLOCKS;
        zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        c->wrong += zetMetricGroupGetProperties(c->group, &p) != ZE_RESULT_SUCCESS;
        c->rounds++;
    } while (!c->over);
    return NULL;
}

/* Reports in which each counter is SUM. */
static void make_raw(struct env *e, struct calculating *c)
{
    uint8_t one[8192];
    uint32_t counters;
    size_t size = two_reports(e, c->group, one, sizeof(one)) / 2;
    memcpy(&counters, one + 12, sizeof(counters));
    put(one + 48, TIME_NS, 8);
    put(one + 56, CLOCKS, 8);
    for (uint32_t i = 0; i < counters; i++)
        put(one + 64 + (size_t)8 * i, SUM, 8);
    c->size = size * REPORTS;
    c->raw = malloc(c->size);
    for (uint32_t i = 0; i < REPORTS; i++)
        memcpy(c->raw + i * size, one, size);
}

/* Metrics leave a group and are destroyed while another thread calculates its values. */
static void test_changes_while_calculating(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    struct calculating c = {0};
    zet_metric_programmable_exp_handle_t bytes = programmable(e, "UntypedBytesRead", 0);
    zet_metric_handle_t stays = make(bytes, 0, "stays");
    OK(zetMetricGroupCreateExp(e->device, "g", "", 1, &c.group));
    OK(zetMetricGroupAddMetricExp(c.group, stays, NULL, NULL));
    OK(zetMetricGroupCloseExp(c.group));
    make_raw(e, &c);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, calculate_again, &c), 0);
    for (uint32_t i = 0; i < CHANGES; i++) {
        zet_metric_handle_t metric = make(bytes, 0, "goes");
        OK(zetMetricGroupAddMetricExp(c.group, metric, NULL, NULL));
        OK(zetMetricGroupCloseExp(c.group));
        uint32_t before = c.rounds;
        while (i % 16 == 0 && c.rounds == before) /* it is surely at it now and then */
            sched_yield();
        OK(zetMetricGroupRemoveMetricExp(c.group, metric));
        OK(zetMetricDestroyExp(metric));
    }
    c.over = true;
    pthread_join(thread, NULL);
    assert_int_equal(c.wrong, 0);
    OK(zetMetricGroupDestroyExp(c.group));
    OK(zetMetricDestroyExp(stays));
    free(c.raw);
}

/* ---- What the specification's list has for each call -------------------------------------------
 */

/* What is no handle, and one of another kind. */
static void check_groups(struct env *e, zet_metric_group_handle_t group, void *bad)
{
    uint32_t count = 0, sets = 0, total = 0;
    uint8_t raw[8] = {0};
    uint64_t t;
    zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    zet_metric_properties_t q = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    zet_metric_group_handle_t other = bad;
    NO_HANDLE(zetMetricGroupGet(bad, &count, NULL));
    NO_POINTER(zetMetricGroupGet(e->device, NULL, NULL));
    NO_HANDLE(zetMetricGroupGetProperties(bad, &p));
    NO_POINTER(zetMetricGroupGetProperties(group, NULL));
    NO_HANDLE(zetMetricGet(bad, &count, NULL));
    NO_POINTER(zetMetricGet(group, NULL, NULL));
    zet_metric_handle_t metric;
    uint32_t one = 1;
    OK(zetMetricGet(group, &one, &metric));
    NO_HANDLE(zetMetricGetProperties(bad, &q));
    NO_POINTER(zetMetricGetProperties(metric, NULL));
    NO_HANDLE(zetMetricGroupCalculateMetricValues(bad, 0, 8, raw, &count, NULL));
    NO_POINTER(zetMetricGroupCalculateMetricValues(group, 0, 8, NULL, &count, NULL));
    NO_POINTER(zetMetricGroupCalculateMetricValues(group, 0, 8, raw, NULL, NULL));
    FAILS(zetMetricGroupCalculateMetricValues(group, 2, 8, raw, &count, NULL),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
    FAILS(zetMetricGroupCalculateMetricValues(group, 0, 0, raw, &count, NULL),
          ZE_RESULT_ERROR_INVALID_SIZE);
    NO_HANDLE(
        zetMetricGroupCalculateMultipleMetricValuesExp(bad, 0, 8, raw, &sets, &total, NULL, NULL));
    NO_POINTER(zetMetricGroupCalculateMultipleMetricValuesExp(group, 0, 8, NULL, &sets, &total,
                                                              NULL, NULL));
    NO_POINTER(
        zetMetricGroupCalculateMultipleMetricValuesExp(group, 0, 8, raw, NULL, &total, NULL, NULL));
    NO_POINTER(
        zetMetricGroupCalculateMultipleMetricValuesExp(group, 0, 8, raw, &sets, NULL, NULL, NULL));
    FAILS(
        zetMetricGroupCalculateMultipleMetricValuesExp(group, 2, 8, raw, &sets, &total, NULL, NULL),
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
    NO_HANDLE(zetContextActivateMetricGroups(bad, e->device, 0, NULL));
    NO_HANDLE(zetContextActivateMetricGroups(e->context, bad, 0, NULL));
    NO_HANDLE(zetContextActivateMetricGroups(e->context, e->device, 1, &other));
    WRONG(zetContextActivateMetricGroups(e->context, e->root, 1, &group)); /* the tile's */
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 1, NULL),
          ZE_RESULT_ERROR_INVALID_SIZE);
    NO_HANDLE(zetMetricGroupGetGlobalTimestampsExp(bad, false, &t, &t));
    NO_POINTER(zetMetricGroupGetGlobalTimestampsExp(group, false, NULL, &t));
    NO_POINTER(zetMetricGroupGetGlobalTimestampsExp(group, false, &t, NULL));
    size_t size = 0;
    NO_HANDLE(zetMetricGroupGetExportDataExp(bad, raw, 8, &size, NULL));
    NO_POINTER(zetMetricGroupGetExportDataExp(group, NULL, 8, &size, NULL));
    NO_POINTER(zetMetricGroupGetExportDataExp(group, raw, 8, NULL, NULL));
    NO_HANDLE(zetDeviceGetConcurrentMetricGroupsExp(bad, 1, &group, NULL, &sets));
    NO_HANDLE(zetDeviceGetConcurrentMetricGroupsExp(e->device, 1, &other, NULL, &sets));
    NO_HANDLE(zetDeviceDisableMetricsExp(bad));
}

static void check_streamers(struct env *e, zet_metric_group_handle_t group, void *bad)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t s;
    size_t size = 0;
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    NO_HANDLE(zetMetricStreamerOpen(bad, e->device, group, &desc, NULL, &s));
    NO_HANDLE(zetMetricStreamerOpen(e->context, bad, group, &desc, NULL, &s));
    NO_HANDLE(zetMetricStreamerOpen(e->context, e->device, bad, &desc, NULL, &s));
    NO_POINTER(zetMetricStreamerOpen(e->context, e->device, group, NULL, NULL, &s));
    NO_POINTER(zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, NULL));
    WRONG(zetMetricStreamerOpen(e->context, e->root, group, &desc, NULL, &s));
    FAILS(
        zetMetricStreamerOpen(e->context, e->device, group, &desc, (ze_event_handle_t)e->list, &s),
        ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    OK(zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, &s));
    NO_HANDLE(zetMetricStreamerReadData(bad, 1, &size, NULL));
    NO_POINTER(zetMetricStreamerReadData(s, 1, NULL, NULL));
    NO_HANDLE(zetCommandListAppendMetricStreamerMarker(bad, s, 1));
    NO_HANDLE(zetCommandListAppendMetricStreamerMarker(e->list, bad, 1));
    NO_HANDLE(zetCommandListAppendMarkerExp(bad, group, 1));
    NO_HANDLE(zetCommandListAppendMarkerExp(e->list, bad, 1));
    NO_HANDLE(zetMetricStreamerClose(bad));
    OK(zetMetricStreamerClose(s));
    NO_HANDLE(zetMetricStreamerClose(s)); /* it is gone */
    NO_HANDLE(zetMetricStreamerReadData(s, 1, &size, NULL));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
}

static void check_queries(struct env *e, zet_metric_group_handle_t group, void *bad)
{
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                         .count = 1};
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t q;
    size_t size = 0;
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    NO_HANDLE(zetMetricQueryPoolCreate(bad, e->device, group, &desc, &pool));
    NO_HANDLE(zetMetricQueryPoolCreate(e->context, bad, group, &desc, &pool));
    NO_HANDLE(zetMetricQueryPoolCreate(e->context, e->device, bad, &desc, &pool));
    WRONG(zetMetricQueryPoolCreate(e->context, e->root, group, &desc, &pool));
    desc.count = 0;
    FAILS(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool),
          ZE_RESULT_ERROR_INVALID_SIZE);
    desc.count = 1;
    OK(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool));
    NO_HANDLE(zetMetricQueryCreate(bad, 0, &q));
    NO_POINTER(zetMetricQueryCreate(pool, 0, NULL));
    WRONG(zetMetricQueryCreate(pool, 1, &q));
    OK(zetMetricQueryCreate(pool, 0, &q));
    NO_HANDLE(zetMetricQueryReset(bad));
    NO_HANDLE(zetMetricQueryGetData(bad, &size, NULL));
    NO_POINTER(zetMetricQueryGetData(q, NULL, NULL));
    NO_HANDLE(zetCommandListAppendMetricQueryBegin(bad, q));
    NO_HANDLE(zetCommandListAppendMetricQueryBegin(e->list, bad));
    NO_HANDLE(zetCommandListAppendMetricQueryEnd(bad, q, NULL, 0, NULL));
    NO_HANDLE(zetCommandListAppendMetricQueryEnd(e->list, bad, NULL, 0, NULL));
    FAILS(zetCommandListAppendMetricQueryEnd(e->list, q, NULL, 1, NULL),
          ZE_RESULT_ERROR_INVALID_SIZE);
    NO_HANDLE(zetCommandListAppendMetricQueryEnd(e->list, q, (ze_event_handle_t)e->list, 0, NULL));
    NO_HANDLE(zetCommandListAppendMetricMemoryBarrier(bad));
    OK(zetCommandListAppendMetricMemoryBarrier(e->list));
    NO_HANDLE(zetMetricQueryDestroy(bad));
    OK(zetMetricQueryDestroy(q));
    NO_HANDLE(zetMetricQueryDestroy(q));
    NO_HANDLE(zetMetricQueryPoolDestroy(bad));
    OK(zetMetricQueryPoolDestroy(pool));
    NO_HANDLE(zetMetricQueryPoolDestroy(pool));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
}

static void test_results(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    zet_metric_group_handle_t streamed =
                                  first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED),
                              queried =
                                  first(e->device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    uint64_t garbage = 0;
    void *const bad[] = {NULL, &garbage, e->driver};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_groups(e, queried, bad[i]);
        check_streamers(e, streamed, bad[i]);
        check_queries(e, queried, bad[i]);
    }
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
        cmocka_unit_test(test_on_and_off),    cmocka_unit_test(test_concurrent_groups),
        cmocka_unit_test(test_clock),         cmocka_unit_test(test_marker_by_group),
        cmocka_unit_test(test_export),        cmocka_unit_test(test_programmables),
        cmocka_unit_test(test_made_metrics),  cmocka_unit_test(test_groups_of_metrics),
        cmocka_unit_test(test_group_by_hand), cmocka_unit_test(test_changes_while_calculating),
        cmocka_unit_test(test_results),       cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
