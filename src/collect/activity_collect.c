/* SPDX-License-Identifier: MIT */
/* Which executions are over, and what became of their timestamps: see the top of activity.h. */
#include "collect/activity_metrics.h"

#include "base/vec.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void link_pending(struct zs_activity *a, struct act_list *list)
{
    if (list->is_linked)
        return;
    list->is_linked = true;
    list->prev_pending = NULL;
    list->next_pending = a->pending;
    if (a->pending)
        a->pending->prev_pending = list;
    a->pending = list;
}

static void unlink_pending(struct zs_activity *a, struct act_list *list)
{
    if (!list->is_linked)
        return;
    list->is_linked = false;
    if (list->prev_pending)
        list->prev_pending->next_pending = list->next_pending;
    else
        a->pending = list->next_pending;
    if (list->next_pending)
        list->next_pending->prev_pending = list->prev_pending;
}

/* Ids of one list ascend. */
static uint64_t next_id(struct zs_activity *a, struct act_list *list)
{
    if (list->immediate)
        return ++a->next_append; /* in the order of all of them: who waits compares */
    if (list->next_id == list->ids_end) {
        list->next_id = a->next_append + 1;
        list->ids_end = list->next_id + ACT_IDS;
        a->next_append += ACT_IDS;
    }
    return list->next_id++;
}

static void record_back(struct zs_activity *a, struct act_append *append)
{
    append->next = a->free_appends;
    a->free_appends = append;
}

static struct act_append *record_new(struct zs_activity *a)
{
    struct act_append *append = a->free_appends;
    if (append) {
        a->free_appends = append->next;
        return append;
    }
    append = aligned_alloc(alignof(struct act_append), ACT_RECORDS_CHUNK * sizeof(*append));
    if (!append)
        return NULL;
    memset(append, 0, ACT_RECORDS_CHUNK * sizeof(*append));
    for (size_t i = 1; i < ACT_RECORDS_CHUNK; i++)
        record_back(a, &append[i]);
    return append;
}

/* Room for so many more. */
static bool make_room(struct act_list *list, size_t more)
{
    if (list->first && list->count + more > list->capacity) {
        for (size_t i = list->first; i < list->count; i++)
            list->appends[i - list->first] = list->appends[i];
        list->count -= list->first;
        list->first = 0;
    }
    if (list->count + more <= list->capacity)
        return true;
    size_t capacity = ZS_MAX(2 * list->capacity, list->count + more);
    struct act_append **bigger = realloc(list->appends, capacity * sizeof(*bigger));
    if (!bigger)
        return false;
    list->appends = bigger;
    list->capacity = capacity;
    return true;
}

void act_list_supply(struct zs_activity *a, struct act_list *list)
{
    /* as much as it has shown to need: lists of one append are many */
    size_t count = ZS_MIN(list->count, (size_t)ACT_SUPPLY_MAX);
    if (list->immediate || list->is_cloneable || list->spare || !count)
        return;
    if (!make_room(list, count))
        return;
    if (list->next_id == list->ids_end)
        list->next_id = next_id(a, list); /* a new block, from its first on */
    for (size_t i = 0; i < count; i++) {
        struct act_event *event = act_event_take(a, list->context);
        struct act_append *append = event ? record_new(a) : NULL;
        if (!append) {
            if (event)
                act_event_give(event);
            return;
        }
        append->event = event;
        append->next = list->spare;
        list->spare = append;
        list->spare_count++;
    }
}

static void append_start(struct act_list *list, struct act_append *append, struct act_event *event,
                         uint64_t id)
{
    list->appends[list->count++] = append;
    memset(append, 0, offsetof(struct act_append, slot));
    append->id = id;
    append->list = list;
    append->event = event;
    append->in_call = true;
}

struct act_append *act_append_supplied(struct act_list *list)
{
    struct act_append *append = list->spare;
    if (!append || list->count == list->capacity || list->next_id == list->ids_end)
        return NULL;
    struct act_append *next = append->next; /* was fetched two appends ago */
    list->spare = next;
    list->spare_count--;
    if (next) {
        __builtin_prefetch(next->event, 1);
        __builtin_prefetch(next->next, 1);
    }
    append_start(list, append, append->event, list->next_id++);
    return append;
}

struct act_append *act_append_new(struct zs_activity *a, struct act_list *list,
                                  struct act_event *event)
{
    struct act_append *append = make_room(list, 1) ? record_new(a) : NULL;
    if (!append)
        return NULL;
    append_start(list, append, event, next_id(a, list));
    if (event) {
        struct act_append *before = event->appended;
        if (before && before->list == list && !before->slot)
            before->shared = true;
        event->appended = append;
        event->references++;
    }
    return append;
}

void act_list_give_back(struct zs_activity *a, struct act_list *list)
{
    while (list->spare) {
        struct act_append *append = list->spare;
        list->spare = append->next;
        act_event_give(append->event);
        append->event = NULL;
        record_back(a, append);
    }
    list->spare_count = 0;
}

/* Nobody asks it for this append any more. */
static void forget_owner(struct act_event *event, const struct act_append *append)
{
    if (event->appended == append)
        event->appended = NULL;
    if (event->owner == append)
        event->owner = NULL;
}

static void leave_event(struct act_append *append)
{
    struct act_event *event = append->event;
    append->event = NULL;
    if (!event)
        return;
    forget_owner(event, append);
    if (event->is_own)
        act_event_give(event);
    else if (!--event->references && !event->has_timestamps)
        free(event);
}

/* An event of ours and its record stay together, with a list that is built again and again. Where
 * events are short they are everybody's. */
static bool stays_with(const struct act_list *list, const struct act_append *append)
{
    const struct act_context *context = list->context;
    return !list->immediate && !append->in_call && append->event && append->event->is_own &&
           list->spare_count <
               (context->event_count < ACT_EVENTS_MAX / 2 ? ACT_KEEP_MAX : ACT_SUPPLY_MAX);
}

static void drop_more(struct zs_activity *a, struct act_append *append)
{
    if (append->slot)
        act_slot_give(append->slot);
    free(append->deferred);
    if (append->measure)
        act_measure_leave(a, append->measure);
    memset(&append->slot, 0, sizeof(*append) - offsetof(struct act_append, slot));
    append->has_more = false;
}

static void append_free(struct zs_activity *a, struct act_append *append)
{
    struct act_list *list = append->list;
    if (ZS_UNLIKELY(append->has_more))
        drop_more(a, append);
    append->list = NULL;
    if (stays_with(list, append)) {
        forget_owner(append->event, append);
        append->next = list->spare;
        list->spare = append;
        list->spare_count++;
        return;
    }
    leave_event(append);
    if (!append->in_call) /* else its call gives it back */
        record_back(a, append);
}

void act_append_done(struct zs_activity *a, struct act_append *append, bool ok)
{
    append->in_call = false;
    if (!append->list) {
        record_back(a, append);
        return;
    }
    if (ok)
        return;
    append->cancelled = true;
    append->list->pending -= append->outstanding;
    append->outstanding = append->muted = 0;
}

static void settle(struct act_append *append)
{
    append->list->pending -= append->outstanding;
    append->outstanding = append->muted = 0;
}

static void write_unknown(struct zs_activity *a, struct act_append *append)
{
    append->maybe_set |= append->outstanding > 0;
    for (uint32_t i = append->muted; i < append->outstanding; i++)
        act_write_execute(a, append->list, append->id, append->list->queue, append->recorded_ns,
                          NULL);
    settle(append);
}

void act_append_retarget(struct zs_activity *a, struct act_append *append, struct act_event *event)
{
    act_collect_append(a, append, false);
    if (append->list && append->outstanding)
        write_unknown(a, append);
    if (append->event && append->event->is_own)
        a->collector->api.zeEventHostReset(append->event->handle);
    act_list_hold(append->list);
    leave_event(append);
    act_list_release(append->list);
    append->event = event;
    if (event) {
        event->appended = append;
        event->references++;
    }
}

void act_append_defer(struct act_append *append, const struct act_shape *shape)
{
    struct act_deferred *d = append->list ? malloc(sizeof(*d)) : NULL;
    if (!d)
        return;
    *d = (struct act_deferred){.time_ns = zs_trace_now_ns(), .shape = *shape};
    append->deferred = d;
    append->has_more = true;
}

static void write_deferred(struct zs_activity *a, struct act_append *append)
{
    const struct act_deferred *d = append->deferred;
    act_write_earlier(a, append->id, append->list, &d->shape, d->time_ns);
    free(append->deferred);
    append->deferred = NULL;
}

void act_append_submit(struct zs_activity *a, struct act_append *append, uint64_t now_ns)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct act_event *event = append->event;
    struct act_list *list = append->list;
    if (append->measure)
        act_measure_submit(a, append->measure, append->id, now_ns);
    if (!now_ns && append->outstanding && append->outstanding == append->muted)
        return; /* more of the same: once is enough */
    if (now_ns && append->deferred)
        write_deferred(a, append);
    /* given up earlier, without proof that it was over: it may set our event at any time */
    if (append->maybe_set && event && event->is_own && !append->outstanding &&
        !api->zeEventQueryStatus(event->handle)) {
        api->zeEventHostReset(event->handle);
        append->maybe_set = false;
    }
    append->submitted = true;
    append->submit_ns = now_ns;
    append->recorded_ns = now_ns ? now_ns : append->recorded_ns;
    append->outstanding++;
    append->muted += !now_ns;
    list->pending++;
    append->is_stale = false;
    if (append->slot)
        return;
    if (!event || !event->has_timestamps || append->shared || append->in_doubt) {
        write_unknown(a, append);
        return;
    }
    if (event->owner && event->owner != append)
        act_event_ends(a, event);
    /* an event that is set already tells nothing until its timestamps change */
    if (!event->is_own && !api->zeEventQueryStatus(event->handle)) {
        ze_kernel_timestamp_result_t result;
        if (!api->zeEventQueryKernelTimestamp(event->handle, &result)) {
            append->is_stale = append->has_more = true;
            append->stale_start = result.global.kernelStart;
        }
    }
    event->owner = append;
}

/* The timestamps of the last execution, if they are there. */
static bool take_times(struct zs_activity *a, struct act_append *append,
                       ze_kernel_timestamp_result_t *ret_result)
{
    const struct zs_collect_api *api = &a->collector->api;
    if (append->slot) {
        const volatile ze_kernel_timestamp_result_t *r = append->slot->result;
        ret_result->global.kernelStart = r->global.kernelStart;
        ret_result->global.kernelEnd = r->global.kernelEnd;
        if (ret_result->global.kernelStart == UINT64_MAX ||
            ret_result->global.kernelEnd == UINT64_MAX)
            return false;
        act_slot_clear(append->slot);
        return true;
    }
    struct act_event *event = append->event;
    if (api->zeEventQueryStatus(event->handle) ||
        api->zeEventQueryKernelTimestamp(event->handle, ret_result))
        return false;
    if (append->is_stale && append->stale_start == ret_result->global.kernelStart)
        return false;
    if (event->is_own)
        api->zeEventHostReset(event->handle);
    return true;
}

void act_collect_append(struct zs_activity *a, struct act_append *append, bool is_proof)
{
    ze_kernel_timestamp_result_t result;
    struct act_list *list = append->list;
    if (!list || !append->outstanding)
        return;
    if (!append->event || append->cancelled) {
        settle(append);
        return;
    }
    /* of several executions that could not be kept apart, nothing is known before the last ended */
    if (append->outstanding > 1 && !is_proof)
        return;
    if (is_proof && append->in_call)
        return; /* its call has not returned: it may not have been submitted yet */
    if (!take_times(a, append, &result)) {
        if (is_proof)
            write_unknown(a, append);
        return;
    }
    uint64_t submit_ns = append->submit_ns;
    for (uint32_t i = append->muted + (submit_ns != 0); i < append->outstanding; i++)
        act_write_execute(a, list, append->id, list->queue, append->recorded_ns, NULL);
    act_write_execute(a, list, append->id, list->queue, submit_ns, &result);
    settle(append);
}

static void collect_immediate(struct zs_activity *a, struct act_list *list, bool is_proof)
{
    uint32_t misses = 0;
    for (size_t i = list->first; i < list->count && misses < 16; i++) {
        struct act_append *append = list->appends[i];
        if (!append)
            continue;
        act_collect_append(a, append, is_proof);
        if (append->outstanding) {
            misses++;
        } else if (!append->in_call || append->cancelled) {
            append_free(a, append);
            list->appends[i] = NULL;
        }
    }
    while (list->first < list->count && !list->appends[list->first])
        list->first++;
    if (list->first == list->count)
        list->first = list->count = 0;
}

void act_collect_list(struct zs_activity *a, struct act_list *list, bool is_proof)
{
    if (list->is_harvesting)
        return;
    act_list_hold(list);
    if (list->immediate) {
        collect_immediate(a, list, is_proof);
    } else if (act_harvest_poll(a, list)) {
        uint32_t misses = 0;
        for (size_t i = 0; i < list->count && list->pending; i++) {
            act_collect_append(a, list->appends[i], is_proof);
            if (list->appends[i]->outstanding && ++misses >= 16 && !is_proof)
                break;
        }
    }
    for (size_t i = 0; is_proof && a->meter && !list->immediate && i < list->count; i++)
        if (list->appends[i]->measure)
            act_measure_poll(a, list->appends[i]->measure, true);
    act_list_release(list);
    if (list->pending || list->harvests)
        link_pending(a, list);
    else
        unlink_pending(a, list);
}

void act_collect_queue(struct zs_activity *a, const struct act_queue *queue, uint64_t proven)
{
    for (struct act_list *list = a->pending, *next; list; list = next) {
        next = list->next_pending;
        if (list->queue == queue)
            act_collect_list(a, list, !list->submitting && list->ticket && list->ticket <= proven);
    }
}

void act_collect_all(struct zs_activity *a)
{
    for (struct act_list *list = a->pending, *next; list; list = next) {
        next = list->next_pending;
        act_collect_list(a, list, false);
    }
}

/* What is still unknown of a list when the process ends. */
static void give_up(struct zs_activity *a, struct act_list *list)
{
    act_harvest_drop(a, list);
    act_list_hold(list);
    for (size_t i = list->first; i < list->count; i++)
        if (list->appends[i] && list->appends[i]->outstanding)
            write_unknown(a, list->appends[i]);
    act_list_release(list);
}

void act_collect_last(struct zs_activity *a)
{
    act_collect_all(a);
    for (struct act_list *list = a->pending; list; list = list->next_pending)
        give_up(a, list);
}

void act_event_ends(struct zs_activity *a, struct act_event *event)
{
    struct act_append *append = event->owner;
    if (!append)
        return;
    if (append->list && append->list->is_harvesting)
        return;
    event->owner = NULL;
    if (append->list && append->list->harvests && !act_harvest_poll(a, append->list))
        return;
    act_collect_append(a, append, false);
    if (append->list && append->outstanding)
        write_unknown(a, append);
}

void act_list_submit(struct zs_activity *a, struct act_list *list, struct act_queue *queue,
                     uint64_t now_ns)
{
    bool again_muted = !now_ns && list->is_muted;
    if (!again_muted)
        act_collect_list(a, list, false);
    bool kept = !list->pending || again_muted || act_harvest_start(a, list);
    act_list_hold(list);
    if (!kept && list->queue != queue)
        for (size_t i = 0; i < list->count; i++) {
            list->appends[i]->in_doubt |= list->appends[i]->outstanding > 0;
            write_unknown(a, list->appends[i]);
        }
    if (a->meter)
        act_meter_submit(a, list);
    list->queue = queue;
    list->is_muted = !now_ns;
    for (size_t i = 0; i < list->count; i++)
        if (!list->appends[i]->cancelled)
            act_append_submit(a, list->appends[i], now_ns);
    act_list_release(list);
    if (list->pending || list->harvests)
        link_pending(a, list);
}

void act_list_revoke(struct zs_activity *a, struct act_list *list)
{
    act_list_hold(list);
    for (size_t i = 0; i < list->count; i++) {
        struct act_append *append = list->appends[i];
        if (append->measure)
            act_measure_revoke(a, append->measure);
        if (!append->outstanding)
            continue;
        append->outstanding--;
        append->muted = ZS_MIN(append->muted, append->outstanding);
        list->pending--;
    }
    act_list_release(list);
}

void act_list_clear(struct zs_activity *a, struct act_list *list)
{
    const struct zs_collect_api *api = &a->collector->api;
    if (!list->immediate)
        act_harvest_poll(a, list);
    act_list_hold(list);
    for (size_t i = list->first; i < list->count; i++) {
        struct act_append *append = list->appends[i];
        if (!append)
            continue;
        if (append->outstanding)
            act_collect_append(a, append, true);
        /* the device has let go of it, whatever became of its executions */
        if (append->submitted && append->event && append->event->is_own)
            api->zeEventHostReset(append->event->handle);
        append_free(a, append);
    }
    act_harvest_drop(a, list);
    if (a->meter)
        act_measures_forget(a, list);
    list->has_set = false;
    list->clears++;
    list->count = list->first = 0;
    list->pending = 0;
    act_list_release(list);
    unlink_pending(a, list);
}

void act_lists_enter(struct zs_activity *a, struct act_queue *queue,
                     const ze_command_list_handle_t *lists, uint32_t count, bool muted)
{
    uint64_t now_ns = muted ? 0 : zs_trace_now_ns();
    for (uint32_t i = 0; queue && lists && i < count; i++) {
        struct act_list *list = act_find(a, ACT_LIST, lists[i]);
        if (!list)
            continue;
        list->submitting++;
        act_list_submit(a, list, queue, now_ns);
    }
}

void act_lists_exit(struct zs_activity *a, struct act_queue *queue,
                    const ze_command_list_handle_t *lists, uint32_t count, int32_t result)
{
    if (queue)
        queue->submitted++;
    for (uint32_t i = 0; queue && lists && i < count; i++) {
        struct act_list *list = act_find(a, ACT_LIST, lists[i]);
        if (!list)
            continue;
        list->submitting -= list->submitting > 0;
        list->ticket = queue->submitted;
        if (result)
            act_list_revoke(a, list);
    }
    if (queue && !result)
        act_collect_queue(a, queue, 0);
}

void act_event_created(struct zs_activity *a, ze_event_handle_t handle)
{
    struct act_event *e = calloc(1, sizeof(*e));
    if (!act_put(a, ACT_EVENT, handle, e)) {
        free(e);
        return;
    }
    e->handle = handle;
    e->has_timestamps = true;
}
