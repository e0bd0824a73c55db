/* SPDX-License-Identifier: MIT */
/* Operands: registers with regions and types, immediates, labels. */
#include "isa/asm_priv.h"

#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64 };

static bool is_macro(const struct zs_asm_line *l)
{
    return l->inst->op == ZS_OP_MADM || (l->inst->op == ZS_OP_MATH && l->inst->subfunction >= 14);
}

static bool is_xe(const struct zs_asm_line *l)
{
    return l->model->platform >= ZS_ISA_XE_LP;
}

/* Branches whose operands have a type, up to Gen11. */
static bool is_typed_branch(const struct zs_asm_line *l)
{
    return zs_isa_opcode_is_branch(l->opcode) && l->opcode->form != ZS_FORM_BRANCH &&
           l->opcode->form != ZS_FORM_BRANCH2;
}

/* ---- types ---- */

/* ":ud"; `implied` where there is none; ZS_TYPE_COUNT: there must be one. */
static bool read_type(struct zs_asm_line *l, uint32_t implied, uint8_t *ret)
{
    if (!zs_asm_take(l, ":")) {
        *ret = (uint8_t)implied;
        return implied != ZS_TYPE_COUNT || zs_asm_fail(l, "a type is expected, as in ':ud'");
    }
    const char *at = l->at;
    struct zs_span word = zs_asm_word(l);
    for (uint32_t t = 1; t < ZS_TYPE_COUNT; t++) {
        const char *name = zs_isa_type_name((enum zs_isa_type)t);
        if (*name && zs_asm_is(word, name)) {
            *ret = (uint8_t)t;
            return true;
        }
    }
    l->at = at;
    return zs_asm_fail(l, "'%.*s' is no type", (int)ZS_MIN(word.size_B, (size_t)40),
                       (const char *)word.data);
}

/* ---- registers ---- */

static bool read_subreg(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    uint64_t value = 0;
    if (l->at + 1 < l->end && l->at[0] == '.' && isdigit((unsigned char)l->at[1])) {
        l->at++;
        if (!zs_asm_unsigned(l, UINT8_MAX, &value))
            return false;
    }
    op->subreg = (uint8_t)value;
    return true;
}

/* "r12", "acc0", "null", "ip", "f1": the longest name of a file, then its number. */
static bool read_register(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    size_t best = 0;
    uint64_t number = 0;
    zs_asm_blanks(l);
    for (uint32_t f = 1; f < ZS_FILE_COUNT; f++) {
        const char *name = zs_isa_file_name((enum zs_isa_file)f);
        size_t length = strlen(name);
        if (length <= best || (size_t)(l->end - l->at) < length || memcmp(l->at, name, length) != 0)
            continue;
        const char *behind = l->at + length;
        if (behind < l->end && (isalpha((unsigned char)*behind) || *behind == '_'))
            continue;
        best = length;
        op->file = (uint8_t)f;
    }
    if (!best)
        return zs_asm_fail(l, "a register is expected");
    l->at += best;
    const char *digits = l->at;
    if (l->at < l->end && isdigit((unsigned char)*l->at) && !zs_asm_unsigned(l, 511, &number))
        return false;
    const unsigned grf_count = l->model->platform < ZS_ISA_XE_LP  ? 128 /* to number */
                               : l->model->platform < ZS_ISA_XE3P ? 256
                                                                  : 512;
    if (op->file == ZS_FILE_GRF && number >= grf_count) {
        l->at = digits;
        return zs_asm_fail(l, "r%u: this instruction set has r0 to r%u", (unsigned)number,
                           grf_count - 1);
    }
    op->reg = (uint16_t)number;
    op->kind = ZS_OPERAND_REG;
    return true;
}

/* "[a0.4,-16]" behind "r"; "[s0.8]" where a send of Xe3 gathers its payload. */
static bool read_indirect(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    uint64_t value = 0;
    bool gathers = l->model->platform >= ZS_ISA_XE3 && zs_isa_opcode_is_send(l->opcode) &&
                   zs_asm_take(l, "s0");
    if (!gathers && !zs_asm_expect(l, "a0"))
        return false;
    op->kind = ZS_OPERAND_INDIRECT;
    op->file = gathers ? ZS_FILE_S : ZS_FILE_GRF;
    if (!read_subreg(l, op))
        return false;
    if (!gathers && zs_asm_take(l, ",")) {
        bool negative = zs_asm_take(l, "-");
        if (!zs_asm_unsigned(l, 32768, &value))
            return false;
        op->offset_B = (int16_t)(negative ? -(int32_t)value : (int32_t)value);
    }
    return zs_asm_expect(l, "]");
}

/* ".mme3", ".nomme": operands of macros. */
static bool read_mme(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    uint64_t number = 0;
    if (zs_asm_take(l, ".nomme")) {
        op->mme = ZS_MME_NONE;
    } else if (zs_asm_take(l, ".mme")) {
        if (!zs_asm_unsigned(l, 7, &number))
            return false;
        op->mme = (uint8_t)number;
    } else {
        return true;
    }
    op->kind = ZS_OPERAND_MACRO;
    return true;
}

static bool read_place(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    if (zs_asm_take(l, "r["))
        return read_indirect(l, op);
    if (!read_register(l, op) || !read_mme(l, op))
        return false;
    return op->kind == ZS_OPERAND_MACRO || read_subreg(l, op);
}

/* ---- regions ---- */

static bool read_stride(struct zs_asm_line *l, uint8_t *ret)
{
    uint64_t value;
    if (!zs_asm_unsigned(l, 32, &value))
        return false;
    *ret = (uint8_t)value;
    return true;
}

/* <v;w,h>, <w,h> (indirect, an address for each row), <v;h>, <h>. */
static bool read_region(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    uint8_t first, second;
    op->vstride = op->width = ZS_REGION_NONE;
    if (!read_stride(l, &first))
        return false;
    if (zs_asm_take(l, ">")) {
        op->hstride = first;
        return true;
    }
    if (zs_asm_take(l, ",")) {
        op->vstride = ZS_REGION_VXH;
        op->width = first;
        return read_stride(l, &op->hstride) && zs_asm_expect(l, ">");
    }
    op->vstride = first;
    if (!zs_asm_expect(l, ";") || !read_stride(l, &second))
        return false;
    if (zs_asm_take(l, ">")) {
        op->hstride = second;
        return true;
    }
    op->width = second;
    return zs_asm_expect(l, ",") && read_stride(l, &op->hstride) && zs_asm_expect(l, ">");
}

/* Where none is written: what the form implies, or a packed vector. */
static void imply_region(const struct zs_asm_line *l, struct zs_isa_operand *op)
{
    uint32_t form = l->opcode->form;
    op->vstride = op->width = ZS_REGION_NONE;
    op->hstride = 1;
    if (zs_isa_opcode_is_branch(l->opcode) || form == ZS_FORM_WAIT || form == ZS_FORM_SYNC) {
        op->vstride = 0;
        op->width = 1;
        op->hstride = 0;
    } else if (op->kind == ZS_OPERAND_MACRO && form == ZS_FORM_MATH) {
        op->vstride = op->width = 1;
        op->hstride = 0;
    } else if (form == ZS_FORM_UNARY || form == ZS_FORM_BINARY || form == ZS_FORM_MATH) {
        uint8_t width = (uint8_t)ZS_MIN(l->inst->exec_size, 8);
        op->vstride = width;
        op->width = width;
        op->hstride = width > 1;
        op->vstride = width > 1 ? width : 0;
    }
}

/* ---- destination ---- */

static uint32_t implied_dst_type(const struct zs_asm_line *l)
{
    if (is_xe(l) && (zs_isa_opcode_is_send(l->opcode) || zs_isa_opcode_is_branch(l->opcode)))
        return l->opcode->form == ZS_FORM_CALL ? ZS_TYPE_D : ZS_TYPE_UD;
    if (is_typed_branch(l))
        return ZS_TYPE_D;
    return zs_isa_opcode_is_send(l->opcode) ? ZS_TYPE_UD : ZS_TYPE_COUNT;
}

static bool place_subreg(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    if (op->kind != ZS_OPERAND_REG)
        return true;
    if (op->subreg * zs_isa_type_bits((enum zs_isa_type)op->type) / 8 > UINT8_MAX)
        return zs_asm_fail(l, "no register has a part %u of this type", (unsigned)op->subreg);
    op->subreg_B = zs_isa_model_subreg_B(l->model, op->file, op->type, op->subreg);
    return true;
}

bool zs_asm_dst(struct zs_asm_line *l)
{
    struct zs_isa_operand *dst = &l->inst->dst;
    l->inst->flags |= ZS_INST_HAS_DST;
    if (zs_asm_take(l, "(sat)"))
        dst->modifiers |= ZS_MOD_SAT;
    if (!read_place(l, dst))
        return false;
    dst->vstride = dst->width = ZS_REGION_NONE;
    dst->hstride = 1;
    if (zs_asm_take(l, "<") && (!read_stride(l, &dst->hstride) || !zs_asm_expect(l, ">")))
        return false;
    if (!read_type(l, implied_dst_type(l), &dst->type))
        return false;
    return place_subreg(l, dst);
}

/* ---- immediates ---- */

static uint64_t half_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint64_t sign = bits >> 48 & 0x8000;
    double magnitude = fabs(value);
    if (isinf(value) || magnitude >= 65520)
        return sign | 0x7c00;
    int exponent = 0;
    (void)frexp(magnitude, &exponent);
    exponent = exponent < -13 ? -13 : exponent; /* below lie the denormals */
    double units = nearbyint(ldexp(magnitude, 11 - exponent));
    if (units >= 2048) { /* rounded up to the next power of two */
        units /= 2;
        exponent++;
    }
    uint64_t whole = (uint64_t)units;
    return sign | (whole < 1024 ? whole : (uint64_t)(exponent + 14) << 10 | (whole & 1023));
}

static uint64_t float_bits(double value, uint32_t type)
{
    uint64_t bits = 0;
    float single = (float)value;
    if (type == ZS_TYPE_DF)
        memcpy(&bits, &value, sizeof(value));
    else if (type == ZS_TYPE_HF)
        bits = half_bits(value);
    else
        memcpy(&bits, &single, sizeof(single));
    return bits;
}

/* What was read, before its type is known. */
struct literal {
    enum { LITERAL_INTEGER, LITERAL_BITS, LITERAL_FLOAT, LITERAL_QNAN, LITERAL_SNAN } kind;
    bool negative;
    uint64_t integer;
    double real;
};

static bool read_named(struct zs_asm_line *l, struct literal *ret)
{
    if (zs_asm_take(l, "inf")) {
        *ret = (struct literal){.kind = LITERAL_FLOAT, .negative = ret->negative, .real = INFINITY};
        return true;
    }
    ret->kind = zs_asm_take(l, "qnan(")   ? LITERAL_QNAN
                : zs_asm_take(l, "snan(") ? LITERAL_SNAN
                                          : LITERAL_INTEGER;
    if (ret->kind == LITERAL_INTEGER)
        return zs_asm_fail(l, "a number is expected");
    return zs_asm_unsigned(l, UINT64_MAX, &ret->integer) && zs_asm_expect(l, ")");
}

/* Digits with a point or an exponent are a float. */
static bool read_literal(struct zs_asm_line *l, struct literal *ret)
{
    char text[NUMBER_MAX];
    size_t size = 0;
    *ret = (struct literal){.negative = zs_asm_take(l, "-")};
    zs_asm_blanks(l);
    if (l->at == l->end || !isdigit((unsigned char)*l->at))
        return read_named(l, ret);
    bool based = l->end - l->at > 1 && l->at[0] == '0' && strchr("xXbB", l->at[1]);
    bool real = false;
    for (const char *c = l->at; !based && c < l->end && size + 1 < sizeof(text); c++) {
        bool sign =
            (*c == '+' || *c == '-') && size && (text[size - 1] == 'e' || text[size - 1] == 'E');
        if (!isdigit((unsigned char)*c) && *c != '.' && *c != 'e' && *c != 'E' && !sign)
            break;
        real = real || !isdigit((unsigned char)*c);
        text[size++] = *c;
    }
    if (!real) {
        ret->kind = based ? LITERAL_BITS : LITERAL_INTEGER;
        return zs_asm_unsigned(l, UINT64_MAX, &ret->integer);
    }
    char *end;
    text[size] = '\0';
    ret->kind = LITERAL_FLOAT;
    ret->real = zs_number_parse(text, &end);
    if (*end)
        return zs_asm_fail(l, "'%s' is no number", text);
    l->at += size;
    return true;
}

static uint64_t nan_bits(const struct literal *n, uint32_t type)
{
    unsigned mantissa = type == ZS_TYPE_DF ? 52 : type == ZS_TYPE_HF ? 10 : 23;
    unsigned size = zs_isa_type_bits((enum zs_isa_type)type);
    uint64_t exponents = ((UINT64_C(1) << (size - 1 - mantissa)) - 1) << mantissa;
    uint64_t payload = n->integer & ((UINT64_C(1) << (mantissa - 1)) - 1);
    uint64_t quiet = n->kind == LITERAL_QNAN ? UINT64_C(1) << (mantissa - 1) : 0;
    return (n->negative ? UINT64_C(1) << (size - 1) : 0) | exponents | quiet | payload;
}

static bool is_float_type(uint32_t type)
{
    return type == ZS_TYPE_F || type == ZS_TYPE_DF || type == ZS_TYPE_HF;
}

/* Whether an integer literal is one of the type's values, or its bits. */
static bool fits(const struct literal *n, uint32_t bits)
{
    if (bits >= 64)
        return !n->negative || n->integer <= UINT64_C(1) << 63;
    return n->integer <= (n->negative ? UINT64_C(1) << (bits - 1) : (UINT64_C(1) << bits) - 1);
}

static bool read_immediate(struct zs_asm_line *l, unsigned index, struct zs_isa_operand *op)
{
    struct literal n;
    uint32_t form = l->opcode->form;
    uint32_t implied = form == ZS_FORM_SYNC                         ? ZS_TYPE_UD
                       : zs_isa_opcode_is_branch(l->opcode)         ? ZS_TYPE_D
                       : zs_isa_opcode_is_send(l->opcode) && !index ? ZS_TYPE_UD
                                                                    : ZS_TYPE_COUNT;
    const char *at = l->at;
    if (!read_literal(l, &n) || !read_type(l, implied, &op->type))
        return false;
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)op->type);
    op->kind = ZS_OPERAND_IMM;
    if (n.kind == LITERAL_QNAN || n.kind == LITERAL_SNAN || n.kind == LITERAL_FLOAT ||
        (is_float_type(op->type) && n.kind == LITERAL_INTEGER)) {
        if (!is_float_type(op->type)) {
            l->at = at;
            return zs_asm_fail(l, "a float for an integer type");
        }
        double real = n.kind == LITERAL_INTEGER ? (double)n.integer : n.real;
        op->imm = n.kind == LITERAL_QNAN || n.kind == LITERAL_SNAN
                      ? nan_bits(&n, op->type)
                      : float_bits(n.negative ? -real : real, op->type);
        return true;
    }
    if (!fits(&n, bits)) {
        l->at = at;
        return zs_asm_fail(l, "the number does not fit in %u bits", bits);
    }
    op->imm = n.negative ? 0 - n.integer : n.integer;
    if (bits < 64)
        op->imm &= (UINT64_C(1) << bits) - 1;
    return true;
}

/* ---- sources ---- */

static uint32_t implied_source_type(const struct zs_asm_line *l, unsigned index)
{
    uint32_t form = l->opcode->form;
    if (zs_isa_opcode_is_send(l->opcode))
        return is_xe(l) || index == 0 ? ZS_TYPE_UD : ZS_TYPE_NONE;
    if (form == ZS_FORM_BRC)
        return index == 0 ? ZS_TYPE_D : ZS_TYPE_UD;
    if (zs_isa_opcode_is_branch(l->opcode))
        return is_typed_branch(l) ? ZS_TYPE_D : ZS_TYPE_NONE;
    if (form == ZS_FORM_SYNC)
        return l->inst->src[index].file == ZS_FILE_NULL ? ZS_TYPE_UB : ZS_TYPE_UD;
    return ZS_TYPE_COUNT;
}

static bool is_register_name(const char *name, size_t size)
{
    for (uint32_t f = 1; f < ZS_FILE_COUNT; f++) {
        const char *file = zs_isa_file_name((enum zs_isa_file)f);
        size_t length = strlen(file), at = length;
        if (!length || size < length || memcmp(name, file, length) != 0)
            continue;
        while (at < size && isdigit((unsigned char)name[at]))
            at++;
        if (at == size)
            return true;
    }
    return false;
}

/* A name that is no register. */
static bool is_label(const struct zs_asm_line *l)
{
    const char *end = l->at;
    while (end < l->end && (isalnum((unsigned char)*end) || *end == '_'))
        end++;
    return zs_isa_opcode_is_branch(l->opcode) && end > l->at && !isdigit((unsigned char)*l->at) &&
           !is_register_name(l->at, (size_t)(end - l->at));
}

static bool read_modifiers(struct zs_asm_line *l, struct zs_isa_operand *op)
{
    if (zs_asm_take(l, "-") || zs_asm_take(l, "~"))
        op->modifiers |= ZS_MOD_NEG;
    if (zs_asm_take(l, "(abs)"))
        op->modifiers |= ZS_MOD_ABS;
    return true;
}

/* A payload's length, the second's but for sendg: "r40:2". */
static bool read_length(struct zs_asm_line *l, unsigned index, struct zs_isa_operand *op)
{
    uint64_t length;
    bool sendg = l->opcode->form == ZS_FORM_SENDG;
    bool has = zs_isa_opcode_is_send(l->opcode) && (index == 1 || sendg) && l->at + 1 < l->end &&
               l->at[0] == ':' && isdigit((unsigned char)l->at[1]);
    if (!has)
        return true;
    l->at++;
    if (!zs_asm_unsigned(l, 31, &length))
        return false;
    op->grf_count = (uint8_t)length;
    return true;
}

bool zs_asm_source(struct zs_asm_line *l, unsigned index)
{
    struct zs_isa_operand *op = &l->inst->src[index];
    zs_asm_blanks(l);
    if (is_label(l)) {
        l->labels[index] = zs_asm_word(l);
        op->kind = ZS_OPERAND_LABEL;
        imply_region(l, op);
        return read_type(l, implied_source_type(l, index), &op->type);
    }
    const char *c = l->at;
    bool negative = c < l->end && *c == '-';
    const char *digit = negative ? c + 1 : c;
    bool number = digit < l->end && isdigit((unsigned char)*digit);
    number = number || (l->end - digit >= 3 && (!strncmp(digit, "inf", 3))) ||
             (l->end - digit >= 5 && (!strncmp(digit, "qnan(", 5) || !strncmp(digit, "snan(", 5)));
    if (number)
        return read_immediate(l, index, op);
    if (l->opcode->form == ZS_FORM_BRANCH || l->opcode->form == ZS_FORM_BRANCH2)
        return zs_asm_fail(l, "a label or a number is expected");
    if (!read_modifiers(l, op) || !read_place(l, op))
        return false;
    imply_region(l, op);
    if ((zs_asm_take(l, "<") && !read_region(l, op)) || !read_length(l, index, op))
        return false;
    if (!read_type(l, implied_source_type(l, index), &op->type))
        return false;
    if (is_macro(l) && op->kind == ZS_OPERAND_REG)
        op->hstride = 1;
    return place_subreg(l, op);
}
