/* SPDX-License-Identifier: MIT */
/*
 * Images: every type and format, reads without and with samplers, writes, queries. The reference
 * follows OpenCL's section "Image addressing and filtering". A case takes a turn per format, or
 * per sampler.
 */
#include "suite.h"

enum kind { FLOATS = 'f', INTS = 'i', UINTS = 'u' };

struct format {
    ze_image_format_layout_t layout;
    ze_image_format_type_t type;
    uint8_t first[4], bits[4]; /* of R, G, B, A in the texel */
};

#define SAME(layout, type, b, g, r, a)                                                             \
    {                                                                                              \
        ZE_IMAGE_FORMAT_LAYOUT_##layout, ZE_IMAGE_FORMAT_TYPE_##type, {0, b, 2 * b, 3 * b},        \
        {                                                                                          \
            b, (g) * (b), (r) * (b), (a) * (b)                                                     \
        }                                                                                          \
    }
#define SIZES(type, b, one, two, four)                                                             \
    SAME(one, type, b, 0, 0, 0), SAME(two, type, b, 1, 0, 0), SAME(four, type, b, 1, 1, 1)

static const struct format floats[] = {
    SIZES(UNORM, 8, 8, 8_8, 8_8_8_8),
    SIZES(SNORM, 8, 8, 8_8, 8_8_8_8),
    SIZES(UNORM, 16, 16, 16_16, 16_16_16_16),
    SIZES(SNORM, 16, 16, 16_16, 16_16_16_16),
    SIZES(FLOAT, 16, 16, 16_16, 16_16_16_16),
    SIZES(FLOAT, 32, 32, 32_32, 32_32_32_32),
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     ZE_IMAGE_FORMAT_TYPE_UNORM,
     {0, 10, 20, 30},
     {10, 10, 10, 2}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, ZE_IMAGE_FORMAT_TYPE_UNORM, {11, 5, 0, 0}, {5, 6, 5, 0}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, ZE_IMAGE_FORMAT_TYPE_UNORM, {10, 5, 0, 15}, {5, 5, 5, 1}},
    {ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4, ZE_IMAGE_FORMAT_TYPE_UNORM, {8, 4, 0, 12}, {4, 4, 4, 4}},
    {ZE_IMAGE_FORMAT_LAYOUT_11_11_10, ZE_IMAGE_FORMAT_TYPE_FLOAT, {0, 11, 22, 0}, {11, 11, 10, 0}},
};
static const struct format ints[] = {
    SIZES(SINT, 8, 8, 8_8, 8_8_8_8),
    SIZES(SINT, 16, 16, 16_16, 16_16_16_16),
    SIZES(SINT, 32, 32, 32_32, 32_32_32_32),
};
static const struct format uints[] = {
    SIZES(UINT, 8, 8, 8_8, 8_8_8_8),
    SIZES(UINT, 16, 16, 16_16, 16_16_16_16),
    SIZES(UINT, 32, 32, 32_32, 32_32_32_32),
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     ZE_IMAGE_FORMAT_TYPE_UINT,
     {0, 10, 20, 30},
     {10, 10, 10, 2}},
};

enum { FLOAT_COUNT = SUITE_COUNT(floats), INT_COUNT = SUITE_COUNT(ints) };
enum { UINT_COUNT = SUITE_COUNT(uints), FLOAT_32 = 17, UNORM_8 = 2, HALF_2 = 13 };

static const struct format *format_of(enum kind kind, size_t i)
{
    return kind == FLOATS ? &floats[i % FLOAT_COUNT]
           : kind == INTS ? &ints[i % INT_COUNT]
                          : &uints[i % UINT_COUNT];
}

/* ---- Texels -----------------------------------------------------------------------------------
 */

union value {
    float f;
    int32_t i;
    uint32_t u;
};

static uint32_t get_bits(const uint8_t *texel, unsigned first, unsigned bits)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bits; i++)
        value |= (uint32_t)(texel[(first + i) / 8] >> (first + i) % 8 & 1) << i;
    return value;
}

static void put_bits(uint8_t *texel, unsigned first, unsigned bits, uint32_t value)
{
    for (unsigned i = 0; i < bits; i++) {
        texel[(first + i) / 8] &= ~(1u << (first + i) % 8);
        texel[(first + i) / 8] |= (value >> i & 1) << (first + i) % 8;
    }
}

static float small_float(uint32_t bits, unsigned fraction_bits)
{
    int exponent = (int)(bits >> fraction_bits & 31);
    double fraction = (double)(bits & ((1u << fraction_bits) - 1)) / (1u << fraction_bits);
    if (exponent == 31)
        return fraction != 0 ? NAN : INFINITY;
    return (float)ldexp(exponent ? 1 + fraction : fraction, (exponent ? exponent : 1) - 15);
}

static void unpack(const struct format *f, const uint8_t *texel, union value v[4])
{
    bool whole = f->type == ZE_IMAGE_FORMAT_TYPE_UINT || f->type == ZE_IMAGE_FORMAT_TYPE_SINT;
    for (int c = 0; c < 4; c++) {
        unsigned bits = f->bits[c];
        uint32_t raw = get_bits(texel, f->first[c], bits);
        int32_t extended = bits ? (int32_t)(raw << (32 - bits)) >> (32 - bits) : 0;
        if (bits == 0 && whole)
            v[c].i = c == 3;
        else if (bits == 0)
            v[c].f = c == 3;
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_UINT)
            v[c].u = raw;
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_SINT)
            v[c].i = extended;
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_UNORM)
            v[c].f = (float)(raw / (ldexp(1, (int)bits) - 1));
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_SNORM)
            v[c].f = (float)fmax(extended / (ldexp(1, (int)bits - 1) - 1), -1);
        else if (bits == 32)
            v[c].u = raw;
        else if (bits == 16)
            v[c].f = suite_half_to_float((uint16_t)raw);
        else
            v[c].f = small_float(raw, bits - 5);
    }
}

static void pack(const struct format *f, const union value v[4], uint8_t *texel)
{
    for (int c = 0; c < 4; c++) {
        unsigned bits = f->bits[c];
        uint32_t raw = v[c].u;
        if (bits == 0)
            continue;
        double most = ldexp(1, (int)bits - (f->type == ZE_IMAGE_FORMAT_TYPE_SINT ||
                                            f->type == ZE_IMAGE_FORMAT_TYPE_SNORM)) -
                      1;
        if (f->type == ZE_IMAGE_FORMAT_TYPE_UINT)
            raw = (uint32_t)fmin(v[c].u, most);
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_SINT)
            raw = (uint32_t)(int32_t)fmax(fmin(v[c].i, most), -most - 1);
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_UNORM)
            raw = (uint32_t)rint(fmax(fmin((double)v[c].f, 1), 0) * most);
        else if (f->type == ZE_IMAGE_FORMAT_TYPE_SNORM)
            raw = (uint32_t)(int32_t)rint(fmax(fmin((double)v[c].f, 1), -1) * most);
        else if (bits == 16)
            raw = suite_float_to_half(v[c].f);
        put_bits(texel, f->first[c], bits, raw);
    }
}

/* ---- Pictures ---------------------------------------------------------------------------------
 */

struct picture {
    ze_image_desc_t desc;
    const struct format *format;
    enum kind kind;
    size_t texel_B;
    int dims;    /* without layers */
    int size[3]; /* width, height, depth; layers stand behind the last dimension */
    bool layered;
    uint8_t *texels;
};

enum { TEXELS = 512 };

static struct picture make(struct suite *s, ze_image_type_t type, enum kind kind,
                           const struct format *format)
{
    static const struct {
        int dims, size[3];
        bool layered;
    } shapes[] = {
        [ZE_IMAGE_TYPE_1D] = {1, {512, 1, 1}, false},
        [ZE_IMAGE_TYPE_1DARRAY] = {1, {64, 8, 1}, true},
        [ZE_IMAGE_TYPE_2D] = {2, {32, 16, 1}, false},
        [ZE_IMAGE_TYPE_2DARRAY] = {2, {16, 8, 4}, true},
        [ZE_IMAGE_TYPE_3D] = {3, {16, 8, 4}, false},
        [ZE_IMAGE_TYPE_BUFFER] = {1, {512, 1, 1}, false},
    };
    struct picture p = {
        .format = format, .kind = kind, .dims = shapes[type].dims, .layered = shapes[type].layered};
    memcpy(p.size, shapes[type].size, sizeof(p.size));
    p.desc = (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                               .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
                               .type = type,
                               .format = {format->layout, format->type, ZE_IMAGE_FORMAT_SWIZZLE_R,
                                          ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B,
                                          ZE_IMAGE_FORMAT_SWIZZLE_A},
                               .width = (uint64_t)p.size[0],
                               .height = p.dims > 1 ? (uint32_t)p.size[1] : 1,
                               .depth = p.dims > 2 ? (uint32_t)p.size[2] : 1,
                               .arraylevels = p.layered ? (uint32_t)p.size[p.dims] : 0};
    p.texel_B = suite_texel_size(&p.desc);
    p.texels = malloc(2 * TEXELS * p.texel_B);
    for (size_t i = 0; i < 2 * TEXELS; i++) {
        uint8_t *texel = p.texels + i * p.texel_B;
        uint32_t raw[4] = {0};
        for (int w = 0; w < 4; w++)
            raw[w] = (uint32_t)suite_random(s);
        memcpy(texel, raw, p.texel_B);
        if (format->type != ZE_IMAGE_FORMAT_TYPE_FLOAT)
            continue;
        for (int c = 0; c < 4; c++) { /* no infinities or NaN, for filters */
            float f = (float)(int32_t)raw[c] * 0x1p-20f;
            if (format->bits[c] == 32)
                memcpy(texel + 4 * c, &f, 4);
            else if (format->bits[c])
                put_bits(texel,
                         format->first[c] + format->bits[c] - (format->bits[c] == 16 ? 6 : 5), 5,
                         (uint32_t)(raw[c] % 31));
        }
    }
    return p;
}

static const uint8_t *texel_at(const struct picture *p, const int at[3])
{
    return p->texels + (size_t)((at[2] * p->size[1] + at[1]) * p->size[0] + at[0]) * p->texel_B;
}

/* Coordinates of any texel, all of them different: int4. */
static int32_t (*places(struct suite *s, const struct picture *p))[4]
{
    int32_t(*at)[4] = suite_in(s, S_I32, 4 * s->n);
    for (int i = 0; i < (int)s->n; i++) {
        int place = (i * 101 + 7) % TEXELS; /* 101 and 512 have no common divisor */
        at[i][0] = place % p->size[0];
        at[i][1] = place / p->size[0] % p->size[1];
        at[i][2] = place / p->size[0] / p->size[1];
        at[i][3] = 0;
    }
    suite_upload(s, at);
    return at;
}

static enum suite_type value_type(enum kind kind)
{
    return kind == FLOATS ? S_F32 : kind == INTS ? S_I32 : S_U32;
}

static void ld(struct suite *s, ze_image_type_t type, enum kind kind)
{
    struct picture p = make(s, type, kind, format_of(kind, s->turn));
    suite_image_arg(s, &p.desc, p.texels);
    int32_t(*at)[4] = places(s, &p);
    union value(*out)[4] = suite_out(s, value_type(kind), 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        unpack(p.format, texel_at(&p, at[i]), out[i]);
    free(p.texels);
}

static void put_random(struct suite *s, enum kind kind, union value v[4], int turn)
{
    for (int c = 0; c < 4; c++) {
        v[c].u = (uint32_t)suite_random(s) >> (kind == UINTS ? turn * 7 % 32 : 0);
        if (kind == INTS)
            v[c].i >>= turn * 7 % 32;
        if (kind == FLOATS)
            v[c].f = (float)v[c].i * (turn % 3 == 2   ? 0x1p-31f
                                      : turn % 4 == 3 ? 0x1p-20f
                                                      : 0x1.4p-31f);
    }
}

static void write(struct suite *s, ze_image_type_t type, enum kind kind)
{
    const struct format *format = format_of(kind, s->turn);
    if (format->layout == ZE_IMAGE_FORMAT_LAYOUT_11_11_10) {
        suite_skip(s); /* see the unit test of formats */
        return;
    }
    struct picture p = make(s, type, kind, format);
    enum suite_type type_of = format->bits[0] == 32 ? S_U32 : format->bits[0] == 16 ? S_U16 : S_U8;
    uint8_t *out =
        suite_image_out(s, &p.desc, type_of, TEXELS * p.texel_B / suite_type_size(type_of), 0);
    if (kind == FLOATS) /* PoCL multiplies in single precision before it rounds */
        s->buffers[s->buffer_count - 1].oracle_ulps = 1;
    int32_t(*at)[4] = places(s, &p);
    union value(*in)[4] = suite_in(s, value_type(kind), 4 * s->n);
    for (size_t i = 0; i < s->n; i++) {
        put_random(s, kind, in[i], (int)s->turn);
        pack(format, in[i], out + (texel_at(&p, at[i]) - p.texels));
    }
    suite_upload(s, in);
    free(p.texels);
}

static void both(struct suite *s, ze_image_type_t type, enum kind kind)
{
    const struct format *format = format_of(kind, s->turn);
    if (format->layout == ZE_IMAGE_FORMAT_LAYOUT_11_11_10) {
        suite_skip(s);
        return;
    }
    struct picture p = make(s, type, kind, format);
    uint8_t *out = suite_image_out(s, &p.desc, S_U8, TEXELS * p.texel_B, 0);
    suite_image_start(s, p.texels);
    memcpy(out, p.texels, TEXELS * p.texel_B);
    int32_t(*at)[4] = places(s, &p);
    for (size_t i = 0; i < s->n; i++) {
        union value v[4], turned[4];
        unpack(format, texel_at(&p, at[i]), v);
        for (int c = 0; c < 4; c++)
            turned[c] = v[3 - c];
        pack(format, turned, out + (texel_at(&p, at[i]) - p.texels));
    }
    free(p.texels);
}

/* ---- Samplers ---------------------------------------------------------------------------------
 */

struct sampler {
    ze_sampler_address_mode_t address;
    bool linear, normalized;
};

static const struct sampler samplers[] = {
    {ZE_SAMPLER_ADDRESS_MODE_NONE, false, false},
    {ZE_SAMPLER_ADDRESS_MODE_NONE, true, true},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP, false, false},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP, false, true},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP, true, false},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP, true, true},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, false, false},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, false, true},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, true, false},
    {ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, true, true},
    {ZE_SAMPLER_ADDRESS_MODE_REPEAT, false, true},
    {ZE_SAMPLER_ADDRESS_MODE_REPEAT, true, true},
    {ZE_SAMPLER_ADDRESS_MODE_MIRROR, false, true},
    {ZE_SAMPLER_ADDRESS_MODE_MIRROR, true, true},
};
enum { SAMPLER_COUNT = SUITE_COUNT(samplers) };

static int clamp(int i, int low, int high)
{
    return i < low ? low : i > high ? high : i;
}

/* The texels on either side and the weight of the second; size stands for the border, -1 too. */
static double taps(const struct sampler *sampler, double coordinate, int size, int tap[2])
{
    double u = sampler->normalized ? coordinate * size : coordinate;
    if (sampler->address == ZE_SAMPLER_ADDRESS_MODE_REPEAT)
        u = (coordinate - floor(coordinate)) * size;
    else if (sampler->address == ZE_SAMPLER_ADDRESS_MODE_MIRROR)
        u = fabs(coordinate - 2 * rint(coordinate / 2)) * size;
    if (sampler->linear)
        u -= 0.5;
    double a = u - floor(u);
    for (int i = 0; i < 2; i++) {
        tap[i] = (int)floor(u) + i;
        if (sampler->address == ZE_SAMPLER_ADDRESS_MODE_REPEAT)
            tap[i] += tap[i] < 0 ? size : tap[i] >= size ? -size : 0;
        else if (sampler->address == ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER)
            tap[i] = clamp(tap[i], -1, size);
        else
            tap[i] = clamp(tap[i], 0, size - 1);
    }
    return sampler->linear ? a : 0;
}

static void look_up(const struct picture *p, const int at[3], union value v[4])
{
    for (int d = 0; d < p->dims; d++) {
        if (at[d] >= 0 && at[d] < p->size[d])
            continue;
        for (int c = 0; c < 4; c++)
            v[c].u = 0;
        if (!p->format->bits[3] && p->kind == FLOATS) /* opaque when there is no alpha */
            v[3].f = 1;
        else if (!p->format->bits[3])
            v[3].i = 1;
        return;
    }
    unpack(p->format, texel_at(p, at), v);
}

static void sample(const struct picture *p, const struct sampler *sampler, const float where[4],
                   union value out[4])
{
    int tap[3][2] = {{0}};
    double weight[3] = {0}, sum[4] = {0};
    for (int d = 0; d < p->dims; d++)
        weight[d] = taps(sampler, (double)where[d], p->size[d], tap[d]);
    if (p->layered)
        tap[p->dims][0] = tap[p->dims][1] =
            clamp((int)rint((double)where[p->dims]), 0, p->size[p->dims] - 1);
    for (int corner = 0; corner < 8; corner++) {
        double w = 1;
        int at[3];
        union value v[4];
        for (int d = 0; d < 3; d++) {
            at[d] = tap[d][corner >> d & 1];
            w *= corner >> d & 1 ? weight[d] : 1 - weight[d];
        }
        look_up(p, at, v);
        if (corner == 0 && !sampler->linear) {
            memcpy(out, v, sizeof(v));
            return;
        }
        for (int c = 0; w != 0 && c < 4; c++)
            sum[c] += w * (double)v[c].f;
    }
    for (int c = 0; c < 4; c++)
        out[c].f = (float)sum[c];
}

/* Coordinates in steps that floats have, some outside the image, none on the edge of a texel. */
static float (*points(struct suite *s, const struct picture *p, const struct sampler *sampler))[4]
{
    float(*at)[4] = suite_in(s, S_F32, 4 * s->n);
    bool inside = sampler->address == ZE_SAMPLER_ADDRESS_MODE_NONE;
    for (size_t i = 0; i < s->n; i++)
        for (int d = 0; d < 4; d++) {
            int size = d < 3 ? p->size[d] : 4, steps = 64 * size;
            int k = (int)(suite_random(s) % (uint32_t)(!inside      ? 3 * steps
                                                       : steps > 64 ? steps - 64
                                                                    : 1));
            double u = ((inside ? k + 32 : k - steps) | 1) / 64.0;
            if (p->layered && d == p->dims)
                at[i][d] = (float)u;
            else
                at[i][d] = (float)(sampler->normalized ? u / size : u);
        }
    suite_upload(s, at);
    return at;
}

static void sampled(struct suite *s, ze_image_type_t type, enum kind kind, bool one_level)
{
    const struct sampler *sampler = &samplers[s->turn % SAMPLER_COUNT];
    if (sampler->linear && kind != FLOATS) {
        suite_skip(s); /* integers are not filtered */
        return;
    }
    size_t sweep = s->turn / SAMPLER_COUNT + s->turn % SAMPLER_COUNT; /* formats for each sampler */
    struct picture p = make(s, type, kind, format_of(kind, sweep + s->groups[0]));
    suite_image_arg(s, &p.desc, p.texels);
    suite_sampler_arg(s, sampler->address, sampler->linear, sampler->normalized);
    float(*at)[4] = points(s, &p, sampler);
    if (one_level) { /* w is the level */
        for (size_t i = 0; i < s->n; i++)
            at[i][3] = fabsf(at[i][3]);
        suite_upload(s, at);
    }
    union value(*out)[4] = suite_out(s, value_type(kind), 4 * s->n, sampler->linear ? 4 : 0);
    float most = 1;
    for (size_t i = 0; i < s->n; i++) {
        sample(&p, sampler, at[i], out[i]);
        for (int c = 0; kind == FLOATS && c < 4; c++)
            most = fmaxf(most, fabsf(out[i][c].f));
    }
    if (sampler->linear)
        suite_absolute(s, out, 1e-5 * (double)most);
    free(p.texels);
}

/* Integer coordinates with a sampler: nearest texel, not normalised. */
static void whole(struct suite *s, ze_image_type_t type, enum kind kind)
{
    static const ze_sampler_address_mode_t modes[] = {ZE_SAMPLER_ADDRESS_MODE_NONE,
                                                      ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                                                      ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER};
    const struct sampler sampler = {modes[s->turn % 3], false, false};
    struct picture p = make(s, type, kind, format_of(kind, s->turn));
    suite_image_arg(s, &p.desc, p.texels);
    suite_sampler_arg(s, sampler.address, ZE_SAMPLER_FILTER_MODE_NEAREST, false);
    int32_t(*at)[4] = places(s, &p);
    union value(*out)[4] = suite_out(s, value_type(kind), 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        float where[4] = {0};
        for (int d = 0; d < 3; d++) {
            if (i % 3 == 1 && sampler.address != ZE_SAMPLER_ADDRESS_MODE_NONE)
                at[i][d] += d % 2 ? -5 : 13;
            if (i % 3 == 2 && (int)(i / 3) % p.dims == d && /* the first texel outside */
                sampler.address != ZE_SAMPLER_ADDRESS_MODE_NONE)
                at[i][d] = i & 1 ? -1 : p.size[d];
            where[d] = (float)at[i][d] + (d < p.dims ? 0.5f : 0);
        }
        sample(&p, &sampler, where, out[i]);
    }
    suite_upload(s, at);
    free(p.texels);
}

/* ---- Cases ------------------------------------------------------------------------------------
 */

/* clang-format off */
#define CASES(M) \
    M(1d_f, 1D, FLOATS) M(1d_i, 1D, INTS) M(1d_ui, 1D, UINTS) \
    M(1d_array_f, 1DARRAY, FLOATS) M(1d_array_i, 1DARRAY, INTS) M(1d_array_ui, 1DARRAY, UINTS) \
    M(2d_f, 2D, FLOATS) M(2d_i, 2D, INTS) M(2d_ui, 2D, UINTS) \
    M(2d_array_f, 2DARRAY, FLOATS) M(2d_array_i, 2DARRAY, INTS) M(2d_array_ui, 2DARRAY, UINTS) \
    M(3d_f, 3D, FLOATS) M(3d_i, 3D, INTS) M(3d_ui, 3D, UINTS) \
    M(buffer_f, BUFFER, FLOATS) M(buffer_i, BUFFER, INTS) M(buffer_ui, BUFFER, UINTS)
/* clang-format on */
#define DEFINE(suffix, type, kind)                                                                 \
    static void ld_##suffix(struct suite *s)                                                       \
    {                                                                                              \
        ld(s, ZE_IMAGE_TYPE_##type, kind);                                                         \
    }                                                                                              \
    static void write_##suffix(struct suite *s)                                                    \
    {                                                                                              \
        write(s, ZE_IMAGE_TYPE_##type, kind);                                                      \
    }                                                                                              \
    __attribute__((unused)) static void both_##suffix(struct suite *s)                             \
    {                                                                                              \
        both(s, ZE_IMAGE_TYPE_##type, kind);                                                       \
    }                                                                                              \
    __attribute__((unused)) static void sample_##suffix(struct suite *s)                           \
    {                                                                                              \
        sampled(s, ZE_IMAGE_TYPE_##type, kind, false);                                             \
    }                                                                                              \
    __attribute__((unused)) static void level_##suffix(struct suite *s)                            \
    {                                                                                              \
        sampled(s, ZE_IMAGE_TYPE_##type, kind, true);                                              \
    }                                                                                              \
    __attribute__((unused)) static void whole_##suffix(struct suite *s)                            \
    {                                                                                              \
        whole(s, ZE_IMAGE_TYPE_##type, kind);                                                      \
    }
CASES(DEFINE)

static void case_facts(struct suite *s)
{
    static const struct {
        ze_image_type_t type;
        ze_image_format_layout_t layout;
        ze_image_format_type_t format;
        uint32_t width, height, depth, layers;
    } rows[] = {
        {ZE_IMAGE_TYPE_1D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, 31, 1, 1, 0},
        {ZE_IMAGE_TYPE_1DARRAY, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, 17, 1,
         1, 5},
        {ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_16_16, ZE_IMAGE_FORMAT_TYPE_FLOAT, 19, 23, 1, 0},
        {ZE_IMAGE_TYPE_2DARRAY, ZE_IMAGE_FORMAT_LAYOUT_16, ZE_IMAGE_FORMAT_TYPE_SINT, 29, 37, 1, 3},
        {ZE_IMAGE_TYPE_3D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UINT, 11, 13, 7, 0},
        {ZE_IMAGE_TYPE_BUFFER, ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_SNORM, 999, 1, 1, 0},
        {ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, 41, 43, 1,
         0},
    };
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) {
        ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                .type = rows[i].type,
                                .format = {rows[i].layout, rows[i].format,
                                           ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G,
                                           ZE_IMAGE_FORMAT_SWIZZLE_B, ZE_IMAGE_FORMAT_SWIZZLE_A},
                                .width = rows[i].width,
                                .height = rows[i].height,
                                .depth = rows[i].depth,
                                .arraylevels = rows[i].layers};
        if (i == 0 || i == 2) { /* R and RG: kernels are told the order of the swizzle */
            desc.format.y = i ? ZE_IMAGE_FORMAT_SWIZZLE_G : ZE_IMAGE_FORMAT_SWIZZLE_0;
            desc.format.z = ZE_IMAGE_FORMAT_SWIZZLE_0;
            desc.format.w = ZE_IMAGE_FORMAT_SWIZZLE_1;
        }
        if (i == 6) {
            desc.format.x = ZE_IMAGE_FORMAT_SWIZZLE_B;
            desc.format.z = ZE_IMAGE_FORMAT_SWIZZLE_R;
        }
        suite_image_arg(s, &desc, NULL);
    }
    static const int32_t facts[25] = {31, 17, 5, 19, 23, 23, 29, 37, 3, 11, 13, 7, 7, 999, 41 * 43};
    memcpy(suite_out(s, S_I32, 25, 0), facts, sizeof(facts));
}

static void case_inline(struct suite *s)
{
    static const struct sampler used[] = {{ZE_SAMPLER_ADDRESS_MODE_CLAMP, false, true},
                                          {ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, false, true},
                                          {ZE_SAMPLER_ADDRESS_MODE_REPEAT, true, true},
                                          {ZE_SAMPLER_ADDRESS_MODE_MIRROR, true, true}};
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, FLOATS, &floats[s->turn ? UNORM_8 : FLOAT_32]);
    suite_image_arg(s, &p.desc, p.texels);
    float(*at)[4] = points(s, &p, &used[0]);
    union value(*out)[4] = suite_out(s, S_F32, 16 * s->n, 4);
    for (size_t i = 0; i < 4 * s->n; i++)
        sample(&p, &used[i % 4], at[i / 4], out[i]);
    suite_absolute(s, out, s->turn ? 1e-6 : 0.02);
    free(p.texels);
}

static void case_half(struct suite *s)
{
    const struct sampler *sampler = &samplers[s->turn % SAMPLER_COUNT];
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, FLOATS, &floats[s->turn & 1 ? UNORM_8 : HALF_2]);
    suite_image_arg(s, &p.desc, p.texels);
    suite_sampler_arg(s, sampler->address, sampler->linear, sampler->normalized);
    float(*at)[4] = points(s, &p, sampler);
    uint16_t *out = suite_out(s, S_F16, 4 * s->n, 1);
    for (size_t i = 0; i < s->n; i++) {
        union value v[4];
        sample(&p, sampler, at[i], v);
        for (int c = 0; c < 4; c++)
            out[4 * i + c] = suite_float_to_half(v[c].f);
    }
    suite_absolute(s, out, 2e-3);
    free(p.texels);
}

static void case_half_write(struct suite *s)
{
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, FLOATS, &floats[s->turn]);
    uint8_t *out = suite_image_out(s, &p.desc, S_U8, TEXELS * p.texel_B, 0);
    int32_t(*at)[4] = places(s, &p);
    suite_range(s, -2, 2);
    const uint16_t *in = suite_in(s, S_F16, 4 * s->n);
    for (size_t i = 0; i < s->n; i++) {
        union value v[4];
        for (int c = 0; c < 4; c++)
            v[c].f = suite_half_to_float(in[4 * i + c]);
        pack(p.format, v, out + (texel_at(&p, at[i]) - p.texels));
    }
    free(p.texels);
}

static void case_depth(struct suite *s)
{
    const struct sampler *sampler = &samplers[s->turn % SAMPLER_COUNT];
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, FLOATS, &floats[s->turn & 1 ? 6 : 15]);
    suite_image_arg(s, &p.desc, p.texels);
    suite_sampler_arg(s, sampler->address, sampler->linear, sampler->normalized);
    float(*at)[4] = points(s, &p, sampler);
    float *out = suite_out(s, S_F32, s->n, 4);
    for (size_t i = 0; i < s->n; i++) {
        union value v[4];
        sample(&p, sampler, at[i], v);
        out[i] = v[0].f;
    }
    suite_absolute(s, out, s->turn & 1 ? 1e-6 : 0.02);
    free(p.texels);
}

/* Channels in another order. */
static void case_swizzle(struct suite *s)
{
    static const uint8_t orders[][4] = {{2, 1, 0, 3}, {0, 0, 0, 0}, {4, 3, 5, 2}, {3, 2, 1, 0}};
    const uint8_t *order = orders[s->turn];
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, FLOATS, &floats[UNORM_8]);
    static const ze_image_format_swizzle_t codes[] = {
        ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B,
        ZE_IMAGE_FORMAT_SWIZZLE_A, ZE_IMAGE_FORMAT_SWIZZLE_0, ZE_IMAGE_FORMAT_SWIZZLE_1};
    p.desc.format.x = codes[order[0]];
    p.desc.format.y = codes[order[1]];
    p.desc.format.z = codes[order[2]];
    p.desc.format.w = codes[order[3]];
    suite_image_arg(s, &p.desc, p.texels);
    int32_t(*at)[4] = places(s, &p);
    float(*out)[4] = suite_out(s, S_F32, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        union value v[6] = {{0}, {0}, {0}, {0}, {.f = 0}, {.f = 1}};
        unpack(p.format, texel_at(&p, at[i]), v);
        for (int c = 0; c < 4; c++)
            out[i][c] = v[order[c]].f;
    }
    free(p.texels);
}

/* NV12 and P010: the rows of Y, then those of U and V, half as many and half as wide. Kernels see
 * V, Y, U. */
static void case_planar(struct suite *s)
{
    enum { W = 30, H = 14 };
    bool wide = s->turn & 1;
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, FLOATS, &floats[wide ? 6 : 0]);
    p.desc.width = p.size[0] = W;
    p.desc.height = p.size[1] = H;
    ze_image_desc_t desc = p.desc;
    desc.format.layout = wide ? ZE_IMAGE_FORMAT_LAYOUT_P010 : ZE_IMAGE_FORMAT_LAYOUT_NV12;
    struct sampler sampler = {s->turn & 2 ? ZE_SAMPLER_ADDRESS_MODE_MIRROR
                                          : ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                              false, s->turn & 2};
    suite_image_arg(s, &desc, p.texels);
    suite_sampler_arg(s, sampler.address, ZE_SAMPLER_FILTER_MODE_NEAREST, sampler.normalized);
    float(*at)[4] = points(s, &p, &sampler);
    float(*out)[4] = suite_out(s, S_F32, 4 * s->n, 0);
    s->buffers[s->buffer_count - 1].without_alpha = true; /* 1; earlier drivers of Intel's say 0 */
    const uint8_t *chroma = p.texels + W * H * p.texel_B;
    for (size_t i = 0; i < s->n; i++) {
        int x[2], y[2];
        union value luma[4], u[4], v[4];
        taps(&sampler, (double)at[i][0], W, x);
        taps(&sampler, (double)at[i][1], H, y);
        size_t pair = (size_t)(y[0] / 2) * W + (size_t)(x[0] / 2) * 2;
        unpack(p.format, p.texels + (size_t)(y[0] * W + x[0]) * p.texel_B, luma);
        unpack(p.format, chroma + pair * p.texel_B, u);
        unpack(p.format, chroma + (pair + 1) * p.texel_B, v);
        const float colour[4] = {v[0].f, luma[0].f, u[0].f, 1};
        memcpy(out[i], colour, sizeof(colour));
    }
    free(p.texels);
}

static void case_block(struct suite *s)
{
    struct picture p = make(s, ZE_IMAGE_TYPE_2D, UINTS, &uints[6]); /* 32 bits */
    p.desc.width = TEXELS / 16;
    suite_image_arg(s, &p.desc, p.texels);
    uint32_t *out = suite_image_out(s, &p.desc, S_U32, TEXELS, 0);
    const uint32_t *in = (const uint32_t *)p.texels;
    uint32_t w = (uint32_t)p.desc.width;
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t y = 0; y < 4; y++)
            out[y * w + i] = in[(y + 3) * w + i];
        for (uint32_t y = 0; y < 2; y++)
            out[(y + 5) * w + i] = in[(y + 1) * w + i] + 1;
        out[8 * w + i] = in[7 * w + i];
    }
    free(p.texels);
}

static const struct suite_shape shapes[] = {{{3}, {7}}, {{4}, {64}}, {{0}, {0}}};
static const struct suite_shape one[] = {{{1}, {1}}, {{0}, {0}}};
static const struct suite_shape blocks[] = {{{1}, {32}}, {{2}, {16}}, {{0}, {0}}};

enum { FLOATS_COUNT = FLOAT_COUNT, INTS_COUNT = INT_COUNT, UINTS_COUNT = UINT_COUNT };

#define FORMATS(suffix, type, kind)                                                                \
    {"image_ld_" #suffix, ld_##suffix, shapes, NULL, kind##_COUNT},                                \
        {"image_write_" #suffix, write_##suffix, shapes, NULL, kind##_COUNT},
#define ONE(what, suffix, turns)                                                                   \
    {                                                                                              \
        "image_" #what "_" #suffix, what##_##suffix, shapes, NULL, turns                           \
    }
#define LEVEL(what, suffix)                                                                        \
    {                                                                                              \
        "image_" #what "_" #suffix, level_##suffix, shapes, NULL, SAMPLER_COUNT                    \
    }

static const struct suite_case cases[] = {
    CASES(FORMATS) ONE(both, 2d_f, FLOAT_COUNT),
    ONE(both, 2d_i, INT_COUNT),
    ONE(both, 2d_ui, UINT_COUNT),
    ONE(both, 1d_f, 3),
    ONE(both, 1d_array_i, 3),
    ONE(both, 2d_array_ui, 3),
    ONE(both, 3d_f, 3),
    ONE(both, buffer_i, 3),
    ONE(sample, 2d_f, SAMPLER_COUNT *FLOAT_COUNT),
    ONE(sample, 2d_i, SAMPLER_COUNT *INT_COUNT),
    ONE(sample, 2d_ui, SAMPLER_COUNT *UINT_COUNT),
    ONE(sample, 1d_f, SAMPLER_COUNT *FLOAT_COUNT),
    ONE(sample, 1d_ui, SAMPLER_COUNT *UINT_COUNT),
    ONE(sample, 1d_array_f, SAMPLER_COUNT *FLOAT_COUNT),
    ONE(sample, 1d_array_i, SAMPLER_COUNT *INT_COUNT),
    ONE(sample, 2d_array_f, SAMPLER_COUNT *FLOAT_COUNT),
    ONE(sample, 2d_array_ui, SAMPLER_COUNT *UINT_COUNT),
    ONE(sample, 3d_f, SAMPLER_COUNT *FLOAT_COUNT),
    ONE(sample, 3d_i, SAMPLER_COUNT *INT_COUNT),
    ONE(whole, 2d_f, 6),
    ONE(whole, 2d_i, 6),
    ONE(whole, 2d_ui, 6),
    ONE(whole, 1d_f, 3),
    ONE(whole, 1d_array_ui, 3),
    ONE(whole, 2d_array_f, 3),
    ONE(whole, 3d_i, 3),
    LEVEL(gradient, 1d_f),
    LEVEL(gradient, 1d_array_i),
    LEVEL(gradient, 2d_f),
    LEVEL(gradient, 2d_array_ui),
    LEVEL(gradient, 3d_f),
    LEVEL(lod, 1d_f),
    LEVEL(lod, 1d_array_i),
    LEVEL(lod, 2d_f),
    LEVEL(lod, 2d_array_ui),
    LEVEL(lod, 3d_f),
    {"image_facts", case_facts, one, NULL, 1},
    {"image_inline", case_inline, shapes, NULL, 2},
    {"image_half", case_half, shapes, NULL, SAMPLER_COUNT},
    {"image_half_write", case_half_write, shapes, NULL, 15},
    {"image_depth", case_depth, shapes, NULL, SAMPLER_COUNT},
    {"image_ld_2d_f", case_swizzle, shapes, NULL, 4},
    {"image_sample_2d_f", case_planar, shapes, NULL, 4},
    {"image_block", case_block, blocks, "simd32", 1},
};

/* PoCL 3.1 takes the layer of arrays for a normalised coordinate, and its linear filter of three
 * dimensions differs in the second digit where weights are small. IGC 2.40 lacks a function,
 * Intel's driver 22.43 images of buffers. */
const struct suite_group suite_image = {
    "image", cases, SUITE_COUNT(cases),
    "image_sample_1d_array_f image_sample_1d_array_i image_sample_2d_array_f "
    "image_sample_2d_array_ui image_sample_3d_f",
    .not_in =
        "igc2:image_gradient_2d_array_ui intel22:image_ld_buffer_f intel22:image_ld_buffer_i "
        "intel22:image_ld_buffer_ui intel22:image_write_buffer_f intel22:image_write_buffer_i "
        "intel22:image_write_buffer_ui intel22:image_both_buffer_i intel22:image_facts"};
