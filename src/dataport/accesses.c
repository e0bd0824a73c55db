/* SPDX-License-Identifier: MIT */
/*
 * The exact bytes that a message moves, by lane, found from its payload before it is executed: for
 * debuggers. Nothing here refuses or faults; what lies outside is left out, and executing the
 * message says so. footprint.c answers the coarser question of a model of time.
 */
#include "dataport/dataport_priv.h"

#include "base/compiler.h"

static void add(struct zs_port_accesses *r, const uint8_t *host, uint64_t size_B, uint32_t lane,
                const struct zs_port *port)
{
    if (!size_B)
        return;
    if (r->count == ZS_PORT_ACCESSES_MAX) {
        r->whole = false;
        return;
    }
    uint64_t at = (uint64_t)(uintptr_t)host, slm = (uint64_t)(uintptr_t)port->slm;
    bool is_slm = port->slm && at - slm < port->slm_B;
    if (is_slm)
        size_B = ZS_MIN(size_B, port->slm_B - (at - slm));
    r->pieces[r->count++] = (struct zs_port_access){.address = is_slm ? at - slm : at,
                                                    .size_B = (uint32_t)size_B,
                                                    .lane = (uint8_t)lane,
                                                    .is_slm = is_slm};
}

/* Where an address is for the host; what nobody has stays as it is, and marks do. */
static const uint8_t *host_of(const struct zs_port *port, const struct zs_port_message *m,
                              uint64_t gpu_va)
{
    const struct zs_port_range *range = &port->cache[m->cache_slot];
    if (gpu_va >> 48 == ZS_PORT_MARK_TAG)
        range = NULL;
    else if (gpu_va - range->start >= range->end - range->start)
        range = zs_port_map_find(&port->map, gpu_va, 1);
    return (const uint8_t *)(uintptr_t)(gpu_va + (range ? range->bias : 0));
}

/* ---- by surface, scratch or local memory -------------------------------------------------------
 */

static bool area_of(const struct zs_port *port, const struct zs_port_message *m, bool is_write,
                    struct zs_port_area *ret)
{
    struct zs_port *own = (struct zs_port *)(uintptr_t)port; /* for its fault alone */
    struct zs_port_fault before = port->fault;
    bool found = zs_port_area(own, m, is_write, ret);
    own->fault = before;
    return found && ret->base;
}

static void add_in_area(struct zs_port_accesses *r, const struct zs_port *port,
                        const struct zs_port_area *area, uint64_t offset, uint64_t size_B,
                        uint32_t lane)
{
    if (offset < area->size_B)
        add(r, area->base + offset, ZS_MIN(size_B, area->size_B - offset), lane, port);
}

/* ---- lanes -------------------------------------------------------------------------------------
 */

/* Runs of neighbouring elements of one lane: where each begins, and its size. */
struct runs {
    uint32_t count;
    struct {
        uint32_t at_B, size_B;
    } run[4];
};

static struct runs runs_of(const struct zs_port_message *m)
{
    struct runs runs = {.count = 1, .run = {{0, (uint32_t)m->element_B * m->elements}}};
    uint64_t parts = zs_port_parts(m);
    uint32_t first;
    if (!parts)
        return runs;
    for (runs.count = 0; parts; runs.count++) {
        uint32_t count = zs_port_next_parts(&parts, &first);
        runs.run[runs.count].at_B = first * m->element_B;
        runs.run[runs.count].size_B = count * m->element_B;
    }
    return runs;
}

/* One element of each lane in an area. */
static void reach_elements(const struct zs_port *port, const struct zs_port_area *area,
                           const uint8_t *at, uint64_t scale, uint32_t element_B, uint32_t mask,
                           struct zs_port_accesses *r)
{
    uint64_t base = (uint64_t)(uintptr_t)area->base, slm = (uint64_t)(uintptr_t)port->slm;
    bool is_slm = port->slm && base - slm < port->slm_B;
    struct zs_port_access *piece = r->pieces + r->count;
    if (is_slm)
        base -= slm;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t offset =
            ((zs_port_load32(at + (size_t)lane * 4) * scale) & area->mask) - area->bias;
        if (offset < area->size_B)
            *piece++ = (struct zs_port_access){
                .address = base + offset,
                .size_B = (uint32_t)ZS_MIN((uint64_t)element_B, area->size_B - offset),
                .lane = (uint8_t)lane,
                .is_slm = is_slm};
    }
    r->count = (uint32_t)(piece - r->pieces);
}

/* at: the address of lane 0 */
static void reach_lanes(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *at, uint32_t mask, struct zs_port_accesses *r)
{
    struct zs_port_area area = {0};
    struct runs runs = runs_of(m);
    bool is_offset = m->address_B == 4;
    uint64_t scale = m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ? 4 : 1;
    if (is_offset && !area_of(port, m, m->bytes_written != 0, &area))
        return;
    if (is_offset && runs.count == 1 && !runs.run[0].at_B && runs.run[0].size_B &&
        r->count + LANES_MAX <= ZS_PORT_ACCESSES_MAX) {
        reach_elements(port, &area, at, scale, runs.run[0].size_B, mask, r);
        return;
    }
    ZS_PORT_FOR_LANES(lane, mask)
    {
        const uint8_t *from = at + (size_t)lane * m->address_B;
        uint64_t address = is_offset ? ((zs_port_load32(from) * scale) & area.mask) - area.bias
                                     : zs_port_load64(from);
        for (uint32_t i = 0; i < runs.count; i++) {
            if (is_offset)
                add_in_area(r, port, &area, address + runs.run[i].at_B, runs.run[i].size_B, lane);
            else
                add(r, host_of(port, m, address + runs.run[i].at_B), runs.run[i].size_B, lane,
                    port);
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Where block.c has them. */
static void reach_block(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *header, struct zs_port_accesses *r)
{
    struct zs_port_area area;
    if (!area_of(port, m, m->bytes_written != 0, &area))
        return;
    uint64_t offset = zs_port_block_offset(m, &area, header), parts = zs_port_parts(m);
    uint32_t first, count = m->block_B;
    if (!parts)
        add_in_area(r, port, &area, offset, count, ZS_PORT_NO_LANE);
    while (parts) {
        count = zs_port_next_parts(&parts, &first);
        add_in_area(r, port, &area, offset + first * 4u, count * 4u, ZS_PORT_NO_LANE);
    }
}

/* ... by its address. */
static void reach_a64_block(const struct zs_port *port, const struct zs_port_message *m,
                            const uint8_t *header, struct zs_port_accesses *r)
{
    const uint8_t *at = host_of(port, m, zs_port_load64(header));
    uint64_t parts = zs_port_parts(m);
    uint32_t first, count = m->block_B;
    if (!parts)
        add(r, at, count, ZS_PORT_NO_LANE, port);
    while (parts) {
        count = zs_port_next_parts(&parts, &first);
        add(r, at + first * 4u, count * 4u, ZS_PORT_NO_LANE, port);
    }
}

/* Scratch blocks of channels are dwords of lanes. */
static void reach_scratch(const struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *header, uint32_t mask, struct zs_port_accesses *r)
{
    struct zs_port_area area;
    if (!area_of(port, m, m->op, &area))
        return;
    uint64_t offset = zs_port_block_offset(m, &area, header);
    if (!m->masked) {
        add_in_area(r, port, &area, offset, m->block_B, ZS_PORT_NO_LANE);
        return;
    }
    for (uint32_t at_B = 0; at_B < m->block_B; at_B += 4) {
        if (mask >> (at_B / 4 & 15) & 1)
            add_in_area(r, port, &area, offset + at_B, 4, at_B / 4 & 15);
    }
}

static void reach_block2d(const struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *src0, struct zs_port_accesses *r)
{
    uint64_t gpu_va;
    uint32_t size_B;
    for (uint32_t i = 0; m->block_B && zs_port_block2d_row(m, src0, i, &gpu_va, &size_B); i++) {
        if (size_B)
            add(r, host_of(port, m, gpu_va), size_B, ZS_PORT_NO_LANE, port);
    }
}

/* ---- images ------------------------------------------------------------------------------------
 */

static void reach_typed(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *src0, uint32_t mask, struct zs_port_accesses *r)
{
    const struct zs_port_surface *s = zs_port_image(port, m);
    if (!s)
        return;
    int32_t at[3][ZS_PORT_TEXELS];
    uint8_t *texel[ZS_PORT_TEXELS];
    zs_port_coordinates(m, src0, at);
    mask = zs_port_surface_texels(s, at, mask, texel);
    ZS_PORT_FOR_LANES(lane, mask)
    add(r, texel[lane], s->format->texel_B, lane, port);
}

/* Pieces of a line that a media block reads, each byte once: what lies outside repeats the texel at
 * the edge, from any of its bytes on. */
struct media_runs {
    uint32_t count;
    struct {
        uint64_t from_B, end_B;
    } run[5]; /* two of each edge's texel, and what lies between */
};

static void add_media_byte(struct media_runs *runs, uint64_t at_B)
{
    for (uint32_t i = 0; i < runs->count; i++) {
        if (at_B >= runs->run[i].from_B && at_B < runs->run[i].end_B)
            return;
    }
    if (runs->count && runs->run[runs->count - 1].end_B == at_B) {
        runs->run[runs->count - 1].end_B++;
        return;
    }
    zs_assert(runs->count < ZS_ARRAY_LEN(runs->run));
    runs->run[runs->count].from_B = at_B;
    runs->run[runs->count++].end_B = at_B + 1;
}

static struct media_runs media_runs(const struct zs_port_surface *s, int64_t x_B, uint32_t width_B,
                                    bool is_read)
{
    struct media_runs runs = {0};
    for (int64_t at_B = x_B; at_B < x_B + width_B; at_B++) {
        bool inside = at_B >= 0 && at_B < (int64_t)s->width * s->format->texel_B;
        if (inside || is_read)
            add_media_byte(&runs, zs_port_media_byte(s, at_B));
    }
    return runs;
}

static void reach_media(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *header, struct zs_port_accesses *r)
{
    const struct zs_port_surface *s = zs_port_image(port, m);
    if (!s)
        return;
    struct zs_port_media block = zs_port_media(m, header);
    struct media_runs runs = media_runs(s, block.x_B, block.width_B, m->bytes_read != 0);
    int64_t before = -1;
    for (int64_t row = block.y; row < (int64_t)block.y + block.height; row++) {
        int64_t line = zs_port_media_line(s, row);
        if ((line != row && !m->bytes_read) || line == before)
            continue;
        before = line;
        const uint8_t *from = s->base + (uint64_t)line * s->row_pitch_B;
        for (uint32_t i = 0; i < runs.count; i++)
            add(r, from + runs.run[i].from_B, runs.run[i].end_B - runs.run[i].from_B,
                ZS_PORT_NO_LANE, port);
    }
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* Load/store cache messages: vectors of lanes, or one block. */
static void reach_lsc(const struct zs_port *port, const struct zs_port_message *m,
                      const uint8_t *src0, uint32_t mask, struct zs_port_accesses *r)
{
    struct zs_port_plain plain;
    if (zs_port_lsc_is_special(m)) {
        zs_port_lsc_plain(m, src0, &plain);
        mask &= ~plain.far;
        if (plain.far && (!m->lanes || !mask))
            return;
        m = &plain.message;
        src0 = plain.addresses;
    }
    if (m->lanes) {
        reach_lanes(port, m, src0, mask, r);
    } else if (m->address_B == 8) {
        reach_a64_block(port, m, src0, r);
    } else {
        reach_block(port, m, src0, r);
    }
}

void zs_port_accesses(const struct zs_port *port, const struct zs_port_message *m,
                      const uint8_t *src0, uint32_t mask, struct zs_port_accesses *r)
{
    const uint8_t *at = src0 + (size_t)m->header_grf * GRF_B;
    r->count = 0;
    r->whole = true;
    if (m->lanes)
        mask &= zs_port_lane_mask(m->lanes) & zs_port_read_lanes(m);
    switch ((enum zs_port_shape)m->shape) {
    case ZS_PORT_SHAPE_NONE:
        r->whole = !m->bytes_written;
        break;
    case ZS_PORT_SHAPE_LSC:
        reach_lsc(port, m, src0, mask, r);
        break;
    case ZS_PORT_SHAPE_BLOCK2D:
        reach_block2d(port, m, src0, r);
        break;
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
    case ZS_PORT_SHAPE_ADDRESSES:
        reach_lanes(port, m, at, mask, r);
        break;
    case ZS_PORT_SHAPE_BLOCK:
        reach_block(port, m, src0, r);
        break;
    case ZS_PORT_SHAPE_SCRATCH:
        reach_scratch(port, m, src0, mask, r);
        break;
    case ZS_PORT_SHAPE_A64_BLOCK:
        reach_a64_block(port, m, src0, r);
        break;
    case ZS_PORT_SHAPE_TYPED:
        reach_typed(port, m, src0, mask, r);
        break;
    case ZS_PORT_SHAPE_MEDIA:
        reach_media(port, m, src0, r);
        break;
    case ZS_PORT_SHAPE_SAMPLE:
    case ZS_PORT_SHAPE_TEXEL: /* only read, and by filters: not told */
        break;
    }
}

/* ---- rows --------------------------------------------------------------------------------------
 */

/* [address, + size_B) for the host; NULL: not all of it is in one allocation. */
static const uint8_t *host_row(const struct zs_port *port, const struct zs_port_message *m,
                               uint64_t gpu_va, uint64_t size_B)
{
    const struct zs_port_range *range = &port->cache[m->cache_slot];
    bool inside = gpu_va >= range->start && gpu_va < range->end && size_B <= range->end - gpu_va;
    return inside ? zs_port_host(range, gpu_va) : NULL;
}

static const uint8_t *area_row(const struct zs_port *port, const struct zs_port_message *m,
                               uint32_t first, uint32_t size_B)
{
    struct zs_port_area area;
    if (!area_of(port, m, m->bytes_written != 0, &area))
        return NULL;
    uint64_t offset = (first & area.mask) - area.bias;
    bool inside = ((first + size_B - 4) & area.mask) - area.bias == offset + size_B - 4 &&
                  offset <= area.size_B && size_B <= area.size_B - offset;
    return inside ? area.base + offset : NULL;
}

bool zs_port_row(const struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
                 uint32_t lane_mask, struct zs_port_row *ret_row)
{
    const uint8_t *at = src0 + (size_t)m->header_grf * GRF_B;
    bool by_lanes = m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_ADDRESSES ||
                    m->shape == ZS_PORT_SHAPE_LSC;
    uint32_t mask = m->lanes ? lane_mask & zs_port_lane_mask(m->lanes) : 0, step_B;
    if (!by_lanes || !mask || (mask & (mask + 1)) || m->element_B != 4 || m->elements != 1 ||
        (m->channels & ~1u && m->channels != 15) ||
        (m->shape == ZS_PORT_SHAPE_LSC && zs_port_lsc_is_special(m)))
        return false;
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    if (lanes % 4 || !zs_port_rise(at, m->address_B, lanes, &step_B) ||
        (step_B != 0 && step_B != 4))
        return false;
    uint32_t size_B = (lanes - 1) * step_B + 4;
    const uint8_t *host = m->address_B == 8 ? host_row(port, m, zs_port_load64(at), size_B)
                                            : area_row(port, m, zs_port_load32(at), size_B);
    uint64_t place = (uint64_t)(uintptr_t)host, slm = (uint64_t)(uintptr_t)port->slm;
    bool is_slm = port->slm && place - slm < port->slm_B;
    *ret_row = (struct zs_port_row){.address = is_slm ? place - slm : place,
                                    .lanes = lanes,
                                    .is_slm = is_slm,
                                    .is_one = !step_B};
    return host != NULL;
}
