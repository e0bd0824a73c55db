// Shuffles, reductions and block reads of subgroups; required sizes.
__attribute__((intel_reqd_sub_group_size(8))) __kernel void reduce_8(__global const int *in,
                                                                     __global int *out)
{
    int value = in[get_global_id(0)];
    out[get_global_id(0)] = sub_group_reduce_add(value) + intel_sub_group_shuffle_xor(value, 1);
}

__attribute__((intel_reqd_sub_group_size(16))) __kernel void blocks_16(__global const uint *in,
                                                                       __global uint *out)
{
    uint2 value = intel_sub_group_block_read2(in + 2 * get_global_id(0));
    intel_sub_group_block_write2(out + 2 * get_global_id(0), value.yx);
}
