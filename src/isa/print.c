/* SPDX-License-Identifier: MIT */
/*
 * The text of an instruction, as `iga64 -d` prints it.
 *
 * A line is columns with a width each. What is too wide pushes the following columns to the right,
 * and their padding pays that back ("debt") where it can. Numbers that Intel's formatter writes
 * past its own accounting (immediates, descriptors, its names of labels) do not count as width; the
 * same is done here, since the spaces behind them depend on it.
 *
 * The buffer has room for the longest line there is, plus the tail of the last fixed-size copy
 * (put_name), so nothing is checked while appending; a message's description is given what is left.
 */
#include "base/number.h"
#include "base/small_float.h"
#include "isa/inst.h"
#include "isa/words.h"
#include "isa/xe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_PREDICATE = 7,
    COLUMN_OPCODE = 13,
    COLUMN_CONDITION = 9,
    COLUMN_DST = 12,
    COLUMN_SRC = 16,
    COLUMN_SEND_DST = 7,
    COLUMN_SEND_SRC = 6,
    COLUMN_SEND_DESC = 10,
};
/* the longest line without a message: under 300 bytes, sync.allrd with its 32 tokens */
enum { TEXT_MAX = 320, FLOAT_MAX = 40 };
_Static_assert((int)TEXT_MAX < (int)ZS_ISA_LINE_MAX, "a line and some of a message");

struct line {
    char *at;
    char *column;       /* where the current column starts */
    uint32_t width;     /* of the current column */
    uint32_t debt;      /* characters that earlier columns were too wide */
    uint32_t uncounted; /* of the current column */
    const struct zs_isa_model *model;
    const struct zs_isa_inst *inst;
    const struct zs_isa_opcode *opcode;
    uint32_t offset_B;
};

static const struct zs_isa_word mnemonics[ZS_OP_COUNT] = {
#define ZS_ISA_OP(value, upper, mnemonic, flags) [value] = ZS_ISA_WORD(mnemonic),
#include <zescope/isa_ops.def>
#undef ZS_ISA_OP
};

static const struct zs_isa_word type_names[ZS_TYPE_COUNT] = {
    [ZS_TYPE_NONE] = ZS_ISA_WORD(":Type::INVA"),
    [ZS_TYPE_U1] = ZS_ISA_WORD(":u1"),
    [ZS_TYPE_U2] = ZS_ISA_WORD(":u2"),
    [ZS_TYPE_U4] = ZS_ISA_WORD(":u4"),
    [ZS_TYPE_S2] = ZS_ISA_WORD(":s2"),
    [ZS_TYPE_S4] = ZS_ISA_WORD(":s4"),
    [ZS_TYPE_UB] = ZS_ISA_WORD(":ub"),
    [ZS_TYPE_B] = ZS_ISA_WORD(":b"),
    [ZS_TYPE_UW] = ZS_ISA_WORD(":uw"),
    [ZS_TYPE_W] = ZS_ISA_WORD(":w"),
    [ZS_TYPE_UD] = ZS_ISA_WORD(":ud"),
    [ZS_TYPE_D] = ZS_ISA_WORD(":d"),
    [ZS_TYPE_UQ] = ZS_ISA_WORD(":uq"),
    [ZS_TYPE_Q] = ZS_ISA_WORD(":q"),
    [ZS_TYPE_HF] = ZS_ISA_WORD(":hf"),
    [ZS_TYPE_QF] = ZS_ISA_WORD(":qf"),
    [ZS_TYPE_BF] = ZS_ISA_WORD(":bf"),
    [ZS_TYPE_HF8] = ZS_ISA_WORD(":hf8"),
    [ZS_TYPE_BF8] = ZS_ISA_WORD(":bf8"),
    [ZS_TYPE_TF32] = ZS_ISA_WORD(":tf32"),
    [ZS_TYPE_F] = ZS_ISA_WORD(":f"),
    [ZS_TYPE_DF] = ZS_ISA_WORD(":df"),
    [ZS_TYPE_NF] = ZS_ISA_WORD(":nf"),
    [ZS_TYPE_V] = ZS_ISA_WORD(":v"),
    [ZS_TYPE_UV] = ZS_ISA_WORD(":uv"),
    [ZS_TYPE_VF] = ZS_ISA_WORD(":vf"),
    [ZS_TYPE_E2M1] = ZS_ISA_WORD(":e2m1"),
};

static const struct zs_isa_word file_names[ZS_FILE_COUNT] = {
    [ZS_FILE_NONE] = ZS_ISA_WORD("???"), [ZS_FILE_NULL] = ZS_ISA_WORD("null"),
    [ZS_FILE_A] = ZS_ISA_WORD("a"),      [ZS_FILE_ACC] = ZS_ISA_WORD("acc"),
    [ZS_FILE_MME] = ZS_ISA_WORD("mme"),  [ZS_FILE_F] = ZS_ISA_WORD("f"),
    [ZS_FILE_CE] = ZS_ISA_WORD("ce"),    [ZS_FILE_MSG] = ZS_ISA_WORD("msg"),
    [ZS_FILE_SP] = ZS_ISA_WORD("sp"),    [ZS_FILE_SR] = ZS_ISA_WORD("sr"),
    [ZS_FILE_CR] = ZS_ISA_WORD("cr"),    [ZS_FILE_N] = ZS_ISA_WORD("n"),
    [ZS_FILE_IP] = ZS_ISA_WORD("ip"),    [ZS_FILE_TDR] = ZS_ISA_WORD("tdr"),
    [ZS_FILE_TM] = ZS_ISA_WORD("tm"),    [ZS_FILE_FC] = ZS_ISA_WORD("fc"),
    [ZS_FILE_DBG] = ZS_ISA_WORD("dbg"),  [ZS_FILE_GRF] = ZS_ISA_WORD("r"),
    [ZS_FILE_S] = ZS_ISA_WORD("s"),
};

/* ---- appending ---- */

static void put_char(struct line *l, char c)
{
    *l->at++ = c;
}

#define put_text(line, s) put_bytes(line, s, sizeof(s) - 1)
static inline void put_bytes(struct line *l, const char *text, size_t size_B)
{
    memcpy(l->at, text, size_B);
    l->at += size_B;
}

static inline void put_name(struct line *l, const struct zs_isa_word *name)
{
    memcpy(l->at, name->text, sizeof(name->text));
    l->at += name->length;
}

static void put_spaces(struct line *l, uint32_t count)
{
    memset(l->at, ' ', count);
    l->at += count;
}

static void put_decimal(struct line *l, uint64_t value)
{
    char digits[20];
    unsigned at = sizeof(digits);
    if (value < 10) {
        put_char(l, (char)('0' + value));
        return;
    }
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_bytes(l, digits + at, sizeof(digits) - at);
}

static void put_signed(struct line *l, int64_t value)
{
    if (value < 0)
        put_char(l, '-');
    put_decimal(l, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_hex(struct line *l, uint64_t value, unsigned digits)
{
    unsigned width = value ? (unsigned)(67 - __builtin_clzll(value)) / 4 : 1;
    width = ZS_MAX(width, digits);
    put_text(l, "0x");
    for (unsigned i = width; i-- > 0;)
        put_char(l, "0123456789ABCDEF"[value >> 4 * i & 15]);
}

static void start_column(struct line *l, uint32_t width)
{
    l->column = l->at;
    l->width = width;
    l->uncounted = 0;
}

static void finish_column(struct line *l)
{
    uint32_t size = (uint32_t)(l->at - l->column) - l->uncounted;
    if (size > l->width) {
        l->debt += size - l->width;
        return;
    }
    uint32_t padding = l->width - size, repaid = ZS_MIN(l->debt, padding);
    l->debt -= repaid;
    put_spaces(l, padding - repaid);
}

/* ---- floating point ---- */

/* The shortest of %g and %e that reads back as the same value; else the bits. As a double reads:
 * the assembler reads every literal as one. Returns false for "the bits". */
static bool put_decimal_float(struct line *l, double value, bool single)
{
    char text[FLOAT_MAX];
    if (value > 0 && value < 1e6 && value == (uint32_t)value) { /* %g of these has all digits */
        put_decimal(l, (uint32_t)value);
        put_text(l, ".0");
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        int size = zs_number_format(text, sizeof(text), i == 0 ? "%g" : "%e", value);
        double back = zs_number_parse(text, NULL);
        if (single ? (float)back != (float)value : back != value)
            continue;
        put_bytes(l, text, (size_t)size);
        if (i == 0 && !strpbrk(text, ".e"))
            put_text(l, ".0");
        return true;
    }
    return false;
}

static void put_nan(struct line *l, uint64_t bits, unsigned mantissa, bool negative)
{
    uint64_t quiet = UINT64_C(1) << (mantissa - 1);
    if (negative)
        put_char(l, '-');
    put_bytes(l, bits & quiet ? "qnan(" : "snan(", 5);
    put_hex(l, bits & (quiet - 1), 0);
    put_char(l, ')');
}

static void put_float(struct line *l, uint64_t bits, enum zs_isa_type type)
{
    unsigned mantissa = type == ZS_TYPE_DF ? 52 : type == ZS_TYPE_HF ? 10 : 23;
    unsigned size = zs_isa_type_bits(type);
    uint64_t exponents = (UINT64_C(1) << (size - 1 - mantissa)) - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << mantissa) - 1);
    bool negative = bits >> (size - 1) & 1;
    if ((bits >> mantissa & exponents) == exponents) {
        if (fraction) {
            put_nan(l, fraction, mantissa, negative);
            return;
        }
        put_bytes(l, negative ? "-inf" : "inf", negative ? 4 : 3);
        return;
    }
    double value;
    if (type == ZS_TYPE_DF) {
        memcpy(&value, &bits, sizeof(value));
    } else if (type == ZS_TYPE_HF) {
        value = (double)zs_half_to_float((uint16_t)bits);
    } else {
        float single;
        uint32_t low = (uint32_t)bits;
        memcpy(&single, &low, sizeof(single));
        value = single;
    }
    if (!put_decimal_float(l, value, type != ZS_TYPE_DF))
        put_hex(l, bits, 0);
}

/* ---- operands ---- */

/* Branches whose operands have a type, up to Gen11. */
static bool is_typed_branch(const struct zs_isa_opcode *opcode)
{
    return zs_isa_opcode_is_branch(opcode) && opcode->form != ZS_FORM_BRANCH &&
           opcode->form != ZS_FORM_BRANCH2;
}

static bool is_xe(const struct line *l)
{
    return l->model->platform >= ZS_ISA_XE_LP;
}

static bool is_xe3p(const struct line *l)
{
    return l->model->platform >= ZS_ISA_XE3P;
}

static void put_flag(struct line *l)
{
    put_char(l, 'f');
    put_decimal(l, l->inst->flag_reg);
    put_char(l, '.');
    put_decimal(l, l->inst->flag_subreg);
}

static void put_register(struct line *l, const struct zs_isa_operand *op, bool with_subreg)
{
    const struct zs_isa_register *row = &l->model->registers[op->file];
    bool grf = op->file == ZS_FILE_GRF;
    put_name(l, &file_names[op->file]);
    if (grf || op->reg || row->count)
        put_decimal(l, op->reg);
    if ((with_subreg && (grf || row->has_subregs)) || op->subreg) {
        put_char(l, '.');
        put_decimal(l, op->subreg);
    }
}

static void put_indirect(struct line *l, const struct zs_isa_operand *op)
{
    put_text(l, "r[");
    put_char(l, op->file == ZS_FILE_S ? 's' : 'a');
    put_text(l, "0.");
    put_decimal(l, op->subreg);
    if (op->offset_B) {
        put_char(l, ',');
        put_signed(l, op->offset_B);
    }
    put_char(l, ']');
}

static void put_mme(struct line *l, uint32_t mme)
{
    if (mme >= ZS_MME_NONE) {
        put_text(l, ".nomme");
        return;
    }
    put_text(l, ".mme");
    put_decimal(l, mme);
}

static void put_source_region(struct line *l, const struct zs_isa_operand *op)
{
    put_char(l, '<');
    if (op->vstride != ZS_REGION_NONE && op->vstride != ZS_REGION_VXH) {
        put_decimal(l, op->vstride);
        put_char(l, ';');
    }
    if (op->width != ZS_REGION_NONE) {
        put_decimal(l, op->width);
        put_char(l, ',');
    }
    put_decimal(l, op->hstride);
    put_char(l, '>');
}

static void put_modifiers(struct line *l, const struct zs_isa_operand *op)
{
    uint32_t o = l->inst->op;
    bool bitwise = o == ZS_OP_AND || o == ZS_OP_OR || o == ZS_OP_XOR || o == ZS_OP_NOT;
    uint32_t modifiers = op->modifiers & (ZS_MOD_ABS | ZS_MOD_NEG);
    if (modifiers == ZS_MOD_NEG)
        put_char(l, bitwise ? '~' : '-');
    else if (modifiers == ZS_MOD_ABS)
        put_text(l, "(abs)");
    else if (modifiers)
        put_text(l, "-(abs)");
}

static bool is_macro(const struct line *l)
{
    return l->inst->op == ZS_OP_MADM || (l->inst->op == ZS_OP_MATH && l->inst->subfunction >= 14);
}

/* A region that follows from the instruction is left out. */
static bool has_implicit_region(const struct line *l)
{
    return zs_isa_opcode_is_send(l->opcode) || zs_isa_opcode_is_branch(l->opcode) ||
           l->opcode->form == ZS_FORM_DPAS || l->opcode->form == ZS_FORM_SYNC ||
           (is_macro(l) && !(l->opcode->form == ZS_FORM_MATH && is_xe3p(l)));
}

static void put_source_type(struct line *l, unsigned index, const struct zs_isa_operand *op)
{
    bool immediate = op->kind == ZS_OPERAND_IMM || op->kind == ZS_OPERAND_LABEL;
    uint32_t implied = ZS_TYPE_COUNT; /* none is */
    if (is_xe(l) && (zs_isa_opcode_is_branch(l->opcode) || zs_isa_opcode_is_send(l->opcode)))
        return;
    if (l->opcode->form == ZS_FORM_BRC)
        implied = index == 0 || immediate ? ZS_TYPE_D : ZS_TYPE_UD;
    else if (is_typed_branch(l->opcode))
        implied = ZS_TYPE_D;
    else if (zs_isa_opcode_is_branch(l->opcode))
        implied = ZS_TYPE_NONE;
    else if (zs_isa_opcode_is_send(l->opcode))
        implied = index == 0 ? ZS_TYPE_UD : ZS_TYPE_NONE;
    else if (l->opcode->form == ZS_FORM_SYNC && immediate)
        implied = ZS_TYPE_UD;
    else if (l->opcode->form == ZS_FORM_SYNC && op->file == ZS_FILE_NULL)
        return;
    if (op->type != implied)
        put_name(l, &type_names[op->type]);
}

static void put_immediate(struct line *l, const struct zs_isa_operand *op)
{
    switch ((enum zs_isa_type)op->type) {
    case ZS_TYPE_B:
        put_signed(l, (int8_t)op->imm);
        break;
    case ZS_TYPE_W:
        put_signed(l, (int16_t)op->imm);
        break;
    case ZS_TYPE_D:
        put_signed(l, (int32_t)op->imm);
        break;
    case ZS_TYPE_Q:
        put_signed(l, (int64_t)op->imm);
        break;
    case ZS_TYPE_HF:
    case ZS_TYPE_F:
    case ZS_TYPE_DF:
        put_float(l, op->imm, (enum zs_isa_type)op->type);
        break;
    default:
        put_hex(l, op->imm, 0);
        break;
    }
}

/* L136, or L_N16 in front of the code. */
static void put_label(struct line *l, const struct zs_isa_operand *op)
{
    int64_t at_B = (int64_t)op->imm + l->offset_B;
    put_char(l, 'L');
    if (at_B < 0)
        put_text(l, "_N");
    put_decimal(l, at_B < 0 ? 0 - (uint64_t)at_B : (uint64_t)at_B);
}

static void put_dst(struct line *l)
{
    const struct zs_isa_operand *dst = &l->inst->dst;
    bool send = zs_isa_opcode_is_send(l->opcode), dpas = l->opcode->form == ZS_FORM_DPAS;
    start_column(l, send ? COLUMN_SEND_DST : COLUMN_DST);
    if (dst->modifiers & ZS_MOD_SAT)
        put_text(l, "(sat)");
    if (dst->kind == ZS_OPERAND_INDIRECT)
        put_indirect(l, dst);
    else
        put_register(l, dst, !send && !dpas && !is_macro(l));
    if (dst->kind == ZS_OPERAND_MACRO)
        put_mme(l, dst->mme);
    bool implicit = send || dpas || is_macro(l) || is_typed_branch(l->opcode);
    if (!implicit || dst->hstride != 1) {
        put_char(l, '<');
        put_decimal(l, dst->hstride);
        put_char(l, '>');
    }
    uint32_t implied = is_typed_branch(l->opcode)        ? ZS_TYPE_D
                       : l->opcode->form == ZS_FORM_SEND ? ZS_TYPE_UD
                                                         : ZS_TYPE_COUNT;
    if (dst->type != implied && !(is_xe(l) && (send || zs_isa_opcode_is_branch(l->opcode))))
        put_name(l, &type_names[dst->type]);
    finish_column(l);
}

/* A payload's length, where neither descriptor holds it. */
static bool put_payload_length(struct line *l, unsigned index)
{
    if (l->opcode->form == ZS_FORM_SENDG) {
        put_char(l, ':');
        put_decimal(l, l->inst->src[index].grf_count);
        return true;
    }
    if (!zs_isa_opcode_is_send(l->opcode) || index != 1 ||
        !zs_xe_has_second_length(l->model, l->inst))
        return false;
    put_char(l, ':');
    put_decimal(l, l->inst->src[1].file == ZS_FILE_NULL ? 0 : l->inst->src[1].grf_count);
    return true;
}

static void put_source_register(struct line *l, unsigned index, const struct zs_isa_operand *op)
{
    bool dpas = l->opcode->form == ZS_FORM_DPAS;
    put_modifiers(l, op);
    if (op->kind == ZS_OPERAND_INDIRECT)
        put_indirect(l, op);
    else
        put_register(l, op,
                     !zs_isa_opcode_is_send(l->opcode) && !is_macro(l) && !(dpas && index < 2));
    if (op->kind == ZS_OPERAND_MACRO)
        put_mme(l, op->mme);
    if (!put_payload_length(l, index) && !has_implicit_region(l))
        put_source_region(l, op);
}

static void put_source(struct line *l, unsigned index)
{
    const struct zs_isa_operand *op = &l->inst->src[index];
    if (l->opcode->form == ZS_FORM_SENDG) { /* in no column */
        put_source_register(l, index, op);
        return;
    }
    start_column(l, zs_isa_opcode_is_send(l->opcode) ? COLUMN_SEND_SRC : COLUMN_SRC);
    char *number = l->at;
    if (op->kind == ZS_OPERAND_IMM)
        put_immediate(l, op);
    else if (op->kind == ZS_OPERAND_LABEL)
        put_label(l, op);
    else
        number = NULL;
    if (number)
        l->uncounted = (uint32_t)(l->at - number);
    else
        put_source_register(l, index, op);
    put_source_type(l, index, op);
    finish_column(l);
}

/* sync.allrd and sync.allwr with a mask: ($1,$3). Without a column. */
static bool put_tokens(struct line *l)
{
    enum { ALLRD = 2, ALLWR = 3 };
    const struct zs_isa_inst *inst = l->inst;
    if (l->opcode->form != ZS_FORM_SYNC || inst->src[0].kind != ZS_OPERAND_IMM ||
        (inst->subfunction != ALLRD && inst->subfunction != ALLWR))
        return false;
    bool first = true;
    put_char(l, '(');
    for (uint32_t i = 0; i < 32; i++) {
        if (!(inst->src[0].imm >> i & 1))
            continue;
        if (!first)
            put_char(l, ',');
        first = false;
        put_char(l, '$');
        put_decimal(l, i);
    }
    put_char(l, ')');
    return true;
}

static void put_descriptor(struct line *l, bool in_register, uint32_t subreg, uint32_t value,
                           unsigned digits)
{
    start_column(l, COLUMN_SEND_DESC);
    if (in_register) {
        put_text(l, "a0.");
        put_decimal(l, subreg);
    } else {
        char *number = l->at;
        put_hex(l, value, digits);
        l->uncounted = (uint32_t)(l->at - number);
    }
    finish_column(l);
}

/* ---- the line ---- */

static void put_predicate(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    start_column(l, COLUMN_PREDICATE);
    if (inst->flags & ZS_INST_NOMASK || inst->pred) {
        put_char(l, '(');
        if (inst->flags & ZS_INST_NOMASK)
            put_bytes(l, "W&", inst->pred ? 2 : 1);
        if (inst->pred) {
            if (inst->flags & ZS_INST_PRED_INVERSE)
                put_char(l, '~');
            put_flag(l);
            put_name(l, &zs_isa_predicate_words[inst->pred & 15]);
        }
        put_char(l, ')');
    }
    finish_column(l);
}

/* Repeat counts and depths of 16 are told as 0. IGA has no name for those above 8. */
static void put_dpas_function(struct line *l)
{
    uint32_t depth = l->inst->subfunction >> 4, repeat = l->inst->subfunction & 15;
    depth = depth ? depth : 16;
    repeat = repeat ? repeat : 16;
    if (depth > 8 || repeat > 8) {
        put_hex(l, depth << 8 | repeat, 0);
        put_char(l, '?');
        return;
    }
    put_decimal(l, depth);
    put_char(l, 'x');
    put_decimal(l, repeat);
}

/* From what, to what, in which mode, with which rounding. */
static void put_dnscl_function(struct line *l)
{
    uint32_t function = l->inst->subfunction;
    const char *from = function & ZS_DNSCL_F ? "f" : function & ZS_DNSCL_BF ? "bf" : "hf";
    put_char(l, '.');
    put_bytes(l, from, strlen(from));
    put_bytes(l, function & ZS_DNSCL_INT4 ? "toint4.mode" : "toe2m1.mode", 11);
    put_decimal(l, function >> 4 & 3);
    if (function & ZS_DNSCL_RNE)
        put_text(l, ".rne");
    else
        put_text(l, ".srnd");
}

static void put_function(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    const char *name;
    switch (l->opcode->form) {
    case ZS_FORM_MATH:
        put_name(l, &zs_isa_math_words[is_xe3p(l)][inst->subfunction & 15]);
        break;
    case ZS_FORM_BINARY:
        name = inst->op == ZS_OP_LFSR   ? zs_isa_lfsr_words[inst->subfunction & 3]
               : inst->op == ZS_OP_SHFL ? ".idx4"
                                        : "";
        put_bytes(l, name, strlen(name));
        break;
    case ZS_FORM_SYNC:
        put_name(l, &zs_isa_sync_words[inst->subfunction & 15]);
        break;
    case ZS_FORM_BFN:
        if (inst->op == ZS_OP_DNSCL) {
            put_dnscl_function(l);
            break;
        }
        name = zs_isa_bfn_words[inst->subfunction];
        put_text(l, ".(");
        put_bytes(l, name, strlen(name));
        put_char(l, ')');
        break;
    case ZS_FORM_DPAS:
        put_char(l, '.');
        put_dpas_function(l);
        break;
    case ZS_FORM_SENDG:
    case ZS_FORM_SENDS:
        if (!is_xe(l))
            break;
        name = zs_isa_sfid_name((enum zs_isa_sfid)inst->sfid);
        put_char(l, '.');
        put_bytes(l, name, strlen(name));
        break;
    default:
        if (inst->flags & ZS_INST_BRANCH_CTRL)
            put_text(l, ".b");
        break;
    }
}

static void put_opcode(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    enum zs_isa_form form = (enum zs_isa_form)l->opcode->form;
    start_column(l, COLUMN_OPCODE);
    put_name(l, &mnemonics[inst->op]);
    put_function(l);
    put_char(l, ' ');
    if (form != ZS_FORM_NULLARY && form != ZS_FORM_SYNC && form != ZS_FORM_WAIT &&
        form != ZS_FORM_JUMP) {
        put_char(l, '(');
        put_decimal(l, inst->exec_size);
        put_text(l, "|M");
        put_decimal(l, inst->channel_offset);
        put_char(l, ')');
    }
    finish_column(l);
}

static void put_condition(struct line *l)
{
    start_column(l, COLUMN_CONDITION);
    if (l->inst->cond && !zs_isa_opcode_is_send(l->opcode)) {
        if (l->inst->cond == ZS_COND_EO)
            put_text(l, "(eo)");
        else
            put_name(l,
                     &zs_isa_condition_words[l->inst->cond % ZS_ARRAY_LEN(zs_isa_condition_words)]);
        put_flag(l);
    }
    finish_column(l);
}

static const char *const swsb_pipes[] = {"", "@", "A@", "F@", "I@", "L@", "M@", "S@"};

static void put_swsb(struct line *l, const struct zs_isa_swsb *swsb)
{
    static const char *const tokens[] = {"", "", ".dst", ".src", ".inc", ""};
    if (swsb->token == ZS_SWSB_NOACCSBSET) {
        put_text(l, "NoAccSBSet");
        return;
    }
    if (swsb->pipe) {
        const char *pipe = swsb_pipes[swsb->pipe & 7];
        put_bytes(l, pipe, strlen(pipe));
        put_decimal(l, swsb->distance);
    }
    if (swsb->pipe && swsb->token)
        put_char(l, ',');
    if (swsb->token) {
        const char *token = tokens[ZS_MIN(swsb->token, ZS_SWSB_NOACCSBSET)];
        put_char(l, '$');
        put_decimal(l, swsb->sbid);
        put_bytes(l, token, strlen(token));
    }
}

static bool has_swsb(const struct zs_isa_inst *inst)
{
    return inst->swsb.pipe || inst->swsb.token;
}

enum {
    OPTIONS = ZS_INST_ACCWREN | ZS_INST_ATOMIC | ZS_INST_BREAKPOINT | ZS_INST_COMPACTED |
              ZS_INST_EOT | ZS_INST_NODDCHK | ZS_INST_NODDCLR | ZS_INST_NOPREEMPT |
              ZS_INST_NOSRCDEPSET | ZS_INST_SWITCH | ZS_INST_SERIALIZE | ZS_INST_EXBSO |
              ZS_INST_CPS | ZS_INST_FWD,
};

static void put_options(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    bool first = true;
    if (!(inst->flags & OPTIONS) && !has_swsb(inst))
        return;
    put_text(l, " {");
    for (size_t i = 0; inst->flags & OPTIONS && i < ZS_ARRAY_LEN(zs_isa_option_words); i++) {
        if (!(inst->flags & zs_isa_option_words[i].flag))
            continue;
        if (!first)
            put_char(l, ',');
        first = false;
        put_bytes(l, zs_isa_option_words[i].name, strlen(zs_isa_option_words[i].name));
    }
    if (has_swsb(inst)) {
        if (!first)
            put_char(l, ',');
        put_swsb(l, &inst->swsb);
    }
    put_char(l, '}');
}

/* What s0 has, then the rest. */
static void put_sendg_desc(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    for (uint32_t i = 0; i < 2; i++) {
        if (!(inst->flags & (i ? ZS_INST_INDIRECT1 : ZS_INST_INDIRECT0)))
            continue;
        put_text(l, "s0.");
        put_decimal(l, 8u * (i ? inst->exdesc_subreg : inst->desc_subreg));
        put_text(l, "  ");
    }
    put_hex(l, inst->desc | (uint64_t)inst->exdesc << 32, 0);
}

static void put_operands(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    bool has_options = inst->flags & OPTIONS || has_swsb(inst);
    if (inst->flags & ZS_INST_HAS_DST) {
        put_text(l, "  ");
        put_dst(l);
    } else if (inst->source_count || has_options) {
        put_spaces(l, COLUMN_DST);
    }
    if (inst->source_count == 0 && has_options)
        put_spaces(l, COLUMN_SRC);
    for (unsigned i = 0; i < inst->source_count && i < ZS_ISA_SOURCES_MAX; i++) {
        put_text(l, "  ");
        if (!put_tokens(l))
            put_source(l, i);
    }
    if (inst->source_count == 1 && !zs_isa_opcode_is_send(l->opcode)) {
        start_column(l, COLUMN_SRC);
        finish_column(l);
    }
    if (l->opcode->form == ZS_FORM_SENDG) {
        put_text(l, "  ");
        put_sendg_desc(l);
    } else if (zs_isa_opcode_is_send(l->opcode)) {
        put_text(l, "  ");
        if (inst->exdesc_offset) {
            put_hex(l, inst->exdesc_offset, 0);
            put_char(l, ':');
        }
        put_descriptor(l, inst->flags & ZS_INST_EXDESC_REG, inst->exdesc_subreg, inst->exdesc, 0);
        put_text(l, "  ");
        put_descriptor(l, inst->flags & ZS_INST_DESC_REG, inst->desc_subreg, inst->desc, 8);
    }
}

/* What stands behind an instruction that is none: its bytes and why. */
static void put_illegal(struct line *l)
{
    const struct zs_isa_inst *inst = l->inst;
    put_spaces(l, 8);
    put_text(l, "illegal");
    put_spaces(l, 32);
    put_text(l, " //");
    for (unsigned i = 0; i < inst->size_B; i++) {
        uint32_t byte = (uint32_t)(inst->raw[i / 8] >> 8 * (i % 8) & 0xff);
        put_char(l, ' ');
        put_char(l, "0123456789abcdef"[byte >> 4]);
        put_char(l, "0123456789abcdef"[byte & 15]);
    }
    const char *why = zs_isa_error_text(inst->error);
    put_text(l, ": ");
    put_bytes(l, why, strlen(why));
}

size_t zs_isa_print(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                    uint32_t offset_B, char ret_line[ZS_ISA_LINE_MAX])
{
    struct line l = {.at = ret_line, .model = model, .inst = inst, .offset_B = offset_B};
    l.opcode = zs_isa_model_find(model, (enum zs_isa_op)inst->op);
    if (inst->flags & ZS_INST_ILLEGAL || !l.opcode) {
        put_illegal(&l);
        return (size_t)(l.at - ret_line);
    }
    put_predicate(&l);
    put_char(&l, ' ');
    put_opcode(&l);
    put_char(&l, ' ');
    put_condition(&l);
    put_operands(&l);
    put_options(&l);
    if (zs_isa_opcode_is_send(l.opcode)) {
        size_t room_B = ZS_ISA_LINE_MAX - (size_t)(l.at - ret_line) - 4;
        size_t size_B = l.opcode->form == ZS_FORM_SENDG
                            ? zs_e64_print(model, inst, l.at + 4, room_B)
                            : zs_isa_print_message(model, inst, l.at + 4, room_B);
        if (size_B) {
            memcpy(l.at, " // ", 4);
            l.at += 4 + size_B;
        }
    }
    return (size_t)(l.at - ret_line);
}
