/* SPDX-License-Identifier: MIT */
/* Metrics of a recording as text, CSV and JSON (docs/schema-metrics.md). */
#ifndef ZS_REPORT_METRICS_H
#define ZS_REPORT_METRICS_H

#include "base/buf.h"
#include "base/filter.h"

#include <zescope/metrics.h>

enum zs_metrics_by { ZS_METRICS_BY_SHAPE, ZS_METRICS_BY_KERNEL, ZS_METRICS_BY_LAUNCH };

struct zs_metrics_view {
    enum zs_metrics_by by;
    struct zs_filter groups, metrics, kernels; /* names; zeros: all */
    uint32_t limit;                            /* kernels or launches of a group in text; 0: all */
    uint32_t columns;                          /* of the terminal */
};

/* Values of a group as rows, kernels (or launches, or stretches of time) side by side. */
void zs_metrics_text(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                     struct zs_buf *out);
/* A row for each value. */
void zs_metrics_csv(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                    struct zs_buf *out);
/* Everything that the view's filters let pass, whatever `by`. */
void zs_metrics_json(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                     struct zs_buf *out);

#endif
