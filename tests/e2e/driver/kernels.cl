// Kernels of the driver's tests: one way to use the interface each.
kernel void vecadd(global const float *a, global const float *b, global float *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

struct values {
    char c;
    short s;
    int i;
    long l;
    float f;
};
kernel void scalars(global double *out, char c, short s, int i, long l, float f, double d, int3 v,
                    struct values t)
{
    if (get_global_id(0) == 0) {
        out[0] = c; out[1] = s; out[2] = i; out[3] = l; out[4] = f; out[5] = d;
        out[6] = v.x + v.y * 10 + v.z * 100;
        out[7] = t.c; out[8] = t.s; out[9] = t.i; out[10] = t.l; out[11] = t.f;
    }
}

kernel void ids(global uint *out)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t gx = x - get_global_offset(0), gy = y - get_global_offset(1), gz = z - get_global_offset(2);
    size_t i = (gz * get_global_size(1) + gy) * get_global_size(0) + gx;
    out[i] = (uint)(x + 1000 * y + 1000000 * z) ^ (uint)(get_local_id(0) << 24) ^
             (uint)(get_group_id(1) << 28);
}

kernel void local_sum(global const int *in, global int *out, local int *scratch, local int *more)
{
    __local int extra[64];
    int l = get_local_id(0), n = get_local_size(0);
    scratch[l] = in[get_global_id(0)];
    more[l] = 1;
    extra[l] = 2;
    for (int step = n / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step) {
            scratch[l] += scratch[l + step];
            more[l] += more[l + step];
            extra[l] += extra[l + step];
        }
    }
    if (l == 0)
        out[get_group_id(0)] = scratch[0] + 1000000 * more[0] + 100000000 * (extra[0] / 64);
}

kernel void null_or_not(global int *p, global int *out)
{
    if (get_global_id(0) == 0)
        out[0] = p ? p[0] : -1;
}

kernel void invert(read_only image2d_t src, write_only image2d_t dst, sampler_t s)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 v = read_imagef(src, s, at);
    write_imagef(dst, at, (float4)(1.0f - v.x, 1.0f - v.y, 1.0f - v.z, v.w));
}

kernel void hello(int x)
{
    if (get_global_id(0) < 2)
        printf("hello %d from %d %s %.2f\n", x, (int)get_global_id(0), "world", 1.5f);
}

kernel void add_atomic(global int *sum)
{
    atomic_add(sum, 1);
}

kernel void out_of_bounds(global int *p, int n)
{
    p[get_global_id(0) + n] = 1;
}

/* The address is everybody's, so the compiler has it sent once; one work-item does. */
kernel void one_writes(global int *p, ulong where, int item)
{
    if (get_global_id(0) == item)
        *(global int *)where = p[0];
}

kernel void forever(global volatile int *p)
{
    while (p[0] == 0)
        ;
    p[1] = 1;
}

/* p stays 0, as long as it is there. */
kernel void until_file_ends(global volatile int *p, global volatile int *seen)
{
    while (p[get_global_id(0)] == 0)
        *seen = 1;
}

/* All groups are there at once; each work-item finds its own array again. */
kernel void together(global volatile int *arrived, int groups, global int *out)
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

/* Until p[0] is set: touches a second array, and memory that no argument names when q is not 0. */
kernel void persist(global volatile int *p, global volatile int *named, ulong q)
{
    while (p[0] == 0) {
        atomic_inc(named);
        if (q)
            atomic_inc((global volatile int *)q);
    }
    p[1] = 1;
}

/* Neighbouring bytes, which the compiler reads as dwords; a size that is no multiple of 4. */
uint sum_of(global const uchar *p, int count)
{
    uint sum = 0;
#pragma unroll
    for (int i = 0; i < count; i++)
        sum += p[i];
    return sum;
}

kernel void bytes_255(global const uchar *p, global uint *out)
{
    out[get_global_id(0)] = sum_of(p, 255);
}

kernel void bytes_255_constant(constant uchar *p, global uint *out)
{
    uint sum = 0;
#pragma unroll
    for (int i = 0; i < 255; i++)
        sum += p[i];
    out[get_global_id(0)] = sum;
}

kernel void bytes_255_each(global const uchar *p, global uint *out, uint step)
{
    out[get_global_id(0)] = sum_of(p + get_global_id(0) * step, 15);
}

kernel void bytes_255_found(global ulong *p, global uint *out)
{
    out[get_global_id(0)] = sum_of((global const uchar *)p[0], 255);
}

kernel void bytes_255_found_each(global ulong *p, global uint *out, uint step)
{
    out[get_global_id(0)] = sum_of((global const uchar *)p[0] + get_global_id(0) * step, 15);
}

kernel void dwords_61(global const uint *p, global uint *out)
{
    uint sum = 0;
#pragma unroll
    for (int i = 0; i < 61; i++)
        sum = sum * 3 + p[i];
    out[get_global_id(0)] = sum;
}

kernel void dwords_25_constant(constant uint *p, global uint *out)
{
    uint sum = 0;
#pragma unroll
    for (int i = 0; i < 25; i++)
        sum = sum * 3 + p[i];
    out[get_global_id(0)] = sum;
}

kernel void byte_at(global const uchar *p, global uint *out, uint at)
{
    out[0] = p[at];
}

kernel void byte_found_at(global ulong *p, global uint *out, uint at)
{
    out[0] = ((global const uchar *)p[0])[at];
}

kernel void ulong_found_at(global ulong *p, global uint *out, uint at)
{
    out[0] = (uint)*(global const ulong *)((global const uchar *)p[0] + at);
}

kernel void wide_argument(global ulong *out, ulong wide)
{
    out[0] = wide;
}

kernel __attribute__((reqd_work_group_size(16, 2, 1))) void required(global int *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(1);
}

kernel void chase(global long *p)
{
    global int *q = (global int *)p[0]; // memory that no argument names
    q[get_global_id(0)] = (int)get_global_id(0) * 3;
}

kernel void uninitialized(global const int *in, global int *out)
{
    out[get_global_id(0)] = in[get_global_id(0)] + 1;
}
