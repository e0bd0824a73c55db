/* SPDX-License-Identifier: MIT */
/* Operations that compute exactly, in 128 bits (exact.c): what their `aux` says. */
#ifndef ZS_EU_EXACT_H
#define ZS_EU_EXACT_H

#include "eu/eu_priv.h"

enum zs_eu_exact {
    ZS_EU_EXACT_VALUE, /* the first source */
    ZS_EU_EXACT_ADD,
    ZS_EU_EXACT_MUL,
    ZS_EU_EXACT_MAD,
    ZS_EU_EXACT_SHL,
    ZS_EU_EXACT_ORDER,  /* -1, 0, 1: less, equal, greater */
    ZS_EU_EXACT_CHOOSE, /* the first source where it compares with the second as the condition has
                           it, else that one */
};

enum {
    ZS_EU_EXACT_OPERATION = 7, /* bits 2:0 of aux */
    ZS_EU_EXACT_COND = 3,      /* shift of enum zs_isa_cond */
    ZS_EU_EXACT_UNSIGNED = 6,  /* first of three bits, one a source */
    ZS_EU_EXACT_NEGATED = 9,   /* the same */
    ZS_EU_EXACT_SIZE = 12,     /* shift of log2 of the bytes of the range to clamp to */
    ZS_EU_EXACT_SIGNED = 1 << 14,
    ZS_EU_EXACT_CLAMPS = 1 << 15, /* else the low 64 bits are the result */
    ZS_EU_EXACT_SINGLE = 1 << 16, /* the result as a float */
    ZS_EU_EXACT_DOUBLE = 1 << 17,
};

#endif
