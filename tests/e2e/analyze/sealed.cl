/* SPDX-License-Identifier: MIT */
/* As unseen.cl: what is wrong with each was written down (known.py) before the tool had seen any of them. */

/* records of twelve numbers, of which one is read */
struct record {
    float field[12];
};

__kernel void records(__global float *a, __global float *b, int rounds)
{
    __global struct record *r = (__global struct record *)a;
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 2 * rounds; k++)
        sum += r[(i + k * 10752) % 131072].field[5]; /* MARK records */
    b[i] = sum;
}

/* an array of what is read */
__kernel void records_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 2 * rounds; k++)
        sum += a[(i + k * 10752) % 131072];
    b[i] = sum;
}

/* the largest of a row of 64 for each work-item */
__kernel void row_peaks(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float most = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        most = fmax(most, a[((i & 16383) * 128 + k) & 2097151]); /* MARK row_peaks */
    b[i] = most;
}

/* of a column: rows stand beside each other */
__kernel void row_peaks_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float most = 0.0f;
    for (int k = 0; k < 8 * rounds; k++)
        most = fmax(most, a[(i & 16383) + k * 16384 & 2097151]);
    b[i] = most;
}

/* channels of a picture, one byte behind the other, are written 256 bytes apart */
__kernel void channels(__global float *a, __global float *b, int rounds)
{
    __global uchar *out = (__global uchar *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 2 * rounds; k++)
        out[(i * 256 + k * 7) & 8388607] = (uchar)(i + k); /* MARK channels */
}

__kernel void channels_mended(__global float *a, __global float *b, int rounds)
{
    __global uchar *out = (__global uchar *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 2 * rounds; k++)
        out[(i + k * 131072) & 8388607] = (uchar)(i + k);
}

/* particles are asked by the numbers of a list of neighbours, which has no order */
__kernel void neighbours(__global float *a, __global float *b, int rounds)
{
    __global uint *list = (__global uint *)b + 1048576;
    uint i = get_global_id(0);
    float force = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        uint j = list[(i + (uint)k * 8192u) & 524287u] + i * 40503u + (uint)k * 2477u;
        force = mad(a[j & 131071u], 0.5f, force); /* MARK neighbours */
    }
    b[i] = force;
}

/* they are sorted by place */
__kernel void neighbours_mended(__global float *a, __global float *b, int rounds)
{
    __global uint *list = (__global uint *)b + 1048576;
    uint i = get_global_id(0);
    float force = 0.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        uint j = list[(i + (uint)k * 8192u) & 524287u] + i + (uint)k * 2496u;
        force = mad(a[j & 131071u], 0.5f, force);
    }
    b[i] = force;
}

/* one in eight work-items is at the border and does much more */
__kernel void borders(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 0.5f;
    if ((i & 7) == 0) {
        for (int k = 0; k < 64 * rounds; k++) {
            x = mad(x, y, 0.25f); /* MARK borders */
            y = mad(y, 0.5f, 0.125f);
        }
    }
    b[i] = x + y;
}

/* those at the border lie together */
__kernel void borders_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 0.5f;
    if ((uint)(i >> 5 & 7) == (i >> 8) * 0x9e3779b9u >> 29) { /* others in each group: on all EUs */
        for (int k = 0; k < 64 * rounds; k++) {
            x = mad(x, y, 0.25f);
            y = mad(y, 0.5f, 0.125f);
        }
    }
    b[i] = x + y;
}

/* rows of a sparse matrix have between 1 and 64 entries */
__kernel void sparse(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), entries = 1 + (i * 37 & 63);
    float x = a[i], y = x + 0.5f;
    for (int k = 0; k < entries * rounds; k++) {
        x = mad(x, y, 0.25f); /* MARK sparse */
        y = mad(y, 0.75f, 0.125f);
    }
    b[i] = x + y;
}

/* rows of one length stand together */
__kernel void sparse_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), entries = 1 + ((i >> 5) * 37 & 63);
    float x = a[i], y = x + 0.5f;
    for (int k = 0; k < entries * rounds; k++) {
        x = mad(x, y, 0.25f);
        y = mad(y, 0.75f, 0.125f);
    }
    b[i] = x + y;
}

/* groups of 20; mended by the launch: of 80 */
__kernel void twenties(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, 1.0f);
        y = mad(y, 0.25f, 2.0f);
    }
    b[i] = x + y;
}

__kernel void twenties_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, 1.0f);
        y = mad(y, 0.25f, 2.0f);
    }
    b[i] = x + y;
}

/* each work-item has a structure of sixteen numbers in local memory */
__kernel void states(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    for (int k = 0; k < 16; k++)
        tile[l * 16 + k] = a[get_global_id(0)] + (float)k;
    float sum = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        sum += tile[l * 16 + (k & 15)]; /* MARK states */
    b[get_global_id(0)] = sum;
}

/* one array for each of the sixteen */
__kernel void states_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    for (int k = 0; k < 16; k++)
        tile[k * 64 + l] = a[get_global_id(0)] + (float)k;
    float sum = 0.0f;
    for (int k = 0; k < 32 * rounds; k++)
        sum += tile[(k & 15) * 64 + l];
    b[get_global_id(0)] = sum;
}

/* a column of a tile of 32 by 32 for each work-item's row */
__kernel void tile_turns(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0), x = l & 31, y = l >> 5;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++)
        tile[(y + k * 8) * 32 + x] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[x * 32 + ((y + k) & 31)]; /* MARK tile_turns */
    b[get_global_id(0)] = sum;
}

/* rows are one longer */
__kernel void tile_turns_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0), x = l & 31, y = l >> 5;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++)
        tile[(y + k * 8) * 33 + x] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16 * rounds; k++)
        sum += tile[x * 33 + ((y + k) & 31)];
    b[get_global_id(0)] = sum;
}

/* the last sub-groups have the long rows of a triangular matrix, all meet after each */
__kernel void pivots(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0), length = (l >> 5) * 16 + 4;
    float x = a[get_global_id(0)];
    for (int k = 0; k < rounds; k++) {
        for (int n = 0; n < length; n++)
            x = mad(x, 0.5f, 0.25f);
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE); /* MARK pivots */
        x += tile[255 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
}

/* all have rows of the mean length */
__kernel void pivots_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0), length = (l >> 10) * 16 + 60;
    float x = a[get_global_id(0)];
    for (int k = 0; k < rounds; k++) {
        for (int n = 0; n < length; n++)
            x = mad(x, 0.5f, 0.25f);
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        x += tile[255 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
}

/* the largest of all, by an atomic of each work-item in each round */
__kernel void peaks(__global float *a, __global float *b, int rounds)
{
    __global int *most = (__global int *)b;
    int i = get_global_id(0);
    for (int k = 0; k < 2 * rounds; k++)
        atomic_max(most, (int)a[(i + k * 1024) & 1048575] + (i ^ k)); /* MARK peaks */
}

/* each work-item keeps its own */
__kernel void peaks_mended(__global float *a, __global float *b, int rounds)
{
    __global int *most = (__global int *)b;
    int i = get_global_id(0), x = 0;
    for (int k = 0; k < 2 * rounds; k++)
        x = max(x, (int)a[(i + k * 1024) & 1048575] + (i ^ k));
    most[i] = x;
}

/* votes for four candidates, counted in local memory */
__kernel void ballots(__global float *a, __global float *b, int rounds, __local int *tile)
{
    int l = get_local_id(0);
    if (l < 64)
        tile[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        atomic_add(tile + ((l * 5 + k) & 3), l + k); /* MARK ballots */
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = (float)tile[l & 3];
}

/* ... in places of sixteen lanes; one adds them up */
__kernel void ballots_mended(__global float *a, __global float *b, int rounds, __local int *tile)
{
    int l = get_local_id(0), sum = 0;
    if (l < 64)
        tile[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8 * rounds; k++)
        atomic_add(tile + (((l * 5 + k) & 3) << 4 | (l & 15)), l + k);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
        sum += tile[(l & 3) << 4 | k];
    b[get_global_id(0)] = (float)sum;
}

/* the smallest eight, kept by insertion where they belong */
__kernel void smallest(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float best[24];
    for (int k = 0; k < 24; k++)
        best[k] = a[i] + (float)(k ^ (i & 7));
    for (int k = 0; k < 8 * rounds; k++) {
        int at = (i + k * 5) % 24;
        best[at] = best[(at * 7 + k) % 24] + 0.5f; /* MARK smallest */
    }
    b[i] = best[rounds] + best[rounds + 1];
}

/* two that are renamed */
__kernel void smallest_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 8 * rounds; k++) {
        int at = (i + k * 5) % 24;
        float z = (at * 7 + k) % 24 < 12 ? x : y;
        x = at & 1 ? z + 0.5f : x;
        y = at & 1 ? y : z + 0.5f;
    }
    b[i] = x + y;
}

/* a filter whose constants are doubles by accident */
__kernel void filtered(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = x * 0.98 + y * 0.02; /* MARK filtered */
        y = y * 0.5 + 0.1;
    }
    b[i] = x + y;
}

__kernel void filtered_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = x * 0.98f + y * 0.02f;
        y = y * 0.5f + 0.1f;
    }
    b[i] = x + y;
}

/* a hash of 64 bits */
__kernel void fnv(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    ulong h = 14695981039346656037ul + (ulong)i;
    for (int k = 0; k < 16 * rounds; k++)
        h = (h ^ (ulong)(k & 255)) * 1099511628211ul; /* MARK fnv */
    b[i] = (float)(uint)(h >> 32) + a[i];
}

/* of sums and shifts of 32 */
__kernel void fnv_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    uint h = 2166136261u + (uint)i;
    for (int k = 0; k < 16 * rounds; k++)
        h = (h ^ (uint)(k & 255)) + (h << 5);
    b[i] = (float)h + a[i];
}

/* dates from days: divided by what the host says */
__kernel void dates(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), year = rounds + 361, sum = 0;
    for (int k = 0; k < 8 * rounds; k++) {
        int day = i * 3 + k;
        sum += day / year + day % year; /* MARK dates */
    }
    b[i] = (float)sum + a[i];
}

/* years of 256 days */
__kernel void dates_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 8 * rounds; k++) {
        int day = i * 3 + k;
        sum += (day >> 8) + (day & 255);
    }
    b[i] = (float)sum + a[i];
}

/* angles by the precise arc tangent of two numbers */
__kernel void bearings(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = (float)i * 0.001f;
    for (int k = 0; k < 4 * rounds; k++)
        y = atan2(y, x) + 0.5f; /* MARK bearings */
    b[i] = y;
}

/* by a polynomial */
__kernel void bearings_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = (float)i * 0.001f;
    for (int k = 0; k < 4 * rounds; k++) {
        float q = y * native_recip(x);
        y = q * mad(-0.28f, q * q, 1.0f) + 0.5f;
    }
    b[i] = y;
}

/* cables hang by the hyperbolic cosine */
__kernel void cables(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + (float)(i & 63) * 0.01f;
    for (int k = 0; k < 4 * rounds; k++)
        x = cosh(x) * 0.25f; /* MARK cables */
    b[i] = x;
}

__kernel void cables_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + (float)(i & 63) * 0.01f;
    for (int k = 0; k < 4 * rounds; k++) {
        float e = native_exp2(x * 1.442695f);
        x = (e + native_recip(e)) * 0.125f;
    }
    b[i] = x;
}

/* vectors are normed again in each step */
__kernel void normed(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = x + 1.0f, z = x + 2.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = native_rsqrt(x) + 0.5f; /* MARK normed */
        y = native_rsqrt(y) + 0.5f;
        z = native_rsqrt(z) + 0.5f;
    }
    b[i] = x + y + z;
}

/* one step of Newton's method from the last norm */
__kernel void normed_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 1.0f, y = x + 1.0f, z = x + 2.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        x = mad(x, -0.5f, 1.5f);
        y = mad(y, -0.5f, 1.5f);
        z = mad(z, -0.5f, 1.5f);
    }
    b[i] = x + y + z;
}

/* a level is a whole number, gains are fractions */
__kernel void levels(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    short level = (short)(i & 1023), other = (short)(level + 3);
    for (int k = 0; k < 16 * rounds; k++) {
        level = (short)((float)level * 0.75f + 5.0f); /* MARK levels */
        other = (short)((float)other * 0.5f + 7.0f);
    }
    b[i] = (float)level + (float)other + a[i];
}

/* levels are fractions, too */
__kernel void levels_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float level = (float)(i & 1023), other = level + 3.0f;
    for (int k = 0; k < 16 * rounds; k++) {
        level = level * 0.75f + 5.0f;
        other = other * 0.5f + 7.0f;
    }
    b[i] = level + other + a[i];
}

/* a linked list for each sub-group */
__kernel void linked(__global float *a, __global float *b, int rounds)
{
    __global int *next = (__global int *)a;
    int i = get_global_id(0), at = (i >> 5) * 64;
    for (int k = 0; k < 8 * rounds; k++)
        at = (at + next[at] + 4096) & 1048575; /* MARK linked */
    b[i] = (float)at;
}

/* an array in their order */
__kernel void linked_mended(__global float *a, __global float *b, int rounds)
{
    __global int *next = (__global int *)a;
    int i = get_global_id(0), at = (i >> 5) * 64, sum = 0;
    for (int k = 0; k < 8 * rounds; k += 8) {
#pragma unroll
        for (int n = 0; n < 8; n++)
            sum += next[(at + (k + n) * 4096) & 1048575];
    }
    b[i] = (float)(at + sum);
}

/* a mean of 49 points for each: neighbours share all but seven of them */
__kernel void boxes(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < rounds; k++)
        for (int y = 0; y < 7; y++) {
#pragma unroll
            for (int x = 0; x < 7; x++)
                sum += a[(i + x + (y + k) * 2048) & 1048575]; /* MARK boxes */
        }
    b[i] = sum;
}

/* neighbours of a sub-group hand over what they have loaded */
__kernel __attribute__((intel_reqd_sub_group_size(16))) void boxes_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), lane = (int)get_sub_group_local_id();
    float sum = 0.0f;
    for (int k = 0; k < rounds; k++)
        for (int y = 0; y < 7; y++) {
            float near = a[(i + (y + k) * 2048) & 1048575], far = a[(i + 16 + (y + k) * 2048) & 1048575];
            float own = near + far * 0.25f;
            sum += own + intel_sub_group_shuffle(own, lane ^ 1) + intel_sub_group_shuffle(own, lane ^ 2);
        }
    b[i] = sum;
}

/* four groups have all the work */
__kernel void four_groups(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 768 * rounds / groups; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, 0.5f);
    }
    b[i] = x + y;
}

/* 96 share it */
__kernel void four_groups_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), groups = get_num_groups(0);
    float x = a[i], y = x + 1.0f;
    for (int k = 0; k < 768 * rounds / groups; k++) {
        x = mad(x, 0.5f, y);
        y = mad(y, 0.25f, 0.5f);
    }
    b[i] = x + y;
}

/* local memory that is asked for and never needed */
__kernel void roomy(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = tile[63 - l];
    for (int k = 0; k < 64 * rounds; k++)
        x = mad(x, 0.5f, 0.25f);
    b[get_global_id(0)] = x;
}

__kernel void roomy_mended(__global float *a, __global float *b, int rounds, __local float *tile)
{
    int l = get_local_id(0);
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = tile[63 - l];
    for (int k = 0; k < 64 * rounds; k++)
        x = mad(x, 0.5f, 0.25f);
    b[get_global_id(0)] = x;
}

/* a work-item marks one place */
__kernel void marks(__global float *a, __global float *b, int rounds)
{
    b[get_global_id(0) & 65535] = 2.0f;
}

/* each marks sixteen */
__kernel void marks_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 16; k++)
        b[(i + k * n) & 65535] = 2.0f;
}

/* a sum of one variable, of few threads; mended it has four */
__kernel void summed(__global float *a, __global float *b, int rounds) /* MARK summed low-occupancy */
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 64 * rounds; k++) {
#pragma unroll
        for (int n = 0; n < 8; n++)
            x = mad(x, 0.999f, 0.5f); /* MARK summed */
    }
    b[i] = x;
}

__kernel void summed_mended(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i], y = x + 1.0f, z = x + 2.0f, w = x + 3.0f;
    for (int k = 0; k < 64 * rounds; k++) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            x = mad(x, 0.999f, 0.5f);
            y = mad(y, 0.999f, 0.5f);
            z = mad(z, 0.999f, 0.5f);
            w = mad(w, 0.999f, 0.5f);
        }
    }
    b[i] = x + y + z + w;
}

/* ... and as many steps by four times as many */
/* three times as many groups: all have room at once */
__kernel void summed_shared(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i];
    for (int k = 0; k < 64 * rounds / 3; k++) {
#pragma unroll
        for (int n = 0; n < 8; n++)
            x = mad(x, 0.999f, 0.5f);
    }
    b[i] = x;
}

/* nothing is wrong: two polynomials */
__kernel void clean_polynomials(__global float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float x = a[i] + 0.5f, y = x + 1.0f, z = x + 2.0f, w = x + 3.0f;
    for (int k = 0; k < 32 * rounds; k++) {
        x = mad(x, 0.5f, 0.25f);
        y = mad(y, 0.25f, 0.5f);
        z = mad(z, 0.75f, 0.125f);
        w = mad(w, 0.375f, 0.75f);
    }
    b[i] = x + y + z + w;
}

/* ... four numbers are added to four others */
__kernel void clean_adds(__global float *a, __global float *b, int rounds)
{
    __global float4 *from = (__global float4 *)a, *to = (__global float4 *)b;
    int i = get_global_id(0);
    to[i & 524287] = to[i & 524287] + from[i & 524287] * 0.5f;
}
