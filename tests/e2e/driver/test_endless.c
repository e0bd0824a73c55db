/* SPDX-License-Identifier: MIT */
/*
 * Kernels that never end: time limits of waits, the time limit of kernels, and contexts that are
 * destroyed while something runs or waits in them. argv[1]: the kernel of endless.cl; argv[2]:
 * "limit" where ZESCOPE_KERNEL_TIMEOUT is set.
 */
#include "kernels.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { SOON_NS = 5000000, ITEMS = 32 }; /* two threads or more */

static const char *endless_kernel;

struct endless {
    struct e2e e;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    int *p; /* p[0] = 1 ends it, which then sets p[1] */
};

static struct endless open_endless(const struct e2e *e)
{
    struct endless s = {.e = *e};
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &s.e.context));
    s.module = make_module(&s.e, "endless.bin");
    s.kernel = kernel_of(s.module, endless_kernel);
    s.p = e2e_alloc(&s.e, 64);
    memset(s.p, 0, 64);
    set(s.kernel, 0, sizeof(s.p), &s.p);
    OK(zeKernelSetGroupSize(s.kernel, ITEMS, 1, 1));
    return s;
}

/* After the context was destroyed: what was made in it still has handles. */
static void close_endless(struct endless *s)
{
    OK(zeKernelDestroy(s->kernel));
    OK(zeModuleDestroy(s->module));
}

/* The host writes where a kernel looks: memory that both share is coherent, as C's threads have it
 * with atomics alone, which the EU's messages are not. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
__attribute__((no_sanitize("thread"), noinline))
#endif
#endif
static void
tell(int *p)
{
    *(volatile int *)p = 1;
}

static const ze_group_count_t one = {1, 1, 1};

/* Each kind of wait gives up when its time is over, and sees the end when it comes. */
static void test_waits(void **state)
{
    struct endless s = open_endless(*state);
    ze_command_queue_handle_t queue = e2e_queue(&s.e, 0);
    ze_command_list_handle_t list = e2e_list(&s.e, 0);
    ze_event_pool_handle_t pool = e2e_pool(&s.e, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    OK(zeFenceCreate(queue, &fence_desc, &fence));
    OK(zeCommandListAppendLaunchKernel(list, s.kernel, &one, event, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    static const uint64_t times[] = {0, 1, SOON_NS};
    for (size_t i = 0; i < COUNT(times); i++) {
        FAILS(zeCommandQueueSynchronize(queue, times[i]), ZE_RESULT_NOT_READY);
        FAILS(zeFenceHostSynchronize(fence, times[i]), ZE_RESULT_NOT_READY);
        FAILS(zeEventHostSynchronize(event, times[i]), ZE_RESULT_NOT_READY);
    }
    tell(s.p);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX - 1));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeEventHostSynchronize(event, 0));
    assert_int_equal(s.p[1], 1);
    OK(zeFenceDestroy(fence));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    close_endless(&s);
    OK(zeMemFree(s.e.context, s.p));
    OK(zeContextDestroy(s.e.context));
}

/* Two queues and an immediate list run for ever, a third queue waits for an event that nobody
 * signals; handles of some of them are gone already. */
static void test_destroyed_context(void **state)
{
    struct endless s = open_endless(*state);
    ze_command_queue_handle_t queues[3];
    ze_command_list_handle_t lists[3], immediate = e2e_immediate(&s.e, false);
    ze_event_pool_handle_t pool = e2e_pool(&s.e, 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t never = e2e_event(pool, 0), done = e2e_event(pool, 1);
    for (int i = 0; i < 3; i++) {
        queues[i] = e2e_queue(&s.e, 0);
        lists[i] = e2e_list(&s.e, 0);
        if (i < 2)
            OK(zeCommandListAppendLaunchKernel(lists[i], s.kernel, &one, NULL, 0, NULL));
        else
            OK(zeCommandListAppendBarrier(lists[i], done, 1, &never));
        OK(zeCommandListClose(lists[i]));
        OK(zeCommandQueueExecuteCommandLists(queues[i], 1, &lists[i], NULL));
    }
    OK(zeCommandListAppendLaunchKernel(immediate, s.kernel, &one, NULL, 0, NULL));
    FAILS(zeCommandQueueSynchronize(queues[0], SOON_NS), ZE_RESULT_NOT_READY);
    OK(zeCommandListDestroy(lists[1]));
    OK(zeCommandQueueDestroy(queues[1]));
    OK(zeCommandListDestroy(immediate));
    OK(zeContextDestroy(s.e.context));
    FAILS(zeCommandQueueSynchronize(queues[0], UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeCommandQueueSynchronize(queues[2], UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeEventQueryStatus(done), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeCommandQueueExecuteCommandLists(queues[0], 1, &lists[0], NULL),
          ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeEventDestroy(never));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    for (int i = 0; i < 3; i += 2) {
        OK(zeCommandListDestroy(lists[i]));
        OK(zeCommandQueueDestroy(queues[i]));
    }
    close_endless(&s);
}

/* A synchronous call that would never return, from one thread; another destroys the context. */
static void *destroy_soon(void *arg)
{
    struct timespec soon = {.tv_nsec = 30000000};
    nanosleep(&soon, NULL);
    OK(zeContextDestroy(arg));
    return NULL;
}

static void test_destroyed_by_another_thread(void **state)
{
    struct endless s = open_endless(*state);
    ze_command_list_handle_t list = e2e_immediate(&s.e, true);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, destroy_soon, s.e.context), 0);
    FAILS(zeCommandListAppendLaunchKernel(list, s.kernel, &one, NULL, 0, NULL),
          ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(pthread_join(thread, NULL), 0);
    OK(zeCommandListDestroy(list));
    close_endless(&s);
}

/* ZESCOPE_KERNEL_TIMEOUT ends the launch; other work goes on, launches within the limit succeed. */
static void test_limit(void **state)
{
    struct endless s = open_endless(*state);
    struct e2e *e = *state;
    ze_command_queue_handle_t queue = e2e_queue(&s.e, 0);
    ze_command_list_handle_t list = e2e_list(&s.e, 0);
    OK(zeCommandListAppendLaunchKernel(list, s.kernel, &one, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    ze_module_handle_t other = make_module(e, "endless.bin");
    ze_kernel_handle_t add = kernel_of(other, "add_atomic");
    int *q = e2e_alloc(e, 64);
    *q = 0;
    set(add, 0, sizeof(q), &q);
    OK(zeKernelSetGroupSize(add, 32, 1, 1));
    OK(launch(e, add, 4));
    assert_int_equal(*q, 128);
    FAILS(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeContextGetStatus(s.e.context), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeContextGetStatus(e->context));
    /* one that ends in time */
    s.p[0] = 1;
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(s.p[1], 1);
    OK(zeKernelDestroy(add));
    OK(zeModuleDestroy(other));
    OK(zeMemFree(e->context, q));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    close_endless(&s);
    OK(zeMemFree(s.e.context, s.p));
    OK(zeContextDestroy(s.e.context));
}

/* What changes memory elsewhere waits for a slice of the kernel, not for its end. */
static void test_other_memory(void **state)
{
    struct endless s = open_endless(*state);
    ze_command_list_handle_t list = e2e_immediate(&s.e, false);
    void *other = e2e_alloc(&s.e, 4096);
    OK(zeCommandListAppendLaunchKernel(list, s.kernel, &one, NULL, 0, NULL));
    ze_ipc_mem_handle_t handle;
    OK(zeMemGetIpcHandle(s.e.context, other, &handle));
    assert_int_equal(s.p[1], 0);
    *(volatile int *)s.p = 1;
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(s.e.context, other));
    OK(zeMemFree(s.e.context, s.p));
    OK(zeContextDestroy(s.e.context));
    close_endless(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest limited[] = {cmocka_unit_test(test_limit)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_destroyed_context),
        cmocka_unit_test(test_destroyed_by_another_thread),
        cmocka_unit_test(test_other_memory),
    };
    endless_kernel = argv[1];
    return argc > 2 ? cmocka_run_group_tests(limited, e2e_setup, e2e_teardown)
                    : cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
