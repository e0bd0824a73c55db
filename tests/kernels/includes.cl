// Code from several files.
#include "include/geometry.h"
#include "include/shade.h"

__kernel void shade_points(__global const float4 *points, __global float *out, float4 light)
{
    int i = get_global_id(0);
    out[i] = shade(points[i], light);
}
