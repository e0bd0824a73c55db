/* SPDX-License-Identifier: MIT */
/* Memory objects. */
#include "drm/i915.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

/* Placements are not told apart: there is one memory. */
static int check_extensions(uint64_t at)
{
    enum { CHAIN_MAX = 16 };
    for (uint32_t i = 0; at; i++) {
        struct i915_user_extension extension;
        int error = i == CHAIN_MAX ? -E2BIG : zs_drm_copy_in(&extension, at, sizeof(extension));
        if (error)
            return error;
        if (extension.name != I915_GEM_CREATE_EXT_MEMORY_REGIONS) {
            zs_drm_log(ZS_DRM_WARN, "gem_create: extension %" PRIu32 " is not modelled",
                       extension.name);
            return -EINVAL;
        }
        at = extension.next_extension;
    }
    return 0;
}

int zs_drm_gem_create(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_create_ext *c = argument; /* the older form is its beginning */
    int error = check_extensions(c->extensions);
    if (!error)
        error = zs_drm_object_create(file, c->size, &c->handle);
    if (!error)
        c->size = zs_align_up(c->size, 4096);
    return error;
}

int zs_drm_gem_userptr(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_userptr *u = argument;
    if (u->flags & ~(uint32_t)(I915_USERPTR_READ_ONLY | I915_USERPTR_PROBE))
        return -EINVAL;
    if (u->flags & I915_USERPTR_PROBE && !zs_drm_is_mapped(u->user_ptr, u->user_size))
        return -EFAULT;
    return zs_drm_object_wrap(file, u->user_ptr, u->user_size, u->flags & I915_USERPTR_READ_ONLY,
                              &u->handle);
}

int zs_drm_gem_mmap_offset(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_mmap_offset *m = argument;
    const struct zs_drm_object *object = zs_drm_object(file, m->handle);
    if (!object)
        return -ENOENT;
    if (object->is_users || m->extensions)
        return object->is_users ? -ENODEV : -EINVAL;
    m->offset = object->offset_B;
    return 0;
}

int zs_drm_gem_set_domain(struct zs_drm_file *file, void *argument)
{
    struct zs_drm_object *object =
        zs_drm_object(file, ((struct drm_i915_gem_set_domain *)argument)->handle);
    return object ? zs_drm_wait(object, NULL) : -ENOENT;
}

/* Only remembered: surfaces say how they are tiled. */
int zs_drm_gem_set_tiling(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_set_tiling *t = argument;
    struct zs_drm_object *object = zs_drm_object(file, t->handle);
    if (!object || t->tiling_mode > I915_TILING_LAST)
        return object ? -EINVAL : -ENOENT;
    object->tiling = t->tiling_mode;
    object->stride_B = t->stride;
    t->swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
    return 0;
}

int zs_drm_gem_get_tiling(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_get_tiling *t = argument;
    const struct zs_drm_object *object = zs_drm_object(file, t->handle);
    if (!object)
        return -ENOENT;
    t->tiling_mode = object->tiling;
    t->swizzle_mode = t->phys_swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
    return 0;
}

int zs_drm_gem_busy(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_busy *b = argument;
    const struct zs_drm_object *object = zs_drm_object(file, b->handle);
    if (!object)
        return -ENOENT;
    b->busy = object->busy ? 1u << 16 : 0; /* read by the render engine */
    return 0;
}

/* timeout_ns below 0: for ever; what is left of it is told. */
int zs_drm_gem_wait(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_wait *w = argument;
    struct zs_drm_object *object = zs_drm_object(file, w->bo_handle);
    const int64_t second = 1000000000, longest = INT64_C(1) << 60;
    struct timespec start, deadline;
    if (!object || w->flags)
        return object ? -EINVAL : -ENOENT;
    if (w->timeout_ns < 0)
        return zs_drm_wait(object, NULL);
    int64_t timeout = ZS_MIN(w->timeout_ns, longest);
    clock_gettime(CLOCK_MONOTONIC, &start);
    deadline.tv_sec = start.tv_sec + (start.tv_nsec + timeout % second) / second + timeout / second;
    deadline.tv_nsec = (start.tv_nsec + timeout % second) % second;
    int error = zs_drm_wait(object, &deadline);
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t took = (end.tv_sec - start.tv_sec) * second + end.tv_nsec - start.tv_nsec;
    w->timeout_ns = took < timeout ? timeout - took : 0;
    return error;
}
