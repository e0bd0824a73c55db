/* SPDX-License-Identifier: MIT */
/*
 * Execution counts of kernels in a recording: counts/<pid>-<n>.counts, one file per kernel of a
 * module, updated in place after each launch, so that a process that is killed leaves what it has
 * counted. Little-endian:
 *
 *   0  "ZSCOUNT1"            40  u32 SIMD width
 *   8  u32 pid               44  u32 length of the name
 *  12  u32 rows              48  kernel name, at most 208 bytes
 *  16  u64 module handle    256  rows: i64 offset, u64 executions, u64 active lanes,
 *  24  u64 launches              u64 bytes read, u64 bytes written
 *  32  u64 first launch, ns of CLOCK_MONOTONIC
 */
#ifndef ZS_RECORD_COUNTS_H
#define ZS_RECORD_COUNTS_H

#include "base/diag.h"

#define ZS_RECORD_COUNTS_DIR   "counts"
#define ZS_RECORD_COUNTS_MAGIC "ZSCOUNT1"

enum {
    ZS_COUNTS_HEADER_B = 256,
    ZS_COUNTS_ROW_B = 40,
    ZS_COUNTS_NAME_MAX_B = 208,
    ZS_COUNTS_ROWS_MAX = 1 << 22,
    ZS_COUNTS_FILES_MAX = 65536,
};

struct zs_counts_row {
    int64_t offset_B; /* from the kernel's first instruction; negative: in a function before it */
    uint64_t executions, active_lanes, bytes_read, bytes_written;
};

struct zs_counts {
    char *kernel;
    uint32_t pid, simd, row_count;
    uint64_t module_handle, launches, first_ns;
    struct zs_counts_row *rows; /* ascending offsets */
};

struct zs_counts_list {
    struct zs_counts *items;
    size_t count, capacity;
};

/* All that a recording has; damaged files are left out and counted. 0, -errno with a sentence. */
int zs_counts_load(const char *recording, struct zs_counts_list *ret_list, size_t *ret_damaged,
                   struct zs_diag *diag);
void zs_counts_free(struct zs_counts_list *list);

#endif
