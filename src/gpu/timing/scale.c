/* SPDX-License-Identifier: MIT */
/*
 * What a replay says about its launch. A launch of which all was recorded is replayed whole, and
 * what was counted is what it did. Of others whole waves of groups are (trace.c), and how often
 * each instruction was executed is known of all of it. So the replay has three phases: its
 * beginning, until as many groups have ended as the device holds; what goes on evenly; the end, in
 * which no more groups begin. What was not replayed is as the even phase: of each instruction as
 * many more as were executed, with the thread cycles that one took, and of time as many more as of
 * thread cycles. What comes right behind groups that were left out counts for nothing: caches are
 * colder there than they were in the launch.
 *
 * How far that may be off follows from the replay, too. What is neither the first wave nor the end
 * is cut into slices of equally many instructions. Their paces differ; the mean of all is off by
 * what is expected of so many that differ so much, at 95 % (Student). Slices next to each other are
 * alike: so the same is asked of batches of two, four ... neighbours, and the largest answer counts
 * (batch means, Law and Carson 1979).
 */
#include "gpu/timing/replay.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCHES_LEAST = 8, /* of several slices each */
    SLICES_LEAST = 4,
};

#define AT(id) offsetof(struct zs_gpu_timing, id)
/* What grows as time does: the first WITH_TIME of them; the others as what pipes do. */
static const size_t by_work[] = {
    AT(eu_loaded),     AT(port_stalled0),   AT(port_stalled1), AT(port_stalled2),
    AT(eu_active),     AT(fpu0_active),     AT(fpu1_active),   AT(fpu_both_active),
    AT(fpu0_move),     AT(fpu1_move),       AT(fpu0_binary),   AT(fpu1_binary),
    AT(fpu0_ternary),  AT(fpu1_ternary),    AT(math_active),   AT(send_active),
    AT(xmx_active),    AT(control_issued),  AT(dispatching0),  AT(dispatching1),
    AT(dispatching2),  AT(fpu0_xmx_active), AT(half_active),   AT(single_active),
    AT(double_active), AT(int16_active),    AT(int32_active),  AT(int64_active),
    AT(xmx_int8),      AT(xmx_half),        AT(xmx_bfloat),    AT(xmx_other)};
enum { WITH_TIME = 4 };
/* What messages count besides enum zs_gpu_access, and which of these (one or two) grow as it does.
 */
enum { OF_SAMPLER, OF_SLM, OF_L3, OF_FETCHED, OF_LOADS, OF_STORES, KINDS };
static const struct {
    uint16_t offset, kind;
} by_messages[] = {{AT(sampler_busy), OF_SAMPLER},
                   {AT(sampler_busy0), OF_SAMPLER},
                   {AT(sampler_busy1), OF_SAMPLER},
                   {AT(sampler_busy2), OF_SAMPLER},
                   {AT(slm_reads), OF_SLM},
                   {AT(slm_writes), OF_SLM},
                   {AT(slm_conflicted), OF_SLM},
                   {AT(l3_reads), OF_LOADS},
                   {AT(l3_writes), OF_STORES},
                   {AT(l3_bank0), OF_L3},
                   {AT(l3_bank1), OF_L3},
                   {AT(l3_bank2), OF_L3},
                   {AT(l3_bank3), OF_L3},
                   {AT(gti_read_bank0), OF_FETCHED},
                   {AT(gti_read_bank1), OF_FETCHED},
                   {AT(gti_read_bank2), OF_FETCHED},
                   {AT(gti_read_bank3), OF_FETCHED}};
/* Lines that leave L3, in the launch or as it ends: as many more as stores. */
static const size_t by_stores[] = {AT(gti_write_bank0), AT(gti_write_bank1), AT(gti_write_bank2),
                                   AT(gti_write_bank3), AT(memory_write_sectors)};
static const enum zs_gpu_access kinds[OF_LOADS][2] = {
    [OF_SAMPLER] = {ZS_GPU_ACCESS_sampler_sectors, ZS_GPU_ACCESS_sampler_sectors},
    [OF_SLM] = {ZS_GPU_ACCESS_slm_cycles, ZS_GPU_ACCESS_slm_cycles},
    [OF_L3] = {ZS_GPU_ACCESS_l3_hits, ZS_GPU_ACCESS_l3_misses},
    [OF_FETCHED] = {ZS_GPU_ACCESS_llc_hits, ZS_GPU_ACCESS_memory_read_sectors}};
/* What is the sum over instructions. */
static const size_t by_access[ZS_GPU_ACCESSES] = {
#define ZS_TIMING_ACCESS(id, text) AT(id),
#include "gpu/timing/access.def"
#undef ZS_TIMING_ACCESS
};
static const size_t by_reason[ZS_TIMING_REASONS] = {
    AT(thread_active), AT(thread_control), AT(thread_pipe),  AT(thread_send), AT(thread_dist),
    AT(thread_sbid),   AT(thread_sync),    AT(thread_other), AT(thread_fetch)};
#undef AT
enum {
#define ZS_TIMING_TOTAL(id, text) TOTAL_##id,
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
    TOTALS
};
_Static_assert(ZS_ARRAY_LEN(by_work) + ZS_ARRAY_LEN(by_messages) + ZS_ARRAY_LEN(by_stores) +
                       ZS_GPU_ACCESSES + ZS_TIMING_REASONS ==
                   TOTALS,
               "every total is scaled");

static double total_of(const struct zs_gpu_timing *t, size_t offset_B)
{
    return (double)*(const uint64_t *)(const void *)((const uint8_t *)t + offset_B);
}

static uint64_t rounded(double value)
{
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

/* ---- phases ------------------------------------------------------------------------------------
 */

/* What was begun belongs to the phase up to now. */
static void settle(struct zs_timing_machine *m, uint64_t cycle)
{
    struct zs_timing_phase *p = m->phase;
    struct zs_gpu_timing *t = &p->totals;
    for (uint32_t i = 0; i < m->eu_count; i++) {
        struct zs_timing_eu *eu = &m->eus[i];
        double from = eu->last < (double)cycle ? (double)cycle - eu->last : 0;
        p->active += from * eu->busy;
        p->both += from * eu->both;
        p->with_dpas += from * eu->with_dpas;
        eu->last += from;
        if (eu->live && eu->loaded_since < cycle) {
            t->eu_loaded += cycle - eu->loaded_since;
            eu->loaded_since = cycle;
        }
    }
    zs_timing_bursts_settle(&m->bursts, p->tallies, t);
    zs_timing_hierarchy_settle(&m->hierarchy);
    t->fpu0_active = t->fpu0_move + t->fpu0_binary + t->fpu0_ternary + t->half_active +
                     t->single_active + t->double_active;
    t->fpu1_active = t->fpu1_move + t->fpu1_binary + t->fpu1_ternary + t->int16_active +
                     t->int32_active + t->int64_active + t->math_active;
    t->xmx_active = t->xmx_int8 + t->xmx_half + t->xmx_bfloat + t->xmx_other;
    t->eu_active = rounded(p->active);
    t->fpu_both_active = rounded(p->both);
    t->fpu0_xmx_active = rounded(p->with_dpas);
    p->cycles += cycle - ZS_MIN(cycle, m->phase_cycle);
    m->phase_cycle = ZS_MAX(cycle, m->phase_cycle);
}

void zs_timing_begin_phase(struct zs_timing_machine *m, uint32_t phase, uint64_t cycle)
{
    settle(m, cycle);
    m->phase = &m->phases[phase];
    m->hierarchy.totals = &m->phase->totals;
}

void zs_timing_begin_slice(struct zs_timing_machine *m, uint64_t cycle)
{
    m->slice_issue = m->issues;
    m->slice_cycle = cycle;
    m->next_slice = m->issues + m->slice_length;
}

void zs_timing_end_slice(struct zs_timing_machine *m, uint64_t cycle)
{
    if (m->slice_count < ZS_TIMING_SLICES)
        m->slices[m->slice_count++] =
            (struct zs_timing_slice){m->issues - m->slice_issue, cycle - m->slice_cycle};
    zs_timing_begin_slice(m, cycle);
}

/* ---- how far off -------------------------------------------------------------------------------
 */

/* Student's t: the mean of so many more than one is closer than so many standard errors, at 95 %.
 */
static double student(uint32_t freedom)
{
    static const double t[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    return freedom <= ZS_ARRAY_LEN(t) ? t[freedom - 1] : 1.96 + 2.5 / freedom;
}

static double pace_of(const struct zs_timing_slice *slices, uint32_t count)
{
    uint64_t issues = 0, cycles = 0;
    for (uint32_t i = 0; i < count; i++) {
        issues += slices[i].issues;
        cycles += slices[i].cycles;
    }
    return issues ? (double)cycles / (double)issues : 0;
}

/* ... of the mean pace, as a part of it, by batches of so many. */
static double doubt_of_batches(const struct zs_timing_machine *m, uint32_t size)
{
    uint32_t count = m->slice_count / size;
    double mean = pace_of(m->slices, count * size), sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        double apart = pace_of(m->slices + i * size, size) - mean;
        sum += apart * apart;
    }
    return mean > 0 ? student(count - 1) * sqrt(sum / (count - 1) / count) / mean : 1;
}

static double doubt_of(const struct zs_timing_machine *m)
{
    double doubt = m->slice_count < SLICES_LEAST ? 1 : doubt_of_batches(m, 1);
    for (uint32_t size = 2; m->slice_count / size >= BATCHES_LEAST; size *= 2)
        doubt = ZS_MAX(doubt, doubt_of_batches(m, size));
    return doubt;
}

/* ---- the launch --------------------------------------------------------------------------------
 */

struct scale {
    const struct zs_timing_machine *m;
    const uint64_t *executions; /* NULL: not known */
    double parts;               /* so many did what was replayed, each with groups of its own */
    double left_all;            /* instructions that these did not, as a part of those replayed */
    double left, basis;         /* thread cycles: of the rest; of the basis */
    double work_left, work;     /* ... in which pipes worked */
    double cycles;              /* of the basis */
    double access_left[KINDS], access[KINDS]; /* by kind: of the rest; of the basis */
    double stores_all, stores; /* lookups by stores: of the launch; of all that was replayed */
};

static struct zs_timing_tally tally_of(const struct zs_timing_machine *m, size_t inst)
{
    struct zs_timing_tally sum = {0};
    for (uint32_t p = 0; p < ZS_TIMING_JOIN; p++) {
        const struct zs_timing_tally *t = m->phases[p].tallies ? &m->phases[p].tallies[inst] : &sum;
        if (t == &sum)
            continue;
        sum.issues += t->issues;
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            sum.stalls[r] += t->stalls[r];
    }
    return sum;
}

static uint64_t access_of(const struct zs_timing_machine *m, size_t at)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < ZS_TIMING_JOIN; p++)
        sum += m->phases[p].accesses ? m->phases[p].accesses[at] : 0;
    return sum;
}

/* The even phase's numbers of an instruction, or those of all where it was not seen in it. */
static bool is_even(const struct zs_timing_machine *m, size_t inst)
{
    const struct zs_timing_phase *even = &m->phases[ZS_TIMING_EVEN];
    return even->tallies && even->tallies[inst].issues;
}

static struct zs_timing_tally basis_of(const struct zs_timing_machine *m, size_t inst)
{
    return is_even(m, inst) ? m->phases[ZS_TIMING_EVEN].tallies[inst] : tally_of(m, inst);
}

static uint64_t basis_access(const struct zs_timing_machine *m, size_t inst, uint32_t access)
{
    size_t at = inst * ZS_GPU_ACCESSES + access;
    return is_even(m, inst) ? m->phases[ZS_TIMING_EVEN].accesses[at] : access_of(m, at);
}

/* How often the instruction was executed beyond what all parts did meanwhile, for each time in the
 * basis. */
static double times_left(const struct scale *s, size_t inst)
{
    double basis = (double)basis_of(s->m, inst).issues;
    double seen = (double)tally_of(s->m, inst).issues;
    double left =
        s->executions ? (double)s->executions[inst] - s->parts * seen : seen * s->left_all;
    return basis > 0 && (left > 0 || !is_even(s->m, inst)) ? left / basis : 0;
}

static double sum_of(const struct zs_timing_tally *t)
{
    double sum = 0;
    for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
        sum += (double)t->stalls[r];
    return sum;
}

/* An instruction's part in what grows how much. */
static void measure(struct scale *s, size_t inst)
{
    const struct zs_timing_machine *m = s->m;
    struct zs_timing_tally t = basis_of(m, inst);
    double times = times_left(s, inst), work = (double)t.stalls[ZS_TIMING_ACTIVE];
    double lookups = 0, seen = 0;
    bool even = is_even(m, inst) || !m->phases[ZS_TIMING_EVEN].cycles;
    s->left += times * sum_of(&t);
    s->work_left += times * work;
    s->basis += even ? sum_of(&t) : 0;
    s->work += even ? work : 0;
    for (uint32_t k = 0; k < OF_LOADS; k++) {
        double all = (double)basis_access(m, inst, kinds[k][0]);
        if (kinds[k][1] != kinds[k][0])
            all += (double)basis_access(m, inst, kinds[k][1]);
        s->access_left[k] += times * all;
        s->access[k] += even ? all : 0;
        lookups = k == OF_L3 ? all : lookups;
    }
    uint32_t kind = m->stores[inst] ? OF_STORES : OF_LOADS;
    s->access_left[kind] += times * lookups;
    s->access[kind] += even ? lookups : 0;
    for (uint32_t k = 0; k < 2 && m->stores[inst]; k++) {
        size_t at = inst * ZS_GPU_ACCESSES + kinds[OF_L3][k];
        seen += (double)access_of(m, at);
        s->stores += (double)access_of(m, at);
        if (m->phases[ZS_TIMING_JOIN].accesses)
            s->stores += (double)m->phases[ZS_TIMING_JOIN].accesses[at];
    }
    s->stores_all += m->stores[inst] ? s->parts * seen + times * lookups : 0;
}

static double part_of(double of, double all)
{
    return all > 0 ? of / all : 0;
}

/* A total of all phases, and of the basis so many times more. */
static void grow(const struct scale *s, struct zs_gpu_timing *t, size_t offset_B, double times)
{
    const struct zs_timing_machine *m = s->m;
    double all = 0;
    for (uint32_t p = 0; p < ZS_TIMING_JOIN; p++)
        all += total_of(&m->phases[p].totals, offset_B);
    bool even = m->phases[ZS_TIMING_EVEN].cycles;
    double basis = even ? total_of(&m->phases[ZS_TIMING_EVEN].totals, offset_B) : all;
    *zs_timing_total_at(t, offset_B) = rounded(s->parts * all + times * basis);
}

/* Of few rounds of groups all parts have EUs loaded as long as the one that is replayed, but for
 * the last group of that where others have one less. */
static void fill_loaded(const struct scale *s, struct zs_gpu_timing *t)
{
    const struct zs_timing_machine *m = s->m;
    double loaded = 0, share = m->part->share;
    double less = (double)m->group_count * (share - s->parts); /* parts that have one less */
    for (uint32_t p = 0; p < ZS_TIMING_JOIN; p++)
        loaded += (double)m->phases[p].totals.eu_loaded;
    if (!m->in_part && less > 0)
        t->eu_loaded = rounded(share * loaded - less * (double)m->alone);
}

static void fill_totals(const struct scale *s, double pace, struct zs_gpu_timing *t)
{
    const struct zs_timing_machine *m = s->m;
    double with_time = part_of(s->left, s->basis) * pace,
           with_work = part_of(s->work_left, s->work);
    double with_stores = part_of(s->stores_all, s->stores);
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_work); i++)
        grow(s, t, by_work[i], i < WITH_TIME ? with_time : with_work);
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_messages); i++) {
        uint32_t kind = by_messages[i].kind;
        grow(s, t, by_messages[i].offset, part_of(s->access_left[kind], s->access[kind]));
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_stores); i++) {
        double all = 0;
        for (uint32_t p = 0; p < ZS_TIMING_PHASES; p++)
            all += total_of(&m->phases[p].totals, by_stores[i]);
        *zs_timing_total_at(t, by_stores[i]) = rounded(all * with_stores);
    }
    fill_loaded(s, t);
    uint64_t threads = 0; /* one at least where an EU is loaded */
    for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
        threads += *zs_timing_total_at(t, by_reason[r]);
    t->eu_loaded = ZS_MIN(t->eu_loaded, t->cycles * m->eu_count * m->part->share);
    t->eu_loaded = ZS_MIN(t->eu_loaded, threads);
    t->eu_active = ZS_MIN(t->eu_active, t->eu_loaded);
    t->fpu_both_active = ZS_MIN(t->fpu_both_active, ZS_MIN(t->fpu0_active, t->fpu1_active));
    t->fpu0_xmx_active = ZS_MIN(t->fpu0_xmx_active, ZS_MIN(t->fpu0_active, t->xmx_active));
}

/* What was drawn, as often as was likely. */
static void fill_due(const struct scale *s, size_t inst, double times, uint64_t *n)
{
    double due = 0, basis = 0, missed = (double)n[ZS_GPU_ACCESS_l3_misses];
    for (uint32_t p = 0; p < ZS_TIMING_JOIN; p++)
        due += s->m->phases[p].due ? s->m->phases[p].due[inst] : 0;
    basis = is_even(s->m, inst) ? s->m->phases[ZS_TIMING_EVEN].due[inst] : due;
    due = s->parts * due + times * basis;
    due = ZS_MIN(ZS_MAX(due, -missed), (double)n[ZS_GPU_ACCESS_l3_hits]);
    n[ZS_GPU_ACCESS_l3_misses] = rounded(missed + due);
    n[ZS_GPU_ACCESS_l3_hits] -= n[ZS_GPU_ACCESS_l3_misses] - (uint64_t)missed;
    /* what was missed is fetched as what else was */
    static const enum zs_gpu_access fetched[] = {ZS_GPU_ACCESS_memory_read_sectors,
                                                 ZS_GPU_ACCESS_llc_misses, ZS_GPU_ACCESS_llc_hits};
    for (size_t i = 0; i < ZS_ARRAY_LEN(fetched); i++)
        n[fetched[i]] = rounded((double)n[fetched[i]] * (missed > 0 ? 1 + due / missed : 1));
    if (missed <= 0)
        n[ZS_GPU_ACCESS_memory_read_sectors] = rounded(due);
    if (missed <= 0 && s->m->params->llc_B)
        n[ZS_GPU_ACCESS_llc_misses] = rounded(due);
}

/* What messages did, so many times more: what was found and what was not are as they were. */
static void fill_accesses(const struct scale *s, size_t inst, double times,
                          struct zs_gpu_stalls *to, struct zs_gpu_timing *t)
{
    uint64_t *n = to->accesses;
    for (uint32_t a = 0; a < ZS_GPU_ACCESSES; a++) {
        double all = (double)access_of(s->m, inst * ZS_GPU_ACCESSES + a);
        n[a] = rounded(s->parts * all + times * (double)basis_access(s->m, inst, a));
    }
    fill_due(s, inst, times, n);
    /* each was rounded: what is fetched was missed */
    uint64_t missed = n[ZS_GPU_ACCESS_l3_misses], read = n[ZS_GPU_ACCESS_memory_read_sectors];
    n[ZS_GPU_ACCESS_memory_read_sectors] = read = ZS_MIN(read, missed);
    n[ZS_GPU_ACCESS_llc_misses] = ZS_MIN(n[ZS_GPU_ACCESS_llc_misses], read);
    n[ZS_GPU_ACCESS_llc_hits] = ZS_MIN(n[ZS_GPU_ACCESS_llc_hits], missed - read);
    for (uint32_t a = 0; a < ZS_GPU_ACCESSES; a++)
        *zs_timing_total_at(t, by_access[a]) += n[a];
}

static int fill_stalls(const struct scale *s, struct zs_gpu_timing *t)
{
    const struct zs_timing_machine *m = s->m;
    t->stalls = calloc((size_t)m->code->op_count + 1, sizeof(*t->stalls));
    if (!t->stalls)
        return -ENOMEM;
    for (size_t i = 0; i < m->code->op_count; i++) {
        struct zs_timing_tally all = tally_of(m, i), basis = basis_of(m, i);
        struct zs_gpu_stalls *to = &t->stalls[t->stall_count];
        double times = times_left(s, i);
        if (!all.issues && sum_of(&all) <= 0)
            continue;
        *to = (struct zs_gpu_stalls){.offset_B = m->code->offset_B[i]};
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++) {
            to->cycles[r] =
                rounded(s->parts * (double)all.stalls[r] + times * (double)basis.stalls[r]);
            to->estimated += to->cycles[r] - ZS_MIN(all.stalls[r], to->cycles[r]);
            *zs_timing_total_at(t, by_reason[r]) += to->cycles[r];
        }
        fill_accesses(s, i, times, to, t);
        t->stall_count++;
    }
    return 0;
}

/* The part that is replayed may fit into a cache that the launch does not fit into: of all that it
 * takes in, what it wrote is kept as likely as what it read. dirty: lines of L3 at the end. */
static void fill_written(const struct scale *s, uint64_t dirty, struct zs_gpu_timing *t)
{
    uint64_t *const banks[] = {&t->gti_write_bank0, &t->gti_write_bank1, &t->gti_write_bank2,
                               &t->gti_write_bank3};
    double room = (double)zs_timing_hierarchy_keeps(&s->m->hierarchy);
    double left = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(banks); i++)
        left += (double)*banks[i];
    bool flushed = s->m->params->l3_flushed;
    double grown = part_of(s->stores_all, s->stores);
    double lines = flushed ? left : left + (double)dirty * grown;
    double taken_in = lines + (double)t->memory_read_sectors;
    if (room <= 0 || taken_in <= room)
        return;
    double written = lines * (1 - room / taken_in);
    t->memory_write_sectors = ZS_MAX(t->memory_write_sectors, rounded(written));
    for (size_t i = 0; i < ZS_ARRAY_LEN(banks) && !flushed; i++)
        *banks[i] = rounded(part_of((double)*banks[i], left) * (double)t->memory_write_sectors +
                            (left > 0 ? 0 : written / 4));
}

/* Where threads' records ended before the threads did, what is left comes behind what was replayed:
 * the second half's pace, as a part of the mean. */
static double late_pace(const struct zs_timing_machine *m)
{
    uint32_t half = m->slice_count / 2;
    if (!m->cut || m->skips || !half)
        return 1;
    double all = pace_of(m->slices, m->slice_count);
    return all > 0 ? pace_of(m->slices + half, m->slice_count - half) / all : 1;
}

/* What was executed nowhere else counts, after all. Instructions that do. */
static uint64_t keep_joined(struct zs_timing_machine *m)
{
    struct zs_timing_phase *head = &m->phases[ZS_TIMING_HEAD], *join = &m->phases[ZS_TIMING_JOIN];
    uint64_t seen = 0;
    for (size_t i = 0; i < m->code->op_count; i++) {
        if (join->tallies && !tally_of(m, i).issues && join->tallies[i].issues) {
            head->tallies[i] = join->tallies[i];
            memcpy(head->accesses + i * ZS_GPU_ACCESSES, join->accesses + i * ZS_GPU_ACCESSES,
                   ZS_GPU_ACCESSES * sizeof(*head->accesses));
            head->due[i] = join->due[i];
        }
        seen += tally_of(m, i).issues;
    }
    return seen;
}

/* Where next to nothing went on evenly, what came behind groups that were left out is as good: of
 * so little nothing follows. */
static void join_even(struct zs_timing_machine *m)
{
    enum { LITTLE = 4 }; /* times less */
    struct zs_timing_phase *even = &m->phases[ZS_TIMING_EVEN], *join = &m->phases[ZS_TIMING_JOIN];
    if (!join->tallies || even->cycles >= join->cycles / LITTLE)
        return;
    for (size_t i = 0; i < m->code->op_count; i++) {
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            even->tallies[i].stalls[r] += join->tallies[i].stalls[r];
        even->tallies[i].issues += join->tallies[i].issues;
        even->due[i] += join->due[i];
        for (uint32_t a = 0; a < ZS_GPU_ACCESSES; a++)
            even->accesses[i * ZS_GPU_ACCESSES + a] += join->accesses[i * ZS_GPU_ACCESSES + a];
        memset(&join->tallies[i], 0, sizeof(join->tallies[i]));
        memset(&join->accesses[i * ZS_GPU_ACCESSES], 0, ZS_GPU_ACCESSES * sizeof(*join->accesses));
    }
#define ZS_TIMING_TOTAL(id, text) even->totals.id += join->totals.id;
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
    even->cycles += join->cycles;
    join->totals = (struct zs_gpu_timing){0};
    join->cycles = 0;
}

/* Cycles that dispatchers take at least for the groups that were not replayed, however little these
 * do. */
static double dispatched(const struct zs_timing_machine *m, uint64_t groups)
{
    double replayed = (double)(m->group_count - (m->skip_until - m->skip_from));
    double left = (double)groups - m->part->times * replayed;
    double threads = left > 0 ? left * m->threads_per_group : 0;
    return threads * (double)m->dispatch_cost / m->hierarchy.slices;
}

static int conclude(struct zs_timing_machine *m, uint64_t groups, uint64_t instructions,
                    const uint64_t *executions, struct zs_gpu_timing *t)
{
    uint64_t cycles = 0;
    settle(m, ZS_MAX(m->now, m->drained));
    uint64_t dirty = zs_timing_hierarchy_flush(&m->hierarchy);
    join_even(m);
    for (uint32_t i = 0; i < ZS_TIMING_JOIN; i++)
        cycles += m->phases[i].cycles;
    uint64_t even = m->phases[ZS_TIMING_EVEN].cycles;
    bool in_part = m->in_part || m->part->share > 1;
    struct scale s = {.m = m,
                      .executions = in_part ? executions : NULL,
                      .parts = m->part->times,
                      .cycles = (double)(even ? even : cycles)};
    uint64_t seen = keep_joined(m);
    if (in_part && instructions > m->issues)
        s.left_all = (double)instructions / (double)ZS_MAX(seen, UINT64_C(1)) - s.parts;
    for (size_t i = 0; i < m->code->op_count; i++)
        measure(&s, i);
    double pace = late_pace(m), share = m->part->share;
    double time_left = s.cycles * part_of(s.left / share, s.basis) * pace;
    time_left = s.left > 0 ? ZS_MAX(time_left, dispatched(m, groups)) : time_left;
    t->instructions = instructions;
    t->replayed = ZS_MIN(m->issues, instructions);
    t->cycles = m->params->launch_cycles + rounded((double)cycles + time_left);
    /* a hundredth is not promised, however even it was */
    double doubt = m->in_part ? time_left * doubt_of(m) : 0;
    doubt = share > 1    ? doubt + m->part->doubt * (double)t->cycles
            : s.left > 0 ? ZS_MAX(doubt, (double)t->cycles / 100)
                         : 0;
    t->doubt = ZS_MIN(rounded(doubt), t->cycles);
    int error = fill_stalls(&s, t);
    fill_totals(&s, pace, t);
    if (in_part)
        fill_written(&s, dirty, t);
    zs_timing_find_limits(m, groups, cycles + m->phases[ZS_TIMING_JOIN].cycles, t);
    return error;
}

int zs_timing_replay_once(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, struct zs_gpu_timing *ret_timing,
                          double *ret_balance)
{
    struct zs_timing_machine m;
    *ret_timing = (struct zs_gpu_timing){0};
    int error = zs_timing_machine_init(&m, trace);
    if (!error) {
        zs_timing_run(&m);
        error = m.failed
                    ? -ENOMEM
                    : conclude(&m, trace->launch.group_count, instructions, executions, ret_timing);
    }
    if (ret_balance)
        *ret_balance = m.spent_most ? (double)m.spent / (double)m.spent_most : 1;
    zs_timing_machine_fini(&m, trace->launch.store);
    ret_timing->modelled = error == 0;
    return error;
}

/* Of the whole launch, or of none of it. */
static const uint64_t *check_executions(const struct zs_timing_trace *trace,
                                        const uint64_t *executions, uint64_t instructions)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < trace->launch.code->op_count && executions; i++)
        sum += executions[i];
    return executions && sum == instructions && sum ? executions : NULL;
}

/* Groups that were left out may do more or less than those that were recorded: what a group costs
 * besides its instructions is another part of its time then. Cycles, if all of it went by groups.
 */
static uint64_t doubt_of_others(const struct zs_timing_trace *trace, uint64_t cycles)
{
    static const double ALIKE = 0.25; /* groups of random lengths differ by less */
    double left_out = (double)(trace->launch.group_count - trace->sampled), recorded = 0;
    for (uint64_t i = 0; i < trace->sampled * trace->launch.threads_per_group; i++)
        recorded += (double)trace->streams[i].executed;
    double rest = (double)trace->instructions - recorded;
    if (left_out <= 0 || rest <= 0)
        return 0;
    double times = rest / left_out / (recorded / (double)trace->sampled);
    double off = fmin(times < 1 ? 1 / times - 1 : times - 1, 1);
    return off < ALIKE ? 0 : rounded((double)cycles * rest / (double)trace->instructions * off);
}

int zs_timing_replay(struct zs_timing_trace *trace, uint64_t instructions,
                     const uint64_t *executions, const uint64_t *lanes,
                     struct zs_gpu_timing *ret_timing)
{
    int error = zs_timing_name_ranges(trace);
    trace->instructions = instructions;
    if (!error)
        error = zs_timing_part_choose(trace, &trace->part);
    if (error)
        return error;
    executions = check_executions(trace, executions, instructions);
    error = zs_timing_replay_once(trace, instructions, executions, ret_timing, NULL);
    if (!error)
        ret_timing->doubt = ZS_MIN(ret_timing->doubt + doubt_of_others(trace, ret_timing->cycles),
                                   ret_timing->cycles);
    if (!error && trace->launch.gains)
        zs_timing_find_gains(trace, instructions, executions, lanes, ret_timing);
    return error;
}
