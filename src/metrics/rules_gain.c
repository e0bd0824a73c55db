/* SPDX-License-Identifier: MIT */
/* Rules that ask the model of time what a launch would take without what they are about
 * (ZscopeGains), and what limits a kernel. */
#include "metrics/analysis_priv.h"

#include <math.h>
#include <stdio.h>

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

/* Gains at which it pays to look, in percent. */
static const double SOME = 5, MUCH = 10;

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

static bool is_extended_math(const struct zs_profile *p, uint32_t i)
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

static bool is_double(const struct zs_profile *p, uint32_t i)
{
    return has_type(zs_isa_inst(p->code->isa, i), ZS_TYPE_DF, ZS_TYPE_DF);
}

static bool is_wide_integer(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
    bool product = inst->op == ZS_OP_MUL || inst->op == ZS_OP_MACH;
    return has_type(inst, ZS_TYPE_Q, ZS_TYPE_UQ) ||
           (product && has_type(inst, ZS_TYPE_D, ZS_TYPE_UD));
}

static bool is_any(const struct zs_profile *p, uint32_t i)
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
    rule_say(f, "lanes of an atomic meet at one place, which takes them one by one");
    rule_number(f, "atomics", c->profile->values[ZS_Q_ATOMICS], "messages");
    lines_of_kind(c, f, is_atomic, "SbidStall");
    return true;
}

bool rule_private_arrays(struct rule_context *c, struct zs_found *f)
{
    const double *v = c->profile->values;
    if (v[ZS_Q_SPILLS] > 0 || !gains(c, f, SOME)) /* those are the finding of spills */
        return false;
    rule_say(f, "private arrays that are indexed are kept in memory: %.3g bytes of each thread",
             v[ZS_Q_SCRATCH]);
    rule_number(f, "scratch_bytes", v[ZS_Q_SCRATCH_BYTES], "B");
    /* Gen9 reaches them as it reaches buffers */
    lines_of_kind(c, f, is_message_to_memory, "SbidStall");
    return true;
}

bool rule_extended_math(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, MUCH))
        return false;
    rule_say(f, "the unit of extended math takes several times as long as others");
    rule_number(f, "math_ops", c->profile->values[ZS_Q_MATH_OPS], "ops");
    lines_of_kind(c, f, is_extended_math, "PipeStall");
    return true;
}

bool rule_doubles(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, SOME))
        return false;
    rule_say(f, "doubles take several times as long as floats on this device");
    rule_number(f, "flops_double", c->profile->values[ZS_Q_FLOPS_DOUBLE], "flop");
    lines_of_kind(c, f, is_double, "PipeStall");
    return true;
}

bool rule_wide_integers(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, SOME))
        return false;
    rule_say(f, "64-bit integers and 32-bit products take several times as long as 32-bit sums");
    rule_number(f, "int_ops", c->profile->values[ZS_Q_INT_OPS], "ops");
    lines_of_kind(c, f, is_wide_integer, "PipeStall");
    return true;
}

bool rule_dependencies(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, MUCH))
        return false;
    rule_say(f, "instructions wait for results of those before them, and too few others run "
                "meanwhile");
    if (!rule_lines_sampled(c, f, "DistStall"))
        lines_of_kind(c, f, is_any, "DistStall");
    return true;
}

bool rule_dispatch(struct rule_context *c, struct zs_found *f)
{
    if (!gains(c, f, MUCH))
        return false;
    rule_say(f, "of a launch as much goes by before threads are under way");
    rule_number(f, "threads", c->profile->values[ZS_Q_THREADS], "threads");
    f->place_count = zs_profile_begin(c->analysis->profiles, c->profile, &f->places[0]);
    return true;
}

/* ---- what limits a kernel ----------------------------------------------------------------------
 */

/* Percent of the time: what saves less is a finding at most. */
static const double LIMITS = 25;

static const struct {
    const char *gain, *text;
} limits[] = {
    {"IdleGain", "too little work: EUs without threads"},
    {"DispatchGain", "launch and dispatch of threads"},
    {"ScratchGain", "scratch memory"},
    {"BankConflictGain", "bank conflicts in local memory"},
    {"AtomicGain", "atomics that meet at one place"},
    {"CoalescingGain", "lines that messages touch beyond those that they need"},
    {"MissGain", "memory beyond L3"},
    {"BarrierGain", "waiting at barriers"},
    {"DivergenceGain", "divergence"},
    {"DoubleGain", "double precision"},
    {"WideIntegerGain", "64-bit integers and integer products"},
    {"MathGain", "extended math"},
    {"LatencyGain", "latency of messages"},
    {"DependencyGain", "latency of instructions"},
};

/* What saves most, if it is much; else the roof over the kernel. */
void find_limit(struct zs_rank_analysis *a, struct zs_judged *judged)
{
    const struct zs_roofline *r = &judged->roofline;
    judged->limited_by = "";
    judged->limit = NAN;
    for (size_t i = 0; i < ZS_ARRAY_LEN(limits); i++) {
        double gain = analysis_gain(a, limits[i].gain);
        if (gain >= LIMITS && !(gain <= judged->limit)) {
            judged->limited_by = limits[i].text;
            judged->limit = gain;
        }
    }
    bool asked = !isnan(analysis_gain(a, limits[0].gain));
    if (*judged->limited_by || !asked || !(r->attainable > 0) || isnan(r->rate))
        return;
    judged->limited_by = r->compute_ns >= r->memory_ns ? "issue of instructions" : "rate of memory";
    judged->limit = NAN;
}
