/* SPDX-License-Identifier: MIT */
/*
 * Buffers that the compiler reaches through handles in the arguments ("bindless"). Elements of eight
 * bytes are left out: for the data port IGC adds the handle to the wrong descriptor.
 */
#define I get_global_id(0)

kernel void bindless_add(global const float *a, global const float *b, global float *c, float f)
{
    c[I] = a[I] * f + b[I];
}

kernel void bindless_small(global const uchar *a, global const ushort *b, global uchar *c, global ushort *d)
{
    c[I] = a[I] + (uchar)b[I];
    d[I] = a[I] * b[I];
}

kernel void bindless_vectors(global const int4 *a, global const int *b, global int4 *c, global int2 *d)
{
    int4 v = a[b[I]];
    c[I] = v.wzyx;
    d[I] = (int2)(v.x + v.y, v.z ^ v.w);
}

/* Where the handle of a constant buffer stands the compiler does not tell: never read, but an argument. */
kernel void bindless_constant(global const int *a, constant int *c, global int *b, int never)
{
    b[I] = never ? c[I] : a[I];
}

/* Nor are images given handles. */
kernel void bindless_image(global const uint *a, read_only image2d_t image, global uint *b, int never)
{
    b[I] = never ? read_imageui(image, (int2)(I, 0)).x : a[I];
}

kernel __attribute__((intel_reqd_sub_group_size(16))) void bindless_blocks(global const uint *a, global uint *b)
{
    uint at = I / 16 * 16;
    intel_sub_group_block_write(b + at, intel_sub_group_block_read(a + at) + get_sub_group_local_id());
}
