/* SPDX-License-Identifier: MIT */
/*
 * Random programs of 32 lanes in which instructions mostly need what the one before them made, and
 * make addresses of 64 bits: what the lowering passes on, puts into another order, makes one
 * operation of or leaves out. Against a model of them in plain C, in all builds; and that it is so
 * lowered at all, which results do not tell.
 */
#include "assembled.h"
#include "drawn.h"

#include "eu/chosen.h"

#include <math.h>

enum { ROUNDS = 300, PIECES = 20, LANES = 32, GRF_B = 64, TEXT_MAX = 8000 };
/* Vectors of two registers: integers first, then floats, of which the last ones are accumulators.
 */
enum { INTEGERS = 4, IN_FILE = 6, VECTORS = 8, FIRST_REG = 10 };
enum { ONES = 40, BASES = 42, SPREAD = 60, SHIFTED = 64, SUMS = 68, COPIES = 80 }; /* registers */

struct state {
    uint32_t vector[VECTORS][LANES], one[8], spread[LANES];
    uint64_t base[4], shifted[LANES], sum[LANES];
    uint32_t flag, ce, second_flag, copied; /* of that */
};

struct program {
    struct state s; /* at its end */
    char text[TEXT_MAX];
    unsigned last, labels; /* vector written last */
    uint32_t looked_at; /* vectors that are read in the end; others may be older than the model's */
    uint32_t lanes;     /* of the instruction that is made */
    bool no_mask, has_pred;
};

static float as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static void __attribute__((format(printf, 2, 3))) put(struct program *p, const char *format, ...)
{
    size_t used = strlen(p->text);
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(p->text + used, TEXT_MAX - used, format, args) < (int)(TEXT_MAX - used));
    va_end(args);
}

/* ---- vectors ---- */

static void put_name(struct program *p, unsigned vector)
{
    if (vector < IN_FILE)
        put(p, "r%u.0", FIRST_REG + 2 * vector);
    else
        put(p, "acc%u.0", 2 * (vector - IN_FILE));
}

static uint32_t *place_of(struct zs_eu_thread *t, unsigned vector)
{
    uint32_t end, reg = 2 * (vector - IN_FILE);

    if (vector < IN_FILE)
        return (uint32_t *)(void *)(t->grf + (FIRST_REG + 2 * vector) * GRF_B);
    return t->acc + zs_eu_acc_slot(zs_eu_program_registers(t->program), reg, 4, &end);
}

enum operation { ADD, XOR, AND, SHL, SHR, ROL, ADD3, MOVE, ADD_F, MUL_F, MAD_F, TO_F, OPERATIONS };
static const struct {
    const char *name, *type, *src_type;
    unsigned sources;
    bool of_floats, by_count;
} operations[OPERATIONS] = {
    [ADD] = {"add", "d", "d", 2, false, false},   [XOR] = {"xor", "d", "d", 2, false, false},
    [AND] = {"and", "d", "d", 2, false, false},   [SHL] = {"shl", "d", "d", 2, false, true},
    [SHR] = {"shr", "ud", "ud", 2, false, true},  [ROL] = {"rol", "ud", "ud", 2, false, true},
    [ADD3] = {"add3", "d", "d", 3, false, false}, [MOVE] = {"mov", "d", "d", 1, false, false},
    [ADD_F] = {"add", "f", "f", 2, true, false},  [MUL_F] = {"mul", "f", "f", 2, true, false},
    [MAD_F] = {"mad", "f", "f", 3, true, false},  [TO_F] = {"mov", "f", "d", 1, true, false},
};

static uint32_t compute(enum operation op, uint32_t a, uint32_t b, uint32_t c)
{
    switch (op) {
    case ADD:
        return a + b;
    case XOR:
        return a ^ b;
    case AND:
        return a & b;
    case SHL:
        return a << b;
    case SHR:
        return a >> b;
    case ROL:
        return b ? a << b | a >> (32 - b) : a;
    case ADD3:
        return a + b + c;
    case ADD_F:
        return bits_of(as_float(a) + as_float(b));
    case MUL_F:
        return bits_of(as_float(a) * as_float(b));
    case MAD_F:
        return bits_of(fmaf(as_float(b), as_float(c), as_float(a)));
    case TO_F:
        return bits_of((float)(int32_t)a);
    default:
        return a;
    }
}

/* The beginning of an instruction, and the lanes that it is for. */
static void begin(struct program *p, bool may_have_pred)
{
    p->has_pred = may_have_pred && below(5) == 0;
    p->no_mask = below(6) == 0;
    p->lanes = p->no_mask ? UINT32_MAX : p->s.ce;
    put(p, "(%s%s) ", p->no_mask ? "W" : "", p->has_pred ? (p->no_mask ? "&f0.0" : "f0.0") : "");
    if (!p->no_mask && !p->has_pred)
        p->text[strlen(p->text) - 3] = 0; /* "() " */
    if (p->has_pred)
        p->lanes &= p->s.flag;
}

/* A source: its elements, and its text. Of three sources the last one has <h>, the others <v;h>. */
static void source(struct program *p, unsigned first, unsigned count, const char *type, unsigned i,
                   unsigned sources, uint32_t ret[LANES])
{
    static const char *const vectors[] = {"<1;1,0>", "<1;0>", "<1>"};
    static const char *const ones[] = {"<0;1,0>", "<0;0>", "<0>"};
    unsigned how = sources < 3 ? 0 : i == 2 ? 2 : 1;
    bool takes = p->last >= first && p->last < first + count && below(3);

    if (!takes && below(4) == 0 && (sources < 3 || i != 1)) {
        unsigned one = below(4) + (first ? 4 : 0);
        for (unsigned c = 0; c < LANES; c++)
            ret[c] = p->s.one[one];
        put(p, " r%d.%u%s:%s", ONES, one, ones[how], type);
        return;
    }
    unsigned vector = takes ? p->last : first + below(count);
    if (how == 2 && vector >= IN_FILE) /* it is no accumulator */
        vector = first + below(IN_FILE - first);
    memcpy(ret, p->s.vector[vector], sizeof(p->s.vector[vector]));
    put(p, " ");
    put_name(p, vector);
    put(p, "%s:%s", vectors[how], type);
}

static void put_vector(struct program *p)
{
    enum operation op = (enum operation)below(OPERATIONS);
    unsigned first = operations[op].of_floats ? INTEGERS : 0, sources = operations[op].sources;
    unsigned dst = first + below(INTEGERS);
    uint32_t in[3][LANES] = {{0}};

    begin(p, true);
    put(p, "%s (32|M0) ", operations[op].name);
    put_name(p, dst);
    put(p, "<1>:%s", operations[op].type);
    for (unsigned i = 0; i < sources; i++) {
        unsigned from = op == TO_F ? 0 : first, count = below(31);
        if (i == 1 && operations[op].by_count) {
            put(p, " %u:w", count);
            for (unsigned c = 0; c < LANES; c++)
                in[1][c] = count;
            continue;
        }
        source(p, from, INTEGERS, operations[op].src_type, i, sources, in[i]);
    }
    put(p, "\n");
    for (unsigned c = 0; c < LANES; c++)
        if (p->lanes >> c & 1)
            p->s.vector[dst][c] = compute(op, in[0][c], in[1][c], in[2][c]);
    p->last = dst;
}

/* cmp and sel. */
static void put_choice(struct program *p)
{
    uint32_t in[2][LANES], chosen = p->s.flag;
    unsigned dst = below(INTEGERS);
    bool compares = below(2);

    begin(p, false);
    if (compares) {
        put(p, "cmp (32|M0) (gt)f0.0 null<1>:d");
    } else {
        bool is_plain = !p->no_mask;
        if (p->no_mask)
            p->text[strlen(p->text) - 2] = 0; /* "(W" */
        put(p, "%sf0.0) sel (32|M0) r%u.0<1>:d", is_plain ? "(" : "&", FIRST_REG + 2 * dst);
    }
    for (unsigned i = 0; i < 2; i++)
        source(p, 0, INTEGERS, "d", i, 2, in[i]);
    put(p, "\n");
    for (unsigned c = 0; c < LANES; c++) {
        if (!(p->lanes >> c & 1))
            continue;
        if (compares)
            p->s.flag = (p->s.flag & ~(1u << c)) | (uint32_t)((int32_t)in[0][c] > (int32_t)in[1][c])
                                                       << c;
        else
            p->s.vector[dst][c] = in[chosen >> c & 1 ? 0 : 1][c];
    }
    if (!compares)
        p->last = dst;
}

/* One number, for all lanes. */
static void put_one(struct program *p)
{
    unsigned one = below(4), number = below(1000);

    put(p, "(W) add (1|M0) r%d.%u<1>:d r%d.%u<0;1,0>:d %u:w\n", ONES, one, ONES, one, number);
    p->s.one[one] += number;
}

/* The same in one lane, if that is on. */
static void put_few(struct program *p)
{
    unsigned one = below(4), number = below(1000), lane = below(2) * 16;

    put(p, "add (1|M%u) r%d.%u<1>:d r%d.%u<0;1,0>:d %u:w\n", lane, ONES, one, ONES, one, number);
    if (p->s.ce >> lane & 1)
        p->s.one[one] += number;
}

/* Two numbers are compared, and by what comes out something is left out. */
static void put_skip(struct program *p)
{
    unsigned a = below(4), b = below(4), lanes = below(2) ? 32 : 1;
    bool skips = (int32_t)p->s.one[a] > (int32_t)p->s.one[b];
    unsigned label = ++p->labels;

    put(p, "(W) cmp (%u|M0) (gt)f1.0 null<1>:d r%d.%u<0;1,0>:d r%d.%u<0;1,0>:d\n", lanes, ONES, a,
        ONES, b);
    p->s.second_flag = lanes == 1 ? (p->s.second_flag & ~1u) | skips : skips ? UINT32_MAX : 0;
    for (unsigned i = below(3); i-- > 0;)
        put_vector(p);
    if (below(3) == 0) {
        put(p, "(W) mov (1|M0) r%d.0<1>:ud f1.0<0;1,0>:ud\n", ONES + 1);
        p->s.copied = p->s.second_flag;
    }
    put(p, "(W&f1.0) jmpi L%u\n", label);
    struct state before = p->s;
    put_vector(p);
    put_vector(p);
    if (skips)
        p->s = before;
    put(p, "L%u:\n", label);
}

/* ---- addresses ---- */

/* Both halves of an instruction: registers of the second one are these further on. */
static void put_halves(struct program *p, const char *name, const unsigned regs[2],
                       const char *const regions[2], const unsigned steps[2], const char *rest)
{
    for (unsigned half = 0; half < 2; half++)
        put(p, "%s%s (16|M%u) r%u%s r%u%s%s\n", p->no_mask ? "(W) " : "", name, 16 * half,
            regs[0] + half * steps[0], regions[0], regs[1] + half * steps[1], regions[1], rest);
}

static void put_spread(struct program *p)
{
    unsigned from = p->last < INTEGERS ? p->last : below(INTEGERS);
    const unsigned regs[2] = {SPREAD, FIRST_REG + 2 * from}, steps[2] = {2, 1};
    const char *const regions[2] = {".0<2>:ud", ".0<1;1,0>:ud"};

    put_halves(p, "mov", regs, regions, steps, "");
    for (unsigned c = 0; c < LANES; c++)
        if (p->lanes >> c & 1)
            p->s.spread[c] = p->s.vector[from][c];
}

static void put_shift(struct program *p)
{
    const unsigned regs[2] = {SHIFTED, SPREAD}, steps[2] = {2, 2};
    bool is_signed = below(2);
    const char *const regions[2] = {".0<1>:q", is_signed ? ".0<2;1,0>:d" : ".0<2;1,0>:ud"};
    unsigned count = below(5);
    char rest[16];

    snprintf(rest, sizeof(rest), " %u:w", count);
    put_halves(p, "shl", regs, regions, steps, rest);
    for (unsigned c = 0; c < LANES; c++)
        if (p->lanes >> c & 1)
            p->s.shifted[c] = (is_signed ? (uint64_t)(int32_t)p->s.spread[c] : p->s.spread[c])
                              << count;
}

static void put_sum(struct program *p)
{
    const unsigned regs[2] = {SUMS, SHIFTED}, steps[2] = {2, 2};
    const char *const regions[2] = {".0<1>:q", ".0<1;1,0>:q"};
    unsigned base = below(4);
    char rest[32];

    snprintf(rest, sizeof(rest), " r%d.%u<0;1,0>:q", BASES, base);
    put_halves(p, "add", regs, regions, steps, rest);
    for (unsigned c = 0; c < LANES; c++)
        if (p->lanes >> c & 1)
            p->s.sum[c] = p->s.shifted[c] + p->s.base[base];
}

/* A half of the elements of one of them to a vector. */
static void put_look(struct program *p)
{
    static const unsigned from[3] = {SUMS, SHIFTED, SPREAD};
    unsigned what = below(8) < 5 ? 0 : 1 + below(2), dst = below(INTEGERS);
    unsigned high = what < 2 ? below(2) : 0;
    const unsigned regs[2] = {FIRST_REG + 2 * dst, from[what]}, steps[2] = {1, 2};
    const char *const regions[2] = {".0<1>:d", high ? ".1<2;1,0>:d" : ".0<2;1,0>:d"};

    put_halves(p, "mov", regs, regions, steps, "");
    for (unsigned c = 0; c < LANES; c++) {
        const uint64_t value[3] = {p->s.sum[c], p->s.shifted[c], p->s.spread[c]};
        if (p->lanes >> c & 1)
            p->s.vector[dst][c] = (uint32_t)(value[what] >> 32 * high);
    }
    p->last = dst;
}

/* Mostly in the order that makes an address. */
static void put_address(struct program *p)
{
    static void (*const parts[])(struct program *) = {put_spread, put_shift, put_sum, put_look};
    unsigned first = below(5) ? 0 : below(4);

    for (unsigned i = first; i < ZS_ARRAY_LEN(parts); i++) {
        if (below(8) == 0)
            continue;
        p->no_mask = below(8) == 0;
        p->lanes = p->no_mask ? UINT32_MAX : p->s.ce;
        parts[i](p);
        if (below(4) == 0)
            put_vector(p);
        if (below(8) == 0) {
            p->labels++;
            put(p, "jmpi L%u\nL%u:\n", p->labels, p->labels);
        }
    }
}

/* ---- programs ---- */

static void begin_state(struct state *s)
{
    memset(s, 0, sizeof(*s));
    for (unsigned v = 0; v < VECTORS; v++)
        for (unsigned c = 0; c < LANES; c++)
            s->vector[v][c] = v < INTEGERS    ? next() << 1 ^ next()
                              : below(4) == 0 ? (next() << 1 ^ next()) & 0x807fffff /* denormal */
                                              : bits_of((float)(int32_t)(next() % 2001 - 1000) / 8);
    for (unsigned i = 0; i < 8; i++)
        s->one[i] = i < 4 ? next() : bits_of((float)below(100) / 16);
    for (unsigned i = 0; i < 4; i++)
        s->base[i] = (uint64_t)next() << 32 | next() << 1;
    s->flag = next() << 1 ^ next();
    s->ce = below(3) ? UINT32_MAX : (next() << 1 ^ next()) | 1;
}

/* A block that reads some of the vectors, in all lanes. */
static void put_end(struct program *p)
{
    p->labels++;
    put(p, "jmpi L%u\nL%u:\n", p->labels, p->labels);
    for (unsigned v = 0; v < VECTORS; v++) {
        if (below(4) == 0)
            continue;
        put(p, "(W) mov (32|M0) r%u.0<1>:f ", COPIES + 2 * v);
        put_name(p, v);
        put(p, "<1;1,0>:f\n");
        p->looked_at |= 1u << v;
    }
}

static void load(struct zs_eu_thread *t, const struct state *s)
{
    for (unsigned v = 0; v < VECTORS; v++)
        memcpy(place_of(t, v), s->vector[v], sizeof(s->vector[v]));
    memcpy(t->grf + ONES * GRF_B, s->one, sizeof(s->one));
    memcpy(t->grf + BASES * GRF_B, s->base, sizeof(s->base));
    t->flag[0] = s->flag;
    t->ce = s->ce;
}

static bool same(uint32_t want, uint32_t got, bool is_float)
{
    return want == got || (is_float && isnan(as_float(want)) && isnan(as_float(got)));
}

enum { KEEPS_DENORMALS = 0x4c0 }; /* of cr0 */

/* What was made of all programs, by whether they may be merged. */
static struct zs_eu_chosen sums[2];

static void note_chosen(const struct zs_eu_program *program, uint32_t flags)
{
    struct zs_eu_chosen chosen, *sum = &sums[flags & ZS_EU_LOWER_PLACES ? 0 : 1];

    assert_true(zs_eu_program_chosen(program, &chosen));
    sum->links += chosen.links;
    sum->passed += chosen.passed;
    sum->addresses += chosen.addresses;
    sum->absorbed += chosen.absorbed;
    sum->can_link = chosen.can_link;
}

/* Returns the flag. */
static uint32_t execute(const struct program *p, const struct state *before, uint32_t flags,
                        enum zs_eu_host host, uint32_t control, uint32_t got[VECTORS][LANES])
{
    struct zs_eu_program *program =
        assembled(ZS_ISA_XE_HPC, p->text,
                  (struct zs_eu_lower_params){.simd = 32, .flags = flags, .host = host});
    struct zs_eu_thread *t = assembled_thread(program);

    note_chosen(program, flags);
    zs_eu_thread_set_control(t, control);
    memset(t->grf, 0, 128 * GRF_B);
    load(t, before);
    if (zs_eu_run(t, program, 1000) != ZS_EU_EOT)
        fail_msg("%s: %s", p->text, t->fault.text);
    for (unsigned v = 0; v < VECTORS; v++)
        memcpy(got[v], place_of(t, v), sizeof(before->vector[v]));
    uint32_t flag = t->flag[0], copied;
    memcpy(&copied, t->grf + (ONES + 1) * GRF_B, sizeof(copied));
    if (copied != p->s.copied)
        fail_msg("copied flag: want %08x, got %08x\n%s", p->s.copied, copied, p->text);
    free(t);
    zs_eu_program_destroy(program);
    return flag;
}

static void run(const struct program *p, const struct state *before, uint32_t flags,
                enum zs_eu_host host, unsigned round)
{
    uint32_t got[VECTORS][LANES], flag = execute(p, before, flags, host, KEEPS_DENORMALS, got);

    for (unsigned v = 0; v < VECTORS; v++)
        for (unsigned c = 0; c < LANES; c++)
            if (p->looked_at >> v & 1 && !same(p->s.vector[v][c], got[v][c], v >= INTEGERS))
                fail_msg(
                    "round %u, %s, flags %x, ce %x: vector %u, lane %u: want %08x, got %08x\n%s",
                    round, zs_eu_host_name(host), flags, before->ce, v, c, p->s.vector[v][c],
                    got[v][c], p->text);
    assert_int_equal(flag, p->s.flag);
}

/* Roundings, and denormals that are not kept: linked as each instruction by itself. */
static void run_in_modes(const struct program *p, const struct state *before, unsigned round)
{
    static const uint32_t controls[] = {0, 0x400, 0x10, 0x20, 0x30, 0x4f0};
    uint32_t control = controls[round % ZS_ARRAY_LEN(controls)];
    uint32_t want[VECTORS][LANES], got[VECTORS][LANES];

    execute(p, before, ZS_EU_LOWER_PLACES, ZS_EU_HOST_BEST, control, want);
    execute(p, before, 0, ZS_EU_HOST_BEST, control, got);
    for (unsigned v = 0; v < VECTORS; v++)
        for (unsigned c = 0; c < LANES; c++)
            if (p->looked_at >> v & 1 && !same(want[v][c], got[v][c], v >= INTEGERS))
                fail_msg("round %u, cr0 %x, ce %x: vector %u, lane %u: want %08x, got %08x\n%s",
                         round, control, before->ce, v, c, want[v][c], got[v][c], p->text);
}

/* ---- counts ---- */

enum { INSTS_MAX = 600 };
struct counts {
    uint64_t executions[INSTS_MAX], lanes[INSTS_MAX];
};

static void count(const char *text, const struct state *before, uint32_t flags, struct counts *ret)
{
    const struct zs_eu_lower_params params = {.simd = 32, .flags = flags | ZS_EU_LOWER_COUNTS};
    struct zs_eu_program *program = assembled(ZS_ISA_XE_HPC, text, params);
    struct zs_eu_thread *t = assembled_thread(program);
    uint64_t *counters = calloc(zs_eu_program_counter_count(program), sizeof(*counters));

    memset(ret, 0, sizeof(*ret));
    assert_non_null(counters);
    assert_true(zs_eu_program_inst_count(program) <= INSTS_MAX);
    t->counters = counters;
    load(t, before);
    assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_EOT);
    zs_eu_program_counters_settle(program, counters);
    zs_eu_program_counters_expand(program, counters, ret->executions, ret->lanes);
    free(counters);
    free(t);
    zs_eu_program_destroy(program);
}

/* As if each instruction was lowered by itself. */
static void check_counts(const char *text, const struct state *before, struct counts *ret)
{
    static struct counts apart;

    count(text, before, 0, ret);
    count(text, before, ZS_EU_LOWER_PLACES, &apart);
    for (unsigned i = 0; i < INSTS_MAX; i++)
        if (ret->executions[i] != apart.executions[i] || ret->lanes[i] != apart.lanes[i])
            fail_msg("instruction %u, ce %x: %llu lanes of %llu, apart %llu of %llu\n%s", i,
                     before->ce, (unsigned long long)ret->lanes[i],
                     (unsigned long long)ret->executions[i], (unsigned long long)apart.lanes[i],
                     (unsigned long long)apart.executions[i], text);
}

/* What is left out because it does nothing has lanes all the same, by the flag as it stands there.
 */
static void counts_of_what_is_dropped(void **state)
{
    static const char text[] = "cmp (16|M0) (gt)f0.0 null<1>:d r10.0<1;1,0>:d 0:w\n"
                               "(f0.0) mov (16|M16) null<1>:d r20.0<1;1,0>:d\n"
                               "cmp (16|M16) (gt)f0.0 null<1>:d r11.0<1;1,0>:d 0:w\n";
    static struct counts counts;
    struct state s = {.flag = 0x50000, .ce = UINT32_MAX};

    (void)state;
    for (unsigned c = 0; c < LANES; c++)
        s.vector[0][c] = c + 1;
    check_counts(text, &s, &counts);
    assert_int_equal(counts.executions[1], 1);
    assert_int_equal(counts.lanes[1], 2);
}

/* Instructions of few channels share what counts their lanes within a block; those with a predicate
 * have their own. */
static void counts_of_few_channels(void **state)
{
    static const char text[] = "sync.nop null\n"
                               "mov (4|M0) r20.0<1>:d r10.0<1;1,0>:d\n"
                               "sync.nop null\n"
                               "(f0.0) mov (1|M0) r21.0<1>:d r10.0<0;1,0>:d\n"
                               "mov (4|M8) r22.0<1>:d r10.8<1;1,0>:d\n"
                               "sync.nop null\n"
                               "mov (4|M8) r23.0<1>:d r10.8<1;1,0>:d\n"
                               "(f0.0) mov (1|M0) r24.0<1>:d r10.0<0;1,0>:d\n"
                               "(W) mov (1|M0) r25.0<1>:d r10.0<0;1,0>:d\n"
                               "jmpi L1\n"
                               "L1:\n"
                               "sync.nop null\n"
                               "mov (4|M8) r22.0<1>:d r10.8<1;1,0>:d\n";
    static const uint32_t channels[] = {1, 15, 1, 1, 0xf00, 1, 0xf00, 1, 1, 1, 1, 0xf00};
    static const uint32_t masks[] = {UINT32_MAX, 1, 0xfffffffe, 0x10, 0x5a5a5a5a, 0x80000031};
    static struct counts counts;

    (void)state;
    for (unsigned i = 0; i < 2 * ZS_ARRAY_LEN(masks); i++) {
        struct state s = {.flag = i & 1, .ce = masks[i / 2]};
        check_counts(text, &s, &counts);
        for (unsigned k = 0; k < ZS_ARRAY_LEN(channels); k++) {
            uint32_t lanes = k == 8 ? channels[k] : channels[k] & s.ce;
            if (k == 3 || k == 7)
                lanes &= s.flag;
            assert_int_equal(counts.executions[k], 1);
            if (k != 9) /* the whole thread jumps */
                assert_int_equal(counts.lanes[k], __builtin_popcount(lanes));
        }
    }
}

/* ---- addresses whose shift is none by one number ---- */

static void shifts_by_other_immediates(void **state)
{
    static const uint32_t ways[] = {0, ZS_EU_LOWER_PLACES};
    static const char sum[] = "add (16|M0) r68.0<1>:q r64.0<1;1,0>:q r42.0<0;1,0>:q\n";
    static const struct {
        const char *imm;
        bool is_fault;
        uint8_t shift[8];
    } rows[] = {{"0x10:uv", false, {0, 1}},
                {"0x76543210:uv", false, {0, 1, 2, 3, 4, 5, 6, 7}},
                {"0x10:f", true, {0}},
                {"16:w", false, {16, 16, 16, 16, 16, 16, 16, 16}},
                {"0x10:ud", false, {16, 16, 16, 16, 16, 16, 16, 16}}};
    struct state s = {.base = {0x100000000000}, .ce = UINT32_MAX};
    char text[200];

    (void)state;
    for (unsigned c = 0; c < LANES; c++)
        s.vector[0][c] = c + 1;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows) * ZS_ARRAY_LEN(ways); i++) {
        unsigned row = i / ZS_ARRAY_LEN(ways);
        const struct zs_eu_lower_params params = {.simd = 32,
                                                  .flags = ways[i % ZS_ARRAY_LEN(ways)]};
        snprintf(text, sizeof(text), "shl (16|M0) r64.0<1>:q r10.0<1;1,0>:d %s\n%s", rows[row].imm,
                 sum);
        struct zs_eu_program *program = assembled(ZS_ISA_XE_HPC, text, params);
        struct zs_eu_thread *t = assembled_thread(program);
        load(t, &s);
        assert_int_equal(zs_eu_run(t, program, 1000), rows[row].is_fault ? ZS_EU_FAULT : ZS_EU_EOT);
        for (unsigned c = 0; c < 16 && !rows[row].is_fault; c++) {
            uint64_t got;
            memcpy(&got, t->grf + SUMS * GRF_B + c * 8, 8);
            assert_int_equal(got, s.base[0] + ((uint64_t)(c + 1) << rows[row].shift[c % 8]));
        }
        free(t);
        zs_eu_program_destroy(program);
    }
}

/* ---- what is chosen ---- */

#define HALVES(head, dst0, dst1, rest0, rest1)                                                     \
    head " (16|M0) " dst0 " " rest0 "\n" head " (16|M16) " dst1 " " rest1 "\n"
#define SPREAD_INDEX                                                                               \
    HALVES("mov", "r60.0<2>:ud", "r62.0<2>:ud", "r10.0<1;1,0>:ud", "r11.0<1;1,0>:ud")
#define SHIFT HALVES("shl", "r64.0<1>:q", "r66.0<1>:q", "r60.0<2;1,0>:d 2:w", "r62.0<2;1,0>:d 2:w")
#define SUM                                                                                        \
    HALVES("add", "r68.0<1>:q", "r70.0<1>:q", "r64.0<1;1,0>:q r42.0<0;1,0>:q",                     \
           "r66.0<1;1,0>:q r42.0<0;1,0>:q")
#define PRODUCT                                                                                    \
    "mul (16|M0) acc0.0<1>:d r10.0<1;1,0>:d r12.0<2;1,0>:uw\n"                                     \
    "macl (16|M0) r14.0<1>:d r10.0<1;1,0>:d r12.0<1;1,0>:d\n"
/* The second sum is written over the index. */
#define APART                                                                                      \
    "mov (32|M0) r68.0<1>:d r10.0<1;1,0>:d\n" HALVES("mov", "r72.0<2>:ud", "r74.0<2>:ud",          \
                                                     "r68.0<1;1,0>:ud", "r69.0<1;1,0>:ud")         \
        HALVES("shl", "r76.0<1>:q", "r72.0<1>:q", "r72.0<2;1,0>:d 2:w", "r74.0<2;1,0>:d 2:w")      \
            HALVES("add", "r65.0<1>:q", "r67.0<1>:q", "r76.0<1;1,0>:q r42.0<0;1,0>:q",             \
                   "r72.0<1;1,0>:q r42.0<0;1,0>:q")
#define LOAD  "send.ugm (32|M0) r14 r65 null:0 0x0 0x08200580\n"
#define FIRST "add (32|M0) r14.0<1>:d r10.0<1;1,0>:d r12.0<1;1,0>:d\n"
#define THEN  "xor (32|M0) r16.0<1>:d r14.0<1;1,0>:d r10.0<1;1,0>:d\n"

static void what_is_chosen(void **state)
{
    static const struct {
        const char *text;
        uint32_t links, addresses, absorbed;
    } rows[] = {
        {FIRST THEN, 1, 0, 0},
        {FIRST THEN "mad (32|M0) r18.0<1>:f r16.0<1;0>:f r12.0<1;0>:f r16.0<1>:f\n", 2, 0, 0},
        {FIRST "xor (32|M0) r16.0<1>:d r12.0<1;1,0>:d r10.0<1;1,0>:d\n", 0, 0, 0},
        {FIRST "(f0.0) xor (32|M0) r16.0<1>:d r12.0<1;1,0>:d r14.0<1;1,0>:d\n", 1, 0, 0},
        /* what stands between may go elsewhere; not what writes the source */
        {FIRST "(W) add (1|M0) r40.0<1>:d r40.0<0;1,0>:d 5:w\n" THEN, 1, 0, 0},
        {FIRST "(W) add (1|M0) r14.3<1>:d r40.0<0;1,0>:d 5:w\n" THEN, 0, 0, 0},
        /* other lanes, or fewer */
        {FIRST "xor (16|M0) r16.0<1>:d r14.0<1;1,0>:d r10.0<1;1,0>:d\n", 0, 0, 0},
        {FIRST "jmpi L1\nL1:\n" THEN, 0, 0, 0},
        {HALVES("add", "r14.0<1>:d", "r15.0<1>:d", "r10.0<1;1,0>:d 1:w", "r11.0<1;1,0>:d 1:w"), 0,
         0, 1},
        {HALVES("add", "r14.0<1>:d", "r16.0<1>:d", "r10.0<1;1,0>:d 1:w", "r11.0<1;1,0>:d 1:w"), 0,
         0, 0},
        {HALVES("add", "r14.0<1>:d", "r15.0<1>:d", "r10.0<1;1,0>:d 1:w", "r14.0<1;1,0>:d 1:w"), 0,
         0, 0},
        {PRODUCT, 0, 0, 1},
        {SPREAD_INDEX SHIFT SUM, 0, 1, 5},
        {SPREAD_INDEX SUM, 0, 0, 2},
        {APART LOAD, 0, 0, 6},
        {APART LOAD PRODUCT, 0, 0, 7},
        /* a sum is read, in its block or behind; lanes that are off are */
        {APART LOAD "mov (32|M0) r18.0<1>:d r65.0<1;1,0>:d\n", 0, 0, 1},
        {APART LOAD "jmpi L1\nL1:\nmov (32|M0) r18.0<1>:d r65.0<1;1,0>:d\n", 0, 0, 1},
        {APART LOAD "add (32|M0) r65.0<1>:d r10.0<1;1,0>:d 1:w\n"
                    "(W) mov (16|M0) r18.0<1>:d r65.0<1;1,0>:d\n",
         0, 0, 1},
        /* not by a product's lanes */
        {APART LOAD "add (32|M0) r65.0<1>:d r10.0<1;1,0>:d 1:w\n"
                    "(W) mul (16|M0) acc0.0<1>:d r65.0<1;1,0>:d r12.0<2;1,0>:uw\n"
                    "macl (16|M0) r18.0<1>:d r65.0<1;1,0>:d r12.0<1;1,0>:d\n",
         0, 0, 7},
        {"shl (16|M0) r64.0<1>:q r10.0<1;1,0>:d 0x76543210:uv\n"
         "add (16|M0) r68.0<1>:q r64.0<1;1,0>:q r42.0<0;1,0>:q\n",
         0, 0, 0},
    };

    (void)state;
    bool has_avx2 = zs_eu_host_usable(ZS_EU_HOST_AVX2); /* links are for these hosts alone */
    for (unsigned i = 0; i < 4 * ZS_ARRAY_LEN(rows); i++) {
        bool may = i % 2, avx2 = i / 2 % 2 && has_avx2;
        const struct zs_eu_lower_params params = {.simd = 32,
                                                  .flags = may ? 0 : ZS_EU_LOWER_PLACES,
                                                  .host = avx2 ? ZS_EU_HOST_AVX2 : ZS_EU_HOST_BASE};
        struct zs_eu_chosen chosen;
        struct zs_eu_program *program = assembled(ZS_ISA_XE_HPC, rows[i / 4].text, params);
        assert_true(zs_eu_program_chosen(program, &chosen));
        uint32_t links = may && avx2 && chosen.can_link ? rows[i / 4].links : 0;
        if (chosen.links != links || chosen.addresses != (may ? rows[i / 4].addresses : 0) ||
            chosen.absorbed != (may ? rows[i / 4].absorbed : 0))
            fail_msg("%s: %u links, %u addresses, %u absorbed\n%s", avx2 ? "AVX2" : "base",
                     chosen.links, chosen.addresses, chosen.absorbed, rows[i / 4].text);
        zs_eu_program_destroy(program);
    }
}

/* ---- exponentials ---- */

/* Of 32 lanes and of 16, one number in a register. */
static void exponentials_of(struct zs_eu_thread *t, const struct zs_eu_program *program,
                            uint32_t control, const uint32_t in[LANES], uint32_t ret[2][LANES])
{
    zs_eu_thread_init(t, program, UINT32_MAX);
    zs_eu_thread_set_control(t, control);
    memcpy(t->grf + FIRST_REG * GRF_B, in, LANES * sizeof(in[0]));
    assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_EOT);
    memcpy(ret, t->grf + COPIES * GRF_B, (LANES + LANES / 2) * sizeof(in[0]));
    memcpy(ret[1] + LANES / 2, t->grf + (COPIES + 6) * GRF_B, LANES / 2 * sizeof(in[0]));
}

static uint32_t draw_exponent(unsigned lane, bool any)
{
    static const float chosen[] = {0,    -0.0f,  0.5f,   -0.5f,    1,         -1,   124.9f, -125,
                                   125,  126,    127.9f, 128,      -126.1f,   -140, -150,   200,
                                   -300, 1e-30f, 1e-40f, INFINITY, -INFINITY, NAN,  0.3f,   7.5f};
    float x = (float)(int32_t)(next() << 8) / 2147483648.0f * 120.0f;

    if (any)
        return next() << 1 ^ next();
    return lane == 0 && below(8) == 0 ? bits_of(chosen[below(ZS_ARRAY_LEN(chosen))]) : bits_of(x);
}

/* The same bits in all builds, of which some have a shorter way for most. */
static void exponentials(void **state)
{
    static const char text[] = "math.exp (32|M0) r80.0<1>:f r10.0<1;1,0>:f\n"
                               "math.exp (16|M0) r82.0<1>:f r10.0<1;1,0>:f\n"
                               "math.exp (16|M16) r86.0<1>:f r11.0<1;1,0>:f\n"
                               "jmpi L1\nL1:\n";
    enum { EXP_ROUNDS = 3000 };
    static const uint32_t controls[] = {0x4c0, 0x4c0, 0x4c0, 0, 0x4d0, 0x4e0, 0x4f0};
    struct zs_eu_program *programs[ZS_EU_HOST_COUNT] = {NULL};

    (void)state;
    for (unsigned h = ZS_EU_HOST_BASE; h < ZS_EU_HOST_COUNT; h++)
        if (zs_eu_host_usable((enum zs_eu_host)h))
            programs[h] =
                assembled(ZS_ISA_XE_HPC, text,
                          (struct zs_eu_lower_params){.simd = 32, .host = (enum zs_eu_host)h});
    struct zs_eu_thread *t = assembled_thread(programs[ZS_EU_HOST_BASE]);
    seed = 77;
    for (unsigned round = 0; round < EXP_ROUNDS; round++) {
        uint32_t in[LANES], want[2][LANES], got[2][LANES];
        uint32_t control = controls[below(ZS_ARRAY_LEN(controls))];
        for (unsigned c = 0; c < LANES; c++)
            in[c] = draw_exponent(c, round % 16 == 0);
        exponentials_of(t, programs[ZS_EU_HOST_BASE], control, in, want);
        assert_memory_equal(want[0], want[1], sizeof(want[0]));
        for (unsigned h = ZS_EU_HOST_BASE + 1; h < ZS_EU_HOST_COUNT; h++) {
            if (!programs[h])
                continue;
            exponentials_of(t, programs[h], control, in, got);
            for (unsigned i = 0; i < 2 * LANES; i++)
                if (got[i / LANES][i % LANES] != want[i / LANES][i % LANES])
                    fail_msg("%s, cr0 %x: exp of %08x: want %08x, got %08x",
                             zs_eu_host_name((enum zs_eu_host)h), control, in[i % LANES],
                             want[i / LANES][i % LANES], got[i / LANES][i % LANES]);
        }
    }
    free(t);
    for (unsigned h = 0; h < ZS_EU_HOST_COUNT; h++)
        zs_eu_program_destroy(programs[h]);
}

/* ---- all ---- */

static void chains(void **state)
{
    static const struct {
        uint32_t flags;
        enum zs_eu_host host;
    } ways[] = {{0, ZS_EU_HOST_BEST},
                {ZS_EU_LOWER_WIDE, ZS_EU_HOST_BEST},
                {0, ZS_EU_HOST_AVX2},
                {0, ZS_EU_HOST_BASE},
                {ZS_EU_LOWER_PLACES, ZS_EU_HOST_BEST}};
    static void (*const pieces[])(struct program *) = {
        put_vector, put_vector,  put_vector, put_vector, put_choice,
        put_one,    put_address, put_vector, put_few,    put_skip};
    static struct program p;
    static struct counts counts;
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : ROUNDS;
    struct state before;

    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        seed = 1000 + round;
        begin_state(&before);
        p = (struct program){.s = before};
        for (unsigned i = 0; i < PIECES; i++)
            pieces[below(ZS_ARRAY_LEN(pieces))](&p);
        put_end(&p);
        for (unsigned i = 0; i < ZS_ARRAY_LEN(ways); i++)
            if (zs_eu_host_usable(ways[i].host))
                run(&p, &before, ways[i].flags, ways[i].host, round);
        if (round % 4 == 0)
            check_counts(p.text, &before, &counts);
        else if (round % 4 == 1)
            run_in_modes(&p, &before, round / 4);
    }
    assert_true(sums[1].absorbed > rounds && sums[1].addresses > rounds / 4);
    assert_true(sums[0].absorbed + sums[0].addresses + sums[0].links == 0);
    if (zs_eu_host_usable(ZS_EU_HOST_AVX2) && sums[1].can_link)
        assert_true(sums[1].links > rounds && sums[1].passed > rounds / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_of_what_is_dropped),
                                       cmocka_unit_test(counts_of_few_channels),
                                       cmocka_unit_test(shifts_by_other_immediates),
                                       cmocka_unit_test(what_is_chosen),
                                       cmocka_unit_test(exponentials),
                                       cmocka_unit_test(chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
