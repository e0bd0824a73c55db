/* SPDX-License-Identifier: MIT */
/*
 * Programs that close descriptors which they did not open, and files that become smaller: no file
 * of the program is written to or closed, and nothing ends with a signal. And pages that the kernel
 * does not let go (vm.max_map_count).
 */
#include "kernels.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 65536 };

/* ---- munmap as it is when a process has all the mappings that it may ---------------------------
 */

static atomic_bool refuses;
static _Atomic size_t unmapped_B;

int munmap(void *pages, size_t size_B)
{
    if (atomic_load(&refuses)) {
        errno = ENOMEM;
        return -1;
    }
    atomic_store(&unmapped_B, size_B);
    return (int)syscall(SYS_munmap, pages, size_B);
}

static bool is_mapped(void *page)
{
    unsigned char resident;
    return mincore(page, 4096, &resident) == 0;
}

static bool is_resident(void *page)
{
    unsigned char resident = 0;
    return mincore(page, 4096, &resident) == 0 && (resident & 1);
}

static void test_refused_unmapping(void **state)
{
    enum { COUNT = 8, SIZE_B = 1 << 16 };
    struct e2e *e = *state;
    char *p[COUNT];
    for (int i = 0; i < COUNT; i++)
        memset(p[i] = e2e_alloc(e, SIZE_B), 1, SIZE_B);
    atomic_store(&refuses, true);
    for (int i = 0; i < COUNT - 1; i++) {
        OK(zeMemFree(e->context, p[i]));
        assert_true(is_mapped(p[i]));
        assert_false(is_resident(p[i]));
    }
    atomic_store(&refuses, false);
    OK(zeMemFree(e->context, p[COUNT - 1])); /* and one that waits, and their neighbours */
    char *more[COUNT];
    for (int i = 0; i < COUNT; i++)
        more[i] = e2e_alloc(e, SIZE_B);
    for (int i = 0; i < COUNT; i++)
        OK(zeMemFree(e->context, more[i]));
    for (int i = 0; i < COUNT; i++)
        assert_false(is_mapped(p[i]));
}

/* ---- Descriptors -------------------------------------------------------------------------------
 */

static int count_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static int own_file(void)
{
    int fd = memfd_create("program's own", 0);
    char bytes[PAGE];
    memset(bytes, 'A', sizeof(bytes));
    assert_true(fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes));
    return fd;
}

static void check_own_file(int fd)
{
    char bytes[PAGE];
    assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
    for (int i = 0; i < PAGE; i++)
        assert_int_equal(bytes[i], 'A');
    assert_int_equal(close(fd), 0);
}

static void *reserve(const struct e2e *e, size_t size_B)
{
    void *p = NULL;
    OK(zeVirtualMemReserve(e->context, NULL, size_B, &p));
    return p;
}

static ze_physical_mem_handle_t make_physical(const struct e2e *e, size_t size_B)
{
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = size_B};
    ze_physical_mem_handle_t physical = NULL;
    OK(zePhysicalMemCreate(e->context, e->device, &desc, &physical));
    return physical;
}

static void map(const struct e2e *e, void *at, size_t size_B, ze_physical_mem_handle_t physical,
                size_t offset_B)
{
    OK(zeVirtualMemMap(e->context, at, size_B, physical, offset_B,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
}

/* Physical memory takes no descriptors, and is what it was when the program has closed all. */
static void test_physical_memory(void **state)
{
    enum { COUNT = 100 };
    struct e2e *e = *state;
    ze_physical_mem_handle_t physical[COUNT];
    int before = count_descriptors();
    for (int i = 0; i < COUNT; i++)
        physical[i] = make_physical(e, 2 * PAGE);
    assert_int_equal(count_descriptors(), before);
    char *base = reserve(e, 4 * PAGE);
    map(e, base, 2 * PAGE, physical[7], 0);
    memset(base, 7, 2 * PAGE);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    int fd = own_file();
    map(e, base + 2 * PAGE, PAGE, physical[7], PAGE);
    assert_int_equal(base[2 * PAGE], 7);
    memset(base + 2 * PAGE, 9, PAGE);
    assert_int_equal(base[PAGE], 9);
    OK(zeVirtualMemUnmap(e->context, base, 2 * PAGE));
    map(e, base, PAGE, physical[8], 0);
    assert_int_equal(base[0], 0);
    memset(base, 1, PAGE);
    OK(zeVirtualMemUnmap(e->context, base, PAGE));
    OK(zeVirtualMemUnmap(e->context, base + 2 * PAGE, PAGE));
    OK(zeVirtualMemFree(e->context, base, 4 * PAGE));
    for (int i = 0; i < COUNT; i++)
        OK(zePhysicalMemDestroy(e->context, physical[i]));
    check_own_file(fd);
}

/* What is shared keeps its contents wherever it is mapped, before and after. */
static void test_shared_physical_memory(void **state)
{
    struct e2e *e = *state;
    ze_physical_mem_handle_t physical = make_physical(e, 2 * PAGE);
    char *base = reserve(e, 6 * PAGE), *opened;
    map(e, base, 2 * PAGE, physical, 0);
    map(e, base + 3 * PAGE, PAGE, physical, PAGE);
    memset(base, 3, PAGE);
    base[3 * PAGE + 5] = 4;
    ze_ipc_mem_handle_t handle;
    OK(zeMemGetIpcHandle(e->context, base, &handle));
    OK(zeMemOpenIpcHandle(e->context, e->device, handle, 0, (void **)&opened));
    assert_int_equal(opened[0], 3);
    assert_int_equal(opened[PAGE + 5], 4);
    opened[PAGE + 6] = 5;
    assert_int_equal(base[PAGE + 6], 5);
    assert_int_equal(base[3 * PAGE + 6], 5);
    map(e, base + 4 * PAGE, 2 * PAGE, physical, 0);
    base[4 * PAGE] = 6;
    assert_int_equal(opened[0], 6);
    assert_int_equal(base[0], 6);
    OK(zeMemCloseIpcHandle(e->context, opened));
    OK(zeVirtualMemFree(e->context, base, 6 * PAGE));
    OK(zePhysicalMemDestroy(e->context, physical));
}

static int fd_in(const void *handle)
{
    int fd;
    memcpy(&fd, handle, sizeof(fd));
    return fd;
}

/* A descriptor in a handle that the program closed, and whose number is one of its files now. */
static void test_closed_handles(void **state)
{
    struct e2e *e = *state;
    ze_ipc_mem_handle_t first, second;
    char *p = e2e_alloc(e, PAGE), *opened;
    p[0] = 11;
    OK(zeMemGetIpcHandle(e->context, p, &first));
    assert_int_equal(close(fd_in(&first)), 0);
    int fd = own_file();
    assert_int_equal(fd, fd_in(&first));
    OK(zeMemGetIpcHandle(e->context, p, &second));
    assert_int_not_equal(fd_in(&second), fd);
    OK(zeMemOpenIpcHandle(e->context, e->device, second, 0, (void **)&opened));
    assert_int_equal(opened[0], 11);
    assert_int_equal(ftruncate(fd_in(&second), 0), -1); /* sealed */
    OK(zeMemCloseIpcHandle(e->context, opened));
    OK(zeMemFree(e->context, p));
    check_own_file(fd);

    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_IPC), same;
    ze_ipc_event_pool_handle_t events;
    OK(zeEventPoolGetIpcHandle(pool, &events));
    assert_int_equal(close(fd_in(&events)), 0);
    fd = own_file();
    OK(zeEventPoolGetIpcHandle(pool, &events));
    OK(zeEventPoolOpenIpcHandle(e->context, events, &same));
    OK(zeEventPoolCloseIpcHandle(same));
    OK(zeEventPoolDestroy(pool));
    check_own_file(fd);
}

/* Everything closed: what cannot be shared any more is refused, and nothing foreign is touched. */
static void test_closed_all(void **state)
{
    struct e2e *e = *state;
    ze_ipc_mem_handle_t handle;
    char *p = e2e_alloc(e, PAGE);
    OK(zeMemGetIpcHandle(e->context, p, &handle));
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_IPC);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    int fds[8];
    for (size_t i = 0; i < COUNT(fds); i++)
        fds[i] = own_file();
    FAILS(zeMemGetIpcHandle(e->context, p, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_ipc_event_pool_handle_t events;
    FAILS(zeEventPoolGetIpcHandle(pool, &events), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    memset(p, 1, PAGE);
    OK(zeMemFree(e->context, p));
    OK(zeEventPoolDestroy(pool));
    for (size_t i = 0; i < COUNT(fds); i++)
        check_own_file(fds[i]);
}

struct import {
    int fd;
    int *memory;
};

static struct import import_file(const struct e2e *e)
{
    struct import made = {.fd = memfd_create("import", 0)};
    assert_int_equal(ftruncate(made.fd, PAGE), 0);
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                             .fd = dup(made.fd)};
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                       .pNext = &import};
    OK(zeMemAllocDevice(e->context, &desc, PAGE, 64, e->device, (void **)&made.memory));
    return made;
}

/* A file that the program makes smaller behind its import: an error for who touches it. */
static void test_smaller_file(void **state)
{
    struct e2e *e = *state, own = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_module_handle_t module = make_module(e, "kernels.bin");
    ze_kernel_handle_t add = kernel_of(module, "add_atomic");
    OK(zeKernelSetGroupSize(add, 32, 1, 1));
    for (int copies = 0; copies < 2; copies++) {
        OK(zeContextCreate(e->driver, &desc, &own.context));
        struct import import = import_file(&own);
        int *p = import.memory, *other = e2e_alloc(&own, 64);
        set(add, 0, sizeof(p), &p);
        OK(launch(&own, add, 1));
        assert_int_equal(*p, 32);
        assert_int_equal(ftruncate(import.fd, 0), 0);
        ze_command_list_handle_t list = e2e_immediate(&own, true);
        if (copies) {
            FAILS(zeCommandListAppendMemoryCopy(list, other, p, 64, NULL, 0, NULL),
                  ZE_RESULT_ERROR_DEVICE_LOST);
            FAILS(zeCommandListAppendMemoryFill(list, p, "x", 1, 64, NULL, 0, NULL),
                  ZE_RESULT_ERROR_DEVICE_LOST);
        }
        FAILS(launch(&own, add, 1), ZE_RESULT_ERROR_DEVICE_LOST);
        *other = 0; /* who does not touch it goes on */
        set(add, 0, sizeof(other), &other);
        OK(launch(&own, add, 1));
        assert_int_equal(*other, 32);
        OK(zeCommandListDestroy(list));
        OK(zeMemFree(own.context, p));
        OK(zeMemFree(own.context, other));
        OK(zeContextDestroy(own.context));
        close(import.fd);
    }
    OK(zeKernelDestroy(add));
    OK(zeModuleDestroy(module));
}

/* The program's own access ends as it does without the driver. */
static void check_signal(const volatile int *gone)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(*gone);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* ... while a kernel polls it. */
static void test_smaller_file_in_use(void **state)
{
    struct e2e *e = *state, own = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &own.context));
    ze_module_handle_t module = make_module(&own, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "until_file_ends");
    signal(SIGBUS, SIG_DFL); /* not the test's framework */
    OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
    struct import import = import_file(&own), other = import_file(&own);
    _Atomic int *seen = e2e_alloc(&own, 64);
    atomic_store(seen, 0);
    set(kernel, 0, sizeof(import.memory), &import.memory);
    set(kernel, 1, sizeof(seen), &seen);
    ze_command_queue_handle_t queue = e2e_queue(&own, 0);
    ze_command_list_handle_t list = e2e_list(&own, 0);
    const ze_group_count_t count = {64, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    while (atomic_load(seen) == 0)
        usleep(100);
    assert_int_equal(ftruncate(other.fd, 0), 0);
    check_signal(other.memory);
    assert_int_equal(ftruncate(import.fd, 0), 0);
    FAILS(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(own.context, import.memory));
    OK(zeMemFree(own.context, other.memory));
    OK(zeMemFree(own.context, (void *)(uintptr_t)seen));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(own.context));
    close(import.fd);
    close(other.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_unmapping),      cmocka_unit_test(test_smaller_file),
        cmocka_unit_test(test_shared_physical_memory), cmocka_unit_test(test_closed_handles),
        cmocka_unit_test(test_physical_memory),        cmocka_unit_test(test_closed_all),
        cmocka_unit_test(test_smaller_file_in_use),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
