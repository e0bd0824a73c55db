/* SPDX-License-Identifier: MIT */
/*
 * Lines that groups touch of which nothing was recorded.
 *
 * Of a long launch runs of groups are recorded (trace.c). When the second run begins, what lies
 * between the two has gone through the caches, too: a line that the run asks for the first time has
 * perhaps been asked for before. How probably, the runs say in two ways, allocation by allocation:
 *
 * - Where threads read the same memory here and there: of the lines that a run is the first to
 *   touch, the later runs touch some again. A stretch of groups as long as a run touches as large a
 *   part of them, longer ones accordingly more; streams touch none again, tables all.
 * - Where groups read what others read that began a while before them: how many groups ago is seen
 *   within a run, of groups that have so many before them. Those at its beginning do not, so it is
 *   an estimate from what is cut off (Kaplan and Meier, "Nonparametric estimation from incomplete
 *   observations", 1958): of the touches that no group less than d ago preceded, and that have as
 *   many groups before them, a part was preceded by the one d ago.
 *
 * The same numbers tell how many different lines a stretch of groups touches, and so from when on a
 * cache has no room for all of them.
 *
 * Lines are counted by a sample: those whose hash begins with some zeros, and of these all
 * accesses, so that "touched again" is exact for each.
 */
#include "gpu/timing/timing_priv.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SAMPLE_BITS = 4, /* one line in so many, as a power of two */
    CLASSES = ZS_TIMING_CLASSES,
    LINES_KNOWN = 8, /* of the sample: of less nothing is concluded */
    SEARCH_STEPS = 24,
    STEPS = ZS_TIMING_STEPS,
    READ = 1 << 7, /* a load touches the line */
};
static const double GIVEN_UP = 1.1; /* so much more than was recorded: it is missed */
static const double TABLE = 0.95;   /* so likely again: all groups touch it, the first one first */
static const uint64_t HASH = UINT64_C(0x9e3779b97f4a7c15);

struct class
{
    double lines;                         /* different ones of a run */
    double again[ZS_TIMING_RUNS];         /* by run: see above */
    uint32_t touched[ZS_TIMING_RUNS];     /* of the sample */
    uint32_t first[ZS_TIMING_RUNS];       /* ... that no earlier run touches */
    uint32_t first_again[ZS_TIMING_RUNS]; /* of these, in later runs: summed over them */
    uint32_t shared;                      /* with the run before: summed over runs */
    uint32_t distinct, read;              /* of all runs; ... that loads touch */
    /* touches, one of a line by a group, by steps: how long ago in the run was the last one before;
     * of those without one, how long before them the run had begun */
    uint32_t met[STEPS], unmet[STEPS];
    double unseen[STEPS]; /* part that none precedes from so many steps ago on, up to now */
    double touches;       /* of a step's groups */
    uint32_t own, common; /* of scratch and private memory: see zs_timing_reuse_own() */
};

struct zs_timing_reuse {
    uint32_t runs;
    double gaps[ZS_TIMING_RUNS]; /* so many runs' groups were left out before a run, in all */
    uint64_t run_groups;         /* recorded ones */
    bool apart;                  /* runs have groups between them of which nothing was recorded */
    uint8_t *class_of;           /* by instruction */
    uint32_t op_count;
    double all_runs; /* the launch's groups, and what was given up of recorded ones */
    struct class classes[CLASSES];
};

struct line {
    uint64_t number;
    uint8_t runs;   /* a bit each, and READ */
    uint32_t group; /* the last one that touched it */
};

struct table {
    struct zs_index index;
    struct line *items;
    size_t count, capacity;
};

/* ---- the sample --------------------------------------------------------------------------------
 */

static uint64_t hash_line(const void *lines, size_t i)
{
    return zs_hash_u64(0, ((const struct line *)lines)[i].number);
}

/* Of no run when it is new; NULL: no memory. */
static struct line *line_of(struct table *t, uint64_t number)
{
    if (!zs_index_reserve(&t->index, t->count, hash_line, t->items))
        return NULL;
    uint32_t *slot = zs_index_first(&t->index, zs_hash_u64(0, number));
    while (*slot && t->items[*slot - 1].number != number)
        slot = zs_index_next(&t->index, slot);
    if (!*slot) {
        if (!ZS_VEC_PUSH(t, ((struct line){.number = number})))
            return NULL;
        *slot = (uint32_t)t->count;
    }
    return &t->items[*slot - 1];
}

static void free_table(struct table *t)
{
    zs_index_fini(&t->index);
    free(t->items);
}

/* Of so many groups. */
static uint32_t step_of(const struct zs_timing_reuse *c, uint64_t groups)
{
    return (uint32_t)ZS_MIN(groups * STEPS / c->run_groups, (uint64_t)STEPS - 1);
}

/* Groups come in their order. */
static bool add_line(struct zs_timing_reuse *c, struct table *t, uint64_t line, uint32_t group,
                     uint32_t read)
{
    struct line *l = line_of(t, line);
    if (!l)
        return false;
    uint32_t run = (uint32_t)(group / c->run_groups);
    struct class *k = &c->classes[zs_timing_class_of(line)];
    bool in_run = l->runs >> run & 1;
    if (!in_run)
        k->unmet[step_of(c, group % c->run_groups)]++;
    else if (l->group != group)
        k->met[step_of(c, group - l->group)]++;
    l->runs |= (uint8_t)(1u << run | read);
    l->group = group;
    return true;
}

/* A line of scratch or private memory, as the stream has it: each is counted. */
static bool add_own(struct zs_timing_reuse *c, struct table *t, const uint32_t *words)
{
    uint64_t line = (uint64_t)words[0] << 32 | words[1];
    size_t before = t->count;
    if (!line_of(t, line))
        return false;
    if (t->count == before)
        return true;
    struct class *k = &c->classes[words[0] >> 24];
    *(words[0] & ZS_TIMING_SHARED ? &k->common : &k->own) += 1;
    return true;
}

/* The lines of a stream's messages; own: where those of scratch and private memory go, of which a
 * thread uses what the one before it in its place has used. */
static bool add_stream(struct zs_timing_reuse *c, struct table *t, struct table *own,
                       const struct zs_timing_stream *s, uint32_t group)
{
    for (uint32_t i = s->messages_from; i < s->messages_until;) {
        uint32_t word = s->words[i];
        uint32_t lines = word >> 30 == ZS_TIMING_WORD_MESSAGE ? word >> 20 & 1023 : 0;
        const uint32_t *at = s->words + i + 2;
        uint32_t inst = word & 0xfffff, read = lines && !zs_timing_stores(at[-1]) ? READ : 0;
        for (uint32_t k = 0; k < lines; k++, at += 2) {
            uint32_t range = at[0] >> 24;
            if (range < ZS_TIMING_RANGE_FIRST) {
                if (inst < c->op_count)
                    c->class_of[inst] = (uint8_t)range;
                if (!add_own(c, own, at))
                    return false;
                continue;
            }
            uint64_t line = zs_timing_line_of(s->ranges[range - ZS_TIMING_RANGE_FIRST], at);
            if (inst < c->op_count)
                c->class_of[inst] = (uint8_t)zs_timing_class_of(line);
            if (line * HASH >> (64 - SAMPLE_BITS) == 0 && !add_line(c, t, line, group, read))
                return false;
        }
        i += 2 + 2 * lines;
    }
    return true;
}

static void count_line(struct zs_timing_reuse *c, uint64_t line, uint32_t in_runs)
{
    struct class *k = &c->classes[zs_timing_class_of(line)];
    uint32_t first = (uint32_t)__builtin_ctz(in_runs);
    for (uint32_t run = 0; run < c->runs; run++)
        k->touched[run] += in_runs >> run & 1;
    k->first[first]++;
    k->distinct++;
    k->read += (in_runs & READ) != 0;
    in_runs &= READ - 1u;
    k->first_again[first] += (uint32_t)__builtin_popcount(in_runs) - 1;
    k->shared += (uint32_t)__builtin_popcount(in_runs & in_runs >> 1);
}

/* ---- what it says ------------------------------------------------------------------------------
 */

/* How likely a line that run `run` is the first to touch is touched by another one. Nothing comes
 * after the last: it is as the one before it. Of two runs only what they share is known. */
static double again(const struct zs_timing_reuse *c, const struct class *k, uint32_t run)
{
    if (c->runs == 2)
        return k->touched[1] < LINES_KNOWN ? 0 : (double)k->shared / k->touched[1];
    if (run == c->runs - 1)
        run--;
    double could = (double)k->first[run] * (c->runs - 1 - run);
    return k->first[run] < LINES_KNOWN ? 0 : k->first_again[run] / could;
}

/* From the longest step on down: touches that are as far from the run's beginning, or further. */
static void find_unseen(struct class *k, uint32_t runs)
{
    uint32_t could = 0, could_of[STEPS];
    for (uint32_t i = STEPS; i-- > 0;)
        could_of[i] = could += k->met[i] + k->unmet[i];
    k->touches = (double)could * (1u << SAMPLE_BITS) / ((double)runs * STEPS);
    double left = 1;
    for (uint32_t i = 0; i < STEPS; i++) {
        if (could_of[i] >= LINES_KNOWN)
            left *= 1 - (double)k->met[i] / could_of[i];
        k->unseen[i] = left;
    }
}

static void conclude(struct zs_timing_reuse *c)
{
    for (uint32_t i = 0; i < CLASSES; i++) {
        struct class *k = &c->classes[i];
        find_unseen(k, c->runs);
        for (uint32_t run = 0; run < c->runs; run++) {
            k->lines += (double)k->touched[run] * (1u << SAMPLE_BITS) / c->runs;
            k->again[run] = again(c, k, run);
        }
    }
}

/* base to the power of `exponent`, straight between whole ones: the same on every host. */
static double power(double base, double exponent)
{
    double whole = 1, square = base;
    uint32_t times = (uint32_t)exponent;
    for (uint32_t left = times; left; left >>= 1, square *= square)
        whole *= left & 1 ? square : 1;
    return whole * (1 - (exponent - times) * (1 - base));
}

/* Different lines that so many runs' groups touch. */
static double footprint(const struct zs_timing_reuse *c, uint32_t run, double runs)
{
    double sum = 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        const struct class *k = &c->classes[i];
        double p = k->again[run];
        sum += p > 0 ? k->lines * (1 - power(1 - p, runs)) / p : k->lines * runs;
    }
    return sum;
}

void zs_timing_reuse_odds(const struct zs_timing_reuse *c, uint32_t run, double room,
                          uint32_t ret_odds[ZS_TIMING_CLASSES])
{
    double least = 0, most = c->gaps[run];
    if (footprint(c, run, most) <= room)
        least = most;
    for (uint32_t i = 0; i < SEARCH_STEPS && least < most; i++) {
        double middle = (least + most) / 2;
        *(footprint(c, run, middle) <= room ? &least : &most) = middle;
    }
    for (uint32_t i = 0; i < CLASSES; i++) {
        double p = c->classes[i].again[run];
        double odds = run || p < TABLE ? 1 - power(1 - p, least) : 0;
        ret_odds[i] = (uint32_t)(odds * UINT32_MAX);
    }
}

static double mean_again(const struct zs_timing_reuse *c, const struct class *k)
{
    double p = 0;
    for (uint32_t run = 0; run < c->runs; run++)
        p += k->again[run] / c->runs;
    return p;
}

/* A run's different lines, then those that each further one adds: less where the run before has had
 * them, and fewer and fewer where they read the same memory here and there. */
static double lines_of_all(const struct zs_timing_reuse *c, const struct class *k, double p)
{
    double others = c->all_runs - 1, next = k->touches * STEPS * k->unseen[STEPS - 1];
    next = ZS_MIN(next, k->lines * (1 - p));
    return k->lines + (p > 0 ? next * (1 - power(1 - p, others)) / p : next * others);
}

struct zs_timing_lines zs_timing_reuse_lines(const struct zs_timing_reuse *c, uint32_t class)
{
    const struct class *k = &c->classes[class];
    double p = mean_again(c, k), recorded = (double)(1u << SAMPLE_BITS) * k->distinct;
    return (struct zs_timing_lines){
        .recorded = recorded,
        .read = k->distinct ? (double)k->read / k->distinct : 0,
        .all = ZS_MAX(lines_of_all(c, k, p), recorded),
        .fresh = k->unseen[STEPS - 1] * (1 - ZS_MIN(p, 1)),
    };
}

double zs_timing_reuse_first(const struct zs_timing_reuse *c, uint32_t class, uint32_t steps)
{
    const struct class *k = &c->classes[class];
    double sum = 0;
    for (uint32_t i = 0; i < steps; i++)
        sum += k->touches * (k->unseen[i] - k->unseen[steps - 1]);
    return sum;
}

double zs_timing_reuse_own(const struct zs_timing_reuse *c, uint32_t class, uint64_t places)
{
    const struct class *k = &c->classes[class];
    return (double)k->own * (double)places + k->common;
}

uint32_t zs_timing_reuse_class(const struct zs_timing_reuse *c, uint32_t inst)
{
    return c->class_of[inst];
}

uint32_t zs_timing_reuse_steps(const struct zs_timing_reuse *c, double lines)
{
    double sum = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < CLASSES; i++)
            sum += c->classes[i].touches * c->classes[i].unseen[step];
        if (sum > lines)
            return step;
    }
    return STEPS;
}

void zs_timing_reuse_near(const struct zs_timing_reuse *c, double lines,
                          uint32_t ret_odds[ZS_TIMING_CLASSES][ZS_TIMING_STEPS])
{
    uint32_t steps = c->apart ? zs_timing_reuse_steps(c, lines) : 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        const double *unseen = c->classes[i].unseen;
        for (uint32_t step = 0; step < STEPS; step++) {
            double odds =
                step < steps && unseen[step] > 0 ? 1 - unseen[steps - 1] / unseen[step] : 0;
            ret_odds[i][step] = (uint32_t)(odds * UINT32_MAX);
        }
    }
}

bool zs_timing_reuse_says(const uint32_t odds[ZS_TIMING_CLASSES],
                          const uint32_t near[ZS_TIMING_CLASSES][ZS_TIMING_STEPS], uint32_t step,
                          uint64_t line)
{
    uint32_t class = zs_timing_class_of(line), likely = odds ? odds[class] : 0;
    likely = near ? ZS_MAX(likely, near[class][step]) : likely;
    return (uint32_t)(line * UINT64_C(0xd6e8feb86659fd93) >> 32) < likely;
}

/* ---- create ------------------------------------------------------------------------------------
 */

/* Of recorded groups, too, windows were given up: so many times as much was done. With barriers
 * these are the same in all threads, and what they touch is not what others do. */
static double given_up(const struct zs_timing_trace *t)
{
    uint64_t executed = 0, recorded = 0;
    for (uint64_t i = 0; i < t->sampled * t->launch.threads_per_group; i++) {
        executed += t->streams[i].executed;
        recorded += t->streams[i].recorded;
    }
    if (t->launch.has_barriers || recorded == 0)
        return 1;
    return ZS_MAX((double)executed / (double)recorded, 1);
}

/* Where all groups were recorded they are looked at in as many runs, one behind the other. */
static void choose_runs(struct zs_timing_reuse *c, const struct zs_timing_trace *t, double times)
{
    c->apart = t->chunk_count > 1;
    c->runs = c->apart ? (uint32_t)t->chunk_count : ZS_TIMING_RUNS;
    c->run_groups = c->apart ? t->chunk_groups : (t->sampled + c->runs - 1) / c->runs;
    if (!c->apart) /* 5 groups are three runs of two, of which none is empty */
        c->runs = (uint32_t)((t->sampled + c->run_groups - 1) / c->run_groups);
    for (uint64_t run = 1; run < c->runs && c->apart; run++) {
        uint64_t all = zs_timing_trace_group(t, run * t->chunk_groups);
        c->gaps[run] = (double)(all - run * t->chunk_groups) / (double)t->chunk_groups;
    }
    for (uint32_t run = 0; run < c->runs; run++)
        c->gaps[run] += (times - 1) * (run + 0.5);
    c->all_runs = times * (double)t->launch.group_count / (double)c->run_groups;
}

static int count_lines(struct zs_timing_reuse *c, const struct zs_timing_trace *t)
{
    struct table table = {0}, own = {0};
    uint32_t threads = t->launch.threads_per_group;
    int error = 0;
    for (uint64_t i = 0; i < t->sampled * threads && !error; i++)
        error = add_stream(c, &table, &own, &t->streams[i], (uint32_t)(i / threads)) ? 0 : -ENOMEM;
    for (size_t i = 0; i < table.count && !error; i++)
        count_line(c, table.items[i].number, table.items[i].runs);
    free_table(&table);
    free_table(&own);
    return error;
}

int zs_timing_reuse_create(const struct zs_timing_trace *t, struct zs_timing_reuse **ret)
{
    double times = given_up(t);
    *ret = NULL;
    if (t->chunk_count < 2 && (times < GIVEN_UP || t->sampled < ZS_TIMING_RUNS))
        return 0;
    struct zs_timing_reuse *c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->op_count = t->launch.code->op_count;
    c->class_of = calloc(c->op_count + 1u, sizeof(*c->class_of));
    choose_runs(c, t, times);
    int error = c->class_of ? count_lines(c, t) : -ENOMEM;
    if (error) {
        zs_timing_reuse_destroy(c);
        return error;
    }
    conclude(c);
    *ret = c;
    return 0;
}

uint64_t zs_timing_reuse_groups(const struct zs_timing_reuse *c)
{
    return c->run_groups;
}

void zs_timing_reuse_destroy(struct zs_timing_reuse *c)
{
    if (c)
        free(c->class_of);
    free(c);
}
