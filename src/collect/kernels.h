/* SPDX-License-Identifier: MIT */
/*
 * Launches captured with their arguments and memory (store/launch_file.h). The copies of before and
 * after stand in the application's own command list around the launch, so that they see what it
 * sees; an event that the application gave is signalled behind them. What the copies brought is
 * written when an event of ours says so: as a call returns that waits, as the list or context goes,
 * or the process.
 */
#ifndef ZS_COLLECT_KERNELS_H
#define ZS_COLLECT_KERNELS_H

#include "collect/collect.h"
#include "tracers/tracers.h"

/* NULL: none are wanted. One for the process; children by fork alone do not capture. */
struct zs_kernels *zs_kernels_new(struct zs_collector *c);
/* Around every call. `build`: of a module that was made. */
void zs_kernels_enter(struct zs_kernels *k, const struct zs_trace_event *event, void **instance);
void zs_kernels_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                      void *instance);
/* What is finished is written. */
void zs_kernels_process_ends(struct zs_kernels *k);

#endif
