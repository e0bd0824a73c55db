/* SPDX-License-Identifier: MIT */
/*
 * What a message touches, found from its payload before it is executed: cache lines of memory, the
 * conflicts of local memory's banks, lanes of atomics that meet. Nothing here refuses or faults:
 * addresses that lead nowhere touch nothing, and executing the message says so.
 */
#include "dataport/dataport_priv.h"

#include <emmintrin.h>
#include <math.h>

enum { LINE_SHIFT = 6, BANKS = 16, TILE_B = 16, TILE_ROWS = 4, TOUCH_LANES = 32 };
_Static_assert(1 << LINE_SHIFT == ZS_PORT_LINE_B, "lines are those of the caches");

/* ---- lines -------------------------------------------------------------------------------------
 */

static void add_line(struct zs_port_touch *t, uint64_t line)
{
    for (uint32_t i = t->line_count; i-- > 0;) { /* neighbours come one after the other */
        if (t->lines[i] == line)
            return;
    }
    if (t->line_count < ZS_PORT_TOUCH_LINES)
        t->lines[t->line_count++] = line;
}

static void add_bytes(struct zs_port_touch *t, uint64_t address, uint64_t size_B)
{
    uint64_t line = address >> LINE_SHIFT, last = (address + size_B - 1) >> LINE_SHIFT;
    for (; size_B && line <= last && last - line < ZS_PORT_TOUCH_LINES; line++)
        add_line(t, line);
}

/* ---- lanes with addresses ----------------------------------------------------------------------
 */

/* Byte distance from a lane's first byte to behind its last. */
static uint32_t span_of(const struct zs_port_message *m)
{
    if (m->shape == ZS_PORT_SHAPE_LSC)
        return m->channels && m->channels != 15
                   ? (32u - (uint32_t)__builtin_clz(m->channels)) * m->element_B
                   : (uint32_t)m->element_B * m->elements;
    if (m->channels)
        return (32u - (uint32_t)__builtin_clz(m->channels)) * 4;
    return (uint32_t)m->element_B * m->elements;
}

/* Of 64 bits, in memory; else offsets of 32 bits. */
static bool has_addresses(const struct zs_port_message *m)
{
    return m->shape == ZS_PORT_SHAPE_ADDRESSES ||
           (m->shape == ZS_PORT_SHAPE_LSC && m->address_B == 8);
}

/* Of scratch memory, or of the payload. */
static bool is_relative(const struct zs_port_message *m)
{
    return m->space == ZS_PORT_SPACE_SCRATCH || m->space == ZS_PORT_SPACE_PAYLOAD;
}

/* What offsets of these count from. */
static uint64_t scratch_bias(const struct zs_port *port, const struct zs_port_message *m)
{
    if (m->space == ZS_PORT_SPACE_PAYLOAD && port->payload)
        return 0;
    if (m->shape != ZS_PORT_SHAPE_LSC)
        return port->scratch_start;
    return m->bti == BTI_SCRATCH_SURFACE || port->payload ? 0 : port->scratch_bias;
}

/* How many lanes of an atomic are at the location that most of them share. */
static uint32_t most_at_one(const uint64_t *address, uint32_t mask)
{
    enum { PLACES = 64 }; /* twice the lanes: there is always a free one */
    uint64_t seen[PLACES], taken = 0;
    uint8_t lanes[PLACES];
    uint32_t most = 0;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint32_t at = (uint32_t)(address[lane] >> 2 ^ address[lane] >> 8) % PLACES;
        while (taken >> at & 1 && seen[at] != address[lane])
            at = (at + 1) % PLACES;
        if (!(taken >> at & 1)) {
            taken |= UINT64_C(1) << at;
            seen[at] = address[lane];
            lanes[at] = 0;
        }
        uint32_t here = ++lanes[at];
        most = ZS_MAX(most, here);
    }
    return most;
}

/* Dwords that the lanes name, each once, by bank: the fullest bank decides how long it takes. */
static void find_conflicts(struct zs_port_touch *t, const struct zs_port_message *m,
                           const uint64_t *offset, uint32_t mask)
{
    enum { BANK_DWORDS = 64 };
    uint32_t dwords[BANKS][BANK_DWORDS], per_bank[BANKS] = {0}, fullest = 0, count = 0;
    uint32_t span_B = span_of(m);
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint32_t dword = (uint32_t)(offset[lane] / 4);
        uint32_t last = (uint32_t)((offset[lane] + span_B - 1) / 4);
        for (; dword <= last; dword++) {
            uint32_t bank = dword % BANKS, i = 0;
            while (i < per_bank[bank] && dwords[bank][i] != dword)
                i++;
            if (i < per_bank[bank] || i == BANK_DWORDS)
                continue;
            dwords[bank][i] = dword;
            per_bank[bank] = i + 1;
            fullest = ZS_MAX(fullest, i + 1);
            count++;
        }
    }
    t->slm_cycles = (uint16_t)fullest;
    t->slm_conflicts = (uint16_t)(fullest - (count + BANKS - 1) / BANKS);
}

/* The same of up to 16 lanes with a dword each, and how many lanes share one. False: they have not.
 */
static bool find_dwords(struct zs_port_touch *t, const struct zs_port_message *m,
                        const uint64_t *offset, uint32_t mask)
{
    uint32_t dwords[16] = {0}, fullest = 0, count = 0, most = 1;
    uint64_t odd = 0;
    uint8_t per_bank[BANKS] = {0};
    if (span_of(m) != 4 || mask > 0xffff)
        return false;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        odd |= offset[lane] & 3;
        dwords[lane] = (uint32_t)(offset[lane] / 4);
    }
    if (odd)
        return false;
    const __m128i *four = (const __m128i *)(const void *)dwords;
    __m128i some[4];
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(some); i++)
        some[i] = _mm_loadu_si128(four + i);
    ZS_PORT_FOR_LANES(lane, mask)
    {
        __m128i own = _mm_set1_epi32((int)dwords[lane]);
        __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(some[0], own), _mm_cmpeq_epi32(some[1], own));
        __m128i high =
            _mm_packs_epi32(_mm_cmpeq_epi32(some[2], own), _mm_cmpeq_epi32(some[3], own));
        uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) & mask;
        if (same & ((1u << lane) - 1))
            continue; /* another lane told it */
        uint32_t in_bank = ++per_bank[dwords[lane] % BANKS];
        fullest = ZS_MAX(fullest, in_bank);
        count++;
        if (same & (same - 1))
            most = ZS_MAX(most, (uint32_t)__builtin_popcount(same));
    }
    t->atomic_lanes = m->bytes_read && m->bytes_written ? (uint16_t)most : 0;
    t->slm_cycles = (uint16_t)fullest;
    t->slm_conflicts = (uint16_t)(fullest - (count + BANKS - 1) / BANKS);
    return true;
}

/* What addresses and offsets count from, and where what they may reach ends. Lines of scratch
 * memory are those of the thread's own, lines of the payload are the launch's. */
static uint64_t base_of(const struct zs_port *port, const struct zs_port_message *m,
                        uint64_t *ret_size_B)
{
    *ret_size_B = UINT64_MAX;
    if (is_relative(m))
        return 0 - scratch_bias(port, m);
    if (m->space != ZS_PORT_SPACE_GLOBAL || has_addresses(m))
        return 0;
    *ret_size_B = 0;
    if (m->bti >= port->surface_count || port->surfaces[m->bti].kind == ZS_PORT_SURFACE_NULL ||
        port->surfaces[m->bti].kind == ZS_PORT_SURFACE_FREED)
        return 0;
    *ret_size_B =
        port->surfaces[m->bti].size_B; /* of images, too: they are bytes to such messages */
    return (uint64_t)(uintptr_t)port->surfaces[m->bti].base;
}

static void touch_lanes(const struct zs_port *port, const struct zs_port_message *m,
                        uint64_t address[TOUCH_LANES], uint32_t mask, struct zs_port_touch *t)
{
    bool in_slm = m->space == ZS_PORT_SPACE_SLM;
    ZS_PORT_FOR_LANES(lane, in_slm ? mask : 0)
    address[lane] &= SLM_OFFSET_MASK;
    if (in_slm && find_dwords(t, m, address, mask))
        return;
    if (m->bytes_read && m->bytes_written)
        t->atomic_lanes = (uint16_t)most_at_one(address, mask);
    if (in_slm) {
        find_conflicts(t, m, address, mask);
        return;
    }
    uint64_t size_B, base = base_of(port, m, &size_B);
    uint32_t span_B = span_of(m);
    uint64_t last = UINT64_MAX; /* lanes next to each other mostly share a line */
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t first_B = base + address[lane], line = first_B >> LINE_SHIFT;
        if (address[lane] >= size_B ||
            (line == last && (first_B + span_B - 1) >> LINE_SHIFT == line))
            continue;
        add_bytes(t, first_B, span_B);
        last = line;
    }
}

/* Most messages have offsets that rise evenly: four at a time, each against its neighbour. lanes:
 * a multiple of 8. False: they do not. */
static inline bool rises_evenly(const uint8_t *offsets, uint32_t lanes, uint32_t *ret_step)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    uint32_t step = zs_port_load32(offsets + 4) - zs_port_load32(offsets);
    four off = {0};
    for (uint32_t i = 0; i < lanes; i += 4) {
        four some, next;
        const uint8_t *at = offsets + (size_t)ZS_MIN(i, lanes - 5) * 4;
        memcpy(&some, at, sizeof(some));
        memcpy(&next, at + 4, sizeof(next));
        off |= (next - some) ^ step;
    }
    *ret_step = step;
    uint64_t pairs[2];
    memcpy(pairs, &off, sizeof(pairs));
    return !(pairs[0] | pairs[1]);
}

/* `lanes` lanes, evenly apart, none beyond the other's line: false when it is not so. */
static inline __attribute__((always_inline)) bool
touch_even(const struct zs_port *port, const struct zs_port_message *m, const uint8_t *offsets,
           uint32_t scale, uint32_t lanes, struct zs_port_touch *t)
{
    uint32_t step, span_B = span_of(m);
    if (!rises_evenly(offsets, lanes, &step) || step > 64)
        return false;
    uint64_t first = (uint64_t)zs_port_load32(offsets) * scale;
    uint64_t last = first + (uint64_t)step * scale * (lanes - 1), size_B;
    if (step * scale > ZS_PORT_LINE_B || last + span_B > UINT32_MAX)
        return false;
    if (m->bytes_read && m->bytes_written)
        t->atomic_lanes = (uint16_t)(step ? 1 : lanes);
    if (m->space == ZS_PORT_SPACE_SLM) {
        bool even = step ? step * scale == 4 && span_B == 4 : span_B % 4 == 0 && span_B <= 64;
        if (!even || first % 4 || last > SLM_OFFSET_MASK)
            return false;
        t->slm_cycles = (uint16_t)(step ? (lanes + BANKS - 1) / BANKS : 1);
        return true;
    }
    uint64_t base = base_of(port, m, &size_B);
    if (last >= size_B)
        return false;
    for (uint64_t line = (base + first) >> LINE_SHIFT,
                  end = (base + last + span_B - 1) >> LINE_SHIFT;
         line <= end && t->line_count < ZS_PORT_TOUCH_LINES; line++)
        t->lines[t->line_count++] = line;
    return true;
}

static void touch_each(const struct zs_port *port, const struct zs_port_message *m,
                       const uint8_t *offsets, uint32_t scale, uint32_t mask,
                       struct zs_port_touch *t)
{
    uint64_t address[TOUCH_LANES];
    ZS_PORT_FOR_LANES(lane, mask)
    address[lane] = (uint64_t)zs_port_load32(offsets + (size_t)lane * 4) * scale;
    touch_lanes(port, m, address, mask, t);
}

static void touch_offsets(const struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *src0, uint32_t mask, struct zs_port_touch *t)
{
    const uint8_t *at = src0 + m->header_grf * GRF_B;
    uint32_t scale = m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ? 4 : 1;
    uint32_t lanes = mask ? 32 - (uint32_t)__builtin_clz(mask) : 0;
    bool is_full = lanes && lanes % 8 == 0 && (mask & (mask + 1)) == 0;
    if (!is_full || !touch_even(port, m, at, scale, lanes, t))
        touch_each(port, m, at, scale, mask, t);
}

static void touch_addresses(const struct zs_port *port, const struct zs_port_message *m,
                            const uint8_t *src0, uint32_t mask, struct zs_port_touch *t)
{
    const uint8_t *at = src0 + m->header_grf * GRF_B;
    uint64_t address[TOUCH_LANES];
    ZS_PORT_FOR_LANES(lane, mask)
    address[lane] = zs_port_load64(at + (size_t)lane * 8);
    touch_lanes(port, m, address, mask, t);
}

/* Vectors by lane, or one of them at one place. */
static void touch_lsc(const struct zs_port *port, const struct zs_port_message *m,
                      const uint8_t *src0, uint32_t mask, struct zs_port_touch *t)
{
    struct zs_port_plain plain;
    if (zs_port_lsc_is_special(m)) {
        zs_port_lsc_plain(m, src0, &plain);
        m = &plain.message;
        src0 = plain.addresses;
    }
    if (m->lanes) {
        if (has_addresses(m))
            touch_addresses(port, m, src0, mask, t);
        else
            touch_offsets(port, m, src0, mask, t);
        return;
    }
    uint64_t size_B, base = base_of(port, m, &size_B);
    uint64_t at = has_addresses(m) ? zs_port_load64(src0) : zs_port_load32(src0);
    if (m->space == ZS_PORT_SPACE_SLM) {
        t->slm_cycles = (uint16_t)((m->block_B + ZS_PORT_LINE_B - 1) / ZS_PORT_LINE_B);
        return;
    }
    if (at < size_B)
        add_bytes(t, base + at, m->block_B);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static void touch_block(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *header, struct zs_port_touch *t)
{
    uint64_t offset = (uint64_t)zs_port_load32(header + 8) << m->block_shift, size_B;
    if (m->space == ZS_PORT_SPACE_SLM) {
        t->slm_cycles = (uint16_t)((m->block_B + ZS_PORT_LINE_B - 1) / ZS_PORT_LINE_B);
        return;
    }
    if (is_relative(m)) {
        offset += zs_port_load32(header + 20) & ~0x3ffu;
        add_bytes(t, offset - scratch_bias(port, m), m->block_B);
        return;
    }
    uint64_t base = base_of(port, m, &size_B);
    if (offset < size_B)
        add_bytes(t, base + offset, m->block_B);
}

static void touch_scratch(const struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *header, struct zs_port_touch *t)
{
    uint64_t offset = (uint64_t)(zs_port_load32(header + 20) & ~0x3ffu) + m->block_offset_B;
    add_bytes(t, offset - port->scratch_start, m->block_B);
}

static void touch_block2d(const struct zs_port_message *m, const uint8_t *src0,
                          struct zs_port_touch *t)
{
    uint64_t gpu_va;
    uint32_t size_B;
    for (uint32_t i = 0; zs_port_block2d_row(m, src0, i, &gpu_va, &size_B); i++)
        add_bytes(t, gpu_va, size_B);
}

/* ---- images ------------------------------------------------------------------------------------
 * Hardware tiles images so that a line holds 16 bytes of four rows (Y tiles). Here rows are
 * linear; the lines are those that tiling would give, named by the place of their first texel. */

static void add_texel(const struct zs_port_surface *s, const int64_t coordinate[3],
                      struct zs_port_touch *t)
{
    const uint8_t *texel = zs_port_surface_texel(s, coordinate);
    if (!texel)
        return;
    uint64_t start = (uint64_t)(uintptr_t)s->base;
    if (s->dimensions < 2) {
        add_bytes(t, (uint64_t)(uintptr_t)texel, s->format->texel_B);
        return;
    }
    uint64_t x_B = (uint64_t)coordinate[0] * s->format->texel_B, y = (uint64_t)coordinate[1];
    uint64_t tiles = s->row_pitch_B / TILE_B; /* in a row of them */
    uint64_t tile = y / TILE_ROWS * tiles + x_B / TILE_B;
    uint64_t slice_B = (uint64_t)(uintptr_t)texel - start - y * s->row_pitch_B - x_B;
    add_line(t, (start + slice_B + tile * ZS_PORT_LINE_B) >> LINE_SHIFT);
}

static const struct zs_port_surface *image_of(const struct zs_port *port,
                                              const struct zs_port_message *m)
{
    bool is_image =
        m->bti < port->surface_count && port->surfaces[m->bti].kind == ZS_PORT_SURFACE_IMAGE;
    return is_image ? &port->surfaces[m->bti] : NULL;
}

static uint32_t parameter(const struct zs_port_message *m, const uint8_t *src0, uint32_t index,
                          uint32_t lane)
{
    if (index >= m->coordinates)
        return 0;
    return zs_port_load32(src0 + m->header_grf * GRF_B + (index * m->lanes + lane) * 4);
}

static void touch_texels(const struct zs_port_surface *s, const struct zs_port_message *m,
                         const uint8_t *src0, uint32_t mask, struct zs_port_touch *t)
{
    bool has_level = m->shape == ZS_PORT_SHAPE_TEXEL && m->returns;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t coordinate[3] = {0};
        for (uint32_t i = 0; i < 3; i++)
            coordinate[i] = (int32_t)parameter(m, src0, has_level && i > 0 ? i + 1 : i, lane);
        add_texel(s, coordinate, t);
    }
}

/* A block's first and last byte may lie in the midst of texels. Outside reads repeat the edge. */
static void touch_media(const struct zs_port_surface *s, const struct zs_port_message *m,
                        const uint8_t *header, struct zs_port_touch *t)
{
    uint32_t size = zs_port_load32(header + 8), texel_B = s->format->texel_B;
    int64_t x_B = (int32_t)zs_port_load32(header), y = (int32_t)zs_port_load32(header + 4);
    int64_t end_B = x_B + (size & 63) + 1;
    for (int64_t row = y; row <= y + (int64_t)(size >> 16 & 63); row++) {
        for (int64_t at_B = x_B; at_B < end_B;) {
            int64_t into_B = (at_B % texel_B + texel_B) % texel_B,
                    texel = (at_B - into_B) / texel_B;
            int64_t coordinate[3] = {texel, row, 0};
            if (m->bytes_read) {
                coordinate[0] = (int64_t)zs_port_media_byte(s, at_B) / texel_B;
                coordinate[1] = zs_port_media_line(s, row);
            }
            add_texel(s, coordinate, t);
            at_B += texel_B - into_B;
        }
    }
}

/* A coordinate's texel; the neighbour that filtering needs is added by the caller. */
static int64_t texel_at(const struct zs_port_sampler *sampler, float u, uint32_t size, bool linear)
{
    float scaled = sampler->normalized ? u * (float)size : u;
    float f = floorf(linear ? scaled - 0.5f : scaled);
    if (!(f > -1e9f && f < 1e9f))
        return 0;
    int64_t i = (int64_t)f;
    bool repeats = sampler->normalized && (i < 0 || i >= size);
    i = repeats ? (i % size + size) % size : i;
    return i < 0 ? 0 : i >= size ? (int64_t)size - 1 : i;
}

static void touch_samples(const struct zs_port *port, const struct zs_port_surface *s,
                          const struct zs_port_message *m, const uint8_t *src0, uint32_t mask,
                          struct zs_port_touch *t)
{
    uint32_t index = m->sampler;
    if (m->header_grf)
        index += (zs_port_load32(src0 + 12) & ~31u) / 16;
    if (index >= port->sampler_count)
        return;
    const struct zs_port_sampler *sampler = &port->samplers[index];
    const uint32_t size[3] = {s->width, s->height, s->depth};
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t first[3] = {0};
        for (uint32_t i = 0; i < ZS_MIN(s->dimensions + (s->is_array ? 1u : 0u), 3u); i++) {
            uint32_t bits = parameter(m, src0, m->channels + i * (1u + m->returns), lane);
            float u;
            memcpy(&u, &bits, sizeof(u));
            bool layer = i >= s->dimensions;
            struct zs_port_sampler plain = {.normalized = sampler->normalized && !layer};
            first[i] = texel_at(&plain, u, layer ? s->depth : size[i], sampler->linear && !layer);
        }
        uint32_t corners = sampler->linear ? 1u << s->dimensions : 1;
        for (uint32_t corner = 0; corner < corners; corner++) {
            int64_t coordinate[3] = {first[0], first[1], first[2]};
            for (uint32_t i = 0; i < s->dimensions; i++)
                coordinate[i] = ZS_MIN(first[i] + (int64_t)(corner >> i & 1), (int64_t)size[i] - 1);
            add_texel(s, coordinate, t);
        }
        t->texels = (uint16_t)(t->texels + corners);
    }
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static void touch_image(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *src0, uint32_t mask, struct zs_port_touch *t)
{
    const struct zs_port_surface *s = image_of(port, m);
    if (!s)
        return;
    if (m->shape == ZS_PORT_SHAPE_MEDIA)
        touch_media(s, m, src0, t);
    else if (m->shape == ZS_PORT_SHAPE_SAMPLE)
        touch_samples(port, s, m, src0, mask, t);
    else
        touch_texels(s, m, src0, mask, t);
    if (m->shape == ZS_PORT_SHAPE_TEXEL)
        t->texels = (uint16_t)__builtin_popcount(mask);
}

void zs_port_touch(const struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
                   uint32_t mask, struct zs_port_touch *t)
{
    t->line_count = 0;
    t->slm_cycles = t->slm_conflicts = t->atomic_lanes = t->texels = 0;
    if (m->shape == ZS_PORT_SHAPE_OFFSETS && m->lanes == 16 && (mask & 0xffff) == 0xffff) {
        const uint8_t *at = src0 + m->header_grf * GRF_B; /* mostly */
        if (!touch_even(port, m, at, 1, 16, t))
            touch_each(port, m, at, 1, 0xffff, t);
        return;
    }
    if (m->lanes)
        mask &= zs_port_lane_mask(m->lanes);
    switch ((enum zs_port_shape)m->shape) {
    case ZS_PORT_SHAPE_NONE:
        break;
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
        touch_offsets(port, m, src0, mask, t);
        break;
    case ZS_PORT_SHAPE_ADDRESSES:
        touch_addresses(port, m, src0, mask, t);
        break;
    case ZS_PORT_SHAPE_LSC:
        touch_lsc(port, m, src0, mask, t);
        break;
    case ZS_PORT_SHAPE_BLOCK2D:
        touch_block2d(m, src0, t);
        break;
    case ZS_PORT_SHAPE_BLOCK:
        touch_block(port, m, src0, t);
        break;
    case ZS_PORT_SHAPE_SCRATCH:
        touch_scratch(port, m, src0, t);
        break;
    case ZS_PORT_SHAPE_A64_BLOCK:
        add_bytes(t, zs_port_load64(src0), m->block_B);
        break;
    case ZS_PORT_SHAPE_TYPED:
    case ZS_PORT_SHAPE_MEDIA:
    case ZS_PORT_SHAPE_SAMPLE:
    case ZS_PORT_SHAPE_TEXEL:
        touch_image(port, m, src0, mask, t);
        break;
    }
}
