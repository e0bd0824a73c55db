/* SPDX-License-Identifier: MIT */
/* One step of n bodies that attract each other: positions carry the mass in w. */
#include "gravity.h"

inline float3 sum_of_pulls(float4 here, __local const float4 *tile, uint count)
{
    float3 sum = (float3)(0.0f);
    for (uint i = 0; i < count; i++)
        sum += pull(here, tile[i]);
    return sum;
}

__kernel void nbody_step(__global const float4 *positions, __global float4 *velocities,
                         __global float4 *moved, __local float4 *tile)
{
    const uint me = get_global_id(0);
    const uint lane = get_local_id(0);
    const uint tile_size = get_local_size(0);
    const float4 here = positions[me];
    float3 acceleration = (float3)(0.0f);

    for (uint first = 0; first < get_global_size(0); first += tile_size) {
        tile[lane] = positions[first + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        acceleration += sum_of_pulls(here, tile, tile_size);
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    float4 velocity = velocities[me];
    velocity.xyz += acceleration * TIME_STEP;
    velocities[me] = velocity;
    moved[me] = (float4)(here.xyz + velocity.xyz * TIME_STEP, here.w);
}
