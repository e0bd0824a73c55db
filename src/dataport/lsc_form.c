/* SPDX-License-Identifier: MIT */
/*
 * Which forms of load/store cache messages there are. A descriptor can say much that no hardware
 * does; lsc_rule.def names it, a sentence each, and what is legal and not modelled. The decoders of
 * lsc.c and block2d.c see nothing else.
 */
#include "dataport/dataport_priv.h"

#include <errno.h>

/* of src/isa/lsc.def */
enum {
    LOAD = 0x00,
    LOAD_STRIDED = 0x01,
    LOAD_QUAD = 0x02,
    LOAD_BLOCK2D = 0x03,
    STORE = 0x04,
    STORE_STRIDED = 0x05,
    STORE_QUAD = 0x06,
    STORE_BLOCK2D = 0x07,
    FIRST_ATOMIC = 0x08,
    COMPARE_AND_SWAP = 0x12,
    FLOAT_ADDITION = 0x13,
    FLOAT_SUBTRACTION = 0x14,
    LAST_ATOMIC = 0x1a,
    LOAD_STATUS = 0x1b,
    STORE_UNCOMPRESSED = 0x1c,
    COMPRESSION = 0x1d,
    STATE_INFORMATION = 0x1e,
    STORE_UNCOMPRESSED_QUAD = 0x20,
};
enum { FLAT, BINDLESS, SURFACE_STATE, BINDING_TABLE };
enum { UNCACHED_WRITE_BACK = 2 }; /* bits 19:17: 0 default, 1 uncached, 2 so in L1 alone */

/* A message in plain numbers. */
struct form {
    const struct zs_isa_generation *g;
    uint32_t opcode, lanes, caching;
    uint32_t surface, index, offset; /* kind of surface, which, what all addresses are moved by */
    uint32_t address_B, element_B, slot_B, elements, channels;
    bool is_local, is_typed, is_remote, is_scratch; /* the last: the surface of scratch memory */
    bool is_quad, is_atomic, is_block2d, is_store, is_transposed, is_vnni, is_upper;
};

/* ---- from descriptors --------------------------------------------------------------------------
 */

const struct zs_port_lsc_size *zs_port_lsc_size(uint32_t desc)
{
    /* the first two are packed */
    static const struct zs_port_lsc_size sizes[8] = {{1, 1, 0}, {2, 2, 0}, {4, 4, 0}, {8, 8, 0},
                                                     {1, 4, 0}, {2, 4, 0}, {2, 4, 1}};
    return &sizes[zs_port_bits(desc, 11, 9)];
}

uint32_t zs_port_lsc_vector(uint32_t desc)
{
    static const uint8_t lengths[8] = {1, 2, 3, 4, 8, 16, 32, 64};
    return lengths[zs_port_bits(desc, 14, 12)];
}

/*
 * Where the surface is said: of the binding table in bits 31:24; else in bits 31:6 its state, in
 * units of 64 bytes from the heap's start. Bits 10:6 have another meaning where the extended
 * descriptor is in the instruction, or in a register without "ExBSO" (is_surface_offset).
 */
static void read_surface(struct form *f, const struct zs_port_send *send)
{
    uint32_t ex_desc = send->ex_desc;
    f->surface = zs_port_bits(send->desc, 30, 29);
    switch (f->surface) {
    case BINDING_TABLE:
        f->index = ex_desc >> 24;
        f->offset = zs_port_bits(ex_desc, 23, 12);
        break;
    case FLAT:
        f->offset = ex_desc >> 12;
        break;
    default:
        f->index = (send->is_surface_offset ? ex_desc : ex_desc & ~0x7ffu) >> 6;
        f->is_scratch = f->surface == SURFACE_STATE && send->is_surface_offset &&
                        f->index == ZS_PORT_SCRATCH_HANDLE >> 10;
    }
}

static void read_data(struct form *f, uint32_t desc)
{
    const struct zs_port_lsc_size *size = zs_port_lsc_size(desc);
    f->element_B = size->element_B;
    f->slot_B = size->slot_B;
    f->is_upper = size->upper;
    f->is_quad =
        f->opcode == LOAD_QUAD || f->opcode == STORE_QUAD || f->opcode == STORE_UNCOMPRESSED_QUAD;
    f->is_atomic = f->opcode >= FIRST_ATOMIC && f->opcode <= LAST_ATOMIC;
    f->is_block2d = f->opcode == LOAD_BLOCK2D || f->opcode == STORE_BLOCK2D;
    f->is_store = f->opcode == STORE || f->opcode == STORE_STRIDED || f->opcode == STORE_QUAD ||
                  f->opcode == STORE_BLOCK2D || f->opcode == STORE_UNCOMPRESSED ||
                  f->opcode == STORE_UNCOMPRESSED_QUAD;
    f->elements = 1;
    if (f->is_quad) {
        f->channels = zs_port_bits(desc, 15, 12);
        f->elements = (uint32_t)__builtin_popcount(f->channels);
    } else {
        f->elements = f->is_block2d ? 1 : zs_port_lsc_vector(desc);
        f->is_transposed = zs_port_bits(desc, 15, 15);
        f->is_vnni = f->is_block2d && zs_port_bits(desc, 7, 7);
    }
}

static void read_form(struct form *f, const struct zs_port_send *send)
{
    uint32_t address = zs_port_bits(send->desc, 8, 7);
    *f = (struct form){.opcode = zs_port_bits(send->desc, 5, 0),
                       .lanes = send->exec_size,
                       .g = send->generation,
                       .caching = zs_port_bits(send->desc, 19, 17),
                       .address_B = address ? 1u << address : 0,
                       .is_local = send->sfid == ZS_SFID_SLM,
                       .is_typed = send->sfid == ZS_SFID_TGM,
                       .is_remote = send->sfid == ZS_SFID_UGML};
    read_surface(f, send);
    read_data(f, send->desc);
}

/* ---- rules -------------------------------------------------------------------------------------
 */

/* Of each operand: an element of all lanes begins in a register of its own. */
static uint32_t data_registers(const struct form *f)
{
    uint32_t size_B = f->slot_B * (f->is_transposed ? f->elements : f->lanes);
    uint32_t registers = ZS_MAX(size_B / f->g->grf_B, 1u);
    return f->is_transposed ? registers : registers * f->elements;
}

#define LSC_RULE(name, error, condition, text)                                                     \
    static bool name(const struct form *f)                                                         \
    {                                                                                              \
        return (condition);                                                                        \
    }
#include "dataport/lsc_rule.def"

static const struct {
    bool (*holds)(const struct form *f);
    int error;
    const char *text;
} rules[] = {
#define LSC_RULE(name, error, condition, text) {name, -(error), text},
#include "dataport/lsc_rule.def"
};

int zs_port_lsc_check(const struct zs_port_send *send, const char **ret_why)
{
    struct form f;
    if (zs_port_bits(send->desc, 5, 0) == ZS_PORT_LSC_FENCE)
        return 0;
    read_form(&f, send);
    for (size_t i = 0; i < ZS_ARRAY_LEN(rules); i++) {
        if (rules[i].holds(&f)) {
            *ret_why = rules[i].text;
            return rules[i].error;
        }
    }
    return 0;
}

/* ---- what it reaches ---------------------------------------------------------------------------
 */

void zs_port_lsc_surface(struct zs_port_message *m, const struct zs_port_send *send)
{
    struct form f;
    read_form(&f, send);
    m->address_B = (uint8_t)(f.is_block2d ? 8 : f.address_B);
    m->bti = BTI_STATELESS;
    if (f.is_local) {
        m->bti = BTI_SLM;
        m->space = ZS_PORT_SPACE_SLM;
    } else if (f.is_scratch) {
        m->bti = BTI_SCRATCH_SURFACE;
        m->space = ZS_PORT_SPACE_SCRATCH;
    } else if (f.surface == FLAT && m->address_B == 4) {
        m->space = ZS_PORT_SPACE_PAYLOAD; /* from general state base on, as by index 255 */
    } else if (f.surface != FLAT) {
        m->bti = (uint8_t)f.index;
        if (f.index == BTI_STATELESS)
            m->space = ZS_PORT_SPACE_PAYLOAD;
    }
    m->offset64 = f.surface != FLAT && f.address_B == 8;
}
