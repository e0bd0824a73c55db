// Format strings, %s, vectors; two kernels with strings of their own.
__kernel void print_values(__global const int *values, __global const float4 *vectors)
{
    size_t i = get_global_id(0);
    printf("item %d: %d, %s\n", (int)i, values[i], values[i] & 1 ? "odd" : "even");
    if (i == 0)
        printf("vector %v4f, hex %#x, 100%%\n", vectors[0], 255);
}

__kernel void print_nothing(__global int *values)
{
    if (values[0] == 12345)
        printf("never\n");
    values[0] = 1;
}
