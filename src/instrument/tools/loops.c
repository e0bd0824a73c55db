/* SPDX-License-Identifier: MIT */
/*
 * How often threads come to each loop, and how often they go round. Who comes to a loop passes a
 * block that leads nowhere else, or the entries are not known (0).
 */
#include "instrument/tools/tools.h"

#include <stdio.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},
    {.name = "loop", .kind = ZS_TOOL_KEY},
    {.name = "depth", .kind = ZS_TOOL_KEY},
    {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "iterations", .kind = ZS_TOOL_SUM},
    {.name = "entries", .kind = ZS_TOOL_SUM},
    {.name = "iterations/entry", .kind = ZS_TOOL_RATIO, .above = 4, .below = 5},
};

static bool is_in(const struct zs_isa_kernel *code, uint32_t block, uint32_t loop)
{
    uint32_t l = zs_isa_block(code, block)->loop;
    while (l != ZS_ISA_NO_INDEX && l != loop)
        l = zs_isa_loop(code, l)->parent;
    return l == loop;
}

/* Edges to the loop from outside: each from a block that has no other. */
static bool has_entries(const struct zs_isa_kernel *code, uint32_t l)
{
    const struct zs_isa_loop *loop = zs_isa_loop(code, l);
    bool starts = loop->header == 0; /* threads begin in it */
    for (uint32_t e = 0; e < zs_isa_edge_count(code) && !starts; e++) {
        const struct zs_isa_edge *edge = zs_isa_edge(code, e);
        if (edge->to == loop->header && !is_in(code, edge->from, l) &&
            zs_isa_block(code, edge->from)->edge_count != 1)
            return false;
    }
    return !starts;
}

/* all_active, which means nothing here, tells the entries' probes from the headers'. */
static int put_entries(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t l,
                       struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe entry = {.kind = ZS_PROBE_COUNT, .all_active = true};
    int error = 0;
    for (uint32_t e = 0; e < zs_isa_edge_count(code) && !error; e++) {
        const struct zs_isa_edge *edge = zs_isa_edge(code, e);
        if (edge->to == zs_isa_loop(code, l)->header && !is_in(code, edge->from, l))
            error = zs_tool_count(run, kernel, zs_isa_block(code, edge->from)->first, &entry, diag);
    }
    return error;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe round = {.kind = ZS_PROBE_COUNT};
    int error = 0;
    for (uint32_t l = 0; code && l < zs_isa_loop_count(code) && !error; l++) {
        uint32_t header = zs_isa_block(code, zs_isa_loop(code, l)->header)->first;
        error = zs_tool_count(run, kernel, header, &round, diag);
        if (!error && has_entries(code, l))
            error = put_entries(run, kernel, l, diag);
    }
    return error;
}

static void tell(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t l,
                 double iterations, double entries)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_loop *loop = zs_isa_loop(code, l);
    const struct zs_isa_block *header = zs_isa_block(code, loop->header);
    char offset[32], depth[16];
    snprintf(offset, sizeof(offset), "0x%04x", header->offset_B);
    snprintf(depth, sizeof(depth), "%u", loop->depth);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, offset, depth,
                          zs_tool_line(run, kernel, header->first)};
    zs_tool_row_at(run, kernel, header->first, keys, (const double[]){iterations, entries});
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    uint32_t block = zs_isa_inst_block(code, inst);
    const struct zs_isa_block *b = zs_isa_block(code, block);
    uint32_t to = b->edge_count ? zs_isa_edge(code, b->edge_first)->to : ZS_ISA_NO_INDEX;
    for (uint32_t l = 0; l < zs_isa_loop_count(code); l++) {
        uint32_t header = zs_isa_loop(code, l)->header;
        if (!probe->all_active && header == block)
            tell(run, kernel, l, (double)value, 0);
        else if (probe->all_active && header == to && !is_in(code, block, l))
            tell(run, kernel, l, 0, (double)value);
    }
}

const struct zs_tool zs_tool_loops = {
    .size_B = sizeof(struct zs_tool),
    .name = "loops",
    .summary = "how often each loop is entered, and gone round",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .counter = counter,
};
