/* SPDX-License-Identifier: MIT */
/* Behind <zescope/analyze.h>: recordings side by side, and the list of their kernels. */
#ifndef ZS_METRICS_ANALYZE_PRIV_H
#define ZS_METRICS_ANALYZE_PRIV_H

#include "base/name_map.h"
#include "metrics/analysis.h"
#include "metrics/check.h"

struct zs_rank {
    const char *name, *path; /* name: "" where it is the only one */
    struct zs_profiles profiles;
    struct zs_names names;
    struct zs_rank_analysis judged; /* when kernels have been asked for */
};

struct zs_analysis_text {
    const char *name;
    struct zs_formula_file file;
};

struct zs_listed {
    struct zs_analyzed kernel;
    struct zs_rank *rank;
    const struct zs_profile *profile;
    uint32_t number; /* by recording */
};

struct zs_analysis {
    struct zs_analysis_info info;
    struct {
        struct zs_rank **items;
        size_t count, capacity;
    } ranks;
    struct {
        struct zs_analysis_text **items;
        size_t count, capacity;
    } texts;
    struct zs_listed *kernels;
    bool is_listed, failed;
    /* reasons that were given, each once */
    struct {
        const char **items;
        size_t count, capacity;
    } whys;
    struct zs_name_map why_index;
    struct zs_arena arena;
};

#endif
