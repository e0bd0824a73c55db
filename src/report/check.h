/* SPDX-License-Identifier: MIT */
/* Results of `zescope check` as text, JSON (zescope.check/1, docs/analyze.md) and JUnit's XML. */
#ifndef ZS_REPORT_CHECK_H
#define ZS_REPORT_CHECK_H

#include "base/buf.h"

#include <zescope/analyze.h>

/* What failed; with `all` also what passed. */
void zs_check_text(const struct zs_check *check, bool all, bool color, struct zs_buf *out);
/* recording, baseline: as they were given; baseline NULL: none */
void zs_check_json(const struct zs_check *check, const char *recording, const char *baseline,
                   struct zs_buf *out);
void zs_check_junit(const struct zs_check *check, struct zs_buf *out);

#endif
