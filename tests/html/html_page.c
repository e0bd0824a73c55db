/* SPDX-License-Identifier: MIT */
/* Write the HTML view of a JSON document: html_page OUT.html MODULE.json TITLE [LISTING.txt LIMIT]
 */
#include "base/file.h"
#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const struct zs_diag *diag)
{
    fprintf(stderr, "html_page: %s\n", diag->text);
    return 1;
}

int main(int argc, char **argv)
{
    struct zs_diag diag;
    struct zs_file json, text = {0};
    zs_diag_clear(&diag);
    if (argc < 4)
        return 2;
    if (zs_file_read(argv[2], 0, &json, &diag) ||
        (argc > 4 && zs_file_read(argv[4], 0, &text, &diag)))
        return fail(&diag);
    struct zs_html_listing listings[] = {{argv[3], text.span}, {"again", text.span}};
    struct zs_html_page page = {
        .title = argv[3],
        .json = json.span,
        .listings = listings,
        .listing_count = argc > 4 ? 2 : 0,
        .listing_limit_B = argc > 5 ? (size_t)atol(argv[5]) : 0,
        .text_command = "zescope annotate <module>",
    };
    struct zs_buf out = {0};
    if (zs_report_html(&out, &page) || zs_file_write(argv[1], zs_buf_span(&out), &diag))
        return fail(&diag);
    zs_buf_fini(&out);
    zs_file_close(&json);
    zs_file_close(&text);
    return 0;
}
