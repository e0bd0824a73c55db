/* SPDX-License-Identifier: MIT */
/* Control flow, calls, local memory, atomics, images, sub-groups. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
kernel void loops(global int *a, global int *o, int n) {
    int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        int v = a[i + k];
        if (v == 0)
            continue;
        if (v < 0)
            break;
        switch (v & 7) {
        case 0:
            s += v;
            break;
        case 1:
            s *= 3;
        case 2:
            s -= v;
            break;
        case 3: {
            int j = 0;
            while (a[j] > s && j < 50)
                j++;
            s += j;
            break;
        }
        case 5:
            s ^= v;
            break;
        default:
            s += 2;
        }
        do {
            s++;
            if (s > 1000)
                goto out;
        } while ((s & 3) != 0);
    }
out:
    o[i] = s;
}
kernel void nested(global float *a, global float *o, int n) {
    int i = get_global_id(0);
    float s = 0;
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            float v = a[y * n + x];
            if (v > s) {
                s += v;
                if (s > 100.f)
                    return;
            } else if (v < -1.f) {
                s -= v;
            } else {
                for (int z = 0; z < (int)v; z++)
                    s += z * v;
            }
        }
    }
    o[i] = s;
}
kernel void bar(global int *a, local int *l) {
    int li = get_local_id(0);
    l[li] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (li < s)
            l[li] += l[li + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (li == 0)
        a[get_group_id(0)] = l[0];
}
kernel void priv(global int *a, global int *idx) {
    int p[64];
    int i = get_global_id(0);
    for (int k = 0; k < 64; k++)
        p[k] = a[i * 64 + k];
    for (int k = 0; k < 100; k++) {
        int j = idx[k] & 63;
        p[j] += p[(j + k) & 63];
    }
    for (int k = 0; k < 64; k++)
        a[i * 64 + k] = p[k];
}
kernel void atom(global int *a, global long *b, local int *l) {
    int i = get_global_id(0);
    atomic_add(a + i, i);
    atomic_inc(a);
    atomic_max(a + 1, i);
    atomic_cmpxchg(a + 2, i, i + 1);
    atom_add(b, (long)i);
    atomic_xchg(a + 3, i);
    atomic_or(l, i);
    atomic_sub(l + 1, i);
}
kernel void sg(global int *a) {
    int x = a[get_global_id(0)];
    x += sub_group_reduce_add(x);
    x += sub_group_scan_exclusive_add(x);
    x ^= intel_sub_group_shuffle(x, x & 7);
    x += intel_sub_group_shuffle_up(x, x, 1);
    x += sub_group_broadcast(x, 3);
    x += sub_group_any(x > 3) + sub_group_all(x > 2);
    a[get_global_id(0)] = x + get_sub_group_local_id();
}
__attribute__((intel_reqd_sub_group_size(8))) kernel void sg8(global int *a) {
    int x = a[get_global_id(0)];
    x += sub_group_reduce_max(x);
    x ^= intel_sub_group_shuffle(x, x & 7);
    a[get_global_id(0)] = x;
}
__attribute__((intel_reqd_sub_group_size(32))) kernel void sg32(global int *a, int n) {
    int x = a[get_global_id(0)];
    for (int i = 0; i < n; i++) {
        if (x & 1)
            x = x * 3 + 1;
        else
            x >>= 1;
        if (x == 1)
            break;
    }
    x += sub_group_reduce_add(x);
    a[get_global_id(0)] = x;
}
__attribute__((intel_reqd_sub_group_size(32))) kernel void f32k(global float *a, int n) {
    float x = a[get_global_id(0)];
    for (int i = 0; i < n; i++) {
        if (x > 1.f)
            x = x * 0.5f;
        else
            x = x * x + 0.3f;
    }
    a[get_global_id(0)] = x + sin(x);
}
kernel void img(read_only image2d_t im, sampler_t s, write_only image2d_t o) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 v = read_imagef(im, s, convert_float2(p));
    write_imagef(o, p, v * 2.f);
}
kernel void vec(global float4 *a, global int4 *b, global uchar16 *c) {
    int i = get_global_id(0);
    float4 v = a[i];
    int4 w = b[i];
    uchar16 q = c[i];
    a[i] = v.wzyx * convert_float4(w);
    b[i] = as_int4(v) ^ w;
    c[i] = q.s0123456789abcdef + (uchar16)3;
}
int f1(int x) { return x * 3 + 1; }
int f2(int x) { return x ^ 0x55; }
__attribute__((noinline)) int big(global int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] > 3)
            s += a[i];
        else
            s -= 1;
    }
    return s;
}
kernel void calls(global int *a, int n) {
    int i = get_global_id(0);
    int r = 0;
    if (a[i] > 5)
        r = big(a, n);
    else
        r = big(a + 1, n / 2);
    a[i] = r;
}
kernel void pf(global int *a) { printf("%d %f\n", a[get_global_id(0)], 1.5f); }
kernel void gen(global int *a, int n, local int *l) {
    int i = get_global_id(0);
    int *p = (i & 1) ? (int *)a : (int *)l;
    p[i] = n;
    a[i + 1] = p[i + 2];
}
kernel void collatz(global ulong *a) {
    ulong x = a[get_global_id(0)];
    int c = 0;
    while (x != 1) {
        x = (x & 1) ? 3 * x + 1 : x >> 1;
        c++;
    }
    a[get_global_id(0)] = c;
}
kernel void mandel(global int *o, int w, float s) {
    int x = get_global_id(0), y = get_global_id(1);
    float cx = x * s - 2.f, cy = y * s - 1.f, zx = 0, zy = 0;
    int k = 0;
    while (zx * zx + zy * zy < 4.f && k < 256) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        k++;
    }
    o[y * w + x] = k;
}
