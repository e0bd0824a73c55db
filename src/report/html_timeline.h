/* SPDX-License-Identifier: MIT */
/*
 * What the page of a recording shows as a timeline, gathered while the recording is read: of calls
 * and of executions the longest are kept (struct zs_html_timeline_limits); of the others each track
 * keeps how much of the time they took, in pieces of time. Memory is bounded by the limits.
 *
 * The document:
 *   start_ns, end_ns, names: [text], devices: [text]
 *   tracks: [{kind: "thread" | "queue", pid, tid | queue, name, process | device, engine,
 *             items: "numbers", left_out, bins: {start_ns, width_ns, busy_ns: [..], count: [..]}}]
 *     items, as VLQ of source maps; of threads: start (to the start before), duration (-1: never
 * returned), name, depth, result, number of the call in its thread, stack (-1: none) of queues:
 * start (to the start before), duration, name, kind, track of the append's thread
 *       (-1: none), start - append, start - submit, call, bytes (-1: n/a), row of shapes (-1), row
 * of modules (-1: no kernel, or its module is not known) modules: [what "module" of kernels is in
 * zescope.module/1] stacks: [[names of frames, the innermost first]] shapes: [[gx, gy, gz, sx, sy,
 * sz]] memory: [{pid, points: [time to the one before, bytes], peak_B}] marks: [{track,
 * start_ns, end_ns, name, depth}], pauses: [{pid, start_ns, end_ns, reason}] left_out: {calls,
 * executions, untimed, marks}
 */
#ifndef ZS_REPORT_HTML_TIMELINE_H
#define ZS_REPORT_HTML_TIMELINE_H

#include "base/json.h"
#include "record/merge.h"
#include "symbols/symbols.h"

struct zs_html_timeline;

struct zs_html_timeline_limits {
    size_t calls, executions; /* 0: ZS_HTML_ITEMS */
};

enum { ZS_HTML_ITEMS = 100000 };

/* NULL: no memory. */
struct zs_html_timeline *zs_html_timeline_new(const struct zs_html_timeline_limits *limits);
void zs_html_timeline_free(struct zs_html_timeline *timeline);
/* What reads for it; `user` is the timeline. */
struct zs_merge_sink zs_html_timeline_sink(struct zs_html_timeline *timeline);
/* What tells the module of a kernel apart, the one copy of that text; NULL: not known. */
typedef const char *(*zs_html_module_fn)(void *user, const struct zs_act_kernel *kernel);
/* The members into an object that is open; `activities` are those of the same reading; symbols may
 * be NULL. */
void zs_html_timeline_json(struct zs_html_timeline *timeline,
                           const struct zs_activities *activities, struct zs_symbols *symbols,
                           zs_html_module_fn module_of, void *user, struct zs_json *json);

#endif
