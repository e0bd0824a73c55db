/* SPDX-License-Identifier: MIT */
/* What checks of races and barriers see of a running launch (check.c, race.c, order.c). */
#ifndef ZS_GPU_CHECK_H
#define ZS_GPU_CHECK_H

#include "base/id_map.h"
#include "gpu/gpu_priv.h"

/* Makes run->checks when its launch wants some. -ENOMEM */
int zs_gpu_checks_begin(struct zs_gpu_run *run);
void zs_gpu_checks_end(struct zs_gpu_run *run);
/* A worker begins: w->checks. false: no memory. */
bool zs_gpu_checks_worker(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint32_t index);
void zs_gpu_checks_worker_ended(const struct zs_gpu_worker *w);
/* Others are about to help this one, which is alone. false: they must not. */
bool zs_gpu_checks_may_share(const struct zs_gpu_worker *w);
/* It remembers too much to take more groups: it leaves them to the launching thread. */
bool zs_gpu_checks_are_full(const struct zs_gpu_worker *w);
/* A thread begins: its hooks, and what they look at later. */
const struct zs_eu_hooks *zs_gpu_checks_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                               const struct zs_gpu_group *group, uint32_t thread,
                                               struct zs_eu_reaches **ret_reaches);
/* It runs now. */
void zs_gpu_checks_enter(struct zs_gpu_worker *w, const struct zs_gpu_group *group,
                         uint32_t thread);
/* What hooks of a debugger ask: a message is about to be sent. Afterwards t->fault may be set. */
void zs_gpu_checks_message(struct zs_eu_thread *t, const struct zs_eu_send *send,
                           uint32_t lane_mask);
/* All threads of the group have signalled; some named barrier lets threads go on. */
void zs_gpu_checks_released(struct zs_gpu_run *run, const struct zs_gpu_worker *w,
                            const struct zs_gpu_group *group, bool named);

/* ---- between the files ------------------------------------------------------------------------
 */

/* Fences of local memory, and of all other. */
enum { ZS_CHECK_FENCES = 2, ZS_CHECK_FENCES_KEPT = 4, ZS_CHECK_READS_KEPT = 8 };
enum { ZS_CHECK_SLABS = 64, ZS_CHECK_RECENT = 32, ZS_CHECK_PAGES = 64 };

/* What a thread has read plainly, by instruction: atomics on it later say that it was a guess. */
struct zs_check_reads {
    uint32_t inst, count;
    bool is_row, is_slm; /* dwords from `low` on, without pieces */
    uint64_t low, high;  /* of the addresses */
    struct {
        uint64_t address;
        bool is_slm;
    } pieces[32];
};

/* A record of an instruction. */
struct zs_check_recent {
    uint32_t inst, stamp, epoch, generation, record;
    bool is_slm, is_whole;
};

/* What does not change of a message that may be put off. */
struct zs_check_site {
    const struct zs_eu_program *program;
    const struct zs_eu_send *send;
    uint32_t op;
    /* Of a lane, one behind the other; rows of them, a bit for each; 0: something else. */
    uint8_t dwords, rows;
    bool is_slm, is_whole, is_scalar, is_write;
    uint32_t record, stamp, epoch, generation; /* the last one, and of which thread; 0: none */
    /* The next thread of the group is expected to be as far from this one as that from the one
     * before. */
    struct {
        uint64_t what, address; /* of struct zs_eu_reaches */
        uint64_t mine, *line;   /* what becomes of lines, and the first, of the page; of what it
                                 * reads the one of its list */
        struct zs_race_page *page;
        uint64_t step_B;
        uint32_t lanes, born, lines;
        uint32_t left; /* threads, in the page */
    } next;
};

/* Records of one instruction by threads of a group before they wait or fence: from the second one
 * on, or all where others than the first came to it before. That of thread i is number base + i. */
struct zs_check_block {
    uint32_t born; /* as the group; 0: none */
    uint32_t first, base;
    bool is_whole, is_shared;
};

/* A resident EU thread. */
struct zs_check_thread {
    uint32_t born;    /* as its group, once it has begun */
    uint32_t epoch;   /* of its lanes among each other: starts, fences, barriers, logged atomics */
    uint32_t signals; /* barriers that it has signalled */
    uint32_t fences[ZS_CHECK_FENCES];
    uint32_t fenced_at[ZS_CHECK_FENCES][ZS_CHECK_FENCES_KEPT]; /* signals, by fence */
    bool fenced;
    bool is_unfenced;     /* it has written local memory since its last fence of that */
    bool is_bare;         /* its next barrier has no fence of local memory */
    uint32_t reads_noted; /* beyond those that there is room for */
    uint32_t at;          /* instruction of its last barrier */
    uint32_t stamp;       /* of `recent`, what is its own */
    /* What it was atomic on before its first fence, which orders that: the last ones. */
    uint32_t pending_count;
    struct {
        uint64_t where, space;
    } pending[8];
    struct zs_check_recent recent[ZS_CHECK_RECENT]; /* by instruction */
};

/* A resident group. */
struct zs_check_group {
    uint32_t born; /* a number of its own */
    uint32_t releases;
    bool is_loose; /* its barrier does not order all that threads do to local memory */
    /* Reads of local memory since the last barrier, which nobody has looked at: they are forgotten
     * at the next one, unless somebody does something else to it. */
    bool is_direct;
    uint32_t later_count;
    uint64_t *later; /* NULL: none yet */
    uint64_t index;
};

/* What a work-item was about to do together with others. */
struct zs_check_mark {
    uint64_t address;
    uint32_t inst, item;
};

/* ... in the order of who was first: of a group, or of a sub-group, which is a thread. */
struct zs_check_marks {
    struct zs_check_mark *items;
    size_t count, capacity;
    bool differs; /* what follows is not compared any more */
};

/* A work-item's marks. */
struct zs_check_item {
    uint32_t counts[2]; /* of its group's, of its sub-group's */
    uint32_t copies;
    uint32_t unwaited; /* 1 + the instruction of a copy; 0: none */
};

/* Accesses of one instruction of a thread, between two of its barriers, fences and atomics. */
struct zs_check_record {
    uint32_t group, inst, signals, epoch, log_at, fences[ZS_CHECK_FENCES];
    uint16_t thread;
    uint8_t size_B;
    bool is_write : 1, is_atomic : 1;
    bool is_whole : 1; /* of the thread, of no lane ... */
    bool by_all : 1;   /* ... and in the name of each lane that is on */
};

/* order.c: what orders threads beside the barrier: atomics by threads with fences, barriers. */
struct zs_check_order {
    struct {
        struct {
            uint32_t who, object; /* and what the entry does, order.c */
        } * items;
        size_t count;
    } log;
    struct zs_gpu_block log_block;
    struct zs_gpu_device *device;
    struct zs_id_map objects; /* numbers by address */
    struct {
        uint64_t where, space;
        uint32_t number; /* 0: none */
    } recent[256];
    uint32_t object_count, search;
    uint32_t *thread_seen, *group_any, *group_all; /* the search that reached it */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } object_seen;
    uint64_t threads, groups, steps;
    uint32_t threads_per_group;
    bool full; /* something is unknown: all is ordered */
};
void zs_check_order_init(struct zs_check_order *o, struct zs_gpu_device *device, uint64_t groups,
                         uint32_t threads_per_group);
void zs_check_order_fini(struct zs_check_order *o);
void zs_check_order_atomic(struct zs_check_order *o, uint64_t group, uint32_t thread,
                           uint64_t where, uint64_t space);
/* The same of several places, each different from the one before: addresses of these lanes. */
void zs_check_order_lanes(struct zs_check_order *o, uint64_t group, uint32_t thread,
                          const uint64_t *addresses, uint32_t lanes, uint64_t space);
/* The group's barriers, from 1 on. */
void zs_check_order_barrier(struct zs_check_order *o, uint64_t group, uint32_t number);
/* A thread signals a named one; its producers have, it lets threads go on, and begins anew. */
void zs_check_order_signal(struct zs_check_order *o, uint64_t group, uint32_t thread,
                           uint32_t barrier);
void zs_check_order_named(struct zs_check_order *o, uint64_t group, uint32_t barrier,
                          uint64_t consumers);
/* Whether what a thread did before log entry `from` is before what the other one does now, which
 * has waited for `passed` of its group's barriers. */
bool zs_check_ordered(struct zs_check_order *o, const struct zs_check_record *from, uint64_t group,
                      uint32_t thread, uint32_t passed);

struct zs_gpu_checks;
struct zs_check_where {
    struct zs_gpu_checks *c;
    struct zs_gpu_worker *w;
    const struct zs_gpu_group *group;
    struct zs_check_thread *thread;
    struct zs_check_group *of_group;
    uint32_t number; /* of the thread in its group */
    uint64_t *local; /* shadow of the group's local memory; NULL: not asked for yet */
    /* Of records, those asked for last: the answer is that of all lanes, until the thread has
     * waited for one more barrier. */
    uint32_t passed;
    uint32_t asked[32];
    bool was_before[32], has_asked;
};

static inline void zs_check_ask_anew(struct zs_check_where *at)
{
    if (at->has_asked)
        memset(at->asked, 0, sizeof(at->asked));
    at->has_asked = false;
}

/* What all workers of a launch have found. */
struct zs_check_told {
    pthread_mutex_t lock;
    uint64_t reported[256]; /* pairs of sites */
    uint32_t found_count;
    pthread_mutex_t pages_lock;
    struct zs_id_map areas;         /* of pages of races (race_workers.c) */
    atomic_uint_fast64_t helpers_B; /* of their shadows */
    uint64_t helpers_max_B;         /* with more they take no group */
    uint32_t workers;
    struct zs_gpu_checks *of[]; /* NULL: it has not come */
};

/* Of a worker. */
struct zs_gpu_checks {
    struct zs_gpu_run *run;
    struct zs_check_told *told;      /* of all */
    bool is_helper, shares;          /* ... and there may be others */
    struct zs_check_where at;        /* the thread that runs */
    struct zs_check_thread *threads; /* as the worker's states */
    struct zs_check_reads *reads;    /* ZS_CHECK_READS_KEPT of each; NULL: no atomics follow */
    struct zs_gpu_block own_block, threads_block, reads_block;
    struct zs_check_group *groups;
    struct zs_check_order order;
    struct zs_check_item *items;  /* 32 of each; NULL: no marks yet */
    struct zs_check_marks *marks; /* of groups, and behind them of threads; with items */
    bool races, sync, logs;
    struct zs_port_range own; /* memory that threads have for themselves, beside the launch's */
    bool in_step;             /* groups are threads, as compilers know: they leave barriers out */
    struct zs_check_record *records;
    uint32_t *whats; /* of each record what zs_race_what() says: it is asked for of all */
    struct zs_gpu_block records_block, whats_block;
    struct zs_check_block *blocks;                         /* by instruction */
    uint32_t record_count, generation, stamp, born, batch; /* batch: of what was put off */
    struct zs_id_map pages;
    struct zs_race_area *area; /* NULL: none yet */
    uint64_t area_number;
    struct zs_gpu_block slabs[ZS_CHECK_SLABS]; /* where they are, each larger than before */
    uint32_t slab_count;
    size_t slab_used_B; /* of the last one */
    struct {
        uint64_t number;
        struct zs_race_page *page;
    } recent[ZS_CHECK_PAGES];
    uint64_t *local; /* of local memory, by resident group */
    /* Races of atomics with plain reads wait for the end: some reads are guesses. */
    struct {
        struct zs_gpu_finding finding;
        uint32_t inst; /* of the read */
    } * held;
    uint32_t held_count, guess_count;
    uint32_t guesses[64]; /* instructions */
    /* What the last message is about to store in pages that nobody else had, if that is known. */
    struct {
        struct zs_race_page *page;
        uint16_t in_B, size_B;
        uint8_t value[4];
    } storing[128];
    uint32_t storing_count;
    struct zs_check_site sites[64]; /* by operation */
    struct zs_eu_reaches reaches;   /* of the thread that runs, in reached */
    uint64_t reached[2048];
    bool stops; /* with a debugger; where stands in the run */
    uint32_t stop_lane;
    uint64_t known_pair; /* of instructions, told before; 0: none. It is asked for all the time */
    bool lost;
};

static inline struct zs_check_where *zs_check_where(const struct zs_eu_thread *t)
{
    struct zs_gpu_worker *w =
        (struct zs_gpu_worker *)(void *)((char *)t->env - offsetof(struct zs_gpu_worker, port));
    return &w->checks->at;
}

/* What is looked at is of this thread of the group. */
void zs_check_turn(struct zs_check_where *at, uint32_t thread);
static inline void zs_check_turn_to(struct zs_check_where *at, uint32_t thread)
{
    if (at->number != thread || at->thread->born != at->of_group->born)
        zs_check_turn(at, thread);
}
/* Once for each pair of instructions. */
bool zs_check_is_new(struct zs_gpu_checks *c, uint64_t a, uint64_t b, uint64_t kind);
void zs_check_site(const struct zs_gpu_run *run, uint64_t group, uint32_t thread, uint32_t inst,
                   int lane, struct zs_gpu_site *ret);
void zs_check_tell(struct zs_gpu_checks *c, struct zs_gpu_finding *f);
/* Whether a debugger is to stop a thread for it, which then gets ZS_EU_FAULT_FOUND. */
bool zs_check_stop(struct zs_gpu_run *run, const struct zs_gpu_finding *f, uint32_t lane);
/* Tells it, whatever the number: with the kernel's name, and the allocation when it has an address.
 */
void zs_check_print(const struct zs_gpu_run *run, struct zs_gpu_finding *f);

/* undefined.c: shadows of registers and memory, where the kernel tracks_undefined. -ENOMEM */
int zs_gpu_undefined_begin(struct zs_gpu_run *run);
void zs_gpu_undefined_end(struct zs_gpu_run *run);
void zs_gpu_undefined_group(struct zs_gpu_run *run, const struct zs_gpu_group *group);
/* All threads are about to begin anew. */
void zs_gpu_undefined_rewind(struct zs_gpu_run *run);
/* Memory of the launch has got a value from outside. */
void zs_gpu_undefined_define(struct zs_gpu_run *run, const void *host, size_t size_B);
/* Threads with these lanes on, or all of them, need no shadow. */
bool zs_gpu_undefined_is_clean(const struct zs_gpu_run *run, uint32_t mask);
/* Not 0: what memory has may be undefined. NULL: not tracked. */
const _Atomic(uint32_t) *zs_gpu_undefined_pages(const struct zs_gpu_run *run);
/* ... and nothing is to be done when one begins; or nothing is tracked. */
bool zs_gpu_undefined_is_loose(const struct zs_gpu_run *run);
/* A thread begins in a slot; its number selects scratch and private memory. */
void zs_gpu_undefined_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                             struct zs_eu_thread *t, uint32_t slot, uint32_t number, bool clean);

/* together.c: whether a message is a mark of what work-items do together. It is taken up. */
bool zs_check_is_mark(struct zs_check_where *at, const struct zs_eu_thread *t,
                      const struct zs_eu_send *send, const struct zs_port_message *m,
                      uint32_t lane_mask);
/* The group has ended: what is missing. */
void zs_check_marks_end(struct zs_gpu_checks *c, struct zs_check_group *group);
void zs_check_marks_free(struct zs_gpu_checks *c);

/* race.c: a message that reaches memory. */
void zs_check_access(struct zs_check_where *at, const struct zs_eu_thread *t,
                     const struct zs_eu_send *send, const struct zs_port_message *m, bool is_atomic,
                     uint32_t lane_mask);
/* The hook `reach` (struct zs_eu_hooks). Where nobody looks for races a message is hooked as it
 * might be a mark, which compiled code reaches in no area. */
bool zs_check_reach(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask,
                    enum zs_eu_reach how, uint64_t address, uint32_t first);
/* The hook `reached`. */
void zs_check_reached(struct zs_eu_thread *t);
/* A group begins, or its barrier has ordered all that was done to its local memory: that stands for
 * nothing any more. */
void zs_check_races_group(struct zs_gpu_checks *c, const struct zs_gpu_group *group);
/* What one worker knows is known to all that are to come. false: no memory. */
bool zs_check_races_share(struct zs_gpu_checks *c);
/* A worker has ended: other commands are told. */
void zs_check_races_worker_end(struct zs_gpu_checks *c);
/* All workers have ended: what is found by looking at what they remember, and what was held back.
 */
void zs_check_races_end(struct zs_check_told *told);
void zs_check_races_free(struct zs_gpu_checks *c);

#endif
