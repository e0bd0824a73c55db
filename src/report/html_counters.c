/* SPDX-License-Identifier: MIT */
#include "report/html_counters.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

/* The reports of one group in one process that have times. */
struct series {
    uint64_t process;
    uint32_t group;
    const struct zs_metric_report **reports;
    size_t count, capacity;
};

struct all_series {
    struct series *items;
    size_t count, capacity;
};

static int by_start(const void *a, const void *b)
{
    const struct zs_metric_report *x = *(const struct zs_metric_report *const *)a;
    const struct zs_metric_report *y = *(const struct zs_metric_report *const *)b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Series are few: a process has some groups. */
static bool add(struct all_series *all, const struct zs_metric_report *r)
{
    size_t i = all->count;
    while (i && (all->items[i - 1].process != r->process || all->items[i - 1].group != r->group))
        i--;
    if (!i && !ZS_VEC_PUSH(all, ((struct series){.process = r->process, .group = r->group})))
        return false;
    struct series *s = &all->items[i ? i - 1 : all->count - 1];
    struct {
        const struct zs_metric_report **items;
        size_t count, capacity;
    } v = {s->reports, s->count, s->capacity};
    bool ok = ZS_VEC_PUSH(&v, r);
    s->reports = v.items;
    s->count = v.count;
    s->capacity = v.capacity;
    return ok;
}

static double largest(const struct zs_metrics *metrics, const struct series *s, uint32_t metric,
                      size_t from, size_t to)
{
    double most = zs_metrics_number(metrics, s->reports[from], metric);
    for (size_t i = from + 1; i < to; i++)
        most = ZS_MAX(most, zs_metrics_number(metrics, s->reports[i], metric));
    return most;
}

static void put_times(const struct series *s, size_t stride, struct zs_json *json)
{
    uint64_t before_ns = s->reports[0]->start_ns;
    zs_json_u64(json, "start_ns", before_ns);
    zs_json_array(json, "starts");
    for (size_t i = 0; i < s->count; i += stride) {
        zs_json_u64(json, NULL, s->reports[i]->start_ns - before_ns);
        before_ns = s->reports[i]->start_ns;
    }
    zs_json_end(json);
    zs_json_array(json, "lengths");
    for (size_t i = 0; i < s->count; i += stride) {
        uint64_t end_ns = 0;
        for (size_t k = i; k < ZS_MIN(i + stride, s->count); k++)
            end_ns = ZS_MAX(end_ns, s->reports[k]->end_ns);
        zs_json_u64(json, NULL, end_ns - s->reports[i]->start_ns);
    }
    zs_json_end(json);
}

static void put_series(const struct zs_metrics *metrics, struct series *s, struct zs_json *json)
{
    uint32_t count;
    const struct zs_metric_group *g = &zs_metrics_groups(metrics, &count)[s->group];
    size_t stride = (s->count + ZS_HTML_POINTS - 1) / ZS_HTML_POINTS;
    qsort(s->reports, s->count, sizeof(*s->reports), by_start);
    zs_json_object(json, NULL);
    zs_json_u64(json, "pid", (uint32_t)s->process);
    zs_json_string(json, "group", g->name);
    zs_json_string(json, "sampling", g->is_time_based ? "time" : "event");
    zs_json_u64(json, "reports_a_point", stride);
    put_times(s, stride, json);
    zs_json_array(json, "metrics");
    for (uint32_t i = 0; i < g->metric_count; i++) {
        if (g->metrics[i].total == ZS_METRIC_TOTAL_NONE || i == g->time)
            continue;
        zs_json_object(json, NULL);
        zs_json_string(json, "name", g->metrics[i].name);
        zs_json_string(json, "units", g->metrics[i].units);
        zs_json_double(json, "most", largest(metrics, s, i, 0, s->count));
        zs_json_array(json, "values");
        for (size_t k = 0; k < s->count; k += stride)
            zs_json_double(json, NULL, largest(metrics, s, i, k, ZS_MIN(k + stride, s->count)));
        zs_json_end(json);
        zs_json_end(json);
    }
    zs_json_end(json);
    zs_json_end(json);
}

void zs_html_counters_json(const struct zs_metrics *metrics, struct zs_json *json)
{
    struct all_series all = {0};
    uint64_t count = 0;
    const struct zs_metric_report *reports = metrics ? zs_metrics_reports(metrics, &count) : NULL;
    bool ok = true;
    for (uint64_t i = 0; i < count && ok; i++)
        ok = !reports[i].end_ns || add(&all, &reports[i]);
    zs_json_array(json, "counters");
    for (size_t i = 0; i < all.count && ok; i++)
        put_series(metrics, &all.items[i], json);
    zs_json_end(json);
    if (!ok)
        json->out->error = -ENOMEM;
    for (size_t i = 0; i < all.count; i++)
        free((void *)all.items[i].reports);
    free(all.items);
}
