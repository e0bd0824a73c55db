/* SPDX-License-Identifier: MIT */
/*
 * Decoder of the legacy encodings, Gen8 to Gen11: controls, one- and two-source forms, branches.
 * Sends and three-source forms stand in files of their own.
 *
 * Instructions in the Align16 access mode, which IGC emits for three sources and math macros alone,
 * are told in Align1 terms as Intel's tools do; what has no such equivalent is refused.
 */
#include "isa/legacy.h"

const uint8_t zs_legacy_math_sources[16] = {0, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2, 2, 1};

static inline struct zs_isa_decoder
decoder(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode, const uint64_t *bits)
{
    return (struct zs_isa_decoder){model, &zs_isa_layout_legacy, opcode, bits};
}

/* ---- controls ---- */

static enum zs_isa_error decode_flags(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    if (d.opcode->flags & ZS_OPC_PREDICATE) {
        inst->pred = (uint8_t)zs_legacy_get(d.bits, ZS_F_PRED_CTRL);
        if (inst->pred > ZS_PRED_ALL32H)
            return ZS_ISA_BAD_PREDICATE;
        if (inst->flags & ZS_INST_ALIGN16 && inst->pred > ZS_PRED_SEQ &&
            inst->pred != ZS_PRED_ANY4H && inst->pred != ZS_PRED_ALL4H)
            return ZS_ISA_BAD_ALIGN16; /* predicates of one component */
        if (inst->pred && zs_legacy_get(d.bits, ZS_F_PRED_INV))
            inst->flags |= ZS_INST_PRED_INVERSE;
    }
    if (d.opcode->flags & ZS_OPC_CONDITION) {
        inst->cond = (uint8_t)zs_legacy_get(d.bits, ZS_F_COND);
        if (inst->cond > ZS_COND_UN || inst->cond == 7)
            return ZS_ISA_BAD_CONDITION;
    } else if (inst->op == ZS_OP_MATH && zs_legacy_is_macro(inst->op, inst->subfunction)) {
        inst->cond = ZS_COND_EO;
    }
    if (inst->pred || inst->cond) {
        inst->flag_reg = (uint8_t)zs_legacy_get(d.bits, ZS_F_FLAG_REG);
        inst->flag_subreg = (uint8_t)zs_legacy_get(d.bits, ZS_F_FLAG_SUBREG);
    }
    return ZS_ISA_BAD_NONE;
}

static enum zs_isa_error decode_options(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    static const uint32_t dep_flags[4] = {0, ZS_INST_NODDCLR, ZS_INST_NODDCHK,
                                          ZS_INST_NODDCLR | ZS_INST_NODDCHK};
    static const uint32_t thread_flags[4] = {0, ZS_INST_ATOMIC, ZS_INST_SWITCH, ZS_INST_NOPREEMPT};
    bool send = zs_isa_opcode_is_send(d.opcode);
    if (zs_legacy_get(d.bits, ZS_F_BREAKPOINT))
        inst->flags |= ZS_INST_BREAKPOINT;
    if (inst->op == ZS_OP_NOP)
        return ZS_ISA_BAD_NONE;
    if (!send && !zs_isa_opcode_is_branch(d.opcode) && zs_legacy_get(d.bits, ZS_F_ACC_WR))
        inst->flags |= ZS_INST_ACCWREN;
    if (!send)
        inst->flags |= dep_flags[zs_legacy_get(d.bits, ZS_F_DEP_CTRL)];
    if (send && d.model->platform < ZS_ISA_GEN9)
        return ZS_ISA_BAD_NONE;
    if (send && zs_legacy_get(d.bits, ZS_F_SEND_NO_SRC_DEP))
        inst->flags |= ZS_INST_NOSRCDEPSET;
    uint32_t thread = zs_legacy_get(d.bits, ZS_F_THREAD_CTRL);
    if (send && thread == 2 && d.model->platform >= ZS_ISA_GEN11)
        return ZS_ISA_BAD_THREAD_CTRL;
    if (thread == 3 && d.model->platform < ZS_ISA_GEN11)
        return ZS_ISA_BAD_THREAD_CTRL;
    inst->flags |= thread_flags[thread];
    return ZS_ISA_BAD_NONE;
}

static enum zs_isa_error decode_controls(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    if (inst->op == ZS_OP_MATH) {
        inst->subfunction = (uint8_t)zs_legacy_get(d.bits, ZS_F_FUNCTION);
        if (!zs_legacy_math_sources[inst->subfunction])
            return ZS_ISA_BAD_FUNCTION;
    }
    if (d.opcode->flags & ZS_OPC_BRANCH_CTRL && zs_legacy_get(d.bits, ZS_F_BRANCH_CTRL))
        inst->flags |= ZS_INST_BRANCH_CTRL;
    uint32_t exec = zs_legacy_get(d.bits, ZS_F_EXEC_SIZE);
    if (exec > 5)
        return ZS_ISA_BAD_EXEC_SIZE;
    inst->exec_size = (uint8_t)(1u << exec);
    if (inst->op != ZS_OP_JMPI)
        inst->channel_offset = (uint8_t)(zs_legacy_get(d.bits, ZS_F_CHAN_OFF) * 4);
    if (zs_legacy_get(d.bits, ZS_F_MASK_CTRL))
        inst->flags |= ZS_INST_NOMASK;
    if (zs_legacy_get(d.bits, ZS_F_ACCESS_MODE) && d.model->platform < ZS_ISA_GEN11)
        inst->flags |= ZS_INST_ALIGN16;
    enum zs_isa_error error = decode_flags(d, inst);
    return error ? error : decode_options(d, inst);
}

/* ---- operands ---- */

/* Context switch code reaches mme1 to mme7 through Align16: the channels are the number. */
static enum zs_isa_error decode_mme_dst(struct zs_isa_decoder d, struct zs_isa_operand *dst)
{
    uint32_t channels = zs_legacy_get(d.bits, ZS_F_DST_CHAN_EN);
    if (channels > 8 && channels != ZS_LEGACY_CHAN_XYZW)
        return ZS_ISA_BAD_MACRO;
    dst->reg = (uint16_t)(channels == 8 ? 0 : ZS_MIN(channels, 7u));
    return ZS_ISA_BAD_NONE;
}

static enum zs_isa_error decode_direct_dst(struct zs_isa_decoder d, struct zs_isa_inst *inst,
                                           bool macro)
{
    struct zs_isa_operand *dst = &inst->dst;
    uint32_t file = zs_legacy_get(d.bits, ZS_F_DST_FILE);
    if (file > ZS_LEGACY_GRF)
        return ZS_ISA_BAD_FILE;
    enum zs_isa_error error =
        zs_dec_register(d.model, file == ZS_LEGACY_GRF, zs_legacy_get(d.bits, ZS_F_DST_REG), dst);
    if (error)
        return error;
    dst->kind = macro ? ZS_OPERAND_MACRO : ZS_OPERAND_REG;
    if (macro) {
        dst->mme = (uint8_t)zs_legacy_get(d.bits, ZS_F_DST_MME);
        return dst->mme > ZS_MME_NONE ? ZS_ISA_BAD_MACRO : ZS_ISA_BAD_NONE;
    }
    if (!(inst->flags & ZS_INST_ALIGN16)) {
        zs_dec_subreg(d, zs_legacy_get(d.bits, ZS_F_DST_SUBREG), dst);
        return ZS_ISA_BAD_NONE;
    }
    zs_dec_subreg(d, zs_legacy_get(d.bits, ZS_F_DST_SUBREG16) * 16, dst);
    if (dst->file == ZS_FILE_MME)
        return decode_mme_dst(d, dst);
    return zs_legacy_get(d.bits, ZS_F_DST_CHAN_EN) == ZS_LEGACY_CHAN_XYZW ? ZS_ISA_BAD_NONE
                                                                          : ZS_ISA_BAD_ALIGN16;
}

static enum zs_isa_error decode_dst(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    struct zs_isa_operand *dst = &inst->dst;
    bool align16 = inst->flags & ZS_INST_ALIGN16;
    inst->flags |= ZS_INST_HAS_DST;
    if (d.opcode->flags & ZS_OPC_SATURATE && zs_legacy_get(d.bits, ZS_F_SATURATE))
        dst->modifiers = ZS_MOD_SAT;
    dst->type = d.model->register_types[zs_legacy_get(d.bits, ZS_F_DST_TYPE)];
    if (!dst->type)
        return ZS_ISA_BAD_TYPE;
    dst->hstride = align16 ? 1 : zs_dec_stride(zs_legacy_get(d.bits, ZS_F_DST_HSTRIDE));
    dst->vstride = dst->width = ZS_REGION_NONE;
    dst->mme = ZS_MME_NONE;
    if (!zs_legacy_get(d.bits, ZS_F_DST_INDIRECT))
        return decode_direct_dst(d, inst, zs_legacy_is_macro(inst->op, inst->subfunction));
    dst->kind = ZS_OPERAND_INDIRECT;
    dst->file = ZS_FILE_GRF;
    dst->subreg = (uint8_t)zs_legacy_get(d.bits, ZS_F_DST_ADDR_SUBREG);
    dst->offset_B = zs_dec_signed(zs_legacy_get(d.bits, ZS_F_DST_ADDR_IMM), 10);
    if (align16) /* the channels have the low bits */
        dst->offset_B = (int16_t)(dst->offset_B & ~15);
    return align16 && zs_legacy_get(d.bits, ZS_F_DST_CHAN_EN) != ZS_LEGACY_CHAN_XYZW
               ? ZS_ISA_BAD_ALIGN16
               : ZS_ISA_BAD_NONE;
}

ZS_FOLD enum zs_isa_error decode_region(struct zs_isa_decoder d, uint32_t at,
                                        struct zs_isa_operand *op)
{
    uint32_t vstride = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_VSTRIDE + at));
    uint32_t width = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_WIDTH + at));
    op->hstride = zs_dec_stride(zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_HSTRIDE + at)));
    if (width > 4 || (vstride > 6 && vstride != ZS_LEGACY_VXH))
        return ZS_ISA_BAD_REGION;
    op->width = (uint8_t)(1u << width);
    op->vstride = vstride == ZS_LEGACY_VXH ? ZS_REGION_VXH : zs_dec_stride(vstride);
    return ZS_ISA_BAD_NONE;
}

/* A swizzle with no component in its place: what Intel's tools refuse of direct operands, and
 * require of indirect ones. */
ZS_FOLD bool moves_all(struct zs_isa_decoder d, uint32_t at)
{
    uint32_t swizzle = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_CHAN_SEL + at));
    uint32_t differs = swizzle ^ ZS_LEGACY_SWIZZLE_XYZW;
    return (differs & 3) && (differs & 0xc) && (differs & 0x30) && (differs & 0xc0);
}

/* Align16 operands of math macros have the whole of a row, or a pair of doubles. */
ZS_FOLD enum zs_isa_error decode_src16(struct zs_isa_decoder d, uint32_t at, bool macro,
                                       struct zs_isa_operand *op)
{
    uint32_t vstride = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_VSTRIDE + at));
    if (macro) {
        op->kind = ZS_OPERAND_MACRO;
        op->mme = (uint8_t)zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_MME + at));
        if (op->mme > ZS_MME_NONE)
            return ZS_ISA_BAD_MACRO;
        op->vstride = op->width = 2;
        op->hstride = 1;
        return vstride == (op->type == ZS_TYPE_DF ? 2 : 3) ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ALIGN16;
    }
    op->vstride = op->width = 1;
    op->hstride = 0;
    if (op->file == ZS_FILE_MME) {
        op->reg = (uint16_t)zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_MME + at));
        return vstride == 3 ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ALIGN16;
    }
    zs_dec_subreg(d, zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_SUBREG16 + at)) * 16, op);
    return vstride == 3 && !moves_all(d, at) ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_ALIGN16;
}

ZS_FOLD enum zs_isa_error decode_direct_src(struct zs_isa_decoder d, uint32_t at, bool is_grf,
                                            const struct zs_isa_inst *inst,
                                            struct zs_isa_operand *op)
{
    bool macro = zs_legacy_is_macro(inst->op, inst->subfunction);
    enum zs_isa_error error = zs_dec_register(
        d.model, is_grf, zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_REG + at)), op);
    if (error)
        return error;
    op->kind = ZS_OPERAND_REG;
    if (inst->flags & ZS_INST_ALIGN16)
        return decode_src16(d, at, macro, op);
    if (macro && d.model->platform < ZS_ISA_GEN11)
        return ZS_ISA_BAD_MACRO;
    if (macro) {
        op->kind = ZS_OPERAND_MACRO;
        op->mme = (uint8_t)zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_MME + at));
        if (op->mme > ZS_MME_NONE)
            return ZS_ISA_BAD_MACRO;
    } else {
        zs_dec_subreg(d, zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_SUBREG + at)), op);
    }
    return decode_region(d, at, op);
}

ZS_FOLD enum zs_isa_error decode_source(struct zs_isa_decoder d, unsigned from, unsigned to,
                                        struct zs_isa_inst *inst)
{
    struct zs_isa_operand *op = &inst->src[to];
    uint32_t at = from * ZS_F_SRC_STEP;
    uint32_t file = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_FILE + at));
    uint32_t type = zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_TYPE + at));
    op->type = (file == ZS_LEGACY_IMM ? d.model->immediate_types : d.model->register_types)[type];
    op->vstride = op->width = op->hstride = ZS_REGION_NONE;
    op->mme = ZS_MME_NONE;
    if (!op->type)
        return ZS_ISA_BAD_TYPE;
    if (file == ZS_LEGACY_IMM) {
        zs_dec_immediate(d, op);
        return ZS_ISA_BAD_NONE;
    }
    if (file > ZS_LEGACY_GRF)
        return ZS_ISA_BAD_FILE;
    if (from == 1 && file == ZS_LEGACY_ARF && inst->op != ZS_OP_MOVI)
        return ZS_ISA_BAD_FILE;
    if (d.opcode->flags & ZS_OPC_SRC_MODS) {
        if (zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_ABS + at)))
            op->modifiers |= ZS_MOD_ABS;
        if (zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_NEG + at)))
            op->modifiers |= ZS_MOD_NEG;
    }
    if (!zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_INDIRECT + at)))
        return decode_direct_src(d, at, file == ZS_LEGACY_GRF, inst, op);
    op->kind = ZS_OPERAND_INDIRECT;
    op->file = ZS_FILE_GRF;
    op->subreg = (uint8_t)zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_ADDR_SUBREG + at));
    op->offset_B =
        zs_dec_signed(zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_ADDR_IMM + at)), 10);
    if (!(inst->flags & ZS_INST_ALIGN16))
        return decode_region(d, at, op);
    op->offset_B = (int16_t)(op->offset_B & ~15); /* a swizzle has the low bits */
    op->vstride = op->width = 1;
    op->hstride = 0;
    return moves_all(d, at) ||
                   zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_VSTRIDE + at)) != 3
               ? ZS_ISA_BAD_NONE
               : ZS_ISA_BAD_ALIGN16;
}

/* Source `from` of the encoding becomes source `to` of the instruction: one copy for each place. */
static enum zs_isa_error decode_src(struct zs_isa_decoder d, unsigned from, unsigned to,
                                    struct zs_isa_inst *inst)
{
    return from ? decode_source(d, 1, to, inst) : decode_source(d, 0, to, inst);
}

/* Of two sources the second alone may be an immediate, of 32 bits. */
static enum zs_isa_error check_binary(const struct zs_isa_inst *inst)
{
    const struct zs_isa_operand *src1 = &inst->src[1];
    if (inst->source_count < 2)
        return ZS_ISA_BAD_NONE;
    if (inst->op == ZS_OP_MOVI && src1->kind != ZS_OPERAND_IMM && src1->file != ZS_FILE_NULL)
        return ZS_ISA_BAD_FILE;
    if (inst->src[0].kind == ZS_OPERAND_IMM)
        return ZS_ISA_BAD_IMMEDIATE;
    if (src1->kind == ZS_OPERAND_IMM)
        return zs_isa_type_bits((enum zs_isa_type)src1->type) > 32 ? ZS_ISA_BAD_IMMEDIATE
                                                                   : ZS_ISA_BAD_NONE;
    return ZS_ISA_BAD_NONE;
}

static bool is_direct_arf(const struct zs_isa_operand *op)
{
    return (op->kind == ZS_OPERAND_REG || op->kind == ZS_OPERAND_MACRO) && op->file != ZS_FILE_GRF;
}

static bool has_indirect(const struct zs_isa_inst *inst)
{
    return inst->src[0].kind == ZS_OPERAND_INDIRECT || inst->src[1].kind == ZS_OPERAND_INDIRECT;
}

static enum zs_isa_error decode_basic(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    inst->source_count = d.opcode->form == ZS_FORM_MATH ? zs_legacy_math_sources[inst->subfunction]
                         : d.opcode->form == ZS_FORM_BINARY ? 2
                                                            : 1;
    enum zs_isa_error error = decode_dst(d, inst);
    for (unsigned i = 0; i < inst->source_count && !error; i++)
        error = decode_src(d, i, i, inst);
    if (!error && inst->op == ZS_OP_MATH &&
        (is_direct_arf(&inst->dst) || is_direct_arf(&inst->src[0]) ||
         inst->dst.kind == ZS_OPERAND_INDIRECT ||
         (d.model->platform < ZS_ISA_GEN11 && has_indirect(inst))))
        return ZS_ISA_BAD_FILE;
    return error ? error : check_binary(inst);
}

/* ---- branches ---- */

static void set_label(struct zs_isa_inst *inst, unsigned to, int64_t distance_B, uint8_t type)
{
    inst->src[to] = (struct zs_isa_operand){.kind = ZS_OPERAND_LABEL,
                                            .imm = (uint64_t)distance_B,
                                            .type = type,
                                            .vstride = ZS_REGION_NONE,
                                            .width = ZS_REGION_NONE,
                                            .hstride = ZS_REGION_NONE,
                                            .mme = ZS_MME_NONE};
}

static uint8_t label_type(struct zs_isa_decoder d, unsigned source)
{
    uint32_t at = source * ZS_F_SRC_STEP;
    return d.model
        ->immediate_types[zs_legacy_get(d.bits, (enum zs_isa_field)(ZS_F_SRC0_TYPE + at))];
}

/* jmpi, call: the target is in src1's place. */
static enum zs_isa_error decode_call(struct zs_isa_decoder d, struct zs_isa_inst *inst,
                                     int32_t behind_B)
{
    enum zs_isa_error error = ZS_ISA_BAD_NONE;
    if (zs_legacy_get(d.bits, ZS_F_SRC1_FILE) != ZS_LEGACY_IMM)
        error = decode_src(d, 1, 0, inst);
    else
        set_label(inst, 0, (int64_t)(int32_t)zs_legacy_get(d.bits, ZS_F_JIP) + behind_B,
                  label_type(d, 1));
    uint8_t type = inst->src[0].type;
    bool wide =
        inst->src[0].kind == ZS_OPERAND_LABEL && zs_isa_type_bits((enum zs_isa_type)type) > 32;
    if (error || type == ZS_TYPE_D || (type && !wide && d.opcode->form == ZS_FORM_CALL))
        return error;
    return ZS_ISA_BAD_TYPE;
}

static enum zs_isa_error decode_brc(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    bool brc = d.opcode->form == ZS_FORM_BRC;
    inst->source_count = brc ? 2 : 1;
    if (zs_legacy_get(d.bits, ZS_F_SRC0_FILE) == ZS_LEGACY_IMM) {
        uint8_t type = label_type(d, 0);
        set_label(inst, 0, (int32_t)zs_legacy_get(d.bits, ZS_F_JIP), type);
        if (brc)
            set_label(inst, 1, (int32_t)zs_legacy_get(d.bits, ZS_F_UIP), type);
        return type ? ZS_ISA_BAD_NONE : ZS_ISA_BAD_TYPE;
    }
    inst->source_count = 1;
    return decode_src(d, 0, 0, inst);
}

static enum zs_isa_error decode_branch(struct zs_isa_decoder d, struct zs_isa_inst *inst)
{
    enum zs_isa_error error;
    if (inst->flags & ZS_INST_ALIGN16)
        return ZS_ISA_BAD_ALIGN16;
    inst->source_count = 1;
    switch (d.opcode->form) {
    case ZS_FORM_JUMP: /* counts from behind the instruction */
        if (inst->exec_size != 1 || !(inst->flags & ZS_INST_NOMASK))
            return ZS_ISA_BAD_EXEC_SIZE;
        return decode_call(d, inst, inst->size_B);
    case ZS_FORM_CALL:
        error = decode_dst(d, inst);
        return error ? error : decode_call(d, inst, 0);
    case ZS_FORM_RET:
        return decode_src(d, 0, 0, inst);
    case ZS_FORM_BRD:
    case ZS_FORM_BRC:
        return decode_brc(d, inst);
    default:
        set_label(inst, 0, (int32_t)zs_legacy_get(d.bits, ZS_F_JIP), ZS_TYPE_NONE);
        if (d.opcode->form == ZS_FORM_BRANCH2) {
            inst->source_count = 2;
            set_label(inst, 1, (int32_t)zs_legacy_get(d.bits, ZS_F_UIP), ZS_TYPE_NONE);
        }
        return ZS_ISA_BAD_NONE;
    }
}

enum zs_isa_error zs_legacy_decode(const struct zs_isa_model *model,
                                   const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                   struct zs_isa_inst *inst)
{
    struct zs_isa_decoder d = decoder(model, opcode, bits);
    if (opcode->form == ZS_FORM_NULLARY) {
        inst->exec_size = 1;
        return inst->op == ZS_OP_NOP ? decode_options(d, inst) : ZS_ISA_BAD_NONE;
    }
    enum zs_isa_error error = decode_controls(d, inst);
    if (error)
        return error;
    switch (opcode->form) {
    case ZS_FORM_UNARY:
    case ZS_FORM_BINARY:
    case ZS_FORM_MATH:
        return decode_basic(d, inst);
    case ZS_FORM_WAIT:
        inst->source_count = 1;
        return decode_src(d, 0, 0, inst);
    case ZS_FORM_TERNARY:
        return zs_legacy_decode_ternary(model, opcode, bits, inst);
    case ZS_FORM_SEND:
    case ZS_FORM_SENDS:
        return zs_legacy_decode_send(model, opcode, bits, inst);
    default:
        return decode_branch(d, inst);
    }
}

const struct zs_isa_encoding zs_isa_encoding_legacy = {
    .expand = zs_legacy_expand,
    .compact = zs_legacy_compact,
    .decode = zs_legacy_decode,
    .encode = zs_legacy_encode,
};
