/* SPDX-License-Identifier: MIT */
/*
 * Data ports, local memory, samplers, L3, LLC and memory. Caches are set-associative with the least
 * recently used line replaced; everything has a rate at which it takes work, and what comes earlier
 * is served earlier: messages come in the order of device time.
 */
#include "gpu/timing/timing_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { FRACTION = 256, LINES_LEAST = 1024, RESPONSE_UNIT_B = 32 };
#define DIRTY (UINT64_C(1) << 63)

/* ---- caches ------------------------------------------------------------------------------------
 */

static int cache_init(struct zs_timing_cache *c, uint64_t size_B, uint32_t ways)
{
    uint64_t sets = size_B && ways ? size_B / ZS_PORT_LINE_B / ways : 0;
    *c = (struct zs_timing_cache){.ways = ways};
    if (!sets)
        return 0;
    c->set_count = 1;
    while (c->set_count * 2ull <= sets)
        c->set_count *= 2;
    c->line_capacity = LINES_LEAST;
    c->table_size = 2 * LINES_LEAST;
    c->sets = calloc(c->set_count, sizeof(*c->sets));
    c->lines = malloc((c->line_capacity + 1u) * sizeof(*c->lines));
    c->table = calloc(c->table_size, sizeof(*c->table));
    if (!c->sets || !c->lines || !c->table)
        return -ENOMEM;
    c->lines[0] = (struct zs_timing_line){.tag = ~DIRTY}; /* none: no line is called so */
    return 0;
}

static void cache_fini(struct zs_timing_cache *c)
{
    free(c->sets);
    free(c->lines);
    free(c->table);
}

/* Pages lie anywhere in physical memory; lines of a page are neighbours. */
static uint32_t set_of(const struct zs_timing_cache *c, uint64_t line)
{
    uint64_t page = (line >> 6) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(line ^ page >> 40) & (c->set_count - 1);
}

static uint32_t place_of(const struct zs_timing_cache *c, uint64_t line)
{
    return (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (c->table_size - 1);
}

/* Where the line's number is in the table, or the free place for it. */
static uint32_t find_line(const struct zs_timing_cache *c, uint64_t line)
{
    uint32_t at = place_of(c, line);
    while (c->table[at] && (c->lines[c->table[at]].tag & ~DIRTY) != line)
        at = (at + 1) & (c->table_size - 1);
    return at;
}

static bool cache_grow(struct zs_timing_cache *c)
{
    uint32_t capacity = 4 * c->line_capacity;
    struct zs_timing_line *lines = realloc(c->lines, (capacity + 1u) * sizeof(*lines));
    c->lines = lines ? lines : c->lines;
    uint32_t *table = lines ? calloc(2u * capacity, sizeof(*table)) : NULL;
    if (!table)
        return false;
    free(c->table);
    c->table = table;
    c->table_size = 2 * capacity;
    c->line_capacity = capacity;
    for (uint32_t i = 1; i <= c->line_count; i++)
        table[find_line(c, lines[i].tag & ~DIRTY)] = i;
    return true;
}

/* Those behind it move up, so that none is behind a free place. */
static void forget_line(struct zs_timing_cache *c, uint64_t line)
{
    uint32_t mask = c->table_size - 1, hole = find_line(c, line);
    for (uint32_t at = (hole + 1) & mask; c->table[at]; at = (at + 1) & mask) {
        uint32_t home = place_of(c, c->lines[c->table[at]].tag & ~DIRTY);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        c->table[hole] = c->table[at];
        hole = at;
    }
    c->table[hole] = 0;
}

static void unlink_line(struct zs_timing_cache *c, uint32_t set, uint32_t number)
{
    const struct zs_timing_line *l = &c->lines[number];
    *(l->newer ? &c->lines[l->newer].older : &c->sets[set].newest) = l->older;
    *(l->older ? &c->lines[l->older].newer : &c->sets[set].oldest) = l->newer;
}

static void make_newest(struct zs_timing_cache *c, uint32_t set, uint32_t number)
{
    uint32_t second = c->sets[set].newest;
    c->lines[number].newer = 0;
    c->lines[number].older = second;
    *(second ? &c->lines[second].newer : &c->sets[set].oldest) = number;
    c->sets[set].newest = number;
}

/* A number for a line that the set takes in; 0: no memory. */
static uint32_t take_line(struct zs_timing_cache *c, uint32_t set, uint64_t *ret_written)
{
    if (c->sets[set].count < c->ways) {
        c->failed |= c->line_count == c->line_capacity && !cache_grow(c);
        if (c->failed)
            return 0;
        c->sets[set].count++;
        c->had_room = true;
        return ++c->line_count;
    }
    c->had_room = false;
    uint32_t oldest = c->sets[set].oldest;
    uint64_t tag = c->lines[oldest].tag;
    if (tag & DIRTY)
        *ret_written = (tag & ~DIRTY) + 1;
    forget_line(c, tag & ~DIRTY);
    unlink_line(c, set, oldest);
    return oldest;
}

static bool cache_find(struct zs_timing_cache *c, uint32_t set, uint64_t line, bool write,
                       uint64_t *ret_written)
{
    uint32_t number = c->table[find_line(c, line)];
    if (number) {
        c->lines[number].tag |= write ? DIRTY : 0;
        unlink_line(c, set, number);
        make_newest(c, set, number);
        return true;
    }
    number = take_line(c, set, ret_written);
    if (!number)
        return false;
    c->lines[number].tag = line | (write ? DIRTY : 0);
    make_newest(c, set, number);
    c->table[find_line(c, line)] = number;
    return false;
}

/* True: it was there. A line that had to go and was written comes back in *ret_written + 1. */
static inline bool cache_touch(struct zs_timing_cache *c, uint64_t line, bool write,
                               uint64_t *ret_written)
{
    *ret_written = 0;
    if (!c->set_count)
        return false;
    uint32_t set = set_of(c, line), number = c->sets[set].newest;
    if ((c->lines[number].tag & ~DIRTY) != line)
        return cache_find(c, set, line, write, ret_written);
    c->lines[number].tag |= write ? DIRTY : 0; /* mostly */
    return true;
}

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

int zs_timing_hierarchy_init(struct zs_timing_hierarchy *h, const struct zs_gpu_model *model,
                             const struct zs_timing_params *p,
                             const struct zs_timing_census *census, struct zs_gpu_timing *totals)
{
    *h = (struct zs_timing_hierarchy){
        .params = p, .totals = totals, .slices = model->slices, .census = census};
    h->subslices = model->slices * model->subslices_per_slice;
    h->subslice = calloc(h->subslices, sizeof(*h->subslice));
    h->l3 = calloc(h->slices, sizeof(*h->l3));
    h->bank_free = calloc((size_t)h->slices * p->l3_banks, sizeof(*h->bank_free));
    int error = h->subslice && h->l3 && h->bank_free ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < h->subslices && !error; i++)
        error = cache_init(&h->subslice[i].sampler, p->sampler_cache_B, p->sampler_ways);
    for (uint32_t i = 0; i < h->subslices && !error; i++)
        error = cache_init(&h->subslice[i].l1, p->l1_B, p->l1_ways);
    for (uint32_t i = 0; i < h->slices && !error; i++)
        error = cache_init(&h->l3[i],
                           p->l3_way_B ? (uint64_t)p->l3_ways * p->l3_way_B
                                       : model->l3_cache_B / h->slices,
                           p->l3_ways);
    if (!error)
        error = cache_init(&h->llc, p->llc_B, p->llc_ways);
    h->l3_odds = calloc(census ? ZS_TIMING_RUNS : 1, sizeof(*h->l3_odds));
    h->llc_odds = calloc(census ? ZS_TIMING_RUNS : 1, sizeof(*h->llc_odds));
    error = error || (h->l3_odds && h->llc_odds) ? error : -ENOMEM;
    /* bytes per core clock, in 1/1000 */
    uint64_t memory_mB = (uint64_t)model->memory_clock_MHz * model->memory_bus_bits / 8 * 1000 /
                         model->core_clock_MHz * p->memory_percent / 100;
    h->memory_cost =
        (uint32_t)(ZS_PORT_LINE_B * FRACTION * UINT64_C(1000) / ZS_MAX(memory_mB, UINT64_C(1)));
    h->gti_read_cost = cost_of_line(p->gti_read_B);
    h->gti_write_cost = cost_of_line(p->gti_write_B);
    h->memory_latency = p->memory_latency_ns * model->core_clock_MHz / 1000;
    h->bank_mask = p->l3_banks - 1;
    h->port_shift = (int32_t)log2_of(p->port_B) - (int32_t)log2_of(ZS_PORT_LINE_B);
    h->response_shift = log2_of(ZS_MAX(p->response_B / RESPONSE_UNIT_B, 1u));
    zs_assert((p->l3_banks & h->bank_mask) == 0);
    return error;
}

void zs_timing_hierarchy_fini(struct zs_timing_hierarchy *h)
{
    for (uint32_t i = 0; i < h->subslices && h->subslice; i++) {
        cache_fini(&h->subslice[i].sampler);
        cache_fini(&h->subslice[i].l1);
    }
    for (uint32_t i = 0; i < h->slices && h->l3; i++)
        cache_fini(&h->l3[i]);
    cache_fini(&h->llc);
    free(h->subslice);
    free(h->l3);
    free(h->bank_free);
    free(h->l3_odds);
    free(h->llc_odds);
}

/* ---- what was not recorded ---------------------------------------------------------------------
 */

static double room_in(const struct zs_timing_cache *c)
{
    return (double)c->set_count * c->ways - c->line_count;
}

static __attribute__((noinline)) void know_runs(struct zs_timing_hierarchy *h, uint32_t until)
{
    double room = 0;
    for (uint32_t i = 0; i < h->slices; i++)
        room += room_in(&h->l3[i]);
    for (; h->runs_known <= until; h->runs_known++) {
        zs_timing_census_odds(h->census, h->runs_known, room, h->l3_odds[h->runs_known]);
        zs_timing_census_odds(h->census, h->runs_known, room_in(&h->llc),
                              h->llc_odds[h->runs_known]);
    }
}

/* The cache, which had room for the line, has it: what was not recorded brought it. */
static inline bool was_brought(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                               const struct zs_timing_cache *c, uint64_t line)
{
    if (!c->had_room || !h->census)
        return false;
    if (r->run >= h->runs_known)
        know_runs(h, r->run);
    bool brought = zs_timing_census_says((c == &h->llc ? h->llc_odds : h->l3_odds)[r->run], line);
    h->supposed += brought;
    return brought;
}

/* ---- beyond L3 ---------------------------------------------------------------------------------
 */

static uint32_t bank_of(const struct zs_timing_hierarchy *h, uint64_t line)
{
    return (uint32_t)(line ^ line >> 6) & h->bank_mask;
}

/* Something that serves one line at a time; when this one is through. */
static uint64_t serve(uint64_t *free_at, uint64_t cycle, uint32_t cost, uint64_t *busy, bool warm)
{
    *busy += cost;
    if (warm)
        return cycle;
    uint64_t start = ZS_MAX(*free_at, cycle * FRACTION);
    *free_at = start + cost;
    return *free_at / FRACTION;
}

static void memory_write(struct zs_timing_hierarchy *h, uint64_t cycle, bool warm)
{
    h->totals->memory_write_sectors++;
    (void)serve(&h->memory_free, cycle, h->memory_cost, &h->busy[ZS_TIMING_BUSY_MEMORY], warm);
}

/* A line that L3 gives up. */
static void write_back(struct zs_timing_hierarchy *h, uint64_t line, uint64_t cycle, bool warm)
{
    uint64_t written;
    h->writes[bank_of(h, line) % ZS_TIMING_BANKS]++;
    cycle = serve(&h->gti_write_free, cycle, h->gti_write_cost, &h->busy[ZS_TIMING_BUSY_GTI_WRITE],
                  warm);
    if (!h->llc.set_count) {
        memory_write(h, cycle, warm);
        return;
    }
    (void)cache_touch(&h->llc, line, true, &written);
    if (written)
        memory_write(h, cycle, warm);
}

/* L3 reads a line; when it has it, before L3's own latency. */
static uint64_t fetch(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                      uint64_t line, uint64_t cycle)
{
    bool warm = r->warm;
    uint64_t written = 0;
    h->reads[bank_of(h, line) % ZS_TIMING_BANKS]++;
    cycle =
        serve(&h->gti_read_free, cycle, h->gti_read_cost, &h->busy[ZS_TIMING_BUSY_GTI_READ], warm) +
        h->params->llc_latency;
    bool hit = cache_touch(&h->llc, line, false, &written);
    if (h->llc.set_count) {
        hit = hit || was_brought(h, r, &h->llc, line);
        r->accesses[ZS_GPU_ACCESS_llc_hits] += hit;
        r->accesses[ZS_GPU_ACCESS_llc_misses] += !hit;
    }
    if (written)
        memory_write(h, cycle, warm);
    if (hit)
        return cycle;
    r->accesses[ZS_GPU_ACCESS_memory_read_sectors]++;
    return serve(&h->memory_free, cycle, h->memory_cost, &h->busy[ZS_TIMING_BUSY_MEMORY], warm) +
           h->memory_latency;
}

/* ---- L3 ----------------------------------------------------------------------------------------
 */

/* All slices are one cache: lines are spread over them. */
static uint32_t slice_of(const struct zs_timing_hierarchy *h, uint64_t line)
{
    return h->slices == 1 ? 0 : (uint32_t)(line ^ line >> 9) % h->slices;
}

/* One lookup for a message that the port takes at `cycle`; when the line is there. Writes are kept
 * with a mask of their bytes: they read nothing. busy: cycles that the bank is taken. */
static inline __attribute__((always_inline)) uint64_t
look_up(struct zs_timing_hierarchy *h, const struct zs_timing_request *r, uint64_t line, bool write,
        uint64_t cycle, uint32_t busy, uint64_t *ret_bank_free, bool is_warm)
{
    uint32_t slice = slice_of(h, line), bank = bank_of(h, line);
    uint64_t written;
    h->bank_lookups[bank % ZS_TIMING_BANKS]++;
    h->lookups[write]++;
    h->busy[ZS_TIMING_BUSY_BANKS] += busy;
    if (!is_warm) {
        uint64_t *free_at = &h->bank_free[slice * h->params->l3_banks + bank];
        cycle = ZS_MAX(cycle, *free_at);
        *free_at = cycle + busy;
        *ret_bank_free = *free_at;
    }
    bool hit =
        cache_touch(&h->l3[slice], line, write, &written) || was_brought(h, r, &h->l3[slice], line);
    r->accesses[ZS_GPU_ACCESS_l3_hits] += hit;
    r->accesses[ZS_GPU_ACCESS_l3_misses] += !hit;
    if (written)
        write_back(h, written - 1, cycle, r->warm);
    return hit || write ? cycle + busy - 1 : fetch(h, r, line, cycle);
}

void zs_timing_hierarchy_busy(const struct zs_timing_hierarchy *h,
                              double ret_cycles[ZS_TIMING_BUSY])
{
    const double units[ZS_TIMING_BUSY] = {h->subslices, (double)h->slices * h->params->l3_banks,
                                          FRACTION, FRACTION, FRACTION};
    for (uint32_t i = 0; i < ZS_TIMING_BUSY; i++)
        ret_cycles[i] = (double)h->busy[i] / units[i];
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

double zs_timing_hierarchy_read_cost(const struct zs_timing_hierarchy *h)
{
    return (double)h->memory_cost / FRACTION;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* Cycles that the way back of a response takes: in the port's order, beside the way there. */
static uint32_t busy_with(const struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                          uint32_t cycles)
{
    uint32_t response = (r->response_grf + (1u << h->response_shift) - 1) >> h->response_shift;
    return ZS_MAX(cycles, response);
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
    uint32_t busy = ZS_MAX(r->event >> ZS_TIMING_EVENT_CYCLES & 255, 1u);
    bool atomic = r->event & ZS_TIMING_EVENT_ATOMIC, write = r->event & ZS_TIMING_EVENT_WRITE;
    h->totals->slm_reads += atomic || !write;
    h->totals->slm_writes += atomic || write;
    h->totals->slm_conflicted += (r->event >> ZS_TIMING_EVENT_CONFLICTS & 255) != 0;
    r->accesses[ZS_GPU_ACCESS_slm_cycles] += busy;
    r->accesses[ZS_GPU_ACCESS_slm_conflicts] += r->event >> ZS_TIMING_EVENT_CONFLICTS & 255;
    uint32_t port_busy = busy_with(h, r, busy);
    h->busy[ZS_TIMING_BUSY_PORTS] += port_busy;
    if (r->warm)
        return cycle;
    struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    uint64_t start = ZS_MAX(cycle, ss->port_free);
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
static inline __attribute__((always_inline)) uint64_t send_lines(struct zs_timing_hierarchy *h,
                                                                 const struct zs_timing_request *r,
                                                                 uint64_t cycle, bool is_warm)
{
    struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    bool atomic = r->event & ZS_TIMING_EVENT_ATOMIC, write = r->event & ZS_TIMING_EVENT_WRITE;
    uint32_t busy = atomic ? ZS_MAX(r->event >> ZS_TIMING_EVENT_CYCLES & 255, 1u) : 1;
    uint64_t done = cycle, start = is_warm ? cycle : ZS_MAX(cycle, ss->port_free), behind = 0;
    bool in_l1 =
        ss->l1.set_count && (r->event >> ZS_TIMING_EVENT_SPACE & 7) == ZS_PORT_SPACE_GLOBAL;
    uint32_t missed = r->line_count;
    for (uint32_t i = 0; i < r->line_count; i++) {
        uint64_t bank_free = 0, written;
        /* loads; stores and atomics go through it, and leave what is there as it is */
        if (in_l1 && !write && !atomic && cache_touch(&ss->l1, r->lines[i], false, &written)) {
            missed--;
            continue;
        }
        uint64_t at = look_up(h, r, r->lines[i], write || atomic, start, busy, &bank_free, is_warm);
        done = ZS_MAX(done, at + i);
        behind = ZS_MAX(behind, bank_free);
    }
    if (in_l1 && !write && !atomic) {
        r->accesses[ZS_GPU_ACCESS_l1_hits] += r->line_count - missed;
        r->accesses[ZS_GPU_ACCESS_l1_misses] += missed;
    }
    uint32_t lines = port_cycles(h, r->line_count), port_busy = busy_with(h, r, lines);
    h->busy[ZS_TIMING_BUSY_PORTS] += port_busy;
    if (is_warm)
        return cycle;
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
    uint64_t start = r->warm ? cycle : ZS_MAX(cycle, ss->sampler_free), done = start, written;
    r->accesses[ZS_GPU_ACCESS_sampler_sectors] += r->line_count;
    h->totals->sampler_busy += busy;
    uint64_t *const busy_of[] = {&h->totals->sampler_busy0, &h->totals->sampler_busy1,
                                 &h->totals->sampler_busy2};
    if (r->subslice < ZS_ARRAY_LEN(busy_of))
        *busy_of[r->subslice] += busy;
    for (uint32_t i = 0; i < r->line_count; i++) {
        uint64_t line = r->lines[i];
        bool hit = cache_touch(&ss->sampler, line, false, &written);
        r->accesses[ZS_GPU_ACCESS_sampler_hits] += hit;
        r->accesses[ZS_GPU_ACCESS_sampler_misses] += !hit;
        if (hit)
            continue;
        uint64_t bank_free;
        uint64_t at = look_up(h, r, line, false, start, 1, &bank_free, r->warm);
        done = ZS_MAX(done, at + i + h->params->sampler_l3_latency);
    }
    if (r->warm)
        return cycle;
    ss->sampler_free = start + busy_with(h, r, busy);
    return ZS_MAX(done, start + busy - 1) + h->params->sampler_latency;
}

uint64_t zs_timing_hierarchy_send(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                                  uint64_t cycle)
{
    uint32_t space = r->event >> ZS_TIMING_EVENT_SPACE & 7;
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
    return r->warm ? send_lines(h, r, cycle, true) : send_lines(h, r, cycle, false);
}

uint64_t zs_timing_hierarchy_accepts(const struct zs_timing_hierarchy *h,
                                     const struct zs_timing_request *r)
{
    const struct zs_timing_subslice *ss = &h->subslice[r->subslice];
    bool sampler = (r->event >> ZS_TIMING_EVENT_SPACE & 7) == ZS_PORT_SPACE_SAMPLER;
    return less(sampler ? ss->sampler_free : ss->port_free, h->params->port_queue);
}
