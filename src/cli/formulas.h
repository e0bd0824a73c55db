/* SPDX-License-Identifier: MIT */
/* Files of definitions and assertions that a command was given with --file. */
#ifndef ZS_CLI_FORMULAS_H
#define ZS_CLI_FORMULAS_H

#include "base/file.h"
#include "cli/options.h"

#include <zescope/analyze.h>

struct zs_formula_files {
    struct zs_file *files;
    const char *const *paths;
    size_t count;
};

/* ZS_EXIT_OK, or an exit status after a message on stderr. Close in any case; the list is borrowed.
 */
int zs_formula_files_open(const struct zs_string_list *paths, struct zs_formula_files *ret_files);
void zs_formula_files_close(struct zs_formula_files *files);
/* Their definitions, in order; what is wrong is told with file, line and column. */
int zs_formula_files_define(const struct zs_formula_files *files, struct zs_analysis *analysis);
/* "FILE:LINE:COLUMN: sentence" on stderr; ZS_EXIT_USAGE, or ZS_EXIT_FAILED without memory. */
int zs_formula_fail(const char *path, int error, const struct zs_formula_error *where);

#endif
