/* SPDX-License-Identifier: MIT */
/*
 * What limits a kernel: its place under the roofline, how many threads fit, and findings. A finding
 * comes from a rule, one row of rules.def and a function of rules.c: it says what was found with
 * the numbers that led to it, where, and what to try. A rule that needs what was not recorded says
 * so.
 */
#ifndef ZS_METRICS_ANALYSIS_H
#define ZS_METRICS_ANALYSIS_H

#include "metrics/addresses.h"
#include "metrics/names.h"

#include <zescope/analyze.h>

enum zs_rule_id {
#define RULE(id, key, title, gain, advice) ZS_RULE_##id,
#include "metrics/rules.def"
#undef RULE
    ZS_RULES
};

struct zs_rule {
    const char *key, *title, *gain, *advice;
};
extern const struct zs_rule zs_rules[ZS_RULES];

enum { ZS_FINDING_NUMBERS = 8, ZS_FINDING_PLACES = 3, ZS_ROOFS = 3 };

struct zs_found {
    enum zs_rule_id rule;
    double severity; /* 0 to 1: how much of the kernel's work it is about */
    double gain;     /* percent of its time, at most; NaN: not measured */
    double least;    /* ... and at least, where ways of mending differ; else as much */
    bool is_general; /* causes of other kinds look like it, too */
    bool is_choice;  /* the range is of ways to mend it: the best one counts */
    char text[400];
    struct zs_finding_number numbers[ZS_FINDING_NUMBERS];
    uint32_t number_count;
    struct zs_source_place places[ZS_FINDING_PLACES]; /* the most first */
    uint32_t place_count;
};

struct zs_judged {
    const struct zs_profile *profile;
    struct zs_roofline roofline;
    struct zs_roof roofs[ZS_ROOFS]; /* those of `roofline` */
    struct zs_found *findings;      /* the most severe first */
    uint32_t finding_count;
    struct zs_limit limit;
    const char *not_judged[ZS_RULES]; /* a sentence of what is missing; NULL: judged */
};

struct zs_rank_analysis {
    const struct zs_profiles *profiles;
    struct zs_names names;
    struct zs_judged *kernels; /* in the order of the profiles */
    size_t kernel_count;
    struct zs_arena arena;
};

/* 0 or -ENOMEM. The profiles live as long; free in any case. */
int zs_rank_analysis_make(const struct zs_profiles *profiles,
                          struct zs_rank_analysis *ret_analysis);
void zs_rank_analysis_free(struct zs_rank_analysis *analysis);
/* Whether times are those of zescope's software GPU. */
bool zs_profiles_are_modelled(const struct zs_profiles *profiles);

const char *zs_limiter_text(enum zs_limiter limiter);

#endif
