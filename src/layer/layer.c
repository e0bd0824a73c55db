/* SPDX-License-Identifier: MIT */
#include "layer/layer_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct zs_trace_set zs_layer_set = {.call_count = ZS_API_CALL_COUNT};
static atomic_bool layer_active;

typedef ze_result_t (*get_table_fn)(ze_api_version_t version, void *table);

/*
 * The layer that the application had asked for stays in the chain, below ours. It is opened by
 * path: by name we would get ourselves, who carry that name. "1" means the one beside the loader.
 */
static void *open_next_layer(const void *caller)
{
    const char *path = getenv("ZESCOPE_NEXT_LAYER");
    if (!path || !*path)
        return NULL;
    if (strchr(path, '/'))
        return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    Dl_info loader;
    char *beside;
    const char *slash = dladdr(caller, &loader) ? strrchr(loader.dli_fname, '/') : NULL;
    if (!slash)
        return NULL;
    /* not on the stack: threads may be small */
    if (asprintf(&beside, "%.*s/libze_validation_layer.so.1", (int)(slash - loader.dli_fname),
                 loader.dli_fname) < 0)
        return NULL;
    void *layer = dlopen(beside, RTLD_LAZY | RTLD_LOCAL);
    free(beside);
    return layer;
}

/* The layout of a table is fixed by the loader's version: what stands behind the members of that
 * version is not the table's. */
static void wrap(const struct zs_layer_table *t, ze_api_version_t version, void **table)
{
    for (size_t i = 0; i < t->slot_count; i++) {
        const struct zs_layer_slot *slot = &t->slots[i];
        if (version < slot->since)
            continue;
        void **member = &table[slot->index];
        if (!*member || *member == slot->wrapper)
            continue;
        memcpy(slot->next, member, sizeof(*member));
        *member = slot->wrapper;
    }
}

static bool is_moved(const struct zs_layer_table *t, ze_api_version_t version)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(t->moved) && t->moved[i]; i++)
        if (t->moved[i] == version)
            return true;
    return false;
}

ze_result_t zs_layer_get_table(const struct zs_layer_table *t, const void *caller,
                               ze_api_version_t version, void *table)
{
    if (!table)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    void *next = open_next_layer(caller);
    get_table_fn fn = next ? (get_table_fn)dlsym(next, t->name) : NULL;
    ze_result_t result = fn ? fn(version, table) : ZE_RESULT_SUCCESS;
    if (result != ZE_RESULT_SUCCESS || is_moved(t, version))
        return result;
    wrap(t, version, table);
    zs_layer_set_active();
    return result;
}

void zs_layer_set_active(void)
{
    atomic_store(&layer_active, true);
}

void *zs_layer_next(uint32_t call)
{
    void *next = NULL;
    if (call < ZS_API_CALL_COUNT)
        memcpy(&next, zs_layer_next_functions[call], sizeof(next));
    return next;
}

static bool is_active(void)
{
    return atomic_load(&layer_active);
}

const struct zs_layer_interface *zs_layer_get_interface(void)
{
    static const struct zs_layer_interface interface = {
        .size_B = sizeof(interface),
        .call_count = ZS_API_CALL_COUNT,
        .set = &zs_layer_set,
        .is_active = is_active,
        .tracer_new = zs_tracer_new,
        .tracer_set_any = zs_tracer_set_any,
        .tracer_set_enter = zs_tracer_set_enter,
        .tracer_set_exit = zs_tracer_set_exit,
        .tracer_set_filter = zs_tracer_set_filter,
        .tracer_enable = zs_tracer_enable,
        .tracer_free = zs_tracer_free,
        .next = zs_layer_next,
    };
    return &interface;
}
