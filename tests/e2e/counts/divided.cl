/* Computes what loop.cl does, with quotients and roots that are exact: in float of all work-items, in double of some. */
kernel void loop(global uint *out, uint rounds)
{
    uint i = get_global_id(0);
    uint x = i;
    __attribute__((opencl_unroll_hint(1)))
    for (uint k = 0; k < rounds; k++) {
        uint n = x & 1023, by = k + 1;
        x = x * 1664525u + 1013904223u + k;
        x += (uint)((float)(n * by) / (float)by) ^ n;
        x += (uint)sqrt((float)(n * n)) ^ n;
        if (n % 4) {
            x += (uint)((double)(n * by) / (double)by) ^ n;
            x += (uint)sqrt((double)(n * n)) ^ n;
        }
    }
    out[i] = x;
}
