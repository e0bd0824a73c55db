/* SPDX-License-Identifier: MIT */
/* Systolic multiplications of integers and halves. Rows of `a` are 8 * depth * 4 bytes over the
 * sub-group's lanes: an int a lane in sub-groups of 8, a short in those of 16. */
#ifndef SIMD
#define SIMD 8
#endif
#if SIMD == 8
typedef int a1;
typedef int2 a2;
typedef int4 a4;
typedef int8 a8;
#else
typedef short a1;
typedef short2 a2;
typedef short4 a4;
typedef short8 a8;
#endif
#define KERNEL kernel __attribute__((intel_reqd_sub_group_size(SIMD)))

/* the compiler knows them, but no header declares them */
#define DECLARE(name, type)                                                                        \
    type __attribute__((overloadable)) name(a1, int8, type);                                       \
    type##2 __attribute__((overloadable)) name(a2, int8, type##2);                                 \
    type##4 __attribute__((overloadable)) name(a4, int8, type##4);                                 \
    type##8 __attribute__((overloadable)) name(a8, int8, type##8);
DECLARE(intel_sub_group_i8_i8_matrix_mad_k32, int)
DECLARE(intel_sub_group_f16_f16_matrix_mad_k16, float)
DECLARE(intel_sub_group_bf16_bf16_matrix_mad_k16, float)

KERNEL void ints(global a8 *a, global int8 *b, global int8 *c)
{
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i8_i8_matrix_mad_k32(a[i], b[i], c[i]);
    c[i].lo = intel_sub_group_i8_i8_matrix_mad_k32(a[i].lo, b[i], c[i + 1].lo);
}

KERNEL void few_rows(global a4 *a, global int8 *b, global int4 *c, global float2 *d)
{
    size_t i = get_global_id(0);
    c[i].x = intel_sub_group_i8_i8_matrix_mad_k32(a[i].x, b[i], c[i].y);
    c[i].xy = intel_sub_group_i8_i8_matrix_mad_k32(a[i].xy, b[i], c[i].zw);
    c[i] = intel_sub_group_i8_i8_matrix_mad_k32(a[i], b[i], c[i]);
    d[i] = intel_sub_group_f16_f16_matrix_mad_k16(a[i].xy, b[i], d[i]);
}

KERNEL void long_sum(global a8 *a, global int8 *b, global float8 *c)
{
    float8 sum0 = 0, sum1 = 0, sum2 = 0;
    for (int i = 0; i < 64; i++) {
        sum0 = intel_sub_group_f16_f16_matrix_mad_k16(a[i], b[i], sum0);
        sum1 = intel_sub_group_f16_f16_matrix_mad_k16(a[i + 64], b[i], sum1);
        sum2 = intel_sub_group_bf16_bf16_matrix_mad_k16(a[i + 128], b[i], sum2);
    }
    c[get_global_id(0)] = sum0 + sum1 * sum2;
}
