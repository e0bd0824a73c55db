/* SPDX-License-Identifier: MIT */
/* What the user asked to see of API calls: lines as they happen, and which calls to record. */
#ifndef ZS_COLLECT_LIVE_H
#define ZS_COLLECT_LIVE_H

#include "collect/collect.h"

#include <zescope/trace.h>

/*
 * Where lines go. No descriptor is kept: a file is opened by its path for each line, stderr is used
 * as long as it is what it was at the start (device and inode), and then the terminal that it was.
 */
struct zs_live {
    bool is_on, to_stderr;
    atomic_bool told;                 /* that a line was lost */
    char path[ZS_COLLECT_PATH_CHARS]; /* "": not known */
    uint64_t device, inode, zero_ns;
};

/* As ZS_ENV_COLLECT_LIVE says: a file, or "-" for stderr. Off where it says nothing, or the file
 * cannot be opened. */
void zs_live_init(struct zs_live *live, struct zs_collector *c);
/* One line of a call that is over, written at once. Never a SIGPIPE to the application. */
void zs_live_write(struct zs_live *live, struct zs_collector *c, const struct zs_api_event *event,
                   uint64_t start_ns, uint64_t end_ns);

/* By call: true for those that ZS_ENV_COLLECT_INCLUDE and _EXCLUDE (extended regular expressions,
 * one a line) leave out; NULL: none. Owned by the caller. */
bool *zs_live_skipped(void);

#endif
