/* SPDX-License-Identifier: MIT */
/*
 * Of each branch with a predicate: for how many of the lanes that come to it the predicate holds,
 * and how many threads come to it and jump. Forward those that do not are counted, on the edge to
 * the next instruction; lanes of a thread that take different ways go them one behind the other.
 * Behind a branch that goes back lanes of several turns wait for a thread that comes by once: those
 * who jump are counted, where that can be (docs/instrumentation.md).
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
    {.name = "threads", .kind = ZS_TOOL_SUM},
    {.name = "jumps", .kind = ZS_TOOL_SUM},
    {.name = "jumps/thread", .kind = ZS_TOOL_RATIO, .above = 8, .below = 7},
};

/* JUMP: of threads that come, those that do not go on. */
enum { COME_LANES, TRUE_LANES, COME, COME_OR_JUMP, GO_ON, JUMP, PROBES };

/* Calls come back to the next instruction, too. */
static bool may_go_on(const struct zs_isa_inst *inst)
{
    return inst->op != ZS_OP_CALL && inst->op != ZS_OP_CALLA && inst->op != ZS_OP_RET;
}

static bool goes_back(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_WHILE || (inst->op == ZS_OP_GOTO && inst->flags & ZS_INST_BRANCH_CTRL);
}

static int count_threads(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                         struct zs_diag *diag)
{
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(kernel), i);
    const struct zs_probe jump = {.kind = ZS_PROBE_COUNT, .site = JUMP},
                          go_on = {.kind = ZS_PROBE_COUNT, .site = GO_ON};
    bool asks = goes_back(inst) && !zs_tool_count_at(run, kernel, i, ZS_EDIT_JUMP, &jump, NULL);
    bool less = !asks && may_go_on(inst);
    const struct zs_probe come = {.kind = ZS_PROBE_COUNT, .site = less ? COME_OR_JUMP : COME};
    int error = zs_tool_count(run, kernel, i, &come, diag);
    return error || !less ? error : zs_tool_count_at(run, kernel, i, ZS_EDIT_AFTER, &go_on, diag);
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe come = {.kind = ZS_PROBE_LANES, .all_active = true, .site = COME_LANES},
                          is_true = {.kind = ZS_PROBE_LANES, .site = TRUE_LANES};
    int error = 0;
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH) || !inst->pred)
            continue;
        error = zs_tool_count(run, kernel, i, &come, diag);
        if (!error)
            error = zs_tool_count(run, kernel, i, &is_true, diag);
        if (!error)
            error = count_threads(run, kernel, i, diag);
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
    double counted[PROBES] = {0};
    counted[probe->site] = (double)value;
    zs_tool_row_at(run, kernel, inst, keys,
                   (const double[]){counted[COME_LANES], counted[TRUE_LANES],
                                    counted[COME] + counted[COME_OR_JUMP],
                                    counted[JUMP] + counted[COME_OR_JUMP] - counted[GO_ON]});
}

const struct zs_tool zs_tool_branches = {
    .size_B = sizeof(struct zs_tool),
    .name = "branches",
    .summary = "for how many lanes the predicate of each branch holds, how many threads jump",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
