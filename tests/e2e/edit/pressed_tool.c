/* SPDX-License-Identifier: MIT */
/*
 * Executions and lanes of every instruction, by probes that find no registers free: those that the
 * kernel leaves are reserved, all of them ("none") or all but the lowest ("one"). What windows hold
 * has to be saved and brought back at each, with ",far" as if the kernel had 128 KiB of scratch
 * memory. "dead": those that the kernel never names are reserved,
 * so that windows are taken from what holds nothing at the place. "edges": registers are free, and
 * blocks that only the branch before them leads to are counted on that edge. All of "edges" and
 * every other one else: blocks that end with a branch forward are counted on the two edges behind
 * it, of those who jump and of those who do not; blocks that a branch goes back to, as who jumps
 * back and who comes from above.
 */
#include <errno.h>
#include <string.h>
#include <zescope/instrument.h>

static const struct zs_tool_column columns[] = {{.name = "kernel", .kind = ZS_TOOL_KEY},
                                                {.name = "lanes", .kind = ZS_TOOL_SUM}};

/* sel writes all lanes, by one or the other source, and branches are executed by all. */
static bool chooses(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_SEL || zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

enum { FAR_B = 128 << 10 };
enum { ON_EDGE = 1, BEHIND, TO_HEADER_BACK, TO_HEADER, AT_ENTRY };

/* The block is where the branch before it goes on. */
static bool is_behind_branch(const struct zs_isa_kernel *code, const struct zs_isa_block *block)
{
    const struct zs_isa_inst *before = block->first ? zs_isa_inst(code, block->first - 1) : NULL;
    return before && !(block->flags & ZS_BLOCK_LABELLED) &&
           zs_isa_op_flags((enum zs_isa_op)before->op) & ZS_OPF_BRANCH && before->pred &&
           before->op != ZS_OP_CALL && before->op != ZS_OP_RET;
}

/* Lanes that do not jump wait behind such a branch, where others come by, too. */
static bool goes_back(const struct zs_isa_inst *inst)
{
    return inst->op != ZS_OP_JMPI && (inst->op == ZS_OP_WHILE || inst->flags & ZS_INST_BRANCH_CTRL);
}

/* The only branch that goes to the block, back, where all others come from the block above;
 * ZS_ISA_NO_INDEX. */
static uint32_t back_branch(const struct zs_isa_kernel *code, uint32_t header)
{
    uint32_t found = ZS_ISA_NO_INDEX, above = 0;
    for (uint32_t e = 0; e < zs_isa_edge_count(code); e++) {
        const struct zs_isa_edge *edge = zs_isa_edge(code, e);
        const struct zs_isa_block *from = zs_isa_block(code, edge->from);
        uint32_t last = from->first + from->count - 1;
        if (edge->to != header)
            continue;
        if (edge->from + 1 == header && edge->kind == ZS_EDGE_NEXT && from->edge_count == 1)
            above++;
        else if (found != ZS_ISA_NO_INDEX || !goes_back(zs_isa_inst(code, last)) ||
                 edge->from < header)
            return ZS_ISA_NO_INDEX;
        else
            found = last;
    }
    return above == 1 ? found : ZS_ISA_NO_INDEX;
}

static int put_to_header(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t header,
                         bool *ret_done, struct zs_diag *diag)
{
    static const struct zs_probe back = {.kind = ZS_PROBE_COUNT, .site = TO_HEADER_BACK},
                                 down = {.kind = ZS_PROBE_COUNT, .site = TO_HEADER};
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    uint32_t branch = back_branch(code, header);
    *ret_done = branch != ZS_ISA_NO_INDEX;
    if (!*ret_done)
        return 0;
    int error = zs_tool_count_at(run, kernel, branch, ZS_EDIT_JUMP, &back, diag);
    *ret_done = !error;
    if (error == -ENOTSUP)
        return 0;
    return error ? error
                 : zs_tool_count(run, kernel, zs_isa_block(code, header)->first - 1, &down, diag);
}

/* Probes on both edges behind the branch that ends the block; *ret_done: they are there. */
static int put_behind(struct zs_tool_run *run, struct zs_edit_kernel *kernel,
                      const struct zs_isa_block *block, bool *ret_done, struct zs_diag *diag)
{
    static const struct zs_probe edge = {.kind = ZS_PROBE_COUNT, .site = BEHIND};
    uint32_t last = block->first + block->count - 1;
    if (goes_back(zs_isa_inst(zs_edit_kernel_code(kernel), last)))
        return 0;
    int error = zs_tool_count_at(run, kernel, last, ZS_EDIT_JUMP, &edge, diag);
    *ret_done = !error;
    if (error == -ENOTSUP)
        return 0;
    if (error)
        return error;
    error = zs_tool_count_at(run, kernel, last, ZS_EDIT_AFTER, &edge, diag);
    /* nobody goes on behind a jump without a condition */
    return error == -EINVAL && !zs_isa_inst(zs_edit_kernel_code(kernel), last)->pred ? 0 : error;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT};
    const struct zs_probe edge = {.kind = ZS_PROBE_COUNT, .site = ON_EDGE};
    const char *args = zs_tool_args(run);
    const bool edges = !strcmp(args, "edges");
    uint64_t grf[4], left = !strncmp(args, "one", 3);
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
        zs_edit_reserve_grf(kernel, strcmp(args, "dead") ? grf : unused);
    if (strstr(args, ",far")) /* nobody else may write what the library hands out */
        ((struct zs_kernel *)(uintptr_t)zs_edit_kernel_info(kernel))->scratch_B[0] = FAR_B;
    const struct zs_probe entry = {.kind = ZS_PROBE_COUNT, .site = AT_ENTRY};
    if (code && zs_isa_kernel_count(code) && !edges)
        error = zs_tool_count_at(run, kernel, 0, ZS_EDIT_ENTRY, &entry, diag);
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        uint32_t b = zs_isa_inst_block(code, i);
        const struct zs_isa_block *block = zs_isa_block(code, b);
        bool starts = block->first == i, done = false;
        if (starts && (edges || b % 2))
            error = put_to_header(run, kernel, b, &done, diag);
        if (starts && !done && !error && (edges || b % 2))
            error = put_behind(run, kernel, block, &done, diag);
        if (starts && !done && !error && edges && is_behind_branch(code, block))
            error = zs_tool_count_at(run, kernel, i - 1, ZS_EDIT_AFTER, &edge, diag);
        else if (starts && !done && !error)
            error = zs_tool_count(run, kernel, i, &count, diag);
        const struct zs_probe lanes = {.kind = ZS_PROBE_LANES,
                                       .all_active = chooses(zs_isa_inst(code, i))};
        if (!error)
            error = zs_tool_count(run, kernel, i, &lanes, diag);
    }
    return error;
}

static uint32_t header_of(const struct zs_isa_kernel *code, uint32_t b)
{
    const struct zs_isa_block *block = zs_isa_block(code, b);
    uint32_t header = b;
    for (uint32_t e = block->edge_first; e < block->edge_first + block->edge_count; e++)
        header = zs_isa_edge(code, e)->to <= b ? zs_isa_edge(code, e)->to : header;
    return header;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    bool counts = probe->kind == ZS_PROBE_COUNT;
    if (counts && probe->site == AT_ENTRY) /* it is there for what it might do to others */
        return;
    uint32_t at = counts && (probe->site == ON_EDGE || probe->site == TO_HEADER) ? inst + 1 : inst;
    uint32_t b = zs_isa_inst_block(code, at);
    if (counts && probe->site == TO_HEADER_BACK)
        b = header_of(code, b);
    const struct zs_isa_block *block = zs_isa_block(code, b);
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
