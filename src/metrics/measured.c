/* SPDX-License-Identifier: MIT */
/* Metrics of recorded groups, by kernel. */
#include "metrics/profile_priv.h"

#include "base/vec.h"
#include "record/metrics_numbers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *full_name(struct zs_arena *arena, const char *group, const char *name)
{
    size_t size_B = strlen(group) + strlen(name) + 2;
    char *text = zs_arena_alloc(arena, size_B);
    if (text)
        snprintf(text, size_B, "%s.%s", group, name);
    return text;
}

/* The first metric of group g stands at first[g]. */
static int list_metrics(struct zs_profiles *t, const struct zs_metric_group *groups, uint32_t count,
                        uint32_t *first)
{
    for (uint32_t g = 0; g < count; g++) {
        first[g] = (uint32_t)t->metrics.count;
        for (uint32_t m = 0; m < groups[g].metric_count; m++) {
            const struct zs_metric *metric = &groups[g].metrics[m];
            const struct zs_profile_metric row = {
                .group = groups[g].name,
                .name = metric->name,
                .unit = metric->units,
                .description = metric->description,
                .full_name = full_name(&t->arena, groups[g].name, metric->name),
                .total = metric->total,
                .is_time_based = groups[g].is_time_based};
            if (!row.full_name || !ZS_VEC_PUSH(&t->metrics, row))
                return -ENOMEM;
        }
    }
    return 0;
}

static uint32_t module_of_build(const struct zs_profiles *t, uint64_t build, const char *kernel)
{
    uint32_t count, module_count;
    const struct zs_record_build *builds = zs_recording_builds(t->recording, &count);
    const struct zs_record_module *modules = zs_recording_modules(t->recording, &module_count);
    for (uint32_t i = 0; i < count; i++) {
        if (builds[i].id != build || builds[i].module >= module_count)
            continue;
        const struct zs_record_module *m = &modules[builds[i].module];
        for (uint32_t k = 0; k < m->kernel_count; k++)
            if (!strcmp(m->kernels[k], kernel))
                return builds[i].module;
    }
    return ZS_RECORD_NONE;
}

static struct zs_profile *profile_of(const struct zs_profiles *t, const struct zs_metric_sum *row)
{
    struct zs_profile *named = NULL;
    uint32_t module = module_of_build(t, row->build, row->kernel);
    for (size_t i = 0; i < t->kernels.count; i++) {
        struct zs_profile *p = t->kernels.items[i];
        if (strcmp(p->name, row->kernel))
            continue;
        if (p->module_index == module)
            return p;
        named = named ? named : p;
    }
    return module == ZS_RECORD_NONE ? named : NULL;
}

/* Means are weighted by time; weights[] has the sums of what is there already. */
static void add_row(const struct zs_profiles *t, double *values, double *weights, uint32_t first,
                    const struct zs_metric_sum *row, uint32_t metric_count)
{
    double weight = row->time_ns > 0 ? row->time_ns : 1;
    for (uint32_t m = 0; m < metric_count; m++) {
        double *to = &values[first + m], *sum = &weights[first + m];
        double value = row->values[m];
        if (t->metrics.items[first + m].total == ZS_METRIC_TOTAL_NONE)
            continue;
        if (isnan(*to))
            *to = value;
        else if (t->metrics.items[first + m].total == ZS_METRIC_TOTAL_SUM)
            *to += value;
        else
            *to = (*to * *sum + value * weight) / (*sum + weight);
        *sum += weight;
    }
}

/* Groups that take turns measure some of the launches each. weights[] has the times of those. */
static void set_parts(const struct zs_profiles *t, struct zs_profile *p, const double *reports,
                      const double *weights)
{
    double all_ns = p->timed ? (double)p->total_ns / (double)p->timed * (double)p->launches : 0;
    for (size_t m = 0; m < t->metrics.count; m++) {
        double by_count = reports[m] / (double)p->launches, by_time = weights[m] / all_ns;
        bool some = reports[m] > 0 && by_count < 1;
        if (some && (p->shapes.count < 2 || !(by_time > 0 && by_time < 1)))
            p->metric_parts[m] = by_count;
        else if (some)
            p->metric_parts[m] = by_time;
    }
}

static int add_sums(struct zs_profiles *t, const uint32_t *first,
                    const struct zs_metric_group *groups)
{
    struct zs_metric_sums sums;
    size_t count = t->metrics.count;
    double *weights = calloc(t->kernels.count * count + 1, sizeof(*weights));
    double *reports = calloc(t->kernels.count * count + 1, sizeof(*reports));
    int error =
        weights && reports ? zs_metrics_sum(t->recorded, ZS_METRIC_SUM_BY_KERNEL, &sums) : -ENOMEM;
    if (error) {
        free(weights);
        free(reports);
        return error;
    }
    for (uint32_t i = 0; i < sums.count; i++) {
        const struct zs_metric_sum *row = &sums.rows[i];
        const struct zs_profile *p = profile_of(t, row);
        size_t k = 0;
        while (p && t->kernels.items[k] != p)
            k++;
        if (!p || !row->reports)
            continue;
        add_row(t, p->metrics, weights + k * count, first[row->group], row,
                groups[row->group].metric_count);
        for (uint32_t m = 0; m < groups[row->group].metric_count; m++)
            if (!groups[row->group].is_time_based)
                reports[k * count + first[row->group] + m] += (double)row->reports;
    }
    for (size_t k = 0; k < t->kernels.count; k++)
        set_parts(t, t->kernels.items[k], reports + k * count, weights + k * count);
    zs_metric_sums_free(&sums);
    free(weights);
    free(reports);
    return 0;
}

int profile_add_metrics(struct zs_profiles *t)
{
    uint32_t group_count;
    struct zs_diag diag = {0};
    int error = zs_metrics_open_numbers(t->path, &t->recorded, &diag);
    if (error)
        return error == -ENOMEM ? error : 0;
    const struct zs_metric_group *groups = zs_metrics_groups(t->recorded, &group_count);
    uint32_t *first = calloc((size_t)group_count + 1, sizeof(*first));
    error = first ? list_metrics(t, groups, group_count, first) : -ENOMEM;
    for (size_t i = 0; i < t->kernels.count && !error; i++) {
        double *values = ZS_ARENA_ARRAY(&t->arena, t->metrics.count, double);
        double *parts = ZS_ARENA_ARRAY(&t->arena, t->metrics.count, double);
        for (size_t m = 0; values && parts && m < t->metrics.count; m++) {
            values[m] = NAN;
            parts[m] = 1;
        }
        t->kernels.items[i]->metrics = values;
        t->kernels.items[i]->metric_parts = parts;
        error = values && parts ? 0 : -ENOMEM;
    }
    if (!error && t->metrics.count)
        error = add_sums(t, first, groups);
    free(first);
    return error;
}
