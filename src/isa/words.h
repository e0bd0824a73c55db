/* SPDX-License-Identifier: MIT */
/* The words of IGA's syntax: what is printed, and what the assembler knows. */
#ifndef ZS_ISA_WORDS_H
#define ZS_ISA_WORDS_H

#include "base/compiler.h"

#include <zescope/isa.h>

/* A name of up to 11 characters: copied whole, then advanced by its length. */
struct zs_isa_word {
    char text[11] ZS_NONSTRING;
    uint8_t length;
};
#define ZS_ISA_WORD(s)                                                                             \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

enum { ZS_ISA_PREDICATE_WORDS = ZS_PRED_ALL + 1, ZS_ISA_CONDITION_WORDS = ZS_COND_UN + 1 };
enum { ZS_ISA_OPTION_WORDS = 14 };

extern const struct zs_isa_word zs_isa_predicate_words[ZS_ISA_PREDICATE_WORDS]; /* ".any8h" */
extern const struct zs_isa_word zs_isa_condition_words[ZS_ISA_CONDITION_WORDS]; /* "(eq)" */
extern const struct zs_isa_word zs_isa_math_words[2][16]; /* ".inv"; the second from Xe3P on */
extern const struct zs_isa_word zs_isa_sync_words[16];    /* ".allrd" */
extern const char *const zs_isa_bfn_words[256];           /* "s0&s1|s2" */
extern const char *const zs_isa_lfsr_words[4];            /* ".b32" */

/* In the order that they are printed in. */
struct zs_isa_option_word {
    uint32_t flag; /* enum zs_isa_inst_flags */
    const char *name;
};
extern const struct zs_isa_option_word zs_isa_option_words[ZS_ISA_OPTION_WORDS];

#endif
