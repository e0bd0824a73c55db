/* SPDX-License-Identifier: MIT */
/*
 * Lines that groups touch of which nothing was recorded.
 *
 * Of a long launch runs of groups are recorded (trace.c). When the second run begins, what lies
 * between the two has gone through the caches, too: where threads read the same memory here and
 * there, a line that the run asks for the first time has probably been asked for before. How
 * probably, the runs say of each other: of the lines of an allocation that a run is the first to
 * touch, the later runs touch some again. A stretch of groups as long as a run touches as large a
 * part of them, longer ones accordingly more; streams touch none again, tables all. The same
 * numbers tell how many different lines such a stretch touches, and so from when on a cache has no
 * room for all of them.
 *
 * Lines are counted by a sample: those whose hash begins with some zeros, and of these all
 * accesses, so that "touched again" is exact for each.
 */
#include "gpu/timing/timing_priv.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SAMPLE_BITS = 4, /* one line in so many, as a power of two */
    CLASSES = ZS_TIMING_CLASSES,
    LINES_KNOWN = 8, /* of the sample: of less nothing is concluded */
    SEARCH_STEPS = 24,
};
static const double TABLE = 0.95; /* so likely again: all groups touch it, the first one first */
static const uint64_t HASH = UINT64_C(0x9e3779b97f4a7c15);

struct class
{
    double lines;                         /* different ones of a run */
    double again[ZS_TIMING_RUNS];         /* by run: see above */
    uint32_t touched[ZS_TIMING_RUNS];     /* of the sample */
    uint32_t first[ZS_TIMING_RUNS];       /* ... that no earlier run touches */
    uint32_t first_again[ZS_TIMING_RUNS]; /* of these, in later runs: summed over them */
    uint32_t shared;                      /* with the run before: summed over runs */
};

struct zs_timing_census {
    uint32_t runs;
    double gaps[ZS_TIMING_RUNS]; /* so many runs' groups were left out before a run, in all */
    struct class classes[CLASSES];
};

/* The sample: open addressing. */
struct table {
    uint64_t *lines; /* 0: free */
    uint8_t *runs;   /* a bit each */
    uint32_t size, count;
};

static uint32_t class_of(uint64_t line)
{
    return (uint32_t)ZS_MIN(line >> ZS_TIMING_LINE_BITS, (uint64_t)CLASSES - 1);
}

/* ---- the sample --------------------------------------------------------------------------------
 */

static uint32_t place_of(const struct table *t, uint64_t line)
{
    uint32_t at = (uint32_t)(line * HASH >> 20) & (t->size - 1);
    while (t->lines[at] && t->lines[at] != line)
        at = (at + 1) & (t->size - 1);
    return at;
}

static bool grow(struct table *t)
{
    struct table wider = {.size = t->size ? 2 * t->size : 1024, .count = t->count};
    wider.lines = calloc(wider.size, sizeof(*wider.lines));
    wider.runs = calloc(wider.size, sizeof(*wider.runs));
    for (uint32_t i = 0; i < t->size && wider.lines && wider.runs; i++) {
        if (!t->lines[i])
            continue;
        uint32_t at = place_of(&wider, t->lines[i]);
        wider.lines[at] = t->lines[i];
        wider.runs[at] = t->runs[i];
    }
    struct table *unused = wider.lines && wider.runs ? t : &wider;
    bool grown = unused == t;
    free(unused->lines);
    free(unused->runs);
    if (grown)
        *t = wider;
    return grown;
}

static bool add_line(struct table *t, uint64_t line, uint32_t run)
{
    if (2 * t->count >= t->size && !grow(t))
        return false;
    uint32_t at = place_of(t, line);
    t->count += t->lines[at] == 0;
    t->lines[at] = line;
    t->runs[at] |= (uint8_t)(1u << run);
    return true;
}

/* The lines of a stream's messages; scratch and private memory are a thread's own. */
static bool add_stream(struct table *t, const struct zs_timing_stream *s, uint32_t run)
{
    for (uint32_t i = 0; i < s->count;) {
        uint32_t word = s->words[i];
        uint32_t lines = word >> 30 == ZS_TIMING_WORD_MESSAGE ? word >> 20 & 1023 : 0;
        const uint32_t *at = s->words + i + 2;
        for (uint32_t k = 0; k < lines; k++, at += 2) {
            uint32_t range = at[0] >> 24;
            if (range < ZS_TIMING_RANGE_FIRST)
                continue;
            uint64_t line = zs_timing_line_of(s->ranges[range - ZS_TIMING_RANGE_FIRST], at);
            if (line * HASH >> (64 - SAMPLE_BITS) == 0 && !add_line(t, line, run))
                return false;
        }
        i += 2 + 2 * lines;
    }
    return true;
}

static void count_line(struct zs_timing_census *c, uint64_t line, uint32_t in_runs)
{
    struct class *k = &c->classes[class_of(line)];
    uint32_t first = (uint32_t)__builtin_ctz(in_runs);
    for (uint32_t run = 0; run < c->runs; run++)
        k->touched[run] += in_runs >> run & 1;
    k->first[first]++;
    k->first_again[first] += (uint32_t)__builtin_popcount(in_runs) - 1;
    k->shared += (uint32_t)__builtin_popcount(in_runs & in_runs >> 1);
}

/* ---- what it says ------------------------------------------------------------------------------
 */

/* How likely a line that run `run` is the first to touch is touched by another one. Nothing comes
 * after the last: it is as the one before it. Of two runs only what they share is known. */
static double again(const struct zs_timing_census *c, const struct class *k, uint32_t run)
{
    if (c->runs == 2)
        return k->touched[1] < LINES_KNOWN ? 0 : (double)k->shared / k->touched[1];
    if (run == c->runs - 1)
        run--;
    double could = (double)k->first[run] * (c->runs - 1 - run);
    return k->first[run] < LINES_KNOWN ? 0 : k->first_again[run] / could;
}

static void conclude(struct zs_timing_census *c)
{
    for (uint32_t i = 0; i < CLASSES; i++) {
        struct class *k = &c->classes[i];
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
static double footprint(const struct zs_timing_census *c, uint32_t run, double runs)
{
    double sum = 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        const struct class *k = &c->classes[i];
        double p = k->again[run];
        sum += p > 0 ? k->lines * (1 - power(1 - p, runs)) / p : k->lines * runs;
    }
    return sum;
}

void zs_timing_census_odds(const struct zs_timing_census *c, uint32_t run, double room,
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

bool zs_timing_census_says(const uint32_t odds[ZS_TIMING_CLASSES], uint64_t line)
{
    return (uint32_t)(line * UINT64_C(0xd6e8feb86659fd93) >> 32) < odds[class_of(line)];
}

/* ---- create ------------------------------------------------------------------------------------
 */

/* Of recorded groups, too, windows were given up. With barriers these are the same in all threads,
 * and what they touch is not what others do. */
static void give_up(struct zs_timing_census *c, const struct zs_timing_trace *t)
{
    uint64_t executed = 0, recorded = 0;
    for (uint64_t i = 0; i < t->sampled * t->launch.threads_per_group; i++) {
        executed += t->streams[i].executed;
        recorded += t->streams[i].recorded;
    }
    if (t->launch.has_barriers || recorded == 0 || executed <= recorded)
        return;
    for (uint32_t run = 0; run < c->runs; run++)
        c->gaps[run] += ((double)executed / (double)recorded - 1) * (run + 0.5);
}

int zs_timing_census_create(const struct zs_timing_trace *t, struct zs_timing_census **ret)
{
    struct table table = {0};
    struct zs_timing_census *c = NULL;
    int error = 0;
    *ret = NULL;
    if (t->chunk_count < 2)
        return 0;
    c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->runs = (uint32_t)t->chunk_count;
    for (uint64_t run = 1; run < t->chunk_count; run++) {
        uint64_t all = zs_timing_trace_group(t, run * t->chunk_groups);
        c->gaps[run] = (double)(all - run * t->chunk_groups) / (double)t->chunk_groups;
    }
    uint64_t run_threads = t->chunk_groups * t->launch.threads_per_group;
    give_up(c, t);
    for (uint64_t i = 0; i < t->chunk_count * run_threads && !error; i++)
        error = add_stream(&table, &t->streams[i], (uint32_t)(i / run_threads)) ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < table.size && !error; i++) {
        if (table.lines[i])
            count_line(c, table.lines[i], table.runs[i]);
    }
    free(table.lines);
    free(table.runs);
    conclude(c);
    *ret = error ? NULL : c;
    if (error)
        free(c);
    return error;
}

void zs_timing_census_destroy(struct zs_timing_census *c)
{
    free(c);
}
