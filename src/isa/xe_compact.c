/* SPDX-License-Identifier: MIT */
/*
 * Compacted forms from Gen12LP on. Sets of rows say where bits go, but for the immediate of the
 * last source: its 12 bits stand for a number of its type, small or with zeros below.
 */
#include "isa/compact.h"
#include "isa/xe.h"

enum { SETS_MAX = 5, COMPACTED_BIT = 29 };
enum { SRC0_IMM_BIT = 46, SRC1_IMM_BIT = 47, IMMEDIATE_LO = 52 };

struct sets {
    uint32_t count;
    enum zs_compact_set set[SETS_MAX];
};

static struct sets ternary_sets(const struct zs_isa_model *model, uint32_t op)
{
    if (model->platform >= ZS_ISA_XE3P)
        return (struct sets){2,
                             {ZS_COMPACT_XE2_3SRC, op == ZS_OP_DPAS ? ZS_COMPACT_XE3P_3SRC_DPAS
                                                                    : ZS_COMPACT_XE3P_3SRC_BASIC}};
    if (model->platform >= ZS_ISA_XE2)
        return (struct sets){2,
                             {ZS_COMPACT_XE2_3SRC, op == ZS_OP_DPAS ? ZS_COMPACT_XE_HPC_3SRC_DPAS
                                                                    : ZS_COMPACT_XE2_3SRC_BASIC}};
    if (model->platform == ZS_ISA_XE_HPC)
        return (struct sets){2,
                             {ZS_COMPACT_XE_HPC_3SRC, op == ZS_OP_DPAS
                                                          ? ZS_COMPACT_XE_HPC_3SRC_DPAS
                                                          : ZS_COMPACT_XE_HPC_3SRC_BASIC}};
    return (struct sets){2,
                         {ZS_COMPACT_XE3SRC, model->platform >= ZS_ISA_XE_HP
                                                 ? ZS_COMPACT_XE_HP_3SRC
                                                 : ZS_COMPACT_XE_LP_3SRC}};
}

static struct sets basic_sets(const struct zs_isa_model *model, bool two, bool immediate)
{
    bool hp = model->platform >= ZS_ISA_XE_HP;
    enum zs_compact_set src0 = hp ? ZS_COMPACT_XE_HP_SRC0 : ZS_COMPACT_XE_LP_SRC0;
    enum zs_compact_set src1 = hp ? ZS_COMPACT_XE_HP_SRC1 : ZS_COMPACT_XE_LP_SRC1;
    enum zs_compact_set types = two ? ZS_COMPACT_XE3P_TWO : ZS_COMPACT_XE3P_ONE;
    if (model->platform >= ZS_ISA_XE3P && immediate)
        return (struct sets){two ? 3 : 2, {ZS_COMPACT_XE3P, types, ZS_COMPACT_XE2_TWO_IMM}};
    if (model->platform >= ZS_ISA_XE3P)
        return (struct sets){
            two ? 4 : 3, {ZS_COMPACT_XE3P, types, ZS_COMPACT_XE3P_REG, ZS_COMPACT_XE3P_TWO_REG}};
    if (model->platform >= ZS_ISA_XE2 && immediate)
        return (struct sets){two ? 2 : 1, {ZS_COMPACT_XE2, ZS_COMPACT_XE2_TWO_IMM}};
    if (model->platform >= ZS_ISA_XE2)
        return (struct sets){two ? 3 : 2, {ZS_COMPACT_XE2, ZS_COMPACT_XE2_REG, ZS_COMPACT_XE2_TWO}};
    if (model->platform == ZS_ISA_XE_HPC && immediate)
        return (struct sets){two ? 2 : 1, {ZS_COMPACT_XE_HPC, ZS_COMPACT_XE_HPC_TWO_IMM}};
    if (model->platform == ZS_ISA_XE_HPC)
        return (struct sets){two ? 3 : 2,
                             {ZS_COMPACT_XE_HPC, ZS_COMPACT_XE_HPC_REG, ZS_COMPACT_XE_HPC_TWO}};
    if (immediate)
        return (struct sets){
            3, {ZS_COMPACT_XE, src0, two ? ZS_COMPACT_XE_TWO_IMM : ZS_COMPACT_XE_ONE_IMM}};
    return (struct sets){5,
                         {ZS_COMPACT_XE, src0, ZS_COMPACT_XE_REG, src1,
                          two ? ZS_COMPACT_XE_TWO : ZS_COMPACT_XE_ONE}};
}

/* Two sources, for the tables: the sync of Gen12LP counts as such. */
static bool has_two(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode)
{
    return opcode->form == ZS_FORM_BINARY ||
           (opcode->form == ZS_FORM_SYNC && model->platform == ZS_ISA_XE_LP);
}

static bool has_compacted(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode)
{
    switch (opcode->form) {
    case ZS_FORM_TERNARY:
        return opcode->op != ZS_OP_MADM || model->platform >= ZS_ISA_XE_HPC;
    case ZS_FORM_UNARY:
    case ZS_FORM_BINARY:
    case ZS_FORM_SYNC:
    case ZS_FORM_BFN:
        return true;
    case ZS_FORM_DPAS:
        return opcode->op != ZS_OP_BDPAS;
    default:
        return false;
    }
}

static bool is_ternary(const struct zs_isa_opcode *opcode)
{
    return opcode->form == ZS_FORM_TERNARY || opcode->form == ZS_FORM_BFN ||
           opcode->form == ZS_FORM_DPAS;
}

/* ---- immediates ---- */

static uint32_t twice(uint32_t word)
{
    return (word & 0xffff) | word << 16;
}

static uint32_t sign_extend12(uint32_t value)
{
    return (value ^ 0x800) - 0x800;
}

/* By the code of the type. False: a type that has no short form. */
static bool expand_immediate(uint32_t type, uint32_t short_bits, uint32_t *ret)
{
    switch (type) {
    case 0: /* uv, ud, v, vf */
    case 2:
    case 4:
    case 8:
        *ret = short_bits;
        return true;
    case 1: /* uw */
        *ret = twice(short_bits);
        return true;
    case 5: /* w */
        *ret = twice(sign_extend12(short_bits));
        return true;
    case 6: /* d */
        *ret = sign_extend12(short_bits);
        return true;
    case 9: /* hf */
        *ret = twice(short_bits << 4);
        return true;
    case 10: /* f */
        *ret = short_bits << 20;
        return true;
    default:
        return false;
    }
}

/* The short form of an immediate, by trying what it would mean. */
static bool shrink_immediate(uint32_t type, uint32_t immediate, uint32_t *ret)
{
    uint32_t back, tries[3] = {immediate & 0xfff, immediate >> 4 & 0xfff, immediate >> 20};
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(tries); i++) {
        if (expand_immediate(type, tries[i], &back) && back == immediate) {
            *ret = tries[i];
            return true;
        }
    }
    return false;
}

static uint32_t immediate_type(const uint64_t bits[2], bool two)
{
    return (uint32_t)zs_isa_get(&zs_isa_layout_xe, bits, two ? ZS_F_SRC1_TYPE : ZS_F_SRC0_TYPE);
}

static bool has_immediate(const uint64_t bits[2], bool two)
{
    return bits[0] >> (two ? SRC1_IMM_BIT : SRC0_IMM_BIT) & 1;
}

/* ---- whole instructions ---- */

static bool expand(const struct sets *sets, uint32_t first, uint64_t compact, uint64_t bits[2])
{
    for (uint32_t i = first; i < sets->count; i++)
        if (!zs_compact_expand(sets->set[i], compact, bits))
            return false;
    return true;
}

static bool expand_basic(const struct zs_isa_model *model, bool two, uint64_t compact,
                         uint64_t bits[2])
{
    /* whether there is an immediate stands in the pattern of types: of what both forms begin with
     */
    uint32_t common = model->platform >= ZS_ISA_XE_HPC && model->platform < ZS_ISA_XE3P ? 1 : 2;
    struct sets sets = basic_sets(model, two, true);
    for (uint32_t i = 0; i < common; i++)
        if (!zs_compact_expand(sets.set[i], compact, bits))
            return false;
    bool immediate_form = has_immediate(bits, two);
    if (!immediate_form)
        sets = basic_sets(model, two, false);
    if (!expand(&sets, common, compact, bits))
        return false;
    if (!immediate_form)
        return true;
    uint32_t immediate;
    if (!expand_immediate(immediate_type(bits, two), (uint32_t)(compact >> IMMEDIATE_LO),
                          &immediate))
        return false;
    zs_isa_put(&zs_isa_layout_xe, bits, ZS_F_IMM32, immediate);
    return true;
}

bool zs_xe_expand(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                  uint64_t compact, uint64_t ret_bits[2])
{
    ret_bits[0] = ret_bits[1] = 0;
    if (!has_compacted(model, opcode))
        return false;
    if (!is_ternary(opcode)) {
        bool two = has_two(model, opcode);
        /* the sync of Gen12LP has no second source that could be an immediate */
        return expand_basic(model, two, compact, ret_bits) &&
               !(two && opcode->form == ZS_FORM_SYNC && has_immediate(ret_bits, two));
    }
    struct sets sets = ternary_sets(model, opcode->op);
    return expand(&sets, 0, compact, ret_bits);
}

bool zs_xe_compact(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                   const uint64_t bits[2], uint64_t *ret)
{
    if (!has_compacted(model, opcode))
        return false;
    bool two = has_two(model, opcode), immediate = !is_ternary(opcode) && has_immediate(bits, two);
    struct sets sets =
        is_ternary(opcode) ? ternary_sets(model, opcode->op) : basic_sets(model, two, immediate);
    uint64_t compact = 0, check[2];
    for (uint32_t i = 0; i < sets.count; i++)
        if (!zs_compact_shrink(sets.set[i], bits, &compact))
            return false;
    uint32_t short_bits = 0;
    if (immediate &&
        !shrink_immediate(immediate_type(bits, two),
                          (uint32_t)zs_isa_get(&zs_isa_layout_xe, bits, ZS_F_IMM32), &short_bits))
        return false;
    if (immediate)
        compact |= (uint64_t)short_bits << IMMEDIATE_LO;
    *ret = compact | UINT64_C(1) << COMPACTED_BIT;
    /* what no row covers must be zero */
    return zs_xe_expand(model, opcode, *ret, check) && check[0] == bits[0] && check[1] == bits[1];
}
