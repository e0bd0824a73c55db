/* SPDX-License-Identifier: MIT */
/* What an application called: counts, times, results, from the traces of a recording. */
#ifndef ZS_REPORT_CALLS_H
#define ZS_REPORT_CALLS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"

enum {
    /* durations are counted in buckets of 1/8 octave: percentiles are within 6.25 % */
    ZS_HISTOGRAM_BUCKETS = 64 * 8,
    ZS_CALL_RESULTS_MAX = 8,
};

struct zs_call_row {
    const char *name;
    uint32_t pid, tid; /* 0 where calls of all processes, all threads are taken together */
    uint64_t count, failed, unfinished;
    uint64_t total_ns, min_ns, max_ns;
    uint32_t buckets[ZS_HISTOGRAM_BUCKETS];
    struct {
        int32_t result;
        uint64_t count;
    } results[ZS_CALL_RESULTS_MAX]; /* results that are no success, by first appearance */
    uint32_t result_count;
};

struct zs_call_table {
    struct zs_arena arena;
    struct zs_call_row **rows;
    size_t count, capacity;
    uint64_t lost; /* calls of which one end was not recorded */
    uint64_t damaged_files;
    uint64_t first_ns, last_ns; /* of all calls; 0 without calls */
};

enum zs_call_order { ZS_CALLS_BY_TOTAL, ZS_CALLS_BY_COUNT, ZS_CALLS_BY_MEAN, ZS_CALLS_BY_NAME };

struct zs_call_options {
    bool per_thread;
    enum zs_call_order order;
    const char *const *filters; /* extended regular expressions on names; none: all */
    size_t filter_count;
};

/* Reads every trace file of a recording in bounded memory. 0, or -errno with a sentence. A damaged
 * file gives what stands before the damage. */
int zs_call_table_load(const char *recording, const struct zs_call_options *options,
                       struct zs_call_table *ret_table, struct zs_diag *diag);
void zs_call_table_free(struct zs_call_table *table);
/* Duration below which `percent` of the calls lie, by the histogram. */
uint64_t zs_call_percentile_ns(const struct zs_call_row *row, double percent);

void zs_call_table_text(const struct zs_call_table *table, bool color, struct zs_buf *out);
void zs_call_table_csv(const struct zs_call_table *table, struct zs_buf *out);
/* The array "calls" of zescope.report/1. */
void zs_call_table_json(const struct zs_call_table *table, struct zs_json *json);

/* "12.3 us" in a fixed width: three digits and a unit. */
void zs_format_duration(struct zs_buf *out, uint64_t ns);

#endif
