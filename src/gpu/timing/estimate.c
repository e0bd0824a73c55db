/* SPDX-License-Identifier: MIT */
/*
 * What a replay says about its launch. A launch whose recorded part is long is replayed in phases.
 * A phase goes on until the pace (cycles an instruction) of two successive windows of time agrees;
 * then a gap is left out (forward.c), which takes the mean of the paces before and behind it. Where
 * these differ gaps become shorter, down to none: what cannot be told from a part is replayed. What
 * was not recorded takes the mean of all.
 *
 * The launch's beginning counts as it is, and so does its end, where fewer and fewer threads are
 * left.
 */
#include "gpu/timing/replay.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BUDGET_LEAST = 32000; /* instructions that are replayed of any launch */
static const uint64_t WHOLE = 131072; /* launches of so few are replayed whole, if recorded whole */
enum {
    BUDGET_SHARE = 24,    /* of longer ones: one in so many */
    ROUNDS = 2,           /* barriers that a group passes in a phase, where they matter ... */
    ROUND_WINDOWS = 256,  /* ... unless they are so far apart */
    ROUNDS_OF_GROUPS = 2, /* so few groups: a window lasts from one barrier to the next */
    WAVES_GROUPS = 8,     /* launches of so many waves of groups have gaps of whole groups ... */
    WAVES_SHORT = 2,      /* ... of so many, when threads are shorter than: */
    SHORT_THREAD = 256,   /* instructions */
    WINDOW_CYCLES = 128,
    WINDOW_TURNS = 16, /* ... and so many instructions of each thread that is there */
    WAITS_WINDOWS = 4, /* times as long, where barriers matter */
    /* windows after a gap, in which the device finds its pace again, and one */
    GROUPS_SETTLING = 1,
    THREADS_SETTLING = 2,
    WINDOWS_MOST = 8, /* of a phase */
    /* While the threads that fit begin there is no pace, but where so many windows have been as the
     * one before them, of launches of so many waves of recorded groups. */
    ALIKE_WINDOWS = 2,
    FILL_WAVES = 6,
    FIRST_GAP = 6,    /* times the first phase */
    LONGER = 4,       /* times the gap before */
    STEADY = 2,       /* phases one after the other whose pace is the same: nearly all may go */
    BUDGETS_MOST = 4, /* then a launch is left less sure ... */
    GAPS_LAST = 4,    /* ... with so many more gaps */
    RUN_PHASES = 3,   /* of which something is known of a run of groups alone */
    FEW_LINES = 2,    /* of a message: a thread's say next to nothing of the caches */
};
static const double AGREE = 0.05;  /* of a pace: windows that agree */
static const double ALIKE = 0.015; /* ... so well that few of them are enough */
static const double FEW = 0.1;     /* of the mean of issues: an instruction that was hardly seen */
static const double SYNC_SHARE = 0.15; /* of thread cycles: barriers matter */
/* of the time that memory is busy: it begins to decide about the pace, and does alone */
static const double BUSY_SOME = 0.7, BUSY_FULL = 0.95;
static const double SLOWER_MOST = 2.5; /* times */
static const double SAME_PACE = 0.10;  /* ... phases that agree */
/* how far off it may be: */
static const double DOUBT_GAP = 0.05;         /* of a gap's time, at least */
static const double DOUBT_SLOWER = 0.3;       /* ... and of what it is slower or faster */
static const double DOUBT_END = 0.15;         /* ... where one pace stands for it */
static const double DOUBT_NO_GAP = 0.25;      /* ... where no phase had a pace */
static const double DOUBT_THINNED_FEW = 0.15; /* ... of recorded groups, what threads gave up that
                                               * touch few lines; of others all of it */
/* of a thread's time, where in a gap threads ended and others began */
static const double DOUBT_WAVE = 0.3;
static const double DOUBT_SUPPOSED = 0.15; /* ... of lookups whose line was supposed to be there */
static const double DOUBT_FITTED = 0.8; /* of all these: so 95 % of launches are no farther off */

/* What is scaled with the time. */
static const size_t by_time[] = {
#define AT(id) offsetof(struct zs_gpu_timing, id)
    AT(eu_loaded),     AT(port_stalled0),   AT(port_stalled1), AT(port_stalled2),
    AT(eu_active),     AT(fpu0_active),     AT(fpu1_active),   AT(fpu_both_active),
    AT(fpu0_move),     AT(fpu1_move),       AT(fpu0_binary),   AT(fpu1_binary),
    AT(fpu0_ternary),  AT(fpu1_ternary),    AT(math_active),   AT(send_active),
    AT(xmx_active),    AT(control_issued),  AT(dispatching0),  AT(dispatching1),
    AT(dispatching2),  AT(fpu0_xmx_active), AT(half_active),   AT(single_active),
    AT(double_active), AT(int16_active),    AT(int32_active),  AT(int64_active),
    AT(xmx_int8),      AT(xmx_half),        AT(xmx_bfloat),    AT(xmx_other)};
/* the first WITH_CYCLES of them grow as the cycles do, the others as what is done */
enum { FPU0 = 5, FPU1 = 6, WITH_CYCLES = 4 };
/* What messages count besides enum zs_gpu_access, and which of these (one or two) grow as it does.
 */
enum { OF_SAMPLER, OF_SLM, OF_L3, OF_FETCHED, OF_READ, KINDS };
enum { OF_LOADS = KINDS, OF_STORES, FACTORS }; /* lookups of L3: as zs_timing_lookups_grown() */
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
                   {AT(gti_read_bank3), OF_FETCHED},
                   {AT(gti_write_bank0), OF_STORES},
                   {AT(gti_write_bank1), OF_STORES},
                   {AT(gti_write_bank2), OF_STORES},
                   {AT(gti_write_bank3), OF_STORES},
                   {AT(memory_write_sectors), OF_STORES}};
static const enum zs_gpu_access kinds[KINDS][2] = {
    [OF_SAMPLER] = {ZS_GPU_ACCESS_sampler_sectors, ZS_GPU_ACCESS_sampler_sectors},
    [OF_SLM] = {ZS_GPU_ACCESS_slm_cycles, ZS_GPU_ACCESS_slm_cycles},
    [OF_L3] = {ZS_GPU_ACCESS_l3_hits, ZS_GPU_ACCESS_l3_misses},
    [OF_FETCHED] = {ZS_GPU_ACCESS_llc_hits, ZS_GPU_ACCESS_llc_misses},
    [OF_READ] = {ZS_GPU_ACCESS_memory_read_sectors, ZS_GPU_ACCESS_memory_read_sectors}};
/* What is the sum over instructions. */
static const size_t by_access[ZS_GPU_ACCESSES] = {
#define ZS_TIMING_ACCESS(id, text) AT(id),
#include "gpu/timing/access.def"
#undef ZS_TIMING_ACCESS
};
#undef AT
/* with those of threads all rows of total.def */
enum {
#define ZS_TIMING_TOTAL(id, text) TOTAL_##id,
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
    TOTALS
};
_Static_assert(ZS_ARRAY_LEN(by_time) + ZS_ARRAY_LEN(by_messages) + ZS_GPU_ACCESSES +
                       ZS_TIMING_REASONS ==
                   TOTALS,
               "every total is scaled");

enum { LINES_LOOKED_UP, LINES_FETCHED, LINES_READ, LINES };

struct part {
    double issues, cycles;
    double busy[ZS_TIMING_BUSY]; /* cycles of what messages need */
    double totals[ZS_ARRAY_LEN(by_time)];
    double *stalls;         /* as the machine's */
    double *lines;          /* by instruction: looked up in L3, fetched by it, read from memory */
    double *counts, *costs; /* by instruction: issues; thread cycles that these took, whole */
};

struct zs_timing_estimate {
    uint64_t recorded, budget;         /* instructions */
    double threads;                    /* of the launch */
    bool refilled;                     /* in a gap threads ended, and others began */
    bool exact, in_groups;             /* gaps are whole groups */
    bool sure;                         /* the last pace was found by windows that agree */
    uint32_t settling, windows;        /* of this phase: until it has a pace, then */
    uint32_t alike;                    /* windows until now that were as the one before them */
    double last_pace;                  /* of the window before */
    uint32_t phases, steady;           /* steady: the last ones, whose pace is the same */
    bool waits;                        /* much of the time goes by at barriers */
    uint64_t first_release, round;     /* of the phase; until that it has no pace */
    double longest;                    /* gap that is dared, in instructions */
    uint64_t first_issue, first_cycle; /* of this window */
    uint64_t phase_issue;              /* of this phase */
    double gap;                        /* instructions before this phase */
    double least_pace, most_pace;      /* of phases */
    double doubt_all;                  /* cycles: of what is as all phases are */
    bool gap_heard;                    /* it is known what its messages found: */
    double *gap_lines, *lines;         /* as a part's; until now */
    double busy[ZS_TIMING_BUSY];       /* until now */
    /* instructions left out that the next pace is for; the same times how much slower they are */
    double owed, owed_slower;
    double apart; /* of the last two paces, as a part of them */
    struct part window, before, phase;
    struct part gaps[ZS_TIMING_RUNS], all; /* gaps: what stands for them, by run */
    uint32_t phase_run;                    /* in which the phase was */
    uint32_t phases_of[ZS_TIMING_RUNS];    /* by run */
    bool has_phase, refills;               /* refills: groups were left behind the gap */
    uint32_t gap_groups;                   /* that were there before it */
    double gap_stalls;                     /* thread cycles that stand for the gaps */
    double variance;                       /* of the gaps' cycles, squared */
    double thinned; /* of recorded groups: instructions that were given up, as a part */
    double unrecorded[ZS_TIMING_RUNS]; /* instructions before a run */
};

static double pace_of(const struct part *p)
{
    return p->issues > 0 ? p->cycles / p->issues : 0;
}

static inline bool has_lines(const struct zs_timing_machine *m, size_t op)
{
    return m->code->ops[op].unit == ZS_TIMING_UNIT_SEND;
}

static bool is_work(size_t reason)
{
    return reason == ZS_TIMING_ACTIVE || reason == ZS_TIMING_CONTROL;
}

/* How much longer threads wait in a part that takes `slower` times as long. */
static double waits_of(const struct zs_timing_machine *m, const struct part *p, double slower)
{
    double work = 0, waits = 0;
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS && slower != 1; i++)
        *(is_work(i % ZS_TIMING_REASONS) ? &work : &waits) += p->stalls[i];
    return waits > 0 ? ZS_MAX(slower * (work + waits) - work, 0) / waits : 1;
}

/* `weight` times, of which each takes `slower` times as long: threads wait. */
static void add_slower(const struct zs_timing_machine *m, struct part *to, const struct part *from,
                       double weight, double slower)
{
    double waits = waits_of(m, from, slower);
    to->issues += weight * from->issues;
    to->cycles += weight * slower * from->cycles;
    for (uint32_t i = 0; i < ZS_TIMING_BUSY; i++)
        to->busy[i] += weight * from->busy[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        to->totals[i] += weight * (i < WITH_CYCLES ? slower : 1) * from->totals[i];
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS && slower == 1; i++)
        to->stalls[i] += weight * from->stalls[i];
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS && slower != 1; i++)
        to->stalls[i] += weight * (is_work(i % ZS_TIMING_REASONS) ? 1 : waits) * from->stalls[i];
    for (size_t i = 0; i < m->code->op_count; i++) {
        for (uint32_t k = 0; k < LINES && has_lines(m, i); k++)
            to->lines[i * LINES + k] += weight * from->lines[i * LINES + k];
    }
    for (size_t i = 0; i < m->code->op_count; i++) {
        to->counts[i] += weight * from->counts[i];
        to->costs[i] += weight * from->costs[i];
    }
}

static void add(const struct zs_timing_machine *m, struct part *to, const struct part *from,
                double weight)
{
    add_slower(m, to, from, weight, 1);
}

static void clear(const struct zs_timing_machine *m, struct part *p)
{
    memset(p->stalls, 0, (size_t)m->code->op_count * ZS_TIMING_REASONS * sizeof(*p->stalls));
    memset(p->counts, 0, m->code->op_count * sizeof(*p->counts));
    memset(p->costs, 0, m->code->op_count * sizeof(*p->costs));
    memset(p->lines, 0, m->code->op_count * LINES * sizeof(*p->lines));
    *p = (struct part){
        .stalls = p->stalls, .lines = p->lines, .counts = p->counts, .costs = p->costs};
}

static void swap(struct part *a, struct part *b)
{
    struct part was = *a;
    *a = *b;
    *b = was;
}

/* ... since the last time. */
static void take_busy(const struct zs_timing_machine *m, double ret_busy[ZS_TIMING_BUSY])
{
    double now[ZS_TIMING_BUSY], *was = m->estimate->busy;
    zs_timing_hierarchy_busy(&m->hierarchy, now);
    for (uint32_t i = 0; i < ZS_TIMING_BUSY; i++) {
        ret_busy[i] = now[i] - was[i];
        was[i] = now[i];
    }
}

static void take_lines(const struct zs_timing_machine *m, double *ret_lines)
{
    double *was = m->estimate->lines;
    for (size_t i = 0; i < m->code->op_count; i++) {
        if (!has_lines(m, i))
            continue;
        const uint64_t *a = m->accesses + i * ZS_GPU_ACCESSES;
        uint64_t read = a[ZS_GPU_ACCESS_memory_read_sectors];
        uint64_t llc = a[ZS_GPU_ACCESS_llc_hits] + a[ZS_GPU_ACCESS_llc_misses];
        const double now[LINES] = {(double)(a[ZS_GPU_ACCESS_l3_hits] + a[ZS_GPU_ACCESS_l3_misses]),
                                   (double)(llc ? llc : read), (double)read};
        for (uint32_t k = 0; k < LINES; k++) {
            ret_lines[i * LINES + k] = now[k] - was[i * LINES + k];
            was[i * LINES + k] = now[k];
        }
    }
}

/* What was counted since the last time. */
static void take(struct zs_timing_machine *m, struct part *p)
{
    struct zs_timing_estimate *e = m->estimate;
    zs_timing_settle(m);
    p->issues = (double)(m->issues - e->first_issue);
    p->cycles = (double)(ZS_MAX(m->frontier, e->first_cycle) - e->first_cycle);
    e->first_issue = m->issues;
    e->first_cycle = m->frontier;
    take_busy(m, p->busy);
    take_lines(m, p->lines);
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++) {
        uint64_t *total = zs_timing_total_at(m->totals, by_time[i]);
        p->totals[i] = (double)*total;
        *total = 0;
    }
    for (size_t i = 0; i < m->code->op_count; i++) {
        struct zs_timing_tally *tally = &m->tallies[i];
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            p->stalls[i * ZS_TIMING_REASONS + r] = (double)tally->stalls[r];
        p->counts[i] = (double)tally->issues;
        p->costs[i] = (double)tally->cost;
        *tally = (struct zs_timing_tally){0};
    }
}

/* By how much the lines of one kind that a part asks for would be more or less, had its messages
 * found in the caches what those of the gap found. */
static double found_less(const struct zs_timing_machine *m, const struct part *p, uint32_t kind)
{
    const double *gap = m->estimate->gap_lines;
    double was = 0, is = 0;
    for (size_t i = 0; i < (size_t)m->code->op_count * LINES; i += LINES) {
        was += p->lines[i + kind];
        is += gap[i] > 0 ? p->lines[i] * gap[i + kind] / gap[i] : p->lines[i + kind];
    }
    return was > 0 ? is / was : 1;
}

/* How much slower than a phase the gap beside it is, as its messages found less in the caches: as
 * far as what lies beyond L3 decides about the pace. */
static double slower_than(const struct zs_timing_machine *m, const struct part *phase)
{
    const double *busy = phase->busy;
    double all = phase->cycles, reads = 0;
    if (!m->estimate->gap_heard || all <= 0)
        return 1;
    for (size_t i = 0; i < m->code->op_count; i++)
        reads += phase->lines[i * LINES + LINES_READ];
    reads =
        ZS_MIN(reads * zs_timing_hierarchy_read_cost(&m->hierarchy), busy[ZS_TIMING_BUSY_MEMORY]);
    double before = ZS_MAX(busy[ZS_TIMING_BUSY_PORTS], busy[ZS_TIMING_BUSY_BANKS]);
    before = ZS_MAX(before, busy[ZS_TIMING_BUSY_GTI_WRITE]);
    before = ZS_MAX(before, ZS_MAX(phase->totals[FPU0], phase->totals[FPU1]) / m->eu_count) / all;
    double beyond = ZS_MAX(busy[ZS_TIMING_BUSY_GTI_READ], busy[ZS_TIMING_BUSY_MEMORY]) / all;
    double now =
        ZS_MAX(busy[ZS_TIMING_BUSY_GTI_READ] * found_less(m, phase, LINES_FETCHED),
               busy[ZS_TIMING_BUSY_MEMORY] + reads * (found_less(m, phase, LINES_READ) - 1)) /
        all;
    double bound = ZS_MIN(ZS_MAX((beyond - BUSY_SOME) / (BUSY_FULL - BUSY_SOME), 0), 1);
    double slower = (1 - bound) * ZS_MAX(1, now / BUSY_FULL) +
                    bound * ZS_MAX(now, before) / ZS_MAX(ZS_MAX(beyond, before), BUSY_SOME);
    return ZS_MIN(ZS_MAX(slower, 1 / SLOWER_MOST), SLOWER_MOST);
}

/* The phase stands for so many instructions besides its own, so much slower. */
static void close_phase(struct zs_timing_machine *m, double others, double slower)
{
    struct zs_timing_estimate *e = m->estimate;
    if (!e->has_phase)
        return;
    double issues = e->phase.issues, sum = e->owed + others;
    add(m, &e->all, &e->phase, 1);
    if (issues > 0 && sum > 0)
        add_slower(m, &e->gaps[e->phase_run], &e->phase, sum / issues,
                   (e->owed_slower + others * slower) / sum);
    e->owed = e->owed_slower = 0;
    e->has_phase = false;
}

/* A gap's pace lies about between those before and behind it; gaps do not know of each other. */
static void doubt_gap(struct zs_timing_estimate *e, double instructions, double before,
                      double behind, double least)
{
    double off = fabs(before - behind) / 2, pace = ZS_MAX(before, behind);
    off = instructions * ZS_MAX(off, least * pace);
    e->variance += off * off;
}

static double apart(double a, double b)
{
    return fabs(a - b) / ZS_MAX(ZS_MAX(a, b), 1e-9);
}

/* Instructions to leave out: more and more while paces agree, and no more than half of what is
 * left until they have for a while. */
static uint64_t next_gap(struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    double each = (double)(m->issues - e->phase_issue);
    double left = e->recorded > m->seen ? (double)(e->recorded - m->seen) : 0;
    if (e->phases == 1)
        e->longest = each * FIRST_GAP;
    else if (e->sure && e->apart <= SAME_PACE)
        e->longest *= e->apart <= SAME_PACE / 2 ? LONGER * LONGER : LONGER;
    else
        e->longest = ZS_MAX(e->longest / LONGER, each);
    if (m->issues > e->budget * BUDGETS_MOST) /* let it be less sure */
        e->longest = ZS_MAX(e->longest, left / GAPS_LAST);
    e->steady = e->sure && e->apart <= SAME_PACE / 2 ? e->steady + 1 : 0;
    double gap = ZS_MIN(e->longest, e->steady >= STEADY ? left * 7 / 8 : left / 2);
    return gap >= each / 2 ? (uint64_t)gap : 0;
}

/* The run of recorded groups that the replay is in. */
static uint32_t run_of(const struct zs_timing_machine *m)
{
    return m->next_group ? (uint32_t)((m->next_group - 1) / m->run_groups) : 0;
}

/* The phase's pace is known: window and before. */
static void found(struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    double share = e->gap;
    if (e->has_phase) {
        e->apart = apart(pace_of(&e->before), pace_of(&e->phase));
        bool dry = (e->refills && m->next_group == m->group_count) || /* the gap's pace is gone */
                   4 * m->live_groups <= 3 * e->gap_groups;
        share = dry ? e->gap : e->gap / 2;
        double was = slower_than(m, &e->phase), is = slower_than(m, &e->before);
        doubt_gap(e, e->gap, pace_of(&e->phase) * was, pace_of(&e->before) * is,
                  DOUBT_GAP + DOUBT_SLOWER * ZS_MAX(fabs(1 - was), fabs(1 - is)));
        close_phase(m, share, was);
        share = e->gap - share;
    }
    double slower = slower_than(m, &e->before);
    swap(&e->phase, &e->before);
    clear(m, &e->before);
    e->has_phase = true;
    e->owed += share;
    e->owed_slower += share * slower;
    e->phase_run = run_of(m);
    e->phases_of[e->phase_run]++;
    double pace = pace_of(&e->phase);
    e->least_pace = e->phases ? ZS_MIN(e->least_pace, pace) : pace;
    e->most_pace = ZS_MAX(e->most_pace, pace);
    e->phases++;
    e->gap = 0;
}

static void leave_out(struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    uint64_t gap = next_gap(m);
    uint32_t groups = m->live_groups;
    bool dry = false;
    e->windows = 0;
    e->first_release = m->releases;
    e->phase_issue = m->issues;
    if (!gap)
        return;
    uint64_t heard = m->heard;
    uint64_t gone = e->in_groups ? zs_timing_pass_groups(m, gap) : 0;
    e->settling = GROUPS_SETTLING;
    if (!gone) {
        e->refilled |= m->next_group < m->group_count;
        gone = zs_timing_forward(m, gap, pace_of(&e->phase), &dry);
        e->settling = THREADS_SETTLING;
        e->first_release = m->releases;
        e->round = e->waits ? m->releases + m->live_groups : 0;
    }
    e->gap = (double)gone;
    double busy[ZS_TIMING_BUSY];
    take_busy(m, busy);
    take_lines(m, e->gap_lines);
    e->gap_heard = m->heard > heard;
    e->refills = m->next_group < m->group_count;
    e->gap_groups = groups;
    if (dry) { /* behind it the pace is another one */
        doubt_gap(e, e->gap, pace_of(&e->phase), pace_of(&e->phase), DOUBT_END);
        close_phase(m, e->gap, slower_than(m, &e->phase));
        e->gap = 0;
    }
}

static double sync_share(const struct zs_timing_machine *m, const struct part *p)
{
    double sync = 0, all = 0;
    for (size_t i = 0; i < m->code->op_count; i++) {
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            all += p->stalls[i * ZS_TIMING_REASONS + r];
        sync += p->stalls[i * ZS_TIMING_REASONS + ZS_TIMING_SYNC];
    }
    return all > 0 ? sync / all : 0;
}

/* Where much of the time goes by at barriers, it takes from one to the next to see it. */
static bool in_round(struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    e->waits = sync_share(m, &e->before) > SYNC_SHARE;
    return e->waits && e->windows < ROUND_WINDOWS &&
           m->releases - e->first_release < ROUNDS * (uint64_t)m->live_groups;
}

static void next_window(struct zs_timing_machine *m)
{
    m->by_round = m->estimate->waits && m->live_groups <= ROUNDS_OF_GROUPS;
    m->window_end = m->frontier + WINDOW_CYCLES * (m->by_round          ? (uint64_t)ROUND_WINDOWS
                                                   : m->estimate->waits ? WAITS_WINDOWS
                                                                        : 1);
}

/* The window, which is not yet of the phase, tells its pace. One alone does where phases have been
 * the same, and it is, too; or, while threads begin, those before it. */
static bool is_sure(const struct zs_timing_estimate *e)
{
    double pace = pace_of(&e->window);
    if (e->window.issues <= 0)
        return false;
    if (e->windows > 1)
        return apart(pace, pace_of(&e->before)) <= AGREE;
    return e->phases ? e->steady && apart(pace, pace_of(&e->phase)) <= ALIKE
                     : e->alike >= ALIKE_WINDOWS;
}

void zs_timing_end_window(struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    uint64_t turns = (uint64_t)WINDOW_TURNS * m->live_groups * m->threads_per_group;
    if (m->issues - e->first_issue < turns) { /* memory is behind: what it answers is old */
        next_window(m);
        return;
    }
    take(m, &e->window);
    e->settling -= e->settling > 0;
    bool many = m->group_count >= FILL_WAVES * (uint64_t)m->resident_groups;
    e->alike = many && apart(pace_of(&e->window), e->last_pace) <= ALIKE ? e->alike + 1 : 0;
    e->last_pace = pace_of(&e->window);
    bool fills = m->frontier < m->filled + WINDOW_CYCLES && e->alike < ALIKE_WINDOWS;
    if (e->settling || m->releases < e->round || fills) {
        add(m, &e->all, &e->window, 1); /* it leads to a pace */
        e->first_release = m->releases;
        next_window(m);
        return;
    }
    e->windows++;
    e->sure = is_sure(e);
    add(m, &e->before, &e->window, 1);
    if (!in_round(m) && (e->sure || e->windows >= WINDOWS_MOST)) {
        found(m);
        leave_out(m);
    }
    next_window(m);
}

/* The end of the replay. */
static void finish(struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    take(m, &e->window);
    zs_timing_hierarchy_settle(&m->hierarchy);
    doubt_gap(e, e->gap, pace_of(e->has_phase ? &e->phase : &e->window), 0, DOUBT_END);
    if (e->has_phase) {
        close_phase(m, e->gap, slower_than(m, &e->phase));
        e->gap = 0;
    }
    add(m, &e->window, &e->before, 1);
    add(m, &e->all, &e->window, 1);
    if (e->window.issues > 0)
        add(m, &e->gaps[run_of(m)], &e->window, (e->owed + e->gap) / e->window.issues);
}

/* How often each instruction was in what was not replayed: of the recorded part, or of all. */
static void count_left(const struct zs_timing_machine *m, const uint64_t *executions, double *left)
{
    const double *replayed = m->estimate->all.counts;
    int64_t left_out = 0; /* times that the instruction was */
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        left_out += m->left_out[i];
        left[i] = executions ? ZS_MAX((double)executions[i] - replayed[i], 0) : (double)left_out;
    }
}

/* What stands for the gaps was seen with one mix of instructions, and they have another: an
 * instruction takes the time that it took. */
static void mend_mix(const struct zs_timing_machine *m, const double *left_out)
{
    struct part *gaps = &m->estimate->gaps[0];
    double was = 0, is = 0, missed = 0, count = 0, left = 0, some;
    for (uint32_t i = 0; i < m->code->op_count; i++)
        count += gaps->counts[i];
    some = count * FEW / ZS_MAX(m->code->op_count, 1u);
    for (uint32_t i = 0; i < m->code->op_count; i++)
        left += left_out[i];
    double scale = left > 0 ? count / left : 0; /* as many instructions as were seen */
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        double counted = gaps->counts[i], wanted = left_out[i] * scale;
        was += gaps->costs[i];
        if (counted > 0)
            is += gaps->costs[i] / counted * wanted;
        else
            missed += wanted; /* those that were not seen take the mean */
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            gaps->stalls[(size_t)i * ZS_TIMING_REASONS + r] *= (wanted + some) / (counted + some);
    }
    if (was <= 0 || is <= 0 || left <= 0)
        return;
    double times = is / was + missed / count, sum = 0, before = m->estimate->gap_stalls;
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS; i++)
        sum += gaps->stalls[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        gaps->totals[i] *= times;
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS && sum > 0; i++)
        gaps->stalls[i] *= before * times / sum;
    gaps->cycles *= times;
}

/* ---- results -----------------------------------------------------------------------------------
 */

static uint64_t rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

/* Threads charge what they do to the phase in which it begins, so that those of an EU may have more
 * than its time; rounded up each, too. */
static double no_more_than_loaded(const struct zs_timing_machine *m, const struct zs_gpu_timing *t)
{
    size_t count = (size_t)m->code->op_count * ZS_TIMING_REASONS;
    double sum = 0, most = (double)m->threads_per_eu * (double)t->eu_loaded - 0.5 * (double)count;
    for (size_t i = 0; i < count; i++)
        sum += m->estimate->all.stalls[i];
    return sum > most && most > 0 ? most / sum : 1;
}

/* Of one instruction, and into the sums: these are of what is shown. */
static uint64_t keep_cycles(const double *from, double factor, struct zs_gpu_timing *t,
                            uint64_t *to)
{
    uint64_t *const sums[ZS_TIMING_REASONS] = {
        &t->thread_active, &t->thread_control, &t->thread_pipe, &t->thread_send,
        &t->thread_dist,   &t->thread_sbid,    &t->thread_sync, &t->thread_other};
    uint64_t any = 0;
    for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++) {
        to[r] = rounded(from[r] * factor);
        *sums[r] += to[r];
        any |= to[r];
    }
    return any;
}

static uint64_t keep_accesses(const struct zs_timing_machine *m, const struct zs_timing_growth *g,
                              uint32_t inst, double often, struct zs_gpu_timing *t, uint64_t *to)
{
    uint64_t any = 0;
    zs_timing_scale_accesses(m, g, inst, often, to);
    for (uint32_t i = 0; i < ZS_GPU_ACCESSES; i++) {
        *zs_timing_total_at(t, by_access[i]) += to[i];
        any |= to[i];
    }
    return any;
}

/* Of an instruction's cycles, when so many were seen. */
static uint64_t estimated_of(const struct zs_gpu_stalls *stalls, double seen)
{
    uint64_t all = 0, own = rounded(seen);
    for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
        all += stalls->cycles[r];
    return all > own ? all - own : 0;
}

/* By instruction: cycles, and of these what was seen; and accesses scaled by how often it was and
 * how often its messages were heard. */
static int keep_stalls(const struct zs_timing_machine *m, double time_factor, const double *seen,
                       const double *heard, const struct zs_timing_growth *growth,
                       struct zs_gpu_timing *t)
{
    t->stalls = calloc((size_t)m->code->op_count + 1, sizeof(*t->stalls));
    if (!t->stalls)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        struct zs_gpu_stalls *to = &t->stalls[t->stall_count];
        uint64_t any = keep_cycles(m->estimate->all.stalls + (size_t)i * ZS_TIMING_REASONS,
                                   time_factor, t, to->cycles);
        to->estimated = estimated_of(to, seen[i] * time_factor);
        any |= keep_accesses(m, growth, i, heard[i], t, to->accesses);
        to->offset_B = m->code->offset_B[i];
        t->stall_count += any != 0;
    }
    return 0;
}

/* As what they are parts of. */
static void keep_messages(const struct zs_timing_machine *m, struct zs_gpu_timing *t)
{
    double factors[FACTORS];
    zs_timing_lookups_grown(m, t, &factors[OF_LOADS]);
    for (uint32_t k = 0; k < KINDS; k++) {
        double counted = 0, kept = 0;
        for (uint32_t a = 0; a < 1u + (kinds[k][1] != kinds[k][0]); a++) {
            for (size_t i = 0; i < m->code->op_count; i++)
                counted += (double)m->accesses[i * ZS_GPU_ACCESSES + kinds[k][a]];
            kept += (double)*zs_timing_total_at(t, by_access[kinds[k][a]]);
        }
        factors[k] = counted > 0 ? kept / counted : 1;
    }
    if (!m->hierarchy.caches->llc.set_count)
        factors[OF_FETCHED] = factors[OF_READ];
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_messages); i++) {
        uint64_t *total = zs_timing_total_at(t, by_messages[i].offset);
        *total = rounded((double)*total * factors[by_messages[i].kind]);
    }
}

/* By instruction: its thread cycles in what was replayed. */
static void find_seen(const struct zs_timing_machine *m, double *seen)
{
    for (size_t i = 0; i < m->code->op_count; i++) {
        seen[i] = 0;
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            seen[i] += m->estimate->all.stalls[i * ZS_TIMING_REASONS + r];
    }
}

/* By instruction: how often it was, for each time that its messages went through the caches;
 * returns that of all. */
static double find_heard(const struct zs_timing_machine *m, uint64_t instructions,
                         const uint64_t *executions, double *heard)
{
    double all = m->seen > m->unheard ? (double)instructions / (double)(m->seen - m->unheard) : 1;
    int64_t went = 0; /* without time, through the caches */
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        went += m->left_out[i] - m->unheard_of[i];
        double count = m->estimate->all.counts[i] + (double)went;
        heard[i] = executions && count > 0 ? ZS_MAX((double)executions[i] / count, 1) : all;
    }
    return all;
}

/* Groups between two runs are as the gaps of both; what stands for all becomes one part. */
static void join_runs(const struct zs_timing_machine *m)
{
    struct zs_timing_estimate *e = m->estimate;
    double stands_for[ZS_TIMING_RUNS] = {0}, others = 0;
    for (uint32_t run = 1; run < ZS_TIMING_RUNS; run++) {
        const struct part *before = &e->gaps[run - 1], *behind = &e->gaps[run];
        if (e->unrecorded[run] <= 0 || e->phases_of[run - 1] < RUN_PHASES ||
            e->phases_of[run] < RUN_PHASES || before->issues <= 0 || behind->issues <= 0) {
            others += e->unrecorded[run]; /* as all */
            continue;
        }
        stands_for[run - 1] += e->unrecorded[run] / 2;
        stands_for[run] += e->unrecorded[run] / 2;
        doubt_gap(e, e->unrecorded[run], pace_of(before), pace_of(behind), DOUBT_GAP);
    }
    double apart = e->most_pace - e->least_pace;
    e->doubt_all = others * apart / (2 * sqrt(ZS_MAX(e->phases, 1)));
    for (uint32_t run = 0; run < ZS_TIMING_RUNS; run++) {
        struct part *gaps = &e->gaps[run];
        double more = gaps->issues > 0 ? stands_for[run] / gaps->issues : 0;
        if (run == 0)
            add(m, gaps, gaps, more);
        else
            add(m, &e->gaps[0], gaps, 1 + more);
    }
}

/* Of a thread, on the average. */
static double thread_time(const struct zs_timing_machine *m)
{
    const struct part *all = &m->estimate->all;
    double sum = 0;
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS; i++)
        sum += all->stalls[i];
    return sum / ZS_MAX(m->estimate->threads, 1);
}

/* Cycles by which the launch's time may be off, about twice the standard error. */
static double doubt_of(const struct zs_timing_machine *m, double others)
{
    const struct zs_timing_estimate *e = m->estimate;
    const struct zs_timing_hierarchy *h = &m->hierarchy;
    if (others <= 0 || e->gaps[0].issues <= 0)
        return 0;
    double times = others / e->gaps[0].issues, left = e->gaps[0].cycles * times, lookups = 0;
    for (size_t i = 0; i < m->code->op_count; i++)
        lookups += (double)m->accesses[i * ZS_GPU_ACCESSES + ZS_GPU_ACCESS_l3_hits] +
                   (double)m->accesses[i * ZS_GPU_ACCESSES + ZS_GPU_ACCESS_l3_misses];
    double supposed = (double)h->supposed / ZS_MAX(lookups, 1);
    double share = DOUBT_SUPPOSED * supposed + (e->phases ? 0 : DOUBT_NO_GAP) + e->thinned;
    double wave = e->refilled ? DOUBT_WAVE * thread_time(m) : 0;
    double own = wave + 2 * times * sqrt(e->variance) + e->doubt_all + share * left;
    return DOUBT_FITTED * own + m->params->doubt_percent / 100.0 * left;
}

static int conclude(struct zs_timing_machine *m, uint64_t instructions, const uint64_t *executions,
                    struct zs_gpu_timing *t)
{
    struct zs_timing_estimate *e = m->estimate;
    double others = (double)instructions - (double)m->issues;
    /* of no use any more */
    double *heard = e->before.counts, *left = e->before.costs, *seen = e->window.costs;
    find_seen(m, seen);
    struct zs_timing_growth growth;
    double often = find_heard(m, instructions, executions, heard);
    zs_timing_growth_of(m, heard, often, &growth);
    count_left(m, executions, left);
    join_runs(m);
    if (others > 0 && e->gaps[0].issues <= 0) /* all that was recorded was replayed */
        add(m, &e->gaps[0], &e->all, 1);
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS; i++)
        e->gap_stalls += e->gaps[0].stalls[i];
    if (others > 0 && e->gaps[0].issues > 0) {
        mend_mix(m, left);
        add(m, &e->all, &e->gaps[0], others / e->gaps[0].issues);
    }
    t->instructions = instructions;
    t->replayed = ZS_MIN(m->issues, instructions);
    t->cycles = m->params->launch_cycles + rounded(e->all.cycles);
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        *zs_timing_total_at(t, by_time[i]) = rounded(e->all.totals[i]);
    t->doubt = rounded(ZS_MIN(doubt_of(m, others), (double)t->cycles));
    t->eu_loaded = ZS_MIN(t->eu_loaded, t->cycles * m->eu_count);
    t->eu_active = ZS_MIN(t->eu_active, t->eu_loaded); /* EUs are ahead of each other */
    /* a phase has what its pipes were busy with together since before it began */
    t->fpu_both_active = ZS_MIN(t->fpu_both_active, ZS_MIN(t->fpu0_active, t->fpu1_active));
    t->fpu0_xmx_active = ZS_MIN(t->fpu0_xmx_active, ZS_MIN(t->fpu0_active, t->xmx_active));
    bool whole = m->issues >= instructions; /* counted, not estimated */
    int error = keep_stalls(m, whole ? 1 : no_more_than_loaded(m, t), seen, heard, &growth, t);
    if (error)
        return error;
    uint64_t given_up = t->memory_write_sectors;
    keep_messages(m, t);
    zs_timing_hierarchy_end(&m->hierarchy, whole ? NULL : growth.lines, given_up);
    return 0;
}

/* ---- attempts ----------------------------------------------------------------------------------
 */

/* Instructions of groups that were not recorded, by the run that comes behind them. */
static void find_run_gaps(struct zs_timing_estimate *e, const struct zs_timing_trace *trace,
                          uint64_t instructions)
{
    uint64_t threads = trace->sampled * trace->launch.threads_per_group, executed = 0;
    double given_up = 0;
    for (uint64_t i = 0; i < threads; i++) {
        const struct zs_timing_stream *s = &trace->streams[i];
        double times = s->lines <= FEW_LINES * (uint64_t)s->messages ? DOUBT_THINNED_FEW : 1;
        executed += s->executed;
        given_up += times * (double)(s->executed - ZS_MIN(s->recorded, s->executed));
    }
    e->threads = (double)trace->launch.group_count * trace->launch.threads_per_group;
    e->thinned = executed ? given_up / (double)executed : 0;
    uint64_t groups = trace->launch.group_count - trace->sampled;
    if (!groups || executed >= instructions)
        return;
    double each = (double)(instructions - executed) / (double)groups;
    for (uint64_t run = 1; run < trace->chunk_count; run++) {
        uint64_t at = run * trace->chunk_groups;
        uint64_t between =
            zs_timing_trace_group(trace, at) - zs_timing_trace_group(trace, at - 1) - 1;
        e->unrecorded[run] = each * (double)between;
    }
}

int zs_timing_replay_once(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, struct zs_gpu_timing *ret_timing)
{
    struct zs_timing_machine m = {0};
    *ret_timing = (struct zs_gpu_timing){0};
    struct zs_timing_reuse *reuse = NULL;
    int error = zs_timing_reuse_create(trace, &reuse);
    if (!error)
        error = zs_timing_machine_init(&m, trace, reuse, ret_timing);
    struct zs_timing_estimate e = {.budget = ZS_MAX(instructions / BUDGET_SHARE, BUDGET_LEAST)};
    uint64_t threads = trace->sampled * trace->launch.threads_per_group;
    for (uint64_t i = 0; i < threads; i++)
        e.recorded += trace->streams[i].recorded;
    e.exact = trace->launch.exact || e.budget >= e.recorded ||
              (instructions <= WHOLE && e.recorded >= instructions);
    e.in_groups = m.group_count / trace->resident_groups >=
                  (e.recorded < SHORT_THREAD * threads ? WAVES_SHORT : WAVES_GROUPS);
    struct part *const parts[] = {&e.window,  &e.before,  &e.phase,   &e.gaps[0],
                                  &e.gaps[1], &e.gaps[2], &e.gaps[3], &e.all};
    _Static_assert(ZS_TIMING_RUNS == 4, "each run has a part");
    size_t ops = (size_t)trace->launch.code->op_count + 1,
           each = ops * (ZS_TIMING_REASONS + LINES + 2);
    double *stalls = calloc((ZS_ARRAY_LEN(parts) + 2) * each, sizeof(*stalls));
    error = error || stalls ? error : -ENOMEM;
    if (!error) {
        for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++) {
            parts[i]->stalls = stalls + i * each;
            parts[i]->counts = parts[i]->stalls + ops * ZS_TIMING_REASONS;
            parts[i]->costs = parts[i]->counts + ops;
            parts[i]->lines = parts[i]->costs + ops;
        }
        e.gap_lines = stalls + ZS_ARRAY_LEN(parts) * each;
        e.lines = e.gap_lines + each;
        m.estimate = &e;
        m.counted = executions && m.code->op_count < 1u << 20;
        m.window_end = e.exact ? UINT64_MAX : WINDOW_CYCLES;
        find_run_gaps(&e, trace, instructions);
        zs_timing_run(&m);
        finish(&m);
        error = conclude(&m, instructions, executions, ret_timing);
    }
    free(stalls);
    zs_timing_machine_fini(&m, trace->launch.store);
    zs_timing_reuse_destroy(reuse);
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

int zs_timing_replay(struct zs_timing_trace *trace, uint64_t instructions,
                     const uint64_t *executions, const uint64_t *lanes,
                     struct zs_gpu_timing *ret_timing)
{
    struct zs_timing_memo *memo = trace->launch.code->memo;
    struct zs_timing_key key;
    int error = zs_timing_name_ranges(trace);
    if (error)
        return error;
    executions = check_executions(trace, executions, instructions);
    zs_timing_key_of(trace, instructions, executions, &key);
    if (!trace->launch.anew && zs_timing_memo_find(memo, &key, ret_timing))
        return 0;
    error = zs_timing_replay_once(trace, instructions, executions, ret_timing);
    if (!error && trace->launch.gains)
        zs_timing_find_gains(trace, instructions, executions, lanes, ret_timing);
    if (!error)
        zs_timing_memo_keep(memo, &key, ret_timing);
    return error;
}
