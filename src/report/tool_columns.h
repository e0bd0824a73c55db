/* SPDX-License-Identifier: MIT */
/* What an instrumentation tool found out of single instructions, as columns of their kernels. */
#ifndef ZS_REPORT_TOOL_COLUMNS_H
#define ZS_REPORT_TOOL_COLUMNS_H

#include "report/annotate.h"

#include <zescope/record.h>

struct zs_tool_columns;

/* Empty. NULL without memory. */
struct zs_tool_columns *zs_tool_columns_new(void);
void zs_tool_columns_free(struct zs_tool_columns *columns);
/* Take in what a recording's tool said of one of its modules, which was opened as `module`.
 * *ret_found grows by the kernels that have something. 0 (also when the recording has nothing), or
 * -errno with a sentence: what is wrong with a file is told once, and what stands before its damage
 * counts. Modules of one recording are asked for one after the other. */
int zs_tool_columns_add(struct zs_tool_columns *columns, const char *recording_path,
                        const struct zs_record_module *record, const struct zs_module *module,
                        size_t *ret_found, struct zs_diag *diag);
/* Behind the columns of `inner`. */
struct zs_column_source zs_tool_columns_source(struct zs_tool_columns *columns,
                                               struct zs_column_source inner);

#endif
