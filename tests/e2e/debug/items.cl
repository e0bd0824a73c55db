/* SPDX-License-Identifier: MIT */
kernel void items(global uint *out)
{
    uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    uint gx = get_global_id(0), gy = get_global_id(1), gz = get_global_id(2);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[gx + 100 * (gy + 100 * gz)] = x + y + z;
}
