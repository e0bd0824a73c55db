/* SPDX-License-Identifier: MIT */
/*
 * The kernels of a recording in numbers: what the module says of them, how they were launched, what
 * was counted of each instruction, what metric groups measured.
 *
 * Each kernel of each module is one struct zs_profile, whatever shapes it was launched in. What is
 * not known is NaN; zs_profile_why says why, and what records it.
 */
#ifndef ZS_METRICS_PROFILE_H
#define ZS_METRICS_PROFILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "record/builds.h"

#include <zescope/analyze.h>
#include <zescope/annotate.h>
#include <zescope/metrics.h>
#include <zescope/record.h>

enum zs_quantity {
#define QUANTITY(id, name, unit, better, source, exact, adds, description) ZS_Q_##id,
#include "metrics/quantities.def"
#undef QUANTITY
    ZS_QUANTITIES
};

enum zs_better { ZS_BETTER_NEITHER, ZS_BETTER_LESS, ZS_BETTER_MORE };
enum zs_quantity_source { ZS_FROM_MODULE, ZS_FROM_TRACE, ZS_FROM_COUNTS, ZS_FROM_DEVICE };

struct zs_quantity_row {
    const char *name, *unit, *description;
    enum zs_better better;
    enum zs_quantity_source source;
    bool exact, adds;
};
extern const struct zs_quantity_row zs_quantity_rows[ZS_QUANTITIES];

/* Where a message goes. */
enum zs_space {
    ZS_SPACE_NO_MEMORY,
    ZS_SPACE_BUFFER,
    ZS_SPACE_SLM,
    ZS_SPACE_SCRATCH_BLOCK, /* spilled registers */
    ZS_SPACE_PICTURE,       /* typed messages, sampler */
};

enum zs_precision { ZS_NOT_FLOAT, ZS_HALF, ZS_SINGLE, ZS_DOUBLE };

/* One machine instruction: what it is, and what was counted of it over all launches. */
struct zs_inst_profile {
    double executions, lanes, read_B, written_B; /* NaN: not counted */
    float flops, int_ops;                        /* of one lane */
    float issue_cycles;                          /* of one execution, at least */
    uint8_t space;                               /* enum zs_space */
    uint8_t precision;                           /* enum zs_precision */
    bool is_masked;                              /* lanes that are off do not take part: not (W) */
    uint8_t matrix_type;                         /* of dpas: enum zs_isa_type of src1; else 0 */
    uint8_t matrix_elements;                     /* ... that a dword of its operands has */
    bool is_math;
};

/* Launches of one size. */
struct zs_shape {
    uint32_t groups[3], size[3]; /* [0] == 0: not known */
    uint64_t slm_B;
    uint64_t launches, timed, total_ns;
};

enum zs_limiter {
    ZS_LIMIT_NOTHING,
    ZS_LIMIT_SLM,
    ZS_LIMIT_BARRIERS,
    ZS_LIMIT_GROUP_SIZE, /* groups do not divide the threads of a subslice */
    ZS_LIMIT_REGISTERS,  /* large register files halve the threads */
    ZS_LIMITERS
};

struct zs_peaks {
    bool known;
    double clock_GHz;
    uint32_t eus, subslices, threads;      /* of the device */
    uint32_t slot_count;                   /* threads of a subslice */
    double flop_rate[4];                   /* by enum zs_precision, Gflop/s; NaN: not known */
    double matrix_rate;                    /* of dpas with elements of a dword; NaN: none known */
    double slm_rate, l3_rate, memory_rate; /* GB/s; NaN: not known */
    uint64_t subslice_slm_B;               /* 0: not known */
    uint32_t subslice_barriers;            /* groups with barriers at the same time; 0: not known */
};

struct zs_profile {
    const char *name;
    char module[ZS_MODULE_NAME_CHARS];     /* "" where it is not known */
    uint32_t module_index;                 /* of the recording, or ZS_RECORD_NONE */
    uint32_t ordinal;                      /* among kernels of this name, from 0 */
    const struct zs_record_device *device; /* NULL: not known */
    struct zs_peaks peaks;
    const struct zs_code *code;    /* NULL: its module cannot be read */
    struct zs_inst_profile *insts; /* of code->isa; NULL likewise */
    uint32_t inst_count;
    bool is_counted;
    uint64_t counted_launches;
    double other_executions; /* counted outside of the kernel's own code: functions */
    struct {
        struct zs_shape *items;
        size_t count, capacity;
    } shapes;
    uint64_t launches, timed, total_ns, min_ns, max_ns;
    enum zs_limiter limiter;
    double values[ZS_QUANTITIES];
    double *metrics;      /* by index of zs_profiles.metrics */
    double *metric_parts; /* by time, of all launches those whose reports they are; 1: of all */
};

/* A metric of a group that was recorded. */
struct zs_profile_metric {
    const char *group, *name, *unit, *description;
    const char *full_name; /* "Group.Metric" */
    enum zs_metric_total total;
    bool is_time_based;
};

struct zs_profiles {
    const char *path;
    struct zs_recording *recording;
    struct zs_metrics *recorded; /* NULL: they cannot be read */
    struct {
        struct zs_profile **items;
        size_t count, capacity;
    } kernels; /* by time, the longest first; then by name */
    struct {
        struct zs_profile_metric *items;
        size_t count, capacity;
    } metrics;
    struct zs_sources *sources;
    bool has_counts, has_activity;
    size_t damaged_counts, damaged_files, unread_modules;
    struct zs_arena arena;
    struct zs_profile_parts *parts; /* opened modules and what belongs to them */
};

/* 0, or -errno with a sentence. Free in any case. */
int zs_profiles_open(const char *recording, struct zs_profiles *ret_profiles, struct zs_diag *diag);
void zs_profiles_close(struct zs_profiles *profiles);

/* Why a quantity is not known, a sentence of what records it; NULL where it is known. */
const char *zs_profile_why(const struct zs_profiles *profiles, const struct zs_profile *profile,
                           enum zs_quantity quantity);

/* How much instruction i is of a quantity that is summed over instructions: NaN for others. */
double zs_profile_share(const struct zs_profile *profile, enum zs_quantity quantity, uint32_t i);

/* The lines with most of what `amount` gives for each instruction, the most first; how many there
 * are. Instructions without a line stand for themselves (line 0). */
uint32_t zs_profile_lines(const struct zs_profiles *profiles, const struct zs_profile *profile,
                          double (*amount)(const struct zs_profile *profile, uint32_t i,
                                           void *user),
                          void *user, struct zs_source_place *ret_places, uint32_t max);
/* What would fit with other groups or less local memory, at most so many; how many there are. */
enum { ZS_OCCUPANCY_CASES = 12 };
uint32_t zs_profile_occupancy_cases(const struct zs_profile *profile,
                                    struct zs_occupancy_case ret_cases[ZS_OCCUPANCY_CASES]);
/* What a module says of a kernel, into values by enum zs_quantity: of those from ZS_FROM_MODULE.
 * `code` has instructions, messages and liveness decoded. */
void zs_module_values(const struct zs_code *code, double *values);
/* Where the kernel begins. */
bool zs_profile_begin(const struct zs_profiles *profiles, const struct zs_profile *profile,
                      struct zs_source_place *ret_place);

#endif
