/* SPDX-License-Identifier: MIT */
/*
 * From descriptors to forms. Shapes of the data port read how much data bits 13:8 say, load/store
 * cache messages are of one layout.
 */
#include "isa/message_rows.h"

#include "base/compiler.h"

struct decoder {
    const struct zs_isa_send *send;
    struct zs_message_form *f;
};

static uint32_t bits(const struct decoder *d, uint32_t low, uint32_t count)
{
    return d->send->desc >> low & ((1u << count) - 1);
}

static void set_lanes(struct decoder *d, uint32_t lanes, uint32_t element_B, uint32_t elements)
{
    d->f->lanes = (uint8_t)lanes;
    d->f->element_B = (uint8_t)element_B;
    d->f->slot_B = element_B == 8 ? 8 : 4;
    d->f->elements = (uint8_t)elements;
}

static void set_block(struct decoder *d, uint32_t element_B, uint32_t elements)
{
    set_lanes(d, 0, element_B, elements);
}

/* ---- shapes of the data port ---- */

static void shape_NONE(struct decoder *d)
{
    (void)d;
}

static void shape_FENCE(struct decoder *d)
{
    d->f->surface = bits(d, 0, 8) == ZS_INDEX_SLM ? ZS_SURFACE_SLM : ZS_SURFACE_NONE;
}

/* The second code is one in the upper half of its register. */
static void shape_UNALIGNED(struct decoder *d)
{
    static const uint8_t counts[8] = {1, 1, 2, 4, 8, 16};
    set_block(d, 16, counts[bits(d, 8, 3)]);
    d->f->is_upper = bits(d, 8, 3) == 1;
}

static void shape_OWORDS(struct decoder *d)
{
    shape_UNALIGNED(d);
    d->f->unit_B = 16;
}

static void shape_HWORDS(struct decoder *d)
{
    shape_OWORDS(d);
}

static uint32_t eight_or(const struct decoder *d, uint32_t bit)
{
    return bits(d, bit, 1) ? 16 : 8;
}

static void shape_BYTES(struct decoder *d)
{
    uint32_t code = bits(d, 10, 2);
    set_lanes(d, eight_or(d, 8), code < 3 ? 1u << code : 0, 1);
}

static void shape_DWORDS(struct decoder *d)
{
    set_lanes(d, eight_or(d, 8), 4, 1);
    d->f->unit_B = 4;
}

static void shape_QWORDS(struct decoder *d)
{
    set_lanes(d, eight_or(d, 8), 8, 1u << bits(d, 10, 2));
}

static void set_channels(struct decoder *d, uint32_t lanes, uint32_t element_B, uint32_t enabled)
{
    set_lanes(d, lanes, element_B, (uint32_t)__builtin_popcount(enabled));
    d->f->channels = (uint8_t)enabled;
}

static void shape_UNTYPED(struct decoder *d)
{
    static const uint8_t lanes[4] = {8, 16, 8, 8};
    uint32_t mode = bits(d, 12, 2);
    set_channels(d, lanes[mode], 4, ~bits(d, 8, 4) & 0xf);
    d->f->is_other_half = mode == 0 || mode == 3;
}

/* Each channel is moved as a dword; what it takes in the image depends on the image's format. */
static void shape_TYPED(struct decoder *d)
{
    set_channels(d, 8, 4, ~bits(d, 8, 4) & 0xf);
    d->f->is_other_half = bits(d, 12, 2) != 1;
}

static void shape_TYPED_STATUS(struct decoder *d)
{
    shape_TYPED(d);
}

static void set_atomic(struct decoder *d, uint32_t lanes, uint32_t element_B, uint32_t operation)
{
    bool is_wide = (operation == ZS_ATOMIC_CMPWR64 && element_B == 4) ||
                   operation == ZS_ATOMIC_FADD64 || operation == ZS_ATOMIC_FSUB64;
    set_lanes(d, lanes, is_wide ? 8 : element_B, 1);
    d->f->atomic = (uint8_t)operation;
    d->f->detail = zs_atomic_row(operation)->name;
    d->f->returns = bits(d, 13, 1);
}

/* By address of 64 bits it has eight lanes, but for integers of 32 and 64 bits. */
static uint32_t atomic_lanes(const struct decoder *d)
{
    return d->f->address_B == 8 || bits(d, 12, 1) ? 8 : 16;
}

static void shape_ATOMIC(struct decoder *d)
{
    set_atomic(d, atomic_lanes(d), 4, bits(d, 8, 4));
}

static void shape_ATOMIC16(struct decoder *d)
{
    set_atomic(d, atomic_lanes(d), 2, bits(d, 8, 4));
}

static void shape_A64_ATOMIC(struct decoder *d)
{
    set_atomic(d, d->f->generation->payload_lanes, bits(d, 12, 1) ? 8 : 4, bits(d, 8, 4));
}

static void shape_COUNTER(struct decoder *d)
{
    set_atomic(d, atomic_lanes(d), 4, bits(d, 8, 4));
}

static void shape_COUNTER16(struct decoder *d)
{
    set_atomic(d, atomic_lanes(d), 2, bits(d, 8, 4));
}

static void shape_TYPED_ATOMIC(struct decoder *d)
{
    set_atomic(d, 8, 4, bits(d, 8, 4));
    d->f->is_other_half = !bits(d, 12, 1);
}

static void shape_TYPED_ATOMIC16(struct decoder *d)
{
    set_atomic(d, 8, 2, bits(d, 8, 4));
    d->f->is_other_half = !bits(d, 12, 1);
}

static void shape_FLOAT_ATOMIC(struct decoder *d)
{
    set_atomic(d, atomic_lanes(d), 4, ZS_ATOMIC_FLOAT + bits(d, 8, 3));
}

static void shape_FLOAT_ATOMIC16(struct decoder *d)
{
    set_atomic(d, atomic_lanes(d), 2, ZS_ATOMIC_FLOAT + bits(d, 8, 3));
}

static void shape_A64_SCATTERED(struct decoder *d)
{
    uint32_t type = bits(d, 8, 2), code = bits(d, 10, 2), lanes = eight_or(d, 12);
    if (type == 0)
        set_lanes(d, lanes, code < 3 ? 1u << code : 0, 1);
    else
        set_lanes(d, lanes, type == 1 ? 4 : type == 2 ? 8 : 0, 1u << code);
}

static void shape_A64_BLOCK(struct decoder *d)
{
    if (bits(d, 11, 2) == 3)
        set_block(d, 32, 1u << ZS_MIN(bits(d, 8, 3), 4u));
    else
        shape_UNALIGNED(d);
    d->f->unit_B = 1;
}

/* Width and height come from a register. */
static void shape_MEDIA(struct decoder *d)
{
    (void)d;
}

/* Descriptor bit 18 of dc0: blocks of registers at an offset into the thread's scratch space. */
static void shape_SCRATCH(struct decoder *d)
{
    set_block(d, 32, 1u << bits(d, 12, 2));
    d->f->surface = ZS_SURFACE_SCRATCH;
    d->f->scratch_offset_B = bits(d, 0, 12) * 32;
    d->f->is_masked = bits(d, 16, 1);
}

/* ---- shapes of load/store cache messages ---- */

static int32_t sign_extend(uint32_t value, uint32_t low, uint32_t count)
{
    uint32_t sign = 1u << (count - 1);
    value = value >> low & ((1u << count) - 1);
    return (int32_t)((value ^ sign) - sign);
}

enum { FLAT, BINDLESS, SURFACE_STATE, BINDING_TABLE }; /* bits 30:29 */

static void set_offset(struct decoder *d)
{
    const struct zs_isa_send *s = d->send;
    struct zs_lsc_offset *offset = &d->f->offset;
    uint32_t word = s->ex_in_register ? s->ex_offset : s->ex_desc;
    uint32_t surface = bits(d, 29, 2);
    if (!d->f->generation->has_offsets) {
        uint32_t bits_of_one = surface == FLAT ? ~0xfffu : surface == BINDING_TABLE ? 0xfff000 : 0;
        d->f->has_early_offset = s->ex_desc & bits_of_one;
        return;
    }
    if (d->f->shape == ZS_SHAPE_BLOCK2D) {
        offset->x = surface == FLAT ? sign_extend(word, 12, 10) : 0;
        offset->y = surface == FLAT ? sign_extend(word, 22, 10) : 0;
    } else if (surface == FLAT) {
        offset->bytes = sign_extend(word, 12, 20);
    } else if (surface != BINDING_TABLE && s->ex_in_register) { /* around its number */
        word = (word >> 19 & 0x1fff) << 4 | (word >> 12 & 15);
        offset->bytes = sign_extend(word, 0, 17);
    } else if (surface == BINDING_TABLE && !s->ex_in_register) {
        offset->bytes = sign_extend(word, 12, 12);
    }
}

/* Bits 10:6 of a state's number have another meaning without "ExBSO". */
static void set_lsc_surface(struct decoder *d)
{
    static const uint8_t surfaces[4] = {ZS_SURFACE_STATELESS, ZS_SURFACE_BINDLESS, ZS_SURFACE_STATE,
                                        ZS_SURFACE_BTI};
    const struct zs_isa_send *s = d->send;
    uint32_t surface = bits(d, 29, 2);
    d->f->surface = surfaces[surface];
    if (surface == BINDING_TABLE) {
        d->f->index = s->ex_desc >> 24;
        if (d->f->index == ZS_INDEX_STATELESS)
            d->f->surface = ZS_SURFACE_STATELESS;
    } else if (surface != FLAT) {
        d->f->index = (s->is_surface_offset ? s->ex_desc : s->ex_desc & ~0x7ffu) >> 6;
    } else if (s->sfid == ZS_SFID_SLM) {
        d->f->surface = ZS_SURFACE_SLM;
    }
}

static void set_lsc_address(struct decoder *d)
{
    const struct zs_isa_generation *g = d->f->generation;
    uint32_t size = bits(d, 7, 2);
    d->f->address_B = (uint8_t)(size ? 1u << size : 0);
    d->f->caching_code = (uint8_t)bits(d, 16, 4);
    d->f->caching = (d->f->kind == ZS_MSG_LOAD ? g->loads : g->stores)[bits(d, 16, 4)];
    d->f->returns = d->f->kind == ZS_MSG_ATOMIC && d->send->rlen;
    set_lsc_surface(d);
    set_offset(d);
}

static void set_lsc_data(struct decoder *d)
{
    /* the first two are packed */
    static const struct {
        uint8_t element_B, slot_B;
    } sizes[8] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {1, 4}, {2, 4}, {2, 4}};
    uint32_t size = bits(d, 9, 3);
    d->f->lanes = (uint8_t)d->send->exec_size;
    d->f->element_B = sizes[size].element_B;
    d->f->slot_B = sizes[size].slot_B;
    d->f->is_upper = size == 6;
}

/* One of all lanes, where it is transposed: a block, unless elements are widened. */
static void shape_VECTOR(struct decoder *d)
{
    static const uint8_t vectors[8] = {1, 2, 3, 4, 8, 16, 32, 64};
    set_lsc_address(d);
    set_lsc_data(d);
    d->f->elements = vectors[bits(d, 12, 3)];
    d->f->is_transposed = bits(d, 15, 1);
    if (d->f->is_transposed)
        d->f->lanes = d->f->slot_B != d->f->element_B;
}

/* Of four dwords (words, bytes, qwords) those that the mask names. */
static void shape_QUAD(struct decoder *d)
{
    set_lsc_address(d);
    set_lsc_data(d);
    d->f->channels = (uint8_t)bits(d, 12, 4);
    d->f->elements = (uint8_t)__builtin_popcount(d->f->channels);
}

/* Lanes' elements stand at equal distances. */
static void shape_STRIDED(struct decoder *d)
{
    shape_VECTOR(d);
}

/* The rest is said by the payload. */
static void shape_BLOCK2D(struct decoder *d)
{
    shape_VECTOR(d);
    d->f->lanes = 0;
    d->f->address_B = 8;
    d->f->is_vnni = bits(d, 7, 1);
}

static void shape_LSC_COUNTER(struct decoder *d)
{
    set_lsc_address(d);
    set_lanes(d, d->send->exec_size, 4, 1);
    d->f->address_B = 4;
}

static void shape_STATUS(struct decoder *d)
{
    shape_VECTOR(d);
}

static void shape_CCS(struct decoder *d)
{
    set_lsc_address(d);
    d->f->address_B = 0;
}

static void shape_STATE(struct decoder *d)
{
    shape_CCS(d);
}

/* Near ones order what threads of one group, or of one Xe core, see of each other. */
static void shape_LSC_FENCE(struct decoder *d)
{
    enum { SCOPE_LOCAL = 1 };
    d->f->surface = d->send->sfid == ZS_SFID_SLM ? ZS_SURFACE_SLM : ZS_SURFACE_NONE;
    d->f->is_near = bits(d, 9, 3) <= SCOPE_LOCAL;
}

/* ---- shapes of others ---- */

/* By bits 18:17. Integers, which are returned where bit 29 is set, have no mode here. */
static void shape_SAMPLER(struct decoder *d)
{
    const uint32_t lanes = d->f->generation->payload_lanes, mode = bits(d, 17, 2);
    if (d->f->kind == ZS_MSG_OTHER) /* a flush */
        return;
    d->f->is_half = bits(d, 30, 1);
    d->f->sampler = (uint8_t)bits(d, 8, 4);
    set_lanes(d, bits(d, 29, 1) ? 0 : mode == 1 ? lanes : mode == 2 ? 2 * lanes : 0, 4, 4);
}

static void shape_GATEWAY(struct decoder *d)
{
    d->f->operation = (uint8_t)bits(d, 0, d->f->generation->gateway_bits);
}

/* The surface of a render target; colours have four channels per lane. */
static void shape_RENDER(struct decoder *d)
{
    set_lanes(d, d->send->exec_size, bits(d, 30, 1) ? 2 : 4, 4);
}

static void shape_OTHER(struct decoder *d)
{
    (void)d;
}

#define SHAPE(name) shape_##name,
static void (*const shapes[ZS_SHAPE_COUNT])(struct decoder *d) = {ZS_MESSAGE_SHAPES(SHAPE)};
#undef SHAPE

static void read_shape(struct decoder *d, enum zs_message_shape shape)
{
    d->f->shape = (uint8_t)shape;
    shapes[shape](d);
}

static void name(struct decoder *d, enum zs_isa_message_kind kind, const char *text)
{
    d->f->kind = (uint8_t)kind;
    d->f->name = text;
}

/* ---- shared functions ---- */

static void set_surface(struct decoder *d)
{
    enum { STATE_SHIFT = 12, OFFSET_SHIFT = 6 };
    uint32_t index = bits(d, 0, 8), ex_desc = d->send->ex_desc;
    d->f->index = index;
    d->f->surface = index == ZS_INDEX_SLM        ? ZS_SURFACE_SLM
                    : index == ZS_INDEX_BINDLESS ? ZS_SURFACE_BINDLESS
                    : index == ZS_INDEX_STATELESS || index == ZS_INDEX_NON_COHERENT
                        ? ZS_SURFACE_STATELESS
                        : ZS_SURFACE_BTI;
    if (index == ZS_INDEX_BINDLESS)
        d->f->index = ex_desc >> (d->send->is_surface_offset ? OFFSET_SHIFT : STATE_SHIFT);
}

static void decode_dataport(struct decoder *d)
{
    const struct zs_dataport_row *row =
        zs_dataport_row((enum zs_isa_sfid)d->send->sfid, d->send->desc);
    d->f->has_header = bits(d, 19, 1);
    if (d->send->sfid == ZS_SFID_DC0 && bits(d, 18, 1)) {
        bool write = bits(d, 17, 1);
        name(d, write ? ZS_MSG_STORE : ZS_MSG_LOAD, write ? "scratch write" : "scratch read");
        d->f->address_B = 4;
        read_shape(d, ZS_SHAPE_SCRATCH);
        return;
    }
    if (!row->name)
        return;
    name(d, (enum zs_isa_message_kind)row->kind, row->name);
    d->f->address_B = row->address_bits / 8;
    d->f->unit_B = 1;
    if (row->kind != ZS_MSG_FENCE && row->kind != ZS_MSG_OTHER)
        set_surface(d);
    read_shape(d, (enum zs_message_shape)row->shape);
}

static void decode_lsc(struct decoder *d)
{
    const struct zs_lsc_row *row = zs_lsc_row(d->f->generation, d->send->desc);
    d->f->operation = (uint8_t)bits(d, 0, 6);
    d->f->is_lsc = true;
    if (!row->name)
        return;
    name(d, (enum zs_isa_message_kind)row->kind, row->name);
    d->f->detail = row->detail;
    d->f->atomic = row->atomic;
    d->f->unit_B = 1;
    read_shape(d, (enum zs_message_shape)row->shape);
    if (d->send->sfid == ZS_SFID_TGM && d->f->shape == ZS_SHAPE_QUAD)
        d->f->shape = ZS_SHAPE_TYPED;
    if (d->send->sfid == ZS_SFID_TGM && d->f->shape == ZS_SHAPE_BLOCK2D)
        d->f->shape = ZS_SHAPE_MEDIA;
    if (d->send->sfid == ZS_SFID_TGM && d->f->kind == ZS_MSG_ATOMIC)
        d->f->shape = ZS_SHAPE_TYPED_ATOMIC;
}

static void decode_sampler(struct decoder *d)
{
    const struct zs_sampler_row *row = zs_sampler_row(d->f->generation, d->send->desc);
    d->f->has_header = bits(d, 19, 1);
    d->f->operation = (uint8_t)bits(d, 12, 5);
    if (d->f->generation->has_sampler_offsets)
        d->f->operation |= (uint8_t)(bits(d, 31, 1) << 5);
    if (row->kind != ZS_MSG_OTHER)
        set_surface(d);
    if (row->name) {
        name(d, (enum zs_isa_message_kind)row->kind, "sampler");
        d->f->detail = row->name;
    }
    read_shape(d, ZS_SHAPE_SAMPLER);
}

static void decode_gateway(struct decoder *d)
{
    static const char *const names[16] = {"open",
                                          "signal event",
                                          "monitor event",
                                          "unmonitor event",
                                          "barrier",
                                          NULL,
                                          "wait",
                                          NULL,
                                          "save barrier",
                                          "restore barrier",
                                          "end of restore",
                                          "restore stack",
                                          "system routine barrier"};
    d->f->has_header = bits(d, 19, 1);
    read_shape(d, ZS_SHAPE_GATEWAY);
    const char *text = names[d->f->operation];
    name(d, d->f->operation == ZS_GATEWAY_BARRIER ? ZS_MSG_BARRIER : ZS_MSG_OTHER,
         text ? text : "gateway");
}

static void decode_render(struct decoder *d)
{
    uint32_t type = bits(d, 14, 4);
    if (type != 0xc && type != 0xd) {
        name(d, ZS_MSG_OTHER, "render target");
        return;
    }
    name(d, type == 0xc ? ZS_MSG_STORE : ZS_MSG_LOAD,
         type == 0xc ? "render target write" : "render target read");
    d->f->has_header = bits(d, 19, 1);
    set_surface(d);
    read_shape(d, ZS_SHAPE_RENDER);
}

/* Up to XeHPC; later urb messages are those of the load/store cache. */
static void decode_urb(struct decoder *d)
{
    uint32_t operation = bits(d, 0, 4);
    name(d, operation == 9 ? ZS_MSG_FENCE : ZS_MSG_OTHER,
         operation == 7   ? "urb write"
         : operation == 8 ? "urb read"
         : operation == 9 ? "urb fence"
                          : "urb");
}

static const char *const other_names[ZS_SFID_COUNT] = {
    [ZS_SFID_NULL] = "null",
    [ZS_SFID_TS] = "thread spawner",
    [ZS_SFID_VME] = "motion estimation",
    [ZS_SFID_PIXI] = "pixel interpolator",
    [ZS_SFID_CRE] = "refinement",
    [ZS_SFID_BTD] = "thread dispatch",
    [ZS_SFID_RTA] = "ray tracing",
};

static void decode_other(struct decoder *d)
{
    if (d->send->sfid < ZS_SFID_COUNT && other_names[d->send->sfid])
        name(d, ZS_MSG_OTHER, other_names[d->send->sfid]);
}

void zs_message_form(const struct zs_isa_send *send, struct zs_message_form *f)
{
    static void (*const functions[ZS_SFID_COUNT])(struct decoder *) = {
        [ZS_SFID_DC0] = decode_dataport,  [ZS_SFID_DC1] = decode_dataport,
        [ZS_SFID_DCRO] = decode_dataport, [ZS_SFID_SMPL] = decode_sampler,
        [ZS_SFID_GTWY] = decode_gateway,  [ZS_SFID_RC] = decode_render,
        [ZS_SFID_URB] = decode_urb,
    };
    struct decoder d = {send, f};
    if (send->is_e64) {
        zs_e64_send_form(send, f);
        return;
    }
    *f = (struct zs_message_form){.generation = send->generation,
                                  .detail = "",
                                  .sfid = send->sfid,
                                  .desc = send->desc,
                                  .kind = ZS_MSG_UNKNOWN,
                                  .exec_size = (uint8_t)send->exec_size,
                                  .is_surface_offset = send->is_surface_offset};
    if (zs_is_lsc(send->generation, send->sfid))
        decode_lsc(&d);
    else if (send->sfid < ZS_SFID_COUNT && functions[send->sfid])
        functions[send->sfid](&d);
    else
        decode_other(&d);
}
