/* SPDX-License-Identifier: MIT */
#ifndef ZS_RECORD_METRICS_NUMBERS_H
#define ZS_RECORD_METRICS_NUMBERS_H

#include <zescope/metrics.h>

/* zs_metrics_open for who looks at numbers alone: no report has raw data, most of what a recording
 * of many launches holds. */
int zs_metrics_open_numbers(const char *recording, struct zs_metrics **ret_metrics,
                            struct zs_diag *diag);

#endif
