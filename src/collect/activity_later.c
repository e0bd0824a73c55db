/* SPDX-License-Identifier: MIT */
/*
 * Activity seen from calls of later specifications: lists that are submitted through immediate
 * ones, waits for a list, clones, mutable lists, events without a pool. Types and numbers are those
 * of src/calls/api where the installed headers lack them.
 */
#include "collect/activity_shape.h"

#include <stdlib.h>
#include <string.h>

#define ARG(type, i)    (*(type *)event->params[i])
#define RESULT(type, i) (*ARG(type *, i))

static struct act_list *list_of(struct zs_activity *a, const struct zs_trace_event *event)
{
    return act_find(a, ACT_LIST, ARG(ze_command_list_handle_t, 0));
}

/* What this thread can know to be over: appends that were made before the wait began. */
void act_host_synchronize_enter(struct zs_activity *a, const struct zs_trace_event *event,
                                struct zs_activity_call *call)
{
    const struct act_list *list = list_of(a, event);
    call->id = list && list->queue ? list->queue->submitted : 0;
    call->shape.count = a->next_append;
}

void act_host_synchronize_exit(struct zs_activity *a, const struct zs_trace_event *event,
                               struct zs_activity_call *call)
{
    struct act_list *list = list_of(a, event);
    if (*event->result || !list)
        return;
    for (size_t i = list->first; list->immediate && i < list->count; i++)
        if (list->appends[i] && list->appends[i]->id <= call->shape.count)
            act_collect_append(a, list->appends[i], true);
    act_collect_list(a, list, false);
    if (list->queue)
        act_collect_queue(a, list->queue, call->id);
}

void act_append_lists_enter(struct zs_activity *a, const struct zs_trace_event *event,
                            struct zs_activity_call *call)
{
    const struct act_list *list = list_of(a, event);
    act_lists_enter(a, list && list->immediate ? list->queue : NULL,
                    ARG(ze_command_list_handle_t *, 2), ARG(uint32_t, 1), call->muted);
}

void act_append_lists_exit(struct zs_activity *a, const struct zs_trace_event *event,
                           struct zs_activity_call *call)
{
    const struct act_list *list = list_of(a, event);
    struct act_queue *queue = list && list->immediate ? list->queue : NULL;
    act_lists_exit(a, queue, ARG(ze_command_list_handle_t *, 2), ARG(uint32_t, 1), *event->result);
    if (queue && list->synchronous && !*event->result)
        act_collect_queue(a, queue, queue->submitted);
}

/* A clone executes what the list does: its executions are of the same appends. Its events are the
 * application's alone (act_list.is_cloneable). */
void act_clone_exit(struct zs_activity *a, const struct zs_trace_event *event,
                    struct zs_activity_call *call)
{
    const struct act_list *list = list_of(a, event);
    struct act_list *clone = *event->result || !list ? NULL : malloc(sizeof(*clone));
    if (!clone)
        return;
    *clone = (struct act_list){.handle = RESULT(ze_command_list_handle_t, 1),
                               .context = list->context,
                               .device = list->device,
                               .ordinal = list->ordinal,
                               .is_cloneable = true};
    if (!act_put(a, ACT_LIST, clone->handle, clone)) {
        free(clone);
        return;
    }
    act_write_prefix(clone);
    atomic_fetch_add(&a->generation, 1);
    for (size_t i = list->first; i < list->count; i++) {
        const struct act_append *from = list->appends[i];
        struct act_event *shared = from && from->event && !from->event->is_own ? from->event : NULL;
        struct act_append *to = from && !from->cancelled ? act_append_new(a, clone, shared) : NULL;
        if (!to)
            continue;
        to->id = from->id;
        to->in_call = false;
        to->has_more = from->command != 0;
        to->command = from->command;
        if (to->has_more)
            to->shape = from->shape;
    }
}

/* --- mutable lists --- */

void act_next_command_exit(struct zs_activity *a, const struct zs_trace_event *event,
                           struct zs_activity_call *call)
{
    struct act_list *list = list_of(a, event);
    const uint64_t *id = ARG(uint64_t *, event->param_count - 1);
    if (list && id && !*event->result)
        list->next_command = *id;
}

static struct act_append *command_of(const struct act_list *list, uint64_t id)
{
    for (size_t i = 0; list && id && i < list->count; i++)
        if (list->appends[i] && list->appends[i]->command == id)
            return list->appends[i];
    return NULL;
}

/* What is executed from now on is another append: it gets a record of its own. */
static void changed(struct zs_activity *a, struct act_append *append)
{
    act_append_retarget(a, append, append->event && !append->event->is_own ? append->event : NULL);
    append->id = ++a->next_append;
    act_write_append(a->file, append->id, append->list, &append->shape,
                     zs_trace_file_now_ns(a->file), false);
}

void act_update_commands_exit(struct zs_activity *a, const struct zs_trace_event *event,
                              struct zs_activity_call *call)
{
    const struct act_list *list = list_of(a, event);
    const ze_mutable_commands_exp_desc_t *desc = ARG(const ze_mutable_commands_exp_desc_t *, 1);
    if (*event->result || !list || !desc)
        return;
    for (const ze_base_desc_t *d = desc->pNext; d; d = d->pNext) {
        const void *here = d;
        const ze_mutable_group_count_exp_desc_t *groups = here;
        const ze_mutable_group_size_exp_desc_t *size = here;
        struct act_append *append;
        if ((uint32_t)d->stype == ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC) {
            append = command_of(list, groups->commandId);
            if (!append || !groups->pGroupCount)
                continue;
            append->shape.groups[0] = groups->pGroupCount->groupCountX;
            append->shape.groups[1] = groups->pGroupCount->groupCountY;
            append->shape.groups[2] = groups->pGroupCount->groupCountZ;
            append->shape.has_groups = true;
        } else if ((uint32_t)d->stype == ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC) {
            append = command_of(list, size->commandId);
            if (!append)
                continue;
            append->shape.size[0] = size->groupSizeX;
            append->shape.size[1] = size->groupSizeY;
            append->shape.size[2] = size->groupSizeZ;
        } else {
            continue;
        }
        changed(a, append);
    }
}

void act_update_kernels_exit(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    const struct act_list *list = list_of(a, event);
    const uint64_t *ids = ARG(uint64_t *, 2);
    const ze_kernel_handle_t *kernels = ARG(ze_kernel_handle_t *, 3);
    for (uint32_t i = 0; !*event->result && ids && kernels && i < ARG(uint32_t, 1); i++) {
        struct act_append *append = command_of(list, ids[i]);
        const struct act_kernel *kernel = append ? act_kernel_get(a, kernels[i]) : NULL;
        if (!kernel)
            continue;
        append->shape.kernel = kernel->id;
        memcpy(append->shape.size, kernel->size, sizeof(append->shape.size));
        changed(a, append);
    }
}

/* The command signals that event from now on, and none of ours: without one there are no times. */
void act_update_signal_enter(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    struct act_append *append = command_of(list_of(a, event), ARG(uint64_t, 1));
    ze_event_handle_t signal = ARG(ze_event_handle_t, 2);
    if (append)
        act_append_retarget(a, append, signal ? act_find(a, ACT_EVENT, signal) : NULL);
}

/* --- events that count --- */

_Static_assert(sizeof(ze_event_counter_based_desc_t) <=
                   sizeof(((struct zs_activity_call *)0)->counter_desc),
               "room for the description");

/* As event pools get the flag for timestamps, so do these. */
void act_counter_event_enter(struct zs_activity *a, const struct zs_trace_event *event,
                             struct zs_activity_call *call)
{
    const ze_event_counter_based_desc_t *desc = ARG(const ze_event_counter_based_desc_t *, 2);
    ze_event_counter_based_desc_t changed_desc;
    const void *replacement = call->counter_desc;
    if (!desc || desc->flags & (uint32_t)ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP)
        return;
    changed_desc = *desc;
    changed_desc.flags |= (uint32_t)ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP;
    memcpy(call->counter_desc, &changed_desc, sizeof(changed_desc));
    call->restore = 3;
    call->replaced = ARG(void *, 2);
    memcpy(event->params[2], &replacement, sizeof(replacement));
}

void act_counter_event_exit(struct zs_activity *a, const struct zs_trace_event *event,
                            struct zs_activity_call *call)
{
    const struct zs_collect_api *api = &a->collector->api;
    if (*event->result && call->replaced && api->zeEventCounterBasedCreate) {
        /* as the application wanted it, then; its times are not known */
        *event->result = (int32_t)api->zeEventCounterBasedCreate(
            ARG(ze_context_handle_t, 0), ARG(ze_device_handle_t, 1), ARG(const void *, 2),
            ARG(ze_event_handle_t *, 3));
        return;
    }
    if (!*event->result)
        act_event_created(a, RESULT(ze_event_handle_t, 3));
}

/* --- graphs --- */

/* Appends to the list become nodes of a graph: nothing is executed, and no event of ours may get
 * into it. */
void act_capture_exit(struct zs_activity *a, const struct zs_trace_event *event,
                      struct zs_activity_call *call)
{
    struct act_list *list = list_of(a, event);
    if (list && !*event->result)
        list->is_capturing = true;
}

void act_capture_end_exit(struct zs_activity *a, const struct zs_trace_event *event,
                          struct zs_activity_call *call)
{
    struct act_list *list = list_of(a, event);
    if (list && !*event->result)
        list->is_capturing = false;
}
