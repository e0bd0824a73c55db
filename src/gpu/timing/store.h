/* SPDX-License-Identifier: MIT */
/*
 * What the launches of a device hand on from one to the next: memory that has been touched (fresh
 * one costs the host a fault each page) and modelled caches. Launches may run at the same time.
 */
#ifndef ZS_GPU_TIMING_STORE_H
#define ZS_GPU_TIMING_STORE_H

#include "gpu/timing/cache.h"
#include "gpu/timing/timing.h"

/* ---- blocks ------------------------------------------------------------------------------------
 */

struct zs_timing_block {
    void *data; /* whatever was in it; NULL: none */
    size_t size_B;
};
/* At least so large. */
int zs_timing_block_get(struct zs_timing_store *store, size_t size_B, struct zs_timing_block *ret);
void zs_timing_block_put(struct zs_timing_store *store, struct zs_timing_block *block);

/* ---- caches ------------------------------------------------------------------------------------
 */

struct zs_timing_caches {
    struct zs_timing_caches *next;
    uint32_t slices, subslices; /* subslices: of all slices */
    struct zs_timing_cache llc;
    struct zs_timing_cache *l3;           /* by slice */
    struct zs_timing_cache *sampler, *l1; /* by subslice */
};
/* Empty ones; reach: so much of L3 and LLC is used. */
int zs_timing_caches_get(struct zs_timing_store *store, double reach,
                         struct zs_timing_caches **ret);
void zs_timing_caches_put(struct zs_timing_store *store, struct zs_timing_caches *caches);

#endif
