/* SPDX-License-Identifier: MIT */
/*
 * One probe in each kernel, each_tool.so:N or N,pressed or N,trace: at its instruction N, if it has
 * as many: the lanes that are counted there, with registers that are free or, "pressed", with none;
 * or a record with two of the kernel's registers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/instrument.h>

static const struct zs_tool_column columns[] = {{.name = "kernel", .kind = ZS_TOOL_KEY},
                                                {.name = "offset", .kind = ZS_TOOL_KEY},
                                                {.name = "lanes", .kind = ZS_TOOL_SUM}};

/* sel writes all lanes, by one or the other source, and branches are executed by all. */
static bool chooses(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_SEL || zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    char *how;
    uint32_t at = (uint32_t)strtoul(zs_tool_args(run), &how, 10);
    uint64_t all[4];
    if (!code || at >= zs_isa_kernel_count(code))
        return 0;
    memset(all, 0xff, sizeof(all));
    if (!strcmp(how, ",pressed"))
        zs_edit_reserve_grf(kernel, all);
    if (!strcmp(how, ",trace"))
        return zs_tool_trace(run, kernel, at, ZS_EDIT_BEFORE, at % 100, 2, diag);
    const struct zs_probe lanes = {.kind = ZS_PROBE_LANES,
                                   .all_active = chooses(zs_isa_inst(code, at))};
    return zs_tool_count(run, kernel, at, &lanes, diag);
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    char offset[16];
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, offset};
    (void)probe;
    snprintf(offset, sizeof(offset), "%u", zs_isa_inst_offset(zs_edit_kernel_code(kernel), inst));
    zs_tool_row(run, keys, (const double[]){(double)value});
}

const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "each",
                                     .columns = columns,
                                     .column_count = 3,
                                     .instrument = instrument,
                                     .counter = counter};
