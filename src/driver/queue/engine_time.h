/* SPDX-License-Identifier: MIT */
/*
 * When a device's engines are busy, on its clock.
 *
 * A device has an engine for each of its groups of queues; what is submitted by all contexts,
 * queues and lists of the group feeds it, and a root device's engine is those of its tiles
 * together. An engine does one thing at a time: on the device's clock no two commands of it
 * overlap, whatever the host did at the same time. Engines of different groups do not wait for each
 * other (docs/timing.md).
 */
#ifndef ZS_DRIVER_QUEUE_ENGINE_TIME_H
#define ZS_DRIVER_QUEUE_ENGINE_TIME_H

#include "driver/driver_priv.h"

enum zs_engine_command {
    ZS_ENGINE_MODELLED, /* its length is known: it becomes later */
    ZS_ENGINE_MEASURED, /* its length is the host's: what the engine did meanwhile is cut off */
};

/*
 * A command took the engine from *start_ticks to *end_ticks: they become later where the engine had
 * something else to do, and begin at `earliest_ticks` or later. They may then lie in the future
 * (zs_engine_wait).
 */
void zs_engine_take(struct zs_ze_device *device, uint32_t ordinal, enum zs_engine_command kind,
                    uint64_t earliest_ticks, uint64_t *start_ticks, uint64_t *end_ticks);
/* Until the clock is there: nothing that has ended ends after the host's clock. What other contexts
 * brought the engine may take long: false, `cancel` became true before. */
bool zs_engine_wait(const struct zs_ze_device *device, uint64_t end_ticks,
                    const _Atomic bool *cancel);

#endif
