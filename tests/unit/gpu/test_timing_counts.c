/* SPDX-License-Identifier: MIT */
/* What launches of which parts are replayed count, beside the same ones of which all is: accesses
 * of each instruction, lines that are written to memory. */
#include "../test.h"

#include <math.h>

#include "../../../bench/timing/device.h"

static const char *file;

static double ratio(uint64_t a, uint64_t b)
{
    return (double)a / (double)b;
}

/* ---- instructions ------------------------------------------------------------------------------
 */

enum { INSTS = 64 };

struct accesses {
    uint32_t count; /* instructions with lines */
    int64_t offset_B[INSTS];
    uint64_t sectors[INSTS];
    uint64_t misses; /* of L3 */
};

static struct accesses run_parts(struct lab *lab, uint32_t groups, uint32_t flags,
                                 const struct lab_arg args[LAB_ARGS])
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    struct accesses ret = {0};
    lab->flags = flags;
    lab_run(lab, "parts", groups, 128, args);
    for (uint32_t i = 0; i < t->stall_count; i++) {
        uint64_t sectors = t->stalls[i].accesses[ZS_GPU_ACCESS_global_sectors];
        if (!sectors)
            continue;
        assert_true(ret.count < INSTS);
        ret.offset_B[ret.count] = t->stalls[i].offset_B;
        ret.sectors[ret.count++] = sectors;
    }
    ret.misses = t->l3_misses;
    return ret;
}

/* Each of several loops is counted as often as it was, where waves of groups were left out. */
static void test_instructions_in_part(void **state)
{
    static const uint32_t groups[] = {200, 1000};
    struct lab lab;
    lab_open(&lab, file, "skl", 2);
    void *in = lab_alloc(&lab, 4 << 20), *out = lab_alloc(&lab, 4 << 20);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(32)};
    for (size_t g = 0; g < ZS_ARRAY_LEN(groups); g++) {
        struct accesses sampled = run_parts(&lab, groups[g], 0, args);
        assert_true(lab.result.timing.replayed < lab.result.timing.instructions * 3 / 4);
        struct accesses whole = run_parts(&lab, groups[g], ZS_GPU_LAUNCH_TIME_EXACT, args);
        assert_int_equal(whole.count, 9); /* eight loops, and what they found */
        assert_int_equal(sampled.count, whole.count);
        for (uint32_t i = 0; i < whole.count; i++) {
            assert_int_equal(sampled.offset_B[i], whole.offset_B[i]);
            if (fabs(ratio(sampled.sectors[i], whole.sectors[i]) - 1) > 0.02)
                fail_msg("%u groups, instruction at %lld: %llu sectors, and %llu when all is "
                         "replayed",
                         groups[g], (long long)whole.offset_B[i],
                         (unsigned long long)sampled.sectors[i],
                         (unsigned long long)whole.sectors[i]);
        }
    }
    lab_close(&lab);
}

/* ---- what is written to memory -----------------------------------------------------------------
 */

/* 16 bytes by each lane, one line behind the other: what a cache of `kept` lines has not, as the
 * launch ends, has been written to memory. */
static void check_written(struct lab *lab, uint32_t groups, uint64_t kept)
{
    const struct zs_gpu_timing *t = &lab->result.timing;
    uint64_t lines = (uint64_t)groups * 128 * 16 / 64;
    void *out = lab_alloc(lab, lines * 64);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_I(1)};
    uint64_t wanted = lines > kept ? lines - kept : 0, sampled = 0;
    for (uint32_t exact = 0; exact < 2; exact++) {
        lab->flags = exact ? ZS_GPU_LAUNCH_TIME_EXACT : 0;
        lab_run(lab, "store", groups, 128, args);
        assert_true((t->replayed == t->instructions) == exact);
        double off = fabs((double)t->memory_write_sectors - (double)wanted);
        if (off > (double)lines * 0.02)
            fail_msg("%s, %u groups%s: %llu lines written to memory of %llu, not %llu",
                     lab->model->target, groups, exact ? ", all replayed" : "",
                     (unsigned long long)t->memory_write_sectors, (unsigned long long)lines,
                     (unsigned long long)wanted);
        sampled = exact ? sampled : t->memory_write_sectors;
        uint64_t by_l3 =
            t->gti_write_bank0 + t->gti_write_bank1 + t->gti_write_bank2 + t->gti_write_bank3;
        assert_true(by_l3 + 4 >= t->memory_write_sectors);
    }
    lab_forget(lab);
}

static void test_writes_beyond_the_llc(void **state)
{
    struct lab lab;
    lab_open(&lab, file, "skl", 2);
    uint64_t llc = (8 << 20) / 64;
    check_written(&lab, 2000, llc);  /* 4 MB: it has room */
    check_written(&lab, 10000, llc); /* the part that is recorded has room, the launch has not */
    lab_close(&lab);
}

/* Where L3 is the last cache, and keeps what was written as a launch ends. */
static void test_writes_beyond_l3(void **state)
{
    static const uint32_t L3_B = 4 << 20;
    struct lab lab;
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s.pvc", file);
    lab_open(&lab, path, "pvc", 2);
    struct zs_gpu_model small = *lab.model;
    small.l3_cache_B = L3_B;
    zs_gpu_device_destroy(lab.device);
    assert_int_equal(zs_gpu_device_create(&small, 2, &lab.device), 0);
    lab.model = &small;
    check_written(&lab, 24000, L3_B / 64);
    lab_close(&lab);
}

/* ---- tiles -------------------------------------------------------------------------------------
 */

static uint64_t run_stream(uint32_t tiles)
{
    enum { GROUPS = 512, SIZE = 512, READS = 8, ITEMS = GROUPS * SIZE };
    struct lab lab;
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s.pvc", file);
    lab_open(&lab, path, "pvc", 2);
    const struct zs_gpu_model model = zs_gpu_model_of_tiles(lab.model, tiles);
    zs_gpu_device_destroy(lab.device);
    assert_int_equal(zs_gpu_device_create(&model, 2, &lab.device), 0);
    lab.model = &model;
    void *in = lab_alloc(&lab, (size_t)16 * ITEMS * READS), *out = lab_alloc(&lab, 16 * ITEMS);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(READS), LAB_I(ITEMS),
                                           LAB_I(ITEMS * READS - 1)};
    uint64_t cycles = lab_run(&lab, "stream", GROUPS, SIZE, args);
    lab_close(&lab);
    return cycles;
}

/* Each has memory of its own: what reads it all takes little more than half the time on two. */
static void test_memory_of_tiles(void **state)
{
    uint64_t one = run_stream(1), two = run_stream(2);
    if (two < one * 45 / 100 || two > one * 70 / 100)
        fail_msg("%llu cycles on a tile, %llu on two", (unsigned long long)one,
                 (unsigned long long)two);
}

/* ---- pipes by type -----------------------------------------------------------------------------
 */

/* What a pipe worked on is the whole of its time, on devices where each has floats or integers. */
static void check_types(const struct zs_gpu_timing *t)
{
    assert_int_equal(t->half_active + t->single_active + t->double_active, t->fpu0_active);
    assert_int_equal(t->int16_active + t->int32_active + t->int64_active + t->math_active,
                     t->fpu1_active);
    assert_int_equal(t->xmx_int8 + t->xmx_half + t->xmx_bfloat + t->xmx_other, t->xmx_active);
    assert_true(t->fpu0_xmx_active <= t->fpu0_active && t->fpu0_xmx_active <= t->xmx_active);
}

static void test_pipes_by_type(void **state)
{
    char path[4096];
    struct lab lab;
    (void)snprintf(path, sizeof(path), "%s.pvc", file);
    lab_open(&lab, path, "pvc", 2);
    const struct zs_gpu_timing *t = &lab.result.timing;
    void *out = lab_alloc(&lab, 8 << 20);
    lab.flags = ZS_GPU_LAUNCH_TIME_EXACT; /* what is scaled is rounded each */
    const struct {
        const char *kernel;
        uint32_t groups;
        struct lab_arg a, b;
        size_t total; /* that has nearly all of the time of these */
    } rows[] = {
#define AT(id) offsetof(struct zs_gpu_timing, id)
        {"rate_fp32", 16, LAB_F(1), LAB_F(2), AT(single_active)},
        {"rate_fp16", 16, LAB_F(1), LAB_F(2), AT(half_active)},
        {"rate_fp64", 16, LAB_F(1), LAB_F(2), AT(double_active)},
        {"rate_int_add", 16, LAB_I(1), LAB_I(2), AT(int32_active)},
        {"rate_math", 16, LAB_F(1), LAB_F(2), AT(math_active)},
        {"rate_dpas", 3000, LAB_I(1), LAB_I(2), AT(xmx_half)},
#undef AT
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        const struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_I(8), rows[i].a, rows[i].b};
        lab_run(&lab, rows[i].kernel, rows[i].groups, 64, args);
        check_types(t);
        uint64_t here, all = t->fpu0_active + t->fpu1_active + t->xmx_active;
        memcpy(&here, (const uint8_t *)t + rows[i].total, sizeof(here));
        if (here * 10 < all * 6)
            fail_msg("%s: %llu cycles of its kind, of %llu", rows[i].kernel,
                     (unsigned long long)here, (unsigned long long)all);
        /* threads that begin convert numbers while others multiply */
        assert_true((t->fpu0_xmx_active > 0) == (strcmp(rows[i].kernel, "rate_dpas") == 0));
    }
    lab_close(&lab);
}

/* ---- gains -------------------------------------------------------------------------------------
 */

enum { CHAIN = 1 << 14, CHASED = 2000 };

static void go_far(void *data)
{
    lab_chain(data, CHAIN, 16);
}

static void go_on_as_before(void *data)
{
    (void)data;
}

/* Gains of the last launch: behind one through as many lines as stride says, or alone. */
static struct zs_gpu_timing gains_of_chase(struct lab *lab, uint32_t *next, uint32_t stride,
                                           void (*between)(void *data))
{
    void *out = lab_alloc(lab, 1 << 16);
    const struct lab_arg args[LAB_ARGS] = {LAB_BUF(next), LAB_BUF(out), LAB_I(CHASED)};
    lab_chain(next, CHAIN, stride);
    lab->between = between;
    lab->data = next;
    lab_run(lab, "chase", 4, 1, args);
    return lab->result.timing;
}

/* They are known of a launch that did what one before it did, and of no other. */
static void test_gains_again(void **state)
{
    struct lab lab;
    lab_open(&lab, file, "skl", 2);
    lab.flags = ZS_GPU_LAUNCH_TIME_GAINS;
    uint32_t *next = lab_alloc(&lab, 1 << 20);
    struct zs_gpu_timing near = gains_of_chase(&lab, next, 1, NULL);
    struct zs_gpu_timing far = gains_of_chase(&lab, next, 16, NULL);
    assert_true(far.gain_latency > far.cycles / 2 && far.gain_latency > 2 * near.gain_latency);
    struct zs_gpu_timing again = gains_of_chase(&lab, next, 16, go_on_as_before);
    assert_int_equal(again.gain_latency, far.gain_latency);
    assert_int_equal(again.gain_misses, far.gain_misses);
    struct zs_gpu_timing other = gains_of_chase(&lab, next, 1, go_far);
    assert_int_equal(other.gain_latency, far.gain_latency);
    assert_int_equal(other.gain_misses, far.gain_misses);
    lab_close(&lab);
}

int main(void)
{
    file = getenv("ZS_TEST_KERNELS");
    if (!file)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions_in_part), cmocka_unit_test(test_writes_beyond_the_llc),
        cmocka_unit_test(test_writes_beyond_l3),     cmocka_unit_test(test_memory_of_tiles),
        cmocka_unit_test(test_pipes_by_type),        cmocka_unit_test(test_gains_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
