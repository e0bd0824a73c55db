/* SPDX-License-Identifier: MIT */
/* The table of metrics: a row for each kernel, shape and metric. */
#include "report/recording_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { NAME, DEVICE, SHAPE, GROUP, METRIC, VALUE, UNITS, REPORTS, LAUNCHES, COLUMNS };

static const struct zs_table_column columns[COLUMNS] = {
    [NAME] = {"name", "kernel", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES},
    [DEVICE] = {"device", "device", ZS_CELL_TEXT, DATA_ONLY},
    [SHAPE] = {"shape", "groups of size", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES},
    [GROUP] = {"group", "of group", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES},
    [METRIC] = {"metric", "metric", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES},
    [VALUE] = {"value", "value", ZS_CELL_REAL, EVERYWHERE},
    [UNITS] = {"units", "units", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES},
    [REPORTS] = {"reports", "measured", ZS_CELL_COUNT, EVERYWHERE},
    [LAUNCHES] = {"launches", "launches", ZS_CELL_COUNT, EVERYWHERE},
};

static struct zs_cell text(const char *text)
{
    return (struct zs_cell){.known = true, .text = text};
}

/* NULL: no memory. */
static const char *shape_text(struct zs_report *r, const struct zs_metric_sum *s)
{
    char words[96] = "";
    if (s->groups[0])
        snprintf(words, sizeof(words), "%ux%ux%u of %ux%ux%u", s->groups[0], s->groups[1],
                 s->groups[2], s->size[0], s->size[1], s->size[2]);
    return zs_arena_strndup(&r->arena, words, sizeof(words));
}

static size_t rows_of(const struct zs_metric_group *group)
{
    size_t count = 0;
    for (uint32_t i = 0; i < group->metric_count; i++)
        count += group->metrics[i].total != ZS_METRIC_TOTAL_NONE;
    return count;
}

static bool add_sum(struct zs_report *r, const struct zs_metric_group *group,
                    const struct zs_metric_sum *s, struct zs_cell **cells)
{
    const char *shape = shape_text(r, s);
    const char *device = shape ? zs_arena_strndup(&r->arena, s->device, strlen(s->device)) : NULL;
    for (uint32_t i = 0; i < group->metric_count && device; i++) {
        const struct zs_metric *m = &group->metrics[i];
        struct zs_cell *row = *cells;
        if (m->total == ZS_METRIC_TOTAL_NONE)
            continue;
        row[NAME] = text(s->kernel[0] ? s->kernel : "(none ran)");
        row[DEVICE] = text(device);
        row[SHAPE] = (struct zs_cell){.known = shape[0] != 0, .text = shape};
        row[GROUP] = text(group->name);
        row[METRIC] = text(m->name);
        row[VALUE] = (struct zs_cell){.known = true, .real = s->values[i]};
        row[UNITS] = text(m->units);
        row[REPORTS] = (struct zs_cell){.known = true, .number = s->reports};
        row[LAUNCHES] = (struct zs_cell){.known = true, .number = s->launches};
        *cells += COLUMNS;
    }
    return device != NULL;
}

static int fill(struct zs_report *r, struct zs_table *t)
{
    uint32_t count;
    size_t rows = 0;
    struct zs_metric_sums sums;
    const struct zs_metric_group *groups = zs_metrics_groups(r->metrics, &count);
    if (zs_metrics_sum(r->metrics, ZS_METRIC_SUM_BY_SHAPE, &sums))
        return -ENOMEM;
    for (uint32_t i = 0; i < sums.count; i++)
        if (zs_filter_matches(&r->filter, sums.rows[i].kernel))
            rows += rows_of(&groups[sums.rows[i].group]);
    t->cells = calloc(rows * COLUMNS + 1, sizeof(*t->cells));
    struct zs_cell *at = t->cells;
    bool ok = at != NULL;
    for (uint32_t i = 0; i < sums.count && ok; i++)
        if (zs_filter_matches(&r->filter, sums.rows[i].kernel))
            ok = add_sum(r, &groups[sums.rows[i].group], &sums.rows[i], &at);
    t->row_count = ok ? rows : 0;
    zs_metric_sums_free(&sums);
    return ok ? 0 : -ENOMEM;
}

int report_metrics_table(struct zs_report *r)
{
    struct zs_table *t = &r->tables[ZS_REPORT_METRICS];
    t->name = report_tables[ZS_REPORT_METRICS].name;
    t->column_count = COLUMNS;
    t->columns = ZS_ARENA_ARRAY(&r->arena, COLUMNS, struct zs_table_column);
    if (!t->columns)
        return -ENOMEM;
    memcpy(t->columns, columns, sizeof(columns));
    if (r->metrics)
        return fill(r, t);
    t->cells = calloc(1, sizeof(*t->cells));
    return t->cells ? 0 : -ENOMEM;
}
