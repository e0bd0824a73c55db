/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif

/* Sizes of launches: dimensions, odd groups, offsets, sizes fixed when compiled. */

#define AT(d) (get_global_id(d) - get_global_offset(d))
#define PLACE ((AT(2) * get_global_size(1) + AT(1)) * get_global_size(0) + AT(0))

KERNEL void shape_ids(global uint *out)
{
    global uint *o = out + PLACE * 12;
    for (uint d = 0; d < 3; d++) {
        o[4 * d] = (uint)get_global_id(d);
        o[4 * d + 1] = (uint)get_local_id(d);
        o[4 * d + 2] = (uint)get_group_id(d);
        o[4 * d + 3] = (uint)get_global_offset(d);
    }
}

KERNEL void shape_sizes(global uint *out)
{
    global uint *o = out + PLACE * 12;
    for (uint d = 0; d < 3; d++) {
        o[4 * d] = (uint)get_global_size(d);
        o[4 * d + 1] = (uint)get_local_size(d);
        o[4 * d + 2] = (uint)get_num_groups(d);
        o[4 * d + 3] = (uint)get_enqueued_local_size(d) + (uint)get_work_dim() * 100;
    }
}

KERNEL void shape_linear(global uint *out)
{
    out[2 * PLACE] = (uint)get_global_linear_id();
    out[2 * PLACE + 1] = (uint)get_local_linear_id();
}

/* Each id alone: the payload has what the kernel uses. */
KERNEL void shape_only_x(global uint *out)
{
    out[get_global_id(0)] = (uint)get_local_id(0);
}

KERNEL void shape_only_y(global uint *out)
{
    atomic_add(&out[get_global_id(1)], (uint)get_local_id(1) + 1);
}

KERNEL void shape_only_z(global uint *out)
{
    atomic_add(&out[get_global_id(2)], (uint)get_local_id(2) + 1);
}

KERNEL void shape_no_ids(global uint *out)
{
    atomic_inc(out);
}

KERNEL void shape_groups_only(global uint *out)
{
    out[(get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) +
        get_group_id(0)] = (uint)(get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2));
}

/* A stencil over a box, with the neighbours by local memory. */
KERNEL void shape_stencil(global const int *a, global int *out, local int *tile)
{
    uint w = get_local_size(0), h = get_local_size(1), d = get_local_size(2);
    uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    tile[(z * h + y) * w + x] = a[PLACE];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (uint k = 0; k < 8; k++) {
        uint nx = (x + (k & 1)) % w, ny = (y + (k >> 1 & 1)) % h, nz = (z + (k >> 2)) % d;
        sum = sum * 3 + tile[(nz * h + ny) * w + nx];
    }
    out[PLACE] = sum;
}

#define REQUIRED(x, y, z)                                                                          \
    __attribute__((reqd_work_group_size(x, y, z))) KERNEL void shape_of_##x##_##y##_##z(           \
        global uint *out)                                                                          \
    {                                                                                              \
        local uint order[x * y * z];                                                               \
        uint l = (uint)((get_local_id(2) * y + get_local_id(1)) * x + get_local_id(0));            \
        order[l] = (uint)(get_group_id(0) * 1000 + l);                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        out[PLACE] = order[x * y * z - 1 - l] + (uint)get_local_size(0);                           \
    }
REQUIRED(1, 1, 1)
REQUIRED(7, 1, 1)
REQUIRED(33, 1, 1)
REQUIRED(256, 1, 1)
REQUIRED(3, 5, 1)
REQUIRED(16, 16, 1)
REQUIRED(5, 3, 7)
REQUIRED(1, 9, 4)

/* Work divided by the size of the launch. */
KERNEL void shape_stride(global const uint *a, global uint *out, int count)
{
    uint sum = 0;
    for (uint i = (uint)get_global_id(0); i < (uint)count; i += (uint)get_global_size(0))
        sum = sum * 5 + a[i];
    out[get_global_id(0)] = sum;
}

/* Items beyond the data do nothing. */
KERNEL void shape_guarded(global const int *a, global int *out, int width, int height)
{
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x >= width || y >= height)
        return;
    out[y * width + x] = a[y * width + x] * 2 + x - y;
}
