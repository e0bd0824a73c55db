/* SPDX-License-Identifier: MIT */
/* Shared by the files of src/isa that decode a whole kernel. */
#ifndef ZS_ISA_PRIV_H
#define ZS_ISA_PRIV_H

#include "base/vec.h"
#include "isa/generation.h"
#include "isa/inst.h"
#include "isa/isa.h"

/* Fields of the raw encoding that are the same for all platforms. */
enum { ZS_ISA_COMPACTED_BYTE = 3, ZS_ISA_COMPACTED_BIT = 0x20 };
static inline uint32_t zs_isa_raw_size_B(const uint8_t *inst)
{
    return inst[ZS_ISA_COMPACTED_BYTE] & ZS_ISA_COMPACTED_BIT ? 8 : 16;
}
/* Opcodes 0x20..0x2f branch, 0x31..0x36 send, on every platform that we know. */
static inline bool zs_isa_raw_is_branch(const uint8_t *inst)
{
    return (inst[0] & 0x70) == 0x20;
}
static inline bool zs_isa_raw_is_send(const uint8_t *inst)
{
    uint32_t op = inst[0] & 0x7f;
    return op >= 0x31 && op <= 0x36;
}

/* A branch: places in the code, ZS_ISA_NO_INDEX where there is none. */
struct zs_isa_branch {
    uint32_t inst;
    uint32_t jip_B, uip_B;
    uint8_t code; /* raw opcode, 0x20..0x2f */
    bool predicated;
};

struct zs_isa_kernel {
    enum zs_isa_platform platform;
    struct zs_span code;
    uint32_t entry_B;
    uint32_t grf_count, grf_B;
    uint32_t done; /* enum zs_isa_what */
    uint32_t count, illegal_count;
    uint32_t *offsets_B; /* count + 1 */
    const struct zs_isa_model *model;
    bool scanned; /* branches, ends and illegal_count are known */
    struct {
        struct zs_isa_branch *items;
        size_t count, capacity;
    } branches;    /* in code order, without illegal ones */
    uint8_t *ends; /* bit i: instruction i ends the thread */
    /* INSTS */
    struct zs_isa_inst *insts;
    struct zs_isa_message *messages;
    uint32_t message_count;
    /* BLOCKS */
    struct zs_isa_block *blocks;
    struct zs_isa_edge *edges;
    struct zs_isa_loop *loops;
    uint32_t block_count, edge_count, loop_count;
    bool edges_missing;  /* there are too many */
    uint8_t *label_bits; /* TEXT: bit i: a label line before instruction i; count + 1 bits */
    /* LIVENESS: see live.c */
    uint16_t *live_grf;
    uint16_t *live_out; /* per block: grf_count masks of register parts */
    uint16_t *parked;   /* per block: the same */
    uint32_t live_peak, live_peak_inst;
    bool live_exact, live_values, live_across;
};

/* kernel.c */
const struct zs_isa_branch *zs_isa_branch_of(const struct zs_isa_kernel *kernel, uint32_t i);
static inline bool zs_isa_ends_thread(const struct zs_isa_kernel *kernel, uint32_t i)
{
    return kernel->ends[i / 8] >> i % 8 & 1;
}

/* message.c: what a send does. */
void zs_isa_make_message(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                         struct zs_isa_message *ret_message);
struct zs_isa_send;
/* What is in registers is 0 there, lengths ZS_LENGTH_UNKNOWN. */
void zs_isa_make_send(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                      struct zs_isa_send *ret);
/* Registers of a send's second payload, -1 where the number comes from a register. */
int32_t zs_isa_second_length(const struct zs_isa_model *model, const struct zs_isa_inst *inst);

/* live.c: whether registers come back, but the instruction does not say how many: at most 32. */
bool zs_isa_response_is_unknown(const struct zs_isa_inst *inst);

/* Bytes of a register file; empty when equal. */
struct zs_isa_range {
    uint32_t begin_B, end_B;
};
/* live.c: what an operand touches of the general registers. *ret_stride_B: from one element to the
 * next, 0 for whole registers. */
struct zs_isa_range zs_isa_source_range(const struct zs_isa_kernel *kernel,
                                        const struct zs_isa_inst *inst, uint32_t source);
struct zs_isa_range zs_isa_dst_range(const struct zs_isa_kernel *kernel,
                                     const struct zs_isa_inst *inst, uint32_t *ret_element_B,
                                     uint32_t *ret_stride_B);
/* effects.c: all but general registers and memory. */
void zs_isa_arf_effects(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                        struct zs_isa_effects *ret);

/* cfg.c, live.c */
int zs_isa_make_blocks(struct zs_isa_kernel *kernel);
/* Edges of lanes backward: those to block b come from from[first[b]] to from[first[b + 1] - 1].
 * first, one longer than blocks there are, and counts are zeros before, counts how many after. */
void zs_isa_list_sources(const struct zs_isa_kernel *kernel, uint32_t *first, uint32_t *from,
                         uint32_t *counts);
int zs_isa_make_liveness(struct zs_isa_kernel *kernel, struct zs_diag *diag);

#endif
