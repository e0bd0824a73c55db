/* SPDX-License-Identifier: MIT */
/* Inside src/gpu: what the files of the software GPU share. */
#ifndef ZS_GPU_GPU_PRIV_H
#define ZS_GPU_GPU_PRIV_H

#include "dataport/dataport.h"
#include "eu/eu.h"
#include "gpu/gpu.h"
#include "module/module.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- memory.c: what a launch sees of a context's memory ----------------------------------------
 */

struct zs_gpu_snapshot; /* immutable, shared by launches between two changes */

/* Held by a launch from start to end: its snapshot, and the promise that what it shows stays
 * mapped. */
struct zs_gpu_pin {
    struct zs_gpu_snapshot *snapshot;
    struct zs_port_map map;
    bool tracked; /* some range remembers what was written */
    uint64_t sequence;
    struct zs_gpu_pin *previous, *next;
};
int zs_gpu_memory_pin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin);
void zs_gpu_memory_unpin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin);
/*
 * Let a pin show what others show, too, as far as it overlaps nothing. *ret_ranges is freed by the
 * caller, after the launch.
 */
int zs_gpu_pin_join(struct zs_gpu_pin *own, const struct zs_gpu_pin *others, uint32_t count,
                    struct zs_port_range **ret_ranges);

/* ---- device.c ----------------------------------------------------------------------------------
 */

enum zs_gpu_thread_phase {
    ZS_GPU_THREAD_NEW, /* has no slot yet */
    ZS_GPU_THREAD_READY,
    ZS_GPU_THREAD_WAITING, /* at its barrier */
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
    uint32_t live;    /* threads that have not ended */
    uint32_t arrived; /* barrier messages since the last release */
    uint8_t *slm;
    struct zs_gpu_thread_state *threads;
};

/* A host thread's part of a launch; its memory is kept for later launches. */
struct zs_gpu_worker {
    struct zs_gpu_worker *next_free;
    struct zs_eu_thread *threads; /* slots of EU threads */
    uint32_t *free_slots;         /* a stack: the slot used last is warm */
    bool *prepared;               /* by slot: its thread has run this kernel in this launch */
    uint32_t thread_capacity, free_slot_count;
    uint8_t *slm; /* slm_stride_B for each resident group */
    size_t slm_capacity_B, slm_stride_B;
    uint64_t *counters;
    size_t counter_capacity;
    struct zs_gpu_group *groups;
    struct zs_gpu_thread_state *states; /* threads_per_group for each group */
    size_t group_capacity, state_capacity;
    uint32_t group_count; /* resident */
    uint32_t group_limit;
    uint32_t index; /* in this launch */
    uint64_t groups_run, threads_run;
    uint32_t host_csr; /* see zs_eu_run_among() */
    struct zs_port port;
};

/* Anonymous memory, reused by later launches: private and scratch arenas. */
struct zs_gpu_block {
    uint8_t *data;
    size_t size_B;
};

enum { BLOCKS_MAX = 8 };

struct zs_gpu_device {
    const struct zs_gpu_model *model;
    uint32_t worker_limit; /* host threads beside the caller's */
    pthread_mutex_t lock;  /* of everything below */
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
};

struct zs_gpu_kernel {
    struct zs_gpu_device *device;
    const struct zs_kernel *module;
    struct zs_eu_program *program;
    uint32_t entry_B;
    uint64_t global_va, global_size_B, constant_va, constant_size_B;
    uint32_t surface_count; /* highest binding table index + 1 */
    uint32_t sampler_count;
    struct zs_port_sampler *samplers; /* inline ones filled in */
    uint32_t per_thread_B; /* at least one register: without local ids it is a filler, which zebin
                              does not mention */
    bool uses_private;
    struct zs_gpu_instruction *instructions;
    uint32_t instruction_count;
    size_t counter_count;
};

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
    uint64_t slm_end_B;               /* end of the local arguments */
};

/* Write the low bytes of a value into a payload field; wider fields are zero-filled. */
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

/* ---- dispatch.c --------------------------------------------------------------------------------
 */

struct zs_gpu_run {
    struct zs_gpu_job job; /* first: the pool hands it to zs_gpu_run_groups() */
    struct zs_gpu_device *device;
    const struct zs_gpu_launch *launch;
    const struct zs_gpu_kernel *kernel;
    struct zs_gpu_pin pin;
    struct zs_port_surface *surfaces;
    const struct zs_port_sampler *samplers;
    uint8_t *payload;   /* registers from r1 on without per-thread data: cross-thread bytes */
    uint8_t *local_ids; /* per-thread rows of a group */
    uint32_t threads_per_group, group_items;
    uint32_t last_mask; /* dispatch mask of a group's last thread */
    uint64_t group_total;
    uint32_t slm_B; /* exact: what kernels may touch */
    uint32_t slots; /* EU threads that may be resident, over all workers */
    uint32_t slots_per_worker;
    uint32_t workers_max;
    struct zs_gpu_block scratch, private_memory, launch_memory;
    uint32_t scratch_B;    /* per slot, power of two */
    uint32_t scratch_code; /* the same for r0.3 */
    struct zs_port_range ranges[ZS_PORT_LAUNCH_RANGES];
    uint32_t range_count;
    uint64_t start_ns, deadline_ns;
    uint64_t slice; /* instructions between looks at the clock and the cancel flag */
    atomic_uint_fast64_t next_group;
    atomic_uint worker_index;
    atomic_bool stop;
    bool helped;          /* the caller offered the job to the pool */
    pthread_mutex_t lock; /* of what follows */
    int error;
    struct zs_gpu_fault fault;
    uint64_t *sums;
    uint64_t threads_run, groups_run;
};
/* Claim and run groups until none is left. */
void zs_gpu_run_groups(struct zs_gpu_job *job);
void zs_gpu_worker_fini(struct zs_gpu_worker *worker);

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
void zs_gpu_group_id(const struct zs_gpu_launch *launch, uint64_t group_index, uint32_t ret_id[3]);

#endif
