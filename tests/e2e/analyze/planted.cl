/* SPDX-License-Identifier: MIT */
/* What a user's kernels may look like: a problem in each (MARK), and the same without it. */

/* between two barriers one work-item smooths what all have computed */
__kernel void smoothed(__global float *a, __global float *b, int rounds, __local float *row)
{
    int i = get_global_id(0), l = get_local_id(0);
    float x = a[i];
    for (int r = 0; r < rounds; r++) {
        row[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0)
            for (int k = 1; k < 255; k++)
                row[k] = row[k] * 0.5f + row[k - 1] * 0.5f; /* MARK smoothed */
        barrier(CLK_LOCAL_MEM_FENCE);
        x = row[l] + 0.25f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[i] = x;
}

/* ... each the eight before it */
__kernel void smoothed_mended(__global float *a, __global float *b, int rounds, __local float *row)
{
    int i = get_global_id(0), l = get_local_id(0);
    float x = a[i];
    for (int r = 0; r < rounds; r++) {
        row[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = row[max(l - 8, 0)];
        for (int k = 7; k >= 0; k--)
            sum = sum * 0.5f + row[max(l - k, 0)] * 0.5f;
        barrier(CLK_LOCAL_MEM_FENCE);
        x = sum + 0.25f;
    }
    b[i] = x;
}

/* a ring of a size that is known at run time */
__kernel void wrapped_at(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = rounds * 4096 - 96;
    float sum = 0.0f;
    for (int k = 0; k < 16 * rounds; k++)
        sum += a[(i + k * 37) % n]; /* MARK wrapped_at */
    b[i] = sum;
}

__kernel void wrapped_at_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = rounds * 4096 - 96, at = i % n;
    float sum = 0.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        sum += a[at];
        at += 37;
        at = at >= n ? at - n : at;
    }
    b[i] = sum;
}

/* rows become columns */
__kernel void transposed_out(__global float *a, __global float *b, int rounds)
{
    int l = get_local_id(0), g = get_group_id(0), x = l & 15, y = l >> 4;
    for (int k = 0; k < 4 * rounds; k++) {
        int tile = g * 4 + k & 4095, tx = tile & 63, ty = tile >> 6;
        float v = a[(ty * 16 + y) * 1024 + tx * 16 + x];
        b[(tx * 16 + x) * 1024 + ty * 16 + y] = v; /* MARK transposed_out */
    }
}

__kernel void transposed_out_mended(__global float *a, __global float *b, int rounds, __local float *tile_of)
{
    int l = get_local_id(0), g = get_group_id(0), x = l & 15, y = l >> 4;
    for (int k = 0; k < 4 * rounds; k++) {
        int tile = g * 4 + k & 4095, tx = tile & 63, ty = tile >> 6;
        tile_of[y * 17 + x] = a[(ty * 16 + y) * 1024 + tx * 16 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        b[(tx * 16 + y) * 1024 + ty * 16 + x] = tile_of[x * 17 + y];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* how many are above a limit: one counter for all */
__kernel void above(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    __global int *count = (__global int *)b;
    for (int k = 0; k < 4 * rounds; k++)
        if (a[(i + k * 4096) & 1048575] * (float)(i + k) >= 0.0f)
            atomic_add(count + (i & 1), i & 7); /* MARK above */
}

__kernel void above_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), own = 0;
    __global int *count = (__global int *)b;
    for (int k = 0; k < 4 * rounds; k++)
        if (a[(i + k * 4096) & 1048575] * (float)(i + k) >= 0.0f)
            own += i & 7;
    count[i] = own;
}

/* a window of samples that is sorted in place */
__kernel void windowed(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float w[32];
    for (int k = 0; k < 32; k++)
        w[k] = a[i + k];
    for (int k = 0; k < 8 * rounds; k++) {
        int at = (int)(w[k & 31]) + i + k & 31;
        float t = w[at];
        w[at] = w[k & 31] + 1.0f; /* MARK windowed */
        w[k & 31] = t;
    }
    b[i] = w[0] + w[31] + w[i & 31];
}

__kernel void windowed_mended(__global float *a, __global float *b, int rounds, __local float *w)
{
    int i = get_global_id(0), l = get_local_id(0);
    for (int k = 0; k < 32; k++)
        w[k * 64 + l] = a[i + k];
    for (int k = 0; k < 8 * rounds; k++) {
        int at = (int)(w[(k & 31) * 64 + l]) + i + k & 31;
        float t = w[at * 64 + l];
        w[at * 64 + l] = w[(k & 31) * 64 + l] + 1.0f;
        w[(k & 31) * 64 + l] = t;
    }
    b[i] = w[l] + w[31 * 64 + l] + w[(i & 31) * 64 + l];
}

/* a filter whose gains are doubles by accident */
__kernel void damped(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], v = 0.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        v = v * 0.99 - x * 0.1; /* MARK damped */
        x += v;
    }
    b[i] = x;
}

__kernel void damped_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], v = 0.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        v = v * 0.99f - x * 0.1f;
        x += v;
    }
    b[i] = x;
}

/* tiny groups: three work-items each */
__kernel void triples(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 0.5f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, x);
    }
    b[i] = x + y;
}

__kernel void triples_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 0.5f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, x);
    }
    b[i] = x + y;
}

/* every third particle is heavy */
__kernel void heavy(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.5f;
    if (i % 3 == 0)
        for (int k = 0; k < 48 * rounds; k++) {
            x = mad(x, y, 0.25f); /* MARK heavy */
            y = mad(y, 0.5f, 0.125f);
        }
    b[i] = x + y;
}

/* ... a third of the threads have them all */
__kernel void heavy_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = 1.5f;
    if ((i >> 5) % 3 == 0)
        for (int k = 0; k < 48 * rounds; k++) {
            x = mad(x, y, 0.25f);
            y = mad(y, 0.5f, 0.125f);
        }
    b[i] = x + y;
}

/* two groups have all of it; with more of them each has less */
__kernel void sums_of_all(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    float sum = 0.0f;
    for (int k = i; k < rounds * 8192; k += n)
        sum = sum * 0.5f + a[k];
    b[i] = sum;
}

__kernel void sums_of_all_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    float sum = 0.0f;
    for (int k = i; k < rounds * 8192; k += n)
        sum = sum * 0.5f + a[k];
    b[i] = sum;
}

/* rounds of threads that look at one value each; sixteen take no longer */
__kernel void looked_at(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    if (a[i & 1023] > rounds)
        b[i & 1023] = 1.0f;
}

__kernel void looked_at_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float most = 0.0f;
    for (int k = 0; k < 16; k++)
        most = fmax(most, a[(i + 64 * k) & 1023]);
    if (most > rounds)
        b[i & 1023] = 1.0f;
}
