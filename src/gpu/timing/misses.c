/* SPDX-License-Identifier: MIT */
/*
 * What messages did in the caches, of the whole launch. Most of it is as often as the messages
 * were. Misses are not: each of a launch's lines has one, whoever asks for it first, which grow as
 * the lines do; reuse.c knows how. Those of lines that had been there, and had to go,
 * are as often as messages. So, of an allocation: misses of what went through the caches, with
 * those that were supposed to be hits because others had missed; less its different lines: these
 * had been there.
 *
 * A cache that has no room for all of a launch's lines has none of those of long ago: misses are as
 * often as messages, but for those of the launch's first groups, which find less than others do.
 *
 * Scratch and private memory are a place's on the device: threads use the lines of those that were
 * there before them, and a longer launch has no more of them.
 */
#include "gpu/timing/replay.h"

#include <math.h>

/* A cache that has room for all but a few lines still has most of those of long ago. */
static const double NEARLY = 1.25;

static uint64_t rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

/* Of lines of which the launch has `times` as many, misses and those that were supposed to be none;
 * often: messages. By how much these misses grow. */
static double growth(double lines, double times, double misses, double supposed, double often)
{
    double sum = misses + supposed;
    double noise = lines > 0 ? 2 * sqrt(16 / lines) : 0; /* one line of 16 is counted */
    if (misses <= 0)
        return often;
    if (sum <= lines * (1 + noise))
        return times * sum / misses;
    return (times * lines + often * (sum - lines)) / misses;
}

/* ... `first` of which are of the launch's first groups alone. */
static double after_first(double first, double misses, double often)
{
    first = ZS_MIN(first, misses);
    return misses > 0 ? (often * (misses - first) + first) / misses : often;
}

enum { L3, FETCHED, MEMORY, KINDS };

static void count(const struct zs_timing_machine *m, uint32_t inst, double ret[KINDS])
{
    const uint64_t *a = m->accesses + (size_t)inst * ZS_GPU_ACCESSES;
    uint64_t llc = a[ZS_GPU_ACCESS_llc_hits] + a[ZS_GPU_ACCESS_llc_misses];
    ret[L3] = (double)a[ZS_GPU_ACCESS_l3_misses];
    ret[FETCHED] = (double)llc;
    ret[MEMORY] = (double)a[ZS_GPU_ACCESS_memory_read_sectors];
}

/* Places for threads that were used. */
static uint64_t places_of(const struct zs_timing_machine *m)
{
    return ZS_MIN(m->group_count * m->threads_per_group, (uint64_t)m->thread_count);
}

/* Of an allocation. */
struct misses {
    double misses[KINDS], wanted[KINDS]; /* wanted: as often as messages */
};

/* steps: of a run, whose lines a cache has room for; 0: it has for all of the launch's. */
static void grow(const struct zs_timing_machine *m, uint32_t class, const struct misses *c,
                 const uint32_t steps[KINDS], double all, struct zs_timing_growth *g)
{
    const struct zs_timing_hierarchy *h = &m->hierarchy;
    struct zs_timing_lines lines = zs_timing_reuse_lines(h->reuse, class);
    double unheard = m->seen > m->unheard ? (double)m->unheard / (double)(m->seen - m->unheard) : 0;
    double reads = (double)h->supposed_in[ZS_TIMING_SUPPOSED_L3_READS][class];
    const double supposed[KINDS] = {
        [L3] = (double)h->supposed_in[ZS_TIMING_SUPPOSED_L3][class],
        [FETCHED] = reads,
        [MEMORY] = reads + (double)h->supposed_in[ZS_TIMING_SUPPOSED_LLC][class]};
    double *const to[KINDS] = {&g->l3[class], &g->fetched[class], &g->memory[class]};
    double heard = 1 + unheard * lines.fresh; /* one of so many lines was */
    bool own = class == ZS_TIMING_RANGE_SCRATCH || class == ZS_TIMING_RANGE_PRIVATE;
    double own_lines = own ? zs_timing_reuse_own(h->reuse, class, places_of(m)) : 0;
    g->lines[class] = lines.recorded > 0 ? heard * lines.all / lines.recorded : own ? 1 : all;
    for (uint32_t k = 0; k < KINDS; k++) {
        double part = k == L3 ? 1 : lines.read, often = all;
        if (c->misses[k] > 0)
            often = c->wanted[k] / c->misses[k];
        if (own)
            *to[k] = growth(own_lines, 1, c->misses[k], 0, often);
        else if (!steps[k])
            *to[k] = growth(part * lines.recorded / heard, g->lines[class], c->misses[k],
                            supposed[k], often);
        else
            *to[k] = after_first(part * zs_timing_reuse_first(h->reuse, class, steps[k]),
                                 c->misses[k], often);
    }
}

void zs_timing_growth_of(const struct zs_timing_machine *m, const double *often, double all,
                         struct zs_timing_growth *ret)
{
    const struct zs_timing_hierarchy *h = &m->hierarchy;
    struct misses classes[ZS_TIMING_CLASSES] = {0};
    *ret = (struct zs_timing_growth){.known = h->reuse};
    for (uint32_t i = 0; i < ZS_TIMING_CLASSES; i++)
        ret->lines[i] = all;
    if (!h->reuse)
        return;
    double lines = 0, l3 = zs_timing_hierarchy_l3_lines(h), llc = zs_timing_hierarchy_llc_lines(h);
    for (uint32_t i = 0; i < ZS_TIMING_CLASSES; i++)
        lines += zs_timing_reuse_lines(h->reuse, i).all;
    lines /= NEARLY;
    uint32_t in_l3 = lines <= l3 ? 0 : ZS_MAX(zs_timing_reuse_steps(h->reuse, l3), 1u);
    uint32_t in_llc = lines <= llc ? 0 : ZS_MAX(zs_timing_reuse_steps(h->reuse, llc), 1u);
    const uint32_t steps[KINDS] = {
        [L3] = in_l3, [FETCHED] = in_l3, [MEMORY] = h->caches->llc.set_count ? in_llc : in_l3};
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        struct misses *c = &classes[zs_timing_reuse_class(h->reuse, i)];
        double counts[KINDS];
        count(m, i, counts);
        for (uint32_t k = 0; k < KINDS; k++) {
            c->misses[k] += counts[k];
            c->wanted[k] += counts[k] * often[i];
        }
    }
    for (uint32_t i = 0; i < ZS_TIMING_CLASSES; i++)
        grow(m, i, &classes[i], steps, all, ret);
}

void zs_timing_scale_accesses(const struct zs_timing_machine *m, const struct zs_timing_growth *g,
                              uint32_t inst, double often, uint64_t to[ZS_GPU_ACCESSES])
{
    const uint64_t *from = m->accesses + (size_t)inst * ZS_GPU_ACCESSES;
    for (uint32_t i = 0; i < ZS_GPU_ACCESSES; i++)
        to[i] = rounded((double)from[i] * often);
    if (!g->known)
        return;
    uint32_t class = zs_timing_reuse_class(m->hierarchy.reuse, inst);
    uint64_t looked = to[ZS_GPU_ACCESS_l3_hits] + to[ZS_GPU_ACCESS_l3_misses];
    double counts[KINDS];
    count(m, inst, counts);
    uint64_t misses = ZS_MIN(rounded(counts[L3] * g->l3[class]), looked);
    uint64_t fetched = ZS_MIN(rounded(counts[FETCHED] * g->fetched[class]), misses);
    uint64_t read = ZS_MIN(rounded(counts[MEMORY] * g->memory[class]), misses);
    to[ZS_GPU_ACCESS_l3_misses] = misses;
    to[ZS_GPU_ACCESS_l3_hits] = looked - misses;
    if (m->hierarchy.caches->llc.set_count) {
        read = ZS_MIN(read, fetched);
        to[ZS_GPU_ACCESS_llc_misses] = read;
        to[ZS_GPU_ACCESS_llc_hits] = fetched - read;
    }
    to[ZS_GPU_ACCESS_memory_read_sectors] = read;
}

static double lookups_in(const uint64_t accesses[ZS_GPU_ACCESSES])
{
    return (double)accesses[ZS_GPU_ACCESS_l3_hits] + (double)accesses[ZS_GPU_ACCESS_l3_misses];
}

void zs_timing_lookups_grown(const struct zs_timing_machine *m, const struct zs_gpu_timing *t,
                             double ret[2])
{
    double counted[2] = {0}, kept[2] = {0};
    for (uint32_t i = 0, at = 0; i < m->code->op_count; i++) {
        counted[m->stores[i]] += lookups_in(m->accesses + (size_t)i * ZS_GPU_ACCESSES);
        if (at < t->stall_count && t->stalls[at].offset_B == m->code->offset_B[i])
            kept[m->stores[i]] += lookups_in(t->stalls[at++].accesses);
    }
    for (uint32_t k = 0; k < 2; k++)
        ret[k] = counted[k] > 0 ? kept[k] / counted[k] : 1;
}
