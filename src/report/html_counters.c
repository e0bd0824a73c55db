/* SPDX-License-Identifier: MIT */
#include "report/html_counters.h"

#include "base/vec.h"
#include "record/sorter.h"

#include <errno.h>
#include <stdlib.h>

/* The reports of one group in one process that have times. */
struct series {
    uint64_t process, count;
    uint32_t group;
};

/* A report as it is sorted; its values stand behind it. */
struct sorted {
    size_t series;
    uint64_t start_ns, end_ns;
};

struct all_series {
    struct series *items;
    size_t count, capacity;
    struct zs_sorter reports;
};

static int by_start(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Series are few: a process has some groups. */
static int add(struct all_series *all, const struct zs_metric_report *r, uint32_t metric_count)
{
    size_t i = all->count;
    while (i && (all->items[i - 1].process != r->process || all->items[i - 1].group != r->group))
        i--;
    if (!i && !ZS_VEC_PUSH(all, ((struct series){.process = r->process, .group = r->group})))
        return -ENOMEM;
    const struct sorted sorted = {i ? i - 1 : all->count - 1, r->start_ns, r->end_ns};
    all->items[sorted.series].count++;
    return zs_sorter_add(&all->reports, &sorted, sizeof(sorted), r->values,
                         metric_count * sizeof(*r->values));
}

static int collect(const struct zs_metrics *metrics, const struct zs_metric_group *groups,
                   struct all_series *all)
{
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *r;
    int status, error = 0;
    while (!error && (status = zs_metrics_next(cursor, &launch, &r)) != 0)
        error = status < 0       ? status
                : r && r->end_ns ? add(all, r, groups[r->group].metric_count)
                                 : 0;
    zs_metrics_cursor_close(cursor);
    return error ? error : zs_sorter_finish(&all->reports);
}

/* What is shown of a series: neighbours become one point. */
struct points {
    const struct zs_metric_group *group;
    uint64_t stride;
    size_t count;
    uint64_t *start_ns, *end_ns;
    double *values; /* [metric][ZS_HTML_POINTS] */
};

static bool make_points(const struct series *s, const struct zs_metric_group *g, struct points *ret)
{
    *ret = (struct points){.group = g, .stride = (s->count + ZS_HTML_POINTS - 1) / ZS_HTML_POINTS};
    ret->start_ns = calloc(ZS_HTML_POINTS, sizeof(*ret->start_ns));
    ret->end_ns = calloc(ZS_HTML_POINTS, sizeof(*ret->end_ns));
    ret->values = calloc((size_t)g->metric_count * ZS_HTML_POINTS + 1, sizeof(*ret->values));
    return ret->start_ns && ret->end_ns && ret->values;
}

static void free_points(struct points *p)
{
    free(p->start_ns);
    free(p->end_ns);
    free(p->values);
}

/* The next of the series' reports, the nth. */
static void add_to_points(struct points *p, const struct sorted *r, uint64_t n)
{
    const union zs_metric_value *values = (const union zs_metric_value *)(r + 1);
    size_t at = (size_t)(n / p->stride);
    bool is_first = n % p->stride == 0;
    p->count = at + 1;
    if (is_first)
        p->start_ns[at] = r->start_ns;
    p->end_ns[at] = ZS_MAX(p->end_ns[at], r->end_ns);
    for (uint32_t i = 0; i < p->group->metric_count; i++) {
        double *value = &p->values[(size_t)i * ZS_HTML_POINTS + at];
        double new = zs_metric_value_number(&p->group->metrics[i], values[i]);
        *value = is_first ? new : ZS_MAX(*value, new);
    }
}

static void put_times(const struct points *p, struct zs_json *json)
{
    uint64_t before_ns = p->start_ns[0];
    zs_json_u64(json, "start_ns", before_ns);
    zs_json_array(json, "starts");
    for (size_t i = 0; i < p->count; i++) {
        zs_json_u64(json, NULL, p->start_ns[i] - before_ns);
        before_ns = p->start_ns[i];
    }
    zs_json_end(json);
    zs_json_array(json, "lengths");
    for (size_t i = 0; i < p->count; i++)
        zs_json_u64(json, NULL, p->end_ns[i] - p->start_ns[i]);
    zs_json_end(json);
}

static void put_series(const struct series *s, const struct points *p, struct zs_json *json)
{
    const struct zs_metric_group *g = p->group;
    zs_json_object(json, NULL);
    zs_json_u64(json, "pid", (uint32_t)s->process);
    zs_json_string(json, "group", g->name);
    zs_json_string(json, "sampling", g->is_time_based ? "time" : "event");
    zs_json_u64(json, "reports_a_point", p->stride);
    put_times(p, json);
    zs_json_array(json, "metrics");
    for (uint32_t i = 0; i < g->metric_count; i++) {
        const double *values = p->values + (size_t)i * ZS_HTML_POINTS;
        double most = values[0];
        if (g->metrics[i].total == ZS_METRIC_TOTAL_NONE || i == g->time)
            continue;
        for (size_t k = 1; k < p->count; k++)
            most = ZS_MAX(most, values[k]);
        zs_json_object(json, NULL);
        zs_json_string(json, "name", g->metrics[i].name);
        zs_json_string(json, "units", g->metrics[i].units);
        zs_json_double(json, "most", most);
        zs_json_array(json, "values");
        for (size_t k = 0; k < p->count; k++)
            zs_json_double(json, NULL, values[k]);
        zs_json_end(json);
        zs_json_end(json);
    }
    zs_json_end(json);
    zs_json_end(json);
}

/* The sorted reports of all series, one series after the other. */
static int put_all(const struct all_series *all, const struct zs_metric_group *groups,
                   struct zs_json *json)
{
    struct zs_sorter_cursor c;
    int error = 0;
    zs_sorter_start(&all->reports, &c);
    for (size_t i = 0; i < all->count && !error; i++) {
        const struct series *s = &all->items[i];
        const struct sorted *r;
        struct points points;
        error = make_points(s, &groups[s->group], &points) ? 0 : -ENOMEM;
        for (uint64_t n = 0; n < s->count && !error && (r = zs_sorter_next(&c, NULL)); n++)
            add_to_points(&points, r, n);
        error = error ? error : c.error;
        if (!error)
            put_series(s, &points, json);
        free_points(&points);
    }
    zs_sorter_stop(&c);
    return error;
}

void zs_html_counters_json(const struct zs_metrics *metrics, struct zs_json *json)
{
    struct all_series all = {0};
    uint32_t count;
    const struct zs_metric_group *groups = metrics ? zs_metrics_groups(metrics, &count) : NULL;
    zs_sorter_init(&all.reports, by_start);
    int error = metrics ? collect(metrics, groups, &all) : 0;
    zs_json_array(json, "counters");
    error = error ? error : put_all(&all, groups, json);
    zs_json_end(json);
    json->out->error = error ? error : json->out->error;
    zs_sorter_fini(&all.reports);
    free(all.items);
}
