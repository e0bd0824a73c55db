/* SPDX-License-Identifier: MIT */
/*
 * Products of matrices on systolic arrays: a sub-group of LANES items multiplies rows of `a` with LANES columns
 * of `b`. A dword of `b` has the elements that one lane multiplies in one step of the depth, which is 8.
 */
#ifndef LANES
#define LANES 8
#endif
#define KERNEL kernel __attribute__((intel_reqd_sub_group_size(LANES)))
#define ANY    __attribute__((overloadable))

/* A row of 32, 16 or 8 bytes over the lanes. */
#if LANES == 8
typedef int row;
typedef int2 row2;
typedef int4 row4;
typedef int8 row8;
typedef short8 half_row8;
typedef char8 quarter_row8;
#else
typedef short row;
typedef short2 row2;
typedef short4 row4;
typedef short8 row8;
typedef char8 half_row8;
#endif

/* The compiler knows them, but no header declares them. */
float ANY intel_sub_group_f16_f16_matrix_mad_k16(row, int8, float);
float2 ANY intel_sub_group_f16_f16_matrix_mad_k16(row2, int8, float2);
float4 ANY intel_sub_group_f16_f16_matrix_mad_k16(row4, int8, float4);
float8 ANY intel_sub_group_f16_f16_matrix_mad_k16(row8, int8, float8);
float8 ANY intel_sub_group_bf16_bf16_matrix_mad_k16(row8, int8, float8);
int ANY intel_sub_group_i8_i8_matrix_mad_k32(row, int8, int);
int2 ANY intel_sub_group_i8_i8_matrix_mad_k32(row2, int8, int2);
int4 ANY intel_sub_group_i8_i8_matrix_mad_k32(row4, int8, int4);
int8 ANY intel_sub_group_i8_i8_matrix_mad_k32(row8, int8, int8);
#if LANES == 8
typedef uint8 urow8;
#else
typedef ushort8 urow8;
#endif
int8 ANY intel_sub_group_i8_u8_matrix_mad_k32(row8, uint8, int8);
int8 ANY intel_sub_group_u8_i8_matrix_mad_k32(urow8, int8, int8);
int8 ANY intel_sub_group_u8_u8_matrix_mad_k32(urow8, uint8, int8);
int8 ANY intel_sub_group_i4_i4_matrix_mad_k64(row8, int8, int8);
int8 ANY intel_sub_group_u4_u4_matrix_mad_k64(urow8, uint8, int8);

/* C += A * B along `steps` times the depth; A of a tile is 8 rows of `steps` pieces. */
#define GEMM(name, A, B, BN, C, mad)                                                               \
    KERNEL void name(global const A *a, global const B *b, global C *c, int steps)                 \
    {                                                                                              \
        size_t lane = get_global_id(0) % LANES, tile = get_global_id(0) / LANES;                   \
        C##8 sum;                                                                                  \
        C *sums = (C *)&sum;                                                                       \
        for (int r = 0; r < 8; r++)                                                                \
            sums[r] = c[(tile * 8 + r) * LANES + lane];                                            \
        for (int s = 0; s < steps; s++) {                                                          \
            A##8 x;                                                                                \
            B##BN y;                                                                               \
            for (int r = 0; r < 8; r++)                                                            \
                ((A *)&x)[r] = a[((tile * 8 + r) * steps + s) * LANES + lane];                     \
            for (int d = 0; d < BN; d++)                                                           \
                ((B *)&y)[d] = b[(s * BN + d) * LANES + lane];                                     \
            sum = mad;                                                                             \
        }                                                                                          \
        for (int r = 0; r < 8; r++)                                                                \
            c[(tile * 8 + r) * LANES + lane] = sums[r];                                            \
    }
typedef unsigned int u32;
typedef uint8 u328;
#if LANES == 16
typedef ushort urow;
#else
typedef uint urow;
#endif

GEMM(gemm_f16, row, int, 8, float, intel_sub_group_f16_f16_matrix_mad_k16(x, y, sum))
GEMM(gemm_bf16, row, int, 8, float, intel_sub_group_bf16_bf16_matrix_mad_k16(x, y, sum))
GEMM(gemm_s8_s8, row, int, 8, int, intel_sub_group_i8_i8_matrix_mad_k32(x, y, sum))
GEMM(gemm_s8_u8, row, uint, 8, int, intel_sub_group_i8_u8_matrix_mad_k32(x, y, sum))
GEMM(gemm_u8_s8, urow, int, 8, int, intel_sub_group_u8_i8_matrix_mad_k32(x, y, sum))
GEMM(gemm_u8_u8, urow, uint, 8, int, intel_sub_group_u8_u8_matrix_mad_k32(x, y, sum))
GEMM(gemm_s4_s4, row, int, 8, int, intel_sub_group_i4_i4_matrix_mad_k64(x, y, sum))
GEMM(gemm_u4_u4, urow, uint, 8, int, intel_sub_group_u4_u4_matrix_mad_k64(x, y, sum))

/* Few rows; the results of one are the sums of the next. */
KERNEL void few_rows(global const row *a, global const int8 *b, global int4 *c, global float4 *d)
{
    size_t i = get_global_id(0);
    int4 x = c[i];
    float4 y = d[i];
    row2 two = (row2)(a[4 * i], a[4 * i + 1]);
    row4 four = (row4)(a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3]);
    x.x = intel_sub_group_i8_i8_matrix_mad_k32(a[4 * i], b[i], x.y);
    x.xy = intel_sub_group_i8_i8_matrix_mad_k32(two, b[i], x.zw);
    c[i] = intel_sub_group_i8_i8_matrix_mad_k32(four, b[i], x);
    y.x = intel_sub_group_f16_f16_matrix_mad_k16(a[4 * i], b[i], y.y);
    y.xy = intel_sub_group_f16_f16_matrix_mad_k16(two, b[i], y.zw);
    d[i] = intel_sub_group_f16_f16_matrix_mad_k16(four, b[i], y);
}

/* Nothing is added: src0 is null or zeros. */
KERNEL void no_sum(global const row8 *a, global const int8 *b, global int8 *c)
{
    size_t i = get_global_id(0);
    c[i] = intel_sub_group_i8_i8_matrix_mad_k32(a[i], b[i], (int8)(0));
}

short ANY intel_convert_f32_to_bf16(float);
short4 ANY intel_convert_f32_to_bf16(float4);
float ANY intel_convert_bf16_to_f32(short);

kernel void bf16_convert(global const float *a, global const short *b, global short *c,
                         global short4 *d, global float *e)
{
    size_t i = get_global_id(0);
    c[i] = intel_convert_f32_to_bf16(a[i]);
    d[i] = intel_convert_f32_to_bf16((float4)(a[i], -a[i], a[i] * 3, a[i] + 1));
    e[i] = intel_convert_bf16_to_f32(b[i]);
}

#if LANES == 8
/* Elements of different widths, by the compiler's own names: a's, then b's. */
int8 __builtin_IB_sub_group_idpas_s4_s8_8_8(int8, short8, int8);
int8 __builtin_IB_sub_group_idpas_s2_u8_8_8(int8, char8, int8);
int8 __builtin_IB_sub_group_idpas_s8_u4_8_8(int8, int8, int4);
int8 __builtin_IB_sub_group_idpas_u8_s2_8_8(int8, int8, int2);
int8 __builtin_IB_sub_group_idpas_s2_s2_8_8(int8, short8, int4);
int8 __builtin_IB_sub_group_idpas_u2_s4_8_8(int8, short8, int8);
GEMM(gemm_s4_s8, short, int, 8, int, __builtin_IB_sub_group_idpas_s4_s8_8_8(sum, x, y))
GEMM(gemm_s2_u8, char, int, 8, int, __builtin_IB_sub_group_idpas_s2_u8_8_8(sum, x, y))
GEMM(gemm_s8_u4, int, int, 4, int, __builtin_IB_sub_group_idpas_s8_u4_8_8(sum, x, y))
GEMM(gemm_u8_s2, int, int, 2, int, __builtin_IB_sub_group_idpas_u8_s2_8_8(sum, x, y))
GEMM(gemm_s2_s2, short, int, 4, int, __builtin_IB_sub_group_idpas_s2_s2_8_8(sum, x, y))
GEMM(gemm_u2_s4, short, int, 8, int, __builtin_IB_sub_group_idpas_u2_s4_8_8(sum, x, y))

/* Two sub-groups have half of the rows each and columns of their own. */
int8 ANY intel_sub_group_i8_i8_split_matrix_mad_k32(int4, int8, int8);
float8 ANY intel_sub_group_f16_f16_split_matrix_mad_k16(int4, int8, float8);

KERNEL void split_s8(global const int4 *a, global const int8 *b, global int8 *c)
{
    size_t i = get_global_id(0);
    for (int k = 0; k < 3; k++) /* each turn depends on the one before */
        c[i] = intel_sub_group_i8_i8_split_matrix_mad_k32(a[i], b[i], c[i]);
}

KERNEL void split_f16(global const int4 *a, global const int8 *b, global float8 *c, local int *l)
{
    size_t i = get_global_id(0);
    int4 rows = a[i];
    l[get_local_id(0)] = rows.x;
    barrier(CLK_LOCAL_MEM_FENCE);
    rows.x = l[get_local_id(0)];
    c[i] = intel_sub_group_f16_f16_split_matrix_mad_k16(rows, b[i], c[i]);
}
#endif
