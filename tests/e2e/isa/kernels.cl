/* SPDX-License-Identifier: MIT */
/* Kernels that make the compiler use many kinds of instructions. */

__kernel void saxpy(__global float *y, __global const float *x, float a)
{
    size_t i = get_global_id(0);
    y[i] += a * x[i];
}

__kernel void control(__global int *out, __global const int *in, int n)
{
    int i = get_global_id(0), s = 0;
    for (int j = 0; j < n; j++) {
        int v = in[(i + j) & 1023];
        if (v < 0)
            continue;
        if (v == 77)
            break;
        int k = v & 7;
        while (k-- > 0)
            s += (v >> k) * j;
        switch (v & 3) {
        case 0: s ^= v; break;
        case 1: s += 3; break;
        default: s = s * 5 + v; break;
        }
    }
    out[i] = s;
}

__kernel void local_sum(__global int *out, __global const int *in, __local int *scratch)
{
    int l = get_local_id(0), n = get_local_size(0);
    scratch[l] = in[get_global_id(0)];
    for (int step = n / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step)
            scratch[l] += scratch[l + step];
    }
    if (l == 0)
        atomic_add(out, scratch[0]);
}

__kernel void atomics(__global int *a, __global uint *b, volatile __local int *l)
{
    int i = get_global_id(0);
    atomic_inc(&a[0]);
    atomic_max(&a[1], i);
    atomic_min(&b[2], (uint)i);
    atomic_cmpxchg(&a[3], 0, i);
    a[i + 8] = atomic_xchg(&a[4], i) + atomic_sub(&l[0], 2) + atomic_or(&a[5], i);
}

__kernel void types(__global char *c, __global short *s, __global long *q, __global half *h,
                    __global float4 *v, __global ushort *u)
{
    int i = get_global_id(0);
    c[i] = convert_char_sat(s[i]);
    s[i] = (short)(c[i + 1] * 3);
    q[i] = q[i + 1] * 7 + (q[i] >> 3);
    float f = vload_half(i, h);
    vstore_half(f * 2.0f, i, h);
    v[i] = v[i + 2].wzyx * f;
    u[i] = rotate(u[i], (ushort)3);
}

__kernel void maths(__global float *a, __global int *b)
{
    int i = get_global_id(0);
    float x = a[i];
    a[i] = sin(x) + native_exp(x) + sqrt(x) / (x + 1.0f) + pow(x, 1.7f) + fmin(x, 2.0f);
    b[i] = b[i] / 7 + b[i + 1] % (b[i + 2] | 1) + popcount(b[i]) + clz(b[i]) + mul_hi(b[i], 77);
}

__kernel void private_array(__global int *out, __global const int *in)
{
    int t[40];
    int i = get_global_id(0);
    for (int j = 0; j < 40; j++)
        t[j] = in[i * 40 + j];
    for (int j = 0; j < 40; j++)
        t[in[j] % 40] += t[(j * 7) % 40];
    out[i] = t[in[i] % 40];
}

#ifndef NO_IMAGES /* pvc has none */
__kernel void images(__read_only image2d_t src, __write_only image2d_t dst, sampler_t smp)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 a = read_imagef(src, smp, (float2)(p.x + 0.5f, p.y * 0.25f));
    float4 b = read_imagef(src, p);
    write_imagef(dst, p, a + b);
}
#endif

__attribute__((noinline)) int helper(int a, int b)
{
    return a < b ? a * b : a - b;
}

__kernel void calls(__global int *out, __global const int *in)
{
    int i = get_global_id(0);
    out[i] = helper(in[i], i);
    if (in[i] > 3)
        out[i] += helper(i, in[i + 1]);
    printf("%d %f\n", out[i], 1.5f);
}
