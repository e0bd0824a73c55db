/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)

/* Half precision. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

KERNEL void half_basic(global const half *a, global const half *b, global const half *c,
                       global half *out)
{
    half x = a[I], y = b[I], z = c[I];
    global half *o = out + I * 12;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = fma(x, y, z);
    o[4] = fabs(x) - fabs(y);
    o[5] = fmin(x, y);
    o[6] = fmax(x, -y);
    o[7] = floor(x);
    o[8] = ceil(x);
    o[9] = rint(x);
    o[10] = x < y ? z : x;
    o[11] = clamp(x, (half)0, (half)1);
}

KERNEL void half_functions(global const half *a, global half *out)
{
    half x = a[I];
    out[5 * I] = sqrt(x);
    out[5 * I + 1] = exp2(x);
    out[5 * I + 2] = log2(x);
    out[5 * I + 3] = sin(x);
    out[5 * I + 4] = (half)1 / x;
}

KERNEL void half_from_float(global const float *a, global half *out)
{
    float x = a[I];
    out[4 * I] = convert_half(x);
    out[4 * I + 1] = convert_half_rtp(x);
    out[4 * I + 2] = convert_half_rtn(x);
    out[4 * I + 3] = convert_half_rtz(x);
}

KERNEL void half_to_others(global const half *a, global float *f, global int *i, global short *s,
                           global uchar *u)
{
    half x = a[I];
    f[I] = convert_float(x);
    i[I] = convert_int_rte(x);
    s[I] = convert_short_sat(x);
    u[I] = convert_uchar_sat_rte(x);
}

KERNEL void half_from_int(global const int *a, global const short *b, global half *out)
{
    out[2 * I] = convert_half(a[I] >> 16);
    out[2 * I + 1] = convert_half(b[I]);
}

KERNEL void half_storage(global const half *a, global float *out, global half *back)
{
    float4 v = vload_half4(I, a);
    out[I] = v.x + v.y * 2 + v.z * 4 + v.w * 8;
    vstore_half4(v * 0.5f, I, back);
}

KERNEL void half_vectors(global const half *a, global const half *b, global half *out)
{
    half8 x = vload8(I, a), y = vload8(I, b);
    x.even = x.even * y.odd;
    vstore8(x + y.s76543210, I, out);
}
