/* SPDX-License-Identifier: MIT */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SIZED __attribute__((intel_reqd_sub_group_size(16))) kernel

/* ---- Products of matrices whose blocks have scales ---- */

#define PRODUCT(name, S, scale, call)                                                              \
    SIZED void xe3p_product_##name(global const S *sum, global const short8 *a,                    \
                                   global const int8 *b, global const scale *of_a,                 \
                                   global const scale *of_b, global S *out)                        \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        out[i] = call(a[i], b[i], sum[i], of_a[i], of_b[i]);                                       \
    }
PRODUCT(bf, float8, uchar, intel_sub_group_bf16_bf16_scaled_matrix_mad_k16)
PRODUCT(bf_bf, short8, uchar, intel_sub_group_bf16_bf16_scaled_matrix_mad_k16)
PRODUCT(hf, float8, uchar, intel_sub_group_f16_f16_scaled_matrix_mad_k16)
PRODUCT(hf8_bf8, float8, uchar, intel_sub_group_hf8_bf8_scaled_matrix_mad_k32)
PRODUCT(bf8_hf8, float8, uchar, intel_sub_group_bf8_hf8_scaled_matrix_mad_k32)
PRODUCT(hf8_bf, short8, uchar, intel_sub_group_hf8_hf8_scaled_matrix_mad_k32)
PRODUCT(e2m1, float8, uchar2, intel_sub_group_e2m1_e2m1_scaled_matrix_mad_k64)

/* ---- Numbers of four bits ---- */

uint intel_downscale_as_bf16_i4_mode_0(short2, short2);
uint intel_downscale_as_bf16_e2m1_mode_1(short2, short2);
uint intel_downscale_i4_mode_2(half2, half2);
uint intel_downscale_e2m1_mode_3(half2, half2);
SIZED void xe3p_down(global const uint *a, global const uint *b, global uint4 *out)
{
    size_t i = get_global_id(0);
    out[i] = (uint4)(intel_downscale_as_bf16_i4_mode_0(as_short2(a[i]), as_short2(b[i])),
                     intel_downscale_as_bf16_e2m1_mode_1(as_short2(a[i]), as_short2(b[i])),
                     intel_downscale_i4_mode_2(as_half2(a[i]), as_half2(b[i])),
                     intel_downscale_e2m1_mode_3(as_half2(a[i]), as_half2(b[i])));
}

SIZED void xe3p_up(global const uchar *a, global uint *two, global uchar2 *bytes)
{
    size_t i = get_global_id(0);
    two[i] = intel_convert_as_e2m12_bfloat162_as_uint_packed(a[i]);
    bytes[i] = intel_convert_as_i42_bfloat82_as_uchar2((char2)(a[i], a[i] >> 4));
}

char8 __builtin_IB_srnd_hftobf8_8(half8 x, char8 numbers);
SIZED void xe3p_srnd(global const ushort8 *a, global const char8 *numbers, global char8 *out)
{
    size_t i = get_global_id(0);
    out[i] = __builtin_IB_srnd_hftobf8_8(as_half8(a[i]), numbers[i]);
}

/* ---- More registers than 256 ---- */

#define MANY 300
SIZED void xe3p_many(global const int *a, global int *out)
{
    int v[MANY];
    size_t i = get_global_id(0);
    __attribute__((opencl_unroll_hint(MANY)))
    for (int k = 0; k < MANY; k++)
        v[k] = a[i * MANY + k];
    for (int round = 0; round < 3; round++) {
        __attribute__((opencl_unroll_hint(MANY)))
        for (int k = 0; k < MANY; k++)
            v[k] = v[k] * 3 + v[(k * 7 + 151) % MANY];
    }
    __attribute__((opencl_unroll_hint(MANY)))
    for (int k = 0; k < MANY; k++)
        out[i * MANY + k] = v[k];
}
