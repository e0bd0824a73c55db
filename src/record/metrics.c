/* SPDX-License-Identifier: MIT */
/*
 * Metrics of a recording (zescope/metrics.h): records of groups, queries and samples are gathered
 * while the traces are read, and joined with the executions of kernels when all is known. Records
 * are hostile: what refers to nothing, or has not as many values as its group has metrics, is
 * counted and left out.
 */
#include "record/metrics_numbers.h"
#include "record/metrics_priv.h"

#include "base/id_map.h"
#include "base/reader.h"
#include "base/vec.h"
#include "record/merge.h"
#include "record/traces.h"
#include "store/activity.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    RUNS_MAX = 64,
    METRICS_MAX = 1 << 16,
};
#define LIMIT_B ((size_t)1 << 30)

/* A group as one process described it. */
struct described {
    uint64_t process, id, device_id;
    const char *name, *description;
    uint32_t domain, sampling, count, seen;
    struct zs_metric *metrics; /* [count] */
    uint32_t index;            /* of the group in the result; NONE: not whole */
};

/* A set of values as it was read. */
struct entry {
    uint64_t process, group, append, submit_ns, start_ns, end_ns;
    const union zs_metric_value *values;
    const void *raw;
    uint32_t values_B, raw_B;
    uint32_t part; /* 0, or more values of the one before it */
    size_t index;  /* in the order of reading */
    bool is_sample;
};

struct unmeasured {
    uint64_t process, count;
    const char *reason;
};

/* One recording on its way. */
struct load {
    struct zs_metrics *m;
    struct zs_activities activities;
    struct zs_id_map described; /* by process and id */
    METRICS_VEC(struct described *) all;
    METRICS_VEC(struct entry) entries;
    METRICS_VEC(struct zs_metric_launch) launches;
    METRICS_VEC(struct unmeasured) unmeasured;
    METRICS_VEC(struct zs_metric_report) reports;
    METRICS_VEC(const union zs_metric_value *) values; /* by report */
    const struct entry *last;                          /* that a launch was found for ... */
    size_t next_launch;                                /* ... and what stands behind that */
};

/* ---- records ---- */

/* The fields of a record of metrics. */
struct fields {
    uint64_t number[ZS_ACT_PART + 1];
    struct zs_span bytes[ZS_ACT_PART + 1];
};

static bool parse(struct zs_span record, struct fields *ret)
{
    struct zs_reader reader = zs_reader_make(record, 0, NULL);
    struct zs_pb_field f;
    memset(ret, 0, sizeof(*ret));
    while (zs_pb_next(&reader, &f)) {
        if (f.number > ZS_ACT_PART)
            continue;
        if (f.is_bytes)
            ret->bytes[f.number] = f.bytes;
        else
            ret->number[f.number] = f.value;
    }
    return !reader.error;
}

/* NULL: no memory. */
static const char *text(struct load *l, struct zs_span span)
{
    return span.size_B ? zs_arena_strndup(&l->m->arena, span.data, span.size_B) : "";
}

static uint32_t small(uint64_t value)
{
    return (uint32_t)ZS_MIN(value, (uint64_t)UINT32_MAX);
}

static int add_group(struct load *l, uint64_t process, const struct fields *f)
{
    uint64_t count = f->number[ZS_ACT_COUNT];
    if (count > METRICS_MAX || zs_id_map_get(&l->described, process, f->number[ZS_ACT_ID])) {
        l->m->info.damaged++;
        return 0;
    }
    struct described *d = ZS_ARENA_NEW(&l->m->arena, struct described);
    struct zs_metric *metrics = ZS_ARENA_ARRAY(&l->m->arena, count + 1, struct zs_metric);
    const char *name = text(l, f->bytes[ZS_ACT_NAME]);
    const char *description = text(l, f->bytes[ZS_ACT_DESCRIPTION]);
    if (!d || !metrics || !name || !description)
        return -ENOMEM;
    memset(metrics, 0, (count + 1) * sizeof(*metrics));
    *d = (struct described){.process = process,
                            .id = f->number[ZS_ACT_ID],
                            .device_id = f->number[ZS_ACT_DEVICE_ID],
                            .name = name,
                            .description = description,
                            .domain = small(f->number[ZS_ACT_DOMAIN]),
                            .sampling = small(f->number[ZS_ACT_SAMPLING]),
                            .count = (uint32_t)count,
                            .metrics = metrics,
                            .index = ZS_METRICS_NONE};
    if (!ZS_VEC_PUSH(&l->all, d))
        return -ENOMEM;
    return zs_id_map_put(&l->described, process, d->id, d);
}

/* The metrics of a group stand behind it in the same file. */
static int add_metric(struct load *l, uint64_t process, const struct fields *f)
{
    struct described *d = zs_id_map_get(&l->described, process, f->number[ZS_ACT_GROUP_ID]);
    uint64_t number = f->number[ZS_ACT_ID];
    if (!d || number == 0 || number > d->count || d->metrics[number - 1].name) {
        l->m->info.damaged++;
        return 0;
    }
    struct zs_metric metric = {.name = text(l, f->bytes[ZS_ACT_NAME]),
                               .description = text(l, f->bytes[ZS_ACT_DESCRIPTION]),
                               .component = text(l, f->bytes[ZS_ACT_COMPONENT]),
                               .units = text(l, f->bytes[ZS_ACT_UNITS]),
                               .type = small(f->number[ZS_ACT_METRIC_TYPE]),
                               .value_type = small(f->number[ZS_ACT_VALUE_TYPE]),
                               .tier = small(f->number[ZS_ACT_TIER])};
    if (!metric.name || !metric.description || !metric.component || !metric.units)
        return -ENOMEM;
    metric.total = metrics_total_of(metric.type, metric.units);
    d->metrics[number - 1] = metric;
    d->seen++;
    return 0;
}

static const void *copy(struct load *l, struct zs_span span, bool *out_of_memory)
{
    void *bytes = span.size_B ? zs_arena_alloc(&l->m->arena, span.size_B) : NULL;
    if (bytes)
        memcpy(bytes, span.data, span.size_B);
    *out_of_memory |= span.size_B && !bytes;
    return bytes;
}

static const union zs_metric_value *copy_values(struct load *l, struct zs_span span,
                                                bool *out_of_memory)
{
    size_t count = span.size_B / 8;
    union zs_metric_value *values =
        count ? ZS_ARENA_ARRAY(&l->m->arena, count, union zs_metric_value) : NULL;
    for (size_t i = 0; values && i < count; i++)
        values[i].u64 = zs_load_u64(span.data + i * 8);
    *out_of_memory |= count && !values;
    return values;
}

static int add_entry(struct load *l, uint64_t process, const struct fields *f, bool is_sample)
{
    bool out_of_memory = false;
    struct zs_span raw = l->m->keeps_raw ? f->bytes[ZS_ACT_RAW] : zs_span_make(NULL, 0);
    struct zs_span values = f->bytes[ZS_ACT_VALUES];
    struct entry e = {.process = process,
                      .group = f->number[ZS_ACT_GROUP_ID],
                      .append = f->number[ZS_ACT_ID],
                      .submit_ns = f->number[ZS_ACT_SUBMIT_NS],
                      .start_ns = f->number[ZS_ACT_START_NS],
                      .end_ns = f->number[ZS_ACT_END_NS],
                      .values = copy_values(l, values, &out_of_memory),
                      .raw = copy(l, raw, &out_of_memory),
                      .values_B = (uint32_t)values.size_B,
                      .raw_B = (uint32_t)raw.size_B,
                      .part = small(f->number[ZS_ACT_PART]),
                      .index = l->entries.count,
                      .is_sample = is_sample};
    return out_of_memory || !ZS_VEC_PUSH(&l->entries, e) ? -ENOMEM : 0;
}

/* The last that a process says of a reason counts: counts only grow. */
static int add_unmeasured(struct load *l, uint64_t process, const struct fields *f)
{
    const char *reason = text(l, f->bytes[ZS_ACT_DESCRIPTION]);
    struct unmeasured new = {process, f->number[ZS_ACT_COUNT], reason};
    if (!reason)
        return -ENOMEM;
    for (size_t i = 0; i < l->unmeasured.count; i++) {
        struct unmeasured *u = &l->unmeasured.items[i];
        if (u->process == process && !strcmp(u->reason, reason)) {
            u->count = ZS_MAX(u->count, new.count);
            return 0;
        }
    }
    return l->unmeasured.count < METRICS_MAX && !ZS_VEC_PUSH(&l->unmeasured, new) ? -ENOMEM : 0;
}

static int on_metric(void *user, uint64_t process, struct zs_span record, uint64_t time_ns)
{
    struct load *l = user;
    struct fields f;
    (void)time_ns;
    if (!parse(record, &f)) {
        l->m->info.damaged++;
        return 0;
    }
    switch (f.number[ZS_ACT_TYPE]) {
    case ZS_ACT_METRIC_GROUP:
        return add_group(l, process, &f);
    case ZS_ACT_METRIC:
        return add_metric(l, process, &f);
    case ZS_ACT_QUERY:
    case ZS_ACT_SAMPLE:
        return add_entry(l, process, &f, f.number[ZS_ACT_TYPE] == ZS_ACT_SAMPLE);
    case ZS_ACT_UNMEASURED:
        return add_unmeasured(l, process, &f);
    case ZS_ACT_SAMPLES: /* raw data of streamers: for the driver alone */
        l->m->info.overflows += f.number[ZS_ACT_LOST] != 0;
        return 0;
    default:
        return 0;
    }
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct load *l = user;
    const struct zs_act_append *a = e->append;
    if (!a || a->kind != ZS_ACTIVITY_KERNEL)
        return 0;
    struct zs_metric_launch launch = {.kernel = a->kernel ? a->kernel->name : "",
                                      .device = a->device ? a->device->name : "",
                                      .process = e->process,
                                      .build = a->kernel ? a->kernel->build : 0,
                                      .submit_ns = e->submit_ns,
                                      .start_ns = e->start_ns,
                                      .end_ns = e->end_ns,
                                      .append = e->id,
                                      .simd = a->kernel ? small(a->kernel->simd) : 0,
                                      .thread = a->tid};
    memcpy(launch.groups, a->groups, sizeof(launch.groups));
    memcpy(launch.size, a->size, sizeof(launch.size));
    return l->launches.count < UINT32_MAX - 1 && ZS_VEC_PUSH(&l->launches, launch) ? 0 : -ENOMEM;
}

/* ---- groups ---- */

static bool same_metrics(const struct zs_metric_group *g, const struct described *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const struct zs_metric *a = &g->metrics[i], *b = &d->metrics[i];
        if (strcmp(a->name, b->name) != 0 || strcmp(a->units, b->units) != 0 ||
            a->type != b->type || a->value_type != b->value_type)
            return false;
    }
    return true;
}

/* Groups of the same description are one. */
static int settle_group(struct load *l, struct described *d)
{
    const struct zs_act_device *device =
        zs_id_map_get(&l->activities.devices, d->process, d->device_id);
    const char *device_name = device ? device->name : "";
    struct zs_metrics *m = l->m;
    if (d->seen != d->count) {
        m->info.damaged++;
        return 0;
    }
    bool is_time_based = d->sampling & 2; /* ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED */
    for (size_t i = 0; i < m->groups.count; i++) {
        const struct zs_metric_group *g = &m->groups.items[i];
        if (g->is_time_based == is_time_based && g->domain == d->domain &&
            g->metric_count == d->count && !strcmp(g->name, d->name) &&
            !strcmp(g->device, device_name) && same_metrics(g, d)) {
            d->index = (uint32_t)i;
            return 0;
        }
    }
    struct zs_metric_group group = {
        .name = d->name,
        .description = d->description,
        .device = text(l, zs_span_make((const uint8_t *)device_name, strlen(device_name))),
        .domain = d->domain,
        .metric_count = d->count,
        .metrics = d->metrics,
        .is_time_based = is_time_based,
        .time = metrics_time_of(d->metrics, d->count)};
    d->index = (uint32_t)m->groups.count;
    return group.device && ZS_VEC_PUSH(&m->groups, group) ? 0 : -ENOMEM;
}

/* ---- joining ---- */

static int by_submission(const void *a, const void *b)
{
    const struct zs_metric_launch *x = a, *y = b;
    if (x->submit_ns != y->submit_ns)
        return x->submit_ns < y->submit_ns ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->append != y->append)
        return x->append < y->append ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The first of the launches with this submission, process and append; they are sorted. */
static size_t find_launch(const struct load *l, const struct entry *e)
{
    const struct zs_metric_launch key = {
        .submit_ns = e->submit_ns, .process = e->process, .append = e->append};
    size_t low = 0, high = l->launches.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (by_submission(&l->launches.items[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* A list that was submitted twice by one call has two launches of one name: reports, which are
 * sorted, are dealt out in their order. */
static uint32_t take_launch(struct load *l, const struct entry *e)
{
    const struct entry *last = l->last;
    bool again = last && last->submit_ns == e->submit_ns && last->process == e->process &&
                 last->append == e->append && last->group == e->group;
    size_t i = again ? l->next_launch - (e->part != 0) : find_launch(l, e);
    l->last = e;
    l->next_launch = i + 1;
    if (i >= l->launches.count)
        return ZS_METRICS_NONE;
    const struct zs_metric_launch *launch = &l->launches.items[i];
    if (launch->submit_ns != e->submit_ns || launch->process != e->process ||
        launch->append != e->append)
        return ZS_METRICS_NONE;
    return (uint32_t)i;
}

static int by_entry(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->is_sample != y->is_sample)
        return x->is_sample ? 1 : -1;
    uint64_t x_ns = x->is_sample ? x->start_ns : x->submit_ns;
    uint64_t y_ns = y->is_sample ? y->start_ns : y->submit_ns;
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->append != y->append)
        return x->append < y->append ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* A report for each set of values. */
static int add_reports(struct load *l, const struct entry *e, uint32_t metric_count,
                       struct zs_metric_report report)
{
    for (size_t at = 0; at < e->values_B / 8; at += metric_count) {
        const union zs_metric_value *values = e->values + at;
        if (!ZS_VEC_PUSH(&l->reports, report) || !ZS_VEC_PUSH(&l->values, values))
            return -ENOMEM;
        if (!e->is_sample)
            l->launches.items[report.launch].report_count++;
        report.raw = NULL; /* with the first */
        report.raw_B = 0;
    }
    return 0;
}

static int settle_entry(struct load *l, const struct entry *e, uint32_t run)
{
    struct zs_metrics *m = l->m;
    const struct described *d = zs_id_map_get(&l->described, e->process, e->group);
    if (!d || d->index == ZS_METRICS_NONE || !d->count || !e->values_B ||
        e->values_B % ((uint64_t)d->count * 8) || e->end_ns < e->start_ns) {
        m->info.damaged++;
        return 0;
    }
    struct zs_metric_report report = {.group = d->index,
                                      .launch = ZS_METRICS_NONE,
                                      .run = run,
                                      .process = e->process,
                                      .start_ns = e->start_ns,
                                      .end_ns = e->end_ns,
                                      .raw = e->raw,
                                      .raw_B = e->raw_B};
    if (!e->is_sample) {
        report.launch = take_launch(l, e);
        if (report.launch == ZS_METRICS_NONE) {
            m->info.orphans++;
            return 0;
        }
        const struct zs_metric_launch *launch = &l->launches.items[report.launch];
        report.start_ns = launch->end_ns ? launch->start_ns : 0;
        report.end_ns = launch->end_ns;
    }
    return add_reports(l, e, d->count, report);
}

/* What ran longest in a report of a stretch of time. */
static void attribute(struct load *l)
{
    struct metrics_window w = metrics_window_make(l->launches.items, l->launches.count);
    for (size_t r = 0; r < l->reports.count; r++) {
        struct zs_metric_report *report = &l->reports.items[r];
        uint64_t most_ns = 0;
        if (!l->m->groups.items[report->group].is_time_based)
            continue;
        metrics_window_move(&w, report);
        for (size_t i = w.first; i < w.end; i++) {
            uint64_t both_ns = metrics_overlap(&w.launches[i], report);
            if (both_ns <= most_ns)
                continue;
            most_ns = both_ns;
            report->launch = (uint32_t)i;
        }
    }
}

static int settle(struct load *l, uint32_t run)
{
    int error = 0;
    for (size_t i = 0; i < l->all.count && !error; i++)
        error = settle_group(l, l->all.items[i]);
    for (size_t i = 0; i < l->launches.count; i++)
        if (l->launches.items[i].end_ns < l->launches.items[i].submit_ns)
            l->launches.items[i].start_ns = l->launches.items[i].end_ns = 0;
    if (l->launches.count)
        qsort(l->launches.items, l->launches.count, sizeof(*l->launches.items), by_submission);
    if (l->entries.count)
        qsort(l->entries.items, l->entries.count, sizeof(*l->entries.items), by_entry);
    for (size_t i = 0; i < l->entries.count && !error; i++)
        error = settle_entry(l, &l->entries.items[i], run);
    free(l->entries.items);
    l->entries.items = NULL;
    if (!error)
        attribute(l);
    return error;
}

static void add_losses(const struct load *l)
{
    uint64_t most = 0;
    for (size_t i = 0; i < l->unmeasured.count; i++) {
        const struct unmeasured *u = &l->unmeasured.items[i];
        l->m->info.lost += u->count;
        if (u->count <= most)
            continue;
        most = u->count;
        l->m->info.lost_reason = u->reason;
    }
}

/* ---- several runs ---- */

/* Launches of one shape: what runs have to agree on. */
struct shape {
    const struct zs_metric_launch *launch;
    uint32_t index;        /* of the launch */
    uint32_t process_rank; /* the first process that launched something, the second ... */
};

static int by_shape(const void *a, const void *b)
{
    const struct shape *x = a, *y = b;
    if (x->process_rank != y->process_rank)
        return x->process_rank < y->process_rank ? -1 : 1;
    int order = strcmp(x->launch->kernel, y->launch->kernel);
    if (!order)
        order = memcmp(x->launch->groups, y->launch->groups, sizeof(x->launch->groups));
    if (!order)
        order = memcmp(x->launch->size, y->launch->size, sizeof(x->launch->size));
    return order;
}

static int by_shape_and_index(const void *a, const void *b)
{
    const struct shape *x = a, *y = b;
    int order = by_shape(a, b);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static struct shape *shapes_of(const struct zs_metric_launch *launches, size_t count)
{
    struct shape *shapes = calloc(count + 1, sizeof(*shapes));
    struct zs_id_map ranks = {0};
    for (size_t i = 0; shapes && i < count; i++) {
        uintptr_t rank = (uintptr_t)zs_id_map_get(&ranks, launches[i].process, 0);
        if (!rank) {
            rank = ranks.count + 1;
            if (zs_id_map_put(&ranks, launches[i].process, 0, (void *)rank)) {
                free(shapes);
                shapes = NULL;
                break;
            }
        }
        shapes[i] = (struct shape){&launches[i], (uint32_t)i, (uint32_t)rank};
    }
    zs_id_map_fini(&ranks);
    if (shapes && count)
        qsort(shapes, count, sizeof(*shapes), by_shape_and_index);
    return shapes;
}

static int say_mismatch(struct zs_metrics *m, uint32_t run, const char *format, const char *kernel)
{
    char words[512], sentence[640];
    snprintf(words, sizeof(words), format, kernel);
    snprintf(sentence, sizeof(sentence), "run %u %s: its metrics are left out", run, words);
    if (m->info.runs_mismatch[0])
        return 0; /* the first is told */
    m->info.runs_mismatch = zs_arena_strndup(&m->arena, sentence, sizeof(sentence));
    return m->info.runs_mismatch ? 0 : -ENOMEM;
}

/* The nth launch of a shape in a process is the nth of that shape there in every run. */
static int join_run(struct load *first, struct load *l, uint32_t run)
{
    struct zs_metrics *m = l->m;
    size_t count = l->launches.count;
    if (count != first->launches.count)
        return say_mismatch(m, run, "launched another number of kernels%s", "");
    struct shape *theirs = shapes_of(l->launches.items, count);
    struct shape *ours = shapes_of(first->launches.items, count);
    uint32_t *to = calloc(count + 1, sizeof(*to));
    int error = theirs && ours && to ? 0 : -ENOMEM;
    bool same = true;
    for (size_t i = 0; i < count && !error && same; i++) {
        same = !by_shape(&theirs[i], &ours[i]);
        to[theirs[i].index] = ours[i].index;
        if (!same)
            error = say_mismatch(m, run, "launched %.300s otherwise or not at all",
                                 ours[i].launch->kernel);
    }
    for (size_t i = 0; i < l->reports.count && !error && same; i++) {
        struct zs_metric_report report = l->reports.items[i];
        if (report.launch == ZS_METRICS_NONE || m->groups.items[report.group].is_time_based) {
            m->info.orphans++;
            continue;
        }
        report.launch = to[report.launch];
        struct zs_metric_launch *launch = &first->launches.items[report.launch];
        launch->report_count++;
        report.process = launch->process; /* where and when it is shown: as in the first run */
        report.start_ns = launch->end_ns ? launch->start_ns : 0;
        report.end_ns = launch->end_ns;
        if (!ZS_VEC_PUSH(&first->reports, report) ||
            !ZS_VEC_PUSH(&first->values, l->values.items[i]))
            error = -ENOMEM;
    }
    free(theirs);
    free(ours);
    free(to);
    return error;
}

/* ---- all of it ---- */

static int load(struct load *l, const char *recording, uint32_t run, struct zs_diag *diag)
{
    const struct zs_merge_sink sink = {.user = l, .execute = on_execute, .metric = on_metric};
    struct zs_merge_totals totals = {0};
    int error = zs_merge(recording, &sink, &l->activities, &totals, diag);
    l->m->info.damaged_files += totals.damaged_files;
    l->m->info.events_lost += zs_traces_lost(recording);
    if (!error)
        error = settle(l, run);
    if (!error)
        add_losses(l);
    return error;
}

static void load_free(struct load *l)
{
    zs_id_map_fini(&l->described);
    free(l->all.items);
    free(l->entries.items);
    free(l->launches.items);
    free(l->unmeasured.items);
    free(l->reports.items);
    free(l->values.items);
}

static int load_runs(struct load *first, const char *recording, struct zs_diag *diag)
{
    int error = 0;
    for (uint32_t run = 2; run <= RUNS_MAX && !error; run++) {
        char path[4096];
        struct stat st;
        int n = snprintf(path, sizeof(path), "%s/runs/%u", recording, run);
        if (n < 0 || (size_t)n >= sizeof(path) || lstat(path, &st) || !S_ISDIR(st.st_mode))
            return 0;
        struct load l = {.m = first->m};
        error = load(&l, path, run, diag);
        if (!error)
            error = join_run(first, &l, run);
        first->m->info.run_count = run;
        zs_activities_free(&l.activities);
        load_free(&l);
    }
    return error;
}

struct order {
    const struct zs_metric_report *report;
    size_t index;
    bool is_time_based;
};

static int by_report(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    const struct zs_metric_report *r = x->report, *s = y->report;
    if (x->is_time_based != y->is_time_based)
        return x->is_time_based ? 1 : -1;
    uint64_t first = x->is_time_based ? r->start_ns : r->launch;
    uint64_t second = x->is_time_based ? s->start_ns : s->launch;
    if (first != second)
        return first < second ? -1 : 1;
    if (r->group != s->group)
        return r->group < s->group ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int arrange(struct load *l)
{
    struct zs_metrics *m = l->m;
    size_t count = l->reports.count;
    struct order *order = calloc(count + 1, sizeof(*order));
    m->values = calloc(count + 1, sizeof(*m->values));
    m->reports.items = calloc(count + 1, sizeof(*m->reports.items));
    if (!order || !m->values || !m->reports.items) {
        free(order);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (struct order){&l->reports.items[i], i,
                                  m->groups.items[l->reports.items[i].group].is_time_based};
    if (count)
        qsort(order, count, sizeof(*order), by_report);
    for (size_t i = 0; i < count; i++) {
        m->reports.items[i] = *order[i].report;
        m->values[i] = l->values.items[order[i].index];
    }
    m->reports.count = count;
    free(order);
    free(l->reports.items);
    l->reports.items = NULL;
    m->launches.items = l->launches.items;
    m->launches.count = l->launches.count;
    l->launches.items = NULL;
    uint64_t at = 0;
    for (size_t i = 0; i < m->launches.count; i++) {
        m->launches.items[i].first_report = at;
        at += m->launches.items[i].report_count;
        m->info.measured += m->launches.items[i].report_count > 0;
    }
    m->info.launches = m->launches.count;
    return 0;
}

bool zs_metrics_probe(const char *recording)
{
    char path[4096];
    struct stat st;
    int n = snprintf(path, sizeof(path), "%s/" ZS_RECORD_ASKED, recording);
    return n > 0 && (size_t)n < sizeof(path) && !lstat(path, &st) && S_ISREG(st.st_mode);
}

static int open_metrics(const char *recording, bool keeps_raw, struct zs_metrics **ret_metrics,
                        struct zs_diag *diag)
{
    struct zs_metrics *m = calloc(1, sizeof(*m));
    *ret_metrics = NULL;
    if (!m)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    zs_arena_init(&m->arena, LIMIT_B);
    m->keeps_raw = keeps_raw;
    m->info = (struct zs_metrics_info){.run_count = 1, .lost_reason = "", .runs_mismatch = ""};
    struct load l = {.m = m};
    int error = load(&l, recording, 1, diag);
    if (!error)
        error = load_runs(&l, recording, diag);
    if (!error)
        error = arrange(&l);
    m->activities = l.activities;
    load_free(&l);
    if (!error)
        error = metrics_find_bases(m);
    if (!error) {
        *ret_metrics = m;
        return 0;
    }
    zs_metrics_close(m);
    if (error == -ENOMEM)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory, or more metrics than are read");
    return error;
}

int zs_metrics_open(const char *recording, struct zs_metrics **ret_metrics, struct zs_diag *diag)
{
    return open_metrics(recording, true, ret_metrics, diag);
}

int zs_metrics_open_numbers(const char *recording, struct zs_metrics **ret_metrics,
                            struct zs_diag *diag)
{
    return open_metrics(recording, false, ret_metrics, diag);
}

void zs_metrics_close(struct zs_metrics *m)
{
    if (!m)
        return;
    zs_activities_free(&m->activities);
    free(m->groups.items);
    free(m->launches.items);
    free(m->reports.items);
    free(m->values);
    free(m->bases.items);
    zs_arena_fini(&m->arena);
    free(m);
}

/* ---- what it says ---- */

const struct zs_metrics_info *zs_metrics_info(const struct zs_metrics *m)
{
    return &m->info;
}

const struct zs_metric_group *zs_metrics_groups(const struct zs_metrics *m, uint32_t *ret_count)
{
    *ret_count = (uint32_t)m->groups.count;
    return m->groups.items;
}

const struct zs_metric_launch *zs_metrics_launches(const struct zs_metrics *m, uint32_t *ret_count)
{
    *ret_count = (uint32_t)m->launches.count;
    return m->launches.items;
}

const struct zs_metric_report *zs_metrics_reports(const struct zs_metrics *m, uint64_t *ret_count)
{
    *ret_count = m->reports.count;
    return m->reports.items;
}

const union zs_metric_value *zs_metrics_values(const struct zs_metrics *m,
                                               const struct zs_metric_report *report)
{
    return m->values[report - m->reports.items];
}

double zs_metrics_number(const struct zs_metrics *m, const struct zs_metric_report *report,
                         uint32_t metric)
{
    const struct zs_metric_group *group = &m->groups.items[report->group];
    return metric < group->metric_count
               ? zs_metric_value_number(&group->metrics[metric],
                                        zs_metrics_values(m, report)[metric])
               : 0;
}
