#include "a.h"
float helper(float a, float b)
{
    float c = a * b;
    return c + sqrt(a);
}
__kernel void k1(__global float *out, __global const float4 *in, int n, __local float *tmp)
{
    int i = get_global_id(0);
    pt_t p;
    p.x = in[i].x; p.y = in[i].y;
    p.k[0] = n; p.k[1] = i; p.k[2] = 7;
    float acc = 0;
    for (int j = 0; j < n; j++) {
        float t = helper(in[j].x, acc);
        acc += dist(p, t);
    }
    tmp[get_local_id(0)] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i & 1)
        out[i] = acc + tmp[0];
    else
        out[i] = norm1(acc);
}
__kernel void k2(__global int *out, int v) { out[get_global_id(0)] = v * 3; }
