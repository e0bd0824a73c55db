/* SPDX-License-Identifier: MIT */
/*
 * Replay: recorded groups run on a model of the device.
 *
 * The walker gives groups in their order to the subslice with the most room, one slice after the
 * other, their threads to the EUs with the most free places. What a thread issues between two
 * events is a burst (burst.h): alone on its EU it takes a known time and wants each pipe for a
 * known part of it. Threads of an EU share its pipes evenly: while bursts together want more of a
 * pipe than there is, all that want it take as many times longer. So nothing is decided instruction
 * by instruction, and an EU has to be looked at only when a burst begins or ends.
 *
 * An EU's pipes are nobody else's: it runs ahead until it comes to something that others see, a
 * message or the end of a thread. These happen in the order of time over all EUs, of equals in the
 * order of EUs. So one launch has one order of events, which its streams and the device's
 * parameters decide: neither host threads nor addresses have a part in it.
 */
#include "gpu/timing/replay.h"

enum {
    RATE = 1 << 16,
    LONG_WAIT = 32, /* cycles, in which all results of pipes have come */
    FRACTION_BITS = 12,
    FRACTION = 1 << FRACTION_BITS,
    PLACE_BITS = 4,
};
_Static_assert(ZS_TIMING_PLACES == 1 << PLACE_BITS, "their numbers");

/* time: cycles << FRACTION_BITS */
static inline void set_when(struct zs_timing_eu *eu, uint32_t place, uint64_t time)
{
    eu->when[place] = time << PLACE_BITS | place;
}

/* ---- accounts ----------------------------------------------------------------------------------
 */

static void charge(struct zs_timing_machine *m, uint32_t inst, enum zs_timing_reason reason,
                   uint64_t cycles)
{
    m->phase->tallies[inst].stalls[reason] += cycles;
}

static void count_issue(struct zs_timing_machine *m, uint32_t inst)
{
    charge(m, inst, ZS_TIMING_ACTIVE, m->params->send_front);
    m->phase->tallies[inst].issues++;
    m->issues++;
}

/* Pipes have worked as they do now. */
static inline void account(struct zs_timing_machine *m, struct zs_timing_eu *eu, uint64_t cycle)
{
    double at = (double)(int64_t)cycle, cycles = at > eu->last ? at - eu->last : 0;
    m->phase->active += cycles * eu->busy;
    m->phase->both += cycles * eu->both;
    m->phase->with_dpas += cycles * eu->with_dpas;
    eu->last += cycles;
}

/* ---- pipes of an EU ----------------------------------------------------------------------------
 */

static inline double at_least_1(double x)
{
    return x > 1 ? x : 1;
}

static inline double at_most_1(double x)
{
    return x < 1 ? x : 1;
}

/* A thread does one thing at a time: of so many, how many others there are for each. */
static const double others_of[ZS_TIMING_PLACES + 1] = {
    0,       0,        1 / 2.0,  2 / 3.0,   3 / 4.0,   4 / 5.0,   5 / 6.0,   6 / 7.0,  7 / 8.0,
    8 / 9.0, 9 / 10.0, 10 / 11., 11 / 12.0, 12 / 13.0, 13 / 14.0, 14 / 15.0, 15 / 16.0};

/* Pipes of which such parts are used are busy together, and any of them is. */
static inline void use_pipes(struct zs_timing_eu *eu, double fpu0, double fpu1, double dpas,
                             double control)
{
    double others = others_of[__builtin_popcount(eu->running)];
    eu->both = fpu0 * fpu1 * others;
    eu->with_dpas = fpu0 * dpas * others;
    double fpus = fpu0 + fpu1 - eu->both;
    if (dpas + control > 0) { /* mostly there are none */
        fpus += dpas - dpas * fpus * others;
        fpus += control - control * fpus * others;
    }
    eu->busy = at_most_1(fpus);
}

/* How much of the pipes is wanted; work for either FPU goes where there is more room. False: there
 * is enough for all. */
static inline bool share_pipes(struct zs_timing_eu *eu)
{
    const uint32_t *load = eu->load;
    const uint32_t fpu0 = load[ZS_TIMING_WORK_FPU0], fpu1 = load[ZS_TIMING_WORK_FPU1];
    uint32_t fpus = load[ZS_TIMING_WORK_EITHER] + fpu0 + fpu1;
    /* twice what the first and the second are wanted: as much, where that can be */
    uint32_t of0 = ZS_MAX(2 * fpu0, ZS_MIN(fpus, 2 * (fpus - fpu1))), of1 = 2 * fpus - of0;
    double first = of0 * (0.5 / RATE), second = of1 * (0.5 / RATE);
    double dpas = load[ZS_TIMING_WORK_DPAS] * (1.0 / RATE);
    double control = load[ZS_TIMING_WORK_CONTROL] * (1.0 / RATE);
    if (ZS_MAX(of0, of1) <= 2 * RATE && load[ZS_TIMING_WORK_DPAS] <= RATE) {
        use_pipes(eu, first, second, dpas, control);
        return false;
    }
    eu->slow[ZS_TIMING_WORK_EITHER] = at_least_1(first < second ? first : second);
    eu->slow[ZS_TIMING_WORK_FPU0] = at_least_1(first);
    eu->slow[ZS_TIMING_WORK_FPU1] = at_least_1(second);
    eu->slow[ZS_TIMING_WORK_DPAS] = at_least_1(dpas);
    use_pipes(eu, at_most_1(first), at_most_1(second), at_most_1(dpas), control);
    return true;
}

static inline double slow_of(const struct zs_timing_eu *eu, uint32_t uses)
{
    double slow = 1;
    for (uint32_t left = uses; left; left &= left - 1) {
        double of = eu->slow[__builtin_ctz(left)];
        slow = of > slow ? of : slow;
    }
    return slow;
}

/* Other threads are at bursts: those that are take longer, or less long, from now on. */
static inline void change_pace(const struct zs_timing_machine *m, struct zs_timing_eu *eu)
{
    bool was_slow = eu->is_slow;
    eu->changed = false;
    eu->is_slow = share_pipes(eu);
    if (!was_slow && !eu->is_slow)
        return;
    uint64_t at = (uint64_t)(int64_t)(eu->last * FRACTION); /* hosts convert signed ones */
    uint32_t uses = 0; /* of the thread before: mostly all use the same, and were as slow */
    double slow = 1, from = 1, to = 1, times = 1;
    for (uint32_t left = eu->running; left; left &= left - 1) {
        uint32_t place = (uint32_t)__builtin_ctz(left);
        if (eu->uses[place] != uses && eu->is_slow)
            slow = slow_of(eu, uses = eu->uses[place]);
        if (slow == eu->pace[place])
            continue;
        if (eu->pace[place] != from || slow != to)
            times = (to = slow) / (from = eu->pace[place]);
        uint64_t end = eu->when[place] >> PLACE_BITS, rest = end - ZS_MIN(at, end);
        set_when(eu, place, at + (uint64_t)(int64_t)((double)(int64_t)rest * times));
        eu->pace[place] = slow;
    }
}

static void begin_burst(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                        struct zs_timing_thread *th, uint64_t cycle)
{
    account(m, eu, cycle);
    for (uint32_t i = 0; i < ZS_TIMING_WORKS; i++)
        eu->load[i] += th->rate[i];
    th->step = ZS_TIMING_STEP_BURST;
    th->since = cycle;
    eu->pace[th->place] = 1;
    eu->uses[th->place] = th->uses;
    set_when(eu, th->place, (cycle + th->length) * FRACTION);
    eu->running |= 1u << th->place;
    eu->changed = true;
}

static void end_burst(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                      struct zs_timing_thread *th, uint64_t cycle)
{
    account(m, eu, cycle);
    for (uint32_t i = 0; i < ZS_TIMING_WORKS; i++)
        eu->load[i] -= th->rate[i];
    eu->running &= ~(1u << th->place);
    eu->changed = true;
    cycle = ZS_MAX(cycle, th->since + th->length); /* fractions were rounded */
    uint64_t excess = cycle - th->since - th->length, done = 0, given = 0;
    uint64_t all = ZS_MAX(th->length - th->lead, 1u);
    for (uint32_t i = 0; i < th->part_count; i++) {
        struct zs_timing_burst *u = &m->bursts.items[th->parts[i]];
        u->count++;
        m->issues += (u->stop & ~(uint32_t)ZS_TIMING_BURST_EVENT) - u->inst;
    }
    for (uint32_t i = 0; i < th->part_count && excess; i++) { /* mostly there is none */
        struct zs_timing_burst *u = &m->bursts.items[th->parts[i]];
        done += u->cycles;
        uint64_t due = i + 1 < th->part_count ? excess * done / all : excess;
        u->excess += due - given;
        given = due;
    }
}

/* ---- a thread ----------------------------------------------------------------------------------
 */

static uint64_t latest_of(const struct zs_timing_thread *th, uint64_t responses)
{
    uint64_t latest = 0;
    for (uint64_t left = responses; left; left &= left - 1)
        latest = ZS_MAX(latest, th->ready[__builtin_ctzll(left)]);
    return latest;
}

/* Without divergence: all lanes of a thread do what one of them does, and it has nothing to do
 * where that is off. Which one it is takes turns; where others wait for the work-item that does
 * most, it is that: what it does comes one after the other. */
static bool is_without(const struct zs_timing_machine *m, const struct zs_timing_thread *th)
{
    if (ZS_LIKELY(m->without != ZS_TIMING_GAIN_divergence) || !m->lanes || !th->mask)
        return false;
    uint32_t number = th->group * m->threads_per_group + th->member;
    /* turns spread evenly over few threads, too, and have no period that subslices could have */
    uint32_t lane = (uint32_t)((uint64_t)(number * 0x9e3779b1) * m->lanes >> 32);
    const struct zs_timing_group *g = &m->groups[th->group];
    if (g->busiest_does && g->busiest == th->member)
        lane = g->busiest_lane;
    return !(th->mask >> lane & 1);
}

/* ... Where it is on, all are. */
static uint32_t mask_of(const struct zs_timing_machine *m, const struct zs_timing_thread *th)
{
    bool joins = ZS_UNLIKELY(m->without == ZS_TIMING_GAIN_divergence) && m->lanes && th->mask;
    return joins ? th->mask | UINT32_MAX >> (32 - m->lanes) : th->mask;
}

static struct zs_timing_burst *find_part(struct zs_timing_machine *m, struct zs_timing_thread *th,
                                         uint32_t stop)
{
    bool event = stop < th->inst_end && m->code->next_event[stop] == stop;
    uint32_t number = zs_timing_burst_find(&m->bursts, th->last, th->state, th->inst, stop, event,
                                           mask_of(m, th));
    m->failed = m->failed || number == UINT32_MAX;
    if (m->failed)
        return NULL;
    th->last = number;
    return &m->bursts.items[number];
}

static void add_part(struct zs_timing_machine *m, struct zs_timing_thread *th, uint64_t at,
                     const struct zs_timing_burst *u, uint32_t work[ZS_TIMING_WORKS])
{
    uint32_t times = !is_without(m, th);
    if (ZS_UNLIKELY(m->fetch.lines != NULL) && times) {
        uint64_t fetch =
            zs_timing_fetch_lines(&m->fetch, m->eus[th->eu].subslice, u, at + th->length);
        charge(m, u->inst, ZS_TIMING_FETCH, fetch);
        th->length += (uint32_t)fetch;
    }
    th->parts[th->part_count++] = th->last;
    th->length += u->cycles * times;
    for (uint32_t i = 0; i < ZS_TIMING_WORKS; i++)
        work[i] += u->work[i] * times;
    th->state = u->next_state;
    th->inst = u->stop & ~(uint32_t)ZS_TIMING_BURST_EVENT;
}

/* As many bursts as there are before something happens, at most PARTS. A response that comes before
 * the thread could need it is not waited for. */
static void gather(struct zs_timing_machine *m, struct zs_timing_thread *th, uint64_t at,
                   uint32_t work[ZS_TIMING_WORKS])
{
    const struct zs_timing_code *code = m->code;
    th->after = ZS_TIMING_AFTER_GO;
    while (th->part_count < ZS_TIMING_PARTS) {
        if (th->inst >= th->inst_end && !zs_timing_find_block(m, th)) {
            th->after = ZS_TIMING_AFTER_END;
            return;
        }
        uint32_t stop = ZS_MIN(code->next_event[th->inst], th->inst_end), before = th->last;
        if (ZS_UNLIKELY(m->fetch.lines != NULL)) /* others use the cache meanwhile */
            stop = ZS_MIN(stop, th->inst + ZS_TIMING_FETCH_INSTS);
        const struct zs_timing_burst *u = find_part(m, th, stop);
        if (u && u->waits & th->pending) {
            uint32_t first = th->inst;
            while (!(code->waits[first] & th->pending))
                first++;
            uint64_t waits = code->waits[first] & th->pending;
            bool there = latest_of(th, waits) >> 1 <= at + th->length;
            th->last = before;
            if (there) {
                th->pending &= ~waits;
                continue;
            }
            if (first > th->inst && (u = find_part(m, th, first)))
                add_part(m, th, at, u, work);
            return;
        }
        if (!u) {
            th->after = ZS_TIMING_AFTER_END;
            return;
        }
        add_part(m, th, at, u, work);
        if (u->stop & ZS_TIMING_BURST_EVENT) {
            th->after = ZS_TIMING_AFTER_EVENT;
            return;
        }
    }
}

static void set_step(struct zs_timing_eu *eu, struct zs_timing_thread *th, enum zs_timing_step step,
                     uint64_t cycle)
{
    th->step = (uint8_t)step;
    set_when(eu, th->place, cycle * FRACTION);
    eu->next = NULL;
}

/* From `until` on; what it did before that goes until then. */
static void go_on(struct zs_timing_machine *m, struct zs_timing_eu *eu, struct zs_timing_thread *th,
                  uint64_t at, uint64_t until);

/* At a barrier: until all are there. */
static void reach_barrier(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                          struct zs_timing_thread *th, uint64_t at)
{
    const struct zs_timing_group *g = &m->groups[th->group];
    bool waits = th->passed < th->arrived && m->without != ZS_TIMING_GAIN_barriers &&
                 m->without != ZS_TIMING_GAIN_local_most;
    th->since = at;
    if (waits && th->passed >= g->released) {
        th->step = ZS_TIMING_STEP_STUCK;
        eu->when[th->place] = ZS_TIMING_NEVER;
        return;
    }
    uint64_t until = waits ? ZS_MAX(at, g->release_cycle) : at;
    charge(m, th->inst, ZS_TIMING_SYNC, until - at);
    set_step(eu, th, ZS_TIMING_STEP_BARRIER, until);
}

/* Behind its bursts, when it has what the next instruction waits for. */
static void follow(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                   struct zs_timing_thread *th, uint64_t at)
{
    if (th->after == ZS_TIMING_AFTER_END) {
        set_step(eu, th, ZS_TIMING_STEP_END, at);
        return;
    }
    uint64_t waits = th->inst < th->inst_end ? m->code->waits[th->inst] & th->pending : 0;
    if (waits) {
        uint64_t ready = latest_of(th, waits), cycle = ready >> 1;
        th->pending &= ~waits;
        if (cycle > at) {
            charge(m, th->inst, ready & 1 ? ZS_TIMING_SYNC : ZS_TIMING_SBID, cycle - at);
            th->state = cycle - at > LONG_WAIT ? ZS_TIMING_STATE_NONE : th->state;
            set_step(eu, th, ZS_TIMING_STEP_GO, cycle);
            return;
        }
    }
    if (th->after != ZS_TIMING_AFTER_EVENT) {
        go_on(m, eu, th, at, at);
    } else if (m->code->ops[th->inst].unit == ZS_TIMING_UNIT_SEND) {
        th->since = at;
        set_step(eu, th, ZS_TIMING_STEP_SEND, ZS_MAX(at, eu->send_free));
    } else {
        reach_barrier(m, eu, th, at);
    }
}

static void go_on(struct zs_timing_machine *m, struct zs_timing_eu *eu, struct zs_timing_thread *th,
                  uint64_t at, uint64_t until)
{
    uint32_t work[ZS_TIMING_WORKS] = {0};
    th->after = ZS_TIMING_AFTER_GO;
    if (until > at + LONG_WAIT) {
        set_step(eu, th, ZS_TIMING_STEP_GO, until);
        return;
    }
    th->part_count = th->length = th->uses = 0;
    th->lead = (uint32_t)(until - at);
    gather(m, th, until, work);
    if (!th->length) {
        for (uint32_t i = 0; i < th->part_count; i++) /* nothing but events */
            m->bursts.items[th->parts[i]].count++;
        follow(m, eu, th, until);
        return;
    }
    th->length += th->lead;
    for (uint32_t i = 0; i < ZS_TIMING_WORKS; i++) {
        th->rate[i] = work[i] ? (uint32_t)((uint64_t)work[i] * RATE / th->length) : 0;
        th->uses |= (uint8_t)((work[i] && i < ZS_TIMING_WORK_CONTROL) << i);
    }
    begin_burst(m, eu, th, at);
}

/* ---- barriers ----------------------------------------------------------------------------------
 */

static uint64_t key_of(uint32_t eu, uint64_t cycle)
{
    return cycle << ZS_TIMING_EU_BITS | eu;
}

/* key: UINT64_MAX: never */
static void set_key(struct zs_timing_machine *m, uint32_t eu, uint64_t key)
{
    uint32_t at = m->leaves + eu;
    m->keys[at] = key;
    for (; at > 1; at /= 2) { /* to the root always: hosts know such loops */
        key = ZS_MIN(key, m->keys[at ^ 1]);
        m->keys[at / 2] = key;
    }
}

static void wake(struct zs_timing_machine *m, uint32_t eu, uint64_t cycle)
{
    uint64_t key = key_of(eu, cycle);
    if (key < m->keys[m->leaves + eu])
        set_key(m, eu, key);
}

static struct zs_timing_eu *eu_of(struct zs_timing_machine *m, const struct zs_timing_thread *th)
{
    return &m->eus[th->eu];
}

/* Lets threads go on that wait at barriers which all threads of the group have reached or ended
 * before. */
static void release(struct zs_timing_machine *m, struct zs_timing_group *g, uint64_t cycle)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < m->threads_per_group; i++) {
        const struct zs_timing_thread *th = g->threads[i];
        least = th ? ZS_MIN(least, th->arrived) : least;
    }
    if (least <= g->released)
        return;
    g->released = least;
    g->release_cycle = cycle + m->params->barrier_latency;
    for (uint32_t i = 0; i < m->threads_per_group; i++) {
        struct zs_timing_thread *th = g->threads[i];
        if (!th || th->step != ZS_TIMING_STEP_STUCK || th->passed >= g->released)
            continue;
        struct zs_timing_eu *eu = eu_of(m, th);
        reach_barrier(m, eu, th, th->since);
        wake(m, eu->number, g->release_cycle);
    }
}

static void pass_barrier(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                         struct zs_timing_thread *th, uint64_t at)
{
    count_issue(m, th->inst);
    th->passed += th->passed < th->arrived;
    th->state = ZS_TIMING_STATE_NONE;
    th->inst++;
    go_on(m, eu, th, at, at + m->params->send_front);
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* Where messages are saved: one of these. Which they are has no period that a loop could have, too.
 */
static bool is_saved(const struct zs_timing_machine *m, struct zs_timing_thread *th, uint32_t event)
{
    const uint32_t golden = 0x9e3779b1; /* of 2^32: turns spread evenly */
    uint32_t parts = zs_timing_parts_saved(m->without, &m->code->ops[th->inst]);
    bool local = m->without == ZS_TIMING_GAIN_local || m->without == ZS_TIMING_GAIN_local_most;
    uint32_t own = local ? ZS_PORT_SPACE_SLM : ZS_PORT_SPACE_GLOBAL;
    if (parts == 1 || (event >> ZS_TIMING_EVENT_SPACE & 7) != own ||
        event & (ZS_TIMING_EVENT_ATOMIC | ZS_TIMING_EVENT_BARRIER | ZS_TIMING_EVENT_FENCE))
        return false;
    return (th->turns++ * golden) >> 30 >= 4 / parts;
}

/* Where halves are one: the second half of a message, less the lines of the first. False: that has
 * all of them. */
static bool join_halves(const struct zs_timing_op *op, struct zs_timing_thread *th, uint32_t place,
                        const uint32_t *words, uint64_t *lines, struct zs_timing_request *r)
{
    uint64_t first[ZS_PORT_FOOTPRINT_LINES];
    bool joins = op->second_half && !(r->event & ZS_TIMING_EVENT_ATOMIC);
    const uint32_t *half = joins ? th->half : NULL;
    uint32_t count = half ? zs_timing_read_lines(th, place, half, first) : 0, left = 0;
    th->half = words;
    for (uint32_t i = 0; i < r->line_count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < count && !has; k++)
            has = first[k] == lines[i];
        if (!has)
            lines[left++] = lines[i];
    }
    bool all = half && r->line_count && !left;
    r->line_count = left;
    return !all;
}

/* From when on the thread may go on; *ret_done: the response is there. */
static uint64_t deliver(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                        struct zs_timing_thread *th, const uint32_t *words, uint64_t at, bool saved,
                        uint64_t *ret_done)
{
    const struct zs_timing_op *op = &m->code->ops[th->inst];
    uint64_t lines[ZS_PORT_FOOTPRINT_LINES], front = saved ? at : at + m->params->send_front;
    bool narrow = m->without == ZS_TIMING_GAIN_narrow;
    uint32_t place = eu->number * m->threads_per_eu + th->place;
    struct zs_timing_request r = {
        .subslice = eu->subslice,
        .event = words[1],
        .lines = lines,
        .line_count = zs_timing_read_lines(th, place, words, lines),
        .payload_grf = op->payload_grf,
        .response_grf = op->response_grf,
        .step = (uint64_t)th->group << 32 | (m->has_barriers ? th->passed : th->at),
        .due = m->phase->due + th->inst,
        .accesses = m->phase->accesses + (size_t)th->inst * ZS_GPU_ACCESSES};
    *ret_done = front;
    bool tied = words[1] & (ZS_TIMING_EVENT_BARRIER | ZS_TIMING_EVENT_FENCE);
    if (ZS_UNLIKELY(m->without != ZS_TIMING_GAINS) &&
        (!zs_timing_change_message(m, th, &r) || (is_without(m, th) && !tied) ||
         (saved && !narrow) || (tied && m->without == ZS_TIMING_GAIN_local_most) ||
         ((m->without == ZS_TIMING_GAIN_halves || (narrow && op->narrow)) &&
          !join_halves(op, th, place, words, lines, &r))))
        return front;
    m->stores[th->inst] = zs_timing_stores(words[1]);
    uint64_t done = zs_timing_hierarchy_send(&m->hierarchy, &r, at);
    m->drained = ZS_MAX(m->drained, done);
    bool fence = r.event & ZS_TIMING_EVENT_FENCE;
    if (saved) /* its lines come with the message that has its elements */
        return front;
    *ret_done = m->without == ZS_TIMING_GAIN_latency && !fence ? ZS_MIN(done, front) : done;
    return ZS_MAX(front, zs_timing_hierarchy_accepts(&m->hierarchy, &r));
}

static void send(struct zs_timing_machine *m, struct zs_timing_eu *eu, struct zs_timing_thread *th,
                 uint64_t at)
{
    uint32_t inst = th->inst;
    const struct zs_timing_op *op = &m->code->ops[inst];
    const uint32_t *words = zs_timing_next_message(th); /* NULL: no lane, or the thread's end */
    bool saved = words && ZS_UNLIKELY(m->without != ZS_TIMING_GAINS) && is_saved(m, th, words[1]);
    bool joined = m->without == ZS_TIMING_GAIN_halves && op->second_half;
    uint32_t front = saved ? 0 : m->params->send_front;
    uint32_t cycles = saved    ? 0
                      : joined ? op->payload_grf
                               : ZS_MAX((uint32_t)op->payload_grf, front);
    uint64_t next = at + front, done = next;
    charge(m, inst, ZS_TIMING_SEND, at - th->since);
    count_issue(m, inst);
    eu->send_free = at + cycles;
    m->phase->totals.send_active += cycles;
    m->phase->active += cycles * (1 - eu->busy);
    if (words)
        next = deliver(m, eu, th, words, at, saved, &done);
    charge(m, inst, ZS_TIMING_SEND, next - at - front);
    uint64_t response = m->code->sent[inst];
    if (words && response) {
        uint64_t *ready = &th->ready[__builtin_ctzll(response)];
        uint64_t now = done << 1 | (words[1] & ZS_TIMING_EVENT_FENCE ? 1 : 0);
        *ready = th->pending & response ? ZS_MAX(*ready, now) : now;
        th->pending |= response;
    }
    bool barrier = words && words[1] & ZS_TIMING_EVENT_BARRIER;
    th->arrived += barrier;
    th->inst++;
    go_on(m, eu, th, at, next);
    if (barrier)
        release(m, &m->groups[th->group], at);
}

/* ---- walker ------------------------------------------------------------------------------------
 */

static uint32_t free_places(const struct zs_timing_machine *m, uint32_t eu)
{
    return m->threads_per_eu - (uint32_t)__builtin_popcount(m->eus[eu].live);
}

static uint32_t room_in(const struct zs_timing_machine *m, const struct zs_timing_place *p)
{
    bool full = p->slm_B + m->slm_B > m->params->slm_B ||
                (m->has_barriers && p->barriers >= m->params->barriers);
    return full ? 0 : p->free;
}

/* Whether it has to be dispatched: without divergence others have its lanes. */
static bool start_thread(struct zs_timing_machine *m, uint32_t group, uint32_t member,
                         uint64_t cycle)
{
    struct zs_timing_group *g = &m->groups[group];
    uint32_t first = g->subslice * m->eus_per_subslice, number = first;
    for (uint32_t i = 1; i < m->eus_per_subslice; i++)
        number = free_places(m, first + i) > free_places(m, number) ? first + i : number;
    struct zs_timing_eu *eu = &m->eus[number];
    uint32_t place = (uint32_t)__builtin_ctz(~eu->live);
    uint64_t *dispatch = &m->dispatch_free[g->subslice % m->dispatcher_count];
    struct zs_gpu_timing *t = &m->phase->totals;
    uint64_t *const dispatching[] = {&t->dispatching0, &t->dispatching1, &t->dispatching2};
    if (g->subslice < ZS_ARRAY_LEN(dispatching))
        *dispatching[g->subslice] += m->dispatch_cost;
    struct zs_timing_thread *th = zs_timing_thread_at(m, number, place);
    struct zs_timing_stream *s = zs_timing_stream_of(m, group, member);
    *th = (struct zs_timing_thread){.stream = s,
                                    .words = s->words,
                                    .ranges = s->ranges,
                                    .end = s->count,
                                    .last = UINT32_MAX,
                                    .group = group,
                                    .member = member,
                                    .eu = number,
                                    .place = place};
    bool runs = zs_timing_find_block(m, th);
    bool is_there = !is_without(m, th);
    *dispatch = ZS_MAX(*dispatch, cycle) + (is_there ? m->dispatch_cost : 0);
    th->since = th->begun = *dispatch;
    if (!eu->live)
        eu->loaded_since = *dispatch;
    eu->live |= 1u << place;
    m->places[g->subslice].free--;
    g->threads[member] = th;
    if (runs)
        charge(m, th->inst, ZS_TIMING_OTHER, m->params->start_latency);
    set_step(eu, th, ZS_TIMING_STEP_GO, *dispatch + m->params->start_latency);
    wake(m, number, *dispatch + m->params->start_latency);
    return is_there;
}

/* Groups that there is room for, in their order. */
static void dispatch(struct zs_timing_machine *m, uint64_t cycle)
{
    while (m->next_group < m->group_count) {
        if (m->next_group == m->skip_from)
            m->next_group = m->skip_until;
        if (m->next_group == m->group_count)
            return;
        uint32_t best = 0, best_room = 0;
        for (uint32_t s = 0; s < m->subslice_count; s++) {
            uint32_t room = room_in(m, &m->places[s]);
            best = room > best_room ? s : best;
            best_room = ZS_MAX(best_room, room);
        }
        if (best_room < m->threads_per_group)
            return;
        struct zs_timing_group *g = &m->groups[m->next_group];
        g->subslice = best;
        g->live = m->threads_per_group;
        g->threads = m->members + (size_t)m->next_group * m->threads_per_group;
        m->places[best].slm_B += m->slm_B;
        m->places[best].barriers++;
        uint32_t there = 0;
        for (uint32_t i = 0; i < m->threads_per_group; i++)
            there += start_thread(m, (uint32_t)m->next_group, i, cycle);
        m->dispatch_free[best % m->dispatcher_count] +=
            (uint64_t)m->dispatch_others * there / m->threads_per_group;
        m->next_group++;
    }
}

/* Cycles from `at` to when a thread of the EU is there. */
static uint64_t until_next(struct zs_timing_machine *m, const struct zs_timing_eu *eu, uint64_t at)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t left = eu->live; left; left &= left - 1)
        next =
            ZS_MIN(next, zs_timing_thread_at(m, eu->number, (uint32_t)__builtin_ctz(left))->since);
    return next > at ? next - at : 0;
}

/* Where the last group is one that other parts do not have. */
static void count_alone(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                        const struct zs_timing_thread *th, uint64_t at)
{
    uint32_t last = (uint32_t)m->group_count - 1;
    bool alone = th->group == last;
    for (uint32_t left = eu->live; left && alone; left &= left - 1)
        alone = zs_timing_thread_at(m, eu->number, (uint32_t)__builtin_ctz(left))->group == last;
    uint64_t from = ZS_MAX(th->begun, eu->others_end);
    m->alone += alone && at > from ? at - from : 0;
    eu->others_end = ZS_MAX(eu->others_end, at);
}

static void end_thread(struct zs_timing_machine *m, struct zs_timing_eu *eu,
                       struct zs_timing_thread *th, uint64_t at)
{
    struct zs_timing_group *g = &m->groups[th->group];
    if (m->part->share > 1)
        count_alone(m, eu, th, at);
    m->cut = m->cut || th->stream->full;
    eu->live &= ~(1u << th->place);
    eu->when[th->place] = ZS_TIMING_NEVER;
    m->places[eu->subslice].free++;
    if (!eu->live)
        m->phase->totals.eu_loaded += at - ZS_MIN(at, eu->loaded_since);
    else
        eu->loaded_since += until_next(m, eu, at); /* those that are left have not begun */
    g->threads[th->member] = NULL;
    g->longest = ZS_MAX(g->longest, at - th->begun);
    m->spent += at - th->begun;
    if (--g->live == 0) {
        m->spent_most += g->longest * m->threads_per_group;
        m->places[g->subslice].slm_B -= m->slm_B;
        m->places[g->subslice].barriers--;
        m->ended_groups++;
    } else {
        release(m, g, at);
    }
    dispatch(m, at);
}

/* ---- order -------------------------------------------------------------------------------------
 */

/* The first step's time and place, of equals the first place's. Places without a thread come last.
 */
static inline uint64_t first_of(const struct zs_timing_eu *eu, uint32_t places)
{
    enum { FEW = 8 };
    uint64_t even = UINT64_MAX, odd = UINT64_MAX;
    for (uint32_t first = 0; first < places; first += FEW) {
#pragma GCC unroll 4
        for (uint32_t i = first; i < first + FEW; i += 2) {
            even = ZS_MIN(even, eu->when[i]);
            odd = ZS_MIN(odd, eu->when[i + 1]);
        }
    }
    return ZS_MIN(even, odd);
}
_Static_assert(ZS_TIMING_PLACES == 16, "eight at a time");

/* Until the EU comes to something that others see and that happens later than `until`, or that
 * others may change: when a barrier lets threads go it takes a while until they can. */
static void run_eu(struct zs_timing_machine *m, struct zs_timing_eu *eu, uint64_t until)
{
    uint64_t last = until + m->params->barrier_latency;
    struct zs_timing_thread *waits = eu->next; /* as the EU was left */
    eu->next = NULL;
    if (waits && waits->step == ZS_TIMING_STEP_SEND && eu->send_free <= until)
        send(m, eu, waits, until); /* mostly */
    for (;;) {
        if (eu->changed)
            change_pace(m, eu);
        uint64_t first = first_of(eu, m->threads_per_eu);
        uint32_t place = (uint32_t)first & (ZS_TIMING_PLACES - 1);
        if (first == ZS_TIMING_NEVER) {
            set_key(m, eu->number, UINT64_MAX);
            return;
        }
        struct zs_timing_thread *th = zs_timing_thread_at(m, eu->number, place);
        uint64_t at = ((first >> PLACE_BITS) + FRACTION - 2) / FRACTION;
        if (at > last || (th->step >= ZS_TIMING_STEP_SEND && at > until)) {
            set_key(m, eu->number, key_of(eu->number, at));
            eu->next = th;
            return;
        }
        if (th->step == ZS_TIMING_STEP_BURST) {
            end_burst(m, eu, th, at);
            follow(m, eu, th, at);
            if (th->step == ZS_TIMING_STEP_SEND && at <= until && eu->send_free <= at)
                send(m, eu, th, at); /* nothing comes before it */
        } else if (th->step == ZS_TIMING_STEP_GO) {
            follow(m, eu, th, at);
        } else if (th->step == ZS_TIMING_STEP_BARRIER) {
            pass_barrier(m, eu, th, at);
        } else if (th->step == ZS_TIMING_STEP_SEND) {
            if (eu->send_free > at)
                set_when(eu, place, eu->send_free * FRACTION);
            else
                send(m, eu, th, at);
        } else {
            end_thread(m, eu, th, at);
        }
    }
}

/* Behind what was left out caches do not have what neighbours read, until the device is full with
 * others: no launch has that. */
static uint32_t phase_of(const struct zs_timing_machine *m, uint64_t cycle)
{
    uint64_t join = m->skip_until;
    if (m->one_wave)
        return m->cut ? ZS_TIMING_TAIL : cycle >= m->filled ? ZS_TIMING_EVEN : ZS_TIMING_HEAD;
    bool joins = m->skips && m->next_group > join && m->next_group <= join + m->join_groups;
    return m->next_group >= m->group_count    ? ZS_TIMING_TAIL
           : joins                            ? ZS_TIMING_JOIN
           : m->ended_groups < m->warm_groups ? ZS_TIMING_HEAD
                                              : ZS_TIMING_EVEN;
}

/* Phases and slices: scale.c. */
static void watch(struct zs_timing_machine *m, uint64_t cycle)
{
    uint32_t phase = phase_of(m, cycle);
    bool first = m->one_wave ? phase == ZS_TIMING_HEAD : m->ended_groups < m->resident_groups;
    if (m->phase != &m->phases[phase])
        zs_timing_begin_phase(m, phase, cycle);
    if (phase == ZS_TIMING_JOIN)
        m->next_slice = 0;
    if (first || phase >= ZS_TIMING_TAIL)
        return;
    if (!m->next_slice)
        zs_timing_begin_slice(m, cycle);
    else if (m->issues >= m->next_slice)
        zs_timing_end_slice(m, cycle);
}

static inline void fetch_step(const struct zs_timing_machine *m, uint32_t eu)
{
    const struct zs_timing_thread *next = m->eus[eu].next;
    if (!next)
        return;
    __builtin_prefetch(next->parts);
    __builtin_prefetch(next->ready);
    if (next->at < next->end)
        __builtin_prefetch(next->words + next->at);
}

/* What the host will want soon: of EUs that are alike, steps come at the same time, one after the
 * other; else the next one is mostly in the tree's other half. */
static inline void fetch_ahead(const struct zs_timing_machine *m, uint32_t eu)
{
    uint64_t key = m->keys[1] == m->keys[2] ? m->keys[3] : m->keys[2];
    if (key != UINT64_MAX)
        fetch_step(m, (uint32_t)key & ((1u << ZS_TIMING_EU_BITS) - 1));
    if (eu + 2 >= m->eu_count)
        return;
    fetch_step(m, eu + 1);
    __builtin_prefetch(&m->eus[eu + 2]);
    __builtin_prefetch(m->eus[eu + 2].when);
    __builtin_prefetch(m->eus[eu + 2].next);
}

void zs_timing_run(struct zs_timing_machine *m)
{
    dispatch(m, 0);
    for (uint32_t i = 0; i < m->dispatcher_count; i++)
        m->filled = ZS_MAX(m->filled, m->dispatch_free[i]);
    while (m->keys[1] != UINT64_MAX && !m->failed) {
        uint64_t cycle = m->keys[1] >> ZS_TIMING_EU_BITS;
        uint32_t number = (uint32_t)m->keys[1] & ((1u << ZS_TIMING_EU_BITS) - 1);
        m->now = ZS_MAX(m->now, cycle);
        if (m->leaves > 1)
            fetch_ahead(m, number);
        if (m->in_part)
            watch(m, m->now);
        run_eu(m, &m->eus[number], cycle);
    }
}
