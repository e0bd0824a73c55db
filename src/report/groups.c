/* SPDX-License-Identifier: MIT */
#include "report/groups.h"

#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { WITH_PERCENTILES_MAX = 20000 };

static uint64_t hash(const uint64_t *keys)
{
    uint64_t h = 0;
    for (size_t i = 0; i < ZS_GROUP_KEYS_MAX; i++)
        h = zs_hash_u64(h, keys[i]);
    return h;
}

static uint64_t hash_of(const void *items, size_t i)
{
    return hash(((struct zs_group *const *)items)[i]->keys);
}

struct zs_group *zs_groups_get(struct zs_groups *g, const uint64_t *keys)
{
    if (g->recent && !memcmp(g->recent->keys, keys, sizeof(g->recent->keys)))
        return g->recent;
    if (!zs_index_reserve(&g->by_keys, g->count, hash_of, g->items))
        return NULL;
    uint32_t *slot = zs_index_first(&g->by_keys, hash(keys));
    for (; *slot; slot = zs_index_next(&g->by_keys, slot)) {
        struct zs_group *group = g->items[*slot - 1];
        if (!memcmp(group->keys, keys, sizeof(group->keys)))
            return g->recent = group;
    }
    struct zs_group *group = ZS_ARENA_NEW(g->arena, struct zs_group);
    if (!group || !ZS_VEC_PUSH(g, group))
        return NULL;
    memcpy(group->keys, keys, sizeof(group->keys));
    *slot = (uint32_t)g->count;
    return g->recent = group;
}

void zs_groups_fini(struct zs_groups *g)
{
    free(g->items);
    zs_index_fini(&g->by_keys);
    *g = (struct zs_groups){0};
}

struct zs_arena *zs_groups_times_arena(const struct zs_groups *g)
{
    return g->count <= WITH_PERCENTILES_MAX ? g->arena : NULL;
}

void zs_group_result(struct zs_group *group, int32_t result)
{
    for (uint32_t i = 0; i < group->result_count; i++) {
        if (group->results[i].result == result) {
            group->results[i].count++;
            return;
        }
    }
    if (group->result_count < ZS_GROUP_RESULTS_MAX)
        group->results[group->result_count++] = (struct zs_result_count){result, 1};
}
