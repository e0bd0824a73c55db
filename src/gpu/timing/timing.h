/* SPDX-License-Identifier: MIT */
/*
 * The model of time (docs/timing.md): a launch is executed first; what its sampled work-groups did
 * is recorded, block by block and message by message, and replayed in one canonical order on a
 * model of the device. Neither the host's threads nor its addresses have a part in it.
 *
 *     zs_timing_code_create(...)       once for a kernel: what its instructions cost
 *     zs_timing_trace_create(...)      for a launch
 *     hooks = zs_timing_trace_thread(trace, worker, group, thread)
 *     zs_timing_replay(trace, &all, &result)
 *
 * Threads: streams of different EU threads may be recorded at the same time; the rest is one
 * thread's. Errors: 0 or -errno.
 */
#ifndef ZS_GPU_TIMING_TIMING_H
#define ZS_GPU_TIMING_TIMING_H

#include "eu/eu.h"
#include "gpu/gpu.h"

struct zs_timing_params {
    enum zs_isa_platform platform;
    const char *target; /* NULL: all of the platform */
    /* EU: bytes of a pipe's operands per cycle, cycles of the least instruction */
    uint32_t fpu_B, fpu_least, math_B, pow_B, divide_cycles;
    uint32_t wide_multiply;            /* 32 by 32 bits: so many times as long */
    uint32_t wide_integer;             /* 64-bit integers */
    uint32_t double_B;                 /* as fpu_B, of doubles; 0: the same */
    bool double_one_pipe;              /* doubles on FPU1 alone */
    uint32_t float_pipe, integer_pipe; /* 0: either pipe; 1: FPU0 alone, 2: FPU1 alone */
    /* from issue until a register may be read */
    uint32_t grf_latency, acc_latency, flag_latency;
    uint32_t wide_latency, wide_acc_latency, wide_flag_latency;
    uint32_t math_latency, pow_latency, divide_latency, address_latency;
    /* systolic pipe: cycles of a row; result to use of one row and of eight. 0: there is none */
    uint32_t dpas_row_cycles, dpas_latency, dpas_latency_8;
    /* from issue until the thread's next instruction; math: so much before its pipe is free */
    uint32_t send_front, control_front, math_ahead;
    /* messages: from issue to the response, without waiting for anybody */
    uint32_t barrier_latency, fence_latency;
    uint32_t l3_latency, slm_latency, sampler_latency, atomic_latency;
    uint32_t sampler_l3_latency; /* ... more, when the sampler's cache misses */
    uint32_t llc_latency;        /* ... more, when L3 misses */
    uint32_t memory_latency_ns,
        memory_percent;                   /* ... more, when the LLC misses; of the peak rate */
    uint32_t l3_ways, l3_way_B, l3_banks; /* of a slice: what data may use; way 0: all of it */
    bool l3_flushed; /* as a launch ends: what was written goes to what lies beyond */
    uint32_t l1_ways, l1_B, l1_latency; /* of a subslice, for loads; 0: none */
    uint32_t llc_ways, llc_B;           /* 0: none */
    uint32_t port_B, response_B;        /* per cycle and subslice */
    uint32_t gti_read_B, gti_write_B;   /* per cycle */
    /* cycles of work that may wait: at a port, at a bank of L3, for what lies beyond L3 */
    uint32_t port_queue, bank_queue, miss_queue;
    uint32_t sampler_texels, sampler_cache_B, sampler_ways; /* of a subslice */
    uint32_t launch_cycles, dispatch_cycles, payload_grf_per_cycle, start_latency;
    uint32_t barriers, slm_B; /* of a subslice */
    uint32_t icache_B;        /* of a subslice */
};
/* NULL: there is no model of it. */
const struct zs_timing_params *zs_timing_params_find(const struct zs_gpu_model *model);

/* ---- A kernel's code ---------------------------------------------------------------------------
 */

struct zs_timing_code;
/* -ENOTSUP: the program's instructions are not those of its code. code: as it was lowered. */
int zs_timing_code_create(const struct zs_timing_params *params,
                          const struct zs_eu_program *program, struct zs_span code,
                          enum zs_isa_platform platform, struct zs_timing_code **ret_code);
void zs_timing_code_destroy(struct zs_timing_code *code);

/* ---- What launches hand on ---------------------------------------------------------------------
 */

/* Of a device whose model has parameters; at most 64 MB between launches. */
struct zs_timing_store;
int zs_timing_store_create(const struct zs_gpu_model *model, struct zs_timing_store **ret_store);
void zs_timing_store_destroy(struct zs_timing_store *store); /* NULL is fine */

/* ---- Recording ---------------------------------------------------------------------------------
 */

/* What a launch may be replayed without. */
enum zs_timing_gain {
#define ZS_TIMING_GAIN(id, text) ZS_TIMING_GAIN_##id,
#include "gpu/timing/gain.def"
#undef ZS_TIMING_GAIN
    ZS_TIMING_GAINS /* nothing */
};

struct zs_timing_launch {
    struct zs_timing_store *store;
    uint32_t workers; /* host threads that may record */
    const struct zs_gpu_model *model;
    const struct zs_timing_params *params;
    const struct zs_timing_code *code;
    uint64_t group_count;
    uint32_t threads_per_group;
    uint32_t threads_per_eu; /* as many as have room for the kernel's registers */
    uint32_t slm_B;          /* of a group */
    uint32_t payload_grf;    /* of a thread */
    uint32_t simd;           /* lanes of a thread; 0: as many as one has */
    bool has_barriers;
    bool exact;                  /* replay all that was recorded, and record more */
    bool gains;                  /* replay it without what may hold it up, too */
    enum zs_timing_gain without; /* ZS_TIMING_GAINS */
    bool atomics_meet;           /* of threads at one place, not of lanes alone */
    uint64_t private_va,
        private_B; /* private memory of all threads: each has a part of equal size */
    uint32_t private_thread_B;
    uint32_t array_thread_B; /* of private or scratch memory, for arrays */
};

struct zs_timing_trace;
int zs_timing_trace_create(const struct zs_timing_launch *launch,
                           struct zs_timing_trace **ret_trace);
void zs_timing_trace_destroy(struct zs_timing_trace *trace);
bool zs_timing_trace_samples(const struct zs_timing_trace *trace, uint64_t group);
/* Of a sampled group; worker: the number of the host's thread that runs it. */
const struct zs_eu_hooks *zs_timing_trace_thread(struct zs_timing_trace *trace, uint32_t worker,
                                                 uint64_t group, uint32_t thread);

/* ---- Replay ------------------------------------------------------------------------------------
 */

/* A result's stalls: by instruction of the program, thread cycles by reason in this order. */
enum zs_timing_reason {
    ZS_TIMING_ACTIVE,
    ZS_TIMING_CONTROL,
    ZS_TIMING_PIPE,
    ZS_TIMING_SEND,
    ZS_TIMING_DIST,
    ZS_TIMING_SBID,
    ZS_TIMING_SYNC,
    ZS_TIMING_OTHER,
    ZS_TIMING_FETCH,
    ZS_TIMING_REASONS
};

/* instructions: those of the whole launch, counted exactly; executions: how often each of the
 * program's was, NULL: not known; lanes: that were on in these, for gains. Fills the result's
 * timing. Once for a trace. */
int zs_timing_replay(struct zs_timing_trace *trace, uint64_t instructions,
                     const uint64_t *executions, const uint64_t *lanes,
                     struct zs_gpu_timing *ret_timing);

#endif
