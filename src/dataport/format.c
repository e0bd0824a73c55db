/* SPDX-License-Identifier: MIT */
/* Texel formats: rows, and the conversions between texels and 32-bit channels. */
#include "base/small_float.h"
#include "dataport/surface.h"

#include <math.h>
#include <string.h>

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

/* ---- unpack ------------------------------------------------------------------------------------
 */

typedef uint32_t unpack_fn(uint32_t raw, uint32_t bits);

static uint32_t ones(uint32_t bits)
{
    return bits == 32 ? UINT32_MAX : (1u << bits) - 1;
}

static int32_t sign_extend(uint32_t raw, uint32_t bits)
{
    return (int32_t)(raw << (32 - bits)) >> (32 - bits);
}

static uint32_t unpack_uint(uint32_t raw, uint32_t bits)
{
    return raw;
}

static uint32_t unpack_sint(uint32_t raw, uint32_t bits)
{
    return (uint32_t)sign_extend(raw, bits);
}

static uint32_t unpack_unorm(uint32_t raw, uint32_t bits)
{
    return float_bits((float)((double)raw / (double)ones(bits)));
}

static uint32_t unpack_snorm(uint32_t raw, uint32_t bits)
{
    double value = (double)sign_extend(raw, bits) / (double)ones(bits - 1);
    return float_bits((float)(value < -1.0 ? -1.0 : value));
}

static uint32_t unpack_float(uint32_t raw, uint32_t bits)
{
    if (bits == 32)
        return raw;
    if (bits == 16)
        return float_bits(zs_half_to_float((uint16_t)raw));
    return zs_small_to_float(raw, bits - 5);
}

static uint32_t unpack_srgb(uint32_t raw, uint32_t bits)
{
    double value = (double)raw / (double)ones(bits);
    return float_bits(
        (float)(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)));
}

static unpack_fn *const unpackers[] = {
    [ZS_PORT_FORMAT_UINT] = unpack_uint,   [ZS_PORT_FORMAT_SINT] = unpack_sint,
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

void zs_port_format_unpack(const struct zs_port_format *format, const uint8_t *texel,
                           uint32_t ret_rgba[4])
{
    uint32_t dw[4] = {0};
    memcpy(dw, texel, format->texel_B);
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t bit = format->channel[c].bit, bits = format->channel[c].bits;
        if (bits == 0)
            ret_rgba[c] = c < 3 ? 0 : is_integer(format) ? 1 : float_bits(1.0f);
        else
            ret_rgba[c] =
                unpackers[type_of(format, c)](dw[bit / 32] >> bit % 32 & ones(bits), bits);
    }
}

/* ---- pack --------------------------------------------------------------------------------------
 */

typedef uint32_t pack_fn(uint32_t value, uint32_t bits);

static uint32_t pack_uint(uint32_t value, uint32_t bits)
{
    return ZS_MIN(value, ones(bits));
}

static uint32_t pack_sint(uint32_t value, uint32_t bits)
{
    int32_t high = (int32_t)ones(bits - 1), low = -high - 1, v = (int32_t)value;
    return (uint32_t)(v < low ? low : v > high ? high : v) & ones(bits);
}

/* NaN becomes 0, as D3D and OpenCL want it. */
static double clamped(uint32_t value, double low)
{
    double v = (double)bits_float(value);
    if (!(v > low))
        return isnan(v) ? 0.0 : low;
    return v > 1.0 ? 1.0 : v;
}

static uint32_t pack_unorm(uint32_t value, uint32_t bits)
{
    return (uint32_t)llrint(clamped(value, 0.0) * (double)ones(bits));
}

static uint32_t pack_snorm(uint32_t value, uint32_t bits)
{
    return (uint32_t)llrint(clamped(value, -1.0) * (double)ones(bits - 1)) & ones(bits);
}

static uint32_t pack_float(uint32_t value, uint32_t bits)
{
    if (bits == 32)
        return value;
    if (bits == 16)
        return zs_half_from_float(bits_float(value));
    uint32_t magnitude = value & 0x7fffffffu;
    if (value >> 31 && magnitude <= 0x7f800000u) /* no sign: negative numbers become 0 */
        return 0;
    return zs_small_from_float(magnitude, bits - 5);
}

static uint32_t pack_srgb(uint32_t value, uint32_t bits)
{
    double v = clamped(value, 0.0);
    v = v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
    return (uint32_t)llrint(v * (double)ones(bits));
}

static pack_fn *const packers[] = {
    [ZS_PORT_FORMAT_UINT] = pack_uint,   [ZS_PORT_FORMAT_SINT] = pack_sint,
    [ZS_PORT_FORMAT_UNORM] = pack_unorm, [ZS_PORT_FORMAT_SNORM] = pack_snorm,
    [ZS_PORT_FORMAT_FLOAT] = pack_float, [ZS_PORT_FORMAT_SRGB] = pack_srgb,
};

void zs_port_format_pack(const struct zs_port_format *format, const uint32_t rgba[4],
                         uint8_t *texel)
{
    uint32_t dw[4] = {0};
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t bit = format->channel[c].bit, bits = format->channel[c].bits;
        bool is_again = c && format->channel[0].bits && bit == format->channel[0].bit;
        if (bits && !is_again)
            dw[bit / 32] |= packers[type_of(format, c)](rgba[c], bits) << bit % 32;
    }
    memcpy(texel, dw, format->texel_B);
}
