/* SPDX-License-Identifier: MIT */
/*
 * Whole programs on floats. Sums and products in a stated order are compared bit by bit; what uses
 * elementary functions is compared with the textbook's formula in double precision.
 */
#include "suite.h"

#include <complex.h>

static void fill(struct suite *s, float *at, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++)
        at[i] = (float)(low + (high - low) * ((double)(suite_random(s) >> 11) * 0x1p-53));
    suite_upload(s, at);
}

static void case_gemm(struct suite *s)
{
    enum { K = 48 };
    size_t w = s->items[0], h = s->items[1];
    const float *a = suite_in(s, S_F32, h * K), *b = suite_in(s, S_F32, w * K);
    float *c = suite_out(s, S_F32, w * h, 0);
    suite_int(s, K);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            float sum = 0;
            for (size_t k = 0; k < K; k++)
                sum = fmaf(a[y * K + k], b[k * w + x], sum);
            c[y * w + x] = sum;
        }
}

static void case_transpose(struct suite *s)
{
    size_t w = s->items[0], h = s->items[1];
    const float *in = suite_in(s, S_F32, w * h);
    float *out = suite_out(s, S_F32, w * h, 0);
    suite_local(s, s->local[0] * s->local[1] * sizeof(float));
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            out[x * h + y] = in[y * w + x];
}

static void case_nbody(struct suite *s)
{
    const double dt = 0.01;
    suite_range(s, -5, 5);
    float(*body)[4] = suite_in(s, S_F32, 4 * s->n);
    for (size_t i = 0; i < s->n; i++)
        body[i][3] = fabsf(body[i][3]); /* masses */
    suite_upload(s, body);
    const float(*speed)[4] = suite_in(s, S_F32, 4 * s->n);
    float(*new_body)[4] = suite_out(s, S_F32, 4 * s->n, 4);
    float(*new_speed)[4] = suite_out(s, S_F32, 4 * s->n, 4);
    suite_local(s, s->local[0] * 16);
    suite_float(s, (float)dt);
    double most = 0;
    for (size_t i = 0; i < s->n; i++) {
        double force[3] = {0};
        for (size_t j = 0; j < s->n; j++) {
            double d[3], square = (double)0.01f;
            for (int c = 0; c < 3; c++) {
                d[c] = (double)body[j][c] - (double)body[i][c];
                square += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++) {
                double part = d[c] * (double)body[j][3] / (square * sqrt(square));
                force[c] += part;
                most = fmax(most, fabs(part));
            }
        }
        for (int c = 0; c < 3; c++) {
            new_speed[i][c] = (float)((double)speed[i][c] + force[c] * (double)(float)dt);
            new_body[i][c] = (float)((double)body[i][c] + (double)new_speed[i][c] * dt);
        }
        new_speed[i][3] = 0;
        new_body[i][3] = body[i][3];
    }
    suite_absolute(s, new_speed, 1e-6 * most * dt * s->n + 1e-6);
    suite_absolute(s, new_body, 1e-6 * most * dt * s->n + 1e-6);
}

static void case_fft(struct suite *s)
{
    enum { POINTS = 256 };
    suite_range(s, -1, 1);
    const float(*in)[2] = suite_in(s, S_F32, s->groups[0] * POINTS * 2);
    float(*out)[2] = suite_out(s, S_F32, s->groups[0] * POINTS * 2, 0);
    double direction = s->groups[0] & 1 ? -1 : 1;
    suite_float(s, (float)direction);
    for (size_t g = 0; g < s->groups[0]; g++, in += POINTS, out += POINTS)
        for (size_t k = 0; k < POINTS; k++) {
            double complex sum = 0;
            for (size_t i = 0; i < POINTS; i++)
                sum += ((double)in[i][0] + I * (double)in[i][1]) *
                       cexp(I * direction * 2 * M_PI * (double)(i * k % POINTS) / POINTS);
            out[k][0] = (float)creal(sum);
            out[k][1] = (float)cimag(sum);
        }
    suite_absolute(s, out - s->groups[0] * POINTS, 1e-5 * POINTS / 16);
}

static void case_stencil2(struct suite *s)
{
    size_t w = s->items[0], h = s->items[1];
    const float *in = suite_in(s, S_F32, w * h);
    float *out = suite_out(s, S_F32, w * h, 0);
    memcpy(out, in, w * h * sizeof(float));
    for (size_t y = 1; y + 1 < h; y++)
        for (size_t x = 1; x + 1 < w; x++) {
            const float *at = &in[y * w + x];
            float sum = at[-1] + at[1] + *(at - w) + at[w];
            out[y * w + x] = fmaf(0.125f, sum, 0.5f * at[0]);
        }
}

static void case_stencil3(struct suite *s)
{
    int size[3] = {s->items[0], s->items[1], s->items[2]};
    const float *in = suite_in(s, S_F32, s->n);
    float *out = suite_out(s, S_F32, s->n, 0);
    for (int i = 0; i < (int)s->n; i++) {
        int at[3] = {i % size[0], i / size[0] % size[1], i / (size[0] * size[1])};
        int step = 1;
        float around = 0;
        for (int d = 0; d < 3; step *= size[d++]) {
            around += at[d] > 0 ? in[i - step] : 0;
            around += at[d] < size[d] - 1 ? in[i + step] : 0;
        }
        out[i] = fmaf(-6.0f, in[i], around);
    }
}

static int limited(int i, int size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

static void case_stencil_local(struct suite *s)
{
    int w = s->items[0], h = s->items[1];
    const float *in = suite_in(s, S_F32, w * h);
    float *out = suite_out(s, S_F32, w * h, 0);
    suite_local(s, (s->local[0] + 2) * (s->local[1] + 2) * sizeof(float));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = in[y * w + limited(x - 1, w)] + in[y * w + limited(x + 1, w)] +
                        in[limited(y - 1, h) * w + x] + in[limited(y + 1, h) * w + x];
            out[y * w + x] = fmaf(-4.0f, in[y * w + x], sum);
        }
}

static void case_black_scholes(struct suite *s)
{
    double rate = (double)0.02f, volatility = (double)0.3f;
    float *price = suite_in(s, S_F32, s->n), *strike = suite_in(s, S_F32, s->n);
    float *years = suite_in(s, S_F32, s->n);
    fill(s, price, s->n, 5, 30);
    fill(s, strike, s->n, 1, 100);
    fill(s, years, s->n, 0.25, 10);
    float *call = suite_out(s, S_F32, s->n, 0), *put = suite_out(s, S_F32, s->n, 0);
    suite_float(s, (float)rate);
    suite_float(s, (float)volatility);
    for (size_t i = 0; i < s->n; i++) {
        double p = (double)price[i], k = (double)strike[i], t = (double)years[i];
        double d1 =
            (log(p / k) + (rate + volatility * volatility / 2) * t) / (volatility * sqrt(t));
        double d2 = d1 - volatility * sqrt(t), discounted = k * exp(-rate * t);
        double n1 = erfc(-d1 / M_SQRT2) / 2, n2 = erfc(-d2 / M_SQRT2) / 2;
        call[i] = (float)(p * n1 - discounted * n2);
        put[i] = (float)(discounted * (1 - n2) - p * (1 - n1));
    }
    suite_absolute(s, call, 5e-5);
    suite_absolute(s, put, 5e-5);
}

static void case_mandelbrot(struct suite *s)
{
    const int limit = 200;
    float scale = 2.5f / (float)s->items[0];
    int32_t *out = suite_out(s, S_I32, s->n, 0);
    suite_float(s, scale);
    suite_int(s, limit);
    for (size_t i = 0; i < s->n; i++) {
        float cx = fmaf((float)(i % s->items[0]), scale, -2.0f);
        float cy = fmaf((float)(i / s->items[0]), scale, -1.25f);
        float x = 0, y = 0;
        int n = 0;
        while (n < limit && fmaf(y, y, x * x) <= 4.0f) {
            float next = fmaf(-y, y, x * x) + cx;
            y = fmaf(x + x, y, cy);
            x = next;
            n++;
        }
        out[i] = n;
    }
}

/* ---- Rays ------------------------------------------------------------------------------------ */

struct sphere {
    float centre[3], radius, colour[3];
    int32_t mirror;
};

static float dot(const float a[3], const float b[3])
{
    return fmaf(a[0], b[0], fmaf(a[1], b[1], a[2] * b[2]));
}

static float hit(const struct sphere *sphere, const float from[3], const float along[3])
{
    float to[3];
    for (int c = 0; c < 3; c++)
        to[c] = sphere->centre[c] - from[c];
    float b = dot(to, along), d = fmaf(b, b, -fmaf(-sphere->radius, sphere->radius, dot(to, to)));
    if (d < 0)
        return INFINITY;
    float low = b - sqrtf(d), high = b + sqrtf(d);
    return low > 0.001f ? low : high > 0.001f ? high : INFINITY;
}

static void cast(const struct sphere *spheres, int count, float along[3], float colour[3])
{
    float from[3] = {0}, weight = 1;
    for (int depth = 0; depth < 4; depth++) {
        const struct sphere *nearest = NULL;
        float distance = INFINITY, n[3];
        for (int i = 0; i < count; i++) {
            float t = hit(&spheres[i], from, along);
            if (t < distance) {
                distance = t;
                nearest = &spheres[i];
            }
        }
        if (!nearest) {
            colour[2] = fmaf(weight, 0.25f, colour[2]);
            return;
        }
        for (int c = 0; c < 3; c++) {
            from[c] = fmaf(along[c], distance, from[c]);
            n[c] = (from[c] - nearest->centre[c]) * (1.0f / nearest->radius);
        }
        float light = fmaxf(0.0f, fmaf(n[0], 0.5f, fmaf(n[1], -0.75f, n[2] * -0.25f)));
        float share = nearest->mirror ? weight * 0.25f : weight;
        for (int c = 0; c < 3; c++)
            colour[c] = fmaf(share * light, nearest->colour[c], colour[c]);
        if (!nearest->mirror)
            return;
        weight *= 0.75f;
        float twice = -2.0f * dot(along, n);
        for (int c = 0; c < 3; c++)
            along[c] = fmaf(n[c], twice, along[c]);
    }
}

static void case_ray_cast(struct suite *s)
{
    enum { COUNT = 9 };
    struct sphere *spheres = suite_in(s, S_F32, COUNT * 8);
    for (int i = 0; i < COUNT; i++)
        spheres[i] = (struct sphere){
            .centre = {(float)(i % 3) - 1, (float)(i / 3) - 1, 5 + (float)(i * 7 % 5) * 0.25f},
            .radius = 0.375f + 0.125f * (float)(i % 2),
            .colour = {(float)i / 8, 1 - (float)i / 8, 0.5f},
            .mirror = i % 3 == 1};
    suite_upload(s, spheres);
    suite_int(s, COUNT);
    float(*out)[3] = suite_out(s, S_F32, 3 * s->n, 0);
    int w = (int)s->items[0];
    for (int i = 0; i < (int)s->n; i++) {
        int x = i % w, y = i / w;
        float along[3] = {(float)(x - w / 2) / (float)w, (float)(y - 8) / (float)w, 1};
        float scale = 1.0f / sqrtf(dot(along, along));
        for (int c = 0; c < 3; c++) {
            along[c] *= scale;
            out[i][c] = 0;
        }
        cast(spheres, COUNT, along, out[i]);
    }
}

/* ---- k-means: launches are assign, move, assign, move, ..., assign --------------------------- */

enum { CENTRES = 7, ROUNDS = 4 };

static void kmeans_assign(size_t n, const float *px, const float *py, const float *centres,
                          int32_t *nearest, int32_t *sums)
{
    for (size_t i = 0; i < n; i++) {
        float least = INFINITY;
        for (int k = 0; k < CENTRES; k++) {
            float dx = px[i] - centres[2 * k], dy = py[i] - centres[2 * k + 1];
            float d = fmaf(dx, dx, dy * dy);
            if (d < least) {
                least = d;
                nearest[i] = k;
            }
        }
        int32_t *sum = &sums[3 * nearest[i]];
        sum[0] += (int32_t)lrintf(px[i] * 1024.0f);
        sum[1] += (int32_t)lrintf(py[i] * 1024.0f);
        sum[2]++;
    }
}

static void case_kmeans(struct suite *s)
{
    const float *px = suite_in(s, S_F32, s->n), *py = suite_in(s, S_F32, s->n);
    float *centres = suite_inout(s, S_F32, 2 * CENTRES, 0);
    int32_t *nearest = suite_out(s, S_I32, s->n, 0), *sums = suite_zeroed(s, S_I32, 3 * CENTRES, 0);
    suite_int(s, CENTRES);
    for (int round = 0; round < ROUNDS; round++) {
        struct suite_stage *stage =
            suite_stage(s, "program_kmeans_assign", s->groups[0], s->local[0]);
        const void *const args[] = {px, py, centres, nearest, sums};
        for (size_t i = 0; i < SUITE_COUNT(args); i++)
            suite_stage_buffer(s, stage, args[i]);
        suite_stage_int(stage, CENTRES);
        stage = suite_stage(s, "program_kmeans_move", 1, CENTRES);
        suite_stage_buffer(s, stage, centres);
        suite_stage_buffer(s, stage, sums);
        kmeans_assign(s->n, px, py, centres, nearest, sums);
        for (int k = 0; k < CENTRES; k++) {
            int32_t *sum = &sums[3 * k];
            for (int c = 0; sum[2] && c < 2; c++)
                centres[2 * k + c] = (float)sum[c] / (1024.0f * (float)sum[2]);
            sum[0] = sum[1] = sum[2] = 0;
        }
    }
    kmeans_assign(s->n, px, py, centres, nearest, sums);
}

static void case_convolution(struct suite *s)
{
    const int radius = 2, w = (int)s->items[0], h = (int)s->items[1];
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .type = ZE_IMAGE_TYPE_2D,
                            .format = {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
                                       ZE_IMAGE_FORMAT_TYPE_FLOAT, ZE_IMAGE_FORMAT_SWIZZLE_R,
                                       ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B,
                                       ZE_IMAGE_FORMAT_SWIZZLE_A},
                            .width = (uint64_t)w,
                            .height = (uint32_t)h,
                            .depth = 1};
    float(*in)[4] = calloc(s->n, sizeof(*in));
    for (size_t i = 0; i < 4 * s->n; i++)
        in[i / 4][i % 4] = (float)(int32_t)suite_random(s) * 0x1p-31f;
    suite_image_arg(s, &desc, in);
    desc.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
    float(*out)[4] = suite_image_out(s, &desc, S_F32, 4 * s->n, 0);
    const float *weights = suite_in(s, S_F32, 25);
    suite_int(s, radius);
    for (int i = 0; i < (int)s->n; i++) {
        float sum[4] = {0};
        for (int j = 0; j < 25; j++) {
            int x = limited(i % w + j % 5 - radius, w), y = limited(i / w + j / 5 - radius, h);
            for (int c = 0; c < 4; c++)
                sum[c] = fmaf(in[y * w + x][c], weights[j], sum[c]);
        }
        memcpy(out[i], sum, sizeof(sum));
    }
    free(in);
}

static const struct suite_shape tiles[] = {{{1, 1}, {16, 16}}, {{3, 2}, {16, 16}}, {{0}, {0}}};
static const struct suite_shape pictures[] = {{{4, 2}, {16, 8}}, {{3, 16}, {21, 1}}, {{0}, {0}}};
static const struct suite_shape transforms[] = {{{3}, {128}}, {{2}, {128}}, {{0}, {0}}};
static const struct suite_shape clouds[] = {{{1}, {5}}, {{3}, {33}}, {{2}, {64}}, {{0}, {0}}};

static const struct suite_case cases[] = {
    {"program_gemm", case_gemm, suite_shapes_2d, NULL},
    {"program_gemm_tiled", case_gemm, tiles, NULL},
    {"program_transpose", case_transpose, suite_shapes_2d, NULL},
    {"program_nbody", case_nbody, clouds, NULL},
    {"program_fft", case_fft, transforms, NULL},
    {"program_stencil2", case_stencil2, suite_shapes_2d, NULL},
    {"program_stencil3", case_stencil3, suite_shapes_3d, NULL},
    {"program_stencil_local", case_stencil_local, suite_shapes_2d, NULL},
    {"program_black_scholes", case_black_scholes, NULL, NULL},
    {"program_mandelbrot", case_mandelbrot, pictures, NULL},
    {"program_ray_cast", case_ray_cast, pictures, NULL},
    {"program_kmeans_assign", case_kmeans, NULL, NULL},
    {"program_convolution", case_convolution, suite_shapes_2d, NULL},
};

const struct suite_group suite_program = {"program", cases, SUITE_COUNT(cases),
                                          .images = "program_convolution"};
