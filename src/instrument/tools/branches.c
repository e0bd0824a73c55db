/* SPDX-License-Identifier: MIT */
/* Of each branch with a predicate: for how many of the lanes that come to it the predicate holds.
 */
#include "instrument/tools/tools.h"

#include <stdio.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},
    {.name = "offset", .kind = ZS_TOOL_KEY},
    {.name = "branch", .kind = ZS_TOOL_KEY},
    {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "lanes", .kind = ZS_TOOL_SUM},
    {.name = "true", .kind = ZS_TOOL_SUM},
    {.name = "bias", .kind = ZS_TOOL_RATIO, .above = 5, .below = 4},
};

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe all = {.kind = ZS_PROBE_LANES, .all_active = true};
    const struct zs_probe taken = {.kind = ZS_PROBE_LANES};
    int error = 0;
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH) || !inst->pred)
            continue;
        error = zs_tool_count(run, kernel, i, &all, diag);
        if (!error)
            error = zs_tool_count(run, kernel, i, &taken, diag);
    }
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_inst *in = zs_isa_inst(zs_edit_kernel_code(kernel), inst);
    char offset[32];
    snprintf(offset, sizeof(offset), "0x%04x", in->offset_B);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, offset,
                          zs_isa_op_mnemonic((enum zs_isa_op)in->op),
                          zs_tool_line(run, kernel, inst)};
    zs_tool_row_at(run, kernel, inst, keys,
                   (const double[]){probe->all_active ? (double)value : 0,
                                    probe->all_active ? 0 : (double)value});
}

const struct zs_tool zs_tool_branches = {
    .size_B = sizeof(struct zs_tool),
    .name = "branches",
    .summary = "for how many lanes the predicate of each branch holds",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
