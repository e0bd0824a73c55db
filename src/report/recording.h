/* SPDX-License-Identifier: MIT */
/*
 * What a recording holds, as tables: read once, in the order of time, in memory that grows with
 * the rows and not with the calls.
 */
#ifndef ZS_REPORT_RECORDING_H
#define ZS_REPORT_RECORDING_H

#include "report/table.h"

enum zs_report_table {
    ZS_REPORT_CALLS,
    ZS_REPORT_KERNELS,
    ZS_REPORT_COPIES,
    ZS_REPORT_BARRIERS,
    ZS_REPORT_MEMORY,
    ZS_REPORT_ALLOCATIONS,
    ZS_REPORT_LEAKS,
    ZS_REPORT_BUILDS,
    ZS_REPORT_THREADS,
    ZS_REPORT_MARKS,
    ZS_REPORT_PAUSES,
    ZS_REPORT_METRICS,
    ZS_REPORT_TABLES
};

struct zs_report_options {
    const char *const *filters; /* extended regular expressions on names; none: all */
    size_t filter_count;
    const char *group_by; /* "kernel,shape,thread"; NULL: as each table usually is */
    bool per_thread;      /* process and thread besides */
    bool call_tree;       /* for zs_report_call_tree */
    struct zs_table_view view;
    int only; /* enum zs_report_table that a key must be of; -1: any table */
};

struct zs_report;
struct zs_merge_sink;

/* Whether the options make sense, for whatever recording: 0, -EINVAL with a sentence that says what
 * is wrong with them, or -ENOMEM. */
int zs_report_check(const struct zs_report_options *options, struct zs_diag *diag);

/* 0 or -errno with a sentence. `also` sees everything that is read; may be NULL. */
int zs_report_load(const char *recording, const struct zs_report_options *options,
                   const struct zs_merge_sink *also, struct zs_report **ret_report,
                   struct zs_diag *diag);
void zs_report_free(struct zs_report *report);
const struct zs_table *zs_report_table(const struct zs_report *report, enum zs_report_table table);
/* "calls"; NULL beyond the last. */
const char *zs_report_table_name(int table);

struct zs_report_totals {
    uint64_t calls, lost_calls, damaged_files, first_ns, last_ns, peak_B;
    bool activity; /* device activity was recorded */
};
struct zs_report_totals zs_report_totals(const struct zs_report *report);
struct zs_activities;
const struct zs_activities *zs_report_activities(const struct zs_report *report);
struct zs_metrics;
const struct zs_metrics *zs_report_metrics(const struct zs_report *report); /* may be NULL */
struct zs_symbols;
struct zs_symbols *zs_report_symbols(const struct zs_report *report); /* may be NULL */

struct zs_recordings;
const struct zs_recordings *zs_report_recordings(const struct zs_report *report);
/* Whether times of kernels are the formula's: rough. */
bool zs_report_is_estimated(const struct zs_report *report);
struct zs_act_kernel;
/* What tells the kernel's module apart (zs_record_module_name): the one copy of that text; NULL:
 * not known, or no memory. */
const char *zs_report_module_of(struct zs_report *report, const struct zs_act_kernel *kernel);

struct zs_call_tree;
/* NULL: not asked for, or the recording has no backtraces. */
const struct zs_call_tree *zs_report_call_tree(const struct zs_report *report);

/* Why there is no device activity, in words; NULL: there is, or the table is of something else. -1:
 * of whatever table. */
const char *zs_report_no_activity(const struct zs_report *report, int table);

/* The tables that hold anything, with their names above them; or one. */
void zs_report_text(const struct zs_report *report, int only, bool color, struct zs_buf *out);
/* The members of zescope.report/1 into an object that is open; `only` may be -1. */
void zs_report_json(const struct zs_report *report, int only, struct zs_json *json);

#endif
