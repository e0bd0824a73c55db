/* SPDX-License-Identifier: MIT */
/*
 * A variable by its name, as threads come to a line, NAME@kernel.cl:34: for values and histogram.
 * The registers that debug information names are copied there, of lanes that are on; each lane's
 * value is taken from them where it can be believed.
 */
#include "instrument/tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 32, GRFS = 256 };

const char *zs_named_split(struct zs_tool_run *run, char ret_name[ZS_NAMED_CHARS])
{
    const char *args = zs_tool_args(run), *at = strchr(args, '@');
    if (!at || at - args >= ZS_NAMED_CHARS)
        return NULL;
    snprintf(ret_name, ZS_NAMED_CHARS, "%.*s", (int)(at - args), args);
    return at + 1;
}

/* Code of the line begins there. */
static bool begins(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                   const char *line)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    bool first = i == 0 || zs_isa_block(code, zs_isa_inst_block(code, i))->first == i;
    return !strcmp(zs_tool_line(run, kernel, i), line) &&
           (first || strcmp(zs_tool_line(run, kernel, i - 1), line) != 0);
}

/* Which registers its lanes are in; an error other than that it is not available. */
static int find_registers(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                          const char *name, bool ret_grf[GRFS + 1], struct zs_diag *diag)
{
    uint32_t grf_B = zs_tool_grf_B(zs_edit_kernel_code(kernel));
    memset(ret_grf, 0, GRFS + 1);
    for (uint32_t lane = 0; lane < zs_edit_kernel_info(kernel)->simd; lane++) {
        struct zs_tool_variable v;
        int error = zs_tool_variable(run, kernel, i, name, lane, &v, diag);
        if (error == -ENODATA)
            continue;
        if (error)
            return error;
        uint32_t last_B = v.at_B + zs_isa_type_bits((enum zs_isa_type)v.type) / 8 - 1;
        for (uint32_t reg = v.at_B / grf_B; reg <= last_B / grf_B && reg < GRFS; reg++)
            ret_grf[reg] = true;
    }
    return 0;
}

static int put_probes(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                      const bool grf[GRFS + 1], struct zs_diag *diag)
{
    bool any = false;
    int error = 0;
    for (uint32_t reg = 0; reg <= GRFS && !error; reg++) {
        struct zs_probe probe = {.all_lanes = true, .grf = reg < GRFS ? reg : 0};
        while (reg < GRFS && grf[reg] && probe.grf_count < ZS_RECORD_GRF_MAX) {
            probe.grf_count++;
            reg++;
        }
        if (probe.grf_count || (reg == GRFS && !any)) /* lanes without a value are told, too */
            error = zs_tool_trace_probe(run, kernel, i, ZS_EDIT_BEFORE, &probe, diag);
        any |= probe.grf_count > 0;
        reg -= probe.grf_count == ZS_RECORD_GRF_MAX;
    }
    return error;
}

int zs_named_probes(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    char name[ZS_NAMED_CHARS];
    const char *line = zs_named_split(run, name);
    bool grf[GRFS + 1], found = false;
    int missing = 0, error = 0;
    for (uint32_t i = 0; code && line && i < zs_isa_kernel_count(code) && !error; i++) {
        if (!begins(run, kernel, i, line))
            continue;
        int here = find_registers(run, kernel, i, name, grf, diag);
        missing = here ? here : missing;
        if (!here)
            error = put_probes(run, kernel, i, grf, diag);
        found |= !here;
    }
    return error ? error : found ? 0 : missing;
}

/* The probe that wrote a record; *ret_first: the first one at its instruction. */
static const struct zs_probe *probe_of(const struct zs_edit_kernel *kernel, uint32_t inst,
                                       uint32_t site, bool *ret_first)
{
    const struct zs_probe *p;
    uint32_t at, before = 0;
    for (uint32_t n = 0; (p = zs_edit_probe_at(kernel, n, &at)); n++) {
        if (at == inst && p->site == site)
            break;
        before += at == inst;
    }
    *ret_first = !before;
    return p;
}

void zs_named_values(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                     const struct zs_edit_record *r, struct zs_named *ret)
{
    uint32_t grf_B = zs_tool_grf_B(zs_edit_kernel_code(kernel));
    bool first;
    const struct zs_probe *probe = probe_of(kernel, inst, r->site, &first);
    ret->count = ret->missing = 0;
    zs_named_split(run, ret->name);
    for (uint32_t lane = 0; probe && lane < LANES; lane++) {
        struct zs_tool_variable v;
        if (!(r->lanes >> lane & 1))
            continue;
        if (zs_tool_variable(run, kernel, inst, ret->name, lane, &v, &ret->why)) {
            ret->missing += first;
            continue;
        }
        uint32_t begin_B = probe->grf * grf_B, size_B = r->grf_count * grf_B;
        uint32_t type_B = zs_isa_type_bits((enum zs_isa_type)v.type) / 8;
        if (v.at_B >= begin_B && v.at_B - begin_B + type_B <= size_B)
            ret->values[ret->count++] = zs_tool_number(v.type, r->grf + (v.at_B - begin_B));
    }
}
