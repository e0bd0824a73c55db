/* SPDX-License-Identifier: MIT */
/*
 * The HTML view: one self-contained file with the page's style, script and data inside. It opens
 * from disk and asks nothing of a network: its Content-Security-Policy allows the two scripts and
 * the style that are built into the library, by hash, and nothing else.
 *
 * The page holds the module twice: as a JSON document that the script shows (docs/html-report.md
 * says which members it reads), and as plain text listings that are read without JavaScript.
 */
#ifndef ZS_REPORT_HTML_H
#define ZS_REPORT_HTML_H

#include "base/buf.h"

/* One kernel's listing as plain text, e.g. what `zescope annotate` prints without colour. */
struct zs_html_listing {
    const char *title;
    struct zs_span text; /* any bytes: escaped here */
};

struct zs_html_page {
    const char *title;   /* of the document: what was opened; any bytes */
    struct zs_span json; /* valid JSON of schema zescope.module/1; need not be safe in HTML */
    const struct zs_html_listing *listings;
    size_t listing_count;
    /* Stop the listings when they reach this many bytes and say so. 0: ZS_HTML_LISTING_B. */
    size_t listing_limit_B;
    /* How the omitted text is had, e.g. "zescope annotate k.bin"; may be NULL. */
    const char *text_command;
};

enum { ZS_HTML_LISTING_B = 4 << 20 };

/* Append the page to out. 0 or -ENOMEM (which also sticks in out). Threads: as out. */
int zs_report_html(struct zs_buf *out, const struct zs_html_page *page);

/* Text as HTML: markup characters as entities, invalid UTF-8 and control characters as U+FFFD,
 * characters that reorder text (bidirectional controls) by name, as in "<U+202E>". Safe in
 * elements and in quoted attributes. */
void zs_html_escape(struct zs_buf *out, const char *text, size_t size_B);

#endif
