/* SPDX-License-Identifier: MIT */
/*
 * What the decoders of both families share: controls, options, and the operands of one- and
 * two-source instructions. The layout is a constant where these are called, so each family gets
 * its own copy with the places of its fields folded in.
 *
 * Each returns 0 or the first error.
 */
#ifndef ZS_ISA_DECODE_COMMON_H
#define ZS_ISA_DECODE_COMMON_H

#include "isa/inst.h"

struct zs_isa_decoder {
    const struct zs_isa_model *model;
    const struct zs_isa_layout *layout;
    const struct zs_isa_opcode *opcode;
    const uint64_t *bits;
};

ZS_FOLD uint32_t zs_dec_get(struct zs_isa_decoder d, enum zs_isa_field field)
{
    return (uint32_t)zs_isa_get(d.layout, d.bits, field);
}

/* Stride codes: 0, 1, 2, 4, ... */
ZS_FOLD uint8_t zs_dec_stride(uint32_t code)
{
    return (uint8_t)((1u << code) >> 1);
}

/* Sign-extended from `width` bits. */
ZS_FOLD int16_t zs_dec_signed(uint32_t value, unsigned width)
{
    return (int16_t)((int32_t)(value << (32 - width)) >> (32 - width));
}

/* The file and number of a direct register from its file bit(s) and 8-bit code. */
static inline enum zs_isa_error zs_dec_register(const struct zs_isa_model *model, bool is_grf,
                                                uint32_t code, struct zs_isa_operand *op)
{
    if (is_grf) {
        op->file = ZS_FILE_GRF;
        op->reg = (uint16_t)code;
        return ZS_ISA_BAD_NONE;
    }
    uint8_t reg;
    if (!zs_isa_model_arf(model, code, &op->file, &reg))
        return ZS_ISA_BAD_REGISTER;
    op->reg = reg;
    return ZS_ISA_BAD_NONE;
}

/* Bytes of an element as a power of two, from ub on. */
static const uint8_t zs_dec_type_shifts[ZS_TYPE_COUNT] = {
    [ZS_TYPE_UW] = 1, [ZS_TYPE_W] = 1,    [ZS_TYPE_HF] = 1, [ZS_TYPE_BF] = 1, [ZS_TYPE_UD] = 2,
    [ZS_TYPE_D] = 2,  [ZS_TYPE_F] = 2,    [ZS_TYPE_NF] = 2, [ZS_TYPE_V] = 2,  [ZS_TYPE_UV] = 2,
    [ZS_TYPE_VF] = 2, [ZS_TYPE_TF32] = 2, [ZS_TYPE_UQ] = 3, [ZS_TYPE_Q] = 3,  [ZS_TYPE_DF] = 3,
};

ZS_FOLD void zs_dec_subreg(struct zs_isa_decoder d, uint32_t subreg_B, struct zs_isa_operand *op)
{
    op->subreg_B = (uint8_t)subreg_B;
    if (op->file == ZS_FILE_GRF && op->type >= ZS_TYPE_UB)
        op->subreg = (uint8_t)(subreg_B >> zs_dec_type_shifts[op->type]);
    else
        op->subreg = zs_isa_model_subreg(d.model, op->file, op->type, subreg_B);
}

/* Bits of an immediate that count: those of its type. */
ZS_FOLD void zs_dec_immediate(struct zs_isa_decoder d, struct zs_isa_operand *op)
{
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)op->type);
    op->kind = ZS_OPERAND_IMM;
    if (bits == 64) {
        op->imm = zs_isa_get(d.layout, d.bits, ZS_F_IMM64);
        return;
    }
    op->imm = zs_dec_get(d, ZS_F_IMM32);
    if (bits == 16)
        op->imm &= 0xffff;
    else if (bits == 8)
        op->imm &= 0xff;
}

#endif
