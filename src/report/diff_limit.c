/* SPDX-License-Identifier: MIT */
#include "report/diff_limit.h"

#include "base/number.h"
#include "report/times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_time;
} metrics[] = {
    [ZS_LIMIT_TIME] = {"time", true},
    [ZS_LIMIT_TOTAL] = {"total", true},
    [ZS_LIMIT_COUNT] = {"count", false},
    [ZS_LIMIT_FAILED] = {"failed", false},
};

static const struct {
    const char *name;
    double scale;
} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

static int wrong(const char *text, struct zs_diag *diag)
{
    return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                       "'%s' is no limit: [REGEX:]time|total|count|failed>VALUE is expected, as in "
                       "'time>10%%', 'kernel gemm:total>2ms', 'failed>0'",
                       text);
}

static bool parse_unit(const char *unit, struct zs_diff_limit *limit)
{
    limit->is_percent = !strcmp(unit, "%");
    if (!*unit || limit->is_percent)
        return true;
    for (size_t i = 0; i < ZS_ARRAY_LEN(units) && metrics[limit->metric].is_time; i++) {
        if (!strcmp(unit, units[i].name)) {
            limit->most *= units[i].scale;
            return true;
        }
    }
    return false;
}

int zs_diff_limit_parse(const char *text, struct zs_diff_limit *ret_limit, struct zs_diag *diag)
{
    const char *greater = strrchr(text, '>'), *start = text;
    char *end;
    *ret_limit = (struct zs_diff_limit){.text = text};
    if (!greater)
        return wrong(text, diag);
    for (const char *c = text; c < greater; c++)
        start = *c == ':' ? c + 1 : start;
    size_t m = 0, length = (size_t)(greater - start);
    while (m < ZS_ARRAY_LEN(metrics) &&
           (strlen(metrics[m].name) != length || memcmp(metrics[m].name, start, length)))
        m++;
    if (m == ZS_ARRAY_LEN(metrics))
        return wrong(text, diag);
    ret_limit->metric = (enum zs_limit_metric)m;
    ret_limit->most = zs_number_parse(greater + 1, &end);
    if (end == greater + 1 || !(ret_limit->most >= 0) || !parse_unit(end, ret_limit))
        return wrong(text, diag);
    if (start == text)
        return 0;
    char *names = strndup(text, (size_t)(start - text - 1));
    if (!names)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    const char *const filters[] = {names};
    int error = zs_filter_compile(&ret_limit->names, filters, 1, diag);
    free(names);
    return error;
}

void zs_diff_limit_fini(struct zs_diff_limit *limit)
{
    zs_filter_fini(&limit->names);
}

static double value_of(const struct zs_diff_limit *limit, const struct zs_diff_side *side)
{
    switch (limit->metric) {
    case ZS_LIMIT_TIME:
        return side->timed ? (double)side->total_ns / (double)side->timed : 0;
    case ZS_LIMIT_TOTAL:
        return (double)side->total_ns;
    case ZS_LIMIT_COUNT:
        return (double)side->count;
    default:
        return (double)side->failed;
    }
}

static void put_value(const struct zs_diff_limit *limit, double value, struct zs_buf *out)
{
    struct zs_buf text = {0};
    if (!metrics[limit->metric].is_time) {
        zs_buf_printf(out, "%.0f", value);
        return;
    }
    zs_format_duration(&text, (uint64_t)value);
    const char *start = zs_buf_cstr(&text);
    while (*start == ' ')
        start++;
    size_t length = strlen(start);
    while (length && start[length - 1] == ' ')
        length--;
    zs_buf_append(out, start, length);
    zs_buf_fini(&text);
}

static bool covers(const struct zs_diff_limit *limit, const char *name)
{
    return !limit->names.count || zs_filter_matches(&limit->names, name);
}

bool zs_diff_limit_covers(const struct zs_diff_limit *limit, const struct zs_diff_row *row)
{
    char name[1300];
    snprintf(name, sizeof(name), "%s %s", row->kind, row->name);
    return covers(limit, name);
}

bool zs_diff_limit_broken(const struct zs_diff_limit *limit, const struct zs_diff_row *row,
                          struct zs_buf *out)
{
    char name[1300];
    double a = value_of(limit, &row->a), b = value_of(limit, &row->b), more = b - a;
    snprintf(name, sizeof(name), "%s %s", row->kind, row->name);
    if (!covers(limit, name))
        return false;
    if (limit->metric == ZS_LIMIT_TIME && (!row->a.timed || !row->b.timed))
        return false;
    /* what was nothing has grown by more than any share of it */
    if (more <= 0 || (limit->is_percent ? more * 100 <= a * limit->most : more <= limit->most))
        return false;
    zs_buf_printf(out, "%s: %s ", name, metrics[limit->metric].name);
    put_value(limit, a, out);
    zs_buf_puts(out, " -> ");
    put_value(limit, b, out);
    if (a > 0)
        zs_buf_printf(out, " (%+.1f%%)", more / a * 100);
    zs_buf_printf(out, ", limit %s\n", limit->text);
    return true;
}
