/* SPDX-License-Identifier: MIT */
/*
 * A list is executed again while its events hold, or will hold, the timestamps of the execution
 * before: a list of ours in between copies them to host memory, resets our events and marks its
 * end. The queue runs what it is given in order, so nothing changes for the application.
 */
#include "collect/activity_priv.h"

#include <stdlib.h>
#include <string.h>

static void harvest_free(struct zs_activity *a, struct act_harvest *h)
{
    const struct zs_collect_api *api = &a->collector->api;
    if (h->commands)
        api->zeCommandListDestroy(h->commands);
    if (h->results)
        api->zeMemFree(h->context, h->results);
    free(h->items);
    free(h);
}

static struct act_harvest *harvest_alloc(struct zs_activity *a, struct act_list *list)
{
    const struct zs_collect_api *api = &a->collector->api;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_command_list_desc_t commands = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                             .commandQueueGroupOrdinal = list->ordinal};
    struct act_harvest *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    size_t size_B = (list->count + 1) * sizeof(*h->results);
    void *memory = NULL;
    h->queue = list->queue;
    h->context = list->context->handle;
    h->items = calloc(list->count, sizeof(*h->items));
    if (!h->items || api->zeMemAllocHost(h->context, &desc, size_B, 64, &memory)) {
        harvest_free(a, h);
        return NULL;
    }
    memset(memory, 0xff, size_B);
    h->results = memory;
    h->mark = (volatile uint64_t *)(h->results + list->count);
    if (api->zeCommandListCreate(h->context, list->device->handle, &commands, &h->commands)) {
        h->commands = NULL;
        harvest_free(a, h);
        return NULL;
    }
    return h;
}

static bool fill(struct zs_activity *a, struct act_list *list, struct act_harvest *h)
{
    const struct zs_collect_api *api = &a->collector->api;
    ze_event_handle_t *events = calloc(list->count, sizeof(*events));
    bool ok = events && !api->zeCommandListAppendBarrier(h->commands, NULL, 0, NULL);
    act_list_hold(list);
    for (size_t i = 0; ok && i < list->count; i++) {
        struct act_append *append = list->appends[i];
        /* what is kept by a slot is read by the host only: it cannot be kept twice */
        if (append->outstanding != 1 || !append->event || append->slot)
            continue;
        events[h->count] = append->event->handle;
        h->items[h->count].append = append;
        h->items[h->count].id = append->id;
        h->items[h->count++].submit_ns = append->submit_ns;
    }
    act_list_release(list);
    ok = ok && h->count &&
         !api->zeCommandListAppendQueryKernelTimestamps(h->commands, h->count, events, h->results,
                                                        NULL, NULL, 0, NULL) &&
         !api->zeCommandListAppendBarrier(h->commands, NULL, 0, NULL);
    for (uint32_t i = 0; ok && i < h->count; i++)
        if (h->items[i].append->event->is_own)
            ok = !api->zeCommandListAppendEventReset(h->commands, events[i]);
    free(events);
    return ok && !api->zeCommandListAppendBarrier(h->commands, NULL, 0, NULL) &&
           !api->zeCommandListAppendWriteGlobalTimestamp(h->commands, (uint64_t *)h->mark, NULL, 0,
                                                         NULL) &&
           !api->zeCommandListClose(h->commands);
}

/* The driver may hold a submission up for as long as the queue is full. */
static bool submit(struct zs_activity *a, struct act_list *list, struct act_harvest *h)
{
    const struct zs_collect_api *api = &a->collector->api;
    ze_command_queue_handle_t queue = list->queue->handle;
    struct zs_trace_file *file = a->file;
    list->is_harvesting = true;
    act_unlock(a);
    ze_result_t result = api->zeCommandQueueExecuteCommandLists(queue, 1, &h->commands, NULL);
    act_relock(a, file);
    list->is_harvesting = false;
    return !result;
}

bool act_harvest_start(struct zs_activity *a, struct act_list *list)
{
    const struct zs_collect_api *api = &a->collector->api;
    if (!list->context || !list->device || !list->queue || !list->queue->handle ||
        list->harvest_count >= ACT_HARVESTS_MAX || !api->zeCommandListAppendQueryKernelTimestamps)
        return false;
    struct act_harvest *h = harvest_alloc(a, list);
    uint64_t clears = list->clears;
    if (!h)
        return false;
    if (!fill(a, list, h) || !submit(a, list, h)) {
        harvest_free(a, h);
        return false;
    }
    if (list->clears != clears)
        return false; /* the application has reset it meanwhile: the harvest is left to the driver
                       */
    for (uint32_t i = 0; i < h->count; i++) {
        list->pending -= h->items[i].append->outstanding;
        h->items[i].append->outstanding = h->items[i].append->muted = 0;
    }
    struct act_harvest **end = &list->harvests;
    while (*end)
        end = &(*end)->next;
    *end = h;
    list->harvest_count++;
    return true;
}

bool act_harvest_poll(struct zs_activity *a, struct act_list *list)
{
    while (list->harvests) {
        struct act_harvest *h = list->harvests;
        if (__atomic_load_n(h->mark, __ATOMIC_ACQUIRE) == UINT64_MAX)
            return false;
        for (uint32_t i = 0; i < h->count; i++) {
            struct act_append *append = h->items[i].append;
            act_write_execute(a, list, h->items[i].id, h->queue, h->items[i].submit_ns,
                              &h->results[i]);
            /* the application's events stay set: until they change they speak of this execution */
            if (append->event && !append->event->is_own) {
                append->is_stale = append->has_more = true;
                append->stale_start = h->results[i].global.kernelStart;
            }
        }
        list->harvests = h->next;
        list->harvest_count--;
        harvest_free(a, h);
    }
    return true;
}

void act_harvest_drop(struct zs_activity *a, struct act_list *list)
{
    while (list->harvests) {
        struct act_harvest *h = list->harvests;
        for (uint32_t i = 0; i < h->count; i++)
            act_write_execute(a, list, h->items[i].id, h->queue, h->items[i].submit_ns, NULL);
        list->harvests = h->next;
        harvest_free(a, h);
    }
    list->harvest_count = 0;
}
