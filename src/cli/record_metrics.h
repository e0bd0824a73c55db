/* SPDX-License-Identifier: MIT */
/* What `zescope record --metrics` finds out about metrics at its end. */
#ifndef ZS_CLI_RECORD_METRICS_H
#define ZS_CLI_RECORD_METRICS_H

#include "cli/options.h"

/* Groups that can be active together make a set: how many there are, by what a first run recorded.
 * The collector makes them alike: a group is in the set that comes behind those that have a group
 * of its domain before it. */
uint32_t zs_cli_metrics_sets(const char *recording);
/* A driver that fails with metrics enabled and works without would harm the application, and give
 * no metrics either: false, after a sentence. The drivers are asked in a process of their own. */
bool zs_cli_metrics_allowed(void);
/* What could not be measured, and why: notes. False: nothing was measured at all. */
bool zs_cli_note_metrics(const struct zs_common_options *common, const char *recording);

#endif
