/* SPDX-License-Identifier: MIT */
/* Names chosen by extended regular expressions. */
#ifndef ZS_BASE_FILTER_H
#define ZS_BASE_FILTER_H

#include "base/diag.h"
#include "base/span.h"

#include <regex.h>

/* Zeros: everything matches. */
struct zs_filter {
    regex_t *patterns;
    size_t count;
    /* another form of a name that may match, too, or NULL for none; NULL: there is no such form */
    const char *(*other_form)(const char *name, size_t size_B);
};

/* 0, -ENOMEM, or -EINVAL with a sentence that names the expression. diag may be NULL. */
int zs_filter_compile(struct zs_filter *filter, const char *const *patterns, size_t count,
                      struct zs_diag *diag);
/* Of "REGEX:N" the number, which is cut off; otherwise: there is none. */
uint64_t zs_filter_cut_number(char *text, uint64_t otherwise);
void zs_filter_fini(struct zs_filter *filter);
/* Whether any matches, or there is none. */
bool zs_filter_matches(const struct zs_filter *filter, const char *name);
/* The same for bytes that do not end in a NUL (names longer than 255 are cut). */
bool zs_filter_matches_span(const struct zs_filter *filter, struct zs_span name);

#endif
