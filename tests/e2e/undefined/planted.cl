// SPDX-License-Identifier: MIT
// A defect of each kind, at the lines that are marked.
#define ARGS global int *out, global int *in

kernel void race(ARGS)
{
    local int l[64];
    l[get_local_id(0)] = in[get_global_id(0)];           // race
    out[get_global_id(0)] = l[get_local_id(0) ^ 32] + 1; // race
}

/* Of one hardware thread. */
kernel void lanes(ARGS)
{
    out[get_local_id(0)] = in[get_global_id(0)]; // lanes
    if (get_local_id(0) == 0)
        out[100] = out[3]; // lanes
}

kernel void undefined(ARGS)
{
    int a[64];
    for (int i = 0; i < in[0] + 32; i++)
        a[i * 2] = i;
    int x = a[in[get_global_id(0)] | 1]; // undefined
    if (x > 3)                           // undefined
        out[get_global_id(0)] = in[x & 7] * 3;
}

kernel void divergent(ARGS)
{
    local int l[64];
    l[get_local_id(0)] = in[get_global_id(0)];
    if (in[get_local_id(0)] > 5) {
        barrier(CLK_LOCAL_MEM_FENCE); // barrier
        out[get_global_id(0)] = l[in[get_local_id(0)]];
    }
}

kernel void overflow(ARGS)
{
    local int first[64], second[64]; // overflow
    first[get_local_id(0)] = 1;
    second[get_local_id(0)] = 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = first[get_local_id(0) + in[0] + 1] + second[get_local_id(0)]; // overflow
}
