/* SPDX-License-Identifier: MIT */
/* Which writes reach an instruction. */
#ifndef ZS_ISA_REACHING_H
#define ZS_ISA_REACHING_H

#include "isa/isa.h"

/* Which writes may have left what some bytes of the general registers hold. */
enum { ZS_ISA_WRITES_MAX = 16 };
struct zs_isa_reaching {
    bool entry;   /* on some way nothing has written them all */
    bool unknown; /* some write is indirect, or there are more of them than insts[] holds */
    uint32_t count;
    uint32_t insts[ZS_ISA_WRITES_MAX];
};
/* Of `size_B` (1..64) bytes, from begin_B of r0 on, when instruction i starts. After INSTS and
 * BLOCKS. Takes time in proportion to the code. */
void zs_isa_reaching(const struct zs_isa_kernel *kernel, uint32_t i, uint32_t begin_B,
                     uint32_t size_B, struct zs_isa_reaching *ret);

/* Of the `count` registers behind r0, which have local ids when the code starts: those that it has
 * no use for, the first one as bit 0. Compilers take any register for a value that is not defined,
 * often the ids of a dimension that nobody asks for. Ids are words, one for each lane: what is read
 * as something wider, the same for all lanes, is none. After INSTS and BLOCKS. */
uint32_t zs_isa_unused_ids(const struct zs_isa_kernel *kernel, uint32_t count);

#endif
