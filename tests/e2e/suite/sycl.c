/* SPDX-License-Identifier: MIT */
/* Kernels as SYCL compilers make them. */
#include "suite.h"

/* An accessor of a buffer: the part of it that may be used, all of it, where the part begins. */
static void accessor(struct suite *s, uint32_t dimensions, const uint64_t *size,
                     const uint64_t *memory, const uint64_t *offset)
{
    suite_value(s, dimensions * sizeof(*size), size);
    suite_value(s, dimensions * sizeof(*memory), memory);
    suite_value(s, dimensions * sizeof(*offset), offset);
}

static void case_add_one(struct suite *s)
{
    const uint64_t wanted = s->n + s->n / 2, all = wanted + 5, from = 2;
    const int32_t *a = suite_in(s, S_I32, all);
    accessor(s, 1, &wanted, &all, &from);
    int32_t *o = suite_out(s, S_I32, all, 0);
    accessor(s, 1, &wanted, &all, &from);
    suite_value(s, sizeof(wanted), &wanted);
    for (uint64_t i = from; i < wanted + from; i++)
        o[i] = a[i] + 1;
}

static void case_turn(struct suite *s)
{
    const uint64_t rows = s->items[1], columns = s->items[0];
    const uint64_t size[2] = {rows, columns}, turned[2] = {columns, rows};
    const uint64_t memory[2] = {rows + 1, columns + 3}, other[2] = {columns, rows + 1};
    const uint64_t begin[2] = {1, 2}, none[2] = {0};
    const int32_t *a = suite_in(s, S_I32, memory[0] * memory[1]);
    accessor(s, 2, size, memory, begin);
    int32_t *o = suite_out(s, S_I32, other[0] * other[1], 0);
    accessor(s, 2, turned, other, none);
    suite_local(s, s->local[0] * s->local[1] * sizeof(*a));
    for (uint64_t y = 0; y < rows; y++)
        for (uint64_t x = 0; x < columns; x++)
            o[x * other[1] + y] = a[(y + begin[0]) * memory[1] + x + begin[1]];
}

static void case_sum(struct suite *s)
{
    const uint64_t n = s->n, none = 0;
    const int32_t *a = suite_in(s, S_I32, n);
    accessor(s, 1, &n, &n, &none);
    int32_t *total = suite_zeroed(s, S_I32, 1, 0);
    const void *in_object = suite_device(s, total);
    suite_value(s, sizeof(in_object), &in_object);
    int32_t *first = suite_out(s, S_I32, n, 0);
    for (uint64_t i = 0; i < n; i++) {
        total[0] += a[i];
        first[i] = a[i - i % s->local[0] % s->simd];
    }
}

static const struct suite_shape squares[] = {
    {{2, 3}, {8, 8}}, {{1, 1}, {16, 16}}, {{3, 2}, {4, 4}}, {{0}, {0}}};
static const struct suite_case cases[] = {
    {"_ZTS6AddOne", case_add_one, NULL, NULL},
    {"_ZTS4Turn", case_turn, squares, NULL},
    {"_ZTS3Sum", case_sum, NULL, NULL},
};

const struct suite_group suite_sycl = {"sycl", cases, SUITE_COUNT(cases)};
