/* SPDX-License-Identifier: MIT */
/*
 * What the application calls things: kernels by their code, memory by the calls that made it. The
 * recorder's half in the process sees the calls and tells (driver_ext.h).
 *
 * Modules are kept as long as the process lives, up to a limit: kernels may run when their module
 * is gone already, and names are asked for after that.
 */
#include "drm/drm_priv.h"

#include "base/checks.h"
#include "base/id_map.h"
#include "module/module.h"

#include <zescope/driver_ext.h>

#include <stdlib.h>
#include <string.h>

enum { MODULES_MAX_B = 512 << 20, KEPT_MAX = 1024, KEPT_MAX_B = 256 << 20 };

struct named {
    struct named *next;
    struct zs_module *module;
};
struct block {
    uint64_t size_B;
    const char *call;
};
/* What the application has freed, and the driver has not: nothing else is there soon. */
struct kept {
    const void *context;
    void *address;
    uint64_t size_B;
};

static struct {
    pthread_mutex_t lock;
    struct named *newest;
    uint64_t bytes;
    struct zs_id_map blocks;    /* by address */
    struct kept kept[KEPT_MAX]; /* the oldest first */
    uint32_t kept_count;
    uint64_t kept_B;
    bool is_told;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* An allocation under way. */
static _Thread_local struct block making;
static _Thread_local bool made; /* an object for it */

#define EXPORTED __attribute__((visibility("default")))
EXPORTED void zescope_add_module(const void *binary, size_t binary_B, const void *debug,
                                 size_t debug_B);
EXPORTED void zescope_memory_begin(const char *call, uint64_t size_B);
EXPORTED void zescope_memory_end(const void *address);
EXPORTED void *zescope_memory_free(const void *context, void *address);

/* ---- modules -----------------------------------------------------------------------------------
 */

static bool is_same(struct zs_span a, struct zs_span b)
{
    return a.size_B == b.size_B && (!a.size_B || !memcmp(a.data, b.data, a.size_B));
}

void zescope_add_module(const void *binary, size_t binary_B, const void *debug, size_t debug_B)
{
    struct zs_span bytes = zs_span_make(binary, binary_B), more = zs_span_make(debug, debug_B);
    const struct zs_module_options options = {.size_B = sizeof(options), .debug = more};
    struct zs_diag diag = {0};
    pthread_mutex_lock(&names.lock);
    names.is_told = true;
    bool is_there = names.bytes > MODULES_MAX_B;
    for (struct named *n = names.newest; n && !is_there; n = n->next)
        is_there = is_same(n->module->bytes, bytes) && is_same(n->module->debug_bytes, more);
    struct named *named = is_there ? NULL : calloc(1, sizeof(*named));
    if (named && zs_module_open_memory(bytes, &options, &named->module, &diag)) {
        zs_drm_log(ZS_DRM_WARN, "a module has no names: %s", diag.text);
        free(named);
        named = NULL;
    }
    if (named) {
        named->next = names.newest;
        names.newest = named;
        names.bytes += binary_B + debug_B;
    }
    pthread_mutex_unlock(&names.lock);
}

const struct zs_kernel *zs_drm_name(struct zs_span code, uint64_t *ret_skip_B)
{
    const struct zs_kernel *found = NULL;
    pthread_mutex_lock(&names.lock);
    for (struct named *n = names.newest; n && !found; n = n->next)
        found = zs_module_find_code(n->module, code, NULL, ret_skip_B);
    pthread_mutex_unlock(&names.lock);
    return found;
}

void zs_drm_names_begin_child(void)
{
    pthread_mutex_init(&names.lock, NULL);
}

bool zs_drm_has_names(void)
{
    pthread_mutex_lock(&names.lock);
    bool is_told = names.is_told;
    pthread_mutex_unlock(&names.lock);
    return is_told;
}

/* ---- memory ------------------------------------------------------------------------------------
 * Drivers round sizes up, and may give a small allocation a part of a larger object: such objects
 * are not the application's. Nor is what they make for themselves during the call, which comes
 * behind it: heaps and buffers of commands that copy what the memory is to have at first.
 */

static bool is_rounded(uint64_t exact_B, uint64_t size_B)
{
    const uint64_t page_B = 64u << 10, large_B = 2u << 20;
    uint64_t unit_B = exact_B < large_B ? page_B : large_B;
    return exact_B && exact_B <= size_B && size_B - exact_B < unit_B;
}

void zescope_memory_begin(const char *call, uint64_t size_B)
{
    making = (struct block){size_B, call};
    made = false;
}

/* With the lock held. */
static void *take_kept(uint32_t i)
{
    void *address = names.kept[i].address;
    names.kept_B -= names.kept[i].size_B;
    names.kept_count--;
    memmove(&names.kept[i], &names.kept[i + 1], (names.kept_count - i) * sizeof(names.kept[i]));
    return address;
}

void zescope_memory_end(const void *address)
{
    struct block *block = address && making.call ? malloc(sizeof(*block)) : NULL;
    if (block) {
        *block = making;
        pthread_mutex_lock(&names.lock);
        free(zs_id_map_remove(&names.blocks, (uintptr_t)address, 0));
        if (zs_id_map_put(&names.blocks, (uintptr_t)address, 0, block))
            free(block);
        for (uint32_t i = names.kept_count; i > 0; i--) /* it went with its context */
            if (names.kept[i - 1].address == address)
                take_kept(i - 1);
        pthread_mutex_unlock(&names.lock);
    }
    making = (struct block){0, NULL};
}

bool zs_drm_memory_is_freed(uint64_t gpu_va)
{
    bool is_freed = false;
    pthread_mutex_lock(&names.lock);
    for (uint32_t i = 0; i < names.kept_count && !is_freed; i++)
        is_freed = (uintptr_t)names.kept[i].address == gpu_va;
    pthread_mutex_unlock(&names.lock);
    return is_freed;
}

/* The oldest one of a context, while there are too many. */
static void *too_much(const void *context)
{
    bool is_full = names.kept_count == KEPT_MAX || names.kept_B > KEPT_MAX_B;
    for (uint32_t i = 0; i < names.kept_count && is_full; i++)
        if (names.kept[i].context == context)
            return take_kept(i);
    return NULL;
}

void *zescope_memory_free(const void *context, void *address)
{
    pthread_mutex_lock(&names.lock);
    struct block *block = zs_id_map_remove(&names.blocks, (uintptr_t)address, 0);
    bool is_kept =
        block && zs_drm_checks() & ZS_CHECK_MEMORY && names.kept_count < ZS_ARRAY_LEN(names.kept);
    void *goes = address;
    if (is_kept) {
        names.kept[names.kept_count++] = (struct kept){context, address, block->size_B};
        names.kept_B += block->size_B;
        goes = too_much(context);
    }
    pthread_mutex_unlock(&names.lock);
    if (is_kept)
        zs_drm_withdraw((uintptr_t)address);
    free(block);
    return goes;
}

bool zs_drm_memory_made(uint64_t size_B, uint64_t *ret_size_B, const char **ret_call)
{
    bool is_it = making.call && !made && is_rounded(making.size_B, size_B);
    if (!is_it)
        return false;
    made = true;
    *ret_size_B = making.size_B;
    *ret_call = making.call;
    return true;
}

bool zs_drm_memory_at(uint64_t gpu_va, uint64_t size_B, uint64_t *ret_size_B, const char **ret_call)
{
    pthread_mutex_lock(&names.lock);
    const struct block *block = zs_id_map_get(&names.blocks, gpu_va, 0);
    bool is_it = block && is_rounded(block->size_B, size_B);
    if (is_it) {
        *ret_size_B = block->size_B;
        *ret_call = block->call;
    }
    pthread_mutex_unlock(&names.lock);
    return is_it;
}
