/* SPDX-License-Identifier: MIT */
/* What both formats share. */
#include "report/timeline_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int timeline_flush(struct timeline *t, bool all)
{
    if (t->out.error)
        return -ENOMEM;
    if (!t->status && t->out.size_B && (all || t->out.size_B > 1 << 18)) {
        t->status = t->write(t->user, zs_span_make((const uint8_t *)t->out.data, t->out.size_B));
        t->out.size_B = 0;
    }
    return t->status;
}

int timeline_lane(struct timeline *t, const struct zs_act_execute *e, bool *ret_new)
{
    struct lane *lane = NULL;
    for (size_t i = 0; i < t->lane_count && !lane; i++)
        if (t->lanes[i].process == e->process && t->lanes[i].queue_id == e->queue_id)
            lane = &t->lanes[i];
    if (!lane) {
        struct {
            struct lane *items;
            size_t count, capacity;
        } v = {t->lanes, t->lane_count, t->lane_capacity};
        if (!ZS_VEC_PUSH(&v, ((struct lane){.process = e->process, .queue_id = e->queue_id})))
            return -1;
        t->lanes = v.items;
        t->lane_count = v.count;
        t->lane_capacity = v.capacity;
        lane = &v.items[v.count - 1];
    }
    int i = 0;
    while (i < ZS_TIMELINE_LANES_MAX - 1 && lane->ends_ns[i] > e->start_ns)
        i++;
    *ret_new = !lane->ends_ns[i];
    lane->ends_ns[i] = ZS_MAX(e->end_ns, 1u);
    return i;
}

const char *timeline_name(const struct zs_act_append *append, char *buffer, size_t size_B)
{
    if (append->kind == ZS_ACTIVITY_KERNEL)
        return append->kernel ? append->kernel->name : "(unknown kernel)";
    if (append->kind != ZS_ACTIVITY_COPY && append->kind != ZS_ACTIVITY_FILL)
        return zs_act_kind_name(append->kind);
    char direction[48];
    zs_act_direction(append, direction, sizeof(direction));
    snprintf(buffer, size_B, "%s%s", append->kind == ZS_ACTIVITY_COPY ? "copy " : "", direction);
    return buffer;
}

void timeline_queue_name(const struct zs_act_execute *e, int lane, char *ret_text, size_t size_B)
{
    const struct zs_act_queue *q = e->queue;
    const char *device = q && q->device ? q->device->name : "device n/a";
    int n =
        snprintf(ret_text, size_B, "%.120s: %s %u, engine %u.%u", device,
                 q && q->immediate ? "immediate list" : "queue",
                 (unsigned)ZS_MIN(e->queue_id, UINT32_MAX), q ? q->ordinal : 0, q ? q->index : 0);
    if (lane && n > 0 && (size_t)n < size_B)
        snprintf(ret_text + n, size_B - (size_t)n, " (overlap %d)", lane);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 29;
}

uint64_t timeline_flow(const struct zs_act_append *append)
{
    return mix(mix(append->process + 1) ^ append->id) | 1;
}

struct live {
    uint64_t process, handle, size_B;
};

/* Open addressing over all allocations; size_B == UINT64_MAX: free again. */
static struct live *live_find(struct live *table, size_t capacity, const struct zs_act_object *o)
{
    size_t i = (size_t)mix(o->handle ^ mix(o->process)) & (capacity - 1);
    while (table[i].handle && (table[i].handle != o->handle || table[i].process != o->process))
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

/* Processes are few: a linear search for their sums. */
static uint64_t *sum_of(struct live *sums, const struct zs_act_object *o)
{
    size_t i = 0;
    while (i < 255 && sums[i].handle && sums[i].process != o->process)
        i++;
    sums[i].handle = 1;
    sums[i].process = o->process;
    return &sums[i].size_B;
}

int timeline_memory(struct timeline *t,
                    int (*put)(struct timeline *t, const struct zs_act_object *o, uint64_t live_B))
{
    size_t capacity = 64;
    while (capacity < t->activities.objects.count * 2)
        capacity *= 2;
    struct live *table = calloc(capacity, sizeof(*table)), *sums = calloc(256, sizeof(*sums));
    int error = table && sums ? 0 : -ENOMEM;
    for (size_t i = 0; i < t->activities.objects.count && !error; i++) {
        const struct zs_act_object *o = &t->activities.objects.items[i];
        if (o->type >= ZS_ACT_ALLOCATION_TYPES)
            continue;
        struct live *l = live_find(table, capacity, o);
        uint64_t *sum_B = sum_of(sums, o);
        *sum_B -= ZS_MIN(l->size_B, *sum_B);
        *l = (struct live){o->process, o->handle, o->is_create ? o->size_B : 0};
        *sum_B += l->size_B;
        error = put(t, o, *sum_B);
    }
    free(table);
    free(sums);
    return error;
}

void timeline_free(struct timeline *t)
{
    zs_activities_free(&t->activities);
    zs_buf_fini(&t->out);
    free(t->lanes);
}
