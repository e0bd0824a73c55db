/* SPDX-License-Identifier: MIT */
/* What raw data of metrics say, and what is missing. See activity_metrics.h. */
#include "collect/activity_metrics.h"

#include <stdlib.h>
#include <string.h>

static const char *const reasons[METER_REASONS] = {
    [METER_NO_QUERIES] = "there were no more queries",
    [METER_REFUSED] = "the driver refused a query",
    [METER_AGAIN] = "the list was executed again before its metrics could be read",
    [METER_NOT_OVER] = "it was not over when its list was reset or the process ended",
    [METER_APPLICATION] = "the application activated metric groups itself",
    [METER_KIND] = "the list can be changed, cloned or captured",
    [METER_SET] = "another group was active",
    [METER_NO_VALUES] = "the driver could not calculate values",
};

bool act_meter_raw_room(struct act_meter *m, size_t size_B)
{
    if (size_B <= m->raw_B)
        return true;
    uint8_t *bigger = size_B <= METER_RAW_MAX_B ? realloc(m->raw, size_B) : NULL;
    if (!bigger)
        return false;
    m->raw = bigger;
    m->raw_B = size_B;
    return true;
}

static bool typed_room(struct act_meter *m, uint32_t count)
{
    if (count <= m->typed_count)
        return true;
    zet_typed_value_t *bigger =
        count <= METER_RAW_MAX_B / 16 ? realloc(m->typed, count * sizeof(*bigger)) : NULL;
    if (!bigger)
        return false;
    m->typed = bigger;
    m->typed_count = count;
    return true;
}

/* Devices of several tiles give a set of values for each: one behind the other. */
static uint32_t calculate_sets(const struct zs_collect_api *api, struct act_meter *m,
                               const struct meter_group *group, const uint8_t *raw, size_t raw_B)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t sets = 0, count = 0;
    if (!api->zetMetricGroupCalculateMultipleMetricValuesExp ||
        api->zetMetricGroupCalculateMultipleMetricValuesExp(group->handle, type, raw_B, raw, &sets,
                                                            &count, NULL, NULL) ||
        !sets || sets > METER_OBJECTS_MAX || !count || !typed_room(m, count))
        return 0;
    uint32_t *counts = calloc(sets, sizeof(*counts));
    bool ok = counts && !api->zetMetricGroupCalculateMultipleMetricValuesExp(
                            group->handle, type, raw_B, raw, &sets, &count, counts, m->typed);
    free(counts);
    return ok ? ZS_MIN(count, m->typed_count) : 0;
}

uint32_t act_meter_calculate(struct zs_activity *a, struct act_meter *m,
                             const struct meter_group *group, const uint8_t *raw, size_t raw_B)
{
    const struct zs_collect_api *api = &a->collector->api;
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t count = 0;
    if (api->zetMetricGroupCalculateMetricValues(group->handle, type, raw_B, raw, &count, NULL) ||
        !count || !typed_room(m, count) ||
        api->zetMetricGroupCalculateMetricValues(group->handle, type, raw_B, raw, &count, m->typed))
        count = calculate_sets(api, m, group, raw, raw_B);
    return ZS_MIN(count, m->typed_count);
}

/* The driver of all devices, NULL where there are several: a function of one must not get handles
 * of another. */
static ze_driver_handle_t only_driver(struct zs_collector *c)
{
    ze_driver_handle_t driver = NULL;
    uint32_t count = ZS_MIN(atomic_load(&c->device_count), (uint32_t)ZS_COLLECT_DEVICES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (driver && c->devices[i].driver != driver)
            return NULL;
        driver = c->devices[i].driver;
    }
    return driver;
}

void *act_driver_function(struct zs_activity *a, const char *name)
{
    const struct zs_collect_api *api = &a->collector->api;
    ze_driver_handle_t driver = only_driver(a->collector);
    void *function = NULL;
    if (!driver || !api->zeDriverGetExtensionFunctionAddress ||
        api->zeDriverGetExtensionFunctionAddress(driver, name, &function))
        return NULL;
    return function;
}

/* Intel's extension, which is found by its name alone; kernels come before lists. */
uint64_t act_meter_base(struct zs_activity *a, ze_kernel_handle_t kernel)
{
    struct act_meter *m = a->meter;
    uint64_t base = 0;
    if (!m->base_asked) {
        void *function = act_driver_function(a, "zexKernelGetBaseAddress");
        m->base_asked = true;
        memcpy(&m->get_base, &function, sizeof(function));
    }
    return m->get_base && !m->get_base(kernel, &base) ? base : 0;
}

void act_meter_unmeasured(struct zs_activity *a, enum meter_reason reason, uint64_t count)
{
    uint64_t before = a->meter->unmeasured[reason];
    a->meter->unmeasured[reason] += count;
    if (!before && count && a->file)
        act_write_unmeasured(a->file, reasons[reason], count);
}

void act_meter_end(struct zs_activity *a)
{
    for (const struct act_measure *m = a->meter->first; m; m = m->next)
        if (m->pending)
            act_meter_unmeasured(a, METER_NOT_OVER, 1);
    for (uint32_t i = 0; i < METER_REASONS; i++)
        if (a->meter->unmeasured[i])
            act_write_unmeasured(a->file, reasons[i], a->meter->unmeasured[i]);
}
