/* SPDX-License-Identifier: MIT */
/* Programmables: what a program may make metrics of, and the metrics that it makes. */
#include "driver/ddi.h"
#include "driver/metrics/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parameters --------------------------------------------------------------------------------
 */

struct choice {
    uint32_t value;
    const char *description;
    enum zs_metric_how how; /* of metrics made with it; ZS_HOWS: the row's own */
    zet_metric_type_t type;
    const char *unit; /* "/..." follows the row's own; NULL: the row's own */
};

enum { CHOICES = 2 };
static const struct parameter {
    uint32_t type;
    const char *name;
    uint32_t default_value;
    struct choice choices[CHOICES];
} parameters[] = {
    {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_RATE,
     "Rate",
     0,
     {{0, "The sum over the measurement.", ZS_HOWS, 0, NULL},
      {1, "The sum per nanosecond of the measurement.", ZS_HOW_RATE, ZET_METRIC_TYPE_RATIO,
       "/ns"}}},
    {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_RATE,
     "Rate",
     0,
     {{0, "The bytes of the measurement.", ZS_HOWS, 0, NULL},
      {1, "The bytes per nanosecond of the measurement.", ZS_HOW_SECTOR_RATE, ZET_METRIC_TYPE_RATIO,
       "/ns"}}},
    {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_UTILIZATION,
     "Utilization",
     1,
     {{0, "Core clocks, summed over the units.", ZS_HOW_SUM, ZET_METRIC_TYPE_EVENT, "cycles"},
      {1, "The share of the core clocks of all units.", ZS_HOWS, 0, NULL}}},
};

/* NULL: there is nothing to choose. */
static const struct parameter *parameter_of(const struct zs_metric_row *row)
{
    switch (row->how) {
    case ZS_HOW_SUM:
        return &parameters[0];
    case ZS_HOW_SECTORS:
        return &parameters[1];
    case ZS_HOW_PART_OF_CLOCKS:
    case ZS_HOW_PART_OF_EUS:
    case ZS_HOW_PART_OF_THREADS:
    case ZS_HOW_PART_OF_SLICES:
        return &parameters[2];
    default:
        return NULL;
    }
}

/* ---- What there is -----------------------------------------------------------------------------
 */

struct zs_ze_metric_programmable {
    struct zs_object object;
    struct zs_ze_device *device;
    const struct zs_metric_row *row;
    const struct parameter *parameter; /* NULL: none */
    uint32_t domain;
};

struct zs_metric_programmables {
    uint32_t count;
    struct zs_ze_metric_programmable *items[ZS_METRIC_ROWS];
};

void zs_ze_metric_programmable_fini(struct zs_ze_metric_programmable *programmable)
{
    (void)programmable;
}

void zs_metric_programmables_free(struct zs_metric_programmables *p)
{
    for (uint32_t i = 0; p && i < p->count; i++) {
        (void)zs_object_retract(p->items[i]);
        zs_object_unref(p->items[i]);
    }
    free(p);
}

/* Groups repeat metrics: what has the same name and value is one. */
static bool is_there(const struct zs_metric_programmables *p, const struct zs_metric_row *row,
                     uint32_t domain)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct zs_metric_row *r = p->items[i]->row;
        if (p->items[i]->domain == domain && r->how == row->how &&
            zs_metric_same_counters(r, row) && strcmp(r->name, row->name) == 0)
            return true;
    }
    return false;
}

static bool add(struct zs_metric_programmables *p, struct zs_ze_device *device,
                const struct zs_metric_row *row, uint32_t domain)
{
    struct zs_ze_metric_programmable *item =
        zs_object_new(ZS_OBJECT_metric_programmable, sizeof(*item));
    if (!item || !zs_object_publish(item)) {
        zs_object_unref(item);
        return false;
    }
    item->device = device;
    item->row = row;
    item->parameter = parameter_of(row);
    item->domain = domain;
    p->items[p->count++] = item;
    return true;
}

/* Time and clocks are in every group anyway. */
static bool is_wanted(const struct zs_metric_row *row, bool with_parameter)
{
    return row->how != ZS_HOW_TIME && row->how != ZS_HOW_CLOCKS &&
           (parameter_of(row) != NULL) == with_parameter;
}

static bool add_set(struct zs_metric_programmables *p, struct zs_ze_device *device,
                    enum zs_metric_set set, bool with_parameter)
{
    const struct zs_metric_row *rows[ZS_METRIC_ROWS_MAX];
    uint32_t domain = zs_metric_set_domain(set);
    bool ok = true;
    uint32_t count =
        zs_metric_rows(device->model, set, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
                       device->metrics->timed, rows);
    for (uint32_t i = 0; i < count && ok; i++)
        if (is_wanted(rows[i], with_parameter) && !is_there(p, rows[i], domain))
            ok = add(p, device, rows[i], domain);
    return ok;
}

/* Those with something to choose first. NULL: no memory. */
static struct zs_metric_programmables *make_all(struct zs_ze_device *device)
{
    struct zs_metric_programmables *p = calloc(1, sizeof(*p));
    bool ok = p != NULL;
    for (uint32_t i = 0; i < 2 * ZS_METRIC_SETS && ok; i++) {
        enum zs_metric_set set = (enum zs_metric_set)(i % ZS_METRIC_SETS);
        if (zs_metric_set_is_of(device->model, set, device->metrics->timed) &&
            !zs_metric_is_by_address(set) && !zs_metric_is_traced(set))
            ok = add_set(p, device, set, i < ZS_METRIC_SETS);
    }
    if (ok)
        return p;
    zs_metric_programmables_free(p);
    return NULL;
}

ze_result_t ZE_APICALL
zetMetricProgrammableGetExp(zet_device_handle_t hDevice, uint32_t *pCount,
                            zet_metric_programmable_exp_handle_t *phMetricProgrammables)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    struct zs_metrics *m = zs_metrics_of(device);
    if (!m) {
        (void)zs_list_count(pCount, 0, phMetricProgrammables != NULL);
        return ZE_RESULT_SUCCESS;
    }
    pthread_mutex_lock(&m->lock);
    if (!m->programmables)
        m->programmables = make_all(device);
    const struct zs_metric_programmables *p = m->programmables;
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(p, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    uint32_t give = zs_list_count(pCount, p->count, phMetricProgrammables != NULL);
    for (uint32_t i = 0; i < give; i++)
        phMetricProgrammables[i] = p->items[i]->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
zetMetricProgrammableGetPropertiesExp(zet_metric_programmable_exp_handle_t hMetricProgrammable,
                                      zet_metric_programmable_exp_properties_t *pProperties)
{
    ZS_OBJECT(metric_programmable, p, hMetricProgrammable);
    ZS_CHECK_POINTER(pProperties);
    zs_metric_copy_text(pProperties->name, sizeof(pProperties->name), p->row->name);
    zs_metric_copy_text(pProperties->description, sizeof(pProperties->description),
                        p->row->description);
    zs_metric_copy_text(pProperties->component, sizeof(pProperties->component), p->row->component);
    pProperties->tierNumber = p->row->tier;
    pProperties->domain = p->domain;
    pProperties->parameterCount = p->parameter != NULL;
    pProperties->samplingType = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED |
                                ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    pProperties->sourceId = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricProgrammableGetParamInfoExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t *pParameterCount,
    zet_metric_programmable_param_info_exp_t *pParameterInfo)
{
    ZS_OBJECT(metric_programmable, p, hMetricProgrammable);
    ZS_CHECK_POINTER(pParameterCount);
    const struct parameter *parameter = p->parameter;
    if (*pParameterCount) /* tools pass the data of an empty vector where there are none */
        ZS_CHECK_POINTER(pParameterInfo);
    ZS_CHECK(*pParameterCount || !parameter, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "*pParameterCount is 0; zetMetricProgrammableGetPropertiesExp tells how many there "
             "are");
    *pParameterCount = parameter != NULL;
    if (!parameter)
        return ZE_RESULT_SUCCESS;
    pParameterInfo->type = parameter->type;
    zs_metric_copy_text(pParameterInfo->name, sizeof(pParameterInfo->name), parameter->name);
    pParameterInfo->valueInfoType =
        (__typeof__(pParameterInfo->valueInfoType))ZET_VALUE_INFO_TYPE_EXP_UINT32;
    pParameterInfo->defaultValue = (zet_value_t){.ui64 = parameter->default_value};
    pParameterInfo->valueInfoCount = CHOICES;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricProgrammableGetParamValueInfoExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t parameterOrdinal,
    uint32_t *pValueInfoCount, zet_metric_programmable_param_value_info_exp_t *pValueInfo)
{
    ZS_OBJECT(metric_programmable, p, hMetricProgrammable);
    ZS_CHECK_POINTER(pValueInfoCount);
    ZS_CHECK_POINTER(pValueInfo);
    ZS_CHECK(p->parameter && parameterOrdinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "there is no parameter %u", parameterOrdinal);
    *pValueInfoCount = ZS_MIN(*pValueInfoCount, (uint32_t)CHOICES);
    for (uint32_t i = 0; i < *pValueInfoCount; i++) {
        const struct choice *choice = &p->parameter->choices[i];
        pValueInfo[i].valueInfo = (zet_value_info_exp_t){.ui64 = choice->value};
        zs_metric_copy_text(pValueInfo[i].description, sizeof(pValueInfo[i].description),
                            choice->description);
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- Metrics -----------------------------------------------------------------------------------
 */

bool zs_metric_text_fits(const char *text, size_t size_B)
{
    return strnlen(text, size_B) < size_B;
}

/* NULL: it is none of the parameter's. */
static const struct choice *choice_of(const struct parameter *parameter, uint32_t value)
{
    for (uint32_t i = 0; i < CHOICES; i++)
        if (parameter->choices[i].value == value)
            return &parameter->choices[i];
    return NULL;
}

static void make_row(struct zs_metric_made *made, const struct zs_metric_row *from,
                     const struct choice *choice)
{
    struct zs_metric_row *row = &made->row;
    *row = *from;
    row->name = made->name;
    row->description = made->description;
    if (!choice || choice->how == ZS_HOWS)
        return;
    row->how = choice->how;
    row->type = choice->type;
    snprintf(made->unit, sizeof(made->unit), "%s%s", choice->unit[0] == '/' ? from->unit : "",
             choice->unit);
    row->unit = made->unit;
}

static struct zs_ze_metric *make_metric(const struct zs_ze_metric_programmable *p,
                                        const struct choice *choice, const char *name,
                                        const char *description)
{
    struct zs_ze_metric *metric = zs_object_new(ZS_OBJECT_metric, sizeof(*metric));
    if (!metric)
        return NULL;
    struct zs_metric_made *made = metric->made = calloc(1, sizeof(*made));
    if (made) {
        made->device = p->device;
        made->domain = p->domain;
        zs_metric_copy_text(made->name, sizeof(made->name), name);
        zs_metric_copy_text(made->description, sizeof(made->description), description);
        make_row(made, p->row, choice);
        metric->row = &made->row;
    }
    if (made && zs_object_publish(metric))
        return metric;
    zs_object_unref(metric);
    return NULL;
}

ze_result_t ZE_APICALL zetMetricCreateFromProgrammableExp2(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t parameterCount,
    zet_metric_programmable_param_value_exp_t *pParameterValues, const char *pName,
    const char *pDescription, uint32_t *pMetricHandleCount, zet_metric_handle_t *phMetricHandles)
{
    ZS_OBJECT(metric_programmable, p, hMetricProgrammable);
    if (parameterCount) /* as above */
        ZS_CHECK_POINTER(pParameterValues);
    ZS_CHECK_POINTER(pName);
    ZS_CHECK_POINTER(pDescription);
    ZS_CHECK_POINTER(pMetricHandleCount);
    ZS_CHECK(zs_metric_text_fits(pName, ZET_MAX_METRIC_NAME) &&
                 zs_metric_text_fits(pDescription, ZET_MAX_METRIC_DESCRIPTION),
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "pName or pDescription is too long");
    ZS_CHECK(parameterCount <= (p->parameter != NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%u parameters, %s has fewer", parameterCount, p->row->name);
    const struct choice *choice = NULL;
    if (parameterCount) {
        choice = choice_of(p->parameter, pParameterValues->value.ui32);
        ZS_CHECK(choice, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%u is no value of parameter %s",
                 pParameterValues->value.ui32, p->parameter->name);
    }
    if (zs_list_count(pMetricHandleCount, 1, phMetricHandles != NULL) == 0)
        return ZE_RESULT_SUCCESS;
    struct zs_ze_metric *metric = make_metric(p, choice, pName, pDescription);
    ZS_CHECK(metric, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    phMetricHandles[0] = metric->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricCreateFromProgrammableExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable,
    zet_metric_programmable_param_value_exp_t *pParameterValues, uint32_t parameterCount,
    const char *pName, const char *pDescription, uint32_t *pMetricHandleCount,
    zet_metric_handle_t *phMetricHandles)
{
    return zetMetricCreateFromProgrammableExp2(hMetricProgrammable, parameterCount,
                                               pParameterValues, pName, pDescription,
                                               pMetricHandleCount, phMetricHandles);
}

ze_result_t ZE_APICALL zetMetricDestroyExp(zet_metric_handle_t hMetric)
{
    ZS_OBJECT_REF(metric, metric, hMetric);
    ZS_CHECK(metric->made, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s is of a predefined group",
             metric->row->name);
    struct zs_metrics *m = metric->made->device->metrics;
    pthread_mutex_lock(&m->lock); /* groups take metrics under it */
    bool used = atomic_load(&metric->made->uses), gone = !used && zs_object_retract(metric);
    pthread_mutex_unlock(&m->lock);
    ZS_CHECK(!used, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "%s is in a group", metric->row->name);
    if (!gone)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(metric);
    return ZE_RESULT_SUCCESS;
}
