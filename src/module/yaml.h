/* SPDX-License-Identifier: MIT */
/*
 * A pull reader for the subset of YAML that .ze_info is written in: block maps and block
 * sequences by indentation, "key: value" with plain, 'single' or "double" quoted scalars, flow
 * sequences of scalars [ 1, 2, 3 ], comments, document markers. No anchors, tags, nested flow
 * collections or multi-line scalars: where those stand below a key that nobody asks for they are
 * skipped by indentation.
 *
 * Nothing is stored: memory does not depend on the input. Cost is linear.
 */
#ifndef ZS_MODULE_YAML_H
#define ZS_MODULE_YAML_H

#include "base/arena.h"
#include "base/diag.h"

#include <zescope/common.h>

#define ZS_YAML_NO_DASH UINT32_MAX

/* One line with content. "- key: value": dash is the column of '-', indent that of the key. */
struct zs_yaml_line {
    bool end; /* no more lines; the other members are zero */
    uint32_t dash;
    uint32_t indent;
    struct zs_span key;   /* empty: a scalar item, or no "key:" on the line */
    struct zs_span value; /* trimmed, quotes still around it; may be empty */
    uint64_t offset_B;    /* of the key or scalar, in the input */
};

struct zs_yaml {
    struct zs_span text;
    size_t at_B;
    uint64_t base_B; /* offset of text in the input */
    struct zs_yaml_line line;
};

/* Start; y->line is the first line. */
void zs_yaml_init(struct zs_yaml *y, struct zs_span text, uint64_t base_B);
void zs_yaml_next(struct zs_yaml *y);
/* Whether the current line lies below a key at that indentation ("key:" and what it holds). */
bool zs_yaml_below(const struct zs_yaml *y, uint32_t indent);
/* Move past the current line and everything below it. */
void zs_yaml_skip(struct zs_yaml *y);

bool zs_yaml_key_is(const struct zs_yaml_line *line, const char *key);
/* Scalar conversions: false when the value is something else. */
bool zs_yaml_u32(struct zs_span value, uint32_t *ret);
bool zs_yaml_i64(struct zs_span value, int64_t *ret);
bool zs_yaml_bool(struct zs_span value, bool *ret);
/* "[ a, b, c ]": item i, trimmed; false when there is none. */
bool zs_yaml_item(struct zs_span value, uint32_t index, struct zs_span *ret_item);
/* Unquoted copy in the arena ("" for an empty value); NULL when there is no memory. */
const char *zs_yaml_string(struct zs_span value, struct zs_arena *arena);

#endif
