/* SPDX-License-Identifier: MIT */
/* What the library of emulated nodes is told, where it is in the process; else nothing happens. */
#ifndef ZS_COLLECT_BELOW_H
#define ZS_COLLECT_BELOW_H

#include "base/span.h"

#include <zescope/driver_ext.h>

struct zs_below {
    zescope_pfnAddModule_t add_module;
    zescope_pfnMemoryBegin_t memory_begin;
    zescope_pfnMemoryEnd_t memory_end;
    zescope_pfnMemoryFree_t memory_free;
};

void zs_below_init(struct zs_below *below);
void zs_below_module(const struct zs_below *below, struct zs_span binary, struct zs_span debug);
/* Around a call that allocates; its name stays. An address, or NULL. */
void zs_below_makes(const struct zs_below *below, const char *call, uint64_t size_B);
void zs_below_made(const struct zs_below *below, const void *address);
/* What the driver is to free now: the address, another one, or NULL. */
void *zs_below_frees(const struct zs_below *below, const void *context, void *address);

#endif
