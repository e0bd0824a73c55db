/* SPDX-License-Identifier: MIT */
/* Kernels that go wrong and modules that are none: an error, an explanation, and the process lives.
 */
#include "kernels.h"

#include <time.h>

static struct e2e own_context(const struct e2e *e)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e own = *e;
    OK(zeContextCreate(e->driver, &desc, &own.context));
    return own;
}

static void test_out_of_bounds(void **state)
{
    struct e2e own = own_context(*state), *e = &own;
    ze_module_handle_t module = make_module(e, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "out_of_bounds");
    ze_event_pool_handle_t pool = e2e_pool(e, 2, 0);
    ze_event_handle_t first = e2e_event(pool, 0), second = e2e_event(pool, 1);
    int *p = e2e_alloc(e, 64 * 4), n = 0;
    set(kernel, 0, sizeof(p), &p);
    set(kernel, 1, sizeof(n), &n);
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(launch(e, kernel, 1));
    assert_int_equal(p[63], 1);
    OK(zeContextGetStatus(e->context));
    n = 1 << 28;
    set(kernel, 1, sizeof(n), &n);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    OK(zeFenceCreate(queue, &fence_desc, &fence));
    ze_group_count_t groups = {1, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, first, 0, NULL));
    OK(zeCommandListAppendMemoryFill(list, p, "x", 1, 4, second, 0, NULL));
    OK(zeCommandListClose(list));
    p[0] = 1234;
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    FAILS(zeEventHostSynchronize(first, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeEventHostSynchronize(second, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeFenceHostSynchronize(fence, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(p[0], 1234);
    FAILS(zeContextGetStatus(e->context), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeDeviceGetStatus(e->device));
    /* the process, the queue and the kernel go on */
    n = 0;
    set(kernel, 1, sizeof(n), &n);
    OK(launch(e, kernel, 1));
    assert_int_equal(p[0], 1);
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(first));
    OK(zeEventDestroy(second));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(e->context));
}

static void test_use_after_free(void **state)
{
    struct e2e own = own_context(*state), *e = &own;
    ze_module_handle_t module = make_module(e, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "add_atomic");
    int *p = e2e_alloc(e, 4);
    set(kernel, 0, sizeof(p), &p);
    OK(zeMemFree(e->context, p));
    FAILS(launch(e, kernel, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(e->context));
}

/* Never-ending kernels: other queues go on, and destroying the context ends them. */
static void test_forever(void **state)
{
    struct e2e *e = *state, own = own_context(e);
    ze_module_handle_t module = make_module(&own, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "forever");
    int *p = e2e_alloc(&own, 8), *q = e2e_alloc(e, 64);
    p[0] = p[1] = 0;
    set(kernel, 0, sizeof(p), &p);
    OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
    ze_command_queue_handle_t queue = e2e_queue(&own, 0);
    ze_command_list_handle_t list = e2e_list(&own, 0);
    ze_group_count_t groups = {1, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    FAILS(zeCommandQueueSynchronize(queue, 5000000), ZE_RESULT_NOT_READY);
    /* meanwhile */
    ze_module_handle_t other = make_module(e, "kernels.bin");
    ze_kernel_handle_t add = kernel_of(other, "add_atomic");
    *q = 0;
    set(add, 0, sizeof(q), &q);
    OK(zeKernelSetGroupSize(add, 32, 1, 1));
    OK(launch(e, add, 4));
    assert_int_equal(*q, 128);
    /* the host can end it: shared memory is shared */
    *(volatile int *)p = 1;
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(p[1], 1);
    p[0] = 0;
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    FAILS(zeCommandQueueSynchronize(queue, 5000000), ZE_RESULT_NOT_READY);
    OK(zeContextDestroy(own.context));
    FAILS(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeKernelDestroy(add));
    OK(zeModuleDestroy(other));
    OK(zeMemFree(e->context, q));
}

static void test_bad_modules(void **state)
{
    struct e2e *e = *state;
    char log[8192];
    static const uint8_t junk[64] = "this is neither SPIR-V nor a native binary";
    FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, junk, sizeof(junk), log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    assert_true(strlen(log) > 10 || e2e_through("intercept"));
    FAILS(try_module(e, ZE_MODULE_FORMAT_IL_SPIRV, junk, sizeof(junk), log, sizeof(log)),
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    assert_true(strlen(log) > 10 || e2e_through("intercept"));
    /* half a binary, and one with a flipped bit: the checksum of its kernel tells */
    struct bytes b = load("globals.bin");
    FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, b.data, b.size / 2, log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    uint8_t *kernel = memmem(b.data, b.size, "globals\0", 8);
    assert_non_null(kernel);
    kernel[40] ^= 4;
    ze_result_t result = try_module(e, ZE_MODULE_FORMAT_NATIVE, b.data, b.size, log, sizeof(log));
    assert_true(result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY || result == ZE_RESULT_SUCCESS);
    free(b.data);
    /* SPIR-V with a hole */
    b = load("globals.spv");
    memset(b.data + b.size / 2, 0xff, 64);
    FAILS(try_module(e, ZE_MODULE_FORMAT_IL_SPIRV, b.data, b.size, log, sizeof(log)),
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    free(b.data);
    FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, junk, 0, log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_SIZE);
    FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, NULL, 8, log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(try_module(e, (ze_module_format_t)7, junk, 8, log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

/* Made for another device: compiled again when the SPIR-V is there, refused otherwise. */
static void test_other_device(void **state)
{
    struct e2e *e = *state;
    char log[8192];
    struct bytes b = load("other-device.bin");
    OK(try_module(e, ZE_MODULE_FORMAT_NATIVE, b.data, b.size, log, sizeof(log)));
    assert_true(strstr(log, "another device") || e2e_through("intercept"));
    /* without its SPIR-V */
    uint8_t *spirv = memmem(b.data, b.size, "\x03\x02\x23\x07", 4);
    assert_non_null(spirv);
    memset(spirv, 0, 4);
    FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, b.data, b.size, log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    assert_true(strstr(log, "skl") || e2e_through("intercept"));
    free(b.data);
}

static void test_bad_kernels(void **state)
{
    struct e2e *e = *state;
    ze_module_handle_t module = make_module(e, "kernels.bin");
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "no such"};
    ze_kernel_handle_t kernel;
    FAILS(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    desc.pKernelName = NULL;
    FAILS(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    kernel = kernel_of(module, "vecadd");
    ze_command_list_handle_t list = e2e_immediate(e, true), copy = e2e_list(e, 1);
    ze_group_count_t groups = {1, 1, 1};
    float *p = e2e_alloc(e, 4096);
    for (uint32_t i = 0; i < 3; i++)
        set(kernel, i, sizeof(p), &p);
    FAILS(zeCommandListAppendLaunchKernel(copy, kernel, &groups, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    FAILS(zeCommandListAppendLaunchKernel(list, kernel, NULL, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ze_group_count_t none = {0, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &none, NULL, 0, NULL));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(copy));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(e->context, p));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_bounds), cmocka_unit_test(test_use_after_free),
        cmocka_unit_test(test_forever),       cmocka_unit_test(test_bad_modules),
        cmocka_unit_test(test_other_device),  cmocka_unit_test(test_bad_kernels),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
