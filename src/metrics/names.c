/* SPDX-License-Identifier: MIT */
#include "metrics/names.h"

#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum name_kind { NAME_QUANTITY, NAME_METRIC, NAME_DEFINITION };
enum { KIND_SHIFT = 24, INDEX_MASK = (1 << KIND_SHIFT) - 1, NEAREST = 3, DISTANCE_NAME_MAX = 64 };

void zs_names_init(struct zs_names *names, const struct zs_profiles *profiles)
{
    *names = (struct zs_names){.profiles = profiles};
    zs_arena_init(&names->arena, (size_t)256 << 20);
}

void zs_names_fini(struct zs_names *names)
{
    free(names->definitions.items);
    free(names->values);
    free(names->whys);
    zs_arena_fini(&names->arena);
}

/* ---- finding ---- */

static int quantity_of(const char *name)
{
    for (int q = 0; q < ZS_QUANTITIES; q++)
        if (!strcasecmp(zs_quantity_rows[q].name, name))
            return q;
    return -1;
}

int zs_quantity_find(const char *name)
{
    return quantity_of(name);
}

/* "Group.Metric", or "Metric": names of metrics have no dot. */
static bool metric_matches(const struct zs_profile_metric *m, const char *name, bool case_matters)
{
    int (*compare)(const char *, const char *) = case_matters ? strcmp : strcasecmp;
    return !compare(m->name, name) || !compare(m->full_name, name);
}

/* Groups of launches before those of stretches of time, as written before any case. */
static int metric_of(const struct zs_profiles *t, const char *name)
{
    for (int pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < t->metrics.count; i++)
            if (t->metrics.items[i].is_time_based == (pass & 1) &&
                metric_matches(&t->metrics.items[i], name, pass < 2))
                return (int)i;
    return -1;
}

static int definition_of(const struct zs_names *n, const char *name)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n->definitions.count; i++) {
            const char *own = n->definitions.items[i].definition->name;
            if (pass ? !strcasecmp(own, name) : !strcmp(own, name))
                return (int)i;
        }
    return -1;
}

/* ---- names that are nearly right ---- */

/* How many characters to insert, leave out or change, whatever their case. */
static size_t distance(const char *a, const char *b)
{
    size_t row[DISTANCE_NAME_MAX + 1], n = strlen(a), m = strlen(b);
    if (n > DISTANCE_NAME_MAX || m > DISTANCE_NAME_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            size_t changed = corner + !same;
            corner = row[j];
            row[j] = ZS_MIN(changed, 1 + ZS_MIN(row[j], row[j - 1]));
        }
    }
    return row[m];
}

struct nearest {
    const char *names[NEAREST];
    size_t distances[NEAREST];
    size_t count;
};

static bool contains(const char *name, const char *part)
{
    for (; *name; name++)
        if (!strncasecmp(name, part, strlen(part)))
            return true;
    return false;
}

static void offer(struct nearest *near, const char *wanted, const char *name)
{
    size_t d = distance(wanted, name);
    if (strlen(wanted) >= 3 && contains(name, wanted))
        d = 1;
    if (d > 2 + strlen(wanted) / 4)
        return;
    for (size_t i = 0; i < near->count; i++)
        if (!strcmp(near->names[i], name))
            return;
    size_t at = near->count;
    while (at && near->distances[at - 1] > d)
        at--;
    if (at == NEAREST)
        return;
    near->count = ZS_MIN(near->count + 1, (size_t)NEAREST);
    for (size_t i = near->count - 1; i > at; i--) {
        near->names[i] = near->names[i - 1];
        near->distances[i] = near->distances[i - 1];
    }
    near->names[at] = name;
    near->distances[at] = d;
}

static void say_missing(const struct zs_names *n, const char *name, char *ret_why, size_t why_B)
{
    struct nearest near = {.count = 0};
    for (int q = 0; q < ZS_QUANTITIES; q++)
        offer(&near, name, zs_quantity_rows[q].name);
    for (size_t i = 0; i < n->definitions.count; i++)
        offer(&near, name, n->definitions.items[i].definition->name);
    for (size_t i = 0; i < n->profiles->metrics.count; i++)
        offer(&near, name, n->profiles->metrics.items[i].name);
    char list[200] = "";
    for (size_t i = 0; i < near.count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "; nearest: ", near.names[i]);
    }
    snprintf(ret_why, why_B,
             "there is no '%.80s' in this recording%s. `zescope record --metrics GROUP` records "
             "metrics of hardware groups%s",
             name, list, n->profiles->metrics.count ? " beside those that are there" : "");
}

/* ---- for formulas ---- */

static bool resolve(void *user, const char *name, struct zs_formula_symbol *ret_symbol,
                    char *ret_why, size_t why_B)
{
    const struct zs_names *n = user;
    int d = definition_of(n, name), q = d < 0 ? quantity_of(name) : -1;
    int m = d < 0 && q < 0 ? metric_of(n->profiles, name) : -1;
    const char *unit = "";
    if (d >= 0) {
        const struct zs_named_definition *own = &n->definitions.items[d];
        /* values are kept in base units: the scale is that of what is shown */
        *ret_symbol = (struct zs_formula_symbol){(uint32_t)(NAME_DEFINITION << KIND_SHIFT | d),
                                                 own->unit, own->unit_text};
        return true;
    }
    if (q >= 0)
        unit = zs_quantity_rows[q].unit;
    else if (m >= 0)
        unit = n->profiles->metrics.items[m].unit;
    else
        say_missing(n, name, ret_why, why_B);
    *ret_symbol = (struct zs_formula_symbol){
        (uint32_t)(q >= 0 ? NAME_QUANTITY << KIND_SHIFT | q : NAME_METRIC << KIND_SHIFT | m),
        zs_unit_of_metric(unit), unit};
    return q >= 0 || m >= 0;
}

static double value(void *user, uint32_t id, const char **ret_why)
{
    const struct zs_names *n = user;
    const struct zs_profile *p = n->selected;
    uint32_t index = id & INDEX_MASK;
    double known = NAN;
    *ret_why = NULL;
    switch (id >> KIND_SHIFT) {
    case NAME_QUANTITY:
        known = p->values[index];
        if (isnan(known))
            *ret_why = zs_profile_why(n->profiles, p, (enum zs_quantity)index);
        break;
    case NAME_METRIC:
        known = p->metrics ? p->metrics[index] : (double)NAN;
        if (isnan(known))
            *ret_why = n->profiles->metrics.items[index].total == ZS_METRIC_TOTAL_NONE
                           ? "values of several launches of this metric do not make one"
                           : "its group measured no launch of this kernel";
        break;
    default:
        known = n->values[index] / n->definitions.items[index].unit.scale;
        *ret_why = n->whys[index];
        break;
    }
    return known;
}

struct zs_formula_names zs_names_for_formulas(struct zs_names *n)
{
    return (struct zs_formula_names){n, resolve, value};
}

int zs_names_select(struct zs_names *n, const struct zs_profile *profile)
{
    const struct zs_formula_names names = zs_names_for_formulas(n);
    n->selected = profile;
    for (size_t i = 0; i < n->definitions.count; i++)
        n->values[i] = zs_bound_value(&n->definitions.items[i].bound, &names, &n->whys[i]);
    return 0;
}

/* ---- definitions ---- */

static int refuse(const struct zs_definition *d, struct zs_formula_error *error,
                  const char *sentence, const char *what)
{
    error->line = d->line;
    error->column = d->column;
    snprintf(error->text, sizeof(error->text), sentence, d->name, what);
    return -EINVAL;
}

/* The unit that it is shown in: as written, else that of its formula. */
static int take_unit(struct zs_named_definition *own, struct zs_formula_error *error)
{
    const struct zs_definition *d = own->definition;
    char kind[ZS_UNIT_TEXT_B];
    own->unit = own->bound.unit;
    if (!*d->unit) {
        if (*own->bound.unit_text)
            snprintf(own->unit_text, sizeof(own->unit_text), "%s", own->bound.unit_text);
        else
            zs_unit_base_text(&own->unit, own->unit_text);
        return 0;
    }
    zs_unit_parse(d->unit, strlen(d->unit), &own->unit);
    snprintf(own->unit_text, sizeof(own->unit_text), "%s", d->unit);
    zs_unit_kind(&own->bound.unit, kind);
    if (own->bound.type == ZS_FORMULA_NUMBER && !own->bound.is_literal &&
        !zs_unit_same_kind(&own->unit, &own->bound.unit))
        return refuse(d, error, "the unit of '%.60s' does not fit: its formula gives %s", kind);
    if (own->bound.is_literal)
        return refuse(d, error,
                      "'%.60s' is a plain number: its unit is written behind the number%s", "");
    return 0;
}

static int define(struct zs_names *n, const struct zs_definition *d, struct zs_formula_error *error)
{
    struct zs_named_definition own = {.definition = d};
    const struct zs_formula_names names = zs_names_for_formulas(n);
    if (quantity_of(d->name) >= 0)
        return refuse(d, error, "'%.60s' is a quantity already%s", "");
    if (definition_of(n, d->name) >= 0)
        return refuse(d, error, "'%.60s' is defined already%s", "");
    int failed = zs_formula_bind(d->formula, &names, &n->arena, &own.bound, error);
    if (failed)
        return failed;
    if (own.bound.type == ZS_FORMULA_CONDITION)
        return refuse(d, error, "'%.60s' is a condition: if(condition, 1, 0) is a number%s", "");
    failed = take_unit(&own, error);
    if (!failed && !ZS_VEC_PUSH(&n->definitions, own))
        failed = -ENOMEM;
    return failed;
}

int zs_names_define(struct zs_names *n, const struct zs_formula_file *file,
                    struct zs_formula_error *ret_error)
{
    size_t before = n->definitions.count;
    int error = 0;
    for (size_t i = 0; i < file->definitions.count && !error; i++)
        error = define(n, &file->definitions.items[i], ret_error);
    double *values = realloc(n->values, (n->definitions.count + 1) * sizeof(*values));
    n->values = values ? values : n->values;
    const char **whys = realloc(n->whys, (n->definitions.count + 1) * sizeof(*whys));
    n->whys = whys ? whys : n->whys;
    n->selected = NULL; /* the new ones are still to be worked out */
    if (!values || !whys) {
        n->definitions.count = before;
        return -ENOMEM;
    }
    return error;
}

bool zs_names_value(struct zs_names *n, const char *name, double *ret_value, const char **ret_unit,
                    char *ret_why, size_t why_B)
{
    struct zs_formula_symbol symbol;
    const char *why;
    *ret_value = NAN;
    *ret_unit = "";
    if (!resolve(n, name, &symbol, ret_why, why_B))
        return false;
    *ret_value = value(n, symbol.id, &why);
    *ret_unit = symbol.unit_text;
    snprintf(ret_why, why_B, "%s", isnan(*ret_value) && why ? why : "");
    return true;
}

enum zs_better zs_names_better(const struct zs_names *n, const char *name)
{
    int q = definition_of(n, name) < 0 ? quantity_of(name) : -1;
    return q >= 0 ? zs_quantity_rows[q].better : ZS_BETTER_NEITHER;
}
