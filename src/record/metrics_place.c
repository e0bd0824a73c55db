/* SPDX-License-Identifier: MIT */
/* Which kernel the address of a report is in. */
#include "record/metrics_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kernels whose end is not known: what is farther away is something else. */
static const int64_t CODE_MAX_B = 64 << 20;

static int by_base(const void *a, const void *b)
{
    const struct zs_act_kernel *x = *(const struct zs_act_kernel *const *)a;
    const struct zs_act_kernel *y = *(const struct zs_act_kernel *const *)b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->base < y->base ? -1 : x->base > y->base;
}

int metrics_find_bases(struct zs_metrics *m)
{
    const struct zs_id_map *kernels = &m->activities.kernels;
    for (size_t i = 0; i < kernels->capacity; i++) {
        const struct zs_act_kernel *k = kernels->slots[i].value;
        if (k && !ZS_VEC_PUSH(&m->bases, k))
            return -ENOMEM;
    }
    if (m->bases.count)
        qsort(m->bases.items, m->bases.count, sizeof(*m->bases.items), by_base);
    return 0;
}

static bool is_near(const struct zs_act_kernel *k, uint64_t address, int64_t *ret_offset_B)
{
    *ret_offset_B = (int64_t)(address - k->base);
    return *ret_offset_B > -CODE_MAX_B && *ret_offset_B < CODE_MAX_B;
}

/* The kernel that begins right before the address. */
static const struct zs_act_kernel *before(const struct zs_metrics *m, uint64_t process,
                                          uint64_t address)
{
    size_t low = 0, high = m->bases.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct zs_act_kernel *k = m->bases.items[mid];
        if (k->process < process || (k->process == process && k->base <= address))
            low = mid + 1;
        else
            high = mid;
    }
    const struct zs_act_kernel *k = low ? m->bases.items[low - 1] : NULL;
    return k && k->process == process ? k : NULL;
}

/*
 * Intel's stall sampling reports addresses in units of 8 bytes, of which 29 bits are kept (NEO,
 * metric_ip_sampling_source.cpp): the low 32 bits of an address. The kernel is the one that begins
 * right before it, whatever stands above; *ret_address is the whole address then.
 */
static bool is_in_units_of_8(const struct zs_metric_group *group)
{
    return !strcmp(group->name, "EuStallSampling");
}

static const struct zs_act_kernel *before_low(const struct zs_metrics *m, uint64_t process,
                                              uint32_t units, uint64_t *ret_address)
{
    const struct zs_act_kernel *best = NULL;
    uint32_t least_B = UINT32_MAX;
    for (size_t i = 0; i < m->bases.count; i++) {
        const struct zs_act_kernel *k = m->bases.items[i];
        uint32_t away_B = (units << 3) - (uint32_t)k->base;
        if (!k->base || k->process != process || away_B >= least_B)
            continue;
        best = k;
        least_B = away_B;
    }
    *ret_address = best ? best->base + least_B : 0;
    return best;
}

/* A launch's own kernel, of which several objects may be: functions that it calls may stand before
 * its code. Where nobody knows its address places are offsets. */
static const struct zs_act_kernel *
of_launch(const struct zs_metrics *m, const struct zs_metric_launch *launch, uint64_t address)
{
    const struct zs_act_kernel *best = NULL;
    uint64_t least_B = UINT64_MAX;
    for (size_t i = 0; i < m->bases.count; i++) {
        const struct zs_act_kernel *k = m->bases.items[i];
        uint64_t away_B = address >= k->base ? address - k->base : k->base - address;
        if (k->process != launch->process || k->build != launch->build || away_B >= least_B ||
            strcmp(k->name, launch->kernel) != 0)
            continue;
        best = k;
        least_B = away_B;
    }
    return best;
}

bool zs_metrics_place(const struct zs_metrics *m, const struct zs_metric_report *report,
                      struct zs_metric_place *ret)
{
    const struct zs_metric_group *group = &m->groups.items[report->group];
    uint32_t ip = 0;
    while (ip < group->metric_count && group->metrics[ip].type != METRICS_IP)
        ip++;
    if (ip == group->metric_count || report->run != 1)
        return false;
    uint64_t address = report->values[ip].u64;
    const struct zs_act_kernel *k;
    if (is_in_units_of_8(group))
        k = before_low(m, report->process, (uint32_t)address, &address);
    else if (group->is_time_based)
        k = before(m, report->process, address);
    else
        k = of_launch(m, report->launch, address);
    int64_t offset_B;
    if (!k || k->is_rewritten || !is_near(k, address, &offset_B))
        return false;
    *ret = (struct zs_metric_place){.kernel = k->name,
                                    .process = k->process,
                                    .build = k->build,
                                    .seen_ns = k->time_ns,
                                    .offset_B = offset_B};
    return true;
}
