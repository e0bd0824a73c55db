/* SPDX-License-Identifier: MIT */
/* Buffers reached through handles: each argument's surface. */
#include "suite.h"

static void case_add(struct suite *s)
{
    const float *a = suite_in(s, S_F32, s->n), *b = suite_in(s, S_F32, s->n);
    float *c = suite_out(s, S_F32, s->n, 0), f = 2; /* fused or not: exact */
    for (size_t i = 0; i < s->n; i++)
        c[i] = a[i] * f + b[i];
    suite_value(s, sizeof(f), &f);
}

static void case_small(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, s->n);
    const uint16_t *b = suite_in(s, S_U16, s->n);
    uint8_t *c = suite_out(s, S_U8, s->n, 0);
    uint16_t *d = suite_out(s, S_U16, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        c[i] = a[i] + (uint8_t)b[i];
        d[i] = a[i] * b[i];
    }
}

static void case_vectors(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, 4 * s->n);
    uint32_t *b = suite_in(s, S_U32, s->n), *c, *d;
    for (size_t i = 0; i < s->n; i++)
        b[i] %= s->n;
    suite_upload(s, b);
    c = suite_out(s, S_U32, 4 * s->n, 0);
    d = suite_out(s, S_U32, 2 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, c += 4, d += 2) {
        const uint32_t *v = a + 4 * (size_t)b[i];
        for (int k = 0; k < 4; k++)
            c[k] = v[3 - k];
        d[0] = v[0] + v[1];
        d[1] = v[2] ^ v[3];
    }
}

static void case_constant(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n);
    suite_in(s, S_U32, s->n);
    uint32_t *b = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        b[i] = a[i];
    suite_int(s, 0);
}

static void case_image(struct suite *s)
{
    static const uint32_t pixels[16];
    const ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = ZE_IMAGE_TYPE_2D,
                                  .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
                                             .type = ZE_IMAGE_FORMAT_TYPE_UINT,
                                             .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
                                             .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                                             .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                                             .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
                                  .width = 4,
                                  .height = 4,
                                  .depth = 1};
    const uint32_t *a = suite_in(s, S_U32, s->n);
    suite_image_arg(s, &desc, pixels);
    uint32_t *b = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        b[i] = a[i];
    suite_int(s, 0);
}

static void case_blocks(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n);
    uint32_t *b = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        b[i] = a[i] + i % 16;
}

static const struct suite_shape whole[] = {{{1}, {16}}, {{5}, {64}}, {{0}, {0}}};
static const struct suite_case cases[] = {
    {"bindless_add", case_add, NULL, NULL},
    {"bindless_small", case_small, NULL, NULL},
    {"bindless_vectors", case_vectors, NULL, NULL},
    {"bindless_constant", case_constant, NULL, NULL},
    {"bindless_image", case_image, NULL, NULL},
    {"bindless_blocks", case_blocks, whole, NULL},
};

const struct suite_group suite_bindless = {"bindless", cases, SUITE_COUNT(cases)};
