/* SPDX-License-Identifier: MIT */
/*
 * How long threads spend in each basic block, from before its first to before its last instruction,
 * in ticks of the timestamp register: a block of one instruction has no time. What the probes cost
 * is in it.
 */
#include "instrument/tools/tools.h"

#include <stdio.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},
    {.name = "block", .kind = ZS_TOOL_KEY},
    {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "ticks", .kind = ZS_TOOL_SUM},
    {.name = "executions", .kind = ZS_TOOL_SUM},
    {.name = "ticks/execution", .kind = ZS_TOOL_RATIO, .above = 3, .below = 4},
};

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT}, begin = {.kind = ZS_PROBE_CLOCK},
                          end = {.kind = ZS_PROBE_ELAPSED};
    int error = 0;
    for (uint32_t b = 0; code && b < zs_isa_block_count(code) && !error; b++) {
        const struct zs_isa_block *block = zs_isa_block(code, b);
        if (block->count < 2)
            continue;
        error = zs_tool_count(run, kernel, block->first, &count, diag);
        if (!error)
            error = zs_tool_count(run, kernel, block->first, &begin, diag);
        if (!error)
            error = zs_tool_count(run, kernel, block->first + block->count - 1, &end, diag);
    }
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, inst));
    bool ticks = probe->kind == ZS_PROBE_ELAPSED;
    char name[32];
    snprintf(name, sizeof(name), "0x%04x", block->offset_B);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, name,
                          zs_tool_line(run, kernel, block->first)};
    zs_tool_row_at(run, kernel, block->first, keys,
                   (const double[]){ticks ? (double)value : 0, ticks ? 0 : (double)value});
}

const struct zs_tool zs_tool_latency = {
    .size_B = sizeof(struct zs_tool),
    .name = "latency",
    .summary = "time in each basic block, by timestamps",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
