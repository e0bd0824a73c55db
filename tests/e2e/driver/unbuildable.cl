/* SPDX-License-Identifier: MIT */
/* What SPIR-V can say and the compiler refuses: blocks are read by 8 or 16 lanes. */
__attribute__((intel_reqd_sub_group_size(32))) kernel void unbuildable(global uint *p)
{
    p[get_global_id(0)] = intel_sub_group_block_read(p);
}
