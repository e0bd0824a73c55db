/* SPDX-License-Identifier: MIT */
/*
 * zescope: the machine code of one kernel.
 *
 * A struct zs_isa_kernel is made over the bytes of one kernel's code (without the padding behind
 * it) for one instruction set. Opening it only finds where instructions start. What else is
 * needed is asked for with zs_isa_kernel_decode: text, instructions, blocks, liveness. Each is
 * computed once, by the first call that asks for it; nothing that was not asked for is computed.
 *
 *     struct zs_isa_kernel *kernel;
 *     int error = zs_isa_kernel_open(ZS_ISA_GEN9, code, NULL, &kernel, &diag);
 *     if (!error)
 *         error = zs_isa_kernel_decode(kernel, ZS_ISA_TEXT | ZS_ISA_BLOCKS, &diag);
 *     for (uint32_t i = 0; !error && i < zs_isa_kernel_count(kernel); i++) {
 *         char text[ZS_ISA_LINE_MAX];
 *         zs_isa_inst_text(kernel, i, text);
 *         printf("%6u: %s\n", zs_isa_inst_offset(kernel, i), text);
 *     }
 *     zs_isa_kernel_close(kernel);
 *
 * Instructions are named by their index in the code, offsets are bytes from its start.
 *
 * Threads: different kernels may be used by different threads. One kernel belongs to one thread
 * while zs_isa_kernel_decode runs; afterwards every accessor is a plain read.
 *
 * Text is what Intel's disassembler prints. What is decoded and where its limits are: docs/isa.md.
 */
#ifndef ZESCOPE_ISA_H
#define ZESCOPE_ISA_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- instruction sets and devices ---- */

enum zs_isa_platform {
    ZS_ISA_NONE,
    ZS_ISA_GEN8,   /* bdw */
    ZS_ISA_GEN9,   /* skl, kbl, cfl, apl, glk, ... */
    ZS_ISA_GEN11,  /* icllp, lkf, ehl, jsl */
    ZS_ISA_XE_LP,  /* Gen12LP: tgllp, rkl, adl-*, dg1 */
    ZS_ISA_XE_HP,  /* xe_hp_sdv */
    ZS_ISA_XE_HPG, /* dg2, acm-*, ats-m* */
    ZS_ISA_XE_HPC, /* pvc */
    ZS_ISA_XE2,    /* lnl, bmg */
    ZS_ISA_XE3,    /* ptl */
    ZS_ISA_XE3P,   /* nvl-p, cri */
    ZS_ISA_PLATFORM_COUNT,
};

struct zs_isa_platform_info {
    const char *name;       /* "gen9", "xe-hpg" */
    const char *iga_name;   /* what `iga64 -p=` takes: "9", "12p71" */
    uint32_t grf_B;         /* bytes of a general register */
    uint32_t grf_count;     /* registers of a thread by default */
    uint32_t grf_count_max; /* ... in large-register mode */
    bool has_swsb;          /* software scoreboard */
    bool has_lsc;           /* load/store cache messages */
};

/* NULL for a value that is no platform. */
ZS_API const struct zs_isa_platform_info *zs_isa_platform_info(enum zs_isa_platform platform);
/* A device or family as ocloc names it ("skl", "dg2", "acm-g10", "gen12lp", "12.55.8"), case
 * ignored. ZS_ISA_NONE for one that is not known. */
ZS_API enum zs_isa_platform zs_isa_platform_from_device(const char *name);
/* The core family number ("GFXCORE_FAMILY") of a patch-token header or a zebin note. */
ZS_API enum zs_isa_platform zs_isa_platform_from_gfxcore(uint32_t gfxcore);
/* The product family number (IGFX_*) of a zebin note. */
ZS_API enum zs_isa_platform zs_isa_platform_from_product(uint32_t product);
/* The name ocloc gives the product family ("skl", "dg2"), or NULL. */
ZS_API const char *zs_isa_device_from_product(uint32_t product);
/* The first device of the family, where a module says no more than that ("skl" for Gen9). */
ZS_API const char *zs_isa_device_from_gfxcore(uint32_t gfxcore);
/* The known devices in table order; NULL at and behind the end. */
ZS_API const char *zs_isa_device_name(size_t index);

/* ---- instructions ---- */

enum zs_isa_op {
    ZS_OP_INVALID,
#define ZS_ISA_OP(value, upper, mnemonic, flags) ZS_OP_##upper = (value),
#include <zescope/isa_ops.def>
#undef ZS_ISA_OP
    ZS_OP_COUNT,
};

/* What an opcode is; see zs_isa_op_flags. */
enum zs_isa_op_flags {
    ZS_OPF_BRANCH = 1 << 0, /* may change the flow of control */
    ZS_OPF_SEND = 1 << 1,
    ZS_OPF_SYNC = 1 << 2, /* nop, sync, wait: no data */
    ZS_OPF_MATH = 1 << 3,
    ZS_OPF_ACC = 1 << 4, /* reads or writes the accumulator implicitly */
    ZS_OPF_DPAS = 1 << 5,
};
ZS_API uint32_t zs_isa_op_flags(enum zs_isa_op op);
/* "mov"; "" for a value that is no opcode. Without subfunction ("math", not "math.inv"). */
ZS_API const char *zs_isa_op_mnemonic(enum zs_isa_op op);

enum zs_isa_file {
    ZS_FILE_NONE,
    ZS_FILE_NULL,
    ZS_FILE_A, /* address a0 */
    ZS_FILE_ACC,
    ZS_FILE_MME, /* math macro extension */
    ZS_FILE_F,   /* flags */
    ZS_FILE_CE,
    ZS_FILE_MSG,
    ZS_FILE_SP,
    ZS_FILE_SR,
    ZS_FILE_CR,
    ZS_FILE_N,
    ZS_FILE_IP,
    ZS_FILE_TDR,
    ZS_FILE_TM,
    ZS_FILE_FC,
    ZS_FILE_DBG,
    ZS_FILE_GRF,
    ZS_FILE_S, /* scalar register s0, from Xe3 on */
    ZS_FILE_COUNT,
};

enum zs_isa_type {
    ZS_TYPE_NONE,
    ZS_TYPE_U1,
    ZS_TYPE_U2,
    ZS_TYPE_U4,
    ZS_TYPE_S2,
    ZS_TYPE_S4,
    ZS_TYPE_UB,
    ZS_TYPE_B,
    ZS_TYPE_UW,
    ZS_TYPE_W,
    ZS_TYPE_UD,
    ZS_TYPE_D,
    ZS_TYPE_UQ,
    ZS_TYPE_Q,
    ZS_TYPE_HF,
    ZS_TYPE_QF,
    ZS_TYPE_BF,
    ZS_TYPE_HF8,
    ZS_TYPE_BF8,
    ZS_TYPE_TF32,
    ZS_TYPE_F,
    ZS_TYPE_DF,
    ZS_TYPE_NF,
    ZS_TYPE_V,
    ZS_TYPE_UV,
    ZS_TYPE_VF,
    ZS_TYPE_E2M1,
    ZS_TYPE_COUNT,
};
/* "ud"; "" for none. */
ZS_API const char *zs_isa_type_name(enum zs_isa_type type);
/* Size of one element: 32 for UD; 32 for the packed vectors V, UV, VF; 0 for none. */
ZS_API uint32_t zs_isa_type_bits(enum zs_isa_type type);
/* "r", "acc", "f", ...; "" for none. */
ZS_API const char *zs_isa_file_name(enum zs_isa_file file);

enum zs_isa_operand_kind {
    ZS_OPERAND_NONE,
    ZS_OPERAND_REG,
    ZS_OPERAND_MACRO,    /* register with a math macro accumulator (madm, invm, rsqtm) */
    ZS_OPERAND_INDIRECT, /* r[a0.subreg, offset_B] */
    ZS_OPERAND_IMM,
    ZS_OPERAND_LABEL, /* imm is the distance from this instruction, of calla from the code's start
                       */
};

enum zs_isa_modifier {
    ZS_MOD_ABS = 1,
    ZS_MOD_NEG = 2, /* bitwise NOT on logic instructions; applied after ABS */
    ZS_MOD_SAT = 4, /* destination */
};

enum { ZS_REGION_NONE = 0xff, ZS_REGION_VXH = 0xfe };
enum { ZS_MME_NONE = 8 };

struct zs_isa_operand {
    uint64_t imm; /* immediate: its bits as encoded, zero-extended; label: int64_t, bytes to it */
    uint16_t reg; /* register number; 0 when indirect */
    int16_t offset_B;  /* indirect: signed byte offset added to the address register */
    uint8_t kind;      /* enum zs_isa_operand_kind */
    uint8_t file;      /* enum zs_isa_file */
    uint8_t type;      /* enum zs_isa_type */
    uint8_t modifiers; /* enum zs_isa_modifier */
    uint8_t subreg;    /* in elements of the type; indirect: element of a0 */
    uint8_t subreg_B;  /* direct: the same in bytes, exactly as encoded */
    uint8_t vstride, width, hstride; /* in elements; ZS_REGION_NONE where not encoded */
    uint8_t mme;                     /* macro operand: mme number, ZS_MME_NONE for nomme */
    uint8_t grf_count; /* sends, dpas: whole registers that the operand spans; else 0 */
};

enum { ZS_ISA_SOURCES_MAX = 5, ZS_ISA_NO_INDEX = 0xffffffff };

enum zs_isa_inst_flags {
    ZS_INST_COMPACTED = 1 << 0,
    ZS_INST_NOMASK = 1 << 1,
    ZS_INST_PRED_INVERSE = 1 << 2,
    ZS_INST_ACCWREN = 1 << 3,
    ZS_INST_EOT = 1 << 4, /* ends the thread */
    ZS_INST_BREAKPOINT = 1 << 5,
    ZS_INST_BRANCH_CTRL = 1 << 6, /* .b of if, else, goto */
    ZS_INST_ATOMIC = 1 << 7,      /* scheduling option, not a memory atomic */
    ZS_INST_SWITCH = 1 << 8,
    ZS_INST_ILLEGAL = 1 << 9, /* bytes that are no instruction; `error` says why */
    ZS_INST_HAS_DST = 1 << 10,
    ZS_INST_NODDCLR = 1 << 11, /* NODD*: dependency checks left out, up to Gen11 */
    ZS_INST_NODDCHK = 1 << 12,
    ZS_INST_NOPREEMPT = 1 << 13,
    ZS_INST_NOSRCDEPSET = 1 << 14,
    ZS_INST_SERIALIZE = 1 << 15,  /* fusion control of sends, Gen12LP to XeHPG */
    ZS_INST_EXBSO = 1 << 16,      /* the extended descriptor is a surface state offset */
    ZS_INST_CPS = 1 << 17,        /* coarse pixel shading */
    ZS_INST_DESC_REG = 1 << 18,   /* send: the descriptor is in a0.`desc_subreg` */
    ZS_INST_EXDESC_REG = 1 << 19, /* send: the extended one is in a0.`exdesc_subreg` */
    ZS_INST_ALIGN16 = 1 << 20,    /* encoded in the Align16 access mode, up to Gen9 */
    ZS_INST_FWD = 1 << 21,        /* dpas that hands its result on, from Xe3P on */
    ZS_INST_INDIRECT0 = 1 << 22,  /* sendg: s0 has more from quadword `desc_subreg` on */
    ZS_INST_INDIRECT1 = 1 << 23,  /* ... and from quadword `exdesc_subreg` on */
};

/* Software scoreboard, from Gen12LP on: what the instruction waits for, and what it marks. */
enum zs_isa_swsb_pipe {
    ZS_SWSB_NONE,
    ZS_SWSB_DIST,  /* "@1": the platform's only in-order pipe, or the instruction's own */
    ZS_SWSB_ALL,   /* "A@1" */
    ZS_SWSB_FLOAT, /* "F@1" */
    ZS_SWSB_INT,
    ZS_SWSB_LONG,
    ZS_SWSB_MATH,
    ZS_SWSB_SCALAR,
};
enum zs_isa_swsb_token {
    ZS_SWSB_TOKEN_NONE,
    ZS_SWSB_SET,        /* "$3" */
    ZS_SWSB_DST,        /* "$3.dst": wait until the result is written */
    ZS_SWSB_SRC,        /* "$3.src": wait until the sources are read */
    ZS_SWSB_INC,        /* "$3.inc" */
    ZS_SWSB_NOACCSBSET, /* no token: dpas forwards its accumulator */
};
struct zs_isa_swsb {
    uint8_t pipe;     /* enum zs_isa_swsb_pipe */
    uint8_t distance; /* 1..7; 0 without a pipe */
    uint8_t token;    /* enum zs_isa_swsb_token */
    uint8_t sbid;
};

enum zs_isa_pred {
    ZS_PRED_NONE,
    ZS_PRED_SEQ,
    ZS_PRED_ANYV,
    ZS_PRED_ALLV,
    ZS_PRED_ANY2H,
    ZS_PRED_ALL2H,
    ZS_PRED_ANY4H,
    ZS_PRED_ALL4H,
    ZS_PRED_ANY8H,
    ZS_PRED_ALL8H,
    ZS_PRED_ANY16H,
    ZS_PRED_ALL16H,
    ZS_PRED_ANY32H,
    ZS_PRED_ALL32H,
    ZS_PRED_ANY,
    ZS_PRED_ALL,
};

enum zs_isa_cond {
    ZS_COND_NONE,
    ZS_COND_EQ,
    ZS_COND_NE,
    ZS_COND_GT,
    ZS_COND_GE,
    ZS_COND_LT,
    ZS_COND_LE,
    ZS_COND_OV = 8,
    ZS_COND_UN = 9,
    ZS_COND_EO = 0xff,
};

struct zs_isa_inst {
    uint32_t offset_B;
    uint32_t message;              /* index for zs_isa_message, or ZS_ISA_NO_INDEX */
    uint32_t jip_B, uip_B;         /* absolute branch targets, or ZS_ISA_NO_INDEX */
    uint32_t flags;                /* enum zs_isa_inst_flags */
    uint8_t size_B;                /* 8 or 16 */
    uint8_t op;                    /* enum zs_isa_op */
    uint8_t exec_size;             /* 1..32 */
    uint8_t channel_offset;        /* first lane: 0, 4, ... 28 */
    uint8_t pred;                  /* enum zs_isa_pred */
    uint8_t cond;                  /* enum zs_isa_cond */
    uint8_t flag_reg, flag_subreg; /* of predicate and condition: f<reg>.<subreg> */
    uint8_t subfunction; /* math, sync, bfn function as encoded, dpas (depth << 4 | repeat) */
    uint8_t source_count;
    uint8_t error; /* enum zs_isa_error; 0 unless ILLEGAL */
    /* sends; descriptors are 0 where they come from a register; that of sendg has 47 bits, those
     * above bit 31 in exdesc */
    uint8_t sfid;                       /* enum zs_isa_sfid */
    uint8_t desc_subreg, exdesc_subreg; /* dwords of a0 */
    uint32_t desc, exdesc;
    uint32_t exdesc_offset; /* from Xe2 on: what is added to a register's extended descriptor */
    struct zs_isa_swsb swsb;
    struct zs_isa_operand dst;
    struct zs_isa_operand src[ZS_ISA_SOURCES_MAX];
    uint64_t raw[2]; /* the bytes it was decoded from, little-endian; raw[1] is 0 when compacted */
};

/* ---- messages ---- */

enum zs_isa_sfid {
    ZS_SFID_NULL,
    ZS_SFID_UGML,
    ZS_SFID_SMPL,
    ZS_SFID_GTWY,
    ZS_SFID_DC2,
    ZS_SFID_RC,
    ZS_SFID_URB,
    ZS_SFID_TS,
    ZS_SFID_VME,
    ZS_SFID_DCRO,
    ZS_SFID_DC0,
    ZS_SFID_PIXI,
    ZS_SFID_DC1,
    ZS_SFID_CRE,
    ZS_SFID_SLM,
    ZS_SFID_UGM,
    ZS_SFID_BTD,
    ZS_SFID_RTA,
    ZS_SFID_TGM,
    ZS_SFID_COUNT,
    ZS_SFID_REGISTER = 0xff, /* taken from a register */
};
/* "dc1", "ugm"; "" for a value that is none. */
ZS_API const char *zs_isa_sfid_name(enum zs_isa_sfid sfid);

enum zs_isa_message_kind {
    ZS_MSG_UNKNOWN, /* not in our tables, or the descriptor comes from a register */
    ZS_MSG_LOAD,
    ZS_MSG_STORE,
    ZS_MSG_ATOMIC,
    ZS_MSG_SAMPLE, /* sampler: sample, gather, load */
    ZS_MSG_QUERY,  /* resource information; no surface data */
    ZS_MSG_FENCE,
    ZS_MSG_BARRIER,
    ZS_MSG_EOT,   /* thread end without other work */
    ZS_MSG_OTHER, /* known by name, moves no surface data */
    ZS_MSG_KIND_COUNT,
};
ZS_API const char *zs_isa_message_kind_name(enum zs_isa_message_kind kind);

enum zs_isa_surface {
    ZS_SURFACE_NONE,
    ZS_SURFACE_BTI,       /* binding table index `surface_index` */
    ZS_SURFACE_STATELESS, /* virtual address: 64-bit, or 32-bit from the general state base */
    ZS_SURFACE_SLM,
    ZS_SURFACE_SCRATCH,
    ZS_SURFACE_BINDLESS, /* surface state named by a register */
    ZS_SURFACE_STATE,    /* surface state offset from a register (LSC "ss") */
    ZS_SURFACE_REGISTER, /* the binding table index comes from a register */
};

enum zs_isa_message_flags {
    ZS_MSGF_DESC_REG = 1 << 0,   /* desc comes from a0; `desc` is 0, lengths from it unknown */
    ZS_MSGF_EXDESC_REG = 1 << 1, /* exdesc comes from a0 */
    ZS_MSGF_EOT = 1 << 2,
    ZS_MSGF_BLOCK = 1 << 3, /* one contiguous block, whatever lanes are active */
    ZS_MSGF_TYPED = 1 << 4, /* image coordinates */
    ZS_MSGF_HEADER = 1 << 5,
    ZS_MSGF_RETURNS = 1 << 6, /* atomic that returns a value */
    ZS_MSGF_TRANSPOSE = 1 << 7,
    ZS_MSGF_SLM_FENCE = 1 << 8,
    ZS_MSGF_BYTES_KNOWN = 1 << 9, /* read_B and written_B are exact for full execution */
};

enum { ZS_LENGTH_UNKNOWN = 0xff };

/* What a load/store cache message asks of a cache. */
enum zs_isa_cache {
    ZS_CACHE_DEFAULT, /* as the surface's state says */
    ZS_CACHE_UNCACHED,
    ZS_CACHE_CACHED,
    ZS_CACHE_WRITE_BACK,
    ZS_CACHE_WRITE_THROUGH,
    ZS_CACHE_STREAMING,
    ZS_CACHE_READ_INVALIDATE,
    ZS_CACHE_CONSTANT,
    ZS_CACHE_COUNT,
};

struct zs_isa_message {
    uint32_t desc, exdesc;      /* as encoded; 0 where from a register */
    uint32_t read_B, written_B; /* of memory or surface, all lanes active; an atomic does both */
    const char *name;           /* "untyped read", "a64 block write"; static */
    const char *detail;         /* atomic operation ("add"), sampler operation; "" else; static */
    uint16_t flags;             /* enum zs_isa_message_flags */
    uint16_t surface_index;     /* ZS_SURFACE_BTI */
    uint8_t sfid;               /* enum zs_isa_sfid */
    uint8_t kind;               /* enum zs_isa_message_kind */
    uint8_t surface;            /* enum zs_isa_surface */
    uint8_t address_bits;       /* 0 where the message has no address: 16, 32, 64 */
    uint8_t element_B;          /* of one component in memory */
    uint8_t components;         /* per lane; of a block: elements in all, capped at 255 */
    uint8_t component_mask;     /* channels x y z w = bits 0..3; 0 where it does not apply */
    uint8_t lanes;              /* that the message works on when all are active; 1 for a block */
    uint8_t mlen, xlen, rlen;   /* registers, or ZS_LENGTH_UNKNOWN */
    uint8_t sampler_index;
    uint8_t cache_l1, cache_l3; /* enum zs_isa_cache */
    int32_t offset_B;           /* from Xe2 on: added to every address */
    int16_t offset_x, offset_y; /* 2D blocks, from Xe2 on: added to the coordinates, in elements */
};

/* ---- blocks ---- */

enum zs_isa_edge_kind {
    ZS_EDGE_NEXT, /* falls through */
    ZS_EDGE_JIP,
    ZS_EDGE_UIP,
    ZS_EDGE_CALL,
    ZS_EDGE_RETURN, /* from ret to behind each call */
};

/* Lanes that take different ways all pass through the code in order, so the thread as a whole
 * also jumps ahead where none of its lanes has something to do: those edges no lane takes. */
struct zs_isa_edge {
    uint32_t from, to; /* block indices */
    uint8_t kind;      /* enum zs_isa_edge_kind */
    bool lane;         /* a lane may take it; else only the thread, with no lane active */
};

enum zs_isa_block_flags {
    ZS_BLOCK_REACHABLE = 1 << 0, /* from the entry */
    ZS_BLOCK_LOOP_HEADER = 1 << 1,
    ZS_BLOCK_ENDS_THREAD = 1 << 2,
    ZS_BLOCK_LABELLED = 1 << 3, /* some branch names it */
};

struct zs_isa_block {
    uint32_t first, count; /* instructions; count >= 1 */
    uint32_t offset_B, size_B;
    uint32_t edge_first, edge_count; /* outgoing, in zs_isa_edges */
    uint32_t pred_count;             /* incoming edges */
    uint32_t loop;                   /* innermost loop, or ZS_ISA_NO_INDEX */
    uint32_t loop_depth;             /* 0 outside loops */
    uint32_t flags;                  /* enum zs_isa_block_flags */
};

/* A loop: the blocks that reach a back edge to `header` without passing it, along edges that lanes
 * take. Its blocks need not be contiguous. Outer loops come before inner ones. */
struct zs_isa_loop {
    uint32_t header; /* block */
    uint32_t parent; /* loop, or ZS_ISA_NO_INDEX */
    uint32_t depth;  /* 1 for an outermost loop */
    uint32_t block_count;
    uint32_t inst_count; /* including inner loops */
};

/* ---- a kernel ---- */

struct zs_isa_kernel;

struct zs_isa_options {
    size_t size_B;      /* sizeof(struct zs_isa_options) */
    uint32_t grf_count; /* registers of a thread; 0: the platform's default */
    uint32_t
        entry_B; /* the instruction where threads may start, too: a block of its own; 0: none */
};

enum zs_isa_what {
    ZS_ISA_TEXT = 1 << 0,     /* zs_isa_inst_has_label */
    ZS_ISA_INSTS = 1 << 1,    /* zs_isa_inst, zs_isa_message */
    ZS_ISA_BLOCKS = 1 << 2,   /* zs_isa_block ... zs_isa_loop */
    ZS_ISA_LIVENESS = 1 << 3, /* zs_isa_live_grf; implies INSTS and BLOCKS */
};

/*
 * `code` is borrowed until the kernel is closed. Its size must end an instruction; options may be
 * NULL. 0, -EINVAL (not a platform, or the code ends inside an instruction), -E2BIG (over 256
 * MiB), -ENOMEM. Bytes that are no instruction are not an error: they decode as illegal.
 */
ZS_API int zs_isa_kernel_open(enum zs_isa_platform platform, struct zs_span code,
                              const struct zs_isa_options *options,
                              struct zs_isa_kernel **ret_kernel, struct zs_diag *diag);
ZS_API void zs_isa_kernel_close(struct zs_isa_kernel *kernel);

/* Compute what of enum zs_isa_what is not there yet. 0; -ENOMEM; -E2BIG when
 * liveness would need too much memory, which only code made of branches does. What was there before
 * stays. */
ZS_API int zs_isa_kernel_decode(struct zs_isa_kernel *kernel, uint32_t what, struct zs_diag *diag);

ZS_API enum zs_isa_platform zs_isa_kernel_platform(const struct zs_isa_kernel *kernel);
ZS_API uint32_t zs_isa_kernel_size_B(const struct zs_isa_kernel *kernel);
ZS_API uint32_t zs_isa_kernel_count(const struct zs_isa_kernel *kernel); /* instructions */
/* How many instructions are illegal; known after TEXT or INSTS. */
ZS_API uint32_t zs_isa_kernel_illegal_count(const struct zs_isa_kernel *kernel);

/* Where instruction i starts; i == count gives the end of the code. */
ZS_API uint32_t zs_isa_inst_offset(const struct zs_isa_kernel *kernel, uint32_t i);
ZS_API uint32_t zs_isa_inst_size(const struct zs_isa_kernel *kernel, uint32_t i);
/* The instruction that holds this byte; ZS_ISA_NO_INDEX outside the code. */
ZS_API uint32_t zs_isa_inst_find(const struct zs_isa_kernel *kernel, uint32_t offset_B);

/*
 * The instruction as `iga64 -d` prints it (symbolic labels "L136", message comments): _line is the
 * exact line without its newline, not NUL-terminated; _text is that line without leading and
 * trailing spaces and with a NUL. Both return the number of bytes without NUL. Made anew at each
 * call; nothing has to be decoded before.
 */
enum { ZS_ISA_LINE_MAX = 512 };
ZS_API size_t zs_isa_inst_text(const struct zs_isa_kernel *kernel, uint32_t i,
                               char ret_text[ZS_ISA_LINE_MAX]);
ZS_API size_t zs_isa_inst_line(const struct zs_isa_kernel *kernel, uint32_t i,
                               char ret_line[ZS_ISA_LINE_MAX]);
/* TEXT: whether `iga64 -d` prints a label line ("L136:") before instruction i; i == count: behind
 * the last one. The label's name is "L" and the offset in decimal. */
ZS_API bool zs_isa_inst_has_label(const struct zs_isa_kernel *kernel, uint32_t i);

/* INSTS */
ZS_API const struct zs_isa_inst *zs_isa_inst(const struct zs_isa_kernel *kernel, uint32_t i);
ZS_API uint32_t zs_isa_message_count(const struct zs_isa_kernel *kernel);
ZS_API const struct zs_isa_message *zs_isa_message(const struct zs_isa_kernel *kernel,
                                                   uint32_t message);
/* The message of instruction i, or NULL when it is no send. */
ZS_API const struct zs_isa_message *zs_isa_inst_message(const struct zs_isa_kernel *kernel,
                                                        uint32_t i);

/* BLOCKS: in code order; every instruction is in exactly one block. */
ZS_API uint32_t zs_isa_block_count(const struct zs_isa_kernel *kernel);
ZS_API const struct zs_isa_block *zs_isa_block(const struct zs_isa_kernel *kernel, uint32_t b);
ZS_API uint32_t zs_isa_edge_count(const struct zs_isa_kernel *kernel);
ZS_API const struct zs_isa_edge *zs_isa_edge(const struct zs_isa_kernel *kernel, uint32_t e);
ZS_API uint32_t zs_isa_loop_count(const struct zs_isa_kernel *kernel);
ZS_API const struct zs_isa_loop *zs_isa_loop(const struct zs_isa_kernel *kernel, uint32_t l);
/* The block that holds instruction i. */
ZS_API uint32_t zs_isa_inst_block(const struct zs_isa_kernel *kernel, uint32_t i);

/* LIVENESS: general registers whose value is still needed when instruction i starts. */
ZS_API uint32_t zs_isa_live_grf(const struct zs_isa_kernel *kernel, uint32_t i);
/* False when some operand is addressed indirectly: what it reads and writes is not counted. */
ZS_API bool zs_isa_live_exact(const struct zs_isa_kernel *kernel);
/* The largest of them, and (where not NULL) the first instruction that has it. */
ZS_API uint32_t zs_isa_live_peak(const struct zs_isa_kernel *kernel, uint32_t *ret_inst);
enum { ZS_ISA_GRF_WORDS = 8 }; /* of 64 bits: one for each of up to 512 general registers */
/* Which registers: bit r of bits[r / 64]. Computed anew from the end of the block. */
ZS_API void zs_isa_live_set(const struct zs_isa_kernel *kernel, uint32_t i,
                            uint64_t ret_bits[ZS_ISA_GRF_WORDS]);

/* ... and of the other registers what is still needed: a bit for each lane's flag in f0..f3, each
 * word of a0, each accumulator. */
struct zs_isa_live_arf {
    uint32_t flags[4];
    uint16_t address, acc;
};
ZS_API void zs_isa_live_arf(const struct zs_isa_kernel *kernel, uint32_t i,
                            struct zs_isa_live_arf *ret);

/* ---- what an instruction does ---- */

/* INSTS. Registers as above; a write may leave parts of a register as they were. */
struct zs_isa_effects {
    uint64_t grf_read[ZS_ISA_GRF_WORDS], grf_written[ZS_ISA_GRF_WORDS];
    uint32_t flags_read[4], flags_written[4];
    uint16_t address_read, address_written;
    uint16_t acc_read, acc_written;
    bool conditional;                     /* has a predicate: it may write nothing */
    bool indirect_read, indirect_written; /* general registers that a0 names, whichever */
    bool reads_memory, writes_memory;
    bool orders_memory; /* a fence or barrier */
};
ZS_API void zs_isa_inst_effects(const struct zs_isa_kernel *kernel, uint32_t i,
                                struct zs_isa_effects *ret);

enum zs_isa_dependency_kinds {
    ZS_DEP_READ_AFTER_WRITE = 1 << 0,
    ZS_DEP_WRITE_AFTER_READ = 1 << 1,
    ZS_DEP_WRITE_AFTER_WRITE = 1 << 2,
    ZS_DEP_MEMORY = 1 << 3, /* both touch memory and one writes, or one is a fence or barrier */
};
struct zs_isa_dependency {
    uint32_t inst;
    uint32_t kinds; /* enum zs_isa_dependency_kinds */
};
/* INSTS and BLOCKS: instructions before i in its block that must not come after it, the nearest
 * first, at most `max`; returns how many. Takes time in proportion to the block. */
ZS_API uint32_t zs_isa_inst_dependencies(const struct zs_isa_kernel *kernel, uint32_t i,
                                         struct zs_isa_dependency *ret, uint32_t max);

/* ---- single instructions ---- */

/*
 * Decode the instruction at the start of `bytes`: jip_B and uip_B stay ZS_ISA_NO_INDEX, labels are
 * distances. Its size; -EINVAL (no platform), -ENODATA (fewer bytes than it has). Bytes that are no
 * instruction give ZS_INST_ILLEGAL and the reason in `error` (zs_isa_error_name).
 */
ZS_API int zs_isa_decode_one(enum zs_isa_platform platform, struct zs_span bytes,
                             struct zs_isa_inst *ret);
ZS_API const char *zs_isa_error_name(uint32_t error);
/* Its line, as zs_isa_inst_line, where it stands at offset_B. */
ZS_API size_t zs_isa_print_one(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                               uint32_t offset_B, char ret_line[ZS_ISA_LINE_MAX]);
/*
 * Encode, compacted with ZS_INST_COMPACTED. An instruction that was decoded and not changed gives
 * the bytes it came from. Its size, or -EINVAL with the name of the field that cannot hold what it
 * says ("src1 vertical stride", "compaction") in *ret_field, which may be NULL.
 */
ZS_API int zs_isa_encode_one(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                             uint8_t ret_bytes[16], const char **ret_field);

/* ---- assembling ---- */

/* Where and why a text was refused: line and column count from 1. */
struct zs_isa_asm_error {
    size_t size_B; /* sizeof(struct zs_isa_asm_error), set by the caller */
    uint32_t line, column;
    char text[200];
};

/*
 * Text in IGA's syntax (what zs_isa_inst_line gives, with labels and comments) to machine code.
 * *ret_code is freed with zs_isa_code_free; NULL when the text has no instruction. 0; -EINVAL with
 * *ret_error (may be NULL); -ENOTSUP: no such instruction set; -ENOMEM.
 */
ZS_API int zs_isa_assemble(enum zs_isa_platform platform, struct zs_span text, uint8_t **ret_code,
                           size_t *ret_size_B, struct zs_isa_asm_error *ret_error);
ZS_API void zs_isa_code_free(uint8_t *code);

#ifdef __cplusplus
}
#endif

#endif
