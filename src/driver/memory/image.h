/* SPDX-License-Identifier: MIT */
#ifndef ZS_DRIVER_MEMORY_IMAGE_H
#define ZS_DRIVER_MEMORY_IMAGE_H

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

/* Rows of bytes from one place to another: copies of regions and of images. */
struct zs_region {
    char *dst;
    const char *src;
    size_t row_B, rows, slices;
    size_t dst_pitch_B, dst_slice_B, src_pitch_B, src_slice_B;
    struct zs_ze_image *keep[2]; /* referenced for as long as the command lives; may be NULL */
};
ze_result_t zs_append_region(struct zs_append *append, const struct zs_region *region);

#endif
