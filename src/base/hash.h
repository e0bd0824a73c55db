/* SPDX-License-Identifier: MIT */
/* Hashes for tables in memory: not for files, and not against keys that somebody chose to collide.
 */
#ifndef ZS_BASE_HASH_H
#define ZS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* All bits of the result depend on all bits of both. */
static inline uint64_t zs_hash_u64(uint64_t seed, uint64_t value)
{
    uint64_t x = (seed * UINT64_C(0x9e3779b97f4a7c15)) ^ value;
    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 29;
}

/* FNV-1a, and a last step that brings its high bits down. */
static inline uint64_t zs_hash_bytes(const void *bytes, size_t size_B)
{
    const uint8_t *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size_B; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

#endif
