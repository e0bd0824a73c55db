/* SPDX-License-Identifier: MIT */
#include "base/id_map.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

static size_t home(const struct zs_id_map *map, uint64_t a, uint64_t b)
{
    return (size_t)zs_hash_u64(a, b) & (map->capacity - 1);
}

/* The slot of the pair, or the free one where it would stand. At least half of the slots are free.
 */
static struct zs_id_slot *find(const struct zs_id_map *map, uint64_t a, uint64_t b)
{
    size_t i = home(map, a, b);
    while (map->slots[i].value && (map->slots[i].a != a || map->slots[i].b != b))
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

void *zs_id_map_get(const struct zs_id_map *map, uint64_t a, uint64_t b)
{
    return map->count ? find(map, a, b)->value : NULL;
}

static int grow(struct zs_id_map *map)
{
    struct zs_id_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (!larger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value)
            *find(&larger, map->slots[i].a, map->slots[i].b) = map->slots[i];
    larger.count = map->count;
    free(map->slots);
    *map = larger;
    return 0;
}

int zs_id_map_put(struct zs_id_map *map, uint64_t a, uint64_t b, void *value)
{
    if (map->count * 2 >= map->capacity) {
        int error = grow(map);
        if (error)
            return error;
    }
    struct zs_id_slot *slot = find(map, a, b);
    map->count += !slot->value;
    *slot = (struct zs_id_slot){a, b, value};
    return 0;
}

void *zs_id_map_remove(struct zs_id_map *map, uint64_t a, uint64_t b)
{
    struct zs_id_slot *slot = map->count ? find(map, a, b) : NULL;
    if (!slot || !slot->value)
        return NULL;
    void *value = slot->value;
    size_t mask = map->capacity - 1, hole = (size_t)(slot - map->slots);
    for (size_t i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
        /* what stands behind the hole and may stand in it moves there */
        size_t at = home(map, map->slots[i].a, map->slots[i].b);
        if (((i - at) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    return value;
}

void zs_id_map_fini(struct zs_id_map *map)
{
    free(map->slots);
    *map = (struct zs_id_map){0};
}
