/* SPDX-License-Identifier: MIT */
#ifndef ZS_DWARF_PLACE_H
#define ZS_DWARF_PLACE_H

#include "base/diag.h"

#include <zescope/module.h>

/* "file:line", and in lines of their own where it was inlined. 0; -ENODATA, -ENOENT: nothing is
 * said of it; else what is wrong with the debug information. */
int zs_dwarf_place(const struct zs_kernel *kernel, uint64_t at_B, char *ret_text, size_t size_B,
                   struct zs_diag *diag);

#endif
