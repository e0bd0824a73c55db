/* SPDX-License-Identifier: MIT */
/* Kernels with a defect, and what a programmer would write instead: the same work without it. The
 * test holds the gain that is told for the first against the time that the second takes. */

__kernel void strided(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(i * 32 + k) & 65535];
    b[i] = x;
}

__kernel void strided_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(i + k * 32) & 65535];
    b[i] = x;
}

__kernel void divergent(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    if ((i & 7) == 0)
        for (int k = 0; k < 32 * rounds; k++)
            x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

/* neighbours take the same way: one of eight sub-groups of 32 */
__kernel void divergent_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    if ((i >> 5 & 7) == 0)
        for (int k = 0; k < 32 * rounds; k++)
            x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

__kernel void conflicts(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    tile[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[(i * 16 + k) & 2047];
    b[get_global_id(0)] = sum;
}

__kernel void conflicts_mended(__global float *a, __global float *b, int rounds,
                               __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    tile[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[(i + k * 16) & 2047];
    b[get_global_id(0)] = sum;
}

__kernel void private_array(__global float *a, __global float *b, int rounds)
{
    float bins[64];
    int i = get_global_id(0);
    for (int k = 0; k < 64; k++)
        bins[k] = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        bins[(k * 7 + i) & 63] += 1.0f;
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        sum += bins[k] * k;
    b[i] = sum;
}

/* what is added to the bin of index n counts n times: no bins */
__kernel void private_array_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        sum += (float)((k * 7 + i) & 63);
    b[i] = sum;
}

__kernel void wide(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    long x = i, y = (long)a[i];
    for (int k = 0; k < 16 * rounds; k++) {
        y += x;
        x ^= y;
    }
    b[i] = (float)(int)x;
}

__kernel void wide_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    int x = i, y = (int)a[i];
    for (int k = 0; k < 16 * rounds; k++) {
        y += x;
        x ^= y;
    }
    b[i] = (float)x;
}

/* two threads work, the others of the group wait for them */
__kernel void imbalance(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float x = a[i];
    if (i < 32)
        for (int k = 0; k < 400 * rounds; k++)
            x = mad(x, 0.5f, 1.0f);
    tile[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
}

__kernel void imbalance_mended(__global float *a, __global float *b, int rounds,
                               __local float *tile)
{
    int i = get_local_id(0);
    float x = a[i];
    for (int k = 0; k < 50 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    tile[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
}

__kernel void doubles(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = x * 0.5 + 1.1;
    b[i] = x;
}

__kernel void doubles_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = x * 0.5f + 1.1f;
    b[i] = x;
}

__kernel void contended(__global float *a, __global float *b, int rounds)
{
    __global int *sum = (__global int *)b;
    int x = (int)a[get_global_id(0)];
    for (int k = 0; k < 4 * rounds; k++)
        atomic_add(sum + (x & 1), x + k);
}

/* summed in a register first, one atomic for each work-item, each at a place of its own */
__kernel void contended_mended(__global float *a, __global float *b, int rounds)
{
    __global int *sum = (__global int *)b;
    int x = (int)a[get_global_id(0)], own = 0;
    for (int k = 0; k < 4 * rounds; k++)
        own += x + k;
    atomic_add(sum + get_global_id(0), own);
}
