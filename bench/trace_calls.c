/* SPDX-License-Identifier: MIT */
/*
 * Cheap API calls from several threads, timed by the program itself.
 *
 * usage: trace_calls CALL THREADS CALLS [tracer]
 *
 * CALL is version (zeDriverGetApiVersion), query (zeEventQueryStatus) or barrier
 * (zeCommandListAppendBarrier, the list is reset every 1,000) or mixed (allocations, queries,
 * barriers on an immediate list). CALLS is how many in all. `tracer` enables a tracer of the
 * loader's tracing layer with empty callbacks around them. Prints the CPU time (user and system, of
 * the calling threads) and the wall time of a call, in nanoseconds.
 */
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <level_zero/ze_api.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64, LIST_APPENDS = 1000 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

struct worker {
    pthread_t thread;
    long calls;
    double cpu_ns;
    ze_event_handle_t event;
    ze_command_list_handle_t list, immediate;
    void (*run)(struct worker *w);
};

static pthread_barrier_t start;

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "trace_calls: %s: 0x%x\n", what, (unsigned)result);
    exit(1);
}

static void run_version(struct worker *w)
{
    ze_api_version_t version;
    for (long i = 0; i < w->calls; i++)
        zeDriverGetApiVersion(driver, &version);
}

static void run_query(struct worker *w)
{
    for (long i = 0; i < w->calls; i++)
        zeEventQueryStatus(w->event);
}

static void run_barrier(struct worker *w)
{
    for (long i = 0; i < w->calls; i++) {
        zeCommandListAppendBarrier(w->list, NULL, 0, NULL);
        if (i % LIST_APPENDS == LIST_APPENDS - 1)
            zeCommandListReset(w->list);
    }
}

static void run_mixed(struct worker *w)
{
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    for (long i = 0; i < w->calls; i += 10) {
        void *p = NULL;
        zeMemAllocHost(context, &desc, 4096, 64, &p);
        for (int k = 0; k < 7; k++)
            zeEventQueryStatus(w->event);
        zeCommandListAppendBarrier(w->immediate, NULL, 0, NULL);
        zeMemFree(context, p);
    }
}

static const struct {
    const char *name;
    void (*run)(struct worker *w);
} kinds[] = {
    {"version", run_version}, {"query", run_query}, {"barrier", run_barrier}, {"mixed", run_mixed}};

static void *work(void *arg)
{
    struct worker *w = arg;
    long calls = w->calls;
    w->calls = 100; /* files are made and code is bound */
    w->run(w);
    w->calls = calls;
    pthread_barrier_wait(&start);
    double from_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    w->run(w);
    w->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
    return NULL;
}

static void empty_version(ze_driver_get_api_version_params_t *params, ze_result_t result,
                          void *user, void **instance)
{
}

static void empty_query(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                        void **instance)
{
}

static void empty_barrier(ze_command_list_append_barrier_params_t *params, ze_result_t result,
                          void *user, void **instance)
{
}

static void enable_tracer(void)
{
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer;
    check(zelTracerCreate(&desc, &tracer), "zelTracerCreate");
    for (int i = 0; i < 2; i++) {
        zel_tracer_reg_t when = i ? ZEL_REGISTER_EPILOGUE : ZEL_REGISTER_PROLOGUE;
        zelTracerDriverGetApiVersionRegisterCallback(tracer, when, empty_version);
        zelTracerEventQueryStatusRegisterCallback(tracer, when, empty_query);
        zelTracerCommandListAppendBarrierRegisterCallback(tracer, when, empty_barrier);
    }
    check(zelTracerSetEnabled(tracer, 1), "zelTracerSetEnabled");
}

static void make_objects(struct worker *workers, int threads)
{
    uint32_t one = 1;
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    check(zeInit(0), "zeInit");
    check(zeDriverGet(&one, &driver), "zeDriverGet");
    check(zeDeviceGet(driver, &one, &device), "zeDeviceGet");
    check(zeContextCreate(driver, &context_desc, &context), "zeContextCreate");
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .count = (uint32_t)threads};
    ze_event_pool_handle_t pool;
    check(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool), "zeEventPoolCreate");
    for (int i = 0; i < threads; i++) {
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = (uint32_t)i};
        ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
        check(zeEventCreate(pool, &event, &workers[i].event), "zeEventCreate");
        check(zeCommandListCreate(context, device, &list, &workers[i].list), "list");
        ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
        check(zeCommandListCreateImmediate(context, device, &queue, &workers[i].immediate), "list");
    }
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    int threads = argc > 3 ? atoi(argv[2]) : 0;
    void (*run)(struct worker * w) = NULL;
    for (size_t i = 0; argc > 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(argv[1], kinds[i].name))
            run = kinds[i].run;
    if (!run || threads < 1 || threads > THREADS_MAX)
        return 2;
    long calls = atol(argv[3]);
    make_objects(workers, threads);
    if (argc > 4 && !strcmp(argv[4], "tracer"))
        enable_tracer();
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        workers[i].calls = calls / threads;
        workers[i].run = run;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    double cpu_ns = 0;
    pthread_barrier_wait(&start);
    double from_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        cpu_ns += workers[i].cpu_ns;
    }
    double wall_ns = now_ns(CLOCK_MONOTONIC) - from_ns;
    printf("%.2f %.2f\n", cpu_ns / (double)(calls / threads * threads), wall_ns / (double)calls);
    return 0;
}
