/* SPDX-License-Identifier: MIT */
/* The trace files of a recording (its folder "trace"), as hostile input. */
#ifndef ZS_RECORD_TRACES_H
#define ZS_RECORD_TRACES_H

#include "base/diag.h"

#include <zescope/record.h>

#define ZS_RECORD_TRACE_DIR "trace"

enum { ZS_TRACE_FILES_MAX = 65536 };

struct zs_traces {
    int dir_fd;
    char **names; /* sorted */
    size_t count;
};

/* A recording without traces has count 0. 0, -errno with a sentence. */
/* What was lost while recording, from the counters in the folder dir_fd: 0, -errno (none can be
 * read), -EBADMSG (broken); zeros then. */
int zs_traces_read_drops(int dir_fd, struct zs_record_drops *ret_drops);
/* Packets of the traces that were not written: ends and beginnings of calls, other events. 0 where
 * nothing is known. */
uint64_t zs_traces_lost(const char *recording);
int zs_traces_open(const char *recording, struct zs_traces *ret_traces, struct zs_diag *diag);
void zs_traces_close(struct zs_traces *traces);
/* A descriptor of file i, which the caller closes, or -errno: symbolic links and what is not a
 * regular file are refused. */
int zs_traces_open_file(const struct zs_traces *traces, size_t i, struct zs_diag *diag);

/* Cut what processes left unused at the ends of their files. Only when they have ended. */
void zs_traces_trim(const char *recording);

#endif
