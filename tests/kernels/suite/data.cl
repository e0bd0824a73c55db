/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)

/* Whole programs on integers and indices. */

KERNEL void data_reduce(global const int *in, global int *out, local int *part, int count)
{
    size_t me = get_local_id(0);
    int sum = 0;
    for (int i = I; i < count; i += get_global_size(0))
        sum += in[i];
    part[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t n = get_local_size(0); n > 1;) {
        size_t half_n = (n + 1) / 2;
        if (me + half_n < n)
            part[me] += part[me + half_n];
        barrier(CLK_LOCAL_MEM_FENCE);
        n = half_n;
    }
    if (me == 0) {
        atomic_add(&out[0], part[0]);
        atomic_min(&out[1], part[0]);
        atomic_max(&out[2], part[0]);
        atomic_xor(&out[3], part[0]);
    }
}

/* Sums before each element: within groups, over the groups' totals, and both together. */
KERNEL void data_scan_groups(global const uint *in, global uint *out, global uint *totals,
                             local uint *part)
{
    size_t me = get_local_id(0), n = get_local_size(0);
    part[me] = in[I];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t step = 1; step < n; step *= 2) {
        uint add = me >= step ? part[me - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[me] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[I] = me ? part[me - 1] : 0;
    if (me == n - 1)
        totals[get_group_id(0)] = part[me];
}

KERNEL void data_scan_totals(global uint *totals, uint count)
{
    uint sum = 0;
    for (uint i = 0; i < count; i++) {
        uint next = totals[i];
        totals[i] = sum;
        sum += next;
    }
}

KERNEL void data_scan_add(global uint *out, global const uint *totals)
{
    out[I] += totals[get_group_id(0)];
}

KERNEL void data_histogram(global const uchar *in, global uint *bins, int per_item)
{
    local uint mine[256];
    for (size_t i = get_local_id(0); i < 256; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < per_item; i++)
        atomic_inc(&mine[in[I * per_item + i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_local_id(0); i < 256; i += get_local_size(0)) {
        if (mine[i])
            atomic_add(&bins[i], mine[i]);
    }
}

KERNEL void data_bitonic(global int *data, uint distance, uint block)
{
    uint low = (I / distance) * 2 * distance + I % distance, high = low + distance;
    int a = data[low], b = data[high];
    bool up = (low & block) == 0;
    if ((a > b) == up) {
        data[low] = b;
        data[high] = a;
    }
}

/* Radix sort, four bits a pass: count per group, place digits, scatter in order. */
KERNEL void data_radix_count(global const uint *keys, global uint *counts, uint shift)
{
    local uint mine[16];
    if (get_local_id(0) < 16)
        mine[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&mine[keys[I] >> shift & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 16)
        counts[get_local_id(0) * get_num_groups(0) + get_group_id(0)] = mine[get_local_id(0)];
}

KERNEL void data_radix_scatter(global const uint *keys, global const uint *values,
                               global uint *new_keys, global uint *new_values,
                               global const uint *counts, local uint *digits, uint shift)
{
    size_t me = get_local_id(0);
    uint key = keys[I], digit = key >> shift & 15, before = 0;
    digits[me] = digit;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = 0; i < me; i++)
        before += digits[i] == digit;
    uint at = counts[digit * get_num_groups(0) + get_group_id(0)] + before;
    new_keys[at] = key;
    new_values[at] = values[I];
}

KERNEL void data_spmv(global const uint *rows, global const uint *columns,
                      global const float *values, global const float *x, global float *y)
{
    float sum = 0;
    for (uint i = rows[I]; i < rows[I + 1]; i++)
        sum = fma(values[i], x[columns[i]], sum);
    y[I] = sum;
}

constant uint sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha_block(uint h[8], global const uchar *block)
{
    uint w[16], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint)block[4 * i] << 24 | block[4 * i + 1] << 16 | block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 0; i < 8; i++)
        v[i] = h[i];
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += w[(i + 9) & 15] + (rotate(a, 25u) ^ rotate(a, 14u) ^ a >> 3) +
                         (rotate(b, 15u) ^ rotate(b, 13u) ^ b >> 10);
        }
        uint s1 = rotate(v[4], 26u) ^ rotate(v[4], 21u) ^ rotate(v[4], 7u);
        uint s0 = rotate(v[0], 30u) ^ rotate(v[0], 19u) ^ rotate(v[0], 10u);
        uint t1 = v[7] + s1 + bitselect(v[6], v[5], v[4]) + sha_k[i] + w[i & 15];
        uint t2 = s0 + bitselect(v[0], v[1], v[0] ^ v[2]);
        for (int j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

/* A padded message of one to three blocks per item. */
KERNEL void data_sha256(global const uchar *messages, global const uint *blocks, global uint *out)
{
    uint h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uint i = 0; i < blocks[I]; i++)
        sha_block(h, messages + I * 192 + 64 * i);
    for (int i = 0; i < 8; i++)
        out[8 * I + i] = h[i];
}

/* MT19937, its state in private memory; every 500th number, up to the 10,000th. */
KERNEL void data_mersenne(global const uint *seeds, global uint *out)
{
    uint state[624];
    state[0] = seeds[I];
    for (uint i = 1; i < 624; i++)
        state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    for (uint n = 0; n < 10000; n++) {
        uint i = n % 624, next = (i + 1) % 624, far = (i + 397) % 624;
        uint y = (state[i] & 0x80000000u) | (state[next] & 0x7fffffffu);
        state[i] = state[far] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        y = state[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        y ^= y >> 18;
        if (n % 500 == 499)
            out[20 * I + n / 500] = y;
    }
}
