/* SPDX-License-Identifier: MIT */
#include "isa/asm_priv.h"

#include "base/vec.h"
#include "isa/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters ---- */

bool zs_asm_fail(struct zs_asm_line *l, const char *format, ...)
{
    va_list args;
    if (l->failed_at)
        return false;
    l->failed_at = l->at;
    va_start(args, format);
    vsnprintf(l->why, sizeof(l->why), format, args);
    va_end(args);
    return false;
}

void zs_asm_blanks(struct zs_asm_line *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
        l->at++;
}

bool zs_asm_take(struct zs_asm_line *l, const char *text)
{
    size_t size = strlen(text);
    zs_asm_blanks(l);
    if ((size_t)(l->end - l->at) < size || memcmp(l->at, text, size) != 0)
        return false;
    l->at += size;
    return true;
}

bool zs_asm_expect(struct zs_asm_line *l, const char *text)
{
    return zs_asm_take(l, text) || zs_asm_fail(l, "'%s' is expected", text);
}

struct zs_span zs_asm_word(struct zs_asm_line *l)
{
    zs_asm_blanks(l);
    const char *start = l->at;
    while (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_'))
        l->at++;
    if (l->at == start)
        zs_asm_fail(l, "a name is expected");
    return zs_span_make(start, (size_t)(l->at - start));
}

bool zs_asm_is(struct zs_span word, const char *text)
{
    return word.size_B == strlen(text) && memcmp(word.data, text, word.size_B) == 0;
}

static unsigned digit_of(char c)
{
    return isdigit((unsigned char)c)    ? (unsigned)(c - '0')
           : isxdigit((unsigned char)c) ? (unsigned)(tolower((unsigned char)c) - 'a') + 10
                                        : 99;
}

bool zs_asm_unsigned(struct zs_asm_line *l, uint64_t most, uint64_t *ret)
{
    unsigned base = 10;
    zs_asm_blanks(l);
    const char *start = l->at;
    if (l->end - l->at > 2 && l->at[0] == '0' && strchr("xXbB", l->at[1])) {
        base = tolower((unsigned char)l->at[1]) == 'x' ? 16 : 2;
        l->at += 2;
    }
    const char *digits = l->at;
    uint64_t value = 0;
    bool fits = true;
    for (; l->at < l->end && digit_of(*l->at) < base; l->at++) {
        unsigned digit = digit_of(*l->at);
        fits = fits && value <= (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    bool some = l->at > digits;
    if (!some || !fits || value > most)
        l->at = start;
    if (!some)
        return zs_asm_fail(l, "a number is expected");
    if (!fits || value > most)
        return zs_asm_fail(l, "the number is too large: at most %llu", (unsigned long long)most);
    *ret = value;
    return true;
}

/* ---- before the operands ---- */

static bool read_flag(struct zs_asm_line *l)
{
    uint64_t reg, subreg = 0;
    struct zs_isa_inst *inst = l->inst;
    bool known = inst->pred != 0;
    if (!zs_asm_expect(l, "f") || !zs_asm_unsigned(l, 3, &reg))
        return false;
    if (l->at + 1 < l->end && l->at[0] == '.' && isdigit((unsigned char)l->at[1])) {
        l->at++;
        if (!zs_asm_unsigned(l, 1, &subreg))
            return false;
    }
    if (known && (inst->flag_reg != reg || inst->flag_subreg != subreg))
        return zs_asm_fail(l, "predicate and condition have one flag register");
    inst->flag_reg = (uint8_t)reg;
    inst->flag_subreg = (uint8_t)subreg;
    return true;
}

/* The longest of the words that comes next; SIZE_MAX: none. */
static size_t take_longest(struct zs_asm_line *l, const struct zs_isa_word *words, size_t count)
{
    size_t best = SIZE_MAX, length = 0;
    for (size_t i = 0; i < count; i++) {
        if (words[i].length <= length || (size_t)(l->end - l->at) < words[i].length ||
            memcmp(l->at, words[i].text, words[i].length) != 0)
            continue;
        best = i;
        length = words[i].length;
    }
    l->at += length;
    return best;
}

/* "(W)", "(f0.0)", "(W&~f1.0.any8h)". */
static bool read_predicate(struct zs_asm_line *l)
{
    struct zs_isa_inst *inst = l->inst;
    if (!zs_asm_take(l, "("))
        return true;
    if (zs_asm_take(l, "W")) {
        inst->flags |= ZS_INST_NOMASK;
        if (zs_asm_take(l, ")"))
            return true;
        if (!zs_asm_expect(l, "&"))
            return false;
    }
    if (zs_asm_take(l, "~"))
        inst->flags |= ZS_INST_PRED_INVERSE;
    if (!read_flag(l))
        return false;
    size_t word = take_longest(l, zs_isa_predicate_words, ZS_ISA_PREDICATE_WORDS);
    inst->pred = word == SIZE_MAX ? ZS_PRED_SEQ : (uint8_t)word;
    return zs_asm_expect(l, ")");
}

static bool read_mnemonic(struct zs_asm_line *l)
{
    const char *at = l->at;
    struct zs_span word = zs_asm_word(l);
    for (uint32_t op = 0; op < ZS_OP_COUNT && word.size_B; op++) {
        const char *name = zs_isa_op_mnemonic((enum zs_isa_op)op);
        if (!*name || !zs_asm_is(word, name))
            continue;
        l->opcode = zs_isa_model_find(l->model, (enum zs_isa_op)op);
        if (l->opcode) {
            l->inst->op = (uint8_t)op;
            return true;
        }
    }
    l->at = at;
    return zs_asm_fail(l, "'%.*s' is no instruction of %s", (int)ZS_MIN(word.size_B, (size_t)40),
                       (const char *)word.data, zs_isa_platform_info(l->model->platform)->name);
}

static bool read_word_function(struct zs_asm_line *l, const struct zs_isa_word *words)
{
    size_t word = take_longest(l, words, 16);
    if (word == SIZE_MAX)
        return zs_asm_fail(l, "%s needs a function, as in '.%s'",
                           zs_isa_op_mnemonic((enum zs_isa_op)l->inst->op),
                           l->inst->op == ZS_OP_MATH ? "inv" : "nop");
    l->inst->subfunction = (uint8_t)word;
    return true;
}

/* ".(s0&s1|~s2)" or ".0xE8". */
static bool read_bfn(struct zs_asm_line *l)
{
    uint64_t value;
    if (!zs_asm_expect(l, "."))
        return false;
    if (!zs_asm_take(l, "(")) {
        if (!zs_asm_unsigned(l, 255, &value))
            return false;
        l->inst->subfunction = (uint8_t)value;
        return true;
    }
    const char *close = memchr(l->at, ' ', (size_t)(l->end - l->at));
    close = close ? close : l->end;
    while (close > l->at && *close != ')')
        close--;
    size_t size = (size_t)(close - l->at);
    for (uint32_t i = 0; i < 256; i++) {
        if (strlen(zs_isa_bfn_words[i]) != size || memcmp(zs_isa_bfn_words[i], l->at, size) != 0)
            continue;
        l->inst->subfunction = (uint8_t)i;
        l->at = close;
        return zs_asm_expect(l, ")");
    }
    return zs_asm_fail(l,
                       "no such function of three sources: write its truth table, as in '.0xE8'");
}

/* ".8x4": depth and repeat count, 16 as 0; ".0x1008?" beyond 8. */
static bool read_dpas(struct zs_asm_line *l)
{
    uint64_t depth, repeat;
    if (!zs_asm_expect(l, "."))
        return false;
    if (l->end - l->at > 2 && l->at[0] == '0' && l->at[1] == 'x') {
        if (!zs_asm_unsigned(l, 0x1010, &depth) || !zs_asm_expect(l, "?"))
            return false;
        repeat = depth & 31;
        depth >>= 8;
    } else if (!zs_asm_unsigned(l, 16, &depth) || !zs_asm_expect(l, "x") ||
               !zs_asm_unsigned(l, 16, &repeat)) {
        return false;
    }
    l->inst->subfunction = (uint8_t)((depth & 15) << 4 | (repeat & 15));
    return true;
}

static bool read_sfid(struct zs_asm_line *l)
{
    if (l->model->platform < ZS_ISA_XE_LP)
        return true;
    if (!zs_asm_expect(l, "."))
        return false;
    struct zs_span word = zs_asm_word(l);
    for (uint32_t i = 0; i < ZS_SFID_COUNT; i++) {
        if (zs_asm_is(word, zs_isa_sfid_name((enum zs_isa_sfid)i))) {
            l->inst->sfid = (uint8_t)i;
            return true;
        }
    }
    return zs_asm_fail(l, "'%.*s' is no shared function", (int)ZS_MIN(word.size_B, (size_t)40),
                       (const char *)word.data);
}

/* ".bftoe2m1.mode0.rne" */
static bool read_dnscl(struct zs_asm_line *l)
{
    uint64_t mode = 0;
    uint32_t function = zs_asm_take(l, ".bf") ? ZS_DNSCL_BF : zs_asm_take(l, ".f") ? ZS_DNSCL_F : 0;
    if (!function && !zs_asm_expect(l, ".hf"))
        return false;
    if (zs_asm_take(l, "toint4"))
        function |= ZS_DNSCL_INT4;
    else if (zs_asm_expect(l, "toe2m1"))
        function |= ZS_DNSCL_E2M1;
    else
        return false;
    if (!zs_asm_expect(l, ".mode") || !zs_asm_unsigned(l, 3, &mode))
        return false;
    if (zs_asm_take(l, ".rne"))
        function |= ZS_DNSCL_RNE;
    else if (!zs_asm_expect(l, ".srnd"))
        return false;
    l->inst->subfunction = (uint8_t)(function | mode << 4);
    return true;
}

/* ".b16v2", ".idx4": few have one. */
static bool read_binary_function(struct zs_asm_line *l)
{
    enum { IDX4 = 6 };
    if (l->inst->op == ZS_OP_SHFL) {
        l->inst->subfunction = IDX4;
        return zs_asm_expect(l, ".idx4");
    }
    for (uint32_t i = 0; l->inst->op == ZS_OP_LFSR; i++) {
        if (i == 3)
            return zs_asm_expect(l, zs_isa_lfsr_words[0]);
        if (zs_asm_take(l, zs_isa_lfsr_words[i])) {
            l->inst->subfunction = (uint8_t)i;
            return true;
        }
    }
    return true;
}

static bool read_function(struct zs_asm_line *l)
{
    switch (l->opcode->form) {
    case ZS_FORM_MATH:
        return read_word_function(l, zs_isa_math_words[l->model->platform >= ZS_ISA_XE3P]);
    case ZS_FORM_SYNC:
        return read_word_function(l, zs_isa_sync_words);
    case ZS_FORM_BINARY:
        return read_binary_function(l);
    case ZS_FORM_BFN:
        return l->inst->op == ZS_OP_DNSCL ? read_dnscl(l) : read_bfn(l);
    case ZS_FORM_DPAS:
        return read_dpas(l);
    case ZS_FORM_SENDS:
    case ZS_FORM_SENDG:
        return read_sfid(l);
    default:
        if (l->opcode->flags & ZS_OPC_BRANCH_CTRL && zs_asm_take(l, ".b"))
            l->inst->flags |= ZS_INST_BRANCH_CTRL;
        return true;
    }
}

/* "(16|M0)", which some have not. */
static bool read_exec(struct zs_asm_line *l)
{
    uint64_t size, offset = 0;
    l->inst->exec_size = 1;
    zs_asm_blanks(l);
    bool tokens = l->opcode->form == ZS_FORM_SYNC && l->end - l->at > 1 && l->at[1] == '$';
    if (tokens || !zs_asm_take(l, "("))
        return true;
    if (!zs_asm_unsigned(l, 32, &size))
        return false;
    if (zs_asm_take(l, "|") && (!zs_asm_expect(l, "M") || !zs_asm_unsigned(l, 28, &offset)))
        return false;
    l->inst->exec_size = (uint8_t)size;
    l->inst->channel_offset = (uint8_t)offset;
    return zs_asm_expect(l, ")");
}

/* "(lt)f0.0" */
static bool read_condition(struct zs_asm_line *l)
{
    struct zs_isa_inst *inst = l->inst;
    zs_asm_blanks(l);
    if (zs_asm_take(l, "(eo)")) {
        inst->cond = ZS_COND_EO;
        return read_flag(l);
    }
    size_t word = take_longest(l, zs_isa_condition_words, ZS_ISA_CONDITION_WORDS);
    if (word == SIZE_MAX)
        return true;
    inst->cond = (uint8_t)word;
    return read_flag(l);
}

/* ---- behind the operands ---- */

/* A descriptor: a number or "a0.2". */
static bool read_descriptor(struct zs_asm_line *l, uint32_t flag, uint8_t *ret_subreg,
                            uint32_t *ret)
{
    uint64_t value = 0;
    if (zs_asm_take(l, "a0.")) {
        l->inst->flags |= flag;
        if (!zs_asm_unsigned(l, 15, &value))
            return false;
        *ret_subreg = (uint8_t)value;
        return true;
    }
    if (!zs_asm_unsigned(l, UINT32_MAX, &value))
        return false;
    *ret = (uint32_t)value;
    return true;
}

static bool read_distance(struct zs_asm_line *l, uint8_t pipe)
{
    uint64_t distance;
    if (!zs_asm_unsigned(l, 7, &distance))
        return false;
    l->inst->swsb.pipe = pipe;
    l->inst->swsb.distance = (uint8_t)distance;
    return true;
}

static bool read_token(struct zs_asm_line *l)
{
    uint64_t sbid = 0;
    struct zs_isa_swsb *swsb = &l->inst->swsb;
    if (!zs_asm_unsigned(l, 31, &sbid))
        return false;
    swsb->sbid = (uint8_t)sbid;
    swsb->token = zs_asm_take(l, ".dst")   ? ZS_SWSB_DST
                  : zs_asm_take(l, ".src") ? ZS_SWSB_SRC
                  : zs_asm_take(l, ".inc") ? ZS_SWSB_INC
                                           : ZS_SWSB_SET;
    return true;
}

static bool read_option(struct zs_asm_line *l)
{
    static const struct {
        const char *text;
        uint8_t pipe;
    } pipes[] = {{"@", ZS_SWSB_DIST},   {"A@", ZS_SWSB_ALL},  {"F@", ZS_SWSB_FLOAT},
                 {"I@", ZS_SWSB_INT},   {"L@", ZS_SWSB_LONG}, {"M@", ZS_SWSB_MATH},
                 {"S@", ZS_SWSB_SCALAR}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(pipes); i++)
        if (zs_asm_take(l, pipes[i].text))
            return read_distance(l, pipes[i].pipe);
    if (zs_asm_take(l, "$"))
        return read_token(l);
    const char *at = l->at;
    struct zs_span word = zs_asm_word(l);
    if (zs_asm_is(word, "NoAccSBSet")) {
        l->inst->swsb.token = ZS_SWSB_NOACCSBSET;
        return true;
    }
    for (size_t i = 0; i < ZS_ISA_OPTION_WORDS; i++) {
        if (zs_asm_is(word, zs_isa_option_words[i].name)) {
            l->inst->flags |= zs_isa_option_words[i].flag;
            return true;
        }
    }
    l->at = at;
    return zs_asm_fail(l, "'%.*s' is no option", (int)ZS_MIN(word.size_B, (size_t)40),
                       (const char *)word.data);
}

static bool read_options(struct zs_asm_line *l)
{
    if (!zs_asm_take(l, "{"))
        return true;
    if (zs_asm_take(l, "}"))
        return true;
    do {
        if (!read_option(l))
            return false;
    } while (zs_asm_take(l, ","));
    return zs_asm_expect(l, "}");
}

/* ---- operands ---- */

static bool at_end(struct zs_asm_line *l)
{
    zs_asm_blanks(l);
    return l->at == l->end || *l->at == '{';
}

static bool has_dst(const struct zs_isa_opcode *opcode)
{
    return opcode->form == ZS_FORM_CALL ||
           (opcode->form >= ZS_FORM_UNARY && opcode->form <= ZS_FORM_DPAS) ||
           zs_isa_opcode_is_send(opcode);
}

/* How many sources the form has; UINT32_MAX: as many as stand there. */
static uint32_t source_count(const struct zs_isa_opcode *opcode)
{
    switch (opcode->form) {
    case ZS_FORM_NULLARY:
        return 0;
    case ZS_FORM_BINARY:
    case ZS_FORM_SENDS:
    case ZS_FORM_SENDG:
        return 2;
    case ZS_FORM_TERNARY:
    case ZS_FORM_BFN:
    case ZS_FORM_DPAS:
        return opcode->op == ZS_OP_BDPAS ? 5 : 3;
    case ZS_FORM_UNARY:
    case ZS_FORM_SEND:
        return 1;
    default:
        return UINT32_MAX;
    }
}

/* sync.allrd ($1,$3) */
static bool read_tokens(struct zs_asm_line *l)
{
    struct zs_isa_operand *op = &l->inst->src[0];
    uint64_t sbid = 0;
    op->kind = ZS_OPERAND_IMM;
    op->type = ZS_TYPE_UD;
    l->inst->source_count = 1;
    do {
        if (!zs_asm_expect(l, "$") || !zs_asm_unsigned(l, 31, &sbid))
            return false;
        op->imm |= UINT64_C(1) << sbid;
    } while (zs_asm_take(l, ","));
    return zs_asm_expect(l, ")");
}

/* "0x1000:a0.1": from Xe2 on an offset may stand before a register. */
static bool read_exdesc(struct zs_asm_line *l)
{
    struct zs_isa_inst *inst = l->inst;
    const char *at = l->at;
    uint64_t offset = 0;
    if (l->model->platform >= ZS_ISA_XE2 && !zs_asm_take(l, "a0.")) {
        if (!zs_asm_unsigned(l, UINT32_MAX, &offset))
            return false;
        if (zs_asm_take(l, ":")) {
            inst->exdesc_offset = (uint32_t)offset;
            at = l->at;
        }
    }
    l->at = at;
    return read_descriptor(l, ZS_INST_EXDESC_REG, &inst->exdesc_subreg, &inst->exdesc) &&
           (!inst->exdesc_offset || inst->flags & ZS_INST_EXDESC_REG ||
            zs_asm_fail(l, "a register is expected behind an offset"));
}

/* "s0.16  s0.24  0x5000": what s0 has, as bytes, then the rest. */
static bool read_sendg_desc(struct zs_asm_line *l)
{
    struct zs_isa_inst *inst = l->inst;
    uint64_t place, desc;
    for (uint32_t i = 0; i < 2; i++) {
        zs_asm_blanks(l);
        if (!zs_asm_take(l, "s0."))
            break;
        const char *at = l->at;
        if (!zs_asm_unsigned(l, 56, &place))
            return false;
        if (place % 8) {
            l->at = at;
            return zs_asm_fail(l, "a multiple of 8 is expected: quadwords of s0");
        }
        *(i ? &inst->exdesc_subreg : &inst->desc_subreg) = (uint8_t)(place / 8);
        inst->flags |= i ? ZS_INST_INDIRECT1 : ZS_INST_INDIRECT0;
    }
    zs_asm_blanks(l);
    if (!zs_asm_unsigned(l, (UINT64_C(1) << 47) - 1, &desc))
        return false;
    inst->desc = (uint32_t)desc;
    inst->exdesc = (uint32_t)(desc >> 32);
    return true;
}

static bool gathers(const struct zs_isa_inst *inst)
{
    return inst->source_count == 1 && inst->src[0].file == ZS_FILE_S &&
           inst->src[0].kind == ZS_OPERAND_INDIRECT;
}

/* A single payload in the slot of two: "send (8|M0) null r1 null 0x0 0x...". */
static bool read_operands(struct zs_asm_line *l)
{
    struct zs_isa_inst *inst = l->inst;
    if (has_dst(l->opcode) && !zs_asm_dst(l))
        return false;
    if (l->opcode->form == ZS_FORM_SYNC && zs_asm_take(l, "("))
        return read_tokens(l);
    uint32_t wanted = source_count(l->opcode);
    while (inst->source_count < ZS_MIN(wanted, (uint32_t)ZS_ISA_SOURCES_MAX)) {
        if ((wanted == UINT32_MAX && at_end(l)) || gathers(inst))
            break;
        if (!zs_asm_source(l, inst->source_count))
            return false;
        inst->source_count++;
    }
    if (!zs_isa_opcode_is_send(l->opcode))
        return true;
    if (l->opcode->form == ZS_FORM_SENDG)
        return read_sendg_desc(l);
    return read_exdesc(l) && read_descriptor(l, ZS_INST_DESC_REG, &inst->desc_subreg, &inst->desc);
}

static bool read_instruction(struct zs_asm_line *l)
{
    if (!read_predicate(l) || !read_mnemonic(l))
        return false;
    if (l->opcode->form == ZS_FORM_JUMP) /* has no other */
        l->inst->flags |= ZS_INST_NOMASK;
    /* three sources have no other form before Gen11 */
    if (l->opcode->form == ZS_FORM_TERNARY && l->model->platform < ZS_ISA_GEN11)
        l->inst->flags |= ZS_INST_ALIGN16;
    if (!read_function(l) || !read_exec(l))
        return false;
    if (!read_condition(l) || !read_operands(l) || !read_options(l))
        return false;
    zs_asm_blanks(l);
    return l->at == l->end || zs_asm_fail(l, "the line should end here");
}

/* ---- the text ---- */

struct label {
    struct zs_span name;
    uint32_t at_B, line;
};

struct pending {
    struct zs_isa_inst inst;
    struct zs_span labels[ZS_ISA_SOURCES_MAX];
    uint32_t at_B, line;
};

struct assembler {
    const struct zs_isa_model *model;
    struct {
        struct label *items;
        size_t count, capacity;
    } labels;
    struct {
        struct pending *items;
        size_t count, capacity;
    } insts;
    uint32_t at_B;
    bool in_comment;
    struct zs_isa_asm_error *error;
};

static int set_error(struct assembler *a, uint32_t line, size_t column, const char *why)
{
    a->error->line = line;
    a->error->column = (uint32_t)column;
    snprintf(a->error->text, sizeof(a->error->text), "%s", why);
    return -EINVAL;
}

/* Comments become blanks, so that columns stay. `copy` has room for the line. */
static void strip_comments(struct assembler *a, const char *text, size_t size, char *copy)
{
    for (size_t i = 0; i < size; i++) {
        bool two = i + 1 < size;
        copy[i] = ' ';
        if (a->in_comment) {
            if (two && text[i] == '*' && text[i + 1] == '/') {
                a->in_comment = false;
                copy[++i] = ' ';
            }
        } else if (two && text[i] == '/' && text[i + 1] == '*') {
            a->in_comment = true;
            copy[++i] = ' ';
        } else if (two && text[i] == '/' && text[i + 1] == '/') {
            memset(copy + i, ' ', size - i);
            return;
        } else {
            copy[i] = text[i];
        }
    }
}

/* "name:" at the line's start; where the instruction begins. */
static const char *find_label(const char *start, const char *end, struct zs_span *ret_name)
{
    const char *at = start;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *name = at;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
        at++;
    bool is_label = at > name && !isdigit((unsigned char)*name) && at < end && *at == ':';
    *ret_name = zs_span_make(name, is_label ? (size_t)(at - name) : 0);
    return is_label ? at + 1 : start;
}

static int compare_names(struct zs_span a, struct zs_span b)
{
    int order = memcmp(a.data, b.data, ZS_MIN(a.size_B, b.size_B));
    return order ? order : a.size_B < b.size_B ? -1 : a.size_B > b.size_B;
}

static int compare_labels(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    int order = compare_names(x->name, y->name);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* By name, each once. */
static int sort_labels(struct assembler *a)
{
    if (a->labels.count)
        qsort(a->labels.items, a->labels.count, sizeof(struct label), compare_labels);
    for (size_t i = 1; i < a->labels.count; i++)
        if (!compare_names(a->labels.items[i - 1].name, a->labels.items[i].name))
            return set_error(a, a->labels.items[i].line, 1, "this label is there already");
    return 0;
}

/* `copy` is `text` without comments; names point into the text. */
static int read_line(struct assembler *a, const char *text, const char *copy, size_t size,
                     uint32_t line)
{
    struct zs_span name;
    struct pending p = {.at_B = a->at_B, .line = line};
    const char *end = copy + size;
    const char *at = find_label(copy, end, &name);
    if (name.size_B) {
        const char *kept = text + ((const char *)name.data - copy);
        const struct label label = {zs_span_make(kept, name.size_B), a->at_B, line};
        if (!ZS_VEC_PUSH(&a->labels, label))
            return -ENOMEM;
    }
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    if (at == end)
        return 0;
    p.inst = (struct zs_isa_inst){
        .message = ZS_ISA_NO_INDEX, .jip_B = ZS_ISA_NO_INDEX, .uip_B = ZS_ISA_NO_INDEX};
    struct zs_asm_line l = {
        .model = a->model, .inst = &p.inst, .start = copy, .at = at, .end = end};
    if (!read_instruction(&l))
        return set_error(a, line, (size_t)(l.failed_at - copy) + 1, l.why);
    for (uint32_t i = 0; i < ZS_ISA_SOURCES_MAX; i++)
        if (l.labels[i].size_B)
            p.labels[i] =
                zs_span_make(text + ((const char *)l.labels[i].data - copy), l.labels[i].size_B);
    p.inst.size_B = p.inst.flags & ZS_INST_COMPACTED ? 8 : 16;
    if (!ZS_VEC_PUSH(&a->insts, p))
        return -ENOMEM;
    a->at_B += p.inst.size_B;
    return a->at_B < UINT32_MAX - 16 ? 0 : set_error(a, line, 1, "more code than 4 GB");
}

/* "L136", "L_N16": what listings call places that no line stands at. */
static bool label_offset(struct zs_span name, int64_t *ret_B)
{
    const char *text = (const char *)name.data;
    bool negative = name.size_B > 3 && !memcmp(text, "L_N", 3);
    size_t at = negative ? 3 : 1;
    int64_t value = 0;
    if (name.size_B <= at || text[0] != 'L' || name.size_B > at + 12)
        return false;
    for (; at < name.size_B; at++) {
        if (!isdigit((unsigned char)text[at]))
            return false;
        value = value * 10 + (text[at] - '0');
    }
    *ret_B = negative ? -value : value;
    return true;
}

static bool find_target(const struct assembler *a, struct zs_span name, int64_t *ret_B)
{
    size_t low = 0, high = a->labels.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(a->labels.items[middle].name, name);
        if (order == 0) {
            *ret_B = a->labels.items[middle].at_B;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return label_offset(name, ret_B);
}

static int encode(struct assembler *a, struct pending *p, struct zs_buf *out)
{
    uint8_t bytes[16];
    const char *field = NULL;
    char why[200];
    for (uint32_t i = 0; i < p->inst.source_count; i++) {
        int64_t target_B;
        if (p->inst.src[i].kind != ZS_OPERAND_LABEL)
            continue;
        if (!find_target(a, p->labels[i], &target_B)) {
            snprintf(why, sizeof(why), "there is no label '%.*s'",
                     (int)ZS_MIN(p->labels[i].size_B, (size_t)80), (const char *)p->labels[i].data);
            return set_error(a, p->line, 1, why);
        }
        bool absolute = p->inst.op == ZS_OP_CALLA;
        p->inst.src[i].imm = (uint64_t)(target_B - (absolute ? 0 : (int64_t)p->at_B));
    }
    int size = zs_isa_encode(a->model, &p->inst, bytes, &field);
    if (size < 0) {
        snprintf(why, sizeof(why), "this cannot be encoded: %s", field ? field : "instruction");
        return set_error(a, p->line, 1, why);
    }
    /* fields that fit can still make what no instruction has: an address register as second source
     */
    struct zs_isa_inst again;
    if (!zs_isa_decode(a->model, bytes, &again) && p->inst.op != ZS_OP_ILLEGAL) {
        snprintf(why, sizeof(why), "there is no such instruction: %s",
                 zs_isa_error_text(again.error));
        return set_error(a, p->line, 1, why);
    }
    zs_buf_append(out, bytes, (size_t)size);
    return out->error;
}

static int read_text(struct assembler *a, struct zs_span text)
{
    const char *at = (const char *)text.data, *end = at + text.size_B;
    char *copy = NULL;
    size_t room = 0;
    int error = 0;
    for (uint32_t line = 1; at < end && !error; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        if (size + 1 > room) {
            char *grown = realloc(copy, size + 256);
            if (!grown) {
                error = -ENOMEM;
                break;
            }
            copy = grown;
            room = size + 256;
        }
        strip_comments(a, at, size, copy);
        error = read_line(a, at, copy, size, line);
        at += size + 1;
    }
    free(copy);
    return error;
}

int zs_isa_assemble_text(const struct zs_isa_model *model, struct zs_span text, struct zs_buf *out,
                         struct zs_isa_asm_error *ret_error)
{
    struct assembler a = {.model = model, .error = ret_error};
    int error = text.size_B ? read_text(&a, text) : 0;
    error = error ? error : sort_labels(&a);
    for (size_t i = 0; i < a.insts.count && !error; i++)
        error = encode(&a, &a.insts.items[i], out);
    free(a.labels.items);
    free(a.insts.items);
    return error;
}

int zs_isa_assemble(enum zs_isa_platform platform, struct zs_span text, uint8_t **ret_code,
                    size_t *ret_size_B, struct zs_isa_asm_error *ret_error)
{
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    const struct zs_isa_model *model = zs_isa_model(platform);
    struct zs_buf out = {0};
    *ret_code = NULL;
    *ret_size_B = 0;
    if (!model)
        return -ENOTSUP;
    int failed = zs_isa_assemble_text(model, text, &out, &error);
    if (failed) {
        zs_buf_fini(&out);
        if (ret_error)
            memcpy((char *)ret_error + sizeof(size_t), (const char *)&error + sizeof(size_t),
                   ZS_MIN(ret_error->size_B, sizeof(error)) - sizeof(size_t));
        return failed;
    }
    *ret_code = out.data;
    *ret_size_B = out.size_B;
    return 0;
}

void zs_isa_code_free(uint8_t *code)
{
    free(code);
}
