/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is bound by, in one sentence. A unit that does most of what it can is the limit.
 * Where none does, too little is under way: the launch itself, too few groups, or threads that
 * wait; then what they wait for most is named. Without the model's numbers the roofline alone can
 * tell.
 */
#include "metrics/analysis_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Percent from which a unit is the limit, the launch is, EUs have work enough. */
enum { UNIT_LIMITS = 60, LAUNCH_LIMITS = 40, EUS_LOADED = 60 };
static const double BANKS_UNEVEN = 1.5;

enum unit {
#define UNIT(id, metric, text) UNIT_##id,
#define REASON(id, metric, text)
#include "metrics/limit.def"
#undef UNIT
#undef REASON
    UNITS
};
enum reason {
#define UNIT(id, metric, text)
#define REASON(id, metric, text) REASON_##id,
#include "metrics/limit.def"
#undef UNIT
#undef REASON
    REASONS
};
static const struct {
    const char *metric, *text;
} units[UNITS] =
    {
#define UNIT(id, metric, text) {"ZscopeGains." metric, text},
#define REASON(id, metric, text)
#include "metrics/limit.def"
#undef UNIT
#undef REASON
},
  reasons[REASONS] = {
#define UNIT(id, metric, text)
#define REASON(id, metric, text) {metric, text},
#include "metrics/limit.def"
#undef UNIT
#undef REASON
};
_Static_assert((int)UNITS <= ZS_LIMIT_PARTS && (int)REASONS <= ZS_LIMIT_PARTS, "there is room");

static int by_percent(const void *a, const void *b)
{
    const struct zs_limit_part *x = a, *y = b;
    return x->percent != y->percent ? (x->percent < y->percent ? 1 : -1)
                                    : strcmp(x->metric, y->metric);
}

/* Of what threads do, those with any, the most first. */
static void find_stalls(struct zs_rank_analysis *a, struct zs_limit *l, double of[REASONS])
{
    double all = 0;
    for (int r = 0; r < REASONS; r++) {
        of[r] = analysis_metric(a, reasons[r].metric);
        all += of[r] > 0 ? of[r] : 0;
    }
    for (int r = 0; r < REASONS; r++) {
        of[r] = all > 0 && of[r] > 0 ? 100 * of[r] / all : 0;
        if (of[r] > 0)
            l->stalls[l->stall_count++] =
                (struct zs_limit_part){reasons[r].metric, reasons[r].text, of[r]};
    }
    qsort(l->stalls, l->stall_count, sizeof(*l->stalls), by_percent);
}

/* What each does: what is told by a part of it is not told again. */
static void find_units(struct zs_rank_analysis *a, struct zs_limit *l)
{
    double of[UNITS];
    for (int u = 0; u < UNITS; u++)
        of[u] = analysis_metric(a, units[u].metric);
    double port = of[UNIT_PORT] + of[UNIT_SLM];
    of[of[UNIT_MATH] >= of[UNIT_FPU1] / 2 ? UNIT_FPU1 : UNIT_MATH] = 0;
    of[of[UNIT_SLM_ATOMICS] >= of[UNIT_SLM] / 2 ? UNIT_SLM : UNIT_SLM_ATOMICS] = 0;
    of[of[UNIT_L3_ATOMICS] >= of[UNIT_L3_BANK] / 2 ? UNIT_L3_BANK : UNIT_L3_ATOMICS] = 0;
    if (of[UNIT_L3_BANK] < of[UNIT_L3] * BANKS_UNEVEN)
        of[UNIT_L3_BANK] = 0;
    /* both go through the ports */
    int main = of[UNIT_PORT] >= fmax(of[UNIT_SLM], of[UNIT_SLM_ATOMICS]) ? UNIT_PORT
               : of[UNIT_SLM] > 0                                        ? UNIT_SLM
                                                                         : UNIT_SLM_ATOMICS;
    if (of[main] > 0)
        of[main] = fmin(port, 100);
    for (int u = 0; u < UNITS; u++)
        if (of[u] > 0)
            l->units[l->unit_count++] =
                (struct zs_limit_part){units[u].metric, units[u].text, of[u]};
    qsort(l->units, l->unit_count, sizeof(*l->units), by_percent);
}

static const char *latency_of_messages(struct zs_rank_analysis *a, const struct zs_profile *p)
{
    double miss = analysis_gain(a, "MissGain"), all = analysis_gain(a, "LatencyGain");
    const double *v = p->values;
    if (analysis_gain(a, "AtomicGain") > all / 2)
        return "latency of atomics";
    if (v[ZS_Q_SLM_MESSAGES] > v[ZS_Q_GLOBAL_MESSAGES] + v[ZS_Q_SCRATCH_MESSAGES] &&
        !(miss > all / 2))
        return "latency of local memory";
    return miss > all / 2 ? "latency of memory beyond L3" : "latency of L3";
}

/* What most of the threads that wait wait for. */
static void find_latency(struct zs_rank_analysis *a, const struct zs_profile *p,
                         const double of[REASONS], struct zs_limit *l)
{
    static const char *const texts[REASONS] = {[REASON_ACTIVE] = "too few threads",
                                               [REASON_PIPE] = "too few threads",
                                               [REASON_CONTROL] = "branches",
                                               [REASON_SEND] = "issue of messages",
                                               [REASON_DIST] = "latency of instructions",
                                               [REASON_SYNC] = "barriers",
                                               [REASON_FETCH] = "instruction fetch",
                                               [REASON_OTHER] = "dispatch of threads"};
    const struct zs_limit_part *top = l->unit_count ? &l->units[0] : NULL;
    int most = REASON_ACTIVE;
    for (int r = 0; r < REASONS; r++)
        most = of[r] > of[most] ? r : most;
    /* one thread has no more than one instruction at a time */
    bool few = l->occupancy < 50;
    if ((most == REASON_ACTIVE || most == REASON_PIPE) && !few) {
        l->by = top ? top->text : "issue of instructions";
        l->percent = top ? top->percent : (double)NAN;
        snprintf(l->text, sizeof(l->text), "%s: %.0f %% of what it can do", l->by, l->percent);
        return;
    }
    l->by = most == REASON_SBID ? latency_of_messages(a, p) : texts[most];
    l->percent = of[most];
    int used = snprintf(l->text, sizeof(l->text), "%s: threads %s %.0f %% of their time%s%s", l->by,
                        most == REASON_ACTIVE ? "issue" : "wait", l->percent,
                        most == REASON_ACTIVE ? "" : " for ",
                        most == REASON_ACTIVE ? "" : reasons[most].text);
    if (top)
        snprintf(l->text + used, sizeof(l->text) - (size_t)used, "; busiest is %s, at %.0f %%",
                 top->text, top->percent);
}

/* Without the model: what the roofline tells. */
static void find_by_roofline(const struct zs_judged *judged, struct zs_limit *l)
{
    const struct zs_roofline *r = &judged->roofline;
    double reached = 100 * r->rate / r->attainable, fill = judged->profile->values[ZS_Q_FILL];
    if (reached >= UNIT_LIMITS) {
        l->by = r->compute_ns >= r->memory_ns ? "issue of instructions" : "rate of memory";
        l->percent = fmin(reached, 100);
        snprintf(l->text, sizeof(l->text), "%s: %.0f %% of what the roof over it allows", l->by,
                 l->percent);
    } else if (fill < 100 - EUS_LOADED) {
        l->by = "too little work";
        l->percent = fill;
        snprintf(l->text, sizeof(l->text), "%s: a launch fills %.3g %% of the threads that fit",
                 l->by, fill);
    }
}

void find_limit(struct zs_rank_analysis *a, struct zs_judged *judged)
{
    struct zs_limit *l = &judged->limit;
    double of[REASONS], launch = analysis_metric(a, "ZscopeGains.LaunchBusy");
    double loaded = analysis_metric(a, "ZscopeGains.EuLoaded");
    *l = (struct zs_limit){.by = "", .percent = NAN};
    l->occupancy = analysis_metric(a, "EuThreadOccupancy");
    find_stalls(a, l, of);
    if (isnan(launch)) {
        find_by_roofline(judged, l);
        return;
    }
    find_units(a, l);
    if (l->unit_count && l->units[0].percent >= UNIT_LIMITS) {
        l->by = l->units[0].text;
        l->percent = l->units[0].percent;
        snprintf(l->text, sizeof(l->text), "%s: %.0f %% of what it can do", l->by, l->percent);
    } else if (launch >= LAUNCH_LIMITS) {
        l->by = "the launch itself";
        l->percent = launch;
        snprintf(l->text, sizeof(l->text), "%s: %.0f %% of the time goes by before threads begin",
                 l->by, launch);
    } else if (loaded < EUS_LOADED) {
        l->by = "too little work";
        l->percent = loaded;
        snprintf(l->text, sizeof(l->text), "%s: EUs have threads %.0f %% of the time", l->by,
                 loaded);
    } else {
        find_latency(a, judged->profile, of, l);
    }
}
