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
    FIRST_GAP = 6,    /* times the first phase */
    LONGER = 4,       /* times the gap before */
    STEADY = 2,       /* phases one after the other whose pace is the same: nearly all may go */
    BUDGETS_MOST = 4, /* then a launch is left less sure ... */
    GAPS_LAST = 4,    /* ... with so many more gaps */
};
static const double AGREE = 0.05; /* of a pace: windows that agree */
static const double FEW = 0.1;    /* of the mean of issues: an instruction that was hardly seen */
static const double SYNC_SHARE = 0.15; /* of thread cycles: barriers matter */
static const double SAME_PACE = 0.10;  /* ... phases that agree */

/* What is scaled with the time. */
static const size_t by_time[] = {
#define AT(id) offsetof(struct zs_gpu_timing, id)
    AT(eu_loaded),    AT(eu_active),    AT(fpu0_active),  AT(fpu1_active),   AT(fpu_both_active),
    AT(fpu0_move),    AT(fpu1_move),    AT(fpu0_binary),  AT(fpu1_binary),   AT(fpu0_ternary),
    AT(fpu1_ternary), AT(math_active),  AT(send_active),  AT(xmx_active),    AT(control_issued),
    AT(dispatching0), AT(dispatching1), AT(dispatching2), AT(port_stalled0), AT(port_stalled1),
    AT(port_stalled2)};
/* What messages count besides enum zs_gpu_access. */
static const size_t by_messages[] = {AT(sampler_busy),    AT(sampler_busy0),
                                     AT(sampler_busy1),   AT(sampler_busy2),
                                     AT(slm_reads),       AT(slm_writes),
                                     AT(slm_conflicted),  AT(l3_reads),
                                     AT(l3_writes),       AT(l3_bank0),
                                     AT(l3_bank1),        AT(l3_bank2),
                                     AT(l3_bank3),        AT(gti_read_bank0),
                                     AT(gti_read_bank1),  AT(gti_read_bank2),
                                     AT(gti_read_bank3),  AT(gti_write_bank0),
                                     AT(gti_write_bank1), AT(gti_write_bank2),
                                     AT(gti_write_bank3), AT(memory_write_sectors)};
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

struct part {
    double issues, cycles;
    double totals[ZS_ARRAY_LEN(by_time)];
    double *stalls;         /* as the machine's */
    double *counts, *costs; /* by instruction: issues; thread cycles that these took, whole */
};

struct zs_timing_estimate {
    uint64_t recorded, budget;         /* instructions */
    bool exact, in_groups;             /* gaps are whole groups */
    bool sure;                         /* the last pace was found by windows that agree */
    uint32_t settling, windows;        /* of this phase: until it has a pace, then */
    uint32_t phases, steady;           /* steady: the last ones, whose pace is the same */
    bool waits;                        /* much of the time goes by at barriers */
    uint64_t first_release, round;     /* of the phase; until that it has no pace */
    double longest;                    /* gap that is dared, in instructions */
    uint64_t first_issue, first_cycle; /* of this window */
    uint64_t phase_issue;              /* of this phase */
    double gap;                        /* instructions before this phase */
    double owed;                       /* instructions left out that the next pace is for */
    double apart;                      /* of the last two paces, as a part of them */
    struct part window, before, phase;
    struct part gaps, all;   /* gaps: what stands for them */
    bool has_phase, refills; /* refills: groups were left behind the gap */
    uint32_t gap_groups;     /* that were there before it */
    double gap_stalls;       /* thread cycles that stand for the gaps */
};

static double pace_of(const struct part *p)
{
    return p->issues > 0 ? p->cycles / p->issues : 0;
}

static void add(const struct zs_timing_machine *m, struct part *to, const struct part *from,
                double weight)
{
    to->issues += weight * from->issues;
    to->cycles += weight * from->cycles;
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        to->totals[i] += weight * from->totals[i];
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS; i++)
        to->stalls[i] += weight * from->stalls[i];
    for (size_t i = 0; i < m->code->op_count; i++) {
        to->counts[i] += weight * from->counts[i];
        to->costs[i] += weight * from->costs[i];
    }
}

static void clear(const struct zs_timing_machine *m, struct part *p)
{
    memset(p->stalls, 0, (size_t)m->code->op_count * ZS_TIMING_REASONS * sizeof(*p->stalls));
    memset(p->counts, 0, m->code->op_count * sizeof(*p->counts));
    memset(p->costs, 0, m->code->op_count * sizeof(*p->costs));
    *p = (struct part){.stalls = p->stalls, .counts = p->counts, .costs = p->costs};
}

static void swap(struct part *a, struct part *b)
{
    struct part was = *a;
    *a = *b;
    *b = was;
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

/* The phase stands for so many instructions besides its own. */
static void close_phase(struct zs_timing_machine *m, double others)
{
    struct zs_timing_estimate *e = m->estimate;
    if (!e->has_phase)
        return;
    double issues = e->phase.issues, more = issues > 0 ? (e->owed + others) / issues : 0;
    add(m, &e->all, &e->phase, 1);
    add(m, &e->gaps, &e->phase, more);
    e->owed = 0;
    e->has_phase = false;
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
        close_phase(m, share);
        share = e->gap - share;
    }
    swap(&e->phase, &e->before);
    clear(m, &e->before);
    e->has_phase = true;
    e->owed += share;
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
    uint64_t gone = e->in_groups ? zs_timing_pass_groups(m, gap) : 0;
    e->settling = GROUPS_SETTLING;
    if (!gone) {
        gone = zs_timing_forward(m, gap, &dry);
        e->settling = THREADS_SETTLING;
        e->first_release = m->releases;
        e->round = e->waits ? m->releases + m->live_groups : 0;
    }
    e->gap = (double)gone;
    e->refills = m->next_group < m->group_count;
    e->gap_groups = groups;
    if (dry) { /* behind it the pace is another one */
        close_phase(m, e->gap);
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
    if (e->settling || m->releases < e->round || m->frontier < m->filled + WINDOW_CYCLES) {
        add(m, &e->all, &e->window, 1); /* it leads to a pace */
        e->first_release = m->releases;
        next_window(m);
        return;
    }
    e->windows++;
    e->sure = e->windows > 1 && e->window.issues > 0 &&
              apart(pace_of(&e->window), pace_of(&e->before)) <= AGREE;
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
    if (e->has_phase) {
        close_phase(m, e->gap);
        e->gap = 0;
    }
    add(m, &e->window, &e->before, 1);
    add(m, &e->all, &e->window, 1);
    if (e->window.issues > 0)
        add(m, &e->gaps, &e->window, (e->owed + e->gap) / e->window.issues);
}

/* What stands for the gaps was seen with one mix of instructions, and they have another: an
 * instruction takes the time that it took. */
static void mend_mix(const struct zs_timing_machine *m)
{
    struct part *gaps = &m->estimate->gaps;
    double was = 0, is = 0, missed = 0, count = 0, left = 0, some;
    for (uint32_t i = 0; i < m->code->op_count; i++)
        count += gaps->counts[i];
    some = count * FEW / ZS_MAX(m->code->op_count, 1u);
    int64_t left_out = 0; /* times that the instruction was */
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        double counted = gaps->counts[i];
        left_out += m->left_out[i];
        left += (double)left_out;
        was += gaps->costs[i];
        if (counted > 0)
            is += gaps->costs[i] / counted * (double)left_out;
        else
            missed += (double)left_out;
        for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++)
            gaps->stalls[(size_t)i * ZS_TIMING_REASONS + r] *=
                ((double)left_out + some) / (counted + some);
    }
    if (was <= 0 || is <= 0 || left <= 0)
        return;
    /* those that were not seen take the mean; as many instructions as were seen */
    double times = (is / was + missed / count) * (count / left), sum = 0, before = 0;
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS; i++)
        sum += gaps->stalls[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        gaps->totals[i] *= times;
    before = m->estimate->gap_stalls;
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
static double no_more_than_loaded(const struct zs_timing_machine *m, double factor,
                                  const struct zs_gpu_timing *t)
{
    size_t count = (size_t)m->code->op_count * ZS_TIMING_REASONS;
    double sum = 0, most = (double)m->threads_per_eu * (double)t->eu_loaded - 0.5 * (double)count;
    for (size_t i = 0; i < count; i++)
        sum += m->estimate->all.stalls[i] * factor;
    return sum > most && most > 0 ? factor * most / sum : factor;
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

static uint64_t keep_accesses(const uint64_t *from, double factor, struct zs_gpu_timing *t,
                              uint64_t *to)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < ZS_GPU_ACCESSES; i++) {
        to[i] = rounded((double)from[i] * factor);
        *zs_timing_total_at(t, by_access[i]) += to[i];
        any |= to[i];
    }
    return any;
}

/* By instruction: cycles and accesses, each scaled to the whole launch in its own way. */
static int keep_stalls(const struct zs_timing_machine *m, double time_factor, double heard,
                       struct zs_gpu_timing *t)
{
    t->stalls = calloc((size_t)m->code->op_count + 1, sizeof(*t->stalls));
    if (!t->stalls)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->code->op_count; i++) {
        struct zs_gpu_stalls *to = &t->stalls[t->stall_count];
        uint64_t any = keep_cycles(m->estimate->all.stalls + (size_t)i * ZS_TIMING_REASONS,
                                   time_factor, t, to->cycles);
        any |= keep_accesses(m->accesses + (size_t)i * ZS_GPU_ACCESSES, heard, t, to->accesses);
        to->offset_B = m->code->offset_B[i];
        t->stall_count += any != 0;
    }
    return 0;
}

static int conclude(const struct zs_timing_machine *m, uint64_t instructions,
                    struct zs_gpu_timing *t)
{
    struct zs_timing_estimate *e = m->estimate;
    double factor = m->seen ? (double)instructions / (double)m->seen : 1, time_factor = factor;
    for (size_t i = 0; i < (size_t)m->code->op_count * ZS_TIMING_REASONS; i++)
        e->gap_stalls += e->gaps.stalls[i];
    mend_mix(m);
    if (e->gaps.issues > 0) { /* what was not recorded is as the gaps are */
        double others = (double)instructions - (double)m->seen;
        add(m, &e->all, &e->gaps, 1 + ZS_MAX(others, 0) / e->gaps.issues);
        time_factor = 1;
    }
    double heard = m->seen > m->unheard ? (double)instructions / (double)(m->seen - m->unheard) : 1;
    t->instructions = instructions;
    t->replayed = ZS_MIN(m->issues, instructions);
    t->cycles = m->params->launch_cycles + rounded(e->all.cycles * time_factor);
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_time); i++)
        *zs_timing_total_at(t, by_time[i]) = rounded(e->all.totals[i] * time_factor);
    t->eu_loaded = ZS_MIN(t->eu_loaded, t->cycles * m->eu_count);
    t->eu_active = ZS_MIN(t->eu_active, t->eu_loaded); /* EUs are ahead of each other */
    for (size_t i = 0; i < ZS_ARRAY_LEN(by_messages); i++) {
        uint64_t *total = zs_timing_total_at(t, by_messages[i]);
        *total = rounded((double)*total * heard);
    }
    bool whole = m->issues >= instructions; /* counted, not estimated */
    time_factor = whole ? time_factor : no_more_than_loaded(m, time_factor, t);
    return keep_stalls(m, time_factor, heard, t);
}

/* ---- attempts ----------------------------------------------------------------------------------
 */

static int replay(struct zs_timing_trace *trace, uint64_t instructions,
                  struct zs_gpu_timing *ret_timing)
{
    struct zs_timing_machine m;
    *ret_timing = (struct zs_gpu_timing){0};
    int error = zs_timing_machine_init(&m, trace, ret_timing);
    struct zs_timing_estimate e = {.budget = ZS_MAX(instructions / BUDGET_SHARE, BUDGET_LEAST)};
    uint64_t threads = trace->sampled * trace->launch.threads_per_group;
    for (uint64_t i = 0; i < threads; i++)
        e.recorded += trace->streams[i].recorded;
    e.exact = trace->launch.exact || e.budget >= e.recorded;
    e.in_groups = m.group_count / trace->resident_groups >=
                  (e.recorded < SHORT_THREAD * threads ? WAVES_SHORT : WAVES_GROUPS);
    struct part *const parts[] = {&e.window, &e.before, &e.phase, &e.gaps, &e.all};
    size_t ops = (size_t)m.code->op_count + 1, each = ops * (ZS_TIMING_REASONS + 2);
    double *stalls = calloc(ZS_ARRAY_LEN(parts) * each, sizeof(*stalls));
    error = error || stalls ? error : -ENOMEM;
    if (!error) {
        for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++) {
            parts[i]->stalls = stalls + i * each;
            parts[i]->counts = parts[i]->stalls + ops * ZS_TIMING_REASONS;
            parts[i]->costs = parts[i]->counts + ops;
        }
        m.estimate = &e;
        m.window_end = e.exact ? UINT64_MAX : WINDOW_CYCLES;
        zs_timing_run(&m);
        finish(&m);
        error = conclude(&m, instructions, ret_timing);
    }
    free(stalls);
    zs_timing_machine_fini(&m);
    ret_timing->modelled = error == 0;
    return error;
}

int zs_timing_replay(struct zs_timing_trace *trace, uint64_t instructions,
                     struct zs_gpu_timing *ret_timing)
{
    struct zs_timing_memo *memo = trace->launch.code->memo;
    struct zs_timing_key key;
    int error = zs_timing_name_ranges(trace);
    if (error)
        return error;
    zs_timing_key_of(trace, instructions, &key);
    if (!trace->launch.anew && zs_timing_memo_find(memo, &key, ret_timing))
        return 0;
    error = replay(trace, instructions, ret_timing);
    if (!error)
        zs_timing_memo_keep(memo, &key, ret_timing);
    return error;
}
