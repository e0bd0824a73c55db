/* SPDX-License-Identifier: MIT */
/* The page of a recording: timeline, tables, and the source and machine code of its kernels. */
#ifndef ZS_REPORT_HTML_RECORDING_H
#define ZS_REPORT_HTML_RECORDING_H

#include "report/analysis.h"
#include "report/html_module.h"
#include "report/html_timeline.h"
#include "report/recording.h"

#include <zescope/record.h>

/* Rows of a table on a page; the page says how many are left out. */
enum { ZS_HTML_ROWS = 5000 };
/* Kernels whose analysis is on a page: those with most time. */
enum { ZS_HTML_KERNELS = 200 };

struct zs_recording_html {
    struct zs_report *report;
    struct zs_html_timeline *timeline;
    const struct zs_recording_info *info;      /* NULL: not known */
    const struct zs_module_view *view;         /* of its modules, may have no kernels */
    const struct zs_module_html_options *code; /* title, listings */
    uint32_t recordings;                       /* of how many, where it is a folder of them; or 0 */
    const char *code_note;                     /* what is missing of the code, or NULL */
    struct zs_analysis *analysis;              /* of its kernels, or NULL */
    /* Adds members: what checks found, with `checked`; NULL: nothing. */
    void (*put_checks)(const char *checked, struct zs_json *json);
    const char *checked;
};

/* 0, -ENOMEM, or what `write` returned. */
int zs_report_recording_html(const struct zs_recording_html *recording, zs_write_fn *write,
                             void *user);

#endif
