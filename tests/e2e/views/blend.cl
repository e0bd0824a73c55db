/* SPDX-License-Identifier: MIT */
__kernel void blend(read_only image2d_t from, sampler_t how, write_only image2d_t to, __global int *sums)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    uint4 pixel = read_imageui(from, how, at);
    write_imageui(to, at, pixel + 1u);
    sums[at.y * get_global_size(0) + at.x] = (int)(pixel.x + pixel.w);
}
