/* SPDX-License-Identifier: MIT */
/* Emulated nodes are told what the application calls things (driver_ext.h). See below.h. */
#include "collect/below.h"

#include <dlfcn.h>
#include <string.h>

static void find(const char *name, void *ret_function)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    memcpy(ret_function, &function, sizeof(function));
}

void zs_below_init(struct zs_below *below)
{
    find(ZESCOPE_ADD_MODULE_NAME, &below->add_module);
    find(ZESCOPE_MEMORY_BEGIN_NAME, &below->memory_begin);
    find(ZESCOPE_MEMORY_END_NAME, &below->memory_end);
    find(ZESCOPE_MEMORY_FREE_NAME, &below->memory_free);
    if (!below->memory_begin || !below->memory_end)
        below->memory_free = NULL;
}

void zs_below_module(const struct zs_below *below, struct zs_span binary, struct zs_span debug)
{
    if (below->add_module && binary.size_B)
        below->add_module(binary.data, binary.size_B, debug.size_B ? debug.data : NULL,
                          debug.size_B);
}

void zs_below_makes(const struct zs_below *below, const char *call, uint64_t size_B)
{
    if (below->memory_free)
        below->memory_begin(call, size_B);
}

void zs_below_made(const struct zs_below *below, const void *address)
{
    if (below->memory_free)
        below->memory_end(address);
}

void *zs_below_frees(const struct zs_below *below, const void *context, void *address)
{
    return below->memory_free ? below->memory_free(context, address) : address;
}
