/* SPDX-License-Identifier: MIT */
/*
 * Metrics over time for a page: the member "counters" of its timeline.
 *
 *   [{"pid", "group", "sampling": "event" or "time", "reports_a_point",
 *     "start_ns", "starts": [...], "lengths": [...],
 *     "metrics": [{"name", "units", "most", "values": [...]}]}]
 *
 * A point is a report, or of that many neighbours the largest of each value, from the start of the
 * first to the end of the last. `starts` are differences, the first to start_ns.
 */
#ifndef ZS_REPORT_HTML_COUNTERS_H
#define ZS_REPORT_HTML_COUNTERS_H

#include "base/json.h"

#include <zescope/metrics.h>

enum { ZS_HTML_POINTS = 4000 }; /* of a group in a process */

/* Into an object that is open; metrics may be NULL. */
void zs_html_counters_json(const struct zs_metrics *metrics, struct zs_json *json);

#endif
