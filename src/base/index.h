/* SPDX-License-Identifier: MIT */
/*
 * Items of an array by their hash: open addressing over their indices. The array, and what makes
 * two items equal, are the owner's; nothing is removed. Not thread-safe.
 *
 *     if (!zs_index_reserve(&index, count, hash_of, items))
 *         return NULL;
 *     uint32_t *slot = zs_index_first(&index, hash);
 *     for (; *slot; slot = zs_index_next(&index, slot))
 *         if (is_equal(&items[*slot - 1], key))
 *             return &items[*slot - 1];
 *     items[count++] = ...;
 *     *slot = count;
 */
#ifndef ZS_BASE_INDEX_H
#define ZS_BASE_INDEX_H

#include "base/compiler.h"

#include <stdlib.h>

struct zs_index {
    uint32_t *slots; /* index + 1; 0: free. Half of them at least. */
    size_t capacity; /* 0 or a power of two */
};

static inline uint32_t *zs_index_first(const struct zs_index *index, uint64_t hash)
{
    return &index->slots[hash & (index->capacity - 1)];
}

static inline uint32_t *zs_index_next(const struct zs_index *index, uint32_t *slot)
{
    return slot + 1 == index->slots + index->capacity ? index->slots : slot + 1;
}

/* Room for one more than `count` items. hash_of() says the hash of one that is there. */
static inline bool zs_index_reserve(struct zs_index *index, size_t count,
                                    uint64_t (*hash_of)(const void *items, size_t i),
                                    const void *items)
{
    if (count * 2 < index->capacity)
        return true;
    if (count >= UINT32_MAX - 1)
        return false;
    struct zs_index wider = {.capacity = index->capacity ? index->capacity * 2 : 64};
    wider.slots = calloc(wider.capacity, sizeof(*wider.slots));
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = zs_index_first(&wider, hash_of(items, i));
        while (*slot)
            slot = zs_index_next(&wider, slot);
        *slot = (uint32_t)i + 1;
    }
    free(index->slots);
    *index = wider;
    return true;
}

static inline void zs_index_fini(struct zs_index *index)
{
    free(index->slots);
    *index = (struct zs_index){0};
}

#endif
