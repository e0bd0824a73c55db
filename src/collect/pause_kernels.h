/* SPDX-License-Identifier: MIT */
/*
 * Launches of kernels whose name starts or stops the recording.
 *
 * A kernel is launched by being appended to an immediate list. One that is appended to another list
 * is launched by each execution of that list; the append itself starts a recording, too, so that
 * what is recorded of the execution has its append.
 */
#ifndef ZS_COLLECT_PAUSE_KERNELS_H
#define ZS_COLLECT_PAUSE_KERNELS_H

#include "tracers/tracers.h"

enum { ZS_PAUSE_KERNEL_START = 1, ZS_PAUSE_KERNEL_STOP = 2 };

/* From the environment (store/store.h); false: no kernel starts or stops anything. */
bool zs_pause_kernels_init(void);
void zs_pause_kernels_fork_child(void);
/* A call is entered or has returned: kernels and lists come and go, and kernels are put into lists.
 */
void zs_pause_kernels_follow(const struct zs_trace_event *event);
/* What a call, as it is entered or has returned, launches: bits of the above. */
unsigned zs_pause_kernels_launched(const struct zs_trace_event *event);

#endif
