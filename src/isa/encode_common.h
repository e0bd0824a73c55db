/* SPDX-License-Identifier: MIT */
/*
 * What the encoders of both families share: fields are put until one does not fit, whose name is
 * the answer.
 */
#ifndef ZS_ISA_ENCODE_COMMON_H
#define ZS_ISA_ENCODE_COMMON_H

#include "isa/inst.h"

struct zs_isa_encoder {
    const struct zs_isa_model *model;
    const struct zs_isa_layout *layout;
    const struct zs_isa_opcode *opcode;
    const struct zs_isa_inst *inst;
    uint64_t *bits;
    enum zs_isa_field bad; /* the first that could not be put, or ZS_F_COUNT */
};

static inline void zs_enc_fail(struct zs_isa_encoder *e, enum zs_isa_field field)
{
    if (e->bad == ZS_F_COUNT)
        e->bad = field;
}

/* Refuse what the operation does not support, rather than lose it. A math macro may have the
 * condition eo all the same. */
void zs_enc_check_support(struct zs_isa_encoder *e, bool is_macro);

static inline void zs_enc_put(struct zs_isa_encoder *e, enum zs_isa_field field, uint64_t value)
{
    if (!zs_isa_put(e->layout, e->bits, field, value))
        zs_enc_fail(e, field);
}

/* A flag that the encoding, or this instruction, may not have. */
static inline void zs_enc_put_flag(struct zs_isa_encoder *e, enum zs_isa_field field, bool set)
{
    zs_enc_put(e, field, set ? 1 : 0);
}

/* Code of a stride: 0, 1, 2, 4, ... */
static inline void zs_enc_put_stride(struct zs_isa_encoder *e, enum zs_isa_field field,
                                     uint32_t stride)
{
    if (stride & (stride - 1) || stride > 32)
        zs_enc_fail(e, field);
    else
        zs_enc_put(e, field, stride ? (uint32_t)__builtin_ctz(stride) + 1 : 0);
}

/* Code of a power of two that is not 0. */
static inline void zs_enc_put_log2(struct zs_isa_encoder *e, enum zs_isa_field field,
                                   uint32_t value)
{
    if (value == 0 || value & (value - 1))
        zs_enc_fail(e, field);
    else
        zs_enc_put(e, field, (uint32_t)__builtin_ctz(value));
}

/* The code of a value in a table of codes, the first that has it. */
static inline void zs_enc_put_code(struct zs_isa_encoder *e, enum zs_isa_field field,
                                   const uint8_t *table, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        if (table[i] == value) {
            zs_enc_put(e, field, i);
            return;
        }
    }
    zs_enc_fail(e, field);
}

/* Two's complement in the field's width. */
static inline void zs_enc_put_signed(struct zs_isa_encoder *e, enum zs_isa_field field,
                                     int64_t value)
{
    struct zs_isa_bits f = e->layout->field[field];
    unsigned width = (unsigned)f.width + f.high_width;
    int64_t limit = INT64_C(1) << (width - 1);
    if (width == 0 || value < -limit || value >= limit)
        zs_enc_fail(e, field);
    else
        zs_enc_put(e, field, (uint64_t)value & ((UINT64_C(1) << width) - 1));
}

/* The 8-bit code of a direct register of any file; from Xe3P on a ninth bit is put elsewhere. */
static inline void zs_enc_put_register(struct zs_isa_encoder *e, enum zs_isa_field field,
                                       const struct zs_isa_operand *op)
{
    uint32_t code = op->reg;
    if (op->file != ZS_FILE_GRF && !zs_isa_model_arf_code(e->model, op->file, op->reg, &code))
        zs_enc_fail(e, field);
    else
        zs_enc_put(e, field, e->model->platform < ZS_ISA_XE3P ? code : code & 0xff);
}

#endif
