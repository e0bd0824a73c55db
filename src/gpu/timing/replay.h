/* SPDX-License-Identifier: MIT */
/* The state of a replay: replay.c decides what happens when, machine.c sets it up and reads
 * streams. */
#ifndef ZS_GPU_TIMING_REPLAY_H
#define ZS_GPU_TIMING_REPLAY_H

#include "gpu/timing/timing_priv.h"

enum { ZS_TIMING_UNIT_END = ZS_TIMING_UNIT_CONTROL + 1 }; /* of a thread whose stream has ended */

/* What a register waits for: the low bits of a time of the scoreboard. */
enum {
    ZS_TIMING_READY_PIPE,
    ZS_TIMING_READY_SEND,
    ZS_TIMING_READY_SYNC,
    ZS_TIMING_READY_START,
};

/* What is looked at to choose among threads: those of an EU stand side by side. */
struct zs_timing_slot {
    uint64_t key;   /* when its next instruction could go << ORDER_BITS | order */
    uint32_t order; /* number of its last issue << 4 | slot */
    uint32_t unit;  /* of the next instruction */
};
/* At a barrier, or nobody is there. Above all times: those of the scoreboard have 30 bits. */
#define ZS_TIMING_NEVER (UINT32_C(1) << 30)
enum { ZS_TIMING_ORDER_BITS = 24, ZS_TIMING_SLOT_BITS = 4, ZS_TIMING_EU_BITS = 16 };
static inline void zs_timing_set_never(struct zs_timing_slot *slot)
{
    slot->key = (uint64_t)ZS_TIMING_NEVER << ZS_TIMING_ORDER_BITS | slot->order;
}

/* What an instruction took, of a phase. */
struct zs_timing_tally {
    uint64_t stalls[ZS_TIMING_REASONS]; /* thread cycles */
    uint64_t issues;
    uint64_t cost; /* thread cycles of these, from the instruction before */
};

/* A hardware thread. Times are cycles from the walker's start. What each instruction needs comes
 * first: a line of the host's cache. */
struct __attribute__((aligned(64))) zs_timing_thread {
    struct zs_timing_stream *stream;
    uint32_t *ready;         /* slot_count of the code: as dep */
    uint64_t eligible;       /* the thread's last instruction lets the next one go */
    uint64_t dep;            /* the last of its operands: time << 2 | ZS_TIMING_READY_* */
    uint64_t since;          /* the last instruction let this one go, or a gap did */
    uint32_t inst, inst_end; /* of the block */
    uint32_t mask;
    uint32_t at, end; /* words of the stream */
    uint32_t eu;
    struct zs_timing_slot *slot;
    uint64_t begin;  /* dispatched */
    uint64_t start;  /* as dep: its first instruction */
    uint32_t window; /* UINT32_MAX: none yet */
    uint32_t home;   /* where it was before it went on without time */
    uint32_t group, member;
    uint32_t run, step;       /* of the run's groups by reuse.c; how far in it */
    uint32_t place;           /* number of its slot */
    uint32_t arrived, passed; /* barriers */
};

struct zs_timing_eu {
    uint32_t live; /* slots with threads */
    uint32_t subslice;
    uint64_t unit_free[ZS_TIMING_UNIT_END + 1]; /* by unit: cycle << ORDER_BITS; no pipe: 0 */
    uint64_t busy_until, loaded_since;
    uint64_t issues; /* since the last gap */
};

struct zs_timing_group {
    uint32_t subslice, live;
    uint32_t released; /* barriers that all have reached */
    uint32_t stride;   /* of windows that are replayed */
    uint64_t release_cycle;
    struct zs_timing_thread **threads; /* NULL: ended */
};

struct zs_timing_place {
    uint32_t slm_B, barriers;
};

struct zs_timing_machine {
    const struct zs_timing_params *params;
    const struct zs_timing_code *code;
    struct zs_gpu_timing *totals;
    struct zs_timing_hierarchy hierarchy;
    enum zs_timing_gain without; /* of which the launch is replayed; ZS_TIMING_GAINS: nothing */
    uint32_t grf_B;
    uint32_t eu_count, eus_per_subslice, subslice_count, subslices_per_slice, threads_per_eu;
    uint32_t threads_per_group, slm_B;
    bool has_barriers;
    bool counted;                     /* how often each instruction was, of the whole launch */
    uint64_t group_count, next_group; /* sampled ones */
    uint64_t run_groups;              /* of them, that are neighbours */
    uint64_t reuse_groups;            /* ... of a run as the reuse has them */
    uint32_t resident_groups;         /* that it holds */
    struct zs_timing_stream *streams;
    struct zs_timing_eu *eus;
    uint64_t *keys;  /* by EU: when it does something next that others see << EU_BITS | EU */
    uint64_t *least; /* ... the first of a subslice */
    struct zs_timing_thread *threads;
    uint32_t thread_count;
    struct zs_timing_thread passing; /* of groups that are left out */
    struct zs_timing_slot *slots;    /* of threads */
    uint32_t *ready;                 /* of threads */
    struct zs_timing_group *groups;
    struct zs_timing_thread **members;
    struct zs_timing_place *places; /* by subslice */
    uint64_t *dispatch_free;        /* by slice */
    uint64_t now_dispatch, dispatch_cost;
    struct zs_timing_tally *tallies; /* by instruction, of this phase */
    uint64_t *accesses;              /* by instruction and enum zs_gpu_access, of all */
    bool *stores;                    /* by instruction: its messages are stores or atomics */
    /* by instruction: how often it was left out, less than the one before it; of these, without its
     * messages */
    int64_t *left_out, *unheard_of;
    uint64_t issues;   /* so far */
    uint64_t now;      /* the latest issue */
    uint64_t frontier; /* up to here everything has happened */
    uint64_t drained;  /* when the last message was through */
    uint64_t filled;   /* when the threads that fit at first have begun */
    uint64_t seen;     /* instructions that were replayed or left out */
    uint64_t releases; /* of barriers */
    uint32_t live_groups;
    uint64_t unheard; /* ... whose messages touched nothing */
    uint64_t heard;   /* ... without time whose messages did */
    bool silent;      /* messages touch nothing */
    bool hears;       /* ... of groups that were left out before without them: */
    uint64_t quiet_from, quiet_until;
    bool forwarding;     /* threads go on without time */
    uint64_t gap_now;    /* then: what time it would be */
    bool by_round;       /* ... or when a barrier lets threads go */
    uint64_t window_end; /* when the frontier is there, zs_timing_end_window() is called */
    struct zs_timing_estimate *estimate;
};

static inline struct zs_timing_thread *zs_timing_thread_at(const struct zs_timing_machine *m,
                                                           uint32_t eu, uint32_t slot)
{
    return &m->threads[(size_t)eu * m->threads_per_eu + slot];
}

/* Of a recorded group's run, how much of it lies before the group. */
static inline uint32_t zs_timing_step_of(const struct zs_timing_machine *m, uint64_t group)
{
    return (uint32_t)(group % m->reuse_groups * ZS_TIMING_STEPS / m->reuse_groups);
}

/* ---- gain.c ------------------------------------------------------------------------------------
 */

/* The message without what the gain is about; false: there is none. */
bool zs_timing_change_message(enum zs_timing_gain gain, uint32_t grf_B,
                              struct zs_timing_request *r);
/* estimate.c: replays what the trace's launch says now. */
int zs_timing_replay_once(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, struct zs_gpu_timing *ret_timing);
/* Into the timing of the launch, which was replayed. lanes: as zs_timing_replay(). */
void zs_timing_find_gains(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, const uint64_t *lanes,
                          struct zs_gpu_timing *timing);

/* Once: what streams call ranges become numbers that do not depend on where they are. */
int zs_timing_name_ranges(struct zs_timing_trace *trace);
int zs_timing_machine_init(struct zs_timing_machine *m, struct zs_timing_trace *trace,
                           const struct zs_timing_reuse *reuse, struct zs_gpu_timing *totals);
void zs_timing_machine_fini(struct zs_timing_machine *m, struct zs_timing_store *store);

/* The thread's next instruction: unit, dep, next, blocked. */
void zs_timing_prepare(struct zs_timing_machine *m, struct zs_timing_thread *th);
/* To the next instruction; false: there is none. */
bool zs_timing_find_block(struct zs_timing_machine *m, struct zs_timing_thread *th);
static inline bool zs_timing_advance(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    if (th->inst < th->inst_end)
        return true;
    const uint32_t *words = th->stream->words + th->at;
    if (ZS_UNLIKELY(th->at >= th->end) || words[0] >> 30 != ZS_TIMING_WORD_BLOCK)
        return zs_timing_find_block(m, th);
    th->inst = words[0]; /* it follows, mostly */
    th->inst_end = ZS_MIN(th->inst + words[1], m->code->op_count);
    th->at += 2;
    m->seen += words[1];
    return th->inst < th->inst_end || zs_timing_find_block(m, th);
}
/* A thread of the group has reached more barriers, or ended. */
void zs_timing_release(struct zs_timing_machine *m, struct zs_timing_group *g, uint64_t cycle);

enum { ZS_TIMING_PLACE_SHIFT = 20 };
/* A message's lines, by the names they have in a replay: how many. */
static inline uint32_t zs_timing_read_lines(const struct zs_timing_thread *th,
                                            const uint32_t *words,
                                            uint64_t lines[ZS_PORT_FOOTPRINT_LINES])
{
    uint32_t count = words[0] >> 20 & 1023;
    const uint32_t *at = words + 2;
    for (uint32_t i = 0; i < count; i++, at += 2) {
        uint32_t range = at[0] >> 24, low = at[1] & ((1u << ZS_TIMING_PLACE_SHIFT) - 1);
        uint64_t first = (uint64_t)range << ZS_TIMING_LINE_BITS;
        if (ZS_LIKELY(range >= ZS_TIMING_RANGE_FIRST))
            lines[i] = zs_timing_line_of(th->stream->ranges[range - ZS_TIMING_RANGE_FIRST], at);
        else if (at[0] & ZS_TIMING_SHARED) /* beyond what a thread has of scratch memory */
            lines[i] = first | low | 1u << (ZS_TIMING_PLACE_SHIFT - 1);
        else
            lines[i] = first | (uint64_t)th->place << ZS_TIMING_PLACE_SHIFT | low;
    }
    return count;
}

/* The words of the message that the thread's instruction sent, which it has passed now; NULL: none.
 */
static inline const uint32_t *zs_timing_next_message(struct zs_timing_thread *th)
{
    const uint32_t *words = th->stream->words + th->at;
    if (th->at >= th->end || words[0] >> 30 != ZS_TIMING_WORD_MESSAGE ||
        (words[0] & 0xfffff) != (th->inst & 0xfffff))
        return NULL;
    th->at += 2 + 2 * (words[0] >> 20 & 1023);
    return words;
}

/* ---- replay.c ----------------------------------------------------------------------------------
 */

void zs_timing_run(struct zs_timing_machine *m);
/* The EU has something to do at `cycle`. */
void zs_timing_wake(struct zs_timing_machine *m, uint32_t eu, uint64_t cycle);
void zs_timing_end_thread(struct zs_timing_machine *m, struct zs_timing_thread *th, uint64_t at);
/* Accounts what was begun, up to the frontier. */
void zs_timing_settle(struct zs_timing_machine *m);

/* ---- forward.c ---------------------------------------------------------------------------------
 */

/* All threads go on by about so many instructions without time; how many it were. Those that the
 * walker would begin later, at that pace (cycles an instruction), do not. *ret_dry: the device has
 * become so empty that it ended early. */
uint64_t zs_timing_forward(struct zs_timing_machine *m, uint64_t instructions, double pace,
                           bool *ret_dry);
/* Groups that have not begun are left out, about so many instructions: how many it were. 0: there
 * are too few groups. Messages of those next to what runs are heard in the next gap. */
uint64_t zs_timing_pass_groups(struct zs_timing_machine *m, uint64_t instructions);

/* ---- misses.c ----------------------------------------------------------------------------------
 */

/* How what is there for lines grows from what went through the caches to the launch, by allocation.
 */
struct zs_timing_growth {
    double lines[ZS_TIMING_CLASSES]; /* different ones */
    bool known;                      /* then misses of L3, what it fetches, what is read: */
    double l3[ZS_TIMING_CLASSES], fetched[ZS_TIMING_CLASSES], memory[ZS_TIMING_CLASSES];
};
/* often: how often each instruction was, for each time that its messages were heard; all: of all.
 */
void zs_timing_growth_of(const struct zs_timing_machine *m, const double *often, double all,
                         struct zs_timing_growth *ret);
/* What an instruction's messages did in the launch. often: of this one. */
void zs_timing_scale_accesses(const struct zs_timing_machine *m, const struct zs_timing_growth *g,
                              uint32_t inst, double often, uint64_t to[ZS_GPU_ACCESSES]);

/* By how much lookups of L3 by loads, by stores and atomics have grown to what the totals' stalls
 * say.
 */
void zs_timing_lookups_grown(const struct zs_timing_machine *m, const struct zs_gpu_timing *t,
                             double ret[2]);

/* ---- estimate.c --------------------------------------------------------------------------------
 */

void zs_timing_end_window(struct zs_timing_machine *m);

#endif
