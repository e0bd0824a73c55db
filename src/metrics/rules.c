/* SPDX-License-Identifier: MIT */
/* What each rule of rules.def looks at. Limits are shares at which it pays to look. */
#include "metrics/analysis_priv.h"
#include "metrics/profile_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* percent of the time */
enum { GAIN_LEAST = 2, GAIN_MUCH = 5 };
enum { SLM_CYCLE_B = 64 }; /* 16 banks of local memory, four bytes each */

void rule_say(struct zs_found *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
}

void rule_number(struct zs_found *f, const char *name, double value, const char *unit)
{
    if (!isnan(value) && f->number_count < ZS_FINDING_NUMBERS)
        f->numbers[f->number_count++] = (struct zs_finding_number){name, unit, value};
}

static void quantity(const struct rule_context *c, struct zs_found *f, enum zs_quantity q)
{
    rule_number(f, zs_quantity_rows[q].name, c->profile->values[q], zs_quantity_rows[q].unit);
}

void rule_lines(const struct rule_context *c, struct zs_found *f,
                double (*amount)(const struct zs_profile *, uint32_t, void *), void *user)
{
    f->place_count = zs_profile_lines(c->analysis->profiles, c->profile, amount, user, f->places,
                                      ZS_FINDING_PLACES);
    if (!f->place_count)
        f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
}

static double share(const struct zs_profile *p, uint32_t i, void *user)
{
    return zs_profile_share(p, *(enum zs_quantity *)user, i);
}

static void lines_of(const struct rule_context *c, struct zs_found *f, enum zs_quantity q)
{
    rule_lines(c, f, share, &q);
}

static double sampled(const struct zs_profile *p, uint32_t i, void *user)
{
    (void)p;
    return ((const double *)user)[i];
}

/* By what was measured at each address; false: nothing was. */
bool rule_lines_sampled(const struct rule_context *c, struct zs_found *f, const char *metric)
{
    double *values = analysis_sampled(c->analysis, c->profile, metric);
    double all = 0;
    for (uint32_t i = 0; values && i < c->profile->inst_count; i++)
        all += values[i];
    if (all > 0)
        rule_lines(c, f, sampled, values);
    return all > 0;
}

static bool needs(struct rule_context *c, enum zs_quantity q)
{
    c->missing = zs_profile_why(c->analysis->profiles, c->profile, q);
    return c->missing == NULL;
}

/* ---- memory ---- */

static bool rule_memory_bound(struct rule_context *c, struct zs_found *f)
{
    const struct zs_roofline *r = c->roofline;
    const struct zs_roof *slowest = NULL;
    if (!needs(c, ZS_Q_ISSUE) || !needs(c, ZS_Q_GLOBAL_BYTES))
        return false;
    for (uint32_t i = 0; i < r->roof_count; i++)
        if (r->roofs[i].rate > 0 &&
            (!slowest || r->roofs[i].bytes / r->roofs[i].rate > slowest->bytes / slowest->rate))
            slowest = &r->roofs[i];
    bool has_moved = !isnan(analysis_metric(c->analysis, "ZscopeMemory.MemoryBytesRead"));
    if (!slowest && r->roof_count && has_moved)
        c->missing = "its driver tells no rate of the device's memory";
    else if (!slowest && r->roof_count)
        c->missing = "no rate of its caches is published: `zescope record --metrics "
                     "ZscopeMemory` (or ComputeBasic, ComputeOverview of Intel's) records what "
                     "memory moves";
    /* what moves takes at least half as long as what is issued, and operations are too few to need
     * the units: the roof over the kernel is that of a memory */
    if (!slowest || !(r->memory_ns >= r->compute_ns / 2) || !(slowest->attainable < r->peak / 2) ||
        !rule_memory_is_busy(c)) /* who waits for it is another finding */
        return false;
    f->severity = fmin(r->memory_ns / (r->memory_ns + r->compute_ns), 1);
    /* what moves without being asked for is another finding */
    double use = analysis_metric(c->analysis, "SectorUse");
    if (use < 100)
        f->gain *= use / 100;
    struct zs_buf reached = {0};
    zs_unit_put_value(&reached, slowest->attainable, r->rate_unit);
    zs_buf_puts(&reached, " of ");
    zs_unit_put_value(&reached, r->peak, r->rate_unit);
    rule_say(f, "%.3g %s for each byte of %s: at most %s can be reached", slowest->intensity,
             r->operations, slowest->name, zs_buf_cstr(&reached));
    zs_buf_fini(&reached);
    rule_number(f, "intensity", slowest->intensity, "flop/B");
    rule_number(f, "bytes", slowest->bytes, "B");
    rule_number(f, "least_time_memory", r->memory_ns, "ns");
    rule_number(f, "least_time_issue", r->compute_ns, "ns");
    rule_number(f, "rate", slowest->asked_rate, "GB/s");
    rule_number(f, "peak_rate", slowest->rate, "GB/s");
    lines_of(c, f, !strcmp(slowest->name, ROOF_LOCAL_MEMORY) ? ZS_Q_SLM_BYTES : ZS_Q_GLOBAL_BYTES);
    return true;
}

/* Lines of 64 bytes beyond those that the bytes need. */
static double wasted_lines(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct zs_lane_access *a = &((const struct zs_lane_access *)user)[i];
    if (!a->is_known || p->insts[i].space != ZS_SPACE_BUFFER || !(p->insts[i].executions > 0))
        return 0;
    return p->insts[i].executions * (a->lines - a->lines_least);
}

/* Messages whose addresses the code does not tell. */
static double not_followed(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct zs_lane_access *a = &((const struct zs_lane_access *)user)[i];
    const struct zs_isa_message *m = zs_isa_inst_message(p->code->isa, i);
    if (a->is_known || p->insts[i].space != ZS_SPACE_BUFFER || !(p->insts[i].executions > 0))
        return 0;
    return m && m->flags & ZS_MSGF_BLOCK ? 0 : p->insts[i].executions;
}

struct lines_touched {
    double touched, least, other, followed;
    int64_t stride_B; /* of the message that wastes most; 0: none */
};

static struct lines_touched count_touched(const struct zs_profile *p,
                                          const struct zs_lane_access *accesses)
{
    struct lines_touched t = {0};
    double most = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const struct zs_lane_access *a = &accesses[i];
        double n = p->insts[i].executions, wasted;
        if (p->insts[i].space != ZS_SPACE_BUFFER || !(n > 0))
            continue;
        t.other += not_followed(p, i, (void *)(uintptr_t)accesses);
        if (!a->is_known)
            continue;
        t.followed += n;
        t.touched += n * a->lines;
        t.least += n * a->lines_least;
        wasted = wasted_lines(p, i, (void *)(uintptr_t)accesses);
        if (wasted > most) {
            most = wasted;
            t.stride_B = a->has_stride ? a->stride_B : 0;
        }
    }
    return t;
}

/* Sectors that moved beyond those that the bytes need, by instruction; NULL: none. */
static double *wasted_sectors(const struct rule_context *c)
{
    const struct zs_profile *p = c->profile;
    double *sectors = analysis_sampled(c->analysis, p, "Sectors"), all = 0;
    for (uint32_t i = 0; sectors && i < p->inst_count; i++) {
        double needed = (p->insts[i].read_B + p->insts[i].written_B) / 64;
        bool counts = p->insts[i].space == ZS_SPACE_BUFFER && sectors[i] > needed;
        sectors[i] = counts ? sectors[i] - needed : 0;
        all += sectors[i];
    }
    return all > 0 ? sectors : NULL;
}

/* By these, or by messages whose addresses the code does not tell. */
static void lines_of_wasted(const struct rule_context *c, struct zs_found *f)
{
    double *wasted = wasted_sectors(c);
    if (wasted)
        rule_lines(c, f, sampled, wasted);
    else
        rule_lines(c, f, not_followed, (void *)(uintptr_t)c->accesses);
}

/* Whether the addresses of most of what moves in vain are data: lanes have loaded them. */
static bool is_data(const struct rule_context *c)
{
    const double *wasted = wasted_sectors(c);
    double data = 0, other = 0;
    for (uint32_t i = 0; i < c->profile->inst_count; i++) {
        double n = not_followed(c->profile, i, (void *)(uintptr_t)c->accesses);
        n = wasted && n > 0 ? wasted[i] : n;
        *(c->accesses[i].from_load ? &data : &other) += n;
    }
    return data > other;
}

/* Of what moves in vain the part of messages whose addresses the code tells: layouts mend that. */
static double part_of_code(const struct rule_context *c)
{
    const double *wasted = wasted_sectors(c);
    double own = 0, data = 0;
    for (uint32_t i = 0; wasted && i < c->profile->inst_count; i++)
        *(c->accesses[i].is_known || !c->accesses[i].from_load ? &own : &data) += wasted[i];
    return own > 0 ? own / (own + data) : 1;
}

/* Of both rules; in_code: the code tells how far apart lanes are. */
static bool touches_many(struct rule_context *c, struct zs_found *f, struct lines_touched *t,
                         bool *ret_in_code)
{
    double use = analysis_metric(c->analysis, "SectorUse");
    if (!needs(c, ZS_Q_GLOBAL_MESSAGES))
        return false;
    if (!c->accesses) {
        c->missing = "its code is too large for following addresses";
        return false;
    }
    *t = count_touched(c->profile, c->accesses);
    bool in_code = t->touched >= 1.5 * t->least && t->touched > t->least, measured = use < 50;
    *ret_in_code = in_code;
    if (in_code || measured || f->gain >= GAIN_MUCH) {
        f->severity = in_code    ? 1 - t->least / t->touched
                      : measured ? 1 - use / 100
                                 : f->gain / 100;
        return true;
    }
    if (isnan(f->gain) && isnan(use) && t->other > 0.1 * (t->other + t->followed))
        c->missing = "addresses are not told by its code: `zescope record --metrics "
                     "ZscopeMemory` records what moves";
    return false;
}

static void put_touched(struct rule_context *c, struct zs_found *f, const struct lines_touched *t)
{
    rule_number(f, "lines_touched", t->touched, "lines");
    rule_number(f, "lines_needed", t->least, "lines");
    rule_number(f, "stride", t->stride_B ? (double)t->stride_B : (double)NAN, "B");
    rule_number(f, "messages_not_followed", t->other, "messages");
    rule_number(f, "SectorUse", analysis_metric(c->analysis, "SectorUse"), "%");
}

static bool rule_uncoalesced(struct rule_context *c, struct zs_found *f)
{
    static const double ALL = 0.9;
    struct lines_touched t;
    bool in_code;
    /* of what the code tells, lines are as few as can be: they begin within one */
    if (!touches_many(c, f, &t, &in_code) || (!in_code && (is_data(c) || t.followed > t.other)))
        return false;
    double part = in_code ? part_of_code(c) : 1;
    f->gain *= part;
    f->least = part < ALL ? 0 : f->gain; /* beside the others it may be none */
    if (in_code && t.stride_B)
        rule_say(
            f,
            "neighbouring work-items are %lld bytes apart: messages touch %.3g times the lines "
            "of 64 bytes that their bytes need",
            (long long)t.stride_B, t.touched / t.least);
    else if (in_code)
        rule_say(f, "messages touch %.3g times the lines of 64 bytes that their bytes need",
                 t.touched / t.least);
    else
        rule_say(f,
                 "neighbouring work-items ask for bytes far apart: a message touches many lines");
    put_touched(c, f, &t);
    if (in_code)
        rule_lines(c, f, wasted_lines, (void *)(uintptr_t)c->accesses);
    else
        lines_of_wasted(c, f);
    return true;
}

static bool rule_scattered(struct rule_context *c, struct zs_found *f)
{
    struct lines_touched t;
    bool in_code;
    double use = analysis_metric(c->analysis, "SectorUse");
    if (!touches_many(c, f, &t, &in_code)) {
        c->missing = NULL; /* told by rule_uncoalesced() */
        return false;
    }
    if (in_code || !is_data(c))
        return false;
    if (use < 100)
        rule_say(f,
                 "where lanes read or write is what they have loaded: of the bytes that move only "
                 "%.3g %% are asked for",
                 use);
    else
        rule_say(
            f, "where lanes read or write is what they have loaded: a message touches many lines");
    put_touched(c, f, &t);
    lines_of_wasted(c, f);
    return true;
}

static double conflict_cycles(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct zs_lane_access *a = &((const struct zs_lane_access *)user)[i];
    if (!a->is_known || p->insts[i].space != ZS_SPACE_SLM || !(p->insts[i].executions > 0))
        return 0;
    return p->insts[i].executions * (a->cycles - a->cycles_least);
}

/* Cycles of local memory's banks. */
struct bank_cycles {
    double cycles, least; /* as far as the code tells addresses */
    double followed, other;
    double conflicts, conflicts_least; /* measured; NaN: they were not */
    double most;
    int64_t stride_B; /* of the message with most conflicts; 0: none that is even */
};

static struct bank_cycles count_bank_cycles(const struct rule_context *c)
{
    const struct zs_profile *p = c->profile;
    struct bank_cycles b = {
        .conflicts = analysis_metric(c->analysis, "ZscopeMemory.SlmConflictCycles"),
        .conflicts_least =
            fmax(analysis_metric(c->analysis, "ZscopeMemory.SlmMessages"),
                 analysis_metric(c->analysis, "ZscopeMemory.SlmBytesAsked") / SLM_CYCLE_B)};
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const struct zs_lane_access *a = &c->accesses[i];
        double n = p->insts[i].executions;
        if (p->insts[i].space != ZS_SPACE_SLM || !(n > 0))
            continue;
        *(a->is_known ? &b.followed : &b.other) += n;
        b.cycles += a->is_known ? n * a->cycles : 0;
        b.least += a->is_known ? n * a->cycles_least : 0;
        double conflicts = conflict_cycles(p, i, (void *)(uintptr_t)c->accesses);
        if (conflicts > b.most) {
            b.most = conflicts;
            b.stride_B = a->has_stride ? a->stride_B : 0;
        }
    }
    return b;
}

/* Devices give groups powers of two: with one element more fewer of them fit. */
static bool has_no_room_for_more(const struct zs_profile *p)
{
    uint64_t slm_B = p->values[ZS_Q_SLM] > 0 ? (uint64_t)p->values[ZS_Q_SLM] : 0;
    double threads = ceil(p->values[ZS_Q_GROUP_ITEMS] / p->values[ZS_Q_SIMD]);
    double groups = p->values[ZS_Q_OCCUPANCY] / 100 * p->peaks.slot_count / threads;
    return slm_B >= 1024 && !(slm_B & (slm_B - 1)) &&
           2 * (double)slm_B * groups > (double)p->peaks.subslice_slm_B;
}

static bool rule_bank_conflicts(struct rule_context *c, struct zs_found *f)
{
    if (!needs(c, ZS_Q_SLM_MESSAGES))
        return false;
    if (!c->accesses) {
        c->missing = "its code is too large for following addresses";
        return false;
    }
    struct bank_cycles b = count_bank_cycles(c);
    bool in_code = b.least > 0 && b.cycles >= 1.5 * b.least;
    bool measured = b.conflicts > 0 && b.conflicts >= 0.5 * b.conflicts_least;
    bool costs = f->gain >= GAIN_MUCH;
    if (!in_code && !measured && !costs) {
        if (!isnan(f->gain))
            return false;
        if (isnan(b.conflicts) && b.other > 0.1 * (b.other + b.followed))
            c->missing = "addresses are not told by its code: `zescope record --metrics "
                         "ZscopeMemory` records conflicts";
        return false;
    }
    double times = in_code    ? b.cycles / b.least
                   : measured ? 1 + b.conflicts / b.conflicts_least
                              : (double)NAN;
    f->severity = isnan(times) ? f->gain / 100 : 1 - 1 / times;
    if (in_code && b.stride_B)
        rule_say(f,
                 "neighbouring work-items are %lld bytes apart in local memory and hit the same of "
                 "its 16 banks: it takes %.3g times as long; %lld bytes would not",
                 (long long)b.stride_B, times,
                 (long long)(b.stride_B < 0 ? b.stride_B - 4 : b.stride_B + 4));
    else if (isnan(times))
        rule_say(f, "lanes of a message hit one bank of local memory at different addresses");
    else
        rule_say(f,
                 "lanes of a message hit one bank of local memory at different addresses: it takes "
                 "%.3g times as long",
                 times);
    size_t used = strlen(f->text);
    if (has_no_room_for_more(c->profile))
        snprintf(
            f->text + used, sizeof(f->text) - used,
            "; with more than its %.0f bytes fewer groups fit: instead of padding rows permute "
            "their elements (i ^ row)",
            c->profile->values[ZS_Q_SLM]);
    rule_number(f, "bank_cycles", in_code ? b.cycles : (double)NAN, "cycles");
    rule_number(f, "bank_cycles_without", in_code ? b.least : (double)NAN, "cycles");
    rule_number(f, "stride", b.stride_B ? (double)b.stride_B : (double)NAN, "B");
    rule_number(f, "messages_not_followed", b.other, "messages");
    rule_number(f, "SlmConflictCycles", b.conflicts, "cycles");
    rule_number(f, "SlmCyclesWithout", measured ? b.conflicts_least : (double)NAN, "cycles");
    if (rule_lines_sampled(c, f, "SlmConflictCycles"))
        return true;
    if (in_code)
        rule_lines(c, f, conflict_cycles, (void *)(uintptr_t)c->accesses);
    else
        lines_of(c, f, ZS_Q_SLM_MESSAGES);
    return true;
}

static bool rule_spills(struct rule_context *c, struct zs_found *f)
{
    const double *v = c->profile->values;
    if (!needs(c, ZS_Q_SPILLS) || !(v[ZS_Q_SPILLS] > 0) || rule_is_unoptimised(c))
        return false;
    double messages = v[ZS_Q_SCRATCH_MESSAGES], all = v[ZS_Q_MESSAGES];
    f->severity = messages > 0 && all > 0 ? messages / all : 0.1;
    if (messages >= 0)
        rule_say(
            f,
            "%.0f bytes of registers of each thread are spilled: %.0f of %.0f messages save and "
            "load them",
            v[ZS_Q_SPILLS], messages, all);
    else
        rule_say(f, "%.0f bytes of registers of each thread are spilled", v[ZS_Q_SPILLS]);
    quantity(c, f, ZS_Q_SPILLS);
    quantity(c, f, ZS_Q_SCRATCH_MESSAGES);
    quantity(c, f, ZS_Q_SCRATCH_BYTES);
    quantity(c, f, ZS_Q_LIVE_REGISTERS);
    lines_of(c, f, c->profile->is_counted ? ZS_Q_SCRATCH_BYTES : ZS_Q_SPILLS);
    return true;
}

/* ---- lanes ---- */

/* What part of these lanes has a work-item: the last thread of a group may be filled in part. */
static double lanes_with_items(const struct zs_profile *p, double first, double count)
{
    double simd = p->code->kernel->simd, with = 0, all = 0;
    for (size_t i = 0; i < p->shapes.count; i++) {
        const struct zs_shape *s = &p->shapes.items[i];
        double items = (double)s->size[0] * s->size[1] * s->size[2];
        double groups = (double)s->groups[0] * s->groups[1] * s->groups[2] * (double)s->launches;
        if (!(items > 0) || !(groups > 0) || !(simd > 0))
            continue;
        double threads = ceil(items / simd), rest = items - (threads - 1) * simd;
        with += groups * ((threads - 1) * count + fmin(fmax(rest - first, 0), count));
        all += groups * threads * count;
    }
    return all > 0 ? with / all : 1;
}

static double lost_lanes(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct zs_inst_profile *n = &p->insts[i];
    const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
    (void)user;
    if (!n->is_masked || !(n->executions > 0))
        return 0;
    double could = n->executions * inst->exec_size *
                   lanes_with_items(p, inst->channel_offset, inst->exec_size);
    return could > n->lanes ? could - n->lanes : 0;
}

/* Of lanes that are off those that have no work-item. */
static double empty_lanes(const struct zs_profile *p)
{
    double empty = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
        double n = p->insts[i].executions * inst->exec_size;
        if (p->insts[i].is_masked && n > 0)
            empty += n * (1 - lanes_with_items(p, inst->channel_offset, inst->exec_size));
    }
    return empty;
}

static bool rule_divergence(struct rule_context *c, struct zs_found *f)
{
    const struct zs_profile *p = c->profile;
    double lost = 0, used = 0;
    if (!needs(c, ZS_Q_LANES))
        return false;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        lost += lost_lanes(p, i, NULL);
        used += p->insts[i].is_masked && p->insts[i].lanes > 0 ? p->insts[i].lanes : 0;
    }
    if (!(lost > 0.2 * (lost + used)))
        return false;
    f->severity = lost / (lost + used);
    f->gain *= lost / (lost + empty_lanes(p));
    rule_say(f,
             "%.0f %% of the lanes of masked instructions were off: work-items of a thread take "
             "different ways",
             100 * f->severity);
    quantity(c, f, ZS_Q_LANE_USE);
    rule_number(f, "lanes_off", lost, "lanes");
    rule_number(f, "lanes_on", used, "lanes");
    rule_lines(c, f, lost_lanes, NULL);
    return true;
}

static bool rule_partial_threads(struct rule_context *c, struct zs_found *f)
{
    enum { WIDEST = 32 };
    if (!needs(c, ZS_Q_LANES))
        return false;
    double items = lanes_with_items(c->profile, 0, c->profile->code->kernel->simd);
    if (!(items < 0.9))
        return false;
    double lost = 0, empty = empty_lanes(c->profile);
    for (uint32_t i = 0; i < c->profile->inst_count; i++)
        lost += lost_lanes(c->profile, i, NULL);
    f->severity = 1 - items;
    double group = c->profile->values[ZS_Q_GROUP_ITEMS], simd = c->profile->values[ZS_Q_SIMD];
    bool narrow = group <= simd && simd < WIDEST;
    f->gain *= empty > 0 ? empty / (empty + lost) : 0;
    f->least = f->gain;
    if (narrow) /* compilers give threads of small groups few lanes */
        f->gain = 100 - (100 - f->gain) * simd / WIDEST;
    rule_say(f, "%.0f %% of the lanes have no work-item: groups of %.0f, threads of %.0f%s",
             100 * (1 - items), group, simd,
             narrow ? "; for larger groups they may have 32 lanes" : "");
    quantity(c, f, ZS_Q_GROUP_ITEMS);
    quantity(c, f, ZS_Q_SIMD);
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}

/* ---- threads ---- */

const char *zs_limiter_text(enum zs_limiter limiter)
{
    static const char *const texts[ZS_LIMITERS] = {
        [ZS_LIMIT_NOTHING] = "nothing",
        [ZS_LIMIT_SLM] = "local memory",
        [ZS_LIMIT_BARRIERS] = "groups with barriers",
        [ZS_LIMIT_GROUP_SIZE] = "size of the work-group",
        [ZS_LIMIT_REGISTERS] = "large register files",
    };
    return texts[limiter];
}

/* Percent of the launch that go by before threads are under way. */
static double begins_after(const struct rule_context *c)
{
    return fmax(analysis_metric(c->analysis, "ZscopeGains.LaunchBusy"),
                analysis_gain(c->analysis, "DispatchGain"));
}

/* Where the same is spread over all of the device, a thread has as much less to do as there are
 * more of them, and units have as much to do as before. Where groups are few that is what is wrong;
 * else what is for latency of messages is told there, and first where EUs have several threads,
 * which have begun to hide it. Of results of pipes more of them hide all. */
static double gain_of_groups(const struct rule_context *c, double used, bool *ret_general)
{
    enum { FEW = 4 }; /* groups for each subslice */
    const struct zs_peaks *p = &c->profile->peaks;
    const struct zs_shape *shape = profile_main_shape(c->profile);
    double groups =
        shape ? (double)shape->groups[0] * shape->groups[1] * shape->groups[2] : INFINITY;
    double latency = analysis_gain(c->analysis, "LatencyGain");
    bool several = used * p->threads > 100.0 * p->eus, few = groups < FEW * (double)p->subslices;
    if (several && !few && !(analysis_gain(c->analysis, "DependencyGain") > latency))
        return latency / 3;
    double begin = begins_after(c); /* more threads take no less of it */
    double busiest = c->limit->unit_count ? c->limit->units[0].percent : 100;
    *ret_general = several && !few;
    return 100 - begin - fmax(busiest, (100 - begin) * used / 100) - (few ? 0 : latency);
}

static bool rule_low_occupancy(struct rule_context *c, struct zs_found *f)
{
    const double *v = c->profile->values;
    if (!needs(c, ZS_Q_OCCUPANCY))
        return false;
    double fill = isnan(v[ZS_Q_FILL]) ? 100 : v[ZS_Q_FILL];
    double used = v[ZS_Q_OCCUPANCY] * fill / 100;
    if (!(used < 50))
        return false;
    f->severity = 1 - used / 100;
    /* more threads ask as much of the busiest unit */
    double room = analysis_gain(c->analysis, "RoomGain");
    double idle = c->limit->unit_count ? 100 - c->limit->units[0].percent : 100;
    f->gain = c->profile->limiter == ZS_LIMIT_SLM && v[ZS_Q_OCCUPANCY] < 50
                  ? (room > idle ? idle : room)
                  : fmax(analysis_gain(c->analysis, "IdleGain"),
                         v[ZS_Q_OCCUPANCY] < 50 ? analysis_gain(c->analysis, "LatencyGain")
                                                : gain_of_groups(c, used, &f->is_general));
    if (v[ZS_Q_OCCUPANCY] < 50)
        rule_say(f, "%.3g %% of the device's threads fit at the same time: %s limits them",
                 v[ZS_Q_OCCUPANCY], zs_limiter_text(c->profile->limiter));
    else
        rule_say(f, "a launch fills %.3g %% of the device's threads: it has too few work-groups",
                 used);
    quantity(c, f, ZS_Q_OCCUPANCY);
    quantity(c, f, ZS_Q_FILL);
    quantity(c, f, ZS_Q_GROUP_ITEMS);
    quantity(c, f, ZS_Q_SLM);
    quantity(c, f, ZS_Q_SIMD);
    rule_number(f, "EuThreadOccupancy", analysis_metric(c->analysis, "EuThreadOccupancy"), "%");
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}

/* Places for threads in all rounds. */
static double use_of_rounds(double waves)
{
    return waves / ceil(waves - 1e-9);
}

/* EUs that have a thread left have places free, too: but the busiest unit has as much to do, and
 * over all of a launch does no more than FULL percent of what it can. */
double rule_gain_of_places(const struct rule_context *c)
{
    enum { FULL = 95 };
    const double *v = c->profile->values;
    if (!c->limit->unit_count || !(v[ZS_Q_WAVES] > 1))
        return 0;
    double there = analysis_metric(c->analysis, "EuThreadOccupancy");
    double places = 100 - 100 * there / v[ZS_Q_OCCUPANCY];
    double free = fmin(places, FULL - c->limit->units[0].percent);
    return fmin(free, 100 * (1 - use_of_rounds(v[ZS_Q_WAVES]))) - begins_after(c);
}

static bool rule_tail(struct rule_context *c, struct zs_found *f)
{
    double waves = c->profile->values[ZS_Q_WAVES];
    if (!needs(c, ZS_Q_WAVES) || waves <= 1 || rule_has_large_registers(c))
        return false;
    double rounds = ceil(waves - 1e-9), use = use_of_rounds(waves);
    /* fewer threads of an EU may be as quick as all that fit: only EUs without any are lost for
     * sure */
    f->least = f->gain;
    f->gain = c->limit->unit_count ? fmax(f->gain, rule_gain_of_places(c)) : f->gain;
    /* the model knows it better: threads do not end all at once */
    if (!(use < 0.8) || f->gain < GAIN_LEAST)
        return false;
    f->severity = 1 - use;
    rule_say(
        f, "work-groups take %.3g rounds: in the last of %.0f only %.0f %% of the places are taken",
        waves, rounds, 100 * (waves - (rounds - 1)));
    quantity(c, f, ZS_Q_WAVES);
    quantity(c, f, ZS_Q_OCCUPANCY);
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}

static uint32_t loop_of(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_kernel *isa = p->code->isa;
    return zs_isa_block(isa, zs_isa_inst_block(isa, i))->loop;
}

/* What part of the threads comes to instruction i, or goes into its loop: the outermost one in
 * which nobody waits at a barrier. The barrier is passed `all` times. */
static double part_that_enters(const struct zs_profile *p, uint32_t i, const double *waited,
                               uint32_t barrier, double all)
{
    const struct zs_isa_kernel *isa = p->code->isa;
    double entries = loop_of(p, i) == loop_of(p, barrier) ? p->insts[i].executions : all;
    for (uint32_t l = loop_of(p, i); l != ZS_ISA_NO_INDEX; l = zs_isa_loop(isa, l)->parent) {
        const struct zs_isa_loop *loop = zs_isa_loop(isa, l);
        uint32_t first = zs_isa_block(isa, loop->header)->first;
        double within = 0;
        for (uint32_t k = first; k < first + loop->inst_count && k < p->inst_count; k++)
            within += waited[k];
        if (within > 0 || !first)
            break;
        entries = p->insts[first - 1].executions; /* what leads to it */
    }
    return all > 0 ? fmin(entries / all, 1) : 1;
}

/* Where threads wait at barriers for what few of them do: these lines, by how long they keep the
 * others; then barriers. NULL: they wait for something else. */
static double *lines_of_few(struct rule_context *c)
{
    static const char *const own[] = {"Active",    "ControlStall", "PipeStall",
                                      "SendStall", "DistStall",    "SbidStall"};
    const struct zs_profile *p = c->profile;
    double *waited = analysis_sampled(c->analysis, p, "SyncStall"), *found = waited;
    double threads = ceil(p->values[ZS_Q_GROUP_ITEMS] / p->values[ZS_Q_SIMD]), all = 0, few = 0;
    double sum = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; waited && i < p->inst_count; i++) {
        most = waited[i] > waited[most] ? i : most;
        all = p->insts[most].executions;
        sum += waited[i];
    }
    double *more[ZS_ARRAY_LEN(own)] = {0};
    for (size_t r = 0; waited && r < ZS_ARRAY_LEN(own); r++) {
        more[r] = analysis_sampled(c->analysis, p, own[r]);
        found = more[r] ? found : NULL;
    }
    for (uint32_t i = 0; found && i < p->inst_count; i++) {
        double part = part_that_enters(p, i, waited, most, all), cycles = 0;
        for (size_t r = 0; r < ZS_ARRAY_LEN(own) && part < 1; r++)
            cycles += more[r][i];
        few += more[0][i] = cycles * (1 - part) * threads;
    }
    if (!found || few < sum / 3)
        return NULL;
    for (uint32_t i = 0; i < p->inst_count; i++)
        more[0][i] += waited[i] / 3;
    return more[0];
}

/* Places, and what is said of them. */
static const char *lines_of_waits(struct rule_context *c, struct zs_found *f)
{
    double *few = lines_of_few(c);
    if (few)
        rule_lines(c, f, sampled, few);
    else if (!rule_lines_sampled(c, f, "SyncStall"))
        lines_of(c, f, ZS_Q_BARRIER_MESSAGES);
    return few ? ", most of the time for what few do meanwhile" : "";
}

static bool rule_barrier_imbalance(struct rule_context *c, struct zs_found *f)
{
    static const char *const reasons[] = {"Active",     "ControlStall",   "PipeStall",
                                          "SendStall",  "DistStall",      "SbidStall",
                                          "OtherStall", "InstrFetchStall"};
    double waited = analysis_metric(c->analysis, "ZscopeStalls.SyncStall"), all = waited;
    if (needs(c, ZS_Q_BARRIER_MESSAGES) && c->profile->values[ZS_Q_BARRIER_MESSAGES] == 0)
        return false;
    if (isnan(waited) && f->gain >= GAIN_MUCH) {
        f->severity = f->gain / 100;
        rule_say(f, "threads of a work-group wait for others at barriers%s", lines_of_waits(c, f));
        rule_number(f, "BarrierGain", f->gain, "%");
        c->missing = NULL;
        return true;
    }
    if (isnan(waited) && !isnan(f->gain)) {
        c->missing = NULL;
        return false;
    }
    if (isnan(waited)) {
        c->missing =
            "cycles at barriers were not recorded: `zescope record --metrics ZscopeStalls` "
            "records them";
        return false;
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(reasons); i++) {
        char name[64];
        snprintf(name, sizeof(name), "ZscopeStalls.%s", reasons[i]);
        all += analysis_metric(c->analysis, name);
    }
    c->missing = NULL;
    if (!(waited > 0.2 * all))
        return false;
    f->severity = waited / all;
    rule_say(f, "threads spend %.0f %% of their cycles waiting at barriers%s", 100 * f->severity,
             lines_of_waits(c, f));
    rule_number(f, "SyncStall", waited, "cycles");
    rule_number(f, "thread_cycles", all, "cycles");
    return true;
}

rule_fn *const rule_functions[ZS_RULES] = {
#define RULE(id, key, title, gain, advice) [ZS_RULE_##id] = rule_##id,
#include "metrics/rules.def"
#undef RULE
};
