/* SPDX-License-Identifier: MIT */
/*
 * Columns per instruction from metric groups that tell addresses (EU stall sampling): a share of
 * all that was sampled, and each of the group's sums.
 */
#ifndef ZS_REPORT_STALLS_H
#define ZS_REPORT_STALLS_H

#include "report/annotate.h"

#include <zescope/metrics.h>
#include <zescope/record.h>

struct zs_stall_columns;

/* Empty. NULL without memory. */
struct zs_stall_columns *zs_stall_columns_new(void);
void zs_stall_columns_free(struct zs_stall_columns *columns);
/* Take in what a recording sampled of one of its modules, which was opened as `module`. *ret_found
 * grows by the kernels that have samples. 0 or -ENOMEM. */
int zs_stall_columns_add(struct zs_stall_columns *columns, const struct zs_metrics *metrics,
                         struct zs_recording *recording, const struct zs_record_module *record,
                         const struct zs_module *module, size_t *ret_found);
/* Behind the columns of `inner`. */
struct zs_column_source zs_stall_columns_source(struct zs_stall_columns *columns,
                                                struct zs_column_source inner);

#endif
