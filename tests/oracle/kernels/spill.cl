/* SPDX-License-Identifier: MIT */
/* More values than registers: scratch reads and writes, and calls. */
#ifndef SIMD
#define SIMD 16
#endif
#define KERNEL kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

KERNEL void spill_floats(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float16 v[12];
    for (int k = 0; k < 12; k++)
        v[k] = vload16(k, in + i * 192);
    for (int n = 0; n < 4; n++)
        for (int k = 0; k < 12; k++)
            v[k] = v[k] * v[(k + 5) % 12] + v[(k + 7) % 12].s0123456789abcdef;
    for (int k = 0; k < 12; k++)
        vstore16(native_sin(v[k]), k, out + i * 192);
}

KERNEL void spill_longs(global const long *in, global long *out)
{
    size_t i = get_global_id(0);
    long16 a = vload16(0, in + i), b = vload16(1, in + i), c = vload16(2, in + i), d = a * b + c;
    for (int n = 0; n < 9; n++) {
        a = (a << 3) ^ d * b;
        b = b / (c | 1) + a;
        c = c - a * b;
        d = max(d, a) + (c >> 7);
    }
    vstore16(a + b + c + d, 0, out + i * 16);
}

__attribute__((noinline)) int fold(global const int *in, int depth, int seed)
{
    if (depth <= 0)
        return seed + in[seed & 63];
    return fold(in, depth - 1, seed * 31 + in[depth]) ^ fold(in, depth - 2, seed + 7);
}

KERNEL void calls(global const int *in, global int *out)
{
    out[get_global_id(0)] = fold(in, in[get_global_id(0)] & 7, 3);
}
