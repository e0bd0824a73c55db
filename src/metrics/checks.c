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
#include <sys/stat.h>

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

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What all recordings of an analysis agree on; NULL: nothing. */
static const char *clock_of(const struct zs_analysis *a)
{
    const char *clock = NULL;
    for (size_t i = 0; i < a->ranks.count; i++) {
        const char *own = zs_recording_info(a->ranks.items[i]->profiles.recording)->clock;
        if (clock && strcmp(clock, own))
            return NULL;
        clock = own;
    }
    return clock && *clock ? clock : NULL;
}

/* Of other recordings, with the definitions of this analysis. */
static int take_recordings(struct zs_analysis *to, const char *path, struct zs_baseline *ret,
                           struct zs_diag *diag)
{
    struct zs_analysis *from;
    struct zs_formula_error where;
    int error = zs_analysis_open(path, &from, diag);
    if (error)
        return error;
    for (size_t r = 0; r < from->ranks.count && !error; r++)
        for (size_t i = 0; i < to->texts.count && !error; i++)
            error =
                zs_names_define(&from->ranks.items[r]->names, &to->texts.items[i]->file, &where);
    if (error == -EINVAL)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "definitions:%u:%u: %s", where.line,
                    where.column, where.text);
    if (!error && *from->info.unfit)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s: it cannot be judged",
                            from->info.unfit);
    const char *clock = clock_of(from);
    ret->clock = clock ? zs_arena_strndup(&ret->arena, clock, strlen(clock)) : NULL;
    for (size_t r = 0; r < from->ranks.count && !error; r++)
        error = zs_baseline_take(&from->ranks.items[r]->names, from->ranks.items[r]->name, ret);
    zs_analysis_close(from);
    return error;
}

static int check_clock(const struct zs_analysis *a, const struct zs_baseline *b,
                       struct zs_diag *diag)
{
    const char *ours = clock_of(a);
    if (!ours || !b->clock || !strcmp(ours, b->clock))
        return 0;
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                       "its times are of another kind (%.16s) than the recording's (%.16s): take a "
                       "baseline of a recording made in the same way",
                       b->clock, ours);
}

/* One recording is held against one, a folder of them against a folder. */
static int check_kind(const struct zs_analysis *a, const struct zs_baseline *b,
                      struct zs_diag *diag)
{
    bool of_ranks = *a->ranks.items[0]->name;
    if (!b->kernels.count || of_ranks == (b->kernels.items[0].rank[0] != 0))
        return 0;
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                       of_ranks ? "the baseline is of one recording: name one of the %zu, or take "
                                  "a baseline of the folder"
                                : "the baseline is of a folder of recordings: name such a folder",
                       a->ranks.count);
}

static bool has_rank(const struct zs_analysis *a, const char *rank)
{
    for (size_t i = 0; i < a->ranks.count; i++)
        if (!strcmp(a->ranks.items[i]->name, rank))
            return true;
    return false;
}

/* Kernels of a recording stand together. */
static int check_missing(struct zs_check *c, const struct zs_baseline *b)
{
    const char *last = "";
    int error = 0;
    for (size_t i = 0; i < b->kernels.count && !error; i++) {
        const char *rank = b->kernels.items[i].rank;
        if (strcmp(rank, last) && !has_rank(c->analysis, rank))
            error = zs_check_missing_rank(c, rank);
        last = rank;
    }
    return error;
}

static int compare(struct zs_check *c, const struct zs_baseline *b)
{
    struct zs_analysis *a = c->analysis;
    bool *used = calloc(c->tolerances.count + 1, sizeof(*used));
    int error = used ? 0 : -ENOMEM;
    for (size_t i = 0; i < a->ranks.count && !error; i++) {
        turn_to(c, a->ranks.items[i]);
        error = zs_rank_check_baseline(c, b, used);
    }
    if (!error && *a->ranks.items[0]->name)
        error = check_missing(c, b);
    if (!error && *a->ranks.items[0]->name)
        error = zs_ranks_check_baseline(c, b);
    if (!error)
        error = zs_check_unused_tolerances(c, used);
    free(used);
    return error;
}

int zs_check_baseline(struct zs_check *c, const char *path, struct zs_diag *diag)
{
    struct zs_baseline baseline;
    zs_baseline_init(&baseline);
    int error = is_folder(path) ? take_recordings(c->analysis, path, &baseline, diag)
                                : read_baseline(path, &baseline, diag);
    if (!error)
        error = check_kind(c->analysis, &baseline, diag);
    if (!error)
        error = check_clock(c->analysis, &baseline, diag);
    if (!error)
        error = compare(c, &baseline);
    zs_baseline_free(&baseline);
    return error;
}

int zs_analysis_write_baseline(struct zs_analysis *a, const char *path, struct zs_diag *diag)
{
    struct zs_baseline baseline;
    struct zs_buf out = {0};
    int error = 0;
    zs_baseline_init(&baseline);
    baseline.clock = clock_of(a);
    for (size_t i = 0; i < a->ranks.count && !error; i++)
        error = zs_baseline_take(&a->ranks.items[i]->names, a->ranks.items[i]->name, &baseline);
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
