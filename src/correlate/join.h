/* SPDX-License-Identifier: MIT */
#ifndef ZS_CORRELATE_JOIN_H
#define ZS_CORRELATE_JOIN_H

#include <zescope/correlate.h>

/* zs_join() where instruction i has row and scope of instruction as[i]; NULL: of its own. */
int zs_join_as(const struct zs_dwarf_kernel *kernel, const uint32_t *offsets, const uint32_t *as,
               uint32_t count, struct zs_join **ret_join);

#endif
