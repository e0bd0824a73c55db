/* SPDX-License-Identifier: MIT */
/*
 * One instruction: bytes to struct zs_isa_inst (<zescope/isa.h>) and back, and to text.
 *
 *     const struct zs_isa_model *model = zs_isa_model(ZS_ISA_GEN9);
 *     struct zs_isa_inst inst;
 *     if (zs_isa_decode(model, bytes, &inst)) {
 *         inst.exec_size = 8;
 *         error = zs_isa_encode(model, &inst, bytes, &field);
 *     }
 *
 * The decoded instruction knows nothing of where it stands: labels are relative to its start.
 * Everything that a platform has of its own is in rows: opcodes.def (numbers, forms), fields.def
 * (bits), registers.def, types.def, compaction tables. What rows cannot say, the shape of a form,
 * is a function of the encoding family: legacy (Gen8 to Gen11) or Xe.
 *
 * Nothing is lost: an instruction that was decoded and not changed encodes to the bytes it came
 * from, bits included that no field covers (`raw`). One that was changed, or made from nothing,
 * encodes to the form that Intel's assembler chooses, with those bits zero.
 *
 * Pure functions without state, for any number of threads.
 */
#ifndef ZS_ISA_INST_H
#define ZS_ISA_INST_H

#include "base/compiler.h"
#include "isa/layout.h"

#include <zescope/isa.h>

/* Shape of an instruction: which operands it has and where they stand. */
enum zs_isa_form {
    ZS_FORM_NONE,
    ZS_FORM_NULLARY,
    ZS_FORM_UNARY,
    ZS_FORM_BINARY,
    ZS_FORM_MATH, /* one or two sources: the function tells */
    ZS_FORM_TERNARY,
    ZS_FORM_BFN,
    ZS_FORM_DPAS,
    ZS_FORM_JUMP,    /* jmpi: a target behind the instruction, immediate or register */
    ZS_FORM_BRANCH,  /* JIP */
    ZS_FORM_BRANCH2, /* JIP, UIP */
    ZS_FORM_BRD,     /* JIP or register */
    ZS_FORM_BRC,     /* JIP and UIP, or register */
    ZS_FORM_CALL,    /* dst, JIP or register */
    ZS_FORM_RET,     /* register */
    ZS_FORM_WAIT,
    ZS_FORM_SYNC,
    ZS_FORM_SEND,  /* one payload */
    ZS_FORM_SENDS, /* two payloads */
    ZS_FORM_SENDG, /* ... a descriptor of 47 bits, and more in s0 */
    ZS_FORM_COUNT,
};

/* What an opcode supports: columns of opcodes.def. */
enum zs_isa_opcode_flags {
    ZS_OPC_PREDICATE = 1 << 0,
    ZS_OPC_CONDITION = 1 << 1,
    ZS_OPC_SATURATE = 1 << 2,
    ZS_OPC_SRC_MODS = 1 << 3,
    ZS_OPC_BRANCH_CTRL = 1 << 4,
};

struct zs_isa_opcode {
    uint8_t op;    /* enum zs_isa_op */
    uint8_t code;  /* bits 6:0 */
    uint8_t form;  /* enum zs_isa_form */
    uint8_t flags; /* enum zs_isa_opcode_flags */
};

static inline bool zs_isa_opcode_is_send(const struct zs_isa_opcode *opcode)
{
    return opcode->form >= ZS_FORM_SEND && opcode->form <= ZS_FORM_SENDG;
}

static inline bool zs_isa_opcode_is_branch(const struct zs_isa_opcode *opcode)
{
    return opcode->form >= ZS_FORM_JUMP && opcode->form <= ZS_FORM_RET;
}

struct zs_isa_register {
    uint8_t file;                /* enum zs_isa_file */
    uint8_t number, base, count; /* see registers.def */
    bool has_subregs;
    uint8_t scaled_from; /* enum zs_isa_platform */
};

enum zs_isa_error {
#define ZS_ISA_ERROR(name, text) ZS_ISA_BAD_##name,
#include "isa/errors.def"
#undef ZS_ISA_ERROR
    ZS_ISA_BAD_COUNT,
};
/* "reserved opcode" */
const char *zs_isa_error_text(uint32_t error);

/* Functions of `math`, from INVM on macros. */
enum zs_isa_math {
    ZS_MATH_INV = 1,
    ZS_MATH_LOG,
    ZS_MATH_EXP,
    ZS_MATH_SQT,
    ZS_MATH_RSQT,
    ZS_MATH_SIN,
    ZS_MATH_COS,
    ZS_MATH_FDIV = 9,
    ZS_MATH_POW,
    ZS_MATH_IDIV,
    ZS_MATH_IQOT,
    ZS_MATH_IREM,
    ZS_MATH_INVM,
    ZS_MATH_RSQTM,
    ZS_MATH_TANH = 9, /* from Xe3P on */
    ZS_MATH_SIGM,
};

/* Bits of what `dnscl` does; its mode stands in 5:4. */
enum zs_isa_dnscl {
    ZS_DNSCL_E2M1 = 1 << 0,
    ZS_DNSCL_INT4 = 1 << 1,
    ZS_DNSCL_BF = 1 << 2, /* from bf, not hf */
    ZS_DNSCL_RNE = 1 << 3,
    ZS_DNSCL_F = 1 << 6, /* from f */
};
enum { ZS_BD_BYTES = 3 }; /* scales of bdpas: whole bytes, "ub" */

struct zs_isa_model;

/* What a family of encodings does in its own way. */
struct zs_isa_encoding {
    /* 64 compacted bits to the whole instruction; false: an index or opcode that has none. */
    bool (*expand)(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                   uint64_t compact, uint64_t ret_bits[2]);
    /* The reverse; false: it has no compacted form. */
    bool (*compact)(const struct zs_isa_model *model, const struct zs_isa_opcode *opcode,
                    const uint64_t bits[2], uint64_t *ret);
    /* Fills `inst` (zeroed but for op, size, raw); the error that stops it, or 0. */
    enum zs_isa_error (*decode)(const struct zs_isa_model *model,
                                const struct zs_isa_opcode *opcode, const uint64_t bits[2],
                                struct zs_isa_inst *inst);
    /* Sets `bits` (zeroed but for the opcode). ZS_F_COUNT when done, else the field that cannot
     * hold what the instruction says. */
    enum zs_isa_field (*encode)(const struct zs_isa_model *model,
                                const struct zs_isa_opcode *opcode, const struct zs_isa_inst *inst,
                                uint64_t bits[2]);
};
extern const struct zs_isa_encoding zs_isa_encoding_legacy; /* Gen8 .. Gen11 */
extern const struct zs_isa_encoding zs_isa_encoding_xe;     /* Gen12LP .. XeHPG */
extern const struct zs_isa_encoding zs_isa_encoding_xe2;    /* XeHPC .. Xe3P */

struct zs_isa_model {
    enum zs_isa_platform platform;
    uint32_t grf_B;
    const struct zs_isa_encoding *encoding;
    const uint8_t *register_types, *immediate_types; /* enum zs_isa_type by their 4-bit code */
    const struct zs_isa_register *registers;         /* by file */
};

/* NULL for a platform whose tables are not there. */
const struct zs_isa_model *zs_isa_model(enum zs_isa_platform platform);
/* The row for bits 6:0 of an instruction; form NONE where there is none. */
const struct zs_isa_opcode *zs_isa_model_opcode(const struct zs_isa_model *model, uint32_t code);
/* The row of an operation; NULL when the platform does not have it. */
const struct zs_isa_opcode *zs_isa_model_find(const struct zs_isa_model *model, enum zs_isa_op op);
/* An architecture register's file and number from its 8 encoded bits; false: there is none. */
bool zs_isa_model_arf(const struct zs_isa_model *model, uint32_t code, uint8_t *ret_file,
                      uint8_t *ret_reg);
/* The reverse; false when the platform has no such register. */
bool zs_isa_model_arf_code(const struct zs_isa_model *model, uint32_t file, uint32_t reg,
                           uint32_t *ret_code);
/* Bytes of a direct operand's place in its register to a subregister, and back. */
uint8_t zs_isa_model_subreg(const struct zs_isa_model *model, uint32_t file, uint32_t type,
                            uint32_t subreg_B);
uint8_t zs_isa_model_subreg_B(const struct zs_isa_model *model, uint32_t file, uint32_t type,
                              uint32_t subreg);

/*
 * Decode the instruction at `bytes`; as many must be readable as it has, 8 when the compaction bit
 * (bit 29) is set, else 16. Label operands: imm is the distance from the instruction's start, an
 * int64_t (of calla: from the code's start). offset_B, message, jip_B, uip_B stay "none".
 * False when the bytes are no instruction: flags say ILLEGAL, `error` says why, size_B and raw are
 * set.
 */
bool zs_isa_decode(const struct zs_isa_model *model, const uint8_t *bytes,
                   struct zs_isa_inst *ret_inst);

/*
 * Encode into ret_bytes (16), compacted when the flag says so. The size, or -EINVAL with
 * *ret_field naming what cannot be encoded ("src1 vertical stride", "compaction").
 */
int zs_isa_encode(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                  uint8_t ret_bytes[16], const char **ret_field);

/*
 * The line that `iga64 -d` prints, without its newline and not NUL-terminated. Labels are named for
 * the place they point to when the instruction stands at offset_B. At most ZS_ISA_LINE_MAX bytes
 * are written; returns how many.
 */
size_t zs_isa_print(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                    uint32_t offset_B, char ret_line[ZS_ISA_LINE_MAX]);
/* message.c: what stands behind a send's `//`; nothing for 0 bytes. At most `size` are written. */
size_t zs_isa_print_message(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                            char *out, size_t size);
/* message_e64.c: the same of a sendg. */
size_t zs_e64_print(const struct zs_isa_model *model, const struct zs_isa_inst *inst, char *out,
                    size_t size);

/* A load of a block of two dimensions that has 32 registers says 31, which is all that the field
 * holds; the data port knows by the block (IGC's lscBlock2dComputeDataRegs). */
static inline bool zs_isa_may_be_one_more(uint32_t sfid, uint32_t desc, uint32_t grfs)
{
    enum { OPERATION = 63, LOAD_BLOCK2D = 3, LONGEST = 31 };
    bool is_global = sfid == ZS_SFID_UGM || sfid == ZS_SFID_UGML;
    return is_global && (desc & OPERATION) == LOAD_BLOCK2D && grfs == LONGEST;
}

#endif
