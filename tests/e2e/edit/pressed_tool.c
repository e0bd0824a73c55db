/* SPDX-License-Identifier: MIT */
/*
 * Executions and lanes of every instruction, by probes that find no registers free: those that the
 * kernel leaves are reserved, all of them ("none") or all but the lowest ("one"). What windows hold
 * has to be saved and brought back at each. "edges": registers are free, and blocks that only the
 * branch before them leads to are counted on that edge.
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

enum { ON_EDGE = 1 };

/* The block is where the branch before it goes on. */
static bool is_behind_branch(const struct zs_isa_kernel *code, const struct zs_isa_block *block)
{
    const struct zs_isa_inst *before = block->first ? zs_isa_inst(code, block->first - 1) : NULL;
    return before && !(block->flags & ZS_BLOCK_LABELLED) &&
           zs_isa_op_flags((enum zs_isa_op)before->op) & ZS_OPF_BRANCH && before->pred &&
           before->op != ZS_OP_CALL && before->op != ZS_OP_RET;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    const struct zs_probe edge = {.kind = ZS_PROBE_COUNT, .site = ON_EDGE};
    const bool edges = !strcmp(zs_tool_args(run), "edges");
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
    if (!edges)
        zs_edit_reserve_grf(kernel, grf);
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, i));
        if (block->first == i && edges && is_behind_branch(code, block))
            error = zs_tool_count_at(run, kernel, i - 1, ZS_EDIT_AFTER, &edge, diag);
        else if (block->first == i)
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
    uint32_t at = probe->kind == ZS_PROBE_COUNT && probe->site == ON_EDGE ? inst + 1 : inst;
    const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, at));
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
