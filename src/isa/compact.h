/* SPDX-License-Identifier: MIT */
/*
 * Compacted instructions: 64 bits that expand to 128 by tables of common patterns (compact.def,
 * compact_tables.def). Which sets of rows an instruction's form has is its encoding's to say.
 */
#ifndef ZS_ISA_COMPACT_H
#define ZS_ISA_COMPACT_H

#include "base/compiler.h"

enum zs_compact_set {
#define ZS_COMPACT_SET(name) ZS_COMPACT_##name,
#define ZS_COMPACT(...)
#include "isa/compact.def"
#undef ZS_COMPACT_SET
#undef ZS_COMPACT
    ZS_COMPACT_SET_COUNT,
};

/* Write the set's part of the whole instruction; false: an index that its table does not have. */
bool zs_compact_expand(enum zs_compact_set set, uint64_t compact, uint64_t bits[2]);
/* Write the set's part of the compacted instruction; false: a pattern that no table has. Bits that
 * the set does not cover are the caller's to check, by expanding and comparing. */
bool zs_compact_shrink(enum zs_compact_set set, const uint64_t bits[2], uint64_t *compact);

#endif
