/* SPDX-License-Identifier: MIT */
/*
 * Pointers by a pair of numbers: open addressing, removal without tombstones. Not thread-safe.
 *
 * A walk over everything goes over slots[0 .. capacity) and passes by those without a value; not
 * while something is put. One that removes what it stands at looks at the slot again.
 */
#ifndef ZS_BASE_ID_MAP_H
#define ZS_BASE_ID_MAP_H

#include "base/compiler.h"

struct zs_id_slot {
    uint64_t a, b;
    void *value; /* NULL: free */
};

struct zs_id_map {
    struct zs_id_slot *slots;
    size_t capacity, count;
};

void *zs_id_map_get(const struct zs_id_map *map, uint64_t a, uint64_t b);
/* Adds or replaces; value is not NULL. 0 or -ENOMEM. */
int zs_id_map_put(struct zs_id_map *map, uint64_t a, uint64_t b, void *value);
/* What was there, or NULL. */
void *zs_id_map_remove(struct zs_id_map *map, uint64_t a, uint64_t b);
void zs_id_map_fini(struct zs_id_map *map);

#endif
