/* SPDX-License-Identifier: MIT */
/* Batches: objects at the addresses that their user gives them, and an engine. */
#include "drm/i915.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { OBJECTS_MAX = 1 << 16 };

/* Without a map of its own a context has the engines that flags name. */
static int engine_of(const struct zs_drm_context *context, uint64_t flags, uint32_t *ret)
{
    uint32_t ring = flags & I915_EXEC_RING_MASK;
    static const uint8_t rings[] = {
        [I915_EXEC_DEFAULT] = 0, [I915_EXEC_RENDER] = 0, [I915_EXEC_BLT] = 1};
    *ret = ring;
    if (context->engine_count)
        return ring < context->engine_count ? 0 : -EINVAL;
    if (ring != I915_EXEC_DEFAULT && ring != I915_EXEC_RENDER && ring != I915_EXEC_BLT)
        return -EINVAL;
    *ret = rings[ring];
    return 0;
}

static int bind_object(struct zs_drm_context *context, const struct drm_i915_gem_exec_object2 *e,
                       struct zs_drm_object **ret)
{
    struct zs_drm_object *object = zs_drm_object(context->file, e->handle);
    if (!object)
        return -ENOENT;
    if (!(e->flags & EXEC_OBJECT_PINNED) || e->relocation_count) {
        zs_drm_log(ZS_DRM_WARN, "execbuffer: objects without an address of their own are not "
                                "modelled, nor are relocations");
        return -EINVAL;
    }
    /* a kernel would take its pages now */
    if (object->is_users && !zs_drm_is_mapped((uintptr_t)object->host, object->size_B))
        return -EFAULT;
    *ret = object;
    return zs_drm_object_bind(object, context->vm, e->offset);
}

static int bind_objects(struct zs_drm_context *context, const struct drm_i915_gem_execbuffer2 *e,
                        struct zs_drm_object **objects, uint64_t *ret_batch_va)
{
    size_t size_B = e->buffer_count * sizeof(struct drm_i915_gem_exec_object2);
    struct drm_i915_gem_exec_object2 *entries = malloc(size_B);
    int error = entries ? zs_drm_copy_in(entries, e->buffers_ptr, size_B) : -ENOMEM;
    for (uint32_t i = 0; i < e->buffer_count && !error; i++)
        error = bind_object(context, &entries[i], &objects[i]);
    uint32_t batch = e->flags & I915_EXEC_BATCH_FIRST ? 0 : e->buffer_count - 1;
    if (!error)
        *ret_batch_va = entries[batch].offset + e->batch_start_offset;
    free(entries);
    return error;
}

static int read_fences(const struct zs_drm_file *file, const struct drm_i915_gem_execbuffer2 *e,
                       struct zs_drm_batch *batch)
{
    if (!(e->flags & I915_EXEC_FENCE_ARRAY) || !e->num_cliprects)
        return 0;
    if (e->num_cliprects > OBJECTS_MAX)
        return -EINVAL;
    batch->points = calloc(2ull * e->num_cliprects, sizeof(*batch->points));
    int error = batch->points ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < e->num_cliprects && !error; i++) {
        struct drm_i915_gem_exec_fence fence;
        error = zs_drm_copy_in(&fence, e->cliprects_ptr + i * sizeof(fence), sizeof(fence));
        const uint32_t flags[] = {I915_EXEC_FENCE_WAIT, I915_EXEC_FENCE_SIGNAL};
        for (uint32_t k = 0; k < 2 && !error; k++) {
            if (!(fence.flags & flags[k]))
                continue;
            error = zs_drm_sync_point(file, fence.handle, 0, k == 1, false,
                                      &batch->points[batch->point_count]);
            batch->point_count += !error;
        }
    }
    return error;
}

int zs_drm_execbuffer(struct zs_drm_file *file, void *argument)
{
    const struct drm_i915_gem_execbuffer2 *e = argument;
    struct zs_drm_context *context = zs_drm_context(file, (uint32_t)e->rsvd1);
    const uint64_t refused = I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT | I915_EXEC_FENCE_SUBMIT |
                             (uint64_t)I915_EXEC_USE_EXTENSIONS | I915_EXEC_SECURE;
    uint64_t batch_va = 0;
    uint32_t engine = 0;
    if (!context)
        return -ENOENT;
    if (e->flags & refused) {
        zs_drm_log(ZS_DRM_WARN,
                   "execbuffer: fences and extensions (flags 0x%" PRIx64 ") are not modelled",
                   (uint64_t)e->flags);
        return -EINVAL;
    }
    int error = context->banned ? -EIO : engine_of(context, e->flags, &engine);
    if (!error && (!e->buffer_count || e->buffer_count > OBJECTS_MAX || e->batch_start_offset % 8))
        error = -EINVAL;
    struct zs_drm_object **objects = error ? NULL : calloc(e->buffer_count, sizeof(*objects));
    if (!error && !objects)
        error = -ENOMEM;
    struct zs_drm_batch batch = {.objects = objects, .object_count = e->buffer_count};
    if (!error)
        error = read_fences(file, e, &batch);
    if (!error)
        error = bind_objects(context, e, objects, &batch_va);
    if (error) {
        free(objects);
        zs_drm_points_end(batch.points, batch.point_count, false);
        return error;
    }
    batch.va = batch_va;
    return zs_drm_submit(context, engine, &batch);
}
