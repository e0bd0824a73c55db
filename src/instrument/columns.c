/* SPDX-License-Identifier: MIT */
/*
 * What tools say of single instructions, as columns for annotate and pages: kept by module and
 * kernel while results are made, and written to the recording (wire/instrument.h).
 */
#include "instrument/instrument.h"

#include "base/vec.h"
#include "store/store.h"
#include "wire/instrument.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_beside(struct zs_tool_beside *b)
{
    free(b->name);
    free(b->offsets_B);
    free(b->values);
    free(b->is_set);
}

void zs_tool_beside_fini(struct zs_tool_run *run)
{
    for (size_t i = 0; i < run->beside.count; i++)
        free_beside(&run->beside.items[i]);
    free(run->beside.items);
    memset(&run->beside, 0, sizeof(run->beside));
}

static struct zs_tool_beside *find(struct zs_tool_run *run, struct zs_edit_kernel *kernel)
{
    const struct zs_kernel *info = zs_edit_kernel_info(kernel);
    for (size_t i = 0; i < run->beside.count; i++)
        if (run->beside.items[i].kernel == info->index &&
            !strcmp(run->beside.items[i].hash, run->hash))
            return &run->beside.items[i];
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    uint32_t count = zs_isa_kernel_count(code);
    struct zs_tool_beside b = {
        .kernel = info->index,
        .count = count,
        .name = strdup(info->name),
        .offsets_B = calloc(count + 1u, sizeof(*b.offsets_B)),
        .values = calloc((size_t)count * run->tool->column_count + 1, sizeof(*b.values)),
        .is_set = calloc(count + 1u, sizeof(*b.is_set))};
    memcpy(b.hash, run->hash, sizeof(b.hash));
    if (!b.name || !b.offsets_B || !b.values || !b.is_set || !ZS_VEC_PUSH(&run->beside, b)) {
        free_beside(&b);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        b.offsets_B[i] = zs_isa_inst_offset(code, i);
    return &run->beside.items[run->beside.count - 1];
}

static double joined(uint32_t kind, double a, double b)
{
    return kind == ZS_TOOL_MIN ? fmin(a, b) : kind == ZS_TOOL_MAX ? fmax(a, b) : a + b;
}

void zs_tool_row_at(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const char *const *keys, const double *values)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    zs_tool_row(run, keys, values);
    if (!run->hash[0] || !code || inst >= zs_isa_kernel_count(code))
        return;
    struct zs_tool_beside *b = find(run, kernel);
    if (!b) {
        run->out_of_memory = true;
        return;
    }
    uint32_t columns = run->tool->column_count;
    double *to = b->values + (size_t)inst * columns;
    for (uint32_t c = zs_tool_key_count(run->tool); c < columns; c++) {
        uint32_t kind = run->tool->columns[c].kind;
        if (kind == ZS_TOOL_RATIO)
            continue;
        to[c] = b->is_set[inst] ? joined(kind, to[c], *values) : *values;
        values++;
    }
    b->is_set[inst] = true;
}

/* ---- the file ---- */

static void put_u32(struct zs_buf *out, uint32_t value)
{
    zs_buf_append(out, &value, sizeof(value));
}

static void put_text(struct zs_buf *out, const char *text)
{
    uint32_t size_B = (uint32_t)strlen(text);
    put_u32(out, size_B);
    zs_buf_append(out, text, size_B);
}

static void put_head(const struct zs_tool *tool, uint32_t first, struct zs_buf *out)
{
    zs_buf_append(out, ZS_INSTRUMENT_COLUMNS_MAGIC, 8);
    put_text(out, tool->name);
    put_u32(out, tool->column_count - first);
    for (uint32_t c = first; c < tool->column_count; c++) {
        const struct zs_tool_column *column = &tool->columns[c];
        bool is_ratio = column->kind == ZS_TOOL_RATIO;
        put_u32(out, column->kind);
        put_u32(out, is_ratio && column->below >= first && column->below < tool->column_count
                         ? column->below - first
                         : 0);
        put_text(out, column->name);
    }
}

static void put_values(const struct zs_tool *tool, uint32_t first, const double *values,
                       struct zs_buf *out)
{
    for (uint32_t c = first; c < tool->column_count; c++) {
        double value = zs_tool_value(tool, values, c);
        zs_buf_append(out, &value, sizeof(value));
    }
}

int zs_tool_beside_write(const struct zs_tool_run *run, const char *recording)
{
    struct zs_buf out = {0};
    uint32_t first = zs_tool_key_count(run->tool);
    if (!run->beside.count)
        return 0;
    put_head(run->tool, first, &out);
    for (size_t i = 0; i < run->beside.count; i++) {
        const struct zs_tool_beside *b = &run->beside.items[i];
        uint32_t rows = 0;
        for (uint32_t n = 0; n < b->count; n++)
            rows += b->is_set[n];
        zs_buf_append(&out, b->hash, ZS_INSTRUMENT_HASH_CHARS);
        put_text(&out, b->name);
        put_u32(&out, rows);
        for (uint32_t n = 0; n < b->count; n++) {
            if (!b->is_set[n])
                continue;
            put_u32(&out, b->offsets_B[n]);
            put_values(run->tool, first, b->values + (size_t)n * run->tool->column_count, &out);
        }
    }
    int error =
        out.error ? out.error : zs_store_file(recording, ZS_INSTRUMENT_COLUMNS, zs_buf_span(&out));
    zs_buf_fini(&out);
    return error;
}
