/* SPDX-License-Identifier: MIT */
/*
 * What a launch sees of memory: of its context, and of others where it may touch theirs. Each of
 * its host threads has a view of its own, which it renews between slices (see memory.c).
 *
 * Memories are pinned in the order of their addresses: a pin may wait for zs_gpu_memory_resume(),
 * and who waits holds only memories that stand before.
 */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

static int compare_memories(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (struct zs_gpu_memory *const *)a;
    uintptr_t y = (uintptr_t) * (struct zs_gpu_memory *const *)b;
    return x < y ? -1 : x > y;
}

int zs_gpu_run_memories(struct zs_gpu_run *run)
{
    const struct zs_gpu_launch *launch = run->launch;
    run->memory_count = launch->other_count + 1;
    run->memories = &run->single_memory;
    run->keeps = &run->single_keep;
    if (launch->other_count) {
        run->memories = malloc(run->memory_count * sizeof(*run->memories));
        run->keeps = calloc(run->memory_count, sizeof(*run->keeps));
        if (!run->memories || !run->keeps)
            return -ENOMEM;
        memcpy(run->memories + 1, launch->others, launch->other_count * sizeof(*run->memories));
    }
    run->memories[0] = launch->memory;
    if (launch->other_count)
        qsort(run->memories, run->memory_count, sizeof(*run->memories), compare_memories);
    for (uint32_t i = 0; i < run->memory_count; i++) {
        if (run->memories[i] == launch->memory)
            run->own_memory = i;
        run->keeps[i].all = (launch->flags & ZS_GPU_LAUNCH_KEEP_ALL) != 0;
        run->keeps[i].args = launch->args;
    }
    return 0;
}

void zs_gpu_run_memories_fini(struct zs_gpu_run *run)
{
    for (uint32_t i = 0; run->memories && run->keeps && i < run->memory_count; i++)
        zs_gpu_memory_end_keep(run->memories[i], &run->keeps[i]);
    if (run->memories != &run->single_memory)
        free(run->memories);
    if (run->keeps != &run->single_keep)
        free(run->keeps);
}

static uint64_t changes(const struct zs_gpu_run *run)
{
    uint64_t sum = 0; /* each only grows */
    for (uint32_t i = 0; i < run->memory_count; i++)
        sum += zs_gpu_memory_changes(run->memories[i]);
    return sum;
}

bool zs_gpu_sight_is_stale(const struct zs_gpu_run *run, const struct zs_gpu_sight *sight)
{
    return changes(run) != sight->changes;
}

/* One map of what all pins show, the launch's own memory first. */
static int join(const struct zs_gpu_run *run, struct zs_gpu_sight *sight)
{
    const struct zs_gpu_pin *own = &sight->pins[run->own_memory];
    sight->joined = NULL;
    sight->map = own->map;
    sight->tracked = own->tracked;
    if (run->memory_count == 1 && own->kept.count == 0)
        return 0;
    uint32_t count = 0;
    struct zs_port_map *maps = malloc(2 * (size_t)run->memory_count * sizeof(*maps));
    if (!maps)
        return -ENOMEM;
    maps[count++] = own->map;
    maps[count++] = own->kept;
    for (uint32_t i = 0; i < run->memory_count; i++) {
        if (i == run->own_memory)
            continue;
        sight->tracked |= sight->pins[i].tracked;
        maps[count++] = sight->pins[i].map;
        maps[count++] = sight->pins[i].kept;
    }
    int error = zs_gpu_maps_join(maps, count, &sight->map);
    if (!error)
        sight->joined = (struct zs_port_range *)(uintptr_t)sight->map.ranges;
    free(maps);
    return error;
}

static void unpin(struct zs_gpu_run *run, struct zs_gpu_sight *sight, uint32_t count, bool keep)
{
    for (uint32_t i = 0; i < count; i++)
        zs_gpu_memory_unpin(run->memories[i], &sight->pins[i], keep ? NULL : &run->keeps[i]);
    if (sight->pins != &sight->single)
        free(sight->pins);
    sight->pins = NULL;
}

int zs_gpu_sight_open(struct zs_gpu_run *run, struct zs_gpu_sight *sight)
{
    sight->changes = changes(run);
    sight->pins =
        run->memory_count == 1 ? &sight->single : malloc(run->memory_count * sizeof(*sight->pins));
    if (!sight->pins)
        return -ENOMEM;
    uint32_t pinned = 0;
    int error = 0;
    while (!error && pinned < run->memory_count) {
        error = zs_gpu_memory_pin(run->memories[pinned], &run->keeps[pinned], &sight->pins[pinned]);
        pinned += !error;
    }
    if (!error)
        error = join(run, sight);
    if (error)
        unpin(run, sight, pinned, true);
    return error;
}

void zs_gpu_sight_close(struct zs_gpu_run *run, struct zs_gpu_sight *sight, bool keep)
{
    unpin(run, sight, run->memory_count, keep);
    free(sight->joined);
    sight->joined = NULL;
}
