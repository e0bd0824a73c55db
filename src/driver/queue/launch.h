/* SPDX-License-Identifier: MIT */
/* What the counting extension needs of a launch: see zescope/driver_ext.h. */
#ifndef ZS_DRIVER_QUEUE_LAUNCH_H
#define ZS_DRIVER_QUEUE_LAUNCH_H

#include "driver/module/module.h"

/* A launch as it was appended. */
struct zs_launch {
    struct zs_ze_kernel *kernel;
    struct zs_arg_set *args;
    uint32_t group_size[3], group_count[3], global_offset[3];
    const ze_group_count_t *indirect; /* read when the command runs; NULL: group_count counts */
    bool cooperative, indirect_access;
    uint64_t append; /* number of the append */
};

struct zs_launch_end {
    const struct zs_launch *launch;
    struct zs_ze_device *device;
    const uint32_t *group_count;
    const struct zs_gpu_result *result;
    const char *fault; /* text, or NULL */
    uint64_t start_ns, end_ns;
    struct zs_gpu_counters *counters; /* of this launch alone, NULL: not counted */
};

#endif
