/* SPDX-License-Identifier: MIT */
/* What the user asked to see of API calls: lines as they happen, and which calls to record. */
#ifndef ZS_COLLECT_LIVE_H
#define ZS_COLLECT_LIVE_H

#include <zescope/trace.h>

/* Where ZS_ENV_COLLECT_LIVE says: a file, or "-" for stderr. -1: nowhere. */
int zs_live_open(void);
/* When the application was started: lines of all its processes count from then. */
uint64_t zs_live_start_ns(void);
/* One line of a call that is over, written at once, its time counted from zero_ns. Never a SIGPIPE
 * to the application. */
void zs_live_write(int fd, uint64_t zero_ns, const struct zs_api_event *event, uint64_t start_ns,
                   uint64_t end_ns);

/* By call: true for those that ZS_ENV_COLLECT_INCLUDE and _EXCLUDE (extended regular expressions,
 * one a line) leave out; NULL: none. Owned by the caller. */
bool *zs_live_skipped(void);

#endif
