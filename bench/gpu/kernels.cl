/* SPDX-License-Identifier: MIT */
/* The kernels of bench/gpu.sh: every implementation gets this very source. */

__kernel void gemm_naive(__global const float *a, __global const float *b, __global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
gemm_tiled(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float ta[16][16], tb[16][16];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += 16) {
        ta[ly][lx] = a[y * n + tile + lx];
        tb[ly][lx] = b[(tile + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

__kernel void nbody(__global const float4 *bodies, __global float4 *acceleration, int n)
{
    int i = get_global_id(0);
    float4 self = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 other = bodies[j];
        float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
        float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
        float inverse = rsqrt(d2);
        float s = other.w * inverse * inverse * inverse;
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    acceleration[i] = (float4)(ax, ay, az, 0.0f);
}

__kernel void stencil(__global const float *in, __global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__kernel void reduction(__global const int *in, __global int *sums, __local int *shared)
{
    int l = get_local_id(0), size = get_local_size(0);
    shared[l] = in[get_global_id(0)] + in[get_global_id(0) + get_global_size(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (l < half_size)
            shared[l] += shared[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[get_group_id(0)] = shared[0];
}

/* Bins accumulate over launches. */
__kernel void histogram(__global const uint *in, __global uint *bins, int per_item)
{
    __local uint local_bins[256];
    int l = get_local_id(0), size = get_local_size(0);
    for (int i = l; i < 256; i += size)
        local_bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int base = get_group_id(0) * size * per_item;
    for (int i = 0; i < per_item; i++)
        atomic_inc(&local_bins[in[base + i * size + l] & 255u]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = l; i < 256; i += size)
        atomic_add(&bins[i], local_bins[i]);
}

__kernel void mandelbrot(__global int *out, int width, int height, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    float cx = -2.0f + 3.0f * (float)x / (float)width;
    float cy = -1.25f + 2.5f * (float)y / (float)height;
    float zx = 0.0f, zy = 0.0f;
    int i = 0;
    while (i < limit && zx * zx + zy * zy <= 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        i++;
    }
    out[y * width + x] = i;
}

__kernel void saxpy(__global const float *x, __global const float *y, __global float *out, float a)
{
    int i = get_global_id(0);
    out[i] = a * x[i] + y[i];
}

float normal_cdf(float x)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float poly =
        k * (0.319381530f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * exp(-0.5f * x * x) * poly;
    return x > 0.0f ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float *price, __global const float *strike,
                            __global const float *years, __global float *call, __global float *put,
                            float rate, float volatility)
{
    int i = get_global_id(0);
    float s = price[i], k = strike[i], t = years[i];
    float root = sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
    float discount = k * exp(-rate * t);
    call[i] = s * n1 - discount * n2;
    put[i] = discount * (1.0f - n2) - s * (1.0f - n1);
}

__kernel void integer_mix(__global const uint *in, __global uint *out, int rounds)
{
    int i = get_global_id(0);
    uint h = in[i], k = i;
    for (int r = 0; r < rounds; r++) {
        k *= 0xcc9e2d51u;
        k = rotate(k, 15u);
        k *= 0x1b873593u;
        h ^= k;
        h = rotate(h, 13u);
        h = h * 5u + 0xe6546b64u;
        h ^= h >> 16;
    }
    out[i] = h;
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose(__global const float *in,
                                                                         __global float *out, int n)
{
    __local float tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    int gx = get_group_id(0) * 16, gy = get_group_id(1) * 16;
    tile[ly][lx] = in[(gy + ly) * n + gx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(gx + ly) * n + gy + lx] = tile[lx][ly];
}

__kernel void empty(void) {}
