/* SPDX-License-Identifier: MIT */
/* The tool's table: rows by their keys, as text and as JSON. */
#include "instrument/instrument.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_CHARS = 32 };

uint32_t zs_tool_key_count(const struct zs_tool *tool)
{
    uint32_t count = 0;
    while (count < tool->column_count && tool->columns[count].kind == ZS_TOOL_KEY)
        count++;
    return count;
}

static uint64_t hash_keys(const char *const *keys, uint32_t count)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++)
        hash = zs_hash_u64(hash, zs_hash_bytes(keys[i], strlen(keys[i])));
    return hash;
}

static bool same_keys(const struct zs_tool_row *row, const char *const *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(row->keys[i], keys[i]) != 0)
            return false;
    return true;
}

static uint64_t hash_of(const void *rows, size_t i)
{
    return ((const struct zs_tool_row *)rows)[i].hash;
}

static struct zs_tool_row *make_row(struct zs_tool_run *run, const char *const *keys,
                                    uint32_t count, uint64_t hash)
{
    if (run->row_count == run->row_capacity) {
        size_t capacity = run->row_capacity ? run->row_capacity * 2 : 64;
        struct zs_tool_row *rows = realloc(run->rows, capacity * sizeof(*rows));
        if (!rows)
            return NULL;
        run->rows = rows;
        run->row_capacity = capacity;
    }
    struct zs_tool_row row = {.hash = hash,
                              .keys = calloc(count + 1u, sizeof(char *)),
                              .values = calloc(run->tool->column_count + 1u, sizeof(double))};
    bool ok = row.keys && row.values;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = (row.keys[i] = strdup(keys[i])) != NULL;
    for (uint32_t i = 0; i < run->tool->column_count && ok; i++)
        row.values[i] =
            run->tool->columns[i].kind == ZS_TOOL_MIN || run->tool->columns[i].kind == ZS_TOOL_MAX
                ? NAN /* none yet */
                : 0;
    run->rows[run->row_count] = row;
    run->row_count += ok;
    return ok ? &run->rows[run->row_count - 1] : NULL;
}

static struct zs_tool_row *find_row(struct zs_tool_run *run, const char *const *keys)
{
    uint32_t count = zs_tool_key_count(run->tool);
    uint64_t hash = hash_keys(keys, count);
    if (!zs_index_reserve(&run->row_index, run->row_count, hash_of, run->rows))
        return NULL;
    uint32_t *slot = zs_index_first(&run->row_index, hash);
    for (; *slot; slot = zs_index_next(&run->row_index, slot)) {
        struct zs_tool_row *row = &run->rows[*slot - 1];
        if (row->hash == hash && same_keys(row, keys, count))
            return row;
    }
    struct zs_tool_row *row = make_row(run, keys, count, hash);
    if (row)
        *slot = (uint32_t)run->row_count;
    return row;
}

void zs_tool_row(struct zs_tool_run *run, const char *const *keys, const double *values)
{
    struct zs_tool_row *row = find_row(run, keys);
    if (!row) {
        run->out_of_memory = true;
        return;
    }
    uint32_t given = 0;
    for (uint32_t i = 0; i < run->tool->column_count; i++) {
        double *to = &row->values[i];
        switch (run->tool->columns[i].kind) {
        case ZS_TOOL_SUM:
            *to += values[given++];
            break;
        case ZS_TOOL_MIN:
            *to = fmin(*to, values[given++]);
            break;
        case ZS_TOOL_MAX:
            *to = fmax(*to, values[given++]);
            break;
        default:
            break;
        }
    }
}

void zs_tool_fini(struct zs_tool_run *run)
{
    uint32_t keys = run->tool ? zs_tool_key_count(run->tool) : 0;
    zs_tool_close(run);
    for (size_t r = 0; r < run->row_count; r++) {
        for (uint32_t i = 0; i < keys; i++)
            free(run->rows[r].keys[i]);
        free(run->rows[r].keys);
        free(run->rows[r].values);
    }
    zs_tool_beside_fini(run);
    zs_id_map_fini(&run->seen);
    free(run->rows);
    zs_index_fini(&run->row_index);
    free(run->state);
    *run = (struct zs_tool_run){.tool = run->tool, .args = run->args};
}

/* ---- views ---- */

double zs_tool_value(const struct zs_tool *tool, const double *values, uint32_t column)
{
    const struct zs_tool_column *c = &tool->columns[column];
    if (c->kind != ZS_TOOL_RATIO)
        return values[column];
    if (c->above >= tool->column_count || c->below >= tool->column_count)
        return NAN;
    return values[c->below] != 0 ? values[c->above] / values[c->below] : NAN;
}

struct order {
    const struct zs_tool_run *run;
    uint32_t keys;
};

/* The largest first number first; then by keys. */
static int compare_rows(const void *a, const void *b, void *user)
{
    const struct order *o = user;
    const struct zs_tool_row *x = &o->run->rows[*(const uint32_t *)a];
    const struct zs_tool_row *y = &o->run->rows[*(const uint32_t *)b];
    if (o->keys < o->run->tool->column_count) {
        double u = zs_tool_value(o->run->tool, x->values, o->keys),
               v = zs_tool_value(o->run->tool, y->values, o->keys);
        if (u != v)
            return u < v ? 1 : -1;
    }
    for (uint32_t i = 0; i < o->keys; i++) {
        int by_key = strcmp(x->keys[i], y->keys[i]);
        if (by_key)
            return by_key;
    }
    return 0;
}

static uint32_t *sorted(const struct zs_tool_run *run)
{
    struct order o = {run, zs_tool_key_count(run->tool)};
    uint32_t *order = calloc(run->row_count + 1, sizeof(*order));
    for (size_t r = 0; order && r < run->row_count; r++)
        order[r] = (uint32_t)r;
    if (order)
        qsort_r(order, run->row_count, sizeof(*order), compare_rows, &o);
    return order;
}

static const char *number_text(double value, char out[NUMBER_CHARS])
{
    if (!isfinite(value))
        return isnan(value) ? "n/a" : value < 0 ? "-inf" : "inf";
    bool whole = value == floor(value) && fabs(value) < 1e15;
    zs_number_format(out, NUMBER_CHARS,
                     whole                                       ? "%.0f"
                     : fabs(value) < 1e-3 || fabs(value) >= 1e15 ? "%.4g"
                                                                 : "%.3f",
                     value);
    return out;
}

static size_t cell_width(const struct zs_tool_run *run, const struct zs_tool_row *row,
                         uint32_t column)
{
    char scratch[NUMBER_CHARS];
    return run->tool->columns[column].kind == ZS_TOOL_KEY
               ? strlen(row->keys[column])
               : strlen(number_text(zs_tool_value(run->tool, row->values, column), scratch));
}

static void put_cell(struct zs_buf *out, const char *text, size_t width, bool right, bool last)
{
    size_t own = strlen(text), gap = width > own ? width - own : 0;
    if (right)
        zs_buf_pad(out, ' ', gap);
    zs_text_puts(out, text);
    if (!right && !last)
        zs_buf_pad(out, ' ', gap);
    zs_buf_puts(out, last ? "\n" : "  ");
}

void zs_instrument_text(const struct zs_tool_run *run, uint64_t limit, struct zs_buf *out)
{
    const struct zs_tool *tool = run->tool;
    uint32_t *order = sorted(run);
    size_t shown = limit ? ZS_MIN((size_t)limit, run->row_count) : run->row_count;
    size_t widths[ZS_TOOL_COLUMNS_MAX] = {0};
    char scratch[NUMBER_CHARS];
    if (!order) {
        out->error = -ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < tool->column_count; i++) {
        widths[i] = strlen(tool->columns[i].name);
        for (size_t r = 0; r < shown; r++)
            widths[i] = ZS_MAX(widths[i], cell_width(run, &run->rows[order[r]], i));
    }
    for (uint32_t i = 0; i < tool->column_count; i++)
        put_cell(out, tool->columns[i].name, widths[i], tool->columns[i].kind != ZS_TOOL_KEY,
                 i + 1 == tool->column_count);
    for (size_t r = 0; r < shown; r++) {
        const struct zs_tool_row *row = &run->rows[order[r]];
        for (uint32_t i = 0; i < tool->column_count; i++) {
            bool is_key = tool->columns[i].kind == ZS_TOOL_KEY;
            put_cell(out,
                     is_key ? row->keys[i]
                            : number_text(zs_tool_value(tool, row->values, i), scratch),
                     widths[i], !is_key, i + 1 == tool->column_count);
        }
    }
    if (shown < run->row_count)
        zs_buf_printf(out, "... %zu more rows\n", run->row_count - shown);
    free(order);
}

void zs_instrument_json(const struct zs_tool_run *run, const struct zs_instrument_totals *totals,
                        struct zs_buf *out)
{
    const struct zs_tool *tool = run->tool;
    uint32_t *order = sorted(run);
    struct zs_json j = zs_json_make(out, 2);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", "zescope.instrument/1");
    zs_json_string(&j, "tool", tool->name);
    zs_json_string(&j, "args", run->args);
    zs_json_u64(&j, "modules", totals->modules);
    zs_json_u64(&j, "damaged", totals->damaged);
    zs_json_u64(&j, "partial", totals->partial);
    zs_json_u64(&j, "lost_B", totals->records_lost * 32);
    zs_json_array(&j, "rows");
    for (size_t r = 0; order && r < run->row_count; r++) {
        const struct zs_tool_row *row = &run->rows[order[r]];
        zs_json_object(&j, NULL);
        for (uint32_t i = 0; i < tool->column_count; i++) {
            double value =
                tool->columns[i].kind == ZS_TOOL_KEY ? 0 : zs_tool_value(tool, row->values, i);
            if (tool->columns[i].kind == ZS_TOOL_KEY)
                zs_json_string(&j, tool->columns[i].name, row->keys[i]);
            else if (value == floor(value) && fabs(value) < 1e15)
                zs_json_i64(&j, tool->columns[i].name, (int64_t)value);
            else
                zs_json_double(&j, tool->columns[i].name, value);
        }
        zs_json_end(&j);
    }
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_putc(out, '\n');
    if (!order)
        out->error = -ENOMEM;
    free(order);
}
