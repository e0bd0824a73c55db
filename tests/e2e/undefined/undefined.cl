// SPDX-License-Identifier: MIT
// What run --check=init has to find, at the lines that are marked, and what it must not ("fine").
#define ARGS global int *out, global int *in

/* Every second element has a value; in[] is zero. */
#define FILL int a[64]; for (int i = 0; i < in[0] + 32; i++) a[i * 2] = i

kernel void stored(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    out[g] = a[in[g] + 1]; // first
}

kernel void branch(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    if (a[in[g] + 1] > 3) // first
        out[g] = in[g + 64] * 7 + in[2 * g];
}

kernel void address(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    out[a[in[g] + 1] & 255] = 1; // first
}

kernel void atomic(ARGS)
{
    FILL;
    atomic_add(out, a[in[get_global_id(0)] + 1]); // first
}

/* Through local memory, to another work-item. */
kernel void passed(ARGS)
{
    local int l[256];
    FILL;
    size_t g = get_local_id(0);
    l[g] = a[in[g] + 1]; // second
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = l[g ^ 1] + 1; // first
}

/* Bits of it, shifted and converted. */
kernel void parts(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    out[g] = (convert_float(a[in[g] + 1] >> 3 & 255) + 1.0f) * 2.0f; // first
}

/* In registers, some of which had local ids that nobody asks for. */
kernel void few(ARGS)
{
    int a[8]; for (int i = 0; i < in[0] + 4; i++) a[i] = i; if (a[in[0] + 5] > 1) out[get_global_id(0)] = 2; // first
}

/* Local memory that nobody wrote, in the middle of a loop. */
kernel void fetched(ARGS)
{
    local int l[96];
    int g = get_local_id(0), sum = 0;
    l[g] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < in[0] + 40; i++)
        sum += l[g + i / 2] * 3; // second
    out[get_global_id(0)] = sum; // first
}

/* From there to another thread. */
kernel void handed(ARGS)
{
    local int l[128];
    int g = get_local_id(0), sum = 0;
    if (g < 16)
        l[g] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    l[64 + g] = l[g] + 1; // second
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < (l[64 + (g ^ 32)] & 7); i++) // first
        sum += in[i + sum];
    out[get_global_id(0)] = sum;
}

kernel void fine_defined(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    out[g] = a[in[g] + 2];
}

kernel void fine_masked(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    out[g] = (a[in[g] + 1] & (in[g] * 2)) | 4;
}

kernel void fine_unused(ARGS)
{
    FILL;
    size_t g = get_global_id(0);
    int x = a[in[g] + 1];
    out[g] = in[g] ? x : 5;
}

/* One byte of four is defined, and decides. */
kernel void fine_byte(ARGS)
{
    uchar a[64];
    for (int i = 0; i < in[0] + 16; i++)
        a[i * 4 + 1] = i;
    size_t g = get_global_id(0);
    uint x = *(uint *)(a + in[g] * 4);
    if ((x & 0xff00) == 0)
        out[g] = x >> 8 & 1;
}

struct padded {
    char c;
    int i;
    short s;
    long l;
};

kernel void fine_padding(ARGS)
{
    struct padded s[4];
    size_t g = get_global_id(0);
    for (int i = 0; i < 4; i++) {
        s[i].c = 1;
        s[i].i = i;
        s[i].s = 3;
        s[i].l = in[i];
    }
    ((global struct padded *)out)[g] = s[in[g] + 1];
}

/* Work-items that are not there, and a part that only some of a hardware thread do. */
kernel void fine_few(ARGS)
{
    size_t g = get_global_id(0);
    int x = in[g];
    if (g & 1)
        for (int i = 0; i < 4 + (int)g; i++)
            x += in[x & 255] + i;
    out[g] = sub_group_reduce_add(x) + sub_group_broadcast(x, 0);
}

/* One lane after the other stores what all do, and something else in the same register. */
kernel void in_turn(ARGS)
{
    int g = get_global_id(0);
    for (int k = 0; k < 4; k++)
        if ((g + 1) % 4 == k) {
            out[0] = (in[g] | 3) & 3;
            out[g + 1] = in[g] * g + k;
        }
}
