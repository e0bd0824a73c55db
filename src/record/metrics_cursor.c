/* SPDX-License-Identifier: MIT */
/* Launches and reports of a recording, one after the other (zescope/metrics.h). */
#include "record/metrics_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 27 };

/* ---- what ran in a stretch of time ---- */

uint64_t metrics_overlap(const struct zs_metric_launch *launch,
                         const struct zs_metric_report *report)
{
    uint64_t from = ZS_MAX(launch->start_ns, report->start_ns);
    uint64_t to = ZS_MIN(launch->end_ns, report->end_ns);
    return launch->process == report->process && to > from ? to - from : 0;
}

/* Behind those that were submitted before it: mostly all. */
static int window_add(struct metrics_window *w, const struct zs_metric_launch *launch)
{
    if (!ZS_VEC_PUSH(&w->launches, *launch))
        return -ENOMEM;
    size_t at = w->launches.count - 1;
    struct zs_metric_launch *items = w->launches.items;
    for (; at && items[at - 1].index > launch->index; at--)
        w->steps++;
    memmove(&items[at + 1], &items[at], (w->launches.count - 1 - at) * sizeof(*items));
    items[at] = *launch;
    return 0;
}

int metrics_window_move(struct metrics_window *w, const struct zs_sorter *starts,
                        const struct zs_metric_report *report)
{
    size_t kept = 0;
    int error = 0;
    if (!w->started) {
        zs_sorter_start(starts, &w->starts);
        w->next = zs_sorter_next(&w->starts, NULL);
        w->started = true;
    }
    w->steps += w->launches.count + 1;
    for (size_t i = 0; i < w->launches.count && w->steps < STEPS_MAX; i++)
        if (w->launches.items[i].end_ns > report->start_ns)
            w->launches.items[kept++] = w->launches.items[i];
    w->launches.count = kept;
    for (; w->next && w->next->start_ns < report->end_ns && w->steps < STEPS_MAX && !error;
         w->next = zs_sorter_next(&w->starts, NULL), w->steps++)
        if (w->next->end_ns > report->start_ns)
            error = window_add(w, w->next);
    return error ? error : w->starts.error;
}

void metrics_window_fini(struct metrics_window *w)
{
    zs_sorter_stop(&w->starts);
    free(w->launches.items);
    *w = (struct metrics_window){0};
}

static const struct zs_metric_launch *longest_in(const struct metrics_window *w,
                                                 const struct zs_metric_report *report)
{
    const struct zs_metric_launch *longest = NULL;
    uint64_t most_ns = 0;
    for (size_t i = 0; i < w->launches.count; i++) {
        uint64_t both_ns = metrics_overlap(&w->launches.items[i], report);
        if (both_ns > most_ns)
            longest = &w->launches.items[i];
        most_ns = ZS_MAX(both_ns, most_ns);
    }
    return longest;
}

/* ---- the walk ---- */

struct zs_metrics_cursor *zs_metrics_cursor_open(const struct zs_metrics *m)
{
    struct zs_metrics_cursor *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->metrics = m;
    zs_sorter_start(&m->launches, &c->launches);
    zs_sorter_start(&m->reports, &c->reports);
    return c;
}

void zs_metrics_cursor_close(struct zs_metrics_cursor *c)
{
    if (!c)
        return;
    zs_sorter_stop(&c->launches);
    zs_sorter_stop(&c->reports);
    metrics_window_fini(&c->window);
    free(c);
}

/* The stored report becomes the one that is given; it stays where it is until the next is read. */
static int give_report(struct zs_metrics_cursor *c, const struct zs_metric_report **ret_report)
{
    const struct metrics_stored *s = c->stored;
    const struct zs_metric_group *group = &c->metrics->groups.items[s->group];
    size_t values_B = group->metric_count * sizeof(union zs_metric_value);
    c->report = (struct zs_metric_report){.group = s->group,
                                          .run = s->run,
                                          .process = s->process,
                                          .start_ns = s->start_ns,
                                          .end_ns = s->end_ns,
                                          .values = (const union zs_metric_value *)(s + 1),
                                          .raw_B = s->raw_B};
    if (s->raw_B)
        c->report.raw = (const uint8_t *)(s + 1) + values_B;
    c->stored = NULL;
    *ret_report = &c->report;
    if (s->is_time_based) {
        int error = metrics_window_move(&c->window, &c->metrics->starts, &c->report);
        c->report.launch = longest_in(&c->window, &c->report);
        return error ? error : 1;
    }
    c->report.launch = &c->launch;
    c->report.process = c->launch.process; /* of further runs: as in the first */
    c->report.start_ns = c->launch.end_ns ? c->launch.start_ns : 0;
    c->report.end_ns = c->launch.end_ns;
    return 1;
}

int zs_metrics_next(struct zs_metrics_cursor *c, const struct zs_metric_launch **ret_launch,
                    const struct zs_metric_report **ret_report)
{
    *ret_launch = NULL;
    *ret_report = NULL;
    if (!c)
        return -ENOMEM;
    if (!c->stored)
        c->stored = zs_sorter_next(&c->reports, NULL);
    if (c->reports.error)
        return c->reports.error;
    if (c->stored && !c->stored->is_time_based && c->stored->order + 1 == c->launch_count)
        return give_report(c, ret_report);
    const struct zs_metric_launch *launch = zs_sorter_next(&c->launches, NULL);
    if (c->launches.error)
        return c->launches.error;
    if (!launch)
        return c->stored ? give_report(c, ret_report) : 0;
    c->launch = *launch;
    c->launch.index = c->launch_count++;
    *ret_launch = &c->launch;
    return 1;
}

double zs_metrics_number(const struct zs_metrics *m, const struct zs_metric_report *report,
                         uint32_t metric)
{
    const struct zs_metric_group *group = &m->groups.items[report->group];
    return metric < group->metric_count
               ? zs_metric_value_number(&group->metrics[metric], report->values[metric])
               : 0;
}
