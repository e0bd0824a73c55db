/* SPDX-License-Identifier: MIT */
/*
 * What a message touches, found from its payload before it is executed: cache lines of memory, the
 * conflicts of local memory's banks, lanes of atomics that meet. Nothing here refuses or faults:
 * addresses that lead nowhere touch nothing, and executing the message says so.
 */
#include "dataport/dataport_priv.h"

#include <emmintrin.h>
#include <math.h>

enum { LINE_SHIFT = 6, BANKS = 16, TILE_B = 16, TILE_ROWS = 4, FOOTPRINT_LANES = 32 };
_Static_assert(1 << LINE_SHIFT == ZS_PORT_LINE_B, "lines are those of the caches");

/* ---- lines -------------------------------------------------------------------------------------
 */

static void add_line(struct zs_port_footprint *t, uint64_t line)
{
    for (uint32_t i = t->line_count; i-- > 0;) { /* neighbours come one after the other */
        if (t->lines[i] == line)
            return;
    }
    if (t->line_count < ZS_PORT_FOOTPRINT_LINES)
        t->lines[t->line_count++] = line;
}

static inline void add_dwords(struct zs_port_footprint *t, uint64_t address, uint32_t size_B)
{
    uint32_t first = address / 4 % 16,
             count = ZS_MIN((uint32_t)(address % 4 + size_B + 3) / 4, 16u);
    uint32_t found = ((1u << count) - 1) << first;
    t->dwords |= (uint16_t)(found | found >> 16);
}

static void add_bytes(struct zs_port_footprint *t, uint64_t address, uint64_t size_B)
{
    uint64_t line = address >> LINE_SHIFT, last = (address + size_B - 1) >> LINE_SHIFT;
    for (; size_B && line <= last && last - line < ZS_PORT_FOOTPRINT_LINES; line++)
        add_line(t, line);
}

/* ---- lanes with addresses ----------------------------------------------------------------------
 */

/* Byte distance from a lane's first byte to behind its last. */
static inline uint32_t span_of(const struct zs_port_message *m)
{
    bool some = m->channels && m->channels != 15;
    return (some ? 32u - (uint32_t)__builtin_clz(m->channels) : m->elements) * m->element_B;
}

/* Of 64 bits, in memory; else offsets of 32 bits. */
static bool has_addresses(const struct zs_port_message *m)
{
    return m->address_B == 8;
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

/* Lanes whose dwords are the same, a bit each. dwords: those of lanes, then others that none has.
 */
static inline uint32_t lanes_with(const uint32_t *dwords, uint32_t count, uint32_t dword)
{
    const __m128i wanted = _mm_set1_epi32((int32_t)dword);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i += BANKS) {
        const __m128i *at = (const void *)(dwords + i);
        __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at), wanted),
                                    _mm_cmpeq_epi32(_mm_load_si128(at + 1), wanted));
        __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at + 2), wanted),
                                    _mm_cmpeq_epi32(_mm_load_si128(at + 3), wanted));
        found |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b)) << i;
    }
    return found;
}

/* As find_conflicts(), where each lane names one dword; false: they do not. */
static bool find_conflicts_of_dwords(struct zs_port_footprint *t, bool atomic,
                                     const uint64_t *address, uint32_t mask, uint32_t span_B)
{
    _Alignas(16) uint32_t dwords[FOOTPRINT_LANES];
    uint32_t lanes = 0, most = 0, count = 0;
    uint8_t per_bank[BANKS] = {0}, fullest = 0;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t offset = address[lane] & SLM_OFFSET_MASK;
        if (offset % 4 + span_B > 4)
            return false;
        dwords[lanes++] = (uint32_t)(offset / 4);
    }
    for (uint32_t i = lanes; i % BANKS; i++)
        dwords[i] = UINT32_MAX;
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t same = lanes_with(dwords, lanes, dwords[i]);
        uint32_t together = (uint32_t)__builtin_popcount(same);
        uint8_t fresh = (uint32_t)__builtin_ctz(same) == i; /* nobody before it names this one */
        per_bank[dwords[i] % BANKS] = (uint8_t)(per_bank[dwords[i] % BANKS] + fresh);
        most = ZS_MAX(most, together);
        count += fresh;
    }
    for (uint32_t b = 0; b < BANKS; b++)
        fullest = ZS_MAX(fullest, per_bank[b]);
    t->slm_cycles = fullest;
    t->slm_conflicts = (uint16_t)(fullest - (count + BANKS - 1) / BANKS);
    t->atomic_lanes = (uint16_t)(atomic ? most : 0);
    return true;
}

/* Dwords that the lanes name, each once, by bank: the fullest bank decides how long it takes. An
 * atomic's location is a dword, or begins with one: how many lanes are at that of most. */
static void find_conflicts(struct zs_port_footprint *t, const struct zs_port_message *m,
                           const uint64_t *address, uint32_t mask)
{
    enum { BANK_DWORDS = 64 };
    uint32_t dwords[BANKS][BANK_DWORDS], per_bank[BANKS] = {0}, fullest = 0, count = 0;
    uint8_t lanes[BANKS][BANK_DWORDS], ignored = 0, *here = &ignored;
    uint32_t span_B = span_of(m), most = 0;
    uint64_t before = UINT64_MAX;
    bool atomic = m->bytes_read && m->bytes_written;
    if (find_conflicts_of_dwords(t, atomic, address, mask, span_B))
        return;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t offset = address[lane] & SLM_OFFSET_MASK;
        uint32_t first = (uint32_t)(offset / 4), last = (uint32_t)((offset + span_B - 1) / 4);
        for (uint32_t dword = first; dword <= last && offset != before; dword++) {
            uint32_t bank = dword % BANKS, i = 0;
            while (i < per_bank[bank] && dwords[bank][i] != dword)
                i++;
            if (i == BANK_DWORDS)
                continue;
            if (i == per_bank[bank]) {
                dwords[bank][i] = dword;
                lanes[bank][i] = 0;
                per_bank[bank] = i + 1;
                fullest = ZS_MAX(fullest, i + 1);
                count++;
            }
            here = dword == first ? &lanes[bank][i] : here;
        }
        before = offset;
        uint32_t together = ++*here;
        most = ZS_MAX(most, together);
    }
    t->slm_cycles = (uint16_t)fullest;
    t->slm_conflicts = (uint16_t)(fullest - (count + BANKS - 1) / BANKS);
    t->atomic_lanes = (uint16_t)(atomic ? most : 0);
}

/* What addresses and offsets count from, and where what they may reach ends. Lines of scratch
 * memory are those of the thread's own, lines of the payload are the launch's. */
static inline __attribute__((always_inline)) uint64_t
base_of(const struct zs_port *port, const struct zs_port_message *m, uint64_t *ret_size_B)
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
    return port->surfaces[m->bti].gpu_va;
}

static void touch_lanes(const struct zs_port *port, const struct zs_port_message *m,
                        const uint64_t address[FOOTPRINT_LANES], uint32_t mask,
                        struct zs_port_footprint *t)
{
    if (m->space == ZS_PORT_SPACE_SLM) {
        find_conflicts(t, m, address, mask);
        return;
    }
    if (m->bytes_read && m->bytes_written)
        t->atomic_lanes = (uint16_t)most_at_one(address, mask);
    uint64_t size_B, base = base_of(port, m, &size_B);
    uint32_t span_B = span_of(m);
    uint64_t last = UINT64_MAX; /* lanes next to each other mostly share a line */
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t first_B = base + address[lane], line = first_B >> LINE_SHIFT;
        add_dwords(t, first_B, span_B);
        if (address[lane] >= size_B ||
            (line == last && (first_B + span_B - 1) >> LINE_SHIFT == line))
            continue;
        add_bytes(t, first_B, span_B);
        last = line;
    }
}

/* ---- lanes in a row ----------------------------------------------------------------------------
 * Mostly the first so many lanes are on, each as far behind the one before as others, or all at one
 * place; or each half of them is: what they touch follows from the first ones and the steps.
 */

struct row {
    uint64_t first, last; /* addresses */
    uint32_t step_B, lanes;
};

static bool find_row(const struct zs_port_message *m, const uint8_t *at, uint32_t lanes,
                     struct row *r)
{
    uint32_t address_B = has_addresses(m) ? 8 : 4;
    r->lanes = lanes;
    if (!lanes || lanes % 4 || !zs_port_rise(at, address_B, lanes, &r->step_B))
        return false;
    r->first = has_addresses(m) ? zs_port_load64(at) : zs_port_load32(at);
    r->last = r->first + (uint64_t)r->step_B * (lanes - 1);
    return r->last >= r->first && (has_addresses(m) || r->last <= UINT32_MAX);
}

/* How many; 0: lanes are not in rows. */
static uint32_t find_rows(const struct zs_port_message *m, const uint8_t *at, uint32_t mask,
                          struct row rows[2])
{
    uint32_t lanes = (uint32_t)__builtin_popcount(mask), half = lanes / 2;
    if (!mask || mask & (mask + 1) || m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS || !span_of(m))
        return 0;
    if (find_row(m, at, lanes, &rows[0]))
        return 1;
    const uint8_t *second = at + (size_t)half * (has_addresses(m) ? 8 : 4);
    return lanes % 2 == 0 && find_row(m, at, half, &rows[0]) && find_row(m, second, half, &rows[1])
               ? 2
               : 0;
}

/* Dwords of rows, each once; banks take turns. False: not one behind the other, or both rows have
 * some of them. */
static bool touch_rows_of_slm(const struct row *rows, uint32_t count, uint32_t span_B,
                              struct zs_port_footprint *t)
{
    uint32_t first[2], dwords[2] = {0}, rest[2] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        if (r->last + span_B > SLM_OFFSET_MASK || (r->step_B && r->step_B != span_B))
            return false;
        first[i] = (uint32_t)r->first / 4;
        dwords[i] = (uint32_t)(r->last + span_B - 1) / 4 - first[i] + 1;
        rest[i] = dwords[i] % BANKS;
    }
    if (count == 2 && first[0] == first[1] && dwords[0] == dwords[1])
        dwords[1] = rest[1] = 0;
    if (dwords[1] && first[0] < first[1] + dwords[1] && first[1] < first[0] + dwords[0])
        return false;
    bool meet =
        rest[0] && rest[1] &&
        ((first[1] - first[0]) % BANKS < rest[0] || (first[0] - first[1]) % BANKS < rest[1]);
    uint32_t fullest = dwords[0] / BANKS + dwords[1] / BANKS + (rest[0] || rest[1]) + meet;
    t->slm_cycles = (uint16_t)fullest;
    t->slm_conflicts = (uint16_t)(fullest - (dwords[0] + dwords[1] + BANKS - 1) / BANKS);
    return true;
}

/* Lines behind those that are there. */
static void touch_row(uint64_t base, const struct row *r, uint32_t span_B,
                      struct zs_port_footprint *t)
{
    bool dense = r->step_B <= ZS_PORT_LINE_B, fresh = !t->line_count;
    uint64_t piece_B = dense ? r->last - r->first + span_B : span_B, next = 0;
    for (uint32_t i = 0; i < r->lanes && r->step_B > span_B; i++)
        add_dwords(t, base + r->first + (uint64_t)r->step_B * i, span_B);
    for (uint32_t i = 0; i < (dense ? 1 : r->lanes); i++) {
        uint64_t from_B = base + r->first + (uint64_t)r->step_B * i;
        uint64_t line = ZS_MAX(from_B >> LINE_SHIFT, next);
        for (; line <= (from_B + piece_B - 1) >> LINE_SHIFT; line++) {
            if (!fresh)
                add_line(t, line);
            else if (t->line_count < ZS_PORT_FOOTPRINT_LINES)
                t->lines[t->line_count++] = line;
        }
        next = line;
    }
}

/* False: lane by lane. */
static bool touch_rows(const struct zs_port *port, const struct zs_port_message *m,
                       const uint8_t *at, uint32_t mask, struct zs_port_footprint *t)
{
    struct row rows[2];
    uint32_t count = find_rows(m, at, mask, rows);
    bool atomic = m->bytes_read && m->bytes_written;
    if (!count || (atomic && count == 2))
        return false;
    t->atomic_lanes = (uint16_t)(!atomic ? 0 : rows[0].step_B ? 1 : rows[0].lanes);
    if (m->space == ZS_PORT_SPACE_SLM)
        return touch_rows_of_slm(rows, count, span_of(m), t);
    uint64_t size_B, base = base_of(port, m, &size_B);
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].last >= size_B)
            return false;
    for (uint32_t i = 0; i < count; i++)
        touch_row(base, &rows[i], span_of(m), t);
    return true;
}

static void touch_addresses(const struct zs_port *port, const struct zs_port_message *m,
                            const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    const uint8_t *at = src0 + m->header_grf * GRF_B;
    uint64_t address[FOOTPRINT_LANES];
    uint32_t scale = m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ? 4 : 1;
    if (touch_rows(port, m, at, mask, t))
        return;
    ZS_PORT_FOR_LANES(lane, mask)
    address[lane] = has_addresses(m) ? zs_port_load64(at + (size_t)lane * 8)
                                     : (uint64_t)zs_port_load32(at + (size_t)lane * 4) * scale;
    touch_lanes(port, m, address, mask, t);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* The bytes that are told to debuggers: those of scratch memory and of the payload from their own
 * start on. */
static void touch_block(const struct zs_port *port, const struct zs_port_message *m,
                        const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    struct zs_port_accesses r;
    uint64_t start = 0;
    if (m->space == ZS_PORT_SPACE_SLM) {
        t->slm_cycles = (uint16_t)((m->block_B + ZS_PORT_LINE_B - 1) / ZS_PORT_LINE_B);
        return;
    }
    if (has_addresses(m)) {
        add_bytes(t, zs_port_load64(src0), m->block_B);
        return;
    }
    if (is_relative(m))
        start = (uint64_t)(uintptr_t)(m->space == ZS_PORT_SPACE_PAYLOAD && port->payload
                                          ? port->payload
                                          : port->scratch + port->scratch_start);
    else if (m->bti < port->surface_count)
        start = (uint64_t)(uintptr_t)port->surfaces[m->bti].base - port->surfaces[m->bti].gpu_va;
    zs_port_accesses(port, m, src0, mask, &r);
    for (uint32_t i = 0; i < r.count; i++)
        add_bytes(t, r.pieces[i].address - start, r.pieces[i].size_B);
}

/* Prefetches, too. */
static void touch_block2d(const struct zs_port_message *m, const uint8_t *src0,
                          struct zs_port_footprint *t)
{
    uint64_t gpu_va;
    uint32_t size_B;
    for (uint32_t i = 0; zs_port_block2d_row(m, src0, i, &gpu_va, &size_B); i++)
        add_bytes(t, gpu_va, size_B);
}

/* Vectors by lane, or one of them at one place. */
static void touch_lsc(const struct zs_port *port, const struct zs_port_message *m,
                      const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
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
        touch_addresses(port, m, src0, mask, t);
        return;
    }
    touch_block(port, m, src0, mask, t);
}

/* ---- images ------------------------------------------------------------------------------------
 * Hardware tiles images so that a line holds 16 bytes of four rows (Y tiles). Here rows are
 * linear; the lines are those that tiling would give, named by the place of their first texel. */

static void add_texel(const struct zs_port_surface *s, const int64_t coordinate[3],
                      struct zs_port_footprint *t)
{
    const uint8_t *texel = zs_port_surface_texel(s, coordinate);
    if (!texel)
        return;
    uint64_t at_B = (uint64_t)(texel - s->base);
    if (s->dimensions < 2 || s->tiling != ZS_LINEAR) {
        add_bytes(t, s->gpu_va + at_B, s->format->texel_B);
        return;
    }
    uint64_t x_B = (uint64_t)coordinate[0] * s->format->texel_B, y = (uint64_t)coordinate[1];
    uint64_t tiles = s->row_pitch_B / TILE_B; /* in a row of them */
    uint64_t tile = y / TILE_ROWS * tiles + x_B / TILE_B;
    uint64_t slice_B = at_B - y * s->row_pitch_B - x_B;
    add_line(t, (s->gpu_va + slice_B + tile * ZS_PORT_LINE_B) >> LINE_SHIFT);
}

static void touch_texels(const struct zs_port_surface *s, const struct zs_port_message *m,
                         const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    int32_t at[3][ZS_PORT_TEXELS];
    zs_port_coordinates(m, src0, at);
    ZS_PORT_FOR_LANES(lane, mask)
    {
        const int64_t coordinate[3] = {at[0][lane], at[1][lane], at[2][lane]};
        add_texel(s, coordinate, t);
    }
}

/* A block's first and last byte may lie in the midst of texels. Outside reads repeat the edge. */
static void touch_media(const struct zs_port_surface *s, const struct zs_port_message *m,
                        const uint8_t *header, struct zs_port_footprint *t)
{
    struct zs_port_media block = zs_port_media(m, header);
    uint32_t texel_B = s->format->texel_B;
    int64_t x_B = block.x_B, y = block.y, end_B = x_B + block.width_B;
    for (int64_t row = y; row < y + block.height; row++) {
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
                          struct zs_port_footprint *t)
{
    const struct zs_port_sampler *sampler = zs_port_sampler_of(port, m, src0);
    if (!sampler)
        return;
    const uint32_t size[3] = {s->width, s->height, s->depth};
    float coordinates[3][ZS_PORT_TEXELS];
    for (uint32_t i = 0; i < 3; i++)
        zs_port_parameters(m, src0, m->channels + i * (1u + m->returns), coordinates[i]);
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t first[3] = {0};
        for (uint32_t i = 0; i < ZS_MIN(s->dimensions + (s->is_array ? 1u : 0u), 3u); i++) {
            float u = coordinates[i][lane];
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
                        const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    const struct zs_port_surface *s = zs_port_image(port, m);
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

void zs_port_footprint(const struct zs_port *port, const struct zs_port_message *m,
                       const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    t->line_count = 0;
    t->slm_cycles = t->slm_conflicts = t->atomic_lanes = t->texels = t->dwords = 0;
    if (m->lanes)
        mask &= zs_port_lane_mask(m->lanes);
    switch ((enum zs_port_shape)m->shape) {
    case ZS_PORT_SHAPE_NONE:
        break;
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
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
    case ZS_PORT_SHAPE_SCRATCH:
    case ZS_PORT_SHAPE_A64_BLOCK:
        touch_block(port, m, src0, mask, t);
        break;
    case ZS_PORT_SHAPE_TYPED:
    case ZS_PORT_SHAPE_MEDIA:
    case ZS_PORT_SHAPE_SAMPLE:
    case ZS_PORT_SHAPE_TEXEL:
        touch_image(port, m, src0, mask, t);
        break;
    }
}
