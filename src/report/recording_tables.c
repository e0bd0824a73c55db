/* SPDX-License-Identifier: MIT */
/* From groups to cells: which columns the tables have, and what stands in them. */
#include "report/failed_builds.h"
#include "report/recording_priv.h"

#include <zescope/record.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct report_key report_keys[KEYS] = {
    [KEY_CALL] = {"call", {"name", "call", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_RESULT] = {"result", {"result", "result", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_KERNEL] = {"kernel", {"name", "kernel", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_MODULE] = {"module", {"module", "module", ZS_CELL_TEXT, DATA_ONLY | ZS_COLUMN_NAMES}},
    [KEY_DIRECTION] = {"direction",
                       {"direction", "direction", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_KIND] = {"kind", {"name", "kind", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_DEVICE] = {"device", {"device", "device", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_QUEUE] = {"queue", {"queue", "queue", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_ENGINE] = {"engine", {"engine", "engine", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_SHAPE] = {"shape",
                   {"shape", "groups of size", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_SIMD] = {"simd", {"simd", "SIMD", ZS_CELL_ID, EVERYWHERE}},
    [KEY_SIZE] = {"size", {"size", "size", ZS_CELL_BYTES, EVERYWHERE}},
    [KEY_LIST] = {"list", {"list", "list", ZS_CELL_HEX, EVERYWHERE}},
    [KEY_MARK] = {"mark", {"name", "mark or range", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_CALLER] = {"caller",
                    {"caller", "called from", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_BACKTRACE] = {"backtrace",
                       {"backtrace", "backtrace", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}},
    [KEY_PROCESS] = {"process", {"pid", "process", ZS_CELL_ID, EVERYWHERE}},
    [KEY_THREAD] = {"thread", {"tid", "thread", ZS_CELL_ID, EVERYWHERE}},
};

/* What is shown of a group. */
enum metric {
    METRIC_SHARE,
    METRIC_TOTAL,
    METRIC_COUNT,
    METRIC_ALLOCATIONS,
    METRIC_FREES,
    METRIC_TIMED,
    METRIC_FAILED,
    METRIC_UNFINISHED,
    METRIC_BYTES,
    METRIC_PEAK,
    METRIC_LEFT,
    METRIC_RATE,
    METRIC_MEAN,
    METRIC_MIN,
    METRIC_MEDIAN,
    METRIC_P90,
    METRIC_P99,
    METRIC_MAX,
    METRIC_TO_SUBMIT,
    METRIC_TO_START,
    METRIC_TO_SUBMIT_MAX,
    METRIC_TO_START_MAX,
    METRIC_LIFETIME,
    METRIC_FIRST,
    METRIC_LAST,
    METRIC_HISTOGRAM,
    METRIC_RESULTS,
    METRICS
};

static const struct zs_table_column metrics[METRICS] = {
    [METRIC_SHARE] = {"share", "time", ZS_CELL_PERCENT, EVERYWHERE},
    [METRIC_TOTAL] = {"total_ns", "total", ZS_CELL_NS, EVERYWHERE},
    [METRIC_COUNT] = {"count", "count", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_ALLOCATIONS] = {"allocations", "allocations", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_FREES] = {"frees", "frees", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_TIMED] = {"timed", "timed", ZS_CELL_COUNT, DATA_ONLY},
    [METRIC_FAILED] = {"failed", "failed", ZS_CELL_COUNT, EVERYWHERE},
    [METRIC_UNFINISHED] = {"unfinished", "unfinished", ZS_CELL_COUNT, DATA_ONLY},
    [METRIC_BYTES] = {"total_B", "bytes", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_PEAK] = {"peak_B", "peak bytes", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_LEFT] = {"left_B", "never freed", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_RATE] = {"B_per_s", "bytes/s", ZS_CELL_BYTES, EVERYWHERE},
    [METRIC_MEAN] = {"mean_ns", "mean", ZS_CELL_NS, EVERYWHERE},
    [METRIC_MIN] = {"min_ns", "min", ZS_CELL_NS, EVERYWHERE},
    [METRIC_MEDIAN] = {"median_ns", "median", ZS_CELL_NS, EVERYWHERE},
    [METRIC_P90] = {"p90_ns", "90 %", ZS_CELL_NS, DATA_ONLY},
    [METRIC_P99] = {"p99_ns", "99 %", ZS_CELL_NS, EVERYWHERE},
    [METRIC_MAX] = {"max_ns", "max", ZS_CELL_NS, EVERYWHERE},
    [METRIC_TO_SUBMIT] = {"append_to_submit_ns", "to submit", ZS_CELL_NS, EVERYWHERE},
    [METRIC_TO_START] = {"submit_to_start_ns", "to start", ZS_CELL_NS, EVERYWHERE},
    [METRIC_TO_SUBMIT_MAX] = {"append_to_submit_max_ns", "to submit, max", ZS_CELL_NS, DATA_ONLY},
    [METRIC_TO_START_MAX] = {"submit_to_start_max_ns", "to start, max", ZS_CELL_NS, DATA_ONLY},
    [METRIC_LIFETIME] = {"lifetime_ns", "lifetime", ZS_CELL_NS, EVERYWHERE},
    [METRIC_FIRST] = {"first_ns", "from", ZS_CELL_TIME, EVERYWHERE},
    [METRIC_LAST] = {"last_ns", "until", ZS_CELL_TIME, EVERYWHERE},
    [METRIC_HISTOGRAM] = {"histogram", "min to max", ZS_CELL_TIMES,
                          ZS_COLUMN_IN_TEXT | ZS_COLUMN_IN_JSON},
    [METRIC_RESULTS] = {"results", "", ZS_CELL_RESULTS, EVERYWHERE | ZS_COLUMN_NAMES},
};

#define SHOW(metric) (1u << METRIC_##metric)
enum {
    SHOW_TIMES =
        SHOW(TOTAL) | SHOW(MEAN) | SHOW(MIN) | SHOW(MEDIAN) | SHOW(P90) | SHOW(P99) | SHOW(MAX),
    SHOW_ACTIVITY = SHOW(COUNT) | SHOW(TIMED) | SHOW_TIMES | SHOW(TO_SUBMIT) | SHOW(TO_START) |
                    SHOW(TO_SUBMIT_MAX) | SHOW(TO_START_MAX),
    SHOW_MEMORY = SHOW(ALLOCATIONS) | SHOW(FREES) | SHOW(BYTES) | SHOW(PEAK) | SHOW(LEFT),
};

const struct report_table report_tables[ZS_REPORT_TABLES] = {
    [ZS_REPORT_CALLS] = {"calls", BIT(CALL), BIT(CALL) | BIT(RESULT) | ORIGIN_KEYS,
                         SHOW(SHARE) | SHOW_TIMES | SHOW(COUNT) | SHOW(FAILED) | SHOW(UNFINISHED) |
                             SHOW(RESULTS),
                         METRIC_TOTAL},
    [ZS_REPORT_KERNELS] = {"kernels",
                           BIT(KERNEL) | BIT(MODULE) | BIT(DEVICE) | BIT(SHAPE) | BIT(SIMD),
                           BIT(KERNEL) | BIT(MODULE) | BIT(SHAPE) | BIT(SIMD) | PLACE_KEYS,
                           SHOW(SHARE) | SHOW_ACTIVITY | SHOW(HISTOGRAM), METRIC_TOTAL},
    [ZS_REPORT_COPIES] = {"copies", BIT(DIRECTION) | BIT(DEVICE),
                          BIT(DIRECTION) | BIT(SIZE) | PLACE_KEYS,
                          SHOW_ACTIVITY | SHOW(BYTES) | SHOW(RATE), METRIC_TOTAL},
    [ZS_REPORT_BARRIERS] = {"barriers", BIT(KIND) | BIT(DEVICE), BIT(KIND) | PLACE_KEYS,
                            SHOW_ACTIVITY, METRIC_TOTAL},
    [ZS_REPORT_MEMORY] = {"memory", BIT(KIND), BIT(KIND) | ORIGIN_KEYS, SHOW_MEMORY,
                          METRIC_ALLOCATIONS},
    [ZS_REPORT_ALLOCATIONS] = {"allocations", BIT(KIND) | BIT(SIZE),
                               BIT(KIND) | BIT(SIZE) | ORIGIN_KEYS, SHOW_MEMORY | SHOW(LIFETIME),
                               METRIC_BYTES},
    [ZS_REPORT_LEAKS] = {"leaks", 0, BIT(KIND) | BIT(SIZE) | ORIGIN_KEYS, SHOW(COUNT) | SHOW(BYTES),
                         METRIC_BYTES},
    [ZS_REPORT_BUILDS] = {"builds", 0, BIT(RESULT) | ORIGIN_KEYS,
                          SHOW_TIMES | SHOW(COUNT) | SHOW(FAILED), METRIC_TOTAL},
    [ZS_REPORT_MARKS] = {"marks", BIT(MARK), BIT(MARK) | THREAD_KEYS, SHOW(COUNT) | SHOW_TIMES,
                         METRIC_TOTAL},
    [ZS_REPORT_PAUSES] = {"pauses", 0, 0, 0, METRIC_TOTAL},
    [ZS_REPORT_METRICS] = {"metrics", 0, 0, 0, METRIC_TOTAL},
    [ZS_REPORT_THREADS] = {"threads", THREAD_KEYS, 0,
                           SHOW(SHARE) | SHOW(TOTAL) | SHOW(COUNT) | SHOW(FAILED) | SHOW(FIRST) |
                               SHOW(LAST),
                           METRIC_TOTAL},
};

/* ---- groups to cells ---- */

static struct zs_cell number(bool known, uint64_t value)
{
    return (struct zs_cell){.known = known, .number = value};
}

static struct zs_cell percentile(const struct zs_times *times, double percent)
{
    uint64_t ns;
    bool known = zs_times_percentile(times, percent, &ns);
    return number(known, ns);
}

static struct zs_cell metric_cell(const struct zs_group *g, enum metric metric, uint64_t all_ns)
{
    const struct zs_times *t = &g->times;
    uint64_t n = ZS_MAX(t->count, 1u);
    bool timed = t->count;
    switch (metric) {
    case METRIC_SHARE:
        return number(all_ns && timed,
                      all_ns ? (uint64_t)((double)t->total_ns * 10000 / (double)all_ns + .5) : 0);
    case METRIC_TOTAL:
        return number(timed, t->total_ns);
    case METRIC_COUNT:
    case METRIC_ALLOCATIONS:
        return number(true, g->count);
    case METRIC_FREES:
        return number(true, g->frees);
    case METRIC_TIMED:
        return number(true, t->count);
    case METRIC_FAILED:
        return number(true, g->failed);
    case METRIC_UNFINISHED:
        return number(true, g->unfinished);
    case METRIC_PEAK:
        return number(true, g->peak_B);
    case METRIC_LEFT:
        return number(true, g->left_B);
    case METRIC_RATE:
        return number(g->has_bytes && t->total_ns && t->count == g->count,
                      t->total_ns ? (uint64_t)((double)g->bytes * 1e9 / (double)t->total_ns) : 0);
    case METRIC_MEAN:
    case METRIC_LIFETIME:
        return number(timed, t->total_ns / n);
    case METRIC_MIN:
        return number(timed, t->min_ns);
    case METRIC_MAX:
        return number(timed, t->max_ns);
    case METRIC_MEDIAN:
        return percentile(t, 50);
    case METRIC_P90:
        return percentile(t, 90);
    case METRIC_P99:
        return percentile(t, 99);
    case METRIC_TO_SUBMIT:
        return number(timed, g->to_submit_ns / n);
    case METRIC_TO_START:
        return number(timed, g->to_start_ns / n);
    case METRIC_TO_SUBMIT_MAX:
        return number(timed, g->to_submit_max_ns);
    case METRIC_TO_START_MAX:
        return number(timed, g->to_start_max_ns);
    case METRIC_FIRST:
        return number(true, g->first_ns);
    case METRIC_LAST:
        return number(true, g->last_ns);
    case METRIC_HISTOGRAM:
        return (struct zs_cell){.known = t->buckets || t->count == 1, .times = t};
    case METRIC_RESULTS:
        return (struct zs_cell){.known = true, .results = {g->results, g->result_count}};
    default:
        return number(false, 0);
    }
}

static struct zs_cell bytes_cell(const struct zs_group *g, enum zs_report_table table)
{
    bool memory = table == ZS_REPORT_MEMORY || table == ZS_REPORT_ALLOCATIONS;
    return number(memory || g->has_bytes, g->bytes);
}

static struct zs_cell key_cell(struct zs_report *r, enum key key, uint64_t value)
{
    if (key == KEY_BACKTRACE) {
        const char *text = report_backtrace(r, (uint32_t)value);
        return (struct zs_cell){.known = text != NULL, .text = text};
    }
    if (key == KEY_SHAPE && value)
        return (struct zs_cell){.known = true,
                                .text = ((const struct shape *)(uintptr_t)value)->text};
    if (key == KEY_SHAPE)
        return (struct zs_cell){.known = true, .text = "n/a of n/a"};
    if (report_keys[key].column.kind == ZS_CELL_TEXT)
        return (struct zs_cell){.known = value != 0, .text = (const char *)(uintptr_t)value};
    if (key == KEY_SIZE)
        return number(value != 0, value - 1);
    return number(value != 0, key == KEY_PROCESS ? (uint32_t)value : value);
}

enum { COLUMNS_MAX = 40, SHOWN_TOGETHER_MAX = 20 };

struct builder {
    struct zs_report *r;
    enum zs_report_table table;
    struct zs_table_column columns[COLUMNS_MAX];
    size_t count;
};

static void add_column(struct builder *b, struct zs_table_column column)
{
    zs_assert(b->count < COLUMNS_MAX);
    b->columns[b->count++] = column;
}

/* Kernels of one name may be of several modules: then the text says which. */
static bool has_several(const struct zs_groups *g, size_t at)
{
    for (size_t i = 1; i < g->count; i++)
        if (g->items[i]->keys[at] != g->items[0]->keys[at])
            return true;
    return false;
}

bool zs_report_is_estimated(const struct zs_report *r)
{
    const struct zs_recordings *all = zs_report_recordings(r);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].recording &&
            !strcmp(zs_recording_info(all->items[i].recording)->clock, "formula"))
            return true;
    return false;
}

static void group_columns(struct builder *b)
{
    size_t at = 0;
    static const struct zs_table_column groups = {"groups", "", ZS_CELL_TRIPLE, ZS_COLUMN_IN_JSON},
                                        size = {"group_size", "", ZS_CELL_TRIPLE,
                                                ZS_COLUMN_IN_JSON};
    for (uint32_t left = b->r->keys[b->table]; left; left &= left - 1) {
        int key = __builtin_ctz(left);
        struct zs_table_column column = report_keys[key].column;
        if (key == KEY_KIND && b->table != ZS_REPORT_MEMORY && b->table != ZS_REPORT_BARRIERS)
            column.key = b->table == ZS_REPORT_LEAKS ? "type" : "kind";
        if (key == KEY_MODULE && has_several(&b->r->groups[b->table], at))
            column.where |= ZS_COLUMN_IN_TEXT;
        at++;
        add_column(b, column);
        if (key == KEY_SHAPE) {
            add_column(b, groups);
            add_column(b, size);
        }
    }
    bool estimated = b->table == ZS_REPORT_KERNELS && zs_report_is_estimated(b->r);
    for (int m = 0; m < METRICS; m++) {
        struct zs_table_column column = metrics[m];
        if (estimated && m == METRIC_TOTAL)
            column.title = "total, estimated from counts";
        if (report_tables[b->table].metrics & 1u << m)
            add_column(b, column);
    }
    if (b->table == ZS_REPORT_THREADS) {
        add_column(b, (struct zs_table_column){"thread_name", "name", ZS_CELL_TEXT,
                                               EVERYWHERE | ZS_COLUMN_NAMES});
        add_column(b, (struct zs_table_column){"process_name", "of process", ZS_CELL_TEXT,
                                               EVERYWHERE | ZS_COLUMN_NAMES});
    }
}

static struct zs_cell triple_cell(const uint32_t *triple)
{
    return (struct zs_cell){.known = triple[0] != 0, .triple = triple};
}

static void group_cells(const struct builder *b, const struct zs_group *g, uint64_t all_ns,
                        struct zs_cell *cell)
{
    static const struct shape unknown;
    size_t at = 0;
    for (uint32_t left = b->r->keys[b->table]; left; left &= left - 1) {
        enum key key = (enum key)__builtin_ctz(left);
        *cell++ = key_cell(b->r, key, g->keys[at]);
        if (key == KEY_SHAPE) {
            const struct shape *s =
                g->keys[at] ? (const struct shape *)(uintptr_t)g->keys[at] : &unknown;
            *cell++ = triple_cell(s->groups);
            *cell++ = triple_cell(s->size);
        }
        at++;
    }
    for (int m = 0; m < METRICS; m++)
        if (report_tables[b->table].metrics & 1u << m)
            *cell++ = m == METRIC_BYTES ? bytes_cell(g, b->table)
                                        : metric_cell(g, (enum metric)m, all_ns);
    if (b->table == ZS_REPORT_THREADS) {
        const struct names *n = zs_id_map_get(&b->r->threads, g->keys[0], g->keys[1]);
        *cell++ = (struct zs_cell){.known = n && n->thread[0], .text = n ? n->thread : NULL};
        *cell++ = (struct zs_cell){.known = n && n->image[0], .text = n ? n->image : NULL};
    }
}

#define WHERE (SIZE_MAX - 1)
/* Columns of leaks, builds, pauses: the index of the item's value, SIZE_MAX for its text, WHERE for
 * its place in the application. */
static const struct {
    enum zs_report_table table;
    struct zs_table_column column;
    size_t value;
} item_columns[] = {
    {ZS_REPORT_LEAKS, {"type", "type", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}, SIZE_MAX},
    {ZS_REPORT_LEAKS, {"handle", "never destroyed", ZS_CELL_HEX, EVERYWHERE | ZS_COLUMN_NAMES}, 5},
    {ZS_REPORT_LEAKS, {"size_B", "bytes", ZS_CELL_BYTES, EVERYWHERE}, 4},
    {ZS_REPORT_LEAKS, {"pid", "process", ZS_CELL_ID, EVERYWHERE}, 1},
    {ZS_REPORT_LEAKS, {"tid", "thread", ZS_CELL_ID, EVERYWHERE}, 2},
    {ZS_REPORT_LEAKS, {"call", "call", ZS_CELL_ID, EVERYWHERE}, 3},
    {ZS_REPORT_LEAKS, {"time_ns", "created at s", ZS_CELL_TIME, EVERYWHERE}, 0},
    {ZS_REPORT_LEAKS,
     {"caller", "created from", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES | ZS_COLUMN_IF_KNOWN},
     WHERE},
    {ZS_REPORT_BUILDS, {"pid", "process", ZS_CELL_ID, EVERYWHERE}, 1},
    {ZS_REPORT_BUILDS, {"tid", "thread", ZS_CELL_ID, EVERYWHERE}, 2},
    {ZS_REPORT_BUILDS, {"time_ns", "module build at s", ZS_CELL_TIME, EVERYWHERE}, 0},
    {ZS_REPORT_BUILDS, {"duration_ns", "took", ZS_CELL_NS, EVERYWHERE}, 3},
    {ZS_REPORT_BUILDS, {"result", "result", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}, SIZE_MAX},
    {ZS_REPORT_BUILDS,
     {"caller", "called from", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES | ZS_COLUMN_IF_KNOWN},
     WHERE},
    {ZS_REPORT_PAUSES, {"pid", "process", ZS_CELL_ID, EVERYWHERE}, 0},
    {ZS_REPORT_PAUSES, {"start_ns", "paused at s", ZS_CELL_TIME, EVERYWHERE}, 1},
    {ZS_REPORT_PAUSES, {"end_ns", "until", ZS_CELL_TIME, EVERYWHERE}, 2},
    {ZS_REPORT_PAUSES, {"reason", "by", ZS_CELL_TEXT, EVERYWHERE | ZS_COLUMN_NAMES}, SIZE_MAX},
};

static void item_columns_of(struct builder *b)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(item_columns); i++)
        if (item_columns[i].table == b->table)
            add_column(b, item_columns[i].column);
}

static struct zs_cell where_cell(const struct builder *b, uint32_t where)
{
    const char *text = report_caller(b->r, where);
    return (struct zs_cell){.known = text != NULL, .text = text};
}

static void item_cells(const struct builder *b, const struct item *item, struct zs_cell *cell)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(item_columns); i++) {
        if (item_columns[i].table != b->table)
            continue;
        size_t at = item_columns[i].value;
        if (at == SIZE_MAX)
            *cell++ = (struct zs_cell){.known = true, .text = item->text};
        else if (at == WHERE)
            *cell++ = where_cell(b, item->where);
        else if (b->table == ZS_REPORT_PAUSES)
            *cell++ = number(item->values[at] != 0, item->values[at]);
        else if (item_columns[i].column.kind == ZS_CELL_BYTES)
            *cell++ = number(item->values[at] != 0, item->values[at] - 1);
        else
            *cell++ = number(true, item->values[at]);
    }
}

static uint64_t order_value(const struct zs_group *g, enum metric metric)
{
    return metric == METRIC_TOTAL   ? g->times.total_ns
           : metric == METRIC_BYTES ? g->bytes
                                    : g->count;
}

static int compare_groups(const void *a, const void *b, void *user)
{
    const struct zs_group *x = *(struct zs_group *const *)a, *y = *(struct zs_group *const *)b;
    enum metric metric = (enum metric)report_tables[*(const enum zs_report_table *)user].order;
    uint64_t p = order_value(x, metric), q = order_value(y, metric);
    if (p != q)
        return p < q ? 1 : -1;
    return x->count == y->count ? 0 : x->count < y->count ? 1 : -1;
}

/* Points in time count from the first call; what was before it has a minus. */
static void count_from(struct zs_table *t, uint64_t zero_ns)
{
    for (size_t c = 0; c < t->column_count; c++)
        for (size_t row = 0; row < t->row_count && t->columns[c].kind == ZS_CELL_TIME; row++)
            t->cells[row * t->column_count + c].number -= zero_ns;
}

static int build_table(struct zs_report *r, enum zs_report_table table)
{
    struct builder b = {.r = r, .table = table};
    struct zs_groups *groups = &r->groups[table];
    struct zs_table *t = &r->tables[table];
    bool grouped = r->keys[table] != 0;
    uint64_t all_ns = 0;
    if (table == ZS_REPORT_METRICS)
        return report_metrics_table(r);
    if (grouped)
        group_columns(&b);
    else
        item_columns_of(&b);
    t->name = report_tables[table].name;
    t->row_count = grouped ? groups->count : r->items[table].count;
    t->column_count = b.count;
    t->columns = ZS_ARENA_ARRAY(&r->arena, b.count, struct zs_table_column);
    t->cells = calloc(t->row_count * b.count + 1, sizeof(*t->cells));
    if (!t->columns || !t->cells)
        return -ENOMEM;
    memcpy(t->columns, b.columns, b.count * sizeof(*b.columns));
    if (groups->count && table != ZS_REPORT_MEMORY)
        qsort_r(groups->items, groups->count, sizeof(struct zs_group *), compare_groups, &table);
    for (size_t i = 0; i < groups->count; i++)
        all_ns += groups->items[i]->times.total_ns;
    for (size_t i = 0; i < t->row_count; i++) {
        if (grouped)
            group_cells(&b, groups->items[i], all_ns, &t->cells[i * b.count]);
        else
            item_cells(&b, &r->items[table].items[i], &t->cells[i * b.count]);
    }
    count_from(t, r->totals.first_ns);
    return 0;
}

/* Columns that rows can be sorted by, each once, without their units. Those of metrics are their
 * own table's alone: of the whole report a sentence has no room for them. */
static void list_columns(const struct zs_report *r, int only, struct zs_buf *out)
{
    struct zs_buf name = {0};
    for (int t = 0; t < ZS_REPORT_TABLES; t++)
        for (size_t c = 0;
             c < r->tables[t].column_count && (only < 0 ? t != ZS_REPORT_METRICS : only == t);
             c++) {
            const struct zs_table_column *column = &r->tables[t].columns[c];
            size_t length = strlen(column->key);
            if (column->kind == ZS_CELL_TRIPLE || column->kind == ZS_CELL_RESULTS ||
                column->kind == ZS_CELL_TIMES)
                continue;
            length -= length > 3 && !strcmp(column->key + length - 3, "_ns") ? 3 : 0;
            name.size_B = 0;
            zs_buf_printf(&name, " %.*s,", (int)length, column->key);
            if (!strstr(zs_buf_cstr(out), zs_buf_cstr(&name)))
                zs_buf_puts(out, zs_buf_cstr(&name));
        }
    zs_buf_fini(&name);
    out->size_B -= out->size_B ? 1 : 0;
}

static int no_column(const struct zs_report *r, int only, const char *text, struct zs_diag *diag)
{
    struct zs_buf names = {0};
    list_columns(r, only, &names);
    int error =
        zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "'%.60s': there is no such column; %s has%s",
                    text, only < 0 ? "the report" : report_tables[only].name, zs_buf_cstr(&names));
    zs_buf_fini(&names);
    return error;
}

int report_apply_view(struct zs_report *r, const struct zs_report_options *o, struct zs_diag *diag)
{
    bool *used = calloc(o->view.where_count + 1, sizeof(*used));
    int error = used ? 0 : -ENOMEM;
    for (int t = 0; t < ZS_REPORT_TABLES && !error; t++)
        if (o->only < 0 || o->only == t)
            error = zs_table_apply(&r->tables[t], &o->view, used, diag);
    for (size_t i = 0; i < o->view.where_count && !error; i++)
        if (!used[i])
            error = no_column(r, o->only, o->view.where[i], diag);
    if (!error && o->view.sort && !used[o->view.where_count])
        error = no_column(r, o->only, o->view.sort, diag);
    free(used);
    return error;
}

int report_build_tables(struct zs_report *r)
{
    int error = 0;
    for (int t = 0; t < ZS_REPORT_TABLES && !error; t++)
        error = build_table(r, (enum zs_report_table)t);
    return error;
}

static bool is_activity(int table)
{
    return table == ZS_REPORT_KERNELS || table == ZS_REPORT_COPIES || table == ZS_REPORT_BARRIERS;
}

const char *zs_report_no_activity(const struct zs_report *r, int table)
{
    bool all_without_trace = r->recordings.count, all_without = r->recordings.count;
    if (r->totals.activity || (table >= 0 && !is_activity(table)))
        return NULL;
    for (uint32_t i = 0; i < r->recordings.count; i++) {
        const struct zs_recording *recording = r->recordings.items[i].recording;
        const struct zs_recording_info *info = recording ? zs_recording_info(recording) : NULL;
        all_without_trace &= info && info->no_trace;
        all_without &= info && info->no_activity;
    }
    return all_without_trace ? "recorded with --no-trace"
           : all_without     ? "recorded with --no-activity"
                             : "its traces have no device activity";
}

static void put_failed_builds(const struct zs_report *r, struct zs_buf *out)
{
    enum { LINES_MAX = 40 };
    struct zs_buf text = {0};
    for (uint32_t i = 0; i < r->recordings.count; i++)
        if (r->recordings.items[i].recording)
            zs_failed_builds_text(r->recordings.items[i].recording, LINES_MAX, &text);
    if (text.size_B)
        zs_buf_printf(out, "\n%.*s", (int)text.size_B, (const char *)text.data);
    out->error = out->error ? out->error : text.error;
    zs_buf_fini(&text);
}

static void json_failed_builds(const struct zs_report *r, struct zs_json *json)
{
    zs_json_array(json, "failed_builds");
    for (uint32_t i = 0; i < r->recordings.count; i++)
        if (r->recordings.items[i].recording)
            zs_failed_builds_json(r->recordings.items[i].recording, json);
    zs_json_end(json);
}

void zs_report_text(const struct zs_report *r, int only, bool color, struct zs_buf *out)
{
    bool some = false;
    if (only >= 0 && zs_report_no_activity(r, only)) {
        zs_buf_printf(out, "n/a: %s\n", zs_report_no_activity(r, only));
        return;
    }
    if (only >= 0) {
        zs_table_text(&r->tables[only], color, out);
        return;
    }
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        if (!r->tables[t].row_count && t != ZS_REPORT_CALLS)
            continue;
        if (t == ZS_REPORT_MEMORY && !r->peak_B)
            continue;
        if (some)
            zs_buf_putc(out, '\n');
        some = true;
        zs_buf_printf(out, "%s%s%s\n", color ? "\033[1;4m" : "", report_tables[t].name,
                      color ? "\033[0m" : "");
        struct zs_table shown = r->tables[t];
        bool is_long = t >= ZS_REPORT_ALLOCATIONS && shown.row_count > SHOWN_TOGETHER_MAX;
        if (is_long) {
            shown.left_out += shown.row_count - SHOWN_TOGETHER_MAX;
            shown.row_count = SHOWN_TOGETHER_MAX;
        }
        zs_table_text(&shown, color, out);
    }
    put_failed_builds(r, out);
    if (zs_report_no_activity(r, -1))
        zs_buf_printf(out, "\nkernels, copies, barriers: n/a (%s)\n", zs_report_no_activity(r, -1));
}

/* Rows that a limit cut off, where there are any. */
static void json_left_out(const struct zs_report *r, int only, struct zs_json *json)
{
    zs_json_object(json, "left_out");
    for (int t = 0; t < ZS_REPORT_TABLES; t++)
        if (r->tables[t].left_out && (only < 0 || only == t))
            zs_json_u64(json, report_tables[t].name, r->tables[t].left_out);
    zs_json_end(json);
}

void zs_report_json(const struct zs_report *r, int only, struct zs_json *json)
{
    zs_json_string(json, "schema", "zescope.report/1");
    zs_json_u64(json, "first_ns", r->totals.first_ns);
    zs_json_u64(json, "last_ns", r->totals.last_ns);
    zs_json_u64(json, "call_count", r->totals.calls);
    zs_json_u64(json, "lost_calls", r->totals.lost);
    zs_json_u64(json, "damaged_files", r->totals.damaged_files);
    json_left_out(r, only, json);
    if (only < 0 || only == ZS_REPORT_BUILDS)
        json_failed_builds(r, json);
    for (int t = 0; t < ZS_REPORT_TABLES; t++) {
        if (only >= 0 && only != t)
            continue;
        if (is_activity(t) && !r->totals.activity) {
            zs_json_null(json, report_tables[t].name);
        } else if (t == ZS_REPORT_MEMORY) {
            zs_json_object(json, "memory");
            zs_json_u64(json, "peak_B", r->peak_B);
            zs_table_json(&r->tables[t], "kinds", json);
            zs_json_end(json);
        } else {
            zs_table_json(&r->tables[t], report_tables[t].name, json);
        }
    }
}
