/* SPDX-License-Identifier: MIT */
/* Drivers, devices, contexts. Values: Skylake GT2, as Intel's driver reports it. */
#include "e2e.h"

static void test_driver(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 0;
    OK(zeDriverGet(&count, NULL));
    assert_true(count >= 1);
    ze_driver_handle_t again;
    count = 1;
    OK(zeDriverGet(&count, &again));
    assert_ptr_equal(again, e->driver);
    ze_api_version_t version = 0;
    OK(zeDriverGetApiVersion(e->driver, &version));
    assert_int_equal(ZE_MAJOR_VERSION(version), 1);
    ze_driver_properties_t props = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    OK(zeDriverGetProperties(e->driver, &props));
    assert_int_not_equal(props.driverVersion, 0);
    ze_driver_ipc_properties_t ipc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    OK(zeDriverGetIpcProperties(e->driver, &ipc));
    assert_int_equal(ipc.flags, ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL);
}

static void test_extensions(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 0;
    OK(zeDriverGetExtensionProperties(e->driver, &count, NULL));
    assert_true(count > 5 && count < 100);
    ze_driver_extension_properties_t *all = calloc(count, sizeof(*all));
    OK(zeDriverGetExtensionProperties(e->driver, &count, all));
    bool counts = false;
    for (uint32_t i = 0; i < count; i++)
        counts |= strcmp(all[i].name, "ZESCOPE_extension_counts") == 0;
    assert_true(counts);
    free(all);
    void *function = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, "zescopeKernelGetCounts", &function));
    assert_non_null(function);
    /* the API's own extensions and functions that the loader may not know */
    static const char *const names[] = {
        "zeKernelSetGlobalOffsetExp", "zeImageGetAllocPropertiesExt",
        "zeCommandListImmediateAppendCommandListsExp", "zeCommandListHostSynchronize"};
    for (size_t i = 0; i < COUNT(names); i++) {
        function = NULL;
        OK(zeDriverGetExtensionFunctionAddress(e->driver, names[i], &function));
        assert_non_null(function);
    }
    ze_result_t(ZE_APICALL * properties)(ze_context_handle_t, ze_image_handle_t,
                                         ze_image_allocation_ext_properties_t *) = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, names[1], (void **)&properties));
    FAILS(properties(e->context, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeDriverGetExtensionFunctionAddress(e->driver, "zeKernelCreate", &function),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeDriverGetExtensionFunctionAddress(e->driver, "zexNoSuchThing", &function),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(function);
}

static void test_device_properties(void **state)
{
    struct e2e *e = *state;
    ze_eu_count_ext_t eus = {.stype = ZE_STRUCTURE_TYPE_EU_COUNT_EXT};
    ze_base_properties_t unknown = {.stype = (ze_structure_type_t)0x7eeeeeee, .pNext = &eus};
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, .pNext = &unknown};
    OK(zeDeviceGetProperties(e->device, &p));
    assert_int_equal(p.type, ZE_DEVICE_TYPE_GPU);
    assert_int_equal(p.vendorId, 0x8086);
    assert_int_equal(p.deviceId, 0x1912);
    assert_int_equal(p.flags, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
    assert_int_equal(p.numSlices, 1);
    assert_int_equal(p.numSubslicesPerSlice, 3);
    assert_int_equal(p.numEUsPerSubslice, 8);
    assert_int_equal(p.numThreadsPerEU, 7);
    assert_int_equal(p.physicalEUSimdWidth, 8);
    assert_int_equal(p.timerResolution, 83);
    assert_int_equal(p.timestampValidBits, 36);
    assert_int_equal(p.kernelTimestampValidBits, 32);
    assert_int_equal(eus.numTotalEUs, 24);
    assert_true(strlen(p.name) > 0);
    p.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    OK(zeDeviceGetProperties(e->device, &p));
    assert_int_equal(p.timerResolution, 12000000);
}

static void test_compute_properties(void **state)
{
    struct e2e *e = *state;
    ze_device_compute_properties_t c = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    OK(zeDeviceGetComputeProperties(e->device, &c));
    assert_int_equal(c.maxTotalGroupSize, 256);
    assert_int_equal(c.maxGroupSizeX, 256);
    assert_int_equal(c.maxGroupCountX, UINT32_MAX);
    assert_int_equal(c.maxSharedLocalMemory, 65536);
    assert_int_equal(c.numSubGroupSizes, 3);
    assert_int_equal(c.subGroupSizes[0], 8);
    assert_int_equal(c.subGroupSizes[2], 32);
    ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    OK(zeDeviceGetModuleProperties(e->device, &m));
    assert_int_equal(m.flags, ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64 |
                                  ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
    assert_int_equal(m.printfBufferSize, 4 << 20);
    ze_device_image_properties_t i = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    OK(zeDeviceGetImageProperties(e->device, &i));
    assert_int_equal(i.maxImageDims2D, 16384);
    assert_int_equal(i.maxImageArraySlices, 2048);
    assert_int_equal(i.maxSamplers, 16);
}

static void test_lists_of_properties(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 0;
    OK(zeDeviceGetCommandQueueGroupProperties(e->device, &count, NULL));
    assert_int_equal(count, 2);
    ze_command_queue_group_properties_t groups[4] = {{0}};
    count = 4;
    OK(zeDeviceGetCommandQueueGroupProperties(e->device, &count, groups));
    assert_int_equal(count, 2);
    assert_true(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    assert_true(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS);
    assert_int_equal(groups[1].flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    count = 0;
    OK(zeDeviceGetMemoryProperties(e->device, &count, NULL));
    assert_int_equal(count, 1);
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    OK(zeDeviceGetMemoryProperties(e->device, &count, &memory));
    assert_true(memory.totalSize > 0);
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    OK(zeDeviceGetMemoryAccessProperties(e->device, &access));
    assert_true(access.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    count = 0;
    OK(zeDeviceGetCacheProperties(e->device, &count, NULL));
    assert_int_equal(count, 1);
    count = 7;
    OK(zeDeviceGetSubDevices(e->device, &count, NULL));
    assert_int_equal(count, 0);
    ze_device_external_memory_properties_t external = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    OK(zeDeviceGetExternalMemoryProperties(e->device, &external));
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    OK(zeDevicePciGetPropertiesExt(e->device, &pci));
    assert_int_equal(pci.address.device, 2);
    ze_bool_t peer = 0;
    OK(zeDeviceCanAccessPeer(e->device, e->device, &peer));
    assert_true(peer);
    OK(zeDeviceGetStatus(e->device));
}

static void test_clock(void **state)
{
    struct e2e *e = *state;
    /* 12 ticks per microsecond; a process may be put aside between the two readings, so that one
     * of several tries must agree */
    bool agree = false;
    for (int i = 0; i < 100 && !agree; i++) {
        uint64_t host[2], device[2];
        OK(zeDeviceGetGlobalTimestamps(e->device, &host[0], &device[0]));
        do
            OK(zeDeviceGetGlobalTimestamps(e->device, &host[1], &device[1]));
        while (host[1] - host[0] < 10000000);
        uint64_t ticks = (device[1] - device[0]) & 0xfffffffff;
        uint64_t expected = (host[1] - host[0]) * 12 / 1000;
        agree = ticks > expected - expected / 20 && ticks < expected + expected / 20;
    }
    assert_true(agree);
}

static void test_context(void **state)
{
    struct e2e *e = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    OK(zeContextCreateEx(e->driver, &desc, 1, &e->device, &context));
    OK(zeContextGetStatus(context));
    OK(zeContextSystemBarrier(context, e->device));
    OK(zeContextDestroy(context));
    if (e2e_through("intercept"))
        return;
    FAILS(zeContextGetStatus(context), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeContextDestroy(context), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void test_refusals(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 0;
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_context_handle_t context;

    FAILS(zeDeviceGetProperties(e->device, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    if (e2e_through("intercept"))
        return;
    ze_result_t again = zeInit(0x100); /* later loaders ask drivers once */
    assert_true(again == ZE_RESULT_ERROR_INVALID_ENUMERATION || again == ZE_RESULT_SUCCESS);
    FAILS(zeDeviceGet(NULL, &count, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeDeviceGet(e->driver, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zeDeviceGetProperties(NULL, &p), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeDeviceGetProperties(e->device, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zeContextCreate(e->driver, NULL, &context), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* Only where the program calls the driver directly: the loader follows wrapped handles. */
static void test_garbage_handles(void **state)
{
    struct e2e *e = *state;
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    uint64_t on_stack[8] = {0};
    if (e2e_through("intercept"))
        return;
    FAILS(zeDeviceGetProperties(GARBAGE(ze_device_handle_t), &p),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeDeviceGetProperties((ze_device_handle_t)on_stack, &p),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeDeviceGetProperties((ze_device_handle_t)e->driver, &p),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zeDeviceGetProperties((ze_device_handle_t)((char *)e->device + 1), &p),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driver),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_device_properties),
        cmocka_unit_test(test_compute_properties),
        cmocka_unit_test(test_lists_of_properties),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_garbage_handles),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
