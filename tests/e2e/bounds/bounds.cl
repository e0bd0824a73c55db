/* SPDX-License-Identifier: MIT */
/* Kernels that do what they are told, right or wrong: see bounds.c. */

kernel void write_at(ulong where)
{
    *(global int *)where = 1;
}

/* Of local memory that `filled` work-items wrote. */
kernel void read_local(global int *out, int filled)
{
    local int words[64];
    int i = get_local_id(0);
    if (i < filled)
        words[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = words[i ^ 1];
}

/* As many elements of each as there are work-items. */
kernel void local_arguments(global int *out, local int *a, local int *b, int offset)
{
    int i = get_local_id(0);
    b[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i + offset] = 2 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = a[i] + b[i];
}

kernel void local_and_argument(global int *out, local int *a, int offset)
{
    local int own[16];
    int i = get_local_id(0);
    a[i] = i;
    own[i ^ 1] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *either = offset > 99 ? a : own;
    out[i] = a[i] + either[i + offset];
}

/* Both in local memory, one behind the other. */
kernel void local_arrays(global int *out, int offset)
{
    local int first[16];
    local char3 between[5];
    local int second[4][4];
    int i = get_local_id(0);
    first[i] = i;
    between[i % 5] = (char3)(i % 5);
    second[i / 4][i % 4] = 3 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = first[(i ^ 1) + offset] + second[i % 4][i / 4] + between[i / 4].y;
}

/* Of three ints the outer ones are written; who reads them reads all three, on some devices. */
kernel void write_outer(global int *three)
{
    three[3 * get_local_id(0)] = three[3 * get_local_id(0) + 2] = 1;
}

kernel void read_outer(global int *three, global int *out)
{
    int i = get_local_id(0);
    out[i] = three[3 * i] + three[3 * i + 2] + three[30] * three[32];
}

kernel void read_middle(global int *three, global int *out)
{
    int i = get_local_id(0);
    out[i] = three[3 * i] + three[3 * i + 2] * three[3 * i + 1];
}

kernel void read_middle_of_all(global int *three, global int *out)
{
    out[get_local_id(0)] = three[30] + three[31] * three[32];
}

#ifdef IMAGES
kernel void write_image(write_only image2d_t image)
{
    write_imagef(image, (int2)(get_local_id(0), 1), (float4)(1.0f));
}
#endif
