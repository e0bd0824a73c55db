/* SPDX-License-Identifier: MIT */
/*
 * Typed surface reads and writes: texels at integer coordinates, converted to and from 32-bit
 * channels. Eight lanes a message, from Xe2 on up to 32; u, v, r take a dword of each.
 */
#include "dataport/dataport_priv.h"

/* Slices of a volume may share tiles; other slices begin some whole rows behind each other. */
static uint8_t *tiled_texel(const struct zs_port_surface *s, const int64_t coordinate[3],
                            uint64_t linear_B)
{
    uint64_t x_B = (uint64_t)coordinate[0] * s->format->texel_B, y, plane_B = 0;
    uint32_t slices = zs_tile_slices(s->tiling), z = 0;
    if (slices > 1) {
        z = (uint32_t)coordinate[2] % slices;
        y = (uint64_t)coordinate[1];
        plane_B = ((uint64_t)coordinate[2] - z) * s->slice_pitch_B;
    } else {
        y = (linear_B - x_B) / s->row_pitch_B;
    }
    return s->base + plane_B + zs_tiled(s->tiling, s->row_pitch_B, x_B, y, z);
}

uint8_t *zs_port_surface_texel(const struct zs_port_surface *surface, const int64_t coordinate[3])
{
    int64_t limit[3] = {surface->width, surface->dimensions > 1 ? surface->height : 1,
                        surface->dimensions > 2 ? surface->depth : 1};
    uint64_t offset = 0;
    const uint64_t pitch[3] = {surface->format->texel_B, surface->row_pitch_B,
                               surface->slice_pitch_B};
    for (uint32_t i = 0; i < surface->dimensions; i++) {
        if (coordinate[i] < 0 || coordinate[i] >= limit[i])
            return NULL;
        offset += (uint64_t)coordinate[i] * pitch[i];
    }
    if (surface->is_array && surface->dimensions < 3) {
        int64_t layer = coordinate[surface->dimensions];
        if (layer < 0 || layer >= surface->depth)
            return NULL;
        offset += (uint64_t)layer * surface->slice_pitch_B;
    }
    if (surface->tiling == ZS_LINEAR)
        return surface->base + offset;
    return tiled_texel(surface, coordinate, offset);
}

bool zs_port_lanes_typed(struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
                         uint32_t mask, bool is_write, struct zs_port_lanes *ret)
{
    struct zs_port_area area; /* for its checks */
    if (!zs_port_area(port, m, is_write, &area))
        return false;
    const struct zs_port_surface *surface = zs_port_image(port, m);
    bool is_buffer = m->bti < port->surface_count &&
                     port->surfaces[m->bti].kind == ZS_PORT_SURFACE_BUFFER; /* it has no texels */
    ret->valid = ret->outside = 0;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t coordinate[3];
        zs_port_coordinates(m, src0, lane, coordinate);
        ret->pointer[lane] = surface ? zs_port_surface_texel(surface, coordinate) : NULL;
        if (ret->pointer[lane])
            ret->valid |= 1u << lane;
        else
            ret->outside |= 1u << lane;
        if (!ret->pointer[lane] && (surface || is_buffer) && !area.drops)
            return zs_port_fail(port, m, ZS_PORT_FAULT_SURFACE, (int)lane, (uint64_t)coordinate[0],
                                surface ? surface->format->texel_B : 4u, is_write);
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

ZS_PORT_KERNEL_ACCESS static bool typed_read(struct zs_port *port, const struct zs_port_message *m,
                                             uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                             uint32_t mask)
{
    struct zs_port_lanes lanes;
    if (!zs_port_lanes_typed(port, m, src0, mask, false, &lanes))
        return false;
    ZS_PORT_FOR_LANES(lane, lanes.valid | lanes.outside)
    {
        uint32_t texel[4] = {0}, rgba[4] = {0};
        if (lanes.valid >> lane & 1) {
            const struct zs_port_surface *surface = &port->surfaces[m->bti];
            zs_port_format_unpack(surface->format, lanes.pointer[lane], texel);
            for (uint32_t channel = 0; channel < 4; channel++)
                rgba[channel] = texel[texel_channel(surface, channel)];
        }
        uint8_t *out = dst + lane * 4;
        for (uint32_t channel = 0; channel < 4; channel++) {
            if (m->channels >> channel & 1) {
                zs_port_store32(out, rgba[channel]);
                out += zs_port_typed_B(m);
            }
        }
    }
    return true;
}

bool zs_port_run_typed_read(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_is_prefetch(m) ||
           zs_port_with_own_floats(typed_read, port, m, dst, src0, src1, mask);
}

ZS_PORT_KERNEL_ACCESS static bool typed_write(struct zs_port *port, const struct zs_port_message *m,
                                              uint8_t *dst, const uint8_t *src0,
                                              const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    if (!zs_port_lanes_typed(port, m, src0, mask, true, &lanes))
        return false;
    const uint8_t *data = zs_port_data(m, src0, src1, m->coordinates);
    ZS_PORT_FOR_LANES(lane, lanes.valid)
    {
        const struct zs_port_surface *surface = &port->surfaces[m->bti];
        const struct zs_port_format *format = surface->format;
        uint32_t rgba[4] = {0};
        if (m->channels != 15)
            zs_port_format_unpack(format, lanes.pointer[lane], rgba);
        const uint8_t *in = data + lane * 4;
        for (uint32_t channel = 0; channel < 4; channel++) {
            if (m->channels >> channel & 1) {
                rgba[texel_channel(surface, channel)] = zs_port_load32(in);
                in += zs_port_typed_B(m);
            }
        }
        zs_port_format_pack(format, rgba, lanes.pointer[lane]);
    }
    return true;
}

bool zs_port_run_typed_write(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return zs_port_with_own_floats(typed_write, port, m, dst, src0, src1, mask);
}
