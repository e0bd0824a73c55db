/* SPDX-License-Identifier: MIT */
/* Whether a register still holds the variable that debug info says is there (value_check.c). */
#ifndef ZS_CORRELATE_VALUE_CHECK_H
#define ZS_CORRELATE_VALUE_CHECK_H

#include <zescope/correlate.h>
#include <zescope/isa.h>

struct zs_value_check {
    struct zs_isa_kernel *isa; /* INSTS; blocks are made when they are asked for */
    const struct zs_dwarf_kernel *info;
    const struct zs_join *join;
    struct zs_sources *sources; /* what assigns the variable stands in the source's text */
    uint32_t grf_B;
    bool optimised; /* some variable of the kernel has a list of locations */
    const struct zs_variable *variable;
    uint32_t inst, lane; /* where it is asked, and of which lane */
    bool waits;          /* the lane is off there */
};
/* size_B (1..64) bytes from begin_B of r0 on. */
bool zs_value_is_there(const struct zs_value_check *q, uint32_t begin_B, uint32_t size_B);
/* ... and no other lane's write is among those that may have left it. */
bool zs_value_is_lanes_own(const struct zs_value_check *q, uint32_t begin_B, uint32_t size_B);
/* The variable's function has got further than to its first line. */
bool zs_value_has_begun(const struct zs_value_check *q);
bool zs_value_is_optimised(const struct zs_dwarf_kernel *info);
/* The first code of the function's first line behind its head, in [begin_B, end_B), and its last
 * line; NULL: it has one line alone. */
const struct zs_line_row *zs_value_first_line(const struct zs_dwarf_kernel *info,
                                              const struct zs_frame *f, uint32_t begin_B,
                                              uint32_t end_B, uint32_t *ret_last);

#endif
