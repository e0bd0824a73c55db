/* SPDX-License-Identifier: MIT */
/* zescope metrics: its options, and the verbs that record and show. */
#ifndef ZS_CLI_METRICS_H
#define ZS_CLI_METRICS_H

#include "cli/options.h"

struct metrics_options {
    struct zs_common_options common;
    struct zs_string_list groups, metrics, kernels;
    const char *device, *period, *output;
    uint64_t timeout_s, limit;
    int by; /* enum zs_metrics_by */
    bool json, csv, runs;
};

extern const struct zs_command zs_command_metrics;

/* list. An exit status. */
int zs_cli_list_metrics(const struct metrics_options *options);

/* query, stream, show: whatever is no `list`. An exit status. */
int zs_cli_metrics(const struct metrics_options *options, int operand_count, char **operands);

/* Whether some device of the drivers here has each of these groups (items may be NAME,NAME). If
 * not, a message and ZS_EXIT_USAGE. ret_told: a driver that has metrics enabled answered. */
int zs_cli_check_metric_groups(const struct zs_string_list *groups, bool *ret_told);

#endif
