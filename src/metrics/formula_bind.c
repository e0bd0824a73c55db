/* SPDX-License-Identifier: MIT */
/*
 * Names to symbols, and units: nodes are visited in their order, in which children come before
 * their parents, so nothing here recurses but the evaluation of `if`, as deep as the text is
 * nested.
 */
#include "metrics/formula_priv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a part of the formula is. */
struct part {
    enum zs_formula_type type;
    struct zs_unit unit; /* the powers count */
    const char *unit_text;
    bool is_literal; /* made of numbers without unit alone */
    bool is_zero;
};

struct binder {
    const struct zs_formula *formula;
    const struct zs_formula_names *symbols;
    struct zs_arena *arena;
    struct zs_bound *bound;
    struct zs_formula_error *error;
    struct part *parts;
    int failed;
};

static void ZS_PRINTF(3, 4) fail(struct binder *b, const struct node *node, const char *format, ...)
{
    va_list args;
    if (b->failed)
        return;
    b->failed = -EINVAL;
    b->error->line = node->line;
    b->error->column = node->column;
    va_start(args, format);
    vsnprintf(b->error->text, sizeof(b->error->text), format, args);
    va_end(args);
}

static void bind_name(struct binder *b, const struct node *n, struct zs_bound_node *to,
                      struct part *part)
{
    char why[400] = "";
    struct zs_formula_symbol symbol = {.unit = zs_unit_one, .unit_text = ""};
    if (b->symbols->resolve(b->symbols->user, n->name, &symbol, why, sizeof(why))) {
        to->symbol = symbol.id;
        to->value = symbol.unit.scale;
        *part = (struct part){ZS_FORMULA_NUMBER, symbol.unit, symbol.unit_text, false, false};
        return;
    }
    to->why = zs_arena_strndup(b->arena, why, strlen(why));
    if (!to->why)
        b->failed = -ENOMEM;
    else if (!b->bound->missing)
        b->bound->missing = to->why;
    *part = (struct part){ZS_FORMULA_UNKNOWN, zs_unit_one, "", false, false};
}

/* Both sides must be of one kind, or a zero. False: not known, or refused. */
static bool match(struct binder *b, const struct node *n, const char *what, const struct part *x,
                  const struct part *y)
{
    char left[ZS_UNIT_TEXT_B], right[ZS_UNIT_TEXT_B];
    if (x->type == ZS_FORMULA_UNKNOWN || y->type == ZS_FORMULA_UNKNOWN)
        return false;
    const struct part *number = x->is_literal ? x : y, *other = x->is_literal ? y : x;
    bool percent = number->is_literal && !other->is_literal && *other->unit_text &&
                   other->unit.scale == 0.01 && zs_unit_same_kind(&other->unit, &zs_unit_one);
    if (number->is_literal && number->is_zero)
        return true;
    if (percent) {
        fail(b, n, "%s of a value in percent and a number without unit: write '60%%' for 60 %%",
             what);
        return false;
    }
    if (zs_unit_same_kind(&x->unit, &y->unit))
        return true;
    zs_unit_kind(&x->unit, left);
    zs_unit_kind(&y->unit, right);
    fail(b, n, "%s of %s and %s: the units do not fit", what, left, right);
    return false;
}

/* What two values of one kind are together. */
static struct part join(const struct part *x, const struct part *y)
{
    struct part p = x->is_literal ? *y : *x;
    bool same = !strcmp(x->unit_text, y->unit_text);
    if (x->type == ZS_FORMULA_UNKNOWN || y->type == ZS_FORMULA_UNKNOWN)
        p.type = ZS_FORMULA_UNKNOWN;
    if (!same && !x->is_literal && !y->is_literal)
        p.unit_text = "";
    p.is_literal = x->is_literal && y->is_literal;
    p.is_zero = false;
    return p;
}

static struct part multiplied(struct binder *b, const struct node *n, const struct part *x,
                              const struct part *y)
{
    struct part p = {.type = ZS_FORMULA_NUMBER, .unit = zs_unit_one, .unit_text = ""};
    bool divide = n->kind == NODE_DIVIDE;
    if (x->type == ZS_FORMULA_UNKNOWN || y->type == ZS_FORMULA_UNKNOWN) {
        p.type = ZS_FORMULA_UNKNOWN;
        return p;
    }
    /* scales are in the values: powers alone */
    struct zs_unit left = x->unit, right = y->unit;
    left.scale = right.scale = 1;
    if (!zs_unit_combine(&left, &right, divide ? -1 : 1, &p.unit))
        fail(b, n, "a unit to a power higher than %d", ZS_UNIT_POWER_MAX);
    p.is_literal = x->is_literal && y->is_literal;
    /* bytes times 2 are shown as bytes */
    const struct part *shown = y->is_literal ? x : x->is_literal && !divide ? y : NULL;
    if (shown && !p.is_literal) {
        p.unit_text = shown->unit_text;
        p.unit = shown->unit;
    }
    return p;
}

static struct part compared(struct binder *b, const struct node *n, const struct part *x,
                            const struct part *y)
{
    bool known = x->type != ZS_FORMULA_UNKNOWN && y->type != ZS_FORMULA_UNKNOWN;
    match(b, n, "a comparison", x, y);
    return (struct part){known ? ZS_FORMULA_CONDITION : ZS_FORMULA_UNKNOWN, zs_unit_one, "", false,
                         false};
}

static bool need_condition(struct binder *b, const struct node *n, const struct part *x,
                           const char *what)
{
    if (x->type == ZS_FORMULA_NUMBER)
        fail(b, n, "%s needs a condition, as in 'a > b': a number stands there", what);
    return x->type == ZS_FORMULA_CONDITION;
}

static bool need_number(struct binder *b, const struct node *n, const struct part *x)
{
    if (x->type == ZS_FORMULA_CONDITION)
        fail(b, n,
             "a number is needed here, and a condition stands there: if(condition, 1, 0) is "
             "one");
    return x->type != ZS_FORMULA_CONDITION;
}

static struct part logical(struct binder *b, const struct node *n, const struct part *x,
                           const struct part *y)
{
    const char *what = n->kind == NODE_AND ? "'and'" : n->kind == NODE_OR ? "'or'" : "'not'";
    bool known = need_condition(b, n, x, what);
    if (y && !need_condition(b, n, y, what))
        known = false;
    return (struct part){known ? ZS_FORMULA_CONDITION : ZS_FORMULA_UNKNOWN, zs_unit_one, "", false,
                         false};
}

static struct part conditional(struct binder *b, const struct node *n, const struct part *parts)
{
    const struct part *x = &parts[n->b], *y = &parts[n->c];
    bool known = need_condition(b, n, &parts[n->a], "if()");
    if (x->type == ZS_FORMULA_CONDITION && y->type == ZS_FORMULA_CONDITION)
        return *x;
    if (!need_number(b, n, x) || !need_number(b, n, y))
        return *x;
    match(b, n, "if()", x, y);
    struct part p = join(x, y);
    if (!known)
        p.type = ZS_FORMULA_UNKNOWN;
    return p;
}

static struct part bind_pair(struct binder *b, const struct node *n)
{
    const struct part *x = &b->parts[n->a], *y = &b->parts[n->b];
    if (n->kind == NODE_AND || n->kind == NODE_OR)
        return logical(b, n, x, y);
    if (!need_number(b, n, x) || !need_number(b, n, y))
        return *x;
    if (n->kind >= NODE_LESS && n->kind <= NODE_NOT_EQUAL)
        return compared(b, n, x, y);
    if (n->kind == NODE_MULTIPLY || n->kind == NODE_DIVIDE)
        return multiplied(b, n, x, y);
    match(b, n,
          n->kind == NODE_ADD        ? "a sum"
          : n->kind == NODE_SUBTRACT ? "a difference"
          : n->kind == NODE_MIN      ? "min()"
                                     : "max()",
          x, y);
    return join(x, y);
}

static void bind_node(struct binder *b, uint32_t i)
{
    const struct node *n = &b->formula->nodes[i];
    struct zs_bound_node *to = &b->bound->nodes[i];
    struct part *part = &b->parts[i];
    *to = (struct zs_bound_node){.kind = n->kind, n->a, n->b, n->c, .value = n->value};
    switch (n->kind) {
    case NODE_NUMBER:
        *part = (struct part){ZS_FORMULA_NUMBER, n->unit, "", !n->has_unit, n->value == 0};
        break;
    case NODE_NAME:
        bind_name(b, n, to, part);
        break;
    case NODE_NEGATE:
    case NODE_ABS:
        need_number(b, n, &b->parts[n->a]);
        *part = b->parts[n->a];
        break;
    case NODE_NOT:
        *part = logical(b, n, &b->parts[n->a], NULL);
        break;
    case NODE_IF:
        *part = conditional(b, n, b->parts);
        break;
    default:
        *part = bind_pair(b, n);
        break;
    }
}

int zs_formula_bind(const struct zs_formula *formula, const struct zs_formula_names *symbols,
                    struct zs_arena *arena, struct zs_bound *ret_bound,
                    struct zs_formula_error *ret_error)
{
    *ret_error = (struct zs_formula_error){0};
    *ret_bound = (struct zs_bound){.count = formula->count, .root = formula->count - 1};
    ret_bound->nodes = ZS_ARENA_ARRAY(arena, formula->count, struct zs_bound_node);
    struct part *parts = calloc(formula->count + 1u, sizeof(*parts));
    struct binder b = {formula, symbols, arena, ret_bound, ret_error, parts, 0};
    if (!ret_bound->nodes || !parts)
        b.failed = -ENOMEM;
    for (uint32_t i = 0; i < formula->count && !b.failed; i++)
        bind_node(&b, i);
    if (!b.failed) {
        const struct part *root = &parts[ret_bound->root];
        ret_bound->type = root->type;
        ret_bound->unit = root->unit;
        ret_bound->unit_text = root->unit_text;
        if (!*root->unit_text)
            ret_bound->unit.scale = 1;
        ret_bound->is_literal = root->is_literal;
        /* a name that is not there need not matter: if(0 > 1, it, 2) */
        if (root->type != ZS_FORMULA_UNKNOWN)
            ret_bound->missing = NULL;
    }
    free(parts);
    return b.failed;
}

/* ---- values ---- */

struct evaluation {
    const struct zs_bound *bound;
    const struct zs_formula_names *symbols;
    const char *why;
};

static double unknown(struct evaluation *e, const char *why)
{
    if (!e->why)
        e->why = why;
    return NAN;
}

static double of_pair(struct evaluation *e, enum node_kind kind, double x, double y)
{
    if (isnan(x) || isnan(y))
        return NAN;
    switch (kind) {
    case NODE_ADD:
        return x + y;
    case NODE_SUBTRACT:
        return x - y;
    case NODE_MULTIPLY:
        return x * y;
    case NODE_DIVIDE:
        return y == 0 ? unknown(e, "a division by zero") : x / y;
    case NODE_LESS:
        return x < y;
    case NODE_LESS_EQUAL:
        return x <= y;
    case NODE_GREATER:
        return x > y;
    case NODE_GREATER_EQUAL:
        return x >= y;
    case NODE_EQUAL:
        return x == y;
    case NODE_NOT_EQUAL:
        return x != y;
    case NODE_MIN:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

static double value_at(struct evaluation *e, uint32_t i);

static double of_name(struct evaluation *e, const struct zs_bound_node *n)
{
    const char *why = NULL;
    if (n->why)
        return unknown(e, n->why);
    double value = e->symbols->value(e->symbols->user, n->symbol, &why) * n->value;
    return isfinite(value) ? value : unknown(e, why ? why : "it is not known");
}

/* What is certain without the other side does not need it. */
static double of_logic(struct evaluation *e, const struct zs_bound_node *n)
{
    double decides = n->kind == NODE_OR;
    double x = value_at(e, n->a);
    if (x == decides)
        return x;
    double y = value_at(e, n->b);
    return y == decides ? y : isnan(x) ? x : y;
}

static double value_at(struct evaluation *e, uint32_t i)
{
    const struct zs_bound_node *n = &e->bound->nodes[i];
    double x;
    switch (n->kind) {
    case NODE_NUMBER:
        return n->value;
    case NODE_NAME:
        return of_name(e, n);
    case NODE_NEGATE:
        return -value_at(e, n->a);
    case NODE_ABS:
        return fabs(value_at(e, n->a));
    case NODE_NOT:
        x = value_at(e, n->a);
        return isnan(x) ? x : x == 0;
    case NODE_AND:
    case NODE_OR:
        return of_logic(e, n);
    case NODE_IF:
        x = value_at(e, n->a);
        return isnan(x) ? x : value_at(e, x != 0 ? n->b : n->c);
    default:
        x = value_at(e, n->a);
        return of_pair(e, n->kind, x, value_at(e, n->b));
    }
}

double zs_bound_value(const struct zs_bound *bound, const struct zs_formula_names *symbols,
                      const char **ret_why)
{
    struct evaluation e = {bound, symbols, NULL};
    double value = value_at(&e, bound->root);
    if (!isnan(value) && !isfinite(value))
        value = unknown(&e, "it is larger than numbers go");
    if (ret_why)
        *ret_why = isnan(value) ? e.why : NULL;
    return value;
}
