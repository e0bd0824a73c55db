/* SPDX-License-Identifier: MIT */
/*
 * What zs_port_accesses() and zs_port_footprint() say of a message before it is executed, against
 * what executing it does: for every row of the tables, in random forms, with random payloads.
 * Memory that changes must have been told, also bytes that what is read depends on, and no more of
 * it.
 */
#include "fixture.h"

#include "base/compiler.h"

enum {
    DCRO = 9,
    DC0 = 10,
    DC1 = 12,
    DC0_SCRATCH = 0x10,
    SAMPLER = 2,
    GATEWAY = 3,
    SLM_SFID = 14,
    UGM = 15,
    TGM = 18,
    BUFFER_BTI = 0,
    IMAGE_BTI = 2,
    SLM_BTI = 254,
    STATELESS_BTI = 255,
    LSC_TABLE = 3,
    LSC_SURFACE_STATE = 2,
    LSC_LOAD_ATOMIC = 0x0a,
    FILE_B = 8192,
    REGISTER_MAX_B = 64,
    SURFACE_B = MEMORY_B - 96, /* what lies behind it is nobody's */
    PITCH_B = 128,
    ALL_B = MEMORY_B + SLM_B + 4 * SCRATCH_SLOT_B,
    TRIES = 300000,
    ROUNDS = 60
};

/* The fixture's memories as one: what they hold, and the bytes that were told. */
struct image {
    uint8_t byte[ALL_B];
};

struct trial {
    struct fixture f;
    struct zs_isa_send send;
    uint64_t seed;
    _Alignas(64) uint8_t payload[FILE_B], dst[FILE_B], first_dst[FILE_B];
    struct image told, before, after;
    struct zs_port_accesses reach;
    uint32_t mask, told_B, changed_B, rows[2];
};

static uint32_t below(struct trial *t, uint32_t limit)
{
    return random_u32(&t->seed) % limit;
}

/* Messages by type; which of them there are, decoding says. */
static const struct {
    uint8_t sfid, types, modelled;
} functions[] = {{DC0, 17, 11}, {DC1, 31, 21}, {DCRO, 31, 3}, {SAMPLER, 32, 8}, {GATEWAY, 8, 1}};

/* ---- the memories ------------------------------------------------------------------------------
 */

static void save(const struct fixture *f, struct image *image)
{
    memcpy(image->byte, f->memory, MEMORY_B);
    memcpy(image->byte + MEMORY_B, f->slm, SLM_B);
    memcpy(image->byte + MEMORY_B + SLM_B, f->scratch, sizeof(f->scratch));
}

static void restore(struct fixture *f, const struct image *image)
{
    memcpy(f->memory, image->byte, MEMORY_B);
    memcpy(f->slm, image->byte + MEMORY_B, SLM_B);
    memcpy(f->scratch, image->byte + MEMORY_B + SLM_B, sizeof(f->scratch));
}

/* Where a piece lies in an image; it must lie in one of the memories. */
static uint32_t place_of(const struct fixture *f, const struct zs_port_access *p)
{
    uint64_t memory = p->address - (uintptr_t)f->memory;
    uint64_t scratch = p->address - (uintptr_t)f->scratch;
    if (p->is_slm) {
        assert_true(p->address < SLM_B && p->size_B <= SLM_B - p->address);
        return MEMORY_B + (uint32_t)p->address;
    }
    if (memory < MEMORY_B) {
        assert_true(p->size_B <= MEMORY_B - memory);
        return (uint32_t)memory;
    }
    assert_true(scratch < sizeof(f->scratch) && p->size_B <= sizeof(f->scratch) - scratch);
    return MEMORY_B + SLM_B + (uint32_t)scratch;
}

/* ---- messages in random forms ------------------------------------------------------------------
 */

static uint32_t length(struct trial *t)
{
    static const uint8_t lengths[] = {0, 1, 2, 3, 4, 8, 16, 32};
    return lengths[below(t, ZS_ARRAY_LEN(lengths))];
}

static void random_lengths(struct trial *t, struct zs_isa_send *s)
{
    s->mlen = 1 + below(t, 2) * below(t, 8);
    s->xlen = length(t);
    s->rlen = length(t);
}

static struct zs_isa_send legacy_form(struct trial *t, uint32_t function)
{
    uint32_t sfid = function >> 8, type = function & 0xff;
    static const uint8_t bti[] = {BUFFER_BTI, BUFFER_BTI, IMAGE_BTI, SLM_BTI, STATELESS_BTI};
    struct zs_isa_send s = {.sfid = sfid, .generation = later(32u << below(t, 2)), .exec_size = 16};
    uint32_t control = random_u32(&t->seed) & 0x3f00, header = below(t, 2) << 19;
    s.desc = header | control | bti[below(t, ZS_ARRAY_LEN(bti))];
    if (sfid == SAMPLER)
        s.desc = header | type << 12 | (1 + below(t, 2)) << 17 | IMAGE_BTI | below(t, 2) << 8;
    else if (sfid == GATEWAY)
        s.desc = type;
    else if (sfid == DC0 && type == DC0_SCRATCH) /* the field's low bits are the offset */
        s.desc = 1u << 19 | 1u << 18 | (random_u32(&t->seed) & 0x3f01f);
    else
        s.desc |= type << 14;
    random_lengths(t, &s);
    return s;
}

static struct zs_isa_send lsc_form(struct trial *t, uint32_t opcode)
{
    static const uint8_t sizes[] = {1, 8, 16, 32};
    struct zs_isa_send s = {.sfid = below(t, 3) ? UGM : SLM_SFID,
                            .generation = later(32u << below(t, 2))};
    static const uint8_t kinds[] = {0, LSC_SURFACE_STATE, LSC_TABLE};
    uint32_t kind = s.sfid == UGM ? kinds[below(t, ZS_ARRAY_LEN(kinds))] : 0;
    s.exec_size = sizes[below(t, ZS_ARRAY_LEN(sizes))];
    s.desc = opcode | (random_u32(&t->seed) & 0xff80) | kind << 29;
    if (kind == LSC_TABLE)
        s.ex_desc = (below(t, 2) ? BUFFER_BTI : (uint32_t)STATELESS_BTI) << 24;
    if (kind == LSC_SURFACE_STATE)
        s.ex_desc = ZS_PORT_SCRATCH_HANDLE >> 4;
    s.is_surface_offset = kind == LSC_SURFACE_STATE;
    random_lengths(t, &s);
    return s;
}

static int decode_form(struct trial *t, const struct zs_isa_send *send)
{
    struct zs_diag diag = {0};
    t->send = *send;
    return zs_port_message_decode(send, &t->f.message, &t->f.row, &diag);
}

/* ---- payloads ----------------------------------------------------------------------------------
 */

static void put32(struct trial *t, uint32_t at_B, uint32_t value)
{
    memcpy(t->payload + at_B, &value, 4);
}

static void put16(struct trial *t, uint32_t at_B, uint32_t value)
{
    memcpy(t->payload + at_B, &(uint16_t){(uint16_t)value}, 2);
}

static void put64(struct trial *t, uint32_t at_B, uint64_t value)
{
    memcpy(t->payload + at_B, &value, 8);
}

static bool has_addresses(const struct zs_port_message *m)
{
    return m->shape == ZS_PORT_SHAPE_ADDRESSES || m->shape == ZS_PORT_SHAPE_A64_BLOCK ||
           (m->address_B == 8 && !m->offset64);
}

/* What addresses of 64 bits count from. */
static uint64_t base_of(const struct trial *t)
{
    return t->f.message.offset64 ? 0 : (uint64_t)(uintptr_t)t->f.memory;
}

/* Of an access of span_B bytes in what the message reaches; of surfaces also at their end. */
static uint32_t some_offset(struct trial *t, uint32_t span_B)
{
    const struct zs_port_message *m = &t->f.message;
    uint32_t align_B = t->f.row->is_atomic ? m->element_B : 1u << below(t, 4);
    uint32_t size_B = m->space == ZS_PORT_SPACE_SLM       ? SLM_B
                      : m->space == ZS_PORT_SPACE_SCRATCH ? SCRATCH_SLOT_B
                                                          : SURFACE_B;
    uint32_t offset = below(t, size_B - span_B + 1);
    if (!has_addresses(m) && m->space == ZS_PORT_SPACE_GLOBAL && !below(t, 8))
        offset = size_B - 64 + below(t, 128);
    return offset / align_B * align_B;
}

/* What offsets count from. */
static uint32_t bias_of(const struct trial *t)
{
    return t->f.message.bti >= 251 && t->f.message.space == ZS_PORT_SPACE_SCRATCH ? SCRATCH_SLOT_B
                                                                                  : 0;
}

static void put_lanes(struct trial *t, uint32_t at_B, uint32_t address_B, uint32_t scale)
{
    enum { SPAN_B = 64 };
    const struct zs_port_message *m = &t->f.message;
    uint32_t first = some_offset(t, 32 * SPAN_B / 2), step = below(t, 3) * m->element_B;
    bool even = below(t, 2);
    if (m->strided)
        put32(t, at_B + 8, step);
    for (uint32_t lane = 0; lane < (m->strided ? 1u : m->lanes); lane++) {
        even |= m->strided;
        uint32_t offset = even ? first + lane * step : some_offset(t, SPAN_B);
        uint32_t upper = m->space == ZS_PORT_SPACE_SLM && scale == 1 ? below(t, 2) << 28 : 0;
        if (address_B == 8)
            put64(t, at_B + lane * 8, base_of(t) + offset);
        else if (address_B == 2)
            put16(t, at_B + lane * 2, offset);
        else
            put32(t, at_B + lane * 4, (offset + bias_of(t)) / scale | upper);
    }
}

static void put_block2d(struct trial *t)
{
    bool is_store = t->f.message.bytes_written != 0;
    uint32_t columns = 4u << below(t, 4), lines = 1 + below(t, is_store ? 8 : 32);
    uint32_t count = is_store ? 1 : 1u << below(t, 5);
    if (count > 4)
        columns = 4;
    put64(t, 0, (uint64_t)(uintptr_t)t->f.memory);
    put32(t, 8, 64 + below(t, 16) * 4 - 1);
    put32(t, 12, below(t, MEMORY_B / PITCH_B));
    put32(t, 16, PITCH_B - 1);
    put32(t, 20, below(t, 12) * 4 - 12);
    put32(t, 24, below(t, 20) - 4);
    put32(t, 28, (columns - 1) | (lines - 1) << 8 | (count - 1) << 16);
}

static void put_header(struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    uint32_t offset = some_offset(t, m->block_B) + (m->space == ZS_PORT_SPACE_SLM ? 1u << 28 : 0);
    put32(t, 8, offset >> m->block_shift);
    put32(t, 20, SCRATCH_SLOT_B | below(t, 1024));
    if (m->shape == ZS_PORT_SHAPE_A64_BLOCK)
        put64(t, 0, (uint64_t)(uintptr_t)t->f.memory + offset);
    if (m->shape != ZS_PORT_SHAPE_MEDIA)
        return;
    put32(t, 0, below(t, 48) - 10); /* lines are 28 bytes */
    put32(t, 4, below(t, 10) - 4);
    put32(t, 8, below(t, 3) << 16 | below(t, 16));
}

static void put_coordinates(struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    for (uint32_t i = 0; i < m->coordinates; i++) {
        for (uint32_t lane = 0; lane < 8; lane++)
            put32(t, (m->header_grf + i) * GRF_B + lane * 4, below(t, 10) - 1);
    }
}

/* Also few values, so that comparisons find them equal. */
static void fill_all(struct trial *t)
{
    enum { ONE = 0x11, OTHER = 0x22 };
    struct fixture *f = &t->f;
    bool few = below(t, 2);
    for (uint32_t unit = 0; unit < (uint32_t)f->message.mlen + f->message.xlen; unit++) {
        uint8_t *at = t->payload + (size_t)unit * GRF_B;
        fill_random(at, GRF_B, &t->seed);
        if (few)
            memset(at, below(t, 2) ? ONE : OTHER, GRF_B);
    }
    fill_random(f->memory, MEMORY_B, &t->seed);
    fill_random(f->slm, SLM_B, &t->seed);
    fill_random(f->scratch, sizeof(f->scratch), &t->seed);
    if (!few)
        return;
    memset(f->memory, ONE, MEMORY_B);
    memset(f->slm, ONE, SLM_B);
    memset(f->scratch, ONE, sizeof(f->scratch));
}

static void fill_payload(struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    uint32_t header_B = m->header_grf * GRF_B;
    fill_all(t);
    switch ((enum zs_port_shape)m->shape) {
    case ZS_PORT_SHAPE_OFFSETS:
        put_lanes(t, header_B, 4, 1);
        break;
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
        put_lanes(t, header_B, 4, 4);
        break;
    case ZS_PORT_SHAPE_ADDRESSES:
        put_lanes(t, header_B, 8, 1);
        break;
    case ZS_PORT_SHAPE_LSC:
        if (m->lanes)
            put_lanes(t, 0, m->address_B, 1);
        else if (m->address_B == 8)
            put64(t, 0, base_of(t) + some_offset(t, m->block_B));
        else if (m->address_B == 2)
            put16(t, 0, some_offset(t, m->block_B));
        else
            put32(t, 0, some_offset(t, m->block_B) + bias_of(t));
        break;
    case ZS_PORT_SHAPE_BLOCK2D:
        put_block2d(t);
        break;
    case ZS_PORT_SHAPE_TYPED:
        put_coordinates(t);
        break;
    case ZS_PORT_SHAPE_BLOCK:
    case ZS_PORT_SHAPE_SCRATCH:
    case ZS_PORT_SHAPE_A64_BLOCK:
    case ZS_PORT_SHAPE_MEDIA:
        put_header(t);
        break;
    case ZS_PORT_SHAPE_NONE:
    case ZS_PORT_SHAPE_SAMPLE:
    case ZS_PORT_SHAPE_TEXEL:
        break;
    }
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static bool execute(struct trial *t)
{
    struct fixture *f = &t->f;
    uint32_t lanes = f->message.lanes;
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    memset(t->dst, 0x5a, sizeof(t->dst));
    return f->row->run(&f->port, &f->message, t->dst, t->payload,
                       t->payload + (size_t)f->message.mlen * GRF_B,
                       lanes && lanes < 32 ? t->mask & ((1u << lanes) - 1) : t->mask);
}

/* What is told as a row is told by lanes, too. */
static void check_row(struct trial *t)
{
    struct zs_port_row row;
    if (!zs_port_row(&t->f.port, &t->f.message, t->payload, t->mask, &row))
        return;
    assert_int_equal(t->reach.count, row.lanes);
    for (uint32_t i = 0; i < t->reach.count; i++) {
        const struct zs_port_access *p = &t->reach.pieces[i];
        assert_true(p->lane == i && p->size_B == 4 && p->is_slm == row.is_slm);
        assert_true(p->address == row.address + (row.is_one ? 0 : i * 4));
    }
    t->rows[row.is_one]++;
}

static void find_told(struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    uint32_t lanes = 0;
    zs_port_accesses(&t->f.port, m, t->payload, t->mask, &t->reach);
    assert_true(t->reach.whole);
    check_row(t);
    memset(&t->told, 0, sizeof(t->told));
    for (uint32_t i = 0; i < t->reach.count; i++) {
        const struct zs_port_access *p = &t->reach.pieces[i];
        memset(t->told.byte + place_of(&t->f, p), 1, p->size_B);
        t->told_B += p->size_B;
        assert_int_equal(p->lane == ZS_PORT_NO_LANE, m->lanes == 0 && !m->masked);
        if (p->lane == ZS_PORT_NO_LANE || m->masked)
            continue;
        assert_true(p->lane < m->lanes && t->mask >> p->lane & 1);
        if (t->f.row->is_atomic) { /* each lane one element */
            assert_int_equal(p->size_B, m->element_B);
            assert_false(lanes >> p->lane & 1);
            lanes |= 1u << p->lane;
        }
    }
}

static bool is_image(const struct zs_port_message *m)
{
    return m->shape == ZS_PORT_SHAPE_TYPED || m->shape == ZS_PORT_SHAPE_MEDIA;
}

static bool has_line(const struct zs_port_footprint *touch, uint64_t line)
{
    for (uint32_t i = 0; i < touch->line_count; i++) {
        if (touch->lines[i] == line)
            return true;
    }
    return false;
}

/* Lines of images are 16 bytes of four rows; here rows are PITCH_B. Exactly those of the bytes
 * told. */
static void check_touch_media(const struct trial *t, const struct zs_port_footprint *touch)
{
    enum { TILE_B = 16, TILE_ROWS = 4 };
    uint64_t start = (uintptr_t)t->f.memory / 64, seen = 0, touched = 0;
    for (uint32_t i = 0; i < t->reach.count; i++) {
        const struct zs_port_access *p = &t->reach.pieces[i];
        for (uint32_t k = 0; k < p->size_B; k++) {
            uint64_t at = p->address + k - (uintptr_t)t->f.memory;
            uint64_t tile = at / PITCH_B / TILE_ROWS * (PITCH_B / TILE_B) + at % PITCH_B / TILE_B;
            assert_true(tile < 64);
            seen |= UINT64_C(1) << tile;
        }
    }
    for (uint32_t i = 0; i < touch->line_count; i++) {
        assert_true(touch->lines[i] - start < 64);
        touched |= UINT64_C(1) << (touch->lines[i] - start);
    }
    assert_true(touched == seen);
}

/* Each line that has bytes told is touched; atomics touch no other. */
static void check_touch(const struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    struct zs_port_footprint touch;
    uint32_t lines = 0;
    uint64_t seen[ZS_PORT_FOOTPRINT_LINES];
    zs_port_footprint(&t->f.port, m, t->payload, t->mask, &touch);
    if (m->shape == ZS_PORT_SHAPE_MEDIA && m->bti == IMAGE_BTI)
        check_touch_media(t, &touch);
    if (m->space == ZS_PORT_SPACE_SLM || is_image(m)) {
        assert_true(!t->reach.count || touch.slm_cycles || touch.line_count);
        return;
    }
    uint64_t scratch = (uintptr_t)t->f.scratch + SCRATCH_SLOT_B;
    for (uint32_t i = 0; i < t->reach.count; i++) {
        const struct zs_port_access *p = &t->reach.pieces[i];
        /* without a payload of the port's, stateless messages are to scratch memory */
        bool relative = m->space == ZS_PORT_SPACE_SCRATCH || m->space == ZS_PORT_SPACE_PAYLOAD;
        uint64_t from = p->address - (relative ? scratch : 0);
        for (uint64_t at = from / 64; at <= (from + p->size_B - 1) / 64; at++) {
            assert_true(has_line(&touch, at));
            bool is_new = true;
            for (uint32_t k = 0; k < lines; k++)
                is_new &= seen[k] != at;
            if (is_new && lines < ZS_PORT_FOOTPRINT_LINES)
                seen[lines++] = at;
        }
    }
    if (t->f.row->is_atomic)
        assert_int_equal(touch.line_count, lines);
}

/* Elements of which a part lies behind the end of a surface or of memory are told and not written.
 */
static bool ends_near(uint32_t at_B)
{
    return (at_B >= SURFACE_B - 8 && at_B < SURFACE_B) || (at_B >= MEMORY_B - 8 && at_B < MEMORY_B);
}

/* From two contents of the memory that have no byte in common. */
static void check_writes(struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    struct image other;
    bool all = m->bytes_written && !m->bytes_read && m->shape != ZS_PORT_SHAPE_TYPED;
    for (uint32_t i = 0; i < ALL_B; i++) {
        if (t->after.byte[i] != t->before.byte[i])
            assert_true(t->told.byte[i]);
        t->changed_B += t->after.byte[i] != t->before.byte[i];
        other.byte[i] = (uint8_t)~t->before.byte[i];
    }
    restore(&t->f, &other);
    assert_true(execute(t));
    struct image again;
    save(&t->f, &again);
    for (uint32_t i = 0; i < ALL_B; i++) {
        if (again.byte[i] != other.byte[i])
            assert_true(t->told.byte[i]);
        /* what was written does not depend on what was there */
        if (all && t->told.byte[i] && !ends_near(i))
            assert_int_equal(again.byte[i], t->after.byte[i]);
    }
}

/* What is not told may change without a change in what is read. */
static void check_reads(struct trial *t)
{
    struct image other;
    memcpy(t->first_dst, t->dst, sizeof(t->dst));
    for (uint32_t i = 0; i < ALL_B; i++)
        other.byte[i] = t->before.byte[i] ^ (t->told.byte[i] ? 0 : 0xff);
    restore(&t->f, &other);
    assert_true(execute(t));
    assert_memory_equal(t->dst, t->first_dst, sizeof(t->dst));
}

/* false: the message was refused, as others are meant to be. */
static bool check_message(struct trial *t)
{
    const struct zs_port_message *m = &t->f.message;
    bool samples = m->space == ZS_PORT_SPACE_SAMPLER; /* what they read is not told */
    t->mask = below(t, 3) ? random_u32(&t->seed) | 1u << below(t, 8) : UINT32_MAX;
    fill_payload(t);
    save(&t->f, &t->before);
    find_told(t);
    bool done = execute(t);
    save(&t->f, &t->after);
    if (done) {
        if (!samples)
            check_touch(t);
        if (m->bytes_read && !samples)
            check_reads(t);
        check_writes(t);
    }
    restore(&t->f, &t->before);
    return done;
}

static void init(struct trial *t)
{
    memset(t, 0, sizeof(*t));
    t->seed = 99;
    fixture_init(&t->f, &t->seed);
    t->f.surfaces[BUFFER_BTI].size_B = SURFACE_B;
    t->f.surfaces[IMAGE_BTI] = (struct zs_port_surface){.kind = ZS_PORT_SURFACE_IMAGE,
                                                        .dimensions = 2,
                                                        .is_array = true,
                                                        .swizzle = {4, 5, 6, 7},
                                                        .base = t->f.memory,
                                                        .gpu_va = (uintptr_t)t->f.memory,
                                                        .size_B = MEMORY_B,
                                                        .format = zs_port_format_find(0xC7),
                                                        .width = 7,
                                                        .height = 6,
                                                        .depth = 3,
                                                        .row_pitch_B = PITCH_B,
                                                        .slice_pitch_B = 1024};
    assert_non_null(t->f.surfaces[IMAGE_BTI].format);
}

static void check_enough(const struct trial *t, const char *name, uint32_t rounds, bool changes)
{
    const struct zs_port_message *m = &t->f.message;
    if (rounds != ROUNDS)
        fail_msg("%s: only %u forms of it", name, rounds);
    if (m->space != ZS_PORT_SPACE_SAMPLER && (m->bytes_read || m->bytes_written) && !t->told_B)
        fail_msg("%s: reaches nothing", name);
    if (changes && m->bytes_written && !t->changed_B)
        fail_msg("%s: changes nothing", name);
}

/* Random forms of a type, made by `form`; false: none is carried out. */
static bool any_message(struct trial *t, struct zs_isa_send (*form)(struct trial *, uint32_t),
                        uint32_t type, bool changes)
{
    enum { REFUSED = 20000 };
    char name[64];
    uint32_t rounds = 0;
    init(t);
    for (uint32_t n = 0; n < TRIES && rounds < ROUNDS && (rounds || n < REFUSED); n++) {
        struct zs_isa_send send = form(t, type);
        if (decode_form(t, &send) == 0 && check_message(t))
            rounds++;
        zs_port_message_name(&send, name, sizeof(name));
    }
    if (rounds)
        check_enough(t, name, rounds, changes);
    return rounds;
}

static void legacy_messages(void **state)
{
    static struct trial t;
    uint32_t rows[2] = {0};
    for (size_t i = 0; i < ZS_ARRAY_LEN(functions); i++) {
        uint32_t modelled = 0;
        for (uint32_t type = 0; type < functions[i].types; type++) {
            modelled += any_message(&t, legacy_form,
                                    (uint32_t)(uint32_t)functions[i].sfid << 8 | type, true);
            rows[0] += t.rows[0];
            rows[1] += t.rows[1];
        }
        assert_int_equal(modelled, functions[i].modelled);
    }
    assert_true(rows[0] > 5 && rows[1] > 5);
}

static uint32_t count_opcodes(struct zs_isa_send (*form)(struct trial *, uint32_t))
{
    static struct trial t;
    uint32_t found = 0;
    uint32_t rows = 0;
    for (uint32_t opcode = 0; opcode < 64; opcode++) {
        found += any_message(&t, form, opcode, opcode != LSC_LOAD_ATOMIC);
        rows += t.rows[0] + t.rows[1];
    }
    assert_true(rows > 5 || form != lsc_form);
    return found;
}

static void load_store_cache_messages(void **state)
{
    assert_int_equal(count_opcodes(lsc_form), 31);
}

static struct zs_isa_send typed_form(struct trial *t, uint32_t opcode)
{
    enum { A32 = 2, D32 = 2 };
    struct zs_isa_send send = {
        .sfid = TGM, .generation = later(32), .exec_size = 1u << below(t, 4)};
    random_lengths(t, &send);
    send.desc = opcode | A32 << 7 | D32 << 9 | below(t, 16) << 12 | (uint32_t)LSC_TABLE << 29;
    send.ex_desc = IMAGE_BTI << 24;
    return send;
}

/* Sums of floats are not of texels. */
static void typed_cache_messages(void **state)
{
    assert_int_equal(count_opcodes(typed_form), 21);
}

/* ---- banks of local memory ---------------------------------------------------------------------
 */

enum { BANK_LANES = 32, BANK_COUNT = 16, SPAN_MAX = 16 };

static bool is_new(const uint32_t *values, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] == value)
            return false;
    }
    return true;
}

/* Dwords that are named, each once; the fullest bank; lanes at the place where most are. */
static void check_banks(const struct zs_port_message *m, const uint32_t *offset, uint32_t span_B,
                        uint32_t mask, const struct zs_port_footprint *touch)
{
    uint32_t dwords[BANK_LANES * SPAN_MAX], count = 0, banks[BANK_COUNT] = {0}, fullest = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < BANK_LANES * span_B; i++) {
        uint32_t lane = i / span_B, dword = (offset[lane] + i % span_B) / 4, same = 0;
        if (!(mask >> lane & 1))
            continue;
        if (is_new(dwords, count, dword)) {
            dwords[count++] = dword;
            uint32_t in_bank = ++banks[dword % BANK_COUNT];
            fullest = ZS_MAX(fullest, in_bank);
        }
        for (uint32_t other = 0; other < BANK_LANES; other++)
            same += (mask >> other & 1) && offset[other] == offset[lane];
        most = ZS_MAX(most, same);
    }
    assert_int_equal(touch->slm_cycles, fullest);
    assert_int_equal(touch->slm_conflicts, fullest - (count + BANK_COUNT - 1) / BANK_COUNT);
    assert_int_equal(touch->atomic_lanes, m->bytes_read && m->bytes_written ? most : 0);
    assert_int_equal(touch->line_count, 0);
}

static void banks(void **state)
{
    static const struct zs_port_message forms[] = {
        {.element_B = 4, .channels = 1, .bytes_read = 4},                     /* a dword */
        {.element_B = 4, .channels = 1, .bytes_read = 4, .bytes_written = 4}, /* atomics */
        {.element_B = 4, .channels = 7, .bytes_written = 12},
        {.element_B = 1, .elements = 1, .bytes_read = 1},
        {.element_B = 4, .elements = 1, .bytes_read = 4},
    };
    static const uint32_t spans[] = {4, 4, 12, 1, 4}, ranges[] = {4, 40, 300, 5000};
    static struct zs_port_footprint touch;
    static const struct zs_port port;
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t form = i % ZS_ARRAY_LEN(forms), offset[BANK_LANES] = {0}, kind = i / 8 % 4;
        uint32_t range = ranges[i / 64 % 4],
                 mask = i % 3 ? 0xffff : 1 | (random_u32(&seed) & 0xffff);
        uint32_t first = random_u32(&seed) % range, step = random_u32(&seed) % 20;
        for (uint32_t lane = 0; lane < BANK_LANES; lane++) {
            uint32_t dword = kind == 0 ? first + lane * step : random_u32(&seed) % range;
            offset[lane] = dword * 4 + (kind == 3 && spans[form] == 1 ? random_u32(&seed) % 4 : 0);
        }
        struct zs_port_message m = forms[form];
        m.shape = ZS_PORT_SHAPE_OFFSETS;
        m.space = ZS_PORT_SPACE_SLM;
        m.lanes = 16;
        m.address_B = 4;
        zs_port_footprint(&port, &m, (const uint8_t *)offset, mask, &touch);
        check_banks(&m, offset, spans[form], mask, &touch);
    }
}

/* ---- atomics that meet -------------------------------------------------------------------------
 */

static void meeting(void **state)
{
    static const uint32_t places[] = {1, 2, 5, 40, 4000};
    static struct zs_port_footprint touch;
    static const struct zs_port port;
    uint64_t seed = 11;
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t lanes = i % 2 ? 8 : 16, most = 0;
        uint32_t mask = (i % 3 ? UINT32_MAX : 1 | random_u32(&seed)) >> (32 - lanes);
        uint64_t address[BANK_LANES];
        for (uint32_t lane = 0; lane < lanes; lane++)
            address[lane] = 0x7f0000001000 + 4 * (random_u32(&seed) % places[i / 8 % 5]);
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t same = 0;
            for (uint32_t other = 0; other < lanes; other++)
                same += (mask >> other & 1) && address[other] == address[lane];
            most = ZS_MAX(most, same);
        }
        struct zs_port_message m = {.shape = ZS_PORT_SHAPE_ADDRESSES,
                                    .space = ZS_PORT_SPACE_GLOBAL,
                                    .lanes = (uint8_t)lanes,
                                    .address_B = 8,
                                    .element_B = 4,
                                    .elements = 1,
                                    .bytes_read = 4,
                                    .bytes_written = 4};
        zs_port_footprint(&port, &m, (const uint8_t *)address, mask, &touch);
        assert_int_equal(touch.atomic_lanes, most);
    }
}

/* ---- evenly and in halves ----------------------------------------------------------------------
 */

/* Lines by lane, each once; where they are more than bytes fill which of their dwords lanes touch.
 */
static void check_lines(const uint64_t *address, uint32_t span_B, uint32_t mask,
                        const struct zs_port_footprint *touch)
{
    uint64_t lines[2 * 32];
    uint32_t count = 0, dwords = 0, bytes = (uint32_t)__builtin_popcount(mask) * span_B;
    for (uint32_t i = 0; i < 32 * span_B; i++)
        dwords |= (mask >> i / span_B & 1) << (address[i / span_B] + i % span_B) / 4 % 16;
    for (uint32_t i = 0; i < 64; i++) {
        uint64_t line = (address[i / 2] + (i % 2 ? span_B - 1 : 0)) / ZS_PORT_LINE_B;
        bool seen = !(mask >> i / 2 & 1);
        for (uint32_t k = 0; k < count && !seen; k++)
            seen = lines[k] == line;
        if (!seen)
            lines[count++] = line;
    }
    assert_int_equal(touch->line_count, count);
    if (touch->dwords || count > bytes / ZS_PORT_LINE_B + 2)
        assert_int_equal(touch->dwords, dwords);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(touch->lines[i], lines[i]);
}

static void wide_messages(void **state)
{
    static struct zs_port_footprint touch;
    static const struct zs_port port;
    uint64_t seed = 5;
    for (uint32_t i = 0; i < 20000; i++) {
        uint64_t address[32];
        uint32_t offset[32], kind = i % 4, dwords = 1 + i / 4 % 4, span_B = 4 * dwords;
        uint32_t mask = i % 3 == 0   ? 1 | random_u32(&seed)
                        : i % 3 == 1 ? UINT32_MAX
                                     : UINT32_MAX >> random_u32(&seed) % 32; /* the first ones */
        uint32_t step = 4 * (random_u32(&seed) % 20), half = 4 * (random_u32(&seed) % 200);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t at = kind == 0   ? lane * step      /* evenly */
                          : kind == 1 ? lane / 16 * half /* two places */
                          : kind == 2 ? lane % 16 * step /* the same twice */
                                      : random_u32(&seed) % 2000 * 4;
            address[lane] = 0x7f0000001000 + (uint64_t)half + at;
            offset[lane] = half + at;
        }
        struct zs_port_message m = {.lanes = 32,
                                    .address_B = 8,
                                    .element_B = 4,
                                    .elements = (uint8_t)dwords,
                                    .bytes_read = (uint8_t)span_B,
                                    .shape = ZS_PORT_SHAPE_ADDRESSES,
                                    .space = ZS_PORT_SPACE_GLOBAL};
        zs_port_footprint(&port, &m, (const uint8_t *)address, mask, &touch);
        check_lines(address, span_B, mask, &touch);
        m.shape = ZS_PORT_SHAPE_OFFSETS;
        m.space = ZS_PORT_SPACE_SLM;
        m.address_B = 4;
        zs_port_footprint(&port, &m, (const uint8_t *)offset, mask, &touch);
        check_banks(&m, offset, span_B, mask, &touch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_messages),        cmocka_unit_test(meeting),
        cmocka_unit_test(legacy_messages),      cmocka_unit_test(load_store_cache_messages),
        cmocka_unit_test(typed_cache_messages), cmocka_unit_test(banks),
    };
    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
