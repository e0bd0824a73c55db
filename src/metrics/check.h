/* SPDX-License-Identifier: MIT */
/*
 * Assertions on the kernels of a recording, and comparison with a baseline. Every assertion gives a
 * result for each kernel that it is on, and one result where there is no such kernel: that is a
 * failure, as is a value that is not known.
 */
#ifndef ZS_METRICS_CHECK_H
#define ZS_METRICS_CHECK_H

#include "metrics/names.h"

enum zs_check_status {
    ZS_CHECK_PASSED,
    ZS_CHECK_FAILED,
    ZS_CHECK_UNKNOWN, /* cannot be judged: it fails, too */
};

struct zs_check_result {
    enum zs_check_status status;
    const char *assertion;           /* as written */
    const char *origin;              /* "--max", "limits.zsm:3", "--baseline" */
    const struct zs_profile *kernel; /* NULL: no kernel, or one that the baseline alone has */
    const char *kernel_name;         /* "" for none */
    const char *what;                /* the value's name or formula */
    double value, limit;             /* in `unit`; NaN: none */
    const char *unit;
    const char *relation;         /* "at most", "at least", "" for conditions */
    const char *why;              /* a sentence, or "" */
    double baseline;              /* NaN: none */
    struct zs_source_place place; /* path "": not known */
};

struct zs_check {
    struct zs_names names;
    struct {
        struct zs_check_result *items;
        size_t count, capacity;
    } results;
    size_t failed; /* or unknown */
};

void zs_check_init(struct zs_check *check, const struct zs_profiles *profiles);
void zs_check_fini(struct zs_check *check);

/* All assertions of a file, whose definitions have been taken (zs_names_define). `origin`: of all
 * of them; NULL: "file:LINE". 0, -EINVAL with the place, -ENOMEM. */
int zs_check_assertions(struct zs_check *check, const struct zs_formula_file *file,
                        const char *file_name, const char *const *origins,
                        struct zs_formula_error *ret_error);

/* ---- baseline ---- */

struct zs_baseline_value {
    const char *name, *unit;
    double value;
};

struct zs_baseline_kernel {
    const char *name;
    uint32_t ordinal; /* among kernels of this name */
    const struct zs_baseline_value *values;
    size_t value_count;
};

struct zs_baseline {
    struct zs_arena arena;
    struct {
        struct zs_baseline_kernel *items;
        size_t count, capacity;
    } kernels;
};

/* From a file of zescope.baseline/1, hostile input. 0, -errno with a sentence. */
int zs_baseline_parse(struct zs_span text, struct zs_baseline *ret_baseline, struct zs_diag *diag);
/* From another recording, with the definitions of these files. */
int zs_baseline_take(struct zs_names *names, struct zs_baseline *ret_baseline);
void zs_baseline_free(struct zs_baseline *baseline);
/* As zescope.baseline/1. */
void zs_baseline_json(const struct zs_baseline *baseline, const char *recording,
                      struct zs_buf *out);

/* "[GLOB:]NAME=VALUE": how far a value may be from the baseline's. */
struct zs_tolerance {
    const char *text;
    char *glob; /* NULL: all kernels */
    char *name;
    double amount; /* percent of the baseline's value, or in the value's unit */
    bool is_percent;
    bool up, down; /* changes that count; neither: the worse direction, or both */
};
int zs_tolerance_parse(const char *text, struct zs_tolerance *ret_tolerance, struct zs_diag *diag);
void zs_tolerance_free(struct zs_tolerance *tolerance);

/* Compare what tolerances name, and without any all exact quantities that have a better and a worse
 * side, with tolerance 0. 0 or -ENOMEM. */
int zs_check_baseline(struct zs_check *check, const struct zs_baseline *baseline,
                      const struct zs_tolerance *tolerances, size_t tolerance_count);

#endif
