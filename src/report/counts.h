/* SPDX-License-Identifier: MIT */
/* Execution counts of a recording as columns of its kernels. */
#ifndef ZS_REPORT_COUNTS_H
#define ZS_REPORT_COUNTS_H

#include "report/annotate.h"

#include <zescope/record.h>

struct zs_count_columns;

/* Empty, for any number of recordings. NULL without memory. */
struct zs_count_columns *zs_count_columns_new(void);
void zs_count_columns_free(struct zs_count_columns *columns);
/* The first kernel of this name, of any device; NULL when there is none. */
const struct zs_kernel *zs_count_kernel_named(const struct zs_module *module, const char *name);
/* Take in what a recording counted of one of its modules, which was opened as `module`. The counts
 * of all launches of a kernel are added up. *ret_found grows by the kernels that have counts;
 * *ret_damaged: files of the recording that could not be read. 0 or -errno with a sentence. */
int zs_count_columns_add(struct zs_count_columns *columns, const char *recording_path,
                         struct zs_recording *recording, const struct zs_record_module *record,
                         const struct zs_module *module, size_t *ret_found, size_t *ret_damaged,
                         struct zs_diag *diag);
/* For struct zs_module_view; `columns` is read only from then on. */
struct zs_column_source zs_count_columns_source(struct zs_count_columns *columns);

#endif
