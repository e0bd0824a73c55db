/* SPDX-License-Identifier: MIT */
/* Words that complete a value: `zescope --complete KIND [WORD...]`, as generated completions ask.
 */
#ifndef ZS_CLI_WORDS_H
#define ZS_CLI_WORDS_H

#include "cli/options.h"

/* "device", "kernel", "group", "tool"; NULL: values of the option are files, or anything. */
const char *zs_words_kind(const char *option);
/* One a line; `given`: the words of the command line, among which are recordings and files. Silent
 * where there are none: ZS_EXIT_OK. */
int zs_words_print(const char *kind, int given_count, char **given);
/* cmd_metrics.c: names of the metric groups that drivers here have. False: there are none. */
bool zs_words_groups(void);

#endif
