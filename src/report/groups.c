/* SPDX-License-Identifier: MIT */
#include "report/groups.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { WITH_PERCENTILES_MAX = 20000 };

static uint64_t hash(const uint64_t *keys)
{
    uint64_t h = 0;
    for (size_t i = 0; i < ZS_GROUP_KEYS_MAX; i++)
        h = (h ^ keys[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 31);
    return h ^ h >> 32;
}

static bool grow(struct zs_groups *g)
{
    size_t slot_count = g->slot_count ? g->slot_count * 2 : 64;
    uint32_t *slots = calloc(slot_count, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < g->count; i++) {
        size_t at = hash(g->items[i]->keys) & (slot_count - 1);
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(g->slots);
    g->slots = slots;
    g->slot_count = slot_count;
    return true;
}

struct zs_group *zs_groups_get(struct zs_groups *g, const uint64_t *keys)
{
    if (g->recent && !memcmp(g->recent->keys, keys, sizeof(g->recent->keys)))
        return g->recent;
    if (g->count * 2 >= g->slot_count && !grow(g))
        return NULL;
    size_t at = hash(keys) & (g->slot_count - 1);
    for (; g->slots[at]; at = (at + 1) & (g->slot_count - 1)) {
        struct zs_group *group = g->items[g->slots[at] - 1];
        if (!memcmp(group->keys, keys, sizeof(group->keys)))
            return g->recent = group;
    }
    struct zs_group *group = ZS_ARENA_NEW(g->arena, struct zs_group);
    if (!group || g->count == UINT32_MAX - 1 || !ZS_VEC_PUSH(g, group))
        return NULL;
    memcpy(group->keys, keys, sizeof(group->keys));
    g->slots[at] = (uint32_t)g->count;
    return g->recent = group;
}

void zs_groups_fini(struct zs_groups *g)
{
    free(g->items);
    free(g->slots);
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
