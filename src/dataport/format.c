/* SPDX-License-Identifier: MIT */
/* Texel formats: rows, and the conversions between texels and 32-bit channels. */
#include "base/small_float.h"
#include "dataport/dataport_priv.h"

#include <math.h>

static const struct zs_port_format formats[] = {
#define ZS_PORT_FORMAT(code_, name_, type_, texel_B_, r, rn, g, gn, b, bn, a, an)                  \
    {.code = (code_),                                                                              \
     .name = #name_,                                                                               \
     .type = ZS_PORT_FORMAT_##type_,                                                               \
     .texel_B = (texel_B_),                                                                        \
     .channel = {{r, rn}, {g, gn}, {b, bn}, {a, an}}},
#include "dataport/format.def"
#undef ZS_PORT_FORMAT
};

size_t zs_port_format_count(void)
{
    return ZS_ARRAY_LEN(formats);
}

const struct zs_port_format *zs_port_format_at(size_t index)
{
    return index < ZS_ARRAY_LEN(formats) ? &formats[index] : NULL;
}

const struct zs_port_format *zs_port_format_find(uint32_t code)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(formats); i++) {
        if (formats[i].code == code)
            return &formats[i];
    }
    return NULL;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- unpack: of each lane, what stands in the bits to what a channel has ------------------------
 */

typedef void convert_fn(uint32_t *values, uint32_t count, uint32_t bits);

static uint32_t ones(uint32_t bits)
{
    return bits == 32 ? UINT32_MAX : (1u << bits) - 1;
}

static int32_t sign_extend(uint32_t raw, uint32_t bits)
{
    return (int32_t)(raw << (32 - bits)) >> (32 - bits);
}

static void as_they_are(uint32_t *v, uint32_t count, uint32_t bits)
{
}

static void unpack_sint(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++)
        v[i] = (uint32_t)sign_extend(v[i], bits);
}

/* Quotients of numbers that floats have are rounded once. */
static void unpack_unorm(uint32_t *v, uint32_t count, uint32_t bits)
{
    float all = (float)ones(bits);
    for (uint32_t i = 0; i < count && bits <= 16; i++)
        v[i] = float_bits((float)(int32_t)v[i] / all);
    for (uint32_t i = 0; i < count && bits > 16; i++)
        v[i] = float_bits((float)((double)v[i] / (double)ones(bits)));
}

static void unpack_snorm(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++) {
        double value = (double)sign_extend(v[i], bits) / (double)ones(bits - 1);
        v[i] = float_bits((float)(value < -1.0 ? -1.0 : value));
    }
}

static void unpack_float(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count && bits == 16; i++)
        v[i] = float_bits(zs_half_to_float((uint16_t)v[i]));
    for (uint32_t i = 0; i < count && bits < 16; i++)
        v[i] = zs_small_to_float(v[i], bits - 5);
}

static void unpack_srgb(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++) {
        double value = (double)v[i] / (double)ones(bits);
        v[i] = float_bits(
            (float)(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)));
    }
}

static convert_fn *const unpackers[] = {
    [ZS_PORT_FORMAT_UINT] = as_they_are,   [ZS_PORT_FORMAT_SINT] = unpack_sint,
    [ZS_PORT_FORMAT_UNORM] = unpack_unorm, [ZS_PORT_FORMAT_SNORM] = unpack_snorm,
    [ZS_PORT_FORMAT_FLOAT] = unpack_float, [ZS_PORT_FORMAT_SRGB] = unpack_srgb,
};

/* Alpha is never that of a curve. */
static enum zs_port_format_type type_of(const struct zs_port_format *format, uint32_t channel)
{
    bool is_linear = format->type == ZS_PORT_FORMAT_SRGB && channel == 3;
    return is_linear ? ZS_PORT_FORMAT_UNORM : format->type;
}

static bool is_integer(const struct zs_port_format *format)
{
    return format->type == ZS_PORT_FORMAT_UINT || format->type == ZS_PORT_FORMAT_SINT;
}

/* The dwords of texels, of which there are as many as a texel has. */
#define SIZES(case_) case_(1) case_(2) case_(4) case_(8) case_(16)

ZS_PORT_KERNEL_ACCESS static ZS_PORT_ALWAYS inline void
load_of(uint32_t dw[4][ZS_PORT_TEXELS], uint8_t *const *pointer, uint32_t mask, uint32_t texel_B)
{
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint32_t one[4] = {0};
        memcpy(one, pointer[lane], texel_B);
        for (uint32_t i = 0; i < (texel_B + 3) / 4; i++)
            dw[i][lane] = one[i];
    }
}

ZS_PORT_KERNEL_ACCESS static void load(uint32_t dw[4][ZS_PORT_TEXELS], uint8_t *const *pointer,
                                       uint32_t mask, uint32_t texel_B)
{
    switch (texel_B) {
#define LOAD(size_B)                                                                               \
    case size_B:                                                                                   \
        load_of(dw, pointer, mask, size_B);                                                        \
        break;
        SIZES(LOAD)
#undef LOAD
    }
}

void zs_port_texels_unpack(const struct zs_port_format *format, uint8_t *const *pointer,
                           uint32_t mask, uint32_t count, struct zs_port_texels *ret)
{
    uint32_t dw[4][ZS_PORT_TEXELS];
    if (mask != zs_port_lane_mask(count))
        memset(dw, 0, sizeof(dw));
    load(dw, pointer, mask, format->texel_B);
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t bit = format->channel[c].bit % 32, bits = format->channel[c].bits;
        uint32_t absent = c < 3 ? 0 : is_integer(format) ? 1 : float_bits(1.0f);
        uint32_t *v = ret->channel[c], all = bits ? ones(bits) : 0;
        const uint32_t *raw = dw[format->channel[c].bit / 32];
        for (uint32_t i = 0; i < count && !bits; i++)
            v[i] = absent;
        for (uint32_t i = 0; i < count && bits; i++)
            v[i] = raw[i] >> bit & all;
        if (bits && !(format->type == ZS_PORT_FORMAT_FLOAT && bits == 32))
            unpackers[type_of(format, c)](v, count, bits);
    }
}

/* ---- pack --------------------------------------------------------------------------------------
 */

static void pack_uint(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++)
        v[i] = ZS_MIN(v[i], ones(bits));
}

static void pack_sint(uint32_t *v, uint32_t count, uint32_t bits)
{
    int32_t high = (int32_t)ones(bits - 1), low = -high - 1;
    for (uint32_t i = 0; i < count; i++) {
        int32_t value = (int32_t)v[i];
        v[i] = (uint32_t)ZS_MIN(ZS_MAX(value, low), high) & ones(bits);
    }
}

/* NaN becomes 0, as D3D and OpenCL want it. */
static double clamped(uint32_t value, double low)
{
    double v = (double)bits_float(value), least = isnan(v) ? 0.0 : low;
    v = v > low ? v : least;
    return v > 1.0 ? 1.0 : v;
}

/* To the nearest integer, an even one of two, of magnitudes below 2^51: it stands in the low bits
 * then. */
static uint32_t rounded(double value)
{
    uint64_t bits;
    value += 0x1.8p52;
    memcpy(&bits, &value, sizeof(bits));
    return (uint32_t)bits;
}

static void pack_unorm(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++)
        v[i] = rounded(clamped(v[i], 0.0) * (double)ones(bits));
}

static void pack_snorm(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++)
        v[i] = rounded(clamped(v[i], -1.0) * (double)ones(bits - 1)) & ones(bits);
}

/* Without a sign negative numbers become 0. */
static void pack_float(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count && bits == 16; i++)
        v[i] = zs_half_from_float(bits_float(v[i]));
    for (uint32_t i = 0; i < count && bits < 16; i++) {
        uint32_t magnitude = v[i] & 0x7fffffffu;
        bool is_negative = v[i] >> 31 && magnitude <= 0x7f800000u;
        v[i] = is_negative ? 0 : zs_small_from_float(magnitude, bits - 5);
    }
}

static void pack_srgb(uint32_t *v, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++) {
        double c = clamped(v[i], 0.0);
        c = c <= 0.0031308 ? c * 12.92 : 1.055 * pow(c, 1 / 2.4) - 0.055;
        v[i] = rounded(c * (double)ones(bits));
    }
}

static convert_fn *const packers[] = {
    [ZS_PORT_FORMAT_UINT] = pack_uint,   [ZS_PORT_FORMAT_SINT] = pack_sint,
    [ZS_PORT_FORMAT_UNORM] = pack_unorm, [ZS_PORT_FORMAT_SNORM] = pack_snorm,
    [ZS_PORT_FORMAT_FLOAT] = pack_float, [ZS_PORT_FORMAT_SRGB] = pack_srgb,
};

ZS_PORT_KERNEL_ACCESS static ZS_PORT_ALWAYS inline void
store_of(uint32_t dw[4][ZS_PORT_TEXELS], uint8_t *const *pointer, uint32_t mask, uint32_t texel_B)
{
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint32_t one[4];
        for (uint32_t i = 0; i < (texel_B + 3) / 4; i++)
            one[i] = dw[i][lane];
        memcpy(pointer[lane], one, texel_B);
    }
}

ZS_PORT_KERNEL_ACCESS static void store(uint32_t dw[4][ZS_PORT_TEXELS], uint8_t *const *pointer,
                                        uint32_t mask, uint32_t texel_B)
{
    switch (texel_B) {
#define STORE(size_B)                                                                              \
    case size_B:                                                                                   \
        store_of(dw, pointer, mask, size_B);                                                       \
        break;
        SIZES(STORE)
#undef STORE
    }
}

void zs_port_texels_pack(const struct zs_port_format *format, struct zs_port_texels *texels,
                         uint32_t mask, uint32_t count, uint8_t *const *pointer)
{
    uint32_t dw[4][ZS_PORT_TEXELS];
    for (uint32_t i = 0; i < (format->texel_B + 3u) / 4; i++)
        memset(dw[i], 0, count * sizeof(uint32_t));
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t bit = format->channel[c].bit % 32, bits = format->channel[c].bits;
        bool is_again =
            c && format->channel[0].bits && format->channel[c].bit == format->channel[0].bit;
        if (!bits || is_again)
            continue;
        uint32_t *v = texels->channel[c], *to = dw[format->channel[c].bit / 32];
        if (!(format->type == ZS_PORT_FORMAT_FLOAT && bits == 32))
            packers[type_of(format, c)](v, count, bits);
        for (uint32_t i = 0; i < count; i++)
            to[i] |= v[i] << bit;
    }
    store(dw, pointer, mask, format->texel_B);
}
