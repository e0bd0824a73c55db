/* SPDX-License-Identifier: MIT */
/* --check=race between commands that several host threads submit: what is told of it. */
#include "first_device.h"

#include "driver/ddi.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

enum { THREADS = 4, ROUNDS = 50, PART_B = 3 * 4096 + 40 };

struct env {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_event_handle_t events[THREADS + 1];
    ze_event_pool_handle_t pool;
    uint8_t *memory; /* a part for each thread, and one more */
    char report[32];
    size_t told; /* findings that were counted */
    _Atomic uint32_t turn;
};

struct thread {
    struct env *e;
    uint32_t index;
    pthread_t id;
};

/* Findings since the last time: blocks of the report. */
static size_t told(struct env *e)
{
    char line[4096];
    size_t all = 0;
    FILE *f = fopen(e->report, "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        all += strstr(line, "race in global memory") != NULL;
    fclose(f);
    size_t fresh = all - e->told;
    e->told = all;
    return fresh;
}

static ze_command_list_handle_t immediate(const struct env *e)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    OK(zeCommandListCreateImmediate(e->context, e->device, &desc, &list));
    return list;
}

static void fill(ze_command_list_handle_t list, void *to, size_t size_B, ze_event_handle_t signal,
                 ze_event_handle_t wait)
{
    static const uint8_t zero;
    OK(zeCommandListAppendMemoryFill(list, to, &zero, 1, size_B, signal, wait != NULL, &wait));
}

static void in_threads(struct env *e, void *(*run)(void *))
{
    struct thread threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.e = e, .index = i};
        assert_int_equal(pthread_create(&threads[i].id, NULL, run, &threads[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i].id, NULL);
}

/* Each fills its own part again and again, memory that comes and goes, and asks for its event. */
static void *apart(void *arg)
{
    const struct thread *t = arg;
    struct env *e = t->e;
    ze_command_list_handle_t list = immediate(e);
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    for (int i = 0; i < ROUNDS; i++) {
        void *own;
        OK(zeMemAllocHost(e->context, &desc, PART_B, 0, &own));
        fill(list, own, PART_B, NULL, NULL);
        fill(list, e->memory + (size_t)t->index * PART_B, PART_B, e->events[t->index], NULL);
        while (zeEventQueryStatus(e->events[t->index]) == ZE_RESULT_NOT_READY) {
        }
        OK(zeCommandListHostSynchronize(list, UINT64_MAX));
        OK(zeEventHostReset(e->events[t->index]));
        OK(zeMemFree(e->context, own));
    }
    OK(zeCommandListDestroy(list));
    return NULL;
}

/* All fill one part: each waits for the event of the one before, which was submitted before, as an
 * engine takes one after the other. */
static void *in_a_chain(void *arg)
{
    const struct thread *t = arg;
    struct env *e = t->e;
    ze_command_list_handle_t list = immediate(e);
    while (e->turn != t->index) {
    }
    fill(list, e->memory, PART_B, e->events[t->index + 1], e->events[t->index]);
    e->turn++;
    OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    OK(zeCommandListDestroy(list));
    return NULL;
}

static void test_threads(void **state)
{
    struct env *e = *state;
    in_threads(e, apart);
    assert_int_equal(told(e), 0);
    OK(zeEventHostSignal(e->events[0]));
    in_threads(e, in_a_chain);
    assert_int_equal(told(e), 0);
    for (uint32_t i = 0; i <= THREADS; i++)
        OK(zeEventHostReset(e->events[i]));
}

/* Two lists, an event that only one of them knows. */
static void test_unordered(void **state)
{
    struct env *e = *state;
    ze_command_list_handle_t one = immediate(e), other = immediate(e);
    uint8_t *at = e->memory + (size_t)THREADS * PART_B;
    fill(one, at, PART_B, NULL, e->events[0]);
    fill(other, at + 4096, 4, NULL, NULL);
    OK(zeEventHostSignal(e->events[0]));
    OK(zeCommandListHostSynchronize(one, UINT64_MAX));
    OK(zeCommandListHostSynchronize(other, UINT64_MAX));
    assert_int_equal(told(e), 1);
    OK(zeEventHostReset(e->events[0]));
    OK(zeCommandListDestroy(one));
    OK(zeCommandListDestroy(other));
}

static int setup(void **state)
{
    static struct env e = {.report = "/tmp/zs-order-XXXXXX"};
    ze_driver_handle_t driver;
    close(mkstemp(e.report));
    setenv("ZESCOPE_CHECK", "race", 1);
    setenv("ZESCOPE_CHECK_REPORT", e.report, 1);
    setenv("ZESCOPE_LOG", "off", 1);
    first_device(&driver, &e.device);
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &context, &e.context));
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 .count = THREADS + 1};
    OK(zeEventPoolCreate(e.context, &pool, 0, NULL, &e.pool));
    for (uint32_t i = 0; i <= THREADS; i++) {
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        OK(zeEventCreate(e.pool, &event, &e.events[i]));
    }
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(zeMemAllocHost(e.context, &host, (size_t)(THREADS + 1) * PART_B, 0, (void **)&e.memory));
    *state = &e;
    return 0;
}

static int teardown(void **state)
{
    struct env *e = *state;
    for (uint32_t i = 0; i <= THREADS; i++)
        OK(zeEventDestroy(e->events[i]));
    OK(zeEventPoolDestroy(e->pool));
    OK(zeMemFree(e->context, e->memory));
    OK(zeContextDestroy(e->context));
    unlink(e->report);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_unordered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
