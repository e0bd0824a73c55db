/* SPDX-License-Identifier: MIT */
#include "base/name_map.h"
#include "base/os.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 29) * UINT64_C(0xa0761d6478bd642f);
    return h ^ h >> 32;
}

/* The keys come from a hostile file: a seed that it cannot know keeps them from all falling into
 * one place. */
static size_t hash(const struct zs_name_map *map, const char *key)
{
    uint64_t h = map->seed;
    for (size_t left = strlen(key); left;) {
        uint64_t chunk = 0;
        size_t take = ZS_MIN(left, sizeof(chunk));
        memcpy(&chunk, key, take);
        h = mix(h ^ chunk) + map->seed;
        key += take;
        left -= take;
    }
    return (size_t)h;
}

static size_t slot_of(const struct zs_name_map *map, const char *key)
{
    size_t i = hash(map, key) & (map->capacity - 1);
    while (map->keys[i] && strcmp(map->keys[i], key) != 0)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

static bool grow(struct zs_name_map *map)
{
    struct zs_name_map bigger = {.seed = map->seed, .capacity = map->capacity * 2};
    if (!map->capacity) {
        bigger.capacity = 64;
        if (!zs_os_random(&bigger.seed))
            bigger.seed = (uint64_t)(uintptr_t)map;
    }
    bigger.keys = calloc(bigger.capacity, sizeof(*bigger.keys));
    bigger.values = calloc(bigger.capacity, sizeof(*bigger.values));
    if (!bigger.keys || !bigger.values) {
        zs_name_map_fini(&bigger);
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->keys[i])
            continue;
        size_t at = slot_of(&bigger, map->keys[i]);
        bigger.keys[at] = map->keys[i];
        bigger.values[at] = map->values[i];
    }
    bigger.count = map->count;
    zs_name_map_fini(map);
    *map = bigger;
    return true;
}

bool zs_name_map_put(struct zs_name_map *map, const char *key, uint32_t value)
{
    if (map->count * 2 >= map->capacity && !grow(map))
        return false;
    size_t i = slot_of(map, key);
    map->count += !map->keys[i];
    map->keys[i] = key;
    map->values[i] = value;
    return true;
}

uint32_t zs_name_map_get(const struct zs_name_map *map, const char *key)
{
    if (!map->capacity)
        return ZS_NAME_MAP_NONE;
    size_t i = slot_of(map, key);
    return map->keys[i] ? map->values[i] : ZS_NAME_MAP_NONE;
}

void zs_name_map_fini(struct zs_name_map *map)
{
    free((void *)map->keys);
    free(map->values);
    *map = (struct zs_name_map){0};
}
