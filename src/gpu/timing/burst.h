/* SPDX-License-Identifier: MIT */
/*
 * Bursts: what a thread issues between two events (messages, barriers), as it would have the EU for
 * itself. What a burst takes depends on its instructions, on the lanes that are on and on which
 * results of earlier instructions are still on their way: its state. So each burst is computed once
 * for each state that it begins with, and a replay looks it up from then on.
 */
#ifndef ZS_GPU_TIMING_BURST_H
#define ZS_GPU_TIMING_BURST_H

#include "base/index.h"
#include "gpu/timing/timing_priv.h"

/* What an instruction took. */
struct zs_timing_tally {
    uint64_t stalls[ZS_TIMING_REASONS]; /* thread cycles */
    uint64_t issues;
};

/* What a burst wants: cycles of either FPU, of one of them, of the systolic pipe; of branches,
 * which no pipe is needed for. */
enum {
    ZS_TIMING_WORK_EITHER,
    ZS_TIMING_WORK_FPU0,
    ZS_TIMING_WORK_FPU1,
    ZS_TIMING_WORK_DPAS,
    ZS_TIMING_WORK_CONTROL,
    ZS_TIMING_WORKS
};

enum { ZS_TIMING_FOLLOWERS = 2 };
struct zs_timing_burst {
    uint32_t state, inst, stop, mask; /* of which it is; stop: with EVENT when one comes then */
    uint32_t next_state;              /* behind it, and behind the event */
    uint32_t cycles;                  /* until its event may be issued, or what follows */
    uint32_t work[ZS_TIMING_WORKS];
    /* the bursts that were looked up last behind it, and the lanes that were asked for */
    uint32_t follower[ZS_TIMING_FOLLOWERS], follower_mask[ZS_TIMING_FOLLOWERS];
    uint64_t waits;  /* responses that its instructions wait for */
    uint64_t count;  /* how often it was */
    uint64_t excess; /* thread cycles beyond `cycles` that these took: pipes served others */
};
enum { ZS_TIMING_BURST_EVENT = 1u << 31, ZS_TIMING_STATE_NONE = 0 };

/* Results on their way: of a place of the scoreboard, cycles << 1 | whether of the systolic pipe.
 */
struct zs_timing_pending {
    uint16_t slot, ready;
};

struct zs_timing_bursts {
    const struct zs_timing_code *code;
    struct zs_timing_burst *items;
    size_t count, capacity;
    struct zs_index index;
    struct zs_timing_state {
        uint32_t first, count; /* of pending */
    } * states;
    size_t state_count, state_capacity;
    struct zs_index state_index;
    struct zs_timing_pending *pending;
    size_t pending_count, pending_capacity;
    uint32_t
        *ready; /* of the burst that is computed: by slot, as pending; then the systolic pipe */
};

int zs_timing_bursts_init(struct zs_timing_bursts *b, const struct zs_timing_code *code);
void zs_timing_bursts_fini(struct zs_timing_bursts *b);
/* The number of the burst from `inst` up to `stop`, at most the next event; behind `last`, which
 * may be any. UINT32_MAX: no memory. */
uint32_t zs_timing_burst_find(struct zs_timing_bursts *b, uint32_t last, uint32_t state,
                              uint32_t inst, uint32_t stop, bool event, uint32_t mask);
/* What all bursts took since the last time, by instruction; what pipes did goes into the totals. */
void zs_timing_bursts_settle(struct zs_timing_bursts *b, struct zs_timing_tally *tallies,
                             struct zs_gpu_timing *totals);

#endif
