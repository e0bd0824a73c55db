/* SPDX-License-Identifier: MIT */
/* Values of raw reports. What comes back from the program is hostile. */
#include "driver/metrics/user.h"

/* Metrics of the program whose rows a calculation uses: they may leave the group meanwhile, and be
 * destroyed. */
struct held {
    uint32_t count;
    struct zs_ze_metric *metrics[ZS_METRIC_USER_MOST];
};

static void let_go(const struct held *held)
{
    for (uint32_t i = 0; i < held->count; i++)
        zs_object_unref(held->metrics[i]);
}

static struct zs_metric_calculation calculation_of(const char *function,
                                                   const struct zs_ze_metric_group *group,
                                                   zet_metric_group_calculation_type_t type,
                                                   struct zs_span data, struct held *ret_held)
{
    struct zs_metrics *m = group->device->metrics;
    struct zs_metric_calculation c = {
        .function = function,
        .model = group->device->model,
        .set = group->set,
        .max = type == ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES,
        .data = data,
    };
    ret_held->count = 0;
    pthread_mutex_lock(&m->lock); /* groups of the program change */
    c.row_count = group->metric_count;
    for (uint32_t i = 0; i < c.row_count; i++) {
        c.rows[i] = group->metrics[i]->row;
        if (group->metrics[i]->made)
            ret_held->metrics[ret_held->count++] = zs_object_ref(group->metrics[i]);
    }
    pthread_mutex_unlock(&m->lock);
    return c;
}

/* Values of the first reports, as many as there is room for; a report that is none ends it. */
static ze_result_t calculate(const struct zs_metric_calculation *c, uint32_t room,
                             zet_typed_value_t *ret)
{
    struct zs_metric_report report;
    size_t at_B = 0, report_B = zs_metric_report_B(c->set);
    for (uint32_t done = 0; done < room; at_B += report_B) {
        struct zs_span rest = zs_span_make(c->data.data + at_B, c->data.size_B - at_B);
        if (!zs_metric_report_read(rest, c->set, &report))
            return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, c->function,
                             "byte %zu of the raw data is no report of this group", at_B);
        for (uint32_t i = 0; i < c->row_count && done < room; i++) {
            ret[done++] =
                (c->max ? zs_metric_value_max : zs_metric_value)(c->model, &report, c->rows[i]);
        }
    }
    return ZE_RESULT_SUCCESS;
}

static bool is_zero(const uint8_t *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Programs that give back the whole room that they had made for data have zeros at its end. */
static size_t without_zeros(const struct zs_metric_calculation *c, size_t report_B)
{
    const uint8_t *bytes = c->data.data;
    size_t size_B = c->data.size_B;
    while (size_B && is_zero(bytes + size_B - report_B, report_B))
        size_B -= report_B;
    return size_B;
}

static ze_result_t calculate_counted(const struct zs_metric_calculation *c, uint32_t *count,
                                     zet_typed_value_t *values)
{
    size_t report_B = zs_metric_report_B(c->set);
    if (c->data.size_B % report_B || !c->data.size_B)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_SIZE, c->function,
                         "%zu bytes are no whole reports of %zu", c->data.size_B, report_B);
    uint64_t have = (uint64_t)(without_zeros(c, report_B) / report_B) * c->row_count;
    if (have > UINT32_MAX)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_SIZE, c->function,
                         "more values than can be counted: calculate them in parts");
    uint32_t give = zs_list_count(count, (uint32_t)have, values != NULL);
    return give ? calculate(c, give, values) : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGroupCalculateMetricValues(zet_metric_group_handle_t hMetricGroup,
                                                           zet_metric_group_calculation_type_t type,
                                                           size_t rawDataSize,
                                                           const uint8_t *pRawData,
                                                           uint32_t *pMetricValueCount,
                                                           zet_typed_value_t *pMetricValues)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_ENUM(type, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES);
    ZS_CHECK_POINTER(pRawData);
    ZS_CHECK_POINTER(pMetricValueCount);
    struct held held;
    const struct zs_metric_calculation c =
        calculation_of(__func__, group, type, zs_span_make(pRawData, rawDataSize), &held);
    ze_result_t result = calculate_counted(&c, pMetricValueCount, pMetricValues);
    let_go(&held);
    return result;
}

/* One set: sub-devices have groups of their own. */
ze_result_t zs_metric_calculate_sets(const struct zs_metric_calculation *c, uint32_t *set_count,
                                     uint32_t *value_count, uint32_t *counts,
                                     zet_typed_value_t *values)
{
    bool asked = *set_count == 0 || *value_count == 0;
    uint32_t count = asked ? 0 : *value_count;
    ze_result_t result = calculate_counted(c, &count, asked ? NULL : values);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *set_count = 1;
    *value_count = count;
    if (!asked && counts)
        counts[0] = count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricGroupCalculateMultipleMetricValuesExp(
    zet_metric_group_handle_t hMetricGroup, zet_metric_group_calculation_type_t type,
    size_t rawDataSize, const uint8_t *pRawData, uint32_t *pSetCount,
    uint32_t *pTotalMetricValueCount, uint32_t *pMetricCounts, zet_typed_value_t *pMetricValues)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_ENUM(type, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES);
    ZS_CHECK_POINTER(pRawData);
    ZS_CHECK_POINTER(pSetCount);
    ZS_CHECK_POINTER(pTotalMetricValueCount);
    struct held held;
    const struct zs_metric_calculation c =
        calculation_of(__func__, group, type, zs_span_make(pRawData, rawDataSize), &held);
    ze_result_t result = zs_metric_calculate_sets(&c, pSetCount, pTotalMetricValueCount,
                                                  pMetricCounts, pMetricValues);
    let_go(&held);
    return result;
}
