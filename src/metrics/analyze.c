/* SPDX-License-Identifier: MIT */
/* The public face of analysis: a recording, or a folder of them, and its kernels as one list. */
#include "metrics/analyze_priv.h"

#include "base/vec.h"
#include "record/traces.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening -----------------------------------------------------------------------------------
 */

static const char *unfit(const struct zs_profiles *t)
{
    return t->damaged_files          ? "its trace is damaged"
           : t->damaged_counts       ? "its execution counts are damaged"
           : zs_traces_lost(t->path) ? "parts of its trace were lost while recording"
           : t->unread_modules       ? "a module in it cannot be read"
                                     : "";
}

static int add_rank(struct zs_analysis *a, const char *path, const char *rank, struct zs_diag *diag)
{
    struct zs_rank *r = calloc(1, sizeof(*r));
    if (!r || !ZS_VEC_PUSH(&a->ranks, r)) {
        free(r);
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    }
    r->name = zs_arena_strndup(&a->arena, rank, strlen(rank));
    r->path = zs_arena_strndup(&a->arena, path, strlen(path));
    if (!r->name || !r->path)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    int error = zs_profiles_open(r->path, &r->profiles, diag);
    zs_names_init(&r->names, &r->profiles);
    if (error)
        return error;
    a->info.kernel_count += (uint32_t)r->profiles.kernels.count;
    a->info.has_counts = a->info.has_counts || r->profiles.has_counts;
    a->info.damaged += r->profiles.damaged_files + r->profiles.damaged_counts;
    a->info.unread_modules += r->profiles.unread_modules;
    uint32_t notes;
    const struct zs_record_note *note = zs_recording_notes(r->profiles.recording, &notes);
    if (notes && !a->info.note_count)
        a->info.first_note = note->text;
    a->info.note_count += notes;
    const char *why = unfit(&r->profiles);
    if (*why && !*a->info.unfit)
        a->info.unfit = why;
    return 0;
}

/* Which of them it is that cannot be read. */
static void name_rank(const char *rank, struct zs_diag *diag)
{
    char text[sizeof(diag->text)];
    memcpy(text, diag->text, sizeof(text));
    snprintf(diag->text, sizeof(diag->text), "%.200s: %.270s", rank, text);
}

/* Of the recordings in a folder; what else is there is none. */
static int add_ranks(struct zs_analysis *a, const char *folder, struct zs_diag *diag)
{
    struct zs_traces traces;
    int error = zs_traces_open_parts(folder, &traces, diag);
    for (size_t i = 0; i < traces.part_count && !error; i++) {
        char *path;
        if (asprintf(&path, "%s/%s", folder, traces.parts[i].rank) < 0) {
            error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
            continue;
        }
        error = add_rank(a, path, traces.parts[i].rank, diag);
        if (error && diag)
            name_rank(traces.parts[i].rank, diag);
        free(path);
    }
    zs_traces_close(&traces);
    return error;
}

int zs_analysis_open(const char *recording, struct zs_analysis **ret_analysis, struct zs_diag *diag)
{
    struct zs_analysis *a = calloc(1, sizeof(*a));
    *ret_analysis = NULL;
    if (!a)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    zs_arena_init(&a->arena, (size_t)1 << 30);
    a->info.unfit = "";
    a->info.recording = zs_arena_strndup(&a->arena, recording, strlen(recording));
    int error = a->info.recording ? 0 : -ENOMEM;
    if (!error && !zs_recording_probe(recording))
        error = add_ranks(a, recording, diag);
    if (!error && !a->ranks.count) /* one recording, or none: the sentence is its own */
        error = add_rank(a, recording, "", diag);
    if (error) {
        zs_analysis_close(a);
        return error;
    }
    a->info.recording_count = (uint32_t)a->ranks.count;
    for (size_t i = 0; i < a->ranks.count; i++) {
        const struct zs_profiles *t = &a->ranks.items[i]->profiles;
        a->info.is_modelled = a->info.is_modelled || zs_profiles_are_modelled(t);
        a->info.is_estimated =
            a->info.is_estimated || !strcmp(zs_recording_info(t->recording)->clock, "formula");
    }
    *ret_analysis = a;
    return 0;
}

void zs_analysis_close(struct zs_analysis *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->ranks.count; i++) {
        struct zs_rank *r = a->ranks.items[i];
        zs_rank_analysis_free(&r->judged);
        zs_names_fini(&r->names);
        zs_profiles_close(&r->profiles);
        free(r);
    }
    free(a->ranks.items);
    for (size_t i = 0; i < a->texts.count; i++)
        zs_formula_file_free(&a->texts.items[i]->file);
    for (size_t i = 0; i < a->texts.count; i++)
        free(a->texts.items[i]);
    free(a->texts.items);
    free(a->whys.items);
    zs_name_map_fini(&a->why_index);
    zs_arena_fini(&a->arena);
    free(a);
}

const struct zs_analysis_info *zs_analysis_info(const struct zs_analysis *a)
{
    return &a->info;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

static bool keep_findings(struct zs_analysis *a, const struct zs_judged *from,
                          struct zs_analyzed *to)
{
    struct zs_finding *findings = ZS_ARENA_ARRAY(&a->arena, from->finding_count, struct zs_finding);
    struct zs_not_judged *missing = ZS_ARENA_ARRAY(&a->arena, ZS_RULES, struct zs_not_judged);
    double *gains = ZS_ARENA_ARRAY(&a->arena, from->finding_count, double);
    double *least = ZS_ARENA_ARRAY(&a->arena, from->finding_count, double);
    if (!findings || !missing || !gains || !least)
        return false;
    for (uint32_t i = 0; i < from->finding_count; i++) {
        const struct zs_found *f = &from->findings[i];
        const struct zs_rule *rule = &zs_rules[f->rule];
        gains[i] = f->gain;
        least[i] = f->least;
        findings[i] = (struct zs_finding){.rule = rule->key,
                                          .title = rule->title,
                                          .advice = rule->advice,
                                          .text = f->text,
                                          .severity = f->severity,
                                          .numbers = f->numbers,
                                          .number_count = f->number_count,
                                          .places = f->places,
                                          .place_count = f->place_count};
    }
    for (int r = 0; r < ZS_RULES; r++)
        if (from->not_judged[r])
            missing[to->not_judged_count++] =
                (struct zs_not_judged){zs_rules[r].key, zs_rules[r].title, from->not_judged[r]};
    to->findings = findings;
    to->gains = gains;
    to->gains_least = least;
    to->finding_count = from->finding_count;
    to->not_judged = missing;
    return true;
}

static bool keep_kernel(struct zs_analysis *a, struct zs_rank *r, const struct zs_judged *from,
                        struct zs_listed *to)
{
    const struct zs_profile *p = from->profile;
    double simd = p->values[ZS_Q_SIMD];
    to->rank = r;
    to->profile = p;
    to->kernel = (struct zs_analyzed){.name = p->name,
                                      .module = p->module,
                                      .device = p->device ? p->device->name : "",
                                      .rank = r->name,
                                      .ordinal = p->ordinal,
                                      .simd = simd > 0 ? (uint32_t)simd : 0,
                                      .launches = p->launches,
                                      .timed = p->timed,
                                      .time_ns = p->values[ZS_Q_TIME_TOTAL],
                                      .threads = p->peaks.threads,
                                      .limiter = zs_limiter_text(p->limiter),
                                      .limit = &from->limit,
                                      .roofline = &from->roofline};
    struct zs_occupancy_case *cases =
        ZS_ARENA_ARRAY(&a->arena, ZS_OCCUPANCY_CASES, struct zs_occupancy_case);
    if (!cases)
        return -ENOMEM;
    to->kernel.occupancy_cases = cases;
    to->kernel.occupancy_case_count = zs_profile_occupancy_cases(p, cases);
    return keep_findings(a, from, &to->kernel);
}

/* Kernels of one recording keep their order. */
static int by_time(const void *a, const void *b)
{
    const struct zs_listed *x = a, *y = b;
    uint64_t left = x->profile->total_ns, right = y->profile->total_ns;
    return left != right ? (left < right ? 1 : -1)
                         : (x->number > y->number) - (x->number < y->number);
}

static int list_kernels(struct zs_analysis *a)
{
    uint32_t count = 0;
    a->kernels = ZS_ARENA_ARRAY(&a->arena, a->info.kernel_count, struct zs_listed);
    if (!a->kernels)
        return -ENOMEM;
    for (size_t i = 0; i < a->ranks.count; i++) {
        struct zs_rank *r = a->ranks.items[i];
        if (zs_rank_analysis_make(&r->profiles, &r->judged))
            return -ENOMEM;
        for (size_t k = 0; k < r->judged.kernel_count; k++, count++) {
            a->kernels[count].number = count;
            if (!keep_kernel(a, r, &r->judged.kernels[k], &a->kernels[count]))
                return -ENOMEM;
        }
    }
    if (count)
        qsort(a->kernels, count, sizeof(*a->kernels), by_time);
    a->is_listed = true;
    return 0;
}

const struct zs_analyzed *zs_analysis_kernel(struct zs_analysis *a, uint32_t index)
{
    if (!a->is_listed && !a->failed)
        a->failed = list_kernels(a) != 0;
    return a->is_listed && index < a->info.kernel_count ? &a->kernels[index].kernel : NULL;
}

/* ---- values ------------------------------------------------------------------------------------
 */

int zs_analysis_define(struct zs_analysis *a, const char *text, size_t size_B, const char *name,
                       struct zs_formula_error *ret_error)
{
    struct zs_analysis_text *t = calloc(1, sizeof(*t));
    *ret_error = (struct zs_formula_error){0};
    if (!t || !ZS_VEC_PUSH(&a->texts, t)) {
        free(t);
        return -ENOMEM;
    }
    t->name = zs_arena_strndup(&a->arena, name, strlen(name));
    int error = t->name ? zs_formula_file_parse(text, size_B, &t->file, ret_error) : -ENOMEM;
    for (size_t i = 0; i < a->ranks.count && !error; i++)
        error = zs_names_define(&a->ranks.items[i]->names, &t->file, ret_error);
    return error;
}

static const struct zs_listed *listed(const struct zs_analyzed *kernel)
{
    return (const struct zs_listed *)(const void *)((const char *)kernel -
                                                    offsetof(struct zs_listed, kernel));
}

/* A reason that lives as long as the analysis: values may be asked for any number of times. */
static const char *keep_why(struct zs_analysis *a, const char *why)
{
    uint32_t known = zs_name_map_get(&a->why_index, why);
    if (known != ZS_NAME_MAP_NONE)
        return a->whys.items[known];
    const char *kept = zs_arena_strndup(&a->arena, why, strlen(why));
    bool ok = kept && ZS_VEC_PUSH(&a->whys, kept) &&
              zs_name_map_put(&a->why_index, kept, (uint32_t)a->whys.count - 1);
    return ok ? kept : "";
}

static bool find(struct zs_analysis *a, const struct zs_listed *l, struct zs_named_value *ret)
{
    char why[400] = "";
    struct zs_names *names = &l->rank->names;
    ret->value = NAN;
    ret->unit = ret->unit ? ret->unit : "";
    ret->why = "";
    if (names->selected != l->profile && zs_names_select(names, l->profile))
        return false;
    bool found = zs_names_value(names, ret->name, &ret->value, &ret->unit, why, sizeof(why));
    ret->why = *why ? keep_why(a, why) : "";
    return found;
}

bool zs_analysis_value(struct zs_analysis *a, const struct zs_analyzed *kernel, uint32_t index,
                       struct zs_named_value *ret)
{
    const struct zs_listed *l = listed(kernel);
    const struct zs_profiles *t = &l->rank->profiles;
    *ret = (struct zs_named_value){.kind = ZS_VALUE_QUANTITY, .description = "", .unit = ""};
    size_t i = index;
    if (i < ZS_QUANTITIES) {
        ret->name = zs_quantity_rows[i].name;
        ret->description = zs_quantity_rows[i].description;
        (void)find(a, l, ret);
        ret->unit = zs_quantity_rows[i].unit;
        return true;
    }
    i -= ZS_QUANTITIES;
    if (i < t->metrics.count) {
        const struct zs_profile_metric *m = &t->metrics.items[i];
        ret->kind = ZS_VALUE_METRIC;
        ret->name = m->full_name;
        ret->description = m->description;
        ret->unit = m->unit;
        ret->value = l->profile->metrics ? l->profile->metrics[i] : (double)NAN;
        ret->why = isnan(ret->value) ? "it was not measured" : "";
        return true;
    }
    i -= t->metrics.count;
    if (i >= l->rank->names.definitions.count)
        return false;
    const struct zs_definition *d = l->rank->names.definitions.items[i].definition;
    ret->kind = ZS_VALUE_DEFINITION;
    ret->name = d->name;
    ret->description = d->description;
    (void)find(a, l, ret);
    return true;
}

bool zs_analysis_find(struct zs_analysis *a, const struct zs_analyzed *kernel, const char *name,
                      struct zs_named_value *ret)
{
    const struct zs_listed *l = listed(kernel);
    *ret = (struct zs_named_value){.kind = ZS_VALUE_METRIC, .name = name, .description = ""};
    int quantity = zs_quantity_find(name);
    if (quantity >= 0) {
        ret->kind = ZS_VALUE_QUANTITY;
        ret->description = zs_quantity_rows[quantity].description;
    }
    for (size_t i = 0; i < l->rank->names.definitions.count; i++) {
        const struct zs_definition *d = l->rank->names.definitions.items[i].definition;
        if (strcmp(d->name, name) == 0) {
            ret->kind = ZS_VALUE_DEFINITION;
            ret->description = d->description;
        }
    }
    return find(a, l, ret);
}
