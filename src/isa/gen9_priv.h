/* SPDX-License-Identifier: MIT */
#ifndef ZS_ISA_GEN9_PRIV_H
#define ZS_ISA_GEN9_PRIV_H

#include "isa/gen9_decode.h"

/* Bits hi:lo of a 128-bit instruction; they may straddle the two words. At most 64 bits. */
static inline uint64_t zs_gen9_get(const uint64_t full[2], unsigned hi, unsigned lo)
{
    unsigned count = hi - lo + 1;
    uint64_t value = lo >= 64 ? full[1] >> (lo - 64)
                              : full[0] >> lo | (lo && hi >= 64 ? full[1] << (64 - lo) : 0);
    return count == 64 ? value : value & ((UINT64_C(1) << count) - 1);
}

static inline void zs_gen9_put(uint64_t full[2], unsigned hi, unsigned lo, uint64_t value)
{
    for (unsigned bit = lo; bit <= hi; bit++) {
        uint64_t mask = UINT64_C(1) << (bit & 63);
        full[bit >> 6] = (full[bit >> 6] & ~mask) | (value >> (bit - lo) & 1 ? mask : 0);
    }
}

/* Expand a 64-bit instruction; every pattern expands to something. */
void zs_gen9_uncompact(uint64_t compact, bool three_source, uint64_t ret_full[2]);

#endif
