/* SPDX-License-Identifier: MIT */
#ifndef ZS_CLI_SCRATCH_H
#define ZS_CLI_SCRATCH_H

#include <limits.h>
#include <stdbool.h>

/* A folder that is thrown away. False after a message. */
bool zs_cli_scratch_make(char ret_folder[PATH_MAX]);
void zs_cli_scratch_remove(const char *folder);

#endif
