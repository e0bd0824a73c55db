/* SPDX-License-Identifier: MIT */
/*
 * Inside of the interpreter: operations, programs, the table of handlers.
 *
 * An instruction becomes one or more operations on memory inside struct zs_eu_thread: registers,
 * temporaries and constants are all bytes at an offset from the thread, so every operand is an
 * offset. docs/eu.md has the whole picture.
 */
#ifndef ZS_EU_EU_PRIV_H
#define ZS_EU_EU_PRIV_H

#include "eu/eu.h"
#include "isa/inst.h"

#define ZS_EU_OFFSET(field) ((uint32_t)offsetof(struct zs_eu_thread, field))
#define ZS_EU_AT(t, offset) ((uint8_t *)(t) + (offset))

/* Handlers return the next operation, or NULL after they have set t->status. */
typedef const struct zs_eu_op *zs_eu_op_fn(struct zs_eu_thread *t, const struct zs_eu_op *op);

/*
 * The lowering says what an operation is (kind, cls, operands, mask); its handler follows from
 * that and is chosen in one last pass (lower_select.c).
 */
/* The place of a lane, t->key[]: the call depth's part and, below it, the number of a block. */
enum { ZS_EU_BLOCK_BITS = 20 };
#define ZS_EU_BLOCK_MASK ((1u << ZS_EU_BLOCK_BITS) - 1)

enum { ZS_EU_OP_ALIGN = 64 }; /* a line of the host's cache */

struct zs_eu_op {
    _Alignas(ZS_EU_OP_ALIGN) zs_eu_op_fn *fn;
    union {
        struct {
            uint32_t dst, src[3]; /* byte offsets from the thread */
        };
        struct {
            const struct zs_eu_op *jump; /* branches: where taken lanes go */
            uint32_t block;              /* index of that block; in a block start: its own */
            uint32_t next_block; /* the block behind the branch; in a block start: its counters */
        };
        const struct zs_eu_program_send *send;
    };
    /* active = enables >> chan_offset & (predicate >> pred_shift ^ pred_xor) & lanes */
    uint32_t lanes;     /* channels of the instruction */
    uint32_t full;      /* `active` with which whole chunks may be stored without a blend */
    uint32_t pred_xor;  /* all ones: inverse predicate */
    uint16_t enables;   /* byte offset of ce, or of all_ones for NoMask */
    uint16_t predicate; /* byte offset of a flag register, of predicate, or of all_ones */
    uint8_t chan_offset, pred_shift;
    uint8_t chunks; /* of eight lanes */
    uint8_t count;  /* channels */
    uint16_t flag;  /* byte offset of the flag register to write */
    uint8_t flag_shift;
    uint8_t arg;
    uint32_t aux; /* depends on kind: index of a table, instructions of a block ... */
    uint32_t inst;
    uint16_t kind; /* enum zs_eu_kind */
    uint8_t cls;
};

/* arg of a branch: lanes whose predicate is false go; where those of the instruction all go, the
 * others do, too; where any stays, all do. */
enum { ZS_EU_BRANCH_WHEN_FALSE = 1, ZS_EU_BRANCH_TOGETHER = 2, ZS_EU_BRANCH_ALL_OR_NONE = 4 };

/* How a row's operands are read. N1: one channel, and no other bytes are touched. */
enum {
    ZS_EU_CLASS_SCALAR0 = 1, /* source i is one element for all channels: 1 << i */
    ZS_EU_CLASS_N1 = 15,
};

/* cls of a message: hooks are told of it, as flags say, or where it may bring what is undefined. */
enum { ZS_EU_HOOKED = 1, ZS_EU_HOOKED_DEFINED = 2 };

enum zs_eu_row {
#define ZS_EU_UN(id, td, ta, mode, expr)          ZS_EU_ROW_##id,
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)     ZS_EU_ROW_##id,
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr) ZS_EU_ROW_##id,
#define ZS_EU_CMP(id, ta, mode, expr)             ZS_EU_ROW_##id,
#define ZS_EU_SEL(id, ta)                         ZS_EU_ROW_##id,
#include "eu/exec/sem.def"
    ZS_EU_ROW_COUNT,
    ZS_EU_ROW_NONE = ZS_EU_ROW_COUNT,
};

enum zs_eu_kind {
    /* below ZS_EU_ROW_COUNT: that row of sem.def */
    ZS_EU_KIND_GATHER = ZS_EU_ROW_COUNT, /* stride src[1] to packed; cls: log2 of the size */
    ZS_EU_KIND_SCATTER,                  /* packed to stride src[1] */
    ZS_EU_KIND_DPAS,                     /* cls: enum zs_eu_dpas_form, aux: struct zs_eu_dpas */
#define ZS_EU_KIND(id, handler) ZS_EU_KIND_##id,
#include "eu/exec/kind.def"
    ZS_EU_KIND_COUNT
};

/* One per build of exec.c. */
struct zs_eu_handlers {
    zs_eu_op_fn *row[ZS_EU_ROW_COUNT];
    zs_eu_op_fn *gather[4]; /* by log2 of the element size; stride src[1], to packed */
    zs_eu_op_fn *scatter[4];
};
extern const struct zs_eu_handlers zs_eu_handlers_base;
extern const struct zs_eu_handlers zs_eu_handlers_avx2;

/* ---- systolic multiplications (dpas.c) ---- */

enum {
    ZS_EU_DPAS_DEPTH = 8,
    ZS_EU_DPAS_ROWS = 8,
    ZS_EU_DPAS_LANES = 16,
    ZS_EU_DPAS_BLOCK = 32,   /* elements that have one scale */
    ZS_EU_DPAS_SCALES_B = 32 /* from the scales of one block to those of the next */
};

enum zs_eu_dpas_form {
    ZS_EU_DPAS_REAL,
    ZS_EU_DPAS_SCALED,    /* bdpas */
    ZS_EU_DPAS_WHOLE,     /* integers, modulo 2^32 */
    ZS_EU_DPAS_SATURATED, /* integers; each step of the depth saturates */
    ZS_EU_DPAS_FORM_COUNT
};

struct zs_eu_dpas {
    uint8_t rows, lanes; /* repeat count, execution size */
    uint8_t ops;         /* elements that a channel multiplies in a step */
    uint8_t bits[2];     /* of an element of src1, src2 */
    bool is_signed[2];
    uint8_t type[2]; /* of the elements of src1, src2, if they are floats */
    uint8_t dst_type, src0_type;
    bool has_src0;
    bool scaled;        /* bdpas: a byte for each block of a column of src1, a row of src2 */
    uint32_t scales[2]; /* byte offsets of these; 0: they are one */
    bool direct;        /* no source would be harmed by rows of the result that are stored early */
};

/* One per build of dpas.c. */
struct zs_eu_dpas_handlers {
    zs_eu_op_fn *form[ZS_EU_DPAS_FORM_COUNT];
};
extern const struct zs_eu_dpas_handlers zs_eu_dpas_base;
extern const struct zs_eu_dpas_handlers zs_eu_dpas_avx2;
extern const struct zs_eu_dpas_handlers zs_eu_dpas_avx512;

/* Any region: one byte offset per channel, from the operand's base. */
struct zs_eu_region {
    uint16_t offset_B[ZS_EU_LANES_MAX];
    int16_t indirect_B;               /* added to the address register */
    uint8_t a0;                       /* first address register, and ... */
    uint8_t a0_step[ZS_EU_LANES_MAX]; /* ... which of them channel c uses */
};

struct zs_eu_inst {
    uint64_t raw[2];
    uint32_t offset_B;
    uint32_t block;
    const char *mnemonic;
    uint8_t size_B;
    bool is_send, modelled, no_mask;
    bool is_target; /* a label leads here */
    uint8_t exec_size, chan_offset;
    uint32_t counter; /* own counter of active lanes, or UINT32_MAX: from the block's */
    uint32_t send;    /* index, when is_send */
    uint32_t fault;   /* index, when it is not modelled */
    uint32_t seed;    /* index + 1 of the instruction that has its macro's result, or 0 */
};

/* What the scoreboard's check knows of an instruction. */
struct zs_eu_score {
    uint64_t mask; /* of all bytes that follow: zs_eu_bytes_mask() */
    uint32_t inst;
    struct zs_eu_bytes dst, src[3];
    uint32_t wait_dst, wait_src; /* tokens */
    uint8_t pipe;                /* enum zs_eu_pipe */
    uint8_t wait_pipes, distance;
    uint8_t function; /* shared function, or another unit that reads sources in order */
    uint8_t sbid;
    uint8_t by_lanes; /* bit i: each lane reads an element of its own of source i */
    bool sets, lengths_in_a0, starts_block;
    bool maybe_longer; /* dst has a register more than the instruction says, or not */
};

struct zs_eu_program_fault {
    enum zs_eu_fault_kind kind;
    char text[160];
};

/* A send as it stands in the program; exec is NULL when its descriptor comes from a0. */
struct zs_eu_program_send {
    struct zs_eu_send send;
    bool desc_is_reg, ex_desc_is_reg;
    bool sfid_in_ex_desc;        /* where that is in a register */
    uint8_t desc_a0, ex_desc_a0; /* dwords of a0; of sendg the second is a qword of s0 */
    bool sampler_is_reg;
    uint8_t sampler_s0;
};

/*
 * Counters: word 0 is the number of instructions executed since settling; then two
 * packed words for each block, which its start adds to; then, for each block, executions and lanes
 * 0-7, 8-15, 16-23, 24-31 of them; then the counters of single instructions. Word 0 of a pair has
 * executions in bits 0-17, lanes 0-7 in bits 18-38, lanes 8-15 in bits 39-59; word 1 has lanes
 * 16-23 and 24-31 in its halves. zs_eu_run() settles before a field can overflow.
 */
enum {
    ZS_EU_PACKED_COUNTERS = 2,
    ZS_EU_SUM_COUNTERS = 5,
    ZS_EU_BLOCK_COUNTERS = ZS_EU_PACKED_COUNTERS + ZS_EU_SUM_COUNTERS,
    ZS_EU_PACKED_LOW = 18, /* first bit of lanes 0-7 */
    ZS_EU_PACKED_HIGH = 39,
    ZS_EU_SETTLE_AFTER = 1 << 17, /* instructions */
    ZS_EU_SETTLE_RUN = 1 << 16,   /* at most so many in one go */
};
_Static_assert(ZS_EU_SETTLE_AFTER + ZS_EU_SETTLE_RUN < (1 << ZS_EU_PACKED_LOW) - 16 &&
                   ZS_EU_PACKED_HIGH - ZS_EU_PACKED_LOW == ZS_EU_PACKED_LOW + 3,
               "no field overflows between two settlements");

enum { ZS_EU_ACC_RUN = 64 }; /* accumulator elements that are cleared together */
_Static_assert(ZS_EU_ACC_SLOTS_MAX % ZS_EU_ACC_RUN == 0 && ZS_EU_ACC_SLOTS_MAX / ZS_EU_ACC_RUN < 32,
               "a bit for each");

/*
 * Of a program that is to be compiled every block exists in two versions: one for `full_ce`, with
 * all lanes of the program on, and one for any other mask. Lanes change at block starts and
 * branches only, where block_start() in control.c chooses. Operations of the first version are
 * op_count behind those of the other.
 */
struct zs_eu_program {
    struct zs_eu_op *ops;
    size_t op_count, op_capacity;
    uint32_t full_ce; /* 0: there is one version */
    struct zs_eu_registers regs;
    /* what a new thread must find zero: with any lanes, with all */
    struct zs_eu_clear {
        uint16_t start_B, end_B; /* of the register file, multiples of the register size */
    } * clear[2];
    uint32_t clear_count[2];
    uint32_t host_csr[2];    /* t->host_csr and host_csr_double of one */
    uint32_t read_acc_slots; /* accumulators that it may read: a bit for each ZS_EU_ACC_RUN */
    struct zs_eu_inst *insts;
    struct zs_eu_score *scores; /* NULL: not checked */
    uint32_t inst_count;
    uint32_t *inst_at; /* per 8 bytes of code: index of the instruction, or UINT32_MAX */
    uint32_t code_B;
    struct zs_eu_segment *segments; /* at least one */
    uint32_t segment_count;
    bool computes_jumps;
    uint32_t *block_op; /* per block: index of its first operation, under any mask */
    uint32_t *block_inst;
    uint32_t block_count;
    uint32_t entry_block;
    uint32_t kernel_B; /* of params */
    uint32_t simd_mask;
    uint32_t lane_counters; /* own counters of instructions */
    struct {
        struct zs_eu_program_fault *items;
        size_t count, capacity;
    } faults;
    struct {
        struct zs_eu_program_send *items;
        size_t count, capacity;
    } sends;
    struct {
        struct zs_eu_region *items;
        size_t count, capacity;
    } regions;
    struct {
        struct zs_eu_dpas *items;
        size_t count, capacity;
    } dpas;
    uint8_t constant[ZS_EU_CONST_B];
    uint32_t constant_B;
    struct {
        uint8_t *items; /* what has no room there: copied to a temporary when it is used */
        size_t count, capacity;
    } more_constants;
    uint8_t *ways; /* of sends: ZS_PORT_WAY_..., of a few of their messages */
    zs_eu_send_lower_fn *send_lower;
    bool has_handles;        /* messages name surfaces by handles of somebody else */
    struct zs_eu_tier *tier; /* compiled code (tier.c); NULL: none */
    /* of operations that have shadows; NULL: they have none. Twice as many operations stand in ops
     * then: shadow_parts.c */
    struct zs_eu_shadow_plan *shadows;
};

void zs_eu_tier_destroy(struct zs_eu_tier *tier); /* NULL is fine */

/* lower.c: block that starts at a byte offset of the code, or UINT32_MAX. */
uint32_t zs_eu_block_at(const struct zs_eu_program *program, int64_t offset_B);
/* The offset of an address of the ip register's space, -1: it is of no segment. */
int64_t zs_eu_program_offset(const struct zs_eu_program *program, uint32_t ip_B);

static inline uint32_t zs_eu_file_B(const struct zs_eu_program *program)
{
    return (uint32_t)program->regs.grf_B * program->regs.grf_count;
}

/* All slots of accumulators: those of the widest elements come last. */
static inline uint32_t zs_eu_acc_slots(const struct zs_eu_registers *regs)
{
    uint32_t end;

    zs_eu_acc_slot(regs, 2, 8, &end);
    return end;
}

static inline uint32_t zs_eu_word(const struct zs_eu_thread *t, uint32_t offset_B)
{
    uint32_t value;
    __builtin_memcpy(&value, (const uint8_t *)t + offset_B, 4);
    return value;
}

/* Which channels of the instruction do something. */
static inline uint32_t zs_eu_active(const struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    return zs_eu_word(t, op->enables) >> op->chan_offset &
           (zs_eu_word(t, op->predicate) >> op->pred_shift ^ op->pred_xor) & op->lanes;
}

/* The instruction's flag in its active channels. */
static inline void zs_eu_write_flag(struct zs_eu_thread *t, const struct zs_eu_op *op,
                                    uint32_t active, uint32_t bits)
{
    uint32_t flag = zs_eu_word(t, op->flag);

    flag = (flag & ~(active << op->flag_shift)) | (bits & active) << op->flag_shift;
    __builtin_memcpy((uint8_t *)t + op->flag, &flag, 4);
}

/*
 * Straight-line handlers jump to the next one themselves; a block start returns to the loop in
 * zs_eu_run(), and zs_eu_lower() sees to it that no chain is long, so that a compiler that makes
 * calls of these jumps only uses some stack.
 */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define ZS_EU_NEXT(t, op) return (op)[1].fn((t), (op) + 1)
/* Go on elsewhere; every so often from the loop. */
#define ZS_EU_FOLLOW(t, op)                                                                        \
    do {                                                                                           \
        const struct zs_eu_op *to_ = (op);                                                         \
        if (ZS_LIKELY(++(t)->follows % 64))                                                        \
            return to_->fn((t), to_);                                                              \
        return to_;                                                                                \
    } while (0)
#else
#define ZS_EU_FOLLOW(t, op) return (op)
#define ZS_EU_NEXT(t, op)   return (op) + 1
#endif

/* control.c, general.c */
#define ZS_EU_KIND(id, handler) extern zs_eu_op_fn zs_eu_op_##handler;
#include "eu/exec/kind.def"

/* control.c: the message that an operation sends; NULL after a fault */
const struct zs_eu_send *zs_eu_send_of(struct zs_eu_thread *t, const struct zs_eu_op *op);
/* general.c: where channel c's element is; base UINT32_MAX: by address registers, which wrap at the
 * end of the register file */
uint32_t zs_eu_region_element(const struct zs_eu_thread *t, const struct zs_eu_region *region,
                              uint32_t base, unsigned c);

/* lower_flow.c: lengths from the descriptors; -EINVAL: registers out of range */
int zs_eu_send_finish(const struct zs_eu_program *program, struct zs_eu_send *send);
/* Registers that an operand of a send or dpas may touch. */
uint32_t zs_eu_payload_grfs(const struct zs_isa_inst *inst, const struct zs_isa_operand *op);
enum zs_eu_fault_kind zs_eu_send_fault_kind(int error);

/* The host's modes that cr0 asks for: of singles, of doubles. */
void zs_eu_host_modes(uint32_t cr0, uint32_t ret_csr[2]);
void zs_eu_control_register_changed(struct zs_eu_thread *t);

#endif
