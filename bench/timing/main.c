/* SPDX-License-Identifier: MIT */
/*
 * What the model of time makes of kernels whose instructions are known, beside published figures.
 * FILE: kernels.cl as a native binary for skl. Prints a Markdown table.
 */
#include "device.h"

#include <math.h>

static struct lab lab;

static void row(const char *what, const char *unit, double ours, double published,
                const char *source)
{
    if (published > 0 && lab.is_reference)
        printf("| %s | %s | %.2f | %.2f | %+.0f %% | %s |\n", what, unit, ours, published,
               100 * (ours / published - 1), source);
    else
        printf("| %s | %s | %.2f | | | %s |\n", what, unit, ours, source);
}

/* Cycles that one more run of the loop takes. */
static double per_run(const char *kernel, uint32_t groups, uint32_t size, uint32_t n_at,
                      struct lab_arg args[LAB_ARGS], int few, int many)
{
    args[n_at].integer = few;
    uint64_t first = lab_run(&lab, kernel, groups, size, args);
    args[n_at].integer = many;
    uint64_t second = lab_run(&lab, kernel, groups, size, args);
    return (double)(second - first) / (many - few);
}

/* Groups of that size that fill the device. */
static uint32_t groups_of(const char *kernel, uint32_t size)
{
    uint32_t simd = zs_image_kernel(lab.image, kernel)->simd;
    return zs_gpu_model_threads(lab.model) / (size / simd);
}

static void rates(void)
{
    static const struct {
        const char *kernel, *what, *unit;
        bool integer;
        double operations, published;
        const char *source;
    } tests[] = {
        {"rate_fp32", "FP32 multiply-add", "FLOP/clock", false, 2, 384, "Gen9 paper: 16 per EU"},
        {"rate_fp16", "FP16 multiply-add", "FLOP/clock", false, 2, 768, "Gen9 paper: 32 per EU"},
        {"rate_fp64", "FP64 multiply-add", "FLOP/clock", false, 2, 96, "Gen9 paper: 4 per EU"},
        {"rate_int_add", "32-bit integer, xor and add", "op/clock", true, 2, 192,
         "Gen9 paper: 8 per EU"},
        {"rate_int_mul", "32-bit integer multiply", "op/clock", true, 1, 96,
         "Mesa's brw_ir_performance.cpp: half the rate"},
        {"rate_math", "native_rsqrt", "op/clock", false, 1, 48,
         "IGC's LatencyTable: 8 lanes in 4 cycles of one pipe"},
    };
    uint32_t size = 128; /* 4 threads of SIMD32 to 16 of SIMD8 */
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (!zs_image_kernel(lab.image, tests[i].kernel)) /* no doubles there */
            continue;
        void *out = lab_alloc(&lab, 1 << 20);
        struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_I(0), LAB_F(1.0f), LAB_F(0.5f)};
        if (tests[i].integer) {
            args[2] = (struct lab_arg)LAB_I(77);
            args[3] = (struct lab_arg)LAB_I(13);
        }
        uint32_t groups = groups_of(tests[i].kernel, size);
        double cycles = per_run(tests[i].kernel, groups, size, 1, args, 4, 12);
        row(tests[i].what, tests[i].unit, tests[i].operations * 8 * 16 * groups * size / cycles,
            tests[i].published, tests[i].source);
        lab_forget(&lab);
    }
}

static void latencies(void)
{
    static const struct {
        const char *kernel, *what;
        bool integer;
        double operations, published;
        const char *source;
    } tests[] = {
        {"latency_fp32", "dependent FP32 multiply-add", false, 128, 8,
         "Mesa's brw_ir_performance.cpp, measured"},
        {"latency_int_add", "dependent 32-bit integer operation", true, 256, 8, "the same"},
        {"latency_fp64", "dependent FP64 multiply-add", false, 128, 12, "the same"},
        {"latency_math", "dependent native_rsqrt", false, 128, 16, "the same"},
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (!zs_image_kernel(lab.image, tests[i].kernel)) /* no doubles there */
            continue;
        void *out = lab_alloc(&lab, 1 << 20);
        struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_I(0), LAB_F(1.0f), LAB_F(0.5f)};
        if (tests[i].integer) {
            args[2] = (struct lab_arg)LAB_I(77);
            args[3] = (struct lab_arg)LAB_I(13);
        }
        double cycles = per_run(tests[i].kernel, 1, 8, 1, args, 4, 12);
        row(tests[i].what, "cycles", cycles / tests[i].operations, tests[i].published,
            tests[i].source);
        lab_forget(&lab);
    }
}

static void chase(const char *what, size_t size_B, double published, const char *source)
{
    uint32_t *next = lab_alloc(&lab, size_B), *out = lab_alloc(&lab, 4096);
    uint32_t lines = (uint32_t)(size_B / 64);
    lab_chain(next, lines, 16);
    struct lab_arg args[LAB_ARGS] = {LAB_BUF(next), LAB_BUF(out), LAB_I(0)};
    int all = (int)lines < 30000 ? (int)lines : 30000;
    row(what, "cycles", per_run("chase", 1, 1, 2, args, all, 2 * all), published, source);
    lab_forget(&lab);
}

static void memory_latency(void)
{
    chase("L3 latency (64 KB)", 64 << 10, 0,
          "parameter: IGC's LatencyTable has 146 for Xe LP, none for Gen9");
    chase("LLC latency (1.5 MB)", 3 << 19, 0, "estimate");
    chase("memory latency (64 MB)", 64 << 20, 0, "estimate");
    uint32_t *out = lab_alloc(&lab, 4096);
    struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_LOC(16384), LAB_I(4096), LAB_I(16),
                                     LAB_I(0)};
    row("local memory latency", "cycles", per_run("chase_local", 1, 1, 4, args, 100, 1100), 0,
        "parameter: Mesa's brw_ir_performance.cpp has 100 for the data port");
    lab_forget(&lab);
}

static double stream_rate(size_t size_B, int n)
{
    uint32_t size = 128, groups = groups_of("stream", size), items = groups * size;
    void *in = lab_alloc(&lab, size_B), *out = lab_alloc(&lab, 1 << 20);
    struct lab_arg args[LAB_ARGS] = {LAB_BUF(in), LAB_BUF(out), LAB_I(0), LAB_I((int)items),
                                     LAB_I((int)(size_B / 16 - 1))};
    double cycles = per_run("stream", groups, size, 2, args, n, 2 * n);
    lab_forget(&lab);
    return 16.0 * items / cycles;
}

static double local_rate(int stride)
{
    uint32_t *out = lab_alloc(&lab, 1 << 20);
    struct lab_arg args[LAB_ARGS] = {LAB_BUF(out), LAB_LOC(16384), LAB_I(stride), LAB_I(0)};
    uint32_t groups = groups_of("local_stride", 256);
    double cycles = per_run("local_stride", groups, 256, 3, args, 32, 160);
    lab_forget(&lab);
    return 4.0 * groups * 256 / cycles;
}

static void bandwidths(void)
{
    row("L3 bandwidth (256 KB)", "byte/clock", stream_rate(256 << 10, 96), 192,
        "Gen9 paper: 64 per subslice");
    row("LLC bandwidth (2 MB)", "byte/clock", stream_rate(2 << 20, 192), 64,
        "Gen9 paper: GTI reads 64");
    row("memory bandwidth (64 MB)", "byte/clock", stream_rate(64 << 20, 128), 29.7 * 0.85,
        "DDR4-2133 on two channels, 34.1 GB/s; 85 % is an estimate");
    row("local memory bandwidth", "byte/clock", local_rate(1), 192, "Gen9 paper: 64 per subslice");
    double one = local_rate(1);
    static const int strides[] = {2, 4, 8, 16};
    for (size_t i = 0; i < 4; i++) {
        char what[64];
        snprintf(what, sizeof(what), "... dwords %d apart, times slower", strides[i]);
        row(what, "", one / local_rate(strides[i]), strides[i],
            "16 banks of 4 bytes: Intel's OpenCL optimization guide");
    }
}

static void others(void)
{
    uint32_t *out = lab_alloc(&lab, 1 << 22);
    struct lab_arg barrier[LAB_ARGS] = {LAB_BUF(out), LAB_I(0)};
    row("barrier, 16 threads", "cycles", per_run("barriers", 1, 256, 1, barrier, 50, 250), 0,
        "parameter: IGC's LatencyTable has 30 for the gateway");
    struct lab_arg same[LAB_ARGS] = {LAB_BUF(out), LAB_I(0), LAB_I(0)};
    struct lab_arg apart[LAB_ARGS] = {LAB_BUF(out), LAB_I(1), LAB_I(0)};
    row("atomics at one place", "op/clock",
        21.0 * 128 / per_run("atomics", 21, 128, 2, same, 8, 24), 0, "estimate");
    row("atomics at neighbours", "op/clock",
        21.0 * 128 / per_run("atomics", 21, 128, 2, apart, 8, 24), 0, "estimate");
    struct lab_arg none[LAB_ARGS] = {LAB_BUF(out)};
    uint64_t few = lab_run(&lab, "empty", 1000, 256, none);
    uint64_t many = lab_run(&lab, "empty", 9000, 256, none);
    row("dispatch, empty kernel", "clock/thread",
        (double)(many - few) / (8000.0 * (double)lab.result.totals.threads / 9000), 0, "estimate");
    lab_forget(&lab);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: timing_bench FILE [MODEL [sampled]]\n");
        return 2;
    }
    lab_open(&lab, argv[1], argc > 2 ? argv[2] : "skl", 0);
    lab.is_reference =
        argc <= 2 || strcmp(argv[2], "skl") == 0; /* what the published figures are of */
    lab.flags = argc > 3 && strcmp(argv[3], "sampled") == 0 ? 0 : ZS_GPU_LAUNCH_TIME_EXACT;
    printf("| what | unit | ours | published | | source |\n|---|---|---|---|---|---|\n");
    rates();
    latencies();
    memory_latency();
    bandwidths();
    others();
    lab_close(&lab);
    return 0;
}
