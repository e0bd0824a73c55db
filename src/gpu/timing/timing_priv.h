/* SPDX-License-Identifier: MIT */
/* Inside src/gpu/timing: code tables, streams, the memory hierarchy. */
#ifndef ZS_GPU_TIMING_PRIV_H
#define ZS_GPU_TIMING_PRIV_H

#include "dataport/dataport.h"
#include "gpu/timing/timing.h"

/* ---- code.c ------------------------------------------------------------------------------------
 */

enum zs_timing_unit {
    ZS_TIMING_UNIT_FPU, /* either */
    ZS_TIMING_UNIT_FPU0,
    ZS_TIMING_UNIT_FPU1,
    ZS_TIMING_UNIT_MATH,    /* extended math: part of FPU1 */
    ZS_TIMING_UNIT_DPAS,    /* systolic multiplications */
    ZS_TIMING_UNIT_SEND,    /* a message: decided in the order of all EUs */
    ZS_TIMING_UNIT_WAIT,    /* for a barrier: likewise */
    ZS_TIMING_UNIT_CONTROL, /* branches */
};

/* Places of the scoreboard, as they are found; those that no instruction tells apart become one. */
enum { ZS_TIMING_ACCS = 16 };
enum {
    ZS_TIMING_SLOT_FLAG = 256, /* f0, f1 ... */
    ZS_TIMING_SLOT_ACC = ZS_TIMING_SLOT_FLAG + ZS_EU_FLAGS_MAX,
    ZS_TIMING_SLOT_A0 = ZS_TIMING_SLOT_ACC + ZS_TIMING_ACCS,
    ZS_TIMING_SLOT_LAST, /* the result of a pipe that was issued last: for indirect operands */
    ZS_TIMING_SLOT_NONE, /* always ready */
    ZS_TIMING_SLOTS
};
enum { ZS_TIMING_DEP_STEP = 4 };

struct zs_timing_op {
    uint8_t unit;         /* enum zs_timing_unit */
    uint8_t chunk_cycles; /* of the pipe, for `chunk_lanes` lanes */
    uint8_t chunk_lanes, exec_size, chan_offset;
    uint8_t payload_grf;  /* registers */
    uint8_t response_grf; /* of 32 bytes each */
    uint8_t ahead;        /* the thread goes on so many cycles before the pipe is free */
    uint8_t write_count;  /* slots that it writes */
    uint16_t least;       /* cycles of the pipe at least */
    uint16_t full_cycles; /* ... with all of lane_mask on */
    uint16_t totals[2];   /* where in the totals its cycles count: of either pipe */
    uint16_t dep_count;   /* slots that must be ready before it is issued: of ..._DEP_STEP many */
    uint32_t lane_mask;   /* 0: the lanes do not matter */
    uint32_t slots;       /* what must be ready, then what it writes */
};

/* One of them. */
static inline uint64_t *zs_timing_total_at(struct zs_gpu_timing *totals, size_t offset_B)
{
    return (uint64_t *)(void *)((uint8_t *)totals + offset_B);
}

struct zs_timing_code {
    const struct zs_timing_params *params;
    struct zs_timing_op *ops;
    uint32_t op_count;
    uint32_t *offset_B; /* by instruction */
    uint16_t *slots;
    uint8_t *slot_latency; /* beside slots: of what is written */
    uint32_t slot_count;   /* different ones */
    uint32_t *next_wait;   /* by instruction: the next one that waits for a barrier */
    struct zs_timing_memo *memo;
};

/* ---- trace.c -----------------------------------------------------------------------------------
 *
 * A stream is what one EU thread did, in words of 32 bits:
 *
 *   window   3 << 30 | barriers that were signalled before it; then the lanes that are on
 *   block    0 << 30 | first instruction; then the number of instructions
 *   mask     1 << 30; then the lanes that are on from here
 *   message  2 << 30 | lines << 20 | instruction; then struct zs_timing_event's word; then each
 *            line: its range in the stream's table << 24 | bits 32 and up, and the low 32 bits
 *
 * Windows are WINDOW_BLOCKS long, those of kernels with barriers WINDOW_BARRIERS. A stream that
 * outgrows its room gives up every other window, and records every other one from there on.
 */
enum {
    ZS_TIMING_WORD_BLOCK,
    ZS_TIMING_WORD_MASK,
    ZS_TIMING_WORD_MESSAGE,
    ZS_TIMING_WORD_WINDOW,
    ZS_TIMING_WINDOW_BLOCKS = 32,
    ZS_TIMING_WINDOW_BARRIERS = 4,
    ZS_TIMING_RANGES = 255,      /* that a stream can name; accesses to others have no lines */
    ZS_TIMING_RANGE_SCRATCH = 1, /* lines are those of the thread's own part, or, with the bit */
    ZS_TIMING_SHARED = 1,        /* ... in the word with the range, of the payload of all */
    ZS_TIMING_RANGE_PRIVATE = 2,
    ZS_TIMING_RANGE_FIRST = 3, /* ranges[0] */
};
#define ZS_TIMING_WORD(kind, value) ((uint32_t)(kind) << 30 | (uint32_t)(value))

/* What a message does, in one word. */
enum {
    ZS_TIMING_EVENT_SPACE = 0,      /* 3 bits: enum zs_port_space */
    ZS_TIMING_EVENT_WRITE = 1 << 3, /* no response is awaited */
    ZS_TIMING_EVENT_ATOMIC = 1 << 4,
    ZS_TIMING_EVENT_FENCE = 1 << 5,
    ZS_TIMING_EVENT_BARRIER = 1 << 6,
    ZS_TIMING_EVENT_CYCLES =
        8, /* shift, 8 bits: local memory: cycles; atomics: lanes at one place */
    ZS_TIMING_EVENT_CONFLICTS = 16, /* shift, 8 bits */
    ZS_TIMING_EVENT_TEXELS = 24,    /* shift, 8 bits */
};

/* A range that was found of late: a stream keeps so many. */
enum { ZS_TIMING_FOUND = 4 };
struct zs_timing_found {
    uint64_t start, size_B; /* start: of its first line */
    uint32_t ordinal;
};

struct zs_timing_stream {
    struct zs_eu_hooks hooks; /* first: what a thread's `hooks` points to */
    const struct zs_timing_trace *trace;
    uint32_t *words;
    uint32_t count, capacity;
    uint32_t *windows; /* where they begin */
    uint32_t window_count, window_capacity;
    uint32_t stride;                    /* windows whose number is a multiple are recorded */
    uint32_t window, blocks;            /* number of the current one, blocks in it */
    uint32_t barriers, window_barriers; /* so far; at which the next window begins */
    uint32_t mask;
    bool recording, full;
    uint64_t recorded, executed; /* instructions */
    uint32_t messages, lines;    /* that were recorded */
    uint64_t *ranges;            /* where they start; ordinals below RANGE_FIRST have none */
    uint32_t range_count, range_capacity;
    struct zs_timing_found found[ZS_TIMING_FOUND];
    uint32_t found_next;       /* number of the one that gives way */
    uint32_t first_windows[4]; /* where most have room */
    uint64_t first_ranges[6];
};

struct zs_timing_trace {
    struct zs_timing_launch launch;
    uint64_t sampled;                 /* groups */
    uint64_t chunk_groups;            /* sampled groups come in runs of so many ... */
    uint64_t chunk_count;             /* ... spread evenly */
    uint32_t resident_groups;         /* that the device holds at once */
    uint32_t words_max;               /* of a stream, before it gives up windows */
    struct zs_timing_stream *streams; /* threads_per_group for each sampled group */
};
enum { ZS_TIMING_RUNS = 4 }; /* chunks at most */
/* Group number of a sampled one. */
uint64_t zs_timing_trace_group(const struct zs_timing_trace *trace, uint64_t sample);

/* A line's name in a replay: where it lies in an allocation, and which one that is. words: as a
 * message has them. */
enum { ZS_TIMING_LINE_BITS = 40 };
static inline uint64_t zs_timing_line_of(uint64_t ordinal, const uint32_t *words)
{
    return ordinal << ZS_TIMING_LINE_BITS | (uint64_t)(words[0] & 0xff) << 32 | words[1];
}

/* ---- census.c ----------------------------------------------------------------------------------
 * What was not recorded has gone through the caches, too.
 */

struct zs_timing_census;
enum { ZS_TIMING_CLASSES = 64 }; /* allocations that are told apart */
/* The streams' ranges have been named. *ret NULL: all groups were recorded. */
int zs_timing_census_create(const struct zs_timing_trace *trace, struct zs_timing_census **ret);
void zs_timing_census_destroy(struct zs_timing_census *census); /* NULL is fine */
/* How likely lines that the run is the first to touch are in a cache that has room for so
 * many more, as it begins. */
void zs_timing_census_odds(const struct zs_timing_census *census, uint32_t run, double room,
                           uint32_t ret_odds[ZS_TIMING_CLASSES]);
/* By these odds, whether this one is. */
bool zs_timing_census_says(const uint32_t odds[ZS_TIMING_CLASSES], uint64_t line);

/* ---- memo.c ------------------------------------------------------------------------------------
 * What was found of launches, by what they did. Several threads may use a memo.
 */

struct zs_timing_key {
    uint64_t word[2];
};
/* All that a replay follows from. The streams' ranges have been named. */
void zs_timing_key_of(const struct zs_timing_trace *trace, uint64_t instructions,
                      const uint64_t *executions, struct zs_timing_key *ret);

struct zs_timing_memo;
int zs_timing_memo_create(struct zs_timing_memo **ret_memo);
void zs_timing_memo_destroy(struct zs_timing_memo *memo); /* NULL is fine */
/* A copy: its stalls are the caller's. */
bool zs_timing_memo_find(struct zs_timing_memo *memo, const struct zs_timing_key *key,
                         struct zs_gpu_timing *ret_timing);
void zs_timing_memo_keep(struct zs_timing_memo *memo, const struct zs_timing_key *key,
                         const struct zs_gpu_timing *timing);

/* ---- hierarchy.c -------------------------------------------------------------------------------
 */

/* Lines are found through a table and kept in an order for each set, so that memory and time follow
 * what a launch touches, not the size of the cache. Numbers of lines are 1 and up; 0: none. */
struct zs_timing_line {
    uint64_t tag; /* bit 63: written */
    uint32_t newer, older;
};
struct zs_timing_cache {
    uint32_t set_count, ways; /* set_count: a power of two; 0: there is no cache */
    struct {
        uint32_t newest, oldest, count;
    } * sets;
    struct zs_timing_line *lines;
    uint32_t line_count, line_capacity;
    uint32_t *table; /* of lines, by a hash of the tag */
    uint32_t table_size;
    bool failed;   /* no memory: nothing is kept any more */
    bool had_room; /* for the last line that was not there */
};

struct zs_timing_subslice {
    uint64_t port_free, sampler_free; /* cycles */
    struct zs_timing_cache sampler, l1;
};

/* What messages keep busy, whether time passes or not. */
enum {
    ZS_TIMING_BUSY_PORTS, /* of all subslices */
    ZS_TIMING_BUSY_BANKS, /* of L3, all */
    ZS_TIMING_BUSY_GTI_READ,
    ZS_TIMING_BUSY_GTI_WRITE,
    ZS_TIMING_BUSY_MEMORY,
    ZS_TIMING_BUSY
};

enum { ZS_TIMING_BANKS = 4 }; /* of L3 that totals tell apart */

struct zs_timing_hierarchy {
    const struct zs_timing_params *params;
    struct zs_gpu_timing *totals;
    uint32_t slices, subslices; /* subslices: of all slices */
    /* of powers of two: banks of a slice less 1, log2 of lines that a port takes a cycle (0 and
     * less: cycles of a line), log2 of response registers a cycle */
    uint32_t bank_mask;
    int32_t port_shift;
    uint32_t response_shift;
    struct zs_timing_subslice *subslice;
    struct zs_timing_cache *l3; /* by slice */
    uint64_t *bank_free;        /* by slice and bank */
    struct zs_timing_cache llc;
    /* in 1/256 of a cycle */
    uint64_t gti_read_free, gti_write_free, memory_free;
    uint32_t gti_read_cost, gti_write_cost, memory_cost; /* of a line */
    uint32_t memory_latency;                             /* cycles */
    uint64_t busy[ZS_TIMING_BUSY]; /* ports and banks: cycles; others: 1/256 */
    /* not yet in the totals: lookups of L3 (reads, writes, by bank), lines read and written back */
    uint64_t lookups[2], bank_lookups[ZS_TIMING_BANKS], reads[ZS_TIMING_BANKS],
        writes[ZS_TIMING_BANKS];
    /* lines that a run of groups is the first to touch; NULL: all groups were recorded */
    const struct zs_timing_census *census;
    uint32_t runs_known; /* of which the odds are there */
    uint32_t (*l3_odds)[ZS_TIMING_CLASSES], (*llc_odds)[ZS_TIMING_CLASSES]; /* by run */
    uint64_t supposed; /* sectors that were found though nobody recorded had touched them */
};

struct zs_timing_request {
    uint32_t subslice;
    uint32_t run;          /* of the recorded groups: a thread's */
    uint32_t event;        /* ZS_TIMING_EVENT_* */
    const uint64_t *lines; /* canonical: see replay.c */
    uint32_t line_count;
    uint32_t payload_grf, response_grf;
    bool warm;          /* touch the caches alone: no time passes */
    uint64_t *accesses; /* of its instruction: [ZS_GPU_ACCESSES] */
};

int zs_timing_hierarchy_init(struct zs_timing_hierarchy *h, const struct zs_gpu_model *model,
                             const struct zs_timing_params *params,
                             const struct zs_timing_census *census, struct zs_gpu_timing *totals);
void zs_timing_hierarchy_fini(struct zs_timing_hierarchy *h);
/* What was counted since the last time goes into the totals. */
void zs_timing_hierarchy_settle(struct zs_timing_hierarchy *h);
/* How long each was busy so far, in cycles of the device. */
void zs_timing_hierarchy_busy(const struct zs_timing_hierarchy *h,
                              double ret_cycles[ZS_TIMING_BUSY]);
/* ... of these the memory, to read a line. */
double zs_timing_hierarchy_read_cost(const struct zs_timing_hierarchy *h);
/* When the response of a message that leaves its EU at `cycle` has arrived. */
uint64_t zs_timing_hierarchy_send(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                                  uint64_t cycle);
/* From when on another one of its kind may leave its EU: the port's queue has room. */
uint64_t zs_timing_hierarchy_accepts(const struct zs_timing_hierarchy *h,
                                     const struct zs_timing_request *r);

#endif
