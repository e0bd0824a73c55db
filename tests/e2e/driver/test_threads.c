/* SPDX-License-Identifier: MIT */
/* Several threads, several queues, several devices at once. */
#include "kernels.h"

#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED false
#endif

enum { THREADS = 6, ROUNDS = 20, N = 512 };

struct job {
    struct e2e e;
    ze_module_handle_t module;
    uint32_t index;
    int wrong;
};

static void *run_job(void *arg)
{
    struct job *job = arg;
    struct e2e *e = &job->e;
    ze_kernel_handle_t kernel = kernel_of(job->module, "vecadd");
    ze_event_pool_handle_t pool = e2e_pool(e, 2, 0);
    ze_event_handle_t copied = e2e_event(pool, 0), done = e2e_event(pool, 1);
    ze_command_list_handle_t list = e2e_immediate(e, job->index % 2);
    for (int round = 0; round < ROUNDS; round++) {
        float *p[3], *in = malloc(N * sizeof(float)), *out = malloc(N * sizeof(float));
        for (uint32_t i = 0; i < 3; i++) {
            p[i] = e2e_alloc(e, N * sizeof(float));
            set(kernel, i, sizeof(void *), &p[i]);
        }
        for (int i = 0; i < N; i++)
            in[i] = (float)(i + round) + (float)job->index * 0.5f;
        OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
        ze_group_count_t groups = {N / 64, 1, 1};
        OK(zeCommandListAppendMemoryCopy(list, p[0], in, N * sizeof(float), NULL, 0, NULL));
        OK(zeCommandListAppendMemoryCopy(list, p[1], in, N * sizeof(float), copied, 0, NULL));
        OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 1, &copied));
        OK(zeCommandListAppendMemoryCopy(list, out, p[2], N * sizeof(float), done, 0, NULL));
        OK(zeEventHostSynchronize(done, UINT64_MAX));
        for (int i = 0; i < N; i++)
            job->wrong += out[i] != 2 * in[i];
        OK(zeEventHostReset(done));
        OK(zeEventHostReset(copied));
        for (int i = 0; i < 3; i++)
            OK(zeMemFree(e->context, p[i]));
        free(in);
        free(out);
    }
    OK(zeCommandListDestroy(list));
    OK(zeEventDestroy(copied));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeKernelDestroy(kernel));
    return NULL;
}

static void test_threads(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 2;
    ze_device_handle_t devices[2];
    OK(zeDeviceGet(e->driver, &count, devices));
    struct e2e on[2] = {*e, *e};
    ze_module_handle_t modules[2];
    for (uint32_t i = 0; i < 2; i++) {
        on[i].device = devices[i < count ? i : 0];
        modules[i] = make_module(&on[i], "kernels.bin");
    }
    struct job jobs[THREADS] = {0};
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.e = on[i % 2], .module = modules[i % 2], .index = i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].wrong, 0);
    }
    OK(zeModuleDestroy(modules[0]));
    OK(zeModuleDestroy(modules[1]));
}

/* A chain over the queues of two devices. */
static void test_devices(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 2;
    ze_device_handle_t devices[2];
    OK(zeDeviceGet(e->driver, &count, devices));
    assert_int_equal(count, 2);
    ze_device_properties_t props[2] = {{.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES},
                                       {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES}};
    struct e2e on[2] = {*e, *e};
    ze_module_handle_t modules[2];
    ze_kernel_handle_t kernels[2];
    ze_command_list_handle_t lists[2];
    ze_event_pool_handle_t pool = e2e_pool(e, 10, 0);
    ze_event_handle_t events[10];
    int *sum = e2e_alloc(e, 4);
    *sum = 0;
    for (uint32_t i = 0; i < 2; i++) {
        on[i].device = devices[i];
        OK(zeDeviceGetProperties(devices[i], &props[i]));
        modules[i] = make_module(&on[i], "kernels.bin");
        kernels[i] = kernel_of(modules[i], "add_atomic");
        lists[i] = e2e_immediate(&on[i], false);
        set(kernels[i], 0, sizeof(sum), &sum);
        OK(zeKernelSetGroupSize(kernels[i], 16, 1, 1));
    }
    assert_memory_not_equal(props[0].uuid.id, props[1].uuid.id, sizeof(props[0].uuid.id));
    for (uint32_t i = 0; i < 10; i++)
        events[i] = e2e_event(pool, i);
    ze_group_count_t groups = {4, 1, 1};
    for (uint32_t i = 1; i < 10; i++)
        OK(zeCommandListAppendLaunchKernel(lists[i % 2], kernels[i % 2], &groups, events[i], 1,
                                           &events[i - 1]));
    FAILS(zeEventHostSynchronize(events[9], 3000000), ZE_RESULT_NOT_READY);
    assert_int_equal(*(volatile int *)sum, 0);
    OK(zeEventHostSignal(events[0]));
    OK(zeEventHostSynchronize(events[9], UINT64_MAX));
    assert_int_equal(*sum, 9 * 64);
    for (uint32_t i = 0; i < 2; i++) {
        OK(zeCommandListDestroy(lists[i]));
        OK(zeKernelDestroy(kernels[i]));
        OK(zeModuleDestroy(modules[i]));
    }
    for (uint32_t i = 0; i < 10; i++)
        OK(zeEventDestroy(events[i]));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, sum));
}

static void *launch_first(void *arg)
{
    struct job *job = arg;
    ze_kernel_handle_t kernel = kernel_of(job->module, "add_atomic");
    ze_command_list_handle_t list = e2e_immediate(&job->e, true);
    const ze_group_count_t groups = {4, 1, 1};
    int *sum = e2e_alloc(&job->e, 64);
    *sum = 0;
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    job->wrong = *sum != 128;
    OK(zeMemFree(job->e.context, sum));
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(kernel));
    return NULL;
}

/* The first launch of a process, on a thread that has as little as there is. A sanitizer's frames
 * are larger. */
static void test_small_stack(void **state)
{
    struct e2e *e = *state;
    struct job job = {.e = *e, .module = make_module(e, "kernels.bin")};
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    const char *through = getenv("E2E_THROUGH");
    if (!IS_SANITIZED && through && strcmp(through, "direct") == 0)
        assert_int_equal(pthread_attr_setstacksize(&small, 16384), 0);
    assert_int_equal(pthread_create(&thread, &small, launch_first, &job), 0);
    pthread_join(thread, NULL);
    assert_int_equal(job.wrong, 0);
    pthread_attr_destroy(&small);
    OK(zeModuleDestroy(job.module));
}

int main(int argc, char **argv)
{
    setenv("ZESCOPE_DEVICES", "skl,skl", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_stack), /* first */
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
