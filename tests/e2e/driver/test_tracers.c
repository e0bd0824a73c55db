/* SPDX-License-Identifier: MIT */
/* zetTracerExp*: pairs, changed parameters, no self-tracing, and a storm of threads. */
#include "../../unit/test.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static int setup(void **state)
{
    uint32_t one = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    return zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
           zeContextCreate(driver, &desc, &context);
}

static int teardown(void **state)
{
    return zeContextDestroy(context) != ZE_RESULT_SUCCESS;
}

struct seen {
    atomic_int entered, left;
    size_t size;
    atomic_int result;
    bool nest;
};

static void on_enter(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user,
                     void **instance)
{
    struct seen *seen = user;
    atomic_fetch_add(&seen->entered, 1);
    assert_null(*instance);
    *instance = seen;
    if (seen->size)
        *params->psize = seen->size;
    if (seen->nest) { /* a call of our own: not traced again */
        void *p;
        ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
        assert_int_equal(zeMemAllocHost(context, &desc, 64, 64, &p), ZE_RESULT_SUCCESS);
        assert_int_equal(zeMemFree(context, p), ZE_RESULT_SUCCESS);
    }
}

static void on_leave(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user,
                     void **instance)
{
    struct seen *seen = user;
    assert_ptr_equal(*instance, seen);
    atomic_store(&seen->result, (int)result);
    atomic_fetch_add(&seen->left, 1);
}

static zet_tracer_exp_handle_t make(struct seen *seen)
{
    zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, .pUserData = seen};
    zet_tracer_exp_handle_t tracer;
    zet_core_callbacks_t enter = {0}, leave = {0};
    enter.Mem.pfnAllocHostCb = on_enter;
    leave.Mem.pfnAllocHostCb = on_leave;
    assert_int_equal(zetTracerExpCreate(context, &desc, &tracer), ZE_RESULT_SUCCESS);
    assert_int_equal(zetTracerExpSetPrologues(tracer, &enter), ZE_RESULT_SUCCESS);
    assert_int_equal(zetTracerExpSetEpilogues(tracer, &leave), ZE_RESULT_SUCCESS);
    return tracer;
}

static size_t allocate(size_t size)
{
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p = NULL, *base = NULL;
    size_t got = 0;
    if (zeMemAllocHost(context, &desc, size, 64, &p))
        return 0;
    assert_int_equal(zeMemGetAddressRange(context, p, &base, &got), ZE_RESULT_SUCCESS);
    assert_int_equal(zeMemFree(context, p), ZE_RESULT_SUCCESS);
    return got;
}

static void parameters_change_and_pairs_hold(void **state)
{
    struct seen seen = {.size = 1 << 20, .nest = true};
    zet_tracer_exp_handle_t tracer = make(&seen);
    zet_core_callbacks_t none = {0};
    allocate(64);
    assert_int_equal(seen.entered, 0);
    assert_int_equal(zetTracerExpSetEnabled(tracer, 1), ZE_RESULT_SUCCESS);
    assert_int_equal(zetTracerExpSetPrologues(tracer, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_true(allocate(64) >= 1 << 20);
    assert_int_equal(seen.entered, 1);
    assert_int_equal(seen.left, 1);
    assert_int_equal(seen.result, ZE_RESULT_SUCCESS);
    assert_int_equal(zetTracerExpSetEnabled(tracer, 0), ZE_RESULT_SUCCESS);
    assert_true(allocate(64) < 1 << 20);
    assert_int_equal(seen.entered, 1);
    assert_int_equal(zetTracerExpDestroy(tracer), ZE_RESULT_SUCCESS);
    assert_int_equal(zetTracerExpDestroy(tracer), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void wrong_arguments(void **state)
{
    int user;
    zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, .pUserData = &user};
    zet_tracer_exp_handle_t tracer;
    assert_int_equal(zetTracerExpCreate(context, NULL, &tracer),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zetTracerExpCreate(context, &desc, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zetTracerExpCreate(NULL, &desc, &tracer), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetTracerExpSetEnabled(NULL, 1), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    /* tools may have no data of their own */
    desc.pUserData = NULL;
    assert_int_equal(zetTracerExpCreate(context, &desc, &tracer), ZE_RESULT_SUCCESS);
    assert_int_equal(zetTracerExpDestroy(tracer), ZE_RESULT_SUCCESS);
}

static atomic_bool stop;

static void *caller(void *arg)
{
    while (!atomic_load(&stop))
        allocate(64);
    return NULL;
}

static void storm(void **state)
{
    pthread_t threads[3];
    unsigned seed = 7;
    long pairs = 0;
    atomic_store(&stop, false);
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, caller, NULL);
    for (int round = 0; round < 200 || pairs < 1000; round++) {
        struct seen seen = {.size = 0};
        zet_tracer_exp_handle_t tracer = make(&seen);
        for (int step = rand_r(&seed) % 6; step >= 0; step--) {
            assert_int_equal(zetTracerExpSetEnabled(tracer, rand_r(&seed) % 2 != 0),
                             ZE_RESULT_SUCCESS);
            for (volatile int spin = rand_r(&seed) % 5000; spin > 0; spin--)
                ;
        }
        assert_int_equal(zetTracerExpDestroy(tracer), ZE_RESULT_SUCCESS);
        assert_int_equal(seen.entered, seen.left);
        pairs += seen.left;
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_change_and_pairs_hold),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(storm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
