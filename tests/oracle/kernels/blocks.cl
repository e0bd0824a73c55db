/* SPDX-License-Identifier: MIT */
/* Sub-group block reads and writes of every width, media blocks, shuffles, 64-bit and float atomics. */
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#ifndef SIMD
#define SIMD 16
#endif
#define KERNEL kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

KERNEL void block_uint(global const uint *in, global uint *out)
{
    size_t i = get_group_id(0) * 1024;
    uint a = intel_sub_group_block_read(in + i);
    uint2 b = intel_sub_group_block_read2(in + i + 64);
    uint4 c = intel_sub_group_block_read4(in + i + 256);
    uint8 d = intel_sub_group_block_read8(in + i + 512);
    intel_sub_group_block_write(out + i, a + b.x);
    intel_sub_group_block_write2(out + i + 64, b + c.xy);
    intel_sub_group_block_write4(out + i + 256, c * d.lo);
    intel_sub_group_block_write8(out + i + 512, d ^ (uint8)a);
}

KERNEL void block_ushort(global const ushort *in, global ushort *out)
{
    size_t i = get_group_id(0) * 1024;
    ushort a = intel_sub_group_block_read_us(in + i);
    ushort2 b = intel_sub_group_block_read_us2(in + i + 64);
    ushort8 d = intel_sub_group_block_read_us8(in + i + 512);
    intel_sub_group_block_write_us(out + i, a + b.x);
    intel_sub_group_block_write_us2(out + i + 64, b);
    intel_sub_group_block_write_us8(out + i + 512, d * (ushort8)a);
}

KERNEL void media(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)((int)get_group_id(0) * 64, (int)get_group_id(1) * 8);
    uint a = intel_sub_group_block_read(in, at);
    uint4 b = intel_sub_group_block_read4(in, at);
    uint8 c = intel_sub_group_block_read8(in, at);
    intel_sub_group_block_write(out, at, a);
    intel_sub_group_block_write4(out, at, b + a);
    intel_sub_group_block_write8(out, at, c);
}

KERNEL void shuffles(global int *p, global float *q)
{
    size_t i = get_global_id(0);
    int a = p[i];
    a += intel_sub_group_shuffle(a, p[i + 1] & 7);
    a ^= intel_sub_group_shuffle_xor(a, 3);
    a += intel_sub_group_shuffle_down(a, 7, 2);
    a -= intel_sub_group_shuffle_up(5, a, 1);
    p[i] = a + sub_group_scan_inclusive_add(a) + sub_group_broadcast(a, 2);
    q[i] = sub_group_reduce_max(q[i]) + sub_group_scan_exclusive_min(q[i]);
}

KERNEL void atomics64(global long *p, global ulong *r, local int *l, global float *f)
{
    size_t i = get_global_id(0);
    atom_add(p + i, 5);
    p[i + 1] = atom_xchg(p + 2, p[i]) + atom_cmpxchg(p + 3, p[i], 9);
    r[i] += atom_inc(r + 4) + atom_sub(r + 5, r[i]);
    l[i & 15] = atomic_xor(l + 3, (int)i) + atomic_min(l + 4, (int)i);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(f + i, f[i + 1]);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    p[i] += l[i & 7];
}
