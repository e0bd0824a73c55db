/* SPDX-License-Identifier: MIT */
/*
 * math.exp of sixteen and 32 lanes, all on.
 *
 * It is a long chain of operations that depend on each other, in double. One vector after the
 * other, a host has few of these chains in view at a time; here all vectors take each step
 * together. The operations are those of lanes_exp2(), in their order, so the bits are the same.
 * Built for AVX2 and for AVX-512, which has registers for twice as many vectors.
 */
#include "eu/exec.h"

#ifdef __AVX512VL__
enum { LANES_AT_ONCE = 32 };
#else
enum { LANES_AT_ONCE = 16 };
#endif
enum { PART_LANES = 4, PARTS_MAX = LANES_AT_ONCE / PART_LANES };

#define EACH LANES_UNROLL for (unsigned i = 0; i < parts; i++)

/* p = p * r + c */
#define STEP(c)                                                                                    \
    do {                                                                                           \
        const __m256d next = _mm256_set1_pd(c);                                                    \
        EACH p[i] = _mm256_mul_pd(p[i], r[i]);                                                     \
        EACH p[i] = _mm256_add_pd(p[i], next);                                                     \
    } while (0)

/* As lanes_exp2_f64(). */
LANES_FN void exp2_parts(__m256d x[PARTS_MAX], unsigned parts)
{
    const __m256d limit = _mm256_set1_pd(900.0), low = _mm256_set1_pd(-900.0);
    const __m256d ln2 = _mm256_set1_pd(0.69314718055994530942);
    const __m256d first = _mm256_set1_pd(1.0 / 3628800), biased = _mm256_set1_pd(0x1p52 + 1023.0);
    __m256d r[PARTS_MAX], p[PARTS_MAX];

    EACH x[i] = _mm256_max_pd(_mm256_min_pd(x[i], limit), low);
    EACH p[i] = _mm256_round_pd(x[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    EACH r[i] = _mm256_mul_pd(_mm256_sub_pd(x[i], p[i]), ln2);
    EACH x[i] = p[i];
    EACH p[i] = _mm256_mul_pd(r[i], first);
    EACH p[i] = _mm256_add_pd(p[i], _mm256_set1_pd(1.0 / 362880));
    STEP(1.0 / 40320);
    STEP(1.0 / 5040);
    STEP(1.0 / 720);
    STEP(1.0 / 120);
    STEP(1.0 / 24);
    STEP(1.0 / 6);
    STEP(0.5);
    STEP(1.0);
    STEP(1.0);
    EACH
    {
        __m256i scale = _mm256_slli_epi64((__m256i)_mm256_add_pd(x[i], biased), 52);
        x[i] = _mm256_mul_pd(p[i], (__m256d)scale);
    }
}

LANES_FN void exp2_lanes(uint8_t *to, const uint8_t *from, unsigned lanes)
{
    const unsigned parts = lanes / PART_LANES;
    __m256d x[PARTS_MAX];
    __m128 in[PARTS_MAX];

    EACH memcpy(&in[i], from + i * sizeof(in[i]), sizeof(in[i]));
    EACH x[i] = _mm256_cvtps_pd(in[i]);
    exp2_parts(x, parts);
    /* as vectors of eight lanes, which is how they will be loaded */
    LANES_UNROLL for (unsigned i = 0; i < parts; i += 2)
    {
        __m256 a, r = _mm256_set_m128(_mm256_cvtpd_ps(x[i + 1]), _mm256_cvtpd_ps(x[i]));
        memcpy(&a, from + i * sizeof(in[i]), sizeof(a));
        r = _mm256_blendv_ps(a, r, _mm256_cmp_ps(a, a, _CMP_EQ_OQ));
        memcpy(to + i * sizeof(in[i]), &r, sizeof(r));
    }
}

HANDLER(exp_16)
{
    exp2_lanes(AT(t, op->dst), AT(t, op->src[0]), 16);
    ZS_EU_NEXT(t, op);
}

HANDLER(exp_32)
{
    enum { AT_ONCE_B = LANES_AT_ONCE * sizeof(float) };
    uint8_t *to = AT(t, op->dst);
    const uint8_t *from = AT(t, op->src[0]);

    for (unsigned i = 0; i < 32 / LANES_AT_ONCE; i++)
        exp2_lanes(to + i * AT_ONCE_B, from + i * AT_ONCE_B, LANES_AT_ONCE);
    ZS_EU_NEXT(t, op);
}

const struct zs_eu_exp ZS_EU_EXP = {{exp_16, exp_32}};
