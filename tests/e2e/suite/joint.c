/* SPDX-License-Identifier: MIT */
/*
 * Matrices of SPV_INTEL_joint_matrix, from joint.py: a sub-group has a product of tiles, of which
 * B's rows are packed by dwords (bytes of four rows, halves of two in each). Rows of A stand 64
 * bytes apart where these have 16 lanes: blocks of two dimensions need that.
 */
#include "suite.h"

enum { ROWS = 8 };

struct tiles {
    uint32_t lanes, tiles; /* columns; groups */
    uint32_t pitch;        /* of A, in elements */
    const uint8_t *a, *b;
    uint8_t *c;
};

static struct tiles tiles_of(struct suite *s, enum suite_type element, enum suite_type total,
                             uint32_t depth)
{
    struct tiles t = {.lanes = s->local[0], .tiles = s->groups[0]};
    t.pitch = depth * t.lanes / 8;
    t.a = suite_in(s, element, (size_t)t.tiles * ROWS * t.pitch);
    t.b = suite_in(s, element, (size_t)t.tiles * depth * t.lanes);
    t.c = suite_inout(s, total, (size_t)t.tiles * ROWS * t.lanes, 0);
    return t;
}

/* Index of B's element in tile t. */
static size_t packed(const struct tiles *t, uint32_t tile, uint32_t depth, uint32_t per_dword,
                     uint32_t k, uint32_t column)
{
    uint32_t row = k / per_dword;
    return (size_t)tile * depth * t->lanes + (size_t)row * t->lanes * per_dword +
           column * per_dword + k % per_dword;
}

static uint32_t product(const struct tiles *t, uint32_t tile, uint32_t row, uint32_t column,
                        bool a_signed, bool b_signed, bool by_columns)
{
    enum { DEPTH = 32 };
    uint32_t sum = 0;
    for (uint32_t k = 0; k < DEPTH; k++) {
        uint8_t x = t->a[((size_t)tile * ROWS + row) * t->pitch + k];
        size_t place = packed(t, tile, DEPTH, 4, k, column);
        if (by_columns)
            place = ((size_t)tile * t->lanes + column) * DEPTH + k;
        uint8_t y = t->b[place];
        sum += (uint32_t)((a_signed ? (int8_t)x : x) * (b_signed ? (int8_t)y : y));
    }
    return sum;
}

/* What becomes of a sum: `keep` times it, plus so many per row and at all, plus products. */
struct bytes {
    bool a_signed, b_signed, twice, by_columns; /* the last: of B, and of the result */
    uint32_t keep, per_row, plus, products;
};

static void bytes_case(struct suite *s, const struct bytes *how)
{
    struct tiles t = tiles_of(s, S_U8, S_U32, 32);
    size_t size_B = (size_t)t.tiles * ROWS * t.lanes * 4;
    uint32_t *before = malloc(size_B), *old = before, *c = (uint32_t *)(void *)t.c;
    if (!before)
        abort();
    memcpy(before, c, size_B);
    for (uint32_t tile = 0; tile < t.tiles; tile++, c += ROWS * t.lanes)
        for (uint32_t row = 0; row < ROWS; row++)
            for (uint32_t column = 0; column < t.lanes; column++, old++) {
                uint32_t sum = *old * how->keep + row * how->per_row + how->plus;
                if (how->products)
                    sum += product(&t, tile, row, column, how->a_signed, how->b_signed,
                                   how->by_columns);
                if (how->twice)
                    sum += product(&t, tile, row, column, false, false, false);
                c[how->by_columns ? column * ROWS + row : row * t.lanes + column] = sum;
            }
    free(before);
}

#define BYTES(name, ...)                                                                           \
    static void case_##name(struct suite *s)                                                       \
    {                                                                                              \
        bytes_case(s, &(const struct bytes){__VA_ARGS__});                                         \
    }
BYTES(ss, .a_signed = true, .b_signed = true, .keep = 1, .products = 1)
BYTES(su, .a_signed = true, .keep = 1, .products = 1)
BYTES(us, .b_signed = true, .keep = 1, .products = 1)
BYTES(uu, .keep = 1, .products = 1)
BYTES(filled, .a_signed = true, .b_signed = true, .plus = 5, .products = 1)
BYTES(twice, .a_signed = true, .b_signed = true, .keep = 1, .products = 1, .twice = true)
BYTES(elements, .keep = 3, .per_row = 1)
BYTES(columns, .a_signed = true, .b_signed = true, .keep = 1, .products = 1, .by_columns = true)

/* Small whole numbers: their sums are exact in any order. */
static void floats_case(struct suite *s, bool is_half)
{
    enum { DEPTH = 16 };
    struct tiles t = tiles_of(s, S_U16, S_F32, DEPTH);
    uint16_t *inputs[2] = {(uint16_t *)(uintptr_t)t.a, (uint16_t *)(uintptr_t)t.b};
    const size_t counts[2] = {(size_t)t.tiles * ROWS * t.pitch, (size_t)t.tiles * DEPTH * t.lanes};
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < counts[i]; k++) {
            float value = (float)(int)(suite_random(s) % 17) - 8;
            uint32_t bits;
            memcpy(&bits, &value, 4);
            inputs[i][k] = is_half ? suite_float_to_half(value) : (uint16_t)(bits >> 16);
        }
        suite_upload(s, inputs[i]);
    }
    float *c = (float *)(void *)t.c;
    for (size_t i = 0; i < (size_t)t.tiles * ROWS * t.lanes; i++)
        c[i] = (float)(int)(suite_random(s) % 2001) - 1000;
    suite_upload(s, c);
    for (uint32_t tile = 0; tile < t.tiles; tile++)
        for (uint32_t row = 0; row < ROWS; row++)
            for (uint32_t column = 0; column < t.lanes; column++, c++)
                for (uint32_t k = 0; k < DEPTH; k++) {
                    uint16_t x = inputs[0][((size_t)tile * ROWS + row) * t.pitch + k];
                    uint16_t y = inputs[1][packed(&t, tile, DEPTH, 2, k, column)];
                    uint32_t wide[2] = {(uint32_t)x << 16, (uint32_t)y << 16};
                    float p[2];
                    memcpy(p, wide, sizeof(p));
                    *c += is_half ? suite_half_to_float(x) * suite_half_to_float(y) : p[0] * p[1];
                }
}

static void case_bf(struct suite *s)
{
    floats_case(s, false);
}

static void case_half(struct suite *s)
{
    floats_case(s, true);
}

/* A work-group is one sub-group. */
static const struct suite_shape shapes8[] = {{{1}, {8}}, {{7}, {8}}, {{0}, {0}}};
static const struct suite_shape shapes16[] = {{{1}, {16}}, {{7}, {16}}, {{0}, {0}}};

#define CASES(lanes, ...)                                                                          \
    static const struct suite_case bytes##lanes[] = {                                              \
        {"joint_ss", case_ss, shapes##lanes},                                                      \
        {"joint_su", case_su, shapes##lanes},                                                      \
        {"joint_us", case_us, shapes##lanes},                                                      \
        {"joint_uu", case_uu, shapes##lanes},                                                      \
        {"joint_filled", case_filled, shapes##lanes},                                              \
        {"joint_twice", case_twice, shapes##lanes},                                                \
        {"joint_elements", case_elements, shapes##lanes, "khr"},                                   \
        __VA_ARGS__};                                                                              \
    static const struct suite_case bf##lanes[] = {{"joint_bf", case_bf, shapes##lanes}};           \
    static const struct suite_case half##lanes[] = {{"joint_half", case_half, shapes##lanes}};     \
    static const struct suite_case used##lanes[] = {{"joint_used", case_ss, shapes##lanes}};       \
    const struct suite_group suite_joint##lanes[4] = {                                             \
        {"joint-bytes-" #lanes, bytes##lanes, SUITE_COUNT(bytes##lanes)},                          \
        {"joint-used-" #lanes, used##lanes, SUITE_COUNT(used##lanes)},                             \
        {"joint-bf-" #lanes, bf##lanes, SUITE_COUNT(bf##lanes)},                                   \
        {"joint-half-" #lanes, half##lanes, SUITE_COUNT(half##lanes)}};
CASES(8, {"joint_columns", case_columns, shapes8, "khr"})
CASES(16)
