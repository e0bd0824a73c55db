/* SPDX-License-Identifier: MIT */
#ifndef ZS_METRICS_FORMULA_PRIV_H
#define ZS_METRICS_FORMULA_PRIV_H

#include "metrics/formula.h"

enum node_kind {
    NODE_NUMBER, /* value in base units */
    NODE_NAME,
    NODE_NEGATE,
    NODE_NOT,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_LESS,
    NODE_LESS_EQUAL,
    NODE_GREATER,
    NODE_GREATER_EQUAL,
    NODE_EQUAL,
    NODE_NOT_EQUAL,
    NODE_AND,
    NODE_OR,
    NODE_MIN,
    NODE_MAX,
    NODE_ABS,
    NODE_IF,
};

enum { NO_NODE = UINT32_MAX };

/* Children come before their parents. */
struct node {
    enum node_kind kind;
    uint32_t line, column;
    uint32_t a, b, c; /* or NO_NODE */
    bool has_unit;    /* NUMBER: one was written */
    double value;
    struct zs_unit unit;
    const char *name; /* NAME */
};

struct zs_formula {
    struct node *nodes;
    uint32_t count;
};

struct zs_bound_node {
    enum node_kind kind;
    uint32_t a, b, c;
    uint32_t symbol;
    double value;    /* NUMBER; NAME: the scale of the symbol's unit */
    const char *why; /* NAME that is not there, DIVIDE */
};

/* ">=" for NODE_GREATER_EQUAL; "" for what is no operator. */
const char *formula_operator(enum node_kind kind);

#endif
