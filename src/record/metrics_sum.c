/* SPDX-License-Identifier: MIT */
/* Reports summed over the launches of a kernel. */
#include "record/metrics_priv.h"

#include "base/hash.h"
#include "base/id_map.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of metrics that are means: what is divided in the end. */
struct weight {
    double time_ns, count;
    uint64_t last; /* number of the report that was counted */
};

struct sums {
    const struct zs_metrics *m;
    enum zs_metric_sum_by by;
    struct zs_arena arena;
    METRICS_VEC(struct zs_metric_sum) rows;
    METRICS_VEC(double *) values; /* by row: sums, and for means sums weighted by time */
    METRICS_VEC(double *) plain;  /* by row: sums of means that all count alike */
    METRICS_VEC(struct weight) weights;
    struct zs_id_map index; /* by hash and number: row + 1 */
    uint64_t report;        /* number of the one that is added, from 1 */
};

static bool is_same(const struct sums *s, const struct zs_metric_sum *row, uint32_t group,
                    const struct zs_metric_launch *launch)
{
    if (row->group != group || strcmp(row->kernel, launch ? launch->kernel : "") != 0)
        return false;
    if (!launch)
        return true;
    return row->build == launch->build && !strcmp(row->device, launch->device) &&
           (s->by == ZS_METRIC_SUM_BY_KERNEL ||
            (!memcmp(row->groups, launch->groups, sizeof(row->groups)) &&
             !memcmp(row->size, launch->size, sizeof(row->size))));
}

static uint64_t hash_of(const struct sums *s, uint32_t group, const struct zs_metric_launch *launch)
{
    uint64_t h = zs_hash_u64(group, launch ? launch->build : 0);
    if (!launch)
        return h;
    h = zs_hash_u64(h, zs_hash_bytes(launch->kernel, strlen(launch->kernel)));
    for (int i = 0; i < 3 && s->by == ZS_METRIC_SUM_BY_SHAPE; i++)
        h = zs_hash_u64(h, (uint64_t)launch->groups[i] << 32 | launch->size[i]);
    return h;
}

static int make_row(struct sums *s, uint32_t group, const struct zs_metric_launch *launch)
{
    const struct zs_metric_group *g = &s->m->groups.items[group];
    struct zs_metric_sum row = {.kernel = "", .device = g->device, .group = group};
    double *values = ZS_ARENA_ARRAY(&s->arena, (size_t)g->metric_count * 2 + 1, double);
    if (!values)
        return -ENOMEM;
    memset(values, 0, sizeof(*values) * ((size_t)g->metric_count * 2 + 1));
    if (launch) {
        row.kernel = launch->kernel;
        row.device = launch->device;
        row.build = launch->build;
        row.simd = launch->simd;
    }
    if (launch && s->by == ZS_METRIC_SUM_BY_SHAPE) {
        memcpy(row.groups, launch->groups, sizeof(row.groups));
        memcpy(row.size, launch->size, sizeof(row.size));
    }
    row.values = values;
    const struct weight none = {0};
    return ZS_VEC_PUSH(&s->rows, row) && ZS_VEC_PUSH(&s->values, values) &&
                   ZS_VEC_PUSH(&s->plain, values + g->metric_count) &&
                   ZS_VEC_PUSH(&s->weights, none)
               ? 0
               : -ENOMEM;
}

/* The row's number + 1; 0: no memory, or there is none and none is to be made. */
static size_t row_of(struct sums *s, uint32_t group, const struct zs_metric_launch *launch,
                     bool make)
{
    uint64_t hash = hash_of(s, group, launch);
    for (uint64_t n = 0;; n++) {
        size_t known = (uintptr_t)zs_id_map_get(&s->index, hash, n);
        if (known && is_same(s, &s->rows.items[known - 1], group, launch))
            return known;
        if (known)
            continue;
        if (!make || make_row(s, group, launch) ||
            zs_id_map_put(&s->index, hash, n, (void *)(uintptr_t)s->rows.count))
            return 0;
        return s->rows.count;
    }
}

/* `share` of a report, 1 for all of it. */
static int add(struct sums *s, const struct zs_metric_report *report,
               const struct zs_metric_launch *launch, double share)
{
    const struct zs_metric_group *g = &s->m->groups.items[report->group];
    size_t row = row_of(s, report->group, launch, true);
    if (!row--)
        return -ENOMEM;
    double time_ns = metrics_report_time(s->m, report) * share;
    double *values = s->values.items[row], *plain = s->plain.items[row];
    /* a stretch of time has parts of several launches of one kernel */
    s->rows.items[row].reports += s->weights.items[row].last != s->report;
    s->weights.items[row].last = s->report;
    s->rows.items[row].time_ns += time_ns;
    s->weights.items[row].time_ns += time_ns;
    s->weights.items[row].count += share;
    for (uint32_t i = 0; i < g->metric_count; i++) {
        double value = zs_metrics_number(s->m, report, i);
        if (g->metrics[i].total == ZS_METRIC_TOTAL_SUM)
            values[i] += value * share;
        if (g->metrics[i].total != ZS_METRIC_TOTAL_MEAN)
            continue;
        values[i] += value * time_ns;
        plain[i] += value * share;
    }
    return 0;
}

static int share_out(struct sums *s, const struct zs_metric_report *report,
                     const struct metrics_window *w)
{
    uint64_t all_ns = 0;
    int error = 0;
    for (size_t i = 0; i < w->launches.count; i++)
        all_ns += metrics_overlap(&w->launches.items[i], report);
    if (!all_ns)
        return add(s, report, NULL, 1);
    for (size_t i = 0; i < w->launches.count && !error; i++) {
        uint64_t part_ns = metrics_overlap(&w->launches.items[i], report);
        if (part_ns)
            error = add(s, report, &w->launches.items[i], (double)part_ns / (double)all_ns);
    }
    return error;
}

static int add_reports(struct sums *s)
{
    struct zs_metrics_cursor *c = zs_metrics_cursor_open(s->m);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    int status, error = 0;
    while (!error && (status = zs_metrics_next(c, &launch, &report)) != 0) {
        s->report += report != NULL;
        if (status < 0)
            error = status;
        else if (report && s->m->groups.items[report->group].is_time_based)
            error = share_out(s, report, &c->window);
        else if (report)
            error = add(s, report, report->launch, 1);
    }
    zs_metrics_cursor_close(c);
    return error;
}

static void finish(struct sums *s)
{
    for (size_t r = 0; r < s->rows.count; r++) {
        const struct zs_metric_group *g = &s->m->groups.items[s->rows.items[r].group];
        const struct weight *w = &s->weights.items[r];
        for (uint32_t i = 0; i < g->metric_count; i++) {
            if (g->metrics[i].total != ZS_METRIC_TOTAL_MEAN)
                continue;
            s->values.items[r][i] = w->time_ns > 0 ? s->values.items[r][i] / w->time_ns
                                    : w->count > 0 ? s->plain.items[r][i] / w->count
                                                   : 0;
        }
    }
}

static int count_launches(struct sums *s)
{
    struct zs_sorter_cursor c;
    const struct zs_metric_launch *launch;
    zs_sorter_start(&s->m->launches, &c);
    while ((launch = zs_sorter_next(&c, NULL)))
        for (uint32_t g = 0; g < s->m->groups.count; g++) {
            size_t row = row_of(s, g, launch, false);
            if (row)
                s->rows.items[row - 1].launches++;
        }
    int error = c.error;
    zs_sorter_stop(&c);
    return error;
}

static int by_time(const void *a, const void *b)
{
    const struct zs_metric_sum *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    int order = strcmp(x->kernel, y->kernel);
    order = order ? order : memcmp(x->groups, y->groups, sizeof(x->groups));
    return order ? order : memcmp(x->size, y->size, sizeof(x->size));
}

struct kept {
    struct zs_arena arena;
};

int zs_metrics_sum(const struct zs_metrics *m, enum zs_metric_sum_by by,
                   struct zs_metric_sums *ret_sums)
{
    struct sums s = {.m = m, .by = by};
    struct kept *kept = calloc(1, sizeof(*kept));
    *ret_sums = (struct zs_metric_sums){0};
    zs_arena_init(&s.arena, 0);
    int error = kept ? add_reports(&s) : -ENOMEM;
    error = error ? error : count_launches(&s);
    if (!error) {
        finish(&s);
        if (s.rows.count)
            qsort(s.rows.items, s.rows.count, sizeof(*s.rows.items), by_time);
    }
    zs_id_map_fini(&s.index);
    free(s.values.items);
    free(s.plain.items);
    free(s.weights.items);
    if (error) {
        free(kept);
        free(s.rows.items);
        zs_arena_fini(&s.arena);
        return error;
    }
    kept->arena = s.arena;
    *ret_sums = (struct zs_metric_sums){s.rows.items, (uint32_t)s.rows.count, kept};
    return 0;
}

void zs_metric_sums_free(struct zs_metric_sums *sums)
{
    struct kept *kept = sums->internal;
    if (kept)
        zs_arena_fini(&kept->arena);
    free(kept);
    free((void *)sums->rows);
    *sums = (struct zs_metric_sums){0};
}
