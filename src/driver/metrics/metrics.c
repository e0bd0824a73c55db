/* SPDX-License-Identifier: MIT */
/* Counters of a device, its metric groups and metrics, activation. */
#include "driver/metrics/metrics.h"
#include "driver/ddi.h"
#include "driver/metrics/share.h"
#include "driver/metrics/user.h"

#include <zescope/driver_ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making them -------------------------------------------------------------------------------
 */

void zs_ze_metric_fini(struct zs_ze_metric *metric)
{
    free(metric->made);
}

void zs_ze_metric_group_fini(struct zs_ze_metric_group *group)
{
    if (group->user) {
        zs_metric_user_group_fini(group);
        return;
    }
    for (uint32_t i = 0; i < group->metric_count; i++) {
        (void)zs_object_retract(group->metrics[i]);
        zs_object_unref(group->metrics[i]);
    }
}

struct zs_ze_metric *zs_metric_new(const struct zs_metric_row *row)
{
    struct zs_ze_metric *metric = zs_object_new(ZS_OBJECT_metric, sizeof(*metric));
    if (!metric || !zs_object_publish(metric)) {
        zs_object_unref(metric);
        return NULL;
    }
    metric->row = row;
    return metric;
}

bool zs_metric_group_add(struct zs_ze_metric_group *group, const struct zs_metric_row *row)
{
    struct zs_ze_metric *metric = zs_metric_new(row);
    if (metric)
        group->metrics[group->metric_count++] = metric;
    return metric != NULL;
}

static struct zs_ze_metric_group *new_group(struct zs_ze_device *device, enum zs_metric_set set,
                                            zet_metric_group_sampling_type_flags_t sampling,
                                            bool timed, bool doubting)
{
    const struct zs_metric_row *list[ZS_METRIC_ROWS_MAX + ZS_METRIC_DOUBTS];
    uint32_t count = zs_metric_rows(device->model, set, sampling, timed, list);
    if (doubting)
        count += zs_metric_doubt_rows(list + count);
    struct zs_ze_metric_group *group = zs_object_new(
        ZS_OBJECT_metric_group, sizeof(*group) + count * sizeof(struct zs_ze_metric *));
    if (!group)
        return NULL;
    group->device = device;
    group->set = set;
    group->sampling = sampling;
    group->domain = zs_metric_set_domain(set);
    group->name = zs_metric_set_name(set);
    group->description = zs_metric_set_description(set);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = zs_metric_group_add(group, list[i]);
    if (ok && zs_object_publish(group))
        return group;
    zs_object_unref(group);
    return NULL;
}

static void drop_group(struct zs_ze_metric_group *group)
{
    if (group)
        (void)zs_object_retract(group);
    zs_object_unref(group);
}

static void free_metrics(struct zs_metrics *m)
{
    for (size_t i = 0; i < m->group_count; i++) {
        drop_group(m->groups[i]);
        drop_group(m->doubting[i]);
    }
    zs_metric_programmables_free(m->programmables);
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++)
        zs_metric_out_close(&m->outs[d]);
    pthread_mutex_destroy(&m->lock);
    for (uint32_t i = 0; i < ZS_METRIC_BY_ADDRESS; i++)
        free(m->kept[i].items);
    free(m);
}

/* 0: the set has none of that number. */
static zet_metric_group_sampling_type_flags_t sampling_of(enum zs_metric_set set, uint32_t number)
{
    static const zet_metric_group_sampling_type_flags_t samplings[ZS_METRIC_SAMPLINGS] = {
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED};
    if (zs_metric_is_traced(set))
        return number ? 0u : (uint32_t)ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED;
    if (zs_metric_is_intels_stalls(set) && number) /* as Intel's */
        return 0;
    return samplings[number];
}

/* Groups for tracers are listed where they are asked for: tools end themselves at a group that is
 * neither event- nor time-based. */
static bool is_listed(enum zs_metric_set set)
{
    const char *text = zs_env("ZESCOPE_METRIC_TRACER");
    return !zs_metric_is_traced(set) || (text && strcmp(text, "1") == 0);
}

/* Of each set first the time-based group, as Intel's driver lists them: programs take the first of
 * a domain for a streamer. */
static struct zs_metrics *new_metrics(struct zs_ze_device *device, bool timed)
{
    struct zs_metrics *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    pthread_mutex_init(&m->lock, NULL);
    m->timed = timed && zs_gpu_model_is_timed(device->model);
    for (uint32_t i = 0; i < ZS_METRIC_SETS * ZS_METRIC_SAMPLINGS; i++) {
        enum zs_metric_set set = (enum zs_metric_set)(i / ZS_METRIC_SAMPLINGS);
        zet_metric_group_sampling_type_flags_t sampling = sampling_of(set, i % ZS_METRIC_SAMPLINGS);
        if (!sampling || !zs_metric_set_is_of(device->model, set, m->timed) || !is_listed(set))
            continue;
        m->groups[m->group_count] = new_group(device, set, sampling, m->timed, false);
        if (!m->groups[m->group_count]) {
            free_metrics(m);
            return NULL;
        }
        m->group_count++;
    }
    return m;
}

static pthread_mutex_t enabling = PTHREAD_MUTEX_INITIALIZER;

void zs_metrics_after_fork(void)
{
    pthread_mutex_init(&enabling, NULL);
}

struct zs_metrics *zs_metrics_make(struct zs_ze_device *device, bool enable)
{
    pthread_mutex_lock(&enabling);
    struct zs_metrics *m = device->metrics;
    if (!m) {
        m = new_metrics(device, device->driver->timing != ZS_DRIVER_TIMING_FORMULA);
        if (m)
            m->off = true;
        device->metrics = m;
    }
    if (m && enable)
        m->off = false;
    pthread_mutex_unlock(&enabling);
    return m;
}

bool zs_metrics_enable(struct zs_ze_device *device)
{
    struct zs_metrics *m = zs_metrics_make(device, true);
    bool ok = m != NULL;
    for (uint32_t i = 0; i < device->sub_count && ok; i++)
        ok = zs_metrics_enable(device->subs[i]);
    return ok;
}

struct zs_metrics *zs_metrics_of(const struct zs_ze_device *device)
{
    struct zs_metrics *m = device->metrics;
    return m && !m->off ? m : NULL;
}

static void keep_on(struct zs_ze_device *device)
{
    device->metrics->by_environment = true;
    for (uint32_t i = 0; i < device->sub_count; i++)
        keep_on(device->subs[i]);
}

bool zs_metrics_init(struct zs_ze_driver *driver)
{
    const char *text = zs_env("ZET_ENABLE_METRICS");
    bool ok = true;
    if (!text || strcmp(text, "1") != 0)
        return true;
    for (uint32_t i = 0; i < driver->owned_count && ok; i++)
        ok = zs_metrics_enable(driver->owned[i]);
    for (uint32_t i = 0; i < driver->owned_count && ok; i++)
        keep_on(driver->owned[i]);
    return ok;
}

void zs_metrics_free(struct zs_ze_device *device)
{
    if (device->metrics)
        free_metrics(device->metrics);
    device->metrics = NULL;
}

/* ---- Enumeration -------------------------------------------------------------------------------
 */

void zs_metric_copy_text(char *to, size_t size_B, const char *from)
{
    size_t length = ZS_MIN(strlen(from), size_B - 1);
    memcpy(to, from, length);
    memset(to + length, 0, size_B - length);
}

/* Without ZET_ENABLE_METRICS there are no groups, as on Intel's driver. */
ze_result_t ZE_APICALL zetMetricGroupGet(zet_device_handle_t hDevice, uint32_t *pCount,
                                         zet_metric_group_handle_t *phMetricGroups)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    const struct zs_metrics *m = zs_metrics_of(device);
    if (!m)
        zs_log(ZS_LOG_INFO, "zetMetricGroupGet: there are no metric groups without "
                            "ZET_ENABLE_METRICS=1 in the environment or zetDeviceEnableMetricsExp");
    uint32_t have = m ? m->group_count : 0;
    uint32_t give = zs_list_count(pCount, have, phMetricGroups != NULL);
    for (uint32_t i = 0; i < give; i++)
        phMetricGroups[i] = m->groups[i]->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGroupGetProperties(zet_metric_group_handle_t hMetricGroup,
                                                   zet_metric_group_properties_t *pProperties)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_POINTER(pProperties);
    zs_metric_copy_text(pProperties->name, sizeof(pProperties->name), group->name);
    char text[ZET_MAX_METRIC_GROUP_DESCRIPTION];
    snprintf(text, sizeof(text), "%s (modelled by zescope: %s)", group->description,
             group->device->metrics->timed ? "replay" : "formula");
    zs_metric_copy_text(pProperties->description, sizeof(pProperties->description),
                        group->user ? group->description : text);
    pProperties->samplingType = group->sampling;
    pthread_mutex_lock(&group->device->metrics->lock); /* groups of the program change */
    pProperties->domain = zs_metric_domain_number(group->domain);
    pProperties->metricCount = group->metric_count;
    pthread_mutex_unlock(&group->device->metrics->lock);
    zs_metric_later_properties(group, pProperties->pNext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGet(zet_metric_group_handle_t hMetricGroup, uint32_t *pCount,
                                    zet_metric_handle_t *phMetrics)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_POINTER(pCount);
    pthread_mutex_lock(&group->device->metrics->lock);
    uint32_t give = zs_list_count(pCount, group->metric_count, phMetrics != NULL);
    for (uint32_t i = 0; i < give; i++)
        phMetrics[i] = group->metrics[i]->object.handle;
    pthread_mutex_unlock(&group->device->metrics->lock);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGetProperties(zet_metric_handle_t hMetric,
                                              zet_metric_properties_t *pProperties)
{
    ZS_OBJECT_REF(metric, metric, hMetric);
    ZS_CHECK_POINTER(pProperties);
    const struct zs_metric_row *row = metric->row;
    zs_metric_copy_text(pProperties->name, sizeof(pProperties->name), row->name);
    zs_metric_copy_text(pProperties->description, sizeof(pProperties->description),
                        row->description);
    zs_metric_copy_text(pProperties->component, sizeof(pProperties->component), row->component);
    zs_metric_copy_text(pProperties->resultUnits, sizeof(pProperties->resultUnits), row->unit);
    pProperties->tierNumber = row->tier;
    pProperties->metricType = row->type;
    pProperties->resultType = zs_metric_value_type(row);
    return ZE_RESULT_SUCCESS;
}

/* ---- Groups with what they may be off ----------------------------------------------------------
 */

/* Whether values of the group are the model's, and it does not tell itself how far they may be off.
 */
static bool can_doubt(const struct zs_ze_metric_group *group)
{
    if (!group->device->metrics->timed || group->user || zs_metric_is_by_address(group->set) ||
        zs_metric_is_traced(group->set))
        return false;
    for (uint32_t i = 0; i < group->metric_count; i++)
        if (zs_metric_is_doubt(group->metrics[i]->row))
            return false;
    return true;
}

static ze_result_t ZE_APICALL zescopeMetricGroupWithDoubt(zet_metric_group_handle_t hMetricGroup,
                                                          zet_metric_group_handle_t *phMetricGroup)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_POINTER(phMetricGroup);
    ZS_CHECK(can_doubt(group), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
             "values of %s are exact, those of a formula, or tell how far they may be off",
             group->name);
    struct zs_metrics *m = group->device->metrics;
    uint32_t at = 0;
    while (m->groups[at] != group) /* a predefined one of no tracer */
        at++;
    pthread_mutex_lock(&m->lock);
    if (!m->doubting[at])
        m->doubting[at] = new_group(group->device, group->set, group->sampling, true, true);
    struct zs_ze_metric_group *doubting = m->doubting[at];
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(doubting, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    *phMetricGroup = doubting->object.handle;
    return ZE_RESULT_SUCCESS;
}

void *zs_metrics_function(const char *name)
{
    return strcmp(name, ZESCOPE_METRIC_GROUP_WITH_DOUBT_NAME) == 0
               ? (void *)zescopeMetricGroupWithDoubt
               : NULL;
}

/* ---- Activation --------------------------------------------------------------------------------
 */

/* What is collected from keeps others of its domain out. That it is deactivated the specification
 * leaves undefined: as with Intel's driver its streamer goes on until it is closed. */
static ze_result_t check_streamers(const char *function, const struct zs_metrics *m,
                                   struct zs_ze_metric_group *const wanted[ZS_METRIC_DOMAINS])
{
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++) {
        const struct zs_ze_metric_group *group =
            m->streamers[d] ? zs_streamer_group(m->streamers[d]) : NULL;
        if (!group || wanted[d] == group)
            continue;
        if (wanted[d])
            return zs_refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, function,
                             "a streamer of %s is open", group->name);
        if (m->active[d] &&
            !zs_lets_pass(function, "%s is deactivated while a streamer of it is open",
                          group->name))
            return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t activate(const char *function, struct zs_metrics *m,
                            struct zs_ze_metric_group *const wanted[ZS_METRIC_DOMAINS])
{
    ze_result_t result = check_streamers(function, m, wanted);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t traced = zs_metric_set_domain(ZS_METRIC_SET_LAUNCHES);
    if (m->tracer && m->active[traced] != wanted[traced])
        return zs_refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, function,
                         "there is a metric tracer of %s", m->active[traced]->name);
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++) /* by another thread, meanwhile */
        if (wanted[d] && !wanted[d]->object.handle)
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "group %s was destroyed",
                             wanted[d]->name);
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++)
        if (wanted[d] && !zs_metric_group_is_ready(wanted[d]))
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "group %s is not closed (zetMetricGroupCloseExp) since it was changed",
                             wanted[d]->name);
    memcpy(m->active, wanted, sizeof(m->active));
    zs_metrics_forget_addresses(m);
    return ZE_RESULT_SUCCESS;
}

/* By domain, with references; the lock is held. */
static ze_result_t take_wanted(const char *function, const struct zs_ze_device *device,
                               uint32_t count, zet_metric_group_handle_t *handles,
                               struct zs_ze_metric_group *ret[ZS_METRIC_DOMAINS])
{
    for (uint32_t i = 0; i < count; i++) {
        struct zs_ze_metric_group *group = zs_object_ref_of(handles[i], ZS_OBJECT_metric_group);
        if (group && group->device == device && !ret[group->domain]) {
            ret[group->domain] = group;
            continue;
        }
        ze_result_t result =
            !group ? zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function,
                               "phMetricGroups[%u] is not a live handle of a metric_group", i)
            : group->device != device
                ? zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                            "phMetricGroups[%u] is of another device", i)
                : zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                            "phMetricGroups[%u] is of domain %u, as one before it", i,
                            group->domain);
        zs_object_unref(group);
        return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetContextActivateMetricGroups(zet_context_handle_t hContext,
                                                      zet_device_handle_t hDevice, uint32_t count,
                                                      zet_metric_group_handle_t *phMetricGroups)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK(count == 0 || phMetricGroups, ZE_RESULT_ERROR_INVALID_SIZE,
             "%u groups, phMetricGroups is null", count);
    ZS_CHECK(zs_metrics_of(device), ZE_RESULT_ERROR_UNINITIALIZED,
             "metrics need ZET_ENABLE_METRICS=1 in the environment or "
             "zetDeviceEnableMetricsExp");
    struct zs_ze_metric_group *wanted[ZS_METRIC_DOMAINS] = {0};
    pthread_mutex_lock(&device->metrics->lock); /* groups of the program change */
    ze_result_t result = take_wanted(__func__, device, count, phMetricGroups, wanted);
    if (result == ZE_RESULT_SUCCESS)
        result = activate(__func__, device->metrics, wanted);
    pthread_mutex_unlock(&device->metrics->lock);
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++)
        zs_object_unref(wanted[d]);
    return result;
}
