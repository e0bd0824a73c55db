/* SPDX-License-Identifier: MIT */
/* Queries around launches: see activity_metrics.h. */
#include "collect/activity_metrics.h"
#include "collect/activity_shape.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_STEP_NS = 50000, WAIT_STEPS = 2000 };

#define ARG(type, i) (*(type *)event->params[i])

/* ---- those under way ---- */

static void link_measure(struct act_meter *meter, struct act_measure *m)
{
    m->under_way = true;
    m->next = NULL;
    m->prev = meter->last;
    if (meter->last)
        meter->last->next = m;
    else
        meter->first = m;
    meter->last = m;
    m->chunk->device->under_way++;
}

static void unlink_measure(struct act_meter *meter, struct act_measure *m)
{
    if (!m->under_way)
        return;
    m->under_way = m->pending = m->overlapped = false;
    if (m->prev)
        m->prev->next = m->next;
    else
        meter->first = m->next;
    if (m->next)
        m->next->prev = m->prev;
    else
        meter->last = m->prev;
    m->next = m->prev = NULL;
    m->chunk->device->under_way--;
}

static void give_back(struct act_measure *m)
{
    m->list = NULL;
    m->next = m->chunk->free;
    m->chunk->free = m;
}

/* ---- making them ---- */

static void chunk_free(struct zs_activity *a, struct meter_chunk *chunk)
{
    const struct zs_collect_api *api = &a->collector->api;
    for (uint32_t i = 0; i < chunk->count; i++)
        for (uint32_t g = 0; g < chunk->group_count; g++)
            if (chunk->measures[i].queries[g])
                api->zetMetricQueryDestroy(chunk->measures[i].queries[g]);
    for (uint32_t g = 0; g < chunk->group_count; g++)
        if (chunk->pools[g])
            api->zetMetricQueryPoolDestroy(chunk->pools[g]);
    free(chunk);
}

static bool fill_chunk(struct zs_activity *a, struct meter_chunk *chunk)
{
    const struct zs_collect_api *api = &a->collector->api;
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = chunk->count};
    for (uint32_t g = 0; g < chunk->group_count; g++) {
        if (api->zetMetricQueryPoolCreate(chunk->context->handle, chunk->device->device->handle,
                                          chunk->groups[g]->handle, &desc, &chunk->pools[g])) {
            chunk->pools[g] = NULL;
            return false;
        }
        for (uint32_t i = 0; i < chunk->count; i++)
            if (api->zetMetricQueryCreate(chunk->pools[g], i, &chunk->measures[i].queries[g])) {
                chunk->measures[i].queries[g] = NULL;
                return false;
            }
    }
    return true;
}

/* Pools are made under the lock: as those of events are, once for many launches. */
static struct meter_chunk *more(struct zs_activity *a, struct act_context *context,
                                struct meter_device *device, uint32_t set)
{
    uint32_t count = METER_MEASURES_FIRST;
    for (const struct meter_chunk *c = context->measures; c; c = c->next)
        if (c->device == device && c->set == set)
            count = ZS_MAX(count, ZS_MIN(c->count * 2, (uint32_t)METER_MEASURES_CHUNK_MAX));
    if (context->no_measures || context->measure_count + count > METER_MEASURES_MAX)
        return NULL;
    struct meter_chunk *chunk =
        calloc(1, sizeof(*chunk) + (size_t)count * sizeof(struct act_measure));
    if (!chunk)
        return NULL;
    chunk->context = context;
    chunk->device = device;
    chunk->set = set;
    chunk->count = count;
    for (uint32_t i = 0; i < device->group_count; i++)
        if (device->groups[i].set == set)
            chunk->groups[chunk->group_count++] = &device->groups[i];
    if (!fill_chunk(a, chunk)) {
        chunk_free(a, chunk);
        context->no_measures = true;
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        chunk->measures[i].chunk = chunk;
        give_back(&chunk->measures[i]);
    }
    chunk->next = context->measures;
    context->measures = chunk;
    context->measure_count += count;
    return chunk;
}

static struct act_measure *free_measure(struct zs_activity *a, struct act_context *context,
                                        struct meter_device *device, uint32_t set)
{
    struct meter_chunk *chunk = context->measures;
    while (chunk && (chunk->device != device || chunk->set != set || !chunk->free))
        chunk = chunk->next;
    if (!chunk)
        chunk = more(a, context, device, set);
    if (!chunk)
        return NULL;
    struct act_measure *m = chunk->free;
    if (!m->done)
        m->done = act_event_take(a, context);
    if (!m->done)
        return NULL;
    chunk->free = m->next;
    m->next = NULL;
    return m;
}

/* Which set of groups the launch is measured with, and that it is active. A regular list keeps the
 * set that it began with. */
static bool choose_set(struct zs_activity *a, struct act_list *list, struct meter_device *d)
{
    bool idle = !d->under_way;
    if (a->meter->run || d->set_count == 1)
        return true;
    bool is_new = list->immediate || !list->has_set;
    if (is_new && idle && d->turns++ && !act_meter_activate(a, d, (d->active + 1) % d->set_count))
        return false;
    if (is_new)
        list->set = d->active;
    list->has_set = true;
    return list->set == d->active || (idle && act_meter_activate(a, d, list->set));
}

struct act_measure *act_measure_take(struct zs_activity *a, struct act_list *list)
{
    struct meter_device *d = list->device ? list->device->meter : NULL;
    enum meter_reason reason = METER_NO_QUERIES;
    struct act_measure *m = NULL;
    if (!d || !d->is_ready || !list->context)
        return NULL; /* said in a note */
    if (d->is_yielded)
        reason = METER_APPLICATION;
    else if (list->is_cloneable || list->next_command)
        reason = METER_KIND;
    else if (!choose_set(a, list, d))
        reason = METER_SET;
    else if (d->under_way < METER_UNDER_WAY_MAX)
        m = free_measure(a, list->context, d, d->active);
    if (!m) {
        act_meter_unmeasured(a, reason, 1);
        return NULL;
    }
    m->list = list;
    m->is_immediate = list->immediate;
    m->begun = 0;
    m->is_broken = false;
    return m;
}

/* ---- commands ---- */

/* The driver refused something. What was begun is ended all the same, and not used again: whether
 * it will ever be signalled is not known. */
static void give_up(struct zs_activity *a, struct act_measure *m)
{
    act_relock(a, NULL);
    if (m->pending)
        act_meter_unmeasured(a, METER_REFUSED, 1);
    m->is_broken = true;
    unlink_measure(a->meter, m);
    if (m->is_immediate && !m->begun)
        give_back(m);
    act_unlock(a);
}

void act_measure_begin(struct zs_activity *a, const struct zs_trace_event *event,
                       struct zs_activity_call *call)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct act_measure *m = call->measure;
    const struct act_append_call *what = act_append_call_of(event->call);
    ze_command_list_handle_t list = ARG(ze_command_list_handle_t, 0);
    ze_result_t result = api->zeCommandListAppendBarrier(
        list, NULL, ARG(uint32_t, what->signal + 1), ARG(ze_event_handle_t *, what->signal + 2));
    for (uint32_t i = 0; i < m->chunk->group_count && !result; i++) {
        result = api->zetCommandListAppendMetricQueryBegin(list, m->queries[i]);
        m->begun += !result;
    }
    if (!result)
        return;
    if (!m->begun)
        call->measure = NULL;
    give_up(a, m);
}

/* Behind the last of these commands another thread may read the measure and use it again. */
void act_measure_end(struct zs_activity *a, const struct zs_trace_event *event,
                     struct zs_activity_call *call)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct act_measure *m = call->measure;
    ze_command_list_handle_t list = ARG(ze_command_list_handle_t, 0);
    if (*event->result) {
        act_relock(a, NULL);
        m->pending = false; /* there was no launch */
        act_unlock(a);
    }
    ze_result_t result = api->zeCommandListAppendBarrier(list, NULL, 0, NULL);
    for (uint32_t i = m->begun; i-- > 0;) {
        ze_result_t ended =
            api->zetCommandListAppendMetricQueryEnd(list, m->queries[i], NULL, 0, NULL);
        result = result ? result : ended;
    }
    if (m->is_broken)
        return;
    if (result || api->zeCommandListAppendBarrier(list, m->done->handle, 0, NULL))
        give_up(a, m);
}

/* ---- executions ---- */

void act_measure_submit(struct zs_activity *a, struct act_measure *m, uint64_t append,
                        uint64_t submit_ns)
{
    const struct meter_device *d = m->chunk->device;
    if (m->is_broken) {
        act_meter_unmeasured(a, METER_REFUSED, submit_ns != 0);
        return;
    }
    if (m->under_way)
        act_measure_poll(a, m, false);
    if (m->pending)
        act_meter_unmeasured(a, METER_AGAIN, 1);
    m->overlapped = m->under_way;
    if (!m->under_way)
        link_measure(a->meter, m);
    m->append = append;
    m->submit_ns = submit_ns;
    m->pending = submit_ns != 0;
    if (!m->pending || (d->active == m->chunk->set && !d->is_yielded))
        return;
    m->pending = false;
    act_meter_unmeasured(a, d->is_yielded ? METER_APPLICATION : METER_SET, 1);
}

void act_measure_revoke(struct zs_activity *a, struct act_measure *m)
{
    if (m->overlapped)
        m->pending = false; /* an earlier execution may still be under way */
    else
        unlink_measure(a->meter, m);
}

/* False: its data is not there yet. */
static bool read_query(struct zs_activity *a, const struct act_measure *m, uint32_t i)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct act_meter *meter = a->meter;
    const struct meter_group *group = m->chunk->groups[i];
    size_t size_B = 0;
    if (api->zetMetricQueryGetData(m->queries[i], &size_B, NULL) ||
        !act_meter_raw_room(meter, size_B) ||
        api->zetMetricQueryGetData(m->queries[i], &size_B, meter->raw))
        return false;
    uint32_t count = act_meter_calculate(a, meter, group, meter->raw, size_B);
    /* groups that tell addresses give a set of values for each; of others, sets are of tiles, and
     * what they are together is not known */
    if (!count || count % group->metric_count ||
        (count != group->metric_count && !group->has_places)) {
        act_meter_unmeasured(a, METER_NO_VALUES, 1);
        count = 0;
    }
    act_write_query(a->file, group, m->append, m->submit_ns, zs_span_make(meter->raw, size_B),
                    meter->typed, count);
    return true;
}

void act_measure_poll(struct zs_activity *a, struct act_measure *m, bool is_proof)
{
    const struct zs_collect_api *api = &a->collector->api;
    if (!m->under_way || m->is_broken || (m->overlapped && !is_proof) || (m->pending && !a->file) ||
        api->zeEventQueryStatus(m->done->handle))
        return;
    for (uint32_t i = 0; m->pending && i < m->chunk->group_count; i++)
        if (!read_query(a, m, i) && i == 0)
            return;
    for (uint32_t i = 0; i < m->chunk->group_count; i++)
        api->zetMetricQueryReset(m->queries[i]);
    api->zeEventHostReset(m->done->handle);
    unlink_measure(a->meter, m);
    if (m->is_immediate)
        give_back(m);
}

void act_measures_poll(struct zs_activity *a, uint32_t misses)
{
    for (struct act_measure *m = a->meter->first, *next; m && misses; m = next) {
        next = m->next;
        act_measure_poll(a, m, false);
        misses -= m->under_way;
    }
}

/* ---- the end of lists and contexts ---- */

static void settle(struct zs_activity *a, struct act_measure *m)
{
    act_measure_poll(a, m, true);
    if (m->pending)
        act_meter_unmeasured(a, METER_NOT_OVER, 1);
    a->collector->api.zeEventHostReset(m->done->handle);
    unlink_measure(a->meter, m);
}

void act_measure_leave(struct zs_activity *a, struct act_measure *m)
{
    settle(a, m);
    m->list = NULL;
    if (!m->is_broken || !m->begun)
        give_back(m);
}

void act_measures_forget(struct zs_activity *a, const struct act_list *list)
{
    for (struct act_measure *m = a->meter->first, *next; m; m = next) {
        next = m->next;
        if (m->list != list || !m->is_immediate)
            continue;
        settle(a, m);
        if (m->list && !m->is_broken)
            give_back(m);
    }
}

void act_measures_drop(struct zs_activity *a, struct act_context *context)
{
    for (struct act_measure *m = a->meter->first, *next; m; m = next) {
        next = m->next;
        if (m->chunk->context == context)
            settle(a, m);
    }
    while (context->measures) {
        struct meter_chunk *chunk = context->measures;
        context->measures = chunk->next;
        chunk_free(a, chunk);
    }
    context->measure_count = 0;
    context->no_measures = false;
}

/* Whether our commands behind a launch of the list that is over are not. */
static bool is_behind(struct zs_activity *a, ze_command_list_handle_t handle)
{
    const struct zs_collect_api *api = &a->collector->api;
    const struct act_list *list = act_find(a, ACT_LIST, handle);
    for (const struct act_measure *m = list ? a->meter->first : NULL; m; m = m->next)
        if (m->list == list && !m->is_broken && api->zeEventQueryStatus(m->done->handle))
            return true;
    return false;
}

void act_measures_wait(struct zs_activity *a, ze_command_list_handle_t list)
{
    const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
    bool behind = true;
    for (int i = 0; i < WAIT_STEPS && behind; i++) {
        act_relock(a, NULL);
        behind = is_behind(a, list);
        act_unlock(a);
        if (behind)
            nanosleep(&step, NULL);
    }
}
