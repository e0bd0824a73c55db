/* SPDX-License-Identifier: MIT */
/*
 * Cooperative launches: all groups run at once, whatever the number of host threads and whoever of
 * them really helps, and no two live threads share a number (which selects their private memory).
 */
#include "runner.h"

#include "base/sanitizer.h"
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <pthread.h>

enum { LIMIT_S = 60 };

/* Helpers that never come: the pool counts as started and has no thread. */
static void without_help(struct zs_gpu_device *device)
{
    device->started = true;
}

static uint32_t most_groups(const struct runner *r, uint32_t items)
{
    uint32_t simd = zs_gpu_kernel_simd(r->kernel), threads = (items + simd - 1) / simd;
    return zs_gpu_model_threads(zs_gpu_device_model(r->device)) / threads;
}

/* As many groups as fit; each work-item finds its own array again after all have met. */
static void launch_most(struct runner *r, int *arrived, int *out, uint32_t items)
{
    int groups = (int)most_groups(r, items);
    *arrived = 0;
    memset(out, 0, (size_t)groups * items * sizeof(int));
    arg_buffer(r, 0, arrived);
    arg_value(r, 1, 4, &groups);
    arg_buffer(r, 2, out);
    r->flags = ZS_GPU_LAUNCH_COOPERATIVE;
    r->time_limit_ns = LIMIT_S * 1000000000ull;
    runner_ok(r, DIM((uint32_t)groups, 1, 1), DIM(items, 1, 1));
    assert_int_equal(*arrived, groups);
    for (int i = 0; i < groups * (int)items; i++)
        assert_int_equal(out[i], 64);
}

static void run_kernel(const char *kernel, const char *model, uint32_t workers, bool helped,
                       const uint32_t *items, uint32_t count)
{
    struct runner r;
    runner_open_model(&r, getenv("ZS_TEST_KERNELS"), model, workers);
    if (!helped)
        without_help(r.device);
    runner_kernel(&r, kernel);
    int *arrived = runner_alloc(&r, 64, 0);
    int *out = runner_alloc(&r, 504 * 32 * sizeof(int), 0);
    for (uint32_t i = 0; i < count; i++)
        launch_most(&r, arrived, out, items[i]);
    runner_free(&r, arrived);
    runner_free(&r, out);
    runner_close(&r);
}

static void run_model(const char *model, uint32_t workers, bool helped, const uint32_t *items,
                      uint32_t count)
{
    run_kernel("resident", model, workers, helped, items, count);
}

/* No group's turn lasts until it ends. */
static void barriers_in_the_loop_that_polls(void **state)
{
    static const uint32_t items[] = {64, 256};
    for (uint32_t workers = 1; workers <= 4; workers++) {
        run_kernel("grid_polls", "skl", workers, false, items, ZS_ARRAY_LEN(items));
        run_kernel("grid_polls", "skl", workers, true, items, ZS_ARRAY_LEN(items));
    }
}

#if !ZS_HAS_TSAN /* these need one thread, of which it finds nothing */
/* Each number with ZS_TEST_ALL; otherwise small ones, and some of the others. */
static void any_number_of_workers(void **state)
{
    static const uint32_t items[] = {64, 128};
    const uint32_t step = getenv("ZS_TEST_ALL") ? 1 : 11;
    for (uint32_t workers = 1; workers <= 255; workers += workers < 24 ? 1 : step)
        run_model("skl", workers, false, items, workers <= 24 ? 2 : 1);
}

static void sizes_that_do_not_divide(void **state)
{
    static const uint32_t items[] = {8, 24, 40, 96, 104, 200, 256};
    for (uint32_t workers = 1; workers <= 64; workers = workers * 2 + 1) {
        run_model("skl", workers, false, items, ZS_ARRAY_LEN(items));
        run_model("bxt", workers, false, items, ZS_ARRAY_LEN(items));
    }
}

/* 504 threads, and nine bits for their numbers. */
static void the_largest_model(void **state)
{
    static const uint32_t items[] = {8, 40, 256};
    for (uint32_t workers = 1; workers <= 255; workers = workers * 3 + 1)
        run_model("skl-gt4", workers, false, items, ZS_ARRAY_LEN(items));
}

#endif

static void with_helpers(void **state)
{
    static const uint32_t items[] = {64, 128};
    static const uint32_t workers[] = {1, 2, 4, 9};
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(workers); i++) {
        run_model("skl", workers[i], true, items, ZS_ARRAY_LEN(items));
        run_model("skl-gt4", workers[i], true, items, ZS_ARRAY_LEN(items));
    }
}

struct hog {
    struct runner r;
    int *flag;
    uint32_t groups;
    struct zs_gpu_result result;
};

/* A kernel of another queue that has all helpers and does not let them go. */
static void *run_hog(void *arg)
{
    struct hog *hog = arg;
    struct zs_gpu_launch launch = {.kernel = hog->r.kernel,
                                   .args = hog->r.args,
                                   .memory = hog->r.memory,
                                   .group_count = {hog->groups, 1, 1},
                                   .group_size = {64, 1, 1}};
    assert_int_equal(zs_gpu_launch_run(hog->r.device, &launch, &hog->result), 0);
    return NULL;
}

/* Until some helper runs it. */
static void start_hog(struct hog *hog, uint32_t groups, pthread_t *ret_thread)
{
    runner_open(&hog->r, getenv("ZS_TEST_KERNELS"), 3);
    runner_kernel(&hog->r, "endless");
    hog->groups = groups;
    hog->flag = runner_alloc(&hog->r, 64, 0);
    arg_buffer(&hog->r, 0, hog->flag);
    assert_int_equal(pthread_create(ret_thread, NULL, run_hog, hog), 0);
    bool busy = false;
    while (!busy) {
        sched_yield();
        pthread_mutex_lock(&hog->r.device->lock);
        busy = hog->r.device->jobs && hog->r.device->jobs->helpers_running > 0;
        busy = busy || (hog->r.device->started && !hog->r.device->jobs);
        pthread_mutex_unlock(&hog->r.device->lock);
    }
}

static void end_hog(struct hog *hog, pthread_t thread)
{
    __atomic_store_n(hog->flag, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    runner_free(&hog->r, hog->flag);
    runner_close(&hog->r);
}

/* Where its threads know nothing of each other. */
static void helpers_of_one_group(void **state)
{
    struct hog hog;
    pthread_t thread;
    start_hog(&hog, 1, &thread);
    end_hog(&hog, thread);
    assert_int_equal(hog.result.totals.groups, 1);
    assert_in_range(hog.result.totals.threads, 2, 8);
}

static void helpers_of_another_launch(void **state)
{
    struct hog hog;
    pthread_t thread;
    start_hog(&hog, 8, &thread);
    /* its kernels, on the device of the other one */
    struct runner r;
    runner_open(&r, getenv("ZS_TEST_KERNELS"), 1);
    struct zs_gpu_device *own = r.device;
    r.device = hog.r.device;
    runner_kernel(&r, "resident");
    int *arrived = runner_alloc(&r, 64, 0), *out = runner_alloc(&r, 168 * 32 * sizeof(int), 0);
    launch_most(&r, arrived, out, 64);
    launch_most(&r, arrived, out, 128);
    runner_free(&r, arrived);
    runner_free(&r, out);
    runner_drop_kernel(&r);
    r.device = own;
    runner_close(&r);
    end_hog(&hog, thread);
}

/* More groups than there are numbers is an error, and no launch that hangs or shares them. */
static void too_many_to_be_resident(void **state)
{
    struct runner r;
    runner_open(&r, getenv("ZS_TEST_KERNELS"), 2);
    runner_kernel(&r, "private_array");
    if (zs_gpu_kernel_private_B(r.kernel)) {
        int *in = runner_alloc(&r, 513 * 32 * 4, 0), *out = runner_alloc(&r, 513 * 32 * 4, 0);
        int rounds = 1;
        arg_buffer(&r, 0, in);
        arg_buffer(&r, 1, out);
        arg_value(&r, 2, 4, &rounds);
        r.flags = ZS_GPU_LAUNCH_COOPERATIVE;
        assert_int_equal(runner_launch(&r, DIM(513, 1, 1), DIM(8, 1, 1)), -EINVAL);
        assert_int_equal(runner_launch(&r, DIM(512, 1, 1), DIM(8, 1, 1)), 0);
        r.flags = 0;
        assert_int_equal(runner_launch(&r, DIM(513, 1, 1), DIM(8, 1, 1)), 0);
        runner_free(&r, in);
        runner_free(&r, out);
    }
    runner_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if !ZS_HAS_TSAN
        cmocka_unit_test(any_number_of_workers),
        cmocka_unit_test(sizes_that_do_not_divide),
        cmocka_unit_test(the_largest_model),
#endif
        cmocka_unit_test(with_helpers),
        cmocka_unit_test(helpers_of_another_launch),
        cmocka_unit_test(helpers_of_one_group),
        cmocka_unit_test(too_many_to_be_resident),
        cmocka_unit_test(barriers_in_the_loop_that_polls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
