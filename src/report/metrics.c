/* SPDX-License-Identifier: MIT */
#include "report/metrics.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_COLUMNS = 26, /* at least */
    NAME_COLUMNS_MOST = 64,
    UNIT_COLUMNS = 13,
    CELL_COLUMNS = 15,
    CELL_CHARS = 64,
    PIECE_B = 64 << 10, /* of output */
};

/* Where it goes. */
struct out {
    struct zs_buf text;
    zs_write_fn *write;
    void *user;
};

/* What has come together beyond size_B. */
static void flush(struct out *o, size_t size_B)
{
    if (o->text.error || o->text.size_B <= size_B)
        return;
    o->text.error = o->write(o->user, o->text.data, o->text.size_B);
    o->text.size_B = 0;
}

static int finish(struct out *o)
{
    flush(o, 0);
    int error = o->text.error;
    zs_buf_fini(&o->text);
    return error;
}

/* One column of text, some rows of CSV: a sum, a launch, or a stretch of time. */
struct item {
    const char *kernel, *device;
    uint32_t groups[3], size[3];
    const struct zs_metric_sum *sum; /* NULL: one report */
    uint64_t start_ns, end_ns;       /* of a report, as what follows */
    uint32_t run;
    bool has_launch;
    uint64_t launch; /* its index */
    uint64_t number; /* of the report in what is shown */
    const union zs_metric_value *values;
};

/* Columns of text that stand side by side. */
struct items {
    struct item *list;
    union zs_metric_value *values; /* of reports */
    size_t count, most;
    size_t name_columns; /* of the group's metrics */
};

static bool is_wanted(const struct zs_metrics_view *view, const struct zs_metrics *metrics,
                      uint32_t group, const char *kernel)
{
    uint32_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    return zs_filter_matches(&view->groups, groups[group].name) &&
           zs_filter_matches(&view->kernels, kernel);
}

static struct item sum_item(const struct zs_metric_sum *s)
{
    struct item item = {.kernel = s->kernel, .device = s->device, .sum = s};
    memcpy(item.groups, s->groups, sizeof(item.groups));
    memcpy(item.size, s->size, sizeof(item.size));
    return item;
}

static struct item report_item(const struct zs_metric_group *group,
                               const struct zs_metric_report *r)
{
    const struct zs_metric_launch *l = r->launch;
    struct item item = {.kernel = l ? l->kernel : "",
                        .device = group->device,
                        .start_ns = r->start_ns,
                        .end_ns = r->end_ns,
                        .run = r->run,
                        .has_launch = l != NULL,
                        .launch = l ? l->index : 0,
                        .values = r->values};
    if (l) {
        memcpy(item.groups, l->groups, sizeof(item.groups));
        memcpy(item.size, l->size, sizeof(item.size));
    }
    return item;
}

/* What is shown of one group, one item after the other: sums, or reports as they are read. */
struct shown {
    const struct zs_metrics *metrics;
    const struct zs_metrics_view *view;
    const struct zs_metric_sums *sums;
    struct zs_metrics_cursor *cursor; /* of reports */
    uint32_t group, next_sum;
    uint64_t count; /* that were given */
    int error;
};

static struct shown show(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                         const struct zs_metric_sums *sums, uint32_t group)
{
    struct shown s = {.metrics = metrics, .view = view, .sums = sums, .group = group};
    if (view->by == ZS_METRICS_BY_LAUNCH) {
        s.cursor = zs_metrics_cursor_open(metrics);
        s.error = s.cursor ? 0 : -ENOMEM;
    }
    return s;
}

/* False at the end and on s->error. Values of a report live until the next. */
static bool next_item(struct shown *s, struct item *ret)
{
    uint32_t count;
    const struct zs_metric_group *group = &zs_metrics_groups(s->metrics, &count)[s->group];
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *r;
    int status = 0;
    while (!s->cursor && s->next_sum < s->sums->count) {
        const struct zs_metric_sum *sum = &s->sums->rows[s->next_sum++];
        if (sum->group == s->group && is_wanted(s->view, s->metrics, s->group, sum->kernel)) {
            *ret = sum_item(sum);
            s->count++;
            return true;
        }
    }
    while (s->cursor && (status = zs_metrics_next(s->cursor, &launch, &r)) > 0) {
        if (r && r->group == s->group &&
            is_wanted(s->view, s->metrics, s->group, r->launch ? r->launch->kernel : "")) {
            *ret = report_item(group, r);
            ret->number = s->count++;
            return true;
        }
    }
    s->error = s->error ? s->error : status;
    return false;
}

static int sum_for(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                   struct zs_metric_sums *ret)
{
    *ret = (struct zs_metric_sums){0};
    return view->by == ZS_METRICS_BY_LAUNCH
               ? 0
               : zs_metrics_sum(metrics,
                                view->by == ZS_METRICS_BY_KERNEL ? ZS_METRIC_SUM_BY_KERNEL
                                                                 : ZS_METRIC_SUM_BY_SHAPE,
                                ret);
}

/* ---- cells ---- */

static bool has_value(const struct zs_metric *metric, const struct item *item)
{
    return !item->sum || metric->total != ZS_METRIC_TOTAL_NONE;
}

/* Whole numbers as they are, others with what a float holds. */
static void put_number(char ret[CELL_CHARS], double value)
{
    if (value == floor(value) && fabs(value) < 0x1p53)
        snprintf(ret, CELL_CHARS, "%.0f", value);
    else
        zs_number_format(ret, CELL_CHARS, "%.9g", value);
}

static void put_value(const struct zs_metric_group *group, uint32_t metric, const struct item *item,
                      char ret[CELL_CHARS])
{
    const struct zs_metric *m = &group->metrics[metric];
    if (item->sum) {
        put_number(ret, item->sum->values[metric]);
        return;
    }
    union zs_metric_value value = item->values[metric];
    if (zs_metric_is_float(m))
        put_number(ret, value.f64);
    else
        snprintf(ret, CELL_CHARS, "%" PRIu64, value.u64);
}

/* ---- text ---- */

static void put_left(struct zs_buf *out, const char *text, size_t width)
{
    struct zs_buf clean = {0};
    zs_text_puts(&clean, text);
    size_t length = ZS_MIN(clean.size_B, width - 1);
    zs_buf_append(out, clean.data, length);
    zs_buf_pad(out, ' ', width - length);
    zs_buf_fini(&clean);
}

/* The end of what is too long is cut. */
static void put_right(struct zs_buf *out, const char *text, size_t width)
{
    struct zs_buf clean = {0};
    zs_text_puts(&clean, text);
    size_t length = ZS_MIN(clean.size_B, width - 1);
    zs_buf_pad(out, ' ', width - length);
    zs_buf_append(out, clean.data, length);
    zs_buf_fini(&clean);
}

static void put_triple(struct zs_buf *out, const uint32_t triple[3])
{
    char text[40] = "any";
    if (triple[0])
        snprintf(text, sizeof(text), "%ux%ux%u", triple[0], triple[1], triple[2]);
    for (int i = 0; triple[0] && i < 2; i++) { /* 5x1x1 is 5 */
        size_t length = strlen(text);
        if (length > 2 && !strcmp(text + length - 2, "x1"))
            text[length - 2] = '\0';
    }
    put_right(out, text, CELL_COLUMNS);
}

static void put_heading(struct zs_buf *out, const struct items *items, const char *name)
{
    put_left(out, name, items->name_columns);
    zs_buf_pad(out, ' ', UNIT_COLUMNS);
}

static void put_headings(const struct zs_metrics_view *view, const struct items *items,
                         bool is_time_based, struct zs_buf *out)
{
    char text[CELL_CHARS];
    bool many = is_time_based; /* reports of a launch: one for each address */
    for (size_t i = 0; i < items->count; i++)
        many |= items->list[i].sum && items->list[i].sum->reports > items->list[i].sum->launches;
    put_heading(out, items, "kernel");
    for (size_t i = 0; i < items->count; i++)
        put_right(out, items->list[i].kernel[0] ? items->list[i].kernel : "(none ran)",
                  CELL_COLUMNS);
    zs_buf_putc(out, '\n');
    if (view->by != ZS_METRICS_BY_KERNEL) {
        put_heading(out, items, "groups");
        for (size_t i = 0; i < items->count; i++)
            put_triple(out, items->list[i].groups);
        zs_buf_putc(out, '\n');
        put_heading(out, items, "group size");
        for (size_t i = 0; i < items->count; i++)
            put_triple(out, items->list[i].size);
        zs_buf_putc(out, '\n');
    }
    put_heading(out, items,
                view->by == ZS_METRICS_BY_LAUNCH ? is_time_based ? "report" : "launch"
                : many                           ? "in reports"
                                                 : "measured launches");
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->list[i];
        if (item->sum && !many)
            snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, item->sum->reports,
                     item->sum->launches);
        else
            snprintf(text, sizeof(text), "%" PRIu64,
                     item->sum       ? item->sum->reports
                     : is_time_based ? item->number
                                     : item->launch);
        put_right(out, text, CELL_COLUMNS);
    }
    zs_buf_putc(out, '\n');
}

static void put_block(const struct zs_metrics_view *view, const struct zs_metric_group *group,
                      const struct items *items, struct zs_buf *out)
{
    char text[CELL_CHARS];
    put_headings(view, items, group->is_time_based, out);
    for (uint32_t i = 0; i < group->metric_count; i++) {
        const struct zs_metric *m = &group->metrics[i];
        if (!zs_filter_matches(&view->metrics, m->name) ||
            (view->by != ZS_METRICS_BY_LAUNCH && m->total == ZS_METRIC_TOTAL_NONE))
            continue;
        put_left(out, m->name, items->name_columns);
        put_left(out, m->units, UNIT_COLUMNS);
        for (size_t k = 0; k < items->count; k++) {
            put_value(group, i, &items->list[k], text);
            put_right(out, text, CELL_COLUMNS);
        }
        zs_buf_putc(out, '\n');
    }
}

/* Names of one group are told apart. */
static size_t name_columns(const struct zs_metric_group *group)
{
    size_t columns = NAME_COLUMNS;
    for (uint32_t i = 0; i < group->metric_count; i++)
        columns = ZS_MAX(columns, strlen(group->metrics[i].name) + 1);
    return ZS_MIN(columns, (size_t)NAME_COLUMNS_MOST);
}

static bool make_items(const struct zs_metrics_view *view, const struct zs_metric_group *group,
                       struct items *ret)
{
    *ret = (struct items){.name_columns = name_columns(group)};
    size_t room = ZS_MAX(view->columns, 80u) - ret->name_columns - UNIT_COLUMNS;
    ret->most = ZS_MAX(room / CELL_COLUMNS, (size_t)1);
    ret->list = calloc(ret->most, sizeof(*ret->list));
    ret->values = calloc(ret->most * group->metric_count + 1, sizeof(*ret->values));
    return ret->list && ret->values;
}

static void add_item(struct items *items, const struct zs_metric_group *group,
                     const struct item *item)
{
    struct item *to = &items->list[items->count];
    *to = *item;
    if (item->values) {
        to->values = items->values + items->count * group->metric_count;
        memcpy(items->values + items->count * group->metric_count, item->values,
               group->metric_count * sizeof(*item->values));
    }
    items->count++;
}

static int put_group(struct shown *s, const struct zs_metric_group *group, struct out *o)
{
    struct items items;
    struct item item;
    uint64_t left_out = 0;
    bool some = false, more = make_items(s->view, group, &items);
    s->error = more ? s->error : -ENOMEM;
    zs_text_puts(&o->text, group->name);
    zs_buf_puts(&o->text, " on ");
    zs_text_puts(&o->text, group->device);
    zs_buf_puts(&o->text, group->is_time_based ? " (over time)\n" : "\n");
    while (more && !o->text.error) {
        more = next_item(s, &item);
        if (more && s->view->limit && s->count > s->view->limit)
            left_out++;
        else if (more)
            add_item(&items, group, &item);
        if (!items.count || (more && items.count < items.most))
            continue;
        if (some)
            zs_buf_putc(&o->text, '\n');
        put_block(s->view, group, &items, &o->text);
        flush(o, PIECE_B);
        items.count = 0;
        some = true;
    }
    if (!some)
        zs_buf_puts(&o->text, "nothing was measured\n");
    if (left_out)
        zs_buf_printf(&o->text, "and %" PRIu64 " more (--limit 0 shows all)\n", left_out);
    free(items.list);
    free(items.values);
    return s->error;
}

int zs_metrics_text(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                    zs_write_fn *write, void *user)
{
    struct out o = {.write = write, .user = user};
    uint32_t count;
    bool some = false;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    struct zs_metric_sums sums;
    o.text.error = sum_for(metrics, view, &sums);
    for (uint32_t g = 0; g < count && !o.text.error; g++) {
        if (!zs_filter_matches(&view->groups, groups[g].name))
            continue;
        if (some)
            zs_buf_putc(&o.text, '\n');
        some = true;
        struct shown s = show(metrics, view, &sums, g);
        int error = put_group(&s, &groups[g], &o);
        zs_metrics_cursor_close(s.cursor);
        o.text.error = o.text.error ? o.text.error : error;
    }
    zs_metric_sums_free(&sums);
    return finish(&o);
}

/* ---- CSV ---- */

static void put_csv_text(struct zs_buf *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (!quoted) {
        zs_buf_puts(out, text);
        return;
    }
    zs_buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            zs_buf_putc(out, '"');
        zs_buf_putc(out, *text);
    }
    zs_buf_putc(out, '"');
}

static void put_csv_triple(struct zs_buf *out, const uint32_t triple[3])
{
    if (triple[0])
        zs_buf_printf(out, ",%u,%u,%u", triple[0], triple[1], triple[2]);
    else
        zs_buf_puts(out, ",,,");
}

static void put_csv_item(const struct zs_metrics_view *view, const struct zs_metric_group *group,
                         const struct item *item, struct zs_buf *out)
{
    char text[CELL_CHARS];
    for (uint32_t i = 0; i < group->metric_count; i++) {
        const struct zs_metric *m = &group->metrics[i];
        if (!zs_filter_matches(&view->metrics, m->name) || !has_value(m, item))
            continue;
        put_csv_text(out, group->name);
        zs_buf_putc(out, ',');
        put_csv_text(out, item->device);
        zs_buf_putc(out, ',');
        put_csv_text(out, item->kernel);
        put_csv_triple(out, item->groups);
        put_csv_triple(out, item->size);
        if (item->sum)
            zs_buf_printf(out, ",,,,,%" PRIu64 ",", item->sum->reports);
        else if (item->has_launch)
            zs_buf_printf(out, ",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",1,", item->run,
                          item->launch, item->start_ns, item->end_ns);
        else
            zs_buf_printf(out, ",%u,,%" PRIu64 ",%" PRIu64 ",1,", item->run, item->start_ns,
                          item->end_ns);
        put_csv_text(out, m->name);
        zs_buf_putc(out, ',');
        put_csv_text(out, m->units);
        put_value(group, i, item, text);
        zs_buf_printf(out, ",%s\n", text);
    }
}

int zs_metrics_csv(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                   zs_write_fn *write, void *user)
{
    struct out o = {.write = write, .user = user};
    uint32_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    struct zs_metric_sums sums;
    o.text.error = sum_for(metrics, view, &sums);
    zs_buf_puts(&o.text, "group,device,kernel,groups_x,groups_y,groups_z,size_x,size_y,size_z,run,"
                         "launch,start_ns,end_ns,reports,metric,units,value\n");
    for (uint32_t g = 0; g < count && !o.text.error; g++) {
        struct shown s = show(metrics, view, &sums, g);
        struct item item;
        while (!o.text.error && next_item(&s, &item)) {
            put_csv_item(view, &groups[g], &item, &o.text);
            flush(&o, PIECE_B);
        }
        zs_metrics_cursor_close(s.cursor);
        o.text.error = o.text.error ? o.text.error : s.error;
    }
    zs_metric_sums_free(&sums);
    return finish(&o);
}

/* ---- JSON ---- */

static void put_json_triple(struct zs_json *j, const char *key, const uint32_t triple[3])
{
    if (!triple[0]) {
        zs_json_null(j, key);
        return;
    }
    zs_json_array(j, key);
    for (int i = 0; i < 3; i++)
        zs_json_u64(j, NULL, triple[i]);
    zs_json_end(j);
}

static void put_json_type(struct zs_json *j, const char *key, const char *name, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%#x", number);
    zs_json_string(j, key, name ? name : text);
}

static void put_json_groups(const struct zs_metrics *metrics, struct zs_json *j)
{
    static const char *const totals[] = {"none", "sum", "mean"};
    uint32_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    zs_json_array(j, "groups");
    for (uint32_t g = 0; g < count; g++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "name", groups[g].name);
        zs_json_string(j, "description", groups[g].description);
        zs_json_string(j, "device", groups[g].device);
        zs_json_u64(j, "domain", groups[g].domain);
        zs_json_string(j, "sampling", groups[g].is_time_based ? "time" : "event");
        zs_json_array(j, "metrics");
        for (uint32_t i = 0; i < groups[g].metric_count; i++) {
            const struct zs_metric *m = &groups[g].metrics[i];
            zs_json_object(j, NULL);
            zs_json_string(j, "name", m->name);
            zs_json_string(j, "description", m->description);
            zs_json_string(j, "component", m->component);
            zs_json_string(j, "units", m->units);
            put_json_type(j, "type", zs_metric_type_name(m->type), m->type);
            put_json_type(j, "value_type", zs_metric_value_type_name(m->value_type), m->value_type);
            zs_json_u64(j, "tier", m->tier);
            zs_json_string(j, "total", totals[m->total]);
            zs_json_end(j);
        }
        zs_json_end(j);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_json_report(const struct zs_metrics *metrics, const struct zs_metric_report *r,
                            bool is_sample, struct zs_json *j)
{
    uint32_t count;
    const struct zs_metric_group *group = &zs_metrics_groups(metrics, &count)[r->group];
    zs_json_object(j, NULL);
    zs_json_u64(j, "group", r->group);
    zs_json_u64(j, "run", r->run);
    if (is_sample) {
        zs_json_u64(j, "start_ns", r->start_ns);
        zs_json_u64(j, "end_ns", r->end_ns);
        if (!r->launch)
            zs_json_null(j, "launch");
        else
            zs_json_u64(j, "launch", r->launch->index);
    }
    zs_json_array(j, "values");
    for (uint32_t i = 0; i < group->metric_count; i++) {
        if (zs_metric_is_float(&group->metrics[i]))
            zs_json_double(j, NULL, r->values[i].f64);
        else
            zs_json_u64(j, NULL, r->values[i].u64);
    }
    zs_json_end(j);
    zs_json_end(j);
}

/* Up to its reports, which come next. */
static void begin_json_launch(const struct zs_metric_launch *l, struct zs_json *j)
{
    zs_json_object(j, NULL);
    zs_json_u64(j, "index", l->index);
    zs_json_string(j, "kernel", l->kernel);
    zs_json_string(j, "device", l->device);
    zs_json_u64(j, "pid", (uint32_t)l->process);
    zs_json_u64(j, "process", l->process >> 32);
    zs_json_u64(j, "build", l->build);
    zs_json_u64(j, "append", l->append);
    put_json_triple(j, "groups", l->groups);
    put_json_triple(j, "group_size", l->size);
    zs_json_u64(j, "simd", l->simd);
    zs_json_u64(j, "submit_ns", l->submit_ns);
    if (l->end_ns) {
        zs_json_u64(j, "start_ns", l->start_ns);
        zs_json_u64(j, "end_ns", l->end_ns);
    } else {
        zs_json_null(j, "start_ns");
        zs_json_null(j, "end_ns");
    }
    zs_json_array(j, "reports");
}

static void end_json_launch(bool *is_open, struct zs_json *j)
{
    if (*is_open) {
        zs_json_end(j);
        zs_json_end(j);
    }
    *is_open = false;
}

/* Launches with their reports, and what was measured over time behind them. */
static int put_json_reports(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                            struct zs_json *j, struct out *o)
{
    uint32_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *r;
    bool is_open = false, samples = false;
    int status;
    zs_json_array(j, "launches");
    while ((status = zs_metrics_next(cursor, &launch, &r)) > 0 && !o->text.error) {
        bool is_sample = r && groups[r->group].is_time_based;
        if (launch || (is_sample && !samples))
            end_json_launch(&is_open, j);
        if (is_sample && !samples) {
            zs_json_end(j);
            zs_json_array(j, "samples");
            samples = true;
        }
        if (launch && zs_filter_matches(&view->kernels, launch->kernel)) {
            begin_json_launch(launch, j);
            is_open = true;
        }
        if (r && (is_sample || is_open) && zs_filter_matches(&view->groups, groups[r->group].name))
            put_json_report(metrics, r, is_sample, j);
        flush(o, PIECE_B);
    }
    end_json_launch(&is_open, j);
    zs_json_end(j);
    if (!samples) {
        zs_json_array(j, "samples");
        zs_json_end(j);
    }
    zs_metrics_cursor_close(cursor);
    return ZS_MIN(status, 0);
}

static int put_json_sums(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                         enum zs_metric_sum_by by, const char *key, struct zs_json *j)
{
    uint32_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    struct zs_metric_sums sums;
    int error = zs_metrics_sum(metrics, by, &sums);
    zs_json_array(j, key);
    for (uint32_t i = 0; i < sums.count; i++) {
        const struct zs_metric_sum *s = &sums.rows[i];
        if (!is_wanted(view, metrics, s->group, s->kernel))
            continue;
        zs_json_object(j, NULL);
        zs_json_u64(j, "group", s->group);
        zs_json_string(j, "kernel", s->kernel);
        zs_json_string(j, "device", s->device);
        zs_json_u64(j, "build", s->build);
        if (by == ZS_METRIC_SUM_BY_SHAPE) {
            put_json_triple(j, "groups", s->groups);
            put_json_triple(j, "group_size", s->size);
        }
        zs_json_u64(j, "simd", s->simd);
        zs_json_u64(j, "reports", s->reports);
        zs_json_u64(j, "launches", s->launches);
        zs_json_double(j, "time_ns", s->time_ns);
        zs_json_array(j, "values");
        for (uint32_t k = 0; k < groups[s->group].metric_count; k++) {
            if (groups[s->group].metrics[k].total == ZS_METRIC_TOTAL_NONE)
                zs_json_null(j, NULL);
            else
                zs_json_double(j, NULL, s->values[k]);
        }
        zs_json_end(j);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_metric_sums_free(&sums);
    return error;
}

int zs_metrics_json(const struct zs_metrics *metrics, const struct zs_metrics_view *view,
                    zs_write_fn *write, void *user)
{
    struct out o = {.write = write, .user = user};
    struct zs_json j = zs_json_make(&o.text, 2);
    const struct zs_metrics_info *info = zs_metrics_info(metrics);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", "zescope.metrics/1");
    zs_json_u64(&j, "runs", info->run_count);
    zs_json_u64(&j, "launch_count", info->launches);
    zs_json_u64(&j, "measured", info->measured);
    zs_json_u64(&j, "not_measured", info->lost);
    zs_json_string(&j, "not_measured_reason", info->lost_reason);
    zs_json_u64(&j, "orphans", info->orphans);
    zs_json_u64(&j, "damaged", info->damaged);
    zs_json_u64(&j, "damaged_files", info->damaged_files);
    zs_json_u64(&j, "events_lost", info->events_lost);
    zs_json_u64(&j, "overflows", info->overflows);
    zs_json_string(&j, "runs_mismatch", info->runs_mismatch);
    put_json_groups(metrics, &j);
    int error = put_json_reports(metrics, view, &j, &o);
    error = error ? error : put_json_sums(metrics, view, ZS_METRIC_SUM_BY_KERNEL, "kernels", &j);
    error = error ? error : put_json_sums(metrics, view, ZS_METRIC_SUM_BY_SHAPE, "shapes", &j);
    zs_json_end(&j);
    zs_buf_putc(&o.text, '\n');
    o.text.error = o.text.error ? o.text.error : error;
    return finish(&o);
}
