/* SPDX-License-Identifier: MIT */
/* Commands that record an application into a folder of their own. */
#ifndef ZS_CLI_RECORD_INTO_H
#define ZS_CLI_RECORD_INTO_H

#include "cli/options.h"

#include <limits.h>

/* `zescope record`, with these words before the application. Its exit status. */
int zs_cli_record_with(const char *const *words, size_t count, int app_count, char **app);

/* A folder that is thrown away. False after a message. */
bool zs_cli_scratch_make(char ret_folder[PATH_MAX]);
void zs_cli_scratch_remove(const char *folder);

#endif
