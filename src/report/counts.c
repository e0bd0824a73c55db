/* SPDX-License-Identifier: MIT */
#include "report/counts.h"

#include "base/vec.h"
#include "record/counts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The counts of one kernel of an opened module, ascending offsets. */
struct kernel_counts {
    const struct zs_kernel *kernel;
    struct zs_counts_row *rows;
    uint32_t row_count;
    bool is_partial;           /* executions of some instructions are not known */
    bool has_lanes, has_bytes; /* a tool may know executions alone, and no bytes */
};

struct zs_count_columns {
    struct {
        struct kernel_counts *items;
        size_t count, capacity;
    } kernels;
};

/* The columns of a kernel: two that are worked out, then what was counted. */
enum {
    COLUMN_SHARE,
    COLUMN_LANES,
    COLUMN_EXECUTIONS,
    COLUMN_ACTIVE,
    COLUMN_READ,
    COLUMN_WRITTEN,
    COLUMN_COUNT
};

static const struct zs_column column_rows[COLUMN_COUNT] = {
    [COLUMN_SHARE] = {.name = "share",
                      .unit = "%",
                      .description = "of all instructions that the kernel's threads executed",
                      .shown = true,
                      .heat = true},
    [COLUMN_LANES] = {.name = "lanes",
                      .unit = "%",
                      .description = "lanes that took part, of the instruction's channels",
                      .total = ZS_TOTAL_MEAN,
                      .shown = true},
    [COLUMN_EXECUTIONS] = {.name = "executions", .unit = "", .description = "by hardware threads"},
    [COLUMN_ACTIVE] = {.name = "active_lanes",
                       .unit = "",
                       .description = "lanes that took part, over all executions"},
    [COLUMN_READ] = {.name = "read_B", .unit = "B", .description = "by the active lanes"},
    [COLUMN_WRITTEN] = {.name = "written_B", .unit = "B", .description = "by the active lanes"},
};

/* Where the counted ones stand in a row of counts. */
static const size_t column_members[COLUMN_COUNT] = {
    [COLUMN_EXECUTIONS] = offsetof(struct zs_counts_row, executions),
    [COLUMN_ACTIVE] = offsetof(struct zs_counts_row, active_lanes),
    [COLUMN_READ] = offsetof(struct zs_counts_row, bytes_read),
    [COLUMN_WRITTEN] = offsetof(struct zs_counts_row, bytes_written),
};

/* What is attached to one kernel while it is shown: columns, their values, weights of the lanes. */
struct attached {
    struct zs_column columns[COLUMN_COUNT];
    double values[];
};

struct zs_count_columns *zs_count_columns_new(void)
{
    return calloc(1, sizeof(struct zs_count_columns));
}

void zs_count_columns_free(struct zs_count_columns *columns)
{
    if (!columns)
        return;
    for (size_t i = 0; i < columns->kernels.count; i++)
        free(columns->kernels.items[i].rows);
    free(columns->kernels.items);
    free(columns);
}

static struct kernel_counts *find(const struct zs_count_columns *columns,
                                  const struct zs_kernel *kernel)
{
    for (size_t i = 0; i < columns->kernels.count; i++)
        if (columns->kernels.items[i].kernel == kernel)
            return &columns->kernels.items[i];
    return NULL;
}

static void add_row(struct zs_counts_row *to, const struct zs_counts_row *from)
{
    to->executions += from->executions;
    to->active_lanes += from->active_lanes;
    to->bytes_read += from->bytes_read;
    to->bytes_written += from->bytes_written;
}

/* Rows of both, by their offsets. */
static int add_rows(struct kernel_counts *to, const struct zs_counts *from)
{
    struct zs_counts_row *rows = calloc((size_t)to->row_count + from->row_count + 1, sizeof(*rows));
    uint32_t count = 0, a = 0, b = 0;
    if (!rows)
        return -ENOMEM;
    while (a < to->row_count || b < from->row_count) {
        bool ours = a < to->row_count &&
                    (b == from->row_count || to->rows[a].offset_B <= from->rows[b].offset_B);
        rows[count] = ours ? to->rows[a++] : from->rows[b++];
        if (ours && b < from->row_count && from->rows[b].offset_B == rows[count].offset_B)
            add_row(&rows[count], &from->rows[b++]);
        count++;
    }
    free(to->rows);
    to->rows = rows;
    to->row_count = count;
    to->is_partial |= from->is_partial;
    to->has_bytes |= from->launches != 0; /* the driver's */
    for (uint32_t i = 0; i < from->row_count; i++)
        to->has_lanes |= from->rows[i].active_lanes != 0;
    return 0;
}

static int add_counts(struct zs_count_columns *columns, const struct zs_kernel *kernel,
                      const struct zs_counts *counts, size_t *ret_found)
{
    struct kernel_counts *known = find(columns, kernel);
    if (known)
        return add_rows(known, counts);
    struct kernel_counts fresh = {.kernel = kernel};
    int error = add_rows(&fresh, counts);
    if (!error && ZS_VEC_PUSH(&columns->kernels, fresh)) {
        ++*ret_found;
        return 0;
    }
    free(fresh.rows);
    return error ? error : -ENOMEM;
}

const struct zs_kernel *zs_count_kernel_named(const struct zs_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->image_count; i++)
        for (uint32_t k = 0; k < module->images[i].kernel_count; k++)
            if (!strcmp(module->images[i].kernels[k].name, name))
                return &module->images[i].kernels[k];
    return NULL;
}

int zs_count_columns_add(struct zs_count_columns *columns, const char *recording_path,
                         struct zs_recording *recording, const struct zs_record_module *record,
                         const struct zs_module *module, size_t *ret_found, size_t *ret_damaged,
                         struct zs_diag *diag)
{
    struct zs_counts_list list;
    uint32_t module_count;
    const struct zs_record_module *modules = zs_recording_modules(recording, &module_count);
    int error = zs_counts_load(recording_path, &list, ret_damaged, diag);
    for (size_t i = 0; i < list.count && !error; i++) {
        uint32_t index = zs_counts_module(recording, &list.items[i]);
        /* with one module there is no doubt, however its handle was wrapped */
        bool ours = index == ZS_RECORD_NONE ? module_count == 1 : &modules[index] == record;
        const struct zs_kernel *kernel =
            ours ? zs_count_kernel_named(module, list.items[i].kernel) : NULL;
        if (kernel)
            error = add_counts(columns, kernel, &list.items[i], ret_found);
    }
    zs_counts_free(&list);
    return error;
}

static uint64_t member(const struct zs_counts_row *row, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)row + offset, sizeof(value));
    return value;
}

static void fill(double *values, const struct zs_isa_kernel *isa,
                 const struct kernel_counts *counts, size_t offset)
{
    uint32_t row = 0, count = zs_isa_kernel_count(isa);
    for (uint32_t i = 0; i < count; i++) {
        int64_t at_B = zs_isa_inst_offset(isa, i);
        while (row < counts->row_count && counts->rows[row].offset_B < at_B)
            row++;
        bool counted = row < counts->row_count && counts->rows[row].offset_B == at_B;
        values[i] = counted ? (double)member(&counts->rows[row], offset) : NAN;
    }
}

/* Zeros of what was not collected. */
static void forget(double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = NAN;
}

/* Share of all executions, in percent, where all are known; weights[]: channels that could have
 * taken part. */
static void work_out(struct attached *a, const struct zs_isa_kernel *isa, bool is_partial,
                     double *weights)
{
    uint32_t count = zs_isa_kernel_count(isa);
    const double *executions = a->columns[COLUMN_EXECUTIONS].values;
    const double *active = a->columns[COLUMN_ACTIVE].values;
    double *share = a->values + (size_t)COLUMN_SHARE * count;
    double *lanes = a->values + (size_t)COLUMN_LANES * count;
    double all = 0;
    for (uint32_t i = 0; i < count; i++)
        all += isnan(executions[i]) ? 0 : executions[i];
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        weights[i] = isnan(executions[i]) ? 0 : executions[i] * inst->exec_size;
        share[i] = isnan(executions[i]) ? NAN : all > 0 ? 100 * executions[i] / all : 0;
        lanes[i] = weights[i] > 0 ? 100 * active[i] / weights[i] : share[i]; /* 0 or NaN */
        if (isnan(active[i]))
            lanes[i] = NAN;
    }
    for (uint32_t i = 0; i < count && is_partial; i++)
        share[i] = NAN;
}

static int attach(void *user, struct zs_code *code)
{
    const struct kernel_counts *counts = code->isa ? find(user, code->kernel) : NULL;
    if (!counts)
        return 0;
    int error = zs_isa_kernel_decode(code->isa, ZS_ISA_INSTS, NULL);
    if (error)
        return error;
    uint32_t count = zs_isa_kernel_count(code->isa);
    struct attached *a =
        calloc(1, sizeof(*a) + (size_t)(COLUMN_COUNT + 1) * count * sizeof(a->values[0]));
    if (!a)
        return -ENOMEM;
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        double *values = a->values + (size_t)c * count;
        if (c >= COLUMN_EXECUTIONS)
            fill(values, code->isa, counts, column_members[c]);
        if ((c == COLUMN_ACTIVE && !counts->has_lanes) || (c >= COLUMN_READ && !counts->has_bytes))
            forget(values, count);
        a->columns[c] = column_rows[c];
        a->columns[c].values = values;
    }
    double *weights = a->values + (size_t)COLUMN_COUNT * count;
    work_out(a, code->isa, counts->is_partial, weights);
    if (counts->is_partial)
        a->columns[COLUMN_SHARE].shown = a->columns[COLUMN_SHARE].heat = false;
    a->columns[COLUMN_LANES].weights = weights;
    code->columns = a->columns;
    code->column_count = COLUMN_COUNT;
    return 0;
}

static void release(void *user, struct zs_code *code)
{
    /* the columns stand first in what attach made */
    free((void *)(uintptr_t)code->columns);
    code->columns = NULL;
    code->column_count = 0;
}

struct zs_column_source zs_count_columns_source(struct zs_count_columns *columns)
{
    return (struct zs_column_source){.user = columns, .attach = attach, .release = release};
}
