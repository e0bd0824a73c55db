/* SPDX-License-Identifier: MIT */
/* The calls of a recording as readable lines, in the order of time over all threads. */
#ifndef ZS_REPORT_LOG_H
#define ZS_REPORT_LOG_H

#include "base/buf.h"
#include "base/diag.h"
#include "record/merge.h"

struct zs_log_options {
    bool color;
    bool absolute;              /* CLOCK_MONOTONIC instead of the time since the first call */
    bool backtrace;             /* where each was called from, on lines below */
    bool failed_only;           /* calls whose result is a failure */
    const char *const *filters; /* extended regular expressions on names; none: all */
    size_t filter_count;
    uint64_t limit; /* lines, 0: all */
};

/* Called for every line; a non-zero return ends the log and is returned. */
typedef int (*zs_log_line)(void *user, struct zs_span line);

/* 0, or -errno with a sentence. Memory does not grow with the length of the recording. ret_totals:
 * of what was read, which is not all where a limit or the line function ended the log. */
int zs_log_write(const char *recording, const struct zs_log_options *options, zs_log_line line,
                 void *user, struct zs_merge_totals *ret_totals, struct zs_diag *diag);

#endif
