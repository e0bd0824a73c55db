/* SPDX-License-Identifier: MIT */
/* The public face of checks: assertions on all recordings of an analysis. */
#include "metrics/analyze_priv.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int zs_check_create(struct zs_analysis *analysis, struct zs_check **ret_check)
{
    *ret_check = calloc(1, sizeof(**ret_check));
    if (!*ret_check)
        return -ENOMEM;
    (*ret_check)->analysis = analysis;
    return 0;
}

void zs_check_destroy(struct zs_check *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->tolerances.count; i++)
        zs_tolerance_free(&c->tolerances.items[i]);
    for (size_t i = 0; i < c->files.count; i++) {
        zs_formula_file_free(c->files.items[i]);
        free(c->files.items[i]);
    }
    free(c->files.items);
    free(c->tolerances.items);
    free(c->results.items);
    free(c);
}

static void turn_to(struct zs_check *c, struct zs_rank *r)
{
    c->names = &r->names;
    c->rank = r->name;
}

static int judge(struct zs_check *c, const struct zs_assertion *assertion, const char *origin,
                 struct zs_formula_error *ret_error)
{
    size_t all = 0, found;
    int error = 0;
    for (size_t i = 0; i < c->analysis->ranks.count && !error; i++) {
        turn_to(c, c->analysis->ranks.items[i]);
        error = zs_rank_check(c, assertion, origin, &found, ret_error);
        all += found;
    }
    return all || error ? error : zs_rank_check_none(c, assertion, origin);
}

int zs_check_assert(struct zs_check *c, enum zs_assertion_kind kind, const char *text,
                    const char *origin, struct zs_formula_error *ret_error)
{
    struct zs_arena *arena = &c->analysis->arena;
    struct zs_formula_file *file = calloc(1, sizeof(*file));
    *ret_error = (struct zs_formula_error){0};
    if (!file || !ZS_VEC_PUSH(&c->files, file)) {
        free(file);
        return -ENOMEM;
    }
    const char *kept = zs_arena_strndup(arena, origin, strlen(origin));
    int error = kept ? zs_formula_file_parse("", 0, file, ret_error) : -ENOMEM;
    if (!error)
        error = zs_formula_file_assert(file, kind, text, ret_error);
    return error ? error : judge(c, &file->assertions.items[0], kept, ret_error);
}

int zs_check_defined(struct zs_check *c, const char **ret_name, struct zs_formula_error *ret_error)
{
    struct zs_analysis *a = c->analysis;
    int error = 0;
    *ret_name = "";
    *ret_error = (struct zs_formula_error){0};
    for (size_t i = 0; i < a->texts.count && !error; i++) {
        const struct zs_analysis_text *t = a->texts.items[i];
        *ret_name = t->name;
        for (size_t k = 0; k < t->file.assertions.count && !error; k++) {
            char origin[4200];
            const struct zs_assertion *assertion = &t->file.assertions.items[k];
            int length = snprintf(origin, sizeof(origin), "%s:%u", t->name, assertion->line);
            const char *kept =
                zs_arena_strndup(&a->arena, origin, ZS_MIN((size_t)length, sizeof(origin) - 1));
            error = kept ? judge(c, assertion, kept, ret_error) : -ENOMEM;
        }
    }
    return error;
}

/* ---- baseline ----------------------------------------------------------------------------------
 */

int zs_check_tolerance(struct zs_check *c, const char *text, struct zs_diag *diag)
{
    struct zs_tolerance tolerance;
    const char *kept = zs_arena_strndup(&c->analysis->arena, text, strlen(text));
    int error = kept ? zs_tolerance_parse(kept, &tolerance, diag) : -ENOMEM;
    if (!error && !ZS_VEC_PUSH(&c->tolerances, tolerance)) {
        zs_tolerance_free(&tolerance);
        error = -ENOMEM;
    }
    return error;
}

static int read_baseline(const char *path, struct zs_baseline *ret, struct zs_diag *diag)
{
    struct zs_file file;
    int error = zs_file_read(path, 0, &file, diag);
    if (error)
        return error;
    error = zs_baseline_parse(file.span, ret, diag);
    zs_file_close(&file);
    return error;
}

/* Of another recording, with the definitions of this analysis. */
static int take_recording(struct zs_analysis *to, const char *path, struct zs_baseline *ret,
                          struct zs_diag *diag)
{
    struct zs_analysis *from;
    struct zs_formula_error where;
    int error = zs_analysis_open(path, &from, diag);
    if (error)
        return error;
    struct zs_names *names = &from->ranks.items[0]->names;
    for (size_t i = 0; i < to->texts.count && !error; i++)
        error = zs_names_define(names, &to->texts.items[i]->file, &where);
    if (error == -EINVAL)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "%s:%u:%u: %s", "definitions", where.line,
                    where.column, where.text);
    if (!error && *from->info.unfit)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s: it cannot be judged",
                            from->info.unfit);
    if (!error)
        error = zs_baseline_take(names, ret);
    zs_analysis_close(from);
    return error;
}

static int refuse_ranks(const struct zs_analysis *a, struct zs_diag *diag)
{
    return a->ranks.count == 1
               ? 0
               : zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                             "baselines are of one recording: name one of the %zu", a->ranks.count);
}

int zs_check_baseline(struct zs_check *c, const char *path, struct zs_diag *diag)
{
    struct zs_baseline baseline = {0};
    int error = refuse_ranks(c->analysis, diag);
    if (error)
        return error;
    turn_to(c, c->analysis->ranks.items[0]);
    error = zs_recording_probe(path) ? take_recording(c->analysis, path, &baseline, diag)
                                     : read_baseline(path, &baseline, diag);
    if (!error)
        error = zs_rank_check_baseline(c, &baseline, c->tolerances.items, c->tolerances.count);
    zs_baseline_free(&baseline);
    return error;
}

int zs_analysis_write_baseline(struct zs_analysis *a, const char *path, struct zs_diag *diag)
{
    struct zs_baseline baseline = {0};
    struct zs_buf out = {0};
    int error = refuse_ranks(a, diag);
    if (error)
        return error;
    error = zs_baseline_take(&a->ranks.items[0]->names, &baseline);
    if (!error) {
        zs_baseline_json(&baseline, a->info.recording, &out);
        error = out.error ? -ENOMEM : zs_file_write(path, zs_buf_span(&out), diag);
    }
    zs_baseline_free(&baseline);
    zs_buf_fini(&out);
    return error;
}

/* ---- results -----------------------------------------------------------------------------------
 */

const struct zs_check_result *zs_check_result(const struct zs_check *c, uint32_t index)
{
    return index < c->results.count ? &c->results.items[index] : NULL;
}

uint32_t zs_check_count(const struct zs_check *c, uint32_t *ret_failed)
{
    if (ret_failed)
        *ret_failed = (uint32_t)c->failed;
    return (uint32_t)c->results.count;
}
