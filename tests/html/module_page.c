/* SPDX-License-Identifier: MIT */
/* The HTML view of a compiled module: module_page OUT.html MODULE */
#include "base/file.h"
#include "report/html_module.h"

#include <stdio.h>
#include <stdlib.h>

static int write_file(void *sink, const void *data, size_t size_B)
{
    return zs_file_out_write(sink, data, size_B);
}

/* Every kernel of every image; the module's images come one after the other. */
static struct zs_kernel_ref *list_kernels(const struct zs_module *module, size_t *ret_count)
{
    size_t count = 0;
    for (uint32_t i = 0; i < module->image_count; i++)
        count += module->images[i].kernel_count;
    struct zs_kernel_ref *refs = calloc(count + 1, sizeof(*refs));
    *ret_count = 0;
    for (uint32_t i = 0; refs && i < module->image_count; i++)
        for (uint32_t k = 0; k < module->images[i].kernel_count; k++)
            refs[(*ret_count)++] =
                (struct zs_kernel_ref){&module->images[i], &module->images[i].kernels[k]};
    return refs;
}

int main(int argc, char **argv)
{
    struct zs_diag diag;
    struct zs_module *module = NULL;
    struct zs_file_out *out = NULL;
    struct zs_source_options source_options = {.size_B = sizeof(source_options)};
    struct zs_module_view view = {0};
    zs_diag_clear(&diag);
    if (argc != 3)
        return 2;
    int error = zs_module_open(argv[2], NULL, &module, &diag);
    if (!error)
        error = zs_sources_open(&source_options, &view.sources);
    if (!error)
        error = zs_file_out_open(argv[1], &out, &diag);
    if (!error) {
        view.module = module;
        view.input = argv[2];
        view.kernels = list_kernels(module, &view.kernel_count);
        struct zs_module_html_options options = {.text_command = "zescope annotate"};
        error = zs_report_module_html(&view, &options, write_file, out);
    }
    if (out) {
        int kept = zs_file_out_close(out, !error, &diag);
        error = error ? error : kept;
    }
    if (error)
        fprintf(stderr, "module_page: %s\n", diag.text);
    free((void *)(uintptr_t)view.kernels);
    zs_sources_close(view.sources);
    zs_module_close(module);
    return error ? 1 : 0;
}
