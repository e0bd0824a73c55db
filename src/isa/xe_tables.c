/* SPDX-License-Identifier: MIT */
/*
 * Codes of the encodings from Gen12LP on that are too few for a .def file of their own.
 *
 * Source: intel-graphics-compiler, ged_decoding_tables.cpp and ged_enum_tables.cpp of
 * visa/iga/GEDLibrary/GED_external/build/autogen-intel64.
 */
#include "isa/xe.h"

#define T(name) ZS_TYPE_##name
const uint8_t zs_xe_ternary_types[2][8] = {
    {T(UB), T(UW), T(UD), T(UQ), T(B), T(W), T(D), T(Q)},
    {0, T(HF), T(F), T(DF), 0, T(BF), 0, T(NF)},
};
const uint8_t zs_xe_dpas_types[2][8] = {
    {T(UB), T(UW), T(UD), T(UQ), T(B), T(W), T(D), T(Q)},
    {0, T(HF), T(F), T(DF), 0, T(BF), 0, 0},
};
/* Of systolic sources: three bits of the type above two of its width. */
const uint8_t zs_xe_precisions[2][32] = {
    {[0] = T(UB), [1] = T(U4), [2] = T(U2), [16] = T(B), [17] = T(S4), [18] = T(S2)},
    {[0] = T(BF8), [2] = T(E2M1), [4] = T(HF), [16] = T(HF8), [20] = T(BF), [24] = T(TF32)},
};
const uint8_t zs_xe_ternary_vstride[4] = {0, 1, 4, 8};

const uint8_t zs_xe_sfids[2][16] = {
    {ZS_SFID_NULL, ZS_SFID_COUNT, ZS_SFID_SMPL, ZS_SFID_GTWY, ZS_SFID_DC2, ZS_SFID_RC, ZS_SFID_URB,
     ZS_SFID_TS, ZS_SFID_VME, ZS_SFID_DCRO, ZS_SFID_DC0, ZS_SFID_PIXI, ZS_SFID_DC1, ZS_SFID_CRE,
     ZS_SFID_COUNT, ZS_SFID_COUNT},
    {ZS_SFID_NULL, ZS_SFID_UGML, ZS_SFID_SMPL, ZS_SFID_GTWY, ZS_SFID_DC2, ZS_SFID_RC, ZS_SFID_URB,
     ZS_SFID_BTD, ZS_SFID_RTA, ZS_SFID_DCRO, ZS_SFID_DC0, ZS_SFID_PIXI, ZS_SFID_DC1, ZS_SFID_TGM,
     ZS_SFID_SLM, ZS_SFID_UGM},
};

uint32_t zs_xe_math_sources(enum zs_isa_platform platform, uint32_t function)
{
    static const uint8_t sources[16] = {0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2, 2, 2, 1};
    if (platform >= ZS_ISA_XE3P && (function == ZS_MATH_TANH || function == ZS_MATH_SIGM))
        return 1;
    /* XeHPG has no integer division and no power any more */
    if (platform >= ZS_ISA_XE_HPG && function > 7 && function < ZS_XE_MATH_INVM)
        return 0;
    return sources[function & 15];
}

#define BIT(name) (1u << ZS_TYPE_##name)
enum {
    BASE = BIT(UB) | BIT(UW) | BIT(UD) | BIT(UQ) | BIT(B) | BIT(W) | BIT(D) | BIT(Q) | BIT(HF) |
           BIT(F) | BIT(DF),
};

/* Operations that take other types than the base ones, from a platform on, the latest first. */
enum { TYPE_RULES = 4 };
static const struct {
    uint32_t dst, src;
    uint8_t platform;
} type_rules[ZS_OP_COUNT][TYPE_RULES] = {
    [ZS_OP_SRND] = {{0, BIT(UB) | BIT(UW) | BIT(HF) | BIT(F), ZS_ISA_XE3P},
                    {BIT(BF8) | BIT(HF), BIT(HF) | BIT(F), ZS_ISA_XE_HPC}},
    [ZS_OP_MACL] = {{BIT(UD) | BIT(D), BIT(UD) | BIT(D), ZS_ISA_XE_HPC}},
    [ZS_OP_MOV] = {{BASE | BIT(BF) | BIT(BF8) | BIT(HF8) | BIT(TF32) | BIT(UV),
                    BASE | BIT(BF) | BIT(BF8) | BIT(HF8) | BIT(TF32) | BIT(UV), ZS_ISA_XE3P},
                   {BASE | BIT(BF) | BIT(BF8) | BIT(HF8) | BIT(TF32),
                    BASE | BIT(BF) | BIT(BF8) | BIT(HF8) | BIT(TF32), ZS_ISA_XE3},
                   {BASE | BIT(BF) | BIT(BF8) | BIT(TF32), BASE | BIT(BF) | BIT(BF8) | BIT(TF32),
                    ZS_ISA_XE_HPC},
                   {BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
    [ZS_OP_ADD] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
    [ZS_OP_MUL] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
    [ZS_OP_MAC] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
    [ZS_OP_SEL] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
    [ZS_OP_CMP] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
    [ZS_OP_CMPN] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE3P}},
    [ZS_OP_CSEL] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE3P}},
    [ZS_OP_MAD] = {{BASE | BIT(BF), BASE | BIT(BF), ZS_ISA_XE_HP}},
};
#undef BIT
#undef T

bool zs_xe_type_allowed(enum zs_isa_platform platform, uint32_t op, enum zs_xe_operand operand,
                        uint32_t type)
{
    uint32_t allowed = BASE;
    for (uint32_t i = 0; i < TYPE_RULES && type_rules[op][i].platform; i++) {
        if (type_rules[op][i].platform <= platform) {
            allowed = operand == ZS_XE_DST ? type_rules[op][i].dst : type_rules[op][i].src;
            break;
        }
    }
    return type && allowed >> type & 1;
}

bool zs_xe_dpas_takes(enum zs_isa_platform platform, uint32_t type)
{
    if (type == ZS_TYPE_TF32)
        return platform >= ZS_ISA_XE_HPC;
    if (type == ZS_TYPE_E2M1 || type == ZS_TYPE_HF8)
        return platform >= ZS_ISA_XE3P;
    return type && (type != ZS_TYPE_BF8 || platform == ZS_ISA_XE_HPC || platform >= ZS_ISA_XE3P);
}

const uint16_t *zs_xe_high_fields(const struct zs_isa_opcode *opcode,
                                  const struct zs_isa_inst *inst)
{
    enum { NO = ZS_F_COUNT };
    static const uint16_t none[4] = {NO, NO, NO, NO};
    static const uint16_t one_immediate[4] = {ZS_F_HIGH_44, NO, NO, NO};
    static const uint16_t two[4] = {ZS_F_HIGH_96, ZS_F_HIGH_97, ZS_F_HIGH_122, NO};
    static const uint16_t two_immediate[4] = {ZS_F_HIGH_46, ZS_F_HIGH_43, NO, NO};
    static const uint16_t three[4] = {ZS_F_HIGH_96, ZS_F_HIGH_97, ZS_F_HIGH_83, ZS_F_HIGH_91};
    static const uint16_t branch[4] = {ZS_F_HIGH_44, ZS_F_HIGH_45, NO, NO};
    static const uint16_t sendgx[4] = {ZS_F_HIGH_33, ZS_F_HIGH_66, ZS_F_HIGH_98, NO};
    bool immediate = inst->source_count && inst->src[inst->source_count - 1].kind == ZS_OPERAND_IMM;
    switch (opcode->form) {
    case ZS_FORM_UNARY:
    case ZS_FORM_MATH:
    case ZS_FORM_BINARY:
        if (!immediate)
            return two;
        return inst->source_count == 1 ? one_immediate : two_immediate;
    case ZS_FORM_TERNARY:
    case ZS_FORM_BFN:
    case ZS_FORM_DPAS:
        return three;
    case ZS_FORM_SENDG:
        return opcode->op == ZS_OP_SENDGX || opcode->op == ZS_OP_SENDGXC ? sendgx : none;
    default:
        return zs_isa_opcode_is_branch(opcode) ? branch : none;
    }
}
