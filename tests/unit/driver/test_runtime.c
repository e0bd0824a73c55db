/* SPDX-License-Identifier: MIT */
/* Specifications 1.14 to 1.17: default contexts, identifiers of devices, what queues and lists are
 * made of, launches with their arguments; the tables of each version. */
#include "first_device.h"

#include "driver/ddi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

struct env {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
};

static int setup(void **state)
{
    static struct env e;
    first_device(&e.driver, &e.device);
    *state = &e;
    return 0;
}

static void test_default_context(void **state)
{
    struct env *e = *state;
    ze_context_handle_t context = zeDriverGetDefaultContext(e->driver);
    assert_non_null(context);
    assert_ptr_equal(zeDriverGetDefaultContext(e->driver), context);
    assert_ptr_equal(zerGetDefaultContext(), context);
    assert_null(zeDriverGetDefaultContext((ze_driver_handle_t)context));
    OK(zeContextGetStatus(context));
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    OK(zeMemAllocHost(context, &host, 64, 0, &memory));
    OK(zeMemFree(context, memory));
}

static void test_identifiers(void **state)
{
    struct env *e = *state;
    const char *text = NULL;
    uint32_t id = zerTranslateDeviceHandleToIdentifier(e->device);
    assert_int_equal(id, 0);
    assert_ptr_equal(zerTranslateIdentifierToDeviceHandle(id), e->device);
    assert_null(zerTranslateIdentifierToDeviceHandle(1000));
    OK(zerGetLastErrorDescription(&text));
    assert_non_null(strstr(text, "no device 1000"));
    assert_int_equal(zerTranslateDeviceHandleToIdentifier(NULL), UINT32_MAX);
}

static void test_queries(void **state)
{
    struct env *e = *state;
    ze_context_handle_t context = zeDriverGetDefaultContext(e->driver);
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                    .priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list, regular;
    ze_command_queue_flags_t flags = 0;
    ze_command_queue_mode_t mode = 0;
    ze_command_queue_priority_t priority = 0;
    OK(zeCommandQueueCreate(context, e->device, &desc, &queue));
    OK(zeCommandQueueGetFlags(queue, &flags));
    OK(zeCommandQueueGetMode(queue, &mode));
    OK(zeCommandQueueGetPriority(queue, &priority));
    assert_int_equal(flags, desc.flags);
    assert_int_equal(mode, desc.mode);
    assert_int_equal(priority, desc.priority);
    OK(zeCommandQueueDestroy(queue));
    OK(zeCommandListCreateImmediate(context, e->device, &desc, &list));
    flags = 0;
    mode = 0;
    priority = 0;
    OK(zeCommandListImmediateGetFlags(list, &flags));
    OK(zeCommandListImmediateGetMode(list, &mode));
    OK(zeCommandListImmediateGetPriority(list, &priority));
    assert_int_equal(flags, desc.flags);
    assert_int_equal(mode, desc.mode);
    assert_int_equal(priority, desc.priority);
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                        .flags = ZE_COMMAND_LIST_FLAG_IN_ORDER};
    ze_command_list_flags_t list_flags = 0;
    OK(zeCommandListCreate(context, e->device, &list_desc, &regular));
    OK(zeCommandListGetFlags(regular, &list_flags));
    assert_int_equal(list_flags, list_desc.flags);
    assert_int_equal(zeCommandListGetFlags(list, &list_flags), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(zeCommandListImmediateGetMode(regular, &mode),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(regular));
    OK(zeCommandListDestroy(list));
}

static ze_module_handle_t open_module(const struct env *e, ze_context_handle_t context)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(MODULE, "rb");
    assert_non_null(f);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = fread(bytes, 1, sizeof(bytes), f),
                             .pInputModule = bytes};
    fclose(f);
    ze_module_handle_t module;
    OK(zeModuleCreate(context, e->device, &desc, &module, NULL));
    return module;
}

static void test_arguments(void **state)
{
    struct env *e = *state;
    ze_context_handle_t context = zeDriverGetDefaultContext(e->driver);
    ze_module_handle_t module = open_module(e, context);
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                    .pKernelName = "writes"};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_append_launch_kernel_param_cooperative_desc_t cooperative = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, .isCooperative = 1};
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    int *p, n = 64;
    void *values[] = {&p, &n};
    const ze_group_count_t groups = {4, 1, 1};
    const ze_group_size_t size = {16, 1, 1};
    OK(zeKernelCreate(module, &kernel_desc, &kernel));
    OK(zeMemAllocHost(context, &host, 4096, 0, (void **)&p));
    OK(zeCommandListCreateImmediate(context, e->device, &desc, &list));
    for (int round = 0; round < 2; round++) {
        memset(p, 0, 4096);
        OK(zeCommandListAppendLaunchKernelWithArguments(
            list, kernel, groups, size, values, round ? &cooperative : NULL, NULL, 0, NULL));
        for (int i = 0; i < 64; i++) {
            assert_int_equal(p[i], i);
            assert_int_equal(p[64 + i], 2);
        }
        assert_int_equal(p[128], 0);
    }
    assert_int_equal(zeCommandListAppendLaunchKernelWithArguments(list, kernel, groups, size, NULL,
                                                                  NULL, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, p));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
}

/* The kernel's instructions, as they stand in the module. */
static void test_kernel_binary(void **state)
{
    struct env *e = *state;
    static uint8_t file[1 << 20], code[1 << 16];
    ze_module_handle_t module = open_module(e, zeDriverGetDefaultContext(e->driver));
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "writes"};
    ze_kernel_handle_t kernel;
    size_t size_B = 0, all_B = sizeof(code), file_B;
    FILE *f = fopen(MODULE, "rb");
    file_B = fread(file, 1, sizeof(file), f);
    fclose(f);
    OK(zeKernelCreate(module, &desc, &kernel));
    OK(zeKernelGetBinaryExp(kernel, &size_B, NULL));
    assert_in_range(size_B, 16, sizeof(code));
    OK(zeKernelGetBinaryExp(kernel, &all_B, code));
    assert_int_equal(all_B, size_B);
    assert_non_null(memmem(file, file_B, code, size_B));
    all_B = size_B - 1;
    assert_int_equal(zeKernelGetBinaryExp(kernel, &all_B, code), ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
}

#define SLOTS 64
/* A loader gets what its version has and nothing behind it: its table may end there. */
static void test_versions(void **state)
{
    static const struct {
        uint32_t minor, slots;
    } rows[] = {{0, 28}, {1, 28}, {3, 28}, {4, 28}, {6, 29}, {9, 34}, {12, 36}, {14, 38}, {17, 52}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *table[SLOTS] = {0};
        OK(zeGetCommandListProcAddrTable((ze_api_version_t)ZE_MAKE_VERSION(1, rows[i].minor),
                                         (void *)table));
        uint32_t last = 0;
        for (uint32_t k = 0; k < SLOTS; k++)
            last = table[k] ? k + 1 : last;
        if (rows[i].minor >= 4)
            assert_int_equal(last, rows[i].slots);
        else
            assert_true(last <= rows[i].slots && last > 20);
    }
    /* 1.11 had this table in another order */
    void *table[SLOTS] = {0};
    OK(zetGetMetricGroupExpProcAddrTable((ze_api_version_t)ZE_MAKE_VERSION(1, 11), (void *)table));
    assert_null(table[1]);
    OK(zetGetMetricGroupExpProcAddrTable((ze_api_version_t)ZE_MAKE_VERSION(1, 12), (void *)table));
    assert_non_null(table[1]);
    assert_int_equal(
        zeGetCommandListProcAddrTable((ze_api_version_t)ZE_MAKE_VERSION(2, 0), (void *)table),
        ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
}

/* What is not there is refused by name, not a NULL in a table. */
static void test_refused(void **state)
{
    void *table[SLOTS] = {0};
    const char *text = NULL;
    OK(zeGetCommandListProcAddrTable((ze_api_version_t)ZE_MAKE_VERSION(1, 17), (void *)table));
    ze_result_t(ZE_APICALL * begin)(ze_command_list_handle_t, const void *) = NULL;
    memcpy(&begin, &table[45], sizeof(begin));
    assert_non_null(begin);
    assert_int_equal(begin(NULL, NULL), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    OK(zerGetLastErrorDescription(&text));
    assert_non_null(strstr(text, "zeCommandListBeginGraphCaptureExt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_context), cmocka_unit_test(test_identifiers),
        cmocka_unit_test(test_queries),         cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_kernel_binary),   cmocka_unit_test(test_versions),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
