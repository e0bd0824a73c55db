/* SPDX-License-Identifier: MIT */
/* Metrics of kernels below Intel's driver, into a file of their own (store/counts_file.h). */
#ifndef ZS_COLLECT_WALK_METRICS_H
#define ZS_COLLECT_WALK_METRICS_H

#include "collect/collect.h"

#include <zescope/driver_ext.h>

enum { ZS_WALK_GROUPS_MAX = 64, ZS_WALK_METRICS_MAX = 64 };

/* Zeroed: no file yet. */
struct zs_walk_metrics {
    bool has_failed; /* said */
    int fd;          /* + 1 */
    uint64_t size_B;
    uint32_t group_count;
    struct {
        uint32_t metric_count;
        const char *names[ZS_WALK_METRICS_MAX];
    } groups[ZS_WALK_GROUPS_MAX]; /* that are described in the file */
};

/* The groups that the environment asks for, asked of emulated nodes. */
void zs_walk_metrics_ask(struct zs_collector *c);
/* What a launch was measured by; number: of its file of counts. One thread at a time. */
void zs_walk_metrics_put(struct zs_walk_metrics *m, struct zs_collector *c, uint32_t number,
                         const zescope_walk_info_t *info);

#endif
