/* SPDX-License-Identifier: MIT */
/*
 * What limits the kernels of a recording, and assertions on them: what `zescope analyze` and
 * `zescope check` do, and what they do it with (docs/analyze.md, docs/formulas.md).
 *
 *     struct zs_analysis *analysis;
 *     if (zs_analysis_open("rec", &analysis, &diag))
 *         ...
 *     for (uint32_t i = 0; (kernel = zs_analysis_kernel(analysis, i)); i++)
 *         for (uint32_t f = 0; f < kernel->finding_count; f++)
 *             printf("%s: %s\n", kernel->name, kernel->findings[f].text);
 *
 *     struct zs_check *check;
 *     zs_check_create(analysis, &check);
 *     zs_check_assert(check, ZS_ASSERT_MAX, "spills=0", "--max", &error);
 *     for (uint32_t i = 0; (result = zs_check_result(check, i)); i++)
 *         ...
 *
 * A folder of recordings, as the ranks of a program make them, is analyzed as one: each kernel of
 * each of them is a kernel here, and says which rank it is of.
 *
 * Recordings are hostile input. What is not known is NaN, with a sentence of what would tell it.
 *
 * Threads: an analysis and its checks are one thread's at a time. What is handed out lives until
 * zs_analysis_close; strings are NUL-terminated, never NULL, and their contents are data.
 */
#ifndef ZESCOPE_ANALYZE_H
#define ZESCOPE_ANALYZE_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A line of source with what of the matter is on it; line 0: none is known, there is the code's
 * offset alone. */
struct zs_source_place {
    const char *path; /* "": not known */
    uint32_t line;
    uint32_t offset_B;   /* of the instruction that has most of it */
    double amount;       /* of the line */
    struct zs_span text; /* of the line, without blanks around it; empty where there is none */
};

struct zs_finding_number {
    const char *name, *unit;
    double value;
};

struct zs_finding {
    const char *rule;                        /* "uncoalesced": docs/analyze.md lists them */
    const char *title, *advice;              /* the same for every finding of the rule */
    const char *text;                        /* a sentence */
    double severity;                         /* 0 to 1: how much of the kernel's work it is about */
    const struct zs_finding_number *numbers; /* that led to it */
    uint32_t number_count;
    uint32_t place_count;
    const struct zs_source_place *places; /* the most first */
};

struct zs_not_judged {
    const char *rule, *title;
    const char *why; /* a sentence of what is missing, and what records it */
};

/* A memory under the roofline: operations for each byte that the kernel asks of it. */
struct zs_roof {
    const char *name;   /* "local memory", "L3", "memory" */
    double bytes, rate; /* rate: of the device, GB/s; NaN: not known */
    double intensity;   /* operations for each byte; NaN: none are asked for */
    double attainable;  /* Gop/s under this roof and the compute roof */
    double asked_rate;  /* GB/s in the measured time */
};

/* What of the device's threads would fit at the same time, if the kernel were launched so. */
struct zs_occupancy_case {
    char what[48]; /* "groups of 64", "half the local memory" */
    double percent;
    bool is_now; /* as it is launched */
};

/* A part of what limits a kernel: what a unit does of what it can, what threads do of their time.
 */
struct zs_limit_part {
    const char *metric, *text; /* "SbidStall", "responses of messages" */
    double percent;
};
enum { ZS_LIMIT_PARTS = 16 };
struct zs_limit {
    const char *by;   /* a phrase: "bandwidth of memory"; "": not known */
    double percent;   /* of what `text` says: of what a unit can do, of threads' time ...; NaN */
    char text[240];   /* the sentence, which begins with `by` */
    double occupancy; /* percent of the device's threads that there were, over time; NaN */
    uint32_t unit_count, stall_count;            /* 0: not measured */
    struct zs_limit_part units[ZS_LIMIT_PARTS];  /* what does anything, the most first */
    struct zs_limit_part stalls[ZS_LIMIT_PARTS]; /* likewise: what threads do */
};

/* Handed out by the library only, as struct zs_analyzed and struct zs_analysis_info: they may grow.
 */
struct zs_roofline {
    const char *operations; /* "flop", or "ops" where there are no floating-point operations */
    const char *precision;  /* "single precision"; "" for none */
    double count;           /* operations; NaN: not counted */
    double rate;            /* Gop/s in the measured time; NaN: not known */
    double peak;            /* Gop/s of the device; NaN: not known */
    const struct zs_roof *roofs;
    uint32_t roof_count;
    const char *bound; /* name of the roof that is lowest at its place, "compute" or "" */
    double attainable; /* Gop/s; NaN */
    double compute_ns, memory_ns; /* least that issuing and moving take; NaN */
    const char *rate_unit;        /* of rate, peak and attainable: "Gflop/s", "Gop/s" */
};

/* A kernel of a module that was recorded, over all of its launches. */
struct zs_analyzed {
    const char *name;
    const char *module; /* "": not known */
    const char *device; /* "": not known */
    const char *rank;   /* name of its recording in a folder of them; "": there is one recording */
    uint32_t ordinal;   /* among kernels of this name in the recording, from 0 */
    uint32_t simd;      /* work-items of a hardware thread, 0: not known */
    uint64_t launches;
    uint64_t timed;   /* launches whose times are known ... */
    double time_ns;   /* ... and theirs; NaN: none */
    uint32_t threads; /* hardware threads of the device, 0: not known */
    uint32_t finding_count;
    const char *limiter; /* of occupancy: "local memory", "barriers", ...; "" for nothing */
    const struct zs_roofline *roofline;
    const struct zs_finding *findings; /* by gain, then by severity, the most first */
    const struct zs_not_judged *not_judged;
    uint32_t not_judged_count;
    /* of each finding, percent of the kernel's time that mending it saves at most, by the model of
     * time of zescope's driver (metric group ZscopeGains); NaN: not measured */
    const double *gains;
    const struct zs_limit *limit;
    const struct zs_occupancy_case *occupancy_cases; /* none where nothing limits occupancy */
    uint32_t occupancy_case_count;
    const double *gains_least; /* of each finding: where ways of mending differ, what all save */
};

struct zs_analysis_info {
    const char *recording;
    uint32_t recording_count; /* 1, or of the folder */
    uint32_t kernel_count;
    bool is_modelled;               /* times are those of zescope's software GPU */
    bool is_estimated;              /* ... and estimated from counts, not replayed */
    bool has_counts;                /* instructions were counted */
    size_t damaged, unread_modules; /* files, modules: left out */
    const char *unfit;              /* why limits cannot be judged: what is missing could be what
                                       breaks them; "": they can */
    size_t note_count;              /* zs_recording_notes(): what went wrong while recording, and
                                       what is broken now */
    const char *first_note;         /* NULL: there are none */
};

struct zs_analysis;

/* 0, or -errno with a sentence: -ENOENT, -EINVAL (no recording), -ENOMEM. NULL may be closed. */
ZS_API int zs_analysis_open(const char *recording, struct zs_analysis **ret_analysis,
                            struct zs_diag *diag);
ZS_API void zs_analysis_close(struct zs_analysis *analysis);
ZS_API const struct zs_analysis_info *zs_analysis_info(const struct zs_analysis *analysis);

/* By time, the longest first; NULL beyond the last one, or without memory. The first call judges
 * them. */
ZS_API const struct zs_analyzed *zs_analysis_kernel(struct zs_analysis *analysis, uint32_t index);

/* --- values --- */

/* Where a text of formulas was refused, and why: line and column (in bytes) count from 1. */
struct zs_formula_error {
    uint32_t line, column;
    char text[300];
};

/* Definitions of a text become names; its assertions are left for zs_check_defined. `name`: of the
 * file, for zs_check_result.origin. 0; -EINVAL with where and why; -ENOMEM. */
ZS_API int zs_analysis_define(struct zs_analysis *analysis, const char *text, size_t size_B,
                              const char *name, struct zs_formula_error *ret_error);

enum zs_value_kind { ZS_VALUE_QUANTITY, ZS_VALUE_METRIC, ZS_VALUE_DEFINITION };

struct zs_named_value {
    enum zs_value_kind kind;
    const char *name; /* of a metric: "Group.Metric" */
    const char *unit, *description;
    double value;    /* NaN: not known */
    const char *why; /* it is not, a sentence; "" */
};

/* Values of a kernel by number: quantities first, then metrics, then definitions. False: there are
 * no more. */
ZS_API bool zs_analysis_value(struct zs_analysis *analysis, const struct zs_analyzed *kernel,
                              uint32_t index, struct zs_named_value *ret_value);
/* By name, as formulas have it ("EuActive", "ComputeBasic.EuActive"). False: there is none of that
 * name; `why` says so. */
ZS_API bool zs_analysis_find(struct zs_analysis *analysis, const struct zs_analyzed *kernel,
                             const char *name, struct zs_named_value *ret_value);

/* --- assertions --- */

enum zs_assertion_kind {
    ZS_ASSERT_HOLDS, /* a condition */
    ZS_ASSERT_MAX,   /* a value that may at most be the limit */
    ZS_ASSERT_MIN,
};

enum zs_check_status {
    ZS_CHECK_PASSED,
    ZS_CHECK_FAILED,
    ZS_CHECK_UNKNOWN, /* cannot be judged: it fails, too */
};

struct zs_check_result {
    enum zs_check_status status;
    uint32_t ordinal;        /* as in struct zs_analyzed */
    const char *assertion;   /* as written */
    const char *origin;      /* as given, or "limits.zsm:3" */
    const char *kernel_name; /* "" for none */
    const char *module;      /* "": not known, or no kernel that ran */
    const char *rank;        /* as in struct zs_analyzed */
    const char *what;        /* the value's name or formula */
    double value, limit;     /* in `unit`; NaN: none */
    const char *unit;
    const char *relation;         /* "at most", "at least", "" for conditions */
    const char *why;              /* it cannot be judged, a sentence; "" */
    double baseline;              /* NaN: none */
    struct zs_source_place place; /* path "": not known */
    uint32_t summed;              /* of so many recordings together; 0: of one */
};

struct zs_check;

/* 0 or -ENOMEM. Destroyed before its analysis is closed; NULL may be destroyed. */
ZS_API int zs_check_create(struct zs_analysis *analysis, struct zs_check **ret_check);
ZS_API void zs_check_destroy(struct zs_check *check);

/* Judges "[KERNEL:]VALUE=LIMIT", of ZS_ASSERT_HOLDS "[KERNEL:]CONDITION", for each kernel that
 * matches; that none does is a failure. 0; -EINVAL: the assertion is wrong as such; -ENOMEM. */
ZS_API int zs_check_assert(struct zs_check *check, enum zs_assertion_kind kind, const char *text,
                           const char *origin, struct zs_formula_error *ret_error);
/* Judges all assertions of the texts that zs_analysis_define took. *ret_name: of the text that is
 * wrong. */
ZS_API int zs_check_defined(struct zs_check *check, const char **ret_name,
                            struct zs_formula_error *ret_error);

/* "[KERNEL:]NAME=VALUE[%]": what zs_check_baseline compares, and how far it may be worse. 0;
 * -EINVAL with a sentence; -ENOMEM. */
ZS_API int zs_check_tolerance(struct zs_check *check, const char *text, struct zs_diag *diag);
/* Compares with another recording, or with a file of zescope.baseline/1; a folder of recordings
 * with another, each of them and what they have together. 0; -errno with a sentence: it cannot be
 * read; -ENOTSUP: one is of a folder of recordings, the other is not. */
ZS_API int zs_check_baseline(struct zs_check *check, const char *path, struct zs_diag *diag);
/* Writes this recording's values as zescope.baseline/1. */
ZS_API int zs_analysis_write_baseline(struct zs_analysis *analysis, const char *path,
                                      struct zs_diag *diag);

/* In the order in which they were judged; NULL beyond the last one. Valid until the next call that
 * judges. */
ZS_API const struct zs_check_result *zs_check_result(const struct zs_check *check, uint32_t index);
/* How many there are; *ret_failed: that did not pass. */
ZS_API uint32_t zs_check_count(const struct zs_check *check, uint32_t *ret_failed);

#ifdef __cplusplus
}
#endif

#endif
