/* SPDX-License-Identifier: MIT */
/*
 * Untyped and scattered reads and writes, by binding table and by 64-bit address.
 *
 * Payload layout: addresses (4 or 8 bytes a lane), then data, element-major: element 0 of all
 * lanes, element 1 of all lanes ... An element takes a dword slot (a byte or word in its low bits)
 * or a qword slot. Untyped messages move dwords, of which `channels` says which are present.
 *
 * Fast paths first: all lanes enabled and their dwords consecutive (one copy), or all at one
 * address (one load). Everything else goes lane by lane through pointers that area.c checked.
 */
#include "dataport/dataport_priv.h"
#include "dataport/host_vector.h"

static uint32_t dword_grf(uint32_t lanes)
{
    return lanes / 8;
}

/* ---- moving lanes ------------------------------------------------------------------------------
 */

/* Byte offset in memory of element e from a lane's pointer. */
struct steps {
    uint16_t byte[8];
    uint32_t span_B; /* from the pointer to the end of the last element */
};

static struct steps untyped_steps(const struct zs_port_message *m)
{
    struct steps s = {0};
    uint32_t e = 0;
    for (uint32_t channel = 0; channel < 4; channel++) {
        if (m->channels >> channel & 1)
            s.byte[e++] = (uint16_t)(channel * 4);
    }
    s.span_B = s.byte[e - 1] + 4u;
    return s;
}

static struct steps scattered_steps(const struct zs_port_message *m)
{
    struct steps s = {0};
    for (uint32_t e = 0; e < m->elements; e++)
        s.byte[e] = (uint16_t)(e * m->element_B);
    s.span_B = (uint32_t)m->elements * m->element_B;
    return s;
}

/* Load an element into its slot, zero-extended. */
ZS_PORT_KERNEL_ACCESS static inline void load_element(uint8_t *slot, const uint8_t *from,
                                                      uint32_t element_B)
{
    if (element_B == 4) {
        memcpy(slot, from, 4);
    } else if (element_B == 8) {
        memcpy(slot, from, 8);
    } else {
        uint16_t v = from[0];
        if (element_B == 2)
            memcpy(&v, from, 2);
        zs_port_store32(slot, v);
    }
}

ZS_PORT_KERNEL_ACCESS static inline void store_element(uint8_t *to, const uint8_t *slot,
                                                       uint32_t element_B)
{
    if (element_B == 4)
        memcpy(to, slot, 4);
    else if (element_B == 8)
        memcpy(to, slot, 8);
    else if (element_B == 2)
        memcpy(to, slot, 2);
    else
        *to = *slot;
}

static bool track_lanes(struct zs_port *port, const struct zs_port_message *m,
                        const struct zs_port_lanes *lanes, const struct steps *steps, bool is_write)
{
    if (m->space != ZS_PORT_SPACE_GLOBAL)
        return true;
    ZS_PORT_FOR_LANES(lane, lanes->valid)
    {
        for (uint32_t e = 0; e < m->elements; e++) {
            if (!zs_port_track(port, m, lanes->pointer[lane] + steps->byte[e], m->element_B,
                               (int)lane, is_write))
                return false;
        }
    }
    return true;
}

/* Lanes that reach outside a surface: each element on its own, reads of those outside give 0. */
ZS_PORT_KERNEL_ACCESS static void outside_lanes(struct zs_port *port,
                                                const struct zs_port_message *m,
                                                const struct zs_port_lanes *lanes,
                                                const struct steps *steps, uint8_t *read_slots,
                                                const uint8_t *write_slots)
{
    struct zs_port_area area;
    if (!zs_port_area(port, m, write_slots != NULL, &area))
        return;
    uint32_t slot = m->slot_B;
    ZS_PORT_FOR_LANES(lane, lanes->outside)
    {
        for (uint32_t e = 0; e < m->elements; e++) {
            uint64_t offset = lanes->offset[lane] + steps->byte[e];
            size_t at = ((size_t)e * m->lanes + lane) * slot;
            bool inside = offset <= area.size_B && m->element_B <= area.size_B - offset;
            if (read_slots && inside)
                load_element(read_slots + at, area.base + offset, m->element_B);
            else if (read_slots)
                memset(read_slots + at, 0, slot);
            else if (inside && !area.read_only)
                store_element(area.base + offset, write_slots + at, m->element_B);
        }
    }
}

ZS_PORT_KERNEL_ACCESS static bool gather(struct zs_port *port, const struct zs_port_message *m,
                                         const struct zs_port_lanes *lanes,
                                         const struct steps *steps, uint8_t *dst)
{
    if (zs_port_tracks(port) && !track_lanes(port, m, lanes, steps, false))
        return false;
    uint32_t slot = m->slot_B, element_B = m->element_B;
    for (uint32_t e = 0; e < m->elements; e++) {
        uint8_t *slots = dst + (size_t)e * m->lanes * slot;
        uint32_t step = steps->byte[e];
        if (element_B == 4 && lanes->valid == 0xffff) {
            for (uint32_t lane = 0; lane < 16; lane++)
                memcpy(slots + lane * 4, lanes->pointer[lane] + step, 4);
            continue;
        }
        ZS_PORT_FOR_LANES(lane, lanes->valid)
        load_element(slots + lane * slot, lanes->pointer[lane] + step, element_B);
    }
    if (ZS_UNLIKELY(lanes->outside))
        outside_lanes(port, m, lanes, steps, dst, NULL);
    return true;
}

ZS_PORT_KERNEL_ACCESS static bool scatter(struct zs_port *port, const struct zs_port_message *m,
                                          const struct zs_port_lanes *lanes,
                                          const struct steps *steps, const uint8_t *data)
{
    if (zs_port_tracks(port) && !track_lanes(port, m, lanes, steps, true))
        return false;
    uint32_t slot = m->slot_B, element_B = m->element_B;
    for (uint32_t e = 0; e < m->elements; e++) {
        const uint8_t *slots = data + (size_t)e * m->lanes * slot;
        uint32_t step = steps->byte[e];
        ZS_PORT_FOR_LANES(lane, lanes->valid)
        store_element(lanes->pointer[lane] + step, slots + lane * slot, element_B);
    }
    if (ZS_UNLIKELY(lanes->outside))
        outside_lanes(port, m, lanes, steps, NULL, data);
    return true;
}

/* ---- shapes of address vectors -----------------------------------------------------------------
 */

/* offset[i] == offset[0] + 4 * i */
static inline bool consecutive32(const uint8_t *offsets, uint32_t lanes)
{
    return lanes == 16 ? shaped(offsets, steps_of_4, 16) : shaped(offsets, steps_of_4, 8);
}

static inline bool uniform32(const uint8_t *offsets, uint32_t lanes)
{
    return lanes == 16 ? shaped(offsets, NULL, 16) : shaped(offsets, NULL, 8);
}

/* Stride between lanes of 64-bit addresses: 0, element_B, or -1 for anything else. */
static inline int stride64(const uint8_t *addresses, uint32_t lanes, uint32_t element_B)
{
    uint64_t step = zs_port_load64(addresses + 8) - zs_port_load64(addresses);
    if ((step != 0 && step != element_B) || !rises64(addresses, step, lanes))
        return -1;
    return (int)step;
}

/* 32, 64 or 128 bytes. */
static inline void copy_row(uint8_t *to, const uint8_t *from, uint32_t size_B)
{
    if (size_B == 64)
        copy_vectors(to, from, 64 / sizeof(vector));
    else if (size_B == 32)
        copy_vectors(to, from, 32 / sizeof(vector));
    else
        copy_vectors(to, from, 128 / sizeof(vector));
}

/* ---- by binding table
 * --------------------------------------------------------------------------*/

static inline bool is_full(const struct zs_port *port, const struct zs_port_message *m,
                           uint32_t mask)
{
    return mask == zs_port_lane_mask(m->lanes) && !zs_port_tracks(port);
}

/* Bytes at an offset, when [offset, offset + size) is inside; else NULL. */
static inline uint8_t *inside_area(const struct zs_port_quick *area, uint32_t offset,
                                   uint64_t size_B)
{
    offset &= area->mask;
    if (ZS_PORT_CHECKED && (offset > area->size_B || size_B > area->size_B - offset))
        return NULL;
    return area->base + offset;
}

/* Dwords that `channels` names, at one place, to all lanes. */
static inline void splat_channels(const struct zs_port_message *m, uint8_t *dst,
                                  const uint8_t *from)
{
    for (uint32_t left = m->channels; left; left &= left - 1) {
        size_t channel = (size_t)__builtin_ctz(left);
        splat32(dst, zs_port_load32_shared(from + channel * 4), m->lanes);
        dst += m->lanes * 4;
    }
}

/* Lanes anywhere inside the area. Offsets are a copy: dst may be the registers that they were in.
 */
ZS_PORT_KERNEL_ACCESS static inline void read_channels(const struct zs_port_message *m,
                                                       uint8_t *dst, const uint8_t *base,
                                                       const uint32_t *offsets, uint32_t mask)
{
    for (uint32_t left = m->channels; left; left &= left - 1) {
        const uint8_t *from = base + (size_t)__builtin_ctz(left) * 4;
        if (mask == 0xffff) {
            for (uint32_t lane = 0; lane < 16; lane++)
                memcpy(dst + lane * 4, from + offsets[lane], 4);
        } else {
            ZS_PORT_FOR_LANES(lane, mask)
            memcpy(dst + lane * 4, from + offsets[lane], 4);
        }
        dst += m->lanes * 4;
    }
}

ZS_PORT_KERNEL_ACCESS static inline void write_channels(const struct zs_port_message *m,
                                                        uint8_t *base, const uint32_t *offsets,
                                                        const uint8_t *data, uint32_t mask)
{
    for (uint32_t left = m->channels; left; left &= left - 1) {
        uint8_t *to = base + (size_t)__builtin_ctz(left) * 4;
        if (mask == 0xffff) {
            for (uint32_t lane = 0; lane < 16; lane++)
                memcpy(to + offsets[lane], data + lane * 4, 4);
        } else {
            ZS_PORT_FOR_LANES(lane, mask)
            memcpy(to + offsets[lane], data + lane * 4, 4);
        }
        data += m->lanes * 4;
    }
}

static inline uint32_t channels_span_B(const struct zs_port_message *m)
{
    return (32u - (uint32_t)__builtin_clz(m->channels)) * 4;
}

/* All lanes, dwords one behind the other or at one place: short, with nothing on the stack. */
static inline bool row_read(const struct zs_port *port, const struct zs_port_message *m,
                            uint8_t *dst, const uint8_t *offsets, uint32_t mask)
{
    struct zs_port_quick area;
    const uint8_t *from;
    if (mask != zs_port_lane_mask(m->lanes) || !zs_port_quick(port, m, false, &area))
        return false;
    uint32_t first = zs_port_load32(offsets), second = zs_port_load32(offsets + 4);
    if (second - first == 4 && m->channels == 1 && consecutive32(offsets, m->lanes) &&
        (from = inside_area(&area, first, m->lanes * 4u))) {
        copy_row(dst, from, m->lanes * 4u);
        return true;
    }
    if (second == first && uniform32(offsets, m->lanes) &&
        (from = inside_area(&area, first, channels_span_B(m)))) {
        splat_channels(m, dst, from);
        return true;
    }
    return false;
}

static __attribute__((noinline)) bool lanes_read(struct zs_port *port,
                                                 const struct zs_port_message *m, uint8_t *dst,
                                                 const uint8_t *offsets, uint32_t mask)
{
    struct zs_port_quick area;
    uint32_t inside[LANES_MAX];
    if (zs_port_quick(port, m, false, &area) &&
        zs_port_inside(&area, offsets, m->lanes, mask, channels_span_B(m), inside)) {
        read_channels(m, dst, area.base, inside, mask);
        return true;
    }
    struct zs_port_lanes lanes;
    struct steps steps = untyped_steps(m);
    return zs_port_lanes_bti(port, m, offsets, mask, steps.span_B, false, &lanes) &&
           gather(port, m, &lanes, &steps, dst);
}

bool RUN(untyped_read)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const uint8_t *offsets = src0 + m->header_grf * GRF_B;
    return ZS_LIKELY(row_read(port, m, dst, offsets, mask)) ||
           lanes_read(port, m, dst, offsets, mask);
}

static inline bool row_write(const struct zs_port *port, const struct zs_port_message *m,
                             const uint8_t *offsets, const uint8_t *data, uint32_t mask)
{
    struct zs_port_quick area;
    uint8_t *to;
    if (m->channels != 1 || mask != zs_port_lane_mask(m->lanes) ||
        !zs_port_quick(port, m, true, &area) || !consecutive32(offsets, m->lanes) ||
        !(to = inside_area(&area, zs_port_load32(offsets), m->lanes * 4u)))
        return false;
    copy_row(to, data, m->lanes * 4u);
    return true;
}

static __attribute__((noinline)) bool lanes_write(struct zs_port *port,
                                                  const struct zs_port_message *m,
                                                  const uint8_t *offsets, const uint8_t *data,
                                                  uint32_t mask)
{
    struct zs_port_quick area;
    uint32_t inside[LANES_MAX];
    if (zs_port_quick(port, m, true, &area) &&
        zs_port_inside(&area, offsets, m->lanes, mask, channels_span_B(m), inside)) {
        write_channels(m, area.base, inside, data, mask);
        return true;
    }
    struct zs_port_lanes lanes;
    struct steps steps = untyped_steps(m);
    return zs_port_lanes_bti(port, m, offsets, mask, steps.span_B, true, &lanes) &&
           scatter(port, m, &lanes, &steps, data);
}

bool RUN(untyped_write)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                        const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const uint8_t *offsets = src0 + m->header_grf * GRF_B;
    const uint8_t *data = zs_port_data(m, src0, src1, dword_grf(m->lanes));
    return ZS_LIKELY(row_write(port, m, offsets, data, mask)) ||
           lanes_write(port, m, offsets, data, mask);
}

bool RUN(scattered_read)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    struct steps steps = scattered_steps(m);
    return zs_port_lanes_bti(port, m, src0 + m->header_grf * GRF_B, mask, steps.span_B, false,
                             &lanes) &&
           gather(port, m, &lanes, &steps, dst);
}

bool RUN(scattered_write)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                          const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    struct steps steps = scattered_steps(m);
    return zs_port_lanes_bti(port, m, src0 + m->header_grf * GRF_B, mask, steps.span_B, true,
                             &lanes) &&
           scatter(port, m, &lanes, &steps, zs_port_data(m, src0, src1, dword_grf(m->lanes)));
}

/* The dword forms count offsets in dwords. */
static void dword_offsets(const struct zs_port_message *m, const uint8_t *src0, uint8_t *ret)
{
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        zs_port_store32(ret + lane * 4,
                        zs_port_load32(src0 + m->header_grf * GRF_B + lane * 4) * 4);
}

bool RUN(dword_scattered_read)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                               const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint8_t offsets[LANES_MAX * 4];
    struct zs_port_lanes lanes;
    struct steps steps = scattered_steps(m);
    dword_offsets(m, src0, offsets);
    return zs_port_lanes_bti(port, m, offsets, mask, steps.span_B, false, &lanes) &&
           gather(port, m, &lanes, &steps, dst);
}

bool RUN(dword_scattered_write)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                                const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint8_t offsets[LANES_MAX * 4];
    struct zs_port_lanes lanes;
    struct steps steps = scattered_steps(m);
    dword_offsets(m, src0, offsets);
    return zs_port_lanes_bti(port, m, offsets, mask, steps.span_B, true, &lanes) &&
           scatter(port, m, &lanes, &steps, zs_port_data(m, src0, src1, dword_grf(m->lanes)));
}

/* ---- by 64-bit address
 * -------------------------------------------------------------------------*/

bool RUN(a64_scattered_read)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const uint8_t *addresses = src0 + m->header_grf * GRF_B;
    if (m->elements == 1 && m->element_B >= 4 && is_full(port, m, mask)) {
        int stride = stride64(addresses, m->lanes, m->element_B);
        uint64_t gpu_va = zs_port_load64(addresses);
        uint32_t size_B = stride == 0 ? m->element_B : (uint32_t)m->lanes * m->element_B;
        const struct zs_port_range *range = NULL;
        /* a range miss here is no fault yet: lanes may lie in several allocations */
        if (stride > 0)
            range = zs_port_range(port, m, gpu_va, m->element_B, 0, false);
        if (range && (!ZS_PORT_CHECKED || range->end - gpu_va >= size_B)) {
            copy_row(dst, zs_port_host(range, gpu_va), size_B);
            return true;
        }
        if (stride == 0 && m->element_B == 4) {
            range = zs_port_range(port, m, gpu_va, 4, 0, false);
            if (!range)
                return false;
            splat32(dst, zs_port_load32_shared(zs_port_host(range, gpu_va)), m->lanes);
            return true;
        }
        if (port->fault.kind != ZS_PORT_FAULT_NONE)
            return false;
    }
    struct zs_port_lanes lanes;
    struct steps steps = scattered_steps(m);
    return zs_port_lanes_a64(port, m, addresses, mask, steps.span_B, false, &lanes) &&
           gather(port, m, &lanes, &steps, dst);
}

bool RUN(a64_scattered_write)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                              const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const uint8_t *addresses = src0 + m->header_grf * GRF_B;
    const uint8_t *data = zs_port_data(m, src0, src1, 2 * dword_grf(m->lanes));
    if (m->elements == 1 && m->element_B >= 4 && is_full(port, m, mask) &&
        stride64(addresses, m->lanes, m->element_B) > 0) {
        uint64_t gpu_va = zs_port_load64(addresses);
        uint32_t size_B = (uint32_t)m->lanes * m->element_B;
        const struct zs_port_range *range = zs_port_range(port, m, gpu_va, m->element_B, 0, true);
        if (!range)
            return false;
        if (!ZS_PORT_CHECKED || range->end - gpu_va >= size_B) {
            copy_row(zs_port_host(range, gpu_va), data, size_B);
            return true;
        }
    }
    struct zs_port_lanes lanes;
    struct steps steps = scattered_steps(m);
    return zs_port_lanes_a64(port, m, addresses, mask, steps.span_B, true, &lanes) &&
           scatter(port, m, &lanes, &steps, data);
}

bool RUN(a64_untyped_read)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                           const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    struct steps steps = untyped_steps(m);
    return zs_port_lanes_a64(port, m, src0 + m->header_grf * GRF_B, mask, steps.span_B, false,
                             &lanes) &&
           gather(port, m, &lanes, &steps, dst);
}

bool RUN(a64_untyped_write)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    struct steps steps = untyped_steps(m);
    return zs_port_lanes_a64(port, m, src0 + m->header_grf * GRF_B, mask, steps.span_B, true,
                             &lanes) &&
           scatter(port, m, &lanes, &steps, zs_port_data(m, src0, src1, 2 * dword_grf(m->lanes)));
}
