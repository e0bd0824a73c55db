/* SPDX-License-Identifier: MIT */
/*
 * A recording as one trace for viewers: host threads with their calls, a track per device queue,
 * arrows from append to execution, memory over time.
 *
 *   Perfetto  the trace files as they are, cut to whole packets, and behind them packets made of
 *             their activity records. Fields that are ours stay in: viewers skip them.
 *   Chrome    JSON object format, microseconds since the first event; queues are threads with
 *             numbers from ZS_TIMELINE_QUEUE_TID on.
 *
 * Executions that overlap on one queue go to further tracks of it. Those without times are counted.
 */
#ifndef ZS_REPORT_TIMELINE_H
#define ZS_REPORT_TIMELINE_H

#include "base/diag.h"
#include "base/span.h"

enum { ZS_TIMELINE_QUEUE_TID = 1000000000, ZS_TIMELINE_LANES_MAX = 32 };

/* Called with a piece of the output; nonzero stops, and is returned. */
typedef int (*zs_timeline_write_fn)(void *user, struct zs_span bytes);

struct zs_timeline_result {
    uint64_t slices, untimed; /* executions shown, and without times */
    uint64_t calls, lost_calls, damaged_files;
};

/* 0, -errno with a sentence, or what `write` returned. */
int zs_timeline_perfetto(const char *recording, zs_timeline_write_fn write, void *user,
                         struct zs_timeline_result *ret_result, struct zs_diag *diag);
int zs_timeline_chrome(const char *recording, zs_timeline_write_fn write, void *user,
                       struct zs_timeline_result *ret_result, struct zs_diag *diag);

#endif
