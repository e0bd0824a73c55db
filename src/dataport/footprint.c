/* SPDX-License-Identifier: MIT */
/*
 * What a message touches, found from its payload before it is executed: cache lines of memory, the
 * conflicts of local memory's banks, lanes of atomics that meet. Nothing here refuses or faults:
 * addresses that lead nowhere touch nothing, and executing the message says so.
 */
#include "dataport/dataport_priv.h"

#include <math.h>
#include <smmintrin.h>

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

/* Lanes that follow each other, a dword each, or all ask for the same one: as most messages do. */
static bool find_row(struct zs_port_footprint *t, uint32_t span_B, const uint64_t *offset,
                     uint32_t mask)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), lanes = (uint32_t)__builtin_popcount(mask);
    uint64_t start = offset[first], row = 0, same = 0;
    if (span_B != 4 || start % 4 || (mask >> first) + (uint64_t)1 != UINT64_C(1) << lanes)
        return false;
    for (uint32_t i = 0; i < lanes; i++) {
        row |= offset[first + i] ^ (start + 4 * (uint64_t)i);
        same |= offset[first + i] ^ start;
    }
    t->slm_cycles = (uint16_t)(same ? (lanes + BANKS - 1) / BANKS : 1);
    t->slm_conflicts = 0;
    return !row || !same;
}

/* Dwords that the lanes name, each once, by bank: the fullest bank decides how long it takes. */
static void find_conflicts(struct zs_port_footprint *t, const struct zs_port_message *m,
                           const uint64_t *offset, uint32_t mask)
{
    enum { BANK_DWORDS = 64 };
    uint32_t dwords[BANKS][BANK_DWORDS], per_bank[BANKS] = {0}, fullest = 0, count = 0;
    uint32_t span_B = span_of(m);
    uint64_t before = UINT64_MAX;
    if (mask == UINT32_MAX && !memcmp(offset, offset + 16, 16 * sizeof(*offset)))
        mask = 0xffff; /* rows of sixteen */
    if (mask && find_row(t, span_B, offset, mask))
        return;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        if (offset[lane] == before)
            continue;
        before = offset[lane];
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

/* ---- banks, sixteen lanes at once --------------------------------------------------------------
 * Without a branch: which lanes share a dword or a bank follows from data, and hosts cannot guess
 * it.
 */

/* How many before it are the same, of 16 words: each is held against those 1 to 15 places ahead. */
static inline void count_words(const __m128i word[2], __m128i ret[2])
{
    const __m128i none = _mm_set1_epi32(-1);
    __m128i low = _mm_setzero_si128(), high = _mm_cmpeq_epi16(word[1], word[0]), ahead;
#define AHEAD(n) /* and n + 8 */                                                                   \
    ahead = _mm_alignr_epi8(word[0], none, 16 - 2 * (n));                                          \
    low = _mm_add_epi16(low, _mm_cmpeq_epi16(word[0], ahead));                                     \
    high = _mm_add_epi16(high, _mm_cmpeq_epi16(word[1], ahead));                                   \
    ahead = _mm_alignr_epi8(word[1], word[0], 16 - 2 * (n));                                       \
    high = _mm_add_epi16(high, _mm_cmpeq_epi16(word[1], ahead))
    AHEAD(1);
    AHEAD(2);
    AHEAD(3);
    AHEAD(4);
    AHEAD(5);
    AHEAD(6);
    AHEAD(7);
#undef AHEAD
    ret[0] = _mm_sub_epi16(_mm_setzero_si128(), low);
    ret[1] = _mm_sub_epi16(_mm_setzero_si128(), high);
}

/* The same of 16 bytes. */
static inline __m128i count_bytes(__m128i byte)
{
    const __m128i none = _mm_set1_epi32(-1);
    __m128i count = _mm_setzero_si128();
#define AHEAD(n)                                                                                   \
    count = _mm_sub_epi8(count, _mm_cmpeq_epi8(byte, _mm_alignr_epi8(byte, none, 16 - (n))))
#define THREE_AHEAD(n)                                                                             \
    AHEAD(n);                                                                                      \
    AHEAD((n) + 1);                                                                                \
    AHEAD((n) + 2)
    THREE_AHEAD(1);
    THREE_AHEAD(4);
    THREE_AHEAD(7);
    THREE_AHEAD(10);
    THREE_AHEAD(13);
#undef THREE_AHEAD
#undef AHEAD
    return count;
}

static inline uint32_t most_of_words(__m128i words)
{
    const __m128i ones = _mm_set1_epi16(-1);
    return 0xffff & ~(uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(words, ones)));
}

/* Lanes of `mask` whose dwords are told apart by 15 bits: as words, and words of no other lane.
 * False: some lie farther away, or not at a multiple of four bytes. */
static inline bool load_dwords(const uint8_t *offsets, uint32_t scale, uint32_t mask,
                               __m128i word[2], __m128i on[2])
{
    static const uint32_t bits[16] = {1u << 0,  1u << 1,  1u << 2,  1u << 3, 1u << 4,  1u << 5,
                                      1u << 6,  1u << 7,  1u << 8,  1u << 9, 1u << 10, 1u << 11,
                                      1u << 12, 1u << 13, 1u << 14, 1u << 15};
    const __m128i lanes = _mm_set1_epi32((int)mask), shift = _mm_cvtsi32_si128(scale == 1 ? 2 : 0);
    const __m128i kept = _mm_set1_epi32(scale == 1 ? SLM_OFFSET_MASK : SLM_OFFSET_MASK / 4);
    __m128i odd = _mm_setzero_si128(), dword[4], of[4];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++) {
        __m128i bit = _mm_loadu_si128((const __m128i *)(const void *)bits + i);
        of[i] = _mm_cmpeq_epi32(_mm_and_si128(lanes, bit), bit);
        dword[i] = _mm_setzero_si128(); /* a payload may have no more than eight lanes */
        if (i < 2 || mask > 0xff)
            dword[i] = _mm_loadu_si128((const __m128i *)(const void *)offsets + i);
        dword[i] = _mm_and_si128(_mm_and_si128(dword[i], kept), of[i]);
        __m128i rest = _mm_and_si128(dword[i], _mm_set1_epi32(scale == 1 ? 3 : 0));
        dword[i] = _mm_srl_epi32(dword[i], shift);
        odd = _mm_or_si128(odd, _mm_or_si128(rest, _mm_srli_epi32(dword[i], 15)));
    }
    for (uint32_t i = 0; i < 2; i++) {
        const __m128i own = _mm_add_epi16(_mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0),
                                          _mm_set1_epi16((short)(0x8000 + 8 * i)));
        on[i] = _mm_packs_epi32(of[2 * i], of[2 * i + 1]);
        word[i] = _mm_blendv_epi8(own, _mm_packus_epi32(dword[2 * i], dword[2 * i + 1]), on[i]);
    }
    return _mm_testz_si128(odd, odd);
}

/* find_conflicts() of up to 16 lanes with a dword each, and how many lanes share one. False: they
 * have not. */
static bool find_dwords(struct zs_port_footprint *t, const struct zs_port_message *m,
                        const uint8_t *offsets, uint32_t scale, uint32_t mask)
{
    const __m128i zero = _mm_setzero_si128(), fifteen = _mm_set1_epi16(15);
    const __m128i own = _mm_or_si128(
        _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm_set1_epi8(-128));
    __m128i word[2], on[2], same[2];
    if (span_of(m) != 4 || mask == 0 || mask > 0xffff ||
        !load_dwords(offsets, scale, mask, word, on))
        return false;
    count_words(word, same);
    for (uint32_t i = 0; i < 2; i++) /* each dword once */
        on[i] = _mm_and_si128(on[i], _mm_cmpeq_epi16(same[i], zero));
    __m128i first = _mm_packs_epi16(on[0], on[1]);
    __m128i bank =
        _mm_packus_epi16(_mm_and_si128(word[0], fifteen), _mm_and_si128(word[1], fifteen));
    __m128i in_bank = count_bytes(_mm_blendv_epi8(own, bank, first));
    uint32_t fullest = 1 + most_of_words(_mm_max_epu16(_mm_unpacklo_epi8(in_bank, zero),
                                                       _mm_unpackhi_epi8(in_bank, zero)));
    uint32_t count = (uint32_t)__builtin_popcount((uint32_t)_mm_movemask_epi8(first));
    if (m->bytes_read && m->bytes_written)
        t->atomic_lanes = (uint16_t)(1 + most_of_words(_mm_max_epu16(same[0], same[1])));
    t->slm_cycles = (uint16_t)fullest;
    t->slm_conflicts = (uint16_t)(fullest - (count + BANKS - 1) / BANKS);
    return true;
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
                        uint64_t address[FOOTPRINT_LANES], uint32_t mask,
                        struct zs_port_footprint *t)
{
    bool in_slm = m->space == ZS_PORT_SPACE_SLM;
    ZS_PORT_FOR_LANES(lane, in_slm ? mask : 0)
    address[lane] &= SLM_OFFSET_MASK;
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

/* Most messages have offsets that rise evenly. Of sixteen lanes: */
static inline bool sixteen_rise_evenly(const uint8_t *offsets, uint32_t *ret_step)
{
    uint32_t step = zs_port_load32(offsets + 4) - zs_port_load32(offsets);
    const __m128i steps = _mm_set1_epi32((int)step);
    static const uint8_t at_B[4] = {0, 16, 32, 44}; /* and each against the one behind it */
    __m128i off = _mm_setzero_si128();
#pragma GCC unroll 4
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(at_B); i++) {
        __m128i own = _mm_loadu_si128((const __m128i *)(const void *)(offsets + at_B[i]));
        __m128i next = _mm_loadu_si128((const __m128i *)(const void *)(offsets + at_B[i] + 4));
        off = _mm_or_si128(off, _mm_xor_si128(_mm_sub_epi32(next, own), steps));
    }
    *ret_step = step;
    return _mm_testz_si128(off, off);
}

/* Of others: four at a time, each against its neighbour. lanes:
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
           uint32_t scale, uint32_t lanes, struct zs_port_footprint *t)
{
    uint32_t step, span_B = span_of(m);
    bool even =
        lanes == 16 ? sixteen_rise_evenly(offsets, &step) : rises_evenly(offsets, lanes, &step);
    if (!even || step > 64)
        return false;
    uint64_t first = (uint64_t)zs_port_load32(offsets) * scale;
    uint64_t last = first + (uint64_t)step * scale * (lanes - 1), size_B;
    if (step * scale > ZS_PORT_LINE_B || last + span_B > UINT32_MAX)
        return false;
    if (m->bytes_read && m->bytes_written)
        t->atomic_lanes = (uint16_t)(step ? 1 : lanes);
    if (m->space == ZS_PORT_SPACE_SLM) {
        bool fits = step ? step * scale == 4 && span_B == 4 : span_B % 4 == 0 && span_B <= 64;
        if (!fits || first % 4 || last > SLM_OFFSET_MASK)
            return false;
        t->slm_cycles = (uint16_t)(step ? (lanes + BANKS - 1) / BANKS : 1);
        return true;
    }
    uint64_t base = base_of(port, m, &size_B);
    if (last >= size_B)
        return false;
    for (uint64_t line = (base + first) >> LINE_SHIFT,
                  end = (base + last + span_B - 1) >> LINE_SHIFT;
         line <= end && t->line_count < ZS_PORT_FOOTPRINT_LINES; line++)
        t->lines[t->line_count++] = line;
    return true;
}

/* Of all 32 lanes those that stand for the others: halves are the same, or one place each. */
static inline uint32_t few_lanes(const uint8_t *offsets, uint32_t mask)
{
    uint32_t first, second;
    if (mask != UINT32_MAX || !memcmp(offsets, offsets + 64, 64))
        return mask == UINT32_MAX ? 0xffff : mask;
    bool even = sixteen_rise_evenly(offsets, &first) && sixteen_rise_evenly(offsets + 64, &second);
    return even && !first && !second ? 0x10001 : mask;
}

static void touch_each(const struct zs_port *port, const struct zs_port_message *m,
                       const uint8_t *offsets, uint32_t scale, uint32_t mask,
                       struct zs_port_footprint *t)
{
    uint64_t address[FOOTPRINT_LANES];
    if (m->space == ZS_PORT_SPACE_SLM && find_dwords(t, m, offsets, scale, mask))
        return;
    ZS_PORT_FOR_LANES(lane, mask)
    address[lane] = (uint64_t)zs_port_load32(offsets + (size_t)lane * 4) * scale;
    touch_lanes(port, m, address, mask, t);
}

static void touch_offsets(const struct zs_port *port, const struct zs_port_message *m,
                          const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    const uint8_t *at = src0 + m->header_grf * GRF_B;
    uint32_t scale = m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ? 4 : 1;
    uint32_t lanes = mask ? 32 - (uint32_t)__builtin_clz(mask) : 0;
    bool is_full = lanes && lanes % 8 == 0 && (mask & (mask + 1)) == 0;
    if (is_full && touch_even(port, m, at, scale, lanes, t))
        return;
    if (!(m->bytes_read && m->bytes_written)) /* lanes of atomics count */
        mask = few_lanes(at, mask);
    if (lanes != 32 || mask != 0xffff || !touch_even(port, m, at, scale, 16, t))
        touch_each(port, m, at, scale, mask, t);
}

/* Addresses that rise evenly, none beyond the other's line: false when it is not so. */
static bool touch_row(const struct zs_port *port, const struct zs_port_message *m,
                      const uint8_t *at, uint32_t mask, struct zs_port_footprint *t)
{
    uint32_t lanes = mask ? 32 - (uint32_t)__builtin_clz(mask) : 0;
    if (lanes < 2 || (mask & (mask + 1)) != 0)
        return false;
    uint64_t first = zs_port_load64(at), step = zs_port_load64(at + 8) - first, off = 0, size_B;
    for (uint32_t i = 2; i < lanes; i++)
        off |= zs_port_load64(at + 8 * (size_t)i) - first - step * i;
    uint64_t start = first + base_of(port, m, &size_B),
             end = start + step * (lanes - 1) + span_of(m);
    if (off || step > ZS_PORT_LINE_B || end <= start || m->space == ZS_PORT_SPACE_SLM)
        return false;
    if (m->bytes_read && m->bytes_written)
        t->atomic_lanes = (uint16_t)(step ? 1 : lanes);
    for (uint64_t line = start >> LINE_SHIFT;
         line <= (end - 1) >> LINE_SHIFT && t->line_count < ZS_PORT_FOOTPRINT_LINES; line++)
        t->lines[t->line_count++] = line;
    return true;
}

static void touch_addresses(const struct zs_port *port, const struct zs_port_message *m,
                            const uint8_t *src0, uint32_t mask, struct zs_port_footprint *t)
{
    const uint8_t *at = src0 + m->header_grf * GRF_B;
    uint64_t address[FOOTPRINT_LANES];
    if (touch_row(port, m, at, mask, t))
        return;
    ZS_PORT_FOR_LANES(lane, mask)
    address[lane] = zs_port_load64(at + (size_t)lane * 8);
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
    if (m->shape == ZS_PORT_SHAPE_A64_BLOCK || has_addresses(m)) {
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
        if (has_addresses(m))
            touch_addresses(port, m, src0, mask, t);
        else
            touch_offsets(port, m, src0, mask, t);
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
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t coordinate[3];
        zs_port_coordinates(m, src0, lane, coordinate);
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
    ZS_PORT_FOR_LANES(lane, mask)
    {
        int64_t first[3] = {0};
        for (uint32_t i = 0; i < ZS_MIN(s->dimensions + (s->is_array ? 1u : 0u), 3u); i++) {
            uint32_t bits = zs_port_parameter(m, src0, m->channels + i * (1u + m->returns), lane);
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
