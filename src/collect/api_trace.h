/* SPDX-License-Identifier: MIT */
/* What others of the collector ask of the recording of calls. */
#ifndef ZS_COLLECT_API_TRACE_H
#define ZS_COLLECT_API_TRACE_H

#include "store/activity.h"

/* A mark, or the begin or end of a range (ZS_ACT_MARK, _RANGE, _RANGE_END), of the calling thread,
 * now. text may be NULL for an end. 0, -EAGAIN while paused, -ENOTCONN where nothing is recorded,
 * -EINVAL for an end without a begin. */
int zs_api_trace_mark(enum zs_activity_record record, const char *text);

/* Write down what is left to be: the process ends. */
void zs_api_trace_flush(void);
/* The same before drivers' own handlers of exit, in a guard: captured launches. */
void zs_api_trace_ends(void);

#endif
