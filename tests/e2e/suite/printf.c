/* SPDX-License-Identifier: MIT */
/* printf in kernels: the same formats through C's. */
#include "suite.h"

#include <inttypes.h>

/* Appends "[a,b,c]" of count elements, each printed by one. */
#define VECTOR(s, count, format, element)                                                          \
    do {                                                                                           \
        for (int k = 0; k < (count); k++)                                                          \
            suite_text(s, "%s" format, k ? "," : "", element);                                     \
    } while (0)

static void case_integers(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    const int64_t *b = suite_in(s, S_I64, s->n);
    for (int i = 0; i < (int)s->n; i++) {
        int v = a[i];
        long w = b[i];
        suite_text(s, "%d integers [%d] [%i] [%u] [%o] [%x] [%X]\n", i, v, v, v, v, v, v);
        suite_text(s, "%d flags [%+d] [% d] [%#x] [%#o] [%08d] [%-12d] [%12.7d] [%.3d] [%+-8d]\n",
                   i, v, v, v, v, v, v, v, v, v);
        suite_text(s, "%d long [%ld] [%li] [%lu] [%lx] [%#lX] [%lo] [%24ld] [%-24ld]\n", i, w, w, w,
                   w, w, w, w, w);
    }
}

static void case_lengths(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    for (int i = 0; i < (int)s->n; i++) {
        int v = a[i];
        signed char c = (signed char)v;
        short h = (short)v;
        suite_text(s, "%d lengths [%hhd] [%hhu] [%hhx] [%hd] [%hu] [%hX]\n", i, c, c, c, h, h, h);
        suite_text(s, "%d promoted [%d] [%u] [%x] [%d] [%u]\n", i, c, c, c, h, h);
        suite_text(s, "%d cut [%hhd] [%hhu] [%hhx] [%hd] [%hu] [%ho]\n", i, c, c, c, h, h, h);
        suite_text(s, "%d mixed %c%c%c [%3c] [%-3c] %ld %d\n", i, 'a' + (v & 15), 'B', '%', 'x',
                   'y', (long)v << 20, 7);
    }
}

static void case_floats(struct suite *s)
{
    suite_range(s, -1e4, 1e4);
    float *a = suite_in(s, S_F32, s->n);
    const void *b = suite_in(s, s->doubles ? S_F64 : S_F32, s->n);
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-126f, 1e30f};
    for (size_t i = 0; i < s->n && i < SUITE_COUNT(special); i++)
        a[i] = special[i];
    suite_upload(s, a);
    for (int i = 0; i < (int)s->n; i++) {
        double x = (double)a[i];
        double y = s->doubles ? ((const double *)b)[i] : (double)((const float *)b)[i];
        suite_text(s, "%d floats [%f] [%e] [%g] [%a]\n", i, x, x, x, x);
        suite_text(s, "%d capitals [%F] [%E] [%G] [%A]\n", i, x, x, x, x);
        if (s->doubles)
            suite_text(s, "%d doubles [%f] [%.15e] [%.17g] [%a]\n", i, y, y, y, y);
        suite_text(s, "%d shaped [%+.2f] [% 12.3e] [%-12.1f] [%012.4f] [%#.0f] [%.0f]\n", i, x, x,
                   x, x, x, y);
    }
}

static void case_vectors(struct suite *s)
{
    const int32_t(*a)[16] = suite_in(s, S_I32, 16 * s->n);
    const float(*b)[16] = suite_in(s, S_F32, 16 * s->n);
    const double(*c)[4] = suite_in(s, s->doubles ? S_F64 : S_F32, 4 * s->n);
    for (int i = 0; i < (int)s->n; i++) {
        const int32_t *v = a[i];
        const float *x = b[i];
        suite_text(s, "%d int [", i);
        VECTOR(s, 2, "%d", v[k]);
        suite_text(s, "] [");
        VECTOR(s, 3, "%x", v[k]);
        suite_text(s, "] [");
        VECTOR(s, 4, "%u", v[k]);
        suite_text(s, "] [");
        VECTOR(s, 8, "%d", v[k]);
        suite_text(s, "] [");
        VECTOR(s, 16, "%i", v[k]);
        suite_text(s, "]\n%d short [", i);
        VECTOR(s, 2, "%d", (int16_t)v[k]);
        suite_text(s, "] [");
        VECTOR(s, 4, "%u", (uint16_t)v[k]);
        suite_text(s, "] [");
        VECTOR(s, 8, "%x", (uint16_t)v[k]);
        suite_text(s, "] char [");
        VECTOR(s, 4, "%d", (int8_t)v[k]);
        suite_text(s, "] [");
        VECTOR(s, 16, "%u", (uint8_t)v[k]);
        suite_text(s, "] [");
        VECTOR(s, 3, "%x", (uint8_t)v[k + 1]);
        suite_text(s, "]\n%d long [", i);
        VECTOR(s, 2, "%ld", (long)v[k] << 10);
        suite_text(s, "] [");
        VECTOR(s, 4, "%lx", (long)v[k]);
        suite_text(s, "]\n%d float [", i);
        VECTOR(s, 2, "%f", (double)x[k]);
        suite_text(s, "] [");
        VECTOR(s, 4, "%g", (double)x[k]);
        suite_text(s, "] [");
        VECTOR(s, 8, "%.2e", (double)x[k]);
        suite_text(s, "] [");
        VECTOR(s, 16, "%.1f", (double)x[k]);
        suite_text(s, "] [");
        VECTOR(s, 4, "%+8.3f", (double)x[k + 12]);
        suite_text(s, "]\n");
        if (!s->doubles)
            continue;
        suite_text(s, "%d double [", i);
        VECTOR(s, 2, "%f", c[i][k]);
        suite_text(s, "] [");
        VECTOR(s, 4, "%a", c[i][k]);
        suite_text(s, "]\n");
    }
}

static void case_strings(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    for (int i = 0; i < (int)s->n; i++) {
        suite_text(s, "%d strings [plain] [   right] [left    ] [cu] [    c] 100%%!\n", i);
        suite_text(s, "%d choice %s%s\n", i, a[i] & 1 ? "odd" : "even",
                   a[i] & 2 ? ", second bit" : "");
    }
    suite_text(s, "nothing but text\n"
                  "a line in several 4 parts\n"
                  "tab\there, \"quotes\", a \\ and\ntwo lines\n"
                  "%%d is not a conversion, %%d is a string\n"
                  "\n");
}

static void case_pointers(struct suite *s)
{
    int32_t *a = suite_in(s, S_I32, s->n);
    suite_local(s, 64);
    const int32_t *device = suite_device(s, a);
    for (int i = 0; i < (int)s->n; i++)
        suite_text(s, "%d pointers [%p] [%24p] 1\n", i, (const void *)(device + i),
                   (const void *)device);
}

static void case_divergent(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    for (int i = 0; i < (int)s->n; i++) {
        int v = a[i];
        if ((v & 3) == 0)
            suite_text(s, "%d takes the first way\n", i);
        for (int k = 0; (v & 3) == 1 && k < (v >> 2 & 7); k++)
            suite_text(s, "%d goes round, time %d of %d\n", i, k, v >> 2 & 7);
        if ((v & 3) == 2)
            suite_text(s, "%d reports from %s, %.3f\n", i, v & 4 ? "afar" : "here",
                       (double)((float)v * (v & 4 ? 0.5f : 0.25f)));
        if (v & 2)
            suite_text(s, "%d ends at %ld\n", i, (long)v * v);
    }
}

static void case_groups(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    for (uint32_t g = 0; g < s->groups[0]; g++) {
        int sum = 0;
        for (uint32_t i = 0; i < s->local[0]; i++)
            sum += a[g * s->local[0] + i] & 0xffff;
        suite_text(s, "group %d sums to %d; 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", (int)g, sum);
    }
}

/* 4 MB of records. Each is the format, the item, a vector: with their types, and the count. */
static void case_overflow(struct suite *s)
{
    enum { BUFFER_B = 4 << 20, RECORD_B = 4 + 8 + 8 + 128 };
    uint32_t *out = suite_out(s, S_U32, s->n, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        out[i] = i + 1;
        suite_text(s, "%u fills ", i);
        VECTOR(s, 16, "%u", i);
        suite_text(s, "\n%u again ", i);
        VECTOR(s, 16, "%x", i);
        suite_text(s, "\n");
    }
    /* in zebin a format's address takes eight bytes; sub-groups at the end fit in part */
    s->least_lines = BUFFER_B / (RECORD_B + 4) - 64;
    s->most_lines = BUFFER_B / RECORD_B;
}

static const struct suite_shape shapes[] = {{{1}, {1}}, {{3}, {7}}, {{2}, {33}}, {{0}, {0}}};
static const struct suite_shape many[] = {{{70}, {256}}, {{0}, {0}}};

static const struct suite_case cases[] = {
    {"printf_integers", case_integers, shapes},   {"printf_lengths", case_lengths, shapes},
    {"printf_floats", case_floats, shapes},       {"printf_vectors", case_vectors, shapes},
    {"printf_strings", case_strings, shapes},     {"printf_pointers", case_pointers, shapes},
    {"printf_divergent", case_divergent, shapes}, {"printf_groups", case_groups, NULL},
    {"printf_overflow", case_overflow, many},
};

/* PoCL 3.1 prints doubles with the digits of floats, ignores the width of a string with a precision
 * and has another buffer. Intel's 22.43 prints "(null)", and a few records more than are whole. */
const struct suite_group suite_printf = {
    "printf", cases, SUITE_COUNT(cases),
    .not_on_pocl = "printf_floats printf_strings printf_overflow",
    .not_in = "intel22:printf_strings intel22:printf_overflow"};
