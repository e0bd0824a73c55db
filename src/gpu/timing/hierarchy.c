/* SPDX-License-Identifier: MIT */
/*
 * Data ports, local memory, samplers, L3, LLC and memory. Caches are set-associative with the least
 * recently used line replaced; everything has a rate at which it takes work, and what comes earlier
 * is served earlier: messages come in the order of device time.
 */
#include "gpu/timing/timing_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { FRACTION = ZS_TIMING_COST_UNIT, RESPONSE_UNIT_B = 32 };

/* ---- set up ------------------------------------------------------------------------------------
 */

/* Of a power of two. */
static uint32_t log2_of(uint32_t value)
{
    zs_assert(value && (value & (value - 1)) == 0);
    return (uint32_t)__builtin_ctz(value);
}

static uint32_t cost_of_line(uint64_t B_per_cycle)
{
    return (uint32_t)(ZS_PORT_LINE_B * FRACTION / ZS_MAX(B_per_cycle, UINT64_C(1)));
}

int zs_timing_hierarchy_init(struct zs_timing_hierarchy *h, const struct zs_timing_trace *trace,
                             struct zs_gpu_timing *totals)
{
    const struct zs_timing_launch *launch = &trace->launch;
    const struct zs_gpu_model *model = launch->model;
    uint32_t share = trace->part.share;
    const struct zs_timing_params *p = launch->params;
    *h = (struct zs_timing_hierarchy){
        .params = p, .part = &trace->part, .totals = totals, .slices = model->slices};
    h->subslices = model->slices * model->subslices_per_slice / share;
    h->subslice = calloc(h->subslices, sizeof(*h->subslice));
    size_t banks = (size_t)h->slices * p->l3_banks;
    h->bank_free = calloc(4 * banks, sizeof(*h->bank_free));
    h->bank_busy = h->bank_free ? h->bank_free + banks : NULL;
    h->bank_atomics = h->bank_free ? h->bank_free + 2 * banks : NULL;
    h->bank_others = h->bank_free ? h->bank_free + 3 * banks : NULL;
    int error = h->subslice && h->bank_free ? 0 : -ENOMEM;
    if (!error)
        error = zs_timing_caches_get(launch->store, trace->part.reach, &h->caches);
    /* bytes per core clock, in 1/1000 */
    uint64_t memory_mB = (uint64_t)model->memory_clock_MHz * model->memory_bus_bits / 8 * 1000 /
                         model->core_clock_MHz * p->memory_percent / 100;
    h->memory_cost =
        (uint32_t)(ZS_PORT_LINE_B * FRACTION * UINT64_C(1000) / ZS_MAX(memory_mB, UINT64_C(1)));
    h->gti_read_cost = cost_of_line(p->gti_read_B * ZS_MAX(model->tiles, 1u));
    h->gti_write_cost = cost_of_line(p->gti_write_B * ZS_MAX(model->tiles, 1u));
    h->memory_latency = p->memory_latency_ns * model->core_clock_MHz / 1000;
    if (launch->without == ZS_TIMING_GAIN_misses)
        h->gti_read_cost = h->gti_write_cost = h->memory_cost = h->memory_latency = 0;
    h->beyond_latency = launch->without == ZS_TIMING_GAIN_misses ? 0 : p->llc_latency;
    /* each message stands for those that others send meanwhile */
    h->gti_read_cost *= share;
    h->gti_write_cost *= share;
    h->memory_cost *= share;
    h->bank_mask = p->l3_banks - 1;
    h->port_shift = (int32_t)log2_of(p->port_B) - (int32_t)log2_of(ZS_PORT_LINE_B);
    h->response_shift = log2_of(ZS_MAX(p->response_B / RESPONSE_UNIT_B, 1u));
    zs_assert((p->l3_banks & h->bank_mask) == 0);
    return error;
}

void zs_timing_hierarchy_fini(struct zs_timing_hierarchy *h, struct zs_timing_store *store)
{
    zs_timing_caches_put(store, h->caches);
    free(h->subslice);
    free(h->bank_free);
}

/* ---- beyond L3 ---------------------------------------------------------------------------------
 */

static uint32_t bank_of(const struct zs_timing_hierarchy *h, uint64_t line)
{
    return zs_timing_bank_of(h->bank_mask, line);
}

/* Something that serves one line at a time; when this one is through. Its queue is as long as what
 * messages until now left of work: one whose port is behind does not keep others waiting. */
static uint64_t serve(const struct zs_timing_hierarchy *h, uint64_t *free_at, uint64_t cycle,
                      uint32_t cost)
{
    *free_at = ZS_MAX(*free_at, h->now * FRACTION) + cost;
    return ZS_MAX(*free_at, cycle * FRACTION + cost) / FRACTION;
}

static void memory_write(struct zs_timing_hierarchy *h, uint64_t cycle)
{
    h->totals->memory_write_sectors++;
    h->busy.memory += h->memory_cost;
    (void)serve(h, &h->memory_free, cycle, h->memory_cost);
}

/* A line that L3 gives up. */
static void write_back(struct zs_timing_hierarchy *h, uint64_t line, uint64_t cycle)
{
    uint64_t written;
    h->writes[bank_of(h, line) % ZS_TIMING_BANKS]++;
    h->busy.gti_write += h->gti_write_cost;
    cycle = serve(h, &h->gti_write_free, cycle, h->gti_write_cost);
    if (!h->caches->llc.set_count) {
        memory_write(h, cycle);
        return;
    }
    (void)zs_timing_cache_touch(&h->caches->llc, line, true, &written);
    if (written)
        memory_write(h, cycle);
}

/* L3 reads a line; when it has it, before L3's own latency. */
static uint64_t fetch(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                      uint64_t line, uint64_t cycle)
{
    uint64_t written = 0;
    h->reads[bank_of(h, line) % ZS_TIMING_BANKS]++;
    h->busy.gti_read += h->gti_read_cost;
    cycle = serve(h, &h->gti_read_free, cycle, h->gti_read_cost) + h->beyond_latency;
    bool hit = zs_timing_cache_touch(&h->caches->llc, line, false, &written);
    if (h->caches->llc.set_count) {
        r->accesses[ZS_GPU_ACCESS_llc_hits] += hit;
        r->accesses[ZS_GPU_ACCESS_llc_misses] += !hit;
    }
    if (written)
        memory_write(h, cycle);
    if (hit)
        return cycle;
    r->accesses[ZS_GPU_ACCESS_memory_read_sectors]++;
    h->busy.memory += h->memory_cost;
    return serve(h, &h->memory_free, cycle, h->memory_cost) + h->memory_latency;
}

/* ---- L3 ----------------------------------------------------------------------------------------
 */

/* The lookup stands for those that subslices beside the part make meanwhile: of atomics as many at
 * this line as meet there, the rest at any bank. What this one takes; what it had to do for others
 * it has done, or has yet to do. */
static uint64_t serve_others(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                             uint64_t line, uint32_t place, uint32_t busy)
{
    bool meets = r->event & ZS_TIMING_EVENT_ATOMIC && zs_timing_is_shared(line);
    double times = meets ? zs_timing_part_meet(h->part, line) : 1;
    uint64_t due = (uint64_t)h->others - h->bank_others[place];
    h->others += busy * (h->part->share - times) * FRACTION / (h->slices * h->params->l3_banks);
    h->bank_others[place] += due;
    h->bank_busy[place] += due;
    h->bank_free[place] += due;
    return (uint64_t)(busy * times * FRACTION);
}

/* One lookup for a message that the port takes at `cycle`; when the line is there. Writes are kept
 * with a mask of their bytes: they read nothing. busy: cycles that the bank is taken. One more in
 * *hits when L3 has it. */
static inline __attribute__((always_inline)) uint64_t
look_up(struct zs_timing_hierarchy *h, const struct zs_timing_request *r, uint64_t line, bool write,
        uint64_t cycle, uint32_t busy, uint64_t *ret_bank_free, uint32_t *hits)
{
    uint32_t slice = zs_timing_slice_of(h->slices, line), bank = bank_of(h, line);
    uint32_t place = slice * h->params->l3_banks + bank;
    uint64_t written, *free_at = &h->bank_free[place], taken = (uint64_t)busy * FRACTION;
    if (h->part->share > 1)
        taken = serve_others(h, r, line, place, busy);
    h->bank_busy[place] += taken;
    h->bank_atomics[place] += r->event & ZS_TIMING_EVENT_ATOMIC ? taken : 0;
    h->bank_lookups[bank % ZS_TIMING_BANKS]++;
    cycle = ZS_MAX(cycle, *free_at / FRACTION);
    *free_at = ZS_MAX(*free_at, h->now * FRACTION) + taken;
    *ret_bank_free = *free_at / FRACTION;
    bool hit = zs_timing_cache_touch(&h->caches->l3[slice], line, write, &written);
    if (!hit && h->part->lines && zs_timing_is_shared(line)) {
        double odds;
        hit = !zs_timing_part_misses(h->part, line, r->step, &odds);
        *r->due += odds - !hit;
    }
    *hits += hit;
    if (written)
        write_back(h, written - 1, cycle);
    return hit || write ? cycle + busy - 1 : fetch(h, r, line, cycle);
}

/* So many lookups of a message. */
static inline void count_lookups(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                                 uint32_t lookups, uint32_t hits, bool write)
{
    h->lookups[write] += lookups;
    r->accesses[ZS_GPU_ACCESS_l3_hits] += hits;
    r->accesses[ZS_GPU_ACCESS_l3_misses] += lookups - hits;
}

uint64_t zs_timing_hierarchy_flush(struct zs_timing_hierarchy *h)
{
    uint64_t count = 0;
    for (uint32_t s = 0; s < h->slices; s++) {
        struct zs_timing_walk at = {0};
        while (zs_timing_cache_next(&h->caches->l3[s], &at)) {
            count += at.written;
            if (at.written && h->params->l3_flushed)
                write_back(h, at.line, 0);
        }
    }
    zs_timing_hierarchy_settle(h);
    return count;
}

static uint64_t lines_of(const struct zs_timing_cache *c)
{
    return (uint64_t)c->set_count * c->ways;
}

uint64_t zs_timing_hierarchy_keeps(const struct zs_timing_hierarchy *h)
{
    if (h->caches->llc.set_count)
        return lines_of(&h->caches->llc);
    return h->params->l3_flushed ? 0 : h->slices * lines_of(&h->caches->l3[0]);
}

static void add_banks(uint64_t counts[ZS_TIMING_BANKS], uint64_t *const totals[ZS_TIMING_BANKS])
{
    for (uint32_t i = 0; i < ZS_TIMING_BANKS; i++) {
        *totals[i] += counts[i];
        counts[i] = 0;
    }
}

void zs_timing_hierarchy_settle(struct zs_timing_hierarchy *h)
{
    struct zs_gpu_timing *t = h->totals;
    uint64_t *const lookups[] = {&t->l3_bank0, &t->l3_bank1, &t->l3_bank2, &t->l3_bank3};
    uint64_t *const reads[] = {&t->gti_read_bank0, &t->gti_read_bank1, &t->gti_read_bank2,
                               &t->gti_read_bank3};
    uint64_t *const writes[] = {&t->gti_write_bank0, &t->gti_write_bank1, &t->gti_write_bank2,
                                &t->gti_write_bank3};
    add_banks(h->bank_lookups, lookups);
    add_banks(h->reads, reads);
    add_banks(h->writes, writes);
    t->l3_reads += h->lookups[0];
    t->l3_writes += h->lookups[1];
    h->lookups[0] = h->lookups[1] = 0;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* Cycles that the way back of a response takes: in the port's order, beside the way there. */
static inline uint32_t busy_with(const struct zs_timing_hierarchy *h, uint32_t response_grf,
                                 uint32_t cycles)
{
    uint32_t response = (response_grf + (1u << h->response_shift) - 1) >> h->response_shift;
    return ZS_MAX(cycles, response);
}

/* A message to local memory is counted; cycles of it. */
static inline uint32_t count_slm(struct zs_timing_hierarchy *h, uint32_t event, uint64_t *accesses)
{
    uint32_t busy = ZS_MAX(event >> ZS_TIMING_EVENT_CYCLES & 255, 1u);
    uint32_t conflicts = event >> ZS_TIMING_EVENT_CONFLICTS & 255;
    uint32_t atomic = (event & ZS_TIMING_EVENT_ATOMIC) != 0;
    uint32_t write = (event & ZS_TIMING_EVENT_WRITE) != 0;
    h->totals->slm_reads += atomic | (write ^ 1);
    h->totals->slm_writes += atomic | write;
    h->totals->slm_conflicted += conflicts != 0;
    accesses[ZS_GPU_ACCESS_slm_cycles] += busy;
    accesses[ZS_GPU_ACCESS_slm_conflicts] += conflicts;
    return busy;
}

static uint64_t less(uint64_t cycle, uint64_t by)
{
    return cycle > by ? cycle - by : 0;
}

/* Queues are finite: when what they lead to is behind, the port waits. */
static uint64_t backlog(const struct zs_timing_hierarchy *h, uint64_t bank_free)
{
    const struct zs_timing_params *p = h->params;
    uint64_t beyond =
        ZS_MAX(ZS_MAX(h->gti_read_free, h->gti_write_free), h->memory_free) / FRACTION;
    return ZS_MAX(less(bank_free, p->bank_queue), less(beyond, p->miss_queue));
}

static uint64_t send_slm(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                         uint64_t cycle)
{
    uint32_t busy = count_slm(h, r->event, r->accesses);
    uint32_t port_busy = busy_with(h, r->response_grf, busy);
    struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    uint64_t start = ZS_MAX(cycle, ss->port_free);
    h->busy.slm += port_busy;
    h->busy.slm_atomics += r->event & ZS_TIMING_EVENT_ATOMIC ? port_busy : 0;
    ss->port_free = start + port_busy;
    return start + busy - 1 + h->params->slm_latency;
}

/* Of a port that takes so many lines. */
static uint32_t port_cycles(const struct zs_timing_hierarchy *h, uint32_t lines)
{
    if (h->port_shift < 0)
        return ZS_MAX(lines, 1u) << -h->port_shift;
    return ZS_MAX((lines + (1u << h->port_shift) - 1) >> h->port_shift, 1u);
}

/* Lines one after the other through the data port to L3. */
static uint64_t send_lines(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                           uint64_t cycle)
{
    struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    bool atomic = r->event & ZS_TIMING_EVENT_ATOMIC, write = r->event & ZS_TIMING_EVENT_WRITE;
    uint32_t busy = atomic ? ZS_MAX(r->event >> ZS_TIMING_EVENT_CYCLES & 255, 1u) : 1;
    uint64_t done = cycle, start = ZS_MAX(cycle, ss->port_free), behind = 0;
    struct zs_timing_cache *l1 = &h->caches->l1[r->subslice];
    uint32_t space = r->event >> ZS_TIMING_EVENT_SPACE & 7;
    bool in_l1 = l1->set_count && (space == ZS_PORT_SPACE_GLOBAL || space == ZS_PORT_SPACE_PAYLOAD);
    uint32_t missed = r->line_count, hits = 0;
    for (uint32_t i = 0; i < r->line_count; i++) {
        uint64_t bank_free = 0, written;
        /* loads; stores and atomics go through it, and leave what is there as it is */
        if (in_l1 && !write && !atomic && zs_timing_cache_touch(l1, r->lines[i], false, &written)) {
            missed--;
            continue;
        }
        uint64_t at = look_up(h, r, r->lines[i], write || atomic, start, busy, &bank_free, &hits);
        done = ZS_MAX(done, at + i);
        behind = ZS_MAX(behind, bank_free);
    }
    count_lookups(h, r, missed, hits, write || atomic);
    if (in_l1 && !write && !atomic) {
        r->accesses[ZS_GPU_ACCESS_l1_hits] += r->line_count - missed;
        r->accesses[ZS_GPU_ACCESS_l1_misses] += missed;
    }
    uint32_t lines = port_cycles(h, r->line_count),
             port_busy = busy_with(h, r->response_grf, lines);
    h->busy.port += port_busy;
    uint64_t through = start + port_busy, room = backlog(h, behind);
    ss->port_free = ZS_MAX(through, room);
    uint64_t *const stalled[] = {&h->totals->port_stalled0, &h->totals->port_stalled1,
                                 &h->totals->port_stalled2};
    if (r->subslice < ZS_ARRAY_LEN(stalled))
        *stalled[r->subslice] += ss->port_free - through;
    uint32_t latency = atomic                 ? h->params->atomic_latency
                       : in_l1 && missed == 0 ? h->params->l1_latency
                                              : h->params->l3_latency;
    return ZS_MAX(done, start + lines - 1) + latency;
}

static uint64_t send_sampler(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                             uint64_t cycle)
{
    struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    uint32_t texels = ZS_MAX(r->event >> ZS_TIMING_EVENT_TEXELS & 255, 1u);
    uint32_t busy = (texels + h->params->sampler_texels - 1) / h->params->sampler_texels;
    uint64_t start = ZS_MAX(cycle, ss->sampler_free), done = start, written;
    r->accesses[ZS_GPU_ACCESS_sampler_sectors] += r->line_count;
    h->totals->sampler_busy += busy;
    uint64_t *const busy_of[] = {&h->totals->sampler_busy0, &h->totals->sampler_busy1,
                                 &h->totals->sampler_busy2};
    if (r->subslice < ZS_ARRAY_LEN(busy_of))
        *busy_of[r->subslice] += busy;
    uint32_t misses = 0, hits = 0;
    for (uint32_t i = 0; i < r->line_count; i++) {
        uint64_t line = r->lines[i];
        bool hit = zs_timing_cache_touch(&h->caches->sampler[r->subslice], line, false, &written);
        if (hit)
            continue;
        uint64_t bank_free;
        uint64_t at = look_up(h, r, line, false, start, 1, &bank_free, &hits);
        misses++;
        done = ZS_MAX(done, at + i + h->params->sampler_l3_latency);
    }
    r->accesses[ZS_GPU_ACCESS_sampler_hits] += r->line_count - misses;
    r->accesses[ZS_GPU_ACCESS_sampler_misses] += misses;
    count_lookups(h, r, misses, hits, false);
    ss->sampler_free = start + busy_with(h, r->response_grf, busy);
    return ZS_MAX(done, start + busy - 1) + h->params->sampler_latency;
}

uint64_t zs_timing_hierarchy_send(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                                  uint64_t cycle)
{
    uint32_t space = r->event >> ZS_TIMING_EVENT_SPACE & 7;
    h->now = cycle;
    if (space == ZS_PORT_SPACE_SLM)
        return send_slm(h, r, cycle);
    if (space == ZS_PORT_SPACE_SAMPLER)
        return send_sampler(h, r, cycle);
    if (r->event & ZS_TIMING_EVENT_FENCE)
        return cycle + h->params->fence_latency;
    if (space == ZS_PORT_SPACE_GATEWAY || space == ZS_PORT_SPACE_NONE)
        return cycle + h->params->barrier_latency;
    r->accesses[space == ZS_PORT_SPACE_SCRATCH   ? ZS_GPU_ACCESS_scratch_sectors
                : space == ZS_PORT_SPACE_PAYLOAD ? ZS_GPU_ACCESS_argument_sectors
                : space == ZS_PORT_SPACE_TYPED   ? ZS_GPU_ACCESS_typed_sectors
                                                 : ZS_GPU_ACCESS_global_sectors] += r->line_count;
    return send_lines(h, r, cycle);
}

void zs_timing_hierarchy_keep(const struct zs_timing_hierarchy *h, uint32_t subslice, uint64_t line)
{
    uint64_t written;
    (void)zs_timing_cache_touch(&h->caches->l1[subslice], line, false, &written);
}

uint64_t zs_timing_hierarchy_accepts(const struct zs_timing_hierarchy *h,
                                     const struct zs_timing_request *r)
{
    const struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    bool sampler = (r->event >> ZS_TIMING_EVENT_SPACE & 7) == ZS_PORT_SPACE_SAMPLER;
    return less(sampler ? ss->sampler_free : ss->port_free, h->params->port_queue);
}
