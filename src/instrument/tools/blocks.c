/* SPDX-License-Identifier: MIT */
/* How often each basic block is executed. */
#include "instrument/tools/tools.h"

#include <stdio.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},       {.name = "block", .kind = ZS_TOOL_KEY},
    {.name = "line", .kind = ZS_TOOL_KEY},         {.name = "executions", .kind = ZS_TOOL_SUM},
    {.name = "instructions", .kind = ZS_TOOL_SUM},
};

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    int error = 0;
    for (uint32_t b = 0; code && b < zs_isa_block_count(code) && !error; b++)
        error = zs_tool_count(run, kernel, zs_isa_block(code, b)->first, &count, diag);
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, inst));
    char name[32];
    snprintf(name, sizeof(name), "0x%04x", block->offset_B);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, name, zs_tool_line(run, kernel, inst)};
    (void)probe;
    zs_tool_row_at(run, kernel, block->first, keys,
                   (const double[]){(double)value, (double)value * block->count});
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        zs_tool_executed(run, kernel, i, value, 0);
}

const struct zs_tool zs_tool_blocks = {
    .size_B = sizeof(struct zs_tool),
    .name = "blocks",
    .summary = "executions of each basic block",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
