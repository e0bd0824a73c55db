/* SPDX-License-Identifier: MIT */
#include "record/metrics_priv.h"

enum { STEPS_MAX = 1 << 27 };

struct metrics_window metrics_window_make(const struct zs_metric_launch *launches, size_t count)
{
    struct metrics_window w = {.launches = launches, .count = count};
    for (size_t i = 0; i < count; i++)
        if (launches[i].end_ns > launches[i].submit_ns) /* else its times are not known */
            w.longest_ns = ZS_MAX(w.longest_ns, launches[i].end_ns - launches[i].submit_ns);
    return w;
}

void metrics_window_move(struct metrics_window *w, const struct zs_metric_report *report)
{
    while (w->first < w->count &&
           w->launches[w->first].submit_ns + w->longest_ns < report->start_ns)
        w->first++;
    for (w->end = w->first; w->end < w->count && w->launches[w->end].submit_ns < report->end_ns &&
                            w->steps < STEPS_MAX;
         w->end++)
        w->steps++;
}

uint64_t metrics_overlap(const struct zs_metric_launch *launch,
                         const struct zs_metric_report *report)
{
    uint64_t from = ZS_MAX(launch->start_ns, report->start_ns);
    uint64_t to = ZS_MIN(launch->end_ns, report->end_ns);
    return launch->process == report->process && to > from ? to - from : 0;
}
