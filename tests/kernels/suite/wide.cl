/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)

/* Double precision. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

KERNEL void wide_basic(global const double *a, global const double *b, global const double *c,
                       global double *out)
{
    double x = a[I], y = b[I], z = c[I];
    global double *o = out + I * 16;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = fma(x, y, z);
    o[4] = x / y;
    o[5] = sqrt(fabs(x));
    o[6] = fmin(x, y);
    o[7] = fmax(x, -y);
    o[8] = floor(x);
    o[9] = ceil(x);
    o[10] = trunc(x);
    o[11] = rint(x);
    o[12] = x < y ? z : -x;
    o[13] = fabs(x) + (x == y);
    o[14] = copysign(x, y);
    o[15] = 1.0 / z;
}

KERNEL void wide_to_others(global const double *a, global float *f, global int *i, global uint *u,
                           global long *l, global short *s)
{
    double x = a[I];
    f[4 * I] = convert_float(x);
    f[4 * I + 1] = convert_float_rtp(x);
    f[4 * I + 2] = convert_float_rtn(x);
    f[4 * I + 3] = convert_float_rtz(x);
    i[2 * I] = convert_int(x);
    i[2 * I + 1] = convert_int_rte(x);
    u[I] = convert_uint_sat(x);
    l[2 * I] = convert_long(x * 1e9);
    l[2 * I + 1] = convert_long_rtn(x);
    s[I] = convert_short_sat_rtp(x);
}

KERNEL void wide_from_others(global const float *f, global const int *i, global const uint *u,
                             global const long *l, global const uchar *c, global double *out)
{
    out[5 * I] = f[I];
    out[5 * I + 1] = i[I];
    out[5 * I + 2] = u[I];
    out[5 * I + 3] = l[I];
    out[5 * I + 4] = c[I];
}

KERNEL void wide_functions(global const double *a, global double *out)
{
    double x = a[I];
    global double *o = out + I * 8;
    o[0] = exp(x);
    o[1] = log(x);
    o[2] = sin(x);
    o[3] = cos(x);
    o[4] = pow(x, 1.5);
    o[5] = atan(x);
    o[6] = cbrt(x);
    o[7] = tanh(x);
}

KERNEL void wide_dot(global const double *a, global const double *b, global double *out, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum = fma(a[k * get_global_size(0) + I], b[k], sum);
    out[I] = sum;
}
