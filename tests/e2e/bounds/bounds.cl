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
    out[i] = a[i] + own[i + offset];
}
