/* SPDX-License-Identifier: MIT */
/*
 * Between the phases of a replay, in two ways, in which messages touch the caches and no time
 * passes:
 *
 * - Groups that have not begun are passed over. What runs goes on as it would: nothing is lost.
 * - Where there are few groups with long threads, these go on by turns. Barriers are kept, threads
 *   end and groups begin; what registers wait for stays as it was. So the next phase finds the
 *   device about as busy as it would be.
 */
#include "gpu/timing/replay.h"

enum { TURN = 64, HOME_TURN = 192 }; /* instructions of a thread */
#define NOWHERE UINT32_MAX

/* The message of instruction `inst` touches the caches. */
static inline void warm(struct zs_timing_machine *m, struct zs_timing_thread *th,
                        const uint32_t *words, uint32_t inst)
{
    uint64_t *accesses = m->accesses + (size_t)inst * ZS_GPU_ACCESSES;
    uint32_t response_grf = m->code->ops[inst].response_grf;
    if ((words[1] >> ZS_TIMING_EVENT_SPACE & 7) == ZS_PORT_SPACE_SLM) {
        zs_timing_hierarchy_warm_slm(&m->hierarchy, words[1], response_grf, accesses);
        return;
    }
    if (words[1] & (ZS_TIMING_EVENT_FENCE | ZS_TIMING_EVENT_BARRIER)) {
        if (words[1] & ZS_TIMING_EVENT_BARRIER && th != &m->passing) {
            th->arrived++;
            zs_timing_release(m, &m->groups[th->group], m->frontier);
        }
        return;
    }
    uint64_t lines[ZS_PORT_FOOTPRINT_LINES];
    struct zs_timing_request r = {.subslice = m->eus[th->eu].subslice,
                                  .run = th->run,
                                  .step = th->step,
                                  .event = words[1],
                                  .lines = lines,
                                  .line_count = zs_timing_read_lines(th, words, lines),
                                  .payload_grf = m->code->ops[inst].payload_grf,
                                  .response_grf = response_grf,
                                  .warm = true,
                                  .accesses = accesses};
    if (ZS_UNLIKELY(m->without != ZS_TIMING_GAINS) &&
        !zs_timing_change_message(m->without, m->grf_B, &r))
        return;
    m->stores[inst] = zs_timing_stores(words[1]);
    (void)zs_timing_hierarchy_send(&m->hierarchy, &r, 0);
}

/* Up to instruction `stop` of the block. */
static void go_to(struct zs_timing_machine *m, struct zs_timing_thread *th, uint32_t stop)
{
    if (!m->hears) {
        m->left_out[th->inst]++;
        m->left_out[stop]--;
    }
    if (m->hears || m->silent) {
        int64_t unheard = m->hears ? -1 : 1;
        m->unheard_of[th->inst] += unheard;
        m->unheard_of[stop] -= unheard;
    }
    while (th->at < th->end) {
        uint32_t word = th->stream->words[th->at], inst = word & 0xfffff;
        uint32_t ahead = (inst - th->inst) & 0xfffff; /* the word has the low bits */
        if (word >> 30 != ZS_TIMING_WORD_MESSAGE || ahead >= stop - th->inst)
            break;
        th->inst += ahead;
        const uint32_t *words = zs_timing_next_message(th);
        if (words && !m->silent)
            warm(m, th, words, th->inst);
    }
    th->inst = stop;
}

/* Until it comes to `home`. False: it could not go on, for it waits at a barrier. */
static bool forward_thread(struct zs_timing_machine *m, struct zs_timing_thread *th,
                           uint32_t instructions, uint32_t home)
{
    bool moved = false;
    for (uint64_t until = m->seen + instructions; m->seen < until;) {
        if (!zs_timing_advance(m, th)) {
            if (home == NOWHERE)
                zs_timing_end_thread(m, th, m->frontier);
            return true;
        }
        uint32_t wait = m->code->next_wait[th->inst], stop = ZS_MIN(th->inst_end, wait);
        if (home >= th->inst && home <= stop && home < th->inst_end) {
            go_to(m, th, home);
            return true;
        }
        if (th->inst < stop) {
            go_to(m, th, stop);
            moved = true;
        }
        if (th->inst == th->inst_end)
            continue;
        if (th->passed < th->arrived) {
            if (th->passed >= m->groups[th->group].released)
                return moved;
            th->passed++;
        }
        m->left_out[th->inst++]++;
        m->left_out[th->inst]--;
        moved = true;
    }
    return true;
}

static uint32_t live_threads(const struct zs_timing_machine *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->eu_count; i++)
        count += (uint32_t)__builtin_popcount(m->eus[i].live);
    return count;
}

/* Threads of an EU with few others are faster, where its pipes decide: by how many are there,
 * instructions of each in a turn, of those of the fastest. */
enum { THREADS_MOST = 16 };
static void find_rates(struct zs_timing_machine *m, uint32_t ret_turn[THREADS_MOST + 1])
{
    double issues[THREADS_MOST + 1] = {0}, threads[THREADS_MOST + 1] = {0}, most = 0, last = 0;
    for (uint32_t i = 0; i < m->eu_count; i++) {
        uint32_t live = (uint32_t)__builtin_popcount(m->eus[i].live);
        issues[live] += (double)m->eus[i].issues;
        threads[live] += live;
        m->eus[i].issues = 0;
    }
    for (uint32_t live = 1; live <= THREADS_MOST; live++)
        most = ZS_MAX(most, threads[live] > 0 ? issues[live] / threads[live] : 0);
    for (uint32_t live = 0; live <= THREADS_MOST; live++)
        ret_turn[live] = TURN;
    for (uint32_t live = THREADS_MOST; live > 0 && most > 0; live--) {
        if (threads[live] > 0)
            last = issues[live] / threads[live];
        ret_turn[live] = last > 0 ? ZS_MAX((uint32_t)(TURN * last / most + 0.5), 1u) : TURN;
    }
}

/* Each thread by so many instructions, or until it comes home. Whether any could. */
static bool turn(struct zs_timing_machine *m, const uint32_t instructions[THREADS_MOST + 1],
                 bool goes_home)
{
    bool any = false;
    for (uint32_t i = 0; i < m->eu_count; i++) {
        uint32_t each = instructions[__builtin_popcount(m->eus[i].live)];
        for (uint32_t left = m->eus[i].live; left; left &= left - 1) {
            struct zs_timing_thread *th = zs_timing_thread_at(m, i, (uint32_t)__builtin_ctz(left));
            if (th->begin <= m->gap_now)
                any |= forward_thread(m, th, each, goes_home ? th->home : NOWHERE);
        }
    }
    return any;
}

/* Threads are spread over a loop's instructions, and wait for what these need: so they are again.
 */
static void note_homes(struct zs_timing_machine *m)
{
    for (uint32_t i = 0; i < m->thread_count; i++)
        m->threads[i].home = m->threads[i].inst;
}

/* A time that lies behind the gap comes as much sooner as the gap would have lasted. */
static uint64_t sooner(const struct zs_timing_machine *m, uint64_t cycle)
{
    return cycle > m->gap_now ? cycle - (m->gap_now - m->frontier) : ZS_MIN(cycle, m->frontier);
}

static void wake(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    if (th->begin > m->gap_now) {
        th->begin = th->eligible = th->since = sooner(m, th->begin);
        th->start = (th->begin + m->params->start_latency) << 2 | ZS_TIMING_READY_START;
    } else if (th->begin > m->frontier) {
        th->begin = th->eligible = m->frontier;
    }
    th->since = ZS_MAX(th->eligible, ZS_MIN(m->frontier, th->since));
    zs_timing_prepare(m, th);
}

static void wake_all(struct zs_timing_machine *m)
{
    for (uint32_t i = 0; i < m->subslice_count; i++)
        m->dispatch_free[i] = sooner(m, m->dispatch_free[i]);
    for (uint32_t i = 0; i < m->eu_count; i++) {
        uint64_t begin = UINT64_MAX;
        for (uint32_t left = m->eus[i].live; left; left &= left - 1) {
            struct zs_timing_thread *th = zs_timing_thread_at(m, i, (uint32_t)__builtin_ctz(left));
            wake(m, th);
            begin = ZS_MIN(begin, th->begin);
        }
        if (!m->eus[i].live)
            continue;
        m->eus[i].loaded_since = ZS_MAX(begin, m->frontier);
        zs_timing_wake(m, i, m->frontier);
    }
}

/* ---- whole groups ------------------------------------------------------------------------------
 */

/* All messages of a thread; how often its other instructions were is known without looking. */
static void hear_thread(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    const uint32_t *words = th->stream->words + th->stream->messages_from;
    const uint32_t *end = th->stream->words + th->stream->messages_until;
    while (words < end) {
        uint32_t word = words[0], inst = word & 0xfffff, lines = 0;
        if (word >> 30 == ZS_TIMING_WORD_MESSAGE && inst < m->code->op_count) {
            lines = word >> 20 & 1023;
            m->left_out[inst]++;
            m->left_out[inst + 1]--;
            warm(m, th, words, inst);
        }
        words += 2 + 2 * lines;
    }
}

static void pass_thread(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    if (m->counted && m->groups[th->group].stride == th->stream->stride) {
        if (!m->silent)
            hear_thread(m, th);
        m->seen += th->stream->recorded;
        return;
    }
    while (zs_timing_advance(m, th))
        go_to(m, th, th->inst_end);
}

/* All threads of a group, without time. */
static void pass_group(struct zs_timing_machine *m, uint64_t group)
{
    for (uint32_t i = 0; i < m->threads_per_group; i++) {
        uint32_t place = (uint32_t)((group * m->threads_per_group + i) % m->thread_count);
        m->passing.stream = &m->streams[group * m->threads_per_group + i];
        m->passing.window = UINT32_MAX;
        m->passing.at = m->passing.end = m->passing.inst = m->passing.inst_end = 0;
        m->passing.group = (uint32_t)group;
        m->passing.run = (uint32_t)(group / m->reuse_groups);
        m->passing.step = zs_timing_step_of(m, group);
        m->passing.place = place;
        m->passing.eu = place / m->threads_per_eu;
        pass_thread(m, &m->passing);
    }
}

/* Those that ran beside them have fetched what they share. */
static void hear_groups(struct zs_timing_machine *m)
{
    uint64_t seen = m->seen;
    m->hears = true;
    while (m->quiet_from < m->quiet_until)
        pass_group(m, m->quiet_from++);
    m->hears = false;
    m->unheard -= m->seen - seen;
    m->heard += m->seen - seen;
    m->seen = seen;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

/* Nobody has begun: when the first one does. */
static uint64_t next_begin(const struct zs_timing_machine *m)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < m->eu_count; i++) {
        for (uint32_t left = m->eus[i].live; left; left &= left - 1) {
            uint64_t begin = zs_timing_thread_at(m, i, (uint32_t)__builtin_ctz(left))->begin;
            next = begin > m->gap_now ? ZS_MIN(next, begin) : next;
        }
    }
    return next;
}

uint64_t zs_timing_forward(struct zs_timing_machine *m, uint64_t instructions, double pace,
                           bool *ret_dry)
{
    uint64_t from = m->seen, idle = 0;
    uint32_t live = live_threads(m);
    bool refills = m->next_group < m->group_count;
    uint32_t turns[THREADS_MOST + 1], home[THREADS_MOST + 1];
    *ret_dry = false;
    hear_groups(m);
    find_rates(m, turns);
    for (uint32_t i = 0; i <= THREADS_MOST; i++)
        home[i] = HOME_TURN;
    m->forwarding = true;
    m->now = ZS_MAX(m->now, m->frontier);
    m->gap_now = m->frontier;
    note_homes(m);
    while (m->seen - from < instructions && !*ret_dry) {
        if (!turn(m, turns, false)) {
            uint64_t next = next_begin(m);
            if (next == UINT64_MAX)
                break;
            idle += next - m->gap_now;
        }
        m->gap_now = m->frontier + idle + (uint64_t)((double)(m->seen - from) * pace);
        /* where the device runs dry its pace is another one */
        *ret_dry = m->next_group == m->group_count && (refills || 4 * live_threads(m) <= 3 * live);
    }
    (void)turn(m, home, true);
    m->forwarding = false;
    m->heard += m->seen - from;
    wake_all(m);
    return m->seen - from;
}

uint64_t zs_timing_pass_groups(struct zs_timing_machine *m, uint64_t instructions)
{
    uint64_t from = m->seen, keep = m->resident_groups;
    uint64_t near = m->next_group + m->resident_groups;
    hear_groups(m);
    m->quiet_from = m->next_group;
    while (m->seen - from < instructions && m->next_group + keep < m->group_count) {
        uint64_t before = m->seen;
        m->silent = m->next_group < near; /* those that run share lines with them, and fetch them */
        pass_group(m, m->next_group);
        m->next_group++;
        m->unheard += m->silent ? m->seen - before : 0;
        m->heard += m->silent ? 0 : m->seen - before;
        m->quiet_until = m->silent ? m->next_group : m->quiet_until;
    }
    m->silent = false;
    return m->seen - from;
}
