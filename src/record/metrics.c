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
#include "store/counts_file.h"
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
static const char *text(struct metrics_load *l, struct zs_span span)
{
    return span.size_B ? zs_arena_strndup(&l->m->arena, span.data, span.size_B) : "";
}

static uint32_t small(uint64_t value)
{
    return (uint32_t)ZS_MIN(value, (uint64_t)UINT32_MAX);
}

static int add_group(struct metrics_load *l, uint64_t process, const struct fields *f)
{
    uint64_t count = f->number[ZS_ACT_COUNT];
    if (count > METRICS_MAX || zs_id_map_get(&l->described, process, f->number[ZS_ACT_ID])) {
        l->m->info.damaged++;
        return 0;
    }
    struct metrics_described *d = ZS_ARENA_NEW(&l->m->arena, struct metrics_described);
    struct zs_metric *metrics = ZS_ARENA_ARRAY(&l->m->arena, count + 1, struct zs_metric);
    const char *name = text(l, f->bytes[ZS_ACT_NAME]);
    const char *description = text(l, f->bytes[ZS_ACT_DESCRIPTION]);
    if (!d || !metrics || !name || !description)
        return -ENOMEM;
    memset(metrics, 0, (count + 1) * sizeof(*metrics));
    *d = (struct metrics_described){.process = process,
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
static int add_metric(struct metrics_load *l, uint64_t process, const struct fields *f)
{
    struct metrics_described *d = zs_id_map_get(&l->described, process, f->number[ZS_ACT_GROUP_ID]);
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

static struct metrics_entry entry_of(uint64_t process, const struct fields *f)
{
    return (struct metrics_entry){.process = process,
                                  .group = f->number[ZS_ACT_GROUP_ID],
                                  .append = f->number[ZS_ACT_ID],
                                  .submit_ns = f->number[ZS_ACT_SUBMIT_NS],
                                  .start_ns = f->number[ZS_ACT_START_NS],
                                  .end_ns = f->number[ZS_ACT_END_NS],
                                  .values_B = (uint32_t)f->bytes[ZS_ACT_VALUES].size_B,
                                  .part = small(f->number[ZS_ACT_PART])};
}

static int add_entry(struct metrics_load *l, uint64_t process, const struct fields *f,
                     bool is_sample)
{
    struct zs_span raw = l->m->keeps_raw ? f->bytes[ZS_ACT_RAW] : zs_span_make(NULL, 0);
    struct zs_span values = f->bytes[ZS_ACT_VALUES];
    struct metrics_entry e = entry_of(process, f);
    e.raw_B = (uint32_t)raw.size_B;
    e.is_sample = is_sample;
    l->scratch.size_B = 0;
    if (values.size_B)
        zs_buf_append(&l->scratch, values.data, values.size_B);
    if (raw.size_B)
        zs_buf_append(&l->scratch, raw.data, raw.size_B);
    return l->scratch.error
               ? l->scratch.error
               : zs_sorter_add(&l->entries, &e, sizeof(e), l->scratch.data, l->scratch.size_B);
}

/* The last that a process says of a reason counts: counts only grow. */
static int add_unmeasured(struct metrics_load *l, uint64_t process, const struct fields *f)
{
    const char *reason = text(l, f->bytes[ZS_ACT_DESCRIPTION]);
    struct metrics_unmeasured new = {process, f->number[ZS_ACT_COUNT], reason};
    if (!reason)
        return -ENOMEM;
    for (size_t i = 0; i < l->unmeasured.count; i++) {
        struct metrics_unmeasured *u = &l->unmeasured.items[i];
        if (u->process == process && !strcmp(u->reason, reason)) {
            u->count = ZS_MAX(u->count, new.count);
            return 0;
        }
    }
    return l->unmeasured.count < METRICS_MAX && !ZS_VEC_PUSH(&l->unmeasured, new) ? -ENOMEM : 0;
}

static int on_metric(void *user, uint64_t process, struct zs_span record, uint64_t time_ns)
{
    struct metrics_load *l = user;
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

int metrics_record(struct metrics_load *l, uint64_t process, struct zs_span record,
                   struct metrics_entry *ret_entry, struct zs_span *ret_values)
{
    struct fields f;
    if (!parse(record, &f) || f.number[ZS_ACT_TYPE] != ZS_ACT_QUERY)
        return on_metric(l, process, record, 0);
    *ret_entry = entry_of(process, &f);
    *ret_values = f.bytes[ZS_ACT_VALUES];
    return 1;
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct metrics_load *l = user;
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
    if (launch.end_ns < launch.submit_ns)
        launch.start_ns = launch.end_ns = 0;
    return zs_sorter_add(&l->launches, &launch, sizeof(launch), NULL, 0);
}

/* ---- groups ---- */

static bool same_metrics(const struct zs_metric_group *g, const struct metrics_described *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const struct zs_metric *a = &g->metrics[i], *b = &d->metrics[i];
        if (strcmp(a->name, b->name) != 0 || strcmp(a->units, b->units) != 0 ||
            a->type != b->type || a->value_type != b->value_type)
            return false;
    }
    return true;
}

/* NULL: there is none, or more than one. */
static const struct zs_act_device *only_device(const struct metrics_load *l)
{
    const struct zs_id_map *devices = &l->activities.devices;
    const struct zs_act_device *found = NULL;
    for (size_t i = 0; i < devices->capacity; i++) {
        const struct zs_act_device *d = devices->slots[i].value;
        if (d && found && strcmp(d->name, found->name) != 0)
            return NULL;
        found = d ? d : found;
    }
    return found;
}

/* Groups of the same description are one. */
static int settle_group(struct metrics_load *l, struct metrics_described *d)
{
    const struct zs_act_device *device =
        zs_id_map_get(&l->activities.devices, d->process, d->device_id);
    if (!device && d->id >= ZS_WALK_METRICS_IDS)
        device = only_device(l);
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

static void add_losses(const struct metrics_load *l)
{
    uint64_t most = 0;
    for (size_t i = 0; i < l->unmeasured.count; i++) {
        const struct metrics_unmeasured *u = &l->unmeasured.items[i];
        l->m->info.lost += u->count;
        if (u->count <= most)
            continue;
        most = u->count;
        l->m->info.lost_reason = u->reason;
    }
}

/* ---- all of it ---- */

static void load_init(struct metrics_load *l, struct zs_metrics *m)
{
    *l = (struct metrics_load){.m = m};
    zs_sorter_init(&l->entries, metrics_by_entry);
    zs_sorter_init(&l->launches, metrics_by_submission);
}

static int load(struct metrics_load *l, const char *recording, uint32_t run,
                struct zs_sorter *reports, struct zs_diag *diag)
{
    const struct zs_merge_sink sink = {.user = l, .execute = on_execute, .metric = on_metric};
    struct zs_merge_totals totals = {0};
    int error = zs_merge(recording, &sink, &l->activities, &totals, diag);
    l->m->info.damaged_files += totals.damaged_files;
    l->m->info.events_lost += zs_traces_lost(recording);
    error = error ? error : metrics_add_walks(l, recording);
    for (size_t i = 0; i < l->all.count && !error; i++)
        error = settle_group(l, l->all.items[i]);
    if (!error)
        error = metrics_join(l, run, reports);
    if (!error)
        add_losses(l);
    return error;
}

static void load_free(struct metrics_load *l)
{
    zs_id_map_fini(&l->described);
    free(l->all.items);
    free(l->unmeasured.items);
    zs_sorter_fini(&l->entries);
    zs_sorter_fini(&l->launches);
    zs_buf_fini(&l->scratch);
}

/* The runs behind the first one: their reports are put to its own. */
static int load_runs(struct zs_metrics *m, const char *recording, struct zs_diag *diag)
{
    int error = 0;
    for (uint32_t run = 2; run <= RUNS_MAX && !error; run++) {
        char path[4096];
        struct stat st;
        struct metrics_load l;
        struct zs_sorter reports;
        int n = snprintf(path, sizeof(path), "%s/runs/%u", recording, run);
        if (n < 0 || (size_t)n >= sizeof(path) || lstat(path, &st) || !S_ISDIR(st.st_mode))
            return 0;
        load_init(&l, m);
        zs_sorter_init(&reports, metrics_by_report);
        error = load(&l, path, run, &reports, diag);
        if (!error)
            error = metrics_join_run(&l, run, &reports);
        m->info.run_count = run;
        zs_activities_free(&l.activities);
        zs_sorter_fini(&reports);
        load_free(&l);
    }
    return error;
}

static int by_start(const void *a, const void *b)
{
    const struct zs_metric_launch *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* For reports of stretches of time launches have an order of their own, and numbers. */
static int sort_starts(struct zs_metrics *m)
{
    struct zs_sorter_cursor c;
    const struct zs_metric_launch *read;
    uint64_t index = 0;
    bool by_time = false;
    int error = 0;
    for (size_t i = 0; i < m->groups.count; i++)
        by_time |= m->groups.items[i].is_time_based;
    zs_sorter_start(&m->launches, &c);
    while (by_time && !error && (read = zs_sorter_next(&c, NULL))) {
        struct zs_metric_launch launch = *read;
        launch.index = index++;
        if (launch.end_ns > launch.start_ns)
            error = zs_sorter_add(&m->starts, &launch, sizeof(launch), NULL, 0);
    }
    error = error ? error : c.error;
    zs_sorter_stop(&c);
    return error ? error : zs_sorter_finish(&m->starts);
}

static int count_reports(struct zs_metrics *m)
{
    struct zs_sorter_cursor c;
    const struct metrics_stored *s;
    uint64_t last = UINT64_MAX;
    int error = zs_sorter_finish(&m->reports);
    zs_sorter_start(&m->reports, &c);
    while (!error && (s = zs_sorter_next(&c, NULL))) {
        m->info.measured += !s->is_time_based && s->order != last;
        last = s->order;
    }
    error = error ? error : c.error;
    zs_sorter_stop(&c);
    m->info.launches = m->launches.count;
    m->info.reports = m->reports.count;
    return error;
}

static int load_all(struct zs_metrics *m, const char *recording, struct zs_diag *diag)
{
    struct metrics_load l;
    load_init(&l, m);
    int error = load(&l, recording, 1, &m->reports, diag);
    m->activities = l.activities;
    m->launches = l.launches;
    l.launches = (struct zs_sorter){0};
    load_free(&l);
    if (!error)
        error = load_runs(m, recording, diag);
    if (!error)
        error = count_reports(m);
    if (!error)
        error = sort_starts(m);
    return error ? error : metrics_find_bases(m);
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
    zs_arena_init(&m->arena, LIMIT_B);
    zs_sorter_init(&m->starts, by_start);
    zs_sorter_init(&m->reports, metrics_by_report);
    m->keeps_raw = keeps_raw;
    m->info = (struct zs_metrics_info){.run_count = 1, .lost_reason = "", .runs_mismatch = ""};
    int error = load_all(m, recording, diag);
    if (!error) {
        *ret_metrics = m;
        return 0;
    }
    zs_metrics_close(m);
    if (error == -ENOMEM)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory, or more metrics than are read");
    else if (diag && !diag->text[0])
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot sort metrics in a temporary file: %s",
                    strerror(-error));
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
    zs_sorter_fini(&m->launches);
    zs_sorter_fini(&m->starts);
    zs_sorter_fini(&m->reports);
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
