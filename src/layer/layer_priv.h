/* SPDX-License-Identifier: MIT */
#ifndef ZS_LAYER_LAYER_PRIV_H
#define ZS_LAYER_LAYER_PRIV_H

#include "api_calls.h"
#include "layer/layer.h"

extern struct zs_trace_set zs_layer_set;

/* Where a call stands in its table, and since which version of the specification. */
struct zs_layer_slot {
    uint32_t index;
    uint32_t since; /* ze_api_version_t */
    uint32_t call;
    void *wrapper; /* runs the tracers */
    void *next;    /* the pointer to the next layer's function, which the wrapper calls */
};

enum { ZS_LAYER_MOVED_MAX = 4 };

struct zs_layer_table {
    const char *name; /* of the function that hands it out */
    const struct zs_layer_slot *slots;
    size_t slot_count;
    uint32_t moved[ZS_LAYER_MOVED_MAX]; /* versions that have another layout, then 0 */
};

/*
 * The loader, which `caller` is an address of, hands us one of its tables, filled: have the layer
 * below wrap it, then wrap it. Wrapping twice does nothing.
 */
ze_result_t zs_layer_get_table(const struct zs_layer_table *t, const void *caller,
                               ze_api_version_t version, void *table);

/* Generated from src/calls/api/opencl.def: places in the ICD loader's table, and extensions, each
 * with a function for each driver whose own it wraps. */
struct zs_layer_extension {
    const char *name;
    void *wrappers[ZS_CL_DRIVERS];
    void *next; /* as many pointers to functions */
};
extern const struct zs_layer_slot zs_layer_cl_slots[];
extern const size_t zs_layer_cl_slot_count;
extern const struct zs_layer_extension zs_layer_extensions[];
extern const size_t zs_layer_extension_count;

/* What the application gets for an extension function that a driver gave: ours around it, or where
 * it is not known, or no function of ours is left, the driver's. */
void *zs_layer_extension(const char *name, void *function);
/* A loader has taken our functions. */
void zs_layer_set_active(void);

/* Generated: by call, where the pointer to the next layer's or driver's function is kept. */
extern void *const zs_layer_next_functions[];

/* The function of the next layer or driver, NULL before the loader gave its tables. */
void *zs_layer_next(uint32_t call);

#endif
