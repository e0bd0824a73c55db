/* SPDX-License-Identifier: MIT */
#ifndef ZS_DWARF_VARIABLES_H
#define ZS_DWARF_VARIABLES_H

#include <zescope/dwarf.h>

/* The variable of that name that a block itself declares, of several the last one; NULL: none. A
 * block without code of its own has given its variables to the one around it. */
const struct zs_variable *zs_scope_variable(const struct zs_dwarf_kernel *kernel, uint32_t scope,
                                            const char *name);

#endif
