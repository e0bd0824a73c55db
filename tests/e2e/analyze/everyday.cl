/* SPDX-License-Identifier: MIT */
/* Kernels of everyday's applications, each with what it was mended to (known.py). `filled` runs first: data that others go by. */

__kernel void filled(__global float *a, __global float *b, int rounds)
{
    __global int *indices = (__global int *)a;
    for (int i = get_global_id(0); i < 1048576; i += get_global_size(0)) {
        uint x = (uint)i * 2654435761u;
        x ^= x >> 15;
        indices[i] = (int)(x * 2246822519u >> 13) & 524287;
        a[1048576 + i] = (float)(x & 255) * 0.00390625f;
    }
}

/* particles of eight floats: a place, a speed, a mass, a charge */
__kernel void particles(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < rounds; k++) {
        int p = ((i + k * n) & 65535) * 8;
        __global const float *from = a + 1048576 + p;
        b[p] = mad(from[4], 0.01f, from[0]);
        b[p + 1] = mad(from[5], 0.01f, from[1]); /* MARK particles */
        b[p + 2] = mad(from[6] - 9.81f * from[3], 0.01f, from[2]);
    }
}

/* an array for each of their fields */
__kernel void particles_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < rounds; k++) {
        int p = (i + k * n) & 65535;
        __global const float *from = a + 1048576 + p;
        b[p] = mad(from[262144], 0.01f, from[0]);
        b[65536 + p] = mad(from[327680], 0.01f, from[65536]);
        b[131072 + p] = mad(from[393216] - 9.81f * from[196608], 0.01f, from[131072]);
    }
}

/* a convolution by three times three whose lanes lie below each other */
__kernel void convolved(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int r = 0; r < rounds; r++) {
        int at = (i + r * n) & 131071, y = at & 511, x = at >> 9;
        __global const float *from = a + 1048576 + y * 1024 + x;
        float sum = 0.0f;
#pragma unroll
        for (int v = 0; v < 3; v++)
#pragma unroll
            for (int u = 0; u < 3; u++)
                sum = mad(from[v * 1024 + u], 0.1f + 0.05f * (v + u), sum); /* MARK convolved */
        b[y * 1024 + x] = sum;
    }
}

/* ... beside each other */
__kernel void convolved_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int r = 0; r < rounds; r++) {
        int at = (i + r * n) & 131071, x = at & 255, y = at >> 8;
        __global const float *from = a + 1048576 + y * 1024 + x;
        float sum = 0.0f;
#pragma unroll
        for (int v = 0; v < 3; v++)
#pragma unroll
            for (int u = 0; u < 3; u++)
                sum = mad(from[v * 1024 + u], 0.1f + 0.05f * (v + u), sum);
        b[y * 1024 + x] = sum;
    }
}

/* brightness of pixels, counted by atomics to buffers */
__kernel void brightness(__global float *a, __global float *b, int rounds)
{
    __global int *bars = (__global int *)b;
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < rounds; k++)
        atomic_inc(&bars[(int)(a[1048576 + ((i + k * n) & 524287)] * 63.0f)]); /* MARK brightness */
}

/* ... of each group in local memory first */
__kernel void brightness_mended(__global float *a, __global float *b, int rounds, __local int *own)
{
    __global int *bars = (__global int *)b;
    int i = get_global_id(0), n = get_global_size(0), l = get_local_id(0);
    if (l < 64)
        own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < rounds; k++)
        atomic_inc(&own[(int)(a[1048576 + ((i + k * n) & 524287)] * 63.0f)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        atomic_add(&bars[l], own[l]);
}

/* softmax of eight values, three times over them */
__kernel void softmaxed(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        __global const float *from = a + 1048576 + ((i + r * 16384) & 131071);
        float most = from[0], sum = 0.0f;
        for (int k = 1; k < 8; k++)
            most = fmax(most, from[k * 131072]);
        for (int k = 0; k < 8; k++)
            sum += exp(from[k * 131072] - most); /* MARK softmaxed */
        float of = 1.0f / sum;
        for (int k = 0; k < 8; k++)
            b[k * 131072 + ((i + r * 16384) & 131071)] = exp(from[k * 131072] - most) * of; /* MARK softmaxed memory-bound */
    }
}

__kernel void softmaxed_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        __global const float *from = a + 1048576 + ((i + r * 16384) & 131071);
        float most = from[0], sum = 0.0f;
        for (int k = 1; k < 8; k++)
            most = fmax(most, from[k * 131072]);
        for (int k = 0; k < 8; k++)
            sum += native_exp(from[k * 131072] - most);
        float of = 1.0f / sum;
        for (int k = 0; k < 8; k++)
            b[k * 131072 + ((i + r * 16384) & 131071)] = native_exp(from[k * 131072] - most) * of;
    }
}

/* ... of halves, each loaded once */
__kernel void softmaxed_halves(__global float *a, __global float *b, int rounds)
{
    __global const half *from = (__global const half *)(a + 1048576);
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        int at = (i + r * 16384) & 131071;
        float v[8], most = vload_half(at, from), sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            v[k] = vload_half(k * 131072 + at, from);
            most = fmax(most, v[k]);
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += v[k] = exp(v[k] - most);
        float of = 1.0f / sum;
#pragma unroll
        for (int k = 0; k < 8; k++)
            vstore_half(v[k] * of, k * 131072 + at, (__global half *)b);
    }
}

/* a layer's norm: each value is divided */
__kernel void layer_norm(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float mean = a[1048576 + i], spread = a[1048576 + 8192 + i] + 0.5f, x = mean * 0.5f, y = 1.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = (x - mean) / spread; /* MARK layer_norm */
        y = (y + mean) / spread;
        spread = mad(spread, 0.99f, 0.01f);
    }
    b[i] = x + y;
}

/* ... multiplied by what is divided once */
__kernel void layer_norm_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float mean = a[1048576 + i], spread = a[1048576 + 8192 + i] + 0.5f, x = mean * 0.5f, y = 1.0f;
    float by = 1.0f / spread;
    for (int k = 0; k < 16 * rounds; k++) {
        x = (x - mean) * by;
        y = (y + mean) * by;
        by = mad(by, 0.99f, 0.01f);
    }
    b[i] = x + y;
}

/* products of small matrices: rows of 32 in local memory, read downwards */
__kernel void small_products(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_global_id(0), l = get_local_id(0), row = l & 31, column = l >> 5;
    for (int k = 0; k < 4; k++)
        tile[k * 256 + l] = a[1048576 + i + k * 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (int k = 0; k < 32; k++)
            sum = mad(tile[row * 32 + (k ^ r & 31)], tile[k * 32 + column], sum); /* MARK small_products */
    b[i] = sum;
}

/* rows of 33 */
__kernel void small_products_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_global_id(0), l = get_local_id(0), row = l & 31, column = l >> 5;
    for (int k = 0; k < 4; k++)
        tile[(k * 8 + (l >> 5)) * 33 + (l & 31)] = a[1048576 + i + k * 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (int k = 0; k < 32; k++)
            sum = mad(tile[row * 33 + (k ^ r & 31)], tile[k * 33 + column], sum);
    b[i] = sum;
}

/* values of elements by number: these are in no order */
__kernel void elements(__global float *a, __global float *b, int rounds)
{
    __global const int *indices = (__global const int *)a;
    int i = get_global_id(0), n = get_global_size(0);
    float sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++)
        sum += a[1048576 + indices[(i + k * n) & 524287]]; /* MARK elements */
    b[i] = sum;
}

/* ... sorted */
__kernel void elements_mended(__global float *a, __global float *b, int rounds)
{
    __global const int *indices = (__global const int *)a;
    int i = get_global_id(0), n = get_global_size(0);
    float sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        int at = (i + k * n) & 524287;
        sum += a[1048576 + at + (indices[at] & 3)];
    }
    b[i] = sum;
}

/* rays, some of which go far */
__kernel void marched(__global float *a, __global float *b, int rounds)
{
    __global const int *indices = (__global const int *)a;
    int i = get_global_id(0), steps = (indices[i] & 15) * 4 * rounds;
    float x = a[1048576 + i], density = 0.0f, left = 1.0f;
    for (int k = 0; k < steps; k++) {
        x = mad(x, 0.97f, 0.01f);
        density = mad(x, left, density);
        left = left * (1.0f - 0.01f * x); /* MARK marched */
        density = fmin(density, 100.0f);
    }
    b[i] = density;
}

/* those that go as far are neighbours */
__kernel void marched_mended(__global float *a, __global float *b, int rounds)
{
    __global const int *indices = (__global const int *)a;
    int i = get_global_id(0), steps = (indices[i >> 6] & 15) * 4 * rounds;
    float x = a[1048576 + i], density = 0.0f, left = 1.0f;
    for (int k = 0; k < steps; k++) {
        x = mad(x, 0.97f, 0.01f);
        density = mad(x, left, density);
        left = left * (1.0f - 0.01f * x);
        density = fmin(density, 100.0f);
    }
    b[i] = density;
}

/* colours are blended: a constant is a double */
__kernel void blended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], y = a[1048576 + 8192 + i];
    for (int k = 0; k < 32 * rounds; k++) {
        x = 0.5 * x + 0.3 * y; /* MARK blended */
        y = mad(y, 0.9f, x * 0.1f);
    }
    b[i] = x + y;
}

__kernel void blended_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], y = a[1048576 + 8192 + i];
    for (int k = 0; k < 32 * rounds; k++) {
        x = 0.5f * x + 0.3f * y;
        y = mad(y, 0.9f, x * 0.1f);
    }
    b[i] = x + y;
}

/* colours from linear ones */
__kernel void gamma_of(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        sum += pow(x, 0.4545f); /* MARK gamma_of */
        x = mad(x, 0.9f, 0.05f);
    }
    b[i] = sum;
}

__kernel void gamma_of_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        sum += native_powr(x, 0.4545f);
        x = mad(x, 0.9f, 0.05f);
    }
    b[i] = sum;
}

/* places in three dimensions from a number */
__kernel void voxels(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), wide = rounds + 29, high = rounds + 17;
    float sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        int at = i + k * 4096, x = at % wide, y = at / wide % high, z = at / wide / high; /* MARK voxels */
        sum += a[1048576 + ((z << 10 ^ y << 5 ^ x) & 262143)];
    }
    b[i] = sum;
}

/* sizes that are powers of two */
__kernel void voxels_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        int at = i + k * 4096, x = at & 31, y = at >> 5 & 31, z = at >> 10;
        sum += a[1048576 + ((z << 10 ^ y << 5 ^ x) & 262143)];
    }
    b[i] = sum;
}

/* grey from red, green and blue, a byte each */
__kernel void grey(__global float *a, __global float *b, int rounds)
{
    __global const uchar *from = (__global const uchar *)a;
    __global uchar *to = (__global uchar *)b;
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 2 * rounds; k++) {
        int p = (i + k * n) & 1048575;
        to[p] = (from[3 * p] * 77 + from[3 * p + 1] * 151 + from[3 * p + 2] * 28) >> 8; /* MARK grey */
    }
}

/* four at a time */
__kernel void grey_mended(__global float *a, __global float *b, int rounds)
{
    __global const uint *from = (__global const uint *)a;
    __global uint *to = (__global uint *)b;
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < rounds / 2; k++) {
        int p = (i + k * n) & 262143;
        uint3 in = vload3(p, from);
        uint x = (in.x & 255) * 77 + (in.x >> 8 & 255) * 151 + (in.x >> 16 & 255) * 28;
        uint y = (in.x >> 24) * 77 + (in.y & 255) * 151 + (in.y >> 8 & 255) * 28;
        uint z = (in.y >> 16 & 255) * 77 + (in.y >> 24) * 151 + (in.z & 255) * 28;
        uint w = (in.z >> 8 & 255) * 77 + (in.z >> 16 & 255) * 151 + (in.z >> 24) * 28;
        to[p] = x >> 8 | (y >> 8) << 8 | (z >> 8) << 16 | (w >> 8) << 24;
    }
}

/* sums of a matrix's rows: one for each work-item */
__kernel void totals(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 4; r++) {
        int row = (i + r * 8192) & 4095;
        float sum = 0.0f;
        for (int k = 0; k < 128; k++)
            sum += a[1048576 + row * 128 + k]; /* MARK totals */
        b[row] = sum;
    }
}

/* the matrix is kept the other way round */
__kernel void totals_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 4; r++) {
        int row = (i + r * 8192) & 4095;
        float sum = 0.0f;
        for (int k = 0; k < 128; k++)
            sum += a[1048576 + k * 4096 + row];
        b[row] = sum;
    }
}

/* the middle of nine, sorted in an array */
__kernel void medians(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        __global const float *from = a + 1048576 + ((i + r * 8192) & 262143);
        float v[9];
        for (int k = 0; k < 9; k++) {
            float x = from[k * 512];
            int at = k;
            while (at > 0 && v[at - 1] > x) { /* MARK medians */
                v[at] = v[at - 1];
                at--;
            }
            v[at] = x;
        }
        b[(i + r * 8192) & 262143] = v[4];
    }
}

/* by a network of comparisons */
#define SORT(p, q) t = fmin(v[p], v[q]); v[q] = fmax(v[p], v[q]); v[p] = t
__kernel void medians_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        __global const float *from = a + 1048576 + ((i + r * 8192) & 262143);
        float v[9], t;
#pragma unroll
        for (int k = 0; k < 9; k++)
            v[k] = from[k * 512];
        SORT(1, 2); SORT(4, 5); SORT(7, 8); SORT(0, 1); SORT(3, 4); SORT(6, 7); SORT(1, 2); SORT(4, 5); SORT(7, 8);
        SORT(0, 3); SORT(5, 8); SORT(4, 7); SORT(3, 6); SORT(1, 4); SORT(2, 5); SORT(4, 7); SORT(4, 2); SORT(6, 4);
        SORT(4, 2);
        b[(i + r * 8192) & 262143] = v[4];
    }
}

/* iterations of a solver on as many groups as there happened to be */
__kernel void solver(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int at = i; at < 16384; at += n) {
        float x = a[1048576 + at], y = 0.5f;
        for (int k = 0; k < 8 * rounds; k++) {
            x = mad(x, 0.5f, y);
            y = mad(y, 0.25f, x * 0.125f);
        }
        b[at] = x + y;
    }
}

__kernel void solver_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int at = i; at < 16384; at += n) {
        float x = a[1048576 + at], y = 0.5f;
        for (int k = 0; k < 8 * rounds; k++) {
            x = mad(x, 0.5f, y);
            y = mad(y, 0.25f, x * 0.125f);
        }
        b[at] = x + y;
    }
}

/* steps of which threads have more or fewer, and all wait for each */
__kernel void fenced(__global float *a, __global float *b, int rounds, __local float *kept)
{
    int i = get_global_id(0), l = get_local_id(0);
    float x = a[1048576 + i];
    for (int k = 0; k < 2 * rounds; k++) {
        int steps = ((l >> 5) + k & 7) == 0 ? 64 : 4;
        for (int n = 0; n < steps; n++)
            x = mad(x, 0.5f, 0.25f);
        kept[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE); /* MARK fenced */
        x += kept[l ^ 1];
    }
    b[i] = x;
}

/* values are a neighbour's, of the same thread */
__kernel void fenced_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), l = get_local_id(0);
    float x = a[1048576 + i];
    for (int k = 0; k < 2 * rounds; k++) {
        int steps = ((l >> 5) + k & 7) == 0 ? 64 : 4;
        for (int n = 0; n < steps; n++)
            x = mad(x, 0.5f, 0.25f);
        x += sub_group_shuffle_xor(x, 1);
    }
    b[i] = x;
}

/* heat of a grid: a point and its neighbours, of eight points above each other */
__kernel void heated(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        int x = (i & 63) + (i >> 6 & 31) * 64 + (i >> 11 & 15) * 16384 + r * 64;
        __global const float *from = a + 1048576 + (x & 393215);
#pragma unroll 1
        for (int z = 0; z < 8; z++) {
            __global const float *at = from + (z + 4) * 2048;
            float sum = at[0] * -8.0f;
#pragma unroll
            for (int d = 1; d <= 4; d++)
                sum += (at[d * -2048] + at[d * 2048]) * (1.0f / d); /* MARK heated */
            b[(x + z * 2048) & 1048575] = sum;
        }
    }
}

/* what lies above each other is loaded once */
__kernel void heated_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 2; r++) {
        int x = (i & 63) + (i >> 6 & 31) * 64 + (i >> 11 & 15) * 16384 + r * 64;
        __global const float *from = a + 1048576 + (x & 393215);
        float v[16];
#pragma unroll
        for (int z = 0; z < 16; z++)
            v[z] = from[z * 2048];
#pragma unroll
        for (int z = 0; z < 8; z++) {
            float sum = v[z + 4] * -8.0f;
#pragma unroll
            for (int d = 1; d <= 4; d++)
                sum += (v[z + 4 - d] + v[z + 4 + d]) * (1.0f / d);
            b[(x + z * 2048) & 1048575] = sum;
        }
    }
}

/* a table is searched by halving */
__kernel void searched(__global float *a, __global float *b, int rounds)
{
    __global uint *t = (__global uint *)a;
    uint i = get_global_id(0), found = 0;
    for (int k = 0; k < rounds; k++) {
        uint key = (i * 2654435761u + k * 40503u) & 1048575u, low = 0, high = 1048576;
        while (high - low > 1) {
            uint mid = (low + high) >> 1;
            if (mid * 3u + (t[mid] >> 31) <= key * 3u) /* MARK searched */
                low = mid;
            else
                high = mid;
        }
        found += low;
    }
    b[i] = (float)found;
}

/* neighbours look for what is near */
__kernel void searched_mended(__global float *a, __global float *b, int rounds)
{
    __global uint *t = (__global uint *)a;
    uint i = get_global_id(0), found = 0;
    for (int k = 0; k < rounds; k++) {
        uint key = (i * 16 + k * 40503u) & 1048575u, low = 0, high = 1048576;
        while (high - low > 1) {
            uint mid = (low + high) >> 1;
            if (mid * 3u + (t[mid] >> 31) <= key * 3u)
                low = mid;
            else
                high = mid;
        }
        found += low;
    }
    b[i] = (float)found;
}
