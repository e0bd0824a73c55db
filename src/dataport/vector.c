/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of lanes: untyped and scattered ones of the data port, and vectors of load/store
 * cache messages, by binding table, in local and scratch memory, and by 64-bit address.
 *
 * Payload: addresses (4 or 8 bytes a lane), then data, element-major: element 0 of all lanes,
 * element 1 of all lanes ... An element takes a dword slot (a byte or word in its low bits, or in
 * the upper half) or a qword slot. `channels` says which elements there are.
 *
 * Mostly all lanes take part, and the addresses of sixteen rise evenly or are one: bounds are
 * checked once then, for all bytes from the first lane's on. Everything else goes lane by lane
 * through pointers that area.c checked.
 */
#include "dataport/dataport_priv.h"

enum { ELEMENTS_MAX = 64, EVEN_LANES = 16, STEP_MAX_B = 1 << 12 };

/* What a message moves: slots of lane 0 and element 0, `load_slots` or `store_slots`. */
struct move {
    const struct zs_port_message *m;
    uint16_t at_B[ELEMENTS_MAX]; /* of each element from its lane's address */
    uint32_t span_B;             /* from there to the end of the last one */
    uint8_t *load_slots;
    const uint8_t *store_slots;
};

static void set_move(struct move *v, const struct zs_port_message *m, uint8_t *load_slots,
                     const uint8_t *store_slots)
{
    uint32_t channel = 0;
    v->m = m;
    v->load_slots = load_slots;
    v->store_slots = store_slots;
    for (uint32_t e = 0; e < m->elements; e++, channel++) {
        while (m->channels && m->channels != 15 && !(m->channels >> channel & 1))
            channel++;
        v->at_B[e] = (uint16_t)(channel * m->element_B);
    }
    v->span_B = v->at_B[m->elements - 1] + (uint32_t)m->element_B;
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

/* ---- lane by lane ------------------------------------------------------------------------------
 */

/* Lanes that reach outside a surface: each element on its own, reads of those outside give 0. */
static void outside_lanes(struct zs_port *port, const struct move *v,
                          const struct zs_port_lanes *lanes)
{
    const struct zs_port_message *m = v->m;
    struct zs_port_area area;
    if (!zs_port_area(port, m, v->store_slots != NULL, &area))
        return;
    ZS_PORT_FOR_LANES(lane, lanes->outside)
    {
        for (uint32_t e = 0; e < m->elements; e++) {
            uint64_t offset = (uintptr_t)lanes->pointer[lane] - (uintptr_t)area.base + v->at_B[e];
            size_t at = (size_t)e * m->component_B + (size_t)lane * m->slot_B;
            bool inside = offset <= area.size_B && m->element_B <= area.size_B - offset;
            if (v->load_slots && inside)
                load_slot(v->load_slots + at, area.base + offset, m);
            else if (v->load_slots)
                memset(v->load_slots + at, 0, m->slot_B);
            else if (inside && !area.read_only)
                store_slot(area.base + offset, v->store_slots + at, m);
        }
    }
}

static bool track(struct zs_port *port, const struct move *v, const struct zs_port_lanes *lanes)
{
    uint32_t mask = v->m->space == ZS_PORT_SPACE_GLOBAL ? lanes->valid : 0;
    uint64_t unread = v->m->elements == 1 ? 0 : v->m->unread;
    ZS_PORT_FOR_LANES(lane, mask & zs_port_read_lanes(v->m))
    {
        for (uint32_t e = 0; e < v->m->elements; e++) {
            if (unread >> e & 1)
                continue;
            if (!zs_port_track(port, v->m, lanes->pointer[lane] + v->at_B[e], v->m->element_B,
                               (int)lane, v->store_slots != NULL))
                return false;
        }
    }
    return true;
}

static bool move_lanes(struct zs_port *port, const struct move *v, const uint8_t *addresses,
                       uint32_t mask)
{
    const struct zs_port_message *m = v->m;
    struct zs_port_lanes lanes;
    if (!zs_port_lanes(port, m, addresses, mask, v->span_B, v->store_slots != NULL, &lanes) ||
        (zs_port_tracks(port) && !track(port, v, &lanes)))
        return false;
    for (uint32_t e = 0; e < m->elements; e++) {
        size_t row = (size_t)e * m->component_B;
        ZS_PORT_FOR_LANES(lane, lanes.valid)
        {
            uint8_t *memory = lanes.pointer[lane] + v->at_B[e];
            size_t at = row + (size_t)lane * m->slot_B;
            if (v->load_slots)
                load_slot(v->load_slots + at, memory, m);
            else
                store_slot(memory, v->store_slots + at, m);
        }
    }
    if (ZS_UNLIKELY(lanes.outside))
        outside_lanes(port, v, &lanes);
    return true;
}

/* ---- lanes evenly apart ------------------------------------------------------------------------
 */

typedef uint64_t vector __attribute__((vector_size(16)));

/* Where the first lane leads; NULL: they do not rise evenly, or not all lie in one allocation. */
static inline ZS_PORT_ALWAYS uint8_t *first_of_even(const struct zs_port *port,
                                                    const struct move *v, const uint8_t *addresses,
                                                    uint32_t lanes, uint32_t *ret_step_B)
{
    const struct zs_port_message *m = v->m;
    const struct zs_port_range *range = &port->cache[m->cache_slot];
    bool is_write = v->store_slots != NULL;
    struct zs_port_quick area;
    if (!zs_port_rise(addresses, m->address_B, lanes, ret_step_B) || *ret_step_B > STEP_MAX_B)
        return NULL;
    uint64_t size_B = (uint64_t)*ret_step_B * (lanes - 1) + v->span_B;
    if (m->address_B == 8) {
        uint64_t gpu_va = zs_port_load64(addresses);
        bool inside =
            gpu_va >= range->start && gpu_va < range->end && size_B <= range->end - gpu_va;
        return inside && !(is_write && range->read_only) ? zs_port_host(range, gpu_va) : NULL;
    }
    if (!zs_port_quick(port, m, is_write, &area))
        return NULL;
    uint32_t offset = zs_port_load32(addresses) & area.mask;
    return offset <= area.size_B && size_B <= area.size_B - offset ? area.base + offset : NULL;
}

/* No call, which would be seen as a race. size_B: a multiple of 16. */
ZS_PORT_KERNEL_ACCESS static inline ZS_PORT_ALWAYS void copy_row(uint8_t *to, const uint8_t *from,
                                                                 uint32_t size_B)
{
    for (uint32_t at_B = 0; at_B < size_B; at_B += (uint32_t)sizeof(vector))
        memcpy(to + at_B, from + at_B, sizeof(vector));
}

/* One value to all lanes. */
static inline ZS_PORT_ALWAYS void splat_row(uint8_t *to, uint64_t value, uint32_t slot_B,
                                            uint32_t size_B)
{
    vector row = (vector){0} + (slot_B == 8 ? value : value << 32 | value);
    for (uint32_t at_B = 0; at_B < size_B; at_B += (uint32_t)sizeof(row))
        memcpy(to + at_B, &row, sizeof(row));
}

ZS_PORT_KERNEL_ACCESS static inline ZS_PORT_ALWAYS void load_even(const struct zs_port_message *m,
                                                                  uint32_t lanes,
                                                                  const uint8_t *from,
                                                                  uint32_t step_B, uint8_t *slots)
{
    uint64_t one = 0;
    if (step_B == m->slot_B && m->element_B == m->slot_B) {
        copy_row(slots, from, lanes * m->slot_B);
    } else if (step_B == 0) {
        load_slot((uint8_t *)&one, from, m);
        splat_row(slots, one, m->slot_B, lanes * m->slot_B);
    } else {
        for (uint32_t lane = 0; lane < lanes; lane++, from += step_B)
            load_slot(slots + (size_t)lane * m->slot_B, from, m);
    }
}

ZS_PORT_KERNEL_ACCESS static inline ZS_PORT_ALWAYS void store_even(const struct zs_port_message *m,
                                                                   uint32_t lanes, uint8_t *to,
                                                                   uint32_t step_B,
                                                                   const uint8_t *slots)
{
    if (step_B == m->slot_B && m->element_B == m->slot_B) {
        copy_row(to, slots, lanes * m->slot_B);
        return;
    }
    for (uint32_t lane = 0; lane < lanes; lane++, to += step_B)
        store_slot(to, slots + (size_t)lane * m->slot_B, m);
}

/* `lanes` lanes from the one called first on, all of which take part. false: nothing was done. */
ZS_PORT_KERNEL_ACCESS static inline ZS_PORT_ALWAYS bool move_even(const struct zs_port *port,
                                                                  const struct move *v,
                                                                  const uint8_t *addresses,
                                                                  uint32_t first, uint32_t lanes)
{
    const struct zs_port_message *m = v->m;
    uint32_t step_B;
    uint8_t *memory =
        first_of_even(port, v, addresses + (size_t)first * m->address_B, lanes, &step_B);
    for (uint32_t e = 0; memory && e < m->elements; e++) {
        size_t row = (size_t)e * m->component_B + (size_t)first * m->slot_B;
        if (v->store_slots)
            store_even(m, lanes, memory + v->at_B[e], step_B, v->store_slots + row);
        else
            load_even(m, lanes, memory + v->at_B[e], step_B, v->load_slots + row);
    }
    return memory != NULL;
}

/* ---- dwords ------------------------------------------------------------------------------------
 */

typedef uint32_t dwords __attribute__((vector_size(16)));

static inline ZS_PORT_ALWAYS bool is_zero(dwords v)
{
    vector halves = (vector)v;
    return !(halves[0] | halves[1]);
}

/* What most messages are: a dword of each lane, all of them, neighbours or (loads) at one place.
 * All addresses are read before anything is loaded. false: it is another, nothing was done. */
ZS_PORT_KERNEL_ACCESS static inline ZS_PORT_ALWAYS bool
move_dwords(const struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
            uint32_t mask, uint8_t *load, const uint8_t *store)
{
    const uint8_t *addresses = src0 + (size_t)m->header_grf * GRF_B;
    uint32_t lanes = m->lanes, first = zs_port_load32(addresses);
    dwords next = first + (dwords){0, 4, 8, 12}, apart = {0}, unlike = {0};
    struct zs_port_quick area;
    if (mask != zs_port_lane_mask(lanes) || lanes < 8 || m->elements != 1 || m->element_B != 4 ||
        (m->channels && !(m->channels & 1)) || m->slot_B != 4 || m->address_B != 4 ||
        m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS || zs_port_tracks(port) ||
        !zs_port_quick(port, m, store != NULL, &area))
        return false;
    for (uint32_t lane = 0; lane < lanes; lane += 4, next += 16) {
        dwords at;
        memcpy(&at, addresses + (size_t)lane * 4, sizeof(at));
        apart |= at ^ next;
        unlike |= at ^ first;
    }
    bool is_row = is_zero(apart);
    uint32_t offset = first & area.mask, size_B = is_row ? lanes * 4 : 4;
    if (!(is_row || (load && is_zero(unlike))) || offset > area.size_B ||
        size_B > area.size_B - offset)
        return false;
    if (store)
        copy_row(area.base + offset, store, size_B);
    else if (is_row)
        copy_row(load, area.base + offset, size_B);
    else
        splat_row(load, zs_port_load32(area.base + offset), 4, lanes * 4);
    return true;
}

/* ---- ways --------------------------------------------------------------------------------------
 */

unsigned zs_port_way(const struct zs_port_message *m, const uint8_t *src0, uint32_t mask)
{
    bool in_dwords = m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS;
    uint64_t step = in_dwords ? m->element_B / 4u : m->element_B, first = 0, from = EVEN_LANES;
    bool all = mask == zs_port_lane_mask(ZS_MAX(m->lanes, 1u));
    unsigned way = ZS_PORT_WAY_ROW | ZS_PORT_WAY_ONE |
                   (all && m->element_B == 4 && !in_dwords ? ZS_PORT_WAY_APART : 0u);

    if (m->lanes < 8 || m->gather || m->strided || m->offset64 || m->upper ||
        (m->address_B != 4 && m->address_B != 8) ||
        (m->shape != ZS_PORT_SHAPE_LSC && m->shape != ZS_PORT_SHAPE_OFFSETS &&
         m->shape != ZS_PORT_SHAPE_ADDRESSES && !in_dwords))
        return 0;
    for (uint32_t lane = 0; lane < m->lanes; lane++) {
        const uint8_t *place = src0 + (size_t)m->header_grf * GRF_B + lane * (size_t)m->address_B;
        from = lane % EVEN_LANES ? from : EVEN_LANES;
        if (!(mask >> lane & 1))
            continue;
        uint64_t at = m->address_B == 4 ? zs_port_load32(place) : zs_port_load64(place);
        if (from == EVEN_LANES) {
            first = at;
            from = lane % EVEN_LANES;
        }
        uint64_t before = lane % EVEN_LANES - from;
        way &= ~(at == first ? 0u : ZS_PORT_WAY_ONE) &
               ~(at == first + before * step ? 0u : ZS_PORT_WAY_ROW);
        for (uint32_t k = 2; k <= 4; k++)
            way &= ~(at == first + before * k * 4 ? 0u : zs_port_way_apart(k));
    }
    return way && all ? way : way | ZS_PORT_WAY_ANY;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* Addresses of the lanes as bytes, in `copy` if they are not so already, or if lanes that are
 * loaded first could take the registers from those behind them. */
static const uint8_t *addresses_of(const struct zs_port_message *m, const uint8_t *src0,
                                   uint8_t copy[LANES_MAX * 8])
{
    const uint8_t *at = src0 + (size_t)m->header_grf * GRF_B;
    bool counts_dwords = m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS;
    if (m->lanes <= EVEN_LANES && !counts_dwords)
        return at;
    memcpy(copy, at, (size_t)m->lanes * m->address_B);
    for (uint32_t lane = 0; counts_dwords && lane < m->lanes; lane++)
        zs_port_store32(copy + lane * 4, zs_port_load32(copy + lane * 4) * 4);
    return copy;
}

/* What is in line here reaches the kernel's memory. */
ZS_PORT_KERNEL_ACCESS static bool run(struct zs_port *port, struct move *v, const uint8_t *src0,
                                      uint32_t mask)
{
    uint8_t copy[LANES_MAX * 8];
    const uint8_t *addresses = addresses_of(v->m, src0, copy);
    uint32_t lanes = ZS_MIN((uint32_t)v->m->lanes, (uint32_t)EVEN_LANES);
    bool looks = lanes >= 8 && !zs_port_tracks(port);
    for (uint32_t first = 0; first < v->m->lanes; first += EVEN_LANES) {
        uint32_t all = zs_port_lane_mask(lanes) << first, part = mask & all;
        bool whole = looks && part == all, done = false;
        if (whole && lanes == EVEN_LANES)
            done = move_even(port, v, addresses, first, EVEN_LANES);
        else if (whole)
            done = move_even(port, v, addresses, first, EVEN_LANES / 2);
        if (!done && part && !move_lanes(port, v, addresses, part))
            return false;
    }
    return true;
}

ZS_PORT_KERNEL_ACCESS bool zs_port_run_load(struct zs_port *port, const struct zs_port_message *m,
                                            uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                            uint32_t mask)
{
    struct move v;
    if (!m->lanes)
        return zs_port_run_block_read(port, m, dst, src0, src1, mask);
    if (zs_port_is_prefetch(m) || move_dwords(port, m, src0, mask, dst, NULL))
        return true;
    set_move(&v, m, dst, NULL);
    return run(port, &v, src0, mask);
}

ZS_PORT_KERNEL_ACCESS bool zs_port_run_store(struct zs_port *port, const struct zs_port_message *m,
                                             uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                             uint32_t mask)
{
    struct move v;
    if (!m->lanes)
        return zs_port_run_block_write(port, m, dst, src0, src1, mask);
    const uint8_t *data = zs_port_data(m, src0, src1, (uint32_t)m->lanes * m->address_B / GRF_B);
    if (move_dwords(port, m, src0, mask, NULL, data))
        return true;
    set_move(&v, m, NULL, data);
    return run(port, &v, src0, mask);
}
