/* SPDX-License-Identifier: MIT */
/*
 * Block messages: one contiguous piece of memory to or from consecutive registers, once per
 * message whatever the lanes do. OWord blocks by binding table, scratch blocks, blocks by 64-bit
 * address, and two-dimensional media blocks.
 */
#include "dataport/dataport_priv.h"

/* ---- by binding table -------------------------------------------------------------------------
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

static bool check_block(struct zs_port *port, const struct zs_port_message *m,
                        const struct zs_port_area *area, uint64_t offset, bool is_write,
                        uint32_t *ret_inside_B)
{
    uint64_t inside = offset < area->size_B ? area->size_B - offset : 0;
    *ret_inside_B = ZS_PORT_CHECKED ? (uint32_t)ZS_MIN(inside, m->block_B) : m->block_B;
    /* dwords of a surface that stand in one cache line are read at once, wanted or not */
    bool widened =
        inside && !is_write && m->block_B <= zs_align_up(area->size_B, ZS_PORT_LINE_B) - offset;
    bool surface = m->bti < BTI_BINDLESS;
    if (ZS_UNLIKELY(*ret_inside_B < m->block_B && !area->drops && !(widened && surface)))
        return zs_port_fail(port, m, area->fault, -1, offset + area->bias, m->block_B, is_write);
    if (ZS_UNLIKELY(is_write && area->read_only && inside))
        return zs_port_fail(port, m, ZS_PORT_FAULT_READ_ONLY, -1, offset, m->block_B, true);
    if (zs_port_tracks(port) && m->space == ZS_PORT_SPACE_GLOBAL && *ret_inside_B)
        return zs_port_track(port, m, area->base + offset, *ret_inside_B, -1, is_write);
    return true;
}

ZS_PORT_KERNEL_ACCESS static bool block_in(struct zs_port *port, const struct zs_port_message *m,
                                           const struct zs_port_area *area, uint64_t offset,
                                           uint8_t *dst)
{
    uint32_t inside_B;
    if (!check_block(port, m, area, offset, false, &inside_B))
        return false;
    dst += m->block_upper ? 16 : 0;
    if (inside_B)
        memcpy(dst, area->base + offset, inside_B);
    memset(dst + inside_B, 0, m->block_B - inside_B);
    return true;
}

ZS_PORT_KERNEL_ACCESS static bool block_out(struct zs_port *port, const struct zs_port_message *m,
                                            const struct zs_port_area *area, uint64_t offset,
                                            const uint8_t *data)
{
    uint32_t inside_B;
    if (!check_block(port, m, area, offset, true, &inside_B))
        return false;
    if (inside_B)
        memcpy(area->base + offset, data + (m->block_upper ? 16 : 0), inside_B);
    return true;
}

bool zs_port_run_block_read(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_area area;
    return zs_port_area(port, m, false, &area) &&
           block_in(port, m, &area, zs_port_block_offset(m, &area, src0), dst);
}

bool zs_port_run_block_write(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_area area;
    return zs_port_area(port, m, true, &area) &&
           block_out(port, m, &area, zs_port_block_offset(m, &area, src0),
                     zs_port_data(m, src0, src1, 0));
}

/* Even registers have the dwords of lanes 0 to 7, odd ones those of 8 to 15. */
ZS_PORT_KERNEL_ACCESS static bool block_out_masked(struct zs_port *port,
                                                   const struct zs_port_message *m,
                                                   const struct zs_port_area *area, uint64_t offset,
                                                   const uint8_t *data, uint32_t mask)
{
    uint32_t inside_B;
    if (!check_block(port, m, area, offset, true, &inside_B))
        return false;
    for (uint32_t at_B = 0; at_B + 4 <= inside_B; at_B += 4) {
        if (mask >> (at_B / 4 & 15) & 1)
            memcpy(area->base + offset + at_B, data + at_B, 4);
    }
    return true;
}

bool zs_port_run_scratch(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_area area;
    if (!zs_port_area(port, m, m->op, &area))
        return false;
    uint64_t offset = zs_port_block_offset(m, &area, src0);
    const uint8_t *data = m->op ? zs_port_data(m, src0, src1, 0) : NULL;
    if (m->masked && mask != 0xffff && !(mask == 0xff && m->block_B == GRF_B))
        return block_out_masked(port, m, &area, offset, data, mask);
    if (m->op)
        return block_out(port, m, &area, offset, data);
    return block_in(port, m, &area, offset, dst);
}

/* ---- by 64-bit address
 * -------------------------------------------------------------------------*/

static uint8_t *a64_block(struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *header, bool is_write)
{
    uint64_t gpu_va = zs_port_load64(header);
    const struct zs_port_range *range = zs_port_range(port, m, gpu_va, m->block_B, -1, is_write);
    if (!range)
        return NULL;
    uint8_t *pointer = zs_port_host(range, gpu_va);
    if (zs_port_tracks(port) && !zs_port_track(port, m, pointer, m->block_B, -1, is_write))
        return NULL;
    return pointer;
}

ZS_PORT_KERNEL_ACCESS bool zs_port_run_a64_block_read(struct zs_port *port,
                                                      const struct zs_port_message *m, uint8_t *dst,
                                                      const uint8_t *src0, const uint8_t *src1,
                                                      uint32_t mask)
{
    const uint8_t *from = a64_block(port, m, src0, false);
    if (!from)
        return false;
    memcpy(dst + (m->block_upper ? 16 : 0), from, m->block_B);
    return true;
}

ZS_PORT_KERNEL_ACCESS bool zs_port_run_a64_block_write(struct zs_port *port,
                                                       const struct zs_port_message *m,
                                                       uint8_t *dst, const uint8_t *src0,
                                                       const uint8_t *src1, uint32_t mask)
{
    uint8_t *to = a64_block(port, m, src0, true);
    if (!to)
        return false;
    memcpy(to, zs_port_data(m, src0, src1, 0) + (m->block_upper ? 16 : 0), m->block_B);
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
