/* SPDX-License-Identifier: MIT */
/*
 * Typed surface reads and writes: texels at integer coordinates, converted to and from 32-bit
 * channels. Eight lanes a message, from Xe2 on up to 32; u, v, r take a dword of each.
 */
#include "dataport/dataport_priv.h"

/* ---- where texels are --------------------------------------------------------------------------
 */

/* How zs_tile_spread() goes about it: runs of bits, and how far each goes up. */
struct spread {
    struct {
        uint32_t bits, up;
    } run[4];
};

static struct spread spread_of(uint32_t mask)
{
    struct spread s = {0};
    for (uint32_t i = 0, from = 0; mask; i++) {
        uint32_t at = (uint32_t)__builtin_ctz(mask), count = (uint32_t)__builtin_ctz(~(mask >> at));
        zs_assert(i < ZS_ARRAY_LEN(s.run));
        s.run[i].bits = ((1u << count) - 1) << from;
        s.run[i].up = at - from;
        from += count;
        mask &= ~(((1u << count) - 1) << at);
    }
    return s;
}

static inline uint32_t spread(const struct spread *s, uint32_t value)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(s->run); i++)
        all |= (value & s->run[i].bits) << s->run[i].up;
    return all;
}

/* Slices of a volume may share tiles; other slices begin some whole rows behind each other. */
static void tiled_texels(const struct zs_port_surface *s, const int32_t at[3][ZS_PORT_TEXELS],
                         uint32_t mask, uint8_t **ret)
{
    const struct zs_tile *tile = &zs_tiles[s->tiling];
    struct spread x = spread_of(tile->x), y = spread_of(tile->y), z = spread_of(tile->z);
    uint32_t slices = zs_tile_slices(s->tiling), size_B = zs_tile_size_B(s->tiling);
    uint32_t width_bits = (uint32_t)__builtin_popcount(tile->x);
    uint32_t rows_bits = (uint32_t)__builtin_popcount(tile->y);
    uint64_t in_row = s->row_pitch_B >> width_bits, slice_rows = s->slice_pitch_B / s->row_pitch_B;
    bool is_high = s->dimensions > 1, is_deep = s->dimensions > 2 || s->is_array;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t x_B = (uint64_t)at[0][lane] * s->format->texel_B, row = 0, plane_B = 0;
        uint32_t slice = is_deep ? (uint32_t)at[s->dimensions > 2 ? 2 : s->dimensions][lane] : 0;
        row = is_high ? (uint64_t)at[1][lane] : 0;
        if (slices > 1)
            plane_B = (slice - slice % slices) * s->slice_pitch_B;
        else
            row += slice * slice_rows;
        uint64_t index = (row >> rows_bits) * in_row + (x_B >> width_bits);
        ret[lane] = s->base + plane_B + index * size_B +
                    (spread(&x, (uint32_t)x_B) | spread(&y, (uint32_t)row) |
                     (slices > 1 ? spread(&z, slice % slices) : 0));
    }
}

static void linear_texels(const struct zs_port_surface *s, const int32_t at[3][ZS_PORT_TEXELS],
                          uint32_t count, uint8_t **ret)
{
    uint32_t texel_B = s->format->texel_B, row_B = s->dimensions > 1 ? s->row_pitch_B : 0;
    const int32_t *row = at[row_B ? 1 : 0], *slice = at[s->dimensions > 1 ? 2 : 1];
    uint8_t *base = s->base;
    for (uint32_t lane = 0; lane < count; lane++)
        ret[lane] = base + (uint64_t)(uint32_t)at[0][lane] * texel_B +
                    (uint64_t)(uint32_t)row[lane] * row_B;
    for (uint32_t lane = 0; lane < count && (s->dimensions > 2 || s->is_array); lane++)
        ret[lane] += (uint32_t)slice[lane] * s->slice_pitch_B;
}

uint32_t zs_port_surface_texels(const struct zs_port_surface *surface,
                                const int32_t at[3][ZS_PORT_TEXELS], uint32_t mask, uint8_t **ret)
{
#define BITS(n) 1u << (n), 2u << (n), 4u << (n), 8u << (n)
    static const uint32_t bit[ZS_PORT_TEXELS] = {BITS(0),  BITS(4),  BITS(8),  BITS(12),
                                                 BITS(16), BITS(20), BITS(24), BITS(28)};
    const uint32_t size[3] = {surface->width, surface->height, surface->depth};
    uint32_t outside = 0, count = 32 - (uint32_t)__builtin_clz(mask | 1);
    for (uint32_t i = 0; i < ZS_MIN(surface->dimensions + (uint32_t)surface->is_array, 3u); i++) {
        uint32_t limit = i < surface->dimensions ? size[i] : surface->depth;
        for (uint32_t lane = 0; lane < count; lane++)
            outside |= (uint32_t)at[i][lane] >= limit ? bit[lane] : 0;
    }
    uint32_t inside = mask & ~outside;
    if (surface->tiling == ZS_LINEAR)
        linear_texels(surface, at, count, ret);
    else
        tiled_texels(surface, at, inside, ret);
    return inside;
}

uint8_t *zs_port_surface_texel(const struct zs_port_surface *surface, const int64_t coordinate[3])
{
    int32_t at[3][ZS_PORT_TEXELS];
    uint8_t *texel;
    for (uint32_t i = 0; i < 3; i++)
        at[i][0] = coordinate[i] < 0 || coordinate[i] > INT32_MAX ? -1 : (int32_t)coordinate[i];
    return zs_port_surface_texels(surface, at, 1, &texel) ? texel : NULL;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

bool zs_port_lanes_typed(struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
                         uint32_t mask, bool is_write, struct zs_port_lanes *ret)
{
    struct zs_port_area area; /* for its checks */
    if (!zs_port_area(port, m, is_write, &area))
        return false;
    const struct zs_port_surface *surface = zs_port_image(port, m);
    bool is_buffer = m->bti < port->surface_count &&
                     port->surfaces[m->bti].kind == ZS_PORT_SURFACE_BUFFER; /* it has no texels */
    int32_t at[3][ZS_PORT_TEXELS];
    zs_port_coordinates(m, src0, at);
    ret->valid = surface ? zs_port_surface_texels(surface, at, mask, ret->pointer) : 0;
    ret->outside = mask & ~ret->valid;
    if (ret->outside && (surface || is_buffer) && !area.drops) {
        uint32_t lane = (uint32_t)__builtin_ctz(ret->outside);
        return zs_port_fail(port, m, ZS_PORT_FAULT_SURFACE, (int)lane,
                            (uint64_t)(int64_t)at[0][lane], surface ? surface->format->texel_B : 4u,
                            is_write);
    }
    if (is_write && area.read_only && ret->valid)
        return zs_port_fail(port, m, ZS_PORT_FAULT_READ_ONLY, __builtin_ctz(ret->valid), 0, 0,
                            true);
    return true;
}

/* Where a channel of the kernel stands in the texel. Constants are for samplers. */
static uint32_t texel_channel(const struct zs_port_surface *surface, uint32_t channel)
{
    return surface->swizzle[channel] >= 4 ? surface->swizzle[channel] & 3u : channel;
}

static bool typed_read(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const struct zs_port_surface *surface = zs_port_image(port, m);
    struct zs_port_lanes lanes;
    struct zs_port_texels texels;
    if (!zs_port_lanes_typed(port, m, src0, mask, false, &lanes))
        return false;
    if (surface)
        zs_port_texels_unpack(surface->format, lanes.pointer, lanes.valid, m->lanes, &texels);
    for (uint32_t channel = 0; channel < 4; channel++) {
        if (!(m->channels >> channel & 1))
            continue;
        const uint32_t *from = surface ? texels.channel[texel_channel(surface, channel)] : NULL;
        zs_port_store_lanes(dst, from, lanes.valid);
        zs_port_store_lanes(dst, NULL, lanes.outside);
        dst += zs_port_typed_B(m);
    }
    return true;
}

bool zs_port_run_typed_read(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_is_prefetch(m) ||
           zs_port_with_own_floats(typed_read, port, m, dst, src0, src1, mask);
}

static bool typed_write(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                        const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    struct zs_port_texels texels;
    if (!zs_port_lanes_typed(port, m, src0, mask, true, &lanes))
        return false;
    if (!lanes.valid)
        return true;
    const uint8_t *data = zs_port_data(m, src0, src1, m->coordinates);
    const struct zs_port_surface *surface = &port->surfaces[m->bti];
    if (m->channels != 15) /* the others stay */
        zs_port_texels_unpack(surface->format, lanes.pointer, lanes.valid, m->lanes, &texels);
    for (uint32_t channel = 0; channel < 4; channel++) {
        if (m->channels >> channel & 1) {
            zs_port_copy_lanes(texels.channel[texel_channel(surface, channel)], data, m->lanes);
            data += zs_port_typed_B(m);
        }
    }
    zs_port_texels_pack(surface->format, &texels, lanes.valid, m->lanes, lanes.pointer);
    return true;
}

bool zs_port_run_typed_write(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_with_own_floats(typed_write, port, m, dst, src0, src1, mask);
}
