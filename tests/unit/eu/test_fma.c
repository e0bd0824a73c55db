/* SPDX-License-Identifier: MIT */
/* Multiply-add on hosts without FMA: the same bits as fmaf() in every rounding mode. */
#include "../test.h"

#include "eu/exec/lanes.h"

#include <stdlib.h>

enum { ROUNDS = 20000 };
static const unsigned modes[] = {_MM_ROUND_NEAREST, _MM_ROUND_DOWN, _MM_ROUND_UP,
                                 _MM_ROUND_TOWARD_ZERO};

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t as_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Any bits; few significant bits (exact sums, ties); magnitudes near each other or near the ends.
 */
static float operand(uint64_t *state)
{
    uint32_t bits = next_random(state), shape = next_random(state) % 6;
    uint32_t sign = bits & 0x80000000u, exponent = bits >> 23 & 255;
    if (shape == 1)
        bits &= 0xfff80000u;
    else if (shape == 2)
        bits = sign | (120 + exponent % 16) << 23 | (bits & 0x7fffff);
    else if (shape == 3)
        bits = sign | (exponent % 70) << 23 | (bits & 0x7f0000);
    else if (shape == 4)
        bits = sign | (120 + exponent % 16) << 23 | (1u << (bits & 31) & 0x7fffff);
    else if (shape == 5)
        bits = sign | (exponent % 3) << 23 | (bits & 0x7fffff);
    return as_float(bits);
}

/* apart, so that nothing moves across a change of the rounding mode */
static __attribute__((noinline)) void multiply_add(const float in[3][8], float ret[8])
{
    f32x8 v[3];
    memcpy(v, in, sizeof(v));
    v[0] = lanes_fma_f32(v[0], v[1], v[2]);
    memcpy(ret, v, sizeof(v[0]));
}

static void compare(const float in[3][8], unsigned csr)
{
    float want[8], have[8];
    unsigned saved = _mm_getcsr();

    _mm_setcsr(csr);
    multiply_add(in, have);
    for (int i = 0; i < 8; i++) {
        volatile float a = in[0][i], b = in[1][i], c = in[2][i];
        want[i] = fmaf(a, b, c);
    }
    _mm_setcsr(saved);
    for (int i = 0; i < 8; i++) {
        if (as_bits(have[i]) != as_bits(want[i]) && (have[i] == have[i] || want[i] == want[i]))
            fail_msg("fma(%a, %a, %a) with csr %x is %a and should be %a", (double)in[0][i],
                     (double)in[1][i], (double)in[2][i], csr, (double)have[i], (double)want[i]);
    }
}

static void test_random(void **state)
{
    uint64_t seed = 1;

    for (unsigned round = 0; round < ROUNDS; round++) {
        float in[3][8];
        for (unsigned i = 0; i < 24; i++)
            in[i / 8][i % 8] = operand(&seed);
        for (unsigned i = 0; i < ZS_ARRAY_LEN(modes); i++)
            compare((const float(*)[8])in, 0x1f80 | modes[i]);
    }
}

/* Sums that lie in the middle of two floats but for a last bit far below. */
static void test_near_ties(void **state)
{
    for (int shift = 0; shift < 60; shift++) {
        for (unsigned i = 0; i < ZS_ARRAY_LEN(modes); i++) {
            float in[3][8];
            for (unsigned lane = 0; lane < 8; lane++) {
                float tiny = ldexpf(lane & 1 ? -1.0f : 1.0f, -shift);
                in[0][lane] = lane & 2 ? 0x1.000002p0f : 0x1.000001p0f + tiny;
                in[1][lane] = lane & 4 ? 0x1.000002p0f : 0x1.8p0f;
                in[2][lane] = tiny * (lane & 2 ? 0x1p-24f : 0x1p-48f);
            }
            compare((const float(*)[8])in, 0x1f80 | modes[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_near_ties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
