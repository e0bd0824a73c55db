/* SPDX-License-Identifier: MIT */
/*
 * Executions and lanes of every instruction, by probes that find no registers free: those that the
 * kernel leaves are reserved, all of them ("none") or all but the lowest ("one"). What windows hold
 * has to be saved and brought back at each.
 */
#include <string.h>
#include <zescope/instrument.h>

static const struct zs_tool_column columns[] = {{.name = "kernel", .kind = ZS_TOOL_KEY},
                                                {.name = "lanes", .kind = ZS_TOOL_SUM}};

/* sel writes all lanes, by one or the other source, and branches are executed by all. */
static bool chooses(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_SEL || zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    uint64_t grf[4], left = !strcmp(zs_tool_args(run), "one");
    int error = 0;
    memset(grf, 0xff, sizeof(grf));
    uint64_t unused[4];
    zs_edit_free_grf(kernel, unused);
    for (int w = 0; w < 4 && left; w++)
        if (unused[w]) {
            grf[w] &= ~(unused[w] & -unused[w]);
            left = 0;
        }
    zs_edit_reserve_grf(kernel, grf);
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, i));
        if (block->first == i)
            error = zs_tool_count(run, kernel, i, &count, diag);
        const struct zs_probe lanes = {.kind = ZS_PROBE_LANES,
                                       .all_active = chooses(zs_isa_inst(code, i))};
        if (!error)
            error = zs_tool_count(run, kernel, i, &lanes, diag);
    }
    return error;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, inst));
    const char *keys[] = {zs_edit_kernel_info(kernel)->name};
    if (probe->kind == ZS_PROBE_LANES) {
        zs_tool_executed(run, kernel, inst, 0, value);
        zs_tool_row(run, keys, (const double[]){(double)value});
        return;
    }
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        zs_tool_executed(run, kernel, i, value, 0);
}

const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "pressed",
                                     .columns = columns,
                                     .column_count = 2,
                                     .instrument = instrument,
                                     .counter = counter};
