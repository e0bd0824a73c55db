/* SPDX-License-Identifier: MIT */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#pragma OPENCL EXTENSION cl_ext_float_atomics : enable
#define SIZED __attribute__((intel_reqd_sub_group_size(16))) kernel

/* ---- Named barriers: the halves of a group go their own ways ---- */

SIZED void xehpc_named(global const int *a, global int *out)
{
    local int row[64];
    local NamedBarrier_t *left = named_barrier_init(2);
    local NamedBarrier_t *right = named_barrier_init(2);
    uint l = get_local_id(0);
    int x = a[get_global_id(0)];
    if (l < 32) {
        for (int i = 0; i < 7; i++) {
            row[l] = x;
            work_group_named_barrier(left, CLK_LOCAL_MEM_FENCE);
            x = x * 3 + row[(l + 17) % 32];
            work_group_named_barrier(left, CLK_LOCAL_MEM_FENCE);
        }
    } else {
        for (int i = 0; i < 4; i++) {
            row[l] = x;
            work_group_named_barrier(right, CLK_LOCAL_MEM_FENCE);
            x = x * 5 - row[32 + (l + 21) % 32];
            work_group_named_barrier(right, CLK_LOCAL_MEM_FENCE);
        }
    }
    row[l] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = row[63 - l];
}

/* ---- Atomics on doubles, in global and in local memory ---- */

#define DEVICE memory_order_relaxed, memory_scope_device
#define GROUP  memory_order_relaxed, memory_scope_work_group
SIZED void xehpc_doubles(global const int *a, global double *own, global double *olds,
                         global double *shared, global double *sums)
{
    local double sum[3];
    size_t i = get_global_id(0), lane = get_local_id(0);
    double x = a[i] % 64;
    volatile global atomic_double *mine = (volatile global atomic_double *)(own + 4 * i);
    volatile global atomic_double *all = (volatile global atomic_double *)shared;
    volatile local atomic_double *near = (volatile local atomic_double *)sum;
    olds[4 * i] = atomic_fetch_add_explicit(&mine[0], x, DEVICE);
    olds[4 * i + 1] = atomic_fetch_add_explicit(&mine[1], -x, DEVICE); /* there is no _sub */
    olds[4 * i + 2] = atomic_fetch_min_explicit(&mine[2], x, DEVICE);
    olds[4 * i + 3] = atomic_fetch_max_explicit(&mine[3], x, DEVICE);
    atomic_fetch_add_explicit(&all[0], x, DEVICE);
    atomic_fetch_min_explicit(&all[1], x, DEVICE);
    if (lane == 0)
        sum[0] = sum[1] = sum[2] = 0.5;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&near[0], x, GROUP);
    atomic_fetch_min_explicit(&near[1], x, GROUP);
    atomic_fetch_max_explicit(&near[2], x, GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 3)
        sums[3 * get_group_id(0) + lane] = sum[lane];
}

/* ---- Loads, stores and prefetches by the compiler's names for messages ---- */

uint __builtin_IB_lsc_load_global_uchar_to_uint(const __global uchar *base, int at, int cache);
uint __builtin_IB_lsc_load_global_ushort_to_uint(const __global ushort *base, int at, int cache);
uint3 __builtin_IB_lsc_load_global_uint3(const __global uint3 *base, int at, int cache);
ulong8 __builtin_IB_lsc_load_global_ulong8(const __global ulong8 *base, int at, int cache);
void __builtin_IB_lsc_prefetch_global_uchar(const __global uchar *base, int at, int cache);
void __builtin_IB_lsc_prefetch_global_ushort(const __global ushort *base, int at, int cache);
void __builtin_IB_lsc_prefetch_global_uint(const __global uint *base, int at, int cache);
void __builtin_IB_lsc_prefetch_global_ulong8(const __global ulong8 *base, int at, int cache);
SIZED void xehpc_lsc(global const uchar *a, global uint *out)
{
    enum { CACHED = 2 };
    size_t i = get_global_id(0);
    /* wherever they lead */
    __builtin_IB_lsc_prefetch_global_uchar(a + i, 0, CACHED);
    __builtin_IB_lsc_prefetch_global_ushort((global ushort *)a + i, 1 << 20, CACHED);
    __builtin_IB_lsc_prefetch_global_uint((global uint *)(i * 4096), 0, CACHED);
    __builtin_IB_lsc_prefetch_global_ulong8((global ulong8 *)a - i, -99, CACHED);
    uint sum = __builtin_IB_lsc_load_global_uchar_to_uint(a + i, 0, CACHED);
    sum = sum * 7 + __builtin_IB_lsc_load_global_ushort_to_uint((global ushort *)a + i, 0, CACHED);
    uint3 t = __builtin_IB_lsc_load_global_uint3((global uint3 *)a + i, 0, CACHED);
    sum = sum * 7 + t.x + 3 * t.y + 5 * t.z;
    ulong8 u = __builtin_IB_lsc_load_global_ulong8((global ulong8 *)a + i, 0, CACHED);
    out[i] = sum * 7 + (uint)(u.s0 + 3 * u.s7 + (u.s4 >> 32));
}

/* ---- Blocks of two dimensions: each sub-group reads one, from another place ---- */

#define BLOCK(name, type)                                                                          \
    type __builtin_IB_subgroup_block_read_flat_##name(long base, int width, int height, int pitch, \
                                                      int2 place);                                 \
    SIZED void xehpc_block_##name(global const uchar *src, int width, int height, int pitch,       \
                                  int2 place, int2 step, global uint *out)                         \
    {                                                                                              \
        union {                                                                                    \
            type v;                                                                                \
            uint u[sizeof(type) / 4];                                                              \
        } r;                                                                                       \
        int g = (int)(get_global_id(0) / 16);                                                      \
        r.v = __builtin_IB_subgroup_block_read_flat_##name((long)src, width - 1, height - 1,       \
                                                           pitch - 1, place + step * g);           \
        for (uint i = 0; i < sizeof(type) / 4; i++)                                                \
            out[get_global_id(0) * (sizeof(type) / 4) + i] = r.u[i];                               \
    }
BLOCK(u8_m1k32v2, ushort2)
BLOCK(u8_m2k32v2, ushort4)
BLOCK(u8_m4k32v2, ushort8)
BLOCK(u8_m8k32v2, ushort16)
BLOCK(u16_m1k16v2, ushort2)
BLOCK(u16_m2k16v2, ushort4)
BLOCK(u16_m4k16v2, ushort8)
BLOCK(u16_m8k16v2, ushort16)
BLOCK(transform_u8_k32, uint8)
BLOCK(transform_u16_k16, uint8)
BLOCK(transpose_u32_k8, uint8)

/* ---- Floats of eight bits ---- */

char __builtin_IB_hftobf8_1(half x);
half __builtin_IB_bf8tohf_1(char x);
char8 __builtin_IB_hftobf8_8(half8 x);
SIZED void xehpc_bf8(global const ushort *a, global const char *b, global char *down, global ushort *up,
                     global const ushort8 *c, global char8 *eight)
{
    size_t i = get_global_id(0);
    down[i] = __builtin_IB_hftobf8_1(as_half(a[i]));
    up[i] = as_ushort(__builtin_IB_bf8tohf_1(b[i]));
    char8 x = (char8)5;
    if (i % 3)
        x = __builtin_IB_hftobf8_8(as_half8(c[i]));
    eight[i] = x;
}

/* ---- Products of matrices: a sub-group multiplies eight rows with sixteen columns ---- */

float8 __builtin_IB_sub_group16_fdpas_f_f_tf32_tf32_8_8(float8 sum, float4 a, float8 b);
short8 __builtin_IB_sub_group16_fdpas_bf_bf_bf_bf_8_8(short8 sum, short8 a, int8 b);
half8 __builtin_IB_sub_group16_fdpas_hf_hf_hf_hf_8_8(half8 sum, short8 a, int8 b);
#define PRODUCT(name, S, A, B)                                                                     \
    SIZED void xehpc_product_##name(global const S *sum, global const A *a, global const B *b,     \
                                    global S *out)                                                 \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        out[i] = __builtin_IB_sub_group16_fdpas_##name##_8_8(sum[i], a[i], b[i]);                  \
    }
PRODUCT(f_f_tf32_tf32, float8, float4, float8)
PRODUCT(bf_bf_bf_bf, short8, short8, int8)
PRODUCT(hf_hf_hf_hf, half8, short8, int8)

/* ---- Stochastic rounding by numbers that are given ---- */

half __builtin_IB_srnd_ftohf_1(float x, short number);
half8 __builtin_IB_srnd_ftohf_8(float8 x, short8 numbers);
SIZED void xehpc_srnd(global const float8 *a, global const short8 *numbers, global half8 *eight, global half *one)
{
    size_t i = get_global_id(0);
    eight[i] = __builtin_IB_srnd_ftohf_8(a[i], numbers[i]);
    one[i] = __builtin_IB_srnd_ftohf_1(a[i].s3, numbers[i].s5);
}
