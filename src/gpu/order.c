/* SPDX-License-Identifier: MIT */
/*
 * What orders threads of a launch beside the barriers of their group: atomics on one place by
 * threads that use fences, and through them all that these threads did before.
 *
 * Such atomics, named barriers, and in kernels that have them the group's barriers too, are written
 * to a log. Whether one access is before another is asked only of pairs that nothing else orders,
 * and answered by a walk through the log from the first one on: a thread that was reached reaches
 * what it is atomic on, who is atomic on that is reached from then on, and a barrier reaches the
 * group. Producers of a named barrier reach it as they signal, and it reaches consumers alone. Of
 * the two threads it counts which barriers they had signalled and waited for: they may do something
 * between the two. Vector clocks would answer sooner and would have to be kept for every thread of
 * the launch.
 */
#include "gpu/check.h"

#include "base/vec.h"

#include <stdlib.h>

enum { LOG_MAX = 1 << 24, OBJECTS_MAX = 1 << 22 };
/* What an entry does to its object; BARRIER: which one of the group's, in place of an object. */
enum { BOTH, REACHES, IS_REACHED, ENDS, BARRIER, KIND_SHIFT = 29 };
#define NUMBER_MASK ((1u << KIND_SHIFT) - 1)
static const uint64_t STEPS_MAX = UINT64_C(1) << 30, THREADS_MAX = UINT64_C(1) << 24;

void zs_check_order_init(struct zs_check_order *o, struct zs_gpu_device *device, uint64_t groups,
                         uint32_t threads_per_group)
{
    *o = (struct zs_check_order){.device = device,
                                 .groups = groups,
                                 .threads = groups * threads_per_group,
                                 .threads_per_group = threads_per_group};
}

void zs_check_order_fini(struct zs_check_order *o)
{
    zs_gpu_block_put(o->device, &o->log_block);
    zs_id_map_fini(&o->objects);
    free(o->thread_seen);
    free(o->group_any);
    free(o->group_all);
    free(o->object_seen.items);
}

static bool make_room(struct zs_check_order *o)
{
    if (o->thread_seen)
        return true;
    if (o->threads > THREADS_MAX)
        return false;
    o->thread_seen = calloc(o->threads, sizeof(uint32_t));
    o->group_any = calloc(o->groups, sizeof(uint32_t));
    o->group_all = calloc(o->groups, sizeof(uint32_t));
    if (o->thread_seen && o->group_any && o->group_all &&
        !zs_gpu_block_get(o->device, LOG_MAX * sizeof(*o->log.items), &o->log_block)) {
        o->log.items = (void *)o->log_block.data;
        return true;
    }
    free(o->thread_seen);
    free(o->group_any);
    free(o->group_all);
    o->thread_seen = o->group_any = o->group_all = NULL;
    return false;
}

static inline void add(struct zs_check_order *o, uint64_t who, uint32_t kind, uint32_t object)
{
    if (o->full || o->log.count >= LOG_MAX || !make_room(o)) {
        o->full = true;
        return;
    }
    o->log.items[o->log.count].who = (uint32_t)who;
    o->log.items[o->log.count++].object = kind << KIND_SHIFT | object;
}

static uint32_t find_object(struct zs_check_order *o, uint64_t where, uint64_t space)
{
    uintptr_t number = (uintptr_t)zs_id_map_get(&o->objects, where, space);
    if (number)
        return (uint32_t)number;
    if (o->object_count >= OBJECTS_MAX || !ZS_VEC_PUSH(&o->object_seen, 0) ||
        zs_id_map_put(&o->objects, where, space, (void *)(uintptr_t)(o->object_count + 1))) {
        o->full = true;
        return 1;
    }
    return ++o->object_count;
}

static inline uint32_t object_of(struct zs_check_order *o, uint64_t where, uint64_t space)
{
    size_t slot = (where / 4 + space * 61) % ZS_ARRAY_LEN(o->recent);
    if (!o->recent[slot].number || o->recent[slot].where != where ||
        o->recent[slot].space != space) {
        o->recent[slot].number = find_object(o, where, space);
        o->recent[slot].where = where;
        o->recent[slot].space = space;
    }
    return o->recent[slot].number;
}

void zs_check_order_atomic(struct zs_check_order *o, uint64_t group, uint32_t thread,
                           uint64_t where, uint64_t space)
{
    uint32_t object = object_of(o, where, space);
    if (!o->full)
        add(o, group * o->threads_per_group + thread, BOTH, object);
}

void zs_check_order_lanes(struct zs_check_order *o, uint64_t group, uint32_t thread,
                          const uint64_t *addresses, uint32_t lanes, uint64_t space)
{
    uint64_t who = group * o->threads_per_group + thread, before = UINT64_MAX;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t where = addresses[__builtin_ctz(lanes)];
        if (where == before)
            continue;
        before = where;
        uint32_t object = object_of(o, where, space);
        if (!o->full)
            add(o, who, BOTH, object);
    }
}

void zs_check_order_barrier(struct zs_check_order *o, uint64_t group, uint32_t number)
{
    add(o, group, BARRIER, number & NUMBER_MASK);
}

/* No address is that high. */
static uint32_t named_object(struct zs_check_order *o, uint64_t group, uint32_t barrier)
{
    return object_of(o, barrier * 4, UINT64_MAX - group);
}

void zs_check_order_signal(struct zs_check_order *o, uint64_t group, uint32_t thread,
                           uint32_t barrier)
{
    uint32_t object = named_object(o, group, barrier);
    if (!o->full)
        add(o, group * o->threads_per_group + thread, REACHES, object);
}

void zs_check_order_named(struct zs_check_order *o, uint64_t group, uint32_t barrier,
                          uint64_t consumers)
{
    uint32_t object = named_object(o, group, barrier);
    for (; consumers && !o->full; consumers &= consumers - 1)
        add(o, group * o->threads_per_group + (uint32_t)__builtin_ctzll(consumers), IS_REACHED,
            object);
    if (!o->full)
        add(o, group, ENDS, object);
}

static bool is_reached(const struct zs_check_order *o, uint64_t thread)
{
    return o->thread_seen[thread] == o->search ||
           o->group_all[thread / o->threads_per_group] == o->search;
}

static void reach(struct zs_check_order *o, uint64_t thread)
{
    o->thread_seen[thread] = o->search;
    o->group_any[thread / o->threads_per_group] = o->search;
}

/* The two threads that are asked for. */
struct question {
    const struct zs_check_record *from;
    uint64_t group;
    uint32_t passed;
    bool is_behind; /* a barrier that the second one has waited for */
};

static void step_barrier(struct zs_check_order *o, uint32_t group, uint32_t number,
                         struct question *q)
{
    bool is_sources = group == q->from->group && number > q->from->signals;
    if (o->group_any[group] != o->search && !is_sources)
        return;
    o->group_all[group] = o->search;
    q->is_behind |= group == q->group && number <= q->passed;
}

static void step(struct zs_check_order *o, uint32_t who, uint32_t entry, struct question *q)
{
    uint32_t kind = entry >> KIND_SHIFT, object = entry & NUMBER_MASK;
    if (kind == BARRIER) {
        step_barrier(o, who, object, q);
        return;
    }
    uint32_t *seen = &o->object_seen.items[object - 1];
    if (kind == ENDS) {
        *seen = 0;
        return;
    }
    bool was_reached = is_reached(o, who), was_seen = *seen == o->search;
    if (was_seen && kind != REACHES && o->thread_seen[who] != o->search)
        reach(o, who);
    if (was_reached && kind != IS_REACHED)
        *seen = o->search;
}

bool zs_check_ordered(struct zs_check_order *o, const struct zs_check_record *from, uint64_t group,
                      uint32_t thread, uint32_t passed)
{
    if (o->full || o->steps > STEPS_MAX) {
        o->full = true;
        return true;
    }
    if (!o->log.count || from->log_at >= o->log.count)
        return false;
    struct question q = {.from = from, .group = group, .passed = passed};
    uint64_t asked = group * o->threads_per_group + thread;
    o->search++;
    o->thread_seen[(uint64_t)from->group * o->threads_per_group + from->thread] = o->search;
    for (size_t i = from->log_at; i < o->log.count; i++)
        step(o, o->log.items[i].who, o->log.items[i].object, &q);
    o->steps += o->log.count - from->log_at;
    return o->thread_seen[asked] == o->search || q.is_behind;
}
