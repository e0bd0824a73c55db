// Arrays that stay in memory: indexed by what is not known while compiling. The second kernel spills.
__kernel void histogram_private(__global const uchar *in, __global uint *out, int n)
{
    uint bins[64];
    for (int i = 0; i < 64; i++)
        bins[i] = 0;
    for (int i = 0; i < n; i++)
        bins[in[i + n * get_global_id(0)] & 63]++;
    for (int i = 0; i < 64; i++)
        out[64 * get_global_id(0) + i] = bins[i];
}

__kernel __attribute__((intel_reqd_sub_group_size(16))) void many_values(__global const float *in,
                                                                         __global float *out)
{
    size_t i = get_global_id(0);
    float16 a = vload16(i, in), b = vload16(i + 1, in), c = vload16(i + 2, in);
    float16 d = a * b, e = b * c, f = c * a, g = a + b, h = b + c;
    for (int k = 0; k < 16; k++) {
        d = mad(e, f, d);
        e = mad(g, h, e);
        f = mad(d, a, f);
        g = mad(b, c, g);
        h = mad(e, d, h);
        a = mad(f, g, a);
        b = mad(h, e, b);
        c = mad(a, d, c);
    }
    vstore16(a + b + c + d + e + f + g + h, i, out);
}
