/* SPDX-License-Identifier: MIT */
/* How busy each thing was that may limit a launch: of what was replayed, as a part of its time.
 * What was not replayed is taken to be as that. */
#include "gpu/timing/replay.h"

static uint64_t part(double busy, double replayed, const struct zs_gpu_timing *t)
{
    double share = replayed > 0 ? busy / replayed : 0;
    return (uint64_t)((share < 1 ? share : 1) * (double)t->cycles + 0.5);
}

/* Of banks of L3: the one that has most to do says what atomics at one place take. */
static void find_banks(const struct zs_timing_hierarchy *h, double replayed,
                       struct zs_gpu_timing *t)
{
    uint32_t banks = h->slices * h->params->l3_banks, most = 0;
    double all = 0, unit = ZS_TIMING_COST_UNIT;
    for (uint32_t i = 0; i < banks; i++) {
        all += (double)h->bank_busy[i];
        most = h->bank_busy[i] > h->bank_busy[most] ? i : most;
    }
    t->limit_l3 = part(all / unit / banks, replayed, t);
    t->limit_l3_bank = part((double)h->bank_busy[most] / unit, replayed, t);
    t->limit_l3_atomics = part((double)h->bank_atomics[most] / unit, replayed, t);
}

void zs_timing_find_limits(const struct zs_timing_machine *m, uint64_t groups, uint64_t cycles,
                           struct zs_gpu_timing *t)
{
    const struct zs_timing_hierarchy *h = &m->hierarchy;
    double replayed = (double)(cycles + m->params->launch_cycles),
           eus = (double)m->eu_count * m->part->share;
    double subslices = h->subslices, all = subslices * m->part->share, unit = ZS_TIMING_COST_UNIT;
    uint64_t dispatched = groups * m->threads_per_group * m->dispatch_cost / h->slices;
    t->limit_launch = m->params->launch_cycles;
    t->limit_dispatch = ZS_MIN(dispatched, t->cycles);
    t->limit_fpu0 = (uint64_t)((double)t->fpu0_active / eus);
    t->limit_fpu1 = (uint64_t)((double)t->fpu1_active / eus);
    t->limit_math = (uint64_t)((double)t->math_active / eus);
    t->limit_xmx = (uint64_t)((double)t->xmx_active / eus);
    t->limit_send = (uint64_t)((double)t->send_active / eus);
    t->limit_port = part((double)h->busy.port / subslices, replayed, t);
    t->limit_slm = part((double)h->busy.slm / subslices, replayed, t);
    t->limit_slm_atomics = part((double)h->busy.slm_atomics / subslices, replayed, t);
    t->limit_sampler = (uint64_t)((double)t->sampler_busy / all);
    t->limit_gti_read = part((double)h->busy.gti_read / unit, replayed, t);
    t->limit_gti_write = part((double)h->busy.gti_write / unit, replayed, t);
    t->limit_memory = part((double)h->busy.memory / unit, replayed, t);
    find_banks(h, replayed, t);
}
