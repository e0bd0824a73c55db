/* SPDX-License-Identifier: MIT */
/*
 * As fresh.cl, written and judged before the tool had seen them, too: the first eleven for large devices
 * (acm-g10, pvc), the others for skl.
 */

/* ---- large devices ---- */

/* y = A x, a work-item each row; rows lie one behind the other */
__kernel void matvec(__global float *a, __global float *b, int rounds)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 16 * rounds; k++)
        sum = mad(a[((row & 8191) * 128 + k) & 1048575], b[1048576 + k], sum); /* MARK matvec */
    b[row] = sum;
}

/* the matrix is kept turned */
__kernel void matvec_mended(__global float *a, __global float *b, int rounds)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 16 * rounds; k++)
        sum = mad(a[(k * 8192 + (row & 8191)) & 1048575], b[1048576 + k], sum);
    b[row] = sum;
}

/* C = A B of 512 columns, each work-item reads a row and a column of its own */
__kernel void multiply(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), row = i >> 9 & 255, column = i & 511;
    float sum = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        sum = mad(a[row * 512 + k], a[262144 + k * 512 + column], sum); /* MARK multiply */
    b[i] = sum;
}

/* eight rows for each work-item: what is read of B is used eight times; as many products in all */
__kernel void multiply_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), row = (i >> 9 & 31) * 8, column = i & 511;
    float sum[8] = {0.0f};
    for (int k = 0; k < 4 * rounds; k++) {
        float y = a[262144 + k * 512 + column];
#pragma unroll
        for (int r = 0; r < 8; r++)
            sum[r] = mad(a[(row + r) * 512 + k], y, sum[r]);
    }
    float all = 0.0f;
#pragma unroll
    for (int r = 0; r < 8; r++)
        all += sum[r];
    b[i] = all;
}

/* energies are summed into one of eight places */
__kernel void energies(__global float *a, __global float *b, int rounds)
{
    __global int *sums = (__global int *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 2 * rounds; k++)
        atomic_add(sums + ((i >> 8) + k & 7), (int)a[(i + k * 4096) & 1048575] + k); /* MARK energies */
}

/* each for itself, and as many places as work-items */
__kernel void energies_mended(__global float *a, __global float *b, int rounds)
{
    __global int *sums = (__global int *)b;
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 2 * rounds; k++)
        sum += (int)a[(i + k * 4096) & 1048575] + k;
    sums[i] = sum;
}

/* an activation, as it stands in the book */
__kernel void gelu(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 0.25f;
    for (int k = 0; k < 4 * rounds; k++)
        x = 0.5f * x * (1.0f + erf(x * 0.70710678f)) + 0.5f; /* MARK gelu */
    b[i] = x;
}

/* by a logistic function */
__kernel void gelu_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 0.25f;
    for (int k = 0; k < 4 * rounds; k++)
        x = x * native_recip(1.0f + native_exp2(-2.4554f * x)) + 0.5f;
    b[i] = x;
}

/* the first sub-groups refine, the others of the group wait for them in each round */
__kernel void refined(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < rounds; k++) {
        if (l < 64)
            for (int n = 0; n < 128; n++)
                x = mad(x, 0.5f, 0.25f);
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE); /* MARK refined */
        x += tile[l & 63];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
}

/* a quarter of it each */
__kernel void refined_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < rounds; k++) {
        for (int n = 0; n < 32; n++)
            x = mad(x, 0.5f, 0.25f);
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        x += tile[l & 63];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
}

/* a tree is walked with a stack of each work-item */
__kernel void walked(__global float *a, __global float *b, int rounds)
{
    int stack[64], top = 0, i = get_global_id(0), sum = 0;
    uint seed = i * 2654435761u;
    for (int k = 0; k < 16 * rounds; k++) {
        seed = seed * 1664525u + 1013904223u;
        if (seed >> 31 && top < 63)
            stack[top++] = k ^ (int)seed; /* MARK walked */
        else if (top > 0)
            sum += stack[--top];
    }
    for (int k = 0; k < top; k++)
        sum += stack[k];
    b[i] = (float)sum;
}

/* without: the order does not matter */
__kernel void walked_mended(__global float *a, __global float *b, int rounds)
{
    int top = 0, i = get_global_id(0), sum = 0;
    uint seed = i * 2654435761u;
    for (int k = 0; k < 16 * rounds; k++) {
        seed = seed * 1664525u + 1013904223u;
        if (seed >> 31 && top < 63) {
            top++;
            sum += k ^ (int)seed;
        } else if (top > 0) {
            top--;
        }
    }
    b[i] = (float)(sum + top);
}

/* a tile of 64 columns is read by columns */
__kernel void tile_columns(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = 0.0f;
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        x += tile[((l & 63) * 64 + (l >> 6) + k) & 4095]; /* MARK tile_columns */
    b[get_global_id(0)] = x;
}

/* with a column that nobody uses */
__kernel void tile_columns_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = 0.0f;
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        x += tile[((l & 63) * 65 + (l >> 6) + k) & 4095];
    b[get_global_id(0)] = x;
}

/* pixels are numbered through: where one stands follows from a width that the host gives */
__kernel void pixels(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), width = 640u + (uint)rounds, sum = 0;
    for (int k = 0; k < 8 * rounds; k++) {
        uint at = i + sum + (uint)k * 4099u;
        sum += at % width + at / width; /* MARK pixels */
    }
    b[i] = (float)sum;
}

/* rows of 1024 */
__kernel void pixels_mended(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), sum = 0;
    for (int k = 0; k < 8 * rounds; k++) {
        uint at = i + sum + (uint)k * 4099u;
        sum += (at & 1023u) + (at >> 10);
    }
    b[i] = (float)sum;
}

/* a hash table is probed: the next place follows from what is there */
__kernel void probed(__global float *a, __global float *b, int rounds)
{
    __global uint *table = (__global uint *)a;
    uint i = get_global_id(0), at = i >> 4;
    for (int k = 0; k < 32 * rounds; k++)
        at = (table[(at * 64u + (i & 15u)) & 262143u] + at * 1664525u + 1013904223u) & 4095u; /* MARK probed */
    b[i] = (float)at;
}

/* ... from the number of the try */
__kernel void probed_mended(__global float *a, __global float *b, int rounds)
{
    __global uint *table = (__global uint *)a;
    uint i = get_global_id(0), at = i >> 4, sum = 0;
    for (int k = 0; k < 4 * rounds; k++) {
#pragma unroll
        for (int n = 0; n < 8; n++) {
            sum += table[(at * 64u + (i & 15u)) & 262143u];
            at = (at * 1664525u + 1013904223u) & 4095u;
        }
    }
    b[i] = (float)(sum + at);
}

/* eight groups go through all there is; mended by the launch */
__kernel void persistent(__global float *a, __global float *b, int rounds)
{
    int n = get_global_size(0), all = 262144;
    for (int i = get_global_id(0); i < all; i += n) {
        float x = a[i];
        for (int k = 0; k < 8 * rounds; k++)
            x = mad(x, 0.5f, 1.0f);
        b[i] = x;
    }
}

__kernel void persistent_mended(__global float *a, __global float *b, int rounds)
{
    int n = get_global_size(0), all = 262144;
    for (int i = get_global_id(0); i < all; i += n) {
        float x = a[i];
        for (int k = 0; k < 8 * rounds; k++)
            x = mad(x, 0.5f, 1.0f);
        b[i] = x;
    }
}

/* nothing is wrong: steps of an integrator in registers */
__kernel void clean_steps(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], v = 1.0f, y = 2.0f, w = 0.5f;
    for (int k = 0; k < 32 * rounds; k++) {
        v = mad(x, -0.01f, v);
        w = mad(y, -0.02f, w);
        x = mad(v, 0.01f, x);
        y = mad(w, 0.01f, y);
    }
    b[i] = x + y;
}

/* ---- skl ---- */

/* red and black: neighbours do different things */
__kernel void red_black(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        if (i & 1) {
            for (int n = 0; n < 8; n++)
                x = mad(x, 0.5f, y); /* MARK red_black */
        } else {
            for (int n = 0; n < 8; n++)
                y = mad(y, x, 0.25f);
        }
    }
    b[i] = x + y;
}

/* red ones first */
__kernel void red_black_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        if (i >> 5 & 1) {
            for (int n = 0; n < 8; n++)
                x = mad(x, 0.5f, y);
        } else {
            for (int n = 0; n < 8; n++)
                y = mad(y, x, 0.25f);
        }
    }
    b[i] = x + y;
}

/* each step takes a root and a reciprocal */
__kernel void norms(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = 2.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = native_rsqrt(mad(x, x, y)); /* MARK norms */
        y = native_sqrt(y + x);
    }
    b[i] = x + y;
}

/* a step of Newton's each */
__kernel void norms_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = 2.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = x * mad(x, -0.5f, y);
        y = mad(y, 0.5f, x);
    }
    b[i] = x + y;
}

/* fixed point with products of 64 bits */
__kernel void fixed_point(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    long sum = 0;
    int x = i + 3, y = rounds + 77;
    for (int k = 0; k < 16 * rounds; k++) {
        sum += (long)x * y; /* MARK fixed_point */
        x += 5;
    }
    b[i] = (float)(int)(sum >> 16);
}

/* 24 bits are enough */
__kernel void fixed_point_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f, x = (float)(i + 3), y = (float)(rounds + 77);
    for (int k = 0; k < 16 * rounds; k++) {
        sum = mad(x, y, sum);
        x += 5.0f;
    }
    b[i] = sum;
}

/* what fades, with constants of the wrong type */
__kernel void fading(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float light = a[i] + 1.0f;
    for (int k = 0; k < 16 * rounds; k++)
        light = light * 0.97 + 0.01 * (1.0 - light); /* MARK fading */
    b[i] = light;
}

__kernel void fading_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float light = a[i] + 1.0f;
    for (int k = 0; k < 16 * rounds; k++)
        light = light * 0.97f + 0.01f * (1.0f - light);
    b[i] = light;
}

/* planes of a cube: neighbours are a plane apart */
__kernel void planes(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), x = i & 63, y = i >> 6 & 63;
    float sum = 0.0f;
    for (int z = 0; z < 8 * rounds; z++)
        sum += a[x * 4096 + y * 64 + (z & 63)]; /* MARK planes */
    b[i] = sum;
}

__kernel void planes_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), x = i & 63, y = i >> 6 & 63;
    float sum = 0.0f;
    for (int z = 0; z < 8 * rounds; z++)
        sum += a[(z & 63) * 4096 + y * 64 + x];
    b[i] = sum;
}

/* edges of a graph: where they lead stands in memory */
__kernel void edges(__global float *a, __global float *b, int rounds)
{
    __global uint *to = (__global uint *)b;
    uint i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        uint node = (to[(i + k * 16384) & 262143] ^ i * 2654435761u) + (uint)k * 7919u;
        sum += a[node & 262143u]; /* MARK edges */
    }
    b[i + 1048576] = sum;
}

/* the graph is numbered anew: neighbours lead to neighbours */
__kernel void edges_mended(__global float *a, __global float *b, int rounds)
{
    __global uint *to = (__global uint *)b;
    uint i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        uint node = (to[(i + k * 16384) & 262143] ^ i) + (uint)k * 7936u;
        sum += a[node & 262143u];
    }
    b[i + 1048576] = sum;
}

/* tickets of a group are drawn from one place in local memory */
__kernel void tickets(__global float *a, __global float *b, int rounds, __local float *tile)
{
    __local int *next = (__local int *)tile;
    int l = get_local_id(0), sum = 0;
    next[l & 63] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        sum += atomic_xchg(next + (k & 3), l + k); /* MARK tickets */
    b[get_global_id(0)] = (float)sum;
}

/* a place each */
__kernel void tickets_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    __local int *next = (__local int *)tile;
    int l = get_local_id(0), sum = 0;
    next[l & 63] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        sum += atomic_xchg(next + ((l + k) & 63), l + k);
    b[get_global_id(0)] = (float)sum;
}

/* the last samples of each work-item, in a ring */
__kernel void delayed(__global float *a, __global float *b, int rounds)
{
    float ring[128];
    int i = get_global_id(0), delay = 17 + (i & 31);
    for (int k = 0; k < 128; k++)
        ring[k] = 0.0f;
    float x = a[i];
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(ring[(k + delay) & 127], 0.5f, x); /* MARK delayed */
        ring[k & 127] = x;
    }
    b[i] = x;
}

/* without an echo */
__kernel void delayed_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], last = 0.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(last, 0.5f, x);
        last = x;
    }
    b[i] = x;
}

/* pairs are exchanged at growing distance, as a Fourier transformation does */
__kernel void butterflies(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < 8 * rounds; k++) {
        tile[(l * 32 + k) & 2047] = x; /* MARK butterflies */
        x += 0.5f * tile[(l * 32 + 32 + k) & 2047];
    }
    b[get_global_id(0)] = x;
}

__kernel void butterflies_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < 8 * rounds; k++) {
        tile[(l * 33 + k) & 2047] = x;
        x += 0.5f * tile[(l * 33 + 33 + k) & 2047];
    }
    b[get_global_id(0)] = x;
}

/* a work-item each number; mended it does 16 */
__kernel void cleared(__global float *a, __global float *b, int rounds)
{
    b[get_global_id(0) & 131071] = 0.0f;
}

__kernel void cleared_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 16; k++)
        b[(i + k * n) & 131071] = 0.0f;
}

/* ---- all devices ---- */

/* slopes of angles that may be large */
__kernel void slopes(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + (float)i * 0.125f;
    for (int k = 0; k < 4 * rounds; k++)
        x = tan(x) * 0.25f + 2.0f; /* MARK slopes */
    b[i] = x;
}

__kernel void slopes_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + (float)i * 0.125f;
    for (int k = 0; k < 4 * rounds; k++)
        x = native_tan(x) * 0.25f + 2.0f;
    b[i] = x;
}

/* four bins of a group in local memory */
__kernel void bins(__global float *a, __global float *b, int rounds, __local int *tile)
{
    int l = get_local_id(0), i = get_global_id(0);
    tile[l & 15] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        atomic_add(tile + ((l >> 4) + k & 3), l + k); /* MARK bins */
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = (float)tile[l & 3] + a[i];
}

/* each item has its own sums, which are added at the end */
__kernel void bins_mended(__global float *a, __global float *b, int rounds, __local int *tile)
{
    int l = get_local_id(0), i = get_global_id(0), sum = 0;
    tile[l & 15] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        sum += l + k;
    tile[l & 15] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = (float)tile[l & 3] + a[i];
}

struct particle {
    float place[3], speed[3], mass, charge, age, kind, cell, spare[5];
};

/* one member of records of 64 bytes */
__kernel void ages(__global float *a, __global float *b, int rounds)
{
    __global struct particle *particles = (__global struct particle *)a;
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += particles[(i + k * 1024) & 8191].age; /* MARK ages */
    b[i] = x;
}

__kernel void ages_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        x += a[(i + k * 1024) & 8191];
    b[i] = x;
}

/* which entry an item reads stands in a table */
__kernel void lookups(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    __global uint *entries = (__global uint *)b + 1048576;
    uint at = entries[i & 63] + (uint)i * 2246822519u;
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        at = (at ^ at >> 7) * 3266489917u;
        x += a[at & 65535u]; /* MARK lookups */
    }
    b[i] = x;
}

/* in the order of the entries */
__kernel void lookups_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    __global uint *entries = (__global uint *)b + 1048576;
    uint at = entries[i & 63] + (uint)(i >> 5) * 2246822519u;
    float x = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        at = (at ^ at >> 7) * 3266489917u;
        x += a[((at & 2047u) * 32 + (uint)(i & 31)) & 65535u];
    }
    b[i] = x;
}

/* one item sums for all of its group */
__kernel void scanned(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int r = 0; r < rounds; r++) {
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0)
            for (int k = 1; k < 256; k++)
                tile[k] += tile[k - 1];
        barrier(CLK_LOCAL_MEM_FENCE); /* MARK scanned */
        x += tile[l] * 0.001f;
    }
    b[get_global_id(0)] = x;
}

/* each in steps of twice the size */
__kernel void scanned_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int r = 0; r < rounds; r++) {
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int step = 1; step < 256; step *= 2) {
            float y = l >= step ? tile[l - step] : 0.0f;
            barrier(CLK_LOCAL_MEM_FENCE);
            tile[l] += y;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        x += tile[l] * 0.001f;
    }
    b[get_global_id(0)] = x;
}

/* neighbours have lists of different lengths */
__kernel void lengths(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = (int)((uint)i * 2654435761u >> 25) * rounds;
    float4 x = (float4)(a[i], 1.0f, 2.0f, 3.0f);
    for (int k = 0; k < n; k++)
        x = mad(x, x, 0.25f); /* MARK lengths */
    b[i] = x.x + x.y + x.z + x.w;
}

/* sorted by length: those of a thread are alike */
__kernel void lengths_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = (int)((uint)(i >> 5) * 2654435761u >> 25) * rounds;
    float4 x = (float4)(a[i], 1.0f, 2.0f, 3.0f);
    for (int k = 0; k < n; k++)
        x = mad(x, x, 0.25f);
    b[i] = x.x + x.y + x.z + x.w;
}

/* sums of digits, in a base that only the launch knows */
__kernel void digits(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), base = rounds + 6, x = i * 77u + 12345u, sum = 0;
    for (int k = 0; k < 8 * rounds; k++) {
        sum += x % base; /* MARK digits */
        x = x * 5u + sum;
    }
    b[i] = (float)sum;
}

/* a base of sixteen */
__kernel void digits_mended(__global float *a, __global float *b, int rounds)
{
    uint i = get_global_id(0), x = i * 77u + 12345u, sum = 0;
    for (int k = 0; k < 8 * rounds; k++) {
        sum += x & 15u;
        x = x * 5u + sum;
    }
    b[i] = (float)sum;
}

/* groups of four work-items; mended by the launch: groups of 64 */
__kernel void quads(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, 1.0f);
        y = mad(y, 0.25f, 2.0f);
    }
    b[i] = x + y;
}

__kernel void quads_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, 1.0f);
        y = mad(y, 0.25f, 2.0f);
    }
    b[i] = x + y;
}

/* rows of 64 words, a row each */
__kernel void own_rows(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < 32 * rounds; k++)
        x += tile[l * 64 + (k & 63)]; /* MARK own_rows */
    b[get_global_id(0)] = x;
}

__kernel void own_rows_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < 32 * rounds; k++)
        x += tile[(k & 63) * 64 + l];
    b[get_global_id(0)] = x;
}

/* three groups do all */
__kernel void lone(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 768 * rounds / groups; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, 0.5f);
    }
    b[i] = x + y;
}

__kernel void lone_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 768 * rounds / groups; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, 0.5f);
    }
    b[i] = x + y;
}

/* one group more than the device holds */
__kernel void late_group(__global float *a, __global float *b, int rounds)
{
    float4 x = (float4)(a[get_global_id(0)], 0.1f, 0.2f, 0.3f);
    for (int k = 0; k < 105 * rounds; k++)
        x = mad(x, x, -0.3f);
    b[get_global_id(0)] = x.x + x.y + x.z + x.w;
}

/* as much, in as many as it holds */
__kernel void late_group_mended(__global float *a, __global float *b, int rounds)
{
    float4 x = (float4)(a[get_global_id(0)], 0.1f, 0.2f, 0.3f);
    for (int k = 0; k < 110 * rounds; k++)
        x = mad(x, x, -0.3f);
    b[get_global_id(0)] = x.x + x.y + x.z + x.w;
}
