/* SPDX-License-Identifier: MIT */
/*
 * The recorder's half in the process, the layer and the tracers, built with ThreadSanitizer, over
 * the software GPU's driver (which is not: it synchronises where nobody sees, the recorder must do
 * its own). Threads make calls of all kinds that activity follows; others enable, disable and
 * destroy tracers and pause and resume at random. Then the recording is read: every call that was
 * made while it was on must be there, in pairs, and every execution belong to an append.
 *
 *     storm DRIVER [CALLS]       at least so many calls; 60000 unless told
 */
#include "api_calls.h"
#include "collect/api_trace.h"
#include "collect/collect.h"
#include "collect/pause.h"
#include "layer/layer.h"
#include "record/merge.h"
#include "store/trace_writer.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 4, BYTES = 4096 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The driver's own synchronisation is not seen. Nothing of the recorder runs inside it. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:libze_zescope.so\n";
}

/* What an application finds in the loader's tables: the layer's functions over the driver's. */
static struct {
    ze_global_dditable_t global;
    ze_driver_dditable_t driver;
    ze_device_dditable_t device;
    ze_context_dditable_t context;
    ze_command_queue_dditable_t queue;
    ze_command_list_dditable_t list;
    ze_event_dditable_t event;
    ze_event_pool_dditable_t pool;
    ze_fence_dditable_t fence;
    ze_mem_dditable_t mem;
    ze_kernel_dditable_t kernel;
} ze;

/* The layer's own, in this program. */
#define TABLE(type, name)                                                                          \
    ze_result_t ZE_APICALL zeGet##name##ProcAddrTable(ze_api_version_t, type *);
#define TABLES(X)                                                                                  \
    X(ze_global_dditable_t, Global, global)                                                        \
    X(ze_driver_dditable_t, Driver, driver)                                                        \
    X(ze_device_dditable_t, Device, device)                                                        \
    X(ze_context_dditable_t, Context, context)                                                     \
    X(ze_command_queue_dditable_t, CommandQueue, queue)                                            \
    X(ze_command_list_dditable_t, CommandList, list)                                               \
    X(ze_event_dditable_t, Event, event)                                                           \
    X(ze_event_pool_dditable_t, EventPool, pool)                                                   \
    X(ze_fence_dditable_t, Fence, fence)                                                           \
    X(ze_mem_dditable_t, Mem, mem)                                                                 \
    X(ze_kernel_dditable_t, Kernel, kernel)

static void get_tables(const char *driver_path)
{
    void *driver = dlopen(driver_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(driver);
#define X(type, name, member)                                                                      \
    ze_result_t (*get_##member)(ze_api_version_t, type *) =                                        \
        (ze_result_t(*)(ze_api_version_t, type *))dlsym(driver, "zeGet" #name "ProcAddrTable");    \
    CHECK(get_##member && !get_##member(ZE_API_VERSION_CURRENT, &ze.member));                      \
    CHECK(!zeGet##name##ProcAddrTable(ZE_API_VERSION_CURRENT, &ze.member));
    TABLES(X)
#undef X
}

static ze_device_handle_t device;
static ze_context_handle_t context;
static atomic_long calls_made;
static atomic_bool stop;
static long calls_wanted = 60000;

#define OK(call)                                                                                   \
    do {                                                                                           \
        ze_result_t ok_result = (call);                                                            \
        made++;                                                                                    \
        if (ok_result) {                                                                           \
            fprintf(stderr, "%s: 0x%x\n", #call, (unsigned)ok_result);                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct worker {
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t lists[2], immediate;
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[2];
    ze_fence_handle_t fence;
    char *data;
    unsigned seed;
};

static long worker_start(struct worker *w)
{
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 2};
    const ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    long made = 0;
    void *data;
    OK(ze.queue.pfnCreate(context, device, &queue, &w->queue));
    OK(ze.list.pfnCreateImmediate(context, device, &queue, &w->immediate));
    OK(ze.pool.pfnCreate(context, &pool, 1, &device, &w->pool));
    OK(ze.fence.pfnCreate(w->queue, &fence, &w->fence));
    OK(ze.mem.pfnAllocHost(context, &host, BYTES, 64, &data));
    w->data = data;
    for (uint32_t i = 0; i < 2; i++) {
        const ze_event_desc_t event = {
            .stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
        OK(ze.list.pfnCreate(context, device, &list, &w->lists[i]));
        OK(ze.event.pfnCreate(w->pool, &event, &w->events[i]));
    }
    return made;
}

static long worker_end(struct worker *w)
{
    long made = 0;
    for (uint32_t i = 0; i < 2; i++) {
        OK(ze.list.pfnDestroy(w->lists[i]));
        OK(ze.event.pfnDestroy(w->events[i]));
    }
    OK(ze.fence.pfnDestroy(w->fence));
    OK(ze.pool.pfnDestroy(w->pool));
    OK(ze.list.pfnDestroy(w->immediate));
    OK(ze.queue.pfnDestroy(w->queue));
    OK(ze.mem.pfnFree(context, w->data));
    return made;
}

/* A list is filled, executed several times, its event reset by somebody, and reset. */
static long work_list(struct worker *w, ze_command_list_handle_t list)
{
    long made = 0;
    int pattern = 7;
    bool with_event = rand_r(&w->seed) % 2, reset_inside = rand_r(&w->seed) % 2;
    ze_event_handle_t event = with_event ? w->events[0] : NULL; /* shared by both lists */
    OK(ze.list.pfnAppendMemoryCopy(list, w->data, w->data + 2048, 64, event, 0, NULL));
    OK(ze.list.pfnAppendBarrier(list, NULL, 0, NULL));
    if (with_event && reset_inside)
        OK(ze.list.pfnAppendEventReset(list, event));
    OK(ze.list.pfnAppendMemoryFill(list, w->data, &pattern, 4, 256, NULL, 0, NULL));
    OK(ze.list.pfnClose(list));
    for (int i = rand_r(&w->seed) % 4; i >= 0; i--) {
        OK(ze.queue.pfnExecuteCommandLists(w->queue, 1, &list, i ? NULL : w->fence));
        if (rand_r(&w->seed) % 3 == 0)
            OK(ze.queue.pfnSynchronize(w->queue, UINT64_MAX));
    }
    OK(ze.fence.pfnHostSynchronize(w->fence, UINT64_MAX));
    OK(ze.fence.pfnReset(w->fence));
    if (with_event)
        OK(ze.event.pfnHostReset(event));
    OK(ze.list.pfnReset(list));
    return made;
}

static long work_immediate(struct worker *w)
{
    long made = 0;
    ze_event_handle_t event = rand_r(&w->seed) % 2 ? w->events[1] : NULL;
    for (int i = rand_r(&w->seed) % 8; i >= 0; i--)
        OK(ze.list.pfnAppendBarrier(w->immediate, i ? NULL : event, 0, NULL));
    if (event) {
        OK(ze.event.pfnHostSynchronize(event, UINT64_MAX));
        ze_kernel_timestamp_result_t times;
        OK(ze.event.pfnQueryKernelTimestamp(event, &times));
        OK(ze.event.pfnHostReset(event));
    }
    return made;
}

static void *work(void *arg)
{
    struct worker w = {.seed = (unsigned)(uintptr_t)arg};
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        long made = worker_start(&w);
        for (int i = 0; i < 200; i++)
            made += rand_r(&w.seed) % 2 ? work_list(&w, w.lists[rand_r(&w.seed) % 2])
                                        : work_immediate(&w);
        made += worker_end(&w);
        if (atomic_fetch_add(&calls_made, made) + made >= calls_wanted)
            atomic_store(&stop, true);
    }
    return NULL;
}

/* Other tracers: pairs must not be torn, and nothing is seen after a destroy. */
struct watcher {
    atomic_bool alive;
    atomic_long open, pairs;
};

static void watch(const struct zs_trace_event *event, void *user_data, void **instance_data)
{
    struct watcher *w = user_data;
    CHECK(atomic_load(&w->alive));
    if (!event->is_exit) {
        CHECK(!*instance_data);
        atomic_fetch_add(&w->open, 1);
        *instance_data = (void *)event->params;
        return;
    }
    CHECK(*instance_data == (void *)event->params);
    atomic_fetch_sub(&w->open, 1);
    atomic_fetch_add(&w->pairs, 1);
}

static long watched_pairs;

static void *disturb(void *arg)
{
    const struct zs_layer_interface *layer = zs_layer_get_interface();
    unsigned seed = 99;
    while (!atomic_load(&stop)) {
        struct watcher watchers[2] = {{.alive = true}, {.alive = true}};
        struct zs_tracer *tracers[2];
        for (int i = 0; i < 2; i++)
            CHECK(!layer->tracer_new(layer->set, &watchers[i], &tracers[i]) &&
                  !layer->tracer_set_any(tracers[i], watch));
        for (int step = rand_r(&seed) % 16; step >= 0; step--) {
            CHECK(!layer->tracer_enable(tracers[rand_r(&seed) % 2], rand_r(&seed) % 2));
            usleep((unsigned)rand_r(&seed) % 200);
        }
        for (int i = 0; i < 2; i++) {
            CHECK(!layer->tracer_free(tracers[i]));
            atomic_store(&watchers[i].alive, false);
            CHECK(!atomic_load(&watchers[i].open));
            watched_pairs += atomic_load(&watchers[i].pairs);
        }
    }
    return NULL;
}

static void *toggle(void *arg)
{
    unsigned seed = 5;
    while (!atomic_load(&stop)) {
        usleep((unsigned)rand_r(&seed) % 3000);
        zs_pause_set(rand_r(&seed) % 2, ZS_PAUSE_API, zs_trace_now_ns());
        zs_api_trace_mark(ZS_ACT_MARK, "here");
    }
    zs_pause_set(false, ZS_PAUSE_API, zs_trace_now_ns());
    return NULL;
}

static void run_threads(bool with_pauses)
{
    pthread_t threads[WORKERS + 2];
    atomic_store(&stop, false);
    atomic_store(&calls_made, 0);
    size_t count = 0;
    for (; count < WORKERS; count++)
        pthread_create(&threads[count], NULL, work, (void *)(uintptr_t)(count + 1));
    pthread_create(&threads[count++], NULL, disturb, NULL);
    if (with_pauses)
        pthread_create(&threads[count++], NULL, toggle, NULL);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

struct found {
    uint64_t executions, timed, appends;
};

static int on_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                   uint64_t process)
{
    CHECK(call->finished && !call->depth && call->call >= 0);
    return 0;
}

static int on_append(void *user, const struct zs_act_append *append)
{
    struct found *f = user;
    f->appends++;
    return 0;
}

static int on_execute(void *user, const struct zs_act_execute *execute)
{
    struct found *f = user;
    CHECK(execute->append);
    f->executions++;
    f->timed += execute->end_ns != 0;
    return 0;
}

/* Every call that began ended, every execution has its append; how many calls. */
static uint64_t check_recording(const char *recording)
{
    struct found found = {0};
    const struct zs_merge_sink sink = {
        .user = &found, .call = on_call, .append = on_append, .execute = on_execute};
    struct zs_activities t;
    struct zs_merge_totals totals;
    CHECK(!zs_merge(recording, &sink, &t, &totals, NULL));
    CHECK(!totals.lost && !totals.damaged_files);
    CHECK(found.executions && found.timed > found.executions / 2);
    printf("%llu calls, %llu appends, %llu executions, %llu with times, %zu pauses\n",
           (unsigned long long)totals.calls, (unsigned long long)found.appends,
           (unsigned long long)found.executions, (unsigned long long)found.timed, t.pauses.count);
    zs_activities_free(&t);
    return totals.calls;
}

int main(int argc, char **argv)
{
    static struct zs_collector collector = {.activity = true};
    char dir[] = "/tmp/zs-storm-XXXXXX", command[64];
    ze_driver_handle_t driver;
    uint32_t one = 1;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    CHECK(argc > 1 && mkdtemp(dir));
    if (argc > 2)
        calls_wanted = atol(argv[2]);
    snprintf(command, sizeof(command), "mkdir %s/process %s/modules", dir, dir);
    CHECK(!system(command) && !zs_collector_init(&collector, dir, false));
    get_tables(argv[1]);
    CHECK(zs_api_trace_start(&collector, dlopen(NULL, RTLD_NOW)));
    CHECK(!ze.global.pfnInit(0) && !ze.driver.pfnGet(&one, &driver) &&
          !ze.device.pfnGet(driver, &one, &device) &&
          !ze.context.pfnCreate(driver, &desc, &context));
    run_threads(false);
    printf("%ld calls, %ld pairs seen by other tracers\n", atomic_load(&calls_made), watched_pairs);
    CHECK(check_recording(dir) == 4 + (uint64_t)atomic_load(&calls_made));
    calls_wanted = calls_wanted / 4;
    run_threads(true);
    zs_api_trace_flush();
    check_recording(dir);
    CHECK(!ze.context.pfnDestroy(context));
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) ? 1 : 0;
}
