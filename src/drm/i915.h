/* SPDX-License-Identifier: MIT */
/*
 * The interface of the i915 kernel driver, as upstream kernels have it: rows of i915_calls.def.
 * Each handler gets the call's argument, already copied in, and file->lock.
 */
#ifndef ZS_DRM_I915_H
#define ZS_DRM_I915_H

#include "drm/drm_priv.h"

#include <i915_drm.h>

typedef int zs_drm_handler(struct zs_drm_file *file, void *argument);
#define ZS_DRM_CALL(nr, type, handler) zs_drm_handler zs_drm_##handler;
#include "drm/i915_calls.def"
#undef ZS_DRM_CALL

/* i915_query.c: the engines of a device; how many. */
uint32_t zs_drm_engines(const struct zs_drm_node *node,
                        struct zs_drm_engine ret[ZS_DRM_ENGINES_MAX]);

#endif
