/* SPDX-License-Identifier: MIT */
/*
 * What the instructions of a source line compute: least and largest value, zeros, NaNs, infinities,
 * by instruction. values:kernel.cl:34, or values: for all lines. Or of a variable, as threads come
 * to a line: values:sum@kernel.cl:34.
 */
#include "instrument/tools/tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY}, {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "offset", .kind = ZS_TOOL_KEY}, {.name = "instruction", .kind = ZS_TOOL_KEY},
    {.name = "values", .kind = ZS_TOOL_SUM}, {.name = "min", .kind = ZS_TOOL_MIN},
    {.name = "max", .kind = ZS_TOOL_MAX},    {.name = "zero", .kind = ZS_TOOL_SUM},
    {.name = "nan", .kind = ZS_TOOL_SUM},    {.name = "inf", .kind = ZS_TOOL_SUM},
};

/* ---- types ---- */

#define READ(name, type)                                                                           \
    static double read_##name(const uint8_t *at)                                                   \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, at, sizeof(value));                                                         \
        return (double)value;                                                                      \
    }
READ(ub, uint8_t)
READ(b, int8_t)
READ(uw, uint16_t)
READ(w, int16_t)
READ(ud, uint32_t)
READ(d, int32_t)
READ(uq, uint64_t)
READ(q, int64_t)
READ(f, float)
READ(df, double)
static double read_hf(const uint8_t *at)
{
    unsigned bits = at[0] | (unsigned)at[1] << 8, e = bits >> 10 & 31;
    double m = bits & 1023;
    double value = e == 31 ? (m != 0 ? NAN : INFINITY)
                   : e     ? ldexp(m + 1024, (int)e - 25)
                           : ldexp(m, -24);
    return bits >> 15 ? -value : value;
}

static double (*const readers[ZS_TYPE_COUNT])(const uint8_t *at) = {
    [ZS_TYPE_UB] = read_ub, [ZS_TYPE_B] = read_b,   [ZS_TYPE_UW] = read_uw, [ZS_TYPE_W] = read_w,
    [ZS_TYPE_UD] = read_ud, [ZS_TYPE_D] = read_d,   [ZS_TYPE_UQ] = read_uq, [ZS_TYPE_Q] = read_q,
    [ZS_TYPE_F] = read_f,   [ZS_TYPE_DF] = read_df, [ZS_TYPE_HF] = read_hf,
};

double zs_tool_number(uint32_t type, const uint8_t *at)
{
    return readers[type](at);
}

/* ---- probes ---- */

static uint32_t step_B(const struct zs_isa_operand *dst)
{
    uint32_t hstride = dst->hstride == ZS_REGION_NONE || !dst->hstride ? 1 : dst->hstride;
    return zs_isa_type_bits((enum zs_isa_type)dst->type) / 8 * hstride;
}

static uint32_t spanned(const struct zs_isa_inst *inst, uint32_t grf_B)
{
    uint32_t element_B = zs_isa_type_bits((enum zs_isa_type)inst->dst.type) / 8;
    uint32_t last_B = inst->dst.subreg_B + (inst->exec_size - 1u) * step_B(&inst->dst);
    return (last_B + element_B + grf_B - 1) / grf_B;
}

/* Results in general registers; where predicate and condition meet, lanes would be lost. */
static bool has_values(const struct zs_isa_inst *inst, uint32_t grf_B)
{
    uint32_t kind = zs_isa_op_flags((enum zs_isa_op)inst->op);
    return inst->flags & ZS_INST_HAS_DST && inst->dst.kind == ZS_OPERAND_REG &&
           inst->dst.file == ZS_FILE_GRF && readers[inst->dst.type] &&
           !(kind & (ZS_OPF_SEND | ZS_OPF_BRANCH | ZS_OPF_DPAS)) && !(inst->pred && inst->cond) &&
           spanned(inst, grf_B) <= ZS_RECORD_GRF_MAX;
}

static bool is_asked(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i)
{
    const char *args = zs_tool_args(run);
    return !args[0] || !strcmp(zs_tool_line(run, kernel, i), args);
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    char name[ZS_NAMED_CHARS];
    int error = 0;
    if (zs_named_split(run, name))
        return zs_named_probes(run, kernel, diag);
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        uint32_t grf_B = zs_tool_grf_B(code);
        if (has_values(inst, grf_B) && is_asked(run, kernel, i))
            error = zs_tool_trace(run, kernel, i, ZS_EDIT_AFTER, inst->dst.reg,
                                  spanned(inst, grf_B), diag);
    }
    return error;
}

struct summary {
    double count, low, high, zero, nan, inf;
};

static void add_value(struct summary *s, double value)
{
    s->low = s->count > 0 ? fmin(s->low, value) : value;
    s->high = s->count > 0 ? fmax(s->high, value) : value;
    s->count++;
    s->zero += value == 0;
    s->nan += isnan(value);
    s->inf += isinf(value) != 0;
}

static void put_row(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                    const char *what, const struct summary *s)
{
    char offset[32];
    snprintf(offset, sizeof(offset), "0x%04x", zs_isa_inst_offset(zs_edit_kernel_code(kernel), i));
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, zs_tool_line(run, kernel, i), offset,
                          what};
    if (s->count > 0)
        zs_tool_row_at(run, kernel, i, keys,
                       (const double[]){s->count, s->low, s->high, s->zero, s->nan, s->inf});
}

static void record_variable(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                            const struct zs_edit_record *r)
{
    struct zs_named found = {.count = 0};
    struct summary values = {0};
    char why[512], offset[32];
    zs_named_values(run, kernel, i, r, &found);
    for (uint32_t n = 0; n < found.count; n++)
        add_value(&values, found.values[n]);
    put_row(run, kernel, i, found.name, &values);
    if (!found.missing)
        return;
    snprintf(offset, sizeof(offset), "0x%04x", zs_isa_inst_offset(zs_edit_kernel_code(kernel), i));
    snprintf(why, sizeof(why), "%.100s is not available%.300s", found.name,
             strchr(found.why.text, ':') ? strchr(found.why.text, ':') : "");
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, zs_tool_line(run, kernel, i), offset,
                          why};
    zs_tool_row(run, keys, (const double[]){found.missing, NAN, NAN, 0, 0, 0});
}

static void record(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                   const struct zs_edit_record *r)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_inst *inst = zs_isa_inst(code, i);
    uint32_t type_B = zs_isa_type_bits((enum zs_isa_type)inst->dst.type) / 8;
    struct summary values = {0};
    char what[64];
    if (zs_named_split(run, (char[ZS_NAMED_CHARS]){0})) {
        record_variable(run, kernel, i, r);
        return;
    }
    for (uint32_t c = 0; c < inst->exec_size; c++) {
        uint32_t at_B = inst->dst.subreg_B + c * step_B(&inst->dst);
        if (r->lanes >> (inst->channel_offset + c) & 1 &&
            at_B + type_B <= r->grf_count * zs_tool_grf_B(code))
            add_value(&values, readers[inst->dst.type](r->grf + at_B));
    }
    snprintf(what, sizeof(what), "%s r%u:%s", zs_isa_op_mnemonic((enum zs_isa_op)inst->op),
             inst->dst.reg, zs_isa_type_name((enum zs_isa_type)inst->dst.type));
    put_row(run, kernel, i, what, &values);
}

const struct zs_tool zs_tool_values = {
    .size_B = sizeof(struct zs_tool),
    .name = "values",
    .summary = "range, zeros, NaNs of what a line computes (values:k.cl:34), a variable has "
               "(values:sum@k.cl:34)",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .record = record,
};
