/* SPDX-License-Identifier: MIT */
/*
 * Streamers among processes: of a domain of a device one process has a streamer open at a time, as
 * the kernel's driver has it for Intel's GPUs. It holds a record lock on a file of its own in
 * $XDG_RUNTIME_DIR, else in /tmp: the kernel gives it back however the process ends, and children
 * of fork() do not have it. Nothing here waits for anybody.
 */
#ifndef ZS_DRIVER_METRICS_EXCLUSIVE_H
#define ZS_DRIVER_METRICS_EXCLUSIVE_H

#include "base/own_fd.h"

#include <stdint.h>

struct zs_metric_claim {
    struct zs_own_fd file; /* none: there is nothing to lock, and nobody is kept out */
    char *path;
    pid_t owner; /* a child of fork() has the memory, not the lock */
};
#define ZS_METRIC_CLAIM_NONE ((struct zs_metric_claim){.file = ZS_OWN_FD_NONE})

/* 0, also where no file can be had (a sandbox); -EBUSY: another process has it. device_id, card,
 * tile: as struct zs_ze_device has them. */
int zs_metric_claim_make(uint32_t device_id, uint32_t card, uint32_t tile, uint32_t domain,
                         struct zs_metric_claim *ret_claim);
void zs_metric_claim_end(struct zs_metric_claim *claim);

#endif
