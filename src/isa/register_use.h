/* SPDX-License-Identifier: MIT */
/*
 * Which registers code touches at all, so which it does not: for who wants registers that nobody
 * else uses. Unlike liveness this holds over the whole code, functions in it included.
 */
#ifndef ZS_ISA_REGISTER_USE_H
#define ZS_ISA_REGISTER_USE_H

#include <zescope/isa.h>

struct zs_isa_register_use {
    /* False: it writes registers that an address register names, or runs code that is not its own.
     * Any register may be touched then. */
    bool known;
    bool closed;       /* all the code that it runs is its own */
    bool writes_known; /* it names all registers that it writes itself */
    /* False: what liveness says of general registers leaves something out: indirect operands,
     * messages whose lengths come from a register. */
    bool live_known;
    /* What an instruction does that one of these is false, and where; NULL: none is. */
    const char *unknown_why;
    uint32_t unknown_at_B;
    uint64_t grf[ZS_ISA_GRF_WORDS];
    uint64_t
        shared_grf[ZS_ISA_GRF_WORDS]; /* written under the mask, and read across lanes somewhere */
    uint32_t flags[4];
    uint16_t address, acc;
};

/* INSTS, BLOCKS. payload_grfs: registers that come with the thread, which an indirect operand may
 * read. */
void zs_isa_kernel_register_use(const struct zs_isa_kernel *kernel, uint32_t payload_grfs,
                                struct zs_isa_register_use *ret);

/* LIVENESS. zs_isa_live_set of each instruction of a block, at once. */
void zs_isa_live_sets(const struct zs_isa_kernel *kernel, uint32_t block,
                      uint64_t (*ret_bits)[ZS_ISA_GRF_WORDS]);

/* INSTS, BLOCKS. Liveness from here on, instead, of values: a copy reads what is read of it.
 * across: of those that lanes have which may be off: what is written under the mask leaves them,
 * and only who reads across lanes reads them. 0, or an error: there is none. */
int zs_isa_make_liveness_of_values(struct zs_isa_kernel *kernel, bool across);

/* LIVENESS. Of each instruction of a block, the last one first, what is live behind it. */
struct zs_isa_live_state;
typedef void zs_isa_live_visit(void *context, uint32_t inst,
                               const struct zs_isa_live_state *behind);
void zs_isa_visit_live(const struct zs_isa_kernel *kernel, uint32_t block, zs_isa_live_visit *visit,
                       void *context);
/* Some of these bytes of general registers. */
bool zs_isa_is_live(const struct zs_isa_live_state *state, uint32_t begin_B, uint32_t end_B);

#endif
