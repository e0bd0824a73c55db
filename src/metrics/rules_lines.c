/* SPDX-License-Identifier: MIT */
/*
 * Rules about what compilers make much code of: integer division, precise mathematical functions,
 * conversions. The code of the first two is a sequence of plain instructions, often with doubles,
 * products or extended math in it, which says nothing by itself. So the line of source is asked,
 * and the line's instructions must agree: rules about these kinds leave such lines alone.
 */
#include "metrics/analysis_priv.h"

#include "isa/convert.h"
#include "isa/inst.h"
#include "metrics/profile_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a line says --------------------------------------------------------------------------
 */

/* Functions of which precise versions are long; native_ versions are one or two instructions. */
static const char *const slow_functions[] = {
    "acos",   "acosh", "asin",   "asinh", "atan",  "atan2", "atanh", "cbrt", "cos",
    "cosh",   "erf",   "erfc",   "exp",   "exp10", "exp2",  "expm1", "fmod", "hypot",
    "lgamma", "log",   "log10",  "log1p", "log2",  "pow",   "pown",  "powr", "remainder",
    "rootn",  "sin",   "sincos", "sinh",  "sinpi", "cospi", "tan",   "tanh", "tgamma"};

struct said {
    bool calls_slow; /* one of these functions */
    bool divides, takes_rest;
};

static bool is_word(uint8_t c)
{
    return isalnum(c) || c == '_';
}

static bool is_slow(const uint8_t *name, size_t length)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(slow_functions); i++)
        if (strlen(slow_functions[i]) == length && !memcmp(slow_functions[i], name, length))
            return true;
    return false;
}

static struct said read_line(struct zs_span text)
{
    struct said said = {0};
    const uint8_t *at = text.data, *end = at + text.size_B;
    while (at < end) {
        const uint8_t *from = at;
        while (at < end && is_word(*at))
            at++;
        if (at > from) {
            const uint8_t *next = at;
            while (next < end && isspace(*next))
                next++;
            said.calls_slow |= next < end && *next == '(' && is_slow(from, (size_t)(at - from));
            continue;
        }
        bool comment = *at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*');
        if (comment && at[1] == '/')
            break;
        if (comment) {
            for (at += 2; at < end && !(at[-1] == '*' && *at == '/' && at > from + 2);)
                at++;
        } else {
            said.divides |= *at == '/';
            said.takes_rest |= *at == '%';
        }
        at += at < end;
    }
    return said;
}

/* ---- arrays in registers -----------------------------------------------------------------------
 */

struct of_line {
    uint64_t key; /* file and line */
    uint32_t inst;
};

/* By address: a register is written for one lane at a time. Reading takes one instruction. */
static bool is_indexed(const struct zs_profile *p, uint32_t i)
{
    struct zs_isa_effects e;
    zs_isa_inst_effects(p->code->isa, i, &e);
    return e.indirect_written;
}

/* A register's lanes as they are; how far it is moved, 0: it is something else. */
static int moved_by(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
    const struct zs_isa_operand *to = &inst->dst, *from = &inst->src[0];
    bool whole = inst->op == ZS_OP_MOV && inst->exec_size >= 8 && from->kind == ZS_OPERAND_REG &&
                 to->kind == ZS_OPERAND_REG && from->file == ZS_FILE_GRF &&
                 to->file == ZS_FILE_GRF && to->type == from->type && to->hstride == 1 &&
                 from->vstride && !from->modifiers;
    return whole ? (int)to->reg - (int)from->reg : 0;
}

/* Whether it is one of several that bring registers as far: compilers keep a copy of the whole
 * array for each way that a branch takes. */
static bool copies_array(const struct zs_profile *p, uint32_t i)
{
    enum { NEAR = 24, LEAST = 4 }; /* instructions */
    int by = moved_by(p, i);
    uint32_t as_far = 0, end = ZS_MIN(i + NEAR + 1, p->inst_count);
    for (uint32_t k = i > NEAR ? i - NEAR : 0; by && k < end; k++)
        as_far += moved_by(p, k) == by;
    return as_far >= LEAST;
}

static bool has_flag(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_F;
}

/* Flags choose the lane of each write. */
static bool chooses_lane(const struct zs_profile *p, uint32_t i)
{
    enum { NEAR = 4 }; /* instructions */
    const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
    bool near = false, flag = has_flag(&inst->dst) || has_flag(&inst->src[0]);
    if (inst->op != ZS_OP_MOV || inst->exec_size != 1 || !flag)
        return false;
    for (uint32_t k = i > NEAR ? i - NEAR : 0; k <= i + NEAR && k < p->inst_count; k++)
        near = near || is_indexed(p, k);
    return near;
}

/* What arrays in registers take on a line: without it there is nothing to branch for, either. */
static void find_arrays(const struct zs_profile *p, const struct of_line *line, size_t count,
                        uint8_t *kinds)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (kinds[line[i].inst] == LINE_PLAIN &&
            (is_indexed(p, line[i].inst) || chooses_lane(p, line[i].inst) ||
             copies_array(p, line[i].inst))) {
            kinds[line[i].inst] = LINE_ARRAY;
            found++;
        }
    for (size_t i = 0; i < count && found; i++)
        if (zs_isa_op_flags(zs_isa_inst(p->code->isa, line[i].inst)->op) & ZS_OPF_BRANCH)
            kinds[line[i].inst] = LINE_ARRAY;
}

/* ---- lines of a kernel -------------------------------------------------------------------------
 */

static int by_line(const void *a, const void *b)
{
    const struct of_line *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->inst > y->inst) - (x->inst < y->inst);
}

static bool is_integer(uint8_t type)
{
    return type >= ZS_TYPE_UB && type <= ZS_TYPE_Q;
}

static bool is_float(uint8_t type)
{
    return type == ZS_TYPE_HF || type == ZS_TYPE_BF || type == ZS_TYPE_F || type == ZS_TYPE_DF;
}

/* How often that is executed which is there where integers are divided: the unit's own division,
 * or floats and doubles that come from integers and go back. 0: nothing is divided. */
static double times_divided(const struct zs_profile *p, const struct of_line *line, size_t count)
{
    bool own = false, there = false, back = false;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, line[i].inst);
        bool divides = p->insts[line[i].inst].is_math && is_integer(inst->dst.type);
        own |= divides;
        there |= zs_isa_converts(inst) && is_float(inst->dst.type) && is_integer(inst->src[0].type);
        back |= zs_isa_converts(inst) && is_integer(inst->dst.type);
        if (divides || zs_isa_converts(inst))
            most = fmax(most, p->insts[line[i].inst].executions);
    }
    return own || (there && back) ? most : 0;
}

static bool inverts(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MATH && is_float(inst->dst.type) &&
           (inst->subfunction == ZS_MATH_INV || inst->subfunction == ZS_MATH_FDIV);
}

/* Of what a precise division is made: the divisor is brought into range before and after. */
static bool is_of_division(const struct zs_isa_inst *inst)
{
    return inverts(inst) || inst->op == ZS_OP_AND || inst->op == ZS_OP_CMP ||
           inst->op == ZS_OP_SEL || inst->op == ZS_OP_MOV || inst->op == ZS_OP_MUL;
}

/* How often floats are divided precisely; 0: they are not. */
static double times_inverted(const struct zs_profile *p, const struct of_line *line, size_t count)
{
    enum { PRECISE = 6 }; /* instructions of a division; others take two */
    size_t divisions = 0, all = 0;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, line[i].inst);
        all += is_of_division(inst);
        divisions += inverts(inst);
        if (inverts(inst))
            most = fmax(most, p->insts[line[i].inst].executions);
    }
    return all >= PRECISE * divisions ? most : 0;
}

/* ret_times: what the line executes more often is not about it, as the rest of a loop's head. */
static enum line_kind kind_of(const struct zs_profiles *t, const struct zs_profile *p,
                              const struct of_line *line, size_t count, double *ret_times)
{
    enum { SHORT = 12 }; /* instructions: a function of fewer has no slow path */
    const struct zs_line_row *row = zs_code_row(p->code, line->inst);
    const struct zs_source *source = zs_sources_get(t->sources, &p->code->info->files[row->file]);
    struct said said = source ? read_line(zs_source_line(source, row->line)) : (struct said){0};
    *ret_times = INFINITY;
    if (said.calls_slow && count >= SHORT)
        return LINE_SLOW_MATH;
    if (said.takes_rest || said.divides)
        *ret_times = times_divided(p, line, count);
    if ((said.takes_rest || said.divides) && *ret_times > 0)
        return LINE_INTEGER_DIVISION;
    if (said.divides)
        *ret_times = times_inverted(p, line, count);
    return said.divides && *ret_times > 0 ? LINE_DIVISION : LINE_PLAIN;
}

uint8_t *find_line_kinds(const struct zs_profiles *t, const struct zs_profile *p)
{
    uint8_t *kinds = p->insts ? calloc((size_t)p->inst_count + 1, 1) : NULL;
    struct of_line *lines = kinds ? calloc((size_t)p->inst_count + 1, sizeof(*lines)) : NULL;
    size_t count = 0;
    for (uint32_t i = 0; lines && i < p->inst_count; i++) {
        const struct zs_line_row *row = zs_code_row(p->code, i);
        if (row)
            lines[count++] = (struct of_line){(uint64_t)row->file << 32 | row->line, i};
    }
    if (count)
        qsort(lines, count, sizeof(*lines), by_line);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first; next < count && lines[next].key == lines[first].key;)
            next++;
        double times;
        enum line_kind kind = kind_of(t, p, &lines[first], next - first, &times);
        for (size_t i = first; i < next; i++)
            if (!(p->insts[lines[i].inst].executions > times) &&
                p->insts[lines[i].inst].space == ZS_SPACE_NO_MEMORY &&
                (kind != LINE_DIVISION || is_of_division(zs_isa_inst(p->code->isa, lines[i].inst))))
                kinds[lines[i].inst] = (uint8_t)kind;
    }
    bool indexed = false;
    for (uint32_t i = 0; lines && i < p->inst_count && !indexed; i++)
        indexed = p->insts[i].executions > 0 && is_indexed(p, i);
    for (size_t first = 0, next; indexed && first < count; first = next) {
        for (next = first; next < count && lines[next].key == lines[first].key;)
            next++;
        find_arrays(p, &lines[first], next - first, kinds);
    }
    /* the unit's own division is no other thing wherever the scheduler has put it */
    for (uint32_t i = 0; lines && i < p->inst_count; i++)
        if (p->insts[i].is_math && is_integer(zs_isa_inst(p->code->isa, i)->dst.type))
            kinds[i] = LINE_INTEGER_DIVISION;
    free(lines);
    return kinds;
}

/* ---- rules -------------------------------------------------------------------------------------
 */

/* What threads spent at each instruction: their cycles, where these were recorded. What a message
 * brings is awaited where it is used: that is not the time of the line's own work. */
static const double *cycles_of(struct rule_context *c)
{
    static const char *const reasons[] = {"Active",          "ControlStall", "PipeStall",
                                          "SendStall",       "DistStall",    "SyncStall",
                                          "InstrFetchStall", "SbidStall"};
    enum { OWN = ZS_ARRAY_LEN(reasons) - 1 };
    if (c->cycles || !c->profile->insts)
        return c->cycles;
    for (size_t r = 0; r < ZS_ARRAY_LEN(reasons); r++) {
        double *more = analysis_sampled(c->analysis, c->profile, reasons[r]);
        for (uint32_t i = 0; more && i < c->profile->inst_count; i++) {
            c->all_cycles += more[i];
            if (c->cycles && r < OWN)
                c->cycles[i] += more[i];
        }
        c->cycles = c->cycles || r >= OWN ? c->cycles : more;
    }
    return c->cycles;
}

struct of_lines {
    const struct rule_context *context;
    const double *cycles; /* NULL: what they are issued for */
    enum line_kind kind;
    /* these alone; NULL: all of the lines */
    bool (*is)(const struct zs_profile *, uint32_t);
};

static double amount_of(const struct zs_profile *p, uint32_t i, void *user)
{
    const struct of_lines *l = user;
    const struct zs_inst_profile *n = &p->insts[i];
    bool is = l->context->line_kinds[i] == l->kind && (!l->is || l->is(p, i));
    double issued = n->executions > 0 ? n->executions * (double)n->issue_cycles : 0;
    return !is ? 0 : l->cycles ? l->cycles[i] : issued;
}

/* Of all that threads spend the part in percent; NaN: not known. */
static double part_of(const struct of_lines *l)
{
    const struct zs_profile *p = l->context->profile;
    double of = 0, all = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        double issued = p->insts[i].executions > 0
                            ? p->insts[i].executions * (double)p->insts[i].issue_cycles
                            : 0;
        of += amount_of(p, i, (void *)(uintptr_t)l);
        all += issued;
    }
    if (l->cycles)
        all = l->context->all_cycles;
    return all > 0 ? 100 * of / all : (double)NAN;
}

bool rule_is_about_lines(const struct rule_context *c,
                         bool (*is)(const struct zs_profile *, uint32_t))
{
    double on_lines = 0, all = 0;
    for (uint32_t i = 0; c->line_kinds && i < c->profile->inst_count; i++) {
        double n = c->profile->insts[i].executions;
        if (!(n > 0) || !is(c->profile, i))
            continue;
        all += n;
        bool plain = c->line_kinds[i] == LINE_PLAIN || c->line_kinds[i] == LINE_DIVISION ||
                     c->line_kinds[i] == LINE_ARRAY;
        on_lines += plain ? 0 : n;
    }
    return on_lines > all / 2;
}

/* Percent of the time from which it is said. */
enum { LINES_LEAST = 10 };

/* Of the unit that these lines use, where all of its use is theirs; NaN. */
static double gain_of_units(const struct rule_context *c)
{
    static const struct {
        bool (*is)(const struct zs_profile *p, uint32_t i);
        const char *gain;
    } units[] = {{rule_is_extended_math, "MathGain"},
                 {rule_is_double, "DoubleGain"},
                 {rule_is_wide_integer, "WideIntegerGain"}};
    double most = NAN;
    for (size_t i = 0; i < ZS_ARRAY_LEN(units); i++)
        if (rule_is_about_lines(c, units[i].is))
            most = fmax(most, analysis_gain(c->analysis, units[i].gain));
    return most;
}

/* For what part of a launch a thread is there, where all are at once: what its instructions take is
 * no more than that of the time. */
static double presence(const struct rule_context *c)
{
    const double *v = c->profile->values;
    double there = v[ZS_Q_OCCUPANCY] * fmin(v[ZS_Q_FILL], 100) / 100;
    double part = analysis_metric(c->analysis, "EuThreadOccupancy") / there;
    return part < 1 ? part : 1; /* not known: 1 */
}

/* What products with reciprocals take that stand for divisions: there, product, rounding and back.
 * Of a sequence it is the part of its instructions. Compilers' sequences turn a dividend into a
 * double once, or into floats with the quotient and the rest. ret_time: of the unit's own divisions
 * it is percent of the launch's time instead; NaN: not known. */
static double kept_of_division(const struct rule_context *c, double *ret_time)
{
    enum { QUICK = 3, FLOATS = 3 };
    const struct zs_profile *p = c->profile;
    double lanes[2] = {0}, own = 0, all = 0, times = FLOATS; /* lanes: to floats, and back */
    double wide = zs_isa_platform_info(zs_isa_kernel_platform(p->code->isa))->grf_B / sizeof(float);
    double clocks = analysis_metric(c->analysis, "ZscopeGains.GpuCoreClocks");
    for (uint32_t i = 0; c->line_kinds && i < p->inst_count; i++) {
        const struct zs_inst_profile *n = &p->insts[i];
        const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
        if (c->line_kinds[i] != LINE_INTEGER_DIVISION || !(n->executions > 0))
            continue;
        all += n->executions * (double)n->issue_cycles;
        times = inst->dst.type == ZS_TYPE_DF ? 1 : times;
        if (n->is_math && is_integer(inst->dst.type))
            own += n->executions * inst->exec_size;
        else if (zs_isa_converts(inst))
            lanes[is_integer(inst->dst.type)] += n->executions * inst->exec_size;
    }
    *ret_time = own > 0 ? 100 * QUICK * own / wide / (clocks * p->peaks.eus) : 0;
    double products = QUICK * fmin(lanes[0], lanes[1]) / times / wide;
    return all > 0 && !(own > 0) ? fmin(products / all, 1) : 0;
}

/* kept: of that time, what the quicker way takes. */
static bool finds(struct rule_context *c, struct zs_found *f, enum line_kind kind,
                  bool (*is)(const struct zs_profile *, uint32_t), double kept)
{
    struct of_lines l = {c, cycles_of(c), kind, is};
    if (!c->profile->is_counted) {
        c->missing = zs_profile_why(c->analysis->profiles, c->profile, ZS_Q_LANES);
        return false;
    }
    double part = c->line_kinds ? part_of(&l) : (double)NAN;
    if (!(part >= LINES_LEAST))
        return false;
    f->severity = part / 100;
    /* who waits for what a conversion makes is not counted as its time: that makes up for it */
    f->gain = l.cycles ? part * (1 - kept) * (is ? 1 : presence(c)) : (double)NAN;
    /* a unit that is full holds up others, too: what it does was replayed */
    if (!is)
        f->gain = fmax(f->gain, gain_of_units(c));
    if (f->gain > 100 - rule_memory_busy(c)) /* which has as much to do without them */
        f->gain = 100 - rule_memory_busy(c);
    rule_number(f, "part_of_thread_cycles", part, "%");
    rule_lines(c, f, amount_of, &l);
    return true;
}

/* The unit's own function is in both; divisions are of the slow way alone. */
static double kept_of_slow_math(const struct rule_context *c)
{
    static const double LEAST = 0.1; /* arguments are brought there, results scaled */
    const struct zs_profile *p = c->profile;
    double own = 0, all = 0;
    for (uint32_t i = 0; c->line_kinds && i < p->inst_count; i++) {
        const struct zs_inst_profile *n = &p->insts[i];
        if (c->line_kinds[i] != LINE_SLOW_MATH || !(n->executions > 0))
            continue;
        double issued = n->executions * (double)n->issue_cycles;
        all += issued;
        own += n->is_math && !inverts(zs_isa_inst(p->code->isa, i)) ? issued : 0;
    }
    return all > 0 ? fmax(own / all, LEAST) : LEAST;
}

bool rule_slow_math(struct rule_context *c, struct zs_found *f)
{
    if (!finds(c, f, LINE_SLOW_MATH, NULL, kept_of_slow_math(c)))
        return false;
    rule_say(f,
             "precise mathematical functions are long sequences of instructions: threads spend "
             "%.0f %% of their time there",
             100 * f->severity);
    return true;
}

/* Products with reciprocals are the quickest way; comparing and counting up takes about twice as
 * long. */
bool rule_integer_division(struct rule_context *c, struct zs_found *f)
{
    double time = 0, kept = c->profile->is_counted ? kept_of_division(c, &time) : 0;
    if (!finds(c, f, LINE_INTEGER_DIVISION, NULL, kept))
        return false;
    f->gain = fmax(f->gain - time, 0);
    f->least = fmax(f->gain - time - 100 * kept * f->severity, 0);
    f->is_choice = true;
    rule_say(f,
             "no pipe divides integers: threads spend %.0f %% of their time on the sequences, or "
             "the slow unit, that do",
             100 * f->severity);
    return true;
}

bool rule_precise_divisions(struct rule_context *c, struct zs_found *f)
{
    const struct zs_profile *p = c->profile;
    double wide =
        p->code ? zs_isa_platform_info(zs_isa_kernel_platform(p->code->isa))->grf_B / sizeof(float)
                : 1;
    double kept = 0, all = 0, math = f->gain; /* kept: a product for each */
    for (uint32_t i = 0; c->line_kinds && i < p->inst_count; i++) {
        const struct zs_inst_profile *n = &p->insts[i];
        if (c->line_kinds[i] != LINE_DIVISION || !(n->executions > 0))
            continue;
        const struct zs_isa_inst *inst = zs_isa_inst(p->code->isa, i);
        all += n->executions * (double)n->issue_cycles;
        kept += inverts(inst) ? n->executions * inst->exec_size / wide : 0;
    }
    if (!finds(c, f, LINE_DIVISION, NULL, all > 0 ? kept / all : 0)) {
        c->missing = NULL;
        return false;
    }
    f->gain = fmax(f->gain, math);
    rule_say(f,
             "precise divisions of floats are sequences of instructions: threads spend %.0f %% of "
             "their time there",
             100 * f->severity);
    return true;
}

static bool is_conversion(const struct zs_profile *p, uint32_t i)
{
    return zs_isa_turns(p->code->isa, i);
}

/* Who has integers in between only to cut values off does that in floats, too, at the price of a
 * conversion: what turns integers into floats is saved in any case. */
bool rule_conversions(struct rule_context *c, struct zs_found *f)
{
    double all = 0, plain = 0, back = 0, gain = analysis_gain(c->analysis, "ConversionGain");
    if (!finds(c, f, LINE_PLAIN, is_conversion, 0))
        return false;
    for (uint32_t i = 0; i < c->profile->inst_count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(c->profile->code->isa, i);
        double n = is_conversion(c->profile, i) ? fmax(c->profile->insts[i].executions, 0) : 0;
        bool cuts = is_integer(inst->dst.type) && is_float(inst->src[0].type);
        all += n;
        plain += c->line_kinds[i] == LINE_PLAIN ? n : 0;
        back += c->line_kinds[i] == LINE_PLAIN && cuts ? n : 0;
    }
    if (gain > 0 && all > 0) /* of lines about something else they are not told */
        f->gain = gain * plain / all;
    f->least = plain > 0 ? f->gain * (1 - back / plain) : f->gain;
    f->is_choice = true;
    rule_say(f,
             "instructions that only turn values into another type take %.0f %% of threads' time",
             100 * f->severity);
    return true;
}

bool rule_indexed_registers(struct rule_context *c, struct zs_found *f)
{
    struct of_lines writes = {c, cycles_of(c), LINE_ARRAY, is_indexed};
    double part = c->line_kinds && c->profile->is_counted ? part_of(&writes) : 0;
    if (!(part >= LINES_LEAST) || !finds(c, f, LINE_ARRAY, rule_is_any, 0))
        return false;
    c->missing = NULL;
    f->least = isnan(f->gain) ? f->gain : fmin(part, f->gain);
    rule_say(f,
             "private arrays that are indexed are kept in registers: threads spend %.0f %% of "
             "their time on writing them by address, lane by lane, on copies of all of them, and "
             "on branches between these; nothing of that is there where constants index them",
             100 * f->severity);
    return true;
}
