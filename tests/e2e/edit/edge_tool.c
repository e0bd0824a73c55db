/* SPDX-License-Identifier: MIT */
/*
 * A caller's own code on the edges of threads that jump, the first few of each kernel: it counts in
 * a register of its own, which a record shows as the thread ends, beside a probe on the same edge.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zescope/instrument.h>

enum { EDGES_MAX = 8 /* dwords of a register */, COUNT_SITE = 1 };

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

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
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
