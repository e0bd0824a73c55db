/* SPDX-License-Identifier: MIT */
/* Calls found by their number, and their arguments copied, as the kernel does it. */
#include "drm/i915.h"
#include "drm/xe.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

static const struct call {
    uint32_t nr, size_B;
    zs_drm_handler *run;
    const char *name;
} i915_calls[] =
    {
#define ZS_DRM_CALL(nr, type, handler) {nr, sizeof(type), zs_drm_##handler, #handler},
#include "drm/i915_calls.def"
},
  xe_calls[] = {
#include "drm/xe_calls.def"
#undef ZS_DRM_CALL
};

static const struct call *find_call(const struct zs_drm_node *node, uint32_t nr)
{
    bool is_xe = node->interface == ZS_DRM_XE;
    const struct call *calls = is_xe ? xe_calls : i915_calls;
    size_t count = is_xe ? ZS_ARRAY_LEN(xe_calls) : ZS_ARRAY_LEN(i915_calls);
    for (size_t i = 0; i < count; i++) {
        if (calls[i].nr == nr)
            return &calls[i];
    }
    return NULL;
}

int zs_drm_ioctl(struct zs_drm_file *file, unsigned long request, uint64_t argument)
{
    enum { ARGUMENT_MAX = 256 };
    _Alignas(16) uint8_t bytes[ARGUMENT_MAX] = {0};
    const struct call *call = find_call(file->node, _IOC_NR(request));
    if (!call) {
        zs_drm_log(ZS_DRM_WARN, "ioctl 0x%lx (number 0x%x) is not modelled", request,
                   (unsigned)_IOC_NR(request));
        return -EINVAL;
    }
    /* older and newer callers have shorter and longer structures: what is missing is 0 */
    size_t size_B = ZS_MIN((size_t)_IOC_SIZE(request), (size_t)call->size_B);
    int error = zs_drm_copy_in(bytes, argument, size_B);
    if (error)
        return error;
    pthread_mutex_lock(&file->lock);
    error = call->run(file, bytes);
    pthread_mutex_unlock(&file->lock);
    int written = error < 0 && error != -ETIME ? 0 : zs_drm_copy_out(argument, bytes, size_B);
    zs_drm_log(ZS_DRM_DEBUG, "%s: %s", call->name, error < 0 ? strerror(-error) : "done");
    return error ? error : written;
}

/* ---- both interfaces --------------------------------------------------------------------------
 */

int zs_drm_version(struct zs_drm_file *file, void *argument)
{
    const char *name = file->node->interface == ZS_DRM_XE ? "xe" : "i915";
    struct drm_version *v = argument;
    v->version_major = 1;
    v->version_minor = file->node->interface == ZS_DRM_XE ? 1 : 6;
    v->version_patchlevel = 0;
    size_t room_B = v->name_len;
    v->name_len = strlen(name);
    v->date_len = v->desc_len = 0;
    return v->name ? zs_drm_copy_out((uintptr_t)v->name, name, ZS_MIN(room_B, strlen(name))) : 0;
}

int zs_drm_get_cap(struct zs_drm_file *file, void *argument)
{
    struct drm_get_cap *cap = argument;
    cap->value = 0;
    if (cap->capability != DRM_CAP_TIMESTAMP_MONOTONIC && cap->capability != DRM_CAP_SYNCOBJ &&
        cap->capability != DRM_CAP_SYNCOBJ_TIMELINE)
        return -EINVAL;
    cap->value = 1;
    return 0;
}

int zs_drm_gem_close(struct zs_drm_file *file, void *argument)
{
    return zs_drm_object_close(file, ((struct drm_gem_close *)argument)->handle);
}
