/* SPDX-License-Identifier: MIT */
/* Execution counts of kernels in a recording (store/counts_file.h), as hostile input. */
#ifndef ZS_RECORD_COUNTS_H
#define ZS_RECORD_COUNTS_H

#include "base/diag.h"
#include "store/counts_file.h"

enum {
    ZS_COUNTS_ROWS_MAX = 1 << 22,
    ZS_COUNTS_FILES_MAX = 65536,
};

struct zs_counts_row {
    int64_t offset_B; /* from the kernel's first instruction; negative: in a function before it */
    uint64_t executions, active_lanes, bytes_read, bytes_written;
};

struct zs_counts {
    char *kernel;
    uint32_t pid, ordinal; /* ordinal: ZS_RECORD_NONE where it is not known */
    uint32_t simd, row_count;
    uint64_t module_handle, launches, first_ns;
    uint64_t build;             /* id of the process's build, 0: not known */
    struct zs_counts_row *rows; /* ascending offsets */
    bool is_partial;            /* of some instructions alone: the others have no row */
};

struct zs_counts_list {
    struct zs_counts *items;
    size_t count, capacity;
};

/* All that a recording has; damaged files are left out and counted. 0, -errno with a sentence. */
int zs_counts_load(const char *recording, struct zs_counts_list *ret_list, size_t *ret_damaged,
                   struct zs_diag *diag);
/* The module that a handle of a process stood for when its kernels first ran: a handle is used
 * again once a module is destroyed. An index, or ZS_RECORD_NONE: no build is known. */
struct zs_recording;
uint32_t zs_counts_module(const struct zs_recording *recording, const struct zs_counts *counts);
void zs_counts_free(struct zs_counts_list *list);
/* The folder `name` of a recording, as a descriptor; -ENOENT without a sentence where there is
 * none, else -errno with one. */
int zs_counts_open_folder(const char *recording, const char *name, struct zs_diag *diag);

#endif
