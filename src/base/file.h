/* SPDX-License-Identifier: MIT */
#ifndef ZS_BASE_FILE_H
#define ZS_BASE_FILE_H

#include "base/buf.h"
#include "base/diag.h"

/* A whole file in memory. Data is NULL for an empty file. */
struct zs_file {
    struct zs_span span;
};

/* Read a whole regular file (or pipe, character device) of at most limit_B bytes (0: 4 GiB).
 * 0, or -errno with a sentence that names the path. It is a private copy: the file may change or
 * shrink afterwards without harm, which a mapping would not survive (SIGBUS). */
int zs_file_read(const char *path, uint64_t limit_B, struct zs_file *ret_file,
                 struct zs_diag *diag);
/* The same for an entry of an open directory that may be hostile: only a regular file, no symbolic
 * link, and nothing that would block. `name` must be one component: no '/'. */
int zs_file_read_at(int dir_fd, const char *name, uint64_t limit_B, struct zs_file *ret_file,
                    struct zs_diag *diag);
void zs_file_close(struct zs_file *file);

/* Write path through a temporary file beside it and rename it over: readers see the old or the
 * new contents, never half; a full disk leaves the old file. 0 or -errno with a sentence. */
int zs_file_write(const char *path, struct zs_span span, struct zs_diag *diag);

/* The same in pieces. Write errors stick and are told by the close; without `keep` the file is left
 * as it was. */
struct zs_file_out;
int zs_file_out_open(const char *path, struct zs_file_out **ret_out, struct zs_diag *diag);
int zs_file_out_write(struct zs_file_out *out, const void *data, size_t size_B);
int zs_file_out_close(struct zs_file_out *out, bool keep, struct zs_diag *diag);

#endif
