// Half precision arithmetic and conversions.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void mix_halves(__global const half *a, __global const half4 *b, __global float *out,
                         half weight)
{
    size_t i = get_global_id(0);
    half x = a[i] * weight + b[i].y;
    out[i] = convert_float(x) + vload_half(i, a);
}
