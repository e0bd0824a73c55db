/* SPDX-License-Identifier: MIT */
/* Commands that record an application into a folder of their own. */
#ifndef ZS_CLI_RECORD_INTO_H
#define ZS_CLI_RECORD_INTO_H

#include "cli/options.h"

/* Another command with these words, before the application if there is one. Its exit status. */
int zs_cli_run_with(const struct zs_command *command, const char *const *words, size_t count,
                    int app_count, char **app);
/* `zescope record`, with these words before the application. Its exit status. */
int zs_cli_record_with(const char *const *words, size_t count, int app_count, char **app);
/* The folder that it made; "": none. */
const char *zs_cli_recorded(void);
/* Builds that failed, what was lost, notes: on stderr. */
void zs_cli_note_failures(const struct zs_common_options *common, const char *recording);

/* `zescope record --live` that keeps nothing in the folder but notes. Its exit status. */
struct zs_cli_lines {
    const char *folder, *output; /* output: NULL is stderr */
    const struct zs_string_list *include, *exclude;
};
int zs_cli_record_lines(const struct zs_common_options *common, const struct zs_cli_lines *what,
                        int count, char **argv);

#endif
