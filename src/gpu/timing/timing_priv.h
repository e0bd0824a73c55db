/* SPDX-License-Identifier: MIT */
/* Inside src/gpu/timing: code tables, streams, the memory hierarchy. */
#ifndef ZS_GPU_TIMING_PRIV_H
#define ZS_GPU_TIMING_PRIV_H

#include "dataport/dataport.h"
#include "gpu/timing/store.h"
#include "gpu/timing/timing.h"

/* ---- code.c ------------------------------------------------------------------------------------
 */

enum zs_timing_unit {
    ZS_TIMING_UNIT_FPU, /* either */
    ZS_TIMING_UNIT_FPU0,
    ZS_TIMING_UNIT_FPU1,    /* extended math, too */
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
enum { ZS_TIMING_DEP_STEP = 4, ZS_TIMING_DEPS_NEAR = 8, ZS_TIMING_WRITES_NEAR = 2 };

/* What makes an instruction of a pipe slower than others. */
enum zs_timing_kind {
    ZS_TIMING_KIND_PLAIN,
    ZS_TIMING_KIND_MATH,
    ZS_TIMING_KIND_DOUBLE,
    ZS_TIMING_KIND_WIDE_INTEGER
};

/* A line of the host's cache. */
struct __attribute__((aligned(64))) zs_timing_op {
    uint8_t unit;         /* enum zs_timing_unit */
    uint8_t chunk_cycles; /* of the pipe, for `chunk_lanes` lanes: a power of two */
    uint8_t chunk_lanes, chan_offset;
    uint8_t payload_grf;  /* registers */
    uint8_t response_grf; /* of 32 bytes each */
    uint8_t ahead;        /* the thread goes on so many cycles before the pipe is free */
    uint8_t write_count;  /* slots that it writes */
    uint16_t least;       /* cycles of the pipe at least */
    uint16_t full_cycles; /* ... with all of lane_mask on */
    uint16_t totals[2];   /* where in the totals its cycles count: of either pipe */
    uint16_t dep_count;   /* slots that must be ready before it is issued: of ..._DEP_STEP many */
    uint32_t lane_mask;   /* 0: the lanes do not matter */
    uint32_t chunk_first; /* the first lane of each chunk */
    uint32_t slots;       /* what must be ready, then what it writes */
    /* the first of these, filled up with places that are always ready, or that nobody reads */
    uint16_t deps[ZS_TIMING_DEPS_NEAR], writes[ZS_TIMING_WRITES_NEAR];
    uint8_t latency[ZS_TIMING_WRITES_NEAR]; /* of what is written */
    uint8_t kind;                           /* enum zs_timing_kind */
    uint8_t element_B;                      /* as the pipe handles it */
};
_Static_assert(sizeof(struct zs_timing_op) == 64, "a line of the host's cache");

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
    uint32_t slot_count;   /* different ones, and one that nobody reads */
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
 * outgrows its room gives up every other window, and records every other one from there on. Which
 * of them follows from its turn.
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

static inline bool zs_timing_stores(uint32_t event)
{
    return (event & (ZS_TIMING_EVENT_WRITE | ZS_TIMING_EVENT_ATOMIC)) != 0;
}

/* A range that was found of late: a stream keeps so many. */
enum { ZS_TIMING_FOUND = 4 };
struct zs_timing_found {
    uint64_t start, size_B; /* start: of its first line */
    uint32_t ordinal;
};

/* Memory for the words of streams that one host thread records, one behind the other; large ones
 * have their own. */
struct __attribute__((aligned(64))) zs_timing_arena {
    struct zs_timing_block *blocks;
    uint32_t block_count;
    uint32_t *at, *end;                   /* of the last block: what is free */
    struct zs_timing_stream *last;        /* that was begun last */
    const struct zs_timing_stream *group; /* the streams of its group, and of the one before: */
    const struct zs_timing_stream *group_before;
};

struct zs_timing_stream {
    struct zs_eu_hooks hooks; /* first: what a thread's `hooks` points to */
    const struct zs_timing_trace *trace;
    struct zs_timing_arena *arena;
    uint32_t *words;
    uint32_t count, capacity;
    bool own;          /* words: by malloc() */
    uint32_t *windows; /* where they begin */
    uint32_t window_count, window_capacity;
    uint32_t stride, turn;              /* windows whose number is turn + a multiple are recorded */
    bool waits;                         /* for its turn: what it has is window 0 until then */
    uint32_t window, blocks;            /* number of the current one, blocks in it */
    uint32_t window_blocks;             /* ... with which it ends */
    uint32_t window_room;               /* words: with more it ends early */
    uint32_t barriers, window_barriers; /* so far; at which the next window begins */
    uint32_t mask;
    bool recording, full;
    uint64_t recorded, executed;            /* instructions */
    uint32_t messages, lines;               /* that were recorded */
    uint32_t messages_from, messages_until; /* words: between these they are; until 0: none is */
    uint64_t *ranges; /* where they start; ordinals below RANGE_FIRST have none */
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
    struct zs_timing_block memory;    /* of the streams */
    struct zs_timing_arena *arenas;   /* by host thread */
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

/* ---- reuse.c ----------------------------------------------------------------------------------
 * What was not recorded has gone through the caches, too.
 */

struct zs_timing_reuse;
/* Of a line's name: its allocation, as far as these are told apart. */
static inline uint32_t zs_timing_class_of(uint64_t line)
{
    enum { MOST = 63 };
    return (uint32_t)ZS_MIN(line >> ZS_TIMING_LINE_BITS, (uint64_t)MOST);
}
enum {
    ZS_TIMING_CLASSES = 64,
    ZS_TIMING_STEPS = 64, /* of a run's groups */
};
/* The streams' ranges have been named. *ret NULL: all was recorded, or nearly. */
int zs_timing_reuse_create(const struct zs_timing_trace *trace, struct zs_timing_reuse **ret);
void zs_timing_reuse_destroy(struct zs_timing_reuse *reuse); /* NULL is fine */
/* Of an allocation: different lines of all that was recorded, and of the launch; the part of them
 * that loads touch; of accesses to lines, how likely the line is one that nothing recorded touches.
 */
struct zs_timing_lines {
    double recorded, all, read, fresh;
};
struct zs_timing_lines zs_timing_reuse_lines(const struct zs_timing_reuse *reuse, uint32_t class);
/* The steps of a run whose groups touch no more than so many different lines. */
uint32_t zs_timing_reuse_steps(const struct zs_timing_reuse *reuse, double lines);
/* Of an allocation: how many more lines the launch's first groups ask for as the first, when a
 * cache keeps what groups of the last `steps` touched, than others do. */
double zs_timing_reuse_first(const struct zs_timing_reuse *reuse, uint32_t class, uint32_t steps);
/* Of scratch or private memory (ZS_TIMING_RANGE_SCRATCH, ..._PRIVATE): different lines of threads
 * in so many places, of which each uses the same again and again. */
double zs_timing_reuse_own(const struct zs_timing_reuse *reuse, uint32_t class, uint64_t places);
/* The allocation whose lines messages of the instruction touch. */
uint32_t zs_timing_reuse_class(const struct zs_timing_reuse *reuse, uint32_t inst);
/* Groups of a run: of those that were recorded. */
uint64_t zs_timing_reuse_groups(const struct zs_timing_reuse *reuse);
/* How likely lines that the run is the first to touch are in a cache that has room for so
 * many more, as it begins. */
void zs_timing_reuse_odds(const struct zs_timing_reuse *reuse, uint32_t run, double room,
                          uint32_t ret_odds[ZS_TIMING_CLASSES]);
/* How likely lines that a run's group touches as the first one of the run are in a cache that holds
 * so many: others, which began less than a run before it, have touched them. By the part of the run
 * that lies before the group. */
void zs_timing_reuse_near(const struct zs_timing_reuse *reuse, double lines,
                          uint32_t ret_odds[ZS_TIMING_CLASSES][ZS_TIMING_STEPS]);
/* By these odds, whether this one is. odds NULL: the cache has no such room;
 * near NULL: nothing was before the run. step: of the group. */
bool zs_timing_reuse_says(const uint32_t odds[ZS_TIMING_CLASSES],
                          const uint32_t near[ZS_TIMING_CLASSES][ZS_TIMING_STEPS], uint32_t step,
                          uint64_t line);

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

struct zs_timing_subslice {
    uint64_t port_free, sampler_free; /* cycles */
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

/* Lines that were supposed to be there: in L3, in L3 by loads, in the LLC. */
enum {
    ZS_TIMING_SUPPOSED_L3,
    ZS_TIMING_SUPPOSED_L3_READS,
    ZS_TIMING_SUPPOSED_LLC,
    ZS_TIMING_SUPPOSED
};

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
    struct zs_timing_caches *caches;
    uint64_t *bank_free; /* by slice and bank */
    /* in 1/256 of a cycle */
    uint64_t gti_read_free, gti_write_free, memory_free;
    uint32_t gti_read_cost, gti_write_cost, memory_cost; /* of a line */
    uint32_t memory_latency, beyond_latency; /* cycles: of memory; from L3 to what lies beyond */
    uint64_t busy[ZS_TIMING_BUSY];           /* ports and banks: cycles; others: 1/256 */
    /* not yet in the totals: lookups of L3 (reads, writes, by bank), lines read and written back */
    uint64_t lookups[2], bank_lookups[ZS_TIMING_BANKS], reads[ZS_TIMING_BANKS],
        writes[ZS_TIMING_BANKS];
    uint64_t written_back, llc_new; /* lines that L3 gave up; of these, that the LLC had not */
    /* lines that a run of groups is the first to touch; NULL: all groups were recorded */
    const struct zs_timing_reuse *reuse;
    uint64_t now;        /* when the message was sent */
    uint32_t runs_known; /* of which the odds are there */
    uint32_t (*l3_odds)[ZS_TIMING_CLASSES], (*llc_odds)[ZS_TIMING_CLASSES]; /* by run */
    uint32_t (*l3_near)[ZS_TIMING_STEPS], (*llc_near)[ZS_TIMING_STEPS];     /* by class */
    uint64_t supposed; /* sectors that were found though nobody recorded had touched them */
    uint64_t supposed_in[ZS_TIMING_SUPPOSED][ZS_TIMING_CLASSES]; /* by allocation */
};

struct zs_timing_request {
    uint32_t subslice;
    uint32_t run, step;    /* of the recorded groups: a thread's */
    uint32_t event;        /* ZS_TIMING_EVENT_* */
    const uint64_t *lines; /* canonical: see replay.c */
    uint32_t line_count;
    uint32_t payload_grf, response_grf;
    bool warm;          /* touch the caches alone: no time passes */
    uint64_t *accesses; /* of its instruction: [ZS_GPU_ACCESSES] */
};

int zs_timing_hierarchy_init(struct zs_timing_hierarchy *h, const struct zs_timing_launch *launch,
                             const struct zs_timing_reuse *reuse, struct zs_gpu_timing *totals);
void zs_timing_hierarchy_fini(struct zs_timing_hierarchy *h, struct zs_timing_store *store);
/* What was counted since the last time goes into the totals. */
void zs_timing_hierarchy_settle(struct zs_timing_hierarchy *h);
/* How long each was busy so far, in cycles of the device. */
void zs_timing_hierarchy_busy(const struct zs_timing_hierarchy *h,
                              double ret_cycles[ZS_TIMING_BUSY]);
/* ... of these the memory, to read a line. */
double zs_timing_hierarchy_read_cost(const struct zs_timing_hierarchy *h);
/* All that L3, the LLC has room for. */
double zs_timing_hierarchy_l3_lines(const struct zs_timing_hierarchy *h);
double zs_timing_hierarchy_llc_lines(const struct zs_timing_hierarchy *h);
/* The launch ends: what it wrote leaves L3, where that is flushed. times: by allocation, of as many
 * lines as are there, and what the replay did not see has left the caches, too; NULL: as they are.
 * given_up: lines that memory was written in the replay. Into the totals, which are the launch's.
 */
void zs_timing_hierarchy_end(struct zs_timing_hierarchy *h, const double times[ZS_TIMING_CLASSES],
                             uint64_t given_up);
/* When the response of a message that leaves its EU at `cycle` has arrived. */
uint64_t zs_timing_hierarchy_send(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                                  uint64_t cycle);
/* A message to local memory without time. */
void zs_timing_hierarchy_warm_slm(struct zs_timing_hierarchy *h, uint32_t event,
                                  uint32_t response_grf, uint64_t *accesses);
/* From when on another one of its kind may leave its EU: the port's queue has room. */
uint64_t zs_timing_hierarchy_accepts(const struct zs_timing_hierarchy *h,
                                     const struct zs_timing_request *r);

#endif
