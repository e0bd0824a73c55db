/* SPDX-License-Identifier: MIT */
/* Recordings as tables of an SQLite database (docs/export.md). */
#ifndef ZS_CLI_EXPORT_SQLITE_H
#define ZS_CLI_EXPORT_SQLITE_H

#include "cli/options.h"

struct zs_export;

struct zs_export_counts {
    uint64_t calls, lost_calls, damaged_files, activities, instructions;
};

/* A new file beside `path`, which it becomes when it is closed; with `append` the database that is
 * there, or a new one. ZS_EXIT_OK, or an exit status after a message on stderr. */
int zs_export_open(const struct zs_common_options *common, const char *path, bool append,
                   struct zs_export **ret_export);
/* Without `keep` the file is as it was before. The export is freed in any case. */
int zs_export_close(struct zs_export *export, bool keep);
/* All that a recording holds, or a folder of recordings one by one. */
int zs_export_recording(struct zs_export *export, const char *path,
                        struct zs_export_counts *ret_counts);

#endif
