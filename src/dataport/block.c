/* SPDX-License-Identifier: MIT */
/*
 * Block messages: one contiguous piece of memory to or from consecutive registers, once per
 * message whatever the lanes do. OWord blocks by binding table, scratch blocks, blocks by 64-bit
 * address, and two-dimensional media blocks.
 */
#include "dataport/dataport_priv.h"

/* ---- places ------------------------------------------------------------------------------------
 */

/* Of headers: stateless ones count from the thread's scratch base, which is in DW5. Of load/store
 * cache messages the payload is an offset. */
uint64_t zs_port_block_offset(const struct zs_port_message *m, const struct zs_port_area *area,
                              const uint8_t *header)
{
    if (m->shape == ZS_PORT_SHAPE_LSC)
        return (zs_port_load32(header) & area->mask) - area->bias;
    uint64_t scratch = zs_port_load32(header + 20) & ~0x3ffu;
    if (m->shape == ZS_PORT_SHAPE_SCRATCH)
        return scratch + m->block_offset_B - area->bias;
    uint64_t offset = (uint64_t)zs_port_load32(header + 8) << m->block_shift;
    if (m->bti == BTI_SLM)
        offset &= SLM_OFFSET_MASK;
    else if (m->bti >= BTI_SCRATCH)
        offset += scratch;
    return offset - area->bias;
}

/* Where a block lies, and how much of it. */
struct place {
    uint8_t *at; /* anything where nothing of it is inside */
    uint32_t inside_B;
};

/* Load/store cache messages have a lane. */
static int lane_of(const struct zs_port_message *m)
{
    return m->shape == ZS_PORT_SHAPE_LSC ? 0 : -1;
}

static bool place_in_area(struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *header, bool is_write, struct place *ret)
{
    struct zs_port_area area;
    if (!zs_port_area(port, m, is_write, &area))
        return false;
    uint64_t offset = zs_port_block_offset(m, &area, header);
    uint64_t inside_B = offset < area.size_B ? area.size_B - offset : 0;
    ret->inside_B = (uint32_t)ZS_MIN(inside_B, m->block_B);
    ret->at = ret->inside_B ? area.base + offset : area.base;
    /* the compiler reads dwords of a surface that stand in one cache line at once, wanted or not,
     * and makes blocks of the next power of two */
    bool widened = !is_write &&
                   (inside_B > m->block_B / 2 ||
                    (inside_B && m->block_B <= zs_align_up(area.size_B, ZS_PORT_LINE_B) - offset));
    bool surface = m->bti <= BTI_LAST || m->bti == BTI_SCRATCH;
    if (ZS_UNLIKELY(ret->inside_B < m->block_B && !area.drops && !(widened && surface)))
        return zs_port_fail(port, m, area.fault, lane_of(m), offset + area.bias, m->block_B,
                            is_write);
    if (ZS_UNLIKELY(is_write && area.read_only && ret->inside_B))
        return zs_port_fail(port, m, ZS_PORT_FAULT_READ_ONLY, lane_of(m), offset, m->block_B, true);
    return true;
}

static bool place_by_address(struct zs_port *port, const struct zs_port_message *m,
                             const uint8_t *header, bool is_write, struct place *ret)
{
    uint64_t gpu_va = zs_port_load64(header);
    const struct zs_port_range *range =
        zs_port_range(port, m, gpu_va, m->block_B, lane_of(m), is_write);
    if (!range)
        return false;
    *ret = (struct place){zs_port_host(range, gpu_va), m->block_B};
    return true;
}

static bool track(struct zs_port *port, const struct zs_port_message *m, const struct place *place,
                  bool is_write)
{
    uint64_t parts = zs_port_parts(m);
    uint32_t first;
    bool is_written = true;
    if (!parts)
        return zs_port_track(port, m, place->at, place->inside_B, lane_of(m), is_write);
    while (parts && is_written) {
        uint32_t size_B = 4 * zs_port_next_parts(&parts, &first);
        if (first * 4 < place->inside_B)
            is_written =
                zs_port_track(port, m, place->at + first * 4,
                              ZS_MIN(size_B, place->inside_B - first * 4), lane_of(m), is_write);
    }
    return is_written;
}

/* false: refused */
static bool place_block(struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *header, bool is_write, struct place *ret)
{
    if (!(m->address_B == 8 ? place_by_address : place_in_area)(port, m, header, is_write, ret))
        return false;
    return !zs_port_tracks(port) || m->space != ZS_PORT_SPACE_GLOBAL || !ret->inside_B ||
           track(port, m, ret, is_write);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

ZS_PORT_KERNEL_ACCESS bool zs_port_run_block_read(struct zs_port *port,
                                                  const struct zs_port_message *m, uint8_t *dst,
                                                  const uint8_t *src0, const uint8_t *src1,
                                                  uint32_t mask)
{
    struct place from;
    if (zs_port_is_prefetch(m))
        return true;
    if (!place_block(port, m, src0, false, &from))
        return false;
    dst += m->block_upper ? 16 : 0;
    if (from.inside_B)
        memcpy(dst, from.at, from.inside_B);
    memset(dst + from.inside_B, 0, m->block_B - from.inside_B);
    return true;
}

/* Even registers have the dwords of lanes 0 to 7, odd ones those of 8 to 15. */
ZS_PORT_KERNEL_ACCESS static void write_masked(const struct place *to, const uint8_t *data,
                                               uint32_t mask)
{
    for (uint32_t at_B = 0; at_B + 4 <= to->inside_B; at_B += 4) {
        if (mask >> (at_B / 4 & 15) & 1)
            memcpy(to->at + at_B, data + at_B, 4);
    }
}

ZS_PORT_KERNEL_ACCESS bool zs_port_run_block_write(struct zs_port *port,
                                                   const struct zs_port_message *m, uint8_t *dst,
                                                   const uint8_t *src0, const uint8_t *src1,
                                                   uint32_t mask)
{
    struct place to;
    const uint8_t *data = zs_port_data(m, src0, src1, 0);
    bool whole = !m->masked || mask == 0xffff || (mask == 0xff && m->block_B == GRF_B);
    if (!place_block(port, m, src0, true, &to))
        return false;
    if (!whole)
        write_masked(&to, data, mask);
    else if (to.inside_B)
        memcpy(to.at, data + (m->block_upper ? 16 : 0), to.inside_B);
    return true;
}

/* ---- media blocks ------------------------------------------------------------------------------
 * Header: DW0 x in bytes, DW1 y, DW2 (height - 1) << 16 | (width - 1), width in bytes. In registers
 * rows stand one after the other, each padded to a power of two of 4 to 32 (64) bytes.
 */

struct media {
    const struct zs_port_surface *surface; /* NULL: null surface */
    int64_t x_B, y;
    uint32_t width_B, height, pitch_B; /* pitch of rows in the payload */
    uint32_t texel_B;
};

static bool media_setup(struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *header, bool is_write, struct media *ret)
{
    struct zs_port_media block = zs_port_media(m, header);
    *ret = (struct media){.x_B = block.x_B,
                          .y = block.y,
                          .width_B = block.width_B,
                          .height = block.height,
                          .pitch_B = 4,
                          .texel_B = 1};
    while (ret->pitch_B < ret->width_B)
        ret->pitch_B *= 2;
    if (ret->pitch_B * ret->height > m->block_B)
        return zs_port_fail(port, m, ZS_PORT_FAULT_SURFACE, -1, 0, ret->pitch_B * ret->height,
                            is_write);
    struct zs_port_area area; /* for its checks */
    if (!zs_port_area(port, m, is_write, &area))
        return false;
    ret->surface = zs_port_image(port, m);
    if (ret->surface)
        ret->texel_B = ret->surface->format->texel_B;
    return true;
}

bool zs_port_run_media_read(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct media b;
    if (zs_port_is_prefetch(m))
        return true;
    if (!media_setup(port, m, src0, false, &b))
        return false;
    memset(dst, 0, ZS_MIN((size_t)zs_align_up(b.pitch_B * b.height, m->component_B), m->block_B));
    if (!b.surface)
        return true;
    for (uint32_t row = 0; row < b.height; row++) {
        uint64_t y = (uint64_t)zs_port_media_line(b.surface, b.y + row);
        for (uint32_t i = 0; i < b.width_B; i++)
            dst[row * b.pitch_B + i] =
                *zs_port_surface_byte(b.surface, zs_port_media_byte(b.surface, b.x_B + i), y);
    }
    return true;
}

bool zs_port_run_media_write(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct media b;
    if (!media_setup(port, m, src0, true, &b))
        return false;
    if (!b.surface)
        return true;
    const uint8_t *data = zs_port_data(m, src0, src1, 0);
    int64_t line_B = (int64_t)b.surface->width * b.texel_B;
    for (uint32_t row = 0; row < b.height; row++) {
        int64_t y = b.y + row;
        if (y < 0 || y >= b.surface->height)
            continue;
        for (uint32_t i = 0; i < b.width_B; i++) {
            int64_t at = b.x_B + i;
            if (at >= 0 && at < line_B)
                *zs_port_surface_byte(b.surface, (uint64_t)at, (uint64_t)y) =
                    data[row * b.pitch_B + i];
        }
    }
    return true;
}
