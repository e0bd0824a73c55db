/* SPDX-License-Identifier: MIT */
/*
 * Raw decoder of Gen9 machine code: bits to fields, compacted forms included.
 *
 *     struct zs_gen9_inst inst;
 *     for (uint32_t at = 0; zs_gen9_decode(code, at, &inst); at += inst.size_B)
 *         ...
 *
 * It takes any bytes. Every instruction has a size (bit 29 tells), so a listing goes on behind
 * what is no instruction; `error` then says what is wrong. It says what stands in the encoding
 * and nothing about what is legal or implemented. Pure: no allocation, no state.
 */
#ifndef ZS_ISA_GEN9_DECODE_H
#define ZS_ISA_GEN9_DECODE_H

#include "base/compiler.h"
#include "base/span.h"

enum zs_gen9_opcode {
#define ZS_GEN9_OP(encoding, id, mnemonic, format) ZS_GEN9_##id = (encoding),
#include "isa/gen9_op.def"
#undef ZS_GEN9_OP
};

enum zs_gen9_format {
    ZS_GEN9_FORMAT_ILLEGAL,
    ZS_GEN9_FORMAT_NOP,
    ZS_GEN9_FORMAT_UNARY,
    ZS_GEN9_FORMAT_BINARY,
    ZS_GEN9_FORMAT_TERNARY, /* Align16 layout with flags for contiguous and broadcast sources */
    ZS_GEN9_FORMAT_JUMP,    /* jmpi: src[1] is a relative target, immediate or register */
    ZS_GEN9_FORMAT_BRANCH,  /* JIP */
    ZS_GEN9_FORMAT_BRANCH2, /* JIP and UIP */
    ZS_GEN9_FORMAT_CALL,    /* dst, JIP or a register in src[1] */
    ZS_GEN9_FORMAT_SEND,
    ZS_GEN9_FORMAT_SENDS,
};

enum zs_gen9_file { ZS_GEN9_FILE_ARF, ZS_GEN9_FILE_GRF, ZS_GEN9_FILE_RESERVED, ZS_GEN9_FILE_IMM };

enum zs_gen9_arf {
    ZS_GEN9_ARF_NULL = 0x00,
    ZS_GEN9_ARF_A = 0x10,
    ZS_GEN9_ARF_ACC = 0x20,
    ZS_GEN9_ARF_F = 0x30,
    ZS_GEN9_ARF_CE = 0x40,
    ZS_GEN9_ARF_MSG = 0x50,
    ZS_GEN9_ARF_SP = 0x60,
    ZS_GEN9_ARF_SR = 0x70,
    ZS_GEN9_ARF_CR = 0x80,
    ZS_GEN9_ARF_N = 0x90,
    ZS_GEN9_ARF_IP = 0xa0,
    ZS_GEN9_ARF_TDR = 0xb0,
    ZS_GEN9_ARF_TM = 0xc0,
    ZS_GEN9_ARF_FC = 0xd0,
    ZS_GEN9_ARF_DBG = 0xf0,
};

/* Register types have their encodings; packed immediates follow. */
enum zs_gen9_type {
    ZS_GEN9_UD,
    ZS_GEN9_D,
    ZS_GEN9_UW,
    ZS_GEN9_W,
    ZS_GEN9_UB,
    ZS_GEN9_B,
    ZS_GEN9_DF,
    ZS_GEN9_F,
    ZS_GEN9_UQ,
    ZS_GEN9_Q,
    ZS_GEN9_HF,
    ZS_GEN9_UV,
    ZS_GEN9_V,
    ZS_GEN9_VF,
    ZS_GEN9_TYPE_INVALID,
};
unsigned zs_gen9_type_size_B(enum zs_gen9_type type);  /* 0 for packed and invalid ones */
const char *zs_gen9_type_name(enum zs_gen9_type type); /* "ud" */

enum zs_gen9_pred {
    ZS_GEN9_PRED_NONE,
    ZS_GEN9_PRED_SEQ,
    ZS_GEN9_PRED_ANYV,
    ZS_GEN9_PRED_ALLV,
    ZS_GEN9_PRED_ANY2H, /* then ALL2H, ANY4H ... ALL32H */
    ZS_GEN9_PRED_ALL32H = 13,
};

enum zs_gen9_cond {
    ZS_GEN9_COND_NONE,
    ZS_GEN9_COND_EQ,
    ZS_GEN9_COND_NE,
    ZS_GEN9_COND_GT,
    ZS_GEN9_COND_GE,
    ZS_GEN9_COND_LT,
    ZS_GEN9_COND_LE,
    ZS_GEN9_COND_OV = 8,
    ZS_GEN9_COND_UN = 9,
};

enum zs_gen9_math {
    ZS_GEN9_MATH_INV = 1,
    ZS_GEN9_MATH_LOG,
    ZS_GEN9_MATH_EXP,
    ZS_GEN9_MATH_SQT,
    ZS_GEN9_MATH_RSQT,
    ZS_GEN9_MATH_SIN,
    ZS_GEN9_MATH_COS,
    ZS_GEN9_MATH_FDIV = 9,
    ZS_GEN9_MATH_POW,
    ZS_GEN9_MATH_IDIV,
    ZS_GEN9_MATH_IQOT,
    ZS_GEN9_MATH_IREM,
    ZS_GEN9_MATH_INVM,
    ZS_GEN9_MATH_RSQTM,
};
const char *zs_gen9_math_name(unsigned function); /* "inv", NULL for reserved codes */

enum {
    ZS_GEN9_VSTRIDE_VXH = 0xff, /* vstride: one address register per row (indirect) */
    ZS_GEN9_MME_NONE = 8,
};

struct zs_gen9_operand {
    uint8_t file;     /* enum zs_gen9_file */
    uint8_t type;     /* enum zs_gen9_type */
    uint8_t reg;      /* number; ARF: the whole register byte (enum zs_gen9_arf + number) */
    uint8_t subreg_B; /* bytes */
    uint8_t vstride;  /* elements, or ZS_GEN9_VSTRIDE_VXH; sources only */
    uint8_t width;    /* elements; sources only */
    uint8_t hstride;  /* elements */
    bool abs, neg;    /* neg is NOT on and/or/xor/not */
    bool indirect;    /* address = a0[a0_subreg ...] + indirect_B */
    uint8_t a0_subreg;
    int16_t indirect_B;
    uint8_t mme;  /* macro operands: accumulator number, else ZS_GEN9_MME_NONE */
    uint64_t imm; /* file IMM: raw bits, zero-extended from the type's size */
};

struct zs_gen9_inst {
    uint64_t raw[2];  /* as it stands in the code; raw[1] is 0 when compacted */
    uint64_t full[2]; /* uncompacted */
    uint32_t offset_B;
    uint8_t size_B; /* 8 or 16 */
    bool compacted;
    const char *error;    /* NULL, or why this is no instruction */
    const char *mnemonic; /* "illegal" for unknown opcodes */

    uint8_t opcode;
    uint8_t format; /* enum zs_gen9_format */
    bool align16;
    bool breakpoint, acc_write, saturate, no_mask;
    bool macro; /* madm, math.invm, math.rsqtm: operands carry mme numbers */
    bool branch_control;
    uint8_t exec_size;   /* 1 .. 32 */
    uint8_t chan_offset; /* 0, 4, ... 28 */
    uint8_t pred;        /* enum zs_gen9_pred */
    bool pred_inverse;
    uint8_t flag_reg, flag_subreg; /* f0/f1, 16-bit half: shared by predicate and modifier */
    uint8_t cond;                  /* enum zs_gen9_cond; 0 where the bits mean something else */
    uint8_t function;              /* math: enum zs_gen9_math; sends: SFID */
    uint8_t src_count;
    struct zs_gen9_operand dst, src[3];

    int32_t jip_B, uip_B; /* branches: relative to this instruction; jmpi: to the next one */

    /* sends */
    bool eot;
    bool desc_is_reg, ex_desc_is_reg; /* in a0.0 and a0.ex_desc_a0 (dword index) */
    uint8_t ex_desc_a0;
    uint32_t desc, ex_desc;
    uint8_t mlen, xlen, rlen; /* 0 where they come from a register */
};

/*
 * Decode the instruction at offset_B (a multiple of 8). False when fewer bytes remain than it
 * needs, *ret is then unspecified but for `error`.
 */
bool zs_gen9_decode(struct zs_span code, uint32_t offset_B, struct zs_gen9_inst *ret);

#endif
