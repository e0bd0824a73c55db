/* SPDX-License-Identifier: MIT */
/*
 * The interface of the i915 kernel driver, as upstream kernels have it: rows of i915_calls.def.
 * Each handler gets the call's argument, already copied in, and file->lock.
 */
#ifndef ZS_DRM_I915_H
#define ZS_DRM_I915_H

#include "drm/drm_priv.h"

#include <i915_drm.h>

#define ZS_DRM_CALL(nr, type, handler) zs_drm_handler zs_drm_##handler;
#include "drm/i915_calls.def"
#undef ZS_DRM_CALL

#endif
