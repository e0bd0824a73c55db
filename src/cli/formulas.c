/* SPDX-License-Identifier: MIT */
#include "cli/formulas.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>

int zs_formula_fail(const char *path, int error, const struct zs_formula_error *where)
{
    if (error == -ENOMEM)
        return zs_cli_fail("out of memory");
    zs_cli_fail("%s:%u:%u: %s", path, where->line, where->column, where->text);
    return ZS_EXIT_USAGE;
}

static int open_file(const char *path, struct zs_formula_file *ret_file)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    struct zs_formula_error where;
    if (zs_file_read(path, ZS_FORMULA_TEXT_MAX_B, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    int error =
        zs_formula_file_parse((const char *)file.span.data, file.span.size_B, ret_file, &where);
    zs_file_close(&file);
    return error ? zs_formula_fail(path, error, &where) : ZS_EXIT_OK;
}

int zs_formula_files_open(const struct zs_string_list *paths, struct zs_formula_files *ret_files)
{
    *ret_files = (struct zs_formula_files){.paths = paths->items};
    ret_files->files = calloc(paths->count + 1, sizeof(*ret_files->files));
    if (!ret_files->files)
        return zs_cli_fail("out of memory");
    int status = ZS_EXIT_OK;
    for (size_t i = 0; i < paths->count && status == ZS_EXIT_OK; i++) {
        ret_files->count++;
        status = open_file(paths->items[i], &ret_files->files[i]);
    }
    return status;
}

void zs_formula_files_close(struct zs_formula_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        zs_formula_file_free(&files->files[i]);
    free(files->files);
}

int zs_formula_files_define(const struct zs_formula_files *files, struct zs_names *names)
{
    for (size_t i = 0; i < files->count; i++) {
        struct zs_formula_error where;
        int error = zs_names_define(names, &files->files[i], &where);
        if (error)
            return zs_formula_fail(files->paths[i], error, &where);
    }
    return ZS_EXIT_OK;
}
