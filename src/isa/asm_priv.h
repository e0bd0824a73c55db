/* SPDX-License-Identifier: MIT */
/* The reader of one line, shared by the assembler's files. */
#ifndef ZS_ISA_ASM_PRIV_H
#define ZS_ISA_ASM_PRIV_H

#include "isa/asm.h"

/* The text of one instruction; its first error sticks. */
struct zs_asm_line {
    const struct zs_isa_model *model;
    const struct zs_isa_opcode *opcode;
    struct zs_isa_inst *inst;
    const char *start, *at, *end; /* no newline in it */
    const char *failed_at;        /* NULL: no error yet */
    char why[160];
    struct zs_span labels[ZS_ISA_SOURCES_MAX]; /* of sources that are labels */
};

/* Keeps an earlier error; false for `return`. */
bool zs_asm_fail(struct zs_asm_line *l, const char *format, ...) ZS_PRINTF(2, 3);
void zs_asm_blanks(struct zs_asm_line *l);
/* Whether the text comes next (after blanks); then it is passed. */
bool zs_asm_take(struct zs_asm_line *l, const char *text);
bool zs_asm_expect(struct zs_asm_line *l, const char *text);
/* Letters, digits and '_' (not empty unless it fails). */
struct zs_span zs_asm_word(struct zs_asm_line *l);
bool zs_asm_is(struct zs_span word, const char *text);
/* Decimal, 0x or 0b; a sign is not read. */
bool zs_asm_unsigned(struct zs_asm_line *l, uint64_t most, uint64_t *ret);

/* asm_operand.c */
bool zs_asm_dst(struct zs_asm_line *l);
bool zs_asm_source(struct zs_asm_line *l, unsigned index);

#endif
