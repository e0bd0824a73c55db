/* SPDX-License-Identifier: MIT */
/*
 * How often each instruction is executed, and by how many lanes; the table has them by opcode.
 *
 * Between two branches all instructions are executed equally often, and lanes that are on stay on:
 * a block needs one counter for its executions and one for each width that its instructions have.
 * Those with a predicate count their own lanes, but for selections and branches, which all lanes
 * take part in.
 */
#include "instrument/tools/tools.h"

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},
    {.name = "opcode", .kind = ZS_TOOL_KEY},
    {.name = "executions", .kind = ZS_TOOL_SUM},
    {.name = "lanes", .kind = ZS_TOOL_SUM},
    {.name = "lanes/execution", .kind = ZS_TOOL_RATIO, .above = 3, .below = 2},
};

static bool chooses(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_SEL || zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

static bool counts_own_lanes(const struct zs_isa_inst *inst)
{
    return inst->pred != ZS_PRED_NONE && !chooses(inst);
}

static bool same_lanes(const struct zs_isa_inst *a, const struct zs_isa_inst *b)
{
    return a->exec_size == b->exec_size && a->channel_offset == b->channel_offset &&
           !((a->flags ^ b->flags) & ZS_INST_NOMASK) && !counts_own_lanes(a) &&
           !counts_own_lanes(b);
}

static int put_lanes(struct zs_tool_run *run, struct zs_edit_kernel *kernel,
                     const struct zs_isa_block *block, uint32_t i, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_inst *inst = zs_isa_inst(code, i);
    const struct zs_probe own = {.kind = ZS_PROBE_LANES},
                          of_all = {.kind = ZS_PROBE_LANES, .all_active = true};
    if (counts_own_lanes(inst))
        return zs_tool_count(run, kernel, i, &own, diag);
    if (inst->flags & ZS_INST_NOMASK)
        return 0;
    for (uint32_t before = block->first; before < i; before++)
        if (same_lanes(zs_isa_inst(code, before), inst))
            return 0;
    return zs_tool_count(run, kernel, i, &of_all, diag);
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    int error = 0;
    for (uint32_t b = 0; code && b < zs_isa_block_count(code) && !error; b++) {
        const struct zs_isa_block *block = zs_isa_block(code, b);
        error = zs_tool_count(run, kernel, block->first, &count, diag);
        for (uint32_t i = block->first; i < block->first + block->count && !error; i++)
            error = put_lanes(run, kernel, block, i, diag);
    }
    return error;
}

static void told(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                 uint64_t executions, uint64_t lanes)
{
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(kernel), i);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name,
                          zs_isa_op_mnemonic((enum zs_isa_op)inst->op)};
    zs_tool_executed(run, kernel, i, executions, lanes);
    zs_tool_row(run, keys, (const double[]){(double)executions, (double)lanes});
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_block *block = zs_isa_block(code, zs_isa_inst_block(code, inst));
    const struct zs_isa_inst *like = zs_isa_inst(code, inst);
    if (probe->kind == ZS_PROBE_LANES && !probe->all_active) {
        told(run, kernel, inst, 0, value);
        return;
    }
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct zs_isa_inst *in = zs_isa_inst(code, i);
        bool no_mask = in->flags & ZS_INST_NOMASK && !counts_own_lanes(in);
        if (probe->kind == ZS_PROBE_COUNT)
            told(run, kernel, i, value, no_mask ? value * in->exec_size : 0);
        else if (same_lanes(in, like))
            told(run, kernel, i, 0, value);
    }
}

const struct zs_tool zs_tool_opcodes = {
    .size_B = sizeof(struct zs_tool),
    .name = "opcodes",
    .summary = "executions and lanes of each instruction; the table is by opcode",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
