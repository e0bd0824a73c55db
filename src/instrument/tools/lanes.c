/* SPDX-License-Identifier: MIT */
/* How many lanes are on in each basic block, by its first instruction that works on lanes. */
#include "instrument/tools/tools.h"

#include <stdio.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},
    {.name = "block", .kind = ZS_TOOL_KEY},
    {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "executions", .kind = ZS_TOOL_SUM},
    {.name = "lanes", .kind = ZS_TOOL_SUM},
    {.name = "of", .kind = ZS_TOOL_MAX},
    {.name = "lanes/execution", .kind = ZS_TOOL_RATIO, .above = 4, .below = 3},
};

/* The widest instruction of a block whose lanes can be off. */
static uint32_t widest(const struct zs_isa_kernel *code, const struct zs_isa_block *block)
{
    uint32_t best = ZS_NONE, width = 1;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        if (!(inst->flags & ZS_INST_NOMASK) && inst->exec_size > width) {
            width = inst->exec_size;
            best = i;
        }
    }
    return best;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    const struct zs_probe lanes = {.kind = ZS_PROBE_LANES, .all_active = true};
    int error = 0;
    for (uint32_t b = 0; code && b < zs_isa_block_count(code) && !error; b++) {
        uint32_t inst = widest(code, zs_isa_block(code, b));
        if (inst == ZS_NONE)
            continue;
        error = zs_tool_count(run, kernel, inst, &count, diag);
        if (!error)
            error = zs_tool_count(run, kernel, inst, &lanes, diag);
    }
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, inst));
    bool executions = probe->kind == ZS_PROBE_COUNT;
    char name[32];
    snprintf(name, sizeof(name), "0x%04x", block->offset_B);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, name, zs_tool_line(run, kernel, inst)};
    zs_tool_row_at(run, kernel, inst, keys,
                   (const double[]){executions ? (double)value : 0, executions ? 0 : (double)value,
                                    zs_isa_inst(code, inst)->exec_size});
    zs_tool_executed(run, kernel, inst, executions ? value : 0, executions ? 0 : value);
}

const struct zs_tool zs_tool_lanes = {
    .size_B = sizeof(struct zs_tool),
    .name = "lanes",
    .summary = "lanes that are on in each basic block",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
