/* SPDX-License-Identifier: MIT */
/* Launches of kernels that a recording has captured with their arguments and memory
 * (store/launch_file.h). Hostile input: everything is checked as it is read. */
#ifndef ZS_RECORD_LAUNCHES_H
#define ZS_RECORD_LAUNCHES_H

#include "base/file.h"
#include "store/launch_file.h"

#include <zescope/record.h>

struct zs_launch_argument {
    uint32_t index, kind; /* enum zs_launch_argument_kind */
    uint64_t size_B;      /* as the application gave it */
    struct zs_span value; /* of ZS_LAUNCH_VALUE; empty: it was too large to be kept. Of a sampler */
    uint32_t memory;      /* of ZS_LAUNCH_POINTER: index < memory_count ... */
    uint64_t offset_B;    /* ... and where in it, <= its size */
};

struct zs_launch_memory {
    uint64_t gpu_va, size_B;
    uint32_t type; /* ze_memory_type_t, or ZS_LAUNCH_IMAGE */
    uint32_t image[ZS_LAUNCH_IMAGE_WORDS];
    uint32_t state;               /* enum zs_launch_memory_state */
    struct zs_span before, after; /* of size_B where it is whole, else empty */
};

struct zs_launch {
    char *file; /* "4711-0-0.launch" */
    char *kernel;
    uint64_t process, build_id, time_ns; /* as zs_recording_find_build takes them */
    uint32_t number, flags; /* of the kernel's launches, from 1; enum zs_launch_flags */
    uint32_t groups[3], size[3], offset[3];
    struct zs_launch_argument *arguments;
    uint32_t argument_count;
    struct zs_launch_memory *memory;
    uint32_t memory_count;
    struct zs_file content;
};

/* Names of a recording's launches in the order of names: free both. 0 (there may be none), or
 * -errno with a sentence. */
int zs_launches_list(const char *recording, char ***ret_names, size_t *ret_count,
                     struct zs_diag *diag);
void zs_launches_free(char **names, size_t count);
/* One of them. 0, or -errno with a sentence; close in any case. */
int zs_launch_open(const char *recording, const char *name, struct zs_launch *ret_launch,
                   struct zs_diag *diag);
void zs_launch_close(struct zs_launch *launch);

#endif
