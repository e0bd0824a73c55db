/* SPDX-License-Identifier: MIT */
/*
 * Models: the rows of opcodes.def, registers.def and types.def by platform.
 *
 * Two rows for one number on one platform are a compile-time error (-Woverride-init).
 */
#include "isa/inst.h"

#define P ZS_OPC_PREDICATE
#define C ZS_OPC_CONDITION
#define S ZS_OPC_SATURATE
#define M ZS_OPC_SRC_MODS
#define B ZS_OPC_BRANCH_CTRL
static const struct zs_isa_opcode opcodes[] = {
#define ZS_OPCODE(op, code, form, first, last, flags)                                              \
    [__LINE__] = {ZS_OP_##op, code, ZS_FORM_##form, flags},
#include "isa/opcodes.def"
#undef ZS_OPCODE
};
#undef P
#undef C
#undef S
#undef M
#undef B

/* Rows are found by their line in the file. */
static const uint8_t opcode_rows[ZS_ISA_PLATFORM_COUNT][128] = {
#define ZS_OPCODE(op, code, form, first, last, flags)                                              \
    [ZS_ISA_##first... ZS_ISA_##last][code] = __LINE__,
#include "isa/opcodes.def"
#undef ZS_OPCODE
};
static const uint8_t op_rows[ZS_ISA_PLATFORM_COUNT][ZS_OP_COUNT] = {
#define ZS_OPCODE(op, code, form, first, last, flags)                                              \
    [ZS_ISA_##first... ZS_ISA_##last][ZS_OP_##op] = __LINE__,
#include "isa/opcodes.def"
#undef ZS_OPCODE
};

static const struct zs_isa_register registers[ZS_ISA_PLATFORM_COUNT][ZS_FILE_COUNT] = {
#define ZS_REGISTER(name, first, last, number, base, count, subregs, scaled)                       \
    [ZS_ISA_##first... ZS_ISA_##                                                                   \
        last][ZS_FILE_##name] = {ZS_FILE_##name, number, base, count, subregs, ZS_ISA_##scaled},
#include "isa/registers.def"
#undef ZS_REGISTER
};
/* By number; the second is the file that shares it. */
static const uint8_t arf_files[ZS_ISA_PLATFORM_COUNT][16][2] = {
#define ZS_REGISTER(name, first, last, number, base, count, subregs, scaled)                       \
    [ZS_ISA_##first... ZS_ISA_##last][number][ZS_FILE_##name == ZS_FILE_MME] = ZS_FILE_##name,
#include "isa/registers.def"
#undef ZS_REGISTER
};

enum type_set {
#define ZS_TYPES(set, ...) TYPES_##set,
#include "isa/types.def"
#undef ZS_TYPES
    TYPES_COUNT,
};
#define T(name) ZS_TYPE_##name
static const uint8_t types[TYPES_COUNT][16] = {
#define ZS_TYPES(set, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                              \
    {T(a), T(b), T(c), T(d), T(e), T(f), T(g), T(h),                                               \
     T(i), T(j), T(k), T(l), T(m), T(n), T(o), T(p)},
#include "isa/types.def"
#undef ZS_TYPES
};
#undef T

static const struct zs_isa_model models[ZS_ISA_PLATFORM_COUNT] = {
#define ZS_MODEL(name, family, type_set, bytes)                                                    \
    [ZS_ISA_##name] = {.platform = ZS_ISA_##name,                                                  \
                       .grf_B = bytes,                                                             \
                       .encoding = &zs_isa_encoding_##family,                                      \
                       .register_types = types[TYPES_##type_set##_REG],                            \
                       .immediate_types = types[TYPES_##type_set##_IMM],                           \
                       .registers = registers[ZS_ISA_##name]},
#include "isa/models.def"
#undef ZS_MODEL
};

static const char *const error_texts[ZS_ISA_BAD_COUNT] = {
#define ZS_ISA_ERROR(name, text) text,
#include "isa/errors.def"
#undef ZS_ISA_ERROR
};

static const char *const field_names[ZS_F_COUNT] = {
#define ZS_FIELD(name, text, ...) text,
#include "isa/fields.def"
#undef ZS_FIELD
};

const char *zs_isa_field_name(enum zs_isa_field field)
{
    return (uint32_t)field < ZS_F_COUNT ? field_names[field] : "";
}

const char *zs_isa_error_text(uint32_t error)
{
    return error < ZS_ISA_BAD_COUNT ? error_texts[error] : "";
}

const struct zs_isa_model *zs_isa_model(enum zs_isa_platform platform)
{
    if ((uint32_t)platform >= ZS_ISA_PLATFORM_COUNT || !models[platform].platform)
        return NULL;
    return &models[platform];
}

const struct zs_isa_opcode *zs_isa_model_opcode(const struct zs_isa_model *model, uint32_t code)
{
    return &opcodes[opcode_rows[model->platform][code & 0x7f]];
}

const struct zs_isa_opcode *zs_isa_model_find(const struct zs_isa_model *model, enum zs_isa_op op)
{
    uint32_t row = (uint32_t)op < ZS_OP_COUNT ? op_rows[model->platform][op] : 0;
    return row ? &opcodes[row] : NULL;
}

/* Register 0 exists in every file, others where the file has so many. */
static bool has_register(const struct zs_isa_register *row, int32_t reg)
{
    return reg == 0 || (reg > 0 && reg < row->count);
}

bool zs_isa_model_arf(const struct zs_isa_model *model, uint32_t code, uint8_t *ret_file,
                      uint8_t *ret_reg)
{
    const uint8_t *files = arf_files[model->platform][code >> 4 & 15];
    for (uint32_t i = 0; i < 2 && files[i]; i++) {
        const struct zs_isa_register *row = &model->registers[files[i]];
        int32_t reg = (int32_t)(code & 15) - row->base;
        if (has_register(row, reg)) {
            *ret_file = row->file;
            *ret_reg = (uint8_t)reg;
            return true;
        }
    }
    return false;
}

bool zs_isa_model_arf_code(const struct zs_isa_model *model, uint32_t file, uint32_t reg,
                           uint32_t *ret_code)
{
    if (file >= ZS_FILE_COUNT || !model->registers[file].file || reg > 15 ||
        !has_register(&model->registers[file], (int32_t)reg))
        return false;
    const struct zs_isa_register *row = &model->registers[file];
    *ret_code = (uint32_t)row->number << 4 | (row->base + reg);
    return true;
}

/* From XeHPC on, registers that are not scaled count words. */
static uint32_t unscaled_shift(const struct zs_isa_model *model)
{
    return model->platform >= ZS_ISA_XE_HPC ? 1 : 0;
}

/* nf counts as dwords. */
static uint32_t element_bits(uint32_t type)
{
    return type == ZS_TYPE_NF ? 32 : zs_isa_type_bits((enum zs_isa_type)type);
}

static bool is_scaled(const struct zs_isa_model *model, uint32_t file, uint32_t type)
{
    return type && (file == ZS_FILE_GRF || model->registers[file].scaled_from <= model->platform);
}

uint8_t zs_isa_model_subreg(const struct zs_isa_model *model, uint32_t file, uint32_t type,
                            uint32_t subreg_B)
{
    if (!is_scaled(model, file, type))
        return (uint8_t)(subreg_B >> unscaled_shift(model));
    uint32_t bits = element_bits(type);
    return (uint8_t)(bits ? subreg_B * 8 / bits : subreg_B);
}

uint8_t zs_isa_model_subreg_B(const struct zs_isa_model *model, uint32_t file, uint32_t type,
                              uint32_t subreg)
{
    if (!is_scaled(model, file, type))
        return (uint8_t)(subreg << unscaled_shift(model));
    uint32_t bits = element_bits(type);
    return (uint8_t)(bits ? subreg * bits / 8 : subreg);
}
