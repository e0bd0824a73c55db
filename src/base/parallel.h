/* SPDX-License-Identifier: MIT */
#ifndef ZS_BASE_PARALLEL_H
#define ZS_BASE_PARALLEL_H

#include "base/compiler.h"

/* Usable host cores (affinity respected), at least 1. */
uint32_t zs_host_cores(void);

/*
 * Call fn(ctx, i) for every i in [0, count) on up to `threads` host threads (0: all cores), the
 * caller's among them; returns when all are done. Items are handed out in ascending order. Where
 * a thread cannot be made, the others do its work.
 */
void zs_parallel_for(size_t count, uint32_t threads, void (*fn)(void *ctx, size_t i), void *ctx);

#endif
