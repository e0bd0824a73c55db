/* SPDX-License-Identifier: MIT */
#ifndef ZS_METRICS_ANALYSIS_PRIV_H
#define ZS_METRICS_ANALYSIS_PRIV_H

#include "metrics/analysis.h"

#define ROOF_LOCAL_MEMORY "local memory"

/* What a rule sees. */
struct rule_context {
    struct zs_rank_analysis *analysis;
    const struct zs_profile *profile;
    const struct zs_roofline *roofline;
    const struct zs_limit *limit;
    const struct zs_lane_access *accesses; /* NULL: not known */
    const char *missing;                   /* set by a rule that cannot judge */
    const uint8_t *line_kinds;             /* of instructions: enum line_kind; NULL: not known */
    double *cycles, all_cycles;            /* rules_lines.c: thread cycles by instruction */
};

/* What the line of an instruction is about, where compilers make much code of little source. */
enum line_kind {
    LINE_PLAIN,
    LINE_INTEGER_DIVISION,
    LINE_SLOW_MATH,
    LINE_DIVISION,
    LINE_ARRAY /* ... that is kept in registers, and indexed */
};
/* By instruction; freed by the caller, NULL without code or memory. */
uint8_t *find_line_kinds(const struct zs_profiles *profiles, const struct zs_profile *profile);
/* rules_gain.c */
bool rule_is_extended_math(const struct zs_profile *profile, uint32_t inst);
bool rule_is_double(const struct zs_profile *profile, uint32_t inst);
bool rule_is_wide_integer(const struct zs_profile *profile, uint32_t inst);
bool rule_is_any(const struct zs_profile *profile, uint32_t inst);
bool rule_is_unoptimised(const struct rule_context *context);
/* Of divisions of floats: those that are precise, with what these do besides extended math. */
bool rule_precise_divisions(struct rule_context *context, struct zs_found *ret_finding);
/* Of private arrays: those that are kept in registers, and indexed. */
bool rule_indexed_registers(struct rule_context *context, struct zs_found *ret_finding);
/* Something that moves bytes does most of what it can, or it is not known. */
bool rule_memory_is_busy(const struct rule_context *context);
/* Percent that memory, or the way to it, does of what it can; 0: not known. */
double rule_memory_busy(const struct rule_context *context);
bool rule_has_large_registers(const struct rule_context *context);
double rule_gain_of_places(const struct rule_context *context);
/* Whether most instructions that `is` names stand on such lines, LINE_DIVISION aside: then these
 * are the finding. */
bool rule_is_about_lines(const struct rule_context *context,
                         bool (*is)(const struct zs_profile *profile, uint32_t inst));

/* Whether the kernel has it; then the finding's text, numbers and places are set. */
typedef bool rule_fn(struct rule_context *context, struct zs_found *ret_finding);
extern rule_fn *const rule_functions[ZS_RULES];

/* The roofline and its roofs. */
void roofline_make(const struct zs_rank_analysis *analysis, const struct zs_profile *profile,
                   struct zs_judged *to);
/* A recorded metric of the selected kernel; NaN where there is none. */
double analysis_metric(struct zs_rank_analysis *analysis, const char *name);
/* Of ZscopeGains, percent; NaN: not measured, or name is "". */
double analysis_gain(struct zs_rank_analysis *analysis, const char *name);
/* Into what was judged: what limits the selected kernel. */
void find_limit(struct zs_rank_analysis *analysis, struct zs_judged *judged);
rule_fn rule_unoptimised, rule_latency, rule_atomic_contention, rule_private_arrays,
    rule_extended_math, rule_doubles, rule_wide_integers, rule_dependencies, rule_dispatch,
    rule_slow_math, rule_redundant_loads, rule_issue_bound, rule_large_registers,
    rule_integer_division, rule_conversions, rule_instruction_fetch, rule_split_messages,
    rule_local_memory;

/* rules.c: the finding's text, a number of it, its places by amounts of instructions. */
void rule_say(struct zs_found *finding, const char *format, ...) ZS_PRINTF(2, 3);
void rule_number(struct zs_found *finding, const char *name, double value, const char *unit);
void rule_lines(const struct rule_context *context, struct zs_found *finding,
                double (*amount)(const struct zs_profile *, uint32_t, void *), void *user);
bool rule_lines_sampled(const struct rule_context *context, struct zs_found *finding,
                        const char *metric);
/* What a group by address recorded of each of the kernel's instructions, over all launches that
 * were measured; of the arena. NULL: nothing. */
double *analysis_sampled(struct zs_rank_analysis *analysis, const struct zs_profile *profile,
                         const char *metric);

#endif
