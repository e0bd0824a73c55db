/* SPDX-License-Identifier: MIT */
/*
 * Kernels as who tunes applications brings them, each with what it was mended to (known.py). `filled` runs first: data that others go by.
 */

__kernel void filled(__global float *a, __global float *b, int rounds)
{
    __global int *columns = (__global int *)a;
    for (int i = get_global_id(0); i < 1048576; i += get_global_size(0)) {
        uint x = (uint)i * 2654435761u;
        x ^= x >> 15;
        columns[i] = (int)(x * 2246822519u >> 13) & 524287;
        a[1048576 + i] = (float)(x & 255) * 0.00390625f;
    }
}

/* steps for loops that are written out */
#define STEP x = mad(x, y, z); y = mad(y, z, x); z = mad(z, x, 0.5f); x = fmax(x * y, z) - 0.25f;
#define STEPS_8 STEP STEP STEP STEP STEP STEP STEP STEP
#define STEPS_64 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8
#define STEPS_512 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64 STEPS_64

__kernel __attribute__((intel_reqd_sub_group_size(16))) void written_out(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], y = 0.5f, z = 0.25f;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        STEPS_512 STEPS_512 STEPS_512 STEPS_512 /* MARK written_out */
    }
    b[i] = x + y + z;
}

__kernel __attribute__((intel_reqd_sub_group_size(16))) void written_out_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], y = 0.5f, z = 0.25f;
#pragma unroll 1
    for (int k = 0; k < 32 * rounds; k++) {
        STEPS_64
    }
    b[i] = x + y + z;
}

/* points of three packed floats, turned about an axis */
__kernel void packed_points(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        int p = ((i + k * 16384) & 262143) * 3;
        sum += a[1048576 + p] * 0.5f + a[1048576 + p + 1] * 0.25f + a[1048576 + p + 2]; /* MARK packed_points */
    }
    b[i] = sum;
}

/* an array for each of the three */
__kernel void packed_points_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 4 * rounds; k++) {
        int p = (i + k * 16384) & 262143;
        sum += a[1048576 + p] * 0.5f + a[1310720 + p] * 0.25f + a[1572864 + p];
    }
    b[i] = sum;
}

/* those that are chosen go into a list: a place for each by an atomic */
__kernel void listed(__global float *a, __global float *b, int rounds)
{
    __global int *count = (__global int *)b, *list = count + 1024;
    int i = get_global_id(0);
    for (int k = 0; k < rounds; k++) {
        float x = a[1048576 + ((i + k * 8192) & 524287)];
        if (x < 0.5f)
            list[atomic_add(count, 1) & 524287] = i; /* MARK listed */
    }
}

/* places within the group first: an atomic for each group */
__kernel void listed_mended(__global float *a, __global float *b, int rounds, __local int *places)
{
    __global int *count = (__global int *)b, *list = count + 1024;
    int i = get_global_id(0), chosen = 0;
    if (!get_local_id(0))
        places[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < rounds; k++)
        chosen += a[1048576 + ((i + k * 8192) & 524287)] < 0.5f;
    int own = atomic_add(&places[0], chosen);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!get_local_id(0))
        places[1] = atomic_add(count, places[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < chosen; k++)
        list[(places[1] + own + k) & 524287] = i;
}

/* a sum of floats by comparing and exchanging */
__kernel void exchanged(__global float *a, __global float *b, int rounds)
{
    volatile __global uint *sum = (volatile __global uint *)b + (get_group_id(0) & 7) * 64;
    int i = get_global_id(0);
    for (int k = 0; k < rounds / 4; k++) {
        float x = a[1048576 + ((i + k * 8192) & 524287)];
        uint old = *sum, was;
        do {
            was = old;
            old = atomic_cmpxchg(sum, was, as_uint(as_float(was) + x)); /* MARK exchanged */
        } while (old != was);
    }
}

/* one of each sub-group does it */
__kernel void exchanged_mended(__global float *a, __global float *b, int rounds)
{
    volatile __global uint *sum = (volatile __global uint *)b + (get_group_id(0) & 7) * 64;
    int i = get_global_id(0);
    float x = 0.0f;
    for (int k = 0; k < rounds / 4; k++)
        x += a[1048576 + ((i + k * 8192) & 524287)];
    x = sub_group_reduce_add(x);
    if (get_sub_group_local_id())
        return;
    uint old = *sum, was;
    do {
        was = old;
        old = atomic_cmpxchg(sum, was, as_uint(as_float(was) + x));
    } while (old != was);
}

/* a spectrum's butterflies: lanes are sixteen floats apart */
__kernel void spectrum(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_global_id(0), l = get_local_id(0);
    for (int k = 0; k < 16; k++)
        tile[k * 64 + l] = a[1048576 + i + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        x = mad(x, 0.5f, tile[(l * 16 + (k & 15)) & 1023]); /* MARK spectrum */
    b[i] = x;
}

__kernel void spectrum_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int i = get_global_id(0), l = get_local_id(0);
    for (int k = 0; k < 16; k++)
        tile[k * 64 + l] = a[1048576 + i + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        x = mad(x, 0.5f, tile[l * 17 + (k & 15)]);
    b[i] = x;
}

/* gravity, softened by a constant that is a double */
__kernel void softened(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], force = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        float d = x - k;
        force += d * (d * d + 1e-3) * 0.7; /* MARK softened */
    }
    b[i] = force;
}

__kernel void softened_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], force = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        float d = x - k;
        force += d * (d * d + 1e-3f) * 0.7f;
    }
    b[i] = force;
}

/* softplus of sixteen values each */
__kernel void softplus(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 2 * rounds; k++)
        sum += log(1.0f + exp(a[1048576 + ((i + k * 4096) & 524287)])); /* MARK softplus */
    b[i] = sum;
}

__kernel void softplus_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 2 * rounds; k++)
        sum += native_log(1.0f + native_exp(a[1048576 + ((i + k * 4096) & 524287)]));
    b[i] = sum;
}

/* sums to the left, all threads in step */
__kernel void in_step(__global float *a, __global float *b, int rounds, __local float *sums)
{
    int i = get_global_id(0), l = get_local_id(0);
    float x = a[1048576 + i];
    for (int k = 0; k < rounds; k++) {
        sums[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 1; d < 256; d *= 2) {
            float y = l >= d ? sums[l - d] : 0.0f;
            barrier(CLK_LOCAL_MEM_FENCE);
            sums[l] += y; /* MARK in_step */
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        x = sums[255 - l] * 0.5f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[i] = x;
}

/* within sub-groups first, which takes two barriers */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void in_step_mended(__global float *a, __global float *b, int rounds,
                                                                            __local float *sums)
{
    int i = get_global_id(0), l = get_local_id(0), s = l / 16;
    float x = a[1048576 + i];
    for (int r = 0; r < rounds; r++) {
        float own = sub_group_scan_inclusive_add(x);
        if ((l & 15) == 15)
            sums[256 + s] = own;
        barrier(CLK_LOCAL_MEM_FENCE);
        float of = sub_group_scan_exclusive_add(sums[256 + (l & 15)]);
        sums[l] = own + sub_group_broadcast(of, s);
        barrier(CLK_LOCAL_MEM_FENCE);
        x = sums[255 - l] * 0.5f;
    }
    b[i] = x;
}

/* sums to the left of each group: one work-item makes them */
__kernel void sums_so_far(__global float *a, __global float *b, int rounds, __local float *sums)
{
    int i = get_global_id(0), l = get_local_id(0);
    float x = a[1048576 + i];
    for (int r = 0; r < rounds; r++) {
        sums[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0)
            for (int k = 1; k < 256; k++)
                sums[k] += sums[k - 1];
        barrier(CLK_LOCAL_MEM_FENCE); /* MARK sums_so_far */
        x = sums[255 - l] * 0.5f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[i] = x;
}

/* a state that is kept as halves, and worked on as floats */
__kernel void kept_halves(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float in = a[1048576 + i];
    short x = (short)(in * 100.0f), y = (short)(in * 50.0f);
    for (int k = 0; k < 16 * rounds; k++) {
        x = (short)((float)x * 0.75f + (float)y * 0.5f); /* MARK kept_halves */
        y = (short)((float)y * 0.5f + (float)x * 0.25f);
    }
    b[i] = x + y;
}

__kernel void kept_halves_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float in = a[1048576 + i], x = in * 100.0f, y = in * 50.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = x * 0.75f + y * 0.5f;
        y = y * 0.5f + x * 0.25f;
    }
    b[i] = x + y;
}

/* a filter of 32 taps: each work-item one value at a time */
__kernel void filtered_taps(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds; r++) {
        float sum = 0.0f;
#pragma unroll
        for (int t = 0; t < 32; t++)
            sum = mad(a[1048576 + ((i + r * 8192) & 524287) + t], 1.0f / (t + 1), sum); /* MARK filtered_taps */
        b[(i + r * 8192) & 1048575] = sum;
    }
}

/* four values at a time: what is loaded is used for all of them */
__kernel void filtered_taps_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds / 4; r++) {
        int at = (i * 4 + r * 32768) & 524287;
        float x[36], sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int t = 0; t < 9; t++)
            vstore4(vload4(0, a + 1048576 + at + t * 4), t, x);
#pragma unroll
        for (int t = 0; t < 32; t++)
#pragma unroll
            for (int n = 0; n < 4; n++)
                sum[n] = mad(x[t + n], 1.0f / (t + 1), sum[n]);
        vstore4((float4)(sum[0], sum[1], sum[2], sum[3]), 0, b + (at & 1048575));
    }
}

/* strides of a tensor that are 64 bits wide */
__kernel void tensor(__global float *a, __global float *b, int rounds)
{
    long i = get_global_id(0), width = rounds + 251, depth = rounds + 3, at = i;
    for (int k = 0; k < 16 * rounds; k++)
        at = at * width + (at >> 3) * depth + k; /* MARK tensor */
    b[i] = at & 65535;
}

__kernel void tensor_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), width = rounds + 251, depth = rounds + 3, at = i;
    for (int k = 0; k < 16 * rounds; k++)
        at = at * width + (at >> 3) * depth + k;
    b[i] = at & 65535;
}

/* 128 sums each: more than registers hold */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void many_sums(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sums[96], x = a[1048576 + i];
#pragma unroll
    for (int s = 0; s < 96; s++)
        sums[s] = x * s;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        float y = a[1048576 + i + k];
#pragma unroll
        for (int s = 0; s < 96; s++)
            sums[s] = mad(sums[s], y, sums[(s + 7) % 96]); /* MARK many_sums */
    }
    float all = 0.0f;
#pragma unroll
    for (int s = 0; s < 96; s++)
        all += sums[s];
    b[i] = all;
}

/* a third at a time */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void many_sums_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float all = 0.0f, x = a[1048576 + i];
#pragma unroll 1
    for (int part = 0; part < 3; part++) {
        float sums[32];
#pragma unroll
        for (int s = 0; s < 32; s++)
            sums[s] = x * (s + part);
#pragma unroll 1
        for (int k = 0; k < rounds; k++) {
            float y = a[1048576 + i + k];
#pragma unroll
            for (int s = 0; s < 32; s++)
                sums[s] = mad(sums[s], y, sums[(s + 7) % 32]);
        }
#pragma unroll
        for (int s = 0; s < 32; s++)
            all += sums[s];
    }
    b[i] = all;
}

/* cells of four kinds, side by side */
__kernel void cells(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), kind = i & 3;
    float x = a[1048576 + i], y = 0.5f;
    for (int k = 0; k < 8 * rounds; k++) {
        if (kind == 0) {
            for (int n = 0; n < 4; n++)
                x = mad(x, y, 0.5f) * 0.25f;
        } else if (kind == 1) {
            for (int n = 0; n < 4; n++)
                x = fmax(x * 0.5f, y) - 0.125f; /* MARK cells */
        } else if (kind == 2) {
            for (int n = 0; n < 4; n++)
                x = mad(y, 0.25f, x) * x;
        } else {
            for (int n = 0; n < 4; n++)
                x = fmin(x + 0.5f, y * x);
        }
        y = mad(y, 0.5f, x);
    }
    b[i] = y;
}

/* sorted by their kind: those of a thread are of one */
__kernel void cells_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), kind = i >> 6 & 3;
    float x = a[1048576 + i], y = 0.5f;
    for (int k = 0; k < 8 * rounds; k++) {
        if (kind == 0) {
            for (int n = 0; n < 4; n++)
                x = mad(x, y, 0.5f) * 0.25f;
        } else if (kind == 1) {
            for (int n = 0; n < 4; n++)
                x = fmax(x * 0.5f, y) - 0.125f;
        } else if (kind == 2) {
            for (int n = 0; n < 4; n++)
                x = mad(y, 0.25f, x) * x;
        } else {
            for (int n = 0; n < 4; n++)
                x = fmin(x + 0.5f, y * x);
        }
        y = mad(y, 0.5f, x);
    }
    b[i] = y;
}

/* groups of eight work-items */
__kernel void narrow(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], y = 0.5f;
    for (int k = 0; k < 40 * rounds; k++) {
        x = mad(x, y, 0.25f);
        y = mad(y, x, 0.125f);
    }
    b[i] = x + y;
}

__kernel void narrow_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[1048576 + i], y = 0.5f;
    for (int k = 0; k < 40 * rounds; k++) {
        x = mad(x, y, 0.25f);
        y = mad(y, x, 0.125f);
    }
    b[i] = x + y;
}

/* shares of a sum that only the launch knows */
__kernel void shares(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), parts = rounds + 5, sum = i;
    for (int k = 0; k < 16 * rounds; k++)
        sum = sum * 5 + (sum & 65535) / parts + k; /* MARK shares */
    b[i] = sum;
}

/* by the reciprocal, which is exact for so small ones */
__kernel void shares_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), sum = i;
    float part = 1.0f / (rounds + 5);
    for (int k = 0; k < 16 * rounds; k++)
        sum = sum * 5 + (int)(((float)(sum & 65535) + 0.5f) * part) + k;
    b[i] = sum;
}

/* a sparse matrix of 64 values a row: a row for each work-item */
__kernel void sparse_rows(__global float *a, __global float *b, int rounds)
{
    __global const int *columns = (__global const int *)a;
    int i = get_global_id(0), n = get_global_size(0);
    for (int r = 0; r < rounds / 4; r++) {
        int row = (i + r * n) & 8191;
        float sum = 0.0f;
        for (int k = row * 64; k < row * 64 + 64; k++)
            sum = mad(a[1048576 + k], a[1572864 + (columns[k] & 4095)], sum); /* MARK sparse_rows */
        b[row] = sum;
    }
}

/* a row for each sub-group */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void sparse_rows_mended(__global float *a, __global float *b,
                                                                                int rounds)
{
    __global const int *columns = (__global const int *)a;
    int lane = get_sub_group_local_id(), group = get_global_id(0) / 16, n = get_global_size(0) / 16;
    for (int r = 0; r < 4 * rounds; r++) {
        int row = (group + r * n) & 8191;
        float sum = 0.0f;
        for (int k = row * 64 + lane; k < row * 64 + 64; k += 16)
            sum = mad(a[1048576 + k], a[1572864 + (columns[k] & 4095)], sum);
        sum = sub_group_reduce_add(sum);
        if (!lane)
            b[row] = sum;
    }
}

/* what each work-item has seen of 64 kinds: in an array of its own */
__kernel void seen(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), kinds[64];
    for (int k = 0; k < 64; k++)
        kinds[k] = 0;
    for (int k = 0; k < 24 * rounds; k++)
        kinds[(i * 5 + k * 11) & 63] += k; /* MARK seen */
    int sum = 0;
    for (int k = 0; k < 64; k++)
        sum ^= kinds[k] * (k + 1);
    b[i] = sum;
}

/* in local memory */
__kernel void seen_mended(__global float *a, __global float *b, int rounds, __local int *kinds)
{
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    for (int k = 0; k < 64; k++)
        kinds[k * n + l] = 0;
    for (int k = 0; k < 24 * rounds; k++)
        kinds[((i * 5 + k * 11) & 63) * n + l] += k;
    int sum = 0;
    for (int k = 0; k < 64; k++)
        sum ^= kinds[k * n + l] * (k + 1);
    b[i] = sum;
}

/* a box of five by five around each of eight points below each other */
__kernel void boxed(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds; r++) {
        __global const float *from = a + 1048576 + (i & 1023) + (((i >> 10) * rounds + r) * 8 & 255) * 1024;
#pragma unroll 1
        for (int y = 0; y < 8; y++) {
            float sum = 0.0f;
#pragma unroll
            for (int v = 0; v < 5; v++)
#pragma unroll
                for (int u = 0; u < 5; u++)
                    sum += from[(y + v) * 1024 + u]; /* MARK boxed */
            b[((i >> 10) * 8 + y & 511) * 1024 + (i & 1023)] = sum;
        }
    }
}

/* each row is summed once, and added to all boxes that have it */
__kernel void boxed_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    for (int r = 0; r < rounds; r++) {
        __global const float *from = a + 1048576 + (i & 1023) + (((i >> 10) * rounds + r) * 8 & 255) * 1024;
        float sums[8];
#pragma unroll
        for (int y = 0; y < 8; y++)
            sums[y] = 0.0f;
#pragma unroll
        for (int y = 0; y < 12; y++) {
            float row = 0.0f;
#pragma unroll
            for (int u = 0; u < 5; u++)
                row += from[y * 1024 + u];
#pragma unroll
            for (int v = 0; v < 5; v++)
                if (y - v >= 0 && y - v < 8)
                    sums[y - v] += row;
        }
#pragma unroll
        for (int y = 0; y < 8; y++)
            b[((i >> 10) * 8 + y & 511) * 1024 + (i & 1023)] = sums[y];
    }
}

/* grey pictures laid over each other, a byte for each work-item */
__kernel void overlaid(__global float *a, __global float *b, int rounds)
{
    __global const uchar *pictures = (__global const uchar *)a;
    __global uchar *out = (__global uchar *)b;
    int i = get_global_id(0);
    uint sum = 0;
    for (int k = 0; k < 8 * rounds; k++)
        sum += pictures[(k & 15) * 262144 + (i & 262143)]; /* MARK overlaid */
    out[i] = sum / (8u * 16u);
}

/* four for each; as many bytes in all */
__kernel void overlaid_mended(__global float *a, __global float *b, int rounds)
{
    __global const uchar *pictures = (__global const uchar *)a;
    __global uchar *out = (__global uchar *)b;
    int i = get_global_id(0);
    uint4 sum = 0;
    for (int k = 0; k < 8 * rounds; k++)
        sum += convert_uint4(vload4(0, pictures + (k & 15) * 262144 + (i * 4 & 262143)));
    vstore4(convert_uchar4(sum / (8u * 16u)), i, out);
}

/* steps that were written out, too many for the instruction cache */
