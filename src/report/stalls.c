/* SPDX-License-Identifier: MIT */
#include "report/stalls.h"

#include "base/arena.h"
#include "base/vec.h"
#include "record/builds.h"
#include "report/counts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What was sampled at one address. */
struct place {
    int64_t offset_B;
    double *values; /* by column of the group */
};

/* Of one kernel and the first group that has samples of it. */
struct kernel_stalls {
    const struct zs_kernel *kernel;
    const char *group;
    uint32_t column_count;
    struct zs_column *columns; /* names and units; [column_count] */
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

/* What is attached to one kernel while it is shown. */
struct attached {
    const struct zs_column *inner;
    uint32_t inner_count;
    double *values;
    struct zs_column columns[];
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

static struct kernel_stalls *find(const struct zs_stall_columns *c, const struct zs_kernel *kernel)
{
    for (size_t i = 0; i < c->kernels.count; i++)
        if (c->kernels.items[i].kernel == kernel)
            return &c->kernels.items[i];
    return NULL;
}

static const char *copy(struct zs_stall_columns *c, const char *text)
{
    return zs_arena_strndup(&c->arena, text, strlen(text));
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
                                   .description = copy(c, m->description)};
        if (!column.name || !column.unit || !column.description)
            return NULL;
        k.columns[k.column_count++] = column;
    }
    return k.columns && k.group && ZS_VEC_PUSH(&c->kernels, k)
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
        zs_recording_find_build(recording, (uint32_t)place->process, place->build, place->seen_ns);
    bool ours =
        build && build->module != ZS_RECORD_NONE ? &modules[build->module] == record : count == 1;
    return ours ? zs_count_kernel_named(module, place->kernel) : NULL;
}

int zs_stall_columns_add(struct zs_stall_columns *c, const struct zs_metrics *metrics,
                         struct zs_recording *recording, const struct zs_record_module *record,
                         const struct zs_module *module, size_t *ret_found)
{
    uint32_t group_count;
    uint64_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &group_count);
    const struct zs_metric_report *reports = zs_metrics_reports(metrics, &count);
    int error = 0;
    for (uint64_t i = 0; i < count && !error; i++) {
        struct zs_metric_place place;
        if (!zs_metrics_place(metrics, &reports[i], &place))
            continue;
        const struct zs_metric_group *group = &groups[reports[i].group];
        const struct zs_kernel *kernel = kernel_at(recording, record, module, &place);
        struct kernel_stalls *k = kernel ? find(c, kernel) : NULL;
        if (kernel && !k) {
            k = make(c, kernel, group);
            *ret_found += k != NULL;
            error = k ? 0 : -ENOMEM;
        }
        if (k && !error && !strcmp(k->group, group->name))
            error = add_report(c, k, metrics, group, &reports[i], place.offset_B);
    }
    return error;
}

/* ---- beside the code ---- */

/* NaN where the instruction has no samples: what was not seen may have been too short. */
static void fill(const struct kernel_stalls *k, const struct zs_isa_kernel *isa, uint32_t column,
                 double *values)
{
    uint32_t count = zs_isa_kernel_count(isa);
    for (uint32_t i = 0; i < count; i++) {
        int64_t at_B = zs_isa_inst_offset(isa, i);
        size_t at = place_of(k, at_B);
        bool sampled = at < k->places.count && k->places.items[at].offset_B == at_B;
        values[i] = sampled ? k->places.items[at].values[column] : NAN;
    }
}

/* The share of all that was sampled in the kernel's own code. */
static void work_out(struct attached *a, uint32_t column_count, uint32_t count, double *share)
{
    double all = 0;
    for (uint32_t i = 0; i < count; i++) {
        share[i] = NAN;
        for (uint32_t c = 0; c < column_count; c++) {
            double value = a->values[(size_t)(c + 1) * count + i];
            if (!isnan(value))
                share[i] = isnan(share[i]) ? value : share[i] + value;
        }
        all += isnan(share[i]) ? 0 : share[i];
    }
    for (uint32_t i = 0; i < count; i++)
        share[i] = all > 0 ? 100 * share[i] / all : share[i];
}

static int attach_stalls(const struct kernel_stalls *k, struct zs_code *code)
{
    int error = zs_isa_kernel_decode(code->isa, ZS_ISA_INSTS, NULL);
    if (error)
        return error;
    uint32_t count = zs_isa_kernel_count(code->isa);
    uint32_t own = k->column_count + 1, all = code->column_count + own;
    struct attached *a = calloc(1, sizeof(*a) + (size_t)all * sizeof(a->columns[0]));
    double *values = calloc((size_t)own * count + 1, sizeof(*values));
    if (!a || !values) {
        free(a);
        free(values);
        return -ENOMEM;
    }
    a->inner = code->columns;
    a->inner_count = code->column_count;
    a->values = values;
    /* what is hot comes first: heat is drawn by the first column that has it */
    a->columns[0] = (struct zs_column){.name = "stalls",
                                       .unit = "%",
                                       .description = "of the thread cycles of the kernel",
                                       .values = values,
                                       .shown = true,
                                       .heat = true};
    if (a->inner_count)
        memcpy(a->columns + 1, a->inner, a->inner_count * sizeof(*a->inner));
    for (uint32_t c = 0; c < k->column_count; c++) {
        double *to = values + (size_t)(c + 1) * count;
        fill(k, code->isa, c, to);
        a->columns[a->inner_count + 1 + c] = k->columns[c];
        a->columns[a->inner_count + 1 + c].values = to;
    }
    work_out(a, k->column_count, count, values);
    code->columns = a->columns;
    code->column_count = all;
    return 0;
}

static int attach(void *user, struct zs_code *code)
{
    const struct zs_stall_columns *c = user;
    int error = c->inner.attach ? c->inner.attach(c->inner.user, code) : 0;
    const struct kernel_stalls *k = code->isa && !error ? find(c, code->kernel) : NULL;
    if (!k)
        return error;
    error = attach_stalls(k, code);
    if (error && c->inner.release)
        c->inner.release(c->inner.user, code);
    return error;
}

static void release(void *user, struct zs_code *code)
{
    const struct zs_stall_columns *c = user;
    if (code->isa && find(c, code->kernel) && code->columns) {
        struct attached *a = (struct attached *)((char *)(uintptr_t)code->columns -
                                                 offsetof(struct attached, columns));
        code->columns = a->inner;
        code->column_count = a->inner_count;
        free(a->values);
        free(a);
    }
    if (c->inner.release)
        c->inner.release(c->inner.user, code);
}

struct zs_column_source zs_stall_columns_source(struct zs_stall_columns *c,
                                                struct zs_column_source inner)
{
    c->inner = inner;
    return (struct zs_column_source){.user = c, .attach = attach, .release = release};
}
