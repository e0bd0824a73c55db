/* SPDX-License-Identifier: MIT */
/* Loops that never end by themselves: until p[0] is set. */
kernel void forever(global volatile int *p)
{
    while (p[0] == 0)
        ;
    p[1] = 1;
}

/*
 * Threads of a group wait for each other in the loop: at a barrier, NAMED at a named one, PAIRED at
 * dpasw. So that all end in the same round one of them looks, and tells the others by a place that
 * is written again two rounds later.
 */
#ifdef PAIRED
int8 __attribute__((overloadable))
intel_sub_group_i8_i8_split_matrix_mad_k32(int4 a, int8 b, int8 sum);
__attribute__((intel_reqd_sub_group_size(8)))
#else
__attribute__((intel_reqd_sub_group_size(16)))
#endif
kernel void meet_forever(global volatile int *p)
{
    local volatile int over[2][4];
#ifdef PAIRED
    int8 sum = 0;
    int4 a = p[2];
    int8 b = p[3];
    int pair = get_sub_group_id() / 2;
    bool looks = get_sub_group_id() % 2 == 0 && get_sub_group_local_id() == 0;
#else
    int pair = 0;
    bool looks = get_local_id(0) == 0;
#endif
#ifdef NAMED
    local NamedBarrier_t *all = named_barrier_init(2);
#endif
    for (int round = 0;; round ^= 1) {
        if (looks)
            over[round][pair] = p[0];
#ifdef PAIRED
        mem_fence(CLK_LOCAL_MEM_FENCE);
        sum = intel_sub_group_i8_i8_split_matrix_mad_k32(a, b, sum);
#elif defined(NAMED)
        work_group_named_barrier(all, CLK_LOCAL_MEM_FENCE);
#else
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (over[round][pair])
            break;
    }
#ifdef PAIRED
    p[4 + get_local_id(0) % 4] = sum.s0;
#endif
    p[1] = 1;
}

kernel void add_atomic(global int *sum)
{
    atomic_inc(sum);
}
