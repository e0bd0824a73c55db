/* SPDX-License-Identifier: MIT */
#ifndef ZS_DRIVER_MEMORY_IMAGE_H
#define ZS_DRIVER_MEMORY_IMAGE_H

#include "driver/memory/memory.h"
#include "driver/queue/list.h"

struct zs_ze_image {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    struct zs_ze_image *base; /* a view: whose memory this is */
    struct zs_gpu_image gpu;
    uint64_t size_B;
    uint32_t extent[3]; /* texels, rows and slices, layers counted in */
};

struct zs_ze_sampler {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_gpu_sampler gpu;
};

ze_result_t zs_append_region(struct zs_append *append, const struct zs_region *region);

#endif
