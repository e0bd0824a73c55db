/* SPDX-License-Identifier: MIT */
/* The page as html/embed.py builds it from html/: fixed pieces and what stands between them. */
#ifndef ZS_REPORT_HTML_ASSETS_H
#define ZS_REPORT_HTML_ASSETS_H

#include <stddef.h>

enum zs_html_slot {
    ZS_HTML_END,
    ZS_HTML_TITLE,
    ZS_HTML_LISTINGS,
    ZS_HTML_DATA,
    ZS_HTML_RECORD,
    ZS_HTML_NAMES
};

struct zs_html_piece {
    const unsigned char *text;
    size_t size_B;
    enum zs_html_slot then; /* what the writer puts after it */
};

struct zs_html_bundle {
    const struct zs_html_piece *pieces;
    size_t count;
};

extern const struct zs_html_bundle zs_html_module;    /* source and machine code */
extern const struct zs_html_bundle zs_html_compare;   /* two sides compared */
extern const struct zs_html_bundle zs_html_recording; /* the same under a timeline and tables */

#endif
