/* SPDX-License-Identifier: MIT */
/* The state of a replay: replay.c decides what happens when, machine.c sets it up and reads
 * streams, scale.c says what it means for the launch. */
#ifndef ZS_GPU_TIMING_REPLAY_H
#define ZS_GPU_TIMING_REPLAY_H

#include "gpu/timing/burst.h"

enum {
    ZS_TIMING_PLACES = 16, /* threads of an EU at most */
    ZS_TIMING_PARTS = 8,   /* bursts that follow each other, and are one for others */
    ZS_TIMING_EU_BITS = 16,
};
#define ZS_TIMING_NEVER UINT64_MAX

/* What happens to a thread when its time has come. */
enum zs_timing_step {
    ZS_TIMING_STEP_BURST,   /* its burst ends */
    ZS_TIMING_STEP_GO,      /* what it waited for is there */
    ZS_TIMING_STEP_BARRIER, /* it passes the barrier */
    ZS_TIMING_STEP_STUCK,   /* at a barrier; no time is set */
    ZS_TIMING_STEP_SEND,    /* it sends a message: others see that */
    ZS_TIMING_STEP_END      /* it ends: likewise */
};

/* What comes behind a burst. */
enum zs_timing_after { ZS_TIMING_AFTER_GO, ZS_TIMING_AFTER_EVENT, ZS_TIMING_AFTER_END };

/* ---- fetch.c -----------------------------------------------------------------------------------
 */

/* A line of the kernel in the instruction cache of a subslice: a list, the one used last first. */
struct zs_timing_code_line {
    uint32_t before, after;
    bool held, known; /* it is there; it was there once */
    uint64_t there;   /* from this cycle on */
};

enum { ZS_TIMING_FETCH_INSTS = 32 }; /* of a burst at most, where a kernel does not fit */
struct zs_timing_fetch {
    uint32_t line_count, room; /* of the kernel; of those, what the cache holds */
    uint32_t latency;
    struct zs_timing_code_line *lines; /* by subslice; 0: the list's ends. NULL: all fits */
    uint32_t *held;                    /* by subslice: how many are there */
    const uint32_t *offset_B;          /* of instructions */
};

int zs_timing_fetch_init(struct zs_timing_fetch *f, const struct zs_timing_code *code,
                         uint32_t subslices);
void zs_timing_fetch_fini(struct zs_timing_fetch *f);
/* How long the instructions of a burst that begins at `cycle` are waited for. */
uint64_t zs_timing_fetch_lines(struct zs_timing_fetch *f, uint32_t subslice,
                               const struct zs_timing_burst *burst, uint64_t cycle);

/* A hardware thread. Times are cycles from the walker's start. */
struct __attribute__((aligned(64))) zs_timing_thread {
    const uint32_t *words;           /* of the stream */
    const uint64_t *ranges;          /* likewise */
    uint32_t at, end;                /* of its words */
    uint32_t inst, inst_end;         /* of the block */
    uint32_t mask, state;            /* state: of burst.h */
    uint64_t pending;                /* responses that were not waited for yet */
    uint64_t since, begun;           /* since: what it is at began */
    struct zs_timing_stream *stream; /* NULL: the place is free */
    uint32_t last, part_count;       /* last: number of the last burst */
    uint32_t length, lead;    /* of the bursts that it is at, alone; of these, before the first */
    uint32_t arrived, passed; /* barriers */
    uint32_t group, member, eu, place; /* eu: its number; place: of it */
    uint32_t turns;                    /* of messages that are not what they were */
    uint32_t lines_turn[4];    /* ... that touch fewer lines: whether of a second half, of a load */
    const uint32_t *half;      /* where halves are one: words of its last message */
    uint8_t step, after, uses; /* uses: pipes, a bit each */
    uint32_t parts[ZS_TIMING_PARTS]; /* numbers of the bursts that it is at */
    uint32_t rate[ZS_TIMING_WORKS];  /* of the pipes' time that it wants, in 1/65536 */
    uint64_t ready[];                /* by response: cycle << 1 | whether of a fence */
};

struct zs_timing_eu {
    uint32_t subslice, number;
    uint32_t live, running;              /* places with threads; of these, at bursts */
    uint32_t load[ZS_TIMING_WORKS];      /* sums of their rates */
    double slow[ZS_TIMING_WORK_CONTROL]; /* by pipe: it is wanted so many times too much */
    double busy, both, with_dpas;        /* of now: any pipe works, both FPUs, FPU0 and DPAS */
    double last;                         /* until then it is accounted */
    bool is_slow;                        /* `slow` of now is more than 1 */
    bool changed;                        /* ... and other bursts have run since */
    uint64_t send_free, loaded_since;
    uint64_t others_end; /* a thread of another group than the last, or one of that after them */
    struct zs_timing_thread *next;   /* whose step is waited for; NULL: not known */
    uint64_t when[ZS_TIMING_PLACES]; /* each step's time, then its place; NEVER: none is set */
    /* by place with a burst: times longer that it takes because others want pipes; its pipes */
    double pace[ZS_TIMING_PLACES];
    uint8_t uses[ZS_TIMING_PLACES];
};

struct zs_timing_group {
    uint32_t subslice, live;
    uint32_t released;                 /* barriers that all have reached */
    uint64_t release_cycle, longest;   /* longest: cycles of a thread */
    struct zs_timing_thread **threads; /* NULL: ended */
    /* without divergence: the work-item that does most, and how many instructions that are */
    uint32_t busiest, busiest_lane;
    uint64_t busiest_does; /* 0: nobody waits for it */
};

struct zs_timing_place {
    uint32_t slm_B, barriers, free;
};

/* The launch's beginning, what goes on evenly, its end: what was counted in each. What comes right
 * behind groups that are left out counts for nothing. */
enum { ZS_TIMING_HEAD, ZS_TIMING_EVEN, ZS_TIMING_TAIL, ZS_TIMING_JOIN, ZS_TIMING_PHASES };
struct zs_timing_phase {
    struct zs_gpu_timing totals;
    struct zs_timing_tally *tallies; /* by instruction */
    uint64_t *accesses;              /* by instruction and enum zs_gpu_access */
    double *due;                     /* by instruction: misses more than these, of a part */
    uint64_t cycles;
    double active, both, with_dpas; /* EU cycles */
};

/* A stretch of what is neither the first wave nor the end. */
enum { ZS_TIMING_SLICES = 64 };
struct zs_timing_slice {
    uint64_t issues, cycles;
};

struct zs_timing_machine {
    const struct zs_timing_params *params;
    const struct zs_timing_code *code;
    struct zs_timing_hierarchy hierarchy;
    struct zs_timing_bursts bursts;
    struct zs_timing_fetch fetch;
    enum zs_timing_gain without; /* of which the launch is replayed; ZS_TIMING_GAINS: nothing */
    bool atomics_meet;           /* those of threads, too */
    uint32_t grf_B;
    uint32_t lanes; /* of a thread that has all of them */
    uint32_t eu_count, eus_per_subslice, subslice_count, dispatcher_count, threads_per_eu;
    uint32_t threads_per_group, slm_B;
    const struct zs_timing_part *part;
    bool has_barriers;
    uint64_t group_count, next_group, ended_groups; /* recorded ones */
    uint64_t skip_from, skip_until;                 /* recorded ones that are not replayed */
    uint32_t resident_groups;
    struct zs_timing_stream *streams;
    struct zs_timing_eu *eus;
    uint64_t *keys;  /* a tree: when what others see happens next << EU_BITS | EU; [1]: the first */
    uint32_t leaves; /* of it: a power of two */
    uint8_t *threads; /* by EU and place, each of thread_B bytes: hosts' caches are small */
    size_t thread_B;
    struct zs_timing_group *groups;
    struct zs_timing_thread **members;
    struct zs_timing_place *places; /* by subslice */
    uint64_t *dispatch_free;        /* by slice */
    uint64_t dispatch_cost;         /* of a thread; of the groups that others begin meanwhile: */
    uint64_t dispatch_others;
    bool *stores;               /* by instruction: its messages are stores or atomics */
    const uint16_t *dwords;     /* by instruction, as an arena's */
    bool in_part, skips;        /* of the launch; groups are left out */
    bool one_wave;              /* all groups are there at once */
    uint64_t join_groups;       /* so many come right behind those that are left out */
    uint64_t warm_groups;       /* when so many have ended, the even phase begins */
    bool failed;                /* there was no memory */
    bool cut;                   /* a thread came to the end of its record before it ended */
    uint64_t issues;            /* so far */
    uint64_t alone;             /* EU cycles: threads of the last group alone were there */
    uint64_t spent, spent_most; /* thread cycles; if all of a group took as long as the longest */
    uint64_t now;               /* the latest event that others see */
    uint64_t drained;           /* when the last message was through */
    uint64_t filled;            /* when the threads that fit at first have begun */
    struct zs_timing_phase phases[ZS_TIMING_PHASES], *phase;
    uint64_t phase_cycle; /* it began */
    struct zs_timing_slice slices[ZS_TIMING_SLICES];
    uint32_t slice_count;
    uint64_t slice_length, slice_issue, slice_cycle, next_slice; /* instructions */
};

/* ---- gain.c ------------------------------------------------------------------------------------
 */

/* The message without what the gain is about; false: there is none. */
bool zs_timing_change_message(const struct zs_timing_machine *m, struct zs_timing_thread *th,
                              struct zs_timing_request *r);
/* Without divergence, where threads wait for each other: each group's busiest work-item. */
void zs_timing_find_busiest(struct zs_timing_machine *m);
/* One in so many messages of the instruction is sent, where others are saved. 1: all are. */
uint32_t zs_timing_parts_saved(enum zs_timing_gain gain, const struct zs_timing_op *op);
/* scale.c: replays what the trace's launch says now. *ret_balance, which may be NULL: of the time
 * of the longest thread of each group what its threads take on average, as a part. */
int zs_timing_replay_once(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, struct zs_gpu_timing *ret_timing,
                          double *ret_balance);
/* Into the timing of the launch, which was replayed. lanes: as zs_timing_replay(). */
void zs_timing_find_gains(struct zs_timing_trace *trace, uint64_t instructions,
                          const uint64_t *executions, const uint64_t *lanes,
                          struct zs_gpu_timing *timing);

/* ---- part.c ------------------------------------------------------------------------------------
 */

/* Once ranges have names. */
int zs_timing_part_choose(const struct zs_timing_trace *trace, struct zs_timing_part *ret_part);

/* ---- limit.c -----------------------------------------------------------------------------------
 */

/* Into what is known of the launch of so many groups; cycles: replayed. */
void zs_timing_find_limits(const struct zs_timing_machine *m, uint64_t groups, uint64_t cycles,
                           struct zs_gpu_timing *timing);

/* ---- machine.c ---------------------------------------------------------------------------------
 */

/* Once: what streams call ranges become numbers that do not depend on where they are. */
int zs_timing_name_ranges(struct zs_timing_trace *trace);
int zs_timing_machine_init(struct zs_timing_machine *m, struct zs_timing_trace *trace);
void zs_timing_machine_fini(struct zs_timing_machine *m, struct zs_timing_store *store);

static inline struct zs_timing_thread *zs_timing_thread_at(const struct zs_timing_machine *m,
                                                           uint32_t eu, uint32_t place)
{
    size_t number = (size_t)eu * m->threads_per_eu + place;
    return (struct zs_timing_thread *)(void *)(m->threads + number * m->thread_B);
}

/* Of a group of the part. */
struct zs_timing_stream *zs_timing_stream_of(const struct zs_timing_machine *m, uint64_t group,
                                             uint64_t member);
/* To the thread's next block; false: there is none. */
bool zs_timing_find_block(struct zs_timing_machine *m, struct zs_timing_thread *th);
/* The words of the message that the thread's instruction sent, which it has passed now; NULL: none.
 */
static inline const uint32_t *zs_timing_next_message(struct zs_timing_thread *th)
{
    const uint32_t *words = th->words + th->at;
    if (th->at >= th->end || words[0] >> 30 != ZS_TIMING_WORD_MESSAGE ||
        (words[0] & 0xfffff) != (th->inst & 0xfffff))
        return NULL;
    th->at += zs_timing_message_words(words);
    return words;
}
/* A message's lines, by the names they have in a replay: how many. place: of the device's threads.
 */
uint32_t zs_timing_read_lines(const struct zs_timing_thread *th, uint32_t place,
                              const uint32_t *words, uint64_t lines[ZS_PORT_FOOTPRINT_LINES]);

/* ---- replay.c ----------------------------------------------------------------------------------
 */

void zs_timing_run(struct zs_timing_machine *m);

/* ---- scale.c -----------------------------------------------------------------------------------
 */

/* What is counted from `cycle` on belongs to another phase. */
void zs_timing_begin_phase(struct zs_timing_machine *m, uint32_t phase, uint64_t cycle);
void zs_timing_begin_slice(struct zs_timing_machine *m, uint64_t cycle);
void zs_timing_end_slice(struct zs_timing_machine *m, uint64_t cycle);

#endif
