/* SPDX-License-Identifier: MIT */
#include "gpu/gpu_priv.h"

enum { ROW_ALIGNMENT_B = 64 };

const struct zs_port_format *zs_gpu_format_find(uint32_t surface_format)
{
    return zs_port_format_find(surface_format);
}

uint32_t zs_gpu_format_texel_B(const struct zs_port_format *format)
{
    return format->texel_B;
}

uint64_t zs_gpu_image_layout(struct zs_gpu_image *image)
{
    uint64_t row_B = (uint64_t)image->width * image->format->texel_B, slice_B, total_B;
    uint64_t slices = image->type == ZS_GPU_IMAGE_3D ? image->depth : image->layers;
    row_B = zs_align_up(row_B, ROW_ALIGNMENT_B);
    if (row_B > UINT32_MAX || !zs_mul_u64(row_B, image->height, &slice_B) ||
        !zs_mul_u64(slice_B, slices, &total_B))
        return 0;
    image->row_pitch_B = (uint32_t)row_B;
    image->slice_pitch_B = slice_B;
    if (image->planes > 1 && !zs_mul_u64(total_B, image->planes, &total_B))
        return 0;
    return image->chroma ? total_B + row_B * zs_gpu_halved(image->height) : total_B;
}
