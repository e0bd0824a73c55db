/* SPDX-License-Identifier: MIT */
/* Functions of specifications after 1.4: the loader of Debian 12 does not know them. */
#include "first_device.h"

#include "driver/ddi.h"

#include <level_zero/zes_api.h>

#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

struct env {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t immediate;
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[3];
};

static int setup(void **state)
{
    static struct env e;
    first_device(&e.driver, &e.device);
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e.driver, &context, &e.context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .flags = ZS_ALL_ZE_COMMAND_QUEUE_FLAGS,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    OK(zeCommandListCreateImmediate(e.context, e.device, &queue, &e.immediate));
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZS_ALL_ZE_EVENT_POOL_FLAGS,
                                 .count = 3};
    OK(zeEventPoolCreate(e.context, &pool, 0, NULL, &e.pool));
    for (uint32_t i = 0; i < 3; i++) {
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        OK(zeEventCreate(e.pool, &event, &e.events[i]));
    }
    *state = &e;
    return 0;
}

static int teardown(void **state)
{
    struct env *e = *state;
    OK(zeCommandListDestroy(e->immediate));
    for (int i = 0; i < 3; i++)
        OK(zeEventDestroy(e->events[i]));
    OK(zeEventPoolDestroy(e->pool));
    OK(zeContextDestroy(e->context));
    return 0;
}

static ze_command_list_handle_t list_new(struct env *e, ze_command_list_flags_t flags)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = flags};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(e->context, e->device, &desc, &list));
    return list;
}

/* Lists run between the events that an immediate list waits for and signals, in their order. */
static void test_append_lists(void **state)
{
    struct env *e = *state;
    uint8_t memory[256] = {0};
    const uint8_t a = 1, b = 2;
    ze_command_list_handle_t lists[2] = {list_new(e, 0), list_new(e, ZS_ALL_ZE_COMMAND_LIST_FLAGS)};
    OK(zeCommandListAppendMemoryFill(lists[0], memory, &a, 1, 256, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryFill(lists[1], memory, &b, 1, 128, NULL, 0, NULL));
    assert_int_equal(
        zeCommandListImmediateAppendCommandListsExp(e->immediate, 1, lists, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT); /* not closed */
    OK(zeCommandListClose(lists[0]));
    OK(zeCommandListClose(lists[1]));
    assert_int_equal(
        zeCommandListImmediateAppendCommandListsExp(lists[0], 1, &lists[1], NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT); /* not immediate */
    assert_int_equal(
        zeCommandListImmediateAppendCommandListsExp(e->immediate, 1, NULL, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (int round = 0; round < 3; round++) {
        memset(memory, 0, sizeof(memory));
        OK(zeEventHostReset(e->events[0]));
        OK(zeEventHostReset(e->events[1]));
        OK(zeCommandListImmediateAppendCommandListsExp(e->immediate, 2, lists, e->events[1], 1,
                                                       &e->events[0]));
        assert_int_equal(zeEventHostSynchronize(e->events[1], 1000000), ZE_RESULT_NOT_READY);
        assert_int_equal(memory[200], 0);
        OK(zeEventHostSignal(e->events[0]));
        OK(zeEventHostSynchronize(e->events[1], UINT64_MAX));
        assert_int_equal(memory[0], 2);
        assert_int_equal(memory[200], 1);
    }
    OK(zeCommandListHostSynchronize(e->immediate, UINT64_MAX));
    OK(zeCommandListDestroy(lists[0]));
    OK(zeCommandListDestroy(lists[1]));
}

/* With parameters as without. */
static void test_copies_with_parameters(void **state)
{
    struct env *e = *state;
    uint8_t from[64], to[64];
    const uint16_t pattern = 0x1234;
    memset(to, 0, sizeof(to));
    OK(zeEventHostReset(e->events[0]));
    OK(zeEventHostReset(e->events[1]));
    OK(zeCommandListAppendMemoryFillWithParameters(e->immediate, from, &pattern, 2, 64, NULL,
                                                   e->events[0], 0, NULL));
    OK(zeCommandListAppendMemoryCopyWithParameters(e->immediate, to, from, 62, NULL, e->events[1],
                                                   1, &e->events[0]));
    OK(zeEventHostSynchronize(e->events[1], UINT64_MAX));
    assert_int_equal(to[0] | to[61] << 8, 0x1234);
    assert_int_equal(to[62], 0);
    assert_int_equal(
        zeCommandListAppendMemoryCopyWithParameters(NULL, to, from, 1, NULL, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zeEventHostReset(e->events[0]));
    OK(zeEventHostReset(e->events[1]));
}

/* Both clocks, between two readings of them. */
static void test_mapped_timestamps(void **state)
{
    struct env *e = *state;
    uint64_t host[2], device[2];
    uint8_t memory[64];
    const uint8_t zero = 0;
    OK(zeDeviceGetGlobalTimestamps(e->device, &host[0], &device[0]));
    OK(zeCommandListAppendMemoryFill(e->immediate, memory, &zero, 1, 64, e->events[2], 0, NULL));
    OK(zeEventHostSynchronize(e->events[2], UINT64_MAX));
    OK(zeDeviceGetGlobalTimestamps(e->device, &host[1], &device[1]));
    uint32_t count = 0;
    OK(zeEventQueryKernelTimestampsExt(e->events[2], e->device, &count, NULL));
    assert_int_equal(count, 1);
    ze_kernel_timestamp_result_t ticks;
    ze_synchronized_timestamp_result_ext_t ns;
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES,
        .pKernelTimestampsBuffer = &ticks,
        .pSynchronizedTimestampsBuffer = &ns};
    OK(zeEventQueryKernelTimestampsExt(e->events[2], e->device, &count, &results));
    /* a tick is 83.3 ns, and the two clocks of the host are read one after the other */
    assert_true(ns.global.kernelStart + 1000000 >= host[0]);
    assert_true(ns.global.kernelEnd >= ns.global.kernelStart);
    assert_true(ns.global.kernelEnd <= host[1] + 1000000);
    assert_int_equal(ns.context.kernelEnd, ns.global.kernelEnd);
    ze_kernel_timestamp_result_t plain;
    OK(zeEventQueryKernelTimestamp(e->events[2], &plain));
    assert_memory_equal(&plain, &ticks, sizeof(ticks));
    OK(zeEventHostReset(e->events[2]));
    assert_int_equal(zeEventQueryKernelTimestampsExt(e->events[2], e->device, &count, &results),
                     ZE_RESULT_NOT_READY);
}

static ze_synchronized_timestamp_data_ext_t mapped_timestamp(struct env *e, ze_event_handle_t event)
{
    uint32_t one = 1;
    ze_synchronized_timestamp_result_ext_t ns;
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES,
        .pSynchronizedTimestampsBuffer = &ns};
    OK(zeEventQueryKernelTimestampsExt(event, e->device, &one, &results));
    return ns.global;
}

/* Whoever asks, and when: a pool that is open twice is what two processes have. */
static void test_mapped_timestamps_everywhere(void **state)
{
    struct env *e = *state;
    uint8_t memory[64];
    const uint8_t zero = 0;
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZS_ALL_ZE_EVENT_POOL_FLAGS | ZE_EVENT_POOL_FLAG_IPC,
                                 .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_pool_handle_t pools[2];
    ze_event_handle_t events[2];
    ze_ipc_event_pool_handle_t handle;
    OK(zeEventPoolCreate(e->context, &desc, 0, NULL, &pools[0]));
    OK(zeEventPoolGetIpcHandle(pools[0], &handle));
    OK(zeEventPoolOpenIpcHandle(e->context, handle, &pools[1]));
    for (int i = 0; i < 2; i++)
        OK(zeEventCreate(pools[i], &event_desc, &events[i]));
    uint64_t last_end = 0;
    for (int round = 0; round < 3; round++) {
        OK(zeCommandListAppendMemoryFill(e->immediate, memory, &zero, 1, 64, events[0], 0, NULL));
        OK(zeEventHostSynchronize(events[1], UINT64_MAX));
        ze_synchronized_timestamp_data_ext_t first = mapped_timestamp(e, events[round % 2]);
        for (int i = 0; i < 1000; i++) {
            ze_synchronized_timestamp_data_ext_t again = mapped_timestamp(e, events[i % 2]);
            assert_memory_equal(&again, &first, sizeof(first));
        }
        assert_true(first.kernelStart > last_end);
        last_end = first.kernelEnd;
        OK(zeEventHostReset(events[1]));
    }
    OK(zeEventDestroy(events[0]));
    OK(zeEventDestroy(events[1]));
    OK(zeEventPoolCloseIpcHandle(pools[1]));
    OK(zeEventPoolDestroy(pools[0]));
}

/* Physical memory that is mapped nowhere; what is written through the handle is in it. */
static void test_handle_of_physical_memory(void **state)
{
    struct env *e = *state;
    size_t page;
    OK(zeVirtualMemQueryPageSize(e->context, e->device, 1, &page));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 2 * page};
    ze_physical_mem_handle_t physical;
    OK(zePhysicalMemCreate(e->context, e->device, &desc, &physical));
    ze_physical_mem_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES};
    OK(zePhysicalMemGetProperties(e->context, physical, &properties));
    assert_int_equal(properties.size, 2 * page);
    assert_int_not_equal(properties.id, 0);
    assert_int_equal(zePhysicalMemGetProperties(e->context, physical, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ze_ipc_mem_handle_t handle;
    char *opened, *mapped;
    OK(zeMemGetIpcHandleWithProperties(e->context, physical, NULL, &handle));
    OK(zeMemOpenIpcHandle(e->context, e->device, handle, 0, (void **)&opened));
    opened[2 * page - 1] = 42;
    OK(zeVirtualMemReserve(e->context, NULL, 2 * page, (void **)&mapped));
    OK(zeVirtualMemMap(e->context, mapped, 2 * page, physical, 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    assert_int_equal(mapped[2 * page - 1], 42);
    OK(zeMemCloseIpcHandle(e->context, opened));
    OK(zeVirtualMemUnmap(e->context, mapped, 2 * page));
    OK(zeVirtualMemFree(e->context, mapped, 2 * page));
    OK(zePhysicalMemDestroy(e->context, physical));
    assert_int_equal(zeMemGetIpcHandleWithProperties(e->context, physical, NULL, &handle),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void test_descriptor_of_handle(void **state)
{
    struct env *e = *state;
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    char *p, *q;
    OK(zeMemAllocDevice(e->context, &desc, 100, 0, e->device, (void **)&p));
    ze_ipc_mem_handle_t handle, again;
    OK(zeMemGetIpcHandle(e->context, p, &handle));
    uint64_t fd = UINT64_MAX;
    OK(zeMemGetFileDescriptorFromIpcHandleExp(e->context, handle, &fd));
    OK(zeMemGetIpcHandleFromFileDescriptorExp(e->context, fd, &again));
    OK(zeMemOpenIpcHandle(e->context, e->device, again, 0, (void **)&q));
    p[99] = 9;
    assert_int_equal(q[99], 9);
    OK(zeMemCloseIpcHandle(e->context, q));
    OK(zeMemPutIpcHandle(e->context, again));
    ze_ipc_mem_handle_type_ext_desc_t type = {.stype =
                                                  ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC,
                                              .typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
    OK(zeMemGetIpcHandleWithProperties(e->context, p, &type, &again));
    type.typeFlags = 2; /* for other machines */
    assert_int_equal(zeMemGetIpcHandleWithProperties(e->context, p, &type, &again),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(zeMemGetIpcHandleFromFileDescriptorExp(e->context, 0, &again),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(zeMemGetIpcHandleFromFileDescriptorExp(e->context, UINT64_MAX, &again),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(e->context, p));
}

/* What was asked for is told again, of shared memory alone. */
static void test_atomic_attributes(void **state)
{
    struct env *e = *state;
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    char *p, *q;
    uint32_t attribute = 99;
    OK(zeMemAllocShared(e->context, &device, &host, 4096, 0, e->device, (void **)&p));
    OK(zeMemAllocHost(e->context, &host, 4096, 0, (void **)&q));
    OK(zeMemGetAtomicAccessAttributeExp(e->context, e->device, p, 4096, &attribute));
    assert_int_equal(attribute, 0);
    for (uint32_t bit = 1; bit <= ZS_ALL_ZE_MEMORY_ATOMIC_ATTR_EXP_FLAGS; bit *= 2) {
        OK(zeMemSetAtomicAccessAttributeExp(e->context, e->device, p, 4096, bit));
        OK(zeMemGetAtomicAccessAttributeExp(e->context, e->device, p + 4095, 1, &attribute));
        assert_int_equal(attribute, bit);
    }
    assert_int_equal(zeMemSetAtomicAccessAttributeExp(e->context, e->device, p, 4096, 0x80),
                     ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert_int_equal(zeMemSetAtomicAccessAttributeExp(e->context, e->device, p, 0, 1),
                     ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    assert_int_equal(zeMemSetAtomicAccessAttributeExp(e->context, e->device, q, 4096, 1),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(e->context, p));
    assert_int_equal(zeMemGetAtomicAccessAttributeExp(e->context, e->device, p, 4096, &attribute),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(e->context, q));
}

/* Profilers look for the device of another API at its address. */
static void test_pci_address(void **state)
{
    struct env *e = *state;
    ze_pci_ext_properties_t core = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    zes_pci_properties_t sysman = {.stype = ZES_STRUCTURE_TYPE_PCI_PROPERTIES};
    memset(&sysman.address, 0xff, sizeof(sysman.address));
    OK(zeDevicePciGetPropertiesExt(e->device, &core));
    OK(zesDevicePciGetProperties((zes_device_handle_t)e->device, &sysman));
    assert_int_equal(sysman.address.domain, core.address.domain);
    assert_int_equal(sysman.address.bus, core.address.bus);
    assert_int_equal(sysman.address.device, core.address.device);
    assert_int_equal(sysman.address.function, core.address.function);
    assert_int_equal(zesDevicePciGetProperties((zes_device_handle_t)e->device, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_lists),
        cmocka_unit_test(test_copies_with_parameters),
        cmocka_unit_test(test_mapped_timestamps),
        cmocka_unit_test(test_mapped_timestamps_everywhere),
        cmocka_unit_test(test_handle_of_physical_memory),
        cmocka_unit_test(test_descriptor_of_handle),
        cmocka_unit_test(test_atomic_attributes),
        cmocka_unit_test(test_pci_address),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
