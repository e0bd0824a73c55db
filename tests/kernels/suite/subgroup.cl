/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#if SIMD == 32 /* the compiler has no blocks there */
#define BLOCKS __attribute__((intel_reqd_sub_group_size(16))) kernel
#else
#define BLOCKS KERNEL
#endif
#define SIZED(n) __attribute__((intel_reqd_sub_group_size(n))) kernel
#define I        get_global_id(0)
#define LANE     get_sub_group_local_id()
#define WIDTH    get_sub_group_size()

/* What the lanes of a hardware thread do together. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable

KERNEL void subgroup_ids(global uint *out)
{
    global uint *o = out + I * 6;
    o[0] = get_sub_group_size();
    o[1] = get_max_sub_group_size();
    o[2] = get_num_sub_groups();
    o[3] = get_sub_group_id();
    o[4] = get_sub_group_local_id();
    o[5] = get_enqueued_num_sub_groups();
}

#define REDUCE(T)                                                                                  \
    KERNEL void subgroup_reduce_##T(global const T *a, global T *out)                              \
    {                                                                                              \
        T x = a[I];                                                                                \
        global T *o = out + I * 10;                                                                \
        o[0] = sub_group_reduce_add(x);                                                            \
        o[1] = sub_group_reduce_min(x);                                                            \
        o[2] = sub_group_reduce_max(x);                                                            \
        o[3] = sub_group_scan_inclusive_add(x);                                                    \
        o[4] = sub_group_scan_exclusive_add(x);                                                    \
        o[5] = sub_group_scan_inclusive_min(x);                                                    \
        o[6] = sub_group_scan_exclusive_min(x);                                                    \
        o[7] = sub_group_scan_inclusive_max(x);                                                    \
        o[8] = sub_group_scan_exclusive_max(x);                                                    \
        o[9] = sub_group_broadcast(x, WIDTH - 1);                                                  \
    }
REDUCE(int)
REDUCE(uint)
REDUCE(long)
REDUCE(ulong)
REDUCE(float)
#ifdef cl_khr_fp64
REDUCE(double)
#endif
REDUCE(half)

KERNEL void subgroup_votes(global const int *a, global int *out)
{
    int x = a[I];
    out[I] = (sub_group_all(x > -100) ? 1 : 0) + (sub_group_any(x == 12345) ? 2 : 0) +
             (sub_group_all(x != 7) ? 4 : 0) + (sub_group_any(x & 1) ? 8 : 0);
}

#define SHUFFLE(T)                                                                                 \
    KERNEL void subgroup_shuffle_##T(global const T *a, global const uint *lanes, global T *out,   \
                                     int delta)                                                    \
    {                                                                                              \
        T x = a[I];                                                                                \
        uint n = WIDTH;                                                                            \
        global T *o = out + I * 6;                                                                 \
        o[0] = intel_sub_group_shuffle(x, lanes[I] % n);                                           \
        o[1] = intel_sub_group_shuffle(x, 0);                                                      \
        T down = intel_sub_group_shuffle_down(x, (T)(x + (T)1), (uint)delta);                      \
        T up = intel_sub_group_shuffle_up((T)(x + (T)2), x, (uint)delta);                          \
        bool whole = n == get_max_sub_group_size();                                                \
        o[2] = whole ? down : x;                                                                   \
        o[3] = whole ? up : x;                                                                     \
        o[4] = intel_sub_group_shuffle_xor(x, (LANE ^ 3) < n && whole ? 3 : 0);                    \
        o[5] = intel_sub_group_shuffle(x, n - 1 - LANE);                                           \
    }
SHUFFLE(int)
SHUFFLE(uint)
SHUFFLE(float)
SHUFFLE(short)
SHUFFLE(uchar)
SHUFFLE(long)
#ifdef cl_khr_fp64
SHUFFLE(double)
#endif
SHUFFLE(half)

KERNEL void subgroup_shuffle_vector(global const int4 *a, global int4 *out)
{
    int4 x = a[I];
    out[I] = intel_sub_group_shuffle(x, (LANE * 5 + 1) % WIDTH) +
             intel_sub_group_shuffle(x.wzyx, WIDTH - 1);
}

/* Some lanes are away while the others exchange. */
KERNEL void subgroup_divergent(global const int *a, global int *out)
{
    int x = a[I], r = 0;
    if (LANE & 1)
        r = intel_sub_group_shuffle(x, (LANE | 1) - (LANE & 2));
    else if (LANE < 6)
        r = -intel_sub_group_shuffle(x, LANE & 4);
    for (int i = 0; i < (int)(LANE & 3); i++)
        r += x >> i;
    out[I] = r + sub_group_broadcast(x, 0);
}

/* ---- Blocks ---- */

#define BLOCK(T, suffix)                                                                           \
    BLOCKS void subgroup_block_##T(global const T *a, global T *out)                               \
    {                                                                                              \
        uint w = get_max_sub_group_size();                                                         \
        uint base = (uint)(I - LANE) * 16; /* writes are aligned to 16 bytes */                    \
        T x1 = intel_sub_group_block_read##suffix(a + base);                                       \
        T##2 x2 = intel_sub_group_block_read##suffix##2(a + base + w);                             \
        T##4 x4 = intel_sub_group_block_read##suffix##4(a + base + 3 * w);                         \
        T##8 x8 = intel_sub_group_block_read##suffix##8(a + base + 7 * w);                         \
        global T *o = out + base;                                                                  \
        intel_sub_group_block_write##suffix##8(o, x8.s76543210);                                   \
        intel_sub_group_block_write##suffix##4(o + 8 * w, x4 + x1);                                \
        intel_sub_group_block_write##suffix##2(o + 12 * w, x2.yx);                                 \
        intel_sub_group_block_write##suffix(o + 14 * w, (T)(x1 ^ x2.x));                           \
    }
BLOCK(uchar, _uc)
BLOCK(ushort, _us)
BLOCK(uint, )
BLOCK(ulong, _ul)

BLOCKS void subgroup_block_uchar16(global const uchar *a, global uchar *out)
{
    uint base = (uint)(I - LANE) * 16;
    uchar16 x = intel_sub_group_block_read_uc16(a + base);
    intel_sub_group_block_write_uc16(out + base, x + (uchar16)(LANE));
}

/* Reads need no more than the alignment of an element. */
BLOCKS void subgroup_block_unaligned(global const uint *a, global uint *out)
{
    uint base = (uint)(I - LANE);
    uint x = intel_sub_group_block_read(a + base * 2 + 1);
    uint2 y = intel_sub_group_block_read2(a + base * 2 + 3);
    out[I] = x + y.x * 3 + y.y * 5;
}

/* ---- Sizes ---- */

#define OF_SIZE(n)                                                                                 \
    SIZED(n) void subgroup_of_##n(global const int *a, global int *out)                            \
    {                                                                                              \
        int x = a[I];                                                                              \
        int sum = sub_group_scan_inclusive_add(x);                                                 \
        if (LANE >= n / 2)                                                                         \
            sum ^= intel_sub_group_shuffle(x, n / 2);                                              \
        out[I] = sum * 64 + (int)get_max_sub_group_size();                                         \
    }
#ifndef NO_SIMD8
OF_SIZE(8)
#endif
OF_SIZE(16)
OF_SIZE(32)

/* A transposition of eight by eight through lanes. */
#ifndef NO_SIMD8
SIZED(8) void subgroup_transpose(global const int *a, global int *out)
{
    int v[8];
    uint base = (uint)(I / 8) * 64;
    for (uint i = 0; i < 8; i++)
        v[i] = a[base + i * 8 + LANE];
    for (uint i = 0; i < 8; i++) {
        int r = 0;
        for (uint k = 0; k < 8; k++) {
            int x = intel_sub_group_shuffle(v[k], i);
            r = k == LANE ? x : r;
        }
        out[base + i * 8 + LANE] = r;
    }
}
#endif

KERNEL void subgroup_exchange(global const int *a, global int *out, local int *tmp)
{
    uint l = (uint)get_local_id(0);
    tmp[l] = a[I];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    uint first = l - LANE;
    int x = tmp[first + WIDTH - 1 - LANE];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] = x + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[I] = tmp[get_local_size(0) - 1 - l];
}

KERNEL void subgroup_2d(global const int *a, global int *out)
{
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[at] = sub_group_reduce_add(a[at]) + (int)get_sub_group_id() * 1000;
}

#ifdef cl_khr_subgroup_ballot
KERNEL void subgroup_ballot(global const int *a, global uint *out)
{
    int x = a[I];
    uint4 b = sub_group_ballot(x & 1);
    uint4 m = sub_group_ballot(x & 2);
    global uint *o = out + I * 12;
    o[0] = b.x;
    o[1] = b.y | b.z | b.w;
    o[2] = (uint)sub_group_inverse_ballot(m);
    o[3] = (uint)sub_group_ballot_bit_extract(b, WIDTH - 1);
    o[4] = sub_group_ballot_bit_count(b);
    o[5] = sub_group_ballot_inclusive_scan(b);
    o[6] = sub_group_ballot_exclusive_scan(b);
    o[7] = b.x ? sub_group_ballot_find_lsb(b) : 99;
    o[8] = b.x ? sub_group_ballot_find_msb(b) : 99;
    o[9] = get_sub_group_lt_mask().x;
    o[10] = get_sub_group_ge_mask().x & ((2u << (WIDTH - 1)) - 1);
    o[11] = (uint)sub_group_broadcast_first(x) + (uint)sub_group_non_uniform_broadcast(x, 0);
}
#endif

#ifdef cl_khr_subgroup_non_uniform_vote
KERNEL void subgroup_non_uniform(global const int *a, global int *out)
{
    int x = a[I], r = 0;
    if (x & 1) {
        r = sub_group_non_uniform_any(x & 4) ? 1 : 0;
        r += sub_group_non_uniform_all(x & 8) ? 2 : 0;
        r += sub_group_elect() ? 4 : 0;
        r += sub_group_non_uniform_all_equal(x >> 30) ? 8 : 0;
    } else {
        r = sub_group_elect() ? 16 : 32;
    }
    out[I] = r;
}
#endif

#ifdef cl_khr_subgroup_non_uniform_arithmetic
KERNEL void subgroup_non_uniform_sums(global const int *a, global int *out)
{
    int x = a[I], r = 0, s = 0, t = 0;
    if (x & 1) {
        r = sub_group_non_uniform_reduce_add(x);
        s = sub_group_non_uniform_scan_exclusive_max(x);
        t = sub_group_non_uniform_reduce_mul(x | 1);
    } else if (x & 2) {
        r = sub_group_non_uniform_reduce_xor(x);
        s = sub_group_non_uniform_scan_inclusive_add(x);
        t = sub_group_non_uniform_reduce_logical_or(x & 64);
    } else {
        r = sub_group_non_uniform_scan_inclusive_and(x);
        s = sub_group_non_uniform_reduce_min(x);
        t = sub_group_non_uniform_scan_inclusive_or(x);
    }
    out[3 * I] = r;
    out[3 * I + 1] = s;
    out[3 * I + 2] = t;
}
#endif

#ifdef cl_khr_subgroup_shuffle
KERNEL void subgroup_khr_shuffle(global const char *a, global const ulong *b, global ulong *out)
{
    uint n = WIDTH;
    bool whole = n == get_max_sub_group_size();
    out[2 * I] = (ulong)(uchar)sub_group_shuffle(a[I], (LANE + 1) % n) +
                 sub_group_shuffle_xor(b[I], whole ? 5 : 0);
    ulong up = sub_group_shuffle_up(b[I], 1), down = sub_group_shuffle_down(b[I], 2);
    out[2 * I + 1] = (LANE > 0 ? up : 1) + (LANE + 2 < n ? down : 2);
}
#endif

#ifdef cl_khr_subgroup_clustered_reduce
KERNEL void subgroup_clustered(global const int *a, global int *out)
{
    int x = a[I];
    out[4 * I] = sub_group_clustered_reduce_add(x, 4);
    out[4 * I + 1] = sub_group_clustered_reduce_max(x, 8);
    out[4 * I + 2] = sub_group_clustered_reduce_xor(x, 2);
    out[4 * I + 3] = sub_group_clustered_reduce_mul(x, 8);
}
#endif
