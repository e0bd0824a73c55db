// Structures by value and in memory, with members of several sizes.
struct inner {
    char tag;
    short flags[2];
    float weight;
};

struct outer {
    int4 corner;
    struct inner inner;
    ulong id;
};

__kernel void by_value(struct outer value, __global struct outer *out, uchar small, short3 odd,
                       ulong8 wide)
{
    size_t i = get_global_id(0);
    out[i] = value;
    out[i].inner.tag = (char)(small + value.inner.flags[1]);
    out[i].id += wide.s7 + odd.z;
}

__kernel void through_pointer(__global struct outer *items, __constant struct inner *table, uint n)
{
    size_t i = get_global_id(0);
    if (i < n)
        items[i].inner.weight += table[i & 3].weight * items[i].corner.y;
}
