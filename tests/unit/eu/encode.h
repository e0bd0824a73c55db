/* SPDX-License-Identifier: MIT */
/*
 * Gen9 machine code for tests: fields to bits, and random instructions. Written apart from src/isa,
 * from the layout of the bits; only the struct and its enums are shared. Later generations are
 * encoded by src/isa, which has tests of its own (later.c).
 */
#ifndef ZS_TESTS_UNIT_EU_ENCODE_H
#define ZS_TESTS_UNIT_EU_ENCODE_H

#include "isa/inst.h"

static inline bool has_flag(const struct zs_isa_inst *inst, uint32_t flag)
{
    return (inst->flags & flag) != 0;
}

static inline bool has_modifier(const struct zs_isa_operand *op, unsigned modifier)
{
    return (op->modifiers & modifier) != 0;
}

/* Bits 6:0 of an operation. */
unsigned opcode_bits(unsigned op);
/* Bytes of an element; 0 of the packed vectors. */
unsigned type_size_B(unsigned type);

/* The uncompacted form of an instruction given by its fields: source_count sources as they stand in
 * the bits (jmpi has two), a direct operand's place as subreg_B. */
void encode(const struct zs_isa_inst *inst, uint64_t ret_words[2]);

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
/* One of a later generation and its code. */
void random_later_inst(struct random *random, enum zs_isa_platform platform, unsigned what,
                       struct zs_isa_inst *ret, uint64_t ret_words[2]);
/* An instruction of the model (no branches, no sends, no approximate math). */
void random_inst(struct random *random, unsigned what, struct zs_isa_inst *ret);

#endif
