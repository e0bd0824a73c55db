/* SPDX-License-Identifier: MIT */
/* Atomics on floats and halves. What items share does not depend on their order: sums of small
 * integers are exact. */
#include "suite.h"

static void case_global(struct suite *s)
{
    suite_range(s, -50, 50);
    const int32_t *a = suite_in(s, S_I32, s->n);
    float *own = suite_inout(s, S_F32, 4 * s->n, 0), *olds = suite_out(s, S_F32, 4 * s->n, 0);
    float *shared = suite_zeroed(s, S_F32, 4, 0);
    for (size_t i = 0; i < s->n; i++, own += 4, olds += 4) {
        float x = (float)(a[i] % 64);
        memcpy(olds, own, 16);
        own[0] += x;
        own[1] -= x;
        own[2] = fminf(own[2], x);
        own[3] = fmaxf(own[3], x);
        shared[0] += x;
        shared[1] -= x;
        shared[2] = fminf(shared[2], x);
        shared[3] = fmaxf(shared[3], x);
    }
}

static void case_local(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    size_t n = s->local[0];
    float *out = suite_out(s, S_F32, 3 * s->n / n, 0);
    for (size_t base = 0; base < s->n; base += n, out += 3) {
        float sums[3] = {0.5f, 0.5f, 0.5f};
        for (size_t i = base; i < base + n; i++) {
            float x = (float)(a[i] % 64);
            sums[0] += x;
            sums[1] = fminf(sums[1], x);
            sums[2] = fmaxf(sums[2], x);
        }
        for (size_t k = 0; k < 3 && k < n; k++)
            out[k] = sums[k];
    }
}

static void case_half(struct suite *s)
{
    suite_range(s, -50, 50);
    const uint16_t *a = suite_in(s, S_F16, s->n);
    uint16_t *own = suite_inout(s, S_F16, 3 * s->n, 0), *olds = suite_out(s, S_F16, 3 * s->n, 0);
    uint16_t *shared = suite_zeroed(s, S_F16, 2, 0);
    for (size_t i = 0; i < s->n; i++, own += 3, olds += 3) {
        float x = suite_half_to_float(a[i]);
        memcpy(olds, own, 6);
        own[0] = x < suite_half_to_float(own[0]) ? a[i] : own[0];
        own[1] = x > suite_half_to_float(own[1]) ? a[i] : own[1];
        own[2] = a[i];
        shared[0] = x < suite_half_to_float(shared[0]) ? a[i] : shared[0];
        shared[1] = x > suite_half_to_float(shared[1]) ? a[i] : shared[1];
    }
}

static const struct suite_case cases[] = {{.kernel = "floatatomic_global", .prepare = case_global},
                                          {.kernel = "floatatomic_local", .prepare = case_local},
                                          {.kernel = "floatatomic_half", .prepare = case_half}};

const struct suite_group suite_floatatomic = {"floatatomic", cases, SUITE_COUNT(cases)};
