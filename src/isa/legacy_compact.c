/* SPDX-License-Identifier: MIT */
/* Compacted forms of the legacy encodings. */
#include "isa/compact.h"
#include "isa/legacy.h"

enum { SETS_MAX = 3 };
enum { COMPACTED_BIT = 29 };

/* The sets of rows of one- and two-source instructions, or of three-source ones. */
struct sets {
    uint32_t count;
    enum zs_compact_set set[SETS_MAX];
};

static bool has_one_source(const struct zs_isa_opcode *opcode, const uint64_t bits[2])
{
    if (opcode->form == ZS_FORM_MATH)
        return zs_legacy_math_sources[zs_legacy_get(bits, ZS_F_FUNCTION)] < 2;
    return opcode->form == ZS_FORM_UNARY || opcode->form == ZS_FORM_WAIT ||
           opcode->form == ZS_FORM_RET;
}

static struct sets basic_sets(const struct zs_isa_model *model, bool one_source, bool immediate)
{
    static const enum zs_compact_set operands[2][2] = {
        {ZS_COMPACT_LEGACY_REG, ZS_COMPACT_LEGACY_IMM},
        {ZS_COMPACT_LEGACY_REG1, ZS_COMPACT_LEGACY_IMM1}};
    return (struct sets){
        3,
        {ZS_COMPACT_LEGACY,
         model->platform >= ZS_ISA_GEN11 ? ZS_COMPACT_GEN11_TYPES : ZS_COMPACT_GEN8_TYPES,
         operands[one_source][immediate]}};
}

static struct sets ternary_sets(const struct zs_isa_model *model)
{
    return (struct sets){3,
                         {ZS_COMPACT_LEGACY3,
                          model->platform >= ZS_ISA_GEN9 ? ZS_COMPACT_GEN9_3 : ZS_COMPACT_GEN8_3,
                          ZS_COMPACT_DEBUG_30}};
}

static bool has_immediate(const uint64_t bits[2], bool one_source)
{
    if (one_source)
        return zs_legacy_get(bits, ZS_F_SRC0_FILE) == ZS_LEGACY_IMM;
    return zs_isa_get(&zs_isa_layout_legacy, bits, ZS_F_SRC0_FILE) == ZS_LEGACY_IMM ||
           zs_isa_get(&zs_isa_layout_legacy, bits, ZS_F_SRC1_FILE) == ZS_LEGACY_IMM;
}

static bool expand(const struct sets *sets, uint64_t compact, uint64_t bits[2])
{
    bool ok = true;
    bits[0] = bits[1] = 0;
    for (uint32_t i = 0; i < sets->count; i++)
        ok = ok && zs_compact_expand(sets->set[i], compact, bits);
    zs_isa_put(&zs_isa_layout_legacy, bits, ZS_F_COMPACTED, 0);
    return ok;
}

/* Forms whose operands stand where those of one- and two-source instructions do, and three sources
 * in Align16. */
static bool has_compact_form(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode)
{
    if (opcode->form == ZS_FORM_TERNARY)
        return model->platform < ZS_ISA_GEN11;
    if (opcode->form == ZS_FORM_SEND)
        return model->platform < ZS_ISA_GEN9;
    return opcode->form == ZS_FORM_UNARY || opcode->form == ZS_FORM_BINARY ||
           opcode->form == ZS_FORM_MATH || opcode->form == ZS_FORM_WAIT ||
           opcode->form == ZS_FORM_RET || opcode->form == ZS_FORM_JUMP;
}

bool zs_legacy_expand(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                      uint64_t compact, uint64_t ret_bits[2])
{
    if (!has_compact_form(model, opcode))
        return false;
    if (opcode->form == ZS_FORM_TERNARY) {
        struct sets sets = ternary_sets(model);
        return expand(&sets, compact, ret_bits);
    }
    /* which files the sources have stands in the pattern of types */
    struct sets sets = basic_sets(model, false, false);
    if (!expand(&sets, compact, ret_bits))
        return false;
    bool one_source = has_one_source(opcode, ret_bits);
    sets = basic_sets(model, one_source, has_immediate(ret_bits, one_source));
    return expand(&sets, compact, ret_bits);
}

/* The swizzle of a replicated source says nothing; patterns have the one of components in place. */
static void settle_swizzles(uint64_t bits[2])
{
    for (uint32_t at = 0; at < 3 * ZS_F_T16_SRC_STEP; at += ZS_F_T16_SRC_STEP)
        if (zs_isa_get(&zs_isa_layout_legacy, bits, (enum zs_isa_field)(ZS_F_T16_SRC0_REP + at)))
            zs_isa_put(&zs_isa_layout_legacy, bits,
                       (enum zs_isa_field)(ZS_F_T16_SRC0_CHAN_SEL + at), ZS_LEGACY_SWIZZLE_XYZW);
}

bool zs_legacy_compact(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                       const uint64_t bits[2], uint64_t *ret)
{
    bool ternary = opcode->form == ZS_FORM_TERNARY;
    bool one_source = has_one_source(opcode, bits);
    struct sets sets = ternary ? ternary_sets(model)
                               : basic_sets(model, one_source, has_immediate(bits, one_source));
    uint64_t compact = 0, whole[2] = {bits[0], bits[1]}, check[2];
    if (ternary)
        settle_swizzles(whole);
    if (!has_compact_form(model, opcode))
        return false;
    for (uint32_t i = 0; i < sets.count; i++)
        if (!zs_compact_shrink(sets.set[i], whole, &compact))
            return false;
    *ret = compact | UINT64_C(1) << COMPACTED_BIT;
    /* what no row covers must be zero */
    return expand(&sets, *ret, check) && check[0] == whole[0] && check[1] == whole[1];
}
