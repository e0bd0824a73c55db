/* SPDX-License-Identifier: MIT */
/* zescope/trace.h over the layer or over the loader's tracing layer. */
#include "api_calls.h"
#include "base/diag.h"
#include "base/filter.h"
#include "base/options.h"
#include "calls/codec.h"
#include "layer/layer.h"

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct zs_api_tracer {
    struct zs_tracer *tracer;
    zs_api_callback callback;
    void *user_data;
};

/*
 * The backend is the process's: there is one loader. `layer` is the interface of the layer library;
 * the loader's tracer feeds our own set, so that all guarantees are kept by the same code.
 */
static struct {
    pthread_mutex_t lock;
    const struct zs_layer_interface *layer;
    zel_tracer_handle_t zel_tracer;
    struct zs_trace_set zel_set;
} backend = {.lock = PTHREAD_MUTEX_INITIALIZER, .zel_set = {.call_count = ZS_API_CALL_COUNT}};

static int zel_status(int32_t result)
{
    return result == 0 ? 0 : result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ? -ENOMEM : -ENODEV;
}

/* The loader's tracing layer: each call's prologue and epilogue enter and leave our set. */
static void zel_enter(uint32_t call, uint32_t param_count, void *params, void **instance_data)
{
    struct zs_trace_frame *frame = malloc(sizeof(*frame));
    *instance_data = NULL;
    if (!frame) {
        atomic_fetch_add(&backend.zel_set.untraced, 1);
    } else if (zs_trace_enter(&backend.zel_set, call, params, param_count, frame)) {
        *instance_data = frame;
    } else {
        free(frame);
    }
}

static void zel_exit(uint32_t call, uint32_t param_count, void *params, int32_t result,
                     void **instance_data)
{
    struct zs_trace_frame *frame = *instance_data;
    if (!frame)
        return;
    zs_trace_exit(call, params, param_count, result, frame);
    free(frame);
}

/* Only ze calls can be had from the loader: the other domains' rows expand to nothing. */
#define ZEL_cl(...)
#define ZEL_ze(...) __VA_ARGS__
#define ZEL_zet(...)
#define ZEL_zes(...)
#define ZEL_zer(...)
#define ZE_CALL(index, function, domain, count, first)                                             \
    ZEL_##domain(                                                                                  \
        static void zel_enter_##function(void *params, ze_result_t result, void *user,             \
                                         void **instance_data) {                                   \
            zel_enter(ZS_API_##function, count, params, instance_data);                            \
        } static void zel_exit_##function(void *params, ze_result_t result, void *user,            \
                                          void **instance_data) {                                  \
            zel_exit(ZS_API_##function, count, params, (int32_t)result, instance_data);            \
        })
#include "calls_api.def"

typedef void (*zel_callback)(void *params, ze_result_t result, void *user, void **instance_data);
typedef ze_result_t (*zel_register)(zel_tracer_handle_t tracer, zel_tracer_reg_t kind,
                                    zel_callback callback);

/* "zeCommandListClose" is registered with zelTracerCommandListCloseRegisterCallback. */
#define ZE_CALL(index, function, domain, count, first)                                             \
    ZEL_##domain({"zelTracer" #function, zel_enter_##function, zel_exit_##function}, )
static const struct {
    const char *name;
    zel_callback enter, exit;
} zel_calls[] = {
#include "calls_api.def"
};

static int zel_register_all(void *loader, zel_tracer_handle_t tracer)
{
    const size_t prefix = strlen("zelTracer");
    size_t registered = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(zel_calls); i++) {
        char name[160];
        snprintf(name, sizeof(name), "zelTracer%sRegisterCallback",
                 zel_calls[i].name + prefix + strlen("ze"));
        zel_register fn = (zel_register)dlsym(loader, name);
        if (fn && fn(tracer, ZEL_REGISTER_PROLOGUE, zel_calls[i].enter) == ZE_RESULT_SUCCESS &&
            fn(tracer, ZEL_REGISTER_EPILOGUE, zel_calls[i].exit) == ZE_RESULT_SUCCESS)
            registered++;
    }
    return registered ? 0 : -ENODEV;
}

/* backend.lock is held. */
static int zel_attach(void)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (backend.zel_tracer || !loader)
        return backend.zel_tracer ? 0 : -ENODEV;
    ze_result_t (*create)(const zel_tracer_desc_t *, zel_tracer_handle_t *) =
        (ze_result_t(*)(const zel_tracer_desc_t *, zel_tracer_handle_t *))dlsym(loader,
                                                                                "zelTracerCreate");
    ze_result_t (*enable)(zel_tracer_handle_t, ze_bool_t) =
        (ze_result_t(*)(zel_tracer_handle_t, ze_bool_t))dlsym(loader, "zelTracerSetEnabled");
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer = NULL;
    int error = create && enable ? zel_status((int32_t)create(&desc, &tracer)) : -ENODEV;
    if (!error)
        error = zel_register_all(loader, tracer);
    if (!error)
        error = zel_status((int32_t)enable(tracer, 1));
    if (!error)
        backend.zel_tracer = tracer;
    return error; /* the loader stays open: the process uses it */
}

/* The directory of the library that this code is in, for finding the layer beside it. */
static bool layer_beside_us(char *ret_path, size_t size_B)
{
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)zs_api_trace_init, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int length = slash ? (int)(slash - info.dli_fname) : 1;
    int n = snprintf(ret_path, size_B, "%.*s/libzescope_layer.so", length,
                     slash ? info.dli_fname : ".");
    return n > 0 && (size_t)n < size_B;
}

static const struct zs_layer_interface *open_layer(const char *path, struct zs_diag *diag)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        zs_diag_set(diag, -ELIBACC, ZS_DIAG_NO_OFFSET, "cannot load the layer: %s", dlerror());
        return NULL;
    }
    const struct zs_layer_interface *(*get)(void) =
        (const struct zs_layer_interface *(*)(void))dlsym(library, "zs_layer_get_interface");
    const struct zs_layer_interface *layer = get ? get() : NULL;
    if (!layer || layer->size_B < sizeof(*layer) || layer->call_count != ZS_API_CALL_COUNT) {
        zs_diag_set(diag, -ELIBACC, ZS_DIAG_NO_OFFSET,
                    "%s is not the layer of this version of zescope", path);
        dlclose(library);
        return NULL;
    }
    return layer;
}

static bool env_is_on(const char *name)
{
    const char *value = getenv(name);
    return value && !strcmp(value, "1");
}

int zs_api_trace_init(const struct zs_api_trace_options *given, struct zs_diag *diag)
{
    char beside[4096];
    struct zs_api_trace_options options;
    int refused = ZS_OPTIONS_TAKE(&options, given, diag);
    if (refused)
        return refused;
    const char *path = options.layer_path;
    if (!path)
        path = getenv("ZESCOPE_LAYER");
    if ((!path || !*path) && layer_beside_us(beside, sizeof(beside)))
        path = beside;
    if (!path)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                           "libzescope_layer.so was not found; set ZESCOPE_LAYER to its path");
    pthread_mutex_lock(&backend.lock);
    int error = 0;
    if (!backend.layer) {
        const struct zs_layer_interface *layer = open_layer(path, diag);
        error = layer ? 0 : -ELIBACC;
        if (layer && env_is_on("ZE_ENABLE_VALIDATION_LAYER"))
            setenv("ZESCOPE_NEXT_LAYER", "1", 0);
        if (layer) {
            setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
            setenv("ZE_ENABLE_TRACING_LAYER", "1", 0);
            backend.layer = layer;
        }
    }
    pthread_mutex_unlock(&backend.lock);
    return error;
}

enum zs_api_backend zs_api_trace_backend(void)
{
    pthread_mutex_lock(&backend.lock);
    enum zs_api_backend kind = backend.layer        ? ZS_API_BACKEND_LAYER
                               : backend.zel_tracer ? ZS_API_BACKEND_LOADER
                                                    : ZS_API_BACKEND_NONE;
    pthread_mutex_unlock(&backend.lock);
    return kind;
}

static void forward(const struct zs_trace_event *event, void *user_data, void **instance_data)
{
    const struct zs_api_tracer *tracer = user_data;
    const struct zs_api_event public_event = {
        .call = event->call,
        .name = zs_api_call_name(event->call),
        .is_exit = event->is_exit,
        .param_count = event->param_count,
        .params = event->params,
        .result = event->result,
        .internal = event->counts,
    };
    if (!event->is_exit)
        zs_codec_enter(&public_event);
    tracer->callback(&public_event, tracer->user_data, instance_data);
}

int zs_api_tracer_create(zs_api_callback callback, void *user_data,
                         struct zs_api_tracer **ret_tracer)
{
    struct zs_api_tracer *tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return -ENOMEM;
    tracer->callback = callback;
    tracer->user_data = user_data;
    pthread_mutex_lock(&backend.lock);
    int error = backend.layer ? 0 : zel_attach();
    pthread_mutex_unlock(&backend.lock);
    const struct zs_layer_interface *layer = backend.layer;
    if (!error)
        error = layer ? layer->tracer_new(layer->set, tracer, &tracer->tracer)
                      : zs_tracer_new(&backend.zel_set, tracer, &tracer->tracer);
    if (error) {
        free(tracer);
        return error;
    }
    if (layer)
        layer->tracer_set_any(tracer->tracer, forward);
    else
        zs_tracer_set_any(tracer->tracer, forward);
    *ret_tracer = tracer;
    return 0;
}

/* Set or clear the bits of the calls whose names match. */
static int filter_mark(uint64_t *words, const char *pattern, bool set, struct zs_diag *diag)
{
    struct zs_filter filter;
    int error = zs_filter_compile(&filter, &pattern, 1, diag);
    if (error)
        return error;
    for (uint32_t i = 0; i < ZS_API_CALL_COUNT; i++) {
        if (!zs_filter_matches(&filter, zs_api_call_name(i)))
            continue;
        if (set)
            words[i / 64] |= UINT64_C(1) << (i % 64);
        else
            words[i / 64] &= ~(UINT64_C(1) << (i % 64));
    }
    zs_filter_fini(&filter);
    return 0;
}

int zs_api_tracer_filter(struct zs_api_tracer *tracer, const char *const *include,
                         size_t include_count, const char *const *exclude, size_t exclude_count,
                         struct zs_diag *diag)
{
    uint64_t words[(ZS_API_CALL_COUNT + 63) / 64];
    memset(words, include_count ? 0 : 0xff, sizeof(words));
    int error = 0;
    for (size_t i = 0; i < include_count && !error; i++)
        error = filter_mark(words, include[i], true, diag);
    for (size_t i = 0; i < exclude_count && !error; i++)
        error = filter_mark(words, exclude[i], false, diag);
    if (error)
        return error;
    return backend.layer
               ? backend.layer->tracer_set_filter(tracer->tracer, words, ZS_ARRAY_LEN(words))
               : zs_tracer_set_filter(tracer->tracer, words, ZS_ARRAY_LEN(words));
}

int zs_api_tracer_enable(struct zs_api_tracer *tracer, bool enabled)
{
    return backend.layer ? backend.layer->tracer_enable(tracer->tracer, enabled)
                         : zs_tracer_enable(tracer->tracer, enabled);
}

int zs_api_tracer_destroy(struct zs_api_tracer *tracer)
{
    int error =
        backend.layer ? backend.layer->tracer_free(tracer->tracer) : zs_tracer_free(tracer->tracer);
    if (!error)
        free(tracer);
    return error;
}

uint64_t zs_api_untraced_count(void)
{
    const struct zs_trace_set *set = backend.layer ? backend.layer->set : &backend.zel_set;
    return atomic_load(&set->untraced);
}
