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
    ZS_TIMING_UNIT_GONE,    /* it takes no time: of gains */
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
enum { ZS_TIMING_RESPONSES = 64 }; /* that are told apart */
enum { ZS_TIMING_DEP_STEP = 4, ZS_TIMING_DEPS_NEAR = 8, ZS_TIMING_WRITES_NEAR = 2 };

/* What makes an instruction of a pipe slower than others; a sum of floats is as quick. */
enum zs_timing_kind {
    ZS_TIMING_KIND_PLAIN,
    ZS_TIMING_KIND_SUM,
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
    bool converts : 1;                      /* to a kind, or from one */
    bool second_half : 1;                   /* a message: another one has the lanes before */
    bool is_load : 1;                       /* a message */
    uint8_t narrow : 2;                     /* log2 of how many of its elements are four bytes */
    uint8_t addresses : 3;                  /* of a store: so many deps, the first, are no data */
    uint8_t element_B;                      /* as the pipe handles it */
    uint8_t acc_writes;                     /* a bit each: of an accumulator */
    uint8_t read_count;                     /* so many deps, the first, it reads: 255 at most */
    bool is_local;                          /* a message to local memory */
    bool turns;                             /* values into another type, and nothing else */
};
_Static_assert(sizeof(struct zs_timing_op) == 64, "a line of the host's cache");

/* One of them. */
static inline uint64_t *zs_timing_total_at(struct zs_gpu_timing *totals, size_t offset_B)
{
    return (uint64_t *)(void *)((uint8_t *)totals + offset_B);
}

enum { ZS_TIMING_LOOPS = 64 }; /* of which what goes round is known */
struct zs_timing_code {
    const struct zs_timing_params *params;
    struct zs_timing_op *ops;
    uint32_t op_count;
    uint32_t *offset_B; /* by instruction */
    uint16_t *slots;
    uint8_t *slot_latency; /* beside slots: of what is written */
    uint32_t slot_count;   /* different ones, and one that nobody reads */
    /* by instruction: the first event from it on, and, up to there, how many lanes are on or off
     * together as far as costs tell */
    uint32_t *next_event;
    uint8_t *grain;
    /* ... the bit of its response; those of the responses that it waits for */
    uint64_t *sent, *waits;
    uint32_t response_count; /* bits that are used */
    uint32_t loop_count,
        loops[ZS_TIMING_LOOPS][2]; /* first and last instruction; inner ones first */
    struct zs_timing_known *known;
};

/* gain.c: gains of the kernel's last launches; NULL: no memory. */
struct zs_timing_known *zs_timing_known_create(void);
void zs_timing_known_destroy(struct zs_timing_known *known);

/* ---- wide.c ------------------------------------------------------------------------------------
 */

/* What is not there without integers of 64 bits. */
void zs_timing_find_wide(struct zs_timing_code *code, const struct zs_isa_kernel *isa);

/* ---- trace.c -----------------------------------------------------------------------------------
 *
 * A stream is what one EU thread did, in words of 32 bits:
 *
 *   block    0 << 30 | first instruction; then the number of instructions
 *   mask     1 << 30; then the lanes that are on from here
 *   message  2 << 30 | lines << 20 | instruction; then struct zs_timing_event's word; then each
 *            line: its range in the stream's table << 24 | bits 32 and up, and the low 32 bits.
 *            EVEN: the first line alone, and how far apart they are; NEAR: the first word once,
 *            then the low bits of each
 *
 * A stream that outgrows its room ends: what the thread does from there on is counted alone.
 */
enum {
    ZS_TIMING_WORD_BLOCK,
    ZS_TIMING_WORD_MASK,
    ZS_TIMING_WORD_MESSAGE,
    ZS_TIMING_RANGES = 255,         /* that a stream can name; accesses to others have no lines */
    ZS_TIMING_RANGE_SCRATCH = 1,    /* lines are those of the thread's own part, or, with the bit */
    ZS_TIMING_SHARED = 1,           /* ... in the word with the range, of the payload of all */
    ZS_TIMING_LINES_EVEN = 1 << 20, /* ... how the lines follow */
    ZS_TIMING_LINES_NEAR = 1 << 21,
    ZS_TIMING_RANGE_PRIVATE = 2,
    ZS_TIMING_RANGE_FIRST = 3, /* ranges[0] */
};
#define ZS_TIMING_WORD(kind, value) ((uint32_t)(kind) << 30 | (uint32_t)(value))

static inline uint32_t zs_timing_message_words(const uint32_t *words)
{
    uint32_t lines = words[0] >> 20 & 1023;
    return 2 + (lines == 0                        ? 0
                : words[2] & ZS_TIMING_LINES_EVEN ? 3
                : words[2] & ZS_TIMING_LINES_NEAR ? 1 + lines
                                                  : 2 * lines);
}

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
    uint16_t *dwords; /* of lines, by instruction, that lanes far apart touch; NULL: not asked */
};

struct zs_timing_stream {
    struct zs_eu_hooks hooks; /* first: what a thread's `hooks` points to */
    const struct zs_timing_trace *trace;
    struct zs_timing_arena *arena;
    uint32_t *words;
    uint32_t count, capacity;
    bool own; /* words: by malloc() */
    bool full;
    uint32_t mask;
    uint64_t recorded, executed; /* instructions */
    uint64_t *ranges;            /* where they start; ordinals below RANGE_FIRST have none */
    uint32_t range_count, range_capacity;
    struct zs_timing_found found[ZS_TIMING_FOUND];
    uint32_t found_next;      /* number of the one that gives way */
    uint64_t first_ranges[6]; /* where most have room */
};

/* ---- part.c ------------------------------------------------------------------------------------
 */

/* How often a line is touched, when it is touched first and at all: by all groups that were
 * recorded, by those of the part. */
struct zs_timing_shared {
    uint64_t line; /* 0: none */
    uint32_t when, all, own, touches, own_touches;
};

struct zs_timing_part {
    uint32_t share;                     /* one in so many subslices; 1: all of them */
    uint64_t group_count, first_groups; /* recorded ones; of these, of the launch's first */
    uint32_t *groups;                   /* their numbers; NULL: all */
    double times;                       /* as many groups were recorded as it has */
    double doubt;                       /* it may be so much quicker or slower than all */
    double reach;                       /* of caches that all share: so much is the part's */
    struct zs_timing_shared *lines;
    uint32_t line_mask, line_count;
    uint32_t wave, longest;    /* groups that the device holds; words of the longest stream */
    uint64_t own_lines;        /* of its threads' own memory: of each thread those it touches */
    uint64_t touched[1 << 10]; /* a bit of the place of each line that it touches */
    uint32_t last_touched[1 << 10]; /* by a line of own memory: the thread, and one more */
};

struct zs_timing_trace {
    struct zs_timing_launch launch;
    struct zs_timing_part part;
    uint64_t sampled;         /* groups */
    uint64_t first_groups;    /* so many of them are the launch's first, the others its last */
    uint32_t resident_groups; /* that the device holds at once */
    uint32_t words_max;       /* of a stream */
    uint64_t instructions;    /* of the launch: once it has been executed */
    struct zs_timing_stream *streams; /* threads_per_group for each sampled group */
    struct zs_timing_block memory;    /* of the streams */
    struct zs_timing_arena *arenas;   /* by host thread; the first one has what all found */
};

/* Groups that the device holds at once where each has so much local memory; 0: as much as it likes.
 */
uint32_t zs_timing_resident_groups(const struct zs_timing_launch *launch, uint32_t slm_B);

/* Of memory that each thread has of its own: behind them which thread's. Its pages lie anywhere. */
enum { ZS_TIMING_PLACE_BITS = 20 };
enum { ZS_TIMING_LINE_BITS = 40 }; /* of a line's name in a replay: where in an allocation */

/* Several threads may touch it: it is not of one's own scratch or private memory. */
enum { ZS_TIMING_LINE_SHARED = 1 << 19 }; /* of RANGE_SCRATCH */
static inline bool zs_timing_is_shared(uint64_t line)
{
    uint64_t range = line >> ZS_TIMING_LINE_BITS;
    return range >= ZS_TIMING_RANGE_FIRST ||
           (range == ZS_TIMING_RANGE_SCRATCH && line & ZS_TIMING_LINE_SHARED);
}

/* ---- hierarchy.c -------------------------------------------------------------------------------
 */

struct zs_timing_subslice {
    uint64_t port_free, sampler_free; /* cycles */
};

/* All slices are one cache: lines are spread over them. */
static inline uint32_t zs_timing_slice_of(uint32_t slices, uint64_t line)
{
    return slices == 1 ? 0 : (uint32_t)(line ^ line >> 9 ^ line >> ZS_TIMING_PLACE_BITS) % slices;
}

static inline uint32_t zs_timing_bank_of(uint32_t mask, uint64_t line)
{
    return (uint32_t)(line ^ line >> 6 ^ line >> (ZS_TIMING_PLACE_BITS + 3)) & mask;
}

enum { ZS_TIMING_BANKS = 4 };       /* of L3 that totals tell apart */
enum { ZS_TIMING_COST_UNIT = 256 }; /* of costs: parts of a cycle */

/* What has had work, for so long: cycles of all subslices; beyond L3 parts of a cycle. */
struct zs_timing_busy {
    uint64_t port, slm, slm_atomics;
    uint64_t gti_read, gti_write, memory;
};

struct zs_timing_hierarchy {
    const struct zs_timing_params *params;
    const struct zs_timing_part *part;
    struct zs_gpu_timing *totals;
    uint32_t slices, subslices; /* subslices: of the part */
    /* of powers of two: banks of a slice less 1, log2 of lines that a port takes a cycle (0 and
     * less: cycles of a line), log2 of response registers a cycle */
    uint32_t bank_mask;
    int32_t port_shift;
    uint32_t response_shift;
    struct zs_timing_subslice *subslice;
    struct zs_timing_caches *caches;
    /* by slice and bank, in 1/256 of a cycle: until when it has work; how much it had, of atomics;
     * what others had for each of them meanwhile, and how much of that it has had */
    uint64_t *bank_free, *bank_busy, *bank_atomics, *bank_others;
    double others;
    struct zs_timing_busy busy;
    /* in 1/256 of a cycle */
    uint64_t gti_read_free, gti_write_free, memory_free;
    uint32_t gti_read_cost, gti_write_cost, memory_cost; /* of a line */
    uint32_t memory_latency, beyond_latency; /* cycles: of memory; from L3 to what lies beyond */
    /* not yet in the totals: lookups of L3 (reads, writes, by bank), lines read and written back */
    uint64_t lookups[2], bank_lookups[ZS_TIMING_BANKS], reads[ZS_TIMING_BANKS],
        writes[ZS_TIMING_BANKS];
    uint64_t now; /* when the message was sent */
};

struct zs_timing_request {
    uint32_t subslice;
    uint32_t event;  /* ZS_TIMING_EVENT_* */
    uint64_t *lines; /* canonical: see replay.c */
    uint32_t line_count;
    uint32_t payload_grf, response_grf;
    uint64_t *accesses; /* of its instruction: [ZS_GPU_ACCESSES] */
    uint64_t step;      /* of which group, and how far that is */
    double *due;        /* of its instruction: misses that were likely, less those that were */
};

int zs_timing_hierarchy_init(struct zs_timing_hierarchy *h, const struct zs_timing_trace *trace,
                             struct zs_gpu_timing *totals);
void zs_timing_part_fini(struct zs_timing_part *part);
/* A line that L3 does not have: how likely it is that nobody else has brought it in before, and
 * whether that is so. */
bool zs_timing_part_misses(const struct zs_timing_part *part, uint64_t line, uint64_t step,
                           double *ret_odds);
double zs_timing_part_meet(const struct zs_timing_part *part, uint64_t line);
void zs_timing_hierarchy_fini(struct zs_timing_hierarchy *h, struct zs_timing_store *store);
/* What was counted since the last time goes into the totals. */
void zs_timing_hierarchy_settle(struct zs_timing_hierarchy *h);
/* The launch ends: what it wrote leaves L3, where that is flushed, and is counted. How many lines
 * of L3 it were that had been written. */
uint64_t zs_timing_hierarchy_flush(struct zs_timing_hierarchy *h);
/* Lines that may have been written and not be in memory as the launch has ended. */
uint64_t zs_timing_hierarchy_keeps(const struct zs_timing_hierarchy *h);
/* When the response of a message that leaves its EU at `cycle` has arrived. */
uint64_t zs_timing_hierarchy_send(struct zs_timing_hierarchy *h, const struct zs_timing_request *r,
                                  uint64_t cycle);
/* The subslice's L1 has the line, whoever brought it. */
void zs_timing_hierarchy_keep(const struct zs_timing_hierarchy *h, uint32_t subslice,
                              uint64_t line);
/* From when on another one of its kind may leave its EU: the port's queue has room. */
uint64_t zs_timing_hierarchy_accepts(const struct zs_timing_hierarchy *h,
                                     const struct zs_timing_request *r);

#endif
