/* Kernels for test_kernels.c: each exercises one part of dispatch or of the send units. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

/* -DSIMD=8: the same kernels with another number of lanes. */
#ifdef SIMD
#define kernel __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
#endif

kernel void empty(void) {}

kernel void saxpy(global const float *x, global float *y, float a)
{
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

/* Everything a work-item can ask about where it is. */
kernel void ids(global uint *out)
{
    size_t linear = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) * get_global_size(0) +
                    (get_global_id(1) - get_global_offset(1)) * get_global_size(0) +
                    (get_global_id(0) - get_global_offset(0));
    global uint *o = out + linear * 24;
    for (uint d = 0; d < 3; d++) {
        o[d] = get_global_id(d);
        o[3 + d] = get_local_id(d);
        o[6 + d] = get_group_id(d);
        o[9 + d] = get_global_size(d);
        o[12 + d] = get_local_size(d);
        o[15 + d] = get_num_groups(d);
        o[18 + d] = get_global_offset(d);
    }
    o[21] = get_work_dim();
    o[22] = get_global_linear_id();
    o[23] = get_enqueued_local_size(0);
}

kernel void reduce(global const int *in, global int *out, local int *tmp)
{
    uint l = get_local_id(0), n = get_local_size(0);
    tmp[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < n; s *= 2) {
        int v = l + s < n ? tmp[l + s] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[l] += v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}

kernel void two_locals(global int *out, local char *a, local int *b)
{
    local int fixed[16];
    uint l = get_local_id(0);
    a[l] = (char)(l * 3);
    b[l] = (int)l * 1000;
    if (l < 16)
        fixed[l] = -(int)l;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint m = (l + 1) % get_local_size(0);
    out[get_global_id(0)] = a[m] + b[m] + fixed[m % 16];
}

kernel void atomics(global int *a, global long *b, global uint *h, local int *l)
{
    uint i = get_global_id(0), n = get_local_id(0);
    if (n < 4)
        l[n] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&a[0], (int)i);
    atomic_sub(&a[1], 3);
    atomic_inc(&a[2]);
    atomic_dec(&a[3]);
    atomic_min(&a[4], (int)(i * 7919 % 1000) - 500);
    atomic_max(&a[5], (int)(i * 7919 % 1000) - 500);
    atomic_and(&a[6], ~(1 << (i % 31)));
    atomic_or(&a[7], 1 << (i % 31));
    atomic_xor(&a[8], (int)i);
    atom_add(&b[0], (long)i << 20);
    atom_max(&b[1], (long)i * 1234567891);
    atomic_inc(&h[i * i % 64]);
    int old, seen = a[9];
    do {
        old = seen;
        seen = atomic_cmpxchg(&a[9], old, old + 2);
    } while (seen != old);
    atomic_add(&l[n % 4], (int)n);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (n == 0)
        atomic_add(&a[10], l[0] + 10 * l[1] + 100 * l[2] + 1000 * l[3]);
}

kernel void private_array(global const int *in, global int *out, int rounds)
{
    int a[64];
    uint i = get_global_id(0);
    for (int k = 0; k < 64; k++)
        a[k] = in[i] + k * 3;
    for (int r = 0; r < rounds; r++) {
        int at = (in[i] + r * 17) & 63;
        a[at] = a[(at * 5 + r) & 63] ^ r;
    }
    int sum = 0;
    for (int k = 0; k < 64; k++)
        sum = sum * 31 + a[k];
    out[i] = sum;
}

struct params {
    char c;
    short s;
    int i;
    long l;
    float f;
    double d;
    uchar4 v;
};
kernel void structs(global double *out, struct params p, uchar b, ushort3 w, long8 big)
{
    out[0] = p.c;
    out[1] = p.s;
    out[2] = p.i;
    out[3] = p.l;
    out[4] = p.f;
    out[5] = p.d;
    out[6] = p.v.x * 1000 + p.v.y * 100 + p.v.z * 10 + p.v.w;
    out[7] = b;
    out[8] = w.x + w.y * 10 + w.z * 100;
    out[9] = big.s0 + big.s7;
}

kernel void bytes(global const uchar *a, global uchar *b, global ushort *c, global const short *d)
{
    uint i = get_global_id(0);
    b[i] = a[i] + 1;
    c[i] = (ushort)(d[i] * 3);
}

kernel void vectors(global const float4 *a, global float4 *b, global const double2 *c, global double2 *d)
{
    uint i = get_global_id(0);
    b[i] = a[i].wzyx * 2.0f;
    d[i] = c[i].yx + 0.5;
}

constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
global int counter = 100;
kernel void globals(global int *out)
{
    uint i = get_global_id(0);
    out[i] = table[i % 8];
    atomic_add(&counter, 1);
    if (i == 0)
        out[get_global_size(0)] = counter;
}

kernel void print(global const int *in)
{
    uint i = get_global_id(0);
    if (i < 3)
        printf("item %d of %u: %s %.2f %v4d\n", (int)i, (uint)get_global_size(0), i & 1 ? "odd" : "even",
               in[i] * 0.5f, (int4)(in[i], 2, 3, 4));
}

constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
kernel void image_copy(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 v = read_imagef(in, nearest, at - 1);
    write_imagef(out, at, v + read_imagef(in, at) * 0.5f);
}

kernel void image_sample(read_only image2d_t in, sampler_t s, global float4 *out, float scale)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 at = (float2)(x + 0.3f, y + 0.6f) * scale;
    out[y * get_global_size(0) + x] = read_imagef(in, s, at);
}

kernel void image_3d(read_only image3d_t in, global uint4 *out, global int4 *size)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = read_imageui(in, (int4)(x, y, z, 0));
    if (x + y + z == 0)
        *size = (int4)(get_image_width(in), get_image_height(in), get_image_depth(in), get_image_channel_data_type(in));
}

kernel void image_array(read_only image2d_array_t in, write_only image2d_array_t out, global int *count)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    int4 v = read_imagei(in, at);
    write_imagei(out, at, v * -1);
    *count = get_image_array_size(in);
}

/* ---- faults ---- */
kernel void out_of_bounds(global int *a, long index)
{
    size_t i = get_global_id(0);
    if (i == 21)
        ((global int *)((global char *)a + index))[i - 21] = (int)i;
}

struct node {
    global struct node *next;
    int value;
};
kernel void chase(global struct node *head, global int *out)
{
    int sum = 0;
    for (global struct node *n = head; n; n = n->next)
        sum += n->value;
    out[get_global_id(0)] = sum;
}

/* from place to place, as many as there are work-items */
kernel void follow(global const int *next, global int *out, int rounds)
{
    int at = get_global_id(0);
    for (int i = 0; i < rounds; i++)
        at = next[at];
    out[get_global_id(0)] = at;
}

/* Lanes whose structures are two, three and four dwords: some of them, or all. */
kernel void apart(global const int *in, global int *out, int count, int rounds)
{
    int i = get_global_id(0);
    global const int *threes = in + 2 * count, *fours = in + 5 * count;
    for (int k = 0; k < rounds; k++) {
        int2 pair = vload2(i, in);
        int3 three = vload3(i, threes);
        int4 four = vload4(i, fours);
        out[2 * i + 1] = pair.x + 3 * pair.y + k;
        vstore3(three * 2 + k, i, out + 2 * count);
        out[5 * count + 4 * i] = four.y + four.w;
        out[5 * count + 4 * i + 3] = four.z - k;
    }
}

/* Structures of five and eight dwords and of three bytes: each work-item's own, or of some of them
 * another's. */
kernel void structures(global const uint *in, global uint *out, global const uchar *bytes,
                       global uchar *to, int some, int by)
{
    int i = get_global_id(0), n = get_global_size(0), j = i * by % n;
    uint4 four = vload4(0, in + 5 * i);
    uint fifth = in[5 * i + 4];
    vstore4(four + fifth, 0, out + 5 * i);
    out[5 * i + 4] = four.x ^ fifth;
    to[3 * i + 2] = bytes[3 * i] + 1;
    to[3 * i] = bytes[3 * i + 2];
    if (i & some) {
        uint3 three = vload3(0, in + 5 * n + 8 * j + 5);
        uint2 two = vload2(0, in + 5 * n + 8 * j);
        vstore4((uint4)(three, two.x), 0, out + 5 * n + 8 * j + 4);
        vstore2(two.yx - (uint)i, 0, out + 5 * n + 8 * j);
    }
}

/* Rows, columns, one place, behind a branch, in a loop, and where some work-items are off. */
kernel void volumes(global const int *in, global int *out, int w, int h, int some)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int i = (z * h + y) * w + x, n = w * h * get_global_size(2);
    int v = in[i] + 3 * in[x * h + y] - in[y] + in[z * w] * 5;
    if (x != some)
        v += in[i + 1] - in[y * w] * 7;
    else
        v ^= in[i + w];
    for (int k = 0; k < get_local_id(1) % 3; k++)
        v += in[i + k] * in[y * 3 + k];
    if (y & 1)
        out[n + (z * w + x) * h + y] = v;
    out[i] = v;
}

kernel void endless(global volatile int *flag)
{
    while (*flag == 0)
        ;
}

/* Groups wait for each other: all must make progress. */
kernel void grid_wait(global volatile int *arrived, int groups)
{
    if (get_local_id(0) == 0) {
        atomic_inc((global int *)arrived);
        while (atomic_add((global int *)arrived, 0) < groups)
            ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
}

/* The same with barriers in the loop that polls. */
kernel void grid_polls(global volatile int *arrived, int groups, global int *out)
{
    local int seen;
    if (get_local_id(0) == 0)
        atomic_inc((global int *)arrived);
    for (int all = 0; !all;) {
        if (get_local_id(0) == 0)
            seen = atomic_add((global int *)arrived, 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        all = seen >= groups;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = 64;
}

/* All groups are there at once, each work-item with its own array in memory. */
kernel void resident(global volatile int *arrived, int groups, global int *out)
{
    int a[64];
    int i = (int)get_global_id(0);
    for (int k = 0; k < 64; k++)
        a[(k * 5 + out[i]) & 63] = i * 64 + k;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_inc((global int *)arrived);
        while (atomic_add((global int *)arrived, 0) < groups)
            ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    int good = 0;
    for (int k = 0; k < 64; k++)
        good += a[(k * 5 + out[i]) & 63] == i * 64 + k;
    out[i] = good;
}

/* Counting: a known number of lanes takes each side. */
kernel void diverge(global int *out)
{
    uint i = get_global_id(0);
    if (i % 4 == 0)
        out[i] = (int)i * 3;
}

/* Half of the threads never come to the barrier. */
kernel void lonely_barrier(global int *out)
{
    if (get_local_id(0) >= get_local_size(0) / 2)
        return;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = 1;
}

kernel void local_overrun(global int *out, local int *tmp, int at)
{
    tmp[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tmp[get_local_id(0) + at];
}

/* Calls that are not inlined: stack frames, arguments in registers and memory. */
__attribute__((noinline)) int ackermann_like(int n, int depth)
{
    int sum = n;
    for (int i = 0; i < depth; i++)
        sum = sum * 3 + (sum ^ i) % 7;
    return sum;
}
kernel void calls(global int *out, int depth)
{
    int i = get_global_id(0);
    out[i] = i & 1 ? ackermann_like(i, depth) : ackermann_like(-i, depth + i % 5);
}

kernel void subgroup_blocks(global uint *in, global uint *out)
{
    uint at = get_group_id(0) * get_local_size(0) + get_sub_group_id() * get_max_sub_group_size();
    uint4 v = intel_sub_group_block_read4(in + at * 4);
    intel_sub_group_block_write4(out + at * 4, v + (uint4)(1, 2, 3, 4));
}
