/* SPDX-License-Identifier: MIT */
/* Metrics of kernels, for a recorder in the same process: what zescope's own driver has queries
 * for. */
#include "drm/drm_priv.h"

#include "gpu/metric/metric.h"
#include "gpu/walk.h"

#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    char *names; /* one a line; NULL: none */
} wanted = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((visibility("default"))) uint32_t zescope_set_walk_metrics(const char *names);

static bool has_line(const char *lines, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = lines; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (!strncmp(at, line, length) && (!at[length] || at[length] == '\n'))
            return true;
    }
    return false;
}

/* Whether it is one of those names, and devices of the model have it. */
static bool is_of(const struct zs_gpu_model *model, uint32_t set, const char *names)
{
    return !zs_metric_is_traced(set) && zs_metric_set_is_of(model, (enum zs_metric_set)set, true) &&
           has_line(names, zs_metric_set_name((enum zs_metric_set)set));
}

uint32_t zescope_set_walk_metrics(const char *names)
{
    char *copy = strdup(names);
    const struct zs_drm_node *node = zs_drm_node(0);
    uint32_t known = 0;
    for (uint32_t set = 0; copy && node && set < ZS_METRIC_SETS; set++)
        known += is_of(node->model, set, copy);
    pthread_mutex_lock(&wanted.lock);
    free(wanted.names);
    wanted.names = copy;
    pthread_mutex_unlock(&wanted.lock);
    return known;
}

uint32_t zs_drm_measure_flags(void)
{
    pthread_mutex_lock(&wanted.lock);
    bool gains = wanted.names && has_line(wanted.names, zs_metric_set_name(ZS_METRIC_SET_GAINS));
    pthread_mutex_unlock(&wanted.lock);
    return gains ? ZS_GPU_LAUNCH_TIME_GAINS : 0u;
}

/* What a launch is measured by, and what comes of it. */
struct measured {
    const struct zs_gpu_model *model;
    const struct zs_gpu_timing *timing;
    struct zs_metric_report report; /* for all sets that are not by address */
};

static uint64_t bits_of(zet_typed_value_t v)
{
    double number = (double)v.value.fp32;
    uint64_t bits;
    if (v.type != ZET_VALUE_TYPE_FLOAT32)
        return v.value.ui64;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void put_set(struct measured *m, const struct zs_metric_row *const *rows, uint32_t count,
                    uint64_t *ret)
{
    for (uint32_t i = 0; i < count; i++)
        ret[i] = bits_of(zs_metric_value(m->model, &m->report, rows[i]));
}

/* Sets of values: one, or one for each instruction of the kernel that has any. */
static uint32_t put_values(struct measured *m, const struct zs_metric_row *const *rows,
                           uint32_t count, uint64_t *values)
{
    enum zs_metric_by_address kind = zs_metric_by_address(m->report.set);
    uint32_t sets = 0;
    if (kind == ZS_METRIC_BY_ADDRESS) {
        put_set(m, rows, count, values);
        return 1;
    }
    struct zs_metric_report whole = m->report;
    for (uint32_t i = 0; i < m->timing->stall_count; i++) {
        const struct zs_gpu_stalls *stalls = &m->timing->stalls[i];
        struct zs_metric_at at = {.ip = (uint64_t)stalls->offset_B};
        if (stalls->offset_B < 0 || !zs_metric_values_at(kind, stalls, at.values))
            continue; /* functions beside the kernel are of any module */
        zs_metric_report_at(&m->report, &at);
        put_set(m, rows, count, values + (size_t)sets++ * count);
    }
    m->report = whole;
    return sets;
}

static bool measure(struct measured *m, enum zs_metric_set set, zescope_walk_group_t *ret)
{
    const struct zs_metric_row *rows[ZS_METRIC_ROWS_MAX];
    uint32_t count = zs_metric_rows(m->model, set, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
                                    m->timing->modelled, rows);
    size_t most = zs_metric_is_by_address(set) ? m->timing->stall_count : 1;
    zescope_walk_metric_t *metrics = calloc(count + 1, sizeof(*metrics));
    uint64_t *values = calloc(most * count + 1, sizeof(*values));
    m->report.set = set;
    *ret = (zescope_walk_group_t){.name = zs_metric_set_name(set),
                                  .description = zs_metric_set_description(set),
                                  .domain = zs_metric_domain_number(zs_metric_set_domain(set)),
                                  .metric_count = count,
                                  .metrics = metrics,
                                  .values = values};
    if (!metrics || !values)
        return false;
    for (uint32_t i = 0; i < count; i++)
        metrics[i] = (zescope_walk_metric_t){rows[i]->name,
                                             rows[i]->description,
                                             rows[i]->component,
                                             rows[i]->unit,
                                             rows[i]->tier,
                                             (uint32_t)rows[i]->type,
                                             (uint32_t)zs_metric_value_type(rows[i])};
    ret->set_count = put_values(m, rows, count, values);
    return true;
}

void zs_drm_measured_free(zescope_walk_group_t *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)groups[i].metrics);
        free((void *)(uintptr_t)groups[i].values);
    }
    free(groups);
}

uint32_t zs_drm_measure(const struct zs_gpu_model *model, const struct zs_gpu_result *result,
                        zescope_walk_group_t **ret_groups)
{
    struct measured m = {.model = model, .timing = &result->timing};
    struct zs_metric_stretch stretch = {0};
    uint32_t count = 0;
    bool ok = true;
    *ret_groups = NULL;
    pthread_mutex_lock(&wanted.lock);
    char *names = wanted.names ? strdup(wanted.names) : NULL;
    pthread_mutex_unlock(&wanted.lock);
    zescope_walk_group_t *groups = names ? calloc(ZS_METRIC_SETS, sizeof(*groups)) : NULL;
    if (groups) {
        zs_metric_count(model, result, &stretch);
        memcpy(m.report.counters, stretch.counters, sizeof(stretch.counters));
        zs_metric_report_time(model, &m.report);
    }
    for (uint32_t set = 0; groups && ok && set < ZS_METRIC_SETS; set++)
        if (is_of(model, set, names))
            ok = measure(&m, (enum zs_metric_set)set, &groups[count++]);
    free(names);
    if (ok) {
        *ret_groups = groups;
        return count;
    }
    zs_drm_measured_free(groups, count);
    return 0;
}
