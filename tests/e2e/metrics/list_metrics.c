/* SPDX-License-Identifier: MIT */
/*
 * The metrics of a recording as lines, through the public header alone:
 *   info launches measured orphans damaged lost run_count
 *   group <name> <device> event|time domain
 *   metric <name> <units> <type> <value type> none|sum|mean
 *   launch <kernel> <process> <append> <groups> <size> reports
 *   value <group> <launch or -1> <run> <metric> <value>
 *   sum <group> <kernel> <groups> <size> <reports> <launches> <metric> <value>
 */
#include <zescope/metrics.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const totals[] = {"none", "sum", "mean"};

static int print_sums(const struct zs_metrics *metrics, const struct zs_metric_group *groups)
{
    struct zs_metric_sums sums;
    if (zs_metrics_sum(metrics, ZS_METRIC_SUM_BY_SHAPE, &sums))
        return 1;
    for (uint32_t i = 0; i < sums.count; i++) {
        const struct zs_metric_sum *s = &sums.rows[i];
        const struct zs_metric_group *g = &groups[s->group];
        for (uint32_t k = 0; k < g->metric_count; k++)
            printf("sum %s %s %u,%u,%u %u,%u,%u %" PRIu64 " %" PRIu64 " %s %.17g\n", g->name,
                   s->kernel[0] ? s->kernel : "-", s->groups[0], s->groups[1], s->groups[2],
                   s->size[0], s->size[1], s->size[2], s->reports, s->launches, g->metrics[k].name,
                   s->values[k]);
    }
    zs_metric_sums_free(&sums);
    return 0;
}

/* Each when all of its reports were seen. */
static int print_launches(const struct zs_metrics *metrics, const struct zs_metric_group *groups)
{
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    struct zs_metric_launch last = {0};
    uint32_t reports = 0;
    int status = 1;
    while (status > 0) {
        status = zs_metrics_next(cursor, &launch, &report);
        if (last.kernel && !(status > 0 && report))
            printf("launch %s %" PRIu64 " %" PRIu64 " %u,%u,%u %u,%u,%u %u\n", last.kernel,
                   last.process, last.append, last.groups[0], last.groups[1], last.groups[2],
                   last.size[0], last.size[1], last.size[2], reports);
        reports += status > 0 && report && !groups[report->group].is_time_based;
        if (status > 0 && launch) {
            last = *launch;
            reports = 0;
        }
    }
    zs_metrics_cursor_close(cursor);
    return status;
}

static int print_values(const struct zs_metrics *metrics, const struct zs_metric_group *groups)
{
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    int status;
    while ((status = zs_metrics_next(cursor, &launch, &report)) > 0)
        for (uint32_t k = 0; report && k < groups[report->group].metric_count; k++)
            printf("value %s %d %u %s %.17g\n", groups[report->group].name,
                   report->launch ? (int)report->launch->index : -1, report->run,
                   groups[report->group].metrics[k].name, zs_metrics_number(metrics, report, k));
    zs_metrics_cursor_close(cursor);
    return status;
}

int main(int argc, char **argv)
{
    struct zs_metrics *metrics;
    struct zs_diag diag = {0};
    uint32_t group_count;
    if (argc != 2 || zs_metrics_open(argv[1], &metrics, &diag)) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    const struct zs_metrics_info *info = zs_metrics_info(metrics);
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &group_count);
    printf("info %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", info->launches,
           info->measured, info->orphans, info->damaged, info->lost, info->run_count);
    printf("reason %s\nmismatch %s\n", info->lost_reason, info->runs_mismatch);
    for (uint32_t i = 0; i < group_count; i++) {
        const struct zs_metric_group *g = &groups[i];
        printf("group %s %s %u\n", g->name, g->is_time_based ? "time" : "event", g->domain);
        for (uint32_t k = 0; k < g->metric_count; k++) {
            const char *type = zs_metric_type_name(g->metrics[k].type);
            const char *value_type = zs_metric_value_type_name(g->metrics[k].value_type);
            printf("metric %s %s %s %s %s\n", g->metrics[k].name, g->metrics[k].units,
                   type ? type : "?", value_type ? value_type : "?", totals[g->metrics[k].total]);
        }
    }
    int status = print_launches(metrics, groups) || print_values(metrics, groups) ||
                 print_sums(metrics, groups);
    zs_metrics_close(metrics);
    return status;
}
