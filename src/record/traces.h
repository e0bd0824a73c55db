/* SPDX-License-Identifier: MIT */
/* The trace files of a recording (its folder "trace"), as hostile input. */
#ifndef ZS_RECORD_TRACES_H
#define ZS_RECORD_TRACES_H

#include "base/diag.h"
#include "store/store.h"

#include <zescope/record.h>

enum { ZS_TRACE_FILES_MAX = 65536, ZS_TRACE_PARTS_MAX = 65536 };

/* One recording of several. */
struct zs_traces_part {
    char *rank;             /* the name of its folder */
    uint32_t first_ordinal; /* its processes have these numbers from here on */
};

struct zs_traces_file {
    char *name;
    uint32_t part;
    uint64_t process; /* ordinal << 32 | pid */
};

struct zs_traces {
    int dir_fd;                   /* the folder "trace", or the folder that holds the recordings */
    struct zs_traces_part *parts; /* sorted: rank-2 before rank-10 */
    size_t part_count;            /* 0: it is one recording */
    struct zs_traces_file *files; /* sorted by recording and name */
    size_t count;
};

/*
 * A recording, or a folder of recordings, as the ranks of a program make them: they are read as
 * one, their processes are told apart by the names of their folders. Links are not followed.
 */
/* A recording without traces has count 0. 0, -errno with a sentence. */
/* What was lost while recording, from the counters in the folder dir_fd: 0, -errno (none can be
 * read), -EBADMSG (broken); zeros then. */
int zs_traces_read_drops(int dir_fd, struct zs_record_drops *ret_drops);
/* Packets of the traces that were not written: ends and beginnings of calls, other events. 0 where
 * nothing is known. */
uint64_t zs_traces_lost(const char *recording);
int zs_traces_open(const char *recording, struct zs_traces *ret_traces, struct zs_diag *diag);
/* The recordings in a folder alone, also those that it has links to, and no files of theirs: none
 * where it cannot be read. 0, -errno with a sentence. */
int zs_traces_open_parts(const char *folder, struct zs_traces *ret_traces, struct zs_diag *diag);
void zs_traces_close(struct zs_traces *traces);
/* A descriptor of file i, which the caller closes, or -errno: symbolic links and what is not a
 * regular file are refused. */
int zs_traces_open_file(const struct zs_traces *traces, size_t i, struct zs_diag *diag);
/* The same of "<pid>-<ordinal>.<ending>" beside it, what else is kept of its process. */
int zs_traces_open_beside(const struct zs_traces *traces, size_t i, const char *ending, int flags);
/* The recording that file i is of; NULL where there is only one. */
const char *zs_traces_rank(const struct zs_traces *traces, size_t i);

#endif
