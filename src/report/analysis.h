/* SPDX-License-Identifier: MIT */
/* An analysis of a recording's kernels as text and JSON (zescope.analysis/1, docs/analyze.md). */
#ifndef ZS_REPORT_ANALYSIS_H
#define ZS_REPORT_ANALYSIS_H

#include "base/filter.h"
#include "base/json.h"

#include <zescope/analyze.h>

struct zs_analysis_view {
    const struct zs_filter *kernels; /* by name */
    size_t limit;                    /* so many kernels, 0: all */
    bool color;
    bool quantities; /* text: all that is known of a kernel besides */
};

/* `analysis` is asked for values of names: not const. */
void zs_analysis_text(struct zs_analysis *analysis, const struct zs_analysis_view *view,
                      struct zs_buf *out);
void zs_analysis_json(struct zs_analysis *analysis, const struct zs_analysis_view *view,
                      struct zs_buf *out);
/* The members of it into an object that is open. */
void zs_analysis_json_members(struct zs_analysis *analysis, const struct zs_analysis_view *view,
                              struct zs_json *json);

#endif
