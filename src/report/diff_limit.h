/* SPDX-License-Identifier: MIT */
/* Limits on what may change between two recordings: "time>10%", "kernel gemm.*: total>1ms". */
#ifndef ZS_REPORT_DIFF_LIMIT_H
#define ZS_REPORT_DIFF_LIMIT_H

#include "base/filter.h"
#include "report/diff.h"

enum zs_limit_metric {
    ZS_LIMIT_TIME, /* mean duration */
    ZS_LIMIT_TOTAL,
    ZS_LIMIT_COUNT,
    ZS_LIMIT_FAILED,
};

struct zs_diff_limit {
    struct zs_filter names; /* of "kind name"; none: all */
    enum zs_limit_metric metric;
    double most; /* increase from A to B: nanoseconds or a number, or percent of A */
    bool is_percent;
    const char *text; /* as it was given; borrowed */
};

/* "[REGEX:]METRIC>VALUE": METRIC time, total, count or failed; VALUE with %, or with ns us ms s for
 * times. 0, -EINVAL with a sentence. */
int zs_diff_limit_parse(const char *text, struct zs_diff_limit *ret_limit, struct zs_diag *diag);
void zs_diff_limit_fini(struct zs_diff_limit *limit);
/* Whether the row is one that the limit is on. */
bool zs_diff_limit_covers(const struct zs_diff_limit *limit, const struct zs_diff_row *row);
/* Whether the row is beyond the limit; then a sentence about it is appended. What is not in both
 * recordings has no time to compare; its counts count from 0. */
bool zs_diff_limit_broken(const struct zs_diff_limit *limit, const struct zs_diff_row *row,
                          struct zs_buf *out);

#endif
