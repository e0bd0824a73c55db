/* SPDX-License-Identifier: MIT */
/* Counts from below Intel's driver (store/counts_file.h) get the names of their kernels. */
#ifndef ZS_REPORT_WALKS_H
#define ZS_REPORT_WALKS_H

#include <zescope/record.h>

#include <stddef.h>

struct zs_filter;
/* Makes files of counts of those whose code a module of the process has, if its kernel is wanted
 * (NULL: all are), and removes all others: the driver's own kernels, and what a tool rewrote.
 * *ret_others: how many those were. 0, -errno with a sentence. */
int zs_walks_name(const char *recording_path, const struct zs_recording *recording,
                  const struct zs_filter *wanted, size_t *ret_others, struct zs_diag *diag);

#endif
