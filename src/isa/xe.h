/* SPDX-License-Identifier: MIT */
/*
 * The encodings from Gen12LP on: what their files share. There are two layouts of one family: that
 * of Gen12LP to XeHPG, and that of XeHPC, Xe2 and Xe3 with 64-byte registers, wider SWSB, two-bit
 * predicate control and no AccWrEn. Places of fields come from the layout; where the two differ in
 * what a field's code means, zs_xe_is_wide asks.
 */
#ifndef ZS_ISA_XE_H
#define ZS_ISA_XE_H

#include "isa/decode_common.h"

/* Codes of the two-bit register file fields; 2 and 3 are immediates. */
enum { ZS_XE_ARF = 0, ZS_XE_GRF = 1, ZS_XE_IMM = 2 };
enum { ZS_XE_MATH_INVM = 14 }; /* from here on math functions are macros */

/* A constant wherever the layout is. */
ZS_FOLD bool zs_xe_is_wide(struct zs_isa_decoder d)
{
    return d.layout == &zs_isa_layout_xe2;
}

static inline bool zs_xe_is_macro(uint32_t op, uint32_t function)
{
    return op == ZS_OP_MADM || (op == ZS_OP_MATH && function >= ZS_XE_MATH_INVM);
}

/* Sources by math function; 0: reserved on the platform. */
uint32_t zs_xe_math_sources(enum zs_isa_platform platform, uint32_t function);

/* Whether the operation takes the type there: most take all of the base types, few the others. */
enum zs_xe_operand { ZS_XE_DST, ZS_XE_SRC };
bool zs_xe_type_allowed(enum zs_isa_platform platform, uint32_t op, enum zs_xe_operand operand,
                        uint32_t type);
/* Whether matrices of a systolic multiplication may have the type. */
bool zs_xe_dpas_takes(enum zs_isa_platform platform, uint32_t type);
/* Types of three-source operands by execution type (integer, float) and code; of systolic ones. */
extern const uint8_t zs_xe_ternary_types[2][8];
extern const uint8_t zs_xe_dpas_types[2][8];
extern const uint8_t zs_xe_precisions[2][32];
extern const uint8_t zs_xe_ternary_vstride[4];
/* Shared functions by their number, up to XeHP and from XeHPG on. */
extern const uint8_t zs_xe_sfids[2][16];

/* Whether the instruction itself has the length of a send's second payload. */
bool zs_xe_has_second_length(const struct zs_isa_model *model, const struct zs_isa_inst *inst);

/* Software scoreboard to and from its field. False: reserved, or not encodable. `inst` is decoded:
 * what a pair of distance and token means depends on the kind of instruction. */
bool zs_xe_decode_swsb(enum zs_isa_platform platform, uint32_t code, struct zs_isa_inst *inst);
bool zs_xe_encode_swsb(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                       uint32_t *ret_code);

/* The three-source forms and sends; xe_decode.c does the rest. One for each layout. */
enum zs_isa_error zs_xe_decode_ternary(const struct zs_isa_model *model,
                                       const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                       struct zs_isa_inst *inst);
enum zs_isa_error zs_xe2_decode_ternary(const struct zs_isa_model *model,
                                        const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                        struct zs_isa_inst *inst);
enum zs_isa_error zs_xe_decode_send(const struct zs_isa_model *model,
                                    const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                    struct zs_isa_inst *inst);
enum zs_isa_error zs_xe2_decode_send(const struct zs_isa_model *model,
                                     const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                     struct zs_isa_inst *inst);
enum zs_isa_error zs_xe_decode(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                               const uint64_t bits[2], struct zs_isa_inst *inst);
enum zs_isa_error zs_xe2_decode(const struct zs_isa_model *model,
                                const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                struct zs_isa_inst *inst);

enum zs_isa_field zs_xe_encode(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                               const struct zs_isa_inst *inst, uint64_t bits[2]);
enum zs_isa_field zs_xe2_encode(const struct zs_isa_model *model,
                                const struct zs_isa_opcode *opcode, const struct zs_isa_inst *inst,
                                uint64_t bits[2]);
bool zs_xe_expand(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                  uint64_t compact, uint64_t ret_bits[2]);
bool zs_xe_compact(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                   const uint64_t bits[2], uint64_t *ret);

#endif
