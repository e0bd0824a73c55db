/* SPDX-License-Identifier: MIT */
/*
 * What programs do wrong: the specification's result, a sentence in the log that says why, and
 * everything else goes on. Nothing may be left behind: this also runs under the leak checker.
 */
#include "kernels.h"

#include "base/sanitizer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/zescope-bad-XXXXXX";
static char log_path[64];

/* The log since the last time holds that text. Layers and the loader may have refused before. */
static void explained(const char *want)
{
    FILE *f = fopen(log_path, "r");
    assert_non_null(f);
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[size] = '\0';
    assert_int_equal(truncate(log_path, 0), 0);
    if (!strstr(text, want) && !e2e_through("validation"))
        fail_msg("the log does not say \"%s\" but:\n%s", want, text);
}

struct bad {
    struct e2e e;
    ze_module_handle_t module;
    ze_command_list_handle_t list; /* immediate, synchronous */
    float *p;
};

static struct bad open_bad(const struct e2e *e)
{
    struct bad b = {.e = *e};
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &b.e.context));
    b.module = make_module(&b.e, "kernels.bin");
    b.list = e2e_immediate(&b.e, true);
    b.p = e2e_alloc(&b.e, 65536);
    return b;
}

static void close_bad(struct bad *b)
{
    OK(zeMemFree(b->e.context, b->p));
    OK(zeCommandListDestroy(b->list));
    OK(zeModuleDestroy(b->module));
    OK(zeContextDestroy(b->e.context));
}

static void test_arguments(void **state)
{
    struct bad b = open_bad(*state);
    ze_kernel_handle_t kernel = kernel_of(b.module, "vecadd");
    ze_group_count_t one = {1, 1, 1};
    void *wild = (void *)(uintptr_t)0x123456789000;
    FAILS(zeKernelSetArgumentValue(kernel, 17, 8, &b.p),
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    explained("vecadd has 3 arguments, none of index 17");
    FAILS(zeKernelSetArgumentValue(kernel, 0, 4, &b.p),
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    explained("vecadd, argument 0, 4 bytes");
    FAILS(zeKernelSetArgumentValue(kernel, 0, 8, &wild), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    explained("in no allocation of the context");
    set(kernel, 0, sizeof(b.p), &b.p);
    set(kernel, 1, sizeof(b.p), &b.p);
    set(kernel, 2, sizeof(b.p), &b.p);
    OK(zeCommandListAppendLaunchKernel(b.list, kernel, &one, NULL, 0, NULL));
    OK(zeKernelDestroy(kernel));
    /* more local memory than a group has */
    kernel = kernel_of(b.module, "local_sum");
    ze_kernel_properties_t props = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    OK(zeKernelGetProperties(kernel, &props));
    ze_result_t refused = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < props.numKernelArgs && refused == ZE_RESULT_SUCCESS; i++)
        refused = zeKernelSetArgumentValue(kernel, i, 1 << 20, NULL);
    assert_int_not_equal(refused, ZE_RESULT_SUCCESS);
    OK(zeKernelDestroy(kernel));
    if (!e2e_through("intercept")) { /* the loader follows whatever it is given */
        FAILS(zeKernelSetArgumentValue(kernel, 0, 8, &b.p), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        explained("not a live handle of a kernel");
    }
    close_bad(&b);
}

static void test_names(void **state)
{
    struct bad b = open_bad(*state);
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "vecsub"};
    ze_kernel_handle_t kernel;
    FAILS(zeKernelCreate(b.module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    explained("no kernel \"vecsub\"; it has "); /* in the compiler's order */
    void *p;
    FAILS(zeModuleGetGlobalPointer(b.module, "nothing", NULL, &p),
          ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    explained("nothing");
    FAILS(zeModuleGetFunctionPointer(b.module, "nothing", &p),
          ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
    explained("nothing");
    close_bad(&b);
}

static void test_sizes(void **state)
{
    struct bad b = open_bad(*state);
    ze_kernel_handle_t kernel = kernel_of(b.module, "ids");
    static const uint32_t sizes[][3] = {{0, 1, 1},   {257, 1, 1},           {16, 17, 1},
                                        {1, 1, 999}, {65536, 65536, 65536}, {UINT32_MAX, 1, 1}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        FAILS(zeKernelSetGroupSize(kernel, sizes[i][0], sizes[i][1], sizes[i][2]),
              ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    explained("at most 256 work-items");
    uint32_t x, y, z;
    FAILS(zeKernelSuggestGroupSize(kernel, 0, 1, 1, &x, &y, &z),
          ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
    OK(zeKernelDestroy(kernel));
    kernel = kernel_of(b.module, "add_atomic");
    set(kernel, 0, sizeof(b.p), &b.p);
    ze_group_count_t huge = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    FAILS(zeCommandListAppendLaunchKernel(b.list, kernel, &huge, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    explained("too many to count");
    FAILS(zeCommandListAppendLaunchCooperativeKernel(b.list, kernel, &huge, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeContextGetStatus(b.e.context));
    OK(zeKernelDestroy(kernel));
    kernel = kernel_of(b.module, "required");
    FAILS(zeKernelSetGroupSize(kernel, 3, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    explained("the kernel requires");
    OK(zeKernelDestroy(kernel));
    close_bad(&b);
}

static void test_binaries(void **state)
{
    struct e2e *e = *state;
    char log[4096];
    struct bytes b = load("other-device.bin");
    uint8_t *spirv = memmem(b.data, b.size, "\x03\x02\x23\x07", 4);
    assert_non_null(spirv);
    memset(spirv, 0, 4);
    FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, b.data, b.size, log, sizeof(log)),
          ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    explained("no code for skl; the binary has icllp");
    assert_true(strstr(log, "the binary has icllp") || e2e_through("intercept"));
    free(b.data);
    /* cut anywhere, and with damage everywhere: refused with an offset, or harmless */
    b = load("globals.bin");
    for (size_t size = 1; size < b.size; size += b.size / 40)
        FAILS(try_module(e, ZE_MODULE_FORMAT_NATIVE, b.data, size, log, sizeof(log)),
              ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    explained("native binary");
    assert_true(strlen(log) > 10 || e2e_through("intercept"));
    uint8_t *copy = malloc(b.size);
    for (size_t at = 0; at < b.size; at += b.size / 60) {
        memcpy(copy, b.data, b.size);
        memset(copy + at, 0xff, b.size - at < 4 ? b.size - at : 4);
        ze_result_t result = try_module(e, ZE_MODULE_FORMAT_NATIVE, copy, b.size, log, sizeof(log));
        assert_true(result == ZE_RESULT_SUCCESS ||
                    result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY ||
                    result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    free(copy);
    free(b.data);
    explained("");
}

/* The device's memory: exactly what it reports, and all of it again once it was freed. */
static void test_memory(void **state)
{
    struct bad b = open_bad(*state);
    uint32_t one = 1;
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetMemoryProperties(b.e.device, &one, &memory));
    OK(zeDeviceGetProperties(b.e.device, &device));
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p;
    FAILS(zeMemAllocDevice(b.e.context, &desc, 0, 0, b.e.device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    explained("size is 0");
    FAILS(zeMemAllocDevice(b.e.context, &desc, device.maxMemAllocSize + 1, 0, b.e.device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    explained("the largest allocation is");
    FAILS(zeMemAllocDevice(b.e.context, &desc, 64, (size_t)1 << 40, b.e.device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    explained("alignment 1099511627776");
    FAILS(zeMemAllocHost(b.e.context, &host, SIZE_MAX / 2, 0, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    for (int round = 0; round < 2; round++) {
        void *pieces[64];
        uint32_t count = 0;
        ze_result_t result = ZE_RESULT_SUCCESS;
        while (count < COUNT(pieces) && result == ZE_RESULT_SUCCESS) {
            result = zeMemAllocDevice(b.e.context, &desc, (size_t)(memory.totalSize / 32), 0,
                                      b.e.device, &pieces[count]);
            count += result == ZE_RESULT_SUCCESS;
        }
        assert_int_equal(result, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        explained("bytes");
        assert_in_range(count, 30, 32);
        while (count > 0)
            OK(zeMemFree(b.e.context, pieces[--count]));
    }
    /* physical memory is the same memory */
    ze_physical_mem_desc_t half = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = (size_t)(memory.totalSize / 2) & ~(size_t)0xffff};
    ze_physical_mem_handle_t first, second;
    OK(zePhysicalMemCreate(b.e.context, b.e.device, &half, &first));
    FAILS(zePhysicalMemCreate(b.e.context, b.e.device, &half, &second),
          ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    explained("the device has no more");
    OK(zePhysicalMemDestroy(b.e.context, first));
    OK(zePhysicalMemCreate(b.e.context, b.e.device, &half, &first));
    OK(zePhysicalMemDestroy(b.e.context, first));
    FAILS(zeMemFree(b.e.context, (char *)b.p + 64), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    explained("no live allocation");
    FAILS(zeMemFree(b.e.context, malloc), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    close_bad(&b);
}

/* A context that lost a launch says so; its other work goes on, and so do other contexts. */
static void test_lost(void **state)
{
    struct bad b = open_bad(*state), other = open_bad(*state);
    ze_kernel_handle_t kernel = kernel_of(b.module, "out_of_bounds");
    ze_kernel_handle_t fine = kernel_of(b.module, "add_atomic");
    ze_kernel_handle_t theirs = kernel_of(other.module, "add_atomic");
    ze_event_pool_handle_t pool = e2e_pool(&b.e, 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0), last = e2e_event(pool, 1);
    ze_group_count_t one = {1, 1, 1};
    int n = 1 << 28, *p = (int *)b.p, *q = (int *)other.p;
    p[0] = q[0] = 0;
    set(kernel, 0, sizeof(p), &p);
    set(kernel, 1, sizeof(n), &n);
    set(fine, 0, sizeof(p), &p);
    set(theirs, 0, sizeof(q), &q);
    OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
    OK(zeKernelSetGroupSize(fine, 32, 1, 1));
    OK(zeKernelSetGroupSize(theirs, 32, 1, 1));
    ze_command_list_handle_t list = e2e_list(&b.e, 0);
    ze_command_queue_handle_t queue = e2e_queue(&b.e, 0);
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    OK(zeFenceCreate(queue, &fence_desc, &fence));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &one, event, 0, NULL));
    OK(zeCommandListAppendLaunchKernel(list, fine, &one, last, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    FAILS(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    explained("out_of_bounds");
    FAILS(zeFenceHostSynchronize(fence, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeFenceQueryStatus(fence), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeEventHostSynchronize(event, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeEventQueryStatus(last), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zeContextGetStatus(b.e.context), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeDeviceGetStatus(b.e.device));
    /* whoever waits for what failed fails, too */
    FAILS(zeCommandListAppendLaunchKernel(b.list, fine, &one, NULL, 1, &event),
          ZE_RESULT_ERROR_DEVICE_LOST);
    explained("");
    OK(zeEventHostReset(event));
    FAILS(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    /* the rest goes on, here and elsewhere */
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeCommandListAppendLaunchKernel(b.list, fine, &one, event, 0, NULL));
    OK(zeEventQueryStatus(event));
    assert_int_equal(p[0], 32);
    OK(zeContextGetStatus(other.e.context));
    OK(zeCommandListAppendLaunchKernel(other.list, theirs, &one, NULL, 0, NULL));
    assert_int_equal(q[0], 32);
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventDestroy(last));
    OK(zeEventPoolDestroy(pool));
    OK(zeKernelDestroy(kernel));
    OK(zeKernelDestroy(fine));
    OK(zeKernelDestroy(theirs));
    close_bad(&b);
    close_bad(&other);
}

/* ---- fork ---- */

/* Not with the address sanitizer: its allocator may be locked for good in a forked child. */
#if !ZS_HAS_ASAN

static int child(const struct bad *parents)
{
    alarm(400); /* a hang ends the test */
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    if (zeDeviceGetProperties(parents->e.device, &p) != ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
        return 1;
    uint32_t one = 1;
    struct e2e e;
    ze_driver_handle_t before;
    if (zeDriverGet(&one, &before) !=
        ZE_RESULT_SUCCESS) /* loaders may keep zeInit for themselves */
        return 2;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &e.driver) != ZE_RESULT_SUCCESS ||
        e.driver != before || before == parents->e.driver ||
        zeDeviceGet(e.driver, &one, &e.device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(e.driver, &desc, &e.context) != ZE_RESULT_SUCCESS)
        return 3;
    struct bad b = open_bad(&e);
    ze_kernel_handle_t kernel = kernel_of(b.module, "add_atomic");
    int *sum = (int *)b.p;
    *sum = 0;
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    OK(launch(&b.e, kernel, 64)); /* on a queue's thread, with helpers */
    OK(zeKernelDestroy(kernel));
    int result = *sum == 64 * 32 ? 0 : 4;
    close_bad(&b);
    return result;
}

static void test_fork(void **state)
{
    struct bad b = open_bad(*state);
    ze_kernel_handle_t kernel = kernel_of(b.module, "add_atomic");
    set(kernel, 0, sizeof(b.p), &b.p);
    OK(launch(&b.e, kernel, 64));
    pid_t pid = fork();
    if (pid == 0)
        _exit(child(&b));
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    /* the parent's go on */
    OK(launch(&b.e, kernel, 64));
    OK(zeKernelDestroy(kernel));
    close_bad(&b);
}

#endif

int main(int argc, char **argv)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(log_path, sizeof(log_path), "%s/log", folder);
    char setting[80];
    snprintf(setting, sizeof(setting), "warn:%s", log_path);
    setenv("ZESCOPE_LOG", setting, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lost),
#if !ZS_HAS_ASAN
        cmocka_unit_test(test_fork),
#endif
    };
    int failed = cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
    unlink(log_path);
    rmdir(folder);
    return failed;
}
