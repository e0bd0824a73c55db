/* SPDX-License-Identifier: MIT */
/* Kernels of two sides matched, and what is known of both. */
#include "report/compare.h"

#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which kernel is which ---- */

/* The nth kernel of this name. */
static const struct zs_kernel_ref *find(const struct zs_module_view *view, const char *name,
                                        uint32_t nth)
{
    for (size_t i = 0; i < view->kernel_count; i++)
        if (!strcmp(view->kernels[i].kernel->name, name) && !nth--)
            return &view->kernels[i];
    return NULL;
}

static uint32_t ordinal_of(const struct zs_module_view *view, size_t at)
{
    uint32_t ordinal = 0;
    for (size_t i = 0; i < at; i++)
        ordinal += !strcmp(view->kernels[i].kernel->name, view->kernels[at].kernel->name);
    return ordinal;
}

/* What was measured of it: names of modules tell those of one name apart. */
static const struct zs_analyzed *ran_of(struct zs_analysis *analysis,
                                        const struct zs_kernel_ref *ref)
{
    const struct zs_analyzed *k;
    for (uint32_t i = 0; analysis && ref && (k = zs_analysis_kernel(analysis, i)); i++)
        if (!strcmp(k->name, ref->kernel->name) && !strcmp(k->module, ref->module))
            return k;
    return NULL;
}

static bool has_same_code(const struct zs_kernel_ref *a, const struct zs_kernel_ref *b)
{
    struct zs_span x = a->kernel->code, y = b->kernel->code;
    return x.size_B == y.size_B && !memcmp(x.data, y.data, x.size_B) &&
           zs_image_platform(a->image) == zs_image_platform(b->image);
}

static int match(struct zs_compared *c)
{
    const struct zs_module_view *a = c->sides[ZS_SIDE_A].view, *b = c->sides[ZS_SIDE_B].view;
    c->kernels =
        ZS_ARENA_ARRAY(&c->arena, a->kernel_count + b->kernel_count + 1, struct zs_compared_kernel);
    if (!c->kernels)
        return -ENOMEM;
    bool are_pair = a->kernel_count == 1 && b->kernel_count == 1;
    for (size_t i = 0; i < a->kernel_count; i++) {
        const struct zs_kernel_ref *ref = &a->kernels[i];
        c->kernels[c->count++] = (struct zs_compared_kernel){
            .name = ref->kernel->name,
            .of = {ref, are_pair ? b->kernels : find(b, ref->kernel->name, ordinal_of(a, i))}};
    }
    for (size_t i = 0; i < b->kernel_count && !are_pair; i++) {
        const struct zs_kernel_ref *ref = &b->kernels[i];
        if (!find(a, ref->kernel->name, ordinal_of(b, i)))
            c->kernels[c->count++] =
                (struct zs_compared_kernel){.name = ref->kernel->name, .of = {NULL, ref}};
    }
    for (size_t i = 0; i < c->count; i++) {
        struct zs_compared_kernel *k = &c->kernels[i];
        k->order = (uint32_t)i;
        for (int s = 0; s < ZS_SIDES; s++)
            k->ran[s] = ran_of(c->sides[s].analysis, k->of[s]);
        k->has_same_code = k->of[0] && k->of[1] && has_same_code(k->of[0], k->of[1]);
    }
    return 0;
}

/* ---- values ---- */

static int add_value(struct zs_compared_kernel *k, struct zs_compared_value value)
{
    struct {
        struct zs_compared_value *items;
        size_t count, capacity;
    } v = {k->values, k->value_count, k->value_count};
    if (isnan(value.of[0]) && isnan(value.of[1]))
        return 0;
    if (!ZS_VEC_PUSH(&v, value))
        return -ENOMEM;
    k->values = v.items;
    k->value_count = (uint32_t)v.count;
    return 0;
}

static bool has_value(const struct zs_compared_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->value_count; i++)
        if (!strcmp(k->values[i].name, name))
            return true;
    return false;
}

static struct zs_compared_value value_of(const struct zs_named_value *from)
{
    struct zs_compared_value value = {.name = from->name, .unit = from->unit, .of = {NAN, NAN}};
    for (int q = 0; q < ZS_QUANTITIES && from->kind == ZS_VALUE_QUANTITY; q++) {
        if (strcmp(zs_quantity_rows[q].name, from->name))
            continue;
        value.better = zs_quantity_rows[q].better;
        value.is_exact = zs_quantity_rows[q].exact;
        value.adds = zs_quantity_rows[q].adds && q != ZS_Q_LAUNCHES && q != ZS_Q_TIME_TOTAL;
    }
    return value;
}

/* Sums over different launches say nothing of the kernel. */
static void divide_by_launches(struct zs_compared_kernel *k)
{
    double launches[ZS_SIDES] = {NAN, NAN};
    for (uint32_t i = 0; i < k->value_count; i++)
        if (!strcmp(k->values[i].name, zs_quantity_rows[ZS_Q_LAUNCHES].name))
            memcpy(launches, k->values[i].of, sizeof(launches));
    k->is_per_launch = launches[0] > 0 && launches[1] > 0 && fabs(launches[0] - launches[1]) > 0;
    for (uint32_t i = 0; k->is_per_launch && i < k->value_count; i++)
        for (int s = 0; s < ZS_SIDES && k->values[i].adds; s++)
            k->values[i].of[s] /= launches[s];
}

static int measured_values(const struct zs_compared *c, struct zs_compared_kernel *k)
{
    int error = 0;
    for (int s = 0; s < ZS_SIDES; s++) {
        struct zs_named_value found, other;
        struct zs_analysis *mine = c->sides[s].analysis, *others = c->sides[!s].analysis;
        for (uint32_t i = 0; zs_analysis_value(mine, k->ran[s], i, &found) && !error; i++) {
            struct zs_compared_value value = value_of(&found);
            if (s && has_value(k, found.name))
                continue;
            value.of[s] = found.value;
            if (zs_analysis_find(others, k->ran[!s], found.name, &other))
                value.of[!s] = other.value;
            error = add_value(k, value);
        }
    }
    if (!error)
        divide_by_launches(k);
    return error;
}

static int module_values(const struct zs_compared *c, struct zs_compared_kernel *k)
{
    double values[ZS_SIDES][ZS_QUANTITIES];
    int error = 0;
    for (int s = 0; s < ZS_SIDES && !error; s++) {
        struct zs_code *code = NULL;
        for (int q = 0; q < ZS_QUANTITIES; q++)
            values[s][q] = NAN;
        if (k->of[s])
            error = zs_code_open(c->annotations[s], k->of[s]->image, k->of[s]->kernel,
                                 ZS_ISA_LIVENESS, &code);
        if (code && code->isa)
            zs_module_values(code, values[s]);
        zs_code_close(code);
    }
    for (int q = 0; q < ZS_QUANTITIES && !error; q++)
        error = add_value(k, (struct zs_compared_value){zs_quantity_rows[q].name,
                                                        zs_quantity_rows[q].unit,
                                                        {values[0][q], values[1][q]},
                                                        zs_quantity_rows[q].better,
                                                        true,
                                                        false});
    return error;
}

/* ---- findings ---- */

static int add_finding(struct zs_compared_kernel *k, int side, uint32_t at)
{
    const struct zs_finding *f = &k->ran[side]->findings[at];
    for (uint32_t i = 0; i < k->finding_count && side; i++) {
        struct zs_compared_finding *known = &k->findings[i];
        if (known->of[side] || strcmp(known->rule, f->rule))
            continue;
        known->of[side] = f;
        known->gain[side] = k->ran[side]->gains[at];
        return 0;
    }
    struct {
        struct zs_compared_finding *items;
        size_t count, capacity;
    } v = {k->findings, k->finding_count, k->finding_count};
    struct zs_compared_finding new_one = {f->rule, f->title, {NULL, NULL}, {NAN, NAN}};
    new_one.of[side] = f;
    new_one.gain[side] = k->ran[side]->gains[at];
    if (!ZS_VEC_PUSH(&v, new_one))
        return -ENOMEM;
    k->findings = v.items;
    k->finding_count = (uint32_t)v.count;
    return 0;
}

static int fill(const struct zs_compared *c, struct zs_compared_kernel *k)
{
    int error = 0;
    for (int s = 0; s < ZS_SIDES && !error; s++)
        for (uint32_t f = 0; k->ran[0] && k->ran[1] && f < k->ran[s]->finding_count && !error; f++)
            error = add_finding(k, s, f);
    if (error)
        return error;
    return k->ran[0] && k->ran[1] ? measured_values(c, k) : module_values(c, k);
}

/* ---- all of it ---- */

static double time_of(const struct zs_compared_kernel *k)
{
    double most = -1;
    for (int s = 0; s < ZS_SIDES; s++)
        if (k->ran[s] && k->ran[s]->timed && k->ran[s]->time_ns > most)
            most = k->ran[s]->time_ns;
    return most;
}

static int by_time(const void *a, const void *b)
{
    const struct zs_compared_kernel *p = a, *q = b;
    double x = time_of(p), y = time_of(q);
    return x < y ? 1 : x > y ? -1 : (p->order > q->order) - (p->order < q->order);
}

int zs_compare_open(const struct zs_compare_side sides[ZS_SIDES], struct zs_compared *ret)
{
    *ret = (struct zs_compared){.sides = {sides[0], sides[1]}};
    zs_arena_init(&ret->arena, 0);
    int error = 0;
    for (int s = 0; s < ZS_SIDES && !error; s++)
        error = zs_annotation_open(sides[s].view->module, &ret->annotations[s]);
    if (!error)
        error = match(ret);
    for (size_t i = 0; i < ret->count && !error; i++)
        error = fill(ret, &ret->kernels[i]);
    if (!error && ret->count)
        qsort(ret->kernels, ret->count, sizeof(*ret->kernels), by_time);
    return error;
}

void zs_compare_close(struct zs_compared *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->kernels[i].values);
        free(c->kernels[i].findings);
    }
    for (int s = 0; s < ZS_SIDES; s++)
        zs_annotation_close(c->annotations[s]);
    zs_arena_fini(&c->arena);
    *c = (struct zs_compared){0};
}

bool zs_compared_value_changed(const struct zs_compared_value *v, double threshold)
{
    if (isnan(v->of[0]) || isnan(v->of[1]))
        return isnan(v->of[0]) != isnan(v->of[1]);
    double change = fabs(v->of[1] - v->of[0]);
    double least = v->is_exact ? 1e-12 : threshold / 100;
    return change > 0 && change >= least * fabs(v->of[0]);
}

bool zs_compared_kernel_changed(const struct zs_compared_kernel *k, double threshold)
{
    if (!k->of[0] || !k->of[1] || !k->has_same_code || !k->ran[0] != !k->ran[1])
        return true;
    for (uint32_t i = 0; i < k->value_count; i++)
        if (zs_compared_value_changed(&k->values[i], threshold))
            return true;
    for (uint32_t i = 0; i < k->finding_count; i++)
        if (!k->findings[i].of[0] != !k->findings[i].of[1])
            return true;
    return false;
}
