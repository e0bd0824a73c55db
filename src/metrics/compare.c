/* SPDX-License-Identifier: MIT */
/* Kernels held against a baseline, each recording's and what those of a folder have together. */
#include "metrics/analyze_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- one recording ---- */

static const struct zs_baseline_value *value_of(const struct zs_baseline_kernel *k,
                                                const char *name)
{
    for (size_t i = 0; i < k->value_count; i++)
        if (!strcasecmp(k->values[i].name, name))
            return &k->values[i];
    return NULL;
}

static struct zs_check_result result_of(const struct zs_check *c,
                                        const struct zs_baseline_kernel *k,
                                        const struct zs_profile *p, const char *assertion,
                                        const char *name)
{
    struct zs_check_result r = {.status = ZS_CHECK_PASSED,
                                .assertion = assertion,
                                .origin = "--baseline",
                                .what = name,
                                .unit = "",
                                .relation = "",
                                .why = "",
                                .value = NAN,
                                .limit = NAN,
                                .baseline = NAN,
                                .place = {.path = ""}};
    zs_check_set_kernel(c, p, &r);
    if (!p) {
        r.kernel_name = k->name;
        r.rank = c->rank;
    }
    return r;
}

static const char *keep(struct zs_check *c, const char *text)
{
    return zs_arena_strndup(&c->names->arena, text, strlen(text));
}

static int push(struct zs_check *c, struct zs_check_result r, const char *why)
{
    r.why = keep(c, why);
    if (!r.why || !ZS_VEC_PUSH(&c->results, r))
        return -ENOMEM;
    c->failed += r.status != ZS_CHECK_PASSED;
    return 0;
}

/* Which way counts, and how far it may be. */
static void set_limit(const struct zs_check *c, const struct zs_tolerance *t,
                      struct zs_check_result *r)
{
    enum zs_better better = zs_names_better(c->names, r->what);
    bool up = t->up || (!t->down && better != ZS_BETTER_MORE);
    bool down = t->down || (!t->up && better != ZS_BETTER_LESS);
    double room = t->is_percent ? fabs(r->baseline) * t->amount / 100 : t->amount;
    /* sums of doubles may differ in their last digits */
    room += fabs(r->baseline) * 1e-12;
    if (up && r->value > r->baseline + room) {
        r->status = ZS_CHECK_FAILED;
        r->relation = "at most";
        r->limit = r->baseline + room;
    } else if (down && r->value < r->baseline - room) {
        r->status = ZS_CHECK_FAILED;
        r->relation = "at least";
        r->limit = r->baseline - room;
    } else {
        r->relation = up ? "at most" : "at least";
        r->limit = up ? r->baseline + room : r->baseline - room;
    }
}

static double share(const struct zs_profile *profile, uint32_t i, void *user)
{
    return zs_profile_share(profile, *(enum zs_quantity *)user, i);
}

static int compare(struct zs_check *c, const struct zs_baseline_kernel *k,
                   const struct zs_profile *p, const struct zs_tolerance *t, bool is_default)
{
    char why[400] = "";
    const struct zs_baseline_value *old = value_of(k, t->name);
    struct zs_check_result r = result_of(c, k, p, keep(c, t->text), keep(c, t->name));
    if (!r.assertion || !r.what)
        return -ENOMEM;
    bool known = zs_names_value(c->names, t->name, &r.value, &r.unit, why, sizeof(why));
    /* what neither knows is nothing that changed, unless it was asked for */
    if (is_default && !old)
        return 0;
    int q = zs_quantity_find(t->name);
    enum zs_quantity quantity = (enum zs_quantity)q;
    if (q < 0 || !zs_profile_lines(c->names->profiles, p, share, &quantity, &r.place, 1))
        zs_profile_begin(c->names->profiles, p, &r.place);
    r.status = ZS_CHECK_UNKNOWN;
    if (!known || isnan(r.value))
        return push(c, r, why);
    if (!old)
        return push(c, r, "the baseline does not have it");
    if (strcmp(old->unit, r.unit))
        return push(c, r, "the baseline has it in another unit");
    r.baseline = old->value;
    r.status = ZS_CHECK_PASSED;
    set_limit(c, t, &r);
    return push(c, r, "");
}

static const struct zs_profile *profile_of(const struct zs_names *names,
                                           const struct zs_baseline_kernel *k)
{
    const struct zs_profiles *t = names->profiles;
    for (size_t i = 0; i < t->kernels.count; i++)
        if (t->kernels.items[i]->ordinal == k->ordinal &&
            !strcmp(t->kernels.items[i]->name, k->name))
            return t->kernels.items[i];
    return NULL;
}

static int compare_kernel(struct zs_check *c, const struct zs_baseline_kernel *k, bool *used)
{
    const struct zs_tolerance *tolerances = c->tolerances.items;
    size_t count = c->tolerances.count;
    const struct zs_profile *p = profile_of(c->names, k);
    int error = 0;
    if (p)
        error = zs_names_select(c->names, p);
    for (size_t i = 0; i < count && !error; i++) {
        if (tolerances[i].glob && fnmatch(tolerances[i].glob, k->name, 0))
            continue;
        used[i] = true;
        if (p)
            error = compare(c, k, p, &tolerances[i], false);
    }
    for (int q = 0; q < ZS_QUANTITIES && !count && p && !error; q++) {
        const struct zs_quantity_row *row = &zs_quantity_rows[q];
        struct zs_tolerance exact = {.text = row->name, .name = (char *)(uintptr_t)row->name};
        if (row->exact && row->better != ZS_BETTER_NEITHER)
            error = compare(c, k, p, &exact, true);
    }
    if (p || error)
        return error;
    struct zs_check_result gone = result_of(c, k, NULL, "--baseline", "kernel");
    gone.kernel_name = keep(c, k->name);
    gone.status = ZS_CHECK_UNKNOWN;
    return gone.kernel_name ? push(c, gone, "it is in the baseline and did not run") : -ENOMEM;
}

int zs_rank_check_baseline(struct zs_check *c, const struct zs_baseline *b, bool *used)
{
    int error = 0;
    for (size_t i = 0; i < b->kernels.count && !error; i++)
        if (!strcmp(b->kernels.items[i].rank, c->rank))
            error = compare_kernel(c, &b->kernels.items[i], used);
    return error;
}

int zs_check_unused_tolerances(struct zs_check *c, const bool *used)
{
    static const struct zs_baseline_kernel none = {.name = ""};
    int error = 0;
    for (size_t i = 0; i < c->tolerances.count && !error; i++) {
        const struct zs_tolerance *t = &c->tolerances.items[i];
        if (used[i])
            continue;
        struct zs_check_result r = result_of(c, &none, NULL, keep(c, t->text), keep(c, t->name));
        r.rank = "";
        r.status = ZS_CHECK_UNKNOWN;
        error =
            r.what && r.assertion ? push(c, r, "the baseline has no kernel of that name") : -ENOMEM;
    }
    return error;
}

int zs_check_missing_rank(struct zs_check *c, const char *rank)
{
    static const struct zs_baseline_kernel none = {.name = ""};
    struct zs_check_result r = result_of(c, &none, NULL, "--baseline", keep(c, rank));
    r.rank = r.what;
    r.status = ZS_CHECK_UNKNOWN;
    return r.what ? push(c, r, "the baseline has a recording of that name, and the folder has none")
                  : -ENOMEM;
}

/* ---- all recordings together ---- */

/* What a kernel has in all recordings of the folder; NaN with a sentence: one does not tell. */
static int sum_of_ranks(struct zs_check *c, const struct zs_baseline_kernel *k, const char *name,
                        struct zs_check_result *r, char why[static 400])
{
    r->value = 0;
    for (size_t i = 0; i < c->analysis->ranks.count; i++) {
        struct zs_names *names = &c->analysis->ranks.items[i]->names;
        const struct zs_profile *p = profile_of(names, k);
        double value;
        if (!p)
            continue;
        if (zs_names_select(names, p))
            return -ENOMEM;
        if (!zs_names_value(names, name, &value, &r->unit, why, 400))
            value = NAN;
        r->value += value;
        if (isnan(value))
            return 0;
    }
    return 0;
}

static double sum_of_baseline(const struct zs_baseline *b, const struct zs_baseline_kernel *k,
                              const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < b->kernels.count; i++) {
        const struct zs_baseline_kernel *other = &b->kernels.items[i];
        if (other->ordinal != k->ordinal || strcmp(other->name, k->name))
            continue;
        const struct zs_baseline_value *value = value_of(other, name);
        sum += value ? value->value : (double)NAN;
    }
    return sum;
}

static int compare_sum(struct zs_check *c, const struct zs_baseline *b,
                       const struct zs_baseline_kernel *k, const struct zs_tolerance *t,
                       bool is_default)
{
    char why[400] = "";
    struct zs_check_result r = result_of(c, k, NULL, keep(c, t->text), keep(c, t->name));
    r.kernel_name = keep(c, k->name);
    r.ordinal = k->ordinal;
    r.rank = "";
    r.summed = (uint32_t)c->analysis->ranks.count;
    double baseline = sum_of_baseline(b, k, t->name);
    if (!r.assertion || !r.what || !r.kernel_name || sum_of_ranks(c, k, t->name, &r, why))
        return -ENOMEM;
    if (isnan(baseline) && is_default)
        return 0;
    r.status = ZS_CHECK_UNKNOWN;
    if (isnan(r.value))
        return push(c, r, why);
    if (isnan(baseline))
        return push(c, r, "not every recording of the baseline has it");
    r.baseline = baseline;
    r.status = ZS_CHECK_PASSED;
    set_limit(c, t, &r);
    return push(c, r, "");
}

static int compare_sums(struct zs_check *c, const struct zs_baseline *b,
                        const struct zs_baseline_kernel *k)
{
    int error = 0;
    for (size_t i = 0; i < c->tolerances.count && !error; i++) {
        const struct zs_tolerance *t = &c->tolerances.items[i];
        int q = zs_quantity_find(t->name);
        if (q >= 0 && zs_quantity_rows[q].adds && (!t->glob || !fnmatch(t->glob, k->name, 0)))
            error = compare_sum(c, b, k, t, false);
    }
    for (int q = 0; q < ZS_QUANTITIES && !c->tolerances.count && !error; q++) {
        const struct zs_quantity_row *row = &zs_quantity_rows[q];
        struct zs_tolerance exact = {.text = row->name, .name = (char *)(uintptr_t)row->name};
        if (row->exact && row->adds && row->better != ZS_BETTER_NEITHER)
            error = compare_sum(c, b, k, &exact, true);
    }
    return error;
}

static bool is_first_of_name(const struct zs_baseline *b, size_t at)
{
    const struct zs_baseline_kernel *k = &b->kernels.items[at];
    for (size_t i = 0; i < at; i++)
        if (b->kernels.items[i].ordinal == k->ordinal && !strcmp(b->kernels.items[i].name, k->name))
            return false;
    return true;
}

static bool is_anywhere(const struct zs_check *c, const struct zs_baseline_kernel *k)
{
    for (size_t i = 0; i < c->analysis->ranks.count; i++)
        if (profile_of(&c->analysis->ranks.items[i]->names, k))
            return true;
    return false;
}

int zs_ranks_check_baseline(struct zs_check *c, const struct zs_baseline *b)
{
    int error = 0;
    for (size_t i = 0; i < b->kernels.count && !error; i++)
        if (is_first_of_name(b, i) && is_anywhere(c, &b->kernels.items[i]))
            error = compare_sums(c, b, &b->kernels.items[i]);
    return error;
}
