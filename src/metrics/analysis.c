/* SPDX-License-Identifier: MIT */
#include "metrics/analysis_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct zs_rule zs_rules[ZS_RULES] = {
#define RULE(id, key, title, gain, advice) [ZS_RULE_##id] = {key, title, gain, advice},
#include "metrics/rules.def"
#undef RULE
};

double analysis_metric(struct zs_rank_analysis *a, const char *name)
{
    double value;
    const char *unit;
    char why[300];
    return zs_names_value(&a->names, name, &value, &unit, why, sizeof(why)) ? value : (double)NAN;
}

/* What orders findings: of ranges the middle. Of what causes of all kinds look like, one that saves
 * half of it is told first. */
static double weight(const struct zs_found *f)
{
    static const double BESIDE = 0.75; /* more groups help what is wrong with each, too */
    if (f->rule == ZS_RULE_unoptimised)
        return 100;
    double least = f->is_general ? 0 : f->is_choice ? f->gain : f->least;
    double part = f->rule == ZS_RULE_low_occupancy && !f->is_general ? BESIDE : 1;
    return isnan(f->gain) ? 0 : part * (least + f->gain) / 2;
}

/* By what mending saves, where that was measured; then by how much they are about. */
static int by_gain(const void *a, const void *b)
{
    const struct zs_found *x = a, *y = b;
    double left = weight(x), right = weight(y);
    if (left != right)
        return left < right ? 1 : -1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? 1 : -1;
    return (int)x->rule - (int)y->rule;
}

/* Threads begin one after the other, however little they do: only what needs fewer of them saves
 * that time. */
static double most_gain(struct zs_rank_analysis *a, enum zs_rule_id rule)
{
    double begins = analysis_metric(a, "ZscopeGains.DispatchBusy") +
                    analysis_metric(a, "ZscopeGains.LaunchBusy");
    bool fewer = rule == ZS_RULE_dispatch || rule == ZS_RULE_partial_threads ||
                 rule == ZS_RULE_redundant_loads;
    return fewer || isnan(begins) ? 100 : fmax(100 - begins, 0);
}

static int judge(struct zs_rank_analysis *a, const struct zs_profile *p, struct zs_judged *to)
{
    struct zs_found findings[ZS_RULES];
    struct rule_context c = {
        .analysis = a, .profile = p, .roofline = &to->roofline, .limit = &to->limit};
    struct zs_lane_access *accesses = p->is_counted ? zs_accesses(p) : NULL;
    uint8_t *line_kinds = p->is_counted ? find_line_kinds(a->profiles, p) : NULL;
    c.accesses = accesses;
    c.line_kinds = line_kinds;
    for (int r = 0; r < ZS_RULES; r++) {
        struct zs_found *f = &findings[to->finding_count];
        *f = (struct zs_found){
            .rule = (enum zs_rule_id)r, .gain = analysis_gain(a, zs_rules[r].gain), .least = NAN};
        c.missing = NULL;
        bool found = rule_functions[r](&c, f);
        f->gain = f->gain > most_gain(a, f->rule) ? most_gain(a, f->rule) : f->gain;
        f->least = f->least < f->gain ? f->least : f->gain;
        if (found)
            to->finding_count++;
        else
            to->not_judged[r] = c.missing;
    }
    free(accesses);
    free(line_kinds);
    to->findings = ZS_ARENA_ARRAY(&a->arena, to->finding_count, struct zs_found);
    if (!to->findings)
        return -ENOMEM;
    memcpy(to->findings, findings, to->finding_count * sizeof(*findings));
    if (to->finding_count)
        qsort(to->findings, to->finding_count, sizeof(*to->findings), by_gain);
    return 0;
}

bool zs_profiles_are_modelled(const struct zs_profiles *t)
{
    uint32_t count;
    const struct zs_record_device *devices = zs_recording_devices(t->recording, &count);
    const char *clock = zs_recording_info(t->recording)->clock;
    if (*clock && strcmp(clock, "device"))
        return true;
    for (uint32_t i = 0; i < count; i++) /* ... beside others */
        if (!strncmp(devices[i].driver_uuid, "7a6573636f7065", 14))
            return true;
    return false;
}

int zs_rank_analysis_make(const struct zs_profiles *t, struct zs_rank_analysis *ret_analysis)
{
    struct zs_rank_analysis *a = ret_analysis;
    *a = (struct zs_rank_analysis){.profiles = t};
    zs_names_init(&a->names, t);
    zs_arena_init(&a->arena, (size_t)1 << 30);
    a->kernels = ZS_ARENA_ARRAY(&a->arena, t->kernels.count, struct zs_judged);
    if (!a->kernels)
        return -ENOMEM;
    a->kernel_count = t->kernels.count;
    for (size_t i = 0; i < t->kernels.count; i++) {
        const struct zs_profile *p = t->kernels.items[i];
        int error = zs_names_select(&a->names, p);
        a->kernels[i].profile = p;
        roofline_make(a, p, &a->kernels[i]);
        find_limit(a, &a->kernels[i]);
        if (!error)
            error = judge(a, p, &a->kernels[i]);
        if (error)
            return error;
    }
    return 0;
}

void zs_rank_analysis_free(struct zs_rank_analysis *a)
{
    zs_names_fini(&a->names);
    zs_arena_fini(&a->arena);
    *a = (struct zs_rank_analysis){0};
}
