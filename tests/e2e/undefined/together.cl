// SPDX-License-Identifier: MIT
// Functions of groups and sub-groups that not all call, at the lines that are marked.
#define ARGS global int *out, global int *in
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void reduces(ARGS)
{
    int x = in[get_global_id(0)];
    if (get_local_id(0) < 4)
        x = work_group_reduce_add(x); // reduces
    out[get_global_id(0)] = x;
}

kernel void broadcasts(ARGS)
{
    out[get_global_id(0)] = work_group_broadcast(in[get_global_id(0)], get_local_id(0) & 7); // broadcasts
}

kernel void sub_reduces(ARGS)
{
    int x = in[get_global_id(0)];
    if (get_local_id(0) % 16 < 4)
        x = sub_group_reduce_add(x); // sub_reduces
    out[get_global_id(0)] = x;
}

kernel void sub_others(ARGS)
{
    int x = in[get_global_id(0)];
    if (get_local_id(0) % 8 < 4)
        x = sub_group_reduce_add(x); // sub_others
    else
        x = sub_group_scan_inclusive_add(x); // sub_others
    out[get_global_id(0)] = x;
}

/* None: functions of sub-groups that all of one call, which others do not. */
kernel void together(ARGS)
{
    int x = in[get_global_id(0)];
    for (uint i = 0; i < 3 + get_group_id(0); i++) {
        x += work_group_reduce_add(x) + work_group_broadcast(x, in[3] & 15);
        x += sub_group_reduce_add(x) + sub_group_broadcast(x, 1) + sub_group_any(x);
    }
    if (get_sub_group_id() == 1)
        x += sub_group_reduce_max(x);
    out[get_global_id(0)] = x;
}
