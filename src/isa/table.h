/* SPDX-License-Identifier: MIT */
/* Tables of jumps: what a compiler makes of a switch with many cases. */
#ifndef ZS_ISA_TABLE_H
#define ZS_ISA_TABLE_H

#include <zescope/isa.h>

/* Instructions that one jump chooses from: they stand behind it in a row. */
struct zs_isa_table {
    uint32_t first, count;
};

/* Whether instruction i is a jump into such a table. Where blocks begin must be known. */
bool zs_isa_table_find(const struct zs_isa_kernel *kernel, uint32_t i, struct zs_isa_table *ret);

#endif
