/* SPDX-License-Identifier: MIT */
/*
 * Metrics and groups that a program makes: zetMetricCreateFromProgrammableExp2,
 * zetDeviceCreateMetricGroupsFromMetricsExp and the calls around them (docs/metrics.md).
 *
 * Every report holds all counters, so any metrics of a domain go together in a group. A device has
 * a programmable for each of its metrics but those by address; each has at most one parameter,
 * which chooses between two ways to say the same counters.
 */
#ifndef ZS_DRIVER_METRICS_USER_H
#define ZS_DRIVER_METRICS_USER_H

#include "driver/metrics/metrics.h"

/* What a metric that was made has beside its row. */
struct zs_metric_made {
    struct zs_ze_device *device;
    uint32_t domain;
    _Atomic uint32_t uses; /* groups that have it */
    struct zs_metric_row row;
    char name[ZET_MAX_METRIC_NAME], description[ZET_MAX_METRIC_DESCRIPTION],
        unit[ZET_MAX_METRIC_RESULT_UNITS];
};

enum { ZS_METRIC_USER_MOST = 256 }; /* metrics of a group, made ones */

/* Members of a group; the lock is the device's. */
struct zs_metric_user_group {
    bool closed;    /* `metrics` has what every group has, too */
    bool destroyed; /* by the program: what holds it still keeps no metric from being destroyed */
    uint32_t count;
    struct zs_ze_metric *items[ZS_METRIC_USER_MOST];
    char name[ZET_MAX_METRIC_GROUP_NAME], description[ZET_MAX_METRIC_GROUP_DESCRIPTION];
};
void zs_metric_user_group_fini(struct zs_ze_metric_group *group);
/* Whether it may be activated. */
bool zs_metric_group_is_ready(const struct zs_ze_metric_group *group);

/* NULL is allowed. */
void zs_metric_programmables_free(struct zs_metric_programmables *programmables);

/* Whether the text ends within size_B bytes. */
bool zs_metric_text_fits(const char *text, size_t size_B);

#endif
