/* SPDX-License-Identifier: MIT */
/*
 * Kernels compiled by ocloc (kernels.cl) run through module reader, interpreter, send units and
 * dispatch, and compared with the same computation in C.
 */
#include "runner.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static struct runner shared;

static int open_shared(void **state)
{
    runner_open(&shared, getenv("ZS_TEST_KERNELS"), 3);
    return 0;
}

static int close_shared(void **state)
{
    runner_close(&shared);
    return 0;
}

/* What memory a kernel touches, and how, is known of optimised kernels only. */
static void skip_unoptimized(void)
{
    if (getenv("ZS_TEST_UNOPTIMIZED"))
        skip();
}

static void saxpy(void **state)
{
    skip_unoptimized();
    struct runner *r = &shared;
    enum { N = 10000 };
    float *x = runner_alloc(r, N * 4, 0), *y = runner_alloc(r, N * 4, 0), a = 2.5f;
    runner_kernel(r, "saxpy");
    static const uint32_t sizes[] = {1, 8, 10, 16, 50, 100, 250};
    for (size_t s = 0; s < ZS_ARRAY_LEN(sizes); s++) {
        for (uint32_t i = 0; i < N; i++) {
            x[i] = (float)i * 0.25f;
            y[i] = (float)(N - i);
        }
        arg_buffer(r, 0, x);
        arg_buffer(r, 1, y);
        arg_value(r, 2, 4, &a);
        runner_ok(r, DIM(N / sizes[s], 1, 1), DIM(sizes[s], 1, 1));
        for (uint32_t i = 0; i < N; i++)
            assert_true(y[i] == a * x[i] + (float)(N - i));
        uint32_t simd = zs_gpu_kernel_simd(r->kernel);
        uint64_t threads = (uint64_t)(N / sizes[s]) * ((sizes[s] + simd - 1) / simd);
        assert_int_equal(r->result.totals.groups, N / sizes[s]);
        assert_int_equal(r->result.totals.threads, threads);
        assert_int_equal(r->result.totals.untyped_bytes_read, 2 * 4 * N);
        assert_int_equal(r->result.totals.untyped_bytes_written, 4 * N);
        assert_true(r->result.end_ticks >= r->result.start_ticks);
        assert_true(r->result.end_ticks <= zs_gpu_clock_ticks(r->device));
    }
    runner_free(r, x);
    runner_free(r, y);
}

static void check_ids(struct runner *r, const uint32_t groups[3], const uint32_t size[3])
{
    uint32_t n = groups[0] * groups[1] * groups[2] * size[0] * size[1] * size[2];
    uint32_t *out = runner_alloc(r, (size_t)n * 24 * 4, 0), global[3], *o = out;
    arg_buffer(r, 0, out);
    runner_ok(r, groups, size);
    for (uint32_t d = 0; d < 3; d++)
        global[d] = groups[d] * size[d];
    for (uint32_t z = 0; z < global[2]; z++)
        for (uint32_t y = 0; y < global[1]; y++)
            for (uint32_t x = 0; x < global[0]; x++, o += 24) {
                const uint32_t at[3] = {x, y, z};
                for (uint32_t d = 0; d < 3; d++) {
                    assert_int_equal(o[d], at[d] + r->offset[d]);
                    assert_int_equal(o[3 + d], at[d] % size[d]);
                    assert_int_equal(o[6 + d], at[d] / size[d]);
                    assert_int_equal(o[9 + d], global[d]);
                    assert_int_equal(o[12 + d], size[d]);
                    assert_int_equal(o[15 + d], groups[d]);
                    assert_int_equal(o[18 + d], r->offset[d]);
                }
                assert_int_equal(o[21], global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1);
                assert_int_equal(o[22], (z * global[1] + y) * global[0] + x);
                assert_int_equal(o[23], size[0]);
            }
    runner_free(r, out);
}

static void work_item_functions(void **state)
{
    struct runner *r = &shared;
    runner_kernel(r, "ids");
    check_ids(r, DIM(5, 1, 1), DIM(16, 1, 1));
    check_ids(r, DIM(3, 2, 1), DIM(7, 3, 1));
    check_ids(r, DIM(2, 3, 2), DIM(5, 3, 4));
    check_ids(r, DIM(1, 1, 3), DIM(1, 1, 17));
    r->offset[0] = 100, r->offset[1] = 7, r->offset[2] = 3;
    check_ids(r, DIM(2, 2, 2), DIM(9, 2, 2));
    memset(r->offset, 0, sizeof(r->offset));
}

static void barriers_and_local_memory(void **state)
{
    struct runner *r = &shared;
    enum { GROUPS = 37 };
    runner_kernel(r, "reduce");
    for (uint32_t size = 1; size <= 256; size = size < 16 ? size + 5 : size + 40) {
        int *in = runner_alloc(r, GROUPS * size * 4, 0), *out = runner_alloc(r, GROUPS * 4, 0);
        for (uint32_t i = 0; i < GROUPS * size; i++)
            in[i] = (int)(i * 2654435761u >> 8);
        arg_buffer(r, 0, in);
        arg_buffer(r, 1, out);
        arg_local(r, 2, size * 4);
        runner_ok(r, DIM(GROUPS, 1, 1), DIM(size, 1, 1));
        for (uint32_t g = 0; g < GROUPS; g++) {
            int sum = 0;
            for (uint32_t i = 0; i < size; i++)
                sum = (int)((uint32_t)sum + (uint32_t)in[g * size + i]);
            assert_int_equal(out[g], sum);
        }
        runner_free(r, in);
        runner_free(r, out);
    }
    assert_true(r->result.totals.barriers > 0);
    assert_true(r->result.totals.slm_bytes_read > 0);
}

static void several_local_arguments(void **state)
{
    struct runner *r = &shared;
    enum { SIZE = 100, GROUPS = 3 };
    int *out = runner_alloc(r, SIZE * GROUPS * 4, 0);
    runner_kernel(r, "two_locals");
    arg_buffer(r, 0, out);
    arg_local(r, 1, SIZE);
    arg_local(r, 2, SIZE * 4);
    assert_int_equal(zs_gpu_args_set_local(r->args, 1, 70000), -ENOMEM);
    runner_ok(r, DIM(GROUPS, 1, 1), DIM(SIZE, 1, 1));
    for (int i = 0; i < SIZE * GROUPS; i++) {
        int m = (i % SIZE + 1) % SIZE;
        assert_int_equal(out[i], (int8_t)(m * 3) + m * 1000 - m % 16);
    }
    runner_free(r, out);
}

static void atomic_operations(void **state)
{
    struct runner *r = &shared;
    enum { SIZE = 64, GROUPS = 50, N = SIZE * GROUPS };
    int *a = runner_alloc(r, 64, 0), expect[11] = {0};
    int64_t *b = runner_alloc(r, 64, 0), sum = 0, most = 0;
    uint32_t *h = runner_alloc(r, 256, 0), histogram[64] = {0};
    expect[6] = -1;
    memcpy(a, expect, sizeof(expect));
    runner_kernel(r, "atomics");
    arg_buffer(r, 0, a);
    arg_buffer(r, 1, b);
    arg_buffer(r, 2, h);
    arg_local(r, 3, 16);
    runner_ok(r, DIM(GROUPS, 1, 1), DIM(SIZE, 1, 1));
    for (int i = 0; i < N; i++) {
        int v = (int)((uint32_t)i * 7919 % 1000) - 500, l = i % SIZE;
        static const int weights[4] = {1, 10, 100, 1000};
        expect[0] += i;
        expect[1] -= 3;
        expect[2]++;
        expect[3]--;
        expect[4] = v < expect[4] ? v : expect[4];
        expect[5] = v > expect[5] ? v : expect[5];
        expect[6] &= ~(1 << i % 31);
        expect[7] |= 1 << i % 31;
        expect[8] ^= i;
        expect[9] += 2;
        expect[10] += l * weights[l % 4];
        sum += (int64_t)i << 20;
        most = (int64_t)i * 1234567891 > most ? (int64_t)i * 1234567891 : most;
        histogram[i * i % 64]++;
    }
    assert_memory_equal(a, expect, sizeof(expect));
    assert_true(b[0] == sum && b[1] == most);
    assert_memory_equal(h, histogram, sizeof(histogram));
    runner_free(r, a);
    runner_free(r, b);
    runner_free(r, h);
}

static void check_private(struct runner *r, uint32_t groups, uint32_t size)
{
    enum { N_MOST = 333 * 3, ROUNDS = 100 };
    int n = (int)(groups * size), rounds = ROUNDS;
    int *in = runner_alloc(r, N_MOST * 4, 0), *out = runner_alloc(r, N_MOST * 4, 0);
    assert_true(n <= N_MOST);
    for (int i = 0; i < n; i++)
        in[i] = i * 7 - 1000;
    runner_kernel(r, "private_array");
    arg_buffer(r, 0, in);
    arg_buffer(r, 1, out);
    arg_value(r, 2, 4, &rounds);
    runner_ok(r, DIM(groups, 1, 1), DIM(size, 1, 1));
    for (int i = 0; i < n; i++) {
        uint32_t a[64], sum = 0;
        for (int k = 0; k < 64; k++)
            a[k] = (uint32_t)(in[i] + k * 3);
        for (int q = 0; q < ROUNDS; q++) {
            int at = (in[i] + q * 17) & 63;
            a[at] = a[(at * 5 + q) & 63] ^ (uint32_t)q;
        }
        for (int k = 0; k < 64; k++)
            sum = sum * 31 + a[k];
        assert_int_equal(out[i], (int)sum);
    }
    runner_free(r, in);
    runner_free(r, out);
}

static void private_arrays(void **state)
{
    check_private(&shared, 9, 111);
}

/* A kernel that tells of fewer bytes than it takes, as IGC 2 does of bytes: of threads that run one
 * after the other each overwrites what the next one begins with, the last one what is behind. */
static void too_little_private_memory(void **state)
{
    static struct runner r; /* what debugs stays, as drivers have it */
    runner_open(&r, getenv("ZS_TEST_KERNELS"), 1);
    const struct zs_kernel *told = zs_image_kernel(r.image, "private_array");
    uint32_t *told_B = (uint32_t *)(uintptr_t)&told->private_per_hw_thread_B;
    if (*told_B) {
        *told_B -= 64;
        check_private(&r, 1, 64);
    }
    runner_close(&r);
}

static void struct_arguments(void **state)
{
    struct runner *r = &shared;
    struct {
        int8_t c;
        int16_t s;
        int32_t i;
        int64_t l;
        float f;
        double d;
        uint8_t v[4];
    } p = {-5, -300, 70000, -5000000000, 1.5f, 2.25, {1, 2, 3, 4}};
    uint8_t b = 200;
    uint16_t w[4] = {1, 2, 3, 0};
    int64_t big[8] = {1, 0, 0, 0, 0, 0, 0, 1ll << 40};
    double *out = runner_alloc(r, 80, 0);
    static const double expect[10] = {-5,   -300, 70000, -5000000000.0, 1.5,
                                      2.25, 1234, 200,   321,           1 + 1099511627776.0};
    runner_kernel(r, "structs");
    arg_buffer(r, 0, out);
    arg_value(r, 1, sizeof(p), &p);
    arg_value(r, 2, 1, &b);
    arg_value(r, 3, 8, w);
    assert_int_equal(zs_gpu_args_first_unset(r->args), 4);
    arg_value(r, 4, 64, big);
    assert_int_equal(zs_gpu_args_first_unset(r->args), UINT32_MAX);
    assert_int_equal(zs_gpu_args_set_value(r->args, 9, 4, &b), -EINVAL);
    assert_int_equal(zs_gpu_args_set_value(r->args, 0, 4, &b), -EINVAL);
    runner_ok(r, DIM(1, 1, 1), DIM(1, 1, 1));
    for (int i = 0; i < 10; i++) {
        if (out[i] != expect[i])
            print_error("member %d: %g, not %g\n", i, out[i], expect[i]);
        assert_true(out[i] == expect[i]);
    }
    runner_free(r, out);
}

static void small_types_and_vectors(void **state)
{
    struct runner *r = &shared;
    enum { N = 200 };
    uint8_t *a = runner_alloc(r, N, 0), *b = runner_alloc(r, N, 0);
    uint16_t *c = runner_alloc(r, N * 2, 0);
    int16_t *d = runner_alloc(r, N * 2, 0);
    for (int i = 0; i < N; i++) {
        a[i] = (uint8_t)(i * 3);
        d[i] = (int16_t)(i * 321 - 20000);
    }
    runner_kernel(r, "bytes");
    arg_buffer(r, 0, a);
    arg_buffer(r, 1, b);
    arg_buffer(r, 2, c);
    arg_buffer(r, 3, d);
    runner_ok(r, DIM(N / 50, 1, 1), DIM(50, 1, 1));
    for (int i = 0; i < N; i++) {
        assert_int_equal(b[i], (uint8_t)(a[i] + 1));
        assert_int_equal(c[i], (uint16_t)(d[i] * 3));
    }
    float *fa = runner_alloc(r, N * 16, 0), *fb = runner_alloc(r, N * 16, 0);
    double *da = runner_alloc(r, N * 16, 0), *db = runner_alloc(r, N * 16, 0);
    for (int i = 0; i < N * 4; i++)
        fa[i] = (float)i;
    for (int i = 0; i < N * 2; i++)
        da[i] = i * 1.25;
    runner_kernel(r, "vectors");
    arg_buffer(r, 0, fa);
    arg_buffer(r, 1, fb);
    arg_buffer(r, 2, da);
    arg_buffer(r, 3, db);
    runner_ok(r, DIM(N / 20, 1, 1), DIM(20, 1, 1));
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 4; k++)
            assert_true(fb[i * 4 + k] == fa[i * 4 + 3 - k] * 2.0f);
        for (int k = 0; k < 2; k++)
            assert_true(db[i * 2 + k] == da[i * 2 + 1 - k] + 0.5);
    }
    void *all[] = {a, b, c, d, fa, fb, da, db};
    for (size_t i = 0; i < ZS_ARRAY_LEN(all); i++)
        runner_free(r, all[i]);
}

/* What work-item i of n leaves of structures that are in `in`. */
static void expect_structures(const uint32_t *in, uint32_t *out, const uint8_t *bytes, uint8_t *to,
                              int i, int n, int some, int by)
{
    int at = 5 * n + 8 * (i * by % n);
    for (int k = 0; k < 4; k++)
        out[5 * i + k] = in[5 * i + k] + in[5 * i + 4];
    out[5 * i + 4] = in[5 * i] ^ in[5 * i + 4];
    to[3 * i + 2] = (uint8_t)(bytes[3 * i] + 1);
    to[3 * i] = bytes[3 * i + 2];
    for (int k = 0; k < 4 && i & some; k++)
        out[at + 4 + k] = in[at + (k < 3 ? 5 + k : 0)];
    for (int k = 0; k < 2 && i & some; k++)
        out[at + k] = in[at + 1 - k] - (uint32_t)i;
}

/* Up to the ends of their allocations; in the order of work-items, the other way round, anywhere;
 * of all of them, and of some. */
static void structures_of_lanes(void **state)
{
    struct runner *r = &shared;
    static const uint32_t sizes[] = {1, 8, 12, 16, 64};
    const size_t most = 8 * 64, ints_B = most * 13 * 4, bytes_B = most * 3;
    uint32_t *in = runner_alloc(r, ints_B, 0), *out = runner_alloc(r, ints_B, 0);
    uint8_t *bytes = runner_alloc(r, bytes_B, 0), *to = runner_alloc(r, bytes_B, 0);
    uint32_t *ints = malloc(ints_B);
    uint8_t *others = malloc(bytes_B);
    runner_kernel(r, "structures");
    for (uint32_t i = 0; i < most * 13; i++)
        in[i] = i * 0x9e3779b1u ^ i;
    for (size_t i = 0; i < bytes_B; i++)
        bytes[i] = (uint8_t)(i * 37 ^ i >> 4);
    for (unsigned test = 0; test < ZS_ARRAY_LEN(sizes) * 6; test++) {
        uint32_t size = sizes[test / 6];
        int n = 8 * (int)size, some = test % 2 ? -1 : 5, by[] = {1, n - 1, 1541};
        int step = by[test % 6 / 2];
        memset(out, 0x55, ints_B);
        memset(ints, 0x55, ints_B);
        memset(to, 0x55, bytes_B);
        memset(others, 0x55, bytes_B);
        for (unsigned i = 0; i < 4; i++)
            arg_buffer(r, i, (void *[]){in, out, bytes, to}[i]);
        arg_value(r, 4, 4, &some);
        arg_value(r, 5, 4, &step);
        runner_ok(r, DIM(8, 1, 1), DIM(size, 1, 1));
        for (int i = 0; i < n; i++)
            expect_structures(in, ints, bytes, others, i, n, some, step);
        assert_memory_equal(out, ints, ints_B);
        assert_memory_equal(to, others, bytes_B);
    }
    free(ints);
    free(others);
    runner_free(r, in);
    runner_free(r, out);
    runner_free(r, bytes);
    runner_free(r, to);
}

/* Threads whose work-items are a row, some rows, parts of rows, a column. */
static void volumes(void **state)
{
    static const uint32_t sizes[][3] = {{16, 16, 1}, {32, 2, 1}, {64, 1, 1}, {8, 8, 1},
                                        {24, 2, 1},  {3, 5, 7},  {4, 4, 4},  {16, 1, 4},
                                        {1, 64, 1},  {1, 1, 32}};
    enum { MOST = 256 * 8 };
    int *in = runner_alloc(&shared, 2 * MOST * 4, 0), *out = runner_alloc(&shared, 2 * MOST * 4, 0);
    static int ref[2 * MOST];
    for (int i = 0; i < 2 * MOST; i++)
        in[i] = (int)((uint32_t)i * 0x9e3779b1u >> 7);
    runner_kernel(&shared, "volumes");
    for (unsigned test = 0; test < 2 * ZS_ARRAY_LEN(sizes); test++) {
        const uint32_t *s = sizes[test / 2];
        int w = 2 * (int)s[0], h = 2 * (int)s[1], d = 2 * (int)s[2], some = test % 2 ? 0 : -1;
        for (int i = 0, n = w * h * d; i < n; i++) {
            int x = i % w, y = i / w % h, z = i / w / h;
            int v = in[i] + 3 * in[x * h + y] - in[y] + in[z * w] * 5;
            v = x != some ? v + in[i + 1] - in[y * w] * 7 : v ^ in[i + w];
            for (int k = 0; k < y % (int)s[1] % 3; k++)
                v = (int)((uint32_t)v + (uint32_t)in[i + k] * (uint32_t)in[y * 3 + k]);
            ref[i] = v;
            ref[n + (z * w + x) * h + y] = y & 1 ? v : 0;
        }
        memset(out, 0, 2 * MOST * 4);
        arg_buffer(&shared, 0, in);
        arg_buffer(&shared, 1, out);
        for (unsigned i = 0; i < 3; i++)
            arg_value(&shared, 2 + i, 4, (int *[]){&w, &h, &some}[i]);
        runner_ok(&shared, DIM(2, 2, 2), s);
        assert_memory_equal(out, ref, (size_t)(2 * w * h * d) * 4);
    }
    runner_free(&shared, in);
    runner_free(&shared, out);
}

static void program_scope_variables(void **state)
{
    struct runner *r = &shared;
    int *out = runner_alloc(r, 65 * 4, 0);
    static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    runner_kernel(r, "globals");
    arg_buffer(r, 0, out);
    runner_ok(r, DIM(4, 1, 1), DIM(16, 1, 1));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], table[i % 8]);
    assert_true(out[64] > 100 && out[64] <= 164);
    runner_ok(r, DIM(4, 1, 1), DIM(16, 1, 1));
    assert_true(out[64] > 164 && out[64] <= 228);
    runner_free(r, out);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void printing(void **state)
{
    struct runner *r = &shared;
    int *in = runner_alloc(r, 64, 0);
    for (int i = 0; i < 16; i++)
        in[i] = i * 5;
    runner_kernel(r, "print");
    arg_buffer(r, 0, in);
    r->printed.size_B = 0;
    runner_ok(r, DIM(1, 1, 1), DIM(16, 1, 1));
    char *lines[3], *save = NULL, *text = strdup(zs_buf_cstr(&r->printed));
    for (int i = 0; i < 3; i++) {
        lines[i] = strtok_r(i ? NULL : text, "\n", &save);
        assert_non_null(lines[i]);
    }
    assert_null(strtok_r(NULL, "\n", &save));
    qsort(lines, 3, sizeof(lines[0]), compare_lines);
    assert_string_equal(lines[0], "item 0 of 16: even 0.00 0,2,3,4");
    assert_string_equal(lines[1], "item 1 of 16: odd 2.50 5,2,3,4");
    assert_string_equal(lines[2], "item 2 of 16: even 5.00 10,2,3,4");
    free(text);
    runner_free(r, in);
}

/* ---- images ------------------------------------------------------------------------------------
 */

static struct zs_gpu_image make_image(struct runner *r, enum zs_gpu_image_type type,
                                      uint32_t format, uint32_t width, uint32_t height,
                                      uint32_t depth)
{
    struct zs_gpu_image image = {.type = type,
                                 .format = zs_gpu_format_find(format),
                                 .width = width,
                                 .height = height,
                                 .depth = type == ZS_GPU_IMAGE_3D ? depth : 1,
                                 .layers = type == ZS_GPU_IMAGE_2D_ARRAY ? depth : 1,
                                 .swizzle = {4, 5, 6, 7},
                                 .cl_channel_type = 0x10DA,
                                 .cl_channel_order = 0x10B5};
    uint64_t size_B = zs_gpu_image_layout(&image);
    image.gpu_va = (uint64_t)(uintptr_t)runner_alloc(r, size_B, 0);
    return image;
}

static void *texel(const struct zs_gpu_image *image, uint32_t x, uint32_t y, uint32_t z)
{
    return (uint8_t *)(uintptr_t)image->gpu_va + z * image->slice_pitch_B +
           (size_t)y * image->row_pitch_B + (size_t)x * zs_gpu_format_texel_B(image->format);
}

static void image_copy(void **state)
{
    struct runner *r = &shared;
    enum { W = 33, H = 9 };
    struct zs_gpu_image in = make_image(r, ZS_GPU_IMAGE_2D, 0x0C7, W, H, 1);
    struct zs_gpu_image out = make_image(r, ZS_GPU_IMAGE_2D, 0x000, W, H, 1);
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++)
            for (uint32_t c = 0; c < 4; c++)
                ((uint8_t *)texel(&in, x, y, 0))[c] = (uint8_t)(x * 7 + y * 31 + c * 60);
    runner_kernel(r, "image_copy");
    assert_int_equal(zs_gpu_args_set_image(r->args, 0, &in), 0);
    assert_int_equal(zs_gpu_args_set_image(r->args, 1, &out), 0);
    runner_ok(r, DIM(W / 11, H / 3, 1), DIM(11, 3, 1));
    for (uint32_t y = 0; y < H; y++) {
        for (uint32_t x = 0; x < W; x++) {
            for (uint32_t c = 0; c < 4; c++) {
                float here = (float)(((uint8_t *)texel(&in, x, y, 0))[c] / 255.0), there = 0;
                if (x > 0 && y > 0)
                    there = (float)(((uint8_t *)texel(&in, x - 1, y - 1, 0))[c] / 255.0);
                assert_true(((float *)texel(&out, x, y, 0))[c] == there + here * 0.5f);
            }
        }
    }
    /* the same code, which claims not to write it */
    struct zs_arg *arg =
        (struct zs_arg *)(uintptr_t)&zs_image_kernel(r->image, "image_copy")->args[1];
    assert_int_equal(arg->access, ZS_ACCESS_WRITE_ONLY);
    arg->access = ZS_ACCESS_READ_ONLY;
    assert_int_equal(zs_gpu_args_set_image(r->args, 1, &out), 0);
    assert_int_equal(runner_launch(r, DIM(1, 1, 1), DIM(11, 3, 1)), -EFAULT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_READ_ONLY);
    assert_non_null(strstr(r->result.fault.detail, "read_only"));
    arg->access = ZS_ACCESS_WRITE_ONLY;
    runner_free(r, (void *)(uintptr_t)in.gpu_va);
    runner_free(r, (void *)(uintptr_t)out.gpu_va);
}

static void image_sampling(void **state)
{
    struct runner *r = &shared;
    enum { W = 8, H = 6, GX = 16, GY = 8 };
    struct zs_gpu_image in = make_image(r, ZS_GPU_IMAGE_2D, 0x0D8, W, H, 1); /* R32_FLOAT */
    float *out = runner_alloc(r, GX * GY * 16, 0), scale = 0.75f;
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++)
            *(float *)texel(&in, x, y, 0) = (float)(x * x + 10 * y);
    runner_kernel(r, "image_sample");
    struct zs_gpu_sampler sampler = {.address_mode = ZS_GPU_ADDRESS_EDGE, .linear = true};
    assert_int_equal(zs_gpu_args_set_image(r->args, 0, &in), 0);
    assert_int_equal(zs_gpu_args_set_sampler(r->args, 1, &sampler), 0);
    arg_buffer(r, 2, out);
    arg_value(r, 3, 4, &scale);
    runner_ok(r, DIM(1, 1, 1), DIM(GX, GY, 1));
    for (int y = 0; y < GY; y++) {
        for (int x = 0; x < GX; x++) {
            double u = ((double)x + 0.3) * 0.75 - 0.5, v = ((double)y + 0.6) * 0.75 - 0.5, want = 0;
            for (int k = 0; k < 4; k++) {
                int i = (int)floor(u) + (k & 1), j = (int)floor(v) + (k >> 1);
                double wu = u - floor(u), wv = v - floor(v);
                i = i < 0 ? 0 : i > W - 1 ? W - 1 : i;
                j = j < 0 ? 0 : j > H - 1 ? H - 1 : j;
                want += (k & 1 ? wu : 1 - wu) * (k >> 1 ? wv : 1 - wv) * (i * i + 10 * j);
            }
            const float *got = out + (y * GX + x) * 4;
            assert_true(fabs((double)got[0] - want) < 0.01);
            assert_true(got[1] == 0.0f && got[2] == 0.0f && got[3] == 1.0f);
        }
    }
    runner_free(r, out);
    runner_free(r, (void *)(uintptr_t)in.gpu_va);
}

static void image_volumes_and_arrays(void **state)
{
    struct runner *r = &shared;
    enum { W = 8, H = 4, D = 3 };
    struct zs_gpu_image volume = make_image(r, ZS_GPU_IMAGE_3D, 0x083, W, H, D); /* RGBA16_UINT */
    uint32_t *out = runner_alloc(r, W * H * D * 16, 0), *o = out;
    int *size = runner_alloc(r, 64, 0);
    for (uint32_t z = 0; z < D; z++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++)
                for (uint32_t c = 0; c < 4; c++)
                    ((uint16_t *)texel(&volume, x, y, z))[c] =
                        (uint16_t)(x + 100 * y + 1000 * z + 10000 * c);
    runner_kernel(r, "image_3d");
    assert_int_equal(zs_gpu_args_set_image(r->args, 0, &volume), 0);
    arg_buffer(r, 1, out);
    arg_buffer(r, 2, size);
    runner_ok(r, DIM(1, 2, D), DIM(W, H / 2, 1));
    for (uint32_t z = 0; z < D; z++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++)
                for (uint32_t c = 0; c < 4; c++)
                    assert_int_equal(*o++, x + 100 * y + 1000 * z + 10000 * c);
    assert_int_equal(size[0], W);
    assert_int_equal(size[1], H);
    assert_int_equal(size[2], D);
    assert_int_equal(size[3], 0x10DA);
    struct zs_gpu_image a = make_image(r, ZS_GPU_IMAGE_2D_ARRAY, 0x0D6, W, H, D); /* R32_SINT */
    struct zs_gpu_image b = make_image(r, ZS_GPU_IMAGE_2D_ARRAY, 0x0D6, W, H, D);
    for (uint32_t z = 0; z < D; z++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++)
                *(int *)texel(&a, x, y, z) = (int)(x + 10 * y + 100 * z);
    runner_kernel(r, "image_array");
    assert_int_equal(zs_gpu_args_set_image(r->args, 0, &a), 0);
    assert_int_equal(zs_gpu_args_set_image(r->args, 1, &b), 0);
    arg_buffer(r, 2, size);
    runner_ok(r, DIM(1, H, D), DIM(W, 1, 1));
    for (uint32_t z = 0; z < D; z++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++)
                assert_int_equal(*(int *)texel(&b, x, y, z), -(int)(x + 10 * y + 100 * z));
    assert_int_equal(size[0], D);
    runner_free(r, out);
    runner_free(r, size);
    runner_free(r, (void *)(uintptr_t)volume.gpu_va);
    runner_free(r, (void *)(uintptr_t)a.gpu_va);
    runner_free(r, (void *)(uintptr_t)b.gpu_va);
}

/* ---- faults and interruptions ------------------------------------------------------------------
 */

static void out_of_bounds_is_reported(void **state)
{
    skip_unoptimized();
    struct runner *r = &shared;
    int *a = runner_alloc(r, 256, 0);
    int64_t index = 256 + 12;
    runner_kernel(r, "out_of_bounds");
    arg_buffer(r, 0, a);
    arg_value(r, 1, 8, &index);
    runner_ok(r, DIM(4, 1, 1), DIM(16, 1, 1)); /* through a surface hardware drops it */
    r->flags = ZS_GPU_LAUNCH_CHECK_SURFACES;
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(16, 1, 1)), -EFAULT);
    const struct zs_gpu_fault *f = &r->result.fault;
    assert_int_equal(f->kind, ZS_GPU_FAULT_SURFACE);
    assert_string_equal(f->kernel, "out_of_bounds");
    assert_true(f->has_lane && f->is_write && f->access_B == 4);
    assert_true(f->gpu_va == (uint64_t)(uintptr_t)a + 268);
    assert_int_equal(f->global_id[0], 21);
    assert_int_equal(f->group_id[0], 1);
    assert_int_equal(f->local_id[0], 5);
    assert_true(f->instruction_offset_B >= 0);
    assert_true(f->nearest_count >= 1);
    /* freed memory under a pointer that the kernel was given */
    index = 0;
    arg_value(r, 1, 8, &index);
    runner_ok(r, DIM(4, 1, 1), DIM(16, 1, 1));
    assert_int_equal(a[0], 21);
    runner_free(r, a);
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(16, 1, 1)), -EFAULT);
    assert_int_equal(f->kind, ZS_GPU_FAULT_USE_AFTER_FREE);
    assert_true(f->nearest[0].freed);
    assert_true(f->has_lane && f->is_write && f->access_B == 4);
    assert_true(f->gpu_va == (uint64_t)(uintptr_t)a);
    assert_int_equal(f->global_id[0], 21);
    arg_buffer(r, 0, NULL);
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(16, 1, 1)), -EFAULT);
    assert_int_equal(f->kind, ZS_GPU_FAULT_NULL_POINTER);
    r->flags = 0;
}

static void read_only_memory(void **state)
{
    struct runner *r = &shared;
    int *a = runner_alloc(r, 256, ZS_GPU_ALLOCATION_READ_ONLY);
    int64_t index = 0;
    runner_kernel(r, "out_of_bounds");
    arg_buffer(r, 0, a);
    arg_value(r, 1, 8, &index);
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(16, 1, 1)), -EFAULT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_READ_ONLY);
    assert_int_equal(a[0], 0);
    runner_free(r, a);
}

struct node {
    struct node *next;
    int value;
};

static void pointers_in_memory(void **state)
{
    struct runner *r = &shared;
    enum { N = 20 };
    struct node *nodes[N], *wild;
    int *out = runner_alloc(r, 64, 0);
    for (int i = 0; i < N; i++)
        nodes[i] = runner_alloc(r, sizeof(struct node), 0);
    for (int i = 0; i < N; i++) {
        nodes[i]->next = i + 1 < N ? nodes[i + 1] : NULL;
        nodes[i]->value = i * i;
    }
    runner_kernel(r, "chase");
    arg_buffer(r, 0, nodes[0]);
    arg_buffer(r, 1, out);
    runner_ok(r, DIM(1, 1, 1), DIM(16, 1, 1));
    for (int i = 0; i < 16; i++)
        assert_int_equal(out[i], (N - 1) * N * (2 * N - 1) / 6);
    wild = (struct node *)(uintptr_t)0x123456789000;
    nodes[7]->next = wild;
    assert_int_equal(runner_launch(r, DIM(1, 1, 1), DIM(16, 1, 1)), -EFAULT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_OUT_OF_BOUNDS);
    assert_false(r->result.fault.is_write);
    for (int i = 0; i < N; i++)
        runner_free(r, nodes[i]);
    runner_free(r, out);
}

static void never_written_memory(void **state)
{
    struct runner *r = &shared;
    enum { N = 64 };
    float *x = runner_alloc(r, N * 4, ZS_GPU_ALLOCATION_TRACK_WRITES);
    float *y = runner_alloc(r, N * 4, ZS_GPU_ALLOCATION_TRACK_WRITES), a = 1;
    runner_kernel(r, "saxpy");
    arg_buffer(r, 0, x);
    arg_buffer(r, 1, y);
    arg_value(r, 2, 4, &a);
    runner_ok(r, DIM(2, 1, 1), DIM(16, 1, 1)); /* not asked for; writes half of y */
    r->flags = ZS_GPU_LAUNCH_CHECK_UNWRITTEN;
    assert_int_equal(runner_launch(r, DIM(2, 1, 1), DIM(16, 1, 1)), -EFAULT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_UNWRITTEN);
    zs_gpu_memory_mark_written(r->memory, (uint64_t)(uintptr_t)x, N * 4);
    runner_ok(r, DIM(2, 1, 1), DIM(16, 1, 1));
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(16, 1, 1)), -EFAULT);
    assert_true(r->result.fault.gpu_va >= (uint64_t)(uintptr_t)(y + 32));
    r->flags = 0;
    runner_free(r, x);
    runner_free(r, y);
}

/* Of groups that run one behind the other the last one faults. */
static void late_groups_fault(void **state)
{
    struct runner *r = &shared;
    enum { GROUPS = 256, GROUP = 16 };
    float *x = runner_alloc(r, GROUPS * GROUP * 4, 0);
    float *y = runner_alloc(r, (GROUPS - 1) * GROUP * 4, 0), a = 1;
    runner_kernel(r, "saxpy");
    arg_buffer(r, 0, x);
    arg_buffer(r, 1, y);
    arg_value(r, 2, 4, &a);
    for (int i = 0; i < GROUPS * GROUP; i++)
        x[i] = (float)i;
    memset(y, 0, (GROUPS - 1) * GROUP * 4);
    r->flags = ZS_GPU_LAUNCH_CHECK_SURFACES;
    assert_int_equal(runner_launch(r, DIM(GROUPS, 1, 1), DIM(GROUP, 1, 1)), -EFAULT);
    assert_int_equal(r->result.fault.group_id[0], GROUPS - 1);
    runner_ok(r, DIM(GROUPS - 1, 1, 1), DIM(GROUP, 1, 1));
    r->flags = 0;
    for (int i = 0; i < (GROUPS - 1) * GROUP; i++)
        assert_true(y[i] == (float)i || y[i] == 2 * (float)i);
    runner_free(r, x);
    runner_free(r, y);
}

static void *cancel_later(void *arg)
{
    struct timespec wait = {.tv_nsec = 20000000};
    nanosleep(&wait, NULL);
    atomic_store((_Atomic(bool) *)arg, true);
    return NULL;
}

static void endless_kernels_are_stopped(void **state)
{
    struct runner *r = &shared;
    int *flag = runner_alloc(r, 64, 0);
    runner_kernel(r, "endless");
    arg_buffer(r, 0, flag);
    r->time_limit_ns = 20000000;
    assert_int_equal(runner_launch(r, DIM(100, 1, 1), DIM(32, 1, 1)), -ETIMEDOUT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_TIMEOUT);
    r->time_limit_ns = 0;
    _Atomic(bool) cancel = false;
    r->cancel = &cancel;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, &cancel), 0);
    assert_int_equal(runner_launch(r, DIM(100, 1, 1), DIM(32, 1, 1)), -ECANCELED);
    pthread_join(thread, NULL);
    r->cancel = NULL;
    *flag = 1;
    runner_ok(r, DIM(100, 1, 1), DIM(32, 1, 1));
    runner_free(r, flag);
}

static void groups_that_wait_for_each_other(void **state)
{
    struct runner *r = &shared;
    int *arrived = runner_alloc(r, 64, 0), groups = 10;
    runner_kernel(r, "grid_wait");
    arg_buffer(r, 0, arrived);
    arg_value(r, 1, 4, &groups);
    r->flags = ZS_GPU_LAUNCH_COOPERATIVE;
    r->time_limit_ns = 30000000000;
    runner_ok(r, DIM(10, 1, 1), DIM(64, 1, 1));
    assert_int_equal(*arrived, 10);
    r->flags = 0;
    *arrived = 0;
    runner_ok(r, DIM(10, 1, 1), DIM(64, 1, 1)); /* as hardware does without being asked */
    r->time_limit_ns = 0;
    runner_free(r, arrived);
}

static void broken_groups(void **state)
{
    struct runner *r = &shared;
    enum { SIZE = 64 };
    int *out = runner_alloc(r, 4 * SIZE * 4, 0), at = SIZE;
    runner_kernel(r, "lonely_barrier");
    arg_buffer(r, 0, out);
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(SIZE, 1, 1)), -EFAULT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_BARRIER);
    /* the thread that waits, and where */
    assert_true(r->result.fault.instruction_offset_B > 0);
    assert_true(r->result.fault.has_lane);
    runner_kernel(r, "local_overrun");
    arg_buffer(r, 0, out);
    arg_local(r, 1, SIZE * 4);
    arg_value(r, 2, 4, &at);
    assert_int_equal(runner_launch(r, DIM(4, 1, 1), DIM(SIZE, 1, 1)), -EFAULT);
    assert_int_equal(r->result.fault.kind, ZS_GPU_FAULT_SLM);
    assert_false(r->result.fault.is_write);
    at = 0;
    arg_value(r, 2, 4, &at);
    runner_ok(r, DIM(4, 1, 1), DIM(SIZE, 1, 1));
    runner_free(r, out);
}

static int call_reference(int n, int depth)
{
    int sum = n;
    for (int i = 0; i < depth; i++)
        sum = (int)((uint32_t)sum * 3 + (uint32_t)((sum ^ i) % 7));
    return sum;
}

static void function_calls(void **state)
{
    struct runner *r = &shared;
    enum { N = 200 };
    int *out = runner_alloc(r, N * 4, 0), depth = 9;
    runner_kernel(r, "calls");
    arg_buffer(r, 0, out);
    arg_value(r, 1, 4, &depth);
    runner_ok(r, DIM(N / 40, 1, 1), DIM(40, 1, 1));
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i],
                         i & 1 ? call_reference(i, depth) : call_reference(-i, depth + i % 5));
    runner_free(r, out);
}

static void subgroup_block_accesses(void **state)
{
    struct runner *r = &shared;
    enum { N = 256 };
    uint32_t *in = runner_alloc(r, N * 16, 0), *out = runner_alloc(r, N * 16, 0);
    for (uint32_t i = 0; i < N * 4; i++)
        in[i] = i * 17;
    runner_kernel(r, "subgroup_blocks");
    arg_buffer(r, 0, in);
    arg_buffer(r, 1, out);
    runner_ok(r, DIM(N / 64, 1, 1), DIM(64, 1, 1));
    uint32_t simd = zs_gpu_kernel_simd(r->kernel);
    for (uint32_t i = 0; i < N * 4; i++) /* element k of a row of simd items */
        assert_int_equal(out[i], in[i] + 1 + i / simd % 4);
    runner_free(r, in);
    runner_free(r, out);
}

/* ---- counters ----------------------------------------------------------------------------------
 */

static void counts_are_exact(void **state)
{
    skip_unoptimized();
    struct runner *r = &shared;
    enum { N = 1000 };
    int *out = runner_alloc(r, N * 4, 0);
    runner_kernel(r, "diverge");
    uint32_t simd = zs_gpu_kernel_simd(r->kernel);
    arg_buffer(r, 0, out);
    for (int i = 0; i < 3; i++)
        runner_ok(r, DIM(N / 100, 1, 1), DIM(100, 1, 1));
    uint64_t threads = N / 100 * ((100 + simd - 1) / simd), writes = 0, lanes = 0, instructions = 0;
    assert_int_equal(r->result.totals.untyped_bytes_written, N);
    assert_int_equal(r->result.totals.threads, threads);
    size_t count = zs_gpu_counters_size(r->counters);
    struct zs_gpu_instruction_count *rows = calloc(count, sizeof(*rows));
    assert_int_equal(zs_gpu_counters_read(r->counters, rows, count), count);
    assert_int_equal(rows[0].offset_B, 0);
    assert_int_equal(rows[0].executions, 3 * threads);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || rows[i].offset_B > rows[i - 1].offset_B);
        writes += rows[i].bytes_written;
        instructions += rows[i].executions;
        if (rows[i].bytes_written)
            lanes += rows[i].active_lanes;
    }
    assert_int_equal(writes, 3 * N);
    assert_int_equal(lanes, 3 * N / 4);
    assert_int_equal(instructions, 3 * r->result.totals.instructions);
    zs_gpu_counters_reset(r->counters);
    assert_int_equal(zs_gpu_counters_read(r->counters, rows, count), count);
    assert_int_equal(rows[0].executions, 0);
    free(rows);
    runner_free(r, out);
}

/* ---- several launches at once ------------------------------------------------------------------
 */

static void *launch_many(void *arg)
{
    struct runner *r = arg;
    for (int i = 0; i < 20; i++)
        runner_ok(r, DIM(50, 1, 1), DIM(64, 1, 1));
    return NULL;
}

static void launches_at_once(void **state)
{
    enum { THREADS = 4, N = 3200 };
    struct runner r[THREADS];
    pthread_t threads[THREADS];
    float *x[THREADS], *y[THREADS], a = 1;
    for (int t = 0; t < THREADS; t++) {
        memset(&r[t], 0, sizeof(r[t]));
        r[t].module = shared.module;
        r[t].image = shared.image;
        r[t].device = shared.device;
        r[t].memory = shared.memory;
        x[t] = runner_alloc(&r[t], N * 4, 0);
        y[t] = runner_alloc(&r[t], N * 4, 0);
        for (int i = 0; i < N; i++)
            x[t][i] = (float)(t + 1);
        runner_kernel(&r[t], "saxpy");
        arg_buffer(&r[t], 0, x[t]);
        arg_buffer(&r[t], 1, y[t]);
        arg_value(&r[t], 2, 4, &a);
    }
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, launch_many, &r[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < N; i++)
            assert_true(y[t][i] == (float)(20 * (t + 1)));
        runner_drop_kernel(&r[t]);
        runner_free(&r[t], x[t]);
        runner_free(&r[t], y[t]);
    }
}

static void odd_launches(void **state)
{
    struct runner *r = &shared;
    runner_kernel(r, "empty");
    runner_ok(r, DIM(1, 1, 1), DIM(1, 1, 1));
    assert_int_equal(r->result.totals.threads, 1);
    runner_ok(r, DIM(0, 1, 1), DIM(1, 1, 1));
    assert_int_equal(r->result.totals.threads, 0);
    assert_int_equal(runner_launch(r, DIM(1, 1, 1), DIM(257, 1, 1)), -EINVAL);
    assert_int_equal(runner_launch(r, DIM(1, 1, 1), DIM(0, 1, 1)), -EINVAL);
    assert_int_equal(runner_launch(r, DIM(UINT32_MAX, UINT32_MAX, 9), DIM(1, 1, 1)), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy),
        cmocka_unit_test(work_item_functions),
        cmocka_unit_test(barriers_and_local_memory),
        cmocka_unit_test(several_local_arguments),
        cmocka_unit_test(atomic_operations),
        cmocka_unit_test(private_arrays),
        cmocka_unit_test(too_little_private_memory),
        cmocka_unit_test(struct_arguments),
        cmocka_unit_test(small_types_and_vectors),
        cmocka_unit_test(structures_of_lanes),
        cmocka_unit_test(volumes),
        cmocka_unit_test(program_scope_variables),
        cmocka_unit_test(printing),
        cmocka_unit_test(image_copy),
        cmocka_unit_test(image_sampling),
        cmocka_unit_test(image_volumes_and_arrays),
        cmocka_unit_test(out_of_bounds_is_reported),
        cmocka_unit_test(read_only_memory),
        cmocka_unit_test(pointers_in_memory),
        cmocka_unit_test(never_written_memory),
        cmocka_unit_test(late_groups_fault),
        cmocka_unit_test(endless_kernels_are_stopped),
        cmocka_unit_test(groups_that_wait_for_each_other),
        cmocka_unit_test(broken_groups),
        cmocka_unit_test(function_calls),
        cmocka_unit_test(subgroup_block_accesses),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(launches_at_once),
        cmocka_unit_test(odd_launches),
    };
    if (!getenv("ZS_TEST_KERNELS")) {
        fprintf(stderr, "ZS_TEST_KERNELS: the kernels that ocloc made\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_shared, close_shared);
}
