/* SPDX-License-Identifier: MIT */
/* Write the HTML view of a JSON document:
 * html_page OUT.html MODULE.json TITLE [LISTING.txt LIMIT [RECORD.json]] */
#include "base/file.h"
#include "report/html.h"
#include "report/html_assets.h"

#include <stdio.h>
#include <stdlib.h>

struct input {
    const char *title;
    struct zs_file json, text, record;
};

static int put_json(void *user, zs_html_write_fn *write, void *sink)
{
    const struct input *in = user;
    return write(sink, in->json.span.data, in->json.span.size_B);
}

static int put_record(void *user, zs_html_write_fn *write, void *sink)
{
    const struct input *in = user;
    return write(sink, in->record.span.data, in->record.span.size_B);
}

static const char *listing_title(void *user, size_t index)
{
    return index ? "again" : ((const struct input *)user)->title;
}

static int put_listing(void *user, size_t index, zs_html_write_fn *write, void *sink)
{
    const struct input *in = user;
    return write(sink, in->text.span.data, in->text.span.size_B);
}

static int write_file(void *sink, const void *data, size_t size_B)
{
    return zs_file_out_write(sink, data, size_B);
}

int main(int argc, char **argv)
{
    struct zs_diag diag;
    struct input in = {0};
    struct zs_file_out *out = NULL;
    zs_diag_clear(&diag);
    if (argc < 4)
        return 2;
    in.title = argv[3];
    int error = zs_file_read(argv[2], 0, &in.json, &diag);
    if (!error && argc > 4)
        error = zs_file_read(argv[4], 0, &in.text, &diag);
    bool is_comparison = argc > 7 && !strcmp(argv[7], "compare");
    if (!error && argc == 7)
        error = zs_file_read(argv[6], 0, &in.record, &diag);
    if (!error)
        error = zs_file_out_open(argv[1], &out, &diag);
    struct zs_html_page page = {
        .title = in.title,
        .text_command = "zescope annotate <module>",
        .user = &in,
        .json = put_json,
        .bundle = is_comparison ? &zs_html_compare : NULL,
        .record = argc == 7 ? put_record : NULL,
        .listing_count = argc > 4 ? 2 : 0,
        .listing_title = listing_title,
        .listing = put_listing,
        .listing_limit_B = argc > 5 ? (size_t)atol(argv[5]) : 0,
    };
    if (!error)
        error = zs_report_html(&page, write_file, out);
    if (out) {
        int kept = zs_file_out_close(out, !error, &diag);
        error = error ? error : kept;
    }
    if (error)
        fprintf(stderr, "html_page: %s\n", diag.text);
    zs_file_close(&in.json);
    zs_file_close(&in.text);
    zs_file_close(&in.record);
    return error ? 1 : 0;
}
