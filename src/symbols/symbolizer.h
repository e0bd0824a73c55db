/* SPDX-License-Identifier: MIT */
/* Addresses of one mapped file in words, from its symbols and debug information (libdw). */
#ifndef ZS_SYMBOLS_SYMBOLIZER_H
#define ZS_SYMBOLS_SYMBOLIZER_H

#include "base/arena.h"
#include "symbols/symbols.h"

enum { ZS_SYMBOL_INLINE_MAX = 16 };

struct zs_symbolizer;

/* base: where the file was loaded. NULL when it cannot be read, or is not the one with that build
 * id (hexadecimal; NULL: any). */
struct zs_symbolizer *zs_symbolizer_open(const char *path, uint64_t base, const char *build_id);
void zs_symbolizer_close(struct zs_symbolizer *symbolizer);
/* Inlined functions first. Texts are copied into the arena. How many; 0: nothing is known. */
uint32_t zs_symbolizer_frames(struct zs_symbolizer *symbolizer, uint64_t pc, struct zs_arena *arena,
                              struct zs_symbol_frame ret_frames[ZS_SYMBOL_INLINE_MAX]);

#endif
