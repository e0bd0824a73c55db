/* SPDX-License-Identifier: MIT */
/* Metrics of a recording as text, CSV and JSON (docs/schema-metrics.md). */
#ifndef ZS_REPORT_METRICS_H
#define ZS_REPORT_METRICS_H

#include "base/filter.h"
#include "report/annotate.h"

#include <zescope/metrics.h>

enum zs_metrics_by { ZS_METRICS_BY_SHAPE, ZS_METRICS_BY_KERNEL, ZS_METRICS_BY_LAUNCH };

struct zs_metrics_view {
    enum zs_metrics_by by;
    struct zs_filter groups, metrics, kernels; /* names; zeros: all */
    uint32_t limit;                            /* kernels or launches of a group in text; 0: all */
    uint32_t columns;                          /* of the terminal */
};

/* Each writes piece by piece, text at ends of lines. 0, -ENOMEM, what zs_metrics_next or `write`
 * gave. */
typedef int zs_metrics_write(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                             zs_write_fn *write, void *user);

/* Values of a group as rows, kernels (or launches, or stretches of time) side by side. */
zs_metrics_write zs_metrics_text;
/* A row for each value. */
zs_metrics_write zs_metrics_csv;
/* Everything that the view's filters let pass, whatever `by`. */
zs_metrics_write zs_metrics_json;

#endif
