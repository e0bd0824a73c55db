/* SPDX-License-Identifier: MIT */
/* Inside src/gpu: what the files of the software GPU share. */
#ifndef ZS_GPU_GPU_PRIV_H
#define ZS_GPU_GPU_PRIV_H

#include "dataport/dataport.h"
#include "eu/eu.h"
#include "gpu/gpu.h"
#include "gpu/timing/timing.h"
#include "module/module.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- memory.c: what a launch sees of a context's memory ----------------------------------------
 */

/* A launch as a whole pins what it names of one memory: see memory.c. From its first view to
 * zs_gpu_memory_launch_unpin(). */
struct zs_gpu_launch_pin {
    struct zs_gpu_launch_pin *previous, *next;
    uint64_t begun;
    bool begun_here; /* in the memory's list */
    bool all;        /* all that was alive, else what these name */
    const struct zs_gpu_args *args;
};

/* Held by a host thread of a launch until it looks anew: what it sees, and the promise that this
 * stays mapped. */
struct zs_gpu_view {
    struct zs_gpu_pin pin;
    struct zs_port_map map; /* with what was freed, but is pinned by this launch */
    bool tracked;           /* some range remembers what was written */
};
/* Takes the launch's pin, too, when this is its first view. -ENOMEM */
int zs_gpu_view_open(struct zs_gpu_memory *memory, struct zs_gpu_launch_pin *launch_pin,
                     struct zs_gpu_view *view);
/* launch_pin: to be ended with it, or NULL. */
void zs_gpu_view_close(struct zs_gpu_memory *memory, struct zs_gpu_view *view,
                       struct zs_gpu_launch_pin *launch_pin);
void zs_gpu_memory_launch_unpin(struct zs_gpu_memory *memory, struct zs_gpu_launch_pin *launch_pin);
/* Differs from the last answer when views should be renewed: something that they show was freed, or
 * somebody waits in zs_gpu_memory_stop(). */
uint64_t zs_gpu_memory_changes(struct zs_gpu_memory *memory);

/* ---- file.c ------------------------------------------------------------------------------------
 */

struct zs_gpu_run;
struct zs_gpu_worker;
/* This thread runs work-groups; a signal may stop them. false: no memory. Again: nothing. */
bool zs_gpu_file_begin(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* It runs none any more; the run fails when they were stopped. */
void zs_gpu_file_end(struct zs_gpu_run *run, struct zs_gpu_worker *w);

/* ---- device.c ----------------------------------------------------------------------------------
 */

enum zs_gpu_thread_phase {
    ZS_GPU_THREAD_NEW, /* has no slot yet */
    ZS_GPU_THREAD_READY,
    ZS_GPU_THREAD_WAITING, /* at its barrier */
    ZS_GPU_THREAD_PAIRING, /* for the other thread of its pair */
    ZS_GPU_THREAD_HELD,    /* by a debugger */
    ZS_GPU_THREAD_DONE,
};

/* An EU thread of a resident group. */
struct zs_gpu_thread_state {
    enum zs_gpu_thread_phase phase;
    uint32_t slot;
};

/* A resident work-group. Its EU threads take turns on one host thread. */
struct zs_gpu_group {
    uint64_t index;
    uint32_t id[3];
    uint32_t number; /* among the worker's: of its local memory and threads */
    uint32_t place;  /* among the resident ones of the launch: gives its threads their numbers */
    uint32_t first, end; /* threads of it that run here: all of them, but see zs_gpu_run.parts */
    uint32_t live;       /* ... that have not ended */
    uint32_t arrived;    /* barrier messages since the last release */
    uint64_t spent;      /* instructions of its threads, and one for each round */
    uint64_t looked;     /* ... as the worker looked around last */
    bool traced;         /* for the model of time */
    struct zs_port_named_barriers named;
    uint8_t *slm;
    struct zs_gpu_thread_state *threads;
};

/* Groups that a host thread has claimed, and not taken in yet. */
struct zs_gpu_claim {
    uint64_t next, end;
};

/* A host thread's part of a launch; its memory is kept for later launches. */
struct zs_gpu_worker {
    struct zs_gpu_worker *next_free;
    struct zs_eu_thread *threads; /* slots of EU threads */
    struct zs_eu_shadow *shadows; /* of slots, where the kernel tracks_undefined */
    uint32_t shadow_capacity;
    uint32_t *free_slots; /* a stack: the slot used last is warm */
    uint32_t thread_capacity, free_slot_count;
    uint32_t fresh_slot; /* from here on none has run this kernel in this launch */
    uint8_t *slm;        /* slm_stride_B for each resident group */
    size_t slm_capacity_B, slm_stride_B;
    uint64_t *counters;
    size_t counter_capacity;
    struct zs_gpu_group *groups;
    struct zs_gpu_thread_state *states; /* threads_per_group for each group */
    struct zs_eu_series_row *rows;      /* of a group's threads ... */
    uint32_t rows_of;                   /* ... that has this place; UINT32_MAX: none has */
    size_t group_capacity, state_capacity, row_capacity;
    uint32_t group_count; /* resident */
    uint32_t group_limit;
    uint32_t index;                   /* in this launch */
    uint32_t groups_made;             /* with local memory and states */
    bool place_taken;                 /* the place of this index, see dispatch.c */
    bool blind;                       /* it has no view: there was no memory for it */
    struct zs_gpu_view view;          /* the memory that it sees, renewed from time to time */
    uint64_t changes;                 /* ... as it opened the view */
    struct zs_port_surface *surfaces; /* resolved against the view */
    size_t surface_capacity;
    uint64_t groups_run, threads_run;
    uint64_t executed; /* instructions that zs_gpu_tier_executed() was not told of yet */
    struct zs_gpu_claim claim;
    uint32_t host_csr;                   /* see zs_eu_run_among() */
    const struct zs_eu_program *program; /* of new threads: the kernel's, without a debugger */
    struct zs_gpu_debug_worker *debug;   /* NULL: no debugger */
    struct zs_gpu_debug_worker *spare;   /* what `debug` was, for the next launch that has one */
    uint64_t debug_epoch;                /* when it looked last */
    struct zs_gpu_checks *checks;        /* its own of the launch; only with them: */
    const struct zs_gpu_group *checked;  /* whose thread runs */
    struct zs_gpu_file_user *file_user;  /* NULL: see file.c */
    struct zs_port port;
};

/* Anonymous memory, reused by later launches: private and scratch arenas. */
struct zs_gpu_block {
    uint8_t *data;
    size_t size_B;
};

enum { BLOCKS_MAX = 64 };

struct zs_gpu_debug_card;
struct zs_gpu_debug_worker;
struct zs_gpu_history;

struct zs_gpu_device {
    const struct zs_gpu_model *model;
    struct zs_gpu_debug_card *debug; /* NULL: debugging is not enabled */
    uint32_t first_slice;            /* of the card */
    uint32_t worker_limit;           /* host threads beside the caller's */
    struct zs_timing_store *timing;  /* NULL: there is no model of time */
    pthread_mutex_t lock;            /* of everything below */
    _Atomic uint32_t askers;         /* threads of tier.c */
    struct zs_gpu_worker *free_workers;
    struct zs_gpu_block blocks[BLOCKS_MAX];
    uint32_t block_count;
    /* pool */
    pthread_cond_t wake;
    pthread_t *threads;
    uint32_t thread_count;
    bool started, stopping;
    struct zs_gpu_job *jobs; /* that want help */
};

struct zs_gpu_worker *zs_gpu_worker_get(struct zs_gpu_device *device); /* NULL: no memory */
void zs_gpu_worker_put(struct zs_gpu_device *device, struct zs_gpu_worker *worker);
int zs_gpu_block_get(struct zs_gpu_device *device, size_t size_B, struct zs_gpu_block *ret_block);
void zs_gpu_block_put(struct zs_gpu_device *device, struct zs_gpu_block *block);

/*
 * Work for the pool. Helpers call run(job) at the same time as the caller, up to helpers_max of
 * them. zs_gpu_job_finish() takes the job back and waits for those that still run.
 */
struct zs_gpu_job {
    struct zs_gpu_job *previous, *next;
    void (*run)(struct zs_gpu_job *job);
    uint32_t helpers_max, helpers_started, helpers_running;
    bool listed;
    pthread_cond_t idle;
};
void zs_gpu_job_offer(struct zs_gpu_device *device, struct zs_gpu_job *job);
void zs_gpu_job_finish(struct zs_gpu_device *device, struct zs_gpu_job *job);

uint64_t zs_gpu_now_ns(void);

/* ---- kernel.c ----------------------------------------------------------------------------------
 */

/* What counters and the timing model know of an instruction. */
struct zs_gpu_instruction {
    uint32_t offset_B;
    uint8_t is_send, is_atomic, is_fence, is_barrier, is_block;
    uint8_t space;                      /* enum zs_port_space */
    uint16_t bytes_read, bytes_written; /* per active lane, or per execution of a block */
    uint8_t cost;                       /* timing model: cycles for 8 lanes */
    uint32_t half_of; /* the message before it that is the same of other lanes, or itself */
};

struct zs_gpu_kernel {
    uint64_t number; /* of all that there were, from 1 on */
    struct zs_gpu_device *device;
    const struct zs_kernel *module;
    struct zs_eu_program *program;
    struct zs_gpu_tier *tier; /* NULL: it is never compiled */
    uint32_t entry_B;
    uint64_t global_va, global_size_B, constant_va, constant_size_B;
    uint32_t surface_count; /* of the binding table, and behind it those reached by handles */
    uint8_t *bindless;      /* by zs_gpu_handle_of: 1 + the index of the surface; 0: none */
    uint32_t sampler_count;
    struct zs_port_sampler *samplers; /* inline ones filled in */
    uint32_t start_B;  /* where threads start: behind what loads local ids, which they are given */
    uint32_t inline_B; /* of the cross-thread data, in registers; the rest is in memory where the
                          device's kernels load it */
    uint32_t per_thread_B; /* at least one register: without local ids it is a filler, which zebin
                              does not mention */
    bool uses_private;
    bool is_hooked;         /* messages are looked at */
    bool has_local_fences;  /* barriers alone do not order local memory */
    bool has_atomics;       /* where they are looked at: ... */
    bool orders_groups;     /* they may, by what it does after them ... */
    bool orders_threads;    /* ... beyond what their group's barrier orders */
    bool joins_threads;     /* of a group, by barriers or pairs */
    bool checks_local;      /* ZS_GPU_KERNEL_LOCAL */
    bool tracks_undefined;  /* ZS_GPU_KERNEL_DEFINED */
    uint32_t unused_ids;    /* ... registers behind r0 that it has no use for */
    bool is_clean[2];       /* its threads need no shadow, with any lanes on, with all */
    bool has_no_sub_groups; /* ZS_GPU_KERNEL_NO_SUB_GROUPS */
    struct zs_gpu_local_array *local_arrays;
    uint32_t local_array_count;
    const struct zs_gpu_bounds_site *bounds_sites;
    size_t bounds_site_count;
    uint32_t slots_max; /* threads with numbers of their own; 0: any */
    struct zs_gpu_instruction *instructions;
    uint32_t instruction_count;
    size_t counter_count;
    struct zs_gpu_kernel_debug *debug; /* NULL: debugging is not enabled */
    /* with ZS_GPU_KERNEL_TIMED, where the device has a model of time */
    struct zs_eu_program *timed_program; /* the same with hooks */
    struct zs_timing_code *timing_code;
};

/* order_atomics.c: what it says of atomics. 0, -ENOMEM */
int zs_gpu_find_orders(struct zs_gpu_kernel *kernel);

/* ---- tier.c ------------------------------------------------------------------------------------
 */

/* For a kernel that may be compiled. 0, -ENOMEM */
int zs_gpu_tier_create(struct zs_gpu_kernel *kernel, const struct zs_gpu_kernel_desc *desc,
                       const struct zs_eu_lower_params *params);
void zs_gpu_tier_free(struct zs_gpu_kernel *kernel);
/* So many more instructions were executed, and are told: 0 then. Counters of the launch, or of a
 * worker's part of it, so far or at its end. */
void zs_gpu_tier_executed(const struct zs_gpu_kernel *kernel, uint64_t *executed,
                          const uint64_t *counters, bool has_ended);
/* What new threads run in place of kernel->program; NULL: nothing else. */
const struct zs_eu_program *zs_gpu_tier_program(const struct zs_gpu_kernel *kernel);
/* Until none of its kernels is being compiled. */
void zs_gpu_tier_wait(struct zs_gpu_device *device);

/* SAMPLER_STATE of the dynamic state heap (four dwords). */
void zs_gpu_sampler_from_state(struct zs_port_sampler *sampler, const uint8_t *state);

/* ---- args.c ------------------------------------------------------------------------------------
 */

enum zs_gpu_binding_kind {
    ZS_GPU_BINDING_NULL,
    ZS_GPU_BINDING_BUFFER,
    ZS_GPU_BINDING_IMAGE,
};
struct zs_gpu_binding {
    enum zs_gpu_binding_kind kind;
    uint32_t arg; /* or ZS_NONE */
    bool read_only;
    bool is_cut;     /* it ends at size_B, whatever the allocation has */
    uint64_t gpu_va; /* of the surface */
    uint64_t size_B; /* 0: no live allocation when it was set */
    struct zs_gpu_image image;
};

struct zs_gpu_args {
    const struct zs_gpu_kernel *kernel;
    uint8_t *cross_thread;            /* module->thread.cross_thread_B */
    struct zs_gpu_binding *bindings;  /* kernel->surface_count */
    struct zs_port_sampler *samplers; /* kernel->sampler_count */
    uint64_t *local_B;                /* by argument */
    bool *is_set;                     /* by argument */
    uint64_t *named_va;               /* by argument: what a launch pins, 0: nothing */
    uint64_t slm_end_B;               /* end of the local arguments */
    uint64_t gap_B;                   /* between them */
    const struct zs_port_gap *gaps;   /* of a walk, which has made them */
    uint32_t gap_count;
};

/* What stands apart in local memory, where the kernel checks that: so many at most, and what they
 * are. */
uint32_t zs_gpu_args_gaps_max(const struct zs_gpu_args *args);
uint32_t zs_gpu_args_gaps(const struct zs_gpu_args *args, struct zs_port_gap *ret);

/* Write the low bytes of a value into a payload field; wider fields are zero-filled. */
/* Which handle of a surface a field holds: an argument's, or behind those the constant buffer's and
 * the global one's; ZS_NONE: none. */
uint32_t zs_gpu_handle_of(const struct zs_kernel *m, const struct zs_payload *field);
void zs_gpu_payload_store(uint8_t *cross_thread, const struct zs_payload *field, uint64_t value);
/* Exact bytes of local memory: static part and local arguments. */
uint64_t zs_gpu_args_slm_exact_B(const struct zs_gpu_args *args);

/* ---- payload.c: fields that the dispatch decides -----------------------------------------------
 */

struct zs_gpu_dispatch {
    const struct zs_gpu_launch *launch;
    uint64_t private_va, private_B; /* base, whole size */
    uint64_t printf_va;
    uint64_t implicit_va, local_ids_va;
    uint64_t sync_va;
    uint64_t indirect_va; /* cross-thread data behind what is inline */
    uint32_t slm_B;
    uint32_t threads_per_group;
};
uint32_t zs_gpu_work_dimensions(const struct zs_gpu_launch *launch);
void zs_gpu_payload_patch(const struct zs_gpu_dispatch *dispatch, uint8_t *cross_thread);
/* Rows of per-thread data of one group: the same for every group. */
void zs_gpu_local_ids(const struct zs_gpu_kernel *kernel, const uint32_t group_size[3],
                      uint32_t thread_count, uint8_t *rows);
/* Local id of work-item `index` in the kernel's walk order. */
void zs_gpu_local_id(const struct zs_gpu_kernel *kernel, const uint32_t group_size[3],
                     uint64_t index, uint32_t ret_id[3]);
enum { IMPLICIT_ARGS_B = 96 };
void zs_gpu_implicit_args(const struct zs_gpu_dispatch *dispatch, uint8_t *ret_bytes);

/* ---- counters.c, timing.c ----------------------------------------------------------------------
 */

struct zs_gpu_counters {
    const struct zs_gpu_kernel *kernel;
    pthread_mutex_t lock;
    uint64_t *sums; /* kernel->counter_count */
};
void zs_gpu_counters_add(struct zs_gpu_counters *counters, const uint64_t *sums);
/* Totals from the counters of one launch (adds to *totals); weighted: the timing model's sum. */
int zs_gpu_totals_add(const struct zs_gpu_kernel *kernel, const uint64_t *sums,
                      struct zs_gpu_totals *totals, uint64_t *ret_weighted);
uint64_t zs_gpu_timing_cycles(const struct zs_gpu_model *model, const struct zs_gpu_totals *totals,
                              uint64_t weighted);

/* ---- timed.c: launches and the model of time ---------------------------------------------------
 */

struct zs_gpu_run;
int zs_gpu_kernel_time(struct zs_gpu_kernel *kernel, const struct zs_eu_lower_params *params,
                       struct zs_diag *diag);
int zs_gpu_run_trace(struct zs_gpu_run *run);
/* Whether the group's threads are recorded. Those of a worker with a debugger are not: the launch
 * then has the formula's time. */
bool zs_gpu_is_traced(struct zs_gpu_run *run, const struct zs_gpu_worker *w,
                      const struct zs_gpu_group *group);
/* Replays what was recorded; without it, or when there is no memory, the formula's time stays. */
void zs_gpu_run_replay(struct zs_gpu_run *run, struct zs_gpu_result *ret);

/* ---- dispatch.c --------------------------------------------------------------------------------
 */

enum { ZS_GPU_SHARED_PLACES_MAX = 512 };

struct zs_gpu_run {
    struct zs_gpu_job job; /* first: the pool hands it to zs_gpu_run_groups() */
    struct zs_gpu_device *device;
    struct zs_gpu_debug_card *debug; /* NULL: debugging is not enabled */
    const struct zs_gpu_launch *launch;
    const struct zs_gpu_kernel *kernel;
    struct zs_gpu_launch_pin launch_pin;
    const struct zs_port_sampler *samplers;
    uint8_t *payload; /* registers from r1 on without per-thread data: cross-thread bytes */
    uint32_t memory_payload_B; /* those behind kernel->inline_B that kernels may load */
    uint8_t *local_ids;        /* per-thread rows of a group */
    uint32_t threads_per_group, group_items;
    uint32_t mask, last_mask; /* dispatch masks of a group's threads, and of its last one */
    uint64_t group_total;
    uint32_t parts;           /* of a group, which run as if they were groups; mostly 1 */
    uint64_t units;           /* parts of all groups */
    uint32_t slm_B;           /* exact: what kernels may touch */
    struct zs_port_gap *gaps; /* in it, owned; the kernel checks_local */
    uint32_t gap_count;
    uint32_t places; /* groups that may be resident, over all workers */
    uint32_t numbers_per_group;
    uint32_t slots; /* numbers of their EU threads */
    uint32_t workers_max;
    uint32_t groups_per_worker;                            /* at most */
    uint64_t shared_places[ZS_GPU_SHARED_PLACES_MAX / 64]; /* a bit for each that is taken */
    struct zs_gpu_block scratch, private_memory, launch_memory;
    uint64_t implicit_va;  /* what debuggers find at general state; 0: nothing */
    uint32_t scratch_B;    /* per slot, power of two */
    uint32_t scratch_code; /* the same for r0.3 */
    struct zs_port_range ranges[ZS_PORT_LAUNCH_RANGES];
    uint32_t range_count;
    uint64_t start_ns, deadline_ns;
    uint64_t slice; /* instructions between looks at the clock and the cancel flag */
    uint64_t turn;  /* ... of a group, until another resident one goes on */
    atomic_uint_fast64_t next_group;
    atomic_uint worker_index;
    atomic_bool stop;
    bool helped;          /* the caller offered the job to the pool */
    pthread_mutex_t lock; /* of what follows */
    int error;
    struct zs_gpu_fault fault;
    uint64_t *sums;
    uint64_t threads_run, groups_run;
    struct zs_timing_trace *trace;      /* NULL: the formula gives the time */
    atomic_bool was_debugged;           /* what was recorded is not all */
    struct zs_check_told *checks;       /* NULL: none of check.h */
    struct zs_gpu_undefined *undefined; /* NULL: not tracked */
    struct zs_gpu_finding *found;       /* where a debugger stops for checks; NULL: not yet */
    uint32_t found_lane;
    struct zs_gpu_history *history; /* NULL: it is not recorded */
    uint64_t number;                /* since debuggers are attached to the card; 0: none is */
    struct zs_gpu_run *next;        /* of the card's that have a number */
};
/* Claim and run groups until none is left. */
void zs_gpu_run_groups(struct zs_gpu_job *job);
/* One turn for each thread that is ready; *ret_ran: there was one. false: stop. */
bool zs_gpu_run_ready(struct zs_gpu_run *run, struct zs_gpu_worker *w, bool *ret_ran);
/* Give a thread that is new its registers. */
void zs_gpu_start_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                         const struct zs_gpu_group *group, uint32_t thread);
/* What executing a launch again does by itself (history.c): a group is taken in at a place, a
 * thread's surroundings are set up for it to run, it has ended, a barrier lets all go on, a group
 * is gone. */
void zs_gpu_admit_group(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint64_t unit,
                        uint32_t place);
void zs_gpu_enter_thread(const struct zs_gpu_run *run, struct zs_gpu_worker *w,
                         struct zs_gpu_group *group, uint32_t thread);
void zs_gpu_end_thread(struct zs_gpu_worker *w, struct zs_gpu_group *group, uint32_t thread);
void zs_gpu_release_barrier(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                            struct zs_gpu_group *group);
void zs_gpu_drop_group(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint32_t at);
/* fault: NULL: none */
void zs_gpu_stop_run(struct zs_gpu_run *run, int error, const struct zs_gpu_fault *fault);

/* ---- debug/work.c: what workers do for debuggers (debug.h) -------------------------------------
 * Where the device has no card nothing of it is called.
 */

/* A worker of a launch begins, with w->program, and ends. -ENOMEM */
int zs_gpu_debug_begin(struct zs_gpu_run *run, struct zs_gpu_worker *w);
void zs_gpu_debug_end(struct zs_gpu_run *run, struct zs_gpu_worker *w);
void zs_gpu_debug_worker_free(struct zs_gpu_debug_worker *spare); /* with its worker */
/* Some debugger has the device's card; without one a worker has w->debug for changed code alone. */
bool zs_gpu_debug_is_attached(const struct zs_gpu_run *run);
/* Something has changed: zs_gpu_debug_work() is to be called, between two turns. */
bool zs_gpu_debug_wants(const struct zs_gpu_run *run, const struct zs_gpu_worker *w);
/* Do what the debugger wants, until none of the worker's threads is held. false: stop. */
bool zs_gpu_debug_work(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* A thread is about to run. false: it is held, as the first of its launch. */
bool zs_gpu_debug_enter(struct zs_gpu_run *run, struct zs_gpu_worker *w, struct zs_gpu_group *group,
                        uint32_t thread);
/* A thread has run into a stop. true: it is held; false: nobody wants it, it is to go on. */
bool zs_gpu_debug_stopped(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group, uint32_t thread);
/* A thread has faulted. true: it is held where it stands. */
bool zs_gpu_debug_faulted(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group, uint32_t thread,
                          const struct zs_gpu_fault *fault);
/* A thread begins, and has ended; w->debug is set. */
void zs_gpu_debug_started(struct zs_gpu_worker *w, struct zs_eu_thread *t);
void zs_gpu_debug_ended(struct zs_gpu_worker *w, uint32_t slot);
/* All threads of the group have signalled: some of them are held. */
void zs_gpu_debug_release(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                          struct zs_gpu_group *group);
/* ---- history.c -------------------------------------------------------------------------------
 */

/* The launch gets its number, and a history when one is wanted; whether it has one decides how
 * many host threads it may have. */
void zs_gpu_history_begin(struct zs_gpu_run *run);
void zs_gpu_history_end(struct zs_gpu_run *run);
/* The thread's last message reached memory that is watched, and that is to stop it. */
bool zs_gpu_history_triggers(const struct zs_gpu_worker *w, const struct zs_eu_thread *t);
/* For the record: run->history is there. */
void zs_gpu_history_admitted(struct zs_gpu_run *run, uint64_t group, uint32_t place);
void zs_gpu_history_released(struct zs_gpu_run *run, uint64_t group);
void zs_gpu_history_ran(struct zs_gpu_run *run, uint64_t group, uint32_t thread, uint64_t steps,
                        bool ended);
/* Surfaces of the launch's arguments, as far as the map shows what they name. */
void zs_gpu_resolve_surfaces(const struct zs_gpu_run *run, const struct zs_port_map *map,
                             struct zs_port_surface *ret_surfaces);

/* ---- worker.c ----------------------------------------------------------------------------------
 */

/* For a launch, with a view of its memory; false: there is no memory for it. */
bool zs_gpu_worker_setup(struct zs_gpu_run *run, struct zs_gpu_worker *w);
void zs_gpu_worker_fini(struct zs_gpu_worker *worker);
/* Memory was freed or is about to move: drop the old view and take one of now. false: stop. */
bool zs_gpu_worker_look_anew(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* The worker stands as at the beginning of the launch. */
void zs_gpu_worker_rewind(struct zs_gpu_run *run, struct zs_gpu_worker *w);
/* Let go of memory while the worker sleeps. Waking: false: stop. */
void zs_gpu_worker_sleep(struct zs_gpu_run *run, struct zs_gpu_worker *w);
bool zs_gpu_worker_wake(struct zs_gpu_run *run, struct zs_gpu_worker *w);

/* ---- fault.c -----------------------------------------------------------------------------------
 */

/* From a stopped EU thread to a record. group_index, thread: where it ran. */
void zs_gpu_fault_from(const struct zs_gpu_run *run, const struct zs_eu_thread *thread,
                       const struct zs_port *port, uint64_t group_index, uint32_t thread_index,
                       struct zs_gpu_fault *ret_fault);
/* A fault of a whole group: barrier, time limit. thread: one that shows where the group stands, or
 * NULL. */
void zs_gpu_fault_group(const struct zs_gpu_run *run, enum zs_gpu_fault_kind kind,
                        uint64_t group_index, const struct zs_eu_thread *thread,
                        uint32_t thread_index, struct zs_gpu_fault *ret_fault);
/* A thread of the group has touched what is no more of its file. */
void zs_gpu_fault_file(const struct zs_gpu_run *run, uint64_t gpu_va, bool is_write,
                       uint64_t group_index, uint32_t thread_index, struct zs_gpu_fault *ret_fault);
void zs_gpu_group_id(const struct zs_gpu_launch *launch, uint64_t group_index, uint32_t ret_id[3]);

#endif
