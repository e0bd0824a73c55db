/* SPDX-License-Identifier: MIT */
/* Groups that a program makes of its metrics. */
#include "driver/metrics/user.h"
#include "driver/ddi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const zet_metric_group_sampling_type_flags_t samplings[ZS_METRIC_SAMPLINGS] = {
    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED};

/* What every group begins with. */
static const struct zs_metric_row first_rows[] = {
    {ZS_METRIC_SET_USER, "GpuTime", "Time elapsed on the GPU during the measurement.", "GPU", "ns",
     1, ZET_METRIC_TYPE_DURATION, ZS_HOW_TIME, 0},
    {ZS_METRIC_SET_USER, "GpuCoreClocks",
     "The total number of GPU core clocks elapsed during the measurement.", "GPU", "cycles", 1,
     ZET_METRIC_TYPE_EVENT, ZS_HOW_CLOCKS, 0},
};
enum { GROUP_PREFIX_B = 64 }; /* ZET_MAX_METRIC_GROUP_NAME_PREFIX_EXP */
enum { FIRST_ROWS = ZS_ARRAY_LEN(first_rows), LAST_ROWS = 2 /* of time-based ones */ };

/* ---- Members -----------------------------------------------------------------------------------
 */

bool zs_metric_group_is_ready(const struct zs_ze_metric_group *group)
{
    return !group->user || group->user->closed;
}

/* Back to the members alone. */
static void open_group(struct zs_ze_metric_group *group)
{
    struct zs_metric_user_group *user = group->user;
    for (uint32_t i = 0; i < group->metric_count && user->closed; i++) {
        if (group->metrics[i]->made)
            continue;
        (void)zs_object_retract(group->metrics[i]);
        zs_object_unref(group->metrics[i]);
    }
    user->closed = false;
    group->metric_count = user->count;
    memcpy(group->metrics, user->items, user->count * sizeof(user->items[0]));
}

/* False: no memory; then it is open. */
static bool close_group(struct zs_ze_metric_group *group)
{
    struct zs_metric_user_group *user = group->user;
    bool streams = group->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, ok = true;
    group->metric_count = 0;
    user->closed = true;
    for (uint32_t i = 0; i < FIRST_ROWS && ok; i++)
        ok = zs_metric_group_add(group, &first_rows[i]);
    for (uint32_t i = 0; i < user->count && ok; i++)
        group->metrics[group->metric_count++] = user->items[i];
    for (uint32_t i = 0; i < LAST_ROWS && ok && streams; i++)
        ok = zs_metric_group_add(group, &zs_metric_stream_rows[i]);
    if (!ok)
        open_group(group);
    return ok;
}

/* They may be destroyed now. Queries and lists hold a group that is gone, and its metrics with it.
 */
static void release_members(struct zs_metric_user_group *user)
{
    for (uint32_t i = 0; i < user->count; i++)
        atomic_fetch_sub(&user->items[i]->made->uses, 1);
}

void zs_metric_user_group_fini(struct zs_ze_metric_group *group)
{
    struct zs_metric_user_group *user = group->user;
    open_group(group);
    if (!user->destroyed)
        release_members(user);
    for (uint32_t i = 0; i < user->count; i++)
        zs_object_unref(user->items[i]);
    free(user);
}

static uint32_t place_of(const struct zs_metric_user_group *user, const struct zs_ze_metric *metric)
{
    uint32_t at = 0;
    while (at < user->count && user->items[at] != metric)
        at++;
    return at;
}

/* NULL, or why it cannot be added. The device's lock is held. */
static const char *add_member(struct zs_ze_metric_group *group, struct zs_ze_metric *metric)
{
    struct zs_metric_user_group *user = group->user;
    if (metric->made->device != group->device)
        return "the metric is of another device";
    if (!metric->object.handle || user->destroyed)
        return "the metric or the group was destroyed";
    if (place_of(user, metric) < user->count)
        return NULL;
    if (user->count && metric->made->domain != group->domain)
        return "the metric is of another domain than those of the group";
    if (user->count == ZS_METRIC_USER_MOST)
        return "the group is full";
    open_group(group);
    group->domain = metric->made->domain;
    user->items[user->count++] = zs_object_ref(metric);
    atomic_fetch_add(&metric->made->uses, 1);
    open_group(group);
    return NULL;
}

/* Without members, open. NULL: no memory. */
static struct zs_ze_metric_group *make_group(struct zs_ze_device *device, const char *name,
                                             const char *description,
                                             zet_metric_group_sampling_type_flags_t sampling)
{
    const size_t room = ZS_METRIC_USER_MOST + FIRST_ROWS + LAST_ROWS;
    struct zs_metric_user_group *user = calloc(1, sizeof(*user));
    struct zs_ze_metric_group *group =
        user ? zs_object_new(ZS_OBJECT_metric_group,
                             sizeof(*group) + room * sizeof(struct zs_ze_metric *))
             : NULL;
    if (!group) {
        free(user);
        return NULL;
    }
    zs_metric_copy_text(user->name, sizeof(user->name), name);
    zs_metric_copy_text(user->description, sizeof(user->description), description);
    group->user = user;
    group->device = device;
    group->set = ZS_METRIC_SET_USER;
    group->sampling = sampling;
    group->name = user->name;
    group->description = user->description;
    if (zs_object_publish(group))
        return group;
    zs_object_unref(group);
    return NULL;
}

static void drop_group(struct zs_ze_metric_group *group)
{
    if (group && zs_object_retract(group))
        zs_object_unref(group);
}

/* ---- Of a list of metrics ----------------------------------------------------------------------
 */

/* Groups are one of each sampling type for each domain. */
struct making {
    struct zs_ze_device *device;
    const zet_metric_handle_t *metrics;
    uint32_t metric_count;
    const char *prefix, *description;
    uint32_t domains; /* bit each */
};

static ze_result_t check_metrics(const char *function, struct making *making)
{
    for (uint32_t i = 0; i < making->metric_count; i++) {
        __attribute__((cleanup(zs_object_unref_var))) struct zs_ze_metric *metric =
            zs_object_ref_of(making->metrics[i], ZS_OBJECT_metric);
        if (!metric)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function,
                             "phMetrics[%u] is not a live handle of a metric", i);
        if (!metric->made || metric->made->device != making->device)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "phMetrics[%u] is of %s",
                             i, metric->made ? "another device" : "a predefined group");
        making->domains |= 1u << metric->made->domain;
    }
    return ZE_RESULT_SUCCESS;
}

/* Closed; NULL: no memory. */
static struct zs_ze_metric_group *make_one(const struct making *making, uint32_t number,
                                           uint32_t domain,
                                           zet_metric_group_sampling_type_flags_t sampling,
                                           const char **ret_why)
{
    char name[ZET_MAX_METRIC_GROUP_NAME];
    snprintf(name, sizeof(name), "%s%u", making->prefix, number);
    struct zs_ze_metric_group *group =
        make_group(making->device, name, making->description, sampling);
    *ret_why = NULL;
    if (!group)
        return NULL;
    struct zs_metrics *m = making->device->metrics;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < making->metric_count && !*ret_why; i++) {
        __attribute__((cleanup(zs_object_unref_var))) struct zs_ze_metric *metric =
            zs_object_ref_of(making->metrics[i], ZS_OBJECT_metric);
        if (!metric || !metric->made)
            *ret_why = "a metric was destroyed";
        else if (metric->made->domain == domain)
            *ret_why = add_member(group, metric);
    }
    bool ok = !*ret_why && close_group(group);
    pthread_mutex_unlock(&m->lock);
    if (ok)
        return group;
    drop_group(group);
    return NULL;
}

static ze_result_t make_groups(const char *function, const struct making *making,
                               zet_metric_group_handle_t *ret_handles)
{
    uint32_t done = 0;
    for (uint32_t s = 0; s < ZS_METRIC_SAMPLINGS; s++) {
        for (uint32_t left = making->domains; left; left &= left - 1) {
            const char *why;
            struct zs_ze_metric_group *group =
                make_one(making, done, (uint32_t)__builtin_ctz(left), samplings[s], &why);
            if (group) {
                ret_handles[done++] = group->object.handle;
                continue;
            }
            while (done)
                drop_group(zs_ze_metric_group_of(ret_handles[--done]));
            return why ? zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "%s", why)
                       : zs_refuse(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, function, "no memory");
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDeviceCreateMetricGroupsFromMetricsExp(
    zet_device_handle_t hDevice, uint32_t metricCount, zet_metric_handle_t *phMetrics,
    const char *pMetricGroupNamePrefix, const char *pDescription, uint32_t *pMetricGroupCount,
    zet_metric_group_handle_t *phMetricGroup)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(phMetrics);
    ZS_CHECK_POINTER(pMetricGroupNamePrefix);
    ZS_CHECK_POINTER(pDescription);
    ZS_CHECK_POINTER(pMetricGroupCount);
    ZS_CHECK(metricCount, ZE_RESULT_ERROR_INVALID_ARGUMENT, "metricCount is 0");
    ZS_CHECK(zs_metric_text_fits(pMetricGroupNamePrefix, GROUP_PREFIX_B) &&
                 zs_metric_text_fits(pDescription, ZET_MAX_METRIC_GROUP_DESCRIPTION),
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "the prefix or the description is too long");
    struct making making = {.device = device,
                            .metrics = phMetrics,
                            .metric_count = metricCount,
                            .prefix = pMetricGroupNamePrefix,
                            .description = pDescription};
    ze_result_t result = check_metrics(__func__, &making);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t need = (uint32_t)__builtin_popcount(making.domains) * ZS_METRIC_SAMPLINGS;
    bool asked = *pMetricGroupCount == 0 || !phMetricGroup;
    ZS_CHECK(asked || *pMetricGroupCount >= need, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "room for %u groups, there are %u", *pMetricGroupCount, need);
    if (!asked)
        result = make_groups(__func__, &making, phMetricGroup);
    if (result == ZE_RESULT_SUCCESS)
        *pMetricGroupCount = need;
    return result;
}

/* ---- One by one --------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zetMetricGroupCreateExp(zet_device_handle_t hDevice, const char *pName,
                                               const char *pDescription,
                                               zet_metric_group_sampling_type_flags_t samplingType,
                                               zet_metric_group_handle_t *phMetricGroup)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pName);
    ZS_CHECK_POINTER(pDescription);
    ZS_CHECK_POINTER(phMetricGroup);
    ZS_CHECK_ENUM(samplingType, 7);
    ZS_CHECK(samplingType == samplings[0] || samplingType == samplings[1],
             ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
             "samplingType is 0x%x: a group is either event-based or time-based", samplingType);
    ZS_CHECK(zs_metric_text_fits(pName, ZET_MAX_METRIC_GROUP_NAME) &&
                 zs_metric_text_fits(pDescription, ZET_MAX_METRIC_GROUP_DESCRIPTION),
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "pName or pDescription is too long");
    ZS_CHECK(zs_metrics_of(device), ZE_RESULT_ERROR_UNINITIALIZED, "metrics are off");
    struct zs_ze_metric_group *group = make_group(device, pName, pDescription, samplingType);
    ZS_CHECK(group, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    *phMetricGroup = group->object.handle;
    return ZE_RESULT_SUCCESS;
}

/* Or a streamer of it is open. The device's lock is held. */
static bool is_active(const struct zs_ze_metric_group *group)
{
    const struct zs_metrics *m = group->device->metrics;
    const struct zs_ze_streamer *streamer = m->streamers[group->domain];
    return m->active[group->domain] == group || (streamer && zs_streamer_group(streamer) == group);
}

#define CHECK_MINE(group)                                                                          \
    ZS_CHECK((group)->user, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s is a predefined group",          \
             (group)->name)

static void tell(const char *why, size_t *size, char *text)
{
    size_t need = strlen(why) + 1;
    if (!size)
        return;
    if (*size && text) {
        zs_metric_copy_text(text, *size, why);
        need = ZS_MIN(need, *size);
    }
    *size = need;
}

ze_result_t ZE_APICALL zetMetricGroupAddMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                  zet_metric_handle_t hMetric,
                                                  size_t *pErrorStringSize, char *pErrorString)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_OBJECT_REF(metric, metric, hMetric);
    CHECK_MINE(group);
    const char *why = metric->made ? NULL : "the metric is of a predefined group";
    struct zs_metrics *m = group->device->metrics;
    pthread_mutex_lock(&m->lock);
    bool active = is_active(group);
    if (!active && !why)
        why = add_member(group, metric);
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(!active, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the group is active");
    if (why)
        tell(why, pErrorStringSize, pErrorString);
    ZS_CHECK(!why, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s", why);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGroupRemoveMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                     zet_metric_handle_t hMetric)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_OBJECT_REF(metric, metric, hMetric);
    CHECK_MINE(group);
    struct zs_metrics *m = group->device->metrics;
    struct zs_metric_user_group *user = group->user;
    pthread_mutex_lock(&m->lock);
    bool active = is_active(group);
    uint32_t count = user->count, at = user->destroyed ? count : place_of(user, metric);
    if (!active && at < count) {
        open_group(group);
        memmove(&user->items[at], &user->items[at + 1], (count - at - 1) * sizeof(user->items[0]));
        user->count--;
        open_group(group);
        atomic_fetch_sub(&metric->made->uses, 1);
        zs_object_unref(metric);
    }
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(!active, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the group is active");
    ZS_CHECK(at < count, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the metric is not in the group");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGroupCloseExp(zet_metric_group_handle_t hMetricGroup)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    CHECK_MINE(group);
    struct zs_metrics *m = group->device->metrics;
    pthread_mutex_lock(&m->lock);
    bool active = is_active(group), empty = !group->user->count;
    bool ok = active || empty || group->user->closed || close_group(group);
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(!active, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the group is active");
    ZS_CHECK(!empty, ZE_RESULT_NOT_READY, "there is no metric in the group");
    ZS_CHECK(ok, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGroupDestroyExp(zet_metric_group_handle_t hMetricGroup)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    CHECK_MINE(group);
    struct zs_metrics *m = group->device->metrics;
    pthread_mutex_lock(&m->lock);
    bool active = is_active(group), gone = !active && zs_object_retract(group);
    if (gone) {
        release_members(group->user);
        group->user->destroyed = true;
    }
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(!active, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the group is active");
    if (!gone)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(group);
    return ZE_RESULT_SUCCESS;
}
