/* SPDX-License-Identifier: MIT */
/* What changed between two recordings: calls and kernels, counts and times. */
#ifndef ZS_REPORT_DIFF_H
#define ZS_REPORT_DIFF_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"

struct zs_diff_side {
    uint64_t count, failed, timed, total_ns; /* timed: those that total_ns is of */
};

struct zs_diff_row {
    char kind[16]; /* "call", "kernel", "copy", "fill", "barrier" */
    char *name;    /* owned; kernels with their shape */
    struct zs_diff_side a, b;
};

/* Of one recording: whether it can be compared. */
struct zs_diff_input {
    uint64_t calls, lost_calls, damaged_files;
    bool has_times; /* of devices */
    char clock[16]; /* as struct zs_recording_info has it */
};

struct zs_diff {
    struct zs_diff_row *rows; /* by kind, the largest change of time first */
    size_t count, capacity;
    struct zs_diff_input a, b;
};

/* 0 or -errno with a sentence. */
int zs_diff_load(const char *a, const char *b, struct zs_diff *ret_diff, struct zs_diag *diag);
void zs_diff_free(struct zs_diff *diff);
/* Why times of the two cannot be compared, and what to do: a sentence for paths a and b. False:
 * they can. */
bool zs_diff_unlike_clocks(const struct zs_diff *diff, const char *a, const char *b,
                           struct zs_diag *ret_why);
/* Whether counts or failures differ, or the mean by threshold percent or more. */
bool zs_diff_changed(const struct zs_diff_row *row, double threshold);
/* "no differences" instead of a table without rows. */
void zs_diff_text(const struct zs_diff *diff, double threshold, bool color, struct zs_buf *out);
/* Member "changes" of zescope.compare/1: [{"kind", "name", "a": {"count", "failed", "timed",
 * "total_ns", "mean_ns"} or null, "b": ...}]. mean_ns is whole, total_ns / timed exact. With `all`
 * rows that did not change are there, too, and each says which it is: "changed". */
void zs_diff_json(const struct zs_diff *diff, double threshold, bool all, struct zs_json *json);

#endif
