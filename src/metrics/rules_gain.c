/* SPDX-License-Identifier: MIT */
/* Rules that ask the model of time what a launch would take without what they are about
 * (ZscopeGains). */
#include "metrics/analysis_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double analysis_gain(struct zs_rank_analysis *a, const char *name)
{
    char full[64];
    if (!*name)
        return NAN;
    snprintf(full, sizeof(full), "ZscopeGains.%s", name);
    return analysis_metric(a, full);
}

/* ---- rules -------------------------------------------------------------------------------------
 */

/* Percent that the unit does of what it can. */
static double busy(const struct rule_context *c, const char *metric)
{
    for (uint32_t i = 0; i < c->limit->unit_count; i++)
        if (!strcmp(c->limit->units[i].metric, metric))
            return c->limit->units[i].percent;
    return 0;
}

/* Gains at which it pays to look, in percent. */
static const double SOME = 5, MUCH = 10;

double rule_memory_busy(const struct rule_context *c)
{
    return fmax(busy(c, "ZscopeGains.MemoryBusy"),
                fmax(busy(c, "ZscopeGains.GtiReadBusy"), busy(c, "ZscopeGains.GtiWriteBusy")));
}

bool rule_memory_is_busy(const struct rule_context *c)
{
    enum { BUSY = 60 };
    static const char *const moving[] = {"ZscopeGains.L3Busy", "ZscopeGains.PortBusy",
                                         "ZscopeGains.SlmBusy"};
    bool found = !c->limit->unit_count || rule_memory_busy(c) >= BUSY; /* not measured: it may be */
    for (size_t i = 0; i < ZS_ARRAY_LEN(moving); i++)
        found = found || busy(c, moving[i]) >= BUSY;
    return found;
}

static bool gains(struct rule_context *c, struct zs_found *f, double least)
{
    if (isnan(f->gain))
        c->missing = "what it costs was not measured: `zescope record --metrics ZscopeGains` (or "
                     "`zescope profile`) replays launches without it";
    if (!(f->gain >= least))
        return false;
    f->severity = f->gain / 100;
    rule_number(f, zs_rules[f->rule].gain, f->gain, "%");
    return true;
}

/* Instructions of a kind: what threads waited there where that was recorded, or how often they were
 * executed. */
struct of_kind {
    bool (*is)(const struct zs_profile *p, uint32_t i);
    const double *cycles;
};

static double amount_of_kind(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct of_kind *kind = user;
    double executions = p->insts[i].executions;
    if (!kind->is(p, i) || !(executions > 0))
        return 0;
    return kind->cycles ? executions + kind->cycles[i] : executions;
}

static void lines_of_kind(const struct rule_context *c, struct zs_found *f,
                          bool (*is)(const struct zs_profile *, uint32_t), const char *metric)
{
    struct of_kind kind = {is, analysis_sampled(c->analysis, c->profile, metric)};
    rule_lines(c, f, amount_of_kind, &kind);
}

static bool is_message_to_memory(const struct zs_profile *p, uint32_t i)
{
    return p->insts[i].space != ZS_SPACE_NO_MEMORY;
}

static bool is_atomic(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_message *m = zs_isa_inst_message(p->code->isa, i);
    return m && m->kind == ZS_MSG_ATOMIC;
}

bool rule_is_extended_math(const struct zs_profile *p, uint32_t i)
{
    return p->insts[i].is_math;
}

static bool has_type(const struct zs_isa_inst *inst, enum zs_isa_type a, enum zs_isa_type b)
{
    bool found = inst->dst.kind != ZS_OPERAND_NONE && (inst->dst.type == a || inst->dst.type == b);
    for (uint32_t i = 0; i < inst->source_count && i < ZS_ISA_SOURCES_MAX; i++)
        found |= inst->src[i].type == a || inst->src[i].type == b;
    return found;
}

bool rule_is_double(const struct zs_profile *p, uint32_t i)
{
    return has_type(zs_isa_inst(p->code->isa, i), ZS_TYPE_DF, ZS_TYPE_DF);
}

bool rule_is_wide_integer(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
    bool product = inst->op == ZS_OP_MUL || inst->op == ZS_OP_MACH;
    /* halves of 64-bit sums; the second step of a 32-bit product */
    if (inst->op == ZS_OP_ADDC || inst->op == ZS_OP_SUBB || inst->op == ZS_OP_MACL)
        return true;
    return has_type(inst, ZS_TYPE_Q, ZS_TYPE_UQ) ||
           (product && has_type(inst, ZS_TYPE_D, ZS_TYPE_UD));
}

bool rule_is_any(const struct zs_profile *p, uint32_t i)
{
    (void)p;
    (void)i;
    return true;
}

bool rule_latency(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, MUCH))
        return false;
    double misses = analysis_gain(c->analysis, "MissGain");
    f->is_general = true;
    rule_say(f, "threads wait for responses of messages, and too few others run meanwhile%s",
             misses > f->gain / 2 ? "; most of it is for what lies beyond L3" : "");
    rule_number(f, "MissGain", misses, "%");
    if (!rule_lines_sampled(c, f, "SbidStall"))
        lines_of_kind(c, f, is_message_to_memory, "SbidStall");
    return true;
}

bool rule_atomic_contention(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, SOME))
        return false;
    f->least = analysis_gain(c->analysis, "AtomicApartGain");
    f->is_choice = true;
    double bank = busy(c, "ZscopeGains.L3AtomicsBusy"), mean = busy(c, "ZscopeGains.L3Busy");
    rule_say(f, "lanes of an atomic meet at one place, which takes them one by one%s",
             bank > 2 * mean ? "; threads meet, too: one bank of L3 serves most of them" : "");
    rule_number(f, "atomics", c->profile->values[ZS_Q_ATOMICS], "messages");
    lines_of_kind(c, f, is_atomic, "SbidStall");
    return true;
}

static bool has_option(const char *options, const char *option)
{
    size_t length = strlen(option);
    for (const char *at = options; (at = strstr(at, option)); at += length) {
        bool begins = at == options || at[-1] == ' ' || at[-1] == '"';
        if (begins && (!at[length] || at[length] == ' ' || at[length] == '"'))
            return true;
    }
    return false;
}

/* As its builds' options say; where none are known it is taken to be optimised. */
bool rule_is_unoptimised(const struct rule_context *c)
{
    static const char *const off[] = {"-cl-opt-disable", "-ze-opt-disable", "-ze-opt-level=0",
                                      "-ze-opt-level=O0", "-O0"};
    const struct zs_profile *p = c->profile;
    const char *own = p->code ? p->code->image->build_options : "";
    uint32_t count;
    const struct zs_record_build *builds =
        zs_recording_builds(c->analysis->profiles->recording, &count);
    bool found = false;
    for (size_t o = 0; o < ZS_ARRAY_LEN(off); o++) {
        found = found || has_option(own, off[o]);
        for (uint32_t i = 0; i < count && p->module_index != ZS_RECORD_NONE; i++)
            found = found ||
                    (builds[i].module == p->module_index && has_option(builds[i].flags, off[o]));
    }
    return found;
}

bool rule_unoptimised(struct rule_context *c, struct zs_found *f)
{
    if (!rule_is_unoptimised(c))
        return false;
    f->severity = 1;
    rule_say(f, "the options of the build turn optimisation off: all variables are kept in memory, "
                "and what else is found here need not be in an optimised build");
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}

bool rule_private_arrays(struct rule_context *c, struct zs_found *f)
{
    const double *v = c->profile->values;
    /* those are findings of their own */
    if (v[ZS_Q_SPILLS] > 0 || rule_is_unoptimised(c))
        return false;
    if (!gains(c, f, SOME))
        return rule_indexed_registers(c, f);
    char size[40] = "";
    if (v[ZS_Q_SCRATCH] > 0)
        snprintf(size, sizeof(size), ", %.0f bytes of each thread", v[ZS_Q_SCRATCH]);
    f->least = analysis_gain(c->analysis, "ScratchLocalGain");
    f->is_choice = true;
    rule_say(f,
             "private arrays that are indexed are kept in memory%s; the gain is that of local "
             "memory, or of registers",
             size);
    rule_number(f, "scratch_moved", v[ZS_Q_SCRATCH_BYTES], "B");
    /* Gen9 reaches them as it reaches buffers */
    lines_of_kind(c, f, is_message_to_memory, "SbidStall");
    return true;
}

bool rule_extended_math(struct rule_context *c, struct zs_found *f)
{
    if (rule_is_about_lines(c, rule_is_extended_math))
        return false;
    if (rule_precise_divisions(c, f))
        return true;
    if (!gains(c, f, MUCH))
        return false;
    rule_say(f, "the unit of extended math takes several times as long as others");
    rule_number(f, "math_ops", c->profile->values[ZS_Q_MATH_OPS], "ops");
    lines_of_kind(c, f, rule_is_extended_math, "PipeStall");
    return true;
}

bool rule_doubles(struct rule_context *c, struct zs_found *f)
{
    if (rule_is_about_lines(c, rule_is_double) || !gains(c, f, SOME))
        return false;
    rule_say(f, "doubles, with what turns others into them, take several times as long as floats");
    rule_number(f, "flops_double", c->profile->values[ZS_Q_FLOPS_DOUBLE], "flop");
    lines_of_kind(c, f, rule_is_double, "PipeStall");
    return true;
}

bool rule_wide_integers(struct rule_context *c, struct zs_found *f)
{
    if (rule_is_about_lines(c, rule_is_wide_integer) || !gains(c, f, SOME))
        return false;
    bool is_wide = false;
    for (uint32_t i = 0; i < c->profile->inst_count; i++)
        is_wide |= c->profile->insts[i].executions > 0 &&
                   has_type(zs_isa_inst(c->profile->code->isa, i), ZS_TYPE_Q, ZS_TYPE_UQ);
    rule_say(f, "%s32-bit products take several times as long as 32-bit sums",
             is_wide ? "64-bit integers and " : "");
    rule_number(f, "int_ops", c->profile->values[ZS_Q_INT_OPS], "ops");
    lines_of_kind(c, f, rule_is_wide_integer, "PipeStall");
    return true;
}

bool rule_dependencies(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, MUCH))
        return false;
    f->is_general = true;
    rule_say(f, "instructions wait for results of those before them, and too few others run "
                "meanwhile");
    if (!rule_lines_sampled(c, f, "DistStall"))
        lines_of_kind(c, f, rule_is_any, "DistStall");
    return true;
}

bool rule_instruction_fetch(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, SOME))
        return false;
    rule_say(f, "its %.3g KB of code do not fit into the instruction cache: threads wait for L3",
             c->profile->values[ZS_Q_CODE] / 1024);
    rule_number(f, "code", c->profile->values[ZS_Q_CODE], "B");
    if (!rule_lines_sampled(c, f, "InstrFetchStall"))
        lines_of_kind(c, f, rule_is_any, "InstrFetchStall");
    return true;
}

static bool is_half(const struct zs_profile *p, uint32_t i)
{
    return is_message_to_memory(p, i) && zs_isa_inst(p->code->isa, i)->channel_offset > 0;
}

static bool is_narrow(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_message *m = zs_isa_inst_message(p->code->isa, i);
    return is_message_to_memory(p, i) && m && m->lanes > 1 &&
           m->element_B * m->components < (int)sizeof(float);
}

bool rule_split_messages(struct rule_context *c, struct zs_found *f)
{
    double narrow = analysis_gain(c->analysis, "NarrowGain");
    bool few = narrow > f->gain;
    f->gain = few ? narrow : f->gain;
    if (!gains(c, f, SOME))
        return false;
    if (few)
        rule_say(f, "work-items ask for one or two bytes each: a message brings as few, and takes "
                    "as long as one of four or more for each");
    else
        rule_say(f,
                 "a message has not as many lanes as its threads (%.0f): each is two, and both ask "
                 "for the same lines",
                 c->profile->values[ZS_Q_SIMD]);
    rule_number(f, "messages", c->profile->values[ZS_Q_MESSAGES], "messages");
    lines_of_kind(c, f, few ? is_narrow : is_half, "SbidStall");
    return true;
}

bool rule_dispatch(struct rule_context *c, struct zs_found *f)
{
    enum { WIDEST = 32 };
    /* larger groups need fewer threads: that is another finding */
    f->gain *= fmin(c->profile->values[ZS_Q_GROUP_ITEMS] / WIDEST, 1);
    if (!gains(c, f, MUCH))
        return false;
    double begins = busy(c, "ZscopeGains.DispatchBusy");
    if (begins >= MUCH)
        rule_say(f,
                 "threads begin one after the other, which takes %.0f %% of the time: each does "
                 "too little",
                 begins);
    else
        rule_say(f, "as much of a launch goes by before its threads are under way");
    rule_number(f, "threads", c->profile->values[ZS_Q_THREADS], "threads");
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}

/* ---- of what limits the kernel: what that would save is not replayed --------------------------
 */

/* It was measured what units do. */
static bool measured(struct rule_context *c)
{
    if (!c->limit->unit_count)
        c->missing = "what each unit does was not measured: `zescope record --metrics "
                     "ZscopeGains` (or `zescope profile`) measures it";
    return c->limit->unit_count;
}

static double share_of(const struct zs_profile *p, uint32_t i, void *user)
{
    return p->insts[i].space == ZS_SPACE_BUFFER ? zs_profile_share(p, *(enum zs_quantity *)user, i)
                                                : 0;
}

static double share_of_any(const struct zs_profile *p, uint32_t i, void *user)
{
    return zs_profile_share(p, *(enum zs_quantity *)user, i);
}

bool rule_redundant_loads(struct rule_context *c, struct zs_found *f)
{
    enum { AGAIN = 6, BUSY = 25 };
    enum zs_quantity read = ZS_Q_GLOBAL_READ;
    double asked = c->profile->values[read], port = busy(c, "ZscopeGains.PortBusy");
    double missed = 64 * analysis_metric(c->analysis, "ZscopeMemory.L3Misses");
    if (!measured(c))
        return false;
    if (isnan(missed) && asked > 0)
        c->missing =
            "what moves was not measured: `zescope record --metrics ZscopeMemory` measures "
            "it";
    if (!(asked > AGAIN * missed) || !(fmax(port, busy(c, "ZscopeGains.L3Busy")) >= BUSY))
        return false;
    f->severity = 1 - missed / asked;
    /* messages that touch many lines ask for the same ones again: of what coalescing leaves */
    double lines = analysis_gain(c->analysis, "CoalescingGain");
    double rest = lines > 0 ? 1 - lines / 100 : 1;
    f->least = lines > SOME ? 0 : f->gain * rest;
    f->gain = fmax(f->gain, analysis_gain(c->analysis, "ReuseMostGain")) * rest;
    if (f->gain < MUCH)
        return false;
    rule_say(f,
             "each byte is asked for %.3g times, and data ports do %.0f %% of what they can; the "
             "gain is that of half to a quarter as many loads",
             missed > 0 ? asked / missed : asked, port);
    rule_number(f, "global_read", asked, "B");
    rule_number(f, "read_into_L3", missed, "B");
    rule_lines(c, f, share_of, &read);
    return true;
}

bool rule_local_memory(struct rule_context *c, struct zs_found *f)
{
    enum zs_quantity moved = ZS_Q_SLM_BYTES;
    f->least = f->gain;
    f->gain = fmax(f->gain, analysis_gain(c->analysis, "LocalMostGain"));
    /* what banks take is told there, of atomics, too */
    if (analysis_gain(c->analysis, "BankConflictGain") >= MUCH ||
        analysis_gain(c->analysis, "AtomicGain") >= MUCH || !gains(c, f, MUCH))
        return false;
    rule_say(
        f,
        "local memory does %.0f %% of what it can; the gain is that of half of the messages to "
        "it, or of a quarter without barriers",
        busy(c, "ZscopeGains.SlmBusy"));
    rule_number(f, "slm_messages", c->profile->values[ZS_Q_SLM_MESSAGES], "messages");
    rule_lines(c, f, share_of_any, &moved);
    return true;
}

static double issued(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct zs_inst_profile *n = &p->insts[i];
    (void)user;
    return n->executions > 0 && !(n->flops > 0) && n->space == ZS_SPACE_NO_MEMORY
               ? n->executions * (double)n->issue_cycles
               : 0;
}

bool rule_issue_bound(struct rule_context *c, struct zs_found *f)
{
    enum { BUSY = 80 };
    double pipes = fmax(busy(c, "ZscopeGains.Fpu0Busy"), busy(c, "ZscopeGains.Fpu1Busy"));
    double others = 0, all = 0;
    if (!measured(c) || !(pipes >= BUSY))
        return false;
    for (uint32_t i = 0; i < c->profile->inst_count; i++) {
        double n = c->profile->insts[i].executions * (double)c->profile->insts[i].issue_cycles;
        all += n > 0 ? n : 0;
        others += issued(c->profile, i, NULL);
    }
    if (!(others > all / 2))
        return false;
    f->severity = others / all;
    rule_say(f,
             "pipes do %.0f %% of what they can, and %.0f %% of what they are issued is no "
             "floating-point operation",
             pipes, 100 * f->severity);
    rule_lines(c, f, issued, NULL);
    return true;
}

bool rule_has_large_registers(const struct rule_context *c)
{
    enum { SMALL = 128 };
    return c->profile->limiter == ZS_LIMIT_REGISTERS &&
           c->profile->values[ZS_Q_LIVE_REGISTERS] < SMALL;
}

bool rule_large_registers(struct rule_context *c, struct zs_found *f)
{
    const double *v = c->profile->values;
    if (!rule_has_large_registers(c))
        return false;
    /* twice as many threads wait; there are fewer rounds */
    f->gain = fmax(analysis_gain(c->analysis, "LatencyGain"),
                   analysis_gain(c->analysis, "DependencyGain")) /
              2;
    f->gain = isnan(f->gain) ? f->gain : fmax(f->gain, rule_gain_of_places(c));
    f->severity = 1 - v[ZS_Q_OCCUPANCY] / 100;
    rule_say(f,
             "each thread has %.0f registers, of which at most %.0f hold values: half of the "
             "threads fit",
             v[ZS_Q_REGISTERS], v[ZS_Q_LIVE_REGISTERS]);
    rule_number(f, "occupancy", v[ZS_Q_OCCUPANCY], "%");
    rule_number(f, "live_registers", v[ZS_Q_LIVE_REGISTERS], "registers");
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}
