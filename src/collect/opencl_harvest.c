/* SPDX-License-Identifier: MIT */
/* When what was enqueued was executed: asked of the events, and put onto the host's clock. */
#include "collect/opencl_priv.h"

#include "base/vec.h"

#include <stdlib.h>

enum {
    SLACK_NS = 2000000, /* how far times may lie outside of what the host saw: as for Level Zero */
};

/* When the device says that it was queued, the host was in the call that did. What is known
 * becomes narrower with each; clocks that run apart make it start anew. */
static void tie_clocks(struct cl_device *device, const struct cl_pending *p, uint64_t queued)
{
    int64_t low = (int64_t)(p->enter_ns - queued), high = (int64_t)(p->exit_ns - queued);
    bool fits = device->has_clock && low <= device->high && high >= device->low;
    device->low = fits ? ZS_MAX(device->low, low) : low;
    device->high = fits ? ZS_MIN(device->high, high) : high;
    device->has_clock = true;
}

/* start and end are the device's. The lock is not held: a torn clock is one of two good ones. */
static void place(struct zs_cl *cl, struct cl_queue *queue, const struct cl_pending *p,
                  const cl_ulong *device_ns, uint64_t now_ns, struct act_cl_times *times)
{
    enum { QUEUED, START, END };
    struct cl_device *device = queue->device;
    uint64_t duration_ns = device_ns[END] - device_ns[START];
    if (device_ns[END] < device_ns[START] || !device_ns[END] ||
        duration_ns > now_ns - p->enter_ns + SLACK_NS)
        return;
    uint64_t start_ns = 0;
    bool is_tied = device_ns[QUEUED] && device;
    if (is_tied) {
        pthread_mutex_lock(&cl->lock);
        tie_clocks(device, p, device_ns[QUEUED]);
        start_ns = device_ns[START] + (uint64_t)(device->low + (device->high - device->low) / 2);
        pthread_mutex_unlock(&cl->lock);
        is_tied = start_ns + SLACK_NS >= p->enter_ns && start_ns + duration_ns <= now_ns + SLACK_NS;
    }
    uint64_t latest_ns = now_ns > duration_ns ? now_ns - duration_ns : 0;
    times->is_estimated = !is_tied;
    times->start_ns = is_tied ? ZS_MAX(p->enter_ns, ZS_MIN(start_ns, latest_ns)) : latest_ns;
    times->end_ns = times->start_ns + duration_ns;
}

/* False: it is not over yet. */
static bool settle(struct zs_cl *cl, struct zs_trace_file *file, struct cl_queue *queue,
                   const struct cl_pending *p)
{
    static const cl_uint whats[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START,
                                    CL_PROFILING_COMMAND_END};
    cl_int status = CL_QUEUED;
    cl_ulong device_ns[3] = {0};
    struct act_cl_times times = {.submit_ns = p->enter_ns};
    bool failed = cl->api.clGetEventInfo(p->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                         sizeof(status), &status, NULL);
    if (!failed && status > CL_COMPLETE)
        return false;
    bool known = !failed && status == CL_COMPLETE && queue->has_profiling;
    for (size_t i = 0; known && i < ZS_ARRAY_LEN(whats); i++)
        known = !cl->api.clGetEventProfilingInfo(p->event, whats[i], sizeof(*device_ns),
                                                 &device_ns[i], NULL);
    if (known)
        place(cl, queue, p, device_ns, zs_trace_file_now_ns(file), &times);
    act_write_cl_execute(file, p->id, queue->id, &times);
    cl->api.clReleaseEvent(p->event);
    return true;
}

/* Those at the front that are over; true when it was a whole batch. */
static bool harvest_batch(struct zs_cl *cl, struct zs_trace_file *file, struct cl_queue *queue)
{
    struct cl_pending batch[CL_BATCH];
    bool is_over[CL_BATCH] = {false};
    size_t count, over = 0, kept = 0;
    pthread_mutex_lock(&cl->lock);
    count = ZS_MIN(queue->pending.count, (size_t)CL_BATCH);
    memcpy(batch, queue->pending.items, count * sizeof(*batch));
    pthread_mutex_unlock(&cl->lock);
    for (size_t i = 0; i < count; i++)
        over += is_over[i] = settle(cl, file, queue, &batch[i]);
    /* others have appended meanwhile, nobody has removed */
    pthread_mutex_lock(&cl->lock);
    struct cl_pending *items = queue->pending.items;
    for (size_t i = 0; i < count; i++)
        if (!is_over[i])
            items[kept++] = items[i];
    memmove(items + kept, items + count, (queue->pending.count - count) * sizeof(*items));
    queue->pending.count -= over;
    queue->looked = (uint32_t)queue->pending.count;
    pthread_mutex_unlock(&cl->lock);
    return count == CL_BATCH && over == count;
}

static bool harvest_begin(struct zs_cl *cl, struct cl_queue *queue)
{
    pthread_mutex_lock(&cl->lock);
    bool is_ours = !queue->is_harvesting && queue->pending.count;
    queue->is_harvesting |= is_ours;
    pthread_mutex_unlock(&cl->lock);
    return is_ours;
}

void cl_harvest(struct zs_cl *cl, struct zs_trace_file *file, struct cl_queue *queue)
{
    struct zs_collect_guard guard;
    if (!harvest_begin(cl, queue))
        return;
    zs_guard_enter(&guard);
    while (harvest_batch(cl, file, queue))
        continue;
    zs_guard_leave(&guard);
    pthread_mutex_lock(&cl->lock);
    queue->is_harvesting = false;
    pthread_mutex_unlock(&cl->lock);
}

void cl_harvest_all(struct zs_cl *cl, struct zs_trace_file *file)
{
    for (size_t i = 0;; i++) {
        pthread_mutex_lock(&cl->lock);
        struct cl_queue *queue = i < cl->queue_count ? cl->all[i] : NULL;
        pthread_mutex_unlock(&cl->lock);
        if (!queue)
            return;
        cl_harvest(cl, file, queue);
    }
}

void cl_pend(struct zs_cl *cl, struct zs_trace_file *file, struct cl_queue *queue,
             const struct cl_pending *pending)
{
    pthread_mutex_lock(&cl->lock);
    bool kept = queue->pending.count < CL_PENDING_MAX && ZS_VEC_PUSH(&queue->pending, *pending);
    bool is_due = queue->pending.count >= (size_t)queue->looked + CL_PENDING_LOOK;
    if (is_due)
        queue->looked = (uint32_t)queue->pending.count;
    pthread_mutex_unlock(&cl->lock);
    if (!kept) {
        const struct act_cl_times times = {.submit_ns = pending->enter_ns};
        act_write_cl_execute(file, pending->id, queue->id, &times);
        cl->api.clReleaseEvent(pending->event);
    }
    if (is_due)
        cl_harvest(cl, file, queue);
}
