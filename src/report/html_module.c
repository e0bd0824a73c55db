/* SPDX-License-Identifier: MIT */
#include "report/html_module.h"
#include "base/path.h"

#include <string.h>

struct module_page {
    const struct zs_module_view *view;
    const struct zs_annotate_text_options *text;
};

static int put_document(void *user, zs_html_write_fn *write, void *sink)
{
    static const struct zs_module_json_options options = {
        .pressure = true,
        .sends = true,
        .with_source = true,
    };
    const struct module_page *page = user;
    return zs_report_module_json(page->view, &options, write, sink);
}

static const char *listing_title(void *user, size_t index)
{
    const struct module_page *page = user;
    return page->view->kernels[index].kernel->name;
}

static int put_listing(void *user, size_t index, zs_html_write_fn *write, void *sink)
{
    const struct module_page *page = user;
    struct zs_module_view one = *page->view;
    one.kernels += index;
    one.kernel_count = 1;
    one.note_count = index ? 0 : one.note_count;
    return zs_report_annotate_text(&one, page->text, write, sink);
}

int zs_report_module_html(const struct zs_module_view *view,
                          const struct zs_module_html_options *options, zs_write_fn *write,
                          void *user)
{
    struct module_page module_page = {view, &options->text};
    const struct zs_html_page page = {
        .title = options->title ? options->title : zs_path_own_base_name(view->input),
        .text_command = options->text_command,
        .user = &module_page,
        .json = put_document,
        .listing_count = view->kernel_count,
        .listing_title = listing_title,
        .listing = put_listing,
        .listing_limit_B = options->listing_limit_B,
        .readable = options->readable,
    };
    return zs_report_html(&page, write, user);
}
