/* SPDX-License-Identifier: MIT */
/* The driver's extension: exact counts per instruction, and a callback per launch. */
#include "kernels_group.h"

#include <zescope/driver_ext.h>

struct seen {
    uint32_t launches;
    uint64_t groups, lanes, executions, first_append, last_append;
    ze_result_t result;
    char name[32], fault[2048];
    uint32_t instructions;
    bool has_handles;
};

static void on_launch(const zescope_launch_info_t *info, void *user)
{
    struct seen *seen = user;
    assert_int_equal(info->size_B, sizeof(*info));
    seen->launches++;
    if (!seen->first_append)
        seen->first_append = info->append;
    seen->last_append = info->append;
    for (uint32_t i = 0; i < info->total_count; i++)
        if (strcmp(info->total_names[i], "groups") == 0)
            seen->groups += info->totals[i];
    for (uint32_t i = 0; i < info->instruction_count; i++) {
        seen->executions += info->instructions[i].executions;
        seen->lanes += info->instructions[i].active_lanes;
    }
    seen->instructions = info->instruction_count;
    seen->result = info->result;
    seen->has_handles = info->kernel && info->module;
    snprintf(seen->name, sizeof(seen->name), "%s", info->kernel_name);
    snprintf(seen->fault, sizeof(seen->fault), "%s", info->fault ? info->fault : "");
    assert_true(info->start_ns <= info->end_ns && info->start_ticks <= info->end_ticks);
}

static void run_adds(struct e2e *e, ze_kernel_handle_t kernel, uint32_t groups)
{
    int *sum = e2e_alloc(e, 4);
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(launch(e, kernel, groups));
    OK(zeMemFree(e->context, sum));
}

static void test_kernel_counts(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    zescope_pfnKernelGetCounts_t get = NULL;
    zescope_pfnKernelResetCounts_t reset = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_KERNEL_GET_COUNTS_NAME,
                                           (void **)&get));
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_KERNEL_RESET_COUNTS_NAME,
                                           (void **)&reset));
    uint32_t count = 0;
    FAILS(get(kernel, &count, NULL), ZE_RESULT_NOT_READY);
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    OK(zeKernelGetProperties(kernel, &p));
    run_adds(e, kernel, 5);
    OK(get(kernel, &count, NULL));
    assert_in_range(count, 4, 1000);
    zescope_instruction_count_t *rows = calloc(count, sizeof(*rows)), *more;
    OK(get(kernel, &count, rows));
    uint64_t threads = 5 * (64 / p.maxSubgroupSize);
    assert_int_equal(rows[0].offset_B, 0);
    assert_int_equal(rows[0].executions, threads);
    for (uint32_t i = 1; i < count; i++) {
        assert_true(rows[i].offset_B > rows[i - 1].offset_B);
        assert_int_equal(rows[i].executions, threads); /* straight-line code */
    }
    /* the same again: twice the counts */
    run_adds(e, kernel, 5);
    more = calloc(count, sizeof(*more));
    OK(get(kernel, &count, more));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(more[i].executions, 2 * rows[i].executions);
        assert_int_equal(more[i].active_lanes, 2 * rows[i].active_lanes);
        assert_int_equal(more[i].bytes_written, 2 * rows[i].bytes_written);
    }
    OK(reset(kernel));
    OK(get(kernel, &count, more));
    assert_int_equal(more[0].executions, 0);
    free(rows);
    free(more);
    OK(zeKernelDestroy(kernel));
}

static void test_callback(void **state)
{
    struct e2e *e = *state;
    zescope_pfnDriverSetLaunchCallback_t set_callback = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                                           (void **)&set_callback));
    struct seen seen = {0};
    OK(set_callback(e->driver, on_launch, &seen, 1));
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    run_adds(e, kernel, 3);
    run_adds(e, kernel, 4);
    assert_int_equal(seen.launches, 2);
    assert_int_equal(seen.groups, 7);
    assert_int_equal(seen.last_append, seen.first_append + 1);
    assert_string_equal(seen.name, "add_atomic");
    assert_true(seen.instructions > 4 && seen.executions >= 7 && seen.lanes > seen.executions);
    assert_true(seen.has_handles);
    assert_int_equal(seen.result, ZE_RESULT_SUCCESS);
    OK(zeKernelDestroy(kernel));
    /* a launch that fails */
    kernel = kernel_of(the_module, "out_of_bounds");
    int *p = e2e_alloc(e, 64), n = 1 << 20;
    set(kernel, 0, sizeof(p), &p);
    set(kernel, 1, sizeof(n), &n);
    FAILS(launch(e, kernel, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(seen.result, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_non_null(strstr(seen.fault, "out_of_bounds"));
    /* it names a work-item that does it, though the message is lane 0's */
    ze_kernel_handle_t one = kernel_of(the_module, "one_writes");
    const uint64_t nowhere = 0;
    const int item = 5;
    set(one, 0, sizeof(p), &p);
    set(one, 1, sizeof(nowhere), &nowhere);
    set(one, 2, sizeof(item), &item);
    OK(zeKernelSetGroupSize(one, 16, 1, 1));
    FAILS(launch(e, one, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_non_null(strstr(seen.fault, "null pointer"));
    assert_non_null(strstr(seen.fault, "work-item (5, 0, 0), local (5, 0, 0), lane 5 "));
    OK(zeKernelDestroy(one));
    OK(set_callback(e->driver, NULL, NULL, 0));
    n = 0;
    set(kernel, 1, sizeof(n), &n);
    uint32_t before = seen.launches;
    OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    OK(launch(e, kernel, 1));
    assert_int_equal(seen.launches, before);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, p));
}

/* Launches that were counted for a callback are in the kernel's own rows as well. */
static void test_both(void **state)
{
    struct e2e *e = *state;
    zescope_pfnDriverSetLaunchCallback_t set_callback = NULL;
    zescope_pfnKernelGetCounts_t get = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                                           (void **)&set_callback));
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_KERNEL_GET_COUNTS_NAME,
                                           (void **)&get));
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    struct seen seen = {0};
    run_adds(e, kernel, 2);
    OK(set_callback(e->driver, on_launch, &seen, 1));
    run_adds(e, kernel, 3);
    run_adds(e, kernel, 5);
    OK(set_callback(e->driver, NULL, NULL, 0));
    uint32_t count = 0;
    OK(get(kernel, &count, NULL));
    zescope_instruction_count_t *rows = calloc(count, sizeof(*rows));
    OK(get(kernel, &count, rows));
    uint64_t executions = 0;
    for (uint32_t i = 0; i < count; i++)
        executions += rows[i].executions;
    /* straight-line code: each group costs the same */
    assert_int_equal(executions * 8, seen.executions * 10);
    assert_int_equal(seen.groups, 8);
    free(rows);
    OK(zeKernelDestroy(kernel));
}

static void count_handles(const zescope_launch_info_t *info, void *user)
{
    _Atomic uint32_t *counts = user;
    counts[info->kernel ? 0 : 1]++;
}

/* Kernels and modules lose their handles while their launches are reported. */
static void test_retracted_handles(void **state)
{
    struct e2e *e = *state;
    zescope_pfnDriverSetLaunchCallback_t set_callback = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                                           (void **)&set_callback));
    static _Atomic uint32_t counts[2];
    int *sum = e2e_alloc(e, 64);
    OK(set_callback(e->driver, count_handles, (void *)counts, 1));
    ze_command_list_handle_t list = e2e_immediate(e, false);
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0);
    for (int round = 0; round < 200; round++) {
        ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
        ze_group_count_t groups = {1, 1, 1};
        set(kernel, 0, sizeof(sum), &sum);
        OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
        for (int i = 0; i < round % 7 * 50; i++)
            zeEventQueryStatus(event);
        OK(zeKernelDestroy(kernel));
        OK(zeEventHostSynchronize(event, UINT64_MAX));
        OK(zeEventHostReset(event));
    }
    OK(set_callback(e->driver, NULL, NULL, 0));
    assert_int_equal(counts[0] + counts[1], 200);
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, sum));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_counts),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_retracted_handles),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
