/* SPDX-License-Identifier: MIT */
/*
 * Streamers among processes: of a domain of a device one process has a streamer open at a time, as
 * the kernel's driver has it for Intel's GPUs. It holds a record lock on a file of its own in
 * $XDG_RUNTIME_DIR, else in /tmp: the kernel gives it back however the process ends, and children
 * of fork() do not have it. In the file stands where the streamer's segment is (share.h).
 * Nothing here waits for anybody.
 */
#ifndef ZS_DRIVER_METRICS_EXCLUSIVE_H
#define ZS_DRIVER_METRICS_EXCLUSIVE_H

#include "base/own_fd.h"

#include <stdint.h>
#include <time.h>

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

/* For others to read: the segment is descriptor `fd` of this process. */
void zs_metric_claim_tell(const struct zs_metric_claim *claim, int fd);
/* Whose claim of the domain there is, by its file. 1; 0: nobody's; -EAGAIN: it cannot be used, or
 * not yet. Not of a claim of this process's own: a descriptor that is closed takes the lock with
 * it. */
int zs_metric_claim_read(uint32_t device_id, uint32_t card, uint32_t tile, uint32_t domain,
                         pid_t *ret_pid, int *ret_fd);
/* When files came into the folder, or went. */
struct timespec zs_metric_claims_changed(void);

#endif
