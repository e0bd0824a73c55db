/* SPDX-License-Identifier: MIT */
/*
 * The model of time: kernels whose instructions, lines, conflicts and lanes are known; orderings
 * that must hold; the same numbers for any number of host threads. With an argument it prints
 * numbers of some launches: the test of addresses compares them.
 */
#include "../test.h"
#include "base/sanitizer.h"
#include "gpu/timing/replay.h"
#include "gpu/timing/store.h"

#include <math.h>

#include "../../../bench/timing/device.h"

static const char *file;

static void open_lab(struct lab *lab, uint32_t workers)
{
    lab_open(lab, file, "skl", workers);
}

static uint64_t sum_of_reasons(const struct zs_gpu_timing *t)
{
    return t->thread_active + t->thread_control + t->thread_pipe + t->thread_send + t->thread_dist +
           t->thread_sbid + t->thread_sync + t->thread_other + t->thread_fetch;
}

/* What holds of every launch. */
static void check_sums(const struct lab *lab)
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    uint64_t by_address = 0;
    for (uint32_t i = 0; i < t->stall_count; i++) {
        for (uint32_t r = 0; r < ZS_GPU_STALL_REASONS; r++)
            by_address += t->stalls[i].cycles[r];
        assert_true(i == 0 || t->stalls[i].offset_B > t->stalls[i - 1].offset_B);
    }
    assert_int_equal(by_address, sum_of_reasons(t));
    assert_int_equal(t->instructions, lab->result.totals.instructions);
    assert_true(t->eu_active <= t->eu_loaded);
    assert_true(t->eu_loaded <= zs_gpu_model_eus(lab->model) * t->cycles);
    assert_true(t->eu_loaded <= sum_of_reasons(t) + sum_of_reasons(t) / 100);
    assert_true(sum_of_reasons(t) <= lab->model->threads_per_eu * t->eu_loaded);
    assert_true(t->fpu_both_active <= t->fpu0_active && t->fpu_both_active <= t->fpu1_active);
    /* counts that are scaled are rounded each */
    uint64_t looked = t->l3_bank0 + t->l3_bank1 + t->l3_bank2 + t->l3_bank3;
    assert_true(looked <= t->l3_hits + t->l3_misses + 4 && t->l3_hits + t->l3_misses <= looked + 4);
    if (t->llc_hits + t->llc_misses) /* there is one */
        assert_int_equal(t->llc_misses, t->memory_read_sectors);
}

enum { LARGE = 200 }; /* EUs: a part of more stands for all */

static void check_exact(const struct lab *lab)
{
    check_sums(lab);
    if (zs_gpu_model_eus(lab->model) > LARGE)
        return;
    assert_int_equal(lab->result.timing.replayed, lab->result.totals.instructions);
    assert_int_equal(lab->result.timing.doubt, 0);
    for (uint32_t i = 0; i < lab->result.timing.stall_count; i++)
        assert_int_equal(lab->result.timing.stalls[i].estimated, 0);
}

static uint64_t written_by_l3(const struct zs_gpu_timing *t)
{
    return t->gti_write_bank0 + t->gti_write_bank1 + t->gti_write_bank2 + t->gti_write_bank3;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

static uint64_t run_strided(struct lab *lab, int stride)
{
    void *in = lab_alloc(lab, 4 << 20), *out = lab_alloc(lab, 1 << 16);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(stride)};
    uint64_t cycles = lab_run(lab, "strided", 32, 128, args);
    check_exact(lab);
    lab_forget(lab);
    return cycles;
}

static void test_lines(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    /* 4096 dwords: 256 lines are read and 256 are written, each by one message */
    uint64_t unit = run_strided(&lab, 1);
    const struct zs_gpu_timing *t = &lab.result.timing;
    assert_int_equal(t->global_sectors, 512);
    assert_int_equal(t->l3_misses, 512);
    assert_int_equal(t->l3_hits, 0);
    assert_int_equal(t->l3_reads, 256);
    assert_int_equal(t->l3_writes, 256);
    assert_true(t->dispatching0 && t->dispatching1 && t->dispatching2);
    assert_int_equal(t->gti_read_bank0 + t->gti_read_bank1 + t->gti_read_bank2 + t->gti_read_bank3,
                     256);                   /* what is written is not read first */
    assert_int_equal(written_by_l3(t), 256); /* as the launch ends: into the LLC */
    assert_int_equal(t->memory_write_sectors, 0);
    assert_int_equal(t->llc_misses, 256);
    assert_int_equal(t->scratch_sectors + t->typed_sectors + t->sampler_sectors, 0);
    /* two lanes share a line */
    uint64_t apart = run_strided(&lab, 8);
    assert_int_equal(t->global_sectors, 2048 + 256);
    /* none do */
    uint64_t far = run_strided(&lab, 16);
    assert_int_equal(t->global_sectors, 4096 + 256);
    assert_true(unit < apart && apart < far);
    /* every lane reads one place: a line a message, in the cache after the first */
    run_strided(&lab, 0);
    assert_int_equal(t->global_sectors, 256 + 256);
    assert_int_equal(t->l3_hits, 255);
    lab_close(&lab);
}

static void test_scattered_lines_of_images(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    uint8_t *texels = lab_alloc(&lab, 64 * 64 * 4);
    void *out = lab_alloc(&lab, 64 * 64 * 16);
    struct zs_gpu_image image = {.type = ZS_GPU_IMAGE_2D,
                                 .format = zs_gpu_format_find(0xc7),
                                 .width = 64,
                                 .height = 64,
                                 .depth = 1,
                                 .layers = 1,
                                 .swizzle = {4, 5, 6, 7}};
    assert_true(zs_gpu_image_layout(&image) <= 64 * 64 * 4);
    image.gpu_va = (uint64_t)(uintptr_t)texels;
    const struct lab_arg args[LAB_ARGS] = {
        {.kind = LAB_IMAGE, .buffer = &image}, LAB_BUF(out), LAB_I(64)};
    lab_run(&lab, "texels", 64, 64, args);
    check_exact(&lab);
    const struct zs_gpu_timing *t = &lab.result.timing;
    /* a line holds four texels of four rows; a row of sixteen texels touches four of them */
    assert_int_equal(t->sampler_sectors, 64 * 64 / 4);
    assert_int_equal(t->sampler_hits + t->sampler_misses, t->sampler_sectors);
    assert_true(t->sampler_misses >= 256 && t->sampler_misses <= 3 * 256); /* three samplers */
    assert_int_equal(t->sampler_busy, 64 * 64 / 4);                        /* four texels a cycle */
    assert_int_equal(t->sampler_busy0 + t->sampler_busy1 + t->sampler_busy2, t->sampler_busy);
    assert_true(t->sampler_busy0 && t->sampler_busy1 && t->sampler_busy2);
    lab_close(&lab);
}

/* ---- local memory ------------------------------------------------------------------------------
 */

static uint64_t run_local(struct lab *lab, int stride)
{
    void *out = lab_alloc(lab, 1 << 16);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_LOC(16384), LAB_I(stride), LAB_I(64)};
    uint64_t cycles = lab_run(lab, "local_stride", 3, 256, args);
    check_exact(lab);
    lab_forget(lab);
    return cycles;
}

static void test_bank_conflicts(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    const struct zs_gpu_timing *t = &lab.result.timing;
    uint64_t threads = 3 * 256 / 16, last = run_local(&lab, 1);
    assert_int_equal(t->slm_conflicts, 0);
    assert_int_equal(t->slm_conflicted, 0);
    for (int stride = 2; stride <= 16; stride *= 2) { /* that many dwords in each bank they use */
        uint64_t cycles = run_local(&lab, stride);
        assert_int_equal(t->slm_conflicts, threads * 64 * (uint64_t)(stride - 1));
        assert_int_equal(t->slm_conflicted, threads * 64);
        assert_int_equal(t->slm_reads + t->slm_writes, lab.result.totals.slm_messages);
        assert_true(cycles > last);
        last = cycles;
    }
    assert_true(run_local(&lab, 3) < last);
    assert_int_equal(t->slm_conflicts, 0); /* odd strides meet in no bank */
    lab_close(&lab);
}

/* ---- pipes -------------------------------------------------------------------------------------
 */

static double per_run(struct lab *lab, const char *kernel, uint32_t groups, uint32_t size,
                      struct lab_arg *args, uint32_t n_at, int few, int many)
{
    args[n_at].integer = few;
    uint64_t first = lab_run(lab, kernel, groups, size, args);
    args[n_at].integer = many;
    uint64_t second = lab_run(lab, kernel, groups, size, args);
    return (double)(second - first) / (many - few);
}

/* Operations per clock within 15 % of the Gen9 paper's, latencies of those of params.def. */
static void test_rates(void **state)
{
    static const struct {
        const char *kernel;
        bool integer;
        double operations, published;
    } rows[] = {
        {"rate_fp32", false, 2, 384},   {"rate_fp16", false, 2, 768},  {"rate_fp64", false, 2, 96},
        {"rate_int_add", true, 2, 192}, {"rate_int_mul", true, 1, 96}, {"rate_math", false, 1, 48},
    };
    struct lab lab;
    open_lab(&lab, 2);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct lab_arg args[LAB_ARGS] = {LAB_BUF(lab_alloc(&lab, 1 << 20)), LAB_I(0)};
        args[2] = rows[i].integer ? (struct lab_arg)LAB_I(77) : (struct lab_arg)LAB_F(1.0f);
        args[3] = rows[i].integer ? (struct lab_arg)LAB_I(13) : (struct lab_arg)LAB_F(0.5f);
        double cycles = per_run(&lab, rows[i].kernel, 21, 128, args, 1, 1, 3);
        double rate = rows[i].operations * 8 * 16 * 21 * 128 / cycles;
        if (rate < 0.85 * rows[i].published || rate > 1.15 * rows[i].published)
            fail_msg("%s: %.1f a clock, published %.1f", rows[i].kernel, rate, rows[i].published);
        lab_forget(&lab);
    }
    lab_close(&lab);
}

static void test_latencies(void **state)
{
    static const struct {
        const char *kernel;
        double operations, cycles;
    } rows[] = {{"latency_fp32", 128, 8}, {"latency_fp64", 128, 12}, {"latency_math", 128, 16}};
    struct lab lab;
    open_lab(&lab, 2);
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct lab_arg args[LAB_ARGS] = {LAB_BUF(lab_alloc(&lab, 1 << 20)), LAB_I(0), LAB_F(1.0f),
                                         LAB_F(0.5f)};
        double cycles = per_run(&lab, rows[i].kernel, 1, 8, args, 1, 2, 6) / rows[i].operations;
        if (cycles < 0.9 * rows[i].cycles || cycles > 1.1 * rows[i].cycles)
            fail_msg("%s: %.1f cycles, not %.1f", rows[i].kernel, cycles, rows[i].cycles);
        lab_forget(&lab);
    }
    lab_close(&lab);
}

/* ---- orderings ---------------------------------------------------------------------------------
 */

static uint64_t run_chase(struct lab *lab, uint32_t groups, size_t size_B, int n)
{
    uint32_t *next = lab_alloc(lab, size_B), *out = lab_alloc(lab, 1 << 16);
    lab_chain(next, (uint32_t)(size_B / 64), 16);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(next), LAB_BUF(out), LAB_I(n)};
    uint64_t cycles = lab_run(lab, "chase", groups, 1, args);
    check_sums(lab);
    lab_forget(lab);
    return cycles;
}

static void test_latency_is_hidden(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    uint64_t one = run_chase(&lab, 1, 64 << 10, 200);
    const struct zs_gpu_timing *t = &lab.result.timing;
    assert_true(t->thread_sbid > t->thread_active);     /* it waits for memory, most of the time */
    uint64_t all = run_chase(&lab, 168, 64 << 10, 200); /* a thread for every slot */
    assert_true(all < 2 * one);
    /* farther is slower */
    assert_true(run_chase(&lab, 1, 64 << 10, 4000) < run_chase(&lab, 1, 2 << 20, 4000));
    lab_close(&lab);
}

static void test_intensity(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    double last = 0;
    static const int steps[] = {1, 16, 128, 1024};
    for (size_t i = 0; i < ZS_ARRAY_LEN(steps); i++) {
        void *in = lab_alloc(&lab, 1 << 16), *out = lab_alloc(&lab, 1 << 16);
        const struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(steps[i])};
        uint64_t cycles = lab_run(&lab, "intensity", 84, 64, args);
        check_sums(&lab);
        double rate = 2.0 * 84 * 64 * steps[i] / (double)cycles;
        assert_true(rate > last); /* towards the compute roof */
        last = rate;
        lab_forget(&lab);
    }
    assert_true(last < 384);
    lab_close(&lab);
}

static uint64_t run_simple(struct lab *lab, const char *kernel, uint32_t groups, uint32_t size,
                           int a, int b)
{
    void *out = lab_alloc(lab, 1 << 20);
    struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_I(a)};
    if (b >= 0)
        args[2] = (struct lab_arg)LAB_I(b);
    uint64_t cycles = lab_run(lab, kernel, groups, size, args);
    check_sums(lab);
    lab_forget(lab);
    return cycles;
}

static void test_orderings(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    const struct zs_gpu_timing *t = &lab.result.timing;
    /* lanes that take both ways, and lanes that agree */
    assert_true(run_simple(&lab, "diverge", 8, 64, 50, 1) >
                run_simple(&lab, "diverge", 8, 64, 50, 0) * 5 / 4);
    /* atomics that meet */
    assert_true(run_simple(&lab, "atomics", 8, 64, 0, 20) >
                2 * run_simple(&lab, "atomics", 8, 64, 1, 20));
    /* barriers */
    uint64_t few = run_simple(&lab, "barriers", 3, 256, 5, -1);
    assert_true(t->thread_sync > 0);
    assert_true(run_simple(&lab, "barriers", 3, 256, 50, -1) > few + 45 * 20);
    run_simple(&lab, "diverge", 8, 64, 10, 0);
    assert_int_equal(t->thread_sync, 0);
    lab_close(&lab);
}

/* ---- samples -----------------------------------------------------------------------------------
 */

static void test_long_launches(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    uint64_t sampled = run_simple(&lab, "diverge", 4000, 64, 4, 1);
    const struct zs_gpu_timing *t = &lab.result.timing;
    assert_true(t->replayed > 0 && t->replayed < t->instructions / 4);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    uint64_t more = run_simple(&lab, "diverge", 4000, 64, 4, 1);
    assert_true(t->replayed > t->instructions / 2);
    assert_true(sampled > more * 3 / 4 && sampled < more * 4 / 3);
    /* a long thread */
    lab.flags = 0;
    sampled = run_simple(&lab, "diverge", 1, 16, 100000, 1);
    assert_int_equal(t->replayed, t->instructions);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    assert_int_equal(run_simple(&lab, "diverge", 1, 16, 100000, 1), sampled);
    lab_close(&lab);
}

/* Few of its groups fit at the same time, and all of them are few threads. */
static void test_little_room(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    const struct zs_gpu_timing *t = &lab.result.timing;
    void *in = lab_alloc(&lab, 84 * 64 * sizeof(int));
    void *out = lab_alloc(&lab, 84 * sizeof(int));
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_LOC(16384)};
    lab_run(&lab, "tree", 84, 64, args);
    assert_true(t->instructions > 0);
    assert_int_equal(t->replayed, t->instructions);
    lab_close(&lab);
}

/* What a part of a launch says of it is what all of it says: the time, and how much of it threads
 * spent on what. */
struct sampled {
    const char *name, *kernel;
    uint32_t groups, size;
    struct lab_arg args[LAB_ARGS];
    double time;   /* as a part of it */
    double shares; /* of thread cycles */
    double misses; /* of L3, and of the LLC; 0: not asked */
};

/* What an instruction fetches beyond L3 it has missed there. */
static void check_misses(const struct lab *lab, const char *name)
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    for (uint32_t i = 0; i < t->stall_count; i++) {
        const uint64_t *a = t->stalls[i].accesses;
        uint64_t fetched = a[ZS_GPU_ACCESS_llc_hits] + a[ZS_GPU_ACCESS_llc_misses];
        if (fetched > a[ZS_GPU_ACCESS_l3_misses] ||
            a[ZS_GPU_ACCESS_memory_read_sectors] > a[ZS_GPU_ACCESS_l3_misses])
            fail_msg("%s, instruction at %lld: %llu misses of L3, and %llu fetched, %llu read",
                     name, (long long)t->stalls[i].offset_B,
                     (unsigned long long)a[ZS_GPU_ACCESS_l3_misses], (unsigned long long)fetched,
                     (unsigned long long)a[ZS_GPU_ACCESS_memory_read_sectors]);
    }
}

static void shares_of(const struct zs_gpu_timing *t, double shares[ZS_GPU_STALL_REASONS])
{
    const uint64_t cycles[ZS_GPU_STALL_REASONS] = {
        t->thread_active, t->thread_control, t->thread_pipe,  t->thread_send, t->thread_dist,
        t->thread_sbid,   t->thread_sync,    t->thread_other, t->thread_fetch};
    for (uint32_t i = 0; i < ZS_GPU_STALL_REASONS; i++)
        shares[i] = (double)cycles[i] / (double)sum_of_reasons(t);
}

static void check_sampled(struct lab *lab, const struct sampled *row)
{
    double sampled[ZS_GPU_STALL_REASONS], whole[ZS_GPU_STALL_REASONS];
    const struct zs_gpu_timing *t = &lab->result.timing;
    lab->flags = 0;
    uint64_t cycles = lab_run(lab, row->kernel, row->groups, row->size, row->args);
    check_sums(lab);
    check_misses(lab, row->name);
    uint64_t doubt = t->doubt, estimated = 0;
    for (uint32_t i = 0; i < t->stall_count; i++)
        estimated += t->stalls[i].estimated;
    bool all_replayed = t->replayed == t->instructions;
    assert_int_equal(all_replayed, estimated == 0);
    assert_int_equal(all_replayed, doubt == 0);
    assert_true(estimated < sum_of_reasons(t) && doubt <= t->cycles);
    shares_of(t, sampled);
    const uint64_t missed[] = {t->l3_misses, t->llc_misses};
    lab->flags = ZS_GPU_LAUNCH_TIME_EXACT;
    uint64_t exact = lab_run(lab, row->kernel, row->groups, row->size, row->args);
    check_exact(lab);
    shares_of(t, whole);
    double off = (double)cycles / (double)exact - 1;
    if (off > row->time || off < -row->time)
        fail_msg("%s: %llu cycles, and %llu when all is replayed", row->name,
                 (unsigned long long)cycles, (unsigned long long)exact);
    if (fabs((double)exact - (double)cycles) > (double)doubt + 0.001 * (double)exact)
        fail_msg("%s: %llu cycles, %llu when all is replayed, and a doubt of %llu", row->name,
                 (unsigned long long)cycles, (unsigned long long)exact, (unsigned long long)doubt);
    const uint64_t all_missed[] = {t->l3_misses, t->llc_misses};
    for (uint32_t i = 0; i < 2 && row->misses > 0; i++) {
        if (fabs((double)missed[i] / (double)all_missed[i] - 1) > row->misses)
            fail_msg("%s: %llu misses of %s, and %llu when all is replayed", row->name,
                     (unsigned long long)missed[i], i ? "the LLC" : "L3",
                     (unsigned long long)all_missed[i]);
    }
    for (uint32_t i = 0; i < ZS_GPU_STALL_REASONS; i++) {
        if (fabs(sampled[i] - whole[i]) > row->shares)
            fail_msg(
                "%s: %.0f %% of the thread cycles for reason %u, and %.0f %% when all is replayed",
                row->name, 100 * sampled[i], i, 100 * whole[i]);
    }
}

/* Each of the lines that threads write leaves L3 once, in the launch or as it ends. */
static void check_written(struct lab *lab, const char *kernel, uint32_t groups, uint32_t size,
                          const struct lab_arg args[LAB_ARGS])
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    lab->flags = 0;
    lab_run(lab, kernel, groups, size, args);
    assert_true(t->replayed < t->instructions * 2 / 3);
    uint64_t sampled = written_by_l3(t);
    lab->flags = ZS_GPU_LAUNCH_TIME_EXACT;
    lab_run(lab, kernel, groups, size, args);
    if (fabs((double)sampled / (double)written_by_l3(t) - 1) > 0.01)
        fail_msg("%s, %u groups: L3 wrote %llu lines, and %llu when all is replayed", kernel,
                 groups, (unsigned long long)sampled, (unsigned long long)written_by_l3(t));
}

/* Loads and stores are counted each as often as they were, when threads gave up windows of one. */
static void check_lookups(struct lab *lab, const char *kernel, uint32_t groups, uint32_t size,
                          const struct lab_arg args[LAB_ARGS])
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    lab->flags = 0;
    lab_run(lab, kernel, groups, size, args);
    check_sums(lab);
    check_misses(lab, kernel);
    assert_true(t->replayed < t->instructions * 2 / 3);
    double reads = (double)t->l3_reads, writes = (double)t->l3_writes;
    lab->flags = ZS_GPU_LAUNCH_TIME_EXACT;
    lab_run(lab, kernel, groups, size, args);
    if (fabs(reads / (double)t->l3_reads - 1) > 0.03 ||
        fabs(writes / (double)t->l3_writes - 1) > 0.03)
        fail_msg("%s: L3 was read %.0f times, written %.0f, and %llu, %llu when all is replayed",
                 kernel, reads, writes, (unsigned long long)t->l3_reads,
                 (unsigned long long)t->l3_writes);
}

static void test_samples(void **state)
{
    struct lab lab;
    open_lab(&lab, 2);
    void *in = lab_alloc(&lab, 4 << 20), *out = lab_alloc(&lab, 4 << 20);
    uint32_t *words = in;
    for (uint32_t i = 0; i < 1 << 20; i++)
        words[i] = i;
    const struct sampled rows[] = {
        {"smooth", "smooth", 1000, 256, {LAB_BUF(in), LAB_BUF(out), LAB_I(1024)}, 0.05, 0.06, 0},
        {"smooth, short rows",
         "smooth",
         1000,
         64,
         {LAB_BUF(in), LAB_BUF(out), LAB_I(80)},
         0.05,
         0.06,
         0},
        {"tree", "tree", 500, 256, {LAB_BUF(in), LAB_BUF(out), LAB_LOC(1024)}, 0.07, 0.06, 0},
        {"tree, small groups",
         "tree",
         1000,
         64,
         {LAB_BUF(in), LAB_BUF(out), LAB_LOC(256)},
         0.07,
         0.06,
         0},
        {"uneven", "uneven", 60, 128, {LAB_BUF(out), LAB_I(60), LAB_I(40)}, 0.07, 0.06, 0},
        {"uneven, one group",
         "uneven",
         1,
         256,
         {LAB_BUF(out), LAB_I(100), LAB_I(600)},
         0.07,
         0.06,
         0},
        {"uneven, no end", "uneven", 9, 256, {LAB_BUF(out), LAB_I(40), LAB_I(250)}, 0.07, 0.06, 0},
        {"stretches", "stretches", 60, 256, {LAB_BUF(in), LAB_BUF(out), LAB_I(24)}, 0.09, 0.06, 0},
        {"strided", "strided", 1000, 128, {LAB_BUF(in), LAB_BUF(out), LAB_I(8)}, 0.05, 0.06, 0},
        {"arithmetic",
         "rate_int_add",
         84,
         128,
         {LAB_BUF(out), LAB_I(6), LAB_I(77), LAB_I(13)},
         0.05,
         0.06,
         0},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        check_sampled(&lab, &rows[i]);
    /* what was not recorded has gone through the caches, too: each line is fetched once */
    const struct sampled irregular[] = {
        {"gather", "gather", 1000, 128, {LAB_BUF(in), LAB_BUF(out), LAB_I(4)}, 0.10, 0.15, 0},
        /* the LLC has room for the 4 MB, which all read */
        {"gather, long", "gather", 4000, 64, {LAB_BUF(in), LAB_BUF(out), LAB_I(4)}, 0.10, 0.15, 0},
        /* groups read what those 64 before them have read */
        {"stages", "stages", 1200, 128, {LAB_BUF(in), LAB_BUF(out), LAB_I(4)}, 0.22, 0.20, 0},
        {"rows",
         "rows",
         1000,
         64,
         {LAB_BUF(in), LAB_BUF(out), LAB_BUF(in), LAB_I(40)},
         0.16,
         0.20,
         0},
        {"halves", "halves", 2000, 128, {LAB_BUF(in), LAB_BUF(out), LAB_I(64)}, 0.10, 0.15, 0},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(irregular); i++) {
        /* groups of stages write over each other */
        if (!ZS_HAS_TSAN || strcmp(irregular[i].kernel, "stages"))
            check_sampled(&lab, &irregular[i]);
    }
    const struct lab_arg column[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(64)};
    check_lookups(&lab, "column", 1000, 128, column);
    const struct lab_arg stored[LAB_ARGS] = {LAB_BUF(out), LAB_I(1)};
    check_written(&lab, "store", 400, 128, stored);
    check_written(&lab, "store", 2000, 128, stored);
    lab_forget(&lab);
    lab_close(&lab);
}

/* ---- later generations -------------------------------------------------------------------------
 */

static const struct generation {
    const char *model;
    uint32_t groups; /* that fill it */
    int runs;        /* of loops */
    /* FLOP and operations a clock, of all EUs; 0: not asked */
    double fp32, int32, fp64, math;
    double dpas;          /* ... of systolic multiplications of halves */
    uint64_t least_chase; /* cycles from one load to the next, of 4 KB ... */
    uint64_t most_chase;
    bool flushes, has_llc; /* as a launch ends what L3 holds goes to the LLC, or to memory */
} generations[] = {
    /* Gen11: 8 lanes of 2 pipes, integers on one of them */
    {"icllp", 56, 8, 1024, 256, 0, 0, 0, 140, 170, true, true},
    /* Xe LP: 8 lanes of one pipe */
    {"tgllp", 84, 8, 1536, 768, 0, 0, 0, 140, 170, true, true},
    /* its L1 holds them; 131 TFLOP/s at 2 GHz */
    {"acm-g10", 128, 4, 0, 0, 0, 0, 128 * 512, 40, 70, true, false},
    /* 16 lanes, doubles too; extended math 4; 839 TFLOP/s of two tiles at 1.6 GHz; its L1, and
     * addresses of 64 bits that are computed */
    {"pvc", 256, 6, 16384, 8192, 16384, 2048, 512 * 512, 40, 100, false, false},
};

/* Short threads, few waves of them: all may end between two phases. */
static void check_short_threads(struct lab *lab)
{
    void *in = lab_alloc(lab, 1 << 20), *out = lab_alloc(lab, 1 << 20);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(512)};
    for (uint32_t groups = 440; groups <= 560; groups += 40) {
        lab->flags = 0;
        uint64_t sampled = lab_run(lab, "edges", groups, 256, args);
        double doubt = (double)lab->result.timing.doubt;
        check_sums(lab);
        if (zs_gpu_model_eus(lab->model) > LARGE)
            assert_true(lab->result.timing.replayed < lab->result.timing.instructions / 4);
        lab->flags = ZS_GPU_LAUNCH_TIME_EXACT;
        uint64_t exact = lab_run(lab, "edges", groups, 256, args);
        if (sampled > exact * 23 / 20 || sampled < exact * 17 / 20)
            fail_msg("%s, %u groups: %llu cycles, and %llu when all is replayed", lab->model->name,
                     groups, (unsigned long long)sampled, (unsigned long long)exact);
        if (fabs((double)exact - (double)sampled) > doubt + 0.001 * (double)exact)
            fail_msg("%s, %u groups: %llu cycles, %llu when all is replayed, and a doubt of %.0f",
                     lab->model->name, groups, (unsigned long long)sampled,
                     (unsigned long long)exact, doubt);
    }
    lab_forget(lab);
}

/* Parts of a large device: every other group computes, those beside it read; few groups, which all
 * dispatchers begin; lines that groups share between barriers. */
static void check_parts(struct lab *lab)
{
    void *in = lab_alloc(lab, 4 << 20), *out = lab_alloc(lab, 4 << 20);
    const struct {
        const char *kernel;
        uint32_t groups;
        double most; /* that it may be off */
        struct lab_arg args[LAB_ARGS];
    } rows[] = {
        /* who comes first to a line is drawn: 5 % off with code of IGC 1 on pvc, 9 with IGC 2's */
        {"halves", 512, 0.1, {LAB_BUF(in), LAB_BUF(out), LAB_I(64)}},
        {"rate_int_add", 84, 0.05, {LAB_BUF(out), LAB_I(6), LAB_I(77), LAB_I(13)}},
        {"barriers", 100, 0.05, {LAB_BUF(out), LAB_I(50)}},
        {"parts", 120, 0.05, {LAB_BUF(in), LAB_BUF(out), LAB_I(32)}},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        lab->flags = 0;
        uint64_t part = lab_run(lab, rows[i].kernel, rows[i].groups, 128, rows[i].args);
        assert_true(lab->result.timing.replayed < lab->result.timing.instructions / 4);
        lab->flags = ZS_GPU_LAUNCH_TIME_EXACT;
        uint64_t all = lab_run(lab, rows[i].kernel, rows[i].groups, 128, rows[i].args);
        if (fabs((double)part - (double)all) > rows[i].most * (double)all)
            fail_msg("%s, %s: %llu cycles, and %llu when all is replayed", lab->model->name,
                     rows[i].kernel, (unsigned long long)part, (unsigned long long)all);
    }
    lab_forget(lab);
}

/* L3 has no room for the lines of all: for those of a part it has none either, as groups share next
 * to nothing. */
static void test_lines_beyond_l3(void **state)
{
    struct lab lab;
    const struct zs_gpu_timing *t = &lab.result.timing;
    open_lab(&lab, 2);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(lab_alloc(&lab, 4 << 20)), LAB_I(1)};
    uint64_t part = lab_run(&lab, "store", 2000, 128, args), written = t->memory_write_sectors;
    assert_true(t->replayed < t->instructions / 8);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    uint64_t all = lab_run(&lab, "store", 2000, 128, args);
    assert_true(fabs((double)part - (double)all) < 0.03 * (double)all);
    assert_true(fabs((double)written - (double)t->memory_write_sectors) <
                0.1 * (double)t->memory_write_sectors + 100);
    lab_close(&lab);
}

/* Later groups do less and less, and dispatchers as much as before: of those that are left out,
 * too.
 */
static void check_dispatched(struct lab *lab)
{
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(lab_alloc(lab, 1 << 20)), LAB_I(60)};
    lab->flags = 0;
    uint64_t part = lab_run(lab, "falling", 3000, 64, args);
    assert_true(lab->result.timing.replayed < lab->result.timing.instructions / 4);
    lab->flags = ZS_GPU_LAUNCH_TIME_EXACT;
    uint64_t all = lab_run(lab, "falling", 3000, 64, args);
    if (fabs((double)part - (double)all) > 0.12 * (double)all)
        fail_msg("%s: %llu cycles, and %llu when all is replayed", lab->model->name,
                 (unsigned long long)part, (unsigned long long)all);
    lab_forget(lab);
}

/* Systolic multiplications in a kernel's code for each of the 32 that its loop asks for: IGC 2
 * begins each bundle for dg2 with one more. */
static double systolic_share(const struct lab *lab, const char *name)
{
    const struct zs_kernel *kernel = zs_image_kernel(lab->image, name);
    uint32_t count = 0, word;
    for (size_t at = 0; at + sizeof(word) <= kernel->code.size_B;) {
        memcpy(&word, kernel->code.data + at, sizeof(word));
        count += (word & 0x7f) == 0x59;
        at += word >> 29 & 1 ? 8 : 16;
    }
    return count / 32.0;
}

static void check_generation(const struct generation *g)
{
    const struct {
        const char *kernel;
        double operations; /* of an item: of 128 in a run of the loop */
        double published;
        struct lab_arg a, b;
    } rows[] = {{"rate_fp32", 2, g->fp32, LAB_F(1.0f), LAB_F(0.5f)},
                {"rate_int_add", 2, g->int32, LAB_I(77), LAB_I(13)},
                {"rate_fp64", 2, g->fp64, LAB_F(1.0f), LAB_F(0.5f)},
                {"rate_math", 1, g->math, LAB_F(1.0f), LAB_F(0.5f)},
                /* 32 of 8 rows by 16 elements */
                {"rate_dpas", 2 * 8 * 16 * 32 / 128, g->dpas, LAB_I(77), LAB_I(13)}};
    struct lab lab;
    char path[4096];
    snprintf(path, sizeof(path), "%s.%s", file, g->model);
    lab_open(&lab, path, g->model, 2);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].published == 0)
            continue;
        struct lab_arg args[LAB_ARGS] = {LAB_BUF(lab_alloc(&lab, 4 << 20)), LAB_I(0), rows[i].a,
                                         rows[i].b};
        double published = rows[i].published;
        if (strcmp(rows[i].kernel, "rate_dpas") == 0)
            published /= systolic_share(&lab, rows[i].kernel);
        double cycles =
            per_run(&lab, rows[i].kernel, g->groups, 128, args, 1, g->runs, 2 * g->runs);
        double rate = rows[i].operations * 8 * 16 * g->groups * 128 / cycles;
        check_exact(&lab);
        if (rate < 0.85 * published || rate > 1.15 * published)
            fail_msg("%s, %s: %.1f a clock, published %.1f", g->model, rows[i].kernel, rate,
                     published);
        lab_forget(&lab);
    }
    lab.flags = 0;
    uint64_t few = run_chase(&lab, 1, 4096, 1000), many = run_chase(&lab, 1, 4096, 2000);
    uint64_t each = (many - few) / 1000;
    if (each < g->least_chase || each > g->most_chase)
        fail_msg("%s: %llu cycles a load", g->model, (unsigned long long)each);
    check_short_threads(&lab);
    check_dispatched(&lab);
    if (zs_gpu_model_eus(lab.model) > LARGE)
        check_parts(&lab);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    run_strided(&lab, 1); /* each line once */
    const struct zs_gpu_timing *t = &lab.result.timing;
    assert_int_equal(t->global_sectors, 512);
    assert_int_equal(written_by_l3(t), g->flushes ? 256 : 0);
    assert_int_equal(t->memory_write_sectors, g->flushes && !g->has_llc ? 256 : 0);
    uint64_t few_barriers = run_simple(&lab, "barriers", 3, 256, 5, -1);
    assert_true(run_simple(&lab, "barriers", 3, 256, 50, -1) > few_barriers + 45 * 20);
    assert_true(t->thread_sync > 0);
    lab_close(&lab);
}

static void test_later_generations(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(generations); i++)
        check_generation(&generations[i]);
}

/* Of the instructions that load threads' arguments. */
static uint64_t misses_of_arguments(const struct zs_gpu_timing *t)
{
    uint64_t misses = 0, sectors = 0;
    for (uint32_t i = 0; i < t->stall_count; i++) {
        const uint64_t *a = t->stalls[i].accesses;
        sectors += a[ZS_GPU_ACCESS_argument_sectors];
        misses += a[ZS_GPU_ACCESS_argument_sectors] ? a[ZS_GPU_ACCESS_l3_misses] : 0;
    }
    assert_true(sectors > 0);
    return misses;
}

/* All threads load the same arguments, which are fetched once, however many threads there are. */
static void test_lines_of_all_threads(void **state)
{
    struct lab lab;
    char path[4096];
    snprintf(path, sizeof(path), "%s.acm-g10", file);
    lab_open(&lab, path, "acm-g10", 2);
    void *out = lab_alloc(&lab, 20 << 20);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_I(1)};
    lab_run(&lab, "store", 20000, 64, args);
    const struct zs_gpu_timing *t = &lab.result.timing;
    assert_true(t->replayed < t->instructions * 2 / 3);
    check_sums(&lab);
    uint64_t sampled = misses_of_arguments(t);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT;
    lab_run(&lab, "store", 20000, 64, args);
    uint64_t exact = misses_of_arguments(t);
    if (sampled > 2 * exact || exact > 2 * sampled)
        fail_msg("%llu lines of arguments missed, and %llu when all is replayed",
                 (unsigned long long)sampled, (unsigned long long)exact);
    lab_close(&lab);
}

/* ---- the same numbers --------------------------------------------------------------------------
 */

static void print_result(const struct lab *lab, const char *name, struct zs_buf *out)
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    zs_buf_printf(out, "%s %llu", name, (unsigned long long)t->cycles);
#define ZS_TIMING_TOTAL(id, text) zs_buf_printf(out, " %llu", (unsigned long long)t->id);
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
    for (uint32_t i = 0; i < t->stall_count; i++) {
        zs_buf_printf(out, "\n %lld", (long long)t->stalls[i].offset_B);
        for (uint32_t r = 0; r < ZS_GPU_STALL_REASONS; r++)
            zs_buf_printf(out, " %llu", (unsigned long long)t->stalls[i].cycles[r]);
    }
    zs_buf_printf(out, "\n");
}

static void print_all(struct lab *lab, struct zs_buf *out)
{
    run_strided(lab, 8);
    print_result(lab, "strided", out);
    run_local(lab, 4);
    print_result(lab, "local", out);
    run_simple(lab, "diverge", 2000, 64, 5, 1);
    print_result(lab, "diverge", out);
    run_simple(lab, "barriers", 40, 128, 5, -1);
    print_result(lab, "barriers", out);
    run_chase(lab, 300, 256 << 10, 30);
    print_result(lab, "chase", out);
}

static void print_numbers(const char *model, uint32_t workers, struct zs_buf *out)
{
    struct lab lab;
    char path[4096];
    bool is_first = strcmp(model, "skl") == 0;
    snprintf(path, sizeof(path), "%s%s%s", file, is_first ? "" : ".", is_first ? "" : model);
    lab_open(&lab, path, model, workers);
    print_all(&lab, out);
    lab_close(&lab);
}

static void check_host_threads(const char *model, const uint32_t *workers, size_t count)
{
    struct zs_buf first = {0}, other = {0};
    print_numbers(model, 1, &first);
    assert_true(first.size_B > 1000);
    for (size_t i = 0; i < count; i++) {
        zs_buf_fini(&other);
        other = (struct zs_buf){0};
        print_numbers(model, workers[i], &other);
        assert_string_equal(zs_buf_cstr(&first), zs_buf_cstr(&other));
    }
    zs_buf_fini(&first);
    zs_buf_fini(&other);
}

struct chain {
    uint32_t *next, count, stride;
};

static void nothing(void *data)
{
}

static void other_chain(void *data)
{
    const struct chain *c = data;
    lab_chain(c->next, c->count, c->stride);
}

/* A launch that did what the one before did has its numbers; one that went through other lines has
 * not. */
static void test_launches_again(void **state)
{
    struct zs_buf first = {0}, again = {0};
    struct lab lab;
    open_lab(&lab, 3);
    print_all(&lab, &first);
    lab.between = nothing;
    print_all(&lab, &again);
    assert_string_equal(zs_buf_cstr(&first), zs_buf_cstr(&again));
    struct chain c = {lab_alloc(&lab, 1 << 20), 1 << 14, 1}; /* 16 in a line, then one */
    void *out = lab_alloc(&lab, 1 << 16);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(c.next), LAB_BUF(out), LAB_I(2000)};
    other_chain(&c);
    lab.between = nothing;
    lab.data = &c;
    uint64_t near = lab_run(&lab, "chase", 4, 1, args);
    c.stride = 16;
    lab.between = other_chain;
    uint64_t far = lab_run(&lab, "chase", 4, 1, args);
    assert_true(lab.result.timing.memory_read_sectors > 1500);
    assert_true(far > near);
    zs_buf_fini(&first);
    zs_buf_fini(&again);
    lab_close(&lab);
}

/* A cache as plain C has it: lines of a set in the order of their last use. */
enum { PLAIN_SETS = 4, PLAIN_WAYS = 48 };
struct plain_cache {
    struct {
        uint64_t line;
        bool written;
    } lines[PLAIN_SETS][PLAIN_WAYS];
    uint32_t count[PLAIN_SETS];
};

static bool touch_plain(struct plain_cache *c, uint32_t set, uint64_t line, bool write,
                        uint64_t *ret_written)
{
    uint32_t at = 0, count = c->count[set];
    while (at < count && c->lines[set][at].line != line)
        at++;
    bool hit = at < count, written = hit && c->lines[set][at].written;
    *ret_written = 0;
    if (!hit && count == PLAIN_WAYS && c->lines[set][--at].written)
        *ret_written = c->lines[set][at].line + 1;
    c->count[set] += at == count;
    memmove(&c->lines[set][1], &c->lines[set][0], at * sizeof(c->lines[set][0]));
    c->lines[set][0].line = line;
    c->lines[set][0].written = written || write;
    return hit;
}

/* Lines are found, and go, as in plain C; of launches before nothing is left. */
static void test_caches(void **state)
{
    struct zs_timing_cache cache;
    uint32_t random = 1;
    assert_int_equal(zs_timing_cache_init(&cache, PLAIN_SETS * PLAIN_WAYS * 64, PLAIN_WAYS), 0);
    for (uint32_t launch = 0; launch < 3; launch++) {
        struct plain_cache plain = {.count = {0}};
        uint32_t held = 0, gone = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            random = random * 1664525 + 1013904223;
            /* now and then one of many: sets overflow, and most are found again */
            uint64_t line = random >> 8 & (random >> 28 ? 127 : 4095), written, wanted;
            uint32_t number = (uint32_t)(zs_timing_cache_set(&cache, line) - cache.sets);
            bool write = random >> 7 & 1;
            bool hit = touch_plain(&plain, number, line, write, &wanted);
            assert_int_equal(zs_timing_cache_touch(&cache, line, write, &written), hit);
            assert_int_equal(written, wanted);
            gone += written != 0;
        }
        assert_true(gone > 100);
        for (struct zs_timing_walk at = {0}; zs_timing_cache_next(&cache, &at); held++) {
            uint32_t way = 0;
            while (plain.lines[at.set][way].line != at.line)
                assert_true(++way < PLAIN_WAYS);
            assert_int_equal(plain.lines[at.set][way].written, at.written);
        }
        assert_int_equal(held, PLAIN_SETS * PLAIN_WAYS);
        zs_timing_cache_clear(&cache, 1);
        struct zs_timing_walk at = {0};
        assert_false(zs_timing_cache_next(&cache, &at));
    }
    zs_timing_cache_fini(&cache);
}

/* Small launches have blocks of the smallest size: the one that was given back comes again. */
static void test_blocks(void **state)
{
    static const size_t sizes_B[] = {1, 100, 16 << 10, (64 << 10) - 1, 64 << 10, 1 << 20};
    struct zs_timing_store *store;
    assert_int_equal(zs_timing_store_create(zs_gpu_model_find("skl"), &store), 0);
    for (size_t i = 0; i < ZS_ARRAY_LEN(sizes_B); i++) {
        struct zs_timing_block first, again;
        assert_int_equal(zs_timing_block_get(store, sizes_B[i], &first), 0);
        assert_true(first.size_B >= sizes_B[i]);
        void *data = first.data;
        zs_timing_block_put(store, &first);
        assert_int_equal(zs_timing_block_get(store, sizes_B[i], &again), 0);
        assert_ptr_equal(again.data, data);
        zs_timing_block_put(store, &again);
    }
    zs_timing_store_destroy(store);
}

static void test_host_threads(void **state)
{
    static const uint32_t workers[] = {1, 2, 5, 16, 64};
    check_host_threads("skl", workers, 5);
    check_host_threads("pvc", workers + 2, 2);
}

/* ---- the instruction cache ---------------------------------------------------------------------
 */

enum { CODE_INSTS = 768, CODE_BURST = 32, LATENCY = 100 };

/* All of the code once, each burst `cycles` long: what is waited for. */
static uint64_t go_through(struct zs_timing_fetch *f, uint32_t subslice, uint32_t cycles,
                           uint64_t *cycle)
{
    uint64_t waited = 0;
    for (uint32_t i = 0; i < CODE_INSTS; i += CODE_BURST) {
        const struct zs_timing_burst burst = {.inst = i, .stop = i + CODE_BURST, .cycles = cycles};
        uint64_t more = zs_timing_fetch_lines(f, subslice, &burst, *cycle);
        *cycle += cycles + more;
        waited += more;
    }
    return waited;
}

/* 96 lines, of which 64 fit: what comes round again has gone. Two lines come with each. */
static void test_instruction_cache(void **state)
{
    (void)state;
    uint32_t offset_B[CODE_INSTS];
    struct zs_timing_params params = {.icache_B = 6144, .l3_latency = LATENCY};
    const struct zs_timing_code code = {
        .params = &params, .op_count = CODE_INSTS, .offset_B = offset_B};
    struct zs_timing_fetch f;
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < CODE_INSTS; i++)
        offset_B[i] = 8 * i;
    assert_int_equal(zs_timing_fetch_init(&f, &code, 2), 0);
    assert_null(f.lines); /* all fits */
    zs_timing_fetch_fini(&f);
    params.icache_B = 4096;
    assert_int_equal(zs_timing_fetch_init(&f, &code, 2), 0);
    assert_int_equal(go_through(&f, 0, 0, &cycle), 0); /* the launch's beginning */
    assert_int_equal(go_through(&f, 0, 0, &cycle), 96 / 3 * LATENCY);
    assert_int_equal(go_through(&f, 1, 0, &cycle), 0); /* its own */
    /* slow code has what comes next when it is there: all but the first line */
    assert_int_equal(go_through(&f, 0, 4 * LATENCY, &cycle), LATENCY);
    zs_timing_fetch_fini(&f);
}

int main(int argc, char **argv)
{
    file = getenv("ZS_TEST_KERNELS");
    if (argc > 1) {
        struct zs_buf out = {0};
        print_numbers("skl", 3, &out);
        fputs(zs_buf_cstr(&out), stdout);
        zs_buf_fini(&out);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instruction_cache),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_scattered_lines_of_images),
        cmocka_unit_test(test_bank_conflicts),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_latencies),
        cmocka_unit_test(test_latency_is_hidden),
        cmocka_unit_test(test_intensity),
        cmocka_unit_test(test_orderings),
        cmocka_unit_test(test_long_launches),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_lines_beyond_l3),
        cmocka_unit_test(test_later_generations),
        cmocka_unit_test(test_lines_of_all_threads),
        cmocka_unit_test(test_launches_again),
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_host_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
