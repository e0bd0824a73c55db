/* SPDX-License-Identifier: MIT */
/* Random instructions of the generations behind Gen9: their encodings, three sources with regions
 * and immediates, operations that came later. */
#include "base/span.h"
#include "encode.h"

#include <string.h>

/* What may be made of an opcode, from which platform on: types by letter, those of the sources '='
 * as the first one's. */
struct later_shape {
    uint8_t op, sources;
    uint8_t first; /* enum zs_isa_platform */
    const char *dst, *src[3];
    bool modifiers, saturate;
    const char *conds;
};

static const struct later_shape shapes[] = {
    {ZS_OP_ROL, 2, ZS_ISA_GEN11, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_ROR, 2, ZS_ISA_GEN11, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_ROL, 2, ZS_ISA_GEN11, "w", {"w", "w"}, false, false, ""},
    {ZS_OP_ROR, 2, ZS_ISA_GEN11, "w", {"w", "w"}, false, false, ""},
    {ZS_OP_MAD, 3, ZS_ISA_GEN11, "DdWw", {"DdWw", "DdWw", "DdWw"}, true, true, "123456"},
    {ZS_OP_MAD, 3, ZS_ISA_GEN11, "F", {"F", "F", "F"}, true, true, "123456"},
    {ZS_OP_MAD, 3, ZS_ISA_GEN11, "H", {"H", "=", "="}, true, false, ""},
    {ZS_OP_CSEL, 3, ZS_ISA_GEN11, "F", {"F", "=", "="}, true, false, "123456"},
    {ZS_OP_CSEL, 3, ZS_ISA_GEN11, "D", {"D", "=", "="}, true, false, "123456"},
    {ZS_OP_CSEL, 3, ZS_ISA_GEN11, "d", {"d", "=", "="}, false, false, "123456"},
    {ZS_OP_CSEL, 3, ZS_ISA_GEN11, "W", {"W", "=", "="}, true, false, "123456"},
    {ZS_OP_CSEL, 3, ZS_ISA_GEN11, "w", {"w", "=", "="}, false, false, "123456"},
    {ZS_OP_BFE, 3, ZS_ISA_GEN11, "d", {"d", "=", "="}, false, false, ""},
    {ZS_OP_BFE, 3, ZS_ISA_GEN11, "D", {"D", "=", "="}, false, false, ""},
    {ZS_OP_BFI2, 3, ZS_ISA_GEN11, "d", {"d", "=", "="}, false, false, ""},
    {ZS_OP_DP4A, 3, ZS_ISA_XE_LP, "Dd", {"Dd", "Dd", "Dd"}, false, true, "123456"},
    {ZS_OP_MOV, 1, ZS_ISA_XE_HPG, "F", {"T"}, true, true, ""},
    {ZS_OP_MOV, 1, ZS_ISA_XE_HPG, "T", {"F"}, true, true, ""},
    {ZS_OP_ADD, 2, ZS_ISA_XE_HPG, "FT", {"FT", "F"}, true, true, ""},
    {ZS_OP_MUL, 2, ZS_ISA_XE_HPG, "FT", {"FT", "F"}, true, true, ""},
    {ZS_OP_MAD, 3, ZS_ISA_XE_HPG, "FT", {"FT", "FT", "F"}, true, false, ""},
    {ZS_OP_ADD3, 3, ZS_ISA_XE_HPG, "DdWw", {"DdWw", "DdWw", "DdWw"}, true, true, "123456"},
    {ZS_OP_MAD, 3, ZS_ISA_XE_HPC, "X", {"X", "=", "="}, true, true, "123456"},
    {ZS_OP_MACL, 2, ZS_ISA_XE_HPC, "Dd", {"Dd", "Dd"}, false, false, ""},
    {ZS_OP_BFN, 3, ZS_ISA_XE_HPG, "dw", {"dw", "dw", "dw"}, false, false, "12"},
};

static bool chance(struct random *r, unsigned percent)
{
    return random_below(r, 100) < percent;
}

static unsigned pick_type(struct random *r, const char *letters)
{
    switch (letters[random_below(r, (uint32_t)strlen(letters))]) {
    case 'D':
        return ZS_TYPE_D;
    case 'd':
        return ZS_TYPE_UD;
    case 'W':
        return ZS_TYPE_W;
    case 'w':
        return ZS_TYPE_UW;
    case 'H':
        return ZS_TYPE_HF;
    case 'T':
        return ZS_TYPE_BF;
    case 'X':
        return ZS_TYPE_DF;
    default:
        return ZS_TYPE_F;
    }
}

/* Sources of three-source instructions: <v;h>, the last one <h>; 16-bit immediates but in the
 * middle. */
static void random_source(struct random *r, struct zs_isa_inst *inst, unsigned i, unsigned type,
                          bool modifiers)
{
    static const uint8_t regions[][2] = {{0, 0}, {1, 0}, {8, 1}, {4, 1}, {2, 1},
                                         {8, 2}, {4, 0}, {8, 4}, {2, 0}, {4, 4}};
    static const uint8_t rows[][3] = {{8, 8, 1}, {0, 1, 0}, {16, 8, 2}, {4, 4, 1}, {8, 4, 2}};
    static const uint8_t steps[] = {0, 1, 1, 1, 2, 4};
    struct zs_isa_operand *op = &inst->src[i];

    *op = (struct zs_isa_operand){
        .kind = ZS_OPERAND_REG, .file = ZS_FILE_GRF, .type = (uint8_t)type, .mme = ZS_MME_NONE};
    unsigned size = type_size_B(type);
    if (inst->source_count == 3 && i != 1 && size == 2 && chance(r, 15)) {
        op->kind = ZS_OPERAND_IMM;
        op->imm = random_next(r) & 0xffff;
        op->vstride = op->width = op->hstride = ZS_REGION_NONE;
        return;
    }
    if (inst->source_count < 3) {
        const uint8_t *row = rows[random_below(r, ZS_ARRAY_LEN(rows))];
        op->vstride = row[0];
        op->width = (uint8_t)ZS_MIN(row[1], inst->exec_size);
        op->hstride = row[2];
    } else if (i == 2) {
        op->vstride = op->width = ZS_REGION_NONE;
        op->hstride = steps[random_below(r, ZS_ARRAY_LEN(steps))];
    } else {
        const uint8_t *region = regions[random_below(r, ZS_ARRAY_LEN(regions))];
        op->vstride = region[0];
        op->width = ZS_REGION_NONE;
        op->hstride = region[1];
    }
    if (modifiers) {
        op->modifiers |= chance(r, 20) ? ZS_MOD_NEG : 0;
        op->modifiers |= chance(r, 10) ? ZS_MOD_ABS : 0;
    }
    op->reg = (uint8_t)random_below(r, 90); /* the widest region has 32 registers */
    op->subreg = (uint8_t)(chance(r, 70) ? 0 : random_below(r, 32 / size));
    op->subreg_B = (uint8_t)(op->subreg * size);
}

static void random_dst(struct random *r, struct zs_isa_inst *inst, unsigned type)
{
    unsigned size = type_size_B(type);

    inst->dst = (struct zs_isa_operand){.kind = ZS_OPERAND_REG,
                                        .file = ZS_FILE_GRF,
                                        .type = (uint8_t)type,
                                        .vstride = ZS_REGION_NONE,
                                        .width = ZS_REGION_NONE,
                                        .hstride = chance(r, 80) ? 1 : 2,
                                        .mme = ZS_MME_NONE};
    inst->dst.reg = (uint8_t)random_below(r, 110);
    /* Gen12LP counts eight bytes there */
    inst->dst.subreg = (uint8_t)(chance(r, 70) ? 0 : random_below(r, 4) * 8 / size);
    inst->dst.subreg_B = (uint8_t)(inst->dst.subreg * size);
    inst->flags |= ZS_INST_HAS_DST;
}

static void make(struct random *r, const struct later_shape *shape, struct zs_isa_inst *ret)
{
    struct zs_isa_inst masks;

    /* execution size, mask and predicate as the others have them */
    do
        random_inst(r, RANDOM_MASKS, &masks);
    while (masks.source_count == 3);
    *ret = (struct zs_isa_inst){.op = shape->op,
                                .source_count = shape->sources,
                                .exec_size = masks.exec_size,
                                .channel_offset = masks.channel_offset,
                                .flag_reg = masks.flag_reg,
                                .flag_subreg = masks.flag_subreg,
                                .flags = masks.flags & ZS_INST_NOMASK};
    if (shape->op != ZS_OP_CSEL) {
        ret->pred = masks.pred;
        ret->flags |= masks.flags & ZS_INST_PRED_INVERSE;
    }
    if (shape->op == ZS_OP_BFN)
        ret->subfunction = (uint8_t)random_below(r, 256);
    if (shape->conds[0] && (chance(r, 40) || shape->op == ZS_OP_CSEL))
        ret->cond = (uint8_t)(shape->conds[random_below(r, (uint32_t)strlen(shape->conds))] - '0');
    random_dst(r, ret, pick_type(r, shape->dst));
    ret->dst.modifiers = shape->saturate && chance(r, 20) ? ZS_MOD_SAT : 0;
    for (unsigned i = 0; i < shape->sources; i++)
        random_source(r, ret, i,
                      shape->src[i][0] == '=' ? ret->src[0].type : pick_type(r, shape->src[i]),
                      shape->modifiers);
}

/* What Gen9 has and others have not, or mean otherwise. */
static bool is_of_gen9(const struct zs_isa_inst *inst, enum zs_isa_platform platform)
{
    bool value_of_float = inst->op == ZS_OP_BFREV && inst->src[0].type == ZS_TYPE_F;
    bool writes_acc = inst->flags & ZS_INST_ACCWREN && inst->op != ZS_OP_ADDC &&
                      inst->op != ZS_OP_SUBB && inst->op != ZS_OP_MACH;

    if (platform >= ZS_ISA_XE_HPC && writes_acc) /* there is no such bit */
        return true;
    return inst->source_count == 3 || inst->op == ZS_OP_LRP || value_of_float ||
           (inst->op == ZS_OP_SMOV && platform > ZS_ISA_GEN11);
}

/* As decoders give it: what has no place is NONE, subregisters in elements. */
static void complete(struct zs_isa_inst *inst)
{
    struct zs_isa_operand *ops[] = {&inst->dst, &inst->src[0], &inst->src[1]};

    inst->flags |= ZS_INST_HAS_DST;
    inst->dst.vstride = inst->dst.width = ZS_REGION_NONE;
    for (unsigned i = 0; i < 1u + inst->source_count; i++) {
        unsigned size = type_size_B(ops[i]->type);
        if (ops[i]->kind == ZS_OPERAND_REG && size)
            ops[i]->subreg = (uint8_t)(ops[i]->subreg_B / size);
        if (ops[i]->kind == ZS_OPERAND_IMM)
            ops[i]->vstride = ops[i]->width = ops[i]->hstride = ZS_REGION_NONE;
    }
}

/* Places are counted in 32 bytes so far. Registers of 64: any half of the file, f0 to f3, and masks
 * without widths. */
static void make_wide(struct random *r, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *ops[] = {&inst->dst, &inst->src[0], &inst->src[1], &inst->src[2]};

    for (unsigned i = 0; i < 1u + inst->source_count; i++) {
        unsigned size = type_size_B(ops[i]->type);
        unsigned at = ops[i]->reg * 32u + ops[i]->subreg_B + (chance(r, 30) ? 4096 : 0);
        if (ops[i]->kind != ZS_OPERAND_REG)
            continue;
        if (chance(r, 50))
            at &= ~63u;
        ops[i]->reg = (uint8_t)(at / 64);
        ops[i]->subreg_B = (uint8_t)(at % 64);
        ops[i]->subreg = (uint8_t)(ops[i]->subreg_B / size);
    }
    inst->flag_reg = (uint8_t)(inst->flag_reg + 2 * random_below(r, 2));
    if (inst->pred > ZS_PRED_SEQ)
        inst->pred = chance(r, 50) ? ZS_PRED_ANY : ZS_PRED_ALL;
    inst->flags &= ~(uint32_t)ZS_INST_ACCWREN;
}

void random_later_inst(struct random *r, enum zs_isa_platform platform, unsigned what,
                       struct zs_isa_inst *ret, uint64_t ret_words[2])
{
    uint8_t bytes[16];
    struct zs_isa_inst decoded;

    for (;;) {
        const struct later_shape *shape = &shapes[random_below(r, ZS_ARRAY_LEN(shapes))];
        if (chance(r, 50)) {
            if (platform < shape->first)
                continue;
            make(r, shape, ret);
        } else {
            random_inst(r, what, ret);
            if (is_of_gen9(ret, platform))
                continue;
            complete(ret);
        }
        if (platform >= ZS_ISA_XE_HPC)
            make_wide(r, ret);
        /* functions of math that left are encoded all the same */
        if (zs_isa_encode_one(platform, ret, bytes, NULL) == 16 &&
            zs_isa_decode_one(platform, zs_span_make(bytes, 16), &decoded) == 16 &&
            !(decoded.flags & ZS_INST_ILLEGAL))
            break;
    }
    memcpy(ret_words, bytes, 16);
}
