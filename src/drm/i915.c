/* SPDX-License-Identifier: MIT */
/* Calls found by their number, and their arguments copied, as the kernel does it. */
#include "drm/i915.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

static const struct call {
    uint32_t nr, size_B;
    zs_drm_handler *run;
    const char *name;
} calls[] = {
#define ZS_DRM_CALL(nr, type, handler) {nr, sizeof(type), zs_drm_##handler, #handler},
#include "drm/i915_calls.def"
#undef ZS_DRM_CALL
};

int zs_drm_ioctl(struct zs_drm_file *file, unsigned long request, uint64_t argument)
{
    enum { ARGUMENT_MAX = 256 };
    _Alignas(16) uint8_t bytes[ARGUMENT_MAX] = {0};
    const struct call *call = NULL;
    for (size_t i = 0; i < ZS_ARRAY_LEN(calls) && !call; i++)
        call = calls[i].nr == _IOC_NR(request) ? &calls[i] : NULL;
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
    int written = error && error != -ETIME ? 0 : zs_drm_copy_out(argument, bytes, size_B);
    zs_drm_log(ZS_DRM_DEBUG, "%s: %s", call->name, error ? strerror(-error) : "done");
    return error ? error : written;
}
