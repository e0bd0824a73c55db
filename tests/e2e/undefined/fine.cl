// SPDX-License-Identifier: MIT
// Kernels of the kinds that benchmark suites have, without a defect: no check may find any.
#define ARGS global int *out, global int *in
#define N 64

kernel void gemm(ARGS)
{
    local int a[16][16], b[16][16];
    int row = get_local_id(0) / 16, column = get_local_id(0) % 16, sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        a[row][column] = in[(get_group_id(0) * 16 + row) * N + tile * 16 + column];
        b[row][column] = in[4096 + (tile * 16 + row) * N + get_group_id(0) * 16 + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += a[row][k] * b[k][column];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[(get_group_id(0) * 16 + row) * N + column] = sum;
}

kernel void reduction(ARGS)
{
    local float partial[256];
    uint l = get_local_id(0);
    partial[l] = in[get_global_id(0)];
    for (uint width = get_local_size(0) / 2; width; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < width)
            partial[l] += partial[l + width];
    }
    if (l == 0)
        out[get_group_id(0)] = partial[0];
}

kernel void histogram(ARGS)
{
    local int bins[16];
    if (get_local_id(0) < 16)
        bins[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < 4096; i += get_global_size(0))
        atomic_inc(&bins[in[i] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 16)
        atomic_add(&out[get_local_id(0)], bins[get_local_id(0)]);
}

kernel void scan(ARGS)
{
    local int buffer[2][256];
    uint l = get_local_id(0), from = 0;
    buffer[0][l] = in[get_global_id(0)];
    for (uint step = 1; step < get_local_size(0); step *= 2, from ^= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        buffer[from ^ 1][l] = buffer[from][l] + (l >= step ? buffer[from][l - step] : 0);
    }
    out[get_global_id(0)] = buffer[from][l];
}

kernel void transpose(ARGS)
{
    local int tile[16][17];
    uint x = get_local_id(0) % 16, y = get_local_id(0) / 16;
    tile[y][x] = in[(get_group_id(0) * 16 + y) * N + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * N + get_group_id(0) * 16 + x] = tile[x][y];
}

kernel void nbody(ARGS)
{
    float4 p = convert_float4(vload4(get_global_id(0), in)), sum = 0;
    for (uint i = 0; i < 128; i++) {
        float4 d = convert_float4(vload4(i, in)) - p;
        float r = dot(d.xyz, d.xyz) + 0.01f;
        sum.xyz += d.xyz * native_rsqrt(r * r * r);
    }
    vstore4(convert_int4(sum), get_global_id(0), out);
}

kernel void spmv(ARGS)
{
    int row = get_global_id(0), begin = row * 3, end = begin + in[row] % 5;
    float sum = 0;
    for (int i = begin; i < end; i++)
        sum += in[4096 + i] * (float)in[in[8192 + i]];
    out[row] = sum;
}

kernel void jacobi(ARGS)
{
    int x = get_global_id(0) % N, y = get_global_id(0) / N;
    if (x > 0 && y > 0 && x < N - 1 && y < 15)
        out[y * N + x] = (in[y * N + x - 1] + in[y * N + x + 1] + in[(y - 1) * N + x] + in[(y + 1) * N + x]) / 4;
}

kernel void sort(ARGS)
{
    local int keys[256];
    uint l = get_local_id(0);
    keys[l] = in[get_global_id(0)];
    for (uint size = 2; size <= get_local_size(0); size *= 2)
        for (uint step = size / 2; step; step /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = l ^ step;
            int mine = keys[l], theirs = keys[other];
            bool keep = ((l & size) == 0) == ((l < other) == (mine < theirs));
            barrier(CLK_LOCAL_MEM_FENCE);
            keys[l] = keep ? mine : theirs;
        }
    out[get_global_id(0)] = keys[l];
}

kernel void quantized(ARGS)
{
    global const uchar *q = (global const uchar *)in + get_global_id(0) * 34;
    float scale = vload_half(0, (global const half *)q);
    char v[32];
    int sum = 0;
    for (int i = 0; i < 32; i++)
        v[i] = (char)(q[2 + i] - 8);
    for (int i = 0; i < 32; i++)
        sum += v[i ^ (in[0] & 31)] * v[31 - i];
    out[get_global_id(0)] = scale * sub_group_reduce_add(sum);
}

struct body {
    char kind;
    long mass;
    short next;
};

/* A heap in private memory, records with padding, a binary search. */
kernel void records(ARGS)
{
    struct body heap[8];
    int count = 0, g = get_global_id(0);
    for (int i = 0; i < 3 + (in[g] & 3); i++) {
        int at = count++;
        struct body b = {in[i], in[g + i], at};
        for (; at && heap[(at - 1) / 2].mass < b.mass; at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = b;
    }
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (heap[middle].mass > in[g])
            low = middle + 1;
        else
            high = middle;
    }
    out[g] = heap[low].next + (int)heap[0].mass + heap[0].kind;
}

/* Asynchronous copies, as many as a group has work for. */
kernel void copied(ARGS)
{
    local int front[64], back[64];
    int n = 2 + get_group_id(0) % 3;
    event_t e = async_work_group_copy(front, in + 64 * get_group_id(0), 64, 0);
    for (int i = 0; i < n; i++) {
        event_t next = async_work_group_strided_copy(back, in + i, 64, 2, 0);
        event_t both[2] = {e, next};
        wait_group_events(2, both);
        int sum = front[get_local_id(0)] + back[63 - get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        front[get_local_id(0)] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        e = async_work_group_copy(out + 64 * get_group_id(0), front, 64, 0);
    }
    wait_group_events(1, &e);
}
