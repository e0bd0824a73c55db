/* SPDX-License-Identifier: MIT */
/*
 * The interception of every Level Zero call of the process: ze*, zet* and zes*, core and
 * extensions, whatever the driver. Generated from the headers (scripts/gen-api); each call runs the
 * tracers of one zs_trace_set around the next layer's function.
 *
 * It is a loader layer: the library carries the SONAME of the loader's validation layer, and
 * ZE_ENABLE_VALIDATION_LAYER=1 makes the loader (1.8 and newer) open a library of that name and
 * have it wrap the tables. A library of that name that is already in the process wins over the one
 * on disk, so whoever wants the layer opens it by its path, RTLD_LOCAL, before the first zeInit.
 * (RTLD_LOCAL, and not preloaded: its zeGet*ProcAddrTable must not hide the loader's own.) Where
 * the application wanted the real validation layer, ZESCOPE_NEXT_LAYER=1 (the one beside the
 * loader) or a path keeps that one in the chain.
 */
#ifndef ZS_LAYER_LAYER_H
#define ZS_LAYER_LAYER_H

#include "tracers/tracers.h"

/* The layer's functions, for users in other libraries of the process (found with dlsym). */
struct zs_layer_interface {
    uint32_t size_B; /* of this struct as the layer knows it */
    uint32_t call_count;
    struct zs_trace_set *set;
    /* Whether a loader has taken our functions into its tables. */
    bool (*is_active)(void);
    int (*tracer_new)(struct zs_trace_set *set, void *user_data, struct zs_tracer **ret_tracer);
    int (*tracer_set_any)(struct zs_tracer *tracer, zs_trace_any_fn fn);
    int (*tracer_set_enter)(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn);
    int (*tracer_set_exit)(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn);
    int (*tracer_set_filter)(struct zs_tracer *tracer, const uint64_t *words, size_t count);
    int (*tracer_enable)(struct zs_tracer *tracer, bool enabled);
    int (*tracer_free)(struct zs_tracer *tracer);
    /* What the layer calls for a call: below the loader's entry points and all that stands above
     * the layer. NULL before a loader has taken our functions, or where the driver has none. */
    void *(*next)(uint32_t call);
};

/* Exported by the layer. The interface lives as long as the process. */
ZS_API const struct zs_layer_interface *zs_layer_get_interface(void);

#endif
