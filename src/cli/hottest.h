/* SPDX-License-Identifier: MIT */
/* What `zescope record` tells at its end of where the time went. */
#ifndef ZS_CLI_HOTTEST_H
#define ZS_CLI_HOTTEST_H

#include "cli/options.h"

/* The five kernels and the five calls with most of the time, as notes. Nothing where there are
 * none, and a hint where the traces are too large to be read in a moment. False: nothing was told.
 */
bool zs_cli_print_hottest(const struct zs_common_options *common, const char *recording);
/* All tables, as `zescope report` prints them, on stdout. An exit status. */
int zs_cli_print_report(const struct zs_common_options *common, const char *recording);

#endif
