/* SPDX-License-Identifier: MIT */

#define STEP x = mad(x, 0.5f, y); y = mad(y, 0.25f, z); z = mad(z, 0.75f, w); w = mad(w, 0.5f, x);
#define STEPS_8 STEP STEP STEP STEP STEP STEP STEP STEP
#define STEPS_64 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8
#define STEPS_512 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64
/*
 * Kernels with a defect, and what a programmer would write instead: the same work without it (the
 * kernel of the same name with _mended). known.py says of each what is wrong with it, as judged by
 * reading; the line that is to be named carries its mark.
 */

/* ---- memory ---- */

__kernel void strided(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(i * 32 + k) & 65535]; /* MARK strided */
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

__kernel void strided_store(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int k = 0; k < 4 * rounds; k++)
        b[(i * 16 + k) & 262143] = (float)k; /* MARK strided_store */
}

__kernel void strided_store_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 4 * rounds; k++)
        b[(i + k * n) & 262143] = (float)k;
}

struct body {
    float x, y, z, w, p, q, r, s;
};

__kernel void structures(__global float *a, __global float *b, int rounds)
{
    __global struct body *bodies = (__global struct body *)a;
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += bodies[(i + k * 512) & 16383].p; /* MARK structures */
    b[i] = x;
}

__kernel void structures_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(i + k * 512) & 16383];
    b[i] = x;
}

__kernel void columns(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[((i & 255) * 1024 + (i >> 8) + k) & 1048575]; /* MARK columns */
    b[i] = x;
}

__kernel void columns_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(((i >> 8) + k) * 1024 + (i & 255)) & 1048575];
    b[i] = x;
}

/* where an item reads is data: here a permutation of the items */
__kernel void gathered(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    __global uint *index = (__global uint *)b;
    uint at = index[i & 15] + (uint)i * 40503u;
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[((at ^ (at >> 5)) * 2654435761u + (uint)k * 4096u) & 65535u]; /* MARK gathered */
    b[i] = x;
}

/* sorted by where they read */
__kernel void gathered_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    __global uint *index = (__global uint *)b;
    uint at = index[i & 15] + (uint)i;
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(at + (uint)k * 4096u) & 65535u];
    b[i] = x;
}

/* one chain of loads, each of what the last one brought */
__kernel void chased(__global float *a, __global float *b, int rounds) /* MARK chased low-occupancy */
{
    uint at = get_global_id(0) >> 4;
    __global uint *next = (__global uint *)a;
    for (int k = 0; k < 64 * rounds; k++)
        at = (next[at & 1023] + at * 5u + 1u) & 1023; /* MARK chased */
    b[get_global_id(0)] = (float)at;
}

/* as many loads, four chains at a time */
__kernel void chased_mended(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0) >> 4;
    uint4 at = (uint4)(i, i + 16, i + 32, i + 48);
    __global uint *next = (__global uint *)a;
    for (int k = 0; k < 16 * rounds; k++) {
        uint4 got = (uint4)(next[at.x & 1023], next[at.y & 1023], next[at.z & 1023], next[at.w & 1023]);
        at = (got + at * 5u + 1u) & 1023;
    }
    b[get_global_id(0)] = (float)(at.x + at.y + at.z + at.w);
}

/* ... or as many by four times as many work-items */
__kernel void chased_shared(__global float *a, __global float *b, int rounds)
{
    uint at = get_global_id(0) >> 4;
    __global uint *next = (__global uint *)a;
    for (int k = 0; k < 16 * rounds; k++)
        at = (next[at & 1023] + at * 5u + 1u) & 1023;
    b[get_global_id(0)] = (float)at;
}

/* bytes come one by one: four times the messages */
__kernel void bytewise(__global float *a, __global float *b, int rounds)
{
    __global uchar *from = (__global uchar *)a;
    int i = get_global_id(0);
    uint x = 0;
    for (int k = 0; k < 32 * rounds; k++)
        x += from[(i * 64 + k) & 262143]; /* MARK bytewise */
    b[i] = (float)x;
}

__kernel void bytewise_mended(__global float *a, __global float *b, int rounds)
{
    __global uchar *from = (__global uchar *)a;
    int i = get_global_id(0);
    uint x = 0;
    for (int k = 0; k < 32 * rounds; k++)
        x += from[(i + k * 64) & 262143];
    b[i] = (float)x;
}

/* ---- local ---- */

__kernel void conflicts(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    tile[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[(i * 16 + k) & 2047]; /* MARK conflicts */
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

__kernel void conflicts_eight(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    tile[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[(i * 8 + k) & 2047]; /* MARK conflicts_eight */
    b[get_global_id(0)] = sum;
}

__kernel void conflicts_eight_mended(__global float *a, __global float *b, int rounds,
                                     __local float *tile)
{
    int i = get_local_id(0);
    float sum = 0.0f;
    tile[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[(i * 9 + k) & 2047];
    b[get_global_id(0)] = sum;
}

/* columns of a tile of 32 floats a row */
__kernel void transposed(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float sum = a[get_global_id(0)];
    for (int k = 0; k < 8 * rounds; k++) {
        tile[(i & 31) * 32 + ((i >> 5) & 31)] = sum; /* MARK transposed */
        sum += tile[i ^ 1];
    }
    b[get_global_id(0)] = sum;
}

__kernel void transposed_mended(__global float *a, __global float *b, int rounds,
                                __local float *tile)
{
    int i = get_local_id(0);
    float sum = a[get_global_id(0)];
    for (int k = 0; k < 8 * rounds; k++) {
        tile[(i & 31) * 33 + ((i >> 5) & 31)] = sum;
        sum += tile[i ^ 1];
    }
    b[get_global_id(0)] = sum;
}

/* the classic: every other item, then every fourth ... */
__kernel void halving(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0), n = get_local_size(0);
    float x = a[get_global_id(0)];
    for (int r = 0; r < 4 * rounds; r++) {
        tile[i] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = 1; s < n; s *= 2) {
            if ((i & (2 * s - 1)) == 0) /* MARK halving */
                tile[i] += tile[i + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        x += tile[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
}

__kernel void halving_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0), n = get_local_size(0);
    float x = a[get_global_id(0)];
    for (int r = 0; r < 4 * rounds; r++) {
        tile[i] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = n / 2; s > 0; s /= 2) {
            if (i < s)
                tile[i] += tile[i + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        x += tile[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
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
    barrier(CLK_LOCAL_MEM_FENCE); /* MARK imbalance */
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

/* each sub-group has more to do than the one before */
__kernel void triangle(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    float x = a[i];
    for (int k = 0; k < (i >> 5) * 32 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    tile[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE); /* MARK triangle */
    b[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
}

/* groups of 256: 0 to 7, the mean is 3.5 */
__kernel void triangle_mended(__global float *a, __global float *b, int rounds,
                              __local float *tile)
{
    int i = get_local_id(0);
    float x = a[i];
    for (int k = 0; k < 112 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    tile[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = tile[get_local_size(0) - 1 - i];
}

__kernel void local_contended(__global float *a, __global float *b, int rounds,
                              __local float *tile)
{
    __local int *sum = (__local int *)tile;
    int i = get_local_id(0), x = 0;
    sum[i & 15] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        x = atomic_cmpxchg(sum + (rounds & 7), x, i); /* MARK local_contended */
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = (float)sum[0];
}

/* each lane has a place of its own */
__kernel void local_contended_mended(__global float *a, __global float *b, int rounds,
                                     __local float *tile)
{
    __local int *sum = (__local int *)tile;
    int i = get_local_id(0), x = 0;
    sum[i & 15] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        x = atomic_cmpxchg(sum + (i & 15), x, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = (float)sum[0];
}

/* ---- atomics ---- */

__kernel void contended(__global float *a, __global float *b, int rounds)
{
    __global int *sum = (__global int *)b;
    int x = (int)a[get_global_id(0)];
    for (int k = 0; k < 4 * rounds; k++)
        atomic_add(sum + (x & 1), x + k); /* MARK contended */
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

__kernel void histogram(__global float *a, __global float *b, int rounds)
{
    __global int *bins = (__global int *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 4 * rounds; k++)
        atomic_inc(bins + ((i >> 2) + k & 3)); /* MARK histogram */
}

/* bins of its own for every group and lane */
__kernel void histogram_mended(__global float *a, __global float *b, int rounds)
{
    __global int *bins = (__global int *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 4 * rounds; k++)
        atomic_inc(bins + (i + k * 16 & 65535));
}

__kernel void counter(__global float *a, __global float *b, int rounds)
{
    __global int *next = (__global int *)b;
    int i = get_global_id(0), x = 0;
    for (int k = 0; k < 2 * rounds; k++)
        x = atomic_cmpxchg(next + rounds, x, i); /* MARK counter */
    b[16 + get_global_id(0)] = (float)x;
}

/* a place of its own */
__kernel void counter_mended(__global float *a, __global float *b, int rounds)
{
    __global int *next = (__global int *)b;
    int i = get_global_id(0), x = 0;
    for (int k = 0; k < 2 * rounds; k++)
        x = atomic_cmpxchg(next + 65536 + i, x, i);
    b[16 + get_global_id(0)] = (float)x;
}

/* ---- lanes ---- */

__kernel void divergent(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    if ((i & 7) == 0)
        for (int k = 0; k < 32 * rounds; k++)
            x = mad(x, 0.5f, 1.0f); /* MARK divergent */
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

/* of 32 neighbours one goes on for 31 rounds, one for none */
__kernel void trips(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < (i * 7 & 31) * 8 * rounds; k++)
        x = mad(x, 0.5f, 1.0f); /* MARK trips */
    b[i] = x;
}

__kernel void trips_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < ((i >> 5) * 7 & 31) * 8 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

__kernel void ways(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), way = i & 3;
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++) {
        if (way == 0)
            x = mad(x, x, 1.0f);
        else if (way == 1)
            x = mad(x, 0.25f, x * x);
        else if (way == 2)
            x = x * x - mad(x, 3.0f, 2.0f);
        else
            x = mad(x, 0.75f, x) * x; /* MARK ways */
    }
    b[i] = x;
}

__kernel void ways_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), way = i >> 5 & 3;
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++) {
        if (way == 0)
            x = mad(x, x, 1.0f);
        else if (way == 1)
            x = mad(x, 0.25f, x * x);
        else if (way == 2)
            x = x * x - mad(x, 3.0f, 2.0f);
        else
            x = mad(x, 0.75f, x) * x;
    }
    b[i] = x;
}

/* groups of ten: most lanes have no work-item. Mended by the launch: groups of 32 */
__kernel void odd_groups(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 32 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

__kernel void odd_groups_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 32 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

/* ---- registers ---- */

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

/* what is added to the bin of index n counts n times: no bins */
__kernel void private_array_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        sum += (float)((k * 7 + i) & 63);
    b[i] = sum;
}

/* a table that each work-item has for itself */
__kernel void private_table(__global float *a, __global float *b, int rounds)
{
    float table[256];
    int i = get_global_id(0);
    for (int k = 0; k < 256; k++)
        table[k] = a[k] * 2.0f + k;
    float x = 0.0f;
    for (int k = 0; k < 64 * rounds; k++)
        x += table[(i * 5 + k * 3) & 255]; /* MARK private_table */
    b[i] = x;
}

__kernel void private_table_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 64 * rounds; k++)
        x += a[(i + k * 3) & 255] * 2.0f + (float)((i + k * 3) & 255);
    b[i] = x;
}

__kernel void spilling(__global float *a, __global float *b, int rounds)
{
    float16 v[12];
    int i = get_global_id(0);
#pragma unroll
    for (int k = 0; k < 12; k++)
        v[k] = vload16(k, a + i * 16);
    for (int r = 0; r < 4 * rounds; r++) {
#pragma unroll
        for (int k = 0; k < 12; k++)
            v[k] = mad(v[(k + 5) % 12], v[(k + 3) % 12], v[(k + 1) % 12]); /* MARK spilling */
    }
#pragma unroll
    for (int k = 0; k < 12; k++)
        vstore16(v[k], k, b + i * 16);
}

/* a quarter of it at a time */
__kernel void spilling_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int part = 0; part < 16; part++) {
        float v[12];
#pragma unroll
        for (int k = 0; k < 12; k++)
            v[k] = a[(i * 16 + k * 16 + part) & 65535];
        for (int r = 0; r < 4 * rounds; r++) {
#pragma unroll
            for (int k = 0; k < 12; k++)
                v[k] = mad(v[(k + 5) % 12], v[(k + 3) % 12], v[(k + 1) % 12]);
        }
#pragma unroll
        for (int k = 0; k < 12; k++)
            b[(i * 16 + k * 16 + part) & 65535] = v[k];
    }
}

/* ---- types ---- */

__kernel void wide(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    long x = i, y = (long)a[i];
    for (int k = 0; k < 16 * rounds; k++) {
        y += x; /* MARK wide */
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

__kernel void wide_products(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    ulong x = i + 1;
    for (int k = 0; k < 16 * rounds; k++)
        x = x * 6364136223846793005ul + 1442695040888963407ul; /* MARK wide_products */
    b[i] = (float)(int)(x >> 33);
}

__kernel void wide_products_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint x = i + 1;
    for (int k = 0; k < 16 * rounds; k++)
        x = x * 1664525u + 1013904223u;
    b[i] = (float)(int)(x >> 1);
}

__kernel void products(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint x = i + 1, y = rounds + i;
    for (int k = 0; k < 32 * rounds; k++) {
        x = x * y; /* MARK products */
        y = y * x;
    }
    b[i] = (float)(int)(x >> 1);
}

__kernel void products_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint x = i + 1, y = rounds + i;
    for (int k = 0; k < 32 * rounds; k++) {
        x = x ^ y;
        y = y + x;
    }
    b[i] = (float)(int)(x >> 1);
}

__kernel void doubles(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = x * 0.5 + 1.1; /* MARK doubles */
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

__kernel void double_sums(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    double x = a[i], y = 1.0;
    for (int k = 0; k < 16 * rounds; k++) {
        x = fma(x, 0.5, y); /* MARK double_sums */
        y = fma(y, 0.25, x);
    }
    b[i] = (float)(x + y);
}

__kernel void double_sums_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = fma(x, 0.5f, y);
        y = fma(y, 0.25f, x);
    }
    b[i] = x + y;
}

__kernel void conversions(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    int x = i;
    for (int k = 0; k < 16 * rounds; k++)
        x = (int)((float)x * 0.5f) + (int)((float)(x & 15) * 0.25f); /* MARK conversions */
    b[i] = (float)x;
}

__kernel void conversions_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    int x = i;
    for (int k = 0; k < 16 * rounds; k++)
        x = (x >> 1) + ((x & 15) >> 2);
    b[i] = (float)x;
}

/* ... and, where integers have one pipe, in floats */
__kernel void conversions_floats(__global float *a, __global float *b, int rounds)
{
    float x = (float)get_global_id(0);
    for (int k = 0; k < 16 * rounds; k++)
        x = trunc(x * 0.5f) + trunc((x - 16.0f * trunc(x * 0.0625f)) * 0.25f);
    b[get_global_id(0)] = x;
}

/* ---- math ---- */

__kernel void sines(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = native_sin(x) + native_exp2(x); /* MARK sines */
    b[i] = x;
}

/* a polynomial of the range that is needed */
__kernel void sines_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 16 * rounds; k++)
        x = mad(x, 0.69f, 1.0f) + x;
    b[i] = x;
}

__kernel void divisions(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = 1.0f + rounds;
    for (int k = 0; k < 16 * rounds; k++)
        x = native_divide(x, y) + native_divide(1.0f, x); /* MARK divisions */
    b[i] = x;
}

__kernel void divisions_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = 1.0f / (1.0f + rounds);
    for (int k = 0; k < 16 * rounds; k++)
        x = x * y + mad(x, -0.5f, y);
    b[i] = x;
}

__kernel void precise_sines(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + i;
    for (int k = 0; k < 4 * rounds; k++)
        x = sin(x) + 0.5f; /* MARK precise_sines */
    b[i] = x;
}

__kernel void precise_sines_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + i;
    for (int k = 0; k < 4 * rounds; k++)
        x = native_sin(x) + 0.5f;
    b[i] = x;
}

__kernel void powers(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.5f;
    for (int k = 0; k < 4 * rounds; k++)
        x = pow(x, 3.0f + rounds) * 0.25f + 1.0f; /* MARK powers */
    b[i] = x;
}

__kernel void powers_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.5f;
    for (int k = 0; k < 4 * rounds; k++)
        x = native_powr(x, 3.0f + rounds) * 0.25f + 1.0f;
    b[i] = x;
}

__kernel void int_divisions(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint x = i + 1000003u, by = rounds + 3;
    for (int k = 0; k < 8 * rounds; k++)
        x = x / by + 1000003u; /* MARK int_divisions */
    b[i] = (float)x;
}

__kernel void int_divisions_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint x = i + 1000003u;
    for (int k = 0; k < 8 * rounds; k++)
        x = (x >> 3) + 1000003u;
    b[i] = (float)x;
}

__kernel void modulos(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = rounds + 13, x = i;
    for (int k = 0; k < 8 * rounds; k++)
        x = (x * 5 + k) % n; /* MARK modulos */
    b[i] = (float)x;
}

__kernel void modulos_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), x = i;
    for (int k = 0; k < 8 * rounds; k++)
        x = (x * 5 + k) & 15;
    b[i] = (float)x;
}

__kernel void wide_modulos(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    ulong n = rounds + 13, x = i;
    for (int k = 0; k < 2 * rounds; k++)
        x = (x + 1000003ul) % n + k; /* MARK wide_modulos */
    b[i] = (float)(int)x;
}

__kernel void wide_modulos_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    ulong x = i;
    for (int k = 0; k < 2 * rounds; k++)
        x = ((x + 1000003ul) & 15ul) + k;
    b[i] = (float)(int)x;
}

/* ---- launch ---- */

/* one group does what 32 could; the mended one is launched with 32 times the groups */
__kernel void few_groups(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i];
    for (int k = 0; k < 512 * rounds / groups; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

__kernel void few_groups_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i];
    for (int k = 0; k < 512 * rounds / groups; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x;
}

/* local memory leaves room for few groups; it is needed for nothing */
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

__kernel void crowded_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0);
    tile[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = tile[get_local_size(0) - 1 - i];
    for (int k = 0; k < 64 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[get_global_id(0)] = x;
}

/* an item for each sum; the mended one has sixteen times fewer items */
__kernel void short_threads(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    b[i & 65535] = 1.0f;
}

__kernel void short_threads_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 16; k++)
        b[(i + k * n) & 65535] = 1.0f;
}

/* one chain, and one thread on each EU */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void one_chain(__global float *a, __global float *b, int rounds) /* MARK one_chain low-occupancy */
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 64 * rounds; k++)
        x = mad(mad(mad(mad(x, 0.5f, 1.0f), 0.5f, 1.0f), 0.5f, 1.0f), 0.5f, 1.0f); /* MARK one_chain */
    b[i] = x;
}

__kernel __attribute__((intel_reqd_sub_group_size(16))) void one_chain_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float4 x = a[i] + (float4)(0.0f, 1.0f, 2.0f, 3.0f);
    for (int k = 0; k < 64 * rounds; k++)
        x = mad(x, 0.5f, 1.0f);
    b[i] = x.x + x.y + x.z + x.w;
}

/* ... and as many steps by six times as many */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void one_chain_shared(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 64 * rounds / 6; k++)
        x = mad(mad(mad(mad(x, 0.5f, 1.0f), 0.5f, 1.0f), 0.5f, 1.0f), 0.5f, 1.0f);
    b[i] = x;
}

/* ---- clean: nothing is wrong with these */

__kernel void clean_sums(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 64 * rounds; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, x);
    }
    b[i] = x + y;
}

__kernel void clean_tile(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = 0.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        float y = tile[(i + k) & (n - 1)];
        x = mad(x, 0.5f, y);
        x = mad(x, y, 1.0f);
        y = mad(y, x, 0.5f);
        x = mad(y, 0.25f, x);
        x = mad(x, y, y);
        x = mad(x, 0.125f, y);
        x = mad(y, x, 1.5f);
        x = mad(x, 0.75f, 2.0f);
    }
    b[get_global_id(0)] = x;
}

__kernel void clean_copy(__global float *a, __global float *b, int rounds) /* MARK clean_copy dispatch */
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 8; k++)
        b[i + k * n] = a[i + k * n];
}

/* a quarter of the threads */
__kernel void clean_copy_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 8; k++)
        vstore4(vload4(i + k * n, a), i + k * n, b);
}

/* the body of a loop is larger than the instruction cache (but of acm-g10) */
__kernel void unrolled(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f, z = x + 2.0f, w = x + 3.0f;
    for (int k = 0; k < rounds; k++) {
        STEPS_512 STEPS_512 STEPS_512 STEPS_512 /* MARK unrolled */
    }
    b[i] = x + y + z + w;
}

__kernel void unrolled_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f, z = x + 2.0f, w = x + 3.0f;
    for (int k = 0; k < rounds * 32; k++) {
        STEPS_64
    }
    b[i] = x + y + z + w;
}

/* threads of 32 lanes, a byte for each: two messages for each line (but on pvc, which has messages of 32 lanes) */
__kernel __attribute__((intel_reqd_sub_group_size(32))) void bytes_each(__global float *a, __global float *b, int rounds)
{
    __global uchar *to = (__global uchar *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 32 * rounds; k += 16) {
#pragma unroll
        for (int n = 0; n < 16; n++)
            to[((i + k * 64) & 16383) + n * 64] = (uchar)i; /* MARK bytes_each */
    }
}

/* two bytes each */
__kernel __attribute__((intel_reqd_sub_group_size(32))) void bytes_each_mended(__global float *a, __global float *b, int rounds)
{
    __global ushort *to = (__global ushort *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 32 * rounds; k += 16) {
#pragma unroll
        for (int n = 0; n < 8; n++)
            to[((i + k * 64) & 8191) + n * 64] = (ushort)i;
    }
}
