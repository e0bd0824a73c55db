/* SPDX-License-Identifier: MIT */
/*
 * What launches count, the sets of metrics that are made of it, and their values (docs/metrics.md):
 * of drivers, whoever asks them. Types are those of Level Zero.
 */
#ifndef ZS_GPU_METRIC_METRIC_H
#define ZS_GPU_METRIC_METRIC_H

#include "base/reader.h"
#include "gpu/gpu.h"

#include <level_zero/zet_api.h>
#include <string.h>

enum zs_metric_counter {
#define ZS_METRIC_COUNTER(id) ZS_METRIC_##id,
#include "gpu/metric/counter.def"
#undef ZS_METRIC_COUNTER
#define ZS_GPU_TOTAL(id, text) ZS_METRIC_##id,
#include "gpu/total.def"
#undef ZS_GPU_TOTAL
    ZS_METRIC_TIMING_FIRST, /* from here on: of the model of time */
    ZS_METRIC_BEFORE_TIMING = ZS_METRIC_TIMING_FIRST - 1,
#define ZS_TIMING_TOTAL(id, text) ZS_METRIC_##id,
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
    ZS_METRIC_GAINS_FIRST, /* from here on: of reports of ZscopeGains alone */
    ZS_METRIC_BEFORE_GAINS = ZS_METRIC_GAINS_FIRST - 1,
#define ZS_TIMING_GAIN(id, text) ZS_METRIC_gain_##id,
#include "gpu/timing/gain.def"
#undef ZS_TIMING_GAIN
#define ZS_TIMING_LIMIT(id, text) ZS_METRIC_limit_##id,
#include "gpu/timing/limit.def"
#undef ZS_TIMING_LIMIT
    ZS_METRIC_COUNTERS,
    ZS_METRIC_THREADS_END = ZS_METRIC_eu_loaded /* of the model: what comes before is of all */
};

enum zs_metric_set {
#define ZS_METRIC_SET(id, where, domain, needs, name, description) ZS_METRIC_SET_##id,
#define ZS_METRIC(set, ...)
#include "gpu/metric/group.def"
#undef ZS_METRIC_SET
#undef ZS_METRIC
    ZS_METRIC_SETS,
    ZS_METRIC_SET_USER = ZS_METRIC_SETS /* of reports of groups that a program made */
};
enum { ZS_METRIC_DOMAINS = 6, ZS_METRIC_SAMPLINGS = 2 /* of a set; those of tracers have one */ };

enum {
    ZS_METRIC_ROWS_MAX = 64, /* of a group, with the two of time-based ones */
    ZS_METRIC_ROWS = 0       /* of all sets */
#define ZS_METRIC_SET(id, where, domain, needs, name, description)
#define ZS_METRIC(set, ...) +1
#include "gpu/metric/group.def"
#undef ZS_METRIC_SET
#undef ZS_METRIC
};

enum { ZS_METRIC_DOUBTS = 2 }; /* rows that say how far the others may be off */

/* How a value follows from a report. */
enum zs_metric_how {
    ZS_HOW_TIME,
    ZS_HOW_CLOCKS,
    ZS_HOW_FREQUENCY,
    ZS_HOW_SUM,
    ZS_HOW_LESS, /* the first less the others */
    ZS_HOW_LESS_OF_EUS,
    ZS_HOW_PART_OF_CLOCKS,
    ZS_HOW_PART_OF_EUS,
    ZS_HOW_PART_OF_THREADS,
    ZS_HOW_STALL,
    ZS_HOW_STALL_CYCLES,
    ZS_HOW_LANES,
    ZS_HOW_SECTORS, /* bytes of the sectors that it sums */
    ZS_HOW_PART_OF_SLICES,
    ZS_HOW_IPC,
    ZS_HOW_ANY, /* 1: there is any */
    ZS_HOW_SECTOR_USE,
    ZS_HOW_REPLAYED,
    ZS_HOW_ESTIMATE_ERROR,
    ZS_HOW_ADDRESS,   /* of reports by address */
    ZS_HOW_ADDRESS_8, /* ... as Intel's GPUs report it: 29 bits, in units of 8 bytes */
    ZS_HOW_TEST_0_1,  /* so many parts of the clocks */
    ZS_HOW_TEST_1_1,
    ZS_HOW_TEST_1_2,
    ZS_HOW_TEST_1_3,
    ZS_HOW_TEST_1_6,
    ZS_HOW_TEST_2_3,
    ZS_HOW_TIMESTAMP, /* of time-based reports: when it began */
    ZS_HOW_MARKER,    /* of time-based reports: the value of a marker, 0: none */
    ZS_HOW_RATE,      /* of metrics that a program made: the sum per nanosecond */
    ZS_HOW_SECTOR_RATE,
    ZS_HOWS
};

struct zs_metric_row {
    enum zs_metric_set set;
    const char *name, *description, *component, *unit;
    uint32_t tier;
    zet_metric_type_t type;
    enum zs_metric_how how;
    /* 1 + enum zs_metric_counter, or the place of a value in a report by address; 0 ends them */
    const uint16_t *counters;
};

bool zs_metric_same_counters(const struct zs_metric_row *a, const struct zs_metric_row *b);
/* Of the values. */
zet_value_type_t zs_metric_value_type(const struct zs_metric_row *row);
/* By the metrics' clock: the device's ticks, of its bits. */
uint64_t zs_metric_time_ns(const struct zs_gpu_model *model, uint64_t ticks);

const char *zs_metric_set_name(enum zs_metric_set set);
const char *zs_metric_set_description(enum zs_metric_set set);
uint32_t zs_metric_set_domain(enum zs_metric_set set);
/* As programs are told it. */
uint32_t zs_metric_domain_number(uint32_t domain);
/* Whether devices of the model have it, with or without the model of time. */
bool zs_metric_set_is_of(const struct zs_gpu_model *model, enum zs_metric_set set, bool timed);
/* The metrics of a device's set in the order of values, and how many there are. timed: with the
 * model of time. */
uint32_t zs_metric_rows(const struct zs_gpu_model *model, enum zs_metric_set set,
                        zet_metric_group_sampling_type_flags_t sampling, bool timed,
                        const struct zs_metric_row *ret[static ZS_METRIC_ROWS_MAX]);

/* Whether the row says how far the others may be off; those rows of a group of our own that do,
 * as zs_metric_rows(). */
bool zs_metric_is_doubt(const struct zs_metric_row *row);
uint32_t zs_metric_doubt_rows(const struct zs_metric_row **ret);

/* ---- Reports by address ------------------------------------------------------------------------
 *
 * Some sets have a report for each instruction address: the address, then so many values. */
enum zs_metric_by_address {
    ZS_METRIC_STALLS_BY_ADDRESS, /* thread cycles by reason, and what of them is estimated */
    ZS_METRIC_MEMORY_BY_ADDRESS, /* enum zs_gpu_access */
    ZS_METRIC_BY_ADDRESS,        /* how many there are; also: a set that is none */
    ZS_METRIC_STALL_VALUES = ZS_GPU_STALL_REASONS + 1, /* and of these, what is estimated */
    ZS_METRIC_ADDRESS_VALUES = ZS_MAX((int)ZS_METRIC_STALL_VALUES, (int)ZS_GPU_ACCESSES)
};

/* Intel's form of stall sampling. */
static inline bool zs_metric_is_intels_stalls(uint32_t set)
{
    return set == ZS_METRIC_SET_EU_STALL_SAMPLING || set == ZS_METRIC_SET_EU_STALL_SAMPLING_XE2;
}

static inline enum zs_metric_by_address zs_metric_by_address(uint32_t set)
{
    return set == ZS_METRIC_SET_STALL_SAMPLING || zs_metric_is_intels_stalls(set)
               ? ZS_METRIC_STALLS_BY_ADDRESS
           : set == ZS_METRIC_SET_MEMORY_BY_ADDRESS ? ZS_METRIC_MEMORY_BY_ADDRESS
                                                    : ZS_METRIC_BY_ADDRESS;
}
/* Whether the set is for tracers alone. */
static inline bool zs_metric_is_traced(uint32_t set)
{
    return set == ZS_METRIC_SET_LAUNCHES;
}
static inline bool zs_metric_is_by_address(uint32_t set)
{
    return zs_metric_by_address(set) != ZS_METRIC_BY_ADDRESS;
}
static inline uint32_t zs_metric_values_of(enum zs_metric_by_address kind)
{
    return kind == ZS_METRIC_STALLS_BY_ADDRESS   ? (uint32_t)ZS_METRIC_STALL_VALUES
           : kind == ZS_METRIC_MEMORY_BY_ADDRESS ? (uint32_t)ZS_GPU_ACCESSES
                                                 : 0;
}

/* ---- Raw reports -------------------------------------------------------------------------------
 * Little-endian; all reports of a set have the same size. Those by address have an address and the
 * values of their kind for counters; others are filled up with zeros. */
enum {
    ZS_RAW_MAGIC = 0x524d535a, /* "ZSMR" */
    ZS_RAW_VERSION = 16,
    ZS_RAW_HEADER_B = 64,
    ZS_RAW_REPORT_B = 1024,  /* but for those by address: programs cut data into chunks of 2^n */
    ZS_RAW_EU_STALL_B = 256, /* of Intel's stall sampling, likewise */
    ZS_RAW_LOST = 1,         /* flag: reports before this one were lost */
    ZS_RAW_MARKER = 2,       /* flag: the report ends at a marker */
    ZS_RAW_BEGAN = 4,        /* flags of tracers: a launch began there, or ended */
    ZS_RAW_ENDED = 8,
};

struct zs_metric_report {
    uint32_t set, sampling; /* enum zs_metric_set; 0: query, 1: streamer, 2: tracer */
    uint32_t flags, marker;
    uint64_t begin_ticks, end_ticks;
    uint64_t elapsed_ns, cycles;
    uint64_t counters[ZS_METRIC_COUNTERS];
};

/* Reports have gains or the other counters of the model; what threads do is in both. */
static inline uint32_t zs_metric_counters_of(uint32_t set)
{
    return zs_metric_is_by_address(set) ? 1 + zs_metric_values_of(zs_metric_by_address(set))
           : set == ZS_METRIC_SET_GAINS
               ? (uint32_t)(ZS_METRIC_THREADS_END + ZS_METRIC_COUNTERS - ZS_METRIC_GAINS_FIRST)
               : (uint32_t)ZS_METRIC_GAINS_FIRST;
}
/* Which one stands at a place of a report. */
static inline uint32_t zs_metric_counter_at(uint32_t set, uint32_t place)
{
    bool skips = set == ZS_METRIC_SET_GAINS && place >= ZS_METRIC_THREADS_END;
    return skips ? place - ZS_METRIC_THREADS_END + ZS_METRIC_GAINS_FIRST : place;
}
/* Whether reports of the set have it. */
static inline bool zs_metric_has_counter(uint32_t set, uint32_t counter)
{
    return zs_metric_is_by_address(set) ? counter < zs_metric_counters_of(set)
           : set == ZS_METRIC_SET_GAINS
               ? counter < ZS_METRIC_THREADS_END ||
                     (counter >= ZS_METRIC_GAINS_FIRST && counter < ZS_METRIC_COUNTERS)
               : counter < ZS_METRIC_GAINS_FIRST;
}
_Static_assert(ZS_RAW_HEADER_B + 8 * ZS_METRIC_GAINS_FIRST <= ZS_RAW_REPORT_B,
               "a report holds all");
/* What of a report is used; zeros follow. */
static inline size_t zs_metric_used_B(uint32_t set)
{
    return ZS_RAW_HEADER_B + 8 * (size_t)zs_metric_counters_of(set);
}
static inline size_t zs_metric_report_B(uint32_t set)
{
    return zs_metric_is_intels_stalls(set) ? (size_t)ZS_RAW_EU_STALL_B
           : zs_metric_is_by_address(set)  ? zs_metric_used_B(set)
                                           : (size_t)ZS_RAW_REPORT_B;
}
/* zs_metric_report_B() bytes. */
void zs_metric_report_write(const struct zs_metric_report *report, uint8_t *ret_bytes);
/* False: not a report of the set that this version wrote. */
bool zs_metric_report_read(struct zs_span bytes, uint32_t set, struct zs_metric_report *ret);

/* ---- Launches ----------------------------------------------------------------------------------
 */

/* A launch on the device's clock. */
struct zs_metric_stretch {
    uint64_t start_ticks, end_ticks;
    uint64_t counters[ZS_METRIC_COUNTERS];
};

/* Values of one instruction of one launch, or summed. */
struct zs_metric_at {
    uint64_t ip;
    uint64_t start_ticks, end_ticks; /* of the launch */
    uint64_t values[ZS_METRIC_ADDRESS_VALUES];
};

/* Into a report by address. */
static inline void zs_metric_report_at(struct zs_metric_report *report,
                                       const struct zs_metric_at *at)
{
    report->counters[0] = at->ip;
    memcpy(&report->counters[1], at->values, sizeof(at->values));
}

/* What a launch is in counters. Its result's times are the stretch's; at least a tick passes. */
void zs_metric_count(const struct zs_gpu_model *model, const struct zs_gpu_result *result,
                     struct zs_metric_stretch *ret);
/* Cycles and time of a report, of its counters: at least one each. */
void zs_metric_report_time(const struct zs_gpu_model *model, struct zs_metric_report *report);
/* Values of one of its instructions; false: all are 0. */
bool zs_metric_values_at(enum zs_metric_by_address kind, const struct zs_gpu_stalls *from,
                         uint64_t ret[static ZS_METRIC_ADDRESS_VALUES]);

/* ---- Values ------------------------------------------------------------------------------------
 */

/* What a group has besides, as rows. */
extern const struct zs_metric_row zs_metric_stream_rows[2];

zet_typed_value_t zs_metric_value(const struct zs_gpu_model *model,
                                  const struct zs_metric_report *report,
                                  const struct zs_metric_row *row);

/* ... or the largest that there can be. */
zet_typed_value_t zs_metric_value_max(const struct zs_gpu_model *model,
                                      const struct zs_metric_report *report,
                                      const struct zs_metric_row *row);

#endif
