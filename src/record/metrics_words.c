/* SPDX-License-Identifier: MIT */
/* What follows from the type and the units of a metric. */
#include "record/metrics_priv.h"

#include <string.h>
#include <strings.h>

/* The numbers of zet_metric_type_t and zet_value_type_t, which are part of the interface. */
enum { DURATION, EVENT, EVENT_WITH_RANGE, THROUGHPUT, TIMESTAMP, FLAG, RATIO, RAW };
enum { FLOAT32 = 2, FLOAT64 = 3 };

static const char *const type_names[] = {
    [DURATION] = "duration",
    [EVENT] = "event",
    [EVENT_WITH_RANGE] = "event with range",
    [THROUGHPUT] = "throughput",
    [TIMESTAMP] = "timestamp",
    [FLAG] = "flag",
    [RATIO] = "ratio",
    [RAW] = "raw",
};
static const char *const value_names[] = {"uint32", "uint64", "float32", "float64", "bool8"};

const char *zs_metric_type_name(uint32_t type)
{
    return type == 0x7ffffffe                ? "instruction pointer"
           : type < ZS_ARRAY_LEN(type_names) ? type_names[type]
                                             : NULL;
}

const char *zs_metric_value_type_name(uint32_t value_type)
{
    return value_type < ZS_ARRAY_LEN(value_names) ? value_names[value_type] : NULL;
}

/* A share, a rate, a frequency. */
static bool is_per_something(const char *units)
{
    size_t length = strlen(units);
    return !strcasecmp(units, "percent") || strchr(units, '%') || strchr(units, '/') ||
           strcasestr(units, " per ") || (length >= 2 && !strcasecmp(units + length - 2, "hz"));
}

enum zs_metric_total metrics_total_of(uint32_t type, const char *units)
{
    switch (type) {
    case DURATION:
    case EVENT:
    case EVENT_WITH_RANGE:
    case THROUGHPUT:
        return !strcasecmp(units, "id")  ? ZS_METRIC_TOTAL_NONE
               : is_per_something(units) ? ZS_METRIC_TOTAL_MEAN
                                         : ZS_METRIC_TOTAL_SUM;
    case RATIO:
        return ZS_METRIC_TOTAL_MEAN;
    default:
        return ZS_METRIC_TOTAL_NONE;
    }
}

uint32_t metrics_time_of(const struct zs_metric *metrics, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (metrics[i].type == DURATION && !strcasecmp(metrics[i].units, "ns"))
            return i;
    return ZS_METRICS_NONE;
}

bool zs_metric_is_float(const struct zs_metric *metric)
{
    return metric->value_type == FLOAT32 || metric->value_type == FLOAT64;
}

double zs_metric_value_number(const struct zs_metric *metric, union zs_metric_value value)
{
    return zs_metric_is_float(metric) ? value.f64 : (double)value.u64;
}

uint32_t zs_metric_find(const struct zs_metric_group *group, const char *name)
{
    for (uint32_t i = 0; i < group->metric_count; i++)
        if (!strcmp(group->metrics[i].name, name))
            return i;
    return ZS_METRICS_NONE;
}

double metrics_report_time(const struct zs_metrics *m, const struct zs_metric_report *report)
{
    uint32_t time = m->groups.items[report->group].time;
    if (time != ZS_METRICS_NONE)
        return zs_metrics_number(m, report, time);
    return (double)(report->end_ns - report->start_ns);
}
