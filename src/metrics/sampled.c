/* SPDX-License-Identifier: MIT */
/* Metrics of groups that tell instruction addresses, by instruction of a kernel. */
#include "metrics/analysis_priv.h"

#include <math.h>
#include <string.h>

static const char *const groups_by_address[] = {"ZscopeMemoryByAddress", "ZscopeStallSampling",
                                                "EuStallSampling"};

static bool is_of(const struct zs_profiles *t, const struct zs_profile *p,
                  const struct zs_metric_place *place)
{
    if (strcmp(place->kernel, p->name) != 0)
        return false;
    const struct zs_record_build *build =
        zs_recording_find_build(t->recording, place->process, place->build, place->seen_ns);
    return build && build->module == p->module_index;
}

/* Of a group that says where the report is. */
static bool is_sampled(const struct zs_metric_group *group)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(groups_by_address); i++)
        if (!strcmp(group->name, groups_by_address[i]))
            return true;
    return false;
}

/* UINT32_MAX: none begins there. */
static uint32_t inst_at(const struct zs_profile *p, int64_t offset_B)
{
    uint32_t low = 0, high = p->inst_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)zs_isa_inst_offset(p->code->isa, middle) < offset_B)
            low = middle + 1;
        else
            high = middle;
    }
    bool begins = low < p->inst_count && (int64_t)zs_isa_inst_offset(p->code->isa, low) == offset_B;
    return begins ? low : UINT32_MAX;
}

double *analysis_sampled(struct zs_rank_analysis *a, const struct zs_profile *p, const char *name)
{
    const struct zs_profiles *t = a->profiles;
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    const struct zs_metric_group *groups;
    double *sums = NULL;
    uint32_t group_count, some = 0;
    if (!t->recorded || !p->insts)
        return NULL;
    groups = zs_metrics_groups(t->recorded, &group_count);
    for (uint32_t g = 0; g < group_count; g++)
        some += is_sampled(&groups[g]) && zs_metric_find(&groups[g], name) != ZS_METRICS_NONE;
    struct zs_metrics_cursor *cursor = some ? zs_metrics_cursor_open(t->recorded) : NULL;
    while (cursor && zs_metrics_next(cursor, &launch, &report) > 0) {
        const struct zs_metric_group *group = report ? &groups[report->group] : NULL;
        uint32_t metric =
            group && is_sampled(group) ? zs_metric_find(group, name) : ZS_METRICS_NONE;
        struct zs_metric_place place;
        if (metric == ZS_METRICS_NONE || !zs_metrics_place(t->recorded, report, &place) ||
            !is_of(t, p, &place))
            continue;
        if (!sums && !(sums = ZS_ARENA_ARRAY(&a->arena, p->inst_count, double)))
            break;
        uint32_t at = inst_at(p, place.offset_B);
        if (at != UINT32_MAX)
            sums[at] += zs_metrics_number(t->recorded, report, metric);
    }
    zs_metrics_cursor_close(cursor);
    return sums;
}
