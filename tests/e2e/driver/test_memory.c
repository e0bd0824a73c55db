/* SPDX-License-Identifier: MIT */
/* Unified shared memory, sharing between processes, virtual memory. */
#include "e2e.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
static const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};

static void check_properties(struct e2e *e, void *p, ze_memory_type_t type, bool has_device)
{
    ze_memory_allocation_properties_t props = {.stype =
                                                   ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = GARBAGE(ze_device_handle_t);
    OK(zeMemGetAllocProperties(e->context, p, &props, &device));
    assert_int_equal(props.type, type);
    assert_int_not_equal(props.id, 0);
    assert_int_equal(props.pageSize, 4096);
    assert_ptr_equal(device, has_device ? e->device : NULL);
}

static void test_kinds(void **state)
{
    struct e2e *e = *state;
    void *host, *device, *shared;
    OK(zeMemAllocHost(e->context, &host_desc, 100, 0, &host));
    OK(zeMemAllocDevice(e->context, &device_desc, 100, 0, e->device, &device));
    OK(zeMemAllocShared(e->context, &device_desc, &host_desc, 100, 0, e->device, &shared));
    check_properties(e, host, ZE_MEMORY_TYPE_HOST, false);
    check_properties(e, device, ZE_MEMORY_TYPE_DEVICE, true);
    check_properties(e, (char *)shared + 99, ZE_MEMORY_TYPE_SHARED, true);
    memset(host, 1, 100);
    memset(shared, 2, 100);
    int local;
    ze_memory_allocation_properties_t props = {.stype =
                                                   ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t of = GARBAGE(ze_device_handle_t);
    OK(zeMemGetAllocProperties(e->context, &local, &props, &of));
    assert_int_equal(props.type, ZE_MEMORY_TYPE_UNKNOWN);
    assert_null(of);
    void *base;
    size_t size;
    OK(zeMemGetAddressRange(e->context, (char *)device + 50, &base, &size));
    assert_ptr_equal(base, device);
    assert_int_equal(size, 100);
    FAILS(zeMemGetAddressRange(e->context, (char *)device + 100, &base, &size),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeContextMakeMemoryResident(e->context, e->device, device, 100));
    OK(zeContextEvictMemory(e->context, e->device, device, 100));
    FAILS(zeMemFree(e->context, (char *)host + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(e->context, host));
    OK(zeMemFree(e->context, device));
    ze_memory_free_ext_desc_t blocking = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                          .freePolicy =
                                              ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    OK(zeMemFreeExt(e->context, &blocking, shared));
    FAILS(zeMemFree(e->context, shared), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void test_alignment(void **state)
{
    struct e2e *e = *state;
    for (size_t alignment = 1; alignment <= 1u << 22; alignment *= 2) {
        void *p;
        OK(zeMemAllocDevice(e->context, &device_desc, 1000, alignment, e->device, &p));
        assert_int_equal((uintptr_t)p % alignment, 0);
        OK(zeMemFree(e->context, p));
    }
    void *p = NULL;
    FAILS(zeMemAllocDevice(e->context, &device_desc, 64, (size_t)1 << 40, e->device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

static void test_limits(void **state)
{
    struct e2e *e = *state;
    void *p = NULL;
    ze_device_properties_t props = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(e->device, &props));
    FAILS(zeMemAllocDevice(e->context, &device_desc, 0, 0, e->device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    FAILS(zeMemAllocDevice(e->context, &device_desc, props.maxMemAllocSize + 1, 0, e->device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    FAILS(zeMemAllocHost(e->context, &host_desc, SIZE_MAX, 0, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    /* exhausted: the device has no more than it reports, and freeing gives it back */
    void *all[16];
    size_t count = 0, piece_B = props.maxMemAllocSize / 4;
    ze_result_t result = ZE_RESULT_SUCCESS;
    while (count < COUNT(all) && result == ZE_RESULT_SUCCESS) {
        result = zeMemAllocDevice(e->context, &device_desc, piece_B, 0, e->device, &all[count]);
        count += result == ZE_RESULT_SUCCESS;
    }
    assert_int_equal(result, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_in_range(count, 2, 8);
    for (size_t i = 0; i < count; i++)
        OK(zeMemFree(e->context, all[i]));
    OK(zeMemAllocDevice(e->context, &device_desc, piece_B, 0, e->device, &p));
    OK(zeMemFree(e->context, p));
    /* the limit of one allocation goes with the relaxed-limits extension */
    ze_relaxed_allocation_limits_exp_desc_t relaxed = {
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_mem_alloc_desc_t big = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                      .pNext = &relaxed};
    OK(zeMemAllocDevice(e->context, &big, props.maxMemAllocSize + 4096, 0, e->device, &p));
    OK(zeMemFree(e->context, p));
    FAILS(zeMemFree(e->context, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zeMemFree(e->context, &count), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void test_file_descriptors(void **state)
{
    struct e2e *e = *state;
    ze_external_memory_export_desc_t export = {.stype =
                                                   ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_device_mem_alloc_desc_t desc = device_desc;
    desc.pNext = &export;
    int *p, *q;
    OK(zeMemAllocDevice(e->context, &desc, 4096, 0, e->device, (void **)&p));
    ze_external_memory_export_fd_t fd = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                         .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                         .fd = -1};
    ze_memory_allocation_properties_t props = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &fd};
    OK(zeMemGetAllocProperties(e->context, p, &props, NULL));
    assert_true(fd.fd >= 0);
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                             .fd = fd.fd};
    desc.pNext = &import;
    OK(zeMemAllocDevice(e->context, &desc, 4096, 0, e->device, (void **)&q));
    p[7] = 42;
    assert_int_equal(q[7], 42);
    OK(zeMemFree(e->context, q));
    OK(zeMemFree(e->context, p));
}

/* The other process: opens what the parent sends, adds one to each word, signals the event. */
static int child_main(int fd)
{
    struct e2e e;
    void *state = NULL;
    ze_ipc_mem_handle_t memory;
    ze_ipc_event_pool_handle_t events;
    ze_event_pool_handle_t pool;
    int *p = NULL;
    if (read(fd, &memory, sizeof(memory)) != sizeof(memory) ||
        read(fd, &events, sizeof(events)) != sizeof(events) || e2e_setup(&state))
        return 10;
    e = *(struct e2e *)state;
    if (zeMemOpenIpcHandle(e.context, e.device, memory, 0, (void **)&p) ||
        zeEventPoolOpenIpcHandle(e.context, events, &pool))
        return 11;
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 1};
    ze_event_handle_t go, done;
    if (zeEventCreate(pool, &desc, &go))
        return 12;
    desc.index = 0;
    if (zeEventCreate(pool, &desc, &done) || zeEventHostSynchronize(go, UINT64_MAX))
        return 13;
    for (int i = 0; i < 1000; i++)
        p[i]++;
    if (zeEventHostSignal(done) || zeEventDestroy(go) || zeEventDestroy(done) ||
        zeEventPoolCloseIpcHandle(pool) || zeMemCloseIpcHandle(e.context, p) ||
        zeMemCloseIpcHandle(e.context, p) != ZE_RESULT_ERROR_INVALID_ARGUMENT ||
        zeContextDestroy(e.context))
        return 14;
    return 0;
}

static void test_ipc(void **state)
{
    struct e2e *e = *state;
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    pid_t child = fork();
    if (child == 0) {
        /* a driver does not survive fork: the program starts again in the child */
        dup2(sockets[1], 200);
        execl("/proc/self/exe", "test_memory", "child", (char *)NULL);
        _exit(99);
    }
    int *p;
    OK(zeMemAllocDevice(e->context, &device_desc, 4000, 0, e->device, (void **)&p));
    for (int i = 0; i < 1000; i++)
        p[i] = i; /* integrated: the host sees device memory */
    ze_event_pool_handle_t pool = e2e_pool(e, 2, ZE_EVENT_POOL_FLAG_IPC);
    ze_event_handle_t done = e2e_event(pool, 0), go = e2e_event(pool, 1);
    ze_ipc_mem_handle_t memory;
    ze_ipc_event_pool_handle_t events;
    OK(zeMemGetIpcHandle(e->context, p, &memory));
    OK(zeEventPoolGetIpcHandle(pool, &events));
    assert_int_equal(write(sockets[0], &memory, sizeof(memory)), sizeof(memory));
    assert_int_equal(write(sockets[0], &events, sizeof(events)), sizeof(events));
    FAILS(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(go));
    OK(zeEventHostSynchronize(done, 60000000000u));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], i + 1);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    /* what is not a handle */
    void *q;
    memset(&memory, 0x5a, sizeof(memory));
    FAILS(zeMemOpenIpcHandle(e->context, e->device, memory, 0, &q),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_event_pool_handle_t plain = e2e_pool(e, 1, 0);
    FAILS(zeEventPoolGetIpcHandle(plain, &events), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeEventPoolDestroy(plain));
    OK(zeEventDestroy(go));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
    close(sockets[0]);
    close(sockets[1]);
}

/* Shared pages are a file: beyond what the process may write they are refused, and do not end it.
 */
static void test_file_limit(void **state)
{
    struct e2e *e = *state;
    enum { SIZE_B = 1 << 20, EVENTS = 10000 };
    const ze_external_memory_export_desc_t export_desc = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_device_mem_alloc_desc_t exported = device_desc;
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_IPC,
                                      .count = EVENTS};
    ze_physical_mem_desc_t physical_desc = {
        .stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .pNext = &export_desc, .size = SIZE_B};
    struct rlimit before, small;
    ze_ipc_mem_handle_t memory;
    ze_event_pool_handle_t pool;
    ze_physical_mem_handle_t physical;
    void *p, *q;
    exported.pNext = &export_desc;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    ze_result_t plain = zeMemAllocDevice(e->context, &device_desc, SIZE_B, 0, e->device, &p);
    ze_result_t results[] = {zeMemAllocDevice(e->context, &exported, SIZE_B, 0, e->device, &q),
                             plain ? plain : zeMemGetIpcHandle(e->context, p, &memory),
                             zeEventPoolCreate(e->context, &pool_desc, 0, NULL, &pool),
                             zePhysicalMemCreate(e->context, e->device, &physical_desc, &physical)};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    OK(plain);
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        assert_true(results[i] == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
                    results[i] == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    OK(zeMemFree(e->context, p));
}

/* Programs written for Intel's driver send the first four bytes of a handle, a descriptor, alone
 * over a socket, with the count of a pool; and export memory that was not made for it. */
static void test_ipc_by_descriptor(void **state)
{
    struct e2e *e = *state;
    int *p, *q, sent, number;
    OK(zeMemAllocDevice(e->context, &device_desc, 4000, 0, e->device, (void **)&p));
    ze_event_pool_handle_t pool = e2e_pool(e, 3, ZE_EVENT_POOL_FLAG_IPC), same;
    ze_ipc_mem_handle_t memory;
    ze_ipc_event_pool_handle_t events;
    OK(zeMemGetIpcHandle(e->context, p, &memory));
    OK(zeEventPoolGetIpcHandle(pool, &events));
    memcpy(&sent, memory.data, sizeof(sent));
    number = dup(sent); /* as it arrives */
    assert_true(number >= 0);
    memset(&memory, 0, sizeof(memory));
    memcpy(memory.data, &number, sizeof(number));
    OK(zeMemOpenIpcHandle(e->context, e->device, memory, 0, (void **)&q));
    close(number);
    p[999] = 5;
    assert_ptr_not_equal(p, q);
    assert_int_equal(q[999], 5);
    OK(zeMemCloseIpcHandle(e->context, q));
    int count;
    memcpy(&count, events.data + sizeof(int), sizeof(count));
    assert_int_equal(count, 3);
    memset(events.data + 2 * sizeof(int), 0, sizeof(events.data) - 2 * sizeof(int));
    OK(zeEventPoolOpenIpcHandle(e->context, events, &same));
    ze_event_handle_t signalled = e2e_event(pool, 2), seen = e2e_event(same, 2);
    FAILS(zeEventQueryStatus(seen), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(signalled));
    OK(zeEventQueryStatus(seen));
    OK(zeEventDestroy(seen));
    OK(zeEventDestroy(signalled));
    OK(zeEventPoolCloseIpcHandle(same));
    OK(zeEventPoolDestroy(pool));
    /* descriptors of other files are none */
    number = open("/dev/null", O_RDWR);
    memcpy(memory.data, &number, sizeof(number));
    FAILS(zeMemOpenIpcHandle(e->context, e->device, memory, 0, (void **)&q),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    close(number);
    OK(zeMemFree(e->context, p));
    OK(zeMemAllocDevice(e->context, &device_desc, 4096, 0, e->device, (void **)&p));
    ze_external_memory_export_fd_t fd = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                         .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                         .fd = -1};
    ze_memory_allocation_properties_t props = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &fd};
    OK(zeMemGetAllocProperties(e->context, p, &props, NULL));
    assert_true(fd.fd >= 0);
    close(fd.fd);
    OK(zeMemFree(e->context, p));
}

static void test_virtual(void **state)
{
    struct e2e *e = *state;
    size_t page = 0;
    OK(zeVirtualMemQueryPageSize(e->context, e->device, 1 << 20, &page));
    assert_true(page >= 4096);
    char *base;
    /* the validation layer wants an address, which is only a hint */
    void *hint = e2e_through("validation") ? (void *)0x7e0000000000 : NULL;
    OK(zeVirtualMemReserve(e->context, hint, 8 * page, (void **)&base));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 2 * page};
    ze_physical_mem_handle_t physical;
    OK(zePhysicalMemCreate(e->context, e->device, &desc, &physical));
    OK(zeVirtualMemMap(e->context, base, 2 * page, physical, 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeVirtualMemMap(e->context, base + 4 * page, page, physical, page,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    base[page + 5] = 77; /* the same page is mapped twice */
    assert_int_equal(base[4 * page + 5], 77);
    ze_memory_access_attribute_t access;
    size_t size;
    OK(zeVirtualMemGetAccessAttribute(e->context, base, 8 * page, &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_int_equal(size, 2 * page);
    OK(zeVirtualMemSetAccessAttribute(e->context, base, 2 * page,
                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    OK(zeVirtualMemGetAccessAttribute(e->context, base + page, page, &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    /* copies reach it like any memory */
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryFill(list, base + 4 * page, "x", 1, page, NULL, 0, NULL));
    assert_int_equal(base[page + 100], 'x');
    OK(zeCommandListDestroy(list));
    FAILS(
        zeVirtualMemMap(e->context, base, page, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeVirtualMemMap(e->context, base + page, 1, physical, 0,
                          ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    FAILS(zeVirtualMemUnmap(e->context, base + 8 * page, page), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeVirtualMemUnmap(e->context, base, page + 1), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    OK(zeVirtualMemUnmap(e->context, base, 2 * page));
    OK(zeVirtualMemUnmap(e->context, base + 4 * page, page));
    OK(zePhysicalMemDestroy(e->context, physical));
    OK(zeVirtualMemFree(e->context, base, 8 * page));
    FAILS(zeVirtualMemFree(e->context, base, 8 * page), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* Mappings beside each other are one memory; parts of them end and change on their own. */
static void test_virtual_runs(void **state)
{
    struct e2e *e = *state;
    size_t page = 0;
    OK(zeVirtualMemQueryPageSize(e->context, e->device, 1 << 20, &page));
    char *base;
    void *hint = e2e_through("validation") ? (void *)0x7d0000000000 : NULL;
    OK(zeVirtualMemReserve(e->context, hint, 4 * page, (void **)&base));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 2 * page};
    ze_physical_mem_handle_t physical[2];
    for (int i = 0; i < 2; i++)
        OK(zePhysicalMemCreate(e->context, e->device, &desc, &physical[i]));
    OK(zeVirtualMemMap(e->context, base + 2 * page, 2 * page, physical[1], 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeVirtualMemMap(e->context, base, 2 * page, physical[0], 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryFill(list, base, "a", 1, 4 * page, NULL, 0, NULL));
    assert_int_equal(base[4 * page - 1], 'a');
    void *start;
    size_t size;
    OK(zeMemGetAddressRange(e->context, base + 3 * page, &start, &size));
    assert_ptr_equal(start, base);
    assert_int_equal(size, 4 * page);
    ze_memory_access_attribute_t access;
    OK(zeVirtualMemGetAccessAttribute(e->context, base + page, 8 * page, &access, &size));
    assert_int_equal(size, 3 * page);
    /* the page in the middle can only be read: a copy into it fails, and only that */
    OK(zeVirtualMemSetAccessAttribute(e->context, base + page, page,
                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    FAILS(zeCommandListAppendMemoryFill(list, base + page, "b", 1, page, NULL, 0, NULL),
          ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(base[page], 'a');
    OK(zeCommandListAppendMemoryFill(list, base, "b", 1, page, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, base + 2 * page, base + page, page, NULL, 0, NULL));
    OK(zeVirtualMemSetAccessAttribute(e->context, base, 4 * page,
                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeCommandListAppendMemoryFill(list, base, "c", 1, 4 * page, NULL, 0, NULL));
    /* a hole */
    OK(zeVirtualMemUnmap(e->context, base + page, 2 * page));
    OK(zeVirtualMemUnmap(e->context, base + page, page));
    OK(zeMemGetAddressRange(e->context, base + 3 * page, &start, &size));
    assert_ptr_equal(start, base + 3 * page);
    assert_int_equal(size, page);
    OK(zeVirtualMemGetAccessAttribute(e->context, base + page, 4 * page, &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE);
    assert_int_equal(size, 2 * page);
    assert_int_equal(base[page - 1], 'c');
    assert_int_equal(base[3 * page], 'c');
    OK(zeVirtualMemSetAccessAttribute(e->context, base, 2 * page,
                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeVirtualMemGetAccessAttribute(e->context, base, 4 * page, &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_int_equal(size, page);
    FAILS(zeVirtualMemSetAccessAttribute(e->context, base, 5 * page,
                                         ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(list));
    OK(zeVirtualMemFree(e->context, base, 4 * page));
    for (int i = 0; i < 2; i++)
        OK(zePhysicalMemDestroy(e->context, physical[i]));
}

/* What an allocation exports is physical memory for another. */
static void test_physical_import(void **state)
{
    struct e2e *e = *state;
    size_t page = 0;
    OK(zeVirtualMemQueryPageSize(e->context, e->device, 1 << 20, &page));
    ze_external_memory_export_desc_t export = {.stype =
                                                   ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_device_mem_alloc_desc_t desc = device_desc;
    desc.pNext = &export;
    char *p, *base;
    OK(zeMemAllocDevice(e->context, &desc, 1000, 0, e->device, (void **)&p));
    ze_external_memory_export_fd_t fd = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                         .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                         .fd = -1};
    ze_memory_allocation_properties_t props = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &fd};
    OK(zeMemGetAllocProperties(e->context, p, &props, NULL));
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                             .fd = fd.fd};
    ze_physical_mem_desc_t physical_desc = {
        .stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .pNext = &import, .size = 2 * page};
    ze_physical_mem_handle_t physical;
    FAILS(zePhysicalMemCreate(e->context, e->device, &physical_desc, &physical),
          ZE_RESULT_ERROR_INVALID_ARGUMENT); /* larger than what was exported */
    physical_desc.size = page;
    OK(zePhysicalMemCreate(e->context, e->device, &physical_desc, &physical));
    void *hint = e2e_through("validation") ? (void *)0x7c0000000000 : NULL;
    OK(zeVirtualMemReserve(e->context, hint, page, (void **)&base));
    OK(zeVirtualMemMap(e->context, base, page, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    p[999] = 42;
    assert_int_equal(base[999], 42);
    /* and what is mapped can be shared further */
    ze_ipc_mem_handle_t handle;
    char *again;
    OK(zeMemGetIpcHandle(e->context, base, &handle));
    OK(zeMemOpenIpcHandle(e->context, e->device, handle, 0, (void **)&again));
    assert_int_equal(again[999], 42);
    OK(zeMemCloseIpcHandle(e->context, again));
    OK(zeVirtualMemFree(e->context, base, page));
    OK(zePhysicalMemDestroy(e->context, physical));
    OK(zeMemFree(e->context, p));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(200);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_file_descriptors),
        cmocka_unit_test(test_ipc),
        cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_virtual),
        cmocka_unit_test(test_virtual_runs),
        cmocka_unit_test(test_physical_import),
        cmocka_unit_test(test_ipc_by_descriptor),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
