/* SPDX-License-Identifier: MIT */
/* Sizes of launches. */
#include "suite.h"

static const struct suite_shape all_sizes[] = {{{1}, {1}},
                                               {{5}, {1}},
                                               {{1}, {7}},
                                               {{4}, {33}},
                                               {{2}, {256}},
                                               {{3}, {100}},
                                               {{2, 3}, {1, 1}},
                                               {{2, 2}, {3, 9}},
                                               {{1, 3}, {31, 2}},
                                               {{2, 1, 3}, {2, 3, 4}},
                                               {{1, 2, 2}, {17, 1, 3}},
                                               {{1, 1, 2}, {1, 1, 65}},
                                               {{0}, {0}}};

struct item {
    uint32_t id[3], local[3], group[3];
    size_t place, local_place;
};

static struct item item_of(const struct suite *s, size_t place)
{
    struct item item = {.place = place};
    size_t left = place;
    for (int d = 0; d < 3; d++) {
        item.id[d] = left % s->items[d];
        left /= s->items[d];
        item.local[d] = item.id[d] % s->local[d];
        item.group[d] = item.id[d] / s->local[d];
    }
    item.local_place = (item.local[2] * s->local[1] + item.local[1]) * s->local[0] + item.local[0];
    return item;
}

static void ids(struct suite *s)
{
    uint32_t *o = suite_out(s, S_U32, 12 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        struct item item = item_of(s, i);
        for (int d = 0; d < 3; d++, o += 4) {
            o[0] = item.id[d] + s->offset[d];
            o[1] = item.local[d];
            o[2] = item.group[d];
            o[3] = s->offset[d];
        }
    }
}

static void case_ids(struct suite *s)
{
    ids(s);
}

static void case_ids_offset(struct suite *s)
{
    s->offset[0] = 1000;
    s->offset[1] = 7;
    s->offset[2] = 0x12345678;
    ids(s);
}

static void case_sizes(struct suite *s)
{
    uint32_t *o = suite_out(s, S_U32, 12 * s->n, 0);
    uint32_t dimensions = s->items[2] > 1 ? 3 : s->items[1] > 1 ? 2 : 1;
    for (size_t i = 0; i < s->n; i++) {
        for (int d = 0; d < 3; d++, o += 4) {
            o[0] = s->items[d];
            o[1] = s->local[d];
            o[2] = s->groups[d];
            o[3] = o[1] + dimensions * 100;
        }
    }
}

static void case_linear(struct suite *s)
{
    s->offset[0] = 5;
    s->offset[1] = 100;
    uint32_t *o = suite_out(s, S_U32, 2 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        o[2 * i] = (uint32_t)i;
        o[2 * i + 1] = (uint32_t)item_of(s, i).local_place;
    }
}

static void case_only_x(struct suite *s)
{
    uint32_t *o = suite_out(s, S_U32, s->items[0], 0);
    for (uint32_t i = 0; i < s->items[0]; i++)
        o[i] = i % s->local[0];
}

static void only(struct suite *s, int d)
{
    uint32_t *o = suite_zeroed(s, S_U32, s->items[d], 0);
    for (uint32_t i = 0; i < s->items[d]; i++)
        o[i] = (i % s->local[d] + 1) * (s->n / s->items[d]);
}

static void case_only_y(struct suite *s)
{
    only(s, 1);
}

static void case_only_z(struct suite *s)
{
    only(s, 2);
}

static void case_no_ids(struct suite *s)
{
    uint32_t *o = suite_zeroed(s, S_U32, 1, 0);
    o[0] = s->n;
}

static void case_groups_only(struct suite *s)
{
    uint32_t *o = suite_out(s, S_U32, s->groups[0] * s->groups[1] * s->groups[2], 0);
    for (uint32_t z = 0; z < s->groups[2]; z++) {
        for (uint32_t y = 0; y < s->groups[1]; y++) {
            for (uint32_t x = 0; x < s->groups[0]; x++)
                *o++ = x + 10 * y + 100 * z;
        }
    }
}

static void case_stencil(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * s->local[0] * s->local[1] * s->local[2]);
    for (size_t i = 0; i < s->n; i++) {
        struct item item = item_of(s, i);
        o[i] = 0;
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t at[3];
            for (int d = 0; d < 3; d++)
                at[d] = item.group[d] * s->local[d] + (item.local[d] + (k >> d & 1)) % s->local[d];
            o[i] = o[i] * 3 + a[(at[2] * s->items[1] + at[1]) * s->items[0] + at[0]];
        }
    }
}

static void case_required(struct suite *s)
{
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    uint32_t size = s->local[0] * s->local[1] * s->local[2];
    for (size_t i = 0; i < s->n; i++) {
        struct item item = item_of(s, i);
        o[i] = item.group[0] * 1000 + size - 1 - (uint32_t)item.local_place + s->local[0];
    }
}

static void case_stride(struct suite *s)
{
    enum { COUNT = 3000 };
    const uint32_t *a = suite_in(s, S_U32, COUNT);
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    suite_int(s, COUNT);
    for (uint32_t i = 0; i < s->n; i++) {
        o[i] = 0;
        for (uint32_t k = i; k < COUNT; k += s->n)
            o[i] = o[i] * 5 + a[k];
    }
}

static void case_guarded(struct suite *s)
{
    int width = s->items[0] > 2 ? (int)s->items[0] - 2 : 1, height = (int)s->items[1];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, width);
    suite_int(s, height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            o[y * width + x] = a[y * width + x] * 2 + x - y;
    }
}

#define REQUIRED(x, y, z, ...)                                                                     \
    static const struct suite_shape of_##x##_##y##_##z[] = {                                       \
        {{1}, {x, y, z}}, {__VA_ARGS__, {x, y, z}}, {{0}, {0}}}
#define GROUPS(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
REQUIRED(1, 1, 1, GROUPS(9));
REQUIRED(7, 1, 1, GROUPS(3, 2));
REQUIRED(33, 1, 1, GROUPS(2));
REQUIRED(256, 1, 1, GROUPS(2, 1, 2));
REQUIRED(3, 5, 1, GROUPS(2, 3));
REQUIRED(16, 16, 1, GROUPS(2, 2));
REQUIRED(5, 3, 7, GROUPS(2, 1, 2));
REQUIRED(1, 9, 4, GROUPS(1, 2, 3));

#define ROW(name, shapes)                                                                          \
    {                                                                                              \
        "shape_" #name, case_##name, shapes, NULL                                                  \
    }
#define ROW_OF(size)                                                                               \
    {                                                                                              \
        "shape_of_" #size, case_required, of_##size, NULL                                          \
    }

static const struct suite_case cases[] = {
    ROW(ids, all_sizes),
    {"shape_ids", case_ids_offset, all_sizes, NULL},
    ROW(sizes, all_sizes),
    ROW(linear, all_sizes),
    ROW(only_x, all_sizes),
    ROW(only_y, all_sizes),
    ROW(only_z, all_sizes),
    ROW(no_ids, all_sizes),
    ROW(groups_only, all_sizes),
    ROW(stencil, all_sizes),
    ROW_OF(1_1_1),
    ROW_OF(7_1_1),
    ROW_OF(33_1_1),
    ROW_OF(256_1_1),
    ROW_OF(3_5_1),
    ROW_OF(16_16_1),
    ROW_OF(5_3_7),
    ROW_OF(1_9_4),
    ROW(stride, NULL),
    ROW(guarded, all_sizes),
};

const struct suite_group suite_shape = {"shape", cases, SUITE_COUNT(cases)};
