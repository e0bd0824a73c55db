/* SPDX-License-Identifier: MIT */
/* DWARF expressions: the evaluator, which runs with values or with symbols. */
#ifndef ZS_DWARF_EXPR_PRIV_H
#define ZS_DWARF_EXPR_PRIV_H

#include "base/reader.h"

#include <zescope/dwarf.h>

enum zs_dw_operand {
    ZS_DWARG_none,
    ZS_DWARG_u1,
    ZS_DWARG_s1,
    ZS_DWARG_u2,
    ZS_DWARG_s2,
    ZS_DWARG_u4,
    ZS_DWARG_s4,
    ZS_DWARG_u8,
    ZS_DWARG_s8,
    ZS_DWARG_uleb,
    ZS_DWARG_sleb,
    ZS_DWARG_addr,
    ZS_DWARG_off,
    ZS_DWARG_block,
    ZS_DWARG_block1,
};

enum {
#define ZS_DWARF_OP(value, name, first, second, needs) DW_OP_##name = (value),
#include "dwarf/dwarf_ops.def"
#undef ZS_DWARF_OP
};

struct zs_dw_op {
    uint8_t value; /* lit, reg, breg: of the first of the run */
    uint8_t operand[2];
    uint8_t needs;
    const char *name;
};

/* One decoded operator. */
struct zs_dw_step {
    const struct zs_dw_op *op;
    uint32_t index; /* in a run of 32: lit3 has 3 */
    uint64_t operand[2];
    struct zs_span block;
};

/* Decode the operator at the reader. 0, or -errno with a sentence. */
int zs_expr_step(struct zs_reader *r, struct zs_dw_step *ret_step);

/*
 * What one stack entry stands for beside its value. A symbolic run (no callbacks) keeps sums of
 * register and memory contents that are not known; a run with values keeps where a value was read,
 * so that a variable that lives in a register can be written.
 */
struct zs_sym_term {
    uint64_t dwarf_register, bit_offset;
    uint32_t bits;
};
enum { ZS_SYM_TERMS_MAX = 3 };
struct zs_sym {
    uint64_t value;   /* the known part */
    uint32_t terms;   /* unknown parts that are added to it */
    bool opaque;      /* not a sum that can be kept */
    bool is_register; /* DW_OP_INTEL_regs: a register as a place, its number is value */
    uint8_t encoding; /* of a typed value: DW_ATE_*; value is extended to 64 bits by it */
    uint8_t size_B;   /* 0: the generic type */
    struct zs_sym_term term[ZS_SYM_TERMS_MAX];
};

struct zs_sym_piece {
    struct zs_piece piece;
    struct zs_sym sym; /* address or value */
};
struct zs_sym_result {
    uint32_t count;
    struct zs_sym_piece pieces[ZS_PIECES_MAX];
};

/* ---- expr_typed.c: known values, of which one at least is typed (2.5.1) ---- */

/* bits of a value as one of that type. */
struct zs_sym zs_typed_make(uint64_t bits, uint8_t encoding, uint8_t size_B);
/* 0, or -EINVAL with the reader's sentence. */
int zs_typed_binary(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *left,
                    const struct zs_sym *right, struct zs_sym *ret);
int zs_typed_unary(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *value,
                   struct zs_sym *ret);
/* size_B 0: to the generic type. */
struct zs_sym zs_typed_convert(const struct zs_sym *value, uint8_t encoding, uint8_t size_B);

/* symbolic: inputs that are not known become terms instead of errors. */
int zs_expr_run(struct zs_span expr, const struct zs_eval_context *context, bool symbolic,
                struct zs_sym_result *ret_result, struct zs_diag *diag);

#endif
