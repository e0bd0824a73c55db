/* SPDX-License-Identifier: MIT */
/*
 * Load/store cache messages in all forms that vISA has, from XeHPG on: lanes of vectors, quads,
 * rows over the lanes, strides, atomics, fences; texels where there are images; blocks of two
 * dimensions where there are 64-byte registers.
 */
#include "suite.h"

enum { PER_LANE_B = 64, UNTOUCHED = 7, SLACK_B = 128 };

/* Whether a lane takes part: ON in lsc.cl. */
static bool is_on(size_t i)
{
    return i % 5 != 1;
}

/* Elements in memory, and the slots that they have in a vector. */
struct form {
    uint32_t element_B, slot_B, elements;
    uint32_t shift;      /* of the element in its slot */
    uint8_t channels[8]; /* place of each element behind the address, in elements */
};
#define IN_ORDER                                                                                   \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7                                                                     \
    }

static uint64_t get(const uint8_t *from, uint32_t size_B)
{
    uint64_t value = 0;
    memcpy(&value, from, size_B);
    return value;
}

static uint32_t lanes_of(const struct suite *s)
{
    return s->simd8 ? 8 : 16; /* XeHPC has none of eight */
}

/* Places that an element may have, lane by lane; lanes_B: bytes that each lane has for itself. */
static uint32_t *places(struct suite *s, const struct form *f, uint32_t within_B)
{
    uint32_t span_B = f->element_B * (f->channels[f->elements - 1] + 1u);
    uint32_t *at = suite_in(s, S_U32, s->n);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t base = (uint32_t)(within_B ? i * within_B : 0);
        uint32_t room = within_B ? within_B : (uint32_t)s->n * PER_LANE_B;
        at[i] =
            base + (uint32_t)(suite_random(s) % (room - span_B + 1)) / f->element_B * f->element_B;
    }
    suite_upload(s, at);
    return at;
}

static void put_slots(uint8_t *out, const struct form *f, const uint8_t *from)
{
    for (uint32_t c = 0; c < f->elements; c++) {
        uint64_t value = get(from + f->channels[c] * f->element_B, f->element_B) << f->shift;
        memcpy(out + c * f->slot_B, &value, f->slot_B);
    }
}

static void put_untouched(uint8_t *out, const struct form *f)
{
    for (uint32_t c = 0; c < f->elements; c++)
        memcpy(out + c * f->slot_B, &(uint64_t){UNTOUCHED}, f->slot_B);
}

static void load_case(struct suite *s, const struct form *f)
{
    const uint8_t *a = suite_in(s, S_U8, s->n * PER_LANE_B);
    uint32_t *at = places(s, f, 0);
    uint8_t *out = suite_out(s, S_U8, s->n * f->elements * f->slot_B, 0);
    for (size_t i = 0; i < s->n; i++, out += f->elements * f->slot_B) {
        if (is_on(i))
            put_slots(out, f, a + at[i]);
        else
            put_untouched(out, f);
    }
}

/* Vectors of three have the room of four. */
static uint32_t argument_slots(const struct form *f)
{
    return f->elements == 3 ? 4 : f->elements;
}

static void store_case(struct suite *s, const struct form *f)
{
    uint32_t row_B = argument_slots(f) * f->slot_B;
    const uint8_t *a = suite_in(s, S_U8, s->n * row_B);
    uint32_t *at = places(s, f, PER_LANE_B);
    uint8_t *out = suite_inout(s, S_U8, s->n * PER_LANE_B, 0);
    for (size_t i = 0; i < s->n; i++) {
        for (uint32_t c = 0; is_on(i) && c < f->elements; c++) {
            uint64_t value = get(a + i * row_B + c * f->slot_B, f->slot_B) >> f->shift;
            memcpy(out + at[i] + f->channels[c] * f->element_B, &value, f->element_B);
        }
    }
}

static void local_case(struct suite *s, const struct form *f)
{
    uint32_t items = s->local[0], span_B = f->element_B * f->elements;
    const uint8_t *a = suite_in(s, S_U8, s->n * PER_LANE_B);
    uint32_t *at = suite_in(s, S_U32, s->n);
    for (size_t i = 0; i < s->n; i++)
        at[i] = (uint32_t)(suite_random(s) % (items * PER_LANE_B - span_B + 1)) / f->element_B *
                f->element_B;
    suite_upload(s, at);
    uint8_t *out = suite_out(s, S_U8, s->n * f->elements * f->slot_B, 0);
    uint8_t *stored = suite_out(s, S_U8, s->n * PER_LANE_B, 0);
    memset(stored, 0x5a, s->n * PER_LANE_B);
    for (size_t i = 0; i < s->n; i++, out += f->elements * f->slot_B) {
        const uint8_t *from = a + i / items * items * PER_LANE_B + at[i];
        put_untouched(out, f);
        if (!is_on(i))
            continue;
        put_slots(out, f, from);
        memcpy(stored + i * PER_LANE_B, from, span_B);
    }
}

/* name, bytes of an element, of a slot, elements, shift */
#define SHAPES(X)                                                                                  \
    X(d8, 1, 1, 1, 0)                                                                              \
    X(d16, 2, 2, 1, 0)                                                                             \
    X(d8c32, 1, 4, 1, 0)                                                                           \
    X(d16c32, 2, 4, 1, 0)                                                                          \
    X(d16c32h, 2, 4, 1, 16)                                                                        \
    X(d32, 4, 4, 1, 0)                                                                             \
    X(d32x2, 4, 4, 2, 0)                                                                           \
    X(d32x3, 4, 4, 3, 0)                                                                           \
    X(d32x4, 4, 4, 4, 0)                                                                           \
    X(d32x8, 4, 4, 8, 0)                                                                           \
    X(d64, 8, 8, 1, 0)                                                                             \
    X(d64x2, 8, 8, 2, 0)                                                                           \
    X(d64x3, 8, 8, 3, 0)                                                                           \
    X(d64x4, 8, 8, 4, 0)
#define SHAPE(name, element_B, slot_B, elements, shift)                                            \
    static const struct form form_##name = {element_B, slot_B, elements, shift, IN_ORDER};         \
    static void load_##name(struct suite *s)                                                       \
    {                                                                                              \
        load_case(s, &form_##name);                                                                \
    }                                                                                              \
    static void store_##name(struct suite *s)                                                      \
    {                                                                                              \
        store_case(s, &form_##name);                                                               \
    }                                                                                              \
    static void local_##name(struct suite *s)                                                      \
    {                                                                                              \
        local_case(s, &form_##name);                                                               \
    }
SHAPES(SHAPE)

/* ---- quads ---- */

#define QUADS(X)                                                                                   \
    X(x, 4, 4, 1, 0)                                                                               \
    X(w, 4, 4, 1, 3)                                                                               \
    X(xz, 4, 4, 2, 0, 2)                                                                           \
    X(yzw, 4, 4, 3, 1, 2, 3)                                                                       \
    X(xyzw, 4, 4, 4, 0, 1, 2, 3)                                                                   \
    X(xw64, 8, 8, 2, 0, 3)                                                                         \
    X(yz16, 2, 4, 2, 1, 2)
#define QUAD(name, element_B, slot_B, elements, ...)                                               \
    static void quad_##name(struct suite *s)                                                       \
    {                                                                                              \
        load_case(s, &(struct form){element_B, slot_B, elements, 0, {__VA_ARGS__}});               \
    }
QUADS(QUAD)

/* ---- one vector over the lanes: what lies behind it in the lanes stays 0 ---- */

static void row_case(struct suite *s, uint32_t size_B, uint32_t slot_B, uint32_t slots)
{
    enum { GROUP_B = 520 };
    uint32_t lanes = lanes_of(s), groups = s->n / lanes;
    const uint8_t *a = suite_in(s, S_U8, groups * GROUP_B);
    uint8_t *out = suite_out(s, S_U8, s->n * slots * slot_B, 0);
    uint8_t *stored = suite_inout(s, S_U8, groups * GROUP_B, 0);
    for (uint32_t g = 0; g < groups; g++) {
        uint8_t row[512] = {0};
        memcpy(row, a + g * GROUP_B, size_B);
        memcpy(stored + g * GROUP_B, row, size_B);
        for (uint32_t lane = 0; lane < lanes; lane++)
            for (uint32_t c = 0; c < slots; c++, out += slot_B)
                memcpy(out, row + (c * lanes + lane) * slot_B, slot_B);
    }
}

/* name, bytes of the vector, of a slot, slots of a lane */
#define ROWS8(X)                                                                                   \
    X(d32x1t, 4, 4, 1)                                                                             \
    X(d32x4t, 16, 4, 1)                                                                            \
    X(d32x8t, 32, 4, 1)                                                                            \
    X(d32x16t, 64, 4, 2)                                                                           \
    X(d32x64t, 256, 4, 8)                                                                          \
    X(d64x3t, 24, 8, 1)                                                                            \
    X(d64x32t, 256, 8, 4)                                                                          \
    X(d8x16t, 16, 4, 1)                                                                            \
    X(d16x32t, 64, 4, 2)
#define ROWS16(X)                                                                                  \
    X(d32x1t, 4, 4, 1)                                                                             \
    X(d32x3t, 12, 4, 1)                                                                            \
    X(d32x16t, 64, 4, 1)                                                                           \
    X(d32x32t, 128, 4, 2)                                                                          \
    X(d32x64t, 256, 4, 4)                                                                          \
    X(d64x8t, 64, 8, 1)                                                                            \
    X(d64x64t, 512, 8, 4)                                                                          \
    X(d8x64t, 64, 4, 1)                                                                            \
    X(d16x64t, 128, 4, 2)
#define ROW8(name, size_B, slot_B, slots)                                                          \
    static void row8_##name(struct suite *s)                                                       \
    {                                                                                              \
        row_case(s, size_B, slot_B, slots);                                                        \
    }
#define ROW16(name, size_B, slot_B, slots)                                                         \
    static void row16_##name(struct suite *s)                                                      \
    {                                                                                              \
        row_case(s, size_B, slot_B, slots);                                                        \
    }
ROWS8(ROW8)
ROWS16(ROW16)

/* ---- a base and a distance ---- */

static void strided_case(struct suite *s, const struct form *f, uint32_t from, uint32_t to)
{
    enum { GROUP_B = 4096 };
    uint32_t lanes = lanes_of(s), groups = s->n / lanes;
    const uint8_t *a = suite_in(s, S_U8, groups * 32 + lanes * from + SLACK_B);
    suite_int(s, (int32_t)from);
    suite_int(s, (int32_t)to);
    uint8_t *out = suite_out(s, S_U8, s->n * f->elements * f->slot_B, 0);
    uint8_t *stored = suite_inout(s, S_U8, groups * GROUP_B, 0);
    for (uint32_t i = 0; i < s->n; i++, out += f->elements * f->slot_B) {
        const uint8_t *p = a + i / lanes * 32 + i % lanes * from;
        put_untouched(out, f);
        if (!is_on(i) && i % lanes)
            continue;
        put_slots(out, f, p);
        memcpy(stored + i / lanes * GROUP_B + i % lanes * to, p, f->elements * f->element_B);
    }
}

#define STRIDED(name, from, to)                                                                    \
    static void strided_##name(struct suite *s)                                                    \
    {                                                                                              \
        strided_case(s, &form_##name, from, to);                                                   \
    }
STRIDED(d32, 12, 4)
STRIDED(d32x3, 4, 20)
STRIDED(d64x2, 0, 16)
STRIDED(d8c32, 5, 3)
STRIDED(d16, 2, 6)

/* ---- atomics ---- */

static uint32_t new_value(const char *op, uint32_t old, uint32_t x, uint32_t y)
{
    const struct {
        const char *name;
        uint32_t value;
    } rows[] = {{"iinc", old + 1},
                {"idec", old - 1},
                {"load", old},
                {"store", x},
                {"iadd", old + x},
                {"isub", old - x},
                {"smin", (int32_t)x < (int32_t)old ? x : old},
                {"smax", (int32_t)x > (int32_t)old ? x : old},
                {"umin", x < old ? x : old},
                {"umax", x > old ? x : old},
                {"and", old & x},
                {"or", old | x},
                {"xor", old ^ x},
                {"icas", old == x ? y : old}};
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) {
        if (!strcmp(rows[i].name, op))
            return rows[i].value;
    }
    abort();
}

static void atomic_case(struct suite *s, const char *op)
{
    uint32_t *at = suite_in(s, S_U32, s->n), *x = suite_in(s, S_U32, s->n);
    const uint32_t *y = suite_in(s, S_U32, s->n);
    uint32_t *memory = suite_inout(s, S_U32, s->n, 0), *old = suite_out(s, S_U32, s->n, 0);
    for (uint32_t i = 0; i < s->n; i++) { /* each lane its own, in another order */
        at[i] = s->n - 1 - i;
        if (i % 2)
            x[i] = memory[at[i]];
    }
    suite_upload(s, at);
    suite_upload(s, x);
    for (uint32_t i = 0; i < s->n; i++) {
        old[i] = is_on(i) ? memory[at[i]] : UNTOUCHED;
        if (is_on(i))
            memory[at[i]] = new_value(op, old[i], x[i], y[i]);
    }
}

#define ATOMICS(X)                                                                                 \
    X(iinc)                                                                                        \
    X(idec)                                                                                        \
    X(load) X(store) X(iadd) X(isub) X(smin) X(smax) X(umin) X(umax) X(and) X(or) X(xor) X(icas)
#define ATOMIC(name)                                                                               \
    static void atomic_##name(struct suite *s)                                                     \
    {                                                                                              \
        atomic_case(s, #name);                                                                     \
    }
ATOMICS(ATOMIC)

/* Small whole numbers, of which every other one is that in memory. */
#define FLOAT_ATOMIC_CASES(T, S)                                                                   \
    static void atomic_##T(struct suite *s, const char *op)                                        \
    {                                                                                              \
        uint32_t *at = suite_in(s, S_U32, s->n);                                                   \
        T *x = suite_in(s, S, s->n), *y = suite_in(s, S, s->n);                                    \
        T *memory = suite_inout(s, S, s->n, 0), *old = suite_out(s, S, s->n, 0);                   \
        for (uint32_t i = 0; i < s->n; i++) {                                                      \
            at[i] = s->n - 1 - i;                                                                  \
            memory[at[i]] = (T)(int)(suite_random(s) % 41) - 20;                                   \
            x[i] = i % 2 ? memory[at[i]] : (T)(int)(suite_random(s) % 41) - 20;                    \
            y[i] = (T)i;                                                                           \
        }                                                                                          \
        suite_upload(s, at);                                                                       \
        suite_upload(s, x);                                                                        \
        suite_upload(s, y);                                                                        \
        suite_upload(s, memory);                                                                   \
        for (uint32_t i = 0; i < s->n; i++) {                                                      \
            T *m = &memory[at[i]], before = *m;                                                    \
            old[i] = is_on(i) ? before : UNTOUCHED;                                                \
            if (!is_on(i))                                                                         \
                continue;                                                                          \
            *m = !strcmp(op, "fadd")   ? before + x[i]                                             \
                 : !strcmp(op, "fsub") ? before - x[i]                                             \
                 : !strcmp(op, "fmin") ? (x[i] < before ? x[i] : before)                           \
                 : !strcmp(op, "fmax") ? (x[i] > before ? x[i] : before)                           \
                 : before == x[i]      ? y[i]                                                      \
                                       : before;                                                        \
        }                                                                                          \
    }
FLOAT_ATOMIC_CASES(float, S_F32)
FLOAT_ATOMIC_CASES(double, S_F64)
#define FLOAT_ATOMICS(X, T) X(fadd, T) X(fsub, T) X(fmin, T) X(fmax, T) X(fcas, T)
#define FLOAT_ATOMIC(name, T)                                                                      \
    static void atomic_##name##_##T(struct suite *s)                                               \
    {                                                                                              \
        atomic_##T(s, #name);                                                                      \
    }
FLOAT_ATOMICS(FLOAT_ATOMIC, float)
FLOAT_ATOMICS(FLOAT_ATOMIC, double)

static void case_table(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n + 1);
    uint32_t *at = suite_in(s, S_U32, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        at[i] %= s->n;
    suite_upload(s, at);
    uint32_t *out = suite_out(s, S_U32, 2 * (size_t)s->n, 0);
    uint32_t *stored = suite_inout(s, S_U32, s->n, 0);
    for (uint32_t i = 0; i < s->n; i++, out += 2) {
        out[0] = is_on(i) ? a[at[i]] : UNTOUCHED;
        out[1] = is_on(i) ? a[at[i] + 1] : UNTOUCHED;
        if (is_on(i))
            stored[i] = a[at[i] + 1];
    }
    suite_int(s, 0);
}

static void case_fences(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n);
    uint32_t *out = suite_out(s, S_U32, s->n, 0);
    for (uint32_t i = 0; i < s->n; i++)
        out[i] = a[i] + 3;
}

static void case_status(struct suite *s)
{
    const struct form form = {4, 4, 4, 0, IN_ORDER};
    suite_in(s, S_U8, s->n * PER_LANE_B);
    places(s, &form, 0);
    uint32_t *out = suite_out(s, S_U32, s->n, 0), lanes = lanes_of(s);
    for (uint32_t i = 0; i < s->n; i++) {
        out[i] = 0;
        for (uint32_t lane = 0; lane < lanes; lane++)
            out[i] |= (uint32_t)(lane * 3 % 5 != 1) << lane;
    }
}

/* ---- texels ---- */

enum { WIDTH = 20, HEIGHT = 6 };

static ze_image_desc_t image_of(uint32_t width, uint32_t height, ze_image_format_layout_t layout)
{
    return (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                             .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
                             .type = ZE_IMAGE_TYPE_2D,
                             .format = {layout, ZE_IMAGE_FORMAT_TYPE_UINT,
                                        ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G,
                                        ZE_IMAGE_FORMAT_SWIZZLE_B, ZE_IMAGE_FORMAT_SWIZZLE_A},
                             .width = width,
                             .height = height,
                             .depth = 1};
}

static void case_texels(struct suite *s)
{
    uint8_t pixels[WIDTH * HEIGHT * 4];
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)suite_random(s);
    ze_image_desc_t from = image_of(WIDTH, HEIGHT, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8);
    ze_image_desc_t to = image_of(s->n, 1, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16);
    suite_image_arg(s, &from, pixels);
    uint16_t *written = suite_image_out(s, &to, S_U16, 4 * s->n, 0);
    int32_t *at = suite_in(s, S_I32, 2 * s->n);
    for (uint32_t i = 0; i < 2 * s->n; i++)
        at[i] = (int32_t)(suite_random(s) % (i % 2 ? HEIGHT : WIDTH));
    suite_upload(s, at);
    uint32_t *out = suite_out(s, S_U32, 4 * s->n, 0);
    for (uint32_t i = 0; i < s->n; i++, out += 4) {
        const uint8_t *texel = pixels + (at[2 * i + 1] * WIDTH + at[2 * i]) * 4;
        for (int c = 0; c < 4; c++) {
            if (is_on(i))
                written[4 * i + c] = texel[c];
            out[c] = (is_on(i) ? texel[c] : UNTOUCHED) + (c % 2 ? texel[c] : 0);
        }
    }
}

static void case_texel_sums(struct suite *s)
{
    ze_image_desc_t desc = image_of(WIDTH, 1, ZE_IMAGE_FORMAT_LAYOUT_32);
    uint32_t pixels[WIDTH] = {3, 1, 4, 1, 5};
    uint32_t *sums = suite_image_out(s, &desc, S_U32, WIDTH, 0);
    suite_image_start(s, pixels);
    memcpy(sums, pixels, sizeof(pixels));
    int32_t *at = suite_in(s, S_I32, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        at[i] = (int32_t)(suite_random(s) % WIDTH);
    suite_upload(s, at);
    const uint32_t *b = suite_in(s, S_U32, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        sums[at[i]] += b[i];
    }
}

/* ---- blocks of two dimensions ---- */

struct block {
    uint32_t element_B, count, columns, rows;
    bool transposed, vnni;
    uint32_t slot_B, slots; /* of a lane's vector in the kernel */
};
enum { SURFACE_B = 92, LINES = 43, PITCH_B = 128, BLOCK_LANES = 16, BLOCK_MAX_B = 2048 };

/* Blocks stand one behind the other, lines of each one behind the other. */
static void fill_block(uint8_t out[BLOCK_MAX_B], const struct block *b, const uint8_t *src,
                       int32_t x, int32_t y)
{
    uint32_t B = b->element_B, per_dword = b->vnni ? 4 / B : 1, block_B = B * b->columns * b->rows;
    memset(out, 0, BLOCK_MAX_B);
    for (uint32_t k = 0; k < b->count; k++, out += block_B) {
        for (uint32_t row = 0; row < b->rows; row++) {
            for (uint32_t column = 0; column < b->columns; column++) {
                int32_t at_B = (x + (int32_t)(k * b->columns + column)) * (int32_t)B;
                int32_t line = y + (int32_t)row;
                uint32_t to = b->transposed ? column * b->rows + row
                                            : (row / per_dword * b->columns + column) * per_dword +
                                                  row % per_dword;
                if (at_B >= 0 && at_B + (int32_t)B <= SURFACE_B && line >= 0 && line < LINES)
                    memcpy(out + to * B, src + line * PITCH_B + at_B, B);
            }
        }
    }
}

static void block_case(struct suite *s, const struct block *b)
{
    const int32_t place[2] = {-4, -3}, step[2] = {4, 5};
    const uint8_t *src = suite_in(s, S_U8, PITCH_B * LINES);
    suite_int(s, SURFACE_B);
    suite_int(s, LINES);
    suite_int(s, PITCH_B);
    suite_value(s, sizeof(place), place);
    suite_value(s, sizeof(step), step);
    uint8_t *out = suite_out(s, S_U8, (size_t)s->n * b->slots * b->slot_B, 0);
    for (uint32_t g = 0; g < s->n / BLOCK_LANES; g++) {
        uint8_t registers[BLOCK_MAX_B];
        fill_block(registers, b, src, place[0] + step[0] * (int32_t)g,
                   place[1] + step[1] * (int32_t)g);
        for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
            for (uint32_t c = 0; c < b->slots; c++, out += b->slot_B)
                memcpy(out, registers + (c * BLOCK_LANES + lane) * b->slot_B, b->slot_B);
    }
}

#define BLOCKS(X)                                                                                  \
    X(d8_4x16x16nn, 1, 4, 16, 16, false, false, 4, 16)                                             \
    X(d8_1x64x8nn, 1, 1, 64, 8, false, false, 4, 8)                                                \
    X(d16_2x16x32nn, 2, 2, 16, 32, false, false, 8, 16)                                            \
    X(d16_1x16x32nn, 2, 1, 16, 32, false, false, 8, 8)                                             \
    X(d32_1x16x32nn, 4, 1, 16, 32, false, false, 8, 16)                                            \
    X(d64_1x8x16nn, 8, 1, 8, 16, false, false, 4, 16)                                              \
    X(d16_2x16x32nt, 2, 2, 16, 32, false, true, 8, 16)                                             \
    X(d8_4x16x32nt, 1, 4, 16, 32, false, true, 8, 16)                                              \
    X(d32_1x8x16tn, 4, 1, 8, 16, true, false, 4, 8)                                                \
    X(d64_1x4x8tn, 8, 1, 4, 8, true, false, 4, 4)
#define BLOCK(name, ...)                                                                           \
    static void block_##name(struct suite *s)                                                      \
    {                                                                                              \
        block_case(s, &(struct block){__VA_ARGS__});                                               \
    }
BLOCKS(BLOCK)

/* ---- */

static const struct suite_shape shapes[] = {{{1}, {16}}, {{5}, {64}}, {{0}, {0}}};

#define SHAPE_ROWS(name, element_B, slot_B, elements, shift)                                       \
    {"lsc_load_" #name, load_##name, shapes}, {"lsc_store_" #name, store_##name, shapes},          \
        {"lsc_local_" #name "_a32", local_##name, shapes},                                         \
        {"lsc_local_" #name "_a16", local_##name, shapes},
#define QUAD_CASE(name, ...)  {"lsc_load_" #name, quad_##name, shapes},
#define ROW8_CASE(name, ...)  {"lsc_row8_" #name, row8_##name, shapes},
#define ROW16_CASE(name, ...) {"lsc_row16_" #name, row16_##name, shapes},
#define STRIDED_CASE(name)                                                                         \
    {                                                                                              \
        "lsc_strided_" #name, strided_##name, shapes                                               \
    }
#define ATOMIC_CASE(name)          {"lsc_atomic_" #name, atomic_##name, shapes},
#define FLOAT_ATOMIC_CASE(name, T) {"lsc_atomic_" #name "_" #T, atomic_##name##_##T, shapes},
#define BLOCK_CASE(name, ...)      {"lsc_block_" #name, block_##name, shapes},
/* There the compiler numbers images differently than lsc.cl says. */
#define OTHER_NUMBERS "zebin unoptimised"
static const struct suite_case cases[] = {
    SHAPES(SHAPE_ROWS) QUADS(QUAD_CASE) /**/
    {"lsc_store_x", store_d32, shapes},
    {"lsc_store_xy", store_d32x2, shapes},
    {"lsc_store_xyz", store_d32x3, shapes},
    {"lsc_store_xyzw", store_d32x4, shapes},
    {"lsc_load_streamed", load_d32x2, shapes},
    {"lsc_store_streamed", store_d32x2, shapes},
    {"lsc_store_plain", store_d32x2, shapes},
    {"lsc_load_far", load_d32x2, shapes},
    {"lsc_store_far", store_d32x2, shapes},
    ROWS8(ROW8_CASE) ROWS16(ROW16_CASE) /**/
    STRIDED_CASE(d32),
    STRIDED_CASE(d32x3),
    STRIDED_CASE(d64x2),
    STRIDED_CASE(d8c32),
    STRIDED_CASE(d16),
    ATOMICS(ATOMIC_CASE) FLOAT_ATOMICS(FLOAT_ATOMIC_CASE, float) /**/
    FLOAT_ATOMICS(FLOAT_ATOMIC_CASE, double)                     /**/
    {"lsc_table_a32", case_table, shapes, "numbered"},           /* where these have no table */
    {"lsc_table_a64", case_table, shapes, "numbered"},
    {"lsc_fences", case_fences, shapes},
    {"lsc_status", case_status, shapes},
    {"lsc_texels", case_texels, shapes, OTHER_NUMBERS},
    {"lsc_texel_sums", case_texel_sums, shapes, OTHER_NUMBERS},
    BLOCKS(BLOCK_CASE)};

#define ROW8_NAME(name, ...)  "lsc_row8_" #name " "
#define ROW16_NAME(name, ...) "lsc_row16_" #name " "
#define DOUBLE_NAME(name, T)  "lsc_atomic_" #name "_" #T " "
#define BLOCK_NAME(name, ...) "lsc_block_" #name " "
const struct suite_group suite_lsc = {
    "lsc", cases, SUITE_COUNT(cases),
    .simd8 = ROWS8(ROW8_NAME) "lsc_texels lsc_texel_sums lsc_table_a32 lsc_table_a64",
    .no_simd8 = ROWS16(ROW16_NAME) BLOCKS(BLOCK_NAME)
        FLOAT_ATOMICS(DOUBLE_NAME, double) "lsc_load_far lsc_store_far",
    /* Intel's later drivers give handles, not binding tables. */
    .not_in = "igc2:dg2:tableless:lsc_texels igc2:dg2:tableless:lsc_texel_sums "
              "igc2:dg2:tableless:lsc_table_a32 igc2:dg2:tableless:lsc_table_a64 "
              "igc2:mtl:tableless:lsc_texels igc2:mtl:tableless:lsc_texel_sums "
              "igc2:mtl:tableless:lsc_table_a32 igc2:mtl:tableless:lsc_table_a64"};
