/* SPDX-License-Identifier: MIT */
#include "metrics/check.h"

#include "base/vec.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *zs_check_keep(struct zs_check *c, const char *text)
{
    return zs_arena_strndup(&c->names->arena, text, strlen(text));
}

/* ---- results ---- */

struct zs_check_result zs_check_result_make(const struct zs_check *c, const struct zs_profile *p,
                                            const char *assertion, const char *origin,
                                            const char *what)
{
    return (struct zs_check_result){.status = ZS_CHECK_PASSED,
                                    .ordinal = p ? p->ordinal : 0,
                                    .assertion = assertion,
                                    .origin = origin,
                                    .kernel_name = p ? p->name : "",
                                    .module = p ? p->module : "",
                                    .rank = p ? c->rank : "",
                                    .what = what,
                                    .value = NAN,
                                    .limit = NAN,
                                    .unit = "",
                                    .relation = "",
                                    .why = "",
                                    .baseline = NAN,
                                    .place = {.path = ""}};
}

int zs_check_push(struct zs_check *c, struct zs_check_result r, const char *why)
{
    r.why = zs_check_keep(c, why);
    if (!r.why || !r.unit || !r.what || !r.assertion || !r.kernel_name ||
        !ZS_VEC_PUSH(&c->results, r))
        return -ENOMEM;
    c->failed += r.status != ZS_CHECK_PASSED;
    return 0;
}

/* ---- places ---- */

static double share(const struct zs_profile *profile, uint32_t i, void *user)
{
    return zs_profile_share(profile, *(enum zs_quantity *)user, i);
}

struct zs_source_place zs_check_place(const struct zs_check *c, const struct zs_profile *p,
                                      const char *name)
{
    struct zs_source_place place;
    int q = zs_quantity_find(name);
    enum zs_quantity quantity = (enum zs_quantity)q;
    if (q < 0 || !zs_profile_lines(c->names->profiles, p, share, &quantity, &place, 1))
        zs_profile_begin(c->names->profiles, p, &place);
    return place;
}

/* Of the quantity that a formula begins with. */
static struct zs_source_place place_of(const struct zs_check *c, const struct zs_profile *p,
                                       const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)ZS_MIN(n, sizeof(name) - 1), text);
    return zs_check_place(c, p, name);
}

/* ---- assertions ---- */

struct bound_assertion {
    const struct zs_assertion *assertion;
    const char *origin, *what;
    struct zs_bound value, limit;
};

static int refuse(const struct zs_assertion *a, struct zs_formula_error *error, const char *text)
{
    error->line = a->line;
    error->column = a->column;
    snprintf(error->text, sizeof(error->text), "%s", text);
    return -EINVAL;
}

/* The units of value and limit, which may be a number in the value's own. */
static int match_limit(const struct zs_assertion *a, const struct zs_bound *value,
                       const struct zs_bound *limit, struct zs_formula_error *error)
{
    char left[ZS_UNIT_TEXT_B], right[ZS_UNIT_TEXT_B], text[200];
    if (value->type == ZS_FORMULA_CONDITION || limit->type == ZS_FORMULA_CONDITION)
        return refuse(a, error, "a limit is on a number: `assert` is for conditions");
    if (a->limit_is_bare || value->type == ZS_FORMULA_UNKNOWN ||
        limit->type == ZS_FORMULA_UNKNOWN || zs_unit_same_kind(&value->unit, &limit->unit))
        return 0;
    zs_unit_kind(&value->unit, left);
    zs_unit_kind(&limit->unit, right);
    snprintf(text, sizeof(text), "the limit is in %s and the value in %s", right, left);
    return refuse(a, error, text);
}

/* A name that cannot be a metric's, which another recording may have: these have capital letters
 * with every driver that there is. */
static bool is_misspelt(const char *name)
{
    for (; *name; name++)
        if (*name < 'a' || *name > 'z')
            if ((*name < '0' || *name > '9') && *name != '_')
                return false;
    return true;
}

static int bind(struct zs_check *c, struct bound_assertion *b, struct zs_formula_error *error)
{
    const struct zs_assertion *a = b->assertion;
    const struct zs_formula_names names = zs_names_for_formulas(c->names);
    int failed = zs_formula_bind(a->value, &names, &c->names->arena, &b->value, error);
    if (!failed && b->value.missing && is_misspelt(b->what))
        failed = refuse(a, error, b->value.missing);
    if (failed)
        return failed;
    if (a->kind == ZS_ASSERT_HOLDS)
        return b->value.type == ZS_FORMULA_NUMBER
                   ? refuse(a, error, "`assert` needs a condition, as in 'spills == 0'")
                   : 0;
    failed = zs_formula_bind(a->limit, &names, &c->names->arena, &b->limit, error);
    return failed ? failed : match_limit(a, &b->value, &b->limit, error);
}

static const char *unit_of(struct zs_check *c, const struct zs_bound *value)
{
    char text[ZS_UNIT_TEXT_B];
    if (*value->unit_text)
        return value->unit_text;
    zs_unit_base_text(&value->unit, text);
    return zs_check_keep(c, text);
}

static int judge(struct zs_check *c, const struct bound_assertion *b, const struct zs_profile *p)
{
    const struct zs_formula_names names = zs_names_for_formulas(c->names);
    const struct zs_assertion *a = b->assertion;
    const char *why = NULL, *limit_why = NULL;
    struct zs_check_result r = zs_check_result_make(c, p, a->text, b->origin, b->what);
    int error = zs_names_select(c->names, p);
    if (error)
        return error;
    r.value = zs_bound_value(&b->value, &names, &why);
    bool holds = r.value != 0;
    if (a->kind != ZS_ASSERT_HOLDS) {
        double scale = *b->value.unit_text ? b->value.unit.scale : 1;
        r.unit = unit_of(c, &b->value);
        r.value /= scale;
        r.limit = zs_bound_value(&b->limit, &names, &limit_why);
        if (!a->limit_is_bare)
            r.limit /= scale;
        r.relation = a->kind == ZS_ASSERT_MAX ? "at most" : "at least";
        holds = a->kind == ZS_ASSERT_MAX ? r.value <= r.limit : r.value >= r.limit;
    }
    if (isnan(r.value) || (a->kind != ZS_ASSERT_HOLDS && isnan(r.limit))) {
        r.status = ZS_CHECK_UNKNOWN;
        why = why ? why : limit_why ? limit_why : "it is not known";
    } else if (!holds) {
        r.status = ZS_CHECK_FAILED;
    }
    r.place = place_of(c, p, b->what);
    return zs_check_push(c, r, r.status == ZS_CHECK_UNKNOWN ? why : "");
}

/* "spills" of "gemm*: spills = 0"; conditions as a whole. */
static const char *name_of(struct zs_check *c, const struct zs_assertion *a)
{
    const char *start = a->text, *colon = a->kernels ? strrchr(a->text, ':') : NULL;
    if (colon)
        start = colon + 1;
    start += strspn(start, " \t");
    size_t n = a->kind == ZS_ASSERT_HOLDS ? strlen(start) : strcspn(start, "<>=");
    while (n && (start[n - 1] == ' ' || start[n - 1] == '\t'))
        n--;
    return zs_arena_strndup(&c->names->arena, start, n);
}

int zs_rank_check(struct zs_check *c, const struct zs_assertion *a, const char *origin,
                  size_t *ret_found, struct zs_formula_error *ret_error)
{
    struct bound_assertion b = {.assertion = a, .origin = origin, .what = name_of(c, a)};
    const struct zs_profiles *t = c->names->profiles;
    int error = b.what ? bind(c, &b, ret_error) : -ENOMEM;
    *ret_found = 0;
    for (size_t i = 0; i < t->kernels.count && !error; i++) {
        const struct zs_profile *p = t->kernels.items[i];
        if (a->kernels && fnmatch(a->kernels, p->name, 0))
            continue;
        ++*ret_found;
        error = judge(c, &b, p);
    }
    return error;
}

int zs_rank_check_none(struct zs_check *c, const struct zs_assertion *a, const char *origin)
{
    char why[400];
    if (!c->names->profiles->kernels.count)
        snprintf(why, sizeof(why), "the recording has no kernels");
    else
        snprintf(why, sizeof(why), "no kernel that ran is called '%.200s'",
                 a->kernels ? a->kernels : "*");
    struct zs_check_result r = zs_check_result_make(c, NULL, a->text, origin, name_of(c, a));
    r.status = ZS_CHECK_UNKNOWN;
    r.kernel_name = a->kernels ? a->kernels : "";
    return zs_check_push(c, r, why);
}
