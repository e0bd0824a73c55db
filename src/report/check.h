/* SPDX-License-Identifier: MIT */
/* Results of `zescope check` as text, JSON (zescope.check/1, docs/analyze.md) and JUnit's XML. */
#ifndef ZS_REPORT_CHECK_H
#define ZS_REPORT_CHECK_H

#include "metrics/check.h"

/* What failed; with `all` also what passed. */
void zs_check_text(const struct zs_check *check, bool all, bool color, struct zs_buf *out);
void zs_check_json(const struct zs_check *check, const char *baseline, struct zs_buf *out);
void zs_check_junit(const struct zs_check *check, struct zs_buf *out);

#endif
