/* SPDX-License-Identifier: MIT */
/* Instrumented runs: the helper process beside the application, and the table afterwards. */
#ifndef ZS_CLI_INSTRUMENT_H
#define ZS_CLI_INSTRUMENT_H

#include "cli/options.h"

#include <sys/types.h>

/* What is asked for, and how its table is shown: by `zescope instrument` on stdout. */
struct zs_cli_instrument {
    const char *tool;
    const char *output; /* folder of the recording, NULL: the usual one */
    uint64_t limit;     /* rows, 0: all */
    bool table, json, debug_info, last;
    uint64_t records_buffer, records_limit; /* bytes, 0: as usual */
};

#define ZS_CLI_RECORDS_BUFFER_HELP                                                                 \
    "memory of the device for records of each module that no one has read yet, 0: for all that "   \
    "is kept of them, unless there is too little for many modules; at most 1 GiB"
#define ZS_CLI_RECORDS_LIMIT_HELP                                                                  \
    "keep at most about so much of a module's records, 0: 256 MiB; at most 3 GiB"

struct zs_cli_helper {
    pid_t pid;
    char folder[64], socket[96];
};
/* Start the helper for a tool. 0, or an exit status after it was said why not. */
int zs_cli_helper_start(const char *tool, struct zs_cli_helper *ret);
void zs_cli_helper_stop(struct zs_cli_helper *helper);

/* Make the tool's table of a recording, and print it when that is asked for. An exit status. */
int zs_cli_instrument_results(const struct zs_common_options *common,
                              const struct zs_cli_instrument *what, const char *recording);

/* cmd_record.c: run and record an application with its modules instrumented. An exit status. */
int zs_cli_record_instrumented(const struct zs_common_options *common,
                               const struct zs_cli_instrument *what, char **argv);

#endif
