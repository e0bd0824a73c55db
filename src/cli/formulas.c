/* SPDX-License-Identifier: MIT */
#include "cli/formulas.h"

#include <errno.h>
#include <stdlib.h>

static const size_t TEXT_MAX_B = (size_t)1 << 20; /* of a file */

int zs_formula_fail(const char *path, int error, const struct zs_formula_error *where)
{
    if (error == -ENOMEM)
        return zs_cli_fail("out of memory");
    zs_cli_fail("%s:%u:%u: %s", path, where->line, where->column, where->text);
    return ZS_EXIT_USAGE;
}

int zs_formula_files_open(const struct zs_string_list *paths, struct zs_formula_files *ret_files)
{
    struct zs_diag diag = {0};
    *ret_files = (struct zs_formula_files){.paths = paths->items};
    ret_files->files = calloc(paths->count + 1, sizeof(*ret_files->files));
    if (!ret_files->files)
        return zs_cli_fail("out of memory");
    for (size_t i = 0; i < paths->count; i++) {
        if (zs_file_read(paths->items[i], TEXT_MAX_B, &ret_files->files[i], &diag))
            return zs_cli_fail("%s", diag.text);
        ret_files->count++;
    }
    return ZS_EXIT_OK;
}

void zs_formula_files_close(struct zs_formula_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        zs_file_close(&files->files[i]);
    free(files->files);
}

int zs_formula_files_define(const struct zs_formula_files *files, struct zs_analysis *analysis)
{
    for (size_t i = 0; i < files->count; i++) {
        struct zs_formula_error where;
        const struct zs_span text = files->files[i].span;
        int error = zs_analysis_define(analysis, (const char *)text.data, text.size_B,
                                       files->paths[i], &where);
        if (error)
            return zs_formula_fail(files->paths[i], error, &where);
    }
    return ZS_EXIT_OK;
}
