/* SPDX-License-Identifier: MIT */
/* Data and plain C versions of the kernels in kernels.cl. */
#include "work_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GEMM_N = 128,
    BODIES = 1024,
    STENCIL_W = 512,
    STENCIL_H = 256,
    REDUCE_ITEMS = 65536,
    REDUCE_GROUP = 256,
    HISTOGRAM_GROUPS = 64,
    HISTOGRAM_GROUP = 256,
    HISTOGRAM_PER_ITEM = 16,
    MANDEL_W = 192,
    MANDEL_H = 128,
    MANDEL_LIMIT = 128,
    SAXPY_ITEMS = 262144,
    OPTIONS = 65536,
    MIX_ITEMS = 32768,
    MIX_ROUNDS = 32,
    TRANSPOSE_N = 512,
};

uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void set_buffer(struct arg *arg, size_t size_B, bool is_output)
{
    *arg = (struct arg){
        .kind = ARG_BUFFER, .size_B = size_B, .host = calloc(1, size_B), .is_output = is_output};
    if (!arg->host)
        give_up("no memory");
}

static float *input_floats(struct arg *arg, size_t count, float low, float high)
{
    uint32_t state = 12345u + (uint32_t)count;
    set_buffer(arg, count * sizeof(float), false);
    float *values = arg->host;
    for (size_t i = 0; i < count; i++)
        values[i] = low + (high - low) * (float)next_random(&state) / 16777216.0f;
    return values;
}

void input_words(struct arg *arg, size_t count)
{
    uint32_t state = 99u;
    set_buffer(arg, count * sizeof(uint32_t), false);
    for (size_t i = 0; i < count; i++)
        ((uint32_t *)arg->host)[i] = next_random(&state);
}

static void set_value(struct arg *arg, const void *value)
{
    *arg = (struct arg){.kind = ARG_VALUE, .size_B = 4, .host = malloc(4)};
    if (!arg->host)
        give_up("no memory");
    memcpy(arg->host, value, 4);
}

void set_int(struct arg *arg, int32_t value)
{
    set_value(arg, &value);
}

static void set_float(struct arg *arg, float value)
{
    set_value(arg, &value);
}

static int32_t get_int(const struct arg *arg)
{
    int32_t value;
    memcpy(&value, arg->host, sizeof(value));
    return value;
}

static float get_float(const struct arg *arg)
{
    float value;
    memcpy(&value, arg->host, sizeof(value));
    return value;
}

static void prepare_gemm(struct arg *args)
{
    input_floats(&args[0], GEMM_N * GEMM_N, -1.0f, 1.0f);
    input_floats(&args[1], GEMM_N * GEMM_N, 0.0f, 2.0f);
    set_buffer(&args[2], GEMM_N * GEMM_N * sizeof(float), true);
    set_int(&args[3], GEMM_N);
}

static void compute_gemm(struct arg *args, uint32_t launches)
{
    const float *a = args[0].host, *b = args[1].host;
    float *c = args[2].host;
    for (size_t y = 0; y < GEMM_N; y++) {
        for (size_t x = 0; x < GEMM_N; x++) {
            double sum = 0;
            for (size_t k = 0; k < GEMM_N; k++)
                sum += (double)a[y * GEMM_N + k] * (double)b[k * GEMM_N + x];
            c[y * GEMM_N + x] = (float)sum;
        }
    }
}

static void prepare_nbody(struct arg *args)
{
    input_floats(&args[0], (size_t)4 * BODIES, 0.1f, 1.0f);
    set_buffer(&args[1], sizeof(float) * 4 * BODIES, true);
    set_int(&args[2], BODIES);
}

static void compute_nbody(struct arg *args, uint32_t launches)
{
    const float(*bodies)[4] = args[0].host;
    float(*out)[4] = args[1].host;
    for (size_t i = 0; i < BODIES; i++) {
        double sum[3] = {0};
        for (size_t j = 0; j < BODIES; j++) {
            double d[3], d2 = 0.01;
            for (int axis = 0; axis < 3; axis++) {
                d[axis] = (double)bodies[j][axis] - (double)bodies[i][axis];
                d2 += d[axis] * d[axis];
            }
            for (int axis = 0; axis < 3; axis++)
                sum[axis] += d[axis] * (double)bodies[j][3] / (d2 * sqrt(d2));
        }
        for (int axis = 0; axis < 3; axis++)
            out[i][axis] = (float)sum[axis];
    }
}

static void prepare_stencil(struct arg *args)
{
    input_floats(&args[0], (size_t)STENCIL_W * STENCIL_H, 0.0f, 1.0f);
    set_buffer(&args[1], sizeof(float) * STENCIL_W * STENCIL_H, true);
    set_int(&args[2], STENCIL_W);
    set_int(&args[3], STENCIL_H);
}

static void compute_stencil(struct arg *args, uint32_t launches)
{
    const float *in = args[0].host;
    float *out = args[1].host;
    for (size_t y = 0; y < STENCIL_H; y++) {
        for (size_t x = 0; x < STENCIL_W; x++) {
            size_t i = y * STENCIL_W + x;
            bool edge = x == 0 || y == 0 || x == STENCIL_W - 1 || y == STENCIL_H - 1;
            out[i] = edge ? in[i]
                          : 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - STENCIL_W] +
                                                     in[i + STENCIL_W]);
        }
    }
}

static void prepare_reduction(struct arg *args)
{
    input_words(&args[0], (size_t)2 * REDUCE_ITEMS);
    set_buffer(&args[1], sizeof(int32_t) * REDUCE_ITEMS / REDUCE_GROUP, true);
    args[2] = (struct arg){.kind = ARG_LOCAL, .size_B = sizeof(int32_t) * REDUCE_GROUP};
}

static void compute_reduction(struct arg *args, uint32_t launches)
{
    const uint32_t *in = args[0].host;
    uint32_t *sums = args[1].host;
    for (size_t i = 0; i < REDUCE_ITEMS; i++)
        sums[i / REDUCE_GROUP] += in[i] + in[i + REDUCE_ITEMS];
}

static void prepare_histogram(struct arg *args)
{
    input_words(&args[0], (size_t)HISTOGRAM_GROUPS * HISTOGRAM_GROUP * HISTOGRAM_PER_ITEM);
    set_buffer(&args[1], 256 * sizeof(uint32_t), true);
    set_int(&args[2], HISTOGRAM_PER_ITEM);
}

static void compute_histogram(struct arg *args, uint32_t launches)
{
    const uint32_t *in = args[0].host;
    uint32_t *bins = args[1].host;
    for (size_t i = 0; i < args[0].size_B / sizeof(*in); i++)
        bins[in[i] & 255] += launches;
}

static void prepare_mandelbrot(struct arg *args)
{
    set_buffer(&args[0], sizeof(int32_t) * MANDEL_W * MANDEL_H, true);
    set_int(&args[1], MANDEL_W);
    set_int(&args[2], MANDEL_H);
    set_int(&args[3], MANDEL_LIMIT);
}

static void compute_mandelbrot(struct arg *args, uint32_t launches)
{
    int32_t *out = args[0].host;
    for (int y = 0; y < MANDEL_H; y++) {
        for (int x = 0; x < MANDEL_W; x++) {
            float cx = -2.0f + 3.0f * (float)x / (float)MANDEL_W;
            float cy = -1.25f + 2.5f * (float)y / (float)MANDEL_H;
            float zx = 0, zy = 0;
            int i = 0;
            while (i < MANDEL_LIMIT && zx * zx + zy * zy <= 4.0f) {
                float t = zx * zx - zy * zy + cx;
                zy = 2.0f * zx * zy + cy;
                zx = t;
                i++;
            }
            out[y * MANDEL_W + x] = i;
        }
    }
}

static void prepare_saxpy(struct arg *args)
{
    input_floats(&args[0], SAXPY_ITEMS, -1.0f, 1.0f);
    input_floats(&args[1], SAXPY_ITEMS, 3.0f, 4.0f);
    set_buffer(&args[2], sizeof(float) * SAXPY_ITEMS, true);
    set_float(&args[3], 1.5f);
}

static void compute_saxpy(struct arg *args, uint32_t launches)
{
    const float *x = args[0].host, *y = args[1].host, a = get_float(&args[3]);
    float *out = args[2].host;
    for (size_t i = 0; i < SAXPY_ITEMS; i++)
        out[i] = a * x[i] + y[i];
}

static void prepare_black_scholes(struct arg *args)
{
    input_floats(&args[0], OPTIONS, 10.0f, 100.0f);
    float *strike = input_floats(&args[1], OPTIONS, 10.0f, 100.0f);
    for (size_t i = 0; i < OPTIONS; i++)
        strike[i] = 10.0f + 90.0f * (float)(i * 37 % OPTIONS) / OPTIONS;
    input_floats(&args[2], OPTIONS, 0.25f, 5.0f);
    set_buffer(&args[3], sizeof(float) * OPTIONS, true);
    set_buffer(&args[4], sizeof(float) * OPTIONS, true);
    set_float(&args[5], 0.02f);
    set_float(&args[6], 0.3f);
}

static double normal_cdf(double x)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(x));
    double poly =
        k * (0.319381530 +
             k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double tail = 0.39894228 * exp(-0.5 * x * x) * poly;
    return x > 0 ? 1 - tail : tail;
}

static void compute_black_scholes(struct arg *args, uint32_t launches)
{
    const float *price = args[0].host, *strike = args[1].host, *years = args[2].host;
    float *call = args[3].host, *put = args[4].host;
    double rate = (double)get_float(&args[5]), volatility = (double)get_float(&args[6]);
    for (size_t i = 0; i < OPTIONS; i++) {
        double s = (double)price[i], k = (double)strike[i], t = (double)years[i], root = sqrt(t);
        double d1 = (log(s / k) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        double n1 = normal_cdf(d1), n2 = normal_cdf(d1 - volatility * root);
        double discount = k * exp(-rate * t);
        call[i] = (float)(s * n1 - discount * n2);
        put[i] = (float)(discount * (1 - n2) - s * (1 - n1));
    }
}

static void prepare_mix(struct arg *args)
{
    input_words(&args[0], MIX_ITEMS);
    set_buffer(&args[1], sizeof(uint32_t) * MIX_ITEMS, true);
    set_int(&args[2], MIX_ROUNDS);
}

static uint32_t rotate(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static void compute_mix(struct arg *args, uint32_t launches)
{
    const uint32_t *in = args[0].host;
    uint32_t *out = args[1].host;
    for (uint32_t i = 0; i < MIX_ITEMS; i++) {
        uint32_t h = in[i], k = i;
        for (int32_t r = 0; r < get_int(&args[2]); r++) {
            k = rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u;
            h = rotate(h ^ k, 13) * 5u + 0xe6546b64u;
            h ^= h >> 16;
        }
        out[i] = h;
    }
}

static void prepare_transpose(struct arg *args)
{
    input_words(&args[0], TRANSPOSE_N * TRANSPOSE_N);
    set_buffer(&args[1], sizeof(uint32_t) * TRANSPOSE_N * TRANSPOSE_N, true);
    set_int(&args[2], TRANSPOSE_N);
}

static void compute_transpose(struct arg *args, uint32_t launches)
{
    const uint32_t *in = args[0].host;
    uint32_t *out = args[1].host;
    for (size_t y = 0; y < TRANSPOSE_N; y++) {
        for (size_t x = 0; x < TRANSPOSE_N; x++)
            out[x * TRANSPOSE_N + y] = in[y * TRANSPOSE_N + x];
    }
}

static void prepare_nothing(struct arg *args)
{
}
static void compute_nothing(struct arg *args, uint32_t launches)
{
}

#define GROUPS_1D(items, size)                                                                     \
    {size, 1, 1},                                                                                  \
    {                                                                                              \
        (items) / (size), 1, 1                                                                     \
    }
#define GROUPS_2D(width, height, w, h)                                                             \
    {w, h, 1},                                                                                     \
    {                                                                                              \
        (width) / (w), (height) / (h), 1                                                           \
    }
static const struct work works[] = {
    {"gemm_naive", GROUPS_2D(GEMM_N, GEMM_N, 16, 16), prepare_gemm, compute_gemm, 1e-4f, 0},
    {"gemm_tiled", GROUPS_2D(GEMM_N, GEMM_N, 16, 16), prepare_gemm, compute_gemm, 1e-4f, 0},
    {"nbody", GROUPS_1D(BODIES, 256), prepare_nbody, compute_nbody, 1e-3f, 0},
    {"stencil", GROUPS_2D(STENCIL_W, STENCIL_H, 16, 16), prepare_stencil, compute_stencil, 1e-5f,
     0},
    {"reduction", GROUPS_1D(REDUCE_ITEMS, REDUCE_GROUP), prepare_reduction, compute_reduction, 0,
     0},
    {"histogram", GROUPS_1D(HISTOGRAM_GROUPS *HISTOGRAM_GROUP, HISTOGRAM_GROUP), prepare_histogram,
     compute_histogram, 0, 0},
    {"mandelbrot", GROUPS_2D(MANDEL_W, MANDEL_H, 16, 16), prepare_mandelbrot, compute_mandelbrot, 0,
     MANDEL_W *MANDEL_H / 500},
    {"saxpy", GROUPS_1D(SAXPY_ITEMS, 256), prepare_saxpy, compute_saxpy, 1e-5f, 0},
    {"black_scholes", GROUPS_1D(OPTIONS, 256), prepare_black_scholes, compute_black_scholes, 2e-3f,
     0},
    {"integer_mix", GROUPS_1D(MIX_ITEMS, 256), prepare_mix, compute_mix, 0, 0},
    {"transpose", GROUPS_2D(TRANSPOSE_N, TRANSPOSE_N, 16, 16), prepare_transpose, compute_transpose,
     0, 0},
    {"empty", {16, 1, 1}, {1, 1, 1}, prepare_nothing, compute_nothing, 0, 0},
};

const struct work *work_at(size_t index)
{
    return index < sizeof(works) / sizeof(works[0]) ? &works[index] : NULL;
}

const struct work *work_find(const char *name)
{
    for (size_t i = 0; work_at(i); i++) {
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    }
    for (const struct work *work = divergent_works; work->name; work++) {
        if (strcmp(work->name, name) == 0)
            return work;
    }
    return NULL;
}

static uint64_t differences(const struct work *work, const struct arg *expected,
                            const struct arg *got)
{
    uint64_t wrong = 0;
    const uint32_t *want_words = expected->host, *have_words = got->host;
    for (size_t i = 0; i < expected->size_B / 4; i++) {
        float want, have;
        memcpy(&want, &want_words[i], 4);
        memcpy(&have, &have_words[i], 4);
        if (work->tolerance == 0)
            wrong += want_words[i] != have_words[i] ? 1 : 0;
        else
            wrong += fabsf(want - have) <= work->tolerance * fmaxf(1.0f, fabsf(want)) ? 0 : 1;
    }
    return wrong;
}

uint64_t work_check(const struct work *work, const struct arg *outputs, uint32_t launches)
{
    struct arg expected[ARGS_MAX] = {0};
    uint64_t wrong = 0;
    work->prepare(expected);
    work->compute(expected, launches);
    for (int i = 0; i < ARGS_MAX; i++) {
        if (expected[i].is_output)
            wrong += differences(work, &expected[i], &outputs[i]);
        free(expected[i].host);
    }
    return wrong > work->slack ? wrong : 0;
}
