/* SPDX-License-Identifier: MIT */
/*
 * Races are found by one worker and by several alike: kernels of races.cl, many groups of them; and
 * those of two groups that run long enough to meet, which are found by comparing workers alone.
 */
#include "base/sanitizer.h"
#include "gpu/gpu_priv.h"
#include "runner.h"

#include <stdio.h>

enum { ARRAY_B = 65536 * 4, FOUND_MAX = 64, ITEMS = 64 };

static const char *path;

/* Pairs of instructions, in order, each with what is said of it. */
struct found {
    const struct zs_gpu_kernel *kernel;
    char pairs[FOUND_MAX][80];
    uint32_t count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* A message that is two: the first of them. */
static uint32_t offset_of(const struct zs_gpu_kernel *kernel, const struct zs_gpu_site *site)
{
    uint32_t i = 0, offset_B = (uint32_t)site->instruction_offset_B + kernel->entry_B;
    while (i < kernel->instruction_count && kernel->instructions[i].offset_B != offset_B)
        i++;
    assert_true(i < kernel->instruction_count);
    return kernel->instructions[kernel->instructions[i].half_of].offset_B;
}

static void note_found(void *context, const struct zs_gpu_finding *f)
{
    struct found *found = context;
    bool is_turned = offset_of(found->kernel, &f->site[0]) > offset_of(found->kernel, &f->site[1]);
    const struct zs_gpu_site *low = &f->site[is_turned], *high = &f->site[!is_turned];
    assert_true(found->count < FOUND_MAX);
    assert_int_equal(f->site_count, 2);
    snprintf(found->pairs[found->count++], sizeof(found->pairs[0]),
             "kind %u note %u: %x %d%d, %x %d%d", (unsigned)f->kind, (unsigned)f->note,
             offset_of(found->kernel, low), low->is_write, low->is_atomic,
             offset_of(found->kernel, high), high->is_write, high->is_atomic);
}

static void find(struct runner *r, uint32_t workers, uint32_t groups, struct found *ret)
{
    void *arrays[2];
    r->device->worker_limit = workers - 1;
    for (uint32_t i = 0; i < 2; i++) {
        arrays[i] = runner_alloc(r, ARRAY_B, 0);
        arg_buffer(r, i, arrays[i]);
    }
    struct zs_gpu_launch launch = {.kernel = r->kernel,
                                   .args = r->args,
                                   .memory = r->memory,
                                   .flags = ZS_GPU_LAUNCH_CHECK_RACES | ZS_GPU_LAUNCH_PIN_ALL,
                                   .group_count = {groups, 1, 1},
                                   .group_size = {ITEMS, 1, 1},
                                   .found = note_found,
                                   .found_context = ret};
    memset(ret, 0, sizeof(*ret));
    ret->kernel = r->kernel;
    assert_int_equal(zs_gpu_launch_run(r->device, &launch, &r->result), 0);
    qsort(ret->pairs, ret->count, sizeof(ret->pairs[0]), compare);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ret->count; i++) { /* those of both halves are one */
        if (!i || strcmp(ret->pairs[i], ret->pairs[kept - 1]) != 0)
            memmove(ret->pairs[kept++], ret->pairs[i], sizeof(ret->pairs[0]));
    }
    ret->count = kept;
    for (uint32_t i = 0; i < 2; i++)
        runner_free(r, arrays[i]);
}

/* Thread sanitizers look at stores of bytes, which are calls of memcpy(). */
static void check(struct runner *r, const char *kernel, uint32_t groups)
{
    static const uint32_t workers[] = {2, 3, 8};
    struct found alone, some;
    if (ZS_HAS_TSAN && (strstr(kernel, "chars") || strstr(kernel, "bytes")))
        return;
    runner_kernel(r, kernel);
    find(r, 1, groups, &alone);
    for (uint32_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
        find(r, workers[i], groups, &some);
        for (uint32_t k = 0; k < some.count || k < alone.count; k++) {
            if (k >= some.count || k >= alone.count || strcmp(some.pairs[k], alone.pairs[k]) != 0)
                fail_msg("%s of %u groups, %u workers: %s, one: %s", kernel, groups, workers[i],
                         some.pairs[k], alone.pairs[k]);
        }
    }
}

static void test_many_groups(void **state)
{
    static const char *const kernels[] = {
        "global_groups",  "global_neighbour",  "local_no_barrier", "local_reuse",
        "one_send",       "atomic_plain",      "late_zero",        "chars",
        "read_by_all",    "in_place",          "vectors",          "fine_same",
        "fine_own",       "fine_chars",        "fine_reduction",   "fine_reuse",
        "fine_histogram", "fine_last_group",   "fine_flags",       "fine_lock",
        "fine_partial",   "fine_compare_loop", "same_table"};
    struct runner r;
    (void)state;
    runner_open(&r, path, 7);
    r.kernel_flags = ZS_GPU_KERNEL_MESSAGES;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        check(&r, kernels[i], 128);
    runner_close(&r);
}

static void test_two_groups(void **state)
{
    static const char *const kernels[] = {
        "apart_write",     "apart_read", "apart_in_place",       "apart_atomic", "apart_bytes",
        "apart_scattered", "apart_same", "apart_same_scattered", "apart_guess",  "apart_fine"};
    struct runner r;
    (void)state;
    runner_open(&r, path, 7);
    r.kernel_flags = ZS_GPU_KERNEL_MESSAGES;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        check(&r, kernels[i], 2);
    runner_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_groups),
                                       cmocka_unit_test(test_two_groups)};
    path = getenv("ZS_TEST_KERNELS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
