// Atomics on global and local memory, barriers, static and dynamic local memory.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
histogram_local(__global const uchar *in, volatile __global uint *out, __local uint *extra)
{
    __local uint bins[256];
    int item = get_local_id(0);
    for (int i = item; i < 256; i += 64)
        bins[i] = 0;
    extra[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[in[get_global_id(0)]]);
    atomic_max(&extra[item & 7], in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 256; i += 64)
        atomic_add(&out[i], bins[i]);
    out[256 + item] = extra[item];
}

__kernel void compare_exchange(volatile __global int *lock, __global int *value, int add)
{
    if (atomic_cmpxchg(lock, 0, 1) == 0) {
        *value += add;
        atomic_xchg(lock, 0);
    }
}
