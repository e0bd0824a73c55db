/* SPDX-License-Identifier: MIT */
/*
 * More kernels with a defect, as mended.cl: these were written and judged before the tool had seen
 * them. What it says of them is how good it is.
 */

/* every byte is counted where all meet; most bytes are alike */
__kernel void byte_counts(__global float *a, __global float *b, int rounds)
{
    __global uchar *bytes = (__global uchar *)a;
    __global int *bins = (__global int *)b;
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 4 * rounds; k++)
        atomic_inc(bins + bytes[i + k * n]); /* MARK byte_counts */
}

/* each work-item counts for itself how many are as the first, and adds that once */
__kernel void byte_counts_mended(__global float *a, __global float *b, int rounds)
{
    __global uchar *bytes = (__global uchar *)a;
    __global int *bins = (__global int *)b;
    int i = get_global_id(0), n = get_global_size(0), alike = 0, first = bytes[i];
    for (int k = 0; k < 4 * rounds; k++)
        alike += bytes[i + k * n] == first;
    bins[256 + i] = alike;
}

/* a matrix of 512 columns is turned: reads follow each other, writes do not */
__kernel void turned(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < rounds; k++) {
        int at = i + k * n;
        b[(at & 511) * 2048 + (at >> 9 & 2047)] = a[at & 1048575]; /* MARK turned */
    }
}

/* through local memory: 16 by 16 at a time */
__kernel void turned_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0), x = l & 15, y = l >> 4, groups = get_num_groups(0);
    for (int k = 0; k < rounds; k++) {
        int t = get_group_id(0) + k * groups, row = t >> 5 & 127, column = t & 31;
        tile[y * 17 + x] = a[(row * 16 + y) * 512 + column * 16 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        b[(column * 16 + y) * 2048 + row * 16 + x] = tile[x * 17 + y];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* a work-item each row of 256 */
__kernel void row_sums(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 16 * rounds; k++)
        sum += a[(i & 4095) * 256 + (k & 255)]; /* MARK row_sums */
    b[i] = sum;
}

/* rows lie in columns */
__kernel void row_sums_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 16 * rounds; k++)
        sum += a[(k & 255) * 4096 + (i & 4095)];
    b[i] = sum;
}

/* the second of Harris' reductions: no lane is off, all meet in few banks */
__kernel void interleaved(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < 4 * rounds; k++) {
        for (int s = 1; s <= 16; s *= 2) {
            int at = 2 * s * l & 4095;
            tile[at] = x;
            x += tile[at + s]; /* MARK interleaved */
        }
    }
    b[get_global_id(0)] = x;
}

__kernel void interleaved_mended(__global float *a, __global float *b, int rounds,
                                 __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < 4 * rounds; k++) {
        for (int s = 16; s >= 1; s /= 2) {
            int at = l + s & 4095;
            tile[at] = x;
            x += tile[at + s];
        }
    }
    b[get_global_id(0)] = x;
}

/* a fractal: neighbours leave at different times */
__kernel void escapes(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), most = (i * 2654435761u >> 28) * 16u * (uint)rounds;
    float x = a[i], y = 0.0f;
    for (uint k = 0; k < most; k++) {
        float t = mad(x, x, -y * y); /* MARK escapes */
        y = mad(2.0f * x, y, 0.1f);
        x = t + 0.2f;
    }
    b[i] = x + y;
}

/* sorted by how long they stay: 32 neighbours alike */
__kernel void escapes_mended(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), most = ((i >> 5) * 2654435761u >> 28) * 16u * (uint)rounds;
    float x = a[i], y = 0.0f;
    for (uint k = 0; k < most; k++) {
        float t = mad(x, x, -y * y);
        y = mad(2.0f * x, y, 0.1f);
        x = t + 0.2f;
    }
    b[i] = x + y;
}

/* one work-item sums what all have written, the others wait */
__kernel void leader(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0), n = get_local_size(0);
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        for (int k = 1; k < n * rounds; k++)
            tile[0] += tile[k & 255];
    barrier(CLK_LOCAL_MEM_FENCE); /* MARK leader */
    b[get_global_id(0)] = tile[0];
}

/* all of them, as many additions in all */
__kernel void leader_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float sum = 0.0f;
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < rounds; k++)
        sum += tile[l + k & 255];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = sum;
    b[get_global_id(0)] = tile[l];
}

/* taps of a filter in an array of each work-item, chosen by data */
__kernel void taps(__global float *a, __global float *b, int rounds)
{
    float tap[48];
    int i = get_global_id(0), at = (int)a[i] + i;
    for (int k = 0; k < 48; k++)
        tap[k] = (float)(k * k) - a[k];
    float x = 0.0f;
    for (int k = 0; k < 48 * rounds; k++) {
        x = mad(x, 0.5f, tap[at % 48u]); /* MARK taps */
        at = (at * 5 + 3) & 1023;
    }
    b[i] = x;
}

/* computed where it is needed */
__kernel void taps_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), at = (int)a[i] + i;
    float x = 0.0f;
    for (int k = 0; k < 48 * rounds; k++) {
        int t = at % 48u;
        x = mad(x, 0.5f, (float)(t * t) - a[t]);
        at = (at * 5 + 3) & 1023;
    }
    b[i] = x;
}

/* a place in a ring whose size nobody knows before */
__kernel void ring(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), size = 1000u + (uint)rounds, at = i;
    for (int k = 0; k < 16 * rounds; k++)
        at = (at * 3u + 7u) % size; /* MARK ring */
    b[i] = (float)at;
}

/* of a power of two */
__kernel void ring_mended(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), at = i;
    for (int k = 0; k < 16 * rounds; k++)
        at = (at * 3u + 7u) & 1023u;
    b[i] = (float)at;
}

/* a square by pow(), a root by it, too */
__kernel void distances(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.5f;
    for (int k = 0; k < 4 * rounds; k++)
        x = pow(pow(x, 2.0f) + 2.0f, 0.5f); /* MARK distances */
    b[i] = x;
}

__kernel void distances_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.5f;
    for (int k = 0; k < 4 * rounds; k++)
        x = native_sqrt(mad(x, x, 2.0f));
    b[i] = x;
}

/* a constant without f */
__kernel void thirds(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = x + y * 0.333333; /* MARK thirds */
        y = y - x * 0.25;
    }
    b[i] = x + y;
}

__kernel void thirds_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = x + y * 0.333333f;
        y = y - x * 0.25f;
    }
    b[i] = x + y;
}

/* a hash in 64 bits */
__kernel void hashes(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    ulong h = 14695981039346656037ul + (ulong)i;
    for (int k = 0; k < 16 * rounds; k++)
        h = (h ^ (ulong)k) * 1099511628211ul; /* MARK hashes */
    b[i] = (float)(uint)(h >> 40);
}

__kernel void hashes_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint h = 2166136261u + (uint)i;
    for (int k = 0; k < 16 * rounds; k++)
        h = (h ^ (uint)k) * 16777619u;
    b[i] = (float)(h >> 8);
}

/* a list, a sub-group each: the next place is known when the last one was read */
__kernel void hops(__global float *a, __global float *b, int rounds)
{
    __global uint *next = (__global uint *)a;
    uint at = get_global_id(0) >> 5 << 4;
    for (int k = 0; k < 32 * rounds; k++)
        at = next[at & 1048575u] + at + 4096u; /* MARK hops */
    b[get_global_id(0)] = (float)at;
}

/* where it leads is computed: nothing waits for what is read */
__kernel void hops_mended(__global float *a, __global float *b, int rounds)
{
    __global uint *next = (__global uint *)a;
    uint at = get_global_id(0) >> 5 << 4, sum = 0;
    for (int k = 0; k < 32 * rounds; k += 8) {
#pragma unroll
        for (int n = 0; n < 8; n++)
            sum += next[(at + (uint)(k + n) * 4096u) & 1048575u];
    }
    b[get_global_id(0)] = (float)sum;
}

/* steps of a sound, kept as integers, computed as floats */
__kernel void steps(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), level = i & 255;
    for (int k = 0; k < 16 * rounds; k++)
        level = (int)((float)level * 0.75f) + 64; /* MARK steps */
    b[i] = (float)level;
}

__kernel void steps_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), level = i & 255;
    for (int k = 0; k < 16 * rounds; k++)
        level = level - (level >> 2) + 64;
    b[i] = (float)level;
}

/* ... and, where integers have one pipe, in floats */
__kernel void steps_floats(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float level = (float)(i & 255);
    for (int k = 0; k < 16 * rounds; k++)
        level = trunc(level * 0.75f) + 64.0f;
    b[i] = level;
}

/* two groups for the whole device; mended by the launch */
__kernel void two_groups(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 8192 * rounds / groups; k++) {
        x = mad(x, 0.5f, 1.0f);
        y = mad(y, 0.25f, 2.0f);
    }
    b[i] = x + y;
}

__kernel void two_groups_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 8192 * rounds / groups; k++) {
        x = mad(x, 0.5f, 1.0f);
        y = mad(y, 0.25f, 2.0f);
    }
    b[i] = x + y;
}

/* how many of the group are positive, counted by one counter */
__kernel void votes(__global float *a, __global float *b, int rounds, __local float *tile)
{
    __local int *count = (__local int *)tile;
    int i = get_global_id(0);
    if (get_local_id(0) == 0)
        *count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        if (a[i] >= 0.0f)
            atomic_max(count, k + (int)a[i + k]); /* MARK votes */
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = (float)*count;
}

/* each its own, then one */
__kernel void votes_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    __local int *count = (__local int *)tile;
    int i = get_global_id(0), own = 0;
    if (get_local_id(0) == 0)
        *count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        if (a[i] >= 0.0f)
            own = max(own, k + (int)a[i + k]);
    atomic_max(count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = (float)*count;
}

/* nothing is wrong: a polynomial, and a triad */
__kernel void clean_horner(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.0f, z = 2.0f, u = 3.0f, v = 4.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        y = mad(y, x, 0.5f);
        z = mad(z, x, 0.25f);
        u = mad(u, x, 0.125f);
        v = mad(v, x, 2.0f);
    }
    b[i] = y + z + u + v;
}

__kernel void clean_triad(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < rounds; k++)
        b[(i + k * n) & 1048575] = mad(a[(i + k * n) & 1048575], 3.0f, a[1048576 + ((i + k * n) & 1048575)]);
}
