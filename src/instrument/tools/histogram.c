/* SPDX-License-Identifier: MIT */
/*
 * How often a variable has which value as threads come to a line, histogram:sum@kernel.cl:34: by
 * powers of two.
 */
#include "instrument/tools/tools.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY}, {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "offset", .kind = ZS_TOOL_KEY}, {.name = "variable", .kind = ZS_TOOL_KEY},
    {.name = "value", .kind = ZS_TOOL_KEY},  {.name = "count", .kind = ZS_TOOL_SUM},
};

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    char name[ZS_NAMED_CHARS];
    if (zs_named_split(run, name))
        return zs_named_probes(run, kernel, diag);
    snprintf(diag->text, sizeof(diag->text),
             "of which variable at which line? histogram:sum@kernel.cl:34");
    return -EINVAL;
}

/* "0", "1", "-1", "nan", or of what is 2 or more, or less than 1, "[4, 8)". */
static void put_range(double value, char ret_text[64])
{
    int exponent;
    if (value == 0 || fabs(value) == 1 || isnan(value) || isinf(value)) {
        zs_number_format(ret_text, 64, isnan(value) ? "nan" : "%g", value == 0 ? 0 : value);
        return;
    }
    frexp(fabs(value), &exponent);
    double high = ldexp(1, exponent);
    if (value > 0)
        zs_number_format(ret_text, 64, "[%g, %g)", high / 2, high);
    else
        zs_number_format(ret_text, 64, "(%g, %g]", -high, -high / 2);
}

static void record(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                   const struct zs_edit_record *r)
{
    struct zs_named found = {.count = 0};
    char range[64], line[512], offset[32];
    zs_named_values(run, kernel, i, r, &found);
    snprintf(line, sizeof(line), "%s", zs_tool_line(run, kernel, i));
    snprintf(offset, sizeof(offset), "0x%04x", zs_isa_inst_offset(zs_edit_kernel_code(kernel), i));
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, line, offset, found.name, range};
    for (uint32_t n = 0; n < found.count; n++) {
        put_range(found.values[n], range);
        zs_tool_row(run, keys, (const double[]){1});
    }
    snprintf(range, sizeof(range), "not available");
    if (found.missing)
        zs_tool_row(run, keys, (const double[]){found.missing});
}

const struct zs_tool zs_tool_histogram = {
    .size_B = sizeof(struct zs_tool),
    .name = "histogram",
    .summary = "values of a variable at a line, by powers of two (histogram:sum@k.cl:34)",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .record = record,
};
