/* SPDX-License-Identifier: MIT */
/* How often each call is made, and by how many lanes. */
#include "instrument/tools/tools.h"

#include <stdio.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY}, {.name = "offset", .kind = ZS_TOOL_KEY},
    {.name = "to", .kind = ZS_TOOL_KEY},     {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "calls", .kind = ZS_TOOL_SUM},  {.name = "lanes", .kind = ZS_TOOL_SUM},
};

static bool is_call(const struct zs_isa_inst *inst)
{
    bool far = inst->op == ZS_OP_JMPI && inst->src[0].kind == ZS_OPERAND_REG;
    return inst->op == ZS_OP_CALL || inst->op == ZS_OP_CALLA || far;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    const struct zs_probe lanes = {.kind = ZS_PROBE_LANES};
    int error = 0;
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        if (!is_call(zs_isa_inst(code, i)))
            continue;
        error = zs_tool_count(run, kernel, i, &count, diag);
        if (!error)
            error = zs_tool_count(run, kernel, i, &lanes, diag);
    }
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_inst *in = zs_isa_inst(zs_edit_kernel_code(kernel), inst);
    char offset[32], to[32] = "register";
    snprintf(offset, sizeof(offset), "0x%04x", in->offset_B);
    if (in->jip_B != ZS_ISA_NO_INDEX)
        snprintf(to, sizeof(to), "0x%04x", in->jip_B);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, offset, to,
                          zs_tool_line(run, kernel, inst)};
    bool calls = probe->kind == ZS_PROBE_COUNT;
    zs_tool_row_at(run, kernel, inst, keys,
                   (const double[]){calls ? (double)value : 0, calls ? 0 : (double)value});
}

const struct zs_tool zs_tool_calls = {
    .size_B = sizeof(struct zs_tool),
    .name = "calls",
    .summary = "how often each call is made",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
