/* SPDX-License-Identifier: MIT */
/*
 * Formulas over quantities, with units: docs/formulas.md has the language.
 *
 * A text is parsed (syntax), bound to a set of names (which there are, and their units; here units
 * are checked), and evaluated as often as wanted. Nothing that the text says makes any of them slow
 * or deep: lengths, nesting and the number of parts are bounded.
 *
 * What is not known stays unknown: a value that needs one is NaN, and evaluation says which.
 */
#ifndef ZS_METRICS_FORMULA_H
#define ZS_METRICS_FORMULA_H

#include "base/arena.h"
#include "metrics/unit.h"

#include <zescope/analyze.h>

enum {
    ZS_FORMULA_NODES_MAX = 4096, /* of one formula */
    ZS_FORMULA_NESTING_MAX = 100,
    ZS_FORMULA_NAME_MAX_B = 200,
    ZS_FORMULA_TEXT_MAX_B = 1 << 20,
    ZS_FORMULAS_MAX = 4096, /* definitions and assertions of one text */
};

struct zs_formula; /* opaque: a parsed expression, in an arena */

struct zs_definition {
    const char *name;
    const char *unit;        /* as written in [...], "" for none: then that of the formula */
    const char *description; /* the comment above it, "" */
    const struct zs_formula *formula;
    uint32_t line, column;
};

struct zs_assertion {
    enum zs_assertion_kind kind;
    const char *text;    /* as written */
    const char *kernels; /* a glob, or NULL: all */
    const struct zs_formula *value;
    const struct zs_formula *limit; /* NULL for ZS_ASSERT_HOLDS */
    bool limit_is_bare; /* a number without unit: in the unit of the value as it is shown */
    uint32_t line, column;
};

struct zs_formula_file {
    struct zs_arena arena;
    struct {
        struct zs_definition *items;
        size_t count, capacity;
    } definitions; /* each uses what stands before it only */
    struct {
        struct zs_assertion *items;
        size_t count, capacity;
    } assertions;
};

/* 0; -EINVAL with where and why; -ENOMEM. Free in any case. */
int zs_formula_file_parse(const char *text, size_t size_B, struct zs_formula_file *ret_file,
                          struct zs_formula_error *ret_error);
/* One more assertion, "[GLOB:]EXPR OP LIMIT", or "[GLOB:]CONDITION". */
int zs_formula_file_assert(struct zs_formula_file *file, enum zs_assertion_kind kind,
                           const char *text, struct zs_formula_error *ret_error);
void zs_formula_file_free(struct zs_formula_file *file);

/* ---- binding ---- */

struct zs_formula_symbol {
    uint32_t id;           /* whatever the resolver wants to be asked for */
    struct zs_unit unit;   /* of what `value` gives */
    const char *unit_text; /* as it is shown; "" */
};

/* Names and their values. resolve: false, with a sentence, where there is none of that name.
 * value: NaN with *ret_why (borrowed) where it is not known. */
struct zs_formula_names {
    void *user;
    bool (*resolve)(void *user, const char *name, struct zs_formula_symbol *ret_symbol,
                    char *ret_why, size_t why_B);
    double (*value)(void *user, uint32_t id, const char **ret_why);
};

enum zs_formula_type {
    ZS_FORMULA_NUMBER,
    ZS_FORMULA_CONDITION,
    ZS_FORMULA_UNKNOWN, /* a name in it is not there: always NaN */
};

struct zs_bound {
    struct zs_bound_node *nodes;
    uint32_t count, root;
    enum zs_formula_type type;
    const char *unit_text; /* what its names are shown in, where that is one unit; or "" */
    struct zs_unit unit;   /* of unit_text, or of scale 1 */
    bool is_literal;       /* a number without unit */
    const char *missing;   /* UNKNOWN: the sentence about the first name that is not there */
};

/* 0; -EINVAL: units do not fit, with the place; -ENOMEM. ret_bound lives in `arena`. */
int zs_formula_bind(const struct zs_formula *formula, const struct zs_formula_names *symbols,
                    struct zs_arena *arena, struct zs_bound *ret_bound,
                    struct zs_formula_error *ret_error);
/* The value in base units (bytes, nanoseconds, cycles; a condition is 0 or 1), or NaN with a
 * sentence why, which lives as long as the arena and what the resolver gave. */
double zs_bound_value(const struct zs_bound *bound, const struct zs_formula_names *symbols,
                      const char **ret_why);

#endif
