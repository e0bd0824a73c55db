/* SPDX-License-Identifier: MIT */
/* Kernels with one defect each, and without. Lines with "// first" and "// second" are the two that
 * race. */
#define GID ((int)get_global_id(0))
#define LID ((int)get_local_id(0))
#define GROUP ((int)get_group_id(0))
#define N ((int)get_local_size(0))
#define ARGS __global int *a, __global int *b

#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable

/* ---- defects ---- */

__kernel void global_groups(ARGS)
{
    a[LID] = GID; // first second
}

__kernel void global_neighbour(ARGS)
{
    a[GID] = GID;                          // first
    b[GID] = a[(GID + 32) % (int)get_global_size(0)]; // second
}

__kernel void local_no_barrier(ARGS)
{
    __local int tile[256];
    tile[LID] = GID;                 // first
    b[GID] = tile[(LID + 32) % N];   // second
}

__kernel void local_reuse(ARGS)
{
    __local int tile[256];
    for (int i = 0; i < 3; i++) {
        tile[LID] = b[GID] + i; // first
        barrier(CLK_LOCAL_MEM_FENCE);
        a[GID] += tile[N - 1 - LID]; // second
    }
}

__kernel void one_send(ARGS)
{
    a[GROUP] = GID; // first second
}

__kernel void atomic_plain(ARGS)
{
    if (LID == 0)
        atomic_inc(&a[0]); // first
    if (GID == 40)
        b[0] = a[0]; // second
}

/* Every int from the third on is two bytes behind its place. */
__kernel void unaligned(ARGS)
{
    __global char *bytes = (__global char *)a;
    b[GID] = *(__global int *)(bytes + GID * 6); // first
}

/* One for all. */
__kernel void unaligned_one(ARGS)
{
    __global char *bytes = (__global char *)a + 2;
    b[GID] = *(__global int *)bytes; // first
}

struct __attribute__((packed)) narrow {
    short one;
    int two;
};

__kernel void fine_packed(ARGS)
{
    b[GID] = ((__global struct narrow *)a)[GID].two + as_int(vload4(0, (__global char *)a + GID * 3 + 1));
}

/* The atomics are ordered among themselves, and that does not order the write. */
__kernel void late_zero(ARGS)
{
    if (GID == 0)
        a[0] = 0; // first
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(&a[0]); // second
}

__kernel void local_atomic_plain(ARGS)
{
    __local int n;
    if (LID == 0)
        n = 0; // first
    atomic_add(&n, b[GID] + 1); // second
    barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = n;
}

__kernel void other_fence(ARGS)
{
    a[GID] = GID; // first
    barrier(CLK_LOCAL_MEM_FENCE);
    b[GID] = a[GROUP * N + N - 1 - LID]; // second
}

/* Where barriers alone order local memory this is none. */
__kernel void other_fence_local(ARGS)
{
    __local int tile[256];
    tile[LID] = b[GID]; // first
    barrier(CLK_GLOBAL_MEM_FENCE);
    b[GID] = tile[N - 1 - LID]; // second
}

__kernel void chars(ARGS)
{
    __global char *p = (__global char *)a;
    p[GID / 2] = (char)GID; // first second
}

/* All groups read a page often, but for the last one, which writes into it. */
__kernel void read_by_all(ARGS)
{
    int sum = 0;
    for (int i = 0; i < 1024; i++)
        sum += a[i]; // first
    b[GID] = sum;
    if (GROUP == (int)get_num_groups(0) - 1)
        a[LID * 16] = sum; // second
}

/* The threads of a group one behind the other, and a write into what the third has read. */
__kernel void in_rows(ARGS)
{
    int some = a[GID]; // first
    b[GID] = some;
    if (GROUP == (int)get_num_groups(0) - 1 && LID == 3)
        a[N - 5] = some; // second
}

__kernel void in_place(ARGS)
{
    int sum = a[GID + 1] + a[GID + 2] + a[GID + 5]; // first
    a[GID + 2] = sum; // second
}

__kernel void vectors(ARGS)
{
    int4 some = vload4(GID, a); // first
    b[GID] = some.x + some.w;
    a[GID * 4 + 7] = GID; // second
}

/* b is a, or lies in it. */
__kernel void aliased(ARGS)
{
    int some = b[GID];        // first
    a[GID ^ 32] = some + GID; // second
}

/* Where b is stands in a. */
__kernel void stored(ARGS)
{
    __global int *other = *(__global int * __global *)a;
    int some = b[GID];            // first
    other[GID ^ 32] = some + GID; // second
}

/* Reads that others write next: of lanes far apart, in the last of several rounds. */
__kernel void local_rounds(ARGS)
{
    __local int tile[256];
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        tile[LID * 17 % N] = i + GID; // second
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[LID * 5 % N]; // first
        if (i < 3)
            barrier(CLK_LOCAL_MEM_FENCE);
        else
            tile[(LID + 1) % N] = sum; // second
    }
    a[GID] = sum;
}

/* Who comes last writes what the others have read since the barrier. */
__kernel void local_late(ARGS)
{
    __local int tile[256];
    tile[LID] = GID;
    barrier(CLK_LOCAL_MEM_FENCE);
    int2 some = vload2(LID / 2, tile); // first
    if (LID == N - 1)
        tile[4] = some.x; // second
    a[GID] = some.y;
}

static __local int *filled(__local int *tile)
{
    for (int i = LID; i < 192; i += N)
        tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    return tile + 3 * (LID & 31);
}

/* The compiler makes one load of those of the three; fine_merged's are without the middle one. */
__kernel void merged(ARGS)
{
    __global int *p = a + 192 * GROUP + 3 * (LID & 31);
    if (LID < 32)
        b[GID] = p[0] + p[1] * p[2]; // second
    else
        p[1] = GID; // first
}

/* Who reads the middle one names its register by a0. */
__kernel void merged_shuffled(ARGS)
{
    __global int *p = a + 192 * GROUP + 3 * (LID & 31);
    if (LID < 32)
        b[GID] = p[0] + p[2] + intel_sub_group_shuffle(p[1], LID * 5 & 7); // second
    else
        p[1] = GID; // first
}

__kernel void merged_local(ARGS)
{
    __local int tile[192];
    __local int *p = filled(tile);
    if (LID < 32)
        b[GID] = p[0] + p[1] * p[2]; // second
    else
        p[1] = GID; // first
}

__kernel void merged_one(ARGS)
{
    b[GID] = a[0] + a[1] * LID + a[2] * GID; // second
    if (GID == 40)
        a[1] = 3; // first
}

__kernel void divergent(ARGS)
{
    if (LID < 8) {
        a[GID] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // barrier
    }
    b[GID] = a[GID];
}

__kernel void different(ARGS)
{
    if (b[GID] + LID < 32) {
        a[GID] = 1;
        barrier(CLK_LOCAL_MEM_FENCE); // barrier
    } else {
        a[GID] = 2;
        barrier(CLK_GLOBAL_MEM_FENCE); // barrier
    }
    b[GID] = a[GID];
}

__kernel void left(ARGS)
{
    if (b[GID] + LID < 32)
        barrier(CLK_LOCAL_MEM_FENCE); // barrier
    a[GID] = 1;
}

/* ---- none ---- */

__kernel void fine_same(ARGS)
{
    a[0] = 7; /* benign */
}

/* Who has read has its value, whatever the fence is of. */
__kernel void fine_read_first(ARGS)
{
    int there = a[GROUP * N + N - 1 - LID];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = there;
}

/* One fence, in front of an earlier barrier. */
__kernel void fine_fence_before(ARGS)
{
    __local int tile[256];
    tile[LID] = a[GID] = GID;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int i = 0; i < 9; i++) {
        int next = tile[N - 1 - LID];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[LID] = next + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[GID] = a[GROUP * N + N - 1 - LID] + tile[N - 1 - LID];
}

__kernel void fine_own(ARGS)
{
    a[GID] = GID;
    a[GID] += b[GID];
}

__kernel void fine_chars(ARGS)
{
    __global char *p = (__global char *)a;
    p[GID] = (char)GID;
    p[GID] += 1;
}

__kernel void fine_merged(ARGS)
{
    __global int *p = a + 192 * GROUP + 3 * (LID & 31);
    if (LID < 32)
        b[GID] = p[0] + p[2];
    else
        p[1] = GID;
}

__kernel void fine_merged_local(ARGS)
{
    __local int tile[192];
    __local int *p = filled(tile);
    if (LID < 32)
        b[GID] = p[0] + p[2];
    else
        p[1] = GID;
}

__kernel void fine_merged_one(ARGS)
{
    b[GID] = a[0] + a[2] * GID;
    if (GID == 40)
        a[1] = 3;
}

__kernel void fine_reduction(ARGS)
{
    __local int tile[256];
    tile[LID] = b[GID];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = N / 2; step; step /= 2) {
        if (LID < step)
            tile[LID] += tile[LID + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (LID == 0)
        a[GROUP] = tile[0];
}

__kernel void fine_histogram(ARGS)
{
    __local int bins[64];
    if (LID < 64)
        bins[LID] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[(GID * 7) & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LID < 64)
        atomic_add(&a[LID], bins[LID]);
}

__kernel void fine_reuse(ARGS)
{
    __local int tile[256];
    for (int i = 0; i < 3; i++) {
        tile[LID] = b[GID] + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[GID] += tile[N - 1 - LID];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel void fine_last_group(ARGS)
{
    __local int is_last;
    b[GID] = GID;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (LID == 0)
        is_last = atomic_inc(&a[1000]) == (int)get_num_groups(0) - 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (is_last) {
        int sum = 0;
        for (int i = LID; i < (int)get_global_size(0); i += N)
            sum += b[i];
        a[LID] = sum;
    }
}

/* One fence behind the flags of two others. */
__kernel void fine_flags(ARGS)
{
    volatile __global int *flag = a;
    if (LID == 0 && GROUP < 2) {
        b[GROUP * 64] = GROUP + 1;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(&flag[GROUP * 64], 1);
    } else if (LID == 0 && GROUP == 2) {
        while (!atomic_or(&flag[0], 0))
            ;
        while (!atomic_or(&flag[64], 0))
            ;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        b[128] = b[0] + b[64];
    }
}

/* Of two threads of a group, with no barrier between. */
__kernel void fine_local_flag(ARGS)
{
    __local int value, flag;
    if (LID == 0)
        flag = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LID == 0) {
        value = GROUP + 1;
        mem_fence(CLK_LOCAL_MEM_FENCE);
        atomic_xchg((volatile __local int *)&flag, 1);
    } else if (LID == N - 1) {
        while (!atomic_or((volatile __local int *)&flag, 0))
            ;
        mem_fence(CLK_LOCAL_MEM_FENCE);
        a[GROUP] = value;
    }
}

__kernel void fine_lock(ARGS)
{
    if (LID == 0) {
        while (atomic_cmpxchg(&a[0], 0, 1))
            ;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        a[64] += GROUP;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(&a[0], 0);
    }
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void fine_small_group(ARGS)
{
    __local int tile[16];
    tile[LID] = b[GID];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = tile[15 - LID];
}

__kernel void fine_partial(ARGS)
{
    if (GID < 40)
        a[GID] = b[GID + 1];
}

__kernel void fine_compare_loop(ARGS)
{
    int old = a[0]; /* a guess */
    for (int seen = old + 1; seen != old;) {
        seen = old;
        old = atomic_cmpxchg(&a[0], seen, seen + GID);
    }
}

__kernel __attribute__((intel_reqd_sub_group_size(16))) void fine_sub_group(ARGS)
{
    __local int tile[64];
    tile[LID] = b[GID];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = tile[LID ^ 1]; /* in step */
}

/* In one hardware thread, whose lanes nothing orders. */
__kernel void lanes(ARGS)
{
    __local int tile[64];
    tile[LID] = b[GID];     // first
    a[GID] = tile[LID ^ 1]; // second
}

/* What the compiler reads once for all, or for the one that is there. */
__kernel void lanes_uniform(ARGS)
{
    a[LID] = b[GID]; // first
    if (LID == 0)
        a[100] = a[3]; // second
}

__kernel void lanes_atomic(ARGS)
{
    atomic_inc(a); // first
    if (LID == 5)
        a[100] = a[0]; // second
}

/* ---- of two groups that run at the same time ---- */

/* It takes long, and nobody knows what it is. */
int late(int x)
{
    for (int i = 0; i < 300000; i++)
        x = x * 1664525 + 1013904223;
    return x;
}

__kernel void apart_write(ARGS)
{
    a[LID] = late(GID); // first second
}

__kernel void apart_read(ARGS)
{
    int some = late(GID);
    if (GROUP == 0)
        a[LID] = some; // first
    else
        b[GID] = a[LID] + some; // second
}

/* What was read in front of a write is read from the other group's, too. */
__kernel void apart_in_place(ARGS)
{
    int some = a[LID];      // first
    a[LID] = late(some + GID); // second
}

__kernel void apart_atomic(ARGS)
{
    int some = late(GID);
    if (GROUP == 0)
        atomic_add(&a[LID], some); // first
    else
        b[GID] = a[LID] + some; // second
}

__kernel void apart_bytes(ARGS)
{
    __global char *p = (__global char *)a;
    p[LID * 4] = (char)late(GID); // first second
}

__kernel void apart_scattered(ARGS)
{
    a[LID * 37 % 1024] = late(GID); // first second
}

__kernel void apart_same(ARGS)
{
    int some = late(GID);
    a[LID] = LID; /* benign */
    b[GID] = some;
}

__kernel void apart_same_scattered(ARGS)
{
    int some = late(GID);
    a[LID * 37 % 1024] = LID; /* benign */
    b[GID] = some;
}

__kernel void apart_guess(ARGS)
{
    int some = late(GID), old = a[LID]; /* a guess */
    for (int seen = old + 1; seen != old;) {
        seen = old;
        old = atomic_cmpxchg(&a[LID], seen, seen + some);
    }
}

__kernel void apart_fine(ARGS)
{
    int some = late(GID) + a[GROUP * N + N - 1 - LID];
    atomic_add(&b[LID], some);
    b[N + GID * 2] = some;
}

/* All groups, and each of them all. */
__kernel void same_table(ARGS)
{
    for (int i = LID; i < 4096; i += N)
        a[i] = i * 3; /* benign */
}

/* ---- of two commands ---- */

__kernel void between_write(ARGS)
{
    a[GID] = GID; // first
    if (GID == 255)
        b[0] = 1;
}

__kernel void between_read(ARGS)
{
    b[GID + 1] = a[GID]; // second
}

/* Says that it has read, and waits until the host has seen it. */
__kernel void between_host(ARGS)
{
    b[GID + 1] = a[GID]; // first
    if (GID == 0) {
        atomic_xchg(&b[1024], 1);
        while (!atomic_or(&b[2048], 0))
            ;
    }
}

__kernel void between_count(ARGS)
{
    atomic_inc(&a[GID]);
}
