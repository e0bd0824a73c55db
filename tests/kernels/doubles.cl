// Double precision: not on tgllp and dg2.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void polynomial(__global const double *x, __global double *y, double a, double b)
{
    size_t i = get_global_id(0);
    y[i] = fma(a * x[i], x[i], b) / (1.0 + x[i]);
}
