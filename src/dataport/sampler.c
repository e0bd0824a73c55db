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

enum { SAMPLER_LANES_MAX = 32 };

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

static void swizzle(const struct zs_port_surface *s, const uint32_t in[4], uint32_t out[4])
{
    const uint32_t one = is_integer(s) ? 1 : 0x3f800000u;
    for (uint32_t c = 0; c < 4; c++)
        out[c] = s->swizzle[c] >= 4 ? in[s->swizzle[c] & 3] : s->swizzle[c] == 1 ? one : 0;
}

/* The channels of a texel; with two planes V, Y, U, as the sampler gives them. */
static void read_texel(const struct zs_port_surface *s, const int64_t coordinate[3],
                       const uint8_t *texel, uint32_t ret_rgba[4])
{
    uint32_t channels[4];
    zs_port_format_unpack(s->format, texel, channels);
    if (s->chroma) {
        uint32_t uv[4];
        zs_port_format_unpack(s->chroma,
                              s->chroma_base +
                                  zs_tiled(s->tiling, s->row_pitch_B,
                                           (uint64_t)(coordinate[0] / 2) * s->chroma->texel_B,
                                           (uint64_t)(coordinate[1] / 2), 0),
                              uv);
        channels[1] = channels[0];
        channels[0] = uv[1];
        channels[2] = uv[0];
    }
    swizzle(s, channels, ret_rgba);
}

/* Store the wanted channels of the active lanes, as far as the response reaches. */
static void respond(const struct zs_port_message *m, uint8_t *dst, uint32_t disabled, uint32_t mask,
                    uint32_t rgba[SAMPLER_LANES_MAX][4], bool integer)
{
    uint32_t slot_B = m->op ? 2 : 4;
    uint32_t group_B = m->op ? m->component_B : m->lanes * 4u, at_B = 0;
    for (uint32_t c = 0; c < 4; c++) {
        if (disabled >> c & 1)
            continue;
        if (at_B + group_B > m->rlen * (uint32_t)GRF_B)
            return;
        ZS_PORT_FOR_LANES(lane, mask)
        {
            uint32_t value = rgba[lane][c];
            float as_float;
            memcpy(&as_float, &value, sizeof(value));
            uint16_t half = integer ? (uint16_t)value : zs_half_from_float(as_float);
            if (m->op)
                memcpy(dst + at_B + lane * slot_B, &half, 2);
            else
                zs_port_store32(dst + at_B + lane * slot_B, value);
        }
        at_B += group_B;
    }
}

static uint32_t disabled_channels(const struct zs_port_message *m, const uint8_t *src0)
{
    return m->header_grf ? zs_port_bits(zs_port_load32(src0 + 8), 15, 12) : m->disabled;
}

static float parameter_float(const struct zs_port_message *m, const uint8_t *src0, uint32_t index,
                             uint32_t lane)
{
    uint32_t bits = zs_port_parameter(m, src0, index, lane);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- texel reads -------------------------------------------------------------------------------
 */

static bool sample_ld(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                      const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const struct zs_port_surface *s;
    if (!find_surface(port, m, &s))
        return false;
    static const uint8_t no_texel[16] = {0};
    uint32_t disabled = disabled_channels(m, src0);
    uint32_t rgba[SAMPLER_LANES_MAX][4];
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t coordinate[3];
        zs_port_coordinates(m, src0, lane, coordinate);
        bool level_0 = !m->returns || zs_port_parameter(m, src0, 1, lane) == 0;
        const uint8_t *texel = s && level_0 ? zs_port_surface_texel(s, coordinate) : NULL;
        memset(rgba[lane], 0, sizeof(rgba[lane]));
        if (texel) {
            read_texel(s, coordinate, texel, rgba[lane]);
        } else if (s) { /* outside: zeros in the channels that the format has */
            uint32_t channels[4];
            zs_port_format_unpack(s->format, no_texel, channels);
            swizzle(s, channels, rgba[lane]);
        }
    }
    respond(m, dst, disabled, mask, rgba, s && is_integer(s));
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

static int64_t floor_i64(float value)
{
    float f = floorf(value);
    if (!(f >= -1e9f)) /* NaN too */
        return -1000000000;
    return f > 1e9f ? 1000000000 : (int64_t)f;
}

/* An integer coordinate by the wrap mode: 0 .. size - 1, or TEXEL_BORDER. */
static int64_t wrap_texel(int64_t i, int64_t size, enum zs_port_wrap wrap)
{
    int64_t period;
    switch (wrap) {
    case ZS_PORT_WRAP_REPEAT:
        return ((i % size) + size) % size;
    case ZS_PORT_WRAP_MIRROR:
        period = ((i % (2 * size)) + 2 * size) % (2 * size);
        return period < size ? period : 2 * size - 1 - period;
    case ZS_PORT_WRAP_MIRROR_ONCE:
        i = i < 0 ? -1 - i : i;
        return i < size ? i : size - 1;
    case ZS_PORT_WRAP_BORDER:
        return i < 0 || i >= size ? TEXEL_BORDER : i;
    default:
        return i < 0 ? 0 : i >= size ? size - 1 : i;
    }
}

/* One axis of a lookup: two texels and the weight of the second. Nearest: weight 0. */
struct tap {
    int64_t texel[2];
    float weight;
};

static struct tap axis_tap(const struct zs_port_sampler *sampler, uint32_t axis, float coordinate,
                           int64_t size, bool linear)
{
    struct tap tap = {.weight = 0.0f};
    float u = sampler->normalized ? coordinate * (float)size : coordinate;
    if (!linear) {
        tap.texel[0] = tap.texel[1] = wrap_texel(floor_i64(u), size, sampler->wrap[axis]);
        return tap;
    }
    float shifted = u - 0.5f;
    int64_t low = floor_i64(shifted);
    tap.weight = shifted - floorf(shifted); /* may round to 1 */
    if (!(tap.weight >= 0.0f && tap.weight <= 1.0f))
        tap.weight = 0.0f;
    tap.texel[0] = wrap_texel(low, size, sampler->wrap[axis]);
    tap.texel[1] = wrap_texel(low + 1, size, sampler->wrap[axis]);
    return tap;
}

static void fetch(const struct zs_port_surface *s, const struct zs_port_sampler *sampler,
                  const int64_t coordinate[3], uint32_t ret_rgba[4])
{
    bool border = false;
    for (uint32_t i = 0; i < s->dimensions; i++)
        border |= coordinate[i] == TEXEL_BORDER;
    const uint8_t *texel = border ? NULL : zs_port_surface_texel(s, coordinate);
    if (texel) {
        read_texel(s, coordinate, texel, ret_rgba);
    } else {
        uint32_t channels[4];
        memcpy(channels, sampler->border, sizeof(channels));
        if (s->format->channel[3].bits == 0) /* OpenCL: opaque without alpha */
            channels[3] = is_integer(s) ? 1 : 0x3f800000u;
        swizzle(s, channels, ret_rgba);
    }
}

static void filter(const struct zs_port_surface *s, const struct zs_port_sampler *sampler,
                   const struct tap taps[3], int64_t layer, uint32_t ret_rgba[4])
{
    double sum[4] = {0};
    for (uint32_t corner = 0; corner < 1u << s->dimensions; corner++) {
        double weight = 1.0;
        int64_t coordinate[3] = {0};
        for (uint32_t i = 0; i < s->dimensions; i++) {
            uint32_t high = corner >> i & 1;
            coordinate[i] = taps[i].texel[high];
            weight *= high ? (double)taps[i].weight : 1.0 - (double)taps[i].weight;
        }
        if (s->is_array && s->dimensions < 3)
            coordinate[s->dimensions] = layer;
        if (weight == 0.0)
            continue;
        uint32_t rgba[4];
        fetch(s, sampler, coordinate, rgba);
        for (uint32_t c = 0; c < 4; c++) {
            float value;
            memcpy(&value, &rgba[c], sizeof(value));
            sum[c] += weight * (double)value;
        }
    }
    for (uint32_t c = 0; c < 4; c++) {
        float value = (float)sum[c];
        memcpy(&ret_rgba[c], &value, sizeof(value));
    }
}

static void sample_lane(const struct zs_port_surface *s, const struct zs_port_sampler *sampler,
                        const float coordinate[3], uint32_t ret_rgba[4])
{
    const int64_t size[3] = {s->width, s->height, s->depth};
    bool linear = sampler->linear && !is_integer(s);
    struct tap taps[3] = {0};
    for (uint32_t i = 0; i < s->dimensions; i++)
        taps[i] = axis_tap(sampler, i, coordinate[i], size[i], linear);
    int64_t layer = 0;
    if (s->is_array && s->dimensions < 3) /* nearest layer, clamped */
        layer =
            wrap_texel(floor_i64(rintf(coordinate[s->dimensions])), s->depth, ZS_PORT_WRAP_CLAMP);
    if (linear) {
        filter(s, sampler, taps, layer, ret_rgba);
        return;
    }
    int64_t texel[3] = {taps[0].texel[0], taps[1].texel[0], taps[2].texel[0]};
    if (s->is_array && s->dimensions < 3)
        texel[s->dimensions] = layer;
    fetch(s, sampler, texel, ret_rgba);
}

static bool run_sample(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const struct zs_port_surface *s;
    const struct zs_port_sampler *sampler =
        find_surface(port, m, &s) ? choose_sampler(port, m, src0) : NULL;
    if (!sampler)
        return false;
    uint32_t disabled = disabled_channels(m, src0);
    uint32_t rgba[SAMPLER_LANES_MAX][4];
    ZS_PORT_FOR_LANES(lane, mask)
    {
        float coordinate[3];
        for (uint32_t i = 0; i < 3; i++)
            coordinate[i] = parameter_float(m, src0, m->channels + i * (1u + m->returns), lane);
        memset(rgba[lane], 0, sizeof(rgba[lane]));
        if (s)
            sample_lane(s, sampler, coordinate, rgba[lane]);
    }
    respond(m, dst, disabled, mask, rgba, s && is_integer(s));
    return true;
}

bool zs_port_run_sample(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                        const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_with_own_floats(run_sample, port, m, dst, src0, src1, mask);
}

bool zs_port_run_resinfo(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const struct zs_port_surface *s;
    if (!find_surface(port, m, &s))
        return false;
    uint32_t disabled = disabled_channels(m, src0);
    uint32_t rgba[SAMPLER_LANES_MAX][4];
    ZS_PORT_FOR_LANES(lane, mask)
    {
        memset(rgba[lane], 0, sizeof(rgba[lane]));
        if (!s || zs_port_parameter(m, src0, 0, lane) != 0)
            continue;
        uint32_t size[4] = {s->width, s->dimensions > 1 ? s->height : 0,
                            s->dimensions > 2 ? s->depth : 0, 1};
        if (s->is_array && s->dimensions < 3)
            size[s->dimensions] = s->depth;
        memcpy(rgba[lane], size, sizeof(size));
    }
    respond(m, dst, disabled, mask, rgba, true);
    return true;
}
