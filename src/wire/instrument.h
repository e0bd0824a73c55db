/* SPDX-License-Identifier: MIT */
/*
 * What the collector and the helper that rewrites modules say to each other, over a socket whose
 * path is in ZESCOPE_COLLECT_INSTRUMENT; and what the collector leaves in a recording. All numbers
 * are of this machine: both run on it.
 *
 *     collector                                   helper
 *     struct zs_instrument_ask, module, debug ->
 *                                            <-   struct zs_instrument_answer
 *     struct zs_instrument_place             ->   (unless status or buffer_B ended it)
 *                                            <-   struct zs_instrument_module, the module, notes
 *
 * instrument/columns, what the tool says of single instructions: ZS_INSTRUMENT_COLUMNS_MAGIC, text
 * of the tool's name, u32 columns, of each u32 kind (enum zs_tool_column_kind), u32 column that a
 * ratio is over, text of its name; then of each kernel the module's hash, text of its name, u32
 * rows, of each u32 offset and a double for each column, NaN: unknown. Text is u32 bytes and the
 * bytes.
 *
 * A buffer's file, instrument/<pid>-<process>-<n>.data: struct zs_instrument_file, the buffer's
 * bytes up to the last one that was written; those behind it are zeros. A trace that was emptied
 * goes on where it ended: the file has more records than the buffer has room for, and says how many
 * in place of how many were asked for.
 */
#ifndef ZS_WIRE_INSTRUMENT_H
#define ZS_WIRE_INSTRUMENT_H

#include <stdint.h>
#include <stdlib.h>

#define ZS_ENV_COLLECT_INSTRUMENT "ZESCOPE_COLLECT_INSTRUMENT"
#define ZS_ENV_INSTRUMENT_LIMIT   "ZESCOPE_INSTRUMENT_LIMIT" /* seconds */
/* Bytes, 0: as usual. Of the device's memory for records of a module, and of those in its file. */
#define ZS_ENV_COLLECT_RECORDS_BUFFER "ZESCOPE_COLLECT_RECORDS_BUFFER"
#define ZS_ENV_COLLECT_RECORDS_LIMIT  "ZESCOPE_COLLECT_RECORDS_LIMIT"
#define ZS_INSTRUMENT_DIR             "instrument"
#define ZS_INSTRUMENT_TABLE           "instrument/table.json"
#define ZS_INSTRUMENT_COLUMNS         "instrument/columns"

#define ZS_INSTRUMENT_COLUMNS_MAGIC "ZSTCOLS1"

enum {
    ZS_INSTRUMENT_MAGIC = 0x335a5349, /* "ISZ3" */
    ZS_INSTRUMENT_MODULE_MAX_B = 1 << 30,
    ZS_INSTRUMENT_TEXT_MAX_B = 64 << 10,
    ZS_INSTRUMENT_BUFFER_MAX_B = (1 << 30) + (64 << 20), /* counters, and records */
    ZS_INSTRUMENT_HASH_CHARS = 64,
};
/* A module has room for all records that are kept of it, up to MOST, or for half of what is left of
 * ROOMS (or of two such rooms, where that is more; or of an eighth of the device's memory, where
 * that is less) for all modules in use, but not for less than LEAST. */
enum {
    ZS_INSTRUMENT_ROOMS_B = 1 << 30,
    ZS_INSTRUMENT_ROOM_MOST_B = 1 << 30,
    ZS_INSTRUMENT_ROOM_LEAST_B = 16 << 20
};
/* Of a module's records in a recording: unless it is said, and at most, so that it can be read. */
#define ZS_INSTRUMENT_RECORDS_LIMIT_B (UINT64_C(256) << 20)
#define ZS_INSTRUMENT_RECORDS_MOST_B  (UINT64_C(3) << 30)

/* How long the helper may work on one module before it is ended. Collectors wait a little longer,
 * then no more: what they ask from stands in an application's way. */
static inline unsigned zs_instrument_limit_s(void)
{
    enum { USUAL_S = 100, MOST_S = 86400 };
    const char *text = getenv(ZS_ENV_INSTRUMENT_LIMIT);
    unsigned long limit_s = text ? strtoul(text, NULL, 10) : 0;
    return limit_s == 0 ? USUAL_S : limit_s > MOST_S ? MOST_S : (unsigned)limit_s;
}

struct zs_instrument_ask {
    uint32_t magic, narrow_atomics; /* 1: the device does not add 64 bits atomically */
    uint64_t size_B;                /* of the module that follows */
    uint64_t debug_B;               /* of its debug information, behind it; may be 0 */
    uint64_t trace_B;               /* room for records; 0: as usual */
};
struct zs_instrument_answer {
    int32_t status; /* -errno: `text` says why */
    uint32_t unused;
    uint64_t buffer_B; /* to be allocated and zeroed; 0: nothing to rewrite */
    /* of zs_edit_buffer: what of it grows */
    uint64_t counter_count, trace_offset_B, records_offset_B, records_size_B;
    char hash[ZS_INSTRUMENT_HASH_CHARS]; /* SHA-256 of the module, hexadecimal */
    char text[256];
};
struct zs_instrument_place {
    uint64_t gpu_va;
};
struct zs_instrument_module {
    int32_t status;
    uint32_t notes_B; /* lines of text behind the module */
    uint64_t size_B;
    char text[256];
};
struct zs_instrument_file {
    uint32_t magic, pid;
    uint32_t build;             /* of the process */
    uint32_t ordinal;           /* of the process in the recording + 1; 0: not known */
    uint64_t buffer_B, trace_B; /* of that the room for records */
    char hash[ZS_INSTRUMENT_HASH_CHARS];
    uint64_t
        is_final; /* 1: kernels had ended; else it is as of the last time that somebody looked */
    uint64_t lost_units; /* of 32 bytes, of records that found no room */
};

#endif
