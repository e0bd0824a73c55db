/* SPDX-License-Identifier: MIT */
/* The rows of sem.def in LLVM's language: made at build time from rows.c by rows_text.py. */
#ifndef ZS_EU_ROWS_TEXT_H
#define ZS_EU_ROWS_TEXT_H

#include "eu/eu_priv.h"
#include "eu/tier/tier.h"

struct zs_eu_row_text {
    const char *code, *wide; /* lines for eight and for sixteen lanes; NULL: there are none */
    unsigned values;         /* numbers of values in them are below */
    const char *real;        /* LLVM's type of the result's elements, if it is one of floats */
    int logic;               /* the result is and, or, xor: 1; 2: of a constant */
    const char *function;    /* else its definition; NULL: the interpreter alone has it */
    const char *uses;        /* names of what it calls, each between blanks */
};
struct zs_eu_row_declare {
    const char *name, *text; /* the name between blanks */
};
extern const struct zs_eu_row_text zs_eu_row_texts[ZS_EU_ROW_COUNT];
extern const struct zs_eu_row_declare zs_eu_row_declares[]; /* ends with NULL */

#endif
