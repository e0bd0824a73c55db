/* SPDX-License-Identifier: MIT */
/*
 * How files get into a recording: shared by the collector, which runs inside the application, and
 * by `zescope record`.
 *
 * Rules that make a recording survive anything that happens to its writers:
 * - A blob (binary, debug data, SPIR-V, source) is written to a temporary file and renamed to the
 *   SHA-256 of its contents: it is there whole, or not at all, and equal contents are kept once.
 * - Events are lines of JSON, each appended by a single write(2) to a file opened with O_APPEND:
 *   lines of several threads never mix. A line that a full disk tore apart is closed by the next
 *   writer with a newline, so it costs only itself.
 * - No descriptor stays open between calls: an application that closes "all" descriptors, or
 *   hands out their numbers anew, is not disturbed.
 * - Counters of what was lost live in a small file whose blocks were allocated at the start, and
 *   which is mapped: they can be counted up when the disk is full.
 */
#ifndef ZS_STORE_STORE_H
#define ZS_STORE_STORE_H

#include "base/compiler.h"
#include "base/sha256.h"
#include "base/span.h"

#include <stdatomic.h>

#define ZS_RECORDING_SCHEMA "zescope.recording/1"
#define ZS_PROCESS_SCHEMA   "zescope.recording.process/1"

/* Names inside a recording. */
#define ZS_RECORD_META      "meta.json"
#define ZS_RECORD_COUNTERS  "counters"
#define ZS_RECORD_MODULES   "modules"
#define ZS_RECORD_SOURCES   "sources"
#define ZS_RECORD_PROCESSES "process"
#define ZS_RECORD_TRACE_DIR "trace"
#define ZS_RECORD_ASKED     "metrics" /* groups that were asked for, one a line */
#define ZS_RECORD_CHECKS    "checks"  /* findings, as the driver's report has them */
/* of process/<pid>[.<n>]/ */
#define ZS_RECORD_PROCESS "process.json"
#define ZS_RECORD_EVENTS  "modules.jsonl"
#define ZS_RECORD_NOTES   "notes.jsonl"

/* Environment of the collector, set by `zescope record`. */
#define ZS_ENV_COLLECT_COUNTS     "ZESCOPE_COLLECT_COUNTS" /* 1: execution counts */
#define ZS_ENV_COLLECT_DIR        "ZESCOPE_COLLECT_DIR"
#define ZS_ENV_COLLECT_DEBUG_INFO "ZESCOPE_COLLECT_DEBUG_INFO"
#define ZS_ENV_COLLECT_ACTIVITY   "ZESCOPE_COLLECT_ACTIVITY" /* 0: no times of device activity */
#define ZS_ENV_COLLECT_LIVE       "ZESCOPE_COLLECT_LIVE"     /* file, or - for stderr */
#define ZS_ENV_COLLECT_NAMES                                                                       \
    "ZESCOPE_COLLECT_NAMES" /* 1: emulated nodes are told what there is                            \
                             */
#define ZS_ENV_COLLECT_LINES_ONLY    "ZESCOPE_COLLECT_LINES_ONLY" /* 1: nothing is kept but notes */
#define ZS_ENV_COLLECT_INCLUDE       "ZESCOPE_COLLECT_INCLUDE"    /* expressions, one a line */
#define ZS_ENV_COLLECT_EXCLUDE       "ZESCOPE_COLLECT_EXCLUDE"
#define ZS_ENV_COLLECT_TRACE_LIMIT   "ZESCOPE_COLLECT_TRACE_LIMIT" /* bytes a process, 0: none */
#define ZS_ENV_COLLECT_LAYER         "ZESCOPE_COLLECT_LAYER"       /* path of libzescope_layer.so */
#define ZS_ENV_COLLECT_BACKTRACE     "ZESCOPE_COLLECT_BACKTRACE"   /* 1: of every call */
#define ZS_ENV_COLLECT_PAUSED        "ZESCOPE_COLLECT_PAUSED"      /* 1: start paused */
#define ZS_ENV_COLLECT_TOGGLE_SIGNAL "ZESCOPE_COLLECT_TOGGLE_SIGNAL" /* number, 0: none */
#define ZS_ENV_COLLECT_START_KERNEL  "ZESCOPE_COLLECT_START_KERNEL"  /* expression, "": none */
#define ZS_ENV_COLLECT_STOP_KERNEL   "ZESCOPE_COLLECT_STOP_KERNEL"
#define ZS_ENV_COLLECT_KERNELS       "ZESCOPE_COLLECT_KERNELS" /* expressions, one a line */
#define ZS_ENV_COLLECT_LAUNCH_SKIP   "ZESCOPE_COLLECT_LAUNCH_SKIP"
#define ZS_ENV_COLLECT_LAUNCH_COUNT  "ZESCOPE_COLLECT_LAUNCH_COUNT" /* "": no limit */
#define ZS_ENV_COLLECT_METRICS       "ZESCOPE_COLLECT_METRICS" /* groups, one a line; "": none */
#define ZS_ENV_COLLECT_METRICS_RUN                                                                 \
    "ZESCOPE_COLLECT_METRICS_RUN" /* set to measure, 0: all in turns */
#define ZS_ENV_COLLECT_METRICS_PERIOD "ZESCOPE_COLLECT_METRICS_PERIOD" /* ns, 0: queries */
/* CLOCK_MONOTONIC in ns: when the application was started, when to resume (0: not by time) */
#define ZS_ENV_COLLECT_START     "ZESCOPE_COLLECT_START"
#define ZS_ENV_COLLECT_RESUME_AT "ZESCOPE_COLLECT_RESUME_AT"
#define ZS_ENV_COLLECT_DURATION  "ZESCOPE_COLLECT_DURATION" /* ns until it pauses, 0: never */

/* How a note begins about a device that has no metrics to give. */
#define ZS_NOTE_NO_METRICS "no metrics of one device"
/* ... and says itself what to run instead. */
#define ZS_NOTE_OTHER_COMMAND ZS_NOTE_NO_METRICS " by this command"

enum {
    ZS_STORE_FILE_CHARS = ZS_SHA256_HEX_CHARS + 8, /* "<hash>.<ext>" and NUL */
    ZS_COUNTERS_SIZE_B = 4096,
};

/* The file ZS_RECORD_COUNTERS: little-endian, ZS_COUNTERS_SIZE_B bytes, zeros behind these. */
struct zs_store_counters {
    char magic[8] ZS_NONSTRING; /* "zscount1" */
    _Atomic uint64_t modules_lost;
    _Atomic uint64_t notes_lost;
    _Atomic int32_t last_errno;
    int32_t unused;
    _Atomic uint64_t packets_lost; /* of traces */
};

/* Store span as dir/<hash>.<ext>; ret_file is "<hash>.<ext>". 0 or -errno. */
int zs_store_blob(const char *dir, const char *ext, struct zs_span span,
                  char ret_file[ZS_STORE_FILE_CHARS]);

/* Write dir/name whole or not at all (an existing file is replaced). 0 or -errno. */
int zs_store_file(const char *dir, const char *name, struct zs_span span);

/* Append a line (without its newline) to path. 0 or -errno; -ENOSPC when only a part went out. */
int zs_store_line(const char *path, struct zs_span line);

/* Blocks on the disk for a part of a file, so that it can be mapped and written without SIGBUS. 0
 * or -errno; -EFBIG where growing it would raise SIGXFSZ, which ends processes. */
int zs_store_reserve(int fd, uint64_t at_B, uint64_t size_B);
/* The same for the new end of a file, as zeros. Mapped pages of it that are written then cost a
 * fraction (1.1 against 4.5 us each on ext4): they are there, and in large pieces, instead of being
 * made one at a time by a fault each. */
int zs_store_fill(int fd, uint64_t at_B, uint64_t size_B);

/* Create the counters of a new recording. 0 or -errno. */
int zs_store_counters_create(const char *dir);
/* Map them, to be kept for the life of the process; NULL when that is not possible. */
struct zs_store_counters *zs_store_counters_map(const char *dir);

#endif
