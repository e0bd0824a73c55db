/* SPDX-License-Identifier: MIT */
/* Arithmetic and conversions of every scalar type. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define T2(n, A, B, e)                                                                             \
    kernel void n(global A *a, global B *b, global A *o) {                                         \
        size_t i = get_global_id(0);                                                               \
        A x = a[i];                                                                                \
        B y = b[i];                                                                                \
        e;                                                                                         \
    }
T2(i_arith, int, int,
   o[i] = x * y + x / y - (x % y) + mul_hi(x, y) + abs_diff(x, y) + rotate(x, y) + clz(x) +
          popcount(y) + mad_hi(x, y, x) + hadd(x, y) + rhadd(x, y) + add_sat(x, y) + sub_sat(x, y) +
          mad24(x, y, 3) + min(x, y) + max(x, y) + (int)abs(x))
T2(u_arith, uint, uint,
   o[i] = x * y + x / y - (x % y) + mul_hi(x, y) + abs_diff(x, y) + rotate(x, y) + clz(x) +
          popcount(y) + hadd(x, y) + rhadd(x, y) + add_sat(x, y) + sub_sat(x, y) + mad24(x, y, 3u) +
          min(x, y) + max(x, y))
T2(l_arith, long, long,
   o[i] = x * y + x / y - (x % y) + mul_hi(x, y) + abs_diff(x, y) + rotate(x, y) + clz(x) +
          popcount(y) + hadd(x, y) + rhadd(x, y) + add_sat(x, y) + sub_sat(x, y) + min(x, y) +
          max(x, y) + (x << (y & 63)) + (x >> (y & 31)))
T2(ul_arith, ulong, ulong,
   o[i] = x * y + x / y - (x % y) + mul_hi(x, y) + rotate(x, y) + clz(x) + popcount(y) +
          hadd(x, y) + add_sat(x, y) + sub_sat(x, y) + min(x, y) + max(x, y))
T2(s_arith, short, short,
   o[i] = x * y + x / (y | 1) - (x % (y | 1)) + mul_hi(x, y) + abs_diff(x, y) + rotate(x, y) +
          clz(x) + popcount(y) + hadd(x, y) + rhadd(x, y) + add_sat(x, y) + sub_sat(x, y) +
          min(x, y) + max(x, y) + abs(x))
T2(us_arith, ushort, ushort,
   o[i] = x * y + x / (y | 1) + mul_hi(x, y) + add_sat(x, y) + sub_sat(x, y) + min(x, y) +
          max(x, y))
T2(c_arith, char, char,
   o[i] = x * y + x / (y | 1) + mul_hi(x, y) + add_sat(x, y) + sub_sat(x, y) + min(x, y) +
          max(x, y) + abs(x) + popcount(y) + clz(x) + rotate(x, y))
T2(uc_arith, uchar, uchar,
   o[i] = x * y + x / (y | 1) + mul_hi(x, y) + add_sat(x, y) + sub_sat(x, y) + min(x, y) +
          max(x, y))
T2(f_arith, float, float,
   o[i] = x * y + x / y + fma(x, y, x) + fmod(x, y) + fmin(x, y) + fmax(x, y) + floor(x) + ceil(y) +
          rint(x) + trunc(y) + round(x) + sqrt(x) + rsqrt(y) + fabs(x) + copysign(x, y) +
          ldexp(x, 3) + mix(x, y, 0.3f) + step(x, y) + smoothstep(x, y, x) + clamp(x, 0.f, 1.f) +
          sign(x) + fract(x, &y) + hypot(x, y) + nextafter(x, y))
T2(f_math, float, float,
   o[i] = sin(x) + cos(y) + tan(x) + exp(x) + log(y) + pow(x, y) + exp2(x) + log2(y) + asin(x) +
          atan2(x, y) + cbrt(x) + erf(x) + tgamma(y) + sinh(x) + powr(x, y) + exp10(x) + log10(x) +
          log1p(x) + expm1(y) + acos(x) + lgamma(x))
T2(f_native, float, float,
   o[i] = native_sin(x) + native_cos(y) + native_exp(x) + native_log(y) + native_powr(x, y) +
          native_recip(x) + native_rsqrt(y) + native_sqrt(x) + native_divide(x, y) + half_sin(x))
T2(d_arith, double, double,
   o[i] = x * y + x / y + fma(x, y, x) + fmod(x, y) + fmin(x, y) + fmax(x, y) + floor(x) + ceil(y) +
          rint(x) + trunc(y) + round(x) + sqrt(x) + rsqrt(y) + fabs(x) + copysign(x, y) +
          ldexp(x, 3))
T2(d_math, double, double, o[i] = sin(x) + exp(x) + log(y) + pow(x, y))
T2(h_arith, half, half,
   o[i] = x * y + x / y + fma(x, y, x) + fmin(x, y) + fmax(x, y) + floor(x) + ceil(y) + rint(x) +
          trunc(y) + sqrt(x) + fabs(x) + exp(x) + log(y) + sin(x) + pow(x, y) +
          clamp(x, (half)0, (half)1))
#define CV(n, A, B)                                                                                \
    kernel void n(global A *a, global B *o) {                                                      \
        size_t i = get_global_id(0);                                                               \
        o[i * 8 + 0] = convert_##B(a[i]);                                                          \
        o[i * 8 + 1] = convert_##B##_sat(a[i]);                                                    \
    }
#define CVR(n, A, B)                                                                               \
    kernel void n(global A *a, global B *o) {                                                      \
        size_t i = get_global_id(0);                                                               \
        o[i * 8 + 2] = convert_##B##_rte(a[i]);                                                    \
        o[i * 8 + 3] = convert_##B##_rtz(a[i]);                                                    \
        o[i * 8 + 4] = convert_##B##_rtp(a[i]);                                                    \
        o[i * 8 + 5] = convert_##B##_rtn(a[i]);                                                    \
    }
CV(cfi, float, int)
CV(cfu, float, uint) CV(cfs, float, short) CV(cfc, float, char) CV(cfuc, float, uchar)
    CV(cfl, float, long) CV(cful, float, ulong) CV(cdi, double, int) CV(cdl, double, long)
        CV(cduc, double, uchar) CV(cil, int, long) CV(clc, long, char) CV(culs, ulong, short)
            CV(csuc, short, uchar) CV(cuic, uint, char) CV(chi, half, int) CV(chl, half, long)
                CV(ciuc, int, uchar) CV(ciui, int, uint) CVR(rif, int, float) CVR(rlf, long, float)
                    CVR(rulf, ulong, float) CVR(ruif, uint, float) CVR(rdf, double, float)
                        CVR(rld, long, double) CVR(rfi, float, int) CVR(rfl, float, long)
                            CVR(rdi, double, int) CVR(rfh, float, half) CVR(rdh, double, half)
                                CVR(rih, int, half) CVR(rhf, half, float) CVR(rfd, float, double)
