/* SPDX-License-Identifier: MIT */
/*
 * The module layer for the layers above it: the public model (read that header first) and what
 * only this project uses.
 *   elf.h     a checked view of any ELF64: sections, symbols, relocations
 *   writer.h  patch tokens and NEO ELF written back
 */
#ifndef ZS_MODULE_MODULE_H
#define ZS_MODULE_MODULE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/span.h"

#include <zescope/module.h>

/* Name that compilers give to the pseudo kernel which holds exported functions. */
#define ZS_FUNCTION_HOLDER_NAME "Intel_Symbol_Table_Void_Program"

/* The first kernel behind `after` (NULL: of all) that has this code, but for what drivers relocate,
 * from *ret_skip_B on; NULL: none. */
const struct zs_kernel *zs_module_find_code(const struct zs_module *module, struct zs_span code,
                                            const struct zs_kernel *after, uint64_t *ret_skip_B);
/* Bytes of implicit arguments that Intel's driver lays in front of what all threads get: it tells
 * unoptimised kernels by a relocation of this code, which begins skip_B in. 0: none. */
uint32_t zs_kernel_implicit_B(const struct zs_kernel *kernel, struct zs_span code, uint64_t skip_B);

#endif
