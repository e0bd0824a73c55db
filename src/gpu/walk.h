/* SPDX-License-Identifier: MIT */
/*
 * Walks: launches of what a driver that is not ours hands to hardware: machine code at an address,
 * a payload, surfaces and samplers as its states have them. They run as the launches of gpu.h do.
 *
 *     zs_gpu_walk_kernel_create(device, &code, &kernel, &diag);    // lowered once
 *     walk.surface_count = zs_gpu_walk_kernel_surfaces(kernel);    // that many are looked at
 *     zs_gpu_walk_run(device, &walk, &result);
 *
 * Threads and errors: as in gpu.h.
 */
#ifndef ZS_GPU_WALK_H
#define ZS_GPU_WALK_H

#include "base/buf.h"
#include "gpu/gpu.h"

struct zs_gpu_walk_kernel;
struct zs_port_gap;

/* ---- functions that kernels may call by addresses ----------------------------------------------
 */

struct zs_gpu_walk_starts {
    uint32_t *items;
    size_t count, capacity;
};
struct zs_gpu_walk_functions {
    struct zs_buf code;
    struct {
        struct zs_gpu_segment *items;
        size_t count, capacity;
    } segments;                         /* of `code`; addresses as the ip register has them */
    struct zs_gpu_walk_starts starts_B; /* in `code` */
};
/* What memory at ip_B, a multiple of 64, has of them. *ret_is_code is set when it has any code;
 * else it is left as it is. -ENOMEM. */
int zs_gpu_walk_functions_add(struct zs_gpu_walk_functions *f, const struct zs_gpu_device *device,
                              uint32_t ip_B, struct zs_span memory, bool *ret_is_code);
void zs_gpu_walk_functions_fini(struct zs_gpu_walk_functions *f);

/* ---- kernels -----------------------------------------------------------------------------------
 */

struct zs_gpu_walk_code {
    uint64_t gpu_va;     /* names it */
    uint64_t base_va;    /* what the ip register counts from */
    struct zs_span code; /* from its first instruction on; may be longer: it ends where it can */
    uint32_t simd;
    bool large_grf;
    bool has_barrier;
    uint32_t scratch_B; /* of a thread */
    /* Payload behind r0: rows of each thread, or local ids that are made; then what all threads
     * get: before XeHPG all of it, else inline_B bytes, and cross_B that they load themselves. */
    uint8_t emit; /* local ids to make: bit 0 x, 1 y, 2 z */
    uint8_t order[3];
    uint32_t row_B, inline_B, cross_B;
    uint32_t flags; /* ZS_GPU_KERNEL_* */
    enum zs_gpu_compiled (*compile)(void *, const struct zs_gpu_compile *, struct zs_buf *);
    const struct zs_gpu_walk_functions *functions; /* that it may call, copied; NULL: none */
};

/* -ENOTSUP, -EINVAL with a sentence: it has no end, or something is not modelled. */
int zs_gpu_walk_kernel_create(struct zs_gpu_device *device, const struct zs_gpu_walk_code *code,
                              struct zs_gpu_walk_kernel **ret_kernel, struct zs_diag *diag);
void zs_gpu_walk_kernel_destroy(struct zs_gpu_walk_kernel *kernel);
/* Whether it is what would be made of this: the code's bytes are compared. */
bool zs_gpu_walk_kernel_is(const struct zs_gpu_walk_kernel *kernel,
                           const struct zs_gpu_walk_code *code);
/* How many entries of the binding table, and samplers, its messages may name. */
uint32_t zs_gpu_walk_kernel_surfaces(const struct zs_gpu_walk_kernel *kernel);
uint32_t zs_gpu_walk_kernel_samplers(const struct zs_gpu_walk_kernel *kernel);
/* How many surfaces may be named by handles besides: their entries stand behind the table's. */
uint32_t zs_gpu_walk_kernel_handles(const struct zs_gpu_walk_kernel *kernel);
/* The same of samplers; they are among zs_gpu_walk_kernel_samplers(), at its end. */
uint32_t zs_gpu_walk_kernel_sampler_handles(const struct zs_gpu_walk_kernel *kernel);
/* As it was given, with the bytes up to its end. */
const struct zs_gpu_walk_code *zs_gpu_walk_kernel_code(const struct zs_gpu_walk_kernel *kernel);
/* It is this one of the application's: what faults call it (cut), and the size of its groups, where
 * its compiler knew that. */
void zs_gpu_walk_kernel_name(struct zs_gpu_walk_kernel *kernel, const struct zs_kernel *named);
/* For counters and faults. */
const struct zs_gpu_kernel *zs_gpu_walk_kernel_of(const struct zs_gpu_walk_kernel *kernel);

/* An entry of the binding table. size_B 0: null surface. */
struct zs_gpu_walk_surface {
    bool is_image;
    uint64_t gpu_va, size_B;
    struct zs_gpu_image image; /* with its own gpu_va */
};
struct zs_gpu_walk_sampler {
    uint8_t state[16]; /* SAMPLER_STATE */
    float border[4];
};

struct zs_gpu_walk {
    const struct zs_gpu_walk_kernel *kernel;
    struct zs_gpu_memory *memory;
    uint32_t group_count[3], group_start[3], group_size[3];
    uint32_t slm_B;
    const struct zs_port_gap *gaps; /* in local memory: nobody is to reach them */
    uint32_t gap_count;
    const uint8_t *rows;  /* row_B for each thread of a group */
    const uint8_t *cross; /* inline_B and cross_B bytes */
    const struct zs_gpu_walk_surface *surfaces;
    const struct zs_gpu_walk_sampler *samplers; /* as many as zs_gpu_walk_kernel_samplers() */
    uint32_t surface_count;
    const uint32_t *handles; /* numbers of states, by their entry behind the table's */
    uint32_t handle_count;
    const uint32_t *sampler_handles; /* bytes from their base on */
    uint32_t sampler_handle_count;
    const _Atomic(bool) *cancel;
    struct zs_gpu_counters *counters;
    uint64_t private_va;       /* in memory that threads have for themselves; 0: there is none */
    uint32_t private_thread_B; /* of it, each; 0: not known */
    uint32_t flags;            /* ZS_GPU_LAUNCH_* beside what all walks have */
    uint64_t time_limit_ns;    /* 0: none */
    zs_gpu_found_fn *found;
    void *found_context;
    const struct zs_between_command *command; /* as those of launches; NULL: none */
    zs_gpu_line_fn *find_line;
};
/* result->error */
int zs_gpu_walk_run(struct zs_gpu_device *device, const struct zs_gpu_walk *walk,
                    struct zs_gpu_result *ret_result);

#endif
