kernel void loop(global uint *out, uint rounds)
{
    uint i = get_global_id(0);
    uint x = i;
    for (uint k = 0; k < rounds; k++)
        x = x * 1664525u + 1013904223u + k;
    out[i] = x;
}
