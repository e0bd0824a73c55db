/* SPDX-License-Identifier: MIT */
/* What both formats share. */
#include "report/timeline_priv.h"

#include "base/arena.h"
#include "base/heap.h"
#include "base/id_map.h"
#include "base/vec.h"
#include "record/metrics_numbers.h"

#include <errno.h>
#include <math.h>
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
    const char *device = q && q->device ? q->device->label : "device n/a";
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

static int put_earliest(struct timeline *t)
{
    struct timeline_execute earliest = t->early.items[0];
    ZS_HEAP_POP(&t->early, execute.start_ns);
    earliest.execute.append = &earliest.append;
    return t->put_slice(t, &earliest.execute);
}

int timeline_on_execute(void *user, const struct zs_act_execute *e)
{
    struct timeline *t = user;
    bool shown = e->append && e->end_ns;
    t->result->slices += shown;
    t->result->untimed += !shown;
    if (!shown)
        return 0;
    if (!ZS_VEC_PUSH(&t->early, ((struct timeline_execute){*e, *e->append})))
        return -ENOMEM;
    ZS_HEAP_UP(&t->early, execute.start_ns);
    return t->early.count > TIMELINE_REORDER_MAX ? put_earliest(t) : 0;
}

int timeline_end(struct timeline *t)
{
    int status = 0;
    while (t->early.count && !status)
        status = put_earliest(t);
    return status;
}

/* Processes are few: a linear search for their sums. */
int timeline_on_object(void *user, const struct zs_act_object *o)
{
    struct timeline *t = user;
    size_t i = 0;
    if (o->type >= ZS_ACT_ALLOCATION_TYPES)
        return 0;
    while (i < t->process_count && t->memory[i].process != o->process)
        i++;
    if (i == TIMELINE_PROCESSES_MAX)
        return 0;
    bool is_first = i == t->process_count;
    t->process_count += is_first;
    t->memory[i].process = o->process;
    uint64_t *live_B = &t->memory[i].live_B;
    *live_B = o->is_create ? *live_B + o->size_B : *live_B - ZS_MIN(o->size_B, *live_B);
    return t->put_memory(t, o, *live_B, is_first);
}

int timeline_on_metric(void *user, uint64_t process, struct zs_span record, uint64_t time_ns)
{
    struct timeline *t = user;
    t->has_metrics = true;
    return 0;
}

/* What was put last for each metric of a group in a process; NaN: nothing was. A counter keeps its
 * value, so that is put again only when it changes. NULL: no memory. */
static double *last_of(struct zs_id_map *seen, struct zs_arena *arena,
                       const struct zs_metric_report *r, uint32_t metric_count)
{
    double *last = zs_id_map_get(seen, r->process, r->group);
    if (last)
        return last;
    last = ZS_ARENA_ARRAY(arena, (size_t)metric_count + 1, double);
    for (uint32_t i = 0; last && i < metric_count; i++)
        last[i] = NAN;
    return last && !zs_id_map_put(seen, r->process, r->group, last) ? last : NULL;
}

static int put_change(struct timeline *t, const struct timeline_counter *counter, uint64_t time_ns,
                      double value, double *last)
{
    if (value == *last)
        return 0;
    struct timeline_counter changed = *counter;
    changed.is_first = isnan(*last);
    *last = isnan(value) ? 0 : value;
    return t->put_counter(t, &changed, time_ns, *last);
}

static int put_report(struct timeline *t, const struct zs_metrics *metrics,
                      const struct zs_metric_report *r, double *last)
{
    uint32_t count;
    char name[640];
    int status = 0;
    const struct zs_metric_group *g = &zs_metrics_groups(metrics, &count)[r->group];
    for (uint32_t i = 0; i < g->metric_count && !status; i++) {
        const struct zs_metric *m = &g->metrics[i];
        if (m->total == ZS_METRIC_TOTAL_NONE || i == g->time)
            continue;
        snprintf(name, sizeof(name), "%.255s (%.100s), %.255s", m->name, m->units, g->name);
        const struct timeline_counter counter = {r->process, r->group, i, false, name};
        status = put_change(t, &counter, r->start_ns, zs_metrics_number(metrics, r, i), &last[i]);
        if (!status && !g->is_time_based)
            status = put_change(t, &counter, r->end_ns, 0, &last[i]);
    }
    return status;
}

int timeline_metrics(struct timeline *t, const char *recording, struct zs_diag *diag)
{
    struct zs_metrics *metrics;
    struct zs_id_map seen = {0};
    struct zs_arena arena;
    uint32_t group_count;
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    if (!t->has_metrics)
        return 0;
    int status = zs_metrics_open_numbers(recording, &metrics, diag);
    if (status)
        return status;
    zs_arena_init(&arena, (size_t)1 << 30);
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &group_count);
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    int next = 0;
    while (!status && (next = zs_metrics_next(cursor, &launch, &report)) > 0) {
        if (!report || !report->end_ns)
            continue;
        double *last = last_of(&seen, &arena, report, groups[report->group].metric_count);
        status = last ? put_report(t, metrics, report, last) : -ENOMEM;
    }
    status = status ? status : next;
    zs_metrics_cursor_close(cursor);
    zs_id_map_fini(&seen);
    zs_arena_fini(&arena);
    zs_metrics_close(metrics);
    return status;
}

void timeline_free(struct timeline *t)
{
    zs_activities_free(&t->activities);
    zs_buf_fini(&t->out);
    free(t->lanes);
    free(t->early.items);
}
