/* SPDX-License-Identifier: MIT */
#include "report/calls.h"

#include "base/vec.h"
#include "record/calls.h"
#include "record/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bucket of a duration: its power of two, and three bits behind the first one. */
static uint32_t bucket_of(uint64_t ns)
{
    if (ns < 8)
        return (uint32_t)ns;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(ns);
    return octave * 8 + (uint32_t)(ns >> (octave - 3) & 7);
}

/* The middle of a bucket. */
static uint64_t bucket_ns(uint32_t bucket)
{
    if (bucket < 8)
        return bucket;
    uint32_t octave = bucket / 8;
    uint64_t low = (UINT64_C(8) | (bucket & 7)) << (octave - 3);
    return low + (UINT64_C(1) << (octave - 3)) / 2;
}

uint64_t zs_call_percentile_ns(const struct zs_call_row *row, double percent)
{
    uint64_t finished = row->count - row->unfinished, seen = 0;
    double want = (double)finished * percent / 100.0;
    for (uint32_t i = 0; i < ZS_HISTOGRAM_BUCKETS; i++) {
        seen += row->buckets[i];
        if (seen && (double)seen >= want)
            return ZS_MAX(row->min_ns, ZS_MIN(bucket_ns(i), row->max_ns));
    }
    return row->max_ns;
}

struct loader {
    const struct zs_call_options *options;
    struct zs_call_table *table;
    regex_t *filters;
    struct zs_call_row *recent; /* calls come in runs of the same name */
};

static bool wants(const struct loader *l, const char *name)
{
    for (size_t i = 0; i < l->options->filter_count; i++)
        if (!regexec(&l->filters[i], name, 0, NULL, 0))
            return true;
    return l->options->filter_count == 0;
}

static bool row_is(const struct zs_call_row *row, struct zs_span name, uint32_t pid, uint32_t tid)
{
    return row->pid == pid && row->tid == tid && strlen(row->name) == name.size_B &&
           !memcmp(row->name, name.data, name.size_B);
}

/* NULL and no error: the call is filtered out. */
static struct zs_call_row *row_find(struct loader *l, const struct zs_calls *calls,
                                    struct zs_span name, int *ret_error)
{
    uint32_t pid = l->options->per_thread ? calls->pid : 0;
    uint32_t tid = l->options->per_thread ? calls->tid : 0;
    struct zs_call_table *t = l->table;
    if (l->recent && row_is(l->recent, name, pid, tid))
        return l->recent;
    for (size_t i = 0; i < t->count; i++)
        if (row_is(t->rows[i], name, pid, tid))
            return l->recent = t->rows[i];
    char *copy = zs_arena_strndup(&t->arena, name.data, name.size_B);
    if (copy && !wants(l, copy))
        return NULL;
    struct zs_call_row *row = ZS_ARENA_NEW(&t->arena, struct zs_call_row);
    struct {
        struct zs_call_row **items;
        size_t count, capacity;
    } v = {t->rows, t->count, t->capacity};
    if (!copy || !row || !ZS_VEC_PUSH(&v, row)) {
        *ret_error = -ENOMEM;
        return NULL;
    }
    *row = (struct zs_call_row){.name = copy, .pid = pid, .tid = tid, .min_ns = UINT64_MAX};
    t->rows = v.items;
    t->count = v.count;
    t->capacity = v.capacity;
    return l->recent = row;
}

static void count_result(struct zs_call_row *row, int32_t result)
{
    row->failed++;
    for (uint32_t i = 0; i < row->result_count; i++) {
        if (row->results[i].result == result) {
            row->results[i].count++;
            return;
        }
    }
    if (row->result_count < ZS_CALL_RESULTS_MAX) {
        row->results[row->result_count].result = result;
        row->results[row->result_count++].count = 1;
    }
}

/* ZE_RESULT_NOT_READY is an answer, not a failure. */
static bool is_failure(int32_t result)
{
    return result != 0 && result != 1;
}

static void row_add(struct zs_call_row *row, const struct zs_call *call)
{
    row->count++;
    if (!call->finished) {
        row->unfinished++;
        return;
    }
    row->total_ns += call->duration_ns;
    row->min_ns = ZS_MIN(row->min_ns, call->duration_ns);
    row->max_ns = ZS_MAX(row->max_ns, call->duration_ns);
    row->buckets[bucket_of(call->duration_ns)]++;
    if (is_failure(call->result))
        count_result(row, call->result);
}

static int load_file(struct loader *l, int fd)
{
    struct zs_calls *calls = malloc(sizeof(*calls));
    struct zs_call call;
    if (!calls)
        return -ENOMEM;
    int error = zs_calls_open_fd(calls, fd);
    while (!error && zs_calls_next(calls, &call)) {
        struct zs_call_row *row = row_find(l, calls, call.name, &error);
        if (!row)
            continue;
        row_add(row, &call);
        if (!l->table->first_ns || call.start_ns < l->table->first_ns)
            l->table->first_ns = call.start_ns;
        l->table->last_ns = ZS_MAX(l->table->last_ns, call.start_ns + call.duration_ns);
    }
    l->table->lost += calls->lost;
    l->table->damaged_files += calls->reader.damaged;
    zs_calls_close(calls);
    free(calls);
    return error;
}

static int compare_total(const void *a, const void *b)
{
    const struct zs_call_row *x = *(struct zs_call_row *const *)a,
                             *y = *(struct zs_call_row *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int compare_count(const void *a, const void *b)
{
    const struct zs_call_row *x = *(struct zs_call_row *const *)a,
                             *y = *(struct zs_call_row *const *)b;
    return x->count == y->count ? compare_total(a, b) : x->count < y->count ? 1 : -1;
}

static uint64_t mean_ns(const struct zs_call_row *row)
{
    uint64_t finished = row->count - row->unfinished;
    return finished ? row->total_ns / finished : 0;
}

static int compare_mean(const void *a, const void *b)
{
    uint64_t x = mean_ns(*(struct zs_call_row *const *)a);
    uint64_t y = mean_ns(*(struct zs_call_row *const *)b);
    return x == y ? compare_total(a, b) : x < y ? 1 : -1;
}

static int compare_name(const void *a, const void *b)
{
    const struct zs_call_row *x = *(struct zs_call_row *const *)a,
                             *y = *(struct zs_call_row *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int (*const comparers[])(const void *, const void *) = {
    [ZS_CALLS_BY_TOTAL] = compare_total,
    [ZS_CALLS_BY_COUNT] = compare_count,
    [ZS_CALLS_BY_MEAN] = compare_mean,
    [ZS_CALLS_BY_NAME] = compare_name,
};

static int load_files(struct loader *l, const char *recording, struct zs_diag *diag)
{
    struct zs_traces traces;
    int error = zs_traces_open(recording, &traces, diag);
    if (error)
        return error;
    for (size_t i = 0; i < traces.count && !error; i++) {
        int fd = zs_traces_open_file(&traces, i, NULL);
        if (fd < 0) {
            l->table->damaged_files++;
            continue;
        }
        error = load_file(l, fd);
        close(fd);
    }
    zs_traces_close(&traces);
    return error;
}

int zs_call_table_load(const char *recording, const struct zs_call_options *options,
                       struct zs_call_table *ret_table, struct zs_diag *diag)
{
    *ret_table = (struct zs_call_table){0};
    zs_arena_init(&ret_table->arena, 0);
    struct loader l = {.options = options, .table = ret_table};
    l.filters = calloc(options->filter_count + 1, sizeof(*l.filters));
    int error = l.filters ? 0 : -ENOMEM;
    size_t compiled = 0;
    for (; !error && compiled < options->filter_count; compiled++) {
        int code =
            regcomp(&l.filters[compiled], options->filters[compiled], REG_EXTENDED | REG_NOSUB);
        char text[128];
        if (!code)
            continue;
        regerror(code, &l.filters[compiled], text, sizeof(text));
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "'%s': %s",
                            options->filters[compiled], text);
        break;
    }
    if (!error)
        error = load_files(&l, recording, diag);
    while (compiled > 0)
        regfree(&l.filters[--compiled]);
    free(l.filters);
    if (!error && ret_table->count)
        qsort(ret_table->rows, ret_table->count, sizeof(*ret_table->rows),
              comparers[options->order]);
    if (error)
        zs_call_table_free(ret_table);
    return error;
}

void zs_call_table_free(struct zs_call_table *table)
{
    zs_arena_fini(&table->arena);
    free(table->rows);
    table->rows = NULL;
    table->count = 0;
}

void zs_format_duration(struct zs_buf *out, uint64_t ns)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    size_t i = ns < 1000 ? 0 : ns < 1000000 ? 1 : ns < 1000000000 ? 2 : 3;
    double value = (double)ns / units[i].scale;
    int decimals = i == 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
    zs_buf_printf(out, "%6.*f %-2s", decimals, value, units[i].unit);
}

void zs_call_table_text(const struct zs_call_table *table, bool color, struct zs_buf *out)
{
    const char *bold = color ? "\033[1m" : "", *red = color ? "\033[31m" : "",
               *plain = color ? "\033[0m" : "";
    uint64_t all_ns = 0;
    bool per_thread = table->count && table->rows[0]->tid;
    for (size_t i = 0; i < table->count; i++)
        all_ns += table->rows[i]->total_ns;
    zs_buf_printf(out, "%s%6s  %9s  %9s  %9s  %9s  %9s  %9s  %9s  %8s  %s%s%s\n", bold, "time",
                  "total", "count", "mean", "min", "median", "99 %", "max", "failed",
                  per_thread ? "thread    " : "", "call", plain);
    for (size_t i = 0; i < table->count; i++) {
        const struct zs_call_row *r = table->rows[i];
        const uint64_t times[] = {mean_ns(r), r->min_ns == UINT64_MAX ? 0 : r->min_ns,
                                  zs_call_percentile_ns(r, 50), zs_call_percentile_ns(r, 99),
                                  r->max_ns};
        zs_buf_printf(out, "%5.1f%%  ",
                      all_ns ? 100.0 * (double)r->total_ns / (double)all_ns : 0.0);
        zs_format_duration(out, r->total_ns);
        zs_buf_printf(out, "  %9" PRIu64, r->count);
        for (size_t k = 0; k < ZS_ARRAY_LEN(times); k++) {
            zs_buf_puts(out, "  ");
            zs_format_duration(out, times[k]);
        }
        zs_buf_printf(out, "  %s%8" PRIu64 "%s  ", r->failed ? red : "", r->failed,
                      r->failed ? plain : "");
        if (per_thread)
            zs_buf_printf(out, "%-9u ", r->tid);
        zs_buf_puts(out, r->name);
        for (uint32_t k = 0; k < r->result_count; k++) {
            const char *name = zs_api_enum_name("ze_result_t", r->results[k].result);
            zs_buf_printf(out, "%s%s%s x%" PRIu64 "%s", k ? ", " : "  ", red,
                          name ? name : "unknown result", r->results[k].count, plain);
        }
        zs_buf_puts(out, r->unfinished ? "  (never returned)\n" : "\n");
    }
}

void zs_call_table_csv(const struct zs_call_table *table, struct zs_buf *out)
{
    zs_buf_puts(out, "name,pid,tid,count,failed,unfinished,total_ns,mean_ns,min_ns,median_ns,"
                     "p90_ns,p99_ns,max_ns\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct zs_call_row *r = table->rows[i];
        zs_buf_printf(out, "%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                      r->name, r->pid, r->tid, r->count, r->failed, r->unfinished, r->total_ns,
                      mean_ns(r));
        zs_buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                      r->min_ns == UINT64_MAX ? 0 : r->min_ns, zs_call_percentile_ns(r, 50),
                      zs_call_percentile_ns(r, 90), zs_call_percentile_ns(r, 99), r->max_ns);
    }
}

void zs_call_table_json(const struct zs_call_table *table, struct zs_json *json)
{
    zs_json_array(json, "calls");
    for (size_t i = 0; i < table->count; i++) {
        const struct zs_call_row *r = table->rows[i];
        zs_json_object(json, NULL);
        zs_json_string(json, "name", r->name);
        if (r->tid) {
            zs_json_u64(json, "pid", r->pid);
            zs_json_u64(json, "tid", r->tid);
        }
        zs_json_u64(json, "count", r->count);
        zs_json_u64(json, "failed", r->failed);
        zs_json_u64(json, "unfinished", r->unfinished);
        zs_json_u64(json, "total_ns", r->total_ns);
        zs_json_u64(json, "mean_ns", mean_ns(r));
        zs_json_u64(json, "min_ns", r->min_ns == UINT64_MAX ? 0 : r->min_ns);
        zs_json_u64(json, "median_ns", zs_call_percentile_ns(r, 50));
        zs_json_u64(json, "p90_ns", zs_call_percentile_ns(r, 90));
        zs_json_u64(json, "p99_ns", zs_call_percentile_ns(r, 99));
        zs_json_u64(json, "max_ns", r->max_ns);
        zs_json_object(json, "results");
        for (uint32_t k = 0; k < r->result_count; k++) {
            const char *name = zs_api_enum_name("ze_result_t", r->results[k].result);
            zs_json_u64(json, name ? name : "unknown", r->results[k].count);
        }
        zs_json_end(json);
        zs_json_end(json);
    }
    zs_json_end(json);
}
