/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)
#define L get_local_id(0)

/* Every address space, every width, every alignment. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* ---- Private memory ---- */

KERNEL void memory_private_sort(global const int *a, global int *out)
{
    int v[24];
    for (int i = 0; i < 24; i++)
        v[i] = a[I * 24 + i];
    for (int i = 1; i < 24; i++) {
        int x = v[i], j = i;
        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
    for (int i = 0; i < 24; i++)
        out[I * 24 + i] = v[i];
}

KERNEL void memory_private_types(global const uchar *a, global int *out)
{
    char c[40];
    short s[40];
    long l[20];
    float4 f[10];
    for (int i = 0; i < 40; i++) {
        c[i] = (char)(a[(I + (uint)i) & 63] + i);
        s[i] = (short)(c[i] * 3);
    }
    for (int i = 0; i < 20; i++)
        l[i] = (long)s[(i * 7 + (int)I) % 40] * 1000003;
    for (int i = 0; i < 10; i++)
        f[i] = (float4)(c[i], s[i], (float)l[i], i);
    int k = a[I & 63] % 10;
    float4 v = f[k];
    f[9 - k].y = v.x;
    c[k * 4] = (char)(c[k] + 1);
    out[I] = c[k * 2] + c[k * 4] + s[39 - k] + (int)(l[k + 3] >> 4) + (int)f[9 - k].y +
             (int)v.z * 3 + (int)f[(k + 1) % 10].w;
}

/* A tree walked with a stack in private memory. */
KERNEL void memory_private_stack(global const int *tree, global int *out, int n)
{
    int stack[32], top = 0, sum = 0, order = 1;
    stack[top++] = (int)I % n;
    while (top > 0) {
        int at = stack[--top];
        sum += tree[at] * order++;
        if (2 * at + 1 < n)
            stack[top++] = 2 * at + 1;
        if (2 * at + 2 < n)
            stack[top++] = 2 * at + 2;
    }
    out[I] = sum;
}

/* More live values than there are registers. */
KERNEL void memory_spill(global const float *a, global float *out, int rounds)
{
    float v[160];
#pragma unroll
    for (int i = 0; i < 160; i++)
        v[i] = a[(I * 7 + (uint)i) & 255];
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int i = 0; i < 160; i++)
            v[i] = v[i] * 0.5f + v[(i * 7 + 3) % 160];
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 160; i++)
        sum = sum * 0.75f + v[i];
    out[I] = sum;
}

KERNEL void memory_spill_flow(global const int *a, global int *out, int rounds)
{
    int v[96];
#pragma unroll
    for (int i = 0; i < 96; i++)
        v[i] = a[(I + (uint)i * 3) & 127];
    for (int r = 0; r < rounds; r++) {
        if ((v[r & 7] ^ r) & 1) {
#pragma unroll
            for (int i = 0; i < 96; i++)
                v[i] += v[(i * 5 + 1) % 96];
        } else {
#pragma unroll
            for (int i = 0; i < 96; i++)
                v[i] ^= v[(i * 11 + 5) % 96] >> 3;
        }
    }
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 96; i++)
        sum = sum * 31 + v[i];
    out[I] = sum;
}

/* ---- Constant memory and variables of the program ---- */

#ifdef cl_khr_fp64
#define REAL double
#else
#define REAL float
#endif

struct entry {
    char tag;
    int weight;
    REAL scale;
};

constant int squares[16] = {0,  1,  4,  9,   16,  25,  36,  49,
                            64, 81, 100, 121, 144, 169, 196, 225};
constant uchar text[] = "The quick brown fox jumps over the lazy dog";
constant struct entry entries[3] = {{'a', 100, 0.5}, {'b', -7, 2.25}, {'c', 1 << 20, -1.0}};
constant float4 points[2] = {(float4)(1, 2, 3, 4), (float4)(-1, 0.5f, 8, 16)};

KERNEL void memory_constant(global const int *a, global int *out)
{
    int x = a[I];
    struct entry e = entries[(uint)x % 3];
    float4 p = points[x & 1];
    out[I] = squares[x & 15] + text[(x >> 4) & 31] * 3 + e.tag + e.weight + (int)(e.scale * 8) +
             (int)(p.y * 2) + (int)p.w + points[x >> 1 & 1].s2;
}

KERNEL void memory_constant_argument(constant int *table, constant short4 *v, global const int *a,
                                     global int *out, int k)
{
    short4 w = v[a[I] & 7];
    out[I] = table[a[I] & 31] + table[k] + w.x - w.w + v[k].y;
}

global int counters[4] = {10, 20, 30, 40};
global float scale = 1.5f;
global int *global chosen = &counters[2];
global ushort odd_sized[5];

KERNEL void memory_variables(global int *out)
{
    global int *p = chosen;
    if (I < 5)
        odd_sized[I] = (ushort)(I * 7);
    out[I] = counters[I & 3] + *p * 100 + (int)(scale * 4) + (I < 5 ? odd_sized[I] : 0) +
             (p == counters + 2 ? 1 : 0);
}

/* ---- Local memory ---- */

KERNEL void memory_local_static(global const int *a, global int *out)
{
    local int ints[64];
    local uchar bytes[64];
    local long longs[64];
    local float4 vectors[64];
    ints[L] = a[I];
    bytes[L] = (uchar)(a[I] >> 3);
    longs[L] = (long)a[I] * 77777777;
    vectors[L] = (float4)(a[I] & 255, L, 3, a[I] >> 24);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = 63 - L, m = (L * 5 + 1) & 63;
    out[I] = ints[k] + bytes[m] + (int)(longs[k] >> 7) + (int)vectors[m].x * 2 +
             (int)vectors[k].y + (int)vectors[k].w;
}

KERNEL void memory_local_arguments(local short *s, global const int *a, local int *b, local long *c,
                                   global int *out)
{
    uint n = get_local_size(0);
    s[L] = (short)a[I];
    b[n - 1 - L] = a[I] ^ 0x55;
    c[L] = (long)a[I] << 20;
    local int fixed[3];
    if (L < 3)
        fixed[L] = (int)L * 1000;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = (L * 3 + 1) % n;
    out[I] = s[k] + b[k] + (int)(c[n - 1 - L] >> 16) + (n >= 3 ? fixed[k % 3] : 0);
}

/* Bytes and words of local memory at odd places. */
KERNEL void memory_local_bytes(global const uchar *a, global uint *out)
{
    local uchar b[64 * 9 + 8];
    for (uint i = 0; i < 9; i++)
        b[L * 9 + i] = a[(I * 9 + i) & 1023];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = (63 - L) * 9;
    uchar4 four = vload4(0, b + k + 1);
    ushort two = (ushort)(b[k + 5] | b[k + 6] << 8);
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore3((uchar3)(four.x, four.w, (uchar)two), 0, b + k + 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint h = 0;
    for (uint i = 0; i < 9; i++)
        h = h * 257 + b[L * 9 + i];
    out[I] = h + two;
}

/* ---- The generic address space ---- */

__attribute__((noinline)) int sum_generic(const int *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] * (i + 1);
    return sum;
}

KERNEL void memory_generic(global const int *a, global int *out)
{
    local int shared[64];
    int own[8];
    shared[L] = a[I] & 0xffff;
    for (int i = 0; i < 8; i++)
        own[i] = a[I] >> (2 * i);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int *p = (const int *)(a + (I & ~7u));
    if (a[I] & 1)
        p = own;
    else if (a[I] & 2)
        p = shared + (L & ~7u);
    out[I] = sum_generic(p, 8) + (to_local(p) != 0 ? 0x100000 : 0);
}

KERNEL void memory_generic_write(global int *out)
{
    local short shared[64];
    shared[L] = (short)L;
    int own[4] = {1, 2, 3, 4};
    barrier(CLK_LOCAL_MEM_FENCE);
    short *s = (L & 1) ? shared + L : (short *)(own + (L & 2));
    *s = (short)(*s + 300);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[I] = shared[63 - L] * 16 + own[0] + own[2];
}

/* ---- Arguments ---- */

#ifdef cl_khr_fp64
struct inner {
    char c[3];
    short s;
};
struct argument {
    int n;
    struct inner in[4];
    double d;
    float f[5];
    long l;
    uchar last;
};

KERNEL void memory_struct_argument(struct argument x, global const int *a, global long *out,
                                   char small, struct inner y)
{
    int k = a[I] & 3;
    out[I] = x.n + x.in[k].c[k % 3] * 10 + x.in[3 - k].s + (long)(x.d * 16) +
             (long)(x.f[k + 1] * 4) + x.l + x.last + small * 1000 + y.s - y.c[2];
}

KERNEL void memory_scalar_arguments(char c, uchar uc, short s, ushort us, int i, uint ui, long l,
                                    ulong ul, float f, double d, half h, float3 f3, uchar4 uc4,
                                    short8 s8, long16 l16, global double *out)
{
    out[I] = (double)c + uc * 2.0 + s + us + i + ui + (double)l + (double)(ul >> 3) + f + d +
             (double)h + f3.z + uc4.w + s8.s5 + (double)l16.sa + (double)I;
}
#endif

KERNEL void memory_null(global const int *a, global const int *none, global int *out,
                        constant float *no_table, global int *nowhere)
{
    int x = a[I];
    if (none)
        x += none[I];
    if (no_table)
        x += (int)no_table[0];
    if (nowhere)
        nowhere[I] = x;
    else
        x ^= 1;
    out[I] = x;
}

/* ---- Vectors at any element ---- */

#define VECTORS(T)                                                                                 \
    KERNEL void memory_vectors_##T(global const T *a, global T *out)                               \
    {                                                                                              \
        global const T *p = a + I * 31;                                                            \
        global T *o = out + I * 33;                                                                \
        vstore2(vload2(0, p + 1), 0, o);                                                           \
        vstore3(vload3(1, p), 0, o + 2);                                                           \
        vstore4(vload4(0, p + 3), 0, o + 5);                                                       \
        vstore8(vload8(1, p + 1).s76543210, 1, o + 1);                                             \
        vstore16(vload16(0, p + 15), 0, o + 17);                                                   \
    }
VECTORS(char)
VECTORS(ushort)
VECTORS(int)
VECTORS(ulong)
VECTORS(float)
#ifdef cl_khr_fp64
VECTORS(double)
#endif
VECTORS(half)

/* Aligned vectors are loaded whole. */
#define ALIGNED(T)                                                                                 \
    KERNEL void memory_aligned_##T(global const T##2 *a, global const T##4 *b,                     \
                                   global const T##8 *c, global T##4 *out)                         \
    {                                                                                              \
        T##8 x = c[I];                                                                             \
        out[2 * I] = (T##4)(a[I], b[I].wx) + x.even;                                               \
        out[2 * I + 1] = x.odd - x.lo;                                                             \
    }
ALIGNED(uchar)
ALIGNED(short)
ALIGNED(uint)
ALIGNED(long)
ALIGNED(float)

KERNEL void memory_scatter(global const uint *a, global uchar *b, global ushort *s, global uint *u,
                           global ulong *l)
{
    uint n = get_global_size(0), k = (uint)(((ulong)I * 5 + 3) % n);
    uint x = a[I];
    b[k * 3] = (uchar)x;
    b[k * 3 + 1] = (uchar)(x >> 9);
    s[k * 3 + 2] = (ushort)x;
    u[k * 2 + 1] = x ^ 0xffff;
    l[k * 2] = (ulong)x * x;
}

/* Fields that lie on no boundary. */
#ifdef cl_khr_fp64
struct __attribute__((packed)) packed {
    uchar tag;
    int value;
    short middle;
    double real;
    long wide;
};

KERNEL void memory_packed(global const struct packed *a, global struct packed *out)
{
    struct packed p = a[I];
    p.value += p.tag;
    p.wide ^= p.middle;
    p.real = p.value * 0.25;
    p.middle = (short)(p.middle * 3);
    out[I] = p;
}
#endif

union bits {
    float f;
    uint u;
    uchar4 c;
    short2 s;
};

KERNEL void memory_unions(global const uint *a, global uint *out)
{
    union bits x;
    x.u = a[I];
    x.c.y ^= x.c.z;
    x.s.y = (short)(x.s.y + x.s.x);
    uint2 both = as_uint2((ulong)x.u << 7);
    out[I] = x.u + as_uint(as_float(x.u & 0x3fffffff) * 1.0f) + both.y + as_uint((ushort2)(1, 2));
}

/* ---- Halves as storage ---- */

KERNEL void memory_load_half(global const half *a, global float *out)
{
    global const half *p = a + I * 16;
    global float *o = out + I * 37;
    o[0] = vload_half(3, p);
    vstore2(vload_half2(1, p + 1), 0, o + 1);
    vstore3(vload_half3(1, p + 2), 0, o + 3);
    vstore4(vload_half4(0, p + 5), 0, o + 6);
    vstore8(vload_half8(1, p), 0, o + 10);
    vstore16(vload_half16(I, a), 0, o + 18);
    float4 aligned = vloada_half4(2, p);
    o[34] = aligned.x + 0.0f;
    o[35] = aligned.w + 0.0f;
    o[36] = vloada_half2(3, p).y;
}

#ifdef cl_khr_fp64
KERNEL void memory_store_half(global const float *a, global const double *b, global half *out)
{
    float x = a[I];
    double y = b[I];
    global half *o = out + I * 32;
    vstore_half(x, 0, o);
    vstore_half_rte(x, 1, o);
    vstore_half_rtz(x, 2, o);
    vstore_half_rtp(x, 3, o);
    vstore_half_rtn(x, 4, o);
    vstore_half_rte(y, 5, o);
    vstore_half_rtz(y, 6, o);
    vstore_half_rtp(y, 7, o);
    vstore_half_rtn(y, 8, o);
    vstore_half4_rtz((float4)(x, -x, x * 3, 1), 0, o + 9);
    vstore_half3_rtp((float3)(x, -x, x * 3), 0, o + 13);
    vstorea_half4_rtn((float4)(x, -x, x * 3, 65504.0f), 4, o);
    vstore_half8((float8)(x, -x, x + 1, x - 1, 0.1f, -0.1f, x * x, 1e-7f), 0, o + 20);
}
#endif

/* ---- Copies by the work-group ---- */

KERNEL void memory_async(global const int *a, global const float2 *b, global int *out)
{
    local int from[64], to[64];
    local float2 pairs[64];
    uint base = get_group_id(0) * 64;
    event_t e = async_work_group_copy(from, a + base, 64, 0);
    e = async_work_group_strided_copy(pairs, b + base * 3, 64, 3, e);
    wait_group_events(1, &e);
    to[L] = from[63 - L] + (int)(pairs[L].x + pairs[(L + 1) & 63].y);
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + base * 3, to, 64, 0);
    event_t f = async_work_group_strided_copy(out + base * 3 + 64, from, 64, 2, 0);
    wait_group_events(1, &e);
    wait_group_events(1, &f);
    prefetch(a + base, 64);
}

/* ---- Pointers in memory ---- */

struct node {
    global struct node *next;
    int value;
};

KERNEL void memory_indirect(global int *out, global struct node *global *heads)
{
    int sum = 0, place = 1;
    for (global struct node *n = heads[I & 7]; n; n = n->next)
        sum += n->value * place++;
    out[I] = sum;
}

/* Addresses further than 4 GB from each other in one allocation. */
KERNEL void memory_far(global uint *out, global uint *a, ulong distance)
{
    global uint *far = a + distance;
    far[I] = a[I] * 3 + 1;
    a[I] = (uint)I;
    far[(long)I - (long)distance] += 5;
    out[I] = far[I] * 2 - a[I];
}
