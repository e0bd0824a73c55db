/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)

/* Whole programs on floats. Where the result has to be exact, every operation is spelled out. */

KERNEL void program_gemm(global const float *a, global const float *b, global float *c, int k_count)
{
    int n = get_global_size(0), x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < k_count; k++)
        sum = fma(a[y * k_count + k], b[k * n + x], sum);
    c[y * n + x] = sum;
}

#define TILE 16
__attribute__((reqd_work_group_size(TILE, TILE, 1))) KERNEL void
program_gemm_tiled(global const float *a, global const float *b, global float *c, int k_count)
{
    local float as[TILE][TILE], bs[TILE][TILE + 1];
    int n = get_global_size(0), x = get_global_id(0), y = get_global_id(1);
    int lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (int t = 0; t < k_count; t += TILE) {
        as[ly][lx] = a[y * k_count + t + lx];
        bs[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum = fma(as[ly][k], bs[k][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

KERNEL void program_transpose(global const float *in, global float *out, local float *tile)
{
    size_t lx = get_local_id(0), ly = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
    tile[ly * w + lx] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t flat = ly * w + lx, tx = flat % h, ty = flat / h;
    size_t x = get_group_id(1) * h + tx, y = get_group_id(0) * w + ty;
    out[y * get_global_size(1) + x] = tile[tx * w + ty];
}

KERNEL void program_nbody(global const float4 *bodies, global const float4 *speeds,
                          global float4 *new_bodies, global float4 *new_speeds, local float4 *cache,
                          float dt)
{
    float4 me = bodies[I];
    float3 force = 0;
    for (size_t first = 0; first < get_global_size(0); first += get_local_size(0)) {
        cache[get_local_id(0)] = bodies[first + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t j = 0; j < get_local_size(0); j++) {
            float3 d = cache[j].xyz - me.xyz;
            float r = rsqrt(dot(d, d) + 0.01f);
            force += d * (cache[j].w * r * r * r);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float3 v = speeds[I].xyz + force * dt;
    new_speeds[I] = (float4)(v, 0);
    new_bodies[I] = (float4)(me.xyz + v * dt, me.w);
}

/* A transform of 256 points by a group of 128: radix 2, in place, in local memory. */
#define POINTS 256
__attribute__((reqd_work_group_size(POINTS / 2, 1, 1))) KERNEL void
program_fft(global const float2 *in, global float2 *out, float direction)
{
    local float2 data[POINTS];
    uint me = get_local_id(0);
    for (uint i = me; i < POINTS; i += POINTS / 2) {
        /* not a loop: the compiler makes a bfrev of a float of one (docs/compiler-faults.md) */
        uint reversed = ((i * 0x80200802ul) & 0x0884422110ul) * 0x0101010101ul >> 32 & 255;
        data[reversed] = in[get_group_id(0) * POINTS + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = 1; half_size < POINTS; half_size <<= 1) {
        uint k = me & (half_size - 1), at = (me - k) * 2 + k;
        float angle = direction * M_PI_F * (float)k / (float)half_size;
        float2 w = (float2)(cos(angle), sin(angle)), a = data[at], b = data[at + half_size];
        float2 t = (float2)(w.x * b.x - w.y * b.y, w.x * b.y + w.y * b.x);
        data[at] = a + t;
        data[at + half_size] = a - t;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = me; i < POINTS; i += POINTS / 2)
        out[get_group_id(0) * POINTS + i] = data[i];
}

KERNEL void program_stencil2(global const float *in, global float *out)
{
    int w = get_global_size(0), h = get_global_size(1);
    int x = get_global_id(0), y = get_global_id(1), at = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[at] = in[at];
        return;
    }
    float sum = in[at - 1] + in[at + 1] + in[at - w] + in[at + w];
    out[at] = fma(0.125f, sum, 0.5f * in[at]);
}

KERNEL void program_stencil3(global const float *in, global float *out)
{
    int w = get_global_size(0), h = get_global_size(1), d = get_global_size(2);
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int at = (z * h + y) * w + x;
    float around = 0;
    around += x > 0 ? in[at - 1] : 0;
    around += x < w - 1 ? in[at + 1] : 0;
    around += y > 0 ? in[at - w] : 0;
    around += y < h - 1 ? in[at + w] : 0;
    around += z > 0 ? in[at - w * h] : 0;
    around += z < d - 1 ? in[at + w * h] : 0;
    out[at] = fma(-6.0f, in[at], around);
}

/* The same with a tile and its rim in local memory. */
KERNEL void program_stencil_local(global const float *in, global float *out, local float *tile)
{
    int w = get_global_size(0), h = get_global_size(1);
    int lw = get_local_size(0) + 2, lh = get_local_size(1) + 2;
    int x0 = get_group_id(0) * get_local_size(0) - 1, y0 = get_group_id(1) * get_local_size(1) - 1;
    int me = get_local_id(1) * get_local_size(0) + get_local_id(0);
    for (int i = me; i < lw * lh; i += get_local_size(0) * get_local_size(1)) {
        int x = clamp(x0 + i % lw, 0, w - 1), y = clamp(y0 + i / lw, 0, h - 1);
        tile[i] = in[y * w + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int at = (get_local_id(1) + 1) * lw + get_local_id(0) + 1;
    float sum = tile[at - 1] + tile[at + 1] + tile[at - lw] + tile[at + lw];
    out[get_global_id(1) * w + get_global_id(0)] = fma(-4.0f, tile[at], sum);
}

float normal(float x)
{
    return 0.5f * erfc(-x * M_SQRT1_2_F);
}

KERNEL void program_black_scholes(global const float *price, global const float *strike,
                                  global const float *years, global float *call,
                                  global float *put, float rate, float volatility)
{
    float s = price[I], k = strike[I], t = years[I], root = sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root, discounted = k * exp(-rate * t);
    call[I] = s * normal(d1) - discounted * normal(d2);
    put[I] = discounted * normal(-d2) - s * normal(-d1);
}

KERNEL void program_mandelbrot(global int *out, float scale, int limit)
{
    float cx = fma((float)get_global_id(0), scale, -2.0f);
    float cy = fma((float)get_global_id(1), scale, -1.25f);
    float x = 0, y = 0;
    int i = 0;
    for (; i < limit; i++) {
        float xx = x * x;
        if (fma(y, y, xx) > 4.0f)
            break;
        float next = fma(-y, y, xx) + cx;
        y = fma(x + x, y, cy);
        x = next;
    }
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = i;
}

struct sphere {
    float x, y, z, radius;
    float red, green, blue;
    int mirror;
};

float dot_exact(float3 a, float3 b)
{
    return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}

float hit(constant struct sphere *s, float3 from, float3 along)
{
    float3 to = (float3)(s->x, s->y, s->z) - from;
    float b = dot_exact(to, along), c = fma(-s->radius, s->radius, dot_exact(to, to));
    float d = fma(b, b, -c);
    if (d < 0)
        return INFINITY;
    float root = sqrt(d), near = b - root;
    return near > 0.001f ? near : b + root > 0.001f ? b + root : INFINITY;
}

KERNEL void program_ray_cast(constant struct sphere *spheres, int count, global float *out)
{
    int w = get_global_size(0), x = get_global_id(0), y = get_global_id(1);
    float3 along = (float3)((float)(x - w / 2) / (float)w, (float)(y - 8) / (float)w, 1.0f);
    along = along * (1.0f / sqrt(dot_exact(along, along)));
    float3 from = 0, colour = 0;
    float weight = 1;
    for (int depth = 0; depth < 4; depth++) {
        float nearest = INFINITY;
        int which = -1;
        for (int i = 0; i < count; i++) {
            float t = hit(&spheres[i], from, along);
            if (t < nearest) {
                nearest = t;
                which = i;
            }
        }
        if (which < 0) {
            colour.z = fma(weight, 0.25f, colour.z);
            break;
        }
        constant struct sphere *s = &spheres[which];
        from = (float3)(fma(along.x, nearest, from.x), fma(along.y, nearest, from.y),
                        fma(along.z, nearest, from.z));
        float3 n = (from - (float3)(s->x, s->y, s->z)) * (1.0f / s->radius);
        float light = fmax(0.0f, fma(n.x, 0.5f, fma(n.y, -0.75f, n.z * -0.25f)));
        float share = s->mirror ? weight * 0.25f : weight;
        colour.x = fma(share * light, s->red, colour.x);
        colour.y = fma(share * light, s->green, colour.y);
        colour.z = fma(share * light, s->blue, colour.z);
        if (!s->mirror)
            break;
        weight = weight * 0.75f;
        float twice = -2.0f * dot_exact(along, n);
        along = (float3)(fma(n.x, twice, along.x), fma(n.y, twice, along.y),
                         fma(n.z, twice, along.z));
    }
    vstore3(colour, y * w + x, out);
}

/* Points go to the nearest of the centres; sums are in fixed point, so that order is nothing. */
KERNEL void program_kmeans_assign(global const float *px, global const float *py,
                                  global const float *centres, global int *nearest,
                                  global int *sums, int k)
{
    local int mine[3 * 16];
    for (int i = get_local_id(0); i < 3 * k; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float least = INFINITY;
    int which = 0;
    for (int i = 0; i < k; i++) {
        float dx = px[I] - centres[2 * i], dy = py[I] - centres[2 * i + 1];
        float d = fma(dx, dx, dy * dy);
        if (d < least) {
            least = d;
            which = i;
        }
    }
    nearest[I] = which;
    atomic_add(&mine[3 * which], convert_int_rte(px[I] * 1024.0f));
    atomic_add(&mine[3 * which + 1], convert_int_rte(py[I] * 1024.0f));
    atomic_inc(&mine[3 * which + 2]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 3 * k; i += get_local_size(0))
        atomic_add(&sums[i], mine[i]);
}

KERNEL void program_kmeans_move(global float *centres, global int *sums)
{
    global int *sum = sums + 3 * I;
    if (sum[2]) {
        centres[2 * I] = (float)sum[0] / (1024.0f * (float)sum[2]);
        centres[2 * I + 1] = (float)sum[1] / (1024.0f * (float)sum[2]);
    }
    sum[0] = sum[1] = sum[2] = 0;
}

constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
                          CLK_FILTER_NEAREST;

KERNEL void program_convolution(read_only image2d_t in, write_only image2d_t out,
                                constant float *weights, int radius)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -radius; y <= radius; y++) {
        for (int x = -radius; x <= radius; x++)
            sum = fma(read_imagef(in, edge, at + (int2)(x, y)), (float4)(*weights++), sum);
    }
    write_imagef(out, at, sum);
}
