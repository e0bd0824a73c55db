/* SPDX-License-Identifier: MIT */
/* VMs and contexts. */
#include "drm/i915.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

int zs_drm_vm_create_call(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_vm_control *v = argument;
    return v->extensions || v->flags ? -EINVAL
                                     : zs_drm_vm_add(file, zs_drm_vm_create(file->node), &v->vm_id);
}

int zs_drm_vm_destroy(struct zs_drm_file *file, void *argument)
{
    return zs_drm_vm_remove(file, ((struct drm_i915_gem_vm_control *)argument)->vm_id);
}

/* ---- parameters --------------------------------------------------------------------------------
 */

static int set_engines(struct zs_drm_context *context, const struct drm_i915_gem_context_param *p)
{
    enum { HEADER_B = offsetof(struct i915_context_param_engines, engines) };
    struct {
        uint64_t extensions;
        struct i915_engine_class_instance engines[ZS_DRM_ENGINES_MAX];
    } map = {0};
    uint32_t count = p->size < HEADER_B ? 0 : (p->size - HEADER_B) / sizeof(map.engines[0]);
    if (!count || count > ZS_DRM_ENGINES_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < ZS_DRM_ENGINES_MAX; i++) {
        if (context->queues[i]) /* it is too late */
            return -EBUSY;
    }
    int error = zs_drm_copy_in(&map, p->value, HEADER_B + count * sizeof(map.engines[0]));
    if (!error && map.extensions) {
        zs_drm_log(ZS_DRM_WARN, "context_setparam: engines that are balanced are not modelled");
        error = -EINVAL;
    }
    for (uint32_t i = 0; i < count && !error; i++) {
        context->engines[i] =
            (struct zs_drm_engine){map.engines[i].engine_class, map.engines[i].engine_instance};
        error = zs_drm_has_engine(context->file->node, context->engines[i]) ? 0 : -ENOENT;
    }
    context->engine_count = error ? 0 : count;
    return error;
}

static int set_vm(struct zs_drm_context *context, uint64_t id)
{
    struct zs_drm_vm *vm = zs_drm_vm(context->file, id);
    if (!vm)
        return -ENOENT;
    for (uint32_t i = 0; i < ZS_DRM_ENGINES_MAX; i++) {
        if (context->queues[i])
            return -EBUSY;
    }
    zs_drm_vm_put(context->vm);
    context->vm = vm;
    vm->references++;
    return 0;
}

static int set_parameter(struct zs_drm_context *context, const struct drm_i915_gem_context_param *p)
{
    switch (p->param) {
    case I915_CONTEXT_PARAM_VM:
        return set_vm(context, p->value);
    case I915_CONTEXT_PARAM_ENGINES:
        return set_engines(context, p);
    case I915_CONTEXT_PARAM_PRIORITY: /* how it is scheduled makes no difference here */
    case I915_CONTEXT_PARAM_SSEU:
    case I915_CONTEXT_PARAM_RECOVERABLE:
    case I915_CONTEXT_PARAM_BANNABLE:
    case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
        return 0;
    case I915_CONTEXT_PARAM_PERSISTENCE:
        context->is_persistent = p->value;
        return 0;
    default:
        zs_drm_log(ZS_DRM_WARN, "context_setparam 0x%" PRIx64 " is not modelled",
                   (uint64_t)p->param);
        return -EINVAL;
    }
}

int zs_drm_context_setparam(struct zs_drm_file *file, void *argument)
{
    const struct drm_i915_gem_context_param *p = argument;
    struct zs_drm_context *context = zs_drm_context(file, p->ctx_id);
    return context ? set_parameter(context, p) : -ENOENT;
}

static int get_sseu(const struct zs_drm_node *node, const struct drm_i915_gem_context_param *p)
{
    const struct zs_gpu_model *model = node->model;
    struct drm_i915_gem_context_param_sseu sseu;
    if (p->size < sizeof(sseu))
        return -EINVAL;
    int error = zs_drm_copy_in(&sseu, p->value, sizeof(sseu));
    if (error)
        return error;
    sseu.slice_mask = (UINT64_C(1) << model->slices) - 1;
    sseu.subslice_mask = (UINT64_C(1) << model->subslices_per_slice) - 1;
    sseu.min_eus_per_subslice = sseu.max_eus_per_subslice = (uint16_t)model->eus_per_subslice;
    return zs_drm_copy_out(p->value, &sseu, sizeof(sseu));
}

int zs_drm_context_getparam(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_context_param *p = argument;
    struct zs_drm_context *context = zs_drm_context(file, p->ctx_id);
    uint32_t id = 0;
    int error = context ? 0 : -ENOENT;
    if (error)
        return error;
    switch (p->param) {
    case I915_CONTEXT_PARAM_GTT_SIZE:
        p->value = UINT64_C(1) << 48;
        break;
    case I915_CONTEXT_PARAM_PERSISTENCE:
        p->value = context->is_persistent;
        break;
    case I915_CONTEXT_PARAM_RECOVERABLE:
    case I915_CONTEXT_PARAM_BANNABLE:
        p->value = 1;
        break;
    case I915_CONTEXT_PARAM_VM:
        context->vm->references++;
        error = zs_drm_vm_add(file, context->vm, &id);
        p->value = id;
        break;
    case I915_CONTEXT_PARAM_SSEU:
        error = get_sseu(file->node, p);
        break;
    default:
        zs_drm_log(ZS_DRM_WARN, "context_getparam 0x%" PRIx64 " is not modelled",
                   (uint64_t)p->param);
        return -EINVAL;
    }
    return error;
}

/* ---- contexts ----------------------------------------------------------------------------------
 */

static int apply_extensions(struct zs_drm_context *context, uint64_t at)
{
    enum { CHAIN_MAX = 16 };
    for (uint32_t i = 0; at; i++) {
        struct drm_i915_gem_context_create_ext_setparam extension;
        int error = i == CHAIN_MAX ? -E2BIG : zs_drm_copy_in(&extension, at, sizeof(extension));
        if (!error && extension.base.name != I915_CONTEXT_CREATE_EXT_SETPARAM)
            error = -EINVAL;
        if (!error)
            error = set_parameter(context, &extension.param);
        if (error)
            return error;
        at = extension.base.next_extension;
    }
    return 0;
}

int zs_drm_context_create_call(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_gem_context_create_ext *c = argument;
    const uint32_t known =
        I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS | I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE;
    struct zs_drm_vm *vm = c->flags & ~known ? NULL : zs_drm_vm_create(file->node);
    if (!vm)
        return c->flags & ~known ? -EINVAL : -ENOMEM;
    int error = zs_drm_context_create(file, vm, &c->ctx_id);
    zs_drm_vm_put(vm);
    if (error || !(c->flags & I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS))
        return error;
    error = apply_extensions(zs_drm_context(file, c->ctx_id), c->extensions);
    if (error)
        zs_drm_context_destroy(file, c->ctx_id);
    return error;
}

int zs_drm_context_destroy_call(struct zs_drm_file *file, void *argument)
{
    return zs_drm_context_destroy(file, ((struct drm_i915_gem_context_destroy *)argument)->ctx_id);
}
