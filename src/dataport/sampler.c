/* SPDX-License-Identifier: MIT */
/*
 * The sampler: filtered reads at float coordinates (sample, sample_d, _l, _lz), texel reads at
 * integer coordinates (ld, ld_lz) and surface sizes (resinfo). Images have one level, so a LOD
 * other than 0 is out of range for ld and clamps to 0 for sample_l.
 *
 * Parameters take a register per 8 lanes each (of 64 bytes: per 16). The response is up to four
 * channel groups; header DW2 bits 15:12 leave channels out. Filtering follows OpenCL's formulas
 * (section "Image addressing and filtering") in float; hardware weights have 8 bits.
 */
#include "base/small_float.h"
#include "dataport/dataport_priv.h"

#include <math.h>

bool zs_port_run_sampler_flush(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                               const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the response has no defined contents */
    return true;
}

/* ---- surfaces and responses --------------------------------------------------------------------
 */

static bool is_integer(const struct zs_port_surface *s)
{
    return s->format->type == ZS_PORT_FORMAT_UINT || s->format->type == ZS_PORT_FORMAT_SINT;
}

static bool find_surface(struct zs_port *port, const struct zs_port_message *m,
                         const struct zs_port_surface **ret)
{
    struct zs_port_area area; /* for its checks */
    if (!zs_port_area(port, m, false, &area))
        return false;
    *ret = zs_port_image(port, m);
    return true;
}

static const struct zs_port_sampler *
find_sampler(const struct zs_port *port, const struct zs_port_message *m, const uint8_t *header)
{
    static const struct zs_port_sampler none = {
        .wrap = {ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_CLAMP}};
    uint32_t index = m->sampler;
    if (m->header_grf) /* records of 16 bytes behind the thread's sampler state pointer */
        index += (zs_port_load32(header + 12) & ~31u) / 16;
    return index < port->sampler_count ? &port->samplers[index] : &none;
}

/* The header may name a sampler by a handle: with bit 0, states of 16 bytes, as Intel's driver
 * counts those of a kernel. Else bits 31:5 are an offset. */
const struct zs_port_sampler *zs_port_sampler_of(const struct zs_port *port,
                                                 const struct zs_port_message *m,
                                                 const uint8_t *header)
{
    uint32_t pointer = m->header_grf && m->may_be_handle ? zs_port_load32(header + 12) : 0;
    if (!(pointer & 1))
        return find_sampler(port, m, header);
    uint32_t handle = (pointer & ~15u) + m->sampler * 16u;
    uint32_t own = (pointer & ~31u) / ZS_PORT_SAMPLER_HANDLE_B - 1;
    if (!port->handles && !port->sampler_handles && own < port->sampler_count && m->sampler == 0)
        return &port->samplers[own];
    for (uint32_t i = 0; i < port->sampler_handle_count; i++) {
        if (port->sampler_handles[i] == handle)
            return &port->samplers[port->sampler_handle_base + i];
    }
    return NULL;
}

/* NULL: by a handle that is not known. */
static const struct zs_port_sampler *
choose_sampler(struct zs_port *port, const struct zs_port_message *m, const uint8_t *header)
{
    const struct zs_port_sampler *sampler = zs_port_sampler_of(port, m, header);
    if (!sampler)
        zs_port_fail(port, m, ZS_PORT_FAULT_SAMPLER_HANDLE, -1, zs_port_load32(header + 12) & ~15u,
                     0, false);
    return sampler;
}

static const uint32_t no_dwords[ZS_PORT_TEXELS];

/* Of texels inside, the others read as if of zeros; with two planes V, Y, U, as the sampler gives
 * them. */
static void read_texels(const struct zs_port_surface *s, const struct zs_port_message *m,
                        const int32_t at[3][ZS_PORT_TEXELS], uint32_t mask, uint32_t *ret_inside,
                        struct zs_port_texels *ret)
{
    uint8_t *pointer[ZS_PORT_TEXELS];
    struct zs_port_texels uv;
    uint32_t inside = *ret_inside = zs_port_surface_texels(s, at, mask, pointer);
    zs_port_texels_unpack(s->format, pointer, inside, m->lanes, ret);
    if (!s->chroma)
        return;
    ZS_PORT_FOR_LANES(lane, inside)
    pointer[lane] =
        (uint8_t *)(uintptr_t)s->chroma_base +
        zs_tiled(s->tiling, s->row_pitch_B, (uint64_t)(at[0][lane] / 2) * s->chroma->texel_B,
                 (uint64_t)(at[1][lane] / 2), 0);
    zs_port_texels_unpack(s->chroma, pointer, inside, m->lanes, &uv);
    ZS_PORT_FOR_LANES(of, inside)
    {
        ret->channel[1][of] = ret->channel[0][of];
        ret->channel[0][of] = uv.channel[1][of];
        ret->channel[2][of] = uv.channel[0][of];
    }
}

static uint32_t disabled_channels(const struct zs_port_message *m, const uint8_t *src0)
{
    return m->header_grf ? zs_port_bits(zs_port_load32(src0 + 8), 15, 12) : m->disabled;
}

/* Store the wanted channels of the active lanes, as far as the response reaches. s: whose swizzle
 * they go through; NULL: there is no surface. */
static void respond(const struct zs_port_message *m, uint8_t *dst, const uint8_t *src0,
                    uint32_t mask, const struct zs_port_surface *s,
                    const struct zs_port_texels *texels)
{
    uint32_t disabled = disabled_channels(m, src0), one = !s || is_integer(s) ? 1 : 0x3f800000u;
    uint32_t group_B = m->op ? m->component_B : m->lanes * 4u, at_B = 0, ones[ZS_PORT_TEXELS];
    for (uint32_t c = 0; c < 4; c++) {
        if (disabled >> c & 1)
            continue;
        if (at_B + group_B > m->rlen * (uint32_t)GRF_B)
            return;
        uint32_t how = s ? s->swizzle[c] : 0;
        const uint32_t *from = how >= 4 ? texels->channel[how & 3] : how ? ones : no_dwords;
        for (uint32_t i = 0; i < ZS_PORT_TEXELS && from == ones; i++)
            ones[i] = one;
        if (!m->op)
            zs_port_store_lanes(dst + at_B, from, mask);
        ZS_PORT_FOR_LANES(lane, m->op ? mask : 0)
        {
            float as_float;
            memcpy(&as_float, &from[lane], sizeof(as_float));
            uint16_t half =
                s && is_integer(s) ? (uint16_t)from[lane] : zs_half_from_float(as_float);
            memcpy(dst + at_B + (size_t)lane * 2, &half, sizeof(half));
        }
        at_B += group_B;
    }
}

/* ---- texel reads -------------------------------------------------------------------------------
 */

static bool sample_ld(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                      const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const struct zs_port_surface *s;
    if (!find_surface(port, m, &s))
        return false;
    int32_t at[3][ZS_PORT_TEXELS];
    uint32_t level[ZS_PORT_TEXELS] = {0}, inside;
    struct zs_port_texels texels;
    zs_port_coordinates(m, src0, at);
    if (m->returns)
        zs_port_parameters(m, src0, 1, level);
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        at[0][lane] |=
            level[lane] ? -1 : 0; /* outside: zeros in the channels that the format has */
    if (s)
        read_texels(s, m, at, mask, &inside, &texels);
    respond(m, dst, src0, mask, s, &texels);
    return true;
}

bool zs_port_run_sample_ld(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                           const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_with_own_floats(sample_ld, port, m, dst, src0, src1, mask);
}

/* ---- filtered reads ----------------------------------------------------------------------------
 */

enum { TEXEL_BORDER = -1 };

/* Loops here are over all lanes, also those that are off: so they are the host's vectors. */
static inline int32_t floor_i32(float value)
{
    float f = floorf(value);
    f = f >= -1e9f ? f : -1e9f; /* NaN too */
    return (int32_t)(f <= 1e9f ? f : 1e9f);
}

/* Integer coordinates by the wrap mode: 0 .. size - 1, or TEXEL_BORDER. */
static void wrap_texels(int32_t *i, uint32_t count, int32_t size, enum zs_port_wrap wrap)
{
    int32_t twice = 2 * size;
    for (uint32_t k = 0; k < count && wrap == ZS_PORT_WRAP_REPEAT; k++)
        i[k] = i[k] >= 0 && i[k] < size ? i[k] : (i[k] % size + size) % size;
    for (uint32_t k = 0; k < count && wrap == ZS_PORT_WRAP_MIRROR; k++) {
        int32_t at = (i[k] % twice + twice) % twice;
        i[k] = at < size ? at : twice - 1 - at;
    }
    for (uint32_t k = 0; k < count && wrap == ZS_PORT_WRAP_MIRROR_ONCE; k++)
        i[k] = i[k] < 0 ? -1 - i[k] : i[k];
    for (uint32_t k = 0; k < count && wrap == ZS_PORT_WRAP_BORDER; k++)
        i[k] = i[k] < 0 || i[k] >= size ? TEXEL_BORDER : i[k];
    if (wrap == ZS_PORT_WRAP_BORDER)
        return;
    for (uint32_t k = 0; k < count; k++)
        i[k] = ZS_MIN(ZS_MAX(i[k], 0), size - 1);
}

/* One axis of lookups: two texels and the weight of the second. Nearest: the first alone. */
struct taps {
    int32_t texel[2][ZS_PORT_TEXELS];
    float weight[ZS_PORT_TEXELS];
};

static void axis_taps(const struct zs_port_sampler *sampler, uint32_t axis, const float *coordinate,
                      uint32_t count, uint32_t size, bool linear, struct taps *ret)
{
    float scale = sampler->normalized ? (float)size : 1.0f, back = linear ? 0.5f : 0.0f;
    for (uint32_t lane = 0; lane < count; lane++) {
        float shifted = coordinate[lane] * scale - back;
        float weight = shifted - floorf(shifted); /* may round to 1 */
        ret->texel[0][lane] = floor_i32(shifted);
        ret->texel[1][lane] = ret->texel[0][lane] + 1;
        ret->weight[lane] = weight >= 0.0f && weight <= 1.0f ? weight : 0.0f;
    }
    for (uint32_t i = 0; i < 1u + linear; i++)
        wrap_texels(ret->texel[i], count, (int32_t)size, sampler->wrap[axis]);
}

/* Texels, or the sampler's border. */
static void fetch(const struct zs_port_surface *s, const struct zs_port_message *m,
                  const struct zs_port_sampler *sampler, const int32_t at[3][ZS_PORT_TEXELS],
                  uint32_t mask, struct zs_port_texels *ret)
{
    uint32_t inside, border[4];
    read_texels(s, m, at, mask, &inside, ret);
    memcpy(border, sampler->border, sizeof(border));
    if (s->format->channel[3].bits == 0) /* OpenCL: opaque without alpha */
        border[3] = is_integer(s) ? 1 : 0x3f800000u;
    ZS_PORT_FOR_LANES(lane, mask & ~inside)
    {
        for (uint32_t c = 0; c < 4; c++)
            ret->channel[c][lane] = border[c];
    }
}

static void filter(const struct zs_port_surface *s, const struct zs_port_message *m,
                   const struct zs_port_sampler *sampler, const struct taps taps[3],
                   int32_t at[3][ZS_PORT_TEXELS], uint32_t mask, struct zs_port_texels *ret)
{
    double sum[4][ZS_PORT_TEXELS] = {0};
    uint32_t count = m->lanes;
    for (uint32_t corner = 0; corner < 1u << s->dimensions; corner++) {
        struct zs_port_texels texels;
        double weight[ZS_PORT_TEXELS];
        uint32_t some = 0;
        for (uint32_t lane = 0; lane < count; lane++)
            weight[lane] = 1.0;
        for (uint32_t i = 0; i < s->dimensions; i++) {
            bool is_second = corner >> i & 1;
            memcpy(at[i], taps[i].texel[is_second], sizeof(at[i]));
            for (uint32_t lane = 0; lane < count; lane++) {
                double second = (double)taps[i].weight[lane];
                weight[lane] *= is_second ? second : 1.0 - second;
            }
        }
        for (uint32_t lane = 0; lane < count; lane++)
            some |= (uint32_t)(weight[lane] != 0.0) << lane;
        fetch(s, m, sampler, at, some & mask, &texels);
        for (uint32_t c = 0; c < 4; c++) {
            float value[ZS_PORT_TEXELS];
            memcpy(value, texels.channel[c], sizeof(value));
            for (uint32_t lane = 0; lane < count; lane++)
                sum[c][lane] += weight[lane] != 0.0 ? weight[lane] * (double)value[lane] : 0.0;
        }
    }
    for (uint32_t c = 0; c < 4; c++) {
        float value[ZS_PORT_TEXELS];
        for (uint32_t lane = 0; lane < count; lane++)
            value[lane] = (float)sum[c][lane];
        memcpy(ret->channel[c], value, sizeof(value));
    }
}

static void sample(const struct zs_port_surface *s, const struct zs_port_message *m,
                   const struct zs_port_sampler *sampler, const uint8_t *src0, uint32_t mask,
                   struct zs_port_texels *ret)
{
    const uint32_t size[3] = {s->width, s->height, s->depth};
    bool linear = sampler->linear && !is_integer(s);
    struct taps taps[3];
    int32_t at[3][ZS_PORT_TEXELS];
    for (uint32_t i = 0; i < ZS_MIN(s->dimensions + (uint32_t)s->is_array, 3u); i++) {
        float coordinate[ZS_PORT_TEXELS];
        zs_port_parameters(m, src0, m->channels + i * (1u + m->returns), coordinate);
        if (i < s->dimensions)
            axis_taps(sampler, i, coordinate, m->lanes, size[i], linear, &taps[i]);
        for (uint32_t lane = 0; lane < m->lanes && i == s->dimensions; lane++) /* nearest layer */
            at[i][lane] = floor_i32(rintf(coordinate[lane]));
        if (i == s->dimensions)
            wrap_texels(at[i], m->lanes, (int32_t)s->depth, ZS_PORT_WRAP_CLAMP);
    }
    if (linear) {
        filter(s, m, sampler, taps, at, mask, ret);
        return;
    }
    for (uint32_t i = 0; i < s->dimensions; i++)
        memcpy(at[i], taps[i].texel[0], sizeof(at[i]));
    fetch(s, m, sampler, at, mask, ret);
}

static bool run_sample(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const struct zs_port_surface *s;
    const struct zs_port_sampler *sampler =
        find_surface(port, m, &s) ? choose_sampler(port, m, src0) : NULL;
    struct zs_port_texels texels;
    if (!sampler)
        return false;
    if (s)
        sample(s, m, sampler, src0, mask, &texels);
    respond(m, dst, src0, mask, s, &texels);
    return true;
}

bool zs_port_run_sample(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                        const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_with_own_floats(run_sample, port, m, dst, src0, src1, mask);
}

/* Sizes go through no swizzle. */
bool zs_port_run_resinfo(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    static const struct zs_port_format dwords = {.type = ZS_PORT_FORMAT_UINT};
    static const struct zs_port_surface plain = {.format = &dwords, .swizzle = {4, 5, 6, 7}};
    const struct zs_port_surface *s;
    struct zs_port_texels texels = {0};
    uint32_t level[ZS_PORT_TEXELS];
    if (!find_surface(port, m, &s))
        return false;
    zs_port_parameters(m, src0, 0, level);
    ZS_PORT_FOR_LANES(lane, s ? mask : 0)
    {
        uint32_t size[4] = {s->width, s->dimensions > 1 ? s->height : 0,
                            s->dimensions > 2 ? s->depth : 0, 1};
        if (s->is_array && s->dimensions < 3)
            size[s->dimensions] = s->depth;
        for (uint32_t c = 0; c < 4; c++)
            texels.channel[c][lane] = level[lane] ? 0 : size[c];
    }
    respond(m, dst, src0, mask, &plain, &texels);
    return true;
}
