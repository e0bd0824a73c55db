/* SPDX-License-Identifier: MIT */
#include "driver/queue/engine_time.h"

#include <time.h>

/* The root's lock is held. */
static uint64_t busy_until(const struct zs_ze_device *device, uint32_t ordinal)
{
    uint64_t busy_ticks = device->busy_ticks[ordinal];
    if (device->parent)
        busy_ticks = ZS_MAX(busy_ticks, device->parent->busy_ticks[ordinal]);
    for (uint32_t i = 0; i < device->sub_count; i++)
        busy_ticks = ZS_MAX(busy_ticks, device->subs[i]->busy_ticks[ordinal]);
    return busy_ticks;
}

void zs_engine_take(struct zs_ze_device *device, uint32_t ordinal, enum zs_engine_command kind,
                    uint64_t earliest_ticks, uint64_t *start_ticks, uint64_t *end_ticks)
{
    struct zs_ze_device *root = device->parent ? device->parent : device;
    /* a tick at least: tools take "no time" for a counter that went round once */
    uint64_t length = ZS_MAX(*end_ticks, *start_ticks + 1) - *start_ticks;
    pthread_mutex_lock(&root->engines_lock);
    earliest_ticks = ZS_MAX(earliest_ticks, busy_until(device, ordinal));
    *start_ticks = ZS_MAX(*start_ticks, earliest_ticks);
    *end_ticks =
        kind == ZS_ENGINE_MODELLED ? *start_ticks + length : ZS_MAX(*end_ticks, *start_ticks + 1);
    device->busy_ticks[ordinal] = *end_ticks;
    pthread_mutex_unlock(&root->engines_lock);
}

bool zs_engine_wait(const struct zs_ze_device *device, uint64_t end_ticks,
                    const _Atomic bool *cancel)
{
    enum { WORTH_SLEEPING_NS = 20000, SLICE_NS = 10000000 /* between looks at `cancel` */ };
    uint64_t now_ticks = zs_gpu_clock_ticks(device->gpu);
    while (now_ticks < end_ticks) {
        uint64_t ns = zs_gpu_clock_to_ns(device->gpu, end_ticks) -
                      zs_gpu_clock_to_ns(device->gpu, now_ticks) + 1;
        const struct timespec rest = {.tv_nsec = (long)ZS_MIN(ns, (uint64_t)SLICE_NS)};
        if (ns > WORTH_SLEEPING_NS) {
            if (atomic_load(cancel))
                return false;
            (void)nanosleep(&rest, NULL);
        }
        now_ticks = zs_gpu_clock_ticks(device->gpu);
    }
    return true;
}
