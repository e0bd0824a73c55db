/* SPDX-License-Identifier: MIT */
/*
 * A caller's own code on the edges of threads that jump, the first few of each kernel: it counts in
 * a register of its own, which a record shows as the thread ends, beside a probe on the same edge.
 *
 * "clocks": the time from each block to the next one, in "probe", is as much as from the thread's
 * start to its end, in "text"; with no registers that are free. With ",one" one is, with ",far" it
 * is as if the kernel had 128 KiB of scratch memory.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zescope/instrument.h>

enum { FAR_B = 128 << 10 };
enum { EDGES_MAX = 8 /* dwords of a register */, COUNT_SITE = 1, PART_SITE, WHOLE_SITE };

static const struct zs_tool_column columns[] = {{.name = "kernel", .kind = ZS_TOOL_KEY},
                                                {.name = "edge", .kind = ZS_TOOL_KEY},
                                                {.name = "probe", .kind = ZS_TOOL_SUM},
                                                {.name = "text", .kind = ZS_TOOL_SUM}};

static const char *wait_of(const struct zs_isa_kernel *code)
{
    enum zs_isa_platform platform = zs_isa_kernel_platform(code);
    return platform >= ZS_ISA_XE_HPG ? " {A@1}" : platform >= ZS_ISA_XE_LP ? " {@1}" : "";
}

/* A branch whose edge for threads that jump is a place, forward or back by lanes. */
static bool is_wanted(const struct zs_isa_inst *inst)
{
    return inst->op != ZS_OP_JMPI && zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

/* The register that nobody else uses: the lowest; 0: none. */
static uint32_t take_grf(struct zs_edit_kernel *kernel)
{
    uint64_t bits[4], mine[4] = {0};
    uint32_t reg = 1;
    if (!zs_edit_free_grf(kernel, bits))
        return 0;
    while (reg < 128 && !(bits[reg / 64] >> reg % 64 & 1))
        reg++;
    if (reg == 128)
        return 0;
    mine[reg / 64] = UINT64_C(1) << reg % 64;
    zs_edit_reserve_grf(kernel, mine);
    return reg;
}

static int put_edge(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    uint32_t grf, uint32_t *edge, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe count = {.kind = ZS_PROBE_COUNT, .site = COUNT_SITE, .clock = *edge};
    char text[200];
    snprintf(text, sizeof(text), "(W) add (1|M0) r%u.%u<1>:ud r%u.%u<0;1,0>:ud 0x1:ud%s\n", grf,
             *edge, grf, *edge, wait_of(code));
    int error = zs_edit_insert(kernel, inst, ZS_EDIT_JUMP, text, diag);
    if (!error)
        error = zs_tool_count_at(run, kernel, inst, ZS_EDIT_JUMP, &count, diag);
    *edge += error ? 0 : 1;
    return error;
}

/* The time since clock 0 was read, which is read again. */
static int put_part(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    enum zs_edit_where where, struct zs_diag *diag)
{
    static const struct zs_probe part = {.kind = ZS_PROBE_ELAPSED, .site = PART_SITE},
                                 clock = {.kind = ZS_PROBE_CLOCK};
    int error = zs_tool_count_at(run, kernel, inst, where, &part, diag);
    return error ? error : zs_edit_probe(kernel, inst, where, &clock, diag);
}

static int instrument_clocks(struct zs_tool_run *run, struct zs_edit_kernel *kernel,
                             struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_probe whole = {.kind = ZS_PROBE_ELAPSED, .clock = 1, .site = WHOLE_SITE};
    uint32_t count = code ? zs_isa_kernel_count(code) : 0;
    enum zs_isa_platform platform = code ? zs_isa_kernel_platform(code) : ZS_ISA_GEN9;
    bool on_edges = platform >= ZS_ISA_XE_LP && platform <= ZS_ISA_XE_HPG; /* nothing jumps there */
    const char *args = zs_tool_args(run);
    uint64_t taken[4], unused[4];
    int error = 0;
    memset(taken, 0xff, sizeof(taken));
    if (strstr(args, ",one") && zs_edit_free_grf(kernel, unused))
        for (int w = 0; w < 2; w++)
            taken[w] = w == 0 || !unused[0] ? ~(unused[w] & -unused[w]) : taken[w];
    zs_edit_reserve_grf(kernel, taken);
    if (strstr(args, ",far")) /* nobody else may write what the library hands out */
        ((struct zs_kernel *)(uintptr_t)zs_edit_kernel_info(kernel))->scratch_B[0] = FAR_B;
    for (uint32_t clock = 0; clock < 2 && count && !error; clock++) {
        const struct zs_probe start = {.kind = ZS_PROBE_CLOCK, .clock = clock};
        error = zs_edit_probe(kernel, 0, ZS_EDIT_ENTRY, &start, diag);
    }
    for (uint32_t i = 0; i < count && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        if (zs_isa_block(code, zs_isa_inst_block(code, i))->first == i)
            error = put_part(run, kernel, i, ZS_EDIT_BEFORE, diag);
        if (!error && on_edges && is_wanted(inst))
            error = put_part(run, kernel, i, ZS_EDIT_JUMP, diag);
        error = error == -ENOTSUP ? 0 : error;
        if (!error && inst->flags & ZS_INST_EOT)
            error = put_part(run, kernel, i, ZS_EDIT_BEFORE, diag); /* of the last block */
        if (!error && inst->flags & ZS_INST_EOT)
            error = zs_tool_count(run, kernel, i, &whole, diag);
    }
    return error;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    if (!strncmp(zs_tool_args(run), "clocks", 6))
        return instrument_clocks(run, kernel, diag);
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    uint32_t grf = take_grf(kernel), edge = 0, end = ZS_ISA_NO_INDEX;
    char text[200];
    int error = 0;
    if (!code || !grf)
        return 0;
    for (uint32_t i = 0; i < zs_isa_kernel_count(code); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        if (is_wanted(inst) && edge < EDGES_MAX && !error)
            error = put_edge(run, kernel, i, grf, &edge, diag);
        error = error == -ENOTSUP ? 0 : error;
        end = inst->flags & ZS_INST_EOT ? i : end;
    }
    if (error || !edge || end == ZS_ISA_NO_INDEX)
        return error;
    snprintf(text, sizeof(text), "(W) mov (8|M0) r%u.0<1>:ud 0x0:ud%s\n", grf, wait_of(code));
    error = zs_edit_insert(kernel, 0, ZS_EDIT_ENTRY, text, diag);
    return error ? error : zs_tool_trace(run, kernel, end, ZS_EDIT_BEFORE, grf, 1, diag);
}

static void tell(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t edge,
                 double probe, double text)
{
    char number[16];
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, number};
    snprintf(number, sizeof(number), "%u", edge);
    zs_tool_row(run, keys, (const double[]){probe, text});
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    (void)inst;
    if (probe->site == COUNT_SITE)
        tell(run, kernel, probe->clock, (double)value, 0);
    if (probe->site == PART_SITE)
        tell(run, kernel, 0, (double)value, 0);
    if (probe->site == WHOLE_SITE)
        tell(run, kernel, 0, 0, (double)value);
}

static void record(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                   const struct zs_edit_record *r)
{
    (void)inst;
    for (uint32_t edge = 0; edge < EDGES_MAX; edge++) {
        uint32_t value;
        memcpy(&value, r->grf + edge * sizeof(value), sizeof(value));
        if (value)
            tell(run, kernel, edge, 0, value);
    }
}

const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "edge",
                                     .columns = columns,
                                     .column_count = 4,
                                     .instrument = instrument,
                                     .counter = counter,
                                     .record = record};
