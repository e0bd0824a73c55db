/* SPDX-License-Identifier: MIT */
/*
 * What load/store cache messages move (lsc.c decodes them): vectors of lanes, and blocks. Built
 * twice, for any host and for those with AVX2. Rows of registers are stored by the vectors that
 * they will be loaded by: a host forwards such stores, and cannot join narrower ones.
 */
#include "dataport/dataport_priv.h"
#include "dataport/host_vector.h"

enum { LSC_LANES_MAX = 32, ELEMENTS_MAX = 64 };

/* ---- lanes -------------------------------------------------------------------------------------
 */

static bool is_a64(const struct zs_port_message *m)
{
    return m->address_B == 8;
}

/* Byte offset in memory of each element from a lane's pointer; the end of the last one. */
static uint32_t place_elements(const struct zs_port_message *m, uint16_t ret_at_B[ELEMENTS_MAX])
{
    uint32_t channel = 0;
    for (uint32_t e = 0; e < m->elements; e++, channel++) {
        while (m->channels != 15 && !(m->channels >> channel & 1))
            channel++;
        ret_at_B[e] = (uint16_t)(channel * m->element_B);
    }
    return ret_at_B[m->elements - 1] + (uint32_t)m->element_B;
}

ZS_PORT_KERNEL_ACCESS static inline void load_slot(uint8_t *slot, const uint8_t *from,
                                                   const struct zs_port_message *m)
{
    uint32_t low = 0, element_B = m->element_B;
    if (element_B == 4)
        memcpy(slot, from, 4);
    else if (element_B == 8)
        memcpy(slot, from, 8);
    else {
        memcpy(&low, from, element_B == 1 ? 1 : 2);
        zs_port_store32(slot, low << (m->upper ? 16 : 0));
    }
}

ZS_PORT_KERNEL_ACCESS static inline void store_slot(uint8_t *to, const uint8_t *slot,
                                                    const struct zs_port_message *m)
{
    uint32_t element_B = m->element_B;
    if (element_B == 4)
        memcpy(to, slot, 4);
    else if (element_B == 8)
        memcpy(to, slot, 8);
    else
        memcpy(to, slot + (m->upper ? 2 : 0), element_B == 1 ? 1 : 2);
}

/* What sixteen lanes move. Slots of the first lane and element: `slots`, of a load or a store. */
struct part {
    const struct zs_port_message *m;
    const struct zs_port_lanes *lanes;
    const uint16_t *at_B;
    uint8_t *load_slots;
    const uint8_t *store_slots;
};

/* Lanes that reach outside a surface: each element on its own, reads of those outside give 0. */
ZS_PORT_KERNEL_ACCESS static void outside_lanes(struct zs_port *port, const struct part *p)
{
    const struct zs_port_message *m = p->m;
    struct zs_port_area area;
    if (!zs_port_area(port, m, p->store_slots != NULL, &area))
        return;
    ZS_PORT_FOR_LANES(lane, p->lanes->outside)
    {
        for (uint32_t e = 0; e < m->elements; e++) {
            uint64_t offset = p->lanes->offset[lane] + p->at_B[e];
            size_t at = (size_t)e * m->component_B + (size_t)lane * m->slot_B;
            bool inside = offset <= area.size_B && m->element_B <= area.size_B - offset;
            if (p->load_slots && inside)
                load_slot(p->load_slots + at, area.base + offset, m);
            else if (p->load_slots)
                memset(p->load_slots + at, 0, m->slot_B);
            else if (inside && !area.read_only)
                store_slot(area.base + offset, p->store_slots + at, m);
        }
    }
}

static bool track(struct zs_port *port, const struct part *p)
{
    if (p->m->space != ZS_PORT_SPACE_GLOBAL)
        return true;
    ZS_PORT_FOR_LANES(lane, p->lanes->valid)
    {
        for (uint32_t e = 0; e < p->m->elements; e++) {
            if (!zs_port_track(port, p->m, p->lanes->pointer[lane] + p->at_B[e], p->m->element_B,
                               (int)lane, p->store_slots != NULL))
                return false;
        }
    }
    return true;
}

ZS_PORT_KERNEL_ACCESS static bool move(struct zs_port *port, const struct part *p)
{
    const struct zs_port_message *m = p->m;
    if (zs_port_tracks(port) && !track(port, p))
        return false;
    for (uint32_t e = 0; e < m->elements; e++) {
        size_t row = (size_t)e * m->component_B;
        if (p->load_slots && m->element_B == 4 && p->lanes->valid == 0xffff) {
            for (uint32_t lane = 0; lane < LANES_MAX; lane++)
                memcpy(p->load_slots + row + lane * 4, p->lanes->pointer[lane] + p->at_B[e], 4);
            continue;
        }
        ZS_PORT_FOR_LANES(lane, p->lanes->valid)
        {
            uint8_t *memory = p->lanes->pointer[lane] + p->at_B[e];
            size_t at = row + (size_t)lane * m->slot_B;
            if (p->load_slots)
                load_slot(p->load_slots + at, memory, m);
            else
                store_slot(memory, p->store_slots + at, m);
        }
    }
    if (ZS_UNLIKELY(p->lanes->outside))
        outside_lanes(port, p);
    return true;
}

/* Faults count lanes of the message, of which this part starts at `first`. */
static bool in_part(struct zs_port *port, bool done, uint32_t first)
{
    if (!done && port->fault.has_lane)
        port->fault.lane += first;
    return done;
}

/* ---- lanes evenly apart ------------------------------------------------------------------------
 *
 * Mostly all lanes take part, and the addresses of sixteen rise evenly or are one. Then bounds are
 * checked once, for all bytes from the first lane's on; what does not lie in one allocation or
 * area goes the way of the others.
 */

struct even {
    uint8_t *first;
    uint32_t step_B;
};
enum { STEP_MAX_B = 1 << 12, EVEN_LANES_MIN = 8 };

/* lanes: 8, 16, 32. Rows of a group end in the middle, often: the last one is looked at first. */
static bool rise64(const uint8_t *addresses, uint32_t lanes, uint64_t *ret_first, uint32_t *ret_B)
{
    uint64_t first = zs_port_load64(addresses), step = zs_port_load64(addresses + 8) - first;
    if (step > STEP_MAX_B ||
        zs_port_load64(addresses + (lanes - 1) * 8) != first + step * (lanes - 1))
        return false;
    *ret_first = first;
    *ret_B = (uint32_t)step;
    return rises64(addresses, step, lanes);
}

static bool rise32(const uint8_t *offsets, uint32_t lanes, uint64_t *ret_first, uint32_t *ret_B)
{
    uint32_t first = zs_port_load32(offsets), step = zs_port_load32(offsets + 4) - first;
    if (step > STEP_MAX_B ||
        zs_port_load32(offsets + (lanes - 1) * 4) != first + step * (lanes - 1))
        return false;
    vector expect = {0, 1, 2, 3}, next = splat(VECTOR_LANES * step), off = {0}, some;
    for (uint32_t i = 4; i < VECTOR_LANES; i++)
        expect[i] = i;
    expect = expect * step + first;
    for (uint32_t i = 0; i < lanes; i += VECTOR_LANES, expect += next) {
        memcpy(&some, offsets + (size_t)i * 4, sizeof(some));
        off |= some ^ expect;
    }
    *ret_first = first;
    *ret_B = step;
    return all_zero(off);
}

static bool place_even(struct zs_port *port, const struct zs_port_message *m,
                       const uint8_t *addresses, uint32_t lanes, uint32_t span_B, bool is_write,
                       struct even *ret)
{
    const struct zs_port_range *range = &port->cache[m->cache_slot];
    struct zs_port_quick area;
    uint64_t first;
    if (is_a64(m)) {
        if (!rise64(addresses, lanes, &first, &ret->step_B))
            return false;
        uint64_t size_B = (uint64_t)ret->step_B * (lanes - 1) + span_B;
        ret->first = zs_port_host(range, first);
        return first >= range->start && first < range->end && size_B <= range->end - first &&
               !(is_write && range->read_only);
    }
    if (!rise32(addresses, lanes, &first, &ret->step_B) || !zs_port_quick(port, m, is_write, &area))
        return false;
    first &= area.mask;
    uint64_t size_B = (uint64_t)ret->step_B * (lanes - 1) + span_B;
    if (first > area.size_B || size_B > area.size_B - first)
        return false;
    ret->first = area.base + first;
    return true;
}

/* No call, which would be seen as a race. size_B: a multiple of 4. */
ZS_PORT_KERNEL_ACCESS static inline void copy_row(uint8_t *to, const uint8_t *from, uint32_t size_B)
{
    uint32_t i = 0;
    for (; size_B - i >= sizeof(vector); i += (uint32_t)sizeof(vector))
        memcpy(to + i, from + i, sizeof(vector));
    for (; i < size_B; i += 4)
        memcpy(to + i, from + i, 4);
}

/* The dwords of some lanes as a vector. */
ZS_PORT_KERNEL_ACCESS static inline vector gather_dwords(const uint8_t *from, uint32_t step_B)
{
    vector v = {0};
    _Pragma("GCC unroll 8") for (uint32_t i = 0; i < VECTOR_LANES; i++)
    {
        uint32_t one;
        memcpy(&one, from + (size_t)i * step_B, 4);
        v[i] = one;
    }
    return v;
}

/* One value to all lanes. */
static void splat_row(uint8_t *to, uint64_t value, uint32_t slot_B, uint32_t size_B)
{
    vector64 v = splat64(slot_B == 8 ? value : value << 32 | value);
    for (uint32_t i = 0; i < size_B; i += (uint32_t)sizeof(v))
        memcpy(to + i, &v, sizeof(v));
}

ZS_PORT_KERNEL_ACCESS static void load_even(const struct zs_port_message *m, uint32_t lanes,
                                            const uint8_t *from, uint32_t step_B, uint8_t *slots)
{
    uint64_t one = 0;
    uint32_t lane = 0;
    if (step_B == m->slot_B && m->element_B == m->slot_B) {
        copy_row(slots, from, lanes * m->slot_B);
        return;
    }
    if (step_B == 0) {
        load_slot((uint8_t *)&one, from, m);
        splat_row(slots, one, m->slot_B, lanes * m->slot_B);
        return;
    }
    for (; m->element_B == 4 && lane < lanes; lane += VECTOR_LANES) {
        vector v = gather_dwords(from + (size_t)lane * step_B, step_B);
        memcpy(slots + (size_t)lane * 4, &v, sizeof(v));
    }
    for (; lane < lanes; lane++)
        load_slot(slots + (size_t)lane * m->slot_B, from + (size_t)lane * step_B, m);
}

ZS_PORT_KERNEL_ACCESS static void store_even(const struct zs_port_message *m, uint32_t lanes,
                                             uint8_t *to, uint32_t step_B, const uint8_t *slots)
{
    if (step_B == m->slot_B && m->element_B == m->slot_B) {
        copy_row(to, slots, lanes * m->slot_B);
    } else if (m->element_B == 4) {
        for (uint32_t lane = 0; lane < lanes; lane++, to += step_B)
            memcpy(to, slots + (size_t)lane * 4, 4);
    } else {
        for (uint32_t lane = 0; lane < lanes; lane++, to += step_B)
            store_slot(to, slots + (size_t)lane * m->slot_B, m);
    }
}

/* Of `lanes` lanes at `addresses` all take part. false: nothing was done. */
static bool run_even(struct zs_port *port, const struct part *p, const uint8_t *addresses,
                     uint32_t lanes, uint32_t span_B)
{
    const struct zs_port_message *m = p->m;
    struct even even;
    if (!ZS_PORT_CHECKED || lanes < EVEN_LANES_MIN || zs_port_tracks(port) ||
        !place_even(port, m, addresses, lanes, span_B, p->store_slots != NULL, &even))
        return false;
    for (uint32_t e = 0; e < m->elements; e++) {
        size_t row = (size_t)e * m->component_B;
        if (p->store_slots)
            store_even(m, lanes, even.first + p->at_B[e], even.step_B, p->store_slots + row);
        else
            load_even(m, lanes, even.first + p->at_B[e], even.step_B, p->load_slots + row);
    }
    return true;
}

/* Each lane on its own. */
static bool run_apart(struct zs_port *port, const struct part *p, const uint8_t *addresses,
                      uint32_t lanes, uint32_t mask, uint32_t span_B)
{
    uint8_t copy[LANES_MAX * 8 + 16]; /* vectors of them are read to the end */
    struct zs_port_message message = *p->m;
    struct zs_port_lanes resolved;
    struct part part = *p;
    message.lanes = (uint8_t)lanes;
    part.m = &message;
    part.lanes = &resolved;
    copy_row(copy, addresses, lanes * message.address_B);
    return zs_port_lsc_lanes(port, &message, copy, mask, span_B, p->store_slots != NULL,
                             &resolved) &&
           move(port, &part);
}

bool RUN(lsc_vector)(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                     const uint8_t *src0, const uint8_t *data, uint32_t mask)
{
    uint8_t copy[LSC_LANES_MAX * 8];
    uint16_t at_B[ELEMENTS_MAX];
    uint32_t span_B = place_elements(m, at_B);
    uint32_t all = zs_port_lane_mask(m->lanes);
    struct part part = {.m = m, .at_B = at_B, .load_slots = data ? NULL : dst, .store_slots = data};
    if (mask == all && run_even(port, &part, src0, m->lanes, span_B))
        return true;
    if (m->lanes > LANES_MAX && !data) { /* dst may be the registers they are in */
        copy_row(copy, src0, (uint32_t)m->lanes * m->address_B);
        src0 = copy;
    }
    for (uint32_t first = 0; first < m->lanes; first += LANES_MAX) {
        uint32_t lanes = ZS_MIN((uint32_t)m->lanes - first, (uint32_t)LANES_MAX);
        uint32_t part_mask = mask >> first & zs_port_lane_mask(lanes);
        const uint8_t *addresses = src0 + first * m->address_B;
        if (!part_mask)
            continue;
        part.load_slots = data ? NULL : dst + first * m->slot_B;
        part.store_slots = data ? data + first * m->slot_B : NULL;
        if (m->lanes > LANES_MAX && part_mask == zs_port_lane_mask(lanes) &&
            run_even(port, &part, addresses, lanes, span_B))
            continue;
        bool done = run_apart(port, &part, addresses, lanes, part_mask, span_B);
        if (!in_part(port, done, first))
            return false;
    }
    return true;
}

/* ---- dwords ------------------------------------------------------------------------------------
 *
 * Vectors of a few dwords that all lanes, or each sixteen of 32, load from one place, or by 64-bit
 * address from places a dword apart: a lane's second is the next one's first. (Single dwords:
 * lsc_rows.c.)
 */

/* Where sixteen lanes lead; NULL: not all to one place inside, or to such neighbours. */
ZS_PORT_KERNEL_ACCESS static inline __attribute__((always_inline)) const uint8_t *
one_place(struct zs_port *port, const struct zs_port_message *m, const uint8_t *addresses,
          uint32_t *ret_step_B)
{
    struct zs_port_quick area;
    uint32_t size_B = 4u * m->elements;
    *ret_step_B = 0;
    if (is_a64(m)) {
        const struct zs_port_range *range = &port->cache[m->cache_slot];
        uint64_t first = zs_port_load64(addresses), step = zs_port_load64(addresses + 8) - first;
        if (step != 0 && step != 4)
            return NULL;
        size_B += (uint32_t)step * (LANES_MAX - 1);
        *ret_step_B = (uint32_t)step;
        bool inside = first >= range->start && first < range->end && size_B <= range->end - first;
        return inside && rises64(addresses, step, LANES_MAX) ? zs_port_host(range, first) : NULL;
    }
    if (!zs_port_quick(port, m, false, &area) || !shaped(addresses, NULL, LANES_MAX))
        return NULL;
    uint32_t first = zs_port_load32(addresses) & area.mask;
    return first <= area.size_B && size_B <= area.size_B - first ? area.base + first : NULL;
}

/* false: it is something else, and nothing was done. */
ZS_PORT_KERNEL_ACCESS static bool load_dwords(struct zs_port *port, const struct zs_port_message *m,
                                              uint8_t *dst, const uint8_t *src0, uint32_t mask)
{
    const uint8_t *from[LSC_LANES_MAX / LANES_MAX];
    uint32_t step_B[LSC_LANES_MAX / LANES_MAX];
    if (!ZS_PORT_CHECKED || m->element_B != 4 || m->channels != 15 ||
        (m->lanes != LANES_MAX && m->lanes != LSC_LANES_MAX) ||
        mask != zs_port_lane_mask(m->lanes) || zs_port_tracks(port))
        return false;
    for (uint32_t i = 0; i < m->lanes / LANES_MAX; i++) {
        from[i] = one_place(port, m, src0 + (size_t)i * LANES_MAX * m->address_B, &step_B[i]);
        if (!from[i])
            return false;
    }
    for (uint32_t i = 0; i < m->lanes / LANES_MAX; i++, dst += LANES_MAX * 4)
        for (uint32_t e = 0; e < m->elements; e++) {
            uint8_t *row = dst + (size_t)e * m->component_B;
            if (step_B[i])
                copy_row(row, from[i] + (size_t)e * 4, LANES_MAX * 4);
            else
                splat32(row, zs_port_load32_shared(from[i] + (size_t)e * 4), LANES_MAX);
        }
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* A whole vector at one address; of a surface what lies inside, zeros for the rest of reads. */
static bool block_place(struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
                        bool is_write, uint8_t **ret_place, uint32_t *ret_inside_B)
{
    *ret_inside_B = m->block_B;
    if (is_a64(m)) {
        uint64_t gpu_va = zs_port_load64(src0);
        const struct zs_port_range *range = zs_port_range(port, m, gpu_va, m->block_B, 0, is_write);
        if (!range)
            return false;
        *ret_place = zs_port_host(range, gpu_va);
        return !zs_port_tracks(port) || zs_port_track(port, m, *ret_place, m->block_B, 0, is_write);
    }
    struct zs_port_area area;
    if (!zs_port_area(port, m, is_write, &area))
        return false;
    uint64_t offset = zs_port_block_offset(m, &area, src0);
    uint64_t inside_B = offset < area.size_B ? area.size_B - offset : 0;
    if (inside_B < m->block_B) {
        bool widened = inside_B && !is_write &&
                       m->block_B <= zs_align_up(area.size_B, ZS_PORT_LINE_B) - offset;
        bool surface = m->bti <= BTI_LAST;
        if (!area.drops && !(widened && surface))
            return zs_port_fail(port, m, area.fault, 0, offset, m->block_B, is_write);
        *ret_inside_B = (uint32_t)inside_B;
    }
    if (is_write && area.read_only && *ret_inside_B)
        return zs_port_fail(port, m, ZS_PORT_FAULT_READ_ONLY, 0, offset, m->block_B, true);
    *ret_place = *ret_inside_B ? area.base + offset : area.base;
    return !zs_port_tracks(port) || m->space != ZS_PORT_SPACE_GLOBAL || !*ret_inside_B ||
           zs_port_track(port, m, *ret_place, *ret_inside_B, 0, is_write);
}

/* ---- messages ----------------------------------------------------------------------------------
 */

ZS_PORT_KERNEL_ACCESS bool RUN(lsc_load)(struct zs_port *port, const struct zs_port_message *m,
                                         uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                         uint32_t mask)
{
    uint8_t *place;
    uint32_t inside_B;
    if (zs_port_is_prefetch(m) || load_dwords(port, m, dst, src0, mask))
        return true;
    if (m->lanes)
        return RUN(lsc_vector)(port, m, dst, src0, NULL, mask);
    if (!block_place(port, m, src0, false, &place, &inside_B))
        return false;
    if (inside_B)
        memcpy(dst, place, inside_B);
    memset(dst + inside_B, 0, m->block_B - inside_B);
    return true;
}

ZS_PORT_KERNEL_ACCESS bool RUN(lsc_store)(struct zs_port *port, const struct zs_port_message *m,
                                          uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                          uint32_t mask)
{
    uint8_t *place;
    uint32_t inside_B;
    if (m->lanes)
        return RUN(lsc_vector)(port, m, NULL, src0, src1, mask);
    if (!block_place(port, m, src0, true, &place, &inside_B))
        return false;
    if (inside_B)
        memcpy(place, src1, inside_B);
    return true;
}
