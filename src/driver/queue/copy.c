/* SPDX-License-Identifier: MIT */
/* Commands that move memory, and those that only order, signal or tell the time. */
#include "driver/memory/image.h"
#include "driver/memory/memory.h"

#include <errno.h>
#include <stdlib.h>

/* Starts every append: declares `append`, returns from the function on refusal. */
#define BEGIN(list, signal, count, waits)                                                          \
    struct zs_append append;                                                                       \
    ze_result_t begun = zs_append_begin(__func__, (list), (signal), (count), (waits), &append);    \
    if (begun != ZE_RESULT_SUCCESS)                                                                \
    return begun

/* ---- Order -------------------------------------------------------------------------------------
 */

static const struct zs_op op_barrier = {.name = "barrier", .is_barrier = true};

ze_result_t ZE_APICALL zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                                  ze_event_handle_t hSignalEvent,
                                                  uint32_t numWaitEvents,
                                                  ze_event_handle_t *phWaitEvents)
{
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    append.command.op = &op_barrier;
    return zs_append_end(&append);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t hCommandList, uint32_t numRanges, const size_t *pRangeSizes,
    const void **pRanges, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(pRangeSizes);
    ZS_CHECK_POINTER(pRanges);
    ZS_CHECK(numRanges, ZE_RESULT_ERROR_INVALID_SIZE, "no range");
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    append.command.op = &op_barrier;
    return zs_append_end(&append);
}

static const struct zs_op op_wait = {.name = "wait on events"};

ze_result_t ZE_APICALL zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                       uint32_t numEvents,
                                                       ze_event_handle_t *phEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(phEvents);
    BEGIN(hCommandList, NULL, numEvents, phEvents);
    append.command.op = &op_wait;
    return zs_append_end(&append);
}

static const struct zs_op op_signal = {.name = "signal event", .is_barrier = true};

ze_result_t ZE_APICALL zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                      ze_event_handle_t hEvent)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(event, event, hEvent);
    BEGIN(hCommandList, hEvent, 0, NULL);
    append.command.op = &op_signal;
    return zs_append_end(&append);
}

static int run_event_reset(struct zs_exec *exec, struct zs_command *command)
{
    zs_signal_set(&command->event->slot->state, ZS_SIGNAL_NOT_READY);
    return 0;
}

static void release_event(struct zs_command *command)
{
    zs_object_unref(command->event);
}

static const struct zs_op op_event_reset = {
    .name = "event reset", .run = run_event_reset, .release = release_event};

ze_result_t ZE_APICALL zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                     ze_event_handle_t hEvent)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK(!event->counter, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "a counter-based event is never reset");
    BEGIN(hCommandList, NULL, 0, NULL);
    append.command.op = &op_event_reset;
    append.command.event = zs_object_ref(event);
    return zs_append_end(&append);
}

/* ---- Time --------------------------------------------------------------------------------------
 */

static int run_timestamp(struct zs_exec *exec, struct zs_command *command)
{
    uint64_t ticks = zs_gpu_clock_ticks(exec->device->gpu) &
                     (UINT64_MAX >> (64 - exec->device->model->timestamp_bits));
    zs_between_touch(&exec->between, command->copy.dst, sizeof(ticks), true);
    return zs_memory_copy(exec->context, command->copy.dst, NULL, &ticks, sizeof(ticks), NULL);
}

static const struct zs_op op_timestamp = {.name = "write global timestamp", .run = run_timestamp};

ze_result_t ZE_APICALL zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(dstptr);
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    append.command.op = &op_timestamp;
    append.command.copy.dst = dstptr;
    return zs_append_end(&append);
}

struct query {
    void *dst;
    const size_t *offsets; /* memory of the program, read when the command runs; NULL: dense */
    uint32_t count;
    struct zs_ze_event *events[];
};

static int run_query(struct zs_exec *exec, struct zs_command *command)
{
    const struct query *query = command->data;
    int error = 0;
    for (uint32_t i = 0; i < query->count && !error; i++) {
        if (atomic_load_explicit(exec->cancel, memory_order_relaxed))
            return -ECANCELED;
        size_t offset_B = i * sizeof(ze_kernel_timestamp_result_t);
        if (query->offsets)
            error = zs_memory_copy(exec->context, &offset_B, NULL, &query->offsets[i],
                                   sizeof(offset_B), NULL);
        ze_kernel_timestamp_result_t result;
        zs_event_timestamps(query->events[i], exec->device, &result);
        zs_between_touch(&exec->between, (char *)query->dst + offset_B, sizeof(result), true);
        if (!error)
            error = zs_memory_copy(exec->context, (char *)query->dst + offset_B, NULL, &result,
                                   sizeof(result), NULL);
    }
    return error;
}

static void release_query(struct zs_command *command)
{
    struct query *query = command->data;
    for (uint32_t i = 0; query && i < query->count; i++)
        zs_object_unref(query->events[i]);
    free(query);
}

static const struct zs_op op_query = {
    .name = "query kernel timestamps", .run = run_query, .release = release_query};

/* The command waits for counter-based events that it queries, as with Intel's driver. */
static bool add_queried(struct zs_command *command, struct zs_ze_event *event)
{
    struct query *query = command->data;
    struct zs_ze_event *now = zs_event_now(event);
    if (!now)
        return false;
    query->events[query->count++] = now;
    if (!event->counter)
        return true;
    struct zs_ze_event **waits =
        realloc(command->waits, (command->wait_count + 1u) * sizeof(struct zs_ze_event *));
    if (!waits)
        return false;
    command->waits = waits;
    waits[command->wait_count++] = zs_object_ref(now);
    return true;
}

ze_result_t ZE_APICALL zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(phEvents);
    ZS_CHECK_POINTER(dstptr);
    for (uint32_t i = 0; i < numEvents; i++)
        ZS_CHECK(zs_ze_event_of(phEvents[i]), ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                 "phEvents[%u] is no live event", i);
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    struct query *query = calloc(1, sizeof(*query) + numEvents * sizeof(struct zs_ze_event *));
    if (!query)
        return zs_append_abandon(&append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    query->dst = dstptr;
    query->offsets = pOffsets;
    append.command.op = &op_query;
    append.command.data = query;
    for (uint32_t i = 0; i < numEvents; i++)
        if (!add_queried(&append.command, zs_ze_event_of(phEvents[i])))
            return zs_append_abandon(&append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    return zs_append_end(&append);
}

/* ---- Copies and fills --------------------------------------------------------------------------
 */

static int run_copy(struct zs_exec *exec, struct zs_command *command)
{
    const struct zs_copy *copy = &command->copy;
    int error = zs_memory_copy(exec->context, copy->dst, copy->src_context, copy->src, copy->size_B,
                               exec->cancel);
    if (!error) {
        zs_between_touch(&exec->between, copy->src, copy->size_B, false);
        zs_between_touch(&exec->between, copy->dst, copy->size_B, true);
    }
    return error;
}

static void release_copy(struct zs_command *command)
{
    zs_object_unref(command->copy.src_context);
}

static const struct zs_op op_copy = {
    .name = "memory copy", .run = run_copy, .release = release_copy};

/* Memory of the context must hold the whole of it; other memory is judged when the copy runs. */
static bool fits(struct zs_ze_context *context, const void *p, uint64_t size_B)
{
    struct zs_range range;
    return !zs_memory_find(context, p, &range) ||
           size_B <= range.base + range.size_B - (uintptr_t)p;
}

static ze_result_t append_copy(const char *function, struct zs_append *append, void *dst,
                               struct zs_ze_context *src_context, const void *src, size_t size)
{
    if (!fits(append->list->context, dst, size) ||
        !fits(src_context ? src_context : append->list->context, src, size))
        return zs_append_abandon(append,
                                 zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                                           "%zu bytes from %p to %p do not fit in the allocation",
                                           size, src, dst));
    append->command.op = &op_copy;
    append->command.copy = (struct zs_copy){
        .dst = dst, .src = src, .size_B = size, .src_context = zs_object_ref(src_context)};
    return zs_append_end(append);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList,
                                                     void *dstptr, const void *srcptr, size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(dstptr);
    ZS_CHECK_POINTER(srcptr);
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return append_copy(__func__, &append, dstptr, NULL, srcptr, size);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyFromContext(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_context_handle_t hContextSrc,
    const void *srcptr, size_t size, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(dstptr);
    ZS_OBJECT(context, src_context, hContextSrc);
    ZS_CHECK_POINTER(srcptr);
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return append_copy(__func__, &append, dstptr, src_context, srcptr, size);
}

static int run_fill(struct zs_exec *exec, struct zs_command *command)
{
    const struct zs_copy *copy = &command->copy;
    int error = zs_memory_fill(exec->context, copy->dst, copy->src, copy->pattern_B, copy->size_B,
                               exec->cancel);
    if (!error)
        zs_between_touch(&exec->between, copy->dst, copy->size_B, true);
    return error;
}

static void release_fill(struct zs_command *command)
{
    free((void *)(uintptr_t)command->copy.src);
}

static const struct zs_op op_fill = {
    .name = "memory fill", .run = run_fill, .release = release_fill};

ze_result_t ZE_APICALL zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                                     void *ptr, const void *pattern,
                                                     size_t pattern_size, size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_POINTER(pattern);
    ZS_CHECK(pattern_size > 0 && (pattern_size & (pattern_size - 1)) == 0 &&
                 (list->ordinal == ZS_ORDINAL_COMPUTE || pattern_size <= ZS_COPY_PATTERN_B_MAX),
             ZE_RESULT_ERROR_INVALID_SIZE, "a pattern of %zu bytes", pattern_size);
    ZS_CHECK(fits(list->context, ptr, size), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%zu bytes at %p do not fit in the allocation", size, ptr);
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    void *copy = malloc(pattern_size);
    if (!copy)
        return zs_append_abandon(&append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    memcpy(copy, pattern, pattern_size);
    append.command.op = &op_fill;
    append.command.copy =
        (struct zs_copy){.dst = ptr, .src = copy, .pattern_B = pattern_size, .size_B = size};
    return zs_append_end(&append);
}

/* ---- Regions -----------------------------------------------------------------------------------
 */

static int run_region(struct zs_exec *exec, struct zs_command *command)
{
    const struct zs_region *g = command->data;
    int error = zs_memory_copy_region(exec->context, NULL, g, exec->cancel);
    bool is_asked = !error && exec->between.between && g->row_B;
    for (size_t i = 0; is_asked && i < g->rows * g->slices && !atomic_load(exec->cancel); i++) {
        size_t y = i % g->rows, z = i / g->rows;
        zs_between_touch(&exec->between, g->src + y * g->src_pitch_B + z * g->src_slice_B, g->row_B,
                         false);
        zs_between_touch(&exec->between, g->dst + y * g->dst_pitch_B + z * g->dst_slice_B, g->row_B,
                         true);
    }
    return error;
}

static void release_region(struct zs_command *command)
{
    struct zs_region *region = command->data;
    zs_object_unref(region->keep[0]);
    zs_object_unref(region->keep[1]);
    free(region);
}

static const struct zs_op op_region = {
    .name = "copy of a region or an image", .run = run_region, .release = release_region};

ze_result_t zs_append_region(struct zs_append *append, const struct zs_region *region)
{
    struct zs_region *copy = malloc(sizeof(*copy));
    if (!copy)
        return zs_append_abandon(append, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    *copy = *region;
    zs_object_ref(copy->keep[0]);
    zs_object_ref(copy->keep[1]);
    append->command.data = copy;
    append->command.op = &op_region;
    return zs_append_end(append);
}

/* Boxes of one buffer; regions of buffers with different pitches are not judged. */
static bool overlaps(const ze_copy_region_t *a, const ze_copy_region_t *b)
{
    uint32_t height = ZS_MAX(a->height, 1u), depth = ZS_MAX(a->depth, 1u);
    return a->originX < (uint64_t)b->originX + a->width &&
           b->originX < (uint64_t)a->originX + a->width &&
           a->originY < (uint64_t)b->originY + height &&
           b->originY < (uint64_t)a->originY + height &&
           a->originZ < (uint64_t)b->originZ + depth && b->originZ < (uint64_t)a->originZ + depth;
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void *dstptr, const ze_copy_region_t *dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void *srcptr,
    const ze_copy_region_t *srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(dstptr);
    ZS_CHECK_POINTER(dstRegion);
    ZS_CHECK_POINTER(srcptr);
    ZS_CHECK_POINTER(srcRegion);
    const ze_copy_region_t *d = dstRegion, *s = srcRegion;
    ZS_CHECK(d->width == s->width && d->height == s->height && d->depth == s->depth,
             ZE_RESULT_ERROR_INVALID_SIZE, "the regions differ in size");
    struct zs_region region = {.row_B = d->width,
                               .rows = ZS_MAX(d->height, 1u),
                               .slices = ZS_MAX(d->depth, 1u),
                               .dst_pitch_B = dstPitch,
                               .dst_slice_B = dstSlicePitch,
                               .src_pitch_B = srcPitch,
                               .src_slice_B = srcSlicePitch};
    region.dst = (char *)dstptr + (size_t)d->originZ * dstSlicePitch +
                 (size_t)d->originY * dstPitch + d->originX;
    region.src = (const char *)srcptr + (size_t)s->originZ * srcSlicePitch +
                 (size_t)s->originY * srcPitch + s->originX;
    bool one_buffer =
        dstptr == srcptr && dstPitch == srcPitch && dstSlicePitch == srcSlicePitch && d->width;
    ZS_CHECK(!one_buffer || !overlaps(d, s), ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
             "source and destination overlap");
    BEGIN(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return zs_append_region(&append, &region);
}

/* ---- Hints -------------------------------------------------------------------------------------
 */

static const struct zs_op op_hint = {.name = "memory hint"};

/* A hint of what lies beyond an allocation is one of what lies in it: programs give it for parts of
 * buffers whose sizes they have rounded up. */
static bool takes_hint(const char *function, const struct zs_ze_list *list, const void *ptr,
                       size_t size)
{
    return zs_memory_contains(list->context, ptr, size) ||
           (zs_memory_contains(list->context, ptr, 1) &&
            zs_lets_pass(function, "%zu bytes at %p reach beyond the allocation: cut off there",
                         size, ptr));
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                                         const void *ptr, size_t size)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK(takes_hint(__func__, list, ptr, size), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%zu bytes at %p are not in one allocation", size, ptr);
    BEGIN(hCommandList, NULL, 0, NULL);
    append.command.op = &op_hint;
    return zs_append_end(&append);
}

ze_result_t ZE_APICALL zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                                    ze_device_handle_t hDevice, const void *ptr,
                                                    size_t size, ze_memory_advice_t advice)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_ENUM(advice, ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION);
    ZS_CHECK(takes_hint(__func__, list, ptr, size), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%zu bytes at %p are not in one allocation", size, ptr);
    BEGIN(hCommandList, NULL, 0, NULL);
    append.command.op = &op_hint;
    return zs_append_end(&append);
}
