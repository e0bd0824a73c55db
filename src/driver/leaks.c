/* SPDX-License-Identifier: MIT */
#include "driver/leaks.h"

#include "base/buf.h"
#include "base/checks.h"
#include "base/vec.h"
#include "driver/driver_priv.h"
#include "driver/log.h"
#include "driver/report.h"

#include <stdlib.h>

/* Words for what was not given back, and the call that would. NULL: the driver's own. */
static const struct words {
    const char *one, *many, *call;
} object_words[ZS_OBJECT_TYPE_COUNT] = {
    [ZS_OBJECT_context] = {"context", "contexts", "zeContextDestroy"},
    [ZS_OBJECT_queue] = {"command queue", "command queues", "zeCommandQueueDestroy"},
    [ZS_OBJECT_list] = {"command list", "command lists", "zeCommandListDestroy"},
    [ZS_OBJECT_fence] = {"fence", "fences", "zeFenceDestroy"},
    [ZS_OBJECT_event_pool] = {"event pool", "event pools", "zeEventPoolDestroy"},
    [ZS_OBJECT_event] = {"event", "events", "zeEventDestroy"},
    [ZS_OBJECT_image] = {"image", "images", "zeImageDestroy"},
    [ZS_OBJECT_sampler] = {"sampler", "samplers", "zeSamplerDestroy"},
    [ZS_OBJECT_module] = {"module", "modules", "zeModuleDestroy"},
    [ZS_OBJECT_build_log] = {"build log", "build logs", "zeModuleBuildLogDestroy"},
    [ZS_OBJECT_kernel] = {"kernel", "kernels", "zeKernelDestroy"},
    [ZS_OBJECT_physical] = {"physical memory", "physical memories", "zePhysicalMemDestroy"},
    [ZS_OBJECT_tracer] = {"tracer", "tracers", "zetTracerExpDestroy"},
    [ZS_OBJECT_metric_tracer] = {"metric tracer", "metric tracers", "zetMetricTracerDestroyExp"},
    [ZS_OBJECT_metric_decoder] = {"metric decoder", "metric decoders",
                                  "zetMetricDecoderDestroyExp"},
    [ZS_OBJECT_query_pool] = {"query pool", "query pools", "zetMetricQueryPoolDestroy"},
    [ZS_OBJECT_query] = {"query", "queries", "zetMetricQueryDestroy"},
    [ZS_OBJECT_streamer] = {"metric streamer", "metric streamers", "zetMetricStreamerClose"},
    [ZS_OBJECT_debug_session] = {"debug session", "debug sessions", "zetDebugDetach"},
};

static const struct words memory_words[ZS_LEAK_MEMORY_COUNT] = {
    [ZS_LEAK_HOST] = {"allocation of host memory", "allocations of host memory", "zeMemFree"},
    [ZS_LEAK_DEVICE] = {"allocation of device memory", "allocations of device memory", "zeMemFree"},
    [ZS_LEAK_SHARED] = {"allocation of shared memory", "allocations of shared memory", "zeMemFree"},
    [ZS_LEAK_IPC] = {"memory of another process", "memories of other processes",
                     "zeMemCloseIpcHandle"},
    [ZS_LEAK_VIRTUAL] = {"reservation of virtual memory", "reservations of virtual memory",
                         "zeVirtualMemFree"},
};

/* All of one kind from one place. */
struct leak {
    const struct words *words;
    uint64_t origin, count, size_B; /* size_B 0: it is no memory */
    bool ended;                     /* its context was destroyed before */
};

/* Of contexts that are gone, and at the end of all: part of the log, as report.c's state. */
static struct {
    pthread_mutex_t lock;
    struct leak *items;
    size_t count, capacity;
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(const struct words *words, uint64_t size_B, uint64_t origin, bool ended)
{
    pthread_mutex_lock(&found.lock);
    struct leak *leak = NULL;
    for (size_t i = 0; origin && !leak && i < found.count; i++) {
        struct leak *l = &found.items[i];
        if (l->words == words && l->origin == origin && l->ended == ended)
            leak = l;
    }
    struct leak fresh = {.words = words, .origin = origin, .ended = ended};
    if (!leak && ZS_VEC_PUSH(&found, fresh))
        leak = &found.items[found.count - 1];
    if (leak) {
        leak->count++;
        leak->size_B += size_B;
    }
    pthread_mutex_unlock(&found.lock);
}

void zs_leaks_memory(enum zs_leak_memory kind, uint64_t size_B, uint64_t origin, bool ended)
{
    add(&memory_words[kind], size_B, origin, ended);
}

void zs_leaks_of_context(struct zs_ze_context *context)
{
    if (!(context->driver->checks & ZS_CHECK_LEAK))
        return;
    zs_memory_tell_leaks(context, true);
    zs_virtual_tell_leaks(context, true);
}

void zs_leaks_after_fork(void)
{
    pthread_mutex_init(&found.lock, NULL);
    found.count = 0;
}

/* What was there before checks were read has no origin: the driver's own. */
static void add_object(struct zs_object *object, void *closure)
{
    (void)closure;
    if (object->type == ZS_OBJECT_context) {
        struct zs_ze_context *context = (struct zs_ze_context *)object;
        zs_memory_tell_leaks(context, false);
        zs_virtual_tell_leaks(context, false);
        if (context->driver->default_context == context->object.handle)
            return;
    }
    const struct words *words = &object_words[object->type];
    if (words->one && object->origin)
        add(words, 0, object->origin, false);
}

static void tell(const struct leak *leak)
{
    struct zs_buf text = {0};
    bool one = leak->count == 1;
    zs_buf_printf(&text, "%llu %s", (unsigned long long)leak->count,
                  one ? leak->words->one : leak->words->many);
    if (leak->size_B)
        zs_buf_printf(&text, ", %llu bytes%s,", (unsigned long long)leak->size_B,
                      one ? "" : " together");
    const char *undone = leak->size_B ? "freed" : "destroyed";
    if (leak->ended)
        zs_buf_printf(&text, " still in a context when it was destroyed (%s was missing)",
                      leak->words->call);
    else
        zs_buf_printf(&text, " %s never %s (%s)", one ? "was" : "were", undone, leak->words->call);
    zs_buf_puts(&text, ", made by:");
    zs_report_leak(zs_buf_cstr(&text), leak->origin);
    zs_buf_fini(&text);
}

__attribute__((destructor)) static void tell_leaks(void)
{
    if (!zs_report_wants(ZS_CHECK_LEAK))
        return;
    if (!zs_objects_each(add_object, NULL))
        zs_log(ZS_LOG_ERROR, "what was not given back is not known: a thread is in the driver");
    for (size_t i = 0; i < found.count; i++)
        tell(&found.items[i]);
    found.count = 0;
}
