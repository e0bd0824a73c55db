// SPDX-License-Identifier: MIT
// Atomics on floats and halves (cl_ext_float_atomics), for devices whose memory has them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_ext_float_atomics : enable

#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define DEVICE memory_order_relaxed, memory_scope_device
#define GROUP memory_order_relaxed, memory_scope_work_group

KERNEL void floatatomic_global(global const int *a, global float *own, global float *olds,
                               global float *shared)
{
    size_t i = get_global_id(0);
    float x = a[i] % 64;
    volatile global atomic_float *mine = (volatile global atomic_float *)(own + 4 * i);
    volatile global atomic_float *all = (volatile global atomic_float *)shared;
    olds[4 * i] = atomic_fetch_add_explicit(&mine[0], x, DEVICE);
    olds[4 * i + 1] = atomic_fetch_sub_explicit(&mine[1], x, DEVICE);
    olds[4 * i + 2] = atomic_fetch_min_explicit(&mine[2], x, DEVICE);
    olds[4 * i + 3] = atomic_fetch_max_explicit(&mine[3], x, DEVICE);
    atomic_fetch_add_explicit(&all[0], x, DEVICE);
    atomic_fetch_sub_explicit(&all[1], x, DEVICE);
    atomic_fetch_min_explicit(&all[2], x, DEVICE);
    atomic_fetch_max_explicit(&all[3], x, DEVICE);
}

KERNEL void floatatomic_local(global const int *a, global float *out)
{
    local float sums[3];
    size_t i = get_global_id(0), lane = get_local_id(0);
    volatile local atomic_float *all = (volatile local atomic_float *)sums;
    float x = a[i] % 64;
    if (lane == 0)
        sums[0] = sums[1] = sums[2] = 0.5f;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&all[0], x, GROUP);
    atomic_fetch_min_explicit(&all[1], x, GROUP);
    atomic_fetch_max_explicit(&all[2], x, GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 3)
        out[3 * get_group_id(0) + lane] = sums[lane];
}

KERNEL void floatatomic_half(global const half *a, global half *own, global half *olds,
                             global half *shared)
{
    size_t i = get_global_id(0);
    volatile global atomic_half *mine = (volatile global atomic_half *)(own + 3 * i);
    volatile global atomic_half *all = (volatile global atomic_half *)shared;
    olds[3 * i] = atomic_fetch_min_explicit(&mine[0], a[i], DEVICE);
    olds[3 * i + 1] = atomic_fetch_max_explicit(&mine[1], a[i], DEVICE);
    olds[3 * i + 2] = atomic_exchange_explicit(&mine[2], a[i], DEVICE);
    atomic_fetch_min_explicit(&all[0], a[i], DEVICE);
    atomic_fetch_max_explicit(&all[1], a[i], DEVICE);
}
