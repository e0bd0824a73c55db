/* SPDX-License-Identifier: MIT */
/*
 * How far the modelled time of a launch is off that of a whole replay (ZESCOPE_TIMING=exact), and
 * what it costs: the kernels of bench/gpu, and of bench/timing regular, irregular, tiny and long
 * ones. TIMING, GPU: native binaries of their kernels. Prints a line for each launch: kernel,
 * groups, instructions, instructions replayed in percent, cycles of the whole replay, what the
 * estimate is off in percent of them, what it says of itself; by how much misses of L3 and lines
 * read from memory are off; CPU nanoseconds of a launch without the model, and how many times as
 * much a first launch with it takes, and a whole replay. KERNEL: of this one alone.
 */
#include "../gpu/work.h"
#include "device.h"

#include <math.h>

enum { DATA_B = 4 << 20, REPEATS = 5 };

struct shape {
    const char *kernel;
    uint32_t groups[3], size[3];
};

static double percent(uint64_t value, uint64_t of)
{
    return of ? 100 * (double)value / (double)of : 0;
}

/* In percent of the second. */
static double off(uint64_t sampled, uint64_t whole)
{
    return whole ? 100 * ((double)sampled / (double)whole - 1) : 0;
}

/* CPU time of a launch. refill: what the arguments point to, as it was. */
static double measure(struct lab *lab, const struct shape *s, const struct lab_arg args[LAB_ARGS],
                      void (*refill)(const void *data), const void *data, uint32_t flags)
{
    lab->flags = flags;
    refill(data);
    (void)lab_launch(lab, s->kernel, s->groups, s->size, args);
    return lab->cpu_ns;
}

static void compare(struct lab *lab, const struct shape *s, const struct lab_arg args[LAB_ARGS],
                    void (*refill)(const void *data), const void *data)
{
    double plain = INFINITY,
           first = INFINITY; /* the least; in turns, as the machine has its moods */
    for (uint32_t i = 0; i < REPEATS; i++) {
        lab->untimed = true;
        plain = fmin(plain, measure(lab, s, args, refill, data, 0));
        lab->untimed = false;
        first = fmin(first, measure(lab, s, args, refill, data, 0));
    }
    const struct zs_gpu_timing sampled = lab->result.timing; /* without its stalls */
    double all = measure(lab, s, args, refill, data, ZS_GPU_LAUNCH_TIME_EXACT);
    const struct zs_gpu_timing *t = &lab->result.timing;
    printf("%s\t%u\t%llu\t%.1f\t%llu\t%+.1f\t%.1f\t%+.1f\t%+.1f\t%.0f\t%.2f\t%.2f\n", s->kernel,
           s->groups[0] * s->groups[1] * s->groups[2], (unsigned long long)sampled.instructions,
           percent(sampled.replayed, sampled.instructions), (unsigned long long)t->cycles,
           off(sampled.cycles, t->cycles), percent(sampled.doubt, sampled.cycles),
           off(sampled.l3_misses, t->l3_misses),
           off(sampled.memory_read_sectors, t->memory_read_sectors), plain, first / plain,
           all / plain);
    fflush(stdout);
}

/* ---- bench/timing ------------------------------------------------------------------------------
 */

struct buffers {
    uint32_t *in, *out, *other;
    bool mixed; /* words are random, not their index */
};

static void fill(const void *data)
{
    const struct buffers *b = data;
    memset(b->out, 0, DATA_B);
    for (uint32_t i = 0; i < DATA_B / sizeof(*b->in); i++)
        b->in[i] = b->other[i] = b->mixed ? i * 2654435761u : i;
}

static void compare_timing(const char *file, const char *model, const char *only)
{
    struct lab lab;
    lab_open(&lab, file, model, 0);
    struct buffers b = {lab_alloc(&lab, DATA_B), lab_alloc(&lab, DATA_B), lab_alloc(&lab, DATA_B),
                        false};
    const struct {
        struct shape shape;
        struct lab_arg args[LAB_ARGS];
    } rows[] = {
#define ROW(kernel, groups, size, ...)                                                             \
    {                                                                                              \
        {kernel, {groups, 1, 1}, {size, 1, 1}},                                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define IN  LAB_BUF(b.in)
#define OUT LAB_BUF(b.out)
        ROW("smooth", 1000, 256, IN, OUT, LAB_I(1024)),
        ROW("smooth", 1000, 64, IN, OUT, LAB_I(80)),
        ROW("edges", 512, 256, IN, OUT, LAB_I(512)),
        ROW("tree", 500, 256, IN, OUT, LAB_LOC(1024)),
        ROW("tree", 1000, 64, IN, OUT, LAB_LOC(256)),
        ROW("uneven", 60, 128, OUT, LAB_I(60), LAB_I(40)),
        ROW("uneven", 9, 256, OUT, LAB_I(40), LAB_I(250)),
        ROW("stretches", 60, 256, IN, OUT, LAB_I(24)),
        ROW("strided", 1000, 128, IN, OUT, LAB_I(8)),
        ROW("rate_int_add", 84, 128, OUT, LAB_I(6), LAB_I(77), LAB_I(13)),
        ROW("diverge", 4000, 64, OUT, LAB_I(4), LAB_I(1)),
        ROW("diverge", 200, 64, OUT, LAB_I(100), LAB_I(1)),
        ROW("atomics", 300, 64, OUT, LAB_I(1), LAB_I(40)),
        ROW("atomics", 100, 64, OUT, LAB_I(0), LAB_I(40)),
        ROW("barriers", 100, 256, OUT, LAB_I(50)),
        ROW("intensity", 400, 256, IN, OUT, LAB_I(16)),
        ROW("intensity", 84, 64, IN, OUT, LAB_I(1024)),
        ROW("gather", 4000, 128, IN, OUT, LAB_I(4)),
        ROW("gather", 1500, 128, IN, OUT, LAB_I(20)),
        ROW("gather", 200, 128, IN, OUT, LAB_I(40)),
        ROW("rows", 400, 64, IN, OUT, LAB_BUF(b.other), LAB_I(40)),
        ROW("rows", 1000, 64, IN, OUT, LAB_BUF(b.other), LAB_I(40)),
        ROW("rows", 4000, 64, IN, OUT, LAB_BUF(b.other), LAB_I(40)),
        ROW("halves", 512, 128, IN, OUT, LAB_I(64)),
        ROW("halves", 2000, 128, IN, OUT, LAB_I(64)),
        ROW("falling", 400, 128, OUT, LAB_I(200)),
        ROW("imbalanced", 120, 256, OUT, LAB_I(20)),
        ROW("collatz", 100, 64, OUT, LAB_I(500)),
        ROW("collatz", 4000, 128, OUT, LAB_I(200)),
        ROW("counts", 100, 128, IN, OUT, LAB_I(20)),
        ROW("stages", 200, 128, IN, OUT, LAB_I(20)),
        ROW("stages", 1200, 128, IN, OUT, LAB_I(4)),
        ROW("column", 120, 128, IN, OUT, LAB_I(64)),
        ROW("column", 1000, 128, IN, OUT, LAB_I(64)),
        ROW("parts", 120, 128, IN, OUT, LAB_I(32)),
        ROW("parts", 1000, 128, IN, OUT, LAB_I(32)),
        ROW("empty", 1, 16, OUT),
        ROW("strided", 2, 16, IN, OUT, LAB_I(16)),
        ROW("latency_fp32", 4, 8, OUT, LAB_I(50), LAB_F(1.0f), LAB_F(0.5f)),
        ROW("rate_math", 84, 128, OUT, LAB_I(4), LAB_F(1.0f), LAB_F(0.5f)),
        ROW("rate_fp32", 2000, 128, OUT, LAB_I(2), LAB_F(1.0f), LAB_F(0.5f)),
        ROW("local_stride", 200, 256, OUT, LAB_LOC(16384), LAB_I(4), LAB_I(64)),
        ROW("store", 2000, 128, OUT, LAB_I(1)),
        ROW("stream", 400, 128, IN, OUT, LAB_I(16), LAB_I(1024), LAB_I(0x3ffff)),
        ROW("barriers", 2000, 64, OUT, LAB_I(8)),
        ROW("atomics", 4000, 64, OUT, LAB_I(0), LAB_I(4)),
        ROW("diverge", 1, 16, OUT, LAB_I(20000), LAB_I(1)),
        ROW("smooth", 8000, 64, IN, OUT, LAB_I(2048)),
        ROW("falling", 3000, 64, OUT, LAB_I(60)),
#undef IN
#undef OUT
#undef ROW
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (only && strcmp(only, rows[i].shape.kernel) != 0)
            continue;
        b.mixed = strcmp(rows[i].shape.kernel, "rows") == 0;
        compare(&lab, &rows[i].shape, rows[i].args, fill, &b);
    }
    lab_close(&lab);
}

/* ---- bench/gpu ---------------------------------------------------------------------------------
 */

struct copies {
    const struct arg *args;
    void *buffers[ARGS_MAX];
};

static void copy(const void *data)
{
    const struct copies *c = data;
    for (uint32_t i = 0; i < ARGS_MAX; i++) {
        if (c->buffers[i])
            memcpy(c->buffers[i], c->args[i].host, c->args[i].size_B);
    }
}

static void compare_work(struct lab *lab, const struct work *work)
{
    struct arg args[ARGS_MAX] = {0};
    struct lab_arg values[LAB_ARGS] = {0};
    struct copies c = {.args = args};
    work->prepare(args);
    for (uint32_t i = 0; i < ARGS_MAX && args[i].kind; i++) {
        if (args[i].kind == ARG_BUFFER) {
            c.buffers[i] = lab_alloc(lab, args[i].size_B);
            values[i] = (struct lab_arg)LAB_BUF(c.buffers[i]);
        } else if (args[i].kind == ARG_LOCAL) {
            values[i] = (struct lab_arg)LAB_LOC(args[i].size_B);
        } else {
            values[i] = (struct lab_arg)LAB_I(0);
            memcpy(&values[i].integer, args[i].host, sizeof(values[i].integer));
        }
    }
    struct shape shape = {.kernel = work->name};
    memcpy(shape.groups, work->group_count, sizeof(shape.groups));
    memcpy(shape.size, work->group_size, sizeof(shape.size));
    compare(lab, &shape, values, copy, &c);
    lab_forget(lab);
    for (uint32_t i = 0; i < ARGS_MAX; i++)
        free(args[i].host);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        give_up("usage: timing_accuracy TIMING GPU [MODEL [KERNEL]]");
    const char *model = argc > 3 ? argv[3] : "skl", *only = argc > 4 ? argv[4] : NULL;
    struct lab lab;
    lab_open(&lab, argv[2], model, 0);
    for (size_t i = 0; work_at(i); i++) {
        bool named = strcmp(work_at(i)->name, only ? only : "empty") == 0;
        if (named == (only != NULL))
            compare_work(&lab, work_at(i));
    }
    lab_close(&lab);
    compare_timing(argv[1], model, only);
    return 0;
}
