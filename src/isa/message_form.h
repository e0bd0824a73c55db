/* SPDX-License-Identifier: MIT */
/*
 * The one decoder of descriptors: what a send says, in plain numbers. Listings, the public struct
 * zs_isa_message, execution (src/dataport), models of time and checks read a form and no bits.
 *
 *     struct zs_message_form form;
 *     zs_message_form(&send, &form);
 *
 * Every descriptor has a form: fields that are reserved are 0 there (a size of elements, a count of
 * channels), and who carries messages out refuses these by name (src/dataport/message_rule.def).
 * What a message is stands in rows: messages.def, lsc.def, sampler.def, sampler_xe2.def; what its
 * generation is like in generation.c.
 */
#ifndef ZS_ISA_MESSAGE_FORM_H
#define ZS_ISA_MESSAGE_FORM_H

#include "isa/generation.h"
#include "isa/inst.h"

/* How the rest of a descriptor reads: columns of messages.def, then of lsc.def, then other shared
 * functions'. Functions of message_form.c. */
#define ZS_MESSAGE_SHAPES(X)                                                                       \
    X(NONE)                                                                                        \
    X(FENCE)                                                                                       \
    X(OWORDS)                                                                                      \
    X(UNALIGNED)                                                                                   \
    X(HWORDS)                                                                                      \
    X(BYTES)                                                                                       \
    X(DWORDS)                                                                                      \
    X(QWORDS)                                                                                      \
    X(UNTYPED)                                                                                     \
    X(TYPED)                                                                                       \
    X(TYPED_STATUS)                                                                                \
    X(ATOMIC)                                                                                      \
    X(ATOMIC16)                                                                                    \
    X(A64_ATOMIC)                                                                                  \
    X(COUNTER)                                                                                     \
    X(COUNTER16)                                                                                   \
    X(TYPED_ATOMIC)                                                                                \
    X(TYPED_ATOMIC16)                                                                              \
    X(FLOAT_ATOMIC)                                                                                \
    X(FLOAT_ATOMIC16)                                                                              \
    X(A64_SCATTERED)                                                                               \
    X(A64_BLOCK)                                                                                   \
    X(MEDIA)                                                                                       \
    X(SCRATCH)                                                                                     \
    X(VECTOR)                                                                                      \
    X(QUAD)                                                                                        \
    X(STRIDED)                                                                                     \
    X(BLOCK2D)                                                                                     \
    X(LSC_COUNTER)                                                                                 \
    X(STATUS)                                                                                      \
    X(CCS)                                                                                         \
    X(STATE)                                                                                       \
    X(LSC_FENCE)                                                                                   \
    X(SAMPLER)                                                                                     \
    X(GATEWAY)                                                                                     \
    X(RENDER)                                                                                      \
    X(OTHER)
#define ZS_SHAPE_ENUM(name) ZS_SHAPE_##name,
enum zs_message_shape { ZS_MESSAGE_SHAPES(ZS_SHAPE_ENUM) ZS_SHAPE_COUNT };
#undef ZS_SHAPE_ENUM

enum zs_message_atomic {
#define ZS_ATOMIC(number, name, text, words) ZS_ATOMIC_##name = (number),
#include "isa/atomics.def"
    ZS_ATOMIC_COUNT,
    ZS_ATOMIC_FLOAT = 16, /* operations on floats count from here */
};

enum zs_lsc_operation {
#define ZS_LSC(opcode, id, shape, kind, name, words) ZS_LSC_##id = (opcode),
#define ZS_LSC_ATOMIC(opcode, atomic, name, words)   ZS_LSC_ATOMIC_##atomic = (opcode),
#define ZS_LSC_COUNTER(opcode, id, name, words)      ZS_LSC_##id = (opcode),
#include "isa/lsc.def"
};

enum { ZS_GATEWAY_BARRIER = 4, ZS_GATEWAY_NAMED_BARRIER = 5 /* of sendg */ };

/* A message as its instruction says it. */
struct zs_isa_send {
    const struct zs_isa_generation *generation;
    uint32_t sfid, desc, ex_desc; /* of the last, what a register has; 0 where it is not known */
    uint32_t ex_offset;           /* from Xe2 on: what the instruction has beside a register's */
    uint32_t mlen, xlen, rlen;    /* registers of src0, src1, and the response */
    uint32_t exec_size;
    bool ex_in_register;
    bool is_surface_offset; /* the extended descriptor is one ("ExBSO") */
    bool gathers;           /* addresses and data are both in src0, which has mlen registers */
    /* sendg of Xe3P: the rest of the descriptor, and what s0 has: in ex_desc a surface state's
     * address, here that of a sampler's; base: addresses begin at one that s0 has */
    bool is_e64, has_base;
    uint32_t desc_high, sampler_state;
};

/* Of all addresses, from Xe2 on; of a block of two dimensions x and y, in elements. */
struct zs_lsc_offset {
    int32_t bytes, x, y;
};

struct zs_message_form {
    const struct zs_isa_generation *generation;
    const char *name;   /* NULL: nothing is known of it */
    const char *detail; /* operation of an atomic, of the sampler; else "" */
    uint32_t sfid, desc;
    uint8_t kind;      /* enum zs_isa_message_kind */
    uint8_t shape;     /* enum zs_message_shape */
    uint8_t operation; /* enum zs_lsc_operation; the sampler's type; the gateway's function */
    uint8_t atomic;    /* enum zs_message_atomic */
    bool is_lsc, has_header, returns;
    /* where */
    uint8_t surface;        /* enum zs_isa_surface */
    bool is_surface_offset; /* see above */
    uint32_t index; /* of the binding table; of the state, where one is named (BINDLESS, STATE), in
                     * units of 64 bytes */
    uint8_t sampler;
    uint8_t address_B; /* 0: it has none, or they are coordinates */
    uint8_t unit_B;    /* of a 32-bit offset */
    struct zs_lsc_offset offset;
    bool has_early_offset; /* bits of one, where there is none */
    uint32_t scratch_offset_B;
    /* what */
    uint8_t lanes;      /* elements that the payload has room for, or names; 0: a block */
    uint8_t exec_size;  /* lanes of the instruction */
    uint8_t element_B;  /* in memory */
    uint8_t slot_B;     /* in registers */
    uint8_t elements;   /* of each lane, of a block */
    uint8_t channels;   /* mask; 0: it has none */
    bool is_upper;      /* words: upper half of their slots; one OWord: of its register */
    bool is_other_half; /* lanes are others than the first; SIMD4x2 */
    bool is_transposed, is_vnni;
    bool is_masked; /* scratch blocks: dwords are lanes' */
    bool is_half; /* what the sampler returns; integers, which no mode has here, count as lanes 0 */
    bool is_near; /* fences: of a group, or of one Xe core */
    struct zs_lsc_caching caching;
    uint8_t caching_code; /* descriptor bits 19:16 */
    /* sendg, for execution alone: an address is a base and scale_B times what src0 has, offset_B
     * bytes each */
    bool is_e64, is_signed;
    bool has_options; /* texels: offsets, the sampler's feedback, coordinates of 16 bits */
    uint8_t offset_B;
    uint16_t scale_B;
};

void zs_message_form(const struct zs_isa_send *send, struct zs_message_form *ret);

/* The same of a sendg, which zs_message_form() takes for who executes it. */
void zs_e64_send_form(const struct zs_isa_send *send, struct zs_message_form *ret);

/* For text, and how many registers come back: -1 where the instruction does not say. */
int32_t zs_e64_form(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                    struct zs_message_form *ret);

/* Whether the shared function takes messages of the load/store cache. Listings call them so also
 * where there is none: their numbers are reserved before XeHPG. */
bool zs_is_lsc(const struct zs_isa_generation *generation, uint32_t sfid);

#endif
