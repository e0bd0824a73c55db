/* SPDX-License-Identifier: MIT */
/*
 * zescope: enter and exit callbacks around the Level Zero calls of this process.
 *
 *     static void print(const struct zs_api_event *event, void *user_data, void **instance_data)
 *     {
 *         if (event->is_exit)
 *             printf("%s = 0x%x\n", event->name, *event->result);
 *     }
 *     ...
 *     zs_api_trace_init(NULL, &diag);            // before the first zeInit of the process
 *     struct zs_api_tracer *tracer;
 *     zs_api_tracer_create(print, NULL, &tracer);
 *     zs_api_tracer_enable(tracer, true);
 *     ...
 *     zs_api_tracer_destroy(tracer);
 *
 * Guarantees (Level Zero Tools Programming Guide, "Enabling/Disabling and Destruction"):
 *  - enter and exit of a tracer run in pairs for a call, whatever other threads enable, disable or
 *    destroy meanwhile; a disabled tracer starts no new pair;
 *  - destroying a tracer waits for its pairs that are under way in other threads;
 *  - calls made inside a tracer's callback are not traced by that tracer (others see them);
 *  - calls made before a tracer was created or enabled are simply not seen by it.
 * Callbacks run on the calling thread. They may change parameters on enter and parameters and the
 * result on exit. Up to 32 tracers may be enabled at once.
 *
 * Where the calls come from:
 *  - the zescope loader layer (libzescope_layer.so): every ze*, zet* and zes* call, core and
 *    extensions. It must be in place before the loader initialises, hence zs_api_trace_init;
 *  - the loader's own tracing layer (zelTracer*), used where the loader was initialised without the
 *    zescope layer but with ZE_ENABLE_TRACING_LAYER=1: ze* calls only, and results cannot be
 * changed.
 *
 * All functions may be called from any thread, except zs_api_trace_init.
 */
#ifndef ZESCOPE_TRACE_H
#define ZESCOPE_TRACE_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zs_api_tracer;

struct zs_api_event {
    uint32_t call;    /* index of the call, see zs_api_call_name */
    const char *name; /* "zeCommandListAppendLaunchKernel"; lives as long as the process */
    bool is_exit;
    uint32_t param_count;
    void **params;   /* params[i] points to parameter i; the layout of ze_*_params_t */
    int32_t *result; /* ze_result_t or OpenCL's error code on exit, may be changed;
                        NULL on enter */
    void *internal;  /* the library's, for zs_api_event_format; NULL in an event that you make */
};

/* *instance_data belongs to this tracer and this call: NULL on enter, kept until exit. */
typedef void (*zs_api_callback)(const struct zs_api_event *event, void *user_data,
                                void **instance_data);

enum zs_api_backend {
    ZS_API_BACKEND_NONE,   /* no call can be seen */
    ZS_API_BACKEND_LAYER,  /* the zescope layer */
    ZS_API_BACKEND_LOADER, /* the loader's tracing layer */
};

struct zs_api_trace_options {
    size_t size_B;          /* sizeof(struct zs_api_trace_options) */
    const char *layer_path; /* NULL: beside libzescope, or the environment's ZESCOPE_LAYER */
};

/*
 * Load the layer and have the loader take it (sets ZE_ENABLE_VALIDATION_LAYER=1 and
 * ZE_ENABLE_TRACING_LAYER=1 in the environment; an application's own wish for the validation layer
 * is kept). Call it before the first zeInit and before other threads use the environment. options
 * may be NULL. 0, or -ENOENT / -ELIBACC with a sentence when the layer cannot be loaded.
 */
ZS_API int zs_api_trace_init(const struct zs_api_trace_options *options, struct zs_diag *diag);
/* Which backend sees calls; before the first zeInit the one that is prepared. */
ZS_API enum zs_api_backend zs_api_trace_backend(void);

/* A disabled tracer for all calls. 0, -ENOMEM, -ENODEV (no backend). */
ZS_API int zs_api_tracer_create(zs_api_callback callback, void *user_data,
                                struct zs_api_tracer **ret_tracer);
/* Limit the callback to calls whose name matches one of the extended regular expressions. Only
 * while disabled. 0, -EINVAL (with a sentence), -EBUSY, -ENOMEM. */
ZS_API int zs_api_tracer_filter(struct zs_api_tracer *tracer, const char *const *include,
                                size_t include_count, const char *const *exclude,
                                size_t exclude_count, struct zs_diag *diag);
/* 0, -ENOMEM, -ENOSPC (too many are enabled). */
ZS_API int zs_api_tracer_enable(struct zs_api_tracer *tracer, bool enabled);
/* Disable, wait for pairs under way in other threads, free. -EDEADLK, and only disabled, when
 * called inside one of the tracer's own pairs. */
ZS_API int zs_api_tracer_destroy(struct zs_api_tracer *tracer);

/* Calls that were not traced: more than 8 traced calls nested on one thread, or no memory. */
ZS_API uint64_t zs_api_untraced_count(void);

/* The calls that are known, those of later specifications than the build's headers too: 0 .. count
 * - 1. */
ZS_API uint32_t zs_api_call_count(void);
ZS_API const char *zs_api_call_name(uint32_t call); /* NULL beyond the count */
ZS_API int zs_api_call_find(const char *name);      /* index or -ENOENT */

enum zs_api_kind {
    ZS_API_KIND_HANDLE,
    ZS_API_KIND_ENUM,
    ZS_API_KIND_FLAGS,
    ZS_API_KIND_BOOL,
    ZS_API_KIND_U8,
    ZS_API_KIND_U16,
    ZS_API_KIND_U32,
    ZS_API_KIND_U64,
    ZS_API_KIND_I8,
    ZS_API_KIND_I32,
    ZS_API_KIND_I64,
    ZS_API_KIND_SIZE,
    ZS_API_KIND_F32,
    ZS_API_KIND_F64,
    ZS_API_KIND_STRING,
    ZS_API_KIND_STRUCT,
    ZS_API_KIND_STRUCT_PTR,
    ZS_API_KIND_HANDLE_PTR,
    ZS_API_KIND_VALUE_PTR,
    ZS_API_KIND_PTR,
    ZS_API_KIND_ARRAY,
    ZS_API_KIND_FUNC,
    ZS_API_KIND_OPAQUE,
};

enum zs_api_flow { ZS_API_FLOW_IN, ZS_API_FLOW_OUT, ZS_API_FLOW_INOUT };

struct zs_api_param {
    const char *name; /* "hCommandList" */
    const char *type; /* "ze_command_list_handle_t" */
    const char *base; /* the type pointed to, or of the value */
    enum zs_api_kind kind;
    enum zs_api_flow flow; /* of what is pointed to: INOUT are counts and structures, which have a
                              value before the call */
    uint32_t size_B;       /* of the parameter */
    int range;             /* index of the parameter that counts what this one points to, or -1;
                              of OpenCL's more: internal */
    int sub;               /* internal: which structure or number is pointed to */
};
/* Parameter i of a call; false beyond the last. */
ZS_API bool zs_api_call_param(uint32_t call, uint32_t i, struct zs_api_param *ret_param);

/* What a call returned, "ZE_RESULT_NOT_READY" or "CL_INVALID_VALUE"; NULL when that is not known.
 * call may be NULL: what is negative is OpenCL's. */
ZS_API const char *zs_api_result_name(const char *call, int32_t result);
/* The enumerator of a value, "ZE_RESULT_SUCCESS"; NULL when the enum type or value is unknown. */
ZS_API const char *zs_api_enum_name(const char *type, int64_t value);

/*
 * One event as a C-like line without newline, "zeDriverGet(pCount = 0x7ffd... -> 1, phDrivers =
 * NULL) = ZE_RESULT_SUCCESS" on exit and without the result on enter. Pointers are followed as the
 * headers describe them: only call it inside the callback. Returns the length without the
 * terminating NUL that a large enough buffer would need, like snprintf.
 */
ZS_API size_t zs_api_event_format(const struct zs_api_event *event, char *ret_text, size_t size_B);

#ifdef __cplusplus
}
#endif

#endif
