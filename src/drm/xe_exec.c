/* SPDX-License-Identifier: MIT */
/* Queues: contexts of one engine; batches, and fences in memory. */
#include "drm/xe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- queues ------------------------------------------------------------------------------------
 */

/* Properties say how a queue is scheduled, which makes no difference here. */
static int check_properties(uint64_t at)
{
    enum { CHAIN_MAX = 16 };
    for (uint32_t i = 0; at; i++) {
        uint64_t extension[6]; /* next, name, property, value, reserved */
        int error = i == CHAIN_MAX ? -E2BIG : zs_drm_copy_in(extension, at, sizeof(extension));
        if (error)
            return error;
        if ((uint32_t)extension[1])
            return -EINVAL;
        at = extension[0];
    }
    return 0;
}

int zs_drm_xe_queue_create(struct zs_drm_file *file, void *argument)
{
    struct zs_xe_queue_create *c = argument;
    struct zs_drm_vm *vm = zs_drm_vm(file, c->vm);
    struct zs_xe_engine engine;
    if (!vm)
        return -ENOENT;
    if (c->width != 1 || !c->placements) {
        zs_drm_log(ZS_DRM_WARN, "exec_queue_create: a width of %u is not modelled", c->width);
        return -EINVAL;
    }
    int error = check_properties(c->extensions);
    if (!error)
        error = zs_drm_copy_in(&engine, c->engines, sizeof(engine)); /* of several the first */
    const struct zs_drm_engine wanted = {engine.class, engine.instance};
    if (!error && (!zs_drm_has_engine(file->node, wanted) ||
                   engine.gt >= ZS_MAX(file->node->model->tiles, 1u)))
        error = -EINVAL;
    if (!error)
        error = zs_drm_context_create(file, vm, &c->id);
    if (error)
        return error;
    struct zs_drm_context *context = zs_drm_context(file, c->id);
    context->engine_count = 1;
    context->engines[0] = wanted;
    return 0;
}

int zs_drm_xe_queue_destroy(struct zs_drm_file *file, void *argument)
{
    return zs_drm_context_destroy(file, ((struct zs_xe_queue_destroy *)argument)->id);
}

int zs_drm_xe_queue_property(struct zs_drm_file *file, void *argument)
{
    struct zs_xe_queue_property *p = argument;
    const struct zs_drm_context *context = zs_drm_context(file, p->id);
    if (!context || !p->id)
        return -ENOENT;
    if (p->property != ZS_XE_PROPERTY_BAN)
        return -EINVAL;
    p->value = context->banned;
    return 0;
}

/* ---- batches -----------------------------------------------------------------------------------
 */

static int read_sync(const struct zs_drm_file *file, const struct zs_xe_sync *sync,
                     struct zs_drm_batch *batch)
{
    bool is_signal = sync->flags & ZS_XE_SYNC_SIGNAL,
         is_timeline = sync->type == ZS_XE_SYNC_TIMELINE;
    if (sync->type == ZS_XE_SYNC_OBJECT || is_timeline) {
        if (is_timeline && !sync->value)
            return -EINVAL;
        int error = zs_drm_sync_point(file, (uint32_t)sync->address, is_timeline ? sync->value : 0,
                                      is_signal, false, &batch->points[batch->point_count]);
        batch->point_count += !error;
        return error;
    }
    if (sync->type != ZS_XE_SYNC_USER_FENCE || !is_signal || sync->address % 8)
        return -EINVAL;
    batch->fences[batch->fence_count++] = (struct zs_drm_fence){sync->address, sync->value};
    return 0;
}

static int read_syncs(const struct zs_drm_file *file, const struct zs_xe_exec *e,
                      struct zs_drm_batch *batch)
{
    if (!e->sync_count)
        return 0;
    batch->fences = calloc(e->sync_count, sizeof(*batch->fences));
    batch->points = calloc(e->sync_count, sizeof(*batch->points));
    int error = batch->fences && batch->points ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < e->sync_count && !error; i++) {
        struct zs_xe_sync sync;
        error = zs_drm_copy_in(&sync, e->syncs + i * sizeof(sync), sizeof(sync));
        if (!error)
            error = read_sync(file, &sync, batch);
    }
    return error;
}

int zs_drm_xe_exec(struct zs_drm_file *file, void *argument)
{
    const struct zs_xe_exec *e = argument;
    struct zs_drm_context *context = zs_drm_context(file, e->queue);
    struct zs_drm_batch batch = {.va = e->batches ? e->batch_va : 0};
    if (!context || !e->queue)
        return -ENOENT;
    if (e->extensions || e->batches > 1 || e->sync_count > ZS_XE_SYNCS_MAX ||
        (e->batches && (!batch.va || batch.va % 4)))
        return -EINVAL;
    int error = context->banned ? -ECANCELED : read_syncs(file, e, &batch);
    if (error) {
        free(batch.fences);
        zs_drm_points_end(batch.points, batch.point_count, false);
        return error;
    }
    return zs_drm_submit(context, 0, &batch);
}

/* ---- fences in memory --------------------------------------------------------------------------
 */

static bool is_reached(const struct zs_xe_wait *w, uint64_t now)
{
    uint64_t value = now & w->mask, wanted = w->value & w->mask;
    switch (w->compare) {
    case 0:
        return value == wanted;
    case 1:
        return value != wanted;
    case 2:
        return value > wanted;
    case 3:
        return value >= wanted;
    case 4:
        return value < wanted;
    default:
        return value <= wanted;
    }
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What stores it may be a command, a kernel or the host: it is looked at, less and less often. A
 * timeout below 0 is none; what is left of a relative one is told. */
int zs_drm_xe_wait(struct zs_drm_file *file, void *argument)
{
    enum { SHORTEST_US = 10, LONGEST_US = 500 };
    struct zs_xe_wait *w = argument;
    bool is_absolute = w->flags & ZS_XE_WAIT_ABSOLUTE;
    if (w->extensions || w->compare > 5 || w->flags & ~ZS_XE_WAIT_ABSOLUTE || w->address % 8)
        return -EINVAL;
    int64_t end = INT64_MAX, start = now_ns();
    if (is_absolute)
        end = w->timeout_ns;
    else if (w->timeout_ns >= 0 && w->timeout_ns < INT64_MAX - start)
        end = start + w->timeout_ns;
    int error = 0;
    for (uint32_t pause_us = SHORTEST_US; !error; pause_us = ZS_MIN(pause_us * 2, LONGEST_US)) {
        const struct zs_drm_context *context = zs_drm_context(file, w->queue);
        uint64_t value = 0;
        error = zs_drm_copy_in(&value, w->address, sizeof(value));
        if (!error && is_reached(w, value))
            break;
        if (!error && w->queue && (!context || context->banned))
            error = context ? -EIO : -ENOENT;
        else if (!error && now_ns() >= end)
            error = -ETIME;
        if (error)
            break;
        pthread_mutex_unlock(&file->lock);
        usleep(pause_us);
        pthread_mutex_lock(&file->lock);
    }
    if (!is_absolute && end != INT64_MAX)
        w->timeout_ns = ZS_MAX(end - now_ns(), 0);
    return error;
}
