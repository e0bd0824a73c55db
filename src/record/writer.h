/* SPDX-License-Identifier: MIT */
/*
 * Making a recording: the launcher's side. The collector (src/collect) adds processes and modules
 * through store/store.h.
 */
#ifndef ZS_RECORD_WRITER_H
#define ZS_RECORD_WRITER_H

#include "base/diag.h"

struct zs_recording_writer;

struct zs_recording_plan {
    /* may hold %p (process id), %h (host), %q{NAME} (a variable of the environment), %%; NULL:
     * zescope-<app>-%p in the current folder */
    const char *path;
    char *const *argv;                      /* of the application */
    bool debug_info, no_trace, no_activity; /* stated in meta.json */
    bool is_emulated;                       /* Intel's drivers are on the software GPU */
    const char *timing; /* of the software GPU, should it be used: likewise; NULL: not known */
};

struct zs_recording_result {
    int exit_status; /* as a shell shows it */
    uint64_t duration_ns;
};

/* 0, or -EINVAL with a sentence: a name with a % that means nothing, or a variable that is not set.
 */
int zs_recording_check_name(const char *name, struct zs_diag *diag);

/*
 * Make the directory and its meta.json. A folder that exists is taken when it is empty; where a
 * recording stands already, or another recorder begins one, ".2", ".3", ... is appended; anything
 * else there is left alone and gives -EEXIST. -EINVAL: a variable that %q names is not set.
 */
int zs_recording_create(const struct zs_recording_plan *plan,
                        struct zs_recording_writer **ret_writer, struct zs_diag *diag);
/* Absolute path, without a '/' at its end. Lives as long as the writer. */
const char *zs_recording_writer_path(const struct zs_recording_writer *writer);

/* Copy the source file that debug info calls `path` (relative: to the folder in which recording
 * was started). A file that is not there, or no text of sensible size, is passed over: 1. */
int zs_recording_add_source(struct zs_recording_writer *writer, const char *path);
/* Copy every source file that the debug info of the recorded modules names. */
int zs_recording_add_sources(struct zs_recording_writer *writer, struct zs_diag *diag);

/* Write down how it ended, free the writer. */
int zs_recording_finish(struct zs_recording_writer *writer,
                        const struct zs_recording_result *result, struct zs_diag *diag);
/* The application could not be started: remove what zs_recording_create made, free the writer. */
void zs_recording_abandon(struct zs_recording_writer *writer);

#endif
