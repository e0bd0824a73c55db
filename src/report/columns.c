/* SPDX-License-Identifier: MIT */
#include "report/columns.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_COLUMNS = 5, BAR_STEPS = 8, CELL_TEXT_B = 32 };

static double value_of(double value)
{
    return isnan(value) ? 0 : value;
}

struct attached {
    const struct zs_column *inner;
    uint32_t inner_count;
    double *values;
    struct zs_column columns[];
};

int zs_columns_attach(struct zs_code *code, uint32_t front, uint32_t behind, size_t value_count,
                      struct zs_attached_columns *ret)
{
    size_t count = (size_t)front + code->column_count + behind;
    struct attached *a = calloc(1, sizeof(*a) + count * sizeof(a->columns[0]));
    double *values = calloc(value_count + 1, sizeof(*values));
    if (!a || !values) {
        free(a);
        free(values);
        return -ENOMEM;
    }
    a->inner = code->columns;
    a->inner_count = code->column_count;
    a->values = values;
    if (a->inner_count)
        memcpy(a->columns + front, a->inner, a->inner_count * sizeof(*a->inner));
    *ret = (struct zs_attached_columns){
        .front = a->columns, .behind = a->columns + front + a->inner_count, .values = values};
    code->columns = a->columns;
    code->column_count = (uint32_t)count;
    return 0;
}

void zs_columns_detach(struct zs_code *code)
{
    struct attached *a =
        (struct attached *)((char *)(uintptr_t)code->columns - offsetof(struct attached, columns));
    code->columns = a->inner;
    code->column_count = a->inner_count;
    free(a->values);
    free(a);
}

double zs_column_of_runs(const struct zs_column *column, const struct zs_join_run *runs,
                         uint32_t run_count)
{
    double sum = 0, weights = 0, most = NAN, least = NAN;
    for (uint32_t r = 0; r < run_count; r++) {
        for (uint32_t i = runs[r].first; i < runs[r].first + runs[r].count; i++) {
            double value = column->values[i];
            double weight = column->weights ? column->weights[i] : 1;
            if (isnan(value))
                continue;
            most = isnan(most) || value > most ? value : most;
            least = isnan(least) || value < least ? value : least;
            sum += column->total == ZS_TOTAL_MEAN ? value * weight : value;
            weights += weight;
        }
    }
    if (isnan(most) || column->total == ZS_TOTAL_MAX)
        return most;
    if (column->total == ZS_TOTAL_MIN)
        return least;
    return column->total != ZS_TOTAL_MEAN ? sum : weights > 0 ? sum / weights : 0;
}

/* ---- which ---- */

static bool is_named(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; *at;) {
        size_t n = strcspn(at, ",");
        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

static bool is_shown(const struct zs_column *column, const char *names)
{
    if (!names)
        return column->shown;
    return strcmp(names, "all") == 0 || is_named(names, column->name);
}

static const char *find_unknown(const struct zs_code *code, const char *names, size_t *ret_length)
{
    if (!names || strcmp(names, "all") == 0 || strcmp(names, "none") == 0)
        return NULL;
    for (const char *at = names; *at;) {
        size_t n = strcspn(at, ",");
        bool known = n == 0;
        for (uint32_t c = 0; c < code->column_count && !known; c++)
            known = strlen(code->columns[c].name) == n && memcmp(code->columns[c].name, at, n) == 0;
        if (!known) {
            *ret_length = n;
            return at;
        }
        at += n + (at[n] == ',');
    }
    return NULL;
}

/* ---- cells ---- */

static bool is_percent(const struct zs_column *column)
{
    return column->unit && strcmp(column->unit, "%") == 0;
}

/* "n/a", "" for nothing, a percentage, or the number itself. */
static void cell_text(const struct zs_column *column, double value, char text[CELL_TEXT_B])
{
    if (isnan(value))
        snprintf(text, CELL_TEXT_B, "n/a");
    else if (value == 0)
        text[0] = '\0';
    else if (is_percent(column) && column->heat)
        zs_number_format(text, CELL_TEXT_B, value < 0.05 ? "<0.1%%" : "%.1f%%", value);
    else if (is_percent(column))
        snprintf(text, CELL_TEXT_B, "%.0f%%", value);
    else
        zs_number_format(text, CELL_TEXT_B, "%.*f", value == floor(value) ? 0 : 2, value);
}

static uint32_t text_width(const struct zs_column *column, double value)
{
    char text[CELL_TEXT_B];
    cell_text(column, value, text);
    return (uint32_t)strlen(text);
}

/* A bar of whole blocks and one of eighths, padded to BAR_COLUMNS. */
static void put_bar(struct zs_buf *out, double part)
{
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    uint32_t steps = (uint32_t)(part * BAR_COLUMNS * BAR_STEPS + 0.5);
    steps = steps > BAR_COLUMNS * BAR_STEPS ? BAR_COLUMNS * BAR_STEPS : steps;
    if (!steps && part > 0)
        steps = 1;
    for (uint32_t c = 0; c < BAR_COLUMNS; c++) {
        uint32_t left = steps > c * BAR_STEPS ? steps - c * BAR_STEPS : 0;
        zs_buf_puts(out, left >= BAR_STEPS ? "█" : eighths[left]);
    }
}

enum zs_heat zs_column_heat(const struct zs_shown_column *shown, double value, double most)
{
    if (!shown->column->heat || !(value > 0) || !(most > 0))
        return ZS_HEAT_NONE;
    return value >= 0.5 * most ? ZS_HEAT_MUCH : value >= 0.1 * most ? ZS_HEAT_SOME : ZS_HEAT_NONE;
}

void zs_column_cell(struct zs_buf *out, const struct zs_shown_column *shown, double value,
                    double most)
{
    char text[CELL_TEXT_B];
    uint32_t width = shown->width;
    cell_text(shown->column, value, text);
    if (shown->column->heat) {
        put_bar(out, most > 0 && value > 0 ? value / most : 0);
        width -= BAR_COLUMNS;
    }
    zs_buf_printf(out, "%*s ", (int)width, text);
}

/* ---- of a kernel ---- */

static void measure(struct zs_shown_column *item, const struct zs_code *code)
{
    const struct zs_column *column = item->column;
    item->width = (uint32_t)strlen(column->name);
    uint32_t widest = item->width;
    for (uint32_t i = 0; i < zs_isa_kernel_count(code->isa); i++) {
        double value = column->values[i];
        item->most_inst = value_of(value) > item->most_inst ? value : item->most_inst;
        uint32_t width = text_width(column, value);
        widest = width > widest ? width : widest;
    }
    for (uint32_t l = 0; code->join && l < code->join->line_count; l++) {
        const struct zs_join_line *line = &code->join->lines[l];
        double value =
            zs_column_of_runs(column, &code->join->runs[line->run_first], line->run_count);
        item->most_line = value_of(value) > item->most_line ? value : item->most_line;
        uint32_t width = text_width(column, value);
        widest = width > widest ? width : widest;
    }
    item->width = column->heat ? BAR_COLUMNS + 7 : widest;
}

int zs_shown_columns_init(struct zs_shown_columns *shown, const struct zs_code *code,
                          const char *names, const char **ret_unknown, size_t *ret_length)
{
    *shown = (struct zs_shown_columns){0};
    *ret_unknown = NULL;
    if (!code->isa)
        return 0;
    *ret_unknown = find_unknown(code, names, ret_length);
    if (!code->column_count)
        return 0;
    shown->items = calloc(code->column_count, sizeof(*shown->items));
    if (!shown->items)
        return -ENOMEM;
    for (uint32_t c = 0; c < code->column_count; c++) {
        if (!is_shown(&code->columns[c], names))
            continue;
        shown->items[shown->count].column = &code->columns[c];
        measure(&shown->items[shown->count++], code);
    }
    return 0;
}

void zs_shown_columns_fini(struct zs_shown_columns *shown)
{
    free(shown->items);
    *shown = (struct zs_shown_columns){0};
}

const struct zs_column *zs_heat_column(const struct zs_code *code)
{
    for (uint32_t c = 0; c < code->column_count; c++)
        if (code->columns[c].heat)
            return &code->columns[c];
    return NULL;
}
