/* SPDX-License-Identifier: MIT */
/* Sources in the place of modules: OpenCL C and SPIR-V, which Intel's ocloc compiles. */
#ifndef ZS_CLI_SOURCE_H
#define ZS_CLI_SOURCE_H

#include "cli/options.h"

#include <limits.h>

/* Whether a file is OpenCL C (by its name) or SPIR-V (by its first word). */
bool zs_cli_is_source(const char *path);

/*
 * Compile a source with -g for a device (NULL: skl), with more options of the compiler or NULL.
 * ret_folder is a new folder, which the caller removes (zs_cli_scratch_remove) when it is done with
 * ret_path, the module in it. What the compiler says of an error goes to stderr. An exit status;
 * nothing is left behind unless it is ZS_EXIT_OK.
 */
int zs_cli_compile(const char *path, const char *device, const char *options,
                   char ret_folder[PATH_MAX], char ret_path[PATH_MAX]);

#endif
