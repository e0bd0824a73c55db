/* SPDX-License-Identifier: MIT */
/*
 * Execution counts of kernels in a recording: counts/<pid>-<process>-<n>.counts, one file per
 * kernel of a module, updated in place after each launch, so that a process that is killed leaves
 * what it has counted. Little-endian:
 *
 *   0  "ZSCOUNT2"            40  u32 SIMD width
 *   8  u32 pid               44  u32 length of the name
 *  12  u32 rows              48  kernel name, at most 200 bytes; 248 u32 id of the build (the
 *                                process's modules.jsonl), 0: not known; 252 u32 ordinal of the
 *                                process in the recording + 1, 0: not known
 *  16  u64 module handle    256  rows: i64 offset, u64 executions, u64 active lanes,
 *  24  u64 launches              u64 bytes read, u64 bytes written
 *  32  u64 first launch, ns of CLOCK_MONOTONIC
 *
 * A row whose executions are ZS_COUNTS_NOT_KNOWN says nothing: a tool did not look at them.
 */
#ifndef ZS_STORE_COUNTS_FILE_H
#define ZS_STORE_COUNTS_FILE_H

#include <stdint.h>

#define ZS_RECORD_COUNTS_DIR   "counts"
#define ZS_RECORD_COUNTS_MAGIC "ZSCOUNT2"

enum {
    ZS_COUNTS_HEADER_B = 256,
    ZS_COUNTS_ROW_B = 40,
    ZS_COUNTS_NAME_MAX_B = 200,
};

#define ZS_COUNTS_NOT_KNOWN UINT64_MAX

/*
 * What was counted below Intel's driver, where kernels have no names: ZS_WALKS_MAGIC, the bytes of
 * code where the module's handle is, no build, where the name is a number from 1, rows from the
 * first instruction that threads execute on, and behind them the code. zescope record makes files
 * of counts of them.
 */
#define ZS_WALKS_MAGIC  "ZSWALKS2"
#define ZS_WALKS_SUFFIX ".walks"

/*
 * Metrics of these launches, a file a process: ZS_WALK_METRICS_MAGIC, u32 pid, u32 ordinal + 1,
 * then u32 length and a record (store/activity.h) each: METRIC_GROUP, with ids from
 * ZS_WALK_METRICS_IDS on, METRIC, and QUERY of the nth kernel, whose files tell that number: of
 * walks at byte 48 (u32), of counts in the place of the module's handle. START_NS is of the
 * device's clock; places are offsets as those of rows of walks.
 */
#define ZS_WALK_METRICS_MAGIC  "ZSWALKM1"
#define ZS_WALK_METRICS_SUFFIX ".measured"
enum { ZS_WALK_METRICS_IDS = 1 << 20 };

/* How a note begins about a driver that has no counts to give. */
#define ZS_NOTE_NO_COUNTS "no execution counts of one driver"

#endif
