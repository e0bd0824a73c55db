/* SPDX-License-Identifier: MIT */
/*
 * math.exp of sixteen and 32 lanes, all on.
 *
 * It is a long chain of operations that depend on each other, in double. One vector after the
 * other, a host has few of these chains in view at a time; here all vectors take each step
 * together. Built for AVX2 and for AVX-512, which has registers for twice as many vectors.
 *
 * The bits are those of lanes_exp2(). What it computes is closer to 2^x than 2^-42, relatively.
 * Nearly always a shorter polynomial will do, with fused operations: it is closer than 2^-40, and
 * where the two could be rounded to different floats, the double has one of few values about the
 * middle of two floats: one of 2^14. Then, and for results that are no normal floats, and other
 * roundings than to the nearest, all lanes take the operations of lanes_exp2(), in their order.
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

/* ---- the short way ---- */

/* The best of its degree for |x| <= 1/2: off by 2^-40.23 at most, relatively. */
static const double shorter[] = {
    0x1.61afce913d7a1p-20, 0x1.00dad28dafdeap-16, 0x1.430acca40c57ep-13,
    0x1.5d874837faaf6p-10, 0x1.3b2ab5c52848bp-7,  0x1.c6b08dd46d837p-5,
    0x1.ebfbdff9319f2p-3,  0x1.62e42fef8615cp-1,  0x1.ffffffffff7a3p-1,
};

/* Doubles nearer to the middle of two floats than this, in their last places: 2^52 times 2^-40.23
 * and 2^-42 and roundings, times 2 for mantissas of nearly 2, are less than 9000. */
enum { NEAR_BITS = 14, DROPPED_BITS = 29 };

/* Whether some of eight doubles are. */
LANES_FN __m256i near_middle(__m256d a, __m256d b)
{
    const int first = (1 << NEAR_BITS) - (1 << (DROPPED_BITS - 1));
    const int inner = (1 << DROPPED_BITS) - (1 << (NEAR_BITS + 1));
    __m256i low = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, _MM_SHUFFLE(2, 0, 2, 0));

    low =
        _mm256_and_si256(_mm256_add_epi32(low, _mm256_set1_epi32(first)), _mm256_set1_epi32(inner));
    return _mm256_cmpeq_epi32(low, _mm256_setzero_si256());
}

/* Whether some of eight floats have results that are no normal floats, or nearly so. */
LANES_FN __m256i is_far(__m256 x)
{
    const __m256 size = _mm256_and_ps(x, (__m256)_mm256_set1_epi32(INT32_MAX));

    return (__m256i)_mm256_cmp_ps(size, _mm256_set1_ps(125.0f), _CMP_NLT_UQ);
}

LANES_FN bool exp2_shortly(uint8_t *to, const uint8_t *from, unsigned lanes)
{
    const __m256d whole = _mm256_set1_pd(0x1.8p52); /* a sum with it ends in an integer's bits */
    const unsigned parts = lanes / PART_LANES;
    __m256d r[PARTS_MAX], p[PARTS_MAX], n[PARTS_MAX];
    __m256i other = _mm256_setzero_si256();
    __m128 in[PARTS_MAX];

    EACH memcpy(&in[i], from + i * sizeof(in[i]), sizeof(in[i]));
    LANES_UNROLL for (unsigned i = 0; i < parts; i += 2) other =
        _mm256_or_si256(other, is_far(_mm256_set_m128(in[i + 1], in[i])));
    EACH r[i] = _mm256_cvtps_pd(in[i]);
    EACH n[i] = _mm256_add_pd(r[i], whole);
    EACH r[i] = _mm256_sub_pd(r[i], _mm256_sub_pd(n[i], whole));
    EACH p[i] = _mm256_fmadd_pd(r[i], _mm256_set1_pd(shorter[0]), _mm256_set1_pd(shorter[1]));
    LANES_UNROLL for (unsigned k = 2; k < sizeof(shorter) / sizeof(shorter[0]); k++)
    {
        const __m256d next = _mm256_set1_pd(shorter[k]);
        EACH p[i] = _mm256_fmadd_pd(p[i], r[i], next);
    }
    EACH p[i] = (__m256d)_mm256_add_epi64((__m256i)p[i], _mm256_slli_epi64((__m256i)n[i], 52));
    LANES_UNROLL for (unsigned i = 0; i < parts; i += 2) other =
        _mm256_or_si256(other, near_middle(p[i], p[i + 1]));
    if (ZS_UNLIKELY(!_mm256_testz_si256(other, other)))
        return false;
    LANES_UNROLL for (unsigned i = 0; i < parts; i += 2)
    {
        __m256 result = _mm256_set_m128(_mm256_cvtpd_ps(p[i + 1]), _mm256_cvtpd_ps(p[i]));
        memcpy(to + i * sizeof(in[i]), &result, sizeof(result));
    }
    return true;
}

static __attribute__((noinline)) void exp2_at_length(uint8_t *to, const uint8_t *from,
                                                     unsigned lanes)
{
    enum { AT_ONCE = 16 };

    for (unsigned i = 0; i < lanes; i += AT_ONCE)
        exp2_lanes(to + i * sizeof(float), from + i * sizeof(float), AT_ONCE);
}

static inline bool is_nearest(const struct zs_eu_thread *t)
{
    return (t->host_csr & _MM_ROUND_MASK) == _MM_ROUND_NEAREST;
}

HANDLER(exp_16)
{
    uint8_t *to = AT(t, op->dst);
    const uint8_t *from = AT(t, op->src[0]);

    if (ZS_UNLIKELY(!is_nearest(t) || !exp2_shortly(to, from, 16)))
        exp2_at_length(to, from, 16);
    ZS_EU_NEXT(t, op);
}

HANDLER(exp_32)
{
    enum { AT_ONCE_B = LANES_AT_ONCE * sizeof(float) };
    uint8_t *to = AT(t, op->dst);
    const uint8_t *from = AT(t, op->src[0]);

    for (unsigned i = 0; i < 32 / LANES_AT_ONCE; i++, to += AT_ONCE_B, from += AT_ONCE_B)
        if (ZS_UNLIKELY(!is_nearest(t) || !exp2_shortly(to, from, LANES_AT_ONCE)))
            exp2_at_length(to, from, LANES_AT_ONCE);
    ZS_EU_NEXT(t, op);
}

const struct zs_eu_exp ZS_EU_EXP = {{exp_16, exp_32}};
