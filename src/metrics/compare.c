/* SPDX-License-Identifier: MIT */
/* Kernels held against a baseline, each recording's and what those of a folder have together. */
#include "metrics/analyze_priv.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
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

static struct zs_check_result make(struct zs_check *c, const struct zs_profile *p,
                                   const char *assertion, const char *what)
{
    return zs_check_result_make(c, p, zs_check_keep(c, assertion), "--baseline",
                                zs_check_keep(c, what));
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

static int compare(struct zs_check *c, const struct zs_baseline_kernel *k,
                   const struct zs_profile *p, const struct zs_tolerance *t, bool is_default)
{
    char why[400] = "";
    const struct zs_baseline_value *old = value_of(k, t->name);
    struct zs_check_result r = make(c, p, t->text, t->name);
    if (!r.assertion || !r.what)
        return -ENOMEM;
    bool known = zs_names_value(c->names, t->name, &r.value, &r.unit, why, sizeof(why));
    /* what neither knows is nothing that changed, unless it was asked for */
    if (is_default && !old)
        return 0;
    r.place = zs_check_place(c, p, t->name);
    r.status = ZS_CHECK_UNKNOWN;
    if (!known || isnan(r.value))
        return zs_check_push(c, r, why);
    if (!old)
        return zs_check_push(c, r, "the baseline does not have it");
    if (strcmp(old->unit, r.unit))
        return zs_check_push(c, r, "the baseline has it in another unit");
    r.baseline = old->value;
    r.status = ZS_CHECK_PASSED;
    set_limit(c, t, &r);
    return zs_check_push(c, r, "");
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
    struct zs_check_result gone = make(c, NULL, "--baseline", "kernel");
    gone.kernel_name = zs_check_keep(c, k->name);
    gone.rank = c->rank;
    gone.status = ZS_CHECK_UNKNOWN;
    return zs_check_push(c, gone, "it is in the baseline and did not run");
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
    int error = 0;
    for (size_t i = 0; i < c->tolerances.count && !error; i++) {
        const struct zs_tolerance *t = &c->tolerances.items[i];
        if (used[i])
            continue;
        struct zs_check_result r = make(c, NULL, t->text, t->name);
        r.status = ZS_CHECK_UNKNOWN;
        error = zs_check_push(c, r, "the baseline has no kernel of that name");
    }
    return error;
}

int zs_check_missing_rank(struct zs_check *c, const char *rank)
{
    struct zs_check_result r = make(c, NULL, "--baseline", rank);
    r.rank = r.what;
    r.status = ZS_CHECK_UNKNOWN;
    return zs_check_push(c, r,
                         "the baseline has a recording of that name, and the folder has none");
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
    struct zs_check_result r = make(c, NULL, t->text, t->name);
    r.kernel_name = zs_check_keep(c, k->name);
    r.ordinal = k->ordinal;
    r.summed = (uint32_t)c->analysis->ranks.count;
    double baseline = sum_of_baseline(b, k, t->name);
    if (!r.assertion || !r.what || !r.kernel_name || sum_of_ranks(c, k, t->name, &r, why))
        return -ENOMEM;
    if (isnan(baseline) && is_default)
        return 0;
    r.status = ZS_CHECK_UNKNOWN;
    if (isnan(r.value))
        return zs_check_push(c, r, why);
    if (isnan(baseline))
        return zs_check_push(c, r, "not every recording of the baseline has it");
    r.baseline = baseline;
    r.status = ZS_CHECK_PASSED;
    set_limit(c, t, &r);
    return zs_check_push(c, r, "");
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
