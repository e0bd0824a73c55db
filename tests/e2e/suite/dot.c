/* SPDX-License-Identifier: MIT */
/* Dot products of four bytes. */
#include "suite.h"

static uint32_t dot(uint32_t a, uint32_t b, bool a_signed, bool b_signed)
{
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (a_signed ? (int8_t)(a >> i) : (uint8_t)(a >> i)) *
               (b_signed ? (int8_t)(b >> i) : (uint8_t)(b >> i));
    return (uint32_t)sum;
}

static void case_bytes(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n), *b = suite_in(s, S_U32, s->n);
    uint32_t *c = suite_inout(s, S_U32, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, c += 4) {
        uint32_t z = c[0];
        c[0] = z + dot(a[i], b[i], true, true);
        c[1] = z + dot(a[i], b[i], false, false);
        c[2] = z + dot(a[i], b[i], true, false);
        c[3] = z + dot(a[i], b[i], false, true);
    }
}

static void case_plain(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n), *b = suite_in(s, S_U32, s->n);
    uint32_t *c = suite_inout(s, S_U32, 6 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, c += 6) {
        uint32_t z = c[0];
        c[0] = dot(a[i], b[i], true, true);
        c[1] = dot(a[i], b[i], false, false);
        c[2] = dot(a[i], b[i], true, false);
        c[3] = z + dot(a[i], b[i], false, true);
        c[4] = dot(a[i], b[i], true, true) - 1000;
        c[5] = dot(a[i], b[i], false, false) + 40000;
    }
}

static void case_long(struct suite *s)
{
    enum { N = 21 };
    const uint32_t *a = suite_in(s, S_U32, s->n + N), *b = suite_in(s, S_U32, N);
    uint32_t *c = suite_inout(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < N; k++)
            c[i] += dot(a[i + k], b[k], true, true);
    suite_int(s, N);
}

static const struct suite_case cases[] = {
    {"dot_bytes", case_bytes, NULL, NULL},
    {"dot_plain", case_plain, NULL, NULL},
    {"dot_long", case_long, NULL, NULL},
};

/* No other implementation has the functions of the first and the last. */
const struct suite_group suite_dot = {"dot", cases, SUITE_COUNT(cases), "dot_bytes dot_long",
                                      NULL,  NULL};
