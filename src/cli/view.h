/* SPDX-License-Identifier: MIT */
/* Modules from files and recordings with their sources and recorded counts, ready to be shown. */
#ifndef ZS_CLI_VIEW_H
#define ZS_CLI_VIEW_H

#include "cli/input.h"

#include "record/source_copies.h"
#include "report/annotate.h"
#include "report/counts.h"
#include "report/stalls.h"

struct zs_stall_columns;

struct zs_view {
    struct zs_inputs inputs;
    struct zs_module_view view; /* all modules as one document */
    struct zs_kernel_ref *kernels;
    struct zs_count_columns *columns;
    struct zs_stall_columns *stalls;
    struct zs_tool_columns *tools;
    struct zs_source_copies copies; /* of sources in recordings */
    struct {
        char **items;
        size_t count, capacity;
    } notes; /* of view.notes */
};

/* ZS_EXIT_OK, or an exit status after a message on stderr. Close in any case. `sources` gets the
 * recordings' copies as its provider, and is borrowed until close. The view may not be moved. */
int zs_view_open(const struct zs_common_options *common, const struct zs_input_select *select,
                 struct zs_source_options *sources, int operand_count, char **operands,
                 struct zs_view *ret_view);
void zs_view_close(struct zs_view *view);

#endif
