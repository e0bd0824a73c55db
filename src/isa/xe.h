/* SPDX-License-Identifier: MIT */
/*
 * The encodings from Gen12LP on: what their files share. There are two layouts of one family: that
 * of Gen12LP to XeHPG, and that of XeHPC to Xe3P with 64-byte registers, wider SWSB, two-bit
 * predicate control and no AccWrEn. Places of fields come from the layout; where the two differ in
 * what a field's code means, zs_xe_is_wide asks.
 *
 * Xe3P has 512 registers, whose highest bit stands elsewhere in each form. It takes the place of
 * the second source's region, which is scalar or as wide as the destination's, and of types' bits.
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

/* Where bit 8 of general registers stands from Xe3P on, of address registers bit 4: of the
 * destination and three sources, ZS_F_COUNT: it has none. */
const uint16_t *zs_xe_high_fields(const struct zs_isa_opcode *opcode,
                                  const struct zs_isa_inst *inst);
/* Whether types of destination and first source share their highest bit: from Xe3P on those of two
 * sources, and of math. */
static inline bool zs_xe_shares_type(const struct zs_isa_model *model,
                                     const struct zs_isa_opcode *opcode)
{
    return model->platform >= ZS_ISA_XE3P &&
           (opcode->form == ZS_FORM_BINARY || opcode->form == ZS_FORM_MATH);
}
/* To one type, from one. */
static inline bool zs_xe_is_dnscl(uint32_t function)
{
    uint32_t to = function & (ZS_DNSCL_E2M1 | ZS_DNSCL_INT4);
    return to && to != (ZS_DNSCL_E2M1 | ZS_DNSCL_INT4) &&
           !(function & ZS_DNSCL_BF && function & ZS_DNSCL_F);
}
/* The step of a second source that is not scalar: as many bytes as the destination's. 0: none. */
static inline uint32_t zs_xe_flat_step(const struct zs_isa_operand *dst,
                                       const struct zs_isa_operand *src1)
{
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)src1->type);
    uint32_t step = bits ? dst->hstride * zs_isa_type_bits((enum zs_isa_type)dst->type) / bits : 0;
    return step & (step - 1) || step > 16 ? 0 : step;
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
enum zs_isa_error zs_xe3p_decode_sendg(const struct zs_isa_model *model,
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
