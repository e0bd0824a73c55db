/* SPDX-License-Identifier: MIT */
/* Engines do one thing at a time on the device's clock, whichever contexts, queues and devices of a
 * card the work comes through; contexts may go while what is in them waits for that. */
#include "metrics_env.h"

#include "base/clock.h"
#include "driver/queue/engine_time.h"

#include <zescope/driver_ext.h>

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* ---- The rule ----------------------------------------------------------------------------------
 */

struct taken {
    uint64_t start, end;
};

static struct taken take(struct zs_ze_device *device, uint32_t ordinal, enum zs_engine_command kind,
                         uint64_t earliest, uint64_t start, uint64_t end)
{
    zs_engine_take(device, ordinal, kind, earliest, &start, &end);
    return (struct taken){start, end};
}

#define IS(t, a, b)                                                                                \
    do {                                                                                           \
        const struct taken got_ = (t);                                                             \
        assert_int_equal(got_.start, (a));                                                         \
        assert_int_equal(got_.end, (b));                                                           \
    } while (0)

static void test_rule(void **state)
{
    static struct zs_ze_device root, tiles[2];
    (void)state;
    pthread_mutex_init(&root.engines_lock, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        root.subs[root.sub_count++] = &tiles[i];
        tiles[i].parent = &root;
    }
    const uint32_t compute = ZS_ORDINAL_COMPUTE, copy = ZS_ORDINAL_COPY;
    struct zs_ze_device *a = &tiles[0], *b = &tiles[1];
    IS(take(a, compute, ZS_ENGINE_MODELLED, 0, 100, 150), 100, 150);
    IS(take(a, compute, ZS_ENGINE_MODELLED, 0, 120, 150), 150,
       180); /* behind it, as long as it is */
    IS(take(a, compute, ZS_ENGINE_MODELLED, 200, 190, 195), 200, 205);
    IS(take(a, compute, ZS_ENGINE_MEASURED, 0, 110, 300), 205, 300); /* what it waited is cut off */
    IS(take(a, compute, ZS_ENGINE_MEASURED, 0, 110, 250), 300, 301);
    IS(take(a, compute, ZS_ENGINE_MODELLED, 0, 400, 400), 400, 401);     /* a tick at least */
    IS(take(a, copy, ZS_ENGINE_MEASURED, 0, 100, 200), 100, 200);        /* another engine */
    IS(take(b, compute, ZS_ENGINE_MODELLED, 0, 120, 150), 120, 150);     /* another tile */
    IS(take(&root, compute, ZS_ENGINE_MODELLED, 0, 130, 140), 401, 411); /* all its tiles */
    IS(take(b, compute, ZS_ENGINE_MODELLED, 0, 200, 201), 411, 412);
    IS(take(a, compute, ZS_ENGINE_MODELLED, 0, 500, 510), 500, 510);
    IS(take(&root, copy, ZS_ENGINE_MEASURED, 0, 150, 260), 200, 260);
    pthread_mutex_destroy(&root.engines_lock);
}

/* ---- Programs ----------------------------------------------------------------------------------
 */

/* A batch begins with a copy, which takes the host so long that others run meanwhile. */
enum { SOURCES = 4, LAUNCHES = 60, BATCH = 20, COPY_B = 16 << 20 };

/* An immediate list of one of two contexts on one of the devices of the card. */
struct source {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[LAUNCHES];
    void *memory, *from, *to;
    uint32_t tiles; /* bit each */
    struct taken taken[LAUNCHES];
};

static uint8_t module_bytes[1 << 16];
static _Atomic uint64_t cycles_most, cycles_least;

static void ended(const zescope_launch_info_t *info, void *user)
{
    (void)user;
    if (info->modelled_cycles > cycles_most)
        cycles_most = info->modelled_cycles;
    if (!cycles_least || info->modelled_cycles < cycles_least)
        cycles_least = info->modelled_cycles;
}

static size_t read_module(void)
{
    FILE *file = fopen(MODULE, "rb");
    assert_non_null(file);
    size_t size = fread(module_bytes, 1, sizeof(module_bytes), file);
    fclose(file);
    return size;
}

static void open_source(struct source *s, ze_device_handle_t device, ze_context_handle_t context,
                        size_t size, uint32_t tiles)
{
    *s = (struct source){.device = device, .context = context, .tiles = tiles};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .inputSize = size,
                               .pInputModule = module_bytes};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "writes"};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                          ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                 .count = LAUNCHES};
    int number = 3;
    OK(zeCommandListCreateImmediate(context, device, &queue, &s->list));
    OK(zeModuleCreate(context, device, &module, &s->module, NULL));
    OK(zeKernelCreate(s->module, &kernel, &s->kernel));
    OK(zeMemAllocHost(context, &host, 4096, 0, &s->memory));
    OK(zeMemAllocHost(context, &host, COPY_B, 0, &s->from));
    OK(zeMemAllocHost(context, &host, COPY_B, 0, &s->to));
    OK(zeKernelSetGroupSize(s->kernel, 16, 1, 1));
    OK(zeKernelSetArgumentValue(s->kernel, 0, sizeof(s->memory), &s->memory));
    OK(zeKernelSetArgumentValue(s->kernel, 1, sizeof(number), &number));
    OK(zeEventPoolCreate(context, &pool, 1, &device, &s->pool));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        OK(zeEventCreate(s->pool, &event, &s->events[i]));
    }
}

/* What has gone with the context if that has. */
static void close_memory(struct source *s)
{
    OK(zeMemFree(s->context, s->memory));
    OK(zeMemFree(s->context, s->from));
    OK(zeMemFree(s->context, s->to));
}

static void close_source(struct source *s)
{
    for (uint32_t i = 0; i < LAUNCHES; i++)
        OK(zeEventDestroy(s->events[i]));
    OK(zeEventPoolDestroy(s->pool));
    OK(zeKernelDestroy(s->kernel));
    OK(zeModuleDestroy(s->module));
    OK(zeCommandListDestroy(s->list));
}

/* On the device's clock since `base`: timestamps of events are cut. */
static void read_times(struct source *s, uint64_t base)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    OK(zeDeviceGetProperties(s->device, &p));
    uint64_t mask = UINT64_MAX >> (64 - p.kernelTimestampValidBits);
    uint64_t cycles = cycles_most;
    uint64_t length = cycles * p.timerResolution / (p.coreClockRate * UINT64_C(1000000));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        ze_kernel_timestamp_result_t t;
        OK(zeEventQueryKernelTimestamp(s->events[i], &t));
        s->taken[i].start = (t.global.kernelStart - base) & mask;
        s->taken[i].end = s->taken[i].start + ((t.global.kernelEnd - t.global.kernelStart) & mask);
        if (i % BATCH) /* less where the host was quicker than that: no time is in the future */
            assert_in_range(s->taken[i].end - s->taken[i].start, length / 2, length);
        assert_true(s->taken[i].end > s->taken[i].start);
    }
}

static void check_order(const struct source *a, const struct source *b)
{
    for (uint32_t i = 0; i < LAUNCHES; i++)
        for (uint32_t k = 0; k < LAUNCHES; k++) {
            const struct taken *x = &a->taken[i], *y = &b->taken[k];
            if (a == b ? i < k : a->tiles & b->tiles)
                assert_true(x->end <= y->start || (a != b && y->end <= x->start));
        }
}

/* A batch of each at once, and all of them again. */
static void run(struct source sources[SOURCES], zet_metric_streamer_handle_t streamer)
{
    static uint8_t raw[1 << 20];
    for (uint32_t first_event = 0; first_event < LAUNCHES; first_event += BATCH) {
        const ze_group_count_t one = {1, 1, 1};
        for (uint32_t i = first_event; i < first_event + BATCH; i++)
            for (struct source *s = sources; s < sources + SOURCES; s++)
                if (i == first_event)
                    OK(zeCommandListAppendMemoryCopy(s->list, s->to, s->from, COPY_B, s->events[i],
                                                     0, NULL));
                else
                    OK(zeCommandListAppendLaunchKernel(s->list, s->kernel, &one, s->events[i], 0,
                                                       NULL));
        for (uint32_t s = 0; s < SOURCES; s++)
            OK(zeEventHostSynchronize(sources[s].events[first_event + BATCH - 1], UINT64_MAX));
        size_t size = sizeof(raw);
        if (streamer) /* what it told of is over */
            (void)zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw);
    }
}

static void test_programs(void **state)
{
    struct env *e = *state;
    static struct source sources[SOURCES];
    size_t size = read_module();
    uint32_t two = 2;
    ze_device_handle_t tiles[2];
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t other;
    zescope_pfnDriverSetLaunchCallback_t set = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                                           (void **)&set));
    OK(set(e->driver, ended, NULL, false));
    OK(zeDeviceGetSubDevices(e->root, &two, tiles));
    OK(zeContextCreate(e->driver, &desc, &other));
    open_source(&sources[0], tiles[0], e->context, size, 1);
    open_source(&sources[1], tiles[0], other, size, 1);
    open_source(&sources[2], e->root, other, size, 3);
    open_source(&sources[3], tiles[1], e->context, size, 2);
    for (uint32_t pass = 0; pass < 2; pass++) { /* without metrics, then with a streamer */
        zet_metric_streamer_handle_t streamer = NULL;
        if (pass) {
            zet_metric_streamer_desc_t stream = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                                 .samplingPeriod = 20000};
            OK(zetDeviceEnableMetricsExp(e->root));
            zet_metric_group_handle_t group =
                first(tiles[0], ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
            OK(zetContextActivateMetricGroups(e->context, tiles[0], 1, &group));
            OK(zetMetricStreamerOpen(e->context, tiles[0], group, &stream, NULL, &streamer));
            for (uint32_t s = 0; s < SOURCES; s++)
                for (uint32_t i = 0; i < LAUNCHES; i++)
                    OK(zeEventHostReset(sources[s].events[i]));
        }
        uint64_t host, base;
        OK(zeDeviceGetGlobalTimestamps(e->root, &host, &base));
        run(sources, streamer);
        assert_true(cycles_most && cycles_most == cycles_least);
        for (uint32_t s = 0; s < SOURCES; s++)
            read_times(&sources[s], base);
        for (uint32_t s = 0; s < SOURCES; s++)
            for (uint32_t k = 0; k <= s; k++)
                check_order(&sources[s], &sources[k]);
        if (streamer)
            OK(zetMetricStreamerClose(streamer));
    }
    OK(zetContextActivateMetricGroups(e->context, tiles[0], 0, NULL));
    OK(set(e->driver, NULL, NULL, false));
    for (uint32_t s = 0; s < SOURCES; s++) {
        close_memory(&sources[s]);
        close_source(&sources[s]);
    }
    OK(zeContextDestroy(other));
}

/* ---- Contexts that go --------------------------------------------------------------------------
 */

static uint64_t busy(struct zs_ze_device *tile, bool change, uint64_t to)
{
    pthread_mutex_lock(&tile->parent->engines_lock);
    uint64_t ticks = tile->busy_ticks[ZS_ORDINAL_COMPUTE];
    if (change)
        tile->busy_ticks[ZS_ORDINAL_COMPUTE] = to;
    pthread_mutex_unlock(&tile->parent->engines_lock);
    return ticks;
}

static _Atomic uint64_t host_began_ns, host_ended_ns;

static void note_host_times(const zescope_launch_info_t *info, void *user)
{
    (void)user;
    host_began_ns = info->start_ns;
    host_ended_ns = info->end_ns;
}

/* Others keep the engine for an hour, and what the host has executed stands behind them: destroying
 * its context does not wait for them, and they are no part of the host's times. */
static void test_cancelled(void **state)
{
    struct env *e = *state;
    struct zs_ze_device *tile = zs_object_ref_of(e->device, ZS_OBJECT_device);
    size_t size = read_module();
    zescope_pfnDriverSetLaunchCallback_t set = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                                           (void **)&set));
    OK(set(e->driver, note_host_times, NULL, false));
    uint64_t now = zs_gpu_clock_ticks(tile->gpu);
    uint64_t hour = now + 3600 * tile->model->timer_Hz;
    for (uint32_t pass = 0; pass < 2; pass++) { /* a launch, then a copy */
        ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
        const ze_group_count_t one = {1, 1, 1};
        ze_context_handle_t context;
        struct source s;
        OK(zeContextCreate(e->driver, &desc, &context));
        open_source(&s, e->device, context, size, 1);
        busy(tile, true, hour);
        if (pass == 0)
            OK(zeCommandListAppendLaunchKernel(s.list, s.kernel, &one, s.events[0], 0, NULL));
        else
            OK(zeCommandListAppendMemoryCopy(s.list, s.to, s.from, 64, s.events[0], 0, NULL));
        while (busy(tile, false, 0) == hour) /* until the host is done with it */
            usleep(1000);
        uint64_t done_ns = zs_now_ns();
        FAILS(zeEventQueryStatus(s.events[0]), ZE_RESULT_NOT_READY);
        OK(zeContextDestroy(context));
        FAILS(zeEventQueryStatus(s.events[0]), ZE_RESULT_ERROR_DEVICE_LOST);
        if (pass == 0)
            assert_true(host_began_ns && host_began_ns <= host_ended_ns &&
                        host_ended_ns <= done_ns);
        busy(tile, true, now);
        close_source(&s);
    }
    OK(set(e->driver, NULL, NULL, false));
    zs_object_unref(tile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule), cmocka_unit_test(test_programs),
                                       cmocka_unit_test(test_cancelled)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
