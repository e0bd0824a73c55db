/* SPDX-License-Identifier: MIT */
/* What `zescope run --check` found, as the driver wrote it (driver/report.h): read, joined by site,
 * without what suppressions name, and written as text, JSON, SARIF or JUnit. */
#ifndef ZS_CLI_CHECK_REPORT_H
#define ZS_CLI_CHECK_REPORT_H

#include "cli/options.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/span.h"

enum zs_check_format {
    ZS_CHECK_TEXT,
    ZS_CHECK_JSON,
    ZS_CHECK_SARIF,
    ZS_CHECK_JUNIT,
};

struct zs_check_report {
    struct zs_span report;
    const struct zs_string_list *suppressions; /* files */
    bool gen_suppressions;                     /* text: what would suppress each, too */
    enum zs_check_format format;
    const char *output; /* NULL: stderr */
    bool to_stdout;     /* text, and what has no output */
    bool only_counts;   /* nothing is written */
};

/* *ret_found: findings that are no notes and are not suppressed. An exit status. */
int zs_check_report_write(const struct zs_check_report *r, size_t *ret_found);

/* Those that a recording keeps; an exit status. */
int zs_check_report_show(const char *recording, bool to_stdout, enum zs_check_format format);
/* The same as an array `checks`, where it keeps any. */
void zs_check_report_put(const char *recording, struct zs_json *json);
/* check_frames.c: text of the driver as it is to be read. */
void zs_check_put_text(struct zs_buf *out, struct zs_span text);

#endif
