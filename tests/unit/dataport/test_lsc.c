/* SPDX-License-Identifier: MIT */
/*
 * Load/store cache messages against a plain reading of their layout: each lane, each component on
 * its own, from descriptors that are put together here.
 */
#include "fixture.h"

#include "base/small_float.h"

#include <errno.h>

enum { UGM = 15, UGML = 1, SLM_SFID = 14, FLAT = 0, BINDLESS, SURFACE_STATE, TABLE };
enum { LOAD = 0, LOAD_STRIDED, LOAD_QUAD, STORE = 4, STORE_STRIDED, STORE_QUAD };
enum { STORE_UNCOMPRESSED = 0x1c, STORE_UNCOMPRESSED_QUAD = 0x20 };
enum { FILE_B = 4096, LANES = 32 };

/* SURFACE64: by offsets of 64 bits; BY_HANDLE: a surface whose state the descriptor names */
enum where { A64, SURFACE, LOCAL, SCRATCH, LOCAL16, SURFACE64, BY_HANDLE, WHERE_COUNT };
enum { HANDLE = 2 }; /* index of its surface */

struct shape {
    enum where where;
    uint32_t data, element_B, slot_B; /* code of the data size */
    uint32_t vector, length;          /* code of the vector's length */
    uint32_t lanes, grf_B;
    bool transposed;
    bool even; /* all lanes, `step_B` apart */
    uint32_t step_B;
    uint32_t operation;   /* added to LOAD and STORE: 0; strided, which is even; quads */
    uint32_t channels;    /* of quads: `length` of four */
    bool is_low_priority; /* UGML */
    int32_t offset;       /* of all addresses, in the instruction: Xe2's */
};

static bool is_local(enum where where)
{
    return where == LOCAL || where == LOCAL16;
}

static bool is_surface(enum where where)
{
    return where == SURFACE || where == SURFACE64 || where == BY_HANDLE;
}

/* Byte of component e behind a lane's address. */
static uint32_t component_at(const struct shape *s, uint32_t e)
{
    uint32_t channel = 0;
    if (s->operation != LOAD_QUAD)
        return e * s->element_B;
    for (;; channel++) {
        if (s->channels >> channel & 1 && e-- == 0)
            return channel * s->element_B;
    }
}

static uint32_t span_of(const struct shape *s)
{
    return component_at(s, s->length - 1) + s->element_B;
}

static uint32_t registers(uint32_t size_B, uint32_t grf_B)
{
    return (size_B + grf_B - 1) / grf_B;
}

/* A payload has room for as many lanes as dwords fill a register. */
static uint32_t payload_lanes(const struct shape *s)
{
    return s->transposed || s->lanes > s->grf_B / 4 ? s->lanes : s->grf_B / 4;
}

static uint32_t address_B(const struct shape *s)
{
    return s->where == A64 || s->where == SURFACE64 ? 8 : s->where == LOCAL16 ? 2 : 4;
}

static uint8_t *memory_of(struct fixture *f, enum where where, uint32_t *ret_size_B)
{
    *ret_size_B = is_local(where) ? SLM_B : where == SCRATCH ? SCRATCH_SLOT_B : MEMORY_B;
    return is_local(where) ? f->slm : where == SCRATCH ? f->scratch + SCRATCH_SLOT_B : f->memory;
}

static bool execute(struct fixture *f, uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                    uint32_t mask)
{
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    return f->row->run(&f->port, &f->message, dst, src0, src1, mask);
}

static int prepare(struct fixture *f, const struct shape *s, uint32_t op, uint32_t operands,
                   bool response)
{
    uint32_t component_B = registers(payload_lanes(s) * s->slot_B, s->grf_B) * s->grf_B;
    uint32_t data_B = s->transposed ? s->length * s->element_B : s->length * component_B;
    static const uint32_t kinds[WHERE_COUNT] = {
        [SURFACE] = TABLE, [SURFACE64] = TABLE, [SCRATCH] = SURFACE_STATE, [BY_HANDLE] = BINDLESS};
    uint32_t data = registers(data_B, s->grf_B), kind = kinds[s->where];
    f->surfaces[HANDLE] = f->surfaces[0];
    uint32_t vector = s->operation == LOAD_QUAD ? s->channels : s->vector;
    struct zs_diag diag = {0};
    struct zs_isa_send send = {
        .sfid = is_local(s->where)   ? SLM_SFID
                : s->is_low_priority ? UGML
                                     : UGM,
        .desc = (op + s->operation) | (uint32_t)__builtin_ctz(address_B(s)) << 7 | s->data << 9 |
                vector << 12 | (uint32_t)s->transposed << 15 | kind << 29,
        .ex_desc = s->where == SCRATCH     ? ZS_PORT_SCRATCH_HANDLE >> 4
                   : s->where == BY_HANDLE ? HANDLE << 6
                                           : 0,
        .mlen =
            s->operation == LOAD_STRIDED ? 1 : registers(payload_lanes(s) * address_B(s), s->grf_B),
        .xlen = data * operands,
        .rlen = response ? data : 0,
        .generation = s->offset ? zs_isa_generation(ZS_ISA_XE2) : later(s->grf_B),
        .exec_size = s->lanes,
        .ex_in_register = kind == BINDLESS || kind == SURFACE_STATE,
        .is_surface_offset = s->where == SCRATCH || s->where == BY_HANDLE,
    };
    uint32_t offset = (uint32_t)s->offset;
    if (send.ex_in_register) /* around the number of the register */
        send.ex_offset = (offset & 15) << 12 | offset >> 4 << 19;
    else
        send.ex_desc |= kind == TABLE ? (offset & 0xfff) << 12 : offset << 12;
    return zs_port_message_decode(&send, &f->message, &f->row, &diag);
}

/* Addresses in the payload that the instruction's offset brings to where they were. */
static void move_back(const struct shape *s, uint8_t *addresses)
{
    for (uint32_t lane = 0; lane < (s->operation == LOAD_STRIDED ? 1 : s->lanes); lane++) {
        uint64_t address = 0;
        memcpy(&address, addresses + (size_t)lane * address_B(s), address_B(s));
        address -= (uint64_t)(int64_t)s->offset;
        memcpy(addresses + (size_t)lane * address_B(s), &address, address_B(s));
    }
}

/* Offsets of the lanes in the memory, and as addresses: apart from each other, since the order of
 * lanes that meet is not defined. The last one may reach outside a surface. Where lanes are evenly
 * apart the second sixteen begin elsewhere in half of all cases. */
static void place(struct fixture *f, const struct shape *s, uint64_t *seed, uint32_t *ret_offset,
                  uint8_t *addresses)
{
    uint32_t size_B, span_B = span_of(s);
    (void)memory_of(f, s->where, &size_B);
    bool strided = s->operation == LOAD_STRIDED;
    uint32_t slice_B = size_B / s->lanes, whole_B = s->step_B * (s->lanes - 1) + span_B;
    uint32_t first = s->even ? random_u32(seed) % (size_B - whole_B + 1) : 0;
    if (s->even && is_surface(s->where) && random_u32(seed) % 4 == 0)
        first = size_B - whole_B + s->step_B; /* the last lane is outside */
    uint32_t half_B = s->step_B * 15 + span_B, second = first / s->element_B;
    second += s->step_B * 16 / s->element_B;
    if (s->even && !strided && s->lanes == LANES && random_u32(seed) & 1 && half_B <= size_B / 2) {
        first = random_u32(seed) % (size_B / 2 - half_B + 1);
        second = (size_B / 2 + random_u32(seed) % (size_B / 2 - half_B + 1)) / s->element_B;
    }
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        uint32_t inner = random_u32(seed) % (slice_B - span_B + 1) / s->element_B * s->element_B;
        uint32_t offset = lane * slice_B + inner;
        if (is_surface(s->where) && !s->transposed && lane == s->lanes - 1 && random_u32(seed) & 1)
            offset = size_B + s->element_B - random_u32(seed) % 3 * s->element_B;
        if (s->even)
            offset = lane < 16 ? first / s->element_B * s->element_B + lane * s->step_B
                               : second * s->element_B + (lane - 16) * s->step_B;
        uint64_t address = s->where == A64 ? address_of(f) + offset : offset;
        ret_offset[lane] = offset;
        if (!strided || lane == 0)
            memcpy(addresses + (size_t)lane * address_B(s), &address, address_B(s));
    }
    if (strided) /* the base stands in the first dwords */
        memcpy(addresses + 8, &s->step_B, 4);
}

/* The word of a slot that has an element of D16U32H. */
static uint32_t inner_B(const struct shape *s)
{
    return s->data == 6 ? 2 : 0;
}

static uint32_t place_in_register(const struct shape *s, uint32_t lane, uint32_t e)
{
    uint32_t component_B = registers(payload_lanes(s) * s->slot_B, s->grf_B) * s->grf_B;
    return s->transposed ? e * s->element_B : e * component_B + lane * s->slot_B;
}

/* Registers full of something: a piece of random bytes that are made once. */
static void fill_registers(uint8_t registers_[FILE_B], uint64_t *seed)
{
    static uint8_t pool[2 * FILE_B];
    if (!pool[0] && !pool[1] && !pool[2])
        fill_random(pool, sizeof(pool), seed);
    memcpy(registers_, pool + random_u32(seed) % FILE_B, FILE_B);
}

/* What IGC's verification of vISA lets pass. */
static bool is_legal(const struct shape *s, bool is_store)
{
    uint32_t row = s->slot_B * s->lanes / s->grf_B, most = 8;
    bool widened = s->slot_B != s->element_B, is_vector = s->length > 1;
    if (s->transposed)
        return s->lanes == 1 && !(widened && is_vector) &&
               s->length * s->element_B <= most * s->grf_B;
    if (s->operation == LOAD_QUAD) {
        bool first = s->channels == 1 || s->channels == 3 || s->channels == 7 || s->channels == 15;
        return (first || !is_store) && s->length * (row ? row : 1) <= most;
    }
    if (is_vector && s->data != 2 && s->data != 3)
        return false;
    if (s->is_low_priority && !is_local(s->where) && (s->length == 3 || s->length == 8))
        return false;
    return s->length <= 8 && s->length * (row ? row : 1) <= most;
}

static void check_shape(struct fixture *f, const struct shape *s, uint64_t *seed)
{
    static _Alignas(64) uint8_t src0[FILE_B], src1[FILE_B], dst[FILE_B], want[FILE_B];
    static uint8_t before[MEMORY_B];
    uint32_t offset[LANES], size_B;
    uint8_t *memory = memory_of(f, s->where, &size_B);
    uint32_t mask = s->lanes == 32 ? UINT32_MAX : (1u << s->lanes) - 1;
    if (s->lanes > 1 && (!s->even || random_u32(seed) % 4 == 0))
        mask &= random_u32(seed) | 1;
    for (int is_store = 0; is_store < 2; is_store++) {
        if (is_store && s->even && s->step_B < span_of(s))
            continue; /* lanes meet */
        if (!is_legal(s, is_store)) {
            assert_int_equal(prepare(f, s, is_store ? STORE : LOAD, is_store ? 1 : 0, !is_store),
                             -EINVAL);
            continue;
        }
        fill_registers(src1, seed);
        fill_registers(dst, seed);
        place(f, s, seed, offset, src0);
        assert_int_equal(prepare(f, s, is_store ? STORE : LOAD, is_store ? 1 : 0, !is_store), 0);
        move_back(s, src0);
        assert_int_equal(zs_port_moves(&f->message), s->offset != 0);
        if (s->offset)
            zs_port_move(&f->message, src0);
        bool in_place = !is_store && random_u32(seed) % 4 == 0; /* over the addresses */
        if (in_place)
            memcpy(dst, src0, f->message.mlen * 32u);
        memcpy(want, dst, sizeof(want));
        memcpy(before, memory, size_B);
        for (uint32_t lane = 0; lane < s->lanes; lane++) {
            for (uint32_t e = 0; mask >> lane & 1 && e < s->length; e++) {
                uint32_t at = place_in_register(s, lane, e);
                uint64_t from = (uint64_t)offset[lane] + component_at(s, e);
                bool inside = from + s->element_B <= size_B;
                if (is_store && inside)
                    memcpy(before + from, src1 + at + inner_B(s), s->element_B);
                if (!is_store) {
                    memset(want + at, 0, s->slot_B);
                    if (inside)
                        memcpy(want + at + inner_B(s), memory + from, s->element_B);
                }
            }
        }
        assert_true(execute(f, dst, in_place ? dst : src0, src1, mask));
        assert_memory_equal(memory, before, size_B);
        assert_memory_equal(dst, want, sizeof(want));
    }
}

static const struct {
    uint32_t code, element_B, slot_B;
} sizes[] = {{2, 4, 4}, {3, 8, 8}, {4, 1, 4}, {5, 2, 4}, {6, 2, 4}, {0, 1, 1}, {1, 2, 2}};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
static const uint32_t lengths[] = {1, 2, 3, 4, 8, 16, 32, 64};

static struct shape lanes_shape(uint32_t where, uint32_t size, uint32_t vector, uint32_t lanes,
                                uint32_t grf_B)
{
    return (struct shape){.where = (enum where)where,
                          .data = sizes[size].code,
                          .element_B = sizes[size].element_B,
                          .slot_B = sizes[size].slot_B,
                          .vector = vector,
                          .length = lengths[vector],
                          .lanes = lanes,
                          .grf_B = grf_B};
}

static void vectors_of_lanes(void **state)
{
    uint64_t seed = 11;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t where = 0; where < WHERE_COUNT; where++)
        for (uint32_t size = 0; size < SIZES; size++)
            for (uint32_t vector = 0; vector < 5; vector++)
                for (uint32_t lanes = 1; lanes <= LANES; lanes *= 2)
                    for (uint32_t grf_B = 32; grf_B <= 64; grf_B *= 2)
                        for (int turn = 0; turn < 4; turn++) {
                            struct shape s = lanes_shape(where, size, vector, lanes, grf_B);
                            s.is_low_priority = turn == 3 && grf_B == 64;
                            check_shape(f, &s, &seed);
                        }
    free(f);
}

/* An offset of either sign, as wide as the surface's kind lets it be. */
static void moved_addresses(void **state)
{
    static const uint32_t bits[WHERE_COUNT] = {
        [A64] = 20,     [SURFACE] = 12,   [LOCAL] = 20,    [SCRATCH] = 17,
        [LOCAL16] = 20, [BY_HANDLE] = 17, [SURFACE64] = 12};
    uint64_t seed = 29;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t i = 0; i < 40u * WHERE_COUNT; i++) {
        uint32_t where = i % WHERE_COUNT, most = 1u << (bits[where] - 1);
        struct shape s = lanes_shape(where, random_u32(&seed) % 5, 0, i & 8 ? 16 : 32, 64);
        s.offset = (int32_t)(random_u32(&seed) % most) + 1 - (i & 16 ? (int32_t)most : 1);
        s.offset = s.offset ? s.offset : -(int32_t)most;
        check_shape(f, &s, &seed);
    }
    struct shape early = lanes_shape(A64, 0, 0, 16, 64);
    struct zs_diag diag = {0};
    struct zs_isa_send send = {.sfid = UGM,
                               .desc = 0x580,
                               .ex_desc = 1 << 12,
                               .mlen = 2,
                               .rlen = 1,
                               .exec_size = early.lanes,
                               .generation = later(64)};
    assert_int_equal(zs_port_message_decode(&send, &f->message, &f->row, &diag), -EINVAL);
    assert_non_null(strstr(diag.text, "an offset of all addresses came with Xe2"));
    free(f);
}

static void lanes_evenly_apart(void **state)
{
    uint64_t seed = 17;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t where = 0; where <= LOCAL; where++)
        for (uint32_t size = 0; size < SIZES; size++)
            for (uint32_t vector = 0; vector < 4; vector++)
                for (uint32_t lanes = 2; lanes <= LANES; lanes *= 2)
                    for (uint32_t step = 0; step < 12; step++) {
                        uint32_t grf_B = step & 1 ? 32 : 64;
                        struct shape s = lanes_shape(where, size, vector, lanes, grf_B);
                        s.even = true;
                        s.step_B = step / 2 * s.element_B;
                        check_shape(f, &s, &seed);
                    }
    free(f);
}

/* One address and a distance; lanes need not be apart by more than 0. */
static void strided_vectors(void **state)
{
    uint64_t seed = 20;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t where = 0; where < WHERE_COUNT; where++)
        for (uint32_t size = 0; size < SIZES; size++)
            for (uint32_t vector = 0; vector < 4; vector++)
                for (uint32_t lanes = 1; lanes <= LANES; lanes *= 2)
                    for (uint32_t step = 0; step < 12; step++) {
                        uint32_t grf_B = step & 1 ? 32 : 64;
                        struct shape s = lanes_shape(where, size, vector, lanes, grf_B);
                        s.operation = LOAD_STRIDED;
                        s.even = true;
                        s.step_B = (step / 2 == 5 ? 8 : step / 2) * s.element_B;
                        if (s.step_B * (lanes - 1) + span_of(&s) <= SLM_B)
                            check_shape(f, &s, &seed);
                    }
    free(f);
}

/* All channel masks. */
static void quads(void **state)
{
    uint64_t seed = 21;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t where = 0; where < WHERE_COUNT; where++)
        for (uint32_t size = 0; size < SIZES; size++)
            for (uint32_t channels = 1; channels < 16; channels++)
                for (uint32_t lanes = 1; lanes <= LANES; lanes *= 2)
                    for (uint32_t grf_B = 32; grf_B <= 64; grf_B *= 2) {
                        struct shape s = lanes_shape(where, size, 0, lanes, grf_B);
                        s.operation = LOAD_QUAD;
                        s.channels = channels;
                        s.length = (uint32_t)__builtin_popcount(channels);
                        check_shape(f, &s, &seed);
                    }
    free(f);
}

static void transposed_vectors(void **state)
{
    uint64_t seed = 12;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t where = 0; where < WHERE_COUNT; where++)
        for (uint32_t size = 0; size < SIZES; size++)
            for (uint32_t vector = 0; vector < 8; vector++)
                for (uint32_t grf_B = 32; grf_B <= 64; grf_B *= 2) {
                    struct shape s = lanes_shape(where, size, vector, 1, grf_B);
                    s.transposed = true;
                    check_shape(f, &s, &seed);
                }
    free(f);
}

/* Memory is not compressed: they are the same stores. */
static void uncompressed_stores(void **state)
{
    static _Alignas(64) uint8_t src0[FILE_B], src1[FILE_B];
    uint64_t seed = 22;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    struct shape s = lanes_shape(A64, 0, 1, 16, 32);
    for (int quad = 0; quad < 2; quad++) {
        uint32_t offset[LANES], op = quad ? STORE_UNCOMPRESSED_QUAD : STORE_UNCOMPRESSED;
        fill_random(src1, sizeof(src1), &seed);
        place(f, &s, &seed, offset, src0);
        s.vector = quad ? 3 : 1; /* both: two dwords */
        assert_int_equal(prepare(f, &s, op, 1, false), 0);
        assert_true(execute(f, NULL, src0, src1, 0xffff));
        for (uint32_t lane = 0; lane < 16; lane++) {
            assert_memory_equal(f->memory + offset[lane], src1 + lane * 4, 4);
            assert_memory_equal(f->memory + offset[lane] + 4, src1 + 64 + lane * 4, 4);
        }
    }
    free(f);
}

/* Loads that nothing comes back of: of anything, from anywhere; caches are told what they touch. */
static void check_prefetch(struct fixture *f, const struct shape *s, uint64_t *seed)
{
    static _Alignas(64) uint8_t src0[FILE_B], dst[FILE_B], before[FILE_B];
    static struct zs_port_footprint touch;
    uint32_t offset[LANES], mask = s->lanes == 32 ? UINT32_MAX : (1u << s->lanes) - 1;
    place(f, s, seed, offset, src0);
    fill_random(dst, sizeof(dst), seed);
    memcpy(before, dst, sizeof(before));
    assert_int_equal(prepare(f, s, LOAD, 0, false), 0);
    assert_int_equal(f->message.bytes_read + f->message.bytes_written, 0);
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    assert_true(f->row->run(&f->port, &f->message, dst, src0, NULL, mask));
    zs_port_footprint(&f->port, &f->message, src0, mask, &touch);
    assert_true(s->where != A64 || touch.line_count > 0);
    memset(src0, 0x7f, sizeof(src0)); /* outside of everything */
    assert_true(f->row->run(&f->port, &f->message, dst, src0, NULL, mask));
    assert_memory_equal(dst, before, sizeof(dst));
    assert_int_equal(f->port.fault.kind, 0);
}

static void prefetches(void **state)
{
    uint64_t seed = 16;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t where = 0; where < WHERE_COUNT; where++)
        for (uint32_t size = 0; size < SIZES; size++)
            for (uint32_t vector = 0; vector < 8; vector++)
                for (uint32_t lanes = 1; lanes <= LANES; lanes *= 2)
                    for (int transposed = 0; transposed < 2; transposed++) {
                        struct shape s = lanes_shape(where, size, vector, lanes, 64);
                        s.transposed = transposed;
                        if (is_legal(&s, false))
                            check_prefetch(f, &s, &seed);
                    }
    free(f);
}

/* ---- blocks of two dimensions ---- */

enum { LOAD_2D = 3, STORE_2D = 7, ROW_B = 192, HEIGHT = 20 };

struct block {
    uint32_t size_B; /* of an element */
    bool transposed, vnni;
    uint32_t columns, rows, count;
    int32_t x, y;
    uint32_t width_B, height, pitch_B;
};

static uint32_t next_power(uint32_t n)
{
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* Byte of an element in registers of 64 bytes, and what all of them take. */
static uint32_t place_2d(const struct block *b, uint32_t which, uint32_t row, uint32_t column,
                         uint32_t *ret_block_B)
{
    uint32_t per_dword = b->vnni ? 4 / b->size_B : 1;
    uint32_t long_side = next_power(b->transposed ? b->rows : b->columns);
    uint32_t lines = b->transposed ? b->columns : (b->rows + per_dword - 1) / per_dword * per_dword;
    *ret_block_B = registers(long_side * lines * b->size_B, 64) * 64;
    uint32_t at = b->transposed ? column * long_side + row : row * long_side + column;
    if (b->vnni) /* lines of dwords, each of which has some rows of a column */
        at = row / per_dword * (long_side * per_dword) + column * per_dword + row % per_dword;
    return which * *ret_block_B + at * b->size_B;
}

static int prepare_2d(struct fixture *f, const struct block *b, uint32_t op, uint8_t *src0,
                      uint32_t data)
{
    struct zs_diag diag = {0};
    uint64_t base = address_of(f);
    const uint32_t words[] = {
        (uint32_t)base, (uint32_t)(base >> 32),
        b->width_B - 1, b->height - 1,
        b->pitch_B - 1, (uint32_t)b->x,
        (uint32_t)b->y, (b->columns - 1) | (b->rows - 1) << 8 | (b->count - 1) << 16};
    memcpy(src0, words, sizeof(words));
    const struct zs_isa_send send = {
        .sfid = UGM,
        .desc = op | (uint32_t)b->vnni << 7 | (uint32_t)__builtin_ctz(b->size_B) << 9 |
                (uint32_t)b->transposed << 15,
        .mlen = 1,
        .xlen = op == STORE_2D ? data : 0,
        .rlen = op == LOAD_2D ? data : 0,
        .generation = later(64),
        .exec_size = 16,
    };
    return zs_port_message_decode(&send, &f->message, &f->row, &diag);
}

/* What models of time and debuggers are told: the lines and the bytes that it moves. */
static void check_reach_2d(const struct fixture *f, const uint8_t *src0, const bool *moved)
{
    static struct zs_port_footprint touch;
    static struct zs_port_accesses reach;
    bool lines[MEMORY_B / ZS_PORT_LINE_B] = {false}, bytes[MEMORY_B] = {false};
    uint64_t base = address_of(f);
    zs_port_footprint(&f->port, &f->message, src0, 0xffff, &touch);
    zs_port_accesses(&f->port, &f->message, src0, 0xffff, &reach);
    assert_true(reach.whole);
    for (uint32_t i = 0; i < touch.line_count; i++)
        lines[touch.lines[i] - base / ZS_PORT_LINE_B] = true;
    for (uint32_t i = 0; i < reach.count; i++)
        memset(bytes + (reach.pieces[i].address - (uint64_t)(uintptr_t)f->memory), true,
               reach.pieces[i].size_B);
    assert_memory_equal(bytes, moved, sizeof(bytes));
    for (uint32_t i = 0; i < MEMORY_B; i += ZS_PORT_LINE_B)
        assert_true(lines[i / ZS_PORT_LINE_B] || !memchr(moved + i, true, ZS_PORT_LINE_B));
    for (uint32_t i = 0; i < touch.line_count; i++) {
        const bool *line = moved + (touch.lines[i] * ZS_PORT_LINE_B - base);
        assert_non_null(memchr(line, true, ZS_PORT_LINE_B));
    }
}

static void check_2d(struct fixture *f, const struct block *b, bool is_store, uint64_t *seed)
{
    static _Alignas(64) uint8_t src0[FILE_B], src1[FILE_B], dst[FILE_B], want[FILE_B];
    static uint8_t before[MEMORY_B];
    static bool moved[MEMORY_B];
    uint32_t block_B = 0;
    place_2d(b, 0, 0, 0, &block_B);
    uint32_t data = block_B * b->count / 64;
    if (data > 32) /* 32 are said as 31, what the port is told are those that there are */
        return;
    fill_random(src1, sizeof(src1), seed);
    fill_random(dst, sizeof(dst), seed);
    memcpy(want, dst, sizeof(want));
    memset(want, 0, is_store ? 0 : data * 64);
    memcpy(before, f->memory, MEMORY_B);
    memset(moved, 0, sizeof(moved));
    assert_int_equal(prepare_2d(f, b, is_store ? STORE_2D : LOAD_2D, src0, data), 0);
    for (uint32_t which = 0; which < b->count; which++)
        for (uint32_t row = 0; row < b->rows; row++)
            for (uint32_t column = 0; column < b->columns; column++) {
                int64_t x = (int64_t)b->x + which * b->columns + column, y = (int64_t)b->y + row;
                uint32_t at = place_2d(b, which, row, column, &block_B);
                if (x < 0 || y < 0 || (x + 1) * b->size_B > b->width_B || y >= b->height)
                    continue;
                uint8_t *from = (is_store ? before : f->memory) + y * b->pitch_B + x * b->size_B;
                memcpy(is_store ? from : want + at, is_store ? src1 + at : from, b->size_B);
                memset(moved + y * b->pitch_B + x * b->size_B, true, b->size_B);
            }
    check_reach_2d(f, src0, moved);
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    assert_true(f->row->run(&f->port, &f->message, dst, src0, src1, 0xffff));
    assert_memory_equal(f->memory, before, MEMORY_B);
    assert_memory_equal(dst, want, sizeof(want));
}

static void blocks_of_two_dimensions(void **state)
{
    uint64_t seed = 14;
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
    fixture_init(f, &seed);
    uint32_t ran = 0;
    for (int turn = 0; turn < 20000; turn++) {
        struct block b = {.size_B = 1u << random_u32(&seed) % 4,
                          .width_B = 64 + random_u32(&seed) % 33 * 4,
                          .height = 1 + random_u32(&seed) % HEIGHT,
                          .pitch_B = ROW_B,
                          .rows = 1 + random_u32(&seed) % 32,
                          .count = 1u << random_u32(&seed) % 3};
        bool is_store = random_u32(&seed) & 1;
        b.columns =
            (1 + random_u32(&seed) % (b.size_B < 8 ? 16 : 8)) * (b.size_B < 4 ? 4 / b.size_B : 1);
        b.transposed = !is_store && b.size_B >= 4 && random_u32(&seed) & 1;
        b.vnni = !is_store && b.size_B <= 2 && random_u32(&seed) & 1;
        uint32_t step = b.size_B < 4 ? 4 / b.size_B : 1;
        b.x = ((int32_t)(random_u32(&seed) % 64) - 20) * (int32_t)step;
        b.y = (int32_t)(random_u32(&seed) % 40) - 15;
        if (is_store) {
            b.rows = 1 + (b.rows - 1) % 8;
            b.count = 1;
        }
        if (b.columns * b.size_B * b.count > 64)
            continue;
        check_2d(f, &b, is_store, &seed);
        ran++;
    }
    assert_true(ran > 5000);
    free(f);
}

/* What no surface or block may be is a fault; nothing is read or written. */
static void blocks_that_are_not_allowed(void **state)
{
    static _Alignas(64) uint8_t src0[FILE_B], src1[FILE_B], dst[FILE_B];
    static const struct block good = {.size_B = 4,
                                      .columns = 8,
                                      .rows = 4,
                                      .count = 1,
                                      .width_B = 128,
                                      .height = 16,
                                      .pitch_B = ROW_B};
    struct block bad[8];
    uint64_t seed = 15;
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
    fixture_init(f, &seed);
    for (size_t i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].width_B = 60;
    bad[1].width_B = 126;
    bad[2].pitch_B = 124;
    bad[3].pitch_B = 132;
    bad[4].columns = 17;
    bad[5].rows = 33;
    bad[6].count = 3;
    bad[7].rows = 16; /* more registers than the message has */
    assert_int_equal(prepare_2d(f, &good, LOAD_2D, src0, 2), 0);
    assert_true(f->row->run(&f->port, &f->message, dst, src0, src1, 1));
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(prepare_2d(f, &bad[i], LOAD_2D, src0, i == 7 ? 2 : 31), 0);
        memset(&f->port.fault, 0, sizeof(f->port.fault));
        assert_false(f->row->run(&f->port, &f->message, dst, src0, src1, 1));
        assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_BLOCK2D);
    }
    /* behind the allocation */
    struct block far = good;
    far.height = 64;
    far.y = 40;
    assert_int_equal(prepare_2d(f, &far, LOAD_2D, src0, 2), 0);
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    assert_false(f->row->run(&f->port, &f->message, dst, src0, src1, 1));
    assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_OUT_OF_BOUNDS);
    /* neither both orders at once, nor bytes transposed, nor without registers of 64 bytes */
    struct block both = good;
    both.transposed = both.vnni = true;
    both.size_B = 2;
    assert_int_equal(prepare_2d(f, &both, LOAD_2D, src0, 2), -EINVAL);
    both.vnni = false;
    assert_int_equal(prepare_2d(f, &both, LOAD_2D, src0, 2), -EINVAL);
    free(f);
}

/* ---- atomics ---- */

/* Small numbers, which are exact as floats of any size. */
static uint64_t bits_of(double value, uint32_t size_B)
{
    uint64_t bits = 0;
    float single = (float)value;
    if (size_B == 2)
        return zs_half_from_float(single);
    memcpy(&bits, size_B == 8 ? (void *)&value : (void *)&single, size_B);
    return bits;
}

static double value_of(uint64_t bits, uint32_t size_B)
{
    double value;
    float single;
    if (size_B == 2)
        return (double)zs_half_to_float((uint16_t)bits);
    memcpy(&single, &bits, 4);
    memcpy(&value, &bits, 8);
    return size_B == 8 ? value : (double)single;
}

static uint64_t apply(uint32_t op, uint64_t old, uint64_t a, uint64_t b, uint32_t size_B)
{
    int64_t so = (int64_t)(old << (64 - 8 * size_B)), sa = (int64_t)(a << (64 - 8 * size_B));
    switch (op) {
    case 0x08:
        return old + 1;
    case 0x09:
        return old - 1;
    case 0x0a:
        return old;
    case 0x0b:
        return a;
    case 0x0c:
        return old + a;
    case 0x0d:
        return old - a;
    case 0x0e:
        return so < sa ? old : a;
    case 0x0f:
        return so > sa ? old : a;
    case 0x10:
        return old < a ? old : a;
    case 0x11:
        return old > a ? old : a;
    case 0x12:
        return old == a ? b : old;
    case 0x13:
        return bits_of(value_of(old, size_B) + value_of(a, size_B), size_B);
    case 0x14:
        return bits_of(value_of(old, size_B) - value_of(a, size_B), size_B);
    case 0x15:
        return value_of(a, size_B) < value_of(old, size_B) ? a : old;
    case 0x16:
        return value_of(a, size_B) > value_of(old, size_B) ? a : old;
    case 0x17:
        return value_of(a, size_B) == value_of(old, size_B) ? b : old;
    case 0x18:
        return old & a;
    case 0x19:
        return old | a;
    default:
        return old ^ a;
    }
}

static void check_atomic(struct fixture *f, const struct shape *s, uint32_t op, uint32_t operands,
                         uint64_t *seed)
{
    static _Alignas(64) uint8_t src0[FILE_B], src1[FILE_B], dst[FILE_B], want[FILE_B];
    static uint8_t before[MEMORY_B];
    uint32_t offset[LANES], size_B, mask = random_u32(seed) | 1, B = s->element_B;
    uint32_t row_B = registers(payload_lanes(s) * s->slot_B, s->grf_B) * s->grf_B;
    uint8_t *memory = memory_of(f, s->where, &size_B);
    mask &= s->lanes == 32 ? UINT32_MAX : (1u << s->lanes) - 1;
    fill_random(src1, sizeof(src1), seed);
    place(f, s, seed, offset, src0);
    for (uint32_t lane = 1; lane < s->lanes; lane += 3) { /* some meet */
        memcpy(src0 + lane * address_B(s), src0, address_B(s));
        offset[lane] = offset[0];
    }
    bool is_float = op >= 0x13 && op <= 0x17;
    uint32_t values = op == 0x17 ? 3 : 64; /* compared for being equal: few */
    for (uint32_t i = 0; is_float && i + B <= FILE_B; i += s->slot_B) {
        uint64_t bits = bits_of((double)(random_u32(seed) % values) - 20, B);
        memcpy(src1 + i, &bits, B);
    }
    for (uint32_t i = 0; is_float && i + B <= size_B; i += B) {
        uint64_t bits = bits_of((double)(random_u32(seed) % values) - 20, B);
        memcpy(memory + i, &bits, B);
    }
    bool returns = random_u32(seed) & 1;
    if (random_u32(seed) & 1) /* all lanes */
        mask = UINT32_MAX >> (32 - s->lanes);
    memcpy(want, dst, sizeof(want));
    memcpy(before, memory, size_B);
    assert_int_equal(prepare(f, s, op, operands, returns), 0);
    for (uint32_t lane = 0; lane < s->lanes; lane++) {
        uint64_t old = 0, a = 0, b = 0;
        if (!(mask >> lane & 1))
            continue;
        bool inside = offset[lane] + B <= size_B;
        if (inside)
            memcpy(&old, before + offset[lane], B);
        memcpy(&a, src1 + lane * s->slot_B, B);
        memcpy(&b, src1 + row_B + lane * s->slot_B, B);
        uint64_t value = apply(op, old, a, b, B);
        if (inside)
            memcpy(before + offset[lane], &value, B);
        if (returns)
            memcpy(want + lane * s->slot_B, &old, s->slot_B);
    }
    bool in_place = returns && random_u32(seed) % 4 == 0; /* over the operands */
    for (uint32_t lane = 0; in_place && lane < s->lanes; lane++)
        if (!(mask >> lane & 1))
            memcpy(want + lane * s->slot_B, src1 + lane * s->slot_B, s->slot_B);
    size_t compared_B = in_place ? s->lanes * s->slot_B : sizeof(want);
    assert_true(execute(f, in_place ? src1 : dst, src0, src1, mask));
    assert_memory_equal(memory, before, size_B);
    assert_memory_equal(in_place ? src1 : dst, want, compared_B);
}

static void atomics(void **state)
{
    static const struct {
        uint32_t op, operands;
    } rows[] = {{0x08, 0}, {0x09, 0}, {0x0a, 0}, {0x0b, 1}, {0x0c, 1}, {0x0d, 1}, {0x0e, 1},
                {0x0f, 1}, {0x10, 1}, {0x11, 1}, {0x12, 2}, {0x13, 1}, {0x14, 1}, {0x15, 1},
                {0x16, 1}, {0x17, 2}, {0x18, 1}, {0x19, 1}, {0x1a, 1}};
    static const uint32_t atomic_sizes[] = {0, 1, 3}; /* of `sizes` */
    uint64_t seed = 13;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (uint32_t where = 0; where < WHERE_COUNT; where++)
            for (uint32_t size = 0; size < sizeof(atomic_sizes) / sizeof(atomic_sizes[0]); size++)
                for (uint32_t lanes = 1; lanes <= LANES && where != SCRATCH; lanes *= 2)
                    for (uint32_t grf_B = 32; grf_B <= 64; grf_B *= 2) {
                        struct shape s = lanes_shape(where, atomic_sizes[size], 0, lanes, grf_B);
                        bool sum = rows[i].op == 0x13 || rows[i].op == 0x14;
                        bool qword = s.element_B == 8 && rows[i].op != 0x12;
                        if (is_local(s.where) && (sum || qword))
                            assert_int_equal(prepare(f, &s, rows[i].op, rows[i].operands, true),
                                             -EINVAL);
                        else
                            check_atomic(f, &s, rows[i].op, rows[i].operands, &seed);
                    }
    free(f);
}

/* ---- refused ---- */

static void what_is_not_modelled(void **state)
{
    uint64_t seed = 14;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    struct shape s = lanes_shape(A64, 0, 0, 16, 32);
    assert_int_equal(prepare(f, &s, 3, 0, true), -EINVAL); /* 2D block: XeHPC's */
    s.vector = 5;                                          /* of 16 */
    assert_int_equal(prepare(f, &s, LOAD, 0, true), -EINVAL);
    s.vector = 0;
    assert_int_equal(prepare(f, &s, STORE, 0, false), -EINVAL); /* no data */
    s.is_low_priority = true;                                   /* XeHPC's */
    assert_int_equal(prepare(f, &s, LOAD, 0, true), -ENOTSUP);
    s.is_low_priority = false;
    for (uint32_t data = 0; data < 8; data++) { /* atomics: not packed, no bytes, no upper halves */
        s.data = data;
        bool has_atomics = data == 2 || data == 3 || data == 5;
        s.slot_B = data == 3 ? 8 : 4;
        assert_int_equal(prepare(f, &s, 0x0c, 1, true), has_atomics ? 0 : -EINVAL);
    }
    s = lanes_shape(LOCAL, 0, 0, 16, 32);
    assert_int_equal(prepare(f, &s, LOAD, 0, true), 0);
    uint8_t addresses[64];
    memset(addresses, 0x7f, sizeof(addresses)); /* outside local memory */
    assert_false(f->row->run(&f->port, &f->message, f->dst, addresses, f->src1, 0xffff));
    assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_SLM);
    free(f);
}

/* Of local memory: the first lane that is on and reaches outside is named, or, of atomics, one that
 * is not where an element may be; no other memory is touched. Each sixteen lanes are looked at
 * before any of them is carried out, of atomics all. */
static void outside_local_memory(void **state)
{
    static const uint32_t ops[] = {LOAD, STORE, 0x08, 0x0c, 0x12}, operands[] = {0, 1, 0, 1, 2};
    static _Alignas(64) uint8_t src0[FILE_B], src1[FILE_B], dst[FILE_B], before[SLM_B];
    uint64_t seed = 24;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t kind = random_u32(&seed) % 5, lanes = random_u32(&seed) & 1 ? 16 : LANES;
        struct shape s = lanes_shape(LOCAL, 0, 0, lanes, 64);
        bool is_atomic = kind > 1, even = random_u32(&seed) & 1, misaligned = is_atomic && i & 1;
        uint32_t mask = random_u32(&seed) | random_u32(&seed), wrong = random_u32(&seed) % lanes;
        mask = (random_u32(&seed) & 1 ? UINT32_MAX : mask) & (UINT32_MAX >> (32 - lanes));
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t at = even ? lane * 4 : random_u32(&seed) % (SLM_B / 4) * 4;
            if (lane == wrong)
                at = misaligned ? ZS_MIN(at, SLM_B - 8u) | (1 + random_u32(&seed) % 3)
                                : SLM_B - 3 + random_u32(&seed) % (is_atomic ? 1 : 5) * 4;
            at |= random_u32(&seed) & 0x10000000; /* the bit that pointers have */
            memcpy(src0 + lane * 4, &at, 4);
        }
        memcpy(before, f->slm, sizeof(before));
        assert_int_equal(prepare(f, &s, ops[kind], operands[kind], kind != STORE), 0);
        bool done = execute(f, dst, src0, src1, mask);
        assert_int_equal(done, !(mask >> wrong & 1));
        if (done)
            continue;
        assert_int_equal(f->port.fault.kind,
                         misaligned ? ZS_PORT_FAULT_MISALIGNED : ZS_PORT_FAULT_SLM);
        assert_true(f->port.fault.has_lane);
        assert_int_equal(f->port.fault.lane, wrong);
        if (wrong < 16 || is_atomic)
            assert_memory_equal(f->slm, before, sizeof(before));
    }
    free(f);
}

/* Offsets of 64 bits behind 4 GB are outside of a surface of as many: what lies at its end, or
 * where the offset's low bits lead, is another's. */
static void far_offsets(void **state)
{
    static _Alignas(64) uint8_t src0[FILE_B], data[FILE_B], dst[FILE_B], before[MEMORY_B];
    static struct zs_port_footprint touch;
    uint64_t seed = 23, whole = 1ull << 32;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    f->surfaces[0].base = (uint8_t *)((uintptr_t)f->memory + MEMORY_B - whole);
    f->surfaces[0].size_B = whole;
    for (uint32_t i = 0; i < 4 * SIZES; i++) {
        struct shape s = lanes_shape(SURFACE64, i / 4, 0, 16, 32);
        bool is_store = i & 1;
        uint32_t width_B = s.slot_B;
        s.transposed = i & 2 && (s.element_B == 4 || s.element_B == 8);
        s.lanes = s.transposed ? 1 : 16;
        for (uint64_t lane = 0; lane < 16; lane++) {
            uint64_t offset = whole - 256 + lane * 8;
            if (lane % 2 == 0)
                offset = lane % 4 ? whole + offset : UINT64_MAX - 8 * lane;
            memcpy(src0 + lane * 8, &offset, 8);
        }
        fill_random(data, sizeof(data), &seed);
        memset(dst, 0x77, sizeof(dst));
        memcpy(before, f->memory, sizeof(before));
        assert_int_equal(prepare(f, &s, is_store ? STORE : LOAD, is_store, !is_store), 0);
        uint32_t mask = s.transposed ? 1 : 0xffff;
        zs_port_footprint(&f->port, &f->message, src0, mask, &touch);
        assert_true(execute(f, dst, src0, data, mask));
        for (uint32_t lane = 0; lane < s.lanes; lane++) {
            uint8_t *place = before + MEMORY_B - 256 + (size_t)lane * 8, want[8] = {0};
            uint32_t at = s.data == 6 ? 2 : 0; /* the upper half */
            if (lane % 2 && is_store)
                memcpy(place, data + lane * width_B + at, s.element_B);
            if (lane % 2)
                memcpy(want + at, place, s.element_B);
            if (!is_store)
                assert_memory_equal(dst + lane * width_B, want, width_B);
        }
        assert_memory_equal(f->memory, before, sizeof(before));
        /* when surfaces are checked it is a fault that has the offset */
        f->port.flags = ZS_PORT_CHECK_SURFACES;
        assert_false(execute(f, dst, src0, data, mask));
        assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_SURFACE);
        f->port.flags = 0;
    }
    free(f);
}

/* A thread's scratch memory is a surface of its own: what lies behind it is nothing, or a fault. */
static void outside_scratch_memory(void **state)
{
    static _Alignas(64) uint8_t src0[FILE_B], data[FILE_B], dst[FILE_B];
    uint64_t seed = 29;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (uint32_t i = 0; i < 64; i++) {
        struct shape s = lanes_shape(SCRATCH, 0, 0, 16, 64);
        uint8_t before[sizeof(f->scratch)];
        bool is_store = i & 1;
        for (uint32_t lane = 0; lane < 16; lane++) {
            uint32_t offset = lane % 3 ? lane * 4 : SCRATCH_SLOT_B + random_u32(&seed) % 4096 * 4;
            memcpy(src0 + (size_t)lane * 4, &offset, 4);
        }
        fill_random(data, sizeof(data), &seed);
        memcpy(before, f->scratch, sizeof(before));
        memset(dst, 0x77, sizeof(dst));
        assert_int_equal(prepare(f, &s, is_store ? STORE : LOAD, is_store, !is_store), 0);
        f->port.flags = 0;
        assert_true(execute(f, dst, src0, data, 0xffff));
        for (uint32_t lane = 0; lane < 16; lane++) {
            uint8_t want[4] = {0}, *at = before + SCRATCH_SLOT_B + (size_t)lane * 4;
            if (lane % 3 && is_store)
                memcpy(at, data + (size_t)lane * 4, 4);
            if (lane % 3)
                memcpy(want, at, 4);
            if (!is_store)
                assert_memory_equal(dst + lane * 4, want, 4);
        }
        assert_memory_equal(f->scratch, before, sizeof(before));
        f->port.flags = ZS_PORT_CHECK_SURFACES;
        assert_false(execute(f, dst, src0, data, 0xffff));
        assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_SCRATCH);
    }
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outside_scratch_memory),
        cmocka_unit_test(vectors_of_lanes),
        cmocka_unit_test(moved_addresses),
        cmocka_unit_test(lanes_evenly_apart),
        cmocka_unit_test(strided_vectors),
        cmocka_unit_test(quads),
        cmocka_unit_test(uncompressed_stores),
        cmocka_unit_test(transposed_vectors),
        cmocka_unit_test(prefetches),
        cmocka_unit_test(blocks_of_two_dimensions),
        cmocka_unit_test(blocks_that_are_not_allowed),
        cmocka_unit_test(atomics),
        cmocka_unit_test(what_is_not_modelled),
        cmocka_unit_test(outside_local_memory),
        cmocka_unit_test(far_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
