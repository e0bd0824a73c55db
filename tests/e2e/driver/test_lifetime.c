/* SPDX-License-Identifier: MIT */
/*
 * How long memory lives: under kernels that do not end, under queues that always have something to
 * do, when mappings change, when another context's copy reads it, when it moves for another
 * process.
 */
#include "kernels_group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
static const ze_group_count_t one = {1, 1, 1};

static uint64_t memory_size(const struct e2e *e)
{
    uint32_t count = 1;
    ze_device_memory_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    OK(zeDeviceGetMemoryProperties(e->device, &count, &m));
    return m.totalSize;
}

static ze_result_t try_alloc(const struct e2e *e, uint64_t size, void **ret)
{
    *ret = NULL;
    return zeMemAllocDevice(e->context, &device_desc, (size_t)size, 0, e->device, ret);
}

static void *alloc_some(const struct e2e *e, uint64_t size)
{
    void *p;
    OK(try_alloc(e, size, &p));
    return p;
}

/* ---- A kernel that runs until it is told to end -----------------------------------------------
 */

struct persistent {
    ze_kernel_handle_t kernel;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    volatile int *p, *named;
};

static void wait_for_change(volatile int *counter)
{
    int before = __atomic_load_n(counter, __ATOMIC_RELAXED);
    while (__atomic_load_n(counter, __ATOMIC_RELAXED) == before)
        usleep(200);
}

/* q: memory that no argument names, or NULL. */
static struct persistent persist(const struct e2e *e, int *named, int *q, bool indirect)
{
    struct persistent s = {.kernel = kernel_of(the_module, "persist"),
                           .queue = e2e_queue(e, 0),
                           .list = e2e_list(e, 0),
                           .p = e2e_alloc(e, 64),
                           .named = named};
    memset((void *)(uintptr_t)s.p, 0, 64);
    set(s.kernel, 0, sizeof(s.p), &s.p);
    set(s.kernel, 1, sizeof(named), &named);
    set(s.kernel, 2, sizeof(q), &q);
    OK(zeKernelSetGroupSize(s.kernel, 1, 1, 1));
    if (indirect)
        OK(zeKernelSetIndirectAccess(s.kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    OK(zeCommandListAppendLaunchKernel(s.list, s.kernel, &one, NULL, 0, NULL));
    OK(zeCommandListClose(s.list));
    OK(zeCommandQueueExecuteCommandLists(s.queue, 1, &s.list, NULL));
    wait_for_change(s.named);
    return s;
}

/* runs: it has not failed already. */
static void end_persistent(const struct e2e *e, struct persistent *s, bool runs)
{
    __atomic_store_n(&s->p[0], 1, __ATOMIC_RELAXED);
    OK(zeCommandQueueSynchronize(s->queue, UINT64_MAX));
    assert_int_equal(s->p[1], runs);
    OK(zeCommandListDestroy(s->list));
    OK(zeCommandQueueDestroy(s->queue));
    OK(zeKernelDestroy(s->kernel));
    OK(zeMemFree(e->context, (void *)(uintptr_t)s->p));
}

/* What was there before, and what comes and goes meanwhile, can be had again. */
static void test_freed_under_a_kernel(void **state)
{
    struct e2e *e = *state;
    uint64_t part = memory_size(e) / 8;
    void *before[4], *again[4];
    for (int i = 0; i < 4; i++)
        before[i] = alloc_some(e, part);
    int *named = e2e_alloc(e, 64);
    *named = 0;
    struct persistent s = persist(e, named, NULL, false);
    for (int i = 0; i < 4; i++)
        OK(zeMemFree(e->context, before[i]));
    /* it may take a slice of the kernel */
    for (int i = 0, tries = 0; i < 4;) {
        bool ok = try_alloc(e, part + part / 2, &again[i]) == ZE_RESULT_SUCCESS;
        i += ok;
        assert_true(ok || ++tries < 20000);
        if (!ok)
            usleep(1000);
    }
    for (int i = 0; i < 4; i++)
        OK(zeMemFree(e->context, again[i]));
    for (int i = 0, tries = 0; i < 64;) {
        void *p;
        bool ok = try_alloc(e, part * 3, &p) == ZE_RESULT_SUCCESS;
        i += ok;
        assert_true(ok || ++tries < 20000);
        if (ok)
            OK(zeMemFree(e->context, p));
        else
            usleep(1000);
    }
    wait_for_change(named);
    end_persistent(e, &s, true);
    OK(zeMemFree(e->context, named));
}

/* What the kernel was given stays for it; what it finds by itself, only when it said so. */
static void test_kept_for_a_kernel(void **state)
{
    struct e2e *e = *state;
    for (int indirect = 0; indirect < 2; indirect++) {
        int *named = e2e_alloc(e, 64), *found = e2e_alloc(e, 64);
        *named = *found = 0;
        struct persistent s = persist(e, named, found, indirect != 0);
        OK(zeMemFree(e->context, named));
        wait_for_change(named); /* still mapped: the kernel has it */
        wait_for_change(named);
        OK(zeMemFree(e->context, found));
        if (indirect)
            wait_for_change(named);
        else
            FAILS(zeCommandQueueSynchronize(s.queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
        end_persistent(e, &s, indirect != 0);
    }
}

/* ---- Mappings ----------------------------------------------------------------------------------
 */

struct mapped {
    char *base;
    size_t page;
    ze_physical_mem_handle_t physical;
};

static struct mapped map_some(const struct e2e *e)
{
    struct mapped m = {0};
    OK(zeVirtualMemQueryPageSize(e->context, e->device, 1 << 20, &m.page));
    OK(zeVirtualMemReserve(e->context, NULL, 4 * m.page, (void **)&m.base));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = 4 * m.page};
    OK(zePhysicalMemCreate(e->context, e->device, &desc, &m.physical));
    OK(zeVirtualMemMap(e->context, m.base, m.page, m.physical, 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    return m;
}

static void unmap_all(const struct e2e *e, struct mapped *m)
{
    OK(zeVirtualMemUnmap(e->context, m->base, m->page));
    OK(zeVirtualMemFree(e->context, m->base, 4 * m->page));
    OK(zePhysicalMemDestroy(e->context, m->physical));
}

/* Mappings change while kernels run, in their own context and beside it. */
static void test_mappings_under_a_kernel(void **state)
{
    struct e2e *e = *state, beside = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &beside.context));
    struct mapped own = map_some(e), other = map_some(&beside);
    int *counter = (int *)(void *)own.base;
    *counter = 0;
    struct persistent s = persist(e, counter, NULL, true);
    const struct e2e *contexts[] = {e, &beside};
    struct mapped *maps[] = {&own, &other};
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 2; i++) {
            struct mapped *m = maps[i];
            char *second = m->base + m->page;
            OK(zeVirtualMemMap(contexts[i]->context, second, m->page, m->physical, m->page,
                               ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
            second[round] = 1;
            OK(zeVirtualMemSetAccessAttribute(contexts[i]->context, second, m->page,
                                              ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
            OK(zeVirtualMemUnmap(contexts[i]->context, second, m->page));
        }
    }
    wait_for_change(counter); /* its own page was there all the time */
    end_persistent(e, &s, true);
    unmap_all(e, &own);
    unmap_all(&beside, &other);
    OK(zeContextDestroy(beside.context));
}

/* The very page that a kernel works on: the call returns, and the kernel faults. */
static void test_unmapped_under_a_kernel(void **state)
{
    struct e2e *e = *state;
    struct mapped m = map_some(e);
    int *counter = (int *)(void *)m.base;
    *counter = 0;
    struct persistent s = persist(e, counter, NULL, true);
    OK(zeVirtualMemUnmap(e->context, m.base, m.page));
    FAILS(zeCommandQueueSynchronize(s.queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    end_persistent(e, &s, false);
    OK(zeVirtualMemFree(e->context, m.base, 4 * m.page));
    OK(zePhysicalMemDestroy(e->context, m.physical));
}

/* ---- Queues without a pause --------------------------------------------------------------------
 */

struct copier {
    struct e2e e;
    uint32_t ordinal;
    _Atomic bool *stop;
    _Atomic uint32_t copies;
};

/* Two submissions are always under way. */
static void *copy_on_and_on(void *arg)
{
    struct copier *c = arg;
    enum { SIZE = 1 << 20 };
    char *from = e2e_alloc(&c->e, SIZE), *to = e2e_alloc(&c->e, SIZE);
    ze_command_queue_handle_t queues[2];
    ze_command_list_handle_t list = e2e_list(&c->e, c->ordinal);
    OK(zeCommandListAppendMemoryCopy(list, to, from, SIZE, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    for (int i = 0; i < 2; i++) {
        queues[i] = e2e_queue(&c->e, c->ordinal);
        OK(zeCommandQueueExecuteCommandLists(queues[i], 1, &list, NULL));
    }
    for (int i = 0; !*c->stop; i = 1 - i, c->copies++) {
        OK(zeCommandQueueSynchronize(queues[i], UINT64_MAX));
        OK(zeCommandQueueExecuteCommandLists(queues[i], 1, &list, NULL));
    }
    for (int i = 0; i < 2; i++) {
        OK(zeCommandQueueSynchronize(queues[i], UINT64_MAX));
        OK(zeCommandQueueDestroy(queues[i]));
    }
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(c->e.context, from));
    OK(zeMemFree(c->e.context, to));
    return NULL;
}

static void test_queues_without_a_pause(void **state)
{
    struct e2e *e = *state;
    _Atomic bool stop = false;
    struct copier copiers[2] = {{.e = *e, .ordinal = 0, .stop = &stop},
                                {.e = *e, .ordinal = 1, .stop = &stop}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_on_and_on, &copiers[i]), 0);
    while (!copiers[0].copies || !copiers[1].copies)
        usleep(200);
    uint64_t part = memory_size(e) / 4;
    for (int i = 0, tries = 0; i < 100;) {
        void *p;
        bool ok = try_alloc(e, part, &p) == ZE_RESULT_SUCCESS;
        i += ok;
        assert_true(ok || ++tries < 20000);
        if (ok)
            OK(zeMemFree(e->context, p));
        else
            usleep(500);
    }
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Copies between contexts -------------------------------------------------------------------
 */

struct freer {
    struct e2e e;
    void *_Atomic memory;
    _Atomic bool stop;
};

static void *free_what_comes(void *arg)
{
    struct freer *f = arg;
    for (uint32_t i = 0; !f->stop; i++) {
        void *p = atomic_exchange(&f->memory, NULL);
        if (p) {
            usleep(i * 37 % 900);
            OK(zeMemFree(f->e.context, p));
        }
    }
    return NULL;
}

/* Freed before the copy begins: the copy fails. Later: it has what it reads. Never: a crash. */
static void test_copy_of_what_is_freed(void **state)
{
    enum { SIZE = 4 << 20, ROUNDS = 60 };
    struct e2e *e = *state, to = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct freer freer = {.e = *e};
    OK(zeContextCreate(e->driver, &desc, &freer.e.context));
    OK(zeContextCreate(e->driver, &desc, &to.context));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_what_comes, &freer), 0);
    char *target = e2e_alloc(&to, SIZE);
    ze_command_list_handle_t list = e2e_immediate(&to, true);
    for (int round = 0; round < ROUNDS; round++) {
        char *source = e2e_alloc(&freer.e, SIZE);
        memset(source, round + 1, SIZE);
        freer.memory = source;
        ze_result_t result = zeCommandListAppendMemoryCopyFromContext(list, target, freer.e.context,
                                                                      source, SIZE, NULL, 0, NULL);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_DEVICE_LOST);
        for (int i = 0; result == ZE_RESULT_SUCCESS && i < SIZE; i += 4096)
            assert_int_equal(target[i], round + 1);
        while (freer.memory)
            usleep(50);
    }
    freer.stop = true;
    pthread_join(thread, NULL);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(to.context, target));
    OK(zeContextDestroy(to.context));
    OK(zeContextDestroy(freer.e.context));
}

/* ---- Export ------------------------------------------------------------------------------------
 */

enum { WRITERS = 3, EXPORT_B = 8 << 20 };

struct writer {
    uint32_t index;
    _Atomic(uint8_t *) memory;
    _Atomic bool begun, stop;
    uint32_t lost;
};

/* Counts in bytes of its own on every page, some of which it touches for the first time. */
static void *write_on_and_on(void *arg)
{
    struct writer *w = arg;
    static const size_t step = 4096;
    uint8_t *memory = w->memory;
    uint32_t *counts = calloc(EXPORT_B / step, sizeof(*counts));
    for (uint64_t i = w->index; !w->stop; i++) {
        size_t page = (size_t)(i * 2654435761u) % (EXPORT_B / step);
        volatile uint32_t *word = (volatile uint32_t *)(void *)(memory + page * step) + w->index;
        *word = *word + 1;
        counts[page]++;
        w->begun = true;
    }
    for (size_t page = 0; page < EXPORT_B / step; page++)
        w->lost += ((uint32_t *)(void *)(memory + page * step))[w->index] != counts[page];
    free(counts);
    return NULL;
}

static void test_export_while_written(void **state)
{
    struct e2e *e = *state;
    for (int round = 0; round < 12; round++) {
        struct writer writers[WRITERS] = {0};
        pthread_t threads[WRITERS];
        void *memory = e2e_alloc(e, EXPORT_B);
        for (uint32_t i = 0; i < WRITERS; i++) {
            writers[i].index = i;
            writers[i].memory = memory;
            assert_int_equal(pthread_create(&threads[i], NULL, write_on_and_on, &writers[i]), 0);
        }
        for (uint32_t i = 0; i < WRITERS; i++)
            while (!writers[i].begun)
                usleep(50);
        ze_ipc_mem_handle_t handle;
        ze_result_t result = zeMemGetIpcHandle(e->context, memory, &handle);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        usleep(500);
        for (uint32_t i = 0; i < WRITERS; i++) {
            writers[i].stop = true;
            pthread_join(threads[i], NULL);
            assert_int_equal(writers[i].lost, 0);
        }
        if (result == ZE_RESULT_SUCCESS) { /* the other side sees what was written */
            uint8_t *seen = NULL;
            OK(zeMemOpenIpcHandle(e->context, e->device, handle, 0, (void **)&seen));
            assert_memory_equal(seen, memory, EXPORT_B);
            OK(zeMemCloseIpcHandle(e->context, seen));
        }
        OK(zeMemFree(e->context, memory));
    }
}

/* A kernel that does not end is no reason to refuse, and goes on with its memory. */
static void test_export_under_a_kernel(void **state)
{
    struct e2e *e = *state;
    int *named = e2e_alloc(e, 64), *found = e2e_alloc(e, 1 << 20);
    *named = *found = 0;
    struct persistent s = persist(e, named, found, true);
    ze_ipc_mem_handle_t handle;
    ze_result_t result = zeMemGetIpcHandle(e->context, found, &handle);
    assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    if (result == ZE_RESULT_SUCCESS) {
        volatile int *seen = NULL;
        OK(zeMemOpenIpcHandle(e->context, e->device, handle, 0, (void **)(uintptr_t)&seen));
        wait_for_change(seen);
        OK(zeMemCloseIpcHandle(e->context, (void *)(uintptr_t)seen));
    }
    end_persistent(e, &s, true);
    assert_int_equal(*found, *named);
    OK(zeMemFree(e->context, named));
    OK(zeMemFree(e->context, found));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freed_under_a_kernel),
        cmocka_unit_test(test_kept_for_a_kernel),
        cmocka_unit_test(test_mappings_under_a_kernel),
        cmocka_unit_test(test_unmapped_under_a_kernel),
        cmocka_unit_test(test_queues_without_a_pause),
        cmocka_unit_test(test_copy_of_what_is_freed),
        cmocka_unit_test(test_export_while_written),
        cmocka_unit_test(test_export_under_a_kernel),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
