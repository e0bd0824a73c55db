/* SPDX-License-Identifier: MIT */
#include "report/stalls.h"

#include "base/arena.h"
#include "base/vec.h"
#include "record/builds.h"
#include "report/columns.h"
#include "report/counts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was sampled at one address. */
struct place {
    int64_t offset_B;
    double *values; /* by column of the group */
};

/* What is worked out from sums: a share of all reasons, of hits and misses the misses. */
struct derived {
    struct zs_column column;
    uint32_t hits, misses; /* columns of the group; NONE: it is the share */
};
#define NONE UINT32_MAX

/* Of one kernel and one group. */
struct kernel_stalls {
    const struct zs_kernel *kernel;
    const char *group;
    uint32_t column_count;
    struct zs_column *columns; /* names and units; [column_count] */
    uint32_t derived_count;
    struct derived *derived;
    bool sampled; /* what was not seen may have been too short; else it is 0 */
    struct {
        struct place *items;
        size_t count, capacity;
    } places; /* sorted by offset */
};

struct zs_stall_columns {
    struct zs_arena arena;
    struct zs_column_source inner;
    struct {
        struct kernel_stalls *items;
        size_t count, capacity;
    } kernels;
};

struct zs_stall_columns *zs_stall_columns_new(void)
{
    struct zs_stall_columns *c = calloc(1, sizeof(*c));
    if (c)
        zs_arena_init(&c->arena, 0);
    return c;
}

void zs_stall_columns_free(struct zs_stall_columns *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->kernels.count; i++)
        free(c->kernels.items[i].places.items);
    free(c->kernels.items);
    zs_arena_fini(&c->arena);
    free(c);
}

/* group NULL: the first of the kernel. */
static struct kernel_stalls *find(const struct zs_stall_columns *c, const struct zs_kernel *kernel,
                                  const char *group)
{
    for (size_t i = 0; i < c->kernels.count; i++)
        if (c->kernels.items[i].kernel == kernel &&
            (!group || !strcmp(c->kernels.items[i].group, group)))
            return &c->kernels.items[i];
    return NULL;
}

static const char *copy(struct zs_stall_columns *c, const char *text)
{
    return zs_arena_strndup(&c->arena, text, strlen(text));
}

/* Where threads spend their time, by the names of EU stall sampling. */
static bool is_reason(const struct zs_column *column)
{
    size_t length = strlen(column->name);
    return !strcmp(column->name, "Active") ||
           (length > 5 && !strcmp(column->name + length - 5, "Stall"));
}

/* Of "L3Hits" the "L3Misses". */
static uint32_t misses_of(const struct kernel_stalls *k, uint32_t hits, int *ret_stem)
{
    const char *name = k->columns[hits].name;
    size_t length = strlen(name);
    if (length <= 4 || strcmp(name + length - 4, "Hits"))
        return NONE;
    *ret_stem = (int)length - 4;
    for (uint32_t i = 0; i < k->column_count; i++)
        if (!strncmp(k->columns[i].name, name, length - 4) &&
            !strcmp(k->columns[i].name + length - 4, "Misses"))
            return i;
    return NONE;
}

/* False: no memory. */
static bool add_rate(struct zs_stall_columns *c, struct kernel_stalls *k, uint32_t hits,
                     uint32_t misses, int stem)
{
    char name[256], text[1024];
    snprintf(name, sizeof(name), "%.*sMissRate", stem, k->columns[hits].name);
    snprintf(text, sizeof(text), "%s, of these and %s", k->columns[misses].name,
             k->columns[hits].name);
    struct zs_column column = {.name = copy(c, name),
                               .unit = "%",
                               .description = copy(c, text),
                               .total = ZS_TOTAL_MEAN,
                               .shown = true};
    k->derived[k->derived_count++] = (struct derived){column, hits, misses};
    return column.name && column.description;
}

/* False: no memory. */
static bool derive(struct zs_stall_columns *c, struct kernel_stalls *k)
{
    static const struct derived share = {
        .column = {.name = "stalls",
                   .unit = "%",
                   .description = "of the thread cycles of the kernel",
                   .shown = true,
                   .heat = true},
        .hits = NONE,
    };
    bool ok = true;
    k->derived = ZS_ARENA_ARRAY(&c->arena, k->column_count + 1, struct derived);
    if (!k->derived)
        return false;
    for (uint32_t i = 0; i < k->column_count; i++)
        k->sampled = k->sampled || is_reason(&k->columns[i]);
    if (k->sampled)
        k->derived[k->derived_count++] = share;
    for (uint32_t i = 0; i < k->column_count && ok; i++) {
        int stem;
        uint32_t misses = misses_of(k, i, &stem);
        if (misses != NONE)
            ok = add_rate(c, k, i, misses, stem);
    }
    return ok;
}

/* Sums of the group are columns. NULL: no memory. */
static struct kernel_stalls *make(struct zs_stall_columns *c, const struct zs_kernel *kernel,
                                  const struct zs_metric_group *group)
{
    struct kernel_stalls k = {.kernel = kernel, .group = copy(c, group->name)};
    k.columns = ZS_ARENA_ARRAY(&c->arena, group->metric_count + 1, struct zs_column);
    for (uint32_t i = 0; k.columns && i < group->metric_count; i++) {
        const struct zs_metric *m = &group->metrics[i];
        if (m->total != ZS_METRIC_TOTAL_SUM)
            continue;
        struct zs_column column = {.name = copy(c, m->name),
                                   .unit = copy(c, m->units),
                                   .description = copy(c, m->description),
                                   .shown = !strcmp(m->name, "Sectors")};
        if (!column.name || !column.unit || !column.description)
            return NULL;
        k.columns[k.column_count++] = column;
    }
    return k.columns && k.group && derive(c, &k) && ZS_VEC_PUSH(&c->kernels, k)
               ? &c->kernels.items[c->kernels.count - 1]
               : NULL;
}

/* Where the offset stands, or is to stand. */
static size_t place_of(const struct kernel_stalls *k, int64_t offset_B)
{
    size_t low = 0, high = k->places.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (k->places.items[mid].offset_B < offset_B)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int add_report(struct zs_stall_columns *c, struct kernel_stalls *k,
                      const struct zs_metrics *metrics, const struct zs_metric_group *group,
                      const struct zs_metric_report *report, int64_t offset_B)
{
    size_t at = place_of(k, offset_B);
    if (at == k->places.count || k->places.items[at].offset_B != offset_B) {
        struct place fresh = {offset_B, ZS_ARENA_ARRAY(&c->arena, k->column_count + 1, double)};
        if (!fresh.values || !ZS_VEC_PUSH(&k->places, fresh))
            return -ENOMEM;
        memset(fresh.values, 0, (k->column_count + 1) * sizeof(double));
        memmove(&k->places.items[at + 1], &k->places.items[at],
                (k->places.count - 1 - at) * sizeof(fresh));
        k->places.items[at] = fresh;
    }
    double *values = k->places.items[at].values;
    for (uint32_t i = 0, column = 0; i < group->metric_count; i++)
        if (group->metrics[i].total == ZS_METRIC_TOTAL_SUM && column < k->column_count)
            values[column++] += zs_metrics_number(metrics, report, i);
    return 0;
}

/* The kernel of the module that the place is in, or NULL. */
static const struct zs_kernel *kernel_at(struct zs_recording *recording,
                                         const struct zs_record_module *record,
                                         const struct zs_module *module,
                                         const struct zs_metric_place *place)
{
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(recording, &count);
    const struct zs_record_build *build =
        zs_recording_find_build(recording, place->process, place->build, place->seen_ns);
    bool ours =
        build && build->module != ZS_RECORD_NONE ? &modules[build->module] == record : count == 1;
    return ours ? zs_count_kernel_named(module, place->kernel) : NULL;
}

int zs_stall_columns_add(struct zs_stall_columns *c, const struct zs_metrics *metrics,
                         struct zs_recording *recording, const struct zs_record_module *record,
                         const struct zs_module *module, size_t *ret_found)
{
    uint32_t group_count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &group_count);
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    int status = 0, error = 0;
    while (!error && (status = zs_metrics_next(cursor, &launch, &report)) > 0) {
        struct zs_metric_place place;
        if (!report || !zs_metrics_place(metrics, report, &place))
            continue;
        const struct zs_metric_group *group = &groups[report->group];
        const struct zs_kernel *kernel = kernel_at(recording, record, module, &place);
        struct kernel_stalls *k = kernel ? find(c, kernel, group->name) : NULL;
        if (kernel && !k) {
            k = make(c, kernel, group);
            *ret_found += k != NULL;
            error = k ? 0 : -ENOMEM;
        }
        if (k && !error)
            error = add_report(c, k, metrics, group, report, place.offset_B);
    }
    zs_metrics_cursor_close(cursor);
    return error ? error : ZS_MIN(status, 0);
}

/* ---- beside the code ---- */

static void fill(const struct kernel_stalls *k, const struct zs_isa_kernel *isa, uint32_t column,
                 double *values)
{
    uint32_t count = zs_isa_kernel_count(isa);
    for (uint32_t i = 0; i < count; i++) {
        int64_t at_B = zs_isa_inst_offset(isa, i);
        size_t at = place_of(k, at_B);
        bool sampled = at < k->places.count && k->places.items[at].offset_B == at_B;
        values[i] = sampled ? k->places.items[at].values[column] : k->sampled ? NAN : 0;
    }
}

/* The share of all that was sampled in the kernel's own code. */
static void share(const struct kernel_stalls *k, const double *sums, uint32_t count, double *ret)
{
    double all = 0;
    for (uint32_t i = 0; i < count; i++) {
        ret[i] = NAN;
        for (uint32_t c = 0; c < k->column_count; c++) {
            double value = sums[(size_t)c * count + i];
            if (!isnan(value) && is_reason(&k->columns[c]))
                ret[i] = isnan(ret[i]) ? value : ret[i] + value;
        }
        all += isnan(ret[i]) ? 0 : ret[i];
    }
    for (uint32_t i = 0; i < count; i++)
        ret[i] = all > 0 ? 100 * ret[i] / all : ret[i];
}

/* False: there was neither a hit nor a miss. */
static bool rate(const double *hits, const double *misses, uint32_t count, double *ret,
                 double *weights)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = hits[i] + misses[i];
        ret[i] = weights[i] > 0 ? 100 * misses[i] / weights[i] : 0;
        any = any || weights[i] > 0;
    }
    return any;
}

/* What is worked out goes to `first`, sums to `sums`: what is hot comes first, for heat is drawn by
 * the first column that has it. Returns behind the values that were used. */
static double *attach_group(const struct kernel_stalls *k, const struct zs_isa_kernel *isa,
                            struct zs_column *first, struct zs_column *sums, double *values)
{
    uint32_t count = zs_isa_kernel_count(isa);
    double *base = values, *next = values + (size_t)k->column_count * count;
    for (uint32_t c = 0; c < k->column_count; c++) {
        fill(k, isa, c, base + (size_t)c * count);
        sums[c] = k->columns[c];
        sums[c].values = base + (size_t)c * count;
    }
    for (uint32_t d = 0; d < k->derived_count; d++, next += 2 * (size_t)count) {
        const struct derived *from = &k->derived[d];
        double *weights = next + count;
        first[d] = from->column;
        first[d].values = next;
        if (from->hits == NONE) {
            share(k, base, count, next);
            continue;
        }
        first[d].shown =
            rate(sums[from->hits].values, sums[from->misses].values, count, next, weights);
        first[d].weights = weights;
    }
    return next;
}

static int attach_stalls(const struct zs_stall_columns *c, struct zs_code *code)
{
    int error = zs_isa_kernel_decode(code->isa, ZS_ISA_INSTS, NULL);
    if (error)
        return error;
    uint32_t derived = 0, own = 0, count = zs_isa_kernel_count(code->isa);
    for (size_t i = 0; i < c->kernels.count; i++) {
        const struct kernel_stalls *k = &c->kernels.items[i];
        derived += k->kernel == code->kernel ? k->derived_count : 0;
        own += k->kernel == code->kernel ? k->column_count : 0;
    }
    struct zs_attached_columns to;
    error = zs_columns_attach(code, derived, own, ((size_t)own + 2 * (size_t)derived) * count, &to);
    if (error)
        return error;
    for (size_t i = 0; i < c->kernels.count; i++) {
        const struct kernel_stalls *k = &c->kernels.items[i];
        if (k->kernel != code->kernel)
            continue;
        to.values = attach_group(k, code->isa, to.front, to.behind, to.values);
        to.front += k->derived_count;
        to.behind += k->column_count;
    }
    return 0;
}

static int attach(void *user, struct zs_code *code)
{
    const struct zs_stall_columns *c = user;
    int error = c->inner.attach ? c->inner.attach(c->inner.user, code) : 0;
    if (error || !code->isa || !find(c, code->kernel, NULL))
        return error;
    error = attach_stalls(c, code);
    if (error && c->inner.release)
        c->inner.release(c->inner.user, code);
    return error;
}

static void release(void *user, struct zs_code *code)
{
    const struct zs_stall_columns *c = user;
    if (code->isa && find(c, code->kernel, NULL) && code->columns)
        zs_columns_detach(code);
    if (c->inner.release)
        c->inner.release(c->inner.user, code);
}

struct zs_column_source zs_stall_columns_source(struct zs_stall_columns *c,
                                                struct zs_column_source inner)
{
    c->inner = inner;
    return (struct zs_column_source){.user = c, .attach = attach, .release = release};
}
