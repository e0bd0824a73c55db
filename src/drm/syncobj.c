/* SPDX-License-Identifier: MIT */
/*
 * Synchronisation objects: what batches of one file wait for and signal. A timeline counts; a
 * binary one is a timeline, too, on which each use is the next point. What was submitted is reached
 * in any case: batches that fail or are killed signal, as a kernel driver's fences do. Sharing with
 * other files, and points handed on before they are reached, are refused.
 */
#include "drm/xe.h"

#include <errno.h>
#include <stdlib.h>

enum { COUNT_MAX = 4096 };

static struct zs_drm_sync *find(const struct zs_drm_file *file, uint64_t handle)
{
    return handle && handle <= file->syncs.count ? file->syncs.items[handle - 1] : NULL;
}

void zs_drm_sync_put(struct zs_drm_sync *sync)
{
    if (sync && --sync->references == 0)
        free(sync);
}

int zs_drm_sync_point(const struct zs_drm_file *file, uint64_t handle, uint64_t value,
                      bool is_signal, bool may_come, struct zs_drm_point *ret)
{
    struct zs_drm_sync *sync = find(file, handle);
    if (!sync)
        return -ENOENT;
    bool is_submitted = sync->has_fence && sync->submitted >= value;
    if (!is_signal && !is_submitted && !may_come)
        return -EINVAL;
    *ret = (struct zs_drm_point){sync, value, is_signal};
    if (!is_signal && !value) /* of a binary one: the last, or the first that comes */
        ret->value = sync->has_fence ? sync->submitted : sync->submitted + 1;
    sync->references++;
    return 0;
}

void zs_drm_point_submit(struct zs_drm_point *point)
{
    struct zs_drm_sync *sync = point->sync;
    if (!point->value)
        point->value = sync->submitted + 1;
    sync->submitted = ZS_MAX(sync->submitted, point->value);
    sync->has_fence = true;
}

void zs_drm_points_end(struct zs_drm_point *points, uint32_t count, bool is_done)
{
    for (uint32_t i = 0; i < count; i++) {
        struct zs_drm_sync *sync = points[i].sync;
        if (points[i].is_signal && is_done)
            sync->reached = ZS_MAX(sync->reached, points[i].value);
        zs_drm_sync_put(sync);
    }
    free(points);
}

/* ---- calls -------------------------------------------------------------------------------------
 */

int zs_drm_syncobj_create(struct zs_drm_file *file, void *argument)
{
    struct drm_syncobj_create *c = argument;
    if (c->flags & ~(uint32_t)DRM_SYNCOBJ_CREATE_SIGNALED)
        return -EINVAL;
    size_t i = 0;
    while (i < file->syncs.count && file->syncs.items[i])
        i++;
    struct zs_drm_sync *sync = calloc(1, sizeof(*sync));
    if (!sync || (i == file->syncs.count && !ZS_VEC_RESERVE(&file->syncs, 1))) {
        free(sync);
        return -ENOMEM;
    }
    *sync = (struct zs_drm_sync){.references = 1};
    sync->has_fence = c->flags & DRM_SYNCOBJ_CREATE_SIGNALED;
    file->syncs.items[i] = sync;
    file->syncs.count = ZS_MAX(file->syncs.count, i + 1);
    c->handle = (uint32_t)i + 1;
    return 0;
}

int zs_drm_syncobj_destroy(struct zs_drm_file *file, void *argument)
{
    uint32_t handle = ((struct drm_syncobj_destroy *)argument)->handle;
    struct zs_drm_sync *sync = find(file, handle);
    if (!sync)
        return -EINVAL;
    file->syncs.items[handle - 1] = NULL;
    zs_drm_sync_put(sync);
    return 0;
}

/* Handles, and points if there are any, as they stand in the user's memory. */
static int read_points(struct zs_drm_file *file, uint64_t handles, uint64_t values, uint32_t count,
                       bool is_signal, bool may_come, struct zs_drm_point **ret)
{
    *ret = NULL;
    if (!count || count > COUNT_MAX)
        return -EINVAL;
    struct zs_drm_point *points = calloc(count, sizeof(*points));
    uint32_t done = 0;
    int error = points ? 0 : -ENOMEM;
    for (; done < count && !error; done += !error) {
        uint32_t handle = 0;
        uint64_t value = 0;
        error = zs_drm_copy_in(&handle, handles + done * sizeof(handle), sizeof(handle));
        if (!error && values)
            error = zs_drm_copy_in(&value, values + done * sizeof(value), sizeof(value));
        if (!error)
            error = zs_drm_sync_point(file, handle, value, is_signal, may_come, &points[done]);
    }
    if (error)
        zs_drm_points_end(points, done, false);
    else
        *ret = points;
    return error;
}

static int wait_for(struct zs_drm_file *file, const struct zs_drm_point *points, uint32_t count,
                    bool all, int64_t until_ns, uint32_t *ret_first)
{
    const int64_t second = 1000000000;
    const struct timespec deadline = {ZS_MAX(until_ns, 0) / second, ZS_MAX(until_ns, 0) % second};
    for (int error = 0;;) {
        uint32_t reached = 0, first = count;
        for (uint32_t i = 0; i < count; i++) {
            bool is_reached = points[i].sync->has_fence && zs_drm_is_reached(&points[i]);
            reached += is_reached;
            first = is_reached ? ZS_MIN(first, i) : first;
        }
        if (all ? reached == count : reached > 0) {
            *ret_first = all ? 0 : first;
            return 0;
        }
        if (error)
            return -ETIME;
        error = pthread_cond_timedwait(&file->idle, &file->lock, &deadline);
    }
}

static int wait_call(struct zs_drm_file *file, uint64_t handles, uint64_t values, uint32_t count,
                     uint32_t flags, int64_t until_ns, uint32_t *ret_first)
{
    const uint32_t all = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
                   may_come = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
    struct zs_drm_point *points;
    if (flags & ~(all | may_come))
        return -EINVAL;
    int error = read_points(file, handles, values, count, false, flags & may_come, &points);
    if (error)
        return error;
    error = wait_for(file, points, count, flags & all, until_ns, ret_first);
    zs_drm_points_end(points, count, false);
    return error;
}

int zs_drm_syncobj_wait(struct zs_drm_file *file, void *argument)
{
    struct drm_syncobj_wait *w = argument;
    return wait_call(file, w->handles, 0, w->count_handles, w->flags, w->timeout_nsec,
                     &w->first_signaled);
}

int zs_drm_syncobj_timeline_wait(struct zs_drm_file *file, void *argument)
{
    struct drm_syncobj_timeline_wait *w = argument;
    return wait_call(file, w->handles, w->points, w->count_handles, w->flags, w->timeout_nsec,
                     &w->first_signaled);
}

static int signal_call(struct zs_drm_file *file, uint64_t handles, uint64_t values, uint32_t count)
{
    struct zs_drm_point *points;
    int error = read_points(file, handles, values, count, true, false, &points);
    for (uint32_t i = 0; i < count && !error; i++)
        zs_drm_point_submit(&points[i]);
    if (!error)
        zs_drm_points_end(points, count, true);
    pthread_cond_broadcast(&file->idle);
    return error;
}

int zs_drm_syncobj_signal(struct zs_drm_file *file, void *argument)
{
    const struct drm_syncobj_array *a = argument;
    return signal_call(file, a->handles, 0, a->count_handles);
}

int zs_drm_syncobj_timeline_signal(struct zs_drm_file *file, void *argument)
{
    const struct drm_syncobj_timeline_array *a = argument;
    return a->flags ? -EINVAL : signal_call(file, a->handles, a->points, a->count_handles);
}

int zs_drm_syncobj_reset(struct zs_drm_file *file, void *argument)
{
    const struct drm_syncobj_array *a = argument;
    struct zs_drm_point *points;
    int error = read_points(file, a->handles, 0, a->count_handles, true, false, &points);
    for (uint32_t i = 0; i < a->count_handles && !error; i++)
        points[i].sync->has_fence = false;
    if (!error)
        zs_drm_points_end(points, a->count_handles, false);
    return error;
}

int zs_drm_syncobj_query(struct zs_drm_file *file, void *argument)
{
    const struct drm_syncobj_timeline_array *a = argument;
    const uint32_t last = DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED;
    struct zs_drm_point *points;
    if (a->flags & ~last)
        return -EINVAL;
    int error = read_points(file, a->handles, 0, a->count_handles, true, false, &points);
    if (error)
        return error;
    for (uint32_t i = 0; i < a->count_handles && !error; i++) {
        const struct zs_drm_sync *sync = points[i].sync;
        uint64_t value = a->flags & last ? sync->submitted : sync->reached;
        error = zs_drm_copy_out(a->points + i * sizeof(value), &value, sizeof(value));
    }
    zs_drm_points_end(points, a->count_handles, false);
    return error;
}
