/* SPDX-License-Identifier: MIT */
/* Gen9 machine code for tests: fields to bits, and random instructions. Written apart from the
 * decoder, from the layout of the bits. */
#ifndef ZS_TESTS_UNIT_EU_ENCODE_H
#define ZS_TESTS_UNIT_EU_ENCODE_H

#include "isa/gen9_decode.h"

/* The uncompacted form of an instruction given by its fields (raw, full, offset and format are
 * ignored). */
void encode(const struct zs_gen9_inst *inst, uint64_t ret_words[2]);

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *random);
/* 0 .. limit - 1 */
uint32_t random_below(struct random *random, uint32_t limit);

/* What random_inst may produce. */
enum {
    RANDOM_WIDE = 1 << 0,     /* 64-bit types */
    RANDOM_FLOAT = 1 << 1,    /* float operations */
    RANDOM_MASKS = 1 << 2,    /* predicates, channel offsets, execution masks */
    RANDOM_INDIRECT = 1 << 3, /* address registers */
};
/* An instruction of the model (no branches, no sends, no approximate math). */
void random_inst(struct random *random, unsigned what, struct zs_gen9_inst *ret);

#endif
