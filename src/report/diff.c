/* SPDX-License-Identifier: MIT */
#include "report/diff.h"

#include "base/text.h"
#include "base/vec.h"
#include "record/recordings.h"
#include "report/recording.h"
#include "report/times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows are hundreds: a linear search does. */
static struct zs_diff_row *row_for(struct zs_diff *d, const char *kind, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (!strcmp(d->rows[i].kind, kind) && !strcmp(d->rows[i].name, name))
            return &d->rows[i];
    struct {
        struct zs_diff_row *items;
        size_t count, capacity;
    } v = {d->rows, d->count, d->capacity};
    struct zs_diff_row row = {.name = strdup(name)};
    snprintf(row.kind, sizeof(row.kind), "%s", kind);
    if (!row.name || !ZS_VEC_PUSH(&v, row)) {
        free(row.name);
        return NULL;
    }
    d->rows = v.items;
    d->count = v.count;
    d->capacity = v.capacity;
    return &d->rows[d->count - 1];
}

static int add(struct zs_diff *d, bool is_b, const char *kind, const char *name,
               const struct zs_diff_side *side)
{
    struct zs_diff_row *row = row_for(d, kind, name);
    if (!row)
        return -ENOMEM;
    struct zs_diff_side *to = is_b ? &row->b : &row->a;
    to->count += side->count;
    to->failed += side->failed;
    to->timed += side->timed;
    to->total_ns += side->total_ns;
    return 0;
}

static uint64_t cell_of(const struct zs_table *table, size_t row, const char *column)
{
    const struct zs_table_column *c = zs_table_find(table, column, strlen(column));
    const struct zs_cell *cell =
        c ? &table->cells[row * table->column_count + (size_t)(c - table->columns)] : NULL;
    return cell && cell->known ? cell->number : 0;
}

static const char *text_of(const struct zs_table *table, size_t row, const char *column)
{
    const struct zs_table_column *c = zs_table_find(table, column, strlen(column));
    return c ? table->cells[row * table->column_count + (size_t)(c - table->columns)].text : NULL;
}

static int add_table(struct zs_diff *d, const struct zs_report *report, enum zs_report_table which,
                     bool is_b)
{
    const struct zs_table *t = zs_report_table(report, which);
    int error = 0;
    for (size_t row = 0; row < t->row_count && !error; row++) {
        const char *name = text_of(t, row, which == ZS_REPORT_COPIES ? "direction" : "name");
        const char *shape = text_of(t, row, "shape");
        const char *kind = which == ZS_REPORT_CALLS            ? "call"
                           : which == ZS_REPORT_KERNELS        ? "kernel"
                           : which == ZS_REPORT_BARRIERS       ? name
                           : name && !strncmp(name, "fill", 4) ? "fill"
                                                               : "copy";
        struct zs_diff_side side = {cell_of(t, row, "count"), cell_of(t, row, "failed"),
                                    cell_of(t, row, "timed"), cell_of(t, row, "total_ns")};
        char text[1200];
        if (which == ZS_REPORT_CALLS)
            side.timed = side.count - cell_of(t, row, "unfinished");
        snprintf(text, sizeof(text), shape ? "%.1000s (%s)" : "%.1000s", name ? name : "n/a",
                 shape);
        error = add(d, is_b, kind, text, &side);
    }
    return error;
}

/* Of several recordings, what they agree on. */
static void find_clock(const struct zs_report *report, struct zs_diff_input *ret)
{
    const struct zs_recordings *all = zs_report_recordings(report);
    const struct zs_table *kernels = zs_report_table(report, ZS_REPORT_KERNELS);
    const char *clock = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct zs_recording *r = all->items[i].recording;
        const char *own = r ? zs_recording_info(r)->clock : "";
        clock = !clock || !strcmp(clock, own) ? own : "";
    }
    snprintf(ret->clock, sizeof(ret->clock), "%s", clock ? clock : "");
    for (size_t row = 0; row < kernels->row_count; row++)
        ret->has_times |= cell_of(kernels, row, "timed") > 0;
}

static const char *clock_text(const char *clock)
{
    return !strcmp(clock, "device")    ? "the device's own"
           : !strcmp(clock, "formula") ? "estimated from counts of instructions"
                                       : "replayed by the model of time";
}

bool zs_diff_unlike_clocks(const struct zs_diff *d, const char *a, const char *b,
                           struct zs_diag *ret_why)
{
    bool is_real = !strcmp(d->a.clock, "device") || !strcmp(d->b.clock, "device");
    if (!d->a.has_times || !d->b.has_times || !d->a.clock[0] || !d->b.clock[0] ||
        !strcmp(d->a.clock, d->b.clock))
        return false;
    zs_diag_set(ret_why, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                "times of devices are %s in %s, and %s in %s: %s", clock_text(d->a.clock), a,
                clock_text(d->b.clock), b,
                is_real ? "record both on one kind of device"
                        : "record both with --counts, or both without");
    return true;
}

static int add_recording(struct zs_diff *d, const char *path, bool is_b, struct zs_diag *diag)
{
    const struct zs_report_options options = {.only = -1};
    struct zs_report *report;
    struct zs_diag inner = {0};
    int error = zs_report_load(path, &options, NULL, &report, &inner);
    if (error)
        return zs_diag_set(diag, error, inner.offset_B, "%s: %s", path,
                           inner.text[0] ? inner.text : strerror(-error));
    struct zs_report_totals totals = zs_report_totals(report);
    *(is_b ? &d->b : &d->a) =
        (struct zs_diff_input){totals.calls, totals.lost_calls, totals.damaged_files, false, ""};
    find_clock(report, is_b ? &d->b : &d->a);
    for (int t = ZS_REPORT_CALLS; t <= ZS_REPORT_BARRIERS && !error; t++)
        error = add_table(d, report, (enum zs_report_table)t, is_b);
    zs_report_free(report);
    return error;
}

static uint64_t change_ns(const struct zs_diff_row *r)
{
    return r->a.total_ns > r->b.total_ns ? r->a.total_ns - r->b.total_ns
                                         : r->b.total_ns - r->a.total_ns;
}

static int compare(const void *a, const void *b)
{
    const struct zs_diff_row *x = a, *y = b;
    int kind = strcmp(x->kind, y->kind);
    if (kind)
        return kind;
    if (change_ns(x) != change_ns(y))
        return change_ns(x) < change_ns(y) ? 1 : -1;
    return strcmp(x->name, y->name);
}

int zs_diff_load(const char *a, const char *b, struct zs_diff *ret_diff, struct zs_diag *diag)
{
    const char *paths[] = {a, b};
    *ret_diff = (struct zs_diff){0};
    int error = 0;
    for (int i = 0; i < 2 && !error; i++) {
        error = add_recording(ret_diff, paths[i], i == 1, diag);
    }
    if (error)
        zs_diff_free(ret_diff);
    else if (ret_diff->count)
        qsort(ret_diff->rows, ret_diff->count, sizeof(*ret_diff->rows), compare);
    return error;
}

void zs_diff_free(struct zs_diff *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->rows[i].name);
    free(d->rows);
    *d = (struct zs_diff){0};
}

static double mean_ns(const struct zs_diff_side *s)
{
    return s->timed ? (double)s->total_ns / (double)s->timed : 0;
}

bool zs_diff_changed(const struct zs_diff_row *r, double threshold)
{
    if (r->a.count != r->b.count || r->a.failed != r->b.failed || !r->a.timed != !r->b.timed)
        return true;
    double a = mean_ns(&r->a), b = mean_ns(&r->b), change = a > b ? a - b : b - a;
    return r->a.timed && change > 0 && change * 100 >= a * threshold;
}

static void put_side(struct zs_buf *out, const struct zs_diff_side *s)
{
    zs_buf_printf(out, "%9" PRIu64 "  ", s->count);
    if (s->timed)
        zs_format_duration(out, (uint64_t)mean_ns(s));
    else
        zs_buf_printf(out, "%9s", "n/a");
    zs_buf_puts(out, "  ");
}

static void put_no_difference(const struct zs_diff *d, double threshold, struct zs_buf *out)
{
    bool below = false;
    for (size_t i = 0; i < d->count; i++)
        below |= zs_diff_changed(&d->rows[i], 0);
    zs_buf_puts(out, "no differences");
    if (below)
        zs_buf_printf(out, " of %g %% or more", threshold);
    zs_buf_putc(out, '\n');
}

void zs_diff_text(const struct zs_diff *d, double threshold, bool color, struct zs_buf *out)
{
    size_t changed = 0;
    for (size_t i = 0; i < d->count; i++)
        changed += zs_diff_changed(&d->rows[i], threshold);
    if (!changed) {
        put_no_difference(d, threshold, out);
        return;
    }
    const char *bold = color ? "\033[1m" : "", *plain = color ? "\033[0m" : "";
    zs_buf_printf(out, "%s%9s  %9s  %9s  %9s  %8s  %s%s\n", bold, "count A", "mean A", "count B",
                  "mean B", "mean", "what", plain);
    for (size_t i = 0; i < d->count; i++) {
        const struct zs_diff_row *r = &d->rows[i];
        if (!zs_diff_changed(r, threshold))
            continue;
        put_side(out, &r->a);
        put_side(out, &r->b);
        if (r->a.timed && r->b.timed && r->a.total_ns)
            zs_buf_printf(out, "%+7.1f%%", (mean_ns(&r->b) / mean_ns(&r->a) - 1) * 100);
        else
            zs_buf_printf(out, "%8s", !r->a.count ? "new" : !r->b.count ? "gone" : "n/a");
        zs_buf_printf(out, "  %s ", r->kind);
        zs_text_puts(out, r->name);
        zs_buf_putc(out, '\n');
    }
}

static void side_json(struct zs_json *j, const char *key, const struct zs_diff_side *s)
{
    if (!s->count) {
        zs_json_null(j, key);
        return;
    }
    zs_json_object(j, key);
    zs_json_u64(j, "count", s->count);
    zs_json_u64(j, "failed", s->failed);
    zs_json_u64(j, "timed", s->timed);
    if (s->timed) {
        zs_json_u64(j, "total_ns", s->total_ns);
        zs_json_u64(j, "mean_ns", (uint64_t)mean_ns(s));
    } else {
        zs_json_null(j, "total_ns");
        zs_json_null(j, "mean_ns");
    }
    zs_json_end(j);
}

void zs_diff_json(const struct zs_diff *d, double threshold, bool all, struct zs_json *j)
{
    zs_json_array(j, "changes");
    for (size_t i = 0; i < d->count; i++) {
        const struct zs_diff_row *r = &d->rows[i];
        bool changed = zs_diff_changed(r, threshold);
        if (!changed && !all)
            continue;
        zs_json_object(j, NULL);
        zs_json_string(j, "kind", r->kind);
        zs_json_string(j, "name", r->name);
        if (all)
            zs_json_bool(j, "changed", changed);
        side_json(j, "a", &r->a);
        side_json(j, "b", &r->b);
        zs_json_end(j);
    }
    zs_json_end(j);
}
