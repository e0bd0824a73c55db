/* SPDX-License-Identifier: MIT */
/* Calls of later specifications on metrics: sets that can be collected at once, the metrics' clock,
 * metrics that are turned on while the program runs, markers by group. */
#include "driver/ddi.h"
#include "driver/metrics/metrics.h"

#include <string.h>

/* Where a group's reports come from: counters of the device, or its threads by address. */
static uint32_t source_of(const struct zs_ze_metric_group *group)
{
    return zs_metric_is_by_address(group->set);
}

void zs_metric_later_properties(const struct zs_ze_metric_group *group, void *next)
{
    const struct zs_gpu_model *model = group->device->model;
    zet_metric_global_timestamps_resolution_exp_t *timer =
        (void *)zs_chain_find(next, ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP);
    if (timer) {
        timer->timerResolution = (uint64_t)model->timer_Hz << model->metric_timer_shift;
        timer->timestampValidBits = model->metric_timestamp_bits;
    }
    zet_metric_group_type_exp_t *type =
        (void *)zs_chain_find(next, ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP);
    if (type) {
        bool streams = group->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED &&
                       !zs_metric_is_by_address(group->set);
        type->type = ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER |
                     (streams ? (uint32_t)ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER : 0u) |
                     (group->user ? (uint32_t)ZET_METRIC_GROUP_TYPE_EXP_FLAG_USER_CREATED : 0u);
    }
    zet_metric_source_id_exp_t *source =
        (void *)zs_chain_find(next, ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP);
    if (source)
        source->sourceId = source_of(group);
}

/* ---- What can be collected at once -------------------------------------------------------------
 */

/* A group is in the set that its place among those of its domain says; handles stay in order. */
static void arrange(zet_metric_group_handle_t *handles, const uint32_t *set_of, uint32_t count,
                    uint32_t set_count, zet_metric_group_handle_t *room, uint32_t *ret_counts)
{
    uint32_t done = 0;
    for (uint32_t set = 0; set < set_count; set++) {
        uint32_t before = done;
        for (uint32_t i = 0; i < count; i++)
            if (set_of[i] == set)
                room[done++] = handles[i];
        ret_counts[set] = done - before;
    }
    memcpy(handles, room, count * sizeof(*handles));
}

ze_result_t ZE_APICALL zetDeviceGetConcurrentMetricGroupsExp(
    zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, uint32_t *pMetricGroupsCountPerConcurrentGroup,
    uint32_t *pConcurrentGroupCount)
{
    enum { MOST = ZS_METRIC_SETS * ZS_METRIC_SAMPLINGS };
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pConcurrentGroupCount);
    ZS_CHECK(metricGroupCount == 0 || phMetricGroups, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
             "phMetricGroups is null, for %u groups", metricGroupCount);
    ZS_CHECK(metricGroupCount <= MOST, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%u groups, the device has fewer", metricGroupCount);
    uint32_t set_of[MOST], in_domain[ZS_METRIC_DOMAINS] = {0}, set_count = 0;
    for (uint32_t i = 0; i < metricGroupCount; i++) {
        ZS_OBJECT_REF(metric_group, group, phMetricGroups[i]);
        ZS_CHECK(group->device == device, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                 "phMetricGroups[%u] is of another device", i);
        pthread_mutex_lock(&device->metrics->lock); /* groups of the program change */
        uint32_t domain = group->domain;
        pthread_mutex_unlock(&device->metrics->lock);
        set_of[i] = in_domain[domain]++;
        set_count = ZS_MAX(set_count, set_of[i] + 1);
    }
    if (pMetricGroupsCountPerConcurrentGroup) {
        zet_metric_group_handle_t room[MOST];
        uint32_t counts[MOST];
        ZS_CHECK(*pConcurrentGroupCount >= set_count, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                 "%u sets, there is room for %u", set_count, *pConcurrentGroupCount);
        arrange(phMetricGroups, set_of, metricGroupCount, set_count, room, counts);
        memcpy(pMetricGroupsCountPerConcurrentGroup, counts, set_count * sizeof(*counts));
    }
    *pConcurrentGroupCount = set_count;
    return ZE_RESULT_SUCCESS;
}

/* ---- The clock ---------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zetMetricGroupGetGlobalTimestampsExp(zet_metric_group_handle_t hMetricGroup,
                                                            ze_bool_t synchronizedWithHost,
                                                            uint64_t *globalTimestamp,
                                                            uint64_t *metricTimestamp)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_POINTER(globalTimestamp);
    ZS_CHECK_POINTER(metricTimestamp);
    uint64_t host_ns, ticks;
    ze_result_t result = zeDeviceGetGlobalTimestamps(
        (ze_device_handle_t)group->device->object.handle, &host_ns, &ticks);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *globalTimestamp = synchronizedWithHost ? host_ns : ticks;
    const struct zs_gpu_model *model = group->device->model;
    *metricTimestamp =
        ticks << model->metric_timer_shift & UINT64_MAX >> (64 - model->metric_timestamp_bits);
    return ZE_RESULT_SUCCESS;
}

/* ---- On and off --------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zetDeviceEnableMetricsExp(zet_device_handle_t hDevice)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK(zs_metrics_enable(device), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    return ZE_RESULT_SUCCESS;
}

static bool is_used(const struct zs_ze_device *device)
{
    struct zs_metrics *m = zs_metrics_of(device);
    bool used = false;
    if (m) {
        pthread_mutex_lock(&m->lock);
        for (uint32_t i = 0; i < ZS_METRIC_DOMAINS; i++)
            used = used || m->active[i] || m->streamers[i];
        pthread_mutex_unlock(&m->lock);
    }
    for (uint32_t i = 0; i < device->sub_count; i++)
        used = used || is_used(device->subs[i]);
    return used;
}

/* Handles of groups stay valid: they mean something again once metrics are on again. */
static void turn_off(struct zs_ze_device *device)
{
    struct zs_metrics *m = device->metrics;
    if (m && !m->by_environment) /* what the environment asks for stays */
        m->off = true;
    for (uint32_t i = 0; i < device->sub_count; i++)
        turn_off(device->subs[i]);
}

ze_result_t ZE_APICALL zetDeviceDisableMetricsExp(zet_device_handle_t hDevice)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK(!is_used(device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
             "metric groups are active, or a streamer is open");
    turn_off(device);
    return ZE_RESULT_SUCCESS;
}

/* ---- Markers by group --------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zetCommandListAppendMarkerExp(zet_command_list_handle_t hCommandList,
                                                     zet_metric_group_handle_t hMetricGroup,
                                                     uint32_t value)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK(group->device == list->device, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the group is of another device than the list");
    struct zs_ze_streamer *streamer = zs_streamer_of(group);
    ZS_CHECK(streamer, ZE_RESULT_ERROR_INVALID_ARGUMENT, "no streamer of the group is open");
    ze_result_t result = zs_streamer_append_marker(__func__, hCommandList, streamer, value);
    zs_object_unref(streamer);
    return result;
}
