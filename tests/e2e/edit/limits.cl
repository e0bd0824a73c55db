/* Kernels that leave a rewriter little: -DN=..., so that N values of a lane fill the registers, -DSIMD=... */
#ifdef SIMD
#define WIDTH __attribute__((intel_reqd_sub_group_size(SIMD)))
#else
#define WIDTH
#endif
#define MASK 255

__attribute__((noinline)) int mix(int a, int b)
{
    return a > b ? a * 5 - b : b * 3 + a;
}

/* N values live through loops that lanes leave at different times, conditions that are kept in
 * flags, products of 64 bits, which need accumulators, and a call. */
WIDTH kernel void limits_many(global int *out, global const int *in)
{
    int gid = get_global_id(0), v[N];
    int turns = in[gid & MASK] & 7;
    __attribute__((opencl_unroll_hint(N))) for (int i = 0; i < N; i++)
        v[i] = in[(gid * 7 + i * 13) & MASK];
    bool a = v[0] > v[1], b = v[2] > v[3], c = v[4] > v[5], d = v[6] > v[7];
    for (int t = 0; t < turns; t++) {
        __attribute__((opencl_unroll_hint(N))) for (int i = 0; i < N; i++)
            v[i] = v[i] * 3 + (v[(i + 1) % N] ^ t);
        v[0] = a ? v[1] - v[2] : v[3];
        if (b && v[4] % 5 == 0)
            break;
        v[5] = mul_hi(v[5], v[6]) + (int)((long)v[7] * v[8] >> 20);
        if (c)
            v[9] = mix(v[9], v[1]);
        if (d && (v[2] & 3) == 1)
            continue;
        v[3] += 7;
    }
    int sum = a + 2 * b + 4 * c + 8 * d;
    __attribute__((opencl_unroll_hint(N))) for (int i = 0; i < N; i++)
        sum = sum * 31 + v[i];
    out[gid] = sum;
}

/* What a lane found is live behind the loop only in lanes that left early; the others write it anew. */
WIDTH kernel void limits_early(global int *out, global const int *in)
{
    int gid = get_global_id(0), found = 0, count = 0, most = in[MASK] & 31;
    for (int i = 0; i < most; i++) {
        int at = in[(gid + i * 5) & MASK];
        found = at * 17 + i;
        if ((at & 15) == (gid & 15))
            goto out;
        for (int n = 0; n < (at & 3); n++) {
            count += in[(at + n) & MASK];
            if (count % 11 == 3)
                goto out;
        }
        count ^= found;
    }
    found = count * 3;
out:
    out[gid] = found + 1;
}
