/* SPDX-License-Identifier: MIT */
/* The legacy encodings, Gen8 to Gen11: what their files share. */
#ifndef ZS_ISA_LEGACY_H
#define ZS_ISA_LEGACY_H

#include "isa/decode_common.h"

/* Codes of the register file fields. */
enum { ZS_LEGACY_ARF = 0, ZS_LEGACY_GRF = 1, ZS_LEGACY_IMM = 3 };
enum { ZS_LEGACY_VXH = 15 }; /* vertical stride: one address register per row */
enum {
    ZS_LEGACY_SWIZZLE_XYZW = 0xe4, /* Align16: components as they stand */
    ZS_LEGACY_SWIZZLE_XYXY = 0x44,
    ZS_LEGACY_SWIZZLE_ZWZW = 0xee
};
enum { ZS_LEGACY_CHAN_XYZW = 15 };
enum {
    ZS_LEGACY_A0 = 0x10,
    ZS_LEGACY_MME0 = 0x22,
    ZS_LEGACY_IP = 0xa0
}; /* encoded numbers of registers */

/* Types of three-source instructions by their 3-bit code. */
extern const uint8_t zs_legacy_ternary_types[8]; /* Align16 */
extern const uint8_t zs_legacy_ternary_types1[2]
                                             [8];  /* Align1: by execution type (integer, float) */
extern const uint8_t zs_legacy_ternary_vstride[4]; /* Align1 */
extern const uint8_t zs_legacy_math_sources[16];   /* 0: reserved */

/* A field at its place in these encodings. */
ZS_FOLD uint32_t zs_legacy_get(const uint64_t bits[2], enum zs_isa_field field)
{
    return (uint32_t)zs_isa_get(&zs_isa_layout_legacy, bits, field);
}

static inline bool zs_legacy_is_macro(uint32_t op, uint32_t function)
{
    return op == ZS_OP_MADM || (op == ZS_OP_MATH && function >= 14);
}

enum zs_isa_error zs_legacy_decode(const struct zs_isa_model *model,
                                   const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                   struct zs_isa_inst *inst);
enum zs_isa_error zs_legacy_decode_send(const struct zs_isa_model *model,
                                        const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                        struct zs_isa_inst *inst);
enum zs_isa_error zs_legacy_decode_ternary(const struct zs_isa_model *model,
                                           const struct zs_isa_opcode *opcode,
                                           const uint64_t bits[2], struct zs_isa_inst *inst);

bool zs_legacy_expand(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                      uint64_t compact, uint64_t ret_bits[2]);
bool zs_legacy_compact(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                       const uint64_t bits[2], uint64_t *ret);

enum zs_isa_field zs_legacy_encode(const struct zs_isa_model *model,
                                   const struct zs_isa_opcode *opcode,
                                   const struct zs_isa_inst *inst, uint64_t bits[2]);

#endif
