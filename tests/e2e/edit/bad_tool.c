/* SPDX-License-Identifier: MIT */
/* A tool that crashes, sleeps or refuses, as its argument says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/instrument.h>

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    (void)kernel;
    (void)diag;
    if (!strcmp(zs_tool_args(run), "abort"))
        abort();
    return -EPERM;
}

static const struct zs_tool_column columns[] = {{.name = "nothing", .kind = ZS_TOOL_KEY}};
const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "bad",
                                     .columns = columns,
                                     .column_count = 1,
                                     .instrument = instrument};
