/* SPDX-License-Identifier: MIT */
/* Inside src/gpu: debugging (debug.h has the whole picture). */
#ifndef ZS_GPU_DEBUG_DEBUG_PRIV_H
#define ZS_GPU_DEBUG_DEBUG_PRIV_H

#include "gpu/debug/debug.h"
#include "gpu/debug/history.h"
#include "gpu/gpu_priv.h"

/* Bits of cr0.0 and cr0.1: those that Intel's debugger uses. */
enum {
    CR0_0_BREAKPOINT_SUPPRESS = 1u << 15,
    CR0_1_PAGE_FAULT = 1u << 16,
    CR0_1_ILLEGAL_OPCODE = 1u << 28,
    CR0_1_SOFTWARE_EXCEPTION = 1u << 29, /* here: a barrier that not all reach */
    CR0_1_EXTERNAL_HALT = 1u << 30,
};
#define CR0_1_BREAKPOINT (1u << 31)

enum zs_gpu_debug_state {
    ZS_GPU_DEBUG_FREE,
    ZS_GPU_DEBUG_RUNNING,
    ZS_GPU_DEBUG_HELD, /* for the debugger to look at */
};

/* A place of the table, and the EU thread that has it. */
struct zs_gpu_debug_thread {
    enum zs_gpu_debug_state state;
    struct zs_gpu_run *run;
    struct zs_eu_thread *t;
    struct zs_gpu_thread_state *at; /* the worker's */
    struct zs_gpu_debug_worker *worker;
    uint8_t *slm;
    bool resuming; /* still held, to go on when its worker looks */
    bool step;     /* one instruction, then stop */
    bool passes;   /* it was told of the breakpoint at its place */
    bool suppress; /* cr0.0: no breakpoint at its place */
    uint32_t cr0_1;
    bool is_changed; /* by what was written to cr0 last, beside how it goes on */
    bool is_lost;    /* its ip was written: no instruction is there */
    uint32_t lost_ip_B;
    bool in_prologue; /* held by a breakpoint in it: that is its ip; the rest of it is one step */
    bool passed_prologue;
    uint32_t prologue_ip_B;
    uint32_t fault_lane; /* UINT32_MAX: none */
    bool faulted;        /* at this instruction: the next time ends the launch */
    int64_t fault_offset_B;
    struct zs_history_memory access; /* what faulted; size 0 and no text: no access */
    uint64_t group;                  /* index, and the thread in it */
    uint32_t thread;
    uint32_t number;           /* of its part of scratch memory */
    struct zs_history_hit hit; /* kind NONE: it stopped for other reasons */
};

static inline bool zs_gpu_debug_is_stopped(const struct zs_gpu_debug_thread *thread)
{
    return thread->state == ZS_GPU_DEBUG_HELD && !thread->resuming;
}

struct zs_gpu_debug_interrupt {
    struct zs_gpu_debug_interrupt *next;
    struct zs_gpu_hw_thread threads; /* as the debugger said */
    uint64_t epoch;
};

struct zs_gpu_debug_session {
    struct zs_gpu_debug_session *next;
    struct zs_gpu_debug_card *card;
    uint32_t first_slice, slice_count;
    zs_gpu_debug_sink *sink;
    void *ctx;
    struct zs_gpu_debug_interrupt *interrupts;
    bool halted; /* all were interrupted: nothing new starts */
};

struct zs_gpu_debug_card {
    struct zs_gpu_debug *debug;
    uint32_t slices, subslices, eus, threads_per_eu, count;
    struct zs_gpu_debug_thread *threads;
    struct zs_gpu_debug_session *sessions;
    atomic_uint session_count; /* read without the lock */
    atomic_uint active;        /* workers of launches on the card */
    uint32_t registered;       /* those of them that are in `workers` */
    struct zs_gpu_debug_worker *workers;
    /* history.c */
    enum zs_history_mode mode;
    uint64_t launches, stop_launch; /* begun so far; the one to stop at, 0: none */
    struct zs_gpu_run *runs;
    struct zs_history_range watches[ZS_HISTORY_RANGES_MAX];
    uint32_t watch_count;
};

struct zs_gpu_debug {
    pthread_mutex_t lock;
    pthread_cond_t wake;             /* workers that have nothing to run */
    atomic_uint_fast64_t epoch;      /* changes under the lock */
    struct zs_gpu_debug_code *codes; /* in no order */
    uint64_t code_generation;        /* changes of code so far */
    atomic_bool written;             /* there were some */
};

/* A worker of a launch on a card that has sessions, or whose code has changed. */
struct zs_gpu_debug_worker {
    struct zs_gpu_debug_worker *next, **at; /* of the card's; at NULL: not among them */
    uint64_t epoch;
    bool look;                            /* as soon as possible */
    struct zs_gpu_code *code;             /* what its threads run */
    struct zs_gpu_debug_thread **by_slot; /* NULL: it has no place */
    uint32_t capacity, placed, held;      /* slots, those of them that have a place, or are held */
    struct zs_gpu_run *run;
    /* history.c */
    struct zs_gpu_group *group; /* whose thread runs */
    uint32_t thread;
    bool stop_first; /* the launch's first thread is to be held */
    uint32_t watch_count, reached_count;
    uint32_t reached_inst;
    const struct zs_eu_thread *reached_by;
    /* from here on: as many as are counted above */
    struct zs_history_range watches[ZS_HISTORY_RANGES_MAX];
    struct zs_gpu_reached {
        uint32_t watch, lane, lanes, access, size_B;
        uint64_t at; /* in memory or local memory */
        uint8_t old[ZS_HISTORY_VALUE_B];
    } reached[ZS_HISTORY_RANGES_MAX]; /* by the message that was sent last; one per watch */
};

/* ---- debug/code.c ------------------------------------------------------------------------------
 */

/* A kernel's code as the debugger has left it, lowered. */
struct zs_gpu_code {
    struct zs_gpu_code *next; /* of the kernel's */
    uint32_t refs;            /* under the lock */
    uint64_t generation;
    struct zs_buf bytes;                /* with the breakpoints in it */
    struct zs_eu_program *program;      /* with stops at breakpoints; may be the kernel's own */
    struct zs_eu_program *stepper;      /* stops everywhere; NULL: not wanted yet */
    struct zs_eu_program *runner;       /* stops nowhere; likewise */
    struct zs_eu_program *listening[2]; /* like program, messages are seen; [1]: and stops behind
                                           them */
    uint32_t *stops_B;                  /* of the breakpoints, ascending */
    uint32_t stop_count;
    uint32_t prologue_stop_B; /* the first one in the prologue; UINT32_MAX: none */
    struct zs_buf plain;      /* without breakpoints */
    bool replaced;            /* instructions, too: it is not counted */
};

/* What a kernel keeps to be lowered again. */
struct zs_gpu_kernel_debug {
    uint64_t base_va;
    struct zs_buf code; /* as it was linked */
    struct zs_eu_lower_params params;
    struct zs_eu_registers registers;
    struct zs_eu_segment *segments;
    uint32_t *targets_B;
    struct zs_gpu_code *codes;
};
int zs_gpu_kernel_debug_make(struct zs_gpu_kernel *kernel, const struct zs_eu_lower_params *params,
                             uint64_t base_va);
void zs_gpu_kernel_debug_free(struct zs_gpu_kernel *kernel);
/* Under the lock. NULL: no memory. */
struct zs_gpu_code *zs_gpu_code_get(struct zs_gpu_kernel *kernel);
void zs_gpu_code_put(struct zs_gpu_code *code);
const struct zs_eu_program *zs_gpu_code_stepper(struct zs_gpu_kernel *kernel,
                                                struct zs_gpu_code *code);
const struct zs_eu_program *zs_gpu_code_runner(struct zs_gpu_kernel *kernel,
                                               struct zs_gpu_code *code);
/* The kernel's code becomes what it was; breakpoints stay where they are now. */
void zs_gpu_code_restore(struct zs_gpu_kernel *kernel, const struct zs_gpu_code *code);
/* With stops behind the messages that reach memory: a version in which messages are seen. */
const struct zs_eu_program *zs_gpu_code_listening(struct zs_gpu_kernel *kernel,
                                                  struct zs_gpu_code *code, bool stops);
bool zs_gpu_code_breaks(const struct zs_gpu_code *code, uint32_t offset_B);
/* Take out what the debugger has put in: breakpoints. Under the lock. */
void zs_gpu_debug_code_clean(struct zs_gpu_debug *debug);

/* ---- history.c: all for the worker of a recorded launch, or one with watches
 * ----------------------
 */

struct zs_gpu_history;
extern const struct zs_eu_hooks zs_gpu_history_hooks;
/* Under the lock: what the worker runs, with what is watched now. */
void zs_gpu_history_look(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* The program of threads of the worker. NULL: no memory. */
const struct zs_eu_program *zs_gpu_history_program(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* What the thread's last message reached and is to stop it, one after the other. */
bool zs_gpu_history_hit(struct zs_gpu_worker *w, struct zs_eu_thread *t,
                        struct zs_history_hit *ret);
/* What the worker's threads go on in; all: every one of them can. Under the lock. */
void zs_gpu_history_take_code(struct zs_gpu_run *run, struct zs_gpu_code *code, bool all);
/* What was before cannot be had again. Under the lock. */
void zs_gpu_history_lose(struct zs_gpu_run *run, enum zs_history_lack lack);
/* What a debugger writes becomes a part of the record. Memory: of a run whose threads are all held,
 * before it is written. Under the lock. */
struct zs_history_write {
    enum zs_history_written { ZS_WRITTEN_REGISTERS, ZS_WRITTEN_LOCAL, ZS_WRITTEN_MEMORY } kind;
    uint64_t group; /* REGISTERS, LOCAL */
    uint32_t thread;
    uint32_t type, start, count; /* REGISTERS */
    uint64_t at;                 /* LOCAL: offset, MEMORY: address */
    size_t size_B;
    uint8_t *bytes;
};
void zs_gpu_history_log(struct zs_gpu_run *run, const struct zs_history_write *write);
void zs_gpu_history_take_writes(struct zs_gpu_run *run); /* by the worker */
/* debug/registers.c: as the debugger wrote it. */
int zs_gpu_debug_write_again(struct zs_gpu_run *run, struct zs_eu_thread *t,
                             const struct zs_history_write *write);
/* Under the lock: a request waits for the worker; and to be called without, when that is so. */
bool zs_gpu_history_is_asked(const struct zs_gpu_run *run);
void zs_gpu_history_serve(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* The place that a thread had, UINT32_MAX: none; and that it has now. */
uint32_t zs_gpu_history_place(const struct zs_gpu_run *run, uint64_t group, uint32_t thread);
void zs_gpu_history_placed(struct zs_gpu_run *run, uint64_t group, uint32_t thread, uint32_t place);
/* debug/work.c: give all threads of resident groups places and hold them; take their places. Under
 * the lock. */
void zs_gpu_debug_hold_resident(struct zs_gpu_run *run, struct zs_gpu_worker *w);
void zs_gpu_debug_take_back(struct zs_gpu_worker *w);
/* Until the worker of a held thread has taken over the code that was written: what its registers
 * say is of that. -EAGAIN: it is not held, or its worker does not come. Gives up the lock. */
int zs_gpu_debug_wait_for_code(struct zs_gpu_debug_session *session,
                               const struct zs_gpu_hw_thread *id);
/* debug/registers.c: what the ip register reads in front of an instruction. */
uint32_t zs_gpu_debug_ip(const struct zs_eu_thread *t, uint32_t inst);

/* ---- debug.c -----------------------------------------------------------------------------------
 */

struct zs_gpu_hw_thread zs_gpu_debug_id(const struct zs_gpu_debug_card *card, uint32_t index);
/* The session that covers a place; NULL: none. */
struct zs_gpu_debug_session *zs_gpu_debug_session_of(const struct zs_gpu_debug_card *card,
                                                     uint32_t index);
void zs_gpu_debug_tell(struct zs_gpu_debug_session *session, enum zs_gpu_debug_event_kind kind,
                       uint32_t index);
/* Which interrupts wait for this place. */
bool zs_gpu_debug_is_wanted(const struct zs_gpu_debug_card *card, uint32_t index);
bool zs_gpu_debug_is_halted(const struct zs_gpu_debug_card *card, uint32_t first_slice,
                            uint32_t slice_count);
/* Interrupts that are done. */
void zs_gpu_debug_settle(struct zs_gpu_debug_card *card);
/* Workers look at what has changed, at once. */
void zs_gpu_debug_change_epoch(struct zs_gpu_debug *debug);
/* The place of a thread of a session: -EINVAL, -EAGAIN. */
int zs_gpu_debug_held(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *thread,
                      struct zs_gpu_debug_thread **ret_thread);
/* A place among the slices of the run's device; NULL: none is free. */
struct zs_gpu_debug_thread *zs_gpu_debug_place(struct zs_gpu_debug_card *card, uint32_t first_slice,
                                               uint32_t slice_count);

#endif
