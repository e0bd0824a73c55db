/* SPDX-License-Identifier: MIT */
/* The HTML view of annotated modules: what annotate.h writes as JSON and text, in one page. */
#ifndef ZS_REPORT_HTML_MODULE_H
#define ZS_REPORT_HTML_MODULE_H

#include "report/annotate.h"
#include "report/html.h"

struct zs_module_html_options {
    struct zs_annotate_text_options text; /* of the listings that are read without JavaScript */
    const char *title;                    /* NULL: the view's input, without its folders */
    const char *text_command;             /* see struct zs_html_page */
    size_t listing_limit_B;               /* likewise */
    const char *(*readable)(const char *name, size_t size_B); /* likewise */
};

/* 0, -ENOMEM, or what `write` returned. The document has everything that the page shows:
 * pressure, messages, operands, source text. */
int zs_report_module_html(const struct zs_module_view *view,
                          const struct zs_module_html_options *options, zs_write_fn *write,
                          void *user);

#endif
