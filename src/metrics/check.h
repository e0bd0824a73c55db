/* SPDX-License-Identifier: MIT */
/*
 * Assertions on the kernels of a recording, and comparison with a baseline. Every assertion gives a
 * result for each kernel that it is on, and one result where there is no such kernel: that is a
 * failure, as is a value that is not known.
 */
#ifndef ZS_METRICS_CHECK_H
#define ZS_METRICS_CHECK_H

#include "metrics/names.h"

/* "[GLOB:]NAME=VALUE": how far a value may be from the baseline's. */
struct zs_tolerance {
    const char *text;
    char *glob; /* NULL: all kernels */
    char *name;
    double amount; /* percent of the baseline's value, or in the value's unit */
    bool is_percent;
    bool up, down; /* changes that count; neither: the worse direction, or both */
};

struct zs_check {
    struct zs_analysis *analysis;
    struct zs_names *names; /* of the recording that is judged ... */
    const char *rank;       /* ... and its name among others */
    struct {
        struct zs_check_result *items;
        size_t count, capacity;
    } results;
    size_t failed; /* or unknown */
    struct {
        struct zs_tolerance *items;
        size_t count, capacity;
    } tolerances;
    struct {
        struct zs_formula_file **items;
        size_t count, capacity;
    } files; /* of assertions that were given one by one */
};

/* A result that passed, without values, on a kernel; profile NULL: on none. Texts are borrowed. */
struct zs_check_result zs_check_result_make(const struct zs_check *check,
                                            const struct zs_profile *profile, const char *assertion,
                                            const char *origin, const char *what);
/* A copy that lives as long as the recording that is judged; NULL: no memory. */
const char *zs_check_keep(struct zs_check *check, const char *text);
/* Adds a result; `why` is copied. 0 or -ENOMEM, also where one of its texts is NULL. */
int zs_check_push(struct zs_check *check, struct zs_check_result result, const char *why);
/* The line of a kernel with most of a quantity; of other names where the kernel begins. */
struct zs_source_place zs_check_place(const struct zs_check *check,
                                      const struct zs_profile *profile, const char *name);

/* One assertion on the recording's kernels; *ret_found: how many it was on. 0, -EINVAL with the
 * place, -ENOMEM. */
int zs_rank_check(struct zs_check *check, const struct zs_assertion *assertion, const char *origin,
                  size_t *ret_found, struct zs_formula_error *ret_error);
/* What is said of an assertion on no kernel at all. */
int zs_rank_check_none(struct zs_check *check, const struct zs_assertion *assertion,
                       const char *origin);

/* ---- baseline ---- */

struct zs_baseline_value {
    const char *name, *unit;
    double value;
};

struct zs_baseline_kernel {
    const char *name;
    const char *rank; /* its recording among others; "": there is one */
    uint32_t ordinal; /* among kernels of this name in the recording */
    const struct zs_baseline_value *values;
    size_t value_count;
};

struct zs_baseline {
    struct zs_arena arena;
    const char *clock; /* as struct zs_recording_info has it; NULL: unknown, or not one */
    struct {
        struct zs_baseline_kernel *items;
        size_t count, capacity;
    } kernels;
};

/* From a file of zescope.baseline/1, hostile input. 0, -errno with a sentence. */
int zs_baseline_parse(struct zs_span text, struct zs_baseline *ret_baseline, struct zs_diag *diag);
void zs_baseline_init(struct zs_baseline *baseline);
/* Adds what a recording knows of its kernels. 0 or -ENOMEM. */
int zs_baseline_take(struct zs_names *names, const char *rank, struct zs_baseline *baseline);
void zs_baseline_free(struct zs_baseline *baseline);
/* As zescope.baseline/1. */
void zs_baseline_json(const struct zs_baseline *baseline, const char *recording,
                      struct zs_buf *out);

int zs_tolerance_parse(const char *text, struct zs_tolerance *ret_tolerance, struct zs_diag *diag);
void zs_tolerance_free(struct zs_tolerance *tolerance);

/* Of the recording that is judged: compare what tolerances name, and without any all exact
 * quantities that have a better and a worse side, with tolerance 0. used: a flag for each
 * tolerance, set where it was for a kernel of the baseline. 0 or -ENOMEM. */
int zs_rank_check_baseline(struct zs_check *check, const struct zs_baseline *baseline, bool *used);
/* The same of what all recordings of a folder have together: quantities that add up. */
int zs_ranks_check_baseline(struct zs_check *check, const struct zs_baseline *baseline);
/* Failures: tolerances that are for no kernel; a recording of the baseline that is not there. */
int zs_check_unused_tolerances(struct zs_check *check, const bool *used);
int zs_check_missing_rank(struct zs_check *check, const char *rank);

#endif
