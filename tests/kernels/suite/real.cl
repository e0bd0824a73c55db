/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)

/* Single precision: operations, modifiers, rounding, conversions, built-in functions. */

KERNEL void real_basic(global const float *a, global const float *b, global const float *c,
                       global float *out)
{
    float x = a[I], y = b[I], z = c[I];
    global float *o = out + I * 16;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = fma(x, y, z);
    o[4] = -fabs(x) + fabs(y);
    o[5] = fmin(x, y);
    o[6] = fmax(x, y);
    o[7] = clamp(x, 0.0f, 1.0f);
    o[8] = copysign(x, y);
    o[9] = fma(-x, fabs(y), -z);
    o[10] = x < y ? z : -x;
    o[11] = select(x, y, isless(x, z));
    o[12] = step(x, y);
    o[13] = sign(x);
    o[14] = fdim(x, y);
    o[15] = x == x ? 1.0f : 2.0f;
}

KERNEL void real_round(global const float *a, global float *out)
{
    float x = a[I];
    global float *o = out + I * 5;
    o[0] = floor(x);
    o[1] = ceil(x);
    o[2] = trunc(x);
    o[3] = rint(x);
    o[4] = round(x);
}

/* With -cl-fp32-correctly-rounded-divide-sqrt. */
KERNEL void real_divide(global const float *a, global const float *b, global float *out)
{
    float x = a[I], y = b[I];
    out[3 * I] = x / y;
    out[3 * I + 1] = sqrt(fabs(x));
    out[3 * I + 2] = 1.0f / y;
}

KERNEL void real_compare(global const float *a, global const float *b, global int *out)
{
    float x = a[I], y = b[I];
    global int *o = out + I * 12;
    o[0] = isequal(x, y);
    o[1] = isnotequal(x, y);
    o[2] = isgreater(x, y);
    o[3] = islessequal(x, y);
    o[4] = islessgreater(x, y);
    o[5] = isunordered(x, y);
    o[6] = isnan(x) + 2 * isinf(y);
    o[7] = isfinite(x) + 2 * isnormal(y);
    o[8] = signbit(x) != 0;
    o[9] = ilogb(x);
    o[10] = (x > y) | (x <= y) << 1 | (x != y) << 2 | !(x < y) << 3;
    o[11] = as_int(x) ^ (y > 0.0f ? 0x55 : 0);
}

#define TO_INT(T)                                                                                  \
    KERNEL void real_to_##T(global const float *a, global T *out)                                  \
    {                                                                                              \
        float x = a[I];                                                                            \
        global T *o = out + I * 5;                                                                 \
        o[0] = convert_##T##_sat(x);                                                               \
        o[1] = convert_##T##_sat_rte(x);                                                           \
        o[2] = convert_##T##_sat_rtp(x);                                                           \
        o[3] = convert_##T##_sat_rtn(x);                                                           \
        o[4] = convert_##T##_sat_rtz(x);                                                           \
    }
TO_INT(char)
TO_INT(uchar)
TO_INT(short)
TO_INT(ushort)
TO_INT(int)
TO_INT(uint)
TO_INT(long)
TO_INT(ulong)

#define FROM_INT(T)                                                                                \
    KERNEL void real_from_##T(global const T *a, global float *out)                                \
    {                                                                                              \
        T x = a[I];                                                                                \
        global float *o = out + I * 4;                                                             \
        o[0] = convert_float(x);                                                                   \
        o[1] = convert_float_rtp(x);                                                               \
        o[2] = convert_float_rtn(x);                                                               \
        o[3] = convert_float_rtz(x);                                                               \
    }
FROM_INT(char)
FROM_INT(uchar)
FROM_INT(short)
FROM_INT(ushort)
FROM_INT(int)
FROM_INT(uint)
FROM_INT(long)
FROM_INT(ulong)

#define MATH1(f)                                                                                   \
    KERNEL void math_##f(global const float *a, global float *out) { out[I] = f(a[I]); }
#define MATH2(f)                                                                                   \
    KERNEL void math_##f(global const float *a, global const float *b, global float *out)          \
    {                                                                                              \
        out[I] = f(a[I], b[I]);                                                                    \
    }
MATH1(sin)
MATH1(cos)
MATH1(tan)
MATH1(asin)
MATH1(acos)
MATH1(atan)
MATH1(sinh)
MATH1(cosh)
MATH1(tanh)
MATH1(exp)
MATH1(exp2)
MATH1(exp10)
MATH1(expm1)
MATH1(log)
MATH1(log2)
MATH1(log10)
MATH1(log1p)
MATH1(cbrt)
MATH1(rsqrt)
MATH1(erf)
MATH1(erfc)
MATH1(tgamma)
MATH1(native_sin)
MATH1(native_cos)
MATH1(native_exp)
MATH1(native_log)
MATH1(native_sqrt)
MATH1(native_rsqrt)
MATH1(native_recip)
MATH2(pow)
MATH2(atan2)
MATH2(hypot)
MATH2(fmod)
MATH2(remainder)
MATH2(nextafter)
MATH2(native_divide)
MATH2(native_powr)

KERNEL void math_parts(global const float *a, global float *out, global int *whole)
{
    float x = a[I], part;
    int e;
    out[6 * I] = modf(x, &part);
    out[6 * I + 1] = part;
    out[6 * I + 2] = frexp(x, &e);
    whole[I] = e;
    out[6 * I + 3] = ldexp(x, (int)I % 40 - 20);
    out[6 * I + 4] = fract(x, &part);
    out[6 * I + 5] = logb(x);
}

KERNEL void math_vectors(global const float *a, global const float *b, global float *out)
{
    float4 x = vload4(I, a), y = vload4(I, b);
    float3 c = cross(x.xyz, y.xyz);
    out[7 * I] = dot(x, y);
    out[7 * I + 1] = c.x;
    out[7 * I + 2] = c.y;
    out[7 * I + 3] = c.z;
    out[7 * I + 4] = length(x);
    out[7 * I + 5] = distance(x.xy, y.zw);
    out[7 * I + 6] = mix(x.x, y.y, 0.25f) + smoothstep(-5.0f, 5.0f, x.z);
}
