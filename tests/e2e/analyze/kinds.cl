/* SPDX-License-Identifier: MIT */
/* One kernel for each thing that an analysis finds, and some without any. Lines that matter carry a
 * mark that the test looks for. */

__kernel void clean(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 64 * rounds; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, x);
    }
    b[i] = x + y;
}

__kernel void streaming(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    b[i] = a[i] + 1.0f; /* MARK streaming */
}

__kernel void strided(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i * 32]; /* MARK strided */
    for (int k = 0; k < rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

__kernel void scattered(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    b[i] = a[((uint)i * 2654435761u) >> 12]; /* MARK scattered */
}

__kernel void divergent(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    if ((i & 7) == 0)
        for (int k = 0; k < 32 * rounds; k++)
            x = x * 0.5f + native_sin(x); /* MARK divergent */
    b[i] = x;
}

__kernel void spilling(__global float *a, __global float *b, int rounds)
{
    float16 v[12];
    int i = get_global_id(0);
#pragma unroll
    for (int k = 0; k < 12; k++)
        v[k] = vload16(k, a + i * 16);
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 12; k++)
            v[k] = mad(v[(k + 5) % 12], v[(k + 3) % 12], v[(k + 1) % 12]); /* MARK spilling */
    }
#pragma unroll
    for (int k = 0; k < 12; k++)
        vstore16(v[k], k, b + i * 16);
}

__kernel void conflicts(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    for (int k = 0; k < rounds; k++) {
        tile[i * 16 + (k & 15)] = a[i + k]; /* MARK conflicts */
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[i + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = sum;
}

__kernel void crowded(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    tile[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = tile[get_local_size(0) - 1 - i];
    for (int k = 0; k < 64 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[get_global_id(0)] = x;
}

__kernel void imbalanced(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float x = a[get_global_id(0)];
    if (i < 32)
        for (int k = 0; k < 500 * rounds; k++)
            x = mad(x, 0.5f, 1.0f);
    tile[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE); /* MARK imbalanced */
    b[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
}

__kernel void hidden(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    tile[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[((i * 16) ^ k) & 2047]; /* MARK hidden */
    b[get_global_id(0)] = sum;
}

__kernel void uneven(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float x = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 32)
        for (int k = 0; k < 500 * rounds; k++) x = mad(x, 0.5f, 1.0f); /* MARK few */

    tile[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE); /* MARK uneven */
    b[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
}

__kernel void chased(__global float *a, __global float *b, int rounds)
{
    uint at = get_global_id(0);
    __global uint *next = (__global uint *)a;
    for (int k = 0; k < 64 * rounds; k++)
        at = (next[at & 1048575] + at * 40503u + 7919u) & 1048575; /* MARK chased */
    b[get_global_id(0)] = (float)at;
}

__kernel void contended(__global float *a, __global float *b, int rounds)
{
    __global int *sum = (__global int *)b;
    for (int k = 0; k < 4 * rounds; k++)
        atomic_add(sum + (k & 1), get_local_id(0)); /* MARK contended */
}

__kernel void private_array(__global float *a, __global float *b, int rounds)
{
    float bins[64];
    int i = get_global_id(0);
    for (int k = 0; k < 64; k++)
        bins[k] = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        bins[(k * 7 + i) & 63] += 1.0f; /* MARK private_array */
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        sum += bins[k] * k;
    b[i] = sum;
}

__kernel void sines(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = native_sin(x) + native_exp2(x); /* MARK sines */
    b[i] = x;
}

__kernel void doubled(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = x * 0.5 + 1.1; /* MARK doubled */
    b[i] = x;
}

__kernel void again(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 16 * rounds; k++)
        x += a[i + k]; /* MARK again */
    b[i] = x;
}

__kernel void hashed(__global float *a, __global float *b, int rounds)
{
    uint x = get_global_id(0);
    for (int k = 0; k < 32 * rounds; k++)
        x = (x ^ (x >> 5)) + (x << 3); /* MARK hashed */
    b[get_global_id(0)] = (float)x;
}

/* one division an item: it waits for memory on the same line */
__kernel void wrapped(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0);
    b[i] = a[(i * 32u) % (uint)(rounds << 16)]; /* MARK wrapped */
}
