/* SPDX-License-Identifier: MIT */
/*
 * A tool of one's own: how often each kind of message is sent.
 *
 *     cc -shared -fPIC -o count_sends.so count_sends.c
 *     zescope instrument ./count_sends.so -- ./app
 */
#include <zescope/instrument.h>

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    int error = 0;
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++)
        if (zs_isa_inst_message(code, i))
            error = zs_tool_count(run, kernel, i, &count, diag);
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const char *keys[] = {zs_isa_inst_message(zs_edit_kernel_code(kernel), inst)->name};
    zs_tool_row(run, keys, (const double[]){(double)value});
}

static const struct zs_tool_column columns[] = {{.name = "message", .kind = ZS_TOOL_KEY},
                                                {.name = "sent", .kind = ZS_TOOL_SUM}};

const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "count_sends",
                                     .columns = columns,
                                     .column_count = 2,
                                     .instrument = instrument,
                                     .counter = counter};
