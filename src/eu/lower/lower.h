/* SPDX-License-Identifier: MIT */
/*
 * Lowering of one instruction to operations.
 *
 * Sources are brought to packed vectors (or one element) of the execution type, through
 * temporaries where they are not already; one row of sem.def computes; the result is clamped,
 * converted and stored where the destination says. The common case, packed operands of one type,
 * is one operation without temporaries.
 */
#ifndef ZS_EU_LOWER_H
#define ZS_EU_LOWER_H

#include "eu/eu_priv.h"

/* Packed elements of some type (n of them, or one for all channels) at an offset of the thread. */
struct zs_eu_loc {
    uint32_t at;
    bool scalar;
};

/* A row of platform.c. */
struct zs_eu_platform {
    enum zs_isa_platform first, last;
    struct zs_eu_registers registers; /* grf_count: whatever the kernel says */
    bool mach_is_high;     /* mach gives the high half whatever AccWrEn says, else only with it; */
    bool mach_writes_acc;  /* ... there is no AccWrEn: mach writes acc, and macl is an opcode */
    bool macros_in_align1; /* of division and square root: there is no Align16 */
    bool has_named_barriers; /* sync.bar with a number */
    bool sfid_in_exdesc;     /* of an extended descriptor in a register */
    bool exdesc_is_state;    /* of ugm: one in a register is a surface state's offset */
    bool one_pipe;           /* of instructions that end in order */
    bool jumps_from_itself;  /* jmpi counts from its own place, not from behind it */
    bool has_math_pipe;      /* math ends in order */
    bool converts_as_int;    /* moves to floats from other types are of the integers' pipe */
    bool doubles_are_math;   /* instructions on doubles are to the scoreboard what math is */
    bool doubles_are_long;   /* the long pipe is that of results in doubles alone */
    bool has_msg0;           /* what numbers threads, in part */
    bool goto_when_false; /* a goto without branch control takes lanes whose predicate is false */
};
/* NULL: threads of it are not modelled. */
const struct zs_eu_platform *zs_eu_platform_of(enum zs_isa_platform platform);

/* How the active lanes of an instruction follow from those of its block. */
enum zs_eu_lanes_apart {
    ZS_EU_LANES_OF_BLOCK,   /* eight by eight, or all of its channels */
    ZS_EU_LANES_FEW,        /* by its channels alone */
    ZS_EU_LANES_PREDICATED, /* they do not */
};

struct zs_eu_lane_counter {
    uint32_t number; /* not of OF_BLOCK */
    uint8_t apart;   /* enum zs_eu_lanes_apart */
    bool counts;     /* the instruction adds to it; others have the number of another's */
};

struct zs_eu_lowering {
    struct zs_eu_program *program;
    struct zs_eu_lane_counter *lane_counters; /* for each instruction */
    const struct zs_eu_platform *platform;
    const struct zs_eu_lower_params *params;
    const struct zs_isa_model *model;
    enum zs_eu_host host; /* not BEST */
    const struct zs_eu_handlers *handlers;
    const struct zs_eu_dpas_handlers *dpas;
    bool no_memory;
    uint64_t reads[8];        /* registers that the program may read */
    unsigned chain;           /* operations since the last one that returns to the loop */
    bool has_acc;             /* some instruction reads or writes an accumulator */
    uint32_t block_end;       /* the first instruction behind the current block */
    unsigned places_in_cache; /* that messages have been given */
    struct {
        uint32_t at_B; /* in the register file */
        unsigned place;
    } pointers[32]; /* that messages go by */
    unsigned pointer_count;
    uint32_t pointer_of[256]; /* of what was last made in a register; UINT32_MAX */
    uint32_t jump_counter;    /* that a jump counts itself; 0: none */

    /* of the current instruction */
    const char *name;               /* "add", "math.inv" */
    const struct zs_isa_inst *inst; /* as decoded, or `rewritten` */
    struct zs_isa_inst rewritten;
    uint32_t index;
    unsigned n, chunks; /* channels, chunks of eight */
    unsigned temps;
    uint16_t enables, predicate;
    uint8_t pred_shift;
    uint32_t pred_xor;
    uint32_t lanes; /* channels that the instruction itself leaves on (smov) */
    bool failed;
    struct zs_eu_program_fault fault;
};

/* ---- count.c ---- */
void zs_eu_lane_counter_of(const struct zs_isa_inst *inst, struct zs_eu_lane_counter *ret);
/* Counters of lanes, for all instructions, once their blocks are known. */
void zs_eu_number_counters(struct zs_eu_lowering *l);
/* The current instruction counts its active lanes, if it has to. */
void zs_eu_count_lanes(struct zs_eu_lowering *l);

/* ---- lower.c ---- */
/* The instruction at a byte offset of the code; false: fewer bytes remain than it has. */
bool zs_eu_decode(const struct zs_eu_lowering *l, uint32_t at_B, struct zs_isa_inst *ret);
/* Where a label leads, as an offset in the code, which may be outside. */
int64_t zs_eu_label(const struct zs_eu_program *program, const struct zs_isa_inst *inst,
                    unsigned source);
/* A new operation (enum zs_eu_kind) of the current instruction that acts on all channels; never
 * NULL, and good until the next one. */
struct zs_eu_op *zs_eu_emit(struct zs_eu_lowering *l, unsigned kind);
/* Give it the instruction's execution mask. */
void zs_eu_mask(struct zs_eu_lowering *l, struct zs_eu_op *op);
/* The instruction becomes a fault; the first reason counts. Returns false. */
bool zs_eu_refuse(struct zs_eu_lowering *l, enum zs_eu_fault_kind kind, const char *format, ...)
    ZS_PRINTF(3, 4);
void zs_eu_emit_fault(struct zs_eu_lowering *l, const struct zs_eu_program_fault *fault,
                      bool always);
/* The program may read these bytes of the register file. */
void zs_eu_mark_read(struct zs_eu_lowering *l, uint32_t at_B, uint32_t size_B);
/* ... and so many slots of accumulators. */
void zs_eu_mark_acc_read(struct zs_eu_lowering *l, unsigned first, unsigned count);

/* Threads of it stand in the middle of blocks, or every operand goes the general way. */
static inline bool zs_eu_stands_anywhere(const struct zs_eu_lowering *l)
{
    const uint32_t flags = ZS_EU_LOWER_GENERAL | ZS_EU_LOWER_HOOK_STEPS | ZS_EU_LOWER_SCOREBOARD |
                           ZS_EU_LOWER_PLACES | ZS_EU_LOWER_LOCAL | ZS_EU_LOWER_DEFINED;

    return l->params->flags & flags || l->params->stop_count;
}

/* Hooks that look at any register. */
static inline bool zs_eu_is_watched(const struct zs_eu_lowering *l)
{
    const uint32_t hooks =
        ZS_EU_LOWER_HOOK_BLOCKS | ZS_EU_LOWER_HOOK_MESSAGES | ZS_EU_LOWER_HOOK_STEPS;

    return l->params->flags & hooks && !(l->params->flags & ZS_EU_LOWER_HOOKS_BLIND);
}

/* ---- lower_start.c ---- */
/* cr0 as the program's first write to it leaves it, if nothing before depends on it; else 0. */
uint32_t zs_eu_early_control(const struct zs_eu_lowering *l, uint32_t entry_block);

/* ---- lower_unread.c ---- */
/* Of loads that checks look at: what nobody reads of them. */
void zs_eu_find_unread(const struct zs_eu_lowering *l);

/* ---- lower_score.c ---- */
/* In front of an instruction: its row of the scoreboard's check. */
void zs_eu_lower_score(struct zs_eu_lowering *l, const struct zs_isa_inst *inst, uint32_t index);

/* ---- lower_select.c ---- */
/* The program's operations in their final form; false: no memory. */
bool zs_eu_select(struct zs_eu_lowering *l);

/* ---- shadow.c ---- */
/* Operations (count of them) get handlers that keep t->shadow; false: no memory. */
bool zs_eu_shadow_program(struct zs_eu_lowering *l, size_t count);
void zs_eu_shadow_plan_destroy(struct zs_eu_shadow_plan *plan); /* NULL is fine */

/* ---- lower_row.c, lower_place.c, lower_source.c, lower_store.c ---- */
unsigned zs_eu_type_B(unsigned type); /* size of an element */
bool zs_eu_type_is_float(unsigned type);
bool zs_eu_type_is_signed(unsigned type);
uint32_t zs_eu_temp(struct zs_eu_lowering *l);
/* 8 bytes of the constant pool: low bytes serve narrower types. */
uint32_t zs_eu_constant(struct zs_eu_lowering *l, const void *bytes, unsigned size_B);
struct zs_eu_loc zs_eu_number(struct zs_eu_lowering *l, uint64_t value);

enum zs_eu_modifiers {
    ZS_EU_MOD_ARITH,    /* abs, then negate */
    ZS_EU_MOD_LOGIC,    /* the negate bit inverts */
    ZS_EU_MOD_KEEP_NEG, /* floats: the caller takes care of the sign */
};
/*
 * The integer type in which modifiers of a register compute (docs/eu.md has the sources).
 * Magnitudes wrap in their own width: of the most negative value it is that value. So do negations
 * of d and q, while bytes and words are 32 bits wide by then: -(-32768) is 32768; and ud has one
 * bit more, which is the sign of its negation.
 */
unsigned zs_eu_modifier_type(const struct zs_isa_operand *op);
/* Source i as packed elements of `type`. */
struct zs_eu_loc zs_eu_load(struct zs_eu_lowering *l, unsigned i, unsigned type,
                            enum zs_eu_modifiers mods);
/* Convert packed elements; returns where they are then. */
struct zs_eu_loc zs_eu_convert(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned from,
                               unsigned to, bool clamp);

/*
 * Compute row on sources and put the result, of type `type`, where the instruction's destination
 * says: with saturation, conversion, conditional modifier, accumulator write.
 */
void zs_eu_compute(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                   const struct zs_eu_loc *src, unsigned count);
/* The same by one operation; false: it takes more, and nothing was done. */
bool zs_eu_compute_direct(struct zs_eu_lowering *l, enum zs_eu_row row, unsigned type,
                          const struct zs_eu_loc *src, unsigned count);
/* A product of d or ud, all of it, into an accumulator, half by half; neither saturated nor
 * compared. */
void zs_eu_compute_product(struct zs_eu_lowering *l, unsigned type, struct zs_eu_loc src[2]);
/* The same for a result that is already in a temporary. */
void zs_eu_store(struct zs_eu_lowering *l, struct zs_eu_loc result, unsigned type);
/* One row into packed elements at `dst`; masked by the instruction, or for all channels. */
struct zs_eu_op *zs_eu_emit_row(struct zs_eu_lowering *l, enum zs_eu_row row, uint32_t dst,
                                const struct zs_eu_loc *src, unsigned count, bool masked);
/* The same for all channels, into a new temporary. */
struct zs_eu_loc zs_eu_apply(struct zs_eu_lowering *l, enum zs_eu_row row,
                             const struct zs_eu_loc *src, unsigned count);
/* Row that moves bits of a type. */
enum zs_eu_row zs_eu_move_row(unsigned type);
/* Comparison row for a type; ZS_EU_ROW_NONE: not modelled. */
enum zs_eu_row zs_eu_cmp_row(unsigned cond, unsigned type);
/* Flag register and bit of channel 0, for the conditional modifier. */
void zs_eu_flag_target(const struct zs_eu_lowering *l, struct zs_eu_op *op);
/* That flag from the word at `bits`, channel 0 first. */
void zs_eu_copy_flag(struct zs_eu_lowering *l, uint32_t bits);
/* After everything: what a write to a state register brings about. */
void zs_eu_after_store(struct zs_eu_lowering *l);

/* ---- lower_inst.c, lower_flow.c ---- */
void zs_eu_lower_inst(struct zs_eu_lowering *l);
/* true: the instruction is control flow or a send and was lowered (or refused) */
bool zs_eu_lower_flow(struct zs_eu_lowering *l);
void zs_eu_note_pointer(struct zs_eu_lowering *l, const struct zs_isa_inst *inst);
bool zs_eu_inst_ends_block(const struct zs_isa_inst *inst);

#endif
