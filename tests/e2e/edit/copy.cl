kernel void copy_even(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    if (i & 1)
        return;
    out[i] = in[i];
    out[i + 1] = in[0];
}

kernel void stride4(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = in[4 * i] + 1.0f;
}

kernel void rounds(global const float *in, global float *out)
{
    float sum = 0;
    size_t i = get_global_id(0);
    __attribute__((opencl_unroll_hint(1))) for (int k = 0; k < (int)get_local_size(0); k++)
        sum += in[(i + k) & 63];
    out[i] = sum;
}

/* x is 3 i + 1, of odd items its square, as they come to the last line. */
kernel void named(global const float *in, global int *out)
{
    int i = (int)get_global_id(0);
    int x = 3 * i + 1;
    if (in[i & 7] > 1.0e30f)
        return;
    if (i & 1)
        x = x * x;
    out[i & 63] = x;
}

/* For as many groups as anybody wants. */
kernel void endless(global const float *in, global float *out)
{
    size_t i = get_global_id(0) & 63;
    out[i] = in[i];
}

/* Each group reads one place of local memory, 64 bytes from that of the next. */
kernel void local_uniform(global const float *in, global float *out)
{
    local float l[64];
    size_t i = get_local_id(0);
    for (int k = 0; k < 64; k += 16)
        l[(i & 15) + k] = in[(i & 15) + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = l[(get_group_id(0) & 3) * 16];
}

/* Lanes return one behind the other from the loop's middle, the last one of 16 leaves it at its end. */
kernel void leaves(global const int *in, global int *out)
{
    uint i = get_global_id(0), n = i & 1;
    int x = in[i & 63];
    do {
        out[(i * 16 + n) & 1023] = x;
        x = x * 5 + 1;
        if ((i & 15) != 15 && n >= (i & 7)) {
            out[2048 + (i & 63)] = x;
            return;
        }
        n++;
    } while (n < (uint)get_local_size(0) - 6);
    out[1024 + (i & 63)] = x;
}
