/* SPDX-License-Identifier: MIT */
/* Events and host memory of ours, in chunks per context. */
#include "collect/activity_metrics.h"

#include <stdlib.h>
#include <string.h>

static void chunk_free(struct zs_activity *a, struct act_context *context, struct act_chunk *chunk)
{
    const struct zs_collect_api *api = &a->collector->api;
    for (uint32_t i = 0; i < chunk->event_count; i++)
        api->zeEventDestroy(chunk->events[i].handle);
    if (chunk->pool)
        api->zeEventPoolDestroy(chunk->pool);
    if (chunk->memory)
        api->zeMemFree(context->handle, chunk->memory);
    free(chunk->events);
    free(chunk->slots);
    free(chunk);
}

static void more_events(struct zs_activity *a, struct act_context *context)
{
    const struct zs_collect_api *api = &a->collector->api;
    struct act_chunk *chunk = calloc(1, sizeof(*chunk));
    uint32_t count = context->next_chunk;
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = count};
    context->no_events = true;
    if (!chunk || context->event_count >= ACT_EVENTS_MAX)
        goto fail;
    chunk->events = calloc(count, sizeof(*chunk->events));
    if (!chunk->events || api->zeEventPoolCreate(context->handle, &desc, 0, NULL, &chunk->pool)) {
        chunk->pool = NULL;
        goto fail;
    }
    for (uint32_t i = 0; i < count; i++) {
        const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                       .index = i,
                                       .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                       .wait = ZE_EVENT_SCOPE_FLAG_HOST};
        struct act_event *e = &chunk->events[i];
        *e = (struct act_event){.context = context, .is_own = true, .has_timestamps = true};
        if (api->zeEventCreate(chunk->pool, &event, &e->handle))
            goto fail;
        chunk->event_count++;
    }
    for (uint32_t i = 0; i < count; i++)
        act_event_give(&chunk->events[i]);
    chunk->next = context->chunks;
    context->chunks = chunk;
    context->event_count += count;
    context->next_chunk = ZS_MIN(count * 2, (uint32_t)ACT_EVENTS_CHUNK_MAX);
    context->no_events = false;
    return;
fail:
    if (chunk)
        chunk_free(a, context, chunk);
    zs_session_note(a->collector, "no more events: some device activity is recorded without times");
}

struct act_event *act_event_take(struct zs_activity *a, struct act_context *context)
{
    if (!context)
        return NULL;
    if (!context->free_events && !context->no_events)
        more_events(a, context);
    struct act_event *event = context->free_events;
    if (!event)
        return NULL;
    context->free_events = event->next;
    event->next = NULL;
    event->owner = NULL;
    event->appended = NULL;
    return event;
}

void act_event_give(struct act_event *event)
{
    event->next = event->context->free_events;
    event->context->free_events = event;
}

static void more_slots(struct zs_activity *a, struct act_context *context)
{
    const struct zs_collect_api *api = &a->collector->api;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    struct act_chunk *chunk = calloc(1, sizeof(*chunk));
    struct act_slot *slots = calloc(ACT_SLOTS_CHUNK, sizeof(*slots));
    void *memory = NULL;
    if (!chunk || !slots ||
        api->zeMemAllocHost(context->handle, &desc,
                            ACT_SLOTS_CHUNK * sizeof(ze_kernel_timestamp_result_t), 64, &memory)) {
        free(chunk);
        free(slots);
        context->no_slots = true;
        return;
    }
    *chunk = (struct act_chunk){.next = context->chunks, .memory = memory, .slots = slots};
    context->chunks = chunk;
    for (uint32_t i = 0; i < ACT_SLOTS_CHUNK; i++) {
        slots[i].context = context;
        slots[i].result = (ze_kernel_timestamp_result_t *)memory + i;
        act_slot_give(&slots[i]);
    }
}

struct act_slot *act_slot_take(struct zs_activity *a, struct act_context *context)
{
    if (!context->free_slots && !context->no_slots)
        more_slots(a, context);
    struct act_slot *slot = context->free_slots;
    if (slot) {
        context->free_slots = slot->next;
        act_slot_clear(slot);
    }
    return slot;
}

void act_slot_clear(struct act_slot *slot)
{
    memset(slot->result, 0xff, sizeof(*slot->result));
}

void act_slot_give(struct act_slot *slot)
{
    slot->next = slot->context->free_slots;
    slot->context->free_slots = slot;
}

void act_context_drop(struct zs_activity *a, struct act_context *context)
{
    while (context->chunks) {
        struct act_chunk *chunk = context->chunks;
        context->chunks = chunk->next;
        chunk_free(a, context, chunk);
    }
    context->free_events = NULL;
    context->free_slots = NULL;
    context->event_count = 0;
}
