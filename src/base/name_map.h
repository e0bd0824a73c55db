/* SPDX-License-Identifier: MIT */
/*
 * Indices by text: open addressing with a seed of its own, for keys from hostile files. Nothing is
 * removed. Not thread-safe.
 */
#ifndef ZS_BASE_NAME_MAP_H
#define ZS_BASE_NAME_MAP_H

#include "base/compiler.h"

#define ZS_NAME_MAP_NONE UINT32_MAX

struct zs_name_map {
    const char **keys; /* NULL: free */
    uint32_t *values;
    size_t count, capacity; /* capacity: 0 or a power of two */
    uint64_t seed;
};

/* Adds or replaces; the key is borrowed until zs_name_map_fini. False: no memory. */
bool zs_name_map_put(struct zs_name_map *map, const char *key, uint32_t value) ZS_MUST_CHECK;
uint32_t zs_name_map_get(const struct zs_name_map *map, const char *key);
void zs_name_map_fini(struct zs_name_map *map);

#endif
