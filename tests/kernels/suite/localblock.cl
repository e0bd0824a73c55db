/* SPDX-License-Identifier: MIT */
/* Blocks that sub-groups read from and write to local memory (cl_intel_subgroup_local_block_io), from Gen12LP on. */
#define WIDTH  16
#define KERNEL kernel __attribute__((intel_reqd_sub_group_size(WIDTH)))
#define ANY    __attribute__((overloadable))

/* The compiler knows them, but its header does not declare them. */
#define DECLARE(T, suffix, N)                                                                      \
    T##N ANY intel_sub_group_block_read##suffix##N(const local T *from);                           \
    void ANY intel_sub_group_block_write##suffix##N(local T *to, T##N value);

#define BLOCKS(T, suffix)                                                                          \
    DECLARE(T, suffix, )                                                                           \
    DECLARE(T, suffix, 2)                                                                          \
    DECLARE(T, suffix, 4)                                                                          \
    DECLARE(T, suffix, 8)                                                                          \
    KERNEL void localblock_##T(global const T *a, global T *out)                                   \
    {                                                                                              \
        local T near[64 * 16], other[64 * 16]; /* groups of up to 64 items */                      \
        uint first = (uint)get_local_id(0) / WIDTH * WIDTH * 16, lane = get_local_id(0) % WIDTH;   \
        for (uint c = 0; c < 16; c++)                                                              \
            near[first + c * WIDTH + lane] = a[get_global_id(0) * 16 + c];                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        local T *from = near + sub_group_broadcast(first, 0);                                      \
        local T *to = other + sub_group_broadcast(first, 0);                                       \
        T x1 = intel_sub_group_block_read##suffix((const local T *)from);                          \
        T##2 x2 = intel_sub_group_block_read##suffix##2((const local T *)(from + WIDTH));          \
        T##4 x4 = intel_sub_group_block_read##suffix##4((const local T *)(from + 3 * WIDTH));      \
        T##8 x8 = intel_sub_group_block_read##suffix##8((const local T *)(from + 7 * WIDTH));      \
        intel_sub_group_block_write##suffix##8(to, x8.s76543210);                                  \
        intel_sub_group_block_write##suffix##4(to + 8 * WIDTH, (T##4)(x4 + x1));                   \
        intel_sub_group_block_write##suffix##2(to + 12 * WIDTH, x2.yx);                            \
        intel_sub_group_block_write##suffix(to + 14 * WIDTH, (T)(x1 ^ x2.x));                      \
        intel_sub_group_block_write##suffix(to + 15 * WIDTH, (T)lane);                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint c = 0; c < 16; c++)                                                              \
            out[get_global_id(0) * 16 + c] = other[first + c * WIDTH + lane];                      \
    }
BLOCKS(uchar, _uc)
BLOCKS(ushort, _us)
BLOCKS(uint, )
BLOCKS(ulong, _ul)
