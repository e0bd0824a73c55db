/* SPDX-License-Identifier: MIT */
/*
 * The names that formulas on a recording can use: quantities (quantities.def), metrics of recorded
 * groups as "Group.Metric" or "Metric", and definitions. A metric that several groups have is, by
 * its bare name, that of the first group that measures launches.
 */
#ifndef ZS_METRICS_NAMES_H
#define ZS_METRICS_NAMES_H

#include "metrics/formula.h"
#include "metrics/profile.h"

struct zs_named_definition {
    const struct zs_definition *definition;
    struct zs_bound bound;
    struct zs_unit unit;
    char unit_text[ZS_UNIT_TEXT_B]; /* that values are shown in */
};

struct zs_names {
    const struct zs_profiles *profiles;
    const struct zs_profile *selected; /* NULL: none, values are of nothing */
    struct zs_arena arena;
    struct {
        struct zs_named_definition *items;
        size_t count, capacity;
    } definitions;
    double *values; /* of definitions for the selected kernel, in base units */
    const char **whys;
};

void zs_names_init(struct zs_names *names, const struct zs_profiles *profiles);
void zs_names_fini(struct zs_names *names);
/* Definitions of a file, which lives as long; no kernel is selected then. 0, -EINVAL with the
 * place, -ENOMEM. */
int zs_names_define(struct zs_names *names, const struct zs_formula_file *file,
                    struct zs_formula_error *ret_error);
/* What values are of from now on; definitions are worked out. */
int zs_names_select(struct zs_names *names, const struct zs_profile *profile);
struct zs_formula_names zs_names_for_formulas(struct zs_names *names);
/* The selected kernel's value of a name in the unit that it is shown in. False, with a sentence:
 * there is no such name. A value that is not known is NaN, with the reason. */
bool zs_names_value(struct zs_names *names, const char *name, double *ret_value,
                    const char **ret_unit, char *ret_why, size_t why_B);
/* What a comparison calls better; NEITHER for definitions and most metrics. */
enum zs_better zs_names_better(const struct zs_names *names, const char *name);
/* The quantity of that name, or -1. */
int zs_quantity_find(const char *name);

#endif
