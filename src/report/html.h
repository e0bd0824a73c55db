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
#include "base/diag.h"

/* Called with pieces of the output, in order. Not 0 stops and is returned. */
typedef int zs_html_write_fn(void *sink, const void *data, size_t size_B);

enum { ZS_HTML_LISTING_B = 4 << 20 };

struct zs_html_bundle;

struct zs_html_page {
    const char *title; /* of the document: what was opened; any bytes */
    const struct zs_html_bundle
        *bundle;              /* of html_assets.h; NULL: a module's or recording's page */
    const char *text_command; /* how listings that are left out are had; may be NULL */
    void *user;
    /* Write the document, valid JSON of schema zescope.module/1; need not be safe in HTML. */
    int (*json)(void *user, zs_html_write_fn *write, void *sink);
    /* A second document, for the page of a recording (docs/html-report.md); NULL: a module's page.
     * Its values need not be safe in HTML either. */
    int (*record)(void *user, zs_html_write_fn *write, void *sink);
    /* What a name of the document is called where people read it; NULL: as it is. NULL: all are. */
    const char *(*readable)(const char *name, size_t size_B);
    /* A kernel's heading and its listing as plain text (any bytes): asked in ascending order. */
    size_t listing_count;
    const char *(*listing_title)(void *user, size_t index);
    int (*listing)(void *user, size_t index, zs_html_write_fn *write, void *sink);
    /* Listings are left out, and the page says so, once they would go beyond so many bytes of
     * text together. 0: ZS_HTML_LISTING_B. */
    size_t listing_limit_B;
};

/* 0, -ENOMEM, or what a callback returned. */
int zs_report_html(const struct zs_html_page *page, zs_html_write_fn *write, void *sink);

/* Text as HTML: markup characters as entities, invalid UTF-8 and control characters as U+FFFD,
 * characters that reorder text (bidirectional controls) by name, as in "<U+202E>". Safe in
 * elements and in quoted attributes. */
void zs_html_escape(struct zs_buf *out, const char *text, size_t size_B);

#endif
