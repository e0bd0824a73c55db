/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include "base/filter.h"
#include "base/number.h"
#include "base/text.h"
#include "calls/describe.h"
#include "report/times.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns by name ---- */

static bool is_name(const char *key, const char *name, size_t length)
{
    if (strncmp(key, name, length) != 0)
        return false;
    return !key[length] || !strcmp(key + length, "_ns") || !strcmp(key + length, "_B");
}

const struct zs_table_column *zs_table_find(const struct zs_table *table, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (is_name(table->columns[i].key, name, length))
            return &table->columns[i];
    return NULL;
}

static bool is_text(enum zs_cell_kind kind)
{
    return kind == ZS_CELL_TEXT;
}

static bool has_number(enum zs_cell_kind kind)
{
    return kind != ZS_CELL_TEXT && kind != ZS_CELL_TRIPLE && kind != ZS_CELL_RESULTS &&
           kind != ZS_CELL_TIMES;
}

static const struct zs_cell *cell_at(const struct zs_table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* ---- filtering ---- */

enum operator{ OP_NE, OP_LE, OP_GE, OP_NOT_MATCH, OP_EQ, OP_LT, OP_GT, OP_MATCH };
/* Longer ones first, in the order of the enum. */
static const char *const operators[] = {"!=", "<=", ">=", "!~", "=", "<", ">", "~"};

struct condition {
    size_t column;
    enum operator op;
    const char *value;
    double number;
    struct zs_filter filter;
};

static const char *find_operator(const char *text, enum operator* ret_op)
{
    const char *at = text + strcspn(text, "!<>=~");
    for (size_t i = 0; *at && i < ZS_ARRAY_LEN(operators); i++) {
        if (!strncmp(at, operators[i], strlen(operators[i]))) {
            *ret_op = (enum operator)i;
            return at;
        }
    }
    return NULL;
}

/* Shares are stored in hundredths of a percent, and compared in percent. */
static bool parse_number(const char *text, enum zs_cell_kind kind, double *ret)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = {{"", 1},
                 {"ns", 1},
                 {"us", 1e3},
                 {"ms", 1e6},
                 {"s", 1e9},
                 {"K", 1024},
                 {"k", 1024},
                 {"M", 1024.0 * 1024},
                 {"G", 1024.0 * 1024 * 1024},
                 {"%", 100}};
    char *end;
    if (!strncmp(text, "0x", 2)) {
        *ret = (double)strtoull(text, &end, 16);
        return !*end;
    }
    *ret = zs_number_parse(text, &end);
    for (size_t i = 0; i < ZS_ARRAY_LEN(units) && end != text; i++) {
        if (!strcmp(end, units[i].unit)) {
            *ret *= !*end && kind == ZS_CELL_PERCENT ? 100 : units[i].scale;
            return true;
        }
    }
    return false;
}

/* -ENOENT: the table has no such column. */
static int parse_condition(const struct zs_table *table, const char *text, struct condition *c,
                           struct zs_diag *diag)
{
    const char *at = find_operator(text, &c->op);
    if (!at || at == text)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "'%s' is no condition: COLUMN, one of = != < <= > >= ~ !~, VALUE", text);
    size_t length = (size_t)(at - text);
    while (length && text[length - 1] == ' ')
        length--;
    const struct zs_table_column *column = zs_table_find(table, text, length);
    if (!column)
        return -ENOENT;
    c->column = (size_t)(column - table->columns);
    c->value = at + strlen(operators[c->op]);
    c->value += strspn(c->value, " ");
    bool matches = c->op == OP_MATCH || c->op == OP_NOT_MATCH;
    if (matches && is_text(column->kind))
        return zs_filter_compile(&c->filter, &c->value, 1, diag);
    if (is_text(column->kind) && (c->op == OP_EQ || c->op == OP_NE))
        return 0;
    if (has_number(column->kind) && !matches && parse_number(c->value, column->kind, &c->number))
        return 0;
    return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                       is_text(column->kind) ? "'%s': text is compared with = != ~ !~"
                                             : "'%s': a number is needed",
                       text);
}

static bool holds(const struct zs_table *table, size_t row, const struct condition *c)
{
    const struct zs_cell *cell = cell_at(table, row, c->column);
    if (!cell->known)
        return c->op == OP_NE || c->op == OP_NOT_MATCH;
    if (is_text(table->columns[c->column].kind)) {
        bool same = c->op == OP_EQ || c->op == OP_NE ? !strcmp(cell->text, c->value)
                                                     : zs_filter_matches(&c->filter, cell->text);
        return same == (c->op == OP_EQ || c->op == OP_MATCH);
    }
    enum zs_cell_kind kind = table->columns[c->column].kind;
    double y = c->number, x = kind == ZS_CELL_TIME   ? (double)(int64_t)cell->number
                              : kind == ZS_CELL_REAL ? cell->real
                                                     : (double)cell->number;
    switch (c->op) {
    case OP_EQ:
        return x == y;
    case OP_NE:
        return x != y;
    case OP_LT:
        return x < y;
    case OP_LE:
        return x <= y;
    case OP_GT:
        return x > y;
    default:
        return x >= y;
    }
}

static void keep_rows(struct zs_table *table, const struct condition *c)
{
    size_t kept = 0, row_B = table->column_count * sizeof(*table->cells);
    for (size_t row = 0; row < table->row_count; row++) {
        if (!holds(table, row, c))
            continue;
        memmove(&table->cells[kept * table->column_count], cell_at(table, row, 0), row_B);
        kept++;
    }
    table->row_count = kept;
}

/* ---- sorting ---- */

struct order {
    size_t column, column_count;
    enum zs_cell_kind kind;
    bool ascending;
};

static int compare_rows(const void *a, const void *b, void *user)
{
    const struct order *o = user;
    const struct zs_cell *x = *(const struct zs_cell *const *)a + o->column,
                         *y = *(const struct zs_cell *const *)b + o->column;
    int order = 0;
    if (x->known != y->known)
        return x->known ? -1 : 1; /* n/a stands at the end either way */
    if (x->known && is_text(o->kind))
        order = strcmp(x->text, y->text);
    else if (x->known && o->kind == ZS_CELL_TIME)
        order =
            (int64_t)x->number < (int64_t)y->number ? -1 : (int64_t)x->number > (int64_t)y->number;
    else if (x->known && o->kind == ZS_CELL_REAL)
        order = x->real < y->real ? -1 : x->real > y->real;
    else if (x->known)
        order = x->number < y->number ? -1 : x->number > y->number;
    if (order)
        return o->ascending ? order : -order;
    /* stable */
    const struct zs_cell *p = *(const struct zs_cell *const *)a,
                         *q = *(const struct zs_cell *const *)b;
    return p < q ? -1 : p > q;
}

static int sort_rows(struct zs_table *table, struct order order)
{
    size_t n = table->row_count, width = table->column_count;
    if (!n)
        return 0;
    const struct zs_cell **rows = malloc(n * sizeof(*rows));
    struct zs_cell *sorted = malloc(n * width * sizeof(*sorted));
    int error = rows && sorted ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && !error; i++)
        rows[i] = cell_at(table, i, 0);
    if (!error) {
        qsort_r(rows, n, sizeof(*rows), compare_rows, &order);
        for (size_t i = 0; i < n; i++)
            memcpy(&sorted[i * width], rows[i], width * sizeof(*sorted));
        memcpy(table->cells, sorted, n * width * sizeof(*sorted));
    }
    free(rows);
    free(sorted);
    return error;
}

static int apply_sort(struct zs_table *table, const char *text, bool *ret_used,
                      struct zs_diag *diag)
{
    size_t length = strcspn(text, ":");
    const struct zs_table_column *column = zs_table_find(table, text, length);
    bool ascending = column && (column->kind == ZS_CELL_TEXT || column->kind == ZS_CELL_ID ||
                                column->kind == ZS_CELL_TIME);
    if (text[length] && strcmp(text + length, ":asc") != 0 && strcmp(text + length, ":desc") != 0)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "'%s': a column, or a column and :asc or :desc", text);
    if (text[length])
        ascending = !strcmp(text + length, ":asc");
    if (!column)
        return 0;
    *ret_used = true;
    if (!is_text(column->kind) && !has_number(column->kind))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "rows cannot be sorted by '%s'", text);
    return sort_rows(table, (struct order){(size_t)(column - table->columns), table->column_count,
                                           column->kind, ascending});
}

int zs_table_apply(struct zs_table *table, const struct zs_table_view *view, bool *ret_used,
                   struct zs_diag *diag)
{
    for (size_t i = 0; i < view->where_count; i++) {
        struct condition c = {0};
        int error = parse_condition(table, view->where[i], &c, diag);
        if (error == -ENOENT)
            continue;
        if (!error)
            keep_rows(table, &c);
        zs_filter_fini(&c.filter);
        if (error)
            return error;
        ret_used[i] = true;
    }
    if (view->sort) {
        int error = apply_sort(table, view->sort, &ret_used[view->where_count], diag);
        if (error)
            return error;
    }
    if (view->limit && table->row_count > view->limit) {
        table->left_out = table->row_count - (size_t)view->limit;
        table->row_count = (size_t)view->limit;
    }
    return 0;
}

/* ---- text ---- */

static void put_percent(struct zs_buf *out, uint64_t hundredths)
{
    zs_buf_printf(out, "%.1f%%", (double)hundredths / 100);
}

static void put_triple(struct zs_buf *out, const uint32_t *triple)
{
    zs_buf_printf(out, "%ux%ux%u", triple[0], triple[1], triple[2]);
}

static void put_results(struct zs_buf *out, const struct zs_results *results)
{
    for (uint32_t i = 0; i < results->count; i++) {
        const char *name = zs_api_result_name(NULL, results->items[i].result);
        zs_buf_printf(out, "%s%s x%" PRIu64, i ? ", " : "", name ? name : "unknown result",
                      results->items[i].count);
    }
}

static void put_time(struct zs_buf *out, int64_t ns)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    zs_buf_printf(out, "%s%" PRIu64 ".%09u", ns < 0 ? "-" : "", size / 1000000000,
                  (unsigned)(size % 1000000000));
}

enum { PICTURE_COLUMNS = 10 };

static void put_cell(struct zs_buf *out, enum zs_cell_kind kind, const struct zs_cell *cell)
{
    if (!cell->known) {
        zs_buf_puts(out, "n/a");
        return;
    }
    switch (kind) {
    case ZS_CELL_TEXT:
        zs_text_puts(out, cell->text);
        return;
    case ZS_CELL_NS:
        zs_format_duration(out, cell->number);
        return;
    case ZS_CELL_TIME:
        put_time(out, (int64_t)cell->number);
        return;
    case ZS_CELL_HEX:
        zs_buf_printf(out, "0x%" PRIx64, cell->number);
        return;
    case ZS_CELL_PERCENT:
        put_percent(out, cell->number);
        return;
    case ZS_CELL_REAL:
        zs_buf_printf(out,
                      fabs(cell->real) < 1e15 && cell->real == floor(cell->real) ? "%.0f" : "%.6g",
                      cell->real);
        return;
    case ZS_CELL_TRIPLE:
        put_triple(out, cell->triple);
        return;
    case ZS_CELL_RESULTS:
        put_results(out, &cell->results);
        return;
    case ZS_CELL_TIMES:
        zs_times_picture(cell->times, PICTURE_COLUMNS, out);
        return;
    default:
        zs_buf_put_u64(out, cell->number);
    }
}

enum { WIDTH_MAX = 48, COLUMNS_MAX = 64 };

static bool in_text(const struct zs_table *table, size_t column)
{
    uint32_t where = table->columns[column].where;
    bool some = !(where & ZS_COLUMN_IF_KNOWN);
    for (size_t row = 0; row < table->row_count && !some; row++)
        some = cell_at(table, row, column)->known;
    return where & ZS_COLUMN_IN_TEXT && some;
}

static bool is_behind(const struct zs_table *table, size_t column)
{
    return table->columns[column].where & ZS_COLUMN_NAMES;
}

/* Characters of UTF-8: what counts on a terminal, but for combining and wide ones. */
static size_t characters(struct zs_span text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size_B; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static void find_widths(const struct zs_table *table, size_t *ret_widths, struct zs_buf *scratch)
{
    for (size_t c = 0; c < table->column_count; c++) {
        ret_widths[c] = ZS_MAX(strlen(table->columns[c].title), (size_t)1);
        bool shown = in_text(table, c);
        ret_widths[c] = shown ? ret_widths[c] : 0;
        for (size_t row = 0; row < table->row_count && shown; row++) {
            scratch->size_B = 0;
            put_cell(scratch, table->columns[c].kind, cell_at(table, row, c));
            ret_widths[c] =
                ZS_MAX(ret_widths[c], ZS_MIN(characters(zs_buf_span(scratch)), (size_t)WIDTH_MAX));
        }
    }
}

static void put_aligned(struct zs_buf *out, struct zs_span text, size_t width, bool left)
{
    size_t count = characters(text), pad = count < width ? width - count : 0;
    zs_buf_pad(out, ' ', left ? 0 : pad);
    zs_buf_append(out, text.data, text.size_B);
    zs_buf_pad(out, ' ', left ? pad : 0);
}

/* Numbers first, then names; the last column is not padded. */
static void put_line(const struct zs_table *table, const size_t *widths, size_t row, bool color,
                     struct zs_buf *out, struct zs_buf *scratch)
{
    bool head = row == SIZE_MAX, some = false;
    for (int behind = 0; behind < 2; behind++) {
        for (size_t c = 0; c < table->column_count; c++) {
            const struct zs_table_column *column = &table->columns[c];
            if (!widths[c] || is_behind(table, c) != (behind == 1))
                continue;
            if (some)
                zs_buf_puts(out, "  ");
            some = true;
            scratch->size_B = 0;
            if (head)
                zs_buf_puts(scratch, column->title);
            else
                put_cell(scratch, column->kind, cell_at(table, row, c));
            bool bad = color && !head && scratch->size_B &&
                       (column->kind == ZS_CELL_RESULTS ||
                        (!strcmp(column->key, "failed") && cell_at(table, row, c)->number));
            zs_buf_puts(out, bad ? "\033[31m" : "");
            put_aligned(out, zs_buf_span(scratch), widths[c], behind);
            zs_buf_puts(out, bad ? "\033[0m" : "");
        }
    }
    while (out->size_B && out->data[out->size_B - 1] == ' ')
        out->size_B--;
}

void zs_table_text(const struct zs_table *table, bool color, struct zs_buf *out)
{
    size_t widths[COLUMNS_MAX] = {0};
    struct zs_buf scratch = {0};
    find_widths(table, widths, &scratch);
    zs_buf_puts(out, color ? "\033[1m" : "");
    put_line(table, widths, SIZE_MAX, false, out, &scratch);
    zs_buf_puts(out, color ? "\033[0m\n" : "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        put_line(table, widths, row, color, out, &scratch);
        zs_buf_putc(out, '\n');
    }
    if (table->left_out)
        zs_buf_printf(out, "(%zu more)\n", table->left_out);
    zs_buf_fini(&scratch);
}

/* ---- CSV ---- */

/* Names come from the application: quoted, with quotes doubled. */
static void csv_text(struct zs_buf *out, struct zs_span text)
{
    zs_buf_putc(out, '"');
    for (size_t i = 0; i < text.size_B; i++) {
        if (text.data[i] == '"')
            zs_buf_putc(out, '"');
        zs_buf_putc(out, (char)text.data[i]);
    }
    zs_buf_putc(out, '"');
}

static bool is_plain(struct zs_span text)
{
    for (size_t i = 0; i < text.size_B; i++)
        if (text.data[i] < 0x20 || strchr("\",;'", text.data[i]))
            return false;
    return text.size_B > 0;
}

static void csv_cell(struct zs_buf *out, enum zs_cell_kind kind, const struct zs_cell *cell,
                     struct zs_buf *scratch)
{
    scratch->size_B = 0;
    if (cell->known && kind == ZS_CELL_TIME)
        zs_buf_printf(scratch, "%" PRId64, (int64_t)cell->number);
    else if (cell->known && kind == ZS_CELL_NS)
        zs_buf_put_u64(scratch, cell->number);
    else if (cell->known && kind == ZS_CELL_PERCENT)
        zs_buf_printf(scratch, "%.2f", (double)cell->number / 100);
    else if (cell->known && kind == ZS_CELL_REAL)
        zs_buf_printf(scratch, "%.15g", cell->real);
    else
        put_cell(scratch, kind, cell);
    if (is_plain(zs_buf_span(scratch)))
        zs_buf_append(out, scratch->data, scratch->size_B);
    else
        csv_text(out, zs_buf_span(scratch));
}

void zs_table_csv(const struct zs_table *table, struct zs_buf *out)
{
    struct zs_buf scratch = {0};
    bool some = false;
    for (size_t c = 0; c < table->column_count; c++) {
        if (!(table->columns[c].where & ZS_COLUMN_IN_CSV))
            continue;
        zs_buf_printf(out, "%s%s", some ? "," : "", table->columns[c].key);
        some = true;
    }
    zs_buf_putc(out, '\n');
    for (size_t row = 0; row < table->row_count; row++) {
        some = false;
        for (size_t c = 0; c < table->column_count; c++) {
            if (!(table->columns[c].where & ZS_COLUMN_IN_CSV))
                continue;
            if (some)
                zs_buf_putc(out, ',');
            csv_cell(out, table->columns[c].kind, cell_at(table, row, c), &scratch);
            some = true;
        }
        zs_buf_putc(out, '\n');
    }
    zs_buf_fini(&scratch);
}

/* ---- JSON ---- */

static void json_results(struct zs_json *json, const char *key, const struct zs_results *results)
{
    zs_json_object(json, key);
    for (uint32_t i = 0; i < results->count; i++) {
        const char *name = zs_api_result_name(NULL, results->items[i].result);
        char number[16];
        snprintf(number, sizeof(number), "0x%x", (unsigned)results->items[i].result);
        zs_json_u64(json, name ? name : number, results->items[i].count);
    }
    zs_json_end(json);
}

static void json_times(struct zs_json *json, const char *key, const struct zs_times *times)
{
    uint64_t from, to, count;
    zs_json_array(json, key);
    for (uint32_t cursor = 0; zs_times_next(times, &cursor, &from, &to, &count);) {
        zs_json_array(json, NULL);
        zs_json_u64(json, NULL, from);
        zs_json_u64(json, NULL, to);
        zs_json_u64(json, NULL, count);
        zs_json_end(json);
    }
    zs_json_end(json);
}

static void json_cell(struct zs_json *json, const struct zs_table_column *column,
                      const struct zs_cell *cell)
{
    if (!cell->known) {
        zs_json_null(json, column->key);
        return;
    }
    switch (column->kind) {
    case ZS_CELL_TEXT:
        zs_json_string(json, column->key, cell->text);
        return;
    case ZS_CELL_TRIPLE:
        zs_json_array(json, column->key);
        for (int i = 0; i < 3; i++)
            zs_json_u64(json, NULL, cell->triple[i]);
        zs_json_end(json);
        return;
    case ZS_CELL_RESULTS:
        json_results(json, column->key, &cell->results);
        return;
    case ZS_CELL_TIMES:
        json_times(json, column->key, cell->times);
        return;
    case ZS_CELL_TIME:
        zs_json_i64(json, column->key, (int64_t)cell->number);
        return;
    case ZS_CELL_PERCENT:
        zs_json_double(json, column->key, (double)cell->number / 100);
        return;
    case ZS_CELL_REAL:
        zs_json_double(json, column->key, cell->real);
        return;
    default:
        zs_json_u64(json, column->key, cell->number);
    }
}

void zs_table_json(const struct zs_table *table, const char *key, struct zs_json *json)
{
    zs_json_array(json, key);
    for (size_t row = 0; row < table->row_count; row++) {
        zs_json_object(json, NULL);
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].where & ZS_COLUMN_IN_JSON)
                json_cell(json, &table->columns[c], cell_at(table, row, c));
        zs_json_end(json);
    }
    zs_json_end(json);
}
