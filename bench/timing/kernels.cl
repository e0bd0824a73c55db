/* Microbenchmarks of the model of time: n runs of a loop whose body is known. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define CHAINS 8
#define BODY 16 /* operations of each chain in a run of the loop */

/* x[c] = op, for all chains, BODY times */
#define RATE(name, T, scalar, step)                                                                \
    __attribute__((intel_reqd_sub_group_size(16))) kernel void name(global T *out, int n, scalar as, scalar bs)                                   \
    {                                                                                              \
        T a = (T)as, b = (T)bs, x[CHAINS];                                                         \
        for (int c = 0; c < CHAINS; c++)                                                           \
            x[c] = (T)(get_global_id(0) + c);                                                      \
        for (int i = 0; i < n; i++) {                                                              \
            _Pragma("unroll") for (int k = 0; k < BODY; k++)                                       \
            {                                                                                      \
                _Pragma("unroll") for (int c = 0; c < CHAINS; c++) x[c] = step;                    \
            }                                                                                      \
        }                                                                                          \
        T sum = 0;                                                                                 \
        for (int c = 0; c < CHAINS; c++)                                                           \
            sum += x[c];                                                                           \
        out[get_global_id(0)] = sum;                                                               \
    }
RATE(rate_fp32, float, float, mad(x[c], a, b))
RATE(rate_fp16, half, float, fma(x[c], a, b))
#ifdef cl_khr_fp64
RATE(rate_fp64, double, float, fma(x[c], a, b))
#endif
RATE(rate_int_add, int, int, (x[c] ^ a) + b)
RATE(rate_int_mul, int, int, x[c] * a)
RATE(rate_math, float, float, native_rsqrt(x[c]))

/* one chain: each operation waits for the one before */
#define LATENCY(name, T, scalar, step)                                                             \
    __attribute__((intel_reqd_sub_group_size(16))) kernel void name(global T *out, int n, scalar as, scalar bs)                                   \
    {                                                                                              \
        T a = (T)as, b = (T)bs, x = (T)get_global_id(0);                                           \
        for (int i = 0; i < n; i++) {                                                              \
            _Pragma("unroll") for (int k = 0; k < 128; k++) x = step;                              \
        }                                                                                          \
        out[get_global_id(0)] = x;                                                                 \
    }
LATENCY(latency_fp32, float, float, mad(x, a, b))
LATENCY(latency_int_add, int, int, (x ^ a) + b)
#ifdef cl_khr_fp64
LATENCY(latency_fp64, double, float, fma(x, a, b))
#endif
LATENCY(latency_math, float, float, native_rsqrt(x))

/* XMX: lanes of systolic multiplications. Four chains of 8 rows by 16 halves. */
#ifdef XMX
#if XMX == 8
typedef int8 xmx_rows;
#else
typedef short8 xmx_rows;
#endif
float8 __attribute__((overloadable)) intel_sub_group_f16_f16_matrix_mad_k16(xmx_rows, int8, float8);
__attribute__((intel_reqd_sub_group_size(XMX))) kernel void rate_dpas(global float8 *out, int n, int as, int bs)
{
    xmx_rows a = (xmx_rows)(as + get_global_id(0)); /* not the same for all: it would be copied */
    int8 b = (int8)(bs + get_global_id(0));
    float8 x[4] = {0};
    for (int i = 0; i < n; i++) {
        _Pragma("unroll") for (int k = 0; k < 8; k++)
        {
            _Pragma("unroll") for (int c = 0; c < 4; c++) x[c] = intel_sub_group_f16_f16_matrix_mad_k16(a, b, x[c]);
        }
    }
    out[get_global_id(0)] = x[0] + x[1] + x[2] + x[3];
}
#endif

/* a chain of loads */
__attribute__((intel_reqd_sub_group_size(16))) kernel void chase(global const uint *next, global uint *out, int n)
{
    uint at = get_global_id(0) * 16;
    for (int i = 0; i < n; i++)
        at = next[at];
    out[get_global_id(0)] = at;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void chase_local(global uint *out, local uint *next, int size, int stride, int n)
{
    for (int i = get_local_id(0); i < size; i += get_local_size(0))
        next[i] = (i + stride) % size;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = get_local_id(0) * stride % size;
    for (int i = 0; i < n; i++)
        at = next[at];
    out[get_global_id(0)] = at;
}

/* loads that wait for nobody: every item reads n times 16 bytes, `step` items apart */
__attribute__((intel_reqd_sub_group_size(16))) kernel void stream(global const uint4 *in, global uint4 *out, int n, int step, int mask)
{
    uint4 sum = 0;
    uint at = get_global_id(0);
    for (int i = 0; i < n; i += 4) {
        sum ^= in[at & mask] ^ in[(at + step) & mask] ^ in[(at + 2 * step) & mask] ^
               in[(at + 3 * step) & mask];
        at += 4 * step;
    }
    if (sum.x == 0x12345678 && sum.y == 0x9abcdef)
        out[get_global_id(0)] = sum;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void store(global uint4 *out, uint value)
{
    out[get_global_id(0)] = (uint4)(value);
}

/* dwords of local memory `stride` apart */
__attribute__((intel_reqd_sub_group_size(16))) kernel void local_stride(global uint *out, local uint *data, int stride, int n)
{
    uint sum = 0, at = get_local_id(0) * stride & 4095;
    for (int i = get_local_id(0); i < 4096; i += get_local_size(0))
        data[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i += 8) {
        uint b = at ^ 16, c = at ^ 32, d = at ^ 48;
        sum ^= data[at] ^ data[b] ^ data[c] ^ data[d];
        sum ^= data[at ^ 64] ^ data[b ^ 64] ^ data[c ^ 64] ^ data[d ^ 64];
        at = (at + 128) & 4095;
    }
    out[get_global_id(0)] = sum;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void strided(global const uint *in, global uint *out, int stride)
{
    out[get_global_id(0)] = in[get_global_id(0) * stride];
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void barriers(global uint *out, int n)
{
    for (int i = 0; i < n; i++)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = n;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void atomics(global uint *out, int stride, int n)
{
    for (int i = 0; i < n; i++)
        atomic_inc(out + get_global_id(0) * stride);
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void empty(global uint *out)
{
}

/* lanes take both ways */
__attribute__((intel_reqd_sub_group_size(16))) kernel void diverge(global uint *out, int n, int mask)
{
    uint x = get_global_id(0);
    for (int i = 0; i < n; i++) {
        if (get_local_id(0) & mask) {
            for (int k = 0; k < 6; k++)
                x = rotate(x * 5 + k, x & 3);
        } else {
            for (int k = 0; k < 6; k++)
                x = (rotate(x, x & 7) ^ k) * 3;
        }
    }
    out[get_global_id(0)] = x;
}

/* n multiplications and additions for each element that is read */
__attribute__((intel_reqd_sub_group_size(16))) kernel void intensity(global const float *in, global float *out, int n)
{
    float x = in[get_global_id(0)], a = x;
    for (int i = 0; i < n; i++)
        x = mad(x, a, 1.0f);
    out[get_global_id(0)] = x;
}

constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#ifndef NO_IMAGES
__attribute__((intel_reqd_sub_group_size(16))) kernel void texels(read_only image2d_t in, global float4 *out, int width)
{
    int i = get_global_id(0);
    out[i] = read_imagef(in, nearest, (int2)(i % width, i / width));
}
#endif

/* ---- launches that are longer than what is replayed of them ------------------------------------
 */

/* neighbours share lines: within a group, to both sides, and with the groups of other rows */
__attribute__((intel_reqd_sub_group_size(16))) kernel void smooth(global const float *in, global float *out, int width)
{
    int i = get_global_id(0) + width;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

/* the same in two dimensions: threads at the edges end sooner */
kernel void edges(global const float *in, global float *out, int width)
{
    int i = get_global_id(0), x = i % width, y = i / width, height = get_global_size(0) / width;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

/* barriers, with fewer and fewer lanes between them */
__attribute__((intel_reqd_sub_group_size(16))) kernel void tree(global const int *in, global int *sums, local int *shared)
{
    int l = get_local_id(0);
    shared[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (l < half_size)
            shared[l] += shared[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[get_group_id(0)] = shared[0];
}

/* one item works `n` times between two barriers, the others next to nothing */
__attribute__((intel_reqd_sub_group_size(16))) kernel void uneven(global uint *out, int n, int rounds)
{
    uint x = get_global_id(0);
    for (int r = 0; r < rounds; r++) {
        int times = get_local_id(0) == r % get_local_size(0) ? n : 2;
        for (int i = 0; i < times; i++)
            x = x * 1664525u + 1013904223u;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = x;
}

/* each group in several stretches: loads, arithmetic, atomics */
__attribute__((intel_reqd_sub_group_size(16))) kernel void stretches(global const uint *in, global uint *bins, int n)
{
    local uint own[256];
    uint l = get_local_id(0), x = 0;
    own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i++)
        atomic_inc(&own[in[get_global_id(0) + i * 64] * 2654435761u >> 24]);
    barrier(CLK_LOCAL_MEM_FENCE);
    x = own[l];
    for (int i = 0; i < 4 * n; i++)
        x = x * 1664525u + 1013904223u;
    atomic_add(&bins[l], x);
}

/* ---- irregular ones: what a thread does and reads follows from data ----------------------------
 */

/* reads 4 MB here and there */
__attribute__((intel_reqd_sub_group_size(16))) kernel void gather(global const uint *in, global uint *out, int n)
{
    uint x = get_global_id(0) * 2654435761u, sum = 0;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        sum += in[x >> 12];
    }
    out[get_global_id(0)] = sum;
}

/* rows of a sparse matrix, of very different lengths */
__attribute__((intel_reqd_sub_group_size(16))) kernel void rows(global const uint *columns, global float *out, global const float *v, int n)
{
    uint row = get_global_id(0);
    int length = (row * 2654435761u >> 26) % n;
    float sum = 0;
    for (int i = 0; i < length; i++)
        sum += v[columns[(row * 16 + i) & 0xfffff] * 2654435761u & 0xfffff];
    out[row] = sum;
}

/* every other group computes, the others read 4 MB one after the other */
__attribute__((intel_reqd_sub_group_size(16))) kernel void halves(global const float4 *in, global float4 *out, int n)
{
    int i = get_global_id(0);
    float4 x = in[i & 0x3ffff];
    if (get_group_id(0) & 1)
        for (int k = 0; k < n; k++)
            x = mad(x, x, 1.0f);
    else
        for (int k = 0; k < n / 4; k++)
            x += in[(i + k * 4096) & 0x3ffff];
    out[i & 0x3ffff] = x;
}

/* later groups do less and less */
__attribute__((intel_reqd_sub_group_size(16))) kernel void falling(global uint *out, int n)
{
    uint x = get_global_id(0);
    int group = get_group_id(0), groups = get_num_groups(0), times = n * (groups - group) / groups;
    for (int i = 0; i < times; i++)
        x = (x * 1664525u + 1013904223u) ^ (x >> 7);
    out[get_global_id(0)] = x;
}

/* groups of random lengths; between barriers the last threads work longest */
__attribute__((intel_reqd_sub_group_size(16))) kernel void imbalanced(global uint *out, int n)
{
    local uint own[256];
    uint l = get_local_id(0);
    int rounds = 2 + (get_group_id(0) * 2654435761u >> 20) % n;
    own[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < rounds; r++) {
        uint x = own[(l * 7 + r) & 255];
        for (int i = 0; i < l / 16 + 1; i++)
            x = x * 5 + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        own[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = own[l];
}

/* lanes of random lengths */
__attribute__((intel_reqd_sub_group_size(16))) kernel void collatz(global uint *out, int n)
{
    uint x = get_global_id(0) + 1, steps = 0;
    for (; x != 1 && steps < n; steps++)
        x = x & 1 ? 3 * x + 1 : x >> 1;
    out[get_global_id(0)] = steps;
}

/* atomics at random places */
__attribute__((intel_reqd_sub_group_size(16))) kernel void counts(global const uint *in, global uint *bins, int n)
{
    uint x = get_global_id(0) * 747796405u;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        atomic_add(&bins[x >> 24], in[get_global_id(0)]);
    }
}

/* memory, then math, then memory; what a group reads others read that began 64, 128 ... before it */
__attribute__((intel_reqd_sub_group_size(16))) kernel void stages(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float x = 0;
    for (int k = 0; k < n; k++)
        x += in[(i + k * 8192) & 0xfffff];
    for (int k = 0; k < 8 * n; k++)
        x = native_rsqrt(x * x + 1.0f);
    for (int k = 0; k < n; k++)
        out[(i + k * 8192) & 0xfffff] = x;
}

/* each lane goes along a row of its own: a line for each */
__attribute__((intel_reqd_sub_group_size(16))) kernel void column(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[(i * 1024 + k) & 0xfffff];
    out[i] = sum;
}

/* loops one behind the other, each with loads of its own, of a line for each lane */
__attribute__((intel_reqd_sub_group_size(16))) kernel void parts(global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);
    uint sum = 0;
#define PART(number)                                                                               \
    for (int k = 0; k < n; k++)                                                                    \
        sum = sum * 5 + in[(i * 32 + k + number * 0x20000) & 0xfffff];
    PART(0) PART(1) PART(2) PART(3) PART(4) PART(5) PART(6) PART(7)
    out[i] = sum;
}
