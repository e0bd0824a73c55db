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
