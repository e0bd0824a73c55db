/* SPDX-License-Identifier: MIT */
/*
 * Texel formats, typed messages and the sampler, against formulas of the OpenCL specification
 * (section "Image addressing and filtering", "Conversion rules") written out in double.
 */
#include "base/small_float.h"
#include "fixture.h"

#include <errno.h>
#include <math.h>
#include <xmmintrin.h>

enum {
    SAMPLER = 2,
    DC1 = 12,
    BTI = 2,
    WIDTH = 7,
    HEIGHT = 5,
    DEPTH = 3,
    ROW_B = 128,
    SLICE_B = 1024
};

static float as_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

static uint32_t as_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

/* By some lane among others, of which one is on besides. */
enum { COUNT = 16, OTHER = 3 };
static uint32_t turn;

static uint32_t next_lane(void)
{
    do
        turn = (turn + 1) % COUNT;
    while (turn == OTHER);
    return turn;
}

static void unpack(const struct zs_port_format *format, uint8_t *texel, uint32_t ret_rgba[4])
{
    uint32_t lane = next_lane();
    uint8_t zeros[16] = {0}, *pointer[ZS_PORT_TEXELS] = {[OTHER] = zeros};
    struct zs_port_texels texels;
    pointer[lane] = texel;
    zs_port_texels_unpack(format, pointer, 1u << lane | 1u << OTHER, COUNT, &texels);
    for (uint32_t c = 0; c < 4; c++) {
        ret_rgba[c] = texels.channel[c][lane];
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true(i == lane || texels.channel[c][i] == texels.channel[c][OTHER]);
    }
}

static void pack(const struct zs_port_format *format, const uint32_t rgba[4], uint8_t *texel)
{
    uint32_t lane = next_lane();
    uint8_t other[16] = {0}, *pointer[ZS_PORT_TEXELS] = {[OTHER] = other};
    struct zs_port_texels texels;
    memset(&texels, 0xff, sizeof(texels)); /* of lanes that are off: no numbers */
    pointer[lane] = texel;
    for (uint32_t c = 0; c < 4; c++)
        texels.channel[c][lane] = rgba[c];
    zs_port_texels_pack(format, &texels, 1u << lane | 1u << OTHER, COUNT, pointer);
}

/* ---- half --------------------------------------------------------------------------------------
 */

static double half_value(uint32_t h)
{
    int exponent = (int)(h >> 10 & 31), sign = h >> 15 ? -1 : 1;
    double mantissa = (double)(h & 1023);
    return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

static void half_precision(void **state)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float f = zs_half_to_float((uint16_t)h);
        if ((h & 0x7c00) == 0x7c00) {
            assert_true((h & 1023) ? isnan(f) : isinf(f) && (f < 0) == (h >> 15));
            assert_true((h & 1023) || zs_half_from_float(f) == h);
            continue;
        }
        assert_true((double)f == half_value(h));
        assert_int_equal(zs_half_from_float(f), h);
    }
    /* between neighbours: to the nearer one, to the even one in the middle */
    for (uint32_t h = 0; h < 0x7bff; h++) {
        double low = half_value(h), high = half_value(h + 1), middle = (low + high) / 2;
        assert_int_equal(zs_half_from_float((float)middle), h & 1 ? h + 1 : h);
        assert_int_equal(zs_half_from_float(nextafterf((float)middle, 0.0f)), h);
        assert_int_equal(zs_half_from_float(nextafterf((float)middle, 1e9f)), h + 1);
    }
    assert_int_equal(zs_half_from_float(65519.0f), 0x7bff);
    assert_int_equal(zs_half_from_float(65520.0f), 0x7c00);
    assert_int_equal(zs_half_from_float(-1e30f), 0xfc00);
    assert_true(isnan(zs_half_to_float(zs_half_from_float(NAN))));
}

/* ---- formats -----------------------------------------------------------------------------------
 */

static double channel_value(enum zs_port_format_type type, uint32_t raw, uint32_t bits)
{
    int64_t s = (int64_t)((uint64_t)raw << (64 - bits)) >> (64 - bits);
    double max = ldexp(1, (int)bits) - 1, smax = ldexp(1, (int)bits - 1) - 1;
    switch (type) {
    case ZS_PORT_FORMAT_UNORM:
        return raw / max;
    case ZS_PORT_FORMAT_SNORM:
        return fmax((double)s / smax, -1);
    case ZS_PORT_FORMAT_SINT:
        return (double)s;
    case ZS_PORT_FORMAT_SRGB: /* IEC 61966-2-1 */
        return raw / max <= 0.04045 ? raw / max / 12.92 : pow((raw / max + 0.055) / 1.055, 2.4);
    default:
        return raw;
    }
}

static void formats_unpack_and_pack(void **state)
{
    uint64_t seed = 77;
    for (size_t i = 0; i < zs_port_format_count(); i++) {
        const struct zs_port_format *format = zs_port_format_at(i);
        assert_ptr_equal(zs_port_format_find(format->code), format);
        bool is_int = format->type == ZS_PORT_FORMAT_UINT || format->type == ZS_PORT_FORMAT_SINT;
        for (uint32_t round = 0; round < 300; round++) {
            uint8_t texel[16], again[16] = {0};
            uint32_t rgba[4], round_trip[4];
            fill_random(texel, 16, &seed);
            unpack(format, texel, rgba);
            for (uint32_t c = 0; c < 4; c++) {
                uint32_t bit = format->channel[c].bit, bits = format->channel[c].bits, dw;
                if (bits == 0) {
                    assert_int_equal(rgba[c], c < 3 ? 0 : is_int ? 1 : as_bits(1.0f));
                    continue;
                }
                memcpy(&dw, texel + bit / 32 * 4, 4);
                uint32_t raw = (uint32_t)((uint64_t)dw >> bit % 32 & ((1ull << bits) - 1));
                bool is_alpha = format->type == ZS_PORT_FORMAT_SRGB && c == 3;
                double value =
                    channel_value(is_alpha ? ZS_PORT_FORMAT_UNORM : format->type, raw, bits);
                if (format->type == ZS_PORT_FORMAT_UINT)
                    assert_true(rgba[c] == raw);
                else if (format->type == ZS_PORT_FORMAT_SINT)
                    assert_true((int32_t)rgba[c] == (int32_t)value);
                else if (format->type != ZS_PORT_FORMAT_FLOAT)
                    assert_true(as_float(rgba[c]) == (float)value);
            }
            pack(format, rgba, again);
            unpack(format, again, round_trip);
            for (uint32_t c = 0; c < 4; c++)
                assert_true(rgba[c] == round_trip[c] ||
                            (format->type == ZS_PORT_FORMAT_FLOAT && isnan(as_float(rgba[c])) &&
                             isnan(as_float(round_trip[c]))));
        }
    }
}

/* Each of 16 bits: rounded once, and back. */
static void all_normalized_words(void **state)
{
    const struct zs_port_format *format = zs_port_format_find(0x10A);
    for (uint32_t raw = 0; raw <= UINT16_MAX; raw++) {
        uint8_t texel[16] = {(uint8_t)raw, (uint8_t)(raw >> 8)}, again[16] = {0};
        uint32_t rgba[4];
        unpack(format, texel, rgba);
        assert_true(as_float(rgba[0]) == (float)((double)raw / UINT16_MAX));
        pack(format, rgba, again);
        assert_memory_equal(texel, again, 2);
    }
}

static void packing_clamps_and_rounds(void **state)
{
    static const struct {
        uint32_t code;
        float in;
        uint32_t raw;
    } floats[] = {
        {0xC7, 0.5f, 128},        {0xC7, -3.0f, 0},      {0xC7, 7.0f, 255},
        {0xC7, NAN, 0},           {0xC7, 1.5f / 255, 2}, {0xC9, -1.0f, 0x81},
        {0xC9, -9.0f, 0x81},      {0xC9, 0.5f, 64},      {0x10A, 1.0f, 0xffff},
        {0xF1, 1.0f, 0xffffffff}, {0x10E, 1.0f, 0x3c00}, {0x10E, 1e9f, 0x7c00},
        {0xD3, -1.0f, 0},         {0xD3, 1.0f, 0x3c0},   {0xC8, 0.2158605f, 128},
        {0xC8, 0.002f, 7},        {0x145, 0.5f, 128},    {0x116, 1.0f, 0x3c00},
    };
    static const struct {
        uint32_t code;
        int32_t in;
        uint32_t raw;
    } ints[] = {
        {0xCB, 300, 255}, {0xCB, 17, 17},          {0xCA, 300, 127},       {0xCA, -300, 0x80},
        {0xCA, -5, 0xfb}, {0x10C, -40000, 0x8000}, {0x10D, 70000, 0xffff}, {0xD6, -7, 0xfffffff9},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(floats); i++) {
        const struct zs_port_format *format = zs_port_format_find(floats[i].code);
        uint32_t rgba[4] = {as_bits(floats[i].in)}, raw = 0;
        uint8_t texel[16];
        pack(format, rgba, texel);
        memcpy(&raw, texel, format->texel_B < 4 ? format->texel_B : 4);
        uint32_t bits = format->channel[0].bits;
        assert_int_equal(raw & (bits == 32 ? UINT32_MAX : (1u << bits) - 1), floats[i].raw);
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(ints); i++) {
        const struct zs_port_format *format = zs_port_format_find(ints[i].code);
        uint32_t rgba[4] = {(uint32_t)ints[i].in}, raw = 0;
        uint8_t texel[16];
        pack(format, rgba, texel);
        memcpy(&raw, texel, format->channel[0].bits / 8u);
        assert_int_equal(raw, ints[i].raw);
    }
}

/* ---- an image of floats: texel (x, y, z) holds known numbers ------------------------------------
 */

static float texel_value(int64_t x, int64_t y, int64_t z, uint32_t c)
{
    return (float)(x * 3 + y * 50 + z * 700 + (int64_t)c * 5000) + 0.25f;
}

static void bind_image(struct fixture *f, uint32_t dimensions, bool is_array)
{
    struct zs_port_surface *s = &f->surfaces[BTI];
    *s = (struct zs_port_surface){.kind = ZS_PORT_SURFACE_IMAGE,
                                  .dimensions = (uint8_t)dimensions,
                                  .is_array = is_array,
                                  .swizzle = {4, 5, 6, 7},
                                  .base = f->memory,
                                  .size_B = MEMORY_B,
                                  .format = zs_port_format_find(0x000),
                                  .width = WIDTH,
                                  .height = dimensions > 1 ? HEIGHT : 1,
                                  .depth = is_array || dimensions > 2 ? DEPTH : 1,
                                  .row_pitch_B = ROW_B,
                                  .slice_pitch_B = SLICE_B};
    for (uint32_t z = 0; z < DEPTH; z++)
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++)
                for (uint32_t c = 0; c < 4; c++) {
                    float v = texel_value(x, y, z, c);
                    memcpy(f->memory + z * SLICE_B + y * ROW_B + x * 16 + c * 4, &v, 4);
                }
}

/* Texel index for one axis by the OpenCL specification; -1 is the border. */
static int64_t spec_texel(enum zs_port_wrap wrap, int64_t i, int64_t size)
{
    switch (wrap) {
    case ZS_PORT_WRAP_CLAMP:
        return i < 0 ? 0 : i > size - 1 ? size - 1 : i;
    case ZS_PORT_WRAP_BORDER:
        return i < 0 || i > size - 1 ? -1 : i;
    default:
        return i;
    }
}

/* Two texels and the weight of the second, by the specification's text per address mode. */
static double spec_axis(enum zs_port_wrap wrap, bool normalized, bool linear, double s,
                        int64_t size, int64_t ret[2])
{
    double w = (double)size, u = normalized ? s * w : s;
    if (wrap == ZS_PORT_WRAP_REPEAT)
        u = (s - floor(s)) * w;
    else if (wrap == ZS_PORT_WRAP_MIRROR)
        u = fabs(s - 2.0 * rint(0.5 * s)) * w;
    if (!linear) {
        int64_t i = (int64_t)floor(u);
        if (wrap == ZS_PORT_WRAP_REPEAT && i > size - 1)
            i -= size;
        if (wrap == ZS_PORT_WRAP_MIRROR)
            i = i > size - 1 ? size - 1 : i;
        ret[0] = ret[1] = spec_texel(wrap, i, size);
        return 0;
    }
    int64_t i0 = (int64_t)floor(u - 0.5), i1 = i0 + 1;
    if (wrap == ZS_PORT_WRAP_REPEAT) {
        i0 = i0 < 0 ? size + i0 : i0;
        i1 = i1 > size - 1 ? i1 - size : i1;
    } else if (wrap == ZS_PORT_WRAP_MIRROR) {
        i0 = i0 < 0 ? 0 : i0;
        i1 = i1 > size - 1 ? size - 1 : i1;
    }
    ret[0] = spec_texel(wrap, i0, size);
    ret[1] = spec_texel(wrap, i1, size);
    return (u - 0.5) - floor(u - 0.5);
}

static double spec_sample(const struct zs_port_sampler *sampler, uint32_t dimensions, bool is_array,
                          const float *at, uint32_t c)
{
    const int64_t size[3] = {WIDTH, HEIGHT, DEPTH};
    int64_t texel[3][2] = {{0}};
    double weight[3] = {0}, sum = 0;
    for (uint32_t i = 0; i < dimensions; i++)
        weight[i] = spec_axis(sampler->wrap[i], sampler->normalized, sampler->linear, (double)at[i],
                              size[i], texel[i]);
    int64_t layer = 0;
    if (is_array)
        layer = (int64_t)fmin(fmax(rint((double)at[dimensions]), 0), DEPTH - 1);
    for (uint32_t corner = 0; corner < 1u << dimensions; corner++) {
        double w = 1;
        int64_t p[3] = {0};
        bool border = false;
        for (uint32_t i = 0; i < dimensions; i++) {
            bool high = corner >> i & 1;
            w *= high ? weight[i] : 1 - weight[i];
            p[i] = texel[i][high];
            border |= p[i] < 0;
        }
        if (is_array)
            p[2] = layer;
        sum += border ? 0 : w * (double)texel_value(p[0], p[1], p[2], c);
    }
    return sum;
}

static void check_sample(struct fixture *f, uint32_t dimensions, bool is_array, uint32_t lanes,
                         uint64_t *seed)
{
    struct zs_port_sampler *sampler = &f->samplers[1];
    bind_image(f, dimensions, is_array);
    uint32_t grf_B = f->platform == ZS_ISA_XE2 ? 64 : GRF_B; /* and twice as many lanes */
    lanes = lanes * grf_B / GRF_B;
    uint32_t coordinates = dimensions + is_array, group = lanes * 4 / grf_B;
    memset(f->src0, 0, grf_B); /* header */
    float at[32][3] = {{0}};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        for (uint32_t i = 0; i < coordinates; i++) {
            float v = (float)((int32_t)(random_u32(seed) % 4000) - 1500) / 256.0f + 1.0f / 1024;
            at[lane][i] = sampler->normalized && i < dimensions ? v / 6 : v;
            if (lane == 0 && !sampler->normalized && i < dimensions)
                at[lane][i] =
                    nextafterf(0.5f, 0.0f); /* just before the middle of the first texel */
            memcpy(f->src0 + grf_B + (i * lanes + lane) * 4, &at[lane][i], 4);
        }
    }
    uint32_t desc = BTI | 1 << 8 | 0x18 << 12 | group << 17 | 1 << 19;
    assert_int_equal(decode(f, SAMPLER, desc, 1 + coordinates * group, 0, 4 * group), 0);
    assert_true(run(f, UINT32_MAX >> (32 - lanes)));
    for (uint32_t lane = 0; lane < lanes; lane++) {
        for (uint32_t c = 0; c < 4; c++) {
            float got;
            memcpy(&got, f->dst + (c * lanes + lane) * 4, 4);
            double want = spec_sample(sampler, dimensions, is_array, at[lane], c);
            assert_true(fabs((double)got - want) <= 0.01 + fabs(want) * 1e-5);
        }
    }
}

/* From Gen11 on bit 0 of the header's sampler state pointer makes a handle of it; on Gen9 it is
 * part of r0.3, which kernels copy. */
static void samplers_by_handle(void **state)
{
    enum { POINTER_DW = 3, HANDLE = 0x40 | 1 };
    static const struct {
        enum zs_isa_platform platform;
        uint32_t pointer, known;
        bool is_refused, is_ours; /* the driver's own handles, of which there is no table */
    } rows[] = {{ZS_ISA_GEN9, HANDLE, 0, false, false},
                {ZS_ISA_GEN11, HANDLE, 0, true, false},
                {ZS_ISA_GEN11, HANDLE, HANDLE & ~1, false, false},
                {ZS_ISA_GEN11, HANDLE, 0x80, true, false},
                {ZS_ISA_GEN11, HANDLE + 16, 0x50, false, false}, /* states of 16 bytes */
                {ZS_ISA_GEN11, HANDLE + 16, 0x40, true, false},
                {ZS_ISA_GEN11, HANDLE & ~1, 0, false, false},
                {ZS_ISA_GEN11, HANDLE, 0, false, true},
                {ZS_ISA_GEN11, HANDLE + ZS_PORT_SAMPLER_HANDLE_B, 0, true, true},
                {ZS_ISA_GEN11, 1, 0, true, true}};
    uint64_t seed = 21;
    static struct fixture f;
    fixture_init(&f, &seed);
    bind_image(&f, 2, false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        f.platform = rows[i].platform;
        memset(f.src0, 0, sizeof(f.src0));
        memcpy(f.src0 + POINTER_DW * 4, &rows[i].pointer, 4);
        f.port.sampler_handles = rows[i].is_ours ? NULL : &rows[i].known;
        f.port.sampler_handle_count = rows[i].known ? 1 : 0;
        memset(&f.port.fault, 0, sizeof(f.port.fault));
        assert_int_equal(decode(&f, SAMPLER, BTI | 0x18 << 12 | 1 << 17 | 1 << 19, 3, 0, 4), 0);
        assert_int_equal(run(&f, 0xff), !rows[i].is_refused);
        assert_int_equal(f.port.fault.kind,
                         rows[i].is_refused ? ZS_PORT_FAULT_SAMPLER_HANDLE : ZS_PORT_FAULT_NONE);
    }
}

static void sampling_follows_the_specification(void **state)
{
    static const enum zs_port_wrap wraps[] = {ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_BORDER,
                                              ZS_PORT_WRAP_REPEAT, ZS_PORT_WRAP_MIRROR};
    uint64_t seed = 5;
    static struct fixture f;
    fixture_init(&f, &seed);
    for (uint32_t round = 0; round < 40; round++) {
        f.platform = round & 2 ? ZS_ISA_XE2 : ZS_ISA_GEN9;
        for (uint32_t w = 0; w < 4; w++) {
            for (uint32_t mode = 0; mode < 4; mode++) {
                bool normalized = mode & 1 || w >= 2; /* repeat and mirror need it */
                f.samplers[1] = (struct zs_port_sampler){.wrap = {wraps[w], wraps[w], wraps[w]},
                                                         .linear = mode & 2,
                                                         .normalized = normalized};
                for (uint32_t dimensions = 1; dimensions <= 3; dimensions++) {
                    check_sample(&f, dimensions, false, round & 1 ? 16 : 8, &seed);
                    if (dimensions < 3)
                        check_sample(&f, dimensions, true, round & 1 ? 8 : 16, &seed);
                }
            }
        }
    }
}

static void texel_loads(void **state)
{
    uint64_t seed = 6;
    static struct fixture f;
    fixture_init(&f, &seed);
    bind_image(&f, 2, false);
    memset(f.src0, 0, GRF_B);
    uint32_t disable = 2 << 12; /* no green */
    memcpy(f.src0 + 8, &disable, 4);
    int32_t x[8] = {0, 6, 7, -1, 3, 2, 1, 5}, y[8] = {0, 4, 0, 0, 5, 2, -1, 3};
    memcpy(f.src0 + GRF_B, x, 32);
    memcpy(f.src0 + 2 * GRF_B, y, 32);
    assert_int_equal(decode(&f, SAMPLER, BTI | 0x1A << 12 | 1 << 17 | 1 << 19, 3, 0, 3), 0);
    uint8_t before[GRF_B];
    memcpy(before, f.dst + 3 * GRF_B, GRF_B);
    assert_true(run(&f, 0xff));
    static const uint32_t channels[3] = {0, 2, 3};
    for (uint32_t c = 0; c < 3; c++) {
        for (uint32_t lane = 0; lane < 8; lane++) {
            bool inside = x[lane] >= 0 && x[lane] < WIDTH && y[lane] >= 0 && y[lane] < HEIGHT;
            float got;
            memcpy(&got, f.dst + c * GRF_B + lane * 4, 4);
            assert_true(got == (inside ? texel_value(x[lane], y[lane], 0, channels[c]) : 0.0f));
        }
    }
    assert_memory_equal(f.dst + 3 * GRF_B, before, GRF_B);
}

static void sizes(void **state)
{
    uint64_t seed = 8;
    static struct fixture f;
    fixture_init(&f, &seed);
    bind_image(&f, 2, true);
    memset(f.src0, 0, 2 * GRF_B);
    assert_int_equal(decode(&f, SAMPLER, BTI | 0xA << 12 | 1 << 17 | 1 << 19, 2, 0, 4), 0);
    assert_true(run(&f, 1));
    uint32_t got[4];
    for (uint32_t c = 0; c < 4; c++)
        memcpy(&got[c], f.dst + c * GRF_B, 4);
    assert_int_equal(got[0], WIDTH);
    assert_int_equal(got[1], HEIGHT);
    assert_int_equal(got[2], DEPTH);
}

/* ---- typed -------------------------------------------------------------------------------------
 */

/* The same messages are the data port's, and from XeHPG on the load/store cache's, which has its
 * data apart from the coordinates. */
enum form { DATA_PORT, LOAD_STORE_CACHE, FORM_COUNT };
enum operation { WRITE, READ, ADD };

static void decode_typed(struct fixture *f, enum form form, enum operation operation,
                         uint32_t coordinates)
{
    static const uint32_t port[] = {
        [WRITE] = 0xD << 14, [READ] = 5 << 14, [ADD] = 7 << 8 | 1 << 13 | 6 << 14};
    static const uint32_t cache[] = {[WRITE] = 6 | 15 << 12, [READ] = 2 | 15 << 12, [ADD] = 0xc};
    static const uint32_t lengths[][2] = {[WRITE] = {4, 0}, [READ] = {0, 4}, [ADD] = {1, 1}};
    const uint32_t *length = lengths[operation];
    if (form == DATA_PORT) {
        assert_int_equal(
            decode(f, DC1, BTI | 1 << 12 | port[operation], coordinates, length[0], length[1]), 0);
        return;
    }
    struct zs_diag diag = {0};
    struct zs_isa_send send = {.sfid = 18,
                               .desc = cache[operation] | 2 << 7 | 2 << 9 | 3u << 29,
                               .ex_desc = BTI << 24,
                               .mlen = coordinates,
                               .xlen = length[0],
                               .rlen = length[1],
                               .generation = later(32),
                               .exec_size = 8};
    assert_int_equal(zs_port_message_decode(&send, &f->message, &f->row, &diag), 0);
    send.exec_size = 16; /* eight lanes, no more */
    assert_int_equal(zs_port_message_decode(&send, &f->message, &f->row, &diag), -EINVAL);
    send.exec_size = 8;
    send.desc ^= 1 << 9; /* of dwords alone */
    assert_int_equal(zs_port_message_decode(&send, &f->message, &f->row, &diag), -EINVAL);
}

static void check_typed(enum form form)
{
    uint64_t seed = 9;
    static struct fixture f;
    fixture_init(&f, &seed);
    bind_image(&f, 2, true);
    f.surfaces[BTI].format = zs_port_format_find(0x0C7); /* R8G8B8A8_UNORM */
    int32_t x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {0, 4, 3, 2, 1, 0, 4, 0},
            z[8] = {0, 1, 2, 0, 1, 2, 2, 0};
    uint8_t before[MEMORY_B];
    memcpy(before, f.memory, MEMORY_B);
    memcpy(f.src0, x, 32);
    memcpy(f.src0 + GRF_B, y, 32);
    memcpy(f.src0 + 2 * GRF_B, z, 32);
    for (uint32_t c = 0; c < 4; c++) {
        for (uint32_t lane = 0; lane < 8; lane++) {
            float v = (float)(lane * 4 + c) / 255.0f;
            memcpy(f.src1 + c * GRF_B + lane * 4, &v, 4);
        }
    }
    decode_typed(&f, form, WRITE, 3);
    assert_true(run(&f, 0xff)); /* lane 7 is outside: dropped */
    for (uint32_t lane = 0; lane < 7; lane++) {
        uint8_t *to = before + z[lane] * SLICE_B + y[lane] * ROW_B + x[lane] * 4;
        for (uint32_t c = 0; c < 4; c++)
            to[c] = (uint8_t)(lane * 4 + c);
    }
    assert_memory_equal(f.memory, before, MEMORY_B);
    decode_typed(&f, form, READ, 3);
    assert_true(run(&f, 0xff));
    for (uint32_t c = 0; c < 4; c++) {
        for (uint32_t lane = 0; lane < 8; lane++) {
            float v;
            memcpy(&v, f.dst + c * GRF_B + lane * 4, 4);
            assert_true(v == (lane == 7 ? 0.0f : (float)((lane * 4 + c) / 255.0)));
        }
    }
    f.port.flags = ZS_PORT_CHECK_SURFACES;
    assert_false(run(&f, 0xff));
    assert_int_equal(f.port.fault.lane, 7);
    assert_true(run(&f, 0x7f));
    /* a buffer has no texels */
    f.surfaces[BTI] = f.surfaces[0];
    assert_false(run(&f, 0x7f));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_SURFACE);
    f.port.flags = 0;
    assert_true(run(&f, 0x7f));
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(f.dst[i * 4], 0);
}

/* Xe2: of 32 lanes, with two registers for each coordinate and channel. */
static void typed_messages_of_many_lanes(void **state)
{
    enum { LANES = 32, STORE_QUAD = 6, LOAD_QUAD = 2, X = 1 };
    uint64_t seed = 31;
    static struct fixture f;
    struct zs_diag diag = {0};
    fixture_init(&f, &seed);
    bind_image(&f, 2, true);
    f.surfaces[BTI].format = zs_port_format_find(0x0D7); /* R32_UINT */
    struct zs_isa_send send = {.sfid = 18,
                               .desc = STORE_QUAD | 2 << 7 | 2 << 9 | X << 12 | 3u << 29,
                               .ex_desc = BTI << 24,
                               .mlen = 6,
                               .xlen = 2,
                               .generation = zs_isa_generation(ZS_ISA_XE2),
                               .exec_size = LANES};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t at[3] = {lane % 4, lane / 4 % 4, lane / 16}, value = 7000 + lane;
        for (uint32_t i = 0; i < 3; i++)
            memcpy(f.src0 + (i * LANES + lane) * 4, &at[i], 4);
        memcpy(f.src1 + lane * 4, &value, 4);
    }
    assert_int_equal(zs_port_message_decode(&send, &f.message, &f.row, &diag), 0);
    assert_true(run(&f, UINT32_MAX ^ 1u << 17));
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t got;
        memcpy(&got, f.memory + lane / 16 * SLICE_B + lane / 4 % 4 * ROW_B + lane % 4 * 4, 4);
        assert_int_equal(got == 7000 + lane, lane != 17);
    }
    send.desc = (send.desc & ~63u) | LOAD_QUAD;
    send.xlen = 0;
    send.rlen = 2;
    assert_int_equal(zs_port_message_decode(&send, &f.message, &f.row, &diag), 0);
    assert_true(run(&f, UINT32_MAX));
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t got;
        memcpy(&got, f.dst + lane * 4, 4);
        assert_int_equal(got == 7000 + lane, lane != 17);
    }
}

static void typed_writes_and_reads(void **state)
{
    for (uint32_t form = 0; form < FORM_COUNT; form++)
        check_typed((enum form)form);
}

/* What units compute does not depend on the thread's rounding and denormals. */
static void check_modes(struct fixture *f, const struct zs_port_format *format, uint64_t *seed)
{
    static uint8_t memory[MEMORY_B], dst[sizeof(f->dst)], start[MEMORY_B];
    const struct {
        uint32_t sfid, desc, mlen, rlen;
    } messages[] = {
        {DC1, BTI | 1 << 12 | 0xD << 14, 6, 0},                          /* typed write */
        {DC1, BTI | 1 << 12 | 5 << 14, 2, 4},                            /* typed read */
        {SAMPLER, BTI | 1 << 8 | 0x18 << 12 | 1 << 17 | 1 << 19, 3, 4},  /* sample_lz */
        {SAMPLER, BTI | 0x1a << 12 | 1 << 17 | 1 << 19, 3, 4},           /* ld_lz */
        {SAMPLER, BTI | 0x1a << 12 | 1 << 17 | 1 << 19 | 1 << 30, 3, 4}, /* to halves */
    };
    const uint32_t host = _mm_getcsr();
    bind_image(f, 2, false);
    f->surfaces[BTI].format = format;
    f->samplers[1] = (struct zs_port_sampler){
        .wrap = {ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_CLAMP}, .linear = true};
    fill_random(start, MEMORY_B, seed);
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(messages); i++) {
        fill_random(f->src0, sizeof(f->src0), seed);
        memset(f->src0, 0, i > 1 ? GRF_B : 0);
        for (uint32_t lane = 0; lane < 8; lane++) {
            for (uint32_t d = 0; d < 2; d++) {
                uint32_t whole = random_u32(seed) % 5;
                float at = (float)(random_u32(seed) % 5000) / 1000.0f;
                memcpy(f->src0 + (d + (i > 1)) * GRF_B + lane * 4,
                       i == 2 ? (const void *)&at : (const void *)&whole, 4);
            }
            for (uint32_t c = 2; i == 0 && c < 6; c++) { /* between what the format holds */
                float v = ldexpf((float)(random_u32(seed) % 20001) - 10000, -14);
                memcpy(f->src0 + c * GRF_B + lane * 4, &v, 4);
            }
        }
        assert_int_equal(
            decode(f, messages[i].sfid, messages[i].desc, messages[i].mlen, 0, messages[i].rlen),
            0);
        for (uint32_t mode = 0; mode < 8; mode++) {
            memcpy(f->memory, start, MEMORY_B);
            memset(f->dst, 0, sizeof(f->dst));
            _mm_setcsr(_MM_MASK_MASK | (mode & 3) << 13 | (mode & 4 ? 0x8040 : 0));
            bool done = run(f, 0xff);
            uint32_t left = _mm_getcsr();
            _mm_setcsr(host);
            assert_true(done);
            assert_int_equal(left & 0xffc0,
                             _MM_MASK_MASK | (mode & 3) << 13 | (mode & 4 ? 0x8040 : 0));
            if (mode == 0) {
                memcpy(memory, f->memory, MEMORY_B);
                memcpy(dst, f->dst, sizeof(dst));
            }
            assert_memory_equal(f->memory, memory, MEMORY_B);
            assert_memory_equal(f->dst, dst, sizeof(dst));
        }
    }
}

static void modes_of_the_thread_do_not_matter(void **state)
{
    uint64_t seed = 31;
    static struct fixture f;
    fixture_init(&f, &seed);
    for (size_t i = 0; i < zs_port_format_count(); i++)
        check_modes(&f, zs_port_format_at(i), &seed);
}

static uint32_t channel_of(const struct fixture *f, uint32_t c)
{
    uint32_t value;
    memcpy(&value, f->dst + c * GRF_B, 4);
    return value;
}

/* A format without alpha, or whose swizzle gives one, is opaque outside, too. */
static void borders(void **state)
{
    uint64_t seed = 32;
    static struct fixture f;
    static const struct {
        uint32_t format;
        uint8_t alpha; /* of the swizzle */
        bool integer;
        uint32_t want;
    } rows[] = {{0x000, 7, false, 0},
                {0x000, 1, false, 0x3f800000},
                {0x0d8, 7, false, 0x3f800000}, /* R32_FLOAT */
                {0x002, 7, true, 0},           /* R32G32B32A32_UINT */
                {0x002, 1, true, 1}};
    fixture_init(&f, &seed);
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        bind_image(&f, 1, false);
        f.surfaces[BTI].format = zs_port_format_find(rows[i].format);
        f.surfaces[BTI].swizzle[3] = rows[i].alpha;
        f.samplers[1] = (struct zs_port_sampler){.wrap = {ZS_PORT_WRAP_BORDER}};
        memset(f.src0, 0, 2 * GRF_B);
        float outside = -1.5f;
        memcpy(f.src0 + GRF_B, &outside, 4);
        assert_int_equal(
            decode(&f, SAMPLER, BTI | 1 << 8 | 0x18 << 12 | 1 << 17 | 1 << 19, 2, 0, 4), 0);
        assert_true(run(&f, 1));
        for (uint32_t c = 0; c < 4; c++)
            assert_int_equal(channel_of(&f, c), c == 3 ? rows[i].want : 0);
    }
}

static void check_typed_atomics(enum form form)
{
    uint64_t seed = 19;
    static struct fixture f;
    fixture_init(&f, &seed);
    bind_image(&f, 2, false);
    f.surfaces[BTI].format = zs_port_format_find(0x0D7); /* R32_UINT */
    memset(f.memory, 0, MEMORY_B);
    memset(f.src0, 0, sizeof(f.src0));
    for (uint32_t lane = 0; lane < 8; lane++) { /* lanes 0 to 6 at (lane / 2, 1), 7 outside */
        uint32_t x = lane == 7 ? WIDTH : lane / 2, y = 1, add = 100 + lane;
        memcpy(f.src0 + lane * 4, &x, 4);
        memcpy(f.src0 + GRF_B + lane * 4, &y, 4);
        memcpy(f.src1 + lane * 4, &add, 4);
    }
    decode_typed(&f, form, ADD, 2);
    assert_true(run(&f, 0xff));
    static const uint32_t sums[4] = {201, 205, 209, 106}, old[8] = {0, 100, 0, 102, 0, 104, 0, 0};
    assert_memory_equal(f.memory + ROW_B, sums, sizeof(sums));
    assert_memory_equal(f.dst, old, sizeof(old));
}

static void typed_atomics(void **state)
{
    for (uint32_t form = 0; form < FORM_COUNT; form++)
        check_typed_atomics((enum form)form);
}

static void media_blocks(void **state)
{
    uint64_t seed = 10;
    static struct fixture f;
    fixture_init(&f, &seed);
    bind_image(&f, 2, false);
    f.surfaces[BTI].format = zs_port_format_find(0x140); /* R8 */
    f.surfaces[BTI].width = 100;
    uint32_t header[8] = {96, 3,
                          3 << 16 | 11}; /* 12 x 4 at (96, 3): over the right and lower edge */
    memcpy(f.src0, header, sizeof(header));
    assert_int_equal(decode(&f, DC1, BTI | 1 << 19 | 4 << 14, 1, 0, 2), 0);
    assert_true(run(&f, 1));
    for (uint32_t row = 0; row < 4; row++) {
        for (uint32_t i = 0; i < 12; i++) {
            uint32_t column = 96 + i > 99 ? 99 : 96 + i, line = 3 + row > 4 ? 4 : 3 + row;
            assert_int_equal(f.dst[row * 16 + i], f.memory[line * ROW_B + column]);
        }
    }
    uint8_t before[MEMORY_B];
    memcpy(before, f.memory, MEMORY_B);
    assert_int_equal(decode(&f, DC1, BTI | 1 << 19 | 0xA << 14, 1, 2, 0), 0);
    assert_true(run(&f, 1));
    for (uint32_t row = 0; row < 2; row++)
        memcpy(before + (3 + row) * ROW_B + 96, f.src1 + row * 16, 4);
    assert_memory_equal(f.memory, before, MEMORY_B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_precision),
        cmocka_unit_test(formats_unpack_and_pack),
        cmocka_unit_test(packing_clamps_and_rounds),
        cmocka_unit_test(all_normalized_words),
        cmocka_unit_test(sampling_follows_the_specification),
        cmocka_unit_test(samplers_by_handle),
        cmocka_unit_test(texel_loads),
        cmocka_unit_test(sizes),
        cmocka_unit_test(typed_writes_and_reads),
        cmocka_unit_test(typed_messages_of_many_lanes),
        cmocka_unit_test(modes_of_the_thread_do_not_matter),
        cmocka_unit_test(borders),
        cmocka_unit_test(typed_atomics),
        cmocka_unit_test(media_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
